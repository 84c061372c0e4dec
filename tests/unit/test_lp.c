/* test_lp.c -- solvers of penalties l^p: gaps by a second account, laws of scale, limits, routes */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/registry.h"
#include "data/prepare.h"
#include "solver/lp.h"

enum { N = 40, P = 5 };
static const double GAP = 1e-9;

static double uniform(unsigned stream, int64_t i)
{
    uint64_t z = (uint64_t)i * 0x9E3779B97F4A7C15ull + stream * 0xD1B54A32D192ED03ull;
    z = (z ^ (z >> 31)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static fenp_sample *sample_of(int64_t n, int64_t p, fen_labels labels)
{
    fenp_sample *s = fenp_sample_new(n, p, 1);
    assert_non_null(s);
    for (int64_t i = 0; i < n * p; i++) s->x[i] = 2.0 * uniform(1, i) - 1.0;
    for (int64_t i = 0; i < n; i++) {
        const double *x = s->x + i * p;
        const double y = 2.0 * x[0] - x[p - 1] + x[0] * x[p - 1] + uniform(2, i) - 0.5;
        s->y[i] = labels == FEN_SIGNS ? (y > 0.0 ? 1.0 : -1.0) : y + 3.0;
        s->w[i] = 1.0 / (double)n;
    }
    s->weight_sum = (double)n;
    return s;
}

static fenp_problem problem_of(const fenp_sample *s, const fen_loss *loss, const char *kernel,
                               double power, double lambda, int bias)
{
    return (fenp_problem){
        .sample = s,
        .loss = loss,
        .par = &loss->parameter.initial,
        .kernel = { fenp_find_kernel(kernel),
                    { .gamma = 0.5, .degree = 2, .order = power / (power - 1.0) } },
        .lambda = lambda,
        .power = power,
        .bias = bias,
        .gap = GAP,
        .route = "auto",
    };
}

typedef struct answer {
    double dual[2 * N], scores[2 * N], weights[2 * N], scale, offset, gap;
    int64_t steps;
    fen_status status;
} answer;

static int stop_at(void *user, const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    return --*(int *)user < 0;
}

/* calls: reports of progress before the caller stops; negative: never. */
static void solve_until(const char *name, const fenp_problem *q, int calls, answer *a)
{
    const fenp_solver *solver = fenp_find_solver(name);
    const fenp_size size = { .n = q->sample->n,
                             .p = q->sample->p,
                             .targets = 1,
                             .bias = q->bias,
                             .power = q->power,
                             .kernel = q->kernel,
                             .route = q->route };
    fenp_solution out = { .dual = a->dual,
                          .scale = &a->scale,
                          .offset = &a->offset,
                          .weights = q->kernel.table->linear ? a->weights : NULL,
                          .scores = a->scores,
                          .gap = &a->gap };
    const fen_host host = { .progress = stop_at, .user = &calls };
    const fenp_task task = fenp_task_start(calls < 0 ? NULL : &host, 0.0);
    fenp_arena arena;
    fen_error err;
    void *state;
    assert_non_null(solver);
    assert_true(solver->accepts(q->loss, q->kernel.table, &size));
    assert_int_equal(fenp_arena_open(&arena, solver->bytes(&size), "test", &err), FEN_OK);
    assert_int_equal(solver->begin(&arena, q, &state, NULL, &err), FEN_OK);
    a->status = solver->sweep(state, q, &out, &task, &err);
    for (int again = 0; again < 40 && a->status == FEN_OK && a->gap > q->gap; again++)
        a->status = solver->sweep(state, q, &out, &task, &err);
    a->steps = fenp_lp_steps(state);
    fenp_arena_close(&arena);
}

static answer solve(const char *name, const fenp_problem *q)
{
    answer a = { .gap = INFINITY };
    solve_until(name, q, -1, &a);
    assert_int_equal(a.status, FEN_OK);
    return a;
}

/* ---- a second account of P and D: features written out ------------------------------------- */

static int64_t features_of(const fenp_problem *q, int64_t i, double *phi)
{
    const int64_t p = q->sample->p;
    const double *x = q->sample->x + i * p;
    if (strcmp(q->kernel.table->name, "tensor-polynomial") != 0) {
        memcpy(phi, x, (size_t)p * sizeof *phi);
        return p;
    }
    int64_t count = 0; /* degree 2 */
    for (int64_t j = 0; j < p; j++)
        for (int64_t k = j; k < p; k++)
            phi[count++] = x[j] * x[k] * (j == k ? 1.0 : pow(2.0, 1.0 / q->kernel.par.order));
    return count;
}

static void check_gap(const fenp_problem *q, const answer *a, double most)
{
    enum { MOST = 64 };
    const fenp_sample *s = q->sample;
    const double p = q->power, order = p / (p - 1.0);
    double g[MOST] = { 0 }, phi[MOST], norm = 0.0, dual_norm = 0.0, primal = 0.0, dual = 0.0;
    double sum = 0.0, size = 0.0;
    int64_t count = 0;
    for (int64_t i = 0; i < s->n; i++) {
        count = features_of(q, i, phi);
        for (int64_t k = 0; k < count; k++) g[k] += a->dual[i] * phi[k];
        sum += a->dual[i], size += fabs(a->dual[i]);
    }
    if (q->bias) assert_true(fabs(sum) <= 1e-12 * size);
    for (int64_t k = 0; k < count; k++) {
        norm += pow(fabs(g[k]) / (q->lambda * p), order);
        dual_norm += pow(fabs(g[k]), order);
    }
    for (int64_t i = 0; i < s->n; i++) {
        double t = 0.0;
        features_of(q, i, phi);
        for (int64_t k = 0; k < count; k++)
            t += phi[k] * copysign(pow(fabs(g[k]) / (q->lambda * p), order - 1.0), g[k]);
        assert_true(fabs(t - a->scores[i]) <= 1e-9 * (1.0 + fabs(t)));
        if (s->w[i] == 0.0) continue;
        primal += s->w[i] * q->loss->value(s->y[i], t + a->offset, q->par);
        dual -= s->w[i] * q->loss->conj(s->y[i], -a->dual[i] / s->w[i], q->par);
    }
    primal += q->lambda * norm;
    dual -= q->lambda * (p - 1.0) * dual_norm / pow(q->lambda * p, order);
    assert_true(dual <= primal * (1.0 + 1e-12) + 1e-14);
    assert_true(primal - dual <= most * primal + 1e-14);
}

static const fen_loss *const *losses(void) { return fenp_losses; }

static int is_tube(const fen_loss *loss) { return strcmp(loss->name, "tube") == 0; }

static void test_every_loss_is_solved_and_the_gap_is_true(void **state)
{
    static const char *const kernels[] = { "linear", "tensor-polynomial" };
    static const double lambdas[] = { 1e-4, 0.02, 1.0 };
    (void)state;
    for (const fen_loss *const *loss = losses(); *loss; loss++) {
        if (is_tube(*loss)) continue;
        fenp_sample *s = sample_of(N, P, (*loss)->labels);
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < 3; l++)
                for (int bias = 0; bias < 2; bias++) {
                    const fenp_problem q =
                        problem_of(s, *loss, kernels[k], 4.0 / 3.0, lambdas[l], bias);
                    const answer a = solve("lp-newton", &q);
                    assert_true(a.gap <= GAP);
                    check_gap(&q, &a, 2.0 * GAP);
                }
        fenp_sample_free(s);
    }
}

static void test_any_p_with_linear_features(void **state)
{
    static const double powers[] = { 2.0, 1.7, 1.5, 1.25, 1.1, 1.02 };
    static const char *const names[] = { "square", "eps", "logistic" };
    (void)state;
    for (int k = 0; k < 3; k++) {
        const fen_loss *loss = fenp_find_loss(names[k]);
        for (int wide = 0; wide < 2; wide++) {
            fenp_sample *s = wide ? sample_of(12, 50, loss->labels) : sample_of(N, P, loss->labels);
            for (int i = 0; i < 6; i++) {
                const fenp_problem q = problem_of(s, loss, "linear", powers[i], 0.02, 1);
                const answer a = solve("lp-newton", &q);
                assert_true(a.gap <= GAP);
                check_gap(&q, &a, 2.0 * GAP);
            }
            fenp_sample_free(s);
        }
    }
}

static void test_gradient_and_newton_agree(void **state)
{
    (void)state;
    for (const fen_loss *const *loss = losses(); *loss; loss++) {
        if (is_tube(*loss)) continue;
        fenp_sample *s = sample_of(N, P, (*loss)->labels);
        fenp_problem q = problem_of(s, *loss, "tensor-linear", 4.0 / 3.0, 0.1, 1);
        q.gap = 1e-8; /* the gradient method has a linear rate at best */
        const answer newton = solve("lp-newton", &q), gradient = solve("lp-gradient", &q);
        assert_true(newton.gap <= q.gap && gradient.gap <= 1e-6);
        check_gap(&q, &gradient, 2e-6);
        for (int64_t j = 0; j < P; j++) /* strongly convex: a gap of g moves w by its root */
            assert_true(fabs(newton.weights[j] - gradient.weights[j]) <= 2e-3);
        assert_true(newton.steps <= gradient.steps || newton.steps <= 30);
        fenp_sample_free(s);
    }
}

/* ---- laws --------------------------------------------------------------------------------- */

/* y times c and lambda times c^(2-p): w times c */
static void test_square_loss_scales(void **state)
{
    static const double factors[] = { 1e8, 1e-8 };
    (void)state;
    fenp_sample *s = sample_of(N, P, FEN_NUMBERS);
    const fen_loss *square = fenp_find_loss("square");
    const fenp_problem q = problem_of(s, square, "linear", 1.25, 0.01, 1);
    const answer before = solve("lp-newton", &q);
    for (int k = 0; k < 2; k++) {
        fenp_problem scaled = q;
        for (int64_t i = 0; i < N; i++) s->y[i] *= factors[k];
        scaled.lambda *= pow(factors[k], 0.75);
        const answer after = solve("lp-newton", &scaled);
        for (int64_t j = 0; j < P; j++)
            assert_true(fabs(after.weights[j] / factors[k] - before.weights[j]) <= 1e-4);
        for (int64_t i = 0; i < N; i++) s->y[i] /= factors[k];
    }
    fenp_sample_free(s);
}

static void test_p_of_two_is_ridge(void **state)
{
    (void)state;
    fenp_sample *s = sample_of(N, P, FEN_NUMBERS);
    fenp_problem q = problem_of(s, fenp_find_loss("square"), "linear", 2.0, 0.05, 1);
    const answer lp = solve("lp-newton", &q);
    /* X'(y - Xw - b)/n = lambda w, means taken off */
    double mean[P] = { 0 }, middle = 0.0;
    for (int64_t i = 0; i < N; i++) {
        middle += s->y[i] / N;
        for (int64_t j = 0; j < P; j++) mean[j] += s->x[i * P + j] / N;
    }
    for (int64_t j = 0; j < P; j++) {
        double left = 0.0;
        for (int64_t i = 0; i < N; i++) {
            double r = s->y[i] - middle;
            for (int64_t k = 0; k < P; k++) r -= (s->x[i * P + k] - mean[k]) * lp.weights[k];
            left += (s->x[i * P + j] - mean[j]) * r / N;
        }
        assert_true(fabs(left - q.lambda * lp.weights[j]) <= 1e-6);
    }
    fenp_sample_free(s);
}

static void test_rows_without_weight_take_no_part_but_have_scores(void **state)
{
    static const char *const names[] = { "square", "hinge", "eps", "logistic" };
    (void)state;
    for (int k = 0; k < 4; k++) {
        const fen_loss *loss = fenp_find_loss(names[k]);
        fenp_sample *all = sample_of(N, P, loss->labels), *part = sample_of(N / 2, P, loss->labels);
        for (int64_t i = 0; i < N; i++) all->w[i] = i < N / 2 ? 2.0 / N : 0.0;
        const fenp_problem one = problem_of(all, loss, "tensor-polynomial", 4.0 / 3.0, 0.01, 1);
        const fenp_problem two = problem_of(part, loss, "tensor-polynomial", 4.0 / 3.0, 0.01, 1);
        const answer a = solve("lp-newton", &one), b = solve("lp-newton", &two);
        check_gap(&one, &a, 2.0 * GAP);
        for (int64_t i = 0; i < N / 2; i++) assert_true(fabs(a.scores[i] - b.scores[i]) <= 1e-3);
        for (int64_t i = N / 2; i < N; i++) assert_true(a.dual[i] == 0.0 && a.scores[i] != 0.0);
        fenp_sample_free(all);
        fenp_sample_free(part);
    }
}

static void test_routes_agree(void **state)
{
    static const char *const routes[] = { "features", "packed", "low-rank" };
    (void)state;
    fenp_sample *s = sample_of(20, P, FEN_NUMBERS);
    answer a[3];
    for (int k = 0; k < 3; k++) {
        fenp_problem q =
            problem_of(s, fenp_find_loss("square"), "tensor-polynomial", 4.0 / 3.0, 0.01, 1);
        q.route = routes[k], q.gap = 1e-13;
        a[k] = (answer){ .gap = INFINITY };
        solve_until("lp-newton", &q, -1, &a[k]);
        assert_int_equal(a[k].status, FEN_OK);
    }
    for (int64_t i = 0; i < 20; i++) {
        assert_true(fabs(a[1].scores[i] - a[0].scores[i]) <= 1e-8);
        assert_true(fabs(a[2].scores[i] - a[0].scores[i]) <= 1e-5); /* single precision */
    }
    fenp_sample_free(s);
}

/* ---- starts ------------------------------------------------------------------------------- */

/* The best constant is a corner of most rows: their slopes are whole intervals. */
static void test_labels_of_two_values(void **state)
{
    static const char *const names[] = { "absolute", "eps", "pinball", "huber" };
    (void)state;
    fenp_sample *s = sample_of(N, P, FEN_NUMBERS);
    for (int64_t i = 0; i < N; i++) s->y[i] = s->x[i * P] > 0.3 ? 1.0 : 0.0;
    for (int k = 0; k < 4; k++) {
        const fenp_problem q = problem_of(s, fenp_find_loss(names[k]), "linear", 1.2, 0.01, 1);
        const answer a = solve("lp-newton", &q);
        assert_true(a.gap <= GAP);
        check_gap(&q, &a, 2.0 * GAP);
    }
    fenp_sample_free(s);
}

/* From lambda to lambda: a = s u is far from what T bears, though u is nearly the best. */
static void test_warm_starts(void **state)
{
    static const char *const names[] = { "logistic", "hinge", "square", "absolute" };
    static const double powers[] = { 4.0 / 3.0, 1.02 };
    (void)state;
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < 2; l++) {
            const fen_loss *loss = fenp_find_loss(names[k]);
            fenp_sample *s = sample_of(N, P, loss->labels);
            answer a = { .gap = INFINITY };
            for (double lambda = 1.0; lambda > 1e-6; lambda *= 0.1) {
                fenp_problem q = problem_of(s, loss, "linear", powers[l], lambda, 1);
                q.gap = 1e-6;
                solve_until("lp-newton", &q, -1, &a);
                assert_int_equal(a.status, FEN_OK);
                assert_true(a.gap <= q.gap);
            }
            fenp_sample_free(s);
        }
}

/* ---- limits ------------------------------------------------------------------------------- */

static void test_limits(void **state)
{
    (void)state;
    for (const fen_loss *const *loss = losses(); *loss; loss++) {
        if (is_tube(*loss)) continue;
        fenp_sample *s = sample_of(N, P, (*loss)->labels);
        const fenp_problem huge = problem_of(s, *loss, "linear", 1.5, 1e9, 1);
        const answer none = solve("lp-newton", &huge);
        assert_true(none.gap <= GAP);
        for (int64_t j = 0; j < P; j++) assert_true(fabs(none.weights[j]) <= 1e-9);
        for (int64_t i = 0; i < N; i++) s->y[i] = 1.0; /* nothing but a constant */
        const fenp_problem flat = problem_of(s, *loss, "linear", 1.5, 0.1, 1);
        const answer constant = solve("lp-newton", &flat);
        assert_true(constant.gap <= GAP);
        for (int64_t j = 0; j < P; j++) assert_true(constant.weights[j] == 0.0);
        fenp_sample_free(s);
    }
}

static void test_columns_of_zeros_and_equal_rows(void **state)
{
    (void)state;
    fenp_sample *s = sample_of(N, P, FEN_NUMBERS);
    for (int64_t i = 0; i < N; i++) s->x[i * P + 2] = 0.0;
    memcpy(s->x + P, s->x, P * sizeof(double));
    for (int64_t i = 0; i < 2; i++) {
        const fenp_problem q =
            problem_of(s, fenp_find_loss(i ? "absolute" : "square"), "linear", 1.2, 0.01, 1);
        const answer a = solve("lp-newton", &q);
        assert_true(a.gap <= GAP && a.weights[2] == 0.0);
        check_gap(&q, &a, 2.0 * GAP);
    }
    fenp_sample_free(s);
    s = sample_of(N, P, FEN_NUMBERS);
    memset(s->x, 0, N * P * sizeof(double));
    const fenp_problem q = problem_of(s, fenp_find_loss("square"), "linear", 1.2, 0.01, 1);
    const answer a = solve("lp-newton", &q);
    assert_true(a.gap <= GAP && a.scores[0] == 0.0);
    fenp_sample_free(s);
}

static void test_one_row(void **state)
{
    (void)state;
    for (const fen_loss *const *loss = losses(); *loss; loss++) {
        if (is_tube(*loss)) continue;
        fenp_sample *s = sample_of(1, P, (*loss)->labels);
        for (int bias = 0; bias < 2; bias++) {
            const fenp_problem q = problem_of(s, *loss, "tensor-polynomial", 4.0 / 3.0, 0.1, bias);
            const answer a = solve("lp-newton", &q);
            assert_true(a.gap <= GAP);
            check_gap(&q, &a, 2.0 * GAP);
        }
        fenp_sample_free(s);
    }
}

static void test_a_stop_leaves_an_answer(void **state)
{
    static const char *const engines[] = { "lp-newton", "lp-gradient" };
    (void)state;
    fenp_sample *s = sample_of(N, P, FEN_NUMBERS);
    for (int k = 0; k < 2; k++) {
        const fenp_problem q = problem_of(s, fenp_find_loss("eps"), "linear", 1.1, 1e-3, 1);
        answer a = { .gap = INFINITY };
        solve_until(engines[k], &q, 3, &a);
        assert_int_equal(a.status, FEN_STOPPED);
        assert_true(isfinite(a.offset) && isfinite(a.gap) && a.gap > GAP && a.scale > 0.0);
        check_gap(&q, &a, INFINITY);
    }
    fenp_sample_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_loss_is_solved_and_the_gap_is_true),
        cmocka_unit_test(test_any_p_with_linear_features),
        cmocka_unit_test(test_gradient_and_newton_agree),
        cmocka_unit_test(test_square_loss_scales),
        cmocka_unit_test(test_p_of_two_is_ridge),
        cmocka_unit_test(test_rows_without_weight_take_no_part_but_have_scores),
        cmocka_unit_test(test_routes_agree),
        cmocka_unit_test(test_labels_of_two_values),
        cmocka_unit_test(test_warm_starts),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_columns_of_zeros_and_equal_rows),
        cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_a_stop_leaves_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
