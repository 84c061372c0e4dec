/* prepare_sample.c -- the rows that are learned from
 *
 * A row needs every target and a positive weight; others are left out and counted.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"

static const double LARGEST_TARGET = 1e140; /* sums of squares stay in range */

/* ---- usable rows -------------------------------------------------------------------- */
static fen_status check_columns(const fenp_prep *prep, const fenp_binding *b, fen_error *err)
{
    const fen_table *table = b->table;
    for (int64_t t = 0; t < prep->targets; t++) {
        const fenp_column *c = b->target[t] >= 0 ? &table->column[b->target[t]] : NULL;
        if (c && c->text && c->level_count == 0 && prep->class_count == 0)
            return fenp_fail(err, FEN_BAD_DATA, "%.200s: column \"%.60s\", the target, is empty",
                             fenp_table_title(table), c->name);
    }
    if (b->weights >= 0 && table->column[b->weights].text)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s: column \"%.60s\" holds text, but weights "
                         "must be numbers >= 0",
                         fenp_table_title(table), prep->weights);
    return FEN_OK;
}

/* Where no row is usable no classes were found either: that is for fenp_enough_rows to say. */
static fen_status check_numbers(const fenp_prep *prep, const fenp_binding *b, const fenp_sample *s,
                                fen_error *err)
{
    for (int64_t t = 0; s->n > 0 && prep->class_count == 0 && t < prep->targets; t++) {
        const fenp_column *c = b->target[t] >= 0 ? &b->table->column[b->target[t]] : NULL;
        if (!c || !c->text) continue;
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s: column \"%.60s\" holds text (\"%.40s\"%s%.40s%s): "
                         "regression, which --approx or --task asks for, needs numbers; leave that "
                         "out, or choose a numeric column with --target",
                         fenp_table_title(b->table), c->name, c->levels[0],
                         c->level_count > 1 ? ", \"" : "", c->level_count > 1 ? c->levels[1] : "",
                         c->level_count > 2   ? "\", ..."
                         : c->level_count > 1 ? "\""
                                              : "");
    }
    return FEN_OK;
}

static fen_status bad_cell(const fen_table *table, int64_t row, const char *name,
                           const char *problem, fen_error *err)
{
    char place[256];
    return fenp_fail(err, FEN_BAD_DATA, "%s: column \"%.60s\" %s",
                     fenp_table_place(table, row, place, sizeof place), name, problem);
}

static fen_status read_class(const fenp_prep *prep, const fenp_binding *b, const fenp_codes *codes,
                             int64_t row, double *y, int *usable, fen_error *err)
{
    const double cell = fenp_bound_cell(b, row, b->target[0]);
    if (isinf(cell))
        return bad_cell(b->table, row, prep->target[0], "(the target) is infinite", err);
    *y = fenp_class_code(codes, cell);
    *usable = !isnan(*y);
    return FEN_OK;
}

/* Targets of row to y (one per target); *usable: none is missing. */
static fen_status read_targets(const fenp_prep *prep, const fenp_binding *b,
                               const fenp_codes *codes, int64_t row, double *y, int *usable,
                               fen_error *err)
{
    if (prep->class_count > 0) return read_class(prep, b, codes, row, y, usable, err);
    *usable = 1;
    for (int64_t t = 0; t < prep->targets; t++) {
        y[t] = fenp_bound_cell(b, row, b->target[t]);
        if (isinf(y[t]))
            return bad_cell(b->table, row, prep->target[t], "(the target) is infinite", err);
        if (fabs(y[t]) > LARGEST_TARGET || (y[t] != 0.0 && fabs(y[t]) < 1.0 / LARGEST_TARGET))
            return bad_cell(b->table, row, prep->target[t],
                            "(the target) is too large or too small for its square; rescale it",
                            err);
        *usable &= !isnan(y[t]);
    }
    return FEN_OK;
}

static fen_status read_weight(const fenp_prep *prep, const fenp_binding *b, int64_t row,
                              double *weight, fen_error *err)
{
    *weight = prep->weights ? fenp_bound_cell(b, row, b->weights) : 1.0;
    if (*weight < 0.0)
        return bad_cell(b->table, row, prep->weights,
                        "(the weight) is negative; weights must be >= 0", err);
    if (isinf(*weight))
        return bad_cell(b->table, row, prep->weights, "(the weight) is infinite", err);
    return FEN_OK;
}

fen_status fenp_enough_rows(const fenp_prep *prep, const char *title, const fenp_sample *counts,
                            fen_error *err)
{
    const int64_t rows = counts->n + counts->dropped_missing + counts->dropped_weightless;
    if (counts->n >= 2) return FEN_OK;
    if (rows == 0)
        return fenp_fail(err, FEN_BAD_DATA, "%.200s: no rows; at least 2 are needed", title);
    if (counts->dropped_weightless == rows)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s: the weight \"%.60s\" is 0 or missing in every "
                         "row; choose another column with --weights",
                         title, prep->weights);
    if (counts->n == 1)
        return fenp_fail(err, FEN_BAD_DATA, "%.200s: only 1 usable row; at least 2 are needed",
                         title);
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s: no usable row: %lld lack the target \"%.60s\"%s, "
                     "%lld have weight 0",
                     title, (long long)counts->dropped_missing, prep->target[0],
                     prep->targets > 1 ? " or another" : "", (long long)counts->dropped_weightless);
}

/* Cells of one column are so far apart that every one would be waited for. */
static void fetch_ahead(const fenp_prep *prep, const fenp_binding *b, int64_t row)
{
    enum { AHEAD = 16 };
    const fen_table *t = b->table;
    if (t->cells && row + AHEAD < t->rows && prep->targets > 0 && b->target[0] >= 0)
        __builtin_prefetch(t->cells + (row + AHEAD) * t->cols + b->target[0]);
}

/* Fills pick, y and w with the usable rows; y has room for all rows of every target. */
static fen_status collect(const fenp_prep *prep, const fenp_binding *b, const fenp_codes *codes,
                          fenp_sample *s, int64_t *pick, double *y, fen_error *err)
{
    long double sum = 0.0L;
    s->n = 0;
    for (int64_t i = 0; i < b->table->rows; i++) {
        int usable = 0;
        double weight;
        fetch_ahead(prep, b, i);
        fen_status status = read_targets(prep, b, codes, i, y + s->n * prep->targets, &usable, err);
        if (status == FEN_OK) status = read_weight(prep, b, i, &weight, err);
        if (status != FEN_OK) return status;
        int weighted = weight > 0.0; /* a missing weight is none */
        s->dropped_missing += !usable;
        s->dropped_weightless += usable && !weighted;
        if (!usable || !weighted) continue;
        if (prep->class_count > 0 && y[s->n] < 0.0)
            return bad_cell(b->table, i, prep->target[0], "(the target) is of no known class", err);
        s->w[s->n] = weight;
        sum += weight;
        pick[s->n++] = i;
    }
    s->weight_sum = (double)sum;
    for (int64_t t = 0; t < prep->targets; t++)
        for (int64_t i = 0; i < s->n; i++) s->y[t * s->n + i] = y[i * prep->targets + t];
    return FEN_OK;
}

static fen_status usable_rows(const fenp_prep *prep, const fenp_binding *binding,
                              fenp_sample **sample, int64_t **pick, fen_error *err)
{
    const fen_table *table = binding->table;
    fen_status status = check_columns(prep, binding, err);
    if (status != FEN_OK) return status;
    fenp_codes codes = { .classes = 0 };
    if (prep->class_count > 0)
        status = fenp_class_codes(prep, table, binding->target[0], &codes, err);
    if (status != FEN_OK) return status;
    fenp_sample *s = fenp_sample_new(table->rows, 0, prep->targets);
    int64_t *rows = fenp_new(table->rows, sizeof *rows);
    double *y = fenp_new(fenp_bytes(table->rows, prep->targets, sizeof *y), 1);
    if (s) s->title = fenp_table_title(table);
    if (s && rows && y)
        status = collect(prep, binding, &codes, s, rows, y, err);
    else
        status = fenp_no_memory(err, fenp_bytes(table->rows, 2 * prep->targets + 2, sizeof *y),
                                "the targets");
    if (status == FEN_OK) status = check_numbers(prep, binding, s, err);
    free(y);
    fenp_class_codes_free(&codes);
    if (status != FEN_OK) {
        fenp_sample_free(s);
        free(rows);
        return status;
    }
    *sample = s;
    *pick = rows;
    return FEN_OK;
}

/* ---- blocks ------------------------------------------------------------------------- */
static fen_status invert(const fenp_prep *prep, fenp_block *b, fen_error *err)
{
    const int64_t cols = b->binding.table->cols;
    b->input_of = fenp_new(cols, sizeof *b->input_of);
    if (!b->input_of) return fenp_no_memory(err, 8 * cols, "the columns");
    for (int64_t j = 0; j < cols; j++) b->input_of[j] = -1;
    for (int64_t i = 0; i < prep->inputs; i++)
        if (b->binding.input[i] >= 0) b->input_of[b->binding.input[i]] = i;
    return FEN_OK;
}

fen_status fenp_block_open(const fenp_prep *prep, const fen_table *table, fenp_block *out,
                           fen_error *err)
{
    *out = (fenp_block){ .pick = NULL };
    fen_status status = fenp_bind(prep, table, 1, &out->binding, err);
    if (status == FEN_OK) status = invert(prep, out, err);
    if (status == FEN_OK) status = usable_rows(prep, &out->binding, &out->rows, &out->pick, err);
    if (status != FEN_OK) fenp_block_close(out);
    return status;
}

void fenp_block_close(fenp_block *block)
{
    fenp_unbind(&block->binding);
    free(block->input_of);
    free(block->pick);
    fenp_sample_free(block->rows);
    fenp_raw_products_free(block->products);
    *block = (fenp_block){ .pick = NULL };
}

static fen_status dense_features(const fenp_prep *prep, fenp_block *block, fen_error *err)
{
    fenp_sample *rows = block->rows;
    int64_t bytes = fenp_bytes(rows->n, prep->features, sizeof(double));
    double *x = fenp_new_large(bytes, 1);
    if (!x) return fenp_no_memory(err, bytes, "the prepared inputs");
    free(rows->x);
    rows->x = x;
    rows->p = prep->features;
    return fenp_apply_rows(prep, &block->binding, block->pick, rows->n, x, err);
}

static fen_status leave_features(const fenp_prep *prep, fenp_block *block)
{
    free(block->rows->x);
    block->rows->x = NULL;
    block->rows->p = prep->features;
    return FEN_OK;
}

fen_status fenp_block_features(const fenp_prep *prep, fenp_block *block, fenp_sample **out,
                               fen_error *err)
{
    fenp_sample *rows = block->rows;
    fen_status status = block->by_columns && block->binding.table->start
                            ? fenp_block_columns(prep, block, err)
                        : block->unwritten ? leave_features(prep, block)
                                           : dense_features(prep, block, err);
    if (status != FEN_OK) return status;
    block->rows = NULL;
    *out = rows;
    return FEN_OK;
}

/* ---- the whole sample --------------------------------------------------------------- */
fen_status fenp_weight_vanishes(const char *place, const char *name, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_DATA,
                     "%s: column \"%.60s\" (the weight) vanishes beside the sum of the weights",
                     place, name);
}

static fen_status normalise_weights(const fenp_prep *prep, const fenp_block *b, fenp_sample *s,
                                    fen_error *err)
{
    for (int64_t i = 0; i < s->n; i++) {
        char place[256];
        s->w[i] /= s->weight_sum;
        if (s->w[i] < DBL_MIN)
            return fenp_weight_vanishes(
                fenp_table_place(b->binding.table, b->pick[i], place, sizeof place), prep->weights,
                err);
    }
    return FEN_OK;
}

fen_status fenp_block_sample(const fenp_prep *prep, fenp_block *block, fenp_sample **out,
                             fen_error *err)
{
    fenp_hash *hash = fenp_hash_new();
    if (!hash) return fenp_no_memory(err, 0, "the hash of the rows");
    fenp_sample *sample = NULL;
    const int nameless = block->nameless;
    fen_status status = nameless ? FEN_OK : fenp_hash_rows(hash, prep, block, err);
    if (status == FEN_OK) status = fenp_block_features(prep, block, &sample, err);
    if (status == FEN_OK) status = normalise_weights(prep, block, sample, err);
    if (status == FEN_OK && block->unwritten)
        status = fenp_unwritten_open(prep, block, sample->n, &sample->unwritten, err);
    if (status == FEN_OK) {
        sample->hash = nameless ? 0 : fenp_hash_end(hash, prep);
        sample->products = block->products, block->products = NULL;
        *out = sample;
    } else
        fenp_sample_free(sample);
    fenp_hash_free(hash);
    return status;
}

fen_status fenp_prep_sample(const fenp_prep *prep, const fen_table *table, fenp_sample **sample,
                            fen_error *err)
{
    fenp_block block;
    fen_status status = fenp_block_open(prep, table, &block, err);
    if (status != FEN_OK) return status;
    status = fenp_enough_rows(prep, fenp_table_title(table), block.rows, err);
    if (status == FEN_OK) status = fenp_block_sample(prep, &block, sample, err);
    fenp_block_close(&block);
    return status;
}
