/* model.c -- what a fit leaves behind: its life and its size */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/registry.h"
#include "base/text.h"
#include "loss/traits.h"
#include "kernel/expansion.h"
#include "model/ready.h"
#include "solver/solver.h"

/* inputs and weights stay NULL: a fit hands over the arrays that it has already. */
fen_model *fenp_model_new(int64_t n, int64_t p, int64_t targets)
{
    int64_t duals = fenp_bytes(targets, n, 1);
    fen_model *m = fenp_new_zeroed(1, sizeof *m);
    if (!m) return NULL;
    m->n = m->kept = n;
    m->p = m->whole = p;
    m->targets = targets;
    m->train_error = m->crossing = m->condition = NAN;
    m->penalty = fenp_find_penalty("rkhs"), m->mix = 1.0;
    m->copies = 1, m->rank = -1;
    m->output = fenp_new_zeroed(targets, sizeof *m->output);
    for (int64_t t = 0; m->output && t < targets; t++)
        m->output[t] = (fenp_output){ .column = t, .plus = -1, .minus = -1 };
    m->dual = fenp_new_zeroed(duals, sizeof *m->dual);
    m->coef_scale = fenp_new_zeroed(targets, sizeof *m->coef_scale);
    m->offset = fenp_new_zeroed(targets, sizeof *m->offset);
    m->certificate = fenp_new_zeroed(targets, sizeof *m->certificate);
    for (int64_t t = 0; m->certificate && t < targets; t++)
        m->certificate[t].norm_distance = m->certificate[t].bias_distance =
            m->certificate[t].optimum_distance = NAN;
    if (m->output && m->dual && m->coef_scale && m->offset && m->certificate) return m;
    fen_model_free(m);
    return NULL;
}

fen_model *fenp_model_new_features(int64_t n, int64_t p, int64_t targets, fenp_approx approx)
{
    fen_model *m = fenp_model_new(0, p, targets);
    if (!m) return NULL;
    free(m->dual);
    m->dual = NULL;
    m->n = m->kept = n;
    m->approx = approx;
    m->frequencies = fenp_new_zeroed(fenp_bytes(approx.columns / 2, p, sizeof(double)), 1);
    m->feature_weights = fenp_new_zeroed(fenp_bytes(targets, approx.columns, sizeof(double)), 1);
    if (m->frequencies && m->feature_weights) return m;
    fen_model_free(m);
    return NULL;
}

void fen_model_free(fen_model *model)
{
    if (!model) return;
    fenp_prep_free(model->prep);
    free(model->output);
    free(model->class_weights);
    free(model->support);
    free(model->inputs);
    free(model->weights);
    free(model->deviation);
    free(model->terms);
    free(model->pivots);
    free(model->pivot_weights);
    free(model->aliased);
    fenp_groups_free(&model->groups);
    free(model->frequencies);
    free(model->feature_weights);
    free(model->dual);
    free(model->coef_scale);
    free(model->offset);
    free(model->tangents);
    free(model->certificate);
    free(model->selection.grid);
    fenp_ready_free(model->ready);
    fenp_expansion_free(model->expansion);
    free(model);
}

/* ---- support ---------------------------------------------------------------------------- */

/* In values: targets x n. */
static int has_coefficient(const fen_model *m, const double *values, int64_t row)
{
    for (int64_t t = 0; t < m->targets; t++)
        if (values[t * m->n + row] != 0.0) return 1;
    return 0;
}

/* Those of the support move to the front; columns ascend, so that none is overwritten. */
static void pack_values(const fen_model *m, double **values)
{
    double *at = *values;
    for (int64_t t = 0; t < m->targets; t++)
        for (int64_t k = 0; k < m->kept; k++) at[t * m->kept + k] = at[t * m->n + m->support[k]];
    double *less = fenp_resize(at, m->targets * m->kept, sizeof *less);
    if (less) *values = less;
}

/* The rows with a coefficient, and of kernels that need rows to predict their inputs. */
static fen_status keep_rows(fen_model *m, double **values, const double *x, fen_error *err)
{
    const int rows = !m->kernel.table->linear;
    int64_t kept = 0;
    for (int64_t i = 0; i < m->n; i++) kept += has_coefficient(m, *values, i);
    if (kept == m->n) return FEN_OK;
    const int64_t room = kept > 0 ? kept : 1; /* of f = 0 a row stays, with coefficient 0 */
    const int64_t bytes = fenp_bytes(room, m->p, sizeof(double));
    int64_t *support = fenp_new_zeroed(room, sizeof *support);
    double *inputs = rows ? fenp_new(bytes, 1) : NULL;
    if (!support || (rows && !inputs)) {
        free(support);
        free(inputs);
        return fenp_no_memory(err, bytes, "the support vectors");
    }
    for (int64_t i = 0, k = 0; i < m->n && k < kept; i++)
        if (has_coefficient(m, *values, i)) support[k++] = i;
    for (int64_t k = 0; rows && k < room; k++)
        memcpy(inputs + k * m->p, x + support[k] * m->p, (size_t)m->p * sizeof *inputs);
    free(m->inputs);
    m->inputs = inputs;
    m->support = support;
    m->kept = room;
    pack_values(m, values);
    return FEN_OK;
}

fen_status fenp_model_pack_support(fen_model *m, const double *x, fen_error *err)
{
    if (m->support || m->tangents || m->frequencies || m->kernel.table->basis == FEN_PRECOMPUTED)
        return FEN_OK;
    return keep_rows(m, &m->dual, x, err);
}

fen_status fenp_model_pack_terms(fen_model *m, const double *x, fen_error *err)
{
    return m->kernel.table->basis == FEN_PRECOMPUTED ? FEN_OK : keep_rows(m, &m->terms, x, err);
}

void fenp_model_keep_tangents(fen_model *m, int64_t length, int64_t most)
{
    for (int64_t t = 0; t < m->targets; t++)
        memmove(m->tangents + t * most * length, m->tangents + t * m->tangent_count * length,
                (size_t)(most * length) * sizeof(double));
    double *less = fenp_resize(m->tangents, m->targets * most * length, sizeof(double));
    if (less) m->tangents = less;
    m->tangent_count = most;
}

double *fenp_model_coefs(const fen_model *m)
{
    double *coef = fenp_new(m->targets, m->kept * (int64_t)sizeof *coef);
    for (int64_t t = 0; coef && t < m->targets; t++)
        for (int64_t i = t * m->kept; i < (t + 1) * m->kept; i++)
            coef[i] = m->terms ? m->terms[i] : m->coef_scale[t] * m->dual[i];
    return coef;
}

const fenp_solver *fenp_model_solver(const fen_model *m)
{
    char name[sizeof m->method];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(m->method, ","), m->method);
    return fenp_find_solver(name);
}

int64_t fen_model_inputs(const fen_model *model) { return model->prep->inputs; }

const char *fen_model_input_name(const fen_model *model, int64_t input)
{
    return input >= 0 && input < model->prep->inputs ? model->prep->input[input].name : NULL;
}

int fen_model_finished(const fen_model *model)
{
    for (int64_t t = 0; t < model->targets; t++) {
        const fen_certificate *c = &model->certificate[t];
        if (!(fabs(c->relative_gap) <= model->tolerance) || c->verdict == FEN_VERDICT_LIMIT ||
            c->verdict == FEN_VERDICT_INTERRUPTED)
            return 0;
    }
    return 1;
}

const fen_reading *fen_model_reading(const fen_model *model) { return &model->prep->reading; }

int64_t fen_model_targets(const fen_model *model) { return model->targets; }

int fenp_model_is_one_class(const fen_model *m) { return m->output[0].column < 0; }

const char *fen_model_target_name(const fen_model *model, int64_t target)
{
    if (target < 0 || target >= model->targets) return NULL;
    const int64_t column = model->output[target].column;
    return column < 0 ? "one class" : model->prep->target[column];
}

void fen_model_target_words(const fen_model *model, int64_t target, char *out, int64_t size)
{
    if (size > 0) out[0] = '\0';
    if (target >= 0 && target < model->targets)
        fenp_output_name(model->prep, model->output, model->targets, target, out, size);
}

int64_t fen_model_classes(const fen_model *model) { return model->prep->class_count; }

const char *fen_model_class(const fen_model *model, int64_t k)
{
    return k >= 0 && k < model->prep->class_count ? model->prep->classes[k] : NULL;
}

/* By what the logistic loss means, or by sigmoids. */
int fen_model_has_probabilities(const fen_model *model)
{
    int given = fenp_tells_odds(model->loss);
    for (int64_t t = 0; t < model->targets && !given; t++)
        given = fenp_has_sigmoid(&model->output[t]);
    return given && model->prep->class_count > 0;
}

fen_certificate fenp_no_certificate(void)
{
    return (fen_certificate){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, FEN_VERDICT_STALLED,
                              NAN, NAN, NAN };
}

fen_certificate fen_model_certificate(const fen_model *model, int64_t target)
{
    if (target >= 0 && target < model->targets) return model->certificate[target];
    return fenp_no_certificate();
}

void fenp_approx_print(fenp_approx approx, char out[FENP_APPROX_TEXT])
{
    if (approx.columns)
        snprintf(out, FENP_APPROX_TEXT, "%s:%lld", approx.orthogonal ? "orthogonal" : "fourier",
                 (long long)approx.columns);
    else
        snprintf(out, FENP_APPROX_TEXT, "none");
}

/* ---- penalties on coefficients ----------------------------------------------------------- */

int64_t fenp_model_terms(const fen_model *m, int64_t t)
{
    const int64_t count = m->terms ? m->kept : m->p;
    const double *at = (m->terms ? m->terms : m->weights) + t * count;
    int64_t terms = 0;
    for (int64_t j = 0; j < count; j++) terms += at[j] != 0.0;
    return terms;
}

/* Coefficient k of all targets; with copies one target after the other. */
static int is_active(const fen_model *m, int64_t k)
{
    for (int64_t t = 0; m->copies == 1 && t < m->targets; t++)
        if (m->weights[t * m->p + k] != 0.0) return 1;
    return m->copies > 1 && m->weights[k] != 0.0;
}

int64_t fenp_model_active_groups(const fen_model *m)
{
    const fenp_groups *g = &m->groups;
    int64_t active = 0;
    for (int64_t k = 0; k < g->count; k++) {
        const int64_t size = fenp_group_size(g, k);
        int64_t i = 0;
        while (i < size && !is_active(m, fenp_group_member(g, k, i))) i++;
        active += i < size;
    }
    return active;
}
