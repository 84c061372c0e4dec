/* factor.c -- see factor.h
 *
 *     K = L L',   appended row: (L^-1 k, sqrt(k_mm - |L^-1 k|^2))
 *
 * Triangular systems are solved by simd/triangle.c.
 * Deleted row: the rows below move up, which leaves one entry above the diagonal in every
 * column; rotations of neighbouring columns take them away. Accuracy: all are backward stable. */
#include "solver/factor.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "simd/simd.h"

/* ---- the factor ---------------------------------------------------------------------------- */

double fenp_factor_row(const double *l, int64_t ld, int64_t m, double *row)
{
    fenp_simd_get()->solve_down(l, ld, m, row);
    return cblas_ddot((int)m, row, 1, row, 1);
}

void fenp_factor_append(double *l, int64_t ld, int64_t m, const double *row, double diagonal)
{
    for (int64_t c = 0; c < m; c++) l[m + c * ld] = row[c];
    l[m + m * ld] = diagonal;
}

void fenp_factor_delete(double *l, int64_t ld, int64_t m, int64_t r)
{
    const int64_t left = m - 1;
    for (int64_t c = 0; c <= left; c++) {
        const int64_t to = c > r ? c - 1 : r;
        memmove(l + to + c * ld, l + to + 1 + c * ld, (size_t)(left - to) * sizeof *l);
    }
    for (int64_t c = r; c < left; c++) {
        double *x = l + c * ld, *y = x + ld;
        const double length = hypot(x[c], y[c]), cosine = x[c] / length, sine = y[c] / length;
        for (int64_t i = c; i < left; i++) {
            const double turned = cosine * x[i] + sine * y[i];
            y[i] = cosine * y[i] - sine * x[i];
            x[i] = turned;
        }
    }
}

void fenp_factor_solve(const double *l, int64_t ld, int64_t m, double *x)
{
    int64_t zeros = 0; /* in front stay so on the way down */
    while (zeros < m && x[zeros] == 0.0) zeros++;
    if (zeros == m) return;
    const fenp_simd *simd = fenp_simd_get();
    simd->solve_down(l + zeros * (ld + 1), ld, m - zeros, x + zeros);
    simd->solve_up(l, ld, m, x);
}
