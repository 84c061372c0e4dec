/* test_ridge.c -- solvers, leave-one-out and k-fold against brute force
 *
 * The reference is the KKT system of the definition, solved by Gaussian elimination in
 * long double: sum w (y - f - b)^2 + lambda ||f||^2 with f = sum c_i k(x_i, .) is optimal
 * where (K + lambda W^-1) c + b 1 = y and, with a bias, 1'c = 0. */
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
#include "promise/loo.h"
#include "solver/solver.h"

enum { N = 23, P = 3, T = 2, MOST = N + 1 };

static double uniform(uint64_t stream, int64_t k) { return fenp_uniform(7, stream, (uint64_t)k); }

static fenp_sample *random_sample(int64_t n, int64_t p, int weighted)
{
    fenp_sample *s = fenp_sample_new(n, p, T);
    assert_non_null(s);
    double sum = 0.0;
    for (int64_t i = 0; i < n * p; i++) s->x[i] = 4.0 * uniform(1, i) - 2.0;
    for (int64_t i = 0; i < n * T; i++) s->y[i] = 3.0 + 10.0 * uniform(2, i);
    for (int64_t i = 0; i < n; i++) sum += s->w[i] = weighted ? 0.5 + 2.0 * uniform(3, i) : 1.0;
    for (int64_t i = 0; i < n; i++) s->w[i] /= sum;
    s->weight_sum = sum;
    return s;
}

static fenp_problem problem_of(const fenp_sample *s, const char *kernel, double lambda, int bias)
{
    return (fenp_problem){ .sample = s,
                           .loss = fenp_find_loss("square"),
                           .kernel = { fenp_find_kernel(kernel), { 0.3, 2, 1.0, 0.0 } },
                           .lambda = lambda,
                           .power = 2.0,
                           .bias = bias };
}

/* c and b of the rows listed, whose weights stay what they are in the whole sample. */
static void brute(const fenp_problem *q, int64_t target, const int64_t *row, int64_t m, double *c,
                  double *b)
{
    const fenp_sample *s = q->sample;
    long double a[MOST][MOST + 1] = { { 0 } };
    const int64_t order = m + (q->bias ? 1 : 0);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++)
            a[i][j] =
                fenp_kernel_pair(&q->kernel, s->x + row[i] * s->p, s->x + row[j] * s->p, s->p);
        a[i][i] += (long double)q->lambda / s->w[row[i]];
        if (q->bias) a[i][m] = a[m][i] = 1.0L;
        a[i][order] = s->y[target * s->n + row[i]];
    }
    for (int64_t k = 0; k < order; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < order; i++)
            if (fabsl(a[i][k]) > fabsl(a[pivot][k])) pivot = i;
        for (int64_t j = 0; j <= order; j++) {
            const long double swap = a[k][j];
            a[k][j] = a[pivot][j], a[pivot][j] = swap;
        }
        for (int64_t i = 0; i < order; i++)
            if (i != k) {
                const long double factor = a[i][k] / a[k][k];
                for (int64_t j = k; j <= order; j++) a[i][j] -= factor * a[k][j];
            }
    }
    for (int64_t i = 0; i < m; i++) c[i] = (double)(a[i][order] / a[i][i]);
    *b = q->bias ? (double)(a[m][order] / a[m][m]) : 0.0;
}

static double predict(const fenp_problem *q, const int64_t *row, int64_t m, const double *c,
                      double b, int64_t at)
{
    const fenp_sample *s = q->sample;
    double f = b;
    for (int64_t i = 0; i < m; i++)
        f += c[i] * fenp_kernel_pair(&q->kernel, s->x + row[i] * s->p, s->x + at * s->p, s->p);
    return f;
}

static void solve(const char *name, const fenp_problem *q, fenp_solution *out)
{
    const fenp_solver *solver = fenp_find_solver(name);
    const fenp_size size = { .n = q->sample->n,
                             .p = q->sample->p,
                             .targets = q->sample->targets,
                             .bias = q->bias,
                             .power = 2.0 };
    fenp_arena arena;
    fen_error err;
    void *state;
    assert_int_equal(fenp_arena_open(&arena, solver->bytes(&size), "test", &err), FEN_OK);
    assert_int_equal(solver->begin(&arena, q, &state, NULL, &err), FEN_OK);
    for (int sweep = 0; sweep < 2; sweep++)
        assert_int_equal(solver->sweep(state, q, out, NULL, &err), FEN_OK);
    assert_true(arena.used <= arena.size);
    fenp_arena_close(&arena);
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * (1.0 + fabs(b)))) fail_msg("%.17g is not %.17g", a, b);
}

/* Every solver that accepts it gives the coefficients and the bias of the KKT system. */
static void test_solvers_meet_kkt(void **unused)
{
    (void)unused;
    const char *kernels[] = { "gaussian", "laplace", "matern52", "polynomial", "linear" };
    int64_t all[N];
    for (int64_t i = 0; i < N; i++) all[i] = i;
    for (int which = 0; which < 5 * 4; which++) {
        fenp_sample *s = random_sample(N, P, which & 1);
        const fenp_problem q = problem_of(s, kernels[which / 4], 0.01, which >> 1 & 1);
        const fenp_size size = { .n = N, .p = P, .targets = T, .bias = q.bias, .power = 2.0 };
        double c[MOST], b, dual[N * T], scale[T], offset[T], weights[P * T];
        const int linear = strcmp(q.kernel.table->name, "linear") == 0;
        fenp_solution out = {
            .dual = dual, .scale = scale, .offset = offset, .weights = linear ? weights : NULL
        };
        for (int k = 0; fenp_solvers[k]; k++) {
            if (fenp_solvers[k]->iterative ||
                !fenp_solvers[k]->accepts(q.loss, q.kernel.table, &size))
                continue;
            solve(fenp_solvers[k]->name, &q, &out);
            for (int64_t t = 0; t < T; t++) {
                brute(&q, t, all, N, c, &b);
                assert_near(offset[t], b, 1e-9);
                for (int64_t i = 0; i < N; i++)
                    assert_near(dual[t * N + i] / (2 * q.lambda), c[i], 1e-8);
                if (linear)
                    for (int64_t i = 0; i < N; i++) {
                        double f = offset[t];
                        for (int64_t j = 0; j < P; j++) f += weights[t * P + j] * s->x[i * P + j];
                        assert_near(f, predict(&q, all, N, c, b, i), 1e-9);
                    }
            }
        }
        fenp_sample_free(s);
    }
}

/* A row of weight 2 is the row twice. */
static void test_weight_is_repetition(void **unused)
{
    (void)unused;
    fenp_sample *once = random_sample(N, P, 0), *twice = random_sample(N + 1, P, 0);
    memcpy(twice->x, once->x, sizeof(double) * N * P);
    memcpy(twice->x + N * P, once->x + 4 * P, sizeof(double) * P);
    for (int64_t t = 0; t < T; t++) {
        memcpy(twice->y + t * (N + 1), once->y + t * N, sizeof(double) * N);
        twice->y[t * (N + 1) + N] = once->y[t * N + 4];
    }
    for (int64_t i = 0; i < N; i++) once->w[i] = (i == 4 ? 2.0 : 1.0) / (N + 1);
    for (int64_t i = 0; i <= N; i++) twice->w[i] = 1.0 / (N + 1);
    for (int bias = 0; bias < 2; bias++) {
        double u1[N * T], b1[T], u2[(N + 1) * T], b2[T], scale[T];
        fenp_solution first = { .dual = u1, .scale = scale, .offset = b1 },
                      second = { .dual = u2, .scale = scale, .offset = b2 };
        const fenp_problem q1 = problem_of(once, "gaussian", 0.02, bias);
        const fenp_problem q2 = problem_of(twice, "gaussian", 0.02, bias);
        solve("cholesky", &q1, &first);
        solve("cholesky", &q2, &second);
        for (int64_t t = 0; t < T; t++) {
            assert_near(b1[t], b2[t], 1e-10);
            for (int64_t i = 0; i < N; i++) {
                const double both = u2[t * (N + 1) + i] + (i == 4 ? u2[t * (N + 1) + N] : 0.0);
                assert_near(u1[t * N + i], both, 1e-10);
            }
        }
    }
    fenp_sample_free(once);
    fenp_sample_free(twice);
}

static double brute_loo(const fenp_problem *q, int64_t t)
{
    double sum = 0.0;
    for (int64_t out = 0; out < N; out++) {
        int64_t row[N];
        double c[MOST], b;
        for (int64_t i = 0; i < N - 1; i++) row[i] = i + (i >= out);
        brute(q, t, row, N - 1, c, &b);
        const double r = q->sample->y[t * N + out] - predict(q, row, N - 1, c, b, out);
        sum += q->sample->w[out] * r * r;
    }
    return sum;
}

static void scores_by(int route, const fenp_problem *q, const fenp_setting *points, int64_t count,
                      fenp_score_kind kind, double *scores)
{
    const fenp_sample *s = q->sample;
    const fenp_size size = {
        .n = s->n, .p = s->p, .targets = s->targets, .bias = q->bias, .power = 2.0
    };
    fenp_arena arena;
    fen_error err;
    const int primal = route == 2;
    const int64_t bytes = route == 0 ? fenp_scores_cholesky_bytes(&size)
                                     : fenp_spectrum_bytes(&size, primal) +
                                           fenp_scores_spectrum_bytes(&size, count, primal);
    assert_int_equal(fenp_arena_open(&arena, bytes, "test", &err), FEN_OK);
    if (route == 0)
        assert_int_equal(fenp_scores_cholesky(&arena, q, points, count, kind, scores, NULL, &err),
                         FEN_OK);
    else {
        fenp_spectrum e;
        assert_int_equal(fenp_spectrum_make(&arena, q, primal, &e, NULL, &err), FEN_OK);
        assert_int_equal(
            fenp_scores_spectrum(&arena, &e, s->w, q->bias, points, count, kind, scores, &err),
            FEN_OK);
    }
    assert_true(arena.used <= arena.size);
    fenp_arena_close(&arena);
}

/* Three routes, with and without bias and weights: the refits one by one. */
static void test_leave_one_out(void **unused)
{
    (void)unused;
    const fenp_setting points[] = { { 1e-4, 2 }, { 0.01, 2 }, { 1.0, 2 } };
    for (int which = 0; which < 8; which++) {
        fenp_sample *s = random_sample(N, P, which & 1);
        fenp_problem q = problem_of(s, which & 4 ? "linear" : "gaussian", 0.0, which >> 1 & 1);
        for (int route = 0; route < (which & 4 ? 3 : 2); route++) {
            double scores[3 * T];
            scores_by(route, &q, points, 3, FENP_LOO, scores);
            for (int l = 0; l < 3; l++)
                for (int64_t t = 0; t < T; t++) {
                    q.lambda = points[l].lambda;
                    assert_near(scores[t * 3 + l], brute_loo(&q, t), 1e-8);
                }
        }
        fenp_sample_free(s);
    }
}

/* What a lambda scores does not depend on those before it, however small they are. */
static void test_scores_do_not_depend_on_order(void **unused)
{
    (void)unused;
    const fenp_setting points[] = { { 1e-11, 2 }, { 1e-3, 2 } };
    fenp_sample *s = random_sample(N, P, 0);
    const fenp_problem q = problem_of(s, "gaussian", 0.0, 1);
    double both[2 * T], alone[T];
    scores_by(0, &q, points, 2, FENP_LOO, both);
    scores_by(0, &q, points + 1, 1, FENP_LOO, alone);
    for (int64_t t = 0; t < T; t++) assert_true(both[t * 2 + 1] == alone[t]);
    fenp_sample_free(s);
}

/* GCV = mean residual^2 / (1 - trace H / n)^2, H by its columns: the fit to unit labels. */
static void test_gcv(void **unused)
{
    (void)unused;
    fenp_sample *s = random_sample(N, P, 0);
    int64_t all[N];
    for (int64_t i = 0; i < N; i++) all[i] = i;
    for (int bias = 0; bias < 2; bias++) {
        const double lambda = 0.01;
        const fenp_problem q = problem_of(s, "linear", lambda, bias);
        double scores[3][T], c[MOST], b, trace = 0.0, square = 0.0;
        for (int route = 0; route < 3; route++)
            scores_by(route, &q, &(fenp_setting){ lambda, 2 }, 1, FENP_GCV, scores[route]);
        brute(&q, 0, all, N, c, &b);
        for (int64_t i = 0; i < N; i++)
            square += pow(s->y[i] - predict(&q, all, N, c, b, i), 2) / N;
        double saved[N];
        memcpy(saved, s->y, sizeof saved);
        for (int64_t i = 0; i < N; i++) {
            for (int64_t k = 0; k < N; k++) s->y[k] = k == i;
            brute(&q, 0, all, N, c, &b);
            trace += predict(&q, all, N, c, b, i);
        }
        memcpy(s->y, saved, sizeof saved);
        for (int route = 0; route < 3; route++)
            assert_near(scores[route][0], square / pow(1.0 - trace / N, 2), 1e-9);
    }
    fenp_sample_free(s);
}

/* Folds refitted one by one with weights that sum to one, i.e. lambda times their sum. */
static void test_kfold(void **unused)
{
    (void)unused;
    enum { FOLDS = 4 };
    const fenp_setting points[] = { { 1e-3, 2 }, { 0.1, 2 } };
    for (int which = 0; which < 8; which++) {
        const int count = which & 4 ? 1 : 2;
        fenp_sample *s = random_sample(N, P, which & 1);
        fenp_problem q = problem_of(s, "gaussian", 0.0, which >> 1 & 1);
        const fenp_size size = { .n = N, .p = P, .targets = T, .bias = q.bias, .power = 2.0 };
        fenp_arena arena;
        fen_error err;
        double scores[2 * T];
        int64_t order[N];
        assert_int_equal(
            fenp_arena_open(&arena, fenp_scores_kfold_bytes(&size, count), "test", &err), FEN_OK);
        assert_int_equal(
            fenp_scores_kfold(&arena, &q, points, count, FOLDS, 11, scores, NULL, &err), FEN_OK);
        fenp_arena_close(&arena);
        fenp_permutation(11, 2, N, order);
        for (int l = 0; l < count; l++)
            for (int64_t t = 0; t < T; t++) {
                double expected = 0.0;
                for (int64_t fold = 0; fold < FOLDS; fold++) {
                    int64_t row[N], m = 0;
                    double c[MOST], b, sum = 0.0;
                    for (int64_t i = 0; i < N; i++)
                        if (i % FOLDS != fold) sum += s->w[row[m++] = order[i]];
                    q.lambda = points[l].lambda * sum;
                    brute(&q, t, row, m, c, &b);
                    for (int64_t i = fold; i < N; i += FOLDS) {
                        const double r =
                            s->y[t * N + order[i]] - predict(&q, row, m, c, b, order[i]);
                        expected += s->w[order[i]] * r * r;
                    }
                }
                assert_near(scores[t * count + l], expected, 1e-8);
            }
        fenp_sample_free(s);
    }
}

/* Duplicated rows make K singular: still solved, and lambda = 0+ is refused in words. */
static void test_singular_kernel(void **unused)
{
    (void)unused;
    fenp_sample *s = random_sample(N, P, 0);
    for (int64_t i = 1; i < N; i += 2) memcpy(s->x + i * P, s->x + (i - 1) * P, sizeof(double) * P);
    fenp_problem q = problem_of(s, "gaussian", 1e-3, 1);
    const fenp_size size = { .n = N, .p = P, .targets = T, .bias = 1, .power = 2.0 };
    double dual[N * T], scale[T], offset[T], c[MOST], b;
    int64_t all[N];
    for (int64_t i = 0; i < N; i++) all[i] = i;
    fenp_solution out = { .dual = dual, .scale = scale, .offset = offset };
    solve("cholesky", &q, &out);
    brute(&q, 0, all, N, c, &b);
    for (int64_t i = 0; i < N; i++) assert_near(dual[i] / (2 * q.lambda), c[i], 1e-8);
    q.lambda = 1e-300;
    const fenp_solver *solver = fenp_find_solver("cholesky");
    fenp_arena arena;
    fen_error err = { 0 };
    void *state;
    assert_int_equal(fenp_arena_open(&arena, solver->bytes(&size), "test", &err), FEN_OK);
    assert_int_equal(solver->begin(&arena, &q, &state, NULL, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "use at least"));
    fenp_arena_close(&arena);
    fenp_sample_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solvers_meet_kkt),
        cmocka_unit_test(test_weight_is_repetition),
        cmocka_unit_test(test_leave_one_out),
        cmocka_unit_test(test_gcv),
        cmocka_unit_test(test_scores_do_not_depend_on_order),
        cmocka_unit_test(test_kfold),
        cmocka_unit_test(test_singular_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
