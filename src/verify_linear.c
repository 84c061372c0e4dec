/* verify_linear.c -- models with a penalty on coefficients against their rows
 *
 * Models of sparse files keep the columns that they use, but all columns were in the problem:
 * an unused one that belongs into the model is what a certificate must see. So the whole
 * preparation is learned anew, coefficients find their columns by name, and groups are made
 * as --penalty says. Sparse rows stay sparse. */
#include <stdlib.h>

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

/* Are the groups of the model among those made anew, with the same members and weights? */
static int are_among(const fenp_groups *kept, int64_t p, const int64_t *place,
                     const fenp_groups *all, int64_t whole)
{
    int64_t at = 0;
    for (int64_t g = 0; g < kept->count; g++, at++) {
        const int64_t *member = kept->member + kept->start[g], first = member[0];
        const int64_t size = kept->start[g + 1] - kept->start[g];
        const int64_t wanted = first / p * whole + place[first % p];
        while (at < all->count && all->member[all->start[at]] != wanted) at++;
        if (at == all->count || all->start[at + 1] - all->start[at] != size) return 0;
        if (!kept->weight || kept->weight[g] != all->weight[at]) return 0;
        for (int64_t i = 0; i < size; i++)
            if (all->member[all->start[at] + i] != member[i] / p * whole + place[member[i] % p])
                return 0;
    }
    return 1;
}

/* The groups of all columns, of which the model has kept some. */
static fen_status put_groups_back(const fen_model *m, const int64_t *place, fenp_wide *wide,
                                  fen_error *err)
{
    const int64_t whole = wide->prep->features;
    int possible;
    const fen_status status =
        fenp_model_remake_groups(m, wide->prep, &wide->groups, &possible, err);
    if (status != FEN_OK) return status;
    wide->agrees = possible && wide->groups.count == fenp_model_groups(m) &&
                   are_among(&m->groups, m->p, place, &wide->groups, whole);
    if (!wide->agrees) return FEN_OK;
    wide->weights = spread(m->weights, m->targets, m->p, place, whole, 0.0);
    if (!wide->weights)
        return fenp_no_memory(err, fenp_bytes(m->targets, whole, sizeof(double)),
                              "the coefficients");
    wide->model.p = wide->model.whole = whole, wide->model.all_groups = 0;
    wide->model.weights = wide->weights, wide->model.groups = wide->groups;
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
    const int grouped = m->groups.start && m->whole > m->p;
    const int moved = wide->agrees && (grouped || !m->groups.start);
    if (moved)
        status = grouped ? put_groups_back(m, place, wide, err) : put_back(m, place, wide, err);
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
    fenp_groups_free(&wide->groups);
}

/* ---- arrays that the certificate does not see -------------------------------------------- */

static int is_zero(const fenp_sample *s, int64_t j)
{
    int64_t i = s->x ? 0 : s->start[j];
    const int64_t end = s->x ? s->n : s->start[j + 1];
    while (i < end && (s->x ? s->x[i * s->p + j] : s->value[i]) == 0.0) i++;
    return i == end;
}

/* Does a feature count that is 0 in all rows (a level "other" that no row has)? Without a penalty
 * the objective does not see its coefficient, but rows to come do. Roundings of solvers pass. */
static int counts_what_is_not_there(const fen_model *m, const fenp_sample *s)
{
    double largest = 0.0;
    if (!m->weights || s->p != m->p || (!s->x && !s->start)) return 0;
    for (int64_t i = 0; i < m->targets * m->p; i++) largest = fmax(largest, fabs(m->weights[i]));
    for (int64_t i = 0; i < m->targets * m->p; i++)
        if (fabs(m->weights[i]) > 1e-9 * largest && is_zero(s, i % m->p)) return 1;
    return 0;
}

const char *fenp_linear_objection(const fen_model *m, const fenp_sample *sample)
{
    if (counts_what_is_not_there(m, sample)) return "a feature that no row has has a coefficient";
    const int64_t count = m->weights ? m->p : m->kept;
    const double *coefs = m->weights ? m->weights : m->terms;
    for (int64_t t = 0; t < m->targets; t++)
        if (m->coef_scale[t] != 1.0) return "coef_scale is not 1";
    for (int64_t i = 0; m->nonnegative && i < m->targets * count; i++)
        if (coefs[i] < 0.0) return "a coefficient is below 0";
    return NULL;
}
