/* test_svmlight.c -- reading, recognising and writing of svmlight files */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "base/registry.h"
#include "data/bytes.h"
#include "data/table.h"

static const fen_format *format(void) { return fenp_find_format("svmlight"); }

/* All blocks of text as one table; blocks (may be NULL): how many there were. */
static fen_status read_all(const void *text, int64_t size, int32_t base, fen_table **out,
                           int *blocks, fen_error *err)
{
    fen_options o = fen_options_default();
    o.index_base = base;
    fen_bytes *in;
    void *state;
    assert_int_equal(fenp_bytes_from_memory("t.svm", text, size, &in, err), FEN_OK);
    assert_int_equal(format()->open(in, &o, &state, err), FEN_OK);
    fen_table *table = fenp_table_new("t.svm"), *block;
    fen_status status;
    for (int count = 0;; count++) {
        block = NULL;
        status = format()->next(state, &block, err);
        if (blocks) *blocks = count;
        if (status != FEN_OK || !block) break;
        assert_true(block->rows > 0);
        assert_int_equal(fenp_table_append(table, block, err), FEN_OK);
        fen_table_free(block);
    }
    format()->close(state);
    fenp_bytes_close(in);
    if (status == FEN_OK)
        *out = table;
    else
        fen_table_free(table);
    return status;
}

static fen_table *read_text(const char *text, int32_t base)
{
    fen_error err;
    fen_table *table = NULL;
    if (read_all(text, (int64_t)strlen(text), base, &table, NULL, &err) != FEN_OK)
        fail_msg("%s", err.message);
    return table;
}

static void rows_and_names(void **state)
{
    (void)state;
    fen_table *t = read_text("# made by hand\n"
                             "+1 1:0.5 3:-2e1 # a comment\r\n"
                             "\n"
                             "-1\n"
                             "2.5\tqid:7 2:1 4:0",
                             -1);
    assert_int_equal(t->rows, 3);
    assert_int_equal(t->cols, 5); /* the explicit zero at 4 widens the table, but is not stored */
    const char *names[] = { "x1", "x2", "x3", "x4", "label" };
    for (int j = 0; j < 5; j++) assert_string_equal(t->column[j].name, names[j]);
    assert_int_equal(t->start[3], 3);
    assert_true(fenp_table_cell(t, 0, 0) == 0.5 && fenp_table_cell(t, 0, 2) == -20.0);
    assert_true(fenp_table_cell(t, 0, 1) == 0.0 && fenp_table_cell(t, 2, 1) == 1.0);
    assert_int_equal(t->start[1], t->start[2]); /* the row of zeros */
    assert_true(t->label[0] == 1.0 && t->label[1] == -1.0 && t->label[2] == 2.5);
    assert_int_equal(t->first_line, 0); /* a blank line between the rows */
    fen_table_free(t);
}

static void index_base(void **state)
{
    (void)state;
    fen_table *t = read_text("1 0:2 1:3\n", -1);
    assert_string_equal(t->column[0].name, "x0");
    assert_true(fenp_table_cell(t, 0, 0) == 2.0 && fenp_table_cell(t, 0, 1) == 3.0);
    fen_table_free(t);
    t = read_text("1 1:3\n", 0); /* said to count from 0: x0 exists although it is 0 here */
    assert_int_equal(t->cols, 3);
    assert_string_equal(t->column[0].name, "x0");
    assert_true(fenp_table_cell(t, 0, 1) == 3.0);
    fen_table_free(t);
    t = read_text("1 1:3\n", 1);
    assert_int_equal(t->cols, 2);
    assert_string_equal(t->column[0].name, "x1");
    fen_table_free(t);
}

/* Several megabytes: the first blocks know neither x0 nor x9, the last line has both. */
static void late_columns(void **state)
{
    (void)state;
    const int64_t rows = 700000;
    char *text = malloc((size_t)rows * 16 + 64), *at = text;
    for (int64_t i = 0; i < rows; i++)
        at += sprintf(at, "%d 2:%d 5:1\n", (int)(i % 7), (int)(i % 1000) + 1);
    at += sprintf(at, "1 0:4 9:8\n");
    fen_table *t = NULL;
    fen_error err;
    int blocks = 0;
    assert_int_equal(read_all(text, at - text, -1, &t, &blocks, &err), FEN_OK);
    free(text);
    assert_true(blocks >= 2);
    assert_int_equal(t->rows, rows + 1);
    assert_int_equal(t->cols, 11);
    int64_t x2 = fenp_table_find(t, "x2"), x0 = fenp_table_find(t, "x0");
    assert_int_equal(x2, 2);
    for (int64_t i = 0; i < rows; i += 997) {
        assert_true(fenp_table_cell(t, i, x2) == (double)(i % 1000 + 1));
        assert_true(fenp_table_cell(t, i, x0) == 0.0);
        assert_true(t->label[i] == (double)(i % 7));
    }
    assert_true(fenp_table_cell(t, rows, x0) == 4.0 && fenp_table_cell(t, rows, 9) == 8.0);
    fen_table_free(t);
}

/* A line longer than a block. */
static void long_line(void **state)
{
    (void)state;
    const int64_t pairs = 600000;
    char *text = malloc((size_t)pairs * 12 + 16), *at = text;
    *at++ = '1';
    for (int64_t j = 1; j <= pairs; j++) at += sprintf(at, " %d:1.5", (int)j);
    at += sprintf(at, "\n2 1:1\n");
    fen_table *t = NULL;
    fen_error err;
    assert_int_equal(read_all(text, at - text, -1, &t, NULL, &err), FEN_OK);
    free(text);
    assert_int_equal(t->rows, 2);
    assert_int_equal(t->cols, pairs + 1);
    assert_int_equal(t->start[1], pairs);
    fen_table_free(t);
}

static void no_rows(void **state)
{
    (void)state;
    fen_table *t = read_text("", -1);
    assert_int_equal(t->rows, 0);
    fen_table_free(t);
    t = read_text("# nothing\n\n  \n", -1);
    assert_int_equal(t->rows, 0);
    fen_table_free(t);
}

static void refused(const char *text, int32_t base, const char *place, const char *why)
{
    fen_error err = { FEN_OK, "" };
    fen_table *t = NULL;
    if (read_all(text, (int64_t)strlen(text), base, &t, NULL, &err) != FEN_BAD_DATA)
        fail_msg("\"%s\" was accepted, or failed otherwise: %s", text, err.message);
    if (!strstr(err.message, place) || !strstr(err.message, why))
        fail_msg("\"%s\" gives \"%s\"", text, err.message);
}

static void bad_rows(void **state)
{
    (void)state;
    refused("1 1:1\n2 3:1 2:1\n", -1, "t.svm:2:", "ascend");
    refused("1 3:1 3:1\n", -1, "t.svm:1:", "ascend");
    refused("1 -1:1\n", -1, "t.svm:1:", "negative");
    refused("1 0:1\n", 1, "t.svm:1:", "--index-base");
    refused("1 2147483649:1\n", -1, "t.svm:1:", "16777216");
    refused("1 99999999999999999999:1\n", -1, "t.svm:1:", "pair");
    refused("# c\n1 1:nan\n", -1, "t.svm:2:", "finite");
    refused("1 1:-inf\n", -1, "t.svm:1:", "finite");
    refused("1 1:1e999\n", -1, "t.svm:1:", "finite");
    refused("nan 1:1\n", -1, "t.svm:1:", "label");
    refused("1e999\n", -1, "t.svm:1:", "label");
    refused("a 1:1\n", -1, "t.svm:1: \"a\"", "label");
    refused("1 1\n", -1, "t.svm:1:", "pair");
    refused("1 1:\n", -1, "t.svm:1:", "number");
    refused("1 :1\n", -1, "t.svm:1:", "pair");
    refused("1 1.5:1\n", -1, "t.svm:1:", "pair");
    refused("1,2 1:1\n", -1, "t.svm:1:", "label");
}

static void sniffing(void **state)
{
    (void)state;
    static const char *const yes[] = { "1 1:2\n", "# c\n-1 qid:3 2:1e5 7:1\n1 3:4", "1\n2 1:1\n",
                                       "0.5 1:1\n0.25 4:1 5:2",
                                       /* whose values the reader refuses, with the line */
                                       "1 1:nan\n2 1:1\n", "nan 1:2\n", "1 1:1 2:-inf\n",
                                       "1 1:1e999\n" };
    static const char *const no[] = { "", "1\n2\n", "a,b\n1,2\n", "1 2 3\n", "1,2:3\n", "x 1:2\n" };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(format()->sniff(yes[i], (int64_t)strlen(yes[i])) > 50);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_int_equal(format()->sniff(no[i], (int64_t)strlen(no[i])), 0);
    /* a head that ends within a pair */
    assert_true(format()->sniff("1 1:2\n2 1:3 4", 13) > 50);
}

static void gzipped(void **state)
{
    (void)state;
    unsigned char packed[256];
    z_stream z = { .next_in = (unsigned char *)(uintptr_t) "3 2:7\n",
                   .avail_in = 6,
                   .next_out = packed,
                   .avail_out = sizeof packed };
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    fen_table *t = NULL;
    fen_error err;
    assert_int_equal(read_all(packed, (int64_t)z.total_out, -1, &t, NULL, &err), FEN_OK);
    deflateEnd(&z);
    assert_true(t->rows == 1 && t->label[0] == 3.0 && fenp_table_cell(t, 0, 1) == 7.0);
    fen_table_free(t);
}

/* ---- writing ---------------------------------------------------------------------------- */
static void scratch(char *out, size_t size)
{
    const char *folder = getenv("TMPDIR");
    snprintf(out, size, "%s/fenchel-test-%d.svm", folder ? folder : ".", (int)getpid());
}

static fen_status write_table(const fen_table *t, const char *path, fen_error *err)
{
    fen_sink *sink;
    void *state = NULL;
    assert_int_equal(fen_sink_open(path, &sink, err), FEN_OK);
    fen_status status = format()->begin(sink, t, &state, err);
    if (status == FEN_OK) status = format()->rows(state, t, err);
    fen_status ended = format()->end(state, status == FEN_OK ? err : NULL);
    if (status == FEN_OK) status = ended;
    if (status == FEN_OK) return fen_sink_commit(sink, err);
    fen_sink_abandon(sink);
    return status;
}

static void written(const fen_table *t, char *out, size_t size)
{
    char path[512];
    fen_error err;
    scratch(path, sizeof path);
    assert_int_equal(write_table(t, path, &err), FEN_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
    remove(path);
}

static void writes_what_it_reads(void **state)
{
    (void)state;
    static const char *const texts[] = { "1 1:0.5 3:-20\n-1\n2.5 2:1e-300 4:0.1\n",
                                         "1 0:2 1:3\n0 1:1\n" };
    for (size_t i = 0; i < 2; i++) {
        char text[256];
        fen_table *t = read_text(texts[i], -1);
        written(t, text, sizeof text);
        fen_table_free(t);
        assert_string_equal(text, texts[i]);
    }
}

static void writes_dense(void **state)
{
    (void)state;
    const double x[] = { 1, 0, 0.1, 0, -0.0, 3 }, y[] = { 7, 8 };
    fen_table *t;
    fen_error err;
    char text[256];
    assert_int_equal(
        fen_table_copy((fen_view){ x, 2, 3, 3 }, (fen_view){ y, 2, 1, 1 }, NULL, &t, &err), FEN_OK);
    written(t, text, sizeof text);
    assert_string_equal(text, "7 1:1 3:0.1\n8 3:3\n");
    char path[512];
    scratch(path, sizeof path);
    t->cells[1] = NAN;
    assert_int_equal(write_table(t, path, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "\"x2\""));
    assert_non_null(strstr(err.message, "CSV"));
    t->cells[1] = 0;
    t->column[0].text = 1;
    assert_int_equal(write_table(t, path, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "\"x1\""));
    assert_int_not_equal(access(path, F_OK), 0);
    fen_table_free(t);
}

/* More than the buffer of the writer. */
static void writes_many(void **state)
{
    (void)state;
    const int64_t rows = 20000;
    double *x = malloc((size_t)rows * 3 * sizeof *x), *y = malloc((size_t)rows * sizeof *y);
    for (int64_t i = 0; i < rows; i++) {
        y[i] = 1.0 / (double)(i + 3);
        for (int64_t j = 0; j < 3; j++) x[3 * i + j] = sin((double)(3 * i + j + 1));
    }
    fen_table *t, *back = NULL;
    fen_error err;
    assert_int_equal(
        fen_table_copy((fen_view){ x, rows, 3, 3 }, (fen_view){ y, rows, 1, 1 }, NULL, &t, &err),
        FEN_OK);
    char *text = malloc(4000000);
    written(t, text, 4000000);
    assert_int_equal(read_all(text, (int64_t)strlen(text), -1, &back, NULL, &err), FEN_OK);
    assert_true(back->rows == rows && back->cols == 4);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < 4; j++)
            assert_true(fenp_table_cell(back, i, j) == fenp_table_cell(t, i, j));
    free(text);
    free(x);
    free(y);
    fen_table_free(t);
    fen_table_free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_names),
        cmocka_unit_test(index_base),
        cmocka_unit_test(late_columns),
        cmocka_unit_test(long_line),
        cmocka_unit_test(no_rows),
        cmocka_unit_test(bad_rows),
        cmocka_unit_test(sniffing),
        cmocka_unit_test(gzipped),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(writes_dense),
        cmocka_unit_test(writes_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
