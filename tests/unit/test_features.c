/* test_features.c -- fits on random features: in memory and streamed, stopped and certified */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/random.h"
#include "streamed.h"

enum { ROWS = 5000, P = 3, COLUMNS = 30 };

static char path[4096];

static int make_path(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/test_features.XXXXXX.csv", folder ? folder : "/tmp");
    const int file = mkstemps(path, 4);
    return file < 0 ? -1 : close(file);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

/* level + noise-free function + noise; two targets, weights 1 to 3 */
static fen_table *some_table(double noise)
{
    double *x = malloc(sizeof(double) * ROWS * P), *y = malloc(sizeof(double) * ROWS * 2);
    double *w = malloc(sizeof(double) * ROWS);
    fen_table *table = NULL;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < P; j++) x[i * P + j] = fenp_normal(1, (uint64_t)i, (uint64_t)j);
        const double *r = x + i * P;
        y[2 * i] = sin(r[0]) + r[1] * r[2] + noise * fenp_normal(2, 0, (uint64_t)i);
        y[2 * i + 1] = 100.0 + cos(0.4 * r[1]) + noise * fenp_normal(2, 1, (uint64_t)i);
        w[i] = (double)(1 + i % 3);
    }
    const fen_view inputs = { x, ROWS, P, P }, labels = { y, ROWS, 2, 2 };
    assert_int_equal(fen_table_copy(inputs, labels, w, &table, NULL), FEN_OK);
    free(x), free(y), free(w);
    return table;
}

static fen_options some_options(double lambda, double power)
{
    fen_options o = fen_options_default();
    o.approx = "fourier:30";
    o.target = "y1,y2";
    o.weights = "weight";
    o.gamma = fen_value(0.2);
    o.lambda = fen_value(lambda);
    o.power = fen_value(power);
    return o;
}

static fen_model *fitted(const fen_table *table, const char *file, const fen_options *o)
{
    fen_model *m = NULL;
    fen_error err = { FEN_OK, "" };
    const fen_status status =
        file ? fen_fit_file(file, o, NULL, &m, &err) : fen_fit(table, o, NULL, &m, &err);
    if (status != FEN_OK) fail_msg("%s", err.message);
    return m;
}

static int holds(const fen_model *m, const fen_table *table, const char *file)
{
    fen_certificate now[2];
    fen_error err = { FEN_OK, "" };
    int answer = -1;
    const fen_status status = file ? fen_verify_file(m, file, NULL, NULL, now, &answer, &err)
                                   : fen_verify(m, table, NULL, NULL, now, &answer, &err);
    if (status != FEN_OK) fail_msg("%s", err.message);
    return answer;
}

/* A file is cut elsewhere than a table: the sums differ by rounding. */
static void streamed_is_in_memory(void **state)
{
    (void)state;
    static const double powers[] = { 0.5, 1.0, 1.5, 2.0, 3.0 };
    fen_table *table = some_table(0.3);
    assert_int_equal(fen_table_write(table, path, "csv", NULL), FEN_OK);
    for (int k = 0; k < 5; k++) {
        const fen_options o = some_options(1e-4, powers[k]);
        fen_model *a = fitted(table, NULL, &o), *b = fitted(NULL, path, &o);
        assert_memory_equal(a->frequencies, b->frequencies, COLUMNS / 2 * P * sizeof(double));
        assert_true(a->n == ROWS && !a->dual && !a->inputs);
        assert_int_equal(a->tangent_count > 0, powers[k] < 1.0);
        for (int64_t t = 0; t < 2; t++) {
            const double size = a->certificate[t].norm;
            assert_int_equal(a->certificate[t].verdict, FEN_VERDICT_OPTIMAL);
            /* a power below 1 is searched to a gap of 1e-7 */
            const double close = powers[k] < 1.0 ? 1e-4 : 1e-8;
            for (int64_t j = 0; j < COLUMNS; j++)
                assert_true(fabs(a->feature_weights[t * COLUMNS + j] -
                                 b->feature_weights[t * COLUMNS + j]) <= close * size);
        }
        assert_true(holds(a, table, NULL) == 1 && holds(b, NULL, path) == 1);
        assert_true(holds(a, NULL, path) == 1 && holds(b, table, NULL) == 1);
        fen_model_free(a);
        fen_model_free(b);
    }
    fen_table_free(table);
}

/* Nearly no loss is left: moments cannot tell it from their rounding errors, rows can. */
static void a_tiny_loss_is_certified_from_the_rows(void **state)
{
    (void)state;
    fen_table *table = some_table(0.0);
    fen_options o = some_options(1e-12, 2.0);
    o.approx = "orthogonal:600";
    o.gamma = fen_value(0.02);
    fen_model *m = fitted(table, NULL, &o);
    assert_true(m->certificate[1].primal < 1e-6 * m->certificate[1].null);
    assert_true(m->certificate[1].verdict != FEN_VERDICT_STALLED);
    assert_int_equal(holds(m, table, NULL), 1);
    fen_model_free(m);
    fen_table_free(table);
}

/* A little away from the optimum nothing holds, and the gap says by how much. */
static void other_weights_do_not_hold(void **state)
{
    (void)state;
    fen_table *table = some_table(0.3);
    const fen_options o = some_options(1e-3, 1.5);
    fen_model *m = fitted(table, NULL, &o);
    fen_certificate now[2];
    int answer;
    fen_error err;
    double *w = m->feature_weights + COLUMNS; /* of the second target */
    for (int64_t j = 0; j < COLUMNS; j++) w[j] *= 1.05;
    assert_int_equal(fen_verify(m, table, NULL, NULL, now, &answer, &err), FEN_OK);
    assert_int_equal(answer, 0);
    assert_true(now[1].gap > 0.0 && now[1].dual <= m->certificate[1].primal);
    assert_true(now[1].primal > m->certificate[1].primal);
    assert_true(now[0].verdict == FEN_VERDICT_OPTIMAL && now[1].verdict == FEN_VERDICT_STALLED);
    fen_model_free(m);
    fen_table_free(table);
}

typedef struct patience {
    int calls, most;
    double last;
} patience;

static int count_calls(void *user, const char *stage, double fraction)
{
    patience *p = user;
    assert_non_null(stage);
    assert_true(fraction >= p->last && fraction <= 1.0);
    p->last = fraction;
    return ++p->calls > p->most;
}

/* Wherever it is stopped, the call ends with FEN_STOPPED and leaves the output alone. */
static void a_fit_can_be_stopped_between_blocks(void **state)
{
    (void)state;
    fen_table *table = some_table(0.3);
    fen_options o = some_options(1e-4, 2.0);
    o.lambda = (fen_values){ .choice = FEN_GIVEN, .count = 2, .at = { 1e-4, 1e-3 } };
    assert_int_equal(fen_table_write(table, path, "csv", NULL), FEN_OK);
    patience p = { 0, 1000, 0.0 };
    const fen_host host = { .progress = count_calls, .user = &p };
    fen_model *m = NULL;
    fen_error err;
    assert_int_equal(fen_fit_file(path, &o, &host, &m, &err), FEN_OK);
    fen_model_free(m);
    m = NULL;
    const int calls = p.calls;
    assert_true(calls >= 3);
    for (int most = 0; most < calls; most++) {
        p = (patience){ 0, most, 0.0 };
        assert_int_equal(fen_fit_file(path, &o, &host, &m, &err), FEN_STOPPED);
        assert_null(m);
    }
    fen_table_free(table);
}

static void bytes_grow_with_columns_alone(void **state)
{
    (void)state;
    const int64_t few = fenp_features_bytes(90, 300, 1, 1);
    assert_true(few > 8 * 300 * 300 && few < 20 * 1000 * 1000);
    assert_true(fenp_features_bytes(90, 300, 1, 25) > few);
    assert_true(fenp_features_flops(1000, 90, 300) < fenp_features_flops(2000, 90, 300));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streamed_is_in_memory),
        cmocka_unit_test(a_tiny_loss_is_certified_from_the_rows),
        cmocka_unit_test(other_weights_do_not_hold),
        cmocka_unit_test(a_fit_can_be_stopped_between_blocks),
        cmocka_unit_test(bytes_grow_with_columns_alone),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
