/* test_path_faults.c -- every allocation of paths and selections of linear models fails once
 *
 * The law: support/one_fault.h. */
#include "support/text_table.h"
#include "support/one_fault.h"

typedef fen_status (*question)(const fen_table *, const fen_options *, const fen_host *, char **,
                               fen_error *);
typedef struct scenario {
    question ask;
    const char *target, *penalty, *select, *engine, *loss;
} scenario;

static fen_table *table;

static fen_status run(const scenario *of, char **json, fen_error *err)
{
    fen_options o = options();
    o.target = of->target, o.penalty = of->penalty, o.select = of->select, o.engine = of->engine;
    o.loss = of->loss, o.threads = 1;
    o.lambda = (fen_values){ .choice = FEN_GIVEN, .count = 2, .at = { 0.5, 0.1 } };
    if (strcmp(of->select, "aic") == 0) o.lambda.choice = FEN_AUTO;
    *json = NULL;
    return of->ask(table, &o, NULL, json, err);
}

static void survives(const scenario *of)
{
    char *reference, *json;
    fen_error err = { FEN_OK, "" };
    if (run(of, &reference, &err) != FEN_OK) fail_msg("undisturbed: %s", err.message);
    int64_t k = 0;
    do {
        err = (fen_error){ FEN_OK, "" };
        fault_begin(++k);
        const fen_status status = run(of, &json, &err);
        fault.on = 0;
        if (status == FEN_OK) assert_string_equal(json, reference);
        fen_text_free(json);
        fault_end(status, 0, &err);
    } while (fault.fired);
    fen_text_free(reference);
}

static void test_paths(void **state)
{
    static const scenario all[] = {
        { fen_path, "y", "l1", "auto", "auto", "auto" },
        { fen_path, "y", "l1", "auto", "homotopy", "auto" },
        { fen_path, "y", "elastic:0.5", "kfold:2", "auto", "auto" },
        { fen_path, "y,z", "group:targets", "auto", "auto", "auto" },
        { fen_path, "y", "l1", "auto", "auto", "huber:auto" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) survives(&all[i]);
}

static void test_selections(void **state)
{
    static const scenario all[] = {
        { fen_select, "y", "l1", "1se:3", "auto", "auto" },
        { fen_select, "y", "elastic:0.5", "aic", "auto", "auto" },
        { fen_select, "c", "l1", "kfold:2", "auto", "auto" },
        { fen_select, "y", "group", "gcv", "auto", "auto" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) survives(&all[i]);
}

static int start(void **state)
{
    (void)state;
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    table = table_of("a,b,d,z,c,y\n1,2,0,3,p,1.5\n2,1,4,1,q,2.5\n5,7,1,2,p,3\n4,4,2,8,q,1\n"
                     "3,0,2,5,q,2\n7,1,1,4,p,6\n2,6,3,1,p,0.5\n8,3,5,2,q,7\n");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fen_table_free(table);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_selections),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
