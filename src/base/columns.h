/* columns.h -- products with the columns of a matrix that take part */
#ifndef FENP_COLUMNS_H
#define FENP_COLUMNS_H
#include <stdint.h>
/* y (n) <- y + A v, v of m numbers: columns whose number is 0 are not read. A is column-major. */
void fenp_add_columns(int64_t n, int64_t m, const double *a, int64_t ld, const double *v, double *y);
#endif
