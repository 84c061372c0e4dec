/* lp_system.c -- the linear equations of a Newton step under a penalty l^p
 *
 *     (D + (q-1) B) da + e db = right,   e'da = 0 (with a bias; else no e),   D > 0 diagonal
 *
 * B itself (m x m, rows of positive weight): its Cholesky factor, and with a bias
 *     K x = right, K v = e, db = e'x / e'v, da = x - v db.
 * B = R R' with fewer columns than rows: with y = sqrt(q-1) R'da
 *     da = D^-1 (right - sqrt(q-1) R y - e db),
 *     ([I 0; 0 0] + Z'D^-1 Z) (y, db) = Z'D^-1 right,   Z = [sqrt(q-1) R, e],
 * and as D^-1 grows without bound where losses have corners, two rounds of refinement on all of
 * (da, y, db) together.
 * Special cases. A breakdown raises the diagonal: the step is still one downhill.
 * Cost. m^3/3 flops, or m r^2 + r^3/3. */
#include "solver/lp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"

enum { BLOCK = 512, ROUNDS = 2, MOST_RAISES = 12 };

/* Fewer columns than rows: less work, and D is not lost beside a B of low rank. */
static int by_root(const fenp_route *route, int64_t rank, int64_t n)
{
    return route->root && rank >= 0 && rank < n;
}

/* Of a route that is not open yet. A low rank is not known before: one less than n takes most. */
static int64_t rank_of(const fenp_form_size *size, const fenp_route *route)
{
    const int64_t count = fenp_feature_count(&size->kernel, size->p);
    if (route == &fenp_route_features) return count;
    return route == &fenp_route_low_rank ? (count < size->n ? count : size->n - 1) : -1;
}

static int64_t block_rows(int64_t n) { return n < BLOCK ? n : BLOCK; }

int64_t fenp_lp_system_bytes(const fenp_form_size *size, const fenp_route *route)
{
    const int64_t n = size->n, rank = rank_of(size, route);
    const int root = by_root(route, rank, n);
    const int64_t side = root ? rank + 1 : 0;
    if (fenp_bytes(n, n, 4 * sizeof(double)) < 0) return -1; /* side <= n */
    return fenp_arena_bytes(n * (root ? rank : n)) + fenp_arena_bytes(side * side) +
           3 * fenp_arena_bytes(n) + fenp_arena_bytes(side * block_rows(n)) +
           2 * fenp_arena_bytes(side) + 128;
}

double fenp_lp_system_flops(const fenp_form_size *size, const fenp_route *route)
{
    const double n = (double)size->n, rank = (double)rank_of(size, route);
    return by_root(route, rank_of(size, route), size->n) && route != &fenp_route_low_rank
               ? n * rank * rank + rank * rank * rank / 3.0
               : n * n * n / 3.0;
}

void fenp_lp_system_open(fenp_lp_system *e, fenp_arena *arena, const fenp_form *form, int bias)
{
    const int64_t bytes = fenp_lp_system_bytes(&form->size, form->route);
    *e = (fenp_lp_system){ .n = form->size.n, .bias = bias };
    e->arena.base = (char *)(void *)fenp_arena_doubles(arena, bytes / (int64_t)sizeof(double));
    e->arena.size = bytes;
    fenp_lp_system_fit(e, form);
}

void fenp_lp_system_fit(fenp_lp_system *e, const fenp_form *form)
{
    const int64_t n = e->n;
    const int root = by_root(form->route, form->rank, n);
    fenp_arena *arena = &e->arena;
    arena->used = 0;
    e->rank = root ? form->rank : -1;
    e->matrix = fenp_arena_doubles(arena, n * (root ? form->rank : n));
    e->d = fenp_arena_doubles(arena, n);
    e->ones = fenp_arena_doubles(arena, n);
    e->work = fenp_arena_doubles(arena, n);
    if (!root) return;
    e->gram = fenp_arena_doubles(arena, (e->rank + 1) * (e->rank + 1));
    e->block = fenp_arena_doubles(arena, (e->rank + 1) * block_rows(n));
    e->short1 = fenp_arena_doubles(arena, e->rank + 1);
    e->short2 = fenp_arena_doubles(arena, e->rank + 1);
}

/* ---- B itself ---------------------------------------------------------------------------- */

/* The rows and columns of positive weight move to the front; all on and below the diagonal. */
static void gather(fenp_lp_system *e, const fenp_lp *s)
{
    for (int64_t j = 0; j < s->m; j++)
        for (int64_t i = j; i < s->m; i++)
            e->matrix[i + j * e->n] = (s->order - 1.0) * e->matrix[s->row[i] + s->row[j] * e->n];
}

static fen_status factor_whole(fenp_lp_system *e, const fenp_lp *s, const double *d,
                               const fenp_task *task, fen_error *err)
{
    fen_status status = FEN_OK;
    int64_t rank = -1;
    double more = 0.0;
    for (int attempt = 0; status == FEN_OK && rank < e->m && attempt < MOST_RAISES; attempt++) {
        double largest = 0.0;
        s->form.route->curvature(&s->form, s->a, e->matrix);
        gather(e, s);
        for (int64_t i = 0; i < e->m; i++) {
            double *pivot = e->matrix + i * (e->n + 1);
            largest = fmax(largest, *pivot += d[i]);
        }
        for (int64_t i = 0; i < e->m; i++) e->matrix[i * (e->n + 1)] += more * largest;
        status = fenp_cholesky(e->m, e->matrix, e->n, &rank, task, err);
        more = fmax(100.0 * more, 1e-15);
    }
    for (int64_t i = 0; i < e->m; i++) e->ones[i] = 1.0;
    if (status == FEN_OK && e->bias)
        status = fenp_cholesky_solve(e->m, e->matrix, e->n, e->ones, 1, err);
    return status;
}

static fen_status solve_whole(fenp_lp_system *e, const double *right, double *da, double *db,
                              fen_error *err)
{
    memcpy(da, right, (size_t)e->m * sizeof(double));
    const fen_status status = fenp_cholesky_solve(e->m, e->matrix, e->n, da, 1, err);
    *db = 0.0;
    if (status != FEN_OK || !e->bias) return status;
    long double over = 0.0L, under = 0.0L;
    for (int64_t i = 0; i < e->m; i++) over += da[i], under += e->ones[i];
    *db = (double)(over / under);
    for (int64_t i = 0; i < e->m; i++) da[i] -= *db * e->ones[i];
    return FEN_OK;
}

/* ---- a root ------------------------------------------------------------------------------ */

/* The rows of positive weight to the front of every column, times sqrt(q-1). */
static void gather_root(fenp_lp_system *e, const fenp_lp *s)
{
    const double factor = sqrt(s->order - 1.0);
    for (int64_t k = 0; k < e->rank; k++) {
        double *column = e->matrix + k * e->n;
        for (int64_t i = 0; i < s->m; i++) column[i] = factor * column[s->row[i]];
    }
}

/* gram <- Z'D^-1 Z, lower, by blocks of rows, which stay in the cache */
static void multiply(fenp_lp_system *e)
{
    const int64_t side = e->rank + 1;
    for (int64_t at = 0; at < e->m; at += BLOCK) {
        const int64_t rows = e->m - at < BLOCK ? e->m - at : BLOCK;
        for (int64_t i = 0; i < rows; i++) e->work[i] = 1.0 / sqrt(e->d[at + i]);
        for (int64_t k = 0; k < side; k++)
            for (int64_t i = 0; i < rows; i++)
                e->block[i + k * rows] =
                    e->work[i] * (k < e->rank ? e->matrix[at + i + k * e->n] : 1.0);
        cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)side, (int)rows, 1.0, e->block,
                    (int)rows, at > 0 ? 1.0 : 0.0, e->gram, (int)side);
    }
}

static fen_status factor_root(fenp_lp_system *e, const fenp_lp *s, const double *d,
                              const fenp_task *task, fen_error *err)
{
    const int64_t side = e->rank + 1, count = e->bias ? side : e->rank;
    fen_status status = FEN_OK;
    int64_t rank = count > 0 ? -1 : 0;
    double more = 0.0;
    s->form.route->root(&s->form, s->a, e->matrix);
    gather_root(e, s);
    memcpy(e->d, d, (size_t)e->m * sizeof(double));
    for (int attempt = 0; status == FEN_OK && rank < count && attempt < MOST_RAISES; attempt++) {
        multiply(e);
        for (int64_t k = 0; k < count; k++) {
            double *pivot = e->gram + k * (side + 1);
            *pivot = (*pivot + (k < e->rank ? 1.0 : 0.0)) * (1.0 + more);
        }
        status = fenp_cholesky(count, e->gram, side, &rank, task, err);
        more = fmax(100.0 * more, 1e-15);
    }
    return status;
}

/* What (da, y, db) lack of the equations of the rows (work) and of the others (short1). */
static void lacking(fenp_lp_system *e, const double *right, const double *da, const double *y,
                    double db)
{
    const int64_t r = e->rank;
    long double sum = 0.0L;
    for (int64_t i = 0; i < e->m; i++) {
        e->work[i] = right[i] - e->d[i] * da[i] - (e->bias ? db : 0.0);
        sum += da[i];
    }
    if (r > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)e->m, (int)r, -1.0, e->matrix, (int)e->n, y,
                    1, 1.0, e->work, 1);
    memcpy(e->short1, y, (size_t)r * sizeof(double));
    if (r > 0)
        cblas_dgemv(CblasColMajor, CblasTrans, (int)e->m, (int)r, -1.0, e->matrix, (int)e->n, da, 1,
                    1.0, e->short1, 1); /* y - R'da */
    e->short1[r] = -(double)sum;
}

/* One round: corrections for what work and short1 say, added to (da, y, db). */
static fen_status correct(fenp_lp_system *e, double *da, double *y, double *db, fen_error *err)
{
    const int64_t r = e->rank, count = e->bias ? r + 1 : r;
    long double sum = 0.0L;
    for (int64_t i = 0; i < e->m; i++) e->work[i] /= e->d[i], sum += e->work[i];
    for (int64_t k = 0; k < r; k++) e->short1[k] = -e->short1[k];
    if (r > 0)
        cblas_dgemv(CblasColMajor, CblasTrans, (int)e->m, (int)r, 1.0, e->matrix, (int)e->n,
                    e->work, 1, 1.0, e->short1, 1);
    e->short1[r] = (double)(sum - e->short1[r]);
    const fen_status status =
        count > 0 ? fenp_cholesky_solve(count, e->gram, r + 1, e->short1, 1, err) : FEN_OK;
    if (status != FEN_OK) return status;
    const double more = e->bias ? e->short1[r] : 0.0;
    memset(e->ones, 0, (size_t)e->m * sizeof(double));
    if (r > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)e->m, (int)r, 1.0, e->matrix, (int)e->n,
                    e->short1, 1, 0.0, e->ones, 1);
    for (int64_t i = 0; i < e->m; i++) da[i] += e->work[i] - (e->ones[i] + more) / e->d[i];
    for (int64_t k = 0; k < r; k++) y[k] += e->short1[k];
    *db += more;
    return FEN_OK;
}

static fen_status solve_root(fenp_lp_system *e, const double *right, double *da, double *db,
                             fen_error *err)
{
    fen_status status = FEN_OK;
    memset(da, 0, (size_t)e->m * sizeof(double));
    memset(e->short2, 0, (size_t)(e->rank + 1) * sizeof(double));
    *db = 0.0;
    for (int round = 0; status == FEN_OK && round <= ROUNDS; round++) {
        lacking(e, right, da, e->short2, *db);
        status = correct(e, da, e->short2, db, err);
    }
    return status;
}

/* ---- either ------------------------------------------------------------------------------ */

fen_status fenp_lp_system_factor(fenp_lp_system *e, const fenp_lp *s, const double *d,
                                 const fenp_task *task, fen_error *err)
{
    e->m = s->m;
    return e->rank < 0 ? factor_whole(e, s, d, task, err) : factor_root(e, s, d, task, err);
}

fen_status fenp_lp_system_solve(fenp_lp_system *e, const double *right, double *da, double *db,
                                fen_error *err)
{
    return e->rank < 0 ? solve_whole(e, right, da, db, err) : solve_root(e, right, da, db, err);
}
