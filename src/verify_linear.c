/* verify_linear.c -- models with a penalty on coefficients against their rows
 *
 * Models of sparse files keep the columns that they use, but all columns were in the problem:
 * an unused one that belongs into the model is what a certificate must see. So the whole
 * preparation is learned anew, and coefficients find their columns by name. Sparse rows stay
 * sparse. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "verify.h"

/* ---- all columns again ------------------------------------------------------------------- */

/* values of the model's columns, initial those of the others: rows x whole. */
static double *spread(const double *values, int64_t rows, int64_t p, const int64_t *place,
                      int64_t whole, double initial)
{
    double *out = fenp_new(fenp_bytes(rows, whole, sizeof *out), 1);
    for (int64_t i = 0; out && i < rows * whole; i++) out[i] = initial;
    for (int64_t t = 0; out && t < rows; t++)
        for (int64_t j = 0; j < p; j++) out[t * whole + place[j]] = values[t * p + j];
    return out;
}

static fen_status put_back(const fen_model *m, const int64_t *place, fenp_wide *wide,
                           fen_error *err)
{
    const int64_t whole = wide->prep->features;
    const double *weight = m->groups.weight;
    wide->weights = spread(m->weights, m->targets, m->p, place, whole, 0.0);
    if (weight) wide->group_weights = spread(weight, 1, m->p, place, whole, 1.0);
    if (!wide->weights || (weight && !wide->group_weights))
        return fenp_no_memory(err, fenp_bytes(m->targets, whole, sizeof(double)),
                              "the coefficients");
    wide->model.p = wide->model.whole = whole;
    wide->model.weights = wide->weights;
    wide->model.groups.count = whole, wide->model.groups.weight = wide->group_weights;
    return FEN_OK;
}

static fen_status learn_anew(const fen_model *m, const fen_table *table, fenp_wide *wide,
                             fen_error *err)
{
    fen_status status = fenp_prep_whole(m->prep, table, &wide->prep, &wide->sample, err);
    if (status != FEN_OK) return status;
    int64_t *place = fenp_new(m->p, sizeof *place);
    if (!place) return fenp_no_memory(err, fenp_bytes(m->p, 1, sizeof *place), "the columns");
    wide->agrees = wide->prep->features == m->whole && fenp_prep_places(m->prep, wide->prep, place);
    const int moved = wide->agrees && m->groups.start == NULL;
    if (moved) status = put_back(m, place, wide, err);
    for (int64_t j = 0; wide->agrees && !moved && j < m->p; j++) wide->agrees = place[j] == j;
    free(place);
    return status;
}

fen_status fenp_wide_open(const fen_model *m, const fen_table *table, fenp_wide *out,
                          fen_error *err)
{
    *out = (fenp_wide){ .model = *m };
    if (m->prep->sparse && m->weights) return learn_anew(m, table, out, err);
    fen_status status = fenp_prep_sample(m->prep, table, &out->sample, err);
    if (status == FEN_OK) status = fenp_prep_check(m->prep, table, &out->agrees, err);
    return status;
}

void fenp_wide_close(fenp_wide *wide)
{
    fenp_prep_free(wide->prep);
    fenp_sample_free(wide->sample);
    free(wide->weights);
    free(wide->group_weights);
}

/* ---- arrays that the certificate does not see -------------------------------------------- */

const char *fenp_linear_objection(const fen_model *m)
{
    const int64_t count = m->weights ? m->p : m->kept;
    const double *coefs = m->weights ? m->weights : m->terms;
    for (int64_t t = 0; t < m->targets; t++)
        if (m->coef_scale[t] != 1.0) return "coef_scale is not 1";
    for (int64_t i = 0; m->nonnegative && i < m->targets * count; i++)
        if (coefs[i] < 0.0) return "a coefficient is below 0";
    return NULL;
}
