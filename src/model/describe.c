/* describe.c -- everything worth knowing of a model as one JSON object
 *
 * Functions that return JSON return NULL when memory ran out; setting a NULL fails in
 * turn, so it is enough to look at the sum of the answers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "base/json.h"
#include "loss/traits.h"
#include "model/model.h"
#include "penalty/traits.h"

static int set_number(json_t *out, const char *key, double value)
{
    return json_object_set_new(out, key, fenp_json_number(value));
}

static int set_integer(json_t *out, const char *key, int64_t value)
{
    return json_object_set_new(out, key, json_integer(value));
}

static int set_text(json_t *out, const char *key, const char *value)
{
    return json_object_set_new(out, key, fenp_json_string(value));
}

static json_t *unless(int failed, json_t *value)
{
    if (!failed) return value;
    json_decref(value);
    return NULL;
}

/* --- one value, or an array of one per target --------------------------------------- */

typedef json_t *(*per_target)(const fen_model *m, int64_t t);

static int set_each(json_t *out, const char *key, const fen_model *m, per_target value)
{
    if (m->targets == 1) return json_object_set_new(out, key, value(m, 0));
    json_t *array = json_array();
    int failed = 0;
    for (int64_t t = 0; t < m->targets; t++) failed |= json_array_append_new(array, value(m, t));
    return json_object_set_new(out, key, array) | failed;
}

static json_t *primal(const fen_model *m, int64_t t)
{
    return fenp_json_number(m->certificate[t].primal);
}
static json_t *dual(const fen_model *m, int64_t t)
{
    return fenp_json_number(m->certificate[t].dual);
}
static json_t *gap(const fen_model *m, int64_t t)
{
    return fenp_json_number(m->certificate[t].gap);
}
static json_t *relative_gap(const fen_model *m, int64_t t)
{
    return fenp_json_number(m->certificate[t].relative_gap);
}
static json_t *null(const fen_model *m, int64_t t)
{
    return fenp_json_number(m->certificate[t].null);
}
static json_t *mean_loss(const fen_model *m, int64_t t)
{
    return fenp_json_number(m->certificate[t].mean_loss);
}
static json_t *norm(const fen_model *m, int64_t t)
{
    return fenp_json_number(fenp_model_on_coefficients(m) ? NAN : m->certificate[t].norm);
}
/* What lambda multiplies. */
static json_t *penalty_over_lambda(const fen_model *m, int64_t t)
{
    return fenp_json_number(m->certificate[t].norm);
}
static json_t *stationarity(const fen_model *m, int64_t t)
{
    return fenp_json_number(m->certificate[t].stationarity);
}
static json_t *verdict(const fen_model *m, int64_t t)
{
    return json_string(fen_verdict_text(m->certificate[t].verdict));
}
/* The weight with which an ordinary ridge penalty lambda2 ||f||^2 has the same solution; null
 * where no finite one has (f = 0). */
static json_t *lambda2(const fen_model *m, int64_t t)
{
    if (fenp_model_on_coefficients(m) || fenp_model_is_lp(m)) return json_null();
    return fenp_json_number(m->power == 2 ? m->lambda : 1 / (2 * m->coef_scale[t]));
}
static json_t *train_rmse(const fen_model *m, int64_t t)
{
    int squares = fenp_is_square(m->loss) && m->output[t].plus < 0;
    return squares ? fenp_json_number(sqrt(m->certificate[t].mean_loss)) : json_null();
}

static json_t *loss_parameter(const fen_model *m, int64_t t)
{
    return fenp_json_number(m->loss->parameter.name ? m->output[t].par : NAN);
}

/* --- the parts ------------------------------------------------------------------------ */

static int set_size(json_t *out, const fen_model *m)
{
    const char *task = fenp_model_is_one_class(m) ? "one-class"
                       : m->prep->class_count > 0 ? "classification"
                                                  : "regression";
    return set_text(out, "task", task) | set_integer(out, "n", m->n) |
           set_integer(out, "d", m->whole) | set_integer(out, "inputs", m->prep->inputs);
}

/* --- classes and outputs -------------------------------------------------------------- */

static json_t *class_entry(const fen_model *m, int64_t k)
{
    json_t *entry = json_object();
    int failed = set_text(entry, "label", m->prep->classes[k]) |
                 set_integer(entry, "rows", m->prep->class_rows[k]) |
                 set_number(entry, "weight", m->class_weights ? m->class_weights[k] : 1);
    return unless(failed, entry);
}

/* A label, or nothing where there is none. */
static json_t *label(const fen_model *m, int64_t k)
{
    return k < 0 ? json_null() : fenp_json_string(m->prep->classes[k]);
}

static json_t *output_entry(const fen_model *m, int64_t t)
{
    const fenp_output *o = &m->output[t];
    const int fitted = fenp_has_sigmoid(o);
    json_t *entry = json_object(), *sigmoid = fitted ? json_array() : json_null();
    int failed = json_object_set_new(entry, "target",
                                     o->column < 0 ? json_null()
                                                   : fenp_json_string(m->prep->target[o->column])) |
                 json_object_set_new(entry, "plus", label(m, o->plus)) |
                 json_object_set_new(entry, "minus", label(m, o->minus)) |
                 json_object_set_new(entry, "parameter", loss_parameter(m, t));
    for (int i = 0; fitted && i < 2; i++)
        failed |= json_array_append_new(sigmoid, fenp_json_number(o->sigmoid[i]));
    failed |= json_object_set_new(entry, "sigmoid", sigmoid);
    return unless(failed, entry);
}

static json_t *list(const fen_model *m, int64_t count, per_target entry)
{
    json_t *array = json_array();
    int failed = array == NULL;
    for (int64_t k = 0; !failed && k < count; k++)
        failed = json_array_append_new(array, entry(m, k));
    return unless(failed, array);
}

static int set_classes(json_t *out, const fen_model *m)
{
    if (m->prep->class_count == 0) return 0;
    return json_object_set_new(out, "classes", list(m, m->prep->class_count, class_entry)) |
           json_object_set_new(out, "probabilities", json_boolean(fen_model_has_probabilities(m)));
}

static int set_approx(json_t *out, const fen_model *m)
{
    char approx[FENP_APPROX_TEXT];
    fenp_approx_print(m->approx, approx);
    return set_text(out, "approx", approx) |
           (m->approx.columns ? set_integer(out, "columns", m->approx.columns) : 0);
}

static json_t *terms(const fen_model *m, int64_t t) { return json_integer(fenp_model_terms(m, t)); }

static json_t *norm_distance(const fen_model *m, int64_t t)
{
    return fenp_json_number(m->certificate[t].norm_distance);
}
static json_t *bias_distance(const fen_model *m, int64_t t)
{
    return fenp_json_number(m->certificate[t].bias_distance);
}
static json_t *optimum_distance(const fen_model *m, int64_t t)
{
    return fenp_json_number(m->certificate[t].optimum_distance);
}

/* |w|_p^p, q = p/(p-1); how far predictions may be from the function that is certified, and that
 * and they from the optimum. */
static int set_lp(json_t *out, const fen_model *m)
{
    return set_number(out, "p", m->power) | set_number(out, "q", m->kernel.par.order) |
           set_number(out, "prediction_error", m->prediction_error) |
           set_each(out, "norm_distance", m, norm_distance) |
           set_each(out, "bias_distance", m, bias_distance) |
           set_each(out, "optimum_distance", m, optimum_distance) |
           (m->pivots ? set_integer(out, "pivots", m->pivot_count) : 0);
}

/* What a penalty on coefficients has besides: how many of them stay, and of what. */
static int set_penalty(json_t *out, const fen_model *m)
{
    const int failed =
        set_text(out, "penalty", m->penalty_text[0] ? m->penalty_text : m->penalty->name);
    if (fenp_model_is_lp(m)) return failed | set_lp(out, m);
    if (!fenp_model_on_coefficients(m)) return failed;
    const int none = fenp_is_none(m->penalty);
    json_t *groups = NULL;
    if (m->penalty->parts == FEN_GROUPS)
        groups = json_pack("{s:I, s:I}", "count", (json_int_t)fenp_model_groups(m), "active",
                           (json_int_t)fenp_model_active_groups(m));
    return failed | set_number(out, "mix", none ? NAN : m->mix) |
           json_object_set_new(out, "nonnegative", json_boolean(m->nonnegative)) |
           set_each(out, "terms", m, terms) |
           (m->copies > 1 ? json_object_set_new(out, "joint", json_true()) : 0) |
           (m->penalty->parts == FEN_GROUPS ? json_object_set_new(out, "groups", groups) : 0) |
           (m->rank >= 0 ? set_integer(out, "rank", m->rank) : 0) |
           (m->rank >= 0 ? set_integer(out, "columns", m->whole - fenp_model_empty_features(m))
                         : 0) |
           (m->rank >= 0 ? set_number(out, "condition", m->condition) : 0);
}

static int set_objective(json_t *out, const fen_model *m)
{
    const fen_kernel *k = m->kernel.table;
    char words[1024];
    fenp_model_objective(m, words, sizeof words);
    json_t *bias = m->bias ? fenp_json_numbers(m->offset, m->targets) : json_null();
    int failed = set_text(out, "objective", words) | set_text(out, "loss", m->loss->name) |
                 set_each(out, "loss_parameter", m, loss_parameter) |
                 set_number(out, "nu", m->nu > 0 ? m->nu : NAN) | set_text(out, "kernel", k->name) |
                 set_number(out, "gamma", k->uses_gamma ? m->kernel.par.gamma : NAN);
    if (k->uses_degree) failed |= set_number(out, "degree", m->kernel.par.degree);
    if (k->uses_coef0) failed |= set_number(out, "coef0", m->kernel.par.coef0);
    return failed | set_penalty(out, m) | set_number(out, "lambda", m->lambda) |
           set_number(out, "power", fenp_model_on_coefficients(m) ? NAN : m->power) |
           set_approx(out, m) | set_each(out, "lambda2", m, lambda2) |
           json_object_set_new(out, "bias", bias);
}

static int set_certificate(json_t *out, const fen_model *m)
{
    const int summed = fenp_model_on_coefficients(m) && !fenp_is_none(m->penalty);
    return set_each(out, "norm", m, norm) |
           (summed ? set_each(out, "penalty_over_lambda", m, penalty_over_lambda) : 0) |
           set_each(out, "primal", m, primal) | set_each(out, "dual", m, dual) |
           set_each(out, "gap", m, gap) | set_each(out, "relative_gap", m, relative_gap) |
           set_each(out, "verdict", m, verdict) |
           json_object_set_new(out, "finished", json_boolean(fen_model_finished(m))) |
           set_each(out, "stationarity", m, stationarity) | set_each(out, "null", m, null) |
           set_each(out, "mean_loss", m, mean_loss) | set_each(out, "train_rmse", m, train_rmse) |
           set_number(out, "train_error", m->train_error) |
           (isfinite(m->crossing) ? set_number(out, "crossing", m->crossing) : 0);
}

/* Rows with a coefficient; a row without one is kept where no other is. */
static int64_t count_support(const fen_model *m)
{
    const double *coef = m->terms ? m->terms : m->dual;
    int64_t some = 0;
    if (m->kept != 1) return m->kept;
    for (int64_t t = 0; t < m->targets; t++) some |= coef[t] != 0.0;
    return some;
}

static int set_support(json_t *out, const fen_model *m)
{
    const int rows = m->dual && (m->terms || !fenp_model_on_coefficients(m));
    return rows ? set_integer(out, "support", count_support(m)) : 0;
}

static int set_origin(json_t *out, const fen_model *m)
{
    char hash[32];
    snprintf(hash, sizeof hash, "%016" PRIx64, m->hash);
    return set_text(out, "method", m->method) | set_number(out, "seconds", m->seconds) |
           set_number(out, "tolerance", m->tolerance) | set_text(out, "note", m->note) |
           set_text(out, "hash", hash) | set_text(out, "version", FEN_VERSION);
}

/* With the columns of text, which the preparation tells by their levels. */
static int set_reading(json_t *out, const fen_model *m)
{
    const fenp_prep *prep = m->prep;
    if (!fenp_reading_is_known(&prep->reading)) return 0;
    json_t *reading = fenp_reading_to_json(&prep->reading), *text = json_array();
    int failed = 0;
    for (int64_t i = 0; !failed && i < prep->inputs; i++)
        if (prep->input[i].text)
            failed = json_array_append_new(text, fenp_json_string(prep->input[i].name));
    failed |= json_object_set_new(reading, "text", text);
    return json_object_set_new(out, "reading", reading) | failed;
}

static int set_known(json_t *out, const char *key, double value)
{
    return isnan(value) ? 0 : set_number(out, key, value);
}

/* Of classes alone. */
static int set_error(json_t *out, const fenp_score *of)
{
    return set_known(out, "error_rate", of->error);
}

/* The point of the table that was taken: that of the score, else the best. */
static const fenp_score *taken_of(const fenp_selection *s)
{
    const fenp_score *best = NULL;
    for (int64_t i = 0; i < s->count; i++) {
        if (s->grid[i].score == s->score) return &s->grid[i];
        if (!best || s->grid[i].score < best->score) best = &s->grid[i];
    }
    return best;
}

/* Means over several outputs need not be whole. */
static int set_terms(json_t *out, double terms)
{
    if (terms != floor(terms)) return set_known(out, "terms", terms);
    return set_integer(out, "terms", (int64_t)terms);
}

static json_t *grid(const fenp_selection *s, int gammas, int powers)
{
    json_t *array = json_array();
    int failed = array == NULL;
    for (int64_t i = 0; !failed && i < s->count; i++) {
        json_t *point = json_object();
        failed = set_number(point, "gamma", gammas ? s->grid[i].gamma : NAN) |
                 set_number(point, "lambda", s->grid[i].lambda) |
                 set_number(point, "power", powers ? s->grid[i].power : NAN) |
                 set_number(point, "score", s->grid[i].score) | set_error(point, &s->grid[i]) |
                 set_known(point, "standard_error", s->grid[i].deviation) |
                 set_terms(point, s->grid[i].terms);
        failed |= json_array_append_new(array, point);
    }
    return unless(failed, array);
}

int fenp_selection_json(json_t *out, const fenp_selection *s, int gammas, int powers)
{
    if (!s->kind[0]) return 0;
    const fenp_score *taken = taken_of(s);
    return set_number(out, "score", s->score) | (taken ? set_error(out, taken) : 0) |
           set_text(out, "score_kind", s->kind) | set_integer(out, "score_rows", s->rows) |
           json_object_set_new(out, "grid", grid(s, gammas, powers));
}

static json_t *target_name(const fen_model *m, int64_t t)
{
    char name[512];
    fen_model_target_words(m, t, name, sizeof name);
    return fenp_json_string(name);
}

fen_status fen_model_json(const fen_model *model, char **json, fen_error *err)
{
    json_t *out = json_object();
    int failed = set_size(out, model) | set_objective(out, model) | set_certificate(out, model) |
                 fenp_selection_json(out, &model->selection, model->kernel.table->uses_gamma,
                                     !fenp_model_on_coefficients(model)) |
                 set_origin(out, model) | set_reading(out, model) | set_classes(out, model) |
                 set_support(out, model) |
                 json_object_set_new(out, "outputs", list(model, model->targets, output_entry)) |
                 json_object_set_new(out, "targets", list(model, model->targets, target_name));
    if (!model->prep->precomputed) /* whose features are the training rows */
        failed |= fenp_coefficients_json(out, model);
    if (model->terms) failed |= fenp_row_coefficients_json(out, model);
    return fenp_json_text(unless(failed, out), json, err);
}
