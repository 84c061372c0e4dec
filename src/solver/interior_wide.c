/* interior_wide.c -- the equations of a step where columns outnumber the rows
 *
 *     (X'DX + T) v = r,   T = S + d, a diagonal: 0 for the free columns F, which are few
 *
 * Method: with E = D^1/2, the others P, and w = D X v, what the n rows say is
 *     A = I + E X_P T^-1 X_P' E = L L',   Y = L^-1 E X_F,   t = L^-1 E X_P T^-1 r_P
 *     Y'Y v_F = r_F - Y't,   w = E L^-T (t + Y v_F),   v_P = T^-1 (r_P - X_P'w)
 *   A is of order n, not k. An elastic net may well end with ten times as many coefficients as rows.
 * Special cases: rows with D = 0 take no part. Not for groups of several columns, which make T more
 *   than a diagonal, nor for many free columns, with which Y is as large as X, nor without a
 *   curvature d: S alone goes to 0, and the last digits of a gap with it.
 * Accuracy: r_P - X_P'w cancels where X'DX is far above T; the steps are refined by whoever asks.
 * Cost: n^2 k + n^3/3 flops for a factor, 4 n k for an answer; gram, of order k, has room for all. */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "solver/interior_parts.h"

enum { FEW = 64 }; /* free columns */

/* Columns of gram from n on: Y, Y'Y, E and t. */
static double *column_of(const fenp_inside *s, int64_t j) { return s->gram + j * s->side; }
static double *y_of(const fenp_inside *s) { return column_of(s, s->n); }
static double *schur_of(const fenp_inside *s) { return column_of(s, s->n + FEW); }
static double *root_of(const fenp_inside *s) { return column_of(s, s->n + 2 * FEW); }
static double *t_of(const fenp_inside *s) { return column_of(s, s->n + 2 * FEW + 1); }

static double held(const fenp_inside *s, int64_t j) { return s->stiff[j] + s->q->d[j]; }

int fenp_wide_suits(const fenp_inside *s)
{
    int64_t free = 0;
    if (s->side < s->k || s->k < s->n + s->n / 2 + 2 * FEW + 2) return 0;
    for (int64_t g = 0; g < s->q->groups; g++)
        if (fenp_inside_is_cone(s, g)) return 0;
    for (int64_t j = 0; j < s->k; j++) {
        if (held(s, j) > 0.0 && !(s->q->d[j] > 0.0)) return 0;
        free += !(held(s, j) > 0.0);
    }
    return free <= FEW;
}

/* gram <- A, lower triangle, some columns at a time */
static void multiply(fenp_inside *s, const double *root)
{
    const int64_t n = s->n, rows = n < FENP_INSIDE_BLOCK ? n : FENP_INSIDE_BLOCK;
    const int64_t room = rows * s->k / n;
    int64_t count = 0, first = 1;
    for (int64_t j = 0; j < s->k; j++) {
        const double t = held(s, j), by = t > 0.0 ? 1.0 / sqrt(t) : 0.0, *x = s->design + j * n;
        double *z = s->block + count * n;
        for (int64_t i = 0; i < n && t > 0.0; i++) z[i] = by * root[i] * x[i];
        count += t > 0.0;
        if (count < room && j + 1 < s->k) continue;
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)count, 1.0, s->block,
                    (int)n, first ? 0.0 : 1.0, s->gram, (int)s->side);
        first = count = 0;
    }
    for (int64_t i = 0; i < n; i++) s->gram[i + i * s->side] += 1.0;
}

static void solve_lower(const fenp_inside *s, enum CBLAS_TRANSPOSE how, double *v)
{
    cblas_dtrsv(CblasColMajor, CblasLower, how, CblasNonUnit, (int)s->n, s->gram, (int)s->side, v,
                1);
}

/* Y, and the factor of Y'Y; returns how many of its pivots there are */
static fen_status factor_free(fenp_inside *s, int64_t *rank, const fenp_task *task, fen_error *err)
{
    const int64_t n = s->n;
    int64_t f = 0;
    double *y = y_of(s), *schur = schur_of(s);
    const double *root = root_of(s);
    for (int64_t j = 0; j < s->k; j++) {
        if (held(s, j) > 0.0) continue;
        for (int64_t i = 0; i < n; i++) y[i + f * s->side] = root[i] * s->design[i + j * n];
        solve_lower(s, CblasNoTrans, y + f++ * s->side);
    }
    *rank = s->wide_frees = f;
    if (f == 0) return FEN_OK;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)f, (int)n, 1.0, y, (int)s->side, 0.0,
                schur, (int)s->side);
    return fenp_cholesky(f, schur, s->side, rank, task, err);
}

fen_status fenp_wide_factor(fenp_inside *s, const double *weight, const fenp_task *task,
                            fen_error *err)
{
    int64_t rank = 0;
    double *root = root_of(s);
    for (int64_t i = 0; i < s->n; i++) root[i] = sqrt(weight[i]);
    multiply(s, root);
    fen_status status = fenp_cholesky(s->n, s->gram, s->side, &rank, task, err);
    s->factored = status == FEN_OK && rank >= s->n;
    if (!s->factored) return status;
    status = factor_free(s, &rank, task, err);
    s->factored = status == FEN_OK && rank >= s->wide_frees;
    return status;
}

/* v_F, which goes into r; t becomes t + Y v_F */
static fen_status solve_free(const fenp_inside *s, double *r, double *t, fen_error *err)
{
    const int64_t f = s->wide_frees;
    double of[FEW];
    int64_t at = 0;
    for (int64_t j = 0; j < s->k; j++)
        if (!(held(s, j) > 0.0)) of[at++] = r[j];
    if (f == 0) return FEN_OK;
    cblas_dgemv(CblasColMajor, CblasTrans, (int)s->n, (int)f, -1.0, y_of(s), (int)s->side, t, 1,
                1.0, of, 1);
    const fen_status status = fenp_cholesky_solve(f, schur_of(s), s->side, of, 1, err);
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)s->n, (int)f, 1.0, y_of(s), (int)s->side, of, 1,
                1.0, t, 1);
    at = 0;
    for (int64_t j = 0; j < s->k; j++)
        if (!(held(s, j) > 0.0)) r[j] = of[at++];
    return status;
}

fen_status fenp_wide_solve(const fenp_inside *s, double *r, fen_error *err)
{
    double *root = root_of(s), *t = t_of(s), *v = s->block, *back = s->block + s->k;
    for (int64_t j = 0; j < s->k; j++) v[j] = held(s, j) > 0.0 ? r[j] / held(s, j) : 0.0;
    fenp_inside_times(s, v, t);
    for (int64_t i = 0; i < s->n; i++) t[i] *= root[i];
    solve_lower(s, CblasNoTrans, t);
    const fen_status status = solve_free(s, r, t, err);
    solve_lower(s, CblasTrans, t);
    for (int64_t i = 0; i < s->n; i++) t[i] *= root[i];
    fenp_inside_transposed(s, t, back);
    for (int64_t j = 0; j < s->k; j++)
        if (held(s, j) > 0.0) r[j] = (r[j] - back[j]) / held(s, j);
    return status;
}
