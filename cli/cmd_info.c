/* cmd_info.c -- fenchel info: what is inside a model file */
#include <inttypes.h>
#include "report.h"

static void print_info(const json_t *json, const fen_model *model)
{
    char time[32];
    report_data(json, NULL);
    report("Inputs", "%" PRId64 " columns of the file, matched by name", fen_model_inputs(model));
    report_choice(json, NULL);
    report_objective(json);
    report_certificate(json);
    report_error(json);
    report_coefficients(json);
    report("Method", "%s in %s, fenchel %s", json_text_at(json, "method"),
           seconds_text(json_at(json, "seconds"), time), json_text_at(json, "version"));
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
    if (json && r->json)
        code = json_print(json_incref(json));
    else if (json)
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
    "all coefficients of a linear model",
    "fenchel info train.fen --json | jq -r '.coefficients[] | [.name, .value] | @csv'",
    NULL
};

const command command_info = {
    .name = "info", .operands = "MODEL", .operand_count = 1,
    .summary = "what is inside a model",
    .description = "Shows the objective, the data, their preparation, the certificate and the "
                   "selection that are stored in MODEL, and the coefficients of a linear one in the "
                   "units of the file.",
    .examples = examples, .run = run,
};
/* clang-format on */
