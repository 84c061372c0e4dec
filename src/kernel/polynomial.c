/* polynomial.c -- k(x,z) = (gamma x.z + coef0)^degree, degree = 1, 2, 3, ...
 *
 * Method: repeated squaring, one bit of the degree at a time over a chunk of the tile.
 * Special cases: values too large for a double become infinite.
 * Accuracy: about 2 log2(degree) roundings beyond degree times that of the base.
 */
#include <math.h>
#include "fenchel/extend.h"

enum { CHUNK = 256 };

static double value(double product, const fen_kernel_par *par)
{
    return pow(par->gamma * product + par->coef0, par->degree);
}

static void power(double *v, int64_t count, int64_t degree)
{
    double square[CHUNK];
    for (int64_t i = 0; i < count; i++) {
        square[i] = v[i];
        if (!(degree & 1)) v[i] = 1.0;
    }
    while (degree >>= 1) {
        for (int64_t i = 0; i < count; i++) square[i] *= square[i];
        if (degree & 1)
            for (int64_t i = 0; i < count; i++) v[i] *= square[i];
    }
}

static void map(double *product, int64_t count, const fen_kernel_par *par)
{
    for (int64_t from = 0; from < count; from += CHUNK) {
        const int64_t size = count - from < CHUNK ? count - from : CHUNK;
        double *v = product + from;
        for (int64_t i = 0; i < size; i++) v[i] = par->gamma * v[i] + par->coef0;
        power(v, size, (int64_t)par->degree);
    }
}

const fen_kernel fenp_kernel_polynomial = {
    .name = "polynomial",
    .help = "(gamma x.z + coef0)^degree",
    .basis = FEN_PRODUCT,
    .uses_gamma = 1,
    .uses_degree = 1,
    .uses_coef0 = 1,
    .value = value,
    .map = map,
};
