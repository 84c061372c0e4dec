/* powers.h -- value r^m of the norm of a function: what rkhs and lp share
 *
 *   conj    Psi*(s) = sup_r s r - lambda r^m, r >= 0
 *             m > 1:  lambda (m-1) (s / (lambda m))^(m/(m-1)),  m = 2: s^2 / (4 lambda)
 *             m = 1:  0 if s <= lambda, else +inf
 *             m < 1:  0 if s = 0, else +inf        (the penalty is not convex)
 *
 * Method: in logarithms, since near m = 1 the exponent m/(m-1) is large: factors that
 *   overflow on their own may have a product that does not.
 * Special cases: s = 0 gives 0; a value beyond the largest double is +inf.
 * Accuracy: m = 2 two roundings, else m/(m-1) |log(s/(lambda m))| eps relative. */
#ifndef FENP_PENALTY_POWERS_H
#define FENP_PENALTY_POWERS_H
#include <math.h>
#include "fenchel/extend.h"

static inline double power_value(double norm, double power)
{
    return power == 2.0 ? norm * norm : pow(norm, power);
}

static inline double power_conjugate(double dual_norm, double lambda, double power)
{
    if (dual_norm == 0.0) return 0.0;
    if (power == 2.0) return 0.25 * dual_norm * (dual_norm / lambda);
    if (power == 1.0) return dual_norm <= lambda ? 0.0 : INFINITY;
    if (power < 1.0) return INFINITY;
    const double base = log(dual_norm) - log(lambda) - log(power);
    return exp(log(lambda) + log(power - 1.0) + power / (power - 1.0) * base);
}
#endif
