/* tensor_polynomial.c -- k(x1, ..., xq) = (coef0 + sum_j x1_j ... xq_j)^degree, for --penalty lp
 *
 * The features are all products of so many columns, squares and higher powers among them; with
 * coef0 > 0 also those of fewer columns, the columns themselves and a constant.
 * Method: the powers are those of polynomial.c. */
#include <math.h>
#include "fenchel/extend.h"

extern const fen_kernel fenp_kernel_polynomial;

static double value(double sum, const fen_kernel_par *par)
{
    return pow(sum + par->coef0, par->degree);
}

static void map(double *sum, int64_t count, const fen_kernel_par *par)
{
    const fen_kernel_par plain = { .gamma = 1.0, .degree = par->degree, .coef0 = par->coef0 };
    fenp_kernel_polynomial.map(sum, count, &plain);
}

/* C(degree, m) coef0^(degree - m) */
static double series(int64_t m, const fen_kernel_par *par)
{
    const int64_t degree = (int64_t)par->degree;
    if (m > degree) return 0.0;
    double coefficient = pow(par->coef0, (double)(degree - m)); /* 0^0 = 1 */
    for (int64_t k = 1; k <= m; k++) coefficient *= (double)(degree - m + k) / (double)k;
    return coefficient;
}

static int64_t last(const fen_kernel_par *par) { return (int64_t)par->degree; }

const fen_kernel fenp_kernel_tensor_polynomial = {
    .name = "tensor-polynomial",
    .help = "(coef0 + sum_j x1_j ... xq_j)^degree of q rows, for --penalty lp",
    .basis = FEN_TENSOR,
    .uses_degree = 1,
    .uses_coef0 = 1,
    .value = value,
    .map = map,
    .series = series,
    .last = last,
};
