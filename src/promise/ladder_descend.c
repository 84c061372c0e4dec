/* ladder_descend.c -- see ladder.h: one problem along falling lambdas, by one thread or two
 *
 * Method. Each solution is the start of the next. Where a Gram matrix says it all a second thread
 *   takes the last lambdas: the active set finds the first of them from nothing in the time of ten
 *   others. (The start of a third, farther down, would cost more than it saves.) The first thread
 *   goes one lambda beyond where the second began. Unless both have the same coefficients there it
 *   goes on to the end itself: of columns that are alike one might come and another go at the seam
 *   for no reason.
 * Cost. Coefficients come late: the last quarter of the lambdas takes as long as the others. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "promise/ladder.h"

static const double MEET = 0.76;  /* share of the lambdas before the second thread's */
static const double ENOUGH = 4e6; /* entries of matrices read on the way, for two       */
static const double ALIKE = 1e-6; /* of the largest coefficient                         */

typedef struct descent {
    const fenp_linear *problem;
    const double *lambdas;
    int64_t count;
    double gap;
    fenp_at_rung visit;
    void *user;
} descent;

/* The lambdas from first to before last, from the solution in at. */
static fen_status go(const descent *d, fenp_linear_state *state, int64_t first, int64_t last,
                     fenp_linear_point *at, const fenp_task *task, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t k = first; k < last && status == FEN_OK; k++) {
        const double count = (double)d->count;
        const fenp_task part = fenp_task_part(task, task ? task->stage : "", (double)k / count,
                                              (double)(k + 1) / count);
        at->lambda = d->lambdas[k];
        status = fenp_linear_solve(state, d->gap, at, &part, err);
        if (status == FEN_OK) status = d->visit(d->user, k, at, err);
        if (status == FEN_OK) status = fenp_task_at(&part, 1.0, err);
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

/* What the second one finds, until the first is there. One copy. */
typedef struct later {
    fenp_linear_state *twin;
    fenp_linear_point at, *point; /* room: kept ones                                    */
    double *beta;                 /* room x (p + 1): of these, and b                    */
    int64_t first, room, count;   /* rung of the first; points; so many are there          */
} later;

static fen_status keep(void *user, int64_t rung, const fenp_linear_point *at, fen_error *err)
{
    later *l = user;
    (void)rung, (void)err;
    fenp_linear_point *to = &l->point[l->count];
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
static int open_later(const descent *d, const fenp_linear_state *state, later *l)
{
    const double p = (double)d->problem->x->p;
    const int64_t each = d->problem->x->p + 1;
    l->first = (int64_t)(MEET * (double)d->count), l->room = d->count - l->first;
    if (omp_in_parallel() || omp_get_max_threads() < 2 || l->room < 2) return 0;
    if (p * p * (double)d->count < ENOUGH || !(l->twin = fenp_linear_twin(state))) return 0;
    l->point = fenp_new(l->room, sizeof *l->point);
    l->beta = fenp_new(fenp_bytes(l->room, each, sizeof *l->beta), 1);
    if (!l->point || !l->beta || open_point(d->problem, &l->at, NULL) != FEN_OK) return 0;
    for (int64_t k = 0; k < l->room; k++) {
        l->point[k].beta = l->beta + k * each;
        l->point[k].b = l->point[k].beta + d->problem->x->p;
    }
    return 1;
}

static int are_alike(const double *a, const double *b, int64_t p)
{
    double largest = 0.0, off = 0.0;
    for (int64_t j = 0; j < p; j++) {
        if ((a[j] == 0.0) != (b[j] == 0.0)) return 0;
        largest = fmax(largest, fabs(a[j])), off = fmax(off, fabs(a[j] - b[j]));
    }
    return off <= ALIKE * largest;
}

/* The first thread goes as far as the first lambda of the second one; what that one found is
 * visited then. *next: the rung to go on from. */
static fen_status go_by_two(const descent *d, fenp_linear_state *state, later *l,
                            fenp_linear_point *at, int64_t *next, const fenp_task *task,
                            fen_error *err)
{
    descent kept = *d;
    fenp_team team = { .task = task };
    fen_status status = FEN_OK;
    kept.visit = keep, kept.user = l;
#pragma omp parallel for schedule(static, 1) num_threads(2)
    for (int thread = 0; thread < 2; thread++) {
        fen_host host;
        const fenp_task own = fenp_team_task(&team, thread == 0, &host);
        if (thread == 0) {
            status = go(d, state, 0, l->first + 1, at, &own, err);
            if (status != FEN_OK) team.stopped = 1;
        } else {
            go(&kept, l->twin, l->first, d->count, &l->at, &own, NULL);
        }
    }
    *next = l->first + 1;
    if (status != FEN_OK || l->count == 0) return status;
    if (!are_alike(at->beta, l->point[0].beta, d->problem->x->p)) return FEN_OK;
    for (int64_t k = 1; k < l->count && status == FEN_OK; k++, ++*next)
        status = d->visit(d->user, *next, &l->point[k], err);
    return status;
}

/* ---- all of them ---------------------------------------------------------------------------- */

fen_status fenp_ladder_descend(const fenp_linear *problem, fenp_linear_state *begun,
                               const double *lambdas, int64_t count, double gap, fenp_at_rung visit,
                               void *user, const fenp_task *task, fen_error *err)
{
    const descent d = { problem, lambdas, count, gap, visit, user };
    fenp_linear_state *state = begun;
    fenp_linear_point at;
    later l = { .count = 0 };
    int64_t next = 0;
    fen_status status = open_point(problem, &at, err);
    if (status == FEN_OK && !state) status = fenp_linear_begin(problem, &state, task, err);
    if (status == FEN_OK && open_later(&d, state, &l))
        status = go_by_two(&d, state, &l, &at, &next, task, err);
    if (status == FEN_OK) status = go(&d, state, next, count, &at, task, err);
    close_later(&l);
    fenp_linear_end(state);
    close_point(&at);
    return status;
}
