/* The option table: defaults fill every field, text and struct are checked alike. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/option.h"

/* clang-format off */
#define FIELD(name) { #name, offsetof(fen_options, name), sizeof ((fen_options *)0)->name }
static const struct { const char *name; size_t offset, size; } fields[] = {
    FIELD(format), FIELD(missing), FIELD(text), FIELD(target), FIELD(weights), FIELD(task),
    FIELD(index_base), FIELD(loss), FIELD(nu), FIELD(multiclass), FIELD(class_weights),
    FIELD(probability), FIELD(kernel), FIELD(penalty), FIELD(feature_weights), FIELD(nonnegative),
    FIELD(gamma), FIELD(degree), FIELD(coef0), FIELD(lambda), FIELD(power), FIELD(smoothness),
    FIELD(as), FIELD(bias), FIELD(scale), FIELD(select), FIELD(engine), FIELD(route),
    FIELD(approx), FIELD(over), FIELD(tolerance),
    FIELD(seed), FIELD(threads), FIELD(memory_limit_bytes), FIELD(time_limit_seconds),
    FIELD(force), FIELD(scores), FIELD(features), FIELD(rows), FIELD(noise),
};
/* clang-format on */
enum { FIELDS = sizeof fields / sizeof fields[0] };

/* A byte that differs after two poisons was not filled; only padding may do that. */
static void defaults_fill_every_field(void **state)
{
    (void)state;
    fen_options a, b;
    memset(&a, 0xA5, sizeof a);
    memset(&b, 0x5A, sizeof b);
    fenp_options_fill(&a);
    fenp_options_fill(&b);
    for (int i = 0; i < FIELDS; i++)
        if (memcmp((char *)&a + fields[i].offset, (char *)&b + fields[i].offset, fields[i].size))
            fail_msg("the default of %s is not set", fields[i].name);
}

/* The list above is complete: between two fields there is no room for a third. */
static void the_list_of_fields_is_complete(void **state)
{
    (void)state;
    size_t end = 0;
    for (int i = 0; i < FIELDS; i++) {
        assert_in_range(fields[i].offset, end, end + 7);
        if (fields[i].offset - end >= 4)
            assert_int_equal(fields[i].offset % 8, 0); /* padding of a pointer or double */
        end = fields[i].offset + fields[i].size;
    }
    assert_int_equal(offsetof(fen_options, like), end); /* without a name, and last */
    assert_int_equal(sizeof(fen_options), end + sizeof(const fen_reading *));
}

static void defaults_are_what_the_help_says(void **state)
{
    (void)state;
    fen_options o = fen_options_default();
    fen_error err;
    assert_int_equal(fen_options_check(&o, &err), FEN_OK);
    for (int32_t i = 0; fen_option_at(i); i++) {
        const fen_option *shown = fen_option_at(i);
        assert_int_equal(fen_options_set(&o, shown->name, shown->initial, &err), FEN_OK);
        assert_true(strlen(shown->help) > 0 && strlen(shown->commands) > 0);
    }
    fen_options again = fen_options_default();
    for (int i = 0; i < FIELDS; i++)
        assert_memory_equal((char *)&o + fields[i].offset, (char *)&again + fields[i].offset,
                            fields[i].size);
    assert_string_equal(o.kernel, "auto");
    assert_string_equal(o.penalty, "rkhs");
    assert_string_equal(o.missing, "auto");
    assert_null(o.like);
    assert_string_equal(o.select, "auto");
    assert_string_equal(o.task, "auto");
    assert_string_equal(o.multiclass, "ovr");
    assert_string_equal(o.class_weights, "");
    assert_true(o.nu == 0 && o.probability == 0 && o.scores == 0);
    assert_int_equal(o.bias, 1);
    assert_int_equal(o.degree, -1);
    assert_string_equal(o.route, "auto");
    assert_true(o.coef0 < 0 && o.tolerance == 1e-6 && o.noise < 0);
    assert_int_equal(o.index_base, -1);
    assert_int_equal(o.rows, 500);
    assert_int_equal(o.lambda.choice, FEN_AUTO);
    assert_int_equal(o.memory_limit_bytes, 0);
    assert_true(o.power.choice == FEN_GIVEN && o.power.count == 1 && o.power.at[0] == 2);
    assert_true(o.smoothness == 0);
    assert_string_equal(o.approx, "none");
    assert_string_equal(o.over, "lambda");
    assert_null(fen_option_at(-1));
    assert_null(fen_option_at(FIELDS));
    assert_non_null(fen_option_at(FIELDS - 1));
}

static void accepts(const char *name, const char *value, fen_options *o)
{
    fen_error err;
    if (fen_options_set(o, name, value, &err)) fail_msg("--%s %s: %s", name, value, err.message);
    if (fen_options_check(o, &err))
        fail_msg("--%s %s is set but not accepted: %s", name, value, err.message);
}

/* Refused with a message that holds part; the field stays as it was. */
static void refuses(const char *name, const char *value, const char *part)
{
    fen_options o = fen_options_default(), before = o;
    fen_error err;
    if (fen_options_set(&o, name, value, &err) != FEN_BAD_CALL)
        fail_msg("--%s %s is accepted", name, value);
    assert_int_equal(err.status, FEN_BAD_CALL);
    if (!strstr(err.message, part)) fail_msg("\"%s\" does not say \"%s\"", err.message, part);
    assert_memory_equal(&o, &before, sizeof o);
    assert_int_equal(fen_options_set(&o, name, value, NULL), FEN_BAD_CALL);
}

static void numbers(void **state)
{
    (void)state;
    fen_options o = fen_options_default();
    accepts("degree", "20", &o);
    assert_int_equal(o.degree, 20);
    accepts("tolerance", "1/1000", &o);
    assert_true(o.tolerance == 1e-3);
    accepts("threads", "auto", &o);
    assert_int_equal(o.threads, 0);
    accepts("time-limit", "2.5", &o);
    assert_true(o.time_limit_seconds == 2.5);
    accepts("time-limit", "none", &o);
    assert_true(o.time_limit_seconds == 0);
    accepts("noise", "0", &o);
    assert_true(o.noise == 0);
    accepts("index-base", "1", &o);
    accepts("seed", "9007199254740992", &o);
    assert_true(o.seed == 9007199254740992u);
    refuses("degree", "21", "--degree must be a whole number from 1 to 20 or \"auto\", not \"21\"");
    refuses("degree", "0", "from 1 to 20");
    refuses("degree", "2.5", "whole number");
    refuses("degree", "", "whole number");
    refuses("tolerance", "0", "greater than 0");
    refuses("tolerance", "2", "at most 1");
    refuses("tolerance", "nan", "greater than 0");
    refuses("coef0", "-1", "at least 0");
    refuses("coef0", "1e999", "at least 0");
    refuses("threads", "-1", "or \"auto\"");
    refuses("seed", "-1", "from 0 to 9007199254740992");
    refuses("noise", "-1", "at least 0 or \"auto\"");
    refuses("rows", "0", "from 1");
    refuses("index-base", "2", "from 0 to 1 or \"auto\"");
    refuses("time-limit", "-2", "greater than 0 or \"none\"");
    accepts("nu", "0.5", &o);
    assert_true(o.nu == 0.5);
    accepts("nu", "1", &o);
    accepts("nu", "none", &o);
    assert_true(o.nu == 0);
    refuses("nu", "1.5", "greater than 0 and at most 1 or \"none\"");
    refuses("nu", "-0.1", "greater than 0");
}

static void bytes(void **state)
{
    (void)state;
    fen_options o = fen_options_default();
    accepts("memory", "8G", &o);
    assert_true(o.memory_limit_bytes == 8000000000);
    accepts("memory", "1.5K", &o);
    assert_int_equal(o.memory_limit_bytes, 1500);
    accepts("memory", "123456", &o);
    assert_int_equal(o.memory_limit_bytes, 123456);
    accepts("memory", "auto", &o);
    assert_int_equal(o.memory_limit_bytes, 0);
    refuses("memory", "8X", "a size like 8G");
    refuses("memory", "G", "a size like 8G");
    refuses("memory", "", "a size like 8G");
    refuses("memory", "-1G", "from 1 to");
    refuses("memory", "1e300G", "from 1 to");
}

static void choices(void **state)
{
    (void)state;
    fen_options o = fen_options_default();
    accepts("kernel", "matern32", &o);
    accepts("select", "kfold:2", &o);
    accepts("select", "kfold:1000", &o);
    assert_string_equal(o.select, "kfold:1000");
    accepts("engine", "cholesky", &o);
    accepts("engine", "auto", &o);
    accepts("as", "sklearn", &o);
    accepts("format", "npy", &o);
    refuses("kernel", "gausian", "did you mean gaussian?");
    refuses("kernel", "rbf", "did you mean gaussian?");
    accepts("kernel", "auto", &o);
    refuses("kernel", "automatic", "it may be auto, gaussian, ");
    refuses("loss", "", "--loss \"\" is unknown");
    refuses("select", "kfold:1", "K from 2 to 1000");
    refuses("select", "kfold:1001", "K from 2 to 1000");
    refuses("select", "kfold:", "kfold:K");
    refuses("select", "kfold", "kfold:10");
    accepts("approx", "fourier:2", &o);
    accepts("approx", "orthogonal:20000", &o);
    assert_string_equal(o.approx, "orthogonal:20000");
    accepts("over", "power", &o);
    refuses("approx", "fourier:1", "orthogonal:D with D from 2 to 20000");
    refuses("approx", "orthogonal:20001", "it may be none, fourier:D");
    refuses("approx", "fourier:3.5", "fourier:D");
    refuses("over", "gamma", "lambda, power");
    refuses("scale", "standad", "did you mean standard?");
    refuses("as", "svmlight", "fenchel, sklearn, libsvm");
    accepts("as", "libsvm", &o);
    accepts("task", "one-class", &o);
    accepts("multiclass", "ovo", &o);
    accepts("select", "auto", &o);
    refuses("task", "clasification", "did you mean classification?");
    refuses("multiclass", "all", "ovr, ovo");
}

static void switches(void **state)
{
    (void)state;
    fen_options o = fen_options_default();
    fen_error err;
    assert_int_equal(fen_options_set(&o, "no-bias", NULL, &err), FEN_OK);
    assert_int_equal(o.bias, 0);
    accepts("no-bias", "no", &o);
    assert_int_equal(o.bias, 1);
    accepts("no-bias", "yes", &o);
    assert_int_equal(o.bias, 0);
    refuses("no-bias", "perhaps", "takes no value");
    assert_int_equal(fen_options_set(&o, "probability", NULL, &err), FEN_OK);
    assert_int_equal(o.probability, 1);
    accepts("probability", "no", &o);
    assert_int_equal(o.probability, 0);
    refuses("probability", "maybe", "takes no value");
}

static void values(void **state)
{
    (void)state;
    fen_options o = fen_options_default();
    accepts("lambda", "1/3", &o);
    assert_int_equal(o.lambda.choice, FEN_GIVEN);
    assert_int_equal(o.lambda.count, 1);
    assert_true(o.lambda.at[0] == 1.0 / 3.0);
    accepts("lambda", "1/n", &o);
    assert_int_equal(o.lambda.choice, FEN_RULE);
    accepts("lambda", "auto", &o);
    assert_int_equal(o.lambda.choice, FEN_AUTO);
    accepts("gamma", "mean", &o);
    assert_int_equal(o.gamma.choice, FEN_RULE);
    accepts("gamma", "0.1, 1,10", &o);
    assert_int_equal(o.gamma.count, 3);
    assert_true(o.gamma.at[0] == 0.1 && o.gamma.at[1] == 1 && o.gamma.at[2] == 10);
    fen_values one = fen_value(0.25);
    assert_true(one.choice == FEN_GIVEN && one.count == 1 && one.at[0] == 0.25);
}

static void grids_have_equal_ratios(void **state)
{
    (void)state;
    fen_options o = fen_options_default();
    accepts("lambda", "1e-8:100:11", &o);
    assert_int_equal(o.lambda.count, 11);
    assert_true(o.lambda.at[0] == 1e-8 && o.lambda.at[10] == 100);
    for (int i = 0; i < 10; i++)
        assert_true(fabs(o.lambda.at[i + 1] / o.lambda.at[i] - 10) < 1e-12);
    accepts("gamma", "1e-300:1e300:128", &o);
    assert_int_equal(o.gamma.count, 128);
    for (int i = 0; i < 127; i++) assert_true(o.gamma.at[i + 1] > o.gamma.at[i]);
}

/* Powers: 0.1, 0.2, ..., and among them the very numbers that are written so. */
static void grids_of_powers_have_equal_steps(void **state)
{
    (void)state;
    fen_options o = fen_options_default();
    accepts("power", "0.1:2.9:29", &o);
    assert_int_equal(o.power.count, 29);
    for (int i = 0; i < 29; i++) {
        char text[8];
        snprintf(text, sizeof text, "%d.%d", (i + 1) / 10, (i + 1) % 10);
        fen_options one = fen_options_default();
        accepts("power", text, &one);
        assert_true(o.power.at[i] == one.power.at[0]);
    }
    accepts("power", "auto", &o);
    assert_int_equal(o.power.choice, FEN_AUTO);
    accepts("power", "1/2,1,3", &o);
    assert_true(o.power.count == 3 && o.power.at[0] == 0.5 && o.power.at[2] == 3);
    refuses("power", "0", "--power must be from 0.001 to 100, not \"0\"");
    refuses("power", "-1", "from 0.001 to 100");
    refuses("power", "101", "from 0.001 to 100");
    refuses("power", "nan", "not \"nan\"");
    refuses("power", "abc", "--power must be auto, a number, a list");
    refuses("power", "2:1:3", "low < high");
}

/* It sets lambda and power, so that neither can be given beside it. */
static void smoothness_stands_alone(void **state)
{
    (void)state;
    fen_options o = fen_options_default();
    accepts("smoothness", "2.5", &o);
    assert_true(o.smoothness == 2.5);
    accepts("smoothness", "none", &o);
    assert_true(o.smoothness == 0);
    refuses("smoothness", "-1", "greater than 0 or \"none\"");
    fen_error err;
    o.smoothness = 3, o.lambda = fen_value(0.1);
    assert_int_equal(fen_options_check(&o, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "leave --lambda out"));
    o.lambda.choice = FEN_AUTO, o.power = fen_value(1);
    assert_int_equal(fen_options_check(&o, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "leave --power out"));
}

static void wrong_values(void **state)
{
    (void)state;
    char many[4 * (FEN_VALUES_MAX + 1) + 1] = "";
    for (int i = 0; i <= FEN_VALUES_MAX; i++) strcat(many, i ? ",1" : "1");
    refuses("lambda", many, "at most 128 values");
    refuses("lambda", "-1", "--lambda must be greater than 0, not \"-1\"");
    refuses("gamma", "0", "--gamma must be greater than 0, not \"0\"");
    refuses("lambda", "1,-2,3", "greater than 0, not \"-2\"");
    refuses("lambda", "1e-400", "greater than 0");
    refuses("lambda", "1e999", "greater than 0");
    refuses("lambda", "abc", "low:high:count");
    refuses("lambda", "", "not \"\"");
    refuses("lambda", " , ", "low:high:count");
    refuses("lambda", "mean", "1/n");
    refuses("lambda", "inf", "not \"inf\"");
    refuses("gamma", "1:2", "low:high:count");
    refuses("gamma", "2:1:5", "low < high");
    refuses("gamma", "1:2:1", "2 to 128");
    refuses("gamma", "1:2:129", "2 to 128");
    refuses("gamma", "0:2:5", "greater than 0");
    refuses("gamma", "1:2:3:4", "low:high:count");
    refuses("gamma", "a:b:c", "low:high:count");
}

static void unknown_options(void **state)
{
    (void)state;
    refuses("lamda", "1", "did you mean --lambda?");
    refuses("timelimit", "1", "did you mean --time-limit?");
    refuses("zzzzzz", "1", "there is no option --zzzzzz");
    refuses("epsilon", "1", "there is no option --epsilon");
    fen_options o = fen_options_default();
    fen_error err;
    assert_int_equal(fen_options_set(&o, "lambda", NULL, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "needs a value"));
    assert_int_equal(fen_options_set(NULL, "lambda", "1", &err), FEN_BAD_CALL);
    assert_int_equal(fen_options_set(&o, NULL, "1", &err), FEN_BAD_CALL);
    assert_int_equal(fen_options_check(NULL, &err), FEN_BAD_CALL);
}

/* ---- structs filled by hand ---------------------------------------------------------- */

#define CHECK_REFUSES(change, part)                                                           \
    do {                                                                                      \
        fen_options o = fen_options_default();                                                \
        fen_error err;                                                                        \
        o.change;                                                                             \
        if (fen_options_check(&o, &err) != FEN_BAD_CALL) fail_msg("%s is accepted", #change); \
        if (!strstr(err.message, part))                                                       \
            fail_msg("%s: \"%s\" does not say \"%s\"", #change, err.message, part);           \
    } while (0)

static void check_repeats_the_ranges(void **state)
{
    (void)state;
    CHECK_REFUSES(degree = 0,
                  "--degree must be a whole number from 1 to 20 or \"auto\", not \"0\"");
    CHECK_REFUSES(coef0 = NAN, "--coef0");
    CHECK_REFUSES(tolerance = 0, "--tolerance");
    CHECK_REFUSES(lambda = fen_value(-1), "--lambda must be greater than 0, not \"-1\"");
    CHECK_REFUSES(gamma = fen_value(0), "--gamma must be greater than 0");
    CHECK_REFUSES(gamma = fen_value(INFINITY), "--gamma");
    CHECK_REFUSES(gamma.choice = (fen_choice)7, "--gamma");
    CHECK_REFUSES(power.choice = FEN_RULE, "--power");
    CHECK_REFUSES(power = fen_value(0), "--power must be from 0.001 to 100, not \"0\"");
    CHECK_REFUSES(smoothness = -1, "--smoothness");
    CHECK_REFUSES(approx = "fourier:0", "--approx");
    CHECK_REFUSES(over = "gamma", "--over");
    CHECK_REFUSES(lambda.choice = FEN_GIVEN, "--lambda holds 0 values");
    CHECK_REFUSES(threads = -1, "--threads");
    CHECK_REFUSES(memory_limit_bytes = -1, "--memory");
    CHECK_REFUSES(time_limit_seconds = -1, "--time-limit");
    CHECK_REFUSES(rows = 0, "--rows");
    CHECK_REFUSES(noise = NAN, "--noise");
    CHECK_REFUSES(bias = 2, "--no-bias");
    CHECK_REFUSES(probability = 2, "--probability");
    CHECK_REFUSES(nu = 2, "--nu must be greater than 0 and at most 1");
    CHECK_REFUSES(task = "guess", "--task");
    CHECK_REFUSES(index_base = 2, "--index-base");
    CHECK_REFUSES(select = "kfold:1", "--select");
    CHECK_REFUSES(kernel = "rbf", "--kernel");
    CHECK_REFUSES(engine = "", "--engine");
}

static void check_refuses_null_strings(void **state)
{
    (void)state;
    CHECK_REFUSES(format = NULL, "--format is NULL");
    CHECK_REFUSES(missing = NULL, "--missing is NULL");
    CHECK_REFUSES(text = NULL, "--text is NULL");
    CHECK_REFUSES(target = NULL, "--target is NULL");
    CHECK_REFUSES(weights = NULL, "--weights is NULL");
    CHECK_REFUSES(loss = NULL, "--loss is NULL");
    CHECK_REFUSES(kernel = NULL, "--kernel is NULL");
    CHECK_REFUSES(as = NULL, "--as is NULL");
    CHECK_REFUSES(task = NULL, "--task is NULL");
    CHECK_REFUSES(multiclass = NULL, "--multiclass is NULL");
    CHECK_REFUSES(class_weights = NULL, "--class-weights is NULL");
    CHECK_REFUSES(scale = NULL, "--scale is NULL");
    CHECK_REFUSES(select = NULL, "--select is NULL");
    CHECK_REFUSES(approx = NULL, "--approx is NULL");
    CHECK_REFUSES(over = NULL, "--over is NULL");
    CHECK_REFUSES(engine = NULL, "--engine is NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_fill_every_field),
        cmocka_unit_test(the_list_of_fields_is_complete),
        cmocka_unit_test(defaults_are_what_the_help_says),
        cmocka_unit_test(numbers),
        cmocka_unit_test(bytes),
        cmocka_unit_test(choices),
        cmocka_unit_test(switches),
        cmocka_unit_test(values),
        cmocka_unit_test(grids_have_equal_ratios),
        cmocka_unit_test(grids_of_powers_have_equal_steps),
        cmocka_unit_test(smoothness_stands_alone),
        cmocka_unit_test(wrong_values),
        cmocka_unit_test(unknown_options),
        cmocka_unit_test(check_repeats_the_ranges),
        cmocka_unit_test(check_refuses_null_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
