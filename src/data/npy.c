/* npy.c -- NumPy arrays of numbers, one or two dimensions
 *
 *   "\x93NUMPY" major minor, length of the header (2 bytes in version 1, else 4),
 *   header {'descr': '<f8', 'fortran_order': False, 'shape': (rows, cols), }, then the items
 *
 * Columns are called x1..xk; a vector is one column. NaN is a missing cell, infinity an
 * error. Items: floats of 4 and 8 bytes, integers of 1 to 8, booleans, in either byte
 * order; 8-byte integers beyond 2^53 are rounded.
 * The shape is never believed before the bytes are there: buffers grow with what has been
 * read, and a file shorter or longer than its shape is an error.
 * Memory: a block of rows; in Fortran order the whole array, since its first row is
 * spread over all of the file.
 * Cost: doubles in this machine's byte order are read to where they stay.
 * Writing: version 1.0, '<f8', C order, a header of 128 bytes that is written again when
 * the number of rows turns out to be another than that of the first block.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/bytes.h"
#include "data/columns.h"
#include "data/npy_header.h"

enum {
    BLOCK_CELLS = 1 << 19,    /* 4 MB of doubles                                        */
    FIRST_BYTES = 1 << 16,    /* what is allocated before anything has been read        */
    PARALLEL_CELLS = 1 << 17, /* below this, starting threads costs more              */
    WRITTEN_BYTES = 128       /* of the header that is written                          */
};

static int sniff(const char *head, int64_t bytes)
{
    return bytes >= 6 && memcmp(head, "\x93NUMPY", 6) == 0 ? 100 : 0;
}

/* ---- reading ----------------------------------------------------------------------- */
typedef struct reader {
    fen_bytes *in;
    fenp_npy_header head;
    int64_t row;          /* the next one                                         */
    unsigned char *items; /* C order: of one block; Fortran order: all of them    */
    int64_t size;         /* of items                                             */
    int64_t proven;       /* bytes that a block before this one had               */
} reader;

/* Exactly count bytes into out; fewer is an error that names what they were for. */
static fen_status read_exactly(fen_bytes *in, unsigned char *out, int64_t count, const char *what,
                               fen_error *err)
{
    for (int64_t have = 0; have < count;) {
        int64_t got = 0;
        fen_status status = fenp_bytes_read(in, (char *)out + have, count - have, &got, err);
        if (status != FEN_OK) return status;
        if (got == 0)
            return fenp_fail(err, FEN_BAD_DATA, "%.200s ends within %s: it is cut short",
                             fenp_bytes_name(in), what);
        have += got;
    }
    return FEN_OK;
}

static fen_status read_header(fen_bytes *in, fenp_npy_header *head, fen_error *err)
{
    unsigned char prefix[12];
    const char *name = fenp_bytes_name(in);
    fen_status status = read_exactly(in, prefix, 10, "the npy header", err);
    if (status != FEN_OK) return status;
    if (!sniff((const char *)prefix, 10))
        return fenp_fail(err, FEN_BAD_DATA, "%.200s is not a npy file", name);
    if (prefix[6] < 1 || prefix[6] > 3)
        return fenp_fail(err, FEN_BAD_DATA, "%.200s has npy version %d.%d; 1.0 to 3.0 are known",
                         name, prefix[6], prefix[7]);
    int64_t length = prefix[8] + 256 * (int64_t)prefix[9];
    if (prefix[6] > 1) {
        status = read_exactly(in, prefix + 10, 2, "the npy header", err);
        if (status != FEN_OK) return status;
        length += 65536 * ((int64_t)prefix[10] + 256 * (int64_t)prefix[11]);
    }
    if (length > FIRST_BYTES)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s has a npy header of %lld bytes; an array of "
                         "numbers needs no more than %d",
                         name, (long long)length, FIRST_BYTES);
    char *text = fenp_new(length + 1, 1);
    if (!text) return fenp_no_memory(err, length, "a npy header");
    status = read_exactly(in, (unsigned char *)text, length, "the npy header", err);
    text[length] = '\0';
    if (status == FEN_OK) status = fenp_npy_parse(text, name, head, err);
    free(text);
    return status;
}

/* Reads count bytes to items, which grows as they come and never beyond twice of them. */
static fen_status read_items(reader *r, int64_t count, fen_error *err)
{
    char what[64];
    snprintf(what, sizeof what, "row %lld of %lld", (long long)(r->row + 1),
             (long long)r->head.rows);
    for (int64_t have = 0; have < count;) {
        if (have == r->size) {
            int64_t size = r->size ? 2 * r->size : FIRST_BYTES;
            size = size < r->proven ? r->proven : size;
            unsigned char *items = fenp_resize(r->items, size < count ? size : count, 1);
            if (!items) return fenp_no_memory(err, size, "a npy array");
            r->items = items;
            r->size = size < count ? size : count;
        }
        int64_t piece = (r->size < count ? r->size : count) - have;
        fen_status status =
            read_exactly(r->in, r->items + have, piece, r->head.fortran ? "its items" : what, err);
        if (status != FEN_OK) return status;
        have += piece;
    }
    return FEN_OK;
}

static fen_status expect_end(reader *r, fen_error *err)
{
    char byte;
    int64_t got = 0;
    fen_status status = fenp_bytes_read(r->in, &byte, 1, &got, err);
    if (status == FEN_OK && got > 0)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s goes on after the %lld x %lld items that its "
                         "header announces",
                         fenp_bytes_name(r->in), (long long)r->head.rows, (long long)r->head.cols);
    return status;
}

static void close_reader(void *state)
{
    reader *r = state;
    if (r) free(r->items);
    free(r);
}

static fen_status open_reader(fen_bytes *in, const fen_options *o, void **state, fen_error *err)
{
    (void)o;
    reader *r = fenp_new_zeroed(1, sizeof *r);
    if (!r) return fenp_no_memory(err, (int64_t)sizeof *r, "a npy reader");
    r->in = in;
    fen_status status = read_header(in, &r->head, err);
    if (status == FEN_OK && r->head.fortran) {
        status = read_items(r, r->head.bytes, err);
        if (status == FEN_OK) status = expect_end(r, err);
    }
    if (status == FEN_OK)
        *state = r;
    else
        close_reader(r);
    return status;
}

/* Whether the items of a block are its cells. */
static int are_cells(const fenp_npy_header *head)
{
    const double probe = 1.0;
    return head->kind == 'f' && head->item_bytes == 8 && !head->fortran &&
           fenp_npy_item(head, (const unsigned char *)&probe) == probe;
}

/* Cells of rows r->row .. r->row + block->rows - 1 out of the items. */
static void decode(const reader *r, fen_table *block)
{
    const fenp_npy_header *head = &r->head;
    for (int64_t i = 0; i < block->rows; i++)
        for (int64_t j = 0; j < block->cols; j++) {
            int64_t item = head->fortran ? j * head->rows + r->row + i : i * block->cols + j;
            block->cells[i * block->cols + j] =
                fenp_npy_item(head, r->items + item * head->item_bytes);
        }
}

static fen_status check_finite(const reader *r, const fen_table *block, fen_error *err)
{
    const int64_t count = block->rows * block->cols;
    const double *cell = block->cells;
    double far = 0.0; /* a comparison with NaN is false */
#pragma omp parallel for simd reduction(max : far) schedule(static) if (count > PARALLEL_CELLS)
    for (int64_t k = 0; k < count; k++) far = fabs(cell[k]) > far ? fabs(cell[k]) : far;
    if (far <= DBL_MAX) return FEN_OK;
    int64_t k = 0;
    while (!isinf(block->cells[k])) k++;
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s: row %lld, column %lld is infinite; NaN would mean missing",
                     fenp_bytes_name(r->in), (long long)(r->row + k / block->cols + 1),
                     (long long)(k % block->cols + 1));
}

/* The next rows rows as a table; their items have been read. */
static fen_status make_block(reader *r, int64_t rows, fen_table *block, fen_error *err)
{
    fen_status status = fenp_table_number_columns(block, 1, r->head.cols, NULL, err);
    if (status != FEN_OK) return status;
    int64_t bytes = fenp_bytes(rows, block->cols, sizeof(double));
    const int ready = are_cells(&r->head);
    block->cells = ready ? (double *)r->items : fenp_new(bytes, 1);
    if (!block->cells) return fenp_no_memory(err, bytes, "a block of a npy array");
    block->rows = rows;
    block->first_line = r->row + 1;
    if (ready) {
        r->items = NULL;
        r->size = 0;
        r->proven = bytes;
    } else
        decode(r, block);
    return check_finite(r, block, err);
}

static fen_status next_block(void *state, fen_table **block, fen_error *err)
{
    reader *r = state;
    int64_t left = r->head.rows - r->row;
    int64_t rows = r->head.cols < BLOCK_CELLS ? BLOCK_CELLS / r->head.cols : 1;
    rows = rows < left ? rows : left;
    if (rows == 0) {
        *block = NULL;
        return FEN_OK;
    }
    fen_status status = FEN_OK;
    if (!r->head.fortran) {
        status = read_items(r, rows * r->head.cols * r->head.item_bytes, err);
        if (status == FEN_OK && rows == left) status = expect_end(r, err);
        if (status != FEN_OK) return status;
    }
    fen_table *made = fenp_table_new(fenp_bytes_name(r->in));
    if (!made) return fenp_no_memory(err, (int64_t)sizeof *made, "a table");
    status = make_block(r, rows, made, err);
    if (status != FEN_OK) {
        fen_table_free(made);
        return status;
    }
    r->row += rows;
    *block = made;
    return FEN_OK;
}

/* ---- writing ----------------------------------------------------------------------- */
typedef struct writer {
    fen_sink *sink;
    int64_t cols, rows, announced; /* rows written, and those the header names       */
    unsigned char *bytes;          /* one row                                        */
} writer;

static fen_status write_header(writer *w, fen_error *err)
{
    char text[WRITTEN_BYTES + 1];
    int length = snprintf(text, sizeof text,
                          "\x93NUMPY%c%c%c%c{'descr': '<f8', "
                          "'fortran_order': False, 'shape': (%lld, %lld), }",
                          1, 0, WRITTEN_BYTES - 10, 0, (long long)w->announced, (long long)w->cols);
    memset(text + length, ' ', (size_t)(WRITTEN_BYTES - length));
    text[WRITTEN_BYTES - 1] = '\n';
    return fen_sink_write(w->sink, text, WRITTEN_BYTES, err);
}

static fen_status end_writing(void *state, fen_error *err)
{
    writer *w = state;
    fen_status status = FEN_OK;
    if (w && w->rows != w->announced) {
        w->announced = w->rows;
        status = fen_sink_seek(w->sink, 0, err);
        if (status == FEN_OK) status = write_header(w, err);
    }
    if (w) free(w->bytes);
    free(w);
    return status;
}

static fen_status begin(fen_sink *sink, const fen_table *block, void **state, fen_error *err)
{
    for (int64_t j = 0; j < block->cols; j++)
        if (block->column[j].text)
            return fenp_fail(err, FEN_BAD_DATA,
                             "column \"%.60s\" of %.200s holds text, which npy "
                             "cannot; write CSV instead",
                             block->column[j].name, fenp_table_title(block));
    writer *w = fenp_new_zeroed(1, sizeof *w);
    unsigned char *bytes = fenp_new(block->cols, 8);
    if (!w || !bytes) {
        free(w);
        free(bytes);
        return fenp_no_memory(err, 8 * block->cols, "a npy writer");
    }
    *w = (writer){ sink, block->cols, 0, block->rows, bytes };
    fen_status status = write_header(w, err);
    if (status == FEN_OK) {
        *state = w;
        return FEN_OK;
    }
    free(bytes);
    free(w);
    return status;
}

static void put_double(unsigned char *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int b = 0; b < 8; b++) out[b] = (unsigned char)(bits >> (8 * b));
}

static fen_status write_row(writer *w, const fen_table *block, int64_t row, fen_error *err)
{
    int64_t last = block->cols - 1;
    memset(w->bytes, 0, (size_t)(8 * block->cols));
    if (!block->start)
        for (int64_t j = 0; j <= last; j++)
            put_double(w->bytes + 8 * j, block->cells[row * block->cols + j]);
    else {
        for (int64_t e = block->start[row]; e < block->start[row + 1]; e++)
            put_double(w->bytes + 8 * block->index[e], block->value[e]);
        put_double(w->bytes + 8 * last, block->label[row]);
    }
    w->rows++;
    return fen_sink_write(w->sink, w->bytes, 8 * block->cols, err);
}

static fen_status write_rows(void *state, const fen_table *block, fen_error *err)
{
    writer *w = state;
    if (block->cols != w->cols)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s widens from %lld to %lld columns on the way, "
                         "which a npy file cannot; write svmlight instead",
                         fenp_table_title(block), (long long)w->cols, (long long)block->cols);
    fen_status status = FEN_OK;
    for (int64_t i = 0; status == FEN_OK && i < block->rows; i++)
        status = write_row(w, block, i, err);
    return status;
}

const fen_format fenp_format_npy = { "npy",        "NumPy array of numbers, one or two dimensions",
                                     ".npy",       sniff,
                                     open_reader,  next_block,
                                     close_reader, begin,
                                     write_rows,   end_writing };
