/* packed.c -- product of a packed symmetric matrix of floats with a vector of doubles
 *
 * Method: every column of the triangle serves twice, as a row (a dot product with x) and as
 *   a column (added to the sums), so that memory is read once. Four columns at a time: a
 *   load of x and a load and store of the sums for eight multiplications. Threads share
 *   blocks of columns and have sums of their own. The loop is plain C, compiled for three
 *   instruction sets as in distance.c.
 * Accuracy: that of sums in double precision.
 * Cost: as fast as memory delivers 2 n^2 bytes. */
#include "solver/packed.h"

#include <omp.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { AT_ONCE = 4, BLOCK = 64 };

static int64_t packed_floats(int64_t n) { return n * (n + 1) / 2; }

int64_t fenp_packed_bytes(int64_t n)
{
    const int64_t threads = omp_get_max_threads();
    if (fenp_bytes(n, n + 1, sizeof(float)) < 0 || fenp_bytes(n, threads, sizeof(double)) < 0)
        return -1;
    return fenp_arena_bytes((packed_floats(n) + 1) / 2) + fenp_arena_bytes(n * threads);
}

fenp_packed fenp_packed_new(fenp_arena *arena, int64_t n, double unit)
{
    fenp_packed k = { .n = n, .unit = unit, .threads = omp_get_max_threads() };
    k.at = (float *)(void *)fenp_arena_doubles(arena, (packed_floats(n) + 1) / 2);
    k.sums = fenp_arena_doubles(arena, n * k.threads);
    return k;
}

/* Columns j .. j + 3: their entries above j, both ways. */
INLINE void four_columns(const float *a, int64_t j, const double *x, double *restrict sums)
{
    const float *a0 = a + j * (j + 1) / 2, *a1 = a0 + j + 1, *a2 = a1 + j + 2, *a3 = a2 + j + 3;
    const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (int64_t i = 0; i < j; i++) {
        const double v0 = (double)a0[i], v1 = (double)a1[i], v2 = (double)a2[i];
        const double v3 = (double)a3[i], at = x[i];
        s0 += v0 * at;
        s1 += v1 * at;
        s2 += v2 * at;
        s3 += v3 * at;
        sums[i] += (v0 * x0 + v1 * x1) + (v2 * x2 + v3 * x3);
    }
    sums[j] += s0;
    sums[j + 1] += s1;
    sums[j + 2] += s2;
    sums[j + 3] += s3;
}

/* Entries from row up to the diagonal of column j. */
INLINE void end_of_column(const float *a, int64_t row, int64_t j, const double *x, double *sums)
{
    const float *column = a + j * (j + 1) / 2;
    for (int64_t i = row; i < j; i++) {
        sums[i] += (double)column[i] * x[j];
        sums[j] += (double)column[i] * x[i];
    }
    sums[j] += (double)column[j] * x[j];
}

INLINE void columns(const float *a, int64_t from, int64_t to, const double *x, double *sums)
{
    int64_t j = from;
    for (; j + AT_ONCE <= to; j += AT_ONCE) {
        four_columns(a, j, x, sums);
        for (int64_t k = j; k < j + AT_ONCE; k++) end_of_column(a, j, k, x, sums);
    }
    for (; j < to; j++) end_of_column(a, 0, j, x, sums);
}

typedef void columns_function(const float *a, int64_t from, int64_t to, const double *x,
                              double *sums);

static void columns_plain(const float *a, int64_t from, int64_t to, const double *x, double *sums)
{
    columns(a, from, to, x, sums);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,fma"))) static void
columns_avx512(const float *a, int64_t from, int64_t to, const double *x, double *sums)
{
    columns(a, from, to, x, sums);
}

__attribute__((target("avx2,fma"))) static void
columns_avx2(const float *a, int64_t from, int64_t to, const double *x, double *sums)
{
    columns(a, from, to, x, sums);
}

static columns_function *best_columns(void)
{
    const int fma = __builtin_cpu_supports("fma");
    if (fma && __builtin_cpu_supports("avx512f")) return columns_avx512;
    if (fma && __builtin_cpu_supports("avx2")) return columns_avx2;
    return columns_plain;
}
#else
static columns_function *best_columns(void) { return columns_plain; }
#endif

void fenp_packed_times(const fenp_packed *k, const double *x, double *product)
{
    const int64_t n = k->n, blocks = (n + BLOCK - 1) / BLOCK;
    columns_function *run = best_columns();
    memset(k->sums, 0, (size_t)(n * k->threads) * sizeof *k->sums);
#pragma omp parallel num_threads(k->threads)
    {
        double *sums = k->sums + omp_get_thread_num() * n;
#pragma omp for schedule(dynamic)
        for (int64_t b = blocks - 1; b >= 0; b--) /* the longest first */
            run(k->at, b * BLOCK, (b + 1) * BLOCK < n ? (b + 1) * BLOCK : n, x, sums);
    }
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int t = 0; t < k->threads; t++) sum += k->sums[t * n + i];
        product[i] = k->unit * sum;
    }
}
