/* Probabilities from scores: the sigmoid is stationary, whatever the unit, and pairs agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include "base/random.h"
#include "promise/platt.h"

enum { N = 200 };

/* Labels that follow 1/(1 + exp(-2 s + 0.5)) by chance. */
static void some_rows(double *scores, double *y)
{
    for (int64_t i = 0; i < N; i++) {
        scores[i] = 2 * fenp_normal(7, 1, (uint64_t)i);
        y[i] = fenp_normal(7, 2, (uint64_t)i) * 0.9 < 1.2 * scores[i] - 0.3 ? 1 : -1;
    }
}

/* Sum of w (t - p) s and of w (t - p): both vanish at the minimum. */
static void is_stationary(const double *scores, const double *y, const double *w, int64_t n,
                          const double sigmoid[2], double unit)
{
    double plus = 0, minus = 0, g0 = 0, g1 = 0;
    for (int64_t i = 0; i < n; i++) *(y[i] > 0 ? &plus : &minus) += y[i] == 0 ? 0 : w ? w[i] : 1;
    for (int64_t i = 0; i < n; i++) {
        if (y[i] == 0) continue;
        const double t = y[i] > 0 ? (plus + 1) / (plus + 2) : 1 / (minus + 2);
        const double off = (w ? w[i] : 1) * (t - fenp_platt_value(sigmoid, scores[i]));
        g0 += off * scores[i] / unit, g1 += off;
    }
    /* 1e-12 of the weight in centred scores; they are at most some units wide */
    if (!(fabs(g0) <= 1e-9 * (plus + minus) && fabs(g1) <= 1e-9 * (plus + minus)))
        fail_msg("gradient %g, %g", g0, g1);
}

static void stationary_in_any_unit(void **state)
{
    (void)state;
    double scores[N], y[N], moved[N], sigmoid[2], other[2];
    some_rows(scores, y);
    assert_int_equal(fenp_platt_fit(scores, y, NULL, N, sigmoid, NULL), FEN_OK);
    is_stationary(scores, y, NULL, N, sigmoid, 1);
    assert_true(sigmoid[0] < -1); /* a larger score speaks for +1 */
    for (int k = -3; k <= 3; k += 3) {
        const double unit = pow(10, 30 * k);
        for (int i = 0; i < N; i++) moved[i] = unit * scores[i];
        assert_int_equal(fenp_platt_fit(moved, y, NULL, N, other, NULL), FEN_OK);
        assert_true(fabs(other[0] * unit - sigmoid[0]) <= 1e-9 * fabs(sigmoid[0]));
        assert_true(fabs(other[1] - sigmoid[1]) <= 1e-9);
    }
}

static void weight_two_is_the_row_twice(void **state)
{
    (void)state;
    double scores[2 * N], y[2 * N], w[N], once[2], twice[2];
    some_rows(scores, y);
    int64_t rows = N;
    for (int i = 0; i < N; i++) {
        w[i] = 1 + i % 2;
        if (i % 2) scores[rows] = scores[i], y[rows++] = y[i];
    }
    y[4] = 0; /* takes no part */
    assert_int_equal(fenp_platt_fit(scores, y, w, N, once, NULL), FEN_OK);
    assert_int_equal(fenp_platt_fit(scores, y, NULL, rows, twice, NULL), FEN_OK);
    assert_true(fabs(once[0] - twice[0]) <= 1e-9 && fabs(once[1] - twice[1]) <= 1e-9);
    is_stationary(scores, y, w, N, once, 1);
}

/* Separated labels: Platt's targets keep the sigmoid finite, and it meets them. */
static void separated_labels(void **state)
{
    (void)state;
    const double scores[] = { -3, -2, 2, 3, 4 }, y[] = { -1, -1, 1, 1, 1 };
    double sigmoid[2];
    assert_int_equal(fenp_platt_fit(scores, y, NULL, 5, sigmoid, NULL), FEN_OK);
    is_stationary(scores, y, NULL, 5, sigmoid, 1);
    assert_true(fenp_platt_value(sigmoid, 3) > 0.75 && fenp_platt_value(sigmoid, -3) < 0.3);
}

/* Equal scores say nothing: the mean target is the answer. */
static void equal_scores(void **state)
{
    (void)state;
    const double scores[] = { 5, 5, 5, 5 }, y[] = { -1, 1, 1, 1 };
    double sigmoid[2];
    assert_int_equal(fenp_platt_fit(scores, y, NULL, 4, sigmoid, NULL), FEN_OK);
    assert_true(sigmoid[0] == 0);
    const double mean = (1.0 / 3 + 3 * 4.0 / 5) / 4;
    assert_true(fabs(fenp_platt_value(sigmoid, 5) - mean) < 1e-9);
}

static void bad_scores(void **state)
{
    (void)state;
    const double scores[] = { 1, NAN }, y[] = { 1, -1 }, none[] = { 0, 0 };
    double sigmoid[2];
    fen_error err;
    assert_int_equal(fenp_platt_fit(scores, y, NULL, 2, sigmoid, &err), FEN_BAD_DATA);
    assert_int_equal(fenp_platt_fit(scores, none, NULL, 2, sigmoid, &err), FEN_BAD_DATA);
}

static void values_at_the_ends(void **state)
{
    (void)state;
    const double sigmoid[2] = { -1, 0 };
    assert_true(fenp_platt_value(sigmoid, 0) == 0.5);
    assert_true(fenp_platt_value(sigmoid, 800) == 1);
    assert_true(fenp_platt_value(sigmoid, -700) > 0 && fenp_platt_value(sigmoid, -700) < 1e-300);
    assert_true(fenp_platt_value(sigmoid, -1e300) == 0);
    assert_true(fabs(fenp_platt_value(sigmoid, 2) + fenp_platt_value(sigmoid, -2) - 1) < 1e-15);
}

/* ---- pairs ------------------------------------------------------------------------------- */

/* Pairs that come from a law give it back. */
static void a_law_comes_back(void **state)
{
    (void)state;
    const double law[4] = { 0.1, 0.2, 0.3, 0.4 };
    double pair[16] = { 0 }, work[20], p[4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (i != j) pair[4 * i + j] = law[i] / (law[i] + law[j]);
    fenp_couple(4, pair, 1e-14, work, p);
    for (int k = 0; k < 4; k++) assert_true(fabs(p[k] - law[k]) < 1e-9);
}

/* Any pairs: a law, and no neighbour of it does better. */
static double disagreement(int k, const double *pair, const double *p)
{
    double sum = 0;
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++)
            if (i != j) sum += pow(pair[j * k + i] * p[i] - pair[i * k + j] * p[j], 2);
    return sum;
}

static void least_disagreement(void **state)
{
    (void)state;
    enum { K = 5 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double pair[K * K] = { 0 }, work[K * (K + 1)], p[K], sum = 0;
        for (int i = 0; i < K; i++)
            for (int j = 0; j < i; j++) {
                pair[i * K + j] =
                    0.5 + 0.499 * sin(7 * fenp_normal(seed, 3, (uint64_t)(i * K + j)));
                pair[j * K + i] = 1 - pair[i * K + j];
            }
        fenp_couple(K, pair, 1e-14, work, p);
        const double best = disagreement(K, pair, p);
        for (int k = 0; k < K; k++) {
            assert_true(p[k] >= 0);
            sum += p[k];
        }
        assert_true(fabs(sum - 1) < 1e-12);
        for (int i = 0; i < K; i++)
            for (int j = 0; j < K; j++) {
                double q[K];
                for (int k = 0; k < K; k++) q[k] = p[k] + 1e-3 * ((k == i) - (k == j));
                assert_true(disagreement(K, pair, q) >= best * (1 - 1e-9));
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stationary_in_any_unit),
        cmocka_unit_test(weight_two_is_the_row_twice),
        cmocka_unit_test(separated_labels),
        cmocka_unit_test(equal_scores),
        cmocka_unit_test(bad_scores),
        cmocka_unit_test(values_at_the_ends),
        cmocka_unit_test(a_law_comes_back),
        cmocka_unit_test(least_disagreement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
