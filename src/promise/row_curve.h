/* row_curve.h -- the ridge solutions without one row as functions of c, by interpolation
 *
 * curve.h for every row at once: what row_curve.c needs of a row is three numbers at nodes
 * that all rows share. All is relative: |y| = 1, d_max = 1, x = log c. */
#ifndef FENP_ROW_CURVE_H
#define FENP_ROW_CURVE_H
#include <stdint.h>

enum {
    FENP_STENCIL   = 16,       /* nodes, and coefficients, of one polynomial            */
    FENP_MARGIN    = FENP_STENCIL / 2 - 1,  /* nodes beside the cells at either end     */
    FENP_CELLS_MAX = 184,      /* from log eps to log 2                                 */
    FENP_GRID_MAX  = FENP_CELLS_MAX + 1 + 2 * FENP_MARGIN + FENP_STENCIL + 1
};

typedef struct fenp_grid {
    int    cells, nodes;       /* nodes: evenly spaced ones, FENP_STENCIL beyond the
                                  cells, and c = infinity                               */
    double low, top;           /* x at the ends of the cells                            */
    double noise;              /* n eps                                                 */
    double x[FENP_GRID_MAX], fade[FENP_GRID_MAX];                  /* fade: e^-x        */
    double inner[FENP_STENCIL][FENP_STENCIL], outer[FENP_STENCIL][FENP_STENCIL];
} fenp_grid;
void fenp_grid_make(fenp_grid *grid, int64_t rows);

typedef struct fenp_row_curve {
    /* Filled in at the nodes by the caller. */
    double rho[FENP_GRID_MAX];     /* residual of the row                               */
    double square[FENP_GRID_MAX];  /* (cN)^2                                            */
    double risk[FENP_GRID_MAX];    /* L + cN^2                                          */
    int    lost;                   /* the first so many nodes mean nothing              */
    /* From fenp_row_curve_begin on. */
    const fenp_grid *grid;
    int    null;                   /* f = 0 is all that K can do for these labels       */
    int    cell;                   /* of the last root                                  */
    double last_power;
    double f[FENP_GRID_MAX], log_f[FENP_GRID_MAX];         /* cN^2; (cN)^2 beyond cells */
    char   ready[FENP_CELLS_MAX + 1];
    struct { double rho[FENP_STENCIL], f[FENP_STENCIL], risk[FENP_STENCIL]; }
           piece[FENP_CELLS_MAX + 1];              /* the last one: beyond the cells    */
} fenp_row_curve;
void   fenp_row_curve_begin(fenp_row_curve *curve, const fenp_grid *grid);
/* rho at the minimum for this power; level: log(m n lambda/2) in relative units. Cheapest
 * for levels that ascend while the power stays. INFINITY: its digits are lost. */
double fenp_row_curve_rho(fenp_row_curve *curve, double power, double level);
#endif
