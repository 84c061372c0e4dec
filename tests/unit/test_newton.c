/* test_newton.c -- Newton's method against the definition, for every smooth loss of the registry
 *
 * The judge is P - D from the definition in long double: kernel values pair by pair, dual
 * variables cut into their domains and shifted by bisection until they sum to 0, the best
 * constant by bisection on the slope. It shares no code with the solver. Relative gaps of 1e-8
 * are asked for and must be proved to 2e-8: the judge's f comes from the u that is handed over,
 * rounded once more. */
#include <float.h>
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
#include "solver/solver.h"

enum { N = 40, P = 3 };
static const double GAP = 1e-8;

static double uniform(uint64_t stream, int64_t k) { return fenp_uniform(11, stream, (uint64_t)k); }

/* ---- problems ------------------------------------------------------------------------------ */

typedef enum rows { PLAIN, WEIGHTED, TWICE } rows; /* WEIGHTED: every fifth weight is 0 */

static fenp_sample *sample_of(int64_t n, int64_t p, fen_labels labels, rows kind)
{
    fenp_sample *s = fenp_sample_new(n, p, 1);
    assert_non_null(s);
    double sum = 0.0;
    for (int64_t i = 0; i < n * p; i++) s->x[i] = 4.0 * uniform(1, i) - 2.0;
    for (int64_t i = 0; i < n; i++) {
        const double *x = s->x + i * p;
        const double y = sin(2.0 * x[0]) + x[p - 1] + uniform(2, i) - 0.5;
        s->y[i] = labels == FEN_SIGNS ? (y > 0.0 ? 1.0 : -1.0) : i % 9 == 0 ? y + 15.0 : y;
        sum += s->w[i] = kind != WEIGHTED ? 1.0 : i % 5 == 2 ? 0.0 : 0.5 + uniform(3, i);
    }
    for (int64_t i = 0; i < n; i++) s->w[i] /= sum;
    if (kind == TWICE) /* the same inputs, labels of their own */
        memcpy(s->x + n / 2 * p, s->x, (size_t)(n / 2 * p) * sizeof(double));
    s->weight_sum = (double)n;
    return s;
}

static const double *par_of(const fen_loss *loss)
{
    static const double half = 0.5;
    return strcmp(loss->name, "huber") == 0 || strcmp(loss->name, "sqeps") == 0
               ? &half
               : &loss->parameter.initial;
}

static fenp_problem problem_of(const fenp_sample *s, const fen_loss *loss, const char *kernel,
                               double lambda, int bias)
{
    return (fenp_problem){ .sample = s,
                           .loss = loss,
                           .par = par_of(loss),
                           .kernel = { fenp_find_kernel(kernel), { 0.3, 2, 1.0, 0.0 } },
                           .lambda = lambda,
                           .power = 2.0,
                           .bias = bias,
                           .gap = GAP };
}

/* ---- answers ------------------------------------------------------------------------------- */

typedef struct answer {
    double dual[2 * N], scores[2 * N], weights[2 * N], scale, offset, gap;
    int steps; /* as progress was reported, at least once each */
    fen_status status;
} answer;

static int count(void *user, const char *stage, double fraction)
{
    (void)stage;
    assert_true(0.0 <= fraction && fraction <= 1.0);
    return ++((int *)user)[0] == ((int *)user)[1];
}

/* Starts from the dual vector in a; stop: at which report of progress, 0: never. */
static void solve_until(const char *name, const fenp_problem *q, int stop, answer *a)
{
    const fenp_solver *solver = fenp_find_solver(name);
    const fenp_size size = {
        .n = q->sample->n, .p = q->sample->p, .targets = 1, .bias = q->bias, .power = 2.0
    };
    fenp_solution out = { .dual = a->dual,
                          .scale = &a->scale,
                          .offset = &a->offset,
                          .weights = q->kernel.table->linear ? a->weights : NULL,
                          .scores = a->scores,
                          .gap = &a->gap };
    int calls[2] = { 0, stop };
    const fen_host host = { .progress = count, .user = calls };
    const fenp_task task = fenp_task_start(&host, 0.0);
    fenp_arena arena;
    fen_error err;
    void *state;
    assert_non_null(solver);
    assert_true(solver->accepts(q->loss, q->kernel.table, &size));
    assert_int_equal(fenp_arena_open(&arena, solver->bytes(&size), "test", &err), FEN_OK);
    assert_int_equal(solver->begin(&arena, q, &state, NULL, &err), FEN_OK);
    a->status = solver->sweep(state, q, &out, &task, &err);
    a->steps = calls[0];
    assert_true(arena.used <= arena.size);
    fenp_arena_close(&arena);
}

static void solve(const char *name, const fenp_problem *q, answer *a)
{
    memset(a->dual, 0, sizeof a->dual);
    solve_until(name, q, 0, a);
    assert_int_equal(a->status, FEN_OK);
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * (1.0 + fabs(b)))) fail_msg("%.17g is not %.17g", a, b);
}

/* ---- the judge ----------------------------------------------------------------------------- */

static double kernel_at(const fenp_problem *q, int64_t i, int64_t j)
{
    const fenp_sample *s = q->sample;
    if (q->kernel.table->basis == FEN_PRECOMPUTED) return s->x[i * s->p + j];
    return fenp_kernel_pair(&q->kernel, s->x + i * s->p, s->x + j * s->p, s->p);
}

/* f = K u; returns u'Ku */
static long double function_of(const fenp_problem *q, const double *u, long double *f)
{
    const int64_t n = q->sample->n;
    long double square = 0.0L;
    for (int64_t i = 0; i < n; i++) {
        f[i] = 0.0L;
        for (int64_t j = 0; j < n; j++) f[i] += (long double)u[j] * kernel_at(q, i, j);
        square += u[i] * f[i];
    }
    return square;
}

/* sum w cut(z - shift), left in out as u */
static long double shifted(const fenp_problem *q, const double *u, double shift, double *out)
{
    const fenp_sample *s = q->sample;
    long double sum = 0.0L;
    for (int64_t i = 0; i < s->n; i++) {
        double low = 0.0, high = 0.0;
        out[i] = 0.0;
        if (s->w[i] == 0.0) continue;
        q->loss->domain(s->y[i], q->par, &low, &high);
        out[i] = s->w[i] * fmin(fmax(u[i] / s->w[i] - shift, -high), -low);
        sum += out[i];
    }
    return sum;
}

static void feasible(const fenp_problem *q, const double *u, double *out)
{
    double low = -1e3, high = 1e3;
    if (!q->bias) {
        shifted(q, u, 0.0, out);
        return;
    }
    for (int step = 0; step < 200; step++) {
        const double middle = 0.5 * (low + high);
        if (shifted(q, u, middle, out) > 0.0L)
            low = middle;
        else
            high = middle;
    }
    shifted(q, u, fabs((double)shifted(q, u, 0.0, out)) < 1e-15 ? 0.0 : high, out);
}

static long double loss_of(const fenp_problem *q, const long double *f, double b)
{
    const fenp_sample *s = q->sample;
    long double sum = 0.0L;
    for (int64_t i = 0; i < s->n; i++)
        if (s->w[i] > 0.0)
            sum += s->w[i] * q->loss->value(s->y[i], (f ? (double)f[i] : 0.0) + b, q->par);
    return sum;
}

static double null_objective(const fenp_problem *q)
{
    double low = -1e3, high = 1e3;
    for (int step = 0; q->bias && step < 200; step++) {
        const double a = low + 0.4 * (high - low), b = high - 0.4 * (high - low);
        if (loss_of(q, NULL, a) < loss_of(q, NULL, b))
            high = b;
        else
            low = a;
    }
    return (double)loss_of(q, NULL, q->bias ? 0.5 * (low + high) : 0.0);
}

/* The relative gap of an answer from the definition; linear models by their weights. */
static double judged(const fenp_problem *q, const answer *a)
{
    const fenp_sample *s = q->sample;
    long double f[2 * N], square = function_of(q, a->dual, f) * a->scale * a->scale;
    double u[2 * N];
    for (int64_t i = 0; i < s->n; i++) f[i] *= a->scale;
    if (q->kernel.table->linear) {
        square = 0.0L;
        for (int64_t j = 0; j < s->p; j++) square += (long double)a->weights[j] * a->weights[j];
        for (int64_t i = 0; i < s->n; i++) {
            f[i] = 0.0L;
            for (int64_t j = 0; j < s->p; j++)
                f[i] += (long double)a->weights[j] * s->x[i * s->p + j];
        }
    }
    for (int64_t i = 0; i < s->n; i++)
        assert_near(a->scores[i], (double)f[i], 1e-7); /* |c| eps, up to 1e6 times K c */
    const long double primal = loss_of(q, f, a->offset) + q->lambda * square;
    feasible(q, a->dual, u);
    long double dual = -function_of(q, u, f) / (4.0L * q->lambda);
    for (int64_t i = 0; i < s->n; i++)
        if (s->w[i] > 0.0) dual -= s->w[i] * q->loss->conj(s->y[i], -u[i] / s->w[i], q->par);
    return (double)((primal - dual) / fmaxl(primal, 1e-12L * null_objective(q)));
}

static void assert_optimal(const fenp_problem *q, const answer *a)
{
    const double proved = judged(q, a);
    if (!(a->gap <= GAP && proved <= 2.0 * GAP && proved >= -1e-9))
        fail_msg("%s, lambda %g, bias %d, %s kernel: claims %g, has %g", q->loss->name, q->lambda,
                 q->bias, q->kernel.table->name, a->gap, proved);
    for (int64_t i = 0; i < q->sample->n; i++)
        if (q->sample->w[i] == 0.0) assert_true(a->dual[i] == 0.0);
}

static int smooth(const fen_loss *loss) { return loss->curvature != NULL; }

/* ---- tests ---------------------------------------------------------------------------------- */

static void test_every_smooth_loss(void **unused)
{
    (void)unused;
    const double lambdas[] = { 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e4 };
    const char *solvers[] = { "newton", "newton", "newton", "newton-linear" };
    const char *kernels[] = { "gaussian", "laplace", "linear", "linear" };
    int losses = 0;
    for (int l = 0; fenp_losses[l]; l++) {
        if (!smooth(fenp_losses[l])) continue;
        losses++;
        for (int kind = 0; kind < 3 * 2 * 4 * 6; kind++) {
            fenp_sample *s = sample_of(N, P, fenp_losses[l]->labels, (rows)(kind % 3));
            const fenp_problem q = problem_of(s, fenp_losses[l], kernels[kind / 6 % 4],
                                              lambdas[kind / 24], kind / 3 % 2);
            answer a;
            solve(solvers[kind / 6 % 4], &q, &a);
            assert_optimal(&q, &a);
            fenp_sample_free(s);
        }
    }
    assert_int_equal(losses, 5);
}

static void test_square_is_ridge(void **unused)
{
    (void)unused;
    const fen_loss *loss = fenp_find_loss("square");
    for (int kind = 0; kind < 4; kind++) {
        fenp_sample *s = sample_of(N, P, FEN_NUMBERS, PLAIN);
        const fenp_problem q =
            problem_of(s, loss, kind & 2 ? "linear" : "gaussian", 0.01, kind & 1);
        answer direct, newton;
        solve("cholesky", &q, &direct);
        for (int by = 0; by < (kind & 2 ? 2 : 1); by++) {
            solve(by ? "newton-linear" : "newton", &q, &newton);
            assert_near(newton.offset, direct.offset, 1e-10);
            for (int64_t i = 0; i < N; i++) assert_near(newton.dual[i], direct.dual[i], 1e-10);
        }
        assert_true(newton.steps <= 2); /* one step: one report before it, one in it */
        fenp_sample_free(s);
    }
}

/* A row of weight 2 is the row twice. */
static void test_weight_is_repetition(void **unused)
{
    (void)unused;
    for (int l = 0; fenp_losses[l]; l++) {
        if (!smooth(fenp_losses[l])) continue;
        fenp_sample *once = sample_of(N, P, fenp_losses[l]->labels, PLAIN);
        fenp_sample *twice = sample_of(N + 1, P, fenp_losses[l]->labels, PLAIN);
        memcpy(twice->x, once->x, sizeof(double) * N * P);
        memcpy(twice->x + N * P, once->x + 4 * P, sizeof(double) * P);
        memcpy(twice->y, once->y, sizeof(double) * N);
        twice->y[N] = once->y[4];
        for (int64_t i = 0; i < N; i++) once->w[i] = (i == 4 ? 2.0 : 1.0) / (N + 1);
        for (int bias = 0; bias < 2; bias++) {
            fenp_problem q = problem_of(once, fenp_losses[l], "gaussian", 1e-3, bias);
            answer one, two;
            q.gap = 1e-13;
            solve("newton", &q, &one);
            q.sample = twice;
            solve("newton", &q, &two);
            assert_near(one.offset, two.offset, 1e-5); /* the square root of the gap */
            for (int64_t i = 0; i < N; i++)
                assert_near(one.dual[i] * N, (two.dual[i] + (i == 4 ? two.dual[N] : 0.0)) * N,
                            1e-5);
        }
        fenp_sample_free(once);
        fenp_sample_free(twice);
    }
}

/* In the weights, in the expansion, and from X X' given as a kernel: one answer. */
static void test_linear_three_ways(void **unused)
{
    (void)unused;
    for (int l = 0; fenp_losses[l]; l++) {
        if (!smooth(fenp_losses[l])) continue;
        fenp_sample *s = sample_of(N, P, fenp_losses[l]->labels, WEIGHTED);
        fenp_sample *given = sample_of(N, N, fenp_losses[l]->labels, WEIGHTED);
        memcpy(given->y, s->y, sizeof(double) * N);
        fenp_problem q = problem_of(s, fenp_losses[l], "linear", 1e-3, 1);
        for (int64_t i = 0; i < N * N; i++) given->x[i] = kernel_at(&q, i / N, i % N);
        answer weights, expansion, matrix;
        q.gap = 1e-13;
        solve("newton-linear", &q, &weights);
        solve("newton", &q, &expansion);
        for (int64_t j = 0; j < P; j++) assert_near(weights.weights[j], expansion.weights[j], 1e-5);
        q.sample = given, q.kernel.table = fenp_find_kernel("precomputed");
        solve("newton", &q, &matrix);
        for (int64_t i = 0; i < N; i++) {
            assert_near(weights.scores[i], expansion.scores[i], 1e-5);
            assert_near(matrix.scores[i], expansion.scores[i], 1e-5);
        }
        fenp_sample_free(s);
        fenp_sample_free(given);
    }
}

/* From its own answer no step is needed; from that of a lambda nearby fewer than from 0. */
static void test_warm_start(void **unused)
{
    (void)unused;
    for (int l = 0; fenp_losses[l]; l++) {
        if (!smooth(fenp_losses[l])) continue;
        fenp_sample *s = sample_of(N, P, fenp_losses[l]->labels, PLAIN);
        for (int by = 0; by < 2; by++) {
            const char *solver = by ? "newton-linear" : "newton";
            fenp_problem q = problem_of(s, fenp_losses[l], by ? "linear" : "gaussian", 2e-4, 1);
            answer warm, cold;
            solve(solver, &q, &warm);
            q.lambda = 1e-4;
            solve_until(solver, &q, 0, &warm);
            assert_optimal(&q, &warm);
            solve(solver, &q, &cold);
            const int parabola = strcmp(q.loss->name, "square") == 0; /* one step, always */
            if (!(parabola ? warm.steps <= cold.steps : warm.steps < cold.steps))
                fail_msg("%s by %s: %d warm, %d cold", q.loss->name, solver, warm.steps,
                         cold.steps);
            solve_until(solver, &q, 0, &cold);
            assert_int_equal(cold.steps, 0);
            assert_optimal(&q, &cold);
        }
        fenp_sample_free(s);
    }
}

/* A dual vector from other labels, far out of its domain, is a start all the same. */
static void test_wild_start(void **unused)
{
    (void)unused;
    for (int l = 0; fenp_losses[l]; l++) {
        if (!smooth(fenp_losses[l])) continue;
        fenp_sample *s = sample_of(N, P, fenp_losses[l]->labels, WEIGHTED);
        for (int bias = 0; bias < 2; bias++) {
            const fenp_problem q = problem_of(s, fenp_losses[l], "gaussian", 1e-5, bias);
            answer a;
            for (int64_t i = 0; i < N; i++) a.dual[i] = 1e3 * (uniform(9, i) - 0.3);
            solve_until("newton", &q, 0, &a);
            assert_optimal(&q, &a);
        }
        fenp_sample_free(s);
    }
}

static void test_one_row(void **unused)
{
    (void)unused;
    for (int l = 0; fenp_losses[l]; l++) {
        if (!smooth(fenp_losses[l])) continue;
        fenp_sample *s = sample_of(1, P, fenp_losses[l]->labels, PLAIN);
        for (int bias = 0; bias < 2; bias++) {
            const fenp_problem q = problem_of(s, fenp_losses[l], "gaussian", 0.1, bias);
            answer a;
            solve("newton", &q, &a);
            if (bias)
                assert_true(a.dual[0] == 0.0 && a.gap == 0.0);
            else
                assert_optimal(&q, &a);
        }
        fenp_sample_free(s);
    }
}

/* The bias absorbs labels that are all the same: f = 0, and the loss is 0 in every digit. */
static void test_equal_labels(void **unused)
{
    (void)unused;
    for (int l = 0; fenp_losses[l]; l++) {
        if (!smooth(fenp_losses[l])) continue;
        fenp_sample *s = sample_of(N, P, fenp_losses[l]->labels, WEIGHTED);
        for (int by = 0; by < 2; by++) {
            fenp_problem q = problem_of(s, fenp_losses[l], "linear", 1e-3, 1);
            answer a;
            for (int64_t i = 0; i < N; i++) s->y[i] = q.loss->labels == FEN_SIGNS ? -1.0 : 7.3;
            solve(by ? "newton-linear" : "newton", &q, &a);
            for (int64_t i = 0; i < N; i++) assert_true(a.dual[i] == 0.0 && a.scores[i] == 0.0);
            for (int64_t j = 0; j < P; j++) assert_true(a.weights[j] == 0.0);
            assert_true(a.gap == 0.0);
            assert_true(loss_of(&q, NULL, a.offset) <= 1e-300L);
            if (q.loss->labels == FEN_NUMBERS) assert_near(a.offset, 7.3, 1e-14);
            q.bias = 0; /* without it there is a function to be found */
            solve(by ? "newton-linear" : "newton", &q, &a);
            assert_optimal(&q, &a);
        }
        fenp_sample_free(s);
    }
}

/* All labels inside a tube of zero loss: f = 0, b in the middle. */
static void test_inside_the_tube(void **unused)
{
    (void)unused;
    const double wide = 2.0;
    fenp_sample *s = sample_of(N, P, FEN_NUMBERS, PLAIN);
    fenp_problem q = problem_of(s, fenp_find_loss("sqeps"), "gaussian", 1e-3, 1);
    answer a;
    q.par = &wide;
    for (int64_t i = 0; i < N; i++) s->y[i] = 5.0 + (double)(i % 2);
    solve("newton", &q, &a);
    for (int64_t i = 0; i < N; i++) assert_true(a.dual[i] == 0.0);
    assert_near(a.offset, 5.5, 1e-12);
    assert_true(a.gap == 0.0);
    fenp_sample_free(s);
}

/* Separable, lambda tiny: probabilities go to 0 and 1, curvatures to 0. */
static void test_separable(void **unused)
{
    (void)unused;
    const char *losses[] = { "logistic", "sqhinge" };
    for (int kind = 0; kind < 2 * 2 * 3; kind++) {
        fenp_sample *s = sample_of(N, P, FEN_SIGNS, PLAIN);
        for (int64_t i = 0; i < N; i++) {
            s->y[i] = s->x[i * P] > 0.0 ? 1.0 : -1.0;
            s->x[i * P] += s->y[i];
        }
        const char *kernels[] = { "gaussian", "linear", "linear" };
        const fenp_problem q =
            problem_of(s, fenp_find_loss(losses[kind % 2]), kernels[kind / 4], 1e-8, kind / 2 % 2);
        answer a;
        solve(kind / 4 == 2 ? "newton-linear" : "newton", &q, &a);
        assert_optimal(&q, &a);
        for (int64_t i = 0; i < N; i++) assert_true(s->y[i] * (a.scores[i] + a.offset) > 0.5);
        fenp_sample_free(s);
    }
}

/* Rows that a pair of classes does not concern have label 0 and weight 0. */
static void test_rows_of_other_classes(void **unused)
{
    (void)unused;
    const char *losses[] = { "logistic", "sqhinge" };
    for (int kind = 0; kind < 2; kind++) {
        fenp_sample *s = sample_of(N, P, FEN_SIGNS, PLAIN);
        for (int64_t i = 0; i < N; i += 3) s->y[i] = s->w[i] = 0.0; /* the sum is 2/3 */
        const fenp_problem q = problem_of(s, fenp_find_loss(losses[kind]), "gaussian", 1e-3, 1);
        answer a;
        solve("newton", &q, &a);
        assert_optimal(&q, &a);
        fenp_sample_free(s);
    }
}

/* y = 1e9 + noise, and y in other units: the same function. */
static void test_far_and_large_labels(void **unused)
{
    (void)unused;
    const char *losses[] = { "square", "huber", "sqeps" };
    for (int kind = 0; kind < 3 * 2; kind++) {
        fenp_sample *s = sample_of(N, P, FEN_NUMBERS, PLAIN);
        const int linear = kind % 2;
        const char *solver = linear ? "newton-linear" : "newton";
        const fenp_problem q = problem_of(s, fenp_find_loss(losses[kind / 2]),
                                          linear ? "linear" : "gaussian", 1e-3, 1);
        answer near, far;
        for (int64_t i = 0; i < N; i++) s->y[i] = round(s->y[i] * 1024.0) / 1024.0;
        solve(solver, &q, &near);
        for (int64_t i = 0; i < N; i++) s->y[i] += 1073741824.0;
        solve(solver, &q, &far);
        assert_near(far.offset - 1073741824.0, near.offset, 1e-6); /* eps 2^30 */
        for (int64_t i = 0; i < N; i++) assert_near(far.scores[i], near.scores[i], 1e-9);
        fenp_sample_free(s);
    }
}

static double objective(const fenp_problem *q, const answer *a)
{
    const fenp_sample *s = q->sample;
    double sum = 0.0, square = 0.0;
    for (int64_t i = 0; i < s->n; i++) {
        sum += s->w[i] * q->loss->value(s->y[i], a->scores[i] + a->offset, q->par);
        square += a->scale * a->dual[i] * a->scores[i];
    }
    return sum + q->lambda * square;
}

/* A sweep may climb to a larger lambda first; what it leaves is no worse than its start. The
 * start is the solution of that lambda but for a few rows that changed their minds. */
static void test_ended_no_worse(void **unused)
{
    (void)unused;
    for (int by = 0; by < 2; by++) {
        fenp_sample *s = sample_of(N, P, FEN_SIGNS, PLAIN);
        const char *solver = by ? "newton-linear" : "newton";
        const fenp_problem q =
            problem_of(s, fenp_find_loss("logistic"), by ? "linear" : "gaussian", 1e-7, 1);
        answer start = { .gap = 0.0 }, a;
        solve_until(solver, &q, 0, &start);
        for (int64_t i = 0; i < N; i += 9) s->y[i] = -s->y[i];
        solve_until(solver, &q, 1, &start);
        const double before = objective(&q, &start);
        for (int stop = 1; stop <= 30; stop++) {
            a = start;
            solve_until(solver, &q, stop, &a);
            assert_true(objective(&q, &a) <= before * (1.0 + 1e-9));
        }
        fenp_sample_free(s);
    }
}

static void test_interrupted(void **unused)
{
    (void)unused;
    for (int by = 0; by < 2; by++) {
        fenp_sample *s = sample_of(N, P, FEN_SIGNS, PLAIN);
        const char *solver = by ? "newton-linear" : "newton";
        const fenp_problem q =
            problem_of(s, fenp_find_loss("logistic"), by ? "linear" : "gaussian", 1e-5, 1);
        answer a;
        for (int stop = 1; stop <= 6; stop++) {
            memset(a.dual, 0, sizeof a.dual);
            solve_until(solver, &q, stop, &a);
            assert_int_equal(a.status, FEN_STOPPED);
            assert_true(isfinite(a.offset) && a.gap > GAP);
            assert_near(a.gap, judged(&q, &a), 1e-6); /* an honest account of what was left */
        }
        solve_until(solver, &q, 0, &a); /* and it can be gone on from */
        assert_int_equal(a.status, FEN_OK);
        assert_optimal(&q, &a);
        fenp_sample_free(s);
    }
}

static void test_sizes(void **unused)
{
    (void)unused;
    const fenp_size huge = { .n = INT64_MAX / 4, .p = 3, .targets = 1, .bias = 1, .power = 2.0 },
                    ordinary = { .n = 1000, .p = 3, .targets = 1, .bias = 1, .power = 2.0 };
    const fenp_solver *kernel = fenp_find_solver("newton"),
                      *linear = fenp_find_solver("newton-linear");
    assert_true(kernel->bytes(&huge) == -1 && linear->bytes(&huge) == -1);
    assert_true(kernel->bytes(&ordinary) >= 8000000);
    assert_true(linear->bytes(&ordinary) < 1000000);
    assert_true(linear->flops(&ordinary) < kernel->flops(&ordinary));
    assert_false(kernel->accepts(fenp_find_loss("hinge"), fenp_find_kernel("gaussian"), &ordinary));
    assert_false(
        linear->accepts(fenp_find_loss("square"), fenp_find_kernel("gaussian"), &ordinary));
}

static void test_indefinite_kernel(void **unused)
{
    (void)unused;
    fenp_sample *s = sample_of(N, N, FEN_SIGNS, PLAIN);
    for (int64_t i = 0; i < N * N; i++) s->x[i] = i / N == i % N ? -1.0 : 0.0;
    const fenp_problem q = problem_of(s, fenp_find_loss("logistic"), "precomputed", 1e-6, 0);
    answer a;
    memset(a.dual, 0, sizeof a.dual);
    solve_until("newton", &q, 0, &a);
    assert_int_equal(a.status, FEN_BAD_DATA);
    fenp_sample_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_smooth_loss),
        cmocka_unit_test(test_square_is_ridge),
        cmocka_unit_test(test_weight_is_repetition),
        cmocka_unit_test(test_linear_three_ways),
        cmocka_unit_test(test_warm_start),
        cmocka_unit_test(test_wild_start),
        cmocka_unit_test(test_ended_no_worse),
        cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_equal_labels),
        cmocka_unit_test(test_inside_the_tube),
        cmocka_unit_test(test_separable),
        cmocka_unit_test(test_rows_of_other_classes),
        cmocka_unit_test(test_far_and_large_labels),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_indefinite_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
