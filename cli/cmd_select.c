/* cmd_select.c -- fenchel select: the table behind the choice
 *
 * table.c shows it to people; -o writes it as CSV. */
#include "report.h"

static int write_grid(const grid *g, const char *path)
{
    sink s;
    int code = sink_open(&s, path);
    if (code != EXIT_DONE) return code;
    fprintf(s.stream, "gamma,lambda,power,score%s\n", g->classes ? ",error_rate" : "");
    for (int64_t i = 0; i < g->count; i++) {
        csv_number(s.stream, g->at[i].gamma, ',');
        csv_number(s.stream, g->at[i].lambda, ',');
        csv_number(s.stream, g->at[i].power, ',');
        csv_number(s.stream, g->at[i].score, g->classes ? ',' : '\n');
        if (g->classes) csv_number(s.stream, g->at[i].error, '\n');
    }
    return sink_close(&s, EXIT_DONE);
}

static int show(const grid *g, const request *r)
{
    char ends[96];
    int code = print_grid(g);
    if (code == EXIT_DONE && !r->quiet && grid_ends(g, &r->options, ends, sizeof ends))
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
        code = r->output ? write_grid(&g, r->output) : EXIT_DONE;
        if (code == EXIT_DONE && r->json)
            code = json_print(json_incref(json));
        else if (code == EXIT_DONE && g.best < 0)
            code = complain(EXIT_DATA, "no point of the grid has a finite score");
        else if (code == EXIT_DONE)
            code = show(&g, r);
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
    "powers and lambdas side by side",
    "fenchel select train.csv --gamma mean --power 0.1:2.9:29 --lambda 1e-5:1e2:7",
    NULL
};

const command command_select = {
    .name = "select", .operands = "DATA", .operand_count = 1,
    .output = "TABLE",
    .output_help = "write gamma, lambda, power and score (and error rate) of every point as CSV",
    .summary = "scores of every gamma, lambda and power tried",
    .description = "Scores every combination of gamma, lambda and power as fit would, and marks "
                   "the one that fit would take. For the square loss scores are shown as root mean "
                   "square errors in units of the target; JSON and CSV hold the mean squares. For "
                   "other losses the score is the mean held-out loss, and for classes the share of "
                   "rows put in a wrong class stands beside it.",
    .examples = examples, .run = run,
};
/* clang-format on */
