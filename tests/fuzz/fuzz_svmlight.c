/* fuzz_svmlight.c -- any bytes as an svmlight file: a table or one sentence, never a crash
 *
 * What is accepted must be consistent: ascending columns within the width, finite values.
 * The first byte chooses --index-base. Inputs with large legal indices are passed over: a
 * table of millions of named columns is correct, but slow. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include "base/registry.h"
#include "data/bytes.h"
#include "data/table.h"

static int has_large_index(const uint8_t *data, size_t size)
{
    size_t digits = 0;
    for (size_t i = 0; i < size; i++) {
        if (data[i] == ':' && digits >= 4 && digits <= 8) return 1;
        digits = data[i] >= '0' && data[i] <= '9' ? digits + (digits > 0 || data[i] > '0') : 0;
    }
    return 0;
}

static void check_block(const fen_table *block)
{
    if (block->rows < 1 || block->cols < 1 || block->start[0] != 0) abort();
    for (int64_t i = 0; i < block->rows; i++) {
        if (!isfinite(block->label[i]) || block->start[i + 1] < block->start[i]) abort();
        for (int64_t e = block->start[i]; e < block->start[i + 1]; e++) {
            int64_t before = e > block->start[i] ? block->index[e - 1] : -1;
            if (block->index[e] <= before || block->index[e] >= block->cols - 1) abort();
            if (!isfinite(block->value[e]) || block->value[e] == 0.0) abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fen_format *format = fenp_find_format("svmlight");
    fen_options o = fen_options_default();
    fen_error err = { FEN_OK, "" };
    fen_bytes *in = NULL;
    void *state = NULL;
    if (size < 1 || has_large_index(data, size)) return 0;
    o.index_base = data[0] % 3 - 1;
    data++, size--;
    if (fenp_bytes_from_memory("fuzz", data, (int64_t)size, &in, &err) != FEN_OK) return 0;
    format->sniff((const char *)data, (int64_t)size);
    fen_status status = format->open(in, &o, &state, &err);
    while (status == FEN_OK) {
        fen_table *block = NULL;
        status = format->next(state, &block, &err);
        if (!block) break;
        check_block(block);
        fen_table_free(block);
    }
    if (status != FEN_OK && !err.message[0]) abort();
    format->close(state);
    fenp_bytes_close(in);
    return 0;
}
