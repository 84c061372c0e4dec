/* linear_square.c -- the pool's problem under the square loss, and quadratics in general
 *
 *     1/2 beta'H beta - a'beta + sum_g l_g ||beta_g|| + sum_k d_k/2 beta_k^2
 *
 * Method: coefficients by themselves are a quadratic program with kinks: the active set of
 *   pivot.h, whose Cholesky factor is updated as coefficients come and go, ends at the optimum.
 *   Who will come is foreseen from the slopes at the two lambdas before, which are nearly straight
 *   lines: that saves every second step.
 *   Groups: group_qp.h. Slopes are made anew from H before they are believed.
 * Cost: 4 m^2 for every change of the support, m of its coefficients, on the whole way along
 *   lambda: the factor is kept from one to the next. */
#include "solver/linear_parts.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/threads.h"
#include "simd/simd.h"
#include "solver/group_qp.h"
#include "solver/pivot.h"

enum { ROUNDS = 6 };

static fen_status by_pivots(fenp_linear_state *s, double tolerance, const fenp_task *task,
                            fen_error *err)
{
    fenp_pool *p = &s->pool;
    const int64_t k = p->size * s->q.x->copies;
    double *stiff = p->work + 7 * p->ld, *low = stiff + p->ld, *high = low + p->ld;
    fenp_qp q = { .n = k, .b = p->beta, .g = p->g, .d = p->d, .kink = p->l };
    fenp_pivot_room room = { p->factor, p->work, p->who, 1e-11,
                             p->ld,     p->kept, 1,      p->expecting ? p->earlier + p->ld : NULL };
    q.stiff = stiff, q.low = low, q.high = high;
    for (int64_t i = 0; i < k; i++) {
        stiff[i] = p->h[i * p->ld + i] + p->d[i];
        low[i] = s->q.nonnegative ? 0.0 : -INFINITY;
        high[i] = INFINITY;
        p->g[i] += p->d[i] * p->beta[i];
    }
    int moved;
    const int narrowed = fenp_threads_narrow(0);
    const fen_status status =
        fenp_pivot(&q, p->h, p->ld, tolerance, 20 * k + 1000, &room, &moved, task, err);
    fenp_threads_widen(narrowed);
    p->kept = s->square && s->q.mix == 1.0 ? room.kept : 0; /* else H or D will be another */
    for (int64_t i = 0; i < k; i++) p->g[i] -= p->d[i] * p->beta[i];
    return status;
}

static void tilt_diagonal(fenp_linear_state *s, double sign)
{
    fenp_pool *p = &s->pool;
    for (int64_t i = 0; i < p->size * s->q.x->copies; i++) p->h[i * p->ld + i] += sign * p->d[i];
}

static fen_status by_groups(fenp_linear_state *s, double tolerance, const fenp_task *task,
                            fen_error *err)
{
    fenp_pool *p = &s->pool;
    const int64_t k = p->size * s->q.x->copies;
    const fenp_group_qp q = { .k = k,
                              .groups = p->groups,
                              .h = p->h,
                              .ld = p->ld,
                              .start = p->start,
                              .l = p->l,
                              .b = p->beta,
                              .g = p->g };
    tilt_diagonal(s, 1.0);
    for (int64_t i = 0; i < k; i++) p->g[i] += p->d[i] * p->beta[i];
    const fen_status status = fenp_group_qp_solve(&q, tolerance, task, err);
    for (int64_t i = 0; i < k; i++) p->g[i] -= p->d[i] * p->beta[i];
    tilt_diagonal(s, -1.0);
    return status;
}

fen_status fenp_linear_quadratic(fenp_linear_state *s, double tolerance, const fenp_task *task,
                                 fen_error *err)
{
    const fenp_pool *p = &s->pool;
    return p->groups == p->size * s->q.x->copies ? by_pivots(s, tolerance, task, err)
                                                 : by_groups(s, tolerance, task, err);
}

/* g = H beta - a, by the columns of coefficients other than 0 where those are few: a product that
 * knows of symmetry reads half of H. */
static void multiply(fenp_pool *p, int64_t k)
{
    int64_t active = 0;
    for (int64_t i = 0; i < k; i++) {
        p->g[i] = -p->a[i];
        active += p->beta[i] != 0.0;
    }
    if (active < k / 3) {
        fenp_simd_get()->add_columns(k, k, p->h, p->ld, p->beta, p->g);
    } else {
        cblas_dsymv(CblasColMajor, CblasLower, (int)k, 1.0, p->h, (int)p->ld, p->beta, 1, 1.0, p->g,
                    1);
    }
}

/* Whatever lambda is: nothing to do where beta is as it was then. */
static void refresh(fenp_linear_state *s)
{
    fenp_pool *p = &s->pool;
    const int64_t k = p->size * s->q.x->copies;
    if (k != p->sloped) multiply(p, k);
    p->sloped = k;
}

/* Slopes at lambda, if they go on as they did between the last two; 0: there are no two. They must
 * be in force; they are those of the lambda before from now on. */
static int foresee(fenp_pool *p, int64_t k, double lambda)
{
    if (k == 0) return 0;
    const int known = p->recorded == k && p->lambda[0] > 0.0 && p->lambda[0] != p->lambda[1];
    double *next = p->earlier + p->ld;
    const double share = known ? (lambda - p->lambda[1]) / (p->lambda[1] - p->lambda[0]) : 0.0;
    for (int64_t i = 0; i < k && known; i++) next[i] = p->g[i] + share * (p->g[i] - p->earlier[i]);
    memcpy(p->earlier, p->g, (size_t)k * sizeof *p->g);
    p->recorded = k, p->lambda[0] = p->lambda[1], p->lambda[1] = lambda;
    return known;
}

static double violation_of_group(const fenp_linear_state *s, int64_t g)
{
    const fenp_pool *p = &s->pool;
    double norm = 0.0, away = 0.0;
    for (int64_t k = p->start[g]; k < p->start[g + 1]; k++) norm += p->beta[k] * p->beta[k];
    norm = sqrt(norm);
    for (int64_t k = p->start[g]; k < p->start[g + 1]; k++) {
        const double slope = p->g[k] + p->d[k] * p->beta[k];
        const double push = norm > 0.0 ? p->l[g] * p->beta[k] / norm : 0.0;
        away += norm > 0.0         ? (slope + push) * (slope + push)
                : s->q.nonnegative ? fmin(slope, 0.0) * fmin(slope, 0.0)
                                   : slope * slope;
    }
    return norm > 0.0 ? sqrt(away) : sqrt(away) - p->l[g];
}

/* The same of a group of one, without a root. */
static double violation_of_one(const fenp_linear_state *s, int64_t g)
{
    const fenp_pool *p = &s->pool;
    const int64_t k = p->start[g];
    const double slope = p->g[k] + p->d[k] * p->beta[k];
    if (p->beta[k] != 0.0) return fabs(slope + (p->beta[k] > 0.0 ? p->l[g] : -p->l[g]));
    return (s->q.nonnegative && slope > 0.0 ? 0.0 : fabs(slope)) - p->l[g];
}

/* Distance of the pool from its optimum, in units of l. */
static double violation(const fenp_linear_state *s)
{
    const fenp_pool *p = &s->pool;
    double most = 0.0;
    for (int64_t g = 0; g < p->groups; g++) {
        const int64_t members = p->start[g + 1] - p->start[g];
        const double away = members == 1 ? violation_of_one(s, g) : violation_of_group(s, g);
        if (away > most) most = away;
    }
    return most;
}

/* What a slope may be off: a share of the least price of a coefficient, or of the largest slope if
 * that is less (prices beyond it are for nobody), but no less than its rounding errors. */
static double allowed(const fenp_linear_state *s, double goal)
{
    const fenp_pool *p = &s->pool;
    double least = INFINITY, largest = 0.0;
    for (int64_t g = 0; g < p->groups; g++)
        if (p->l[g] > 0.0 && p->l[g] < least) least = p->l[g];
    for (int64_t k = 0; k < p->size * s->q.x->copies; k++)
        if (fabs(p->a[k]) > largest) largest = fabs(p->a[k]);
    const double floor = 1e-14 * largest;
    return isinf(least) ? floor : fmax(goal * fmin(least, largest), floor);
}

fen_status fenp_linear_square(fenp_linear_state *s, double lambda, double goal,
                              const fenp_task *task, fen_error *err)
{
    fenp_pool *p = &s->pool;
    fen_status status = FEN_OK;
    double before = INFINITY;
    fenp_pool_price(s, lambda);
    const double tolerance = allowed(s, goal);
    refresh(s);
    p->expecting = foresee(p, p->size * s->q.x->copies, lambda);
    for (int round = 0; round < ROUNDS && status == FEN_OK && p->size > 0; round++) {
        const double now = violation(s);
        if (now <= tolerance || now > 0.5 * before) break;
        before = now;
        if (round > 0) p->kept = 0; /* a factor that was updated too often does not last */
        p->sloped = 0;
        status = fenp_linear_quadratic(s, 0.5 * tolerance, task, err);
        p->expecting = 0;
        refresh(s);
    }
    p->expecting = 0;
    if (s->whole) return status;
    fenp_linear_scores(s);
    fenp_linear_dual(s);
    return status;
}
