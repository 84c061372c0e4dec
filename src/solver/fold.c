/* fold.c -- see fold.h
 *
 * Two-sided reflection: H A H = A - h q' - q h', q = tau (p - (tau/2)(h'p) h), p = A h.
 * The strict upper triangle keeps K untouched: iterative refinement and further
 * values of lambda need it. */
#include "solver/fold.h"

#include <math.h>
#include <stddef.h>
#include <cblas.h>

int64_t fenp_fold_doubles(int64_t n, int bias) { return bias ? 2 * n : n; }

fenp_fold fenp_fold_make(const double *w, int64_t n, int bias, double *store)
{
    fenp_fold fold = { n, bias ? n - 1 : n, store, NULL, 0.0 };
    for (int64_t i = 0; i < n; i++) fold.s[i] = sqrt((double)n * w[i]);
    if (bias) {
        fold.h = store + n;
        double square = 0.0;
        for (int64_t i = 0; i < n; i++) square += fold.s[i] * fold.s[i];
        const double length = sqrt(square);
        for (int64_t i = 0; i < n; i++) fold.h[i] = fold.s[i] / length;
        fold.tau = 1.0 / (1.0 + fold.h[n - 1]); /* 2 / h'h for h = s/|s| + e_n */
        fold.h[n - 1] += 1.0;
    }
    return fold;
}

void fenp_fold_down(const fenp_fold *fold, double *full, double *down)
{
    for (int64_t i = 0; i < fold->n; i++) full[i] *= fold->s[i];
    double along = 0.0;
    if (fold->h) {
        for (int64_t i = 0; i < fold->n; i++) along += fold->h[i] * full[i];
        along *= fold->tau;
    }
    for (int64_t i = 0; i < fold->m; i++) down[i] = full[i] - (fold->h ? along * fold->h[i] : 0.0);
}

void fenp_fold_up(const fenp_fold *fold, const double *down, double *full)
{
    double along = 0.0;
    if (fold->h) {
        for (int64_t i = 0; i < fold->m; i++) along += fold->h[i] * down[i];
        along *= fold->tau;
    }
    for (int64_t i = 0; i < fold->n; i++) {
        const double value = i < fold->m ? down[i] : 0.0;
        full[i] = fold->s[i] * (fold->h ? value - along * fold->h[i] : value);
    }
}

void fenp_upper_times(int64_t n, const double *a, const double *diag, const double *x, int64_t k,
                      double *product)
{
    const int order = (int)n;
    if (k <= 4) /* each at memory bandwidth; dsymm gains only from more columns on */
        for (int64_t t = 0; t < k; t++)
            cblas_dsymv(CblasColMajor, CblasUpper, order, 1.0, a, order, x + t * n, 1, 0.0,
                        product + t * n, 1);
    else
        cblas_dsymm(CblasColMajor, CblasLeft, CblasUpper, order, (int)k, 1.0, a, order, x, order,
                    0.0, product, order);
    for (int64_t t = 0; t < k; t++) /* the stored diagonal may be a factor's */
        for (int64_t i = 0; i < n; i++)
            product[i + t * n] += (diag[i] - a[i + i * n]) * x[i + t * n];
}

enum { TILE = 64 };

/* Who is in the fold: its rows are rows of K. */
typedef struct part {
    double *a;
    int64_t ld;
    const int64_t *rows;
} part;

static inline int64_t row_of(const part *k, int64_t i) { return k->rows ? k->rows[i] : i; }

/* One tile of the lower triangle, rows from i0, columns from j0 <= i0. */
static void fold_tile(const fenp_fold *fold, const part *k, const double *q, int64_t i0, int64_t j0)
{
    const int64_t m = fold->m;
    const int64_t i1 = i0 + TILE < m ? i0 + TILE : m, j1 = j0 + TILE < m ? j0 + TILE : m;
    const double *s = fold->s, *h = fold->h;
    for (int64_t j = j0; j < j1; j++) {
        const double *above = k->a + row_of(k, j);
        for (int64_t i = i0 > j ? i0 : j + 1; i < i1; i++) {
            double value = s[i] * s[j] * above[row_of(k, i) * k->ld];
            if (h) value -= h[i] * q[j] + q[i] * h[j];
            k->a[i + j * k->ld] = value;
        }
    }
}

/* q = tau (p - (tau/2)(h'p) h), p = SKS h; full: 2 ld doubles of work, q at its beginning. */
static void reflected(const fenp_fold *fold, const part *k, const double *diag, double *full)
{
    const int64_t n = fold->n;
    const double *s = fold->s, *h = fold->h;
    double *q = full, *sh = full + k->ld, hp = 0.0;
    for (int64_t i = 0; i < k->ld; i++) sh[i] = 0.0;
    for (int64_t i = 0; i < n; i++) sh[row_of(k, i)] = s[i] * h[i];
    fenp_upper_times(k->ld, k->a, diag, sh, 1, q);
    for (int64_t i = 0; i < n; i++) hp += h[i] * (q[i] = s[i] * q[row_of(k, i)]);
    for (int64_t i = 0; i < n; i++) q[i] = fold->tau * (q[i] - 0.5 * fold->tau * hp * h[i]);
}

void fenp_fold_part(const fenp_fold *fold, double *a, int64_t ld, const int64_t *rows,
                    const double *diag, double shift, double *work)
{
    const part k = { a, ld, rows };
    const int64_t m = fold->m;
    const double *s = fold->s, *h = fold->h, *q = work;
    for (int64_t i = 0; i < ld; i++) a[i + i * ld] = diag[i]; /* a factor may have stood there */
    if (h) reflected(fold, &k, diag, work);
    const int64_t tiles = (m + TILE - 1) / TILE;
#pragma omp parallel for schedule(dynamic)
    for (int64_t row = 0; row < tiles; row++)
        for (int64_t col = 0; col <= row; col++) fold_tile(fold, &k, q, row * TILE, col * TILE);
    for (int64_t i = 0; i < m; i++)
        a[i + i * ld] = s[i] * s[i] * diag[row_of(&k, i)] - (h ? 2.0 * h[i] * q[i] : 0.0) + shift;
}

void fenp_fold_matrix(const fenp_fold *fold, double *a, const double *diag, double shift,
                      double *work)
{
    fenp_fold_part(fold, a, fold->n, NULL, diag, shift, work);
}
