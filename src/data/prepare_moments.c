/* prepare_moments.c -- weight, mean and squares about the mean of every column
 *
 * Two sets of cells a, b with weights W, means m and squares S about them make one with
 *   W = W_a + W_b,  d = m_b - m_a,  m = m_a + d W_b / W,  S = S_a + S_b + d^2 W_a W_b / W
 * (Chan, Golub, LeVeque), so rows may come in any number of blocks.
 * Dense rows: tiles of ROWS x COLUMNS cells stay in the cache for three passes: range and
 *   gaps, mean, squares about it with the remainder of the mean; tiles of a column are
 *   merged in order, in long double. Sparse rows: entries are merged one by one, each input by
 *   one thread.
 * Special cases: cells and weights of a tile are multiplied by powers of two, so that no
 *   square leaves the range of a double, whatever the units.
 * Accuracy: a mean has an error of some eps of the deviation, not of the mean; squares
 *   some eps relative. The number of threads does not matter.
 * Cost: one pass over memory; half a nanosecond per cell with AVX-512. The loops are plain C,
 *   compiled three times as in kernel/distance.c; every variant gives the same bits.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    ROWS = 256,
    COLUMNS = 128,
    AHEAD = 16,              /* rows, or entries, that are fetched before their turn  */
    LINE = 8,                /* a cache line                                      */
    WIDE = 16,               /* columns that go together through a cached tile    */
    TILES_MAX = 1 << 13,     /* columns of tiles that wait to be merged           */
    EXPONENT_MAX = 1000,     /* 2^1000 and its reciprocal are doubles             */
    PARALLEL_CELLS = 1 << 15 /* below this, starting threads costs more           */
};

void fenp_moments_merge(fenp_moments *into, const fenp_moments *more)
{
    into->gaps += more->gaps;
    if (more->seen == 0) return;
    into->least = into->seen ? fmin(into->least, more->least) : more->least;
    into->largest = into->seen ? fmax(into->largest, more->largest) : more->largest;
    into->seen += more->seen;
    const long double weight = into->weight + more->weight;
    if (into->weight == 0.0L) into->base = more->base; /* and rest is 0 */
    const long double far = ((long double)more->base - into->base) + (more->rest - into->rest);
    const long double part = weight > 0.0L ? more->weight / weight : 0.0L;
    into->square += more->square + far * far * into->weight * part;
    into->rest += far * part;
    into->weight = weight;
}

/* ---- dense ------------------------------------------------------------------------------ */
/* One tile: rows at[0] .. at[rows-1], of which it has width cells. */
typedef struct tile {
    const double *at[ROWS];
    double weight[ROWS]; /* times 2^-weight_exponent: at most 1               */
    int weight_exponent;
    int64_t rows, width;
    double least[COLUMNS], largest[COLUMNS], there[COLUMNS], gaps[COLUMNS];
    double unit[COLUMNS]; /* a power of two: cells times it are at most 1      */
    double mean[COLUMNS], rest[COLUMNS], square[COLUMNS];
    int exponent[COLUMNS];
} tile;

static int exponent_of(double size)
{
    int exponent = 0;
    if (size > 0.0 && isfinite(size)) frexp(size, &exponent);
    return exponent < -EXPONENT_MAX  ? -EXPONENT_MAX
           : exponent > EXPONENT_MAX ? EXPONENT_MAX
                                     : exponent;
}

/* The first pass goes row by row, as memory does; the others find the tile in the cache and go
 * column by column, WIDE of them at a time (a constant after inlining: their sums stay in
 * registers) or the last ones. Comparisons with a gap are false, and what is computed from a gap
 * is one: written like this, compilers need no branch for it. */
INLINE void range_row(const double *restrict x, double w, int64_t width, double *restrict least,
                      double *restrict largest, double *restrict there, double *restrict gaps)
{
    for (int64_t j = 0; j < width; j++) {
        double weight = w, gap = 1.0;
        least[j] = x[j] < least[j] ? x[j] : least[j];
        largest[j] = x[j] > largest[j] ? x[j] : largest[j];
        if (x[j] != x[j])
            weight = 0.0;
        else
            gap = 0.0;
        there[j] += weight;
        gaps[j] += gap;
    }
}

INLINE void measure_range(tile *t)
{
    for (int64_t j = 0; j < t->width; j++) {
        t->least[j] = INFINITY, t->largest[j] = -INFINITY;
        t->there[j] = t->gaps[j] = 0.0;
    }
    for (int64_t i = 0; i < t->rows; i++) {
        const double *soon = t->at[i + AHEAD < t->rows ? i + AHEAD : i];
        for (int64_t j = 0; j < t->width; j += LINE) __builtin_prefetch(soon + j);
        range_row(t->at[i], t->weight[i], t->width, t->least, t->largest, t->there, t->gaps);
    }
    for (int64_t j = 0; j < t->width; j++) {
        t->exponent[j] = exponent_of(fmax(fabs(t->least[j]), fabs(t->largest[j])));
        t->unit[j] = ldexp(1.0, -t->exponent[j]);
    }
}

INLINE void mean_columns(tile *t, int64_t j, int64_t wide)
{
    double mean[WIDE], unit[WIDE];
    for (int64_t k = 0; k < wide; k++) mean[k] = 0.0, unit[k] = t->unit[j + k];
    for (int64_t i = 0; i < t->rows; i++) {
        const double *x = t->at[i] + j, w = t->weight[i];
#pragma omp simd
        for (int64_t k = 0; k < wide; k++) {
            const double term = w * (x[k] * unit[k]);
            mean[k] += term == term ? term : 0.0;
        }
    }
    for (int64_t k = 0; k < wide; k++)
        t->mean[j + k] = t->there[j + k] > 0.0 ? mean[k] / t->there[j + k] : mean[k];
}

INLINE void square_columns(tile *t, int64_t j, int64_t wide)
{
    double rest[WIDE], square[WIDE], unit[WIDE], mean[WIDE];
    for (int64_t k = 0; k < wide; k++) {
        rest[k] = square[k] = 0.0;
        unit[k] = t->unit[j + k], mean[k] = t->mean[j + k];
    }
    for (int64_t i = 0; i < t->rows; i++) {
        const double *x = t->at[i] + j, w = t->weight[i];
#pragma omp simd
        for (int64_t k = 0; k < wide; k++) {
            const double far = x[k] * unit[k] - mean[k];
            const double off = far == far ? far : 0.0;
            rest[k] += w * off;
            square[k] += w * off * off;
        }
    }
    for (int64_t k = 0; k < wide; k++) t->rest[j + k] = rest[k], t->square[j + k] = square[k];
}

INLINE void measure_columns(tile *t, int64_t j, int64_t wide)
{
    mean_columns(t, j, wide);
    square_columns(t, j, wide);
}

INLINE void measure_plain(tile *t)
{
    int64_t j = 0;
    measure_range(t);
    for (; j + WIDE <= t->width; j += WIDE) measure_columns(t, j, WIDE);
    if (j < t->width) measure_columns(t, j, t->width - j);
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void measure_avx512(tile *t) { measure_plain(t); }
__attribute__((target("avx2"))) static void measure_avx2(tile *t) { measure_plain(t); }

static void measure(tile *t)
{
    if (__builtin_cpu_supports("avx512f"))
        measure_avx512(t);
    else if (__builtin_cpu_supports("avx2"))
        measure_avx2(t);
    else
        measure_plain(t);
}
#else
static void measure(tile *t) { measure_plain(t); }
#endif

static fenp_moments moments_of(const tile *t, int64_t j)
{
    fenp_moments m = { .least = t->least[j],
                       .largest = t->largest[j],
                       .gaps = (int64_t)t->gaps[j],
                       .seen = t->rows - (int64_t)t->gaps[j] };
    if (!(t->there[j] > 0.0)) return m; /* gaps only, or weights that vanish beside others */
    const long double rest = (long double)t->rest[j] / t->there[j];
    const long double square = fmaxl(t->square[j] - t->rest[j] * rest, 0.0L);
    m.weight = ldexpl(t->there[j], t->weight_exponent);
    m.base = ldexp(t->mean[j], t->exponent[j]);
    m.rest = ldexpl(rest, t->exponent[j]);
    m.square = ldexpl(square, t->weight_exponent + 2 * t->exponent[j]);
    return m;
}

static void measure_tile(const fenp_block *b, int64_t row, int64_t column, fenp_moments *out)
{
    const fen_table *table = b->binding.table;
    tile t;
    double heaviest = 0.0;
    t.rows = b->rows->n - row < ROWS ? b->rows->n - row : ROWS;
    t.width = table->cols - column < COLUMNS ? table->cols - column : COLUMNS;
    for (int64_t i = 0; i < t.rows; i++) heaviest = fmax(heaviest, b->rows->w[row + i]);
    t.weight_exponent = exponent_of(heaviest);
    const double weight_unit = ldexp(1.0, -t.weight_exponent);
    for (int64_t i = 0; i < t.rows; i++) {
        t.at[i] = table->cells + b->pick[row + i] * table->cols + column;
        t.weight[i] = b->rows->w[row + i] * weight_unit;
    }
    measure(&t);
    for (int64_t j = 0; j < t.width; j++) out[j] = moments_of(&t, j);
}

static fen_status add_dense(const fenp_block *b, fenp_moments *of, fen_error *err)
{
    const int64_t cols = b->binding.table->cols, n = b->rows->n;
    const int64_t layers = cols < TILES_MAX / 2 ? TILES_MAX / cols : 1; /* at a time */
    const int64_t across = (cols + COLUMNS - 1) / COLUMNS;
    const int parallel = n > 1 && cols > PARALLEL_CELLS / n;
    fenp_moments *part = fenp_new(fenp_bytes(layers, cols, sizeof *part), 1);
    if (!part)
        return fenp_no_memory(err, fenp_bytes(layers, cols, sizeof *part), "column statistics");
#pragma omp parallel if (parallel)
    for (int64_t first = 0; first < n; first += layers * ROWS) {
        const int64_t left = (n - first + ROWS - 1) / ROWS, deep = left < layers ? left : layers;
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < deep * across; k++) {
            const int64_t layer = k / across, column = k % across * COLUMNS;
            measure_tile(b, first + layer * ROWS, column, part + layer * cols + column);
        }
#pragma omp for schedule(static)
        for (int64_t j = 0; j < cols; j++)
            for (int64_t layer = 0; layer < deep && b->input_of[j] >= 0; layer++)
                fenp_moments_merge(&of[b->input_of[j]], &part[layer * cols + j]);
    }
    free(part);
    return FEN_OK;
}

/* ---- sparse ----------------------------------------------------------------------------- */
/* Merges a set of one cell: what fenp_moments_merge does, without the set. */
static inline void add_cell(fenp_moments *m, double cell, double w)
{
    if (isnan(cell)) {
        m->gaps++;
        return;
    }
    if (m->seen == 0 || cell < m->least) m->least = cell;
    if (m->seen == 0 || cell > m->largest) m->largest = cell;
    m->seen++;
    const long double before = m->weight, weight = before + w;
    if (before == 0.0L) m->base = cell; /* and rest is 0 */
    const long double far = ((long double)cell - m->base) - m->rest;
    const long double part = weight > 0.0L ? w / weight : 0.0L;
    m->square += far * far * before * part;
    m->rest += far * part;
    m->weight = weight;
}

/* Inputs by turns of 64: frequent ones often stand together. */
static inline int is_mine(int64_t input, unsigned me, unsigned threads)
{
    return input >= 0 && ((unsigned)(input >> 6)) % threads == me;
}

/* The share of one thread. What is known of an input that comes soon is fetched ahead: rows
 * jump about among the inputs, and their moments are more than a cache holds. */
static void add_share(const fenp_block *b, unsigned me, unsigned threads, fenp_moments *of)
{
    const fen_table *table = b->binding.table;
    const int64_t last = b->input_of[table->cols - 1];
    for (int64_t i = 0; i < b->rows->n; i++) {
        const int64_t row = b->pick[i], end = table->start[row + 1];
        const double weight = b->rows->w[i];
        for (int64_t e = table->start[row]; e < end; e++) {
            const int64_t input = b->input_of[table->index[e]];
            const int64_t soon = e + AHEAD < end ? b->input_of[table->index[e + AHEAD]] : -1;
            if (is_mine(soon, me, threads)) {
                __builtin_prefetch(&of[soon], 1);
                __builtin_prefetch(&of[soon].seen, 1);
            }
            if (is_mine(input, me, threads)) add_cell(&of[input], table->value[e], weight);
        }
        if (is_mine(last, me, threads)) add_cell(&of[last], table->label[row], weight);
    }
}

/* Every thread has inputs of its own and reads all rows: the order of the sums stays. */
static void add_sparse(const fenp_block *b, fenp_moments *of)
{
    const fen_table *table = b->binding.table;
#pragma omp parallel if (table->start[table->rows] > PARALLEL_CELLS)
    add_share(b, (unsigned)omp_get_thread_num(), (unsigned)omp_get_num_threads(), of);
}

fen_status fenp_moments_add(const fenp_block *block, fenp_moments *of, fen_error *err)
{
    if (!block->binding.table->start) return add_dense(block, of, err);
    add_sparse(block, of);
    return FEN_OK;
}
