/* design.c -- products of a matrix by columns with vectors
 *
 *     (X'u)_j = sum_i x_ij u_i            f_i = sum_j x_ij beta_j
 *
 * Method: products run over columns, four dense ones at a time, so that a piece of u that was
 *   loaded serves four of them; eight partial sums per column, in an order that neither the
 *   neighbours nor the processor nor the number of threads change. Scores of dense columns
 *   run over tiles of rows that stay in the cache, those of sparse ones over the columns.
 * Special cases: no rows or no columns give zeros; columns with beta = 0 are not read.
 * Accuracy: a dense product has n/8 + 3 roundings, a sparse one as many as its column has
 *   entries by four, + 2.
 * Cost: the time to read the columns from memory; f of sparse columns takes one thread per copy.
 */
#include "data/design.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "simd/simd.h"

enum { AT_ONCE = FENP_UNWRITTEN_ROOM };
enum { TILE = 512 };       /* rows of f, by the thread that has them                  */
enum { ENOUGH = 1 << 18 }; /* multiplications that are worth a second thread          */

/* ---- the columns of a sample ------------------------------------------------------------ */

enum { SIDE = 32 };

/* By squares: a cache line that was read or written is finished before it is gone. */
static void transpose(int64_t n, int64_t p, const double *from, double *to)
{
#pragma omp parallel for schedule(static) if (n * p > ENOUGH)
    for (int64_t j0 = 0; j0 < p; j0 += SIDE) {
        const int64_t j1 = j0 + SIDE < p ? j0 + SIDE : p;
        for (int64_t i0 = 0; i0 < n; i0 += SIDE) {
            const int64_t i1 = i0 + SIDE < n ? i0 + SIDE : n;
            for (int64_t j = j0; j < j1; j++)
                for (int64_t i = i0; i < i1; i++) to[j * n + i] = from[i * p + j];
        }
    }
}

/* The first row that cannot be used, or n; *failed: no memory. */
static int64_t transpose_unwritten(const fenp_design *x, double *to, int *failed)
{
    const int64_t n = x->n, p = x->p;
    int64_t bad = n;
    int lacking = 0;
#pragma omp parallel reduction(min : bad) reduction(| : lacking) if (n * p > ENOUGH)
    {
        double *room = fenp_new(fenp_bytes(SIDE, p, sizeof *room), 1);
        lacking = !room;
#pragma omp for schedule(static)
        for (int64_t i0 = 0; i0 < n; i0 += SIDE) {
            const int64_t i1 = i0 + SIDE < n ? i0 + SIDE : n;
            if (!room) continue;
            const int64_t odd = fenp_unwritten_rows(x->unwritten, i0, i1 - i0, room);
            if (odd >= 0 && odd < bad) bad = odd;
            for (int64_t j = 0; j < p; j++)
                for (int64_t i = i0; i < i1; i++) to[j * n + i] = room[(i - i0) * p + j];
        }
        free(room);
    }
    *failed = lacking;
    return bad;
}

fen_status fenp_design_of(const fenp_sample *sample, fenp_design *out, double **owned,
                          fen_error *err)
{
    *owned = NULL;
    *out = (fenp_design){ .n = sample->n, .p = sample->p, .copies = 1 };
    if (sample->start) {
        out->start = sample->start, out->row = sample->row, out->value = sample->value;
        return FEN_OK;
    }
    const fenp_design rows = fenp_design_by_rows(sample);
    return fenp_design_columns(&rows, out, owned, err);
}

fenp_design fenp_design_by_rows(const fenp_sample *sample)
{
    return (fenp_design){ .n = sample->n,
                          .p = sample->p,
                          .copies = 1,
                          .by_rows = sample->x,
                          .unwritten = sample->unwritten,
                          .products = sample->products };
}

const double *fenp_design_rows(const fenp_design *x, int64_t from, int64_t count, double *room)
{
    if (x->by_rows) return x->by_rows + from * x->p;
    fenp_unwritten_rows(x->unwritten, from, count, room);
    return room;
}

fen_status fenp_design_columns(const fenp_design *rows, fenp_design *out, double **owned,
                               fen_error *err)
{
    const int64_t bytes = fenp_bytes(rows->n, rows->p, sizeof(double));
    double *columns = bytes < 0 ? NULL : fenp_new_large(bytes, 1);
    if (!columns) return fenp_no_memory(err, bytes, "the features by columns");
    *owned = columns;
    if (rows->unwritten) {
        int failed;
        const int64_t bad = transpose_unwritten(rows, columns, &failed);
        if (failed) return fenp_no_memory(err, fenp_bytes(SIDE, rows->p, 8), "some rows");
        if (bad < rows->n) return fenp_unwritten_say_bad(rows->unwritten, bad, err);
    } else
        transpose(rows->n, rows->p, rows->by_rows, columns);
    *out = (fenp_design){ .n = rows->n, .p = rows->p, .copies = rows->copies, .dense = columns };
    return FEN_OK;
}

/* ---- products: X'u ---------------------------------------------------------------------- */

static double sparse_dot(const fenp_design *x, int64_t j, const double *u)
{
    const int64_t end = x->start[j + 1];
    double sum[4] = { 0.0 };
    int64_t e = x->start[j];
    for (; e + 4 <= end; e += 4)
        for (int k = 0; k < 4; k++) sum[k] += x->value[e + k] * u[x->row[e + k]];
    for (int k = 0; e < end; e++, k++) sum[k] += x->value[e] * u[x->row[e]];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* Coefficients which[0] .. which[count - 1], at most AT_ONCE; those of one copy together. */
static void dense_listed(const fenp_simd *simd, const fenp_design *x, const double *u,
                         const int64_t *which, int count, double *out)
{
    const double *column[AT_ONCE];
    const int64_t copy = which[0] / x->p;
    int together = count == AT_ONCE;
    for (int k = 0; k < count; k++) {
        column[k] = x->dense + which[k] % x->p * x->n;
        together = together && which[k] / x->p == copy;
    }
    if (together)
        simd->dots(AT_ONCE, x->n, column, u + copy * x->n, out);
    else
        for (int k = 0; k < count; k++)
            simd->dots(1, x->n, column + k, u + which[k] / x->p * x->n, out + k);
}

/* Columns j .. j + count - 1 in all copies, while they are in the cache. */
static void dense_run(const fenp_simd *simd, const fenp_design *x, const double *u, int64_t j,
                      int count, double *out)
{
    const double *column[AT_ONCE];
    for (int k = 0; k < count; k++) column[k] = x->dense + (j + k) * x->n;
    for (int64_t t = 0; t < x->copies; t++)
        simd->dots(count, x->n, column, u + t * x->n, out + t * x->p + j);
}

static void dense_products(const fenp_design *x, const double *u, const int64_t *which,
                           int64_t count, double *out)
{
    const fenp_simd *simd = fenp_simd_get();
    const int64_t all = which ? count : x->p;
#pragma omp parallel for schedule(static) if (count * x->n > ENOUGH)
    for (int64_t k = 0; k < all; k += AT_ONCE) {
        const int some = all - k < AT_ONCE ? (int)(all - k) : AT_ONCE;
        if (which)
            dense_listed(simd, x, u, which + k, some, out + k);
        else
            dense_run(simd, x, u, k, some, out);
    }
}

static void sparse_products(const fenp_design *x, const double *u, const int64_t *which,
                            int64_t count, double *out)
{
    const int64_t each = x->start[x->p] / (x->p > 0 ? x->p : 1) + 1;
#pragma omp parallel for schedule(guided, 64) if (count * each > ENOUGH)
    for (int64_t k = 0; k < count; k++) {
        const int64_t coefficient = which ? which[k] : k;
        const int64_t copy = coefficient / x->p;
        out[k] = sparse_dot(x, coefficient - copy * x->p, u + copy * x->n);
    }
}

void fenp_design_products(const fenp_design *x, const double *u, const int64_t *which,
                          int64_t count, double *out)
{
    if (count <= 0) return;
    if (x->dense)
        dense_products(x, u, which, count, out);
    else
        sparse_products(x, u, which, count, out);
}

/* ---- scores: X beta ---------------------------------------------------------------------- */

static void dense_scores(const fenp_design *x, const double *beta, double *f)
{
    const fenp_simd *simd = fenp_simd_get();
    const int64_t tiles = (x->n + TILE - 1) / TILE;
#pragma omp parallel for collapse(2) schedule(static) if (x->n * x->p * x->copies > ENOUGH)
    for (int64_t t = 0; t < x->copies; t++)
        for (int64_t tile = 0; tile < tiles; tile++) {
            const int64_t i0 = tile * TILE, i1 = i0 + TILE < x->n ? i0 + TILE : x->n;
            double *to = f + t * x->n + i0;
            memset(to, 0, (size_t)(i1 - i0) * sizeof *to);
            simd->add_columns(i1 - i0, x->p, x->dense + i0, x->n, beta + t * x->p, to);
        }
}

static void sparse_scores(const fenp_design *x, const double *beta, double *f)
{
#pragma omp parallel for schedule(static) if (x->copies > 1)
    for (int64_t t = 0; t < x->copies; t++) {
        double *ft = f + t * x->n;
        memset(ft, 0, (size_t)x->n * sizeof *ft);
        for (int64_t j = 0; j < x->p; j++) {
            const double b = beta[t * x->p + j];
            if (b == 0.0) continue;
            for (int64_t e = x->start[j]; e < x->start[j + 1]; e++)
                ft[x->row[e]] += b * x->value[e];
        }
    }
}

/* Rows are to beta what columns are to u. Unwritten ones have room for one caller, who has one
 * thread: few ask for their scores. */
static void row_scores(const fenp_design *x, const double *beta, double *f)
{
    const fenp_simd *simd = fenp_simd_get();
    double *room = x->unwritten ? fenp_unwritten_room(x->unwritten) : NULL;
#pragma omp parallel for schedule(static) if (!room && x->n * x->p > ENOUGH)
    for (int64_t i = 0; i < x->n; i += AT_ONCE) {
        const int some = x->n - i < AT_ONCE ? (int)(x->n - i) : AT_ONCE;
        const double *first = fenp_design_rows(x, i, some, room), *row[AT_ONCE];
        for (int k = 0; k < some; k++) row[k] = first + k * x->p;
        simd->dots(some, x->p, row, beta, f + i);
    }
}

void fenp_design_scores(const fenp_design *x, const double *beta, double *f)
{
    static pthread_mutex_t room = PTHREAD_MUTEX_INITIALIZER; /* of unwritten rows */
    if (x->unwritten) {
        pthread_mutex_lock(&room);
        row_scores(x, beta, f);
        pthread_mutex_unlock(&room);
    } else if (fenp_design_is_by_rows(x))
        row_scores(x, beta, f);
    else if (x->dense)
        dense_scores(x, beta, f);
    else
        sparse_scores(x, beta, f);
}
