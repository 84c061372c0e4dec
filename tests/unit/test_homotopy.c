/* test_homotopy.c -- the exact path against the optimality conditions it must satisfy
 *
 * At every breakpoint, and half way between two of them (where the solution is the mean of
 * theirs), in long double from the definition: c_j = 2 sum w x_j r is lambda a_j sign(beta_j)
 * or, where beta_j = 0, not larger; with a bias sum w r = 0. Tolerance: 1e-10 of lambda_max,
 * and of what the largest column makes of the target. */
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
#include "solver/homotopy.h"

enum { MOST_N = 60, MOST_P = 80, MOST_BREAKS = 4000 };

typedef struct problem {
    fenp_design x;
    fenp_groups groups;
    fenp_linear linear;
    double dense[MOST_N * MOST_P], y[MOST_N], w[MOST_N], price[MOST_P];
    int64_t start[MOST_P + 1];
    int32_t row[MOST_N * MOST_P];
    double value[MOST_N * MOST_P];
} problem;

/* The last breakpoint, and what was worst of all of them. */
typedef struct path {
    const problem *of;
    double beta[MOST_P], b, lambda, first, worst, scale;
    int64_t count, ends, enters, leaves, terms;
    char in[MOST_P];
} path;

/* ---- problems ----------------------------------------------------------------------------- */

/* Entries share a part of strength `common`; y follows three columns and some noise. */
static void fill(problem *q, int64_t n, int64_t p, double common, uint64_t seed)
{
    *q = (problem){ .x = { .n = n, .p = p, .copies = 1, .dense = q->dense } };
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < p; j++)
            q->dense[j * n + i] = fenp_normal(seed, 1, (uint64_t)(i * p + j)) +
                                  common * fenp_normal(seed, 2, (uint64_t)i);
        q->y[i] = 2.0 + fenp_normal(seed, 3, (uint64_t)i);
        for (int64_t j = 0; j < 3 && j < p; j++) q->y[i] += (double)(2 - j) * q->dense[j * n + i];
        q->w[i] = 1.0 / (double)n;
    }
    q->groups = (fenp_groups){ .count = p };
    q->linear = (fenp_linear){ .x = &q->x,
                               .loss = fenp_find_loss("square"),
                               .y = q->y,
                               .w = q->w,
                               .bias = 1,
                               .mix = 1.0,
                               .groups = &q->groups };
}

static void give_prices(problem *q)
{
    for (int64_t j = 0; j < q->x.p; j++) q->price[j] = 0.5 + 0.25 * (double)(j % 5);
    q->groups.weight = q->price;
}

static void make_sparse(problem *q)
{
    int64_t count = 0;
    for (int64_t j = 0; j < q->x.p; j++) {
        q->start[j] = count;
        for (int64_t i = 0; i < q->x.n; i++) {
            double *entry = q->dense + j * q->x.n + i;
            if (fabs(*entry) < 1.0) *entry = 0.0;
            if (*entry == 0.0) continue;
            q->row[count] = (int32_t)i;
            q->value[count++] = *entry;
        }
    }
    q->start[q->x.p] = count;
    q->x.dense = NULL, q->x.start = q->start, q->x.row = q->row, q->x.value = q->value;
}

static void copy_column(problem *q, int64_t from, int64_t to, double factor)
{
    for (int64_t i = 0; i < q->x.n; i++)
        q->dense[to * q->x.n + i] = factor * q->dense[from * q->x.n + i];
}

/* ---- what must hold ------------------------------------------------------------------------ */

static void check_point(path *s, double lambda, const double *beta, double b)
{
    const problem *q = s->of;
    long double r[MOST_N], sum = 0.0L;
    for (int64_t i = 0; i < q->x.n; i++) {
        r[i] = (long double)q->y[i] - b;
        for (int64_t j = 0; j < q->x.p; j++)
            r[i] -= (long double)q->dense[j * q->x.n + i] * beta[j];
        sum += 2.0L * q->w[i] * r[i];
    }
    if (q->linear.bias) s->worst = fmax(s->worst, (double)fabsl(sum));
    for (int64_t j = 0; j < q->x.p; j++) {
        const double a = q->groups.weight ? q->groups.weight[j] : 1.0;
        long double c = 0.0L;
        for (int64_t i = 0; i < q->x.n; i++) c += 2.0L * q->w[i] * q->dense[j * q->x.n + i] * r[i];
        const double up = (double)c - lambda * a, down = -(double)c - lambda * a;
        double off = q->linear.nonnegative ? up : fmax(up, down);
        if (beta[j] != 0.0) off = fabs(beta[j] > 0.0 ? up : down);
        s->worst = fmax(s->worst, off);
        if (q->linear.nonnegative) assert_true(beta[j] >= 0.0);
    }
}

static fen_status see(void *user, const fenp_break *at, const double *beta, double b,
                      fen_error *err)
{
    path *s = user;
    double middle[MOST_P];
    (void)err;
    if (s->count++ == 0) s->first = at->lambda;
    assert_true(s->count == 1 || at->lambda <= s->lambda);
    check_point(s, at->lambda, beta, b);
    for (int64_t j = 0; j < s->of->x.p; j++) middle[j] = 0.5 * (beta[j] + s->beta[j]);
    if (s->count > 1) check_point(s, 0.5 * (at->lambda + s->lambda), middle, 0.5 * (b + s->b));
    memcpy(s->beta, beta, (size_t)s->of->x.p * sizeof *beta);
    s->lambda = at->lambda, s->b = b, s->terms = at->terms;
    if (at->feature < 0) {
        s->ends++;
        return FEN_OK;
    }
    if (!s->of->groups.weight || s->of->price[at->feature] > 0.0) /* others may be in at first */
        assert_int_equal(s->in[at->feature], !at->enters);
    s->in[at->feature] = (char)at->enters;
    if (at->enters)
        s->enters++;
    else
        s->leaves++;
    return FEN_OK;
}

static void walk_to(path *s, const problem *q, double least)
{
    fen_error err = { 0 };
    *s = (path){ .of = q };
    assert_int_equal(fenp_homotopy(&q->linear, least, MOST_BREAKS, see, s, NULL, &err), FEN_OK);
    double columns = 0.0, target = 0.0;
    for (int64_t i = 0; i < q->x.n; i++) {
        double row = 0.0;
        for (int64_t j = 0; j < q->x.p; j++) row = fmax(row, fabs(q->dense[j * q->x.n + i]));
        columns = fmax(columns, row), target += 2.0 * q->w[i] * fabs(q->y[i]);
    }
    assert_int_equal(s->ends, 1);
    assert_true(s->worst <= 1e-10 * fmax(s->first, 1e-3 * columns * target));
}

static void check(const problem *q) { walk_to(&(path){ 0 }, q, 0.0); }

/* ---- tests ------------------------------------------------------------------------------- */

static void test_plain(void **state)
{
    static problem q;
    static path s;
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        fill(&q, 40, 12, seed % 2 ? 0.0 : 2.0, seed);
        q.linear.bias = seed % 3 != 0;
        walk_to(&s, &q, 0.0);
        assert_true(s.enters - s.leaves == 12 && s.terms == 12); /* least squares at the end */
        give_prices(&q);
        for (int64_t i = 0; i < 40; i++) q.w[i] = i % 4 ? fenp_uniform(seed, 9, (uint64_t)i) : 0.0;
        check(&q);
        make_sparse(&q);
        check(&q);
    }
}

/* One entry of a unit matrix: the path is known. */
static void test_known(void **state)
{
    static problem q;
    static path s;
    (void)state;
    fill(&q, 3, 3, 0.0, 1);
    memset(q.dense, 0, sizeof q.dense);
    for (int64_t i = 0; i < 3; i++)
        q.dense[i * 3 + i] = 1.0, q.w[i] = 0.5, q.y[i] = 4.0 - (double)i;
    q.linear.bias = 0;
    walk_to(&s, &q, 1.0); /* beta = soft(y, lambda) */
    assert_true(fabs(s.first - 4.0) <= 1e-14);
    for (int64_t j = 0; j < 3; j++) assert_true(fabs(s.beta[j] - (3.0 - (double)j)) <= 1e-14);
    walk_to(&s, &q, 7.0);
    assert_true(s.count == 1 && s.lambda == 7.0 && s.terms == 0);
}

static void test_wide(void **state)
{
    static problem q;
    static path s;
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        fill(&q, 20, 80, seed % 2 ? 0.0 : 1.0, seed);
        q.linear.bias = seed > 2;
        walk_to(&s, &q, 0.0);
        assert_true(s.terms <= 20 - q.linear.bias); /* as many as can fit all rows */
        give_prices(&q);
        check(&q);
        q.linear.nonnegative = 1;
        check(&q);
        make_sparse(&q);
        check(&q);
    }
}

static void test_nonnegative(void **state)
{
    static problem q;
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        fill(&q, 30, 20, 1.0, seed);
        q.linear.nonnegative = 1;
        check(&q);
        give_prices(&q);
        for (int64_t j = 0; j < 20; j += 3) q.price[j] = 0.0; /* those end at their own bounds */
        check(&q);
    }
}

static void test_unpenalised(void **state)
{
    static problem q;
    static path s;
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        fill(&q, 30, 20, 0.5, seed);
        give_prices(&q);
        q.price[1] = q.price[7] = q.price[8] = 0.0;
        copy_column(&q, 7, 8, -2.0); /* they depend on each other */
        copy_column(&q, 7, 11, 1.0); /* and one with a price on them */
        walk_to(&s, &q, 0.0);
        assert_false(s.in[1] || s.in[7] || s.in[8]); /* they are there from the start */
        assert_true(s.beta[1] != 0.0 && s.beta[11] == 0.0);
        for (int64_t j = 0; j < 20; j++) q.price[j] = 0.0;
        walk_to(&s, &q, 0.0);
        assert_int_equal(s.count, 1);
    }
}

static void test_dependent_columns(void **state)
{
    static problem q;
    static path s;
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        fill(&q, 30, 20, seed % 2 ? 0.0 : 1.0, seed);
        copy_column(&q, 0, 5, 1.0), copy_column(&q, 0, 6, -1.0), copy_column(&q, 1, 9, 1.0);
        copy_column(&q, 2, 10, 0.0);
        for (int64_t i = 0; i < 30; i++) {
            q.dense[15 * 30 + i] = q.dense[i] + q.dense[30 + i]; /* sum of two */
            q.dense[16 * 30 + i] = 3.0;                          /* a constant */
        }
        q.linear.bias = seed != 6;
        walk_to(&s, &q, 0.0);
        assert_true(s.terms <= 15 + (seed == 6));
        q.linear.nonnegative = 1;
        check(&q);
    }
}

/* Rows that are each other's images: many columns meet their bounds at once. */
static void test_ties(void **state)
{
    static problem q;
    (void)state;
    for (int64_t p = 2; p <= 16; p += 2) {
        fill(&q, 16, p, 0.0, 1);
        for (int64_t i = 0; i < 16; i++) {
            for (int64_t j = 0; j < p; j++)
                q.dense[j * 16 + i] = (__builtin_popcountll((uint64_t)(i & j)) & 1) ? -1.0 : 1.0;
            q.y[i] = (double)(i % 4);
        }
        check(&q);
        for (int64_t j = 0; j < p; j++) q.dense[j * 16] += 0.25; /* correlated, symmetric */
        check(&q);
        for (int64_t j = 0; j < p; j++)
            for (int64_t i = 0; i < 16; i++) q.dense[j * 16 + i] = i == j ? 1.0 : 0.5;
        for (int64_t i = 0; i < 16; i++) q.y[i] = 1.0 - (double)(i % 2);
        check(&q);
    }
}

static void test_edges(void **state)
{
    static problem q;
    static path s;
    (void)state;
    fill(&q, 1, 1, 0.0, 1); /* nothing is left of a row beside the bias */
    walk_to(&s, &q, 0.0);
    assert_true(s.count == 1 && fabs(s.b - q.y[0]) < 1e-15);
    q.linear.bias = 0;
    walk_to(&s, &q, 0.0);
    assert_true(fabs(s.beta[0] * q.dense[0] - q.y[0]) <= 1e-14);
    fill(&q, 10, 0, 0.0, 1);
    walk_to(&s, &q, 0.5);
    assert_int_equal(s.count, 1);
    fill(&q, 20, 5, 0.0, 1); /* a constant target */
    for (int64_t i = 0; i < 20; i++) q.y[i] = 1e6 / 3.0;
    walk_to(&s, &q, 0.0);
    assert_true(s.count == 1 && s.terms == 0);
}

/* y times a factor: lambda and beta go along. */
static void test_units(void **state)
{
    static problem q;
    static path plain, s;
    const double factors[] = { 1e8, 1e-8 };
    (void)state;
    for (int k = 0; k < 2; k++) {
        fill(&q, 30, 50, 1.0, 5);
        walk_to(&plain, &q, 0.0);
        for (int64_t i = 0; i < 30; i++) q.y[i] *= factors[k];
        walk_to(&s, &q, 0.0);
        assert_int_equal(s.count, plain.count);
        assert_true(fabs(s.first / factors[k] / plain.first - 1.0) <= 1e-12);
        for (int64_t j = 0; j < 50; j++)
            assert_true(fabs(s.beta[j] / factors[k] - plain.beta[j]) <= 1e-9);
    }
}

static void test_limits(void **state)
{
    static problem q;
    static path s;
    fen_error err = { 0 };
    (void)state;
    fill(&q, 30, 20, 0.0, 1);
    s = (path){ .of = &q };
    assert_int_equal(fenp_homotopy(&q.linear, 0.0, 7, see, &s, NULL, &err), FEN_OK);
    assert_true(s.count == 7 && s.ends == 0);
    const double least = 0.1 * s.first;
    walk_to(&s, &q, least);
    assert_true(s.lambda == least && s.terms < 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),       cmocka_unit_test(test_known),
        cmocka_unit_test(test_wide),        cmocka_unit_test(test_nonnegative),
        cmocka_unit_test(test_unpenalised), cmocka_unit_test(test_dependent_columns),
        cmocka_unit_test(test_ties),        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_units),       cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
