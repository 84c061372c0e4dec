/* test_csv.c -- CSV as people have it, errors as people need them
 *
 * Every text is read in one block by one thread, and in tiny blocks by several: the table, or
 * the error, must be the same. A table is compared as text: names (text columns starred), then
 * rows; cells between blanks, missing ones "_", text in brackets. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/registry.h"
#include "base/text.h"
#include "data/bytes.h"
#include "data/csv.h"
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

/* ---- reading from memory ---------------------------------------------------------------- */
typedef struct outcome {
    fen_status status;
    fen_error err;
    fen_table *table;
    int64_t first_line;
} outcome;

static outcome read_bytes(const char *text, int64_t size, const fen_options *o, int64_t block)
{
    const fen_format *csv = fenp_find_format("csv");
    outcome got = { FEN_OK, { FEN_OK, "" }, NULL, 0 };
    fen_bytes *in = NULL;
    void *state = NULL;
    got.status = fenp_bytes_from_memory("train.csv", text, size, &in, &got.err);
    if (got.status == FEN_OK) got.status = fenp_csv_open(in, o, block, &state, &got.err);
    got.table = fenp_table_new("train.csv");
    while (got.status == FEN_OK) {
        fen_table *piece = NULL;
        got.status = csv->next(state, &piece, &got.err);
        if (!piece) break;
        assert_true(piece->rows > 0);
        assert_int_equal(fenp_table_append(got.table, piece, &got.err), FEN_OK);
        fen_table_free(piece);
    }
    csv->close(state);
    fenp_bytes_close(in);
    got.first_line = got.table->first_line;
    if (got.status == FEN_OK) return got;
    fen_table_free(got.table);
    got.table = NULL;
    return got;
}

static char *describe(const fen_table *t)
{
    size_t room = 1000;
    for (int64_t j = 0; j < t->cols; j++) {
        room += strlen(t->column[j].name) + 4 + (size_t)t->rows * 40;
        for (int64_t k = 0; k < t->column[j].level_count; k++)
            room += (size_t)t->rows * strlen(t->column[j].levels[k]);
    }
    char *out = malloc(room), *p = out;
    for (int64_t j = 0; j < t->cols; j++)
        p += sprintf(p, "%s%s%s", j ? " " : "", t->column[j].name, t->column[j].text ? "*" : "");
    for (int64_t i = 0; i < t->rows; i++) {
        p += sprintf(p, "|");
        for (int64_t j = 0; j < t->cols; j++) {
            double value = fenp_table_cell(t, i, j);
            if (j) *p++ = ' ';
            if (isnan(value))
                *p++ = '_';
            else if (t->column[j].text)
                p += sprintf(p, "[%s]", t->column[j].levels[(int64_t)value]);
            else
                p += fenp_print_double(value, p);
        }
    }
    *p = 0;
    return out;
}

/* Text, or error message, of reading; the caller frees it. */
static char *read_as(const char *text, int64_t size, const fen_options *o, int64_t block,
                     fen_status *status)
{
    outcome got = read_bytes(text, size, o, block);
    *status = got.status;
    if (got.status != FEN_OK) return strdup(got.err.message);
    char *seen = describe(got.table);
    fen_table_free(got.table);
    return seen;
}

static void check(const char *text, int64_t size, fen_options o, fen_status status,
                  const char *expected)
{
    static const int64_t blocks[] = { 1 << 22, 1, 2, 7, 16, 61 };
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++)
        for (o.threads = 1; o.threads <= 3; o.threads += 2) {
            fen_status got;
            char *seen = read_as(text, size, &o, blocks[b], &got);
            if (got != status || strcmp(seen, expected) != 0)
                fail_msg("blocks of %d, %d threads:\n%.400s\ngives %d: %.600s\nexpected %d: %.600s",
                         (int)blocks[b], (int)o.threads, text, (int)got, seen, (int)status,
                         expected);
            free(seen);
        }
}

static void reads(const char *text, const char *expected)
{
    check(text, (int64_t)strlen(text), fen_options_default(), FEN_OK, expected);
}

static void refuses(const char *text, const char *expected)
{
    check(text, (int64_t)strlen(text), fen_options_default(), FEN_BAD_DATA, expected);
}

/* ---- what is read ----------------------------------------------------------------------- */
static void test_plain(void **state)
{
    (void)state;
    reads("a,b\n1,2\n3,4\n", "a b|1 2|3 4");
    reads("a,b\n1,2\n3,4", "a b|1 2|3 4");
    reads("a,b\r\n1,2\r\n3,4\r\n", "a b|1 2|3 4");
    reads("a,b\r1,2\r3,4\r", "a b|1 2|3 4");
    reads("\xef\xbb\xbf"
          "a,b\n1,2\n",
          "a b|1 2");
    reads("\n\n  \na,b\n\n1,2\n   \n\r\n3,4\n\n\n", "a b|1 2|3 4");
    reads("1,2\n3,4\n", "x1 x2|1 2|3 4");
    reads("1\n2\n3\n", "x1|1|2|3");
    reads("y\n1\n2\n", "y|1|2");
    reads("7", "x1|7");
    reads("a, b ,c\n 1 ,\t2,3 \n", "a b c|1 2 3");
    reads("-1.5e3,+2,.5,1.\n0,0,0,-0\n", "x1 x2 x3 x4|-1500 2 0.5 1|0 0 0 -0");
    reads("a#b,c\n1,2\n#3,4\n#5,6\n", "a#b* c|[1] 2|[#3] 4|[#5] 6");
}

static void test_separators(void **state)
{
    (void)state;
    reads("a;b\n1;2\n", "a b|1 2");
    reads("a\tb\n1\t2\n\t4\n", "a b|1 2|_ 4");
    reads("a|b\n1|2\n", "a b|1 2");
    reads("a b\n1 2\n3 4\n", "a b|1 2|3 4");
    reads("  a   b\t c \n 1  2 3\n4 5   6  \r\n", "a b c|1 2 3|4 5 6");
    reads("1 2\n3 4\n", "x1 x2|1 2|3 4");
    reads("a,b\n1, 2\n3, 4\n", "a b|1 2|3 4");
    reads("name,n\nJohn Smith,1\nJane Doe,2\n", "name* n|[John Smith] 1|[Jane Doe] 2");
    reads("text\nhello world\nbye world\n", "text*|[hello world]|[bye world]");
    reads("d;t\n1,5;2020-01-02\n2,25;2020-01-03\n", "d t*|1.5 [2020-01-02]|2.25 [2020-01-03]");
    reads("3,14;2,7\n1;2,5e1\n", "x1 x2|3.14 2.7|1 25");
    reads("a;b\n1,5;2\n3;4\n", "a b|1.5 2|3 4");
}

static void test_final_separators(void **state)
{
    (void)state;
    reads("a,b,\n1,2,\n3,4,\n", "a b|1 2|3 4");
    reads("a,b\n1,2,\n3,4,\n", "a b|1 2|3 4");
    reads("1,2,\n3,4,\n", "x1 x2|1 2|3 4");
    reads("a,b,\n1,2\n3,4,\n", "a b|1 2|3 4");
    reads("a,b,\n1,2,3\n4,5,6\n", "a b x3|1 2 3|4 5 6");
    reads("a,b,c\n1,2,\n3,4,\n", "a b c|1 2 _|3 4 _");
    refuses("a,b\n1,2\n3,4,\n", "train.csv:3: 3 cells, expected 2 like the header");
    refuses("a,b,\n1,2,\n3,4,,\n", "train.csv:3: 4 cells, expected 3 like the header");
}

static void test_quotes(void **state)
{
    (void)state;
    reads("\"a,1\",b\n1,\"2\"\n\"3\",4\n", "a,1 b|1 2|3 4");
    reads("t,n\n\"x,y\",1\n\"say \"\"hi\"\"\",2\n\"two\nlines\",3\n",
          "t* n|[x,y] 1|[say \"hi\"] 2|[two\nlines] 3");
    reads("t,n\n\"\"\"\",1\n\"\"\"\"\"\",2\n", "t* n|[\"] 1|[\"\"] 2");
    reads("t,n\n5\" pipe,1\n6\"\" pipe,2\n", "t* n|[5\" pipe] 1|[6\"\" pipe] 2");
    reads("t,n\n \"x\" ,1\n  \"y z\",2\n", "t* n|[x] 1|[y z] 2");
    reads("a,b\n\"\",1\n2,\"\"\n", "a b|_ 1|2 _");
    reads("y\n\"\"\n1\n", "y|_|1");
    reads("t n\n\"a b\" 1\n\"c d\" 2\n", "t* n|[a b] 1|[c d] 2");
    reads("\"1990\",\"1991\"\n1.5,2.5\n3,4\n", "1990 1991|1.5 2.5|3 4");
    reads("\"1\",\"2\"\n\"3\",\" 4 \"\n", "x1 x2|1 2|3 4");
    reads("t,n\n\"a\r\nb\",1\r\nc,2\r\n", "t* n|[a\r\nb] 1|[c] 2");
}

static void test_headers(void **state)
{
    (void)state;
    reads("a,b\n1,2\n", "a b|1 2");
    reads(",b\n1,2\n", "x1 b|1 2");
    reads("id,name\nu1,Ann\nu2,Bob\n", "id* name*|[u1] [Ann]|[u2] [Bob]");
    reads("g,b\nb,g\ng,g\n", "x1* x2*|[g] [b]|[b] [g]|[g] [g]");
    reads("1,g\n2,b\n", "x1 x2*|1 [g]|2 [b]");
    reads("NA,1\n2,3\n", "x1 x2|_ 1|2 3");
    reads("a,1990\n1,2\n", "a 1990|1 2");
    reads("a\n\"b\nc\"\n", "a*|[b\nc]");
}

static void test_missing(void **state)
{
    (void)state;
    reads("a,b\n,2\nNA,4\n?,N/A\nnull,NULL\n1,3\n", "a b|_ 2|_ 4|_ _|_ _|1 3");
    reads("a,b\nNaN,2\n1,nan\n", "a b|_ 2|1 _");
    reads("a,t\n1,x\n2,NA\n3,\n4,y\n", "a t*|1 [x]|2 _|3 _|4 [y]");
    reads("a,b\n1,\n2,\n", "a b|1 _|2 _");
    reads("a,b\n,\n,\n1,2\n", "a b|_ _|_ _|1 2");
    fen_options o = fen_options_default();
    o.missing = "-999, nan,none";
    const char *text = "a,t\n1,x\n-999,none\n-999.0,y\nnan,z\n,-999\n5,NA\n";
    check(text, (int64_t)strlen(text), o, FEN_OK, "a t*|1 [x]|_ _|_ [y]|_ [z]|_ _|5 [NA]");
    o.missing = "";
    check("a,b\n1,2\n,3\n", 11, o, FEN_OK, "a b|1 2|_ 3");
}

static void test_text_columns(void **state)
{
    (void)state;
    reads("a,t\n1,x\n2,y\n3,x\n4,1\n", "a t*|1 [x]|2 [y]|3 [x]|4 [1]");
    fen_options o = fen_options_default();
    const char *text = "zip,n\n01234,1\n99,2\n01234,3\n";
    int64_t size = (int64_t)strlen(text);
    o.text = "zip";
    check(text, size, o, FEN_OK, "zip* n|[01234] 1|[99] 2|[01234] 3");
    o.text = " 1 , n";
    check(text, size, o, FEN_OK, "zip* n*|[01234] [1]|[99] [2]|[01234] [3]");
    o.text = "zap";
    check(text, size, o, FEN_BAD_CALL,
          "train.csv has no column \"zap\" (asked for by --text); did you mean \"zip\"?");
    o.text = "3";
    check(text, size, o, FEN_BAD_CALL,
          "train.csv has no column \"3\" (asked for by --text); it has 2, the first is \"zip\"");
}

/* ---- what is refused --------------------------------------------------------------------- */
#define ADVICE(column)                                                                      \
    "; correct it, leave the cell empty if it is missing, or read the column as text with " \
    "--text " column ", in training and prediction alike"

static void test_bad_cells(void **state)
{
    (void)state;
    refuses("id,b,age\n1,2,3\n4,5,6\n7,8,abc\n",
            "train.csv:4: column 3 (\"age\") is \"abc\", expected a number" ADVICE("age"));
    refuses("a b,c\n1,2\n3,4\n1x,6\n",
            "train.csv:4: column 1 (\"a b\") is \"1x\", expected a number" ADVICE("1"));
    refuses(
        "a,b\n1,2\n3,inf\n",
        "train.csv:3: column 2 (\"b\") is \"inf\", which is not a finite number; leave the cell "
        "empty if it is missing");
    refuses(
        "a,b\n1,2\nNAN,3\n",
        "train.csv:3: column 1 (\"a\") is \"NAN\", which is not a finite number; leave the cell "
        "empty if it is missing, or add --missing NAN");
    refuses("a,b\n1,2\n1e999,3\n",
            "train.csv:3: column 1 (\"a\") is \"1e999\", which is not a finite number; leave the "
            "cell empty if it is missing");
    refuses("1,2\n-nan,3\n",
            "train.csv:2: column 1 (\"x1\") is \"-nan\", which is not a finite number; leave the "
            "cell empty if it is missing, or add --missing -nan");
    refuses("t,n\n\"a\n\nb\",1\nc,2\nd,3\ne,\"4\n5\"\n",
            "train.csv:7: column 2 (\"n\") is \"4\\u000a5\", expected a number" ADVICE("n"));
    refuses(
        "a\n1\n2\n3\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xc3\xa4yyyyyyyyyyyyyyyyyyyyyyyyy\n",
        "train.csv:5: column 1 (\"a\") is \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\", expected "
        "a number" ADVICE("a"));
}

static void test_mixed_decimals(void **state)
{
    (void)state;
    refuses("a;b\n1,5;2\n3;4.5\n", /* both in the sample: the point wins */
            "train.csv:2: column 1 (\"a\") is \"1,5\", expected a number" ADVICE("a"));
    char text[4000] = "a;b\n";
    for (int i = 0; i < 200; i++) strcat(text, "1,5;2\n");
    strcat(text, "3.5;4\n");
    refuses(text, "train.csv:202: column 1 (\"a\") is \"3.5\", expected a number with a decimal "
                  "comma" ADVICE("a"));
}

static void test_bad_rows(void **state)
{
    (void)state;
    refuses("a,b,c,d\n1,2,3,4\n1,2,3,4,5\n", "train.csv:3: 5 cells, expected 4 like the header");
    refuses("a,b,c,d\n1,2,3,4\n\n1,2,3\n", "train.csv:4: 3 cells, expected 4 like the header");
    refuses("1,2\n3,4\n5\n", "train.csv:3: 1 cell, expected 2 like the first row");
    refuses("a b\n1 2\n3 4\n5 6 7\n", "train.csv:4: 3 cells, expected 2 like the header");
    refuses("t,n\n\"x\ny\",1\nz,2\nz\n", "train.csv:5: 1 cell, expected 2 like the header");
    refuses("t,n\nx,1\n\"x\ny\n\",1,5\nz,2\n", "train.csv:3: 3 cells, expected 2 like the header");
    refuses("a,b,a\n1,2,3\n", "train.csv:1: columns 1 and 3 are both called \"a\"; rename one");
    refuses("x2,\n1,2\n", "train.csv:1: columns 1 and 2 are both called \"x2\"; rename one");
}

static void test_bad_quotes(void **state)
{
    (void)state;
    refuses("t,n\nx,1\ny,2\n\"z,3\nw,4\nv,5\n",
            "train.csv:4: the quote that opens column 1 is never closed");
    refuses("t,n\nx,1\ny,2\n\"a\nb\",3\nz,\"3\n\n",
            "train.csv:6: the quote that opens column 2 is never closed");
    refuses("\"a,b\n1,2\n", "train.csv:1: the quote that opens column 1 is never closed");
    refuses("t,n\nx,1\n\"y\"z,2\nw,4\n",
            "train.csv:3: column 1 goes on after its closing quote; a quote inside a quoted cell "
            "is written twice");
    /* an earlier error wins, wherever the quote is noticed */
    refuses("a,b\n1,2\n3,x\n4,5\n6,\"7\n8,9\n",
            "train.csv:3: column 2 (\"b\") is \"x\", expected a number" ADVICE("b"));
}

static void test_no_data(void **state)
{
    (void)state;
    refuses("", "train.csv is empty");
    refuses("\n \n\r\n", "train.csv is empty");
    refuses("\xef\xbb\xbf", "train.csv is empty");
    refuses("a,b\n", "train.csv has a header but no rows");
    refuses("\na,b\n\n", "train.csv has a header but no rows");
    fen_options o = fen_options_default();
    check("\xff\xfe"
          "a\0,\0",
          6, o, FEN_BAD_DATA, "train.csv is UTF-16 text; save it as UTF-8");
    check("a,b\n1,2\0\n", 9, o, FEN_BAD_DATA, "train.csv looks like a binary file, not like text");
    check("\x7f"
          "ELF\x01\x02\x03\x04",
          8, o, FEN_BAD_DATA, "train.csv looks like a binary file, not like text");
}

/* A zero byte, or an error, far behind the sample. */
static void test_late_errors(void **state)
{
    (void)state;
    enum { ROWS = 3000 };
    fen_options o = fen_options_default();
    char *text = malloc(100 + 40 * ROWS), *p = text;
    p += sprintf(p, "t,n\n");
    for (int i = 0; i < ROWS; i++) p += sprintf(p, "a%d,%25d\n", i % 7, i);
    int64_t size = p - text;
    text[size - 2] = 'x'; /* in the last row */
    for (int64_t block = 1; block < 1 << 23; block = block * 16) {
        fen_status status;
        char *seen = read_as(text, size, &o, block, &status);
        assert_int_equal(status, FEN_BAD_DATA);
        assert_non_null(strstr(seen, "train.csv:3001: column 2 (\"n\") is \"299x\""));
        free(seen);
    }
    char *cell = strstr(text, "\na3,") + 1;
    for (int i = 0; i < 200; i++) cell = strstr(cell + 1, "\na3,") + 1;
    *cell = 'x'; /* a further error in front of it, in a row of its own piece */
    char *comma = strchr(cell, ',');
    *comma = ' ';
    for (o.threads = 1; o.threads < 4; o.threads++) {
        fen_status status;
        char *seen = read_as(text, size, &o, 1 << 14, &status);
        assert_int_equal(status, FEN_BAD_DATA);
        assert_string_equal(seen, "train.csv:1405: 1 cell, expected 2 like the header");
        free(seen);
    }
    free(text);
}

/* ---- large shapes ---------------------------------------------------------------------------- */
static void test_wide_row(void **state)
{
    (void)state;
    int cols = RUNNING_ON_VALGRIND ? 10000 : 1000000;
    char *text = malloc(16 * (size_t)cols), *p = text, name[16];
    for (int j = 0; j < cols; j++) p += sprintf(p, "%d,", j % 1000);
    p[-1] = '\n';
    for (int j = 0; j < cols; j++) p += sprintf(p, "%d,", j % 999);
    p[-1] = '\n';
    fen_options o = fen_options_default();
    outcome got = read_bytes(text, p - text, &o, cols);
    assert_int_equal(got.status, FEN_OK);
    assert_int_equal(got.table->rows, 2);
    assert_int_equal(got.table->cols, cols);
    assert_true(fenp_table_cell(got.table, 1, cols - 1) == (cols - 1) % 999);
    sprintf(name, "x%d", cols);
    assert_string_equal(got.table->column[cols - 1].name, name);
    fen_table_free(got.table);
    free(text);
}

static void test_long_cell(void **state)
{
    (void)state;
    size_t length = RUNNING_ON_VALGRIND ? 100000 : 9000000; /* the latter beyond the sample */
    char *text = malloc(length + 100), message[80];
    size_t size = (size_t)sprintf(text, "t,n\nx,1\n\"");
    memset(text + size, '\n', length);
    size += length;
    size += (size_t)sprintf(text + size, "\",2\ny,3\nz,4z\n");
    fen_options o = fen_options_default();
    outcome got = read_bytes(text, (int64_t)size, &o, 1 << 12);
    assert_int_equal(got.status, FEN_BAD_DATA);
    sprintf(message, "train.csv:%d: column 2 (\"n\") is \"4z\"", (int)length + 5);
    assert_non_null(strstr(got.err.message, message));
    text[size - 2] = ' ';
    got = read_bytes(text, (int64_t)size, &o, 1 << 12);
    assert_int_equal(got.status, FEN_OK);
    assert_int_equal(got.table->rows, 4);
    assert_int_equal(strlen(got.table->column[0].levels[1]), length);
    assert_int_equal(got.first_line, 0); /* newlines in a cell: lines are not rows */
    fen_table_free(got.table);
    free(text);
}

/* ---- blocks do not matter ---------------------------------------------------------------- */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    return z ^ z >> 27;
}

static void test_any_text(void **state)
{
    (void)state;
    static const char *const bits[] = { "1",  "2.5",  ",",        ",",    "\n",    "\n",
                                        "\"", "\"\"", " ",        "\r\n", "a",     "-3",
                                        ";",  "\t",   "\"x\ny\"", ",7",   "\n1,2", "NA" };
    uint64_t seed = 3;
    int good = 0, count = RUNNING_ON_VALGRIND ? 50 : 4000;
    for (int i = 0; i < count; i++) {
        char text[400] = "a,b\n1,2\n3,4\n";
        int pieces = (int)(next_random(&seed) % 25);
        for (int k = 0; k < pieces; k++)
            strcat(text, bits[next_random(&seed) % (sizeof bits / sizeof bits[0])]);
        fen_options o = fen_options_default();
        fen_status status;
        o.threads = 1;
        char *whole = read_as(text, (int64_t)strlen(text), &o, 1 << 22, &status);
        good += status == FEN_OK;
        check(text, (int64_t)strlen(text), o, status, whole);
        free(whole);
    }
    assert_true(good > count / 40 && good < count - count / 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_separators),
        cmocka_unit_test(test_final_separators),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_text_columns),
        cmocka_unit_test(test_bad_cells),
        cmocka_unit_test(test_mixed_decimals),
        cmocka_unit_test(test_bad_rows),
        cmocka_unit_test(test_bad_quotes),
        cmocka_unit_test(test_no_data),
        cmocka_unit_test(test_late_errors),
        cmocka_unit_test(test_wide_row),
        cmocka_unit_test(test_long_cell),
        cmocka_unit_test(test_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
