/* test_table.c -- tables: copies of memory, text codes, appended blocks, sparse rows */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "data/columns.h"
#include "data/table.h"

static void test_copy(void **state)
{
    (void)state;
    const double x[] = { 1, 2, 99, 3, NAN, 99 }, y[] = { 5, 6 }, w[] = { 0.5, 2 };
    fen_error err;
    fen_table *t = NULL;
    fen_view inputs = { x, 2, 2, 3 }, labels = { y, 2, 1, 1 };
    assert_int_equal(fen_table_copy(inputs, labels, w, &t, &err), FEN_OK);
    assert_int_equal(fen_table_rows(t), 2);
    assert_int_equal(fen_table_columns(t), 4);
    static const char *const names[] = { "x1", "x2", "y", "weight" };
    for (int j = 0; j < 4; j++) assert_string_equal(fen_table_column_name(t, j), names[j]);
    assert_null(fen_table_column_name(t, 4));
    assert_null(fen_table_column_name(t, -1));
    const double expected[] = { 1, 2, 5, 0.5, 3, NAN, 6, 2 };
    for (int k = 0; k < 8; k++) {
        double cell = fenp_table_cell(t, k / 4, k % 4);
        assert_true(isnan(expected[k]) ? isnan(cell) : cell == expected[k]);
    }
    assert_int_equal(fenp_table_find(t, "y"), 2);
    assert_int_equal(fenp_table_find(t, "z"), -1);
    fen_table_free(t);
    fen_table_free(NULL);
}

static void test_copy_several_labels(void **state)
{
    (void)state;
    const double x[] = { 1, 2 }, y[] = { 3, 4, 5, 6 };
    fen_table *t = NULL;
    assert_int_equal(
        fen_table_copy((fen_view){ x, 2, 1, 1 }, (fen_view){ y, 2, 2, 2 }, NULL, &t, NULL), FEN_OK);
    assert_string_equal(fen_table_column_name(t, 1), "y1");
    assert_string_equal(fen_table_column_name(t, 2), "y2");
    fen_table_free(t);
    assert_int_equal(fen_table_copy((fen_view){ x, 2, 1, 1 }, (fen_view){ 0 }, NULL, &t, NULL),
                     FEN_OK);
    assert_int_equal(fen_table_columns(t), 1);
    fen_table_free(t);
}

static void test_copy_refuses(void **state)
{
    (void)state;
    const double x[] = { 1, INFINITY, 3, 4 }, y[] = { 1, 2 };
    fen_table *t = NULL;
    fen_error err;
    fen_view inputs = { x, 2, 2, 2 }, labels = { y, 2, 1, 1 };
    assert_int_equal(fen_table_copy(inputs, labels, NULL, &t, &err), FEN_BAD_DATA);
    assert_string_equal(err.message, "row 1: column 2 (\"x2\") is infinite");
    labels.rows = 1;
    assert_int_equal(fen_table_copy(inputs, labels, NULL, &t, &err), FEN_BAD_CALL);
    labels.rows = 2;
    inputs.stride = 1;
    assert_int_equal(fen_table_copy(inputs, labels, NULL, &t, &err), FEN_BAD_CALL);
    assert_int_equal(fen_table_copy((fen_view){ 0 }, (fen_view){ 0 }, NULL, &t, &err),
                     FEN_BAD_CALL);
    assert_int_equal(fen_table_copy((fen_view){ x, INT64_MAX / 2, INT64_MAX / 2, INT64_MAX / 2 },
                                    (fen_view){ 0 }, NULL, &t, &err),
                     FEN_MEMORY);
    assert_null(t);
}

static void test_codes(void **state)
{
    (void)state;
    fenp_column column = { 0 };
    char text[32];
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 20000; i++) {
            int length = sprintf(text, "level %d", i);
            assert_int_equal(fenp_column_code(&column, text, length), i);
        }
    assert_int_equal(column.level_count, 20000);
    assert_string_equal(column.levels[777], "level 777");
    assert_int_equal(fenp_column_code(&column, "level 77777", 9), 777);
    assert_int_equal(fenp_column_code(&column, "", 0), 20000);
    assert_int_equal(fenp_column_code(&column, "", 0), 20000);
    fenp_column_clear(&column);
}

/* ---- appending ------------------------------------------------------------------------------ */
static const char *name_of(const void *user, int64_t column, char space[32])
{
    (void)user;
    snprintf(space, 32, "c%d", (int)column);
    return space;
}

/* A number and a text column; text row i is words[i]. */
static fen_table *block_of(const char *const *words, int64_t rows, double first)
{
    fen_table *t = fenp_table_new("t");
    assert_int_equal(fenp_table_name_columns(t, 2, name_of, NULL, NULL), FEN_OK);
    t->column[1].text = 1;
    t->rows = rows;
    t->first_line = 2;
    t->cells = malloc((size_t)rows * 2 * sizeof(double) + 1);
    for (int64_t i = 0; i < rows; i++) {
        t->cells[2 * i] = first + (double)i;
        t->cells[2 * i + 1] =
            words[i] ? (double)fenp_column_code(&t->column[1], words[i], (int64_t)strlen(words[i]))
                     : NAN;
    }
    return t;
}

static void test_append_text(void **state)
{
    (void)state;
    static const char *const one[] = { "red", "blue", "red" }, *const two[] = { "green", NULL,
                                                                                "blue" };
    fen_table *all = fenp_table_new("t");
    fen_table *a = block_of(one, 3, 1), *b = block_of(two, 3, 4);
    assert_int_equal(fenp_table_append(all, a, NULL), FEN_OK);
    assert_int_equal(fenp_table_append(all, b, NULL), FEN_OK);
    assert_int_equal(fenp_table_append(all, a, NULL), FEN_OK);
    fen_table_free(a);
    fen_table_free(b);
    assert_int_equal(all->rows, 9);
    assert_int_equal(all->first_line, 0); /* the blocks do not follow each other line by line */
    assert_int_equal(all->column[1].level_count, 3);
    const double codes[] = { 0, 1, 0, 2, NAN, 1, 0, 1, 0 };
    for (int i = 0; i < 9; i++) {
        double code = fenp_table_cell(all, i, 1);
        assert_true(isnan(codes[i]) ? isnan(code) : code == codes[i]);
        assert_true(fenp_table_cell(all, i, 0) == i % 6 + 1);
    }
    fen_table_free(all);
}

static void test_append_grows(void **state)
{
    (void)state;
    static const char *const words[] = { "a", "b", "c" };
    fen_table *all = block_of(words, 3, 0); /* exactly full, as a reader leaves it */
    int moved = 0;
    for (int k = 1; k < 3000; k++) {
        fen_table *b = block_of(words, 3, 3 * k);
        int64_t before = all->row_room;
        assert_int_equal(fenp_table_append(all, b, NULL), FEN_OK);
        assert_true(all->row_room >= all->rows);
        assert_true(all->row_room <= all->rows + all->rows / 2 + 1);
        moved += all->row_room != before;
        fen_table_free(b);
    }
    assert_true(moved < 30);
    for (int64_t i = 0; i < all->rows; i++) assert_true(fenp_table_cell(all, i, 0) == (double)i);
    fen_table *wrong = fenp_table_new("t");
    wrong->cells = calloc(3, sizeof(double));
    assert_int_equal(fenp_table_name_columns(wrong, 3, name_of, NULL, NULL), FEN_OK);
    wrong->rows = 1;
    fen_error err;
    assert_int_equal(fenp_table_append(all, wrong, &err), FEN_BAD_DATA);
    fen_table_free(wrong);
    fen_table_free(all);
}

/* Rows i = 0.. with entries in the columns listed, -1 ends a row; columns x<first>.. */
static fen_table *sparse_of(int64_t first, int64_t features, int64_t rows, const int *columns)
{
    fen_table *t = fenp_table_new("t");
    assert_int_equal(fenp_table_number_columns(t, first, features, "label", NULL), FEN_OK);
    t->start = calloc((size_t)rows + 1, sizeof *t->start);
    t->index = calloc(100, sizeof *t->index);
    t->value = calloc(100, sizeof *t->value);
    t->label = calloc((size_t)rows, sizeof *t->label);
    for (; t->rows < rows; t->rows++) {
        int64_t *end = &t->start[t->rows + 1];
        *end = t->start[t->rows];
        t->label[t->rows] = (double)(10 * features + t->rows);
        for (; *columns >= 0; columns++) {
            t->index[*end] = *columns;
            t->value[(*end)++] = 100.0 * (double)features + *columns + (double)first;
        }
        columns++;
    }
    return t;
}

static void test_append_sparse(void **state)
{
    (void)state;
    fen_table *all = fenp_table_new("t");
    fen_table *a = sparse_of(1, 2, 2, (int[]){ 0, 1, -1, 1, -1 }); /* x1 x2     */
    fen_table *b = sparse_of(1, 4, 2, (int[]){ 3, -1, -1 });       /* x1 .. x4  */
    fen_table *c = sparse_of(0, 6, 1, (int[]){ 0, 2, 5, -1 });     /* x0 .. x5  */
    fen_table *const blocks[] = { a, b, c, a };
    for (int k = 0; k < 4; k++) assert_int_equal(fenp_table_append(all, blocks[k], NULL), FEN_OK);
    assert_int_equal(all->rows, 7);
    assert_int_equal(all->cols, 7);
    for (int j = 0; j < 6; j++) {
        char name[8];
        sprintf(name, "x%d", j);
        assert_string_equal(all->column[j].name, name);
    }
    assert_string_equal(all->column[6].name, "label");
    static const double expected[7][7] = {
        { 0, 201, 202, 0, 0, 0, 20 }, { 0, 0, 202, 0, 0, 0, 21 },     { 0, 0, 0, 0, 404, 0, 40 },
        { 0, 0, 0, 0, 0, 0, 41 },     { 600, 0, 602, 0, 0, 605, 60 }, { 0, 201, 202, 0, 0, 0, 20 },
        { 0, 0, 202, 0, 0, 0, 21 },
    };
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++) assert_true(fenp_table_cell(all, i, j) == expected[i][j]);
    for (int k = 0; k < 3; k++) fen_table_free(blocks[k]);
    fen_table_free(all);
}

static void test_widen(void **state)
{
    (void)state;
    fen_table *narrow = sparse_of(1, 1, 1, (int[]){ 0, -1 });
    fen_table *wide = sparse_of(0, 3, 1, (int[]){ 0, -1 });
    assert_int_equal(fenp_table_widen(narrow, wide, NULL), FEN_OK);
    assert_int_equal(narrow->cols, 4);
    assert_string_equal(narrow->column[0].name, "x0");
    assert_string_equal(narrow->column[2].name, "x2");
    assert_string_equal(narrow->column[3].name, "label");
    assert_true(fenp_table_cell(narrow, 0, 1) == 101);
    assert_true(fenp_table_cell(narrow, 0, 3) == 10);
    assert_int_equal(fenp_table_widen(wide, narrow, NULL), FEN_OK);
    assert_int_equal(wide->cols, 4);
    fen_table_free(narrow);
    fen_table_free(wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),          cmocka_unit_test(test_copy_several_labels),
        cmocka_unit_test(test_copy_refuses),  cmocka_unit_test(test_codes),
        cmocka_unit_test(test_append_text),   cmocka_unit_test(test_append_grows),
        cmocka_unit_test(test_append_sparse), cmocka_unit_test(test_widen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
