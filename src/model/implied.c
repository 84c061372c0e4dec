/* implied.c -- the features that a function is the weighted sum of
 *
 *     f(x) = sum_k w_k phi_k(x),   phi_k(x) = factor_k x_1^k1 x_2^k2 ...,
 *
 * x prepared and scaled; the penalty applies to w.
 * Names: those of the prepared features, "*" between them and "^" for powers; a name that has one
 * of these or a blank in it stands in parentheses. The constant is called 1.
 * Cost: lp.c. */
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "model/lp.h"
#include "tensor/form.h"

enum { MEMBERS_MAX = 64 };

static int has_list(const fen_model *m)
{
    const fenp_kernel *k = &m->kernel;
    return m->weights || (fenp_model_is_explicit(m) && k->table->last(&k->par) <= MEMBERS_MAX);
}

int64_t fen_model_implied(const fen_model *model)
{
    if (model->weights) return model->p;
    return has_list(model) ? fenp_feature_count(&model->kernel, model->p) : 0;
}

/* ---- names ------------------------------------------------------------------------------- */

/* A factor behind what out has; products have names that cannot be taken for products. */
static void add_factor(const fen_model *m, int64_t feature, int64_t times, int alone, char *out,
                       size_t size)
{
    char name[1024];
    const size_t used = strlen(out);
    fenp_prep_feature_name(m->prep, feature, name, sizeof name);
    const int plain = alone || !name[strcspn(name, " *^()")];
    const int length = snprintf(out + used, size - used, "%s%s%s%s", used ? "*" : "",
                                plain ? "" : "(", name, plain ? "" : ")");
    if (times > 1 && used + (size_t)length < size)
        snprintf(out + used + (size_t)length, size - used - (size_t)length, "^%lld",
                 (long long)times);
}

void fen_model_implied_name(const fen_model *model, int64_t feature, char *out, int64_t size)
{
    int64_t member[MEMBERS_MAX];
    if (size <= 0) return;
    out[0] = '\0';
    if (feature < 0 || feature >= fen_model_implied(model)) return;
    if (model->weights) {
        fen_model_feature_name(model, feature, out, size);
        return;
    }
    const int64_t count = fenp_feature_members(&model->kernel, model->p, feature, member);
    if (count == 0) snprintf(out, (size_t)size, "1");
    for (int64_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && member[next] == member[i]; next++) {}
        add_factor(model, member[i], next - i, count == 1, out, (size_t)size);
    }
}

/* ---- weights ----------------------------------------------------------------------------- */

static fen_status no_list(const fen_model *m, fen_error *err)
{
    static const char *const which = "linear, tensor-linear and tensor-polynomial have one";
    const fen_kernel *k = m->kernel.table;
    if (!fenp_model_is_lp(m))
        return fenp_fail(err, FEN_BAD_CALL,
                         "a model of the %s kernel has no list of features: models of the kernels "
                         "%s",
                         k->name, which);
    if (k->last(&m->kernel.par) < 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "the %s kernel has infinitely many features, and no list of them: models "
                         "of the kernels %s",
                         k->name, which);
    return fenp_fail(err, FEN_BAD_CALL,
                     "the %s kernel has more than %d features of %lld columns, too many for a "
                     "list: fit with fewer columns or a lower --degree",
                     k->name, FENP_MOST_FEATURES, (long long)m->p);
}

fen_status fen_model_implied_weights(const fen_model *model, int64_t target, double *weight,
                                     double *coefficient, fen_error *err)
{
    if (target < 0 || target >= model->targets)
        return fenp_fail(err, FEN_BAD_CALL, "the model has %lld targets",
                         (long long)model->targets);
    if (!has_list(model)) return no_list(model, err);
    const fen_status status = fenp_model_implied(model, &model->kernel, target, weight, err);
    if (status != FEN_OK || !coefficient) return status;
    return fenp_model_products(model, &model->kernel, target, coefficient, err);
}
