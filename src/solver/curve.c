/* curve.c -- the best point on the curve of ridge solutions, for every power m > 0
 *
 *     J(c) = L(c) + n lambda N(c)^m,   stationary: h(t) = t + (2-m) log N = log(m n lambda/2)
 *
 * m > 1. The slope of h lies between 1 and m-1: one root, Newton in t inside the bracket
 *   that this gives. m = 1. h rises to log sqrt(y'Ky): a root below that, else f = 0.
 * m < 1. Not convex; branch and bound in the norm r = N(c). The least loss at norm r is
 *   convex in r with slope -2cN, so a tangent lies below it everywhere; on the stretch where
 *   one tangent is the highest, tangent + n lambda r^m is concave and least at its ends.
 *   Between two neighbouring points of the curve the bound is therefore the value where
 *   their tangents cross; the lowest crossing is split until all lie within the gap.
 *   f = 0 is the point c = infinity (slope -2 sqrt(y'Ky)). The other end is c = 0: what
 *   least squares leaves, with slope 0; behind it (or without it) lies the tangent 0.
 * Scale. Losses are relative to |y|^2, norms to |y|/sqrt(d_max): nothing overflows before
 *   the answer does.
 * Cost. m > 1: about 12 points of the curve; m < 1: 15 to FENP_NODES_MAX. */
#include "solver/curve.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- a curve made of eigenvalues ----------------------------------------------------- */

/* c relative to the largest eigenvalue is e^x; for x > 0 sums are scaled by e^2x. */
static fen_status measure_at(void *state, double t, fenp_point *out, fen_error *err)
{
    const fenp_measure *m = state;
    (void)err;
    const double x = t - m->log_top, small = exp(-fabs(x)), unit = exp(-m->log_top);
    const int large = x > 0.0;
    double square = 0.0, along = 0.0, loss = m->rest;
    for (int64_t j = 0; j < m->count; j++) {
        const double d = m->d[j] > m->floor ? m->d[j] * unit : 0.0;
        const double inverse = 1.0 / (large ? 1.0 + d * small : d + small);
        const double share = d > 0.0 ? (large ? inverse : small * inverse) : 1.0; /* c/(d+c) */
        const double part = d > 0.0 ? d * m->q[j] * inverse * inverse : 0.0;
        square += part;
        along += part * share;
        loss += m->q[j] * share * share;
    }
    const double root = 0.5 * (m->log_energy - m->log_top + log(square));
    *out = (fenp_point){ t, large ? root - x : root, square > 0.0 ? -along / square : 0.0, loss };
    return FEN_OK;
}

fenp_curve fenp_measure_curve(fenp_measure *m, int64_t rows)
{
    const double noise = (double)rows * DBL_EPSILON;
    double top = 0.0, energy = m->rest, reach = 0.0;
    for (int64_t j = 0; j < m->count; j++) {
        top = fmax(top, m->d[j]);
        energy += m->q[j];
    }
    for (int64_t j = 0; energy > 0.0 && j < m->count; j++) {
        m->q[j] /= energy;
        reach += top > 0.0 ? m->d[j] / top * m->q[j] : 0.0;
    }
    if (energy > 0.0) m->rest /= energy;
    m->floor = noise * top;
    m->log_energy = log(energy);
    m->log_top = log(top);
    const double half = 0.5 * (m->log_energy + m->log_top + log(reach));
    return (fenp_curve){ .at = measure_at,
                         .state = m,
                         .log_energy = m->log_energy,
                         .log_reach = reach > noise ? half : -INFINITY,
                         .log_top = m->log_top,
                         .least = m->log_top + log(noise),
                         .has_end = 1 };
}

/* ---- the stationary point, between two ends ------------------------------------------- */

/* What is looked for: h = target. */
typedef struct wanted {
    const fenp_curve *curve;
    double power, target;
    double log_weight; /* log(n lambda)                                    */
} wanted;

static double height(const wanted *w, const fenp_point *p)
{
    return p->t + (2.0 - w->power) * p->log_norm - w->target;
}

/* Newton from t for an up-crossing of h in [low, high] (ends may be infinite); bisection
 * where Newton leaves the bracket. A step through an infinite end is at most LEAP long. */
static fen_status up_crossing(const wanted *w, double low, double high, double *t, fen_error *err)
{
    enum { STEPS = 200, LEAP = 40 };
    for (int step = 0; step < STEPS; step++) {
        fenp_point p;
        const fen_status status = w->curve->at(w->curve->state, *t, &p, err);
        if (status != FEN_OK) return status;
        const double over = height(w, &p), slope = 1.0 + (2.0 - w->power) * p.slope;
        if (over > 0.0)
            high = *t;
        else
            low = *t;
        const double digits = 2.0 * DBL_EPSILON * fmax(1.0, fabs(*t));
        const double rounding =
            DBL_EPSILON * (fabs(*t) + fabs(w->target) + fabs(2.0 - w->power) * fabs(p.log_norm));
        if (fabs(over) <= rounding) return FEN_OK;
        double next = slope > 0.0 ? *t - over / slope : (over > 0.0 ? low : high);
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (isinf(low) && !(next > *t - LEAP)) next = *t - LEAP;
        if (isinf(high) && !(next < *t + LEAP)) next = *t + LEAP;
        if (fabs(next - *t) <= digits || high - low <= digits) return FEN_OK;
        *t = next;
    }
    return FEN_OK;
}

/* The slope of h lies between 1 and m-1: from one point, where the root must be. */
static fen_status convex_root(const wanted *w, double *t, fen_error *err)
{
    fenp_point p;
    *t = w->curve->log_top;
    const fen_status status = w->curve->at(w->curve->state, *t, &p, err);
    if (status != FEN_OK) return status;
    const double over = height(w, &p), flat = fmin(1.0, w->power - 1.0);
    const double far = flat > 0.0 ? *t - over / flat : (over > 0.0 ? -INFINITY : INFINITY);
    const double near = *t - over / fmax(1.0, w->power - 1.0);
    const double margin = 1e-9 * (1.0 + fabs(over) + fabs(*t)); /* rounding in over */
    *t = near;
    return up_crossing(w, fmin(far, near) - margin, fmax(far, near) + margin, t, err);
}

/* ---- m < 1: branch and bound in the norm ------------------------------------------------ */

/* A point of the curve with its tangent, all relative: see Scale. */
typedef struct node {
    double t, norm, loss, slope;
    double value; /* J                                                 */
} node;

typedef struct hunt {
    wanted w;
    double log_unit;         /* log |y|/sqrt(d_max): the unit of norms            */
    node at[FENP_NODES_MAX]; /* norms ascending, t descending                     */
    int count;
    double polished_t, polished_value; /* the last stationary point                 */
} hunt;

static double penalty(const hunt *s, double norm)
{
    if (norm <= 0.0) return 0.0;
    return exp(s->w.log_weight + s->w.power * (log(norm) + s->log_unit) - s->w.curve->log_energy);
}

static fen_status visit(hunt *s, double t, fen_error *err)
{
    const fenp_curve *curve = s->w.curve;
    node new = { t, 0.0, 1.0, -2.0 * exp(curve->log_reach - s->log_unit - curve->log_top), 1.0 };
    if (t < INFINITY) {
        fenp_point p;
        const fen_status status = curve->at(curve->state, t, &p, err);
        if (status != FEN_OK) return status;
        new.norm = exp(p.log_norm - s->log_unit);
        new.loss = p.loss;
        new.slope = -2.0 * exp(t - curve->log_top + p.log_norm - s->log_unit);
        new.value = p.loss + penalty(s, new.norm);
    }
    int i = 0;
    while (i < s->count && s->at[i].t > t) i++;
    memmove(s->at + i + 1, s->at + i, (size_t)(s->count - i) * sizeof *s->at);
    s->at[i] = new;
    s->count++;
    return FEN_OK;
}

/* Where the tangents of neighbours cross; behind the last node, where its tangent meets 0. */
static double crossing(const hunt *s, int i)
{
    const node *a = &s->at[i], *b = a + 1;
    if (i == s->count - 1) return a->slope < 0.0 ? a->norm - a->loss / a->slope : INFINITY;
    const double bend = a->slope - b->slope;
    const double rise = (b->loss - b->slope * b->norm) - (a->loss - a->slope * a->norm);
    if (!(bend < 0.0)) return b->norm;
    return fmin(fmax(rise / bend, a->norm), b->norm);
}

/* Lower bound on J between node i and the next. */
static double bound(const hunt *s, int i)
{
    const node *a = &s->at[i];
    const double r = crossing(s, i);
    if (isinf(r)) return a->value;
    return fmax(a->loss + a->slope * (r - a->norm), 0.0) + penalty(s, r);
}

/* Where to look next: the log c whose norm is near the crossing. */
static double split(const hunt *s, int i)
{
    const node *a = &s->at[i], *b = a + 1;
    const double r = log(crossing(s, i));
    if (i == s->count - 1 || isinf(b->t))
        return fmax(a->t - fmax(1.0, 2.0 * (r - log(a->norm))), s->w.curve->least);
    if (isinf(a->t)) return b->t + fmax(0.7, log(b->norm) - r); /* N goes like 1/c there */
    const double share = (log(b->norm) - r) / (log(b->norm) - log(a->norm));
    return b->t + fmin(fmax(share, 0.15), 0.85) * (a->t - b->t);
}

/* What is left to split between node i and the next, in log c. */
static double width(const hunt *s, int i)
{
    const double end = i + 1 < s->count ? s->at[i + 1].t : -INFINITY;
    return s->at[i].t - fmax(end, s->w.curve->least);
}

static int best_node(const hunt *s)
{
    int best = 0;
    for (int i = 1; i < s->count; i++)
        if (s->at[i].value < s->at[best].value) best = i;
    return best;
}

/* From the best node to the stationary point beside it, which becomes a node itself. A curve
 * with an end has one below every floor too; without, the floor takes its place. */
static fen_status polish(hunt *s, fen_error *err)
{
    const int i = best_node(s);
    const double low = i + 1 < s->count ? s->at[i + 1].t : -INFINITY;
    const double high = i > 0 ? s->at[i - 1].t : INFINITY;
    if (s->at[i].t == INFINITY) return FEN_OK;
    double t = fmax(s->at[i].t, fmin(s->w.curve->least, high - 1.0));
    fen_status status = up_crossing(&s->w, low, high, &t, err);
    if (!s->w.curve->has_end) t = fmax(t, s->w.curve->least);
    if (status == FEN_OK && t != s->at[i].t) status = visit(s, t, err);
    for (int k = 0; status == FEN_OK && k < s->count; k++)
        if (s->at[k].t == t) s->polished_t = t, s->polished_value = s->at[k].value;
    return status;
}

/* The best node that is a function: the end of the curve is only a limit. Within rounding the
 * polished one wins: values are flat where c still differs in its eighth digit. */
static double best_t(const hunt *s)
{
    int best = 0;
    for (int i = 1; i < s->count; i++)
        if (s->at[i].value < s->at[best].value && s->at[i].t > -INFINITY) best = i;
    const int flat = s->polished_value <= s->at[best].value * (1.0 + 8.0 * DBL_EPSILON);
    return flat ? s->polished_t : s->at[best].t;
}

/* All nonzero stationary points lie in [low, high]: N <= Nmax gives the first, c N <= reach
 * the second. */
static void ends(const hunt *s, double *low, double *high)
{
    const wanted *w = &s->w;
    const double most =
        (w->curve->log_energy - w->log_weight) / w->power; /* n lambda N^m <= |y|^2 */
    *low = fmax(w->target + (w->power - 2.0) * most, w->curve->least);
    *high = ((2.0 - w->power) * w->curve->log_reach - w->target) / (1.0 - w->power);
}

/* The interval with the lowest bound; -1: all are within the gap. */
static int worst_interval(const hunt *s, double gap)
{
    const double enough = s->at[best_node(s)].value * (1.0 - gap);
    double lowest = enough;
    int worst = -1;
    for (int i = 0; i < s->count; i++) {
        const double at = bound(s, i);
        if (at < lowest && width(s, i) > 1e-12) lowest = at, worst = i;
    }
    return worst;
}

static fen_status global_minimum(const wanted *w, double gap, fenp_root *out, fen_error *err)
{
    hunt s = { .w = *w,
               .log_unit = 0.5 * (w->curve->log_energy - w->curve->log_top),
               .polished_value = INFINITY };
    double low, high;
    ends(&s, &low, &high);
    fen_status status = visit(&s, INFINITY, err);
    if (status == FEN_OK && w->curve->has_end) status = visit(&s, -INFINITY, err);
    if (low < high) {
        enum { FIRST = 5 };
        for (int k = 0; status == FEN_OK && k < FIRST; k++)
            status = visit(&s, high + (low - high) * k / (FIRST - 1), err);
    } else if (status == FEN_OK)
        status = visit(&s, fmax(high, w->curve->least), err);
    if (status == FEN_OK) status = polish(&s, err);
    double polished = s.at[best_node(&s)].value;
    while (status == FEN_OK && s.count < FENP_NODES_MAX - 1) {
        const int worst = worst_interval(&s, gap);
        if (worst < 0) break;
        status = visit(&s, split(&s, worst), err);
        const double best = s.at[best_node(&s)].value;
        if (status == FEN_OK && best < polished) {
            status = polish(&s, err);
            polished = s.at[best_node(&s)].value;
        }
    }
    out->t = best_t(&s);
    out->nodes = s.count;
    for (int i = 0; i < s.count; i++) out->node[i] = s.at[i].t;
    return status;
}

/* ---- the minimum ------------------------------------------------------------------------- */

fen_status fenp_curve_minimum(const fenp_curve *curve, int64_t n, double lambda, double power,
                              double gap, fenp_root *out, fen_error *err)
{
    const double log_weight = log((double)n) + log(lambda);
    const wanted w = { curve, power, log(0.5 * power) + log_weight, log_weight };
    fen_status status = FEN_OK;
    out->nodes = 0;
    if (power == 2.0) {
        *out = (fenp_root){ .c = (double)n * lambda, .lambda2 = lambda, .t = log_weight };
        return FEN_OK;
    }
    out->t = INFINITY;
    if (curve->log_reach == -INFINITY || (power == 1.0 && w.target >= curve->log_reach)) {
        out->nodes = 1; /* f = 0, proved by its own residual */
        out->node[0] = INFINITY;
    } else if (power >= 1.0)
        status = convex_root(&w, &out->t, err);
    else
        status = global_minimum(&w, gap, out, err);
    if (curve->has_end) out->t = fmax(out->t, curve->least); /* below, coefficients are noise */
    out->c = exp(out->t);
    out->lambda2 = exp(out->t - log((double)n));
    return status;
}

/* ---- coefficients of a singular K ---------------------------------------------------------- */

static const double SHOWS = 1e-8; /* of the objective: far below any useful tolerance */

/* About (n eps d_max / c)^2 / n of untouched come back as loss. c is raised to the first of a
 * grid where that and the objective on the curve together are within SHOWS of the least. */
fen_status fenp_rise_above_rounding(const fenp_curve *curve, double untouched, int64_t n,
                                    double lambda, double power, fenp_root *root, fen_error *err)
{
    enum { STEPS = 40 };
    const double log_weight = log((double)n) + log(lambda);
    double t[STEPS + 1], total[STEPS + 1], least = INFINITY;
    if (power == 2.0 || isinf(root->c)) return FEN_OK;
    for (int k = 0; k <= STEPS; k++) {
        fenp_point p;
        t[k] = k == 0 ? root->t : fmax(root->t, curve->least) + 0.5 * k;
        const fen_status status = curve->at(curve->state, t[k], &p, err);
        if (status != FEN_OK) return status;
        const double noise = untouched / (double)n * exp(2.0 * (curve->least - t[k]));
        total[k] = p.loss + exp(log_weight + power * p.log_norm - curve->log_energy) + noise;
        if (k == 0 && noise <= SHOWS * fmax(total[0] - noise, 1e-12)) return FEN_OK;
        least = fmin(least, total[k]);
    }
    int first = 0;
    while (first < STEPS && !(total[first] <= least * (1.0 + SHOWS))) first++;
    root->t = t[first];
    root->c = exp(root->t);
    root->lambda2 = exp(root->t - log((double)n));
    return FEN_OK;
}

double fenp_measure_untouched(const fenp_measure *measure)
{
    double sum = 0.0;
    for (int64_t j = 0; j < measure->count; j++)
        if (!(measure->d[j] > measure->floor)) sum += measure->q[j];
    return sum;
}
