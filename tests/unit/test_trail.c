/* test_trail.c -- a path goes on from its last two solutions, also after columns have left the pool
 *
 * With hardly any room for a Gram matrix the pool makes way time and again: columns without a
 * coefficient leave, and some come back. The judge multiplies X beta anew at every lambda. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/random.h"
#include "base/registry.h"
#include "solver/linear_parts.h"

enum { N = 60, P = 90, LAMBDAS = 80, SEEDS = 40 };
static const double GAP = 1e-4, RATIO = 0.93;

typedef struct scene {
    fenp_design x;
    fenp_groups groups;
    fenp_linear q;
    double columns[N * P], y[N], w[N], beta[P], b, par;
} scene;

/* Every column is much like the two before it: coefficients come and go. */
static void fill(scene *s, const char *loss, uint64_t seed)
{
    *s = (scene){ .par = 1.0 };
    for (int64_t j = 0; j < P; j++)
        for (int64_t i = 0; i < N; i++)
            s->columns[j * N + i] = fenp_normal(seed, 1, (uint64_t)(j * N + i)) +
                                    (j > 0 ? 0.7 * s->columns[(j - 1) * N + i] : 0.0) -
                                    (j > 1 ? 0.4 * s->columns[(j - 2) * N + i] : 0.0);
    s->x = (fenp_design){ .n = N, .p = P, .copies = 1, .dense = s->columns };
    s->groups = (fenp_groups){ .count = P };
    s->q = (fenp_linear){ .x = &s->x,
                          .loss = fenp_find_loss(loss),
                          .par = &s->par,
                          .y = s->y,
                          .w = s->w,
                          .bias = 1,
                          .mix = 1.0,
                          .groups = &s->groups,
                          .engine = "auto",
                          .room = 1 };
    for (int64_t i = 0; i < N; i++) {
        double y = fenp_normal(seed, 2, (uint64_t)i);
        for (int64_t j = 0; j < 12; j++) y += (j % 2 ? -1.0 : 1.0) * s->columns[6 * j * N + i];
        s->y[i] = s->q.loss->labels == FEN_SIGNS ? (y > 0.0 ? 1.0 : -1.0) : y;
        s->w[i] = 1.0 / N;
    }
}

/* P from the definition; beside it rounding errors of N terms are nothing. */
static double objective(const scene *s, double lambda)
{
    long double sum = 0.0L;
    for (int64_t j = 0; j < P; j++) sum += (long double)lambda * fabs(s->beta[j]);
    for (int64_t i = 0; i < N; i++) {
        double t = s->b;
        for (int64_t j = 0; j < P; j++) t += s->columns[j * N + i] * s->beta[j];
        sum += s->w[i] * s->q.loss->value(s->y[i], t, s->q.par);
    }
    return (double)sum;
}

/* How often columns left the pool. */
static int go_along(scene *s)
{
    fenp_linear_state *state;
    int left = 0;
    assert_int_equal(fenp_linear_begin(&s->q, &state, NULL, NULL), FEN_OK);
    double lambda = 0.5 * fenp_linear_lambda_max(state);
    for (int k = 0; k < LAMBDAS && !state->descends; k++, lambda *= RATIO) {
        fenp_linear_point at = { .lambda = lambda, .beta = s->beta, .b = &s->b };
        const int64_t before = state->pool.size;
        assert_int_equal(fenp_linear_solve(state, GAP, &at, NULL, NULL), FEN_OK);
        const double mine = objective(s, lambda);
        assert_true(fabs(at.primal - mine) <= 1e-12 * mine);
        assert_true(at.relative_gap <= GAP);
        left += state->pool.size < before;
    }
    fenp_linear_end(state);
    return left;
}

static void columns_leave_and_come_back(void **state)
{
    static const char *const losses[] = { "logistic", "huber" };
    scene *s = malloc(sizeof *s);
    (void)state;
    assert_non_null(s);
    for (int k = 0; k < 2; k++) {
        int left = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            fill(s, losses[k], seed);
            left += go_along(s);
        }
        assert_true(left > SEEDS); /* else nothing was put to the test */
    }
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(columns_leave_and_come_back) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
