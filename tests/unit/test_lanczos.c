/* test_lanczos.c -- Krylov spaces: bounds that bracket, solutions like the spectral engine's
 *
 * Peers. The curve of the space is held against an eigendecomposition of the same matrix,
 * the engines against the spectral one. Tolerance 1e-8 relative to the largest value: the
 * engines aim at residuals of 1e-9 |y|, and no prediction differs by more than the residual. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/linalg.h"
#include "base/random.h"
#include "base/registry.h"
#include "solver/krylov.h"
#include "solver/packed.h"
#include "solver/solver.h"

enum { N = 61, P = 3, T = 2 };

static double uniform(uint64_t stream, int64_t k) { return fenp_uniform(3, stream, (uint64_t)k); }

static fenp_sample *random_sample(int64_t n, int64_t p, int64_t targets, int weighted)
{
    fenp_sample *s = fenp_sample_new(n, p, targets);
    assert_non_null(s);
    double sum = 0.0;
    for (int64_t i = 0; i < n * p; i++) s->x[i] = 4.0 * uniform(1, i) - 2.0;
    for (int64_t i = 0; i < n * targets; i++)
        s->y[i] = 3.0 + sin(2.0 * s->x[i % n * p]) + 0.5 * uniform(2, i);
    for (int64_t i = 0; i < n; i++) sum += s->w[i] = weighted ? 0.5 + 2.0 * uniform(3, i) : 1.0;
    for (int64_t i = 0; i < n; i++) s->w[i] /= sum;
    s->weight_sum = sum;
    return s;
}

static fenp_problem problem_of(const fenp_sample *s, const char *kernel, double lambda,
                               double power, int bias)
{
    return (fenp_problem){ .sample = s,
                           .loss = fenp_find_loss("square"),
                           .kernel = { fenp_find_kernel(kernel), { 0.3, 2, 1.0, 0.0 } },
                           .lambda = lambda,
                           .power = power,
                           .bias = bias,
                           .gap = 1e-9 };
}

/* ---- what a solver leaves ------------------------------------------------------------------ */

typedef struct answer {
    fenp_solution at;
    double *fitted; /* targets x n: f(x_i) + b */
    double *norm;   /* targets: ||f||^2        */
} answer;

static double *zeros(int64_t count)
{
    double *out = calloc((size_t)count, sizeof *out);
    assert_non_null(out);
    return out;
}

static void answer_free(answer *a)
{
    double *parts[] = { a->at.dual,     a->at.scale, a->at.offset, a->at.weights,
                        a->at.tangents, a->fitted,   a->norm };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) free(parts[i]);
}

static double kernel_of(const fenp_problem *q, int64_t i, int64_t j)
{
    const fenp_sample *s = q->sample;
    return fenp_kernel_pair(&q->kernel, s->x + i * s->p, s->x + j * s->p, s->p);
}

static void evaluate(const fenp_problem *q, answer *a)
{
    const int64_t n = q->sample->n;
    for (int64_t t = 0; t < q->sample->targets; t++) {
        const double scale = isfinite(a->at.scale[t]) ? a->at.scale[t] : 0.0;
        const double *u = a->at.dual + t * n;
        a->norm[t] = 0.0;
        for (int64_t i = 0; i < n; i++) {
            double f = 0.0;
            for (int64_t j = 0; j < n; j++) f += scale * u[j] * kernel_of(q, i, j);
            a->norm[t] += scale * u[i] * f;
            a->fitted[t * n + i] = f + a->at.offset[t];
        }
    }
}

static answer solve(const char *name, const fenp_problem *q, int sweeps)
{
    const fenp_sample *s = q->sample;
    const int64_t n = s->n, k = s->targets;
    const fenp_size size = { .n = n, .p = s->p, .targets = k, .bias = q->bias, .power = q->power };
    const fenp_solver *solver = fenp_find_solver(name);
    answer a = { { .dual = zeros(n * k), .scale = zeros(k), .offset = zeros(k) },
                 zeros(n * k),
                 zeros(k) };
    if (strcmp(q->kernel.table->name, "linear") == 0) a.at.weights = zeros(s->p * k);
    if (q->power < 1.0) a.at.tangents = zeros(k * FENP_NODES_MAX * n);
    fenp_arena arena;
    fen_error err = { 0 };
    void *state;
    assert_non_null(solver);
    assert_int_equal(fenp_arena_open(&arena, solver->bytes(&size), "test", &err), FEN_OK);
    assert_int_equal(solver->begin(&arena, q, &state, NULL, &err), FEN_OK);
    for (int sweep = 0; sweep < sweeps; sweep++)
        assert_int_equal(solver->sweep(state, q, &a.at, NULL, &err), FEN_OK);
    assert_true(arena.used <= arena.size);
    fenp_arena_close(&arena);
    evaluate(q, &a);
    return a;
}

static double largest(const double *v, int64_t count)
{
    double most = 0.0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(v[i]));
    return most;
}

/* Entry by entry, relative to the largest. */
static void assert_same(const double *a, const double *b, int64_t count, double tolerance)
{
    const double unit = largest(b, count);
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * unit))
            fail_msg("entry %lld: %.17g is not %.17g", (long long)i, a[i], b[i]);
}

static void assert_engines_agree(const char *name, const fenp_problem *q, double tolerance)
{
    const int64_t n = q->sample->n;
    answer a = solve(name, q, 1), b = solve("spectral", q, 1);
    for (int64_t t = 0; t < q->sample->targets; t++) {
        assert_same(a.fitted + t * n, b.fitted + t * n, n, tolerance);
        assert_same(a.at.dual + t * n, b.at.dual + t * n, n, 10.0 * tolerance);
        assert_same(a.at.offset + t, b.at.offset + t, 1, tolerance);
        if (a.at.weights)
            assert_same(a.at.weights + t * q->sample->p, b.at.weights + t * q->sample->p,
                        q->sample->p, tolerance);
    }
    answer_free(&a);
    answer_free(&b);
}

/* ---- the space ------------------------------------------------------------------------------ */

typedef struct matrix {
    int64_t n;
    double *a;
} matrix;

static fen_status matrix_times(void *state, const double *x, double *out, fen_error *err)
{
    const matrix *k = state;
    (void)err;
    cblas_dsymv(CblasColMajor, CblasLower, (int)k->n, 1.0, k->a, (int)k->n, x, 1, 0.0, out, 1);
    return FEN_OK;
}

/* Gaussian kernel on random points: eigenvalues over fifteen orders of magnitude. */
static matrix random_matrix(int64_t n)
{
    fenp_sample *s = random_sample(n, P, 1, 0);
    const fenp_problem q = problem_of(s, "gaussian", 1.0, 2.0, 0);
    matrix k = { n, zeros(n * n) };
    for (int64_t i = 0; i < n * n; i++) k.a[i] = kernel_of(&q, i % n, i / n);
    fenp_sample_free(s);
    return k;
}

/* c N^2 of the definition, from the eigenvectors. */
static double energy_at(const double *d, const double *q, int64_t n, double c)
{
    double sum = 0.0;
    for (int64_t j = 0; j < n; j++) {
        const double eigenvalue = fmax(d[j], 0.0);
        sum += eigenvalue * q[j] / (eigenvalue + c) * (c / (eigenvalue + c));
    }
    return sum;
}

/* At every step and for every c: Gauss and Gauss-Radau bracket the norm, and meet. */
static void test_bounds_bracket(void **unused)
{
    (void)unused;
    enum { MOST = 45 };
    const double shifts[] = { 1e-6, 1e-3, 0.1, 10.0, 1e4 };
    matrix k = random_matrix(N), copy = { N, zeros(N * N) };
    double b[N], d[N], q[N], *work = zeros(fenp_eigen_work(N)), before[5];
    fenp_arena arena;
    fen_error err;
    for (int64_t i = 0; i < N; i++) b[i] = uniform(9, i) - 0.3;
    memcpy(copy.a, k.a, sizeof(double) * N * N);
    assert_int_equal(fenp_eigen(N, copy.a, N, d, work, &err), FEN_OK);
    cblas_dgemv(CblasColMajor, CblasTrans, N, N, 1.0, copy.a, N, b, 1, 0.0, q, 1);
    const double square = cblas_ddot(N, b, 1, b, 1);
    for (int64_t j = 0; j < N; j++) q[j] = q[j] * q[j] / square;
    assert_int_equal(fenp_arena_open(&arena, fenp_krylov_bytes(N, MOST), "test", &err), FEN_OK);
    fenp_krylov space = fenp_krylov_new(&arena, N, MOST, 1.0, 0.0);
    fenp_krylov_start(&space, b);
    for (int i = 0; i < 5; i++) before[i] = INFINITY;
    while (fenp_krylov_open(&space)) {
        fenp_curve curve;
        assert_int_equal(fenp_krylov_step(&space, matrix_times, &k, &err), FEN_OK);
        assert_int_equal(fenp_krylov_curve(&space, &curve, &err), FEN_OK);
        for (int i = 0; i < 5; i++) {
            const double t = log(shifts[i]), exact = energy_at(d, q, N, shifts[i]);
            double below, above;
            fenp_point p;
            assert_int_equal(curve.at(curve.state, t, &p, &err), FEN_OK);
            fenp_krylov_bounds(&space, t, &below, &above);
            const double gauss = exp(t + 2.0 * p.log_norm) / square;
            assert_true(below >= 0.0 && above >= 0.0);
            assert_true(gauss - below <= exact * (1.0 + 1e-9)); /* eigenvalues of 1e-16 */
            assert_true(gauss + above >= exact * (1.0 - 1e-9));
            /* a bound that never moves would pass the two lines above */
            if (space.steps % 10 == 0) {
                assert_true(below + above < 0.8 * before[i] || below + above < 1e-13);
                before[i] = below + above;
            }
        }
    }
    assert_true(space.steps == MOST && before[1] < 1e-3 && before[2] < 1e-20);
    fenp_arena_close(&arena);
    free(work), free(copy.a), free(k.a);
}

/* V'V = I, and the residual that T promises is the true one, for c = infinity too. */
static void test_space_solves(void **unused)
{
    (void)unused;
    enum { MOST = 40 };
    matrix k = random_matrix(N);
    double b[N], v[N], kv[N], x[MOST];
    fenp_arena arena;
    fen_error err;
    for (int64_t i = 0; i < N; i++) b[i] = 1e-130 * (uniform(9, i) - 0.3);
    assert_int_equal(fenp_arena_open(&arena, fenp_krylov_bytes(N, MOST), "test", &err), FEN_OK);
    fenp_krylov space = fenp_krylov_new(&arena, N, MOST, 1.0, 0.0);
    fenp_krylov_start(&space, b);
    while (fenp_krylov_open(&space))
        assert_int_equal(fenp_krylov_step(&space, matrix_times, &k, &err), FEN_OK);
    for (int64_t i = 0; i <= MOST; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double dot = cblas_ddot(N, space.basis + i * N, 1, space.basis + j * N, 1);
            assert_true(fabs(dot - (i == j)) < 1e-13);
        }
    for (double t = -10.0; t < 1000.0; t += 5.0) {
        const double promised = fenp_krylov_solve(&space, t, x);
        fenp_krylov_lift(&space, space.norm, x, v); /* c times the solution */
        matrix_times(&k, v, kv, &err);
        for (int64_t i = 0; i < N; i++) kv[i] = (b[i] - v[i] - exp(-t) * kv[i]) / space.norm;
        assert_true(fabs(cblas_dnrm2(N, kv, 1) - promised) < 1e-12 + 1e-6 * promised);
    }
    assert_true(fenp_krylov_solve(&space, INFINITY, x) == 0.0 && x[0] == 1.0);
    fenp_arena_close(&arena);
    free(k.a);
}

/* A matrix of rank 3 and a vector outside its range: invariant after 4 steps. */
static void test_space_ends(void **unused)
{
    (void)unused;
    fenp_sample *s = random_sample(N, P, 1, 0);
    const fenp_problem q = problem_of(s, "linear", 1.0, 2.0, 0);
    matrix k = { N, zeros(N * N) };
    for (int64_t i = 0; i < N * N; i++) k.a[i] = kernel_of(&q, i % N, i / N);
    fenp_arena arena;
    fen_error err;
    assert_int_equal(fenp_arena_open(&arena, fenp_krylov_bytes(N, N), "test", &err), FEN_OK);
    fenp_krylov space = fenp_krylov_new(&arena, N, N, 1.0, 0.0);
    fenp_krylov_start(&space, s->y);
    while (fenp_krylov_open(&space))
        assert_int_equal(fenp_krylov_step(&space, matrix_times, &k, &err), FEN_OK);
    assert_true(space.steps >= 4 && space.steps <= 6);
    double below, above;
    fenp_krylov_bounds(&space, 0.0, &below, &above);
    assert_true(below + above < 1e-25);
    fenp_arena_close(&arena);
    fenp_sample_free(s);
    free(k.a);
}

/* ---- single precision ---------------------------------------------------------------------- */

/* Products with the packed triangle are those of the rounded matrix, in double precision: for
 * sizes that do and do not fill blocks of columns, kernel values far beyond float, and given
 * matrices. */
static void test_packed_products(void **unused)
{
    (void)unused;
    const int64_t sizes[] = { 1, 3, 4, 63, 64, 65, 131 };
    const char *const kernels[] = { "gaussian", "polynomial", "precomputed" };
    for (int which = 0; which < 7 * 3; which++) {
        const int64_t n = sizes[which / 3];
        const int given = which % 3 == 2, large = which % 3 == 1;
        fenp_sample *s = random_sample(n, given ? n : P, 1, 0);
        for (int64_t i = 0; i < n * s->p; i++) s->x[i] *= large ? 1e30 : 1.0;
        for (int64_t i = 0; given && i < n * n; i++) /* symmetric, positive diagonal */
            s->x[i] = 1.0 / (1.0 + (double)llabs(i % n - i / n)) + 0.1 * (double)(i % n * (i / n));
        const fenp_problem q = problem_of(s, kernels[which % 3], 1.0, 2.0, 0);
        double *diagonal = zeros(n), *product = zeros(n), *x = zeros(n);
        fenp_arena arena;
        fen_error err;
        fenp_gram_diagonal(&q.kernel, fenp_sample_inputs(s), diagonal);
        assert_int_equal(fenp_arena_open(&arena, fenp_packed_bytes(n), "test", &err), FEN_OK);
        const fenp_packed k = fenp_packed_new(&arena, n, largest(diagonal, n));
        assert_int_equal(
            fenp_gram_packed(&q.kernel, fenp_sample_inputs(s), k.unit, k.at, NULL, &err), FEN_OK);
        assert_true(arena.used <= arena.size);
        for (int64_t i = 0; i < n; i++) x[i] = uniform(5, i) - 0.5;
        fenp_packed_times(&k, x, product);
        for (int64_t i = 0; i < n; i++) {
            double sum = 0.0, size = 0.0;
            for (int64_t j = 0; j < n; j++) {
                const double exact = (given ? s->x[i * n + j] : kernel_of(&q, i, j)) / k.unit;
                const float rounded = k.at[i < j ? i + j * (j + 1) / 2 : j + i * (i + 1) / 2];
                assert_true(fabs((double)rounded - exact) <= 1e-7 * fabs(exact) + 1e-38);
                sum += k.unit * (double)rounded * x[j];
                size += fabs(k.unit * (double)rounded * x[j]);
            }
            assert_true(fabs(product[i] - sum) <= 1e-14 * size);
        }
        fenp_arena_close(&arena);
        fenp_sample_free(s);
        free(diagonal), free(product), free(x);
    }
}

/* ---- the engine ------------------------------------------------------------------------------ */

static const char *const ENGINES[] = { "lanczos", "lanczos32" };
static const double POWERS[] = { 0.5, 0.9, 1.0, 1.1, 1.5, 2.0, 3.0 };
enum { POWER_COUNT = sizeof POWERS / sizeof *POWERS };

static void test_agrees_with_spectral(void **unused)
{
    (void)unused;
    for (int which = 0; which < 4 * POWER_COUNT; which++) {
        fenp_sample *s = random_sample(N, P, T, which & 1);
        for (double lambda = 1e-5; lambda < 1.0; lambda *= 30.0) {
            const fenp_problem q =
                problem_of(s, "gaussian", lambda, POWERS[which / 4], which >> 1 & 1);
            for (int e = 0; e < 2; e++) assert_engines_agree(ENGINES[e], &q, 1e-8);
        }
        fenp_sample_free(s);
    }
}

/* Every row three times: K is singular, and y has a part that no function reaches. */
static void test_duplicated_rows_and_low_rank(void **unused)
{
    (void)unused;
    fenp_sample *s = random_sample(N, P, T, 0);
    for (int64_t i = 0; i < N; i++)
        memcpy(s->x + i * P, s->x + i % (N / 3) * P, sizeof(double) * P);
    for (int which = 0; which < 2 * POWER_COUNT; which++) {
        const fenp_problem q =
            problem_of(s, which & 1 ? "linear" : "gaussian", 1e-3, POWERS[which / 2], which & 2);
        for (int e = 0; e < 2; e++) assert_engines_agree(ENGINES[e], &q, 1e-8);
    }
    fenp_sample_free(s);
}

/* y = 0 and y orthogonal to the range of K give f = 0; so does m = 1 above its threshold. */
static void test_zero_solutions(void **unused)
{
    (void)unused;
    fenp_sample *s = random_sample(N, 1, 1, 0);
    for (int both = 0; both < 6 * POWER_COUNT; both++) {
        const int which = both / 2;
        const double power = POWERS[which % POWER_COUNT];
        fenp_problem q = problem_of(s, "linear", 1e-2, power, 0);
        for (int64_t i = 0; i < N; i++) s->x[i] = i < N / 2 ? 1.0 + (double)i : 0.0;
        for (int64_t i = 0; i < N; i++)
            s->y[i] = which / POWER_COUNT == 0 || i < N / 2 ? 0.0 : (double)i;
        if (which / POWER_COUNT == 2) q.lambda = power > 1.0 ? 1e-2 : 1e9, s->y[N / 2 - 1] = 30.0;
        answer a = solve(ENGINES[both % 2], &q, 2);
        for (int64_t i = 0; i < N; i++) assert_true(isfinite(a.at.dual[i]));
        if (which / POWER_COUNT < 2 || power <= 1.0) {
            assert_true(largest(a.fitted, N) <= 1e-12 * fmax(1.0, largest(s->y, N)));
            assert_true(a.norm[0] <= 1e-20);
        } else
            assert_true(largest(a.fitted, N) > 1e-3);
        answer_free(&a);
    }
    fenp_sample_free(s);
}

/* y -> s y maps lambda -> s^(2-m) lambda, far into both ends of the range. */
static void test_scales(void **unused)
{
    (void)unused;
    const double scales[] = { 1e-140, 1e-30, 1e30, 1e140 };
    fenp_sample *s = random_sample(N, P, 1, 0);
    double y[N];
    memcpy(y, s->y, sizeof y);
    for (int both = 0; both < 8 * POWER_COUNT; both++) {
        const int which = both / 2;
        const double scale = scales[which % 4], power = POWERS[which / 4];
        fenp_problem q = problem_of(s, "gaussian", 1e-3, power, 1);
        memcpy(s->y, y, sizeof y);
        answer a = solve(ENGINES[both % 2], &q, 1);
        q.lambda *= pow(scale, 2.0 - power);
        for (int64_t i = 0; i < N; i++) s->y[i] = scale * y[i];
        answer b = solve(ENGINES[both % 2], &q, 1);
        for (int64_t i = 0; i < N; i++) b.fitted[i] /= scale, b.at.dual[i] /= scale;
        assert_same(b.fitted, a.fitted, N, 1e-8);
        assert_same(b.at.dual, a.at.dual, N, 1e-7);
        answer_free(&a);
        answer_free(&b);
    }
    fenp_sample_free(s);
}

static void test_tiny_samples(void **unused)
{
    (void)unused;
    for (int64_t n = 1; n <= 3; n++)
        for (int which = 0; which < 2 * POWER_COUNT; which++) {
            fenp_sample *s = random_sample(n, P, T, which & 1);
            const fenp_problem q = problem_of(s, "gaussian", 1e-2, POWERS[which / 2], which & 1);
            for (int e = 0; e < 2; e++) assert_engines_agree(ENGINES[e], &q, 1e-8);
            fenp_sample_free(s);
        }
}

/* Further sweeps aim lower, and what they find is still the solution. */
static void test_sweeps(void **unused)
{
    (void)unused;
    fenp_sample *s = random_sample(N, P, T, 1);
    for (int which = 0; which < 2 * POWER_COUNT; which++) {
        const fenp_problem q = problem_of(s, "laplace", 1e-4, POWERS[which / 2], 1);
        answer a = solve(ENGINES[which % 2], &q, 3), b = solve("spectral", &q, 1);
        for (int64_t t = 0; t < T; t++) assert_same(a.fitted + t * N, b.fitted + t * N, N, 1e-11);
        answer_free(&a);
        answer_free(&b);
    }
    fenp_sample_free(s);
}

/* ---- power < 1: what the tangents prove ------------------------------------------------------ */

/* u'y - sum u^2/(4w) and sqrt(u'Ku): loss >= first - norm * second, by weak duality. */
static void tangent_of(const fenp_problem *q, int64_t t, const double *u, double *first,
                       double *second)
{
    const fenp_sample *s = q->sample;
    double square = 0.0, sum = 0.0;
    *first = 0.0;
    for (int64_t i = 0; i < s->n; i++) {
        *first += u[i] * s->y[t * s->n + i] - u[i] * u[i] / (4.0 * s->w[i]);
        sum += u[i];
        for (int64_t j = 0; j < s->n; j++) square += u[i] * u[j] * kernel_of(q, i, j);
    }
    assert_true(!q->bias || fabs(sum) <= 1e-12 * (double)s->n * largest(u, s->n));
    *second = sqrt(fmax(square, 0.0));
}

/* Every ridge solution lies above all tangents, and the highest of them with the penalty
 * nowhere falls short of the objective by more than the gap of the certificate. */
static void test_tangents(void **unused)
{
    (void)unused;
    const double powers[] = { 0.3, 0.5, 0.9 };
    for (int both = 0; both < 24; both++) {
        const int which = both / 2;
        fenp_sample *s = random_sample(N, P, 1, which & 1);
        fenp_problem q =
            problem_of(s, "gaussian", which / 6 ? 0.3 : 1e-3, powers[which % 3], which >> 1 & 1);
        answer a = solve(ENGINES[both % 2], &q, 1);
        double first[FENP_NODES_MAX], second[FENP_NODES_MAX], loss = 0.0;
        for (int k = 0; k < FENP_NODES_MAX; k++)
            tangent_of(&q, 0, a.at.tangents + k * N, &first[k], &second[k]);
        for (int64_t i = 0; i < N; i++) loss += s->w[i] * pow(s->y[i] - a.fitted[i], 2);
        const double norm = sqrt(a.norm[0]), value = loss + q.lambda * pow(norm, q.power);
        const double farthest = fmax(1.0, 4.0 * norm);
        for (int step = 0; step <= 4000; step++) {
            const double r = farthest * step / 4000.0;
            double bound = 0.0;
            for (int k = 0; k < FENP_NODES_MAX; k++) bound = fmax(bound, first[k] - r * second[k]);
            assert_true(bound + q.lambda * pow(r, q.power) >= value * (1.0 - 1e-6));
        }
        fenp_problem ridge = q;
        for (ridge.power = 2.0, ridge.lambda = 1e-6; ridge.lambda < 1e3; ridge.lambda *= 10.0) {
            answer b = solve("spectral", &ridge, 1);
            loss = 0.0;
            for (int64_t i = 0; i < N; i++) loss += s->w[i] * pow(s->y[i] - b.fitted[i], 2);
            for (int k = 0; k < FENP_NODES_MAX; k++)
                assert_true(loss * (1.0 + 1e-9) + 1e-12 >=
                            first[k] - sqrt(fmax(b.norm[0], 0.0)) * second[k]);
            answer_free(&b);
        }
        answer_free(&a);
        fenp_sample_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_bracket),
        cmocka_unit_test(test_space_solves),
        cmocka_unit_test(test_space_ends),
        cmocka_unit_test(test_packed_products),
        cmocka_unit_test(test_agrees_with_spectral),
        cmocka_unit_test(test_duplicated_rows_and_low_rank),
        cmocka_unit_test(test_zero_solutions),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_tiny_samples),
        cmocka_unit_test(test_sweeps),
        cmocka_unit_test(test_tangents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
