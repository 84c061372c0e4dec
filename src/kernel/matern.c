/* matern.c -- Matern kernels of smoothness 3/2 and 5/2
 *
 *   matern32  k(x,z) = (1 + s) exp(-s),            s = sqrt(3) gamma ||x - z||_2
 *   matern52  k(x,z) = (1 + s + s^2/3) exp(-s),    s = sqrt(5) gamma ||x - z||_2
 *
 * gamma is an inverse length.
 * Method: a tile goes through a small buffer that keeps s while SLEEF overwrites its copy.
 * Special cases: k(x,x) = 1; s beyond S_MAX counts as S_MAX, where exp(-s) is 0 already
 *   and the polynomial is still finite.
 * Accuracy: a few ulp beyond the rounding of s.
 */
#include <math.h>
#include "simd/simd.h"

#define SQRT3 1.7320508075688772935
#define SQRT5 2.2360679774997896964
#define S_MAX 1000.0
enum { CHUNK = 256 };

static inline double at_most_s_max(double s) { return s > S_MAX ? S_MAX : s; } /* NaN stays */

static double value32(double r2, const fen_kernel_par *par)
{
    const double s = at_most_s_max(SQRT3 * par->gamma * sqrt(r2));
    return (1.0 + s) * exp(-s);
}

static double value52(double r2, const fen_kernel_par *par)
{
    const double s = at_most_s_max(SQRT5 * par->gamma * sqrt(r2));
    return (1.0 + s + s * s / 3.0) * exp(-s);
}

/* s[i] = scale sqrt(v[i]) and v[i] = exp(-s[i]) */
static void split(double *v, int64_t count, double scale, double *s)
{
    for (int64_t i = 0; i < count; i++) v[i] = s[i] = at_most_s_max(scale * sqrt(v[i]));
    fenp_simd_get()->exp_scaled(v, count, -1.0);
}

static void map32(double *r2, int64_t count, const fen_kernel_par *par)
{
    double s[CHUNK];
    for (int64_t from = 0; from < count; from += CHUNK) {
        const int64_t size = count - from < CHUNK ? count - from : CHUNK;
        double *v = r2 + from;
        split(v, size, SQRT3 * par->gamma, s);
        for (int64_t i = 0; i < size; i++) v[i] *= 1.0 + s[i];
    }
}

static void map52(double *r2, int64_t count, const fen_kernel_par *par)
{
    double s[CHUNK];
    for (int64_t from = 0; from < count; from += CHUNK) {
        const int64_t size = count - from < CHUNK ? count - from : CHUNK;
        double *v = r2 + from;
        split(v, size, SQRT5 * par->gamma, s);
        for (int64_t i = 0; i < size; i++) v[i] *= 1.0 + s[i] + s[i] * s[i] * (1.0 / 3.0);
    }
}

const fen_kernel fenp_kernel_matern32 = {
    .name = "matern32",
    .help = "(1+s) exp(-s), s = sqrt(3) gamma ||x-z||",
    .basis = FEN_SQUARED_DISTANCE,
    .uses_gamma = 1,
    .gamma_is_inverse_length = 1,
    .spectral_degrees = 3,
    .value = value32,
    .map = map32,
};
const fen_kernel fenp_kernel_matern52 = {
    .name = "matern52",
    .help = "(1+s+s^2/3) exp(-s), s = sqrt(5) gamma ||x-z||",
    .basis = FEN_SQUARED_DISTANCE,
    .uses_gamma = 1,
    .gamma_is_inverse_length = 1,
    .spectral_degrees = 5,
    .value = value52,
    .map = map52,
};
