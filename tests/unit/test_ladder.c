/* test_ladder.c -- paths on folds against problems without the rows, and degrees of freedom
 * against what they mean: the sum of the derivatives of the fitted values by the labels */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/registry.h"
#include "promise/ladder.h"

enum { N = 24, P = 9, COPIES = 2, RUNGS = 4 };
static const double GAP = 1e-13;

typedef struct problem {
    fenp_design x;
    fenp_groups groups;
    fenp_linear linear;
    double dense[N * P], y[COPIES * N], w[COPIES * N], price[COPIES * P];
    int64_t start[COPIES * P + 1], member[COPIES * P];
} problem;

static void fill(problem *q, const char *loss, int64_t copies, uint64_t seed)
{
    *q = (problem){ .x = { .n = N, .p = P, .copies = copies, .dense = q->dense } };
    for (int64_t i = 0; i < N * P; i++) q->dense[i] = fenp_normal(seed, 1, (uint64_t)i);
    q->groups = (fenp_groups){ .count = P * copies };
    q->linear = (fenp_linear){ .x = &q->x,
                               .loss = fenp_find_loss(loss),
                               .y = q->y,
                               .w = q->w,
                               .bias = 1,
                               .mix = 1.0,
                               .groups = &q->groups,
                               .engine = "auto" };
    for (int64_t i = 0; i < N * copies; i++) {
        const double *x = q->dense + i % N;
        const double f =
            1.0 + 2.0 * x[0] - x[N] + 0.5 * x[2 * N] + fenp_normal(seed, 2, (uint64_t)i);
        q->y[i] = q->linear.loss->labels == FEN_SIGNS ? (f > 1.0 ? 1.0 : -1.0) : f;
        q->w[i] = (1.0 + (double)(i % 3)) / (2.0 * N);
    }
}

/* Groups of three neighbours, or of one feature in all copies. */
static void make_groups(problem *q)
{
    const int64_t copies = q->x.copies, size = copies > 1 ? copies : 3;
    q->groups.count = P * copies / size;
    for (int64_t g = 0; g <= q->groups.count; g++) q->start[g] = g * size;
    for (int64_t k = 0; k < P * copies; k++)
        q->member[k] = copies > 1 ? k % copies * P + k / copies : k;
    for (int64_t g = 0; g < q->groups.count; g++) q->price[g] = 1.0 + 0.25 * (double)(g % 2);
    q->groups.start = q->start, q->groups.member = q->member, q->groups.weight = q->price;
}

/* ---- folds ------------------------------------------------------------------------------- */

typedef struct kept {
    double beta[RUNGS][COPIES * P], b[RUNGS][COPIES];
} kept;

static fen_status keep(void *user, int64_t rung, const fenp_linear_point *at, fen_error *err)
{
    kept *k = user;
    (void)err;
    memcpy(k->beta[rung], at->beta, P * sizeof(double));
    k->b[rung][0] = at->b[0];
    return FEN_OK;
}

static void test_folds(void **state)
{
    static problem q, part;
    static kept k;
    double lambdas[RUNGS], most, losses[RUNGS], scores[RUNGS * N];
    int64_t order[N], rows = 0;
    fen_error err = { 0 };
    (void)state;
    fill(&q, "square", 1, 3);
    assert_int_equal(fenp_ladder_top(&q.linear, 1, &most, NULL, NULL, &err), FEN_OK);
    fenp_ladder_make(most, 1e-2, RUNGS, lambdas);
    assert_true(lambdas[0] == most && fabs(lambdas[RUNGS - 1] / most - 1e-2) < 1e-15);
    for (int64_t i = 0; i < N; i++) order[i] = (i * 7) % N;
    const fenp_dealt fold = { order, 4, 1, q.w };
    assert_int_equal(fenp_ladder_fold(&q.linear, &fold, q.linear.loss, lambdas, RUNGS, GAP, losses,
                                      scores, NULL, &err),
                     FEN_OK);
    fill(&part, "square", 1, 3); /* the same without the rows of the fold */
    double rest = 0.0;
    for (int64_t i = 0; i < N; i++)
        if (i % 4 != 1) rest += q.w[order[i]];
    for (int64_t i = 0; i < N; i++) {
        if (i % 4 == 1) continue;
        for (int64_t j = 0; j < P; j++) part.dense[j * 18 + rows] = q.dense[j * N + order[i]];
        part.y[rows] = q.y[order[i]], part.w[rows++] = q.w[order[i]] / rest;
    }
    assert_int_equal(rows, 18);
    part.x.n = 18;
    const fenp_ladder rungs = { lambdas, RUNGS, GAP, keep, &k, 0 };
    assert_int_equal(fenp_ladder_descend(&part.linear, NULL, &rungs, NULL, &err), FEN_OK);
    for (int64_t r = 0; r < RUNGS; r++) {
        double loss = 0.0;
        for (int64_t i = 1; i < N; i += 4) {
            double f = k.b[r][0];
            for (int64_t j = 0; j < P; j++) f += q.dense[j * N + order[i]] * k.beta[r][j];
            assert_true(fabs(scores[r * N + order[i]] - f) < 1e-5);
            loss += q.w[order[i]] * (q.y[order[i]] - f) * (q.y[order[i]] - f);
        }
        assert_true(fabs(losses[r] / loss - 1.0) < 1e-5);
    }
}

/* The rest of a fold is of one class: with a bias only that can be predicted. */
static void test_one_class_left(void **state)
{
    static problem q;
    const double lambdas[] = { 0.1, 0.01 };
    double losses[2], scores[2 * N];
    int64_t order[N];
    fen_error err = { 0 };
    (void)state;
    fill(&q, "logistic", 1, 3);
    for (int64_t i = 0; i < N; i++) q.y[i] = i % 2 ? 1.0 : -1.0, order[i] = i;
    const fenp_dealt fold = { order, 2, 0, q.w };
    assert_int_equal(fenp_ladder_fold(&q.linear, &fold, q.linear.loss, lambdas, 2, 1e-6, losses,
                                      scores, NULL, &err),
                     FEN_OK);
    for (int64_t i = 0; i < N; i += 2) assert_true(scores[i] == 1.0 && scores[N + i] == 1.0);
    assert_true(losses[0] > 0.0 && losses[0] == losses[1]);
}

/* Nothing to explain: there is a path all the same. */
static void test_constant_labels(void **state)
{
    static problem q;
    double most;
    fen_error err = { 0 };
    (void)state;
    fill(&q, "square", 1, 3);
    for (int64_t i = 0; i < N; i++) q.y[i] = 5.0;
    assert_int_equal(fenp_ladder_top(&q.linear, 1, &most, NULL, NULL, &err), FEN_OK);
    assert_true(most == 1.0);
}

/* ---- degrees of freedom ------------------------------------------------------------------- */

static void solve(const problem *q, fenp_linear_point *at)
{
    fenp_linear_state *state = NULL;
    fen_error err = { 0 };
    assert_int_equal(fenp_linear_begin(&q->linear, &state, NULL, &err), FEN_OK);
    assert_int_equal(fenp_linear_solve(state, GAP, at, NULL, &err), FEN_OK);
    fenp_linear_end(state);
}

/* sum_i d f_i / d y_i by differences, less the constant's share. */
static double by_differences(problem *q, double lambda)
{
    const double step = 1e-4;
    const int64_t rows = N * q->x.copies;
    double sum = 0.0;
    for (int64_t i = 0; i < rows; i++) {
        double fitted[2];
        for (int side = 0; side < 2; side++) {
            double beta[COPIES * P] = { 0 }, b[COPIES] = { 0 }, f[COPIES * N];
            fenp_linear_point at = { .lambda = lambda, .beta = beta, .b = b };
            const double before = q->y[i];
            q->y[i] += side ? step : -step;
            solve(q, &at);
            q->y[i] = before;
            fenp_design_scores(&q->x, beta, f);
            fitted[side] = f[i] + b[i / N];
        }
        sum += (fitted[1] - fitted[0]) / (2.0 * step);
    }
    return sum - (q->linear.bias ? (double)q->x.copies : 0.0);
}

static void check_freedom(problem *q, double lambda, int plain)
{
    double beta[COPIES * P] = { 0 }, b[COPIES] = { 0 };
    fenp_linear_point at = { .lambda = lambda, .beta = beta, .b = b };
    solve(q, &at);
    assert_true(at.terms > 0);
    const double df = fenp_freedom(&q->linear, &at, NULL), true_df = by_differences(q, lambda);
    assert_true(fabs(df - true_df) < 2e-3 * true_df); /* solutions are good to about 1e-7 */
    assert_true(plain ? df == (double)at.terms : df < (double)at.terms);
}

static void test_freedom(void **state)
{
    static problem q;
    (void)state;
    for (int bias = 0; bias < 2; bias++) {
        fill(&q, "square", 1, 4);
        q.linear.bias = bias;
        check_freedom(&q, 0.3, 1);
        q.linear.mix = 0.5;
        check_freedom(&q, 0.3, 0);
        q.linear.mix = 1.0;
        make_groups(&q);
        check_freedom(&q, 0.5, 0);
        q.linear.mix = 0.7;
        check_freedom(&q, 0.5, 0);
        fill(&q, "square", COPIES, 4);
        make_groups(&q);
        q.linear.bias = bias;
        check_freedom(&q, 0.5, 0);
    }
}

/* A loss without a second derivative, and no terms at all. */
static void test_plain_freedom(void **state)
{
    static problem q;
    double beta[P] = { 1.0, 0.0, -2.0 }, b = 0.0;
    fenp_linear_point at = { .lambda = 1.0, .beta = beta, .b = &b, .terms = 2 };
    (void)state;
    fill(&q, "absolute", 1, 4);
    q.linear.mix = 0.5;
    assert_true(fenp_freedom(&q.linear, &at, NULL) == 2.0);
    const int64_t twin[P] = { 0, 1, 0, 3, 4 };
    assert_true(fenp_freedom(&q.linear, &at, twin) == 1.0);
    at.terms = 0, beta[0] = beta[2] = 0.0;
    assert_true(fenp_freedom(&q.linear, &at, NULL) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folds),           cmocka_unit_test(test_one_class_left),
        cmocka_unit_test(test_constant_labels), cmocka_unit_test(test_freedom),
        cmocka_unit_test(test_plain_freedom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
