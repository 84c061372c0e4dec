/* interior_walk.c -- losses and penalties of straight pieces: from vertex to vertex
 *
 *     min over beta of  sum_t v_t(a_t - x_t.beta) + sum_j l_j |beta_j|,   v_t(r) = high r or low r
 *
 * the linear program of interior.h without curvature, cones or infinite ends: kernel lasso and
 * 1-norm SVM, quantile regression with a lasso. Along falling lambdas the last answer is a vertex
 * near the next one, which interior points could not make use of.
 *
 * Method. The primal simplex method. A vertex (interior_vertex.h) has m columns and m terms at
 * their corner; all other terms have u at an end of its domain, by the sign of their residual, and
 *
 *     B'u = l sign(beta) - (X'u of the other terms)    at its columns
 *
 * is the u of the corners. It is the answer if these are inside their domains, and |x_j'u| <= l_j
 * for all columns. If not, one of those outside goes (interior_edge.c): a term leaves its corner, or
 * a column comes in. P falls along that edge; it is followed past corners and signs that change, each
 * of which makes it less steep, up to the one with which it would rise (of the events in a heap,
 * no more than the ones passed are sorted). That one takes the place of the one that went.
 * Corners are told apart by a perturbation of the a, 1e-8 of the mean loss: without it labels of
 * two classes, or the rows at y = b, are met many at a time and steps have no length. u does not
 * depend on a: it is the answer's, and so is the vertex as a rule; the walk goes on without
 * perturbation where the gap says otherwise. Coefficients that it alone keeps from 0 become 0.
 * Start: where the last walk ended, if the caller has kept that: with many rows at one corner beta
 * does not say which of them u needs. Else the columns of the guess, and of the terms nearest to
 * their corner those with which B is far from singular; from nothing if there is no such vertex.
 * Special cases. No price at all, where many u are as good and lambda_max is wanted of the one in
 * the middle: left to the interior points. So are walks that take longer than those would.
 * Accuracy. The inverse is renewed every 64 steps, beta and u of the answer are refined once: gaps
 * of 1e-9 and below, 1e-12 without perturbation.
 * Cost. 2 m (n + 2 k) + 8 m^2 flops and one look at every term and column per step. From one of
 * 100 lambdas of a path to the next: 2 to 25 steps on average, 60 with 400 columns. */
#include "solver/interior_walk.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/linalg.h"
#include "base/random.h"
#include "base/threads.h"

enum { RENEW = 64, LOOK = 32, SPARE = 64 }; /* steps; steps between looks at the clock; places */
enum { ENTRIES = 800 };                     /* of X in FENP_FEW_ROWS: worth one thread         */
enum { TRIALS = 8 };                        /* to find a vertex of the guess                   */
enum { IN_CACHE = 1 << 16 };                /* entries of X                                    */
static const double PERTURBED = 1e-8;       /* of the mean loss                                */
static const double ROUNDING = 1e-12;       /* of the labels: residuals at a corner            */

/* ---- beta and u of a vertex -------------------------------------------------------------- */

/* beta from the a at the corners, refined once. Returns how far the first one was off, relative to
 * the sizes. */
static double set_beta(fenp_walk *p)
{
    const fenp_vertex *v = &p->v;
    double *beta = p->s->beta, off = 0.0, most = 0.0;
    memset(beta, 0, (size_t)v->k * sizeof *beta);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t e = 0; e < v->m; e++) {
            const double *x = v->rows + e * v->k;
            double rest = p->a[v->corner[e]], sum = fabs(rest);
            for (int64_t c = 0; c < v->m; c++) {
                const double part = x[v->column[c]] * beta[v->column[c]];
                rest -= part, sum += fabs(part);
            }
            p->inner[e] = rest;
            most = fenp_larger(most, sum), off = pass > 0 ? fenp_larger(off, fabs(rest)) : 0.0;
        }
        fenp_vertex_solve(v, p->inner, p->d);
        for (int64_t c = 0; c < v->m; c++) beta[v->column[c]] += p->d[c];
    }
    for (int64_t c = 0; c < v->m; c++) {
        const int64_t j = v->column[c];
        p->sign[j] = beta[j] < 0.0 && isfinite(p->down[j]) ? -1.0 : 1.0;
    }
    return off > 0.0 ? off / most : 0.0;
}

/* Residuals, u of the terms that are not at a corner, and their slopes */
static void set_outer(fenp_walk *p)
{
    const fenp_inside *s = p->s;
    for (int64_t c = 0; c < p->v.m; c++) p->d[c] = s->beta[p->v.column[c]];
    fenp_vertex_times(&p->v, p->d, p->rate);
    memset(s->row, 0, (size_t)s->n * sizeof(double));
    for (int64_t t = 0; t < s->terms; t++) {
        const int64_t i = fenp_vertex_row(&p->v, t);
        const int at_corner = p->v.at_corner[t] >= 0;
        p->r[t] = at_corner ? 0.0 : p->a[t] - p->rate[i];
        if (at_corner) continue;
        s->u[t] = p->r[t] >= 0.0 ? s->high[t] : s->low[t];
        s->row[i] += s->u[t];
    }
    fenp_inside_transposed(s, s->row, p->outer);
}

/* u of the corners, refined on request, and the slopes of all columns */
static void set_inner(fenp_walk *p, int passes)
{
    const fenp_vertex *v = &p->v;
    double *right = v->work1, *more = v->work2;
    memset(p->inner, 0, (size_t)v->m * sizeof(double));
    memcpy(p->slope, p->outer, (size_t)v->k * sizeof(double));
    for (int pass = 0; v->m > 0 && pass < passes; pass++) {
        for (int64_t c = 0; c < v->m; c++) {
            const int64_t j = v->column[c];
            right[c] = (p->sign[j] > 0.0 ? p->up[j] : -p->down[j]) - p->slope[j];
        }
        fenp_vertex_solve_left(v, right, more);
        cblas_daxpy((int)v->m, 1.0, more, 1, p->inner, 1);
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)v->k, (int)v->m, 1.0, v->rows, (int)v->k,
                    more, 1, 1.0, p->slope, 1);
    }
    for (int64_t e = 0; e < v->m; e++) p->s->u[v->corner[e]] = p->inner[e];
}

/* All of it, from the columns and corners. Returns what set_beta does. */
static double settle(fenp_walk *p)
{
    const double m = (double)p->v.m, n = (double)p->v.n, k = (double)p->v.k;
    const double off = set_beta(p);
    set_outer(p);
    set_inner(p, 2);
    p->work += 2.0 * n * k + 2.0 * m * (n + 2.0 * k) + 8.0 * m * m;
    return off;
}

/* With a new inverse; from nothing if there is none. */
static fen_status renew(fenp_walk *p, int64_t room, fen_error *err)
{
    int64_t built;
    const double m = (double)p->v.m;
    const fen_status status = fenp_vertex_renew(&p->v, room, &built, err);
    p->since = 0;
    p->work += 2.0 * m * m * m;
    if (status == FEN_OK) settle(p);
    return status;
}

/* ---- steps ------------------------------------------------------------------------------- */

/* Coefficients and residuals after the step; the one that left its corner is beside it now. */
static void move(fenp_walk *p, const fenp_edge *to, double length)
{
    const fenp_inside *s = p->s;
    for (int64_t c = 0; c < p->v.m; c++) s->beta[p->v.column[c]] += length * p->d[c];
    for (int64_t t = 0; t < p->v.terms; t++) p->r[t] -= length * p->rate[fenp_vertex_row(&p->v, t)];
    if (to->enters >= 0) {
        s->beta[to->enters] = length * to->side;
        p->sign[to->enters] = to->side;
    } else {
        const int64_t t = p->v.corner[to->leaves];
        p->r[t] = length * to->side;
        s->u[t] = to->side > 0.0 ? s->high[t] : s->low[t];
        cblas_daxpy((int)p->v.k, s->u[t], p->v.rows + to->leaves * p->v.k, 1, p->outer, 1);
    }
}

/* d and inner are what comes in and what ended the edge, in terms of the vertex: see aim, weigh. */
static void change(fenp_walk *p, const fenp_edge *to, int64_t stop)
{
    fenp_vertex *v = &p->v;
    const int64_t place = stop - v->terms;
    if (to->enters >= 0) cblas_dscal((int)v->m, -to->side, p->d, 1);
    if (stop < v->terms) {
        fenp_walk_add_outer(p, stop, -p->s->u[stop]);
        p->r[stop] = 0.0;
    } else {
        p->s->beta[v->column[place]] = 0.0;
    }
    if (stop < v->terms && to->leaves >= 0)
        fenp_vertex_swap_corner(v, to->leaves, stop, p->inner);
    else if (stop < v->terms)
        fenp_vertex_extend(v, to->enters, stop, p->d, p->inner);
    else if (to->leaves >= 0)
        fenp_vertex_reduce(v, place, to->leaves);
    else
        fenp_vertex_swap_column(v, place, to->enters, p->d);
}

/* 0 if the edge has no end, which rounding alone can make it seem */
static int step(fenp_walk *p, const fenp_edge *to)
{
    const double m = (double)p->v.m, n = (double)p->v.n, k = (double)p->v.k;
    double length;
    const int64_t stop = fenp_edge_follow(p, to, &length);
    p->work += 2.0 * m * (n + 2.0 * k) + 8.0 * m * m + 20.0 * n + 8.0 * k;
    if (stop < 0) return 0;
    fenp_edge_weigh(p, to, stop);
    move(p, to, length);
    change(p, to, stop);
    set_inner(p, 1);
    p->since++;
    return 1;
}

/* An inverse that is not too old, and room for one more. Corners may change places. */
static fen_status prepare(fenp_walk *p, fen_error *err)
{
    if (p->v.m == p->v.room) return renew(p, 2 * p->v.room, err);
    return p->since >= RENEW ? renew(p, p->v.room, err) : FEN_OK;
}

/* Until nothing is outside, also with all computed anew; or until it takes too long. */
static fen_status descend(fenp_walk *p, const fenp_task *task, fen_error *err)
{
    fen_status status = FEN_OK;
    int went = 1, anew = 0;
    p->ended = 0;
    for (int64_t i = 0; went && p->work < p->allowed; i++) {
        status = i % LOOK == 0 ? fenp_task_at(task, 0.0, err) : FEN_OK;
        if (status == FEN_OK) status = prepare(p, err);
        if (status != FEN_OK) break;
        const fenp_edge to = fenp_edge_find(p);
        if (to.leaves >= 0 || to.enters >= 0) {
            went = step(p, &to);
            anew = 0;
            continue;
        }
        if ((p->ended = anew)) break;
        anew = 1;
        if (settle(p) > ROUNDING) status = renew(p, p->v.room, err);
        if (status != FEN_OK) break;
    }
    return status;
}

/* ---- start ------------------------------------------------------------------------------- */

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* who <- terms at their corner, or the nearest to it if these are fewer than count */
static int64_t near_corners(fenp_walk *p, int64_t count)
{
    const fenp_inside *s = p->s;
    int64_t live = 0, near = 0;
    double most = 0.0;
    fenp_inside_times(s, s->beta, p->rate);
    for (int64_t t = 0; t < s->terms; t++) {
        p->r[t] = fabs(s->a[t] - p->rate[fenp_vertex_row(&p->v, t)]);
        if (fenp_walk_is_live(p, t))
            p->time[live++] = p->r[t], most = fenp_larger(most, fabs(s->a[t]));
    }
    qsort(p->time, (size_t)live, sizeof *p->time, rising);
    const double limit =
        fenp_larger(count <= live ? p->time[count - 1] : INFINITY, ROUNDING * most);
    for (int64_t t = 0; t < s->terms; t++)
        if (fenp_walk_is_live(p, t) && p->r[t] <= limit) p->who[near++] = t;
    return near;
}

static int has_wrong_sign(const fenp_walk *p)
{
    for (int64_t c = 0; c < p->v.m; c++) {
        const int64_t j = p->v.column[c];
        if (isinf(p->down[j]) && p->s->beta[j] < 0.0) return 1;
    }
    return 0;
}

/* What rounding has left on the wrong side is 0. */
static void keep_signs(fenp_walk *p)
{
    for (int64_t c = 0; c < p->v.m; c++) {
        double *beta = p->s->beta + p->v.column[c];
        if (isinf(p->down[p->v.column[c]])) *beta = fenp_larger(*beta, 0.0);
    }
}

/* At a vertex where more corners meet than it has columns some coefficients are 0 and come out as
 * what rounding left of the labels: they are 0, unless P knows better. */
static void drop_rounding(fenp_walk *p)
{
    const fenp_vertex *v = &p->v;
    double most = 0.0, *beta = p->s->beta, *kept = p->share;
    const double before = fenp_inside_primal(p->s, beta);
    memcpy(kept, beta, (size_t)v->k * sizeof *kept);
    for (int64_t e = 0; e < v->m; e++) most = fenp_larger(most, fabs(p->a[v->corner[e]]));
    for (int64_t c = 0; c < v->m; c++) {
        const int64_t j = v->column[c];
        const int has_corner = p->up[j] + p->down[j] > 0.0;
        if (has_corner && fabs(beta[j]) * fenp_walk_size(p, j) <= ROUNDING * most) beta[j] = 0.0;
    }
    if (!(fenp_inside_primal(p->s, beta) <= (1.0 + ROUNDING) * before))
        memcpy(beta, kept, (size_t)v->k * sizeof *kept);
}

/* A vertex of so many columns, but for those that depend on others. */
static fen_status build_near(fenp_walk *p, int64_t *columns, int64_t count, fen_error *err)
{
    fen_status status = FEN_OK;
    const int64_t near = count > 0 ? near_corners(p, count) : 0;
    if (count > near) count = near;
    for (int i = 0; status == FEN_OK && i < TRIALS && count > p->v.m; i++) {
        int64_t built;
        status = fenp_vertex_build(&p->v, columns, count, p->who, near, &built, err);
        if (status != FEN_OK || built == count) break;
        memmove(columns + built, columns + built + 1, (size_t)(--count - built) * sizeof *columns);
    }
    return status;
}

/* Where the last walk ended, if that has all columns of beta, of which there are so many. */
static fen_status build_last(fenp_walk *p, int64_t count, fen_error *err)
{
    const fenp_interior_end *last = p->s->q->end;
    int64_t built;
    for (int64_t c = 0; last && c < last->m; c++) count -= p->s->beta[last->column[c]] != 0.0;
    if (!last || count > 0) return FEN_OK;
    return fenp_vertex_build(&p->v, last->column, last->m, last->corner, last->m, &built, err);
}

/* The last vertex, also where its coefficients are 0 and beta has nothing to say; or one of the
 * columns of beta. */
static fen_status begin(fenp_walk *p, fen_error *err)
{
    const fenp_interior_end *last = p->s->q->end;
    int64_t count = 0, built, *columns = p->heap;
    for (int64_t j = 0; j < p->v.k; j++)
        if (p->s->beta[j] != 0.0) columns[count++] = j;
    const int64_t most = last && last->m > count ? last->m : count;
    fen_status status = fenp_vertex_open(&p->v, most + SPARE, err);
    if (status != FEN_OK) return status;
    status = build_last(p, count, err);
    if (status == FEN_OK && p->v.m == 0) status = build_near(p, columns, count, err);
    if (status == FEN_OK) set_beta(p);
    if (status == FEN_OK && has_wrong_sign(p))
        status = fenp_vertex_build(&p->v, NULL, 0, NULL, 0, &built, err);
    if (status == FEN_OK) settle(p);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------- */

/* Straight pieces with ends, prices of single columns, some of them more than 0 */
static int is_possible(const fenp_inside *s)
{
    int priced = 0;
    if (s->joint || s->curved || s->q->inside) return 0;
    for (int64_t t = 0; t < s->terms; t++)
        if (!isfinite(s->low[t]) || !isfinite(s->high[t])) return 0;
    for (int64_t g = 0; g < s->q->groups; g++) {
        if (fenp_inside_size(s, g) > 1 && s->q->l[g] > 0.0) return 0;
        priced |= s->q->l[g] > 0.0;
    }
    return priced;
}

static fen_status open_walk(fenp_walk *p, double **owned, fen_error *err)
{
    const fenp_inside *s = p->s;
    const int64_t t = s->terms, k = s->k, n = s->n;
    const int64_t bytes = fenp_bytes(6 * t + 14 * k + n, 1, sizeof(double));
    double *at = *owned = bytes < 0 ? NULL : fenp_new(bytes, 1);
    if (!at) return fenp_no_memory(err, bytes, "the walk along vertices");
    p->a = at, p->r = at + t, p->time = at + 2 * t, at += 3 * t + k;
    p->up = at, p->down = at + k, p->unit = at + 2 * k, p->sign = at + 3 * k, at += 4 * k;
    p->size = at, p->outer = at + k, p->slope = at + 2 * k, p->inner = at + 3 * k, at += 4 * k;
    p->corner_weight = at, p->column_weight = at + t, p->share = at + t + k, at += t + 2 * k;
    p->d = at, p->rate = at + k, at += k + n;
    p->who = (int64_t *)at, p->heap = p->who + t + k;
    p->v = (fenp_vertex){ .x = s->design, .n = n, .k = k, .terms = t };
    return FEN_OK;
}

static void set_prices(fenp_walk *p)
{
    const fenp_inside *s = p->s;
    const fenp_interior *q = s->q;
    memset(p->size, 0, (size_t)s->k * sizeof *p->size);
    for (int64_t g = 0; g < q->groups; g++)
        for (int64_t j = q->start[g]; j < q->start[g + 1]; j++) {
            double sum = 0.0;
            for (int64_t i = 0; q->l[g] == 0.0 && i < s->n; i++)
                sum += q->w[i] > 0.0 ? q->w[i] * fabs(s->design[i + j * s->n]) : 0.0;
            p->up[j] = q->l[g];
            p->down[j] = fenp_inside_has_sign(s, g) ? INFINITY : q->l[g];
            p->unit[j] = fenp_larger(q->l[g] > 0.0 ? q->l[g] : sum, DBL_MIN);
        }
}

/* Perturbed by so much of the mean loss */
static void set_labels(fenp_walk *p, double part)
{
    const fenp_inside *s = p->s;
    double reach = 0.0;
    memcpy(p->a, s->a, (size_t)s->terms * sizeof *p->a);
    if (part == 0.0) return;
    for (int64_t t = 0; t < s->terms; t++) reach += s->high[t] - s->low[t];
    const double unit = reach > 0.0 && isfinite(s->best_primal) ? s->best_primal / reach : 0.0;
    for (int64_t t = 0; t < s->terms; t++)
        p->a[t] += part * unit * (fenp_uniform(1, 0, (uint64_t)t) - 0.5);
}

/* What twenty interior point steps cost, in flops of a walk: where the cache does not hold X, those
 * wait for memory, and those of Gram matrices do not. */
static double cost_of_others(const fenp_inside *s)
{
    const double n = (double)s->n, k = (double)s->k, faster = n * k > IN_CACHE ? 16.0 : 1.0;
    return 20.0 * ((n * k * k + k * k * k / 3.0) / faster + 30.0 * n * k + 500.0 * (n + k));
}

/* Walks and offers; with the labels as they are where perturbed ones are not enough. */
static fen_status walk_twice(fenp_walk *p, double goal, const fenp_task *task, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int turn = 0; status == FEN_OK && turn < 2; turn++) {
        set_labels(p, turn == 0 ? PERTURBED : 0.0);
        fenp_edge_start(p);
        if (turn == 0)
            status = begin(p, err);
        else
            settle(p);
        if (status == FEN_OK) status = descend(p, task, err);
        if (status != FEN_OK && status != FEN_LIMIT && status != FEN_STOPPED) break;
        set_labels(p, 0.0);
        set_beta(p);
        keep_signs(p);
        drop_rounding(p);
        fenp_inside_offer(p->s);
        if (!p->ended || fenp_inside_gap(p->s) <= goal) break;
    }
    return status;
}

/* For the next walk along the same rows */
static void keep_end(const fenp_walk *p)
{
    fenp_interior_end *end = p->s->q->end;
    const size_t size = (size_t)p->v.m * sizeof *end->column;
    if (!end) return;
    end->m = p->v.m;
    if (end->m > 0) memcpy(end->column, p->v.column, size), memcpy(end->corner, p->v.corner, size);
}

fen_status fenp_inside_walk(fenp_inside *s, double goal, const fenp_task *task, fen_error *err)
{
    fenp_walk p = { .s = s, .allowed = cost_of_others(s) };
    double *owned;
    if (!is_possible(s)) return FEN_OK;
    fen_status status = open_walk(&p, &owned, err);
    if (status == FEN_OK) {
        const int narrowed = fenp_threads_narrow(s->n * s->k / ENTRIES);
        set_prices(&p);
        status = walk_twice(&p, goal, task, err);
        keep_end(&p);
        fenp_threads_widen(narrowed);
    }
    fenp_vertex_close(&p.v);
    free(owned);
    return status;
}
