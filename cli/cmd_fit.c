/* cmd_fit.c -- fenchel fit: from a file to a certified model
 *
 * The output is tried before the long work begins. Failed, or interrupted before there was a
 * model: nothing is written and an older model stays as it was. A fit that was ended early is
 * saved with the certificate that it has, and the exit code says so; a finished model at that path
 * stays, unless --force, and the new one goes beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "report.h"

static const char *saved_size(const char *path, char out[32])
{
    struct stat info;
    return stat(path, &info) == 0 ? bytes_text((double)info.st_size, out) : "";
}

/* Penalty lp of features that can be listed. */
static int has_features(const fen_model *model, const json_t *json)
{
    return json_object_get(json, "q") && fen_model_implied(model) > 0;
}

/* Where something was chosen, the table behind it. */
static void print_next(const fen_model *of, const request *r, const json_t *json, const char *path)
{
    const int chosen =
        strcmp(r->options.approx, "none") == 0 && json_object_get(json, "score") != NULL;
    char model[512], data[512], format[64] = "";
    if (strcmp(r->options.format, "auto") != 0)
        snprintf(format, sizeof format, " --format=%.40s", r->options.format);
    shell_word(path, model, sizeof model);
    shell_word(r->operand[0], data, sizeof data);
    report("Next", "fenchel predict %s NEW.csv -o predictions.csv", model);
    if (has_features(of, json)) report("", "fenchel info %s --features", model);
    report("", "fenchel verify %s %s%s", model, data, format);
    if (chosen) report("", "fenchel select %s%s", data, r->selecting);
    if (chosen && strcmp(r->options.penalty, "rkhs") != 0)
        report("", "fenchel path %s%s", data, r->selecting);
}

static void print_fit(const fen_model *model, const json_t *json, const request *r,
                      const char *path)
{
    char size[32], time[32];
    report_data(json, r->operand[0]);
    report_choice(json, &r->options);
    report_objective(json);
    report_certificate(json);
    report_error(json);
    report_coefficients(json);
    report("Model", "%s (%s), by %s in %s", path, saved_size(path, size),
           json_text_at(json, "method"), seconds_text(json_at(json, "seconds"), time));
    print_next(model, r, json, path);
}

static int describe(const fen_model *model, const request *r, const char *path)
{
    json_t *json = model_json(model);
    if (!json) return EXIT_ROOM;
    if (r->json) {
        json_object_set_new(json, "model", json_text(path));
        return json_print(json);
    }
    if (!r->quiet) print_fit(model, json, r, path);
    json_decref(json);
    return EXIT_DONE;
}

/* The first target with this verdict, or -1. */
static int64_t find_verdict(const fen_model *model, fen_verdict verdict)
{
    for (int64_t t = 0; t < fen_model_targets(model); t++)
        if (fen_model_certificate(model, t).verdict == verdict) return t;
    return -1;
}

/* The target with the largest gap, which is the one that the report shows of many. */
static int64_t worst_target(const fen_model *model)
{
    int64_t worst = 0;
    for (int64_t t = 1; t < fen_model_targets(model); t++)
        if (!(fen_model_certificate(model, t).relative_gap <=
              fen_model_certificate(model, worst).relative_gap))
            worst = t;
    return worst;
}

/* A fit that was ended early: the model is what there was. */
static int judge_end(const fen_model *model, const request *r)
{
    const int64_t stopped = find_verdict(model, FEN_VERDICT_INTERRUPTED);
    const int64_t late = find_verdict(model, FEN_VERDICT_LIMIT);
    const int64_t t = worst_target(model);
    char name[256];
    fen_model_target_words(model, t, name, sizeof name);
    if (stopped >= 0)
        return complain(EXIT_INTERRUPTED,
                        "interrupted; the model so far was saved, with a relative gap of %.2g for "
                        "target %s",
                        fen_model_certificate(model, t).relative_gap, name);
    if (late >= 0 && fabs(fen_model_certificate(model, t).relative_gap) <= r->options.tolerance)
        return complain(EXIT_NO,
                        "the limit of %.6g seconds ended the selection; the model was saved; a "
                        "longer --time-limit, or values for --gamma and --lambda help",
                        r->options.time_limit_seconds);
    if (late >= 0)
        return complain(EXIT_NO,
                        "the limit of %.6g seconds ended the fit with a relative gap of %.2g for "
                        "target %s; the model was saved; a longer --time-limit or a larger "
                        "--lambda helps",
                        r->options.time_limit_seconds, fen_model_certificate(model, t).relative_gap,
                        name);
    return EXIT_DONE;
}

/* Without a penalty the logistic loss of such classes falls to 0 as coefficients grow. */
static int is_separated(const fen_model *model, const request *r, const fen_certificate *c)
{
    return fen_model_classes(model) > 0 && strcmp(r->options.penalty, "none") == 0 &&
           c->mean_loss <= 1e-6 * c->null;
}

/* With so many digits that the two differ. */
static void print_gap(double gap, double tolerance, char out[2][32])
{
    for (int digits = 2; digits <= 17; digits++) {
        snprintf(out[0], 32, "%.*g", digits, gap);
        snprintf(out[1], 32, "%.*g", digits, tolerance);
        if (strcmp(out[0], out[1]) != 0) return;
    }
}

/* The words of a note from `begin` to `end`. */
static int words_of(const char *note, const char *begin, char end, char *out, size_t room)
{
    const char *at = strstr(note, begin), *last = at ? strchr(at, end) : NULL;
    if (!last) return 0;
    snprintf(out, room, "%.*s", (int)(last - at) + 1, at);
    return 1;
}

/* What may help a penalty lp: more memory where it cut a factor off, a gamma like that of auto. */
static const char *lp_remedy(const json_t *json, char *out, size_t room)
{
    const char *note = json_text_at(json, "note");
    char takes[48];
    if (strstr(note, "more --memory")) return "more --memory";
    if (words_of(note, "(auto takes ", ')', takes, sizeof takes)) {
        snprintf(out, room, "a smaller --gamma %s", takes);
        return out;
    }
    return json_at(json, "p") < 1.01 ? "a P farther from 1 or a larger --lambda"
                                     : "a larger --lambda";
}

/* A low rank leaves a little of the kernel out: routes that do not, where there is memory for
 * them. */
static const char *tolerance_remedy(const request *r, const json_t *json, char *out, size_t room)
{
    static const char *const exact[] = { "features", "packed" };
    const int low_rank = strstr(json_text_at(json, "method"), "low-rank") != NULL;
    fen_options o = r->options;
    fen_plan plan;
    for (int i = 0; low_rank && strcmp(r->operand[0], "-") != 0 && i < 2; i++) {
        o.route = exact[i];
        if (fen_plan_file(r->operand[0], &o, NULL, &plan, NULL) || !plan.fits) continue;
        snprintf(out, room, "--route %s or a larger --tolerance", exact[i]);
        return out;
    }
    return "a larger --tolerance";
}

static const char *remedy(const request *r, const json_t *json, double gap, char *out, size_t room)
{
    const fen_options *o = &r->options;
    const fen_options standard = fen_options_default();
    const int rounding = fabs(gap) <= 1e-9 && o->tolerance < 1e-12;
    if (strstr(json_text_at(json, "note"), "columns without a penalty separate the classes"))
        return "a penalty on the columns that separate the classes";
    if (rounding) return tolerance_remedy(r, json, out, room);
    if (strcmp(o->engine, "auto") != 0) {
        snprintf(out, room, "leaving out --engine %.30s", o->engine);
        return out;
    }
    if (fabs(gap) <= standard.tolerance) return tolerance_remedy(r, json, out, room);
    if (strstr(json_text_at(json, "note"), "orders of magnitude, as --scale none"))
        return "leaving out --scale none";
    if (strcmp(o->penalty, "none") == 0)
        return "a penalty (--penalty elastic:0.5, or --kernel linear alone)";
    return strncmp(o->penalty, "lp:", 3) == 0 ? lp_remedy(json, out, room) : "a larger --lambda";
}

static int complain_of_gap(const fen_model *model, const request *r, double gap, const char *name)
{
    char number[2][32], words[96];
    json_t *json = model_json(model);
    if (!json) return EXIT_ROOM;
    print_gap(gap, r->options.tolerance, number);
    const int code =
        complain(EXIT_NO,
                 "the solver stopped at a relative gap of %s for target %s, the tolerance is %s; "
                 "the model was saved; %s helps",
                 number[0], name, number[1], remedy(r, json, gap, words, sizeof words));
    json_decref(json);
    return code;
}

static int judge(const fen_model *model, const request *r)
{
    const int code = judge_end(model, r);
    if (code != EXIT_DONE) return code;
    const int64_t t = worst_target(model);
    const fen_certificate c = fen_model_certificate(model, t);
    char name[256];
    if (fabs(c.relative_gap) <= r->options.tolerance) return EXIT_DONE;
    fen_model_target_words(model, t, name, sizeof name);
    if (!isfinite(c.primal))
        return complain(EXIT_NO,
                        "target %s: no function within the tube was found; the model was "
                        "saved; a wider --loss tube:E helps",
                        name);
    if (c.verdict == FEN_VERDICT_INTERPOLATION)
        return complain(EXIT_NO,
                        "target %s: so small a shrinkage is below the rounding errors of the "
                        "kernel, the relative gap is %.2g; the model was saved; a larger "
                        "--lambda helps%s",
                        name, c.relative_gap,
                        r->options.power.choice == FEN_GIVEN && r->options.power.at[0] == 2
                            ? ""
                            : ", or a target of order one: lambda has a unit here, see "
                              "docs/powers.md");
    if (is_separated(model, r, &c))
        return complain(EXIT_NO,
                        "target %s: a linear function separates the classes, so that no "
                        "minimum exists without a penalty; the model was saved; take one "
                        "(--penalty elastic:0.5, or --kernel linear alone)",
                        name);
    return complain_of_gap(model, r, c.relative_gap, name);
}

/* Where there is no memory to look at the model there, it may well be one. */
static int holds_finished(const char *path)
{
    fen_model *model = NULL;
    fen_error err;
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return 0;
    const fen_status status = fen_model_load(path, &model, &err);
    const int finished = status ? status == FEN_MEMORY : fen_model_finished(model);
    fen_model_free(model);
    return finished;
}

/* "train.unfinished.fen" for "train.fen"; to be freed; NULL: out of memory. */
static char *unfinished_path(const char *path)
{
    const size_t length = strlen(path), size = length + sizeof ".unfinished.fen";
    const int ends = length > 4 && strcmp(path + length - 4, ".fen") == 0;
    char *beside = malloc(size);
    if (beside)
        snprintf(beside, size, "%.*s.unfinished.fen", (int)(ends ? length - 4 : length), path);
    return beside;
}

/* The path that an unfinished model may have, in *path. */
static int step_aside(char **path)
{
    char *beside = strdup(*path);
    while (beside && holds_finished(beside)) {
        char *next = unfinished_path(beside);
        free(beside);
        beside = next;
    }
    if (!beside) return complain(EXIT_ROOM, "out of memory for the name of the model");
    if (strcmp(beside, *path) != 0)
        complain(EXIT_NO,
                 "%s holds a finished model and stays; this one, unfinished, is %s (--force would "
                 "replace the other)",
                 *path, beside);
    free(*path);
    *path = beside;
    return EXIT_DONE;
}

/* *path may become another. */
static int fit(const request *r, char **path)
{
    fen_model *model = NULL;
    fen_error err;
    int code = EXIT_DONE;
    fen_status status =
        fen_fit_file(r->operand[0], &r->options, progress_begin(r->quiet), &model, &err);
    progress_end();
    if (!status && interrupted() && find_verdict(model, FEN_VERDICT_INTERRUPTED) < 0)
        code = complain(EXIT_INTERRUPTED, "interrupted; nothing was written");
    else if (!status && !fen_model_finished(model) && !r->options.force)
        code = step_aside(path);
    if (!status && code == EXIT_DONE) status = fen_model_save(model, *path, &err);
    if (!status && code == EXIT_DONE) note_written(*path);
    if (status) code = fail(&err);
    if (code == EXIT_DONE) code = describe(model, r, *path);
    if (code == EXIT_DONE) code = judge(model, r);
    fen_model_free(model);
    return code;
}

/* A pipe or standard input lends no name to a model; a file that is missing is met later. */
static int has_a_name(const char *data)
{
    struct stat info;
    return strcmp(data, "-") != 0 && (stat(data, &info) != 0 || S_ISREG(info.st_mode));
}

static int run(const request *r)
{
    const char *data = r->operand[0];
    if (!r->output && !has_a_name(data))
        return complain(EXIT_USAGE, "%s has no name for a model; give one with -o", data);
    if (r->output && strcmp(r->output, "-") == 0)
        return complain(EXIT_USAGE, "a model is not written to standard output; name a file");
    char *path = r->output ? strdup(r->output) : model_path(data);
    if (!path) return complain(EXIT_ROOM, "out of memory for the name of the model");
    int code = check_output(path, (const char *const[]){ data, NULL });
    if (code == EXIT_DONE) code = fit(r, &path);
    free(path);
    return code;
}

/* clang-format off */
static const char *const examples[] = {
    "everything is chosen and printed; the model is train.fen", "fenchel fit train.csv",
    "two targets by name, a lambda searched over a grid",
    "fenchel fit train.csv --target price,rent --lambda 1e-8:1:25 -o both.fen",
    "half a million rows by 300 random features, in memory that does not grow with them",
    "fenchel fit big.csv --approx fourier:300",
    "a support vector machine with probabilities; the last column holds the labels",
    "fenchel fit flowers.csv --loss hinge --probability",
    "a sparse linear model; lambda by ten-fold cross-validation on a path of 100",
    "fenchel fit train.csv --penalty l1",
    "an elastic net that leans to the lasso, the simplest one near the best",
    "fenchel fit train.csv --penalty elastic:0.9 --select 1se:10",
    "columns that come and go together by the prefix of their names: red_1 and red_2",
    "fenchel fit train.csv --penalty group:prefix:_",
    "the same by a file of lines column,group",
    "fenchel fit train.csv --penalty group:groups.csv",
    "which products of two columns matter, and columns by themselves: nearly sparse weights",
    "fenchel fit train.csv --penalty lp:4/3 --kernel tensor-polynomial --coef0 10",
    "least squares, with the columns that say nothing new",
    "fenchel fit train.csv --penalty none",
    "what scikit-learn calls KernelRidge(alpha=1, kernel=\"rbf\", gamma=0.1)",
    "fenchel fit train.csv --as sklearn --lambda 1 --gamma 0.1 --scale none --no-bias",
    NULL
};

const command command_fit = {
    .name = "fit", .operands = "DATA", .operand_count = 1,
    .output = "MODEL", .output_help = "where the model goes (default: DATA with .fen)",
    .summary = "train; what is not given is chosen and shown",
    .description = "Fits a kernel or linear model to the rows of DATA and saves it with a "
                   "certificate: a lower bound on what any function could reach, computed apart "
                   "from the solver. Values of gamma and lambda that are not given are chosen by "
                   "leave-one-out or cross-validation scores; --power auto has the power chosen "
                   "too. A target of text is a class, and so is one of two values, unless --loss "
                   "names a loss of numbers. DATA may be - for standard input.",
    .examples = examples, .run = run,
};
/* clang-format on */
