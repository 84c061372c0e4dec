/* descend.c -- one output by an iterative solver
 *
 * Power 2: sweeps until the solver's account of the relative gap is small enough or no longer
 * improves. Other powers and free parameters are roots over such solves (descend_power.c,
 * descend_price.c), each of which starts from the dual vector of the one before.
 * Special cases: limits and cancellation end a sweep; its iterate stays.
 * Cost: sweeps, and a few passes over the rows. */
#include <math.h>

#include "base/error.h"
#include "solver/descend_run.h"

/* Sweeps without a better gap after which there is none to be had; with the very same gap. */
enum { PATIENCE = 30, REPEATS = 3 };

/* Progress by the digits of the gap, each solve over a part of what is left. */
static fenp_task sweep_task(const fenp_run *r, double gap)
{
    const double digits = gap < 1.0 && r->at.gap < 1.0 ? log(gap) / log(r->at.gap) : 0.0;
    const double before = 1.0 - pow(0.6, r->solves), after = 1.0 - pow(0.6, r->solves + 1);
    const double now = before + fmin(digits, 1.0) * (after - before);
    return fenp_task_part(r->task, r->task ? r->task->stage : "solving", now, now);
}

fen_status fenp_run_solve(fenp_run *r, fen_error *err)
{
    double best = INFINITY, last = INFINITY;
    int waited = 0, same = 0;
    r->stalled = 0;
    while (waited < PATIENCE && same < REPEATS) {
        const fenp_task task = sweep_task(r, best);
        const fen_status status = r->solver->sweep(r->state, &r->at, r->out, &task, err);
        const double now = r->out->gap[0];
        if (status != FEN_OK) return status;
        if (now <= r->at.gap) break;
        same = now == last && now < INFINITY ? same + 1 : 0;
        waited = now < 0.99 * best ? 0 : waited + 1;
        best = fmin(best, now), last = now;
    }
    r->stalled = !(r->out->gap[0] <= r->at.gap);
    r->solves++;
    return FEN_OK;
}

/* ---- the iterate's account --------------------------------------------------------------- */

double fenp_run_norm(const fenp_run *r)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < r->at.sample->n; i++)
        sum += (long double)r->out->dual[i] * r->out->scores[i];
    return sqrt(fmax((double)(r->out->scale[0] * sum), 0.0));
}

/* An infinite loss (tube) is forgiven what the certificate forgives. */
static double loss_at(const fenp_problem *q, double y, double t)
{
    const double loss = q->loss->value(y, t, q->par);
    if (loss < INFINITY) return loss;
    const double slack = 1e-9 * (q->par[0] + fabs(y));
    return q->loss->value(y, fabs(y - t) <= slack ? y : t + copysign(slack, y - t), q->par);
}

double fenp_run_loss(const fenp_run *r, double part)
{
    const fenp_sample *s = r->at.sample;
    long double sum = 0.0L;
    for (int64_t i = 0; i < s->n; i++)
        if (s->w[i] > 0.0)
            sum += (long double)s->w[i] *
                   loss_at(&r->at, s->y[i], part * r->out->scores[i] + r->out->offset[0]);
    return (double)sum;
}

double fenp_run_z(const fenp_run *r, int64_t i)
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
            sum -= (long double)s->w[i] * r->at.loss->conj(s->y[i], -t * fenp_run_z(r, i), par);
    return (double)sum;
}

/* ---- all of it --------------------------------------------------------------------------- */

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
    *reached = 0;
    if (!(problem->power >= 1.0))
        return fenp_fail(err, FEN_BAD_CALL, "--engine %s: powers below 1 are for the direct ones",
                         solver->name);
    for (int64_t i = 0; i < problem->sample->n; i++) r.whole += problem->sample->w[i];
    r.at.power = 2.0;
    r.at.par = par;
    if (nu > 0.0) return fenp_run_price(&r, nu, reached, err);
    if (problem->power != 2.0) return fenp_run_power(&r, reached, err);
    const fen_status status = fenp_run_solve(&r, err);
    *reached = out->gap[0] <= problem->gap;
    return status;
}
