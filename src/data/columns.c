/* columns.c -- the columns of a table that a program, not a file, has named */
#include <stdio.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/columns.h"

fen_status fenp_table_name_columns(fen_table *table, int64_t cols, fenp_namer name,
                                   const void *user, fen_error *err)
{
    table->column = fenp_new_zeroed(cols, sizeof *table->column);
    if (!table->column)
        return fenp_no_memory(err, fenp_bytes(cols, 1, sizeof *table->column), "the columns");
    for (; table->cols < cols; table->cols++) {
        char space[32];
        char *copy = fenp_strdup(name(user, table->cols, space));
        if (!copy) return fenp_no_memory(err, sizeof space, "a column name");
        table->column[table->cols].name = copy;
    }
    return FEN_OK;
}

typedef struct numbering {
    int64_t first, count;
    const char *last;
} numbering;

static const char *number_name(const void *user, int64_t column, char space[32])
{
    const numbering *numbers = user;
    if (column == numbers->count) return numbers->last;
    snprintf(space, 32, "x%lld", (long long)(numbers->first + column));
    return space;
}

fen_status fenp_table_number_columns(fen_table *table, int64_t first, int64_t count,
                                     const char *last, fen_error *err)
{
    numbering numbers = { first, count, last };
    return fenp_table_name_columns(table, count + (last != NULL), number_name, &numbers, err);
}

const char *fenp_table_title(const fen_table *table)
{
    return table->origin && table->origin[0] ? table->origin : "the table";
}

const char *fenp_table_place(const fen_table *table, int64_t row, char *out, int64_t size)
{
    if (table->origin && table->origin[0] && table->first_line > 0)
        snprintf(out, (size_t)size, "%.200s:%lld", table->origin,
                 (long long)(table->first_line + row));
    else if (table->origin && table->origin[0])
        snprintf(out, (size_t)size, "%.200s: row %lld", table->origin,
                 (long long)(table->first_row + row + 1));
    else
        snprintf(out, (size_t)size, "row %lld", (long long)(table->first_row + row + 1));
    return out;
}
