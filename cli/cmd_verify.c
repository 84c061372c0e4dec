/* cmd_verify.c -- fenchel verify: the certificate once more, from its definition */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

/* Entry of every certificate as one number, or an array for several targets. */
static json_t *pick(const fen_certificate *c, int64_t count, double (*of)(const fen_certificate *))
{
    if (count == 1) return json_number(of(c));
    json_t *array = json_array();
    for (int64_t t = 0; t < count; t++) json_array_append_new(array, json_number(of(&c[t])));
    return array;
}
static double primal_of(const fen_certificate *c) { return c->primal; }
static double dual_of(const fen_certificate *c) { return c->dual; }
static double gap_of(const fen_certificate *c) { return c->gap; }
static double relative_gap_of(const fen_certificate *c) { return c->relative_gap; }

static double stationarity_of(const fen_certificate *c) { return c->stationarity; }
static double norm_distance_of(const fen_certificate *c) { return c->norm_distance; }
static double bias_distance_of(const fen_certificate *c) { return c->bias_distance; }
static double optimum_distance_of(const fen_certificate *c) { return c->optimum_distance; }

static int print_json(const fen_certificate *c, int64_t count, int finished, int holds,
                      const char *why)
{
    json_t *json = json_object();
    json_object_set_new(json, "primal", pick(c, count, primal_of));
    json_object_set_new(json, "dual", pick(c, count, dual_of));
    json_object_set_new(json, "gap", pick(c, count, gap_of));
    json_object_set_new(json, "relative_gap", pick(c, count, relative_gap_of));
    json_object_set_new(json, "stationarity", pick(c, count, stationarity_of));
    if (!isnan(c[0].norm_distance)) { /* penalty lp */
        json_object_set_new(json, "norm_distance", pick(c, count, norm_distance_of));
        json_object_set_new(json, "bias_distance", pick(c, count, bias_distance_of));
        json_object_set_new(json, "optimum_distance", pick(c, count, optimum_distance_of));
    }
    json_object_set_new(json, "finished", json_boolean(finished));
    json_object_set_new(json, "holds", json_boolean(holds));
    if (!holds) json_object_set_new(json, "reason", json_text(why));
    return json_print(json);
}

/* P and D are known to some 1e-11 of themselves: nine digits are the same on every processor. Of
 * what ought to be 0, and is what the last step and rounding leave, two are enough. */
enum { VALUE_DIGITS = 9, REST_DIGITS = 2 };

/* An infinite objective is a row outside a hard tube; of its parts some are no numbers. */
static const char *shown(double value, int digits, char out[32])
{
    if (isfinite(value))
        snprintf(out, 32, "%.*g", digits, value);
    else
        snprintf(out, 32, isinf(value) ? "infeasible" : "-");
    return out;
}

static void print_row(const char *what, int digits, double stored, double now)
{
    char text[2][32];
    printf("  %-18s %20s %20s\n", what, shown(stored, digits, text[0]),
           shown(now, digits, text[1]));
}

/* A bound: infinite where there is none, no number where none was stored. */
static void print_distance(const char *what, double stored, double now)
{
    const double value[2] = { stored, now };
    char text[2][32];
    for (int k = 0; k < 2; k++)
        if (isnan(value[k]))
            snprintf(text[k], sizeof text[k], "-");
        else
            snprintf(text[k], sizeof text[k], isinf(value[k]) ? "no bound" : "%.2g", value[k]);
    printf("  %-18s %20s %20s\n", what, text[0], text[1]);
}

/* What the certificate has besides: the norm, of penalties on coefficients their sum; NULL:
 * nothing is penalised. */
static const char *norm_name(const json_t *model)
{
    const char *penalty = json_text_at(model, "penalty");
    return strcmp(penalty, "none") == 0   ? NULL
           : strcmp(penalty, "rkhs") == 0 ? "norm"
           : strcmp(penalty, "lp") == 0   ? "|w|_p"
                                          : "penalty/lambda";
}

static void print_target(const fen_model *model, int64_t t, const fen_certificate *now,
                         const char *norm)
{
    fen_certificate stored = fen_model_certificate(model, t);
    char name[256], shown[256];
    fen_model_target_words(model, t, name, sizeof name);
    printf("%-20s %20s %20s\n", printable(name, shown, sizeof shown), "stored", "recomputed");
    print_row("primal", VALUE_DIGITS, stored.primal, now->primal);
    print_row("dual", VALUE_DIGITS, stored.dual, now->dual);
    print_row("gap", REST_DIGITS, stored.gap, now->gap);
    print_row("relative gap", REST_DIGITS, stored.relative_gap, now->relative_gap);
    print_row("training loss", VALUE_DIGITS, stored.mean_loss, now->mean_loss);
    if (norm) print_row(norm, VALUE_DIGITS, stored.norm, now->norm);
    print_row("stationarity", REST_DIGITS, stored.stationarity, now->stationarity);
    if (isnan(now->norm_distance)) return;
    printf("  distance from the optimum, at most:\n");
    print_distance("|w - w*|_p", stored.norm_distance, now->norm_distance);
    print_distance("|b - b*|", stored.bias_distance, now->bias_distance);
    print_distance("of predictions", stored.optimum_distance, now->optimum_distance);
}

static int answer(const request *r, const fen_model *model, const json_t *json,
                  const fen_certificate *now, int holds, const char *why)
{
    int64_t targets = fen_model_targets(model);
    int code = EXIT_DONE;
    char unfinished[256];
    if (r->json)
        code = print_json(now, targets, fen_model_finished(model), holds, why);
    else if (!r->quiet) {
        const char *norm = norm_name(json);
        for (int64_t t = 0; t < targets; t++) print_target(model, t, &now[t], norm);
        if (unfinished_text(json, unfinished, sizeof unfinished)[0]) puts(unfinished);
        printf("The certificate %s (tolerance %g).\n", holds ? "holds" : "DOES NOT HOLD",
               r->options.tolerance);
    }
    if (code == EXIT_DONE && !holds)
        code = complain(EXIT_NO, "the certificate of %s does not hold: %s", r->operand[0], why);
    return code;
}

static int verify(const request *r, const fen_model *model, const json_t *json)
{
    fen_certificate *now = calloc((size_t)fen_model_targets(model), sizeof *now);
    fen_error err;
    int holds = 0;
    char contrast[320];
    if (!now) return complain(EXIT_ROOM, "out of memory for the certificates");
    if (!r->quiet && reading_contrast(r, json, contrast, sizeof contrast)[0])
        fprintf(stderr, "%s: %s\n", r->operand[1], contrast);
    fen_status status = fen_verify_file(model, r->operand[1], &r->options, progress_begin(r->quiet),
                                        now, &holds, &err);
    progress_end();
    const int code = status ? fail(&err) : answer(r, model, json, now, holds, err.message);
    free(now);
    return code;
}

static int run(const request *r)
{
    fen_model *model = NULL;
    fen_error err;
    if (fen_model_load(r->operand[0], &model, &err))
        return fail_to_load(&err, r->operand[0], r->operand[1]);
    json_t *json = model_json(model);
    const int code = json ? verify(r, model, json) : EXIT_ROOM;
    json_decref(json);
    fen_model_free(model);
    return code;
}

/* clang-format off */
static const char *const examples[] = {
    "whether train.fen is what it claims to be", "fenchel verify train.fen train.csv",
    "in a script", "fenchel verify train.fen train.csv --json | jq .holds",
    NULL
};

const command command_verify = {
    .name = "verify", .operands = "MODEL DATA", .operand_count = 2,
    .summary = "recompute the certificate; exit code 1: it fails",
    .description = "Computes the certificate of MODEL once more from its definition and the "
                   "training rows in DATA, trusting nothing but the numbers in the model. Other "
                   "rows than those of the training, or another order, give exit code 3.",
    .examples = examples, .run = run,
};
/* clang-format on */
