/* panel.h -- the upper triangle of X'X of some rows, on one thread, rows being kept in panels
 *
 * A panel has FENP_PANEL_WIDE columns and FENP_PANEL_ROWS rows, row after row; columns beyond the
 * last one are 0. Panels, and sums of products, begin at a multiple of 64 bytes. */
#ifndef FENP_PANEL_H
#define FENP_PANEL_H
#include <stdint.h>
enum { FENP_PANEL_WIDE = 8, FENP_PANEL_ROWS = 256, FENP_PANEL_ALIGNMENT = 64 };
/* Has this machine the vectors, and are p columns enough to fill them? Else dsyrk is faster. */
int     fenp_panel_pays(int64_t p);
/* Numbers that panels of p columns take, and the sums of their products. */
int64_t fenp_panel_doubles(int64_t p);
int64_t fenp_panel_sum_doubles(int64_t p);
/* Rows at .. at + count - 1 of the panels get those at x, p numbers every ldx: from the first on, an
 * even number at a time but for the last. */
void    fenp_panel_put(int64_t p, const double *x, int64_t ldx, int64_t at, int64_t count,
                       double *panels);
/* All rows of the panels at once from columns: count numbers every ldx. */
void    fenp_panel_put_columns(int64_t p, const double *x, int64_t ldx, int64_t count,
                               double *panels);
/* sums <- sums + X'X, or with fresh X'X, of the first rows of the panels. */
void    fenp_panel_multiply(int64_t p, int64_t rows, const double *panels, int fresh,
                            double *sums);
/* C <- alpha sums; C is column-major. */
void    fenp_panel_take(int64_t p, const double *sums, double alpha, double *c, int64_t ldc);
#endif
