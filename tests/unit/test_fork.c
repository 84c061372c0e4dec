/* test_fork.c -- calls before and after fork, with more than one thread on both sides
 *
 * The child inherits what a runtime remembers of threads that it does not have: where that is
 * not looked after, it waits for them for ever. alarm() ends a child that does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <cblas.h>
#include "fenchel/fenchel.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif

enum { ROWS = 600, DIM = 400 };

typedef struct answer {
    double fitted[ROWS], machine[ROWS], product;
} answer;

/* A regression, its predictions, a large product of BLAS, and a classifier, on two threads. */
static int work(answer *out)
{
    fen_options o = fen_options_default();
    fen_table *data = NULL, *classes = NULL;
    fen_model *model = NULL;
    fen_error err;
    int right = !fen_options_set(&o, "rows", "600", &err) &&
                !fen_options_set(&o, "threads", "2", &err) &&
                !fen_options_set(&o, "gamma", "0.1", &err) &&
                !fen_table_generate("friedman", &o, &data, &err) &&
                !fen_fit(data, &o, NULL, &model, &err) &&
                !fen_predict_table(model, data, &o, out->fitted, NULL, &err);
    fen_model_free(model);
    model = NULL;
    right = right && !fen_options_set(&o, "loss", "hinge", &err) &&
            !fen_options_set(&o, "lambda", "0.01", &err) &&
            !fen_table_generate("moons", &o, &classes, &err) &&
            !fen_fit(classes, &o, NULL, &model, &err) &&
            !fen_predict_table(model, classes, &o, out->machine, NULL, &err);
    fen_model_free(model);
    fen_table_free(data);
    fen_table_free(classes);
    double *a = calloc((size_t)3 * DIM * DIM, sizeof *a);
    for (int i = 0; a && i < 2 * DIM * DIM; i++) a[i] = i % 7 - 3;
    if (a)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, DIM, DIM, DIM, 1.0, a, DIM,
                    a + DIM * DIM, DIM, 0.0, a + 2 * DIM * DIM, DIM);
    out->product = a ? a[3 * DIM * DIM - 1] : 0.0;
    free(a);
    return right && out->product != 0.0;
}

static int alike(const double *a, const double *b, int count)
{
    int right = 1;
    for (int i = 0; i < count; i++) right &= fabs(a[i] - b[i]) <= 1e-6 * (1.0 + fabs(b[i]));
    return right;
}

static int same(const answer *a, const answer *b)
{
    return alike(a->fitted, b->fitted, ROWS) && alike(a->machine, b->machine, ROWS) &&
           a->product == b->product;
}

/* Exit code of a child that does the work and compares it with what its parent found. */
static int child(const answer *expected)
{
    answer *own = calloc(1, sizeof *own);
    alarm(60);
    return own && work(own) && same(own, expected) ? 0 : 1;
}

static void assert_ends_well(pid_t pid)
{
    int status = -1;
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status)); /* not by alarm */
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_child_works_as_its_parent_did(void **state)
{
    (void)state;
    answer *expected = calloc(1, sizeof *expected), *again = calloc(1, sizeof *again);
    assert_non_null(expected);
    assert_non_null(again);
    assert_true(work(expected));
    for (int i = 0; i < 2; i++) {
        const pid_t pid = fork();
        if (pid == 0) _exit(child(expected));
        assert_ends_well(pid);
    }
    assert_true(work(again)); /* and the parent goes on */
    assert_true(same(again, expected));
    free(expected);
    free(again);
}

/* A child of a child, as a pool of processes makes them. */
static void a_grandchild_works_too(void **state)
{
    (void)state;
    answer *expected = calloc(1, sizeof *expected);
    assert_non_null(expected);
    assert_true(work(expected));
    const pid_t pid = fork();
    if (pid == 0) {
        int status = child(expected);
        const pid_t next = fork();
        if (next == 0) _exit(child(expected));
        int code = -1;
        if (next < 0 || waitpid(next, &code, 0) != next || code != 0) status = 1;
        _exit(status);
    }
    assert_ends_well(pid);
    free(expected);
}

int main(void)
{
#ifdef THREAD_SANITIZER
    puts("SKIPPED: the thread sanitizer has no threads after a fork");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_works_as_its_parent_did),
        cmocka_unit_test(a_grandchild_works_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
