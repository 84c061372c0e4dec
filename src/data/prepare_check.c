/* prepare_check.c -- does a stored preparation follow from the rows it claims to come from? */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"

/* The same columns, with nothing learned about them. */
static fenp_prep *unlearned(const fenp_prep *prep)
{
    fenp_prep *copy = fenp_prep_new(prep->inputs, prep->targets);
    int missing = !copy;
    for (int64_t j = 0; !missing && j < prep->inputs; j++) {
        copy->input[j].text = prep->input[j].text;
        missing = !(copy->input[j].name = fenp_strdup(prep->input[j].name));
    }
    for (int64_t t = 0; !missing && t < prep->targets; t++)
        missing = !(copy->target[t] = fenp_strdup(prep->target[t]));
    if (!missing && prep->weights) missing = !(copy->weights = fenp_strdup(prep->weights));
    if (missing) {
        fenp_prep_free(copy);
        return NULL;
    }
    copy->sparse = prep->sparse;
    memcpy(copy->scaling, prep->scaling, sizeof copy->scaling);
    return copy;
}

static int near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); }

static int same_input(const fenp_input *a, const fenp_input *b)
{
    if (a->text != b->text || a->constant != b->constant || a->gaps != b->gaps ||
        a->level_count != b->level_count || !near(a->scale, b->scale))
        return 0;
    for (int64_t k = 0; k < a->level_count; k++)
        if (strcmp(a->levels[k], b->levels[k]) != 0) return 0;
    const double unit = fabs(b->scale); /* a mean near 0 is known to rounding of the spread */
    return fabs(a->fill - b->fill) <= 1e-9 * fmax(unit, fabs(b->fill)) &&
           fabs(a->center - b->center) <= 1e-9 * fmax(unit, fabs(b->center));
}

fen_status fenp_prep_check(const fenp_prep *prep, const fen_table *table, int *agrees,
                           fen_error *err)
{
    *agrees = 1;
    if (prep->precomputed) return FEN_OK;
    fenp_binding binding = { .input = NULL, .target = NULL };
    fenp_sample *rows = NULL;
    int64_t *pick = NULL;
    fenp_prep *again = unlearned(prep);
    fen_status status = again ? fenp_bind(again, table, 1, &binding, err)
                              : fenp_no_memory(err, 0, "the preparation");
    if (status == FEN_OK) status = fenp_usable_rows(again, &binding, &rows, &pick, err);
    if (status == FEN_OK) status = fenp_learn_inputs(again, &binding, pick, rows, err);
    for (int64_t j = 0; status == FEN_OK && j < prep->inputs; j++)
        *agrees &= same_input(&prep->input[j], &again->input[j]);
    free(pick);
    fenp_sample_free(rows);
    fenp_unbind(&binding);
    fenp_prep_free(again);
    return status;
}
