/* test_loss_text.c -- what may be written after --loss, and what is said about the rest */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/registry.h"

static fenp_loss_choice accepted(const char *text, int classes)
{
    fenp_loss_choice choice;
    fen_error err = { 0 };
    if (fenp_parse_loss(text, classes, &choice, &err)) fail_msg("%s", err.message);
    return choice;
}

static void refused(const char *text, int classes, const char *sentence)
{
    fenp_loss_choice choice;
    fen_error err = { 0 };
    assert_int_equal(fenp_parse_loss(text, classes, &choice, &err), FEN_BAD_CALL);
    assert_string_equal(err.message, sentence);
}

static void names(void **state)
{
    (void)state;
    for (const fen_loss *const *loss = fenp_losses; *loss; loss++) {
        const fenp_loss_choice choice = accepted((*loss)->name, 1);
        assert_ptr_equal(choice.loss, *loss);
        assert_int_equal(choice.count, 1);
        assert_true(choice.par[0] == (*loss)->parameter.initial);
    }
    assert_string_equal(accepted("auto", 0).loss->name, "square");
    assert_string_equal(accepted("auto", 1).loss->name, "logistic");
    refused("hing", 1, "--loss \"hing\" is unknown; did you mean hinge?");
    refused("pinbal:0.5", 0, "--loss \"pinbal:0.5\" is unknown; did you mean pinball?");
    refused("svr", 0, "--loss \"svr\" is unknown; did you mean eps?");
    refused("", 0,
            "--loss \"\" is unknown; it may be auto, square, absolute, eps, sqeps, huber, pinball, "
            "tube, hinge, sqhinge, logistic");
    refused("hinge", 0,
            "--loss hinge is for classes, but the target holds numbers; choose another loss, or "
            "--task classification");
    char longest[400];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    fenp_loss_choice choice;
    assert_int_equal(fenp_parse_loss(longest, 0, &choice, NULL), FEN_BAD_CALL);
}

static void values(void **state)
{
    (void)state;
    assert_true(accepted("eps:0.2", 0).par[0] == 0.2);
    assert_true(accepted("eps:0", 0).par[0] == 0.0);
    const fenp_loss_choice quantiles = accepted("pinball:0.1, 0.5,0.9", 0);
    assert_int_equal(quantiles.count, 3);
    assert_true(quantiles.par[0] == 0.1 && quantiles.par[1] == 0.5 && quantiles.par[2] == 0.9);
    assert_true(isnan(accepted("eps:auto", 0).par[0]) && isnan(accepted("sqeps:auto", 1).par[0]));
    assert_true(isnan(accepted("huber:auto", 0).par[0]));
}

static void bad_values(void **state)
{
    (void)state;
    refused("pinball:1.2", 0, "--loss pinball:1.2: tau must lie strictly between 0 and 1");
    refused("pinball:1", 0, "--loss pinball:1: tau must lie strictly between 0 and 1");
    refused("pinball:0.5,0", 0, "--loss pinball:0: tau must lie strictly between 0 and 1");
    refused("pinball:half", 0, "--loss pinball:half: tau must lie strictly between 0 and 1");
    refused("eps:-1", 0, "--loss eps:-1: epsilon must be a number of at least 0 or auto");
    refused("tube:auto", 0, "--loss tube:auto: epsilon must be a number of at least 0");
    refused("huber:0", 0, "--loss huber:0: k must be a number above 0 or auto");
    refused("huber:1e999", 0, "--loss huber:1e999: k must be a number above 0 or auto");
    refused("huber:nan", 0, "--loss huber:nan: k must be a number above 0 or auto");
    refused("square:2", 0, "--loss square takes no value; leave \":2\" out");
    refused("eps:", 0, "--loss eps:: a value of epsilon is missing after the colon");
    refused("pinball:0.5,0.50", 0, "--loss pinball:0.5,0.50: tau 0.50 is given twice");
    refused("eps:auto,auto", 0, "--loss eps:auto,auto: epsilon auto is given twice");
    refused("auto:1", 0, "--loss \"auto:1\" is unknown; auto takes no value");
}

static void too_many(void **state)
{
    (void)state;
    char text[512] = "pinball:";
    for (int i = 1; i <= FENP_PARAMETERS_MAX; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "0.%03d,", i);
    assert_int_equal(accepted(text, 0).count, FENP_PARAMETERS_MAX);
    strcat(text, "0.9");
    refused(text, 0, "--loss pinball takes at most 32 values of tau");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(values),
        cmocka_unit_test(bad_values),
        cmocka_unit_test(too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
