/* test_curve.c -- the minimum over the ridge solutions for every power, on spectra given outright
 *
 * The reference is a dense grid in log c of J = L + n lambda N^m computed in long double from the
 * definition, with f = 0 as a candidate; it shares nothing with the search. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "solver/curve.h"

enum { MOST = 12 };

typedef struct spectrum {
    int64_t count;
    double d[MOST], q[MOST], rest;
} spectrum;

static const double powers[] = { 0.01, 0.3, 0.5, 0.9, 1.0, 1.0001, 1.2, 1.5, 2.0, 2.7, 4.0, 20.0 };
enum { POWERS = sizeof powers / sizeof *powers };

static long double norm_square(const spectrum *s, long double c)
{
    long double sum = 0.0L;
    for (int64_t j = 0; j < s->count; j++)
        if (s->d[j] > 0.0) sum += s->d[j] * (long double)s->q[j] / ((s->d[j] + c) * (s->d[j] + c));
    return sum;
}

static long double energy(const spectrum *s)
{
    long double sum = s->rest;
    for (int64_t j = 0; j < s->count; j++) sum += s->q[j];
    return sum;
}

static long double objective(const spectrum *s, double t, double weight, double m)
{
    if (t > 5000.0) return energy(s); /* c^2 would leave the range of long double */
    const long double c = expl(t);
    long double sum = s->rest + weight * powl(sqrtl(norm_square(s, c)), m);
    for (int64_t j = 0; j < s->count; j++)
        sum += s->q[j] * (c / (s->d[j] + c)) * (c / (s->d[j] + c));
    return sum;
}

static fenp_root minimum(const spectrum *s, int64_t n, double lambda, double m, double gap)
{
    double q[MOST];
    fenp_measure measure = { .d = s->d, .q = q, .count = s->count, .rest = s->rest };
    fenp_root root;
    for (int64_t j = 0; j < s->count; j++) q[j] = s->q[j];
    const fenp_curve curve = fenp_measure_curve(&measure, n);
    assert_int_equal(fenp_curve_minimum(&curve, n, lambda, m, gap, &root, NULL), FEN_OK);
    return root;
}

/* Least objective over a dense grid: log c from -45 to 45 in steps of 1/60. */
static long double grid_minimum(const spectrum *s, double weight, double m)
{
    long double best = energy(s);
    for (int k = -2700; k <= 2700; k++) best = fminl(best, objective(s, k / 60.0, weight, m));
    return best;
}

static double uniform(int64_t draw) { return fenp_uniform(7, 1, (uint64_t)draw); }

static spectrum some_spectrum(int64_t seed)
{
    spectrum s = { .count = 2 + seed % (MOST - 2), .rest = seed % 3 ? 0.0 : 0.1 };
    for (int64_t j = 0; j < s.count; j++) {
        s.d[j] = exp(-12.0 * uniform(100 * seed + 2 * j));
        s.q[j] = exp(-6.0 * uniform(100 * seed + 2 * j + 1));
    }
    if (seed % 4 == 0) s.d[0] = 0.0;
    return s;
}

static void no_function_is_better(void **state)
{
    (void)state;
    for (int64_t seed = 0; seed < 12; seed++)
        for (int k = 0; k < POWERS; k++)
            for (double lambda = 1e-6; lambda < 1e3; lambda *= 30.0) {
                const spectrum s = some_spectrum(seed);
                const fenp_root root = minimum(&s, 10, lambda, powers[k], 1e-9);
                const double weight = 10.0 * lambda;
                const long double found = objective(&s, root.t, weight, powers[k]);
                const long double least = grid_minimum(&s, weight, powers[k]);
                if (!(found <= least * (1.0L + 2e-9L)))
                    fail_msg("seed %d power %g lambda %g: %.12Lg, the grid has %.12Lg", (int)seed,
                             powers[k], lambda, found, least);
            }
}

/* c N^(2-m) = m n lambda / 2 to 12 digits wherever f is not 0 */
static void minima_are_stationary(void **state)
{
    (void)state;
    for (int64_t seed = 0; seed < 40; seed++)
        for (int k = 0; k < POWERS; k++) {
            const double m = powers[k], lambda = exp(10.0 * uniform(9000 + seed) - 8.0);
            const spectrum s = some_spectrum(seed);
            const fenp_root root = minimum(&s, 10, lambda, m, 1e-9);
            if (isinf(root.c) || root.c == 0.0 || root.t < -25.0) continue;
            const long double left =
                root.t + (2.0L - m) * 0.5L * logl(norm_square(&s, expl((long double)root.t)));
            assert_true(fabsl(left - logl(0.5L * m * 10.0L * lambda)) < 1e-11L);
            assert_true(fabs(root.lambda2 - root.c / 10.0) <= 1e-12 * root.lambda2);
        }
}

/* m > 1: a search of its own, from random starts to both sides, ends at the same c. */
static void one_root_from_random_starts(void **state)
{
    (void)state;
    for (int64_t seed = 0; seed < 30; seed++)
        for (int k = 0; k < POWERS; k++) {
            const double m = powers[k], lambda = exp(8.0 * uniform(7000 + seed) - 6.0);
            if (!(m > 1.1) || m == 2.0) continue;
            const spectrum s = some_spectrum(seed);
            const fenp_root root = minimum(&s, 10, lambda, m, 1e-9);
            for (int64_t start = 0; start < 5; start++) {
                long double low = root.t - 60.0L * uniform(8000 + 10 * seed + start);
                long double high = root.t + 60.0L * uniform(8500 + 10 * seed + start);
                for (int step = 0; step < 120; step++) {
                    const long double t = 0.5L * (low + high);
                    const long double h = t + (2.0L - m) * 0.5L * logl(norm_square(&s, expl(t)));
                    if (h < logl(0.5L * m * 10.0L * lambda))
                        low = t;
                    else
                        high = t;
                }
                assert_true(fabsl(low - root.t) < 1e-10L * (1.0L + fabsl(low)));
            }
        }
}

static void power_two_is_ridge_to_the_last_bit(void **state)
{
    (void)state;
    const spectrum s = some_spectrum(3);
    const fenp_root root = minimum(&s, 7, 0.3, 2.0, 0.0);
    assert_true(root.c == 7.0 * 0.3 && root.lambda2 == 0.3);
}

/* Two minima at c = 5.40324e-5 (J = .2587139229, global) and .00785677 (J = .2871652611). */
static void several_minima(void **state)
{
    (void)state;
    const spectrum s = { 2, { 1.0, 1e-4 }, { 1.0, 0.25 }, 0.0 };
    const fenp_root root = minimum(&s, 2, 0.02, 0.5, 1e-10);
    assert_true(fabs(root.c - 5.40324e-5) < 1e-9);
    assert_true(fabsl(objective(&s, root.t, 0.04, 0.5) - 0.2587139229L) < 1e-9L);
}

/* The residuals at the nodes prove the minimum: the lowest kink of their tangents, found on a
 * fine grid of norms, is within the gap. */
static void nodes_prove_the_minimum(void **state)
{
    (void)state;
    for (int64_t seed = 0; seed < 12; seed++)
        for (double lambda = 1e-4; lambda < 10.0; lambda *= 12.0)
            for (int k = 0; powers[k] < 1.0; k++) {
                const spectrum s = some_spectrum(seed);
                const double weight = 10.0 * lambda, m = powers[k];
                const fenp_root root = minimum(&s, 10, lambda, m, 1e-7);
                const double best = (double)objective(&s, root.t, weight, m);
                assert_true(root.nodes >= 1 && root.nodes <= FENP_NODES_MAX);
                for (double r = 1e-8; r < 1e8; r *= 1.03) {
                    double bound = 0.0;
                    for (int i = 0; i < root.nodes; i++) {
                        const long double t = root.node[i], c = expl(t);
                        const long double norm =
                            isinf(root.node[i]) ? 0.0L : sqrtl(norm_square(&s, c));
                        const long double loss = objective(&s, root.node[i], 0.0, m);
                        long double reach = 0.0L; /* limit of c N */
                        for (int64_t j = 0; j < s.count; j++) reach += (long double)s.d[j] * s.q[j];
                        const long double slope =
                            isinf(root.node[i]) ? -2.0L * sqrtl(reach) : -2.0L * c * norm;
                        bound = fmax(bound, (double)(loss + slope * (r - norm)));
                    }
                    if (bound + weight * pow(r, m) < best * (1.0 - 2e-7))
                        fail_msg("seed %d m %g lambda %g r %g nodes %d: %.9g < %.9g", (int)seed, m,
                                 lambda, r, root.nodes, bound + weight * pow(r, m), best);
                }
            }
}

static void threshold_of_power_one(void **state)
{
    (void)state;
    const spectrum s = some_spectrum(5);
    double reach = 0.0;
    for (int64_t j = 0; j < s.count; j++) reach += s.d[j] * s.q[j];
    const double threshold = 2.0 * sqrt(reach) / 10.0;
    assert_true(isinf(minimum(&s, 10, threshold * (1.0 + 1e-12), 1.0, 0.0).c));
    const fenp_root below = minimum(&s, 10, threshold * (1.0 - 1e-6), 1.0, 0.0);
    assert_true(isfinite(below.c) && below.c > 1e4 * s.d[0]);
}

static void nothing_to_explain(void **state)
{
    (void)state;
    const spectrum zero = { 2, { 1.0, 0.5 }, { 0.0, 0.0 }, 0.0 };
    const spectrum outside = { 2, { 1.0, 0.0 }, { 0.0, 1.0 }, 0.5 };
    for (int k = 0; k < POWERS; k++) {
        if (powers[k] == 2.0) continue;
        assert_true(isinf(minimum(&zero, 3, 0.1, powers[k], 1e-9).c));
        assert_true(isinf(minimum(&outside, 3, 0.1, powers[k], 1e-9).c));
    }
}

/* y -> s y maps lambda -> s^(2-m) lambda; K -> k K maps c -> k c. Any scale, no overflow. */
static void scales(void **state)
{
    (void)state;
    for (int k = 0; k < POWERS; k++)
        for (int e = -120; e <= 120; e += 40) {
            const double m = powers[k], log_s = e * log(10.0);
            spectrum s = some_spectrum(6);
            const fenp_root plain = minimum(&s, 10, 0.01, m, 1e-9);
            const double lambda = exp(log(0.01) + (2.0 - m) * log_s);
            if (!(lambda > 1e-300 && lambda < 1e300)) continue;
            for (int64_t j = 0; j < s.count; j++) s.q[j] *= exp(2.0 * log_s);
            s.rest *= exp(2.0 * log_s);
            const fenp_root scaled = minimum(&s, 10, lambda, m, 1e-9);
            assert_true(plain.t == scaled.t ||
                        fabs(plain.t - scaled.t) < 1e-9 * fmax(1.0, 1.0 / fabs(m - 1.0)));
        }
}

/* lambda over 60 orders of magnitude: c moves with it, never NaN. */
static void extreme_lambdas(void **state)
{
    (void)state;
    for (int k = 0; k < POWERS; k++) {
        double before = -INFINITY;
        for (int e = -30; e <= 30; e++) {
            const spectrum s = some_spectrum(8);
            const fenp_root root = minimum(&s, 10, pow(10.0, e), powers[k], 1e-7);
            assert_false(isnan(root.c) || isnan(root.t) || isnan(root.lambda2));
            assert_true(root.t >= before || before - root.t < 1e-11); /* rounding at the floor */
            before = root.t;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_function_is_better),
        cmocka_unit_test(minima_are_stationary),
        cmocka_unit_test(one_root_from_random_starts),
        cmocka_unit_test(power_two_is_ridge_to_the_last_bit),
        cmocka_unit_test(several_minima),
        cmocka_unit_test(nodes_prove_the_minimum),
        cmocka_unit_test(threshold_of_power_one),
        cmocka_unit_test(nothing_to_explain),
        cmocka_unit_test(scales),
        cmocka_unit_test(extreme_lambdas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
