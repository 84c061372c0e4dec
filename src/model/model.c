/* model.c -- what a fit leaves behind: its life, its size, its objective in words */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/text.h"
#include "model/model.h"

/* inputs and weights stay NULL: a fit hands over the arrays that it has already. */
fen_model *fenp_model_new(int64_t n, int64_t p, int64_t targets)
{
    int64_t duals = fenp_bytes(targets, n, 1);
    fen_model *m = fenp_new_zeroed(1, sizeof *m);
    if (!m) return NULL;
    m->n = n;
    m->p = p;
    m->targets = targets;
    m->dual = fenp_new_zeroed(duals, sizeof *m->dual);
    m->coef_scale = fenp_new_zeroed(targets, sizeof *m->coef_scale);
    m->offset = fenp_new_zeroed(targets, sizeof *m->offset);
    m->certificate = fenp_new_zeroed(targets, sizeof *m->certificate);
    if (m->dual && m->coef_scale && m->offset && m->certificate) return m;
    fen_model_free(m);
    return NULL;
}

fen_model *fenp_model_new_features(int64_t n, int64_t p, int64_t targets, fenp_approx approx)
{
    fen_model *m = fenp_model_new(0, p, targets);
    if (!m) return NULL;
    free(m->dual);
    m->dual = NULL;
    m->n = n;
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

const char *fen_model_target_name(const fen_model *model, int64_t target)
{
    return target >= 0 && target < model->targets ? model->prep->target[target] : NULL;
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
    char lambda[32], power[32];
    fenp_print_short(m->lambda, lambda);
    fenp_print_short(m->power, power);
    snprintf(out, (size_t)size,
             "%smean of %s loss %s at t = f(x)%s, plus %s ||f||^%s, %s kernel %s",
             m->prep->weights ? "weighted " : "", m->loss->name, m->loss->help,
             m->bias ? " + b" : "", lambda, power, k->name, k->help);
    parameter(out, size, k->uses_gamma, "gamma", m->kernel.par.gamma);
    parameter(out, size, k->uses_degree, "degree", m->kernel.par.degree);
    parameter(out, size, k->uses_coef0, "coef0", m->kernel.par.coef0);
    const size_t length = strlen(out);
    if (m->approx.columns)
        snprintf(out + length, (size_t)size - length,
                 ", approximated by %lld %srandom Fourier features", (long long)m->approx.columns,
                 m->approx.orthogonal ? "orthogonal " : "");
}
