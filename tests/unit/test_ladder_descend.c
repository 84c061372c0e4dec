/* test_ladder_descend.c -- a path by two threads against the same by one */
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
#include "base/threads.h"
#include "promise/ladder.h"

enum { N = 300, P = 220, RUNGS = 100 };
static const double GAP = 1e-10;

typedef struct problem {
    fenp_design x;
    fenp_groups groups;
    fenp_linear linear;
    double dense[N * P], y[N], w[N], price[P], lambdas[RUNGS];
} problem;

/* twins: the second half of the columns are those of the first. */
static void fill(problem *q, int twins)
{
    *q = (problem){ .x = { .n = N, .p = P, .copies = 1, .dense = q->dense },
                    .groups = { .count = P, .weight = q->price } };
    for (int64_t i = 0; i < N * P; i++)
        q->dense[i] = fenp_normal(1, 1, (uint64_t)(twins ? i % (N * P / 2) : i));
    for (int64_t j = 0; j < P; j++) q->price[j] = j == 7 ? 0.0 : 1.0;
    for (int64_t i = 0; i < N; i++) {
        q->w[i] = (1.0 + (double)(i % 3)) / (2.0 * N);
        q->y[i] = 3.0 + fenp_normal(1, 2, (uint64_t)i);
        for (int64_t j = 0; j < P / 2; j++) q->y[i] += q->dense[j * N + i] / (double)(1 + j);
    }
    q->linear = (fenp_linear){ .x = &q->x,
                               .loss = fenp_find_loss("square"),
                               .y = q->y,
                               .w = q->w,
                               .bias = 1,
                               .mix = 1.0,
                               .groups = &q->groups,
                               .engine = "auto" };
    fenp_ladder_make(1.0, 1e-3, RUNGS, q->lambdas);
}

/* What would fail within a parallel region is written down, and asserted after it. */
typedef struct seen {
    double beta[RUNGS][P], b[RUNGS], gap[RUNGS];
    int64_t count;
    int aside;    /* visits while two threads were at work */
    int disorder; /* a rung came before its turn           */
} seen;

static fen_status see(void *user, int64_t rung, const fenp_linear_point *at, fen_error *err)
{
    seen *s = user;
    (void)err;
    s->disorder |= rung != s->count++;
    memcpy(s->beta[rung], at->beta, sizeof s->beta[rung]);
    s->b[rung] = at->b[0], s->gap[rung] = at->relative_gap;
    s->aside += omp_in_parallel();
    return FEN_OK;
}

static void go(const problem *q, int threads, int lengthy, const fenp_task *task,
               fen_status expected, seen *to)
{
    fen_error err = { 0 };
    const fenp_ladder rungs = { q->lambdas, RUNGS, GAP, see, to, lengthy };
    const fenp_threads before = fenp_threads_enter(threads);
    *to = (seen){ .count = 0 };
    const fen_status status = fenp_ladder_descend(&q->linear, NULL, &rungs, task, &err);
    fenp_threads_leave(before);
    assert_int_equal(status, expected);
}

static void check_alike(const seen *one, const seen *two)
{
    assert_int_equal(one->count, RUNGS);
    assert_int_equal(two->count, RUNGS);
    assert_int_equal(one->aside, 0);
    assert_in_range(two->aside, RUNGS / 2, RUNGS);
    assert_false(one->disorder || two->disorder);
    for (int64_t k = 0; k < RUNGS; k++) {
        assert_true(one->gap[k] <= GAP && two->gap[k] <= GAP);
        assert_true(fabs(one->b[k] - two->b[k]) < 1e-9);
        for (int64_t j = 0; j < P; j++) {
            assert_int_equal(one->beta[k][j] == 0.0, two->beta[k][j] == 0.0);
            assert_true(fabs(one->beta[k][j] - two->beta[k][j]) < 1e-9);
        }
    }
}

/* All by themselves, elastic, and none below 0. */
static void test_two_threads(void **state)
{
    static problem q;
    static seen one, two;
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        fill(&q, 0);
        q.linear.mix = kind == 1 ? 0.8 : 1.0, q.linear.nonnegative = kind == 2;
        go(&q, 1, 0, NULL, FEN_OK, &one);
        go(&q, 2, 0, NULL, FEN_OK, &two);
        check_alike(&one, &two);
    }
}

/* Of two equal columns any share is optimal: the path does not jump from one to the other. */
static void test_equal_columns(void **state)
{
    static problem q;
    static seen one, two;
    (void)state;
    fill(&q, 1);
    go(&q, 1, 0, NULL, FEN_OK, &one);
    go(&q, 2, 0, NULL, FEN_OK, &two);
    check_alike(&one, &two);
}

/* Groups have one thread, and so has who says that visits take long. */
static void test_one_thread(void **state)
{
    static problem q;
    static seen by_one;
    int64_t start[P / 2 + 1], member[P];
    (void)state;
    fill(&q, 0);
    go(&q, 2, 1, NULL, FEN_OK, &by_one);
    assert_true(by_one.aside == 0 && by_one.count == RUNGS);
    for (int64_t j = 0; j < P; j++) member[j] = j, q.price[j] = 1.0;
    for (int64_t g = 0; g <= P / 2; g++) start[g] = 2 * g;
    q.groups = (fenp_groups){ .count = P / 2, .start = start, .member = member };
    go(&q, 2, 0, NULL, FEN_OK, &by_one);
    assert_true(by_one.aside == 0 && by_one.count == RUNGS);
}

/* Told by thread 0 alone. */
typedef struct stopper {
    double at, last;
    int others;
} stopper;

static int stop(void *user, const char *stage, double fraction)
{
    stopper *s = user;
    (void)stage;
    s->others |= omp_get_thread_num() != 0;
    s->last = fraction;
    return fraction > s->at;
}

/* Before the second thread's part, and in it. */
static void test_stops(void **state)
{
    static problem q;
    static seen part;
    (void)state;
    fill(&q, 0);
    for (double at = 0.305; at < 1.0; at += 0.3) {
        stopper s = { .at = at };
        const fen_host host = { .progress = stop, .user = &s };
        const fenp_task task = fenp_task_start(&host, 0.0);
        go(&q, 2, 0, &task, FEN_STOPPED, &part);
        assert_false(s.others);
        assert_true(fabs((double)part.count - 100.0 * at) < 1.5);
    }
    stopper never = { .at = 2.0 };
    const fen_host host = { .progress = stop, .user = &never };
    const fenp_task task = fenp_task_start(&host, 0.0);
    go(&q, 2, 0, &task, FEN_OK, &part);
    assert_true(never.last == 1.0 && !never.others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_equal_columns),
        cmocka_unit_test(test_one_thread),
        cmocka_unit_test(test_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
