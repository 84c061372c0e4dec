/* prepare_columns.c -- sparse rows to sparse features, by columns
 *
 *   x_ij / scale_j of the entries that are there; zeros stay zeros, since sparse inputs are not
 *   centred, and are not stored.
 *
 * Method: entries of every feature are counted, then put in their places row by row, so that the
 *   rows of a column ascend. The label column, where it is an input, is dense in the table and
 *   goes along without its zeros.
 * Cost: two passes over the entries; memory for the entries and the columns, nothing more.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"

/* Entries of the rows of a block, labels included. */
static int64_t entries_of(const fenp_block *block)
{
    const fen_table *table = block->binding.table;
    int64_t entries = block->input_of[table->cols - 1] >= 0 ? block->rows->n : 0;
    for (int64_t i = 0; i < block->rows->n; i++)
        entries += table->start[block->pick[i] + 1] - table->start[block->pick[i]];
    return entries;
}

int64_t fenp_column_bytes(const fenp_prep *prep, const fenp_block *block)
{
    return fenp_bytes(entries_of(block), sizeof(double) + sizeof(int32_t), 1) +
           fenp_bytes(prep->features + 1, sizeof(int64_t), 1);
}

/* Where columns go: feature -1 stands for none. */
typedef struct route {
    int64_t *feature; /* of every column of the table */
    double *scale;
} route;

static int make_route(const fenp_prep *prep, const fenp_block *block, route *out)
{
    const fen_table *table = block->binding.table;
    out->feature = fenp_new(table->cols, sizeof *out->feature);
    out->scale = fenp_new(table->cols, sizeof *out->scale);
    if (!out->feature || !out->scale) return -1;
    for (int64_t j = 0; j < table->cols; j++) out->feature[j] = -1;
    for (int64_t i = 0, next = 0; i < prep->inputs; i++) {
        const int64_t column = block->binding.input[i],
                      features = fenp_input_features(&prep->input[i]);
        if (features > 0 && column >= 0) {
            out->feature[column] = next;
            out->scale[column] = prep->input[i].scale;
        }
        next += features;
    }
    return 0;
}

/* One row: counts its entries in at[feature], or (s not NULL) puts them there. 0: one of them
 * leaves the range of a double. */
static int put(const route *r, int64_t column, double cell, int32_t row, int64_t *at,
               fenp_sample *s)
{
    const int64_t feature = r->feature[column];
    if (feature < 0 || cell == 0.0) return 1;
    const int64_t place = at[feature]++;
    if (!s) return isfinite(cell / r->scale[column]);
    s->row[place] = row;
    s->value[place] = cell / r->scale[column];
    return 1;
}

static int put_row(const route *r, const fenp_block *block, int64_t i, int64_t *at, fenp_sample *s)
{
    const fen_table *table = block->binding.table;
    const int64_t row = block->pick[i];
    int fine = put(r, table->cols - 1, table->label[row], (int32_t)i, at, s);
    for (int64_t e = table->start[row]; e < table->start[row + 1]; e++)
        fine &= put(r, table->index[e], table->value[e], (int32_t)i, at, s);
    return fine;
}

static fen_status too_far(const fenp_block *block, int64_t i, fen_error *err)
{
    char place[256];
    return fenp_fail(err, FEN_BAD_DATA,
                     "%s: a value is not finite or too far from the training values to be "
                     "computed with",
                     fenp_table_place(block->binding.table, block->pick[i], place, sizeof place));
}

/* start[j + 1] counts column j, then is where it begins, then where it ends. */
static fen_status fill(const route *r, const fenp_block *block, fen_error *err)
{
    fenp_sample *s = block->rows;
    for (int64_t i = 0; i < s->n; i++)
        if (!put_row(r, block, i, s->start + 1, NULL)) return too_far(block, i, err);
    int64_t sum = 0;
    for (int64_t j = 1; j <= s->p; j++) {
        const int64_t count = s->start[j];
        s->start[j] = sum;
        sum += count;
    }
    s->row = fenp_new(sum, sizeof *s->row);
    s->value = fenp_new(sum, sizeof *s->value);
    if (!s->row || !s->value)
        return fenp_no_memory(err, fenp_bytes(sum, 12, 1), "the prepared inputs");
    for (int64_t i = 0; i < s->n; i++) put_row(r, block, i, s->start + 1, s);
    return FEN_OK;
}

fen_status fenp_block_columns(const fenp_prep *prep, const fenp_block *block, fen_error *err)
{
    fenp_sample *s = block->rows;
    if (s->n > INT32_MAX)
        return fenp_fail(err, FEN_BAD_DATA, "%.200s has more than %d rows, too many for columns",
                         fenp_table_title(block->binding.table), INT32_MAX);
    route r = { NULL, NULL };
    s->p = prep->features;
    s->start = fenp_new_zeroed(s->p + 1, sizeof *s->start);
    fen_status status = s->start && make_route(prep, block, &r) == 0
                            ? fill(&r, block, err)
                            : fenp_no_memory(err, 8 * (s->p + 1), "the prepared inputs");
    free(r.feature);
    free(r.scale);
    free(s->x);
    s->x = NULL;
    return status;
}
