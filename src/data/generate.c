/* generate.c -- built-in data whose truth is known
 *
 *   friedman  x1..x10 uniform on [0,1],
 *             y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise; x6..x10 are idle
 *   sparse    x1..x200 standard normal with corr(xi, xj) = 2^-|i-j|,
 *             y = 3 x1 - 3 x21 + 2.5 x41 - 2.5 x61 + 2 x81 - 2 x101 + 1.5 x121 - 1.5 x141
 *                 + x161 - x181 + noise
 *   sinc      x1 uniform on [-10,10], y = sin(pi x1) / (pi x1) + noise
 *   moons     half circles (cos t, sin t) for label 0 and (1 - cos t, 1/2 - sin t) for
 *             label 1, t uniform on [0,pi], noise on both inputs; labels by a fair coin
 *
 * noise is normal with standard deviation o->noise. Row i depends on the seed and i
 * alone, so a longer file begins with the rows of a shorter one.
 */
#include <math.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "base/registry.h"
#include "base/text.h"
#include "base/threads.h"
#include "data/columns.h"

/* Apart from the small stream numbers that selection uses under the same seed. */
static uint64_t stream_of(int64_t row) { return (UINT64_C(1) << 63) + (uint64_t)row; }

#define TEN(tens)                                                                             \
    "x" #tens "0", "x" #tens "1", "x" #tens "2", "x" #tens "3", "x" #tens "4", "x" #tens "5", \
        "x" #tens "6", "x" #tens "7", "x" #tens "8", "x" #tens "9"
static const char *const input_name[] = { "x1",    "x2",    "x3",    "x4",    "x5",    "x6",
                                          "x7",    "x8",    "x9",    TEN(1),  TEN(2),  TEN(3),
                                          TEN(4),  TEN(5),  TEN(6),  TEN(7),  TEN(8),  TEN(9),
                                          TEN(10), TEN(11), TEN(12), TEN(13), TEN(14), TEN(15),
                                          TEN(16), TEN(17), TEN(18), TEN(19), "x200" };
enum { FRIEDMAN_INPUTS = 10, SPARSE_INPUTS = 200, SPARSE_TERMS = 10 };

/* ---- friedman ----------------------------------------------------------------- */
static void friedman_row(uint64_t seed, int64_t row, double noise, double *x)
{
    uint64_t stream = stream_of(row);
    for (uint64_t j = 0; j < FRIEDMAN_INPUTS; j++) x[j] = fenp_uniform(seed, stream, j);
    x[FRIEDMAN_INPUTS] = 10.0 * sin(M_PI * x[0] * x[1]) + 20.0 * (x[2] - 0.5) * (x[2] - 0.5) +
                         10.0 * x[3] + 5.0 * x[4] + noise * fenp_normal(seed, stream, 0);
}
static const char *friedman_column(int64_t j) { return j < FRIEDMAN_INPUTS ? input_name[j] : "y"; }

/* ---- sparse ------------------------------------------------------------------- */
static void sparse_row(uint64_t seed, int64_t row, double noise, double *x)
{
    static const double coefficient[SPARSE_TERMS] = { 3, -3, 2.5, -2.5, 2, -2, 1.5, -1.5, 1, -1 };
    uint64_t stream = stream_of(row);
    x[0] = fenp_normal(seed, stream, 1);
    for (uint64_t j = 1; j < SPARSE_INPUTS; j++) /* variance 1/4 + 3/4 */
        x[j] = 0.5 * x[j - 1] + sqrt(0.75) * fenp_normal(seed, stream, j + 1);
    double y = noise * fenp_normal(seed, stream, 0);
    for (int term = 0; term < SPARSE_TERMS; term++)
        y += coefficient[term] * x[term * (SPARSE_INPUTS / SPARSE_TERMS)];
    x[SPARSE_INPUTS] = y;
}
static const char *sparse_column(int64_t j) { return j < SPARSE_INPUTS ? input_name[j] : "y"; }

/* ---- sinc --------------------------------------------------------------------- */
static void sinc_row(uint64_t seed, int64_t row, double noise, double *cells)
{
    uint64_t stream = stream_of(row);
    double x = 20.0 * fenp_uniform(seed, stream, 0) - 10.0;
    cells[0] = x;
    cells[1] = (x == 0.0 ? 1.0 : sin(M_PI * x) / (M_PI * x)) + noise * fenp_normal(seed, stream, 0);
}
static const char *sinc_column(int64_t j) { return j < 1 ? input_name[j] : "y"; }

/* ---- moons -------------------------------------------------------------------- */
static void moons_row(uint64_t seed, int64_t row, double noise, double *cells)
{
    uint64_t stream = stream_of(row);
    int second = fenp_uniform(seed, stream, 0) >= 0.5;
    double t = M_PI * fenp_uniform(seed, stream, 1);
    cells[0] = (second ? 1.0 - cos(t) : cos(t)) + noise * fenp_normal(seed, stream, 0);
    cells[1] = (second ? 0.5 - sin(t) : sin(t)) + noise * fenp_normal(seed, stream, 1);
    cells[2] = second;
}
static const char *moons_column(int64_t j) { return j < 2 ? input_name[j] : "label"; }

/* ---- any of them as a table ------------------------------------------------------ */
static fen_status unknown_generator(const char *name, fen_error *err)
{
    enum { NAMES_MAX = 32 };
    const char *names[NAMES_MAX + 1] = { NULL };
    char known[200] = "";
    for (int i = 0; i < NAMES_MAX && fenp_generators[i]; i++) names[i] = fenp_generators[i]->name;
    fenp_join(names, known, sizeof known);
    const char *near = fenp_nearest(name, names);
    if (near)
        return fenp_fail(err, FEN_BAD_CALL, "there is no generator \"%.60s\"; did you mean \"%s\"?",
                         name, near);
    return fenp_fail(err, FEN_BAD_CALL, "there is no generator \"%.60s\"; known are %s", name,
                     known);
}

static const char *generator_name(const void *generator, int64_t column, char space[32])
{
    (void)space;
    return ((const fen_generator *)generator)->column(column);
}

static fen_status fill(const fen_generator *generator, const fen_options *o, fen_table *table,
                       fen_error *err)
{
    fen_status status =
        fenp_table_name_columns(table, generator->columns, generator_name, generator, err);
    if (status != FEN_OK) return status;
    int64_t bytes = fenp_bytes(o->rows, table->cols, sizeof(double));
    table->cells = fenp_new(bytes, 1);
    if (!table->cells) return fenp_no_memory(err, bytes, "the rows (ask for fewer with --rows)");
    table->rows = o->rows;
    double noise = o->noise < 0.0 ? generator->noise : o->noise;
    fenp_threads before = fenp_threads_enter(o->threads);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < table->rows; i++)
        generator->row(o->seed, i, noise, table->cells + i * table->cols);
    fenp_threads_leave(before);
    return FEN_OK;
}

fen_status fen_table_generate(const char *name, const fen_options *o, fen_table **out,
                              fen_error *err)
{
    const fen_generator *generator = fenp_find_generator(name);
    if (!generator) return unknown_generator(name, err);
    if (o->rows < 1)
        return fenp_fail(err, FEN_BAD_CALL, "--rows is %lld; it must be at least 1",
                         (long long)o->rows);
    fen_table *table = fenp_table_new("");
    if (!table) return fenp_no_memory(err, (int64_t)sizeof *table, "a table");
    fen_status status = fill(generator, o, table, err);
    if (status == FEN_OK)
        *out = table;
    else
        fen_table_free(table);
    return status;
}

const fen_generator fenp_generator_friedman = {
    "friedman",          "y = 10 sin(pi x1 x2) + 20 (x3-0.5)^2 + 10 x4 + 5 x5, ten uniform inputs",
    FRIEDMAN_INPUTS + 1, 1.0,
    friedman_row,        friedman_column
};
const fen_generator fenp_generator_sparse = {
    "sparse",          "linear in 10 of 200 correlated normal inputs",
    SPARSE_INPUTS + 1, 1.0,
    sparse_row,        sparse_column
};
const fen_generator fenp_generator_sinc = { "sinc",   "y = sin(pi x)/(pi x), x uniform on [-10,10]",
                                            2,        0.1,
                                            sinc_row, sinc_column };
const fen_generator fenp_generator_moons = {
    "moons", "two interlocked half circles, label 0 or 1", 3, 0.1, moons_row, moons_column
};
