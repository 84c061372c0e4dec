/* prepare_hash.c -- a fingerprint of the rows that were used
 *
 *   row = sum over inputs of (mix(cell, input) - mix(0, input)), then targets and the weight
 *   hash = XXH3(row 1, row 2, ..., names of inputs, targets, weights, classes, reading)
 *
 * mix is the finaliser of splitmix64 on the bits of the cell plus the hash of the name, so
 * a single changed cell always changes its row. Bits are those of the double (one zero,
 * one NaN) or the hash of the text. Neither the order of the columns nor the file format
 * nor the blocks that the rows came in change the hash; sparse rows cost their entries. How the
 * file was read is part of it where the model knows, since its predictions go by that.
 * No defence against someone who wants two tables to agree.
 * Cost: about a nanosecond per cell; rows go in parallel.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/prepare_parts.h"
#include "simd/simd.h"

enum { INPUT = 1, TARGET, WEIGHT }; /* a name means another thing in another role */
enum { PARALLEL_CELLS = 1 << 15 };  /* below this, starting threads costs more    */

struct fenp_hash {
    XXH3_state_t *state;
};

/* What the cells of one input are hashed with. */
typedef struct item {
    uint64_t key, zero; /* zero: mix(0, key)                                   */
    const fenp_input *input;
    int64_t column;
    uint64_t *level; /* text columns: what a code adds to the row           */
} item;

typedef struct recipe {
    const fenp_block *block;
    const fenp_simd *simd;
    item *input; /* one per input                                       */
    item *target;
    item weight;
    int64_t numbers;        /* dense tables: inputs that are numbers ...           */
    int64_t *column;        /* ... their columns ...                               */
    uint64_t *key;          /* ... and keys                                        */
    uint64_t zeros;         /* sum of their mix(0, key)                            */
    int64_t *texts, others; /* dense tables: the other inputs                      */
} recipe;

/* ---- cells ----------------------------------------------------------------------------- */
static uint64_t add_bits(const item *it, uint64_t bits)
{
    return fenp_hash_bits(bits, it->key) - it->zero;
}

static uint64_t add_number(const item *it, double value)
{
    return fenp_hash_cell(value, it->key) - it->zero;
}

static uint64_t add_text(const item *it, const char *text)
{
    return add_bits(it, XXH3_64bits(text, strlen(text)) | 1); /* never the bits of a zero */
}

/* A number where training had text counts as its shortest text. */
static uint64_t add_cell(const item *it, double cell)
{
    char number[33];
    if (!it->input->text || isnan(cell)) return add_number(it, cell);
    if (it->level) return it->level[(int64_t)cell];
    number[fenp_print_double(cell, number)] = '\0';
    return add_text(it, number);
}

/* ---- rows ------------------------------------------------------------------------------ */
static uint64_t dense_row(const recipe *r, const double *cells)
{
    uint64_t sum = r->simd->hash_cells(cells, r->column, r->key, r->numbers) - r->zeros;
    for (int64_t k = 0; k < r->others; k++) {
        const item *it = &r->input[r->texts[k]];
        sum += add_cell(it, cells[it->column]);
    }
    return sum;
}

static uint64_t sparse_row(const recipe *r, const fen_table *table, int64_t row)
{
    const int64_t *input_of = r->block->input_of, last = input_of[table->cols - 1];
    uint64_t sum = last >= 0 ? add_cell(&r->input[last], table->label[row]) : 0;
    for (int64_t e = table->start[row]; e < table->start[row + 1]; e++) {
        const int64_t i = input_of[table->index[e]];
        if (i >= 0) sum += add_cell(&r->input[i], table->value[e]);
    }
    return sum;
}

static uint64_t whole_row(const recipe *r, int64_t i)
{
    const fenp_sample *s = r->block->rows;
    const fen_table *table = r->block->binding.table;
    const int64_t row = r->block->pick[i];
    uint64_t sum =
        table->start ? sparse_row(r, table, row) : dense_row(r, table->cells + row * table->cols);
    for (int64_t t = 0; t < s->targets; t++) sum += add_number(&r->target[t], s->y[t * s->n + i]);
    return sum + add_number(&r->weight, s->w[i]);
}

/* ---- recipes --------------------------------------------------------------------------- */
static item item_of(const char *name, uint64_t role)
{
    item it = { .key = name ? XXH3_64bits_withSeed(name, strlen(name), role) : role };
    it.zero = fenp_hash_bits(0, it.key);
    return it;
}

static void free_recipe(recipe *r, int64_t inputs)
{
    for (int64_t i = 0; r->input && i < inputs; i++) free(r->input[i].level);
    free(r->input);
    free(r->target);
    free(r->column);
    free(r->key);
    free(r->texts);
}

/* An input that the table has: among the numbers, or with the parts that its levels add. */
static int place_input(recipe *r, int64_t i)
{
    const fen_table *table = r->block->binding.table;
    item *it = &r->input[i];
    const fenp_column *column = &table->column[it->column];
    if (!it->input->text) {
        r->column[r->numbers] = it->column;
        r->key[r->numbers++] = it->key;
        r->zeros += it->zero;
        return 0;
    }
    r->texts[r->others++] = i;
    if (!column->text) return 0;
    it->level = fenp_new(column->level_count, sizeof *it->level);
    if (!it->level) return -1;
    for (int64_t k = 0; k < column->level_count; k++)
        it->level[k] = add_text(it, column->levels[k]);
    return 0;
}

static int make_recipe(const fenp_prep *prep, const fenp_block *block, recipe *r)
{
    *r = (recipe){ .block = block,
                   .simd = fenp_simd_get(),
                   .input = fenp_new_zeroed(prep->inputs, sizeof *r->input),
                   .target = fenp_new(prep->targets, sizeof *r->target),
                   .column = fenp_new(prep->inputs, sizeof *r->column),
                   .key = fenp_new(prep->inputs, sizeof *r->key),
                   .texts = fenp_new(prep->inputs, sizeof *r->texts) };
    if (!r->input || !r->target || !r->column || !r->key || !r->texts) return -1;
    for (int64_t i = 0; i < prep->inputs; i++) {
        r->input[i] = item_of(prep->input[i].name, INPUT);
        r->input[i].input = &prep->input[i];
        r->input[i].column = block->binding.input[i];
        if (r->input[i].column >= 0 && place_input(r, i) != 0) return -1;
    }
    for (int64_t t = 0; t < prep->targets; t++) r->target[t] = item_of(prep->target[t], TARGET);
    r->weight = item_of(prep->weights, WEIGHT);
    return 0;
}

/* ---- the hash -------------------------------------------------------------------------- */
fenp_hash *fenp_hash_new(void)
{
    fenp_hash *hash = fenp_new(1, sizeof *hash);
    if (!hash) return NULL;
    hash->state = XXH3_createState();
    if (hash->state) {
        XXH3_64bits_reset(hash->state);
        return hash;
    }
    free(hash);
    return NULL;
}

void fenp_hash_free(fenp_hash *hash)
{
    if (hash) XXH3_freeState(hash->state);
    free(hash);
}

fen_status fenp_hash_rows(fenp_hash *hash, const fenp_prep *prep, const fenp_block *block,
                          fen_error *err)
{
    const int64_t n = block->rows->n;
    const int parallel = n > 1 && block->binding.table->cols > PARALLEL_CELLS / n;
    uint64_t *row = fenp_new(n, sizeof *row);
    recipe r = { 0 };
    const int ready = row && make_recipe(prep, block, &r) == 0;
    if (ready) {
#pragma omp parallel for schedule(static) if (parallel)
        for (int64_t i = 0; i < n; i++) row[i] = whole_row(&r, i);
        XXH3_64bits_update(hash->state, row, (size_t)n * sizeof *row);
    }
    free_recipe(&r, prep->inputs);
    free(row);
    return ready ? FEN_OK : fenp_no_memory(err, 8 * (n + prep->inputs), "the hash of the rows");
}

static void hash_name(XXH3_state_t *state, const char *name)
{
    if (name) XXH3_64bits_update(state, name, strlen(name));
    XXH3_64bits_update(state, name ? "\0name" : "\0none", 6);
}

uint64_t fenp_hash_end(fenp_hash *hash, const fenp_prep *prep)
{
    for (int64_t i = 0; i < prep->inputs; i++) hash_name(hash->state, prep->input[i].name);
    for (int64_t t = 0; t < prep->targets; t++) hash_name(hash->state, prep->target[t]);
    hash_name(hash->state, prep->weights);
    for (int64_t k = 0; k < prep->class_count; k++) hash_name(hash->state, prep->classes[k]);
    const fen_reading *read = &prep->reading;
    const char marks[] = { read->separator, read->decimal, (char)read->header,
                           (char)read->counts_from };
    if (read->missing) hash_name(hash->state, read->missing);
    if (read->missing || read->counts_from >= 0)
        XXH3_64bits_update(hash->state, marks, sizeof marks);
    return XXH3_64bits_digest(hash->state);
}
