/* select_scores.c -- the scores of all lambdas and powers with some gammas
 *
 * Square loss: exact leave-one-out (or GCV, or K-fold) weighted mean squared errors; one
 * eigendecomposition for each gamma. Other losses, and penalty lp: weighted mean held-out losses by
 * refits on one kernel matrix for each gamma (promise/refit.c), and for classes the share of rows
 * that are then put in the wrong class. Several outputs: the mean of their scores, for several
 * target columns relative to the loss of the best constant (for the square loss the variance).
 * Threads: gammas of small samples are scored side by side.
 * Cost: strategy.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/registry.h"
#include "promise/laws.h"
#include "promise/refit.h"
#include "select.h"

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

/* ---- one gamma --------------------------------------------------------------------------- */

/* All lambdas of every power; points has room for strategy->powers x lambdas. */
static void list_settings(const fenp_search *s, const fenp_kernel *kernel, fenp_setting *points)
{
    double powers[FEN_VALUES_MAX], lambdas[FEN_VALUES_MAX];
    const int count = fenp_list_powers(s->o, powers), wanted = s->strategy->lambdas;
    for (int m = 0; m < count; m++) {
        fenp_list_lambdas(s->o, s->outputs, kernel, s->all, wanted, powers[m], lambdas);
        for (int l = 0; l < wanted; l++)
            points[m * wanted + l] = (fenp_setting){ lambdas[l], powers[m] };
    }
}

int fenp_search_settings(const fenp_search *s)
{
    return s->strategy->lambdas * s->strategy->powers;
}

static void record(fenp_search *s, const column *c)
{
    const int lambdas = s->strategy->lambdas, refits = s->strategy->refits;
    const int count = fenp_search_settings(s);
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
static fenp_size size_on(const fenp_search *s, const fenp_sample *x)
{
    fenp_size size = fenp_size_of(x, s->o);
    if (!fenp_is_lp(&size.kernel)) return size;
    size.route = s->strategy->size.route, size.room = s->strategy->size.room;
    return size;
}

/* Refits, and for classes what they decide about the rows that they did not see. */
static fen_status refit_scores(const fenp_search *s, const fenp_problem *problem, column *c,
                               const fenp_task *task, fen_error *err)
{
    const fenp_sample *x = s->sample;
    const fenp_solver *solver = s->strategy->solver;
    const int count = fenp_search_settings(s);
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

static fen_status square_scores(const fenp_search *s, const fenp_problem *problem,
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
        status = (primal && fenp_kfold_is_primal(x->n, x->p, folds) ? fenp_scores_kfold_primal
                                                                    : fenp_scores_kfold)(
            &arena, problem, points, count, folds, s->o->seed, scores, task, err);
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

/* ---- side by side ------------------------------------------------------------------------- */

/* Rows up to which gammas are scored side by side, each by one thread: below that an
 * eigendecomposition gains little from a second core, above it memory is better kept. */
enum { SIDE_BY_SIDE = 2000 };

int fenp_gammas_at_once(int64_t rows, int gammas)
{
    const int threads = omp_get_max_threads();
    return rows > SIDE_BY_SIDE ? 1 : gammas < threads ? gammas : threads;
}

static void score_column(const fenp_search *s, column *c, const fenp_task *task)
{
    const int count = fenp_search_settings(s);
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
static void score_one(const fenp_search *s, const double *gammas, int count, int k, column *columns,
                      int *failed, const fenp_task *task)
{
    const fen_host watch = { .progress = has_failed, .user = failed };
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
fen_status fenp_score_gammas(fenp_search *s, const double *gammas, int count, const fenp_task *task,
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
