/* columns.c -- the indices that occur in sparse rows, and dense rows over them
 *
 * Kernels are made from dense rows. Indices that no row has take no room; what a row has
 * outside the columns counts for distances only, as the square that fill returns.
 */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "svm/parts.h"

static int by_size(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Few pairs among large indices: sorted, once each. */
static fen_status find_by_sorting(const fenp_rows *rows, int64_t pairs, fenp_columns *out,
                                  fen_error *err)
{
    out->index = fenp_new(pairs, sizeof *out->index);
    if (!out->index) return fenp_no_memory(err, 4 * pairs, "the indices of features");
    if (pairs > 0) memcpy(out->index, rows->index, (size_t)pairs * sizeof *out->index);
    qsort(out->index, (size_t)pairs, sizeof *out->index, by_size);
    out->count = 0;
    for (int64_t e = 0; e < pairs; e++)
        if (e == 0 || out->index[e] != out->index[out->count - 1])
            out->index[out->count++] = out->index[e];
    return FEN_OK;
}

/* Many: a bit for every index up to the largest. */
static fen_status find_by_marking(const fenp_rows *rows, int64_t pairs, fenp_columns *out,
                                  fen_error *err)
{
    const int64_t words = rows->largest / 64 + 1;
    uint64_t *seen = fenp_new_zeroed(words, sizeof *seen);
    if (!seen) return fenp_no_memory(err, 8 * words, "the indices of features");
    int64_t count = 0;
    for (int64_t e = 0; e < pairs; e++) {
        const uint64_t bit = (uint64_t)1 << (rows->index[e] % 64);
        count += !(seen[rows->index[e] / 64] & bit);
        seen[rows->index[e] / 64] |= bit;
    }
    out->index = fenp_new(count, sizeof *out->index);
    out->count = 0;
    for (int64_t w = 0; w < words && out->index; w++)
        for (uint64_t left = seen[w]; left; left &= left - 1)
            out->index[out->count++] = (int32_t)(w * 64 + __builtin_ctzll(left));
    free(seen);
    return out->index ? FEN_OK : fenp_no_memory(err, 4 * count, "the indices of features");
}

fen_status fenp_columns_find(const fenp_rows *rows, fenp_columns *out, fen_error *err)
{
    const int64_t pairs = rows->n ? rows->start[rows->n] : 0;
    return pairs < rows->largest / 64 ? find_by_sorting(rows, pairs, out, err)
                                      : find_by_marking(rows, pairs, out, err);
}

double fenp_columns_fill(const fenp_columns *columns, const fenp_rows *rows, int64_t row,
                         double *out)
{
    double outside = 0.0;
    int64_t j = 0;
    memset(out, 0, (size_t)columns->count * sizeof *out);
    for (int64_t e = rows->start[row]; e < rows->start[row + 1]; e++) {
        while (j < columns->count && columns->index[j] < rows->index[e]) j++;
        if (j < columns->count && columns->index[j] == rows->index[e])
            out[j] = rows->value[e];
        else
            outside += rows->value[e] * rows->value[e];
    }
    return outside;
}

fen_status fenp_svm_room(int64_t rows, int64_t columns, const char *what_for, fen_error *err)
{
    enum { LITTLE = 1 << 25 }; /* to ask the system takes longer than to train on a few rows */
    const int64_t bytes = fenp_bytes(rows, columns, sizeof(double));
    if (bytes >= 0 && (bytes <= LITTLE || bytes <= fenp_memory_available())) return FEN_OK;
    return fenp_no_memory(err, bytes, what_for);
}
