/* columns.c -- see columns.h
 *
 * Method: eight columns at a time, so that y is read and written once for all of them. By hand
 *   because BLAS has it for one (daxpy, for which y comes and goes with every column: it takes twice
 *   as long) or for columns next to each other.
 * Special cases: fewer than eight are left: the first of them again, times 0; A is finite.
 * Accuracy: that of a sum of products, by pairs of columns. Cost: 2 n flops for a column. */
#include "base/columns.h"

#include "base/wide.h"

enum { AT_ONCE = 8 };

FENP_INLINE void add_any(int64_t n, const double *const *column, const double *v,
                         double *restrict y)
{
    const double *restrict a = column[0], *restrict b = column[1], *restrict c = column[2],
                           *restrict d = column[3], *restrict e = column[4],
                           *restrict f = column[5], *restrict g = column[6],
                           *restrict h = column[7];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] += ((a[i] * v[0] + b[i] * v[1]) + (c[i] * v[2] + d[i] * v[3])) +
                ((e[i] * v[4] + f[i] * v[5]) + (g[i] * v[6] + h[i] * v[7]));
}

FENP_WIDE static void add_wide(int64_t n, const double *const *column, const double *v,
                               double *restrict y)
{
    add_any(n, column, v, y);
}

static void add(int64_t n, const double *const *column, const double *v, double *y)
{
    fenp_is_wide() ? add_wide(n, column, v, y) : add_any(n, column, v, y);
}

void fenp_add_columns(int64_t n, int64_t m, const double *a, int64_t ld, const double *v, double *y)
{
    const double *column[AT_ONCE];
    double factor[AT_ONCE];
    int count = 0;
    for (int64_t j = 0; j < m; j++) {
        if (v[j] == 0.0) continue;
        column[count] = a + j * ld, factor[count++] = v[j];
        if (count < AT_ONCE) continue;
        add(n, column, factor, y);
        count = 0;
    }
    if (count == 0) return;
    for (; count < AT_ONCE; count++) column[count] = column[0], factor[count] = 0.0;
    add(n, column, factor, y);
}
