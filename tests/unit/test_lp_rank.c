/* test_lp_rank.c -- low-rank forms that grow while they are solved
 *
 *   columns that are there stay, what is left out falls and is about what the last columns say, the
 *   same factor for any number of threads; a solver takes no more rank than its gap asks for, and
 *   the gap holds for the kernel itself
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

#include "base/arena.h"
#include "base/random.h"
#include "base/registry.h"
#include "data/prepare.h"
#include "solver/lp.h"
#include "tensor/pivots.h"

enum { N = 130, P = 5 }; /* 8515 products: a factor begins with a part of its rank */

static fenp_sample *some_rows(fen_labels labels)
{
    fenp_sample *s = fenp_sample_new(N, P, 1);
    assert_non_null(s);
    for (int64_t i = 0; i < N * P; i++) s->x[i] = 0.5 * fenp_normal(5, 1, (uint64_t)i);
    for (int64_t i = 0; i < N; i++) {
        const double *x = s->x + i * P;
        const double y =
            x[0] * x[1] + x[2] - 0.5 * x[3] * x[3] * x[4] + 0.1 * fenp_normal(5, 2, (uint64_t)i);
        s->y[i] = labels == FEN_SIGNS ? (y > 0.0 ? 1.0 : -1.0) : y;
        s->w[i] = 1.0 / N;
    }
    s->weight_sum = N;
    return s;
}

static fenp_kernel exponential(void)
{
    return (fenp_kernel){ fenp_find_kernel("tensor-exponential"), { .gamma = 0.4, .order = 4.0 } };
}

/* ---- forms --------------------------------------------------------------------------------- */

typedef struct opened {
    fenp_arena arena;
    fenp_form form;
} opened;

static void open_form(opened *o, const fenp_sample *s)
{
    const fenp_form_size size = { N, P, exponential(), 0 };
    const int64_t bytes = fenp_route_low_rank.bytes(&size);
    assert_int_equal(fenp_arena_open(&o->arena, bytes, "a form", NULL), FEN_OK);
    assert_int_equal(
        fenp_route_low_rank.open(&o->arena, &size, fenp_sample_inputs(s), &o->form, NULL, NULL),
        FEN_OK);
    assert_true(o->arena.used <= bytes);
}

static void grow(opened *o, double part)
{
    assert_int_equal(fenp_route_low_rank.grow(&o->form, part, NULL, NULL), FEN_OK);
}

static double *root_of(const fenp_form *f, const double *a)
{
    double *root = fenp_new(f->rank * N, sizeof *root);
    assert_non_null(root);
    f->route->root(f, a, root);
    return root;
}

static void test_columns_stay_and_the_rest_falls(void **state)
{
    (void)state;
    fenp_sample *s = some_rows(FEN_NUMBERS);
    const fenp_kernel kernel = exponential();
    double om[N], exact[N], value, last = INFINITY;
    int grown = 0;
    opened o;
    open_form(&o, s);
    assert_true(o.form.more && !o.form.capped);
    assert_int_equal(fenp_points_sums(&kernel, o.form.x, s->y, 1, &value, exact, NULL, NULL),
                     FEN_OK);
    for (; o.form.more && grown < 3; grown++) {
        const int64_t rank = o.form.rank;
        double *before = root_of(&o.form, s->y);
        const double rest = value - o.form.route->scores(&o.form, s->y, om);
        const double expected = o.form.route->tail(&o.form, s->y, om);
        print_message("rank %d: %.2e left of %.2e, expected %.2e\n", (int)rank, rest, value,
                      expected);
        assert_true(rest > 0.0 && rest < 0.7 * last);
        assert_true(rest <= 10.0 * expected && expected <= 100.0 * rest);
        grow(&o, 0.1);
        assert_true(o.form.rank > rank);
        double *after = root_of(&o.form, s->y);
        assert_memory_equal(before, after, (size_t)(rank * N) * sizeof *before);
        free(before), free(after);
        last = rest;
    }
    assert_true(grown >= 2);
    fenp_arena_close(&o.arena);
    fenp_sample_free(s);
}

static void test_the_same_for_any_threads(void **state)
{
    (void)state;
    fenp_sample *s = some_rows(FEN_NUMBERS);
    const int threads = omp_get_max_threads();
    double *root[2];
    int64_t rank[2];
    for (int k = 0; k < 2; k++) {
        opened o;
        if (k) omp_set_num_threads(threads == 1 ? 2 : 1);
        open_form(&o, s);
        grow(&o, 0.1);
        rank[k] = o.form.rank;
        root[k] = root_of(&o.form, s->y);
        fenp_arena_close(&o.arena);
    }
    omp_set_num_threads(threads);
    assert_int_equal(rank[0], rank[1]);
    assert_memory_equal(root[0], root[1], (size_t)(rank[0] * N) * sizeof(double));
    free(root[0]), free(root[1]);
    fenp_sample_free(s);
}

static int stop_at(void *user, const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    return --*(int *)user < 0;
}

/* A form whose growth was stopped is as it was, and can grow again. */
static void test_a_stop_leaves_the_form(void **state)
{
    (void)state;
    fenp_sample *s = some_rows(FEN_NUMBERS);
    double om[2 * N];
    int calls = 3;
    const fen_host host = { .progress = stop_at, .user = &calls };
    const fenp_task task = fenp_task_start(&host, 0.0);
    opened o;
    open_form(&o, s);
    const int64_t rank = o.form.rank;
    const double value = o.form.route->scores(&o.form, s->y, om);
    assert_int_equal(fenp_route_low_rank.grow(&o.form, 0.1, &task, NULL), FEN_STOPPED);
    assert_true(o.form.rank == rank && o.form.more);
    assert_true(o.form.route->scores(&o.form, s->y, om + N) == value);
    assert_memory_equal(om, om + N, N * sizeof *om);
    grow(&o, 0.1);
    assert_true(o.form.rank > rank && o.form.route->scores(&o.form, s->y, om) > value);
    fenp_arena_close(&o.arena);
    fenp_sample_free(s);
}

/* ---- solvers ------------------------------------------------------------------------------- */

typedef struct answer {
    double dual[N], scores[N], scale, offset, gap;
    int64_t rank, steps;
} answer;

static fenp_problem problem_of(const fenp_sample *s, const fen_loss *loss, double gap)
{
    return (fenp_problem){ .sample = s,
                           .loss = loss,
                           .par = &loss->parameter.initial,
                           .kernel = exponential(),
                           .lambda = 1e-3,
                           .power = 4.0 / 3.0,
                           .bias = 1,
                           .gap = gap,
                           .route = "low-rank" };
}

/* gaps: of one sweep after the other, by one state. */
static void solve(fenp_problem *q, const double *gaps, int count, answer *a)
{
    const fenp_solver *solver = fenp_find_solver("lp-newton");
    const fenp_size size = { .n = N,
                             .p = P,
                             .targets = 1,
                             .bias = 1,
                             .power = q->power,
                             .kernel = q->kernel,
                             .route = q->route };
    fenp_arena arena;
    void *state;
    assert_int_equal(fenp_arena_open(&arena, solver->bytes(&size), "test", NULL), FEN_OK);
    assert_int_equal(solver->begin(&arena, q, &state, NULL, NULL), FEN_OK);
    memset(a, 0, (size_t)count * sizeof *a);
    for (int k = 0; k < count; k++) {
        if (k) memcpy(a[k].dual, a[k - 1].dual, sizeof a->dual);
        fenp_solution out = { .dual = a[k].dual,
                              .scale = &a[k].scale,
                              .offset = &a[k].offset,
                              .scores = a[k].scores,
                              .gap = &a[k].gap };
        q->gap = gaps[k];
        assert_int_equal(solver->sweep(state, q, &out, NULL, NULL), FEN_OK);
        a[k].rank = ((const fenp_lp *)state)->form.rank;
        a[k].steps = fenp_lp_steps(state);
    }
    fenp_arena_close(&arena);
}

/* P - D over P for the kernel itself: sums over all pairs of products. */
static double true_gap(const fenp_problem *q, const answer *a)
{
    const fenp_sample *s = q->sample;
    double c[N], om[N], value, gap = 0.0, loss = 0.0;
    for (int64_t i = 0; i < N; i++) c[i] = a->scale * a->dual[i];
    assert_int_equal(
        fenp_points_sums(&q->kernel, fenp_sample_inputs(s), c, 1, &value, om, NULL, NULL), FEN_OK);
    for (int64_t i = 0; i < N; i++) {
        const double t = om[i] + a->offset, z = a->dual[i] / s->w[i];
        const double here = q->loss->value(s->y[i], t, q->par);
        loss += s->w[i] * here;
        gap += s->w[i] * (here + q->loss->conj(s->y[i], -z, q->par) + z * t);
    }
    return gap / (loss + q->lambda * value);
}

/* The rank that a form has at most: none can be had beyond. */
static int64_t worst_rank(const fenp_sample *s)
{
    opened o;
    open_form(&o, s);
    for (int k = 0; k < 20 && o.form.more; k++) grow(&o, 0.02);
    const int64_t rank = o.form.rank;
    assert_false(o.form.more);
    fenp_arena_close(&o.arena);
    return rank;
}

static void test_rank_follows_the_gap(void **state)
{
    static const char *const names[] = { "square", "logistic", "hinge" };
    static const double gaps[] = { 1e-6, 1e-9 };
    enum { LOSSES = 3, GAPS = 2 };
    int64_t worst = 0;
    (void)state;
    for (int k = 0; k < LOSSES; k++) {
        const fen_loss *loss = fenp_find_loss(names[k]);
        fenp_sample *s = some_rows(loss->labels);
        if (k == 0) worst = worst_rank(s); /* of the same rows */
        fenp_problem q = problem_of(s, loss, gaps[0]);
        answer a[GAPS];
        solve(&q, gaps, GAPS, a);
        for (int g = 0; g < GAPS; g++) {
            const double gap = true_gap(&q, &a[g]);
            print_message("%s: gap %.1e (wanted %.1e), rank %d, %d steps\n", names[k], gap, gaps[g],
                          (int)a[g].rank, (int)a[g].steps);
            assert_true(a[g].gap <= gaps[g] && gap <= 10.0 * gaps[g]); /* by an estimate */
        }
        assert_true(a[0].rank <= a[1].rank && a[1].rank < worst);
        assert_true(k > 0 || a[0].rank < a[1].rank);
        fenp_sample_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_stay_and_the_rest_falls),
        cmocka_unit_test(test_the_same_for_any_threads),
        cmocka_unit_test(test_a_stop_leaves_the_form),
        cmocka_unit_test(test_rank_follows_the_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
