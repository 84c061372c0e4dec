/* shrink.c -- a linear model of a sparse file keeps the columns that it uses
 *
 * Columns whose coefficients are all 0 and whose weight in the penalty is 1 go: absent columns
 * of such files are zeros, and verify learns the whole preparation anew. An input stays or goes
 * with all of its features, and one that has features always stays. Groups stay or go as a whole,
 * where --penalty alone says what they are, so that verify can make them anew; those of a file or
 * with weights of their own all stay. Without a penalty all features stay, inputs without any
 * go. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/registry.h"
#include "data/prepare_parts.h"
#include "model/model.h"

static int is_used(const fen_model *m, int64_t j)
{
    if (m->aliased) return 1;
    for (int64_t t = 0; t < m->targets; t++)
        if (m->weights[t * m->p + j] != 0.0) return 1;
    return m->groups.weight && !m->groups.start && m->groups.weight[j] != 1.0;
}

/* Flags of the features of all inputs that stay; their number. */
static int64_t find_used(const fen_model *m, char *used)
{
    int64_t kept = 0, first = 0;
    for (int64_t i = 0, j = 0; i < m->prep->inputs; i++) {
        const int64_t end = j + fenp_input_features(&m->prep->input[i]);
        int any = 0;
        if (first == 0) first = end; /* of the first input that has features */
        for (int64_t k = j; k < end && !any; k++) any = is_used(m, k);
        memset(used + j, any, (size_t)(end - j));
        kept += any ? end - j : 0;
        j = end;
    }
    if (kept > 0) return kept;
    memset(used, 1, (size_t)first);
    return first;
}

/* Values of used columns move to the front of their row; rows follow each other. */
static void pack(double **values, const char *used, int64_t rows, int64_t p)
{
    int64_t to = 0;
    for (int64_t t = 0; t < rows; t++)
        for (int64_t j = 0; j < p; j++)
            if (used[j]) (*values)[to++] = (*values)[t * p + j];
    double *less = fenp_resize(*values, to, sizeof *less);
    if (less) *values = less;
}

/* ---- groups -------------------------------------------------------------------------------- */

fen_status fenp_model_remake_groups(const fen_model *m, const fenp_prep *prep, fenp_groups *out,
                                    int *possible, fen_error *err)
{
    fen_options o = fen_options_default();
    fenp_penalty_choice choice;
    o.penalty = m->penalty_text;
    *possible = fenp_parse_penalty(o.penalty, &choice, NULL) == FEN_OK && choice.how &&
                (strcmp(choice.how, "auto") == 0 || strcmp(choice.how, "targets") == 0 ||
                 strncmp(choice.how, "prefix:", 7) == 0);
    return *possible ? fenp_groups_make(prep, &o, m->copies, out, err) : FEN_OK;
}

static int are_equal(const fenp_groups *a, const fenp_groups *b)
{
    const size_t each = sizeof *a->start;
    if (a->count != b->count || !a->weight || !b->weight) return 0;
    const size_t groups = (size_t)a->count, members = (size_t)a->start[a->count];
    return memcmp(a->start, b->start, (groups + 1) * each) == 0 &&
           memcmp(a->member, b->member, members * each) == 0 &&
           memcmp(a->weight, b->weight, groups * sizeof *a->weight) == 0;
}

/* Are the groups those that --penalty alone makes? */
static fen_status are_plain(const fen_model *m, int *plain, fen_error *err)
{
    fenp_groups again = { .count = 0 };
    const fen_status status = fenp_model_remake_groups(m, m->prep, &again, plain, err);
    *plain = *plain && status == FEN_OK && are_equal(&m->groups, &again);
    fenp_groups_free(&again);
    return status;
}

/* A group of which something is used is used: all of its features. */
static int64_t add_groups(const fen_model *m, char *used)
{
    const fenp_groups *g = &m->groups;
    int64_t kept = 0;
    for (int64_t k = 0; k < g->count; k++) {
        int64_t i = g->start[k];
        while (i < g->start[k + 1] && !used[g->member[i] % m->p]) i++;
        if (i == g->start[k + 1]) continue;
        for (i = g->start[k]; i < g->start[k + 1]; i++) used[g->member[i] % m->p] = 1;
    }
    for (int64_t j = 0; j < m->p; j++) kept += used[j];
    return kept;
}

/* place: of a feature among those that stay. */
static void pack_groups(fen_model *m, const char *used, const int64_t *place, int64_t kept)
{
    fenp_groups *g = &m->groups;
    int64_t groups = 0, members = 0;
    for (int64_t k = 0; k < g->count; k++) {
        const int64_t from = g->start[k], end = g->start[k + 1];
        if (!used[g->member[from] % m->p]) {
            if (g->name) free(g->name[k]);
            continue;
        }
        g->start[groups] = members;
        for (int64_t i = from; i < end; i++)
            g->member[members++] = g->member[i] / m->p * kept + place[g->member[i] % m->p];
        g->weight[groups] = g->weight[k];
        if (g->name) g->name[groups] = g->name[k];
        groups++;
    }
    g->start[groups] = members;
    m->all_groups = g->count, g->count = groups;
}

void fenp_model_mark_idle(fen_model *m)
{
    if (!m->weights || !fenp_model_on_coefficients(m)) return;
    for (int64_t i = 0, j = 0; i < m->prep->inputs; i++) {
        fenp_input *input = &m->prep->input[i];
        input->idle = 1;
        for (int64_t k = fenp_input_features(input); k > 0; k--, j++)
            for (int64_t t = 0; t < m->targets; t++) input->idle &= m->weights[t * m->p + j] == 0.0;
    }
}

/* ---- all of it ------------------------------------------------------------------------------ */

static fen_status shrink_groups(fen_model *m, char *used, int64_t *kept, fen_error *err)
{
    int64_t *place = fenp_new(m->p, sizeof *place);
    if (!place) return fenp_no_memory(err, 8 * m->p, "the columns");
    *kept = add_groups(m, used);
    for (int64_t j = 0, at = 0; j < m->p; j++) place[j] = used[j] ? at++ : -1;
    pack_groups(m, used, place, *kept);
    free(place);
    return FEN_OK;
}

fen_status fenp_model_shrink(fen_model *m, fen_error *err)
{
    int plain = 1;
    if (!m->prep->sparse || !m->weights) return FEN_OK;
    fen_status status = m->groups.start ? are_plain(m, &plain, err) : FEN_OK;
    if (status != FEN_OK || !plain) return status;
    char *used = fenp_new_zeroed(m->p, 1);
    if (!used) return fenp_no_memory(err, m->p, "the columns");
    int64_t kept = find_used(m, used);
    if (m->groups.start) status = shrink_groups(m, used, &kept, err);
    if (status == FEN_OK) {
        pack(&m->weights, used, m->targets, m->p);
        if (m->groups.weight && !m->groups.start) pack(&m->groups.weight, used, 1, m->p);
        if (!m->groups.start) m->groups.count = kept;
        fenp_prep_keep(m->prep, used);
        m->p = kept;
    }
    free(used);
    return status;
}
