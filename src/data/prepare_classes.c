/* prepare_classes.c -- targets that are classes
 *
 * What a target is: text is classes; so are numbers with exactly two values; any numbers are
 * with --task classification. Only rows that can be used count. Classes are sorted, numbers by
 * size and text bytewise, and kept as they are written (numbers in their shortest form).
 * A label is found by its text, else by its value: a file may write 1 as 1.0, and have further
 * labels in its column, which make text of the numbers.
 * Cost: a pass over the target, with a binary search among at most 1000 values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/prepare_parts.h"

/* ---- labels of a table ----------------------------------------------------------------- */

/* The number that a label is; NaN: it is none. */
static double value_of(const char *label, int64_t length)
{
    double value;
    return fenp_parse_double(label, length, &value) ? value : NAN;
}

int64_t fenp_prep_class(const fenp_prep *prep, const char *label, int64_t length)
{
    for (int64_t k = 0; k < prep->class_count; k++)
        if (strncmp(prep->classes[k], label, (size_t)length) == 0 && !prep->classes[k][length])
            return k;
    const double value = value_of(label, length);
    for (int64_t k = 0; k < prep->class_count; k++)
        if (value == value_of(prep->classes[k], (int64_t)strlen(prep->classes[k]))) return k;
    return -1;
}

fen_status fenp_class_codes(const fenp_prep *prep, const fen_table *table, int64_t column,
                            fenp_codes *out, fen_error *err)
{
    const fenp_column *c = column >= 0 ? &table->column[column] : NULL;
    *out = (fenp_codes){ .classes = prep->class_count };
    const int64_t count = c && c->text ? c->level_count : prep->class_count;
    if (prep->class_count == 0) return FEN_OK;
    if (c && c->text)
        out->of_level = fenp_new(count, sizeof *out->of_level);
    else
        out->value = fenp_new(count, sizeof *out->value);
    if (!out->of_level && !out->value) return fenp_no_memory(err, 8 * count, "the classes");
    for (int64_t k = 0; k < count; k++)
        if (out->of_level)
            out->of_level[k] =
                (double)fenp_prep_class(prep, c->levels[k], (int64_t)strlen(c->levels[k]));
        else
            out->value[k] = value_of(prep->classes[k], (int64_t)strlen(prep->classes[k]));
    return FEN_OK;
}

void fenp_class_codes_free(fenp_codes *codes)
{
    free(codes->of_level);
    free(codes->value);
    *codes = (fenp_codes){ 0 };
}

double fenp_class_code(const fenp_codes *codes, double cell)
{
    if (codes->classes == 0 || isnan(cell)) return cell;
    if (codes->of_level) return codes->of_level[(int64_t)cell];
    for (int64_t k = 0; k < codes->classes; k++)
        if (codes->value[k] == cell) return (double)k;
    return -1.0;
}

/* ---- finding them ---------------------------------------------------------------------- */

/* Distinct values in ascending order; codes of levels, where the column is text. */
typedef struct values {
    double at[FENP_CLASSES_MAX + 1];
    int64_t count;
} values;

static int64_t place_of(const values *v, double value)
{
    int64_t low = 0, high = v->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (v->at[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Values of usable rows; stops beyond most of them. */
static void gather(const fenp_prep *prep, const fenp_binding *b, int64_t most, values *v)
{
    for (int64_t i = 0; i < b->table->rows && v->count <= most; i++) {
        const double cell = fenp_bound_cell(b, i, b->target[0]) + 0.0; /* -0 is 0 */
        if (!isfinite(cell) || (prep->weights && !(fenp_bound_cell(b, i, b->weights) > 0.0)))
            continue;
        const int64_t at = place_of(v, cell);
        if (at < v->count && v->at[at] == cell) continue;
        memmove(v->at + at + 1, v->at + at, (size_t)(v->count - at) * sizeof *v->at);
        v->at[at] = cell;
        v->count++;
    }
}

static int bytewise(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static fen_status keep(fenp_prep *prep, const fen_table *table, int64_t column, const values *v,
                       fen_error *err)
{
    const fenp_column *c = &table->column[column];
    fen_status status = FEN_OK;
    prep->classes = fenp_new_zeroed(v->count, sizeof *prep->classes);
    if (!prep->classes) return fenp_no_memory(err, 8 * v->count, "the classes");
    for (int64_t k = 0; status == FEN_OK && k < v->count; k++) {
        char number[33];
        if (!c->text) number[fenp_print_double(v->at[k], number)] = '\0';
        status =
            fenp_copy_name(fenp_table_title(table), c->text ? c->levels[(int64_t)v->at[k]] : number,
                           &prep->classes[k], err);
        if (status == FEN_OK) prep->class_count++;
    }
    if (status == FEN_OK && c->text)
        qsort(prep->classes, (size_t)prep->class_count, sizeof *prep->classes, bytewise);
    return status;
}

static fen_status check_count(const fenp_prep *prep, const fen_table *table, fen_error *err)
{
    const char *title = fenp_table_title(table);
    if (prep->class_count == 1)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s: column \"%.60s\" holds one class only, \"%.40s\"; two at least "
                         "are needed, or --task one-class",
                         title, prep->target[0], prep->classes[0]);
    return FEN_OK;
}

/* A column of the targets that is text, or -1. */
static int64_t text_target(const fenp_prep *prep, const fenp_binding *b)
{
    for (int64_t t = 0; t < prep->targets; t++)
        if (b->target[t] >= 0 && b->table->column[b->target[t]].text &&
            b->table->column[b->target[t]].level_count > 0)
            return t;
    return -1;
}

static fen_status find(fenp_prep *prep, const fenp_binding *b, int asked, fen_error *err)
{
    const int64_t text = text_target(prep, b);
    values v = { .count = 0 };
    if (prep->targets > 1 && (asked || text >= 0))
        return fenp_fail(err, FEN_BAD_CALL,
                         "a classification has one target, not %lld; choose \"%.60s\" or another "
                         "with --target%s",
                         (long long)prep->targets, prep->target[text < 0 ? 0 : text],
                         asked ? "" : ", or columns of numbers");
    if (prep->targets > 1 || b->target[0] < 0) return FEN_OK;
    const int64_t most = asked || text >= 0 ? FENP_CLASSES_MAX : 2;
    gather(prep, b, most, &v);
    if (most == 2 && v.count != 2) return FEN_OK;
    if (v.count > FENP_CLASSES_MAX)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s: column \"%.60s\" has more than %d different values, too many for "
                         "classes; choose another with --target",
                         fenp_table_title(b->table), prep->target[0], FENP_CLASSES_MAX);
    const fen_status status = keep(prep, b->table, b->target[0], &v, err);
    return status == FEN_OK ? check_count(prep, b->table, err) : status;
}

fen_status fenp_prep_find_classes(fenp_prep *prep, const fen_table *table, const fen_options *o,
                                  fen_error *err)
{
    const int asked = strcmp(o->task, "classification") == 0;
    if (prep->targets == 0 || (!asked && strcmp(o->task, "auto") != 0)) return FEN_OK;
    if (strcmp(o->approx, "none") != 0) return FEN_OK; /* random features: regression alone */
    fenp_binding binding;
    fen_status status = fenp_bind(prep, table, 1, &binding, err);
    if (status != FEN_OK) return status;
    status = find(prep, &binding, asked, err);
    fenp_unbind(&binding);
    return status;
}
