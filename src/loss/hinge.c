/* hinge.c -- hinge loss of support vector machines; y = -1 or +1, par[0] = rho >= 0
 *
 *   value    v(t)  = max(0, rho - y t)
 *   conj     v*(s) = rho y s                    for -y s in [0, 1]
 *   slopes   dv(t) = { -y } before the margin rho, { 0 } behind it, all between at y t = rho
 *   prox     t + y (rho - y t cut to [0, step])
 *   piece    curvature 0, linear rho y, kink 0 on y [0, 1]
 *
 * Price: v* is affine in rho, which therefore may be left free (nu-SVC and one-class, where it
 *   earns nu). Otherwise rho = 1; another one only rescales f and lambda.
 * Accuracy: a few roundings of rho + |t| each.
 */
#include "loss/parts.h"

static double value(double y, double t, const double *par) { return fmax(0.0, par[0] - y * t); }

static void domain(double y, const double *par, double *low, double *high)
{
    (void)par;
    margin_domain(y, low, high);
}

static double conjugate(double y, double slope, const double *par)
{
    double low, high;
    margin_domain(y, &low, &high);
    return within(low, high, slope, par[0] * y * slope);
}

static void slopes(double y, double t, const double *par, double *low, double *high)
{
    margin_slopes(y, t, par[0], low, high);
}

static double prox(double y, double t, double step, const double *par)
{
    return t + y * clamp(par[0] - y * t, 0.0, step);
}

static void piece(double y, const double *par, fen_piece *out)
{
    *out = (fen_piece){ .linear = par[0] * y, .low = fmin(y, 0.0), .high = fmax(y, 0.0) };
}

const fen_loss fenp_loss_hinge = {
    .name = "hinge",
    .help = "max(0, margin - y t), labels y = -1, +1",
    .parameter = { "margin", 0.0, INFINITY, 1.0, 1 },
    .labels = FEN_SIGNS,
    .price = -1,
    .value = value,
    .conj = conjugate,
    .domain = domain,
    .slopes = slopes,
    .prox = prox,
    .piece = piece,
};
