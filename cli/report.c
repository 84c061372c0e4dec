/* report.c -- a model for people: what was chosen and why, and what is certain about it */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

void report(const char *label, const char *format, ...)
{
    char head[LABEL_WIDTH + 1], text[2048], line[4096];
    va_list arguments;
    snprintf(head, sizeof head, "%-*s", LABEL_WIDTH, label);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_wrapped(stdout, head, printable(text, line, sizeof line));
}

int64_t target_count(const json_t *model)
{
    const json_t *primal = json_object_get(model, "primal");
    return json_is_array(primal) ? (int64_t)json_array_size(primal) : 1;
}

const char *target_name(const json_t *model, int64_t t)
{
    const json_t *names = json_object_get(model, "targets");
    const char *name = json_string_value(json_array_get(names, (size_t)t));
    return name ? name : "";
}

static const char *verdict(const json_t *model, int64_t t)
{
    const json_t *value = json_object_get(model, "verdict");
    if (json_is_array(value)) value = json_array_get(value, (size_t)t);
    return json_string_value(value) ? json_string_value(value) : "";
}

static int is_stalled(const json_t *model)
{
    int stalled = 0;
    for (int64_t t = 0; t < target_count(model); t++)
        stalled = stalled || strcmp(verdict(model, t), "stalled") == 0;
    return stalled;
}

static const char *target_of(const json_t *model, int64_t t)
{
    const json_t *outputs = json_object_get(model, "outputs");
    return json_text_at(json_array_get(outputs, (size_t)t), "target");
}

/* "; targets price, rent": each once, however many outputs it has; nothing for one class. */
static void name_targets(const json_t *model, char *out, size_t size)
{
    size_t used = 0;
    int count = 0;
    out[0] = '\0';
    for (int64_t t = 0; t < target_count(model) && used < size; t++) {
        const char *name = target_of(model, t);
        if (!name[0] || (t > 0 && strcmp(name, target_of(model, t - 1)) == 0)) continue;
        used += (size_t)snprintf(out + used, size - used, "%s%s", count++ ? ", " : "", name);
    }
    if (count == 0) return;
    char *copy = strdup(out);
    if (copy) snprintf(out, size, "; target%s %s", count > 1 ? "s" : "", copy);
    free(copy);
}

/* "setosa (50 rows), versicolor (50), ..." */
static void report_classes(const json_t *model)
{
    enum { SHOWN = 8 };
    const json_t *classes = json_object_get(model, "classes");
    const size_t count = json_array_size(classes);
    char list[512] = "";
    size_t used = 0;
    for (size_t k = 0; k < count && k < SHOWN && used < sizeof list; k++) {
        const json_t *entry = json_array_get(classes, k);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.40s (%.0f%s", k ? ", " : "",
                                 json_text_at(entry, "label"), json_at(entry, "rows"),
                                 k ? "" : " rows");
        if (used < sizeof list && json_at(entry, "weight") != 1)
            used += (size_t)snprintf(list + used, sizeof list - used, ", weight %.4g",
                                     json_at(entry, "weight"));
        if (used < sizeof list) used += (size_t)snprintf(list + used, sizeof list - used, ")");
    }
    if (count > 0) report("Classes", "%s%s", list, count > SHOWN ? ", ..." : "");
}

void report_data(const json_t *model, const char *path)
{
    char names[256];
    name_targets(model, names, sizeof names);
    report("Data", "%s%s%.0f rows, %.0f features%s", path ? path : "", path ? ": " : "",
           json_at(model, "n"), json_at(model, "d"), names);
    const char *note = json_text_at(model, "note");
    if (note[0]) report("", "%s", note);
    report_classes(model);
}

/* ---- what was chosen ------------------------------------------------------------------- */

/* The penalty |w|_p^p. */
static int is_lp(const json_t *model) { return json_object_get(model, "q") != NULL; }

/* A penalty on coefficients, not on the norm of the function. */
static int on_coefficients(const json_t *model)
{
    const char *penalty = json_text_at(model, "penalty");
    return penalty[0] && strcmp(penalty, "rkhs") != 0 && !is_lp(model);
}

/* What there was to choose but for rules. */
static const char *choices(const json_t *model)
{
    if (!on_coefficients(model) && !is_lp(model)) return "gamma, lambda and power were given";
    const int none = strcmp(json_text_at(model, "penalty"), "none") == 0;
    if (isnan(json_at(model, "gamma"))) return none ? "there is no penalty" : "lambda was given";
    return none ? "gamma was given" : "gamma and lambda were given";
}

/* A kernel with a penalty on coefficients has its gamma from scores that only the note tells of. */
static int has_scored_gamma(const json_t *model)
{
    return strstr(json_text_at(model, "note"), "gamma by leave-one-out of ridge") != NULL;
}

/* Of several that were given, one: a time limit left no time to score them. NULL: no choice. */
static const char *given_rule(const fen_values *v)
{
    return v->count > 1 ? "of those given" : NULL;
}

static const char *gamma_rule(const json_t *model, const fen_options *o)
{
    if (o->gamma.choice == FEN_GIVEN) return given_rule(&o->gamma);
    return is_lp(model)              ? "such that the largest exponent is 1"
           : has_scored_gamma(model) ? "by leave-one-out of ridge regression"
                                     : "by the rule \"mean\"";
}

static const char *lambda_rule(const json_t *model, const fen_options *o)
{
    if (strcmp(json_text_at(model, "penalty"), "none") == 0) return NULL;
    if (o->smoothness > 0) return "by --smoothness";
    if (o->lambda.choice == FEN_GIVEN) return given_rule(&o->lambda);
    if (o->lambda.choice == FEN_RULE) return "by the rule 1/n";
    return on_coefficients(model) ? "as a tenth of the least one without terms"
           : is_lp(model)         ? "as the middle of a grid"
                                  : "by the rule 1/n";
}

static const char *power_rule(const fen_options *o)
{
    if (o->smoothness > 0) return "by --smoothness";
    return o->power.choice == FEN_AUTO ? "as without --power" : given_rule(&o->power);
}

/* No grid of scores: what was not given follows a rule. */
static void report_rules(const json_t *model, const fen_options *o)
{
    static const char *const name[] = { "gamma", "lambda", "power" };
    const char *rule[3] = { NULL };
    const int scored = has_scored_gamma(model);
    char rules[256] = "";
    if (o) rule[0] = gamma_rule(model, o), rule[1] = lambda_rule(model, o), rule[2] = power_rule(o);
    for (size_t k = 0, used = 0; k < 3 && used < sizeof rules; k++)
        if (rule[k] && !isnan(json_at(model, name[k]))) /* NaN: there is none */
            used += (size_t)snprintf(rules + used, sizeof rules - used, "%s%s %.6g %s",
                                     used ? ", " : "", name[k], json_at(model, name[k]), rule[k]);
    if (rules[0])
        report("Chosen", "%s%s", scored ? "" : "without scores: ", rules);
    else if (o)
        report("Chosen", "nothing: %s", choices(model));
    else if (scored)
        report("Chosen", "gamma %.6g, and nothing else by scores", json_at(model, "gamma"));
    else
        report("Chosen", "nothing by scores: %s%s", choices(model),
               strstr(choices(model), "given") ? " or by rules" : "");
}

/* What the rule of one standard error started from, in the unit in which it compares, and up to
 * what score of the table below it goes. */
static void report_least(const json_t *model, const grid *g)
{
    const json_t *least = least_point(model);
    const double terms = json_at(least, "terms"), error = json_at(least, "standard_error");
    char also[48] = "", bound[32];
    if (isnan(error)) return;
    if (!isnan(terms)) snprintf(also, sizeof also, " (%.0f term%s)", terms, terms == 1 ? "" : "s");
    report("", "best mean %s %.5g +- %.3g%s, at lambda %.3g%s: up to %s is within",
           g->square ? "square" : "loss", json_at(least, "score"), error,
           strstr(g->kind, "relative") ? " (relative)" : "", json_at(least, "lambda"), also,
           score_text(g, json_at(least, "score") + error, bound));
}

void report_choice(const json_t *model, const fen_options *o)
{
    grid g;
    char ends[128];
    if (!grid_read(&g, model, json_text_at(model, "loss"), target_count(model)) || g.best < 0)
        report_rules(model, o);
    else {
        double rows = json_at(model, "score_rows");
        char on[64] = "", skipped[64] = "";
        if (g.scored < g.count)
            snprintf(skipped, sizeof skipped, " (%" PRId64 " of them skipped)", g.count - g.scored);
        if (rows > 0 && rows < json_at(model, "n"))
            snprintf(on, sizeof on, " on %.0f of the rows", rows);
        const int wide = strncmp(json_text_at(model, "score_kind"), "1se:", 4) == 0;
        report("Chosen", "%sthe best of %" PRId64 "%s by %s%s%s",
               wide ? "the largest lambda within one standard error of " : "", g.count, skipped,
               g.kind, g.unit, on);
        if (wide) report_least(model, &g);
        print_neighbours(&g);
        /* what stalls already would do so all the more with a smaller lambda */
        if (o && !is_stalled(model) && grid_ends(&g, o, ends, sizeof ends))
            report("", "note: %s", ends);
    }
    grid_free(&g);
}

/* ---- the objective -------------------------------------------------------------------- */

int64_t targets_shown(const json_t *model)
{
    int64_t targets = target_count(model);
    return targets < TARGETS_SHOWN ? targets : TARGETS_SHOWN;
}

/* Whatever the power, the minimiser is zero or a ridge solution. */
static void report_shrinkage(const json_t *model)
{
    double lambda = json_at(model, "lambda"), power = json_at(model, "power");
    for (int64_t t = 0; t < targets_shown(model); t++) {
        char name[128] = "", start[96] = "";
        if (target_count(model) > 1)
            snprintf(name, sizeof name, "%.100s: ", target_name(model, t));
        else
            snprintf(start, sizeof start, "lambda %.4g, power %.4g: ", lambda, power);
        if (json_at_target(model, "norm", t) > 0)
            report(t == 0 ? "Shrinkage" : "",
                   "%s%sthe same function as ridge with lambda2 = %.4g, norm %.4g", name, start,
                   json_at_target(model, "lambda2", t), json_at_target(model, "norm", t));
        else
            report(t == 0 ? "Shrinkage" : "", "%s%s%s", name, start,
                   power <= 1 && strcmp(verdict(model, t), "optimal") == 0
                       ? "the best constant is optimal: lambda is above the threshold from which "
                         "f = 0"
                       : "f = 0");
    }
}

/* What --nu found, and how many rows carry the answer. */
static void report_support(const json_t *model)
{
    double kept = json_at(model, "support"), rows = json_at(model, "n");
    const char *parameter =
        strcmp(json_text_at(model, "loss"), "hinge") == 0 ? "margin" : "epsilon";
    if (json_at(model, "nu") > 0)
        for (int64_t t = 0; t < targets_shown(model); t++)
            report(t == 0 ? "Found" : "", "%s: %s %.6g", target_name(model, t), parameter,
                   json_at_target(model, "loss_parameter", t));
    if (kept < rows)
        report("Support", "%.0f of %.0f rows have a coefficient%s", kept, rows,
               target_count(model) > 1 ? " in some output" : "");
}

/* How many coefficients are not 0, in every output. */
static void report_terms(const json_t *model)
{
    const json_t *groups = json_object_get(model, "groups");
    char list[128] = "", also[96] = "";
    size_t used = 0;
    for (int64_t t = 0; t < targets_shown(model); t++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.0f", t ? ", " : "",
                                 json_at_target(model, "terms", t));
    if (groups)
        snprintf(also, sizeof also, ", %.0f of %.0f groups", json_at(groups, "active"),
                 json_at(groups, "count"));
    report("Terms", "%s%s of %.0f coefficients%s%s", list,
           target_count(model) > TARGETS_SHOWN ? ", ..." : "", json_at(model, "d"),
           target_count(model) > 1 ? " (output by output)" : "", also);
}

/* From where on the digits of single coefficients are doubtful. */
static const double ILL = 1e8;

static void report_rank(const json_t *model)
{
    const double rank = json_at(model, "rank"), condition = json_at(model, "condition");
    const double columns = json_at(model, "columns"), zeros = json_at(model, "d") - columns;
    const int ill = condition > ILL;
    char also[80] = "";
    if (zeros > 0)
        snprintf(also, sizeof also, "; %.0f more feature%s 0 in all rows", zeros,
                 zeros == 1 ? " is" : "s are");
    report("Rank", "%.0f of %.0f columns%s, condition %.2g%s%s", rank, columns,
           rank < columns ? ": of all best coefficients the shortest" : "", condition,
           ill ? "; columns are nearly dependent, and single coefficients mean little" : "", also);
}

void report_objective(const json_t *model)
{
    report("Objective", "%s", json_text_at(model, "objective"));
    if (is_lp(model))
        report_lp(model);
    else if (!on_coefficients(model) && json_at(model, "power") != 2)
        report_shrinkage(model);
    if (!isnan(json_at(model, "rank")))
        report_rank(model);
    else if (json_object_get(model, "terms") && !json_object_get(model, "support"))
        report_terms(model);
    report_support(model);
}

/* ---- what is certain ------------------------------------------------------------------- */

static int all_within_tolerance(const json_t *model)
{
    for (int64_t t = 0; t < target_count(model); t++)
        if (strcmp(verdict(model, t), "optimal") != 0) return 0;
    return 1;
}

/* One problem of all targets, whose certificate stands in each of them. */
static int is_joint(const json_t *model) { return json_is_true(json_object_get(model, "joint")); }

/* JSON has null for infinities: a primal value is one where a row lies outside a hard tube. */
static void certificate_row(const json_t *model, int64_t t)
{
    const double primal = json_at_target(model, "primal", t);
    const double dual = json_at_target(model, "dual", t);
    const double gap = fmax(json_at_target(model, "relative_gap", t), 0); /* below 0: rounding */
    char number[3][32] = { "infeasible", "-", "-" };
    if (!isnan(primal)) snprintf(number[0], sizeof number[0], "%.7g", primal);
    if (!isnan(dual)) snprintf(number[1], sizeof number[1], "%.7g", dual);
    if (!isnan(json_at_target(model, "relative_gap", t)))
        snprintf(number[2], sizeof number[2], "%.2g", gap);
    char name[256];
    printf("%*s%-16s %12s %12s %9s  %s\n", LABEL_WIDTH, "",
           fitted(is_joint(model) ? "all together" : target_name(model, t), 16, name, sizeof name),
           number[0], number[1], number[2], verdict(model, t));
}

static int64_t worst_target(const json_t *model)
{
    int64_t worst = 0;
    for (int64_t t = 1; t < target_count(model); t++)
        if (!(json_at_target(model, "relative_gap", t) <=
              json_at_target(model, "relative_gap", worst)))
            worst = t;
    return worst;
}

void report_certificate(const json_t *model)
{
    int64_t targets = is_joint(model) ? 1 : target_count(model);
    int64_t shown = targets < TARGETS_SHOWN ? targets : TARGETS_SHOWN;
    printf("%-*s%-16s %12s %12s %9s  %s\n", LABEL_WIDTH, "Certificate", "target", "primal", "dual",
           "rel. gap", "verdict");
    for (int64_t t = 0; targets == shown && t < shown; t++) certificate_row(model, t);
    if (shown < targets) {
        certificate_row(model, worst_target(model));
        report("", "the one with the largest gap of %" PRId64, targets);
    }
    if (all_within_tolerance(model))
        report("", "proved: %sthe objective of any %s%s is at least the dual value",
               json_at(model, "power") < 1 ? "the global minimum; " : "",
               on_coefficients(model) ? "coefficients" : "function",
               strcmp(json_text_at(model, "approx"), "none") != 0 ? " of these features" : "");
}

static const char *score_words(const json_t *model)
{
    const char *kind = json_text_at(model, "score_kind");
    return strcmp(kind, "loo") == 0   ? "left out one by one"
           : strcmp(kind, "gcv") == 0 ? "by GCV"
                                      : "held out";
}

/* Errors of classes, rows outside, order of quantiles. */
static void report_decisions(const json_t *model)
{
    double error = json_at(model, "train_error"), crossing = json_at(model, "crossing");
    const char *kind = json_text_at(model, "task");
    if (crossing > 0)
        report("Quantiles", "cross on %.2g %% of the training rows", 100 * crossing);
    else if (crossing == 0)
        report("Quantiles", "in order on all training rows");
    if (strcmp(kind, "classification") == 0) {
        const double held = json_at(model, "error_rate");
        char also[64] = "";
        if (isfinite(held))
            snprintf(also, sizeof also, ", %.4g %% %s", 100 * held, score_words(model));
        report("Error", "%.4g %% of the training rows are taken for another class%s%s", 100 * error,
               also,
               json_is_true(json_object_get(model, "probabilities")) ? "; there are probabilities"
                                                                     : "");
    }
    if (strcmp(kind, "one-class") == 0)
        report("Outside", "%.4g %% of the training rows", 100 * error);
}

/* " (R2 0.93)"; nothing where the target is constant. */
static const char *r2_words(double loss, double null, char out[32])
{
    out[0] = '\0';
    if (null > 0) snprintf(out, 32, " (R2 %.4f)", 1 - loss / null);
    return out;
}

static int is_scored(const json_t *model)
{
    return target_count(model) == 1 && isfinite(json_at(model, "score")) && !is_criterion(model);
}

static const char *part_words(const json_t *model)
{
    return json_at(model, "score_rows") < json_at(model, "n") ? " on a part of the rows" : "";
}

static void report_rmse(const json_t *model, const char *label, const char *name, int64_t t)
{
    const double loss = json_at_target(model, "mean_loss", t), score = json_at(model, "score");
    const double null = json_at_target(model, "null", t);
    char r2[2][32];
    r2_words(loss, null, r2[0]);
    if (is_scored(model))
        report(label, "RMSE %.5g training%s, %.5g %s%s%s", sqrt(loss), r2[0], sqrt(score),
               score_words(model), r2_words(score, null, r2[1]), part_words(model));
    else
        report(label, "%sRMSE %.5g training%s", name, sqrt(loss), r2[0]);
}

/* Nothing where a row lies outside a hard tube. */
static void report_loss(const json_t *model, const char *label, const char *name, int64_t t)
{
    const double loss = json_at_target(model, "mean_loss", t);
    if (isnan(loss)) return;
    if (is_scored(model))
        report(label, "mean loss %.5g training, %.5g %s%s", loss, json_at(model, "score"),
               score_words(model), part_words(model));
    else
        report(label, "%smean loss %.5g training", name, loss);
}

void report_error(const json_t *model)
{
    const int square = strcmp(json_text_at(model, "loss"), "square") == 0;
    report_decisions(model);
    if (strcmp(json_text_at(model, "task"), "regression") != 0) return;
    for (int64_t t = 0; t < targets_shown(model); t++) {
        char name[128] = "";
        if (target_count(model) > 1) snprintf(name, sizeof name, "%.100s: ", target_name(model, t));
        (square ? report_rmse : report_loss)(model, t == 0 ? "Error" : "", name, t);
    }
}
