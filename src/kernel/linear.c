/* linear.c -- k(x,z) = x.z */
#include "fenchel/extend.h"

static double value(double product, const fen_kernel_par *par)
{
    (void)par;
    return product;
}

static void map(double *product, int64_t count, const fen_kernel_par *par)
{
    (void)product, (void)count, (void)par; /* the product is the kernel */
}

const fen_kernel fenp_kernel_linear = {
    .name = "linear",
    .help = "x.z",
    .basis = FEN_PRODUCT,
    .linear = 1,
    .value = value,
    .map = map,
};
