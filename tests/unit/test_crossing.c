/* test_crossing.c -- rows on which quantiles come out in the wrong order */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "data/crossing.h"

static void counts_by_weight(void **state)
{
    (void)state;
    /* two columns, taus in no order: 0.9, 0.1 of column 0; 0.5, 0.6 of column 1 */
    const fenp_output outputs[] = { { .column = 0, .par = 0.9 },
                                    { .column = 0, .par = 0.1 },
                                    { .column = 1, .par = 0.5 },
                                    { .column = 1, .par = 0.6 } };
    const double w[] = { 0.5, 0.25, 0.125, 0.125 };
    const double scores[] = {
        2, 1, -7, -6, /* in order, whatever the other column says */
        1, 2, 0,  1,  /* the first column crosses                  */
        1, 1, 1,  1,  /* equal is in order                         */
        1, 2, 1,  0,  /* both cross: the row counts once           */
    };
    assert_true(fenp_outputs_crossing(outputs, 4, scores, w, 4) == 0.375);
    assert_true(fenp_outputs_crossing(outputs, 4, scores, w, 1) == 0.0);
    assert_true(fenp_outputs_crossing(outputs, 1, scores, w, 4) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(counts_by_weight) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
