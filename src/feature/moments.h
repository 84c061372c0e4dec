/* moments.h -- what a fit on features needs to know of the rows, whatever their number
 *
 *     G = M'WM,   M = [Z, y - shift, 1],  Z: features, W: sample weights
 *
 * gathered tile by tile. Centred, it is the covariance of features and targets, and its
 * eigendecomposition the primal spectrum of the rows (spectrum.h) without its basis: every
 * (lambda, power) costs O(columns) from there on. Memory (columns + targets + 1)^2 and a
 * tile for every thread; beyond 1000 columns the threads share one. */
#ifndef FENP_MOMENTS_H
#define FENP_MOMENTS_H
#include "feature/fourier.h"
#include "solver/spectrum.h"

typedef struct fenp_cross {
    int64_t columns, targets, order;   /* order = columns + targets + 1                 */
    int64_t rows;
    int     bias;                  /* y is shifted, and centred in the end               */
    int64_t shares, tile_rows;     /* threads that gather on their own; rows of a tile   */
    double *gram;                  /* order x order, lower triangle; one for each share  */
    double *shift;                 /* targets: near the mean, so that nothing cancels    */
    double *tile;                  /* tile_rows x order, column-major; for each share    */
} fenp_cross;

int64_t fenp_cross_bytes(int64_t columns, int64_t targets);       /* with the threads in force */
void    fenp_cross_open(fenp_arena *arena, int64_t columns, int64_t targets, int bias,
                          fenp_cross *out);
/* The rows of a prepared block, w as written. */
void    fenp_cross_add(fenp_cross *m, const double *omega, const fenp_sample *block);
/* After the last row, once: weights sum to 1; with bias features and targets are centred
 * and their means stand in the last row of G (those of y less shift). */
void    fenp_cross_close(fenp_cross *m);

/* Columns of the closed G. */
static inline const double *fenp_cross_zy(const fenp_cross *m, int64_t target)
{ return m->gram + (m->columns + target); }               /* stride m->order             */
static inline const double *fenp_cross_means(const fenp_cross *m)
{ return m->gram + (m->order - 1); }                      /* stride m->order             */
static inline double fenp_cross_yy(const fenp_cross *m, int64_t target)
{ return m->gram[(m->columns + target) * (m->order + 1)]; }

/* Relative to the largest eigenvalue: below it they count as zero. */
double     fenp_cross_rounding(int64_t rows);
int64_t    fenp_cross_spectrum_bytes(int64_t columns, int64_t targets);
/* n, rank = columns, d, rotation, ty and rest; no basis, no y. */
fen_status fenp_cross_spectrum(fenp_arena *arena, const fenp_cross *m, fenp_spectrum *out,
                                 fen_error *err);
/* weights (columns) = Q (ty / (d + c)) of one target; c = INFINITY: f = 0. steps of
 * iterative refinement on the moments follow. work: 2 columns doubles. */
void       fenp_cross_weights(const fenp_cross *m, const fenp_spectrum *spectrum, int64_t target,
                              double c, int steps, double *work, double *weights);
double     fenp_cross_offset(const fenp_cross *m, int64_t target, const double *weights);  /* b */
#endif
