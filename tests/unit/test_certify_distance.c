/* test_certify_distance.c -- penalty lp: no model is farther from the optimum than it says
 *
 * Optima are fits with the smallest gap there is, whose own distances count as their error. Against
 * them: fits with loose tolerances, of every route, and dual vectors, weights and biases that were
 * spoiled on purpose, by features written out: |w - w*|_p, |b - b*|, and predictions of training
 * rows and new ones. And that the bounds are no more than what they are made of. */
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
#include "base/registry.h"
#include "certify.h"

enum { N = 16, P = 2, NEW = 8, DEGREES = 26, FEATURES_MAX = 400 };
static const double TIGHT = 1e-13;

typedef struct setting {
    const char *kernel, *penalty;
    int degree;
    double coef0;
} setting;
static const setting settings[] = {
    { "linear", "lp:1.5", 1, 0 },
    { "linear", "lp:1.1", 1, 0 },
    { "tensor-linear", "lp:2", 1, 0 },
    { "tensor-polynomial", "lp:4/3", 2, 0 },
    { "tensor-polynomial", "lp:6/5", 3, 0.5 },
    { "tensor-exponential", "lp:4/3", 2, 0 },
    { "tensor-exponential", "lp:2", 2, 0 },
};
enum { SETTINGS = sizeof settings / sizeof *settings };
static const char *const losses[] = { "square",    "absolute",  "eps:0.1",
                                      "sqeps:0.1", "huber:0.3", "pinball:0.3",
                                      "hinge",     "sqhinge",   "logistic" };
enum { LOSSES = sizeof losses / sizeof *losses, FIRST_OF_CLASSES = 6 };

static double draw(uint64_t stream, int64_t k)
{
    return 2.0 * fenp_uniform(5, stream, (uint64_t)k) - 1.0;
}

/* ---- fits --------------------------------------------------------------------------------- */

typedef struct data {
    double x[N * P], y[N], w[N];
    fen_table *table;
} data;

static data make_data(int classes, double scale)
{
    data d;
    fen_error err;
    for (int64_t i = 0; i < N * P; i++) d.x[i] = draw(1, i);
    for (int64_t i = 0; i < N; i++) {
        const double *x = d.x + i * P, y = x[0] - 2.0 * x[0] * x[1] + 0.3 * draw(2, i);
        d.y[i] = classes ? (y > 0.1 ? 1.0 : -1.0) : scale * (y + 3.0);
        d.w[i] = 1.5 + draw(3, i);
    }
    const fen_view inputs = { d.x, N, P, P }, labels = { d.y, N, 1, 1 };
    assert_int_equal(fen_table_copy(inputs, labels, d.w, &d.table, &err), FEN_OK);
    return d;
}

static fen_options options_of(const setting *s, const char *loss, int bias, double lambda)
{
    fen_options o = fen_options_default();
    o.kernel = s->kernel, o.penalty = s->penalty;
    if (strcmp(s->kernel, "tensor-polynomial") == 0) o.degree = s->degree, o.coef0 = s->coef0;
    if (strcmp(s->kernel, "tensor-exponential") == 0) o.gamma = fen_value(0.4);
    o.loss = loss, o.bias = bias, o.scale = "none", o.weights = "weight";
    o.lambda = fen_value(lambda), o.tolerance = TIGHT, o.threads = 1, o.target = "y";
    return o;
}

static fen_model *fitted(const data *d, const fen_options *o)
{
    fen_model *m = NULL;
    fen_error err = { 0 };
    if (fen_fit(d->table, o, NULL, &m, &err) != FEN_OK)
        fail_msg("%s %s %s: %s", o->kernel, o->penalty, o->loss, err.message);
    return m;
}

static fenp_sample *sample_of(const fen_model *m, const data *d)
{
    fenp_sample *s = NULL;
    fen_error err = { 0 };
    if (fenp_prep_sample(m->prep, d->table, &s, &err) != FEN_OK) fail_msg("%s", err.message);
    assert_int_equal(fenp_outputs_apply(m->output, 1, NULL, s, &err), FEN_OK);
    return s;
}

/* ---- functions, written out --------------------------------------------------------------- */

typedef struct function {
    int64_t count;
    double w[FEATURES_MAX], b;
} function;

/* phi(x), x of two columns; their number. */
static int64_t features_at(const fenp_kernel *k, const double *x, double *phi)
{
    int64_t count = 0;
    if (k->table->linear) {
        phi[0] = x[0], phi[1] = x[1];
        return P;
    }
    const int64_t last = k->table->last(&k->par);
    for (int64_t m = 0; m <= (last < 0 ? DEGREES : last); m++) {
        double orders = 1.0;
        for (int64_t j = 0; j <= m; j++) { /* orders: m choose j */
            phi[count++] = pow(k->table->series(m, &k->par) * orders, 1.0 / k->par.order) *
                           pow(x[0], (double)(m - j)) * pow(x[1], (double)j);
            orders *= (double)(m - j) / (double)(j + 1);
        }
    }
    assert_true(count <= FEATURES_MAX);
    return count;
}

static double sign_power(double g, double power) { return copysign(pow(fabs(g), power), g); }

/* w = J_q(Phi'c), or the stored ones. */
static void write_out(const fen_model *m, const double *x, function *f)
{
    double phi[FEATURES_MAX];
    *f = (function){ .b = m->offset[0] };
    for (int64_t k = 0; k < m->kept; k++) {
        f->count = features_at(&m->kernel, x + (m->support ? m->support[k] : k) * P, phi);
        for (int64_t j = 0; j < f->count; j++) f->w[j] += m->coef_scale[0] * m->dual[k] * phi[j];
    }
    for (int64_t j = 0; j < f->count; j++)
        f->w[j] = m->weights ? m->weights[j] : sign_power(f->w[j], m->kernel.par.order - 1.0);
}

static double at_row(const function *f, const fenp_kernel *k, const double *x, double *size)
{
    double phi[FEATURES_MAX], sum = f->b, norm = 0.0;
    const int64_t count = features_at(k, x, phi);
    for (int64_t j = 0; j < count; j++) {
        sum += f->w[j] * phi[j];
        norm += pow(fabs(phi[j]), k->par.order);
    }
    *size = pow(norm, 1.0 / k->par.order);
    return sum;
}

/* ---- what a certificate promises ---------------------------------------------------------- */

typedef struct optimum {
    function f;
    fen_certificate c;
} optimum;

static void must_be_within(double off, double bound, double rounding, const char *what,
                           const char *of)
{
    if (!(off <= bound + rounding)) fail_msg("%s of %s: %g, bound %g", what, of, off, bound);
}

/* now: of the model m with the function f. Returns the largest difference in training rows. */
static double check(const fen_model *m, const data *d, const function *f,
                    const fen_certificate *now, const optimum *best, const char *of)
{
    const double p = m->power, size = fabs(best->f.b) + best->c.norm;
    double sum = 0.0, largest = 0.0;
    assert_true(now->norm_distance >= 0.0 && now->bias_distance >= 0.0);
    assert_true(now->optimum_distance >= 0.0);
    for (int64_t j = 0; j < f->count; j++) sum += pow(fabs(f->w[j] - best->f.w[j]), p);
    must_be_within(pow(sum, 1.0 / p), now->norm_distance + best->c.norm_distance, 1e-12 * size,
                   "norm", of);
    must_be_within(fabs(f->b - best->f.b), now->bias_distance + best->c.bias_distance, 1e-12 * size,
                   "bias", of);
    for (int64_t i = 0; i < N + NEW; i++) {
        const double fresh[P] = { 1.5 * draw(9, 2 * i), 1.5 * draw(9, 2 * i + 1) };
        const double *x = i < N ? d->x + i * P : fresh;
        double k;
        const double off = fabs(at_row(f, &m->kernel, x, &k) - at_row(&best->f, &m->kernel, x, &k));
        must_be_within(off,
                       k * (now->norm_distance + best->c.norm_distance) + now->bias_distance +
                           best->c.bias_distance,
                       1e-12 * size, "any row", of);
        if (i >= N) continue;
        must_be_within(off, now->optimum_distance + best->c.optimum_distance, 1e-12 * size,
                       "training row", of);
        largest = fmax(largest, off);
    }
    return largest;
}

/* delta^2 = c (N + delta)^(2-p), c = 2 G / (lambda p (p-1)), with no more than rounding besides. */
static void check_size(const fen_model *m, const fen_certificate *now)
{
    const double p = m->power, delta = now->norm_distance;
    const double least =
        0.5 * m->lambda * p * (p - 1.0) * delta * delta * pow(now->norm + delta, p - 2.0);
    assert_true(least >= now->gap * (1.0 - 1e-6));
    if (now->dual < now->primal)
        assert_true(least <= now->gap * (1.0 + 1e-6) + 1e-11 * (now->primal + now->null));
}

static fen_certificate certified(const fen_model *m, const fenp_sample *s)
{
    fen_certificate out;
    fen_error err = { 0 };
    if (fenp_certify(m, s, &out, NULL, &err) != FEN_OK) fail_msg("%s", err.message);
    return out;
}

/* The dual vector, and what goes with it, off by about so much. */
static void spoil(fen_model *m, const double *dual, const data *d, double by, uint64_t stream)
{
    double largest = 0.0;
    for (int64_t k = 0; k < m->kept; k++) largest = fmax(largest, fabs(dual[k]));
    for (int64_t k = 0; k < m->kept; k++) m->dual[k] = dual[k] + by * largest * draw(stream, k);
    m->offset[0] += m->bias ? by * draw(stream, 1000) : 0.0;
    for (int64_t j = 0; m->weights && j < P; j++) {
        double g = 0.0;
        for (int64_t k = 0; k < m->kept; k++)
            g += m->coef_scale[0] * m->dual[k] * d->x[(m->support ? m->support[k] : k) * P + j];
        m->weights[j] = sign_power(g, m->kernel.par.order - 1.0) + by * draw(stream, 2000 + j);
    }
}

static void check_spoiled(fen_model *m, const data *d, const optimum *best, const char *of)
{
    static const double by[] = { 0.0, 1e-10, 1e-6, 1e-3, 0.1, 10.0, 1e6 };
    fenp_sample *s = sample_of(m, d);
    double dual[N];
    function f;
    memcpy(dual, m->dual, (size_t)m->kept * sizeof *dual);
    for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
        spoil(m, dual, d, by[k], 20 + k);
        const fen_certificate now = certified(m, s);
        write_out(m, d->x, &f);
        const double off = check(m, d, &f, &now, best, of);
        check_size(m, &now);
        /* rows by themselves: no farther than a fixed number of times what is true */
        if (m->loss->smoothness == 2.0 && m->loss->residual && by[k] >= 1e-6 && by[k] < 1.0)
            assert_true(now.optimum_distance <= 1e3 * off);
        m->offset[0] = best->f.b;
    }
    fenp_sample_free(s);
}

static void all_kernels_and_losses(void **state)
{
    (void)state;
    static const double tolerance[] = { 1e-2, 1e-3, 1e-6 };
    for (int k = 0; k < SETTINGS * LOSSES * 2; k++) {
        const setting *of = &settings[k % SETTINGS];
        const int loss = k / SETTINGS % LOSSES, bias = k / SETTINGS / LOSSES;
        data d = make_data(loss >= FIRST_OF_CLASSES, 1.0);
        fen_options o = options_of(of, losses[loss], bias, 0.03);
        fen_model *tight = fitted(&d, &o);
        optimum best;
        function f;
        char name[128];
        snprintf(name, sizeof name, "%s %s %s", of->kernel, of->penalty, losses[loss]);
        write_out(tight, d.x, &best.f);
        best.c = fen_model_certificate(tight, 0);
        assert_true(best.c.norm_distance < INFINITY);
        for (int t = 0; t < 3; t++) {
            o.tolerance = tolerance[t];
            fen_model *m = fitted(&d, &o);
            const fen_certificate c = fen_model_certificate(m, 0);
            write_out(m, d.x, &f);
            check(m, &d, &f, &c, &best, name);
            fen_model_free(m);
        }
        check_spoiled(tight, &d, &best, name);
        fen_model_free(tight);
        fen_table_free(d.table);
    }
}

/* Predictions themselves, by whatever route. */
static void routes_agree_to_the_bound(void **state)
{
    (void)state;
    static const char *const routes[] = { "features", "packed", "low-rank" };
    for (int k = 0; k < SETTINGS * 2; k++) {
        const setting *of = &settings[k / 2];
        const int endless = strcmp(of->kernel, "tensor-exponential") == 0;
        double scores[3][N], bound[3];
        fen_error err;
        if (strncmp(of->kernel, "tensor-", 7) != 0) continue;
        data d = make_data(0, 1.0);
        for (int r = endless; r < 3; r++) {
            fen_options o = options_of(of, "square", 1, 0.01);
            o.route = routes[r], o.tolerance = k % 2 ? 1e-4 : 1e-9;
            fen_model *m = fitted(&d, &o);
            bound[r] = fen_model_certificate(m, 0).optimum_distance;
            assert_int_equal(
                fen_predict(m, (fen_view){ d.x, N, P, P }, NULL, NULL, scores[r], &err), FEN_OK);
            for (int q = endless; q < r; q++)
                for (int64_t i = 0; i < N; i++)
                    assert_true(fabs(scores[q][i] - scores[r][i]) <= bound[q] + bound[r]);
            fen_model_free(m);
        }
        fen_table_free(d.table);
    }
}

/* f(x) + b of a polynomial kernel in long double, whose sums lose 1000 times less. */
static double exact_score(const fen_model *m, const double *row)
{
    const double q = m->kernel.par.order;
    const int64_t last = m->kernel.table->last(&m->kernel.par);
    long double f = m->offset[0];
    for (int64_t k = 0; k <= last; k++) {
        long double orders = 1.0L;
        for (int64_t j = 0; j <= k; j++) { /* x0^(k-j) x1^j */
            const long double factor = m->kernel.table->series(k, &m->kernel.par) * orders;
            long double sum = 0.0L;
            for (int64_t i = 0; i < m->kept; i++)
                sum += (long double)m->coef_scale[0] * m->dual[i] *
                       powl(m->inputs[i * P], (long double)(k - j)) *
                       powl(m->inputs[i * P + 1], (long double)j);
            f += factor * copysignl(powl(fabsl(sum), q - 1.0), sum) *
                 powl(row[0], (long double)(k - j)) * powl(row[1], (long double)j);
            orders *= (long double)(k - j) / (long double)(j + 1);
        }
    }
    return (double)f;
}

/* Two rows that are nearly alike, an optimum by the labels that are made for it: u_1 = -u_2 leaves
 * little of the sums that weights are made of, and predictions lose what the certificate, in long
 * double, does not. */
static void predictions_that_cancel_are_within_the_bound(void **state)
{
    (void)state;
    enum { TWO = 2 };
    fen_error err = { 0 };
    fen_model *m = fenp_model_new(TWO, P, 1);
    fenp_sample *s = fenp_sample_new(TWO, P, 1);
    const double x[TWO * P] = { 1000.3, 0.7, 1000.31, 0.7 };
    double scores[TWO], exact[TWO];
    m->loss = fenp_find_loss("square"), m->bias = 1, m->power = 4.0 / 3, m->lambda = 1e-8;
    m->kernel = (fenp_kernel){ fenp_find_kernel("tensor-polynomial"), { .degree = 2, .order = 4 } };
    m->penalty = fenp_find_penalty("lp"), m->tolerance = 1e-6;
    m->coef_scale[0] = 1.0 / (m->lambda * m->power);
    m->inputs = malloc(sizeof x);
    memcpy(m->inputs, x, sizeof x);
    memcpy(s->x, x, sizeof x);
    for (int i = 0; i < TWO; i++) m->dual[i] = (i ? 0.0184 : -0.0184) * m->lambda * m->power;
    for (int i = 0; i < TWO; i++) {
        exact[i] = exact_score(m, x + i * P);
        s->w[i] = 0.5, s->y[i] = exact[i] + m->dual[i]; /* z / 2 = u / (2 w) */
    }
    const double bound = certified(m, s).optimum_distance;
    assert_true(bound <= 1e-4);
    assert_int_equal(fenp_model_scores(m, x, TWO, scores, NULL, &err), FEN_OK);
    for (int i = 0; i < TWO; i++)
        must_be_within(fabs(scores[i] - exact[i]), bound, 0.0, "a prediction", "lp:4/3");
    fenp_sample_free(s);
    fen_model_free(m);
}

/* ---- laws and ends ------------------------------------------------------------------------ */

/* y and f times s: lambda |w|^p goes with s^2 where lambda goes with s^(2-p). */
static void distances_go_with_the_labels(void **state)
{
    (void)state;
    static const double factor[] = { 0x1p27, 0x1p-27, 1e8 };
    for (int k = 0; k < SETTINGS; k++) {
        data d = make_data(0, 1.0);
        fen_options o = options_of(&settings[k], "square", 1, 0.03);
        fen_model *m = fitted(&d, &o);
        fenp_sample *s = sample_of(m, &d);
        double dual[N];
        memcpy(dual, m->dual, (size_t)m->kept * sizeof *dual);
        spoil(m, dual, &d, 1e-3, 7);
        const fen_certificate one = certified(m, s);
        for (int t = 0; t < 3; t++) {
            fen_model scaled = *m;
            fenp_sample other = *s;
            double u[N], y[N], w[P], lambda = m->lambda * pow(factor[t], 2.0 - m->power);
            double scale = 1.0 / (lambda * m->power), b = m->offset[0] * factor[t];
            for (int64_t i = 0; i < N; i++) y[i] = s->y[i] * factor[t];
            for (int64_t i = 0; i < m->kept; i++) u[i] = m->dual[i] * factor[t];
            for (int64_t j = 0; m->weights && j < P; j++) w[j] = m->weights[j] * factor[t];
            scaled.dual = u, scaled.offset = &b, scaled.coef_scale = &scale;
            scaled.weights = m->weights ? w : NULL;
            scaled.lambda = lambda, other.y = y;
            const fen_certificate c = certified(&scaled, &other);
            assert_true(fabs(c.norm_distance / one.norm_distance / factor[t] - 1.0) <= 1e-6);
            assert_true(fabs(c.bias_distance / one.bias_distance / factor[t] - 1.0) <= 3e-3);
            assert_true(fabs(c.optimum_distance / one.optimum_distance / factor[t] - 1.0) <= 3e-3);
        }
        fenp_sample_free(s);
        fen_model_free(m);
        fen_table_free(d.table);
    }
}

/* lambda so large that f = 0: the mean is the answer. */
static void nothing_but_a_constant(void **state)
{
    (void)state;
    for (int k = 0; k < SETTINGS; k++) {
        data d = make_data(0, 1.0);
        fen_options o = options_of(&settings[k], "square", 1, 1e9);
        fen_model *m = fitted(&d, &o);
        const fen_certificate c = fen_model_certificate(m, 0);
        double sum = 0.0, weight = 0.0;
        for (int64_t i = 0; i < N; i++) sum += d.w[i] * d.y[i], weight += d.w[i];
        assert_true(fabs(m->offset[0] - sum / weight) <= c.bias_distance);
        assert_true(c.norm_distance <= 1e-6 && c.bias_distance <= 1e-5);
        assert_true(c.optimum_distance <= 1e-4);
        fen_model_free(m);
        fen_table_free(d.table);
    }
}

/* One row, or several of one class, with a dual vector of our own. */
static fen_certificate of_one_row(const char *kernel, const char *loss, double dual, double offset,
                                  int64_t n)
{
    fen_model *m = fenp_model_new(n, P, 1);
    fenp_sample *s = fenp_sample_new(n, P, 1);
    m->loss = fenp_find_loss(loss), m->bias = 1, m->power = 4.0 / 3, m->lambda = 0.1;
    m->kernel =
        (fenp_kernel){ fenp_find_kernel(kernel), { .gamma = 0.5, .degree = 2, .order = 4 } };
    m->output[0].par = m->loss->parameter.initial;
    m->penalty = fenp_find_penalty("lp"), m->tolerance = 1e-6;
    m->coef_scale[0] = 1.0 / (m->lambda * m->power), m->offset[0] = offset;
    if (m->kernel.table->linear) m->weights = calloc(P, sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        s->x[i * P] = 0.5 + (double)i, s->x[i * P + 1] = -2.0;
        s->y[i] = 1.0, s->w[i] = 1.0 / (double)n, m->dual[i] = dual;
    }
    const fen_certificate c = certified(m, s);
    fenp_sample_free(s);
    fen_model_free(m);
    return c;
}

static void one_row_and_one_class(void **state)
{
    (void)state;
    static const char *const kernels[] = { "linear", "tensor-polynomial", "tensor-exponential" };
    for (int k = 0; k < 3; k++) {
        /* y itself: b = 1, f = 0 */
        fen_certificate c = of_one_row(kernels[k], "square", 0.0, 1.0, 1);
        assert_true(c.norm_distance <= 1e-9 && c.bias_distance <= 1e-6);
        c = of_one_row(kernels[k], "square", 0.0, 1.25, 1);
        assert_true(c.bias_distance >= 0.25 && c.optimum_distance >= 0.25);
        assert_true(c.optimum_distance <= 0.2500001);
        c = of_one_row(kernels[k], "absolute", 0.0, 1.0, 1);
        assert_true(c.norm_distance <= 1e-9 && c.bias_distance <= 1e-6);
        /* one class: any large b will do */
        for (int64_t n = 1; n < 4; n += 2) {
            c = of_one_row(kernels[k], "hinge", 0.0, 1.0, n);
            assert_true(c.norm_distance <= 1e-9);
            assert_true(isinf(c.bias_distance) && isinf(c.optimum_distance));
            c = of_one_row(kernels[k], "logistic", 0.0, 30.0, n);
            assert_true(isinf(c.bias_distance) && c.norm_distance < INFINITY);
        }
    }
}

/* Whatever stands in a file: a bound, or none; never NaN, never less than the truth. */
static void wild_models_have_no_small_bound(void **state)
{
    (void)state;
    static const double wild[] = { 0.0, 1e300, -1e300, 1e-300, 1e155, -1.0 };
    for (int k = 0; k < SETTINGS * 2; k++) {
        data d = make_data(0, 1.0);
        const setting *of = &settings[k / 2];
        fen_options o = options_of(of, k % 2 ? "huber:0.3" : "square", 1, 0.03);
        fen_model *m = fitted(&d, &o);
        fenp_sample *s = sample_of(m, &d);
        optimum best = { .c = fen_model_certificate(m, 0) };
        write_out(m, d.x, &best.f);
        for (size_t t = 0; t < sizeof wild / sizeof *wild; t++) {
            for (int64_t i = 0; i < m->kept; i++) m->dual[i] = wild[t] * (double)(i % 3);
            m->offset[0] = best.f.b;
            const fen_certificate c = certified(m, s);
            assert_false(isnan(c.norm_distance) || isnan(c.bias_distance));
            assert_false(isnan(c.optimum_distance));
            if (!(fabs(wild[t]) <= 1.0)) continue; /* its function is no double */
            function f;
            write_out(m, d.x, &f);
            check(m, &d, &f, &c, &best, of->kernel);
        }
        fenp_sample_free(s);
        fen_model_free(m);
        fen_table_free(d.table);
    }
}

/* D above P is impossible: by so much both may be wrong. */
static void a_dual_above_the_primal_counts(void **state)
{
    (void)state;
    const double y = 1.0, w = 1.0, f = 0.5, z = 1.0, size = 1.0, par = 0.0;
    fenp_claim c = { .loss = fenp_find_loss("square"),
                     .par = &par,
                     .dual_par = &par,
                     .penalty = fenp_find_penalty("rkhs"),
                     .y = &y,
                     .w = &w,
                     .n = 1,
                     .lambda = 0.1,
                     .power = 1.5,
                     .f = &f,
                     .size = &size,
                     .norm = 0.5,
                     .z = &z,
                     .dual_norm = 0.1 };
    fen_certificate near = { .primal = 1.0, .dual = 1.0 }, far = near, lost = near;
    fenp_claim_distance(&c, 1.0, &near);
    fenp_claim_distance(&c, 1.0 + 1e-6, &far);
    assert_true(near.norm_distance > 0.0 && near.norm_distance < 1e-6);
    assert_true(far.norm_distance >= sqrt(2e-6 * pow(0.5, 0.5) / (0.1 * 0.75)));
    fenp_claim_distance(&c, NAN, &lost);
    assert_true(lost.norm_distance >= near.norm_distance);
    lost.gap = INFINITY;
    fenp_claim_distance(&c, -INFINITY, &lost);
    assert_true(isinf(lost.norm_distance) && isinf(lost.optimum_distance));
    lost.gap = NAN, lost.primal = NAN;
    fenp_claim_distance(&c, 1.0, &lost);
    assert_true(isinf(lost.norm_distance) && isinf(lost.bias_distance));
}

/* G / lambda beyond the range of numbers, at either end; rows of no weight and of no size. */
static void no_end_of_numbers(void **state)
{
    (void)state;
    const double y[] = { 1e100, -1e100, 1.0, 2.0 }, w[] = { 0.5, 0.5, 0.0, 0.0 };
    const double f[] = { 0.0, 0.0, 0.0, 0.0 }, size[] = { 1.0, 0.0, 1.0, 0.0 }, par = 0.0;
    fenp_claim c = { .loss = fenp_find_loss("square"),
                     .par = &par,
                     .dual_par = &par,
                     .penalty = fenp_find_penalty("rkhs"),
                     .y = y,
                     .w = w,
                     .n = 4,
                     .power = 1.5,
                     .bias = 1,
                     .f = f,
                     .size = size,
                     .z = f };
    fen_certificate out = { .primal = 1e200, .gap = 1e200 };
    c.lambda = 1e-300;
    fenp_claim_distance(&c, 0.0, &out);
    assert_true(isinf(out.norm_distance) && isinf(out.optimum_distance));
    assert_true(out.bias_distance >= 1e100);
    const double tiny[] = { 1e-20, -1e-20, 1.0, 2.0 };
    c.y = tiny, c.lambda = 1e290;
    out = (fen_certificate){ .primal = 1e-40, .gap = 1e-40 };
    fenp_claim_distance(&c, 0.0, &out); /* at p = 3/2 delta^(3/2) is 8/3 of G / lambda */
    assert_true(fabs(out.norm_distance / pow(8.0 / 3.0, 2.0 / 3.0) / 1e-220 - 1.0) <= 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kernels_and_losses),
        cmocka_unit_test(routes_agree_to_the_bound),
        cmocka_unit_test(predictions_that_cancel_are_within_the_bound),
        cmocka_unit_test(distances_go_with_the_labels),
        cmocka_unit_test(nothing_but_a_constant),
        cmocka_unit_test(one_row_and_one_class),
        cmocka_unit_test(wild_models_have_no_small_bound),
        cmocka_unit_test(a_dual_above_the_primal_counts),
        cmocka_unit_test(no_end_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
