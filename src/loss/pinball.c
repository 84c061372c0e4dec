/* pinball.c -- pinball loss: quantiles; par[0] = tau, 0 < tau < 1
 *
 *   value    v(t)  = max(tau r, (tau - 1) r),  r = y - t
 *   conj     v*(s) = s y                        for -tau <= s <= 1 - tau
 *   slopes   dv(t) = { -tau } if r > 0, { 1 - tau } if r < 0, all between at r = 0
 *   prox     y if -(1 - tau) step <= r <= tau step, else t moved so far towards y
 *   piece    curvature 0, linear y, kink 0 on [tau - 1, tau]
 *
 * Special cases: tau = 1/2 is half the absolute loss.
 * Accuracy: a few roundings each.
 */
#include "loss/parts.h"

static double value(double y, double t, const double *par)
{
    const double r = y - t;
    return r >= 0.0 ? par[0] * r : (par[0] - 1.0) * r;
}

static void domain(double y, const double *par, double *low, double *high)
{
    (void)y;
    *low = -par[0];
    *high = 1.0 - par[0];
}

static double conjugate(double y, double slope, const double *par)
{
    return within(-par[0], 1.0 - par[0], slope, slope * y);
}

static void slopes(double y, double t, const double *par, double *low, double *high)
{
    const double r = y - t;
    *low = r >= 0.0 ? -par[0] : 1.0 - par[0];
    *high = r > 0.0 ? -par[0] : 1.0 - par[0];
}

static double prox(double y, double t, double step, const double *par)
{
    const double up = par[0] * step, down = (1.0 - par[0]) * step, r = y - t;
    return r > up ? t + up : r < -down ? t - down : y;
}

static void piece(double y, const double *par, fen_piece *out)
{
    *out = (fen_piece){ .linear = y, .low = par[0] - 1.0, .high = par[0] };
}

const fen_loss fenp_loss_pinball = {
    .name = "pinball",
    .help = "tau (y - t) above t, (1 - tau) (t - y) below",
    .parameter = { "tau", 0.0, 1.0, 0.5, 0 },
    .residual = 1,
    .value = value,
    .conj = conjugate,
    .domain = domain,
    .slopes = slopes,
    .prox = prox,
    .piece = piece,
};
