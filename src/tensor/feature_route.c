/* feature_route.c -- the form of an l^p penalty by the features themselves
 *
 *     u = Phi'a,  T = sum |u_k|^q,  om = Phi J_q(u),  B = Phi diag(|u|^(q-2)) Phi'
 *
 * Method: blocks of features. Scores: u of a block, J_q(u) and what it adds to om while the block
 *   is in the cache, so that Phi is read once; u is taken in units of the largest |u| so far,
 *   and the sums are brought to the new unit when that grows. Threads share SLICES of the
 *   features that have sums of their own: the same bits for any number of threads.
 *   Curvature: a block times |u|^((q-2)/2), and dsyrk.
 *   A linear kernel's Phi is x as it stands.
 * Special cases: q = 2: |u|^0 = 1, also where u = 0. No features: all is 0.
 * Accuracy: that of sums of n and of N terms. Nothing overflows but the result.
 * Cost: scores 4 n N flops, as fast as memory delivers Phi once; curvature n^2 N flops. */
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <string.h>
#include "base/error.h"
#include "base/linalg.h"
#include "tensor/duality.h"
#include "tensor/form.h"

enum {
    SLICES = 16,
    SCORE_DOUBLES = 1 << 16, /* of a block: half of a second-level cache of 1 MB */
    SCORE_COLS = 1024,
    CURVATURE_COLS = 256,
    FEW = 1 << 16 /* entries of Phi that one thread reads sooner than two */
};
/* What reading a number from memory costs, in flops of a matrix product. */
static const double READING = 16.0;

typedef struct slice {
    double top, value; /* largest |u|; sum |u / top|^q                     */
    double *sums, *u;  /* n, in units of top^(q-1); two blocks              */
} slice;

typedef struct parts {
    double q;
    fen_view phi;
    int64_t cols, slices; /* features of a block of scores                     */
    slice slice[SLICES];
    double *u, *block; /* of curvatures: CURVATURE_COLS of u, n rows of as many */
} parts;

static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
static double order_of(const fenp_kernel *kernel)
{
    const int64_t even = fenp_even_order(kernel->par.order);
    return even ? (double)even : kernel->par.order;
}

/* ---- sizes ------------------------------------------------------------------------------- */

static int64_t count_of(const fenp_form_size *size)
{
    return fenp_feature_count(&size->kernel, size->p);
}

static int64_t cols_of(int64_t n)
{
    const int64_t fit = SCORE_DOUBLES / (n > 0 ? n : 1) / 8 * 8;
    return fit < 32 ? 32 : min_of(fit, SCORE_COLS);
}

static int possible(const fenp_form_size *size)
{
    const fen_kernel *table = size->kernel.table;
    if (table->linear) return size->kernel.par.order > 1.0;
    return table->basis == FEN_TENSOR && table->last(&size->kernel.par) >= 0 &&
           fenp_even_order(size->kernel.par.order) > 0;
}

static int64_t bytes(const fenp_form_size *size)
{
    const int64_t n = size->n, count = count_of(size), cols = cols_of(n);
    const int64_t phi = size->kernel.table->linear ? 0 : fenp_bytes(n, count, sizeof(double));
    if (phi < 0 || count > INT_MAX || fenp_bytes(n, CURVATURE_COLS, sizeof(double)) < 0) return -1;
    return fenp_arena_bytes((int64_t)sizeof(parts) / 8 + 1) + fenp_arena_bytes(phi / 8) +
           SLICES * (fenp_arena_bytes(n) + fenp_arena_bytes(2 * cols)) +
           fenp_arena_bytes(CURVATURE_COLS) + fenp_arena_bytes(n * min_of(CURVATURE_COLS, count));
}

static double entries(const fenp_form_size *size)
{
    return (double)size->n * (double)count_of(size);
}

static double build(const fenp_form_size *size)
{
    return size->kernel.table->linear ? 0.0 : READING * entries(size);
}

/* Where there are fewer features than rows, a root will do for B. */
static double step(const fenp_form_size *size)
{
    const double syrk = count_of(size) < size->n ? 0.0 : (double)size->n;
    return entries(size) * (syrk + 3.0 * READING);
}

/* ---- opening ----------------------------------------------------------------------------- */

/* Phi by groups of rows, with progress between them. */
static fen_status expand(const fenp_kernel *kernel, fen_view x, int64_t count, double *phi,
                         const fenp_task *task, fen_error *err)
{
    enum { REPORT = 1 << 24 };
    const int64_t fit = REPORT / (count > 0 ? count : 1), some = fit > 1 ? fit : 1;
    fen_status status = fenp_task_at(task, 0.0, err);
    for (int64_t i = 0; i < x.rows && status == FEN_OK; i += some) {
        const fen_view rows = { x.at + i * x.stride, min_of(some, x.rows - i), x.cols, x.stride };
        fenp_features_of(kernel, rows, phi + i * count);
        status = fenp_task_at(task, (double)(i + rows.rows) / (double)x.rows, err);
    }
    return status;
}

static fen_status open_features(fenp_arena *arena, const fenp_form_size *size, fen_view x,
                                fenp_form *out, const fenp_task *task, fen_error *err)
{
    const int64_t n = size->n, count = count_of(size);
    if (count > INT_MAX || x.stride > INT_MAX)
        return fenp_fail(err, FEN_BAD_CALL, "rows of %lld features are too long for BLAS",
                         (long long)(count > x.stride ? count : x.stride));
    parts *s = (parts *)(void *)fenp_arena_doubles(arena, (int64_t)sizeof *s / 8 + 1);
    double *phi = size->kernel.table->linear ? NULL : fenp_arena_doubles(arena, n * count);
    *s = (parts){ .q = order_of(&size->kernel),
                  .phi = phi ? (fen_view){ phi, n, count, count } : x,
                  .cols = cols_of(n) };
    s->slices = min_of(SLICES, (count + s->cols - 1) / s->cols);
    for (int64_t k = 0; k < s->slices; k++) {
        s->slice[k].sums = fenp_arena_doubles(arena, n);
        s->slice[k].u = fenp_arena_doubles(arena, 2 * s->cols);
    }
    s->u = fenp_arena_doubles(arena, CURVATURE_COLS);
    s->block = fenp_arena_doubles(arena, n * min_of(CURVATURE_COLS, count));
    *out = (fenp_form){ .route = &fenp_route_features,
                        .size = *size,
                        .x = x,
                        .rank = count < n ? count : -1,
                        .own = s };
    return phi ? expand(&size->kernel, x, count, phi, task, err) : FEN_OK;
}

/* ---- scores ------------------------------------------------------------------------------ */

/* u = Phi'a of features k .. k + cols - 1 */
static void transposed(const parts *s, int64_t k, int64_t cols, const double *a, double *u)
{
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)s->phi.rows, (int)cols, 1.0, s->phi.at + k,
                (int)s->phi.stride, a, 1, 0.0, u, 1);
}

static double largest(const double *u, int64_t count)
{
    double most = 0.0;
    for (int64_t k = 0; k < count; k++) most = fmax(most, fabs(u[k]));
    return most;
}

/* Sums so far in units of a larger u. */
static void raise_top(const parts *s, slice *part, double top)
{
    const double shrink = pow(part->top / top, s->q - 1.0);
    for (int64_t i = 0; i < s->phi.rows; i++) part->sums[i] *= shrink;
    part->value *= shrink * (part->top / top);
    part->top = top;
}

static void block_scores(const parts *s, slice *part, int64_t k, int64_t cols, const double *a)
{
    double *u = part->u, *power = u + s->cols;
    transposed(s, k, cols, a, u);
    const double top = largest(u, cols);
    if (top > part->top) raise_top(s, part, top);
    if (part->top == 0.0) return;
    for (int64_t j = 0; j < cols; j++) u[j] /= part->top;
    memcpy(power, u, (size_t)cols * sizeof *u);
    fenp_dual_map(power, cols, s->q);
    for (int64_t j = 0; j < cols; j++) part->value += u[j] * power[j];
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)s->phi.rows, (int)cols, 1.0, s->phi.at + k,
                (int)s->phi.stride, power, 1, 1.0, part->sums, 1);
}

static void slice_scores(parts *s, int64_t number, const double *a)
{
    const int64_t count = s->phi.cols, blocks = (count + s->cols - 1) / s->cols;
    const int64_t from = blocks * number / s->slices, to = blocks * (number + 1) / s->slices;
    slice *part = &s->slice[number];
    part->top = part->value = 0.0;
    memset(part->sums, 0, (size_t)s->phi.rows * sizeof *part->sums);
    for (int64_t b = from; b < to; b++)
        block_scores(s, part, b * s->cols, min_of(s->cols, count - b * s->cols), a);
}

/* om = sum of the slices; their common unit comes in as two square roots, which overflow only where
 * the result does. */
static double add_slices(const parts *s, double *om)
{
    double top = 0.0, value = 0.0;
    memset(om, 0, (size_t)s->phi.rows * sizeof *om);
    for (int64_t k = 0; k < s->slices; k++) top = fmax(top, s->slice[k].top);
    if (top == 0.0) return 0.0;
    for (int64_t k = 0; k < s->slices; k++) {
        const slice *part = &s->slice[k];
        const double ratio = part->top / top, shrink = pow(ratio, s->q - 1.0);
        for (int64_t i = 0; i < s->phi.rows; i++) om[i] += shrink * part->sums[i];
        value += shrink * ratio * part->value;
    }
    const double unit = pow(top, 0.5 * (s->q - 1.0)), half = pow(top, 0.5 * s->q);
    for (int64_t i = 0; i < s->phi.rows; i++) om[i] = om[i] * unit * unit;
    return value * half * half;
}

static double scores(const fenp_form *f, const double *a, double *om)
{
    parts *s = f->own;
    /* two loops: BLAS in a parallel region of one thread would start threads of its own */
    if (omp_get_max_threads() == 1 || s->phi.rows * s->phi.cols < FEW) {
        for (int64_t k = 0; k < s->slices; k++) slice_scores(s, k, a);
    } else {
#pragma omp parallel for schedule(dynamic)
        for (int64_t k = 0; k < s->slices; k++) slice_scores(s, k, a);
    }
    return add_slices(s, om);
}

/* ---- curvature --------------------------------------------------------------------------- */

/* |u|^((q-2)/2) of these features */
static void block_weights(const parts *s, int64_t k, int64_t cols, const double *a)
{
    transposed(s, k, cols, a, s->u);
    fenp_powers(s->u, cols, 0.5 * (s->q - 2.0));
}

static void curvature(const fenp_form *f, const double *a, double *b)
{
    const parts *s = f->own;
    const int64_t n = s->phi.rows, count = s->phi.cols;
    for (int64_t j = 0; j < n; j++) memset(b + j * n + j, 0, (size_t)(n - j) * sizeof *b);
    for (int64_t k = 0; k < count; k += CURVATURE_COLS) {
        const int64_t cols = min_of(CURVATURE_COLS, count - k);
        block_weights(s, k, cols, a);
#pragma omp parallel for schedule(static) if (n * cols > FEW)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < cols; j++)
                s->block[i * cols + j] = s->u[j] * s->phi.at[i * s->phi.stride + k + j];
        cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)n, (int)cols, 1.0, s->block,
                    (int)cols, 1.0, b, (int)n);
    }
}

static void root(const fenp_form *f, const double *a, double *out)
{
    const parts *s = f->own;
    const int64_t n = s->phi.rows, count = s->phi.cols;
    for (int64_t k = 0; k < count; k += CURVATURE_COLS) {
        const int64_t cols = min_of(CURVATURE_COLS, count - k);
        block_weights(s, k, cols, a);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < cols; j++)
                out[(k + j) * n + i] = s->u[j] * s->phi.at[i * s->phi.stride + k + j];
    }
}

const fenp_route fenp_route_features = {
    .name = "features",
    .help = "the features themselves: linear kernels, and those whose series ends",
    .possible = possible,
    .bytes = bytes,
    .build = build,
    .step = step,
    .open = open_features,
    .scores = scores,
    .curvature = curvature,
    .root = root,
};
