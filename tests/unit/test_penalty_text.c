/* test_penalty_text.c -- what may be written after --penalty, and what does not go with it */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/registry.h"

static fenp_penalty_choice accepted(const char *text)
{
    fenp_penalty_choice choice;
    fen_error err = { 0 };
    if (fenp_parse_penalty(text, &choice, &err)) fail_msg("%s", err.message);
    return choice;
}

static void refused(const char *text, const char *sentence)
{
    fenp_penalty_choice choice;
    fen_error err = { 0 };
    assert_int_equal(fenp_parse_penalty(text, &choice, &err), FEN_BAD_CALL);
    assert_string_equal(err.message, sentence);
}

static void names(void **state)
{
    (void)state;
    for (int i = 0; fenp_penalties[i]; i++) {
        const int lp = strcmp(fenp_penalties[i]->name, "lp") == 0; /* which needs its exponent */
        assert_ptr_equal(accepted(lp ? "lp:4/3" : fenp_penalties[i]->name).penalty,
                         fenp_penalties[i]);
        assert_string_equal(fen_list("penalty", i, NULL), fenp_penalties[i]->name);
    }
    refused("elastc:0.5", "--penalty \"elastc:0.5\" is unknown; did you mean elastic?");
    refused("lasso", "--penalty \"lasso\" is unknown; did you mean l1?");
    refused("ridge", "--penalty \"ridge\" is unknown; ridge regression is --kernel linear "
                     "with the default penalty, rkhs");
    refused("group-lasso", "--penalty \"group-lasso\" is unknown; did you mean group?");
    refused("", "--penalty \"\" is unknown; it may be rkhs, none, l1, elastic, group, lp");
    char longest[400];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    fenp_penalty_choice choice;
    assert_int_equal(fenp_parse_penalty(longest, &choice, NULL), FEN_BAD_CALL);
}

static void exponents(void **state)
{
    (void)state;
    assert_true(accepted("lp:4/3").par == 4.0 / 3);
    assert_true(accepted("lp:2").par == 2.0);
    assert_true(accepted("lp:1.01").par == 1.01);
    static const char missing[] =
        "--penalty lp needs its exponent: lp:P with P above 1 and at most "
        "2, such as lp:4/3";
    refused("lp", missing);
    refused("lp:", missing);
    refused("lp:1", "--penalty lp:1: P must be a number above 1 and at most 2; for sparse weights "
                    "use --penalty l1");
    refused("lp:2.5", "--penalty lp:2.5: P must be a number above 1 and at most 2; lp:2 is "
                      "ridge regression");
    refused("lp:1.00005", "--penalty lp:1.00005: P must be at least 1.0001; so near 1 use "
                          "--penalty l1");
    refused("lp=4/3", "--penalty \"lp=4/3\" is unknown; did you mean lp:4/3?");
    refused("lp:two", "--penalty lp:two: P must be a number above 1 and at most 2, such as lp:4/3");
    refused("lp:nan", "--penalty lp:nan: P must be a number above 1 and at most 2, such as lp:4/3");
    fen_options o = fen_options_default();
    assert_true(fenp_exponent_of(&o) == 0.0);
    o.penalty = "lp:6/5";
    assert_true(fenp_exponent_of(&o) == 1.2 && !fenp_on_coefficients(&o));
    assert_string_equal(fenp_kernel_of(&o)->name, "linear");
}

static void values(void **state)
{
    (void)state;
    assert_true(accepted("l1").par == 1.0 && accepted("l1").how == NULL);
    assert_true(accepted("elastic").par == 0.5);
    assert_true(accepted("elastic:0.25").par == 0.25);
    assert_true(accepted("elastic:1/3").par == 1.0 / 3);
    assert_true(accepted("elastic:0").par == 0.0);
    assert_string_equal(accepted("group").how, "auto");
    assert_string_equal(accepted("group:auto").how, "auto");
    assert_string_equal(accepted("group:targets").how, "targets");
    assert_string_equal(accepted("group:prefix:_").how, "prefix:_");
    assert_string_equal(accepted("group:prefix::").how, "prefix::");
    assert_string_equal(accepted("group:parts/a:b.csv").how, "parts/a:b.csv");
    assert_true(accepted("group").par == 1.0);
    refused(
        "elastic:1",
        "--penalty elastic:1: mix must be a number from 0 and below 1; of 1 it is --penalty l1");
    refused("elastic:-0.1", "--penalty elastic:-0.1: mix must be a number from 0 and below 1; of 1 "
                            "it is --penalty l1");
    refused("elastic:half", "--penalty elastic:half: mix must be a number from 0 and below 1; of 1 "
                            "it is --penalty l1");
    refused("elastic:", "--penalty elastic:: mix must be a number from 0 and below 1; of 1 it is "
                        "--penalty l1");
    refused("elastic:nan",
            "--penalty elastic:nan: mix must be a number from 0 and below 1; of 1 it "
            "is --penalty l1");
    refused("l1:2", "--penalty l1 takes no value; leave \":2\" out");
    refused("rkhs:1", "--penalty rkhs takes no value; leave \":1\" out (the power is --power)");
    refused("group:", "--penalty group: says nothing behind the colon; it may be group:auto, "
                      "group:prefix:SEP, group:targets or group:FILE");
    refused("group:prefix",
            "--penalty group:prefix needs the separator behind the prefix: group:prefix:_");
    refused("group:prefix:",
            "--penalty group:prefix needs the separator behind the prefix: group:prefix:_");
}

static fen_options with(const char *penalty, const char *name, const char *value)
{
    fen_options o = fen_options_default();
    fen_error err;
    if (fen_options_set(&o, "penalty", penalty, &err) || fen_options_set(&o, name, value, &err))
        fail_msg("%s", err.message);
    return o;
}

static void kernels(void **state)
{
    (void)state;
    fen_options o = with("rkhs", "kernel", "auto");
    assert_string_equal(fenp_kernel_of(&o)->name, "gaussian");
    assert_false(fenp_on_coefficients(&o));
    o = with("elastic:0.2", "kernel", "auto");
    assert_string_equal(fenp_kernel_of(&o)->name, "linear");
    assert_true(fenp_on_coefficients(&o));
    o = with("l1", "kernel", "matern32");
    assert_string_equal(fenp_kernel_of(&o)->name, "matern32");
}

/* Every pair that does not go together gets a sentence with both names in it. */
static void what_does_not_go_together(void **state)
{
    (void)state;
    static const struct {
        const char *penalty, *name, *value, *says;
    } pairs[] = {
        { "l1", "power", "1.5", "--power is for --penalty rkhs" },
        { "l1", "power", "auto", "--power is for --penalty rkhs" },
        { "elastic", "smoothness", "3", "--smoothness is for --penalty rkhs" },
        { "group", "nu", "0.5", "--nu is for --penalty rkhs" },
        { "l1", "approx", "fourier:100", "--approx is for --penalty rkhs" },
        { "none", "task", "one-class", "--task one-class is for --penalty rkhs" },
        { "l1", "over", "power", "--over power is for --penalty rkhs" },
        { "group", "nonnegative", "", "--nonnegative does not go with groups" },
        { "group", "kernel", "gaussian", "--penalty group is for linear models" },
        { "none", "kernel", "gaussian", "--penalty none is for linear models" },
        { "l1", "feature-weights", "a=2", NULL },
        { "none", "lambda", "0.1", "--lambda weighs a penalty" },
        { "none", "feature-weights", "a=2", "--feature-weights are factors of a penalty" },
        { "rkhs", "nonnegative", "", "--nonnegative is for penalties on coefficients" },
        { "rkhs", "feature-weights", "a=2", "--feature-weights is for penalties on coefficients" },
        { "rkhs", "select", "1se:5", "--select 1se, aic and bic are for penalties" },
        { "rkhs", "select", "aic", "--select 1se, aic and bic are for penalties" },
        { "rkhs", "select", "bic", "leave --select out" },
        { "l1", "power", "2", NULL },
        { "l1", "probability", "", NULL },
        { "l1", "select", "1se:5", NULL },
        { "elastic:0.1", "nonnegative", "", NULL },
        { "l1", "kernel", "gaussian", NULL },
        { "none", "kernel", "linear", NULL },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const fen_options o = with(pairs[i].penalty, pairs[i].name, pairs[i].value);
        fen_error err = { 0 };
        const fen_status status = fen_options_check(&o, &err);
        if (status != (pairs[i].says ? FEN_BAD_CALL : FEN_OK))
            fail_msg("%s with --%s %s: %s", pairs[i].penalty, pairs[i].name, pairs[i].value,
                     status ? err.message : "accepted");
        if (pairs[i].says && !strstr(err.message, pairs[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.message, pairs[i].says);
    }
    fen_options o = with("l1", "feature-weights", "a=2");
    o.kernel = "gaussian";
    fen_error err = { 0 };
    assert_int_equal(fen_options_check(&o, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "--feature-weights is for linear models"));
    o.penalty = NULL;
    assert_int_equal(fen_options_check(&o, &err), FEN_BAD_CALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(exponents),
        cmocka_unit_test(values),
        cmocka_unit_test(kernels),
        cmocka_unit_test(what_does_not_go_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
