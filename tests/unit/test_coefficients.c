/* test_coefficients.c -- coefficients of linear models in the units of the file */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "support/some_model.h"

enum { TARGETS = 2, FEATURES = 6 };
static const some_kind linear = { "linear", TARGETS, 0, 1, 0, NUMBERS, "square", NULL, NULL };

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g to %g", a, b, tolerance);
}

static json_t *described(const fen_model *m)
{
    char *text = NULL;
    fen_error err;
    assert_int_equal(fen_model_json(m, &text, &err), FEN_OK);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    fen_text_free(text);
    return json;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static double entry_of(const json_t *object, const char *key, size_t t)
{
    return json_number_value(json_array_get(json_object_get(object, key), t));
}

/* b + sum weight (x - center)/scale = intercept + sum value x for a row as it is in the file. */
static void scores_come_out_again(void **unused)
{
    (void)unused;
    fen_model *m = some_model(&linear);
    double value[TARGETS * FEATURES], scaled[TARGETS * FEATURES], constant[TARGETS];
    const double raw[] = { 33, 0, 12, 0, 1, 0 };
    const double x[] = { (33 - 40.1) / 0.1, 0, (12 + 1.0 / 3) / 7, 0, 1, 0 };
    fen_error err;
    assert_int_equal(fen_model_features(m), FEATURES);
    assert_int_equal(fen_model_coefficients(m, value, scaled, constant, &err), FEN_OK);
    for (int64_t t = 0; t < TARGETS; t++) {
        double of_file = constant[t], prepared = m->offset[t], size = fabs(constant[t]);
        for (int64_t j = 0; j < FEATURES; j++) {
            of_file += value[t * FEATURES + j] * raw[j];
            prepared += m->weights[t * FEATURES + j] * x[j];
            size += fabs(value[t * FEATURES + j] * raw[j]);
            assert_true(scaled[t * FEATURES + j] == m->weights[t * FEATURES + j]);
        }
        assert_near(of_file, prepared, 1e-14 * size);
    }
    double alone[TARGETS * FEATURES];
    assert_int_equal(fen_model_coefficients(m, alone, NULL, constant, &err), FEN_OK);
    assert_memory_equal(alone, value, sizeof value);
    fen_model_free(m);
}

static void features_have_names(void **unused)
{
    (void)unused;
    fen_model *m = some_model(&linear);
    static const char *const names[] = { "age",
                                         "age is missing",
                                         "size \"m\"",
                                         "colour = red",
                                         "colour = blue, gr\xc3\xbcn",
                                         "colour = other" };
    char name[64];
    for (int64_t j = 0; j < FEATURES; j++) {
        fen_model_feature_name(m, j, name, sizeof name);
        assert_string_equal(name, names[j]);
    }
    for (int64_t j = -1; j <= FEATURES; j += FEATURES + 1) {
        fen_model_feature_name(m, j, name, sizeof name);
        assert_string_equal(name, "");
    }
    name[0] = 'x';
    fen_model_feature_name(m, 0, name, 0);
    assert_true(name[0] == 'x');
    fen_model_free(m);
}

static void kernels_have_none(void **unused)
{
    (void)unused;
    fen_model *m = some_model(&some_kinds[0]);
    double nothing[1];
    fen_error err;
    assert_int_equal(fen_model_coefficients(m, nothing, nothing, nothing, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "gaussian"));
    assert_non_null(strstr(err.message, "--kernel linear"));
    json_t *json = described(m);
    assert_null(json_object_get(json, "coefficients"));
    assert_null(json_object_get(json, "intercept"));
    assert_int_equal(json_array_size(json_object_get(json, "features")), m->p);
    json_decref(json);
    fen_model_free(m);
}

/* The six features in two groups, of which the second has the levels of colour. */
static void give_groups(fen_model *m)
{
    static const int64_t start[] = { 0, 3, 6 }, member[] = { 0, 2, 1, 3, 4, 5 };
    m->groups.count = 2;
    m->groups.start = fenp_new(3, sizeof *start), m->groups.member = fenp_new(6, sizeof *member);
    memcpy(m->groups.start, start, sizeof start);
    memcpy(m->groups.member, member, sizeof member);
    m->groups.name = fenp_new(2, sizeof *m->groups.name);
    m->groups.name[0] = fenp_strdup("numbers"), m->groups.name[1] = fenp_strdup("colours");
}

static void groups_and_aliased_columns_are_told(void **unused)
{
    (void)unused;
    fen_model *m = some_model(&linear);
    give_groups(m);
    m->copies = 1;
    m->aliased = fenp_new(1, sizeof *m->aliased);
    m->aliased[0] = 5, m->aliased_count = 1;
    json_t *json = described(m);
    const json_t *list = json_object_get(json, "coefficients");
    assert_int_equal(json_array_size(list), FEATURES);
    for (size_t j = 0; j < FEATURES; j++) {
        const json_t *entry = json_array_get(list, j);
        assert_string_equal(text_of(entry, "group"), j < 3 ? "numbers" : "colours");
        assert_int_equal(json_is_true(json_object_get(entry, "aliased")), j == 5);
        for (size_t t = 0; t < TARGETS; t++)
            assert_true(entry_of(entry, "standardised", t) == m->weights[t * FEATURES + j]);
    }
    assert_string_equal(text_of(json, "scale"), "standard");
    json_decref(json);
    m->copies = TARGETS; /* groups of a feature in all targets */
    json = described(m);
    assert_null(json_object_get(json_array_get(json_object_get(json, "coefficients"), 0), "group"));
    json_decref(json);
    fen_model_free(m);
}

/* A model of so many numbers, one of which has a coefficient. */
static fen_model *wide_model(int64_t p, int64_t nonzero)
{
    fen_model *m = fenp_model_new(SOME_ROWS, p, 1), *pattern = some_model(&linear);
    fenp_prep *prep = fenp_prep_new(p, 1);
    assert_true(m && prep);
    m->loss = pattern->loss, m->kernel = pattern->kernel, m->penalty = pattern->penalty;
    fen_model_free(pattern);
    for (int64_t j = 0; j < p; j++) {
        char name[32];
        snprintf(name, sizeof name, "x%d", (int)j);
        prep->input[j].name = fenp_strdup(name);
        prep->input[j].center = 1, prep->input[j].scale = 4;
    }
    prep->target[0] = fenp_strdup("y");
    strcpy(prep->scaling, "range");
    fenp_prep_count(prep);
    m->prep = prep;
    m->weights = fenp_new_zeroed(p, sizeof(double));
    m->weights[nonzero] = 2;
    return m;
}

static void zeros_are_left_out_of_wide_models(void **unused)
{
    (void)unused;
    for (int64_t p = 1000; p <= 1001; p++) {
        fen_model *m = wide_model(p, 700);
        json_t *json = described(m);
        const json_t *list = json_object_get(json, "coefficients");
        assert_int_equal(json_array_size(list), p > 1000 ? 1 : p);
        const json_t *entry = json_array_get(list, p > 1000 ? 0 : 700);
        assert_string_equal(text_of(entry, "name"), "x700");
        assert_true(json_number_value(json_object_get(entry, "value")) == 0.5);
        assert_true(json_number_value(json_object_get(entry, "standardised")) == 2);
        assert_true(json_number_value(json_object_get(json, "intercept")) == -0.5);
        json_decref(json);
        fen_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_come_out_again),
        cmocka_unit_test(features_have_names),
        cmocka_unit_test(kernels_have_none),
        cmocka_unit_test(groups_and_aliased_columns_are_told),
        cmocka_unit_test(zeros_are_left_out_of_wide_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
