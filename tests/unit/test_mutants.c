/* test_mutants.c -- where verify holds on a changed model file, its predictions are unchanged */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/mutants.h"

enum { MUTANTS = 2000 }; /* of every family */

static void a_mutant_that_verifies_predicts_the_same(void **state)
{
    (void)state;
    static unsigned char file[MUTANT_ROOM];
    make_originals();
    int liars = 0;
    for (int k = 0; k < FAMILIES; k++) {
        const original *of = &originals[k];
        int fates[4] = { 0 };
        double far;
        assert_int_equal(try_mutant(of, of->file, of->size, &far), HELD);
        for (unsigned i = 0; i < MUTANTS; i++) {
            memcpy(file, of->file, of->size);
            const unsigned seed = 7919u * (unsigned)k + 104729u * i;
            const size_t size = mutate_file(file, of->size, seed);
            const fate end = try_mutant(of, file, size, &far);
            fates[end]++;
            if (end == LYING)
                print_message("%s, seed %u: verify holds, predictions differ by %.2g\n",
                              families[k].name, seed, far);
        }
        print_message("%-14s %d refused, %d do not hold, %d hold\n", families[k].name,
                      fates[REFUSED], fates[NOT_HELD], fates[HELD]);
        assert_true(fates[REFUSED] > 0 && fates[NOT_HELD] > 0 && fates[HELD] > 0);
        liars += fates[LYING];
    }
    free_originals();
    assert_int_equal(liars, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mutant_that_verifies_predicts_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
