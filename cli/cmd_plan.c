/* cmd_plan.c -- fenchel plan: memory, time and method of a fit, without running it */
#include "report.h"

static json_t *plan_json(const fen_plan *p)
{
    json_t *json = json_object();
    json_object_set_new(json, "n", json_integer(p->rows));
    json_object_set_new(json, "d", json_integer(p->features));
    json_object_set_new(json, "targets", json_integer(p->targets));
    json_object_set_new(json, "method", json_text(p->method));
    json_object_set_new(json, "why", json_text(p->why));
    json_object_set_new(json, "selection", json_text(p->selection));
    json_object_set_new(json, "peak_bytes", json_integer(p->peak_bytes));
    json_object_set_new(json, "limit_bytes", json_integer(p->limit_bytes));
    json_object_set_new(json, "seconds", json_number(p->seconds));
    json_object_set_new(json, "fits", json_boolean(p->fits));
    json_object_set_new(json, "advice", json_text(p->advice));
    return json;
}

static void print_plan(const fen_plan *p, const char *path)
{
    char peak[32], limit[32], time[32];
    report("Data", "%s: %lld rows, %lld features, %lld target%s", path, (long long)p->rows,
           (long long)p->features, (long long)p->targets, p->targets == 1 ? "" : "s");
    report("Method", "%s: %s", p->method, p->why);
    report("Selection", "%s", p->selection);
    report("Memory", "%s at the peak, %s allowed", bytes_text((double)p->peak_bytes, peak),
           bytes_text((double)p->limit_bytes, limit));
    report("Time", "about %s", seconds_text(p->seconds, time));
    report("Fits", "%s", p->fits ? "yes" : "NO");
}

static int run(const request *r)
{
    fen_plan plan;
    fen_error err;
    fen_status status =
        fen_plan_file(r->operand[0], &r->options, progress_begin(r->quiet), &plan, &err);
    progress_end();
    if (status) return fail(&err);
    int code = EXIT_DONE;
    if (r->json)
        code = json_print(plan_json(&plan));
    else if (!r->quiet)
        print_plan(&plan, r->operand[0]);
    if (code == EXIT_DONE && !plan.fits)
        code = complain(EXIT_ROOM, "the fit would not fit in memory: %s", plan.advice);
    return code;
}

/* clang-format off */
static const char *const examples[] = {
    "whether it would run here", "fenchel plan big.csv",
    "whether it would run on a machine with 64 GB", "fenchel plan big.csv --memory 64G",
    NULL
};

const command command_plan = {
    .name = "plan", .operands = "DATA", .operand_count = 1,
    .summary = "memory, time and method of a fit, not run",
    .description = "Says what fit would do with the same options, how much memory it would take "
                   "at its peak and about how long it would run. Exit code 5 if it would not "
                   "fit in memory.",
    .examples = examples, .run = run,
};
/* clang-format on */
