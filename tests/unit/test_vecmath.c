/* test_vecmath.c -- array exponentials against long double, and independent of their place */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "simd/simd.h"

enum { COUNT = 100003 };

static void test_accuracy(void **state)
{
    (void)state;
    static double x[COUNT], v[COUNT];
    for (int64_t i = 0; i < COUNT; i++)
        x[i] = v[i] = (i % 2 ? 708.0 : 1.0) * fenp_uniform(6, 1, (uint64_t)i);
    fenp_simd_get()->exp_scaled(v, COUNT, -1.0);
    for (int64_t i = 0; i < COUNT; i++) {
        const long double exact = expl(-(long double)x[i]);
        assert_true(fabsl(v[i] - exact) <= 0x1p-52L * exact);
    }
}

static void test_scale(void **state)
{
    (void)state;
    double v[] = { 2.0, -3.0, 0.0 };
    fenp_simd_get()->exp_scaled(v, 3, 0.5);
    assert_true(fabs(v[0] - exp(1.0)) < 1e-15 && fabs(v[1] - exp(-1.5)) < 1e-15 && v[2] == 1.0);
}

static void test_special_values(void **state)
{
    (void)state;
    double v[] = { 0.0, -0.0, INFINITY, 800.0, 1e308, 740.0, NAN };
    fenp_simd_get()->exp_scaled(v, 7, -1.0);
    assert_true(v[0] == 1.0 && v[1] == 1.0);
    assert_true(v[2] == 0.0 && v[3] == 0.0 && v[4] == 0.0);
    assert_true(v[5] > 0.0 && v[5] < 1e-320); /* 4.2e-322, subnormal    */
    assert_true(isnan(v[6]));
}

/* Every length, every place in the array: the same bits, and nothing beyond the end. */
static void test_place(void **state)
{
    (void)state;
    enum { LONGEST = 40 };
    for (int64_t count = 0; count <= LONGEST; count++) {
        double v[LONGEST + 1], alone;
        for (int64_t i = 0; i <= LONGEST; i++) v[i] = 5.0 * fenp_uniform(6, 2, (uint64_t)i);
        const double beyond = v[count];
        fenp_simd_get()->exp_scaled(v, count, -1.7);
        assert_true(v[count] == beyond);
        for (int64_t i = 0; i < count; i++) {
            alone = 5.0 * fenp_uniform(6, 2, (uint64_t)i);
            fenp_simd_get()->exp_scaled(&alone, 1, -1.7);
            assert_memory_equal(&alone, &v[i], sizeof alone);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_special_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
