/* test_products.c -- products of all columns by parts of the rows: sums by definition */
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
#include "base/threads.h"
#include "solver/products.h"

enum { SEED = 5, P = 6, LABELS = 2, SIDE = P + 1 + LABELS };

typedef struct scene {
    fenp_design x;
    fenp_linear q[LABELS];
    double *cells, *y, *w;
    int64_t *order;
} scene;

static scene *new_scene(int64_t n, int bias, int weighted)
{
    scene *s = calloc(1, sizeof *s);
    s->cells = malloc((size_t)(n * P + 1) * sizeof(double));
    s->y = malloc((size_t)(LABELS * n + 1) * sizeof(double));
    s->w = malloc((size_t)(n + 1) * sizeof(double));
    s->order = malloc((size_t)(n + 1) * sizeof(int64_t));
    for (int64_t k = 0; k < n * P; k++) s->cells[k] = fenp_normal(SEED, 1, (uint64_t)k);
    for (int64_t i = 0; i < LABELS * n; i++) s->y[i] = 100.0 + fenp_normal(SEED, 2, (uint64_t)i);
    for (int64_t i = 0; i < n; i++) {
        s->w[i] = weighted ? (double)(i % 3) / 8.0 : 0.25;
        s->order[i] = (i * 7 + 3) % n; /* 7 is no divisor of the sizes below */
    }
    s->x = (fenp_design){ .n = n, .p = P, .copies = 1, .by_rows = s->cells };
    for (int t = 0; t < LABELS; t++)
        s->q[t] = (fenp_linear){ .x = &s->x, .y = s->y + t * n, .w = s->w, .bias = bias };
    return s;
}

static void end_scene(scene *s) { free(s->cells), free(s->y), free(s->w), free(s->order), free(s); }

static double entry(const scene *s, const fenp_products *m, int64_t i, int64_t j)
{
    return j < P    ? s->cells[i * P + j] - m->centre[j]
           : j == P ? 1.0
                    : s->q[j - P - 1].y[i] - m->centre[j];
}

/* Of the rows of a part, or without it. */
static void check_sum(const scene *s, const fenp_products *m, const double *sum, int64_t part,
                      int without)
{
    double most = 0.0;
    for (int64_t i = 0; i < s->x.n; i++) most = fmax(most, s->w[i]);
    for (int64_t b = 0; b < SIDE; b++)
        for (int64_t a = 0; a <= b; a++) {
            long double exact = 0.0L, size = 0.0L;
            for (int64_t k = 0; k < s->x.n; k++) {
                if ((k % m->parts == part) == without) continue;
                const int64_t i = s->order[k];
                const long double v = most > 0.0 ? s->w[i] / most : 0.0;
                const long double term = v * entry(s, m, i, a) * entry(s, m, i, b);
                exact += term, size += fabsl(term);
            }
            if (!(fabsl(sum[b * SIDE + a] - exact) <= 1e-14L * size))
                fail_msg("%.17g is not %.17Lg (%lld, %lld)", sum[b * SIDE + a], exact, (long long)a,
                         (long long)b);
        }
}

static void parts_are_sums(void **state)
{
    static const int64_t SIZES[] = { 1, 4, 61, 701, 3001 };
    (void)state;
    double sum[SIDE * SIDE];
    for (int k = 0; k < 5; k++)
        for (int kind = 0; kind < 4; kind++)
            for (int64_t parts = 1; parts < 12; parts += 3) {
                const int bias = kind % 2;
                scene *s = new_scene(SIZES[k], bias, kind > 1 && k > 0);
                fenp_products m;
                assert_int_equal(fenp_products_make(s->q, LABELS, s->order, parts, &m, NULL),
                                 FEN_OK);
                for (int64_t part = 0; part < parts; part++) {
                    check_sum(s, &m, m.part + part * SIDE * SIDE, part, 0);
                    fenp_products_sum(&m, part, sum);
                    check_sum(s, &m, sum, part, 1);
                }
                fenp_products_sum(&m, -1, sum);
                check_sum(s, &m, sum, -1, 1);
                for (int64_t j = 0; j < SIDE && !bias; j++) assert_true(m.centre[j] == 0.0);
                fenp_products_free(&m);
                end_scene(s);
            }
}

/* Offsets are taken off, also those that the rows that are looked at first do not have; constants
 * leave nothing, and a column that only one part has is nothing in the others. */
static void offsets(void **state)
{
    (void)state;
    enum { N = 2048, PARTS = 4 };
    scene *s = new_scene(N, 1, 0);
    char seen[N] = { 0 };
    for (int64_t k = 0; k < 63; k++) seen[k * N / 63] = 1; /* those rows */
    for (int64_t i = 0; i < N; i++) {
        s->cells[i * P + 0] += 1e6;
        s->cells[i * P + 1] = 0.1;
        s->cells[i * P + 2] += seen[i] ? 0.0 : 1e5;
        s->cells[i * P + 4] = 0.0;
        s->order[i] = i;
    }
    for (int64_t i = 0; i < N; i++) s->cells[i * P + 3] = seen[i] ? 3.0 : 3.0 + 1e-3 * s->cells[i];
    s->cells[6 * P + 4] = 1.0; /* part 2 */
    fenp_products m;
    assert_int_equal(fenp_products_make(s->q, LABELS, s->order, PARTS, &m, NULL), FEN_OK);
    double sum[SIDE * SIDE];
    fenp_products_sum(&m, -1, sum);
    for (int64_t j = 0; j < P; j++) {
        const double mean = sum[P * SIDE + j] / N, square = sum[j * SIDE + j] / N;
        assert_true(mean * mean <= 101.0 * (square - mean * mean));
    }
    assert_true(m.centre[1] == 0.1 && sum[1 * SIDE + 1] == 0.0);
    assert_true(fabs(m.centre[0] - 1e6) < 1.0 && fabs(m.centre[P + 1] - 100.0) < 1.0);
    fenp_products_sum(&m, 2, sum);
    for (int64_t j = 0; j <= 4; j++) assert_true(sum[4 * SIDE + j] == 0.0);
    fenp_products_free(&m);
    end_scene(s);
}

/* Odd rows of one part do not move c: nothing, or all digits, are left in the others. */
static void odd_rows(void **state)
{
    (void)state;
    enum { N = 301, PARTS = 5, ODD = 17 };
    scene *s = new_scene(N, 1, 0);
    for (int64_t i = 0; i < N; i++) {
        s->order[i] = i;
        s->cells[i * P + 0] = i == ODD ? 0.0 : 1.0;
        s->cells[i * P + 1] = i == ODD ? sqrt(N - 1.0) : -1.0 / sqrt(N - 1.0); /* standardised */
        s->cells[i * P + 2] += i == ODD ? -1e12 : 1e6;
    }
    fenp_products m;
    assert_int_equal(fenp_products_make(s->q, LABELS, s->order, PARTS, &m, NULL), FEN_OK);
    double sum[SIDE * SIDE];
    fenp_products_sum(&m, ODD % PARTS, sum);
    for (int64_t j = 0; j < 2; j++)
        assert_true(sum[j * SIDE + j] == 0.0 && sum[P * SIDE + j] == 0.0);
    assert_true(fabs(m.centre[2] - 1e6) < 10.0);
    fenp_products_free(&m);
    end_scene(s);
}

/* A label beyond all others that weighs nothing, or next to it, takes no digits of theirs. */
static void light_labels(void **state)
{
    (void)state;
    enum { N = 301 };
    for (int light = 0; light < 2; light++) {
        scene *s = new_scene(N, 1, 0);
        for (int64_t i = 0; i < N; i++)
            if (i % 100 == 0) s->y[i] = 1e15, s->w[i] = light ? 1e-60 : 0.0;
        fenp_products m;
        assert_int_equal(fenp_products_make(s->q, LABELS, NULL, 1, &m, NULL), FEN_OK);
        assert_true(fabs(m.centre[P + 1] - 100.0) < 10.0);
        fenp_products_free(&m);
        end_scene(s);
    }
}

/* ---- what the solver makes of them ---- */

/* A column without a penalty that varies in one of two parts alone has no coefficient without it:
 * rounding errors are none. */
static void flat_columns(void **state)
{
    static double weight[P] = { 0.0, 0.0, 1.0, 1.0, 1.0, 1.0 };
    const fenp_groups groups = { .count = P, .weight = weight };
    const fenp_task task = fenp_task_start(NULL, 0.0);
    (void)state;
    enum { N = 311 };
    for (int weighted = 0; weighted < 2; weighted++) {
        scene *s = new_scene(N, 1, weighted);
        for (int64_t k = 0; k < N; k++)
            s->cells[s->order[k] * P + 1] = k % 2 ? 0.1 : 7.0 + s->cells[s->order[k] * P];
        fenp_products m;
        assert_int_equal(fenp_products_make(s->q, LABELS, s->order, 2, &m, NULL), FEN_OK);
        for (int64_t k = 0; k < N; k += 2) s->w[s->order[k]] = 0.0;
        double beta[P] = { 0.0 }, b = 0.0;
        fenp_linear_point at = { .lambda = 1e-3, .beta = beta, .b = &b };
        fenp_linear_state *made;
        fenp_linear *q = &s->q[1];
        q->loss = fenp_find_loss("square"), q->mix = 1.0, q->engine = "auto", q->groups = &groups;
        q->products = &m, q->label = 1, q->without = 1;
        assert_int_equal(fenp_linear_begin(q, &made, &task, NULL), FEN_OK);
        assert_int_equal(fenp_linear_solve(made, 1e-10, &at, &task, NULL), FEN_OK);
        fenp_linear_end(made);
        assert_true(beta[0] != 0.0 && beta[1] == 0.0);
        assert_true(at.relative_gap <= 1e-10 && fabs(b - 100.0) < 1.0);
        fenp_products_free(&m);
        end_scene(s);
    }
}

/* Squares that are too large are an error, and no column of zeros. */
static void too_large(void **state)
{
    (void)state;
    enum { N = 301 };
    scene *s = new_scene(N, 1, 0);
    const fenp_groups groups = { .count = P };
    const fenp_task task = fenp_task_start(NULL, 0.0);
    for (int64_t i = 0; i < N; i++) s->cells[i * P] = 1e200 * (i % 3 == 0);
    s->q[0].loss = fenp_find_loss("square"), s->q[0].mix = 1.0, s->q[0].engine = "auto";
    s->q[0].groups = &groups;
    fenp_linear_state *made = NULL;
    fen_error err;
    assert_int_equal(fenp_linear_begin(&s->q[0], &made, &task, &err), FEN_BAD_DATA);
    end_scene(s);
}

static void threads_give_the_same_bits(void **state)
{
    (void)state;
    enum { N = 40000 };
    scene *s = new_scene(N, 1, 0);
    fenp_products one, many;
    for (int64_t parts = 1; parts < 6; parts += 4) {
        const fenp_threads before = fenp_threads_enter(1);
        assert_int_equal(fenp_products_make(s->q, LABELS, s->order, parts, &one, NULL), FEN_OK);
        fenp_threads_leave(before);
        const fenp_threads again = fenp_threads_enter(3);
        assert_int_equal(fenp_products_make(s->q, LABELS, s->order, parts, &many, NULL), FEN_OK);
        fenp_threads_leave(again);
        for (int64_t c = 0; c < parts * SIDE; c++)
            assert_memory_equal(one.part + c * SIDE, many.part + c * SIDE,
                                (size_t)(c % SIDE + 1) * sizeof(double));
        fenp_products_free(&one), fenp_products_free(&many);
    }
    end_scene(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_sums),
        cmocka_unit_test(offsets),
        cmocka_unit_test(odd_rows),
        cmocka_unit_test(light_labels),
        cmocka_unit_test(flat_columns),
        cmocka_unit_test(too_large),
        cmocka_unit_test(threads_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
