/* fuzz_csv.c -- any bytes as a CSV file: a table or one sentence, never a crash
 *
 * The first byte chooses the size of the blocks, the number of threads and the options. What is
 * accepted must be consistent, and the same in one block and in small ones; an error must be
 * the same error. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/registry.h"
#include "data/bytes.h"
#include "data/csv.h"

static void check_block(const fen_table *block)
{
    if (block->rows < 1 || block->cols < 1 || !block->cells) abort();
    for (int64_t i = 0; i < block->rows; i++)
        for (int64_t j = 0; j < block->cols; j++) {
            double cell = block->cells[i * block->cols + j];
            if (isinf(cell)) abort();
            if (isnan(cell) || !block->column[j].text) continue;
            if (cell < 0 || cell >= (double)block->column[j].level_count) abort();
        }
}

/* The whole table, or NULL and an error. */
static fen_table *read_all(const uint8_t *data, size_t size, const fen_options *o,
                           int64_t block_bytes, fen_error *err)
{
    const fen_format *csv = fenp_find_format("csv");
    fen_bytes *in = NULL;
    void *state = NULL;
    fen_table *all = fenp_table_new("fuzz");
    fen_status status = fenp_bytes_from_memory("fuzz", data, (int64_t)size, &in, err);
    if (status == FEN_OK) status = fenp_csv_open(in, o, block_bytes, &state, err);
    while (status == FEN_OK) {
        fen_table *block = NULL;
        status = csv->next(state, &block, err);
        if (!block) break;
        check_block(block);
        status = fenp_table_append(all, block, err);
        fen_table_free(block);
    }
    csv->close(state);
    fenp_bytes_close(in);
    if (status == FEN_OK) return all;
    if (!err->message[0]) abort();
    fen_table_free(all);
    return NULL;
}

static void compare(const fen_table *a, const fen_table *b)
{
    if (a->rows != b->rows || a->cols != b->cols || a->first_line != b->first_line) abort();
    for (int64_t j = 0; j < a->cols; j++) {
        const fenp_column *x = &a->column[j], *y = &b->column[j];
        if (strcmp(x->name, y->name) != 0 || x->text != y->text) abort();
        if (x->level_count != y->level_count) abort();
        for (int64_t k = 0; k < x->level_count; k++)
            if (strcmp(x->levels[k], y->levels[k]) != 0) abort();
    }
    for (int64_t i = 0; i < a->rows * a->cols; i++) {
        double x = a->cells[i], y = b->cells[i];
        if (x != y && !(isnan(x) && isnan(y))) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    fen_options o = fen_options_default();
    fen_error whole = { FEN_OK, "" }, pieces = { FEN_OK, "" };
    int64_t block_bytes = 1 + data[0] % 32;
    int32_t threads = 1 + (data[0] >> 5) % 2;
    if (data[0] & 0x40) o.text = "1,a";
    if (data[0] & 0x80) o.missing = "-1,nan,x";
    o.threads = 1;
    fen_table *a = read_all(data + 1, size - 1, &o, 1 << 22, &whole);
    o.threads = threads;
    fen_table *b = read_all(data + 1, size - 1, &o, block_bytes, &pieces);
    if (!a != !b || strcmp(whole.message, pieces.message) != 0) abort();
    if (a) compare(a, b);
    fen_table_free(a);
    fen_table_free(b);
    return 0;
}
