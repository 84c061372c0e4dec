/* ladder_descend.c -- see ladder.h: one problem along falling lambdas, by one thread or two
 *
 * Method. Each solution is the start of the next. Where a Gram matrix says it all a second thread
 *   takes the last lambdas: the active set finds the first of them from nothing in the time of ten
 *   others. (The start of a third, farther down, would cost more than it saves.) The first thread
 *   goes one lambda beyond where the second began, and then visits what that one finds. Unless both
 *   have the same coefficients there it goes on to the end itself: of columns that are alike one
 *   might come and another go at the seam for no reason.
 * Special cases. The second thread never fails: from where it stopped, the first goes on.
 * Cost. Coefficients come late: the last quarter of the lambdas takes as long as the others. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/error.h"
#include "promise/ladder.h"

static const double MEET = 0.75;  /* share of the lambdas before the second thread's    */
static const double ENOUGH = 4e6; /* entries of matrices read on the way, for two       */
static const double ALIKE = 1e-6; /* of the largest coefficient                         */
enum { NAP = 50000 };             /* nanoseconds, while the other thread is at work        */

static fenp_task part_at(const fenp_ladder *r, int64_t rung, const fenp_task *task)
{
    const double count = (double)r->count;
    return fenp_task_part(task, task ? task->stage : "", (double)rung / count,
                          (double)(rung + 1) / count);
}

static fen_status visit(const fenp_ladder *r, int64_t rung, const fenp_linear_point *at,
                        const fenp_task *task, fen_error *err)
{
    const fenp_task part = part_at(r, rung, task);
    const fen_status status = r->visit(r->user, rung, at, err);
    return status == FEN_OK ? fenp_task_at(&part, 1.0, err) : status;
}

/* The lambdas from first to before last, from the solution in at. */
static fen_status go(const fenp_ladder *r, fenp_linear_state *state, int64_t first, int64_t last,
                     fenp_linear_point *at, const fenp_task *task, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t k = first; k < last && status == FEN_OK; k++) {
        const fenp_task part = part_at(r, k, task);
        at->lambda = r->lambdas[k];
        status = fenp_linear_solve(state, r->gap, at, &part, err);
        if (status == FEN_OK) status = visit(r, k, at, task, err);
    }
    return status;
}

static fen_status open_point(const fenp_linear *problem, fenp_linear_point *at, fen_error *err)
{
    const int64_t copies = problem->x->copies;
    *at = (fenp_linear_point){ .beta = fenp_new_zeroed(problem->x->p, copies * 8),
                               .b = fenp_new_zeroed(copies, sizeof *at->b) };
    return at->beta && at->b ? FEN_OK : fenp_no_memory(err, 0, "the path");
}

static void close_point(fenp_linear_point *at) { free(at->beta), free(at->b); }

/* ---- two threads ---------------------------------------------------------------------------- */

/* What the second one finds, for the first. One copy. */
typedef struct later {
    fenp_linear_state *twin;
    fenp_linear_point at, *point; /* room: kept ones                                    */
    double *beta;                 /* room x (p + 1): of these, and b                    */
    int64_t first, room;          /* rung of the first; points                          */
    _Atomic int64_t count;        /* so many are there                                  */
    _Atomic int ended;            /* there will be no more                              */
} later;

static fen_status keep(void *user, int64_t rung, const fenp_linear_point *at, fen_error *err)
{
    later *l = user;
    (void)err;
    fenp_linear_point *to = &l->point[rung - l->first];
    double *beta = to->beta, *b = to->b;
    *to = *at, to->beta = beta, to->b = b;
    memcpy(beta, at->beta, (size_t)(b - beta) * sizeof *beta);
    *b = *at->b;
    l->count++;
    return FEN_OK;
}

static void close_later(later *l)
{
    fenp_linear_end(l->twin);
    close_point(&l->at);
    free(l->point), free(l->beta);
}

/* 0: one thread must do. */
static int open_later(const fenp_ladder *r, const fenp_linear *problem,
                      const fenp_linear_state *state, later *l)
{
    const int64_t p = problem->x->p;
    l->first = (int64_t)(MEET * (double)r->count), l->room = r->count - l->first;
    if (r->lengthy || omp_in_parallel() || omp_get_max_threads() < 2 || l->room < 2) return 0;
    if ((double)p * (double)p * (double)r->count < ENOUGH) return 0;
    l->twin = fenp_linear_twin(state);
    l->point = fenp_new(l->room, sizeof *l->point);
    l->beta = fenp_new(fenp_bytes(l->room, p + 1, sizeof *l->beta), 1);
    if (!l->twin || !l->point || !l->beta || open_point(problem, &l->at, NULL) != FEN_OK) return 0;
    for (int64_t k = 0; k < l->room; k++) {
        l->point[k].beta = l->beta + k * (p + 1);
        l->point[k].b = l->point[k].beta + p;
    }
    return 1;
}

static int are_alike(const double *a, const double *b, int64_t p)
{
    double largest = 0.0;
    for (int64_t j = 0; j < p; j++) largest = fmax(largest, fabs(a[j]));
    for (int64_t j = 0; j < p; j++)
        if ((a[j] == 0.0) != (b[j] == 0.0) || !(fabs(a[j] - b[j]) <= ALIKE * largest)) return 0;
    return 1;
}

/* Until the k-th point is there, or will never be. The host is asked all the while. */
static fen_status await(const fenp_ladder *r, const later *l, int64_t k, const fenp_task *task,
                        fen_error *err)
{
    const fenp_task part = part_at(r, l->first + k, task);
    fen_status status = FEN_OK;
    while (status == FEN_OK && l->count <= k && !l->ended) {
        nanosleep(&(struct timespec){ .tv_nsec = NAP }, NULL);
        status = fenp_task_at(&part, 0.0, err);
    }
    return status;
}

/* What the second thread finds, if it has the same as at where it began. *next: rung to go on from. */
static fen_status take(const fenp_ladder *r, const later *l, const fenp_linear_point *at, int64_t p,
                       int64_t *next, const fenp_task *task, fen_error *err)
{
    fen_status status = await(r, l, 0, task, err);
    *next = l->first + 1;
    if (status != FEN_OK || l->count == 0 || !are_alike(at->beta, l->point[0].beta, p))
        return status;
    for (int64_t k = 1; k < l->room && status == FEN_OK; k++) {
        status = await(r, l, k, task, err);
        if (status != FEN_OK || l->count <= k) break;
        status = visit(r, (*next)++, &l->point[k], task, err);
    }
    return status;
}

/* *next: as above; 0 if there was one thread only. */
static fen_status go_by_two(const fenp_ladder *r, fenp_linear_state *state, later *l,
                            fenp_linear_point *at, int64_t p, int64_t *next, const fenp_task *task,
                            fen_error *err)
{
    fenp_ladder kept = *r;
    fenp_team team = { .task = task };
    fen_status status = FEN_OK;
    kept.visit = keep, kept.user = l;
#pragma omp parallel num_threads(2)
    if (omp_get_num_threads() == 2) {
        const int speaks = omp_get_thread_num() == 0;
        fen_host host;
        const fenp_task own = fenp_team_task(&team, speaks, &host);
        if (speaks) {
            status = go(r, state, 0, l->first + 1, at, &own, err);
            if (status == FEN_OK) status = take(r, l, at, p, next, &own, err);
            team.stopped = 1; /* nobody waits for more */
        } else {
            go(&kept, l->twin, l->first, r->count, &l->at, &own, NULL);
            l->ended = 1;
        }
    }
    return status;
}

/* ---- all of them ---------------------------------------------------------------------------- */

fen_status fenp_ladder_descend(const fenp_linear *problem, fenp_linear_state *begun,
                               const fenp_ladder *rungs, const fenp_task *task, fen_error *err)
{
    fenp_linear_state *state = begun;
    fenp_linear_point at;
    later l = { .count = 0 };
    int64_t next = 0;
    fen_status status = open_point(problem, &at, err);
    if (status == FEN_OK && !state) status = fenp_linear_begin(problem, &state, task, err);
    if (status == FEN_OK && open_later(rungs, problem, state, &l))
        status = go_by_two(rungs, state, &l, &at, problem->x->p, &next, task, err);
    if (status == FEN_OK) status = go(rungs, state, next, rungs->count, &at, task, err);
    close_later(&l);
    fenp_linear_end(state);
    close_point(&at);
    return status;
}
