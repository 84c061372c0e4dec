/* pivots.c -- points in the span of the pivots
 *
 *     l = L^-1 k(S, u),   e = k(u,u) - |l|^2,   L L' = G_SS
 *
 * Method: a block of points at a time, one GEMM and one triangular solve with many right sides.
 * Special cases: no pivots: e = k(u,u).
 * Accuracy: e to about (r + 4) 2^-53 k(u,u), whatever the condition of G_SS: L L' = G_SS is
 *   as good as that, and the solve is backward stable. */
#include <math.h>
#include <stdlib.h>
#include "base/linalg.h"
#include "tensor/pivots_parts.h"

void fenp_span_points(fen_view x, int64_t h, const int64_t *member, int64_t count, double *out)
{
    for (int64_t k = 0; k < count; k++) fenp_point_of(x, h, member + k * h, out + k * x.cols);
}

void fenp_span_project(const fenp_span *span, const double *u, int64_t points, double *l, double *e)
{
    const int64_t p = span->x.cols, r = span->count;
    if (r > 0 && points > 0) {
        fenp_point_kernel(span->kernel, p, u, points, span->point, r, l, r);
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)r,
                    (int)points, 1.0, span->factor, (int)r, l, (int)r);
    }
    for (int64_t i = 0; i < points; i++) {
        double square = 0.0, length = 0.0;
        for (int64_t j = 0; j < p; j++) square += u[i * p + j] * u[i * p + j];
#pragma omp simd reduction(+ : length)
        for (int64_t s = 0; s < r; s++) length += l[i * r + s] * l[i * r + s];
        e[i] = fmax(0.0, span->kernel->table->value(square, &span->kernel->par) - length);
    }
}

void fenp_span_block(const fenp_span *span, int64_t first, int64_t points, double *u, double *l,
                     double *e)
{
    const int64_t n = span->x.rows, p = span->x.cols;
    int64_t *member = (int64_t *)(void *)(u + points * p);
    fenp_multiset_at(n, span->h, first, member);
    for (int64_t i = 0; i < points; i++) {
        fenp_point_of(span->x, span->h, member, u + i * p);
        fenp_multiset_next(n, span->h, member);
    }
    fenp_span_project(span, u, points, l, e);
}

fen_status fenp_pivots_find(const fenp_kernel *kernel, fen_view x, double tolerance, int64_t most,
                            fenp_pivots *out, const fenp_task *task, fen_error *err)
{
    const fenp_pivots_wish wish = {
        .tolerance = tolerance, .fine = tolerance, .most = most, .check = 1
    };
    return fenp_pivots_search(kernel, x, &wish, out, task, err);
}

void fenp_pivots_free(fenp_pivots *pivots)
{
    free(pivots->row);
    free(pivots->factor);
    *pivots = (fenp_pivots){ 0 };
}
