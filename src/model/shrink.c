/* shrink.c -- a linear model of a sparse file keeps the columns that it uses
 *
 * Columns whose coefficients are all 0 and whose weight in the penalty is 1 go: absent columns
 * of such files are zeros, and verify learns the whole preparation anew. An input stays or goes
 * with all of its features, and one that has features always stays. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"
#include "model/model.h"

static int is_used(const fen_model *m, int64_t j)
{
    for (int64_t t = 0; t < m->targets; t++)
        if (m->weights[t * m->p + j] != 0.0) return 1;
    return m->groups.weight && m->groups.weight[j] != 1.0;
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

fen_status fenp_model_shrink(fen_model *m, fen_error *err)
{
    if (!m->prep->sparse || !m->weights || m->groups.start || m->aliased) return FEN_OK;
    char *used = fenp_new_zeroed(m->p, 1);
    if (!used) return fenp_no_memory(err, m->p, "the columns");
    const int64_t kept = find_used(m, used);
    pack(&m->weights, used, m->targets, m->p);
    if (m->groups.weight) pack(&m->groups.weight, used, 1, m->p);
    fenp_prep_keep(m->prep, used);
    m->groups.count = m->p = kept;
    free(used);
    return FEN_OK;
}
