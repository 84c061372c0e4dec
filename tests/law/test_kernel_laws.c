/* test_kernel_laws.c -- what every kernel of the registry must obey
 *
 *   symmetric, positive semidefinite, map equals value, tiles equal pairs, K times
 *   coefficients equals the explicit product, the same bits for any number of threads; those of q
 *   rows are the sums of their series
 */
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "base/registry.h"
#include "kernel/gram.h"

static double *doubles(int64_t count)
{
    double *v = calloc((size_t)count + 1, sizeof *v);
    assert_non_null(v);
    return v;
}

static double *random_rows(uint64_t stream, int64_t rows, int64_t dim)
{
    double *x = doubles(rows * dim);
    for (int64_t i = 0; i < rows * dim; i++) x[i] = fenp_normal(3, stream, (uint64_t)i);
    return x;
}

/* A width that makes typical values neither 0 nor 1. */
static fenp_kernel kernel_of(const fen_kernel *table, int64_t dim)
{
    const double gamma = 0.5 / (double)dim;
    return (fenp_kernel){ table,
                          { table->gamma_is_inverse_length ? sqrt(gamma) : gamma, 3, 1.0, 0.0 } };
}

static void every_kernel(void (*law)(const fen_kernel *))
{
    int count = 0;
    for (const fen_kernel *const *table = fenp_kernels; *table; table++)
        if ((*table)->basis != FEN_PRECOMPUTED) {
            law(*table);
            count++;
        }
    assert_true(count >= 10);
}

/* Of x.z, or of products of rows that stand for more of them. */
static int is_of_products(const fen_kernel *table)
{
    return table->basis == FEN_PRODUCT || table->basis == FEN_TENSOR;
}

/* What a value may be wrong by, in units of this: products cancel, distances do not. */
static double unit_of(const fenp_kernel *k, const double *x, const double *z, int64_t dim)
{
    if (!is_of_products(k->table)) return fenp_kernel_pair(k, x, z, dim);
    double xx = 0.0, zz = 0.0;
    for (int64_t i = 0; i < dim; i++) {
        xx += x[i] * x[i];
        zz += z[i] * z[i];
    }
    return k->table->value(sqrt(xx * zz), &k->par);
}

static void assert_pair(const fenp_kernel *k, const double *x, const double *z, int64_t dim,
                        double value)
{
    const double pair = fenp_kernel_pair(k, x, z, dim);
    const double wrong = fabs(value - pair) / unit_of(k, x, z, dim);
    if (!(wrong <= 1e-13)) fail_msg("%s: %.17g, by definition %.17g", k->table->name, value, pair);
}

/* ---- by definition ---------------------------------------------------------------------- */

static void test_formulas(void **state)
{
    (void)state;
    const double x[] = { 1.0, -2.0, 0.5 }, z[] = { 0.0, 1.0, 2.5 };
    const long double g = 0.3L, r2 = 14.0L, r = sqrtl(r2), r1 = 6.0L, xz = -0.75L;
    const long double s3 = sqrtl(3.0L) * g * r, s5 = sqrtl(5.0L) * g * r;
    const struct {
        const char *name;
        long double value;
    } expected[] = {
        { "gaussian", expl(-g * r2) },
        { "laplace", expl(-g * r) },
        { "laplace1", expl(-g * r1) },
        { "matern32", (1.0L + s3) * expl(-s3) },
        { "matern52", (1.0L + s5 + s5 * s5 / 3.0L) * expl(-s5) },
        { "polynomial", powl(g * xz + 1.5L, 5.0L) },
        { "linear", xz },
        { "tensor-linear", xz },
        { "tensor-polynomial", powl(xz + 1.5L, 5.0L) },
        { "tensor-exponential", expl(g * xz) },
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const fenp_kernel k = { fenp_find_kernel(expected[i].name), { 0.3, 5, 1.5, 0.0 } };
        assert_non_null(k.table);
        const long double wrong = fenp_kernel_pair(&k, x, z, 3) / expected[i].value - 1.0L;
        assert_true(fabsl(wrong) < 2e-15L);
    }
}

static void test_registry(void **state)
{
    (void)state;
    for (const fen_kernel *const *table = fenp_kernels; *table; table++) {
        assert_ptr_equal(fenp_find_kernel((*table)->name), *table);
        assert_true((*table)->help[0] != '\0');
    }
    assert_null(fenp_find_kernel("no such kernel"));
}

static void symmetric(const fen_kernel *table)
{
    const int64_t dim = 7, n = 50;
    const fenp_kernel k = kernel_of(table, dim);
    double *x = random_rows(1, n, dim);
    for (int64_t i = 0; i + 1 < n; i++)
        assert_true(fenp_kernel_pair(&k, x + i * dim, x + (i + 1) * dim, dim) ==
                    fenp_kernel_pair(&k, x + (i + 1) * dim, x + i * dim, dim));
    free(x);
}

/* Every basis value that can occur, in arrays of every length. */
static void map_is_value(const fen_kernel *table)
{
    enum { LONGEST = 600 };
    const fenp_kernel k = kernel_of(table, 5);
    double v[LONGEST];
    for (int64_t count = 1; count <= LONGEST; count += count < 40 ? 1 : 97) {
        for (int64_t i = 0; i < count; i++) v[i] = 20.0 * fenp_uniform(3, 9, (uint64_t)i);
        v[0] = 0.0;
        table->map(v, count, &k.par);
        for (int64_t i = 0; i < count; i++) {
            const double basis = i ? 20.0 * fenp_uniform(3, 9, (uint64_t)i) : 0.0;
            const double expected = table->value(basis, &k.par);
            assert_true(fabs(v[i] - expected) <= 1e-14 * fabs(expected));
        }
    }
}

static void map_takes_extremes(const fen_kernel *table)
{
    const fenp_kernel k = kernel_of(table, 5);
    double v[] = { 0.0, 5e-324, 1e-200, 1e200, 1.7e308, INFINITY };
    table->map(v, 6, &k.par);
    for (int i = 0; i < 6; i++) assert_false(isnan(v[i]));
    if (is_of_products(table)) return;
    for (int i = 0; i < 3; i++) assert_true(v[i] == 1.0);
    for (int i = 3; i < 6; i++) assert_true(v[i] == 0.0);
    assert_true(table->value(INFINITY, &k.par) == 0.0);
}

/* k(s) = sum series(m) s^m, no coefficient below 0, none after the last. */
static void test_series(void **state)
{
    (void)state;
    int count = 0;
    for (const fen_kernel *const *table = fenp_kernels; *table; table++) {
        if ((*table)->basis != FEN_TENSOR) continue;
        const fen_kernel_par par = { .gamma = 0.7, .degree = 5.0, .coef0 = 0.6, .order = 4.0 };
        const int64_t last = (*table)->last(&par), end = last < 0 ? 60 : last;
        for (double s = -2.0; s <= 2.0; s += 0.25) {
            double sum = 0.0, size = 0.0;
            for (int64_t m = 0; m <= end; m++) {
                const double c = (*table)->series(m, &par);
                assert_true(c >= 0.0);
                sum += c * pow(s, (double)m);
                size += c * pow(fabs(s), (double)m);
            }
            assert_true(fabs(sum - (*table)->value(s, &par)) <= 1e-14 * size);
        }
        for (int64_t m = end + 1; last >= 0 && m < end + 5; m++)
            assert_true((*table)->series(m, &par) == 0.0);
        assert_true(last < 0 || (*table)->series(last, &par) > 0.0);
        count++;
    }
    assert_true(count >= 3);
}

/* ---- matrices --------------------------------------------------------------------------- */

/* Cholesky of K + shift I, in place in the upper triangle; whether it exists. */
static int is_positive(double *k, int64_t n, double shift)
{
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i <= j; i++) {
            double sum = k[i + j * n] + (i == j ? shift : 0.0);
            for (int64_t m = 0; m < i; m++) sum -= k[m + i * n] * k[m + j * n];
            if (i == j && !(sum > 0.0)) return 0;
            k[i + j * n] = i == j ? sqrt(sum) : sum / k[i + i * n];
        }
    }
    return 1;
}

static void positive_semidefinite(const fen_kernel *table)
{
    const int64_t n = 120;
    const int64_t dims[] = { 1, 4, 60 };
    double *out = doubles(n * n);
    for (int d = 0; d < 3; d++) {
        const fenp_kernel k = kernel_of(table, dims[d]);
        double *x = random_rows(2, n, dims[d]);
        memcpy(x, x + dims[d], (size_t)dims[d] * sizeof *x); /* two equal rows: singular */
        assert_int_equal(fenp_gram_upper(&k, (fen_view){ x, n, dims[d], dims[d] }, out, NULL, NULL),
                         FEN_OK);
        double largest = 0.0;
        for (int64_t i = 0; i < n; i++) largest = fmax(largest, out[i + i * n]);
        assert_true(is_positive(out, n, 1e-10 * (double)n * largest));
        free(x);
    }
    free(out);
}

static void check_upper(const fen_kernel *table, int64_t n, int64_t dim)
{
    const double untouched = -77.0;
    const int64_t stride = dim + 2;
    const fenp_kernel k = kernel_of(table, dim);
    double *x = random_rows(4, n, stride), *out = doubles(n * n);
    for (int64_t i = 0; i < n * n; i++) out[i] = untouched;
    assert_int_equal(fenp_gram_upper(&k, (fen_view){ x, n, dim, stride }, out, NULL, NULL), FEN_OK);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < j; i++)
            assert_pair(&k, x + i * stride, x + j * stride, dim, out[i + j * n]);
        assert_true(out[j + j * n] == fenp_kernel_pair(&k, x + j * stride, x + j * stride, dim));
        for (int64_t i = j + 1; i < n; i++) assert_true(out[i + j * n] == untouched);
    }
    free(x);
    free(out);
}

static void upper_is_pairs(const fen_kernel *table)
{
    const int64_t sizes[] = { 1, 2, 3, 127, 128, 129, 255, 511, 512, 513, 641 };
    const int64_t dims[] = { 1, 10, 47, 48, 49, 50, 300 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_upper(table, sizes[i], 3);
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) check_upper(table, 259, dims[i]);
}

static void check_times(const fen_kernel *table, int64_t rows, int64_t centres, int64_t dim,
                        int64_t targets)
{
    const fenp_kernel k = kernel_of(table, dim);
    double *x = random_rows(5, rows, dim), *z = random_rows(6, centres, dim);
    double *coef = random_rows(7, targets, centres), *out = random_rows(8, rows, targets);
    assert_int_equal(fenp_gram_times(&k, (fen_view){ x, rows, dim, dim },
                                     (fen_view){ z, centres, dim, dim }, coef, targets, out, NULL,
                                     NULL),
                     FEN_OK);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = 0; t < targets; t++) {
            double sum = 0.0, size = 0.0;
            for (int64_t j = 0; j < centres; j++) {
                const double c = coef[t * centres + j];
                sum += c * fenp_kernel_pair(&k, x + i * dim, z + j * dim, dim);
                size += fabs(c) * unit_of(&k, x + i * dim, z + j * dim, dim);
            }
            assert_true(fabs(out[i * targets + t] - sum) <= 1e-13 * size);
        }
    free(x);
    free(z);
    free(coef);
    free(out);
}

static void times_is_product(const fen_kernel *table)
{
    check_times(table, 1, 1, 3, 1);
    check_times(table, 3, 700, 10, 2);
    check_times(table, 131, 513, 1, 1);
    check_times(table, 257, 65, 60, 3);
    check_times(table, 5, 110, 300, 1);
}

/* ---- threads ---------------------------------------------------------------------------- */

static void same_bits(const fen_kernel *table)
{
    const int64_t n = 700, targets = 2;
    const int threads_before = omp_get_max_threads();
    for (int64_t dim = 10; dim <= 60; dim += 50) {
        const fenp_kernel k = kernel_of(table, dim);
        double *x = random_rows(10, n, dim), *coef = random_rows(11, targets, n);
        const fen_view rows = { x, n, dim, dim };
        double *upper[2] = { doubles(n * n), doubles(n * n) };
        double *times[2] = { doubles(n * targets), doubles(n * targets) };
        for (int threads = 1; threads <= 5; threads += 2) {
            const int which = threads > 1;
            omp_set_num_threads(threads);
            assert_int_equal(fenp_gram_upper(&k, rows, upper[which], NULL, NULL), FEN_OK);
            assert_int_equal(
                fenp_gram_times(&k, rows, rows, coef, targets, times[which], NULL, NULL), FEN_OK);
            if (!which) continue;
            assert_memory_equal(upper[0], upper[1], (size_t)(n * n) * sizeof(double));
            assert_memory_equal(times[0], times[1], (size_t)(n * targets) * sizeof(double));
        }
        for (int i = 0; i < 2; i++) {
            free(upper[i]);
            free(times[i]);
        }
        free(x);
        free(coef);
    }
    omp_set_num_threads(threads_before);
}

static void test_symmetric(void **state)
{
    (void)state;
    every_kernel(symmetric);
}
static void test_map(void **state)
{
    (void)state;
    every_kernel(map_is_value);
}
static void test_extremes(void **state)
{
    (void)state;
    every_kernel(map_takes_extremes);
}
static void test_positive(void **state)
{
    (void)state;
    every_kernel(positive_semidefinite);
}
static void test_upper(void **state)
{
    (void)state;
    every_kernel(upper_is_pairs);
}
static void test_times(void **state)
{
    (void)state;
    every_kernel(times_is_product);
}
static void test_threads(void **state)
{
    (void)state;
    every_kernel(same_bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),  cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_symmetric), cmocka_unit_test(test_map),
        cmocka_unit_test(test_extremes),  cmocka_unit_test(test_positive),
        cmocka_unit_test(test_upper),     cmocka_unit_test(test_times),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
