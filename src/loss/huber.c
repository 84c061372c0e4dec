/* huber.c -- Huber's loss: square for small residuals, absolute for large ones; par[0] = k > 0
 *
 *   value    v(t)  = r^2/2 if |r| <= k, else k (|r| - k/2),  r = y - t
 *   conj     v*(s) = s^2/2 + s y                for |s| <= k
 *   slopes   dv(t) = { -r cut to [-k, k] }
 *   prox     t + r / (1 + 1/step), moved by k step at most
 *   curvature 1 if |r| <= k, else 0
 *   piece    curvature 1, linear y, kink 0 on [-k, k]
 *
 * k is in the units of y: 1.35 standard deviations of the noise lose 5 % of the efficiency of
 * least squares where the noise is normal.
 * Accuracy: a few roundings of |y| + |t| in r.
 */
#include "loss/parts.h"

static double value(double y, double t, const double *par)
{
    const double size = fabs(y - t), k = par[0];
    return size <= k ? 0.5 * size * size : k * (size - 0.5 * k);
}

static double conjugate(double y, double slope, const double *par)
{
    return within(-par[0], par[0], slope, slope * (0.5 * slope + y));
}

static void domain(double y, const double *par, double *low, double *high)
{
    (void)y;
    *low = -par[0];
    *high = par[0];
}

static void slopes(double y, double t, const double *par, double *low, double *high)
{
    *low = *high = clamp(t - y, -par[0], par[0]);
}

static double prox(double y, double t, double step, const double *par)
{
    return t + clamp(part_way(y - t, 1.0, step), -par[0] * step, par[0] * step);
}

static double curvature(double y, double t, const double *par)
{
    return fabs(y - t) <= par[0] ? 1.0 : 0.0;
}

static void piece(double y, const double *par, fen_piece *out)
{
    *out = (fen_piece){ .curvature = 1.0, .linear = y, .low = -par[0], .high = par[0] };
}

const fen_loss fenp_loss_huber = {
    .name = "huber",
    .help = "(y - t)^2/2, linear from |y - t| = k on",
    .parameter = { "k", 0.0, INFINITY, 1.35, 0 },
    .smoothness = 1.0,
    .residual = 1,
    .value = value,
    .conj = conjugate,
    .domain = domain,
    .slopes = slopes,
    .prox = prox,
    .curvature = curvature,
    .piece = piece,
};
