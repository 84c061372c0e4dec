/* coefficients.c -- linear models in the units of the file
 *
 *     f(x) + b = sum_j weight_j (x_j - center_j)/scale_j + b
 *              = sum_j value_j x_j + intercept
 *     value_j = weight_j/scale_j,   intercept = b - sum_j weight_j center_j/scale_j
 *
 * The prepared features of a number are (x - center)/scale and, where training had gaps, one
 * that says "is missing" (x is then what gaps are filled with); those of a text are 0 or 1.
 * Indicators have center 0 and scale 1, sparse columns center 0. To be compared with the others
 * their coefficients are taken times their deviation, sqrt(share (1 - share)) of the training rows.
 *
 * The intercept sums terms that may cancel: it is exact to rounding in the largest of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "data/prepare_parts.h"
#include "model/model.h"

/* The first feature of a number is (x - center)/scale; all others are 0 or 1. */
static int is_scaled(const fenp_input *input, int64_t k)
{
    return k == 0 && !input->text && !input->constant;
}

int64_t fen_model_features(const fen_model *model) { return model->p; }

void fen_model_feature_name(const fen_model *model, int64_t feature, char *out, int64_t size)
{
    if (size <= 0) return;
    out[0] = '\0';
    if (feature >= 0 && feature < model->p) fenp_prep_feature_name(model->prep, feature, out, size);
}

/* ---- numbers --------------------------------------------------------------------------- */

double fenp_to_units_of_file(const fenp_prep *prep, double *value)
{
    double shift = 0;
    int64_t j = 0;
    for (int64_t i = 0; i < prep->inputs; i++) {
        const fenp_input *input = &prep->input[i];
        if (is_scaled(input, 0)) {
            shift += value[j] * (input->center / input->scale);
            value[j] /= input->scale;
        }
        j += fenp_input_features(input);
    }
    return shift;
}

/* ---- 0/1 features ------------------------------------------------------------------------ */

static int has_indicators(const fenp_prep *prep)
{
    for (int64_t i = 0; i < prep->inputs; i++)
        if (prep->input[i].gaps || (prep->input[i].text && !prep->input[i].constant)) return 1;
    return 0;
}

/* Into out (p): 1, and for 0/1 features their deviation. */
static void find_deviations(const fenp_prep *prep, const fenp_sample *s, double *out)
{
    memset(out, 0, (size_t)s->p * sizeof *out);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->p; j++) out[j] += s->w[i] * s->x[i * s->p + j];
    for (int64_t i = 0, j = 0; i < prep->inputs; i++)
        for (int64_t k = 0; k < fenp_input_features(&prep->input[i]); k++, j++)
            out[j] = is_scaled(&prep->input[i], k) ? 1 : sqrt(fmax(0, out[j] * (1 - out[j])));
}

fen_status fenp_model_find_deviations(fen_model *m, const fenp_sample *sample, fen_error *err)
{
    if (!m->weights || !sample->x || !has_indicators(m->prep)) return FEN_OK;
    m->deviation = fenp_new(m->p, sizeof *m->deviation);
    if (!m->deviation) return fenp_no_memory(err, 8 * m->p, "the deviations");
    find_deviations(m->prep, sample, m->deviation);
    return FEN_OK;
}

fen_status fenp_model_check_deviations(const fen_model *m, const fenp_sample *sample, int *agree,
                                       fen_error *err)
{
    *agree = 1;
    if (!m->deviation) return FEN_OK;
    double *again = fenp_new(m->p, sizeof *again);
    if (!again) return fenp_no_memory(err, 8 * m->p, "the deviations");
    find_deviations(m->prep, sample, again);
    for (int64_t j = 0; j < m->p; j++) *agree &= fabs(again[j] - m->deviation[j]) <= 1e-9;
    free(again);
    return FEN_OK;
}

int64_t fenp_model_empty_features(const fen_model *m)
{
    int64_t count = 0;
    for (int64_t j = 0; m->deviation && j < m->p; j++) count += m->deviation[j] == 0;
    return count;
}

/* ---- all of them ------------------------------------------------------------------------- */

/* Weights of features of deviation 1. A range is 1 for 0/1 features as they are. */
static void to_standard(const fen_model *m, double *weights)
{
    if (!m->deviation || strcmp(m->prep->scaling, "standard") != 0) return;
    for (int64_t t = 0; t < m->targets; t++)
        for (int64_t j = 0; j < m->p; j++) weights[t * m->p + j] *= m->deviation[j];
}

fen_status fen_model_coefficients(const fen_model *model, double *value, double *standardised,
                                  double *intercept, fen_error *err)
{
    if (!model->weights)
        return fenp_fail(err, FEN_BAD_CALL,
                         "a model of the %s kernel has no coefficients of columns; fit with "
                         "--kernel linear",
                         model->kernel.table->name);
    const size_t bytes = (size_t)(model->targets * model->p) * sizeof(double);
    memcpy(value, model->weights, bytes);
    if (standardised) {
        memcpy(standardised, model->weights, bytes);
        to_standard(model, standardised);
    }
    for (int64_t t = 0; t < model->targets; t++)
        intercept[t] = model->offset[t] - fenp_to_units_of_file(model->prep, value + t * model->p);
    return FEN_OK;
}

/* ---- JSON: names of all features, and an entry for every coefficient ---------------------- */

enum { MOST_ZEROS = 1000 }; /* features from which on those without a coefficient are left out */

typedef struct table {
    const fen_model *m;
    double *value, *standard, *intercept;
    int64_t *group;       /* p: of every feature; NULL: groups have no names */
    unsigned char *alias; /* p */
} table;

static void table_free(table *of)
{
    free(of->value), free(of->standard), free(of->intercept), free(of->group), free(of->alias);
}

/* Groups of inputs have names; those of one feature in all targets need none. */
static int has_named_groups(const fen_model *m)
{
    return m->groups.start && m->groups.name && m->copies <= 1;
}

static void find_groups(const fenp_groups *groups, int64_t p, int64_t *of)
{
    for (int64_t j = 0; j < p; j++) of[j] = -1;
    for (int64_t g = 0; g < groups->count; g++)
        for (int64_t k = groups->start[g]; k < groups->start[g + 1]; k++)
            if (groups->member[k] < p) of[groups->member[k]] = g;
}

/* 0: no memory. */
static int table_make(const fen_model *m, table *out)
{
    *out = (table){ .m = m,
                    .value = fenp_new(m->p, m->targets * (int64_t)sizeof(double)),
                    .standard = fenp_new(m->p, m->targets * (int64_t)sizeof(double)),
                    .intercept = fenp_new(m->targets, sizeof(double)),
                    .group = has_named_groups(m) ? fenp_new(m->p, sizeof(int64_t)) : NULL,
                    .alias = fenp_new_zeroed(m->p, 1) };
    if (!out->value || !out->standard || !out->intercept || !out->alias ||
        (has_named_groups(m) && !out->group))
        return 0;
    for (int64_t k = 0; k < m->aliased_count; k++) out->alias[m->aliased[k]] = 1;
    if (out->group) find_groups(&m->groups, m->p, out->group);
    return fen_model_coefficients(m, out->value, out->standard, out->intercept, NULL) == FEN_OK;
}

/* Entry j of every target's row. */
static json_t *column(const double *rows, int64_t targets, int64_t p, int64_t j)
{
    if (targets == 1) return fenp_json_number(rows[j]);
    json_t *array = json_array();
    for (int64_t t = 0; t < targets; t++)
        if (json_array_append_new(array, fenp_json_number(rows[t * p + j]))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static int is_zero(const fen_model *m, int64_t j)
{
    int64_t t = 0;
    while (t < m->targets && m->weights[t * m->p + j] == 0) t++;
    return t == m->targets;
}

static int add_coefficient(const table *of, int64_t j, const char *name, json_t *list)
{
    const fen_model *m = of->m;
    if (m->p > MOST_ZEROS && is_zero(m, j)) return 0;
    json_t *entry = json_object();
    int failed =
        json_object_set_new(entry, "name", fenp_json_string(name)) |
        json_object_set_new(entry, "value", column(of->value, m->targets, m->p, j)) |
        json_object_set_new(entry, "standardised", column(of->standard, m->targets, m->p, j));
    if (of->group && of->group[j] >= 0)
        failed |=
            json_object_set_new(entry, "group", fenp_json_string(m->groups.name[of->group[j]]));
    if (of->alias[j]) failed |= json_object_set_new(entry, "aliased", json_true());
    return json_array_append_new(list, entry) | failed;
}

/* of NULL: names alone. */
static int add_features(const fenp_prep *prep, const table *of, json_t *names, json_t *list)
{
    int failed = 0;
    int64_t j = 0;
    char name[1024];
    for (int64_t i = 0; !failed && i < prep->inputs; i++) {
        fenp_input *input = &prep->input[i];
        fenp_prep alone = { .inputs = 1, .input = input }; /* spares a search from the first on */
        for (int64_t k = 0; !failed && k < fenp_input_features(input); k++, j++) {
            fenp_prep_feature_name(&alone, k, name, sizeof name);
            failed = json_array_append_new(names, fenp_json_string(name));
            if (of) failed |= add_coefficient(of, j, name, list);
        }
    }
    return failed;
}

int fenp_coefficients_json(json_t *out, const fen_model *m)
{
    table of = { 0 };
    json_t *names = json_array(), *list = m->weights ? json_array() : NULL;
    int failed = m->weights && !table_make(m, &of);
    if (!failed) failed = add_features(m->prep, m->weights ? &of : NULL, names, list);
    failed |= json_object_set_new(out, "features", names) |
              json_object_set_new(out, "scale", fenp_json_string(m->prep->scaling));
    if (list) failed |= json_object_set_new(out, "coefficients", list);
    if (list && !failed)
        failed = json_object_set_new(out, "intercept", fenp_json_numbers(of.intercept, m->targets));
    table_free(&of);
    return failed;
}

/* ---- kernel lasso: rows instead of columns ---------------------------------------------------- */

static int add_row(const fen_model *m, int64_t k, json_t *list)
{
    const int64_t row = m->support ? m->support[k] : k;
    char name[32];
    int64_t t = 0;
    while (t < m->targets && m->terms[t * m->kept + k] == 0.0) t++;
    if (t == m->targets) return 0;
    snprintf(name, sizeof name, "row %lld", (long long)row + 1);
    json_t *entry = json_object();
    const int failed =
        json_object_set_new(entry, "name", fenp_json_string(name)) |
        json_object_set_new(entry, "row", json_integer((json_int_t)row + 1)) |
        json_object_set_new(entry, "value", column(m->terms, m->targets, m->kept, k));
    return json_array_append_new(list, entry) | failed;
}

int fenp_row_coefficients_json(json_t *out, const fen_model *m)
{
    json_t *list = json_array();
    int failed = 0;
    for (int64_t k = 0; k < m->kept && !failed; k++) failed = add_row(m, k, list);
    return failed | json_object_set_new(out, "coefficients", list) |
           json_object_set_new(out, "intercept", fenp_json_numbers(m->offset, m->targets));
}
