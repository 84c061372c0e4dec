/* test_pivots.c -- products of rows: sums over all of them, pivots, the low-rank route
 *
 *   brute force over all n^q tuples, a span that holds all points, the same pivots for any number
 *   of threads, equal rows, rows of zeros, one row, predictions, a rank that fits into the room
 */
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "base/registry.h"
#include "tensor/contract.h"
#include "tensor/form.h"
#include "tensor/pivots_parts.h"

static double *doubles(int64_t count)
{
    double *v = calloc((size_t)count + 1, sizeof *v);
    assert_non_null(v);
    return v;
}

static double *random_numbers(uint64_t stream, int64_t count, double scale)
{
    double *v = doubles(count);
    for (int64_t i = 0; i < count; i++) v[i] = scale * fenp_normal(66, stream, (uint64_t)i);
    return v;
}

static fenp_kernel kernel_of(const char *name, int64_t h)
{
    const fenp_kernel k = { fenp_find_kernel(name),
                            { .gamma = 0.4, .degree = 2.0, .order = 2.0 * (double)h } };
    assert_non_null(k.table);
    return k;
}

static fen_view view_of(const double *x, int64_t rows, int64_t cols)
{
    return (fen_view){ x, rows, cols, cols };
}

static double largest(const double *v, int64_t count)
{
    double top = 0.0;
    for (int64_t i = 0; i < count; i++) top = fmax(top, fabs(v[i]));
    return top;
}

/* ---- by definition -------------------------------------------------------------------------- */

/* sum over all tuples of q rows; om may be NULL. */
static double brute_force(const fenp_kernel *k, fen_view x, const double *a, double *om)
{
    const int64_t q = 2 * fenp_half_order(k), n = x.rows;
    int64_t tuple[8] = { 0 }, s = 0;
    double total = 0.0;
    for (int64_t i = 0; i < n; i++) om[i] = 0.0;
    while (s >= 0) {
        double sum = 0.0, weight = 1.0;
        for (int64_t j = 0; j < x.cols; j++) {
            double product = 1.0;
            for (s = 0; s < q; s++) product *= x.at[tuple[s] * x.stride + j];
            sum += product;
        }
        for (s = 1; s < q; s++) weight *= a[tuple[s]];
        const double value = weight * k->table->value(sum, &k->par);
        om[tuple[0]] += value;
        total += a[tuple[0]] * value;
        for (s = q - 1; s >= 0 && tuple[s] == n - 1; s--) tuple[s] = 0;
        if (s >= 0) tuple[s]++;
    }
    return total;
}

/* |v|_1^2 of all tuples times the largest kernel value: the unit of rounding errors. */
static double unit_of(const fenp_kernel *k, fen_view x, const double *a)
{
    double sum = 0.0, top = 0.0;
    for (int64_t i = 0; i < x.rows; i++) {
        double s = 0.0;
        sum += fabs(a[i]);
        for (int64_t j = 0; j < x.cols; j++) s += pow(fabs(x.at[i * x.stride + j]), k->par.order);
        top = fmax(top, k->table->value(s, &k->par));
    }
    return pow(sum, k->par.order) * top;
}

/* ---- points --------------------------------------------------------------------------------- */

static void multisets_are_counted_and_numbered(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        for (int64_t h = 1; h <= 4; h++) {
            int64_t member[4] = { 0 }, same[4], count = 0;
            double orders = 0.0;
            do {
                fenp_multiset_at(n, h, count++, same);
                assert_memory_equal(member, same, (size_t)h * sizeof *member);
                orders += fenp_multiset_orders(h, member);
            } while (fenp_multiset_next(n, h, member));
            assert_int_equal(count, fenp_multisets(n, h));
            assert_true(orders == pow((double)n, (double)h));
        }
    assert_int_equal(fenp_multisets(0, 2), 0);
    assert_int_equal(fenp_multisets(7, 0), 1);
    assert_int_equal(fenp_multisets(1000, 2), 500500);
    assert_true(fenp_multisets(INT64_C(1) << 40, 2) == INT64_MAX);
    assert_true(fenp_multisets(1000, 512) == INT64_MAX);
}

static void sums_are_those_over_all_tuples(void **state)
{
    (void)state;
    enum { N = 5, P = 3 };
    static const char *const names[] = { "tensor-linear", "tensor-polynomial",
                                         "tensor-exponential" };
    double *x = random_numbers(1, N * P, 0.8), *a = random_numbers(2, 2 * N, 1.0);
    double value[2], om[2 * N], exact[N];
    a[1] = a[3] = a[N + 3] = 0.0; /* one row of no vector, one of the second alone */
    for (int64_t h = 1; h <= 3; h++)
        for (int kind = 0; kind < 3; kind++) {
            const fenp_kernel k = kernel_of(names[kind], h);
            const fen_view view = view_of(x, N, P);
            assert_int_equal(fenp_points_sums(&k, view, a, 2, value, om, NULL, NULL), FEN_OK);
            for (int c = 0; c < 2; c++) {
                const double t = brute_force(&k, view, a + c * N, exact);
                const double unit = 1e-14 * unit_of(&k, view, a + c * N) / largest(a + c * N, N);
                assert_true(fabs(value[c] - t) <= unit * largest(a + c * N, N));
                for (int64_t i = 0; i < N; i++)
                    assert_true(fabs(om[c * N + i] - exact[i]) <= unit * 10.0);
            }
        }
    free(x), free(a);
}

/* Several tiles, and rounds that are halved or not: against a plain double loop. */
static void sums_of_many_points_are_complete(void **state)
{
    (void)state;
    enum { P = 4 };
    for (int64_t n = 15; n <= 34; n += 19) { /* 120, 595 points */
        double *x = random_numbers(3, n * P, 0.7), *a = random_numbers(4, n, 1.0);
        double *om = doubles(n), *exact = doubles(n), *again = doubles(n), value, same;
        for (int64_t i = 0; i < n; i += 7) a[i] = 0.0;
        const fenp_kernel k = kernel_of("tensor-exponential", 2);
        fen_view view = view_of(x, n, P);
        assert_int_equal(fenp_points_sums(&k, view, a, 1, &value, om, NULL, NULL), FEN_OK);
        const double t = brute_force(&k, view, a, exact), unit = 1e-14 * unit_of(&k, view, a);
        assert_true(fabs(value - t) <= unit);
        for (int64_t i = 0; i < n; i++) assert_true(fabs(om[i] - exact[i]) <= unit);
        const int threads = omp_get_max_threads();
        omp_set_num_threads(threads == 1 ? 2 : 1);
        assert_int_equal(fenp_points_sums(&k, view, a, 1, &same, again, NULL, NULL), FEN_OK);
        omp_set_num_threads(threads);
        assert_true(same == value);
        assert_memory_equal(om, again, (size_t)n * sizeof *om);
        free(x), free(a), free(om), free(exact), free(again);
    }
}

static void sums_of_nothing_are_zero(void **state)
{
    (void)state;
    const fenp_kernel k = kernel_of("tensor-exponential", 2);
    double *x = random_numbers(5, 6, 1.0), a[3] = { 0.0 }, om[3] = { 9.0, 9.0, 9.0 }, value = 9.0;
    assert_int_equal(fenp_points_sums(&k, view_of(x, 3, 2), a, 1, &value, om, NULL, NULL), FEN_OK);
    assert_true(value == 0.0 && om[0] == 0.0 && om[1] == 0.0 && om[2] == 0.0);
    a[1] = 2.0; /* no columns: k = kappa(0) = 1 */
    assert_int_equal(fenp_points_sums(&k, (fen_view){ x, 3, 0, 1 }, a, 1, &value, om, NULL, NULL),
                     FEN_OK);
    assert_true(value == 16.0 && om[0] == 8.0 && om[2] == 8.0);
    free(x);
}

/* ---- pivots --------------------------------------------------------------------------------- */

static fenp_pivots find(const fenp_kernel *k, fen_view x, double tolerance, int64_t most)
{
    fenp_pivots out;
    fen_error err = { FEN_OK, "" };
    assert_int_equal(fenp_pivots_find(k, x, tolerance, most, &out, NULL, &err), FEN_OK);
    assert_true(out.h == fenp_half_order(k));
    return out;
}

static double kernel_of_points(const fenp_kernel *k, int64_t p, const double *u, const double *v)
{
    double sum = 0.0;
    for (int64_t j = 0; j < p; j++) sum += u[j] * v[j];
    return k->table->value(sum, &k->par);
}

/* e of one point by a plain forward substitution; l: room for all pivots. */
static double left_at(const fenp_kernel *k, fen_view x, const fenp_pivots *s, const double *u,
                      double *v, double *l)
{
    const int64_t r = s->count;
    double e = kernel_of_points(k, x.cols, u, u);
    for (int64_t i = 0; i < r; i++) {
        fenp_point_of(x, s->h, s->row + i * s->h, v);
        l[i] = kernel_of_points(k, x.cols, u, v);
        for (int64_t j = 0; j < i; j++) l[i] -= s->factor[i + j * r] * l[j];
        l[i] /= s->factor[i + i * r];
        e -= l[i] * l[i];
    }
    return e;
}

/* The factor is that of the pivots' own kernel values, and every step-th point is as near to them
 * as the tolerance says. slack: rounding errors of e in units of the largest kernel value.
 * Returns the largest e in these units. */
static double check_pivots(const fenp_kernel *k, fen_view x, const fenp_pivots *s, double tolerance,
                           int64_t step)
{
    const double slack = 1e-14;
    const int64_t points = fenp_multisets(x.rows, s->h), r = s->count;
    double *u = doubles(x.cols), *v = doubles(x.cols), *l = doubles(r), top = 0.0, left = 0.0;
    int64_t member[8];
    for (int64_t i = 0; i < x.rows; i++) { /* x_i * ... * x_i: one of them is the largest */
        for (int64_t j = 0; j < s->h; j++) member[j] = i;
        fenp_point_of(x, s->h, member, u);
        top = fmax(top, kernel_of_points(k, x.cols, u, u));
    }
    for (int64_t i = 0; i < points; i += step) {
        fenp_multiset_at(x.rows, s->h, i, member);
        fenp_point_of(x, s->h, member, u);
        left = fmax(left, left_at(k, x, s, u, v, l));
    }
    assert_true(left <= (tolerance + slack) * top);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int64_t m = 0; m <= j; m++) sum += s->factor[i + m * r] * s->factor[j + m * r];
            fenp_point_of(x, s->h, s->row + i * s->h, u);
            fenp_point_of(x, s->h, s->row + j * s->h, v);
            assert_true(fabs(sum - kernel_of_points(k, x.cols, u, v)) <= slack * top);
            if (j < i) assert_true(s->factor[j + i * r] == 0.0);
        }
    free(u), free(v), free(l);
    return left / top;
}

static void pivots_span_all_points(void **state)
{
    (void)state;
    enum { P = 3 };
    for (int64_t h = 1; h <= 3; h++) {
        const int64_t n = h == 1 ? 60 : h == 2 ? 24 : 12;
        double *x = random_numbers(7, n * P, 0.7);
        const fenp_kernel k = kernel_of("tensor-exponential", h);
        for (double tolerance = 1e-3; tolerance > 1e-13; tolerance *= 1e-4) {
            fenp_pivots s = find(&k, view_of(x, n, P), tolerance, 0);
            check_pivots(&k, view_of(x, n, P), &s, tolerance, 1);
            fenp_pivots_free(&s);
        }
        free(x);
    }
}

/* A series that ends has as many pivots as features. */
static void pivots_are_no_more_than_features(void **state)
{
    (void)state;
    enum { N = 30, P = 4 };
    double *x = random_numbers(8, N * P, 1.0);
    for (int64_t h = 1; h <= 2; h++) {
        const fenp_kernel linear = kernel_of("tensor-linear", h);
        const fenp_kernel squares = kernel_of("tensor-polynomial", h);
        fenp_pivots s = find(&linear, view_of(x, N, P), 1e-12, 0);
        assert_int_equal(s.count, P);
        fenp_pivots_free(&s);
        s = find(&squares, view_of(x, N, P), 1e-12, 0);
        assert_int_equal(s.count, P * (P + 1) / 2);
        fenp_pivots_free(&s);
    }
    free(x);
}

/* More points than are candidates at a time: passes. */
static void pivots_of_many_points_are_the_same_for_any_threads(void **state)
{
    (void)state;
    enum { N = 170, P = 5 };
    double *x = random_numbers(9, N * P, 0.6);
    for (int64_t i = 0; i < P; i++) x[17 * P + i] *= 1.4; /* one row far out */
    const fenp_kernel k = kernel_of("tensor-exponential", 2);
    const fen_view view = view_of(x, N, P);
    const double tolerance = 1e-4;
    const int threads = omp_get_max_threads();
    fenp_pivots s = find(&k, view, tolerance, 0);
    check_pivots(&k, view, &s, tolerance, 37);
    omp_set_num_threads(threads == 1 ? 2 : 1);
    fenp_pivots again = find(&k, view, tolerance, 0);
    omp_set_num_threads(threads);
    assert_int_equal(again.count, s.count);
    assert_memory_equal(again.row, s.row, (size_t)(s.count * s.h) * sizeof *s.row);
    assert_memory_equal(again.factor, s.factor, (size_t)(s.count * s.count) * sizeof *s.factor);
    fenp_pivots_free(&again);
    again = find(&k, view, tolerance, 9); /* the first nine, and what they leave */
    assert_int_equal(again.count, 9);
    assert_memory_equal(again.row, s.row, (size_t)(9 * s.h) * sizeof *s.row);
    assert_true(check_pivots(&k, view, &again, 1.0, 37) > tolerance);
    fenp_pivots_free(&again);
    fenp_pivots_free(&s);
    free(x);
}

static void few_kinds_of_rows_need_few_pivots(void **state)
{
    (void)state;
    enum { N = 12, P = 3 };
    const fenp_kernel k = kernel_of("tensor-exponential", 2);
    double *x = random_numbers(10, N * P, 0.8);
    for (int64_t i = 3; i < N; i++) memcpy(x + i * P, x + i % 3 * P, P * sizeof *x);
    fenp_pivots s = find(&k, view_of(x, N, P), 1e-13, 0); /* 6 different products */
    assert_int_equal(s.count, 6);
    fenp_pivots_free(&s);
    memset(x + 2 * P, 0, P * sizeof *x);
    for (int64_t i = 5; i < N; i += 3) memset(x + i * P, 0, P * sizeof *x);
    s = find(&k, view_of(x, N, P), 1e-13, 0); /* 3 of them, and 0 */
    assert_int_equal(s.count, 4);
    fenp_pivots_free(&s);
    s = find(&k, view_of(x, 1, P), 1e-13, 0);
    assert_int_equal(s.count, 1);
    assert_true(s.row[0] == 0 && s.row[1] == 0);
    fenp_pivots_free(&s);
    const fenp_kernel linear = kernel_of("tensor-linear", 2);
    memset(x, 0, N * P * sizeof *x);
    s = find(&linear, view_of(x, N, P), 1e-13, 0); /* all kernel values are 0 */
    assert_int_equal(s.count, 0);
    fenp_pivots_free(&s);
    free(x);
}

static int stop_now(void *user, const char *stage, double fraction)
{
    (void)stage;
    assert_true(fraction >= 0.0 && fraction <= 1.0);
    return ++*(int *)user > 3;
}

static void a_search_can_be_stopped(void **state)
{
    (void)state;
    enum { N = 60, P = 5 };
    int calls = 0;
    const fen_host host = { .progress = stop_now, .user = &calls };
    const fenp_task task = fenp_task_start(&host, 0.0);
    const fenp_kernel k = kernel_of("tensor-exponential", 2);
    double *x = random_numbers(11, N * P, 0.8);
    fenp_pivots s;
    fen_error err;
    assert_int_equal(fenp_pivots_find(&k, view_of(x, N, P), 1e-12, 0, &s, &task, &err),
                     FEN_STOPPED);
    assert_true(!s.row && !s.factor && calls == 4);
    fenp_pivots_free(&s);
    free(x);
}

/* Little memory: fewer candidates, passes over few points, and the same tolerance. */
static void a_search_keeps_to_its_room(void **state)
{
    (void)state;
    enum { N = 60, P = 5, MOST = 300 }; /* 1830 points, 512 of them at a time */
    const fenp_kernel k = kernel_of("tensor-exponential", 2);
    double *x = random_numbers(12, N * P, 0.6);
    const fenp_pivots_wish wish = { .tolerance = 1e-5,
                                    .fine = 1e-5,
                                    .most = MOST,
                                    .room = fenp_search_bytes(N, P, 2, MOST, 1),
                                    .check = 1 };
    assert_true(wish.room < fenp_search_bytes(N, P, 2, MOST, 0));
    fenp_pivots s, free_of_care = find(&k, view_of(x, N, P), 1e-5, MOST);
    assert_int_equal(fenp_pivots_search(&k, view_of(x, N, P), &wish, &s, NULL, NULL), FEN_OK);
    check_pivots(&k, view_of(x, N, P), &s, 1e-5, 1);
    assert_true(s.count < MOST && s.count <= free_of_care.count + free_of_care.count / 5);
    fenp_pivots_free(&s);
    fenp_pivots_free(&free_of_care);
    free(x);
}

/* Fine while there are few, coarse with more. */
static void a_search_may_stop_early(void **state)
{
    (void)state;
    enum { N = 30, P = 4 };
    const fenp_kernel k = kernel_of("tensor-exponential", 2);
    double *x = random_numbers(13, N * P, 0.6);
    const fen_view view = view_of(x, N, P);
    fenp_pivots coarse = find(&k, view, 1e-3, 0), fine = find(&k, view, 1e-9, 0), s;
    fenp_pivots_wish wish = { .tolerance = 1e-3, .fine = 1e-9, .few = fine.count + 1 };
    assert_int_equal(fenp_pivots_search(&k, view, &wish, &s, NULL, NULL), FEN_OK);
    assert_int_equal(s.count, fine.count);
    fenp_pivots_free(&s);
    wish.few = coarse.count + 2;
    assert_int_equal(fenp_pivots_search(&k, view, &wish, &s, NULL, NULL), FEN_OK);
    assert_int_equal(s.count, coarse.count + 2);
    fenp_pivots_free(&s);
    wish.few = 1;
    assert_int_equal(fenp_pivots_search(&k, view, &wish, &s, NULL, NULL), FEN_OK);
    assert_int_equal(s.count, coarse.count);
    fenp_pivots_free(&s);
    fenp_pivots_free(&coarse);
    fenp_pivots_free(&fine);
    free(x);
}

/* Several vectors at once are the vectors one by one; more points than a group holds. */
static void vectors_do_not_disturb_each_other(void **state)
{
    (void)state;
    enum { N = 80, P = 3 }; /* 3240 points */
    const fenp_kernel k = kernel_of("tensor-exponential", 2);
    double *x = random_numbers(15, N * P, 0.8), *a = random_numbers(16, 2 * N, 1.0);
    for (int64_t i = 0; i < N; i++) a[i + (i % 3 ? 0 : N)] = 0.0;
    const fen_view view = view_of(x, N, P);
    fenp_pivots s = find(&k, view, 1e-6, 0);
    double *both = doubles(2 * s.count), *one = doubles(s.count);
    assert_int_equal(fenp_pivots_weights(&k, view, &s, a, 2, both, NULL, NULL), FEN_OK);
    for (int c = 0; c < 2; c++) {
        const double *c_both = both + c * s.count;
        assert_int_equal(fenp_pivots_weights(&k, view, &s, a + c * N, 1, one, NULL, NULL), FEN_OK);
        /* groups differ, so roundings do: 1e-16, divided by the smallest sqrt(e) twice */
        for (int64_t i = 0; i < s.count; i++)
            assert_true(fabs(c_both[i] - one[i]) <= 1e-8 * largest(one, s.count));
    }
    fenp_pivots_free(&s);
    free(x), free(a), free(both), free(one);
}

/* ---- predictions ---------------------------------------------------------------------------- */

/* New rows as rows of a = 0 have their exact values among the scores. */
static void predictions_are_the_exact_sums(void **state)
{
    (void)state;
    enum { P = 4, NEW = 5 };
    for (int64_t h = 1; h <= 3; h++) {
        const int64_t n = h == 1 ? 60 : h == 2 ? 30 : 10, all = n + NEW;
        double *x = random_numbers(17, all * P, 0.5), *a = random_numbers(18, all, 1.0);
        double *om = doubles(all), out[NEW], value;
        for (int64_t i = n; i < all; i++) a[i] = 0.0;
        a[1] = 0.0;
        const fenp_kernel k = kernel_of("tensor-exponential", h);
        assert_int_equal(fenp_points_sums(&k, view_of(x, all, P), a, 1, &value, om, NULL, NULL),
                         FEN_OK);
        fenp_pivots s = find(&k, view_of(x, n, P), 1e-13, 0);
        double *c = doubles(s.count);
        assert_int_equal(fenp_pivots_weights(&k, view_of(x, n, P), &s, a, 1, c, NULL, NULL),
                         FEN_OK);
        free(s.factor); /* is not needed any more */
        s.factor = NULL;
        assert_int_equal(fenp_pivots_predict(&k, view_of(x, n, P), &s, a, c,
                                             view_of(x + n * P, NEW, P), out, NULL, NULL),
                         FEN_OK);
        /* new rows are off the span by sqrt(1e-13), the other side as well: rows like the old
         * ones come out to 1e-8 */
        for (int64_t i = 0; i < NEW; i++)
            assert_true(fabs(out[i] - om[n + i]) <= 1e-8 * largest(om, all));
        double *old = doubles(n);
        assert_int_equal(
            fenp_pivots_predict(&k, view_of(x, n, P), &s, a, c, view_of(x, n, P), old, NULL, NULL),
            FEN_OK);
        for (int64_t i = 0; i < n; i++)
            assert_true(fabs(old[i] - om[i]) <= 1e-9 * largest(om, all));
        fenp_pivots_free(&s);
        free(x), free(a), free(om), free(c), free(old);
    }
}

/* ---- a symmetric tensor times a vector ------------------------------------------------------ */

static void contractions_are_sums_over_tuples(void **state)
{
    (void)state;
    enum { N = 5 };
    double *a = random_numbers(19, N, 1.0);
    for (int64_t h = 1; h <= 4; h++) {
        const int64_t points = fenp_multisets(N, h);
        double *s = random_numbers(20, points, 1.0), out[N], exact[N] = { 0.0 }, from_single[N];
        float *single = calloc((size_t)points, sizeof *single);
        int64_t *sets = calloc((size_t)fenp_contract_sets(N, h), sizeof *sets), member[4] = { 0 };
        double *work = doubles(fenp_contract_work(N, h));
        assert_true(single && sets);
        for (int64_t k = 0; k < points; k++) {
            single[k] = (float)s[k];
            s[k] = (double)single[k]; /* both the same numbers */
            const double each = s[k] * fenp_multiset_orders(h, member) / (double)h;
            for (int64_t t = 0; t < h; t++) {
                double product = each;
                for (int64_t i = 0; i < h; i++) product *= i != t ? a[member[i]] : 1.0;
                exact[member[t]] += product;
            }
            fenp_multiset_next(N, h, member);
        }
        const fenp_contract c = fenp_contract_open(N, h, sets);
        fenp_contract_all(&c, NULL, s, a, work, out);
        fenp_contract_all(&c, single, NULL, a, work, from_single);
        for (int64_t i = 0; i < N; i++) {
            assert_true(fabs(out[i] - exact[i]) <= 1e-13 * (1.0 + largest(exact, N)));
            assert_true(from_single[i] == out[i]);
        }
        free(s), free(single), free(sets), free(work);
    }
    free(a);
}

/* ---- the low-rank route --------------------------------------------------------------------- */

typedef struct opened {
    fenp_arena arena;
    fenp_form form;
} opened;

static opened open_form(const fenp_kernel *k, fen_view x, int64_t room)
{
    const fenp_form_size size = { x.rows, x.cols, *k, room };
    opened o;
    assert_true(fenp_route_low_rank.possible(&size));
    const int64_t bytes = fenp_route_low_rank.bytes(&size);
    assert_true(bytes > 0 && (room == 0 || bytes <= room));
    assert_true(fenp_route_low_rank.build(&size) > 0.0 && fenp_route_low_rank.step(&size) > 0.0);
    assert_int_equal(fenp_arena_open(&o.arena, bytes, "a form", NULL), FEN_OK);
    assert_int_equal(fenp_route_low_rank.open(&o.arena, &size, x, &o.form, NULL, NULL), FEN_OK);
    assert_true(o.arena.used <= bytes && o.form.rank <= fenp_multisets(x.rows, fenp_half_order(k)));
    return o;
}

/* T and om to tolerance times the sums of magnitudes, B = root root', B a = om. */
static void check_form(const fenp_form *f, const double *a, double tolerance)
{
    const int64_t n = f->size.n, r = f->rank;
    double *om = doubles(n), *exact = doubles(n), *b = doubles(n * n), *root = doubles(n * r);
    double value;
    const double unit = tolerance * unit_of(&f->size.kernel, f->x, a);
    assert_int_equal(fenp_points_sums(&f->size.kernel, f->x, a, 1, &value, exact, NULL, NULL),
                     FEN_OK);
    assert_true(fabs(f->route->scores(f, a, om) - value) <= unit);
    for (int64_t i = 0; i < n; i++) assert_true(fabs(om[i] - exact[i]) <= unit);
    f->route->curvature(f, a, b);
    f->route->root(f, a, root);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < n; j++) {
            double product = 0.0;
            for (int64_t m = 0; m < r; m++) product += root[m * n + i] * root[m * n + j];
            if (j <= i) assert_true(fabs(b[j * n + i] - product) <= 1e-12 * (1.0 + fabs(product)));
            sum += product * a[j];
        }
        assert_true(fabs(sum - om[i]) <= 1e-11 * (1.0 + largest(om, n)));
    }
    free(om), free(exact), free(b), free(root);
}

static void a_form_of_low_rank_is_the_form(void **state)
{
    (void)state;
    enum { P = 4 };
    for (int64_t h = 1; h <= 3; h++) {
        const int64_t n = h == 1 ? 50 : h == 2 ? 26 : 11; /* 351, 286 points: both precisions */
        double *x = random_numbers(21, n * P, 0.6), *a = random_numbers(22, 2 * n, 1.0);
        const fenp_kernel k = kernel_of("tensor-exponential", h);
        opened o = open_form(&k, view_of(x, n, P), 0);
        a[n + 2] = 0.0;
        check_form(&o.form, a, 1e-11);
        check_form(&o.form, a + n, 1e-11); /* V of the first a is not that of the second */
        check_form(&o.form, a, 1e-11);
        fenp_arena_close(&o.arena);
        free(x), free(a);
    }
}

static void rank_follows_the_room(void **state)
{
    (void)state;
    enum { N = 40, P = 6 };
    double *x = random_numbers(23, N * P, 0.6), *a = random_numbers(24, N, 1.0);
    const fenp_kernel k = kernel_of("tensor-exponential", 2);
    const fenp_form_size any = { N, P, k, 0 };
    const int64_t all = fenp_route_low_rank.bytes(&any);
    opened o = open_form(&k, view_of(x, N, P), all / 4);
    opened full = open_form(&k, view_of(x, N, P), 0);
    assert_true(o.form.rank < full.form.rank && o.form.rank >= 32);
    assert_true(o.form.capped && !full.form.capped);
    check_form(&o.form, a, 1e-3);
    const fenp_form_size tiny = { N, P, k, 1000 }; /* too little for any */
    assert_true(fenp_route_low_rank.bytes(&tiny) > tiny.room);
    const fenp_form_size huge = { INT64_C(1) << 40, P, k, 0 };
    assert_false(fenp_route_low_rank.possible(&huge));
    fenp_form_size odd = { N, P, k, 0 };
    odd.kernel.par.order = 3.0;
    assert_false(fenp_route_low_rank.possible(&odd));
    fenp_arena_close(&o.arena);
    fenp_arena_close(&full.arena);
    free(x), free(a);
}

/* One row; rows of zeros under a kernel that is then 0: no pivots, and all is 0. */
static void forms_of_almost_nothing(void **state)
{
    (void)state;
    enum { P = 3 };
    double *x = random_numbers(25, P, 0.8), zeros[4 * P] = { 0.0 }, a[4] = { 2.0, 1.0, -1.0, 3.0 };
    const fenp_kernel k = kernel_of("tensor-exponential", 2),
                      linear = kernel_of("tensor-linear", 2);
    opened o = open_form(&k, view_of(x, 1, P), 0);
    assert_int_equal(o.form.rank, 1);
    check_form(&o.form, a, 1e-14);
    fenp_arena_close(&o.arena);
    o = open_form(&linear, view_of(zeros, 4, P), 0);
    assert_int_equal(o.form.rank, 0);
    check_form(&o.form, a, 0.0);
    fenp_arena_close(&o.arena);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multisets_are_counted_and_numbered),
        cmocka_unit_test(sums_are_those_over_all_tuples),
        cmocka_unit_test(sums_of_many_points_are_complete),
        cmocka_unit_test(sums_of_nothing_are_zero),
        cmocka_unit_test(pivots_span_all_points),
        cmocka_unit_test(pivots_are_no_more_than_features),
        cmocka_unit_test(pivots_of_many_points_are_the_same_for_any_threads),
        cmocka_unit_test(few_kinds_of_rows_need_few_pivots),
        cmocka_unit_test(a_search_can_be_stopped),
        cmocka_unit_test(a_search_keeps_to_its_room),
        cmocka_unit_test(a_search_may_stop_early),
        cmocka_unit_test(vectors_do_not_disturb_each_other),
        cmocka_unit_test(predictions_are_the_exact_sums),
        cmocka_unit_test(contractions_are_sums_over_tuples),
        cmocka_unit_test(a_form_of_low_rank_is_the_form),
        cmocka_unit_test(rank_follows_the_room),
        cmocka_unit_test(forms_of_almost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
