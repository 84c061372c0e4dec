/* distance.h -- distances from the differences, two rows against many at a time
 *
 * The exact way: no cancellation, never negative, equal rows give exactly 0, and a value
 * does not depend on its place in the array. basis is FEN_SQUARED_DISTANCE or
 * FEN_L1_DISTANCE. */
#ifndef FENP_DISTANCE_H
#define FENP_DISTANCE_H
#include "fenchel/extend.h"

/* Points one feature after the other: feature k of point j is at[k*width + j]. */
typedef struct fenp_points {
    const double *at;
    int64_t dim, width, count;
} fenp_points;

/* rows of z, as points into packed (z.cols x width doubles). */
fenp_points fenp_points_pack(fen_view z, double *packed, int64_t width);
/* to0[j], to1[j] = distance of x0, x1 to point j. */
void fenp_distance_two(fen_basis basis, const double *x0, const double *x1, fenp_points z,
                       double *to0, double *to1);
#endif
