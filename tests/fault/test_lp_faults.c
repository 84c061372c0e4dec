/* test_lp_faults.c -- every allocation in the life of a model of penalty lp fails once
 *
 * The law: support/one_fault.h. */
#include <unistd.h>
#include "support/some_model.h"
#include "support/text_table.h"
#include "support/one_fault.h"

enum { ROWS = 7, FEATURES_MOST = 16 };

typedef struct scenario {
    const char *kernel, *penalty, *loss, *route, *engine, *select;
} scenario;

static fen_table *table;
static char path[4096];

/* fit -> save -> load -> predict -> verify -> list; scores: ROWS */
static fen_status run(const scenario *of, double *scores, fen_error *err)
{
    fen_options o = options();
    fen_model *m = NULL, *back = NULL;
    fen_certificate now;
    int holds = 1;
    char *json = NULL;
    double weight[FEATURES_MOST], coefficient[FEATURES_MOST];
    o.kernel = of->kernel, o.penalty = of->penalty, o.loss = of->loss, o.route = of->route;
    o.engine = of->engine, o.select = of->select, o.threads = 1;
    o.lambda = (fen_values){ .choice = FEN_GIVEN, .count = 2, .at = { 0.5, 0.1 } };
    if (strcmp(of->select, "none") == 0) o.lambda = fen_value(0.1);
    fen_status status = fen_fit(table, &o, NULL, &m, err);
    if (status == FEN_OK) status = fen_model_save(m, path, err);
    if (status == FEN_OK) status = fen_model_load(path, &back, err);
    if (status == FEN_OK) status = fen_predict_table(back, table, &o, scores, NULL, err);
    if (status == FEN_OK) status = fen_verify(back, table, &o, NULL, &now, &holds, err);
    if (status == FEN_OK) status = fen_model_json(back, &json, err);
    if (status == FEN_OK && fen_model_implied(back) > 0)
        status = fen_model_implied_weights(back, 0, weight, coefficient, err);
    if (!holds) fail_msg("does not hold: %s", err->message);
    fen_text_free(json);
    fen_model_free(m);
    fen_model_free(back);
    return status;
}

/* The same of a model made by hand that is to find its pivots. */
static fen_status run_pivots(const scenario *of, double *scores, fen_error *err)
{
    fen_model *m = some_model(&some_kinds[SOME_LP_PIVOTS]), *back = NULL;
    const double x[ROWS] = { 0.1, 0.2, 0.3, -0.4, 0.5, -0.6, 0.7 };
    free(m->pivots), free(m->pivot_weights);
    m->pivots = NULL, m->pivot_weights = NULL;
    m->kernel.par.order = 4, m->power = 4.0 / 3;
    m->certificate[0].norm = m->certificate[1].norm = 0; /* so that no degree would do */
    memset(scores, 0, ROWS * sizeof *scores);
    fault.on = of != NULL;
    fen_status status = fenp_model_find_pivots(m, m->inputs, NULL, err);
    if (status == FEN_OK) status = fen_model_save(m, path, err);
    if (status == FEN_OK) status = fen_model_load(path, &back, err);
    if (status == FEN_OK) status = fenp_model_scores(back, x, 1, scores, NULL, err);
    fault.on = 0;
    fen_model_free(m);
    fen_model_free(back);
    return status;
}

static void survives(const scenario *of)
{
    fen_status (*const life)(const scenario *, double *, fen_error *) =
        of->kernel ? run : run_pivots;
    double reference[ROWS], scores[ROWS];
    fen_error err = { FEN_OK, "" };
    if (life(of->kernel ? of : NULL, reference, &err) != FEN_OK)
        fail_msg("undisturbed: %s", err.message);
    int64_t k = 0;
    do {
        err = (fen_error){ FEN_OK, "" };
        fault_begin(++k);
        fault.on = of->kernel != NULL; /* run_pivots sets it itself */
        const fen_status status = life(of, scores, &err);
        fault_end(status, 1, &err);
        if (status == FEN_OK) assert_memory_equal(scores, reference, sizeof scores);
    } while (fault.fired && k < 100000);
    assert_false(fault.fired);
}

static void test_features(void **state)
{
    (void)state;
    survives(&(scenario){ "linear", "lp:1.5", "absolute", "auto", "auto", "none" });
    survives(
        &(scenario){ "tensor-polynomial", "lp:4/3", "eps:0.1", "features", "auto", "kfold:2" });
}

static void test_tensors(void **state)
{
    (void)state;
    survives(&(scenario){ "tensor-linear", "lp:4/3", "square", "packed", "auto", "none" });
    survives(&(scenario){ "tensor-exponential", "lp:4/3", "square", "low-rank", "auto", "none" });
}

static void test_pivots(void **state)
{
    (void)state;
    survives(&(scenario){ .kernel = NULL });
}

static int start(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/test_lp_faults.XXXXXX", folder ? folder : "/tmp");
    const int file = mkstemp(path);
    if (file < 0 || close(file) != 0) return -1;
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    table = table_of("a,b,c,y\n1,-2,0.5,1.5\n-0.5,1,2,-1\n0.25,0.75,-1,0\n2,0.5,0.25,2\n"
                     "-1,-1,1.5,0.5\n0,1.25,-0.5,-2\n1.5,0,1,1\n");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fen_table_free(table);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_pivots),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
