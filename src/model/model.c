/* model.c -- what a fit leaves behind: its life, its size, its objective in words */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "model/model.h"

/* inputs and weights stay NULL: a fit hands over the arrays that it has already. */
fen_model *fenp_model_new(int64_t n, int64_t p, int64_t targets)
{
    int64_t duals = fenp_bytes(targets, n, 1);
    fen_model *m = fenp_new_zeroed(1, sizeof *m);
    if (!m) return NULL;
    m->n = m->kept = n;
    m->p = p;
    m->targets = targets;
    m->train_error = m->crossing = NAN;
    m->output = fenp_new_zeroed(targets, sizeof *m->output);
    for (int64_t t = 0; m->output && t < targets; t++)
        m->output[t] = (fenp_output){ .column = t, .plus = -1, .minus = -1 };
    m->dual = fenp_new_zeroed(duals, sizeof *m->dual);
    m->coef_scale = fenp_new_zeroed(targets, sizeof *m->coef_scale);
    m->offset = fenp_new_zeroed(targets, sizeof *m->offset);
    m->certificate = fenp_new_zeroed(targets, sizeof *m->certificate);
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
    free(model->frequencies);
    free(model->feature_weights);
    free(model->dual);
    free(model->coef_scale);
    free(model->offset);
    free(model->tangents);
    free(model->certificate);
    free(model->selection.grid);
    free(model);
}

/* ---- support ---------------------------------------------------------------------------- */

static int has_coefficient(const fen_model *m, int64_t row)
{
    for (int64_t t = 0; t < m->targets; t++)
        if (m->dual[t * m->n + row] != 0.0) return 1;
    return 0;
}

/* The duals of the support move to the front; columns ascend, so that none is overwritten. */
static void pack_duals(fen_model *m)
{
    for (int64_t t = 0; t < m->targets; t++)
        for (int64_t k = 0; k < m->kept; k++)
            m->dual[t * m->kept + k] = m->dual[t * m->n + m->support[k]];
    double *less = fenp_resize(m->dual, m->targets * m->kept, sizeof *less);
    if (less) m->dual = less;
}

fen_status fenp_model_pack_support(fen_model *m, const double *x, fen_error *err)
{
    const int rows = !m->kernel.table->linear; /* are needed to predict */
    int64_t kept = 0;
    if (m->support || m->tangents || m->frequencies || m->kernel.table->basis == FEN_PRECOMPUTED)
        return FEN_OK;
    for (int64_t i = 0; i < m->n; i++) kept += has_coefficient(m, i);
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
        if (has_coefficient(m, i)) support[k++] = i;
    for (int64_t k = 0; rows && k < room; k++)
        memcpy(inputs + k * m->p, x + support[k] * m->p, (size_t)m->p * sizeof *inputs);
    free(m->inputs);
    m->inputs = inputs;
    m->support = support;
    m->kept = room;
    pack_duals(m);
    return FEN_OK;
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

int64_t fen_model_inputs(const fen_model *model) { return model->prep->inputs; }

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
    int given = strcmp(model->loss->name, "logistic") == 0;
    for (int64_t t = 0; t < model->targets && !given; t++)
        given = fenp_has_sigmoid(&model->output[t]);
    return given && model->prep->class_count > 0;
}

fen_certificate fen_model_certificate(const fen_model *model, int64_t target)
{
    if (target >= 0 && target < model->targets) return model->certificate[target];
    return (fen_certificate){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, FEN_VERDICT_STALLED };
}

void fenp_approx_print(fenp_approx approx, char out[FENP_APPROX_TEXT])
{
    if (approx.columns)
        snprintf(out, FENP_APPROX_TEXT, "%s:%lld", approx.orthogonal ? "orthogonal" : "fourier",
                 (long long)approx.columns);
    else
        snprintf(out, FENP_APPROX_TEXT, "none");
}

/* "eps (epsilon 0.1)", "hinge (margin free)" */
static void loss_words(const fen_model *m, char *out, size_t size)
{
    char number[32];
    size_t used = (size_t)snprintf(out, size, "%s", m->loss->name);
    if (!m->loss->parameter.name || used >= size) return;
    if (m->nu > 0) {
        snprintf(out + used, size - used, " (%s free)", m->loss->parameter.name);
        return;
    }
    used += (size_t)snprintf(out + used, size - used, " (%s", m->loss->parameter.name);
    for (int64_t t = 0; t < m->targets && used < size; t++) {
        int64_t s = 0;
        while (m->output[s].par != m->output[t].par) s++;
        if (s < t) continue; /* said already */
        fenp_print_short(m->output[t].par, number);
        used += (size_t)snprintf(out + used, size - used, "%s %s", t ? "," : "", number);
    }
    if (used < size) snprintf(out + used, size - used, ")");
}

/* The help of the loss; for one class with the labels that it has. */
static void formula_words(const fen_model *m, char *out, size_t size)
{
    const char *help = m->loss->help, *labels = strstr(help, ", labels");
    if (fenp_model_is_one_class(m) && labels)
        snprintf(out, size, "%.*s, all labels y = +1", (int)(labels - help), help);
    else
        snprintf(out, size, "%s", help);
}

/* What a free parameter costs or earns: ", minus 0.5 margin". The rows of a pair of classes
 * weigh less than 1, and so does its price. */
static void price_words(const fen_model *m, char *out, size_t size)
{
    const int pairs = m->prep->class_count > 2 && m->output[0].minus >= 0;
    char number[32];
    out[0] = '\0';
    if (!(m->nu > 0)) return;
    fenp_print_short(m->nu, number);
    snprintf(out, size, ", %s %s %s%s", m->loss->price < 0 ? "minus" : "plus", number,
             m->loss->parameter.name, pairs ? " times the weight of the two classes" : "");
}

/* Appends ", name value" where the kernel has such a parameter. */
static void parameter(char *out, int64_t size, int used, const char *name, double value)
{
    char number[32];
    size_t length = strlen(out);
    if (!used) return;
    fenp_print_short(value, number);
    snprintf(out + length, (size_t)size - length, ", %s = %s", name, number);
}

void fenp_model_objective(const fen_model *m, char *out, int64_t size)
{
    const fen_kernel *k = m->kernel.table;
    char lambda[32], power[32], loss[512], formula[128], price[128];
    loss_words(m, loss, sizeof loss);
    formula_words(m, formula, sizeof formula);
    price_words(m, price, sizeof price);
    fenp_print_short(m->lambda, lambda);
    fenp_print_short(m->power, power);
    snprintf(out, (size_t)size,
             "%smean of %s loss %s at t = f(x)%s%s, plus %s ||f||^%s, %s kernel %s",
             m->prep->weights || m->class_weights ? "weighted " : "", loss, formula,
             m->bias ? " + b" : "", price, lambda, power, k->name, k->help);
    parameter(out, size, k->uses_gamma, "gamma", m->kernel.par.gamma);
    parameter(out, size, k->uses_degree, "degree", m->kernel.par.degree);
    parameter(out, size, k->uses_coef0, "coef0", m->kernel.par.coef0);
    const size_t length = strlen(out);
    if (m->approx.columns)
        snprintf(out + length, (size_t)size - length,
                 ", approximated by %lld %srandom Fourier features", (long long)m->approx.columns,
                 m->approx.orthogonal ? "orthogonal " : "");
}
