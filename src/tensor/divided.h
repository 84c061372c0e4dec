/* divided.h -- the same function of columns that are divided by a power of two
 *
 *     kappa(gamma s) of rows x is kappa(gamma 2^(unit q) s') of x / 2^unit,
 *
 * so that neither products of many columns nor powers of gamma leave the range of numbers where
 * their product does not. Powers of two change no digit. */
#ifndef FENP_DIVIDED_H
#define FENP_DIVIDED_H
#include "kernel/gram.h"

/* |x|_q of one row, whatever its size. */
double  fenp_row_norm(const double *x, int64_t p, double q);
/* The largest |x_i|_q is from 2^(unit - 1) up to 2^unit. 0 for rows of zeros. */
int     fenp_unit_of(fen_view x, double q);
/* The kernel of divided columns; *unit becomes 0 where it has no gamma to take that up. */
fenp_kernel fenp_divided_kernel(const fenp_kernel *kernel, int *unit);
/* out (rows x cols, packed) = x / 2^unit */
void    fenp_divide(fen_view x, int unit, double *out);
#endif
