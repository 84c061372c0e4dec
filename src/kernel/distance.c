/* distance.c -- distances from the differences
 *
 *   squared  sum_k (x_k - z_k)^2        L1  sum_k |x_k - z_k|
 *
 * Method: two rows of x against a packed block of z, four features per pass over the
 *   block: per vector of results 4 loads of z serve 8 differences, which keeps the
 *   arithmetic units rather than the load units busy. The loops are plain C; the
 *   compiler makes vectors of them three times, for AVX-512, AVX2 with FMA and the base
 *   instruction set, and the processor decides at each call.
 * Accuracy: (dim + 2) roundings, whatever the offset of the data; the first two kinds
 *   give the same bits.
 * Cost: 0.05 ns per pair and feature at 3 GHz with AVX-512, as much as a GEMM.
 */
#include "kernel/distance.h"
#include <math.h>

enum { FEATURES_PER_PASS = 4 };

#define INLINE static inline __attribute__((always_inline))

void fenp_distance_pack(const double *z, int64_t stride, int64_t rows, int64_t dim,
                        double *packed, int64_t width)
{
    enum { BLOCK = 8 };     /* one cache line of a row at a time */
    for (int64_t from = 0; from < dim; from += BLOCK) {
        const int64_t to = from + BLOCK < dim ? from + BLOCK : dim;
        for (int64_t j = 0; j < rows; j++)
            for (int64_t k = from; k < to; k++) packed[k * width + j] = z[j * stride + k];
    }
}

INLINE double add_term(fen_basis basis, int fused, double difference, double sum)
{
    if (basis == FEN_L1_DISTANCE) return sum + fabs(difference);
    return fused ? __builtin_fma(difference, difference, sum) : sum + difference * difference;
}

/* features is 0 .. FEATURES_PER_PASS; all arguments up to it are constant after inlining. */
INLINE void pass(fen_basis basis, int fused, int fresh, int features,
                 const double *x0, const double *x1, const double *z, int64_t width,
                 int64_t count, double *restrict to0, double *restrict to1)
{
    double a[FEATURES_PER_PASS], b[FEATURES_PER_PASS];
    for (int k = 0; k < features; k++) {
        a[k] = x0[k];
        b[k] = x1[k];
    }
#pragma omp simd
    for (int64_t j = 0; j < count; j++) {
        double sum0 = fresh ? 0.0 : to0[j], sum1 = fresh ? 0.0 : to1[j];
        for (int k = 0; k < features; k++) {
            sum0 = add_term(basis, fused, a[k] - z[k * width + j], sum0);
            sum1 = add_term(basis, fused, b[k] - z[k * width + j], sum1);
        }
        to0[j] = sum0;
        to1[j] = sum1;
    }
}

/* The first pass takes what is left over by the passes of four. */
INLINE void two(fen_basis basis, int fused, const double *x0, const double *x1, int64_t dim,
                const double *z, int64_t width, int64_t count, double *to0, double *to1)
{
    int64_t k = dim < 1 ? 0 : (dim - 1) % FEATURES_PER_PASS + 1;
    switch (k) {
    case 0: pass(basis, fused, 1, 0, x0, x1, z, width, count, to0, to1); break;
    case 1: pass(basis, fused, 1, 1, x0, x1, z, width, count, to0, to1); break;
    case 2: pass(basis, fused, 1, 2, x0, x1, z, width, count, to0, to1); break;
    case 3: pass(basis, fused, 1, 3, x0, x1, z, width, count, to0, to1); break;
    default: pass(basis, fused, 1, 4, x0, x1, z, width, count, to0, to1); break;
    }
    for (; k < dim; k += 4)
        pass(basis, fused, 0, 4, x0 + k, x1 + k, z + k * width, width, count, to0, to1);
}

INLINE void either(fen_basis basis, int fused, const double *x0, const double *x1, int64_t dim,
                   const double *z, int64_t width, int64_t count, double *to0, double *to1)
{
    if (basis == FEN_L1_DISTANCE)
        two(FEN_L1_DISTANCE, fused, x0, x1, dim, z, width, count, to0, to1);
    else
        two(FEN_SQUARED_DISTANCE, fused, x0, x1, dim, z, width, count, to0, to1);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,fma")))
static void two_avx512(fen_basis basis, const double *x0, const double *x1, int64_t dim,
                       const double *z, int64_t width, int64_t count, double *to0, double *to1)
{
    either(basis, 1, x0, x1, dim, z, width, count, to0, to1);
}

__attribute__((target("avx2,fma")))
static void two_avx2(fen_basis basis, const double *x0, const double *x1, int64_t dim,
                     const double *z, int64_t width, int64_t count, double *to0, double *to1)
{
    either(basis, 1, x0, x1, dim, z, width, count, to0, to1);
}
#endif

void fenp_distance_two(fen_basis basis, const double *x0, const double *x1, int64_t dim,
                       const double *packed, int64_t width, int64_t count,
                       double *to0, double *to1)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma")) {
        if (__builtin_cpu_supports("avx512f")) {
            two_avx512(basis, x0, x1, dim, packed, width, count, to0, to1);
            return;
        }
        if (__builtin_cpu_supports("avx2")) {
            two_avx2(basis, x0, x1, dim, packed, width, count, to0, to1);
            return;
        }
    }
#endif
    either(basis, 0, x0, x1, dim, packed, width, count, to0, to1);
}
