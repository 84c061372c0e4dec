/* gaussian.c -- k(x,z) = exp(-gamma ||x - z||_2^2)
 *
 * Special cases: k(x,x) = 1; distances too large for a double give 0.
 * Accuracy: 1 ulp beyond the rounding of gamma r^2 (relative error about gamma r^2 eps).
 */
#include <math.h>
#include "simd/simd.h"

static double value(double r2, const fen_kernel_par *par) { return exp(-par->gamma * r2); }

static void map(double *r2, int64_t count, const fen_kernel_par *par)
{
    fenp_simd_get()->exp_scaled(r2, count, -par->gamma);
}

const fen_kernel fenp_kernel_gaussian = {
    .name = "gaussian",
    .help = "exp(-gamma ||x-z||^2), as in LIBSVM",
    .basis = FEN_SQUARED_DISTANCE,
    .uses_gamma = 1,
    .spectral_degrees = INFINITY,
    .value = value,
    .map = map,
};
