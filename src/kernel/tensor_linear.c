/* tensor_linear.c -- k(x1, ..., xq) = sum_j x1_j x2_j ... xq_j, for --penalty lp
 *
 * The features are the columns themselves, whatever q is. */
#include "fenchel/extend.h"

static double value(double sum, const fen_kernel_par *par)
{
    (void)par;
    return sum;
}

static void map(double *sum, int64_t count, const fen_kernel_par *par)
{
    (void)sum, (void)count, (void)par; /* the sum is the kernel */
}

static double series(int64_t m, const fen_kernel_par *par)
{
    (void)par;
    return m == 1 ? 1.0 : 0.0;
}

static int64_t last(const fen_kernel_par *par)
{
    (void)par;
    return 1;
}

const fen_kernel fenp_kernel_tensor_linear = {
    .name = "tensor-linear",
    .help = "sum_j x1_j ... xq_j of q rows, for --penalty lp",
    .basis = FEN_TENSOR,
    .linear = 1,
    .value = value,
    .map = map,
    .series = series,
    .last = last,
};
