/* path_descend.c -- the path of any loss, and of penalty lp, by an iterative solver
 *
 * One state (one kernel matrix) for all outputs and settings; from the largest lambda down,
 * each solution starts the next.
 * Scores, where they are asked for, are those of select: refits on all rows.
 * Accuracy: a tenth of --tolerance by the solver's own account, which is shown.
 * Cost: little more than the hardest of its points, the smallest lambda. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/threads.h"
#include "path.h"
#include "solver/descend_run.h"

typedef struct descent {
    const fenp_path *path;
    void *state;
    fenp_sample one; /* the rows with the labels and weights of one output */
    fenp_problem problem;
    fenp_solution now;
    double scale, offset, gap, par;
    double *coefficients; /* n                                        */
    double *scores;       /* targets x count, or NULL                 */
    int64_t *walk;        /* count: settings in the order they are solved */
} descent;

/* ---- one point ------------------------------------------------------------------------- */

static fenp_step measure(descent *h, int64_t t, int64_t k)
{
    const fenp_path *path = h->path;
    const fenp_setting at = path->settings[k];
    const fenp_run run = { .at = h->problem, .out = &h->now };
    const int lp = path->strategy.solver->lp;
    fenp_step step = { .lambda2 = lp               ? NAN
                                  : h->scale > 0.0 ? 0.5 / h->scale
                                                   : INFINITY,
                       .bias = h->offset,
                       .relative_gap = h->gap,
                       .norm = fenp_run_norm(&run),
                       .mean_loss = fenp_run_loss(&run, 1.0) };
    double weight = 0.0;
    for (int64_t i = 0; i < h->one.n; i++) {
        h->coefficients[i] = h->scale * h->now.dual[i];
        step.support += h->coefficients[i] != 0.0;
        weight += h->one.w[i];
    }
    step.objective = step.mean_loss + at.lambda * pow(step.norm, at.power);
    if (path->o.nu > 0.0) step.objective += path->loss->price * path->o.nu * h->par * weight;
    step.score = h->scores ? h->scores[t * path->count + k] : NAN;
    step.solution = path->kernel.table->linear ? h->now.weights : h->coefficients;
    return step;
}

static fen_status solve_point(descent *h, int64_t t, int64_t k, const fenp_task *task,
                              fen_error *err)
{
    int reached;
    h->problem.lambda = h->path->settings[k].lambda;
    h->problem.power = h->path->settings[k].power;
    if (h->path->o.nu == 0.0) h->par = h->path->outputs[t].par;
    return fenp_descend(h->path->strategy.solver, h->state, &h->problem, h->path->o.nu, &h->par,
                        &h->now, &reached, task, err);
}

/* ---- all of them ------------------------------------------------------------------------ */

/* Points stand in the order of the settings, whatever order they are solved in. */
static fen_status run_output(descent *h, int64_t t, json_t *points, const fenp_task *task,
                             fen_error *err)
{
    const fenp_sample *x = h->path->sample;
    const int64_t count = h->path->count;
    fen_status status = FEN_OK;
    h->one.y = x->y + t * x->n;
    h->par = h->path->outputs[t].par;
    fenp_output_weights(h->path->loss, h->one.y, x->w, x->n, h->one.w);
    memset(h->now.dual, 0, (size_t)x->n * sizeof(double));
    for (int64_t k = 0; k < count && status == FEN_OK; k++)
        if (json_array_append_new(points, json_null())) status = fenp_no_memory(err, 0, "the path");
    for (int64_t k = 0; k < count && status == FEN_OK; k++) {
        const double whole = (double)(count * x->targets), done = (double)(t * count + k);
        const fenp_task part = fenp_task_part(task, task->stage, done / whole, (done + 1) / whole);
        const size_t place = (size_t)(t * count + h->walk[k]);
        status = solve_point(h, t, h->walk[k], &part, err);
        if (status != FEN_OK) return status;
        const fenp_step step = measure(h, t, h->walk[k]);
        if (json_array_set_new(points, place, fenp_step_json(h->path, t, h->walk[k], &step)))
            status = fenp_no_memory(err, 0, "the path");
    }
    return status;
}

static int64_t work_bytes(const fenp_path *path)
{
    const fenp_sample *x = path->sample;
    const int64_t state = path->strategy.solver->bytes(&path->strategy.size);
    if (state < 0) return -1;
    return state + 4 * fenp_arena_bytes(x->n) + fenp_arena_bytes(x->p) +
           fenp_arena_bytes(path->count);
}

static void open_descent(descent *h, fenp_arena *arena)
{
    const fenp_path *path = h->path;
    const fenp_sample *x = path->sample;
    h->one = *x;
    h->one.targets = 1;
    h->one.w = fenp_arena_doubles(arena, x->n);
    h->coefficients = fenp_arena_doubles(arena, x->n);
    h->walk = (int64_t *)fenp_arena_doubles(arena, path->count);
    h->now = (fenp_solution){ .dual = fenp_arena_doubles(arena, x->n),
                              .scores = fenp_arena_doubles(arena, x->n),
                              .weights = fenp_arena_doubles(arena, x->p),
                              .scale = &h->scale,
                              .offset = &h->offset,
                              .gap = &h->gap };
    if (!path->kernel.table->linear) h->now.weights = NULL;
    fenp_order_settings(path->settings, path->count, h->walk);
    memcpy(h->one.w, x->w, (size_t)x->n * sizeof(double));
    h->par = path->outputs[0].par;
    h->problem = (fenp_problem){ .sample = &h->one,
                                 .loss = path->loss,
                                 .par = &h->par,
                                 .kernel = path->kernel,
                                 .lambda = path->settings[0].lambda,
                                 .power = path->settings[0].power,
                                 .bias = path->o.bias,
                                 .gap = 0.1 * path->o.tolerance,
                                 .route = path->strategy.size.route };
}

static fen_status run(descent *h, json_t *points, const fenp_task *task, fen_error *err)
{
    const fenp_path *path = h->path;
    const fenp_task begin = fenp_task_part(task, "kernel matrix", 0.0, 0.1);
    const fenp_task solving = fenp_task_part(task, "solutions", 0.1, 1.0);
    fenp_arena arena;
    fen_status status = fenp_arena_open(&arena, work_bytes(path), "the kernel matrix", err);
    if (status != FEN_OK) return status;
    open_descent(h, &arena);
    const int narrowed = fenp_descend_narrow(path->strategy.solver, &h->problem);
    status = path->strategy.solver->begin(&arena, &h->problem, &h->state, &begin, err);
    for (int64_t t = 0; t < path->sample->targets && status == FEN_OK; t++)
        status = run_output(h, t, points, &solving, err);
    fenp_threads_widen(narrowed);
    fenp_arena_close(&arena);
    return status;
}

/* ---- scores ------------------------------------------------------------------------------- */

static fen_status score(const fenp_path *path, double *scores, const fenp_task *task,
                        fen_error *err)
{
    const fenp_problem problem = { .sample = path->sample,
                                   .loss = path->loss,
                                   .kernel = path->kernel,
                                   .bias = path->o.bias,
                                   .route = path->strategy.size.route };
    const fenp_refits how = { .solver = path->strategy.solver,
                              .outputs = path->outputs,
                              .nu = path->o.nu,
                              .folds = fenp_folds(&path->o),
                              .seed = path->o.seed };
    fenp_arena arena;
    fenp_size size = path->strategy.size;
    size.targets = path->sample->targets;
    const int64_t bytes = fenp_scores_refit_bytes(how.solver, &size, path->count, how.folds);
    fen_status status = fenp_arena_open(&arena, bytes, "the held-out scores", err);
    if (status != FEN_OK) return status;
    status = fenp_scores_refit(&arena, &problem, &how, path->settings, path->count, scores, NULL,
                               task, err);
    fenp_arena_close(&arena);
    return status;
}

fen_status fenp_path_descend(const fenp_path *path, json_t *points, const fenp_task *task,
                             fen_error *err)
{
    const double share = path->scored ? 0.8 : 0.0;
    const fenp_task scoring = fenp_task_part(task, "held-out scores", 0.0, share);
    const fenp_task solving = fenp_task_part(task, "solutions", share, 1.0);
    descent h = { .path = path };
    fen_status status = fenp_path_fits(path, path->strategy.solver, work_bytes(path), err);
    if (status == FEN_OK && path->scored) {
        h.scores = fenp_new(path->count, path->sample->targets * (int64_t)sizeof(double));
        status =
            h.scores ? score(path, h.scores, &scoring, err) : fenp_no_memory(err, 0, "the scores");
    }
    if (status == FEN_OK) status = run(&h, points, &solving, err);
    free(h.scores);
    return status;
}
