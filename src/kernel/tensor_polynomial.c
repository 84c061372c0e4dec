/* tensor_polynomial.c -- k(x1, ..., xq) = (sum_j x1_j x2_j ... xq_j)^degree, for --penalty lp
 *
 * The features are all products of so many columns, squares and higher powers among them.
 * Method: the powers are those of polynomial.c. */
#include <math.h>
#include "fenchel/extend.h"

extern const fen_kernel fenp_kernel_polynomial;

static double value(double sum, const fen_kernel_par *par) { return pow(sum, par->degree); }

static void map(double *sum, int64_t count, const fen_kernel_par *par)
{
    const fen_kernel_par plain = { .gamma = 1.0, .degree = par->degree };
    fenp_kernel_polynomial.map(sum, count, &plain);
}

static double series(int64_t m, const fen_kernel_par *par)
{
    return m == (int64_t)par->degree ? 1.0 : 0.0;
}

static int64_t last(const fen_kernel_par *par) { return (int64_t)par->degree; }

const fen_kernel fenp_kernel_tensor_polynomial = {
    .name = "tensor-polynomial",
    .help = "(sum_j x1_j ... xq_j)^degree of q rows, for --penalty lp",
    .basis = FEN_TENSOR,
    .uses_degree = 1,
    .value = value,
    .map = map,
    .series = series,
    .last = last,
};
