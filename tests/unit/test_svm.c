/* test_svm.c -- LIBSVM's rows, models and machines: by hand, by definition, by optimality */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/random.h"
#include "svm/parts.h"

/* ---- rows ------------------------------------------------------------------------------ */

static fen_status read_text(const char *text, fen_svm_data **out, fen_error *err)
{
    fen_bytes *in = NULL;
    assert_int_equal(fenp_bytes_from_memory("t", text, (int64_t)strlen(text), &in, err), FEN_OK);
    fen_status status = fenp_svm_data_parse(in, out, err);
    fenp_bytes_close(in);
    return status;
}

static void test_rows(void **state)
{
    (void)state;
    fen_svm_data *data = NULL;
    fen_error err;
    assert_int_equal(
        read_text("+1 1:0.5 7:2\r\n\t-2.5  3: 4  \n3\n4 0:1 ignored\n5 2:1", &data, &err), FEN_OK);
    assert_int_equal(fen_svm_data_rows(data), 5);
    assert_true(fen_svm_data_label(data, 1) == -2.5);
    assert_true(fenp_rows_at(&data->rows, 0, 1) == 0.5);
    assert_true(fenp_rows_at(&data->rows, 0, 7) == 2.0);
    assert_true(fenp_rows_at(&data->rows, 0, 3) == 0.0);
    assert_true(fenp_rows_at(&data->rows, 1, 3) == 4.0);
    assert_int_equal(data->rows.start[3] - data->rows.start[2], 0);
    assert_int_equal(data->rows.largest, 7);
    assert_int_equal(fenp_svm_serial(&data->rows, 3), 1);
    assert_int_equal(fenp_svm_serial(&data->rows, 4), 0);
    fen_svm_data_free(data);
}

static void test_wrong_rows(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",       "x 1:1",   "1 2:1 1:1", "1 1:1 1:1", "1 1:",      "1 a:1",         "1 1:1x",
        "1 -1:1", "nan 1:1", "1 1:inf",   "1 1:nan",   "1 1:1e400", "1 2147483648:1"
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[64];
        fen_svm_data *data = NULL;
        fen_error err;
        snprintf(text, sizeof text, "1 1:1\n%s\n2 1:1\n", lines[i]);
        assert_int_equal(read_text(text, &data, &err), FEN_BAD_DATA);
        assert_string_equal(err.message, "Wrong input format at line 2");
        assert_null(data);
    }
}

/* A line that does not fit into the first buffer. */
static void test_long_line(void **state)
{
    (void)state;
    enum { PAIRS = 40000 };
    char *text = malloc(PAIRS * 16), *at = text;
    at += sprintf(at, "7");
    for (int j = 1; j <= PAIRS; j++) at += sprintf(at, " %d:%d", j, j % 9);
    sprintf(at, "\n8 1:2\n");
    fen_svm_data *data = NULL;
    fen_error err;
    assert_int_equal(read_text(text, &data, &err), FEN_OK);
    assert_int_equal(fen_svm_data_rows(data), 2);
    for (int j = 1; j <= PAIRS; j++) assert_true(fenp_rows_at(&data->rows, 0, j) == j % 9);
    assert_true(fenp_rows_at(&data->rows, 1, 1) == 2.0);
    fen_svm_data_free(data);
    free(text);
}

static void test_columns(void **state)
{
    (void)state;
    static const char *const texts[] = { "1 2:1 9:2\n1 5:3 9:4\n", /* by marking and by sorting */
                                         "1 2:1 90000000:2\n1 5:3 90000000:4\n" };
    for (int k = 0; k < 2; k++) {
        fen_svm_data *data = NULL;
        fenp_columns columns = { 0 };
        fen_error err;
        double x[3];
        assert_int_equal(read_text(texts[k], &data, &err), FEN_OK);
        assert_int_equal(fenp_columns_find(&data->rows, &columns, &err), FEN_OK);
        assert_int_equal(columns.count, 3);
        assert_int_equal(columns.index[0], 2);
        assert_int_equal(columns.index[1], 5);
        assert_int_equal(columns.index[2], k ? 90000000 : 9);
        assert_true(fenp_columns_fill(&columns, &data->rows, 1, x) == 0.0);
        assert_true(x[0] == 0.0 && x[1] == 3.0 && x[2] == 4.0);
        const fenp_columns fewer = { 2, columns.index };
        assert_true(fenp_columns_fill(&fewer, &data->rows, 1, x) == 16.0);
        free(columns.index);
        fen_svm_data_free(data);
    }
}

/* ---- models ------------------------------------------------------------------------------ */

static const char three_classes[] = "svm_type c_svc\nkernel_type %s\n%snr_class 3\ntotal_sv 4\n"
                                    "rho 0.1 -0.2 0.3\nlabel 5 -2 9\nnr_sv 2 1 1\nSV\n"
                                    "0.5 0.25 1:1 2:-1 \n1 0 2:0.5 \n-1.5 0.75 1:-0.5 \n"
                                    "-0.25 -0.75 1:0.25 3:2 \n";
static const double vectors[4][4] = {
    { 1, -1, 0, 0 }, { 0, 0.5, 0, 0 }, { -0.5, 0, 0, 0 }, { 0.25, 0, 2, 0 }
};
static const double row[4] = { 0.7, -0.3, 0.2, 1.1 }; /* the fourth is new to the model */

static fen_svm *parse_model(const char *text)
{
    fen_bytes *in = NULL;
    fen_svm *model = NULL;
    fen_error err = { FEN_OK, "" };
    assert_int_equal(fenp_bytes_from_memory("m", text, (int64_t)strlen(text), &in, &err), FEN_OK);
    if (fenp_svm_parse(in, &model, &err) != FEN_OK) fail_msg("%s", err.message);
    fenp_bytes_close(in);
    return model;
}

static double kernel_value(fen_svm_kernel kernel, const double *a, const double *b)
{
    double product = 0.0, distance = 0.0;
    for (int j = 0; j < 4; j++) {
        product += a[j] * b[j];
        distance += (a[j] - b[j]) * (a[j] - b[j]);
    }
    switch (kernel) {
    case FEN_SVM_LINEAR: return product;
    case FEN_SVM_POLYNOMIAL: return pow(0.5 * product + 1.5, 3);
    case FEN_SVM_RBF: return exp(-0.5 * distance);
    default: return tanh(0.5 * product + 1.5);
    }
}

static void test_decisions_by_definition(void **state)
{
    (void)state;
    static const double coef[3][4] = { { 0.5, 1, -1.5, 0 },
                                       { 0.25, 0, 0, -0.25 },
                                       { 0, 0, 0.75, -0.75 } };
    static const double rho[3] = { 0.1, -0.2, 0.3 };
    static const char *const par[4] = { "", "degree 3\ngamma 0.5\ncoef0 1.5\n", "gamma 0.5\n",
                                        "gamma 0.5\ncoef0 1.5\n" };
    for (int k = 0; k < 4; k++) {
        char text[512];
        double expected[3], decision[3], predicted, votes[3] = { 0 };
        static const double labels[3] = { 5, -2, 9 };
        snprintf(text, sizeof text, three_classes, fenp_svm_kernel_names[k], par[k]);
        fen_svm *model = parse_model(text);
        fen_svm_data *data = NULL;
        fen_error err;
        const double y = 5.0;
        assert_int_equal(fen_svm_data_copy((fen_view){ row, 1, 4, 4 }, &y, &data, &err), FEN_OK);
        for (int p = 0; p < 3; p++) {
            expected[p] = -rho[p];
            for (int i = 0; i < 4; i++)
                expected[p] += coef[p][i] * kernel_value((fen_svm_kernel)k, vectors[i], row);
        }
        assert_int_equal(fen_svm_predict(model, data, 0, 1, &predicted, decision, NULL, &err),
                         FEN_OK);
        for (int p = 0; p < 3; p++) assert_true(fabs(decision[p] - expected[p]) < 1e-13);
        votes[expected[0] > 0 ? 0 : 1]++;
        votes[expected[1] > 0 ? 0 : 2]++;
        votes[expected[2] > 0 ? 1 : 2]++;
        int best = 0;
        for (int c = 1; c < 3; c++)
            if (votes[c] > votes[best]) best = c;
        assert_true(predicted == labels[best]);
        assert_int_equal(fen_svm_predict(model, data, 0, 1, &predicted, NULL, decision, &err),
                         FEN_BAD_CALL); /* it has no probabilities */
        fen_svm_data_free(data);
        fen_svm_free(model);
    }
}

static void test_save_and_load(void **state)
{
    (void)state;
    char text[512], path[] = "svm-model-XXXXXX", read[512] = "";
    snprintf(text, sizeof text, three_classes, "sigmoid", "gamma 0.5\ncoef0 -0.25\n");
    fen_svm *model = parse_model(text);
    fen_error err;
    close(mkstemp(path));
    assert_int_equal(fen_svm_save(model, path, &err), FEN_OK);
    FILE *file = fopen(path, "r");
    read[fread(read, 1, sizeof read - 1, file)] = 0;
    fclose(file);
    unlink(path);
    /* 17 digits as LIBSVM writes them */
    assert_non_null(
        strstr(read, "rho 0.10000000000000001 -0.20000000000000001 0.29999999999999999\n"));
    assert_non_null(strstr(read, "label 5 -2 9\nnr_sv 2 1 1\nSV\n0.5 0.25 1:1 2:-1 \n"));
    fen_svm *again = parse_model(read);
    assert_int_equal(fen_svm_support(again), 4);
    assert_int_equal(fen_svm_machines(again), 3);
    for (int b = 0; b < 3; b++)
        for (int64_t i = 0; i < 2 * model->support[b]; i++)
            assert_true(model->coef[b][i] == again->coef[b][i]);
    for (int p = 0; p < 3; p++) assert_true(model->rho[p] == again->rho[p]);
    fen_svm_free(model);
    fen_svm_free(again);
}

/* ---- training: what is optimal needs no peer ------------------------------------------------ */

enum { ROWS = 120, COLUMNS = 3 };

static fen_svm_data *some_rows(int classes)
{
    static double x[ROWS * COLUMNS], y[ROWS];
    fen_svm_data *data = NULL;
    fen_error err;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = fenp_normal(5, 0, (uint64_t)(i * COLUMNS + j));
        const double noise = fenp_normal(5, 1, (uint64_t)i);
        y[i] = x[i * COLUMNS] + x[i * COLUMNS + 1] * x[i * COLUMNS + 1] + 0.5 * noise;
        if (classes) y[i] = y[i] > 1.0 ? 1.0 : -1.0;
    }
    assert_int_equal(fen_svm_data_copy((fen_view){ x, ROWS, COLUMNS, COLUMNS }, y, &data, &err),
                     FEN_OK);
    return data;
}

typedef struct told {
    fen_svm_news solved;
    int64_t total;
} told;

static void listen(void *user, const fen_svm_news *news)
{
    told *t = user;
    if (news->event == FEN_SVM_SOLVED) t->solved = *news;
    if (news->event == FEN_SVM_TOTAL) t->total = news->support;
}

/* The model, its decisions on the training rows, and the coefficient of every row. */
static fen_svm *train(const fen_svm_data *data, fen_svm_options o, told *t, double *decision,
                      double *coef)
{
    fen_svm *model = NULL;
    fen_error err = { FEN_OK, "" };
    double predicted[ROWS];
    o.tell = listen;
    o.user = t;
    if (fen_svm_train(data, &o, NULL, &model, &err) != FEN_OK) fail_msg("%s", err.message);
    assert_int_equal(fen_svm_predict(model, data, 0, ROWS, predicted, decision, NULL, &err),
                     FEN_OK);
    for (int i = 0; i < ROWS; i++) {
        coef[i] = 0.0;
        for (int64_t b = 0, v = 0; b < model->blocks; b++)
            for (int64_t s = 0; s < model->support[b]; s++, v++) {
                int same = 1;
                for (int32_t j = 1; j <= COLUMNS; j++)
                    same = same &&
                           fenp_rows_at(&model->vectors, v, j) == fenp_rows_at(&data->rows, i, j);
                if (same) coef[i] = model->coef[b][s];
            }
    }
    return model;
}

static void test_c_svc_is_optimal(void **state)
{
    (void)state;
    fen_svm_data *data = some_rows(1);
    const fen_svm_weight weight = { 1, 2.0 };
    fen_svm_options o = fen_svm_options_default();
    o.tolerance = 1e-6;
    o.cost = 4.0;
    o.gamma = 0.5;
    o.weight = &weight;
    o.weight_count = 1;
    told t = { 0 };
    double decision[ROWS], coef[ROWS], sum = 0.0, dual = 0.0;
    fen_svm *model = train(data, o, &t, decision, coef);
    for (int i = 0; i < ROWS; i++) {
        const double y = fen_svm_data_label(data, i), box = y > 0 ? 8.0 : 4.0;
        assert_true(y * coef[i] >= 0.0 && y * coef[i] <= box);
        if (coef[i] == 0.0) assert_true(y * decision[i] >= 1.0 - 1e-4);
        if (fabs(coef[i]) == box) assert_true(y * decision[i] <= 1.0 + 1e-4);
        if (coef[i] != 0.0 && fabs(coef[i]) != box) assert_true(fabs(y * decision[i] - 1.0) < 1e-4);
        sum += coef[i];
        dual += 0.5 * coef[i] * (decision[i] + t.solved.rho) - fabs(coef[i]);
    }
    assert_true(fabs(sum) < 1e-9);
    assert_true(fabs(dual - t.solved.objective) < 1e-9 * fabs(dual));
    assert_true(isnan(t.solved.price)); /* two costs, no nu */
    assert_int_equal(t.total, t.solved.support);
    fen_svm_free(model);
    fen_svm_data_free(data);
}

/* nu bounds: at most nu n rows outside, at least nu n support vectors. */
static void test_nu_is_a_fraction(void **state)
{
    (void)state;
    static const fen_svm_type types[] = { FEN_SVM_NU_SVC, FEN_SVM_ONE_CLASS, FEN_SVM_NU_SVR };
    for (int k = 0; k < 3; k++) {
        fen_svm_data *data = some_rows(types[k] == FEN_SVM_NU_SVC);
        fen_svm_options o = fen_svm_options_default();
        o.type = types[k];
        o.nu = 0.3;
        o.gamma = 0.5;
        o.tolerance = 1e-5;
        told t = { 0 };
        double decision[ROWS], coef[ROWS], size = 0.0;
        fen_svm *model = train(data, o, &t, decision, coef);
        const double box = types[k] == FEN_SVM_NU_SVC ? t.solved.price : 1.0;
        for (int i = 0; i < ROWS; i++) size += fabs(coef[i]);
        assert_true(fabs(size / (box * ROWS) - 0.3) < 1e-4);
        assert_true((double)t.solved.bounded <= 0.3 * ROWS + 1e-9);
        assert_true((double)t.solved.support >= 0.3 * ROWS - 1e-9);
        fen_svm_free(model);
        fen_svm_data_free(data);
    }
}

/* nu-SVR with the nu that it reports for epsilon-SVR's answer gives that epsilon back. */
static void test_nu_and_epsilon_agree(void **state)
{
    (void)state;
    fen_svm_data *data = some_rows(0);
    fen_svm_options o = fen_svm_options_default();
    o.type = FEN_SVM_EPSILON_SVR;
    o.epsilon = 0.25;
    o.gamma = 0.5;
    o.tolerance = 1e-6;
    told a = { 0 }, b = { 0 };
    double one[ROWS], two[ROWS], coef[ROWS];
    fen_svm *first = train(data, o, &a, one, coef);
    o.type = FEN_SVM_NU_SVR;
    o.nu = a.solved.price;
    fen_svm *second = train(data, o, &b, two, coef);
    assert_true(fabs(b.solved.price - 0.25) < 1e-4);
    for (int i = 0; i < ROWS; i++) assert_true(fabs(one[i] - two[i]) < 1e-3);
    fen_svm_free(first);
    fen_svm_free(second);
    fen_svm_data_free(data);
}

static void test_refusals(void **state)
{
    (void)state;
    fen_svm_data *data = some_rows(1);
    fen_svm *model = NULL;
    fen_error err;
    double predicted[ROWS];
    fen_svm_options o = fen_svm_options_default();
    o.type = FEN_SVM_NU_SVC;
    o.nu = 0.999;
    assert_int_equal(fen_svm_train(data, &o, NULL, &model, &err), FEN_BAD_CALL);
    assert_string_equal(err.message, "specified nu is infeasible");
    o = fen_svm_options_default();
    o.cost = -1.0;
    assert_int_equal(fen_svm_check(data, &o, &err), FEN_BAD_CALL);
    assert_string_equal(err.message, "C <= 0");
    o = fen_svm_options_default();
    o.cost = NAN;
    assert_int_equal(fen_svm_check(data, &o, &err), FEN_BAD_CALL);
    o = fen_svm_options_default();
    assert_int_equal(fen_svm_cross_validate(data, &o, 1, NULL, predicted, &err), FEN_BAD_CALL);
    o.kernel = FEN_SVM_PRECOMPUTED;
    assert_int_equal(fen_svm_train(data, &o, NULL, &model, &err), FEN_BAD_DATA);
    assert_null(model);
    fen_svm_data_free(data);
}

/* Seven decision values below 0 and six others: ends of the bins by hand. */
static void test_marks(void **state)
{
    (void)state;
    double decision[] = { 3, -1, 0, -7, 2, -2, 5, -3, 1, -4, 4, -5, -6 }, marks[FENP_SVM_MARKS];
    /* ends -7 -6 -5 -3 -2, 0, 0 1 2 3 5: places 0 1 2 4 5 of seven, 0 1 2 3 5 of six */
    static const double expected[] = { -6.5, -5.5, -4.0, -2.5, -1.0, 0.0, 0.5, 1.5, 2.5, 4.0 };
    assert_true(fenp_svm_marks_find(decision, 13, marks));
    for (int i = 0; i < FENP_SVM_MARKS; i++) assert_true(marks[i] == expected[i]);
    assert_true(fenp_svm_marks_value(marks, -9.0) == 0.001);
    assert_true(fenp_svm_marks_value(marks, -6.5) == 0.1);
    assert_true(fenp_svm_marks_value(marks, -0.5) == 0.5);
    assert_true(fenp_svm_marks_value(marks, 3.9) == 0.9);
    assert_true(fenp_svm_marks_value(marks, 4.0) == 0.999);
    assert_false(fenp_svm_marks_find(decision, 11, marks)); /* seven below, four others */
}

static int stop(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage, (void)fraction;
    return 1;
}

static void test_stopped(void **state)
{
    (void)state;
    fen_svm_data *data = some_rows(1);
    fen_svm *model = NULL;
    fen_error err;
    const fen_host host = { .progress = stop, .user = NULL };
    const fen_svm_options o = fen_svm_options_default();
    assert_int_equal(fen_svm_train(data, &o, &host, &model, &err), FEN_STOPPED);
    assert_null(model);
    fen_svm_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_wrong_rows),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_decisions_by_definition),
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_c_svc_is_optimal),
        cmocka_unit_test(test_nu_is_a_fraction),
        cmocka_unit_test(test_nu_and_epsilon_agree),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
