/* test_npy.c -- reading and writing of NumPy arrays; the bytes are those NumPy 1.24 writes */
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
#include "base/registry.h"
#include "data/bytes.h"
#include "data/table.h"

static const fen_format *format(void) { return fenp_find_format("npy"); }

typedef struct file {
    char at[1024];
    int64_t size;
} file;

/* A file of the given version, header text and items. */
static file make(int version, const char *header, const void *items, int64_t bytes)
{
    file f = { "\x93NUMPY", 6 };
    int64_t length = (int64_t)strlen(header);
    f.at[f.size++] = (char)version;
    f.at[f.size++] = 0;
    for (int b = 0; b < (version == 1 ? 2 : 4); b++) f.at[f.size++] = (char)(length >> (8 * b));
    memcpy(f.at + f.size, header, (size_t)length);
    memcpy(f.at + f.size + length, items, (size_t)bytes);
    f.size += length + bytes;
    return f;
}

static fen_status read_all(const void *at, int64_t size, fen_table **out, fen_error *err)
{
    fen_options o = fen_options_default();
    fen_bytes *in;
    void *state;
    assert_int_equal(fenp_bytes_from_memory("a.npy", at, size, &in, err), FEN_OK);
    fen_status status = format()->open(in, &o, &state, err);
    if (status != FEN_OK) {
        fenp_bytes_close(in);
        return status;
    }
    fen_table *table = fenp_table_new("a.npy"), *block = NULL;
    while ((status = format()->next(state, &block, err)) == FEN_OK && block) {
        assert_int_equal(block->first_line, table->rows + 1);
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

static fen_table *read_file(const file *f)
{
    fen_error err;
    fen_table *t = NULL;
    if (read_all(f->at, f->size, &t, &err) != FEN_OK) fail_msg("%s", err.message);
    return t;
}

static void expect(const file *f, int64_t rows, int64_t cols, const double *cells)
{
    fen_table *t = read_file(f);
    assert_int_equal(t->rows, rows);
    assert_int_equal(t->cols, cols);
    for (int64_t k = 0; k < rows * cols; k++) assert_true(t->cells[k] == cells[k]);
    char name[32];
    snprintf(name, sizeof name, "x%d", (int)cols);
    assert_string_equal(t->column[0].name, "x1");
    assert_string_equal(t->column[cols - 1].name, name);
    fen_table_free(t);
}

static void versions_and_orders(void **state)
{
    (void)state;
    const double c[] = { 1, 2, 3, 4, 5, 6.5 }, f[] = { 1, 4, 2, 5, 3, 6.5 };
    for (int version = 1; version <= 3; version++) {
        file a =
            make(version, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }  \n", c, 48);
        expect(&a, 2, 3, c);
        file b =
            make(version, "{'shape': (2L, 3L), 'fortran_order': True, \"descr\": \"<f8\"}", f, 48);
        expect(&b, 2, 3, c);
    }
    file vector = make(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }\n", c, 48);
    expect(&vector, 6, 1, c);
}

/* The bits of two items of each type, and the numbers they are. */
static void types(void **state)
{
    (void)state;
    static const struct {
        const char *descr, *bytes;
        int64_t size;
        double a, b;
    } type[] = {
        { "<f8", "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\x04\xc0", 16, 1, -2.5 },
        { ">f8", "\x3f\xf0\0\0\0\0\0\0\xc0\x04\0\0\0\0\0\0", 16, 1, -2.5 },
        { "=f4", "\0\0\x80\x3f\0\0\x20\xc0", 8, 1, -2.5 },
        { "<f4", "\0\0\x80\x3f\0\0\x20\xc0", 8, 1, -2.5 },
        { ">f4", "\x3f\x80\0\0\xc0\x20\0\0", 8, 1, -2.5 },
        { "<i8", "\1\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff", 16, 1, -2 },
        { ">i8", "\0\0\0\0\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xfe", 16, 1, -2 },
        { "<u8", "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80", 16, 1, 0x1p63 },
        { "<i4", "\1\0\0\0\xfe\xff\xff\xff", 8, 1, -2 },
        { ">i4", "\0\0\0\1\xff\xff\xff\xfe", 8, 1, -2 },
        { "<u4", "\1\0\0\0\xfe\xff\xff\xff", 8, 1, 4294967294.0 },
        { "<i2", "\1\2\xfe\xff", 4, 513, -2 },
        { ">i2", "\1\2\xff\xfe", 4, 258, -2 },
        { "<u2", "\1\2\xfe\xff", 4, 513, 65534 },
        { "|i1", "\1\xfe", 2, 1, -2 },
        { "|u1", "\1\xfe", 2, 1, 254 },
        { "|b1", "\0\1", 2, 0, 1 },
    };
    for (size_t i = 0; i < sizeof type / sizeof *type; i++)
        for (int fortran = 0; fortran < 2; fortran++) {
            char header[128];
            snprintf(header, sizeof header,
                     "{'descr': '%s', 'fortran_order': %s, 'shape': (1, 2), }", type[i].descr,
                     fortran ? "True" : "False");
            file f = make(1, header, type[i].bytes, type[i].size);
            const double cells[] = { type[i].a, type[i].b };
            expect(&f, 1, 2, cells);
        }
}

static void gaps_and_infinities(void **state)
{
    (void)state;
    double c[] = { 1, NAN, 3, 4 };
    const char *header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
    file f = make(1, header, c, 32);
    fen_table *t = read_file(&f);
    assert_true(isnan(t->cells[1]) && t->cells[3] == 4.0);
    fen_table_free(t);
    c[2] = -INFINITY;
    f = make(1, header, c, 32);
    fen_error err;
    assert_int_equal(read_all(f.at, f.size, &t, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "a.npy: row 2, column 1 is infinite"));
}

static void refused(const file *f, const char *why)
{
    fen_error err = { FEN_OK, "" };
    fen_table *t = NULL;
    if (read_all(f->at, f->size, &t, &err) != FEN_BAD_DATA || !strstr(err.message, "a.npy") ||
        !strstr(err.message, why))
        fail_msg("expected \"%s\", got \"%s\"", why, err.message);
}

static void bad_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header, *why;
    } bad[] = {
        { "", "damaged" },
        { "{", "damaged" },
        { "{}", "damaged" },
        { "{'descr': '<f8', 'fortran_order': False}", "damaged" },
        { "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "damaged" },
        { "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}", "True or False" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3)}", "3 dimensions" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "0 dimensions" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4)}", "empty" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 0)}", "empty" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 4)}", "a size" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
          "more than" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", "a size" },
        { "{'descr': '<f2', 'fortran_order': False, 'shape': (1,)}", "astype" },
        { "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "'|O'" },
        { "{'descr': '<U8', 'fortran_order': False, 'shape': (1,)}", "'<U8'" },
        { "{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}", "'<c16'" },
        { "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "records" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (1 1)}", "a comma" },
        { "{'descr': '<f8' 'fortran_order': False, 'shape': (1,)}", "a comma" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        file f = make(1, bad[i].header, "\0\0\0\0\0\0\0", 8);
        refused(&f, bad[i].why);
    }
    file f =
        make(4, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "\0\0\0\0\0\0\0", 8);
    refused(&f, "version 4.0");
    f = make(2, "", "", 0);
    memset(f.at + 8, 0xff, 4); /* a header of 4 GB */
    refused(&f, "4294967295");
}

/* Every shorter file is refused, as is a longer one; a huge shape costs nothing. */
static void lengths(void **state)
{
    (void)state;
    const double c[] = { 1, 2, 3, 4, 5, 6 };
    for (int fortran = 0; fortran < 2; fortran++) {
        char header[128];
        snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': %s, 'shape': (3, 2), }",
                 fortran ? "True" : "False");
        file f = make(1, header, c, 48);
        int64_t whole = f.size;
        for (f.size = 0; f.size < whole; f.size++) refused(&f, "");
        f.at[whole] = 0;
        f.size = whole + 1;
        refused(&f, "goes on after the 3 x 2");
        snprintf(header, sizeof header,
                 "{'descr': '<f8', 'fortran_order': %s, 'shape': (1000000000, 1000000), }",
                 fortran ? "True" : "False");
        f = make(1, header, c, 48);
        refused(&f, "cut short");
    }
}

/* ---- writing ---------------------------------------------------------------------------- */
static void scratch(char *out, size_t size)
{
    const char *folder = getenv("TMPDIR");
    snprintf(out, size, "%s/fenchel-test-%d.npy", folder ? folder : ".", (int)getpid());
}

/* Two blocks: the header must be patched. */
static fen_status write_blocks(const fen_table *a, const fen_table *b, const char *path,
                               fen_error *err)
{
    fen_sink *sink;
    void *state = NULL;
    assert_int_equal(fen_sink_open(path, &sink, err), FEN_OK);
    fen_status status = format()->begin(sink, a, &state, err);
    if (status == FEN_OK) status = format()->rows(state, a, err);
    if (status == FEN_OK && b) status = format()->rows(state, b, err);
    fen_status ended = format()->end(state, status == FEN_OK ? err : NULL);
    if (status == FEN_OK) status = ended;
    if (status == FEN_OK) return fen_sink_commit(sink, err);
    fen_sink_abandon(sink);
    return status;
}

static fen_table *small(int64_t cols)
{
    static const double x[] = { 1, 0.1, NAN, 4, -5e-300, 6 }, y[] = { 7, 8 };
    fen_table *t;
    fen_error err;
    assert_int_equal(
        fen_table_copy((fen_view){ x, 2, cols, 3 }, (fen_view){ y, 2, 1, 1 }, NULL, &t, &err),
        FEN_OK);
    return t;
}

static void writes_what_it_reads(void **state)
{
    (void)state;
    char path[512];
    scratch(path, sizeof path);
    fen_table *t = small(3), *back = NULL;
    fen_error err;
    for (int twice = 0; twice < 2; twice++) {
        file f = { "", 0 };
        assert_int_equal(write_blocks(t, twice ? t : NULL, path, &err), FEN_OK);
        FILE *in = fopen(path, "rb");
        assert_non_null(in);
        f.size = (int64_t)fread(f.at, 1, sizeof f.at, in);
        fclose(in);
        assert_int_equal(f.size, 128 + (twice + 1) * 64);
        assert_int_equal(format()->sniff(f.at, f.size), 100);
        assert_int_equal(read_all(f.at, f.size, &back, &err), FEN_OK);
        assert_int_equal(back->rows, 2 * (twice + 1));
        assert_int_equal(back->cols, 4);
        for (int64_t k = 0; k < back->rows * 4; k++)
            assert_memory_equal(&back->cells[k], &t->cells[k % 8], sizeof(double));
        fen_table_free(back);
    }
    remove(path);
    fen_table_free(t);
}

static void writes_sparse(void **state)
{
    (void)state;
    fen_options o = fen_options_default();
    fen_bytes *in;
    void *reader;
    fen_table *t;
    fen_error err;
    const fen_format *svmlight = fenp_find_format("svmlight");
    assert_int_equal(fenp_bytes_from_memory("s", "1 2:5\n2 1:3\n", 12, &in, &err), FEN_OK);
    assert_int_equal(svmlight->open(in, &o, &reader, &err), FEN_OK);
    assert_int_equal(svmlight->next(reader, &t, &err), FEN_OK);
    svmlight->close(reader);
    fenp_bytes_close(in);
    char path[512];
    scratch(path, sizeof path);
    assert_int_equal(write_blocks(t, NULL, path, &err), FEN_OK);
    file f = { "", 0 };
    FILE *out = fopen(path, "rb");
    assert_non_null(out);
    f.size = (int64_t)fread(f.at, 1, sizeof f.at, out);
    fclose(out);
    remove(path);
    const double cells[] = { 0, 5, 1, 3, 0, 2 };
    expect(&f, 2, 3, cells);
    fen_table_free(t);
}

static void refuses_to_write(void **state)
{
    (void)state;
    char path[512];
    scratch(path, sizeof path);
    fen_error err;
    fen_table *wide = small(3), *narrow = small(2);
    assert_int_equal(write_blocks(wide, narrow, path, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "from 4 to 3 columns"));
    wide->column[1].text = 1;
    assert_int_equal(write_blocks(wide, NULL, path, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "\"x2\""));
    assert_non_null(strstr(err.message, "CSV"));
    assert_int_not_equal(access(path, F_OK), 0);
    fen_table_free(wide);
    fen_table_free(narrow);
}

/* More rows than a block holds, in both orders. */
static void many_blocks(void **state)
{
    (void)state;
    const int64_t rows = 300000, cols = 4, bytes = 2 * rows * cols;
    for (int fortran = 0; fortran < 2; fortran++) {
        char header[128];
        snprintf(header, sizeof header,
                 "{'descr': '<i2', 'fortran_order': %s, 'shape': (300000, 4), }",
                 fortran ? "True" : "False");
        file f = make(1, header, "", 0);
        char *all = malloc((size_t)(f.size + bytes));
        memcpy(all, f.at, (size_t)f.size);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++) {
                int64_t item = fortran ? j * rows + i : i * cols + j, value = (3 * i + j) % 30000;
                all[f.size + 2 * item] = (char)value;
                all[f.size + 2 * item + 1] = (char)(value >> 8);
            }
        fen_table *t = NULL;
        fen_error err;
        assert_int_equal(read_all(all, f.size + bytes, &t, &err), FEN_OK);
        assert_true(t->rows == rows && t->cols == cols);
        for (int64_t k = 0; k < rows * cols; k++)
            assert_true(t->cells[k] == (double)((3 * (k / cols) + k % cols) % 30000));
        fen_table_free(t);
        free(all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_orders),
        cmocka_unit_test(types),
        cmocka_unit_test(gaps_and_infinities),
        cmocka_unit_test(bad_headers),
        cmocka_unit_test(lengths),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(writes_sparse),
        cmocka_unit_test(refuses_to_write),
        cmocka_unit_test(many_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
