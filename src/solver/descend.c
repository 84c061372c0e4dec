/* descend.c -- one output by an iterative solver
 *
 * Power 2, and penalty lp, whose solver knows its power: sweeps until the solver's account of the
 * relative gap is small enough or no longer improves. Other powers and free parameters are roots
 * over such solves (descend_power.c, descend_price.c), each of which starts from the dual vector of
 * the one before.
 * Special cases: limits and cancellation end a sweep; the iterate with the least objective
 * stays (the dual value rises with every sweep, the objective need not fall).
 * Cost: sweeps, and a few passes over the rows. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/threads.h"
#include "loss/traits.h"
#include "solver/descend_run.h"

/* Sweeps without a better gap after which there is none to be had; with the very same gap. */
enum { PATIENCE = 30, REPEATS = 3 };

/* ---- copies of an iterate ------------------------------------------------------------------ */

int64_t fenp_kept_bytes(const fenp_run *r)
{
    return 2 * fenp_arena_bytes(r->at.sample->n) +
           (r->out->weights ? fenp_arena_bytes(r->at.sample->p) : 0);
}

fenp_kept fenp_kept_open(fenp_arena *arena, const fenp_run *r)
{
    fenp_kept k = { .scale = 0.0 };
    k.dual = fenp_arena_doubles(arena, r->at.sample->n);
    k.scores = fenp_arena_doubles(arena, r->at.sample->n);
    if (r->out->weights) k.weights = fenp_arena_doubles(arena, r->at.sample->p);
    return k;
}

void fenp_keep(const fenp_run *r, fenp_kept *k)
{
    const size_t n = (size_t)r->at.sample->n * sizeof(double);
    k->offset = r->out->offset[0], k->scale = r->out->scale[0];
    memcpy(k->dual, r->out->dual, n);
    memcpy(k->scores, r->out->scores, n);
    if (k->weights) memcpy(k->weights, r->out->weights, (size_t)r->at.sample->p * sizeof(double));
}

static void put_back(fenp_run *r, const fenp_kept *k)
{
    const size_t n = (size_t)r->at.sample->n * sizeof(double);
    r->out->offset[0] = k->offset, r->out->scale[0] = k->scale;
    memcpy(r->out->dual, k->dual, n);
    memcpy(r->out->scores, k->scores, n);
    if (k->weights) memcpy(r->out->weights, k->weights, (size_t)r->at.sample->p * sizeof(double));
}

/* ---- one solve ----------------------------------------------------------------------------- */

/* Progress by the digits of the gap, each solve over a part of what is left. */
static fenp_task sweep_task(const fenp_run *r, double gap)
{
    const double digits = gap < 1.0 && r->at.gap < 1.0 ? log(gap) / log(r->at.gap) : 0.0;
    const double before = 1.0 - pow(0.6, r->solves), after = 1.0 - pow(0.6, r->solves + 1);
    const double now = before + fmin(digits, 1.0) * (after - before);
    return fenp_task_part(r->task, r->task ? r->task->stage : "solving", now, now);
}

/* ||f||^2, or |w|_P^P of penalty lp */
static double energy(const fenp_run *r)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < r->at.sample->n; i++)
        sum += (long double)r->out->dual[i] * r->out->scores[i];
    return fmax((double)(r->out->scale[0] * sum), 0.0);
}

static double objective(const fenp_run *r)
{
    return fenp_run_loss(r, 1.0) + r->at.lambda * energy(r);
}

fen_status fenp_run_solve(fenp_run *r, fen_error *err)
{
    double best = INFINITY, last = INFINITY, least = INFINITY;
    int waited = 0, same = 0;
    while (waited < PATIENCE && same < REPEATS) {
        const fenp_task task = sweep_task(r, best);
        const fen_status status = r->solver->sweep(r->state, &r->at, r->out, &task, err);
        const double gap = r->out->gap[0];
        if (status != FEN_OK && !fenp_is_end(status)) return status;
        if (status == FEN_OK && gap <= r->at.gap) break;
        const double now = objective(r);
        if (fenp_is_end(status)) {
            if (least < now || isnan(now)) put_back(r, &r->best);
            return status;
        }
        if (now < least) fenp_keep(r, &r->best), least = now;
        same = gap == last && gap < INFINITY ? same + 1 : 0;
        waited = gap < 0.99 * best ? 0 : waited + 1;
        best = fmin(best, gap), last = gap;
    }
    r->stalled = !(r->out->gap[0] <= r->at.gap);
    r->solves++;
    return FEN_OK;
}

/* ---- the iterate's account --------------------------------------------------------------- */

double fenp_run_norm(const fenp_run *r)
{
    return fenp_is_lp(&r->at.kernel) ? pow(energy(r), 1.0 / r->at.power) : sqrt(energy(r));
}

double fenp_run_loss(const fenp_run *r, double part)
{
    const fenp_sample *s = r->at.sample;
    long double sum = 0.0L;
    for (int64_t i = 0; i < s->n; i++)
        if (s->w[i] > 0.0)
            sum +=
                (long double)s->w[i] *
                fenp_forgiving_loss(r->at.loss, s->y[i],
                                    part * r->out->scores[i] + r->out->offset[0], 0.0, r->at.par);
    return (double)sum;
}

/* z_i, inside its domain; 0 for rows without weight */
static double z_of(const fenp_run *r, int64_t i)
{
    const fenp_sample *s = r->at.sample;
    double low, high; /* of the slope -z */
    if (s->w[i] == 0.0) return 0.0;
    r->at.loss->domain(s->y[i], r->at.par, &low, &high);
    return fmin(fmax(r->out->dual[i] / s->w[i], -high), -low);
}

double fenp_run_minus_conjugates(const fenp_run *r, double t, const double *par)
{
    const fenp_sample *s = r->at.sample;
    long double sum = 0.0L;
    for (int64_t i = 0; i < s->n; i++)
        if (s->w[i] > 0.0)
            sum -= (long double)s->w[i] * r->at.loss->conj(s->y[i], -t * z_of(r, i), par);
    return (double)sum;
}

/* ---- all of it --------------------------------------------------------------------------- */

static fen_status descend(fenp_run *r, double nu, int *reached, fen_error *err)
{
    if (nu > 0.0) return fenp_run_price(r, nu, reached, err);
    if (r->power != 2.0 && !r->solver->lp) return fenp_run_power(r, reached, err);
    const fen_status status = fenp_run_solve(r, err);
    *reached = status == FEN_OK && !r->stalled;
    return status;
}

int fenp_descend_narrow(const fenp_solver *solver, const fenp_problem *problem)
{
    static const double busy = 1e9; /* flops of a solve that threads help with */
    const fenp_sample *x = problem->sample;
    const fenp_size size = { .n = x->n,
                             .p = x->p,
                             .targets = 1,
                             .bias = problem->bias,
                             .power = problem->power,
                             .kernel = problem->kernel,
                             .route = problem->route };
    return solver->lp && solver->flops(&size) > busy ? 0 : fenp_threads_narrow(x->n);
}

fenp_size fenp_descend_size(const fenp_size *size)
{
    fenp_size one = *size;
    one.targets = 1;
    if (!fenp_is_lp(&size->kernel)) one.power = 2.0;
    return one;
}

fen_status fenp_descend(const fenp_solver *solver, void *state, const fenp_problem *problem,
                        double nu, double *par, fenp_solution *out, int *reached,
                        const fenp_task *task, fen_error *err)
{
    fenp_run r = { .solver = solver,
                   .state = state,
                   .at = *problem,
                   .lambda = problem->lambda,
                   .power = problem->power,
                   .gap = problem->gap,
                   .par = par,
                   .out = out,
                   .task = task };
    fenp_arena arena;
    *reached = 0;
    if (!(problem->power >= 1.0))
        return fenp_fail(err, FEN_BAD_CALL, "--engine %s: powers below 1 are for the direct ones",
                         solver->name);
    for (int64_t i = 0; i < problem->sample->n; i++) r.whole += problem->sample->w[i];
    if (!solver->lp) r.at.power = 2.0;
    r.at.par = par;
    fen_status status = fenp_arena_open(&arena, fenp_kept_bytes(&r), "the best answer so far", err);
    if (status != FEN_OK) return status;
    r.best = fenp_kept_open(&arena, &r);
    status = descend(&r, nu, reached, err);
    fenp_arena_close(&arena);
    return status;
}
