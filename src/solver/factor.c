/* factor.c -- see factor.h
 *
 *     K = L L',   appended row: (L^-1 k, sqrt(k_mm - |L^-1 k|^2))
 *
 * Deleted row: the rows below move up, which leaves one entry above the diagonal in every
 * column; rotations of neighbouring columns take them away. Accuracy: both are backward stable. */
#include "solver/factor.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"

enum { PANEL = 32 }; /* columns: with their rows they stay in the cache */

double fenp_factor_row(const double *l, int64_t ld, int64_t m, double *row)
{
    if (m == 0) return 0.0;
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)m, l, (int)ld, row, 1);
    return cblas_ddot((int)m, row, 1, row, 1);
}

/* By panels of L, which are read once for all rows. */
void fenp_factor_rows(double *l, int64_t ld, int64_t m, int64_t k)
{
    double *x = l + m * ld;
    for (int64_t c = 0; c < m; c += PANEL) {
        const int width = (int)(m - c < PANEL ? m - c : PANEL), below = (int)(m - c) - width;
        const double *panel = l + c + c * ld;
        for (int64_t i = 0; i < k; i++)
            cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, width, panel,
                        (int)ld, x + c + i * ld, 1);
        if (below > 0)
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, below, (int)k, width, -1.0,
                        panel + width, (int)ld, x + c, (int)ld, 1.0, x + c + width, (int)ld);
    }
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
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)(m - zeros),
                l + zeros * (ld + 1), (int)ld, x + zeros, 1);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, (int)m, l, (int)ld, x, 1);
}
