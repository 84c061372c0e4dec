/* fit.c -- from a table to a certified model
 *
 *     prepare -> settle -> plan -> choose gamma, lambda, power -> solve until certified -> model
 *
 * Solvers only improve their iterate; limits, progress, cancellation and the decision to stop
 * are made in fit_solve.c, and only the independent certificate can say "optimal". Penalties on
 * coefficients: fit_linear.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/registry.h"
#include "base/threads.h"
#include "fit_rounds.h"
#include "loss/traits.h"
#include "model/ready.h"
#include "promise/calibrate.h"
#include "story_lp.h"
#include "streamed.h"

/* ---- powers below 1 ---------------------------------------------------------------------- */

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

/* ---- the model --------------------------------------------------------------------------- */

/* A model with room for an answer to the objective that the arguments state; NULL: no memory.
 * It takes over outputs and class weights. */
static fen_model *blank(const fenp_sample *sample, fenp_settled *settled, const fenp_chosen *chosen)
{
    const fen_options *o = &settled->o;
    const fenp_size size = { .n = sample->n,
                             .p = sample->p,
                             .targets = sample->targets,
                             .bias = o->bias,
                             .power = chosen->power };
    const int64_t tangents = fenp_tangent_bytes(&size);
    const int linear = chosen->kernel.table->linear;
    fen_model *m = fenp_model_new(sample->n, sample->p, sample->targets);
    if (!m) return NULL;
    m->loss = fenp_find_loss(o->loss), m->kernel = chosen->kernel, m->nu = o->nu;
    m->lambda = chosen->lambda, m->power = chosen->power, m->tolerance = o->tolerance;
    m->bias = o->bias;
    if (fenp_is_lp(&chosen->kernel)) m->penalty = fenp_find_penalty("lp");
    if (linear) m->weights = fenp_new_zeroed(sample->p, m->targets * (int64_t)sizeof(double));
    if (tangents) m->tangents = fenp_new_zeroed(tangents, 1);
    m->tangent_count = tangents ? FENP_NODES_MAX : 0;
    if ((linear && !m->weights) || (tangents && !m->tangents)) {
        fen_model_free(m);
        return NULL;
    }
    free(m->output);
    m->output = settled->output, settled->output = NULL;
    m->class_weights = settled->class_weights, settled->class_weights = NULL;
    return m;
}

static void swap(void *a, void *b, size_t size)
{
    char kept[sizeof(fenp_selection)];
    memcpy(kept, a, size);
    memcpy(a, b, size);
    memcpy(b, kept, size);
}

/* A second solver for what the first one left unproved; the better answer stays. That the
 * second one cannot do it, or not in time, is no failure: there is the first one's. */
static fen_status rescue(fen_model **m, const fenp_sample *sample, const fen_options *o,
                         const fenp_strategy *plan, const fenp_task *task, fen_error *err)
{
    fen_model *first = *m;
    const fenp_chosen same = { first->kernel, first->lambda, first->power, { .kind = "" }, 0 };
    fenp_settled settled = { .o = *o, .output = fenp_new(first->targets, sizeof *settled.output) };
    if (!settled.output) return FEN_OK;
    memcpy(settled.output, first->output, (size_t)first->targets * sizeof *settled.output);
    fen_model *second = blank(sample, &settled, &same);
    fenp_settled_free(&settled);
    if (!second) return FEN_OK;
    const fen_status status = fenp_solve(second, sample, plan->rescue, plan, task, err);
    if (status == FEN_OK && !(fenp_worst_gap(first) <= fenp_worst_gap(second))) { /* or is NaN */
        swap(&second->prep, &first->prep, sizeof second->prep);
        swap(&second->selection, &first->selection, sizeof second->selection);
        swap(&second->class_weights, &first->class_weights, sizeof second->class_weights);
        second->hash = first->hash;
        memcpy(second->note, first->note, sizeof second->note);
        *m = second, second = first;
    }
    fen_model_free(second);
    return status == FEN_STOPPED ? status : FEN_OK;
}

/* A model that cannot predict is not one. (A tube that nothing fits into costs infinity.) */
static fen_status check_finite(const fen_model *m, fen_error *err)
{
    for (int64_t t = 0; t < m->targets; t++)
        if (isnan(m->certificate[t].primal) || !isfinite(m->certificate[t].norm) ||
            !isfinite(m->coef_scale[t]))
            return fenp_fail(err, FEN_BAD_CALL,
                             "--engine %s breaks down: with this lambda the shrinkage is below "
                             "its rounding errors; use a larger one%s",
                             m->method, fenp_model_is_lp(m) ? "" : ", or --engine spectral");
    return FEN_OK;
}

/* The model takes over what it keeps: preparation, outputs, selection. */
static fen_status build(fenp_prep **prep, fenp_sample *sample, fenp_settled *settled,
                        fenp_chosen *chosen, fen_model **out, fen_error *err)
{
    fen_model *m = blank(sample, settled, chosen);
    if (!m)
        return fenp_no_memory(err, fenp_bytes(sample->n, sample->targets, sizeof(double)),
                              "the model");
    fenp_note_preparation(*prep, sample->dropped_missing, sample->dropped_weightless, m->note,
                          sizeof m->note);
    m->prep = *prep, *prep = NULL;
    m->hash = sample->hash;
    m->selection = chosen->selection, chosen->selection = (fenp_selection){ .kind = "" };
    fenp_note_labels(m, sample);
    if (settled->no_coef0) fenp_note_products(m);
    if (chosen->cut) fenp_note_cut(m);
    if (settled->idle) fenp_note_idle(m, settled->o.select);
    *out = m;
    return FEN_OK;
}

/* What classes want besides scores: probabilities, and how many are right (by those, if there
 * are any). A fit that was ended has no time for the former. */
static fen_status judge_classes(fen_model *m, const fenp_sample *sample, const fen_options *o,
                                const fenp_strategy *plan, const fenp_task *task, fen_error *err)
{
    const int over = fenp_was_ended(m);
    fen_status status = FEN_OK;
    if (fenp_wants_sigmoids(o, m->loss) && !over) {
        m->seed = o->seed;
        status = fenp_sigmoids(m, sample, plan->solver, m->output, task, err);
    }
    return status == FEN_OK ? fenp_model_train_error(m, sample, over ? NULL : task, err) : status;
}

fen_status fenp_sigmoids(const fen_model *m, const fenp_sample *sample, const fenp_solver *solver,
                         fenp_output *out, const fenp_task *task, fen_error *err)
{
    fenp_problem problem = { .sample = sample,
                             .loss = m->loss,
                             .kernel = m->kernel,
                             .lambda = m->lambda,
                             .power = m->power,
                             .bias = m->bias,
                             .gap = m->tolerance };
    if (fenp_model_is_lp(m)) problem.route = "auto"; /* verify knows no other */
    const fenp_refits how = { .solver = solver,
                              .outputs = m->output,
                              .nu = m->nu,
                              .folds = FENP_SIGMOID_FOLDS,
                              .seed = m->seed };
    return fenp_calibrate(&problem, &how, out, task, err);
}

/* A model whose predictions are not those of its function f, of that size, to three digits is none;
 * unless nobody sees that beside the labels. */
static fen_status check_predictions(const fen_model *m, const fenp_sample *sample, double size,
                                    fen_error *err)
{
    static const double LARGEST = 1e-3, UNSEEN = 1e-9;
    const int by_gamma = m->kernel.table->uses_gamma;
    double allowed = LARGEST * size;
    char now[64];
    for (int64_t i = 0; i < m->targets * m->n; i++)
        allowed = fmax(allowed, UNSEEN * fabs(sample->y[i]));
    if (!(m->prediction_error > allowed)) return FEN_OK;
    if (by_gamma)
        snprintf(now, sizeof now, "--gamma %.3g", m->kernel.par.gamma);
    else
        snprintf(now, sizeof now, "--degree %.0f", m->kernel.par.degree);
    return fenp_fail(err, FEN_BAD_CALL,
                     "with %s kernel values of these rows are so far apart that predictions would "
                     "be off by %.2g; use a %s",
                     now, m->prediction_error,
                     by_gamma ? "smaller one, or --gamma auto" : "lower one");
}

/* What predictions need of the training rows, and (lp) what they may be wrong by. A fit that was
 * ended still has to be able to predict. */
static fen_status keep_support(fen_model *m, const fenp_sample *sample, const fenp_strategy *plan,
                               const fenp_task *task, fen_error *err)
{
    const fenp_task *watch = fenp_was_ended(m) ? NULL : task;
    double size;
    if (!plan->solver->iterative) return FEN_OK;
    fen_status status = fenp_model_pack_support(m, sample->x, err);
    if (status == FEN_OK) status = fenp_model_find_pivots(m, sample->x, watch, err);
    if (status != FEN_OK || !plan->solver->lp) return status;
    double *inputs = m->inputs;
    if (!inputs) m->inputs = sample->x; /* lent */
    status = fenp_prediction_error(m, fenp_sample_inputs(sample), &m->prediction_error, &size,
                                   watch, err);
    m->inputs = inputs;
    for (int64_t t = 0; t < m->targets; t++)
        m->certificate[t].optimum_distance += m->prediction_error;
    return status == FEN_OK ? check_predictions(m, sample, size, err) : status;
}

/* All of them, where all are needed. */
static fen_status keep_inputs(fen_model *m, fenp_sample *sample, fen_error *err)
{
    const fen_status status = fenp_model_find_deviations(m, sample, err);
    if (status != FEN_OK) return status;
    if (!m->weights && !m->inputs && m->kernel.table->basis != FEN_PRECOMPUTED)
        m->inputs = sample->x, sample->x = NULL;
    pack_tangents(m);
    fenp_note_tie(m);
    return FEN_OK;
}

static const double SLOWER = 3.0; /* than planned: others may use the machine, too */

/* Besides, a form (lp) takes its time to open, once for the selection and once for the fit: where
 * there is no time for both, there is no selection. */
static double kept_for_fit(const fenp_strategy *plan, double left)
{
    const double share = FENP_FIT_SHARE * left;
    if (!plan->solver->lp || left <= 0.0) return share;
    const double opening = SLOWER * fenp_lp_opening(&plan->size) / fenp_measured_rate();
    return 2.0 * opening + share > left ? left : opening + share;
}

static fen_status fit_settled(fenp_prep **prep, fenp_sample *sample, fenp_settled *settled,
                              const fenp_task *task, fen_model **out, fen_error *err)
{
    const double start = fenp_now();
    const fen_options *o = &settled->o;
    const fen_kernel *kernel = fenp_find_kernel(o->kernel);
    const fenp_size size = fenp_size_of(sample, o);
    fenp_strategy plan;
    fenp_chosen chosen = { 0 };
    fen_model *m = NULL;
    fen_status status = fenp_strategy_make(o, kernel, fenp_find_loss(o->loss), &size, &plan, err);
    if (status == FEN_OK) status = fenp_strategy_fits(&plan, o, &size, err);
    if (status == FEN_OK) status = fenp_check_kernel(kernel, sample, err);
    if (status != FEN_OK) return status;
    const double last = fenp_solving_flops(&plan, o, &size) / plan.flops; /* share of the end */
    fenp_task choosing = fenp_task_part(task, "selection", 0.0, 1.0 - last);
    if (plan.refits && choosing.deadline > 0.0) /* an iterative fit makes use of what is left */
        choosing.deadline -= kept_for_fit(&plan, choosing.deadline - start);
    const fenp_task solving = fenp_task_part(task, "solving", 1.0 - last, 1.0);
    status = fenp_choose(sample, o, settled->output, kernel, &plan, &chosen, &choosing, err);
    if (status == FEN_OK) status = build(prep, sample, settled, &chosen, &m, err);
    if (status == FEN_OK) status = fenp_solve(m, sample, plan.solver, &plan, &solving, err);
    if (status == FEN_OK && plan.rescue && !(fenp_worst_gap(m) <= m->tolerance))
        status = rescue(&m, sample, o, &plan, &solving, err);
    if (status == FEN_OK) status = check_finite(m, err);
    if (status == FEN_OK && chosen.cut) fenp_mark_cut(m);
    if (status == FEN_OK) status = keep_support(m, sample, &plan, &solving, err);
    if (status == FEN_OK) status = judge_classes(m, sample, o, &plan, &solving, err);
    if (status == FEN_OK) status = keep_inputs(m, sample, err);
    free(chosen.selection.grid);
    if (status != FEN_OK) {
        fen_model_free(m);
        return status;
    }
    m->ready = fenp_ready_new(m);
    m->seconds = fenp_now() - start;
    *out = m;
    return FEN_OK;
}

static fen_status fit_exact(const fen_table *table, const fen_options *o, const fenp_task *task,
                            fen_model **out, fen_error *err)
{
    fenp_prep *prep = NULL;
    fenp_sample *sample = NULL;
    fenp_settled settled = { 0 };
    fen_status status = fenp_prep_learn(table, o, &prep, &sample, err);
    if (status != FEN_OK) return status;
    status = fenp_settle(o, prep, sample, &settled, err);
    if (status == FEN_OK)
        status = fenp_on_coefficients(o) ? fenp_fit_linear(&prep, sample, &settled, task, out, err)
                                         : fit_settled(&prep, sample, &settled, task, out, err);
    fenp_settled_free(&settled);
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
