/* norms.h -- value r, the norm itself: what l1 and groups share
 *
 *   conj    0 if s <= lambda, else +inf
 *   prox    max(0, norm - step)
 */
#ifndef FENP_PENALTY_NORMS_H
#define FENP_PENALTY_NORMS_H
#include <math.h>
#include "fenchel/extend.h"

static inline double norm_value(double norm, double unused)
{
    (void)unused;
    return norm;
}

static inline double norm_conjugate(double dual_norm, double lambda, double unused)
{
    (void)unused;
    return dual_norm <= lambda ? 0.0 : INFINITY;
}

static inline double norm_prox(double norm, double step, double unused)
{
    (void)unused;
    return fmax(norm - step, 0.0);
}
#endif
