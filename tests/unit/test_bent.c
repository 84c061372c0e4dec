/* test_bent.c -- the matrix of Newton's method: however it came about, it is the one of its rows
 *
 * The judge sums h (z - centre)(z - centre)' by plain loops over the rows as they are. */
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

enum { MOST_N = 300, MOST_P = 40, MOST_COPIES = 2 };

typedef struct scene {
    fenp_design x;
    fenp_linear q;
    fenp_groups groups;
    double par;
    double columns[MOST_N * MOST_P];
    double y[MOST_N * MOST_COPIES], w[MOST_N * MOST_COPIES];
    fenp_linear_state *state;
} scene;

static scene *new_scene(const char *loss, int64_t n, int64_t p, int64_t copies)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (int64_t i = 0; i < n * p; i++) s->columns[i] = 0.3 + fenp_normal(7, 1, i);
    s->x = (fenp_design){ .n = n, .p = p, .copies = copies, .dense = s->columns };
    s->groups = (fenp_groups){ .count = p * copies };
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
        const double y = 2.0 * s->columns[i % n] + 2.0 * fenp_normal(7, 2, i);
        s->y[i] = s->q.loss->labels == FEN_SIGNS ? (y > 0.0 ? 1.0 : -1.0) : y;
        s->w[i] = 1.0 / (double)n;
    }
    return s;
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

/* Features from .. to - 1 come into the pool, and into the matrix. */
static void admit(fenp_linear_state *s, int64_t from, int64_t to)
{
    int64_t groups[MOST_P];
    for (int64_t j = from; j < to; j++) groups[j - from] = j;
    assert_int_equal(fenp_pool_add(s, groups, to - from, NULL), FEN_OK);
    assert_int_equal(fenp_bent_open(s, NULL), FEN_OK);
    assert_int_equal(fenp_bent_follow(s, NULL), FEN_OK);
    assert_int_equal(fenp_bent_join(s, NULL), FEN_OK);
}

static double curvature(const fenp_linear_state *s, int64_t row)
{
    const double t = s->t[row] + s->b[row / s->q.x->n];
    return s->q.w[row] * s->q.loss->curvature(s->y[row], t, s->q.par);
}

/* sum h (x_i - m_i)(x_j - m_j) of copy t, m the means under h */
static double entry(const fenp_linear_state *s, int64_t i, int64_t j, int64_t t)
{
    const int64_t n = s->q.x->n;
    const double *a = s->q.x->dense + s->pool.feature[i] * n;
    const double *b = s->q.x->dense + s->pool.feature[j] * n;
    long double mass = 0.0L, first = 0.0L, second = 0.0L, sum = 0.0L;
    for (int64_t r = 0; r < n; r++) {
        const double h = curvature(s, t * n + r);
        mass += h, first += (long double)h * a[r], second += (long double)h * b[r];
    }
    for (int64_t r = 0; r < n; r++) {
        const long double away = s->q.bias ? a[r] - first / mass : a[r];
        sum += curvature(s, t * n + r) * away * (s->q.bias ? b[r] - second / mass : b[r]);
    }
    return (double)sum;
}

/* Entries of H, less the ridge, to rounding errors of what has been in it. */
static void expect_matrix(const fenp_linear_state *s, double tolerance)
{
    const fenp_pool *p = &s->pool;
    const int64_t copies = s->q.x->copies;
    assert_int_equal(p->shaped, p->size);
    for (int64_t i = 0; i < p->size * copies; i++)
        for (int64_t j = 0; j < p->size * copies; j++) {
            const double ridge = i == j ? s->bent.ridge[i] : 0.0,
                         have = p->h[i * p->ld + j] - ridge;
            const int64_t t = i % copies;
            const double want = j % copies == t ? entry(s, i / copies, j / copies, t) : 0.0;
            assert_true(fabs(have - want) <=
                        tolerance * sqrt(s->bent.square[i] * s->bent.square[j]));
        }
}

/* Rows go elsewhere: a share of them far. */
static void stir(fenp_linear_state *s, int round, double share)
{
    for (int64_t i = 0; i < s->rows; i++)
        if (fenp_uniform(11, (uint64_t)round, i) < share)
            s->t[i] += 3.0 * fenp_normal(11, 100 + (uint64_t)round, i);
    for (int64_t t = 0; t < s->q.x->copies; t++) s->b[t] += 0.01;
}

static const char *const losses[] = { "huber", "sqhinge", "sqeps" };
enum { LOSSES = 3 };

static void rows_and_columns_come_and_go(void **state)
{
    (void)state;
    for (int k = 0; k < LOSSES; k++)
        for (int variant = 0; variant < 4; variant++) {
            scene *of = new_scene(losses[k], 300, 30, variant == 1 ? 2 : 1);
            if (variant == 2) of->q.bias = 0;
            for (int64_t i = 0; variant == 3 && i < 300; i++) of->w[i] *= (double)(i % 4);
            if (strcmp(losses[k], "sqeps") == 0) of->par = 1.0;
            fenp_linear_state *s = begin(of);
            admit(s, 0, 5);
            assert_true(s->bent.exact);
            expect_matrix(s, 1e-14);
            for (int round = 0; round < 30; round++) {
                stir(s, round, round % 10 == 9 ? 0.9 : 0.05);
                if (round % 3 == 0) s->b[0] -= 0.02;
                admit(s, 0, round < 25 ? 5 + round : 30);
                assert_true(s->bent.exact);
                expect_matrix(s, 1e-13);
            }
            end(of);
        }
}

/* The scores being those of coefficients, and b the best for them: slopes by the matrix are
 * products of the columns with u. */
static void slopes_by_the_matrix(void **state)
{
    (void)state;
    for (int k = 0; k < LOSSES; k++)
        for (int copies = 1; copies <= 2; copies++) {
            scene *of = new_scene(losses[k], 250, 20, copies);
            fenp_linear_state *s = begin(of);
            double g[MOST_P * MOST_COPIES];
            admit(s, 0, 20);
            for (int round = 0; round < 10; round++) {
                for (int64_t i = 0; i < 20 * copies; i++)
                    s->pool.beta[i] += 0.1 * fenp_normal(13, (uint64_t)round, i);
                fenp_linear_scores(s);
                fenp_linear_dual(s);
                admit(s, 0, 20);
                fenp_bent_slopes(s);
                memcpy(g, s->pool.g, (size_t)(20 * copies) * sizeof *g);
                fenp_pool_slopes(s);
                for (int64_t i = 0; i < 20 * copies; i++)
                    assert_true(fabs(g[i] - s->pool.g[i]) <= 1e-13 * (1.0 + fabs(g[i])));
            }
            fenp_pool_price(s, 0.1);
            assert_true(fenp_bent_tells(s, 1e-6, 1.0));
            assert_false(fenp_bent_tells(s, 1e-15, 1.0));
            end(of);
        }
}

/* A row that outweighs all others leaves: what is left has its digits all the same. */
static void a_large_row_leaves_no_trace(void **state)
{
    (void)state;
    scene *of = new_scene("huber", 200, 3, 1);
    of->columns[7] = 1e7;
    fenp_linear_state *s = begin(of);
    s->t[7] = s->y[7] - s->b[0]; /* it bends */
    admit(s, 0, 3);
    expect_matrix(s, 1e-14);
    assert_true(s->pool.h[0] > 1e11 / 200.0);
    s->t[7] += 100.0; /* no longer */
    admit(s, 0, 3);
    assert_true(s->bent.exact);
    assert_true(fabs(s->pool.h[0] - s->bent.ridge[0] - entry(s, 0, 0, 0)) <=
                1e-9 * entry(s, 0, 0, 0));
    assert_true(s->bent.peak[0] < 10.0);
    end(of);
}

/* Nobody bends: curvatures have a floor, and slopes are made by the columns. */
static void straight_rows_have_a_floor(void **state)
{
    (void)state;
    scene *of = new_scene("huber", 50, 4, 1);
    fenp_linear_state *s = begin(of);
    for (int64_t i = 0; i < 50; i++) s->t[i] = s->y[i] + (i % 2 ? 100.0 : -100.0);
    assert_int_equal(fenp_pool_add(s, (const int64_t[]){ 0, 1, 2, 3 }, 4, NULL), FEN_OK);
    assert_int_equal(fenp_bent_open(s, NULL), FEN_OK);
    assert_int_equal(fenp_bent_follow(s, NULL), FEN_OK);
    assert_false(s->bent.exact);
    fenp_bent_renew(s);
    assert_int_equal(fenp_bent_join(s, NULL), FEN_OK);
    for (int64_t k = 0; k < 4; k++) {
        const double now = s->pool.h[k * s->pool.ld + k];
        assert_true(now > 0.0 && now < 1e-6 * s->bent.square[k]);
    }
    end(of);
}

/* Curvatures that change everywhere: the matrix is that of when it was asked for, for columns that
 * join later too. */
static void other_losses_wait_to_be_asked(void **state)
{
    (void)state;
    scene *of = new_scene("logistic", 120, 10, 1);
    fenp_linear_state *s = begin(of);
    assert_int_equal(fenp_pool_add(s, (const int64_t[]){ 3, 1, 4 }, 3, NULL), FEN_OK);
    assert_int_equal(fenp_bent_open(s, NULL), FEN_OK);
    stir(s, 0, 1.0);
    fenp_bent_renew(s);
    assert_int_equal(fenp_bent_join(s, NULL), FEN_OK);
    expect_matrix(s, 1e-14);
    admit(s, 5, 9);
    expect_matrix(s, 1e-14);
    const double before = s->pool.h[0], corner = s->pool.h[6 * s->pool.ld + 2];
    stir(s, 1, 1.0);
    admit(s, 9, 10);
    assert_true(s->pool.h[0] == before);
    double now = 0.0,
           then = s->bent.mass[0]; /* the sum of the curvatures is followed by a factor */
    for (int64_t i = 0; i < 120; i++) now += curvature(s, i);
    fenp_bent_rescale(s);
    assert_true(fabs(s->pool.h[0] - before * now / then) <= 1e-14 * before);
    assert_true(fabs(s->pool.h[6 * s->pool.ld + 2] - corner * now / then) <= 1e-14 * fabs(corner));
    assert_true(s->pool.h[6 * s->pool.ld + 2] == s->pool.h[2 * s->pool.ld + 6]);
    assert_true(fabs(s->bent.mass[0] - now) <= 1e-14 * now);
    fenp_bent_renew(s);
    assert_int_equal(fenp_bent_join(s, NULL), FEN_OK);
    expect_matrix(s, 1e-14);
    assert_true(s->pool.h[0] != before);
    end(of);
}

/* One row, one column; columns of zeros and twins. */
static void the_least_there_is(void **state)
{
    (void)state;
    scene *of = new_scene("huber", 1, 1, 1);
    of->q.bias = 0;
    fenp_linear_state *s = begin(of);
    s->t[0] = s->y[0];
    admit(s, 0, 1);
    expect_matrix(s, 1e-15);
    s->t[0] = s->y[0] + 1.0;
    admit(s, 0, 1);
    expect_matrix(s, 1e-15);
    end(of);
    of = new_scene("sqeps", 60, 4, 1);
    memset(of->columns, 0, 60 * sizeof *of->columns);
    memcpy(of->columns + 60, of->columns + 120, 60 * sizeof *of->columns);
    s = begin(of);
    for (int round = 0; round < 5; round++) {
        stir(s, round, 0.1);
        admit(s, 0, 4);
        expect_matrix(s, 1e-14);
        assert_true(s->pool.h[0] == 0.0);
        assert_true(s->pool.h[s->pool.ld + 2] == s->pool.h[2 * s->pool.ld + 1]);
    }
    end(of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_columns_come_and_go),
        cmocka_unit_test(slopes_by_the_matrix),
        cmocka_unit_test(a_large_row_leaves_no_trace),
        cmocka_unit_test(straight_rows_have_a_floor),
        cmocka_unit_test(other_losses_wait_to_be_asked),
        cmocka_unit_test(the_least_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
