/* descend_price.c -- a parameter of the loss that is left free at a price (nu)
 *
 *     F(par) = least over f, b of  sum w loss_par + price par + lambda ||f||^2,  par >= 0
 *     F'(par) = price - sum w k(z),   k(z) = loss*(par = 1) - loss*(par = 0),  price = +-nu W
 *
 * is convex, and z, the dual vector of the solution at par, says its slope psi.
 * Method: sweeps of a solver that chooses par itself (block_price.c), if there is one and it gets
 *   there. Else a bracket with slopes of both signs, made smaller by interpolation and bisection.
 *   The answer is the mixture of its two ends, parameter, function and dual vector, in the
 *   proportion that makes the mixed slope 0. P is convex and D concave, so its gap is at most
 *   the mixed gaps of the ends plus  share psi_high (high - low): the search ends when that is
 *   small. Slopes that jump (F has a kink at the answer) need no other treatment.
 * Special cases: psi(0) >= 0 means par = 0 (nu-SVR: more weight outside than nu would buy); a
 *   parameter that earns has slope price < 0 at 0, where f = 0. Where that is the answer (no
 *   margin at all: some mixture of the rows is 0) the search would go on for ever: f = 0 is
 *   taken as soon as D = -||g||^2 / (4 lambda) of the mixed dual vector is next to nothing.
 * Cost: one solve, or about 10, each from the dual vector of the one before. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "solver/descend_run.h"

enum { MOST_SOLVES = 80, MOST_SWEEPS = 4 };

/* A solution at one value of the parameter. */
typedef struct end {
    double par, psi;
    double energy; /* lambda ||f||^2                                        */
    fenp_kept at;
    int known;
} end;

typedef struct search {
    fenp_run *r;
    double price;
    end low, high; /* psi <= 0 there, >= 0 here                             */
    double unit;   /* |P| at the last point: what a gap is measured by      */
    double least;  /* of units: of the largest |P| that a price can lead to */
    int tight;     /* least goes by the centred kernel                      */
    double start;  /* where a bracket is begun                              */
} search;

static double cost_of_par(const fenp_run *r)
{
    const double none = 0.0, one = 1.0;
    return fenp_run_minus_conjugates(r, 1.0, &none) - fenp_run_minus_conjugates(r, 1.0, &one);
}

static double unit_of(const search *s, double primal) { return fmax(fabs(primal), s->least); }

static void set_least(search *s, double spread)
{
    s->least = 1e-9 * s->price * s->price * spread / (4.0 * s->r->lambda);
}

/* What rows have in common may cancel in g. The pass over all pairs of rows is made where it
 * may matter. */
static fen_status tighten(search *s, fen_error *err)
{
    const fenp_run *r = s->r;
    const fenp_sample *sample = r->at.sample;
    double spread;
    if (s->tight || !(s->price < 0.0)) return FEN_OK;
    const fen_status status = fenp_gram_spread(&r->at.kernel, fenp_sample_inputs(sample), sample->w,
                                               &spread, r->task, err);
    s->tight = status == FEN_OK;
    if (s->tight) set_least(s, spread);
    return status;
}

/* The solution at par, to a gap that is small for the objective with its price. */
static fen_status evaluate(search *s, double par, double *psi, fen_error *err)
{
    fenp_run *r = s->r;
    *r->par = par;
    r->at.gap = 0.3 * r->gap;
    for (int round = 0; round < 3; round++) {
        fen_status status = fenp_run_solve(r, err);
        if (status != FEN_OK) return status;
        const double norm = fenp_run_norm(r), energy = r->lambda * norm * norm;
        const double loss = fenp_run_loss(r, 1.0);
        const double left = loss + 2.0 * energy - fenp_run_minus_conjugates(r, 1.0, r->at.par);
        s->unit = unit_of(s, loss + energy + s->price * par);
        if (s->unit <= s->least) {
            status = tighten(s, err);
            if (status != FEN_OK) return status;
            s->unit = unit_of(s, loss + energy + s->price * par);
        }
        if (left <= 0.4 * r->gap * s->unit || r->stalled) break;
        r->at.gap *= fmin(0.3 * r->gap * s->unit / left, 0.1);
    }
    *psi = s->price - cost_of_par(r);
    if (fabs(*psi) <= 64.0 * DBL_EPSILON * fabs(s->price)) *psi = 0.0; /* it is met */
    return FEN_OK;
}

/* ---- the two ends ------------------------------------------------------------------------ */

static void keep(const fenp_run *r, double psi, end *e)
{
    const double norm = fenp_run_norm(r);
    e->par = *r->par, e->psi = psi, e->known = 1;
    e->energy = r->lambda * norm * norm;
    fenp_keep(r, &e->at);
}

/* f = 0 is optimal at par = 0 of a loss that earns, with z = 0; the iterate stays as it is, a
 * start for the next one. */
static void keep_zero(search *s)
{
    const fenp_sample *sample = s->r->at.sample;
    end *e = &s->low;
    memset(e->at.dual, 0, (size_t)sample->n * sizeof(double));
    memset(e->at.scores, 0, (size_t)sample->n * sizeof(double));
    if (e->at.weights) memset(e->at.weights, 0, (size_t)sample->p * sizeof(double));
    e->par = e->energy = e->at.offset = 0.0, e->psi = s->price, e->known = 1;
}

/* Of the high end, so that the slope of the mixture is 0. */
static double share(const search *s)
{
    const double between = s->high.psi - s->low.psi;
    return between > 0.0 ? -s->low.psi / between : 0.5;
}

static void mix(double of_high, const double *low, const double *high, int64_t n, double *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = (1.0 - of_high) * low[i] + of_high * high[i];
}

/* Gap of f = 0 with the mixed dual vector, where the low end is f = 0. */
static double gap_of_zero(const search *s)
{
    if (!(s->price < 0.0) || !s->low.known || !s->high.known || s->low.par > 0.0) return INFINITY;
    return share(s) * share(s) * s->high.energy / s->least;
}

/* f = 0 with the dual vector that is there */
static void take_zero(search *s, double gap)
{
    fenp_run *r = s->r;
    const fenp_sample *sample = r->at.sample;
    memset(r->out->scores, 0, (size_t)sample->n * sizeof(double));
    if (r->out->weights) memset(r->out->weights, 0, (size_t)sample->p * sizeof(double));
    *r->par = r->out->offset[0] = r->out->scale[0] = 0.0;
    r->out->gap[0] = gap;
}

/* The gap of the iterate with its price. */
static void account(search *s)
{
    const fenp_run *r = s->r;
    const double none = 0.0, norm = fenp_run_norm(r), energy = r->lambda * norm * norm;
    const double loss = fenp_run_loss(r, 1.0), primal = loss + energy + s->price * *r->par;
    const double gap = primal - (fenp_run_minus_conjugates(r, 1.0, &none) - energy);
    s->unit = unit_of(s, primal);
    r->out->gap[0] = s->unit > 0.0 ? fabs(gap) / s->unit : fabs(gap);
}

/* The answer; an end that was never reached counts as the other one. */
static void answer(search *s, int *reached)
{
    fenp_run *r = s->r;
    const int64_t n = r->at.sample->n;
    if (!s->low.known && !s->high.known) return;
    if (gap_of_zero(s) <= r->gap) {
        mix(share(s), s->low.at.dual, s->high.at.dual, n, r->out->dual);
        take_zero(s, gap_of_zero(s));
        *reached = 1;
        return;
    }
    const end *low = s->low.known ? &s->low : &s->high, *high = s->high.known ? &s->high : low;
    const double of_high = low == high ? 1.0 : share(s);
    mix(of_high, low->at.dual, high->at.dual, n, r->out->dual);
    mix(of_high, low->at.scores, high->at.scores, n, r->out->scores);
    mix(of_high, &low->at.offset, &high->at.offset, 1, r->out->offset);
    mix(of_high, &low->par, &high->par, 1, r->par);
    if (r->out->weights)
        mix(of_high, low->at.weights, high->at.weights, r->at.sample->p, r->out->weights);
    account(s);
    *reached = r->out->gap[0] <= r->gap;
}

/* ---- the solver's own way ---------------------------------------------------------------- */

/* Sweeps that choose par, as long as they get on. */
static fen_status sweeps(search *s, fen_error *err)
{
    fenp_run *r = s->r;
    const fenp_price price = { .price = s->price, .least = s->least, .par = r->par };
    double before = INFINITY;
    r->at.gap = r->gap;
    for (int k = 0; k < MOST_SWEEPS; k++) {
        const fen_status status = r->solver->priced(r->state, &r->at, &price, r->out, r->task, err);
        if (status != FEN_OK || !(r->out->gap[0] > r->gap) || !(r->out->gap[0] < 0.5 * before))
            return status;
        before = r->out->gap[0];
    }
    return FEN_OK;
}

/* The answer, if sweeps get there; else a start. */
static fen_status direct(search *s, int *reached, fen_error *err)
{
    fenp_run *r = s->r;
    if (!r->solver->priced) return FEN_OK;
    fen_status status = sweeps(s, err);
    if (status != FEN_OK || isinf(r->out->gap[0])) return status;
    if (s->price > 0.0 && *r->par == 0.0) s->start = 0.0;
    account(s);
    if (s->price < 0.0 && s->unit <= s->least) {
        const double norm = fenp_run_norm(r);
        status = tighten(s, err);
        if (status != FEN_OK) return status;
        account(s);
        const double gap = r->lambda * norm * norm / s->least; /* of f = 0 */
        if (gap <= r->gap) take_zero(s, gap);
    }
    *reached = r->out->gap[0] <= r->gap;
    return FEN_OK;
}

/* ---- the search -------------------------------------------------------------------------- */

static double mean_diagonal(const fenp_run *r)
{
    const fenp_sample *s = r->at.sample;
    return fenp_gram_mean_diagonal(&r->at.kernel, fenp_sample_inputs(s), s->w);
}

/* A deviation of the labels, or what a function of the dual norm nu sqrt(k) may reach. */
static double first_guess(const search *s)
{
    const fenp_run *r = s->r;
    const fenp_sample *sample = r->at.sample;
    long double mean = 0.0L, size = 0.0L;
    if (*r->par > 0.0 && r->out->scale[0] > 0.0) return *r->par;
    if (s->price < 0.0) return -0.1 * s->price / r->lambda * mean_diagonal(r);
    for (int64_t i = 0; i < sample->n; i++) mean += (long double)sample->w[i] * sample->y[i];
    mean = r->at.bias ? mean / r->whole : 0.0L;
    for (int64_t i = 0; i < sample->n; i++) size += sample->w[i] * fabsl(sample->y[i] - mean);
    return 0.1 * (double)(size / r->whole);
}

/* Outwards in factors until both ends are known; inwards by interpolation, or by halves where
 * the same end moved twice. */
static double next_par(const search *s, int moved, double par)
{
    const double low = s->low.par, high = s->high.par;
    if (!s->high.known) return par > 0.0 ? 4.0 * par : first_guess(s);
    if (!s->low.known) return moved < -6 ? 0.0 : 0.25 * par;
    const double by_slopes = low + share(s) * (high - low);
    if (moved > -2 && moved < 2 && by_slopes > low && by_slopes < high) return by_slopes;
    if (low == 0.0) return 0.1 * high;
    return high > 4.0 * low ? sqrt(low) * sqrt(high) : 0.5 * low + 0.5 * high;
}

static int close_enough(const search *s)
{
    if (s->low.known && s->low.psi == 0.0) return 1;
    if (s->high.known && (s->high.psi == 0.0 || s->high.par == 0.0)) return 1;
    if (!s->low.known || !s->high.known) return 0;
    if (gap_of_zero(s) <= s->r->gap) return 1;
    return share(s) * s->high.psi * (s->high.par - s->low.par) <= 0.4 * s->r->gap * s->unit;
}

static fen_status narrow(search *s, fen_error *err)
{
    double par = isnan(s->start) ? first_guess(s) : s->start, psi;
    int moved = 0; /* how often in a row: > 0 the low end, < 0 the high end */
    for (int k = 0; k < MOST_SOLVES && !close_enough(s) && isfinite(par); k++) {
        if (par == 0.0 && s->price < 0.0) {
            keep_zero(s);
            moved = 1;
        } else {
            const fen_status status = evaluate(s, par, &psi, err);
            if (status != FEN_OK) return status;
            moved = psi < 0.0 ? (moved > 0 ? moved : 0) + 1 : (moved < 0 ? moved : 0) - 1;
            keep(s->r, psi, psi < 0.0 ? &s->low : &s->high);
        }
        if (gap_of_zero(s) <= s->r->gap) {
            const fen_status status = tighten(s, err);
            if (status != FEN_OK) return status;
        }
        par = next_par(s, moved, par);
        if (s->low.known && s->high.known && (par <= s->low.par || par >= s->high.par)) break;
    }
    return FEN_OK;
}

fen_status fenp_run_price(fenp_run *r, double nu, int *reached, fen_error *err)
{
    fenp_arena arena;
    fen_status status =
        fenp_arena_open(&arena, 2 * fenp_kept_bytes(r), "the search for the parameter", err);
    if (status != FEN_OK) return status;
    search s = { .r = r, .price = r->at.loss->price * nu * r->whole, .start = NAN };
    s.low.at = fenp_kept_open(&arena, r), s.high.at = fenp_kept_open(&arena, r);
    if (s.price < 0.0) set_least(&s, mean_diagonal(r));
    status = direct(&s, reached, err);
    if (status == FEN_OK && !*reached) {
        status = narrow(&s, err);
        answer(&s, reached);
    }
    if (status != FEN_OK) *reached = 0;
    fenp_arena_close(&arena);
    return status;
}
