/* interior_cones.c -- norms of groups within the interior point method; see interior_parts.h
 *
 *     l ||b|| = min l tau over ||b|| <= tau;   (tau, b) and (l, -s) lie in the cone of second
 *     order and are orthogonal at the end
 *
 * Method. Nesterov and Todd's scaling: the matrix W = eta [w0 w1'; w1 I + w1 w1'/(1 + w0)],
 * w0^2 - |w1|^2 = 1, with W (l, -s) = W^-1 (tau, b) = lambda. The Newton equation of the
 * product is  W^-1 (dtau, db) + W (0, -ds) = q  with lambda o q = target e - lambda o lambda -
 * (second-order term), (x o y) = (x'y, x0 y1 + y0 x1). Since l stays what it is, dtau can be
 * eliminated:
 *
 *     ds = S db - shift,   S = (I - f w1 w1') / eta^2,   f = 2 / (2 w0^2 - 1)
 *     dtau = (eta^2 p0 + 2 w0 w1'db) / (2 w0^2 - 1),     p = W^-1 q
 *     shift = p1 + f w0 p0 w1
 *
 * Accuracy. tau^2 - |b|^2 is the product (tau - |b|)(tau + |b|): it loses the digits that tau
 * and |b| have in common, half of them at a gap of 1e-8.
 * Cost. O(size^2) per group and iteration for S, O(size) for all else. */
#include "solver/interior_parts.h"

#include <math.h>
#include "base/linalg.h"

static double dot(int64_t size, const double *a, const double *b)
{
    return cblas_ddot((int)size, a, 1, b, 1);
}

/* (tau - |b|)(tau + |b|) */
static double determinant(double head, int64_t size, const double *tail)
{
    const double norm = cblas_dnrm2((int)size, tail, 1);
    return (head - norm) * (head + norm);
}

void fenp_cones_start(fenp_inside *s, double mu)
{
    for (int64_t g = 0; g < s->q->groups; g++) {
        if (!fenp_inside_is_cone(s, g)) continue;
        const int64_t at = s->q->start[g], size = fenp_inside_size(s, g);
        const double l = s->q->l[g], norm = cblas_dnrm2((int)size, s->s + at, 1);
        s->tau[g] = cblas_dnrm2((int)size, s->beta + at, 1) + mu / l;
        if (norm > 0.5 * l) cblas_dscal((int)size, 0.5 * l / norm, s->s + at, 1);
    }
}

/* (out0, out1) <- W^-1 (v0, v1) for sign -1, W (v0, v1) for sign 1 */
static double scaled(const fenp_inside *s, int64_t g, int sign, double v0, const double *v1,
                     double *out)
{
    const int64_t at = s->q->start[g], size = fenp_inside_size(s, g);
    const double *w1 = s->w1 + at, w0 = s->w0[g], along = dot(size, w1, v1);
    const double eta = pow(s->eta2[g], 0.5 * sign), part = sign * v0 + along / (1.0 + w0);
    for (int64_t j = 0; j < size; j++) out[j] = eta * (v1[j] + w1[j] * part);
    return eta * (w0 * v0 + sign * along);
}

static int scale_one(fenp_inside *s, int64_t g)
{
    const int64_t at = s->q->start[g], size = fenp_inside_size(s, g);
    const double l = s->q->l[g], tau = s->tau[g], *b = s->beta + at, *d = s->s + at;
    const double here = determinant(tau, size, b), there = determinant(l, size, d);
    if (!(here > 0.0 && there > 0.0)) return 0;
    const double p = 1.0 / sqrt(here), r = 1.0 / sqrt(there);
    const double angle = 1.0 + (tau * l - dot(size, b, d)) * p * r;
    if (!(angle > 0.0 && isfinite(angle))) return 0;
    const double half = 1.0 / sqrt(2.0 * angle);
    s->w0[g] = (tau * p + l * r) * half;
    s->eta2[g] = r / p;
    for (int64_t j = 0; j < size; j++) s->w1[at + j] = (b[j] * p + d[j] * r) * half;
    for (int64_t j = 0; j < size; j++) s->work1[at + j] = -d[j];
    s->lambda0[g] = scaled(s, g, 1, l, s->work1 + at, s->lambda1 + at);
    return 1;
}

int fenp_cones_scale(fenp_inside *s)
{
    for (int64_t g = 0; g < s->q->groups; g++)
        if (fenp_inside_is_cone(s, g) && !scale_one(s, g)) return 0;
    return 1;
}

/* f of the head of the file */
static double flattening(const fenp_inside *s, int64_t g)
{
    return 2.0 / (2.0 * s->w0[g] * s->w0[g] - 1.0);
}

void fenp_cones_add(fenp_inside *s)
{
    for (int64_t g = 0; g < s->q->groups; g++) {
        if (!fenp_inside_is_cone(s, g)) continue;
        const double f = flattening(s, g), *w1 = s->w1;
        for (int64_t j = s->q->start[g]; j < s->q->start[g + 1]; j++)
            for (int64_t i = j; i < s->q->start[g + 1]; i++)
                s->gram[i + j * s->side] += ((i == j) - f * w1[i] * w1[j]) / s->eta2[g];
    }
}

void fenp_cones_times(const fenp_inside *s, const double *v, double *out)
{
    for (int64_t g = 0; g < s->q->groups; g++) {
        if (!fenp_inside_is_cone(s, g)) continue;
        const int64_t at = s->q->start[g], size = fenp_inside_size(s, g);
        const double part = flattening(s, g) * dot(size, s->w1 + at, v + at);
        for (int64_t j = at; j < at + size; j++) out[j] += (v[j] - part * s->w1[j]) / s->eta2[g];
    }
}

/* From q = (head, q1) */
static void shift_of(fenp_inside *s, int64_t g, double head)
{
    const int64_t at = s->q->start[g], size = fenp_inside_size(s, g);
    s->q0[g] = scaled(s, g, -1, head, s->q1 + at, s->shift + at);
    const double part = flattening(s, g) * s->w0[g] * s->q0[g];
    for (int64_t j = at; j < at + size; j++) s->shift[j] += part * s->w1[j];
}

void fenp_cones_predict(fenp_inside *s)
{
    for (int64_t g = 0; g < s->q->groups; g++) {
        if (!fenp_inside_is_cone(s, g)) continue;
        for (int64_t j = s->q->start[g]; j < s->q->start[g + 1]; j++) s->q1[j] = -s->lambda1[j];
        shift_of(s, g, -s->lambda0[g]);
    }
}

static void correct_one(fenp_inside *s, int64_t g, double target)
{
    const int64_t at = s->q->start[g], size = fenp_inside_size(s, g);
    double *x1 = s->work1 + at, *z1 = s->work2 + at, *q1 = s->q1 + at;
    const double *lambda1 = s->lambda1 + at, lambda0 = s->lambda0[g];
    for (int64_t j = 0; j < size; j++) q1[j] = -s->ds[at + j];
    const double x0 = scaled(s, g, -1, s->dtau[g], s->dbeta + at, x1);
    const double z0 = scaled(s, g, 1, 0.0, q1, z1);
    const double norm2 = dot(size, lambda1, lambda1);
    const double r0 = target - lambda0 * lambda0 - norm2 - x0 * z0 - dot(size, x1, z1);
    for (int64_t j = 0; j < size; j++)
        q1[j] = -2.0 * lambda0 * lambda1[j] - x0 * z1[j] - z0 * x1[j];
    const double head =
        (lambda0 * r0 - dot(size, lambda1, q1)) / determinant(lambda0, size, lambda1);
    for (int64_t j = 0; j < size; j++) q1[j] = (q1[j] - head * lambda1[j]) / lambda0;
    shift_of(s, g, head);
}

void fenp_cones_correct(fenp_inside *s, double target)
{
    for (int64_t g = 0; g < s->q->groups; g++)
        if (fenp_inside_is_cone(s, g)) correct_one(s, g, target);
}

void fenp_cones_step(fenp_inside *s)
{
    for (int64_t g = 0; g < s->q->groups; g++) {
        if (!fenp_inside_is_cone(s, g)) continue;
        const int64_t at = s->q->start[g], size = fenp_inside_size(s, g);
        const double f = flattening(s, g), along = dot(size, s->w1 + at, s->dbeta + at);
        s->dtau[g] = f * (0.5 * s->eta2[g] * s->q0[g] + s->w0[g] * along);
        for (int64_t j = at; j < at + size; j++)
            s->ds[j] = (s->dbeta[j] - f * along * s->w1[j]) / s->eta2[g] - s->shift[j];
    }
}

/* Of all cones, after steps of these lengths. */
double fenp_cones_product(const fenp_inside *s, double primal, double dual)
{
    long double sum = 0.0L;
    for (int64_t g = 0; g < s->q->groups; g++) {
        if (!fenp_inside_is_cone(s, g)) continue;
        sum += (s->tau[g] + primal * s->dtau[g]) * s->q->l[g];
        for (int64_t j = s->q->start[g]; j < s->q->start[g + 1]; j++)
            sum -= (s->beta[j] + primal * s->dbeta[j]) * (s->s[j] + dual * s->ds[j]);
    }
    return (double)sum;
}

/* The least positive root of |x + a dx|: a quadratic function that is positive at 0. */
static double way_out(double head, double dhead, int64_t size, const double *tail,
                      const double *dtail)
{
    const double square = determinant(dhead, size, dtail);
    const double cross = head * dhead - dot(size, tail, dtail);
    const double here = determinant(head, size, tail);
    const double under = cross * cross - square * here;
    if (!(square < 0.0 || (cross < 0.0 && under >= 0.0))) return INFINITY;
    const double below = sqrt(fmax(under, 0.0)) - cross;
    return below > 0.0 ? here / below : INFINITY;
}

/* Lowers the lengths to what the cones allow. */
void fenp_cones_room(const fenp_inside *s, double *primal, double *dual)
{
    for (int64_t g = 0; g < s->q->groups; g++) {
        if (!fenp_inside_is_cone(s, g)) continue;
        const int64_t at = s->q->start[g], size = fenp_inside_size(s, g);
        *primal = fmin(*primal, way_out(s->tau[g], s->dtau[g], size, s->beta + at, s->dbeta + at));
        *dual = fmin(*dual, way_out(s->q->l[g], 0.0, size, s->s + at, s->ds + at));
    }
}

void fenp_cones_move(fenp_inside *s, double primal)
{
    for (int64_t g = 0; g < s->q->groups; g++)
        if (fenp_inside_is_cone(s, g)) s->tau[g] += primal * s->dtau[g];
}
