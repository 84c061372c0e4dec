/* linear_pool.c -- see linear_parts.h
 *
 * Method: columns that join are copied next to each other (dense ones, less their mean), and
 *   for the square loss the Gram matrix 2 Z'WZ grows by their products with all that are
 *   there: every pair once, in matrix products. Sparse columns stay where they are: one at a
 *   time is spread out, and its products with the others visit their entries alone.
 * Accuracy: dense columns are centred before they are multiplied, so that an offset costs no
 *   digits; of sparse ones the product of the means is taken off afterwards.
 * Cost: 2 n m k flops for m columns that join k others. Arrays double when they are full. */
#include "solver/linear_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "base/syrk.h"

enum { FIRST_ROOM = 64 };

/* ---- memory ----------------------------------------------------------------------------- */

void fenp_pool_close(fenp_pool *p)
{
    if (!p->borrowed) free(p->h);
    free(p->feature), free(p->place), free(p->mean), free(p->z), free(p->a);
    free(p->centre), free(p->beta), free(p->g), free(p->start), free(p->group), free(p->l),
        free(p->d);
    free(p->earlier), free(p->factor), free(p->work), free(p->who), free(p->end.column),
        free(p->end.corner);
    *p = (fenp_pool){ 0 };
}

fen_status fenp_pool_open(fenp_linear_state *s, fen_error *err)
{
    fenp_pool *p = &s->pool;
    const int64_t bytes = fenp_bytes(s->q.x->p, 1, sizeof *p->place);
    *p = (fenp_pool){ .place = fenp_new(bytes, 1) };
    if (!p->place) return fenp_no_memory(err, bytes, "the working set");
    memset(p->place, 0xff, (size_t)bytes); /* -1 */
    return FEN_OK;
}

/* Does the pool need a matrix of its coefficients, and columns of its own? */
static int has_matrix(const fenp_linear_state *s)
{
    return !s->descends && (s->square || s->q.loss->curvature);
}

/* Sparse columns are copied where Newton's method will scale them all, and where the product of
 * large means would take the digits; nobody needs copies where the matrix says it all. */
static int has_columns(const fenp_linear_state *s)
{
    return has_matrix(s) && !s->whole && !s->sum && (s->q.x->dense || !s->square || s->off_centre);
}

static int grow(void **array, int64_t count, int64_t size)
{
    void *larger = fenp_resize(*array, count, size);
    if (!larger) return 1;
    *array = larger;
    return 0;
}

/* The matrix keeps its upper left corner. */
static int grow_matrix(fenp_pool *p, int64_t ld)
{
    const int64_t bytes = fenp_bytes(ld, ld, sizeof(double));
    double *h = bytes < 0 ? NULL : fenp_new_zeroed(bytes, 1);
    if (!h) return 1;
    for (int64_t k = 0; p->h && k < p->ld; k++)
        memcpy(h + k * ld, p->h + k * p->ld, (size_t)p->ld * sizeof *h);
    free(p->h);
    p->h = h;
    return 0;
}

static int renew_factor(fenp_pool *p, int64_t ld)
{
    const int64_t bytes = fenp_bytes(ld, ld, sizeof(double));
    free(p->factor);
    p->factor = bytes < 0 ? NULL : fenp_new(bytes, 1), p->kept = 0;
    return !p->factor;
}

/* Arrays for so many features. */
static fen_status resize(fenp_linear_state *s, int64_t room, fen_error *err)
{
    enum { REAL = sizeof(double), WHOLE = sizeof(int64_t), WORK = 12 };
    fenp_pool *p = &s->pool;
    const int64_t ld = room * s->q.x->copies, column = fenp_bytes(s->q.x->n, room, REAL);
    int failed = grow((void **)&p->feature, room, WHOLE) || grow((void **)&p->mean, room, REAL) ||
                 grow((void **)&p->a, ld, REAL) || grow((void **)&p->centre, ld, REAL) ||
                 grow((void **)&p->beta, ld, REAL) || grow((void **)&p->g, ld, REAL) ||
                 grow((void **)&p->start, ld + 1, WHOLE) || grow((void **)&p->group, ld, WHOLE) ||
                 grow((void **)&p->l, ld, REAL) || grow((void **)&p->d, ld, REAL) ||
                 grow((void **)&p->earlier, 2 * ld, REAL) ||
                 grow((void **)&p->work, WORK * ld, REAL) || grow((void **)&p->who, ld, WHOLE);
    if (!failed && has_columns(s)) failed = column < 0 || grow((void **)&p->z, column, 1);
    if (!failed && has_matrix(s))
        failed = (!p->borrowed && grow_matrix(p, ld)) || renew_factor(p, ld);
    if (failed) return fenp_no_memory(err, fenp_bytes(2 * ld, ld, REAL), "the working set");
    p->room = room, p->ld = ld, p->recorded = 0;
    return FEN_OK;
}

static fen_status make_room(fenp_linear_state *s, int64_t more, fen_error *err)
{
    const fenp_pool *p = &s->pool;
    if (p->size + more <= p->room) return FEN_OK;
    int64_t room = p->room > 0 ? p->room : FIRST_ROOM;
    while (room < p->size + more) room *= 2;
    return resize(s, room < s->q.x->p ? room : s->q.x->p, err);
}

fen_status fenp_pool_twin(const fenp_linear_state *of, fenp_linear_state *s, fen_error *err)
{
    const fenp_pool *from = &of->pool;
    fenp_pool *p = &s->pool;
    fen_status status = fenp_pool_open(s, err);
    p->h = from->h, p->borrowed = 1;
    if (status == FEN_OK) status = resize(s, from->room, err);
    if (status != FEN_OK) return status;
    const size_t places = (size_t)s->q.x->p * sizeof *p->place;
    const size_t wholes = (size_t)from->ld * sizeof *p->group;
    const size_t reals = (size_t)from->ld * sizeof *p->beta;
    memcpy(p->place, from->place, places), memcpy(p->feature, from->feature, wholes);
    memcpy(p->group, from->group, wholes), memcpy(p->start, from->start, wholes + sizeof *p->start);
    memcpy(p->mean, from->mean, reals), memcpy(p->a, from->a, reals);
    memcpy(p->beta, from->beta, reals);
    p->size = from->size, p->groups = from->groups;
    return FEN_OK;
}

/* ---- columns ------------------------------------------------------------------------------ */

static double weighted_mean(const fenp_linear_state *s, int64_t j)
{
    const fenp_design *x = s->q.x;
    const double *w = s->q.w;
    double sum = 0.0;
    if (!s->q.bias) return 0.0;
    if (s->alike || s->cross) return s->middle[j];
    if (x->dense)
        for (int64_t i = 0; i < x->n; i++) sum += w[i] * x->dense[j * x->n + i];
    else
        for (int64_t k = x->start[j]; k < x->start[j + 1]; k++) sum += w[x->row[k]] * x->value[k];
    return sum / s->weight_sum;
}

static void copy_column(fenp_linear_state *s, int64_t at)
{
    const fenp_design *x = s->q.x;
    const int64_t j = s->pool.feature[at];
    const double mean = s->pool.mean[at];
    double *to = s->pool.z + at * x->n;
    for (int64_t i = 0; i < x->n; i++) to[i] = (x->dense ? x->dense[j * x->n + i] : 0.0) - mean;
    for (int64_t e = x->dense ? 0 : x->start[j]; !x->dense && e < x->start[j + 1]; e++)
        to[x->row[e]] += x->value[e];
}

/* ---- the Gram matrix of the square loss ----------------------------------------------------- */

static void set_pair(fenp_linear_state *s, int64_t i, int64_t j, double value)
{
    fenp_pool *p = &s->pool;
    const int64_t copies = s->q.x->copies;
    for (int64_t t = 0; t < copies; t++) {
        const int64_t a = i * copies + t, b = j * copies + t;
        p->h[a * p->ld + b] = p->h[b * p->ld + a] = value;
    }
}

/* Columns times a factor per row. */
static void weigh(const double *factor, int64_t n, int64_t columns, const double *from, double *to)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < columns; k++)
        for (int64_t i = 0; i < n; i++) to[k * n + i] = factor[i] * from[k * n + i];
}

/* Products of the columns from old on with all: 2 Z'WZ_new. The first ones of all are a square
 * of the columns times sqrt(2 w): half the flops. */
static fen_status multiply_dense(fenp_linear_state *s, int64_t old, fen_error *err)
{
    fenp_pool *p = &s->pool;
    const int64_t n = s->q.x->n, fresh = p->size - old, size = p->size;
    const int64_t bytes = fenp_bytes(n + size, fresh, sizeof(double));
    double *weighted = fenp_new(bytes, 1), *products = weighted ? weighted + n * fresh : NULL;
    if (!weighted) return fenp_no_memory(err, bytes, "the working set");
    for (int64_t i = 0; i < n; i++) s->work[i] = old > 0 ? 2.0 * s->q.w[i] : sqrt(2.0 * s->q.w[i]);
    weigh(s->work, n, fresh, p->z + old * n, weighted);
    if (old > 0)
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)size, (int)fresh, (int)n, 1.0,
                    p->z, (int)n, weighted, (int)n, 0.0, products, (int)size);
    else
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, (int)size, (int)n, 1.0, weighted, (int)n,
                    0.0, products, (int)size);
    for (int64_t k = 0; k < fresh; k++)
        for (int64_t i = 0; i <= old + k; i++) set_pair(s, i, old + k, products[k * size + i]);
    free(weighted);
    return FEN_OK;
}

static void multiply_sparse(fenp_linear_state *s, int64_t old)
{
    const fenp_design *x = s->q.x;
    fenp_pool *p = &s->pool;
    double *spread = s->work;
    memset(spread, 0, (size_t)x->n * sizeof *spread);
    for (int64_t k = old; k < p->size; k++) {
        const int64_t j = p->feature[k];
        for (int64_t e = x->start[j]; e < x->start[j + 1]; e++)
            spread[x->row[e]] = 2.0 * s->q.w[x->row[e]] * x->value[e];
        for (int64_t i = 0; i <= k; i++) {
            const int64_t other = p->feature[i];
            double sum = 0.0;
            for (int64_t e = x->start[other]; e < x->start[other + 1]; e++)
                sum += spread[x->row[e]] * x->value[e];
            set_pair(s, i, k, sum - 2.0 * s->weight_sum * p->mean[i] * p->mean[k]);
        }
        for (int64_t e = x->start[j]; e < x->start[j + 1]; e++) spread[x->row[e]] = 0.0;
    }
}

/* 2 z_k'Wy of the new ones; y has weighted mean 0 where there is a bias. */
static void multiply_labels(fenp_linear_state *s, int64_t old)
{
    const fenp_design *x = s->q.x;
    fenp_pool *p = &s->pool;
    int64_t *which = s->list;
    for (int64_t i = 0; i < s->rows; i++) s->work[i] = 2.0 * s->q.w[i] * s->y[i];
    for (int64_t k = old; k < p->size; k++)
        for (int64_t t = 0; t < x->copies; t++) *which++ = t * x->p + p->feature[k];
    fenp_design_products(x, s->work, s->list, (p->size - old) * x->copies, p->a + old * x->copies);
}

/* What linear_columns.c has made of the rows. One copy. */
static void take_sums(fenp_linear_state *s, int64_t old)
{
    fenp_pool *p = &s->pool;
    for (int64_t k = old; k < p->size; k++) {
        const int64_t j = p->feature[k];
        for (int64_t l = 0; l <= k; l++) {
            const int64_t i = p->feature[l];
            p->h[k * p->ld + l] = s->sum[i < j ? j * s->side + i : i * s->side + j];
        }
        p->a[k] = s->cross[j];
    }
    fenp_mirror_upper(old, p->size, p->h, p->ld);
}

/* ---- who is in ------------------------------------------------------------------------------ */

static void join(fenp_linear_state *s, int64_t group)
{
    fenp_pool *p = &s->pool;
    const fenp_groups *g = s->q.groups;
    const int64_t copies = s->q.x->copies, first = p->size;
    for (int64_t k = 0; k < fenp_group_size(g, group); k++) {
        const int64_t j = fenp_group_member(g, group, k) % s->q.x->p;
        if (p->place[j] >= 0) continue; /* a copy of it */
        p->place[j] = p->size, p->feature[p->size] = j;
        p->mean[p->size] = weighted_mean(s, j);
        if (p->z) copy_column(s, p->size);
        p->size++;
    }
    p->group[p->groups] = group;
    p->start[p->groups] = first * copies;
    p->start[++p->groups] = p->size * copies;
}

fen_status fenp_pool_add(fenp_linear_state *s, const int64_t *groups, int64_t count, fen_error *err)
{
    fenp_pool *p = &s->pool;
    const int64_t old = p->size, copies = s->q.x->copies;
    int64_t more = 0;
    for (int64_t k = 0; k < count; k++) more += fenp_group_size(s->q.groups, groups[k]);
    fen_status status = make_room(s, copies > 1 ? more / copies : more, err);
    if (status != FEN_OK) return status;
    for (int64_t k = 0; k < count; k++)
        if (p->place[fenp_group_member(s->q.groups, groups[k], 0) % s->q.x->p] < 0)
            join(s, groups[k]);
    if (p->size == old) return FEN_OK;
    for (int64_t k = old; k < p->size; k++)
        for (int64_t t = 0; t < copies; t++)
            p->beta[k * copies + t] = s->beta[t * s->q.x->p + p->feature[k]];
    if (!s->square || !p->h) return FEN_OK;
    if (s->sum) {
        take_sums(s, old);
        return FEN_OK;
    }
    if (p->z)
        status = multiply_dense(s, old, err);
    else
        multiply_sparse(s, old);
    if (status == FEN_OK) multiply_labels(s, old);
    return status;
}

/* Do the rows weigh alike, and are the columns centred as they are? Then their products need no
 * copy: 2 w X'X, less what is left of the means. */
static int is_plain(const fenp_linear_state *s)
{
    const fenp_design *x = s->q.x;
    for (int64_t k = 0; s->alike && k < x->p; k++) {
        const double deviation = s->length[k] / sqrt((double)x->n);
        if (!(fabs(s->pool.mean[k]) <= deviation)) return 0;
    }
    return s->alike;
}

/* a = 2 X'Wy, where X'u of the model without columns, u = 2 w (y - b), is known for all. */
static void multiply_plain(fenp_linear_state *s)
{
    const fenp_design *x = s->q.x;
    fenp_pool *p = &s->pool;
    const double offset = 2.0 * s->b[0] * s->weight_sum;
    fenp_syrk_run(&(fenp_syrk){ .n = x->n,
                                .p = x->p,
                                .alpha = 2.0 * s->q.w[0],
                                .x = x->dense,
                                .ldx = x->n,
                                .c = p->h,
                                .ldc = p->ld });
    for (int64_t j = 0; j < x->p; j++) {
        for (int64_t i = 0; i <= j; i++)
            set_pair(s, i, j, p->h[j * p->ld + i] - 2.0 * s->weight_sum * p->mean[i] * p->mean[j]);
        p->a[j] = s->product[j] + offset * p->mean[j];
    }
}

/* Columns by themselves into an empty pool. */
static void join_all(fenp_linear_state *s)
{
    for (int64_t g = 0; g < s->q.groups->count; g++) join(s, g);
    memset(s->pool.beta, 0, (size_t)s->pool.size * sizeof *s->pool.beta);
}

/* The sums that linear_columns.c has made become the matrix as they stand. */
static fen_status take_over(fenp_linear_state *s, fen_error *err)
{
    fenp_pool *p = &s->pool;
    p->h = s->sum, p->borrowed = 1;
    const fen_status status = resize(s, s->side, err);
    p->borrowed = 0, s->sum = NULL;
    if (status != FEN_OK) return status;
    join_all(s);
    memcpy(p->a, s->cross, (size_t)p->size * sizeof *p->a);
    fenp_mirror_upper(0, p->size, p->h, p->ld);
    return FEN_OK;
}

/* Columns by themselves, whose sums are known or who are centred as they are, into an empty pool;
 * 0: not so. */
static fen_status add_plain(fenp_linear_state *s, int *done, fen_error *err)
{
    fenp_pool *p = &s->pool;
    *done = 0;
    if (s->q.groups->start || s->q.x->copies > 1 || p->size > 0) return FEN_OK;
    *done = s->sum != NULL;
    if (*done) return take_over(s, err);
    const fen_status status = make_room(s, s->q.x->p, err);
    if (status != FEN_OK) return status;
    join_all(s);
    *done = is_plain(s);
    if (*done) {
        multiply_plain(s);
    } else {
        fenp_pool_clear(s);
        p->room = p->ld = 0; /* columns of their own are needed after all */
    }
    return FEN_OK;
}

fen_status fenp_pool_add_all(fenp_linear_state *s, fen_error *err)
{
    const int64_t count = s->q.groups->count;
    int done;
    s->whole = 1;
    fen_status status = add_plain(s, &done, err);
    if (status != FEN_OK || done) return status;
    int64_t *groups = fenp_new(count, sizeof *groups);
    if (!groups) return fenp_no_memory(err, count * (int64_t)sizeof *groups, "the linear model");
    for (int64_t i = 0; i < count; i++) groups[i] = i;
    s->whole = s->sum != NULL;
    status = fenp_pool_add(s, groups, count, err);
    s->whole = 1;
    free(groups);
    free(s->sum);
    s->sum = NULL;
    return status;
}

void fenp_pool_clear(fenp_linear_state *s)
{
    fenp_pool *p = &s->pool;
    for (int64_t k = 0; k < p->size; k++) p->place[p->feature[k]] = -1;
    p->size = p->groups = p->shaped = p->kept = p->sloped = p->recorded = p->end.m = 0;
    if (p->h) memset(p->h, 0, (size_t)(p->ld * p->ld) * sizeof *p->h);
}

/* ---- to and fro ------------------------------------------------------------------------------ */

void fenp_pool_fetch(fenp_linear_state *s)
{
    const int64_t copies = s->q.x->copies;
    s->pool.sloped = 0;
    for (int64_t k = 0; k < s->pool.size; k++)
        for (int64_t t = 0; t < copies; t++)
            s->pool.beta[k * copies + t] = s->beta[t * s->q.x->p + s->pool.feature[k]];
}

void fenp_pool_deliver(fenp_linear_state *s)
{
    const int64_t copies = s->q.x->copies;
    for (int64_t k = 0; k < s->pool.size; k++)
        for (int64_t t = 0; t < copies; t++)
            s->beta[t * s->q.x->p + s->pool.feature[k]] = s->pool.beta[k * copies + t];
}

void fenp_pool_price(fenp_linear_state *s, double lambda)
{
    fenp_pool *p = &s->pool;
    for (int64_t g = 0; g < p->groups; g++) {
        const double a = lambda * fenp_group_weight(s->q.groups, p->group[g]);
        p->l[g] = a * s->q.mix;
        for (int64_t k = p->start[g]; k < p->start[g + 1]; k++) p->d[k] = a * (1.0 - s->q.mix);
    }
}

void fenp_pool_slopes(fenp_linear_state *s)
{
    fenp_pool *p = &s->pool;
    const int64_t copies = s->q.x->copies;
    for (int64_t k = 0; k < p->size; k++)
        for (int64_t t = 0; t < copies; t++)
            s->list[k * copies + t] = t * s->q.x->p + p->feature[k];
    fenp_design_products(s->q.x, s->u, s->list, p->size * copies, p->g);
    for (int64_t k = 0; k < p->size * copies; k++) p->g[k] = -p->g[k];
}
