/* pivots_weights.c -- the form in the span of the pivots as coefficients of them
 *
 *     s = sum over all points of v(a) l,   c = L^-T s
 *
 * Method: one pass over the multisets of rows whose v is not 0 for all vectors. Points are gathered
 *   in groups; threads share the blocks of a group, and the sums are over whole groups, so that
 *   they have the same bits for any number of threads.
 * Special cases: no pivots: nothing. a = 0: 0.
 * Accuracy: sums in double precision.
 * Cost: M r^2 flops by BLAS 3; memory: GROUP r. */
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "tensor/pivots_parts.h"

enum { GROUP = 8 * FENP_PIVOT_BLOCK };

typedef struct sums {
    fenp_span span;
    const double *a;
    int64_t vectors;
    int64_t gathered; /* points of the group so far */
    int64_t *member;  /* (GROUP + 1) x h            */
    double *v;        /* GROUP x vectors            */
    double *u, *l, *e;
    double *s; /* vectors x r */
    fenp_arena arena;
} sums;

static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* v of a point; whether there is one. */
static int values(const sums *s, const int64_t *member, double *v)
{
    const int64_t h = s->span.h, n = s->span.x.rows;
    const double orders = fenp_multiset_orders(h, member);
    int some = 0;
    for (int64_t c = 0; c < s->vectors; c++) {
        v[c] = orders;
        for (int64_t i = 0; i < h; i++) v[c] *= s->a[c * n + member[i]];
        some |= v[c] != 0.0;
    }
    return some;
}

static void find_l(const sums *s, int64_t first)
{
    const int64_t p = s->span.x.cols, r = s->span.count;
    const int64_t points = min_of(FENP_PIVOT_BLOCK, s->gathered - first);
    fenp_span_points(s->span.x, s->span.h, s->member + first * s->span.h, points, s->u + first * p);
    fenp_span_project(&s->span, s->u + first * p, points, s->l + first * r, s->e + first);
}

/* Each column of l is summed by one thread. */
static void add_group(sums *s)
{
    const int64_t r = s->span.count;
#pragma omp parallel for schedule(dynamic)
    for (int64_t first = 0; first < s->gathered; first += FENP_PIVOT_BLOCK) find_l(s, first);
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < r; j++)
        for (int64_t k = 0; k < s->gathered; k++)
            for (int64_t c = 0; c < s->vectors; c++)
                s->s[c * r + j] += s->v[k * s->vectors + c] * s->l[k * r + j];
    s->gathered = 0;
}

static fen_status add_all(sums *s, const fenp_task *task, fen_error *err)
{
    const int64_t h = s->span.h, n = s->span.x.rows, points = fenp_multisets(n, h);
    int64_t *member = s->member;
    fen_status status = fenp_task_at(task, 0.0, err);
    memset(member, 0, (size_t)h * sizeof *member);
    for (int64_t k = 0; k < points && status == FEN_OK; k++) {
        const int counts = values(s, member, s->v + s->gathered * s->vectors);
        if (counts) { /* the next one goes behind it */
            memcpy(member + h, member, (size_t)h * sizeof *member);
            member += h;
        }
        fenp_multiset_next(n, h, member);
        s->gathered += counts;
        if (s->gathered < GROUP && k < points - 1) continue;
        add_group(s);
        memmove(s->member, member, (size_t)h * sizeof *member);
        member = s->member;
        status = fenp_task_at(task, (double)(k + 1) / (double)points, err);
    }
    return status;
}

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
    enum { PIECES = 7 };
    const int64_t p = x.cols, h = pivots->h, r = pivots->count, m = s->vectors;
    double *point, *member;
    double **piece[PIECES] = { &s->v, &s->u, &s->l, &s->e, &s->s, &point, &member };
    const int64_t doubles[PIECES] = { fenp_bytes(GROUP, m, 1),    fenp_bytes(GROUP, p, 1),
                                      fenp_bytes(GROUP, r, 1),    GROUP,
                                      fenp_bytes(m, r, 1),        fenp_bytes(r, p, 1),
                                      fenp_bytes(GROUP + 1, h, 1) };
    const int64_t bytes = bytes_of(doubles, PIECES);
    if (bytes < 0) return fenp_no_memory(err, -1, "the weights of products of rows");
    const fen_status status =
        fenp_arena_open(&s->arena, bytes, "the weights of products of rows", err);
    if (status != FEN_OK) return status;
    for (int64_t i = 0; i < PIECES; i++) *piece[i] = fenp_arena_doubles(&s->arena, doubles[i]);
    s->member = (int64_t *)(void *)member;
    memset(s->s, 0, (size_t)(m * r) * sizeof *s->s);
    fenp_span_points(x, h, pivots->row, r, point);
    s->span.point = point;
    return FEN_OK;
}

fen_status fenp_pivots_weights(const fenp_kernel *kernel, fen_view x, const fenp_pivots *pivots,
                               const double *a, int64_t count, double *c, const fenp_task *task,
                               fen_error *err)
{
    const int64_t r = pivots->count;
    sums s = { .span = { kernel, x, pivots->h, r, pivots->factor, NULL },
               .a = a,
               .vectors = count };
    fen_status status = sums_open(&s, x, pivots, err);
    if (status == FEN_OK) status = add_all(&s, task, err);
    if (status == FEN_OK) memcpy(c, s.s, (size_t)(count * r) * sizeof *c);
    for (int64_t i = 0; i < count && status == FEN_OK && r > 0; i++)
        cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, (int)r, pivots->factor,
                    (int)r, c + i * r, 1);
    fenp_arena_close(&s.arena);
    return status;
}
