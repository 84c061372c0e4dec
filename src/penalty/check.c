/* check.c -- options that do not go together with --penalty, one sentence each
 *
 * What depends on the rows (the loss of auto, the unit of lambda) is for settle.c. */
#include <string.h>
#include "base/error.h"
#include "base/registry.h"
#include "penalty/traits.h"

static int is(const char *text, const char *word) { return strcmp(text, word) == 0; }

static int starts(const char *text, const char *head)
{
    return strncmp(text, head, strlen(head)) == 0;
}

/* Asking for --power 2 as well is harmless. */
static int has_power(const fen_options *o)
{
    return o->power.choice != FEN_GIVEN || o->power.count != 1 || o->power.at[0] != 2;
}

/* ---- penalties on the function ------------------------------------------------------- */

static fen_status check_whole(const fen_options *o, fen_error *err)
{
    if (fenp_kernel_of(o)->basis == FEN_TENSOR)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--kernel %s is for --penalty lp:P: add one, such as --penalty lp:4/3, or "
                         "take --kernel polynomial",
                         o->kernel);
    const char *culprit =
        o->nonnegative          ? "--nonnegative"
        : o->feature_weights[0] ? "--feature-weights"
        : starts(o->select, "1se:") || is(o->select, "aic") || is(o->select, "bic")
            ? "--select 1se, aic and bic"
            : NULL;
    if (!culprit) return FEN_OK;
    return fenp_fail(err, FEN_BAD_CALL,
                     "%s %s for penalties on coefficients; add --penalty l1 or elastic, or leave "
                     "%s out",
                     culprit, culprit[2] == 's' ? "are" : "is",
                     culprit[2] == 's' ? "--select" : culprit);
}

/* ---- penalties on coefficients ------------------------------------------------------- */

static const char *whole_only(const fen_options *o)
{
    const struct {
        int given;
        const char *name;
    } options[] = {
        { has_power(o), "--power" },
        { o->smoothness > 0, "--smoothness" },
        { o->nu > 0, "--nu" },
        { !is(o->approx, "none"), "--approx" },
        { is(o->task, "one-class"), "--task one-class" },
        { is(o->over, "power"), "--over power" },
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given) return options[i].name;
    return NULL;
}

/* One that has the parameter. */
static const char *other_kernel(const fen_options *o, const char *parameter)
{
    if (fenp_exponent_of(o) > 0.0)
        return is(parameter, "gamma") ? "tensor-exponential" : "tensor-polynomial";
    return is(parameter, "gamma") ? "gaussian" : "polynomial";
}

/* What a kernel without it would not look at; saying the default as well is harmless. */
static fen_status check_parameters(const fen_options *o, const fen_kernel *kernel, fen_error *err)
{
    const fen_options usual = fen_options_default();
    const char *culprit = o->gamma.choice != FEN_AUTO && !kernel->uses_gamma  ? "gamma"
                          : o->degree != usual.degree && !kernel->uses_degree ? "degree"
                          : o->coef0 != usual.coef0 && !kernel->uses_coef0    ? "coef0"
                                                                              : NULL;
    if (!culprit) return FEN_OK;
    return fenp_fail(err, FEN_BAD_CALL,
                     "--%s does not go with --kernel %s, which has none; leave it out, or use "
                     "--kernel %s",
                     culprit, kernel->name, other_kernel(o, culprit));
}

static fen_status check_kernel(const fen_options *o, const fen_penalty *penalty, fen_error *err)
{
    const fen_kernel *kernel = fenp_kernel_of(o);
    const fen_status status = check_parameters(o, kernel, err);
    if (status != FEN_OK) return status;
    if (kernel->basis == FEN_TENSOR)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--kernel %s is for --penalty lp:P; leave it out, or --penalty %s",
                         kernel->name, penalty->name);
    if (kernel->linear) return FEN_OK;
    if (penalty->parts == FEN_GROUPS || fenp_is_none(penalty))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--penalty %s is for linear models; leave --kernel %s out, or take "
                         "--penalty l1 or elastic",
                         penalty->name, kernel->name);
    if (o->feature_weights[0])
        return fenp_fail(err, FEN_BAD_CALL,
                         "--feature-weights is for linear models: with --kernel %s the "
                         "coefficients belong to rows",
                         kernel->name);
    return FEN_OK;
}

static fen_status check_none(const fen_options *o, fen_error *err)
{
    if (o->lambda.choice != FEN_AUTO)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--lambda weighs a penalty and --penalty none has none; leave one of them "
                         "out");
    if (o->feature_weights[0])
        return fenp_fail(err, FEN_BAD_CALL,
                         "--feature-weights are factors of a penalty and --penalty none has none; "
                         "leave one of them out");
    if (!is(o->select, "auto") && !is(o->select, "none"))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--select %s chooses lambda and --penalty none has none; leave one of "
                         "them out",
                         o->select);
    return FEN_OK;
}

static fen_status check_coefficients(const fen_options *o, const fen_penalty *penalty,
                                     fen_error *err)
{
    const char *culprit = whole_only(o);
    if (culprit)
        return fenp_fail(err, FEN_BAD_CALL,
                         "%s is for --penalty rkhs; leave it out, or --penalty %s", culprit,
                         penalty->name);
    if (o->nonnegative && penalty->parts == FEN_GROUPS)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--nonnegative does not go with groups; use --penalty l1 or elastic");
    if (fenp_is_none(penalty)) {
        const fen_status status = check_none(o, err);
        if (status != FEN_OK) return status;
    }
    return check_kernel(o, penalty, err);
}

/* ---- lp ---------------------------------------------------------------------------- */

static const char *not_with_lp(const fen_options *o)
{
    const struct {
        int given;
        const char *name;
    } options[] = {
        { o->nu > 0, "--nu" },
        { !is(o->approx, "none"), "--approx" },
        { o->smoothness > 0, "--smoothness" },
        { o->feature_weights[0], "--feature-weights" },
        { o->nonnegative, "--nonnegative" },
        { !is(o->as, "fenchel"), "--as" },
        { is(o->task, "one-class"), "--task one-class" },
        { is(o->over, "power"), "--over power" },
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given) return options[i].name;
    return NULL;
}

static fen_status check_lp_kernel(const fen_options *o, fen_error *err)
{
    const fen_kernel *kernel = fenp_kernel_of(o);
    if (!kernel->linear && kernel->basis != FEN_TENSOR)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--penalty %.64s is for --kernel linear, tensor-linear, tensor-polynomial "
                         "and tensor-exponential, not for %s",
                         o->penalty, kernel->name);
    if (o->gamma.choice == FEN_GIVEN && o->gamma.count > 1)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--penalty %.64s takes one --gamma, or none: there is no search over it",
                         o->penalty);
    if (o->gamma.choice == FEN_RULE && kernel->uses_gamma)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--gamma mean goes by distances, which --kernel %s has not; leave it out, "
                         "or give a number",
                         kernel->name);
    return check_parameters(o, kernel, err);
}

static fen_status check_lp(const fen_options *o, fen_error *err)
{
    const char *culprit = not_with_lp(o), *select = o->select;
    if (has_power(o))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--penalty %.64s is its own power; leave --power out, or write another P",
                         o->penalty);
    if (culprit)
        return fenp_fail(err, FEN_BAD_CALL, "%s does not go with --penalty %.64s; leave one out",
                         culprit, o->penalty);
    if (is(select, "gcv") || is(select, "aic") || is(select, "bic") || starts(select, "1se:"))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--select %s does not go with --penalty %.64s; use kfold:5 or loo", select,
                         o->penalty);
    return check_lp_kernel(o, err);
}

/* ---- all of them -------------------------------------------------------------------- */

fen_status fenp_check_penalty(const fen_options *o, fen_error *err)
{
    fenp_penalty_choice choice;
    const fen_status status = fenp_parse_penalty(o->penalty, &choice, err);
    if (status != FEN_OK) return status;
    if (is(choice.penalty->name, "lp")) return check_lp(o, err);
    if (!is(o->route, "auto"))
        return fenp_fail(err, FEN_BAD_CALL, "--route is for --penalty lp:P; leave it out");
    return choice.penalty->parts == FEN_WHOLE ? check_whole(o, err)
                                              : check_coefficients(o, choice.penalty, err);
}
