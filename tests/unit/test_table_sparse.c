/* test_table_sparse.c -- sparse inputs in memory: by rows, by columns and as a file they are the
 * same table and the same model; what is wrong is told by its row or column */
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
#include "data/table.h"

enum { N = 60, P = 12, MOST = N * P };

static int64_t row_start[N + 1], column_start[P + 1], column_of[MOST], row_of[MOST];
static double by_row[MOST], by_column[MOST], label[N];

/* Two of three cells are 0, one of which is written down. */
static double cell(int64_t i, int64_t j)
{
    return (i + j) % 3 ? 0.0 : fenp_normal(3, (uint64_t)j, (uint64_t)i);
}

static void fill(void)
{
    int64_t at = 0;
    for (int64_t i = 0; i < N; i++) {
        row_start[i] = at;
        for (int64_t j = 0; j < P; j++)
            if (cell(i, j) != 0.0 || (i == 4 && j == 4))
                column_of[at] = j, by_row[at++] = cell(i, j);
        label[i] = 3.0 * cell(i, 0) - cell(i, 5) + 0.1 * fenp_normal(4, 0, (uint64_t)i);
    }
    row_start[N] = at, at = 0;
    for (int64_t j = 0; j < P; j++) {
        column_start[j] = at;
        for (int64_t i = 0; i < N; i++)
            if (cell(i, j) != 0.0) row_of[at] = i, by_column[at++] = cell(i, j);
    }
    column_start[P] = at;
}

static const fen_sparse ROWS = { N, P, 0, row_start, column_of, by_row };
static const fen_sparse COLUMNS = { N, P, 1, column_start, row_of, by_column };

static fen_table *copy(const fen_sparse *x)
{
    fen_table *t = NULL;
    fen_error err;
    assert_int_equal(fen_table_copy_sparse(x, label, &t, &err), FEN_OK);
    return t;
}

static void the_same_table(void **state)
{
    (void)state;
    fill();
    fen_table *a = copy(&ROWS), *b = copy(&COLUMNS);
    assert_int_equal(fen_table_columns(a), P + 1);
    assert_string_equal(fen_table_column_name(a, 0), "x1");
    assert_string_equal(fen_table_column_name(a, P), "label");
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < P; j++) {
            assert_true(fenp_table_cell(a, i, j) == cell(i, j));
            assert_true(fenp_table_cell(b, i, j) == cell(i, j));
        }
        assert_true(fenp_table_cell(a, i, P) == label[i]);
    }
    assert_int_equal(a->start[N], b->start[N]);
    assert_memory_equal(a->index, b->index, (size_t)a->start[N] * sizeof *a->index);
    fen_table_free(a), fen_table_free(b);
}

/* Coefficients of a lasso on it, and predictions of rows without labels. */
static void fit(const fen_table *t, double value[P], double scores[N])
{
    fen_options o = fen_options_default();
    fen_model *model = NULL;
    fen_table *fresh = NULL;
    fen_error err;
    double intercept;
    o.penalty = "l1", o.lambda = fen_value(0.01);
    assert_int_equal(fen_fit(t, &o, NULL, &model, &err), FEN_OK);
    assert_int_equal(fen_model_certificate(model, 0).verdict, FEN_VERDICT_OPTIMAL);
    assert_int_equal(fen_model_coefficients(model, value, NULL, &intercept, &err), FEN_OK);
    assert_int_equal(fen_table_copy_sparse(&COLUMNS, NULL, &fresh, &err), FEN_OK);
    assert_int_equal(fen_predict_table(model, fresh, &o, scores, NULL, &err), FEN_OK);
    fen_table_free(fresh);
    fen_model_free(model);
}

static void the_same_model(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    char path[1024];
    double value[3][P] = { { 0.0 } }, scores[3][N]; /* a model keeps the columns that it uses */
    fen_table *t[3] = { copy(&ROWS), copy(&COLUMNS), NULL };
    fen_options o = fen_options_default();
    fen_error err;
    snprintf(path, sizeof path, "%s/test_table_sparse.XXXXXX", folder ? folder : "/tmp");
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(fen_table_write(t[0], path, "svmlight", &err), FEN_OK);
    o.format = "svmlight";
    assert_int_equal(fen_table_read(path, &o, NULL, &t[2], &err), FEN_OK);
    unlink(path);
    for (int k = 0; k < 3; k++) {
        fit(t[k], value[k], scores[k]);
        assert_memory_equal(value[k], value[0], sizeof value[0]);
        assert_memory_equal(scores[k], scores[0], sizeof scores[0]);
        fen_table_free(t[k]);
    }
    assert_true(value[0][0] > 2.0);
}

static void refuse(const fen_sparse *x, const char *says)
{
    fen_table *t = NULL;
    fen_error err;
    assert_int_not_equal(fen_table_copy_sparse(x, label, &t, &err), FEN_OK);
    assert_null(t);
    assert_non_null(strstr(err.message, says));
}

static void what_is_wrong(void **state)
{
    (void)state;
    fen_sparse none = { 0 };
    refuse(&none, "at least one column");
    const int64_t kept = column_of[row_start[7] + 1];
    column_of[row_start[7] + 1] = column_of[row_start[7]];
    refuse(&ROWS, "row 8 of the sparse inputs has an index that does not ascend");
    column_of[row_start[7] + 1] = P;
    refuse(&ROWS, "out of range");
    column_of[row_start[7] + 1] = kept;
    const double value = by_column[column_start[2]];
    by_column[column_start[2]] = NAN;
    refuse(&COLUMNS, "column 3 of the sparse inputs has an entry that is not a finite number");
    by_column[column_start[2]] = value;
    const int64_t start = row_start[3];
    row_start[3] = -1;
    refuse(&ROWS, "row 3 of the sparse inputs ends before it begins");
    row_start[3] = start;
    const double y = label[9];
    label[9] = INFINITY;
    refuse(&ROWS, "label 10 is infinite");
    label[9] = y;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_table),
        cmocka_unit_test(the_same_model),
        cmocka_unit_test(what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
