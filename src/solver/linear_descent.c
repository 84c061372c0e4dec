/* linear_descent.c -- the pool's problem by coordinate descent on its columns
 *
 * At (beta, b) the loss is its quadratic with curvatures h = w v''(t) (square loss: itself).
 * With e = h (change of t) - u the slope of a coefficient is x_k'e, and one step
 *
 *     beta_k <- shrink(beta_k - (x_k'e + d beta_k) / q_k, l / q_k),   q_k = x_k'diag(h)x_k + d
 *
 * changes e by h x_k delta. b follows every step at once: x_k loses its mean under h, which
 * takes h times one number, kept as a number (tilt): sparse columns cost their entries alone.
 * Acceleration: five passes are extrapolated (Anderson: the combination of iterates, weights
 * summing to 1, whose steps cancel best), and the result is kept if the quadratic is lower.
 * Passes visit the coefficients that moved; all of them come first. Then the ray to the end is
 * searched under the true loss and the pool's gap is judged.
 * For designs whose support is too large for a Gram matrix, and sparse ones under losses other
 * than the square. Cost: the entries of the visited columns twice a pass. */
#include "solver/linear_parts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"

enum { ROUNDS = 2000, PATIENCE = 30, PASSES = 10, DEPTH = 5, HALVINGS = 40 };

typedef struct descent {
    fenp_linear_state *s;
    double *h, *e, *from, *ray; /* rows: see above; scores where the ray begins, along it */
    double tilt, total;         /* e_i + tilt h_i is meant; sum h                   */
    double *stiff, *sum;        /* k: q_k; x_k'h                                    */
    double *begin;              /* k: beta where the quadratic was made              */
    double *past;               /* (DEPTH + 1) x k: iterates                        */
    int64_t *active;            /* k                                                */
    int64_t visited;
} descent;

static fen_status open(fenp_linear_state *s, descent *r, fen_error *err)
{
    const int64_t k = s->pool.size;
    const int64_t bytes = fenp_bytes(4 * s->rows + (4 + DEPTH + 1) * k, 1, sizeof(double));
    double *at = fenp_new(bytes, 1);
    int64_t *active = fenp_new(k, sizeof *active);
    *r = (descent){ .s = s, .h = at, .active = active };
    if (!at || !active) return fenp_no_memory(err, bytes, "coordinate descent");
    r->e = r->h + s->rows, r->from = r->e + s->rows, r->ray = r->from + s->rows;
    r->stiff = r->ray + s->rows, r->sum = r->stiff + k, r->begin = r->sum + k;
    r->past = r->begin + k;
    return FEN_OK;
}

/* ---- columns ------------------------------------------------------------------------------- */

/* Sparse: four sums, none of which waits for another. */
static double dot(const fenp_design *x, int64_t j, const double *v)
{
    if (x->dense) return cblas_ddot((int)x->n, x->dense + j * x->n, 1, v, 1);
    const int64_t end = x->start[j + 1];
    double sum[4] = { 0.0 };
    int64_t e = x->start[j];
    for (; e + 4 <= end; e += 4)
        for (int k = 0; k < 4; k++) sum[k] += x->value[e + k] * v[x->row[e + k]];
    for (int k = 0; e < end; e++, k++) sum[k] += x->value[e] * v[x->row[e]];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* e += delta h x_j */
static void add(descent *r, int64_t j, double delta)
{
    const fenp_design *x = r->s->q.x;
    if (x->dense)
        for (int64_t i = 0; i < x->n; i++) r->e[i] += delta * r->h[i] * x->dense[j * x->n + i];
    else
        for (int64_t k = x->start[j]; k < x->start[j + 1]; k++)
            r->e[x->row[k]] += delta * r->h[x->row[k]] * x->value[k];
}

/* x_j'Hx_j; *sum: x_j'h */
static double curvature_along(const descent *r, int64_t j, double *sum)
{
    const fenp_design *x = r->s->q.x;
    const int64_t from = x->dense ? j * x->n : x->start[j];
    const int64_t to = x->dense ? from + x->n : x->start[j + 1];
    const double *value = x->dense ? x->dense : x->value;
    double square = 0.0, first = 0.0;
    for (int64_t e = from; e < to; e++) {
        const double part = r->h[x->dense ? e - from : x->row[e]] * value[e];
        first += part, square += part * value[e];
    }
    *sum = first;
    return square;
}

/* ---- the quadratic --------------------------------------------------------------------------- */

static void model(descent *r)
{
    fenp_linear_state *s = r->s;
    fenp_linear_curvatures(s, r->h);
    r->total = 0.0, r->tilt = 0.0;
    for (int64_t i = 0; i < s->rows; i++) r->total += r->h[i], r->e[i] = -s->u[i];
    for (int64_t k = 0; k < s->pool.size; k++) {
        const int64_t j = s->pool.feature[k];
        r->stiff[k] = curvature_along(r, j, &r->sum[k]) + s->pool.d[k];
        if (!s->q.bias) r->sum[k] = 0.0;
        if (r->total > 0.0) r->stiff[k] -= r->sum[k] * (r->sum[k] / r->total);
    }
    memcpy(r->begin, s->pool.beta, (size_t)s->pool.size * sizeof *r->begin);
    memcpy(r->from, s->t, (size_t)s->rows * sizeof *s->t);
}

/* e anew for the pool's beta. */
static void settle_rows(descent *r)
{
    fenp_linear_state *s = r->s;
    r->tilt = 0.0;
    for (int64_t i = 0; i < s->rows; i++) r->e[i] = -s->u[i];
    for (int64_t k = 0; k < s->pool.size; k++) {
        const double delta = s->pool.beta[k] - r->begin[k];
        if (delta == 0.0) continue;
        add(r, s->pool.feature[k], delta);
        if (r->total > 0.0) r->tilt -= delta * (r->sum[k] / r->total);
    }
}

/* Of beta and e together, but for a constant. */
static double value(const descent *r)
{
    const fenp_linear_state *s = r->s;
    double sum = fenp_linear_penalty(s);
    for (int64_t i = 0; i < s->rows; i++) {
        const double e = r->e[i] + r->tilt * r->h[i];
        if (r->h[i] > 0.0) sum += 0.5 * e * (e / r->h[i]);
    }
    return sum;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* One coefficient; what the step gains, about. */
static double visit(descent *r, int64_t k)
{
    fenp_linear_state *s = r->s;
    fenp_pool *p = &s->pool;
    const double q = r->stiff[k], before = p->beta[k];
    if (!(q > 0.0)) return 0.0;
    const double slope = dot(s->q.x, p->feature[k], r->e) + r->tilt * r->sum[k] + p->d[k] * before;
    const double aim = before - slope / q, cut = p->l[k] / q;
    double after = aim > cut ? aim - cut : aim < -cut ? aim + cut : 0.0;
    if (s->q.nonnegative && after < 0.0) after = 0.0;
    if (after == before) return 0.0;
    p->beta[k] = after;
    add(r, p->feature[k], after - before);
    if (r->total > 0.0) r->tilt -= (after - before) * (r->sum[k] / r->total);
    return q * (after - before) * (after - before);
}

static double pass(descent *r, int all)
{
    const fenp_pool *p = &r->s->pool;
    const int64_t count = all ? p->size : r->visited;
    double gained = 0.0;
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t k = all ? i : r->active[i];
        const double gain = visit(r, k);
        gained += gain;
        if (gain > 0.0 || p->beta[k] != 0.0) r->active[kept++] = k;
    }
    r->visited = kept;
    return gained;
}

/* The combination of the iterates in past whose steps cancel best; 0: there is none. */
static int combine(const descent *r, double *weights)
{
    const int64_t k = r->s->pool.size;
    double m[DEPTH * DEPTH], rhs[DEPTH], sum = 0.0, trace = 0.0;
    for (int i = 0; i < DEPTH; i++)
        for (int j = 0; j <= i; j++) {
            const double *a = r->past + i * k, *b = r->past + j * k;
            double dot_ab = 0.0;
            for (int64_t c = 0; c < k; c++) dot_ab += (a[k + c] - a[c]) * (b[k + c] - b[c]);
            m[i + j * DEPTH] = m[j + i * DEPTH] = dot_ab;
        }
    for (int i = 0; i < DEPTH; i++) trace += m[i + i * DEPTH], rhs[i] = 1.0;
    if (!(trace > 0.0)) return 0;
    for (int i = 0; i < DEPTH; i++) m[i + i * DEPTH] += 1e-12 * trace;
    int64_t rank;
    if (fenp_cholesky(DEPTH, m, DEPTH, &rank, NULL, NULL) != FEN_OK || rank < DEPTH) return 0;
    if (fenp_cholesky_solve(DEPTH, m, DEPTH, rhs, 1, NULL) != FEN_OK) return 0;
    for (int i = 0; i < DEPTH; i++) sum += rhs[i];
    if (!(fabs(sum) > 0.0) || !isfinite(sum)) return 0;
    for (int i = 0; i < DEPTH; i++) weights[i] = rhs[i] / sum;
    return 1;
}

/* past holds DEPTH + 1 iterates, the last of them being the current one. */
static void extrapolate(descent *r)
{
    fenp_linear_state *s = r->s;
    fenp_pool *p = &s->pool;
    const int64_t k = p->size;
    const double *last = r->past + DEPTH * k;
    double weights[DEPTH];
    if (!combine(r, weights)) return;
    const double before = value(r);
    for (int64_t c = 0; c < k; c++) {
        double at = 0.0;
        for (int i = 0; i < DEPTH; i++) at += weights[i] * r->past[(i + 1) * k + c];
        if (s->q.nonnegative && at < 0.0) at = 0.0;
        p->beta[c] = last[c] == 0.0 ? 0.0 : at;
    }
    settle_rows(r);
    if (value(r) < before) return;
    memcpy(p->beta, last, (size_t)k * sizeof *last);
    settle_rows(r);
}

static void descend(descent *r, double enough)
{
    const int64_t k = r->s->pool.size;
    for (int n = 0; n < PASSES; n++) {
        if (n % DEPTH == 0) memcpy(r->past, r->s->pool.beta, (size_t)k * sizeof *r->past);
        const double gained = pass(r, n == 0);
        memcpy(r->past + (n % DEPTH + 1) * k, r->s->pool.beta, (size_t)k * sizeof *r->past);
        if (gained <= enough) return;
        if (n % DEPTH == DEPTH - 1) extrapolate(r);
    }
}

/* ---- under the true loss --------------------------------------------------------------------- */

static void place(descent *r, double length, const double *goal)
{
    fenp_linear_state *s = r->s;
    for (int64_t k = 0; k < s->pool.size; k++)
        s->pool.beta[k] = length == 1.0 ? goal[k] : r->begin[k] + length * (goal[k] - r->begin[k]);
    for (int64_t i = 0; i < s->rows; i++) s->t[i] = r->from[i] + length * r->ray[i];
    fenp_linear_dual(s);
}

/* The farthest of 1, 1/2, 1/4 .. with an objective that is not higher, b being the best for each
 * (the gap still falls by its root where the objective drowns in rounding errors); 0: none. */
static double search(descent *r, double before)
{
    fenp_linear_state *s = r->s;
    double *goal = r->past;
    memcpy(goal, s->pool.beta, (size_t)s->pool.size * sizeof *goal);
    fenp_linear_scores(s);
    for (int64_t i = 0; i < s->rows; i++) r->ray[i] = s->t[i] - r->from[i];
    double length = 1.0;
    for (int halving = 0; halving < HALVINGS; halving++, length *= 0.5) {
        place(r, length, goal);
        const double after = fenp_linear_loss(s) + fenp_linear_penalty(s);
        if (after <= before + 4.0 * DBL_EPSILON * fabs(before)) return length;
    }
    place(r, 0.0, goal);
    return 0.0;
}

fen_status fenp_linear_descent(fenp_linear_state *s, double lambda, double goal,
                               const fenp_task *task, fen_error *err)
{
    descent r;
    fenp_pool_price(s, lambda);
    fenp_linear_scores(s);
    fenp_linear_dual(s);
    fen_status status = open(s, &r, err);
    double best = INFINITY;
    int idle = 0, known = 0; /* the slopes of where it ends */
    for (int round = 0; status == FEN_OK && s->pool.size > 0 && round < ROUNDS; round++) {
        fenp_pool_slopes(s);
        const double gap = fenp_linear_pool_gap(s, lambda);
        idle = gap < 0.9 * best ? 0 : idle + 1;
        best = fmin(best, gap);
        known = gap <= goal || idle > PATIENCE;
        if (known) break;
        const double before = fenp_linear_loss(s) + fenp_linear_penalty(s);
        model(&r);
        descend(&r, fmin(0.1 * gap, 0.1) * goal * before);
        const double length = search(&r, before);
        fenp_linear_learn(s, length);
        if (length == 0.0 && s->floor == 1.0) break;
        status = fenp_task_at(task, 0.0, err);
    }
    if (!known) fenp_pool_slopes(s);
    free(r.h), free(r.active);
    return status;
}
