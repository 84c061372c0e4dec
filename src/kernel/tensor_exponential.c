/* tensor_exponential.c -- k(x1, ..., xq) = exp(gamma sum_j x1_j x2_j ... xq_j), for --penalty lp
 *
 * The features are all products of columns, of every degree: no list of them ends.
 * Special cases: sums too large for a double give infinity, very negative ones 0.
 * Accuracy: 1 ulp beyond the rounding of gamma sum. */
#include <math.h>
#include "simd/simd.h"

static double value(double sum, const fen_kernel_par *par) { return exp(par->gamma * sum); }

static void map(double *sum, int64_t count, const fen_kernel_par *par)
{
    fenp_simd_get()->exp_scaled(sum, count, par->gamma);
}

static double series(int64_t m, const fen_kernel_par *par)
{
    double coefficient = 1.0;
    for (int64_t k = 1; k <= m; k++) coefficient *= par->gamma / (double)k;
    return coefficient;
}

static int64_t last(const fen_kernel_par *par)
{
    (void)par;
    return -1;
}

const fen_kernel fenp_kernel_tensor_exponential = {
    .name = "tensor-exponential",
    .help = "exp(gamma sum_j x1_j ... xq_j) of q rows, for --penalty lp",
    .basis = FEN_TENSOR,
    .uses_gamma = 1,
    .value = value,
    .map = map,
    .series = series,
    .last = last,
};
