/* test_dualities.c -- two facts about duals, each against a second method
 *
 * Hard-tube regression is sparse approximation: with c = u / (2 lambda), the dual of
 *     min lambda ||f||^2  such that |y - f| <= e
 * is, up to the factor 2 lambda, min 1/2 c'Kc - y'c + e |c|_1. The reference solves that one by
 * coordinate descent, one soft threshold a step.
 * A bias is one constraint: the duals of the support vector machine with and without it are
 *     max sum s_i - u'Ku / (4 lambda),  0 <= s_i = y_i u_i <= w_i     [and sum u_i = 0].
 * The reference is one projected gradient method with a switch for the constraint. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "model/model.h"

enum { N = 40, P = 2 };
static const double GAMMA = 1.5;

/* cmocka's own compares floats */
static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.12g is not %.12g", a, b);
}

typedef struct data {
    double x[N * P], y[N], k[N][N];
} data;

static void make_data(data *d, int signs)
{
    for (int i = 0; i < N * P; i++) d->x[i] = 6.0 * fenp_uniform(21, 1, (uint64_t)i) - 3.0;
    for (int i = 0; i < N; i++) {
        const double f = sin(d->x[i * P]) + 0.5 * d->x[i * P + 1] + 0.3;
        const double y = f + 0.6 * fenp_normal(21, 2, (uint64_t)i);
        d->y[i] = signs ? (y > 0.0 ? 1.0 : -1.0) : y;
        for (int j = 0; j <= i; j++) {
            const double a = d->x[i * P] - d->x[j * P], b = d->x[i * P + 1] - d->x[j * P + 1];
            d->k[i][j] = d->k[j][i] = exp(-GAMMA * (a * a + b * b));
        }
    }
}

/* The model of the options, its dual vector spread over all rows. */
static fen_certificate fit(const data *d, const char *loss, double lambda, int bias, double *u,
                           double *scale)
{
    fen_options o = fen_options_default();
    fen_error err = { .message = "" };
    fen_table *table = NULL;
    fen_model *m = NULL;
    o.loss = loss, o.gamma = fen_value(GAMMA), o.lambda = fen_value(lambda);
    o.bias = bias, o.scale = "none", o.tolerance = 1e-10;
    assert_int_equal(fen_table_copy((fen_view){ d->x, N, P, P }, (fen_view){ d->y, N, 1, 1 }, NULL,
                                    &table, &err),
                     FEN_OK);
    if (fen_fit(table, &o, NULL, &m, &err) != FEN_OK) fail_msg("%s", err.message);
    const fen_certificate c = fen_model_certificate(m, 0);
    assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
    memset(u, 0, N * sizeof *u);
    for (int64_t i = 0; i < m->kept; i++) u[m->support ? m->support[i] : i] = m->dual[i];
    *scale = m->coef_scale[0];
    fen_model_free(m);
    fen_table_free(table);
    return c;
}

/* ---- tube and sparse approximation ----------------------------------------------------------- */

static double quadratic(const data *d, const double *c)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += c[i] * d->k[i][j] * c[j];
    return sum;
}

static void approximate(const data *d, double e, double *c)
{
    double moved = 1.0;
    memset(c, 0, N * sizeof *c);
    for (int pass = 0; pass < 100000 && moved > 1e-14; pass++) {
        moved = 0.0;
        for (int i = 0; i < N; i++) {
            double rest = d->y[i];
            for (int j = 0; j < N; j++) rest -= j == i ? 0.0 : d->k[i][j] * c[j];
            const double next = copysign(fmax(fabs(rest) - e, 0.0), rest) / d->k[i][i];
            moved = fmax(moved, fabs(next - c[i]));
            c[i] = next;
        }
    }
    assert_true(moved <= 1e-14);
}

static void tube_and_sparse_approximation_have_the_same_coefficients(void **state)
{
    (void)state;
    const double widths[] = { 0.05, 0.2, 0.7 }, lambdas[] = { 0.003, 0.5 };
    const char *losses[] = { "tube:0.05", "tube:0.2", "tube:0.7" };
    data d;
    make_data(&d, 0);
    for (int e = 0; e < 3; e++) {
        double sparse[N], u[N], scale, sum = 0.0, absolute = 0.0;
        int used = 0;
        approximate(&d, widths[e], sparse);
        for (int i = 0; i < N; i++) {
            used += sparse[i] != 0.0;
            sum += d.y[i] * sparse[i], absolute += fabs(sparse[i]);
        }
        assert_in_range(used, 2, N);
        const double square = quadratic(&d, sparse);
        const double least = 0.5 * square - sum + widths[e] * absolute;
        for (int l = 0; l < 2; l++) { /* the tube is hard: lambda is a unit and no more */
            const fen_certificate c = fit(&d, losses[e], lambdas[l], 0, u, &scale);
            for (int i = 0; i < N; i++) assert_near(scale * u[i], sparse[i], 1e-4);
            assert_near(scale, 1.0 / (2.0 * lambdas[l]), 1e-12 * scale);
            assert_near(c.norm * c.norm, square, 1e-6 * square);
            /* strong duality: lambda ||f||^2 = -2 lambda (least value of the other problem) */
            assert_near(c.primal, -2.0 * lambdas[l] * least, 1e-6 * c.primal);
        }
    }
}

/* Backwards: the sparse solution is feasible for the tube, at its edge where c is not 0. */
static void sparse_solution_satisfies_the_conditions_of_the_tube(void **state)
{
    (void)state;
    data d;
    double c[N];
    make_data(&d, 0);
    approximate(&d, 0.2, c);
    for (int i = 0; i < N; i++) {
        double r = d.y[i];
        for (int j = 0; j < N; j++) r -= d.k[i][j] * c[j];
        assert_true(fabs(r) <= 0.2 + 1e-9);
        if (c[i] != 0.0) assert_near(r, copysign(0.2, c[i]), 1e-9);
    }
}

/* ---- a bias is one constraint ---------------------------------------------------------------- */

/* Nearest point with 0 <= s_i <= w; constrained: and sum y_i s_i = 0, by bisection in the one
 * multiplier of that constraint. */
static void project(const data *d, int constrained, double *s)
{
    const double w = 1.0 / N;
    double low = -10.0, high = 10.0;
    for (int step = 0; constrained && step < 200; step++) {
        const double t = 0.5 * (low + high);
        double sum = 0.0;
        for (int i = 0; i < N; i++) sum += d->y[i] * fmin(fmax(s[i] - t * d->y[i], 0.0), w);
        *(sum > 0.0 ? &low : &high) = t;
    }
    const double t = constrained ? 0.5 * (low + high) : 0.0;
    for (int i = 0; i < N; i++) s[i] = fmin(fmax(s[i] - t * d->y[i], 0.0), w);
}

/* Accelerated projected gradient; u = y s. Returns the dual value. */
static double ascend(const data *d, double lambda, int constrained, double *u)
{
    double s[N] = { 0 }, before[N] = { 0 }, ahead[N] = { 0 }, theta = 1.0, value = 0.0, trace = N;
    const double step = 2.0 * lambda / trace; /* below 1 / largest eigenvalue of K/(2 lambda) */
    for (int iteration = 0; iteration < 40000; iteration++) {
        for (int i = 0; i < N; i++) {
            double slope = 1.0;
            for (int j = 0; j < N; j++)
                slope -= d->y[i] * d->k[i][j] * d->y[j] * ahead[j] / (2.0 * lambda);
            s[i] = ahead[i] + step * slope;
        }
        project(d, constrained, s);
        const double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * theta * theta));
        for (int i = 0; i < N; i++) {
            ahead[i] = s[i] + (theta - 1.0) / next * (s[i] - before[i]);
            before[i] = s[i];
        }
        theta = next;
        if (iteration % 500 == 499) theta = 1.0; /* restart */
    }
    for (int i = 0; i < N; i++) u[i] = d->y[i] * s[i], value += s[i];
    return value - quadratic(d, u) / (4.0 * lambda);
}

static void a_bias_adds_the_constraint_that_u_sums_to_zero(void **state)
{
    (void)state;
    const double lambdas[] = { 0.01, 0.05 };
    data d;
    make_data(&d, 1);
    for (int l = 0; l < 2; l++) {
        double value[2];
        for (int bias = 0; bias <= 1; bias++) {
            double u[N], expected[N], scale, sum = 0.0;
            const fen_certificate c = fit(&d, "hinge", lambdas[l], bias, u, &scale);
            value[bias] = ascend(&d, lambdas[l], bias, expected);
            for (int i = 0; i < N; i++) {
                assert_near(u[i], expected[i], 1e-3 / N); /* of the box */
                sum += u[i];
            }
            assert_near(c.primal, value[bias], 1e-8 * value[bias]);
            if (bias)
                assert_near(sum, 0.0, 1e-12);
            else
                assert_true(fabs(sum) > 1e-3); /* the constraint is not met by itself */
        }
        assert_true(value[1] < value[0]); /* a constraint in the dual, a freedom in the primal */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tube_and_sparse_approximation_have_the_same_coefficients),
        cmocka_unit_test(sparse_solution_satisfies_the_conditions_of_the_tube),
        cmocka_unit_test(a_bias_adds_the_constraint_that_u_sums_to_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
