/* vecmath.h -- exponentials, sines and cosines of arrays (AVX-512, AVX2 or portable,
 * chosen at run time) */
#ifndef FENP_VECMATH_H
#define FENP_VECMATH_H
#include <stdint.h>
/* v[i] = exp(a * v[i]); 1.01 ulp; exact 1 for v[i] = 0; underflow to 0 is silent. */
void fenp_exp_scaled(double *v, int64_t count, double a);
/* cosine[i] = a cos(v[i]), then v[i] = a sin(v[i]); absolute error 2e-16 a for any finite v[i]. */
void fenp_sincos_scaled(double *v, double *cosine, int64_t count, double a);
#endif
