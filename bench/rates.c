/* rates.c -- how near the hot loops are to what the machine can do
 *
 *     bench_rates        median of 5, on one thread per core; a line of JSON at the end
 *
 * Matrix products set the limit of everything cubic, the copy that of everything that
 * streams, the exponential that of every kernel value. */
#include <omp.h>
#include "base/linalg.h"
#include "base/random.h"
#include "base/registry.h"
#include "simd/simd.h"
#include "kernel/gram.h"
#include "worker.h"

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);

enum { ORDER = 6000, FEATURES = 10, PRODUCT = 2048, CENTRES = 2000, RUNS = 5 };

typedef struct bench {
    double *a, *b; /* ORDER x ORDER each           */
    double *x;     /* ORDER x FEATURES, in [-2, 2] */
    double *v;     /* ORDER                        */
    fenp_kernel kernel;
} bench;

static fen_view rows_of(const bench *d, int64_t rows)
{
    return (fen_view){ d->x, rows, FEATURES, FEATURES };
}

/* ---- the loops: each does its work once ------------------------------------------------ */

static void product(bench *d)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, PRODUCT, PRODUCT, PRODUCT, 1.0, d->a,
                PRODUCT, d->a + PRODUCT * PRODUCT, PRODUCT, 0.0, d->b, PRODUCT);
}

static void copy(bench *d)
{
#pragma omp parallel for
    for (int64_t i = 0; i < ORDER; i++)
        memcpy(d->b + i * ORDER, d->a + i * ORDER, ORDER * sizeof *d->b);
}

static void exponential(bench *d)
{
#pragma omp parallel for
    for (int64_t i = 0; i < ORDER; i++) {
        memcpy(d->b + i * ORDER, d->x, ORDER * sizeof *d->b);
        fenp_simd_get()->exp_scaled(d->b + i * ORDER, ORDER, -1.0);
    }
}

static void matrix(bench *d)
{
    fen_error err;
    must(fenp_gram_upper(&d->kernel, rows_of(d, ORDER), d->a, NULL, &err), &err);
}

static void times(bench *d)
{
    fen_error err;
    must(fenp_gram_times(&d->kernel, rows_of(d, ORDER), rows_of(d, CENTRES), d->v, 1, d->b, NULL,
                         &err),
         &err);
}

/* A positive definite matrix to factorise, in b. */
static void fresh_matrix(bench *d)
{
    copy(d);
    for (int64_t j = 0; j < ORDER; j++) {
        for (int64_t i = 0; i < j; i++) d->b[j + i * ORDER] = d->a[i + j * ORDER];
        d->b[j + j * ORDER] = 2.0;
    }
}

static void lapack_cholesky(bench *d)
{
    const int n = ORDER;
    int info;
    dpotrf_("L", &n, d->b, &n, &info, 1);
}

static void our_cholesky(bench *d)
{
    int64_t rank;
    fen_error err;
    must(fenp_cholesky(ORDER, d->b, ORDER, &rank, NULL, &err), &err);
}

/* ---- the table --------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_seconds(bench *d, void (*before)(bench *), void (*run)(bench *))
{
    double seconds[RUNS];
    for (int i = -1; i < RUNS; i++) { /* the first one warms up */
        if (before) before(d);
        const double start = fenp_now();
        run(d);
        if (i >= 0) seconds[i] = fenp_now() - start;
    }
    qsort(seconds, RUNS, sizeof *seconds, ascending);
    return seconds[RUNS / 2];
}

typedef struct rate {
    const char *key, *what, *unit;
    void (*before)(bench *), (*run)(bench *);
    double amount; /* flops, bytes or values of one run      */
    int per_value; /* 1: ns each; 0: 1e9 of them per second  */
} rate;

/* clang-format off */
static const rate rates[] = {
    { "dgemm", "matrix product of order 2048", "GFlop/s", NULL, product,
      2.0 * PRODUCT * PRODUCT * PRODUCT, 0 },
    { "copy", "copy of 288 MB, read and written", "GB/s", NULL, copy,
      16.0 * ORDER * ORDER, 0 },
    { "exp", "vector exponential, in cache", "ns each", NULL, exponential,
      1.0 * ORDER * ORDER, 1 },
    { "gram_upper", "kernel matrix, gaussian, 10 features", "ns each", NULL, matrix,
      0.5 * ORDER * ORDER, 1 },
    { "gram_times", "kernel matrix times vector", "ns each", NULL, times,
      1.0 * ORDER * CENTRES, 1 },
    { "dpotrf", "LAPACK's factorisation of order 6000", "GFlop/s", fresh_matrix, lapack_cholesky,
      1.0 / 3 * ORDER * ORDER * ORDER, 0 },
    { "cholesky", "ours, which can be interrupted", "GFlop/s", fresh_matrix, our_cholesky,
      1.0 / 3 * ORDER * ORDER * ORDER, 0 },
};
/* clang-format on */
enum { RATES = sizeof rates / sizeof *rates };

int main(void)
{
    bench d = { .kernel = { fenp_find_kernel("gaussian"), { 0.1, 0, 0.0, 0.0 } } };
    double value[RATES];
    d.a = room((int64_t)ORDER * ORDER, sizeof *d.a);
    d.b = room((int64_t)ORDER * ORDER, sizeof *d.b);
    d.x = room((int64_t)ORDER * FEATURES, sizeof *d.x);
    d.v = room(ORDER, sizeof *d.v);
    for (int64_t i = 0; i < (int64_t)ORDER * FEATURES; i++)
        d.x[i] = 4.0 * fenp_uniform(1, 1, (uint64_t)i) - 2.0;
    for (int64_t i = 0; i < ORDER; i++) d.v[i] = fenp_uniform(1, 2, (uint64_t)i);
    matrix(&d);
    printf("%-40s %9s  (%d threads)\n", "rate", "median", omp_get_max_threads());
    for (int i = 0; i < RATES; i++) {
        const rate *r = &rates[i];
        const double seconds = median_seconds(&d, r->before, r->run);
        value[i] = r->per_value ? 1e9 * seconds / r->amount : 1e-9 * r->amount / seconds;
        printf("%-40s %9.3g %s\n", r->what, value[i], r->unit);
    }
    printf("{\"threads\": %d", omp_get_max_threads());
    for (int i = 0; i < RATES; i++) printf(", \"%s\": %.4g", rates[i].key, value[i]);
    printf("}\n");
    free(d.a);
    free(d.b);
    free(d.x);
    free(d.v);
    return EXIT_SUCCESS;
}
