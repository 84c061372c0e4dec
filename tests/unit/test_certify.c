/* test_certify.c -- the certificate never promises too much
 *
 * Weak duality across models: the dual value of any vector is below the primal value of
 * any function, feasible or not before clipping, for a smooth and for a bounded loss. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/registry.h"
#include "story.h"

enum { N = 17, P = 2, MODELS = 12 };

/* |y - t|: z must be clipped into [-1, 1] and shifted inside the box. */
static double absolute_value(double y, double t, const double *par)
{
    (void)par;
    return fabs(y - t);
}
static double absolute_conj(double y, double slope, const double *par)
{
    (void)par;
    return fabs(slope) <= 1.0 ? slope * y : INFINITY;
}
static void absolute_domain(double y, const double *par, double *low, double *high)
{
    (void)y, (void)par;
    *low = -1.0, *high = 1.0;
}
static void absolute_slopes(double y, double t, const double *par, double *low, double *high)
{
    (void)par;
    *low = t > y ? 1.0 : -1.0;
    *high = t < y ? -1.0 : 1.0;
}
static const fen_loss absolute = { .name = "absolute",
                                   .value = absolute_value,
                                   .conj = absolute_conj,
                                   .domain = absolute_domain,
                                   .slopes = absolute_slopes };

static double draw(uint64_t stream, int64_t k)
{
    return 2.0 * fenp_uniform(3, stream, (uint64_t)k) - 1.0;
}

static fenp_sample *make_sample(double unit)
{
    fenp_sample *s = fenp_sample_new(N, P, 1);
    assert_non_null(s);
    double sum = 0.0;
    for (int64_t i = 0; i < N * P; i++) s->x[i] = draw(1, i);
    for (int64_t i = 0; i < N; i++) s->y[i] = unit * (5.0 + 3.0 * draw(2, i));
    for (int64_t i = 0; i < N; i++) sum += s->w[i] = 1.5 + draw(4, i);
    for (int64_t i = 0; i < N; i++) s->w[i] /= sum;
    return s;
}

static fen_model *make_model(const fenp_sample *s, const fen_loss *loss, int bias)
{
    fen_model *m = fenp_model_new(N, P, 1);
    assert_non_null(m);
    m->loss = loss;
    m->kernel = (fenp_kernel){ fenp_find_kernel("gaussian"), { 0.7, 0, 0 } };
    m->lambda = 0.05, m->power = 2.0, m->tolerance = 1e-6, m->bias = bias;
    m->coef_scale[0] = 1.0 / (2.0 * m->lambda);
    m->inputs = fenp_new(N * P, sizeof(double));
    assert_non_null(m->inputs);
    memcpy(m->inputs, s->x, sizeof(double) * N * P);
    return m;
}

static fen_certificate certify(const fen_model *m, const fenp_sample *s)
{
    fen_certificate out;
    fen_error err;
    assert_int_equal(fenp_certify(m, s, &out, NULL, &err), FEN_OK);
    return out;
}

static void test_weak_duality_across_models(void **unused)
{
    (void)unused;
    const fen_loss *losses[] = { fenp_find_loss("square"), &absolute };
    fenp_sample *s = make_sample(1.0);
    for (int which = 0; which < 4; which++) {
        double lowest_primal = INFINITY, highest_dual = -INFINITY;
        for (int k = 0; k < MODELS; k++) {
            fen_model *m = make_model(s, losses[which & 1], which >> 1);
            for (int64_t i = 0; i < N; i++) m->dual[i] = pow(10.0, k - 8) * draw(100 + k, i);
            m->offset[0] = m->bias ? 5.0 + k * 0.1 : 0.0;
            const fen_certificate c = certify(m, s);
            assert_true(c.gap >= 0.0);
            assert_true(isfinite(c.dual));
            lowest_primal = fmin(lowest_primal, c.primal);
            highest_dual = fmax(highest_dual, c.dual);
            fen_model_free(m);
        }
        assert_true(highest_dual <= lowest_primal);
        assert_true(highest_dual > -1e-9); /* z = 0 is feasible and gives 0 */
    }
    fenp_sample_free(s);
}

static void solve(fen_model *m, const fenp_sample *s)
{
    const fenp_solver *solver = fenp_find_solver("cholesky");
    const fenp_problem q = { .sample = s,
                             .loss = m->loss,
                             .kernel = m->kernel,
                             .lambda = m->lambda,
                             .power = 2.0,
                             .bias = m->bias,
                             .gap = 0.0 };
    const fenp_size size = { N, P, 1, m->bias, 2.0, 0 };
    fenp_solution out = { .dual = m->dual, .scale = m->coef_scale, .offset = m->offset };
    fenp_arena arena;
    fen_error err;
    void *state;
    assert_int_equal(fenp_arena_open(&arena, solver->bytes(&size), "test", &err), FEN_OK);
    assert_int_equal(solver->begin(&arena, &q, &state, NULL, &err), FEN_OK);
    assert_int_equal(solver->sweep(state, &q, &out, NULL, &err), FEN_OK);
    fenp_arena_close(&arena);
}

/* At the optimum the gap vanishes at every scale of y; a little away it does not. */
static void test_optimum_and_scale(void **unused)
{
    (void)unused;
    const double units[] = { 1.0, 1e8, 1e-8, 1e150, 1e-150 };
    for (int k = 0; k < 5; k++)
        for (int bias = 0; bias < 2; bias++) {
            fenp_sample *s = make_sample(units[k]);
            fen_model *m = make_model(s, fenp_find_loss("square"), bias);
            solve(m, s);
            const fen_certificate best = certify(m, s);
            assert_true(fabs(best.relative_gap) <= 1e-13);
            assert_int_equal(best.verdict, FEN_VERDICT_OPTIMAL);
            assert_true(best.stationarity <= 1e-12);
            assert_true(best.primal <= best.null);
            m->coef_scale[0] *= 1.01;
            assert_int_equal(certify(m, s).verdict, FEN_VERDICT_STALLED);
            m->coef_scale[0] /= 1.01;
            m->dual[3] *= 1.001;
            assert_true(certify(m, s).stationarity > 1e-6);
            fen_model_free(m);
            fenp_sample_free(s);
        }
}

/* The best constant: the weighted mean for squares, a weighted median for absolutes. */
static void test_null(void **unused)
{
    (void)unused;
    fenp_sample *s = make_sample(1.0);
    fen_model *m = make_model(s, fenp_find_loss("square"), 1);
    double mean = 0.0, square = 0.0, least = INFINITY;
    for (int64_t i = 0; i < N; i++) mean += s->w[i] * s->y[i];
    for (int64_t i = 0; i < N; i++) square += s->w[i] * (s->y[i] - mean) * (s->y[i] - mean);
    assert_true(fabs(certify(m, s).null - square) <= 1e-12 * square);
    m->loss = &absolute;
    for (int64_t k = 0; k < N; k++) {
        double sum = 0.0;
        for (int64_t i = 0; i < N; i++) sum += s->w[i] * fabs(s->y[i] - s->y[k]);
        least = fmin(least, sum);
    }
    assert_true(fabs(certify(m, s).null - least) <= 1e-12 * least);
    fen_model_free(m);
    fenp_sample_free(s);
}

/* Where there is no least value nothing can be certified. */
static void test_indefinite_kernel(void **unused)
{
    (void)unused;
    fenp_sample *s = fenp_sample_new(2, 2, 1);
    assert_non_null(s);
    const fen_kernel *precomputed = fenp_find_kernel("precomputed");
    fen_error err;
    memcpy(s->x, (double[]){ 1, 2, 2, 1 }, 4 * sizeof(double));
    assert_int_equal(fenp_check_kernel(precomputed, s, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "semidefinite"));
    memcpy(s->x, (double[]){ 1, 1, 1, 1 }, 4 * sizeof(double)); /* singular is fine */
    assert_int_equal(fenp_check_kernel(precomputed, s, &err), FEN_OK);
    fenp_sample_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weak_duality_across_models),
        cmocka_unit_test(test_optimum_and_scale),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_indefinite_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
