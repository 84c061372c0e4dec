/* eps.c -- eps-insensitive loss of support vector regression; par[0] = e >= 0
 *
 *   value    v(t)  = max(0, |r| - e),  r = y - t
 *   conj     v*(s) = s y + e |s|                for |s| <= 1
 *   slopes   dv(t) = { 0 } inside the tube, { -sign(r) } outside, what lies between on an edge
 *   prox     t + x cut to [-step, step],  x = sign(r) max(0, |r| - e)
 *   piece    curvature 0, linear y, kink e on [-1, 1]
 *
 * Special cases: e = 0 is the absolute loss.
 * Price: v* is affine in e, which therefore may be left free (nu-SVR, where it costs nu).
 * Accuracy: a few roundings of |y| + |t| + e each.
 */
#include "loss/parts.h"

static double value(double y, double t, const double *par) { return fabs(excess(y - t, par[0])); }

static double conjugate(double y, double slope, const double *par)
{
    return within(-1.0, 1.0, slope, slope * y + par[0] * fabs(slope));
}

static void domain(double y, const double *par, double *low, double *high)
{
    (void)y, (void)par;
    *low = -1.0;
    *high = 1.0;
}

static void slopes(double y, double t, const double *par, double *low, double *high)
{
    tube_slopes(y - t, par[0], low, high);
}

static double prox(double y, double t, double step, const double *par)
{
    return t + clamp(excess(y - t, par[0]), -step, step);
}

static void piece(double y, const double *par, fen_piece *out)
{
    *out = (fen_piece){ .linear = y, .kink = par[0], .low = -1.0, .high = 1.0 };
}

const fen_loss fenp_loss_eps = {
    .name = "eps",
    .help = "max(0, |y - t| - epsilon)",
    .parameter = { "epsilon", 0.0, INFINITY, 0.1, 1 },
    .residual = 1,
    .price = 1,
    .value = value,
    .conj = conjugate,
    .domain = domain,
    .slopes = slopes,
    .prox = prox,
    .piece = piece,
};
