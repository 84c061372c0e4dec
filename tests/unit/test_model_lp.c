/* test_model_lp.c -- models of penalty lp: their features by name, and the ways of predicting */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/ready.h"
#include "solver/solver.h"
#include "support/some_model.h"
#include "tensor/pivots.h"

enum { LONGEST = 40 };

/* ---- f by its definition ------------------------------------------------------------------ */

/* sum over all tuples of `left` more rows of a.. k(their product times from). */
static double over_tuples(const fen_model *m, int64_t t, const double *from, int64_t left)
{
    double product[LONGEST], sum = 0;
    for (int64_t j = 0; left == 0 && j < m->p; j++) sum += from[j];
    if (left == 0) return m->kernel.table->value(sum, &m->kernel.par);
    for (int64_t i = 0; i < m->kept; i++) {
        for (int64_t j = 0; j < m->p; j++) product[j] = from[j] * m->inputs[i * m->p + j];
        sum += m->coef_scale[t] * m->dual[t * m->kept + i] * over_tuples(m, t, product, left - 1);
    }
    return sum;
}

static double definition(const fen_model *m, const double *x, int64_t t)
{
    return over_tuples(m, t, x, (int64_t)m->kernel.par.order - 1);
}

/* T(a) = sum a_i f(x_i) */
static double form(const fen_model *m, int64_t t)
{
    double sum = 0;
    for (int64_t i = 0; i < m->kept; i++)
        sum += m->coef_scale[t] * m->dual[t * m->kept + i] * definition(m, m->inputs + i * m->p, t);
    return sum;
}

/* A model of that many rows and columns, numbers x1, x2, ..., with the norm that it has. */
static fen_model *plain_model(const char *kernel, double power, int64_t n, int64_t p, double size)
{
    fenp_prep *prep = fenp_prep_new(p, 1);
    for (int64_t j = 0; j < p; j++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", (int)j + 1);
        prep->input[j].name = fenp_strdup(name);
        prep->input[j].scale = 1;
    }
    prep->target[0] = fenp_strdup("y");
    strcpy(prep->scaling, "none");
    fenp_prep_count(prep);
    fen_model *m = fenp_model_new(n, p, 1);
    m->prep = prep;
    m->loss = fenp_find_loss("square"), m->penalty = fenp_find_penalty("lp");
    m->kernel = (fenp_kernel){ fenp_find_kernel(kernel), { 0.5, 2, 0, fenp_order_of(power) } };
    m->lambda = 0.1, m->power = power, m->tolerance = 1e-6;
    m->inputs = some_numbers(n * p, 21);
    for (int64_t k = 0; k < n * p; k++) m->inputs[k] *= size;
    free(m->dual);
    m->dual = some_numbers(n, 22);
    m->coef_scale[0] = 0.5;
    m->certificate[0].norm = pow(form(m, 0), 1 / power);
    return m;
}

static void assert_scores(const fen_model *m, const double *x, int64_t rows, double accuracy)
{
    double *scores = fenp_new(rows * m->targets, sizeof *scores);
    assert_int_equal(fenp_model_scores(m, x, rows, scores, NULL, NULL), FEN_OK);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = 0; t < m->targets; t++) {
            const double wanted = definition(m, x + i * m->p, t) + m->offset[t];
            const double got = scores[i * m->targets + t];
            if (!(fabs(got - wanted) <= accuracy * (1 + fabs(wanted))))
                fail_msg("%.17g, not %.17g", got, wanted);
        }
    free(scores);
}

/* ---- features by name ---------------------------------------------------------------------- */

static void assert_name(const fen_model *m, int64_t k, const char *wanted)
{
    char name[256];
    fen_model_implied_name(m, k, name, sizeof name);
    assert_string_equal(name, wanted);
}

static void products_have_names(void **state)
{
    (void)state;
    fen_model *m = some_model(&some_kinds[SOME_LP_POLYNOMIAL]);
    char name[8] = "?";
    assert_int_equal(fen_model_implied(m), 84); /* up to three of six columns, with repetitions */
    assert_name(m, 0, "1");
    assert_name(m, 4, "colour = red");
    assert_name(m, 7, "age^2");
    assert_name(m, 28, "age^3");
    assert_name(m, 29, "age^2*(age is missing)");
    assert_name(m, 30, "age^2*(size \"m\")");
    assert_name(m, 83, "(colour = other)^3");
    assert_name(m, 84, "");
    assert_name(m, -1, "");
    fen_model_implied_name(m, 29, name, sizeof name); /* cut, not overrun */
    assert_string_equal(name, "age^2*(");
    fen_model_free(m);
    m = plain_model("tensor-polynomial", 4.0 / 3, 3, 3, 1);
    assert_int_equal(fen_model_implied(m), 6);
    static const char *const names[] = { "x1^2", "x1*x2", "x1*x3", "x2^2", "x2*x3", "x3^2" };
    for (int k = 0; k < 6; k++) assert_name(m, k, names[k]);
    fen_model_free(m);
}

/* f is the sum of coefficients times products, and |w|_p^p is a'f. */
static void implied_weights_are_those_of_the_function(void **state)
{
    (void)state;
    enum { P = 3, N = 6 };
    static const int pair[N][2] = { { 0, 0 }, { 0, 1 }, { 0, 2 }, { 1, 1 }, { 1, 2 }, { 2, 2 } };
    static const double powers[] = { 2, 4.0 / 3, 6.0 / 5 };
    for (int i = 0; i < 3; i++) {
        fen_model *m = plain_model("tensor-polynomial", powers[i], 4, P, 1);
        const double x[P] = { 0.7, -1.3, 0.4 }, power = powers[i];
        double weight[N], coefficient[N], f = 0, norm = 0;
        assert_int_equal(fen_model_implied_weights(m, 0, weight, coefficient, NULL), FEN_OK);
        for (int k = 0; k < N; k++) {
            const double factor = pow(pair[k][0] == pair[k][1] ? 1 : 2, 1 / m->kernel.par.order);
            assert_true(fabs(coefficient[k] - factor * weight[k]) <= 1e-14 * fabs(weight[k]));
            f += coefficient[k] * x[pair[k][0]] * x[pair[k][1]];
            norm += pow(fabs(weight[k]), power);
        }
        assert_true(fabs(f - definition(m, x, 0)) <= 1e-12 * (1 + fabs(f)));
        assert_true(fabs(norm - form(m, 0)) <= 1e-12 * norm);
        assert_int_equal(fen_model_implied_weights(m, 0, weight, NULL, NULL), FEN_OK);
        assert_int_equal(fen_model_implied_weights(m, 1, weight, NULL, NULL), FEN_BAD_CALL);
        fen_model_free(m);
    }
}

static void linear_models_list_their_weights(void **state)
{
    (void)state;
    static const int kinds[] = { 1, SOME_LASSO, SOME_LP, SOME_LP_LINEAR };
    for (int i = 0; i < 4; i++) {
        fen_model *m = some_model(&some_kinds[kinds[i]]);
        double weight[6], coefficient[6];
        assert_int_equal(fen_model_implied(m), 6);
        assert_name(m, 3, "colour = red");
        const int64_t t = m->targets - 1;
        assert_int_equal(fen_model_implied_weights(m, t, weight, coefficient, NULL), FEN_OK);
        assert_memory_equal(weight, m->weights + t * m->p, sizeof weight);
        assert_memory_equal(coefficient, weight, sizeof weight);
        fen_model_free(m);
    }
}

static void models_without_a_list_say_why(void **state)
{
    (void)state;
    static const struct {
        int kind;
        const char *words;
    } cases[] = {
        { 0, "of the gaussian kernel has no list of features: models of the kernels linear," },
        { SOME_FEATURES, "of the matern32 kernel has no list" },
        { SOME_LP_EXPONENTIAL, "tensor-exponential kernel has infinitely many features" },
        { SOME_LP_PIVOTS, "tensor-linear and tensor-polynomial have one" },
    };
    fen_error err;
    double weight = 7;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fen_model *m = some_model(&some_kinds[cases[i].kind]);
        assert_int_equal(fen_model_implied(m), 0);
        assert_name(m, 0, "");
        assert_int_equal(fen_model_implied_weights(m, 0, &weight, NULL, &err), FEN_BAD_CALL);
        if (!strstr(err.message, cases[i].words)) fail_msg("%s", err.message);
        assert_true(weight == 7);
        fen_model_free(m);
    }
    fen_model *m = plain_model("tensor-polynomial", 4.0 / 3, 2, 30, 1);
    m->kernel.par.degree = 6; /* 1.6 million */
    assert_int_equal(fen_model_implied(m), fenp_multisets(30, 6));
    m->kernel.par.degree = 7;
    assert_int_equal(fen_model_implied_weights(m, 0, &weight, NULL, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "more than 2097152 features of 30 columns"));
    fen_model_free(m);
}

/* ---- predictions ---------------------------------------------------------------------------- */

static void a_series_is_cut_where_columns_are_few(void **state)
{
    (void)state;
    enum { ROWS = 40 };
    fen_model *m = plain_model("tensor-exponential", 4.0 / 3, 8, 3, 0.5);
    double *x = some_numbers(ROWS * m->p, 23);
    for (int64_t k = 0; k < ROWS * m->p; k++) x[k] *= 0.05 * (double)(k / m->p);
    assert_int_equal(fenp_model_find_pivots(m, m->inputs, NULL, NULL), FEN_OK);
    assert_null(m->pivots);
    /* rows of zeros to rows of four times the size of any that trained */
    assert_scores(m, x, ROWS, 1e-11);
    double together[ROWS], alone;
    assert_int_equal(fenp_model_scores(m, x, ROWS, together, NULL, NULL), FEN_OK);
    for (int64_t i = 0; i < ROWS; i++) { /* a row has its score whatever rows are beside it */
        assert_int_equal(fenp_model_scores(m, x + i * m->p, 1, &alone, NULL, NULL), FEN_OK);
        assert_true(fabs(alone - together[i]) <= 1e-14 * (1 + fabs(alone)));
    }
    free(x);
    fen_model_free(m);
}

/* The same function of columns in another unit; powers of gamma and products of columns alone are
 * beyond all numbers there. */
static void units_of_columns_do_not_matter(void **state)
{
    (void)state;
    enum { ROWS = 10 };
    static const double units[] = { 1e20, 1e-20, 3e6 };
    fen_model *m = plain_model("tensor-exponential", 4.0 / 3, 8, 3, 0.5);
    double *x = some_numbers(ROWS * m->p, 23), *large = fenp_new(ROWS * m->p, sizeof *large);
    double wanted[ROWS], found[ROWS];
    assert_int_equal(fenp_model_scores(m, x, ROWS, wanted, NULL, NULL), FEN_OK);
    for (int i = 0; i < 3; i++) {
        fen_model other = *m;
        other.inputs = fenp_new(m->n * m->p, sizeof *other.inputs);
        other.kernel.par.gamma = m->kernel.par.gamma / pow(units[i], 4);
        for (int64_t k = 0; k < m->n * m->p; k++) other.inputs[k] = units[i] * m->inputs[k];
        for (int64_t k = 0; k < ROWS * m->p; k++) large[k] = units[i] * x[k];
        assert_int_equal(fenp_model_find_pivots(&other, other.inputs, NULL, NULL), FEN_OK);
        assert_null(other.pivots);
        assert_int_equal(fenp_model_scores(&other, large, ROWS, found, NULL, NULL), FEN_OK);
        for (int k = 0; k < ROWS; k++)
            assert_true(fabs(found[k] - wanted[k]) <= 1e-12 * (1 + fabs(wanted[k])));
        free(other.inputs);
    }
    free(x);
    free(large);
    fen_model_free(m);
}

/* Degrees that there is no room for: by the definition; where even that drowns in rounding there
 * is no prediction. */
static void far_rows_are_right_or_refused(void **state)
{
    (void)state;
    enum { ROWS = 6, P = 8 };
    static const double times[ROWS] = { 1, -4, 12, -20, 40, 80 };
    static const char *const names[] = { "features", "pivots" };
    fen_model *m = plain_model("tensor-exponential", 4.0 / 3, 10, P, 0.7);
    double x[ROWS * P], scores[ROWS] = { 7 };
    fen_error err;
    m->kernel.par.gamma = 0.02;
    m->certificate[0].norm = pow(form(m, 0), 1 / m->power);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < P; j++) x[i * P + j] = times[i] * m->inputs[j];
    for (int k = 0; k < 2; k++) {
        fenp_cut cut;
        if (k == 1) { /* a tolerance of 0: no cut would do */
            const double norm = m->certificate[0].norm;
            m->certificate[0].norm = 0;
            assert_int_equal(fenp_model_find_pivots(m, m->inputs, NULL, NULL), FEN_OK);
            m->certificate[0].norm = norm;
        }
        assert_true((m->pivots != NULL) == (k == 1));
        assert_true(fenp_cut_open(m, m->inputs, &cut));
        assert_true(fenp_cut_degree(&cut, x + 5 * P, P, 1) > cut.last);
        assert_scores(m, x, ROWS, k ? 1e-7 : 1e-9);
        x[2 * P] = 1e6; /* overflows */
        assert_int_equal(fen_predict(m, (fen_view){ x, ROWS, P, P }, NULL, NULL, scores, &err),
                         FEN_BAD_DATA);
        if (!strstr(err.message, "row 3: this row is too far outside the training rows"))
            fail_msg("%s: %s", names[k], err.message);
        assert_true(scores[0] == 7);
        x[2 * P] = times[2] * m->inputs[0];
    }
    /* pivots that are off by what they say they are: rows outside do without them */
    for (int64_t k = 0; k < m->pivot_count; k++) m->pivot_weights[k] *= 1.001;
    m->prediction_error = 1e-3 * fabs(definition(m, m->inputs, 0));
    assert_scores(m, x + P, ROWS - 1, 1e-9);
    fen_model_free(m);
}

/* All degrees are counted, also those behind the last that is looked at. */
static void series_have_no_end_where_it_matters(void **state)
{
    (void)state;
    fen_model *m = plain_model("tensor-exponential", 4.0 / 3, 4, 2, 0.5);
    fenp_cut cut;
    double x[2] = { 1, 0 }, before = 0;
    assert_true(fenp_cut_open(m, m->inputs, &cut));
    for (double size = 1; size < 1e9; size *= 2) {
        x[0] = size;
        const double degree = (double)fenp_cut_degree(&cut, x, 2, 1e300);
        assert_true(degree >= before);
        before = degree;
    }
    assert_true(before == FENP_CUT_TERMS - 1);
    assert_true(fenp_cut_size(&cut, x, 2) == INFINITY);
    fen_model_free(m);
}

static void pivots_are_found_where_there_are_too_many(void **state)
{
    (void)state;
    enum { ROWS = 6 };
    static const struct {
        const char *kernel;
        double power, degree;
    } cases[] = { { "tensor-exponential", 4.0 / 3, 0 },
                  { "tensor-polynomial", 4.0 / 3, 7 },
                  { "tensor-exponential", 6.0 / 5, 0 },
                  { "tensor-exponential", 2, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fen_model *m = plain_model(cases[i].kernel, cases[i].power, 6, 30, 0.4);
        m->kernel.par.degree = cases[i].degree;
        m->certificate[0].norm = pow(form(m, 0), 1 / m->power);
        double *x = some_numbers(ROWS * m->p, 23);
        for (int64_t k = 0; k < ROWS * m->p; k++) x[k] *= 0.4;
        assert_int_equal(fenp_model_find_pivots(m, m->inputs, NULL, NULL), FEN_OK);
        assert_non_null(m->pivots);
        assert_true(m->pivot_count > 1);
        /* products of few rows: as many pivots as there are points, and nothing is lost */
        assert_scores(m, m->inputs, m->kept, 1e-6);
        assert_scores(m, x, ROWS, 1e-6);
        free(x);
        fen_model_free(m);
    }
}

/* Two targets, the second of half the coefficients, have pivots in common. */
static void targets_share_pivots(void **state)
{
    (void)state;
    enum { ROWS = 5 };
    fen_model *m = some_model(&some_kinds[SOME_LP_PIVOTS]);
    double *x = some_numbers(ROWS * m->p, 23), scores[2 * ROWS];
    free(m->pivots), free(m->pivot_weights);
    m->pivots = NULL, m->pivot_weights = NULL, m->pivot_count = 0;
    m->kernel.par.order = 4, m->power = 4.0 / 3;
    for (int64_t i = 0; i < m->kept; i++) m->dual[m->kept + i] = 0.5 * m->dual[i];
    m->coef_scale[1] = m->coef_scale[0];
    for (int64_t t = 0; t < 2; t++) { /* a tolerance of 0: no cut would do */
        m->certificate[t].norm = 0;
        m->offset[t] = 0;
    }
    assert_int_equal(fenp_model_find_pivots(m, m->inputs, NULL, NULL), FEN_OK);
    assert_non_null(m->pivots);
    assert_int_equal(fenp_model_scores(m, x, ROWS, scores, NULL, NULL), FEN_OK);
    for (int64_t i = 0; i < ROWS; i++) { /* f is a sum of products of three coefficients */
        assert_true(fabs(scores[2 * i]) > 0);
        assert_true(fabs(scores[2 * i + 1] - scores[2 * i] / 8) <= 1e-7 * fabs(scores[2 * i]));
    }
    free(x);
    fen_model_free(m);
}

static void nothing_predicts_nothing(void **state)
{
    (void)state;
    static const char *const kernels[] = { "tensor-polynomial", "tensor-exponential" };
    for (int i = 0; i < 4; i++) {
        fen_model *m = plain_model(kernels[i % 2], 4.0 / 3, 3, i < 2 ? 30 : 2, 1);
        double x[60], scores[2] = { 7, 7 };
        for (int j = 0; j < 60; j++) x[j] = 0.1 * j;
        memset(m->dual, 0, 3 * sizeof(double));
        memset(m->inputs, 0, (size_t)(3 * m->p) * sizeof(double));
        m->certificate[0].norm = 0;
        m->kernel.par.degree = 7;
        assert_int_equal(fenp_model_find_pivots(m, m->inputs, NULL, NULL), FEN_OK);
        assert_int_equal(fenp_model_scores(m, x, 2, scores, NULL, NULL), FEN_OK);
        assert_true(scores[0] == 0 && scores[1] == 0);
        fen_model_free(m);
    }
}

/* ---- what is kept from call to call -------------------------------------------------------- */

enum { READY_ROWS = 60, READY_COLUMNS = 3 };

typedef struct job {
    const fen_model *m;
    const double *x;
    double *scores;
} job;

static void *score_rows(void *of)
{
    const job *j = of;
    for (int64_t i = 0; i < READY_ROWS; i++)
        if (fenp_model_scores(j->m, j->x + i * READY_COLUMNS, 1, j->scores + i, NULL, NULL))
            j->scores[i] = NAN;
    return NULL;
}

/* Rows one by one, larger ones (of more degrees) first, last, and in two threads at once. */
static void assert_ready_is_no_other(const char *kernel)
{
    fen_model *m = plain_model(kernel, 4.0 / 3, 5, READY_COLUMNS, 1);
    double *x = some_numbers(READY_ROWS * READY_COLUMNS, 31);
    double wanted[READY_ROWS], once[READY_ROWS], twice[READY_ROWS];
    job jobs[2] = { { m, x, once }, { m, x, twice } };
    for (int64_t k = 0; k < READY_ROWS * READY_COLUMNS; k++)
        x[k] *= 0.01 * (double)(k < READY_ROWS ? 1 + k : READY_ROWS * READY_COLUMNS - k);
    assert_int_equal(fenp_model_scores(m, x, READY_ROWS, wanted, NULL, NULL), FEN_OK);
    m->ready = fenp_ready_new(m);
    assert_non_null(m->ready);
    pthread_t thread[2];
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, score_rows, &jobs[k]), 0);
    for (int k = 0; k < 2; k++) pthread_join(thread[k], NULL);
    assert_non_null(m->ready->weights);
    assert_memory_equal(once, wanted, sizeof wanted);
    assert_memory_equal(twice, wanted, sizeof wanted);
    free(x);
    fen_model_free(m);
}

static void what_is_kept_changes_no_bit(void **state)
{
    (void)state;
    assert_ready_is_no_other("tensor-polynomial");
    assert_ready_is_no_other("tensor-exponential");
}

/* ---- in words ------------------------------------------------------------------------------- */

static void objectives_name_the_exponent(void **state)
{
    (void)state;
    static const struct {
        int kind;
        const char *words[3];
    } cases[] = {
        { SOME_LP,
          { "at t = x.w + b, plus 0.000333333 |w|_p^p, p = 1.5, q = 3", "features scaled",
            "square loss" } },
        { SOME_LP_LINEAR, { "|w|_p^p, p = 8/7, q = 8", "tensor-linear kernel", "x.w, plus" } },
        { SOME_LP_POLYNOMIAL,
          { "at t = w.phi(x) + b", "p = 4/3, q = 4", "tensor-polynomial kernel" } },
        { SOME_LP_PIVOTS, { "p = 6/5, q = 6", "tensor-exponential", "gamma = 0.1" } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fen_model *m = some_model(&some_kinds[cases[i].kind]);
        char words[1024];
        fenp_model_objective(m, words, sizeof words);
        for (int k = 0; k < 3; k++)
            if (!strstr(words, cases[i].words[k])) fail_msg("%s: no %s", words, cases[i].words[k]);
        fen_model_free(m);
    }
}

static void descriptions_tell_p_and_q(void **state)
{
    (void)state;
    fen_model *m = some_model(&some_kinds[SOME_LP_PIVOTS]);
    char *text = NULL;
    assert_int_equal(fen_model_json(m, &text, NULL), FEN_OK);
    json_t *json = json_loads(text, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json, "penalty")), "lp");
    assert_true(json_number_value(json_object_get(json, "p")) == 6.0 / 5);
    assert_true(json_number_value(json_object_get(json, "q")) == 6);
    assert_true(json_number_value(json_object_get(json, "prediction_error")) == 1e-8);
    assert_int_equal(json_integer_value(json_object_get(json, "pivots")), 4);
    assert_int_equal(json_integer_value(json_object_get(json, "support")), 5);
    assert_string_equal(json_string_value(json_object_get(json, "method")), "lp-newton, low-rank");
    json_t *ridge = json_object_get(json, "lambda2");
    assert_true(json_is_null(json_array_get(ridge, 0)));
    json_decref(json);
    fen_text_free(text);
    assert_string_equal(fenp_model_solver(m)->name, "lp-newton");
    fen_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_have_names),
        cmocka_unit_test(implied_weights_are_those_of_the_function),
        cmocka_unit_test(linear_models_list_their_weights),
        cmocka_unit_test(models_without_a_list_say_why),
        cmocka_unit_test(a_series_is_cut_where_columns_are_few),
        cmocka_unit_test(units_of_columns_do_not_matter),
        cmocka_unit_test(far_rows_are_right_or_refused),
        cmocka_unit_test(series_have_no_end_where_it_matters),
        cmocka_unit_test(pivots_are_found_where_there_are_too_many),
        cmocka_unit_test(targets_share_pivots),
        cmocka_unit_test(nothing_predicts_nothing),
        cmocka_unit_test(what_is_kept_changes_no_bit),
        cmocka_unit_test(objectives_name_the_exponent),
        cmocka_unit_test(descriptions_tell_p_and_q),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
