/* test_noise.c -- the level of the noise where it is known, and the epsilon that goes by it */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/random.h"
#include "data/noise.h"

/* y = offset + sin(3 x) + noise, x uniform on [-1, 1]; every row `times` times, or once with
 * that weight */
static fenp_sample *sine(int64_t rows, double noise, double offset, int64_t times, double weight)
{
    fenp_sample *s = fenp_sample_new(rows * times, 1, 1);
    assert_non_null(s);
    for (int64_t i = 0; i < s->n; i++) {
        const uint64_t k = (uint64_t)(i % rows);
        s->x[i] = 2.0 * fenp_uniform(7, 0, k) - 1.0;
        s->y[i] = offset + sin(3.0 * s->x[i]) + noise * fenp_normal(7, 1, k);
        s->w[i] = 1.0 / (double)s->n;
    }
    s->weight_sum = weight * (double)s->n;
    return s;
}

static double level(fenp_sample *s, int square)
{
    double sigma = -1.0;
    assert_int_equal(fenp_noise_level(s, 0, square, 1, &sigma, NULL), FEN_OK);
    return sigma;
}

static double level_once(fenp_sample *s)
{
    const double sigma = level(s, 0);
    fenp_sample_free(s);
    return sigma;
}

static void known_noise(void **state)
{
    (void)state;
    static const double noises[] = { 0.05, 0.2, 1.0 };
    for (int i = 0; i < 3; i++) {
        const double sigma = level_once(sine(600, noises[i], 0.0, 1, 1.0));
        assert_true(sigma > 0.75 * noises[i] && sigma < 1.1 * noises[i]);
    }
    assert_true(level_once(sine(600, 0.0, 0.0, 1, 1.0)) < 0.01);
}

static void more_rows_than_pairs(void **state)
{
    (void)state;
    fenp_sample *s = sine(5000, 0.2, 0.0, 1, 1.0);
    const double once = level(s, 0), again = level(s, 0);
    fenp_sample_free(s);
    assert_true(once == again);
    assert_true(once > 0.75 * 0.2 && once < 1.1 * 0.2);
}

static void units(void **state)
{
    (void)state;
    fenp_sample *s = sine(300, 0.2, 0.0, 1, 1.0);
    const double plain = level(s, 0);
    for (int64_t i = 0; i < s->n; i++) s->y[i] *= 1024.0;
    assert_true(level(s, 0) == 1024.0 * plain);
    for (int64_t i = 0; i < s->n; i++) s->y[i] = 3.0;
    assert_true(level(s, 0) == 0.0);
    fenp_sample_free(s);
    assert_true(fabs(level_once(sine(300, 0.2, 1e8, 1, 1.0)) - plain) < 1e-6);
}

/* Weight 2 is the row twice; a common factor below 1 does not matter. */
static void weights(void **state)
{
    (void)state;
    const double twice = level_once(sine(200, 0.3, 0.0, 2, 1.0));
    const double weighed = level_once(sine(200, 0.3, 0.0, 1, 2.0));
    assert_true(fabs(twice - weighed) <= 1e-12 * twice);
    const double plain = level_once(sine(200, 0.3, 0.0, 1, 1.0));
    assert_true(fabs(plain - twice) > 1e-3 * plain);
    assert_true(level_once(sine(200, 0.3, 0.0, 1, 1e-3)) == plain);
}

/* A linear kernel has the distances of its inputs. */
static void kernel_matrix(void **state)
{
    (void)state;
    fenp_sample *s = sine(100, 0.2, 0.0, 1, 1.0), *k = fenp_sample_new(100, 100, 1);
    assert_non_null(k);
    k->weight_sum = 100.0;
    for (int64_t i = 0; i < 100; i++) {
        k->y[i] = s->y[i], k->w[i] = s->w[i];
        for (int64_t j = 0; j < 100; j++) k->x[i * 100 + j] = s->x[i] * s->x[j];
    }
    assert_true(fabs(level(k, 1) - level(s, 0)) < 1e-12);
    fenp_sample_free(s);
    fenp_sample_free(k);
}

static void epsilon(void **state)
{
    (void)state;
    fenp_sample *s = sine(400, 0.2, 0.0, 1, 1.0);
    double e;
    assert_int_equal(fenp_noise_epsilon(s, 0, 0, 1, &e, NULL), FEN_OK);
    assert_true(fabs(e - 3.0 * level(s, 0) * sqrt(log(400.0) / 400.0)) < 1e-15);
    fenp_sample_free(s);
    fenp_sample *one = sine(1, 0.2, 0.0, 1, 1.0);
    assert_int_equal(fenp_noise_epsilon(one, 0, 0, 1, &e, NULL), FEN_OK);
    assert_true(e == 0.0);
    fenp_sample_free(one);
}

/* One outlier in twenty rows changes it little; units do as they should; without noise there is
 * still a k. */
static void knee(void **state)
{
    (void)state;
    fenp_sample *s = sine(600, 0.2, 0.0, 1, 1.0), *flat = sine(30, 0.0, 0.0, 1, 1.0);
    double k, far, wide;
    assert_int_equal(fenp_noise_knee(s, 0, 0, 1, &k, NULL), FEN_OK);
    assert_true(k > 0.75 * 1.35 * 0.2 && k < 1.1 * 1.35 * 0.2);
    for (int64_t i = 0; i < 600; i++) s->y[i] *= 1e6;
    assert_int_equal(fenp_noise_knee(s, 0, 0, 1, &wide, NULL), FEN_OK);
    assert_true(fabs(wide / (1e6 * k) - 1.0) < 1e-12);
    for (int64_t i = 0; i < 600; i += 20) s->y[i] += 1e9;
    assert_int_equal(fenp_noise_knee(s, 0, 0, 1, &far, NULL), FEN_OK);
    assert_true(far < 1.5 * wide && level(s, 0) > 100.0 * far);
    for (int64_t i = 0; i < 30; i++) flat->y[i] = 3.0;
    assert_int_equal(fenp_noise_knee(flat, 0, 0, 1, &k, NULL), FEN_OK);
    assert_true(k == 1.35);
    fenp_sample_free(s);
    fenp_sample_free(flat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_noise),   cmocka_unit_test(more_rows_than_pairs),
        cmocka_unit_test(units),         cmocka_unit_test(weights),
        cmocka_unit_test(kernel_matrix), cmocka_unit_test(epsilon),
        cmocka_unit_test(knee),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
