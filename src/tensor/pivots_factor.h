/* pivots_factor.h -- pivots as they are stored in models: without their factor */
#ifndef FENP_PIVOTS_FACTOR_H
#define FENP_PIVOTS_FACTOR_H
#include "tensor/pivots.h"

/* The factor of G_SS made anew; *rank: how many pivots, from the first on, are independent to
 * rounding. pivots->factor is to be freed in any case. */
fen_status fenp_pivots_factor(const fenp_kernel *kernel, fen_view x, fenp_pivots *pivots,
                              int64_t *rank, const fenp_task *task, fen_error *err);
/* How far c is from `right` in the norm that bounds f~, over the norm of right:
 * |c - right| / |right|, |c|^2 = c'G_SS c. 0 where both are 0. d: pivots->count, work. */
double     fenp_pivots_distance(const fenp_pivots *pivots, const double *c, const double *right,
                                double *d);
#endif
