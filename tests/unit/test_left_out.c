/* test_left_out.c -- leave-one-out, GCV and k-fold of any power against refits
 *
 * The reference deletes a row, diagonalises what is left by Jacobi rotations in long double
 * and finds its c from the definition: bisection of h in log c, for powers below 1 between
 * the points of a fine grid, with the objective itself as the judge. */
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

enum { MOST = 40, GRID = 1600, P = 3 };

typedef struct data {
    int64_t n;
    int bias;
    double k[MOST * MOST], x[MOST * P], y[MOST], w[MOST];
} data;

static double normal(uint64_t stream, int64_t k) { return fenp_normal(5, stream, (uint64_t)k); }

/* ---- data ------------------------------------------------------------------------------- */

static void fill_sample(data *s, int64_t n, int bias, int weighted)
{
    double sum = 0.0;
    *s = (data){ .n = n, .bias = bias };
    for (int64_t i = 0; i < n * P; i++) s->x[i] = normal(1, i);
    for (int64_t i = 0; i < n; i++) {
        s->y[i] = 3.0 + 2.0 * sin(2.0 * s->x[i * P]) + s->x[i * P + 1] + 0.5 * normal(2, i);
        sum += s->w[i] = weighted ? 0.3 + fenp_uniform(5, 3, (uint64_t)i) : 1.0;
    }
    for (int64_t i = 0; i < n; i++) s->w[i] /= sum;
}

static void fill_kernel(data *s, int gaussian)
{
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->n; j++) {
            double dot = 0.0, square = 0.0;
            for (int64_t l = 0; l < P; l++) {
                const double a = s->x[i * P + l], b = s->x[j * P + l];
                dot += a * b;
                square += (a - b) * (a - b);
            }
            s->k[i + j * s->n] = gaussian ? exp(-0.4 * square) : dot;
        }
}

/* K = sum of reach[l] v v' over a few orthonormal v, and y along all of them: eigenvalues far
 * apart give powers below 1 several minima. */
static void fill_steps(data *s, const double *reach, int64_t steps)
{
    double v[8][MOST];
    memset(s->k, 0, sizeof s->k);
    for (int64_t i = 0; i < s->n; i++) s->y[i] = 0.02 * normal(9, i);
    for (int64_t l = 0; l < steps; l++) {
        for (int64_t i = 0; i < s->n; i++) v[l][i] = normal(10 + (uint64_t)l, i);
        for (int64_t b = 0; b <= l; b++) {
            double dot = 0.0;
            for (int64_t i = 0; i < s->n; i++) dot += v[l][i] * v[b][i];
            for (int64_t i = 0; i < s->n; i++)
                v[l][i] = b < l ? v[l][i] - dot * v[b][i] : v[l][i] / sqrt(dot);
        }
        for (int64_t i = 0; i < s->n; i++) s->y[i] += pow(0.6, (double)l) * v[l][i];
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t j = 0; j < s->n; j++) s->k[i + j * s->n] += reach[l] * v[l][i] * v[l][j];
    }
}

/* ---- the reference ---------------------------------------------------------------------- */

/* The problem without one row: |f|^2 = sum d (q/(d+c))^2, loss = sum (c q/(d+c))^2, and the
 * residual of the row left out is start - sum p q/(d+c). */
typedef struct refit {
    int64_t n;
    long double d[MOST], q[MOST], p[MOST], start;
    long double low, width, log_norm[GRID]; /* on a grid of log c */
} refit;

static void jacobi(int64_t n, long double a[MOST][MOST], long double v[MOST][MOST])
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) v[i][j] = i == j;
    for (int sweep = 0; sweep < 14; sweep++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                if (a[i][j] == 0.0L) continue;
                const long double half = (a[j][j] - a[i][i]) / (2.0L * a[i][j]);
                const long double t = copysignl(1.0L, half) / (fabsl(half) + hypotl(half, 1.0L));
                const long double c = 1.0L / hypotl(t, 1.0L), s = t * c;
                for (int64_t k = 0; k < n; k++) {
                    const long double x = a[k][i], y = a[k][j];
                    a[k][i] = c * x - s * y, a[k][j] = s * x + c * y;
                }
                for (int64_t k = 0; k < n; k++) {
                    const long double x = a[i][k], y = a[j][k];
                    a[i][k] = c * x - s * y, a[j][k] = s * x + c * y;
                }
                for (int64_t k = 0; k < n; k++) {
                    const long double x = v[k][i], y = v[k][j];
                    v[k][i] = c * x - s * y, v[k][j] = s * x + c * y;
                }
            }
}

static long double log_norm(const refit *r, long double t)
{
    const long double c = expl(t);
    long double sum = 0.0L;
    for (int64_t j = 0; j < r->n; j++) {
        const long double share = r->q[j] / (r->d[j] + c);
        sum += r->d[j] * share * share;
    }
    return 0.5L * logl(sum);
}

/* out: the row to be left out, or n for none. */
static void delete_row(const data *s, int64_t out, refit *r)
{
    static long double a[MOST][MOST], v[MOST][MOST];
    int64_t row[MOST], n = 0;
    long double root[MOST], total = 0.0L, mean_y = 0.0L, mean_k[MOST] = { 0.0L }, top = 0.0L;
    for (int64_t i = 0; i < s->n; i++)
        if (i != out) total += s->w[row[n++] = i];
    for (int64_t i = 0; i < n; i++) root[i] = sqrtl((long double)s->n * s->w[row[i]]);
    for (int64_t i = 0; i < n && s->bias; i++) {
        mean_y += s->w[row[i]] * s->y[row[i]] / total;
        for (int64_t j = 0; j < n; j++)
            mean_k[j] += s->w[row[i]] * s->k[row[i] + row[j] * s->n] / total;
    }
    long double mean = 0.0L;
    for (int64_t j = 0; j < n && s->bias; j++) mean += s->w[row[j]] * mean_k[j] / total;
    for (int64_t i = 0; i < n; i++) /* centred by the weighted mean, then scaled */
        for (int64_t j = 0; j < n; j++)
            a[i][j] =
                root[i] * root[j] * (s->k[row[i] + row[j] * s->n] - mean_k[i] - mean_k[j] + mean);
    jacobi(n, a, v);
    *r = (refit){ .n = n, .start = out < s->n ? s->y[out] - mean_y : 0.0L };
    for (int64_t j = 0; j < n; j++) top = fmaxl(top, a[j][j]);
    for (int64_t j = 0; j < n; j++) {
        long double own = 0.0L;
        r->d[j] = a[j][j] > (long double)s->n * 2.2e-16L * top ? a[j][j] : 0.0L;
        for (int64_t i = 0; i < n; i++) {
            r->q[j] += v[i][j] * root[i] * (s->y[row[i]] - mean_y);
            if (out < s->n) own += v[i][j] * root[i] * (s->k[out + row[i] * s->n] - mean_k[i]);
        }
        r->p[j] = r->d[j] > 0.0L ? own : 0.0L;
    }
    r->low = logl(top) - 30.0L;
    r->width = 70.0L / GRID;
    for (int i = 0; i < GRID; i++) r->log_norm[i] = log_norm(r, r->low + i * r->width);
}

static long double height(const refit *r, double m, long double t)
{
    return t + (2.0L - m) * log_norm(r, t);
}

static long double bisect(const refit *r, double m, long double target, long double low,
                          long double high)
{
    for (int step = 0; step < 90; step++) {
        const long double t = 0.5L * (low + high);
        if (height(r, m, t) < target)
            low = t;
        else
            high = t;
    }
    return 0.5L * (low + high);
}

/* c of the refit, INFINITY for f = 0; minima counts the crossings that compete. */
static long double shrinkage(const refit *r, double weight, double m, int *minima)
{
    const long double target = logl(0.5L * m * weight);
    long double best = 0.0L, c = INFINITY, reach = 0.0L;
    for (int64_t j = 0; j < r->n; j++) {
        best += r->q[j] * r->q[j];
        reach += r->d[j] * r->q[j] * r->q[j];
    }
    *minima = 0;
    if (m == 2.0) return weight;
    if (!(reach > 1e-13L * best)) return c;
    if (m == 1.0 && target >= 0.5L * logl(reach)) return c;
    if (m >= 1.0) return expl(bisect(r, m, target, r->low - 30.0L, r->low + 3000.0L));
    for (int i = 0; i + 1 < GRID; i++) {
        const long double t = r->low + i * r->width;
        if (t + (2.0L - m) * r->log_norm[i] >= target ||
            t + r->width + (2.0L - m) * r->log_norm[i + 1] < target)
            continue;
        const long double root = bisect(r, m, target, t, t + r->width), there = expl(root);
        long double value = weight * expl(m * log_norm(r, root));
        for (int64_t j = 0; j < r->n; j++) {
            const long double left = there * r->q[j] / (r->d[j] + there);
            value += left * left;
        }
        ++*minima;
        if (value < best) best = value, c = there;
    }
    return c;
}

static long double residual(const refit *r, long double c)
{
    long double sum = r->start;
    for (int64_t j = 0; j < r->n && !isinf(c); j++) sum -= r->p[j] * r->q[j] / (r->d[j] + c);
    return sum;
}

/* sum w r^2 over the rows left out; several: rows whose refit had more than one minimum. */
static double reference(const data *s, const refit *r, fenp_setting at, int *several)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < s->n; i++) {
        int minima;
        const long double c = shrinkage(&r[i], (double)s->n * at.lambda, at.power, &minima);
        const long double rho = residual(&r[i], c);
        sum += s->w[i] * rho * rho;
        *several += minima > 1;
    }
    return (double)sum;
}

/* ---- the library ------------------------------------------------------------------------ */

static void scores_of(const data *s, const double *y, int64_t targets, const fenp_setting *points,
                      int64_t count, fenp_score_kind kind, double *scores)
{
    const fenp_size size = { .n = s->n, .p = P, .targets = targets, .bias = s->bias };
    fenp_arena arena;
    fen_error err;
    fenp_spectrum e;
    const int64_t bytes =
        fenp_spectrum_bytes(&size, 0) + fenp_scores_spectrum_bytes(&size, count, 0);
    assert_int_equal(fenp_arena_open(&arena, bytes, "test", &err), FEN_OK);
    double *a = fenp_arena_doubles(&arena, s->n * s->n);
    memcpy(a, s->k, (size_t)(s->n * s->n) * sizeof(double));
    assert_int_equal(fenp_spectrum_of_matrix(&arena, s->w, y, s->n, targets, s->bias, a, &e, &err),
                     FEN_OK);
    assert_int_equal(
        fenp_scores_spectrum(&arena, &e, s->w, s->bias, points, count, kind, scores, &err), FEN_OK);
    assert_true(arena.used <= arena.size);
    fenp_arena_close(&arena);
}

static fenp_sample *sample_of(const data *s)
{
    fenp_sample *sample = fenp_sample_new(s->n, P, 1);
    assert_non_null(sample);
    memcpy(sample->x, s->x, (size_t)(s->n * P) * sizeof(double));
    memcpy(sample->y, s->y, (size_t)s->n * sizeof(double));
    memcpy(sample->w, s->w, (size_t)s->n * sizeof(double));
    sample->weight_sum = (double)s->n;
    return sample;
}

static fenp_problem problem_of(const data *s, const fenp_sample *sample, const char *kernel)
{
    return (fenp_problem){ .sample = sample,
                           .loss = fenp_find_loss("square"),
                           .kernel = { fenp_find_kernel(kernel), { 0.4, 2, 1.0, 0.0 } },
                           .bias = s->bias,
                           .gap = 1e-10 };
}

static void primal_scores(const data *s, const fenp_setting *points, int64_t count,
                          fenp_score_kind kind, double *scores)
{
    const fenp_size size = { .n = s->n, .p = P, .targets = 1, .bias = s->bias };
    fenp_sample *sample = sample_of(s);
    const fenp_problem problem = problem_of(s, sample, "linear");
    fenp_arena arena;
    fen_error err;
    fenp_spectrum e;
    const int64_t bytes =
        fenp_spectrum_bytes(&size, 1) + fenp_scores_spectrum_bytes(&size, count, 1);
    assert_int_equal(fenp_arena_open(&arena, bytes, "test", &err), FEN_OK);
    assert_int_equal(fenp_spectrum_make(&arena, &problem, 1, &e, NULL, &err), FEN_OK);
    assert_int_equal(
        fenp_scores_spectrum(&arena, &e, sample->w, s->bias, points, count, kind, scores, &err),
        FEN_OK);
    assert_true(arena.used <= arena.size);
    fenp_arena_close(&arena);
    fenp_sample_free(sample);
}

static void assert_close(double a, double b, double relative, fenp_setting at, const char *what)
{
    if (!(fabs(a - b) <= relative * fabs(b)))
        fail_msg("%s, lambda %g, power %g: %.17g is not %.17g (%.1e)", what, at.lambda, at.power, a,
                 b, fabs(a / b - 1.0));
}

static const double POWERS[] = { 0.3, 0.5, 0.9, 1.0, 1.2, 1.5, 2.0, 2.7, 4.0, 10.0 };
enum { POWER_COUNT = 10 };

/* All powers at some lambdas, in no particular order. */
static int64_t all_settings(const double *lambdas, int count, fenp_setting *points)
{
    int64_t made = 0;
    for (int l = 0; l < count; l++)
        for (int m = 0; m < POWER_COUNT; m++)
            points[made++] = (fenp_setting){ lambdas[l], POWERS[(7 * m + 3) % POWER_COUNT] };
    return made;
}

/* ---- tests ------------------------------------------------------------------------------ */

/* Every setting at once and the primal form against refits one by one. */
static int check(const data *s, const double *lambdas, int count, double tolerance, int primal,
                 const char *what)
{
    static refit r[MOST];
    fenp_setting points[8 * POWER_COUNT];
    double scores[8 * POWER_COUNT], other[8 * POWER_COUNT];
    const int64_t made = all_settings(lambdas, count, points);
    int several = 0;
    for (int64_t i = 0; i < s->n; i++) delete_row(s, i, &r[i]);
    scores_of(s, s->y, 1, points, made, FENP_LOO, scores);
    if (primal) primal_scores(s, points, made, FENP_LOO, other);
    for (int64_t l = 0; l < made; l++) {
        const double expected = reference(s, r, points[l], &several);
        assert_close(scores[l], expected, tolerance, points[l], what);
        if (primal) assert_close(other[l], expected, tolerance, points[l], "primal");
    }
    return several;
}

/* 1e-8 of the score: the interpolation gives 1e-9, rounding in K 1e-16 d_max / c. */
static void test_refits(void **unused)
{
    (void)unused;
    const double lambdas[] = { 1e-4, 3e-3, 0.1, 2.0, 1e4 };
    static data s;
    for (int which = 0; which < 4; which++) {
        fill_sample(&s, 36, which & 1, which >> 1 & 1);
        for (int64_t l = 0; l < P; l++) s.x[5 * P + l] = s.x[11 * P + l]; /* a row twice */
        fill_kernel(&s, 1);
        check(&s, lambdas, 5, 1e-8, 0, "gaussian");
        fill_kernel(&s, 0); /* rank 3 */
        check(&s, lambdas, 5, 1e-8, 1, "linear");
    }
}

/* Eigenvalues far apart give powers below 1 several local minima, and each row its own. */
static void test_several_minima(void **unused)
{
    (void)unused;
    const double reach[] = { 1.0, 1e-4 };
    const double lambdas[] = { 0.0035, 0.0046, 0.007, 0.009, 0.011, 0.014 };
    static data s;
    int several = 0;
    for (int bias = 0; bias < 2; bias++) {
        fill_sample(&s, 12, bias, 1);
        fill_steps(&s, reach, 2);
        several += check(&s, lambdas, 6, 1e-8, 0, "steps");
    }
    assert_true(several > 50);
}

/* Two rows and a bias leave one, which the bias fits: r = y1 - y2, whatever the setting. */
static void test_few_rows(void **unused)
{
    (void)unused;
    const double lambdas[] = { 1e-6, 1e-3, 0.5, 1e30 };
    static data s;
    for (int which = 0; which < 4; which++) {
        fill_sample(&s, 2 + (which & 1), which >> 1, 1);
        fill_kernel(&s, 1);
        check(&s, lambdas, 4, 1e-8, 0, "few rows");
    }
    double scores[2];
    const fenp_setting points[] = { { 0.1, 0.5 }, { 0.1, 2.0 } };
    fill_sample(&s, 1, 0, 0);
    s.k[0] = 1.0;
    scores_of(&s, s.y, 1, points, 2, FENP_LOO, scores);
    for (int l = 0; l < 2; l++) assert_close(scores[l], s.y[0] * s.y[0], 1e-14, points[l], "one");
    s.bias = 1; /* nothing is left to fit */
    scores_of(&s, s.y, 1, points, 2, FENP_LOO, scores);
    for (int l = 0; l < 2; l++) assert_true(isinf(scores[l]));
}

/* The mixed table and the route of ridge alone; targets do not know of each other. */
static void test_squares_and_targets(void **unused)
{
    (void)unused;
    static data s;
    enum { T = 3 };
    const fenp_setting mixed[] = { { 1e-3, 2 }, { 0.05, 2 }, { 1e3, 2 }, { 1e-2, 1.3 } };
    double y[T * MOST], all[4 * T], alone[4], squares[3];
    fill_sample(&s, 30, 1, 1);
    fill_kernel(&s, 1);
    for (int64_t i = 0; i < s.n; i++) {
        y[i] = s.y[i];
        y[s.n + i] = 1e-120 * normal(8, i);
        y[2 * s.n + i] = 0.0;
    }
    scores_of(&s, y, T, mixed, 4, FENP_LOO, all);
    for (int t = 0; t < T; t++) {
        scores_of(&s, y + t * s.n, 1, mixed, 4, FENP_LOO, alone);
        scores_of(&s, y + t * s.n, 1, mixed, 3, FENP_LOO, squares);
        for (int l = 0; l < 4; l++)
            assert_close(all[t * 4 + l], alone[l], 1e-12, mixed[l], "alone");
        for (int l = 0; l < 3; l++) assert_close(alone[l], squares[l], 1e-9, mixed[l], "ridge");
    }
}

/* y -> a y maps lambda -> a^(2-m) lambda; K -> a K maps lambda -> a^(m/2) lambda. */
static void test_scaling(void **unused)
{
    (void)unused;
    static data s;
    for (int m = 0; m < POWER_COUNT; m++) {
        const double power = POWERS[m], a = 1e30;
        const fenp_setting plain = { 0.01, power };
        const fenp_setting loud = { 0.01 * pow(a, 2.0 - power), power };
        const fenp_setting large = { 0.01 * pow(a, 0.5 * power), power };
        double expected, score;
        fill_sample(&s, 20, 1, 0);
        fill_kernel(&s, 1);
        scores_of(&s, s.y, 1, &plain, 1, FENP_LOO, &expected);
        for (int64_t i = 0; i < s.n; i++) s.y[i] *= a;
        scores_of(&s, s.y, 1, &loud, 1, FENP_LOO, &score);
        assert_close(score / a / a, expected, 1e-9, loud, "loud");
        for (int64_t i = 0; i < s.n; i++) s.y[i] /= a;
        for (int64_t i = 0; i < s.n * s.n; i++) s.k[i] *= a;
        scores_of(&s, s.y, 1, &large, 1, FENP_LOO, &score);
        assert_close(score, expected, 1e-9, large, "large");
    }
}

/* f = 0 for every row: labels out of the reach of K, K = 0, lambda beyond all bounds. The
 * residual is then y minus the weighted mean of the others. */
static void test_zero(void **unused)
{
    (void)unused;
    static data s;
    const fenp_setting points[] = {
        { 1e300, 0.5 }, { 1e300, 1.0 }, { 1e300, 2.0 }, { 1e300, 5.0 },
        { 1e-3, 0.01 }, { 1e-3, 1.0 },  { 1e-3, 1.5 },  { 1e-3, 20.0 }
    };
    double scores[8], expected = 0.0;
    fill_sample(&s, 15, 1, 1);
    fill_kernel(&s, 1);
    for (int64_t i = 0; i < s.n; i++) {
        double mean = 0.0;
        for (int64_t j = 0; j < s.n; j++)
            if (j != i) mean += s.w[j] * s.y[j] / (1.0 - s.w[i]);
        expected += s.w[i] * (s.y[i] - mean) * (s.y[i] - mean);
    }
    scores_of(&s, s.y, 1, points, 3, FENP_LOO, scores);
    for (int l = 0; l < 3; l++) assert_close(scores[l], expected, 1e-9, points[l], "large lambda");
    memset(s.k, 0, sizeof s.k);
    scores_of(&s, s.y, 1, points, 8, FENP_LOO, scores);
    for (int l = 0; l < 8; l++) assert_close(scores[l], expected, 1e-9, points[l], "K = 0");
    s.k[0] = 1.0; /* K sees the first row alone */
    s.bias = 0;
    s.y[0] = 0.0;
    expected = 0.0;
    for (int64_t i = 0; i < s.n; i++) expected += s.w[i] * s.y[i] * s.y[i];
    scores_of(&s, s.y, 1, points, 8, FENP_LOO, scores);
    for (int l = 0; l < 8; l++) assert_close(scores[l], expected, 1e-9, points[l], "out of reach");
}

/* Powers and penalties at the ends of their ranges: a number, never NaN. */
static void test_extremes(void **unused)
{
    (void)unused;
    static data s;
    const double powers[] = { 0.01, 0.1, 0.99, 1.0, 1.0001, 1.01, 20.0 };
    fill_sample(&s, 25, 1, 0);
    for (int kernel = 0; kernel < 2; kernel++)
        for (int m = 0; m < 7; m++)
            for (double lambda = 1e-30; lambda < 1e31; lambda *= 1e5) {
                const fenp_setting at = { lambda, powers[m] };
                double score[2];
                fill_kernel(&s, kernel);
                scores_of(&s, s.y, 1, &at, 1, FENP_LOO, &score[0]);
                scores_of(&s, s.y, 1, &at, 1, FENP_GCV, &score[1]);
                assert_true(score[0] > 0.0 && score[0] < 1e3);
                assert_true(score[1] > 0.0 && score[1] < 1e12);
            }
}

/* A column that one row alone has: its leverage is 1 - c/(d+c). The primal form loses digits
 * in the difference, at worst to 1/n, and says infinity where fewer are left. */
static void test_leverage(void **unused)
{
    (void)unused;
    static data s;
    const double lambdas[] = { 1e-3, 0.1, 10.0 };
    fill_sample(&s, 20, 1, 1);
    for (int64_t i = 0; i < s.n; i++) s.x[i * P] = i == 7 ? 2.0 : 0.0;
    fill_kernel(&s, 0);
    check(&s, lambdas, 3, 1e-8, 1, "leverage");
    for (int m = 0; m < POWER_COUNT; m++) {
        const fenp_setting at = { 1e-40, POWERS[m] };
        double dual, primal;
        scores_of(&s, s.y, 1, &at, 1, FENP_LOO, &dual);
        primal_scores(&s, &at, 1, FENP_LOO, &primal);
        if (!isinf(primal)) assert_close(primal, dual, 0.1, at, "interpolation");
    }
}

/* Slabs of any size: the same rows, the same sums. */
static void test_slabs(void **unused)
{
    (void)unused;
    static data s;
    const fenp_setting points[] = { { 0.01, 0.6 }, { 0.02, 1.0 }, { 0.01, 3.0 } };
    const fenp_size size = { .n = 33, .p = P, .targets = 1, .bias = 1 };
    double whole[3], pieces[3];
    fill_sample(&s, 33, 1, 1);
    fill_kernel(&s, 0);
    primal_scores(&s, points, 3, FENP_LOO, whole);
    fenp_sample *sample = sample_of(&s);
    const fenp_problem problem = problem_of(&s, sample, "linear");
    fenp_arena arena;
    fen_error err;
    fenp_spectrum e;
    fenp_left_out *left_out;
    const int64_t bytes = fenp_spectrum_bytes(&size, 1) + fenp_left_out_bytes(P, 1, 3, 10);
    assert_int_equal(fenp_arena_open(&arena, bytes, "test", &err), FEN_OK);
    assert_int_equal(fenp_spectrum_make(&arena, &problem, 1, &e, NULL, &err), FEN_OK);
    assert_int_equal(fenp_left_out_begin(&arena, &e, 1, points, 3, 10, &left_out, &err), FEN_OK);
    for (int64_t i = 0; i < e.n; i += 10)
        fenp_left_out_rows(left_out, e.basis + i, e.n, e.y + i, e.n, sample->w + i,
                           e.n - i < 10 ? e.n - i : 10);
    fenp_left_out_scores(left_out, pieces);
    for (int l = 0; l < 3; l++) assert_close(pieces[l], whole[l], 1e-13, points[l], "slabs");
    assert_true(arena.used <= arena.size);
    fenp_arena_close(&arena);
    fenp_sample_free(sample);
}

/* n L / (trace)^2 at the c of the whole sample, which the reference finds as for refits. */
static void test_gcv(void **unused)
{
    (void)unused;
    const double lambdas[] = { 1e-3, 0.1, 3.0 };
    fenp_setting points[3 * POWER_COUNT];
    double dual[3 * POWER_COUNT], primal[3 * POWER_COUNT];
    static data s;
    static refit r;
    const int64_t made = all_settings(lambdas, 3, points);
    for (int which = 0; which < 4; which++) {
        fill_sample(&s, 24, which & 1, which >> 1);
        fill_kernel(&s, 0);
        delete_row(&s, s.n, &r);
        scores_of(&s, s.y, 1, points, made, FENP_GCV, dual);
        primal_scores(&s, points, made, FENP_GCV, primal);
        for (int64_t l = 0; l < made; l++) {
            int minima;
            const long double c =
                shrinkage(&r, (double)s.n * points[l].lambda, points[l].power, &minima);
            long double loss = 0.0L, trace = s.bias ? -1.0L : 0.0L; /* r counts the constant */
            for (int64_t j = 0; j < r.n; j++) {
                const long double share = isinf(c) ? 1.0L : c / (r.d[j] + c);
                loss += r.q[j] * r.q[j] * share * share;
                trace += share;
            }
            const double expected = (double)(s.n * loss / (trace * trace));
            assert_close(dual[l], expected, 1e-9, points[l], "GCV");
            assert_close(primal[l], expected, 1e-9, points[l], "GCV, primal");
        }
    }
}

/* n folds are the refits of leave-one-out, with weights that sum to one again: for equal
 * weights lambda n/(n-1). */
static void test_kfold(void **unused)
{
    (void)unused;
    const double lambdas[] = { 1e-3, 0.1, 3.0 };
    fenp_setting points[3 * POWER_COUNT];
    double scores[3 * POWER_COUNT];
    static data s;
    static refit r[MOST];
    const int64_t made = all_settings(lambdas, 3, points);
    for (int bias = 0; bias < 2; bias++) {
        fill_sample(&s, 16, bias, 0);
        fill_kernel(&s, 1);
        const fenp_size size = { .n = s.n, .p = P, .targets = 1, .bias = bias };
        fenp_sample *sample = sample_of(&s);
        const fenp_problem problem = problem_of(&s, sample, "gaussian");
        fenp_arena arena;
        fen_error err;
        assert_int_equal(
            fenp_arena_open(&arena, fenp_scores_kfold_bytes(&size, made), "test", &err), FEN_OK);
        assert_int_equal(
            fenp_scores_kfold(&arena, &problem, points, made, s.n, 3, scores, NULL, &err), FEN_OK);
        assert_true(arena.used <= arena.size);
        fenp_arena_close(&arena);
        fenp_sample_free(sample);
        for (int64_t i = 0; i < s.n; i++) delete_row(&s, i, &r[i]);
        for (int64_t l = 0; l < made; l++) {
            const double n = (double)s.n;
            const fenp_setting kept = { points[l].lambda * (n - 1.0) / n, points[l].power };
            int several = 0;
            assert_close(scores[l], reference(&s, r, kept, &several), 1e-8, points[l], "folds");
        }
    }
}

/* A linear kernel: by the rows and by the columns. */
static void test_kfold_by_columns(void **unused)
{
    (void)unused;
    const double lambdas[] = { 1e-3, 0.1, 3.0 };
    fenp_setting points[3 * POWER_COUNT];
    double scores[2][3 * POWER_COUNT];
    static data s;
    const int64_t made = all_settings(lambdas, 3, points);
    for (int kind = 0; kind < 4; kind++) {
        const int bias = kind % 2, weighted = kind / 2;
        fill_sample(&s, 16, bias, weighted);
        const fenp_size size = { .n = s.n, .p = P, .targets = 1, .bias = bias };
        fenp_sample *sample = sample_of(&s);
        const fenp_problem problem = problem_of(&s, sample, "linear");
        assert_true(fenp_kfold_is_primal(s.n, P, 4) && !fenp_kfold_is_primal(s.n, 12, 4));
        for (int primal = 0; primal < 2; primal++) {
            const int64_t bytes = primal ? fenp_scores_kfold_primal_bytes(&size, made)
                                         : fenp_scores_kfold_bytes(&size, made);
            fenp_arena arena;
            assert_int_equal(fenp_arena_open(&arena, bytes, "test", NULL), FEN_OK);
            assert_int_equal((primal ? fenp_scores_kfold_primal : fenp_scores_kfold)(
                                 &arena, &problem, points, made, 4, 3, scores[primal], NULL, NULL),
                             FEN_OK);
            assert_true(arena.used <= arena.size);
            fenp_arena_close(&arena);
        }
        for (int64_t l = 0; l < made; l++)
            assert_close(scores[1][l], scores[0][l], 1e-8, points[l], "folds by columns");
        fenp_sample_free(sample);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refits),   cmocka_unit_test(test_several_minima),
        cmocka_unit_test(test_few_rows), cmocka_unit_test(test_squares_and_targets),
        cmocka_unit_test(test_scaling),  cmocka_unit_test(test_zero),
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_leverage),
        cmocka_unit_test(test_slabs),    cmocka_unit_test(test_gcv),
        cmocka_unit_test(test_kfold),    cmocka_unit_test(test_kfold_by_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
