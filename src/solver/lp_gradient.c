/* lp_gradient.c -- any loss under a penalty l^p: the dual proximal gradient method
 *
 *     a+ = prox of r phi2 at (a - r grad phi1(a)),   phi1 = T/q,  grad phi1 = om,
 *     phi2 = sum g_i, with a bias on sum a = 0
 *
 * Method. Algorithm 3.3 of the paper (Salzo, Suykens and Rosasco, Solving l^p-norm regularization with
 * tensor kernels), its slips corrected: the step r is halved until
 *     phi1(a+) - phi1(a) - <a+ - a, grad phi1(a)> <= delta/r |a+ - a|^2,  delta = 1/2,
 * and a search begins at the last r, or at twice that if the left side of the last step says that
 * this would have done as well: a third fewer looks than always at twice. Proximal steps by
 * Moreau: with step c/r
 *     t = prox of v at -(x - r b)/r,   a+ = x - r b + r t,
 * b such that sum a+ = 0, by halving (a+ falls as b rises).
 * Here as the reference for lp-newton: linear convergence for smooth losses, slower with
 * corners. On data with columns of unequal size hundreds to thousands of steps.
 * Cost. A form's scores per step, at every second or third one more. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/linalg.h"
#include "solver/lp.h"

enum { AT_ONCE = 500, SEARCHES = 60, HALVINGS = 200 };
static const double DELTA = 0.5, SHORTER = 0.5;

typedef struct state {
    fenp_lp lp;               /* first: see fenp_lp_steps */
    double *from, *slope, *x; /* n: a and om before the step; where the prox is taken */
    double r;
    double bend; /* of phi1 along the last step: what it is above its slope, over |a+ - a|^2 */
} state;

/* a <- the proximal point of x - r b; returns its sum */
static double prox_at(state *s, double r, double b)
{
    fenp_lp *lp = &s->lp;
    long double sum = 0.0L;
    for (int64_t k = 0; k < lp->m; k++) {
        const int64_t i = lp->row[k];
        const double unit = lp->scale * lp->q.w[i], x = s->x[i] - r * b;
        const double t = lp->q.loss->prox(lp->q.y[i], -x / r, unit / r, lp->q.par);
        lp->a[i] = x + r * t;
        sum += lp->a[i];
    }
    return (double)sum;
}

/* The same with the b that makes the sum 0. */
static void prox(state *s, double r)
{
    double low = s->lp.b, high = s->lp.b, reach = 1.0;
    if (!s->lp.q.bias) {
        prox_at(s, r, 0.0);
        return;
    }
    while (prox_at(s, r, low) < 0.0 && reach < 1e300) low -= reach, reach *= 2.0;
    for (reach = 1.0; prox_at(s, r, high) > 0.0 && reach < 1e300; reach *= 2.0) high += reach;
    for (int step = 0; step < HALVINGS; step++) {
        const double middle = 0.5 * (low + high);
        if (!(low < middle && middle < high)) break;
        *(prox_at(s, r, middle) > 0.0 ? &low : &high) = middle;
    }
    prox_at(s, r, high);
}

/* Whether phi1 stays below its model; distance: |a+ - a|^2 */
static int is_below(state *s, double before, double r, double *distance)
{
    const fenp_lp *lp = &s->lp;
    long double square = 0.0L, along = 0.0L;
    for (int64_t k = 0; k < lp->m; k++) {
        const int64_t i = lp->row[k];
        const double move = lp->a[i] - s->from[i];
        square += (long double)move * move, along += (long double)move * s->slope[i];
    }
    *distance = (double)square;
    const double now = lp->value / lp->order, noise = 4.0 * DBL_EPSILON * (now + before);
    const double above = now - before - (double)along;
    s->bend = *distance > 0.0 ? above / *distance : 0.0;
    return above <= DELTA / r * *distance + noise;
}

static int step(state *s)
{
    fenp_lp *lp = &s->lp;
    const size_t size = (size_t)lp->n * sizeof(double);
    const double before = lp->value / lp->order;
    double distance = 0.0;
    memcpy(s->from, lp->a, size);
    memcpy(s->slope, lp->om, size);
    if (s->bend * s->r <= DELTA * SHORTER) s->r /= SHORTER;
    for (int search = 0; search < SEARCHES; search++, s->r *= SHORTER) {
        for (int64_t i = 0; i < lp->n; i++) s->x[i] = s->from[i] - s->r * s->slope[i];
        prox(s, s->r);
        fenp_lp_look(lp);
        if (is_below(s, before, s->r, &distance)) break;
    }
    lp->steps++;
    return distance > 0.0;
}

/* The first step: a over its slope. */
static double first_step(const fenp_lp *lp)
{
    const double slope = cblas_dnrm2((int)lp->n, lp->om, 1), a = cblas_dnrm2((int)lp->n, lp->a, 1);
    return slope > 0.0 && a > 0.0 ? a / slope : 1.0;
}

static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    state *s = work;
    fen_status status = FEN_OK;
    int grown;
    if (fenp_lp_set(&s->lp, problem, out->dual)) {
        s->r = first_step(&s->lp), s->bend = 0.0;
        for (int k = 0; k < AT_ONCE; k++) {
            status = fenp_lp_grow(&s->lp, problem->gap, &grown, task, err);
            if (status == FEN_OK) status = fenp_task_at(task, 0.0, err);
            if (status != FEN_OK || !(s->lp.gap > problem->gap) || !step(s)) break;
            fenp_lp_judge(&s->lp);
        }
    }
    if (status == FEN_OK || fenp_is_end(status)) fenp_lp_leave(&s->lp, out);
    return status;
}

/* ---- the table ---------------------------------------------------------------------------- */

static int64_t own_bytes(int64_t n)
{
    return fenp_arena_bytes((int64_t)sizeof(state) / 8 + 1) + 3 * fenp_arena_bytes(n);
}

static int64_t bytes(const fenp_size *size)
{
    const int64_t shared = fenp_lp_bytes(size);
    return shared < 0 ? -1 : shared + own_bytes(size->n);
}

static double flops(const fenp_size *size) { return fenp_lp_flops(size, 500.0); }

static fen_status begin(fenp_arena *arena, const fenp_problem *problem, void **out,
                        const fenp_task *task, fen_error *err)
{
    const int64_t n = problem->sample->n;
    state *s = (state *)(void *)fenp_arena_doubles(arena, (int64_t)sizeof(state) / 8 + 1);
    *s = (state){ .r = 0.0 };
    s->from = fenp_arena_doubles(arena, n);
    s->slope = fenp_arena_doubles(arena, n);
    s->x = fenp_arena_doubles(arena, n);
    *out = s;
    return fenp_lp_begin(arena, problem, &s->lp, task, err);
}

const fenp_solver fenp_solver_lp_gradient = {
    .name = "lp-gradient",
    .help = "penalty lp, any loss: proximal gradient steps in the dual vector, for reference",
    .iterative = 1,
    .lp = 1,
    .accepts = fenp_lp_accepts,
    .bytes = bytes,
    .flops = flops,
    .begin = begin,
    .sweep = sweep,
};
