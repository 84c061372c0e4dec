/* test_fit_linear.c -- fits with penalties on coefficients that are ended, and what they leave */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "fenchel/fenchel.h"

enum { ROWS = 150, COLS = 40 };

/* y = x1 - x2 + noise; neighbouring columns are alike. */
static fen_table *some_table(void)
{
    static double cells[ROWS * COLS], labels[ROWS];
    fen_table *table = NULL;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < COLS; j++)
            cells[i * COLS + j] =
                fenp_normal(3, 1, (uint64_t)(i * COLS + j)) + (j ? cells[i * COLS + j - 1] : 0.0);
        labels[i] = cells[i * COLS] - cells[i * COLS + 1] + fenp_normal(3, 2, (uint64_t)i);
    }
    const fen_view x = { cells, ROWS, COLS, COLS }, y = { labels, ROWS, 1, 1 };
    assert_int_equal(fen_table_copy(x, y, NULL, &table, NULL), FEN_OK);
    return table;
}

/* Stops at the k-th report of a stage. */
typedef struct stopper {
    const char *stage;
    int left, stopped;
} stopper;

static int stop(void *user, const char *stage, double fraction)
{
    stopper *s = user;
    assert_true(fraction >= 0.0 && fraction <= 1.0);
    if (strcmp(stage, s->stage) != 0 || --s->left > 0) return 0;
    return s->stopped = 1;
}

static fen_options with(const char *penalty, const char *loss, double lambda)
{
    fen_options o = fen_options_default();
    o.penalty = penalty, o.loss = loss;
    if (lambda > 0.0) o.lambda = fen_value(lambda);
    return o;
}

/* A model comes back whenever it happens: optimal, or interrupted and no worse than a constant; and
 * its certificate comes out again. */
static void stopping_the_solver_leaves_a_model(void **state)
{
    (void)state;
    static const char *const losses[] = { "square", "huber:1", "absolute" };
    static const char *const penalties[] = { "l1", "elastic:0.3", "group" };
    fen_table *table = some_table();
    int interrupted = 0;
    for (int l = 0; l < 3; l++)
        for (int p = 0; p < 3; p++)
            for (int k = 1; k < 6; k++) {
                const fen_options o = with(penalties[p], losses[l], 1e-3);
                stopper s = { "solving", k, 0 };
                const fen_host host = { .progress = stop, .user = &s };
                fen_model *m = NULL;
                fen_error err;
                if (fen_fit(table, &o, &host, &m, &err)) fail_msg("%s", err.message);
                const fen_certificate c = fen_model_certificate(m, 0);
                if (!s.stopped) assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
                if (c.verdict == FEN_VERDICT_INTERRUPTED) interrupted++;
                assert_true(c.verdict == FEN_VERDICT_OPTIMAL ||
                            c.verdict == FEN_VERDICT_INTERRUPTED);
                assert_true(isfinite(c.primal) && c.primal <= c.null * (1.0 + 1e-12));
                fen_options lax = o;
                fen_certificate again;
                int holds = 0;
                lax.tolerance = 0.999;
                assert_int_equal(fen_verify(m, table, &lax, NULL, &again, &holds, &err), FEN_OK);
                if (!holds && c.relative_gap < lax.tolerance) fail_msg("%s", err.message);
                fen_model_free(m);
            }
    assert_true(interrupted > 0);
    fen_table_free(table);
}

static void stopping_the_selection_stops_the_fit(void **state)
{
    (void)state;
    fen_table *table = some_table();
    const fen_options o = with("l1", "square", 0.0);
    stopper s = { "selection", 1, 0 };
    const fen_host host = { .progress = stop, .user = &s };
    fen_model *m = NULL;
    fen_error err;
    const fen_status status = fen_fit(table, &o, &host, &m, &err);
    assert_int_equal(status, s.stopped ? FEN_STOPPED : FEN_OK);
    assert_int_equal(m != NULL, !s.stopped);
    fen_model_free(m);
    fen_table_free(table);
}

/* The same bits by any number of threads: what a seed promises. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    fen_table *table = some_table();
    fen_options o = with("elastic:0.5", "square", 0.0);
    double primal[2];
    for (int k = 0; k < 2; k++) {
        fen_model *m = NULL;
        fen_error err;
        o.threads = 1 + k;
        if (fen_fit(table, &o, NULL, &m, &err)) fail_msg("%s", err.message);
        primal[k] = fen_model_certificate(m, 0).primal;
        fen_model_free(m);
    }
    assert_true(fabs(primal[0] - primal[1]) <= 1e-9 * primal[0]); /* BLAS may sum differently */
    fen_table_free(table);
}

static void plans(void **state)
{
    (void)state;
    fen_table *table = some_table();
    static const struct {
        const char *penalty, *loss, *kernel, *method;
        double lambda;
    } cases[] = {
        { "l1", "square", "auto", "active-set", 0.0 },
        { "none", "square", "auto", "qr", 0.0 },
        { "group", "logistic", "auto", "active-set", 0.1 },
        { "elastic", "absolute", "auto", "interior", 0.1 },
        { "l1", "square", "gaussian", "active-set", 0.1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fen_options o = with(cases[i].penalty, cases[i].loss, cases[i].lambda);
        fen_plan plan;
        fen_error err;
        o.kernel = cases[i].kernel;
        if (strcmp(cases[i].loss, "logistic") == 0) {
            assert_int_equal(fen_plan_fit(table, &o, &plan, &err), FEN_BAD_CALL);
            continue;
        }
        if (fen_plan_fit(table, &o, &plan, &err)) fail_msg("%s", err.message);
        assert_string_equal(plan.method, cases[i].method);
        assert_true(plan.rows == ROWS && plan.features == COLS && plan.fits);
        assert_true(plan.seconds > 0.0 && isfinite(plan.seconds) && plan.peak_bytes > 0);
        assert_true(strlen(plan.why) > 0 && strlen(plan.selection) > 0);
    }
    fen_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopping_the_solver_leaves_a_model),
        cmocka_unit_test(stopping_the_selection_stops_the_fit),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
