/* certify_polish.c -- the last digits of a dual vector that is orthogonal to columns but for rounding
 *
 *     least max_j |x_j'(u + delta)| / rounding_j     over delta of the size of roundings of u
 *
 * Columns that depend on each other (more of them than rows, or means taken off) do so to the last
 * digit of their entries alone. In exact arithmetic nothing but 0 is orthogonal to such doubles; what
 * can be asked for is that no |x_j'u| exceeds fenp_claim_rounding of it, and of the u that come
 * close to that some do it. A QR factorisation meets some columns exactly, at the expense of those
 * that it leaves out: here the error is spread over all of them.
 *
 * Method: least squares with weights that grow where the ratio is large (Lawson), in the directions
 *   that the columns span beyond doubt: eigenvectors of the weighted Gram matrix of the rows. Rows
 *   at an end of their box stay, but u is first made smaller by 2^-40 of itself: most are then inside.
 * Special cases: a ratio above FAR is not a matter of last digits, and nothing is done. It ends where
 *   the weighted mean square of the ratios, which least squares make least, is above 1: no delta
 *   has all of them below.
 * Accuracy: x_j'u is summed in long double; of delta, two digits are enough.
 * Cost: a round has count n^2 + 9 n^3 flops; 4 n^2 numbers. What takes longer is not tried. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "certify.h"

enum { ROUNDS = 12, FAR = 64 };

static const double DEAR = 5e8;        /* flops of a round                                      */
static const double SPANNED = 1e-11;   /* eigenvalues over the largest: others are rounding     */
static const double INSIDE = 0x1p-44;  /* of |z|: far enough from an end for last digits        */
static const double HOPELESS = 1.1;    /* 1, but for the rounding of least squares */
static const double SMALLER = 0x1p-40; /* what D loses, relative                                */

typedef struct bench {
    const fenp_claim *c;
    const fenp_matrix *x;
    const int64_t *which;
    int64_t n, count;
    double *gram, *values, *work;  /* n x n, n, for fenp_eigen                           */
    double *column, *step, *right; /* n                                                  */
    double *unit;                  /* n: how much u_i moves by, 0: not at all            */
    double *sum, *off, *weight;    /* count: x_j'u, over its rounding; of least squares  */
} bench;

static fen_status open_bench(bench *b, fenp_arena *arena, fen_error *err)
{
    const int64_t n = b->n, work = fenp_eigen_work(n);
    const int64_t bytes = fenp_arena_bytes(n * n) + 5 * fenp_arena_bytes(n) +
                          3 * fenp_arena_bytes(b->count) + fenp_arena_bytes(work);
    const fen_status status = fenp_arena_open(arena, bytes, "the columns without a penalty", err);
    if (status != FEN_OK) return status;
    b->gram = fenp_arena_doubles(arena, n * n), b->work = fenp_arena_doubles(arena, work);
    b->values = fenp_arena_doubles(arena, n), b->column = fenp_arena_doubles(arena, n);
    b->step = fenp_arena_doubles(arena, n), b->right = fenp_arena_doubles(arena, n);
    b->unit = fenp_arena_doubles(arena, n), b->sum = fenp_arena_doubles(arena, b->count);
    b->off = fenp_arena_doubles(arena, b->count), b->weight = fenp_arena_doubles(arena, b->count);
    for (int64_t j = 0; j < b->count; j++) b->weight[j] = 1.0;
    return FEN_OK;
}

/* Returns the largest ratio. */
static fen_status look(bench *b, const long double *u, double *worst, fen_error *err)
{
    fen_status status = FEN_OK;
    *worst = 0.0;
    for (int64_t j = 0; status == FEN_OK && j < b->count; j++) {
        long double sum = 0.0L;
        status = fenp_matrix_column(b->x, b->which[j], b->column, err);
        for (int64_t i = 0; i < b->n; i++) sum += b->column[i] * u[i];
        b->sum[j] = (double)sum;
        b->off[j] = sum == 0.0L ? 0.0 : fabs(b->sum[j]) / fenp_claim_rounding(u, b->column, b->n);
        *worst = fmax(*worst, b->off[j]);
    }
    return status;
}

static void find_units(bench *b, long double *u)
{
    double largest = 0.0;
    for (int64_t i = 0; i < b->n; i++) u[i] *= 1.0L - SMALLER;
    fenp_claim_cut(b->c, u);
    for (int64_t i = 0; i < b->n; i++)
        if (b->c->w[i] > 0.0) largest = fmax(largest, fabs((double)(u[i] / b->c->w[i])));
    for (int64_t i = 0; i < b->n; i++) {
        const double w = b->c->w[i], unit = largest * w;
        b->unit[i] = fenp_claim_room(b->c, i, u[i]) > INSIDE * unit ? unit : 0.0;
    }
}

/* Normal equations, over all columns. */
static fen_status add_up(bench *b, const long double *u, fen_error *err)
{
    const int n = (int)b->n;
    fen_status status = FEN_OK;
    memset(b->gram, 0, (size_t)(b->n * b->n) * sizeof(double));
    memset(b->right, 0, (size_t)b->n * sizeof(double));
    for (int64_t j = 0; status == FEN_OK && j < b->count; j++) {
        status = fenp_matrix_column(b->x, b->which[j], b->column, err);
        const double rounding = fenp_claim_rounding(u, b->column, b->n);
        if (status != FEN_OK || rounding == 0.0) continue;
        for (int64_t i = 0; i < b->n; i++)
            b->column[i] *= b->unit[i] * (0.5 * DBL_EPSILON / rounding); /* of the order 1 */
        cblas_dsyr(CblasColMajor, CblasLower, n, b->weight[j], b->column, 1, b->gram, n);
        cblas_daxpy(n, b->weight[j] * b->sum[j] / rounding, b->column, 1, b->right, 1);
    }
    return status;
}

/* u by the solution of least length, in roundings. */
static fen_status move(bench *b, long double *u, fen_error *err)
{
    const int n = (int)b->n;
    const fen_status status = fenp_eigen(b->n, b->gram, b->n, b->values, b->work, err);
    if (status != FEN_OK) return status;
    memset(b->step, 0, (size_t)b->n * sizeof(double));
    for (int64_t k = b->n - 1; k >= 0; k--) {
        const double *vector = b->gram + k * b->n;
        if (!(b->values[k] > SPANNED * b->values[b->n - 1])) break;
        cblas_daxpy(n, cblas_ddot(n, vector, 1, b->right, 1) / b->values[k], vector, 1, b->step, 1);
    }
    for (int64_t i = 0; i < b->n; i++)
        u[i] -= 0.5L * DBL_EPSILON * (long double)b->unit[i] * b->step[i];
    fenp_claim_cut(b->c, u);
    return FEN_OK;
}

/* Weights of columns whose ratio is above the others' grow; the largest is 1. */
static void weigh(bench *b, double worst)
{
    double largest = 0.0;
    for (int64_t j = 0; j < b->count; j++) {
        b->weight[j] *= fmax(b->off[j] / worst, 1e-3);
        largest = fmax(largest, b->weight[j]);
    }
    for (int64_t j = 0; j < b->count; j++) b->weight[j] = fmax(b->weight[j] / largest, 1e-6);
}

/* The largest ratio is nowhere below this mean of those that least squares leave. */
static double least_worst(const bench *b)
{
    double sum = 0.0, weight = 0.0;
    for (int64_t j = 0; j < b->count; j++)
        sum += b->weight[j] * b->off[j] * b->off[j], weight += b->weight[j];
    return weight > 0.0 ? sqrt(sum / weight) : 0.0;
}

static fen_status polish(bench *b, long double *u, int *within, fen_error *err)
{
    double worst;
    fen_status status = look(b, u, &worst, err);
    *within = worst <= 1.0;
    if (status != FEN_OK || *within || !(worst <= FAR)) return status;
    find_units(b, u);
    for (int round = 0; status == FEN_OK && round < ROUNDS; round++) {
        if (round > 0) weigh(b, worst);
        status = add_up(b, u, err);
        if (status == FEN_OK) status = move(b, u, err);
        if (status == FEN_OK) status = look(b, u, &worst, err);
        *within = worst <= 1.0;
        if (*within || !(worst <= FAR) || least_worst(b) > HOPELESS) break;
    }
    return status;
}

fen_status fenp_claim_polish(const fenp_claim *c, const fenp_matrix *x, const fenp_columns *to,
                             long double *u, double *left, int *within, fen_error *err)
{
    bench b = { .c = c, .x = x, .which = to->which, .n = c->n, .count = to->must };
    const double n = (double)c->n, flops = n * n * ((double)b.count + 9.0 * n);
    fenp_arena arena;
    *within = 0;
    if (flops > DEAR || !fenp_eigen_possible(c->n)) return FEN_OK;
    fen_status status = open_bench(&b, &arena, err);
    if (status != FEN_OK) return status;
    status = polish(&b, u, within, err);
    for (int64_t j = 0; status == FEN_OK && j < b.count; j++) left[j] = fabs(b.sum[j]);
    fenp_arena_close(&arena);
    return status;
}
