/* syrk.c -- the Gram matrix of a tall matrix
 *
 *     C <- alpha X'X,   X of n rows and p columns, n much larger than p
 *
 * Method: rows in parts; each thread multiplies whole parts (dsyrk on one thread), and the products
 *   are added up in the order of the rows. OpenBLAS shares the triangle of C out among its threads,
 *   which for some hundred columns wait for each other: 2 cores were 1.45 times as fast as one,
 *   here 1.95 times.
 * Special cases: few rows for their columns, little work, no memory, or a thread of several: one
 *   part, which dsyrk may share out by itself. Rows that are not in memory are made some at a time,
 *   each once.
 * Accuracy: that of dsyrk. Of parts the number of threads changes no bit; of one part it may.
 * Cost: n p^2 flops; memory for a quarter of X at most. */
#include "base/syrk.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/threads.h"

enum { PER_COLUMN = 4, PARTS_MIN = 4, PARTS_MAX = 64 }; /* rows of a part: 4 p and more */
enum { SOME = 256 };                                    /* rows at a time, where they are made */
enum { MANY_COLUMNS = 1024 };                           /* that dsyrk itself is good for  */
enum { ENOUGH = 1 << 22 };                              /* products that are worth threads */

/* A power of two, which 2, 4 or 8 threads share evenly. */
static int64_t parts_of(int64_t n, int64_t p)
{
    if (p < 1 || p > MANY_COLUMNS || n * p < ENOUGH / p || omp_in_parallel()) return 1;
    const int64_t most = n / (PER_COLUMN * p);
    int64_t parts = PARTS_MIN;
    while (parts < PARTS_MAX && 2 * parts <= most) parts *= 2;
    return most < PARTS_MIN ? 1 : parts;
}

static void add_up(const fenp_syrk *s, const double *part, int64_t parts)
{
    const int64_t p = s->p;
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < p; j++) {
        for (int64_t i = 0; i <= j; i++) {
            double sum = 0.0;
            for (int64_t k = 0; k < parts; k++) sum += part[(k * p + j) * p + i];
            s->c[j * s->ldc + i] = sum;
        }
    }
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* C <- beta C + alpha X'X of some rows of X at x. */
static void multiply(const fenp_syrk *s, const double *x, int64_t rows, double beta, double *c,
                     int64_t ldc)
{
    cblas_dsyrk(CblasColMajor, CblasUpper, s->by_rows ? CblasNoTrans : CblasTrans, (int)s->p,
                (int)rows, s->alpha, x, (int)s->ldx, beta, c, (int)ldc);
}

static void clear(const fenp_syrk *s, double *c, int64_t ldc)
{
    for (int64_t j = 0; j < s->p; j++) memset(c + j * ldc, 0, (size_t)(j + 1) * sizeof *c);
}

/* Rows from .. to - 1; nonzero: no memory, or no rows. */
static int multiply_rows(const fenp_syrk *s, int64_t from, int64_t to, double *c, int64_t ldc)
{
    if (from == to) clear(s, c, ldc);
    if (!s->rows) {
        multiply(s, s->x + from * (s->by_rows ? s->ldx : 1), to - from, 0.0, c, ldc);
        return 0;
    }
    double *room = fenp_new(fenp_bytes(SOME, s->p, sizeof *room), 1);
    int failed = !room;
    for (int64_t i = from; i < to && !failed; i += SOME) {
        const int64_t count = to - i < SOME ? to - i : SOME;
        const double *x = s->rows(s->of, i, count, room);
        failed = !x;
        if (x) multiply(s, x, count, i > from ? 1.0 : 0.0, c, ldc);
    }
    free(room);
    return failed;
}

/* ---- parts --------------------------------------------------------------------------------- */

int fenp_syrk_parts(const fenp_syrk *s, int64_t parts, const int64_t *start)
{
    const int64_t size = s->ldc * s->p;
    const int threads = s->n * s->p < ENOUGH / s->p ? 0 : fenp_threads_narrow(0);
    int failed = 0;
    if (threads == 0) /* one: no region, within which OpenBLAS would ask for more */
        for (int64_t k = 0; k < parts; k++)
            failed |= multiply_rows(s, start[k], start[k + 1], s->c + k * size, s->ldc);
    else {
#pragma omp parallel for schedule(static) num_threads(threads) reduction(| : failed)
        for (int64_t k = 0; k < parts; k++)
            failed |= multiply_rows(s, start[k], start[k + 1], s->c + k * size, s->ldc);
    }
    fenp_threads_widen(threads);
    return failed;
}

/* Parts have a C of room each; these are added up. */
static int run_parts(const fenp_syrk *s, int64_t parts, double *room)
{
    int64_t start[PARTS_MAX + 1];
    fenp_syrk each = *s;
    each.ldc = s->p, each.c = room;
    for (int64_t k = 0; k <= parts; k++) start[k] = k * s->n / parts;
    const int failed = fenp_syrk_parts(&each, parts, start);
    add_up(s, room, parts);
    return failed;
}

int fenp_syrk_run(const fenp_syrk *s)
{
    const int64_t parts = parts_of(s->n, s->p);
    double *room = parts > 1 ? fenp_new(fenp_bytes(parts * s->p, s->p, sizeof *room), 1) : NULL;
    const int failed = room ? run_parts(s, parts, room) : multiply_rows(s, 0, s->n, s->c, s->ldc);
    free(room);
    return failed;
}
