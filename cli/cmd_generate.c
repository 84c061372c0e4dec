/* cmd_generate.c -- fenchel generate: built-in data with known truth */
#include <string.h>
#include "cli.h"

static int unknown_generator(const char *name)
{
    const char *names[64] = { NULL };
    for (int i = 0; i < 63 && (names[i] = fen_list("generator", i, NULL)) != NULL; i++)
        if (strcmp(names[i], name) == 0) return EXIT_DONE;
    const char *near = nearest(name, names);
    if (near)
        return complain(EXIT_USAGE, "there is no generator \"%s\"; did you mean %s?", name, near);
    return complain(EXIT_USAGE, "there is no generator \"%s\"; see fenchel generate --help", name);
}

static int run(const request *r)
{
    fen_table *table = NULL;
    fen_error err;
    int to_stdout = !r->output || strcmp(r->output, "-") == 0;
    if (to_stdout && r->json)
        return complain(EXIT_USAGE, "generate --json needs -o OUT: standard output is taken");
    int code = unknown_generator(r->operand[0]);
    if (code == EXIT_DONE) code = check_output(r->output, (const char *const[]){ NULL });
    if (code != EXIT_DONE) return code;
    fen_status status = fen_table_generate(r->operand[0], &r->options, &table, &err);
    if (!status && interrupted())
        code = complain(EXIT_INTERRUPTED, "interrupted; nothing was written");
    else if (!status)
        status =
            fen_table_write(table, to_stdout ? "-" : r->output, to_stdout ? "csv" : NULL, &err);
    if (status) code = fail(&err);
    if (code == EXIT_DONE && !to_stdout) note_written(r->output);
    if (code == EXIT_DONE && !to_stdout)
        code = report_table(r, fen_table_rows(table), fen_table_columns(table), r->output);
    fen_table_free(table);
    return code;
}

/* clang-format off */
static const char *const examples[] = {
    "500 rows of Friedman's function of ten inputs", "fenchel generate friedman -o friedman.csv",
    "the same function without noise, other rows",
    "fenchel generate friedman --rows 10000 --noise 0 --seed 7 -o test.npy",
    "a look at it", "fenchel generate sinc --rows 5",
    NULL
};

const command command_generate = {
    .name = "generate", .operands = "NAME", .operand_count = 1,
    .output = "OUT", .output_help = "file, its format by its ending, else CSV (default: stdout)",
    .summary = "built-in data with a known truth",
    .description = "Makes a table of random rows from a known function, the target last. The "
                   "same seed gives the same rows on every machine.",
    .examples = examples, .operand_list = "generator", .run = run,
};
/* clang-format on */
