/* test_simd.c -- every kernel at every level that this processor has, against its definition
 *
 * Where the environment names a level in FENCHEL_LEVEL, that level must be the one in use: runs that
 * are capped for a test are then known to be capped. */
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
#include "simd/simd.h"

extern const fenp_simd fenp_simd_baseline;
#if defined(__x86_64__)
extern const fenp_simd fenp_simd_avx2;
#endif

/* The levels up to the one in use; the last one is it. */
static const fenp_simd *level[3];
static int levels;

static int find_levels(void **state)
{
    (void)state;
    level[levels++] = &fenp_simd_baseline;
#if defined(__x86_64__)
    const fenp_simd *widest = fenp_simd_get();
    if (widest != &fenp_simd_baseline) level[levels++] = &fenp_simd_avx2;
    if (widest != level[levels - 1]) level[levels++] = widest;
#endif
    return 0;
}

static double number(int64_t stream, int64_t i) /* in (-1, 1) */
{
    return 2.0 * fenp_uniform(6, (uint64_t)stream, (uint64_t)i) - 1.0;
}

static void fill(double *x, int64_t count, int64_t stream)
{
    for (int64_t i = 0; i < count; i++) x[i] = number(stream, i);
}

/* Is it the sum, with as many roundings of the sizes of its terms as are allowed? */
static int near(double got, long double sum, long double sizes, double roundings)
{
    return fabsl(got - sum) <= 0.5L * DBL_EPSILON * roundings * sizes;
}

static void the_level_in_use_is_the_one_that_was_asked_for(void **state)
{
    (void)state;
    const char *wanted = getenv("FENCHEL_LEVEL");
    print_message("level in use: %s\n", fenp_simd_get()->level);
    if (wanted) assert_string_equal(fenp_simd_get()->level, wanted);
}

/* ---- exponentials, sines and cosines -------------------------------------------------------- */

static void exponentials_are_exact_to_an_ulp(void **state)
{
    enum { COUNT = 100003 };
    static double x[COUNT], v[COUNT];
    (void)state;
    for (int64_t i = 0; i < COUNT; i++)
        x[i] = (i % 2 ? 708.0 : 1.0) * fenp_uniform(6, 1, (uint64_t)i);
    for (int k = 0; k < levels; k++) {
        memcpy(v, x, sizeof v);
        level[k]->exp_scaled(v, COUNT, -1.0);
        for (int64_t i = 0; i < COUNT; i++) {
            const long double exact = expl(-(long double)x[i]);
            assert_true(fabsl(v[i] - exact) <= DBL_EPSILON * exact);
        }
        double some[] = { 2.0, -3.0, 0.0 };
        level[k]->exp_scaled(some, 3, 0.5);
        assert_true(fabs(some[0] - exp(1.0)) < 1e-15 && fabs(some[1] - exp(-1.5)) < 1e-15);
        assert_true(some[2] == 1.0);
        double odd[] = { 0.0, -0.0, INFINITY, 800.0, 1e308, 740.0, NAN };
        level[k]->exp_scaled(odd, 7, -1.0);
        assert_true(odd[0] == 1.0 && odd[1] == 1.0);
        assert_true(odd[2] == 0.0 && odd[3] == 0.0 && odd[4] == 0.0);
        assert_true(odd[5] > 0.0 && odd[5] < 1e-320); /* 4.2e-322, subnormal */
        assert_true(isnan(odd[6]));
    }
}

/* Angles up to 1e14, which only an exact reduction gets right. */
static void sines_and_cosines_are_exact_to_an_ulp(void **state)
{
    enum { COUNT = 10007 };
    static double x[COUNT], v[COUNT], cosine[COUNT];
    (void)state;
    for (int64_t i = 0; i < COUNT; i++) x[i] = number(2, i) * pow(10.0, (double)(i % 15));
    for (int k = 0; k < levels; k++) {
        memcpy(v, x, sizeof v);
        level[k]->sincos_scaled(v, cosine, COUNT, 0.5);
        for (int64_t i = 0; i < COUNT; i++) {
            assert_true(fabsl(v[i] - 0.5L * sinl(x[i])) <= DBL_EPSILON * 0.5);
            assert_true(fabsl(cosine[i] - 0.5L * cosl(x[i])) <= DBL_EPSILON * 0.5);
        }
        double odd[3] = { 0.0, INFINITY, NAN }, its[3];
        level[k]->sincos_scaled(odd, its, 3, 2.0);
        assert_true(odd[0] == 0.0 && its[0] == 2.0);
        assert_true(isnan(odd[1]) && isnan(its[1]) && isnan(odd[2]) && isnan(its[2]));
    }
}

/* Every length, every place in the array: the same bits, and nothing beyond the end. */
static void a_result_does_not_depend_on_its_place(void **state)
{
    enum { LONGEST = 40 };
    (void)state;
    for (int k = 0; k < levels; k++)
        for (int64_t count = 0; count <= LONGEST; count++) {
            double v[LONGEST + 1], s[LONGEST + 1], c[LONGEST + 1], alone, its;
            fill(v, LONGEST + 1, 3), fill(s, LONGEST + 1, 3), fill(c, LONGEST + 1, 4);
            const double beyond = c[count];
            level[k]->exp_scaled(v, count, -1.7);
            level[k]->sincos_scaled(s, c, count, 3.0);
            assert_true(v[count] == number(3, count) && s[count] == number(3, count));
            assert_true(c[count] == beyond);
            for (int64_t i = 0; i < count; i++) {
                alone = number(3, i);
                level[k]->exp_scaled(&alone, 1, -1.7);
                assert_memory_equal(&alone, &v[i], sizeof alone);
                alone = number(3, i);
                level[k]->sincos_scaled(&alone, &its, 1, 3.0);
                assert_memory_equal(&alone, &s[i], sizeof alone);
                assert_memory_equal(&its, &c[i], sizeof its);
            }
        }
}

/* ---- distances ------------------------------------------------------------------------------ */

static void distances_are_sums_of_differences(void **state)
{
    enum { DIM = 9, WIDTH = 24 };
    double z[DIM * WIDTH], x[2 * DIM], to[2][WIDTH];
    (void)state;
    fill(z, DIM * WIDTH, 5), fill(x, 2 * DIM, 6);
    for (int64_t i = 0; i < DIM; i++) z[i * WIDTH + 1] = x[i]; /* point 1 is the first row */
    for (int k = 0; k < levels; k++)
        for (int64_t dim = 0; dim <= DIM; dim++)
            for (int l1 = 0; l1 < 2; l1++) {
                const fenp_points points = { z, dim, WIDTH, WIDTH - dim };
                level[k]->distance_two(l1 ? FEN_L1_DISTANCE : FEN_SQUARED_DISTANCE, x, x + DIM,
                                       points, to[0], to[1]);
                assert_true(to[0][1] == 0.0);
                for (int64_t j = 0; j < points.count; j++)
                    for (int r = 0; r < 2; r++) {
                        long double sum = 0.0L;
                        for (int64_t i = 0; i < dim; i++) {
                            const long double off = (long double)x[r * DIM + i] - z[i * WIDTH + j];
                            sum += l1 ? fabsl(off) : off * off;
                        }
                        assert_true(near(to[r][j], sum, sum, (double)dim + 2.0));
                    }
            }
}

/* ---- columns -------------------------------------------------------------------------------- */

static void products_with_columns_are_sums(void **state)
{
    enum { N = 203, M = 19 };
    static double a[N * M], v[M], u[N], y[N], out[3][M];
    (void)state;
    fill(a, N * M, 7), fill(v, M, 8), fill(u, N, 9);
    v[4] = v[11] = 0.0;
    a[4 * N] = NAN; /* a column that is not read */
    const double *column[M];
    for (int j = 0; j < M; j++) column[j] = a + (j == 4 ? 5 : j) * N;
    for (int k = 0; k < levels; k++) {
        fill(y, N, 10);
        level[k]->add_columns(N - 3, M, a, N, v, y);
        for (int64_t i = 0; i < N; i++) {
            long double sum = number(10, i), sizes = fabsl(sum);
            for (int64_t j = 0; j < M && i < N - 3; j++)
                if (v[j] != 0.0) {
                    sum += (long double)v[j] * a[j * N + i];
                    sizes += fabsl((long double)v[j] * a[j * N + i]);
                }
            assert_true(near(y[i], sum, sizes, M + 2.0));
        }
        level[k]->dots(M, N, column, u, out[k]);
        for (int j = 0; j < M; j++) {
            long double sum = 0.0L, sizes = 0.0L;
            for (int64_t i = 0; i < N; i++) {
                sum += (long double)u[i] * column[j][i];
                sizes += fabsl((long double)u[i] * column[j][i]);
            }
            assert_true(near(out[k][j], sum, sizes, N / 8.0 + 4.0));
            const double bounded = level[k]->dot_bounded(u, column[j], N);
            assert_true(near(bounded, sum, sizes, FENP_DOT_ADDITIONS + 2.0));
        }
        assert_memory_equal(out[k], out[0], sizeof out[k]); /* every level: the same bits */
    }
}

/* ---- triangles ------------------------------------------------------------------------------ */

/* Residuals by row, relative to the sizes of what they are made of: substitution is backward stable
 * with as many roundings as a row has terms, and the inverse of the diagonal one more. */
static void triangular_systems_are_solved(void **state)
{
    enum { MOST = 37, LD = MOST + 2, SIDES = FENP_SIDE };
    static double l[LD * MOST], x[MOST], sides[MOST * SIDES], right[MOST * SIDES];
    double shared[SIDES * SIDES];
    (void)state;
    for (int64_t c = 0; c < MOST; c++)
        for (int64_t r = 0; r < LD; r++)
            l[c * LD + r] = (r == c ? 3.0 : 0.0) + number(11, c * LD + r);
    for (int k = 0; k < levels; k++)
        for (int64_t m = 1; m <= MOST; m++) {
            for (int up = 0; up < 2; up++) {
                fill(x, m, 12);
                (up ? level[k]->solve_up : level[k]->solve_down)(l, LD, m, x);
                for (int64_t r = 0; r < m; r++) {
                    long double sum = 0.0L, sizes = 0.0L;
                    for (int64_t c = up ? r : 0; c < (up ? m : r + 1); c++) {
                        const long double term =
                            (long double)(up ? l[r * LD + c] : l[c * LD + r]) * x[c];
                        sum += term, sizes += fabsl(term);
                    }
                    assert_true(near(number(12, r), sum, sizes, (double)m + 4.0));
                }
            }
            fill(sides, m * SIDES, 13);
            memcpy(right, sides, sizeof right);
            level[k]->solve_lanes(l, LD, m, sides, shared);
            for (int64_t r = 0; r < m; r++)
                for (int64_t s = 0; s < SIDES; s++) {
                    long double sum = 0.0L, sizes = 0.0L;
                    for (int64_t c = 0; c <= r; c++) {
                        const long double term = (long double)l[c * LD + r] * sides[c * SIDES + s];
                        sum += term, sizes += fabsl(term);
                    }
                    assert_true(near(right[r * SIDES + s], sum, sizes, (double)m + 4.0));
                }
            for (int64_t s = 0; s < SIDES * SIDES; s++) {
                long double sum = 0.0L, sizes = 0.0L;
                for (int64_t r = 0; r < m; r++) {
                    const long double term =
                        (long double)sides[r * SIDES + s / SIDES] * sides[r * SIDES + s % SIDES];
                    sum += term, sizes += fabsl(term);
                }
                assert_true(near(shared[s], sum, sizes, (double)m + 1.0));
            }
        }
}

/* A packed upper triangle of floats, and a packed lower one of doubles, as the matrices they are. */
static void packed_triangles_are_symmetric_matrices(void **state)
{
    enum { N = 43 };
    static float upper[N * (N + 1) / 2];
    static double lower[N * (N + 1) / 2];
    double x[N], y[N], full[N][N], other[N][N];
    (void)state;
    fill(x, N, 14);
    for (int64_t j = 0, at = 0; j < N; j++)
        for (int64_t i = 0; i <= j; i++, at++) {
            upper[at] = (float)number(15, at);
            full[i][j] = full[j][i] = (double)upper[at];
        }
    for (int64_t j = 0, at = 0; j < N; j++)
        for (int64_t i = j; i < N; i++, at++)
            other[i][j] = other[j][i] = lower[at] = number(16, at);
    for (int k = 0; k < levels; k++)
        for (int which = 0; which < 2; which++) {
            memset(y, 0, sizeof y);
            if (which == 0) {
                level[k]->packed_columns(upper, 17, N, x, y);
                level[k]->packed_columns(upper, 0, 17, x, y);
            } else
                level[k]->triangle_times(lower, N, N, x, y);
            for (int i = 0; i < N; i++) {
                long double sum = 0.0L, sizes = 0.0L;
                for (int j = 0; j < N; j++) {
                    const long double term = (long double)(which == 0 ? full : other)[i][j] * x[j];
                    sum += term, sizes += fabsl(term);
                }
                assert_true(near(y[i], sum, sizes, N + 2.0));
            }
        }
}

static void a_vector_is_added_and_multiplied_in_one_pass(void **state)
{
    enum { MOST = 50 };
    double v[MOST], a[MOST], out[MOST + 1], only[MOST + 1];
    (void)state;
    fill(v, MOST, 17), fill(a, MOST, 18);
    for (int k = 0; k < levels; k++)
        for (int64_t count = 0; count <= MOST; count++) {
            fill(out, MOST + 1, 19), fill(only, MOST + 1, 19);
            const double dot = level[k]->add_and_dot(v, count, a, 0.3, out);
            level[k]->add_scaled(v, count, 0.3, only);
            long double sum = 0.0L, sizes = 0.0L;
            for (int64_t i = 0; i < count; i++) {
                sum += (long double)v[i] * a[i], sizes += fabsl((long double)v[i] * a[i]);
                assert_true(out[i] == number(19, i) + 0.3 * v[i] && only[i] == out[i]);
            }
            assert_true(near(dot, sum, sizes, (double)count + 2.0));
            assert_true(out[count] == number(19, count) && only[count] == out[count]);
        }
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Multi-indices in order: members j1 <= j2 <= ..., the last the fastest. */
static long double brute_force(const double *x, int64_t p, int64_t degree, int64_t from, int lane,
                               const double **v, long double *sizes)
{
    if (degree == 0) {
        *sizes = fabsl((long double)**v);
        return *(*v)++;
    }
    long double sum = 0.0L, all = 0.0L, part;
    for (int64_t j = from; j < p; j++) {
        const double factor = x[j * FENP_NESTED_LANES + lane];
        sum += factor * brute_force(x, p, degree - 1, j, lane, v, &part);
        all += fabs(factor) * part;
    }
    *sizes = all;
    return sum;
}

static void nested_sums_run_over_all_multi_indices(void **state)
{
    enum { P = 5, DEGREE = 5, ENTRIES = 126 }; /* 126 = 9 over 4, the most of a degree */
    double x[P * FENP_NESTED_LANES], v[ENTRIES], sums[FENP_NESTED_LANES];
    (void)state;
    fill(x, P * FENP_NESTED_LANES, 20), fill(v, ENTRIES, 21);
    for (int k = 0; k < levels; k++)
        for (int64_t degree = 1; degree <= DEGREE; degree++) {
            const double *end = level[k]->nested_sum(x, P, degree, v, sums);
            for (int lane = 0; lane < FENP_NESTED_LANES; lane++) {
                const double *at = v;
                long double sizes;
                const long double sum = brute_force(x, P, degree, 0, lane, &at, &sizes);
                assert_true(near(sums[lane], sum, sizes, (double)(degree * (P + 1))));
                assert_ptr_equal(end, at);
            }
        }
}

static void rows_have_the_same_bits_at_every_level(void **state)
{
    enum { N = 29 };
    double cells[N], center[N], scale[N], x[N];
    int64_t column[N];
    uint64_t key[N];
    (void)state;
    fill(cells, N, 22), fill(center, N, 23);
    cells[3] = -0.0, cells[5] = NAN;
    for (int64_t j = 0; j < N; j++) {
        scale[j] = 1.5 + number(24, j);
        column[j] = N - 1 - j;
        key[j] = (uint64_t)j * UINT64_C(0x9e3779b97f4a7c15);
    }
    for (int k = 0; k < levels; k++) {
        assert_int_equal(level[k]->standardise(cells, center, scale, N, x), 0); /* of the gap */
        assert_int_equal(level[k]->standardise(cells, center, scale, 5, x), 1);
        for (int64_t j = 0; j < 5; j++) assert_true(x[j] == (cells[j] - center[j]) / scale[j]);
        uint64_t sum = 0;
        for (int64_t j = 0; j < N; j++) sum += fenp_hash_cell(cells[column[j]], key[j]);
        assert_true(level[k]->hash_cells(cells, column, key, N) == sum);
    }
    assert_true(fenp_hash_cell(-0.0, 7) == fenp_hash_cell(0.0, 7));
    assert_true(fenp_hash_cell(NAN, 7) == fenp_hash_cell(-NAN, 7));
    assert_true(fenp_hash_cell(1.0, 7) != fenp_hash_cell(1.0, 8));
}

/* ---- a quadratic program -------------------------------------------------------------------- */

/* The condition of optimality by its definition (smo.h) from g computed afresh. */
static void pairs_reach_the_optimum(void **state)
{
    enum { N = 48 };
    static float k[N * N];
    static double value[8][N];
    (void)state;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) k[i * N + j] = (float)exp(-0.05 * pow((double)(i - j), 2));
    for (int at = 0; at < levels; at++)
        for (int balanced = FENP_ALONE; balanced <= FENP_SUM; balanced++) {
            fenp_qp q = { N,        balanced, value[0], value[1], value[2],
                          value[3], value[4], value[5], value[6] };
            double right[N], left[N], a[N];
            for (int64_t i = 0; i < N; i++) {
                a[i] = number(25, i);
                q.b[i] = 0.0, q.g[i] = -a[i], q.d[i] = 0.1, q.stiff[i] = 1.1, q.kink[i] = 0.05;
                q.low[i] = -1.0, q.high[i] = 1.0;
                right[i] = fenp_qp_right(&q, i), left[i] = fenp_qp_left(&q, i);
            }
            const fenp_smo_job job = { &q, k, N, right, left };
            assert_true(level[at]->smo(&job, 1e-6, 100000) < 100000);
            double total = 0.0, rise = -INFINITY, fall = INFINITY;
            for (int64_t i = 0; i < N; i++) {
                double g = q.d[i] * q.b[i] - a[i];
                for (int64_t j = 0; j < N; j++) g += (double)k[i * N + j] * q.b[j];
                assert_true(fabs(g - q.g[i]) < 1e-9 && fabs(q.b[i]) <= 1.0);
                total += q.b[i];
                rise = fmax(rise, fenp_qp_rise(&q, i)), fall = fmin(fall, fenp_qp_fall(&q, i));
            }
            if (balanced == FENP_SUM) assert_true(fabs(total) < 1e-12 && rise - fall <= 1e-6);
            if (balanced == FENP_ALONE) assert_true(rise <= 1e-6 && fall >= -1e-6);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_level_in_use_is_the_one_that_was_asked_for),
        cmocka_unit_test(exponentials_are_exact_to_an_ulp),
        cmocka_unit_test(sines_and_cosines_are_exact_to_an_ulp),
        cmocka_unit_test(a_result_does_not_depend_on_its_place),
        cmocka_unit_test(distances_are_sums_of_differences),
        cmocka_unit_test(products_with_columns_are_sums),
        cmocka_unit_test(triangular_systems_are_solved),
        cmocka_unit_test(packed_triangles_are_symmetric_matrices),
        cmocka_unit_test(a_vector_is_added_and_multiplied_in_one_pass),
        cmocka_unit_test(nested_sums_run_over_all_multi_indices),
        cmocka_unit_test(rows_have_the_same_bits_at_every_level),
        cmocka_unit_test(pairs_reach_the_optimum),
    };
    return cmocka_run_group_tests(tests, find_levels, NULL);
}
