/* design_rows.c -- a dense matrix by rows, as it comes from the preparation
 *
 *     sum_j = sum_i x_ij,   square_j = sum_i x_ij^2,   product_j = sum_i x_ij u_i
 *
 * Method: the three sums in one pass, row by row, so that memory is read as it stands and once;
 *   blocks of rows have partial sums of their own, added up in their order: threads and
 *   processors change no bit.
 * Special cases: unwritten rows are prepared some at a time, in a cache: a table of 80 MB that is
 *   not written saves what the system takes to find that memory, which may be longer than all else.
 * Accuracy: BLOCK / 4 + n / BLOCK roundings.
 * Cost: the time to read x; memory for 3 p sums per BLOCK rows. A copy by columns, which takes
 *   longer than that by a factor of 5, is left to whoever needs it. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "data/design.h"

enum { BLOCK = 512, SOME = 64, AT_ONCE = 4, SUMS = 3 }; /* SOME: rows that a cache holds */
enum { ENOUGH = 1 << 18 }; /* multiplications that are worth a second thread */

#define INLINE static inline __attribute__((always_inline))

/* rows of p numbers each to the sums, at[0 .. p-1], their squares, at[p ..], and products */
INLINE void add_rows(int64_t rows, int64_t p, const double *restrict x, const double *restrict u,
                     double *restrict at)
{
    double *restrict sum = at, *restrict square = at + p, *restrict product = at + 2 * p;
    int64_t i = 0;
    for (; i + AT_ONCE <= rows; i += AT_ONCE) {
        const double *a = x + i * p, *b = a + p, *c = b + p, *d = c + p;
        const double ua = u[i], ub = u[i + 1], uc = u[i + 2], ud = u[i + 3];
#pragma omp simd
        for (int64_t j = 0; j < p; j++) {
            sum[j] += (a[j] + b[j]) + (c[j] + d[j]);
            square[j] += (a[j] * a[j] + b[j] * b[j]) + (c[j] * c[j] + d[j] * d[j]);
            product[j] += (a[j] * ua + b[j] * ub) + (c[j] * uc + d[j] * ud);
        }
    }
    for (; i < rows; i++)
        for (int64_t j = 0; j < p; j++) {
            const double v = x[i * p + j];
            sum[j] += v, square[j] += v * v, product[j] += v * u[i];
        }
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void add_avx512(int64_t rows, int64_t p, const double *x,
                                                          const double *u, double *at)
{
    add_rows(rows, p, x, u, at);
}

__attribute__((target("avx2"))) static void add_avx2(int64_t rows, int64_t p, const double *x,
                                                     const double *u, double *at)
{
    add_rows(rows, p, x, u, at);
}
#endif

static void add_block(int64_t rows, int64_t p, const double *x, const double *u, double *at)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        add_avx512(rows, p, x, u, at);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        add_avx2(rows, p, x, u, at);
        return;
    }
#endif
    add_rows(rows, p, x, u, at);
}

/* Rows from .. to, some at a time; the first that cannot be used, or -1. */
static int64_t add_some(const fenp_design *x, int64_t from, int64_t to, const double *u,
                        double *room, double *at)
{
    for (int64_t i = from; i < to; i += SOME) {
        const int64_t count = to - i < SOME ? to - i : SOME;
        const int64_t bad = x->unwritten ? fenp_unwritten_rows(x->unwritten, i, count, room) : -1;
        if (bad >= 0) return bad;
        add_block(count, x->p, x->by_rows ? x->by_rows + i * x->p : room, u + i, at);
    }
    return -1;
}

fen_status fenp_design_sums(const fenp_design *x, const double *u, double *sum, double *square,
                            double *product, fen_error *err)
{
    const int64_t n = x->n, p = x->p, blocks = (n + BLOCK - 1) / BLOCK;
    const int64_t rooms = x->unwritten ? SOME * (int64_t)omp_get_max_threads() : 0;
    const int64_t bytes = fenp_bytes(blocks * SUMS + rooms, p, sizeof(double));
    double *part = bytes < 0 ? NULL : fenp_new_zeroed(bytes, 1);
    if (!part) return fenp_no_memory(err, bytes, "the sums of the columns");
    int64_t bad = n;
#pragma omp parallel for schedule(static) reduction(min : bad) if (n * p > ENOUGH)
    for (int64_t k = 0; k < blocks; k++) {
        double *room = rooms ? part + (blocks * SUMS + SOME * omp_get_thread_num()) * p : NULL;
        const int64_t i = k * BLOCK, end = n - i < BLOCK ? n : i + BLOCK;
        const int64_t odd = add_some(x, i, end, u, room, part + k * SUMS * p);
        if (odd >= 0 && odd < bad) bad = odd;
    }
    if (bad < n) {
        free(part);
        return fenp_unwritten_say_bad(x->unwritten, bad, err);
    }
    double *const out[SUMS] = { sum, square, product };
    for (int kind = 0; kind < SUMS; kind++) {
        memset(out[kind], 0, (size_t)p * sizeof *sum);
        for (int64_t k = 0; k < blocks; k++)
            for (int64_t j = 0; j < p; j++) out[kind][j] += part[(k * SUMS + kind) * p + j];
    }
    free(part);
    return FEN_OK;
}
