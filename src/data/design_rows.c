/* design_rows.c -- scores of some rows, for several vectors of coefficients at once
 *
 *     f_vi = sum_j x_ij beta_vj,   i among the rows listed
 *
 * Method: of a dense matrix the columns that any of the vectors uses are gathered, some rows at a
 *   time, in a cache, and multiplied by dgemm: every entry is read once for all vectors. A sparse
 *   one gives the scores of all rows, of which those listed are kept.
 * Special cases: copies have vectors of their own. No column is used: zeros.
 * Cost: 2 rows vectors |columns used| flops; memory for TILE rows and the vectors. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/linalg.h"
#include "base/threads.h"
#include "data/design.h"

enum { TILE = 128 };

typedef struct gathered {
    const fenp_design *x;
    int64_t m, *used; /* columns */
    double *b;        /* m x vectors */
    double *rows;     /* m x TILE    */
    double *one;      /* p: a row    */
} gathered;

/* The columns that the vectors use, and their coefficients. */
static void gather_beta(gathered *g, const double *beta, int64_t vectors)
{
    const int64_t p = g->x->p, stride = g->x->copies * p;
    g->m = 0;
    for (int64_t j = 0; j < p; j++) {
        int64_t v = 0;
        while (v < vectors && beta[v * stride + j] == 0.0) v++;
        if (v < vectors) g->used[g->m++] = j;
    }
    for (int64_t v = 0; v < vectors; v++)
        for (int64_t k = 0; k < g->m; k++) g->b[v * g->m + k] = beta[v * stride + g->used[k]];
}

static void gather_rows(const gathered *g, const int64_t *which, int64_t count)
{
    const fenp_design *x = g->x;
    for (int64_t r = 0; r < count; r++) {
        double *to = g->rows + r * g->m;
        if (x->dense) {
            for (int64_t k = 0; k < g->m; k++) to[k] = x->dense[g->used[k] * x->n + which[r]];
            continue;
        }
        const double *from = fenp_design_rows(x, which[r], 1, g->one);
        for (int64_t k = 0; k < g->m; k++) to[k] = from[g->used[k]];
    }
}

/* One copy; f: count numbers of a vector every stride. */
static void multiply(const gathered *g, const int64_t *which, int64_t count, int64_t vectors,
                     double *f, int64_t stride)
{
    const int m = (int)g->m;
    for (int64_t v = 0; v < vectors && m == 0; v++)
        memset(f + v * stride, 0, (size_t)count * sizeof *f);
    for (int64_t i = 0; i < count && m > 0; i += TILE) {
        const int64_t some = count - i < TILE ? count - i : TILE;
        gather_rows(g, which + i, some);
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)some, (int)vectors, m, 1.0,
                    g->rows, m, g->b, m, 0.0, f + i, (int)stride);
    }
}

static int dense_scores(const fenp_design *x, const int64_t *which, int64_t count,
                        const double *beta, int64_t vectors, double *f)
{
    const int64_t bytes = fenp_bytes(TILE + vectors + 1, x->p, sizeof(double));
    double *room = bytes < 0 ? NULL : fenp_new(bytes, 1);
    gathered g = { .x = x, .used = fenp_new(x->p, sizeof *g.used), .b = room };
    const int failed = !room || !g.used;
    if (room) g.rows = g.b + vectors * x->p, g.one = g.rows + TILE * x->p;
    const int narrowed = fenp_threads_narrow(0); /* tiles are too small to be shared */
    for (int64_t t = 0; t < x->copies && !failed; t++) {
        gather_beta(&g, beta + t * x->p, vectors);
        multiply(&g, which, count, vectors, f + t * count, x->copies * count);
    }
    fenp_threads_widen(narrowed);
    free(room), free(g.used);
    return failed;
}

static int sparse_scores(const fenp_design *x, const int64_t *which, int64_t count,
                         const double *beta, int64_t vectors, double *f)
{
    double *all = fenp_new(fenp_bytes(x->copies, x->n, sizeof *all), 1);
    for (int64_t v = 0; v < vectors && all; v++) {
        fenp_design_scores(x, beta + v * x->copies * x->p, all);
        for (int64_t t = 0; t < x->copies; t++)
            for (int64_t r = 0; r < count; r++) *f++ = all[t * x->n + which[r]];
    }
    free(all);
    return !all;
}

int fenp_design_scores_of(const fenp_design *x, const int64_t *which, int64_t count,
                          const double *beta, int64_t vectors, double *f)
{
    return x->start ? sparse_scores(x, which, count, beta, vectors, f)
                    : dense_scores(x, which, count, beta, vectors, f);
}
