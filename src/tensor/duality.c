/* duality.c -- |v|^e and J_q(v) = sign(v) |v|^(q-1) of vectors
 *
 * Method: whole and half exponents, which is what even and odd q need, by the repeated squaring of
 *   kernel/polynomial.c and one square root; all others by libm.
 * Accuracy: 2 log2(e) roundings, or 1 ulp by libm.
 * Cost: about 1 ns an entry, by libm 20 ns. */
#include <math.h>
#include "fenchel/extend.h"
#include "tensor/duality.h"

enum { CHUNK = 256, HIGHEST = 128 };

extern const fen_kernel fenp_kernel_polynomial;

static void whole_power(double *v, int64_t count, double e)
{
    const fen_kernel_par plain = { .gamma = 1.0, .degree = e };
    fenp_kernel_polynomial.map(v, count, &plain);
}

static void half_power(double *v, int64_t count, double e)
{
    double root[CHUNK];
    for (int64_t from = 0; from < count; from += CHUNK) {
        const int64_t size = count - from < CHUNK ? count - from : CHUNK;
        double *part = v + from;
        for (int64_t i = 0; i < size; i++) root[i] = sqrt(part[i]);
        whole_power(part, size, floor(e));
        for (int64_t i = 0; i < size; i++) part[i] *= root[i];
    }
}

/* Of entries >= 0. */
static void power(double *v, int64_t count, double e)
{
    if (e <= HIGHEST && e == floor(e))
        whole_power(v, count, e);
    else if (e <= HIGHEST && 2.0 * e == floor(2.0 * e))
        half_power(v, count, e);
    else
        for (int64_t i = 0; i < count; i++) v[i] = pow(v[i], e);
}

void fenp_powers(double *v, int64_t count, double e)
{
    for (int64_t i = 0; i < count; i++) v[i] = fabs(v[i]);
    power(v, count, e);
}

void fenp_dual_map(double *v, int64_t count, double q)
{
    double sign[CHUNK];
    for (int64_t from = 0; from < count; from += CHUNK) {
        const int64_t size = count - from < CHUNK ? count - from : CHUNK;
        double *part = v + from;
        for (int64_t i = 0; i < size; i++) sign[i] = part[i];
        fenp_powers(part, size, q - 1.0);
        for (int64_t i = 0; i < size; i++) part[i] = copysign(part[i], sign[i]);
    }
}
