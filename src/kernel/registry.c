/* registry.c -- the kernels, in the order in which they are listed; a new one is one line */
#include <string.h>
#include "base/registry.h"

#define KERNELS(X)       \
    X(gaussian)          \
    X(laplace)           \
    X(laplace1)          \
    X(matern32)          \
    X(matern52)          \
    X(polynomial)        \
    X(linear)            \
    X(precomputed)       \
    X(tensor_linear)     \
    X(tensor_polynomial) \
    X(tensor_exponential)

#define DECLARE(name) extern const fen_kernel fenp_kernel_##name;
KERNELS(DECLARE)

#define ADDRESS(name) &fenp_kernel_##name,
const fen_kernel *const fenp_kernels[] = { KERNELS(ADDRESS) NULL };

const fen_kernel *fenp_find_kernel(const char *name)
{
    const fen_kernel *const *entry = fenp_kernels;
    while (*entry && strcmp((*entry)->name, name) != 0) entry++;
    return *entry;
}
