/* cmd_info.c -- fenchel info: what is inside a model file */
#include <inttypes.h>
#include "report.h"

static void print_info(const json_t *json, const fen_model *model)
{
    char time[32], unfinished[256];
    report_data(json, NULL);
    report_reading(json);
    report("Inputs", "%" PRId64 " columns of the file, matched by name", fen_model_inputs(model));
    report_choice(json, NULL);
    report_objective(json);
    report_certificate(json);
    if (unfinished_text(json, unfinished, sizeof unfinished)[0]) report("", "%s", unfinished);
    report_error(json);
    report_coefficients(json);
    report("Method", "%s in %s, fenchel %s", json_text_at(json, "method"),
           seconds_text(json_at(json, "seconds"), time), json_text_at(json, "version"));
}

/* One list for each target, into the JSON or on the screen; what fails has been said. */
static int add_features(const request *r, const fen_model *model, json_t *json)
{
    const int64_t targets = fen_model_targets(model);
    json_t *lists = json_array();
    int code = EXIT_DONE;
    for (int64_t t = 0; code == EXIT_DONE && t < targets; t++) {
        feature_list list;
        code = features_read(model, json, t, &list);
        if (code == EXIT_DONE && r->json &&
            json_array_append_new(lists, features_json(model, &list)) != 0)
            code = complain(EXIT_ROOM, "out of memory while listing the features");
        else if (code == EXIT_DONE && !r->json && !r->quiet)
            report_features(model, json, &list);
        features_free(&list);
    }
    if (code == EXIT_DONE && r->json && json_object_set(json, "implied", lists) != 0)
        code = complain(EXIT_ROOM, "out of memory while listing the features");
    json_decref(lists);
    return code;
}

/* The columns that predictions take, in their order. */
static int add_inputs(const fen_model *model, json_t *json)
{
    json_t *names = json_array();
    int lost = 0;
    for (int64_t j = 0; !lost && j < fen_model_inputs(model); j++)
        lost = json_array_append_new(names, json_text(fen_model_input_name(model, j)));
    lost |= json_object_set(json, "input_names", names);
    json_decref(names);
    return lost ? complain(EXIT_ROOM, "out of memory while listing the columns") : EXIT_DONE;
}

static int run(const request *r)
{
    fen_model *model = NULL;
    fen_error err;
    char *text = NULL;
    fen_status status = fen_model_load(r->operand[0], &model, &err);
    if (!status) status = fen_model_json(model, &text, &err);
    json_t *json = status ? NULL : json_parse(text);
    int code = status ? fail(&err) : json ? EXIT_DONE : EXIT_ROOM;
    if (json && r->json) code = add_inputs(model, json);
    if (code == EXIT_DONE && r->options.features) code = add_features(r, model, json);
    if (code == EXIT_DONE && r->json)
        code = json_print(json_incref(json));
    else if (code == EXIT_DONE && !r->options.features && !r->quiet)
        print_info(json, model);
    json_decref(json);
    fen_text_free(text);
    fen_model_free(model);
    return code;
}

/* clang-format off */
static const char *const examples[] = {
    "objective, certificate and how gamma and lambda were chosen", "fenchel info train.fen",
    "one number out of it", "fenchel info train.fen --json | jq .lambda",
    "the columns that predictions take, in the order of fen_predict",
    "fenchel info train.fen --json | jq -r '.input_names[]'",
    "all coefficients of a linear model",
    "fenchel info train.fen --json | jq -r '.coefficients[] | [.name, .value] | @csv'",
    "the products of columns that matter most", "fenchel info train.fen --features",
    NULL
};

const command command_info = {
    .name = "info", .operands = "MODEL", .operand_count = 1,
    .summary = "what is inside a model",
    .description = "Shows the objective, the data, their preparation, the certificate and the "
                   "selection that are stored in MODEL, and the coefficients of a linear one in the "
                   "units of the file.\n"
                   "With --features it shows the weights of the features that the function is a "
                   "sum of instead, for linear models and --penalty lp with tensor-linear or "
                   "tensor-polynomial: the 20 largest, how many carry 99 % of the penalty, and how "
                   "many have at least 1/100 of the largest weight. With --json, \"implied\" has "
                   "one such list for each target, down to 1/1000 of the largest weight.",
    .examples = examples, .run = run,
};
/* clang-format on */
