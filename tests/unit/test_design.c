/* test_design.c -- products and scores of dense and sparse columns against plain sums */
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
#include "data/design.h"

enum { SEED = 11 };

/* Rows with about one cell in three other than 0, so that both ways can be compared. */
static fenp_sample *dense_sample(int64_t n, int64_t p)
{
    fenp_sample *s = fenp_sample_new(n, p, 1);
    assert_non_null(s);
    for (int64_t k = 0; k < n * p; k++)
        s->x[k] =
            fenp_uniform(SEED, 1, (uint64_t)k) < 0.35 ? fenp_normal(SEED, 2, (uint64_t)k) : 0.0;
    return s;
}

static fenp_sample *sparse_twin(const fenp_sample *d)
{
    fenp_sample *s = fenp_sample_new(d->n, 0, 1);
    assert_non_null(s);
    free(s->x);
    s->x = NULL;
    s->p = d->p;
    s->start = calloc((size_t)d->p + 1, sizeof *s->start);
    s->row = malloc((size_t)(d->n * d->p + 1) * sizeof *s->row);
    s->value = malloc((size_t)(d->n * d->p + 1) * sizeof *s->value);
    int64_t e = 0;
    for (int64_t j = 0; j < d->p; j++) {
        for (int64_t i = 0; i < d->n; i++)
            if (d->x[i * d->p + j] != 0.0) {
                s->row[e] = (int32_t)i;
                s->value[e++] = d->x[i * d->p + j];
            }
        s->start[j + 1] = e;
    }
    return s;
}

static double *numbers(int64_t count, uint64_t stream)
{
    double *at = malloc((size_t)(count + 1) * sizeof *at);
    for (int64_t k = 0; k < count; k++) at[k] = fenp_normal(SEED, stream, (uint64_t)k);
    return at;
}

/* Sums of n terms: some roundings of sums of absolute values. */
static void near(double got, double sum, double size)
{
    if (!(fabs(got - sum) <= 1e-14 * (size + 1e-300)))
        fail_msg("%.17g is not %.17g, terms of %g", got, sum, size);
}

static void check_products(const fenp_sample *d, const fenp_design *x, const double *u,
                           const double *out, const int64_t *which, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        const int64_t c = which ? which[k] : k, t = c / x->p, j = c % x->p;
        long double sum = 0.0L;
        double size = 0.0;
        for (int64_t i = 0; i < x->n; i++) {
            sum += (long double)d->x[i * x->p + j] * u[t * x->n + i];
            size += fabs(d->x[i * x->p + j] * u[t * x->n + i]);
        }
        near(out[k], (double)sum, size);
    }
}

static void check_scores(const fenp_sample *d, const fenp_design *x, const double *beta,
                         const double *f)
{
    for (int64_t t = 0; t < x->copies; t++)
        for (int64_t i = 0; i < x->n; i++) {
            long double sum = 0.0L;
            double size = 0.0;
            for (int64_t j = 0; j < x->p; j++) {
                sum += (long double)d->x[i * x->p + j] * beta[t * x->p + j];
                size += fabs(d->x[i * x->p + j] * beta[t * x->p + j]);
            }
            near(f[t * x->n + i], (double)sum, size);
        }
}

/* All columns, listed columns and scores; the list gives the bits of the whole. */
static void check(const fenp_sample *d, const fenp_sample *s, int64_t copies)
{
    fenp_design x;
    double *owned = NULL;
    assert_int_equal(fenp_design_of(s, &x, &owned, NULL), FEN_OK);
    assert_true(x.n == d->n && x.p == d->p && x.copies == 1);
    assert_true(s->x ? x.dense && x.dense == owned : !x.dense && !owned);
    x.copies = copies;
    const int64_t all = x.p * copies;
    double *u = numbers(x.n * copies, 3), *beta = numbers(all, 4), *out = numbers(all, 5);
    double *some = numbers(all, 6), *f = numbers(x.n * copies, 7);
    int64_t *which = malloc((size_t)(all + 1) * sizeof *which), count = 0;
    for (int64_t c = all - 1; c >= 0; c--)
        if (fenp_uniform(SEED, 8, (uint64_t)c) < 0.6) which[count++] = c;
    fenp_design_products(&x, u, NULL, all, out);
    check_products(d, &x, u, out, NULL, all);
    fenp_design_products(&x, u, which, count, some);
    for (int64_t k = 0; k < count; k++) assert_true(some[k] == out[which[k]]);
    for (int64_t c = 0; c < all; c += 2) beta[c] = 0.0;
    fenp_design_scores(&x, beta, f);
    check_scores(d, &x, beta, f);
    free(owned), free(u), free(beta), free(out), free(some), free(f), free(which);
}

/* What rows have: scores; and columns, which are those of the sample. */
static void check_rows(const fenp_sample *d)
{
    const fenp_design x = fenp_design_by_rows(d);
    fenp_design columns, same;
    double *owned, *other, *beta = numbers(x.p, 4), *f = numbers(x.n, 5);
    fenp_design_scores(&x, beta, f);
    check_scores(d, &x, beta, f);
    assert_int_equal(fenp_design_columns(&x, &columns, &owned, NULL), FEN_OK);
    assert_int_equal(fenp_design_of(d, &same, &other, NULL), FEN_OK);
    assert_true(columns.dense == owned && !columns.by_rows);
    if (x.n * x.p > 0) assert_memory_equal(owned, other, x.n * x.p * sizeof *owned);
    free(owned), free(other), free(beta), free(f);
}

/* Scores of some rows for several vectors are those of all rows, vector by vector. */
static void check_some_rows(const fenp_design *x)
{
    enum { VECTORS = 3 };
    const int64_t coefs = x->copies * x->p, all = x->copies * x->n, count = (x->n + 1) / 2;
    double *beta = numbers(VECTORS * coefs, 8), *f = numbers(all, 9);
    double *some = numbers(VECTORS * x->copies * count, 10);
    int64_t *which = malloc((size_t)(count + 1) * sizeof *which);
    for (int64_t r = 0; r < count; r++) which[r] = x->n - 1 - 2 * r;
    for (int64_t c = 0; c < VECTORS * coefs; c++)
        if (c % x->p % 3 == 0) beta[c] = 0.0;
    assert_int_equal(fenp_design_scores_of(x, which, count, beta, VECTORS, some), 0);
    for (int64_t v = 0; v < VECTORS; v++) {
        fenp_design_scores(x, beta + v * coefs, f);
        for (int64_t t = 0; t < x->copies; t++)
            for (int64_t r = 0; r < count; r++)
                near(some[(v * x->copies + t) * count + r], f[t * x->n + which[r]], 100.0);
    }
    free(beta), free(f), free(some), free(which);
}

static void some_rows(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 400; n = 3 * n + 1)
        for (int64_t copies = 1; copies < 3; copies++) {
            fenp_sample *d = dense_sample(n, 17), *s = sparse_twin(d);
            fenp_design x;
            double *owned;
            const fenp_design rows = fenp_design_by_rows(d);
            check_some_rows(&rows);
            assert_int_equal(fenp_design_of(d, &x, &owned, NULL), FEN_OK);
            x.copies = copies;
            check_some_rows(&x);
            free(owned);
            assert_int_equal(fenp_design_of(s, &x, &owned, NULL), FEN_OK);
            x.copies = copies;
            check_some_rows(&x);
            fenp_sample_free(d), fenp_sample_free(s);
        }
}

static void shapes(void **state)
{
    (void)state;
    static const int64_t shape[][3] = { { 1, 1, 1 },    { 1, 9, 2 },    { 7, 3, 1 },   { 8, 4, 1 },
                                        { 9, 5, 3 },    { 16, 1, 1 },   { 33, 65, 1 }, { 5, 0, 1 },
                                        { 530, 70, 1 }, { 1100, 37, 2 } };
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
        fenp_sample *d = dense_sample(shape[k][0], shape[k][1]), *s = sparse_twin(d);
        check(d, d, shape[k][2]);
        check(d, s, shape[k][2]);
        check_rows(d);
        fenp_sample_free(d);
        fenp_sample_free(s);
    }
}

/* A column of a cell that is not finite shows it, and no other column does. */
static void zeros_are_not_read(void **state)
{
    (void)state;
    fenp_sample *d = dense_sample(20, 3);
    for (int64_t i = 0; i < 20; i++) d->x[i * 3 + 1] = NAN;
    fenp_design x;
    double *owned, beta[3] = { 1.0, 0.0, -2.0 }, f[20], out[3], u[20];
    assert_int_equal(fenp_design_of(d, &x, &owned, NULL), FEN_OK);
    fenp_design_scores(&x, beta, f);
    for (int i = 0; i < 20; i++) {
        assert_true(f[i] == d->x[i * 3] - 2.0 * d->x[i * 3 + 2]);
        u[i] = 1.0;
    }
    fenp_design_products(&x, u, NULL, 3, out);
    assert_true(isfinite(out[0]) && isnan(out[1]) && isfinite(out[2]));
    free(owned);
    fenp_sample_free(d);
}

static void threads_give_the_same_bits(void **state)
{
    (void)state;
    enum { N = 1003, P = 201 };
    fenp_sample *d = dense_sample(N, P), *s = sparse_twin(d);
    double *u = numbers(N, 3), *one = numbers(P, 4), *many = numbers(P, 5);
    double *f = numbers(N, 6), *g = numbers(N, 7);
    const int threads = omp_get_max_threads();
    for (int sparse = 0; sparse < 2; sparse++) {
        fenp_design x;
        double *owned;
        assert_int_equal(fenp_design_of(sparse ? s : d, &x, &owned, NULL), FEN_OK);
        omp_set_num_threads(1);
        fenp_design_products(&x, u, NULL, P, one);
        fenp_design_scores(&x, one, f);
        omp_set_num_threads(3);
        fenp_design_products(&x, u, NULL, P, many);
        fenp_design_scores(&x, one, g);
        omp_set_num_threads(threads);
        assert_memory_equal(one, many, P * sizeof *one);
        assert_memory_equal(f, g, N * sizeof *f);
        free(owned);
    }
    free(u), free(one), free(many), free(f), free(g);
    fenp_sample_free(d);
    fenp_sample_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),
        cmocka_unit_test(zeros_are_not_read),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(some_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
