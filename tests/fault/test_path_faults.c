/* test_path_faults.c -- every allocation of paths and selections of linear models fails once
 *
 * As in test_faults.c: run k has no memory for its k-th allocation, which gives FEN_MEMORY and a
 * sentence, or is survived with the same text; nothing stays allocated. Jansson's allocations
 * are counted with them. */
#include <errno.h>
#include <math.h>
#include "support/text_table.h"
#include "support/failing_memory.h"

static struct {
    int on, fired;
    int64_t left;
} fault;

static int no_memory(void)
{
    if (!fault.on || --fault.left != 0) return 0;
    errno = ENOMEM;
    return fault.fired = 1;
}

typedef fen_status (*question)(const fen_table *, const fen_options *, const fen_host *, char **,
                               fen_error *);
typedef struct scenario {
    question ask;
    const char *target, *penalty, *select, *engine;
} scenario;

static fen_table *table;

static fen_status run(const scenario *of, char **json, fen_error *err)
{
    fen_options o = options();
    o.target = of->target, o.penalty = of->penalty, o.select = of->select, o.engine = of->engine;
    o.threads = 1;
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
    for (int64_t k = 1;; k++) {
        const int64_t before = memory_in_use;
        err = (fen_error){ FEN_OK, "" };
        fault.on = 1, fault.fired = 0, fault.left = k;
        const fen_status status = run(of, &json, &err);
        fault.on = 0;
        if (status == FEN_OK) assert_string_equal(json, reference);
        if (status != FEN_OK && (status != FEN_MEMORY || !err.message[0]))
            fail_msg("allocation %ld fails: status %d, %s", (long)k, (int)status, err.message);
        fen_text_free(json);
        if (memory_in_use != before)
            fail_msg("allocation %ld fails: %ld stay", (long)k, (long)(memory_in_use - before));
        if (!fault.fired) break;
    }
    fen_text_free(reference);
}

static void test_paths(void **state)
{
    static const scenario all[] = {
        { fen_path, "y", "l1", "auto", "auto" },
        { fen_path, "y", "l1", "auto", "homotopy" },
        { fen_path, "y", "elastic:0.5", "kfold:2", "auto" },
        { fen_path, "y,z", "group:targets", "auto", "auto" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) survives(&all[i]);
}

static void test_selections(void **state)
{
    static const scenario all[] = {
        { fen_select, "y", "l1", "1se:3", "auto" },
        { fen_select, "y", "elastic:0.5", "aic", "auto" },
        { fen_select, "c", "l1", "kfold:2", "auto" },
        { fen_select, "y", "group", "gcv", "auto" },
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
