/* csv.h -- the parts of the CSV reader: cells, style, layout, blocks
 *
 * Text handed to these functions ends with a newline: the reader adds one that is missing
 * at the end of a file, so that loops over the bytes of a row need no other stop. */
#ifndef FENP_CSV_H
#define FENP_CSV_H
#include "data/table.h"

/* ---- csv_cell.c: bytes to cells ------------------------------------------------------ */
enum { FENP_CSV_BLANK = 1, FENP_CSV_SEPARATOR = 2, FENP_CSV_NEWLINE = 4 };
typedef struct fenp_csv_style {
    unsigned char kind[256]; /* of a byte; 0: part of a cell */
    char separator;          /* ' ': runs of blanks and tabs */
    char newline;            /* '\n', or '\r' in files that know no other */
    char decimal;            /* '.' or ',' */
    int final_separator;     /* rows may end with one more, which means nothing */
} fenp_csv_style;
typedef enum fenp_csv_fault {
    FENP_CSV_FINE,
    FENP_CSV_OPEN_QUOTE,
    FENP_CSV_AFTER_QUOTE
} fenp_csv_fault;
typedef struct fenp_csv_cell {
    const char *at; /* within the quotes, or trimmed */
    int64_t length;
    int quoted, doubled; /* doubled: "" stands for " somewhere in it */
    fenp_csv_fault fault;
} fenp_csv_cell;

fenp_csv_style fenp_csv_style_of(char separator, char newline);
/* The cell that begins at p; returns where it ends: at a separator, a newline or end. */
const char *fenp_csv_take(const fenp_csv_style *style, const char *p, const char *end,
                          fenp_csv_cell *cell);
/* 1 and *p at the next cell of the row, or 0 and *p after the row. */
int fenp_csv_more(const fenp_csv_style *style, const char **p, const char *end);
/* The first row at or after p that is not blank; counts the lines passed over. */
const char *fenp_csv_row(const fenp_csv_style *style, const char *p, const char *end,
                         int64_t *lines);
/* Cuts [at, at + size) at ends of rows into up to parts pieces of similar length, piece k from
 * cut[k] to cut[k+1]. Without whole, bytes after the last complete row stay out.
 * Returns the number of pieces, 0 if there is no complete row. */
int fenp_csv_cut(const fenp_csv_style *style, const char *at, int64_t size, int whole, int parts,
                 const char **cut);
int64_t fenp_csv_newlines(const char *p, const char *end, char newline);
int fenp_csv_number(const fenp_csv_style *style, const fenp_csv_cell *cell, double *value);
/* Copies a cell with its doubled quotes made single; out has room for cell->length bytes. */
int64_t fenp_csv_unquote(const fenp_csv_cell *cell, char *out);
/* A cell fit for a message: its beginning. */
void fenp_csv_excerpt(const fenp_csv_cell *cell, char out[64]);

/* ---- csv_sniff.c: what the file is like ------------------------------------------------ */
enum { FENP_CSV_WORDS = 64 };
typedef struct fenp_csv_missing {
    char *text; /* owns the words */
    int count, numbers;
    struct {
        const char *at;
        int64_t length;
    } word[FENP_CSV_WORDS];
    double number[FENP_CSV_WORDS]; /* the words that are numbers */
} fenp_csv_missing;
typedef struct fenp_csv_layout {
    const char *name; /* of the file; borrowed */
    const fen_reading *like; /* of a model that the rows are for; NULL: none */
    fenp_csv_style style;
    fenp_csv_missing missing;
    int header;
    int64_t cols;
    fenp_column *column;      /* names and kinds */
    int64_t skip, skip_lines; /* bytes and lines before the first row of data */
    int64_t rows;             /* of data in the sample */
} fenp_csv_layout;
fen_status fenp_csv_missing_words(const char *list, fenp_csv_missing *out, fen_error *err);
int fenp_csv_is_missing(const fenp_csv_missing *missing, const fenp_csv_cell *cell);
char fenp_csv_newline(const char *text, int64_t size);
/* Fills everything but name and missing, which are given. *enough = 0: the sample holds fewer
 * than two rows, and the file has more bytes. */
fen_status fenp_csv_sniff(const char *text, int64_t size, int whole, fenp_csv_layout *layout,
                          int *enough, fen_error *err);
fen_status fenp_csv_fault_error(const char *file, int64_t line, int64_t column,
                                fenp_csv_fault fault, fen_error *err);
void fenp_csv_layout_clear(fenp_csv_layout *layout);

/* ---- csv_parse.c: rows to a table ------------------------------------------------------- */
/* The rows of the pieces that fenp_csv_cut made; line: of the first byte; *lines: in them.
 * meanwhile is called once by one of the threads, while others parse. */
fen_status fenp_csv_parse(const fenp_csv_layout *layout, const char *const *cut, int parts,
                          int threads, int64_t line, void (*meanwhile)(void *user), void *user,
                          int64_t *lines, fen_table **out, fen_error *err);

/* ---- csv.c -------------------------------------------------------------------------------- */
/* As the format's open, with blocks of about block_bytes (tests want tiny ones). */
fen_status fenp_csv_open(fen_bytes *in, const fen_options *o, int64_t block_bytes, void **state,
                         fen_error *err);

/* ---- csv_write.c -------------------------------------------------------------------------- */
fen_status fenp_csv_begin(fen_sink *sink, const fen_table *block, void **state, fen_error *err);
fen_status fenp_csv_rows(void *state, const fen_table *block, fen_error *err);
fen_status fenp_csv_end(void *state, fen_error *err);
#endif
