/* test_syrk.c -- Gram matrices of tall matrices: sums by definition, one triangle, any threads */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/syrk.h"
#include "base/threads.h"

enum { PAD = 3 }; /* of rows or columns, and of C */
static const double UNTOUCHED = -77.0;

/* Sizes around those that are shared out, enough rows and one too few; around the 256 rows that are
 * made at a time; odd numbers of rows. */
static const int SIZES[][2] = { { 1, 1 },     { 300, 3 }, { 5, 40 },   { 1023, 64 }, { 1024, 64 },
                                { 4001, 33 }, { 1, 72 },  { 256, 73 }, { 257, 95 },  { 700, 96 },
                                { 1600, 97 }, { 2, 80 },  { 255, 81 }, { 513, 89 } };

/* Sines of whole numbers, looked up: filled before any thread asks. */
static double sines[1 << 16]; /* enough for all sizes above */

static int fill_sines(void **state)
{
    (void)state;
    for (int64_t k = 0; k < (int64_t)(sizeof sines / sizeof *sines); k++) sines[k] = sin((double)k);
    return 0;
}

static double cell(int64_t i, int64_t j) { return sines[i * 7 + j * j * 3 + 1]; }

/* The sum over rows, and how far a sum in doubles may be from it: in whatever order, every product
 * meets at most n roundings, and one more where alpha comes in, each of eps/2 of a number that is
 * (to first order) at most the sum of sizes. */
static double sum_of(int64_t n, int64_t a, int64_t b, double *within)
{
    long double sum = 0.0L, sizes = 0.0L;
    for (int64_t i = 0; i < n; i++) {
        const long double product = (long double)cell(i, a) * cell(i, b);
        sum += product;
        sizes += fabsl(product);
    }
    *within = 0.5 * DBL_EPSILON * (double)((long double)(n + 1) * sizes);
    return (double)sum;
}

static void assert_sum(double got, double alpha, int64_t n, int64_t a, int64_t b)
{
    double within;
    const double sum = sum_of(n, a, b, &within);
    assert_true(fabs(got - alpha * sum) <= alpha * within);
}

static double *table(int64_t n, int64_t p, int by_rows)
{
    double *x = calloc((size_t)((n + PAD) * (p + PAD)), sizeof *x);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p; j++)
            x[by_rows ? i * (p + PAD) + j : j * (n + PAD) + i] = cell(i, j);
    return x;
}

static const double *some_rows(const void *of, int64_t from, int64_t count, double *room)
{
    const int64_t p = *(const int64_t *)of;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < p; j++) room[i * p + j] = cell(from + i, j);
    return room;
}

/* Of rows that are made when they are wanted. */
static void check_made(int64_t n, int64_t p)
{
    double *c = malloc((size_t)(p * p) * sizeof *c);
    assert_int_equal(fenp_syrk_run(&(fenp_syrk){ .n = n,
                                                 .p = p,
                                                 .alpha = 2.0,
                                                 .ldx = p,
                                                 .by_rows = 1,
                                                 .rows = some_rows,
                                                 .of = &p,
                                                 .c = c,
                                                 .ldc = p }),
                     0);
    for (int64_t b = 0; b < p; b++)
        for (int64_t a = 0; a <= b; a++) assert_sum(c[b * p + a], 2.0, n, a, b);
    free(c);
}

static double *product(int64_t n, int64_t p, int by_rows)
{
    double *x = table(n, p, by_rows), *c = malloc((size_t)(p * (p + PAD)) * sizeof *c);
    for (int64_t k = 0; k < p * (p + PAD); k++) c[k] = UNTOUCHED;
    fenp_syrk_run(&(fenp_syrk){ .n = n,
                                .p = p,
                                .alpha = 0.5,
                                .x = x,
                                .ldx = PAD + (by_rows ? p : n),
                                .by_rows = by_rows,
                                .c = c,
                                .ldc = p + PAD });
    free(x);
    return c;
}

static void check(int64_t n, int64_t p, int by_rows)
{
    double *c = product(n, p, by_rows);
    for (int64_t b = 0; b < p; b++)
        for (int64_t a = 0; a < p + PAD; a++) {
            const double got = c[b * (p + PAD) + a];
            if (a <= b)
                assert_sum(got, 0.5, n, a, b);
            else
                assert_true(got == UNTOUCHED);
        }
    free(c);
}

static void products_are_sums_over_rows(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; k++)
        for (int by_rows = 0; by_rows < 2; by_rows++) check(SIZES[k][0], SIZES[k][1], by_rows);
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; k++) check_made(SIZES[k][0], SIZES[k][1]);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    for (int64_t p = 40; p <= 96; p += 56) {
        double *of[2];
        for (int t = 0; t < 2; t++) {
            const fenp_threads before = fenp_threads_enter(t == 0 ? 1 : 3);
            of[t] = product(3001, p, 1);
            fenp_threads_leave(before);
        }
        assert_memory_equal(of[0], of[1], (size_t)(p * (p + PAD)) * sizeof(double));
        free(of[0]), free(of[1]);
    }
}

/* Columns of any size: errors go by the sizes of both, whatever the others have; and products with
 * a column of zeros are zeros. */
static void sizes_of_columns_cost_no_digits(void **state)
{
    enum { N = 700, P = 100 };
    static double x[N * P], c[P * P], size[P];
    (void)state;
    for (int far = 0; far < 3; far++) {
        const double step = far == 0 ? 1.0 : far == 1 ? 1.1 : 30.0; /* alike, about, not at all */
        for (int64_t j = 0; j < P; j++) {
            size[j] = j % 31 == 7 ? 0.0 : pow(step, (double)(j % 37));
            for (int64_t i = 0; i < N; i++) x[i * P + j] = size[j] * cell(i, j);
        }
        const fenp_syrk s = {
            .n = N, .p = P, .alpha = 1.0, .x = x, .ldx = P, .by_rows = 1, .c = c, .ldc = P
        };
        assert_int_equal(fenp_syrk_parts(&s, 1, (int64_t[]){ 0, N }), 0);
        for (int64_t b = 0; b < P; b++)
            for (int64_t a = 0; a <= b; a++) {
                long double sum = 0.0L, sizes = 0.0L;
                for (int64_t i = 0; i < N; i++) {
                    const long double product = (long double)x[i * P + a] * x[i * P + b];
                    sum += product, sizes += fabsl(product);
                }
                assert_true(fabsl(c[b * P + a] - sum) <= 0.5L * DBL_EPSILON * (N + 1) * sizes);
            }
    }
}

/* A column that is constant is known by what its products leave: sum z^2 - (sum z)^2 / n is rounding,
 * up to what solver/linear_columns.c counts as that. */
static void constant_columns_leave_no_variance(void **state)
{
    enum { P = 96, TRIES = 300 };
    static double x[300 * P], c[P * P];
    (void)state;
    for (int64_t try = 0; try < TRIES; try++) {
        const int64_t n = 150 + try / 2;
        for (int64_t j = 0; j < P; j++) {
            const double size = j == P - 1 ? 1.0 : pow(16.0, sin((double)(try * P + j)));
            for (int64_t i = 0; i < n; i++) x[i * P + j] = size;
        }
        const fenp_syrk s = {
            .n = n, .p = P, .alpha = 1.0, .x = x, .ldx = P, .by_rows = 1, .c = c, .ldc = P
        };
        assert_int_equal(fenp_syrk_parts(&s, 1, (int64_t[]){ 0, n }), 0);
        for (int64_t j = 0; j < P; j++) {
            const double sum = c[(P - 1) * P + j], off = sum * sum / (double)n;
            assert_true(fabs(c[j * P + j] - off) <= 8.0 * DBL_EPSILON * sqrt((double)n) * off);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_sums_over_rows),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(sizes_of_columns_cost_no_digits),
        cmocka_unit_test(constant_columns_leave_no_variance),
    };
    return cmocka_run_group_tests(tests, fill_sines, NULL);
}
