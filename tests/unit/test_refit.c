/* test_refit.c -- held-out scores by refits against models fitted to the reduced data
 *
 * The reference forms a sample of the rows that stay, fits it from a cold start with a solver of
 * its own, and predicts the rows that were left out by kernel values of single pairs. Both sides
 * are solved to relative gaps of 1e-10: with lambda >= 0.01 and k(x,x) = 1 strong convexity
 * bounds the difference of two predictions by sqrt(2 gap P / lambda) < 2e-4, and in practice it
 * is far below. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <omp.h>

#include "base/random.h"
#include "base/registry.h"
#include "base/threads.h"
#include "promise/laws.h"
#include "promise/refit.h"
#include "solver/descend.h"

enum { N = 60, P = 2, FOLDS = 4 };
static const double GAP = 1e-10, CLOSE = 2e-4;

/* cmocka's own compares floats */
static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.12g is not %.12g", a, b);
}

static uint64_t drawn = 11;
static double uniform(uint64_t stream, int64_t k)
{
    return fenp_uniform(drawn, stream, (uint64_t)k);
}

/* Numbers near a smooth function, or its noisy sign. Weights should differ where predictions are
 * compared: with equal ones all u of the hinge loss may lie on their bounds, and any b of an
 * interval is optimal. */
static fenp_sample *random_sample(int64_t n, int64_t targets, int signs, int weighted)
{
    fenp_sample *s = fenp_sample_new(n, P, targets);
    double sum = 0.0;
    assert_non_null(s);
    for (int64_t i = 0; i < n * P; i++) s->x[i] = 4.0 * uniform(1, i) - 2.0;
    for (int64_t t = 0; t < targets; t++)
        for (int64_t i = 0; i < n; i++) {
            const double f = sin(2.0 * s->x[i * P]) + 0.5 * s->x[i * P + 1] * (double)(t + 1);
            const double y = f + 0.8 * fenp_normal(3, (uint64_t)t, (uint64_t)i);
            s->y[t * n + i] = signs ? (y > 0.0 ? 1.0 : -1.0) : y;
        }
    for (int64_t i = 0; i < n; i++) sum += s->w[i] = weighted ? 0.5 + 2.0 * uniform(4, i) : 1.0;
    for (int64_t i = 0; i < n; i++) s->w[i] /= sum;
    s->weight_sum = sum;
    return s;
}

static const fenp_solver *solver_for(const fen_loss *loss, const fen_kernel *kernel)
{
    const fenp_size size = { .n = N, .p = P, .targets = 1, .bias = 1, .power = 2.0 };
    for (int i = 0; fenp_solvers[i]; i++)
        if (fenp_solvers[i]->iterative && fenp_solvers[i]->accepts(loss, kernel, &size))
            return fenp_solvers[i];
    fail_msg("no iterative solver for %s", loss->name);
    return NULL;
}

static fenp_problem problem_of(const fenp_sample *s, const char *loss, int bias)
{
    return (fenp_problem){ .sample = s,
                           .loss = fenp_find_loss(loss),
                           .kernel = { fenp_find_kernel("gaussian"), { 0.7, 3, 1.0, 0.0 } },
                           .bias = bias };
}

/* ---- the reference --------------------------------------------------------------------------- */

/* The rows listed with the weights given, one target. */
static fenp_sample *part_of(const fenp_sample *s, int64_t target, const int64_t *row, int64_t m,
                            const double *w)
{
    fenp_sample *part = fenp_sample_new(m, s->p, 1);
    assert_non_null(part);
    for (int64_t i = 0; i < m; i++) {
        memcpy(part->x + i * s->p, s->x + row[i] * s->p, (size_t)s->p * sizeof(double));
        part->y[i] = s->y[target * s->n + row[i]];
        part->w[i] = w[row[i]];
    }
    part->weight_sum = (double)m;
    return part;
}

/* f(x) + b of a model of the part at row of s. */
typedef struct fitted {
    const fenp_problem *q;
    fenp_sample *part;
    double u[N], f[N], scale, offset, par;
} fitted;

static void fit(fitted *m, const fenp_problem *all, fenp_sample *part, fenp_setting at, double par,
                double nu)
{
    fenp_problem q = *all;
    const fenp_solver *solver = solver_for(q.loss, q.kernel.table);
    const fenp_size size = {
        .n = part->n, .p = part->p, .targets = 1, .bias = q.bias, .power = 2.0
    };
    double gap;
    fenp_solution out = {
        .dual = m->u, .scores = m->f, .scale = &m->scale, .offset = &m->offset, .gap = &gap
    };
    fenp_arena arena;
    void *state;
    int reached;
    memset(m->u, 0, sizeof m->u);
    m->q = all, m->part = part, m->par = par;
    m->scale = m->offset = 0.0;
    q.sample = part, q.lambda = at.lambda, q.power = at.power, q.gap = GAP, q.par = &m->par;
    assert_int_equal(fenp_arena_open(&arena, solver->bytes(&size), "a test", NULL), FEN_OK);
    assert_int_equal(solver->begin(&arena, &q, &state, NULL, NULL), FEN_OK);
    assert_int_equal(fenp_descend(solver, state, &q, nu, &m->par, &out, &reached, NULL, NULL),
                     FEN_OK);
    assert_true(reached);
    fenp_arena_close(&arena);
}

static double predict(const fitted *m, const double *x)
{
    const fenp_sample *s = m->part;
    double f = m->offset;
    for (int64_t i = 0; i < s->n; i++)
        f += m->scale * m->u[i] * fenp_kernel_pair(&m->q->kernel, s->x + i * s->p, x, s->p);
    return f;
}

/* Held-out predictions of fold after fold of one target into held (n). */
static void brute_folds(const fenp_problem *q, int64_t target, fenp_setting at, double par,
                        uint64_t seed, double *held)
{
    const fenp_sample *s = q->sample;
    int64_t order[N], rest[N];
    double w[N], own[N];
    fenp_output_weights(q->loss, s->y + target * s->n, s->w, s->n, own);
    assert_int_equal(fenp_deal_rows(s->n, FOLDS, seed, order, NULL), FEN_OK);
    for (int64_t fold = 0; fold < FOLDS; fold++) {
        int64_t m = 0;
        double sum = 0.0;
        for (int64_t k = 0; k < s->n; k++) {
            if (k % FOLDS == fold) continue;
            sum += s->w[order[k]];
            if (own[order[k]] > 0.0) rest[m++] = order[k];
        }
        for (int64_t i = 0; i < s->n; i++) w[i] = own[i] / sum;
        fitted model;
        fenp_sample *part = part_of(s, target, rest, m, w);
        fit(&model, q, part, at, par, 0.0);
        for (int64_t k = fold; k < s->n; k += FOLDS)
            held[order[k]] = predict(&model, s->x + order[k] * s->p);
        fenp_sample_free(part);
    }
}

static void brute_singles(const fenp_problem *q, int64_t target, fenp_setting at, double par,
                          double *held)
{
    const fenp_sample *s = q->sample;
    int64_t rest[N];
    for (int64_t out = 0; out < s->n; out++) {
        int64_t m = 0;
        for (int64_t i = 0; i < s->n; i++)
            if (i != out) rest[m++] = i;
        fitted model;
        fenp_sample *part = part_of(s, target, rest, m, s->w);
        fit(&model, q, part, at, par, 0.0);
        held[out] = predict(&model, s->x + out * s->p);
        fenp_sample_free(part);
    }
}

static double mean_loss(const fenp_problem *q, int64_t target, double par, const double *held)
{
    const fenp_sample *s = q->sample;
    double w[N], sum = 0.0, whole = 0.0;
    fenp_output_weights(q->loss, s->y + target * s->n, s->w, s->n, w);
    for (int64_t i = 0; i < s->n; i++) {
        whole += w[i];
        if (w[i] > 0.0) sum += w[i] * q->loss->value(s->y[target * s->n + i], held[i], &par);
    }
    return sum / whole;
}

/* ---- the scores under test ------------------------------------------------------------------- */

static void refit_as(const fenp_problem *q, fenp_refits how, const fenp_setting *points,
                     int64_t count, double *scores, double *held)
{
    const fenp_solver *solver = solver_for(q->loss, q->kernel.table);
    const fenp_size size = { .n = q->sample->n,
                             .p = q->sample->p,
                             .targets = q->sample->targets,
                             .bias = q->bias,
                             .power = 2.0 };
    const int64_t folds = how.folds;
    how.solver = solver, how.gap = GAP, how.seed = 5;
    fenp_arena arena;
    fen_error err = { .message = "" };
    assert_int_equal(fenp_arena_open(&arena, fenp_scores_refit_bytes(solver, &size, count, folds),
                                     "a test", NULL),
                     FEN_OK);
    if (fenp_scores_refit(&arena, q, &how, points, count, scores, held, NULL, &err) != FEN_OK)
        fail_msg("%s: %s", q->loss->name, err.message);
    fenp_arena_close(&arena);
}

static void refit(const fenp_problem *q, const fenp_output *outputs, double nu, int64_t folds,
                  const fenp_setting *points, int64_t count, double *scores, double *held)
{
    const fenp_refits how = { .outputs = outputs, .nu = nu, .folds = folds };
    refit_as(q, how, points, count, scores, held);
}

static const struct {
    const char *loss;
    double par;
    int signs;
} cases[] = { { "hinge", 1.0, 1 },    { "logistic", 0.0, 1 }, { "sqhinge", 0.0, 1 },
              { "eps", 0.3, 0 },      { "pinball", 0.3, 0 },  { "huber", 0.5, 0 },
              { "absolute", 0.0, 0 }, { "sqeps", 0.2, 0 } };
enum { CASES = sizeof cases / sizeof *cases };

/* lambdas out of order: the walk goes down all the same */
static const fenp_setting POINTS[] = { { 0.01, 2.0 }, { 0.2, 2.0 }, { 0.05, 2.0 } };
enum { COUNT = sizeof POINTS / sizeof *POINTS };

static void assert_scores(const fenp_problem *q, double par, int64_t folds)
{
    const fenp_output output = { .column = 0, .plus = -1, .minus = -1, .par = par };
    double scores[COUNT], held[COUNT * N], expected[N];
    refit(q, &output, 0.0, folds, POINTS, COUNT, scores, held);
    for (int l = 0; l < COUNT; l++) {
        if (folds)
            brute_folds(q, 0, POINTS[l], par, 5, expected);
        else
            brute_singles(q, 0, POINTS[l], par, expected);
        for (int64_t i = 0; i < N; i++) assert_near(held[l * N + i], expected[i], CLOSE);
        assert_near(scores[l], mean_loss(q, 0, par, expected), CLOSE);
    }
}

static void folds_are_those_of_separate_models(void **state)
{
    (void)state;
    for (int c = 0; c < CASES; c++)
        for (int bias = 0; bias <= 1; bias++) {
            fenp_sample *s = random_sample(N, 1, cases[c].signs, 1);
            const fenp_problem q = problem_of(s, cases[c].loss, bias);
            assert_scores(&q, cases[c].par, FOLDS);
            fenp_sample_free(s);
        }
}

/* Every row is left out for true on the other side, those with u = 0 as well. */
static void singles_are_those_of_separate_models(void **state)
{
    (void)state;
    for (int c = 0; c < CASES; c++) {
        fenp_sample *s = random_sample(N, 1, cases[c].signs, 1);
        const fenp_problem q = problem_of(s, cases[c].loss, 1);
        assert_scores(&q, cases[c].par, 0);
        fenp_sample_free(s);
    }
}

/* With equal weights all u may lie on their bounds: any b of an interval is optimal, of all rows or
 * without one of them, and the one taken is that of a fit from a cold start. */
static void offsets_are_those_of_separate_models(void **state)
{
    static const char *const losses[] = { "hinge", "eps", "absolute", "pinball" };
    static const double pars[] = { 1.0, 0.5, 0.0, 0.3 };
    (void)state;
    for (drawn = 1; drawn <= 4; drawn++)
        for (int c = 0; c < 4; c++) {
            fenp_sample *s = random_sample(20, 1, c == 0, 0);
            const fenp_problem q = problem_of(s, losses[c], 1);
            const fenp_output output = { .column = 0, .plus = -1, .minus = -1, .par = pars[c] };
            const fenp_setting points[] = { { 1.0, 2.0 }, { 0.3, 2.0 }, { 0.1, 2.0 } };
            double scores[3], held[3 * 20], expected[N];
            refit(&q, &output, 0.0, 0, points, 3, scores, held);
            for (int l = 0; l < 3; l++) {
                brute_singles(&q, 0, points[l], pars[c], expected);
                for (int64_t i = 0; i < s->n; i++)
                    assert_near(held[l * s->n + i], expected[i], CLOSE);
            }
            fenp_sample_free(s);
        }
    drawn = 11;
}

static void square_loss_agrees_with_its_closed_forms(void **state)
{
    (void)state;
    fenp_sample *s = random_sample(N, 2, 0, 1);
    fenp_problem q = problem_of(s, "square", 1);
    const fenp_output outputs[2] = { { .par = 0.0 }, { .par = 0.0 } };
    const fenp_size size = { .n = N, .p = P, .targets = 2, .bias = 1, .power = 2.0 };
    double scores[2 * COUNT], expected[2 * COUNT];
    fenp_arena arena;
    for (int64_t folds = 0; folds <= FOLDS; folds += FOLDS) {
        const int64_t bytes =
            folds ? fenp_scores_kfold_bytes(&size, COUNT) : fenp_scores_cholesky_bytes(&size);
        assert_int_equal(fenp_arena_open(&arena, bytes, "a test", NULL), FEN_OK);
        if (folds)
            fenp_scores_kfold(&arena, &q, POINTS, COUNT, folds, 5, expected, NULL, NULL);
        else
            fenp_scores_cholesky(&arena, &q, POINTS, COUNT, FENP_LOO, expected, NULL, NULL);
        fenp_arena_close(&arena);
        refit(&q, outputs, 0.0, folds, POINTS, COUNT, scores, NULL);
        for (int l = 0; l < 2 * COUNT; l++) assert_near(scores[l], expected[l], 1e-5 * expected[l]);
    }
    fenp_sample_free(s);
}

static void powers_are_refitted(void **state)
{
    (void)state;
    fenp_sample *s = random_sample(N, 1, 0, 0);
    const fenp_problem q = problem_of(s, "huber", 1);
    const fenp_output output = { .plus = -1, .minus = -1, .par = 0.5 };
    const fenp_setting points[] = { { 0.05, 3.0 }, { 0.05, 1.5 }, { 0.1, 1.5 } };
    double scores[3], expected[N];
    refit(&q, &output, 0.0, FOLDS, points, 3, scores, NULL);
    for (int l = 0; l < 3; l++) {
        brute_folds(&q, 0, points[l], 0.5, 5, expected);
        assert_near(scores[l], mean_loss(&q, 0, 0.5, expected), CLOSE);
    }
    fenp_sample_free(s);
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Three classes in bands of the first input; outputs are the pairs 0-1, 0-2, 1-2. */
static fenp_sample *three_classes(fenp_output outputs[3], int64_t classes[N])
{
    fenp_sample *s = random_sample(N, 3, 1, 1);
    const int64_t plus[3] = { 1, 2, 2 }, minus[3] = { 0, 0, 1 };
    for (int64_t i = 0; i < N; i++) {
        const double x = s->x[i * P] + 0.3 * fenp_normal(9, 1, (uint64_t)i);
        classes[i] = x < -0.7 ? 0 : x < 0.7 ? 1 : 2;
    }
    for (int64_t t = 0; t < 3; t++) {
        outputs[t] = (fenp_output){ .plus = plus[t], .minus = minus[t], .par = 1.0 };
        for (int64_t i = 0; i < N; i++)
            s->y[t * N + i] = classes[i] == plus[t] ? 1.0 : classes[i] == minus[t] ? -1.0 : 0.0;
    }
    return s;
}

static void pairs_look_at_their_own_rows(void **state)
{
    (void)state;
    fenp_output outputs[3];
    int64_t classes[N];
    fenp_sample *s = three_classes(outputs, classes);
    const fenp_problem q = problem_of(s, "hinge", 1);
    double scores[3 * COUNT], held[3 * COUNT * N], expected[N];
    refit(&q, outputs, 0.0, FOLDS, POINTS, COUNT, scores, held);
    for (int64_t t = 0; t < 3; t++)
        for (int l = 0; l < COUNT; l++) {
            brute_folds(&q, t, POINTS[l], 1.0, 5, expected);
            assert_near(scores[t * COUNT + l], mean_loss(&q, t, 1.0, expected), CLOSE);
        }
    fenp_sample_free(s);
}

static void error_rates_count_rows_in_wrong_classes(void **state)
{
    (void)state;
    fenp_output outputs[3];
    int64_t classes[N];
    fenp_sample *s = three_classes(outputs, classes);
    double held[3 * N], rate, wrong = 0.0;
    for (int64_t i = 0; i < N; i++) {
        const int64_t said = i % 5 == 0 ? (classes[i] + 1) % 3 : classes[i];
        wrong += said != classes[i] ? s->w[i] : 0.0;
        for (int t = 0; t < 3; t++)
            held[t * N + i] = said == outputs[t].plus ? 1.0 : said == outputs[t].minus ? -1.0 : 0.2;
    }
    const fenp_classifier by = fenp_classifier_of(outputs, 3, fenp_find_loss("hinge"));
    assert_int_equal(fenp_error_rates(s, &by, held, 1, &rate, NULL), FEN_OK);
    assert_near(rate, wrong, 1e-12);
    fenp_sample_free(s);
}

/* With one row of the other class, the fold that holds it out knows one class alone. */
static void a_fold_of_one_class_predicts_it(void **state)
{
    (void)state;
    const char *losses[] = { "hinge", "logistic" };
    for (int c = 0; c < 2; c++) {
        fenp_sample *s = random_sample(N, 1, 1, 0);
        const fenp_output output = { .plus = 1, .minus = 0, .par = 1.0 };
        const fenp_problem q = problem_of(s, losses[c], 1);
        double scores[COUNT], held[COUNT * N];
        for (int64_t i = 0; i < N; i++) s->y[i] = i == 17 ? -1.0 : 1.0;
        refit(&q, &output, 0.0, FOLDS, POINTS, COUNT, scores, held);
        for (int l = 0; l < COUNT; l++) {
            assert_true(isfinite(scores[l]));
            assert_true(held[l * N + 17] == 1.0);
        }
        fenp_sample_free(s);
    }
}

/* ---- a parameter with a price ---------------------------------------------------------------- */

/* f, b and rho of nu-SVC are proportional to 1/lambda: the score has no scale. */
static void score_of_a_free_margin_does_not_depend_on_lambda(void **state)
{
    (void)state;
    fenp_sample *s = random_sample(N, 1, 1, 0);
    const fenp_problem q = problem_of(s, "hinge", 1);
    const fenp_output output = { .plus = 1, .minus = 0, .par = 1.0 };
    double scores[COUNT];
    refit(&q, &output, 0.4, FOLDS, POINTS, COUNT, scores, NULL);
    for (int l = 1; l < COUNT; l++) assert_near(scores[l], scores[0], 1e-3 * scores[0]);
    fenp_sample_free(s);
}

/* nu-SVR: the width of the tube is paid for. Its price is the share of rows outside, so that loss
 * and price together are what they are at the width that every fold finds for itself. */
static void score_of_a_free_width_includes_its_price(void **state)
{
    (void)state;
    fenp_sample *s = random_sample(N, 1, 0, 1);
    const fenp_problem q = problem_of(s, "eps", 1);
    const fenp_output output = { .plus = -1, .minus = -1, .par = 0.1 };
    const fenp_setting point = { 0.02, 2.0 };
    double score, held[N], expected = 0.0;
    int64_t order[N], rest[N];
    refit(&q, &output, 0.3, FOLDS, &point, 1, &score, held);
    assert_int_equal(fenp_deal_rows(N, FOLDS, 5, order, NULL), FEN_OK);
    for (int64_t fold = 0; fold < FOLDS; fold++) {
        int64_t m = 0;
        double sum = 0.0, w[N];
        for (int64_t k = 0; k < N; k++)
            if (k % FOLDS != fold) sum += s->w[rest[m++] = order[k]];
        for (int64_t i = 0; i < N; i++) w[i] = s->w[i] / sum;
        fitted model;
        fenp_sample *part = part_of(s, 0, rest, m, w);
        fit(&model, &q, part, point, 0.1, 0.3);
        for (int64_t k = fold; k < N; k += FOLDS) {
            const int64_t row = order[k];
            const double r = fabs(s->y[row] - predict(&model, s->x + row * P));
            expected += s->w[row] * (fmax(r - model.par, 0.0) + 0.3 * model.par);
        }
        fenp_sample_free(part);
    }
    assert_near(score, expected, 1e-3);
    fenp_sample_free(s);
}

/* ---- hurry ----------------------------------------------------------------------------------- */

/* What is tried scores the same; what is not lies below the best lambda. */
static void hurry_leaves_out_small_lambdas_alone(void **state)
{
    (void)state;
    enum { MANY = 10 };
    fenp_setting points[MANY];
    for (int l = 0; l < MANY; l++) points[l] = (fenp_setting){ pow(10.0, -4.0 + 0.4 * l), 2.0 };
    for (int c = 0; c < CASES; c += 3) {
        fenp_sample *s = random_sample(N, 1, cases[c].signs, 1);
        const fenp_problem q = problem_of(s, cases[c].loss, 1);
        const fenp_output output = { .plus = -1, .minus = -1, .par = cases[c].par };
        const fenp_refits slow = { .outputs = &output, .folds = FOLDS };
        const fenp_refits fast = { .outputs = &output, .folds = FOLDS, .hurried = 1 };
        double all[MANY], some[MANY];
        int best = 0, tried = 0;
        refit_as(&q, slow, points, MANY, all, NULL);
        refit_as(&q, fast, points, MANY, some, NULL);
        for (int l = 1; l < MANY; l++) best = all[l] < all[best] ? l : best;
        while (isinf(some[tried])) tried++;
        assert_in_range(tried, 1, best);
        for (int l = tried; l < MANY; l++) assert_true(some[l] == all[l]);
        fenp_sample_free(s);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

/* So few rows are refitted on one thread, however many there are. */
static void scores_do_not_depend_on_threads(void **state)
{
    (void)state;
    const int before = omp_get_max_threads();
    for (int c = 0; c < CASES; c++) {
        fenp_sample *s = random_sample(N, 1, cases[c].signs, 1);
        const fenp_problem q = problem_of(s, cases[c].loss, 1);
        const fenp_output output = { .plus = -1, .minus = -1, .par = cases[c].par };
        double one[COUNT], three[COUNT], again[COUNT];
        omp_set_num_threads(1);
        refit(&q, &output, 0.0, FOLDS, POINTS, COUNT, one, NULL);
        omp_set_num_threads(3);
        refit(&q, &output, 0.0, FOLDS, POINTS, COUNT, three, NULL);
        refit(&q, &output, 0.0, FOLDS, POINTS, COUNT, again, NULL);
        assert_memory_equal(three, again, sizeof three);
        assert_memory_equal(one, three, sizeof one);
        fenp_sample_free(s);
    }
    omp_set_num_threads(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_are_those_of_separate_models),
        cmocka_unit_test(singles_are_those_of_separate_models),
        cmocka_unit_test(offsets_are_those_of_separate_models),
        cmocka_unit_test(square_loss_agrees_with_its_closed_forms),
        cmocka_unit_test(powers_are_refitted),
        cmocka_unit_test(pairs_look_at_their_own_rows),
        cmocka_unit_test(error_rates_count_rows_in_wrong_classes),
        cmocka_unit_test(a_fold_of_one_class_predicts_it),
        cmocka_unit_test(score_of_a_free_margin_does_not_depend_on_lambda),
        cmocka_unit_test(score_of_a_free_width_includes_its_price),
        cmocka_unit_test(hurry_leaves_out_small_lambdas_alone),
        cmocka_unit_test(scores_do_not_depend_on_threads),
    };
    fenp_threads_narrow(N); /* the reference as well */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
