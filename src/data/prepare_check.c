/* prepare_check.c -- does a stored preparation follow from the rows it claims to come from?
 *
 * Learned anew from the same columns, it must come out again up to rounding: the order of
 * the rows' blocks and the number of threads may change the last digits. */
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"

static int copy_classes(const fenp_prep *prep, fenp_prep *copy)
{
    if (prep->class_count == 0) return 0;
    copy->classes = fenp_new_zeroed(prep->class_count, sizeof *copy->classes);
    copy->class_rows = fenp_new(prep->class_count, sizeof *copy->class_rows);
    if (!copy->classes || !copy->class_rows) return -1;
    memcpy(copy->class_rows, prep->class_rows,
           (size_t)prep->class_count * sizeof *copy->class_rows);
    for (; copy->class_count < prep->class_count; copy->class_count++) {
        char *label = fenp_strdup(prep->classes[copy->class_count]);
        if (!label) return -1;
        copy->classes[copy->class_count] = label;
    }
    return 0;
}

/* Everything but the inputs, of which copy has the names; missing: it has not even those. */
static fenp_prep *copy_roles(const fenp_prep *prep, fenp_prep *copy, int missing)
{
    for (int64_t t = 0; !missing && t < prep->targets; t++)
        missing = !(copy->target[t] = fenp_strdup(prep->target[t]));
    missing = missing || copy_classes(prep, copy) != 0 ||
              fenp_reading_copy(&prep->reading, &copy->reading) != 0;
    if (!missing && prep->weights) missing = !(copy->weights = fenp_strdup(prep->weights));
    if (missing) {
        fenp_prep_free(copy);
        return NULL;
    }
    copy->sparse = prep->sparse;
    copy->constants = prep->constants;
    memcpy(copy->scaling, prep->scaling, sizeof copy->scaling);
    return copy;
}

fenp_prep *fenp_prep_unlearned(const fenp_prep *prep)
{
    fenp_prep *copy = fenp_prep_new(prep->inputs, prep->targets);
    int missing = !copy;
    for (int64_t j = 0; !missing && j < prep->inputs; j++) {
        copy->input[j].text = prep->input[j].text;
        missing = !(copy->input[j].name = fenp_strdup(prep->input[j].name));
    }
    return copy_roles(prep, copy, missing);
}

/* Whether a column is a target or holds the weights. */
static int has_role(const fenp_prep *prep, const char *name)
{
    int64_t t = 0;
    while (t < prep->targets && strcmp(prep->target[t], name) != 0) t++;
    return t < prep->targets || (prep->weights && strcmp(prep->weights, name) == 0);
}

fenp_prep *fenp_prep_unlearned_of(const fenp_prep *prep, const fen_table *table)
{
    int64_t inputs = 0;
    for (int64_t j = 0; j < table->cols; j++) inputs += !has_role(prep, table->column[j].name);
    fenp_prep *copy = fenp_prep_new(inputs, prep->targets);
    int missing = !copy;
    for (int64_t j = 0, i = 0; !missing && j < table->cols; j++) {
        const fenp_column *column = &table->column[j];
        if (has_role(prep, column->name)) continue;
        copy->input[i].text = column->text;
        missing = !(copy->input[i++].name = fenp_strdup(column->name));
    }
    return copy_roles(prep, copy, missing);
}

static int near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); }

static int same_input(const fenp_input *a, const fenp_input *b)
{
    if (a->text != b->text || a->constant != b->constant || a->gaps != b->gaps ||
        a->level_count != b->level_count || !near(a->scale, b->scale))
        return 0;
    if (!isnan(a->least) && (a->least != b->least || a->largest != b->largest)) return 0;
    for (int64_t k = 0; k < a->level_count; k++)
        if (strcmp(a->levels[k], b->levels[k]) != 0) return 0;
    const double unit = fabs(b->scale); /* a mean near 0 is known to rounding of the spread */
    return fabs(a->fill - b->fill) <= 1e-9 * fmax(unit, fabs(b->fill)) &&
           fabs(a->center - b->center) <= 1e-9 * fmax(unit, fabs(b->center));
}

int64_t fenp_prep_find(const fenp_prep *prep, const char *name, int64_t next)
{
    for (int64_t j = next; j < prep->inputs; j++)
        if (strcmp(prep->input[j].name, name) == 0) return j;
    for (int64_t j = 0; j < next && j < prep->inputs; j++)
        if (strcmp(prep->input[j].name, name) == 0) return j;
    return -1;
}

int fenp_prep_agree(const fenp_prep *a, const fenp_prep *b)
{
    int agree = a->targets == b->targets && a->class_count == b->class_count &&
                !a->weights == !b->weights && a->sparse == b->sparse &&
                a->precomputed == b->precomputed && a->constants == b->constants &&
                strcmp(a->scaling, b->scaling) == 0 &&
                (!a->weights || strcmp(a->weights, b->weights) == 0);
    for (int64_t t = 0; agree && t < a->targets; t++)
        agree = strcmp(a->target[t], b->target[t]) == 0;
    for (int64_t k = 0; agree && k < a->class_count; k++)
        agree = strcmp(a->classes[k], b->classes[k]) == 0;
    for (int64_t i = 0, j = -1; agree && i < a->inputs; i++) {
        j = fenp_prep_find(b, a->input[i].name, j + 1);
        agree = j >= 0 && same_input(&a->input[i], &b->input[j]);
    }
    return agree;
}

fen_status fenp_prep_check(const fenp_prep *prep, const fen_table *table, int *agrees,
                           fen_error *err)
{
    *agrees = 1;
    if (prep->precomputed) return FEN_OK;
    fenp_block block = { .pick = NULL };
    fenp_prep *again = fenp_prep_unlearned(prep);
    fen_status status = again ? fenp_block_open(again, table, &block, err)
                              : fenp_no_memory(err, 0, "the preparation");
    if (status == FEN_OK)
        status = fenp_enough_rows(again, fenp_table_title(table), block.rows, err);
    if (status == FEN_OK) status = fenp_learn_inputs(again, &block, err);
    if (status == FEN_OK) *agrees = fenp_prep_agree(prep, again);
    fenp_block_close(&block);
    fenp_prep_free(again);
    return status;
}
