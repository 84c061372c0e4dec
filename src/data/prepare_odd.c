/* prepare_odd.c -- cells that training had nothing like
 *
 * Predictions are made of them all the same: the mean stands for a missing number, "other" for a
 * text that training did not have. Whoever reads the predictions should know.
 * Special cases: columns that no prediction needs, and numbers whose gaps training knew, are not
 *   odd. A text column with as many levels as are kept had others, perhaps this one: not odd.
 *   Missing texts, and sparse tables, have nothing that could be told.
 * Cost: one pass over the columns that matter. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/prepare_parts.h"

/* Numbers that training always had. */
static int is_complete(const fenp_input *input)
{
    return !input->text && !input->gaps && !input->constant && !input->idle;
}

static int is_listed(const fenp_input *input)
{
    return input->text && !input->idle && input->level_count < FENP_LEVELS_MAX;
}

static void name_first(char *to, size_t room, const char *name)
{
    if (to[0] == '\0') snprintf(to, room, "%s", name);
}

static void count_gaps(const fenp_input *input, const fenp_binding *b, int64_t column,
                       fen_odd_cells *odd)
{
    const fen_table *t = b->table;
    int64_t gaps = 0;
    for (int64_t i = 0; i < t->rows; i++) gaps += isnan(t->cells[i * t->cols + column]);
    odd->filled += gaps;
    if (gaps > 0) name_first(odd->filled_column, sizeof odd->filled_column, input->name);
}

/* Numbers, too, where training had texts. unseen: room for as many as the column has levels. */
static void count_texts(const fenp_input *input, const fenp_binding *b, int64_t column,
                        char *unseen, fen_odd_cells *odd)
{
    const fen_table *t = b->table;
    const fenp_column *texts = &t->column[column];
    for (int64_t k = 0; k < texts->level_count; k++)
        unseen[k] = fenp_input_level(input, texts->levels[k]) < 0;
    for (int64_t i = 0; i < t->rows; i++) {
        const double cell = t->cells[i * t->cols + column];
        char number[33];
        if (isnan(cell)) continue;
        if (texts->text ? !unseen[(int64_t)cell] : fenp_input_level_of_number(input, cell) >= 0)
            continue;
        odd->unseen++;
        if (odd->unseen_column[0] != '\0') continue;
        if (!texts->text) number[fenp_print_double(cell, number)] = '\0';
        name_first(odd->unseen_text, sizeof odd->unseen_text,
                   texts->text ? texts->levels[(int64_t)cell] : number);
        name_first(odd->unseen_column, sizeof odd->unseen_column, input->name);
    }
}

fen_status fenp_prep_odd(const fenp_prep *prep, const fen_table *table, fen_odd_cells *odd,
                         fen_error *err)
{
    fenp_binding b;
    if (table->start) return FEN_OK;
    fen_status status = fenp_bind(prep, table, 0, &b, err);
    if (status != FEN_OK) return status;
    for (int64_t i = 0; i < prep->inputs && status == FEN_OK; i++) {
        const fenp_input *input = &prep->input[i];
        const int64_t column = b.input[i];
        if (column < 0) continue;
        if (is_complete(input)) count_gaps(input, &b, column, odd);
        if (!is_listed(input)) continue;
        char *unseen = fenp_new(table->column[column].level_count, 1);
        if (unseen)
            count_texts(input, &b, column, unseen, odd);
        else
            status = fenp_no_memory(err, table->column[column].level_count, "text levels");
        free(unseen);
    }
    fenp_unbind(&b);
    return status;
}
