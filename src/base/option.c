/* option.c -- the one table of options
 *
 * A row says how an option is called, what may be written after it, where it lives in
 * fen_options, its range, its default and where it makes sense. Defaults, parsing,
 * checking, --help, the man page and shell completion are loops over the table.
 *
 * Method: defaults are set from the very text that --help shows.
 * Cost: fen_options_set is a linear search over some 30 rows. */
#include <stddef.h>
#include <string.h>
#include "base/error.h"
#include "base/option.h"
#include "base/registry.h"
#include "base/text.h"

fen_values fen_value(double given)
{
    return (fen_values){ .choice = FEN_GIVEN, .count = 1, .at = { given } };
}

/* ---- the table ------------------------------------------------------------------- */

/* clang-format off */
#define AT(field) offsetof(fen_options, field)
#define READ  "fit predict select path verify plan convert"
#define LEARN "fit select path plan"

static const fenp_option table[] = {
    { { "target", "NAMES", "", LEARN,
        "columns to predict, by name or number from 1, separated by commas; default: the last" },
      &fenp_text_type, AT(target), 0, 0, NULL, 0, NULL, 0 },
    { { "weights", "NAME", "", LEARN, "column of sample weights; default: all rows count alike" },
      &fenp_text_type, AT(weights), 0, 0, NULL, 0, NULL, 0 },
    { { "task", "NAME", "auto", LEARN,
        "regression, classification or one-class; auto: classification if the target is text, or "
        "has two values and --loss names no loss of numbers, as square is" },
      &fenp_choice_type, AT(task), 0, 0, "auto regression classification one-class", 0, NULL, 0 },
    { { "format", "NAME", "auto", READ, "format of DATA; auto looks at the first bytes" },
      &fenp_choice_type, AT(format), 0, 0, "auto", 0, "format", 0 },
    { { "index-base", "0|1", "auto", READ, "first index of svmlight files; auto: that of the training file of MODEL, else 0 if a 0 occurs" },
      &fenp_int32_type, AT(index_base), 0, 1, "auto", -1, NULL, 0 },
    { { "missing", "LIST", "auto", READ,
        "cells that mean \"missing\", as the empty cell does; auto: those that the training file of "
        "MODEL was read with, else NA,N/A,?,null,NULL,NaN,nan" },
      &fenp_text_type, AT(missing), 0, 0, NULL, 0, NULL, 0 },
    { { "text", "NAMES", "", READ, "columns to be taken as text although they look like numbers, besides those of MODEL" },
      &fenp_text_type, AT(text), 0, 0, NULL, 0, NULL, 0 },
    { { "loss", "NAME[:VALUES]", "auto", LEARN,
        "loss of a prediction; auto: square for numbers, logistic for classes; VALUES: its "
        "parameter, or several for a function each; NAME" },
      &fenp_loss_type, AT(loss), 0, 0, NULL, 0, NULL, 0 },
    { { "nu", "NUMBER", "none", LEARN,
        "leaves the parameter of the loss free at this price: nu-SVR (eps), nu-SVC (hinge), "
        "one-class" },
      &fenp_real_type, AT(nu), FENP_POSITIVE, 1, "none", 0, NULL, 0 },
    { { "multiclass", "ovr|ovo", "ovr", LEARN,
        "more than two classes: one against the rest, or one against one" },
      &fenp_choice_type, AT(multiclass), 0, 0, "ovr ovo", 0, NULL, 0 },
    { { "class-weights", "WEIGHTS", "", LEARN,
        "balanced (every class weighs alike), or LABEL=WEIGHT,LABEL=WEIGHT; default: all 1" },
      &fenp_text_type, AT(class_weights), 0, 0, NULL, 0, NULL, 0 },
    { { "probability", NULL, "no", "fit plan",
        "probabilities of the classes for a loss that has none, by cross-validation" },
      &fenp_on_type, AT(probability), 0, 1, NULL, 0, NULL, 0 },
    { { "kernel", "NAME", "auto", LEARN,
        "similarity of two rows; auto: gaussian, but linear with lp and penalties on "
        "coefficients; NAME" },
      &fenp_choice_type, AT(kernel), 0, 0, "auto", 0, "kernel", 0 },
    { { "gamma", "VALUES", "auto", LEARN,
        "width of the kernel: auto, mean (1/mean squared distance), a number, low:high:count, "
        "or a list; tensor-exponential: auto (the largest exponent of a row is 1) or a number" },
      &fenp_values_type, AT(gamma), FENP_POSITIVE, FENP_NO_LIMIT, "mean", 0, NULL, 0 },
    { { "degree", "NUMBER", "auto", LEARN,
        "polynomial kernel: (gamma x.z + coef0)^degree, of tensor-polynomial (coef0 + sum_j x1_j "
        "... xq_j)^degree; 1 to 20; auto: 3, of tensor-polynomial 2" },
      &fenp_int32_type, AT(degree), 1, 20, "auto", -1, NULL, 0 },
    { { "coef0", "NUMBER", "auto", LEARN,
        "polynomial kernel: the constant; auto: 1, of tensor-polynomial 0 (products of exactly "
        "degree columns; above 0 also those of fewer)" },
      &fenp_real_type, AT(coef0), 0, FENP_NO_LIMIT, "auto", -1, NULL, 0 },
    { { "penalty", "NAME[:VALUE]", "rkhs", LEARN,
        "what lambda weighs: rkhs (the norm of the function to the power), lp:P (the weights of "
        "features to the P, 1 < P <= 2, such as 4/3), or the coefficients of "
        "a linear model or an expansion: l1, elastic:MIX (0 <= MIX < 1 is the share of l1; "
        "default: 0.5), columns in groups: group:auto (the features of each; the default), "
        "group:prefix:SEP (names alike up to SEP), group:targets (a column in all targets) or "
        "group:FILE (lines column,group), or none; NAME" },
      &fenp_penalty_type, AT(penalty), 0, 0, NULL, 0, NULL, 0 },
    { { "feature-weights", "WEIGHTS", "", LEARN,
        "factors of the penalty: COLUMN=WEIGHT,... or a file of lines NAME,WEIGHT; 0: not "
        "penalised; default: all 1" },
      &fenp_text_type, AT(feature_weights), 0, 0, NULL, 0, NULL, 0 },
    { { "nonnegative", NULL, "no", LEARN,
        "no coefficient below 0 (penalties l1, elastic and none)" },
      &fenp_on_type, AT(nonnegative), 0, 1, NULL, 0, NULL, 0 },
    { { "lambda", "VALUES", "auto", LEARN,
        "weight of the penalty: auto, 1/n, a number, low:high:count or a list" },
      &fenp_values_type, AT(lambda), FENP_POSITIVE, FENP_NO_LIMIT, "1/n", 0, NULL, 0 },
    { { "power", "VALUES", "2", LEARN,
        "power of the norm in the penalty; 2: ridge; auto, a number, low:high:count or a list" },
      &fenp_values_type, AT(power), 0.001, 100, NULL, 0, NULL, 1 },
    { { "smoothness", "NUMBER", "none", "fit select plan",
        "power and lambda without tuning for a function with so many derivatives (more than "
        "half the number of features)" },
      &fenp_real_type, AT(smoothness), FENP_POSITIVE, FENP_NO_LIMIT, "none", 0, NULL, 0 },
    { { "as", "fenchel|sklearn|libsvm|glmnet", "fenchel", LEARN,
        "unit of lambda: our own, scikit-learn's alpha (n lambda; with l1 and elastic lambda/2), "
        "LIBSVM's C = 1/(2 n lambda), or glmnet's (l1: lambda/2, logistic lambda)" },
      &fenp_choice_type, AT(as), 0, 0, "fenchel sklearn libsvm glmnet", 0, NULL, 0 },
    { { "no-bias", NULL, "no", LEARN, "fit no constant" },
      &fenp_off_type, AT(bias), 0, 1, NULL, 0, NULL, 0 },
    { { "scale", "standard|range|none", "standard", LEARN,
        "inputs: standard (mean 0, deviation 1), range (0 to 1) or as they are" },
      &fenp_choice_type, AT(scale), 0, 0, "standard range none", 0, NULL, 0 },
    { { "select", "loo|gcv|kfold:K|1se:K|aic|bic|none", "auto", LEARN,
        "score by which gamma, lambda and power are chosen: leave-one-out, generalised "
        "cross-validation, K folds, the largest lambda within a standard error of the best, "
        "information criteria, or no choice; auto: loo for the square loss, else kfold:5 (lp "
        "too); with penalties on coefficients kfold:10; below 20 rows loo" },
      &fenp_choice_type, AT(select), 2, 1000, "auto loo gcv none kfold: 1se: aic bic", 0, NULL, 0 },
    { { "engine", "NAME", "auto", LEARN,
        "algorithm of the fit; for penalties on coefficients (l1, elastic, group) active-set, "
        "coordinate or interior (losses in pieces), for fenchel path --penalty l1 also homotopy "
        "(every breakpoint), for lp lp-newton or lp-gradient, for rkhs the others; NAME" },
      &fenp_choice_type, AT(engine), 0, 0, "auto", 0, "engine", 0 },
    { { "route", "NAME", "auto", LEARN,
        "penalty lp: how the kernel of all rows is held; auto: the fastest that fits into memory; "
        "NAME" },
      &fenp_choice_type, AT(route), 0, 0, "auto", 0, "route", 0 },
    { { "approx", "none|fourier:D|orthogonal:D", "none", "fit plan",
        "D random features instead of the exact kernel, in memory that does not grow with DATA" },
      &fenp_choice_type, AT(approx), 2, 20000, "none fourier: orthogonal:", 0, NULL, 0 },
    { { "over", "lambda|power", "lambda", "path", "what the path runs over" },
      &fenp_choice_type, AT(over), 0, 0, "lambda power", 0, NULL, 0 },
    { { "tolerance", "NUMBER", "1e-6", LEARN " verify",
        "largest relative gap of a certificate that holds" },
      &fenp_real_type, AT(tolerance), FENP_POSITIVE, 1, NULL, 0, NULL, 0 },
    { { "seed", "NUMBER", "1", LEARN " generate", "the only source of randomness" },
      &fenp_seed_type, AT(seed), 0, 0x1p53, NULL, 0, NULL, 0 },
    { { "threads", "NUMBER", "auto", LEARN " predict verify", "auto: one per core" },
      &fenp_int32_type, AT(threads), 1, 4096, "auto", 0, NULL, 0 },
    { { "memory", "BYTES", "auto", READ " generate",
        "limit such as 8G (8e9 bytes) or 500M; auto: what the machine has free" },
      &fenp_bytes_type, AT(memory_limit_bytes), 1, 0x1p62, "auto", 0, NULL, 0 },
    { { "time-limit", "SECONDS", "none", "fit select path", "stop after this long" },
      &fenp_real_type, AT(time_limit_seconds), FENP_POSITIVE, FENP_NO_LIMIT, "none", 0, NULL, 0 },
    { { "force", NULL, "no", "fit",
        "let a model that is not finished (interrupted, a limit, above the tolerance) replace a "
        "finished one" },
      &fenp_on_type, AT(force), 0, 1, NULL, 0, NULL, 0 },
    { { "scores", NULL, "no", "predict", "decision scores beside the predicted classes" },
      &fenp_on_type, AT(scores), 0, 1, NULL, 0, NULL, 0 },
    { { "features", NULL, "no", "info",
        "the weights of the features that the function is made of, the largest first (linear and "
        "tensor kernels but tensor-exponential)" },
      &fenp_on_type, AT(features), 0, 1, NULL, 0, NULL, 0 },
    { { "rows", "NUMBER", "500", "generate", "how many rows to make" },
      &fenp_int64_type, AT(rows), 1, 1e12, NULL, 0, NULL, 0 },
    { { "noise", "NUMBER", "auto", "generate",
        "standard deviation of the noise; auto: the generator's own" },
      &fenp_real_type, AT(noise), 0, FENP_NO_LIMIT, "auto", -1, NULL, 0 },
};
/* clang-format on */
enum { ROWS = sizeof table / sizeof table[0] };

const fen_option *fen_option_at(int32_t i) { return i >= 0 && i < ROWS ? &table[i].shown : NULL; }

void fenp_options_fill(fen_options *o)
{
    for (int32_t i = 0; i < ROWS; i++) /* defaults are in range: the test says so */
        table[i].type->set(&table[i], (char *)o + table[i].offset, table[i].shown.initial, NULL);
}

fen_options fen_options_default(void)
{
    fen_options o;
    memset(&o, 0, sizeof o);
    fenp_options_fill(&o);
    return o;
}

fen_status fen_options_set(fen_options *o, const char *name, const char *value, fen_error *err)
{
    const char *names[ROWS + 1] = { NULL };
    if (!o || !name)
        return fenp_fail(err, FEN_BAD_CALL, "fen_options_set needs options and a name");
    for (int32_t i = 0; i < ROWS; i++) {
        const fenp_option *r = &table[i];
        names[i] = r->shown.name;
        if (strcmp(r->shown.name, name) != 0) continue;
        if (!value && r->shown.argument)
            return fenp_fail(err, FEN_BAD_CALL, "--%s needs a value: %s", name, r->shown.argument);
        return r->type->set(r, (char *)o + r->offset, value ? value : "", err);
    }
    const char *near = fenp_nearest(name, names);
    if (near)
        return fenp_fail(err, FEN_BAD_CALL, "there is no option --%s; did you mean --%s?", name,
                         near);
    return fenp_fail(err, FEN_BAD_CALL, "there is no option --%s", name);
}

/* power is "given" when it is not its default: asking for --power 2 as well is harmless. */
static fen_status check_smoothness(const fen_options *o, fen_error *err)
{
    const int power_given =
        o->power.choice != FEN_GIVEN || o->power.count != 1 || o->power.at[0] != 2;
    const char *other = o->lambda.choice != FEN_AUTO ? "lambda" : power_given ? "power" : NULL;
    if (o->smoothness == 0 || !other) return FEN_OK;
    return fenp_fail(
        err, FEN_BAD_CALL,
        "--smoothness sets lambda and power by itself; leave --%s out, or --smoothness", other);
}

fen_status fen_options_check(const fen_options *o, fen_error *err)
{
    if (!o) return fenp_fail(err, FEN_BAD_CALL, "the options are NULL; use fen_options_default()");
    fen_status status = FEN_OK;
    for (int32_t i = 0; i < ROWS && !status; i++)
        status = table[i].type->check(&table[i], (const char *)o + table[i].offset, err);
    if (!status) status = check_smoothness(o, err);
    return status ? status : fenp_check_penalty(o, err);
}
