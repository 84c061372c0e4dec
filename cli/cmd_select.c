/* cmd_select.c -- fenchel select: the table behind the choice
 *
 * table.c shows it to people; -o writes it as CSV. */
#include <math.h>
#include <string.h>
#include "report.h"

/* ---- penalties on coefficients: a path of lambdas ------------------------------------------ */

/* Those have a number of terms. */
static int is_path(const json_t *json)
{
    const json_t *first = json_array_get(json_object_get(json, "grid"), 0);
    return json_object_get(first, "terms") != NULL;
}

static int write_path(const grid *g, const json_t *json, const char *path)
{
    const json_t *points = json_object_get(json, "grid");
    sink s;
    if (sink_open(&s, path)) return fail(&s.err);
    fprintf(s.stream, "lambda,terms,score,standard_error%s\n", g->classes ? ",error_rate" : "");
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *entry = json_array_get(points, i);
        csv_number(s.stream, json_at(entry, "lambda"), ',');
        csv_number(s.stream, json_at(entry, "terms"), ',');
        csv_number(s.stream, json_at(entry, "score"), ',');
        csv_number(s.stream, json_at(entry, "standard_error"), g->classes ? ',' : '\n');
        if (g->classes) csv_number(s.stream, json_at(entry, "error_rate"), '\n');
    }
    return sink_close(&s, 1) ? fail(&s.err) : EXIT_DONE;
}

/* The root of a mean of squares is off by half of what that is, over the root; a mean of 0 has
 * nothing but zeros in it. */
static double shown_deviation(const grid *g, double score, double deviation)
{
    return g->square && score > 0.0 ? 0.5 * deviation / sqrt(score) : deviation;
}

static void print_point(const grid *g, const json_t *entry, int64_t i)
{
    const double score = json_at(entry, "score"), deviation = json_at(entry, "standard_error");
    char text[32];
    printf("%c %11.5g %8.4g %12s", i == g->best ? '>' : ' ', json_at(entry, "lambda"),
           json_at(entry, "terms"), score_text(g, g->at[i].score, text));
    if (!isnan(deviation)) printf(" +- %-9.4g", shown_deviation(g, score, deviation));
    if (g->classes) printf(" %7.2f%%", shown_error(&g->at[i]));
    putchar('\n');
}

/* All lambdas; what was taken below. */
static void print_path(const grid *g, const json_t *json)
{
    const json_t *points = json_object_get(json, "grid");
    const int folds = !isnan(json_at(json_array_get(points, 0), "standard_error"));
    const int wide = strncmp(json_text_at(json, "score_kind"), "1se:", 4) == 0;
    char text[400], errors[32] = "", rule[128] = "", bound[32];
    printf("  %11s %8s %12s%s%s\n", "lambda", "terms", "score", folds ? " +- error   " : "",
           g->classes ? "   errors" : "");
    for (int64_t i = 0; i < g->count; i++) print_point(g, json_array_get(points, (size_t)i), i);
    const json_t *best = json_array_get(points, (size_t)g->best);
    if (g->classes)
        snprintf(errors, sizeof errors, ", %.2f%% errors", shown_error(&g->at[g->best]));
    if (wide) {
        const json_t *least = least_point(json);
        score_text(g, json_at(least, "score") + json_at(least, "standard_error"), bound);
        snprintf(rule, sizeof rule,
                 ": the largest lambda within one standard error%s of the best, "
                 "up to %s",
                 g->square ? " (of mean squares)" : "", bound);
    }
    snprintf(text, sizeof text, "%s %.6g%s at lambda %.6g with %.4g terms%s%s", g->kind,
             shown_score(g, g->at[g->best].score), errors, json_at(best, "lambda"),
             json_at(best, "terms"), g->unit, rule);
    print_wrapped(stdout, "> ", text);
}

/* ---- kernels: a grid ----------------------------------------------------------------------- */

static int write_grid(const grid *g, const char *path)
{
    sink s;
    if (sink_open(&s, path)) return fail(&s.err);
    fprintf(s.stream, "gamma,lambda,power,score%s\n", g->classes ? ",error_rate" : "");
    for (int64_t i = 0; i < g->count; i++) {
        csv_number(s.stream, g->at[i].gamma, ',');
        csv_number(s.stream, g->at[i].lambda, ',');
        csv_number(s.stream, g->at[i].power, ',');
        csv_number(s.stream, g->at[i].score, g->classes ? ',' : '\n');
        if (g->classes) csv_number(s.stream, g->at[i].error, '\n');
    }
    return sink_close(&s, 1) ? fail(&s.err) : EXIT_DONE;
}

static int show(const grid *g, const json_t *json, const request *r)
{
    char ends[128];
    int code = EXIT_DONE;
    if (g->given_power) printf("penalty %s\n", json_text_at(json, "penalty"));
    if (is_path(json))
        print_path(g, json);
    else
        code = print_grid(g);
    if (code == EXIT_DONE && grid_ends(g, &r->options, ends, sizeof ends))
        printf("  note: %s\n", ends);
    return code;
}

static int answer(const request *r, const char *text)
{
    grid g = { 0 };
    int code = EXIT_ROOM;
    json_t *json = json_parse(text);
    if (json &&
        grid_read(&g, json, json_text_at(json, "loss"), (int64_t)json_at(json, "outputs"))) {
        if (!r->output)
            code = EXIT_DONE;
        else
            code = is_path(json) ? write_path(&g, json, r->output) : write_grid(&g, r->output);
        if (code == EXIT_DONE && r->json)
            code = json_print(json_incref(json));
        else if (code == EXIT_DONE && g.best < 0)
            code = complain(EXIT_DATA, "no point of the grid has a finite score");
        else if (code == EXIT_DONE && !r->quiet)
            code = show(&g, json, r);
    }
    grid_free(&g);
    json_decref(json);
    return code;
}

static int run(const request *r) { return run_question(r, fen_select, answer); }

/* clang-format off */
static const char *const examples[] = {
    "the held-out score of every point that fit would try", "fenchel select train.csv",
    "your own grid by ten folds, the table as CSV",
    "fenchel select train.csv --gamma 0.01:1:9 --lambda 1e-8:1:17 --select kfold:10 -o grid.csv",
    "a support vector machine: scores and error rates of ten folds",
    "fenchel select train.csv --loss hinge --select kfold:10",
    "the lasso along its path: the largest lambda within one standard error of the best",
    "fenchel select train.csv --penalty l1 --select 1se:10",
    "powers and lambdas side by side",
    "fenchel select train.csv --gamma mean --power 0.1:2.9:29 --lambda 1e-5:1e2:7",
    NULL
};

const command command_select = {
    .name = "select", .operands = "DATA", .operand_count = 1,
    .output = "TABLE",
    .output_help = "write gamma, lambda, power and score (and error rate) of every point as CSV "
                   "(of a path: lambda, terms, score and its standard error)",
    .summary = "scores of every gamma, lambda and power tried",
    .description = "Scores every combination of gamma, lambda and power as fit would, and marks "
                   "the one that fit would take. For the square loss scores are shown as root mean "
                   "square errors in units of the target; JSON and CSV hold the mean squares. For "
                   "other losses the score is the mean held-out loss, and for classes the share of "
                   "rows put in a wrong class stands beside it.\n"
                   "Penalties on coefficients (--penalty l1, elastic, group) are scored along "
                   "a path of 100 lambdas, with the number of terms and the standard error of the "
                   "folds; --select aic and bic show the criterion instead.",
    .examples = examples, .run = run,
};
/* clang-format on */
