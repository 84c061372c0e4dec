/* syrk.c -- the Gram matrix of a tall matrix
 *
 *     C <- alpha X'X,   X of n rows and p columns, n much larger than p
 *
 * Method: rows in parts; each thread multiplies whole parts (by panel.h where that pays, else dsyrk
 *   on one thread), and the products are added up in the order of the rows. OpenBLAS shares
 *   the triangle of C out among its threads, which for some hundred columns wait for each other: 2
 *   cores were 1.45 times as fast as one, here 1.95 times.
 * Special cases: few rows for their columns, little work, no memory, or a thread of several:
 *   one part, which dsyrk may share out by itself.
 *   Rows that are not in memory are made some at a time, each once.
 * Accuracy: that of dsyrk, by panels as panel.c says. Of parts the number of threads changes no bit;
 *   of one part it may, as one thread takes panels and several dsyrk.
 * Cost: n p^2 flops; memory for a quarter of X at most, by panels for p^2 / 2 + 300 p numbers a
 *   thread. */
#include "base/syrk.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/panel.h"
#include "base/threads.h"

enum { PER_COLUMN = 4, PARTS_MIN = 4, PARTS_MAX = 64 }; /* rows of a part: 4 p and more */
enum { SOME = 256, FEW = 32 }; /* rows at a time, where they are made; on the way to panels */
enum { MANY_COLUMNS = 1024 };  /* that dsyrk itself is good for  */
enum { ENOUGH = 1 << 22 };     /* products that are worth threads */

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

/* Rows from .. to - 1 by dsyrk; nonzero: no memory, or no rows. */
static int multiply_by_blas(const fenp_syrk *s, int64_t from, int64_t to, double *c, int64_t ldc)
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

/* Rows from .. to - 1, as many as there are in panels, get there; nonzero: no rows. */
static int fill_panels(const fenp_syrk *s, int64_t from, int64_t to, double *room, double *panels)
{
    if (!s->by_rows) fenp_panel_put_columns(s->p, s->x + from, s->ldx, to - from, panels);
    for (int64_t i = from; i < to && s->by_rows; i += FEW) {
        const int64_t count = to - i < FEW ? to - i : FEW;
        const double *x = s->rows ? s->rows(s->of, i, count, room) : s->x + i * s->ldx;
        if (!x) return 1;
        fenp_panel_put(s->p, x, s->ldx, i - from, count, panels);
    }
    return 0;
}

/* Memory of a thread: sums, panels and some rows; a multiple of the alignment. */
enum { ALIGNED = FENP_PANEL_ALIGNMENT / (int)sizeof(double) };
static int64_t desk_of(int64_t p)
{
    const int64_t held = fenp_panel_sum_doubles(p) + fenp_panel_doubles(p) + FEW * p;
    return (held + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* So much within room, which has ALIGNED more. */
static double *aligned(double *room)
{
    return room + (ALIGNED - (int64_t)((uintptr_t)room % FENP_PANEL_ALIGNMENT / sizeof *room));
}

/* The sums at the front of the desk, of rows from .. to - 1, one at least; nonzero: no rows. */
static int sum_panels(const fenp_syrk *s, int64_t from, int64_t to, double *desk)
{
    double *panels = desk + fenp_panel_sum_doubles(s->p);
    int failed = 0;
    for (int64_t i = from; i < to && !failed; i += FENP_PANEL_ROWS) {
        const int64_t end = to - i < FENP_PANEL_ROWS ? to : i + FENP_PANEL_ROWS;
        failed = fill_panels(s, i, end, panels + fenp_panel_doubles(s->p), panels);
        if (!failed) fenp_panel_multiply(s->p, end - i, panels, i == from, desk);
    }
    return failed;
}

static int multiply_by_panels(const fenp_syrk *s, int64_t from, int64_t to, double *c, int64_t ldc)
{
    double *room = fenp_new(desk_of(s->p) + ALIGNED, sizeof *room);
    if (!room) return multiply_by_blas(s, from, to, c, ldc);
    const int failed = from < to && sum_panels(s, from, to, aligned(room));
    if (from == to) clear(s, c, ldc);
    if (from < to && !failed) fenp_panel_take(s->p, aligned(room), s->alpha, c, ldc);
    free(room);
    return failed;
}

/* ---- parts --------------------------------------------------------------------------------- */

/* Of many columns the sums would take what nobody has counted with. */
static int takes_panels(const fenp_syrk *s)
{
    return s->p <= MANY_COLUMNS && fenp_panel_pays(s->p);
}

static int multiply_part(const fenp_syrk *s, int64_t from, int64_t to, double *c, int64_t ldc)
{
    return takes_panels(s) ? multiply_by_panels(s, from, to, c, ldc)
                           : multiply_by_blas(s, from, to, c, ldc);
}

int fenp_syrk_parts(const fenp_syrk *s, int64_t parts, const int64_t *start)
{
    const int64_t size = s->ldc * s->p;
    const int threads = s->n * s->p < ENOUGH / s->p ? 0 : fenp_threads_narrow(0);
    int failed = 0;
    if (threads == 0) /* one: no region, within which OpenBLAS would ask for more */
        for (int64_t k = 0; k < parts; k++)
            failed |= multiply_part(s, start[k], start[k + 1], s->c + k * size, s->ldc);
    else {
#pragma omp parallel for schedule(static) num_threads(threads) reduction(| : failed)
        for (int64_t k = 0; k < parts; k++)
            failed |= multiply_part(s, start[k], start[k + 1], s->c + k * size, s->ldc);
    }
    fenp_threads_widen(threads);
    return failed;
}

/* Parts by dsyrk, a C of room for each, which are added up. */
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

static int desks_for(int64_t parts)
{
    const int threads = omp_get_max_threads();
    return parts < threads ? (int)parts : threads;
}

/* The same by panels: each thread adds its sums to all when those of the parts before are there;
 * parts of as many rows come in that order. room: sums of all, and a desk for every thread. */
static int run_panels(const fenp_syrk *s, int64_t parts, double *room)
{
    const int64_t size = fenp_panel_sum_doubles(s->p);
    double *all = aligned(room);
    const int desks = desks_for(parts);
    int failed = 0;
#pragma omp parallel for ordered schedule(static, 1) num_threads(desks) reduction(| : failed)
    for (int64_t k = 0; k < parts; k++) {
        double *restrict desk = all + size + omp_get_thread_num() * desk_of(s->p);
        failed |= sum_panels(s, k * s->n / parts, (k + 1) * s->n / parts, desk);
#pragma omp ordered
        for (int64_t i = 0; i < size; i++) all[i] = (k > 0 ? all[i] : 0.0) + desk[i];
    }
    if (!failed) fenp_panel_take(s->p, all, s->alpha, s->c, s->ldc);
    return failed;
}

static int64_t room_for(const fenp_syrk *s, int64_t parts)
{
    const int64_t p = s->p, desks = desks_for(parts) * desk_of(p) + ALIGNED;
    return takes_panels(s) ? fenp_bytes(fenp_panel_sum_doubles(p) + desks, 1, sizeof(double))
                           : fenp_bytes(parts * p, p, sizeof(double));
}

int fenp_syrk_run(const fenp_syrk *s)
{
    const int64_t parts = parts_of(s->n, s->p);
    double *room = parts > 1 ? fenp_new(room_for(s, parts), 1) : NULL;
    if (!room)
        return omp_get_max_threads() > 1 && !omp_in_parallel()
                   ? multiply_by_blas(s, 0, s->n, s->c, s->ldc) /* on all threads */
                   : multiply_part(s, 0, s->n, s->c, s->ldc);
    const int failed = takes_panels(s) ? run_panels(s, parts, room) : run_parts(s, parts, room);
    free(room);
    return failed;
}
