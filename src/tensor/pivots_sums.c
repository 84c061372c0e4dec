/* pivots_sums.c -- the form in the span of the pivots, and how far it may be off
 *
 *     V_i = sum over tuples (i, t) of a^t l(i, t),   s = V'a,   T~ = |s|^2,   om~ = V s,
 *     t_i = sum over tuples (i, t) of |a^t| sqrt(e(i, t)),
 *     0 <= T - T~ <= rho = (sum |a_i| t_i)^2,   |om_i - om~_i| <= sqrt(rho) t_i,
 *     weights of the pivots: c = L^-T s
 *
 * Method: one pass over the multisets of rows that have a coefficient (at most one member with
 *   a = 0). Points are gathered in groups; threads share the blocks of a group to find l, then
 *   its columns to add to V: the order of every sum depends on the sizes alone.
 * Special cases: no pivots: T~ = 0, and all of the form is in the bounds.
 * Accuracy: sums in double precision; their rounding errors are far below the noise that e is
 *   raised by.
 * Cost: M r^2 flops by BLAS 3; memory: GROUP r + n r for each vector. */
#include <math.h>
#include <omp.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "tensor/pivots_parts.h"

enum { GROUP = 8 * FENP_PIVOT_BLOCK, COLUMNS = 128 };

typedef struct sums {
    fenp_span span;
    const double *a;
    int64_t vectors;
    double *v;        /* vectors x n x r */
    double *t;        /* vectors x n     */
    int64_t gathered; /* points of the group so far */
    int64_t *member;  /* GROUP x h               */
    double *coef;     /* GROUP x vectors x h: of l at the score of each member */
    double *u, *l, *e, *k;
    double *s; /* r */
    fenp_arena arena;
} sums;

static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- groups of points ---------------------------------------------------------------------- */

/* Coefficients of the next point, orders/h times the product of all other members (equal members
 * add up to what they should); whether there is one. */
static int coefficients(const sums *s, const int64_t *member, double *coef)
{
    const int64_t h = s->span.h, n = s->span.x.rows;
    const double each = fenp_multiset_orders(h, member) / (double)h;
    int some = 0;
    for (int64_t c = 0; c < s->vectors; c++)
        for (int64_t i = 0; i < h; i++) {
            double product = each;
            for (int64_t j = 0; j < h; j++)
                if (j != i) product *= s->a[c * n + member[j]];
            coef[c * h + i] = product;
            some |= product != 0.0;
        }
    return some;
}

static void find_l(const sums *s, int64_t first)
{
    const int64_t p = s->span.x.cols, r = s->span.count;
    const int64_t points = min_of(FENP_PIVOT_BLOCK, s->gathered - first);
    fenp_span_points(s->span.x, s->span.h, s->member + first * s->span.h, points, s->u + first * p);
    fenp_span_project(&s->span, s->u + first * p, points, s->l + first * r, s->e + first,
                      s->k + first);
}

/* Columns from .. of l to V. */
static void add_columns(const sums *s, int64_t from)
{
    const int64_t h = s->span.h, r = s->span.count, n = s->span.x.rows;
    const int64_t columns = min_of(COLUMNS, r - from);
    for (int64_t k = 0; k < s->gathered; k++)
        for (int64_t c = 0; c < s->vectors; c++)
            for (int64_t i = 0; i < h; i++) {
                const double coef = s->coef[(k * s->vectors + c) * h + i];
                double *to = s->v + (c * n + s->member[k * h + i]) * r + from;
                const double *l = s->l + k * r + from;
                if (coef == 0.0) continue;
                for (int64_t j = 0; j < columns; j++) to[j] += coef * l[j];
            }
}

static void add_errors(const sums *s)
{
    const int64_t h = s->span.h, n = s->span.x.rows;
    for (int64_t k = 0; k < s->gathered; k++) {
        const double root = sqrt(s->e[k] + fenp_span_noise(s->span.count, s->k[k]));
        for (int64_t c = 0; c < s->vectors; c++)
            for (int64_t i = 0; i < h; i++)
                s->t[c * n + s->member[k * h + i]] +=
                    fabs(s->coef[(k * s->vectors + c) * h + i]) * root;
    }
}

static void add_group(sums *s)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t first = 0; first < s->gathered; first += FENP_PIVOT_BLOCK) find_l(s, first);
#pragma omp parallel for schedule(dynamic)
    for (int64_t from = 0; from < s->span.count; from += COLUMNS) add_columns(s, from);
    add_errors(s);
    s->gathered = 0;
}

static fen_status add_all(sums *s, const fenp_task *task, fen_error *err)
{
    const int64_t h = s->span.h, n = s->span.x.rows, points = fenp_multisets(n, h);
    fen_status status = fenp_task_at(task, 0.0, err);
    for (int64_t k = 0; k < points && status == FEN_OK; k++) {
        int64_t *member = s->member + s->gathered * h;
        if (k == 0) memset(member, 0, (size_t)h * sizeof *member);
        const int counts = coefficients(s, member, s->coef + s->gathered * s->vectors * h);
        int64_t *next = member + (counts ? h : 0); /* the group has room for one more */
        memmove(next, member, (size_t)h * sizeof *member);
        fenp_multiset_next(n, h, next);
        s->gathered += counts;
        if (s->gathered < GROUP && k < points - 1) continue;
        add_group(s);
        memmove(s->member, next, (size_t)h * sizeof *member);
        status = fenp_task_at(task, (double)(k + 1) / (double)points, err);
    }
    return status;
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Bytes of pieces of so many doubles, or -1. */
static int64_t bytes_of(const int64_t *doubles, int64_t pieces)
{
    int64_t total = 0;
    for (int64_t i = 0; i < pieces; i++) {
        if (doubles[i] < 0 || doubles[i] > INT64_MAX / 256) return -1;
        total += fenp_arena_bytes(doubles[i]);
    }
    return total;
}

static fen_status sums_open(sums *s, fen_view x, const fenp_pivots *pivots, fen_error *err)
{
    enum { PIECES = 10 };
    const int64_t n = x.rows, p = x.cols, h = pivots->h, r = pivots->count, m = s->vectors;
    double *point;
    double **piece[PIECES] = { &s->v, &s->t, &s->coef, &s->u, &s->l, &s->e, &s->k, &s->s, &point };
    const int64_t wide = fenp_bytes(n, r, 1), vectors = fenp_bytes(n, m, 1);
    const int64_t doubles[PIECES] = {
        wide < 0 ? -1 : fenp_bytes(wide, m, 1),
        vectors,
        fenp_bytes(GROUP * m, h, 1),
        fenp_bytes(GROUP, p, 1),
        fenp_bytes(GROUP, r, 1),
        GROUP,
        GROUP,
        r,
        fenp_bytes(r, p, 1),
        fenp_bytes(GROUP + 1, h, 1),
    };
    const int64_t bytes = bytes_of(doubles, PIECES);
    if (bytes < 0) return fenp_no_memory(err, -1, "the sums over products of rows");
    const fen_status status =
        fenp_arena_open(&s->arena, bytes, "the sums over products of rows", err);
    if (status != FEN_OK) return status;
    for (int64_t i = 0; i < PIECES - 1; i++) *piece[i] = fenp_arena_doubles(&s->arena, doubles[i]);
    s->member = (int64_t *)(void *)fenp_arena_doubles(&s->arena, doubles[PIECES - 1]);
    memset(s->v, 0, (size_t)(wide * m) * sizeof *s->v);
    memset(s->t, 0, (size_t)vectors * sizeof *s->t);
    fenp_span_points(x, h, pivots->row, r, point);
    s->span.point = point;
    return FEN_OK;
}

static fen_status sums_run(sums *s, const fenp_kernel *kernel, fen_view x,
                           const fenp_pivots *pivots, const double *a, int64_t count,
                           const fenp_task *task, fen_error *err)
{
    *s = (sums){ .span = { kernel, x, pivots->h, pivots->count, pivots->factor, NULL },
                 .a = a,
                 .vectors = count };
    const fen_status status = sums_open(s, x, pivots, err);
    return status == FEN_OK ? add_all(s, task, err) : status;
}

/* ---- results ------------------------------------------------------------------------------- */

/* s = V'a of vector c. */
static const double *along(const sums *s, int64_t c)
{
    const int64_t n = s->span.x.rows, r = s->span.count;
    memset(s->s, 0, (size_t)r * sizeof *s->s);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < r; j++) s->s[j] += s->a[c * n + i] * s->v[(c * n + i) * r + j];
    return s->s;
}

static double dot(const double *x, const double *y, int64_t count)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++) sum += x[i] * y[i];
    return sum;
}

fen_status fenp_pivots_sums(const fenp_kernel *kernel, fen_view x, const fenp_pivots *pivots,
                            const double *a, int64_t count, double *value, double *om,
                            double *value_error, double *om_error, const fenp_task *task,
                            fen_error *err)
{
    const int64_t n = x.rows, r = pivots->count;
    sums all;
    const fen_status status = sums_run(&all, kernel, x, pivots, a, count, task, err);
    for (int64_t c = 0; c < count && status == FEN_OK; c++) {
        const double *s = along(&all, c), *t = all.t + c * n;
        double root = 0.0; /* of rho */
        for (int64_t i = 0; i < n; i++) root += fabs(a[c * n + i]) * t[i];
        value[c] = dot(s, s, r);
        value_error[c] = root * root;
        for (int64_t i = 0; i < n; i++) {
            om[c * n + i] = dot(all.v + (c * n + i) * r, s, r);
            om_error[c * n + i] = root * t[i];
        }
    }
    fenp_arena_close(&all.arena);
    return status;
}

fen_status fenp_pivots_weights(const fenp_kernel *kernel, fen_view x, const fenp_pivots *pivots,
                               const double *a, int64_t count, double *c, const fenp_task *task,
                               fen_error *err)
{
    const int64_t r = pivots->count;
    sums all;
    const fen_status status = sums_run(&all, kernel, x, pivots, a, count, task, err);
    for (int64_t i = 0; i < count && status == FEN_OK && r > 0; i++) {
        memcpy(c + i * r, along(&all, i), (size_t)r * sizeof *c);
        cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, (int)r, pivots->factor,
                    (int)r, c + i * r, 1);
    }
    fenp_arena_close(&all.arena);
    return status;
}
