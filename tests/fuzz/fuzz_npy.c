/* fuzz_npy.c -- any bytes as a npy file: a table or one sentence, never a crash
 *
 * What is accepted must be consistent: the announced rows, all cells finite or missing. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include "base/registry.h"
#include "data/bytes.h"
#include "data/table.h"

static void check_block(const fen_table *block, int64_t row)
{
    if (block->rows < 1 || block->cols < 1 || block->first_line != row + 1) abort();
    for (int64_t k = 0; k < block->rows * block->cols; k++)
        if (isinf(block->cells[k])) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fen_format *format = fenp_find_format("npy");
    fen_options o = fen_options_default();
    fen_error err = { FEN_OK, "" };
    fen_bytes *in = NULL;
    void *state = NULL;
    if (fenp_bytes_from_memory("fuzz", data, (int64_t)size, &in, &err) != FEN_OK) return 0;
    format->sniff((const char *)data, (int64_t)size);
    fen_status status = format->open(in, &o, &state, &err);
    for (int64_t rows = 0; status == FEN_OK;) {
        fen_table *block = NULL;
        status = format->next(state, &block, &err);
        if (!block) break;
        check_block(block, rows);
        rows += block->rows;
        fen_table_free(block);
    }
    if (status != FEN_OK && !err.message[0]) abort();
    format->close(state);
    fenp_bytes_close(in);
    return 0;
}
