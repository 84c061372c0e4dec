/* table.c -- raw columns as they stood in a file, dense or sparse
 *
 * Method: cells are row-major doubles, NaN where missing; text cells are codes into the
 *   levels of their column, found through a hash table with open addressing. A table that
 *   grows keeps up to half as much room again, so appending is linear in total and the
 *   cells are moved by realloc (which remaps pages) and never held twice.
 * Cost: appending copies each cell once; a code is one hash and one comparison.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/columns.h"
#include "data/table.h"

/* ---- levels of a text column ------------------------------------------------------------ */

/* Where text is, or would go, in the index. slots is a power of two. */
static int64_t find_slot(const fenp_column *column, const char *text, int64_t length)
{
    uint64_t at = XXH3_64bits(text, (size_t)length);
    for (;; at++) {
        int64_t place = (int64_t)(at & (uint64_t)(column->slots - 1));
        int64_t code = column->slot[place];
        if (code < 0) return place;
        const char *level = column->levels[code];
        if (strncmp(level, text, (size_t)length) == 0 && level[length] == 0) return place;
    }
}

/* Makes the index anew, with room for twice the levels at half load. */
static int rebuild_index(fenp_column *column)
{
    int64_t slots = 16;
    while (slots < 4 * column->level_count) slots *= 2;
    int64_t *slot = fenp_new(slots, sizeof *slot);
    if (!slot) return -1;
    memset(slot, 0xff, (size_t)slots * sizeof *slot); /* all -1 */
    free(column->slot);
    column->slot = slot;
    column->slots = slots;
    for (int64_t code = 0; code < column->level_count; code++) {
        const char *level = column->levels[code];
        column->slot[find_slot(column, level, (int64_t)strlen(level))] = code;
    }
    return 0;
}

static int push_level(fenp_column *column, const char *text, int64_t length)
{
    int64_t count = column->level_count;
    if ((count & (count - 1)) == 0) { /* full at every power of two */
        char **levels = fenp_resize(column->levels, count ? 2 * count : 1, sizeof *levels);
        if (!levels) return -1;
        column->levels = levels;
    }
    char *copy = fenp_new(length + 1, 1);
    if (!copy) return -1;
    memcpy(copy, text, (size_t)length);
    copy[length] = 0;
    column->levels[column->level_count++] = copy;
    return 0;
}

int64_t fenp_column_code(fenp_column *column, const char *text, int64_t length)
{
    if (2 * (column->level_count + 1) > column->slots && rebuild_index(column) != 0) return -1;
    int64_t place = find_slot(column, text, length);
    if (column->slot[place] < 0) {
        if (push_level(column, text, length) != 0) return -1;
        column->slot[place] = column->level_count - 1;
    }
    return column->slot[place];
}

int fenp_column_adopt(fenp_column *column, const fenp_column *from, double *cells, int64_t rows,
                      int64_t stride)
{
    double *code = fenp_new(from->level_count, sizeof *code);
    if (!code) return -1;
    for (int64_t i = 0; i < from->level_count; i++) {
        int64_t mine = fenp_column_code(column, from->levels[i], (int64_t)strlen(from->levels[i]));
        if (mine < 0) {
            free(code);
            return -1;
        }
        code[i] = (double)mine;
    }
    for (int64_t i = 0; i < rows; i++)
        if (!isnan(cells[i * stride])) cells[i * stride] = code[(int64_t)cells[i * stride]];
    free(code);
    return 0;
}

void fenp_column_clear(fenp_column *column)
{
    for (int64_t i = 0; i < column->level_count; i++) free(column->levels[i]);
    free(column->levels);
    free(column->slot);
    free(column->name);
}

static void clear_columns(fenp_column *column, int64_t count)
{
    for (int64_t j = 0; j < count; j++) fenp_column_clear(&column[j]);
    free(column);
}

/* ---- how they were read ------------------------------------------------------------------ */

const char fenp_missing_words[] = "NA,N/A,?,null,NULL,NaN,nan";

int fenp_reading_copy(const fen_reading *from, fen_reading *to)
{
    char *missing = from->missing ? fenp_strdup(from->missing) : NULL;
    if (from->missing && !missing) return -1;
    const struct fenp_prep *prep = to->prep;
    *to = *from;
    to->missing = missing, to->prep = prep;
    return 0;
}

/* ---- tables ------------------------------------------------------------------------------ */

fen_table *fenp_table_new(const char *origin)
{
    fen_table *table = fenp_new_zeroed(1, sizeof *table);
    if (!table) return NULL;
    table->origin = fenp_strdup(origin);
    if (table->origin) return table;
    free(table);
    return NULL;
}

void fen_table_free(fen_table *table)
{
    if (!table) return;
    clear_columns(table->column, table->cols);
    free(table->origin);
    free(table->reading.missing);
    free(table->cells);
    free(table->start);
    free(table->index);
    free(table->value);
    free(table->label);
    free(table);
}

int64_t fen_table_rows(const fen_table *table) { return table->rows; }
int64_t fen_table_columns(const fen_table *table) { return table->cols; }

const char *fen_table_column_name(const fen_table *table, int64_t column)
{
    return column >= 0 && column < table->cols ? table->column[column].name : NULL;
}

int64_t fenp_table_find(const fen_table *table, const char *name)
{
    for (int64_t j = 0; j < table->cols; j++)
        if (strcmp(table->column[j].name, name) == 0) return j;
    return -1;
}

double fenp_table_cell(const fen_table *table, int64_t row, int64_t col)
{
    if (table->cells) return table->cells[row * table->cols + col];
    if (col == table->cols - 1) return table->label[row];
    int64_t low = table->start[row], high = table->start[row + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (table->index[middle] < col)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->start[row + 1] && table->index[low] == col ? table->value[low] : 0.0;
}

fen_table fenp_table_window(const fen_table *table, int64_t first, int64_t count)
{
    fen_table part = *table;
    part.rows = count;
    part.row_room = part.entry_room = 0;
    part.first_row += first;
    part.first_line += part.first_line > 0 ? first : 0;
    if (part.cells) part.cells += first * part.cols;
    if (part.start) part.start += first;
    if (part.label) part.label += first;
    return part;
}

/* ---- appending --------------------------------------------------------------------------- */

/* Names and kinds of the columns [from, to) of like, appended to column[*count]. */
static int copy_columns(fenp_column *column, int64_t *count, const fen_table *like, int64_t from,
                        int64_t to)
{
    for (int64_t j = from; j < to; j++) {
        char *name = fenp_strdup(like->column[j].name);
        if (!name) return -1;
        column[(*count)++] = (fenp_column){ .name = name, .text = like->column[j].text };
    }
    return 0;
}

/* Where the columns of a sparse table begin among those of a wider one, by name. */
static int64_t offset_in(const fen_table *wide, const fen_table *narrow)
{
    int64_t at = narrow->cols > 1 ? fenp_table_find(wide, narrow->column[0].name) : 0;
    return at > 0 ? at : 0;
}

fen_status fenp_table_widen(fen_table *table, const fen_table *like, fen_error *err)
{
    int64_t own = table->cols - 1, theirs = like->cols - 1, before = offset_in(like, table);
    int64_t after = theirs - before - own > 0 ? theirs - before - own : 0;
    if (before + after == 0) return FEN_OK;
    fenp_column *front = fenp_new(before + own + after + 1, sizeof *front);
    fenp_column *back = fenp_new(after, sizeof *back);
    int64_t fronts = 0, backs = 0;
    if (!front || !back || copy_columns(front, &fronts, like, 0, before) ||
        copy_columns(back, &backs, like, theirs - after, theirs)) {
        clear_columns(front, fronts);
        clear_columns(back, backs);
        return fenp_no_memory(err, fenp_bytes(theirs + 1, 1, sizeof *front), "the columns");
    }
    memcpy(front + before, table->column, (size_t)own * sizeof *front);
    memcpy(front + before + own, back, (size_t)after * sizeof *front);
    front[before + own + after] = table->column[own];
    free(back);
    free(table->column);
    table->column = front;
    table->cols = before + own + after + 1;
    for (int64_t e = 0; before > 0 && e < table->start[table->rows]; e++) table->index[e] += before;
    return FEN_OK;
}

/* The room that an array of now entries gets when it must hold need. */
static int64_t more_room(int64_t now, int64_t need)
{
    return need > now + now / 2 ? need : now + now / 2;
}

static int resize_doubles(double **at, int64_t rows, int64_t cols)
{
    int64_t bytes = fenp_bytes(rows, cols, sizeof **at);
    double *resized = bytes < 0 ? NULL : fenp_resize(*at, bytes, 1);
    if (!resized) return -1;
    *at = resized;
    return 0;
}

static int resize_integers(int64_t **at, int64_t count)
{
    int64_t *resized = fenp_resize(*at, count, sizeof **at);
    if (!resized) return -1;
    *at = resized;
    return 0;
}

static fen_status make_room(fen_table *table, int64_t rows, int64_t entries, fen_error *err)
{
    int sparse = !table->cells && table->start;
    if (table->row_room < table->rows) table->row_room = table->rows;
    if (rows > table->row_room) {
        int64_t room = more_room(table->row_room, rows);
        if (sparse
                ? resize_doubles(&table->label, room, 1) || resize_integers(&table->start, room + 1)
                : resize_doubles(&table->cells, room, table->cols))
            return fenp_no_memory(err, fenp_bytes(room, table->cols, 8), "the rows of a table");
        table->row_room = room;
    }
    if (!sparse) return FEN_OK;
    if (table->entry_room < table->start[table->rows])
        table->entry_room = table->start[table->rows];
    if (entries > table->entry_room) {
        int64_t room = more_room(table->entry_room, entries);
        if (resize_doubles(&table->value, room, 1) || resize_integers(&table->index, room))
            return fenp_no_memory(err, fenp_bytes(room, 16, 1), "the entries of a sparse table");
        table->entry_room = room;
    }
    return FEN_OK;
}

/* In large pages, and no row is moved again; where there is no memory for that the room grows as it
 * did. */
void fenp_table_reserve(fen_table *table, int64_t rows)
{
    const int64_t bytes = table->cells ? fenp_bytes(rows, table->cols, sizeof(double)) : -1;
    double *cells = bytes < 0 || rows <= table->rows ? NULL : fenp_new_large(bytes, 1);
    if (!cells) return;
    memcpy(cells, table->cells, (size_t)(table->rows * table->cols) * sizeof *cells);
    free(table->cells);
    table->cells = cells, table->row_room = rows;
}

static fen_status append_dense(fen_table *table, const fen_table *block, fen_error *err)
{
    int64_t cols = table->cols;
    fen_status status = make_room(table, table->rows + block->rows, 0, err);
    if (status != FEN_OK) return status;
    double *to = table->cells + table->rows * cols;
    memcpy(to, block->cells, (size_t)(block->rows * cols) * sizeof *to);
    for (int64_t j = 0; j < cols; j++) {
        if (!table->column[j].text) continue;
        if (fenp_column_adopt(&table->column[j], &block->column[j], to + j, block->rows, cols))
            return fenp_no_memory(err, block->column[j].level_count, "text levels");
    }
    table->rows += block->rows;
    return FEN_OK;
}

static fen_status append_sparse(fen_table *table, const fen_table *block, fen_error *err)
{
    int64_t base = table->start[table->rows], entries = block->start[block->rows];
    fen_status status = fenp_table_widen(table, block, err);
    if (status == FEN_OK) status = make_room(table, table->rows + block->rows, base + entries, err);
    if (status != FEN_OK) return status;
    memcpy(table->label + table->rows, block->label, (size_t)block->rows * sizeof(double));
    int64_t offset = offset_in(table, block);
    for (int64_t e = 0; e < entries; e++) table->index[base + e] = block->index[e] + offset;
    if (entries > 0) memcpy(table->value + base, block->value, (size_t)entries * sizeof(double));
    for (int64_t i = 1; i <= block->rows; i++)
        table->start[table->rows + i] = base + block->start[i];
    table->rows += block->rows;
    return FEN_OK;
}

/* An empty table takes the shape of the first block. */
static fen_status take_shape(fen_table *table, const fen_table *block, fen_error *err)
{
    table->first_line = block->first_line;
    if (!block->cells && block->start) {
        table->start = fenp_new_zeroed(1, sizeof *table->start);
        if (!table->start) return fenp_no_memory(err, sizeof *table->start, "a table");
    }
    table->column = fenp_new(block->cols, sizeof *table->column);
    if (!table->column || copy_columns(table->column, &table->cols, block, 0, block->cols))
        return fenp_no_memory(err, fenp_bytes(block->cols, 1, sizeof *table->column),
                              "the columns");
    return FEN_OK;
}

fen_status fenp_table_append(fen_table *table, const fen_table *block, fen_error *err)
{
    if (table->cols == 0) {
        fen_status status = take_shape(table, block, err);
        if (status != FEN_OK) return status;
    }
    if (block->first_line != table->first_line + table->rows) table->first_line = 0;
    if (!block->cells && block->start) return append_sparse(table, block, err);
    if (block->cols != table->cols)
        return fenp_fail(err, FEN_BAD_DATA, "%s: rows of %lld columns after rows of %lld",
                         table->origin, (long long)block->cols, (long long)table->cols);
    return append_dense(table, block, err);
}

/* ---- tables from memory --------------------------------------------------------------------- */

static fen_status check_views(fen_view inputs, fen_view labels, fen_error *err)
{
    if (inputs.rows < 0 || inputs.cols < 0 || labels.cols < 0 || inputs.cols + labels.cols == 0)
        return fenp_fail(err, FEN_BAD_CALL, "a table needs at least one column");
    if (labels.cols > 0 && labels.rows != inputs.rows)
        return fenp_fail(err, FEN_BAD_CALL, "%lld rows of inputs but %lld labels",
                         (long long)inputs.rows, (long long)labels.rows);
    if ((inputs.rows > 1 && inputs.stride < inputs.cols) ||
        (labels.rows > 1 && labels.stride < labels.cols))
        return fenp_fail(err, FEN_BAD_CALL, "the stride of a view is shorter than its rows");
    return FEN_OK;
}

typedef struct counts {
    int64_t inputs, labels;
} counts;

static const char *column_name(const void *user, int64_t column, char space[32])
{
    const counts *count = user;
    int64_t label = column - count->inputs;
    if (label >= count->labels) return "weight";
    if (label == 0 && count->labels == 1) return "y";
    snprintf(space, 32, "%c%lld", label < 0 ? 'x' : 'y',
             (long long)(label < 0 ? column : label) + 1);
    return space;
}

static fen_status copy_cells(fen_table *table, fen_view inputs, fen_view labels,
                             const double *weights, fen_error *err)
{
    int64_t d = inputs.cols, t = labels.cols;
    if (resize_doubles(&table->cells, inputs.rows, table->cols))
        return fenp_no_memory(err, fenp_bytes(inputs.rows, table->cols, 8), "the rows of a table");
    for (int64_t i = 0; i < inputs.rows; i++) {
        double *to = table->cells + i * table->cols;
        for (int64_t j = 0; j < d; j++) to[j] = inputs.at[i * inputs.stride + j];
        for (int64_t j = 0; j < t; j++) to[d + j] = labels.at[i * labels.stride + j];
        if (weights) to[d + t] = weights[i];
        for (int64_t j = 0; j < table->cols; j++)
            if (isinf(to[j]))
                return fenp_fail(err, FEN_BAD_DATA, "row %lld: column %lld (\"%s\") is infinite",
                                 (long long)i + 1, (long long)j + 1, table->column[j].name);
    }
    table->rows = inputs.rows;
    return FEN_OK;
}

fen_status fen_table_copy(fen_view inputs, fen_view labels, const double *weights, fen_table **out,
                          fen_error *err)
{
    fen_status status = check_views(inputs, labels, err);
    if (status != FEN_OK) return status;
    fen_table *table = fenp_table_new("");
    if (!table) return fenp_no_memory(err, sizeof *table, "a table");
    counts count = { inputs.cols, labels.cols };
    int64_t cols = inputs.cols + labels.cols + (weights != NULL);
    status = fenp_table_name_columns(table, cols, column_name, &count, err);
    if (status == FEN_OK) status = copy_cells(table, inputs, labels, weights, err);
    if (status != FEN_OK)
        fen_table_free(table);
    else
        *out = table;
    return status;
}
