/* linear_pieces.c -- the pool's problem under a loss with corners, by interior.h
 *
 * The pool's columns, and one of ones for every bias, stand as one dense matrix: the bias is a
 * column without a price. It takes up the means of the others, beside which their slopes would lose
 * their digits, and small coefficients could not be told from none. A walk along vertices
 * begins with the coefficients as they are, and where the last one ended; an interior point method
 * would gain little by that, and takes its 10 to 30 steps from anywhere. */
#include "solver/linear_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"

enum { ATTEMPTS = 4 };
static const double CONSTANT = 1e-13; /* what is left of a column without its mean, over that */

typedef struct tableau {
    int64_t k;            /* coefficients of the pool and biases */
    double *x;            /* rows x k                            */
    double *l, *d, *beta; /* k                                   */
    int64_t *start;       /* k + 1                               */
} tableau;

static fen_status lay_out(const fenp_linear_state *s, tableau *f, fen_error *err)
{
    const int64_t copies = s->q.x->copies, own = s->pool.size * copies;
    f->k = own + (s->q.bias ? copies : 0);
    const int64_t bytes = fenp_bytes(s->rows + 3, f->k + 1, sizeof(double));
    f->x = bytes < 0 ? NULL : fenp_new_zeroed(bytes, 1);
    f->start = fenp_new(f->k + 1, sizeof *f->start);
    if (!f->x || !f->start) return fenp_no_memory(err, bytes, "the interior point method");
    f->l = f->x + s->rows * f->k, f->d = f->l + f->k, f->beta = f->d + f->k;
    return FEN_OK;
}

/* The end of the last walk is kept in the pool. Biases stand after the pool's columns, which may be
 * more by now: kept they are -1, -2, ..., and this is the way there and back. */
static void rename_biases(fenp_interior_end *end, int64_t own)
{
    for (int64_t c = 0; c < end->m; c++)
        if (end->column[c] < 0 || end->column[c] >= own) end->column[c] = own - 1 - end->column[c];
}

static fen_status make_room(fenp_interior_end *end, int64_t k, fen_error *err)
{
    int64_t *column = fenp_resize(end->column, k, sizeof *column);
    if (column) end->column = column;
    int64_t *corner = fenp_resize(end->corner, k, sizeof *corner);
    if (corner) end->corner = corner;
    if (column && corner) return FEN_OK;
    return fenp_no_memory(err, fenp_bytes(k, 1, sizeof *column), "the walk along vertices");
}

/* Less its mean, which is 0 without a bias; rounding errors of a constant are nothing. */
static void fill_column(const fenp_linear_state *s, int64_t k, double *to)
{
    const fenp_design *x = s->q.x;
    const int64_t j = s->pool.feature[k / x->copies], first = k % x->copies * x->n;
    const double mean = s->pool.mean[k / x->copies], *w = s->q.w + first;
    double largest = 0.0;
    to += first;
    if (x->dense)
        memcpy(to, x->dense + j * x->n, (size_t)x->n * sizeof *to);
    else
        for (int64_t e = x->start[j]; e < x->start[j + 1]; e++) to[x->row[e]] = x->value[e];
    for (int64_t i = 0; i < x->n; i++) {
        to[i] -= mean;
        if (w[i] > 0.0) largest = fmax(largest, fabs(to[i]));
    }
    if (largest <= CONSTANT * fabs(mean)) memset(to, 0, (size_t)x->n * sizeof *to);
}

/* What the means of the pool's columns are in the scores of copy t. */
static double mean_score(const fenp_linear_state *s, int64_t t)
{
    const int64_t copies = s->q.x->copies;
    double sum = 0.0;
    for (int64_t k = 0; k < s->pool.size; k++)
        sum += s->pool.mean[k] * s->pool.beta[k * copies + t];
    return sum;
}

/* Free columns first come as they are: groups of the pool, then one for every bias. */
static int64_t fill(const fenp_linear_state *s, tableau *f)
{
    const fenp_pool *p = &s->pool;
    const int64_t own = p->size * s->q.x->copies, n = s->q.x->n;
    int64_t groups = p->groups;
    for (int64_t k = 0; k < own; k++) {
        fill_column(s, k, f->x + k * s->rows);
        f->d[k] = p->d[k], f->beta[k] = p->beta[k];
    }
    for (int64_t g = 0; g < groups; g++) f->start[g] = p->start[g], f->l[g] = p->l[g];
    for (int64_t k = own; k < f->k; k++) {
        for (int64_t i = 0; i < n; i++) f->x[k * s->rows + (k - own) * n + i] = 1.0;
        f->beta[k] = s->b[k - own] + mean_score(s, k - own), f->d[k] = 0.0;
        f->start[groups] = k, f->l[groups++] = 0.0;
    }
    f->start[groups] = f->k;
    return groups;
}

/* Of a group with a price: how far it is from 0 by what its norm costs, against how far its slope
 * is from the bound. */
static int is_nothing(const fenp_linear_state *s, int64_t g, double unit)
{
    const fenp_pool *p = &s->pool;
    double norm = 0.0, slope = 0.0;
    for (int64_t k = p->start[g]; k < p->start[g + 1]; k++) {
        const double at = s->q.nonnegative ? fmin(p->g[k], 0.0) : p->g[k];
        norm += p->beta[k] * p->beta[k], slope += at * at;
    }
    return p->l[g] > 0.0 && p->l[g] * sqrt(norm) < unit * (1.0 - sqrt(slope) / p->l[g]);
}

/* b for the pool's beta, where the scores of means have been that with it; and the scores. */
static void follow(fenp_linear_state *s, const double *centred)
{
    for (int64_t t = 0; s->q.bias && t < s->q.x->copies; t++)
        s->b[t] = centred[t] - mean_score(s, t);
    fenp_linear_scores(s);
}

/* Is the gap small enough, or none the worse? A gap that rounding errors of tiny prices have left
 * says nothing: then P must not rise either. */
static int is_as_good(const fenp_linear_point *after, const fenp_linear_point *before, double goal)
{
    if (after->relative_gap <= goal) return 1;
    return after->relative_gap <= 1.5 * before->relative_gap &&
           after->primal <= before->primal + goal * fabs(before->primal);
}

/* An interior point has no zeros. Groups that are nearer to 0 than their slope is to its bound
 * become 0, if the answer is as good; else fewer of them are tried. */
static void round_off(fenp_linear_state *s, const double *centred, double lambda, double goal)
{
    fenp_pool *p = &s->pool;
    const int64_t k = p->size * s->q.x->copies;
    const fenp_linear_outside none = { 0.0, 0.0 };
    fenp_linear_point before, after;
    fenp_linear_values(s, lambda, none, &before);
    double unit = fenp_linear_penalty(s), *kept = p->work;
    memcpy(kept, p->beta, (size_t)k * sizeof *kept);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++, unit *= 1e-3) {
        for (int64_t g = 0; g < p->groups; g++)
            if (is_nothing(s, g, unit))
                memset(p->beta + p->start[g], 0,
                       (size_t)(p->start[g + 1] - p->start[g]) * sizeof *p->beta);
        follow(s, centred);
        fenp_linear_values(s, lambda, none, &after);
        if (is_as_good(&after, &before, goal)) return;
        memcpy(p->beta, kept, (size_t)k * sizeof *kept);
    }
    follow(s, centred);
}

fen_status fenp_linear_pieces(fenp_linear_state *s, double lambda, double goal,
                              const fenp_task *task, fen_error *err)
{
    fenp_pool *p = &s->pool;
    const int64_t own = p->size * s->q.x->copies;
    tableau f = { 0 };
    double gap;
    fenp_pool_price(s, lambda);
    fen_status status = lay_out(s, &f, err);
    if (status == FEN_OK) status = make_room(&p->end, f.k, err);
    if (status == FEN_OK) {
        const fenp_interior q = { .n = s->rows,
                                  .k = f.k,
                                  .x = f.x,
                                  .loss = s->q.loss,
                                  .par = s->q.par,
                                  .y = s->y,
                                  .w = s->q.w,
                                  .groups = fill(s, &f),
                                  .start = f.start,
                                  .l = f.l,
                                  .d = f.d,
                                  .nonnegative = s->q.nonnegative,
                                  .unbounded = s->q.bias ? s->q.x->copies : 0,
                                  .end = &p->end };
        rename_biases(&p->end, own);
        status = fenp_interior_solve(&q, goal, f.beta, s->u, &gap, task, err);
        rename_biases(&p->end, own);
        if (own > 0) memcpy(p->beta, f.beta, (size_t)own * sizeof *p->beta);
        follow(s, f.beta + own);
        fenp_pool_slopes(s);
        if (status == FEN_OK && own > 0) round_off(s, f.beta + own, lambda, goal);
    }
    free(f.x), free(f.start);
    return status;
}
