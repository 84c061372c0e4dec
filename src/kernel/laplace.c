/* laplace.c -- exponentials of a distance that is not squared
 *
 *   laplace   k(x,z) = exp(-gamma ||x - z||_2)
 *   laplace1  k(x,z) = exp(-gamma ||x - z||_1), scikit-learn's laplacian
 *
 * gamma is an inverse length in both: the rule `mean` takes the square root of
 * 1/(mean squared Euclidean distance) for laplace1, too.
 * Special cases: k(x,x) = 1; distances too large for a double give 0.
 * Accuracy: 1 ulp beyond the rounding of gamma r.
 */
#include <math.h>
#include "simd/simd.h"

static double value2(double r2, const fen_kernel_par *par) { return exp(-par->gamma * sqrt(r2)); }
static double value1(double r, const fen_kernel_par *par) { return exp(-par->gamma * r); }

static void map1(double *r, int64_t count, const fen_kernel_par *par)
{
    fenp_simd_get()->exp_scaled(r, count, -par->gamma);
}

static void map2(double *r2, int64_t count, const fen_kernel_par *par)
{
    for (int64_t i = 0; i < count; i++) r2[i] = sqrt(r2[i]);
    map1(r2, count, par);
}

const fen_kernel fenp_kernel_laplace = {
    .name = "laplace",
    .help = "exp(-gamma ||x-z||)",
    .basis = FEN_SQUARED_DISTANCE,
    .uses_gamma = 1,
    .gamma_is_inverse_length = 1,
    .spectral_degrees = 1,
    .value = value2,
    .map = map2,
};
const fen_kernel fenp_kernel_laplace1 = {
    .name = "laplace1",
    .help = "exp(-gamma ||x-z||_1), scikit-learn's laplacian",
    .basis = FEN_L1_DISTANCE,
    .uses_gamma = 1,
    .gamma_is_inverse_length = 1,
    .spectral_degrees = 1,
    .value = value1,
    .map = map1,
};
