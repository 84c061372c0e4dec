/* test_concrete60.c -- kernel ridge against an independent brute-force implementation
 *
 * The numbers are the m = 2 rows of design/reference/mrlsr_concrete60.csv: the first 60 rows of
 * concrete.csv, inputs standardised, one constant column dropped, gaussian kernel with
 * gamma = 1/(mean squared distance) = 1/14, y raw. Left-out residuals were found by refitting 59
 * rows, one by one, with lambda 60/59. They are given to 10 digits and must come out to 1e-7. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <jansson.h>

#include "data/table.h"
#include "model/model.h"

enum { ROWS = 60, FRESH = 2, INPUTS = 8, SKIPPED = 77 };

typedef struct reference {
    int bias;
    const char *lambda;
    double norm, b, objective, train_mse, alpha1, pred1, pred2, loo_rmse;
} reference;

static const reference known[] = {
    { 0, "0.01", 83.15589548, 0, 100.9864007, 31.83737118, 41.88206278, 53.93864399, 53.02845656,
      7.841208645 },
    { 0, "0.0001", 174.2083147, 0, 7.988034431, 4.953180738, 595.1913287, 53.5784641, 52.91731496,
      4.880988873 },
    { 1, "0.01", 46.44550179, 40.73220269, 47.70714793, 26.13530156, 26.94188967, 51.76324242,
      50.75227035, 7.022951885 },
    { 1, "0.0001", 161.3256384, 26.54699597, 7.67572413, 5.073127969, 584.85264, 53.56430416,
      52.83823386, 5.07209053 },
};
enum { KNOWN = sizeof known / sizeof *known };

typedef struct concrete {
    fen_table *all, *first; /* the whole file; its first 60 rows */
} concrete;

static void assert_near(double found, double expected, const char *what)
{
    if (fabs(found - expected) <= 1e-7 * fabs(expected)) return;
    fail_msg("%s is %.12g, the reference has %.10g", what, found, expected);
}

static fen_options options_of(const reference *r, const char *engine)
{
    fen_options o = fen_options_default();
    assert_int_equal(fen_options_set(&o, "gamma", "mean", NULL), FEN_OK);
    assert_int_equal(fen_options_set(&o, "lambda", r->lambda, NULL), FEN_OK);
    o.bias = r->bias;
    o.engine = engine;
    return o;
}

static void check_model(const concrete *data, const reference *r, const fen_model *m)
{
    const fen_certificate c = fen_model_certificate(m, 0);
    const fen_view rows = { data->all->cells + ROWS * data->all->cols, FRESH, INPUTS,
                            data->all->cols };
    double fresh[FRESH];
    assert_near(m->kernel.par.gamma, 1.0 / 14, "gamma");
    assert_near(c.norm, r->norm, "norm");
    assert_near(c.primal, r->objective, "objective");
    assert_near(c.mean_loss, r->train_mse, "train_mse");
    assert_near(m->offset[0], r->b, "b");
    assert_near(m->coef_scale[0] * m->dual[0], r->alpha1, "alpha1");
    assert_int_equal(fen_predict(m, rows, fresh, NULL), FEN_OK);
    assert_near(fresh[0], r->pred1, "pred1");
    assert_near(fresh[1], r->pred2, "pred2");
    assert_true(c.relative_gap <= 1e-6);
    assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
}

static void fits_agree(void **state)
{
    const concrete *data = *state;
    static const char *const engines[] = { "cholesky", "spectral" };
    for (int i = 0; i < KNOWN; i++)
        for (int e = 0; e < 2; e++) {
            const fen_options o = options_of(&known[i], engines[e]);
            fen_model *model = NULL;
            fen_error err = { 0 };
            if (fen_fit(data->first, &o, NULL, &model, &err) != FEN_OK) fail_msg("%s", err.message);
            check_model(data, &known[i], model);
            fen_model_free(model);
        }
}

static double score_of(const fen_table *table, const fen_options *o)
{
    char *text = NULL;
    fen_error err = { 0 };
    if (fen_select(table, o, NULL, &text, &err) != FEN_OK) fail_msg("%s", err.message);
    json_t *json = json_loads(text, 0, NULL);
    const double score = json_number_value(json_object_get(json, "score"));
    json_decref(json);
    fen_text_free(text);
    return score;
}

/* One lambda is scored by factorisations, a grid of them by eigenvalues. */
static void left_out_errors_agree(void **state)
{
    const concrete *data = *state;
    for (int i = 0; i < KNOWN; i++) {
        fen_options o = options_of(&known[i], "auto");
        const double lambda = o.lambda.at[0];
        assert_near(sqrt(score_of(data->first, &o)), known[i].loo_rmse, "loo_rmse by Cholesky");
        o.lambda.count = 20;
        for (int k = 0; k < o.lambda.count; k++) o.lambda.at[k] = lambda * (1.0 + 1e-12 * k);
        assert_near(sqrt(score_of(data->first, &o)), known[i].loo_rmse, "loo_rmse by eigenvalues");
    }
}

static int open_data(const char *path, concrete *data)
{
    const fen_options o = fen_options_default();
    fen_error err = { 0 };
    if (fen_table_read(path, &o, NULL, &data->all, &err) != FEN_OK) {
        fprintf(stderr, "%s\n", err.message);
        return -1;
    }
    const fen_view inputs = { data->all->cells, ROWS, INPUTS, data->all->cols };
    const fen_view labels = { data->all->cells + INPUTS, ROWS, 1, data->all->cols };
    return fen_table_copy(inputs, labels, NULL, &data->first, &err) == FEN_OK ? 0 : -1;
}

int main(void)
{
    const char *folder = getenv("FENCHEL_DATA");
    char path[4096];
    snprintf(path, sizeof path, "%s/concrete.csv", folder ? folder : "../shared/data");
    FILE *file = fopen(path, "r");
    if (!file) {
        printf("SKIPPED: %s is not there; name its folder in FENCHEL_DATA\n", path);
        return SKIPPED;
    }
    fclose(file);
    concrete data = { NULL, NULL };
    if (open_data(path, &data) != 0) return EXIT_FAILURE;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(fits_agree, &data),
        cmocka_unit_test_prestate(left_out_errors_agree, &data),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fen_table_free(data.all);
    fen_table_free(data.first);
    return failed;
}
