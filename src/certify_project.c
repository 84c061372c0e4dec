/* certify_project.c -- a dual vector made orthogonal to columns, without leaving its boxes
 *
 *     least sum_i delta_i^2 / room_i^2   such that   A'(u + delta) = 0
 *     room_i   how far u_i is from the nearer end of its box; sqrt(w_i) where there is none
 *
 * The constraints of D for an intercept (a column of ones) and for coefficients without a
 * penalty. A u_i at an end of its box stays there: at an optimum it belongs there, and moving
 * it would cost what its residual is, while moving the others costs a square.
 *
 * Method: with R = diag(room), delta = -R v, v the shortest solution of (RA)'v = A'u: a QR
 *   factorisation of RA with column pivoting (columns scaled to length 1, so that their units do
 *   not matter); columns that depend on others are left out, for what is orthogonal to those
 *   is to them. Steps beyond an end are cut there and the rest is tried again, a few times.
 *   More columns than rows are replaced by what they span (certify_span.c).
 * Special cases: a u of zeros stays; an intercept alone that cannot be had this way (all u_i at ends) is had by a
 *   common shift inside the boxes (certify_feasible.c). No columns: u is cut into its boxes.
 * Accuracy: |x_j'u| within some roundings of sum_i w_i |x_ij| max |z|.
 * Cost: count columns of n numbers, at most n; n count^2 per round, most often one. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "certify.h"

void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *jpvt, double *tau,
             double *work, const int *lwork, int *info);
void dormqr_(const char *side, const char *trans, const int *m, const int *n, const int *k,
             const double *a, const int *lda, const double *tau, double *c, const int *ldc,
             double *work, const int *lwork, int *info, size_t, size_t);

enum { ROUNDS = 8, PANEL = 64 };

typedef struct desk {
    const fenp_claim *c;
    int64_t n, count, work_size;
    double *a; /* n x count, column-major                                    */
    double *b; /* rows x count: RA of the rows with room, then its factors   */
    double *room, *v, *length, *tau, *s, *work;
    int *pivot;
    int64_t rows, rank; /* of b                                                       */
} desk;

/* ---- where u may be ---------------------------------------------------------------------- */

static void cut(const fenp_claim *c, double *u)
{
    for (int64_t i = 0; i < c->n; i++) {
        double low = 0.0, high = 0.0;
        if (c->w[i] > 0.0) fenp_claim_box(c, i, &low, &high);
        u[i] = fmin(fmax(u[i], c->w[i] * low), c->w[i] * high);
        if (c->w[i] == 0.0 || isnan(u[i])) u[i] = 0.0;
    }
}

static double room_of(const fenp_claim *c, int64_t i, double u)
{
    double low, high;
    if (c->w[i] == 0.0) return 0.0;
    fenp_claim_box(c, i, &low, &high);
    if (low == -INFINITY && high == INFINITY) return sqrt(c->w[i]);
    return fmax(fmin(u - c->w[i] * low, c->w[i] * high - u), 0.0);
}

double fenp_claim_rounding(const fenp_claim *c, const double *u, const double *column)
{
    double largest = 0.0;
    long double sum = 0.0L;
    for (int64_t i = 0; i < c->n; i++)
        if (c->w[i] > 0.0) {
            largest = fmax(largest, fabs(u[i] / c->w[i]));
            sum += fabsl((long double)c->w[i] * column[i]);
        }
    return (double)(64.0L * DBL_EPSILON * largest * sum);
}

/* s = A'u. Is it 0 but for rounding errors? */
static int satisfied(const desk *d, const double *u)
{
    int all = 1;
    for (int64_t j = 0; j < d->count; j++) {
        const double *column = d->a + j * d->n;
        long double sum = 0.0L;
        for (int64_t i = 0; i < d->n; i++) sum += (long double)column[i] * u[i];
        d->s[j] = (double)sum;
        all &= fabs(d->s[j]) <= fenp_claim_rounding(d->c, u, column);
    }
    return all;
}

/* ---- one round --------------------------------------------------------------------------- */

/* RA without its empty rows, columns of length 1. Returns whether the rooms are others than
 * before. */
static int lay_out(desk *d, const double *u)
{
    int changed = 0;
    d->rows = 0;
    for (int64_t i = 0; i < d->n; i++) {
        const double room = room_of(d->c, i, u[i]);
        changed |= room != d->room[i];
        d->room[i] = room;
        d->rows += room > 0.0;
    }
    for (int64_t j = 0; changed && j < d->count; j++) {
        double *out = d->b + j * d->rows;
        int64_t k = 0;
        for (int64_t i = 0; i < d->n; i++)
            if (d->room[i] > 0.0) out[k++] = d->room[i] * d->a[i + j * d->n];
        d->length[j] = cblas_dnrm2((int)d->rows, out, 1);
        if (d->length[j] > 0.0) cblas_dscal((int)d->rows, 1.0 / d->length[j], out, 1);
    }
    return changed;
}

static void factor(desk *d)
{
    const int rows = (int)d->rows, count = (int)d->count, size = (int)d->work_size;
    const int64_t most = d->rows < d->count ? d->rows : d->count;
    int info;
    for (int64_t j = 0; j < d->count; j++) d->pivot[j] = 0;
    dgeqp3_(&rows, &count, d->b, &rows, d->pivot, d->tau, d->work, &size, &info);
    const double least = fmax((double)d->rows, (double)d->count) * DBL_EPSILON * fabs(d->b[0]);
    d->rank = 0;
    while (info == 0 && d->rank < most && fabs(d->b[d->rank * (d->rows + 1)]) > least) d->rank++;
}

/* u -= R Q S^-T s, where RA (columns scaled and pivoted) = Q S. */
static void step(desk *d, double *u)
{
    const int rows = (int)d->rows, rank = (int)d->rank, size = (int)d->work_size, one = 1;
    int info;
    for (int64_t k = 0; k < d->rows; k++) d->v[k] = 0.0;
    for (int64_t k = 0; k < d->rank; k++) {
        const int64_t j = d->pivot[k] - 1;
        d->v[k] = d->s[j] / d->length[j];
    }
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasTrans, CblasNonUnit, rank, d->b, rows, d->v, 1);
    dormqr_("L", "N", &rows, &one, &rank, d->b, &rows, d->tau, d->v, &rows, d->work, &size, &info,
            1, 1);
    for (int64_t i = 0, k = 0; i < d->n; i++)
        if (d->room[i] > 0.0) u[i] -= d->room[i] * d->v[k++];
}

static int project(desk *d, double *u)
{
    cut(d->c, u);
    for (int round = 0; round < ROUNDS; round++) {
        if (satisfied(d, u)) return 1;
        if (lay_out(d, u) && d->rows > 0) factor(d);
        if (d->rows == 0 || d->rank == 0) return 0;
        step(d, u);
        cut(d->c, u);
    }
    return satisfied(d, u);
}

/* ---- all of it --------------------------------------------------------------------------- */

static fen_status open_desk(desk *d, fenp_arena *arena, fen_error *err)
{
    const int64_t n = d->n, count = d->count;
    d->work_size = 2 * count + (count + 1) * PANEL;
    if (n > INT_MAX || d->work_size > INT_MAX)
        return fenp_fail(err, FEN_BAD_CALL,
                         "%lld coefficients without a penalty are beyond what this LAPACK can hold",
                         (long long)count);
    const int64_t matrix = fenp_bytes(n, count, sizeof(double));
    const int64_t bytes = matrix < 0
                              ? -1
                              : 2 * fenp_arena_bytes(n * count) + 2 * fenp_arena_bytes(n) +
                                    4 * fenp_arena_bytes(count) + fenp_arena_bytes(d->work_size);
    const fen_status status = fenp_arena_open(arena, bytes, "the columns without a penalty", err);
    if (status != FEN_OK) return status;
    d->a = fenp_arena_doubles(arena, n * count);
    d->b = fenp_arena_doubles(arena, n * count);
    d->room = fenp_arena_doubles(arena, n);
    d->v = fenp_arena_doubles(arena, n);
    d->length = fenp_arena_doubles(arena, count);
    d->tau = fenp_arena_doubles(arena, count);
    d->s = fenp_arena_doubles(arena, count);
    d->pivot = (int *)(void *)fenp_arena_doubles(arena, count);
    d->work = fenp_arena_doubles(arena, d->work_size);
    for (int64_t i = 0; i < n; i++) d->room[i] = -1.0; /* none yet */
    return FEN_OK;
}

static int is_zero(const double *u, int64_t n)
{
    int64_t i = 0;
    while (i < n && u[i] == 0.0) i++;
    return i == n;
}

/* left = |A'u|. *within: no more than rounding errors. column: room for n. */
static fen_status look(const fenp_claim *c, const fenp_matrix *x, const int64_t *columns,
                       int64_t count, const double *u, double *column, double *left, int *within,
                       fen_error *err)
{
    fen_status status = FEN_OK;
    *within = 1;
    for (int64_t j = 0; status == FEN_OK && j < count; j++) {
        long double sum = 0.0L;
        status = fenp_matrix_column(x, columns[j], column, err);
        for (int64_t i = 0; i < c->n; i++) sum += (long double)column[i] * u[i];
        left[j] = (double)fabsl(sum);
        *within &= left[j] <= fenp_claim_rounding(c, u, column);
    }
    return status;
}

/* More columns than rows: what they span instead. */
static fen_status project_wide(const fenp_claim *c, const fenp_matrix *x, const int64_t *columns,
                               int64_t count, double *u, double *left, int *within, fen_error *err)
{
    desk d = { .c = c, .n = c->n, .count = c->n };
    fenp_arena arena;
    fen_status status = open_desk(&d, &arena, err);
    if (status != FEN_OK) return status;
    status = look(c, x, columns, count, u, d.v, left, within, err);
    if (status == FEN_OK && !*within) {
        status = fenp_matrix_span(x, c->w, columns, count, d.a, &d.count, err);
        if (status == FEN_OK && project(&d, u))
            status = look(c, x, columns, count, u, d.v, left, within, err);
    }
    fenp_arena_close(&arena);
    return status;
}

static fen_status project_columns(const fenp_claim *c, const fenp_matrix *x, const int64_t *columns,
                                  int64_t count, double *u, double *left, int *within,
                                  fen_error *err)
{
    desk d = { .c = c, .n = c->n, .count = count };
    fenp_arena arena;
    fen_status status = open_desk(&d, &arena, err);
    if (status != FEN_OK) return status;
    for (int64_t j = 0; status == FEN_OK && j < count; j++)
        status = fenp_matrix_column(x, columns[j], d.a + j * d.n, err);
    if (status == FEN_OK) *within = project(&d, u);
    if (status == FEN_OK && !*within && count == 1 && columns[0] == x->p) {
        fenp_claim_feasible(c, u, u);
        *within = 1;
        satisfied(&d, u);
    }
    for (int64_t j = 0; status == FEN_OK && j < count; j++) left[j] = fabs(d.s[j]);
    fenp_arena_close(&arena);
    return status;
}

fen_status fenp_claim_project(const fenp_claim *c, const fenp_matrix *x, const int64_t *columns,
                              int64_t count, double *u, double *left, int *within, fen_error *err)
{
    cut(c, u);
    *within = 1;
    memset(left, 0, (size_t)count * sizeof *left);
    if (count == 0 || is_zero(u, c->n)) return FEN_OK;
    return count > c->n + 1 ? project_wide(c, x, columns, count, u, left, within, err)
                            : project_columns(c, x, columns, count, u, left, within, err);
}
