/* triangle.c -- triangular systems of some hundred rows
 *
 * Method: blocks of 8 columns: the triangle on the diagonal, then one pass over the rows below. By
 *   hand because dtrsv goes by single columns within blocks of 64, with a call for each: of some
 *   hundred rows it takes 1.5 (down) and 1.8 times (up) as long. Several right sides stand next to
 *   each other, a vector for every row: 56 Gflop/s on one core (Zen 4) where one after the other
 *   had 22.
 * Accuracy: backward stable. Cost: m^2 flops for each right side. */
#include "simd/level.h"

enum { WIDE = 8 };

/* ---- one right side ------------------------------------------------------------------------ */

/* The triangle on the diagonal, WIDE rows or fewer: x <- L^-1 x, and x <- L^-T x. Divisions would
 * wait for each other; inverses of the diagonal are made at once. */
INLINE void invert(int64_t rows, const double *l, int64_t ld, double *inverse)
{
    for (int64_t c = 0; c < rows; c++) inverse[c] = 1.0 / l[c * (ld + 1)];
}

INLINE void solve_down(int64_t rows, const double *l, int64_t ld, const double *inverse, double *x)
{
    for (int64_t c = 0; c < rows; c++) {
        x[c] *= inverse[c];
        for (int64_t r = c + 1; r < rows; r++) x[r] -= l[c * ld + r] * x[c];
    }
}

INLINE void solve_up(int64_t rows, const double *l, int64_t ld, const double *inverse, double *x)
{
    for (int64_t c = rows - 1; c >= 0; c--) {
        x[c] *= inverse[c];
        for (int64_t r = 0; r < c; r++) x[r] -= l[r * ld + c] * x[c];
    }
}

/* x <- x - L v, L: count rows of WIDE columns. */
INLINE void take_columns(int64_t count, const double *restrict l, int64_t ld,
                         const double *restrict v, double *restrict x)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        const double *at = l + i;
        x[i] -= ((at[0] * v[0] + at[ld] * v[1]) + (at[2 * ld] * v[2] + at[3 * ld] * v[3])) +
                ((at[4 * ld] * v[4] + at[5 * ld] * v[5]) + (at[6 * ld] * v[6] + at[7 * ld] * v[7]));
    }
}

/* v <- v - L'x */
INLINE void take_rows(int64_t count, const double *restrict l, int64_t ld, const double *restrict x,
                      double *restrict v)
{
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0, e = 0.0, f = 0.0, g = 0.0, h = 0.0;
#pragma omp simd reduction(+ : a, b, c, d, e, f, g, h)
    for (int64_t i = 0; i < count; i++) {
        const double *at = l + i;
        a += at[0] * x[i], b += at[ld] * x[i], c += at[2 * ld] * x[i], d += at[3 * ld] * x[i];
        e += at[4 * ld] * x[i], f += at[5 * ld] * x[i], g += at[6 * ld] * x[i];
        h += at[7 * ld] * x[i];
    }
    v[0] -= a, v[1] -= b, v[2] -= c, v[3] -= d, v[4] -= e, v[5] -= f, v[6] -= g, v[7] -= h;
}

/* x <- L^-1 x */
KERNEL(solve_down);
void AT_LEVEL(fenp_solve_down)(const double *l, int64_t ld, int64_t m, double *x)
{
    for (int64_t c = 0; c < m; c += WIDE) {
        const int64_t rows = m - c < WIDE ? m - c : WIDE, below = m - c - rows;
        const double *block = l + c * (ld + 1);
        double inverse[WIDE];
        invert(rows, block, ld, inverse);
        if (rows == WIDE)
            solve_down(WIDE, block, ld, inverse, x + c);
        else
            solve_down(rows, block, ld, inverse, x + c);
        if (below > 0) take_columns(below, block + WIDE, ld, x + c, x + c + WIDE);
    }
}

/* x <- L^-T x */
KERNEL(solve_up);
void AT_LEVEL(fenp_solve_up)(const double *l, int64_t ld, int64_t m, double *x)
{
    for (int64_t c = (m - 1) / WIDE * WIDE; c >= 0; c -= WIDE) {
        const int64_t rows = m - c < WIDE ? m - c : WIDE, below = m - c - rows;
        const double *block = l + c * (ld + 1);
        double inverse[WIDE];
        invert(rows, block, ld, inverse);
        if (below > 0) take_rows(below, block + WIDE, ld, x + c + WIDE, x + c);
        if (rows == WIDE)
            solve_up(WIDE, block, ld, inverse, x + c);
        else
            solve_up(rows, block, ld, inverse, x + c);
    }
}

/* ---- several right sides next to each other ------------------------------------------------ */

typedef double lanes __attribute__((vector_size(8 * FENP_SIDE), aligned(8), may_alias));

/* The triangle on the diagonal: WIDE rows or fewer. */
INLINE void lanes_down(int64_t rows, const double *l, int64_t ld, lanes *x)
{
    double inverse[WIDE];
    invert(rows, l, ld, inverse);
    UNROLL for (int64_t c = 0; c < rows; c++)
    {
        x[c] *= inverse[c];
        UNROLL for (int64_t r = c + 1; r < rows; r++) x[r] -= l[c * ld + r] * x[c];
    }
}

/* x <- L^-1 x of all lanes: WIDE of them stay in registers while the rows below go by. */
KERNEL(solve_lanes);
void AT_LEVEL(fenp_solve_lanes)(const double *l, int64_t ld, int64_t m, double *sides,
                                double *products)
{
    lanes *x = (lanes *)sides, *shared = (lanes *)products;
    int64_t c = 0;
    for (; c + WIDE <= m; c += WIDE) {
        const double *block = l + c * (ld + 1);
        lanes v[WIDE];
        UNROLL for (int64_t i = 0; i < WIDE; i++) v[i] = x[c + i];
        lanes_down(WIDE, block, ld, v);
        UNROLL for (int64_t i = 0; i < WIDE; i++) x[c + i] = v[i];
        for (int64_t r = WIDE; r < m - c; r++) {
            const double *at = block + r;
            x[c + r] -=
                ((at[0] * v[0] + at[ld] * v[1]) + (at[2 * ld] * v[2] + at[3 * ld] * v[3])) +
                ((at[4 * ld] * v[4] + at[5 * ld] * v[5]) + (at[6 * ld] * v[6] + at[7 * ld] * v[7]));
        }
    }
    lanes_down(m - c, l + c * (ld + 1), ld, x + c);
    lanes sum[FENP_SIDE] = { { 0.0 } };
    for (int64_t r = 0; r < m; r++)
        UNROLL for (int64_t i = 0; i < FENP_SIDE; i++) sum[i] += x[r][i] * x[r];
    UNROLL for (int64_t i = 0; i < FENP_SIDE; i++) shared[i] = sum[i];
}
