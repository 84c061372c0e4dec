/* gram.c -- kernel matrices in tiles
 *
 * Method: a tile is some rows of x against some of z. Two rows of it at a time are filled
 *   with the basis (distance or product), mapped to kernel values and handed on while
 *   they are in the first-level cache. Where the basis comes from:
 *     products               one GEMM per tile
 *     distances, long rows   |x|^2 + |z|^2 - 2 x.z with one GEMM per tile; two rows with
 *                            an entry below CANCELLATION (|x|^2 + |z|^2) are done again
 *                            from the differences
 *     distances, short rows  from the differences: as fast as the GEMM, and exact
 *     L1 distances           from the differences
 *     precomputed            copied
 *   Threads share the tiles; BLAS runs serially inside a parallel region. The grid of
 *   tiles and the order of every sum depend on the sizes alone: the result has the same
 *   bits for any number of threads. Centres without a coefficient are left out.
 * Special cases: no squared distance is negative; equal rows have distance 0; rows whose
 *   squares overflow are done from the differences (0 or infinite, not NaN).
 * Accuracy: 1e-12 relative in the squared distances.
 * Cost: d = 10: 1.7 ns per value and thread with AVX-512, of which the exponential takes
 *   1.06 and the distance 0.5; memory: one tile per thread.
 */
#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "kernel/gram.h"
#include "simd/simd.h"

enum {
    TILE_ROWS = 128, /* even: rows go in twos */
    GEMM_COLS = 256,
    PACKED_COLS_MIN = 64,
    PACKED_COLS_MAX = 512,
    PACKED_DOUBLES = 32768, /* a quarter of a second-level cache of 1 MB */
    PADDING = 8,            /* keeps features of packed points off one cache set */
    SHORT_ROW = 48          /* features up to which differences beat GEMM and norms */
};
/* Rounding leaves a few 1e-16 of |x|^2 + |z|^2; of a hundredth of it that is a few 1e-14. */
static const double CANCELLATION = 0.01;
static const double GROUP_WORK = 1e9; /* between two reports of progress: about 50 ms */

/* What all tiles of one call have in common. */
typedef struct plan {
    const fenp_kernel *kernel;
    fen_view x, z;
    int64_t cols;            /* of a tile; a multiple of 8 */
    int gemm, packs;         /* products are needed; differences may be */
    double *x_norm, *z_norm; /* squared; only for distances by GEMM */
    fenp_arena arena;
    double *work; /* work_size doubles for each thread */
    int64_t work_size;
} plan;

typedef struct tile {
    const plan *p;
    int64_t row, rows, col, cols;
    double *packed;     /* room for the points */
    fenp_points points; /* z of this tile, once they are needed */
    double *values;     /* two rows (with GEMM all rows) of p->cols each */
} tile;

static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
static inline const double *row_of(fen_view v, int64_t i) { return v.at + i * v.stride; }

/* ---- the plan ------------------------------------------------------------------------ */

/* Packed points are read once for every two rows: they must stay in the cache. */
static int64_t packed_cols(int64_t dim)
{
    const int64_t fit = PACKED_DOUBLES / (dim > 0 ? dim : 1) / 8 * 8;
    return fit < PACKED_COLS_MIN ? PACKED_COLS_MIN : min_of(fit, PACKED_COLS_MAX);
}

static void squared_norms(fen_view x, double *norm)
{
    for (int64_t i = 0; i < x.rows; i++) {
        norm[i] = 0.0;
        for (int64_t k = 0; k < x.cols; k++) norm[i] += row_of(x, i)[k] * row_of(x, i)[k];
    }
}

static int64_t packed_size(const plan *p) { return p->packs ? p->z.cols * (p->cols + PADDING) : 0; }

/* Rows are shorter than INT_MAX here, so no size overflows. */
static fen_status plan_memory(plan *p, int norms, fen_error *err)
{
    const int64_t threads = omp_get_max_threads();
    p->work_size = packed_size(p) + (p->gemm ? TILE_ROWS : 2) * p->cols;
    const int64_t bytes = fenp_arena_bytes(p->work_size * threads) +
                          (norms ? fenp_arena_bytes(p->x.rows) + fenp_arena_bytes(p->z.rows) : 0);
    const fen_status status = fenp_arena_open(&p->arena, bytes, "tiles of the kernel matrix", err);
    if (status != FEN_OK) return status;
    p->work = fenp_arena_doubles(&p->arena, p->work_size * threads);
    if (!norms) return FEN_OK;
    p->x_norm = fenp_arena_doubles(&p->arena, p->x.rows);
    p->z_norm = fenp_arena_doubles(&p->arena, p->z.rows);
    squared_norms(p->x, p->x_norm);
    squared_norms(p->z, p->z_norm);
    return FEN_OK;
}

static fen_status plan_open(plan *p, const fenp_kernel *kernel, fen_view x, fen_view z,
                            fen_error *err)
{
    const fen_basis basis = kernel->table->basis;
    const int by_norms = basis == FEN_SQUARED_DISTANCE && x.cols > SHORT_ROW;
    *p = (plan){ .kernel = kernel, .x = x, .z = z };
    p->gemm = by_norms || basis == FEN_PRODUCT || basis == FEN_TENSOR;
    p->packs = basis == FEN_SQUARED_DISTANCE || basis == FEN_L1_DISTANCE;
    p->cols = p->gemm ? GEMM_COLS : p->packs ? packed_cols(x.cols) : PACKED_COLS_MAX;
    if (x.stride > INT_MAX || z.stride > INT_MAX || x.cols > INT_MAX)
        return fenp_fail(err, FEN_BAD_CALL, "rows of %lld features are too long for BLAS",
                         (long long)x.stride);
    return plan_memory(p, by_norms, err);
}

static void plan_close(plan *p) { fenp_arena_close(&p->arena); }

/* Blocks of TILE_ROWS rows, each against cols columns, between two reports of progress. */
static int64_t group_blocks(const plan *p, int64_t cols)
{
    const double block = (double)TILE_ROWS * (double)cols * (16.0 + (double)p->x.cols);
    const double blocks = GROUP_WORK / (block + 1.0); /* below 1: rows are very long */
    return (int64_t)fmax(blocks, (blocks < 1.0 ? 1.0 : 8.0) * omp_get_max_threads());
}

/* ---- one tile ------------------------------------------------------------------------ */

static tile tile_open(const plan *p, int64_t row, int64_t col, int64_t row_end, int64_t col_end)
{
    double *work = p->work + omp_get_thread_num() * p->work_size;
    tile t = { .p = p,
               .row = row,
               .rows = min_of(TILE_ROWS, row_end - row),
               .col = col,
               .cols = min_of(p->cols, col_end - col),
               .packed = work,
               .values = work + packed_size(p) };
    if (!p->gemm) return t;
    if (p->x.cols > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)t.rows, (int)t.cols,
                    (int)p->x.cols, 1.0, row_of(p->x, row), (int)p->x.stride, row_of(p->z, col),
                    (int)p->z.stride, 0.0, t.values, (int)p->cols);
    else
        memset(t.values, 0, (size_t)(t.rows * p->cols) * sizeof *t.values);
    return t;
}

/* The rows of z as points into packed (z.cols x width doubles), one cache line of a row at a time. */
static fenp_points pack_points(fen_view z, double *packed, int64_t width)
{
    enum { BLOCK = 8 };
    for (int64_t from = 0; from < z.cols; from += BLOCK) {
        const int64_t to = from + BLOCK < z.cols ? from + BLOCK : z.cols;
        for (int64_t j = 0; j < z.rows; j++)
            for (int64_t k = from; k < to; k++) packed[k * width + j] = z.at[j * z.stride + k];
    }
    return (fenp_points){ packed, z.cols, width, z.rows };
}

/* Rows r and r+1 of the tile (the last one twice, if it is alone) from the differences. */
static void from_differences(tile *t, int64_t r, int64_t count, double *values)
{
    const plan *p = t->p;
    const fen_view z = { row_of(p->z, t->col), t->cols, p->z.cols, p->z.stride };
    if (!t->points.at) t->points = pack_points(z, t->packed, p->cols + PADDING);
    t->points.count = count;
    fenp_simd_get()->distance_two(p->kernel->table->basis, row_of(p->x, t->row + r),
                                  row_of(p->x, t->row + min_of(r + 1, t->rows - 1)), t->points,
                                  values, values + p->cols);
}

/* Products to squared distances; whether one of them lost too many digits (or is NaN). */
static int norms_cancel(double *v, int64_t count, double x_norm, const double *z_norm)
{
    int cancels = 0;
#pragma omp simd reduction(| : cancels)
    for (int64_t j = 0; j < count; j++) {
        const double sum = x_norm + z_norm[j];
        v[j] = sum - 2.0 * v[j];
        cancels |= !(v[j] >= CANCELLATION * sum);
    }
    return cancels;
}

static void from_norms(tile *t, int64_t r, int64_t count, double *values)
{
    const plan *p = t->p;
    int cancels = 0;
    for (int64_t i = r; i < min_of(r + 2, t->rows); i++)
        cancels |= norms_cancel(values + (i - r) * p->cols, count, p->x_norm[t->row + i],
                                p->z_norm + t->col);
    if (cancels) from_differences(t, r, count, values);
}

/* The kernel values of rows r and r+1 against the first count columns; the second row
 * starts p->cols after the first. */
static const double *tile_two(tile *t, int64_t r, int64_t count)
{
    const plan *p = t->p;
    const int64_t rows = min_of(2, t->rows - r);
    double *values = p->gemm ? t->values + r * p->cols : t->values;
    if (p->x_norm)
        from_norms(t, r, count, values);
    else if (p->packs)
        from_differences(t, r, count, values);
    for (int64_t i = 0; i < rows; i++) {
        if (p->kernel->table->basis == FEN_PRECOMPUTED)
            memcpy(values + i * p->cols, row_of(p->x, t->row + r + i) + t->col,
                   (size_t)count * sizeof *values);
        p->kernel->table->map(values + i * p->cols, count, &p->kernel->par);
    }
    return values;
}

/* ---- the upper triangle -------------------------------------------------------------- */

/* Where the triangle goes: doubles in a square, floats in a square of stride n, or floats,
 * times factor, without gaps. */
typedef struct upper {
    int64_t n;
    double *full;
    float *single, *packed;
    double factor;
} upper;

/* Entries from row on of column j. */
static void upper_put(const upper *out, int64_t j, int64_t row, const double *values, int64_t count)
{
    if (out->full) {
        memcpy(out->full + j * out->n + row, values, (size_t)count * sizeof *values);
        return;
    }
    float *column = row + (out->single ? out->single + j * out->n : out->packed + j * (j + 1) / 2);
    for (int64_t i = 0; i < count; i++) column[i] = (float)(values[i] * out->factor);
}

/* Columns of the matrix are rows of tiles: column j needs the entries 0 .. j. */
static void upper_tile(const plan *p, int64_t row, int64_t col, const upper *out)
{
    const int64_t n = p->x.rows;
    tile t = tile_open(p, row, col, n, n);
    for (int64_t r = 0; r < t.rows; r += 2) {
        const int64_t j = row + r, needed = j + min_of(2, t.rows - r) - col;
        if (needed <= 0) continue;
        const double *values = tile_two(&t, r, min_of(t.cols, needed));
        for (int64_t i = 0; i < min_of(2, t.rows - r); i++) {
            const int64_t count = min_of(t.cols, j + i + 1 - col);
            if (count > 0) upper_put(out, j + i, col, values + i * p->cols, count);
        }
    }
}

static fen_status upper_tiles(const plan *p, const upper *out, const fenp_task *task,
                              fen_error *err)
{
    const int64_t n = p->x.rows, blocks = (n + TILE_ROWS - 1) / TILE_ROWS;
    const int64_t group = group_blocks(p, n / 2);
    fen_status status = fenp_task_at(task, 0.0, err);
    for (int64_t from = 0; from < blocks && status == FEN_OK; from += group) {
        const int64_t to = min_of(from + group, blocks);
        const int64_t across = (min_of(to * TILE_ROWS, n) + p->cols - 1) / p->cols;
#pragma omp parallel for collapse(2) schedule(dynamic)
        for (int64_t b = from; b < to; b++)
            for (int64_t c = 0; c < across; c++)
                if (c * p->cols < min_of((b + 1) * TILE_ROWS, n))
                    upper_tile(p, b * TILE_ROWS, c * p->cols, out);
        const double done = (double)to / (double)blocks;
        status = fenp_task_at(task, done * done, err);
    }
    return status;
}

/* Half the sum of the two values that stand for one pair; they must be nearly the same. */
static fen_status given_pair(fen_view x, int64_t i, int64_t j, double *value, fen_error *err)
{
    const double a = row_of(x, i)[j], b = row_of(x, j)[i];
    const double unit = sqrt(fabs(row_of(x, i)[i] * row_of(x, j)[j]));
    *value = 0.5 * (a + b);
    if (fabs(a - b) <= 1e-6 * fmax(unit, fmax(fabs(a), fabs(b)))) return FEN_OK;
    return fenp_fail(err, FEN_BAD_DATA,
                     "the precomputed kernel is not symmetric: row %lld has %g in column %lld, "
                     "but row %lld has %g in column %lld",
                     (long long)i + 1, a, (long long)j + 1, (long long)j + 1, b, (long long)i + 1);
}

/* Block by block, since one of the two values is always far away. */
static fen_status upper_given(fen_view x, const upper *out, fen_error *err)
{
    enum { BLOCK = 64 };
    const int64_t n = x.rows;
    if (x.cols != n)
        return fenp_fail(err, FEN_BAD_DATA,
                         "a precomputed kernel of %lld rows needs as many kernel values per row, "
                         "not %lld",
                         (long long)n, (long long)x.cols);
    fen_status status = FEN_OK;
    for (int64_t col = 0; col < n; col += BLOCK)
        for (int64_t row = 0; row <= col; row += BLOCK)
            for (int64_t j = col; j < min_of(col + BLOCK, n) && status == FEN_OK; j++) {
                const int64_t count = min_of(BLOCK, j + 1 - row);
                double values[BLOCK];
                for (int64_t i = 0; i < count && status == FEN_OK; i++)
                    status = given_pair(x, row + i, j, values + i, err);
                if (status == FEN_OK) upper_put(out, j, row, values, count);
            }
    return status;
}

static fen_status fill_upper(const fenp_kernel *k, fen_view x, const upper *out,
                             const fenp_task *task, fen_error *err)
{
    if (k->table->basis == FEN_PRECOMPUTED) return upper_given(x, out, err);
    plan p;
    fen_status status = plan_open(&p, k, x, x, err);
    if (status == FEN_OK) status = upper_tiles(&p, out, task, err);
    plan_close(&p);
    /* products: the GEMM's k(x,x) is the definition's but for the order of the sum */
    for (int64_t i = 0; i < x.rows && status == FEN_OK; i++) {
        const double value = fenp_kernel_pair(k, row_of(x, i), row_of(x, i), x.cols);
        upper_put(out, i, i, &value, 1);
        if (!isfinite(value)) /* no other entry is larger than the largest of these */
            status = fenp_fail(err, FEN_BAD_DATA,
                               "the %s kernel overflows at row %lld: scale the inputs, or take a "
                               "smaller --gamma or --degree",
                               k->table->name, (long long)(i + 1));
    }
    return status;
}

fen_status fenp_gram_upper(const fenp_kernel *k, fen_view x, double *out, const fenp_task *task,
                           fen_error *err)
{
    const upper square = { x.rows, out, NULL, NULL, 1.0 };
    return fill_upper(k, x, &square, task, err);
}

fen_status fenp_gram_packed(const fenp_kernel *k, fen_view x, double unit, float *out,
                            const fenp_task *task, fen_error *err)
{
    const upper packed = { x.rows, NULL, NULL, out, 1.0 / unit };
    return fill_upper(k, x, &packed, task, err);
}

/* The other triangle, tile by tile: both sides of the diagonal stay in the cache. */
static void mirror(float *k, int64_t n, int64_t ld)
{
    enum { TILE = 64 };
#pragma omp parallel for schedule(dynamic)
    for (int64_t row = 0; row < n; row += TILE)
        for (int64_t col = 0; col <= row; col += TILE)
            for (int64_t j = col; j < min_of(col + TILE, n); j++)
                for (int64_t i = row > j ? row : j + 1; i < min_of(row + TILE, n); i++)
                    k[j * ld + i] = k[i * ld + j];
}

fen_status fenp_gram_single(const fenp_kernel *k, fen_view x, int64_t ld, float *out,
                            fen_error *err)
{
    const upper square = { ld, NULL, out, NULL, 1.0 };
    const fen_status status = fill_upper(k, x, &square, NULL, err);
    if (status == FEN_OK) mirror(out, x.rows, ld);
    return status;
}

/* ---- kernel times coefficients --------------------------------------------------------- */

static void times_tile(const plan *p, int64_t row, int64_t col, int64_t centres, const double *coef,
                       int64_t targets, double *out)
{
    tile t = tile_open(p, row, col, p->x.rows, centres);
    for (int64_t r = 0; r < t.rows; r += 2) {
        const double *values = tile_two(&t, r, t.cols);
        for (int64_t i = r; i < min_of(r + 2, t.rows); i++)
            for (int64_t target = 0; target < targets; target++)
                out[(row + i) * targets + target] += cblas_ddot(
                    (int)t.cols, values + (i - r) * p->cols, 1, coef + target * centres + col, 1);
    }
}

static fen_status times_tiles(const plan *p, int64_t centres, const double *coef, int64_t targets,
                              double *out, const fenp_task *task, fen_error *err)
{
    const int64_t rows = p->x.rows, blocks = (rows + TILE_ROWS - 1) / TILE_ROWS;
    const int64_t group = group_blocks(p, centres);
    fen_status status = fenp_task_at(task, 0.0, err);
    memset(out, 0, (size_t)(rows * targets) * sizeof *out);
    for (int64_t from = 0; from < blocks && status == FEN_OK; from += group) {
        const int64_t to = min_of(from + group, blocks);
#pragma omp parallel for schedule(dynamic)
        for (int64_t b = from; b < to; b++)
            for (int64_t col = 0; col < centres; col += p->cols)
                times_tile(p, b * TILE_ROWS, col, centres, coef, targets, out);
        status = fenp_task_at(task, (double)to / (double)blocks, err);
    }
    return status;
}

/* Whether a centre has a coefficient in some target. */
static int counts(const double *coef, int64_t targets, int64_t centres, int64_t j)
{
    int64_t t = 0;
    while (t < targets && coef[t * centres + j] == 0.0) t++;
    return t < targets;
}

/* The centres that count and their coefficients, in one arena. */
static fen_status pack_centres(fen_view centres, const double *coef, int64_t targets, int64_t count,
                               fenp_arena *arena, fen_view *rows, double **packed, fen_error *err)
{
    const int64_t p = centres.cols;
    const fen_status status =
        fenp_arena_open(arena, fenp_arena_bytes(count * p) + fenp_arena_bytes(count * targets),
                        "the centres of a kernel", err);
    if (status != FEN_OK) return status;
    double *x = fenp_arena_doubles(arena, count * p);
    *packed = fenp_arena_doubles(arena, count * targets);
    int64_t m = 0;
    for (int64_t j = 0; j < centres.rows; j++) {
        if (!counts(coef, targets, centres.rows, j)) continue;
        memcpy(x + m * p, row_of(centres, j), (size_t)p * sizeof *x);
        for (int64_t t = 0; t < targets; t++) (*packed)[t * count + m] = coef[t * centres.rows + j];
        m++;
    }
    *rows = (fen_view){ x, count, p, p };
    return FEN_OK;
}

static fen_status times(const fenp_kernel *k, fen_view rows, fen_view centres, const double *coef,
                        int64_t targets, double *out, const fenp_task *task, fen_error *err)
{
    plan p;
    fen_status status = plan_open(&p, k, rows, centres, err);
    if (status == FEN_OK) status = times_tiles(&p, centres.rows, coef, targets, out, task, err);
    plan_close(&p);
    return status;
}

fen_status fenp_gram_times(const fenp_kernel *k, fen_view rows, fen_view centres,
                           const double *coef, int64_t targets, double *out, const fenp_task *task,
                           fen_error *err)
{
    const int given = k->table->basis == FEN_PRECOMPUTED;
    const int64_t expected = given ? centres.rows : centres.cols;
    if (rows.cols != expected)
        return fenp_fail(err, FEN_BAD_DATA, "rows have %lld %s, but the model needs %lld",
                         (long long)rows.cols, given ? "kernel values" : "features",
                         (long long)expected);
    int64_t count = 0;
    for (int64_t j = 0; j < centres.rows; j++) count += counts(coef, targets, centres.rows, j);
    if (given || count > centres.rows - centres.rows / 8)
        return times(k, rows, centres, coef, targets, out, task, err);
    fenp_arena arena;
    double *packed;
    fen_status status = pack_centres(centres, coef, targets, count, &arena, &centres, &packed, err);
    if (status != FEN_OK) return status;
    status = times(k, rows, centres, packed, targets, out, task, err);
    fenp_arena_close(&arena);
    return status;
}

/* ---- whole rows -------------------------------------------------------------------------- */

static void rows_tile(const plan *p, int64_t row, int64_t col, double *const *out)
{
    tile t = tile_open(p, row, col, p->x.rows, p->z.rows);
    for (int64_t r = 0; r < t.rows; r += 2) {
        const double *values = tile_two(&t, r, t.cols);
        for (int64_t i = r; i < min_of(r + 2, t.rows); i++)
            memcpy(out[row + i] + col, values + (i - r) * p->cols, (size_t)t.cols * sizeof *values);
    }
}

fen_status fenp_gram_rows(const fenp_kernel *k, fen_view rows, fen_view centres, double *const *out,
                          fen_error *err)
{
    plan p;
    const fen_status status = plan_open(&p, k, rows, centres, err);
    if (status == FEN_OK) {
#pragma omp parallel for collapse(2) schedule(dynamic)
        for (int64_t row = 0; row < rows.rows; row += TILE_ROWS)
            for (int64_t col = 0; col < centres.rows; col += p.cols) rows_tile(&p, row, col, out);
    }
    plan_close(&p);
    return status;
}
