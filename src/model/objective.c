/* objective.c -- the objective of a model in words
 *
 *   mean of square loss (y - t)^2 at t = f(x) + b, plus 0.1 ||f||^2, gaussian kernel ...
 *   mean of square loss (y - t)^2 at t = x.beta + b, plus 0.1 sum |beta_j|, features standard
 *   mean of square loss (y - t)^2 at t = f(x) + b, f = w.phi(x), plus 0.1 |w|_p^p, p = 4/3, q = 4,
 *   tensor-polynomial kernel ...
 *   mean of hinge loss ... at t = sum c_i k(x_i, x) + b, plus 0.1 sum |c_i|, gaussian kernel ... */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "model/model.h"
#include "penalty/traits.h"
#include "tensor/form.h"

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

/* ", plus 0.1 ||f||^2" */
static void whole_words(const fen_model *m, char *out, size_t size)
{
    char lambda[32], power[32];
    fenp_print_short(m->lambda, lambda);
    fenp_print_short(m->power, power);
    snprintf(out, size, ", plus %s ||f||^%s", lambda, power);
}

/* "4/3", "1.5" */
static void exponent_words(const fen_model *m, char *out, size_t size)
{
    const int64_t even = fenp_even_order(m->kernel.par.order);
    char number[32];
    fenp_print_short(m->power, number);
    if (even > 2)
        snprintf(out, size, "%lld/%lld", (long long)even, (long long)(even - 1));
    else
        snprintf(out, size, "%s", number);
}

/* ", plus 0.1 |w|_p^p, p = 4/3, q = 4" */
static void lp_words(const fen_model *m, char *out, size_t size)
{
    char lambda[32], power[48], order[32];
    fenp_print_short(m->lambda, lambda);
    fenp_print_short(m->kernel.par.order, order);
    exponent_words(m, power, sizeof power);
    snprintf(out, size, ", plus %s |w|_p^p, p = %s, q = %s", lambda, power, order);
}

/* Without features that are 0 in all rows; of such alone: 1 (groups.c). */
static int64_t group_size(const fen_model *m, int64_t k)
{
    const fenp_groups *g = &m->groups;
    int64_t size = fenp_group_size(g, k);
    for (int64_t i = g->start[k]; m->deviation && i < g->start[k + 1]; i++)
        size -= m->deviation[g->member[i] % m->p] == 0.0;
    return size > 0 ? size : 1;
}

/* What the a_g of groups are: 1, the root of the size, or neither. */
static const char *group_weights(const fen_model *m)
{
    const fenp_groups *g = &m->groups;
    int ones = 1, roots = g->start != NULL;
    for (int64_t k = 0; k < g->count; k++) {
        const double weight = fenp_group_weight(g, k);
        ones &= weight == 1.0, roots = roots && weight == sqrt((double)group_size(m, k));
    }
    return ones ? "a_g = 1" : roots ? "a_g the root of its size" : "a_g as given";
}

/* ", plus 0.1 sum a_j (0.5 |beta_j| + 0.25 beta_j^2), beta >= 0" */
static void coefficient_words(const fen_model *m, char *out, size_t size)
{
    const char *of = m->terms ? "c_i" : "beta_j";
    const char *weight = m->groups.weight ? m->terms ? "a_i " : "a_j " : "";
    const char *given = m->groups.weight ? m->terms ? ", a_i as given" : ", a_j as given" : "";
    const char *sign = !m->nonnegative ? "" : m->terms ? ", c >= 0" : ", beta >= 0";
    char lambda[32], mix[32], rest[32];
    fenp_print_short(m->lambda, lambda);
    fenp_print_short(m->mix, mix);
    fenp_print_short(0.5 * (1.0 - m->mix), rest);
    if (fenp_is_none(m->penalty))
        snprintf(out, size, ", no penalty%s", sign);
    else if (m->penalty->parts == FEN_GROUPS)
        snprintf(out, size, ", plus %s times the sum over %lld groups of a_g ||beta_g||, %s%s",
                 lambda, (long long)fenp_model_groups(m), group_weights(m), sign);
    else if (m->mix < 1.0)
        snprintf(out, size, ", plus %s sum %s(%s |%s| + %s %s^2)%s%s", lambda, weight, mix, of,
                 rest, of, given, sign);
    else
        snprintf(out, size, ", plus %s sum %s|%s|%s%s", lambda, weight, of, given, sign);
}

/* ", gaussian kernel exp(..), gamma = 0.1", or how the features of a linear model are scaled */
static void kernel_words(const fen_model *m, char *out, int64_t size)
{
    const fen_kernel *k = m->kernel.table;
    const size_t length = strlen(out);
    if ((fenp_model_on_coefficients(m) || fenp_model_is_lp(m)) && k->basis == FEN_PRODUCT &&
        m->weights) {
        if (strcmp(m->prep->scaling, "none") != 0)
            snprintf(out + length, (size_t)size - length, ", features scaled (%s)",
                     m->prep->scaling);
        return;
    }
    const char *aim = strstr(k->help, ", for "); /* what else it says of itself */
    snprintf(out + length, (size_t)size - length, ", %s kernel %.*s", k->name,
             (int)(aim ? aim - k->help : (ptrdiff_t)strlen(k->help)), k->help);
    parameter(out, size, k->uses_gamma, "gamma", m->kernel.par.gamma);
    parameter(out, size, k->uses_degree, "degree", m->kernel.par.degree);
    parameter(out, size, k->uses_coef0, "coef0", m->kernel.par.coef0);
}

void fenp_model_objective(const fen_model *m, char *out, int64_t size)
{
    const int linear = fenp_model_on_coefficients(m);
    char loss[512], formula[128], price[128], penalty[256];
    loss_words(m, loss, sizeof loss);
    formula_words(m, formula, sizeof formula);
    price_words(m, price, sizeof price);
    if (fenp_model_is_lp(m))
        lp_words(m, penalty, sizeof penalty);
    else if (linear)
        coefficient_words(m, penalty, sizeof penalty);
    else
        whole_words(m, penalty, sizeof penalty);
    snprintf(out, (size_t)size, "%s%smean of %s loss %s at t = %s%s%s%s",
             m->copies > 1 ? "sum over the targets of the " : "",
             m->prep->weights || m->class_weights ? "weighted " : "", loss, formula,
             m->terms               ? "sum c_i k(x_i, x)"
             : linear               ? "x.beta"
             : !fenp_model_is_lp(m) ? "f(x)"
             : m->weights           ? "x.w"
                                    : "w.phi(x)",
             m->bias ? " + b" : "", price, penalty);
    kernel_words(m, out, size);
    const size_t length = strlen(out);
    if (m->approx.columns)
        snprintf(out + length, (size_t)size - length,
                 ", approximated by %lld %srandom Fourier features", (long long)m->approx.columns,
                 m->approx.orthogonal ? "orthogonal " : "");
}
