/* linear_newton.c -- the pool's problem under a smooth loss, by proximal Newton steps
 *
 * At (beta, b) the loss becomes its quadratic, H = Z'diag(h)Z with h = w v''(t), b put where
 * that is least for every beta: columns lose their mean under h. Its optimum with the penalty
 * (linear_square.c) is the end of a ray along which the true objective is searched; then b is
 * found anew. H is the affair of linear_bent.c:
 *   losses in pieces   H follows the rows, and slopes are H beta - a: of the columns only those
 *                      with a coefficient are read, for the scores along the ray
 *   others             old curvatures serve, times a factor, as long as a step with them still
 *                      makes the gap four times smaller: slopes are always those of the true loss
 * Curvatures are a share of the loss's smoothness at least, 1e-8 or what steps that fell short
 * have taught: on straight parts of a loss H promises too much.
 * Convergence: quadratic with new curvatures once the supports agree.
 * Cost: n k for a step, and see linear_bent.c; m^3/3 for the pivots. */
#include "solver/linear_parts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"

enum { STEPS = 60, HALVINGS = 40 };

typedef struct newton {
    fenp_linear_state *s;
    double *beta;        /* k: where the step began                                */
    double *ray, *start; /* rows: scores along it, and where it begins              */
    double *shift, *b;   /* copies: b along it, and where it begins                 */
} newton;

static fen_status open(fenp_linear_state *s, newton *r, fen_error *err)
{
    const int64_t copies = s->q.x->copies, k = s->pool.size * copies;
    const int64_t bytes = fenp_bytes(k + 2 * s->rows + 2 * copies, 1, sizeof(double));
    double *at = bytes < 0 ? NULL : fenp_new(bytes, 1);
    *r = (newton){ .s = s, .beta = at };
    if (!at) return fenp_no_memory(err, bytes, "the Newton step");
    r->ray = r->beta + k, r->start = r->ray + s->rows;
    r->shift = r->start + s->rows, r->b = r->shift + copies;
    return fenp_bent_open(s, err);
}

/* ---- along the ray --------------------------------------------------------------------------- */

/* What the scores and b of every copy do on the way from r->beta to the pool's. z has lost the
 * mean that s->t still has: b makes up for both. */
static void aim(newton *r)
{
    fenp_linear_state *s = r->s;
    fenp_pool *p = &s->pool;
    const int64_t k = p->size * s->q.x->copies, copies = s->q.x->copies;
    memcpy(r->start, s->t, (size_t)s->rows * sizeof *s->t);
    memcpy(r->b, s->b, (size_t)copies * sizeof *s->b);
    fenp_linear_scores(s);
    for (int64_t i = 0; i < s->rows; i++) r->ray[i] = s->t[i] - r->start[i];
    for (int64_t t = 0; t < copies; t++) r->shift[t] = 0.0;
    for (int64_t i = 0; s->q.bias && i < k; i++)
        r->shift[i % copies] -= (p->centre[i] + p->mean[i / copies]) * (p->beta[i] - r->beta[i]);
}

/* With the best b. */
static double objective(newton *r, double length, const double *goal)
{
    fenp_linear_state *s = r->s;
    fenp_pool *p = &s->pool;
    const int64_t copies = s->q.x->copies;
    for (int64_t i = 0; i < p->size * copies; i++)
        p->beta[i] = length == 1.0 ? goal[i] : r->beta[i] + length * (goal[i] - r->beta[i]);
    for (int64_t i = 0; i < s->rows; i++) s->t[i] = r->start[i] + length * r->ray[i];
    for (int64_t t = 0; t < copies; t++) s->b[t] = r->b[t] + length * r->shift[t];
    fenp_linear_dual(s);
    return (double)s->rows_of.loss + fenp_linear_penalty(s);
}

/* How much of the ray lets the objective fall; 0: nothing. */
static double search(newton *r, double before, double promised, double *goal)
{
    const fenp_pool *p = &r->s->pool;
    const double fuzz = 4.0 * DBL_EPSILON * fabs(before);
    double length = 1.0;
    memcpy(goal, p->beta, (size_t)(p->size * r->s->q.x->copies) * sizeof *goal);
    for (int halving = 0; halving < HALVINGS; halving++, length *= 0.5)
        if (objective(r, length, goal) <= before + 1e-4 * length * promised + fuzz) return length;
    objective(r, 0.0, goal);
    return 0.0;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* One step; 0: there is nothing to gain any more. */
static int step(newton *r, double before, double tolerance, double *goal, const fenp_task *task,
                fen_status *status, fen_error *err)
{
    fenp_linear_state *s = r->s;
    fenp_pool *p = &s->pool;
    const int64_t k = p->size * s->q.x->copies;
    const double penalty = fenp_linear_penalty(s);
    memcpy(r->beta, p->beta, (size_t)k * sizeof *r->beta);
    memcpy(goal, p->g, (size_t)k * sizeof *goal);
    *status = fenp_linear_quadratic(s, tolerance, task, err);
    if (*status != FEN_OK) {
        memcpy(p->beta, r->beta, (size_t)k * sizeof *r->beta);
        return 0;
    }
    double promised = fenp_linear_penalty(s) - penalty;
    for (int64_t i = 0; i < k; i++) promised += goal[i] * (p->beta[i] - r->beta[i]);
    aim(r);
    /* at the end promises drown in rounding errors, slopes do not yet */
    const int worthwhile = promised < 4.0 * DBL_EPSILON * fabs(before);
    const double length = worthwhile ? search(r, before, fmin(promised, 0.0), goal) : 0.0;
    if (length < 1.0 && length > 0.0 && !s->bent.exact) s->pool.shaped = 0;
    fenp_linear_learn(s, length);
    if (length > 0.0) return 1;
    memcpy(p->beta, r->beta, (size_t)k * sizeof *r->beta);
    memcpy(s->t, r->start, (size_t)s->rows * sizeof *s->t);
    return 0;
}

/* What a slope may be off at the end of a step, the gap being what it is: the quadratic of an
 * exact matrix is the problem itself but for few rows, and solved as well as that. */
static double precision(const fenp_linear_state *s, double gap, double goal)
{
    const fenp_pool *p = &s->pool;
    double least = INFINITY, steepest = 0.0;
    for (int64_t g = 0; g < p->groups; g++)
        if (p->l[g] > 0.0) least = fmin(least, p->l[g]);
    for (int64_t k = 0; k < p->size * s->q.x->copies; k++) steepest = fmax(steepest, fabs(p->g[k]));
    const double share = s->bent.exact ? fmin(0.1 * gap, 0.3 * goal) : fmin(0.1 * gap, 0.01);
    return fmax(share * fmin(least, steepest), 1e-15 * steepest);
}

/* Slopes and gap of the pool, by the matrix where that can tell. */
static fen_status judge(fenp_linear_state *s, double lambda, double goal, fenp_linear_point *at,
                        fen_error *err)
{
    static const fenp_linear_outside nobody = { 0.0, 0.0 };
    fen_status status = fenp_bent_follow(s, err);
    if (status == FEN_OK && s->bent.exact) status = fenp_bent_join(s, err);
    if (status != FEN_OK) return status;
    if (s->bent.exact) {
        fenp_bent_slopes(s);
        fenp_linear_values(s, lambda, nobody, at);
        if (fenp_bent_tells(s, fmax(at->relative_gap, goal), at->primal)) return FEN_OK;
    }
    fenp_pool_slopes(s);
    fenp_linear_values(s, lambda, nobody, at);
    return FEN_OK;
}

fen_status fenp_linear_newton(fenp_linear_state *s, double lambda, double goal,
                              const fenp_task *task, fen_error *err)
{
    newton r;
    fenp_pool_price(s, lambda);
    if (!s->settled) {
        fenp_linear_scores(s);
        fenp_linear_dual(s);
    }
    s->settled = 1;
    if (s->pool.size == 0) return FEN_OK;
    fen_status status = open(s, &r, err);
    double *kept = s->pool.work + 11 * s->pool.ld, before = INFINITY;
    int known = 0; /* the slopes of where it ends */
    for (int n = 0; n < STEPS && status == FEN_OK; n++) {
        fenp_linear_point at;
        status = judge(s, lambda, goal, &at, err);
        known = status == FEN_OK && at.relative_gap <= goal;
        if (status != FEN_OK || known) break;
        const int fresh = s->bent.exact || s->pool.shaped == 0 || at.relative_gap > 0.25 * before;
        if (fresh && !s->bent.exact) fenp_bent_renew(s);
        if (!fresh) fenp_bent_rescale(s);
        status = fenp_bent_join(s, err);
        if (status != FEN_OK) break;
        before = at.relative_gap;
        const int moved = step(&r, at.primal, precision(s, before, goal), kept, task, &status, err);
        if (!moved && fresh) break;
        if (!moved) before = 0.0; /* new curvatures next */
    }
    if (!known) fenp_pool_slopes(s);
    free(r.beta);
    return status;
}
