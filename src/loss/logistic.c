/* logistic.c -- logistic loss; y = -1 or +1, and 1/(1 + exp(-t)) is the probability of +1
 *
 *   value    v(t)  = log(1 + exp(-q)),  q = y t
 *   conj     v*(s) = p log p + (1 - p) log(1 - p),  p = -y s in [0, 1],  0 log 0 = 0
 *   slopes   dv(t) = { -y p },  p = 1/(1 + exp(q))
 *   prox     y q where q - a = step p(q), a = y t: one equation, one root
 *   curvature p (1 - p)
 *   v* is not piecewise quadratic
 *
 * Method of prox: with q = a + exp(x) the equation x + log(1 + exp(a + exp(x))) = log step is
 *   convex and increasing in x, so that Newton's method from the right comes down to the root
 *   (5 to 20 steps); two last steps in q itself take out what exp(x) rounds.
 * Special cases: no exponential overflows. step = infinity has no least value: y infinity.
 * Accuracy: a few roundings each, prox within two units in the last place of |q| + |a|.
 */
#include "loss/parts.h"

/* log(1 + exp(x)) */
static double softplus(double x) { return fmax(x, 0.0) + log1p(exp(-fabs(x))); }

/* 1/(1 + exp(q)): small numbers keep all their digits */
static double tail(double q)
{
    const double e = exp(-fabs(q));
    return (q > 0.0 ? e : 1.0) / (1.0 + e);
}

static double value(double y, double t, const double *par)
{
    (void)par;
    return softplus(-y * t);
}

static void domain(double y, const double *par, double *low, double *high)
{
    (void)par;
    margin_domain(y, low, high);
}

static double conjugate(double y, double slope, const double *par)
{
    (void)par;
    double low, high;
    margin_domain(y, &low, &high);
    const double p = clamp(-y * slope, 0.0, 1.0);
    const double entropy = (p > 0.0 ? p * log(p) : 0.0) + (p < 1.0 ? (1.0 - p) * log1p(-p) : 0.0);
    return within(low, high, slope, entropy);
}

static void slopes(double y, double t, const double *par, double *low, double *high)
{
    (void)par;
    *low = *high = -y * tail(y * t);
}

static double curvature(double y, double t, const double *par)
{
    (void)par;
    const double p = tail(fabs(y * t)); /* 1/2 at most: 1 - p has all its digits */
    return y * y * p * (1.0 - p);
}

/* q - a - step / (1 + exp(q)): a and step may be large where q is not */
static double left_over(double q, double a, double step)
{
    return q < 0.0 ? (-a - step) + (q + step * tail(-q)) : (q - a) - step * tail(q);
}

/* The root. It starts right of it: q - a is at most step, and with q - a = log(1 + step), from
 * q >= log(1 + step) on, it is at least step / (1 + step) >= step / (1 + exp(q)). */
static double margin_prox(double a, double step)
{
    double x = log(fmin(step, fmax(-a, 0.0) + log1p(step)));
    for (int i = 0; i < 100; i++) {
        const double move = exp(x), over = x + softplus(a + move) - log(step);
        if (!(over > 4.0 * DBL_EPSILON * (fabs(x) + 1.0))) break;
        x -= over / (1.0 + move * tail(-(a + move)));
    }
    double q = a + exp(x);
    for (int i = 0; i < 2; i++) q -= left_over(q, a, step) / (1.0 + step * tail(q) * tail(-q));
    return clamp(q, a, a + step);
}

static double prox(double y, double t, double step, const double *par)
{
    (void)par;
    if (y == 0.0 || !isfinite(step)) return y == 0.0 ? t : y * INFINITY;
    return y * margin_prox(y * t, step);
}

const fen_loss fenp_loss_logistic = {
    .name = "logistic",
    .help = "log(1 + exp(-y t)), labels y = -1, +1",
    .labels = FEN_SIGNS,
    .smoothness = 0.25,
    .value = value,
    .conj = conjugate,
    .domain = domain,
    .slopes = slopes,
    .prox = prox,
    .curvature = curvature,
};
