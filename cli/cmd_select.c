/* cmd_select.c -- fenchel select: the table behind the choice
 *
 * table.c shows it to people; -o writes it as CSV. */
#include "report.h"

static int write_grid(const grid *g, const char *path)
{
    sink s;
    int code = sink_open(&s, path);
    if (code != EXIT_DONE) return code;
    fputs("gamma,lambda,power,score\n", s.stream);
    for (int64_t i = 0; i < g->count; i++) {
        csv_number(s.stream, g->at[i].gamma, ',');
        csv_number(s.stream, g->at[i].lambda, ',');
        csv_number(s.stream, g->at[i].power, ',');
        csv_number(s.stream, g->at[i].score, '\n');
    }
    return sink_close(&s, EXIT_DONE);
}

static int64_t count_targets(const char *list)
{
    int64_t count = 1;
    for (; *list; list++) count += *list == ',';
    return count;
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
    if (json && grid_read(&g, json, r->options.loss, count_targets(r->options.target))) {
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
    "the leave-one-out score of every point that fit would try", "fenchel select train.csv",
    "your own grid by ten folds, the table as CSV",
    "fenchel select train.csv --gamma 0.01:1:9 --lambda 1e-8:1:17 --select kfold:10 -o grid.csv",
    "powers and lambdas side by side",
    "fenchel select train.csv --gamma mean --power 0.1:2.9:29 --lambda 1e-5:1e2:7",
    NULL
};

const command command_select = {
    .name = "select", .operands = "DATA", .operand_count = 1,
    .output = "TABLE", .output_help = "write gamma, lambda, power and score of every point as CSV",
    .summary = "scores of every gamma, lambda and power tried",
    .description = "Scores every combination of gamma, lambda and power as fit would, and marks "
                   "the one that fit would take. For the square loss scores are shown as root mean square "
                   "errors in units of the target; JSON and CSV hold the mean squares.",
    .examples = examples, .run = run,
};
/* clang-format on */
