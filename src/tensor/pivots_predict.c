/* pivots_predict.c -- values of new rows by the pivots
 *
 *     f~(z) = sum over s, t of c_s a^t k(u_s, x_t * z),   t: tuples of h - 1 rows with a != 0
 *
 * Method: k(u_s, x_t * z) = kappa(sum_j (u_sj z_j) x_tj): for each new row the pivots are scaled
 *   by it, then tiles of pivots against products of h - 1 rows, one GEMM each. Threads share the
 *   new rows. Multisets stand for their tuples.
 * Special cases: no pivots, a = 0: 0.
 * Accuracy: the terms cancel: |c| is as large as the condition of the pivots allows. Sums over
 *   tiles are compensated by long double.
 * Cost: r C(n+h-2, h-1) kernel values to a row; memory: the products of h - 1 rows, a tile for each
 *   thread. */
#include <omp.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "tensor/pivots_parts.h"

enum { TILE = 256 };

typedef struct plan {
    const fenp_kernel *kernel;
    int64_t p, pivots, tuples;
    const double *c;
    double *point; /* pivots x p */
    double *u, *v; /* tuples x p: products of h - 1 rows; tuples: orders times a.. */
    double *work;  /* work_size for each thread */
    int64_t work_size;
    fenp_arena arena;
} plan;

static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }

static double product(const double *a, int64_t count, const int64_t *member)
{
    double value = 1.0;
    for (int64_t i = 0; i < count; i++) value *= a[member[i]];
    return value;
}

/* Multisets of rows with a != 0. */
static void fill_tuples(plan *w, fen_view x, int64_t size, const double *a, const int64_t *row,
                        int64_t active, int64_t *place, int64_t *member)
{
    memset(place, 0, (size_t)size * sizeof *place);
    for (int64_t k = 0; k < w->tuples; k++) {
        for (int64_t i = 0; i < size; i++) member[i] = row[place[i]];
        fenp_point_of(x, size, member, w->u + k * w->p);
        w->v[k] = fenp_multiset_orders(size, member) * product(a, size, member);
        fenp_multiset_next(active, size, place);
    }
}

static int64_t count_active(const double *a, int64_t n)
{
    int64_t active = 0;
    for (int64_t i = 0; i < n; i++) active += a[i] != 0.0;
    return active;
}

static int64_t add_bytes(int64_t total, int64_t rows, int64_t cols)
{
    const int64_t bytes = fenp_bytes(rows, cols, sizeof(double));
    return total < 0 || bytes < 0 || bytes > INT64_MAX / 16 ? -1 : total + bytes + 128;
}

static int64_t *integers(fenp_arena *arena, int64_t count)
{
    return (int64_t *)(void *)fenp_arena_doubles(arena, count);
}

static fen_status plan_open(plan *w, fen_view x, const fenp_pivots *pivots, const double *a,
                            fen_error *err)
{
    const int64_t n = x.rows, size = pivots->h - 1, active = count_active(a, n), p = x.cols;
    const int64_t threads = omp_get_max_threads();
    w->tuples = fenp_multisets(active, size);
    w->work_size = TILE * (p + TILE + 1);
    int64_t bytes = add_bytes(0, w->tuples, p + 1);
    bytes = add_bytes(bytes, pivots->count, p);
    bytes = add_bytes(bytes, w->work_size, threads);
    bytes = add_bytes(bytes, n + 2 * (size + 8), 1);
    if (bytes < 0) return fenp_no_memory(err, -1, "predictions by products of rows");
    const fen_status status =
        fenp_arena_open(&w->arena, bytes + 1024, "predictions by products of rows", err);
    if (status != FEN_OK) return status;
    w->point = fenp_arena_doubles(&w->arena, pivots->count * p);
    w->u = fenp_arena_doubles(&w->arena, w->tuples * p);
    w->v = fenp_arena_doubles(&w->arena, w->tuples);
    w->work = fenp_arena_doubles(&w->arena, w->work_size * threads);
    int64_t *row = integers(&w->arena, n), *place = integers(&w->arena, size), found = 0;
    for (int64_t i = 0; i < n; i++)
        if (a[i] != 0.0) row[found++] = i;
    fenp_span_points(x, pivots->h, pivots->row, pivots->count, w->point);
    fill_tuples(w, x, size, a, row, active, place, integers(&w->arena, size));
    return FEN_OK;
}

/* sum over pivots s.. and tuples t.. of c_s v_t k; scaled: the pivots times the new row. */
static long double tile(const plan *w, int64_t s, int64_t pivots, const double *scaled, int64_t t,
                        double *k, double *sums)
{
    const int64_t tuples = min_of(TILE, w->tuples - t);
    long double total = 0.0L;
    fenp_point_kernel(w->kernel, w->p, scaled, pivots, w->u + t * w->p, tuples, k, TILE);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)pivots, (int)tuples, 1.0, k, TILE, w->v + t, 1,
                0.0, sums, 1);
    for (int64_t i = 0; i < pivots; i++) total += (long double)w->c[s + i] * (long double)sums[i];
    return total;
}

static double predict_row(const plan *w, const double *z)
{
    double *scaled = w->work + omp_get_thread_num() * w->work_size, *k = scaled + TILE * w->p;
    long double total = 0.0L;
    for (int64_t s = 0; s < w->pivots; s += TILE) {
        const int64_t pivots = min_of(TILE, w->pivots - s);
        for (int64_t i = 0; i < pivots; i++)
            for (int64_t j = 0; j < w->p; j++)
                scaled[i * w->p + j] = w->point[(s + i) * w->p + j] * z[j];
        for (int64_t t = 0; t < w->tuples; t += TILE)
            total += tile(w, s, pivots, scaled, t, k, k + TILE * TILE);
    }
    return (double)total;
}

fen_status fenp_pivots_predict(const fenp_kernel *kernel, fen_view x, const fenp_pivots *pivots,
                               const double *a, const double *c, fen_view z, double *out,
                               const fenp_task *task, fen_error *err)
{
    plan w = { .kernel = kernel, .p = x.cols, .pivots = pivots->count, .c = c };
    fen_status status = plan_open(&w, x, pivots, a, err);
    const int64_t group = 16 * omp_get_max_threads(); /* between two reports of progress */
    for (int64_t from = 0; from < z.rows && status == FEN_OK; from += group) {
        const int64_t to = min_of(from + group, z.rows);
#pragma omp parallel for schedule(dynamic)
        for (int64_t i = from; i < to; i++) out[i] = predict_row(&w, z.at + i * z.stride);
        status = fenp_task_at(task, (double)to / (double)z.rows, err);
    }
    fenp_arena_close(&w.arena);
    return status;
}
