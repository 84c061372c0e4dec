/* rows.c -- sparse rows "label index:value index:value ..." as LIBSVM reads them
 *
 * Special cases, all of them LIBSVM's: an empty line is wrong; indices ascend, and 0 is one
 * (the serial number of a precomputed kernel); blanks may stand before a value; a word
 * without a colon ends the row, its rest is not looked at; white space other than blanks
 * may follow a value ("\r"). Unlike there, numbers are decimal and finite.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "svm/parts.h"

static int blank(char c) { return c == ' ' || c == '\t'; }
static int space(char c) { return blank(c) || (c >= '\n' && c <= '\r'); }

static fen_status grow_pairs(fenp_rows *r, int64_t count, fen_error *err)
{
    if (count <= r->pair_room) return FEN_OK;
    const int64_t room = count + count / 2 + 64;
    int32_t *index = fenp_resize(r->index, room, sizeof *index);
    if (index) r->index = index;
    double *value = fenp_resize(r->value, room, sizeof *value);
    if (value) r->value = value;
    if (!index || !value) return fenp_no_memory(err, fenp_bytes(room, 1, 12), "sparse rows");
    r->pair_room = room;
    return FEN_OK;
}

static fen_status grow_rows(fenp_rows *r, fen_error *err)
{
    if (r->n + 1 < r->room) return FEN_OK;
    const int64_t room = r->n + r->n / 2 + 64;
    int64_t *start = fenp_resize(r->start, room, sizeof *start);
    if (!start) return fenp_no_memory(err, fenp_bytes(room, 1, 8), "sparse rows");
    if (r->n == 0) start[0] = 0;
    r->start = start;
    r->room = room;
    return FEN_OK;
}

/* "7" and "0.25" as an index above previous and a finite value. */
static int pair_of(const char *index, const char *colon, const char *value, const char *end,
                   int64_t previous, int64_t *i, double *v)
{
    while (index < colon && space(*index)) index++;
    if (!fenp_parse_int(index, colon - index, i) || *i <= previous || *i > INT32_MAX) return 0;
    const char *after = fenp_scan_double(value, end, v);
    return after && isfinite(*v) && (after == end || space(*after));
}

fen_status fenp_rows_parse(fenp_rows *r, const char *at, const char *end, int *right,
                           fen_error *err)
{
    fen_status status = grow_rows(r, err);
    if (status != FEN_OK) return status;
    int64_t count = r->start[r->n], previous = -1;
    *right = 1;
    for (;;) {
        while (at < end && *at == ':') at++;
        const char *colon = at < end ? memchr(at, ':', (size_t)(end - at)) : NULL;
        if (!colon) break;
        const char *value = colon + 1;
        while (value < end && blank(*value)) value++;
        const char *stop = value;
        while (stop < end && !blank(*stop)) stop++;
        if ((status = grow_pairs(r, count + 1, err)) != FEN_OK) return status;
        *right = pair_of(at, colon, value, stop, previous, &previous, r->value + count);
        if (!*right) return FEN_OK;
        r->index[count++] = (int32_t)previous;
        at = stop < end ? stop + 1 : end;
    }
    if (previous > r->largest) r->largest = (int32_t)previous;
    r->start[++r->n] = count;
    return FEN_OK;
}

fen_status fenp_rows_copy(fenp_rows *r, const fenp_rows *from, int64_t row, fen_error *err)
{
    const int64_t first = from->start[row], count = from->start[row + 1] - first;
    fen_status status = grow_rows(r, err);
    if (status == FEN_OK) status = grow_pairs(r, r->start[r->n] + count, err);
    if (status != FEN_OK || count == 0) {
        if (status == FEN_OK) r->start[r->n + 1] = r->start[r->n], r->n++;
        return status;
    }
    const int64_t to = r->start[r->n];
    memcpy(r->index + to, from->index + first, (size_t)count * sizeof *r->index);
    memcpy(r->value + to, from->value + first, (size_t)count * sizeof *r->value);
    if (r->index[to + count - 1] > r->largest) r->largest = r->index[to + count - 1];
    r->start[++r->n] = to + count;
    return FEN_OK;
}

double fenp_rows_at(const fenp_rows *r, int64_t row, int32_t index)
{
    int64_t low = r->start[row], high = r->start[row + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (r->index[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->start[row + 1] && r->index[low] == index ? r->value[low] : 0.0;
}

void fenp_rows_free(fenp_rows *r)
{
    free(r->start);
    free(r->index);
    free(r->value);
    *r = (fenp_rows){ 0 };
}

/* ---- rows with labels ---------------------------------------------------------------- */

static fen_status add_label(fen_svm_data *data, double label, fen_error *err)
{
    const int64_t n = data->rows.n;
    if (n == data->label_room) {
        const int64_t room = n + n / 2 + 64;
        double *labels = fenp_resize(data->label, room, sizeof *labels);
        if (!labels) return fenp_no_memory(err, fenp_bytes(room, 1, 8), "labels");
        data->label = labels;
        data->label_room = room;
    }
    data->label[n] = label;
    return FEN_OK;
}

static fen_status add_line(fen_svm_data *data, const char *at, const char *end, int *right,
                           fen_error *err)
{
    double label = 0.0;
    while (at < end && blank(*at)) at++;
    const char *word = at;
    while (at < end && !blank(*at)) at++;
    *right = word < at && fenp_parse_double(word, at - word, &label) && isfinite(label);
    if (!*right) return FEN_OK;
    fen_status status = add_label(data, label, err);
    return status == FEN_OK ? fenp_rows_parse(&data->rows, at, end, right, err) : status;
}

/* Rows that were read before a failure stay in data. */
static fen_status add_lines(fen_svm_data *data, fen_bytes *in, fen_error *err)
{
    fenp_lines lines = { .in = in };
    const char *at = NULL, *end = NULL;
    fen_status status;
    while ((status = fenp_lines_next(&lines, &at, &end, err)) == FEN_OK && at) {
        int right = 1;
        status = add_line(data, at, end, &right, err);
        if (status == FEN_OK && !right)
            status = fenp_fail(err, FEN_BAD_DATA, "Wrong input format at line %lld",
                               (long long)lines.number);
        if (status != FEN_OK) break;
    }
    fenp_lines_close(&lines);
    return status;
}

static fen_status parse(fen_bytes *in, int keep, fen_svm_data **out, fen_error *err)
{
    fen_svm_data *data = fenp_new_zeroed(1, sizeof *data);
    if (!data) return fenp_no_memory(err, (int64_t)sizeof *data, "rows");
    const fen_status status = add_lines(data, in, err);
    if (status == FEN_OK || (status == FEN_BAD_DATA && keep))
        *out = data;
    else
        fen_svm_data_free(data);
    return status;
}

fen_status fenp_svm_data_parse(fen_bytes *in, fen_svm_data **out, fen_error *err)
{
    return parse(in, 0, out, err);
}

static fen_status read_rows(const char *path, int keep, fen_svm_data **out, fen_error *err)
{
    fen_bytes *in = NULL;
    fen_status status = fenp_bytes_open(path, &in, err);
    if (status == FEN_OK) status = parse(in, keep, out, err);
    fenp_bytes_close(in);
    return status;
}

fen_status fen_svm_data_read(const char *path, fen_svm_data **out, fen_error *err)
{
    return read_rows(path, 0, out, err);
}

fen_status fen_svm_data_read_part(const char *path, fen_svm_data **out, fen_error *err)
{
    *out = NULL;
    return read_rows(path, 1, out, err);
}

/* The nonzero numbers of one row of a matrix. */
static fen_status add_dense(fen_svm_data *data, const double *x, int64_t columns, double label,
                            fen_error *err)
{
    fenp_rows *r = &data->rows;
    int finite = isfinite(label);
    for (int64_t j = 0; j < columns; j++) finite = finite && isfinite(x[j]);
    if (!finite)
        return fenp_fail(err, FEN_BAD_DATA, "row %lld holds a number that is not finite",
                         (long long)r->n + 1);
    fen_status status = add_label(data, label, err);
    if (status == FEN_OK) status = grow_rows(r, err);
    if (status == FEN_OK) status = grow_pairs(r, r->start[r->n] + columns, err);
    if (status != FEN_OK) return status;
    int64_t count = r->start[r->n];
    for (int64_t j = 0; j < columns; j++)
        if (x[j] != 0.0) {
            r->index[count] = (int32_t)(j + 1);
            r->value[count++] = x[j];
        }
    r->start[++r->n] = count;
    return FEN_OK;
}

fen_status fen_svm_data_copy(fen_view inputs, const double *labels, fen_svm_data **out,
                             fen_error *err)
{
    if (inputs.cols >= INT32_MAX)
        return fenp_fail(err, FEN_BAD_CALL, "%lld columns are more than an index can count",
                         (long long)inputs.cols);
    fen_svm_data *data = fenp_new_zeroed(1, sizeof *data);
    fen_status status = data ? FEN_OK : fenp_no_memory(err, (int64_t)sizeof *data, "rows");
    for (int64_t i = 0; i < inputs.rows && status == FEN_OK; i++)
        status = add_dense(data, inputs.at + i * inputs.stride, inputs.cols, labels[i], err);
    if (status == FEN_OK) {
        data->rows.largest = (int32_t)inputs.cols;
        *out = data;
    } else
        fen_svm_data_free(data);
    return status;
}

int64_t fen_svm_data_rows(const fen_svm_data *data) { return data->rows.n; }
double fen_svm_data_label(const fen_svm_data *data, int64_t row) { return data->label[row]; }

void fen_svm_data_free(fen_svm_data *data)
{
    if (!data) return;
    fenp_rows_free(&data->rows);
    free(data->label);
    free(data);
}
