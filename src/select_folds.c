/* select_folds.c -- the folds of a search for lambda, side by side
 *
 * Every thread takes a fold of its own: their paths are independent, and none of the products of
 * one is large enough to be shared well. As many at a time as threads and half of the memory
 * allow. The caller hears from thread 0 alone; when that is told to stop, the others hear it. */
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
        for (int64_t t = 0; t < problem->x->copies; t++, first++)
            s->weight[fold * targets + first] = fenp_search_weight(s, problem->w + t * n, fold);
    }
    return status;
}

/* Folds side by side, one thread each. Thread 0 speaks with the caller; the others only hear
 * whether it was told to stop. */
typedef struct wave {
    const fenp_task *task;
    _Atomic int stopped;
} wave;

static int hear(void *user, const char *stage, double fraction)
{
    const wave *w = user;
    (void)stage, (void)fraction;
    return w->stopped;
}

static fen_status run_in_wave(fenp_lambda_search *s, wave *w, int64_t fold, int speaks,
                              fen_error *err)
{
    const fen_host deaf = { hear, w };
    fenp_task quiet = *w->task;
    quiet.host = &deaf;
    const fen_status status = run_fold(s, fold, speaks ? w->task : &quiet, err);
    if (status != FEN_OK) w->stopped = 1;
    return status;
}

/* How many folds fit beside each other: in threads, and in half of the memory. */
enum { TEAM_MOST = 64 };
static int team_of(const fenp_lambda_search *s)
{
    const int64_t each = fenp_linear_bytes(&s->problems[0]);
    const int64_t fit = each > 0 ? fenp_memory_limit(s->o) / 2 / each : 1;
    const int threads = omp_in_parallel() ? 1 : omp_get_max_threads();
    const int most = threads < TEAM_MOST ? threads : TEAM_MOST;
    return fit < 1 ? 1 : fit < most ? (int)fit : most;
}

/* The next count folds. Of several failures the first counts, unless it only heard of another. */
static fen_status run_wave(fenp_lambda_search *s, int count, const fenp_task *task, fen_error *err)
{
    fen_status each[TEAM_MOST];
    fen_error errors[TEAM_MOST];
    wave w = { .task = task };
    int k = 0;
#pragma omp parallel for schedule(static, 1) num_threads(count)
    for (int f = 0; f < count; f++)
        each[f] = run_in_wave(s, &w, s->done + f, omp_get_thread_num() == 0, &errors[f]);
    while (k < count && each[k] == FEN_OK) k++;
    s->done += k;
    if (k == count) return FEN_OK;
    for (int other = k; other < count && each[k] == FEN_STOPPED; other++)
        if (each[other] != FEN_OK) k = other;
    if (err) *err = errors[k];
    return each[k];
}

fen_status fenp_search_folds(fenp_lambda_search *s, const fenp_task *task, fen_error *err)
{
    const int team = team_of(s);
    fen_status status = FEN_OK;
    while (s->done < s->folds && status == FEN_OK) {
        const int64_t left = s->folds - s->done;
        const int count = left < team ? (int)left : team;
        if (count > 1) {
            status = run_wave(s, count, task, err);
        } else {
            status = run_fold(s, s->done, task, err);
            s->done += status == FEN_OK;
        }
    }
    return status;
}
