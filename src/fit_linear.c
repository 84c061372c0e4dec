/* fit_linear.c -- from a sample to a certified model: penalties on coefficients
 *
 *     setup -> choose lambda -> solve every output until certified -> model
 *
 * Without a penalty the square loss goes to QR (rank, aliased columns), all else to the working
 * sets of solver/linear.h, in rounds (fit_rounds.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "fit_rounds.h"
#include "loss/traits.h"
#include "penalty/traits.h"
#include "promise/calibrate.h"
#include "solver/least_squares.h"

typedef struct drive {
    fen_model *m;
    fenp_setup *setup;
    const fenp_sample *sample;
    double *beta; /* targets x columns of the design */
    int sigmoids; /* are asked for                   */
} drive;

/* ---- the model --------------------------------------------------------------------------- */

/* Room for the coefficients: weights of features, or terms of rows. */
static fen_model *blank(const fenp_sample *sample, const fenp_setup *setup)
{
    fen_model *m = fenp_model_new(sample->n, sample->p, sample->targets);
    if (!m) return NULL;
    double **room = setup->kernel.table->linear ? &m->weights : &m->terms;
    *room = fenp_new_zeroed(fenp_bytes(sample->targets, setup->x.p, sizeof(double)), 1);
    if (*room) return m;
    fen_model_free(m);
    return NULL;
}

/* The model takes over what it keeps: preparation, outputs, groups, selection. */
static fen_status build(fenp_prep **prep, const fenp_sample *sample, fenp_settled *settled,
                        fenp_setup *setup, fenp_chosen *chosen, fen_model **out, fen_error *err)
{
    const fen_options *o = &settled->o;
    fen_model *m = blank(sample, setup);
    if (!m)
        return fenp_no_memory(err, fenp_bytes(sample->n + setup->x.p, sample->targets, 8),
                              "the model");
    m->loss = fenp_find_loss(o->loss), m->kernel = setup->kernel;
    m->penalty = settled->penalty.penalty, m->mix = settled->penalty.par;
    snprintf(m->penalty_text, sizeof m->penalty_text, "%s", o->penalty);
    m->lambda = fenp_is_none(m->penalty) ? 0.0 : chosen->lambda, m->power = 2.0,
    m->tolerance = o->tolerance;
    m->bias = o->bias, m->nonnegative = o->nonnegative, m->copies = setup->x.copies;
    m->groups = setup->groups, setup->groups = (fenp_groups){ .count = 0 };
    memcpy(m->output, settled->output, (size_t)m->targets * sizeof *m->output);
    m->class_weights = settled->class_weights, settled->class_weights = NULL;
    for (int64_t k = 0; k < setup->count; k++) {
        setup->problem[k].groups = &m->groups;
        setup->problem[k].par = &m->output[k * m->copies].par;
    }
    for (int64_t t = 0; t < m->targets; t++) m->coef_scale[t] = 1.0;
    fenp_note_preparation(*prep, sample->dropped_missing, sample->dropped_weightless, m->note,
                          sizeof m->note);
    m->prep = *prep, *prep = NULL;
    m->hash = sample->hash, m->seed = o->seed;
    snprintf(m->method, sizeof m->method, "constant"); /* until a solver has done something */
    m->selection = chosen->selection, chosen->selection = (fenp_selection){ .kind = "" };
    fenp_note_labels(m, sample);
    if (chosen->cut) fenp_note_cut(m);
    if (settled->idle) fenp_note_idle(m, o->select);
    *out = m;
    return FEN_OK;
}

/* ---- no penalty, square loss: QR ----------------------------------------------------------- */

/* A level that no row has is no column. */
static fen_status keep_aliased(fen_model *m, int64_t *aliased, fen_error *err)
{
    for (int64_t j = 0; m->deviation && j < m->p; j++) aliased[j] &= m->deviation[j] > 0.0;
    int64_t count = 0;
    for (int64_t j = 0; j < m->p; j++) count += aliased[j] != 0;
    if (count == 0) return FEN_OK;
    m->aliased = fenp_new(count, sizeof *m->aliased);
    if (!m->aliased) return fenp_no_memory(err, 8 * count, "the aliased columns");
    for (int64_t j = 0; j < m->p; j++)
        if (aliased[j]) m->aliased[m->aliased_count++] = j;
    return FEN_OK;
}

static fen_status solve_least_squares(drive *d, const fenp_task *task, fen_error *err)
{
    fen_model *m = d->m;
    fenp_least_squares facts = { .aliased = fenp_new_zeroed(m->p, sizeof *facts.aliased) };
    fenp_linear problem = d->setup->problem[0];
    if (!facts.aliased) return fenp_no_memory(err, 8 * m->p, "the columns");
    problem.w = d->sample->w;
    fen_status status = fenp_least_squares_solve(&problem, m->targets, d->beta, m->offset, m->dual,
                                                 &facts, task, err);
    if (status == FEN_OK) status = keep_aliased(m, facts.aliased, err);
    free(facts.aliased);
    if (status != FEN_OK) return status;
    m->rank = facts.rank, m->condition = facts.condition;
    snprintf(m->method, sizeof m->method, "qr");
    return FEN_OK;
}

static void forget_rank(fen_model *m)
{
    free(m->aliased), m->aliased = NULL;
    m->aliased_count = 0, m->rank = -1, m->condition = NAN;
}

/* Pairs of classes have rows of their own each; signs of coefficients are no matter of QR. */
static int may_take_qr(const fen_model *m)
{
    const int pairs = m->prep->class_count > 2 && m->output[0].minus >= 0;
    return fenp_is_none(m->penalty) && !m->nonnegative && !pairs;
}

static int takes_qr(const fen_model *m) { return may_take_qr(m) && fenp_is_square(m->loss); }

/* ---- no penalty, another loss, as many columns as rows: every label may be met ---------------- */

static int may_meet_labels(const drive *d)
{
    return may_take_qr(d->m) && !takes_qr(d->m) && d->setup->x.p + d->m->bias >= d->m->n &&
           strcmp(d->setup->problem[0].engine, "auto") == 0;
}

/* Are the scores of all rows their labels, but for rounding errors? 0 also where there is no memory
 * for them. */
static int meets_labels(const drive *d)
{
    static const double NEARLY = 1e-10;
    const fen_model *m = d->m;
    double *f = fenp_new(m->n, sizeof *f), most = 0.0, off = f ? 0.0 : INFINITY;
    for (int64_t t = 0; f && t < m->targets; t++) {
        fenp_design_scores(&d->setup->x, d->beta + t * d->setup->x.p, f);
        for (int64_t i = 0; i < m->n; i++) {
            const double y = d->sample->y[t * m->n + i];
            most = fmax(most, fabs(y)), off = fmax(off, fabs(y - f[i] - m->offset[t]));
        }
    }
    free(f);
    return off <= NEARLY * most;
}

/* Margins of 1 become a little more, whose loss is 0; there is no best logistic loss, but one that
 * is next to nothing. */
static void widen_margins(const drive *d)
{
    fen_model *m = d->m;
    const double by = fenp_tells_odds(m->loss) ? 20.0 : 1.0 + 1e-8;
    for (int64_t k = 0; k < m->targets * d->setup->x.p; k++) d->beta[k] *= by;
    for (int64_t t = 0; t < m->targets; t++) m->offset[t] *= by;
}

/* By least squares, whose coefficients are the shortest; u = 0 says that no loss is below 0. *met 0:
 * labels are not to be met, and the model is as it was. */
static fen_status meet_labels(drive *d, int *met, const fenp_task *task, fen_error *err)
{
    fen_model *m = d->m;
    fen_status status = solve_least_squares(d, task, err);
    if (status == FEN_OK) *met = meets_labels(d);
    memset(m->dual, 0, (size_t)(m->targets * m->n) * sizeof(double));
    forget_rank(m);
    if (!*met) return status;
    if (m->loss->labels == FEN_SIGNS) widen_margins(d);
    return fenp_certify(m, d->sample, m->certificate, task, err);
}

/* ---- working sets -------------------------------------------------------------------------- */

/* What there is before the first step, and where a solver did worse. */
static fen_status make_constant(void *user, int64_t k, fen_error *err)
{
    const drive *d = user;
    fen_model *m = d->m;
    const int64_t p = d->setup->x.p;
    double *w = fenp_new(m->n, sizeof *w), par;
    if (!w) return fenp_no_memory(err, 8 * m->n, "the weights");
    for (int64_t t = k * m->copies; t < (k + 1) * m->copies; t++) {
        m->offset[t] = fenp_best_constant(m, d->sample, t, w, &par);
        memset(d->beta + t * p, 0, (size_t)p * sizeof(double));
    }
    free(w);
    return FEN_OK;
}

static fen_status solve_problem(void *user, int64_t k, int round, double gap, int *reached,
                                const fenp_task *task, fen_error *err)
{
    const drive *d = user;
    fen_model *m = d->m;
    (void)round;
    const int64_t first = k * m->copies;
    fenp_linear_state *state = NULL;
    fenp_linear_point point = { .lambda = m->lambda,
                                .beta = d->beta + first * d->setup->x.p,
                                .b = m->offset + first,
                                .u = m->dual + first * m->n };
    fen_status status = fenp_linear_begin(&d->setup->problem[k], &state, task, err);
    if (status == FEN_OK) status = fenp_linear_solve(state, gap, &point, task, err);
    fenp_linear_end(state);
    if (point.method) snprintf(m->method, sizeof m->method, "%s", point.method);
    *reached = status == FEN_OK && point.relative_gap <= gap;
    return status;
}

static fenp_rounds rounds_of(drive *d)
{
    return (fenp_rounds){
        .m = d->m, .sample = d->sample, .user = d, .solve = solve_problem, .constant = make_constant
    };
}

static fen_status solve_in_rounds(drive *d, const fenp_task *task, fen_error *err)
{
    const fenp_rounds rounds = rounds_of(d);
    const fen_status status = fenp_make_constants(&rounds, err);
    return status == FEN_OK ? fenp_rounds_run(&rounds, task, err) : status;
}

/* QR has no answer before its end: the best constants are what there is then. */
static fen_status solve_by_qr(drive *d, const fenp_task *task, fen_error *err)
{
    fen_model *m = d->m;
    const fenp_task solving = fenp_task_part(task, "solving", 0.0, 0.9);
    const fenp_task check = fenp_task_part(task, "certificate", 0.9, 1.0);
    fen_status status = solve_least_squares(d, &solving, err);
    if (status == FEN_OK) status = fenp_certify(m, d->sample, m->certificate, &check, err);
    if (!fenp_is_end(status)) return status;
    const fen_status why = status;
    const fenp_rounds rounds = rounds_of(d);
    status = fenp_make_constants(&rounds, err);
    memset(m->dual, 0, (size_t)(m->targets * m->n) * sizeof(double));
    forget_rank(m);
    return status == FEN_OK ? fenp_certify_ended(m, d->sample, why, err) : status;
}

/* Labels that cannot be met, or a limit before they were, are for the working sets. */
static fen_status solve(drive *d, const fenp_task *task, fen_error *err)
{
    int met = 0;
    fen_status status = FEN_OK;
    if (takes_qr(d->m)) return solve_by_qr(d, task, err);
    if (may_meet_labels(d)) status = meet_labels(d, &met, task, err);
    if (status == FEN_OK ? met : !fenp_is_end(status)) return status;
    return solve_in_rounds(d, task, err);
}

/* ---- what a model needs besides ------------------------------------------------------------ */

static fen_status check_finite(const fen_model *m, fen_error *err)
{
    for (int64_t t = 0; t < m->targets; t++)
        if (isnan(m->certificate[t].primal) || !isfinite(m->certificate[t].norm) ||
            !isfinite(m->offset[t]))
            return fenp_fail(err, FEN_BAD_DATA,
                             "the objective leaves the range of numbers: columns or targets are "
                             "too large; see --scale");
    return FEN_OK;
}

/* Coefficients without a penalty as they are, the others 0. Groups are those of all targets, or of
 * each. */
static void take_free(const fen_model *m, const double *beta, int64_t coefs, double *out)
{
    const fenp_groups *g = &m->groups;
    const int64_t next = m->copies > 1 ? coefs : m->p;
    memset(out, 0, (size_t)coefs * sizeof *out);
    for (int64_t k = 0; k < g->count; k++) {
        if (fenp_group_weight(g, k) != 0.0) continue;
        for (int64_t i = 0; i < fenp_group_size(g, k); i++)
            for (int64_t at = fenp_group_member(g, k, i); at < coefs; at += next)
                out[at] = beta[at];
    }
}

/* How far residuals leave a tube, or the knee of a loss; whether columns without a penalty separate
 * the classes. */
static fen_status note_scores(const drive *d, fen_error *err)
{
    fen_model *m = d->m;
    const int residuals = fenp_is_tube(m->loss) || fenp_is_huber(m->loss);
    const int separable = m->weights && fenp_tells_odds(m->loss);
    fenp_design one = d->setup->x;
    const int64_t coefs = m->targets * one.p, rows = m->targets * m->n;
    if (!residuals && !separable) return FEN_OK;
    const int64_t bytes = fenp_bytes(coefs + rows, 1, sizeof(double));
    double *beta = fenp_new(bytes, 1), *f = beta ? beta + coefs : NULL;
    if (!beta) return fenp_no_memory(err, bytes, "the scores");
    if (residuals)
        memcpy(beta, d->beta, (size_t)coefs * sizeof *beta);
    else
        take_free(m, d->beta, coefs, beta);
    one.copies = 1;
    for (int64_t t = 0; t < m->targets; t++)
        fenp_design_scores(&one, beta + t * one.p, f + t * m->n);
    fenp_note_scores(m, d->sample, f);
    free(beta);
    return FEN_OK;
}

static fen_status finish(drive *d, fenp_sample *sample, const fenp_task *task, fen_error *err)
{
    fen_model *m = d->m;
    const int over = fenp_was_ended(m);
    fen_status status = check_finite(m, err);
    if (status == FEN_OK) status = note_scores(d, err);
    if (status == FEN_OK && d->sigmoids && !over)
        status = fenp_calibrate_linear(d->setup->problem, d->setup->count, m->lambda, m->tolerance,
                                       m->seed, sample, m->output, task, err);
    if (status == FEN_OK) status = fenp_model_train_error(m, sample, over ? NULL : task, err);
    if (status == FEN_OK && m->terms) status = fenp_model_pack_terms(m, sample->x, err);
    if (status != FEN_OK) return status;
    if (m->terms && !m->inputs && m->kernel.table->basis != FEN_PRECOMPUTED)
        m->inputs = sample->x, sample->x = NULL;
    fenp_note_linear(m, d->setup->gamma_chosen);
    fenp_note_twins(m, &d->setup->x);
    fenp_note_sizes(m, &d->setup->x);
    if (fenp_is_none(m->penalty)) free(m->groups.weight), m->groups.weight = NULL;
    status = fenp_model_shrink(m, err);
    if (status == FEN_OK) fenp_model_mark_idle(m);
    return status;
}

/* ---- the story --------------------------------------------------------------------------- */

static fen_status choose_lambda(const fenp_setup *setup, const fenp_sample *sample,
                                const fenp_settled *settled, fenp_chosen *chosen,
                                const fenp_task *task, fen_error *err)
{
    fenp_task choosing = fenp_task_part(task, "selection", 0.1, 0.8);
    if (fenp_is_none(settled->penalty.penalty)) return FEN_OK;
    if (choosing.deadline > 0.0)
        choosing.deadline -= FENP_FIT_SHARE * (choosing.deadline - fenp_now());
    return fenp_choose_linear(setup->problem, setup->count, sample, &settled->o, settled->output,
                              chosen, &choosing, err);
}

static fen_status fit_setup(fenp_prep **prep, fenp_sample *sample, fenp_settled *settled,
                            fenp_setup *setup, const fenp_task *task, fen_model **out,
                            fen_error *err)
{
    const fenp_task solving = fenp_task_part(task, "solving", 0.8, 1.0);
    fenp_chosen chosen = { .kernel = setup->kernel, .power = 2.0 };
    fen_model *m = NULL;
    fen_status status = choose_lambda(setup, sample, settled, &chosen, task, err);
    if (status == FEN_OK) status = build(prep, sample, settled, setup, &chosen, &m, err);
    free(chosen.selection.grid);
    if (status != FEN_OK) return status;
    drive d = { m, setup, sample, m->terms ? m->terms : m->weights,
                fenp_wants_sigmoids(&settled->o, m->loss) };
    status = fenp_model_find_deviations(m, sample, err);
    if (status == FEN_OK) status = solve(&d, &solving, err);
    if (status == FEN_OK && chosen.cut) fenp_mark_cut(m);
    if (status == FEN_OK) status = finish(&d, sample, &solving, err);
    if (status == FEN_OK)
        *out = m;
    else
        fen_model_free(m);
    return status;
}

fen_status fenp_fit_linear(fenp_prep **prep, fenp_sample *sample, fenp_settled *settled,
                           const fenp_task *task, fen_model **out, fen_error *err)
{
    const double start = fenp_now();
    const fenp_task beginning = fenp_task_part(task, "preparation", 0.0, 0.1);
    fenp_setup setup;
    fen_status status =
        fenp_setup_make(*prep, sample, settled, fenp_purpose_of(settled), &setup, &beginning, err);
    if (status != FEN_OK) return status;
    status = fit_setup(prep, sample, settled, &setup, task, out, err);
    fenp_setup_free(&setup);
    if (status == FEN_OK) (*out)->seconds = fenp_now() - start;
    return status;
}
