/* vecmath.h -- array exponentials by SLEEF (AVX-512, AVX2 or portable, chosen at run time) */
#ifndef FENP_VECMATH_H
#define FENP_VECMATH_H
#include <stdint.h>
/* v[i] = exp(a * v[i]); 1.01 ulp; exact 1 for v[i] = 0; underflow to 0 is silent. */
void fenp_exp_scaled(double *v, int64_t count, double a);
#endif
