/* prepare_products.c -- statistics of columns and the products of all of them, in one pass
 *
 *     z = ((x - c)/d, 1, (y - c)/d),   S = sum of z z' over the rows
 *     mean = c + d S_1j/n,             deviation^2 = d^2 (S_jj/n - (S_1j/n)^2)
 *
 * Why: whoever makes a Gram matrix of standardised rows reads them twice, once for the means and
 *   deviations, and memory is slow: a tenth of the time of a path of 20000 x 500. But standardised
 *   features are d/deviation z + (c - mean)/deviation: any c and d will do that are near enough.
 * Method: c and d are mean and deviation of some rows, spread over all.
 * Special cases, all told by "no", upon which statistics are made in the usual way: anything but one
 *   target and inputs that are numbers, rows that are left out or weighed, columns that do not vary
 *   among the some rows, gaps and infinite cells (the pass ends at the first), numbers near the ends
 *   of their range, means far from c, deviations that are small beside the mean.
 * Accuracy: that of base/syrk.h; mean and deviation are off by some 1e-14 deviations.
 * Cost: n side^2 flops, side = inputs + 2; memory for S, and what base/syrk.h takes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/syrk.h"
#include "data/prepare_parts.h"
#include "simd/simd.h"

enum { SOME = 64, AHEAD = 8, LINE = 64 / sizeof(double) };
enum {
    MOST_SIDE = 1024,
    SHARE = 8
};                                   /* beyond which dsyrk itself is as good; of the memory limit */
static const double FAR = 10.0;      /* deviations, of a mean from c                           */
static const double FLAT = 1e-6;     /* of the mean, a deviation                               */
static const double LARGEST = 1e100; /* cells; and their inverses                              */

typedef struct pass {
    const fenp_simd *simd;
    const fen_table *table;
    int64_t target;  /* its column; those before and behind it are the inputs */
    double *at, *by; /* columns of the table: c and d                         */
} pass;

/* ---- for whom ------------------------------------------------------------------------------ */

static int are_numbers(const fenp_prep *prep)
{
    int64_t j = 0;
    while (j < prep->inputs && !prep->input[j].text) j++;
    return j == prep->inputs;
}

static int is_plain(const fenp_prep *prep, const fenp_block *b, const fen_options *o)
{
    const fen_table *table = b->binding.table;
    const int64_t side = prep->inputs + 2;
    const int64_t limit =
        o->memory_limit_bytes > 0 ? o->memory_limit_bytes : fenp_memory_available();
    const int asked = o->bias && strcmp(prep->scaling, "standard") == 0 &&
                      (strcmp(o->engine, "auto") == 0 || strcmp(o->engine, "active-set") == 0);
    return asked && prep->class_count == 0 && prep->targets == 1 && !prep->weights &&
           prep->inputs + 1 == table->cols && b->rows->n == table->rows && b->rows->n >= side &&
           side <= MOST_SIDE && 8 * side * side <= limit / SHARE && are_numbers(prep);
}

/* Mean and deviation of some rows; 0: one of them will not do. */
static int place(pass *s)
{
    const int64_t n = s->table->rows, cols = s->table->cols, some = n < SOME ? n : SOME;
    memset(s->at, 0, (size_t)(2 * cols) * sizeof *s->at);
    for (int64_t k = 0; k < some; k++)
        for (int64_t j = 0; j < cols; j++)
            s->at[j] += s->table->cells[k * n / some * cols + j] / (double)some;
    for (int64_t k = 0; k < some; k++)
        for (int64_t j = 0; j < cols; j++) {
            const double off = s->table->cells[k * n / some * cols + j] - s->at[j];
            s->by[j] += off * off / (double)some;
        }
    int fine = 1;
    for (int64_t j = 0; j < cols; j++) {
        s->by[j] = sqrt(s->by[j]);
        fine &= s->by[j] > 1.0 / LARGEST && s->by[j] < LARGEST && fabs(s->at[j]) < LARGEST &&
                s->by[j] > FLAT * fabs(s->at[j]);
    }
    return fine;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static const double *scaled_rows(const void *of, int64_t from, int64_t count, double *room)
{
    const pass *s = of;
    const int64_t cols = s->table->cols, t = s->target;
    double *to = room;
    for (int64_t i = from; i < from + count; i++, to += cols + 1) {
        const double *cells = s->table->cells + i * cols;
        if (i + AHEAD < s->table->rows) /* a row is often a page: see fenp_unwritten_rows */
            for (int64_t j = 0; j < cols; j += LINE)
                __builtin_prefetch(cells + AHEAD * cols + j, 0, 2);
        if (!s->simd->standardise(cells, s->at, s->by, t, to) ||
            !s->simd->standardise(cells + t + 1, s->at + t + 1, s->by + t + 1, cols - 1 - t,
                                  to + t))
            return NULL;
        to[cols - 1] = 1.0;
        to[cols] = (cells[t] - s->at[t]) / s->by[t];
    }
    return room;
}

/* ---- what they say ------------------------------------------------------------------------- */

/* Feature or target k of S; 0: its c was too far from the mean, or its deviation is next to none. */
static int judge(const pass *s, const fenp_raw_products *p, int64_t k, int64_t column, double *mean,
                 double *deviation)
{
    const int64_t side = p->side, ones = side - 2;
    const double n = (double)s->table->rows;
    const double sum = k < ones ? p->sum[ones * side + k] : p->sum[k * side + ones];
    const double off = sum / n, square = p->sum[k * side + k] / n - off * off;
    *mean = s->at[column] + s->by[column] * off;
    *deviation = s->by[column] * sqrt(square);
    return off * off <= FAR * FAR * square && *deviation<LARGEST && * deviation> FLAT * fabs(*mean);
}

/* Features are (d / deviation) z + (c - mean) / deviation, labels d z + c. Nothing is learned unless
 * all can be. */
static int conclude(const pass *s, fenp_prep *prep, fenp_raw_products *p)
{
    double mean, deviation;
    const int64_t inputs = prep->inputs, t = s->target;
    if (!judge(s, p, inputs + 1, t, &mean, &deviation)) return 0;
    for (int64_t k = 0; k < inputs; k++)
        if (!judge(s, p, k, k + (k >= t), &mean, &deviation)) return 0;
    for (int64_t k = 0; k < inputs; k++) {
        const int64_t column = k + (k >= t);
        judge(s, p, k, column, &mean, &deviation);
        p->unit[k] = s->by[column] / deviation;
        p->centre[k] = (s->at[column] - mean) / deviation;
        prep->input[k].fill = prep->input[k].center = mean, prep->input[k].scale = deviation;
    }
    p->unit[inputs] = 1.0, p->centre[inputs] = 0.0;
    p->unit[inputs + 1] = s->by[t], p->centre[inputs + 1] = s->at[t];
    return 1;
}

/* ---- the interface ------------------------------------------------------------------------- */

static fenp_raw_products *new_products(int64_t side)
{
    fenp_raw_products *p = fenp_new(1, sizeof *p);
    double *room = fenp_new(side * (side + 2), sizeof *room);
    if (p && room) {
        *p = (fenp_raw_products){ side, room, room + side * side, room + side * (side + 1) };
        return p;
    }
    free(p), free(room);
    return NULL;
}

void fenp_raw_products_free(fenp_raw_products *p)
{
    if (p) free(p->sum);
    free(p);
}

fenp_raw_products *fenp_learn_products(fenp_prep *prep, const fenp_block *b, const fen_options *o)
{
    if (!is_plain(prep, b, o)) return NULL;
    const int64_t cols = b->binding.table->cols;
    pass s = { .simd = fenp_simd_get(), .table = b->binding.table, .target = b->binding.target[0] };
    s.at = fenp_new(2 * cols, sizeof *s.at), s.by = s.at ? s.at + cols : NULL;
    fenp_raw_products *p = s.at && place(&s) ? new_products(cols + 1) : NULL;
    const fenp_syrk gram = { .n = s.table->rows,
                             .p = cols + 1,
                             .alpha = 1.0,
                             .ldx = cols + 1,
                             .by_rows = 1,
                             .rows = scaled_rows,
                             .of = &s,
                             .c = p ? p->sum : NULL,
                             .ldc = cols + 1 };
    const int fine = p && !fenp_syrk_run(&gram) && conclude(&s, prep, p);
    free(s.at);
    if (fine) return p;
    fenp_raw_products_free(p);
    return NULL;
}
