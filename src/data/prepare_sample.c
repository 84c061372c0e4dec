/* prepare_sample.c -- the rows that are learned from
 *
 * A row needs every target and a positive weight; others are left out and counted.
 * hash: XXH3 over the names of inputs, targets and weights, then for every row used the
 * pairs (input, cell) whose cell is not 0, the targets and the weight. Cells are the bits
 * of the double (one zero, one NaN) or the hash of the text, inputs come in training
 * order: neither the order of the columns nor the file format changes it, and sparse
 * rows cost their entries.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/prepare_parts.h"

static const double LARGEST_TARGET = 1e140; /* sums of squares stay in range */

/* ---- usable rows -------------------------------------------------------------------- */
static fen_status check_target(const fen_table *table, int64_t column, fen_error *err)
{
    const fenp_column *c = column >= 0 ? &table->column[column] : NULL;
    if (!c || !c->text) return FEN_OK;
    if (c->level_count == 0)
        return fenp_fail(err, FEN_BAD_DATA, "%.200s: column \"%.60s\", the target, is empty",
                         fenp_table_title(table), c->name);
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s: column \"%.60s\" holds text (\"%.40s\"%s%.40s%s): "
                     "classification is not available yet, choose a numeric column with --target",
                     fenp_table_title(table), c->name, c->levels[0],
                     c->level_count > 1 ? ", \"" : "", c->level_count > 1 ? c->levels[1] : "",
                     c->level_count > 2   ? "\", ..."
                     : c->level_count > 1 ? "\""
                                          : "");
}

static fen_status bad_cell(const fen_table *table, int64_t row, const char *name,
                           const char *problem, fen_error *err)
{
    char place[256];
    return fenp_fail(err, FEN_BAD_DATA, "%s: column \"%.60s\" %s",
                     fenp_table_place(table, row, place, sizeof place), name, problem);
}

/* Targets of row to y (one per target); *usable: none is missing. */
static fen_status read_targets(const fenp_prep *prep, const fenp_binding *b, int64_t row, double *y,
                               int *usable, fen_error *err)
{
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

static fen_status say_too_few(const fenp_prep *prep, const fen_table *table, const fenp_sample *s,
                              fen_error *err)
{
    const char *title = fenp_table_title(table);
    if (table->rows == 0)
        return fenp_fail(err, FEN_BAD_DATA, "%.200s: no rows; at least 2 are needed", title);
    if (s->dropped_weightless == table->rows)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s: the weight \"%.60s\" is 0 or missing in every "
                         "row; choose another column with --weights",
                         title, prep->weights);
    if (s->n == 1)
        return fenp_fail(err, FEN_BAD_DATA, "%.200s: only 1 usable row; at least 2 are needed",
                         title);
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s: no usable row: %lld lack the target \"%.60s\"%s, "
                     "%lld have weight 0",
                     title, (long long)s->dropped_missing, prep->target[0],
                     prep->targets > 1 ? " or another" : "", (long long)s->dropped_weightless);
}

/* Fills pick, y and w with the usable rows; y has room for all rows of every target. */
static fen_status collect(const fenp_prep *prep, const fenp_binding *b, fenp_sample *s,
                          int64_t *pick, double *y, fen_error *err)
{
    long double sum = 0.0L;
    s->n = 0;
    for (int64_t i = 0; i < b->table->rows; i++) {
        int usable;
        double weight;
        fen_status status = read_targets(prep, b, i, y + s->n * prep->targets, &usable, err);
        if (status == FEN_OK) status = read_weight(prep, b, i, &weight, err);
        if (status != FEN_OK) return status;
        int weighted = weight > 0.0; /* a missing weight is none */
        s->dropped_missing += !usable;
        s->dropped_weightless += usable && !weighted;
        if (!usable || !weighted) continue;
        s->w[s->n] = weight;
        sum += weight;
        pick[s->n++] = i;
    }
    s->weight_sum = (double)sum;
    if (s->n < 2) return say_too_few(prep, b->table, s, err);
    for (int64_t t = 0; t < prep->targets; t++)
        for (int64_t i = 0; i < s->n; i++) s->y[t * s->n + i] = y[i * prep->targets + t];
    return FEN_OK;
}

fen_status fenp_usable_rows(const fenp_prep *prep, const fenp_binding *binding,
                            fenp_sample **sample, int64_t **pick, fen_error *err)
{
    const fen_table *table = binding->table;
    fen_status status = FEN_OK;
    for (int64_t t = 0; status == FEN_OK && t < prep->targets; t++)
        status = check_target(table, binding->target[t], err);
    if (status == FEN_OK && binding->weights >= 0 && table->column[binding->weights].text)
        status = fenp_fail(err, FEN_BAD_DATA,
                           "%.200s: column \"%.60s\" holds text, but weights "
                           "must be numbers >= 0",
                           fenp_table_title(table), prep->weights);
    if (status != FEN_OK) return status;
    fenp_sample *s = fenp_sample_new(table->rows, 0, prep->targets);
    int64_t *rows = fenp_new(table->rows, sizeof *rows);
    double *y = fenp_new(fenp_bytes(table->rows, prep->targets, sizeof *y), 1);
    if (s && rows && y)
        status = collect(prep, binding, s, rows, y, err);
    else
        status = fenp_no_memory(err, fenp_bytes(table->rows, 2 * prep->targets + 2, sizeof *y),
                                "the targets");
    free(y);
    if (status != FEN_OK) {
        fenp_sample_free(s);
        free(rows);
        return status;
    }
    *sample = s;
    *pick = rows;
    return FEN_OK;
}

/* ---- hash --------------------------------------------------------------------------- */
typedef struct pair {
    uint64_t input, cell;
} pair;

static uint64_t number_bits(double value)
{
    uint64_t bits = UINT64_C(0x7ff8000000000000); /* the one NaN */
    if (value == 0.0) return 0;
    if (!isnan(value)) memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t cell_bits(const fenp_input *input, const fenp_column *column, double cell)
{
    char number[33];
    const char *text = number;
    if (!input->text || isnan(cell)) return number_bits(cell);
    if (column && column->text)
        text = column->levels[(int64_t)cell];
    else
        number[fenp_print_double(cell, number)] = '\0';
    return XXH3_64bits(text, strlen(text)) | 1; /* never the bits of a zero */
}

static int by_input(const void *a, const void *b)
{
    uint64_t x = ((const pair *)a)->input, y = ((const pair *)b)->input;
    return (x > y) - (x < y);
}

static void add_pair(const fenp_prep *prep, const fen_table *table, int64_t input, int64_t column,
                     double cell, pair *out, int64_t *count)
{
    uint64_t bits = cell_bits(&prep->input[input], &table->column[column], cell);
    out[*count] = (pair){ (uint64_t)input, bits };
    *count += bits != 0;
}

/* The nonzero cells of a row, by input. input_of: column -> input, -1: none (sparse only). */
static int64_t row_pairs(const fenp_prep *prep, const fenp_binding *b, const int64_t *input_of,
                         int64_t row, pair *out)
{
    const fen_table *table = b->table;
    int64_t count = 0;
    if (!table->start) {
        for (int64_t i = 0; i < prep->inputs; i++)
            add_pair(prep, table, i, b->input[i], table->cells[row * table->cols + b->input[i]],
                     out, &count);
        return count;
    }
    for (int64_t e = table->start[row]; e < table->start[row + 1]; e++)
        if (input_of[table->index[e]] >= 0)
            add_pair(prep, table, input_of[table->index[e]], table->index[e], table->value[e], out,
                     &count);
    int64_t last = table->cols - 1;
    if (input_of[last] >= 0)
        add_pair(prep, table, input_of[last], last, table->label[row], out, &count);
    for (int64_t k = 1; k < count; k++)
        if (out[k - 1].input > out[k].input) {
            qsort(out, (size_t)count, sizeof *out, by_input);
            break;
        }
    return count;
}

static void hash_name(XXH3_state_t *state, const char *name)
{
    if (name) XXH3_64bits_update(state, name, strlen(name));
    XXH3_64bits_update(state, name ? "\0name" : "\0none", 6);
}

static void hash_names(const fenp_prep *prep, XXH3_state_t *state)
{
    for (int64_t i = 0; i < prep->inputs; i++) hash_name(state, prep->input[i].name);
    for (int64_t t = 0; t < prep->targets; t++) hash_name(state, prep->target[t]);
    hash_name(state, prep->weights);
}

/* buffer: room for all inputs, targets and two more */
static void hash_rows(const fenp_prep *prep, const fenp_binding *b, const int64_t *input_of,
                      const int64_t *pick, const fenp_sample *s, pair *buffer, XXH3_state_t *state)
{
    for (int64_t i = 0; i < s->n; i++) {
        int64_t count = row_pairs(prep, b, input_of, pick[i], buffer);
        for (int64_t t = 0; t < s->targets; t++)
            buffer[count++] = (pair){ UINT64_MAX, number_bits(s->y[t * s->n + i]) };
        buffer[count++] = (pair){ UINT64_MAX - 1, number_bits(s->w[i]) };
        XXH3_64bits_update(state, buffer, (size_t)count * sizeof *buffer);
    }
}

static fen_status hash_sample(const fenp_prep *prep, const fenp_binding *b, const int64_t *pick,
                              fenp_sample *s, fen_error *err)
{
    int64_t room = prep->inputs + prep->targets + 2, cols = b->table->cols;
    pair *buffer = fenp_new(room, sizeof *buffer);
    int64_t *input_of = b->table->start ? fenp_new(cols, sizeof *input_of) : NULL;
    XXH3_state_t *state = XXH3_createState();
    fen_status status = FEN_OK;
    if (buffer && state && (input_of || !b->table->start)) {
        for (int64_t j = 0; input_of && j < cols; j++) input_of[j] = -1;
        for (int64_t i = 0; input_of && i < prep->inputs; i++)
            if (b->input[i] >= 0) input_of[b->input[i]] = i;
        XXH3_64bits_reset(state);
        hash_names(prep, state);
        hash_rows(prep, b, input_of, pick, s, buffer, state);
        s->hash = XXH3_64bits_digest(state);
    } else
        status = fenp_no_memory(err, room * (int64_t)sizeof *buffer, "the hash of the rows");
    XXH3_freeState(state);
    free(input_of);
    free(buffer);
    return status;
}

/* ---- the whole sample --------------------------------------------------------------- */
static fen_status normalise_weights(const fenp_prep *prep, const fenp_binding *b,
                                    const int64_t *pick, fenp_sample *s, fen_error *err)
{
    for (int64_t i = 0; i < s->n; i++) {
        s->w[i] /= s->weight_sum;
        if (s->w[i] < DBL_MIN)
            return bad_cell(b->table, pick[i], prep->weights,
                            "(the weight) vanishes beside the sum of the weights", err);
    }
    return FEN_OK;
}

fen_status fenp_finish_sample(const fenp_prep *prep, const fenp_binding *binding,
                              const int64_t *pick, fenp_sample *sample, fen_error *err)
{
    int64_t bytes = fenp_bytes(sample->n, prep->features, sizeof(double));
    double *x = fenp_new(bytes, 1);
    if (!x) return fenp_no_memory(err, bytes, "the prepared inputs");
    free(sample->x);
    sample->x = x;
    sample->p = prep->features;
    fen_status status = fenp_apply_rows(prep, binding, pick, sample->n, x, err);
    if (status == FEN_OK) status = hash_sample(prep, binding, pick, sample, err);
    return status == FEN_OK ? normalise_weights(prep, binding, pick, sample, err) : status;
}

fen_status fenp_prep_sample(const fenp_prep *prep, const fen_table *table, fenp_sample **sample,
                            fen_error *err)
{
    fenp_binding binding;
    fenp_sample *made = NULL;
    int64_t *pick = NULL;
    fen_status status = fenp_bind(prep, table, 1, &binding, err);
    if (status != FEN_OK) return status;
    status = fenp_usable_rows(prep, &binding, &made, &pick, err);
    if (status == FEN_OK) status = fenp_finish_sample(prep, &binding, pick, made, err);
    if (status == FEN_OK)
        *sample = made;
    else
        fenp_sample_free(made);
    free(pick);
    fenp_unbind(&binding);
    return status;
}
