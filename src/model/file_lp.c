/* file_lp.c -- what a model file holds of the penalty lp
 *
 *   words     prediction_error; penalty is "lp", and p is the power: q = p/(p-1)
 *   arrays    pivots (pivot_count x q/2, places among the kept rows), pivot_weights (targets x
 *             pivot_count), where predictions need them; distance (targets x 3: norm_distance,
 *             bias_distance, optimum_distance; infinite: no bound), absent in older files
 *
 * Every place is held against the rows before anyone follows it, and the work of a prediction,
 * which grows with the number of tuples of q/2 - 1 rows, against what a fit could have done. */
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "model/file.h"
#include "model/lp.h"
#include "tensor/form.h"

static int is_lp(const fen_model *m) { return strcmp(m->penalty->name, "lp") == 0; }

int fenp_file_put_lp(json_t *metadata, const fen_model *m)
{
    return is_lp(m) ? fenp_put_number(metadata, "prediction_error", m->prediction_error) : 0;
}

int fenp_file_has_distances(const fen_model *m) { return !isnan(m->certificate[0].norm_distance); }

fen_status fenp_file_make_lp(const fenp_tensors *in, fen_model *m, fen_error *err)
{
    if (fenp_tensor_find(in, "distance")) m->certificate[0].norm_distance = 0.0; /* they follow */
    const fenp_tensor *pivots = fenp_tensor_find(in, "pivots");
    const fenp_tensor *weights = fenp_tensor_find(in, "pivot_weights");
    if ((pivots != NULL) != (weights != NULL) || (pivots && pivots->shape[0] < 1))
        return fenp_damaged(in, "pivots", "do not come with pivot_weights", err);
    if (!pivots) return FEN_OK;
    m->pivot_count = pivots->shape[0];
    m->pivots = fenp_new_zeroed(fenp_bytes(pivots->shape[0], pivots->shape[1], 8), 1);
    if (!m->pivots) return fenp_no_memory(err, pivots->to - pivots->from, pivots->name);
    return fenp_file_room(weights, &m->pivot_weights, err);
}

void fenp_file_take_lp(fenp_file *file, const fen_model *m)
{
    for (int64_t i = 0; file->pivots && i < m->pivot_count * file->size.members_of_pivot; i++)
        file->pivots[i] = (double)m->pivots[i];
    for (int64_t t = 0; file->distance && t < m->targets; t++) {
        double *at = file->distance + FENP_DISTANCE_NUMBERS * t;
        at[0] = m->certificate[t].norm_distance;
        at[1] = m->certificate[t].bias_distance;
        at[2] = m->certificate[t].optimum_distance;
    }
}

void fenp_file_give_lp(const fenp_file *file, fen_model *m)
{
    for (int64_t i = 0; file->pivots && i < m->pivot_count * file->size.members_of_pivot; i++)
        m->pivots[i] = fenp_file_place(file->pivots[i]);
    for (int64_t t = 0; file->distance && t < m->targets; t++) {
        const double *at = file->distance + FENP_DISTANCE_NUMBERS * t;
        m->certificate[t].norm_distance = at[0];
        m->certificate[t].bias_distance = at[1];
        m->certificate[t].optimum_distance = at[2];
    }
}

/* A tensor kernel and the penalty go together; the order follows from the power. */
fen_status fenp_file_read_lp(const fenp_tensors *in, fen_model *m, fen_error *err)
{
    const fen_kernel *k = m->kernel.table;
    const int tensor = k->basis == FEN_TENSOR;
    if (!is_lp(m))
        return tensor ? fenp_damaged(in, "the penalty", "does not go with the kernel", err)
                      : FEN_OK;
    if (!tensor && !k->linear)
        return fenp_damaged(in, "the kernel", "does not go with the penalty lp", err);
    if (!(m->power > 1.0 && m->power <= 2.0))
        return fenp_damaged(in, "power", "is not above 1 and at most 2", err);
    m->kernel.par.order = fenp_order_of(m->power);
    if (tensor && fenp_even_order(m->kernel.par.order) == 0)
        return fenp_damaged(in, "power", "is none of a tensor kernel", err);
    if (tensor && m->kernel.par.coef0 < 0.0) return fenp_damaged(in, "coef0", "is below 0", err);
    m->prediction_error = NAN;
    if (!fenp_metadata(in, "prediction_error")) return FEN_OK;
    return fenp_file_number(in, "prediction_error", 0, NAN, &m->prediction_error, err);
}

/* ---- what they may be ------------------------------------------------------------------ */

/* Ascending places among the kept rows. */
static int are_members(const int64_t *member, int64_t count, int64_t kept)
{
    for (int64_t i = 0; i < count; i++)
        if (member[i] < (i ? member[i - 1] : 0) || member[i] >= kept) return 0;
    return 1;
}

static const char *distance_objection(const fenp_file *file, const fen_model *m)
{
    if (!file->distance) return NULL;
    if (!is_lp(m)) return "the distances from the optimum do not belong to the penalty";
    for (int64_t i = 0; i < m->targets * FENP_DISTANCE_NUMBERS; i++)
        if (!(file->distance[i] >= 0.0)) return "a distance from the optimum is not a bound";
    return NULL;
}

const char *fenp_file_lp_objection(const fenp_file *file, const fen_model *m)
{
    const char *objection = distance_objection(file, m);
    if (objection) return objection;
    if (!m->pivots) return fenp_model_needs_pivots(m) ? "there are no pivots to predict by" : NULL;
    if (!is_lp(m) || m->weights || fenp_model_is_explicit(m))
        return "the pivots do not belong to the penalty and the kernel";
    const int64_t h = file->size.members_of_pivot;
    if (2 * h != fenp_even_order(m->kernel.par.order))
        return "the pivots are not those of the power";
    if (!fenp_model_can_pivot(m) || m->pivot_count > fenp_model_most_pivots(m))
        return "there are more tuples of rows than any fit goes through";
    for (int64_t s = 0; s < m->pivot_count; s++)
        if (!are_members(m->pivots + s * h, h, m->kept))
            return "the pivots are not ascending places of rows";
    return NULL;
}
