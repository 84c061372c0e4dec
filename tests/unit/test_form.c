/* test_form.c -- the routes to the form of an l^p penalty against its definition
 *
 *   brute-force sums over all n^q tuples, the routes against each other, derivatives against
 *   differences, features by name and by number, orders that are not even, sizes beyond counting
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
#include "tensor/duality.h"
#include "tensor/form.h"
#include "tensor/pivots.h"

enum { ROWS = 7, COLS = 3 };

static double *doubles(int64_t count)
{
    double *v = calloc((size_t)count + 1, sizeof *v);
    assert_non_null(v);
    return v;
}

static double *random_numbers(uint64_t stream, int64_t count, double scale)
{
    double *v = doubles(count);
    for (int64_t i = 0; i < count; i++) v[i] = scale * fenp_normal(6, stream, (uint64_t)i);
    return v;
}

/* The kernel of the paper is homogeneous: coef0 = 0. */
static fenp_kernel kernel_of(const char *name, double q)
{
    const fenp_kernel k = { fenp_find_kernel(name), { .gamma = 0.3, .degree = 2.0, .order = q } };
    assert_non_null(k.table);
    return k;
}

/* ---- a form in an arena ------------------------------------------------------------------- */

typedef struct opened {
    fenp_arena arena;
    fenp_form form;
} opened;

static opened open_form(const fenp_route *route, const fenp_kernel *kernel, fen_view x)
{
    const fenp_form_size size = { x.rows, x.cols, *kernel, 0 };
    opened o;
    fen_error err = { FEN_OK, "" };
    assert_true(route->possible(&size));
    const int64_t bytes = route->bytes(&size);
    assert_true(bytes >= 0);
    assert_int_equal(fenp_arena_open(&o.arena, bytes, "a form", &err), FEN_OK);
    assert_int_equal(route->open(&o.arena, &size, x, &o.form, NULL, &err), FEN_OK);
    assert_ptr_equal(o.form.route, route);
    assert_true(o.arena.used <= bytes);
    return o;
}

/* ---- by definition ------------------------------------------------------------------------ */

typedef struct sums {
    double value, om[ROWS], b[ROWS * ROWS];
} sums;

static double kernel_at(const fenp_kernel *k, fen_view x, int64_t q, const int64_t *tuple)
{
    double sum = 0.0;
    for (int64_t j = 0; j < x.cols; j++) {
        double product = 1.0;
        for (int64_t s = 0; s < q; s++) product *= x.at[tuple[s] * x.stride + j];
        sum += product;
    }
    return k->table->value(sum, &k->par);
}

/* All n^q tuples. */
static sums brute_force(const fenp_kernel *k, fen_view x, int64_t q, const double *a)
{
    sums out = { 0 };
    int64_t tuple[8] = { 0 }, s = 0;
    while (s >= 0) {
        const double value = kernel_at(k, x, q, tuple);
        double product = 1.0;
        for (s = 2; s < q; s++) product *= a[tuple[s]];
        out.value += value * product * a[tuple[0]] * a[tuple[1]];
        out.om[tuple[0]] += value * product * a[tuple[1]];
        out.b[tuple[1] * x.rows + tuple[0]] += value * product;
        for (s = q - 1; s >= 0 && tuple[s] == x.rows - 1; s--) tuple[s] = 0;
        if (s >= 0) tuple[s]++;
    }
    return out;
}

/* Rounding errors in units of the same sums without cancellation. */
static void check_route(const fenp_route *route, const fenp_kernel *k, fen_view x, int64_t q,
                        const double *a)
{
    const fenp_form_size size = { x.rows, x.cols, *k, 0 };
    if (!route->possible(&size)) return;
    double magnitude[ROWS], om[ROWS], b[ROWS * ROWS], above = -77.0;
    double *plain = doubles(x.rows * x.stride);
    for (int64_t i = 0; i < x.rows; i++) magnitude[i] = fabs(a[i]);
    for (int64_t i = 0; i < x.rows * x.stride; i++) plain[i] = fabs(x.at[i]);
    const sums exact = brute_force(k, x, q, a);
    const sums unit = brute_force(k, (fen_view){ plain, x.rows, x.cols, x.stride }, q, magnitude);
    opened o = open_form(route, k, x);
    for (int64_t i = 0; i < ROWS * ROWS; i++) b[i] = above;
    const double value = route->scores(&o.form, a, om);
    route->curvature(&o.form, a, b);
    assert_true(fabs(value - exact.value) <= 1e-12 * unit.value);
    for (int64_t i = 0; i < x.rows; i++)
        assert_true(fabs(om[i] - exact.om[i]) <= 1e-12 * unit.om[i]);
    for (int64_t j = 0; j < x.rows; j++)
        for (int64_t i = 0; i < x.rows; i++) {
            const int64_t at = j * x.rows + i;
            if (i < j)
                assert_true(b[at] == above); /* the other triangle is not touched */
            else if (!(fabs(b[at] - exact.b[at]) <= 1e-12 * unit.b[at]))
                fail_msg("%s, %s, q = %d: B[%d,%d] = %.17g, not %.17g", route->name, k->table->name,
                         (int)q, (int)i, (int)j, b[at], exact.b[at]);
        }
    fenp_arena_close(&o.arena);
    free(plain);
}

static const char *const names[] = { "linear", "tensor-linear", "tensor-polynomial",
                                     "tensor-exponential" };
enum { NAMES = sizeof names / sizeof *names };

/* The routes that are exact. */
static const fenp_route *const exact_routes[] = { &fenp_route_features, &fenp_route_packed };

static void check_all(fen_view x, const double *a)
{
    for (int64_t q = 2; q <= 6; q += 2)
        for (int k = 0; k < NAMES; k++)
            for (int r = 0; r < 2; r++) {
                const fenp_kernel kernel = kernel_of(names[k], (double)q);
                check_route(exact_routes[r], &kernel, x, q, a);
            }
}

static void test_definition(void **state)
{
    (void)state;
    double *x = random_numbers(1, ROWS * (COLS + 2), 0.8), *a = random_numbers(2, ROWS, 1.0);
    for (int64_t n = 1; n <= ROWS - 1; n++) check_all((fen_view){ x, n, COLS, COLS + 2 }, a);
    check_all((fen_view){ x, 5, 1, COLS }, a);
    check_all((fen_view){ x, 4, 0, 1 }, a);
    const fenp_kernel most = kernel_of("tensor-exponential", 6.0);
    check_route(&fenp_route_packed, &most, (fen_view){ x, ROWS, COLS, COLS }, 6, a);
    free(x);
    free(a);
}

static void test_repeated_rows_and_zeros(void **state)
{
    (void)state;
    double *x = random_numbers(3, ROWS * COLS, 0.8);
    memcpy(x + 2 * COLS, x, COLS * sizeof *x);
    memcpy(x + 3 * COLS, x, COLS * sizeof *x);
    memset(x + 4 * COLS, 0, COLS * sizeof *x);
    for (int64_t i = 0; i < 6; i++) x[i * COLS + 1] = 0.0;
    const double patterns[][6] = { { 0, 0, 0, 0, 0, 0 },   { 1, 0, 0, 0, 0, 0 },
                                   { 0, 0, 0, 0, 0, -2 },  { 0, 1, 0, -1, 0.5, 0 },
                                   { 1, 1, -1, -1, 1, 1 }, { 0, 0, 3, 0.5, 0, 0 } };
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
        check_all((fen_view){ x, 6, COLS, COLS }, patterns[k]);
    free(x);
}

/* ---- larger forms ------------------------------------------------------------------------- */

/* Largest difference relative to the largest of v. */
static double apart(const double *v, const double *w, int64_t count)
{
    double most = 0.0, difference = 0.0;
    for (int64_t i = 0; i < count; i++) {
        most = fmax(most, fabs(v[i]));
        difference = fmax(difference, fabs(v[i] - w[i]));
    }
    return difference / (most > 0.0 ? most : 1.0);
}

static void mirror(double *b, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j + 1; i < n; i++) b[i * n + j] = b[j * n + i];
}

/* T, om and B of all routes; T = a'om = a'Ba; om = Ba. */
static void compare_kernel(fenp_kernel k, int64_t n, int64_t p)
{
    double *x = random_numbers(4, n * p, 0.6), *a = random_numbers(5, n, 1.0);
    double *om = doubles(2 * n), *b = doubles(2 * n * n), value[2];
    for (int r = 0; r < 2; r++) {
        opened o = open_form(exact_routes[r], &k, (fen_view){ x, n, p, p });
        value[r] = exact_routes[r]->scores(&o.form, a, om + r * n);
        exact_routes[r]->curvature(&o.form, a, b + r * n * n);
        fenp_arena_close(&o.arena);
        double dot = 0.0, *times = doubles(n);
        mirror(b + r * n * n, n);
        for (int64_t i = 0; i < n; i++) {
            dot += a[i] * om[r * n + i];
            for (int64_t j = 0; j < n; j++) times[i] += b[(r * n + j) * n + i] * a[j];
        }
        assert_true(fabs(dot - value[r]) <= 1e-12 * value[r]);
        assert_true(apart(om + r * n, times, n) <= 1e-12);
        free(times);
    }
    assert_true(fabs(value[1] - value[0]) <= 1e-12 * value[0]);
    assert_true(apart(om, om + n, n) <= 1e-12);
    assert_true(apart(b, b + n * n, n * n) <= 1e-12);
    free(x);
    free(a);
    free(om);
    free(b);
}

static void compare(const char *name, double q, int64_t n, int64_t p)
{
    compare_kernel(kernel_of(name, q), n, p);
}

/* Products of up to three columns together. */
static void test_constants(void **state)
{
    (void)state;
    fenp_kernel k = kernel_of("tensor-polynomial", 4.0);
    k.par.coef0 = 1.0;
    compare_kernel(k, 30, 9);
    k.par.degree = 3.0;
    k.par.coef0 = 0.25;
    compare_kernel(k, 25, 6);
    assert_int_equal(fenp_feature_count(&k, 6), 1 + 6 + 21 + 56);
    double *x = random_numbers(20, 5 * COLS, 0.8), *a = random_numbers(21, 5, 1.0);
    for (int r = 0; r < 2; r++)
        check_route(exact_routes[r], &k, (fen_view){ x, 5, COLS, COLS }, 4, a);
    free(x);
    free(a);
}

/* What low rank leaves out. */
static void near(const fenp_kernel *k, int64_t n, int64_t p)
{
    const double bound = 1e-6; /* of tolerance 1e-12: 4e-8 at solutions, see low_rank.c */
    double *x = random_numbers(22, n * p, 0.6), *a = random_numbers(23, n, 1.0);
    double *om = doubles(2 * n), *b = doubles(2 * n * n), value[2];
    const fenp_route *const routes[] = { &fenp_route_packed, &fenp_route_low_rank };
    for (int r = 0; r < 2; r++) {
        opened o = open_form(routes[r], k, (fen_view){ x, n, p, p });
        value[r] = routes[r]->scores(&o.form, a, om + r * n);
        routes[r]->curvature(&o.form, a, b + r * n * n);
        fenp_arena_close(&o.arena);
    }
    assert_true(fabs(value[1] - value[0]) <= bound * value[0]);
    assert_true(apart(om, om + n, n) <= bound);
    assert_true(apart(b, b + n * n, n * n) <= bound);
    free(x);
    free(a);
    free(om);
    free(b);
}

static void test_low_rank_agrees(void **state)
{
    (void)state;
    for (int name = 0; name < NAMES; name++)
        for (double q = 2.0; q <= 6.0; q += 2.0) {
            const fenp_kernel k = kernel_of(names[name], q);
            near(&k, q > 4.0 ? 9 : 20, 5);
        }
    fenp_kernel k = kernel_of("tensor-polynomial", 4.0);
    k.par.coef0 = 1.0;
    near(&k, 20, 5);
}

static void test_routes_agree(void **state)
{
    (void)state;
    compare("tensor-linear", 2.0, 60, 9);
    compare("tensor-polynomial", 2.0, 61, 9);
    for (int64_t n = 27; n <= 31; n++) compare("tensor-polynomial", 4.0, n, 12);
    compare("linear", 4.0, 45, 200);
    compare("tensor-linear", 6.0, 18, 30);
    compare("tensor-polynomial", 6.0, 17, 8);
    compare("tensor-polynomial", 8.0, 11, 4);
}

/* (q-1) B is the derivative of om, and q om that of T. */
static void differences(const fenp_route *route, const char *name, double q, int64_t n, int64_t p)
{
    const double step = 1e-5;
    const fenp_kernel k = kernel_of(name, q);
    double *x = random_numbers(6, n * p, 0.7), *a = random_numbers(7, n, 1.0);
    double *om = doubles(3 * n), *b = doubles(n * n), *found = doubles(n), value[2];
    opened o = open_form(route, &k, (fen_view){ x, n, p, p });
    const double whole = route->scores(&o.form, a, om);
    route->curvature(&o.form, a, b);
    mirror(b, n);
    for (int64_t j = 0; j < n; j++) {
        const double at = a[j];
        for (int side = 0; side < 2; side++) {
            a[j] = at + (side ? step : -step);
            value[side] = route->scores(&o.form, a, om + (1 + side) * n);
        }
        a[j] = at;
        assert_true(fabs((value[1] - value[0]) / (2.0 * step) - q * om[j]) <= 1e-6 * whole);
        for (int64_t i = 0; i < n; i++)
            found[i] = (om[2 * n + i] - om[n + i]) / (2.0 * step * (q - 1.0));
        assert_true(apart(b + j * n, found, n) <= 1e-6);
    }
    fenp_arena_close(&o.arena);
    free(x);
    free(a);
    free(om);
    free(b);
    free(found);
}

static void test_derivatives(void **state)
{
    (void)state;
    differences(&fenp_route_features, "linear", 2.0, 12, 30);
    differences(&fenp_route_features, "linear", 3.0, 12, 30);
    differences(&fenp_route_features, "linear", 4.7, 12, 30);
    differences(&fenp_route_features, "linear", 11.0, 12, 30);
    differences(&fenp_route_features, "tensor-polynomial", 4.0, 12, 5);
    differences(&fenp_route_packed, "tensor-exponential", 2.0, 12, 5);
    differences(&fenp_route_packed, "tensor-exponential", 4.0, 12, 5);
    differences(&fenp_route_packed, "tensor-exponential", 6.0, 8, 5);
}

/* B = root root' */
static void test_root(void **state)
{
    (void)state;
    const int64_t n = 40;
    double *x = random_numbers(8, n * 20, 1.0), *a = random_numbers(9, n, 1.0);
    const struct {
        const char *name;
        double q;
        int64_t p, rank;
    } cases[] = { { "linear", 2.0, 20, 20 },
                  { "linear", 3.5, 20, 20 },
                  { "tensor-polynomial", 4.0, 5, 15 },
                  { "tensor-polynomial", 4.0, 15, -1 } };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const fenp_kernel k = kernel_of(cases[c].name, cases[c].q);
        opened o = open_form(&fenp_route_features, &k, (fen_view){ x, n, cases[c].p, 20 });
        assert_int_equal(o.form.rank, cases[c].rank);
        if (o.form.rank > 0) {
            double *b = doubles(n * n), *root = doubles(n * o.form.rank), *product = doubles(n * n);
            fenp_route_features.curvature(&o.form, a, b);
            fenp_route_features.root(&o.form, a, root);
            for (int64_t j = 0; j < n; j++)
                for (int64_t i = j; i < n; i++)
                    for (int64_t r = 0; r < o.form.rank; r++)
                        product[j * n + i] += root[r * n + i] * root[r * n + j];
            assert_true(apart(b, product, n * n) <= 1e-13);
            free(b);
            free(root);
            free(product);
        }
        fenp_arena_close(&o.arena);
    }
    free(x);
    free(a);
}

/* ---- real orders, extreme sizes ----------------------------------------------------------- */

/* u = X'a of a few features in long double. */
static void check_linear(double q, double scale, int64_t n, int64_t p)
{
    const fenp_kernel k = kernel_of("linear", q);
    double *x = random_numbers(10, n * p, 1.0), *a = random_numbers(11, n, scale), *om = doubles(n);
    opened o = open_form(&fenp_route_features, &k, (fen_view){ x, n, p, p });
    const double value = fenp_route_features.scores(&o.form, a, om);
    /* a rounding error of u comes back q times */
    const long double tolerance = 1e-13L * ((long double)n + q);
    long double sum = 0.0L, *exact = calloc((size_t)n, sizeof *exact), most = 0.0L;
    assert_non_null(exact);
    for (int64_t j = 0; j < p; j++) {
        long double u = 0.0L;
        for (int64_t i = 0; i < n; i++) u += (long double)x[i * p + j] * a[i];
        sum += powl(fabsl(u), (long double)q);
        const long double power = copysignl(powl(fabsl(u), (long double)q - 1.0L), u);
        for (int64_t i = 0; i < n; i++) exact[i] += x[i * p + j] * power;
    }
    assert_true(isfinite(value) && fabsl(value / sum - 1.0L) <= tolerance);
    for (int64_t i = 0; i < n; i++) most = fmaxl(most, fabsl(exact[i]));
    for (int64_t i = 0; i < n; i++) assert_true(fabsl(om[i] - exact[i]) <= tolerance * most);
    fenp_arena_close(&o.arena);
    free(x);
    free(a);
    free(om);
    free(exact);
}

static void test_real_orders(void **state)
{
    (void)state;
    const double orders[] = { 1.5, 2.0, 2.25, 3.0, 4.0, 5.0, 11.0, 21.0, 101.0, 301.0 };
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        check_linear(orders[i], 0.3, 6, 50);
        check_linear(orders[i], 0.3, 3, 5000); /* several blocks and slices */
    }
    check_linear(101.0, 100.0, 3, 7); /* T near 1e250 */
    check_linear(101.0, 1e-3, 3, 7);  /* T near 1e-270 */
}

/* T overflows, and says so; but no part of a finite om does. */
static void test_overflow(void **state)
{
    (void)state;
    const double x[] = { 1e-150, 0.5e-150 }, a[] = { 2e152, 1e152 };
    double om[2];
    const fenp_kernel k = kernel_of("linear", 101.0);
    opened o = open_form(&fenp_route_features, &k, (fen_view){ x, 2, 1, 1 });
    const double u = 2e2 + 0.5e2; /* u^100 = 6e239 */
    fenp_route_features.scores(&o.form, a, om);
    assert_true(fabs(om[0] / (1e-150 * pow(u, 100.0)) - 1.0) < 1e-12);
    fenp_arena_close(&o.arena);
    const double large[] = { 1e-200 }, one[] = { 1e204 };
    o = open_form(&fenp_route_features, &k, (fen_view){ large, 1, 1, 1 });
    fenp_route_features.scores(&o.form, one, om); /* 1e4^100 = 1e400, times 1e-200 */
    assert_true(fabs(om[0] / 1e200 - 1.0) < 1e-12);
    fenp_arena_close(&o.arena);
}

static void test_powers(void **state)
{
    (void)state;
    const double e[] = { 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 3.7, 49.5, 100.0, 150.0 };
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        double *v = random_numbers(12, 700, 1.0), *w = random_numbers(12, 700, 1.0);
        v[0] = w[0] = 0.0;
        fenp_powers(v, 700, e[i]);
        fenp_dual_map(w, 700, e[i] + 1.0);
        for (int64_t k = 0; k < 700; k++) {
            const double from = k ? fenp_normal(6, 12, (uint64_t)k) : 0.0;
            const double expected = pow(fabs(from), e[i]);
            assert_true(fabs(v[k] - expected) <= 1e-14 * expected);
            assert_true(w[k] == copysign(v[k], from));
        }
        free(v);
        free(w);
    }
}

/* ---- many rows ---------------------------------------------------------------------------- */

/* Several blocks of columns (packed.h), whose numbers are not all multiples of 4: by features. */
static void by_features(int64_t n, const double *a)
{
    enum { P = 3 };
    const fenp_kernel k = kernel_of("tensor-polynomial", 4.0);
    double *x = random_numbers(17, n * P, 0.7), *om = doubles(2 * n), *b = doubles(2 * n * n);
    double value[2];
    for (int r = 0; r < 2; r++) {
        opened o = open_form(exact_routes[r], &k, (fen_view){ x, n, P, P });
        value[r] = o.form.route->scores(&o.form, a, om + r * n);
        o.form.route->curvature(&o.form, a, b + r * n * n);
        mirror(b + r * n * n, n);
        fenp_arena_close(&o.arena);
    }
    assert_true(fabs(value[1] - value[0]) <= 1e-11 * value[0]);
    assert_true(apart(om, om + n, n) <= 1e-11);
    for (int64_t j = 0; j < n; j++) assert_true(apart(b + j * n, b + (n + j) * n, n) <= 1e-11);
    free(x);
    free(om);
    free(b);
}

static void test_many_rows(void **state)
{
    (void)state;
    for (int64_t n = 44; n <= 92; n += n < 50 ? 1 : 14) {
        double *a = random_numbers(18, n, 1.0);
        by_features(n, a);
        for (int64_t i = 0; i < n; i++) a[i] *= i % 5 == 2; /* most prefixes are not read */
        by_features(n, a);
        free(a);
    }
}

/* ---- threads ------------------------------------------------------------------------------ */

static void same_bits(const fenp_route *route, const char *name, double q, int64_t n, int64_t p)
{
    const int before = omp_get_max_threads();
    const fenp_kernel k = kernel_of(name, q);
    double *x = random_numbers(13, n * p, 0.6), *a = random_numbers(14, n, 1.0);
    double *om = doubles(2 * n), value[2];
    for (int threads = 1; threads <= 3; threads += 2) {
        omp_set_num_threads(threads);
        opened o = open_form(route, &k, (fen_view){ x, n, p, p });
        const int which = threads > 1;
        value[which] = route->scores(&o.form, a, om + which * n);
        fenp_arena_close(&o.arena);
    }
    omp_set_num_threads(before);
    assert_true(value[0] == value[1]);
    assert_memory_equal(om, om + n, (size_t)n * sizeof *om);
    free(x);
    free(a);
    free(om);
}

static void test_threads(void **state)
{
    (void)state;
    same_bits(&fenp_route_features, "linear", 4.0, 20, 9000);
    same_bits(&fenp_route_packed, "tensor-exponential", 4.0, 35, 6);
    same_bits(&fenp_route_packed, "tensor-exponential", 4.0, 62, 6);
}

/* ---- features ----------------------------------------------------------------------------- */

static double three_terms(double s, const fen_kernel_par *par)
{
    (void)par;
    return 2.0 + 0.5 * s + 3.0 * s * s * s;
}
static void map_three_terms(double *s, int64_t count, const fen_kernel_par *par)
{
    for (int64_t i = 0; i < count; i++) s[i] = three_terms(s[i], par);
}
static double series_of_three(int64_t m, const fen_kernel_par *par)
{
    (void)par;
    return m == 0 ? 2.0 : m == 1 ? 0.5 : m == 3 ? 3.0 : 0.0;
}
static int64_t last_of_three(const fen_kernel_par *par)
{
    (void)par;
    return 3;
}
/* A kernel with a constant, a gap and an end: what a new file in src/kernel might be. */
static const fen_kernel three = { .name = "three terms",
                                  .help = "2 + s/2 + 3 s^3",
                                  .basis = FEN_TENSOR,
                                  .value = three_terms,
                                  .map = map_three_terms,
                                  .series = series_of_three,
                                  .last = last_of_three };

static void test_counts(void **state)
{
    (void)state;
    fenp_kernel k = kernel_of("tensor-polynomial", 4.0);
    assert_int_equal(fenp_feature_count(&k, 650), 211575);
    assert_int_equal(fenp_feature_count(&k, 0), 0);
    k.par.degree = 20.0;
    assert_int_equal(fenp_feature_count(&k, 1), 1);
    assert_true(fenp_feature_count(&k, 1000000) == INT64_MAX);
    k = kernel_of("linear", 3.3);
    assert_int_equal(fenp_feature_count(&k, 17), 17);
    k = kernel_of("tensor-exponential", 4.0);
    assert_true(fenp_feature_count(&k, 2) == INT64_MAX);
    k = (fenp_kernel){ &three, { .order = 4.0 } };
    assert_int_equal(fenp_feature_count(&k, 5), 1 + 5 + 35);
    assert_int_equal(fenp_feature_count(&k, 0), 1);
}

/* Every feature from its members, and a kernel with a gap in its series by both routes. */
static void check_members(const fenp_kernel *k, int64_t p)
{
    const int64_t count = fenp_feature_count(k, p), q = fenp_even_order(k->par.order);
    double *x = random_numbers(15, 2 * p, 1.0), *phi = doubles(2 * count);
    int64_t member[24], before[24] = { -1 }, last = -1;
    fenp_features_of(k, (fen_view){ x, 2, p, p }, phi);
    for (int64_t f = 0; f < count; f++) {
        const int64_t m = fenp_feature_members(k, p, f, member);
        double product = 1.0, orders = fenp_multiset_orders(m, member);
        int after = m > last;
        for (int64_t s = 0; s < m; s++) {
            assert_true(member[s] >= (s ? member[s - 1] : 0) && member[s] < p);
            product *= x[p + member[s]];
            if (!after && m == last && member[s] > before[s]) after = 1;
            if (!after) assert_true(m == last && member[s] == before[s]);
        }
        assert_true(after); /* none comes twice */
        const double series = k->table->linear ? 1.0 : k->table->series(m, &k->par);
        const double expected = pow(series * orders, 1.0 / (double)q) * product;
        assert_true(fabs(phi[count + f] - expected) <= 1e-14 * fabs(expected));
        memcpy(before, member, sizeof before);
        last = m;
    }
    free(x);
    free(phi);
}

static void test_members(void **state)
{
    (void)state;
    fenp_kernel k = kernel_of("tensor-polynomial", 4.0);
    int64_t member[4];
    check_members(&k, 6);
    assert_int_equal(fenp_feature_members(&k, 6, 7, member), 2); /* 00 .. 05, 11, 12 */
    assert_int_equal(member[0], 1);
    assert_int_equal(member[1], 2);
    k.par.degree = 4.0;
    check_members(&k, 4);
    k.par.degree = 20.0;
    check_members(&k, 2);
    k = kernel_of("tensor-linear", 4.0);
    check_members(&k, 6);
    k = (fenp_kernel){ &three, { .order = 4.0 } };
    check_members(&k, 4);
    check_members(&k, 1);
    check_members(&k, 0);
    double *x = random_numbers(16, 5 * 4, 0.7), *a = random_numbers(17, 5, 1.0);
    for (int r = 0; r < 2; r++) check_route(exact_routes[r], &k, (fen_view){ x, 5, 4, 4 }, 4, a);
    free(x);
    free(a);
}

/* f(x) = w.phi(x) is om, and |w|_p^p = T. */
static void test_weights(void **state)
{
    (void)state;
    const struct {
        const char *name;
        double q;
        int64_t p;
    } cases[] = { { "linear", 3.7, 40 },
                  { "tensor-linear", 4.0, 7 },
                  { "tensor-polynomial", 4.0, 9 } };
    const int64_t n = 30;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const fenp_kernel k = kernel_of(cases[c].name, cases[c].q);
        const int64_t p = cases[c].p, count = fenp_feature_count(&k, p);
        double *x = random_numbers(18, n * p, 0.7), *a = random_numbers(19, n, 1.0);
        double *phi = doubles(n * count), *w = doubles(count), *om = doubles(n), norm = 0.0;
        const fen_view rows = { x, n, p, p };
        a[3] = 0.0;
        opened o = open_form(&fenp_route_features, &k, rows);
        const double value = fenp_route_features.scores(&o.form, a, om);
        assert_int_equal(fenp_feature_weights(&k, rows, a, w, NULL), FEN_OK);
        fenp_features_of(&k, rows, phi);
        for (int64_t f = 0; f < count; f++) {
            norm += pow(fabs(w[f]), cases[c].q / (cases[c].q - 1.0));
            for (int64_t i = 0; i < n; i++) om[i] -= w[f] * phi[i * count + f];
        }
        assert_true(fabs(norm / value - 1.0) <= 1e-12);
        for (int64_t i = 0; i < n; i++) assert_true(fabs(om[i]) <= 1e-12 * value);
        fenp_arena_close(&o.arena);
        free(x);
        free(a);
        free(phi);
        free(w);
        free(om);
    }
    const fenp_kernel endless = kernel_of("tensor-exponential", 4.0);
    const double x[] = { 1.0 };
    fen_error err;
    assert_int_equal(fenp_feature_weights(&endless, (fen_view){ x, 1, 1, 1 }, x, NULL, &err),
                     FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "without end"));
}

/* ---- which route -------------------------------------------------------------------------- */

static void test_even_orders(void **state)
{
    (void)state;
    const double p[] = { 2.0, 4.0 / 3.0, 6.0 / 5.0, 8.0 / 7.0, 1.2, 1.25 };
    for (int64_t i = 0; i < 4; i++)
        assert_int_equal(fenp_even_order(p[i] / (p[i] - 1.0)), 2 * (i + 1));
    assert_int_equal(fenp_even_order(1.2 / (1.2 - 1.0)), 6);
    assert_int_equal(fenp_even_order(4.0 + 3e-9), 4);
    const double odd[] = { 0.0, 1.0, 3.0, 5.0, 4.0001, 1e-10, -2.0, 1e12, INFINITY, NAN };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_int_equal(fenp_even_order(odd[i]), 0);
}

static void test_table(void **state)
{
    (void)state;
    int count = 0;
    for (; fenp_routes[count]; count++) {
        assert_ptr_equal(fenp_find_route(fenp_routes[count]->name), fenp_routes[count]);
        assert_true(fenp_routes[count]->help[0] != '\0');
    }
    assert_int_equal(count, 3);
    assert_null(fenp_find_route("auto"));
}

static fenp_form_size size_of(const char *name, double q, int64_t n, int64_t p, int64_t room)
{
    return (fenp_form_size){ n, p, kernel_of(name, q), room };
}

static void refused(const char *route, fenp_form_size size, fen_status status, const char *word,
                    const char *other)
{
    fen_error err = { FEN_OK, "" };
    assert_null(fenp_pick_route(route, &size, &err));
    assert_int_equal(err.status, status);
    if (!strstr(err.message, word) || !strstr(err.message, other)) fail_msg("%s", err.message);
    assert_null(fenp_pick_route(route, &size, NULL));
}

static void test_choice(void **state)
{
    (void)state;
    fenp_form_size size = size_of("linear", 4.0, 200, 1000, 0);
    assert_ptr_equal(fenp_pick_route("auto", &size, NULL), &fenp_route_features);
    assert_ptr_equal(fenp_pick_route("packed", &size, NULL), &fenp_route_packed);
    size = size_of("linear", 3.3, 200, 1000, 0);
    assert_ptr_equal(fenp_pick_route("auto", &size, NULL), &fenp_route_features);
    size = size_of("tensor-polynomial", 4.0, 30, 1000, 0); /* 500500 features, 40920 entries */
    assert_ptr_equal(fenp_pick_route("auto", &size, NULL), &fenp_route_packed);
    size = size_of("tensor-exponential", 4.0, 90, 8, 0);
    assert_ptr_equal(fenp_pick_route("auto", &size, NULL), &fenp_route_packed);
    size = size_of("tensor-exponential", 4.0, 1000, 8, 4000000000); /* 336 GB packed */
    assert_ptr_equal(fenp_pick_route("auto", &size, NULL), &fenp_route_low_rank);
    size = size_of("tensor-polynomial", 4.0, 300, 8, 0); /* 36 features */
    assert_ptr_equal(fenp_pick_route("auto", &size, NULL), &fenp_route_features);
}

static void test_refusals(void **state)
{
    (void)state;
    refused("packed", size_of("linear", 5.0, 10, 3, 0), FEN_BAD_CALL, "q is 5", "--route features");
    refused("features", size_of("tensor-exponential", 4.0, 10, 3, 0), FEN_BAD_CALL, "without end",
            "packed or low-rank");
    refused("auto", size_of("tensor-exponential", 5.0, 10, 3, 0), FEN_BAD_CALL, "even", "4/3");
    refused("features", size_of("tensor-polynomial", 3.0, 10, 3, 0), FEN_BAD_CALL, "even", "4/3");
    refused("no such", size_of("linear", 5.0, 10, 3, 0), FEN_BAD_CALL, "no such", "--route");
    /* C(603,4) doubles = 43.7 GB */
    refused("packed", size_of("tensor-exponential", 4.0, 600, 10, 8000000000), FEN_MEMORY,
            "43.7 GB", "low-rank");
    refused("packed", size_of("tensor-exponential", 4.0, 600, 10, 8000000000), FEN_MEMORY, "8 GB",
            "--memory");
    refused("packed", size_of("tensor-exponential", 8.0, 1000000, 10, 0), FEN_MEMORY,
            "more than any machine has", "fewer rows");
    refused("features", size_of("tensor-polynomial", 4.0, 1000, 100000, 0), FEN_MEMORY,
            "more than any machine has", "low-rank");
    refused("auto", size_of("tensor-exponential", 4.0, 600, 10, 1000), FEN_MEMORY, "43.7 GB",
            "fewer rows");
    refused("low-rank", size_of("tensor-exponential", 4.0, 600, 10, 1000), FEN_MEMORY, "low-rank",
            "fewer rows");
    refused("low-rank", size_of("linear", 5.0, 10, 3, 0), FEN_BAD_CALL, "q is 5",
            "--route features");
    refused("auto", size_of("linear", 3.0, 600, 10, 1000), FEN_MEMORY, "features", "kB");
    refused("auto", size_of("linear", 4.0, 600, 10, 1000), FEN_MEMORY, "--route features", "kB");
}

/* At most a twentieth of n^4 numbers, sums included. */
static void test_size(void **state)
{
    (void)state;
    const fenp_form_size size = size_of("tensor-exponential", 4.0, 90, 650, 0);
    assert_int_equal(fenp_multisets(90, 4), 2919735);
    assert_true(fenp_route_packed.bytes(&size) <= 90 * 90 * 90 * 90 / 20 * (int64_t)sizeof(double));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),   cmocka_unit_test(test_repeated_rows_and_zeros),
        cmocka_unit_test(test_routes_agree), cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_root),         cmocka_unit_test(test_real_orders),
        cmocka_unit_test(test_overflow),     cmocka_unit_test(test_powers),
        cmocka_unit_test(test_many_rows),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_counts),       cmocka_unit_test(test_members),
        cmocka_unit_test(test_weights),      cmocka_unit_test(test_even_orders),
        cmocka_unit_test(test_table),        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_refusals),     cmocka_unit_test(test_size),
        cmocka_unit_test(test_constants),    cmocka_unit_test(test_low_rank_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
