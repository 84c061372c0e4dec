/* csv.c -- comma separated values, and what goes by that name
 *
 * Reading: a block is a few MB of whole rows, parsed by all threads. What the file is like
 *   is found from its beginning (csv_sniff.c), once.
 * Special cases: BOM, CRLF, blank lines, a missing last newline, gzip; text that is UTF-16 or
 *   binary is refused. '#' begins no comment. A block grows until it holds one row; a row
 *   of more than 1 GB is taken for a missing quote or newline.
 * Memory: the text of one block and its cells, whatever the size of the file.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/bytes.h"
#include "data/csv.h"

enum {
    FIRST_BYTES = 1 << 16,
    BLOCK_BYTES = 1 << 22,
    SAMPLE_BYTES = 1 << 22,
    ROW_LIMIT = 1 << 30,
    PARTS_PER_THREAD = 4, /* so that a slow piece does not hold up the others          */
    PARTS_MAX = 256
};

typedef struct reader {
    fen_bytes *in;
    fenp_csv_layout layout;
    char *text; /* unread: text[begin] .. text[used - 1]                     */
    int64_t begin, used, room;
    int at_end; /* of the file: text has its last byte, and ends a line      */
    char newline;
    int64_t line; /* of text[begin]                                            */
    int64_t block_bytes;
    int threads;
} reader;

/* ---- text ------------------------------------------------------------------------------ */

static void close_reader(void *state)
{
    reader *r = state;
    if (!r) return;
    fenp_csv_layout_clear(&r->layout);
    free(r->text);
    free(r);
}

/* Makes room for more text, up to want bytes: a short file does with a small buffer. */
static fen_status reserve(reader *r, int64_t want, fen_error *err)
{
    if (r->used + 1 < r->room) return FEN_OK;
    int64_t room = r->room < FIRST_BYTES ? FIRST_BYTES : 4 * r->room;
    if (room > want + 1) room = want + 1;
    char *text = fenp_resize(r->text, room, 1);
    if (!text) return fenp_no_memory(err, room, "a block of text");
    r->text = text;
    r->room = room;
    return FEN_OK;
}

/* Reads until there are want unread bytes, or the file ends. */
static fen_status fill(reader *r, int64_t want, fen_error *err)
{
    if (r->at_end || r->used - r->begin >= want) return FEN_OK;
    if (r->begin > 0) memmove(r->text, r->text + r->begin, (size_t)(r->used - r->begin));
    r->used -= r->begin;
    r->begin = 0;
    while (!r->at_end && r->used < want) {
        fen_status status = reserve(r, want, err);
        if (status != FEN_OK) return status;
        int64_t got = 0, room = r->room - 1 - r->used; /* a last newline must fit, too */
        status = fenp_bytes_read(r->in, r->text + r->used, room, &got, err);
        if (status != FEN_OK) return status;
        r->used += got;
        r->at_end = got == 0;
    }
    return FEN_OK;
}

/* Gives a file that has ended its last newline. */
static void end_line(reader *r)
{
    if (r->at_end && r->used > r->begin && r->text[r->used - 1] != r->newline)
        r->text[r->used++] = r->newline;
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
    if (r->used >= 2 &&
        (memcmp(r->text, "\xff\xfe", 2) == 0 || memcmp(r->text, "\xfe\xff", 2) == 0))
        return fenp_fail(err, FEN_BAD_DATA, "%.200s is UTF-16 text; save it as UTF-8", name);
    int64_t head = r->used < 65536 ? r->used : 65536, controls = 0;
    for (int64_t i = 0; i < head; i++) {
        unsigned char c = (unsigned char)r->text[i];
        if (c == 0)
            controls = head;
        else
            controls += c < 0x20 && !strchr("\t\n\v\f\r", c);
    }
    if (50 * controls > head)
        return fenp_fail(err, FEN_BAD_DATA, "%.200s looks like a binary file, not like text", name);
    if (r->used >= 3 && memcmp(r->text, "\xef\xbb\xbf", 3) == 0) r->begin = 3;
    return FEN_OK;
}

static fen_status too_long(const reader *r, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s:%lld: a row of more than 1 GB begins here; is a quote not closed, or "
                     "is this not CSV?",
                     fenp_bytes_name(r->in), (long long)r->line);
}

static fen_status find_layout(reader *r, fen_error *err)
{
    int enough = 0;
    for (int64_t want = SAMPLE_BYTES; !enough; want *= 2) {
        if (want > ROW_LIMIT) return too_long(r, err);
        fen_status status = fill(r, want, err);
        if (status != FEN_OK) return status;
        r->newline = fenp_csv_newline(r->text + r->begin, r->used - r->begin);
        end_line(r);
        status = fenp_csv_sniff(r->text + r->begin, r->used - r->begin, r->at_end, &r->layout,
                                &enough, err);
        if (status != FEN_OK) return status;
    }
    if (r->layout.cols == 0) return fenp_fail(err, FEN_BAD_DATA, "%.200s is empty", r->layout.name);
    if (r->layout.rows == 0)
        return fenp_fail(err, FEN_BAD_DATA, "%.200s has a header but no rows", r->layout.name);
    r->begin += r->layout.skip;
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
    const char *nearest = NULL, **names = fenp_new_zeroed(layout->cols + 1, sizeof *names);
    fenp_csv_excerpt(&(fenp_csv_cell){ .at = item, .length = length }, wrong);
    for (int64_t j = 0; names && j < layout->cols; j++) names[j] = layout->column[j].name;
    if (names) nearest = fenp_nearest(wrong, names);
    free(names);
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

/* A name, or else a number from 1. */
static int make_text(void *user, const char *item, int64_t length)
{
    request *asked = user;
    fenp_csv_layout *layout = asked->layout;
    int64_t number;
    for (int64_t j = 0; j < layout->cols; j++) {
        const char *name = layout->column[j].name;
        if (strncmp(name, item, (size_t)length) != 0 || name[length] != 0) continue;
        layout->column[j].text = 1;
        return 0;
    }
    if (fenp_parse_int(item, length, &number) && number >= 1 && number <= layout->cols) {
        layout->column[number - 1].text = 1;
        return 0;
    }
    asked->status = unknown_column(layout, item, length, asked->err);
    return 1;
}

static fen_status open_text(reader *r, const fen_options *o, fen_error *err)
{
    fen_status status = fenp_csv_missing_words(o->missing, &r->layout.missing, err);
    if (status == FEN_OK) status = fill(r, SAMPLE_BYTES, err);
    if (status == FEN_OK) status = check_text(r, err);
    if (status == FEN_OK) status = find_layout(r, err);
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
    r->line = 1;
    r->block_bytes = block_bytes;
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
        if (want > ROW_LIMIT) return too_long(r, err);
        fen_status status = fill(r, want, err);
        if (status != FEN_OK) return status;
        end_line(r);
        int64_t unread = r->used - r->begin, size = unread < want ? unread : want;
        int64_t wanted = 1 + size * most / (r->block_bytes + 1);
        int whole = r->at_end && size == unread;
        *parts = fenp_csv_cut(&r->layout.style, r->text + r->begin, size, whole,
                              (int)(wanted < most ? wanted : most), cut);
        if (*parts > 0 || whole) return FEN_OK;
    }
}

static fen_status next_block(void *state, fen_table **block, fen_error *err)
{
    reader *r = state;
    fen_table *table = NULL;
    for (;;) {
        const char *cut[PARTS_MAX + 1];
        int parts = 0;
        int64_t lines = 0;
        fen_status status = cut_block(r, cut, &parts, err);
        if (status == FEN_OK && parts > 0)
            status =
                fenp_csv_parse(&r->layout, cut, parts, r->threads, r->line, &lines, &table, err);
        if (status != FEN_OK) return status;
        if (parts > 0) r->begin = cut[parts] - r->text;
        r->line += lines;
        if (parts == 0 || table->rows > 0) break;
        fen_table_free(table); /* nothing but blank lines */
        table = NULL;
    }
    *block = table;
    return FEN_OK;
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
