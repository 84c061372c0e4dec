/* parts.h -- what several losses are made of
 *
 * Residuals are r = y - t. Margin losses have labels y = -1 or +1; a label 0 (a row that a pair
 * of classes does not concern) makes them constant, with the one slope 0. */
#ifndef FENP_LOSS_PARTS_H
#define FENP_LOSS_PARTS_H
#include <float.h>
#include <math.h>
#include "fenchel/extend.h"

static inline double clamp(double x, double low, double high) { return fmin(fmax(x, low), high); }

/* How far and to which side r lies outside [-e, e]: sign(r) max(0, |r| - e) */
static inline double excess(double r, double e) { return copysign(fmax(fabs(r) - e, 0.0), r); }

/* How far the prox of (c/2) distance^2 goes: distance / (1 + 1/(c step)); the limits of step, 0
 * and infinity, are no exceptions */
static inline double part_way(double distance, double c, double step)
{
    return distance / (1.0 + 1.0 / (c * step));
}

/* Slopes in t of max(0, |r| - e), e >= 0 */
static inline void tube_slopes(double r, double e, double *low, double *high)
{
    *low = r >= e ? -1.0 : r >= -e ? 0.0 : 1.0;
    *high = r > e ? -1.0 : r > -e ? 0.0 : 1.0;
}

/* Slopes in t of max(0, margin - y t): -y before the margin, 0 behind it */
static inline void margin_slopes(double y, double t, double margin, double *low, double *high)
{
    const double least = y * t < margin ? 1.0 : 0.0, most = y * t <= margin ? 1.0 : 0.0;
    *low = y > 0.0 ? -most : y < 0.0 ? least : 0.0;
    *high = y > 0.0 ? -least : y < 0.0 ? most : 0.0;
}

/* Slopes of a margin loss lie between 0 and -y */
static inline void margin_domain(double y, double *low, double *high)
{
    *low = fmin(-y, 0.0);
    *high = fmax(-y, 0.0);
}

/* A conjugate has its formula's value on [low, high] and is infinite elsewhere. A product
 * with t <= 1 may leave a domain by a rounding or two: that is still inside. */
static inline double within(double low, double high, double slope, double formula)
{
    const double slack = 4.0 * DBL_EPSILON * (high - low);
    return low - slack <= slope && slope <= high + slack ? formula : INFINITY;
}
#endif
