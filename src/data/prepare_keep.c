/* prepare_keep.c -- a preparation that keeps only the inputs that matter, and how it was before
 *
 * A sparse file may have a million columns and a model use ten of them. What is not there is
 * zero in such files, so the model does without the others; its certificate speaks of all of
 * them, and the whole preparation is learned anew from the training table for it.
 */
#include <string.h>
#include "base/error.h"
#include "data/prepare_parts.h"

static int any(const char *flags, int64_t count)
{
    return count > 0 && memchr(flags, 1, (size_t)count) != NULL;
}

void fenp_prep_keep(fenp_prep *prep, const char *wanted)
{
    int64_t kept = 0, feature = 0;
    const int none = !any(wanted, prep->features);
    for (int64_t i = 0; i < prep->inputs; i++) {
        fenp_input *input = &prep->input[i];
        const int64_t features = fenp_input_features(input);
        const int stays = none ? kept == 0 && features > 0 : any(wanted + feature, features);
        feature += features;
        if (stays)
            prep->input[kept++] = *input;
        else
            fenp_input_clear(input);
    }
    prep->inputs = kept;
    fenp_prep_count(prep);
}

fen_status fenp_prep_whole(const fenp_prep *kept, const fen_table *table, fenp_prep **whole,
                           fenp_sample **sample, fen_error *err)
{
    const char *title = fenp_table_title(table);
    fenp_block block = { .pick = NULL };
    fenp_prep *made = fenp_prep_unlearned_of(kept, table);
    fen_status status =
        made ? fenp_block_open(made, table, &block, err)
             : fenp_no_memory(err, table->cols * (int64_t)sizeof(fenp_input), "the preparation");
    block.by_columns = 1;
    if (status == FEN_OK) status = fenp_enough_rows(made, title, block.rows, err);
    if (status == FEN_OK) status = fenp_learn_inputs(made, &block, err);
    if (status == FEN_OK) status = fenp_prep_finish(made, title, err);
    if (status == FEN_OK) status = fenp_block_sample(made, &block, sample, err);
    fenp_block_close(&block);
    if (status == FEN_OK)
        *whole = made;
    else
        fenp_prep_free(made);
    return status;
}

int fenp_prep_places(const fenp_prep *kept, const fenp_prep *whole, int64_t *place)
{
    if (!fenp_prep_agree(kept, whole)) return 0;
    int64_t feature = 0, at = 0, first = 0; /* of kept; an input of whole and its first feature */
    for (int64_t i = 0; i < kept->inputs; i++) {
        const int64_t found = fenp_prep_find(whole, kept->input[i].name, at);
        if (found < at) at = first = 0;
        for (; at < found; at++) first += fenp_input_features(&whole->input[at]);
        for (int64_t k = 0; k < fenp_input_features(&kept->input[i]); k++)
            place[feature++] = first + k;
    }
    return 1;
}
