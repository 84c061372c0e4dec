/* linear_newton.c -- the pool's problem under a smooth loss, by proximal Newton steps
 *
 * At (beta, b) the loss becomes its quadratic, H = Z'diag(h)Z with h = w v''(t), b put where
 * that is least for every beta: columns lose their mean under h. Its optimum with the penalty
 * (linear_square.c) is the end of a ray along which the true objective is searched; then b is
 * found anew. Curvatures are a share of the loss's smoothness at least, 1e-8 or what steps that
 * fell short have taught: on straight parts of a loss H promises too much.
 * H is the dear part, and old curvatures serve as long as a step with them still makes the gap
 * four times smaller: slopes are always those of the true loss. Columns that join meanwhile get
 * their products under the old ones.
 * Convergence: quadratic with new curvatures once the supports agree.
 * Cost: n k^2 flops for H, n k for a step, m^3/3 for the pivots; memory for another copy of the
 * pool's columns. */
#include "solver/linear_parts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "solver/target.h"

enum { STEPS = 60, HALVINGS = 40 };

typedef struct newton {
    fenp_linear_state *s;
    double *scaled;      /* n x size: sqrt(h) (z - mean under h)                   */
    double *products;    /* size x (columns that joined)                           */
    double *beta;        /* k: where the step began                                */
    double *ray, *start; /* rows: scores along it, and where it begins              */
    double *shift;       /* copies: b along it                                     */
} newton;

static fen_status open(fenp_linear_state *s, newton *r, fen_error *err)
{
    const int64_t n = s->q.x->n, size = s->pool.size, copies = s->q.x->copies;
    const int64_t count = (n + size + copies) * size + 2 * s->rows + copies;
    const int64_t bytes = fenp_bytes(count, 1, sizeof(double));
    double *at = bytes < 0 ? NULL : fenp_new(bytes, 1);
    if (!at) return fenp_no_memory(err, bytes, "the Newton step");
    *r = (newton){ .s = s, .scaled = at };
    r->products = r->scaled + n * size, r->beta = r->products + size * size;
    r->ray = r->beta + size * copies, r->start = r->ray + s->rows, r->shift = r->start + s->rows;
    return FEN_OK;
}

/* ---- H ------------------------------------------------------------------------------------- */

/* Columns under the curvatures of copy t. */
static void scale_columns(newton *r, int64_t t)
{
    const fenp_linear_state *s = r->s;
    const int64_t n = s->q.x->n, copies = s->q.x->copies;
    const double *h = s->bent + t * n;
    double total = 0.0;
    for (int64_t i = 0; i < n; i++) total += h[i];
#pragma omp parallel for schedule(static) if (n * s->pool.size > 1 << 15)
    for (int64_t k = 0; k < s->pool.size; k++) {
        const double *z = s->pool.z + k * n;
        double mean = 0.0, *to = r->scaled + k * n;
        if (s->q.bias && total > 0.0) {
            for (int64_t i = 0; i < n; i++) mean += h[i] * z[i];
            mean /= total;
        }
        s->pool.centre[k * copies + t] = mean;
        for (int64_t i = 0; i < n; i++) to[i] = sqrt(h[i]) * (z[i] - mean);
    }
}

/* Products of the columns from old on with all before them, under copy t -> H */
static void multiply(newton *r, int64_t old, int64_t t)
{
    fenp_pool *p = &r->s->pool;
    const int64_t copies = r->s->q.x->copies, n = r->s->q.x->n;
    if (old == 0)
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, (int)p->size, (int)n, 1.0, r->scaled,
                    (int)n, 0.0, r->products, (int)p->size);
    else
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)p->size, (int)(p->size - old),
                    (int)n, 1.0, r->scaled, (int)n, r->scaled + old * n, (int)n, 0.0, r->products,
                    (int)p->size);
    for (int64_t j = old; j < p->size; j++)
        for (int64_t i = 0; i <= j; i++) {
            const int64_t a = i * copies + t, b = j * copies + t;
            p->h[a * p->ld + b] = p->h[b * p->ld + a] = r->products[(j - old) * p->size + i];
        }
}

static void bend(fenp_linear_state *s)
{
    fenp_linear_curvatures(s, s->bent);
    s->pool.shaped = 0;
}

static void make_matrix(newton *r)
{
    fenp_pool *p = &r->s->pool;
    for (int64_t t = 0; p->shaped < p->size && t < r->s->q.x->copies; t++) {
        scale_columns(r, t);
        multiply(r, p->shaped, t);
    }
    p->shaped = p->size;
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
    fenp_linear_scores(s);
    for (int64_t i = 0; i < s->rows; i++) r->ray[i] = s->t[i] - r->start[i];
    for (int64_t t = 0; t < copies; t++) r->shift[t] = 0.0;
    for (int64_t i = 0; s->q.bias && i < k; i++)
        r->shift[i % copies] -= (p->centre[i] + p->mean[i / copies]) * (p->beta[i] - r->beta[i]);
}

static double objective(newton *r, double length, const double *goal)
{
    fenp_linear_state *s = r->s;
    fenp_pool *p = &s->pool;
    const int64_t copies = s->q.x->copies;
    for (int64_t i = 0; i < p->size * copies; i++)
        p->beta[i] = length == 1.0 ? goal[i] : r->beta[i] + length * (goal[i] - r->beta[i]);
    for (int64_t i = 0; i < s->rows; i++) s->t[i] = r->start[i] + length * r->ray[i];
    return fenp_linear_loss(s) + fenp_linear_penalty(s);
}

/* How much of the ray lets the objective fall; 0: nothing. */
static double search(newton *r, double before, double promised, double *goal)
{
    fenp_linear_state *s = r->s;
    fenp_pool *p = &s->pool;
    const int64_t copies = s->q.x->copies;
    const double fuzz = 4.0 * DBL_EPSILON * fabs(before);
    double length = 1.0, at = 0.0;
    memcpy(goal, p->beta, (size_t)(p->size * copies) * sizeof *goal);
    for (int halving = 0; halving < HALVINGS; halving++, length *= 0.5) {
        for (int64_t t = 0; t < copies; t++) s->b[t] += (length - at) * r->shift[t];
        at = length;
        if (objective(r, length, goal) <= before + 1e-4 * length * promised + fuzz) return length;
    }
    for (int64_t t = 0; t < copies; t++) s->b[t] -= at * r->shift[t];
    objective(r, 0.0, goal);
    return 0.0;
}

/* ---- steps ------------------------------------------------------------------------------------- */

/* One step; 0: there is nothing to gain any more. */
static int step(newton *r, double tolerance, double *goal, const fenp_task *task,
                fen_status *status, fen_error *err)
{
    fenp_linear_state *s = r->s;
    fenp_pool *p = &s->pool;
    const int64_t k = p->size * s->q.x->copies;
    const double penalty = fenp_linear_penalty(s), before = fenp_linear_loss(s) + penalty;
    memcpy(r->beta, p->beta, (size_t)k * sizeof *r->beta);
    memcpy(goal, p->g, (size_t)k * sizeof *goal);
    make_matrix(r);
    *status = fenp_linear_quadratic(s, tolerance, task, err);
    if (*status != FEN_OK) return 0;
    double promised = fenp_linear_penalty(s) - penalty;
    for (int64_t i = 0; i < k; i++) promised += goal[i] * (p->beta[i] - r->beta[i]);
    aim(r);
    /* at the end promises drown in rounding errors, slopes do not yet */
    const int worthwhile = promised < 4.0 * DBL_EPSILON * fabs(before);
    const double length = worthwhile ? search(r, before, fmin(promised, 0.0), goal) : 0.0;
    if (length < 1.0 && length > 0.0) s->pool.shaped = 0;
    fenp_linear_learn(s, length);
    if (length > 0.0) return 1;
    memcpy(p->beta, r->beta, (size_t)k * sizeof *r->beta);
    memcpy(s->t, r->start, (size_t)s->rows * sizeof *s->t);
    return 0;
}

/* What a slope may be off at the end of a step, the gap being what it is. */
static double precision(const fenp_linear_state *s, double gap)
{
    const fenp_pool *p = &s->pool;
    double least = INFINITY, steepest = 0.0;
    for (int64_t g = 0; g < p->groups; g++)
        if (p->l[g] > 0.0) least = fmin(least, p->l[g]);
    for (int64_t k = 0; k < p->size * s->q.x->copies; k++) steepest = fmax(steepest, fabs(p->g[k]));
    return fmax(fmin(0.1 * gap, 0.01) * fmin(least, steepest), 1e-15 * steepest);
}

fen_status fenp_linear_newton(fenp_linear_state *s, double lambda, double goal,
                              const fenp_task *task, fen_error *err)
{
    newton r;
    fenp_pool_price(s, lambda);
    fenp_linear_scores(s);
    fenp_linear_dual(s);
    if (s->pool.size == 0) return FEN_OK;
    fen_status status = open(s, &r, err);
    if (status != FEN_OK) return status;
    double *kept = s->pool.work + 11 * s->pool.ld, before = INFINITY;
    int fresh = 0;
    for (int n = 0; n < STEPS && status == FEN_OK; n++) {
        fenp_pool_slopes(s);
        const double gap = fenp_linear_pool_gap(s, lambda);
        if (gap <= goal) break;
        fresh = s->pool.shaped == 0 || gap > 0.25 * before;
        if (fresh) bend(s);
        before = gap;
        const int moved = step(&r, precision(s, gap), kept, task, &status, err);
        fenp_linear_dual(s);
        if (!moved && fresh) break;
        if (!moved) before = 0.0; /* new curvatures next */
    }
    fenp_pool_slopes(s);
    free(r.scaled);
    return status;
}
