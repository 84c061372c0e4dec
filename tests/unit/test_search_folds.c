/* test_search_folds.c -- the folds of a search for lambda: side by side, stopped, refused
 *
 * Two threads also on machines of one core: the thread sanitizer looks at them here. */
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
#include "select_linear.h"

enum { ROWS = 40, COLS = 6, LAMBDAS = 12, FOLDS = 5 };

typedef struct scene {
    double x[ROWS * COLS], y[ROWS], w[ROWS], lambdas[LAMBDAS];
    double held[FOLDS * LAMBDAS], weight[FOLDS], par;
    int64_t order[ROWS];
    fenp_design design;
    fenp_groups groups;
    fenp_linear problem;
    fenp_sample sample;
    fen_options o;
    fenp_lambda_search s;
} scene;

static void set(scene *c)
{
    memset(c, 0, sizeof *c);
    for (int64_t i = 0; i < ROWS * COLS; i++) c->x[i] = fenp_normal(7, 1, (uint64_t)i);
    for (int64_t i = 0; i < ROWS; i++) {
        c->y[i] = c->x[i] - c->x[ROWS + i] + 0.3 * fenp_normal(7, 2, (uint64_t)i);
        c->w[i] = 1.0 / ROWS;
        c->order[i] = (7 * i) % ROWS;
    }
    for (int k = 0; k < LAMBDAS; k++) c->lambdas[k] = pow(0.5, k);
    c->design = (fenp_design){ .n = ROWS, .p = COLS, .copies = 1, .dense = c->x };
    c->groups = (fenp_groups){ .count = COLS };
    c->problem = (fenp_linear){ .x = &c->design,
                                .loss = fenp_find_loss("square"),
                                .par = &c->par,
                                .y = c->y,
                                .w = c->w,
                                .bias = 1,
                                .mix = 1.0,
                                .groups = &c->groups,
                                .engine = "auto" };
    c->sample = (fenp_sample){ .n = ROWS, .p = COLS, .targets = 1, .w = c->w, .weight_sum = ROWS };
    c->o = fen_options_default();
    c->s = (fenp_lambda_search){ .problems = &c->problem,
                                 .problem_count = 1,
                                 .sample = &c->sample,
                                 .o = &c->o,
                                 .loss = c->problem.loss,
                                 .count = LAMBDAS,
                                 .lambdas = c->lambdas,
                                 .folds = FOLDS,
                                 .order = c->order,
                                 .held = c->held,
                                 .weight = c->weight };
}

static fen_status run(scene *c, int threads, const fen_host *host, fen_error *err)
{
    const int before = omp_get_max_threads();
    const fenp_task task = fenp_task_start(host, 0.0);
    omp_set_num_threads(threads);
    const fen_status status = fenp_search_folds(&c->s, &task, err);
    omp_set_num_threads(before);
    return status;
}

static int64_t finished(const scene *c)
{
    int64_t count = 0;
    for (int k = 0; k < FOLDS; k++) count += c->weight[k] > 0.0;
    return count;
}

static void two_threads_find_what_one_finds(void **state)
{
    (void)state;
    static scene one, two;
    set(&one), set(&two);
    assert_int_equal(run(&one, 1, NULL, NULL), FEN_OK);
    assert_int_equal(run(&two, 2, NULL, NULL), FEN_OK);
    assert_true(one.s.done == FOLDS && two.s.done == FOLDS && finished(&two) == FOLDS);
    for (int k = 0; k < FOLDS; k++) assert_true(one.weight[k] == two.weight[k]);
    for (int k = 0; k < FOLDS * LAMBDAS; k++) {
        assert_true(one.held[k] > 0.0);
        assert_true(fabs(one.held[k] - two.held[k]) <= 1e-12 * one.held[k]);
    }
}

typedef struct stopper {
    int left, calls;
} stopper;

static int stop(void *user, const char *stage, double fraction)
{
    stopper *s = user;
    (void)stage, (void)fraction;
    s->calls++;
    return --s->left <= 0;
}

/* Whoever is finished counts, and nobody else. */
static void what_is_finished_counts(void **state)
{
    (void)state;
    static scene c;
    for (int threads = 1; threads <= 3; threads++)
        for (int at = 1; at < 40; at += 6) {
            stopper s = { at, 0 };
            const fen_host host = { .progress = stop, .user = &s };
            set(&c);
            assert_int_equal(run(&c, threads, &host, NULL), FEN_STOPPED);
            assert_int_equal(s.calls, at);
            assert_int_equal(c.s.done, finished(&c));
            assert_true(c.s.done < FOLDS);
        }
}

static void failures_have_a_reason(void **state)
{
    (void)state;
    static scene c;
    for (int threads = 1; threads <= 2; threads++) {
        fen_error err = { 0 };
        set(&c);
        c.problem.engine = "interior"; /* has no pieces of this loss */
        c.problem.loss = c.s.loss = fenp_find_loss("logistic");
        for (int i = 0; i < ROWS; i++) c.y[i] = c.y[i] > 0.0 ? 1.0 : -1.0;
        assert_int_equal(run(&c, threads, NULL, &err), FEN_BAD_CALL);
        assert_non_null(strstr(err.message, "interior"));
        assert_true(c.s.done == 0 && finished(&c) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_find_what_one_finds),
        cmocka_unit_test(what_is_finished_counts),
        cmocka_unit_test(failures_have_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
