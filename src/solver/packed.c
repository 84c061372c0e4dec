/* packed.c -- product of a packed symmetric matrix of floats with a vector of doubles
 *
 * Method: threads share blocks of columns (simd/packed.c) and have sums of their own.
 * Accuracy: that of sums in double precision.
 * Cost: as fast as memory delivers 2 n^2 bytes. */
#include "solver/packed.h"

#include <omp.h>
#include <string.h>

#include "simd/simd.h"

enum { BLOCK = 64 };

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

void fenp_packed_times(const fenp_packed *k, const double *x, double *product)
{
    const int64_t n = k->n, blocks = (n + BLOCK - 1) / BLOCK;
    const fenp_simd *simd = fenp_simd_get();
    memset(k->sums, 0, (size_t)(n * k->threads) * sizeof *k->sums);
#pragma omp parallel num_threads(k->threads)
    {
        double *sums = k->sums + omp_get_thread_num() * n;
#pragma omp for schedule(dynamic)
        for (int64_t b = blocks - 1; b >= 0; b--) /* the longest first */
            simd->packed_columns(k->at, b * BLOCK, (b + 1) * BLOCK < n ? (b + 1) * BLOCK : n, x,
                                 sums);
    }
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int t = 0; t < k->threads; t++) sum += k->sums[t * n + i];
        product[i] = k->unit * sum;
    }
}
