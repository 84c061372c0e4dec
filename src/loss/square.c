/* square.c -- square loss, no factor 1/2
 *
 *   value    v(t)  = (y - t)^2
 *   conj     v*(s) = s^2/4 + s y                     for every slope s
 *   slopes   dv(t) = { 2 (t - y) }
 *   prox     argmin_p v(p) + (p - t)^2 / (2 step) = y + (t - y) / (1 + 2 step)
 *   curvature 2
 *   piece    v*(-z) = 1/4 z^2 - y z: curvature 1/2, linear y, kink 0 everywhere
 *
 * Accuracy: a few roundings each; prox is exact at t = y and tends to y as step grows.
 */
#include <math.h>
#include "fenchel/extend.h"

static double value(double y, double t, const double *par)
{
    (void)par;
    return (y - t) * (y - t);
}

static double conjugate(double y, double slope, const double *par)
{
    (void)par;
    return slope * (0.25 * slope + y);
}

static void domain(double y, const double *par, double *low, double *high)
{
    (void)y, (void)par;
    *low = -INFINITY;
    *high = INFINITY;
}

static void slopes(double y, double t, const double *par, double *low, double *high)
{
    (void)par;
    *low = *high = 2.0 * (t - y);
}

static double prox(double y, double t, double step, const double *par)
{
    (void)par;
    return y + (t - y) / (1.0 + 2.0 * step);
}

static double curvature(double y, double t, const double *par)
{
    (void)y, (void)t, (void)par;
    return 2.0;
}

static void piece(double y, const double *par, fen_piece *out)
{
    (void)par;
    *out = (fen_piece){ .curvature = 0.5, .linear = y, .low = -INFINITY, .high = INFINITY };
}

const fen_loss fenp_loss_square = {
    .name = "square",
    .help = "(y - t)^2",
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
