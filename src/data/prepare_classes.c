/* prepare_classes.c -- targets that are classes
 *
 * What a target is: text is classes; so are numbers with exactly two values, unless --loss names
 * a loss of numbers; any numbers are with --task classification. Only rows that can be used
 * count. Classes are sorted, numbers by size, then text bytewise, and kept as they are written;
 * numbers in their shortest form, where all labels are numbers or one is written in several
 * ways: 1 and 1.0 are one class. So are texts that differ in the blanks around them alone: the
 * class has those of all its rows, or none where they differ.
 * A label is found by its text without blanks around it, else by its value: a file may write 1 as
 * 1.0, and have further labels in its column, which make text of the numbers.
 * Cost: a pass over the target, with a binary search among at most 1000 values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/registry.h"
#include "base/text.h"
#include "data/prepare_parts.h"

/* ---- labels of a table ----------------------------------------------------------------- */

typedef struct word {
    const char *at;
    int64_t length;
} word;

/* A label without the blanks around it. */
static word trimmed(const char *label, int64_t length)
{
    while (length > 0 && (*label == ' ' || *label == '\t')) label++, length--;
    while (length > 0 && (label[length - 1] == ' ' || label[length - 1] == '\t')) length--;
    return (word){ label, length };
}

static int compare_words(word a, word b)
{
    const int order = memcmp(a.at, b.at, (size_t)(a.length < b.length ? a.length : b.length));
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

/* The number that a label is; NaN: it is none. */
static double value_of(const char *label, int64_t length)
{
    const word text = trimmed(label, length);
    double value;
    return fenp_parse_double(text.at, text.length, &value) ? value : NAN;
}

int64_t fenp_prep_class(const fenp_prep *prep, const char *label, int64_t length)
{
    const word text = trimmed(label, length);
    for (int64_t k = 0; k < prep->class_count; k++) {
        const char *known = prep->classes[k];
        if (compare_words(trimmed(known, (int64_t)strlen(known)), text) == 0) return k;
    }
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
    int64_t rows[FENP_CLASSES_MAX + 1]; /* that have each of them           */
    char respelt[FENP_CLASSES_MAX + 1]; /* written in several ways          */
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

static void insert(values *v, int64_t at, double value)
{
    const size_t behind = (size_t)(v->count - at);
    memmove(v->at + at + 1, v->at + at, behind * sizeof *v->at);
    memmove(v->rows + at + 1, v->rows + at, behind * sizeof *v->rows);
    memmove(v->respelt + at + 1, v->respelt + at, behind);
    v->at[at] = value;
    v->respelt[at] = 0;
    v->rows[at] = 0;
    v->count++;
}

/* Values of usable rows; stops beyond most of them. */
static void gather(const fenp_prep *prep, const fenp_binding *b, int64_t most, values *v)
{
    for (int64_t i = 0; i < b->table->rows && v->count <= most; i++) {
        const double cell = fenp_bound_cell(b, i, b->target[0]) + 0.0; /* -0 is 0 */
        if (!isfinite(cell) || (prep->weights && !(fenp_bound_cell(b, i, b->weights) > 0.0)))
            continue;
        const int64_t at = place_of(v, cell);
        if (at == v->count || v->at[at] != cell) insert(v, at, cell);
        v->rows[at]++;
    }
}

/* The number that a level is; NaN: text. */
static double level_value(const fenp_column *c, double code)
{
    const char *level = c->levels[(int64_t)code];
    const double value = value_of(level, (int64_t)strlen(level)) + 0.0;
    return isfinite(value) ? value : NAN;
}

static word level_word(const fenp_column *c, double code)
{
    const char *level = c->levels[(int64_t)code];
    return trimmed(level, (int64_t)strlen(level));
}

/* Numbers by size, then text. */
static int order_of(const fenp_column *c, double a, double b)
{
    const double x = level_value(c, a), y = level_value(c, b);
    if (isnan(x) && isnan(y)) return compare_words(level_word(c, a), level_word(c, b));
    return isnan(x) ? 1 : isnan(y) ? -1 : (x > y) - (x < y);
}

/* Few at a time, so that a simple sort will do. Equal numbers become one, equal texts too. */
static void sort_codes(const fenp_column *c, values *v)
{
    values sorted = { .count = 0 };
    for (int64_t i = 0; i < v->count; i++) {
        int64_t at = sorted.count;
        while (at > 0 && order_of(c, sorted.at[at - 1], v->at[i]) > 0) at--;
        if (at == 0 || order_of(c, sorted.at[at - 1], v->at[i]) != 0)
            insert(&sorted, at++, v->at[i]);
        else
            sorted.respelt[at - 1] = 1;
        sorted.rows[at - 1] += v->rows[i];
    }
    *v = sorted;
}

/* What class k is called; number: room for it. */
static const char *name_of(const fenp_column *c, const values *v, int64_t k, char number[33])
{
    const double code = v->at[k];
    const int bare = !c->text || !isnan(level_value(c, v->at[v->count - 1])); /* numbers alone */
    if (!bare && (!v->respelt[k] || isnan(level_value(c, code)))) return c->levels[(int64_t)code];
    number[fenp_print_double(c->text ? level_value(c, code) : code, number)] = '\0';
    return number;
}

static void trim(char *label)
{
    const word text = trimmed(label, (int64_t)strlen(label));
    memmove(label, text.at, (size_t)text.length);
    label[text.length] = '\0';
}

static fen_status keep(fenp_prep *prep, const fen_table *table, int64_t column, const values *v,
                       fen_error *err)
{
    fen_status status = FEN_OK;
    prep->classes = fenp_new_zeroed(v->count, sizeof *prep->classes);
    prep->class_rows = fenp_new(v->count, sizeof *prep->class_rows);
    if (!prep->classes || !prep->class_rows)
        return fenp_no_memory(err, 16 * v->count, "the classes");
    for (int64_t k = 0; k < v->count; k++) {
        char number[33];
        status =
            fenp_copy_name(fenp_table_title(table), name_of(&table->column[column], v, k, number),
                           &prep->classes[k], err);
        prep->class_rows[k] = v->rows[k];
        if (status != FEN_OK) break;
        if (v->respelt[k]) trim(prep->classes[k]);
        prep->class_count++;
    }
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

/* A loss that was asked for by name and measures numbers makes numbers of two values. */
static int measures_numbers(const char *text)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    const fen_loss *loss = fenp_find_loss(name);
    return loss && loss->labels == FEN_NUMBERS;
}

static fen_status find(fenp_prep *prep, const fenp_binding *b, const fen_options *o, int asked,
                       fen_error *err)
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
    if (!asked && text < 0 && measures_numbers(o->loss)) return FEN_OK;
    const int64_t most = asked || text >= 0 ? FENP_CLASSES_MAX : 2;
    gather(prep, b, most, &v);
    if (most == 2 && v.count != 2) return FEN_OK;
    if (v.count > FENP_CLASSES_MAX)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s: column \"%.60s\" has more than %d different values, too many for "
                         "classes; choose another with --target",
                         fenp_table_title(b->table), prep->target[0], FENP_CLASSES_MAX);
    if (text >= 0) sort_codes(&b->table->column[b->target[0]], &v);
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
    status = find(prep, &binding, o, asked, err);
    fenp_unbind(&binding);
    return status;
}
