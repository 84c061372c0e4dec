/* test_concrete60.c -- powers of the norm against an independent brute-force implementation
 *
 * The numbers are the rows of design/reference/mrlsr_concrete60.csv: the first 60 rows of
 * concrete.csv, inputs standardised, one constant column dropped, gaussian kernel with
 * gamma = 1/(mean squared distance) = 1/14, y raw. Left-out residuals were found by refitting 59
 * rows, one by one, with lambda 60/59. They are given to 10 digits and must come out to 1e-7; the
 * shrinkage c, which the reference found by a search, to 1e-6. */
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
    const char *power, *lambda;
    double c, norm, b, objective, train_mse, alpha1, pred1, pred2, loo_rmse;
} reference;

/* c = INFINITY: f = 0; powers below 1: the global minimum, left-out errors not given */
static const reference known[] = {
    { 0, "2", "0.01", 0.6, 83.15589548, 0, 100.9864007, 31.83737118, 41.88206278, 53.93864399,
      53.02845656, 7.841208645 },
    { 0, "2", "0.0001", 0.006, 174.2083147, 0, 7.988034431, 4.953180738, 595.1913287, 53.5784641,
      52.91731496, 4.880988873 },
    { 0, "1.5", "0.01", 0.04147911065, 117.6972065, 0, 21.72931966, 8.960544704, 209.2820274,
      55.0955294, 54.48397556, 5.050327611 },
    { 0, "1.2", "0.01", 0.005747848306, 176.1961861, 0, 9.841742293, 4.885006115, 604.1155711,
      53.5285366, 52.8610965, 4.902974326 },
    { 0, "2.7", "0.001", 1.556837391, 68.22449589, 0, 158.6811177, 69.21905536, 25.52477033,
      51.23373456, 50.21712003, 10.50307404 },
    { 0, "4", "1e-05", 3.695795585, 55.49621297, 0, 227.3108561, 132.4573492, 14.76212581,
      46.96193813, 45.95745026, 13.19073021 },
    { 0, "1", "1", 0.3274846769, 91.60733956, 0, 112.3437146, 20.73637501, 57.01137908, 54.8180993,
      53.99964773, 6.676391795 },
    { 0, "1", "3", 1.256573747, 71.62333304, 0, 272.9994526, 58.12945345, 28.72213854, 52.0034855,
      51.00203219, 10.25100852 },
    { 0, "0.9", "1", 0.171260629, 99.52100522, 0, 77.47445711, 14.65079067, 82.20363767,
      55.23124036, 54.49995454, NAN },
    { 0, "0.5", "1", 0.006883071806, 168.0890048, 0, 18.14237588, 5.1774615, 566.0278249,
      53.73546923, 53.0925824, NAN },
    { 0, "0.5", "10", 0.1471711218, 101.2773757, 0, 114.3535007, 13.71683957, 90.18038768,
      55.26960559, 54.55570426, NAN },
    { 0, "0.1", "10", 0.0003223663358, 412.2331686, 0, 20.24654254, 1.985974082, 900.9106939,
      51.26578966, 49.75013923, NAN },
    { 0, "0.5", "10000", INFINITY, 0, 0, 1816.680795, 1816.680795, 0, 0, 0, NAN },
    { 1, "2", "0.01", 0.6, 46.44550179, 40.73220269, 47.70714793, 26.13530156, 26.94188967,
      51.76324242, 50.75227035, 7.022951885 },
    { 1, "2", "0.0001", 0.006, 161.3256384, 26.54699597, 7.67572413, 5.073127969, 584.85264,
      53.56430416, 52.83823386, 5.07209053 },
    { 1, "1.5", "0.01", 0.04837560487, 86.53109727, 35.45090642, 17.9459184, 9.896614646,
      172.9277882, 54.67718997, 53.94358199, 5.63692339 },
    { 1, "1.2", "0.01", 0.006228947777, 159.3528238, 26.75109237, 9.531299714, 5.137586397,
      576.8785204, 53.60609399, 52.88459621, 5.091940404 },
    { 1, "2.7", "0.001", 1.0369761, 38.17982183, 41.09368429, 54.02626696, 35.36455324, 18.81300952,
      50.31891439, 49.28092124, 7.672526341 },
    { 1, "4", "1e-05", 1.380483515, 33.91759026, 41.15365205, 54.72672476, 41.49245577, 15.5891134,
      49.48713454, 48.45120427, 8.037064998 },
    { 1, "1", "1", 0.669830506, 44.78744956, 40.83151018, 72.5213859, 27.73393634, 25.04770062,
      51.49275075, 50.4736531, 7.247809761 },
    { 1, "1", "3", 5.461622171, 16.47862067, 40.69882166, 129.3575315, 79.92166946, 5.759476024,
      45.50403537, 44.68007019, 10.21356847 },
    { 1, "0.9", "1", 0.3258980136, 55.44887937, 39.95235412, 56.42788863, 19.31681694, 40.89779147,
      53.0348292, 52.08482548, NAN },
    { 1, "0.5", "1", 0.008873314545, 141.9069246, 28.59847243, 17.70008434, 5.787615045,
      498.7720854, 53.97460315, 53.28600249, NAN },
    { 1, "0.5", "10", 0.3909741504, 52.79937839, 40.22380307, 93.68762697, 21.0244462, 36.00994452,
      52.6979128, 51.72757097, NAN },
    { 1, "0.1", "10", 0.0003255583032, 410.1009526, 7.888898535, 20.2449361, 1.993834707,
      897.944025, 51.25892951, 49.73574095, NAN },
    { 1, "0.5", "10000", INFINITY, 0, 40.82616667, 149.9049103, 149.9049103, 0, 40.82616667,
      40.82616667, NAN },
};
enum { KNOWN = sizeof known / sizeof *known };

typedef struct concrete {
    fen_table *all, *first; /* the whole file; its first 60 rows */
} concrete;

static void assert_close(double found, double expected, double digits, const char *what)
{
    if (found == expected || fabs(found - expected) <= digits * fabs(expected)) return;
    fail_msg("%s is %.12g, the reference has %.10g", what, found, expected);
}

static void assert_near(double found, double expected, const char *what)
{
    assert_close(found, expected, 1e-7, what);
}

static fen_options options_of(const reference *r, const char *engine)
{
    fen_options o = fen_options_default();
    assert_int_equal(fen_options_set(&o, "gamma", "mean", NULL), FEN_OK);
    assert_int_equal(fen_options_set(&o, "lambda", r->lambda, NULL), FEN_OK);
    assert_int_equal(fen_options_set(&o, "power", r->power, NULL), FEN_OK);
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
    assert_close(ROWS / (2.0 * m->coef_scale[0]), r->c, 1e-6, "c");
    assert_near(c.norm, r->norm, "norm");
    assert_near(c.primal, r->objective, "objective");
    assert_near(c.mean_loss, r->train_mse, "train_mse");
    assert_near(m->offset[0], r->b, "b");
    assert_near(m->coef_scale[0] * m->dual[0], r->alpha1, "alpha1");
    assert_int_equal(fen_predict(m, rows, NULL, NULL, fresh, NULL), FEN_OK);
    assert_near(fresh[0], r->pred1, "pred1");
    assert_near(fresh[1], r->pred2, "pred2");
    assert_true(c.relative_gap <= 1e-6);
    assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
}

static void fits_agree(void **state)
{
    const concrete *data = *state;
    static const char *const engines[] = { "cholesky", "spectral", "lanczos", "auto" };
    for (int i = 0; i < KNOWN; i++)
        for (int e = 0; e < 4; e++) {
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

/* One lambda of power 2 is scored by factorisations, a grid of them and any other power by
 * eigenvalues. */
static void left_out_errors_agree(void **state)
{
    const concrete *data = *state;
    for (int i = 0; i < KNOWN; i++) {
        fen_options o = options_of(&known[i], "auto");
        const double lambda = o.lambda.at[0];
        if (isnan(known[i].loo_rmse)) continue;
        assert_near(sqrt(score_of(data->first, &o)), known[i].loo_rmse, "loo_rmse of one lambda");
        o.lambda.count = 20;
        for (int k = 0; k < o.lambda.count; k++) o.lambda.at[k] = lambda * (1.0 + 1e-12 * k);
        assert_near(sqrt(score_of(data->first, &o)), known[i].loo_rmse, "loo_rmse of a grid");
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
