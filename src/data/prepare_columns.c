/* prepare_columns.c -- sparse rows to sparse features by columns, and to their products
 *
 *   x_ij / scale_j of the entries that are there; zeros stay zeros, since sparse inputs are not
 *   centred, and are not stored. Products: f_i = sum_j w_j x_ij / scale_j, row by row.
 *
 * Method: entries of every feature are counted, then put in their places row by row, so that the
 *   rows of a column ascend. The label column, where it is an input, is dense in the table and
 *   goes along without its zeros.
 * Cost: two passes over the entries; memory for the entries and the columns, nothing more.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"

enum { PARALLEL_ROWS = 1000 }; /* below this, starting threads costs more */

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

static int make_route(const fenp_prep *prep, const fenp_binding *binding, route *out)
{
    const int64_t cols = binding->table->cols;
    out->feature = fenp_new(cols, sizeof *out->feature);
    out->scale = fenp_new(cols, sizeof *out->scale);
    if (!out->feature || !out->scale) return -1;
    for (int64_t j = 0; j < cols; j++) out->feature[j] = -1;
    for (int64_t i = 0, next = 0; i < prep->inputs; i++) {
        const int64_t column = binding->input[i];
        const int64_t features = fenp_input_features(&prep->input[i]);
        if (features > 0 && column >= 0) {
            out->feature[column] = next;
            out->scale[column] = prep->input[i].scale;
        }
        next += features;
    }
    return 0;
}

static void free_route(route *r)
{
    free(r->feature);
    free(r->scale);
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

/* Of a row in which some value leaves the range: which one. */
static fen_status too_far(const route *r, const fen_table *table, int64_t row, fen_error *err)
{
    char place[256];
    int64_t e = table->start[row], column = table->cols - 1;
    for (; e < table->start[row + 1]; e++)
        if (r->feature[table->index[e]] >= 0 &&
            !isfinite(table->value[e] / r->scale[table->index[e]])) {
            column = table->index[e];
            break;
        }
    return fenp_fail(err, FEN_BAD_DATA,
                     "%s: column \"%.60s\" is too far from the training values to be computed with",
                     fenp_table_place(table, row, place, sizeof place), table->column[column].name);
}

/* start[j + 1] counts column j, then is where it begins, then where it ends. */
static fen_status fill(const route *r, const fenp_block *block, fen_error *err)
{
    fenp_sample *s = block->rows;
    for (int64_t i = 0; i < s->n; i++)
        if (!put_row(r, block, i, s->start + 1, NULL))
            return too_far(r, block->binding.table, block->pick[i], err);
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
    fen_status status = s->start && make_route(prep, &block->binding, &r) == 0
                            ? fill(&r, block, err)
                            : fenp_no_memory(err, 8 * (s->p + 1), "the prepared inputs");
    free_route(&r);
    free(s->x);
    s->x = NULL;
    return status;
}

/* ---- products ------------------------------------------------------------------------ */

/* Adds what one cell contributes to the targets; 0: it leaves the range of a double. */
static int add(const route *r, int64_t column, double cell, const double *weights, int64_t p,
               int64_t targets, double *out)
{
    const int64_t feature = r->feature[column];
    if (feature < 0 || cell == 0.0) return 1;
    const double x = cell / r->scale[column];
    for (int64_t t = 0; t < targets; t++) out[t] += weights[t * p + feature] * x;
    return isfinite(x);
}

static fen_status multiply(const route *r, const fen_table *table, const double *weights, int64_t p,
                           int64_t targets, double *out, fen_error *err)
{
    int64_t bad = table->rows;
#pragma omp parallel for schedule(static) reduction(min : bad) if (table->rows > PARALLEL_ROWS)
    for (int64_t i = 0; i < table->rows; i++) {
        double *f = out + i * targets;
        memset(f, 0, (size_t)targets * sizeof *f);
        int fine = add(r, table->cols - 1, table->label[i], weights, p, targets, f);
        for (int64_t e = table->start[i]; e < table->start[i + 1]; e++)
            fine &= add(r, table->index[e], table->value[e], weights, p, targets, f);
        if (!fine && i < bad) bad = i;
    }
    return bad < table->rows ? too_far(r, table, bad, err) : FEN_OK;
}

fen_status fenp_prep_products(const fenp_prep *prep, const fen_table *table, const double *weights,
                              int64_t targets, double *out, fen_error *err)
{
    fenp_binding binding;
    route r = { NULL, NULL };
    fen_status status = fenp_bind(prep, table, 0, &binding, err);
    if (status != FEN_OK) return status;
    status = make_route(prep, &binding, &r) == 0
                 ? multiply(&r, table, weights, prep->features, targets, out, err)
                 : fenp_no_memory(err, 16 * table->cols, "the columns of the model");
    free_route(&r);
    fenp_unbind(&binding);
    return status;
}
