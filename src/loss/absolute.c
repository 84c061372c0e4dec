/* absolute.c -- absolute loss: medians
 *
 *   value    v(t)  = |r|,  r = y - t
 *   conj     v*(s) = s y                        for |s| <= 1
 *   slopes   dv(t) = { -sign(r) },  [-1, 1] at r = 0
 *   prox     y if |r| <= step, else t + step sign(r)
 *   piece    curvature 0, linear y, kink 0 on [-1, 1]
 *
 * Accuracy: a rounding or two each.
 */
#include "loss/parts.h"

static double value(double y, double t, const double *par)
{
    (void)par;
    return fabs(y - t);
}

static double conjugate(double y, double slope, const double *par)
{
    (void)par;
    return within(-1.0, 1.0, slope, slope * y);
}

static void domain(double y, const double *par, double *low, double *high)
{
    (void)y, (void)par;
    *low = -1.0;
    *high = 1.0;
}

static void slopes(double y, double t, const double *par, double *low, double *high)
{
    (void)par;
    tube_slopes(y - t, 0.0, low, high);
}

static double prox(double y, double t, double step, const double *par)
{
    (void)par;
    return fabs(y - t) <= step ? y : t + copysign(step, y - t);
}

static void piece(double y, const double *par, fen_piece *out)
{
    (void)par;
    *out = (fen_piece){ .linear = y, .low = -1.0, .high = 1.0 };
}

const fen_loss fenp_loss_absolute = {
    .name = "absolute",
    .help = "|y - t|",
    .residual = 1,
    .value = value,
    .conj = conjugate,
    .domain = domain,
    .slopes = slopes,
    .prox = prox,
    .piece = piece,
};
