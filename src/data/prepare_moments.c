/* prepare_moments.c -- weight, mean and squares about the mean of every column
 *
 * Two sets of cells a, b with weights W, means m and squares S about them make one with
 *   W = W_a + W_b,  d = m_b - m_a,  m = m_a + d W_b / W,  S = S_a + S_b + d^2 W_a W_b / W
 * (Chan, Golub, LeVeque), so rows may come in any number of blocks.
 * Dense rows: tiles of ROWS x COLUMNS cells, which are merged in order, in long double. A quick
 *   pass over a tile takes range, sum and squares about c, the mean of its FIRST rows:
 *     m = c + sum / W,  S = squares - sum^2 / W
 *   That is all if no cell is a gap, c was near m (S >= squares / 4), and squares are neither huge
 *   nor tiny. Else two more passes over these columns of the tile, still in the cache: the mean,
 *   then squares about it with the remainder of the mean.
 * Sparse rows: entries are merged one by one, each input by one thread.
 * Special cases: huge or tiny weights and cells (the latter in the further passes) are multiplied
 *   by powers of two, so that no square leaves the range of a double, whatever the units. Squares
 *   of a tile of equal cells are 0.
 * Accuracy: a mean has an error of some eps of the deviation, not of the mean; squares
 *   some eps relative. The number of threads does not matter.
 * Cost: one pass over memory; three with gaps everywhere.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    ROWS = 512,              /* a multiple of STEP                                */
    COLUMNS = 256,           /* a multiple of WIDE                                */
    FIRST = 8,               /* rows whose mean is near the mean, mostly          */
    STEP = 16,               /* rows that go together; the next ones are fetched  */
    WIDE = 8,                /* columns that go together: a cache line            */
    AHEAD = 16,              /* entries that are fetched before their turn        */
    TILES_MAX = 1 << 13,     /* columns of tiles that wait to be merged           */
    EXPONENT_FREE = 200,     /* products of three such numbers are in range       */
    EXPONENT_MAX = 1000,     /* 2^1000 and its reciprocal are doubles             */
    PARALLEL_CELLS = 1 << 15 /* below this, starting threads costs more           */
};

/* Between these, squares that left the range of a double would not matter; and the part of the
 * squares that must be left without the mean: two bits are lost at most. */
static const double SQUARE_MIN = 0x1p-900, SQUARE_MAX = 0x1p900, SQUARE_KEPT = 0.25;

void fenp_moments_merge(fenp_moments *into, const fenp_moments *more)
{
    into->gaps += more->gaps;
    if (more->seen == 0) return;
    if (into->seen == 0 || more->least < into->least) into->least = more->least;
    if (into->seen == 0 || more->largest > into->largest) into->largest = more->largest;
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
/* One tile: rows at[0] .. at[rows-1], of which it has width cells; the last row stands there
 * again with weight 0, up to a multiple of STEP. Of every column: the sums of w off and of
 * w off^2, where off = unit cell - about. */
typedef struct tile {
    const double *at[ROWS];
    double weight[ROWS]; /* times 2^-weight_exponent                                  */
    double total;        /* of these weights                                          */
    int weight_exponent;
    int64_t rows, width;
    double least[COLUMNS], largest[COLUMNS], there[COLUMNS], gaps[COLUMNS];
    double about[COLUMNS], sum[COLUMNS], square[COLUMNS];
    double unit[COLUMNS]; /* 2^-exponent                                              */
    int exponent[COLUMNS];
    int again[COLUMNS / WIDE]; /* WIDE columns each: the further passes are for them  */
} tile;

static int exponent_of(double size)
{
    int exponent = 0;
    if (size > 0.0 && isfinite(size)) frexp(size, &exponent);
    if (abs(exponent) < EXPONENT_FREE) return 0;
    return exponent < -EXPONENT_MAX  ? -EXPONENT_MAX
           : exponent > EXPONENT_MAX ? EXPONENT_MAX
                                     : exponent;
}

/* Blocks of STEP rows and WIDE columns (a constant after inlining: sums stay in registers) or the
 * last ones. Comparisons with a gap are false, and what is computed from a gap is one: written like
 * this, compilers need no branch for it. */
INLINE void quick_block(tile *t, int64_t i, int64_t j, int64_t wide)
{
    double about[WIDE], least[WIDE], largest[WIDE], sum[WIDE], square[WIDE];
    for (int64_t k = 0; k < wide; k++) {
        least[k] = t->least[j + k], largest[k] = t->largest[j + k];
        about[k] = t->about[j + k], sum[k] = square[k] = 0.0;
    }
    for (int64_t end = i + STEP; i < end; i++) {
        const double *x = t->at[i] + j, w = t->weight[i];
#pragma omp simd
        for (int64_t k = 0; k < wide; k++) {
            const double off = x[k] - about[k];
            sum[k] += w * off;
            square[k] += w * off * off;
            least[k] = x[k] < least[k] ? x[k] : least[k];
            largest[k] = x[k] > largest[k] ? x[k] : largest[k];
        }
    }
    for (int64_t k = 0; k < wide; k++) {
        t->least[j + k] = least[k], t->largest[j + k] = largest[k];
        t->sum[j + k] += sum[k], t->square[j + k] += square[k];
    }
}

INLINE void mean_block(tile *t, int64_t i, int64_t j, int64_t wide)
{
    double unit[WIDE], sum[WIDE], there[WIDE], gaps[WIDE];
    for (int64_t k = 0; k < wide; k++) {
        unit[k] = t->unit[j + k];
        sum[k] = there[k] = gaps[k] = 0.0;
    }
    for (int64_t end = i + STEP < t->rows ? i + STEP : t->rows; i < end; i++) {
        const double *x = t->at[i] + j, w = t->weight[i];
#pragma omp simd
        for (int64_t k = 0; k < wide; k++) {
            const double term = w * (x[k] * unit[k]);
            double weight = w, gap = 1.0;
            if (x[k] != x[k])
                weight = 0.0;
            else
                gap = 0.0;
            sum[k] += term == term ? term : 0.0;
            there[k] += weight;
            gaps[k] += gap;
        }
    }
    for (int64_t k = 0; k < wide; k++) {
        t->sum[j + k] += sum[k], t->there[j + k] += there[k], t->gaps[j + k] += gaps[k];
    }
}

INLINE void square_block(tile *t, int64_t i, int64_t j, int64_t wide)
{
    double unit[WIDE], about[WIDE], sum[WIDE], square[WIDE];
    for (int64_t k = 0; k < wide; k++) {
        unit[k] = t->unit[j + k], about[k] = t->about[j + k];
        sum[k] = square[k] = 0.0;
    }
    for (int64_t end = i + STEP; i < end; i++) {
        const double *x = t->at[i] + j, w = t->weight[i];
#pragma omp simd
        for (int64_t k = 0; k < wide; k++) {
            const double far = x[k] * unit[k] - about[k];
            const double off = far == far ? far : 0.0;
            sum[k] += w * off;
            square[k] += w * off * off;
        }
    }
    for (int64_t k = 0; k < wide; k++) t->sum[j + k] += sum[k], t->square[j + k] += square[k];
}

typedef enum pass { QUICK, MEAN, SQUARES } pass;

INLINE void block_of(tile *t, pass p, int64_t i, int64_t j, int64_t wide)
{
    if (p == QUICK) quick_block(t, i, j, wide);
    if (p == MEAN) mean_block(t, i, j, wide);
    if (p == SQUARES) square_block(t, i, j, wide);
}

/* Block by block along the rows, nearly as memory has them. The next rows are fetched into the
 * second cache: in the first, they would push out what is known of the columns. */
INLINE void pass_over(tile *t, pass p)
{
    for (int64_t i = 0; i < t->rows; i += STEP) {
        const int64_t next = i + STEP < t->rows ? i + STEP : i;
        for (int64_t j = 0; j < t->width; j += WIDE) {
            if (p != QUICK && !t->again[j / WIDE]) continue;
            for (int64_t s = next; s < next + STEP; s++) __builtin_prefetch(t->at[s] + j, 0, 2);
            if (j + WIDE <= t->width)
                block_of(t, p, i, j, WIDE);
            else
                block_of(t, p, i, j, t->width - j);
        }
    }
}

INLINE void start(tile *t)
{
    const int64_t rows = t->rows < FIRST ? t->rows : FIRST;
    const double part = 1.0 / (double)rows;
    for (int64_t j = 0; j < t->width; j++) {
        t->least[j] = INFINITY, t->largest[j] = -INFINITY;
        t->about[j] = t->sum[j] = t->square[j] = t->gaps[j] = 0.0;
        t->there[j] = t->total;
        t->exponent[j] = 0;
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < t->width; j++) t->about[j] += t->at[i][j] * part;
}

/* Whether the quick pass suffices: with a gap, square is one, and comparisons are false. */
INLINE int quick_holds(const tile *t, int64_t j)
{
    const double sum = t->sum[j], square = t->square[j];
    if (t->least[j] == t->largest[j]) return square <= SQUARE_MAX;
    return square >= SQUARE_MIN && square <= SQUARE_MAX &&
           square - sum * (sum / t->total) >= SQUARE_KEPT * square;
}

/* Returns whether the further passes are for any column. */
INLINE int start_again(tile *t)
{
    int any = 0;
    for (int64_t j = 0; j < t->width; j += WIDE) {
        const int64_t end = j + WIDE < t->width ? j + WIDE : t->width;
        int again = 0;
        for (int64_t k = j; k < end; k++) again |= !quick_holds(t, k);
        t->again[j / WIDE] = again;
        any |= again;
        for (int64_t k = j; again && k < end; k++) {
            t->exponent[k] = exponent_of(fmax(fabs(t->least[k]), fabs(t->largest[k])));
            t->unit[k] = ldexp(1.0, -t->exponent[k]);
            t->sum[k] = t->square[k] = t->there[k] = 0.0;
        }
    }
    return any;
}

static void measure(tile *t)
{
    start(t);
    pass_over(t, QUICK);
    if (!start_again(t)) return;
    pass_over(t, MEAN);
    for (int64_t j = 0; j < t->width; j++) {
        if (!t->again[j / WIDE]) continue;
        t->about[j] = t->there[j] > 0.0 ? t->sum[j] / t->there[j] : 0.0;
        t->sum[j] = 0.0;
    }
    pass_over(t, SQUARES);
}

static inline long double times_power(long double x, int exponent)
{
    return exponent == 0 ? x : ldexpl(x, exponent);
}

static fenp_moments moments_of(const tile *t, int64_t j)
{
    fenp_moments m = { .least = t->least[j],
                       .largest = t->largest[j],
                       .gaps = (int64_t)t->gaps[j],
                       .seen = t->rows - (int64_t)t->gaps[j] };
    if (!(t->there[j] > 0.0)) return m; /* gaps only, or weights that vanish beside others */
    m.weight = times_power(t->there[j], t->weight_exponent);
    m.base = m.least;
    if (m.least == m.largest) return m;
    const long double rest = (long double)t->sum[j] / t->there[j];
    const long double square = t->square[j] - t->sum[j] * rest;
    const long double about = times_power(t->about[j], t->exponent[j]);
    m.base = (double)about; /* the same, unless it is tiny */
    m.rest = times_power(rest, t->exponent[j]) + (about - m.base);
    if (square > 0.0L) m.square = times_power(square, t->weight_exponent + 2 * t->exponent[j]);
    return m;
}

static void weigh_rows(tile *t, const double *w)
{
    double heaviest = 0.0;
    for (int64_t i = 0; i < t->rows; i++) heaviest = w[i] > heaviest ? w[i] : heaviest;
    t->weight_exponent = exponent_of(heaviest);
    const double unit = ldexp(1.0, -t->weight_exponent);
    t->total = 0.0;
    for (int64_t i = 0; i < t->rows; i++) t->total += t->weight[i] = w[i] * unit;
}

static void measure_tile(const fenp_block *b, int64_t row, int64_t column, fenp_moments *out)
{
    const fen_table *table = b->binding.table;
    tile t;
    t.rows = b->rows->n - row < ROWS ? b->rows->n - row : ROWS;
    t.width = table->cols - column < COLUMNS ? table->cols - column : COLUMNS;
    weigh_rows(&t, b->rows->w + row);
    for (int64_t i = 0; i < t.rows; i++)
        t.at[i] = table->cells + b->pick[row + i] * table->cols + column;
    for (int64_t i = t.rows; i % STEP != 0; i++) t.at[i] = t.at[i - 1], t.weight[i] = 0.0;
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
