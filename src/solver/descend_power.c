/* descend_power.c -- any power m >= 1 by the root of one number
 *
 *     e(t) = t + (2 - m) log N(t) - log(m lambda / 2) = 0,   t = log lambda2
 *
 * N = norm of the solution with power 2 and lambda2. N falls and lambda2 N rises with lambda2
 * for every convex loss, so the slope of e lies between 1 and m - 1: one root. There the
 * solution is that of power m, with the same dual vector.
 * Method: secants, their slopes held within those bounds, the steps within a bracket. A solve
 *   to the gap G leaves ||f|| open by sqrt(G / lambda2): signs of e are believed beyond that
 *   only, and gaps of solves shrink as e does. The end is decided by the gap of power m itself:
 *     P = sum w loss + lambda N^m,   D(t z) = - sum w loss*(-t z) - Psi*(t ||g||),
 *   ||g|| = 2 lambda2 N, t <= 1 such that t ||g|| <= m lambda N^(m-1), its value at the root.
 * Special cases: m = 1 has no root where f = 0 is optimal (e < 0 for all t); f = 0 is the
 *   answer as soon as the gap of f = 0 is small enough. Near m = 1 the root may lie beyond
 *   any number: then, too.
 * Cost: 3 to 10 solves, each from the dual vector of the one before. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/registry.h"
#include "solver/descend_run.h"

enum { MOST_SOLVES = 60 };
static const double FARTHEST = 600.0;              /* of t: beyond, lambda2 is no number   */
static const double FIRST_GAP = 1e-2, LEAP = 12.0; /* of a solve; of a step in t           */

typedef struct search {
    double t, e;               /* the last point                                        */
    double before, e_before;   /* the one before; NAN: there is none                    */
    double low, high;          /* the root lies between                                 */
    double open;               /* |e| may be wrong by so much                           */
    double flattest, steepest; /* slopes of e                                           */
} search;

/* The norm that data of this size ask for: y / sqrt(k) */
static double first_guess(const fenp_run *r)
{
    const fenp_sample *s = r->at.sample;
    const double diagonal = fenp_gram_mean_diagonal(&r->at.kernel, fenp_sample_inputs(s), s->w);
    long double mean = 0.0L, square = 0.0L;
    for (int64_t i = 0; i < s->n; i++) mean += (long double)s->w[i] * s->y[i] / r->whole;
    if (!r->at.bias || r->at.loss->labels == FEN_SIGNS) mean = 0.0L;
    for (int64_t i = 0; i < s->n; i++)
        square += (long double)s->w[i] / r->whole * (s->y[i] - mean) * (s->y[i] - mean);
    const double norm = sqrt((double)square / diagonal);
    const double t = log(0.5 * r->power * r->lambda) + (r->power - 2.0) * log(norm);
    return isfinite(t) ? fmin(fmax(t, -FARTHEST), FARTHEST) : log(r->lambda);
}

static int no_dual(const fenp_run *r)
{
    int64_t i = 0;
    while (i < r->at.sample->n && r->out->dual[i] == 0.0) i++;
    return i == r->at.sample->n;
}

/* Where the dual vector comes from, if it is not zero; else a guess. */
static double first_point(const fenp_run *r)
{
    const double scale = r->out->scale[0];
    return scale > 0.0 && !no_dual(r) ? -log(2.0 * scale) : first_guess(r);
}

/* A gap below 0 is a score that does not belong to its dual vector: as bad as one above. */
static double relative(double gap, double objective)
{
    return objective > 0.0 ? fabs(gap) / objective : fabs(gap);
}

/* How much of the dual vector fits a function of this norm. */
static double fitting_part(const fenp_run *r, double norm, double dual_norm)
{
    const double m = r->power;
    const double fitting = m == 1.0 ? r->lambda : m * r->lambda * pow(norm, m - 1.0);
    return dual_norm > fitting ? fitting / dual_norm * (1.0 - 1e-15) : 1.0;
}

/* Gap of power m of a function of norm n and mean loss, with that part of the dual vector. */
static double gap_of_power(const fenp_run *r, double norm, double loss, double dual_norm,
                           double part)
{
    const fen_penalty *penalty = fenp_find_penalty("rkhs");
    const double primal = loss + r->lambda * penalty->value(norm, r->power);
    const double dual = fenp_run_minus_conjugates(r, part, r->at.par) -
                        penalty->conj(part * dual_norm, r->lambda, r->power);
    return relative(primal - dual, primal);
}

/* f stays, the dual vector becomes the part of it that fits. */
static void shrink_dual(fenp_run *r, double part)
{
    for (int64_t i = 0; i < r->at.sample->n; i++) r->out->dual[i] *= part;
    r->out->scale[0] /= part;
}

/* Takes f = 0 with the offset that there is, if that is good enough. */
static int zero_will_do(fenp_run *r, double dual_norm)
{
    const fenp_sample *s = r->at.sample;
    fenp_solution *out = r->out;
    const double part = fitting_part(r, 0.0, dual_norm);
    const double gap = gap_of_power(r, 0.0, fenp_run_loss(r, 0.0), dual_norm, part);
    if (!(gap <= r->gap)) return 0;
    memset(out->scores, 0, (size_t)s->n * sizeof(double));
    if (out->weights) memset(out->weights, 0, (size_t)s->p * sizeof(double));
    out->gap[0] = gap;
    return 1;
}

/* One solve; *done: the answer is there. */
static fen_status evaluate(fenp_run *r, search *s, int *done, fen_error *err)
{
    const double m = r->power;
    r->at.lambda = exp(s->t);
    const fen_status status = fenp_run_solve(r, err);
    if (status != FEN_OK) return status;
    const double norm = fenp_run_norm(r), loss = fenp_run_loss(r, 1.0);
    const double energy = r->at.lambda * norm * norm;
    const double dual_norm = norm > 0.0 || no_dual(r) ? 2.0 * r->at.lambda * norm : DBL_MAX;
    const double left = loss + 2.0 * energy - fenp_run_minus_conjugates(r, 1.0, r->at.par);
    const double share = norm > 0.0 ? sqrt(fmax(left, 0.0) / r->at.lambda) / norm : INFINITY;
    const double part = fitting_part(r, norm, dual_norm);
    s->e = s->t + (2.0 - m) * log(norm) - log(0.5 * m * r->lambda);
    s->open = share < 0.5 ? fabs(2.0 - m) * 2.0 * share : INFINITY;
    r->out->gap[0] = gap_of_power(r, norm, loss, dual_norm, part);
    *done = r->out->gap[0] <= r->gap;
    if ((norm == 0.0 || s->t >= FARTHEST || (m == 1.0 && s->e < 0.0)) &&
        zero_will_do(r, dual_norm)) {
        r->out->scale[0] = 0.0;
        *done = 1;
    } else if (*done)
        shrink_dual(r, part);
    return FEN_OK;
}

/* Where the norm is 0 for want of accuracy, lambda2 was too large; for m > 2 (e = +infinity) so
 * it was for the root. */
static void step(search *s)
{
    const double t = s->t;
    if (!isfinite(s->e)) {
        if (s->e > 0.0) s->high = fmin(s->high, t);
        s->t = isfinite(s->low) ? 0.5 * s->low + 0.5 * t : fmax(t - LEAP, -FARTHEST);
        return;
    }
    if (fabs(s->e) > s->open && s->e > 0.0) s->high = fmin(s->high, t);
    if (fabs(s->e) > s->open && s->e < 0.0) s->low = fmax(s->low, t);
    double slope = (s->e - s->e_before) / (t - s->before);
    if (!isfinite(slope)) slope = s->e > 0.0 ? 1.0 : s->flattest; /* ends of the curve */
    slope = fmin(fmax(slope, s->flattest), s->steepest);
    double next = t - fmin(fmax(s->e / slope, -LEAP), LEAP);
    if (!(next > s->low && next < s->high) && isfinite(s->low) && isfinite(s->high))
        next = 0.5 * s->low + 0.5 * s->high;
    s->before = t, s->e_before = s->e;
    s->t = fmin(fmax(next, -FARTHEST), FARTHEST);
}

fen_status fenp_run_power(fenp_run *r, int *reached, fen_error *err)
{
    const double m = r->power, floor = 1e-15;
    search s = { .t = first_point(r),
                 .before = NAN,
                 .e_before = NAN,
                 .low = -INFINITY,
                 .high = INFINITY,
                 .flattest = fmax(fmin(1.0, m - 1.0), 1e-3),
                 .steepest = fmax(1.0, m - 1.0) };
    int stalls = 0;
    r->at.gap = fmax(FIRST_GAP, 0.3 * r->gap);
    for (int k = 0; k < MOST_SOLVES && stalls < 4; k++) {
        const fen_status status = evaluate(r, &s, reached, err);
        if (status != FEN_OK || *reached) return status;
        const int unsure = !(fabs(s.e) > 2.0 * s.open);
        stalls += unsure && r->stalled;
        const double wanted = fmax(fmin(0.01 * s.e * s.e, r->at.gap), 0.3 * r->gap);
        r->at.gap = fmax(unsure ? fmin(0.03 * r->at.gap, wanted) : wanted, floor);
        step(&s);
    }
    return FEN_OK;
}
