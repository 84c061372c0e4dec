/* test_certify.c -- the certificate never promises too much, and all there is at an optimum
 *
 * Every loss of the registry, with and without bias, every power, fixed and free parameters,
 * rows of weight 0:
 *   weak duality across models: the dual value of any vector is below the primal value of
 *   any function, feasible or not before it was moved;
 *   optima by construction: scores t and slopes -z are made a pair by the loss's own prox,
 *   then labels (losses of y - t) or the kernel (losses of signs) are chosen such that f =
 *   sum u k / (2 lambda2) has these scores. No solver is needed, and the gap must vanish. */
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

enum { N = 6, P = 2, MODELS = 40 };

static double draw(uint64_t stream, int64_t k)
{
    return 2.0 * fenp_uniform(3, stream, (uint64_t)k) - 1.0;
}

static fenp_sample *make_sample(int64_t p)
{
    fenp_sample *s = fenp_sample_new(N, p, 1);
    assert_non_null(s);
    double sum = 0.0;
    for (int64_t i = 0; i < N * p; i++) s->x[i] = draw(1, i);
    for (int64_t i = 0; i < N; i++) s->y[i] = 5.0 + 3.0 * draw(2, i);
    for (int64_t i = 0; i < N; i++) sum += s->w[i] = 1.5 + draw(4, i);
    for (int64_t i = 0; i < N; i++) s->w[i] /= sum;
    return s;
}

static fen_model *make_model(const fenp_sample *s, const fen_loss *loss, double par, int bias)
{
    fen_model *m = fenp_model_new(N, s->p, 1);
    assert_non_null(m);
    m->loss = loss;
    m->output[0].par = par;
    m->kernel = (fenp_kernel){ fenp_find_kernel("gaussian"), { 0.7, 0, 0, 0.0 } };
    m->lambda = 0.05, m->power = 2.0, m->tolerance = 1e-6, m->bias = bias;
    m->coef_scale[0] = 1.0 / (2.0 * m->lambda);
    return m;
}

static fen_certificate certify(const fen_model *m, const fenp_sample *s)
{
    fen_certificate out;
    fen_error err;
    assert_int_equal(fenp_certify(m, s, &out, NULL, &err), FEN_OK);
    return out;
}

/* ---- weak duality ------------------------------------------------------------------------ */

/* Signs of both kinds, and one row that has nothing to do with the pair. */
static void make_signs(fenp_sample *s)
{
    const double signs[N] = { 1, -1, 1, 0, -1, 1 };
    memcpy(s->y, signs, sizeof signs);
}

/* b near the labels, wherever that is; the tube is wide enough for many. */
static void random_model(fen_model *m, const fenp_sample *s, int k)
{
    const int signs = m->loss->labels == FEN_SIGNS;
    for (int64_t i = 0; i < N; i++) m->dual[i] = pow(10.0, k % 7 - 5) * draw(100 + k, i);
    m->offset[0] = m->bias ? (signs ? 0.0 : 5.0) + draw(300, k) : 0.0;
    if (m->nu > 0.0) m->output[0].par = 2.0 * fabs(draw(301, k));
    (void)s;
}

static void check_weak_duality(const fen_loss *loss, int bias, double nu, double power)
{
    double lowest_primal = INFINITY, highest_dual = -INFINITY;
    fenp_sample *s = make_sample(P);
    if (loss->labels == FEN_SIGNS) make_signs(s);
    for (int k = 0; k < MODELS; k++) {
        fen_model *m = make_model(s, loss, loss->parameter.initial, bias);
        m->nu = nu, m->power = power;
        random_model(m, s, k);
        const fen_certificate c = certify(m, s);
        assert_true(c.gap >= 0.0);
        assert_true(isfinite(c.dual));
        if (power == 2.0 && nu == 0.0) assert_true(c.dual > -1e-9); /* z = 0 is feasible */
        lowest_primal = fmin(lowest_primal, c.primal);
        highest_dual = fmax(highest_dual, c.dual);
        fen_model_free(m);
    }
    assert_true(highest_dual <= lowest_primal);
    fenp_sample_free(s);
}

static void test_weak_duality_across_models(void **unused)
{
    (void)unused;
    const double powers[] = { 1.0, 1.3, 2.0, 3.5 };
    for (int l = 0; fenp_losses[l]; l++)
        for (int bias = 0; bias < 2; bias++) {
            for (int k = 0; k < 4; k++) check_weak_duality(fenp_losses[l], bias, 0.0, powers[k]);
            if (fenp_losses[l]->price) check_weak_duality(fenp_losses[l], bias, 0.6, 2.0);
        }
}

/* ---- verdicts ---------------------------------------------------------------------------- */

static fen_verdict verdict_of(double primal, double dual, double loss, double null, int drowned)
{
    fen_certificate c = { .primal = primal, .dual = dual, .mean_loss = loss, .null = null };
    fenp_certificate_close(&c, fenp_gap_unit(&c, 0.0), 1e-6, drowned);
    return c.verdict;
}

/* Whoever drowns in rounding errors has not met the rows by that. */
static void test_verdicts(void **unused)
{
    (void)unused;
    assert_int_equal(verdict_of(1.0, 1.0, 0.9, 2.0, 0), FEN_VERDICT_OPTIMAL);
    assert_int_equal(verdict_of(1.0, 1.0, 0.9, 2.0, 1), FEN_VERDICT_OPTIMAL);
    assert_int_equal(verdict_of(1.0, 0.5, 0.9, 2.0, 0), FEN_VERDICT_STALLED);
    assert_int_equal(verdict_of(1.0, 0.5, 0.9, 2.0, 1), FEN_VERDICT_INTERPOLATION);
    assert_int_equal(verdict_of(1e-12, 1e-12, 1e-12, 2.0, 1), FEN_VERDICT_INTERPOLATION);
    assert_int_equal(verdict_of(9.0, 0.5, 1e-7, 2.0, 1), FEN_VERDICT_INTERPOLATION);
    assert_int_equal(verdict_of(9.0, 0.5, 8.9, 2.0, 1), FEN_VERDICT_STALLED);
}

/* A margin of rows far away: what is common to them is no unit of their gaps. */
static void test_unit_of_far_rows(void **unused)
{
    (void)unused;
    double digits[2];
    fen_error err;
    for (int far = 0; far < 2; far++) {
        fenp_sample *s = make_sample(P);
        fen_model *m = make_model(s, fenp_find_loss("hinge"), 1.0, 1);
        m->kernel.table = fenp_find_kernel("linear"), m->nu = 0.3;
        make_signs(s);
        for (int64_t i = 0; far && i < N * P; i++) s->x[i] += 65536.0;
        assert_int_equal(fenp_certify_digits(m, s, &digits[far], &err), FEN_OK);
        fen_model_free(m);
        fenp_sample_free(s);
    }
    assert_true(digits[0] > 0.0 && fabs(digits[1] - digits[0]) <= 1e-9 * digits[0]);
}

/* ---- optima by construction -------------------------------------------------------------- */

typedef struct pair {
    double t[N], z[N];
} pair; /* -z_i is a slope of the loss at t_i */

static double balance(const fen_loss *loss, const fenp_sample *s, double par, double shift,
                      pair *out)
{
    double sum = 0.0;
    for (int64_t i = 0; i < N; i++) {
        const double y = loss->residual ? 0.0 : s->y[i];
        const double at = 3.0 * draw(7, i) + (loss->residual ? 0.0 : 0.8 * y) - shift;
        out->t[i] = loss->prox(y, at, 1.0, &par);
        out->z[i] = out->t[i] - at;
        sum += s->w[i] * out->z[i];
    }
    return sum;
}

/* With bias the points that the proxes start from are shifted until sum w z = 0. */
static pair make_pair(const fen_loss *loss, const fenp_sample *s, double par, int bias)
{
    double low = -50.0, high = 50.0;
    pair p;
    balance(loss, s, par, 0.0, &p);
    for (int step = 0; bias && step < 200; step++) {
        const double middle = 0.5 * low + 0.5 * high;
        if (balance(loss, s, par, middle, &p) < 0.0)
            low = middle;
        else
            high = middle;
    }
    return p;
}

/* The free parameter's price is what makes this pair the best. */
static double nu_of(const fenp_sample *s, const pair *p)
{
    double sum = 0.0;
    for (int64_t i = 0; i < N; i++) sum += s->w[i] * fabs(p->z[i]);
    return sum;
}

/* K = scores scores' / (c . scores): f = K c has these scores */
static void rank_one_kernel(fen_model *m, fenp_sample *s, const pair *p)
{
    double f[N], product = 0.0;
    for (int64_t i = 0; i < N; i++) {
        f[i] = p->t[i] - m->offset[0];
        product += m->coef_scale[0] * m->dual[i] * f[i];
    }
    assert_true(product > 0.0);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) s->x[i * N + j] = f[i] * f[j] / product;
    m->kernel.table = fenp_find_kernel("precomputed");
}

static void labels_for(const fen_model *m, fenp_sample *s, const pair *p)
{
    for (int64_t i = 0; i < N; i++) {
        double f = 0.0;
        for (int64_t j = 0; j < N; j++)
            f += m->coef_scale[0] * m->dual[j] *
                 fenp_kernel_pair(&m->kernel, s->x + i * s->p, s->x + j * s->p, s->p);
        s->y[i] = f + m->offset[0] - p->t[i];
    }
}

/* The objective whose optimum the pair is, solved. */
static fen_model *make_optimum(const fen_loss *loss, int bias, int priced, double power,
                               fenp_sample *s)
{
    const double par = loss->parameter.name ? 0.7 * loss->parameter.initial + 0.1 : 0.0;
    if (!loss->residual)
        for (int64_t i = 0; i < N; i++) s->y[i] = i % 2 ? 1.0 : -1.0;
    const pair p = make_pair(loss, s, par, bias);
    fen_model *m = make_model(s, loss, par, bias);
    const double lambda2 = m->lambda;
    m->offset[0] = bias ? 0.3 : 0.0;
    for (int64_t i = 0; i < N; i++) m->dual[i] = s->w[i] * p.z[i];
    if (priced) m->nu = nu_of(s, &p);
    if (loss->residual)
        labels_for(m, s, &p);
    else
        rank_one_kernel(m, s, &p);
    m->power = power;
    m->lambda = 2.0 * lambda2 / power * pow(certify(m, s).norm, 2.0 - power);
    return m;
}

static void check_optimum(const fen_loss *loss, int bias, int priced, double power)
{
    fenp_sample *s = make_sample(loss->residual ? P : N);
    fen_model *m = make_optimum(loss, bias, priced, power, s);
    const fen_certificate best = certify(m, s);
    assert_true(fabs(best.relative_gap) <= 1e-11);
    assert_int_equal(best.verdict, FEN_VERDICT_OPTIMAL);
    assert_true(best.stationarity <= 1e-9);
    assert_true(best.primal <= best.null + 1e-12 * fabs(best.null));
    for (int k = 0; k < 60; k++) { /* nobody is better, whatever is changed a little or much */
        const double size = pow(10.0, -(k % 6));
        double kept[N];
        memcpy(kept, m->dual, sizeof kept);
        const double b = m->offset[0], par = m->output[0].par;
        for (int64_t i = 0; i < N; i++) m->dual[i] += size * s->w[i] * draw(500 + k, i);
        if (bias) m->offset[0] += size * draw(600, k);
        if (priced) m->output[0].par = fabs(par + size * draw(601, k));
        const fen_certificate other = certify(m, s);
        assert_true(other.primal >= best.dual - 1e-12 * fabs(best.dual));
        assert_true(other.dual <= best.primal + 1e-12 * fabs(best.primal));
        assert_true(other.stationarity > best.stationarity);
        memcpy(m->dual, kept, sizeof kept);
        m->offset[0] = b, m->output[0].par = par;
    }
    fen_model_free(m);
    fenp_sample_free(s);
}

static void test_optima(void **unused)
{
    (void)unused;
    const double powers[] = { 1.0, 1.3, 2.0, 3.5 };
    for (int l = 0; fenp_losses[l]; l++)
        for (int bias = 0; bias < 2; bias++) {
            for (int k = 0; k < 4; k++) check_optimum(fenp_losses[l], bias, 0, powers[k]);
            if (fenp_losses[l]->price) check_optimum(fenp_losses[l], bias, 1, 2.0);
        }
}

/* Rows of weight 0 and coefficients that are not stored change nothing. */
static void test_rows_without_weight(void **unused)
{
    (void)unused;
    const fen_loss *hinge = fenp_find_loss("hinge");
    fenp_sample *s = make_sample(P), *less = make_sample(P);
    make_signs(s);
    fen_model *m = make_model(s, hinge, 1.0, 1), *packed = make_model(s, hinge, 1.0, 1);
    random_model(m, s, 3);
    m->dual[3] = m->dual[4] = 0.0;
    const fen_certificate all = certify(m, s);
    memcpy(less->y, s->y, sizeof(double) * N);
    less->x[3 * P] = 1e3; /* the row that the pair does not concern */
    const fen_certificate moved = certify(m, less);
    assert_true(all.primal == moved.primal && all.dual == moved.dual && all.null == moved.null);
    const int64_t support[] = { 0, 1, 2, 5 };
    packed->kept = 4;
    packed->support = fenp_new(4, sizeof(int64_t));
    assert_non_null(packed->support);
    memcpy(packed->support, support, sizeof support);
    for (int64_t k = 0; k < 4; k++) packed->dual[k] = m->dual[support[k]];
    packed->offset[0] = m->offset[0];
    const fen_certificate kept = certify(packed, s);
    assert_true(all.primal == kept.primal && all.dual == kept.dual);
    fen_model_free(m);
    fen_model_free(packed);
    fenp_sample_free(s);
    fenp_sample_free(less);
}

/* More nu than the smaller class can pay has no least objective, and no bound. */
static void test_nu_too_large(void **unused)
{
    (void)unused;
    fenp_sample *s = make_sample(P);
    for (int64_t i = 0; i < N; i++) s->y[i] = i ? 1.0 : -1.0;
    fen_model *m = make_model(s, fenp_find_loss("hinge"), 1.0, 1);
    m->nu = 2.0 * s->w[0] * 0.999;
    assert_true(isfinite(certify(m, s).dual));
    m->nu = 2.0 * s->w[0] * 1.001;
    assert_true(certify(m, s).dual == -INFINITY);
    fen_model_free(m);
    fenp_sample_free(s);
}

/* Inside the tube to 1e-9 counts as inside, beyond it does not. */
static void test_tube_slack(void **unused)
{
    (void)unused;
    fenp_sample *s = make_sample(P);
    fen_model *m = make_model(s, fenp_find_loss("tube"), 0.5, 1);
    for (int64_t i = 0; i < N; i++) s->y[i] = i % 2 ? 1.5 : 2.5;
    m->offset[0] = 2.0 + 0.9e-9 * 2.0; /* 1e-9 (0.5 + 1.5) */
    assert_true(certify(m, s).primal == 0.0);
    m->offset[0] = 2.0 + 4e-9;
    assert_true(certify(m, s).primal == INFINITY);
    assert_int_equal(certify(m, s).verdict, FEN_VERDICT_STALLED);
    fen_model_free(m);
    fenp_sample_free(s);
}

/* ---- the square loss, by its solver, at any scale ---------------------------------------- */

static void solve(fen_model *m, const fenp_sample *s)
{
    const fenp_solver *solver = fenp_find_solver("cholesky");
    const fenp_problem q = { .sample = s,
                             .loss = m->loss,
                             .par = &m->output[0].par,
                             .kernel = m->kernel,
                             .lambda = m->lambda,
                             .power = 2.0,
                             .bias = m->bias,
                             .gap = 0.0 };
    const fenp_size size = { .n = N, .p = P, .targets = 1, .bias = m->bias, .power = 2.0 };
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
            fenp_sample *s = make_sample(P);
            for (int64_t i = 0; i < N; i++) s->y[i] *= units[k];
            fen_model *m = make_model(s, fenp_find_loss("square"), 0.0, bias);
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

/* ---- the best constant ------------------------------------------------------------------- */

/* Of every loss on a fine grid of constants (and of tubes, where they are free). */
static void test_null(void **unused)
{
    (void)unused;
    for (int l = 0; fenp_losses[l]; l++) {
        const fen_loss *loss = fenp_losses[l];
        const int signs = loss->labels == FEN_SIGNS;
        const double par = strcmp(loss->name, "tube") == 0 ? 3.0 : loss->parameter.initial;
        fenp_sample *s = make_sample(P);
        if (signs) make_signs(s), s->y[3] = 1.0;
        double least = INFINITY;
        for (int k = 0; k <= 200000; k++) {
            const double b = (signs ? 0.0 : 5.0) + (k - 100000) * 4e-5;
            double sum = 0.0;
            for (int64_t i = 0; i < N; i++) sum += s->w[i] * loss->value(s->y[i], b, &par);
            least = fmin(least, sum);
        }
        const double null = fenp_null_objective(loss, &par, s->y, s->w, N, 1);
        assert_true(null <= least * (1.0 + 1e-12) + 1e-15);
        assert_true(null >= least - 1e-4 * (1.0 + least)); /* slopes times half a step */
        fenp_sample_free(s);
    }
}

static void test_null_of_free_parameters(void **unused)
{
    (void)unused;
    for (int bias = 0; bias < 2; bias++) {
        fenp_sample *s = make_sample(P);
        fen_model *m = make_model(s, fenp_find_loss("eps"), 0.1, bias);
        m->nu = 0.35;
        double least = INFINITY;
        for (int k = 0; k <= (bias ? 400 : 0); k++)
            for (int j = 0; j <= 1000; j++) {
                const double b = bias ? 2.0 + k * 0.015 : 0.0, e = j * 0.008;
                double sum = m->nu * e;
                for (int64_t i = 0; i < N; i++) sum += s->w[i] * m->loss->value(s->y[i], b, &e);
                least = fmin(least, sum);
            }
        const double null = certify(m, s).null;
        assert_true(null <= least + 1e-12);
        assert_true(null >= least - 0.02); /* one step of the grid */
        m->loss = fenp_find_loss("hinge");
        make_signs(s);
        assert_true(certify(m, s).null == 0.0);
        fen_model_free(m);
        fenp_sample_free(s);
    }
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
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_unit_of_far_rows),
        cmocka_unit_test(test_optima),
        cmocka_unit_test(test_rows_without_weight),
        cmocka_unit_test(test_nu_too_large),
        cmocka_unit_test(test_tube_slack),
        cmocka_unit_test(test_optimum_and_scale),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_null_of_free_parameters),
        cmocka_unit_test(test_indefinite_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
