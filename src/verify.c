/* verify.c -- does a stored model hold against the rows it claims to come from?
 *
 * The certificate is computed once more (certify.c); the preparation is learned once more;
 * the numbers in the file must be those that come out. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/registry.h"
#include "base/threads.h"
#include "data/columns.h"
#include "story.h"

static int close_to(double a, double b, double unit) { return fabs(a - b) <= 1e-7 * unit; }

/* The stored numbers must come out again: a changed array moves them even where the gap,
 * which is of second order, forgives it. The norm counts by its share of the objective: at
 * tiny lambda its digits depend on the machine, and nothing else does. */
static int reproduces(const fen_model *m, int64_t t, const fen_certificate *now, double unit)
{
    const fen_certificate *stored = &m->certificate[t];
    const fen_penalty *penalty = fenp_find_penalty("power");
    const double norms[] = { penalty->value(stored->norm, m->power),
                             penalty->value(now->norm, m->power) };
    return close_to(stored->primal, now->primal, unit) && close_to(stored->dual, now->dual, unit) &&
           close_to(stored->mean_loss, now->mean_loss, unit) &&
           close_to(stored->gap, stored->primal - stored->dual, unit) &&
           close_to(stored->relative_gap * unit, stored->gap, unit) &&
           close_to(stored->null, now->null, now->null) &&
           close_to(m->lambda * norms[0], m->lambda * norms[1], unit) &&
           now->stationarity <= 10.0 * stored->stationarity + 1e-7 &&
           stored->stationarity <= 10.0 * now->stationarity + 1e-7 &&
           stored->verdict == now->verdict;
}

/* The chosen gamma, lambda and power must be the best line of the stored grid. */
static int selection_agrees(const fen_model *m)
{
    const fenp_selection *s = &m->selection;
    const fenp_score *best = NULL;
    for (int64_t i = 0; i < s->count; i++)
        if (!best || !(best->score <= s->grid[i].score)) best = &s->grid[i];
    return !best || (close_to(best->score, s->score, fabs(s->score)) &&
                     close_to(best->lambda, m->lambda, m->lambda) && best->power == m->power &&
                     close_to(best->gamma, m->kernel.par.gamma, fabs(m->kernel.par.gamma)));
}

static int same_inputs(const fen_model *m, const fenp_sample *sample)
{
    if (!m->inputs) return 1;
    for (int64_t i = 0; i < m->n * m->p; i++)
        if (!(fabs(m->inputs[i] - sample->x[i]) <= 1e-9 * (1.0 + fabs(sample->x[i])))) return 0;
    return 1;
}

/* What speaks against the certificate of one target; NULL: nothing. */
static const char *objection(const fen_model *m, int64_t t, const fen_certificate *now,
                             double digits, double tolerance)
{
    if (!m->bias && m->offset[t] != 0.0) return "there is an offset in a model without bias";
    if (!(fabs(now->relative_gap) <= tolerance)) return "the relative gap is above the tolerance";
    if (!reproduces(m, t, now, fenp_gap_unit(now, digits)))
        return "the stored certificate does not come out again";
    return NULL;
}

fen_status fen_verify(const fen_model *m, const fen_table *table, const fen_options *o,
                      const fen_host *host, fen_certificate *out, int *holds, fen_error *err)
{
    fenp_sample *sample = NULL;
    int prepared = 0;
    fen_status status = fenp_prep_sample(m->prep, table, &sample, err);
    if (status != FEN_OK) return status;
    if (sample->n != m->n || sample->hash != m->hash) {
        fenp_sample_free(sample);
        return fenp_fail(err, FEN_BAD_DATA,
                         "%s: not the rows this model was trained on "
                         "(%lld rows, fingerprint %016llx expected)",
                         fenp_table_title(table), (long long)m->n, (unsigned long long)m->hash);
    }
    const fenp_threads before = fenp_threads_enter(o ? o->threads : 0);
    const fenp_task whole = fenp_task_start(host, o ? o->time_limit_seconds : 0.0);
    const fenp_task task = fenp_task_part(&whole, "certificate", 0.0, 1.0);
    fen_certificate *now = fenp_new(m->targets, sizeof *now);
    status = now ? fenp_check_kernel(m->kernel.table, sample, err)
                 : fenp_no_memory(err, m->targets * (int64_t)sizeof *now, "the certificate");
    if (status == FEN_OK) status = fenp_certify(m, sample, now, &task, err);
    if (status == FEN_OK) status = fenp_prep_check(m->prep, table, &prepared, err);
    if (status == FEN_OK) {
        const char *why = !prepared ? "the preparation does not follow from the rows"
                          : !same_inputs(m, sample) ? "the stored inputs are not the prepared rows"
                          : !selection_agrees(m)
                              ? "gamma, lambda and power are not the best of the stored table"
                              : NULL;
        for (int64_t t = 0; t < m->targets; t++) {
            const double digits =
                fenp_last_digits(m->loss, sample->y + t * sample->n, sample->w, sample->n);
            if (!why) why = objection(m, t, &now[t], digits, o ? o->tolerance : m->tolerance);
            out[t] = now[t];
        }
        *holds = why == NULL;
        if (why) fenp_fail(err, FEN_OK, "%s", why);
    }
    fenp_threads_leave(before);
    free(now);
    fenp_sample_free(sample);
    return status;
}
