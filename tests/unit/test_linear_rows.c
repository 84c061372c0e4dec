/* test_linear_rows.c -- what the rows say, against the tables of the losses function by function;
 * and the way ahead along lambda */
#include <float.h>
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
#include "solver/linear_parts.h"

enum { MOST_N = 700, MOST_P = 12, MOST_COPIES = 2 };

typedef struct scene {
    fenp_design x;
    fenp_linear q;
    fenp_groups groups;
    double par;
    double columns[MOST_N * MOST_P];
    double y[MOST_N * MOST_COPIES], w[MOST_N * MOST_COPIES];
    double weight[MOST_P];
    int64_t start[MOST_P + 1], member[MOST_P * MOST_COPIES];
    fenp_linear_state *state;
} scene;

static scene *new_scene(const char *loss, int64_t n, int64_t copies)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (int64_t i = 0; i < n * MOST_P; i++) s->columns[i] = 0.2 + fenp_normal(3, 1, i);
    s->x = (fenp_design){ .n = n, .p = MOST_P, .copies = copies, .dense = s->columns };
    s->groups = (fenp_groups){ .count = MOST_P * copies };
    s->q = (fenp_linear){ .x = &s->x,
                          .loss = fenp_find_loss(loss),
                          .par = &s->par,
                          .y = s->y,
                          .w = s->w,
                          .bias = 1,
                          .mix = 1.0,
                          .groups = &s->groups,
                          .engine = "auto" };
    s->par = s->q.loss->parameter.name ? s->q.loss->parameter.initial : 0.0;
    for (int64_t i = 0; i < n * copies; i++) {
        const double y = s->columns[i % n] - s->columns[n + i % n] + fenp_normal(3, 2, i);
        s->y[i] = s->q.loss->labels == FEN_SIGNS ? (y > 0.0 ? 1.0 : -1.0) : y;
        s->w[i] = (double)(i % 3) / (double)n;
    }
    return s;
}

/* The coefficients of a feature in all targets are a group. */
static void join_targets(scene *s)
{
    const int64_t copies = s->x.copies;
    s->groups = (fenp_groups){ .count = MOST_P, .start = s->start, .member = s->member };
    for (int64_t k = 0; k < MOST_P * copies; k++) s->member[k] = k % copies * MOST_P + k / copies;
    for (int64_t j = 0; j <= MOST_P; j++) s->start[j] = j * copies;
}

static fenp_linear_state *begin(scene *s)
{
    assert_int_equal(fenp_linear_begin(&s->q, &s->state, NULL, NULL), FEN_OK);
    return s->state;
}

static void end(scene *s)
{
    fenp_linear_end(s->state);
    free(s);
}

static const char *const losses[] = { "huber", "sqhinge", "sqeps", "logistic" };
enum { LOSSES = 4 };

/* ---- rows -------------------------------------------------------------------------------------- */

/* Slopes as the table has them, b where they sum to 0; loss, and conjugates of a part. */
static void expect_rows(const fenp_linear_state *s, double part)
{
    const int64_t n = s->q.x->n;
    const fen_loss *loss = s->q.loss;
    long double value = 0.0L, conjugates = 0.0L, size = 0.0L;
    for (int64_t c = 0; c < s->q.x->copies; c++) {
        long double sum = 0.0L, sizes = 0.0L;
        for (int64_t i = c * n; i < (c + 1) * n; i++) {
            double low, high;
            const double t = s->t[i] + s->b[c], w = s->q.w[i];
            loss->slopes(s->y[i], t, s->q.par, &low, &high);
            assert_true(fabs(s->u[i] + w * low) <= 8.0 * DBL_EPSILON * w * (1.0 + fabs(low)));
            sum += s->u[i], sizes += fabs(s->u[i]);
            if (w == 0.0) continue;
            value += w * loss->value(s->y[i], t, s->q.par);
            conjugates += w * loss->conj(s->y[i], -part * s->u[i] / w, s->q.par);
            size += w * fabs(s->y[i] * low);
        }
        if (s->q.bias) assert_true(fabsl(sum) <= 4.0 * DBL_EPSILON * sizes);
        if (!s->q.bias) assert_true(s->b[c] == 0.0);
    }
    assert_true(fabsl(s->rows_of.loss - value) <= 16.0 * DBL_EPSILON * (value + size));
    if (s->rows_of.kind != FENP_ROWS_PIECES) return;
    const long double have = part * part * s->rows_of.square - part * s->rows_of.cross;
    assert_true(fabsl(have - conjugates) <= 16.0 * DBL_EPSILON * (fabsl(conjugates) + size));
}

static void rows_agree_with_the_tables(void **state)
{
    (void)state;
    for (int k = 0; k < LOSSES; k++)
        for (int variant = 0; variant < 4; variant++) {
            scene *of = new_scene(losses[k], variant == 3 ? 1 : 700, variant == 1 ? 2 : 1);
            if (variant == 1) join_targets(of);
            if (variant == 2) of->q.bias = 0;
            if (variant == 3) of->q.bias = 0, of->w[0] = 1.0;
            if (k == 3 && variant == 2) of->y[5] = of->y[6] = 0.0; /* of neither class */
            fenp_linear_state *s = begin(of);
            assert_int_equal(s->rows_of.kind, k == 3 ? FENP_ROWS_ODDS : FENP_ROWS_PIECES);
            for (int round = 0; round < 8; round++) {
                const double reach = pow(10.0, round - 4);
                for (int64_t i = 0; i < s->rows; i++)
                    s->t[i] = reach * fenp_normal(5, (uint64_t)round, i);
                if (round == 2) s->t[0] = s->y[0] - s->b[0];
                fenp_linear_dual(s);
                expect_rows(s, 1.0);
                expect_rows(s, 0.7);
            }
            end(of);
        }
}

/* Every row is where its loss is straight, or flat: b is found all the same. */
static void straight_rows(void **state)
{
    (void)state;
    scene *of = new_scene("huber", 60, 1);
    fenp_linear_state *s = begin(of);
    for (int64_t i = 0; i < 60; i++) s->t[i] = s->y[i] + (i % 2 ? 300.0 : -300.0);
    s->b[0] = 1e4;
    fenp_linear_dual(s);
    expect_rows(s, 1.0);
    end(of);
    of = new_scene("sqeps", 60, 1);
    of->par = 100.0;
    s = begin(of);
    fenp_linear_dual(s);
    for (int64_t i = 0; i < 60; i++) assert_true(s->u[i] == 0.0);
    assert_true(s->rows_of.loss == 0.0L);
    end(of);
}

/* Where h (t + b) - slant says it, the slope is that. */
static void pieces_have_the_slopes(void **state)
{
    (void)state;
    double h[MOST_N], slant[MOST_N];
    for (int k = 0; k < 3; k++) {
        scene *of = new_scene(losses[k], 700, 1);
        fenp_linear_state *s = begin(of);
        int bent = 0;
        for (int64_t i = 0; i < 700; i++) s->t[i] = 2.0 * fenp_normal(5, 9, i);
        fenp_linear_dual(s);
        const fenp_bend_sums sums = fenp_linear_bend_of_rows(s, 0, h, slant);
        long double mass = 0.0L, pull = 0.0L, size = 0.0L;
        for (int64_t i = 0; i < 700; i++) {
            const double slope = h[i] * (s->t[i] + s->b[0]) - slant[i];
            assert_true(fabs(slope + s->u[i]) <=
                        16.0 * DBL_EPSILON * (fabs(slant[i]) + fabs(slope)));
            mass += h[i], pull += slant[i], size += fabs(slant[i]), bent += h[i] > 0.0;
        }
        assert_true(bent > 50 && bent < 700);
        /* 256 rows are summed in double precision, in an order that the compiler chooses */
        const long double rounding = 256.0L * 0.5L * DBL_EPSILON;
        assert_true(fabsl(sums.mass - mass) <= rounding * mass);
        assert_true(fabsl(sums.pull - pull) <= rounding * size);
        end(of);
    }
}

/* ---- the trail --------------------------------------------------------------------------------- */

static double objective(const fenp_linear_state *s)
{
    return fenp_linear_loss(s) + fenp_linear_penalty(s);
}

static fenp_linear_point solve(scene *of, double part, double *beta, double *b)
{
    fenp_linear_point at = { .lambda = part * fenp_linear_lambda_max(of->state),
                             .beta = beta,
                             .b = b };
    assert_int_equal(fenp_linear_solve(of->state, 1e-9, &at, NULL, NULL), FEN_OK);
    return at;
}

/* t, b and u are those of beta. */
static void expect_settled(fenp_linear_state *s)
{
    double t[MOST_N * MOST_COPIES], u[MOST_N * MOST_COPIES];
    memcpy(t, s->t, (size_t)s->rows * sizeof *t);
    memcpy(u, s->u, (size_t)s->rows * sizeof *u);
    fenp_linear_scores(s);
    fenp_linear_dual(s);
    for (int64_t i = 0; i < s->rows; i++) {
        assert_true(fabs(t[i] - s->t[i]) <= 1e-13 * (1.0 + fabs(t[i])));
        assert_true(fabs(u[i] - s->u[i]) <= 1e-12 * s->q.w[i]);
    }
}

static void the_way_ahead_is_downhill(void **state)
{
    (void)state;
    double beta[MOST_P * MOST_COPIES], b[MOST_COPIES], before[MOST_P * MOST_COPIES];
    for (int k = 0; k < LOSSES; k++)
        for (int variant = 0; variant < 4; variant++) {
            scene *of = new_scene(losses[k], 300, variant == 1 ? 2 : 1);
            if (variant == 1) join_targets(of);
            if (variant == 2) of->q.nonnegative = 1;
            if (variant == 3) of->groups.weight = of->weight;
            for (int64_t j = 0; j < MOST_P; j++) of->weight[j] = j == 2 ? 0.0 : 1.0;
            fenp_linear_state *s = begin(of);
            int went = 0;
            memset(beta, 0, sizeof beta), memset(b, 0, sizeof b);
            for (double part = 0.9; part > 0.02; part *= 0.9) {
                const fenp_linear_point at = solve(of, part, beta, b);
                const double next = 0.9 * at.lambda;
                const int64_t count = s->pool.size * s->q.x->copies;
                memcpy(before, s->pool.beta, (size_t)count * sizeof *before);
                fenp_pool_price(s, next);
                const double start = objective(s);
                assert_int_equal(fenp_trail_go_on(s, next, NULL), FEN_OK);
                assert_true(objective(s) <= start * (1.0 + 1e-15));
                expect_settled(s);
                went += objective(s) < start;
                for (int64_t i = 0; i < count; i++) {
                    const int alone = variant != 1 && s->pool.l[i] > 0.0;
                    if (alone) assert_true(before[i] * s->pool.beta[i] >= 0.0);
                    if (alone && before[i] == 0.0) assert_true(s->pool.beta[i] == 0.0);
                    if (variant == 2) assert_true(s->pool.beta[i] >= 0.0);
                }
                memcpy(s->pool.beta, before, (size_t)count * sizeof *before); /* as it was */
                fenp_linear_scores(s);
                fenp_linear_dual(s);
            }
            assert_true(went > 10);
            end(of);
        }
}

/* Without two solutions there is no way; a lambda that rises, or falls too far, is none. */
static void no_way_without_two_solutions(void **state)
{
    (void)state;
    double beta[MOST_P] = { 0.0 }, b[1] = { 0.0 }, before[MOST_P];
    scene *of = new_scene("huber", 200, 1);
    fenp_linear_state *s = begin(of);
    assert_int_equal(fenp_trail_go_on(s, 0.5, NULL), FEN_OK);
    const double lambda = solve(of, 0.5, beta, b).lambda;
    memcpy(before, s->pool.beta, (size_t)s->pool.size * sizeof *before);
    const double ways[] = { 1.1 * lambda, 1e-3 * lambda };
    for (int k = 0; k < 2; k++) {
        assert_int_equal(fenp_trail_go_on(s, ways[k], NULL), FEN_OK);
        assert_memory_equal(before, s->pool.beta, (size_t)s->pool.size * sizeof *before);
        expect_settled(s);
    }
    s->settled = 0; /* coefficients from elsewhere */
    assert_int_equal(fenp_trail_go_on(s, 0.9 * lambda, NULL), FEN_OK);
    assert_true(s->trail.lambda == 0.0);
    end(of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_agree_with_the_tables),   cmocka_unit_test(straight_rows),
        cmocka_unit_test(pieces_have_the_slopes),       cmocka_unit_test(the_way_ahead_is_downhill),
        cmocka_unit_test(no_way_without_two_solutions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
