/* sqeps.c -- squared eps-insensitive loss; par[0] = e >= 0
 *
 *   value    v(t)  = x^2,  x = sign(r) max(0, |r| - e),  r = y - t
 *   conj     v*(s) = s^2/4 + s y + e |s|        for every slope s
 *   slopes   dv(t) = { -2 x }
 *   prox     t + x / (1 + 1/(2 step))
 *   curvature 2 outside the tube, 0 inside
 *   piece    curvature 1/2, linear y, kink e everywhere
 *
 * Special cases: e = 0 is the square loss.
 * Accuracy: a few roundings of |y| + |t| + e in x.
 */
#include "loss/parts.h"

static double value(double y, double t, const double *par)
{
    const double x = excess(y - t, par[0]);
    return x * x;
}

static double conjugate(double y, double slope, const double *par)
{
    return slope * (0.25 * slope + y) + par[0] * fabs(slope);
}

static void domain(double y, const double *par, double *low, double *high)
{
    (void)y, (void)par;
    *low = -INFINITY;
    *high = INFINITY;
}

static void slopes(double y, double t, const double *par, double *low, double *high)
{
    *low = *high = -2.0 * excess(y - t, par[0]);
}

static double prox(double y, double t, double step, const double *par)
{
    return t + part_way(excess(y - t, par[0]), 2.0, step);
}

static double curvature(double y, double t, const double *par)
{
    return fabs(y - t) >= par[0] ? 2.0 : 0.0;
}

static void piece(double y, const double *par, fen_piece *out)
{
    *out = (fen_piece){
        .curvature = 0.5, .linear = y, .kink = par[0], .low = -INFINITY, .high = INFINITY
    };
}

const fen_loss fenp_loss_sqeps = {
    .name = "sqeps",
    .help = "max(0, |y - t| - epsilon)^2",
    .parameter = { "epsilon", 0.0, INFINITY, 0.1, 1 },
    .smoothness = 2.0,
    .residual = 1,
    .value = value,
    .conj = conjugate,
    .domain = domain,
    .slopes = slopes,
    .prox = prox,
    .curvature = curvature,
    .piece = piece,
};
