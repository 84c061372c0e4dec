/* prepare_bind.c -- columns of a preparation found by name in a table
 *
 * Order does not matter, further columns are ignored, and idle inputs may be missing. A sparse
 * file says nothing of columns beyond its largest index, or below its smallest: there, every
 * absent "x7" is a column of zeros. Cost: one comparison per column while the orders agree or the
 * numbers of a sparse file tell the place, a binary search where they do not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/prepare_parts.h"

typedef struct entry {
    const char *name;
    int64_t column;
} entry;
typedef struct finder {
    const fen_table *table;
    int64_t next;  /* where the order of the file would have the name      */
    entry *sorted; /* NULL until the orders differ                         */
} finder;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

static int is_numbered(const char *name) /* x0, x1, ... */
{
    size_t digits = strspn(name + (name[0] == 'x'), "0123456789");
    return name[0] == 'x' && digits > 0 && name[digits + 1] == '\0';
}

static int number_of(const char *name, int64_t *number)
{
    return fenp_parse_int(name + 1, (int64_t)strlen(name + 1), number);
}

/* The columns of a sparse file are x7, x8, ... and a label: where x9 is, or that it is zeros.
 * 0: the table is not like that, or the name is none of these. */
static int find_numbered(const fen_table *table, const char *name, int64_t *column)
{
    const int64_t last = table->cols - 2;
    int64_t first, end, number;
    if (!table->start || last < 0 || !is_numbered(name) || !is_numbered(table->column[0].name) ||
        !is_numbered(table->column[last].name) || !number_of(table->column[0].name, &first) ||
        !number_of(table->column[last].name, &end) || !number_of(name, &number) ||
        end - first != last)
        return 0;
    *column = number < first || number > end ? FENP_COLUMN_ZEROS : number - first;
    return *column < 0 || strcmp(table->column[*column].name, name) == 0;
}

static fen_status find_column(finder *f, const char *name, int64_t *column, fen_error *err)
{
    const fen_table *table = f->table;
    if (f->next < table->cols && strcmp(table->column[f->next].name, name) == 0) {
        *column = f->next++;
        return FEN_OK;
    }
    if (find_numbered(table, name, column)) return FEN_OK;
    if (table->cols > 0 && strcmp(table->column[table->cols - 1].name, name) == 0) {
        *column = table->cols - 1;
        return FEN_OK;
    }
    if (!f->sorted) {
        f->sorted = fenp_new(table->cols, sizeof *f->sorted);
        if (!f->sorted)
            return fenp_no_memory(err, table->cols * (int64_t)sizeof *f->sorted, "column names");
        for (int64_t j = 0; j < table->cols; j++)
            f->sorted[j] = (entry){ table->column[j].name, j };
        qsort(f->sorted, (size_t)table->cols, sizeof *f->sorted, by_name);
    }
    entry wanted = { name, 0 };
    const entry *found = bsearch(&wanted, f->sorted, (size_t)table->cols, sizeof wanted, by_name);
    *column = found                               ? found->column
              : table->start && is_numbered(name) ? FENP_COLUMN_ZEROS
                                                  : FENP_COLUMN_ABSENT;
    f->next = found ? found->column + 1 : f->next;
    return FEN_OK;
}

/* ---- sentences ---------------------------------------------------------------------- */
typedef struct missing {
    const char *name[3];
    int64_t count;
} missing;

static void note_missing(missing *m, const char *name)
{
    if (m->count < 3) m->name[m->count] = name;
    m->count++;
}

static fen_status say_missing(const fen_table *table, const missing *m, fen_error *err)
{
    char list[256] = "", more[48] = "";
    int used = 0;
    for (int64_t k = 0; k < m->count && k < 3; k++)
        used += snprintf(list + used, sizeof list - (size_t)used, "%s\"%.60s\"", k ? ", " : "",
                         m->name[k]);
    if (m->count > 3) snprintf(more, sizeof more, " and %lld more", (long long)(m->count - 3));
    return fenp_fail(
        err, FEN_BAD_DATA,
        "%.150s has no column%s %s%s, which the model was trained on: add %s (cells may "
        "be empty), or train on a file without %s",
        fenp_table_title(table), m->count > 1 ? "s" : "", list, more, m->count > 1 ? "them" : "it",
        m->count > 1 ? "them" : "it");
}

/* A column of numbers that holds text now; columns of text that hold numbers are looked at
 * cell by cell, since gaps alone look like numbers. */
static fen_status check_kind(const fen_table *table, int64_t column, fen_error *err)
{
    const fenp_column *c = &table->column[column];
    double number;
    if (!c->text || c->level_count == 0) return FEN_OK;
    int64_t k = 0;
    while (k + 1 < c->level_count &&
           fenp_parse_double(c->levels[k], (int64_t)strlen(c->levels[k]), &number))
        k++;
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s: column \"%.60s\" holds text (\"%.40s\"), but it "
                     "held numbers when the model was trained: correct its cells (they may be "
                     "empty), or train anew with the column as text (--text)",
                     fenp_table_title(table), c->name, c->levels[k]);
}

/* ---- binding ------------------------------------------------------------------------ */
static fen_status bind_inputs(const fenp_prep *prep, finder *f, int all, missing *absent,
                              fenp_binding *out, fen_error *err)
{
    for (int64_t i = 0; i < prep->inputs; i++) {
        const fenp_input *input = &prep->input[i];
        int needed = all || (fenp_input_features(input) > 0 && !input->idle);
        fen_status status = find_column(f, input->name, &out->input[i], err);
        if (status == FEN_OK && out->input[i] >= 0 && !input->text && needed)
            status = check_kind(f->table, out->input[i], err);
        if (status != FEN_OK) return status;
        if (out->input[i] == FENP_COLUMN_ABSENT && needed) note_missing(absent, input->name);
    }
    return FEN_OK;
}

static fen_status bind_others(const fenp_prep *prep, finder *f, int all, missing *absent,
                              fenp_binding *out, fen_error *err)
{
    fen_status status = FEN_OK;
    out->weights = FENP_COLUMN_ABSENT;
    for (int64_t t = 0; status == FEN_OK && t < prep->targets; t++) {
        status = find_column(f, prep->target[t], &out->target[t], err);
        if (status == FEN_OK && out->target[t] == FENP_COLUMN_ABSENT && all)
            note_missing(absent, prep->target[t]);
    }
    if (status == FEN_OK && prep->weights && all) {
        status = find_column(f, prep->weights, &out->weights, err);
        if (status == FEN_OK && out->weights == FENP_COLUMN_ABSENT)
            note_missing(absent, prep->weights);
    }
    return status;
}

fen_status fenp_bind(const fenp_prep *prep, const fen_table *table, int all, fenp_binding *out,
                     fen_error *err)
{
    finder f = { table, 0, NULL };
    missing absent = { { NULL }, 0 };
    *out = (fenp_binding){ table, fenp_new(prep->inputs, sizeof(int64_t)),
                           fenp_new(prep->targets, sizeof(int64_t)), FENP_COLUMN_ABSENT };
    fen_status status =
        out->input && out->target
            ? FEN_OK
            : fenp_no_memory(err, 8 * (prep->inputs + prep->targets), "the columns of the model");
    if (status == FEN_OK) status = bind_inputs(prep, &f, all, &absent, out, err);
    if (status == FEN_OK) status = bind_others(prep, &f, all, &absent, out, err);
    if (status == FEN_OK && absent.count > 0) status = say_missing(table, &absent, err);
    free(f.sorted);
    if (status != FEN_OK) fenp_unbind(out);
    return status;
}

int64_t fenp_prep_lacking(const fenp_prep *prep, const fen_table *table)
{
    fenp_binding binding;
    int64_t count = 0;
    if (fenp_bind(prep, table, 0, &binding, NULL) != FEN_OK) return 0;
    for (int64_t i = 0; i < prep->inputs; i++)
        count += prep->input[i].idle && fenp_input_features(&prep->input[i]) > 0 &&
                 binding.input[i] == FENP_COLUMN_ABSENT;
    fenp_unbind(&binding);
    return count;
}

void fenp_unbind(fenp_binding *binding)
{
    free(binding->input);
    free(binding->target);
    binding->input = binding->target = NULL;
}

double fenp_bound_cell(const fenp_binding *binding, int64_t row, int64_t column)
{
    return column >= 0                   ? fenp_table_cell(binding->table, row, column)
           : column == FENP_COLUMN_ZEROS ? 0.0
                                         : NAN;
}
