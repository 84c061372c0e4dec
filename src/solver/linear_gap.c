/* linear_gap.c -- see linear_parts.h: scores, dual vector, and how far from the optimum
 *
 *   mix = 1   u is scaled by s = min(1, 1 / largest ||x_g'u|| / (lambda a_g)) and D(s u) is
 *             minus the conjugates; with the square loss s may be less where that is better
 *   mix < 1   unscaled: (||x_g'u|| - l)_+^2 / (2 d) of every group comes off
 *
 * Let pass in x_j'u is 2^-53 ||x_j|| ||u||, the rounding of X itself: D is a bound for inputs that
 * agree with X to the last digit, where P is another one by that times |beta_j|. Certificates judge
 * for themselves (src/certify_linear.c).
 *
 * Whole (square loss, all products by the Gram matrix): no row is touched,
 *     loss = V + 1/2 beta'(g - a),   sum w r y = V - 1/2 a'beta,   V = sum w y^2
 * unless that would cancel: a loss below 1e-5 V is summed over the rows. */
#include "solver/linear_parts.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- rows ---------------------------------------------------------------------------------- */

enum { TILE = 2048, AT_ONCE = 4, ENOUGH = 1 << 17 };

/* Rows i0 .. i1 - 1 of one copy: t += the columns listed times their coefficients, four at a time,
 * as what is read should be the columns and not t. */
static void add_columns(const fenp_design *x, const int64_t *which, const double *beta,
                        int64_t count, int64_t i0, int64_t i1, double *restrict t)
{
    int64_t k = 0;
    for (; k + AT_ONCE <= count; k += AT_ONCE) {
        const double *a = x->dense + which[k] * x->n, *b = x->dense + which[k + 1] * x->n;
        const double *c = x->dense + which[k + 2] * x->n, *d = x->dense + which[k + 3] * x->n;
        const double *by = beta + k;
        for (int64_t i = i0; i < i1; i++)
            t[i] += (by[0] * a[i] + by[1] * b[i]) + (by[2] * c[i] + by[3] * d[i]);
    }
    for (; k < count; k++) {
        const double *a = x->dense + which[k] * x->n;
        for (int64_t i = i0; i < i1; i++) t[i] += beta[k] * a[i];
    }
}

/* Columns in memory. */
static void dense_scores(fenp_linear_state *s)
{
    const fenp_design *x = s->q.x;
    const fenp_pool *p = &s->pool;
    double *beta = s->product;
    for (int64_t copy = 0; copy < x->copies; copy++) {
        int64_t count = 0;
        for (int64_t k = 0; k < p->size; k++)
            if (p->beta[k * x->copies + copy] != 0.0)
                s->list[count] = p->feature[k], beta[count++] = p->beta[k * x->copies + copy];
#pragma omp parallel for schedule(static) if (count * x->n > ENOUGH)
        for (int64_t i = 0; i < x->n; i += TILE)
            add_columns(x, s->list, beta, count, i, i + TILE < x->n ? i + TILE : x->n,
                        s->t + copy * x->n);
    }
}

void fenp_linear_add_column(fenp_linear_state *s, int64_t k, double times)
{
    const fenp_design *x = s->q.x;
    const int64_t j = s->pool.feature[k / x->copies];
    double *t = s->t + k % x->copies * x->n;
    if (x->dense)
        add_columns(x, &j, &times, 1, 0, x->n, t);
    else
        for (int64_t e = x->start[j]; e < x->start[j + 1]; e++) t[x->row[e]] += times * x->value[e];
}

void fenp_linear_scores(fenp_linear_state *s)
{
    memset(s->t, 0, (size_t)s->rows * sizeof *s->t);
    if (s->q.x->dense) {
        dense_scores(s);
    } else if (s->q.x->start) {
        for (int64_t k = 0; k < s->pool.size * s->q.x->copies; k++)
            if (s->pool.beta[k] != 0.0) fenp_linear_add_column(s, k, s->pool.beta[k]);
    } else {
        fenp_pool_deliver(s);
        if (s->pool.size > 0) fenp_design_scores(s->q.x, s->beta, s->t);
    }
}

static void square_dual(fenp_linear_state *s, int64_t t)
{
    const int64_t n = s->q.x->n;
    const double *w = s->q.w + t * n, *y = s->y + t * n, *f = s->t + t * n;
    double sum = 0.0, weight = 0.0, *u = s->u + t * n;
    for (int64_t i = 0; i < n; i++) sum += w[i] * (y[i] - f[i]), weight += w[i];
    const double b = s->q.bias && weight > 0.0 ? sum / weight : 0.0;
    for (int64_t i = 0; i < n; i++) u[i] = 2.0 * w[i] * (y[i] - f[i] - b);
    s->b[t] = b;
}

void fenp_linear_dual(fenp_linear_state *s)
{
    for (int64_t t = 0; s->square && t < s->q.x->copies; t++) square_dual(s, t);
    if (!s->square) fenp_linear_dual_of_rows(s);
}

double fenp_linear_loss(const fenp_linear_state *s)
{
    double sum = 0.0;
    for (int64_t t = 0; t < s->q.x->copies; t++) {
        const fenp_target q = fenp_linear_target(s, t);
        sum += fenp_target_loss(&q, s->t + t * s->q.x->n, s->b[t]);
    }
    return sum;
}

static double minus_conjugates(const fenp_linear_state *s, double part)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < s->rows; i++)
        if (s->q.w[i] > 0.0)
            sum -= (long double)s->q.w[i] *
                   s->q.loss->conj(s->y[i], -part * s->u[i] / s->q.w[i], s->q.par);
    return (double)sum;
}

/* ---- groups -------------------------------------------------------------------------------- */

static double norm_of(const double *v, int64_t from, int64_t to)
{
    double sum = 0.0;
    for (int64_t k = from; k < to; k++) sum += v[k] * v[k];
    return to - from == 1 ? fabs(v[from]) : sqrt(sum);
}

static double slope_of_group(const fenp_linear_state *s, int64_t g)
{
    const fenp_pool *p = &s->pool;
    if (s->q.nonnegative) return fmax(-p->g[p->start[g]], 0.0);
    return norm_of(p->g, p->start[g], p->start[g + 1]);
}

/* Largest ||x_g'u|| / l_g of the pool's groups beyond rounding errors; l_g = 0 does not count. */
static double steepest(const fenp_linear_state *s)
{
    double most = 0.0;
    for (int64_t g = 0; g < s->pool.groups; g++) {
        const double slope = slope_of_group(s, g) - s->fuzz * s->length[s->pool.group[g]];
        if (s->pool.l[g] > 0.0 && slope / s->pool.l[g] > most) most = slope / s->pool.l[g];
    }
    return most;
}

/* What P is off by in inputs for which the slopes that were let pass are none. */
static double cost_of_fuzz(const fenp_linear_state *s)
{
    const fenp_pool *p = &s->pool;
    double sum = 0.0;
    for (int64_t g = 0; g < p->groups; g++)
        sum += norm_of(p->beta, p->start[g], p->start[g + 1]) * s->length[p->group[g]];
    return s->fuzz * sum;
}

typedef struct sums {
    double loss, cross;
} sums; /* square loss: sum w r^2, sum w r y */

/* Without a row; loss < 0: that would cancel. */
static sums square_by_matrix(const fenp_linear_state *s)
{
    const fenp_pool *p = &s->pool;
    long double half = 0.0L, a = 0.0L;
    for (int64_t k = 0; k < p->size * s->q.x->copies; k++) {
        half += 0.5L * p->beta[k] * ((long double)p->g[k] - p->a[k]);
        a += 0.5L * p->a[k] * p->beta[k];
    }
    const sums out = { (double)(s->variation + half), (double)(s->variation - a) };
    return out.loss > 1e-5 * s->variation ? out : (sums){ -1.0, 0.0 };
}

void fenp_linear_measure(fenp_linear_state *s)
{
    double sum = 0.0;
    if (s->whole) { /* u = 2 w r, and no row has been looked at */
        sum = 4.0 * s->weight_most * fmax(square_by_matrix(s).loss, 1e-5 * s->variation);
    } else {
        for (int64_t i = 0; i < s->rows; i++) sum += s->u[i] * s->u[i];
    }
    s->fuzz = 0.5 * DBL_EPSILON * sqrt(fmax(sum, 0.0));
}

double fenp_linear_penalty(const fenp_linear_state *s)
{
    const fenp_pool *p = &s->pool;
    double sum = 0.0;
    for (int64_t g = 0; g < p->groups; g++) {
        const double norm = norm_of(p->beta, p->start[g], p->start[g + 1]);
        sum += norm * (p->l[g] + 0.5 * p->d[p->start[g]] * norm);
    }
    return sum;
}

static double pool_excess(const fenp_linear_state *s)
{
    const fenp_pool *p = &s->pool;
    double sum = 0.0;
    for (int64_t g = 0; g < p->groups; g++) {
        const double over = slope_of_group(s, g) - p->l[g], d = p->d[p->start[g]];
        if (d > 0.0 && over > 0.0) sum += over * over / (2.0 * d);
    }
    return sum;
}

/* ---- P and D --------------------------------------------------------------------------------- */

static sums square_by_rows(const fenp_linear_state *s)
{
    long double loss = 0.0L, cross = 0.0L;
    for (int64_t i = 0; i < s->rows; i++) {
        const double r = s->y[i] - s->t[i] - s->b[i / s->q.x->n];
        loss += (long double)s->q.w[i] * r * r;
        cross += (long double)s->q.w[i] * r * s->y[i];
    }
    return (sums){ (double)loss, (double)cross };
}

/* The best part of u, most of it at most. */
static double square_part(sums of, double most)
{
    return fmax(fmin(most, of.loss > 0.0 ? of.cross / of.loss : 0.0), 0.0);
}

/* D holds for x_j'u = 0 where a coefficient has no price. What it could still gain by its slope:
 * a step along it, or taking it back. */
static double free_gain(const fenp_linear_state *s)
{
    const fenp_pool *p = &s->pool;
    const double bend = fmax(s->q.loss->smoothness, 1.0) * s->weight_sum / (double)s->q.x->n;
    double gain = 0.0;
    for (int64_t g = 0; g < p->groups; g++) {
        const double length = s->length[p->group[g]], most = bend * length * length;
        for (int64_t k = p->start[g]; p->l[g] == 0.0 && most > 0.0 && k < p->start[g + 1]; k++)
            if (p->d[k] == 0.0 && !(s->q.nonnegative && p->beta[k] == 0.0 && p->g[k] >= 0.0))
                gain += fabs(p->g[k]) * fmax(fabs(p->beta[k]), fabs(p->g[k]) / most);
    }
    return gain;
}

/* Gaps are told as certificates tell them (src/certify.c): where y is constant, or met, to
 * rounding, by 1e7 times what errors in its last digits cost. No objective is below 0. */
static double relative(const fenp_linear_state *s, double primal, double gap)
{
    const double null = isfinite(s->null) ? s->null : 0.0; /* tube */
    const double digits = isfinite(s->digits) ? s->digits : 0.0;
    double unit = fmax(primal, 1e-12 * null);
    if (null <= digits || primal <= 8.0 * digits) unit = fmax(unit, 1e7 * digits);
    if (primal == 0.0) return 0.0;
    return isfinite(primal) ? (primal < unit ? fmin(gap, primal) : gap) / unit : INFINITY;
}

void fenp_linear_values(fenp_linear_state *s, double lambda, fenp_linear_outside out,
                        fenp_linear_point *point)
{
    fenp_linear_measure(s);
    const double ratio = fmax(steepest(s), out.ratio);
    const double most = s->q.mix < 1.0 || ratio <= 1.0 ? 1.0 : 1.0 / ratio;
    const double excess = s->q.mix < 1.0 ? pool_excess(s) + out.excess : 0.0;
    double dual;
    if (s->square) {
        sums of = s->whole ? square_by_matrix(s) : (sums){ -1.0, 0.0 };
        if (of.loss < 0.0 && s->whole) {
            fenp_linear_scores(s);
            fenp_linear_dual(s);
        }
        if (of.loss < 0.0) of = square_by_rows(s);
        point->loss = of.loss;
        const double part = s->q.mix == 1.0 ? square_part(of, most) : 1.0;
        dual = part * (2.0 * of.cross - part * of.loss);
    } else {
        const fenp_linear_rows *rows = &s->rows_of;
        const int pieces = !s->pieces && rows->kind == FENP_ROWS_PIECES;
        point->loss = s->pieces ? fenp_linear_loss(s) : (double)rows->loss;
        dual = pieces ? (double)(most * rows->cross - most * most * rows->square)
                      : minus_conjugates(s, most);
    }
    point->lambda = lambda;
    point->primal = point->loss + fenp_linear_penalty(s);
    point->dual = dual - excess - (s->q.mix == 1.0 ? cost_of_fuzz(s) : 0.0);
    point->relative_gap =
        relative(s, point->primal, fmax(point->primal - point->dual, 0.0) + free_gain(s));
}

double fenp_linear_pool_gap(fenp_linear_state *s, double lambda)
{
    fenp_linear_point point;
    fenp_linear_values(s, lambda, (fenp_linear_outside){ 0.0, 0.0 }, &point);
    return point.relative_gap;
}

/* ---- curvatures ---------------------------------------------------------------------------- */

static const double LEAST_FLOOR = 1e-8;

void fenp_linear_learn(fenp_linear_state *s, double length)
{
    s->floor *= length < 0.5 ? 30.0 : length == 1.0 ? 0.1 : 1.0;
    s->floor = fmin(fmax(s->floor, LEAST_FLOOR), 1.0);
}

void fenp_linear_curvatures(const fenp_linear_state *s, double *h)
{
    for (int64_t t = 0; t < s->q.x->copies; t++) {
        const fenp_target q = fenp_linear_target(s, t);
        fenp_target_curvatures(&q, s->t + t * q.n, s->b[t],
                               fmax(s->floor, LEAST_FLOOR) * s->q.loss->smoothness, h + t * q.n);
    }
}
