/* table_sparse.c -- tables of sparse inputs that are in memory
 *
 * Method: rows are copied, columns dealt out to the rows in their order, so that either way the
 *   entries of a row ascend.
 * Special cases: zeros among the entries are not stored, as in svmlight files, nor is anything but
 *   finite numbers taken. Without labels these are 0.
 * Cost: two passes over the entries. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "data/columns.h"

/* "row 3" or "column 3": what entries stand in. */
static fen_status bad_entry(const fen_sparse *x, int64_t line, const char *problem, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_DATA, "%s %lld of the sparse inputs %s",
                     x->by_columns ? "column" : "row", (long long)line + 1, problem);
}

static fen_status check_line(const fen_sparse *x, int64_t line, fen_error *err)
{
    const int64_t others = x->by_columns ? x->rows : x->cols;
    int64_t before = -1;
    if (x->start[line] < 0 || x->start[line + 1] < x->start[line])
        return bad_entry(x, line, "ends before it begins: start must ascend from 0", err);
    for (int64_t e = x->start[line]; e < x->start[line + 1]; e++) {
        if (x->index[e] <= before || x->index[e] >= others)
            return bad_entry(x, line, "has an index that does not ascend or is out of range", err);
        if (!isfinite(x->value[e]))
            return bad_entry(x, line, "has an entry that is not a finite number", err);
        before = x->index[e];
    }
    return FEN_OK;
}

static fen_status check(const fen_sparse *x, fen_error *err)
{
    const int64_t lines = x->by_columns ? x->cols : x->rows;
    fen_status status = FEN_OK;
    if (x->rows < 0 || x->cols < 1)
        return fenp_fail(err, FEN_BAD_CALL, "a table needs at least one column");
    for (int64_t k = 0; k < lines && status == FEN_OK; k++) status = check_line(x, k, err);
    return status;
}

/* Entries of every row, then where they begin. */
static void count_entries(const fen_sparse *x, int64_t *start)
{
    const int64_t lines = x->by_columns ? x->cols : x->rows;
    for (int64_t k = 0; k < lines; k++)
        for (int64_t e = x->start[k]; e < x->start[k + 1]; e++)
            start[(x->by_columns ? x->index[e] : k) + 1] += x->value[e] != 0.0;
    for (int64_t i = 0; i < x->rows; i++) start[i + 1] += start[i];
}

/* next: where the next entry of a row goes. */
static void deal(const fen_sparse *x, int64_t *next, fen_table *to)
{
    const int64_t lines = x->by_columns ? x->cols : x->rows;
    for (int64_t k = 0; k < lines; k++)
        for (int64_t e = x->start[k]; e < x->start[k + 1]; e++) {
            if (x->value[e] == 0.0) continue;
            const int64_t at = next[x->by_columns ? x->index[e] : k]++;
            to->index[at] = x->by_columns ? k : x->index[e];
            to->value[at] = x->value[e];
        }
}

static fen_status fill(const fen_sparse *x, const double *labels, fen_table *to, fen_error *err)
{
    const int64_t n = x->rows;
    to->start = fenp_new_zeroed(n + 1, sizeof *to->start);
    to->label = fenp_new_zeroed(n, sizeof *to->label);
    int64_t *next = fenp_new(n, sizeof *next);
    if (to->start) count_entries(x, to->start);
    const int64_t entries = to->start ? to->start[n] : 0;
    to->index = fenp_new(entries, sizeof *to->index);
    to->value = fenp_new(entries, sizeof *to->value);
    const int lacking = !to->start || !to->label || !next || !to->index || !to->value;
    for (int64_t i = 0; i < n && !lacking; i++) {
        next[i] = to->start[i];
        if (labels) to->label[i] = labels[i];
    }
    if (!lacking) deal(x, next, to);
    free(next);
    return lacking ? fenp_no_memory(err, fenp_bytes(entries + n, 24, 1), "the rows of a table")
                   : FEN_OK;
}

static fen_status check_labels(const double *labels, int64_t n, fen_error *err)
{
    for (int64_t i = 0; labels && i < n; i++)
        if (isinf(labels[i]))
            return fenp_fail(err, FEN_BAD_DATA, "label %lld is infinite", (long long)i + 1);
    return FEN_OK;
}

fen_status fen_table_copy_sparse(const fen_sparse *inputs, const double *labels, fen_table **out,
                                 fen_error *err)
{
    fen_status status = check(inputs, err);
    if (status == FEN_OK) status = check_labels(labels, inputs->rows, err);
    if (status != FEN_OK) return status;
    fen_table *table = fenp_table_new("");
    if (!table) return fenp_no_memory(err, sizeof *table, "a table");
    status = fenp_table_number_columns(table, 1, inputs->cols, "label", err);
    if (status == FEN_OK) status = fill(inputs, labels, table, err);
    table->rows = inputs->rows;
    if (status == FEN_OK)
        *out = table;
    else
        fen_table_free(table);
    return status;
}
