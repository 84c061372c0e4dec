/* target.c -- see target.h
 *
 * Offset. The slope of b -> sum w v(f + b) does not decrease: Newton's method inside a bracket
 *   that bisection halves whenever a step leaves it or gains less than half. Losses of y - t
 *   have their bracket in the residuals; for losses of signs every slope is exactly 0 or at
 *   its bound from |t| = FAR on. Guesses are good as a rule, and that bracket is wide: until
 *   slopes of both signs were seen, strides that grow take the place of halves. Losses with
 *   corners: by halving alone.
 * Line. The full step is taken if the slope of P there is still negative, or not larger than
 *   0.8 times the slope at 0 and P no larger (for a parabola that is Armijo's rule, but it can
 *   be told near the optimum where differences of P are rounding errors).
 *   Else the root of the slope is bracketed in (0, 1) and approached by the Illinois method
 *   until the same holds.
 * Special cases. One class and a bias: logistic loss has no minimum, the offset is FAR, where
 *   it is 0 in double precision. */
#include "solver/target.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "loss/traits.h"

static const double FAR = 750.0;                /* exp(-746) is 0                           */
static const double FIRST = 1e-6, FASTER = 8.0; /* strides: of the bracket; of the last one */

static double slope_of(const fenp_target *q, int64_t i, double t)
{
    double low, high;
    q->loss->slopes(q->y[i], t, q->par, &low, &high);
    return q->w[i] * low; /* smooth: low = high */
}

/* ---- the offset -------------------------------------------------------------------------- */

/* Slope of b -> sum w v(f + b); what rounding makes of it, and its derivative. */
typedef struct tilt {
    double slope, noise, curvature;
} tilt;

static tilt tilt_at(const fenp_target *q, const double *f, double b)
{
    long double slope = 0.0L, size = 0.0L, curvature = 0.0L;
    for (int64_t i = 0; i < q->n; i++) {
        if (q->w[i] == 0.0) continue;
        const double one = slope_of(q, i, f[i] + b);
        slope += one;
        size += fabs(one);
        curvature += q->w[i] * q->loss->curvature(q->y[i], f[i] + b, q->par);
    }
    return (tilt){ (double)slope, DBL_EPSILON * (double)size, (double)curvature };
}

static void bracket(const fenp_target *q, const double *f, double *low, double *high)
{
    *low = INFINITY, *high = -INFINITY;
    for (int64_t i = 0; i < q->n; i++) {
        if (q->w[i] == 0.0) continue;
        const double center = q->loss->residual ? q->y[i] - f[i] : -f[i];
        const double reach = q->loss->residual ? 0.0 : FAR;
        *low = fmin(*low, center - reach), *high = fmax(*high, center + reach);
    }
}

/* The end of the flat piece around b towards end = b + reach at least; a loss with a flat piece
 * of its own may have it beyond all residuals. */
static double flat_end(const fenp_target *q, const double *f, double b, double end, double reach)
{
    for (int step = 0; q->loss->residual && step < 60; step++, reach *= 2.0) {
        if (tilt_at(q, f, end).slope != 0.0) break;
        end += reach;
    }
    for (int step = 0; step < 100; step++) {
        const double middle = 0.5 * (b + end);
        if (middle == b || middle == end) break;
        if (tilt_at(q, f, middle).slope == 0.0)
            b = middle;
        else
            end = middle;
    }
    return b;
}

/* Signs: the flat piece of one class alone has one end. */
static double flat_middle(const fenp_target *q, const double *f, double b, double low, double high)
{
    const double left = flat_end(q, f, b, low, low - high);
    const double right = flat_end(q, f, b, high, high - low);
    if (!q->loss->residual && tilt_at(q, f, high).slope == 0.0) return left;
    if (!q->loss->residual && tilt_at(q, f, low).slope == 0.0) return right;
    return 0.5 * (left + right);
}

/* -1: b is too small, 1: too large, 0: some slopes of all rows sum to 0 */
static int side_of(const fenp_target *q, const double *f, double b)
{
    long double least = 0.0L, most = 0.0L;
    for (int64_t i = 0; i < q->n; i++) {
        double low, high;
        if (q->w[i] == 0.0) continue;
        q->loss->slopes(q->y[i], f[i] + b, q->par, &low, &high);
        least += (long double)q->w[i] * low, most += (long double)q->w[i] * high;
    }
    return least > 0.0L ? 1 : most < 0.0L ? -1 : 0;
}

/* A loss with corners: by halving; one of the best where several are. */
static double offset_between(const fenp_target *q, const double *f, double low, double high)
{
    for (int step = 0; step < 200; step++) {
        const double middle = 0.5 * (low + high);
        if (!(low < middle && middle < high)) break;
        const int side = side_of(q, f, middle);
        if (side == 0) return middle;
        *(side > 0 ? &high : &low) = middle;
    }
    return side_of(q, f, high) == 0 ? high : low; /* a corner is exactly there */
}

double fenp_target_offset(const fenp_target *q, const double *f, double guess)
{
    double low, high;
    if (!q->bias) return 0.0;
    bracket(q, f, &low, &high);
    if (!(low < high)) return low <= high ? low : 0.0;
    if (!q->loss->curvature) return offset_between(q, f, low, high);
    double b = fmin(fmax(guess, low), high), width = high - low, stride = FIRST * width;
    int fell = 0, rose = 0;
    for (int step = 0; step < 200; step++) {
        const tilt at = tilt_at(q, f, b);
        if (at.slope == 0.0 && at.curvature == 0.0) return flat_middle(q, f, b, low, high);
        if (fabs(at.slope) <= at.noise) break;
        if (at.slope < 0.0)
            low = b, fell = 1;
        else
            high = b, rose = 1;
        const double newton = fabs(at.slope) / at.curvature; /* infinite on a straight piece */
        double next = b - copysign(newton <= 0.5 * width ? newton : stride, at.slope);
        if (!(low < next && next < high) || (fell && rose && newton > 0.5 * width))
            next = 0.5 * (low + high);
        if (next == b || next <= low || next >= high) break;
        width = fabs(next - b);
        stride = FASTER * width;
        b = next;
    }
    return b;
}

/* ---- values ------------------------------------------------------------------------------- */

double fenp_target_loss(const fenp_target *q, const double *f, double b)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < q->n; i++)
        if (q->w[i] > 0.0) sum += q->w[i] * q->loss->value(q->y[i], f[i] + b, q->par);
    return (double)sum;
}

void fenp_target_slopes(const fenp_target *q, const double *f, double b, double *slope)
{
    for (int64_t i = 0; i < q->n; i++) slope[i] = q->w[i] > 0.0 ? slope_of(q, i, f[i] + b) : 0.0;
}

int64_t fenp_target_curvatures(const fenp_target *q, const double *f, double b, double least,
                               double *d)
{
    double largest = 0.0;
    int64_t count = 0;
    for (int64_t i = 0; i < q->n; i++) {
        d[i] = q->w[i] > 0.0 ? q->w[i] * fmax(q->loss->curvature(q->y[i], f[i] + b, q->par), least)
                             : 0.0;
        largest = fmax(largest, d[i]);
    }
    for (int64_t i = 0; i < q->n; i++) {
        if (d[i] <= DBL_EPSILON * largest) d[i] = 0.0;
        count += d[i] > 0.0;
    }
    return count;
}

/* ---- the line ----------------------------------------------------------------------------- */

/* P(a) but for a constant, dP/da and what rounding makes of that. */
typedef struct place {
    double value, slope, noise;
} place;

static place place_at(const fenp_target *q, const fenp_ray *ray, double a)
{
    long double value = 0.0L, slope = 0.0L, size = 0.0L;
    for (int64_t i = 0; i < q->n; i++) {
        if (q->w[i] == 0.0) continue;
        const double move = ray->df[i] + ray->db;
        const double t = ray->f[i] + ray->b + a * move, part = slope_of(q, i, t) * move;
        value += q->w[i] * q->loss->value(q->y[i], t, q->par);
        slope += part;
        size += fabs(part);
    }
    const double pull = 2.0 * q->lambda * (ray->cross + a * ray->square);
    return (place){ (double)value + q->lambda * a * (2.0 * ray->cross + a * ray->square),
                    (double)slope + pull, 8.0 * DBL_EPSILON * ((double)size + fabs(pull)) };
}

static int good_enough(const fenp_ray *ray, double a, const place *at, const place *start)
{
    const double fuzz = ray->fuzz + 1e-14 * fabs(start->value);
    const double most = 0.8 * ray->descent + at->noise + fuzz;
    if (at->slope <= 0.0) return a == 1.0 || at->slope >= -0.5 * ray->descent;
    return at->slope <= most && at->value <= start->value + fuzz;
}

double fenp_target_search(const fenp_target *q, const fenp_ray *ray)
{
    const place start = place_at(q, ray, 0.0);
    place at = place_at(q, ray, 1.0);
    double low = 0.0, high = 1.0, a = 1.0, low_slope = -ray->descent, high_slope = at.slope;
    int side = 0;
    for (int step = 0; step < 60; step++) {
        if (good_enough(ray, a, &at, &start)) break;
        const int right = at.slope > 0.0;
        if (right)
            high = a, high_slope = at.slope, low_slope *= side > 0 ? 0.5 : 1.0;
        else
            low = a, low_slope = at.slope, high_slope *= side < 0 ? 0.5 : 1.0;
        side = right ? 1 : -1;
        a = low - low_slope * (high - low) / (high_slope - low_slope);
        if (!(low < a && a < high) || step > 30) a = 0.5 * (low + high);
        at = place_at(q, ray, a);
    }
    return a > DBL_EPSILON ? a : 0.0;
}

/* ---- the dual vector ---------------------------------------------------------------------- */

/* Cuts and sums up: what is left of sum u, over the weight of the rows that are free to move. */
static long double cut(const fenp_target *q, double *u, double excess, int *moved,
                       long double *free_weight, double *noise)
{
    long double sum = 0.0L, size = 0.0L;
    *free_weight = 0.0L;
    for (int64_t i = 0; i < q->n; i++) {
        double low = 0.0, high = 0.0; /* slopes are -z */
        if (q->w[i] > 0.0) q->loss->domain(q->y[i], q->par, &low, &high);
        const double least = q->w[i] > 0.0 ? -q->w[i] * high : 0.0;
        const double most = q->w[i] > 0.0 ? -q->w[i] * low : 0.0;
        const double old = u[i];
        if (least < old && old < most) u[i] -= excess * q->w[i];
        u[i] = fmin(fmax(u[i], least), most);
        *moved |= u[i] != old;
        sum += u[i];
        size += fabs(u[i]);
        if (least < u[i] && u[i] < most) *free_weight += q->w[i];
    }
    *noise = 4.0 * DBL_EPSILON * (double)size;
    return sum;
}

int fenp_target_feasible(const fenp_target *q, double *u)
{
    int moved = 0;
    double excess = 0.0, noise;
    for (int pass = 0; pass < 100; pass++) {
        long double free_weight;
        const long double sum = cut(q, u, excess, &moved, &free_weight, &noise);
        if (!q->bias || fabsl(sum) <= noise) return moved;
        if (free_weight == 0.0L) break;
        excess = (double)(sum / free_weight);
    }
    memset(u, 0, (size_t)q->n * sizeof(double));
    return 1;
}

/* Losses of y - t: with y - t for y and 0 for t the large terms of both are gone. */
double fenp_target_mismatch(const fenp_target *q, const double *f, double b, const double *u)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < q->n; i++) {
        if (q->w[i] == 0.0) continue;
        const double away = q->loss->residual ? f[i] + b : 0.0;
        const double y = q->y[i] - away, t = f[i] + b - away, z = u[i] / q->w[i];
        const double term = q->loss->value(y, t, q->par) + q->loss->conj(y, -z, q->par) + z * t;
        sum += q->w[i] * fmax(term, 0.0);
    }
    return (double)sum;
}

double fenp_target_relative(const fenp_target *q, const double *f, double b, double norm2,
                            double gap)
{
    const double primal = fenp_target_loss(q, f, b) + q->lambda * norm2;
    return gap / fmax(fmax(primal, 1e-12 * q->null), DBL_MIN);
}

/* ---- the start ---------------------------------------------------------------------------- */

double fenp_target_digits(const fenp_target *q)
{
    long double sum = 0.0L;
    if (!q->loss->residual) return 0.0;
    for (int64_t i = 0; i < q->n; i++)
        if (q->w[i] > 0.0) sum += q->w[i] * fenp_loss_of_digits(q->loss, q->y[i], q->par);
    return (double)sum;
}

fenp_target fenp_target_of(const fenp_problem *problem, double *y, double *zeros)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n;
    fenp_target q = { .loss = problem->loss,
                      .par = problem->par,
                      .w = sample->w,
                      .y = y,
                      .n = n,
                      .bias = problem->bias,
                      .lambda = problem->lambda };
    memcpy(y, sample->y, (size_t)n * sizeof(double));
    memset(zeros, 0, (size_t)n * sizeof(double));
    const double digits = fenp_target_digits(&q);
    q.constant = fenp_target_offset(&q, zeros, 0.0);
    if (q.loss->residual) {
        for (int64_t i = 0; i < n; i++) y[i] -= q.constant;
        q.base = q.constant, q.constant = 0.0;
    }
    q.null = fenp_target_loss(&q, zeros, q.constant);
    q.trivial = q.null <= digits;
    return q;
}
