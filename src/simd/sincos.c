/* sincos.c -- array sines and cosines
 *
 *   v[i] <- a sin(v[i]),  cosine[i] <- a cos(v[i])
 *
 * Method: SLEEF's pair; the last few elements go through the same code in a padded vector.
 * Special cases: SLEEF is right for every finite argument, NaN for the others.
 * Accuracy: 1 ulp. Cost: 3 ns per pair with AVX-512, 4.7 with AVX2, at 3 GHz.
 */
#include "simd/level.h"

#include <math.h>

#include "simd/sleef.h"

KERNEL(sincos_scaled);
#ifdef SLEEF_LANES
void AT_LEVEL(fenp_sincos_scaled)(double *v, double *cosine, int64_t count, double a)
{
    for (int64_t i = 0; i < count; i += SLEEF_LANES) {
        const sleef_pair both = SLEEF(sincos)(sleef_load(v + i, count - i));
        sleef_store(v + i, count - i, a * both.x);
        sleef_store(cosine + i, count - i, a * both.y);
    }
}
#else
void AT_LEVEL(fenp_sincos_scaled)(double *v, double *cosine, int64_t count, double a)
{
    for (int64_t i = 0; i < count; i++) {
        cosine[i] = a * cos(v[i]);
        v[i] = a * sin(v[i]);
    }
}
#endif
