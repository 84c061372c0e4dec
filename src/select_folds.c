/* select_folds.c -- the folds of a search for lambda, side by side
 *
 * Every thread takes a fold of its own (one that is left over has all of them): their paths are independent, and none of the products of
 * one is large enough to be shared well. As many at a time as threads and half of the memory
 * allow. The caller hears from thread 0 alone; when that is told to stop, or one of them fails, all
 * hear it. */
#include <omp.h>

#include "promise/refit.h"
#include "select_linear.h"

double fenp_search_weight(const fenp_lambda_search *s, const double *w, int64_t fold)
{
    double sum = 0.0;
    for (int64_t k = 0; k < s->sample->n; k++)
        if (fold < 0 || k % s->folds == fold) sum += w[s->order ? s->order[k] : k];
    return sum;
}

/* Its weights are set when it is finished. */
static void finish(fenp_lambda_search *s, int64_t fold)
{
    const int64_t n = s->sample->n, targets = s->sample->targets;
    for (int64_t q = 0, at = fold * targets; q < s->problem_count; q++)
        for (int64_t t = 0; t < s->problems[q].x->copies; t++, at++)
            s->weight[at] = fenp_search_weight(s, s->problems[q].w + t * n, fold);
}

static fen_status run_fold(fenp_lambda_search *s, int64_t fold, const fenp_task *task,
                           fen_error *err)
{
    const int64_t n = s->sample->n, targets = s->sample->targets;
    const fenp_dealt of = { s->order, s->folds, fold, s->sample->w };
    fen_status status = FEN_OK;
    int64_t first = 0;
    for (int64_t q = 0; q < s->problem_count && status == FEN_OK; q++) {
        const fenp_linear *problem = &s->problems[q];
        const double done = (double)(fold * s->problem_count + q);
        const double steps = (double)(s->folds * s->problem_count);
        const fenp_task part = fenp_task_part(task, "folds", done / steps, (done + 1.0) / steps);
        status = fenp_ladder_fold(problem, &of, fenp_judge(s->loss), s->lambdas, s->count,
                                  FENP_SEARCH_GAP, s->held + (fold * targets + first) * s->count,
                                  s->scores ? s->scores + first * s->count * n : NULL, &part, err);
        first += problem->x->copies;
    }
    if (status == FEN_OK) finish(s, fold);
    return status;
}

/* The caller hears from thread 0. */
static fen_status run_in_team(fenp_lambda_search *s, fenp_team *team, int64_t fold, fen_error *err)
{
    fen_host host;
    const fenp_task task = fenp_team_task(team, omp_get_thread_num() == 0, &host);
    const fen_status status = run_fold(s, fold, &task, err);
    if (status != FEN_OK) team->stopped = 1;
    return status;
}

/* How many folds fit beside each other: in threads, and in half of the memory. */
enum { TEAM_MOST = 64 };
static int team_of(const fenp_lambda_search *s)
{
    const int64_t each = fenp_linear_bytes(&s->problems[0]) +
                         fenp_ladder_fold_bytes(s->problems[0].x, s->folds, s->count);
    const int64_t fit = each > 0 ? fenp_memory_limit(s->o) / 2 / each : 1;
    const int threads = omp_in_parallel() ? 1 : omp_get_max_threads();
    const int most = threads < TEAM_MOST ? threads : TEAM_MOST;
    return fit < 1 ? 1 : fit < most ? (int)fit : most;
}

/* The count folds from first on. Of several failures the first counts, unless it only heard of
 * another. */
static fen_status run_wave(fenp_lambda_search *s, int64_t first, int count, const fenp_task *task,
                           fen_error *err)
{
    fen_status each[TEAM_MOST];
    fen_error errors[TEAM_MOST];
    fenp_team team = { .task = task };
    int failed = -1;
#pragma omp parallel for schedule(static, 1) num_threads(count)
    for (int f = 0; f < count; f++) each[f] = run_in_team(s, &team, first + f, &errors[f]);
    for (int f = 0; f < count; f++) {
        s->done += each[f] == FEN_OK;
        if (each[f] != FEN_OK && (failed < 0 || each[failed] == FEN_STOPPED)) failed = f;
    }
    if (failed < 0) return FEN_OK;
    if (err) *err = errors[failed];
    return each[failed];
}

fen_status fenp_search_folds(fenp_lambda_search *s, const fenp_task *task, fen_error *err)
{
    const int team = team_of(s);
    fen_status status = FEN_OK;
    for (int64_t at = 0; at < s->folds && status == FEN_OK; at += team) {
        const int64_t left = s->folds - at;
        const int count = left < team ? (int)left : team;
        if (count > 1) {
            status = run_wave(s, at, count, task, err);
        } else {
            status = run_fold(s, at, task, err);
            s->done += status == FEN_OK;
        }
    }
    return status;
}
