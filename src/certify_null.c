/* certify_null.c -- the best constant and its objective: f = 0, and b = 0 without bias
 *
 *     fixed parameter   least sum w loss(y, b) over b, by bisection on the slope
 *     free, costs nu    least sum w max(0, |y - b| - e) + nu W e over b and e >= 0: weight
 *                       nu W / 2 lies above b + e and as much below b - e (without bias nu W
 *                       outside [-e, e]), so both are quantiles
 *     free, earns nu    0: any constant that gains on one class loses as much on the other
 *
 * Special cases: where no constant has a finite loss (tube) the value is +infinity.
 * Cost: some 60 passes over the labels. */
#include <math.h>

#include "certify.h"

/* sum w loss(y, b) */
static double loss_at(const fenp_claim *c, double b, const double *par)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < c->n; i++)
        if (c->w[i] > 0.0) sum += (long double)c->w[i] * c->loss->value(c->y[i], b, par);
    return (double)sum;
}

/* Its slope: left and right ends averaged, so that it is 0 in the middle of a flat part.
 * Infinite ends count by themselves. */
static double slope_at(const fenp_claim *c, double b)
{
    long double low = 0.0L, high = 0.0L;
    for (int64_t i = 0; i < c->n; i++) {
        double least, most;
        if (c->w[i] == 0.0) continue;
        c->loss->slopes(c->y[i], b, c->par, &least, &most);
        low += (long double)c->w[i] * least;
        high += (long double)c->w[i] * most;
    }
    return low > 0.0L ? 1.0 : high < 0.0L ? -1.0 : (double)(0.5L * low + 0.5L * high);
}

/* Labels at both ends; for signs the ends move out until the slope changes between them. */
static void bracket(const fenp_claim *c, double *low, double *high)
{
    *low = INFINITY, *high = -INFINITY;
    for (int64_t i = 0; i < c->n; i++)
        if (c->w[i] > 0.0) *low = fmin(*low, c->y[i]), *high = fmax(*high, c->y[i]);
    if (!(*low <= *high)) *low = *high = 0.0;
    if (c->loss->labels != FEN_SIGNS) return;
    for (*low = -1.0; *low > -1e18 && slope_at(c, *low) > 0.0;) *low *= 2.0;
    for (*high = 1.0; *high < 1e18 && slope_at(c, *high) < 0.0;) *high *= 2.0;
}

static double best_constant(const fenp_claim *c)
{
    double low, high;
    bracket(c, &low, &high);
    for (int step = 0; step < 200 && low < high; step++) {
        const double middle = 0.5 * low + 0.5 * high;
        if (middle <= low || middle >= high) break;
        const double slope = slope_at(c, middle);
        if (slope == 0.0) return middle;
        if (slope < 0.0)
            low = middle;
        else
            high = middle;
    }
    return loss_at(c, low, c->par) < loss_at(c, high, c->par) ? low : high;
}

/* ---- a parameter that costs: the best tube around a constant ----------------------------- */

static double label_at(const fenp_claim *c, int64_t i) { return c->bias ? c->y[i] : fabs(c->y[i]); }

/* The number with weight at most `above` beyond it and at least so much at or beyond it. */
static double upper_quantile(const fenp_claim *c, double above)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < c->n; i++)
        if (c->w[i] > 0.0) low = fmin(low, label_at(c, i)), high = fmax(high, label_at(c, i));
    for (int step = 0; step < 200; step++) {
        const double middle = 0.5 * low + 0.5 * high;
        long double weight = 0.0L;
        if (middle <= low || middle >= high) break;
        for (int64_t i = 0; i < c->n; i++)
            if (label_at(c, i) > middle) weight += c->w[i];
        if (weight > above)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Returns its middle. */
static double best_tube(const fenp_claim *c, double *par)
{
    long double whole = 0.0L;
    for (int64_t i = 0; i < c->n; i++) whole += c->w[i];
    const double above = c->bias ? 0.5 * c->price : c->price;
    const double top = upper_quantile(c, above);
    const double bottom = c->bias ? upper_quantile(c, (double)whole - above) : -top;
    *par = fmax(0.5 * (top - bottom), 0.0);
    return 0.5 * top + 0.5 * bottom;
}

double fenp_claim_constant(const fenp_claim *c, double *par)
{
    *par = c->free_par ? 0.0 : c->par[0];
    if (c->free_par) return c->price > 0.0 ? best_tube(c, par) : 0.0;
    return c->bias ? best_constant(c) : 0.0;
}

double fenp_claim_null(const fenp_claim *c)
{
    double par;
    if (c->free_par && c->price < 0.0) return 0.0;
    const double b = fenp_claim_constant(c, &par);
    return loss_at(c, b, &par) + c->price * par;
}
