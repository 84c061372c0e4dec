/* test_certify_tensor.c -- the certificate of l^p penalties against its definition
 *
 * T, om and the bounds of a cut series against sums over all q-tuples of rows; weak duality across
 * models of every loss; optima of a minimiser of this file (coordinate by coordinate over explicit
 * features) between D and P; optima by construction, where labels are made to fit a dual vector;
 * changed ones are found out. No solver of the library takes part. */
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
#include "certify.h"

enum { N = 5, P = 2, FEATURES_MAX = 40 };

#define assert_near(a, b, by) assert_true(fabs((a) - (b)) <= (by))

static double draw(uint64_t stream, int64_t k)
{
    return 2.0 * fenp_uniform(11, stream, (uint64_t)k) - 1.0;
}

static fenp_kernel kernel_of(const char *name, double q, double degree, double gamma)
{
    return (fenp_kernel){ fenp_find_kernel(name),
                          { .gamma = gamma, .degree = degree, .order = q } };
}

/* ---- by definition ----------------------------------------------------------------------- */

/* K of the q rows that the digits of `tuple` to the base n name, times their coefficients but for
 * the first `without` of them. */
static double term_of(const fenp_kernel *k, fen_view x, const double *a, int64_t tuple, int q,
                      int without)
{
    int64_t row[16];
    double sum = 0.0, factor = 1.0;
    for (int s = 0; s < q; s++, tuple /= x.rows) row[s] = tuple % x.rows;
    for (int64_t j = 0; j < x.cols; j++) {
        double product = 1.0;
        for (int s = 0; s < q; s++) product *= x.at[row[s] * x.stride + j];
        sum += product;
    }
    for (int s = without; s < q; s++) factor *= a[row[s]];
    return factor * k->table->value(sum, &k->par);
}

static double form_by_tuples(const fenp_kernel *k, fen_view x, const double *a, double *om)
{
    const int q = (int)k->par.order;
    int64_t tuples = 1;
    long double value = 0.0L, score[16] = { 0.0L };
    for (int s = 0; s < q; s++) tuples *= x.rows;
    for (int64_t tuple = 0; tuple < tuples; tuple++) {
        value += term_of(k, x, a, tuple, q, 0);
        score[tuple % x.rows] += term_of(k, x, a, tuple, q, 1);
    }
    for (int64_t i = 0; i < x.rows; i++) om[i] = (double)score[i];
    return (double)value;
}

typedef struct setting {
    const char *kernel;
    double q, degree, gamma;
} setting;
static const setting settings[] = {
    { "tensor-polynomial", 2, 2, 0 },    { "tensor-polynomial", 4, 2, 0 },
    { "tensor-polynomial", 4, 3, 0 },    { "tensor-polynomial", 6, 2, 0 },
    { "tensor-exponential", 2, 0, 0.5 }, { "tensor-exponential", 4, 0, 0.8 },
    { "tensor-exponential", 6, 0, 0.3 },
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static fenp_kernel kernel_at(int k)
{
    return kernel_of(settings[k].kernel, settings[k].q, settings[k].degree, settings[k].gamma);
}

static void some_rows(double *x, uint64_t stream)
{
    for (int64_t i = 0; i < N * P; i++) x[i] = draw(stream, i);
}

static fenp_sums new_sums(int64_t count, int64_t n)
{
    fenp_sums s = { calloc((size_t)count, sizeof(double)), calloc((size_t)count, sizeof(double)),
                    calloc((size_t)(count * n), sizeof(double)),
                    calloc((size_t)(count * n), sizeof(double)) };
    assert_true(s.value && s.value_error && s.om && s.om_error);
    return s;
}

static void free_sums(fenp_sums *s)
{
    free(s->value), free(s->value_error), free(s->om), free(s->om_error);
}

/* Both ways of the certificate, two vectors at once; tiny and huge ones. */
static void test_forms(void **unused)
{
    (void)unused;
    for (int k = 0; k < SETTINGS; k++) {
        const fenp_kernel kernel = kernel_at(k);
        const double q = kernel.par.order;
        double x[N * P], v[2 * N], om[2 * N], value[2], f[N], slack[N], norm;
        const fen_view rows = { x, N, P, P };
        fen_error err;
        some_rows(x, 20 + (uint64_t)k);
        for (int64_t i = 0; i < 2 * N; i++) v[i] = draw(40 + (uint64_t)k, i);
        v[1] = 0.0;
        for (int t = 0; t < 2; t++) value[t] = form_by_tuples(&kernel, rows, v + t * N, om + t * N);
        for (double size = 1e-60; size < 1e80; size *= 1e30) {
            double scaled[2 * N];
            fenp_forms forms;
            for (int64_t i = 0; i < 2 * N; i++) scaled[i] = size * v[i];
            assert_int_equal(fenp_forms_open(&forms, &kernel, rows, scaled, 2, 2, NULL, &err),
                             FEN_OK);
            for (int t = 0; t < 2; t++) {
                assert_near(fenp_forms_dual_norm(&forms, t, &kernel) / size, pow(value[t], 1.0 / q),
                            1e-10);
                fenp_forms_scores(&forms, t, &kernel, 1.0 / size, f, slack, &norm);
                assert_near(norm, pow(value[t], 1.0 - 1.0 / q), 1e-9);
                for (int64_t i = 0; i < N; i++) {
                    assert_near(f[i], om[t * N + i], 1e-10);
                    assert_true(slack[i] <= 1e-11 * (1.0 + value[t]));
                }
                fenp_forms_scores(&forms, t, &kernel, -0.5 / size, f, slack, &norm);
                for (int64_t i = 0; i < N; i++)
                    assert_near(f[i], -pow(0.5, q - 1.0) * om[t * N + i], 1e-10);
            }
            fenp_forms_close(&forms);
        }
    }
}

/* A series that is cut anywhere: what is missing is positive and no more than the bound says. */
static void check_cut(const fenp_kernel *kernel, fen_view rows, const double *v, double budget,
                      double *rest)
{
    double om[N], left;
    const double value = form_by_tuples(kernel, rows, v, om);
    fenp_sums s = new_sums(1, N);
    fen_error err;
    assert_int_equal(fenp_series_sums(kernel, rows, v, 1, 1, 1e-12, budget, &s, &left, NULL, &err),
                     FEN_OK);
    *rest = s.value_error[0];
    const double rounding = 1e-13 * fabs(value) + 1e-13;
    assert_true(s.value[0] <= value + rounding);
    assert_true(value <= s.value[0] + s.value_error[0] + rounding);
    for (int64_t i = 0; i < N; i++) assert_true(fabs(om[i] - s.om[i]) <= s.om_error[i] + rounding);
    free_sums(&s);
}

static void test_cut_series(void **unused)
{
    (void)unused;
    for (int k = 0; k < SETTINGS; k++)
        for (int round = 0; round < 6; round++) {
            const fenp_kernel kernel = kernel_at(k);
            double x[N * P], v[N], rest = INFINITY, before;
            some_rows(x, 60 + (uint64_t)round);
            for (int64_t i = 0; i < N; i++) v[i] = draw(70 + (uint64_t)round, i);
            if (round == 1)
                for (int64_t i = 0; i < N; i++) v[i] = fabs(v[i]); /* nothing cancels */
            if (round == 2)
                for (int64_t i = 0; i < N; i++) x[i * P] = 0.0; /* a subtree of zeros */
            if (round == 3)
                for (int64_t i = 0; i < N * P; i++) x[i] *= 1.6;
            for (double budget = 30.0; budget < 1e5; budget *= 3.0) {
                before = rest;
                check_cut(&kernel, (fen_view){ x, N, P, P }, v, budget, &rest);
                assert_true(rest <= before * (1.0 + 1e-12));
            }
            check_cut(&kernel, (fen_view){ x, N, P, P }, v, INFINITY, &rest);
            assert_true(rest < 1e-9);
        }
}

/* Small rows, and a large one with a tiny coefficient: terms fall far below the sum, and rise again
 * where the powers of the large row overtake them; its score is the last that is known. */
static void test_series_that_rises_again(void **unused)
{
    (void)unused;
    const fenp_kernel kernel = kernel_of("tensor-exponential", 4, 0, 80.0);
    const double tiny[] = { 2e-14, 2e-12, 1e-9, -1e-6 };
    for (int k = 0; k < 4; k++) {
        double x[N] = { 0.0053, -0.0091, 0.0002, 0.0078, 1.0 }, om[N], left;
        double v[N] = { 0.7, 1.1, 0.9, 1.0, tiny[k] };
        const fen_view rows = { x, N, 1, 1 };
        const double value = form_by_tuples(&kernel, rows, v, om);
        fen_error err;
        for (double budget = 30.0; budget < 1e6; budget *= 3.0) {
            fenp_sums s = new_sums(1, N);
            assert_int_equal(
                fenp_series_sums(&kernel, rows, v, 1, 1, 1e-13, budget, &s, &left, NULL, &err),
                FEN_OK);
            assert_true(fabs(value - s.value[0]) <= s.value_error[0] + 1e-12 * value);
            for (int i = 0; i < N; i++)
                assert_true(fabs(om[i] - s.om[i]) <= s.om_error[i] + 1e-12 * fabs(om[i]));
            if (budget > 1e5) { /* and all of it is known, in the end */
                assert_true(left <= 1e-13 && s.value_error[0] <= 1e-11 * value);
                assert_near(s.om[N - 1], om[N - 1], 1e-10 * fabs(om[N - 1]));
            }
            free_sums(&s);
        }
    }
}

/* Too many features: all pairs of points, and nothing is left open. */
static void test_many_columns(void **unused)
{
    (void)unused;
    enum { WIDE = 60 };
    const fenp_kernel kernel = kernel_of("tensor-exponential", 4, 0, 0.05);
    double x[N * WIDE], v[N], om[N], f[N], slack[N], norm;
    const fen_view rows = { x, N, WIDE, WIDE };
    fenp_forms forms;
    fen_error err;
    for (int64_t i = 0; i < N * WIDE; i++) x[i] = draw(80, i);
    for (int64_t i = 0; i < N; i++) v[i] = draw(81, i);
    const double value = form_by_tuples(&kernel, rows, v, om);
    assert_int_equal(fenp_forms_open(&forms, &kernel, rows, v, 1, 1, NULL, &err), FEN_OK);
    assert_near(fenp_forms_dual_norm(&forms, 0, &kernel), pow(value, 0.25), 1e-12);
    fenp_forms_scores(&forms, 0, &kernel, 1.0, f, slack, &norm);
    for (int64_t i = 0; i < N; i++) {
        assert_near(f[i], om[i], 1e-12);
        assert_true(slack[i] <= 1e-10); /* rounding */
    }
    fenp_forms_close(&forms);
}

/* ---- rounding ---------------------------------------------------------------------------- */

/* T and om in long double, over all q-tuples; exponential kernels. */
static long double form_in_long_double(const fenp_kernel *k, fen_view x, const double *a,
                                       long double *om)
{
    const int q = (int)k->par.order;
    int64_t tuples = 1;
    long double value = 0.0L;
    for (int64_t i = 0; i < x.rows; i++) om[i] = 0.0L;
    for (int s = 0; s < q; s++) tuples *= x.rows;
    for (int64_t tuple = 0; tuple < tuples; tuple++) {
        long double sum = 0.0L, factor = 1.0L;
        for (int64_t j = 0; j < x.cols; j++) {
            long double product = 1.0L;
            for (int64_t s = 0, t = tuple; s < q; s++, t /= x.rows)
                product *= x.at[t % x.rows * x.stride + j];
            sum += product;
        }
        for (int64_t s = 1, t = tuple / x.rows; s < q; s++, t /= x.rows) factor *= a[t % x.rows];
        om[tuple % x.rows] += factor * expl(k->par.gamma * sum);
    }
    for (int64_t i = 0; i < x.rows; i++) value += a[i] * om[i];
    return value;
}

/* Rows that are nearly alike and sum v = 0: T is d^4 of its terms, far below the rounding errors of
 * a sum over pairs. The bounds know, and long double knows better. */
static void test_pairs_that_cancel(void **unused)
{
    (void)unused;
    enum { WIDE = 60 };
    const fenp_kernel kernel = kernel_of("tensor-exponential", 4, 0, 1.0 / WIDE);
    int below = 0, aside = 0;
    for (uint64_t round = 0; round < 6; round++) {
        double x[N * WIDE], v[N], f[N], slack[N], norm;
        long double om[N];
        const fen_view rows = { x, N, WIDE, WIDE };
        const double d = round % 2 ? 1e-2 : 3e-3;
        fenp_forms forms;
        fen_error err;
        for (int64_t i = 0; i < N * WIDE; i++) x[i] = 1.0 + d * draw(900 + round, i);
        for (int64_t i = 0; i < N; i++) v[i] = nearbyint(1024.0 * draw(950 + round, i));
        v[0] = -(v[1] + v[2] + v[3] + v[4]);
        const double value = (double)form_in_long_double(&kernel, rows, v, om);
        assert_int_equal(fenp_forms_open(&forms, &kernel, rows, v, 1, 1, NULL, &err), FEN_OK);
        const double unit = pow(forms.unit[0], 4.0);
        assert_true(value <= unit * (forms.sums.value[0] + forms.sums.value_error[0]));
        assert_true(pow(value, 0.25) <= fenp_forms_dual_norm(&forms, 0, &kernel));
        below += value > unit * forms.sums.value[0] * (1.0 + 1e-13);
        fenp_forms_scores(&forms, 0, &kernel, 1.0, f, slack, &norm);
        assert_true(pow(value, 0.75) <= norm);
        for (int64_t i = 0; i < N; i++) {
            assert_true(fabsl(om[i] - f[i]) <= slack[i]);
            aside += fabsl(om[i] - f[i]) > 1e-12 * fabs(f[i]);
        }
        fenp_forms_close(&forms);
    }
    assert_true(below > 0 && aside > 0); /* there are errors to be bounded */
}

/* Numbers of few binary digits: long double has the sums over rows exactly. T = sum of many s^q. */
static void test_features_that_cancel(void **unused)
{
    (void)unused;
    for (int q = 2; q <= 8; q += 2)
        for (uint64_t round = 0; round < 8; round++) {
            const fenp_kernel kernel = kernel_of("tensor-polynomial", q, 2, 0);
            double x[N * P], v[N], left;
            long double value = 0.0L, om[N] = { 0.0L };
            fenp_sums s = new_sums(1, N);
            fen_error err;
            for (int64_t i = 0; i < N * P; i++)
                x[i] = 1.0 + ldexp(nearbyint(8.0 * draw(960 + round, i)), -24);
            for (int64_t i = 0; i < N; i++)
                v[i] = nearbyint(1024.0 * draw(970 + round, i)) / 1024.0;
            v[0] = -(v[1] + v[2] + v[3] + v[4]);
            for (int k = 0; k < 3; k++) {
                long double sum = 0.0L, many = k == 1 ? 2.0L : 1.0L, slope;
                for (int i = 0; i < N; i++)
                    sum += (long double)v[i] * x[i * P + (k > 1)] * x[i * P + (k > 0)];
                slope = many * powl(sum, q - 1.0L);
                value += slope * sum;
                for (int i = 0; i < N; i++)
                    om[i] += slope * x[i * P + (k > 1)] * x[i * P + (k > 0)];
            }
            assert_int_equal(fenp_series_sums(&kernel, (fen_view){ x, N, P, P }, v, 1, 1, 1e-13,
                                              1e9, &s, &left, NULL, &err),
                             FEN_OK);
            assert_true(value > 0.0 && fabsl(value - s.value[0]) <= s.value_error[0]);
            assert_true(s.value_error[0] <= 1e-9 * s.value[0]); /* 5 2^-64 q / 1e-7 */
            for (int i = 0; i < N; i++) assert_true(fabsl(om[i] - s.om[i]) <= s.om_error[i]);
            free_sums(&s);
        }
}

/* The same where there is too much to sum for long double. */
static void test_doubles_that_cancel(void **unused)
{
    (void)unused;
    enum { MANY = 300, WIDE = 40 };
    const fenp_kernel kernel = kernel_of("tensor-polynomial", 4, 3, 0);
    double *x = calloc(MANY * (WIDE + 1), sizeof *x), *v = x + MANY * WIDE, left;
    long double value = 0.0L, *pair = calloc(MANY, sizeof *pair);
    fenp_sums s = new_sums(1, MANY);
    fen_error err;
    assert_true(x && pair);
    for (int64_t i = 0; i < MANY * WIDE; i++)
        x[i] = 1.0 + ldexp(nearbyint(4.0 * draw(990, i)), -12);
    for (int64_t i = 1; i < MANY; i++) v[i] = nearbyint(1024.0 * draw(991, i)), v[0] -= v[i];
    for (int j = 0; j < WIDE; j++)
        for (int k = j; k < WIDE; k++) {
            for (int64_t i = 0; i < MANY; i++)
                pair[i] = (long double)v[i] * x[i * WIDE + j] * x[i * WIDE + k];
            for (int l = k; l < WIDE; l++) {
                long double sum = 0.0L;
                for (int64_t i = 0; i < MANY; i++) sum += pair[i] * x[i * WIDE + l];
                value += (j == l ? 1.0L : j == k || k == l ? 3.0L : 6.0L) * powl(sum, 4.0L);
            }
        }
    const fen_view rows = { x, MANY, WIDE, WIDE };
    assert_int_equal(fenp_series_sums(&kernel, rows, v, 1, 1, 1e-13, 1e12, &s, &left, NULL, &err),
                     FEN_OK);
    assert_true(fabsl(value - s.value[0]) <= s.value_error[0]);
    assert_true(fabsl(value - s.value[0]) > 1e-15L * value); /* there is an error to be bounded */
    assert_true(s.value_error[0] <= 1e-6 * s.value[0]);
    free_sums(&s);
    free(pair);
    free(x);
}

/* n^q is no double, T is. */
static void test_high_order(void **unused)
{
    (void)unused;
    enum { MANY = 1000 };
    const double q = 104.0;
    const fenp_kernel kernel = kernel_of("tensor-polynomial", q, 2, 0);
    double *x = calloc(2 * MANY, sizeof *x), *v = x + MANY;
    long double sum = 0.0L;
    fenp_forms forms;
    fen_error err;
    assert_non_null(x);
    for (int64_t i = 0; i < MANY; i++) {
        x[i] = draw(980, i), v[i] = draw(981, i);
        sum += (long double)v[i] * x[i] * x[i];
    }
    assert_int_equal(
        fenp_forms_open(&forms, &kernel, (fen_view){ x, MANY, 1, 1 }, v, 1, 1, NULL, &err), FEN_OK);
    const double norm = fenp_forms_dual_norm(&forms, 0, &kernel);
    assert_true(norm >= fabsl(sum) && norm <= (1.0 + 1e-10) * fabsl(sum));
    fenp_forms_close(&forms);
    free(x);
}

/* D above P: by rounding it is P; by more it is as much below it, and may be too far. */
static void test_dual_above_primal(void **unused)
{
    (void)unused;
    fen_certificate c = { .primal = 1.0, .dual = 1.0 + 1e-10, .null = 2.0, .mean_loss = 0.5 };
    fenp_certificate_close(&c, 1.0, 1e-6, 0);
    assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
    assert_true(c.dual == 1.0 && c.gap == 0.0);
    c.dual = 1.0 + 1e-7;
    fenp_certificate_close(&c, 1.0, 1e-6, 0);
    assert_true(c.dual < 1.0 && fabs(c.relative_gap - 1e-7) <= 1e-12);
    c.dual = 1.0 + 5e-6;
    fenp_certificate_close(&c, 1.0, 1e-6, 0);
    assert_int_equal(c.verdict, FEN_VERDICT_STALLED);
    assert_true(c.dual < 1.0 && fabs(c.relative_gap - 5e-6) <= 1e-12);
}

/* What the certificate takes for granted of endless series and of gamma. */
static void test_series_of_kernels(void **unused)
{
    (void)unused;
    for (int k = 0; fenp_kernels[k]; k++) {
        const fen_kernel *table = fenp_kernels[k];
        const fen_kernel_par one = { .gamma = 0.75, .degree = 3.0, .order = 4.0 };
        fen_kernel_par two = one;
        two.gamma *= 2.0;
        if (table->basis != FEN_TENSOR) continue;
        for (int m = 0; m < 40; m++) {
            const double c = table->series(m, &one), next = table->series(m + 1, &one);
            if (table->uses_gamma)
                assert_near(table->series(m, &two), ldexp(c, m), 1e-13 * ldexp(c, m));
            if (table->last(&one) < 0 && m > 0)
                assert_true(next / c <= c / table->series(m - 1, &one) * (1.0 + 1e-14));
        }
    }
}

/* One row, one column: the series is the kernel. No column at all: degree 0 is. */
static void test_one_row(void **unused)
{
    (void)unused;
    const fenp_kernel kernel = kernel_of("tensor-exponential", 4, 0, 0.7);
    const double x = 1.3, v = 0.5;
    double left;
    fenp_sums s = new_sums(1, 1);
    fen_error err;
    for (int64_t p = 0; p < 2; p++) {
        const double k = exp(0.7 * pow(x, 4.0) * (double)p);
        assert_int_equal(fenp_series_sums(&kernel, (fen_view){ &x, 1, p, p }, &v, 1, 1, 1e-13, 1e9,
                                          &s, &left, NULL, &err),
                         FEN_OK);
        assert_near(s.value[0], k * pow(v, 4.0), 1e-12 * k);
        assert_near(s.om[0], k * pow(v, 3.0), 1e-12 * k);
        assert_true(s.value_error[0] <= 1e-12);
    }
    free_sums(&s);
}

/* ---- models ------------------------------------------------------------------------------ */

static fenp_sample *make_sample(int64_t n, int64_t p)
{
    fenp_sample *s = fenp_sample_new(n, p, 1);
    double sum = 0.0;
    assert_non_null(s);
    for (int64_t i = 0; i < n * p; i++) s->x[i] = draw(1, i);
    for (int64_t i = 0; i < n; i++) s->y[i] = 2.0 + draw(2, i);
    for (int64_t i = 0; i < n; i++) sum += s->w[i] = 1.5 + draw(4, i);
    for (int64_t i = 0; i < n; i++) s->w[i] /= sum;
    return s;
}

static void make_signs(fenp_sample *s)
{
    for (int64_t i = 0; i < s->n; i++) s->y[i] = i % 3 ? 1.0 : -1.0;
}

static fen_model *make_model(const fenp_sample *s, fenp_kernel kernel, const fen_loss *loss,
                             int bias)
{
    fen_model *m = fenp_model_new(s->n, s->p, 1);
    assert_non_null(m);
    m->loss = loss, m->kernel = kernel, m->bias = bias;
    m->output[0].par = loss->parameter.initial;
    m->power = kernel.par.order / (kernel.par.order - 1.0);
    m->lambda = 0.05, m->tolerance = 1e-6;
    m->coef_scale[0] = 1.0 / (m->lambda * m->power);
    if (kernel.table->linear) assert_non_null(m->weights = calloc((size_t)s->p, sizeof(double)));
    return m;
}

static fen_certificate certify(const fen_model *m, const fenp_sample *s)
{
    fen_certificate out;
    fen_error err;
    assert_int_equal(fenp_certify(m, s, &out, NULL, &err), FEN_OK);
    return out;
}

/* What the model's u stands for. */
static void imply_weights(fen_model *m, const fenp_sample *s)
{
    const double q = m->kernel.par.order;
    for (int64_t j = 0; j < s->p; j++) {
        long double g = 0.0L;
        for (int64_t i = 0; i < s->n; i++) g += (long double)s->x[i * s->p + j] * m->dual[i];
        g *= m->coef_scale[0];
        m->weights[j] = (double)(g < 0 ? -powl(-g, q - 1.0) : powl(g, q - 1.0));
    }
}

static fenp_kernel any_kernel(int k)
{
    return k < SETTINGS        ? kernel_at(k)
           : k == SETTINGS     ? kernel_of("linear", 3.0, 0, 0)
           : k == SETTINGS + 1 ? kernel_of("linear", 101.0, 0, 0)
                               : kernel_of("tensor-linear", 4.0, 0, 0);
}
enum { KERNELS = SETTINGS + 3 };

static void check_weak_duality(fenp_kernel kernel, const fen_loss *loss, int bias)
{
    double lowest = INFINITY, highest = -INFINITY;
    fenp_sample *s = make_sample(N, P);
    if (loss->labels == FEN_SIGNS) make_signs(s);
    s->w[2] = 0.0;
    for (int k = 0; k < 24; k++) {
        fen_model *m = make_model(s, kernel, loss, bias);
        for (int64_t i = 0; i < N; i++)
            m->dual[i] = pow(10.0, k % 6 - 4) * draw(100 + (uint64_t)k, i);
        m->offset[0] = bias ? 2.0 * draw(300, k) : 0.0;
        if (m->weights) imply_weights(m, s);
        if (m->weights && k % 2)
            for (int64_t j = 0; j < P; j++) m->weights[j] = draw(400, k * P + j);
        const fen_certificate c = certify(m, s);
        assert_true(c.gap >= 0.0);
        assert_true(c.dual > -1e-9 && c.dual < INFINITY); /* z = 0 is feasible */
        lowest = fmin(lowest, c.primal), highest = fmax(highest, c.dual);
        fen_model_free(m);
    }
    assert_true(highest <= lowest);
    fenp_sample_free(s);
}

static void test_weak_duality_across_models(void **unused)
{
    (void)unused;
    for (int k = 0; k < KERNELS; k++)
        for (int l = 0; fenp_losses[l]; l++)
            for (int bias = 0; bias < 2; bias++)
                check_weak_duality(any_kernel(k), fenp_losses[l], bias);
}

/* ---- a minimiser of our own -------------------------------------------------------------- */

/* Features of two columns: x1^k x2^(m-k), (binomial)^(1/q), degree m; or the columns. */
static int64_t explicit_features(const fenp_kernel *kernel, const fenp_sample *s, double *phi)
{
    const int64_t m = kernel->table->linear ? 1 : (int64_t)kernel->par.degree;
    double many = 1.0;
    for (int64_t k = 0; k <= m; k++) {
        for (int64_t i = 0; i < s->n; i++)
            phi[k * s->n + i] = pow(many, 1.0 / kernel->par.order) *
                                pow(s->x[i * P], (double)(m - k)) * pow(s->x[i * P + 1], (double)k);
        many = many * (double)(m - k) / (double)(k + 1);
    }
    return m + 1;
}

typedef struct primal {
    const fen_model *m;
    const fenp_sample *s;
    double phi[FEATURES_MAX * N], w[FEATURES_MAX], b;
    int64_t count;
} primal;

static double objective(const primal *p)
{
    long double sum = 0.0L, norm = 0.0L;
    for (int64_t i = 0; i < N; i++) {
        double t = p->b;
        for (int64_t k = 0; k < p->count; k++) t += p->w[k] * p->phi[k * N + i];
        if (p->s->w[i] > 0.0)
            sum += p->s->w[i] * p->m->loss->value(p->s->y[i], t, &p->m->output[0].par);
    }
    for (int64_t k = 0; k < p->count; k++) norm += powl(fabsl(p->w[k]), p->m->power);
    return (double)(sum + p->m->lambda * norm);
}

/* Golden section along one coordinate. */
static void lower(primal *p, double *at)
{
    const double golden = 0.5 * (sqrt(5.0) - 1.0), start = *at;
    double a = start - 4.0, b = start + 4.0, value[2];
    for (int step = 0; step < 75; step++) {
        const double c = b - golden * (b - a), d = a + golden * (b - a);
        *at = c, value[0] = objective(p);
        *at = d, value[1] = objective(p);
        if (value[0] < value[1])
            b = d;
        else
            a = c;
    }
    *at = 0.5 * (a + b);
}

static double minimum(const fen_model *m, const fenp_sample *s, primal *p)
{
    double now = INFINITY, before;
    *p = (primal){ .m = m, .s = s };
    p->count = explicit_features(&m->kernel, s, p->phi);
    int rounds = 0;
    do {
        before = now;
        for (int64_t k = 0; k < p->count; k++) lower(p, &p->w[k]);
        if (m->bias) lower(p, &p->b);
        now = objective(p);
    } while (now < before * (1.0 - 1e-14) && ++rounds < 400);
    return now;
}

/* Slope of the loss by the middle of its slopes: smooth losses have one. */
static void dual_of(const primal *p, double *u)
{
    for (int64_t i = 0; i < N; i++) {
        double t = p->b, low, high;
        for (int64_t k = 0; k < p->count; k++) t += p->w[k] * p->phi[k * N + i];
        p->m->loss->slopes(p->s->y[i], t, &p->m->output[0].par, &low, &high);
        u[i] = -0.5 * p->s->w[i] * (low + high);
    }
}

static void check_optimum(fenp_kernel kernel, const fen_loss *loss, int bias)
{
    fenp_sample *s = make_sample(N, P);
    if (loss->labels == FEN_SIGNS) make_signs(s);
    fen_model *m = make_model(s, kernel, loss, bias);
    primal p;
    const double least = minimum(m, s, &p);
    for (int k = 0; k < 12; k++) { /* any vectors */
        for (int64_t i = 0; i < N; i++)
            m->dual[i] = pow(10.0, k % 4 - 2) * draw(500 + (uint64_t)k, i);
        m->offset[0] = bias ? draw(501, k) : 0.0;
        if (m->weights) imply_weights(m, s);
        const fen_certificate c = certify(m, s);
        assert_true(c.dual <= least * (1.0 + 1e-12));
        if (loss->smoothness > 0.0) assert_true(least <= c.primal * (1.0 + 1e-7));
    }
    if (loss->smoothness > 0.0) {
        dual_of(&p, m->dual);
        m->offset[0] = p.b;
        if (m->weights) imply_weights(m, s);
        const fen_certificate c = certify(m, s);
        assert_true(c.dual <= least * (1.0 + 1e-12));
        assert_near(c.dual, least, 1e-6 * least);
        assert_near(c.primal, least, 1e-4 * least);
    }
    fen_model_free(m);
    fenp_sample_free(s);
}

static void test_between_dual_and_primal(void **unused)
{
    (void)unused;
    const int which[] = { 0, 1, 3, SETTINGS, SETTINGS + 2 };
    const char *losses[] = { "square", "logistic", "huber", "absolute", "hinge" };
    for (int k = 0; k < 5; k++)
        for (int l = 0; l < 5; l++)
            check_optimum(any_kernel(which[k]), fenp_find_loss(losses[l]), (k + l) % 2);
}

/* ---- optima by construction -------------------------------------------------------------- */

/* Linear kernels: lambda such that the largest weight is `size`; q = 101 makes 1e77 of a 6. */
static void set_lambda(fen_model *m, const fenp_sample *s, double size)
{
    double most = 0.0;
    for (int64_t j = 0; j < s->p; j++) {
        double g = 0.0;
        for (int64_t i = 0; i < s->n; i++) g += s->x[i * s->p + j] * m->dual[i];
        most = fmax(most, fabs(g));
    }
    m->lambda = most / (m->power * pow(size, m->power - 1.0));
    m->coef_scale[0] = 1.0 / (m->lambda * m->power);
}

/* -z_i is a slope of the loss at y_i - t_i = distance; labels are then t_i + distance. With a bias
 * rows come in pairs of equal weight and opposite slopes. */
static void make_optimum(fen_model *m, fenp_sample *s, double size)
{
    const int64_t n = s->n;
    const double par = m->output[0].par, step = 0.7;
    double *gap = calloc((size_t)n, sizeof *gap);
    assert_non_null(gap);
    for (int64_t i = 0; i < n; i++) {
        const double from = (i % 2 ? -1.0 : 1.0) * (1.0 + draw(600, i / 2)) * size;
        const double t = m->loss->prox(0.0, from, step, &par);
        if (m->bias) s->w[i] = 1.0 / (double)n;
        m->dual[i] = -s->w[i] * (from - t) / step;
        gap[i] = -t;
    }
    if (m->bias && n % 2) m->dual[n - 1] = 0.0, gap[n - 1] = 0.0;
    m->offset[0] = m->bias ? 3.0 * size : 0.0;
    double *f = calloc((size_t)(2 * n), sizeof *f), norm;
    assert_non_null(f);
    if (m->weights) {
        set_lambda(m, s, size);
        imply_weights(m, s);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < s->p; j++) f[i] += s->x[i * s->p + j] * m->weights[j];
    } else if (n == N) {
        double c[N];
        for (int64_t i = 0; i < N; i++) c[i] = m->coef_scale[0] * m->dual[i];
        form_by_tuples(&m->kernel, (fen_view){ s->x, N, P, P }, c, f);
    } else { /* all pairs of points, exactly */
        double *c = calloc((size_t)n, sizeof *c);
        fen_error err;
        assert_non_null(c);
        for (int64_t i = 0; i < n; i++) c[i] = m->coef_scale[0] * m->dual[i];
        assert_int_equal(
            fenp_points_sums(&m->kernel, fenp_sample_inputs(s), c, 1, &norm, f, NULL, &err),
            FEN_OK);
        free(c);
    }
    for (int64_t i = 0; i < n; i++) s->y[i] = f[i] + m->offset[0] + gap[i];
    free(f);
    free(gap);
}

/* Rounding of labels that are sums, by 1e-8 of P at p = 1.01 and 1e-11 elsewhere. */
static void check_constructed(fenp_kernel kernel, const fen_loss *loss, int bias)
{
    fenp_sample *s = make_sample(N, P);
    fen_model *m = make_model(s, kernel, loss, bias);
    make_optimum(m, s, 1.0);
    fen_certificate c = certify(m, s);
    const double close = kernel.par.order > 50.0 ? 1e-8 : 1e-10;
    assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
    assert_true(fabs(c.relative_gap) <= close);
    assert_true(c.stationarity <= 1e-7);
    const double kept = m->dual[0];
    m->dual[0] += 0.3 * (fabs(kept) + s->w[0]);
    if (m->weights) imply_weights(m, s);
    c = certify(m, s);
    assert_true(c.relative_gap > m->tolerance);
    assert_int_equal(c.verdict, FEN_VERDICT_STALLED);
    m->dual[0] = kept;
    m->coef_scale[0] *= 1.1;
    if (m->weights) imply_weights(m, s);
    assert_true(certify(m, s).relative_gap > m->tolerance);
    m->coef_scale[0] /= 1.1;
    if (m->weights) {
        imply_weights(m, s);
        m->weights[0] *= 1.01;
        assert_true(certify(m, s).stationarity > 1e-4);
    }
    fen_model_free(m);
    fenp_sample_free(s);
}

static void test_constructed_optima(void **unused)
{
    (void)unused;
    const char *losses[] = { "square", "absolute", "huber", "eps", "sqeps" };
    for (int k = 0; k < KERNELS; k++)
        for (int l = 0; l < 5; l++)
            for (int bias = 0; bias < 2; bias++)
                check_constructed(any_kernel(k), fenp_find_loss(losses[l]), bias);
}

/* y times s, with lambda times s^(2 - p), is the same problem. */
static void test_scale_of_labels(void **unused)
{
    (void)unused;
    for (int k = 0; k < KERNELS; k++)
        for (int scale = -8; scale <= 8; scale += 8) {
            const double size = pow(10.0, scale);
            fenp_sample *s = make_sample(N, P);
            fen_model *m = make_model(s, any_kernel(k), fenp_find_loss("square"), 1);
            m->lambda *= pow(size, 2.0 - m->power);
            m->coef_scale[0] = 1.0 / (m->lambda * m->power);
            make_optimum(m, s, size);
            fen_certificate c = certify(m, s);
            assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
            assert_true(fabs(c.relative_gap) <= 1e-8);
            for (int64_t i = 0; i < N; i++) m->dual[i] *= 1.01;
            if (m->weights) imply_weights(m, s);
            c = certify(m, s);
            assert_int_equal(c.verdict, FEN_VERDICT_STALLED);
            fen_model_free(m);
            fenp_sample_free(s);
        }
}

/* Columns times r, with w over r^degree, or with gamma over r^q, is the same problem, too. */
static void test_scale_of_columns(void **unused)
{
    (void)unused;
    for (int k = 0; k < KERNELS; k++)
        for (int scale = -6; scale <= 6; scale += 12) {
            fenp_kernel kernel = any_kernel(k);
            fenp_sample *s = make_sample(N, P);
            fen_model *m = make_model(s, kernel, fenp_find_loss("square"), 1);
            const double size = pow(10.0, scale), p = m->power;
            const double degree = kernel.table->linear ? 1.0 : kernel.par.degree;
            make_optimum(m, s, 1.0);
            const fen_certificate before = certify(m, s);
            for (int64_t i = 0; i < N * P; i++) s->x[i] *= size;
            m->kernel.par.gamma /= pow(size, kernel.par.order);
            m->lambda *= pow(size, degree * p); /* degree 0: the exponential kernel */
            m->coef_scale[0] = 1.0 / (m->lambda * p);
            if (m->weights) imply_weights(m, s);
            const fen_certificate c = certify(m, s);
            assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
            assert_near(c.primal, before.primal, 1e-8 * before.primal);
            assert_near(c.dual, before.dual, 1e-8 * before.primal);
            fen_model_free(m);
            fenp_sample_free(s);
        }
}

/* The model of the best constant: w = 0, and any dual vector. */
static void test_constant(void **unused)
{
    (void)unused;
    for (int k = 0; k < KERNELS; k++) {
        fenp_sample *s = make_sample(N, P);
        fen_model *m = make_model(s, any_kernel(k), fenp_find_loss("square"), 0);
        for (int64_t i = 0; i < N; i++) m->dual[i] = draw(700, i);
        m->coef_scale[0] = 0.0;
        fen_certificate c = certify(m, s);
        assert_near(c.norm, 0.0, 0.0);
        assert_near(c.primal, c.null, 1e-14 * c.null);
        memset(m->dual, 0, N * sizeof(double));
        memset(s->y, 0, N * sizeof(double));
        c = certify(m, s);
        assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
        assert_near(c.primal, 0.0, 0.0);
        fen_model_free(m);
        fenp_sample_free(s);
    }
}

/* ---- more rows --------------------------------------------------------------------------- */

/* The labels are made by all pairs of points, the certificate is by the series. */
static void test_many_rows(void **unused)
{
    (void)unused;
    enum { MANY = 170 };
    const fenp_kernel kernels[] = { kernel_of("tensor-exponential", 4, 0, 0.4),
                                    kernel_of("tensor-polynomial", 4, 3, 0) };
    for (int k = 0; k < 2; k++) {
        fenp_sample *s = make_sample(MANY, P);
        fen_model *m = make_model(s, kernels[k], fenp_find_loss("square"), 1);
        make_optimum(m, s, 0.1);
        const fen_certificate c = certify(m, s);
        assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
        assert_true(c.relative_gap >= 0.0 && c.relative_gap <= 1e-8);
        m->dual[7] += 1e-3;
        assert_int_equal(certify(m, s).verdict, FEN_VERDICT_STALLED);
        fen_model_free(m);
        fenp_sample_free(s);
    }
}

/* f is an interval where the series was cut: the certificate takes its dearer end. */
static void test_intervals(void **unused)
{
    (void)unused;
    const double y[2] = { 1.0, -1.0 }, w[2] = { 0.5, 0.5 }, f[2] = { 0.5, 0.25 };
    const double slack[2] = { 0.125, 0.5 };
    fenp_claim c = { .loss = fenp_find_loss("square"), .y = y, .w = w, .n = 2, .f = f };
    assert_near(fenp_claim_mean_loss(&c), 0.5 * 0.25 + 0.5 * 1.5625, 1e-15);
    c.slack = slack;
    assert_near(fenp_claim_mean_loss(&c), 0.5 * 0.390625 + 0.5 * 3.0625, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_cut_series),
        cmocka_unit_test(test_series_that_rises_again),
        cmocka_unit_test(test_many_columns),
        cmocka_unit_test(test_pairs_that_cancel),
        cmocka_unit_test(test_features_that_cancel),
        cmocka_unit_test(test_doubles_that_cancel),
        cmocka_unit_test(test_high_order),
        cmocka_unit_test(test_dual_above_primal),
        cmocka_unit_test(test_series_of_kernels),
        cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_weak_duality_across_models),
        cmocka_unit_test(test_between_dual_and_primal),
        cmocka_unit_test(test_constructed_optima),
        cmocka_unit_test(test_scale_of_labels),
        cmocka_unit_test(test_scale_of_columns),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
