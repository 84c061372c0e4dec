/* cmd_path.c -- fenchel path: how the solution moves with lambda or the power
 *
 * A table for people; -o writes one row of CSV per solution, the solution in it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "plot.h"
#include "report.h"
#include "steps.h"

typedef struct span { /* the points of one target */
    const json_t *points;
    size_t from, to, best;
} span;

static const json_t *point_at(const span *s, size_t i) { return json_array_get(s->points, i); }

/* From the point `from` on, as far as the target goes. */
static span next_target(const json_t *points, size_t from)
{
    span s = { points, from, from, from };
    const char *name = json_text_at(point_at(&s, from), "target");
    for (; s.to < json_array_size(points); s.to++) {
        const json_t *at = point_at(&s, s.to);
        if (strcmp(json_text_at(at, "target"), name) != 0) break;
        if (json_at(at, "score") < json_at(point_at(&s, s.best), "score")) s.best = s.to;
    }
    return s;
}

/* ---- for people ------------------------------------------------------------------------ */

/* Its one power stands in the title, and no ridge penalty has the same solution. */
static int is_lp(const json_t *json)
{
    return strncmp(json_text_at(json, "penalty"), "lp:", 3) == 0;
}

/* JSON has null for an infinite objective: no function within a hard tube was found. */
static void print_point(const json_t *p, const char mark[2], int square, int lp)
{
    const int feasible = !isnan(json_at(p, "objective"));
    const double loss = json_at(p, "mean_loss"), score = json_at(p, "score");
    char lambda2[32] = "f = 0";
    if (json_at(p, "norm") > 0) snprintf(lambda2, sizeof lambda2, "%.4g", json_at(p, "lambda2"));
    printf("%.2s", mark);
    if (!lp) printf("%7.4g ", json_at(p, "power"));
    printf("%11.4g ", json_at(p, "lambda"));
    if (!lp) printf("%11s ", feasible ? lambda2 : "-");
    if (feasible)
        printf("%11.5g %11.6g %10.5g", json_at(p, "norm"), json_at(p, "objective"),
               square ? sqrt(loss) : loss);
    else
        printf("%11s %11s %10s", "-", "infeasible", "-");
    if (!square) printf(" %7.0f", json_at(p, "support"));
    if (!isnan(score)) printf(" %10.5g", square ? sqrt(score) : score);
    putchar('\n');
}

/* The heading of the scores; "": there are none. */
static const char *score_name(const json_t *json, int square)
{
    const char *kind = json_text_at(json, "score_kind");
    if (strcmp(kind, "gcv") == 0) return "GCV RMSE";
    return kind[0] == '\0' ? "" : square ? "left out" : "held out";
}

static void print_target(const json_t *json, const span *s, int named)
{
    const int square = strcmp(json_text_at(json, "loss"), "square") == 0;
    const int lp = is_lp(json);
    const char *score = score_name(json, square);
    char name[256];
    if (named)
        printf("\n%s\n",
               printable(json_text_at(point_at(s, s->from), "target"), name, sizeof name));
    printf("  ");
    if (!lp) printf("%7s ", "power");
    printf("%11s ", "lambda");
    if (!lp) printf("%11s ", "lambda2");
    printf("%11s %11s %10s", "norm", "objective", square ? "train RMSE" : "mean loss");
    if (!square) printf(" %7s", "support");
    printf(score[0] ? " %10s\n" : "\n", score);
    for (size_t i = s->from; i < s->to; i++) {
        const char best = score[0] && i == s->best ? '>' : ' ';
        print_point(point_at(s, i), (char[2]){ best, gap_mark(json, point_at(s, i)) }, square, lp);
    }
}

static void print_path(const json_t *json, int advice)
{
    const json_t *points = json_object_get(json, "points");
    char gamma[32] = "";
    if (json_at(json, "gamma") > 0)
        snprintf(gamma, sizeof gamma, ", gamma %.6g", json_at(json, "gamma"));
    printf("%s kernel%s%s%s, %.0f rows\n", json_text_at(json, "kernel"), gamma,
           is_lp(json) ? ", penalty " : "", is_lp(json) ? json_text_at(json, "penalty") : "",
           json_at(json, "n"));
    for (size_t from = 0; from < json_array_size(points);) {
        const span s = next_target(points, from);
        print_target(json, &s, s.to - s.from < json_array_size(points));
        from = s.to;
    }
    const int square = strcmp(json_text_at(json, "loss"), "square") == 0;
    char text[512];
    snprintf(text, sizeof text, "%s%s%s",
             is_lp(json)
                 ? "norm: |w|_p; > the least held-out loss, where --select kfold:K asks for "
                   "it"
             : square ? "lambda2: the ridge penalty with the same solution; > the least RMSE by "
                        "leave-one-out or GCV"
                      : "lambda2: the penalty of power 2 with the same solution; support: rows "
                        "with a coefficient; > the least held-out loss, where --select kfold:K "
                        "asks for it",
             gap_legend(json), advice ? "; -o writes the solutions as well" : "");
    print_wrapped(stdout, "", text);
}

/* ---- as CSV ------------------------------------------------------------------------------ */

static const char *const columns[] = { "power",     "lambda",    "lambda2", "norm", "bias",
                                       "mean_loss", "objective", "score",   NULL };
static const char *const more_columns[] = { "relative_gap", "support", NULL }; /* not for squares */

static const char *const *columns_beyond(const json_t *p)
{
    return json_object_get(p, "support") ? more_columns : more_columns + 2;
}

static void write_header(const json_t *json, FILE *out)
{
    const json_t *names = json_object_get(json, "features");
    const json_t *first = json_array_get(json_object_get(json, "points"), 0);
    const size_t width = json_array_size(json_object_get(first, "solution"));
    fputs("target", out);
    for (int i = 0; columns[i]; i++) fprintf(out, ",%s", columns[i]);
    for (const char *const *more = columns_beyond(first); *more; more++) fprintf(out, ",%s", *more);
    for (size_t j = 0; j < width; j++) {
        const char *name = json_string_value(json_array_get(names, j));
        fputc(',', out);
        if (name)
            csv_name(out, "weight:", name);
        else
            fprintf(out, "c%zu", j + 1);
    }
    fputc('\n', out);
}

static void write_point(const json_t *p, FILE *out)
{
    const json_t *solution = json_object_get(p, "solution");
    const size_t width = json_array_size(solution);
    csv_name(out, "", json_text_at(p, "target"));
    fputc(',', out);
    const char *const *more = columns_beyond(p);
    for (int i = 0; columns[i]; i++)
        csv_number(out, json_at(p, columns[i]),
                   columns[i + 1] || more[0] || width > 0 ? ',' : '\n');
    for (; *more; more++) csv_number(out, json_at(p, *more), more[1] || width > 0 ? ',' : '\n');
    for (size_t j = 0; j < width; j++)
        csv_number(out, json_number_value(json_array_get(solution, j)), j + 1 < width ? ',' : '\n');
}

static void write_points(const json_t *json, FILE *out)
{
    const json_t *points = json_object_get(json, "points");
    write_header(json, out);
    for (size_t i = 0; i < json_array_size(points); i++)
        write_point(json_array_get(points, i), out);
}

/* A penalty on coefficients, not on the norm of a function. */
static int has_steps(const json_t *json) { return json_object_get(json, "scales") != NULL; }

static int write_path(const json_t *json, const char *path)
{
    sink s;
    if (sink_open(&s, path)) return fail(&s.err);
    (has_steps(json) ? write_steps : write_points)(json, s.stream);
    return sink_close(&s, 1) ? fail(&s.err) : EXIT_DONE;
}

static int write_plot(const json_t *json, const char *path)
{
    sink s;
    figure f;
    int code = figure_read(&f, json);
    if (code == EXIT_DONE && sink_open(&s, path)) code = fail(&s.err);
    if (code == EXIT_DONE) {
        plot(&f, s.stream);
        if (sink_close(&s, 1)) code = fail(&s.err);
    }
    figure_free(&f);
    return code;
}

/* ---- the command --------------------------------------------------------------------------- */

static int is_dash(const char *path) { return path && strcmp(path, "-") == 0; }

static void say_written(const request *r)
{
    if (r->output || r->plot)
        printf("%s%s%s written\n", r->output ? r->output : "", r->output && r->plot ? " and " : "",
               r->plot ? r->plot : "");
}

static void print_answer(const request *r, const json_t *json)
{
    (has_steps(json) ? print_steps : print_path)(json, !r->output && !r->plot);
    say_written(r);
}

static int show(const request *r, const char *text)
{
    if (r->json && !r->output && !r->plot) return puts(text) < 0 ? EXIT_FILE : EXIT_DONE;
    json_t *json = json_parse(text);
    if (!json) return EXIT_ROOM;
    int code = r->output ? write_path(json, r->output) : EXIT_DONE;
    if (code == EXIT_DONE && r->plot) code = write_plot(json, r->plot);
    const int to_stdout = is_dash(r->output) || is_dash(r->plot);
    if (code == EXIT_DONE && r->json && !to_stdout)
        code = json_print(json_incref(json));
    else if (code == EXIT_DONE && !to_stdout && !r->quiet)
        print_answer(r, json);
    json_decref(json);
    return code;
}

/* Paths are long, so that they are not parsed for one number. Names stand behind it, and a string
 * has no quotation marks that are not escaped. */
static long long count_above(const char *text)
{
    static const char key[] = "\"above_tolerance\": ";
    const char *at = strstr(text, key);
    return at ? strtoll(at + sizeof key - 1, NULL, 10) : 0;
}

static int answer(const request *r, const char *text)
{
    const int code = show(r, text);
    const long long above = code == EXIT_DONE ? count_above(text) : 0;
    if (above == 0) return code;
    return complain(EXIT_NO,
                    "%lld solution%s stopped at a relative gap above the tolerance of %g (! on the "
                    "screen, relative_gap in CSV and JSON); the bounds of a path are quick ones: "
                    "fit at such a point, with its --lambda, makes the full certificate, or says "
                    "what helps",
                    above, above > 1 ? "s" : "", r->options.tolerance);
}

static int check_plot(const char *path, const char *output)
{
    const size_t length = path ? strlen(path) : 0;
    if (path && output && strcmp(path, output) == 0)
        return complain(EXIT_USAGE, "-o and --plot both name %s; give each a file of its own",
                        path);
    if (!path || is_dash(path) || (length > 4 && strcasecmp(path + length - 4, ".svg") == 0))
        return EXIT_DONE;
    return complain(EXIT_USAGE, "--plot draws SVG: let %s end in .svg", path);
}

static int run(const request *r)
{
    int code = check_plot(r->plot, r->output);
    if (code == EXIT_DONE)
        code = check_output(r->plot, (const char *const[]){ r->operand[0], NULL });
    return code == EXIT_DONE ? run_question(r, fen_path, answer) : code;
}

/* clang-format off */
static const char *const examples[] = {
    "the lasso: which columns enter when, all coefficients as CSV and as a picture",
    "fenchel path train.csv --penalty l1 --select 1se:10 -o path.csv --plot path.svg",
    "every breakpoint of the lasso path",
    "fenchel path train.csv --penalty l1 --engine homotopy",
    "how norm and error move with the power of the penalty",
    "fenchel path train.csv --over power --lambda 0.01",
    "support vector regression along lambda, with the scores of ten folds",
    "fenchel path train.csv --loss eps:0.1 --select kfold:10",
    "the weights of linear ridge regression along lambda, as CSV",
    "fenchel path train.csv --over lambda --kernel linear -o weights.csv",
    NULL
};

const command command_path = {
    .name = "path", .operands = "DATA", .operand_count = 1,
    .output = "TABLE", .output_help = "write every solution with its figures as CSV",
    .plot_help = "draw the coefficients along the path (linear models)",
    .summary = "solutions along lambda or the power",
    .description = "Solves for a whole grid of lambdas or powers and shows the norm, the errors "
                   "and the penalty lambda2 of power 2 that leads to the same solution: for the "
                   "square loss from one eigendecomposition, for others from the largest lambda "
                   "down, each solution the start of the next. gamma is one: as given, or as fit "
                   "would choose it. The CSV holds the solutions too: weights per feature for "
                   "linear kernels, else the coefficients of the training rows, both for prepared "
                   "(scaled) features. For the square loss mean_loss and score are mean squares "
                   "there, their roots on the screen; other losses have a score where --select "
                   "asks for one. lambda2 is empty where f = 0.\n"
                   "--penalty lp:P: norm is |w|_P, lambda2 is empty; columns of the CSV are weight:NAME "
                   "for linear kernels, which --plot draws, else c1, c2, ... of the rows.\n"
                   "Penalties on coefficients (--penalty l1, elastic, group): 100 lambdas from the "
                   "least one without terms down, or with --engine homotopy every breakpoint of "
                   "the lasso. The screen shows at which lambda coefficients enter and leave; CSV "
                   "and JSON hold the coefficients of all columns that were ever in, in the units "
                   "of the file.\n"
                   "Solutions whose relative gap is above --tolerance, by the solver's own "
                   "account, are marked and counted (above_tolerance in JSON); the exit code is "
                   "then 1.",
    .examples = examples, .run = run,
};
/* clang-format on */
