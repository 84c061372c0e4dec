/* csv_write.c -- tables as CSV: a header, then rows
 *
 * Numbers are the shortest text that reads back as the same double; missing cells are empty.
 * Names and text cells are quoted where a reader could take them for something else: if they
 * hold a separator, a quote or a newline, begin or end with a blank, or are names that look
 * like numbers. A table of one column writes its missing cells as "", because a blank line
 * would be no row. Sparse rows are written out in full. In a file called .tsv tabs separate.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/bytes.h"
#include "data/csv.h"

typedef struct writer {
    fen_sink *sink;
    int64_t cols;
    char separator;
    double *row; /* a sparse row written out */
} writer;

static int needs_quotes(const char *text, int64_t cols)
{
    size_t length = strlen(text);
    if (length == 0) return 1;
    if (text[0] == ' ' || text[length - 1] == ' ') return 1;
    /* in a single column a blank might be taken for the separator */
    return text[strcspn(text, cols == 1 ? ",;|\t\"\n\r " : ",;|\t\"\n\r")] != 0;
}

static fen_status put_text(writer *w, const char *text, int quotes, fen_error *err)
{
    if (!quotes) return fen_sink_write(w->sink, text, (int64_t)strlen(text), err);
    fen_status status = fen_sink_write(w->sink, "\"", 1, err);
    while (status == FEN_OK && *text) {
        size_t plain = strcspn(text, "\"");
        status = fen_sink_write(w->sink, text, (int64_t)plain, err);
        text += plain;
        if (status == FEN_OK && *text == '"') {
            status = fen_sink_write(w->sink, "\"\"", 2, err);
            text++;
        }
    }
    return status == FEN_OK ? fen_sink_write(w->sink, "\"", 1, err) : status;
}

static fen_status put_name(writer *w, const char *name, fen_error *err)
{
    double value;
    int number = fenp_parse_double(name, (int64_t)strlen(name), &value);
    return put_text(w, name, number || needs_quotes(name, w->cols), err);
}

static fen_status put_cell(writer *w, const fenp_column *column, double value, fen_error *err)
{
    if (isnan(value)) return fen_sink_write(w->sink, "\"\"", w->cols == 1 ? 2 : 0, err);
    if (column->text) {
        const char *text = column->levels[(int64_t)value];
        return put_text(w, text, needs_quotes(text, w->cols), err);
    }
    char text[32];
    return fen_sink_write(w->sink, text, fenp_print_double(value, text), err);
}

/* What stands after column j. */
static fen_status put_end(writer *w, int64_t j, fen_error *err)
{
    return fen_sink_write(w->sink, j + 1 < w->cols ? &w->separator : "\n", 1, err);
}

fen_status fenp_csv_begin(fen_sink *sink, const fen_table *block, void **state, fen_error *err)
{
    writer *w = fenp_new_zeroed(1, sizeof *w);
    if (w) w->row = fenp_new(block->cols, sizeof *w->row);
    if (!w || !w->row) {
        free(w);
        return fenp_no_memory(err, fenp_bytes(block->cols, 1, 8), "a CSV writer");
    }
    w->sink = sink;
    w->cols = block->cols;
    const char *ending = strrchr(fen_sink_name(sink), '.');
    w->separator = ending && strcasecmp(ending, ".tsv") == 0 ? '\t' : ',';
    fen_status status = FEN_OK;
    for (int64_t j = 0; j < w->cols && status == FEN_OK; j++) {
        status = put_name(w, block->column[j].name, err);
        if (status == FEN_OK) status = put_end(w, j, err);
    }
    *state = w;
    return status;
}

static const double *dense_row(writer *w, const fen_table *block, int64_t i)
{
    if (block->cells) return block->cells + i * block->cols;
    memset(w->row, 0, (size_t)w->cols * sizeof *w->row);
    for (int64_t e = block->start[i]; e < block->start[i + 1]; e++)
        w->row[block->index[e]] = block->value[e];
    w->row[w->cols - 1] = block->label[i];
    return w->row;
}

fen_status fenp_csv_rows(void *state, const fen_table *block, fen_error *err)
{
    writer *w = state;
    if (block->cols != w->cols)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s: columns turn up that the header, already written, does not have; "
                         "read from a file, not from a pipe",
                         block->origin);
    fen_status status = FEN_OK;
    for (int64_t i = 0; i < block->rows && status == FEN_OK; i++) {
        const double *row = dense_row(w, block, i);
        for (int64_t j = 0; j < w->cols && status == FEN_OK; j++) {
            status = put_cell(w, &block->column[j], row[j], err);
            if (status == FEN_OK) status = put_end(w, j, err);
        }
    }
    return status;
}

fen_status fenp_csv_end(void *state, fen_error *err)
{
    (void)err; /* nothing is held back */
    writer *w = state;
    if (w) free(w->row);
    free(w);
    return FEN_OK;
}
