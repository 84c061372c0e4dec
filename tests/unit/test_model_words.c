/* test_model_words.c -- a model in words: JSON for programs, names and coefficients */
#include "support/model_files.h"

static double number(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);
    if (!json_is_number(value)) fail_msg("%s is not a number", key);
    return json_number_value(value);
}

static void every_description_has_its_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "n",       "d",      "inputs",     "loss",         "kernel",  "gamma",
        "lambda",  "power",  "lambda2",    "bias",         "norm",    "primal",
        "dual",    "gap",    "objective",  "relative_gap", "verdict", "stationarity",
        "null",    "method", "mean_loss",  "train_rmse",   "seconds", "tolerance",
        "targets", "note",   "hash",       "version",      "task",    "loss_parameter",
        "outputs", "nu",     "train_error"
    };
    for (int k = 0; k < SOME_KINDS; k++) {
        json_t *json = described(&some_kinds[k]);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (!json_object_get(json, keys[i])) fail_msg("no %s", keys[i]);
        assert_int_equal(json_object_get(json, "grid") != NULL, some_kinds[k].selected);
        assert_int_equal(json_array_size(json_object_get(json, "outputs")), some_kinds[k].targets);
        json_decref(json);
    }
}

static void a_description_tells_the_model(void **state)
{
    (void)state;
    json_t *json = described(&some_kinds[0]);
    assert_true(number(json, "n") == SOME_ROWS && number(json, "d") == 6);
    assert_true(number(json, "inputs") == 4 && number(json, "gamma") == 0.1);
    assert_true(number(json, "lambda") == 1e-3 / 3 && number(json, "lambda2") == 1e-3 / 3);
    assert_true(number(json, "train_rmse") == sqrt(1.1) && number(json, "score_rows") == 4);
    assert_null(json_object_get(json, "degree"));
    assert_string_equal(json_string_value(json_object_get(json, "verdict")), "optimal");
    assert_string_equal(json_string_value(json_object_get(json, "hash")), "fedcba9876543210");
    const json_t *names = json_object_get(json, "features"), *grid = json_object_get(json, "grid");
    assert_int_equal(json_array_size(names), 6);
    assert_string_equal(json_string_value(json_array_get(names, 1)), "age is missing");
    assert_string_equal(json_string_value(json_array_get(names, 5)), "colour = other");
    assert_true(json_is_null(json_object_get(json_array_get(grid, 2), "score")));
    assert_true(number(json_array_get(grid, 1), "score") == 1.75);
    json_decref(json);
    json = described(&some_kinds[2]);
    assert_true(json_is_null(json_object_get(json, "bias")));
    assert_true(number(json, "degree") == 3 && number(json, "coef0") == 1.0 / 3);
    json_decref(json);
}

static void a_description_tells_the_classes(void **state)
{
    (void)state;
    json_t *json = described(&some_kinds[SOME_TWO]);
    assert_string_equal(json_string_value(json_object_get(json, "task")), "classification");
    assert_true(number(json, "support") == 3 && number(json, "train_error") == 0.2);
    assert_true(number(json, "loss_parameter") == 1);
    assert_true(json_is_false(json_object_get(json, "probabilities")));
    const json_t *second = json_array_get(json_object_get(json, "classes"), 1);
    assert_string_equal(json_string_value(json_object_get(second, "label")), "gr\xc3\xbcn");
    assert_true(number(second, "rows") == 2 && number(second, "weight") == 1);
    json_decref(json);
    json = described(&some_kinds[SOME_PAIRS]);
    const json_t *output = json_array_get(json_object_get(json, "outputs"), 1);
    assert_string_equal(json_string_value(json_object_get(output, "plus")), "no");
    assert_string_equal(json_string_value(json_object_get(output, "minus")), "a, \"b\"");
    assert_true(json_is_true(json_object_get(json, "probabilities")));
    json_decref(json);
    json = described(&some_kinds[8]);
    assert_string_equal(json_string_value(json_object_get(json, "task")), "one-class");
    assert_true(number(json, "nu") == 0.3 && number(json, "loss_parameter") == 0.75);
    assert_non_null(strstr(json_string_value(json_object_get(json, "objective")),
                           "hinge (margin free) loss max(0, margin - y t), all labels y = +1 at "
                           "t = f(x), minus 0.3 margin, plus "));
    json_decref(json);
    json = described(&some_kinds[9]);
    assert_non_null(strstr(json_string_value(json_object_get(json, "objective")), " 0.1, 0.9)"));
    assert_true(number(json, "crossing") == 0);
    json_decref(json);
}

static void getters_stay_inside(void **state)
{
    (void)state;
    fen_model *m = some_model(&some_kinds[1]);
    assert_int_equal(fen_model_inputs(m), 4);
    assert_string_equal(fen_model_input_name(m, 3), m->prep->input[3].name);
    assert_null(fen_model_input_name(m, 4));
    assert_null(fen_model_input_name(m, -1));
    assert_int_equal(fen_model_targets(m), 2);
    assert_string_equal(fen_model_target_name(m, 1), "y2");
    assert_null(fen_model_target_name(m, 2));
    assert_null(fen_model_target_name(m, -1));
    assert_int_equal(fen_model_certificate(m, 1).verdict, FEN_VERDICT_STALLED);
    assert_true(isnan(fen_model_certificate(m, 2).primal));
    char words[1024];
    fenp_model_objective(m, words, sizeof words);
    assert_non_null(strstr(words, "weighted mean"));
    assert_non_null(strstr(words, "f(x) + b"));
    assert_non_null(strstr(words, "linear kernel"));
    assert_null(strstr(words, "gamma"));
    char few[20];
    fenp_model_objective(m, few, sizeof few);
    assert_int_equal(strlen(few), sizeof few - 1);
    fen_model_free(m);
}

static void a_description_tells_the_penalty(void **state)
{
    (void)state;
    json_t *json = described(&some_kinds[SOME_GROUP]);
    const json_t *groups = json_object_get(json, "groups");
    assert_string_equal(json_string_value(json_object_get(json, "penalty")), "group");
    assert_int_equal(json_integer_value(json_object_get(groups, "count")), 2);
    assert_int_equal(json_integer_value(json_object_get(groups, "active")), 2);
    assert_int_equal(json_integer_value(json_object_get(json, "terms")), 6);
    assert_true(json_is_null(json_object_get(json, "power")));
    assert_null(json_object_get(json, "support"));
    assert_non_null(strstr(json_string_value(json_object_get(json, "objective")),
                           "the sum over 2 groups of a_g ||beta_g||"));
    json_decref(json);
    json = described(&some_kinds[SOME_ELASTIC]);
    assert_true(json_number_value(json_object_get(json, "mix")) == 0.25);
    assert_true(json_is_true(json_object_get(json, "nonnegative")));
    assert_int_equal(json_array_size(json_object_get(json, "terms")), 2);
    assert_non_null(strstr(json_string_value(json_object_get(json, "objective")),
                           "sum (0.25 |beta_j| + 0.375 beta_j^2), beta >= 0"));
    json_decref(json);
    json = described(&some_kinds[SOME_LEAST]);
    assert_int_equal(json_integer_value(json_object_get(json, "rank")), 4);
    assert_true(json_number_value(json_object_get(json, "condition")) == 17.5);
    assert_true(json_number_value(json_object_get(json, "lambda")) == 0);
    json_decref(json);
    json = described(&some_kinds[SOME_KERNEL_LASSO]);
    assert_int_equal(json_integer_value(json_object_get(json, "support")), 3);
    assert_non_null(
        strstr(json_string_value(json_object_get(json, "objective")), "sum c_i k(x_i, x) + b"));
    json_decref(json);
    json = described(&some_kinds[0]);
    assert_string_equal(json_string_value(json_object_get(json, "penalty")), "rkhs");
    assert_null(json_object_get(json, "terms"));
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_description_has_its_keys),
        cmocka_unit_test(a_description_tells_the_model),
        cmocka_unit_test(a_description_tells_the_classes),
        cmocka_unit_test(a_description_tells_the_penalty),
        cmocka_unit_test(getters_stay_inside),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
