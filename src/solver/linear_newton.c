/* linear_newton.c -- the pool's problem under a smooth loss, by proximal Newton steps
 *
 * At (beta, b) the loss becomes its quadratic, H = Z'diag(h)Z with h = w v''(t), b put where
 * that is least for every beta: columns lose their mean under h. Its optimum with the penalty
 * (linear_square.c) is the end of a ray along which the true objective is searched; then b is
 * found anew. Curvatures are 1e-8 of the loss's smoothness at least: rows on a straight part
 * of it would let H be singular where nothing is gained by that.
 * Convergence: quadratic once the supports agree. Steps: some 4 to 8, fewer from a neighbour.
 * Cost: n k^2 flops for H, one step; memory for another copy of the pool's columns. */
#include "solver/linear_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "solver/target.h"

enum { STEPS = 60, HALVINGS = 40 };
static const double LEAST_CURVATURE = 1e-8;

typedef struct newton {
    fenp_linear_state *s;
    double *scaled;      /* n x size: sqrt(h) (z - mean under h)                   */
    double *mean;        /* size x copies: of z under h                            */
    double *beta;        /* k: where the step began                                */
    double *ray, *start; /* rows: scores along it, and where it begins              */
    double *shift;       /* copies: b along it                                     */
    double *h;           /* rows                                                   */
} newton;

static fen_status open(fenp_linear_state *s, newton *r, fen_error *err)
{
    const int64_t n = s->q.x->n, size = s->pool.size, copies = s->q.x->copies;
    const int64_t count = n * size + 2 * size * copies + 3 * s->rows + copies;
    const int64_t bytes = fenp_bytes(count, 1, sizeof(double));
    double *at = bytes < 0 ? NULL : fenp_new(bytes, 1);
    if (!at) return fenp_no_memory(err, bytes, "the Newton step");
    *r = (newton){ .s = s, .scaled = at };
    r->mean = r->scaled + n * size, r->beta = r->mean + size * copies;
    r->ray = r->beta + size * copies, r->start = r->ray + s->rows, r->h = r->start + s->rows;
    r->shift = r->h + s->rows;
    return FEN_OK;
}

/* ---- H ------------------------------------------------------------------------------------- */

static double curvature_sum(const newton *r, int64_t t)
{
    const double *h = r->h + t * r->s->q.x->n;
    double sum = 0.0;
    for (int64_t i = 0; i < r->s->q.x->n; i++) sum += h[i];
    return sum;
}

/* Columns under the curvatures of copy t. */
static void scale_columns(newton *r, int64_t t)
{
    const fenp_linear_state *s = r->s;
    const int64_t n = s->q.x->n, copies = s->q.x->copies;
    const double *h = r->h + t * n, total = curvature_sum(r, t);
#pragma omp parallel for schedule(static) if (n * s->pool.size > 1 << 15)
    for (int64_t k = 0; k < s->pool.size; k++) {
        const double *z = s->pool.z + k * n;
        double mean = 0.0, *to = r->scaled + k * n;
        if (s->q.bias && total > 0.0) {
            for (int64_t i = 0; i < n; i++) mean += h[i] * z[i];
            mean /= total;
        }
        r->mean[k * copies + t] = mean;
        for (int64_t i = 0; i < n; i++) to[i] = sqrt(h[i]) * (z[i] - mean);
    }
}

/* products: upper triangle of size x size for copy t -> H */
static void spread(fenp_linear_state *s, int64_t t, const double *products)
{
    fenp_pool *p = &s->pool;
    const int64_t copies = s->q.x->copies;
    for (int64_t j = 0; j < p->size; j++)
        for (int64_t i = 0; i <= j; i++) {
            const int64_t a = i * copies + t, b = j * copies + t;
            p->h[a * p->ld + b] = p->h[b * p->ld + a] = products[j * p->size + i];
        }
}

static fen_status make_matrix(newton *r, fen_error *err)
{
    fenp_linear_state *s = r->s;
    fenp_pool *p = &s->pool;
    const int64_t n = s->q.x->n, bytes = fenp_bytes(p->size, p->size, sizeof(double));
    double *products = fenp_new(bytes, 1);
    if (!products) return fenp_no_memory(err, bytes, "the Newton step");
    for (int64_t t = 0; t < s->q.x->copies; t++) {
        const fenp_target q = { .loss = s->q.loss,
                                .par = s->q.par,
                                .w = s->q.w + t * n,
                                .y = s->y + t * n,
                                .n = n,
                                .bias = s->q.bias };
        fenp_target_curvatures(&q, s->t + t * n, s->b[t], LEAST_CURVATURE * s->q.loss->smoothness,
                               r->h + t * n);
        scale_columns(r, t);
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, (int)p->size, (int)n, 1.0, r->scaled,
                    (int)n, 0.0, products, (int)p->size);
        spread(s, t, products);
    }
    free(products);
    return FEN_OK;
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
        r->shift[i % copies] -= (r->mean[i] + p->mean[i / copies]) * (p->beta[i] - r->beta[i]);
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

/* 1: the objective has fallen; 0: it cannot. */
static int search(newton *r, double before, double promised, double *goal)
{
    fenp_linear_state *s = r->s;
    fenp_pool *p = &s->pool;
    const int64_t copies = s->q.x->copies;
    double length = 1.0, at = 0.0;
    memcpy(goal, p->beta, (size_t)(p->size * copies) * sizeof *goal);
    for (int halving = 0; halving < HALVINGS; halving++, length *= 0.5) {
        for (int64_t t = 0; t < copies; t++) s->b[t] += (length - at) * r->shift[t];
        at = length;
        if (objective(r, length, goal) <= before + 1e-4 * length * promised) return 1;
    }
    for (int64_t t = 0; t < copies; t++) s->b[t] -= at * r->shift[t];
    objective(r, 0.0, goal);
    return 0;
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
    *status = make_matrix(r, err);
    if (*status == FEN_OK) *status = fenp_linear_quadratic(s, tolerance, task, err);
    if (*status != FEN_OK) return 0;
    double promised = fenp_linear_penalty(s) - penalty;
    for (int64_t i = 0; i < k; i++) promised += goal[i] * (p->beta[i] - r->beta[i]);
    aim(r);
    if (promised < 0.0 && search(r, before, promised, goal)) return 1;
    memcpy(p->beta, r->beta, (size_t)k * sizeof *r->beta);
    memcpy(s->t, r->start, (size_t)s->rows * sizeof *s->t);
    return 0;
}

fen_status fenp_linear_newton(fenp_linear_state *s, double lambda, double goal,
                              const fenp_task *task, fen_error *err)
{
    fenp_pool *p = &s->pool;
    newton r;
    fen_status status = FEN_OK;
    fenp_pool_price(s, lambda);
    fenp_linear_scores(s);
    fenp_linear_dual(s);
    if (p->size == 0) return FEN_OK;
    double *kept = p->work + 11 * p->ld;
    status = open(s, &r, err);
    if (status != FEN_OK) return status;
    for (int n = 0; n < STEPS && status == FEN_OK; n++) {
        fenp_pool_slopes(s);
        const double gap = fenp_linear_pool_gap(s, lambda);
        if (gap <= goal) break;
        double least = INFINITY, steepest = 0.0;
        for (int64_t g = 0; g < p->groups; g++)
            if (p->l[g] > 0.0) least = fmin(least, p->l[g]);
        for (int64_t k = 0; k < p->size * s->q.x->copies; k++)
            steepest = fmax(steepest, fabs(p->g[k]));
        const double share = fmin(0.1 * gap, 0.01);
        const double tolerance = fmax(share * fmin(least, steepest), 1e-15 * steepest);
        const int moved = step(&r, tolerance, kept, task, &status, err);
        fenp_linear_dual(s);
        if (!moved) break;
    }
    fenp_pool_slopes(s);
    free(r.scaled);
    return status;
}
