/* certify_project.c -- a dual vector made orthogonal to columns, without leaving its boxes
 *
 *     least sum_i delta_i^2 / room_i^2   such that   A'(u + delta) = c,   c = 0 but for columns
 *                                                    whose slope is wanted (certify_linear.c)
 *     room_i   how far u_i is from the nearer end of its box; sqrt(w_i) where there is none
 *
 * The constraints of D for an intercept (a column of ones) and for coefficients without a
 * penalty. A u_i at an end of its box stays there: at an optimum it belongs there, and moving
 * it would cost what its residual is, while moving the others costs a square.
 *
 * Method: with R = diag(room), delta = -R v, v the shortest solution of (RA)'v = A'u - c: a QR
 *   factorisation of RA with column pivoting (columns scaled to length 1, so that their units do
 *   not matter; the ones come first); columns that depend on others are left out, for what is
 *   orthogonal to those is to them. u and A'u are long doubles, and what is left of A'u is
 *   projected again, until it is down to their rounding errors. Steps beyond an end are cut there.
 * Special cases: an intercept alone that cannot be had this way (all u_i at ends) is had by a
 *   common shift inside the boxes (certify_feasible.c). Columns that want a u_i of exactly 0 (the
 *   indicator of one row) get it: where nothing else helps, u_i that are but rounding errors of
 *   others become 0, and likewise the ends of their boxes. More columns than rows: projected away
 *   from what they span (certify_span.c), then from the columns that are off most. Where the last
 *   digits alone are off: certify_polish.c. No columns: u is cut into its boxes.
 * Accuracy: u counts as orthogonal to x_j only if |x_j'u| <= 2^-53 sum_i |x_ij u_i|: then
 *   x_ij that differ from those of the file by no more than the rounding error of a double make
 *   it 0 exactly. Ones are not rounded; there weights w_i that are off by as little do that, and
 *   inputs by a unit in the last place, two roundings, make up for both.
 * Cost: count columns of n numbers; n count^2 once, or a few times where there are boxes. */
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

enum { ROUNDS = 10, SNAP = 3, WIDE = 3, PANEL = 64 }; /* SNAP: no small u_i from this round on */

static const double DEAR = 1e9;        /* flops: not for what holds as it is                 */
static const double NOTHING = 0x1p-12; /* of a rounding error: no more to gain               */
static const double SMALL = 0x1p-50;   /* |z_i| over the largest: a rounding error of others */

typedef struct desk {
    const fenp_claim *c;
    int64_t n, count, must, work_size; /* the first `must` columns are constraints            */
    int64_t ones;                      /* which of them is the intercept; -1: none            */
    double *a;                         /* n x count, column-major                             */
    double *b;    /* rows x count: RA of the rows with room, then its factors   */
    double *room; /* n; -1: u_i is 0 and stays it                               */
    double *v, *length, *tau, *s, *work;
    const double *wanted; /* count: c; NULL: 0                                          */
    long double *before;  /* n: u                                                        */
    int *pivot;
    int64_t rows, rank; /* of b                                                       */
} desk;

/* ---- where u may be ---------------------------------------------------------------------- */

void fenp_claim_cut(const fenp_claim *c, long double *u)
{
    for (int64_t i = 0; i < c->n; i++) {
        double low = 0.0, high = 0.0;
        if (c->w[i] > 0.0) fenp_claim_box(c, i, &low, &high);
        u[i] = fminl(fmaxl(u[i], (long double)c->w[i] * low), (long double)c->w[i] * high);
        if (c->w[i] == 0.0 || isnan(u[i])) u[i] = 0.0L;
    }
}

double fenp_claim_room(const fenp_claim *c, int64_t i, long double u)
{
    const long double w = c->w[i];
    double low, high;
    if (c->w[i] == 0.0) return 0.0;
    fenp_claim_box(c, i, &low, &high);
    if (low == -INFINITY && high == INFINITY) return sqrt(c->w[i]);
    return (double)fmaxl(fminl(u - w * low, w * high - u), 0.0L);
}

double fenp_claim_rounding(const long double *u, const double *column, int64_t n)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < n; i++) sum += fabsl(column[i] * u[i]);
    return (double)(0.5L * DBL_EPSILON * sum);
}

/* s = A'u - c. Returns the largest over its rounding error, of the constraints or of all. */
static double look(const desk *d, const long double *u, int64_t count)
{
    double worst = 0.0;
    for (int64_t j = 0; j < d->count; j++) {
        const double *column = d->a + j * d->n;
        long double sum = d->wanted ? -d->wanted[j] : 0.0L;
        for (int64_t i = 0; i < d->n; i++) sum += column[i] * u[i];
        d->s[j] = (double)sum;
        const double unit = fenp_claim_rounding(u, column, d->n);
        if (j < count && sum != 0.0L) worst = fmax(worst, fabs(d->s[j]) / unit);
    }
    return worst;
}

/* ---- one round --------------------------------------------------------------------------- */

/* RA without its empty rows, columns of length 1. */
static void lay_out(desk *d, const long double *u)
{
    d->rows = 0;
    for (int64_t i = 0; i < d->n; i++) {
        if (d->room[i] >= 0.0) d->room[i] = fenp_claim_room(d->c, i, u[i]);
        d->rows += d->room[i] > 0.0;
    }
    for (int64_t j = 0; j < d->count; j++) {
        double *out = d->b + j * d->rows;
        int64_t k = 0;
        for (int64_t i = 0; i < d->n; i++)
            if (d->room[i] > 0.0) out[k++] = d->room[i] * d->a[i + j * d->n];
        d->length[j] = cblas_dnrm2((int)d->rows, out, 1);
        if (d->length[j] > 0.0) cblas_dscal((int)d->rows, 1.0 / d->length[j], out, 1);
    }
}

static void factor(desk *d)
{
    const int rows = (int)d->rows, count = (int)d->count, size = (int)d->work_size;
    const int64_t most = d->rows < d->count ? d->rows : d->count;
    int info;
    d->rank = 0;
    if (most == 0) return;
    for (int64_t j = 0; j < d->count; j++) d->pivot[j] = j == d->ones;
    dgeqp3_(&rows, &count, d->b, &rows, d->pivot, d->tau, d->work, &size, &info);
    const double least = fmax((double)d->rows, (double)d->count) * DBL_EPSILON;
    while (info == 0 && d->rank < most && fabs(d->b[d->rank * (d->rows + 1)]) > least) d->rank++;
}

/* u -= R Q S^-T s, where RA (columns scaled and pivoted) = Q S. */
static void step(desk *d, long double *u)
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
        if (d->room[i] > 0.0) u[i] -= (long double)d->room[i] * d->v[k++];
}

/* u_i that are nothing but rounding errors of others become 0, those that are no further from an
 * end of their box go there. */
static void snap(desk *d, long double *u)
{
    const fenp_claim *c = d->c;
    long double largest = 0.0L;
    for (int64_t i = 0; i < d->n; i++)
        if (c->w[i] > 0.0) largest = fmaxl(largest, fabsl(u[i] / c->w[i]));
    for (int64_t i = 0; i < d->n; i++) {
        const long double small = SMALL * largest * c->w[i];
        double low, high;
        fenp_claim_box(c, i, &low, &high);
        if (u[i] != 0.0L && fabsl(u[i]) <= small)
            u[i] = 0.0L, d->room[i] = -1.0;
        else if (c->w[i] * (long double)high - u[i] <= small)
            u[i] = c->w[i] * (long double)high;
        else if (u[i] - c->w[i] * (long double)low <= small)
            u[i] = c->w[i] * (long double)low;
    }
}

/* Returns whether all constraints hold; those that do before do after. */
static int project(desk *d, long double *u)
{
    double before = 0.0;
    fenp_claim_cut(d->c, u);
    const int good = look(d, u, d->must) <= 1.0;
    if (good && !d->wanted && (double)d->n * (double)d->count * (double)d->count > DEAR) return 1;
    memcpy(d->before, u, (size_t)d->n * sizeof *u);
    for (int round = 0; round < ROUNDS; round++) {
        const double now = look(d, u, d->count);
        const int slow = !(now < 1e-2 * before);
        if (now <= NOTHING || (slow && round > 0 && now <= 0.1)) break;
        if (slow && round >= SNAP) snap(d, u), look(d, u, d->count);
        if (slow) lay_out(d, u), factor(d);
        if (d->rank == 0) break;
        step(d, u);
        fenp_claim_cut(d->c, u);
        before = now;
    }
    if (look(d, u, d->must) <= 1.0) return 1;
    if (!good) return 0;
    memcpy(u, d->before, (size_t)d->n * sizeof *u);
    return look(d, u, d->must) <= 1.0;
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
                              : 2 * fenp_arena_bytes(n * count) + 4 * fenp_arena_bytes(n) +
                                    4 * fenp_arena_bytes(count) + fenp_arena_bytes(d->work_size);
    const fen_status status = fenp_arena_open(arena, bytes, "the columns without a penalty", err);
    if (status != FEN_OK) return status;
    d->a = fenp_arena_doubles(arena, n * count);
    d->b = fenp_arena_doubles(arena, n * count);
    d->room = fenp_arena_doubles(arena, n);
    d->v = fenp_arena_doubles(arena, n);
    d->before = (long double *)(void *)fenp_arena_doubles(arena, 2 * n);
    d->length = fenp_arena_doubles(arena, count);
    d->tau = fenp_arena_doubles(arena, count);
    d->s = fenp_arena_doubles(arena, count);
    d->pivot = (int *)(void *)fenp_arena_doubles(arena, count);
    d->work = fenp_arena_doubles(arena, d->work_size);
    for (int64_t i = 0; i < n; i++) d->room[i] = 0.0;
    return FEN_OK;
}

static int is_zero(const long double *u, int64_t n)
{
    int64_t i = 0;
    while (i < n && u[i] == 0.0L) i++;
    return i == n;
}

/* The columns listed, and which of them are ones. */
static fen_status fill_desk(desk *d, const fenp_matrix *x, const int64_t *columns, fen_error *err)
{
    fen_status status = FEN_OK;
    d->ones = -1;
    for (int64_t j = 0; status == FEN_OK && j < d->count; j++) {
        if (columns[j] == x->p) d->ones = j;
        status = fenp_matrix_column(x, columns[j], d->a + j * d->n, err);
    }
    return status;
}

static fen_status project_columns(const fenp_claim *c, const fenp_matrix *x, const fenp_columns *to,
                                  long double *u, double *left, int *within, fen_error *err)
{
    desk d = { .c = c, .n = c->n, .count = to->count, .must = to->must, .wanted = to->wanted };
    fenp_arena arena;
    fen_status status = open_desk(&d, &arena, err);
    if (status != FEN_OK) return status;
    status = fill_desk(&d, x, to->which, err);
    if (status == FEN_OK) *within = project(&d, u);
    if (status == FEN_OK && !*within && d.count == 1 && d.ones == 0) {
        for (int64_t i = 0; i < d.n; i++) d.v[i] = (double)u[i];
        fenp_claim_feasible(c, d.v, d.v);
        for (int64_t i = 0; i < d.n; i++) u[i] = d.v[i], d.room[i] = 0.0;
        *within = project(&d, u);
    }
    for (int64_t j = 0; status == FEN_OK && j < d.must; j++) left[j] = fabs(d.s[j]);
    fenp_arena_close(&arena);
    return status;
}

/* ---- more columns than rows -------------------------------------------------------------- */

/* left = |A'u|, off: that over its rounding error. column: room for n. */
static fen_status look_at_all(const fenp_claim *c, const fenp_matrix *x, const fenp_columns *to,
                              const long double *u, double *column, double *left, double *off,
                              fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t j = 0; status == FEN_OK && j < to->count; j++) {
        long double sum = 0.0L;
        status = fenp_matrix_column(x, to->which[j], column, err);
        for (int64_t i = 0; i < c->n; i++) sum += column[i] * u[i];
        left[j] = (double)fabsl(sum);
        off[j] = left[j] == 0.0 ? 0.0 : left[j] / fenp_claim_rounding(u, column, c->n);
    }
    return status;
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* At most n of the columns that are off, the worst of them. sorted: room for all. */
static int64_t pick_worst(const fenp_columns *to, const double *off, double *sorted, int64_t n,
                          int64_t *which)
{
    int64_t count = 0;
    memcpy(sorted, off, (size_t)to->count * sizeof *off);
    qsort(sorted, (size_t)to->count, sizeof *sorted, falling);
    for (int64_t j = 0; j < to->count && count < n; j++)
        if (off[j] > 0.0 && off[j] >= sorted[n - 1]) which[count++] = to->which[j];
    return count;
}

/* The basis of their span is not theirs to the last digit: the columns themselves follow. */
static fen_status project_wide(const fenp_claim *c, const fenp_matrix *x, const fenp_columns *to,
                               long double *u, double *left, int *within, fen_error *err)
{
    desk d = { .c = c, .n = c->n, .count = c->n, .must = c->n, .ones = -1 };
    double *off = fenp_new(2 * to->count, sizeof *off);
    int64_t *which = fenp_new(c->n, sizeof *which);
    fenp_arena arena = { 0 };
    fen_status status = off && which ? open_desk(&d, &arena, err)
                                     : fenp_no_memory(err, fenp_bytes(2, to->count, sizeof *off),
                                                      "the columns without a penalty");
    *within = 0;
    for (int round = 0; status == FEN_OK && round <= WIDE && !*within; round++) {
        status = look_at_all(c, x, to, u, d.v, left, off, err);
        *within = 1;
        for (int64_t j = 0; j < to->count; j++) *within &= off[j] <= 1.0;
        if (status != FEN_OK || *within || round == WIDE) break;
        if (round == 0)
            status = fenp_matrix_span(x, c->w, to->which, to->count, d.a, &d.count, err);
        else
            d.count = pick_worst(to, off, off + to->count, d.n, which);
        d.must = d.count;
        if (status == FEN_OK && round > 0) status = fill_desk(&d, x, which, err);
        if (status == FEN_OK && d.count > 0) project(&d, u);
    }
    fenp_arena_close(&arena);
    free(off), free(which);
    return status;
}

/* Where that fails by last digits alone, they are spread over all columns: of what came out, else of
 * u as it was. */
static fen_status mend(const fenp_claim *c, const fenp_matrix *x, const fenp_columns *to,
                       const long double *before, long double *u, double *left, int *within,
                       fen_error *err)
{
    fen_status status = fenp_claim_polish(c, x, to, u, left, within, err);
    if (status != FEN_OK || *within) return status;
    memcpy(u, before, (size_t)c->n * sizeof *u);
    return fenp_claim_polish(c, x, to, u, left, within, err);
}

fen_status fenp_claim_project(const fenp_claim *c, const fenp_matrix *x, const fenp_columns *to,
                              long double *u, double *left, int *within, fen_error *err)
{
    fenp_claim_cut(c, u);
    *within = 1;
    memset(left, 0, (size_t)to->must * sizeof *left);
    if (to->count == 0 || (!to->wanted && is_zero(u, c->n))) return FEN_OK;
    long double *before = fenp_new(c->n, sizeof *before);
    if (!before) return fenp_no_memory(err, fenp_bytes(c->n, 1, sizeof *before), "the dual vector");
    memcpy(before, u, (size_t)c->n * sizeof *u);
    fen_status status = to->count > c->n + 1 ? project_wide(c, x, to, u, left, within, err)
                                             : project_columns(c, x, to, u, left, within, err);
    if (status == FEN_OK && !*within && to->polish)
        status = mend(c, x, to, before, u, left, within, err);
    free(before);
    return status;
}
