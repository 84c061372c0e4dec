/* divided.c -- columns divided by a power of two, and what gamma is of them
 *
 * Method: series whose coefficient of s^m has gamma^m in it, which is tried with gamma = 1 and 2.
 * Special cases: a gamma that would be no number: columns stay as they are. Entries that underflow
 *   are below 1e-300 of the largest. */
#include <math.h>
#include "tensor/divided.h"

double fenp_row_norm(const double *x, int64_t p, double q)
{
    double most = 0.0;
    long double sum = 0.0L;
    for (int64_t j = 0; j < p; j++) most = fmax(most, fabs(x[j]));
    for (int64_t j = 0; most > 0.0 && j < p; j++) sum += powl(fabsl(x[j] / most), q);
    return most > 0.0 ? (double)(most * powl(sum, 1.0L / q)) : 0.0;
}

int fenp_unit_of(fen_view x, double q)
{
    double largest = 0.0;
    int unit = 0;
    for (int64_t i = 0; i < x.rows; i++)
        largest = fmax(largest, fenp_row_norm(x.at + i * x.stride, x.cols, q));
    if (largest > 0.0 && isfinite(largest)) frexp(largest, &unit);
    return unit;
}

static int is_in_gamma(const fen_kernel *table, fen_kernel_par par)
{
    enum { TERMS = 5 };
    if (!table->uses_gamma || !table->series) return 0;
    for (int m = 0; m < TERMS; m++) {
        par.gamma = 1.0;
        const double one = table->series(m, &par);
        par.gamma = 2.0;
        if (table->series(m, &par) != ldexp(one, m)) return 0;
    }
    return 1;
}

fenp_kernel fenp_divided_kernel(const fenp_kernel *kernel, int *unit)
{
    fenp_kernel divided = *kernel;
    divided.par.gamma = ldexp(kernel->par.gamma, (int)lround((double)*unit * kernel->par.order));
    if (is_in_gamma(kernel->table, kernel->par) && isfinite(divided.par.gamma)) return divided;
    *unit = 0;
    return *kernel;
}

void fenp_divide(fen_view x, int unit, double *out)
{
    for (int64_t i = 0; i < x.rows; i++)
        for (int64_t j = 0; j < x.cols; j++)
            out[i * x.cols + j] = ldexp(x.at[i * x.stride + j], -unit);
}
