/* fit_features.c -- a fit on random features, in memory that does not grow with the rows
 *
 *     pass 1   preparation; a part of the rows, if gamma is to be chosen
 *     pass 2   features -> moments -> spectrum: every (lambda, power) in O(columns)
 *     pass 3   only where lambda or power is to be chosen by leave-one-out
 *
 * gamma: as given, 1/(mean squared distance) of all rows, or the best of a grid by exact
 *   leave-one-out of the kernel itself on a part of the rows (select.c).
 * lambda and power: as given, by rule, or the best by exact leave-one-out of the feature
 *   model on all rows (promise/left_out.c), or by GCV, which needs no pass.
 * The certificate comes from the moments; where the loss is so small that their rounding
 *   errors could be seen in it, from one more pass over the rows.
 * Cost: columns (columns + p) flops and columns/2 sines and cosines per row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/registry.h"
#include "streamed.h"

/* ---- before the first row ------------------------------------------------------------------ */

static int searches(const fen_options *o) { return strcmp(o->select, "none") != 0; }

static int searches_gamma(const fen_options *o)
{
    return o->gamma.choice == FEN_GIVEN ? o->gamma.count > 1
                                        : o->gamma.choice == FEN_AUTO && searches(o);
}

fen_status fenp_features_check(const fen_options *o, const fen_kernel *kernel, fenp_approx *approx,
                               fen_error *err)
{
    fen_status status = fenp_approx_read(o->approx, approx, err);
    if (status == FEN_OK) status = fenp_approx_check(approx, kernel, err);
    if (status != FEN_OK) return status;
    if (strcmp(o->loss, "square") != 0 && strcmp(o->loss, "auto") != 0)
        return fenp_fail(err, FEN_BAD_CALL, "--approx needs --loss square, not %s", o->loss);
    if (strcmp(o->task, "regression") != 0 && strcmp(o->task, "auto") != 0)
        return fenp_fail(err, FEN_BAD_CALL, "--approx is for regression: leave out --task %s",
                         o->task);
    if (o->nu > 0) return fenp_fail(err, FEN_BAD_CALL, "--nu does not work with --approx");
    if (strcmp(o->engine, "auto") != 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--engine %s is for exact kernels: leave it out with --approx", o->engine);
    if (fenp_folds(o))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--select %s does not work with --approx: use loo, which is exact, or gcv",
                         o->select);
    return FEN_OK;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

fen_status fenp_each_block(fenp_source *source, const fenp_prep *prep, fenp_visit visit,
                           void *state, const fenp_task *task, fen_error *err)
{
    fenp_sample *last = NULL; /* freed late: malloc would give its pages back every time */
    fen_status status = fenp_source_rewind(source, err);
    while (status == FEN_OK) {
        const fen_table *raw = NULL;
        fenp_sample *block = NULL;
        status = fenp_source_next(source, &raw, err);
        if (status != FEN_OK || !raw) break;
        status = fenp_prep_block(prep, raw, &block, err);
        if (status != FEN_OK) break;
        visit(state, block);
        fenp_sample_free(last);
        last = block;
        status = fenp_task_at(task, fenp_source_fraction(source), err);
    }
    fenp_sample_free(last);
    return status;
}

/* ---- gamma ----------------------------------------------------------------------------------- */

/* Given, by rule, or by exact leave-one-out on a part of the rows. */
static fen_status choose_gamma(fenp_job *j, const fenp_task *task, fen_error *err)
{
    fenp_size size = { .n = j->summary.rows, .p = j->prep->features, .targets = j->prep->targets };
    size.n = size.n < FENP_PART_ROWS ? size.n : FENP_PART_ROWS;
    size.bias = j->o.bias;
    if (j->part) size = fenp_size_of(j->part, &j->o);
    fen_status status =
        fenp_strategy_make(&j->o, j->kernel, fenp_find_loss(j->o.loss), &size, &j->strategy, err);
    if (status != FEN_OK) return status;
    j->chosen.kernel = (fenp_kernel){ j->kernel, { 0.0, j->o.degree, j->o.coef0, 0.0 } };
    double *gamma = &j->chosen.kernel.par.gamma;
    if (j->part) {
        status = fenp_strategy_fits(&j->strategy, &j->o, &size, err);
        if (status != FEN_OK) return status;
        return fenp_choose(j->part, &j->o, NULL, j->kernel, &j->strategy, &j->chosen, task, err);
    }
    if (j->o.gamma.choice != FEN_GIVEN)
        return fenp_gamma_by_rule(j->kernel, j->summary.spread, gamma, err);
    *gamma = j->o.gamma.at[0];
    return FEN_OK;
}

/* ---- the model ------------------------------------------------------------------------------- */

static fen_status make_model(fenp_job *j, fen_error *err)
{
    const int64_t targets = j->prep->targets;
    fen_model *m = fenp_model_new_features(j->summary.rows, j->prep->features, targets, j->approx);
    if (!m) return fenp_no_memory(err, 0, "the model");
    j->model = m;
    fenp_note_preparation(j->prep, j->summary.dropped_missing, j->summary.dropped_weightless,
                          m->note, sizeof m->note);
    m->prep = j->prep, j->prep = NULL;
    m->loss = fenp_find_loss(j->o.loss);
    m->kernel = j->chosen.kernel;
    m->tolerance = j->o.tolerance, m->bias = j->o.bias;
    m->hash = j->summary.hash, m->seed = j->o.seed;
    snprintf(m->method, sizeof m->method, "features");
    fenp_fourier_draw(&j->approx, &m->kernel, m->p, m->seed, m->frequencies);
    return FEN_OK;
}

static fen_status tangent_room(fen_model *m, fen_error *err)
{
    const int64_t bytes =
        fenp_bytes(m->targets * FENP_NODES_MAX, m->approx.columns, sizeof(double));
    if (!(m->power < 1.0)) return FEN_OK;
    m->tangents = fenp_new_zeroed(bytes, 1);
    m->tangent_count = FENP_NODES_MAX;
    return m->tangents ? FEN_OK : fenp_no_memory(err, bytes, "the certificate");
}

/* One target on its curve; *nodes: tangents it has. q: 3 columns doubles. */
static fen_status solve_target(fenp_job *j, int64_t t, double *q, int64_t *nodes, fen_error *err)
{
    fen_model *m = j->model;
    fenp_measure measure;
    fenp_root root;
    const int64_t columns = m->approx.columns;
    const fenp_curve curve = fenp_spectrum_curve(&j->spectrum, t, q, &measure);
    const fen_status status =
        fenp_curve_minimum(&curve, m->n, m->lambda, m->power, 0.1 * m->tolerance, &root, err);
    if (status != FEN_OK) return status;
    double *weights = m->feature_weights + t * columns, *work = q + columns;
    fenp_cross_weights(&j->cross, &j->spectrum, t, root.c, 2, work, weights);
    m->offset[t] = fenp_cross_offset(&j->cross, t, weights);
    m->coef_scale[t] = isinf(root.c) ? 0.0 : 1.0 / (2.0 * root.lambda2);
    *nodes = m->tangents ? root.nodes : 0;
    for (int64_t k = 0; k < *nodes; k++)
        fenp_cross_weights(&j->cross, &j->spectrum, t, exp(root.node[k]), 0, work,
                           m->tangents + (t * FENP_NODES_MAX + k) * columns);
    return FEN_OK;
}

static fen_status solve(fenp_job *j, fen_error *err)
{
    fen_model *m = j->model;
    int64_t most = 1;
    m->lambda = j->chosen.lambda, m->power = j->chosen.power;
    m->selection = j->chosen.selection;
    j->chosen.selection.grid = NULL;
    double *q = fenp_new(3 * m->approx.columns, sizeof *q);
    fen_status status = q ? tangent_room(m, err) : fenp_no_memory(err, 0, "the solution");
    for (int64_t t = 0; status == FEN_OK && t < m->targets; t++) {
        int64_t nodes;
        status = solve_target(j, t, q, &nodes, err);
        if (status == FEN_OK && nodes > most) most = nodes;
    }
    free(q);
    if (status == FEN_OK && m->tangents) fenp_model_keep_tangents(m, m->approx.columns, most);
    return status;
}

/* Sums of n squares known to a few eps of the whole: of a millionth of it nine digits. */
static int drowns(const fen_model *m)
{
    for (int64_t t = 0; t < m->targets; t++)
        if (!(m->certificate[t].primal > 1e-6 * m->certificate[t].null)) return 1;
    return 0;
}

static fen_status certify(fenp_job *j, const fenp_task *task, fen_error *err)
{
    fen_model *m = j->model;
    fen_status status = fenp_certify_cross(m, &j->cross, m->certificate, err);
    if (status == FEN_OK && drowns(m)) {
        double *digits = fenp_new(m->targets, sizeof *digits);
        status = digits ? fenp_certify_source(m, j->source, m->certificate, digits, task, err)
                        : fenp_no_memory(err, 0, "the certificate");
        free(digits);
    }
    if (status == FEN_OK) fenp_note_tie(m);
    return status;
}

/* ---- the story ------------------------------------------------------------------------------- */

int64_t fenp_features_bytes(int64_t p, int64_t columns, int64_t targets, int64_t settings)
{
    const int64_t moments = fenp_cross_bytes(columns, targets);
    const int64_t spectrum = fenp_cross_spectrum_bytes(columns, targets);
    const int64_t frequencies = fenp_bytes(columns / 2, p, sizeof(double));
    if (moments < 0 || spectrum < 0 || frequencies < 0) return -1;
    return moments + spectrum + frequencies +
           (settings > 1 ? fenp_setting_bytes(columns, targets, settings) : 0);
}

double fenp_features_flops(int64_t rows, int64_t p, int64_t columns)
{
    const double n = (double)rows, c = (double)columns;
    return n * c * (c + (double)p + 40.0) + 9.0 * c * c * c; /* a sine and a cosine: 80 */
}

static void add_block(void *state, const fenp_sample *block)
{
    fenp_job *j = state;
    fenp_cross_add(&j->cross, j->model->frequencies, block);
}

/* Passes 2 and 3. */
static fen_status fit_moments(fenp_job *j, const fenp_task *task, fen_error *err)
{
    const fenp_task mapping = fenp_task_part(task, "features", 0.0, 0.5);
    const fenp_task choosing = fenp_task_part(task, "leave-one-out scores", 0.5, 0.9);
    const fenp_task checking = fenp_task_part(task, "certificate", 0.9, 1.0);
    fen_model *m = j->model;
    const int64_t columns = m->approx.columns;
    fenp_cross_open(&j->arena, columns, m->targets, m->bias, &j->cross);
    fen_status status = fenp_each_block(j->source, m->prep, add_block, j, &mapping, err);
    if (status != FEN_OK) return status;
    if (j->cross.rows != j->summary.rows)
        return fenp_fail(err, FEN_BAD_DATA, "%s: changed while it was read",
                         fenp_source_title(j->source));
    fenp_cross_close(&j->cross);
    status = fenp_cross_spectrum(&j->arena, &j->cross, &j->spectrum, err);
    if (status == FEN_OK) status = fenp_choose_setting(j, &choosing, err);
    if (status == FEN_OK) status = solve(j, err);
    return status == FEN_OK ? certify(j, &checking, err) : status;
}

/* Two values are classes elsewhere: who asked for neither should know. */
static void note_values(fenp_job *j, const fen_options *given)
{
    char *note = j->model->note;
    const size_t used = strlen(note), room = sizeof j->model->note - used;
    if (!j->summary.two_valued || strcmp(given->task, "auto") != 0 ||
        strcmp(given->loss, "auto") != 0)
        return;
    snprintf(note + used, room,
             "%sthe target has two values: --approx takes them as numbers, without it they are "
             "classes",
             used ? "; " : "");
}

static fen_status fit(fenp_job *j, const fen_options *given, const fenp_task *task, fen_error *err)
{
    const fenp_task preparing = fenp_task_part(task, "preparation", 0.0, 0.3);
    const fenp_task narrowing = fenp_task_part(task, "choosing gamma", 0.3, 0.5);
    const fenp_task fitting =
        fenp_task_part(task, "features", searches_gamma(given) ? 0.5 : 0.3, 1.0);
    fen_status status =
        fenp_prep_learn_source(j->source, given, searches_gamma(given) ? FENP_PART_ROWS : 0,
                               &j->prep, &j->summary, &j->part, &preparing, err);
    if (status != FEN_OK) return status;
    const fenp_sample sizes = { .n = j->summary.rows,
                                .p = j->prep->features,
                                .targets = j->prep->targets,
                                .weight_sum = j->summary.weight_sum };
    status = fenp_settle_features(given, j->prep, sizes.weight_sum, &j->o, err);
    if (status == FEN_OK) status = choose_gamma(j, &narrowing, err);
    if (status != FEN_OK) return status;
    const int64_t bytes =
        fenp_features_bytes(sizes.p, j->approx.columns, sizes.targets, fenp_setting_count(j));
    status = fenp_memory_fits(&j->o, bytes, "use fewer columns in --approx", err);
    if (status == FEN_OK) status = make_model(j, err);
    if (status == FEN_OK) note_values(j, given);
    if (status == FEN_OK) status = fenp_arena_open(&j->arena, bytes, "the features", err);
    return status == FEN_OK ? fit_moments(j, &fitting, err) : status;
}

fen_status fenp_fit_features(fenp_source *source, const fen_options *o, const fenp_task *task,
                             fen_model **out, fen_error *err)
{
    const double start = fenp_now();
    fenp_job j = { .source = source, .kernel = fenp_kernel_of(o) };
    fen_status status = fenp_features_check(o, j.kernel, &j.approx, err);
    if (status == FEN_OK) status = fit(&j, o, task, err);
    fenp_arena_close(&j.arena);
    fenp_sample_free(j.part);
    fenp_prep_free(j.prep);
    free(j.chosen.selection.grid);
    if (status != FEN_OK) {
        fen_model_free(j.model);
        return status;
    }
    j.model->seconds = fenp_now() - start;
    *out = j.model;
    return FEN_OK;
}
