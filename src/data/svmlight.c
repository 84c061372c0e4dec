/* svmlight.c -- rows "label index:value index:value ... # comment"
 *
 * Index i is column "xi", always: names, not positions, carry the meaning, so blocks,
 * files and models agree whatever the base. Column x0 exists if --index-base is 0 or
 * an index 0 has occurred so far; a block is as wide as the largest index so far. The
 * label is the last column, "label".
 *
 * Special cases: lines without a row are skipped; a label alone is a row of zeros;
 * qid:N is ignored; explicit zeros are not stored; indices must ascend.
 * Writing: column number j gets index j (1, 2, ...), but a table that begins with x0
 * keeps its indices. Cost: one pass over the text.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/bytes.h"
#include "data/columns.h"

enum {
    FIRST_BYTES = 1 << 14, /* of buffer for a small file                              */
    BLOCK_BYTES = 1 << 22, /* of text per block, at least                            */
    COLUMN_BYTES = 32,     /* and for every column, since a block names them all      */
    INDEX_MAX = 1 << 24,   /* every column up to the largest index gets a name       */
    QUOTED = 40            /* bytes of the culprit that a message shows              */
};
static int64_t quoted(int64_t length) { return length < QUOTED ? length : QUOTED; }

/* ---- one line ---------------------------------------------------------------------- */
typedef struct span {
    const char *at, *end;
} span;

static int blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The next blank-separated word of line; empty at its end. */
static span next_word(span *line)
{
    while (line->at < line->end && blank(*line->at)) line->at++;
    span word = { line->at, line->at };
    while (word.end < line->end && !blank(*word.end)) word.end++;
    line->at = word.end;
    return word;
}

static span without_comment(span line)
{
    const char *hash = line.at < line.end ? memchr(line.at, '#', line.end - line.at) : NULL;
    return (span){ line.at, hash ? hash : line.end };
}

static int is_query(span word) { return word.end - word.at > 4 && !memcmp(word.at, "qid:", 4); }

static int finite_number(const char *at, const char *end, double *value)
{
    return fenp_parse_double(at, end - at, value) && isfinite(*value);
}

/* "7:0.25"; 0 if it is not that. */
static int split_pair(span word, int64_t *index, span *value)
{
    const char *colon = memchr(word.at, ':', word.end - word.at);
    if (!colon || !fenp_parse_int(word.at, colon - word.at, index)) return 0;
    *value = (span){ colon + 1, word.end };
    return 1;
}

/* ---- recognising ------------------------------------------------------------------- */
/* A number, or what is written in the place of one: that is for the reader to say. */
static int numeric(const char *at, const char *end)
{
    double number;
    return fenp_parse_double(at, end - at, &number) || fenp_is_not_finite_word(at, end - at);
}

/* Pairs in a line; -1 if it cannot be a row. */
static int64_t count_pairs(span line)
{
    int64_t index, pairs = 0;
    span value, word = next_word(&line);
    if (word.at == word.end) return 0;
    if (!numeric(word.at, word.end)) return -1;
    for (word = next_word(&line); word.at < word.end; word = next_word(&line)) {
        if (is_query(word)) continue;
        if (!split_pair(word, &index, &value) || !numeric(value.at, value.end)) return -1;
        pairs++;
    }
    return pairs;
}

static int sniff(const char *head, int64_t bytes)
{
    const char *end = head + bytes;
    int64_t pairs = 0;
    for (int lines = 0; head < end && lines < 50; lines++) {
        const char *stop = memchr(head, '\n', end - head);
        int64_t here = count_pairs(without_comment((span){ head, stop ? stop : end }));
        if (here < 0) /* the last line may have been cut by the end of the head */
            return !stop && pairs > 0 ? 95 : 0;
        pairs += here;
        head = stop ? stop + 1 : end;
    }
    return pairs > 0 ? 95 : 0;
}

/* ---- reading ----------------------------------------------------------------------- */
typedef struct reader {
    fen_bytes *in;
    int base;   /* first index: 0 or 1; -1: 0 if it occurs              */
    int given;  /* by the options; else by the model                    */
    char *text; /* unread bytes are text[0] .. text[used-1]             */
    int64_t used, size, row_limit;
    int at_end;
    int64_t line;   /* of the next unread byte                              */
    int64_t widest; /* largest index so far, 0 if none                      */
    int zero;       /* column x0 exists                                     */
} reader;

static fen_status open_reader(fen_bytes *in, const fen_options *o, void **state, fen_error *err)
{
    reader *r = fenp_new_zeroed(1, sizeof *r);
    if (!r) return fenp_no_memory(err, (int64_t)sizeof *r, "an svmlight reader");
    r->in = in;
    r->given = o->index_base >= 0;
    r->base = !r->given && o->like ? o->like->counts_from : o->index_base;
    r->zero = r->base == 0;
    r->line = 1;
    r->row_limit = fenp_row_limit(o);
    *state = r;
    return FEN_OK;
}

static void close_reader(void *state)
{
    reader *r = state;
    if (r) free(r->text);
    free(r);
}

static fen_status bad_line(const reader *r, const char *problem, span word, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_DATA, "%.200s:%lld: \"%.*s\" %s", fenp_bytes_name(r->in),
                     (long long)r->line, (int)quoted(word.end - word.at), word.at, problem);
}

/* Appends "index:value" to the row that is being read; previous: its last index. */
static fen_status read_pair(reader *r, fen_table *block, span word, int64_t *previous,
                            fen_error *err)
{
    int64_t index, *end = &block->start[block->rows + 1];
    double number;
    span value;
    if (!split_pair(word, &index, &value))
        return bad_line(r, "is not an index:value pair", word, err);
    if (index < 0) return bad_line(r, "has a negative index", word, err);
    if (index > INDEX_MAX)
        return bad_line(r, "has an index beyond 16777216, the largest that is supported", word,
                        err);
    if (index == 0 && r->base == 1)
        return bad_line(r,
                        r->given ? "has index 0 although --index-base is 1"
                                 : "has index 0, but the training file of the model counts from 1; "
                                   "count so here, or use --index-base 0 if 0 is a further column",
                        word, err);
    if (index <= *previous)
        return bad_line(r, "is out of order: indices must ascend within a row", word, err);
    if (fenp_is_not_finite_word(value.at, value.end - value.at))
        return bad_line(r, "has a value that is not finite; leave the pair out instead", word, err);
    if (!finite_number(value.at, value.end, &number))
        return bad_line(
            r,
            "has a value that is not a (finite) number; correct it, or leave the pair out, which "
            "stands for 0",
            word, err);
    *previous = index;
    r->widest = index > r->widest ? index : r->widest;
    r->zero |= index == 0;
    if (number != 0.0) {
        block->index[*end] = index;
        block->value[(*end)++] = number;
    }
    return FEN_OK;
}

static fen_status read_row(reader *r, fen_table *block, span line, fen_error *err)
{
    span word = next_word(&line);
    if (word.at == word.end) return FEN_OK;
    if (!finite_number(word.at, word.end, &block->label[block->rows]))
        return bad_line(r, "stands where the label should be, expected a finite number", word, err);
    if (block->rows == 0)
        block->first_line = r->line;
    else if (block->first_line + block->rows != r->line)
        block->first_line = 0; /* comments or blank lines between the rows */
    block->start[block->rows + 1] = block->start[block->rows];
    int64_t previous = -1;
    for (word = next_word(&line); word.at < word.end; word = next_word(&line)) {
        fen_status status = is_query(word) ? FEN_OK : read_pair(r, block, word, &previous, err);
        if (status != FEN_OK) return status;
    }
    block->rows++;
    return FEN_OK;
}

static int64_t count_byte(const char *at, int64_t length, char wanted)
{
    int64_t count = 0;
    for (int64_t i = 0; i < length; i++) count += at[i] == wanted;
    return count;
}

/* Room for every row and pair that length bytes of text can hold. */
static fen_status make_room(fen_table *block, const char *text, int64_t length, fen_error *err)
{
    int64_t rows = count_byte(text, length, '\n') + 1, pairs = count_byte(text, length, ':');
    block->start = fenp_new_zeroed(rows + 1, sizeof *block->start);
    block->label = fenp_new(rows, sizeof *block->label);
    block->index = fenp_new(pairs, sizeof *block->index);
    block->value = fenp_new(pairs, sizeof *block->value);
    if (!block->start || !block->label || !block->index || !block->value)
        return fenp_no_memory(err, 16 * (rows + pairs), "a block of svmlight rows");
    return FEN_OK;
}

/* Rows of the first length bytes, which end with a line. */
static fen_status read_rows(reader *r, fen_table *block, int64_t length, fen_error *err)
{
    fen_status status = make_room(block, r->text, length, err);
    const char *at = r->text, *end = at + length;
    while (status == FEN_OK && at < end) {
        const char *stop = memchr(at, '\n', end - at);
        status = read_row(r, block, without_comment((span){ at, stop ? stop : end }), err);
        at = stop ? stop + 1 : end;
        r->line++;
    }
    if (status != FEN_OK) return status;
    int64_t first = !r->zero;
    for (int64_t e = 0; e < block->start[block->rows]; e++) block->index[e] -= first;
    return fenp_table_number_columns(block, first, r->widest + 1 - first, "label", err);
}

static int64_t block_bytes(const reader *r)
{
    const int64_t bytes =
        COLUMN_BYTES * r->widest > BLOCK_BYTES ? COLUMN_BYTES * r->widest : BLOCK_BYTES;
    return bytes < r->row_limit ? bytes : r->row_limit;
}

/* Fills the buffer until it holds a block and a whole line; *length: up to its last line end. */
static fen_status fill_buffer(reader *r, int64_t *length, fen_error *err)
{
    for (;;) {
        if (r->used == r->size) {
            int64_t size = r->size ? 2 * r->size : FIRST_BYTES;
            if (r->size >= r->row_limit)
                return fenp_row_too_long(r->in, r->line, r->row_limit, err);
            if (size > r->row_limit) size = r->row_limit;
            char *text = fenp_resize(r->text, size, 1);
            if (!text) return fenp_no_memory(err, size, "a block of svmlight text");
            r->text = text;
            r->size = size;
        }
        int64_t got = 0;
        fen_status status = fenp_bytes_read(r->in, r->text + r->used, r->size - r->used, &got, err);
        if (status != FEN_OK) return status;
        r->used += got;
        r->at_end = got == 0;
        if (!r->at_end && (r->used < r->size || r->size < block_bytes(r))) continue;
        *length = r->used;
        while (!r->at_end && *length > 0 && r->text[*length - 1] != '\n') --*length;
        if (r->at_end || *length > 0) return FEN_OK;
    }
}

/* The rows of the next block of text; none if it holds nothing but comments. */
static fen_status read_block(reader *r, fen_table *block, fen_error *err)
{
    int64_t length = 0;
    fen_status status = fill_buffer(r, &length, err);
    if (status == FEN_OK) status = read_rows(r, block, length, err);
    if (status != FEN_OK) return status;
    r->used -= length;
    memmove(r->text, r->text + length, (size_t)r->used);
    return FEN_OK;
}

static fen_status next_block(void *state, fen_table **block, fen_error *err)
{
    reader *r = state;
    while (!r->at_end) {
        fen_table *made = fenp_table_new(fenp_bytes_name(r->in));
        if (!made) return fenp_no_memory(err, (int64_t)sizeof *made, "a table");
        fen_status status = read_block(r, made, err);
        if (status == FEN_OK && made->rows > 0) {
            *block = made;
            return FEN_OK;
        }
        fen_table_free(made);
        if (status != FEN_OK) return status;
    }
    *block = NULL;
    return FEN_OK;
}

/* ---- writing ----------------------------------------------------------------------- */
enum { OUT_BYTES = 1 << 16, ITEM_BYTES = 64 };
typedef struct writer {
    fen_sink *sink;
    int64_t used;
    char text[OUT_BYTES];
} writer;

static fen_status begin(fen_sink *sink, const fen_table *block, void **state, fen_error *err)
{
    for (int64_t j = 0; j < block->cols; j++)
        if (block->column[j].text)
            return fenp_fail(err, FEN_BAD_DATA,
                             "column \"%.60s\" of %.200s holds text, which "
                             "svmlight cannot; write CSV instead",
                             block->column[j].name, fenp_table_title(block));
    writer *w = fenp_new(1, sizeof *w);
    if (!w) return fenp_no_memory(err, (int64_t)sizeof *w, "an svmlight writer");
    w->sink = sink;
    w->used = 0;
    *state = w;
    return FEN_OK;
}

static fen_status flush(writer *w, fen_error *err)
{
    fen_status status = fen_sink_write(w->sink, w->text, w->used, err);
    w->used = 0;
    return status;
}

/* The label (index < 0) or " index:value". */
static fen_status put(writer *w, int64_t index, double value, fen_error *err)
{
    fen_status status = w->used > OUT_BYTES - ITEM_BYTES ? flush(w, err) : FEN_OK;
    char number[32];
    int length = fenp_print_double(value, number);
    if (index >= 0) w->used += snprintf(w->text + w->used, 32, " %lld:", (long long)index);
    memcpy(w->text + w->used, number, (size_t)length);
    w->used += length;
    return status;
}

static fen_status write_row(writer *w, const fen_table *block, int64_t row, fen_error *err)
{
    int64_t last = block->cols - 1, first = last > 0 && strcmp(block->column[0].name, "x0") != 0;
    const double *cells =
        block->start ? block->value + block->start[row] : block->cells + row * block->cols;
    int64_t count = block->start ? block->start[row + 1] - block->start[row] : last;
    fen_status status = put(w, -1, block->start ? block->label[row] : cells[last], err);
    for (int64_t e = 0; status == FEN_OK && e < count; e++) {
        int64_t column = block->start ? block->index[block->start[row] + e] : e;
        if (cells[e] != 0.0) status = put(w, column + first, cells[e], err);
    }
    w->text[w->used++] = '\n';
    return status;
}

static fen_status check_row(const fen_table *block, int64_t row, fen_error *err)
{
    char place[256];
    for (int64_t j = block->start ? block->cols - 1 : 0; j < block->cols; j++)
        if (!isfinite(block->start ? block->label[row] : block->cells[row * block->cols + j]))
            return fenp_fail(err, FEN_BAD_DATA,
                             "%s: column \"%.60s\" has no value, which svmlight "
                             "cannot express; write CSV instead",
                             fenp_table_place(block, row, place, sizeof place),
                             block->column[j].name);
    return FEN_OK;
}

static fen_status write_rows(void *state, const fen_table *block, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t i = 0; status == FEN_OK && i < block->rows; i++) {
        status = check_row(block, i, err);
        if (status == FEN_OK) status = write_row(state, block, i, err);
    }
    return status;
}

static fen_status end_writing(void *state, fen_error *err)
{
    fen_status status = state ? flush(state, err) : FEN_OK;
    free(state);
    return status;
}

const fen_format fenp_format_svmlight = { "svmlight",
                                          "label index:value ..., sparse, as LIBSVM reads it",
                                          ".svmlight .libsvm .svm",
                                          sniff,
                                          open_reader,
                                          next_block,
                                          close_reader,
                                          begin,
                                          write_rows,
                                          end_writing };
