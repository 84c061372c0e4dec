/* table.h -- raw columns as they stood in a file, dense or sparse */
#ifndef FENP_TABLE_H
#define FENP_TABLE_H
#include "fenchel/extend.h"

typedef struct fenp_column {
    char   *name;
    int     text;              /* 1: cells are codes 0,1,... into levels              */
    int     label;             /* 1: text of it keeps the blanks around a cell        */
    char  **levels;            /* distinct cells in order; grown by fenp_column_code  */
    int64_t level_count;
    int64_t *slot, slots;      /* hash index of levels, kept by fenp_column_code      */
} fenp_column;

/* How the cells of a file became numbers and texts. */
struct fen_reading {
    char   *missing;           /* CSV: comma list of cells that mean "missing"; NULL: no CSV */
    char    separator, decimal;
    int     header;
    int     counts_from;       /* svmlight: 0 or 1, its first index; -1: no svmlight  */
    const struct fenp_prep *prep;   /* of a model: its columns; else NULL             */
};
extern const char fenp_missing_words[];     /* what "auto" stands for */
/* 0: done, -1: out of memory. */
int fenp_reading_copy(const fen_reading *from, fen_reading *to);

struct fen_table {
    int64_t rows, cols;        /* cols counts target and weight columns too           */
    fenp_column *column;
    char   *origin;            /* file name for messages; "" when there is none       */
    int64_t first_line;        /* of the first row in its file, if a line holds a row;
                                  else (blank lines, quoted newlines, no file) 0      */
    int64_t first_row;         /* rows before the first one, if this is a part        */
    fen_reading reading;       /* CSV; all 0: another format, or memory               */
    /* dense: rows x cols, row-major; NaN: missing. NULL when the table is sparse. */
    double *cells;
    /* sparse (CSR): entries of row i are start[i]..start[i+1]-1, columns ascending;
     * the last column (the label) is dense and stands in label. */
    int64_t *start, *index;
    double  *value, *label;
    int64_t row_room, entry_room;   /* what the arrays can hold; 0: exactly full      */
};
/* A table with nothing in it; columns get their names later. */
fen_table *fenp_table_new(const char *origin);
/* Appends the rows of block (same columns; text codes are translated; sparse blocks
 * may widen the table). */
fen_status fenp_table_append(fen_table *table, const fen_table *block, fen_error *err);
/* Dense ones get room for so many rows, if there is memory for it. */
void       fenp_table_reserve(fen_table *table, int64_t rows);
/* Gives a sparse table the further columns (found by name) of a wider one; the label stays last. */
fen_status fenp_table_widen(fen_table *table, const fen_table *like, fen_error *err);
/* count rows from row first on; borrows everything, so it is not freed. */
fen_table  fenp_table_window(const fen_table *table, int64_t first, int64_t count);
int64_t    fenp_table_find(const fen_table *table, const char *name);   /* -1: no such column */
/* The code of text in column (appended when new); -1: out of memory. */
int64_t    fenp_column_code(fenp_column *column, const char *text, int64_t length);
/* Makes the cells of a column whose codes are those of from into codes of column; 0: done,
 * -1: out of memory. stride: between one row and the next. */
int        fenp_column_adopt(fenp_column *column, const fenp_column *from, double *cells,
                             int64_t rows, int64_t stride);
void       fenp_column_clear(fenp_column *column);
/* One cell; NaN when missing. Sparse rows: a binary search. */
double     fenp_table_cell(const fen_table *table, int64_t row, int64_t col);
#endif
