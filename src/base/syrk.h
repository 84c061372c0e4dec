/* syrk.h -- C <- alpha X'X, its upper triangle, for a matrix of many rows
 *
 * X is n x p; by_rows: a row of p numbers every ldx, else a column of n every ldx. C is p x p,
 * column-major; sizes are as BLAS takes them. */
#ifndef FENP_SYRK_H
#define FENP_SYRK_H
#include "base/linalg.h"
/* Rows from .. from + count - 1 of X, in room (count x p) or where they are; NULL: they cannot be
 * had. Several threads may ask at once. */
typedef const double *fenp_some_rows(const void *of, int64_t from, int64_t count, double *room);
typedef struct fenp_syrk {
    int64_t n, p;
    double alpha;
    const double *x;
    int64_t ldx;
    int by_rows;
    fenp_some_rows *rows;     /* by_rows, instead of x; NULL: x is there          */
    const void *of;
    double *c;
    int64_t ldc;
} fenp_syrk;
int  fenp_syrk_run(const fenp_syrk *s);    /* nonzero: no memory, which rows need, or no rows */
/* One C of ldc x p for each part, rows start[k] .. start[k + 1] - 1, after the other. */
int  fenp_syrk_parts(const fenp_syrk *s, int64_t parts, const int64_t *start);
#endif
