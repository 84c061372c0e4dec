/* fit.c -- from a table to a certified model
 *
 *     prepare -> plan -> choose gamma, lambda, power -> sweep until certified -> model
 *
 * The solver only improves its iterate; limits, progress, cancellation and the decision
 * to stop are made here, and only the independent certificate can say "optimal". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/registry.h"
#include "base/threads.h"
#include "streamed.h"

enum { MOST_SWEEPS = 5 };

static double worst_gap(const fen_model *m)
{
    double worst = 0.0;
    for (int64_t t = 0; t < m->targets; t++)
        if (!(fabs(m->certificate[t].relative_gap) <= worst))
            worst = fabs(m->certificate[t].relative_gap);
    return worst;
}

/* Sweeps until the certificate holds or no longer improves. */
static fen_status solve(fen_model *m, const fenp_sample *sample, const fenp_solver *solver,
                        const fenp_task *task, fen_error *err)
{
    const fenp_problem problem = { .sample = sample,
                                   .loss = m->loss,
                                   .kernel = m->kernel,
                                   .lambda = m->lambda,
                                   .power = m->power,
                                   .bias = m->bias,
                                   .gap = 0.1 * m->tolerance };
    const fenp_size size = { sample->n, sample->p, sample->targets, m->bias, m->power, 0 };
    const fenp_task begin = fenp_task_part(task, "solving", 0.0, 0.9);
    const fenp_task check = fenp_task_part(task, "certificate", 0.9, 1.0);
    fenp_solution solution = { .dual = m->dual,
                               .scale = m->coef_scale,
                               .offset = m->offset,
                               .weights = m->weights,
                               .tangents = m->tangents };
    fenp_arena arena;
    void *state;
    fen_status status = fenp_arena_open(&arena, solver->bytes(&size), "the kernel matrix", err);
    if (status != FEN_OK) return status;
    status = solver->begin(&arena, &problem, &state, &begin, err);
    double gap = INFINITY;
    for (int sweep = 0; status == FEN_OK && sweep < MOST_SWEEPS; sweep++) {
        status = solver->sweep(state, &problem, &solution, &begin, err);
        if (status == FEN_OK) status = fenp_certify(m, sample, m->certificate, &check, err);
        if (status != FEN_OK || worst_gap(m) <= m->tolerance || !(worst_gap(m) < 0.5 * gap)) break;
        gap = worst_gap(m);
    }
    fenp_arena_close(&arena);
    snprintf(m->method, sizeof m->method, "%s", solver->name);
    return status;
}

/* ---- powers below 1 ------------------------------------------------------------------- */

int64_t fenp_tangent_bytes(const fenp_size *size)
{
    return size->power < 1.0 ? FENP_NODES_MAX * size->n * size->targets * (int64_t)sizeof(double)
                             : 0;
}

static int is_zero(const double *row, int64_t n)
{
    int64_t i = 0;
    while (i < n && row[i] == 0.0) i++;
    return i == n;
}

/* Keeps as many dual vectors of every target as the target with the most of them has. */
static void pack_tangents(fen_model *m)
{
    int64_t most = 1;
    if (!m->tangents) return;
    for (int64_t t = 0; t < m->targets; t++)
        for (int64_t k = most; k < m->tangent_count; k++)
            if (!is_zero(m->tangents + (t * m->tangent_count + k) * m->n, m->n)) most = k + 1;
    fenp_model_keep_tangents(m, m->n, most);
}

/* Two minima of the same height: the answer is one of them. */
void fenp_note_tie(fen_model *m)
{
    const size_t used = strlen(m->note);
    for (int64_t t = 0; m->power <= 1.0 && t < m->targets; t++) {
        const fen_certificate *c = &m->certificate[t];
        if (c->norm == 0.0 || !(fabs(c->primal - c->null) <= m->tolerance * c->null)) continue;
        snprintf(m->note + used, sizeof m->note - used,
                 "%sa tie: the constant function does as well", used ? "; " : "");
        return;
    }
}

/* ---- the model ---------------------------------------------------------------------------- */

void fenp_note_preparation(const fenp_prep *prep, int64_t rows_without_target,
                           int64_t rows_without_weight, char *out, size_t room)
{
    int64_t constant = 0, text = 0, gaps = 0;
    for (int64_t j = 0; j < prep->inputs; j++) {
        constant += prep->input[j].constant;
        text += prep->input[j].text && !prep->input[j].constant;
        gaps += prep->input[j].gaps != 0;
    }
    const struct {
        int64_t count;
        const char *what, *happened;
    } facts[] = {
        { rows_without_target, "row", " without a target left out" },
        { rows_without_weight, "row", " without weight left out" },
        { constant, "constant column", " left out" },
        { text, "text column", " made into 0/1 features" },
        { gaps, "column", " with gaps filled by the mean and marked" },
    };
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].count && used < room)
            used += (size_t)snprintf(out + used, room - used, "%s%lld %s%s%s", used ? "; " : "",
                                     (long long)facts[i].count, facts[i].what,
                                     facts[i].count > 1 ? "s" : "", facts[i].happened);
}

/* A model with room for an answer to the objective that the arguments state; NULL: no memory. */
static fen_model *blank(const fenp_sample *sample, const fenp_kernel *kernel, const fen_loss *loss,
                        double lambda, double power, double tolerance, int bias)
{
    const fenp_size size = { sample->n, sample->p, sample->targets, bias, power, 0 };
    const int64_t tangents = fenp_tangent_bytes(&size);
    const int linear = kernel->table->linear;
    fen_model *m = fenp_model_new(sample->n, sample->p, sample->targets);
    if (!m) return NULL;
    m->loss = loss, m->kernel = *kernel;
    m->lambda = lambda, m->power = power, m->tolerance = tolerance, m->bias = bias;
    if (linear) m->weights = fenp_new_zeroed(sample->p, m->targets * (int64_t)sizeof(double));
    if (tangents) m->tangents = fenp_new_zeroed(tangents, 1);
    m->tangent_count = tangents ? FENP_NODES_MAX : 0;
    if ((!linear || m->weights) && (!tangents || m->tangents)) return m;
    fen_model_free(m);
    return NULL;
}

/* A second solver for what the first one left unproved; the better answer stays. That the
 * second one cannot do it, or not in time, is no failure: there is the first one's. */
static fen_status rescue(fen_model **m, const fenp_sample *sample, const fenp_solver *solver,
                         const fenp_task *task, fen_error *err)
{
    fen_model *first = *m, *second = blank(sample, &first->kernel, first->loss, first->lambda,
                                           first->power, first->tolerance, first->bias);
    if (!second) return FEN_OK;
    const fen_status status = solve(second, sample, solver, task, err);
    if (status == FEN_OK && !(worst_gap(first) <= worst_gap(second))) { /* or is not a number */
        second->prep = first->prep, first->prep = NULL;
        second->selection = first->selection, first->selection.grid = NULL;
        second->hash = first->hash;
        memcpy(second->note, first->note, sizeof second->note);
        *m = second, second = first;
    }
    fen_model_free(second);
    return status == FEN_STOPPED ? status : FEN_OK;
}

/* A model that cannot predict is not one. */
static fen_status check_finite(const fen_model *m, fen_error *err)
{
    for (int64_t t = 0; t < m->targets; t++)
        if (!isfinite(m->certificate[t].primal) || !isfinite(m->coef_scale[t]))
            return fenp_fail(err, FEN_BAD_CALL,
                             "--engine %s breaks down: with this lambda the shrinkage is below "
                             "its rounding errors; use a larger one, or --engine spectral",
                             m->method);
    return FEN_OK;
}

/* The model takes over what it keeps: preparation, inputs, selection. */
static fen_status build(fenp_prep **prep, fenp_sample *sample, const fen_options *o,
                        fenp_chosen *chosen, fen_model **out, fen_error *err)
{
    fen_model *m = blank(sample, &chosen->kernel, fenp_find_loss(o->loss), chosen->lambda,
                         chosen->power, o->tolerance, o->bias);
    if (!m)
        return fenp_no_memory(err, fenp_bytes(sample->n, sample->targets, sizeof(double)),
                              "the model");
    fenp_note_preparation(*prep, sample->dropped_missing, sample->dropped_weightless, m->note,
                          sizeof m->note);
    m->prep = *prep, *prep = NULL;
    m->hash = sample->hash;
    m->selection = chosen->selection, chosen->selection = (fenp_selection){ .kind = "" };
    *out = m;
    return FEN_OK;
}

static fen_status fit_sample(fenp_prep **prep, fenp_sample *sample, const fen_options *given,
                             const fenp_task *task, fen_model **out, fen_error *err)
{
    const double start = fenp_now();
    fen_options settled;
    fen_status status = fenp_settle(given, sample, &settled, err);
    if (status != FEN_OK) return status;
    const fen_options *o = &settled;
    const fen_kernel *kernel = fenp_find_kernel(o->kernel);
    const fenp_size size = fenp_size_of(sample, o);
    fenp_strategy plan;
    fenp_chosen chosen = { 0 };
    fen_model *m = NULL;
    status = fenp_strategy_make(o, kernel, fenp_find_loss(o->loss), &size, &plan, err);
    if (status == FEN_OK) status = fenp_strategy_fits(&plan, o, &size, err);
    if (status == FEN_OK) status = fenp_check_kernel(kernel, sample, err);
    if (status != FEN_OK) return status;
    const double last = plan.solver->flops(&size) / plan.flops; /* share of the final fit */
    const fenp_task choosing = fenp_task_part(task, "selection", 0.0, 1.0 - last);
    const fenp_task solving = fenp_task_part(task, "solving", 1.0 - last, 1.0);
    status = fenp_choose(sample, o, kernel, &plan, &chosen, &choosing, err);
    if (status == FEN_OK) status = build(prep, sample, o, &chosen, &m, err);
    if (status == FEN_OK) status = solve(m, sample, plan.solver, &solving, err);
    if (status == FEN_OK && plan.rescue && !(worst_gap(m) <= m->tolerance))
        status = rescue(&m, sample, plan.rescue, &solving, err);
    if (status == FEN_OK) status = check_finite(m, err);
    free(chosen.selection.grid);
    if (status != FEN_OK) {
        fen_model_free(m);
        return status;
    }
    if (!m->weights && kernel->basis != FEN_PRECOMPUTED) m->inputs = sample->x, sample->x = NULL;
    pack_tangents(m);
    fenp_note_tie(m);
    m->seconds = fenp_now() - start;
    *out = m;
    return FEN_OK;
}

static fen_status fit_exact(const fen_table *table, const fen_options *o, const fenp_task *task,
                            fen_model **out, fen_error *err)
{
    fenp_prep *prep = NULL;
    fenp_sample *sample = NULL;
    fen_status status = fenp_prep_learn(table, o, &prep, &sample, err);
    if (status != FEN_OK) return status;
    status = fit_sample(&prep, sample, o, task, out, err);
    fenp_sample_free(sample);
    fenp_prep_free(prep);
    return status;
}

/* From a table or, with random features, from a source. */
static fen_status fit_rows(const fen_table *table, fenp_source *source, const fen_options *o,
                           const fen_host *host, fen_model **out, fen_error *err)
{
    const fenp_threads before = fenp_threads_enter(o->threads);
    const fenp_task task = fenp_task_start(host, o->time_limit_seconds);
    const fen_status status = source ? fenp_fit_features(source, o, &task, out, err)
                                     : fit_exact(table, o, &task, out, err);
    fenp_threads_leave(before);
    return status;
}

static int approximates(const fen_options *o) { return strcmp(o->approx, "none") != 0; }

fen_status fen_fit(const fen_table *table, const fen_options *o, const fen_host *host,
                   fen_model **out, fen_error *err)
{
    fenp_source *source = NULL;
    fen_status status = fen_options_check(o, err);
    if (status == FEN_OK && approximates(o)) status = fenp_source_table(table, &source, err);
    if (status == FEN_OK) status = fit_rows(table, source, o, host, out, err);
    fenp_source_close(source);
    return status;
}

fen_status fen_fit_file(const char *path, const fen_options *o, const fen_host *host,
                        fen_model **out, fen_error *err)
{
    fenp_source *source = NULL;
    fen_table *table = NULL;
    fenp_share reading, fitting;
    fen_status status = fen_options_check(o, err);
    if (status != FEN_OK) return status;
    fenp_share_open(&reading, host, 0.0, 0.1);
    fenp_share_open(&fitting, host, approximates(o) ? 0.0 : 0.1, 1.0);
    status = approximates(o) ? fenp_source_file(path, o, &source, err)
                             : fen_table_read(path, o, &reading.own, &table, err);
    if (status == FEN_OK) status = fit_rows(table, source, o, &fitting.own, out, err);
    fenp_source_close(source);
    fen_table_free(table);
    return status;
}
