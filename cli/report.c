/* report.c -- a model for people: what was chosen and why, and what is certain about it */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

void report(const char *label, const char *format, ...)
{
    char head[LABEL_WIDTH + 1], text[2048];
    va_list arguments;
    snprintf(head, sizeof head, "%-*s", LABEL_WIDTH, label);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_wrapped(stdout, head, text);
}

static int64_t target_count(const json_t *model)
{
    const json_t *primal = json_object_get(model, "primal");
    return json_is_array(primal) ? (int64_t)json_array_size(primal) : 1;
}

static const char *target_name(const json_t *model, int64_t t)
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

void report_data(const json_t *model, const char *path)
{
    int64_t targets = target_count(model);
    char names[256];
    size_t used = 0;
    names[0] = '\0';
    for (int64_t t = 0; t < targets && used < sizeof names; t++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", t ? ", " : "",
                                 target_name(model, t));
    report("Data", "%s%s%.0f rows, %.0f features; target%s %s", path ? path : "", path ? ": " : "",
           json_at(model, "n"), json_at(model, "d"), targets > 1 ? "s" : "", names);
    const char *note = json_text_at(model, "note");
    if (note[0]) report("", "%s", note);
}

/* ---- what was chosen: the best lambda of every gamma, or the lambdas of the only one ---- */

static int by_gamma(const void *a, const void *b)
{
    const point *p = a, *q = b;
    if (p->gamma != q->gamma) return (p->gamma > q->gamma) - (p->gamma < q->gamma);
    return (p->score > q->score) - (p->score < q->score);
}

static int by_lambda(const void *a, const void *b)
{
    const point *p = a, *q = b;
    return (p->lambda > q->lambda) - (p->lambda < q->lambda);
}

/* Leaves in the grid what is worth a line; the count of gammas. */
static int64_t thin_out(grid *g)
{
    int64_t kept = 0;
    qsort(g->at, (size_t)g->count, sizeof *g->at, by_gamma);
    if (g->at[0].gamma == g->at[g->count - 1].gamma) {
        qsort(g->at, (size_t)g->count, sizeof *g->at, by_lambda);
        return 1;
    }
    for (int64_t i = 0; i < g->count; i++)
        if (kept == 0 || g->at[i].gamma != g->at[kept - 1].gamma) g->at[kept++] = g->at[i];
    g->count = kept;
    return kept;
}

/* The chosen point and its neighbours: the report stays within a screen. */
static void choice_table(grid *g)
{
    enum { SHOWN = 7 };
    double chosen = g->at[g->best].score;
    int64_t gammas = thin_out(g), at = 0;
    while (at < g->count - 1 && g->at[at].score != chosen) at++;
    int64_t first = at - SHOWN / 2;
    if (first + SHOWN > g->count) first = g->count - SHOWN;
    if (first < 0) first = 0;
    printf("%*s  %12s  %12s  %s\n", LABEL_WIDTH, "", gammas > 1 ? "gamma" : "",
           gammas > 1 ? "best lambda" : "lambda", g->kind);
    for (int64_t i = first; i < g->count && i < first + SHOWN; i++) {
        char gamma[32] = "";
        if (gammas > 1) snprintf(gamma, sizeof gamma, "%.4g", g->at[i].gamma);
        printf("%*s%c %12s  %12.4g  %*.6g%s\n", LABEL_WIDTH, "", i == at ? '>' : ' ', gamma,
               g->at[i].lambda, (int)strlen(g->kind), shown_score(g, g->at[i].score),
               i == at ? "  <- chosen" : "");
    }
}

void report_choice(const json_t *model)
{
    grid g;
    if (!grid_read(&g, model, json_text_at(model, "loss"), target_count(model)) || g.best < 0)
        report("Chosen", "nothing: gamma and lambda were fixed");
    else {
        double rows = json_at(model, "score_rows");
        char on[64] = "";
        if (rows > 0 && rows < json_at(model, "n"))
            snprintf(on, sizeof on, " on %.0f of the rows", rows);
        report("Chosen", "the best of %" PRId64 " by %s%s%s", g.count, g.kind, g.unit, on);
        choice_table(&g);
    }
    grid_free(&g);
}

void report_objective(const json_t *model)
{
    report("Objective", "%s", json_text_at(model, "objective"));
}

/* ---- what is certain ------------------------------------------------------------------- */

static int all_within_tolerance(const json_t *model)
{
    for (int64_t t = 0; t < target_count(model); t++)
        if (strcmp(verdict(model, t), "optimal") != 0) return 0;
    return 1;
}

enum { TARGETS_SHOWN = 6 };

static int64_t targets_shown(const json_t *model)
{
    int64_t targets = target_count(model);
    return targets < TARGETS_SHOWN ? targets : TARGETS_SHOWN;
}

void report_certificate(const json_t *model)
{
    int64_t targets = target_count(model), shown = targets_shown(model);
    printf("%-*s%-16s %12s %12s %9s  %s\n", LABEL_WIDTH, "Certificate", "target", "primal", "dual",
           "rel. gap", "verdict");
    for (int64_t t = 0; t < shown; t++)
        printf("%*s%-16.16s %12.7g %12.7g %9.2g  %s\n", LABEL_WIDTH, "", target_name(model, t),
               json_at_target(model, "primal", t), json_at_target(model, "dual", t),
               fmax(json_at_target(model, "relative_gap", t), 0), /* below 0 it is rounding */
               verdict(model, t));
    if (shown < targets) report("", "... and %" PRId64 " more", targets - shown);
    if (all_within_tolerance(model))
        report("", "proved: the objective of any function is at least the dual value");
}

static const char *score_words(const json_t *model)
{
    const char *kind = json_text_at(model, "score_kind");
    return strcmp(kind, "loo") == 0   ? "left out one by one"
           : strcmp(kind, "gcv") == 0 ? "by GCV"
                                      : "held out";
}

void report_error(const json_t *model)
{
    double score = json_at(model, "score");
    if (strcmp(json_text_at(model, "loss"), "square") != 0) return;
    for (int64_t t = 0; t < targets_shown(model); t++) {
        double loss = json_at_target(model, "mean_loss", t);
        double null = json_at_target(model, "null", t);
        const char *label = t == 0 ? "Error" : "";
        if (target_count(model) > 1)
            report(label, "%s: RMSE %.5g training (R2 %.4f)", target_name(model, t), sqrt(loss),
                   1 - loss / null);
        else if (isfinite(score))
            report(label, "RMSE %.5g training (R2 %.4f), %.5g %s (R2 %.4f)%s", sqrt(loss),
                   1 - loss / null, sqrt(score), score_words(model), 1 - score / null,
                   json_at(model, "score_rows") < json_at(model, "n") ? " on a part of the rows"
                                                                      : "");
        else
            report(label, "RMSE %.5g training (R2 %.4f)", sqrt(loss), 1 - loss / null);
    }
}
