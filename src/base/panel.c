/* panel.c -- see panel.h
 *
 * Method: the product of two panels is made in blocks of 24 x 8, whose sums stay in 24 vector
 *   registers while the rows go by: for a row 3 vectors of the one panel, and 8 numbers of the
 *   other. 256 rows of 500 columns stay in a second-level cache. On the diagonal only what reaches
 *   into the triangle is multiplied.
 * Why not dsyrk: that one copies rows into panels, too, twice and for every call; here whoever
 *   makes the rows puts them there. 20000 x 500 on one core (Zen 4): 98 ms instead of 109, where
 *   multiplications alone take 88.
 * Special cases: blocks on the diagonal, and those of the last columns, are made beside C, of which
 *   the lower triangle stays as it is. Machines without AVX-512 are told that it does not pay.
 * Accuracy: one fused operation after the other for every sum of 256 products.
 * Cost: rows p^2 flops, and 2 % more on the diagonal. */
#include "base/panel.h"

#include <string.h>

enum { WIDE = FENP_PANEL_WIDE, GROUP = 8, LANES = 8, VECTORS = WIDE / LANES };
enum { ENOUGH = 3 * WIDE }; /* columns: fewer are mostly diagonal */

void fenp_panel_put(int64_t p, const double *x, int64_t ldx, int64_t at, int64_t count,
                    double *panels)
{
    for (int64_t j = 0; j < p; j += WIDE, panels += WIDE * FENP_PANEL_ROWS) {
        const int64_t width = p - j < WIDE ? p - j : WIDE;
        for (int64_t i = 0; i < count; i++) {
            const double *restrict from = x + i * ldx + j;
            double *restrict to = panels + (at + i) * WIDE;
            if (width == WIDE) {
                memcpy(to, from, WIDE * sizeof *to);
                continue;
            }
            memcpy(to, from, (size_t)width * sizeof *to);
            memset(to + width, 0, (size_t)(WIDE - width) * sizeof *to);
        }
    }
}

/* ---- blocks ------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#include <immintrin.h>
#define WITH_VECTORS __attribute__((target("avx512f,fma")))

/* Frames of gcc 12's address sanitizer are not aligned as vectors are. */
int fenp_panel_pays(int64_t p)
{
#ifdef __SANITIZE_ADDRESS__
    (void)p;
    return 0;
#else
    return p >= ENOUGH && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
#endif
}

/* C is aligned as a double. */
typedef double vector __attribute__((vector_size(64), aligned(8), may_alias));

/* C <- C + A'B, or A'B if fresh: 8 vectors columns of the panel at a, 8 columns of that at b. */
WITH_VECTORS static inline __attribute__((always_inline)) void block(int vectors, int64_t rows,
                                                                     const double *a,
                                                                     const double *b, int fresh,
                                                                     double *c, int64_t ldc)
{
    vector sum[GROUP][VECTORS];
    for (int j = 0; j < GROUP; j++)
        for (int v = 0; v < vectors; v++) {
            __builtin_prefetch(c + j * ldc + v * LANES, 1);
            sum[j][v] = _mm512_setzero_pd();
        }
    for (int64_t i = 0; i < rows; i++, a += WIDE, b += WIDE) {
        vector x[VECTORS];
        for (int v = 0; v < vectors; v++) x[v] = _mm512_loadu_pd(a + v * LANES);
        for (int j = 0; j < GROUP; j++)
            for (int v = 0; v < vectors; v++)
                sum[j][v] = _mm512_fmadd_pd(x[v], _mm512_set1_pd(b[j]), sum[j][v]);
    }
    for (int j = 0; j < GROUP; j++)
        for (int v = 0; v < vectors; v++) {
            vector *to = (vector *)(c + j * ldc + v * LANES);
            if (!fresh) sum[j][v] += *to;
            *to = sum[j][v];
        }
}
#else
#define WITH_VECTORS

int fenp_panel_pays(int64_t p)
{
    (void)p;
    return 0;
}

static inline void block(int vectors, int64_t rows, const double *a, const double *b, int fresh,
                         double *c, int64_t ldc)
{
    for (int j = 0; j < GROUP; j++)
        for (int k = 0; k < vectors * LANES; k++) {
            double sum = fresh ? 0.0 : c[j * ldc + k];
            for (int64_t i = 0; i < rows; i++) sum += a[i * WIDE + k] * b[i * WIDE + j];
            c[j * ldc + k] = sum;
        }
}
#endif

WITH_VECTORS static void one(int64_t rows, const double *a, const double *b, int fresh, double *c,
                             int64_t ldc)
{
    block(1, rows, a, b, fresh, c, ldc);
}

WITH_VECTORS static void two(int64_t rows, const double *a, const double *b, int fresh, double *c,
                             int64_t ldc)
{
    block(2, rows, a, b, fresh, c, ldc);
}

WITH_VECTORS static void three(int64_t rows, const double *a, const double *b, int fresh, double *c,
                               int64_t ldc)
{
    block(3, rows, a, b, fresh, c, ldc);
}

/* ---- the triangle ------------------------------------------------------------------------- */

/* Columns i.. and j.., i <= j, where C has not all of them. */
static void multiply_edge(int64_t p, int64_t rows, const double *a, const double *b, int64_t i,
                          int64_t j, int fresh, double *c, int64_t ldc)
{
    double edge[WIDE * WIDE];
    if (i == j) {
        one(rows, a, b, 1, edge, WIDE);
        two(rows, a, b + GROUP, 1, edge + GROUP * WIDE, WIDE);
        three(rows, a, b + 2 * GROUP, 1, edge + 2 * GROUP * WIDE, WIDE);
    } else {
        for (int g = 0; g < WIDE; g += GROUP) three(rows, a, b + g, 1, edge + g * WIDE, WIDE);
    }
    for (int64_t l = 0; l < WIDE && j + l < p; l++)
        for (int64_t k = 0; k < WIDE && i + k <= j + l; k++) {
            double *to = c + (j + l) * ldc + i + k;
            *to = edge[l * WIDE + k] + (fresh ? 0.0 : *to);
        }
}

void fenp_panel_multiply(int64_t p, int64_t rows, const double *panels, int fresh, double *c,
                         int64_t ldc)
{
    for (int64_t i = 0; i < p; i += WIDE)
        for (int64_t j = i; j < p; j += WIDE) {
            const double *a = panels + i * FENP_PANEL_ROWS, *b = panels + j * FENP_PANEL_ROWS;
            if (i == j || j + WIDE > p) {
                multiply_edge(p, rows, a, b, i, j, fresh, c, ldc);
                continue;
            }
            for (int g = 0; g < WIDE; g += GROUP)
                three(rows, a, b + g, fresh, c + (j + g) * ldc + i, ldc);
        }
}
