/* columns.h -- the columns of a table that a program, not a file, has named */
#ifndef FENP_COLUMNS_H
#define FENP_COLUMNS_H
#include "data/table.h"

/* The name of a column; space is there for names that must be composed. */
typedef const char *(*fenp_namer)(const void *user, int64_t column, char space[32]);
/* Gives a table without columns cols columns of numbers. */
fen_status fenp_table_name_columns(fen_table *table, int64_t cols, fenp_namer name,
                                   const void *user, fen_error *err);
/* x<first>, x<first+1>, ...: count of them, then last (may be NULL). */
fen_status fenp_table_number_columns(fen_table *table, int64_t first, int64_t count,
                                     const char *last, fen_error *err);
/* "train.csv", or words where there is no file. */
const char *fenp_table_title(const fen_table *table);
/* "train.csv:17", or "row 16" where there is no file. */
const char *fenp_table_place(const fen_table *table, int64_t row, char *out, int64_t size);
#endif
