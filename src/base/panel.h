/* panel.h -- the upper triangle of X'X of some rows, on one thread, rows being kept in panels
 *
 * A panel has FENP_PANEL_WIDE columns and FENP_PANEL_ROWS rows, row after row; columns beyond the
 * last one are 0. Panels begin at a multiple of 64 bytes. */
#ifndef FENP_PANEL_H
#define FENP_PANEL_H
#include <stdint.h>
enum { FENP_PANEL_WIDE = 24, FENP_PANEL_ROWS = 256, FENP_PANEL_ALIGNMENT = 64 };
static inline int64_t fenp_panel_doubles(int64_t p)
{ return (p + FENP_PANEL_WIDE - 1) / FENP_PANEL_WIDE * FENP_PANEL_WIDE * FENP_PANEL_ROWS; }
/* Has this machine the vectors, and are p columns enough to fill them? Else dsyrk is faster. */
int  fenp_panel_pays(int64_t p);
/* Rows at .. at + count - 1 of the panels get those at x, p numbers every ldx. */
void fenp_panel_put(int64_t p, const double *x, int64_t ldx, int64_t at, int64_t count,
                    double *panels);
/* C <- C + X'X, or with fresh X'X, of the first rows of the panels; C is column-major. */
void fenp_panel_multiply(int64_t p, int64_t rows, const double *panels, int fresh, double *c,
                         int64_t ldc);
#endif
