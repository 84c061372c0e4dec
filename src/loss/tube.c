/* tube.c -- hard tube: no residual larger than e at all; par[0] = e >= 0
 *
 *   value    v(t)  = 0 if |r| <= e, else +infinity,  r = y - t
 *   conj     v*(s) = s y + e |s|                for every slope s
 *   slopes   dv(t) = { 0 } inside, [-infinity, 0] at r = e, [0, infinity] at r = -e
 *   prox     t inside, else the nearer edge: y - e for r > 0, y + e for r < 0
 *   piece    curvature 0, linear y, kink e everywhere
 *
 * Special cases: a residual beyond the edge by roundings alone lies on it; where v is infinite
 *   there are no slopes, and those of the nearer edge are given. e = 0 asks for interpolation.
 * Accuracy: a few roundings of |y| + |t| + e.
 */
#include "loss/parts.h"

static double value(double y, double t, const double *par)
{
    const double roundings = 4.0 * DBL_EPSILON * (fabs(y) + fabs(t) + par[0]);
    return fabs(y - t) <= par[0] + roundings ? 0.0 : INFINITY;
}

static double conjugate(double y, double slope, const double *par)
{
    return slope * y + par[0] * fabs(slope);
}

static void domain(double y, const double *par, double *low, double *high)
{
    (void)y, (void)par;
    *low = -INFINITY;
    *high = INFINITY;
}

static void slopes(double y, double t, const double *par, double *low, double *high)
{
    *low = y - t >= par[0] ? -INFINITY : 0.0;
    *high = y - t <= -par[0] ? INFINITY : 0.0;
}

static double prox(double y, double t, double step, const double *par)
{
    (void)step;
    return fabs(y - t) <= par[0] ? t : y - copysign(par[0], y - t);
}

static void piece(double y, const double *par, fen_piece *out)
{
    *out = (fen_piece){ .linear = y, .kink = par[0], .low = -INFINITY, .high = INFINITY };
}

const fen_loss fenp_loss_tube = {
    .name = "tube",
    .help = "0 if |y - t| <= epsilon, else infinite",
    .parameter = { "epsilon", 0.0, INFINITY, 0.1, 1 },
    .residual = 1,
    .value = value,
    .conj = conjugate,
    .domain = domain,
    .slopes = slopes,
    .prox = prox,
    .piece = piece,
};
