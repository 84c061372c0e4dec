/* Random Fourier features: the law of the frequencies, the map, and what the moments of a
 * stream say beside the dense computation on all rows. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/linalg.h"
#include "base/random.h"
#include "base/registry.h"
#include "simd/simd.h"
#include "feature/moments.h"

/* ---- sine and cosine ------------------------------------------------------------------ */

static void check_sincos(const double *x, int64_t count)
{
    double sine[40], cosine[40];
    memcpy(sine, x, (size_t)count * sizeof(double));
    fenp_simd_get()->sincos_scaled(sine, cosine, count, 0.5);
    for (int64_t i = 0; i < count; i++) { /* 2e-16 of the amplitude, and rounding by it */
        assert_true(fabsl(2.0L * sine[i] - sinl((long double)x[i])) <= 2.3e-16L);
        assert_true(fabsl(2.0L * cosine[i] - cosl((long double)x[i])) <= 2.3e-16L);
    }
}

static void test_sincos_is_right_for_every_size_of_argument(void **state)
{
    (void)state;
    double x[40];
    for (int64_t trial = 0; trial < 4000; trial++) {
        const int64_t count = 1 + trial % 40;
        const double largest = pow(10.0, -8.0 + 20.0 * (double)(trial % 97) / 96.0); /* to 1e12 */
        for (int64_t i = 0; i < count; i++)
            x[i] = largest * (2.0 * fenp_uniform(7, (uint64_t)trial, (uint64_t)i) - 1.0);
        check_sincos(x, count);
    }
    for (int64_t k = 0; k < 40; k++) x[k] = (double)(k - 20) * M_PI_4; /* where quarters meet */
    check_sincos(x, 40);
    const double far[] = { 0.0, -0.0, 1e300, -1e18, 0x1p-1074, 1.0, 1e9, -1e9, 1.5e9 };
    check_sincos(far, 9);
}

static void test_sincos_of_nothing_finite_is_nan(void **state)
{
    (void)state;
    double v[] = { INFINITY, 1.0, NAN }, cosine[3];
    fenp_simd_get()->sincos_scaled(v, cosine, 3, 1.0);
    assert_true(isnan(v[0]) && isnan(cosine[0]) && isnan(v[2]) && isnan(cosine[2]));
    assert_true(fabs(v[1] - sin(1.0)) < 3e-16);
}

/* ---- frequencies ---------------------------------------------------------------------- */

enum { P = 5 };

static fenp_kernel kernel_of(const fen_kernel *table, double gamma)
{
    return (fenp_kernel){ table, { gamma, 3.0, 1.0, 0.0 } };
}

static double *draw(const fenp_approx *approx, const fenp_kernel *k, int64_t p, uint64_t seed)
{
    double *omega = test_malloc((size_t)(approx->columns / 2 * p) * sizeof(double));
    fenp_fourier_draw(approx, k, p, seed, omega);
    return omega;
}

/* The mean of cos(omega.(x - z)) within five of its standard deviations of k(x, z). The
 * orthogonal frequencies are less scattered than independent ones: the same bound holds. */
static void check_mean(const fenp_kernel *k, int orthogonal, double distance, uint64_t seed)
{
    const fenp_approx approx = { FENP_COLUMNS_MAX, orthogonal };
    const int64_t half = approx.columns / 2;
    double x[P], z[P], *omega = draw(&approx, k, P, seed);
    for (int j = 0; j < P; j++) {
        x[j] = fenp_normal(seed, 11, (uint64_t)j);
        z[j] = x[j] + distance * fenp_normal(seed, 12, (uint64_t)j);
    }
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < half; i++) {
        double along = 0.0;
        for (int j = 0; j < P; j++) along += omega[i * P + j] * (x[j] - z[j]);
        sum += cos(along);
        squares += cos(along) * cos(along);
    }
    const double mean = sum / (double)half, variance = squares / (double)half - mean * mean;
    const double exact = fenp_kernel_pair(k, x, z, P);
    if (!(fabs(mean - exact) <= 5.0 * sqrt(variance / (double)half) + 1e-12))
        fail_msg("%s%s at distance %g: %.6g, kernel %.6g, deviation %.2g", k->table->name,
                 orthogonal ? " (orthogonal)" : "", distance, mean, exact,
                 sqrt(variance / (double)half));
    test_free(omega);
}

static void test_the_mean_of_the_features_is_the_kernel(void **state)
{
    (void)state;
    static const double distances[] = { 0.0, 0.1, 0.5, 1.0, 3.0 };
    int kernels = 0;
    for (int i = 0; fenp_kernels[i]; i++) {
        if (!(fenp_kernels[i]->spectral_degrees > 0)) continue;
        kernels++;
        for (uint64_t d = 0; d < 5; d++) {
            const fenp_kernel k = kernel_of(fenp_kernels[i], 0.3 + 0.2 * (double)d);
            check_mean(&k, 0, distances[d], 100 + d);
            if (k.table->basis != FEN_L1_DISTANCE) check_mean(&k, 1, distances[d], 200 + d);
        }
    }
    assert_int_equal(kernels, 5);
}

/* One row of frequencies moves nothing: blocks of p are orthogonal, p < D/2 and p > D/2. */
static void test_orthogonal_blocks_are_orthogonal(void **state)
{
    (void)state;
    const fenp_kernel k = kernel_of(fenp_find_kernel("matern32"), 0.7);
    for (int64_t p = 1; p <= 40; p += 13) {
        const fenp_approx approx = { 60, 1 };
        double *omega = draw(&approx, &k, p, 3);
        for (int64_t i = 0; i < 30; i++)
            for (int64_t l = i / p * p; l < i; l++) {
                const double *a = omega + i * p, *b = omega + l * p;
                const double product = cblas_ddot((int)p, a, 1, b, 1);
                const double lengths = cblas_dnrm2((int)p, a, 1) * cblas_dnrm2((int)p, b, 1);
                assert_true(fabs(product) <= 1e-14 * lengths);
            }
        test_free(omega);
    }
}

static void test_frequencies_depend_on_the_seed_alone(void **state)
{
    (void)state;
    const int before = omp_get_max_threads();
    for (int orthogonal = 0; orthogonal < 2; orthogonal++) {
        const fenp_approx more = { 100, orthogonal }, fewer = { 30, orthogonal };
        const fenp_kernel k = kernel_of(fenp_find_kernel("laplace"), 0.4);
        omp_set_num_threads(1);
        double *one = draw(&more, &k, P, 9);
        omp_set_num_threads(2);
        double *two = draw(&more, &k, P, 9), *part = draw(&fewer, &k, P, 9);
        double *other = draw(&more, &k, P, 10);
        assert_memory_equal(one, two, 50 * P * sizeof(double));
        assert_memory_equal(one, part, 15 * P * sizeof(double));
        for (int i = 0; i < 50 * P; i++) assert_true(one[i] != other[i]);
        test_free(one), test_free(two), test_free(part), test_free(other);
    }
    omp_set_num_threads(before);
}

static void test_the_map_is_its_definition(void **state)
{
    (void)state;
    enum { ROWS = 600, D = 14, LD = 603 };
    const fenp_approx approx = { D, 0 };
    const fenp_kernel k = kernel_of(fenp_find_kernel("gaussian"), 0.2);
    double *omega = draw(&approx, &k, P, 1), x[ROWS * P];
    double *z = test_malloc(LD * D * sizeof(double));
    for (int i = 0; i < ROWS * P; i++) x[i] = fenp_normal(2, 0, (uint64_t)i);
    fenp_fourier_map(omega, D, x, P, ROWS, z, LD);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < D / 2; j++) {
            double along = 0.0;
            for (int l = 0; l < P; l++) along += omega[j * P + l] * x[i * P + l];
            assert_true(fabs(z[i + j * LD] - sqrt(2.0 / D) * cos(along)) < 1e-14);
            assert_true(fabs(z[i + (j + D / 2) * LD] - sqrt(2.0 / D) * sin(along)) < 1e-14);
        }
    fenp_fourier_map(omega, D, x, 0, ROWS, z, LD); /* no features: every row is the same */
    for (int i = 0; i < ROWS; i++) assert_true(z[i] == sqrt(2.0 / D) && z[i + D / 2 * LD] == 0.0);
    test_free(omega), test_free(z);
}

static void test_what_may_be_asked_for(void **state)
{
    (void)state;
    static const char *const wrong[] = { "fourier:",      "fourier:3",   "fourier:0",
                                         "fourier:20002", "fourier:1e2", "orthogonal",
                                         "orthogonal:-2", "nystrom:100", "" };
    fenp_approx a;
    fen_error err;
    assert_int_equal(fenp_approx_read("none", &a, &err), FEN_OK);
    assert_int_equal(a.columns, 0);
    assert_int_equal(fenp_approx_read("fourier:20000", &a, &err), FEN_OK);
    assert_true(a.columns == 20000 && !a.orthogonal);
    assert_int_equal(fenp_approx_read("orthogonal:2", &a, &err), FEN_OK);
    assert_true(a.columns == 2 && a.orthogonal);
    assert_int_equal(fenp_approx_check(&a, fenp_find_kernel("gaussian"), &err), FEN_OK);
    assert_int_equal(fenp_approx_check(&a, fenp_find_kernel("laplace1"), &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "fourier:2"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(fenp_approx_read(wrong[i], &a, &err), FEN_BAD_CALL);
        assert_non_null(strstr(err.message, "even"));
    }
    assert_int_equal(fenp_approx_read("fourier:4", &a, &err), FEN_OK);
    assert_int_equal(fenp_approx_check(&a, fenp_find_kernel("laplace1"), &err), FEN_OK);
    assert_int_equal(fenp_approx_check(&a, fenp_find_kernel("linear"), &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "linear"));
}

/* ---- moments ------------------------------------------------------------------------------ */

enum { N = 5000, D = 24, TARGETS = 2 }; /* more than two tiles */

static fenp_sample *some_rows(int weighted, double level)
{
    fenp_sample *s = fenp_sample_new(N, P, TARGETS);
    assert_non_null(s);
    for (int64_t i = 0; i < N; i++) {
        double *x = s->x + i * P;
        for (int j = 0; j < P; j++) x[j] = fenp_normal(5, (uint64_t)i, (uint64_t)j);
        s->y[i] = level + sin(x[0]) + x[1] * x[2] + 0.1 * fenp_normal(6, 0, (uint64_t)i);
        s->y[N + i] = 100.0 * cos(x[3]) + fenp_normal(6, 1, (uint64_t)i);
        s->w[i] = weighted ? (double)(1 + i % 3) : 1.0;
    }
    return s;
}

/* Rows from .. to - 1 as a block of their own. */
static fenp_sample *cut(const fenp_sample *s, int64_t from, int64_t to)
{
    fenp_sample *b = fenp_sample_new(to - from, s->p, s->targets);
    assert_non_null(b);
    memcpy(b->x, s->x + from * s->p, (size_t)((to - from) * s->p) * sizeof(double));
    for (int64_t t = 0; t < s->targets; t++)
        memcpy(b->y + t * b->n, s->y + t * s->n + from, (size_t)b->n * sizeof(double));
    memcpy(b->w, s->w + from, (size_t)b->n * sizeof(double));
    return b;
}

/* Ridge on the features by its normal equations, centred row by row. */
static void dense_ridge(const fenp_sample *s, const double *omega, int bias, double lambda,
                        int64_t t, double *weights, double *offset)
{
    double *z = test_malloc(N * D * sizeof(double)), a[D * D], mean[D] = { 0 };
    double total = 0.0, y_mean = 0.0;
    const double *y = s->y + t * N;
    fenp_fourier_map(omega, D, s->x, P, N, z, N);
    for (int64_t i = 0; i < N; i++) total += s->w[i];
    for (int64_t i = 0; bias && i < N; i++) {
        y_mean += s->w[i] / total * y[i];
        for (int64_t j = 0; j < D; j++) mean[j] += s->w[i] / total * z[i + j * N];
    }
    double rest = 0.0; /* y_mean is known to eps of its size: once more from the differences */
    for (int64_t i = 0; bias && i < N; i++) rest += s->w[i] / total * (y[i] - y_mean);
    memset(weights, 0, D * sizeof(double));
    for (int64_t j = 0; j < D; j++) {
        for (int64_t l = 0; l <= j; l++) {
            double sum = 0.0;
            for (int64_t i = 0; i < N; i++)
                sum += s->w[i] / total * (z[i + j * N] - mean[j]) * (z[i + l * N] - mean[l]);
            a[j + l * D] = sum + (j == l ? lambda : 0.0);
        }
        for (int64_t i = 0; i < N; i++)
            weights[j] += s->w[i] / total * (z[i + j * N] - mean[j]) * (y[i] - y_mean - rest);
    }
    int64_t rank;
    assert_int_equal(fenp_cholesky(D, a, D, &rank, NULL, NULL), FEN_OK);
    assert_int_equal(rank, D);
    assert_int_equal(fenp_cholesky_solve(D, a, D, weights, 1, NULL), FEN_OK);
    *offset = bias ? y_mean + (rest - cblas_ddot(D, mean, 1, weights, 1)) : 0.0;
    test_free(z);
}

static void check_moments(int weighted, int bias, double level, int64_t split)
{
    const fenp_approx approx = { D, 0 };
    const fenp_kernel k = kernel_of(fenp_find_kernel("gaussian"), 0.1);
    const double lambda = 1e-4;
    double *omega = draw(&approx, &k, P, 4), weights[D], work[2 * D], offset, wanted[D],
           wanted_offset;
    fenp_sample *s = some_rows(weighted, level);
    fenp_cross m;
    fenp_spectrum e;
    fenp_arena arena;
    fen_error err;
    assert_int_equal(
        fenp_arena_open(&arena,
                        fenp_cross_bytes(D, TARGETS) + fenp_cross_spectrum_bytes(D, TARGETS),
                        "a test", &err),
        FEN_OK);
    fenp_cross_open(&arena, D, TARGETS, bias, &m);
    for (int64_t from = 0; from < N; from += split) {
        fenp_sample *block = cut(s, from, from + split < N ? from + split : N);
        fenp_cross_add(&m, omega, block);
        fenp_sample_free(block);
    }
    assert_int_equal(m.rows, N);
    fenp_cross_close(&m);
    assert_int_equal(fenp_cross_spectrum(&arena, &m, &e, &err), FEN_OK);
    for (int64_t t = 0; t < TARGETS; t++) {
        fenp_cross_weights(&m, &e, t, N * lambda, 1, work, weights);
        offset = fenp_cross_offset(&m, t, weights);
        dense_ridge(s, omega, bias, lambda, t, wanted, &wanted_offset);
        const double size = cblas_dnrm2(D, wanted, 1);
        /* condition 1e4, y known to eps level / 100 */
        for (int64_t j = 0; j < D; j++)
            assert_true(fabs(weights[j] - wanted[j]) <= (1e-10 + 1e-16 * fabs(level)) * size);
        assert_true(fabs(offset - wanted_offset) <= 1e-9 * size + 2e-16 * fabs(level));
        assert_true(e.rest[t] >= 0.0);
    }
    fenp_arena_close(&arena);
    fenp_sample_free(s);
    test_free(omega);
}

static void test_moments_give_the_dense_ridge_solution(void **state)
{
    (void)state;
    check_moments(0, 1, 0.0, N);
    check_moments(1, 1, 0.0, 1000);
    check_moments(0, 0, 3.0, 2048);
    check_moments(1, 0, 3.0, 777);
}

static void test_a_large_constant_in_the_target_costs_nothing(void **state)
{
    (void)state;
    check_moments(0, 1, 1e9, 1);
    check_moments(1, 1, -1e9, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sincos_is_right_for_every_size_of_argument),
        cmocka_unit_test(test_sincos_of_nothing_finite_is_nan),
        cmocka_unit_test(test_the_mean_of_the_features_is_the_kernel),
        cmocka_unit_test(test_orthogonal_blocks_are_orthogonal),
        cmocka_unit_test(test_frequencies_depend_on_the_seed_alone),
        cmocka_unit_test(test_the_map_is_its_definition),
        cmocka_unit_test(test_what_may_be_asked_for),
        cmocka_unit_test(test_moments_give_the_dense_ridge_solution),
        cmocka_unit_test(test_a_large_constant_in_the_target_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
