/* test_gram.c -- distances against long double, extreme data, precomputed kernels, gamma by
 * rule, progress */
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
#include "kernel/gram.h"

enum { N = 150 };

static double *doubles(int64_t count)
{
    double *v = calloc((size_t)count + 1, sizeof *v);
    assert_non_null(v);
    return v;
}

static double *random_rows(uint64_t stream, int64_t rows, int64_t dim)
{
    double *x = doubles(rows * dim);
    for (int64_t i = 0; i < rows * dim; i++) x[i] = fenp_normal(5, stream, (uint64_t)i);
    return x;
}

/* ---- distances -------------------------------------------------------------------------- */

/* A kernel that is the distance itself shows what the tiles are made of. */
static double itself(double basis, const fen_kernel_par *par)
{
    (void)par;
    return basis;
}
static void leave(double *basis, int64_t count, const fen_kernel_par *par)
{
    (void)basis, (void)count, (void)par;
}
static const fen_kernel squared = {
    .name = "r2", .help = "r2", .basis = FEN_SQUARED_DISTANCE, .value = itself, .map = leave
};
static const fen_kernel absolute = {
    .name = "r1", .help = "r1", .basis = FEN_L1_DISTANCE, .value = itself, .map = leave
};

static int is_of_distances(const fen_kernel *table)
{
    return table->basis == FEN_SQUARED_DISTANCE || table->basis == FEN_L1_DISTANCE;
}

static long double exact(const fen_kernel *table, const double *x, const double *z, int64_t dim)
{
    long double sum = 0.0L;
    for (int64_t k = 0; k < dim; k++) {
        const long double d = (long double)x[k] - z[k];
        sum += table->basis == FEN_L1_DISTANCE ? fabsl(d) : d * d;
    }
    return sum;
}

/* Both directions of use: the triangle of x, and x times unit vectors. */
static void check_distances(const fen_kernel *table, const double *x, int64_t dim)
{
    const fenp_kernel k = { table, { 0, 0, 0, 0.0 } };
    const fen_view rows = { x, N, dim, dim };
    double *out = doubles(N * N), *identity = doubles(N * N), *full = doubles(N * N);
    for (int64_t i = 0; i < N; i++) identity[i * N + i] = 1.0;
    assert_int_equal(fenp_gram_upper(&k, rows, out, NULL, NULL), FEN_OK);
    assert_int_equal(fenp_gram_times(&k, rows, rows, identity, N, full, NULL, NULL), FEN_OK);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i <= j; i++) {
            const long double r = exact(table, x + i * dim, x + j * dim, dim);
            const double found[] = { out[i + j * N], full[i * N + j], full[j * N + i] };
            for (int f = 0; f < 3; f++) {
                if (r == 0.0L)
                    assert_true(found[f] == 0.0);
                else if (!(fabsl(found[f] / r - 1.0L) <= 1e-12L))
                    fail_msg("%s, %d features: %.17g instead of %.17Lg", table->name, (int)dim,
                             found[f], r);
            }
        }
    free(out);
    free(identity);
    free(full);
}

static void check_both(const double *x, int64_t dim)
{
    check_distances(&squared, x, dim);
    check_distances(&absolute, x, dim);
}

static const int64_t dims[] = { 1, 3, 10, 48, 49, 300 };
enum { DIMS = sizeof dims / sizeof *dims };

static void test_plain(void **state)
{
    (void)state;
    for (int d = 0; d < DIMS; d++) {
        double *x = random_rows(1, N, dims[d]);
        check_both(x, dims[d]);
        free(x);
    }
}

/* x + 1e6: the norms agree in 12 of their 16 digits. */
static void test_offset(void **state)
{
    (void)state;
    for (int d = 0; d < DIMS; d++) {
        double *x = random_rows(2, N, dims[d]);
        for (int64_t i = 0; i < N * dims[d]; i++) x[i] += i % 2 ? 1e6 : -3e6;
        check_both(x, dims[d]);
        free(x);
    }
}

/* Row 2i+1 is row 2i but for one part in 10^3 .. 10^15, or nothing at all. */
static void test_near_duplicates(void **state)
{
    (void)state;
    for (int d = 0; d < DIMS; d++) {
        const int64_t dim = dims[d];
        double *x = random_rows(3, N, dim);
        for (int64_t i = 0; i + 1 < N; i += 2)
            for (int64_t k = 0; k < dim; k++) {
                const double size = i % 16 ? pow(10.0, -(double)(i % 16)) : 0.0;
                const double relative = fenp_uniform(5, 4, (uint64_t)(i * dim + k));
                x[(i + 1) * dim + k] = x[i * dim + k] * (1.0 + size * relative);
            }
        check_both(x, dim);
        free(x);
    }
}

/* The same against other rows, where no exact 0 of a diagonal helps to notice: rows 2i and
 * 2i+1 differ from centres 2i and 2i+1 by one part in 2^i. */
static void test_near_duplicates_elsewhere(void **state)
{
    (void)state;
    for (int d = 0; d < DIMS; d++) {
        const int64_t dim = dims[d], rows = 100;
        const fenp_kernel k = { &squared, { 0, 0, 0, 0.0 } };
        double *x = random_rows(12, rows, dim), *z = doubles(rows * dim);
        double *identity = doubles(rows * rows), *out = doubles(rows * rows);
        for (int64_t i = 0; i < rows; i++) identity[i * rows + i] = 1.0;
        for (int64_t i = 0; i < rows * dim; i++)
            z[i] = x[i] * (1.0 + ldexp(fenp_uniform(5, 13, (uint64_t)i), -(int)(i / dim / 2)));
        assert_int_equal(fenp_gram_times(&k, (fen_view){ x, rows, dim, dim },
                                         (fen_view){ z, rows, dim, dim }, identity, rows, out, NULL,
                                         NULL),
                         FEN_OK);
        for (int64_t i = 0; i < rows; i++) {
            const long double r2 = exact(&squared, x + i * dim, z + i * dim, dim);
            assert_true(fabsl(out[i * rows + i] - r2) <= 1e-12L * r2);
        }
        free(x);
        free(z);
        free(identity);
        free(out);
    }
}

/* A few tight clusters: most of every tile cancels. */
static void test_clusters(void **state)
{
    (void)state;
    for (int d = 0; d < DIMS; d++) {
        const int64_t dim = dims[d];
        double *x = random_rows(5, N, dim);
        for (int64_t i = 3; i < N; i++)
            for (int64_t k = 0; k < dim; k++)
                x[i * dim + k] = x[i % 3 * dim + k] + 1e-7 * x[i * dim + k];
        check_both(x, dim);
        free(x);
    }
}

static void test_equal_rows(void **state)
{
    (void)state;
    for (int d = 0; d < DIMS; d++) {
        const int64_t dim = dims[d];
        double *x = random_rows(6, N, dim);
        for (int64_t i = 1; i < N; i++) memcpy(x + i * dim, x, (size_t)dim * sizeof *x);
        check_both(x, dim);
        free(x);
    }
}

/* Squares that overflow or underflow: distances may become infinite or 0, never NaN. */
static void test_extreme_scales(void **state)
{
    (void)state;
    const double scales[] = { 1e150, 1e160, 1e300, 1e-150, 1e-160, 1e-310 };
    double *out = doubles(N * N), *values = doubles(N), *ones = doubles(N);
    for (int64_t i = 0; i < N; i++) ones[i] = 1.0;
    for (int d = 0; d < DIMS; d++)
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            const int64_t dim = dims[d];
            double *x = random_rows(7, N, dim);
            for (int64_t i = 0; i < N * dim; i++) x[i] *= scales[s];
            memcpy(x + dim, x, (size_t)dim * sizeof *x);
            const fen_view rows = { x, N, dim, dim };
            for (const fen_kernel *const *table = fenp_kernels; *table; table++) {
                if (!is_of_distances(*table)) continue;
                const fenp_kernel k = { *table, { 1.0, 0, 0, 0.0 } };
                assert_int_equal(fenp_gram_upper(&k, rows, out, NULL, NULL), FEN_OK);
                for (int64_t j = 0; j < N; j++)
                    for (int64_t i = 0; i <= j; i++)
                        assert_true(out[i + j * N] >= 0.0 && out[i + j * N] <= 1.0);
                assert_true(out[N] == 1.0); /* the equal rows 0, 1 */
                if (scales[s] > 1.0 && dim >= 10) assert_true(out[2 * N] == 0.0);
                if (scales[s] < 1.0) assert_true(out[2 * N] == 1.0);
                assert_int_equal(fenp_gram_times(&k, rows, rows, ones, 1, values, NULL, NULL),
                                 FEN_OK);
                for (int64_t i = 0; i < N; i++) assert_true(values[i] >= 1.0 && values[i] <= N);
            }
            free(x);
        }
    free(out);
    free(values);
    free(ones);
}

/* A row's prediction does not depend on the rows that are predicted with it. */
static void test_batches(void **state)
{
    (void)state;
    const int64_t dim = 10;
    const fenp_kernel k = { fenp_find_kernel("gaussian"), { 0.1, 0, 0, 0.0 } };
    double *x = random_rows(8, N, dim), *coef = random_rows(9, 1, N), *all = doubles(N), one;
    const fen_view centres = { x, N, dim, dim };
    assert_int_equal(fenp_gram_times(&k, centres, centres, coef, 1, all, NULL, NULL), FEN_OK);
    for (int64_t i = 0; i < N; i++) {
        const fen_view row = { x + i * dim, 1, dim, dim };
        assert_int_equal(fenp_gram_times(&k, row, centres, coef, 1, &one, NULL, NULL), FEN_OK);
        assert_true(one == all[i]);
    }
    free(x);
    free(coef);
    free(all);
}

static void test_empty(void **state)
{
    (void)state;
    for (const fen_kernel *const *table = fenp_kernels; *table; table++) {
        if ((*table)->basis == FEN_PRECOMPUTED) continue;
        const fenp_kernel k = { *table, { 1.0, 2, 3.0, 0.0 } };
        double x[3] = { 0 }, out[9], coef[3] = { 1.0, 1.0, 1.0 }, sums[3];
        const double expected = k.table->value(0.0, &k.par); /* no features at all */
        const fen_view none = { x, 3, 0, 1 }, nobody = { x, 0, 1, 1 };
        assert_int_equal(fenp_gram_upper(&k, none, out, NULL, NULL), FEN_OK);
        assert_true(out[0] == expected && out[3] == expected && out[8] == expected);
        assert_int_equal(fenp_gram_times(&k, none, none, coef, 1, sums, NULL, NULL), FEN_OK);
        assert_true(fabs(sums[2] - 3.0 * expected) <= 1e-14 * expected);
        assert_int_equal(fenp_gram_upper(&k, nobody, out, NULL, NULL), FEN_OK);
        assert_int_equal(fenp_gram_times(&k, nobody, none, coef, 1, sums, NULL, NULL),
                         FEN_BAD_DATA);
    }
}

static void test_diagonal(void **state)
{
    (void)state;
    const int64_t dim = 4;
    double *x = random_rows(10, N, dim), *diagonal = doubles(N), *w = doubles(N);
    const fen_view rows = { x, N, dim, dim };
    for (int64_t i = 0; i < N; i++) w[i] = 2.0 * (double)(i + 1) / (double)(N * (N + 1));
    for (const fen_kernel *const *table = fenp_kernels; *table; table++) {
        if ((*table)->basis == FEN_PRECOMPUTED) continue;
        const fenp_kernel k = { *table, { 0.7, 3, 1.0, 0.0 } };
        double mean = 0.0;
        fenp_gram_diagonal(&k, rows, diagonal);
        for (int64_t i = 0; i < N; i++) {
            assert_true(diagonal[i] == fenp_kernel_pair(&k, x + i * dim, x + i * dim, dim));
            if (is_of_distances(k.table)) assert_true(diagonal[i] == 1.0);
            mean += w[i] * diagonal[i];
        }
        assert_true(fabs(fenp_gram_mean_diagonal(&k, rows, w) - mean) <= 1e-14 * mean);
    }
    free(x);
    free(diagonal);
    free(w);
}

/* ---- precomputed ------------------------------------------------------------------------ */

static void test_precomputed(void **state)
{
    (void)state;
    const fenp_kernel k = { fenp_find_kernel("precomputed"), { 0, 0, 0, 0.0 } };
    double given[] = { 4.0, 1.0, 0.5, 99.0, 1.0, 3.0, -1.0, 99.0, 0.5, -1.0, 2.0, 99.0 };
    double out[9] = { 0 }, diagonal[3], coef[] = { 1.0, 2.0, -1.0, 0.0, 0.0, 1.0 }, product[6];
    const double w[] = { 0.5, 0.25, 0.25 };
    const fen_view x = { given, 3, 3, 4 }, centres = { NULL, 3, 3, 3 };
    fen_error err;
    assert_int_equal(fenp_gram_upper(&k, x, out, NULL, &err), FEN_OK);
    assert_true(out[0] == 4.0 && out[3] == 1.0 && out[4] == 3.0 && out[6] == 0.5 &&
                out[7] == -1.0 && out[8] == 2.0 && out[1] == 0.0);
    fenp_gram_diagonal(&k, x, diagonal);
    assert_true(diagonal[0] == 4.0 && diagonal[1] == 3.0 && diagonal[2] == 2.0);
    assert_true(fenp_gram_mean_diagonal(&k, x, w) == 3.25);
    assert_int_equal(fenp_gram_times(&k, x, centres, coef, 2, product, NULL, &err), FEN_OK);
    const double expected[] = { 5.5, 0.5, 8.0, -1.0, -3.5, 2.0 };
    for (int i = 0; i < 6; i++) assert_true(product[i] == expected[i]);

    const fen_view narrow = { given, 3, 2, 4 };
    assert_int_equal(fenp_gram_times(&k, narrow, centres, coef, 2, product, NULL, &err),
                     FEN_BAD_DATA);
    assert_string_equal(err.message, "rows have 2 kernel values, but the model needs 3");
    assert_int_equal(fenp_gram_upper(&k, narrow, out, NULL, &err), FEN_BAD_DATA);
    given[6] = -1.1;
    assert_int_equal(fenp_gram_upper(&k, x, out, NULL, &err), FEN_BAD_DATA);
    assert_string_equal(err.message, "the precomputed kernel is not symmetric: row 2 has -1.1 in "
                                     "column 3, but row 3 has -1 in column 2");
    given[6] = NAN;
    assert_int_equal(fenp_gram_upper(&k, x, out, NULL, &err), FEN_BAD_DATA);
}

/* ---- gamma by rule ---------------------------------------------------------------------- */

static double gamma_of(const char *kernel, fen_view x, const double *w)
{
    double gamma = NAN;
    assert_int_equal(fenp_gamma_mean(fenp_find_kernel(kernel), x, w, &gamma, NULL), FEN_OK);
    return gamma;
}

static void test_gamma_mean(void **state)
{
    (void)state;
    const int64_t dim = 5;
    double *x = random_rows(11, N, dim), *w = doubles(N);
    const fen_view rows = { x, N, dim, dim };
    long double sum = 0.0L, weights = 0.0L;
    for (int64_t i = 0; i < N; i++) weights += w[i] = 1.0 + (double)(i % 3);
    for (int64_t i = 0; i < N; i++) w[i] /= (double)weights;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            sum += (long double)w[i] * w[j] * exact(&squared, x + i * dim, x + j * dim, dim);
    assert_true(fabs(gamma_of("gaussian", rows, w) * (double)sum - 1.0) < 1e-14);
    assert_true(gamma_of("laplace", rows, w) == sqrt(gamma_of("gaussian", rows, w)));
    assert_true(gamma_of("laplace1", rows, w) == sqrt(gamma_of("gaussian", rows, w)));
    assert_true(gamma_of("matern52", rows, w) == sqrt(gamma_of("gaussian", rows, w)));

    /* an offset that eats ten digits of every square leaves the first eight digits alone */
    const double before = gamma_of("gaussian", rows, w);
    for (int64_t i = 0; i < N * dim; i++) x[i] += 1e7;
    assert_true(fabs(gamma_of("gaussian", rows, w) / before - 1.0) < 1e-8);
    free(x);
    free(w);
}

/* Standardised columns: the mean squared distance is 2 p. */
static void test_gamma_of_standardised(void **state)
{
    (void)state;
    const double x[] = { 1, 1, -1, 1, 1, -1, -1, -1 }, w[] = { 0.25, 0.25, 0.25, 0.25 };
    assert_true(gamma_of("gaussian", (fen_view){ x, 4, 2, 2 }, w) == 0.25);
}

static void test_gamma_of_equal_rows(void **state)
{
    (void)state;
    const double x[] = { 0.1, 0.7, 0.1, 0.7, 0.1, 0.7 }, w[] = { 1.0 / 3, 1.0 / 3, 1.0 / 3 };
    const double huge[] = { 1e200, -1e200 }, half[] = { 0.5, 0.5 };
    double gamma = -1.0;
    fen_error err;
    assert_int_equal(
        fenp_gamma_mean(fenp_find_kernel("gaussian"), (fen_view){ x, 3, 2, 2 }, w, &gamma, &err),
        FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "equal inputs"));
    assert_int_equal(fenp_gamma_mean(fenp_find_kernel("gaussian"), (fen_view){ huge, 2, 1, 1 },
                                     half, &gamma, &err),
                     FEN_BAD_DATA);
    assert_true(gamma == -1.0);
}

/* ---- progress --------------------------------------------------------------------------- */

typedef struct witness {
    double last;
    int calls, stop_at;
} witness;

static int watch(void *user, const char *stage, double fraction)
{
    witness *w = user;
    (void)stage;
    assert_true(fraction >= w->last && fraction <= 1.0);
    w->last = fraction;
    return ++w->calls == w->stop_at;
}

static void test_progress(void **state)
{
    (void)state;
    const int64_t dim = 2, n = 2;
    const double x[] = { 0.0, 1.0, 2.0, 3.0 }, coef[] = { 1.0, 1.0 };
    const fenp_kernel k = { fenp_find_kernel("gaussian"), { 0.1, 0, 0, 0.0 } };
    const fen_view rows = { x, n, dim, dim };
    double out[4];
    for (int stop_at = 0; stop_at <= 2; stop_at++)
        for (int times = 0; times <= 1; times++) {
            witness w = { 0.0, 0, stop_at };
            const fen_host host = { .progress = watch, .user = &w };
            const fenp_task task = fenp_task_start(&host, 0.0);
            const fen_status status =
                times ? fenp_gram_times(&k, rows, rows, coef, 1, out, &task, NULL)
                      : fenp_gram_upper(&k, rows, out, &task, NULL);
            assert_int_equal(status, stop_at ? FEN_STOPPED : FEN_OK);
            assert_true(w.calls == (stop_at == 1 ? 1 : 2));
            if (!stop_at) assert_true(w.last == 1.0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_offset),
        cmocka_unit_test(test_near_duplicates),
        cmocka_unit_test(test_near_duplicates_elsewhere),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_equal_rows),
        cmocka_unit_test(test_extreme_scales),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_diagonal),
        cmocka_unit_test(test_precomputed),
        cmocka_unit_test(test_gamma_mean),
        cmocka_unit_test(test_gamma_of_standardised),
        cmocka_unit_test(test_gamma_of_equal_rows),
        cmocka_unit_test(test_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
