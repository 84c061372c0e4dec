/* distance.h -- distances from the differences, two rows against many at a time
 *
 * The exact way: no cancellation, never negative, equal rows give exactly 0, and a value
 * does not depend on its place in the array. basis is FEN_SQUARED_DISTANCE or
 * FEN_L1_DISTANCE. */
#ifndef FENP_DISTANCE_H
#define FENP_DISTANCE_H
#include "fenchel/extend.h"

/* The points to measure against, one feature after the other: packed[k*width + j] is
 * feature k of row j of z (dim x width doubles in all). */
void fenp_distance_pack(const double *z, int64_t stride, int64_t rows, int64_t dim,
                        double *packed, int64_t width);
/* to0[j], to1[j] = distance of x0, x1 to packed point j, for j < count. */
void fenp_distance_two(fen_basis basis, const double *x0, const double *x1, int64_t dim,
                       const double *packed, int64_t width, int64_t count,
                       double *to0, double *to1);
#endif
