/* csv.c -- comma separated values, and what goes by that name
 *
 * Reading: a block is a few MB of whole rows, parsed by all threads, one of which first reads
 *   the text of the next block. What the file is like is found from its beginning, once.
 * Special cases: BOM, CRLF, blank lines, a missing last newline, gzip; text that is UTF-16 or
 *   binary is refused. '#' begins no comment. A block grows until it holds one row; a row
 *   beyond fenp_row_limit is refused.
 * Memory: the text of two blocks and the cells of one, whatever the size of the file; blocks are
 *   smaller where --memory is small.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/bytes.h"
#include "data/csv.h"
#include "data/prepare_parts.h"

enum {
    FIRST_BYTES = 1 << 16,
    BLOCK_BYTES = 1 << 23,
    SAMPLE_BYTES = 1 << 22,
    PARTS_PER_THREAD = 16, /* so that a slow piece does not hold up the others */
    PARTS_MAX = 256
};

/* Unread text is at[begin] .. at[used - 1]. */
typedef struct buffer {
    char *at;
    int64_t begin, used, room;
} buffer;

typedef struct reader {
    fen_bytes *in;
    fenp_csv_layout layout;
    buffer text;
    int at_end; /* of the file: text has its last byte, and ends a line */
    char newline;
    int64_t line; /* of the first unread byte */
    int64_t block_bytes, row_limit;
    int threads;
    /* read while the block is parsed: what follows it, in a second buffer */
    buffer ahead;
    int64_t block_end; /* in text */
    fen_status ahead_status;
    fen_error ahead_error;
} reader;

/* ---- text ------------------------------------------------------------------------------ */

static void close_reader(void *state)
{
    reader *r = state;
    if (!r) return;
    fenp_csv_layout_clear(&r->layout);
    free(r->text.at);
    free(r->ahead.at);
    free(r);
}

static fen_status grow(buffer *b, int64_t room, fen_error *err)
{
    if (room <= b->room) return FEN_OK;
    char *at = fenp_resize(b->at, room, 1);
    if (!at) return fenp_no_memory(err, room, "a block of text");
    b->at = at;
    b->room = room;
    return FEN_OK;
}

/* Reads until there are want bytes in b, or the file ends. A short file does with a small
 * buffer; there is always room for one byte more, the newline that a file may lack. */
static fen_status fill(reader *r, buffer *b, int64_t want, fen_error *err)
{
    while (!r->at_end && b->used < want) {
        int64_t got = 0, room = 4 * b->room < FIRST_BYTES ? FIRST_BYTES : 4 * b->room;
        fen_status status = FEN_OK;
        if (b->used + 1 >= b->room) status = grow(b, room < want + 1 ? room : want + 1, err);
        if (status == FEN_OK)
            status = fenp_bytes_read(r->in, b->at + b->used, b->room - 1 - b->used, &got, err);
        if (status != FEN_OK) return status;
        b->used += got;
        r->at_end = got == 0;
    }
    return FEN_OK;
}

/* Fetches text until want bytes are unread, or the file ends with a newline. */
static fen_status fetch(reader *r, int64_t want, fen_error *err)
{
    buffer *b = &r->text;
    if (!r->at_end && b->used - b->begin < want) {
        if (b->begin > 0) memmove(b->at, b->at + b->begin, (size_t)(b->used - b->begin));
        b->used -= b->begin;
        b->begin = 0;
        fen_status status = fill(r, b, want, err);
        if (status != FEN_OK) return status;
    }
    if (r->at_end && b->used > b->begin && b->at[b->used - 1] != r->newline)
        b->at[b->used++] = r->newline;
    return FEN_OK;
}

/* ---- opening ---------------------------------------------------------------------------- */

static int sniff(const char *head, int64_t bytes)
{
    return bytes > 0 && memchr(head, 0, (size_t)bytes) ? 0 : 30; /* others know better */
}

/* Refuses what is no text; steps over a byte order mark. */
static fen_status check_text(reader *r, fen_error *err)
{
    const char *name = fenp_bytes_name(r->in);
    const char *text = r->text.at;
    int64_t size = r->text.used;
    if (size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return fenp_fail(err, FEN_BAD_DATA, "%.200s is UTF-16 text; save it as UTF-8", name);
    int64_t head = size < FIRST_BYTES ? size : FIRST_BYTES, controls = 0;
    for (int64_t i = 0; i < head; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == 0)
            controls = head;
        else
            controls += c < 0x20 && !strchr("\t\n\v\f\r", c);
    }
    if (50 * controls > head)
        return fenp_fail(err, FEN_BAD_DATA, "%.200s looks like a binary file, not like text", name);
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) r->text.begin = 3;
    return FEN_OK;
}

/* The row that is not complete stands behind those that are. */
static fen_status too_long(const reader *r, fen_error *err)
{
    const char *from = r->text.at + r->text.begin, *cut[2] = { from, from };
    fenp_csv_cut(&r->layout.style, from, r->text.used - r->text.begin, 0, 1, cut);
    return fenp_row_too_long(r->in, r->line + fenp_csv_newlines(from, cut[1], r->newline),
                             r->row_limit, err);
}

static fen_status find_layout(reader *r, fen_error *err)
{
    int enough = 0;
    for (int64_t want = SAMPLE_BYTES; !enough; want *= 2) {
        if (want / 2 >= r->row_limit) return too_long(r, err);
        if (want > r->row_limit) want = r->row_limit;
        fen_status status = fetch(r, want, err);
        if (status != FEN_OK) return status;
        status = fenp_csv_sniff(r->text.at + r->text.begin, r->text.used - r->text.begin, r->at_end,
                                &r->layout, &enough, err);
        if (status != FEN_OK) return status;
    }
    if (r->layout.cols == 0) return fenp_fail(err, FEN_BAD_DATA, "%.200s is empty", r->layout.name);
    if (r->layout.rows == 0)
        return fenp_fail(err, FEN_BAD_DATA, "%.200s has a header but no rows", r->layout.name);
    r->text.begin += r->layout.skip;
    r->line += r->layout.skip_lines;
    return FEN_OK;
}

/* ---- columns that are to be text ---------------------------------------------------------- */

typedef struct request {
    fenp_csv_layout *layout;
    fen_status status;
    fen_error *err;
} request;

static fen_status unknown_column(const fenp_csv_layout *layout, const char *item, int64_t length,
                                 fen_error *err)
{
    char wrong[64];
    fenp_csv_excerpt(&(fenp_csv_cell){ .at = item, .length = length }, wrong);
    const char *nearest =
        fenp_nearest_member(wrong, &layout->column->name, layout->cols, sizeof *layout->column);
    if (nearest)
        return fenp_fail(
            err, FEN_BAD_CALL,
            "%.200s has no column \"%s\" (asked for by --text); did you mean \"%.60s\"?",
            layout->name, wrong, nearest);
    return fenp_fail(err, FEN_BAD_CALL,
                     "%.200s has no column \"%s\" (asked for by --text); it has %lld, the first is "
                     "\"%.60s\"",
                     layout->name, wrong, (long long)layout->cols, layout->column[0].name);
}

static int64_t find_name(const fenp_csv_layout *layout, const char *item, int64_t length)
{
    for (int64_t j = 0; j < layout->cols; j++) {
        const char *name = layout->column[j].name;
        if (strncmp(name, item, (size_t)length) == 0 && name[length] == 0) return j;
    }
    return -1;
}

/* A name, or else a number from 1; -1: neither. */
static int64_t find_column(const fenp_csv_layout *layout, const char *item, int64_t length)
{
    const int64_t named = find_name(layout, item, length);
    int64_t number;
    if (named >= 0) return named;
    return fenp_parse_int(item, length, &number) && number >= 1 && number <= layout->cols
               ? number - 1
               : -1;
}

static int make_text(void *user, const char *item, int64_t length)
{
    request *asked = user;
    const int64_t column = find_column(asked->layout, item, length);
    if (column >= 0)
        asked->layout->column[column].text = 1;
    else
        asked->status = unknown_column(asked->layout, item, length, asked->err);
    return column < 0;
}

/* Labels of classes are text, whatever most of them look like: 1, 2, none. target as in
 * prepare_learn.c, or one name in quotes; what it does not find is found missing there. */
static void find_labels(fenp_csv_layout *layout, const fen_options *o)
{
    const char *target = o->target ? o->target : "";
    const size_t length = strlen(target);
    int64_t column = layout->cols - 1;
    if (length >= 2 && target[0] == '"')
        column = find_name(layout, target + 1, (int64_t)length - 2);
    else if (length > 0)
        column = find_column(layout, target, (int64_t)length);
    else if (column > 0 && o->weights && o->weights[0] &&
             find_column(layout, o->weights, (int64_t)strlen(o->weights)) == column)
        column--;
    if (column < 0) return;
    layout->column[column].label = 1;
    layout->column[column].text |= strcmp(o->task, "classification") == 0;
}

/* What the model has as text, and its labels. */
static void make_text_like(fenp_csv_layout *layout, const fenp_prep *prep)
{
    int64_t at = -1;
    for (int64_t j = 0; j < layout->cols; j++) {
        fenp_column *column = &layout->column[j];
        const int64_t found = fenp_prep_find(prep, column->name, at + 1);
        if (found >= 0) at = found;
        column->label =
            found < 0 && prep->class_count > 0 && strcmp(column->name, prep->target[0]) == 0;
        column->text |= found >= 0 ? prep->input[found].text : column->label;
    }
}

static const char *missing_words(const fen_options *o)
{
    if (!o->missing || strcmp(o->missing, "auto") != 0) return o->missing;
    return o->like && o->like->missing ? o->like->missing : fenp_missing_words;
}

static fen_status open_text(reader *r, const fen_options *o, fen_error *err)
{
    fen_status status = fenp_csv_missing_words(missing_words(o), &r->layout.missing, err);
    if (status == FEN_OK) status = fill(r, &r->text, SAMPLE_BYTES, err);
    if (status == FEN_OK) status = check_text(r, err);
    if (status == FEN_OK) r->newline = fenp_csv_newline(r->text.at, r->text.used);
    if (status == FEN_OK) status = find_layout(r, err);
    if (status == FEN_OK && strcmp(o->task, "regression") != 0) find_labels(&r->layout, o);
    if (status == FEN_OK && o->like) make_text_like(&r->layout, o->like->prep);
    if (status != FEN_OK || !o->text) return status;
    request asked = { &r->layout, FEN_OK, err };
    fenp_each_item(o->text, make_text, &asked);
    return asked.status;
}

fen_status fenp_csv_open(fen_bytes *in, const fen_options *o, int64_t block_bytes, void **state,
                         fen_error *err)
{
    reader *r = fenp_new_zeroed(1, sizeof *r);
    if (!r) return fenp_no_memory(err, sizeof *r, "a CSV reader");
    r->in = in;
    r->layout.name = fenp_bytes_name(in);
    r->layout.like = o->like;
    r->line = 1;
    r->row_limit = fenp_row_limit(o);
    r->block_bytes = block_bytes < r->row_limit / 8 ? block_bytes : r->row_limit / 8;
    r->threads = o->threads > 0 ? o->threads : omp_get_num_procs();
    fen_status status = open_text(r, o, err);
    if (status != FEN_OK)
        close_reader(r);
    else
        *state = r;
    return status;
}

static fen_status open_reader(fen_bytes *in, const fen_options *o, void **state, fen_error *err)
{
    return fenp_csv_open(in, o, BLOCK_BYTES, state, err);
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* Finds at least one whole row, in pieces for the threads; no pieces: the end of the file. */
static fen_status cut_block(reader *r, const char **cut, int *parts, fen_error *err)
{
    int64_t most = (int64_t)r->threads * PARTS_PER_THREAD;
    if (most > PARTS_MAX) most = PARTS_MAX;
    for (int64_t want = r->block_bytes;; want *= 2) {
        if (want / 2 >= r->row_limit) return too_long(r, err);
        if (want > r->row_limit) want = r->row_limit;
        fen_status status = fetch(r, want, err);
        if (status != FEN_OK) return status;
        int64_t unread = r->text.used - r->text.begin, size = unread < want ? unread : want;
        int64_t wanted = 1 + size * most / (r->block_bytes + 1);
        int whole = r->at_end && size == unread;
        *parts = fenp_csv_cut(&r->layout.style, r->text.at + r->text.begin, size, whole,
                              (int)(wanted < most ? wanted : most), cut);
        if (*parts > 0) r->block_end = cut[*parts] - r->text.at;
        if (*parts > 0 || whole) return FEN_OK;
    }
}

/* Reads the text of the next block, behind what the present one has left over, while others
 * parse the present one. Nothing to do if enough is left over, or nothing to read. */
static void read_ahead(void *state)
{
    reader *r = state;
    buffer *b = &r->ahead;
    int64_t rest = r->text.used - r->block_end;
    b->used = 0;
    if (r->at_end || rest >= r->block_bytes) return;
    r->ahead_status = grow(b, rest + 1, &r->ahead_error);
    if (r->ahead_status != FEN_OK) return;
    memcpy(b->at, r->text.at + r->block_end, (size_t)rest);
    b->used = rest;
    r->ahead_status = fill(r, b, r->block_bytes, &r->ahead_error);
}

/* The text after a block becomes the unread text. */
static void turn_over(reader *r)
{
    r->text.begin = r->block_end;
    if (r->ahead.used == 0) return;
    buffer old = r->text;
    r->text = r->ahead;
    r->ahead = old;
    r->text.begin = 0;
}

/* Takes the table where memory runs out. */
static fen_status say_reading(const fenp_csv_layout *layout, fen_table *table, fen_error *err)
{
    const fen_reading reading = { layout->missing.text,
                                  layout->style.separator,
                                  layout->style.decimal,
                                  layout->header,
                                  -1,
                                  NULL };
    if (fenp_reading_copy(&reading, &table->reading) == 0) return FEN_OK;
    fen_table_free(table);
    return fenp_no_memory(err, 0, "the words for missing cells");
}

static fen_status next_block(void *state, fen_table **block, fen_error *err)
{
    reader *r = state;
    for (;;) {
        const char *cut[PARTS_MAX + 1];
        int parts = 0;
        int64_t lines = 0;
        if (r->ahead_status != FEN_OK)
            return fenp_fail(err, r->ahead_status, "%s", r->ahead_error.message);
        fen_status status = cut_block(r, cut, &parts, err);
        if (status != FEN_OK) return status;
        fen_table *table = NULL;
        if (parts > 0)
            status = fenp_csv_parse(&r->layout, cut, parts, r->threads, r->line, read_ahead, r,
                                    &lines, &table, err);
        if (status == FEN_OK && parts > 0) status = say_reading(&r->layout, table, err);
        if (status != FEN_OK) return status;
        if (parts > 0) turn_over(r);
        r->line += lines;
        if (parts == 0 || table->rows > 0) {
            *block = table;
            return FEN_OK;
        }
        fen_table_free(table); /* nothing but blank lines */
    }
}

const fen_format fenp_format_csv = {
    "csv",
    "rows of cells with , ; tab | or blanks between them; .gz too",
    ".csv .tsv .txt .dat .data",
    sniff,
    open_reader,
    next_block,
    close_reader,
    fenp_csv_begin,
    fenp_csv_rows,
    fenp_csv_end,
};
