/* columns.c -- sums over columns of a matrix
 *
 *     y <- y + sum_j v_j a_j            out_k = a_k'u
 *
 * Method: y is read and written once for eight columns, u once for four. By hand because BLAS has
 *   it for one column (daxpy, for which y comes and goes with every column: it takes twice as long)
 *   or for columns next to each other. Products have eight partial sums, whatever the level: they
 *   are not fused, would wait for memory all the same, and every level gives the same bits.
 * Special cases: columns whose v is 0 are not read; fewer than eight are left: the first of them
 *   again, times 0, as the matrix is finite.
 * Accuracy: that of a sum of products, by pairs of columns; a product has n/8 + 3 roundings, a
 *   bounded one as simd.h says. Cost: 2 n flops for a column. */
#include "simd/level.h"

#include <string.h>

enum { LANES = 8, AT_ONCE = 4, SIDE = 8 };

/* never an argument: how such a vector would be passed depends on the level */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

/* y <- y + sum of SIDE columns */
INLINE void add_some(int64_t n, const double *const *column, const double *v, double *restrict y)
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

KERNEL(add_columns);
void AT_LEVEL(fenp_add_columns)(int64_t n, int64_t m, const double *a, int64_t ld, const double *v,
                                double *y)
{
    const double *column[SIDE];
    double factor[SIDE];
    int count = 0;
    for (int64_t j = 0; j < m; j++) {
        if (v[j] == 0.0) continue;
        column[count] = a + j * ld, factor[count++] = v[j];
        if (count < SIDE) continue;
        add_some(n, column, factor, y);
        count = 0;
    }
    if (count == 0) return;
    for (; count < SIDE; count++) column[count] = column[0], factor[count] = 0.0;
    add_some(n, column, factor, y);
}

/* ---- products ------------------------------------------------------------------------------ */

INLINE double sum_of_lanes(const double *s)
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* count is AT_ONCE or 1, a constant after inlining. */
INLINE void dots(int count, int64_t n, const double *const column[], const double *u, double *out)
{
    const int64_t whole = n - n % LANES;
    lanes sum[AT_ONCE] = { { 0.0 } };
    for (int64_t i = 0; i < whole; i += LANES) {
        const lanes v = *(const lanes *)(u + i);
        for (int k = 0; k < count; k++) sum[k] += v * *(const lanes *)(column[k] + i);
    }
    for (int k = 0; k < count; k++) {
        for (int64_t i = whole; i < n; i++) sum[k][i - whole] += u[i] * column[k][i];
        out[k] = sum_of_lanes((const double *)&sum[k]);
    }
}

KERNEL(dots);
void AT_LEVEL(fenp_dots)(int count, int64_t n, const double *const *column, const double *u,
                         double *out)
{
    int k = 0;
    for (; k + AT_ONCE <= count; k += AT_ONCE) dots(AT_ONCE, n, column + k, u, out + k);
    for (; k < count; k++) dots(1, n, column + k, u, out + k);
}

/* ---- products with a bound ----------------------------------------------------------------- */

/* One stretch, at most FENP_DOT_STRETCH numbers. */
INLINE double stretch(const double *a, const double *b, int64_t n)
{
    lanes sum = { 0.0 }, x, y;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        sum += x * y;
    }
    if (i < n) {
        memset(&x, 0, sizeof x), memset(&y, 0, sizeof y);
        memcpy(&x, a + i, (size_t)(n - i) * sizeof *a);
        memcpy(&y, b + i, (size_t)(n - i) * sizeof *b);
        sum += x * y;
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

KERNEL(dot_bounded);
double AT_LEVEL(fenp_dot_bounded)(const double *a, const double *b, int64_t n)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < n; i += FENP_DOT_STRETCH)
        sum += stretch(a + i, b + i, n - i < FENP_DOT_STRETCH ? n - i : FENP_DOT_STRETCH);
    return (double)sum;
}
