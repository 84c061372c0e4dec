/* syrk.h -- C <- alpha X'X, its upper triangle, for a matrix of many rows
 *
 * X is n x p; by_rows: a row of p numbers every ldx, else a column of n every ldx. C is p x p,
 * column-major; sizes are as BLAS takes them. */
#ifndef FENP_SYRK_H
#define FENP_SYRK_H
#include "base/linalg.h"
typedef struct fenp_syrk {
    int64_t n, p;
    double alpha;
    const double *x;
    int64_t ldx;
    int by_rows;
    double *c;
    int64_t ldc;
} fenp_syrk;
void fenp_syrk_run(const fenp_syrk *s);
#endif
