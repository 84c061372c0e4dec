/* sqhinge.c -- squared hinge loss; y = -1 or +1
 *
 *   value    v(t)  = x^2,  x = max(0, 1 - y t)
 *   conj     v*(s) = s^2/4 + y s                for y s <= 0
 *   slopes   dv(t) = { -2 y x }
 *   prox     t + y x / (1 + 1/(2 step))
 *   curvature 2 if y t < 1, else 0
 *   piece    curvature 1/2, linear y, kink 0 on y [0, infinity)
 *
 * Special cases: a slope on the wrong side of 0 by roundings of 1 is still inside.
 * Accuracy: a few roundings of 1 + |t| in x.
 */
#include "loss/parts.h"

static double short_of_margin(double y, double t) { return fmax(0.0, 1.0 - y * t); }

static double value(double y, double t, const double *par)
{
    (void)par;
    const double x = short_of_margin(y, t);
    return x * x;
}

static double conjugate(double y, double slope, const double *par)
{
    (void)par;
    return y * slope <= 4.0 * DBL_EPSILON ? slope * (0.25 * slope + y) : INFINITY;
}

static void domain(double y, const double *par, double *low, double *high)
{
    (void)par;
    *low = y > 0.0 ? -INFINITY : 0.0;
    *high = y < 0.0 ? INFINITY : 0.0;
}

static void slopes(double y, double t, const double *par, double *low, double *high)
{
    (void)par;
    *low = *high = -2.0 * y * short_of_margin(y, t);
}

static double prox(double y, double t, double step, const double *par)
{
    (void)par;
    return t + y * part_way(short_of_margin(y, t), 2.0, step);
}

static double curvature(double y, double t, const double *par)
{
    (void)par;
    return y != 0.0 && y * t < 1.0 ? 2.0 : 0.0;
}

static void piece(double y, const double *par, fen_piece *out)
{
    (void)par;
    *out = (fen_piece){ .curvature = 0.5,
                        .linear = y,
                        .low = y < 0.0 ? -INFINITY : 0.0,
                        .high = y > 0.0 ? INFINITY : 0.0 };
}

const fen_loss fenp_loss_sqhinge = {
    .name = "sqhinge",
    .help = "max(0, 1 - y t)^2, labels y = -1, +1",
    .labels = FEN_SIGNS,
    .smoothness = 2.0,
    .value = value,
    .conj = conjugate,
    .domain = domain,
    .slopes = slopes,
    .prox = prox,
    .curvature = curvature,
    .piece = piece,
};
