/* select.c -- gamma, lambda and power: as given, by rule, or the best of a grid
 *
 * Square loss: exact leave-one-out (or GCV, or K-fold) weighted mean squared errors of every
 * grid point; for one gamma, one eigendecomposition scores all lambdas. Other losses, and penalty
 * lp: weighted mean held-out losses by refits on one kernel matrix for each gamma
 * (promise/refit.c), and for classes the share of rows that are then put in the wrong class.
 * Automatic grids: candidates.c; gammas go on past an end as long as that end is the best.
 * Large samples. Every gamma is tried on a seeded part of the rows, the winner and its neighbours
 * on a larger part (strategy.c says how large); lambda is the larger part's. Several outputs share
 * gamma, lambda and power: the score is their mean, for several target columns relative to the
 * loss of the best constant (for the square loss the variance). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/registry.h"
#include "base/threads.h"
#include "promise/laws.h"
#include "promise/refit.h"
#include "story_lp.h"

enum { MOST_WIDENINGS = 8, MOST_GAMMAS = FEN_VALUES_MAX + MOST_WIDENINGS };

typedef struct search {
    const fen_options *o;
    const fenp_output *outputs; /* NULL: not looked at for the square loss   */
    const fenp_strategy *strategy;
    const fenp_sample *all;    /* every row: what the units of lambda go by */
    const fenp_sample *sample; /* the rows of this round                    */
    int64_t rows;              /* so many                                   */
    fenp_kernel kernel;
    fenp_score *grid;
    int64_t count, best;
    fenp_score coarse; /* the best of the coarse round; lambda 0: there was none */
} search;

/* Candidates and scores of one gamma, filled by whichever thread takes it. */
typedef struct column {
    fenp_kernel kernel;
    fenp_setting *points; /* count                                     */
    double *scores;       /* targets x count                           */
    double *errors;       /* count: NAN where there are no classes     */
    int scored;           /* all of them are there                     */
    fen_status status;
    fen_error err;
} column;

/* ---- the scores of one gamma ------------------------------------------------------- */

/* All lambdas of every power; points has room for strategy->powers x lambdas. */
static void list_settings(const search *s, const fenp_kernel *kernel, fenp_setting *points)
{
    double powers[FEN_VALUES_MAX], lambdas[FEN_VALUES_MAX];
    const int count = fenp_list_powers(s->o, powers), wanted = s->strategy->lambdas;
    for (int m = 0; m < count; m++) {
        fenp_list_lambdas(s->o, s->outputs, kernel, s->all, wanted, powers[m], lambdas);
        for (int l = 0; l < wanted; l++)
            points[m * wanted + l] = (fenp_setting){ lambdas[l], powers[m] };
    }
}

static int settings_of(const search *s) { return s->strategy->lambdas * s->strategy->powers; }

static void record(search *s, const column *c)
{
    const int count = settings_of(s), lambdas = s->strategy->lambdas, refits = s->strategy->refits;
    const double rounding = fenp_score_rounding(s->sample, s->outputs, s->o, refits);
    fenp_score *grid = s->grid + s->count;
    for (int l = 0; l < count; l++)
        grid[l] = (fenp_score){ .gamma = c->kernel.par.gamma,
                                .lambda = c->points[l].lambda,
                                .power = c->points[l].power,
                                .error = c->errors[l],
                                .deviation = NAN,
                                .terms = NAN };
    for (int64_t t = 0; t < s->sample->targets; t++) {
        const double unit = fenp_score_unit(s->sample, s->outputs, s->o, refits, t);
        for (int l = 0; l < count; l++) grid[l].score += c->scores[t * count + l] / unit;
    }
    for (int l = 0; l < count; l++)
        if (isnan(grid[l].score)) grid[l].score = INFINITY;
    for (int l = 0; l < count; l += lambdas) { /* of one power */
        const int64_t here = s->count + l + fenp_best_score(grid + l, lambdas, rounding);
        if (s->best < 0 || s->grid[here].score < s->grid[s->best].score) s->best = here;
    }
    s->count += count;
}

/* Of the refits on some rows. */
static fenp_size size_on(const search *s, const fenp_sample *x)
{
    fenp_size size = fenp_size_of(x, s->o);
    if (!fenp_is_lp(&size.kernel)) return size;
    size.route = s->strategy->size.route, size.room = s->strategy->size.room;
    return size;
}

/* Refits, and for classes what they decide about the rows that they did not see. */
static fen_status refit_scores(const search *s, const fenp_problem *problem, column *c,
                               const fenp_task *task, fen_error *err)
{
    const fenp_sample *x = s->sample;
    const fenp_solver *solver = s->strategy->solver;
    const int count = settings_of(s);
    const fenp_size size = size_on(s, x);
    const fenp_refits how = { .solver = solver,
                              .outputs = s->outputs,
                              .nu = s->o->nu,
                              .folds = fenp_folds(s->o),
                              .seed = s->o->seed,
                              .hurried = s->o->lambda.choice == FEN_AUTO };
    const int64_t room = s->outputs[0].plus >= 0 ? x->targets * count + 1 : 0;
    double *held = room ? fenp_new(room, x->n * (int64_t)sizeof(double)) : NULL;
    fenp_arena arena = { 0 };
    fen_status status = held || !room ? FEN_OK : fenp_no_memory(err, 0, "the scores");
    if (status == FEN_OK)
        status = fenp_arena_open(&arena, fenp_scores_refit_bytes(solver, &size, count, how.folds),
                                 "the held-out scores", err);
    if (status == FEN_OK)
        status =
            fenp_scores_refit(&arena, problem, &how, c->points, count, c->scores, held, task, err);
    if (status == FEN_OK && held) {
        const fenp_classifier by = fenp_classifier_of(s->outputs, x->targets, problem->loss);
        status = fenp_error_rates(x, &by, held, count, c->errors, err);
    }
    for (int l = 0; l < count && status == FEN_OK; l++)
        if (isinf(c->scores[l])) c->errors[l] = NAN;
    fenp_arena_close(&arena);
    free(held);
    return status;
}

static fen_status square_scores(const search *s, const fenp_problem *problem,
                                const fenp_setting *points, int count, double *scores,
                                const fenp_task *task, fen_error *err)
{
    const fenp_sample *x = s->sample;
    const fenp_size size = fenp_size_of(x, s->o);
    const int64_t folds = fenp_folds(s->o);
    const int primal = s->strategy->solver->in_weights && x->p < x->n;
    const int few = fenp_scores_by_cholesky(&size, count, primal, folds);
    const fenp_score_kind kind = strcmp(s->o->select, "gcv") == 0 ? FENP_GCV : FENP_LOO;
    const int64_t bytes = fenp_scoring_bytes(&size, count, folds, primal);
    fenp_arena arena;
    fen_status status = fenp_arena_open(&arena, bytes, "the leave-one-out scores", err);
    if (status != FEN_OK) return status;
    if (folds)
        status =
            fenp_scores_kfold(&arena, problem, points, count, folds, s->o->seed, scores, task, err);
    else if (few)
        status = fenp_scores_cholesky(&arena, problem, points, count, kind, scores, task, err);
    else {
        fenp_spectrum spectrum;
        status = fenp_spectrum_make(&arena, problem, primal, &spectrum, task, err);
        if (status == FEN_OK)
            status = fenp_scores_spectrum(&arena, &spectrum, x->w, problem->bias, points, count,
                                          kind, scores, err);
    }
    fenp_arena_close(&arena);
    return status;
}

/* Rows up to which gammas are scored side by side, each by one thread: below that an
 * eigendecomposition gains little from a second core, above it memory is better kept. */
enum { SIDE_BY_SIDE = 2000 };

int fenp_gammas_at_once(int64_t rows, int gammas)
{
    const int threads = omp_get_max_threads();
    return rows > SIDE_BY_SIDE ? 1 : gammas < threads ? gammas : threads;
}

static void score_column(const search *s, column *c, const fenp_task *task)
{
    const int count = settings_of(s);
    const fenp_problem problem = { .sample = s->sample,
                                   .loss = fenp_find_loss(s->o->loss),
                                   .kernel = c->kernel,
                                   .bias = s->o->bias,
                                   .route = s->strategy->size.route };
    c->points = fenp_new(count, sizeof *c->points);
    c->scores = fenp_new(count, s->sample->targets * (int64_t)sizeof(double));
    c->errors = fenp_new(count, sizeof *c->errors);
    if (c->points && c->scores && c->errors) {
        list_settings(s, &c->kernel, c->points);
        for (int l = 0; l < count; l++) c->errors[l] = NAN;
        c->status = s->strategy->refits
                        ? refit_scores(s, &problem, c, task, &c->err)
                        : square_scores(s, &problem, c->points, count, c->scores, task, &c->err);
    } else
        c->status = fenp_no_memory(&c->err, 0, "the scores");
    c->scored = c->status == FEN_OK;
    if (c->scored) c->status = fenp_task_at(task, 1.0, &c->err);
}

/* A host that is told nothing, and stops as soon as another thread has failed or been stopped. */
static int has_failed(void *user, const char *stage, double fraction)
{
    const int *failed = user;
    int stop;
    (void)stage, (void)fraction;
#pragma omp atomic read
    stop = *failed;
    return stop;
}

/* Only the first thread reports. */
static void score_one(const search *s, const double *gammas, int count, int k, column *columns,
                      int *failed, const fenp_task *task)
{
    const fen_host watch = { has_failed, failed };
    fenp_task part = fenp_task_part(task, task->stage, (double)k / count, (k + 1.0) / count);
    if (has_failed(failed, NULL, 0.0)) return;
    if (omp_get_thread_num() != 0) part.host = &watch;
    columns[k].kernel = s->kernel;
    columns[k].kernel.par.gamma = gammas[k];
    score_column(s, &columns[k], &part);
    if (columns[k].status != FEN_OK) {
#pragma omp atomic write
        *failed = 1;
    }
}

/* Threads that were stopped because another one failed have nothing to say. */
static const column *first_failure(const column *columns, int count)
{
    const column *found = NULL;
    for (int k = 0; k < count; k++)
        if (columns[k].status != FEN_OK && (!found || found->status == FEN_STOPPED))
            found = &columns[k];
    return found;
}

/* Where gammas take turns there must be no parallel region, not even of one thread: in one,
 * libgomp makes new threads for every single call of BLAS. */
static fen_status score_gammas(search *s, const double *gammas, int count, const fenp_task *task,
                               fen_error *err)
{
    column *columns = fenp_new_zeroed(count, sizeof *columns);
    if (!columns) return fenp_no_memory(err, count * (int64_t)sizeof *columns, "the scores");
    const int threads = fenp_gammas_at_once(s->sample->n, count);
    int failed = 0;
    if (threads > 1) {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int k = 0; k < count; k++) score_one(s, gammas, count, k, columns, &failed, task);
    } else
        for (int k = 0; k < count; k++) score_one(s, gammas, count, k, columns, &failed, task);
    const column *broken = first_failure(columns, count);
    const fen_status status =
        broken ? fenp_fail(err, broken->status, "%s", broken->err.message) : FEN_OK;
    for (int k = 0; k < count; k++) {
        if (columns[k].scored && (status == FEN_OK || status == FEN_LIMIT)) record(s, &columns[k]);
        free(columns[k].errors);
        free(columns[k].points);
        free(columns[k].scores);
    }
    free(columns);
    return status;
}

/* ---- one round over the gammas ------------------------------------------------------- */

static double best_gamma(const search *s) { return s->grid[s->best].gamma; }

/* All gammas on the rows of s->sample; past an end while it is the best. */
static fen_status run_round(search *s, double *gammas, int *count, int widen, const fenp_task *task,
                            fen_error *err)
{
    const double ratio = fenp_gamma_step(s->kernel.table, 1);
    s->count = 0, s->best = -1;
    fen_status status = score_gammas(s, gammas, *count, task, err);
    for (int extra = 0; widen && status == FEN_OK && extra < MOST_WIDENINGS; extra++) {
        const int low = best_gamma(s) == gammas[0], high = best_gamma(s) == gammas[*count - 1];
        if (!low && !high) break;
        if (low) memmove(gammas + 1, gammas, (size_t)*count * sizeof(double));
        const int at = low ? 0 : *count;
        gammas[at] = low ? gammas[1] / ratio : gammas[at - 1] * ratio;
        ++*count;
        const fenp_task part = fenp_task_part(task, task->stage, 1.0, 1.0);
        status = score_gammas(s, gammas + at, 1, &part, err);
    }
    return status;
}

/* The winner of the coarse round and its neighbours. */
static void keep_neighbours(const search *s, double *gammas, int *count)
{
    int at = 0;
    while (at < *count - 1 && gammas[at] != best_gamma(s)) at++;
    const int from = at > 0 ? at - 1 : 0, to = at + 1 < *count ? at + 1 : at;
    memmove(gammas, gammas + from, (size_t)(to - from + 1) * sizeof(double));
    *count = to - from + 1;
}

static fen_status round_on(search *s, const fenp_sample *all, int64_t rows, double *gammas,
                           int *count, int widen, const fenp_task *task, fen_error *err)
{
    fenp_sample *part = NULL;
    fen_status status = FEN_OK;
    if (rows < all->n)
        status = fenp_sample_part(all, rows, s->o->seed, s->kernel.table->basis == FEN_PRECOMPUTED,
                                  &part, err);
    if (status != FEN_OK) return status;
    s->sample = part ? part : all;
    s->rows = s->sample->n;
    status = run_round(s, gammas, count, widen, task, err);
    fenp_sample_free(part);
    return status;
}

static fen_status search_grid(search *s, const fenp_sample *all, double *gammas, int count,
                              const fenp_task *task, fen_error *err)
{
    const fenp_strategy *plan = s->strategy;
    const fenp_task coarse = fenp_task_part(task, "narrowing gamma", 0.0, 0.2);
    const fenp_task fine =
        fenp_task_part(task, fenp_folds(s->o) ? "held-out scores" : "leave-one-out scores",
                       plan->coarse_rows ? 0.2 : 0.0, 1.0);
    fen_status status = FEN_OK;
    if (plan->coarse_rows) {
        status = round_on(s, all, plan->coarse_rows, gammas, &count, plan->widen, &coarse, err);
        if (status != FEN_OK) return status;
        s->coarse = s->grid[s->best];
        keep_neighbours(s, gammas, &count);
    }
    status = round_on(s, all, plan->rows, gammas, &count, plan->widen, &fine, err);
    if (status == FEN_OK && !isfinite(s->grid[s->best].score))
        status = fenp_fail(err, FEN_BAD_CALL,
                           "no lambda of the grid can be told from rounding errors: "
                           "give larger values with --lambda");
    return status;
}

static void take_point(const fenp_score *point, fenp_chosen *chosen)
{
    chosen->kernel.par.gamma = point->gamma;
    chosen->lambda = point->lambda;
    chosen->power = point->power;
}

/* FEN_LIMIT leaves the best point so far in chosen, if there is one. */
static fen_status search_best(const fenp_sample *sample, const fen_options *o,
                              const fenp_output *outputs, const fenp_strategy *strategy,
                              double *gammas, fenp_chosen *chosen, const fenp_task *task,
                              fen_error *err)
{
    search s = {
        .o = o, .outputs = outputs, .strategy = strategy, .all = sample, .kernel = chosen->kernel
    };
    const int64_t most = (strategy->gammas + MOST_WIDENINGS) * (int64_t)settings_of(&s);
    s.grid = fenp_new(most, sizeof *s.grid);
    fen_status status = s.grid ? search_grid(&s, sample, gammas, strategy->gammas, task, err)
                               : fenp_no_memory(err, 0, "the grid");
    const int some = status == FEN_LIMIT && s.count > 0 && isfinite(s.grid[s.best].score);
    if (status != FEN_OK && !some) {
        if (s.coarse.lambda > 0.0) take_point(&s.coarse, chosen);
        free(s.grid);
        return status;
    }
    const fenp_score *best = &s.grid[s.best];
    take_point(best, chosen);
    chosen->selection =
        (fenp_selection){ .rows = s.rows, .score = best->score, .count = s.count, .grid = s.grid };
    strncpy(chosen->selection.kind, o->select, sizeof chosen->selection.kind - 1);
    return status;
}

/* lambda, gamma and power of no search. */
static fen_status take_rule(const fenp_sample *sample, const fen_options *o,
                            const fenp_output *outputs, fenp_chosen *chosen, fen_error *err)
{
    double powers[FEN_VALUES_MAX], gammas[FEN_VALUES_MAX];
    const int count = fenp_list_powers(o, powers);
    int at = 0;
    while (at < count && powers[at] != 2.0) at++;
    chosen->power = powers[at < count ? at : 0];
    const fen_status status = fenp_list_gammas(o, chosen->kernel.table, sample, 1, gammas, err);
    if (status != FEN_OK) return status;
    chosen->kernel.par.gamma = gammas[0];
    chosen->lambda = fenp_lambda_of_no_search(sample, o, outputs, &chosen->kernel, chosen->power);
    return FEN_OK;
}

/* always: the scores are wanted even where there is nothing to choose. */
static fen_status choose(const fenp_sample *sample, const fen_options *o,
                         const fenp_output *outputs, const fen_kernel *kernel,
                         const fenp_strategy *strategy, int always, fenp_chosen *out,
                         const fenp_task *task, fen_error *err)
{
    double gammas[MOST_GAMMAS];
    fenp_chosen chosen = { .kernel = fenp_kernel_asked(o, kernel) };
    fen_status status = fenp_list_gammas(o, kernel, sample, strategy->gammas, gammas, err);
    if (status != FEN_OK) return status;
    chosen.kernel.par.gamma = gammas[0];
    if (fenp_is_lp(&chosen.kernel)) status = fenp_lp_rows_fit(&chosen.kernel, sample, o, err);
    if (status != FEN_OK) return status;
    if (always || strategy->gammas > 1 || strategy->lambdas > 1 || strategy->powers > 1)
        status = search_best(sample, o, outputs, strategy, gammas, &chosen, task, err);
    else
        status = take_rule(sample, o, outputs, &chosen, err);
    if (status == FEN_LIMIT && strategy->refits && !always) {
        chosen.cut = 1;
        status = chosen.lambda > 0.0 ? FEN_OK : take_rule(sample, o, outputs, &chosen, err);
    }
    if (status == FEN_OK)
        *out = chosen;
    else
        free(chosen.selection.grid);
    return status;
}

fen_status fenp_choose(const fenp_sample *sample, const fen_options *o, const fenp_output *outputs,
                       const fen_kernel *kernel, const fenp_strategy *strategy, fenp_chosen *out,
                       const fenp_task *task, fen_error *err)
{
    return choose(sample, o, outputs, kernel, strategy, 0, out, task, err);
}

/* ---- fen_select: the table itself ------------------------------------------------------ */

/* NULL: no memory */
static json_t *table_json(const fenp_sample *sample, const fen_options *o,
                          const fenp_output *outputs, const fenp_chosen *chosen)
{
    const int gammas = fenp_find_kernel(o->kernel)->uses_gamma, powers = !fenp_on_coefficients(o);
    json_t *out = json_pack("{s:I, s:I, s:I, s:b, s:s, s:s, s:s}", "n", (json_int_t)sample->n, "d",
                            (json_int_t)sample->p, "outputs", (json_int_t)sample->targets,
                            "relative", fenp_has_columns(outputs, sample->targets), "loss", o->loss,
                            "kernel", o->kernel, "penalty", o->penalty);
    const int failed =
        json_object_set_new(out, "gamma",
                            fenp_json_number(gammas ? chosen->kernel.par.gamma : NAN)) |
        json_object_set_new(out, "lambda", fenp_json_number(chosen->lambda)) |
        json_object_set_new(out, "power", fenp_json_number(powers ? chosen->power : NAN)) |
        fenp_selection_json(out, &chosen->selection, gammas, powers);
    if (!failed) return out;
    json_decref(out);
    return NULL;
}

static fen_status select_kernel(const fenp_sample *sample, const fen_options *o,
                                const fenp_output *outputs, fenp_chosen *chosen,
                                const fenp_task *task, fen_error *err)
{
    const fen_kernel *kernel = fenp_find_kernel(o->kernel);
    const fenp_size size = fenp_size_of(sample, o);
    fenp_strategy strategy;
    if (outputs[0].column < 0)
        return fenp_fail(err, FEN_BAD_CALL, "one class has no held-out score to select by");
    fen_status status =
        fenp_strategy_make(o, kernel, fenp_find_loss(o->loss), &size, &strategy, err);
    if (status == FEN_OK) status = fenp_strategy_fits(&strategy, o, &size, err);
    if (status == FEN_OK) status = fenp_check_kernel(kernel, sample, err);
    if (status == FEN_OK)
        status = choose(sample, o, outputs, kernel, &strategy, 1, chosen, task, err);
    return status;
}

static fen_status select_sample(const fenp_prep *prep, const fenp_sample *sample,
                                const fenp_settled *settled, const fenp_task *task, char **json,
                                fen_error *err)
{
    const fen_options *o = &settled->o;
    fenp_chosen chosen = { 0 };
    fen_status status = fenp_on_coefficients(o)
                            ? fenp_select_linear(prep, sample, settled, &chosen, task, err)
                            : select_kernel(sample, o, settled->output, &chosen, task, err);
    if (status == FEN_OK)
        status = fenp_json_text(table_json(sample, o, settled->output, &chosen), json, err);
    free(chosen.selection.grid);
    return status;
}

fen_status fen_select(const fen_table *table, const fen_options *o, const fen_host *host,
                      char **json, fen_error *err)
{
    fenp_prep *prep = NULL;
    fenp_sample *sample = NULL;
    fenp_settled settled = { 0 };
    fen_status status = fen_options_check(o, err);
    if (status == FEN_OK && strcmp(o->select, "none") == 0)
        status = fenp_fail(err, FEN_BAD_CALL,
                           "--select none leaves nothing to show: use loo, gcv or kfold:K");
    if (status == FEN_OK) status = fenp_prep_learn_nameless(table, o, &prep, &sample, err);
    if (status != FEN_OK) return status;
    const fenp_threads before = fenp_threads_enter(o->threads);
    const fenp_task task = fenp_task_start(host, o->time_limit_seconds);
    status = fenp_settle(o, prep, sample, &settled, err);
    if (status == FEN_OK) status = select_sample(prep, sample, &settled, &task, json, err);
    fenp_threads_leave(before);
    fenp_settled_free(&settled);
    fenp_sample_free(sample);
    fenp_prep_free(prep);
    return status;
}
