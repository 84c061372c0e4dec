/* calibrate.c -- Platt scaling of every output by held-out scores
 *
 * Method: the problem is solved how->folds times with a fold left out, all on one kernel matrix
 *   and warm-started; every row is scored by the solution that did not see it, and the sigmoid
 *   of platt.c is fitted to those scores, with the weights as they were written, but such that
 *   they sum to the number of rows at least: a row of weight 2 is that row twice, while weights
 *   of small sum (0.001, or shares) are not fewer rows.
 * Special cases: fewer rows than folds: one row at a time. A sigmoid that falls with the score
 *   says that scores are worth nothing: it is cut to slope 0, so that no answer is turned
 *   round. 0, 0 means "no sigmoid" in an output, so that a fair coin is written with a B that
 *   is next to nothing.
 *   Penalties on coefficients: the same by the folds of ladder.h, at the one lambda.
 * Cost: folds refits and targets x n numbers. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "promise/calibrate.h"
#include "promise/ladder.h"
#include "promise/platt.h"
#include "solver/descend.h"

static fen_status fit_all(const fenp_sample *sample, double *held, double *weights,
                          fenp_output *outputs, fen_error *err)
{
    const int64_t n = sample->n;
    const double sum = fmax(sample->weight_sum, (double)n);
    fen_status status = FEN_OK;
    for (int64_t i = 0; i < n; i++) weights[i] = sample->w[i] * sum;
    for (int64_t t = 0; t < sample->targets && status == FEN_OK; t++) {
        double *sigmoid = outputs[t].sigmoid, *scores = held + t * n;
        status = fenp_platt_fit(scores, sample->y + t * n, weights, n, sigmoid, err);
        if (status == FEN_OK && sigmoid[0] > 0.0) {
            memset(scores, 0, (size_t)n * sizeof *scores);
            status = fenp_platt_fit(scores, sample->y + t * n, weights, n, sigmoid, err);
        }
        if (sigmoid[0] == 0.0 && sigmoid[1] == 0.0) sigmoid[1] = DBL_MIN;
    }
    return status;
}

/* One that can refit this loss: how's own, or the first. */
static const fenp_solver *refitting(const fenp_problem *problem, const fenp_solver *own,
                                    const fenp_size *size)
{
    const fenp_size one = fenp_descend_size(size);
    for (int i = -1; i < 0 || fenp_solvers[i]; i++) {
        const fenp_solver *solver = i < 0 ? own : fenp_solvers[i];
        if (solver->iterative && solver->lp == fenp_is_lp(&problem->kernel) &&
            solver->accepts(problem->loss, problem->kernel.table, &one))
            return solver;
    }
    return NULL;
}

fen_status fenp_calibrate(const fenp_problem *problem, const fenp_refits *how, fenp_output *outputs,
                          const fenp_task *task, fen_error *err)
{
    const fenp_sample *s = problem->sample;
    const int64_t room = fenp_is_lp(&problem->kernel) ? fenp_memory_available() / 2 : 0;
    const fenp_size size = { .n = s->n,
                             .p = s->p,
                             .targets = s->targets,
                             .bias = problem->bias,
                             .power = problem->power,
                             .room = room,
                             .kernel = problem->kernel,
                             .route = problem->route };
    const fenp_setting point = { problem->lambda, problem->power };
    const int64_t bytes = fenp_bytes(s->targets + 1, s->n + 1, sizeof(double));
    fenp_refits refits = *how;
    refits.solver = refitting(problem, how->solver, &size);
    if (refits.folds > s->n) refits.folds = 0;
    if (!refits.solver)
        return fenp_fail(err, FEN_BAD_CALL, "no engine can refit the %s loss for --probability",
                         problem->loss->name);
    double *held = fenp_new(bytes, 1), *rest = held ? held + s->targets * s->n : NULL;
    fenp_arena arena = { 0 };
    fen_status status = held ? FEN_OK : fenp_no_memory(err, bytes, "held-out scores");
    if (status == FEN_OK)
        status =
            fenp_arena_open(&arena, fenp_scores_refit_bytes(refits.solver, &size, 1, refits.folds),
                            "held-out scores", err);
    if (status == FEN_OK)
        status = fenp_scores_refit(&arena, problem, &refits, &point, 1, rest, held, task, err);
    if (status == FEN_OK) status = fit_all(s, held, rest, outputs, err);
    fenp_arena_close(&arena);
    free(held);
    return status;
}

/* ---- penalties on coefficients --------------------------------------------------------- */

/* held: targets x n; losses (targets) are of no interest. */
static fen_status hold_out(const fenp_linear *problems, int64_t count, const fenp_dealt *fold,
                           double lambda, double gap, double *losses, double *held,
                           const fenp_task *task, fen_error *err)
{
    fen_status status = FEN_OK;
    int64_t first = 0;
    for (int64_t q = 0; q < count && status == FEN_OK; q++) {
        const double done = (double)(fold->fold * count + q), steps = (double)(fold->folds * count);
        const fenp_task part =
            fenp_task_part(task, "probabilities", done / steps, (done + 1.0) / steps);
        status = fenp_ladder_fold(&problems[q], fold, fenp_judge(problems[q].loss), &lambda, 1, gap,
                                  losses, held + first * problems[q].x->n, &part, err);
        first += problems[q].x->copies;
    }
    return status;
}

fen_status fenp_calibrate_linear(const fenp_linear *problems, int64_t count, double lambda,
                                 double gap, uint64_t seed, const fenp_sample *sample,
                                 fenp_output *outputs, const fenp_task *task, fen_error *err)
{
    const int64_t n = sample->n, targets = sample->targets;
    const int64_t bytes = fenp_bytes(targets + 1, n + 1, sizeof(double));
    fenp_dealt fold = { .folds = n < FENP_SIGMOID_FOLDS ? n : FENP_SIGMOID_FOLDS, .w = sample->w };
    double *held = fenp_new(bytes, 1), *rest = held ? held + targets * n : NULL;
    int64_t *order = fenp_new(n, sizeof *order);
    fen_status status =
        held && order ? FEN_OK : fenp_no_memory(err, bytes + 8 * n, "held-out scores");
    if (status == FEN_OK) status = fenp_deal_rows(n, fold.folds, seed, order, err);
    for (fold.order = order; fold.fold < fold.folds && status == FEN_OK; fold.fold++)
        status = hold_out(problems, count, &fold, lambda, gap, rest, held, task, err);
    if (status == FEN_OK) status = fit_all(sample, held, rest, outputs, err);
    free(held), free(order);
    return status;
}
