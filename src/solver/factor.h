/* factor.h -- the Cholesky factor of a symmetric matrix that gains and loses rows
 *
 * l: the lower triangle, column-major, stride ld; m rows are in use. */
#ifndef FENP_FACTOR_H
#define FENP_FACTOR_H
#include <stdint.h>

/* row (m): that of a new variable against those in use, becomes L^-1 row; the answer is its
 * squared length, what of the new diagonal entry the others explain. m^2 flops. */
double fenp_factor_row(const double *l, int64_t ld, int64_t m, double *row);
/* It as the last row, with this diagonal of the factor. */
void   fenp_factor_append(double *l, int64_t ld, int64_t m, const double *row, double diagonal);
/* Row r of m goes, by Givens rotations: 3 (m - r)^2 flops. */
void   fenp_factor_delete(double *l, int64_t ld, int64_t m, int64_t r);
/* x <- (L L')^-1 x */
void   fenp_factor_solve(const double *l, int64_t ld, int64_t m, double *x);
#endif
