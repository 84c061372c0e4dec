/* test_power.c -- fits with any power of the norm: engines, certificates, laws, limiting cases
 *
 * Reference for the convex powers: the certificate itself (a gap of 1e-6 with code that shares
 * nothing with the solvers) and the agreement of engines that share nothing but the curve. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "model/model.h"

enum { N = 40, P = 3, MOST = 90, FRESH = 7 };

typedef struct rows {
    int64_t n, targets;
    double x[MOST * P], y[MOST * 2], w[MOST];
    int weighted;
} rows;

static double uniform(uint64_t stream, int64_t k) { return fenp_uniform(5, stream, (uint64_t)k); }

static rows some_rows(int64_t n, int64_t targets)
{
    rows r = { .n = n, .targets = targets };
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < P; j++) r.x[i * P + j] = 4.0 * uniform(1, i * P + j) - 2.0;
        for (int64_t t = 0; t < targets; t++)
            r.y[i * targets + t] = sin(2.0 * r.x[i * P + t]) + r.x[i * P] * r.x[i * P + 1] +
                                   0.3 * uniform(2, i * targets + t);
        r.w[i] = 0.5 + uniform(3, i);
    }
    return r;
}

static fen_table *table_of(const rows *r)
{
    fen_table *table = NULL;
    const fen_view x = { r->x, r->n, P, P }, y = { r->y, r->n, r->targets, r->targets };
    assert_int_equal(fen_table_copy(x, y, r->weighted ? r->w : NULL, &table, NULL), FEN_OK);
    return table;
}

static fen_options options_of(double power, double lambda, const char *engine)
{
    fen_options o = fen_options_default();
    o.power = fen_value(power);
    o.lambda = fen_value(lambda);
    o.gamma = fen_value(0.4);
    o.engine = engine;
    o.task = "regression"; /* even where there are two values only */
    return o;
}

static fen_model *fit(const rows *r, fen_options o)
{
    fen_table *table = table_of(r);
    fen_model *model = NULL;
    fen_error err = { 0 };
    char names[] = "y1,y2";
    if (r->targets > 1) o.target = names;
    if (r->weighted) o.weights = "weight";
    if (fen_fit(table, &o, NULL, &model, &err) != FEN_OK)
        fail_msg("power %g, %s: %s", o.power.at[0], o.engine, err.message);
    int holds = 0;
    fen_certificate now[2];
    assert_int_equal(fen_verify(model, table, &o, NULL, now, &holds, &err), FEN_OK);
    if (!holds)
        fail_msg("power %g, lambda %g, %s, n %d: gap %g, %s", o.power.at[0], o.lambda.at[0],
                 o.engine, (int)r->n, now[0].relative_gap, err.message);
    fen_table_free(table);
    return model;
}

static void predict(const fen_model *m, double *out)
{
    double x[FRESH * P];
    for (int k = 0; k < FRESH * P; k++) x[k] = 3.0 * uniform(4, k) - 1.5;
    const fen_view fresh = { x, FRESH, P, P };
    assert_int_equal(fen_predict(m, fresh, NULL, NULL, out, NULL), FEN_OK);
}

/* Largest difference of the predictions of two models; the first is released. */
static double apart(fen_model *a, const fen_model *b)
{
    double one[FRESH * 2], two[FRESH * 2], worst = 0.0;
    predict(a, one);
    predict(b, two);
    for (int64_t k = 0; k < FRESH * a->targets; k++) worst = fmax(worst, fabs(one[k] - two[k]));
    fen_model_free(a);
    return worst;
}

static const double powers[] = { 0.01, 0.5, 0.9, 1.0, 1.001, 1.5, 2.0, 3.0, 20.0 };
enum { POWERS = sizeof powers / sizeof *powers };

static void engines_agree(void **state)
{
    (void)state;
    static const char *const engines[] = { "cholesky", "lanczos", "auto" };
    for (int k = 0; k < POWERS; k++)
        for (int kind = 0; kind < 8; kind++) {
            rows r = some_rows(N, kind & 4 ? 2 : 1);
            r.weighted = kind & 1;
            fen_options o = options_of(powers[k], 0.01, "spectral");
            o.bias = kind >> 1 & 1;
            fen_model *spectral = fit(&r, o);
            for (int e = 0; e < 3; e++) {
                o.engine = engines[e];
                const double difference = apart(fit(&r, o), spectral);
                if (!(difference < 1e-8))
                    fail_msg("power %g kind %d: %s is %g from spectral", powers[k], kind, o.engine,
                             difference);
            }
            fen_model_free(spectral);
        }
}

/* Random kernels, sizes, weights, lambda over 10 and power over 2 orders of magnitude: certified
 * (fit verifies), and the dual vector belongs to the residual. Smaller pairs interpolate: an
 * objective of 1e-7 |y|^2 cannot be told to six digits. */
static void random_problems_are_certified(void **state)
{
    (void)state;
    static const char *const kernels[] = { "gaussian", "laplace", "matern32", "polynomial",
                                           "linear" };
    for (int64_t k = 0; k < 300; k++) {
        rows r = some_rows(4 + (int64_t)(36.0 * uniform(11, k)), 1);
        const double power = exp(log(0.05) + log(400.0) * uniform(12, k));
        const double lambda = exp(log(1e-5) + log(1e10) * uniform(13, k));
        fen_options o = options_of(power, lambda, "auto");
        r.weighted = (int)(k % 2);
        o.bias = (int32_t)(k / 2 % 2);
        o.kernel = kernels[k % 5];
        fen_model *m = fit(&r, o);
        const fen_certificate c = m->certificate[0];
        /* below, residuals are differences of equal numbers, and c = u / (2 lambda2) magnifies
         * the rounding errors of u */
        if (c.mean_loss > 1e-10 * c.null && m->coef_scale[0] < 1e9)
            assert_true(c.stationarity < 1e-6);
        assert_true(c.primal <= c.null * (1.0 + 1e-12));
        fen_model_free(m);
    }
}

/* p < n: weights from X'X; else from the kernel matrix. */
static void linear_models_agree(void **state)
{
    (void)state;
    static const char *const engines[] = { "cholesky", "spectral", "lanczos" };
    for (int k = 0; k < POWERS; k++)
        for (int bias = 0; bias < 2; bias++) {
            rows r = some_rows(N, 1);
            /* a large power needs a large lambda to be away from least squares, where the
             * null space of X X' is divided by c */
            fen_options o = options_of(powers[k], powers[k] > 4.0 ? 1e8 : 0.05, "primal");
            o.kernel = "linear";
            o.bias = bias;
            fen_model *primal = fit(&r, o);
            for (int e = powers[k] < 1.0; e < 3; e++) { /* X X' is singular: no Cholesky */
                o.engine = engines[e];
                const double difference = apart(fit(&r, o), primal);
                if (!(difference < (e == 0 ? 1e-7 : 1e-8))) /* N^2 by Cholesky: cholesky.c */
                    fail_msg("power %g: %s is %g from primal", powers[k], o.engine, difference);
            }
            fen_model_free(primal);
        }
}

static void power_two_is_ridge(void **state)
{
    (void)state;
    static const char *const engines[] = { "cholesky", "spectral", "auto" };
    const rows r = some_rows(N, 1);
    for (int e = 0; e < 3; e++) {
        fen_options o = options_of(2.0, 0.01, engines[e]), plain = o;
        plain.power = fen_options_default().power;
        fen_model *a = fit(&r, o), *b = fit(&r, plain);
        assert_memory_equal(a->dual, b->dual, N * sizeof(double));
        assert_true(a->coef_scale[0] == 1.0 / (2.0 * 0.01) && a->offset[0] == b->offset[0]);
        fen_model_free(a);
        fen_model_free(b);
    }
}

/* y -> s y with lambda -> s^(2-m) lambda multiplies the function by s; no verdict changes. */
static void targets_scale(void **state)
{
    (void)state;
    for (int k = 0; k < POWERS; k++)
        for (int e = -40; e <= 40; e += 20) {
            const double s = pow(10.0, e), lambda = 0.01 * pow(s, 2.0 - powers[k]);
            if (!(lambda > 1e-290 && lambda < 1e290)) continue;
            rows r = some_rows(N, 1);
            fen_model *plain = fit(&r, options_of(powers[k], 0.01, "spectral"));
            for (int64_t i = 0; i < N; i++) r.y[i] *= s;
            fen_model *scaled = fit(&r, options_of(powers[k], lambda, "spectral"));
            double one[FRESH], two[FRESH];
            predict(plain, one);
            predict(scaled, two);
            for (int i = 0; i < FRESH; i++)
                assert_true(fabs(two[i] / s - one[i]) < 1e-8 * (1.0 + fabs(one[i])));
            assert_int_equal(plain->certificate[0].verdict, scaled->certificate[0].verdict);
            fen_model_free(plain);
            fen_model_free(scaled);
        }
}

/* A row of weight 2 is the row twice (preparation included). */
static void weights_repeat_rows(void **state)
{
    (void)state;
    for (int k = 0; k < POWERS; k++) {
        rows once = some_rows(N, 1), twice = once;
        once.weighted = 1;
        for (int64_t i = 0; i < N; i++) {
            once.w[i] = i % 3 ? 1.0 : 2.0;
            if (i % 3) continue;
            memcpy(twice.x + twice.n * P, twice.x + i * P, P * sizeof(double));
            twice.y[twice.n++] = twice.y[i];
        }
        const fen_options o = options_of(powers[k], 0.01, "spectral");
        fen_model *repeated = fit(&twice, o);
        assert_true(apart(fit(&once, o), repeated) < 1e-8);
        fen_model_free(repeated);
    }
}

/* From lambda = 2 sqrt(y'Ky)/n on, the zero function; just below, a tiny one. */
static void power_one_has_a_threshold(void **state)
{
    (void)state;
    const rows r = some_rows(N, 1);
    for (int bias = 0; bias < 2; bias++) {
        fen_options o = options_of(1.0, 1e9, "spectral");
        o.bias = bias;
        fen_model *zero = fit(&r, o);
        const fen_certificate c = zero->certificate[0];
        assert_true(c.norm == 0.0 && zero->coef_scale[0] == 0.0);
        assert_true(fabs(c.primal - c.null) <= 1e-14 * c.null);
        assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
        /* ||g|| of the residual is the threshold: read off the gap's own vector */
        double square = 0.0;
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++)
                square +=
                    zero->dual[i] * zero->dual[j] *
                    fenp_kernel_pair(&zero->kernel, zero->inputs + i * P, zero->inputs + j * P, P);
        const double threshold = sqrt(square);
        static const char *const engines[] = { "spectral", "cholesky", "lanczos" };
        for (int e = 0; e < 3; e++) {
            o.engine = engines[e];
            o.lambda = fen_value(threshold * (1.0 + 1e-9));
            fen_model *above = fit(&r, o);
            assert_true(above->certificate[0].norm == 0.0);
            fen_model_free(above);
            o.lambda = fen_value(threshold * 0.999);
            fen_model *below = fit(&r, o);
            assert_true(below->certificate[0].norm > 0.0);
            fen_model_free(below);
        }
        fen_model_free(zero);
    }
}

/* y = 0, constant y, duplicated rows, two and three rows: certified, nothing is NaN. */
static void limiting_cases(void **state)
{
    (void)state;
    static const char *const engines[] = { "spectral", "lanczos", "auto" };
    static const double lambdas[] = { 1e-8, 0.1, 1e6 };
    for (int k = 0; k < POWERS; k++)
        for (int which = 0; which < 5; which++)
            for (int e = 0; e < 3; e++)
                for (int l = 0; l < 3; l++) {
                    /* an objective of 1e-8 |y|^2 is below what rounding errors let prove */
                    if (l == 0 && powers[k] < 1.0) continue;
                    rows r = some_rows(which == 3 ? 2 : which == 4 ? 3 : N, 1);
                    for (int64_t i = 0; i < r.n; i++) {
                        if (which == 0) r.y[i] = 0.0;
                        if (which == 1) r.y[i] = 3.25;
                        if (which == 2 && i % 2)
                            memcpy(r.x + i * P, r.x + (i - 1) * P, P * sizeof(double));
                    }
                    fen_model *m = fit(&r, options_of(powers[k], lambdas[l], engines[e]));
                    double out[FRESH];
                    predict(m, out);
                    for (int i = 0; i < FRESH; i++) assert_true(isfinite(out[i]));
                    fen_model_free(m);
                }
}

/* Small targets and a large power: c lies far below the rounding errors of a singular K, and
 * what duplicated rows leave unexplained must not come back through them as noise. */
static void targets_too_small_for_a_large_power(void **state)
{
    (void)state;
    static const double lambdas[] = { 1e-12, 1e-6, 1e-3 };
    for (int duplicated = 0; duplicated < 2; duplicated++)
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++) {
                const double power = k == 0 ? 10.0 : k == 1 ? 20.0 : 100.0;
                rows r = some_rows(12, 1);
                for (int64_t i = 0; i < r.n; i++) {
                    r.y[i] *= 0.02;
                    if (duplicated && i % 2)
                        memcpy(r.x + i * P, r.x + (i - 1) * P, P * sizeof(double));
                }
                fen_model *m = fit(&r, options_of(power, lambdas[l], "spectral"));
                const fen_certificate c = m->certificate[0];
                assert_true(c.norm > 0.0 && isfinite(m->coef_scale[0]));
                assert_true(c.primal < (duplicated ? 1.0 : 1e-4) * c.null);
                fen_model_free(m);
            }
}

/* A power below 1 carries the proof of its global minimum; without it nothing is proved. */
static void tangents_carry_the_proof(void **state)
{
    (void)state;
    const rows r = some_rows(N, 1);
    const fen_options o = options_of(0.5, 0.01, "spectral");
    fen_model *m = fit(&r, o);
    assert_true(m->tangent_count > 1 && m->tangent_count <= 64);
    fen_table *table = table_of(&r);
    for (int64_t i = 0; i < m->tangent_count * N; i++) m->tangents[i] *= 0.9;
    int holds = 1;
    fen_certificate now;
    fen_error err;
    assert_int_equal(fen_verify(m, table, &o, NULL, &now, &holds, &err), FEN_OK);
    assert_false(holds);
    assert_true(now.dual < m->certificate[0].dual);
    fen_table_free(table);
    fen_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems_are_certified),
        cmocka_unit_test(engines_agree),
        cmocka_unit_test(linear_models_agree),
        cmocka_unit_test(power_two_is_ridge),
        cmocka_unit_test(targets_scale),
        cmocka_unit_test(weights_repeat_rows),
        cmocka_unit_test(power_one_has_a_threshold),
        cmocka_unit_test(limiting_cases),
        cmocka_unit_test(targets_too_small_for_a_large_power),
        cmocka_unit_test(tangents_carry_the_proof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
