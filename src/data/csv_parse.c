/* csv_parse.c -- rows of CSV text to a table, in parallel
 *
 * Method: the text comes in pieces that end with whole rows. Each piece is parsed on its own
 *   into its place in the cells of the table, with its own codes for text cells; then pieces
 *   are closed up and codes translated in file order, so that the result does not depend on
 *   the number of threads. A piece stops at its first error; the error of the first piece
 *   that has one is the first in the file, because all pieces before it were read to the end.
 * Room: a row takes at least one byte per column (separators and newline), so the rows of a
 *   piece are at most the newlines in it, and at most bytes / columns; one more for the row
 *   in which an error is met.
 * Cost: numbers are converted where they stand (one pass, no copy); everything else takes
 *   the path through fenp_csv_take.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/csv.h"

typedef enum problem {
    NONE,
    NOT_A_NUMBER,
    NOT_FINITE,
    WRONG_COUNT,
    BAD_QUOTE,
    BINARY,
    NO_MEMORY
} problem;

typedef struct piece {
    const char *at, *end;
    double *cells;
    fenp_column *column; /* levels of text cells, as many as the layout has columns */
    int64_t room, rows;
    int64_t lines;                 /* passed so far                       */
    int64_t first_line, last_line; /* passed before the first and last row */
    char *scratch;                 /* for cells with doubled quotes */
    int64_t scratch_room;
    /* what went wrong, where */
    problem problem;
    int64_t bad_line, bad_column, bad_cells;
    fenp_csv_fault fault;
    char excerpt[64];
} piece;

/* ---- one cell ------------------------------------------------------------------------- */

static const char *give_up(piece *w, problem what, int64_t line, int64_t column)
{
    w->problem = what;
    w->bad_line = line;
    w->bad_column = column;
    return NULL;
}

/* A label is what is written between its separators. A carriage return belongs to the line end, and
 * blanks that are separators to no cell. */
static void keep_blanks(const fenp_csv_style *style, const char *p, const char *after,
                        fenp_csv_cell *cell)
{
    if (cell->quoted || style->separator == ' ') return;
    while (after > cell->at + cell->length && after[-1] == '\r') after--;
    cell->at = p;
    cell->length = after - p;
}

static int64_t text_code(piece *w, const fenp_csv_cell *cell, int64_t j)
{
    if (!cell->doubled) return fenp_column_code(&w->column[j], cell->at, cell->length);
    if (cell->length > w->scratch_room) {
        char *scratch = fenp_resize(w->scratch, cell->length, 1);
        if (!scratch) return -1;
        w->scratch = scratch;
        w->scratch_room = cell->length;
    }
    return fenp_column_code(&w->column[j], w->scratch, fenp_csv_unquote(cell, w->scratch));
}

static problem number_value(const fenp_csv_layout *layout, const fenp_csv_cell *cell, double *value)
{
    if (fenp_is_not_finite_word(cell->at, cell->length)) return NOT_FINITE;
    if (!fenp_csv_number(&layout->style, cell, value)) return NOT_A_NUMBER;
    for (int i = 0; i < layout->missing.numbers; i++)
        if (*value == layout->missing.number[i]) *value = (double)NAN;
    return isinf(*value) ? NOT_FINITE : NONE;
}

/* Any cell; returns where it ends, NULL on an error. */
static const char *parse_cell(const fenp_csv_layout *layout, piece *w, const char *p, int64_t j,
                              double *value)
{
    fenp_csv_cell cell;
    const char *after = fenp_csv_take(&layout->style, p, w->end, &cell);
    int64_t line = w->lines;
    if (cell.fault != FENP_CSV_FINE) {
        w->fault = cell.fault;
        return give_up(w, BAD_QUOTE, line, j);
    }
    if (cell.quoted)
        w->lines += fenp_csv_newlines(cell.at, cell.at + cell.length, layout->style.newline);
    if (fenp_csv_is_missing(&layout->missing, &cell)) {
        *value = (double)NAN;
        return after;
    }
    if (memchr(cell.at, 0, (size_t)cell.length)) return give_up(w, BINARY, line, j);
    if (layout->column[j].text) {
        if (layout->column[j].label) keep_blanks(&layout->style, p, after, &cell);
        int64_t code = text_code(w, &cell, j);
        *value = (double)code;
        return code < 0 ? give_up(w, NO_MEMORY, line, j) : after;
    }
    problem what = number_value(layout, &cell, value);
    if (what == NONE) return after;
    fenp_csv_excerpt(&cell, w->excerpt);
    return give_up(w, what, line, j);
}

/* A plain number, which most cells are; NULL: look again with parse_cell. */
static inline const char *parse_number(const fenp_csv_style *style, const char *p, const char *end,
                                       double *value)
{
    while (style->kind[(unsigned char)*p] == FENP_CSV_BLANK) p++;
    const char *after = fenp_scan_double(p, end, value);
    if (!after || isinf(*value)) return NULL;
    while (style->kind[(unsigned char)*after] == FENP_CSV_BLANK) after++;
    return style->kind[(unsigned char)*after] ? after : NULL;
}

/* ---- rows ------------------------------------------------------------------------------- */

/* All is well if the cell at p, one too many, is the nothing after a final separator. */
static const char *surplus(const fenp_csv_layout *layout, piece *w, const char *p, int64_t line)
{
    fenp_csv_cell cell;
    int64_t cells = layout->cols;
    int empty, more;
    do {
        p = fenp_csv_take(&layout->style, p, w->end, &cell);
        empty = cell.length == 0 && !cell.quoted;
        cells++;
        more = fenp_csv_more(&layout->style, &p, w->end);
    } while (more);
    if (layout->style.final_separator && empty && cells == layout->cols + 1) return p;
    w->bad_cells = cells;
    return give_up(w, WRONG_COUNT, line, 0);
}

/* The row at p; returns where the next one begins, NULL on an error. */
static const char *parse_row(const fenp_csv_layout *layout, piece *w, const char *p, double *row)
{
    const fenp_csv_style *style = &layout->style;
    const int64_t line = w->lines, cols = layout->cols;
    const int plain = style->decimal == '.' && layout->missing.numbers == 0;
    int64_t j = 0;
    for (int more = 1; more; j++) {
        if (j == cols) {
            p = surplus(layout, w, p, line);
            break;
        }
        const char *after = NULL;
        if (plain && !layout->column[j].text) after = parse_number(style, p, w->end, &row[j]);
        if (!after && !(after = parse_cell(layout, w, p, j, &row[j]))) return NULL;
        p = after;
        if (*p == style->separator && *p != ' ')
            p++; /* the usual case of fenp_csv_more */
        else
            more = fenp_csv_more(style, &p, w->end);
    }
    if (j < cols) {
        w->bad_cells = j;
        return give_up(w, WRONG_COUNT, line, 0);
    }
    w->lines++;
    return p;
}

static void parse_piece(const fenp_csv_layout *layout, piece *w)
{
    const char *p = fenp_csv_row(&layout->style, w->at, w->end, &w->lines);
    w->first_line = w->lines;
    while (p && p < w->end) {
        w->last_line = w->lines;
        p = parse_row(layout, w, p, w->cells + w->rows * layout->cols);
        if (!p) return;
        w->rows++;
        p = fenp_csv_row(&layout->style, p, w->end, &w->lines);
    }
}

/* ---- errors ------------------------------------------------------------------------------- */

/* The name of a column if a shell and a comma list take it as it is, else its number. */
static const char *handle(const fenp_csv_layout *layout, int64_t column, char number[32])
{
    const char *name = layout->column[column].name;
    size_t plain = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    if (name[plain] == 0 && plain < 60 && (name[0] < '0' || name[0] > '9')) return name;
    fenp_print_double((double)column + 1, number);
    return number;
}

static fen_status cell_error(const fenp_csv_layout *layout, const piece *w, int64_t line,
                             fen_error *err)
{
    const char *decimal = layout->style.decimal == ',' ? " with a decimal comma" : "";
    long long column = w->bad_column + 1;
    const char *name = layout->column[w->bad_column].name;
    char number[32];
    if (w->problem == NOT_A_NUMBER)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s:%lld: column %lld (\"%.60s\") is \"%s\", expected a number%s; "
                         "correct it, leave the cell empty if it is missing, or read the column as "
                         "text with --text %s, in training and prediction alike",
                         layout->name, (long long)line, column, name, w->excerpt, decimal,
                         handle(layout, w->bad_column, number));
    int is_nan = strpbrk(w->excerpt, "aA") != NULL;
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s:%lld: column %lld (\"%.60s\") is \"%s\", which is not a finite "
                     "number; leave the cell empty if it is missing%s%s",
                     layout->name, (long long)line, column, name, w->excerpt,
                     is_nan ? ", or add --missing " : "", is_nan ? w->excerpt : "");
}

static fen_status report(const fenp_csv_layout *layout, const piece *w, int64_t line,
                         fen_error *err)
{
    switch (w->problem) {
    case BAD_QUOTE:
        return fenp_csv_fault_error(layout->name, line, w->bad_column + 1, w->fault, err);
    case WRONG_COUNT:
        return fenp_fail(err, FEN_BAD_DATA, "%.200s:%lld: %lld cell%s, expected %lld like the %s",
                         layout->name, (long long)line, (long long)w->bad_cells,
                         w->bad_cells == 1 ? "" : "s", (long long)layout->cols,
                         layout->header ? "header" : "first row");
    case BINARY:
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s looks like a binary file: there is a zero byte in line %lld",
                         layout->name, (long long)line);
    case NO_MEMORY: return fenp_no_memory(err, 0, "text cells");
    default: return cell_error(layout, w, line, err);
    }
}

/* ---- a block -------------------------------------------------------------------------------- */

static void count_room(piece *w, int64_t cols, char newline)
{
    int64_t newlines = fenp_csv_newlines(w->at, w->end, newline);
    int64_t most = (w->end - w->at) / cols + 1;
    w->room = newlines < most ? newlines : most;
}

static fen_status name_columns(const fenp_csv_layout *layout, fen_table *table, fen_error *err)
{
    table->column = fenp_new_zeroed(layout->cols, sizeof *table->column);
    if (!table->column) return fenp_no_memory(err, layout->cols, "columns");
    for (; table->cols < layout->cols; table->cols++) {
        fenp_column *column = &table->column[table->cols];
        column->text = layout->column[table->cols].text;
        column->name = fenp_strdup(layout->column[table->cols].name);
        if (!column->name) return fenp_no_memory(err, 0, "column names");
    }
    return FEN_OK;
}

/* Gives every piece its place in the cells of the table. */
static fen_status make_room(const fenp_csv_layout *layout, fen_table *table, piece *w, int parts,
                            fen_error *err)
{
    int64_t rows = 0, cols = layout->cols;
    for (int k = 0; k < parts; k++) rows += w[k].room;
    int64_t bytes = fenp_bytes(rows, cols, sizeof(double));
    table->cells = bytes < 0 ? NULL : fenp_new(bytes, 1);
    if (!table->cells) return fenp_no_memory(err, bytes, "a block of rows");
    rows = 0;
    for (int k = 0; k < parts; k++) {
        w[k].cells = table->cells + rows * cols;
        rows += w[k].room;
    }
    fen_status status = name_columns(layout, table, err);
    int64_t texts = 0;
    for (int64_t j = 0; j < cols; j++) texts += layout->column[j].text;
    for (int k = 0; k < parts && texts > 0 && status == FEN_OK; k++) {
        w[k].column = fenp_new_zeroed(cols, sizeof *w[k].column);
        if (!w[k].column) status = fenp_no_memory(err, cols, "text cells");
    }
    return status;
}

/* Pieces close up behind each other, and their text codes become those of the table. */
static fen_status join(fen_table *table, piece *w, int parts, fen_error *err)
{
    int64_t cols = table->cols;
    for (int k = 0; k < parts; k++) {
        double *to = table->cells + table->rows * cols;
        if (to != w[k].cells) memmove(to, w[k].cells, (size_t)(w[k].rows * cols) * sizeof *to);
        for (int64_t j = 0; w[k].column && j < cols; j++)
            if (table->column[j].text &&
                fenp_column_adopt(&table->column[j], &w[k].column[j], to + j, w[k].rows, cols))
                return fenp_no_memory(err, w[k].column[j].level_count, "text cells");
        table->rows += w[k].rows;
    }
    double *fitted = fenp_resize(table->cells, table->rows * cols, sizeof *fitted);
    if (fitted) table->cells = fitted; /* else it stays larger than needed */
    return FEN_OK;
}

static fen_status collect(const fenp_csv_layout *layout, fen_table *table, piece *w, int parts,
                          int64_t line, int64_t *lines, fen_error *err)
{
    int64_t rows = 0, first = 0;
    int row_by_line = 1;
    *lines = 0;
    for (int k = 0; k < parts; k++) {
        if (w[k].problem != NONE) return report(layout, &w[k], line + *lines + w[k].bad_line, err);
        if (w[k].rows > 0) {
            const int64_t at = line + *lines + w[k].first_line;
            if (rows == 0) first = at;
            row_by_line &= at == first + rows && w[k].last_line - w[k].first_line == w[k].rows - 1;
            rows += w[k].rows;
        }
        *lines += w[k].lines;
    }
    table->first_line = row_by_line ? first : 0;
    return join(table, w, parts, err);
}

static void clear_pieces(piece *w, int parts, int64_t cols)
{
    for (int k = 0; w && k < parts; k++) {
        for (int64_t j = 0; w[k].column && j < cols; j++) fenp_column_clear(&w[k].column[j]);
        free(w[k].column);
        free(w[k].scratch);
    }
    free(w);
}

fen_status fenp_csv_parse(const fenp_csv_layout *layout, const char *const *cut, int parts,
                          int threads, int64_t line, void (*meanwhile)(void *user), void *user,
                          int64_t *lines, fen_table **out, fen_error *err)
{
    fen_table *table = fenp_table_new(layout->name);
    piece *w = fenp_new_zeroed(parts, sizeof *w);
    fen_status status = table && w ? FEN_OK : fenp_no_memory(err, sizeof *table, "a table");
    if (status == FEN_OK) {
        for (int k = 0; k < parts; k++) {
            w[k].at = cut[k];
            w[k].end = cut[k + 1];
            count_room(&w[k], layout->cols, layout->style.newline);
        }
        status = make_room(layout, table, w, parts, err);
    }
    if (status == FEN_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (parts > 1)
        for (int k = -1; k < parts; k++) {
            if (k < 0)
                meanwhile(user);
            else
                parse_piece(layout, &w[k]);
        }
        status = collect(layout, table, w, parts, line, lines, err);
    }
    clear_pieces(w, parts, layout->cols);
    if (status != FEN_OK)
        fen_table_free(table);
    else
        *out = table;
    return status;
}
