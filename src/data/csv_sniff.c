/* csv_sniff.c -- what a CSV file is like: separator, decimal sign, header, kinds of columns
 *
 * Separator: each candidate splits the first 100 rows. Its score is the share of rows with
 *   the same number of cells, times 1 + the share of cells that are numbers; the best one
 *   with at least two columns wins, earlier candidates at a tie. Blanks separate only what
 *   is mostly numbers (else they are part of a text). No winner: one column.
 * Decimal comma: only where the separator is a semicolon, numbers with a comma occur in the
 *   sample (or in the training file of the model that the rows are for) and numbers with a
 *   point do not.
 * Header: the first row has a text over a column of numbers, or a quoted number over a column
 *   of unquoted ones; or all of it is text and no cell comes back further down its column.
 *   Rows for a model: a row with the name of a column that it needs is a header; else there is
 *   none if its training file had none.
 * Kinds: a column is text if more than half of its cells that are there are not numbers.
 *   Words like "nan" count as numbers here, so that they are reported and not made levels.
 * The sample is the first 1000 rows, or as many of them as the first block holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/csv.h"
#include "data/prepare.h"

enum { SPLIT_ROWS = 100, SAMPLE_ROWS = 1000 };
static const char separators[] = { ',', ';', '\t', '|', ' ' };

typedef enum content { MISSING, NUMBER, TEXT } content;

/* ---- missing cells ---------------------------------------------------------------------- */

static int add_word(void *user, const char *item, int64_t length)
{
    fenp_csv_missing *missing = user;
    if (missing->count == FENP_CSV_WORDS) return 1;
    missing->word[missing->count].at = item;
    missing->word[missing->count++].length = length;
    missing->numbers += fenp_parse_double(item, length, &missing->number[missing->numbers]);
    return 0;
}

fen_status fenp_csv_missing_words(const char *list, fenp_csv_missing *out, fen_error *err)
{
    *out = (fenp_csv_missing){ .text = fenp_strdup(list ? list : "") };
    if (!out->text) return fenp_no_memory(err, 0, "the words for missing cells");
    if (fenp_each_item(out->text, add_word, out))
        return fenp_fail(err, FEN_BAD_CALL, "--missing has more than %d words", FENP_CSV_WORDS);
    return FEN_OK;
}

int fenp_csv_is_missing(const fenp_csv_missing *missing, const fenp_csv_cell *cell)
{
    if (cell->length == 0) return 1;
    for (int i = 0; i < missing->count; i++)
        if (missing->word[i].length == cell->length &&
            memcmp(missing->word[i].at, cell->at, (size_t)cell->length) == 0)
            return 1;
    return 0;
}

static content content_of(const fenp_csv_layout *layout, const fenp_csv_style *style,
                          const fenp_csv_cell *cell)
{
    double value;
    if (fenp_csv_is_missing(&layout->missing, cell)) return MISSING;
    if (cell->fault != FENP_CSV_FINE) return TEXT;
    if (fenp_is_not_finite_word(cell->at, cell->length)) return NUMBER;
    return fenp_csv_number(style, cell, &value) ? NUMBER : TEXT;
}

/* ---- separator and decimal sign ------------------------------------------------------------ */

char fenp_csv_newline(const char *text, int64_t size)
{
    int old_mac = !memchr(text, '\n', (size_t)size) && memchr(text, '\r', (size_t)size);
    return old_mac ? '\r' : '\n';
}

/* The complete rows of a sample: where they end. */
static const char *sample_end(const fenp_csv_style *style, const char *text, int64_t size,
                              int whole)
{
    const char *cut[2];
    return fenp_csv_cut(style, text, size, whole, 1, cut) ? cut[1] : text;
}

/* What the cells of a few rows look like under a style. */
typedef struct split {
    int rows;
    int64_t cells[SPLIT_ROWS]; /* in each row */
    int open[SPLIT_ROWS];      /* the last one is empty */
    int64_t numbers, filled;   /* in rows after the first, unless it is the only */
    int64_t commas, points;    /* numbers that have one */
} split;

static void count_cell(const fenp_csv_layout *layout, fenp_csv_style *style,
                       const fenp_csv_cell *cell, split *s)
{
    content what = content_of(layout, style, cell);
    if (what == TEXT && style->separator == ';' && memchr(cell->at, ',', (size_t)cell->length)) {
        fenp_csv_style comma = *style;
        comma.decimal = ',';
        what = content_of(layout, &comma, cell);
        s->commas += what == NUMBER;
    } else if (what == NUMBER) {
        s->points += memchr(cell->at, '.', (size_t)cell->length) != NULL;
    }
    s->numbers += what == NUMBER;
    s->filled += what != MISSING;
}

static void split_rows(const fenp_csv_layout *layout, fenp_csv_style *style, const char *text,
                       const char *end, split *s)
{
    *s = (split){ 0 };
    int64_t lines = 0;
    const char *p = fenp_csv_row(style, text, end, &lines);
    for (; p < end && s->rows < SPLIT_ROWS; p = fenp_csv_row(style, p, end, &lines)) {
        if (s->rows == 1) s->numbers = s->filled = s->commas = s->points = 0;
        fenp_csv_cell cell;
        int64_t cells = 0;
        do {
            p = fenp_csv_take(style, p, end, &cell);
            count_cell(layout, style, &cell, s);
            cells++;
        } while (fenp_csv_more(style, &p, end));
        s->open[s->rows] = cell.length == 0 && !cell.quoted;
        s->cells[s->rows++] = cells;
    }
}

/* How well the split explains the rows; 0: not at all. */
static double score(const split *s, char separator)
{
    int best = 0;
    for (int i = 0; i < s->rows; i++) {
        int alike = 0;
        for (int j = 0; j < s->rows; j++)
            alike += s->cells[j] == s->cells[i] || (s->open[j] && s->cells[j] == s->cells[i] + 1);
        if (s->cells[i] > 1 && alike > best) best = alike;
    }
    double numbers = s->filled > 0 ? (double)s->numbers / (double)s->filled : 0.0;
    if (best == 0 || (separator == ' ' && numbers < 0.5)) return 0.0;
    /* rows that do not split at all speak for one column */
    int single = 0;
    for (int i = 0; i < s->rows; i++) single += s->cells[i] == 1;
    if (single > best) return 0.0;
    return best * (1.0 + numbers) / s->rows;
}

static void choose_style(const char *text, int64_t size, int whole, char newline,
                         fenp_csv_layout *layout)
{
    double best = 0.0;
    layout->style = fenp_csv_style_of(',', newline);
    for (size_t k = 0; k < sizeof separators; k++) {
        split s;
        fenp_csv_style style = fenp_csv_style_of(separators[k], newline);
        split_rows(layout, &style, text, sample_end(&style, text, size, whole), &s);
        double here = score(&s, separators[k]);
        if (here <= best) continue;
        best = here;
        const int likely = separators[k] == ';' && layout->like && layout->like->decimal == ',';
        if ((s.commas > 0 || likely) && s.points == 0) style.decimal = ',';
        layout->style = style;
    }
}

/* ---- columns -------------------------------------------------------------------------------- */

/* What stands in a column of the sample, the first row apart. */
typedef struct tally {
    content first;
    int comes_back; /* the first cell occurs again */
    fenp_csv_cell first_cell;
    int32_t numbers, quoted_numbers, texts;
} tally;

typedef struct sample {
    tally *column;
    int64_t cols;               /* cells in the first row */
    int first_open;             /* its last cell is empty */
    int64_t rows, lines;        /* rows after the first; lines before it */
    const char *first, *second; /* where the first row begins, and what follows it */
    int64_t first_lines;        /* that the first row takes */
    /* rows after the first, by number of cells compared with it */
    int64_t shorter_by_one, same_open, longer_open;
} sample;

static int64_t count_cells(const fenp_csv_style *style, const char *p, const char *end)
{
    fenp_csv_cell cell;
    int64_t cells = 0;
    do {
        p = fenp_csv_take(style, p, end, &cell);
        cells++;
    } while (fenp_csv_more(style, &p, end));
    return cells;
}

static fen_status examine_first(const fenp_csv_layout *layout, const char *p, const char *end,
                                sample *s, fen_error *err)
{
    const fenp_csv_style *style = &layout->style;
    s->cols = count_cells(style, p, end);
    s->column = fenp_new_zeroed(s->cols, sizeof *s->column);
    if (!s->column) return fenp_no_memory(err, fenp_bytes(s->cols, 1, sizeof(tally)), "columns");
    s->first = p;
    for (int64_t j = 0; j < s->cols; j++) {
        fenp_csv_cell *cell = &s->column[j].first_cell;
        p = fenp_csv_take(style, p, end, cell);
        s->column[j].first = content_of(layout, style, cell);
        s->first_open = cell->length == 0 && !cell->quoted;
        fenp_csv_more(style, &p, end);
    }
    s->second = p;
    s->first_lines = fenp_csv_newlines(s->first, p, style->newline);
    return FEN_OK;
}

static void examine_cell(const fenp_csv_layout *layout, const fenp_csv_cell *cell, tally *t)
{
    content what = content_of(layout, &layout->style, cell);
    t->numbers += what == NUMBER;
    t->quoted_numbers += what == NUMBER && cell->quoted;
    t->texts += what == TEXT;
    t->comes_back |= cell->length == t->first_cell.length &&
                     memcmp(cell->at, t->first_cell.at, (size_t)cell->length) == 0;
}

static const char *examine_row(const fenp_csv_layout *layout, const char *p, const char *end,
                               sample *s)
{
    fenp_csv_cell cell;
    int64_t cells = 0;
    do {
        p = fenp_csv_take(&layout->style, p, end, &cell);
        if (cells < s->cols) examine_cell(layout, &cell, &s->column[cells]);
        cells++;
    } while (fenp_csv_more(&layout->style, &p, end));
    int open = cell.length == 0 && !cell.quoted;
    s->shorter_by_one += cells == s->cols - 1;
    s->same_open += cells == s->cols && open;
    s->longer_open += cells == s->cols + 1 && open;
    s->rows++;
    return p;
}

static fen_status examine(const fenp_csv_layout *layout, const char *text, const char *end,
                          sample *s, fen_error *err)
{
    *s = (sample){ 0 };
    const char *p = fenp_csv_row(&layout->style, text, end, &s->lines);
    if (p == end) return FEN_OK;
    fen_status status = examine_first(layout, p, end, s, err);
    if (status != FEN_OK) return status;
    int64_t lines = 0;
    p = fenp_csv_row(&layout->style, s->second, end, &lines);
    for (; p < end && s->rows < SAMPLE_ROWS; p = fenp_csv_row(&layout->style, p, end, &lines))
        p = examine_row(layout, p, end, s);
    return FEN_OK;
}

/* A separator at the end of all rows, or of all but the header, makes no column. */
static void drop_final_separator(fenp_csv_layout *layout, const sample *s)
{
    layout->cols = s->cols;
    if (s->cols > 1 && s->first_open && s->same_open + s->shorter_by_one == s->rows) {
        layout->cols--;
        layout->style.final_separator = 1;
    } else if (s->rows > 0 && s->longer_open == s->rows) {
        layout->style.final_separator = 1;
    }
}

static int is_text_column(const tally *t) { return t->texts > t->numbers; }

/* Whether the first row has the first column that no prediction does without. */
static int names_input(const fenp_csv_layout *layout, const sample *s)
{
    const fenp_prep *prep = layout->like->prep;
    int64_t i = 0;
    while (i < prep->inputs && prep->input[i].idle) i++;
    if (i == prep->inputs) return 0;
    const char *name = prep->input[i].name;
    const size_t length = strlen(name);
    for (int64_t j = 0; j < layout->cols; j++) {
        const fenp_csv_cell *cell = &s->column[j].first_cell;
        if ((size_t)cell->length == length && memcmp(cell->at, name, length) == 0) return 1;
    }
    return 0;
}

static int has_header(const fenp_csv_layout *layout, const sample *s)
{
    int64_t names = 0, alike = 0;
    if (layout->like && names_input(layout, s)) return 1;
    if (layout->like && layout->like->missing && !layout->like->header) return 0;
    for (int64_t j = 0; j < layout->cols; j++) {
        const tally *t = &s->column[j];
        int numbers_below = t->numbers > 0 && !is_text_column(t);
        if (t->first == TEXT && numbers_below) return 1;
        if (t->first == NUMBER && t->first_cell.quoted && numbers_below && t->quoted_numbers == 0)
            return 1;
        names += t->first == TEXT;
        alike += t->first == NUMBER || (t->first == TEXT && t->comes_back);
    }
    return names > 0 && alike == 0;
}

/* ---- names ------------------------------------------------------------------------------- */

fen_status fenp_csv_fault_error(const char *file, int64_t line, int64_t column,
                                fenp_csv_fault fault, fen_error *err)
{
    if (fault == FENP_CSV_OPEN_QUOTE)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s:%lld: the quote that opens column %lld is never closed", file,
                         (long long)line, (long long)column);
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s:%lld: column %lld goes on after its closing quote; a quote inside a "
                     "quoted cell is written twice",
                     file, (long long)line, (long long)column);
}

static char *name_of(const fenp_csv_layout *layout, const fenp_csv_cell *cell, int64_t column)
{
    if (layout->header && cell->length > 0) {
        char *name = fenp_new(cell->length + 1, 1);
        if (name) name[fenp_csv_unquote(cell, name)] = 0;
        return name;
    }
    char numbered[32];
    snprintf(numbered, sizeof numbered, "x%lld", (long long)column + 1);
    return fenp_strdup(numbered);
}

/* The levels of a scratch column serve as a set of the names so far. */
static fen_status check_name(const fenp_csv_layout *layout, int64_t line, int64_t j,
                             fenp_column *seen, fen_error *err)
{
    const char *name = layout->column[j].name;
    int64_t code = fenp_column_code(seen, name, (int64_t)strlen(name));
    if (code < 0) return fenp_no_memory(err, 0, "column names");
    if (code == j) return FEN_OK;
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s:%lld: columns %lld and %lld are both called \"%.60s\"; rename one",
                     layout->name, (long long)line, (long long)code + 1, (long long)j + 1, name);
}

static fen_status name_columns(fenp_csv_layout *layout, const sample *s, fen_error *err)
{
    int64_t cols = layout->cols, line = s->lines + 1;
    fen_status status = FEN_OK;
    fenp_column seen = { 0 };
    layout->cols = 0;
    layout->column = fenp_new_zeroed(cols, sizeof *layout->column);
    if (!layout->column) return fenp_no_memory(err, cols, "columns");
    for (int64_t j = 0; j < cols && status == FEN_OK; j++) {
        const fenp_csv_cell *cell = &s->column[j].first_cell;
        if (layout->header && cell->fault != FENP_CSV_FINE) {
            int64_t passed = fenp_csv_newlines(s->first, cell->at, layout->style.newline);
            status = fenp_csv_fault_error(layout->name, line + passed, j + 1, cell->fault, err);
            break;
        }
        layout->column[j].name = name_of(layout, cell, j);
        if (!layout->column[j].name)
            status = fenp_no_memory(err, cell->length, "column names");
        else
            layout->cols++;
        if (status == FEN_OK) status = check_name(layout, line, j, &seen, err);
    }
    fenp_column_clear(&seen);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------- */

static fen_status lay_out(const char *text, const sample *s, fenp_csv_layout *layout,
                          fen_error *err)
{
    drop_final_separator(layout, s);
    layout->header = has_header(layout, s);
    layout->rows = s->rows + !layout->header;
    layout->skip = (layout->header ? s->second : s->first) - text;
    layout->skip_lines = s->lines + (layout->header ? s->first_lines : 0);
    fen_status status = name_columns(layout, s, err);
    if (status != FEN_OK) return status;
    for (int64_t j = 0; j < layout->cols; j++) {
        tally t = s->column[j];
        if (!layout->header) {
            t.numbers += t.first == NUMBER;
            t.texts += t.first == TEXT;
        }
        layout->column[j].text = is_text_column(&t);
    }
    return FEN_OK;
}

fen_status fenp_csv_sniff(const char *text, int64_t size, int whole, fenp_csv_layout *layout,
                          int *enough, fen_error *err)
{
    sample s;
    choose_style(text, size, whole, fenp_csv_newline(text, size), layout);
    const char *end = sample_end(&layout->style, text, size, whole);
    fen_status status = examine(layout, text, end, &s, err);
    *enough = whole || s.rows > 0;
    if (status == FEN_OK && *enough && s.column) status = lay_out(text, &s, layout, err);
    free(s.column);
    return status;
}

void fenp_csv_layout_clear(fenp_csv_layout *layout)
{
    for (int64_t j = 0; j < layout->cols; j++) fenp_column_clear(&layout->column[j]);
    free(layout->column);
    free(layout->missing.text);
}
