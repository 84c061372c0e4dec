/* test_certify_linear.c -- certificates of penalties on coefficients
 *
 *   closed forms on an orthogonal design: soft thresholds of every penalty, several targets
 *   optima by construction: slopes -z and scores t are made a pair by the loss's own prox, then
 *     the design is bent such that X beta and X'u are what they must be: every loss and penalty
 *   weak duality across models: the dual value of any vector is below the primal value of any
 *     coefficients; dense, sparse, kernels, rows of weight 0
 *   columns alike to the last digits: a bound for coefficients of any size, not for small ones
 *   one row, one column, labels of any size, a u that nothing can be made of */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/registry.h"
#include "story.h"

static double draw(uint64_t stream, int64_t k)
{
    return 2.0 * fenp_uniform(7, stream, (uint64_t)k) - 1.0;
}

/* ---- models and samples ------------------------------------------------------------------ */

static fenp_sample *make_sample(int64_t n, int64_t p, int64_t targets)
{
    fenp_sample *s = fenp_sample_new(n, p, targets);
    assert_non_null(s);
    for (int64_t i = 0; i < n; i++) s->w[i] = 1.0 / (double)n;
    return s;
}

static void set_groups(fenp_groups *groups, int64_t coefs, const int64_t *start,
                       const int64_t *member, const double *weight, int64_t count)
{
    groups->count = count;
    if (start) {
        groups->start = fenp_new(count + 1, sizeof *groups->start);
        groups->member = fenp_new(coefs, sizeof *groups->member);
        memcpy(groups->start, start, (size_t)(count + 1) * sizeof *start);
        memcpy(groups->member, member, (size_t)coefs * sizeof *member);
    }
    if (weight) {
        groups->weight = fenp_new(count, sizeof *groups->weight);
        memcpy(groups->weight, weight, (size_t)count * sizeof *weight);
    }
}

/* A linear model, every coefficient by itself. */
static fen_model *make_model(const fenp_sample *s, const char *penalty, double mix, double lambda,
                             int bias)
{
    fen_model *m = fenp_model_new(s->n, s->p, s->targets);
    assert_non_null(m);
    m->loss = fenp_find_loss("square");
    m->kernel = (fenp_kernel){ fenp_find_kernel("linear"), { 1.0, 0, 0, 0.0 } };
    m->penalty = fenp_find_penalty(penalty);
    m->mix = mix, m->lambda = lambda, m->bias = bias, m->tolerance = 1e-9;
    m->weights = fenp_new_zeroed(s->targets * s->p, sizeof *m->weights);
    set_groups(&m->groups, s->p, NULL, NULL, NULL, s->p);
    for (int64_t t = 0; t < s->targets; t++) m->coef_scale[t] = 1.0;
    return m;
}

static void certify(const fen_model *m, const fenp_sample *s, fen_certificate *out)
{
    fen_error err;
    assert_int_equal(fenp_certify(m, s, out, NULL, &err), FEN_OK);
}

static void assert_near(double a, double b, double unit)
{
    if (!(fabs(a - b) <= 1e-12 * unit)) fail_msg("%.17g instead of %.17g", a, b);
}

static void assert_optimal(const fen_certificate *c)
{
    if (!(c->dual <= c->primal)) fail_msg("dual %.17g, primal %.17g", c->dual, c->primal);
    if (!(c->relative_gap <= 1e-11) || !(c->stationarity <= 1e-10))
        fail_msg("relative gap %g, stationarity %g", c->relative_gap, c->stationarity);
    assert_int_equal(c->verdict, FEN_VERDICT_OPTIMAL);
}

static void assert_same(const fen_certificate *a, const fen_certificate *b)
{
    assert_memory_equal(a, b, offsetof(fen_certificate, verdict));
    assert_int_equal(a->verdict, b->verdict);
}

/* The same columns, without their zeros. */
static fenp_sample *sparse_of(const fenp_sample *from)
{
    fenp_sample *s = make_sample(from->n, from->p, from->targets);
    int64_t count = 0;
    memcpy(s->y, from->y, (size_t)(from->n * from->targets) * sizeof *s->y);
    memcpy(s->w, from->w, (size_t)from->n * sizeof *s->w);
    free(s->x), s->x = NULL;
    s->start = fenp_new(from->p + 1, sizeof *s->start);
    s->row = fenp_new(from->n * from->p, sizeof *s->row);
    s->value = fenp_new(from->n * from->p, sizeof *s->value);
    for (int64_t j = 0; j < from->p; j++) {
        s->start[j] = count;
        for (int64_t i = 0; i < from->n; i++) {
            if (from->x[i * from->p + j] == 0.0) continue;
            s->row[count] = (int32_t)i, s->value[count++] = from->x[i * from->p + j];
        }
    }
    s->start[from->p] = count;
    return s;
}

/* ---- closed forms ------------------------------------------------------------------------ */

enum { ROWS = 8, COLUMNS = 6 };

/* Columns of +-1, orthogonal to each other and to the ones. */
static fenp_sample *orthogonal(int64_t targets, double unit)
{
    fenp_sample *s = make_sample(ROWS, COLUMNS, targets);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++)
            s->x[i * COLUMNS + j] = __builtin_popcountll((unsigned)(i & (j + 1))) % 2 ? -1.0 : 1.0;
    for (int64_t i = 0; i < ROWS * targets; i++) s->y[i] = unit * (3.0 + 2.0 * draw(1, i));
    return s;
}

static double correlation(const fenp_sample *s, int64_t t, int64_t j)
{
    double sum = 0.0;
    for (int64_t i = 0; i < ROWS; i++) sum += s->x[i * COLUMNS + j] * s->y[t * ROWS + i];
    return sum / ROWS;
}

/* b = mean y, u = 2 w (y - X beta - b) */
static void complete(fen_model *m, const fenp_sample *s)
{
    for (int64_t t = 0; t < s->targets; t++) {
        double mean = 0.0;
        for (int64_t i = 0; i < ROWS; i++) mean += s->y[t * ROWS + i] / ROWS;
        m->offset[t] = m->bias ? mean : 0.0;
        for (int64_t i = 0; i < ROWS; i++) {
            double r = s->y[t * ROWS + i] - m->offset[t];
            for (int64_t j = 0; j < COLUMNS; j++)
                r -= s->x[i * COLUMNS + j] * m->weights[t * COLUMNS + j];
            m->dual[t * ROWS + i] = 2.0 * r / ROWS;
        }
    }
}

static double soft(double x, double by) { return copysign(fmax(fabs(x) - by, 0.0), x); }

/* Coefficient j by itself, weight a. */
static double closed_form(const fen_model *m, double c, double a)
{
    const double by = m->penalty->value(1.0, m->mix) > 0.0 ? 0.5 * m->lambda * a : 0.0;
    const double one = m->nonnegative ? fmax(c - by * m->mix, 0.0) : soft(c, by * m->mix);
    return one / (1.0 + by * (1.0 - m->mix));
}

static void check_closed_form(const char *penalty, double mix, int nonnegative, int bias,
                              double unit)
{
    const double weight[COLUMNS] = { 1.0, 0.0, 2.0, 0.5, 0.0, 1.0 };
    const double per_unit = strcmp(penalty, "elastic") == 0 ? 1.0 : unit;
    fenp_sample *s = orthogonal(1, unit), *sparse = sparse_of(s);
    fen_model *m = make_model(s, penalty, mix, 0.6 * per_unit, bias);
    fen_certificate c, other;
    long double norm = 0.0L;
    m->nonnegative = nonnegative;
    free(m->groups.weight);
    set_groups(&m->groups, COLUMNS, NULL, NULL, weight, COLUMNS);
    for (int64_t j = 0; j < COLUMNS; j++) {
        m->weights[j] = closed_form(m, correlation(s, 0, j), weight[j]);
        norm += weight[j] * m->penalty->value(fabs(m->weights[j]), mix);
    }
    complete(m, s);
    certify(m, s, &c);
    assert_optimal(&c);
    assert_near(c.norm, (double)norm, (double)norm);
    assert_near(c.primal, c.mean_loss + m->lambda * c.norm, c.primal);
    certify(m, sparse, &other);
    assert_near(c.primal, other.primal, c.primal);
    assert_near(c.dual, other.dual, c.primal);
    assert_near(c.null, other.null, c.null);
    m->weights[0] += 0.3 * unit; /* not optimal any more */
    certify(m, s, &c);
    assert_true(c.relative_gap > 1e-4 && c.verdict == FEN_VERDICT_STALLED);
    fen_model_free(m);
    fenp_sample_free(s);
    fenp_sample_free(sparse);
}

static void test_soft_thresholds(void **unused)
{
    (void)unused;
    const double units[] = { 1.0, 1e8, 1e-8 };
    for (int u = 0; u < 3; u++)
        for (int bias = 0; bias < 2; bias++)
            for (int nonnegative = 0; nonnegative < 2; nonnegative++) {
                check_closed_form("l1", 1.0, nonnegative, bias, units[u]);
                check_closed_form("elastic", 0.25, nonnegative, bias, units[u]);
                check_closed_form("elastic", 0.0, nonnegative, bias, units[u]);
                check_closed_form("none", 1.0, nonnegative, bias, units[u]);
            }
}

/* Groups of three columns, of one, and of two that are not penalised. */
static void test_group_thresholds(void **unused)
{
    (void)unused;
    const int64_t start[] = { 0, 3, 4, 6 }, member[] = { 5, 0, 3, 1, 4, 2 };
    const double weight[] = { 1.7, 1.0, 0.0 };
    fenp_sample *s = orthogonal(1, 1.0);
    for (double lambda = 0.2; lambda < 10.0; lambda *= 3.0) {
        fen_model *m = make_model(s, "group", 1.0, lambda, 1);
        fen_certificate c;
        double norm = 0.0;
        set_groups(&m->groups, COLUMNS, start, member, weight, 3);
        for (int g = 0; g < 3; g++) {
            double length = 0.0;
            for (int64_t k = start[g]; k < start[g + 1]; k++)
                length = hypot(length, correlation(s, 0, member[k]));
            const double kept = fmax(length - 0.5 * lambda * weight[g], 0.0) / length;
            for (int64_t k = start[g]; k < start[g + 1]; k++)
                m->weights[member[k]] = kept * correlation(s, 0, member[k]);
            norm += weight[g] * kept * length;
        }
        complete(m, s);
        certify(m, s, &c);
        assert_optimal(&c);
        assert_near(c.norm, norm, 1.0);
        fen_model_free(m);
    }
    fenp_sample_free(s);
}

/* group:targets: the coefficients of a column in both targets are a group. */
static void test_targets_together(void **unused)
{
    (void)unused;
    enum { BOTH = 2 };
    int64_t start[COLUMNS + 1], member[BOTH * COLUMNS];
    double null = 0.0, loss = 0.0, par = 0.0;
    fenp_sample *s = orthogonal(BOTH, 1.0);
    fen_model *m = make_model(s, "group", 1.0, 0.7, 1);
    fen_certificate c[BOTH];
    for (int64_t j = 0; j <= COLUMNS; j++) start[j] = BOTH * j;
    for (int64_t j = 0; j < COLUMNS; j++) {
        const double a = correlation(s, 0, j), b = correlation(s, 1, j);
        const double kept = fmax(hypot(a, b) - 0.35, 0.0) / hypot(a, b);
        member[BOTH * j] = j, member[BOTH * j + 1] = COLUMNS + j;
        m->weights[j] = kept * a, m->weights[COLUMNS + j] = kept * b;
    }
    m->copies = BOTH;
    set_groups(&m->groups, BOTH * COLUMNS, start, member, NULL, COLUMNS);
    complete(m, s);
    certify(m, s, c);
    assert_optimal(&c[0]);
    for (int t = 0; t < BOTH; t++) {
        const double of = fenp_null_objective(m->loss, &par, s->y + t * ROWS, s->w, ROWS, 1);
        assert_near(c[t].null, of, of);
        null += of, loss += c[t].mean_loss;
    }
    assert_near(fenp_joint_null(m, c, 1), null, null);
    assert_near(loss + m->lambda * c[0].norm, c[0].primal, c[0].primal);
    c[1].null = c[0].null, c[1].mean_loss = c[0].mean_loss; /* all but these is joint */
    assert_same(&c[0], &c[1]);
    double digits[BOTH];
    assert_int_equal(fenp_certify_digits(m, s, digits, NULL), FEN_OK);
    assert_true(digits[0] == digits[1] && digits[0] > 0.0);
    fen_model_free(m);
    fenp_sample_free(s);
}

/* ---- optima by construction -------------------------------------------------------------- */

enum { N = 12, P = 7 };

typedef struct plot {
    const fen_loss *loss;
    const fen_penalty *penalty;
    double mix;
    int bias, nonnegative;
    fenp_sample *sample;
    fen_model *model;
    double t[N], z[N], pull[P]; /* scores, dual variables, X'u over lambda */
} plot;

/* t and -z are a pair: where a proximal step of length 1 from q leads, and what it takes off. */
static void draw_pairs(plot *p, uint64_t stream)
{
    const int signs = p->loss->labels == FEN_SIGNS;
    for (int64_t i = 0; i < N; i++) {
        const double par = p->loss->parameter.initial;
        const double y = signs ? (i % 2 ? -1.0 : 1.0) : 0.0;
        const double q = signs ? y * (0.6 + 0.7 * draw(stream, i)) : 3.0 * draw(stream, i);
        p->sample->y[i] = y;
        p->t[i] = p->loss->prox(y, q, 1.0, &par);
        p->z[i] = p->t[i] - q;
    }
}

/* Weights with sum w z = 0 (an optimum with a bias) and sum 1; the last row has none. */
static void draw_weights(plot *p, uint64_t stream)
{
    long double up = 0.0L, down = 0.0L, sum = 0.0L, w[N];
    for (int64_t i = 0; i < N; i++) {
        w[i] = i == N - 1 ? 0.0 : 1.5 + draw(stream, i);
        up += w[i] * fmax(p->z[i], 0.0), down += w[i] * fmax(-p->z[i], 0.0);
    }
    for (int64_t i = 0; i < N; i++)
        if (p->bias && p->z[i] > 0.0) w[i] *= down / up;
    for (int64_t i = 0; i < N; i++) sum += w[i];
    for (int64_t i = 0; i < N; i++) {
        p->sample->w[i] = (double)(w[i] / sum);
        p->model->dual[i] = p->sample->w[i] * p->z[i];
    }
}

/* Coefficients 0, 1, 2, 5 are not 0; 5 has no penalty. Groups: 0 1 2 | 3 4 | 5 | 6. */
static void draw_coefficients(plot *p, uint64_t stream)
{
    const int64_t start[] = { 0, 3, 5, 6, 7 }, member[] = { 0, 1, 2, 3, 4, 5, 6 };
    const double each[P] = { 1.0, 1.3, 0.7, 1.0, 1.0, 0.0, 2.0 },
                 grouped[] = { 1.7, 1.4, 0.0, 1.0 };
    const int by_group = p->penalty->parts == FEN_GROUPS;
    const int none = p->penalty->value(1.0, p->mix) == 0.0;
    double *beta = p->model->weights, length = 0.0;
    set_groups(&p->model->groups, P, by_group ? start : NULL, member, by_group ? grouped : each,
               by_group ? 4 : P);
    for (int64_t j = 0; j < P; j++) {
        const int active = j < 3 || j == 5 || none;
        beta[j] = active ? copysign(0.5 + fabs(draw(stream, j)), draw(stream, 20 + j)) : 0.0;
        if (p->nonnegative) beta[j] = fabs(beta[j]);
        if (j < 3) length = hypot(length, beta[j]);
    }
    for (int64_t j = 0; j < P; j++) {
        const double inside = 0.9 * draw(stream, 40 + j);
        if (by_group)
            p->pull[j] = j < 3    ? 1.7 * beta[j] / length
                         : j == 5 ? 0.0
                                  : (j < 5 ? 0.7 : 1.0) * inside;
        else if (beta[j] != 0.0)
            p->pull[j] = each[j] * (copysign(p->mix, beta[j]) + (1.0 - p->mix) * beta[j]);
        else
            p->pull[j] = each[j] * p->mix * (p->nonnegative && inside < 0.0 ? 5.0 : 1.0) * inside;
        if (none) p->pull[j] = 0.0;
    }
}

/* X = anything + a beta' + u c', such that X beta = wanted (signs) and X'u = lambda pull, but for
 * the rounding of X to doubles: that much is let pass. */
static void bend_design(plot *p, const double *wanted, uint64_t stream)
{
    const double *beta = p->model->weights, *u = p->model->dual;
    double *x = p->sample->x, beta2 = 0.0;
    long double u2 = 0.0L;
    for (int64_t i = 0; i < N * P; i++) x[i] = draw(stream, i);
    for (int64_t j = 0; j < P; j++) beta2 += beta[j] * beta[j];
    for (int64_t i = 0; i < N; i++) u2 += (long double)u[i] * u[i];
    for (int64_t i = 0; wanted && i < N; i++) {
        double off = wanted[i];
        for (int64_t j = 0; j < P; j++) off -= x[i * P + j] * beta[j];
        for (int64_t j = 0; j < P; j++) x[i * P + j] += off * beta[j] / beta2;
    }
    for (int64_t j = 0; j < P; j++) {
        long double off = p->model->lambda * p->pull[j];
        for (int64_t i = 0; i < N; i++) off -= (long double)x[i * P + j] * u[i];
        for (int64_t i = 0; i < N; i++) x[i * P + j] = (double)(x[i * P + j] + off * u[i] / u2);
    }
}

/* Losses of y - t: labels follow the scores. Signs: lambda follows from beta'X'u = u't. */
static void draw_plot(plot *p, uint64_t stream)
{
    fen_model *m = p->model;
    double wanted[N], earned = 0.0, cost = 0.0;
    const int signs = p->loss->labels == FEN_SIGNS;
    draw_pairs(p, stream);
    draw_weights(p, stream + 1);
    draw_coefficients(p, stream + 2);
    m->offset[0] = p->bias ? 0.3 : 0.0;
    for (int64_t i = 0; i < N; i++)
        wanted[i] = p->t[i] - m->offset[0], earned += m->dual[i] * wanted[i];
    for (int64_t j = 0; j < P; j++) cost += p->pull[j] * m->weights[j];
    m->lambda = signs && cost > 0.0 ? earned / cost : 0.2;
    assert_true(m->lambda > 0.0);
    bend_design(p, signs ? wanted : NULL, stream + 3);
    for (int64_t i = 0; !signs && i < N; i++) {
        double t = m->offset[0];
        for (int64_t j = 0; j < P; j++) t += p->sample->x[i * P + j] * m->weights[j];
        p->sample->y[i] += t - p->t[i];
    }
}

static void check_construction(const fen_loss *loss, const char *penalty, double mix, int bias,
                               int nonnegative)
{
    const uint64_t stream = 1000 + 10 * (uint64_t)bias;
    plot p = { .loss = loss,
               .penalty = fenp_find_penalty(penalty),
               .mix = mix,
               .bias = bias,
               .nonnegative = nonnegative,
               .sample = make_sample(N, P, 1) };
    p.model = make_model(p.sample, penalty, mix, 0.2, bias);
    p.model->loss = loss, p.model->nonnegative = nonnegative;
    p.model->output[0].par = loss->parameter.initial;
    draw_plot(&p, stream);
    fen_certificate c;
    certify(p.model, p.sample, &c);
    if (!(fabs(c.relative_gap) <= 1e-11))
        print_error("%s, %s:%g, bias %d, nonnegative %d\n", loss->name, penalty, mix, bias,
                    nonnegative);
    assert_optimal(&c);
    fen_model_free(p.model);
    fenp_sample_free(p.sample);
}

static void test_optima_by_construction(void **unused)
{
    (void)unused;
    for (int l = 0; fenp_losses[l]; l++)
        for (int bias = 0; bias < 2; bias++) {
            for (int sign = 0; sign < 2; sign++) {
                check_construction(fenp_losses[l], "l1", 1.0, bias, sign);
                check_construction(fenp_losses[l], "elastic", 0.4, bias, sign);
                check_construction(fenp_losses[l], "elastic", 0.0, bias, sign);
            }
            check_construction(fenp_losses[l], "group", 1.0, bias, 0);
            /* signs that a linear function separates have no optimum without a penalty */
            if (fenp_losses[l]->labels != FEN_SIGNS)
                check_construction(fenp_losses[l], "none", 1.0, bias, 0);
        }
}

/* ---- weak duality ------------------------------------------------------------------------ */

typedef struct setting {
    const fen_loss *loss;
    const char *penalty;
    double mix;
    int bias, nonnegative, kernel; /* kernel: coefficients of rows                     */
} setting;

static void random_model(fen_model *m, const fenp_sample *s, const setting *of, int k)
{
    const int64_t p = of->kernel ? s->n : s->p;
    double *beta = of->kernel ? m->terms : m->weights;
    for (int64_t j = 0; j < p; j++) {
        beta[j] = draw(400 + (uint64_t)k, j) > 0.0 ? pow(10.0, k % 5 - 3) * draw(300, j + k) : 0.0;
        if (of->nonnegative) beta[j] = fabs(beta[j]);
    }
    for (int64_t i = 0; i < s->n; i++)
        m->dual[i] = pow(10.0, k % 7 - 5) * draw(100 + (uint64_t)k, i);
    m->offset[0] = of->bias ? (of->loss->labels == FEN_SIGNS ? 0.0 : 5.0) + draw(301, k) : 0.0;
}

static fen_model *setting_model(const fenp_sample *s, const setting *of)
{
    const double weight[P] = { 1.0, 0.0, 2.0, 1.0, 1.0, 0.0, 1.0 };
    const int64_t start[] = { 0, 2, 5, P }, member[] = { 0, 3, 1, 2, 4, 6, 5 };
    const int by_group = strcmp(of->penalty, "group") == 0;
    fen_model *m = make_model(s, of->penalty, of->mix, 0.05, of->bias);
    m->loss = of->loss, m->nonnegative = of->nonnegative;
    m->output[0].par = of->loss->parameter.initial;
    if (of->kernel) {
        m->kernel = (fenp_kernel){ fenp_find_kernel("gaussian"), { 0.7, 0, 0, 0.0 } };
        free(m->weights), m->weights = NULL;
        m->terms = fenp_new_zeroed(s->n, sizeof *m->terms);
        m->groups.count = s->n;
    } else {
        set_groups(&m->groups, P, by_group ? start : NULL, member, weight, by_group ? 3 : P);
    }
    return m;
}

static fenp_sample *noisy_sample(const fen_loss *loss)
{
    fenp_sample *s = make_sample(N, P, 1);
    double sum = 0.0;
    for (int64_t i = 0; i < N * P; i++) s->x[i] = draw(1, i) > 0.0 ? draw(2, i) : 0.0;
    for (int64_t i = 0; i < N; i++) s->y[i] = 5.0 + 3.0 * draw(3, i);
    for (int64_t i = 0; loss->labels == FEN_SIGNS && i < N; i++)
        s->y[i] = i == 3 ? 0.0 : i % 3 ? 1.0 : -1.0;
    for (int64_t i = 0; i < N; i++) sum += s->w[i] = i == 5 ? 0.0 : 1.5 + draw(4, i);
    for (int64_t i = 0; i < N; i++) s->w[i] /= sum;
    return s;
}

static void check_weak_duality(const setting *of)
{
    enum { MODELS = 30 };
    double lowest_primal = INFINITY, highest_dual = -INFINITY;
    fenp_sample *s = noisy_sample(of->loss), *sparse = of->kernel ? NULL : sparse_of(s);
    fen_model *m = setting_model(s, of);
    for (int k = 0; k < MODELS; k++) {
        fen_certificate c, other;
        random_model(m, s, of, k);
        certify(m, s, &c);
        assert_true(isfinite(c.dual) && c.gap >= 0.0 && c.dual > -1e-9);
        lowest_primal = fmin(lowest_primal, c.primal);
        highest_dual = fmax(highest_dual, c.dual);
        if (!sparse) continue;
        certify(m, sparse, &other);
        assert_true(c.primal == other.primal || fabs(c.primal - other.primal) <= 1e-13 * c.primal);
        assert_near(c.dual, other.dual, 10.0);
    }
    assert_true(highest_dual <= lowest_primal);
    fen_model_free(m);
    fenp_sample_free(s);
    fenp_sample_free(sparse);
}

static void test_weak_duality(void **unused)
{
    (void)unused;
    for (int l = 0; fenp_losses[l]; l++)
        for (int kind = 0; kind < 4; kind++) {
            const fen_loss *loss = fenp_losses[l];
            const int bias = kind % 2, sign = kind / 2;
            check_weak_duality(&(setting){ loss, "l1", 1.0, bias, sign, 0 });
            check_weak_duality(&(setting){ loss, "elastic", 0.7, bias, sign, 0 });
            check_weak_duality(&(setting){ loss, "none", 1.0, bias, sign, 0 });
            check_weak_duality(&(setting){ loss, "l1", 1.0, bias, sign, 1 });
            check_weak_duality(&(setting){ loss, "elastic", 0.7, bias, sign, 1 });
            if (!sign) check_weak_duality(&(setting){ loss, "group", 1.0, bias, 0, 0 });
        }
}

/* ---- kernels ----------------------------------------------------------------------------- */

/* A kernel lasso is the lasso of the kernel matrix; terms of some rows alone. */
static void test_kernel_matrix(void **unused)
{
    (void)unused;
    const int64_t places[] = { 1, 4, 5, 9 };
    const setting of = { fenp_find_loss("square"), "l1", 1.0, 1, 0, 1 };
    fenp_sample *s = noisy_sample(of.loss), *square = make_sample(N, N, 1);
    fen_model *m = setting_model(s, &of), *linear = make_model(square, "l1", 1.0, 0.05, 1);
    memcpy(square->y, s->y, N * sizeof(double)), memcpy(square->w, s->w, N * sizeof(double));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            square->x[i * N + j] = fenp_kernel_pair(&m->kernel, s->x + i * P, s->x + j * P, P);
    free(m->terms);
    m->kept = 4, m->terms = fenp_new(4, sizeof *m->terms);
    m->support = fenp_new(4, sizeof *m->support);
    for (int64_t k = 0; k < 4; k++) {
        m->support[k] = places[k];
        m->terms[k] = linear->weights[places[k]] = draw(50, k);
    }
    for (int64_t i = 0; i < N; i++) m->dual[i] = linear->dual[i] = 0.1 * draw(51, i);
    m->offset[0] = linear->offset[0] = 5.0;
    fen_certificate a, b, c;
    certify(m, s, &a);
    certify(linear, square, &b);
    linear->kernel.table = fenp_find_kernel("precomputed");
    linear->terms = linear->weights, linear->weights = NULL;
    certify(linear, square, &c);
    assert_near(a.primal, b.primal, a.primal);
    assert_near(a.dual, b.dual, a.primal);
    assert_near(a.stationarity, b.stationarity, 1.0);
    assert_same(&b, &c);
    fen_model_free(m), fen_model_free(linear);
    fenp_sample_free(s), fenp_sample_free(square);
}

/* ---- edges ------------------------------------------------------------------------------- */

static void check_one_row(int64_t p, int bias, double y, double beta, double lambda, int good)
{
    fenp_sample *s = make_sample(1, p, 1);
    fen_model *m = make_model(s, "l1", 1.0, lambda, bias);
    fen_certificate c;
    s->y[0] = y;
    for (int64_t j = 0; j < p; j++) s->x[j] = j == 0 ? 2.0 : 0.0;
    if (p > 0) m->weights[0] = beta;
    m->offset[0] = bias ? y : 0.0;
    m->dual[0] = 2.0 * (y - 2.0 * beta - m->offset[0]);
    certify(m, s, &c);
    if (good)
        assert_optimal(&c);
    else
        assert_int_equal(c.verdict, FEN_VERDICT_STALLED);
    fen_model_free(m);
    fenp_sample_free(s);
}

/* (y - 2 beta)^2 + lambda |beta|: beta = soft(y/2, lambda/8) */
static void test_one_row(void **unused)
{
    (void)unused;
    for (double unit = 1e-8; unit < 1e9; unit *= 1e8) {
        check_one_row(1, 0, 3.0 * unit, 1.375 * unit, unit, 1);
        check_one_row(1, 0, 3.0 * unit, 1.374 * unit, unit, 0);
        check_one_row(3, 0, 3.0 * unit, 1.375 * unit, unit, 1);
        check_one_row(1, 0, 3.0 * unit, 0.0, 12.0 * unit, 1);
        check_one_row(1, 1, 3.0 * unit, 0.0, 1e-6 * unit, 1);
        check_one_row(0, 0, 3.0 * unit, 0.0, unit, 1);
        check_one_row(0, 1, 3.0 * unit, 0.0, unit, 1);
    }
}

/* More columns without a penalty than rows: u must be 0, and 0 is what the loss is. */
static void test_interpolation(void **unused)
{
    (void)unused;
    for (int l = 0; fenp_losses[l]; l++) {
        if (!fenp_losses[l]->residual) continue;
        fenp_sample *s = make_sample(4, 6, 1);
        fen_model *m = make_model(s, "none", 1.0, 0.0, 1);
        fen_certificate c;
        m->loss = fenp_losses[l], m->output[0].par = m->loss->parameter.initial;
        for (int64_t i = 0; i < 24; i++) s->x[i] = draw(60, i);
        for (int64_t j = 0; j < 6; j++) m->weights[j] = draw(61, j);
        m->offset[0] = 2.0;
        for (int64_t i = 0; i < 4; i++) {
            s->y[i] = 2.0;
            for (int64_t j = 0; j < 6; j++) s->y[i] += s->x[i * 6 + j] * m->weights[j];
            m->dual[i] = 1e-16 * draw(62, i);
        }
        certify(m, s, &c);
        assert_true(c.dual >= 0.0 && c.relative_gap <= 1e-6);
        fen_model_free(m);
        fenp_sample_free(s);
    }
}

/* Columns without a penalty that say the same twice, in units of 1e6: still an optimum. */
static void test_dependent_columns(void **unused)
{
    (void)unused;
    const double weight[] = { 0.0, 0.0, 0.0, 1.0 };
    fenp_sample *s = make_sample(20, 4, 1);
    fen_model *m = make_model(s, "l1", 1.0, 1e3, 1);
    fen_certificate c;
    double scatter = 0.0, along = 0.0, mean = 0.0, middle = 0.0;
    free(m->groups.weight);
    set_groups(&m->groups, 4, NULL, NULL, weight, 4);
    for (int64_t i = 0; i < 20; i++) {
        double *x = s->x + 4 * i;
        x[0] = draw(70, i), x[1] = 1e6 * x[0] + 3e6, x[2] = 0.0, x[3] = draw(72, i);
        s->y[i] = 7.0 + 2.0 * x[0] + draw(73, i);
        mean += s->y[i] / 20, middle += x[0] / 20;
    }
    for (int64_t i = 0; i < 20; i++) {
        const double off = s->x[4 * i] - middle;
        scatter += off * off, along += off * s->y[i];
    }
    m->weights[1] = 1e-6 * along / scatter;
    m->offset[0] = mean - along / scatter * middle - 3e6 * m->weights[1];
    for (int64_t i = 0; i < 20; i++)
        m->dual[i] = 0.1 * (s->y[i] - s->x[4 * i + 1] * m->weights[1] - m->offset[0]);
    certify(m, s, &c);
    assert_true(c.relative_gap <= 1e-9);
    m->dual[3] += 0.01; /* a u that must be moved: the bound stays one */
    certify(m, s, &c);
    assert_true(c.relative_gap > 1e-6 && c.relative_gap < 0.1 && c.dual > 0.0);
    fen_model_free(m);
    fenp_sample_free(s);
}

/* A column of one row (the indicator of a gap) without a penalty: that u_i must be 0, and is but
 * for the last digits of the others. */
static void test_column_of_one_row(void **unused)
{
    (void)unused;
    const char *const losses[] = { "square", "huber", "absolute" };
    for (int l = 0; l < 3; l++) {
        fenp_sample *s = make_sample(5, 1, 1);
        fen_model *m = make_model(s, "none", 1.0, 0.0, 1);
        fen_certificate c;
        m->loss = fenp_find_loss(losses[l]), m->output[0].par = 10.0;
        for (int64_t i = 0; i < 5; i++) s->x[i] = i == 2 ? 3.0 : 0.0;
        for (int64_t i = 0; i < 5; i++) s->y[i] = i == 2 ? 50.0 : 1.0 + (double)(i > 2);
        m->offset[0] = 1.5, m->weights[0] = 48.5 / 3.0;
        for (int64_t i = 0; i < 5; i++) {
            const double r = s->y[i] - m->offset[0];
            m->dual[i] = i == 2 ? 1e-17 : (l == 0 ? 2.0 : l == 1 ? 1.0 : 1.0 / fabs(r)) * r / 5.0;
        }
        certify(m, s, &c);
        assert_true(c.primal > 0.0);
        assert_optimal(&c);
        fen_model_free(m);
        fenp_sample_free(s);
    }
}

/* ---- columns alike to the last digits ---------------------------------------------------- */

/* Two columns, one k times `small` besides the other, k = y: coefficients -+1/small meet every
 * label. u of the coefficients 0 is orthogonal to both but for some 20 roundings. */
static fenp_sample *alike(double big, double small, double unit)
{
    fenp_sample *s = make_sample(32, 2, 1);
    for (int64_t i = 0; i < 32; i++) {
        const double size = 1.0 + (double)(i / 4), k = i % 2 ? -size : size;
        const double z = i / 2 % 2 ? -1.0 : 1.0;
        s->x[2 * i] = z * big, s->x[2 * i + 1] = z * big + k * small;
        assert_true(s->x[2 * i + 1] - s->x[2 * i] == k * small);
        s->y[i] = unit * k;
    }
    return s;
}

/* u = w times minus the slope at 0 */
static void check_alike(const char *loss, const char *penalty, double big, double small,
                        double unit)
{
    fenp_sample *s = alike(big, small, unit);
    fen_model *m = make_model(s, penalty, 1.0, 0.0, 1);
    fen_certificate zero, steep;
    m->loss = fenp_find_loss(loss), m->output[0].par = unit;
    if (strcmp(penalty, "l1") == 0)
        m->lambda = 1e-3 * small * (strcmp(loss, "absolute") == 0 ? 1.0 : unit);
    for (int64_t i = 0; i < 32; i++) {
        double low, high;
        m->loss->slopes(s->y[i], 0.0, &m->output[0].par, &low, &high);
        m->dual[i] = -low / 32.0;
    }
    certify(m, s, &zero);
    m->weights[0] = -unit / small, m->weights[1] = unit / small;
    certify(m, s, &steep);
    assert_true(steep.mean_loss == 0.0 && steep.primal < 0.1 * zero.primal);
    /* a rounding of big is at most 1/32 of small; sums in long double end at 2^-64 of big */
    if (!(zero.dual <= 1.04 * steep.primal + 0x1p-60 * big / small * zero.primal))
        fail_msg("%s, %s: bound %g, objective %g", loss, penalty, zero.dual, steep.primal);
    assert_int_equal(zero.verdict, FEN_VERDICT_STALLED);
    fen_model_free(m);
    fenp_sample_free(s);
}

static void test_columns_alike(void **unused)
{
    (void)unused;
    const double sizes[][2] = {
        { 0x1p26, 0x1p-24 }, { 0x1p26, 0x1p-20 }, { 0x1p20, 0x1p-20 }, { 1.0, 0x1p-48 }
    };
    const char *const losses[] = { "square", "absolute", "huber" };
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < 3; l++)
            for (double unit = 0x1p-27; unit < 0x1p28; unit *= 0x1p27) {
                check_alike(losses[l], "l1", sizes[k][0], sizes[k][1], unit);
                check_alike(losses[l], "none", sizes[k][0], sizes[k][1], unit);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_soft_thresholds),   cmocka_unit_test(test_group_thresholds),
        cmocka_unit_test(test_targets_together),  cmocka_unit_test(test_optima_by_construction),
        cmocka_unit_test(test_weak_duality),      cmocka_unit_test(test_kernel_matrix),
        cmocka_unit_test(test_one_row),           cmocka_unit_test(test_interpolation),
        cmocka_unit_test(test_dependent_columns), cmocka_unit_test(test_column_of_one_row),
        cmocka_unit_test(test_columns_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
