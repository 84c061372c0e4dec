/* certify_span.c -- what many columns span, as few
 *
 *     x_j'u = 0 for all j   if and only if   U'u = 0,   U: an orthonormal basis of their span
 *
 * Method: blocks of columns, of length 1, are folded as rows into an n x n triangle R by QR, so
 *   that X = R'Q'. QR of R' with column pivoting tells how many columns of its Q span the same:
 *   the pivots above max(n, count) roundings of the largest.
 * Special cases: rows of weight 0 take no part, their u is 0; columns of zeros are left out.
 * Cost: 3.4 n^2 count flops; 4 n^2 numbers. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "certify.h"

void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *lwork, int *info);
void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *jpvt, double *tau,
             double *work, const int *lwork, int *info);
void dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau,
             double *work, const int *lwork, int *info);

enum { PANEL = 64 };

typedef struct pile {
    const fenp_matrix *x;
    const double *w;
    int n, ld, lwork; /* ld = 2 n: of stack                      */
    double *stack;    /* the triangle, and as many columns below */
    double *column, *tau, *work;
    int *pivot;
} pile;

static fen_status open_pile(pile *s, fenp_arena *arena, fen_error *err)
{
    const int64_t n = s->x->n, work = 2 * n + (n + 1) * PANEL;
    if (work > INT_MAX)
        return fenp_fail(err, FEN_BAD_CALL,
                         "coefficients without a penalty in %lld rows are beyond what this LAPACK "
                         "can hold",
                         (long long)n);
    const int64_t square = fenp_bytes(2 * n, n, sizeof(double));
    const int64_t bytes =
        square < 0 ? -1
                   : fenp_arena_bytes(2 * n * n) + 3 * fenp_arena_bytes(n) + fenp_arena_bytes(work);
    const fen_status status = fenp_arena_open(arena, bytes, "the columns without a penalty", err);
    if (status != FEN_OK) return status;
    s->n = (int)n, s->ld = 2 * (int)n, s->lwork = (int)work;
    s->stack = fenp_arena_doubles(arena, 2 * n * n);
    s->column = fenp_arena_doubles(arena, n), s->tau = fenp_arena_doubles(arena, n);
    s->pivot = (int *)(void *)fenp_arena_doubles(arena, n);
    s->work = fenp_arena_doubles(arena, work);
    memset(s->stack, 0, (size_t)square);
    return FEN_OK;
}

/* Column j becomes a row below the triangle. */
static fen_status lay_down(pile *s, int64_t j, int place, fen_error *err)
{
    const fen_status status = fenp_matrix_column(s->x, j, s->column, err);
    if (status != FEN_OK) return status;
    for (int i = 0; i < s->n; i++)
        if (!(s->w[i] > 0.0)) s->column[i] = 0.0;
    const double length = cblas_dnrm2(s->n, s->column, 1);
    for (int i = 0; i < s->n; i++)
        s->stack[s->n + place + (int64_t)i * s->ld] = length > 0.0 ? s->column[i] / length : 0.0;
    return FEN_OK;
}

static void fold(pile *s, int rows)
{
    const int all = s->n + rows;
    int info;
    dgeqrf_(&all, &s->n, s->stack, &s->ld, s->tau, s->work, &s->lwork, &info);
    for (int64_t j = 0; j < s->n; j++)
        memset(s->stack + j * s->ld + j + 1, 0, (size_t)(s->ld - j - 1) * sizeof(double));
}

static int64_t find_basis(pile *s, int64_t count, double *basis)
{
    const int64_t n = s->n;
    int info, rank = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) basis[j + i * n] = s->stack[i + j * s->ld];
    memset(s->pivot, 0, (size_t)n * sizeof *s->pivot);
    dgeqp3_(&s->n, &s->n, basis, &s->n, s->pivot, s->tau, s->work, &s->lwork, &info);
    const double least = fmax((double)n, (double)count) * DBL_EPSILON * fabs(basis[0]);
    while (rank < n && fabs(basis[rank * (n + 1)]) > least) rank++;
    dorgqr_(&s->n, &rank, &rank, basis, &s->n, s->tau, s->work, &s->lwork, &info);
    return rank;
}

fen_status fenp_matrix_span(const fenp_matrix *x, const double *w, const int64_t *columns,
                            int64_t count, double *basis, int64_t *rank, fen_error *err)
{
    pile s = { .x = x, .w = w };
    fenp_arena arena;
    fen_status status = open_pile(&s, &arena, err);
    if (status != FEN_OK) return status;
    for (int64_t first = 0; status == FEN_OK && first < count; first += s.n) {
        const int rows = count - first < s.n ? (int)(count - first) : s.n;
        for (int k = 0; status == FEN_OK && k < rows; k++)
            status = lay_down(&s, columns[first + k], k, err);
        if (status == FEN_OK) fold(&s, rows);
        if (status == FEN_OK) status = fenp_task_at(x->task, (double)first / (double)count, err);
    }
    if (status == FEN_OK) *rank = find_basis(&s, count, basis);
    fenp_arena_close(&arena);
    return status;
}
