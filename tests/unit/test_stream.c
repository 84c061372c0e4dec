/* test_stream.c -- files: plain, gzipped, damaged; written whole or not at all; formats found,
 * tables written and read back, one format turned into another */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "data/bytes.h"
#include "data/table.h"

/* ---- a folder of our own ------------------------------------------------------------------ */
static char folder[200];

static int make_folder(void **state)
{
    (void)state;
    const char *where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/fenchel-XXXXXX", where ? where : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int count_files(void)
{
    int count = 0;
    DIR *open_folder = opendir(folder);
    for (struct dirent *entry; (entry = readdir(open_folder));) count += entry->d_name[0] != '.';
    closedir(open_folder);
    return count;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *open_folder = opendir(folder);
    for (struct dirent *entry; (entry = readdir(open_folder));) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) remove(path);
    }
    closedir(open_folder);
    return rmdir(folder);
}

/* One of four buffers, in turn. */
static const char *in_folder(const char *name)
{
    static char paths[4][300];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const char *put(const char *name, const void *text, size_t size)
{
    const char *path = in_folder(name);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
    return path;
}

static const char *put_text(const char *name, const char *text)
{
    return put(name, text, strlen(text));
}

static char *contents(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    char *text = calloc(1 << 20, 1);
    *size = fread(text, 1, (1 << 20) - 1, in);
    fclose(in);
    return text;
}

static void holds(const char *path, const char *expected)
{
    size_t size;
    char *text = contents(path, &size);
    assert_string_equal(text, expected);
    free(text);
}

/* gzip of text, in one member or several. */
static size_t gzip(const char *text, size_t size, unsigned char *out, size_t room)
{
    z_stream z = { 0 };
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (uInt)size;
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t used = room - z.avail_out;
    deflateEnd(&z);
    return used;
}

static fen_status read_table(const char *path, fen_table **table, fen_error *err)
{
    fen_options o = fen_options_default();
    return fen_table_read(path, &o, NULL, table, err);
}

static void is_refused(const char *path, fen_status status, const char *part)
{
    fen_error err = { FEN_OK, "" };
    fen_table *table = NULL;
    fen_status got = read_table(path, &table, &err);
    if (got != status || !strstr(err.message, part))
        fail_msg("expected %d with \"%s\", got %d: %s", (int)status, part, (int)got, err.message);
    assert_null(table);
}

/* ---- reading ----------------------------------------------------------------------------- */
static void test_gzip(void **state)
{
    (void)state;
    enum { ROWS = 1600000 }; /* several blocks: what is damaged is met while reading ahead */
    char *text = malloc(20 * ROWS), *p = text + sprintf(text, "a,b\n");
    for (int i = 0; i < ROWS; i++) p += sprintf(p, "%d,%d\n", i, i % 13);
    size_t size = (size_t)(p - text), half = size / 2, room = size + 1000;
    unsigned char *packed = malloc(room);
    size_t used = gzip(text, half, packed, room); /* two members, as cat makes */
    used += gzip(text + half, size - half, packed + used, room - used);
    const char *path = put("a.csv.gz", packed, used);
    fen_table *t = NULL;
    assert_int_equal(read_table(path, &t, NULL), FEN_OK);
    assert_int_equal(t->rows, ROWS);
    for (int i = 0; i < ROWS; i++)
        if (fenp_table_cell(t, i, 0) != i || fenp_table_cell(t, i, 1) != i % 13)
            fail_msg("row %d", i);
    fen_table_free(t);
    put("a.csv.gz", packed, used / 9);
    is_refused(path, FEN_BAD_DATA, "is a damaged gzip file: it ends too early");
    put("a.csv.gz", packed, used / 4 * 3);
    is_refused(path, FEN_BAD_DATA, "is a damaged gzip file: it ends too early");
    put("a.csv.gz", packed, used - 1);
    is_refused(path, FEN_BAD_DATA, "is a damaged gzip file: it ends too early");
    packed[used - 6] ^= 1; /* the check sum */
    put("a.csv.gz", packed, used);
    is_refused(path, FEN_BAD_DATA, "is a damaged gzip file: incorrect data check");
    packed[used / 4] ^= 0x55;
    put("a.csv.gz", packed, used);
    is_refused(path, FEN_BAD_DATA, "is a damaged gzip file");
    put("a.csv.gz", packed, 2);
    is_refused(path, FEN_BAD_DATA, "is a damaged gzip file");
    free(packed);
    free(text);
}

/* Reads of any size, which threads share or not, give the bytes in their order, up to the end. */
static void test_large(void **state)
{
    (void)state;
    const int64_t size = 3 * 1000 * 1000 + 1, asked[] = { 4000000, 1 << 20, 524288, 700001, 9999 };
    unsigned char *all = malloc((size_t)size), *got = malloc(4000000);
    for (int64_t i = 0; i < size; i++) all[i] = (unsigned char)(i * 2654435761u >> 13);
    const char *path = put("large", all, (size_t)size);
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        fen_bytes *in = NULL;
        int64_t have = 0, some = 1;
        assert_int_equal(fenp_bytes_open(path, &in, NULL), FEN_OK);
        for (; some > 0; have += some) {
            assert_int_equal(fenp_bytes_read(in, (char *)got, asked[k], &some, NULL), FEN_OK);
            assert_in_range(have + some, have, size);
            assert_memory_equal(got, all + have, (size_t)some);
        }
        assert_int_equal(have, size);
        assert_float_equal(fenp_bytes_fraction(in), 1.0, 0.0);
        fenp_bytes_close(in);
    }
    free(all), free(got);
}

static void test_unreadable(void **state)
{
    (void)state;
    is_refused(in_folder("nothing.csv"), FEN_IO, "nothing.csv cannot be opened: No such file");
    is_refused(folder, FEN_IO, "cannot be read: Is a directory");
    is_refused(put_text("empty.csv", ""), FEN_BAD_DATA, "empty.csv is empty");
    const char *path = put_text("secret.csv", "a\n1\n");
    assert_int_equal(chmod(path, 0), 0);
    if (geteuid() == 0)
        print_message("SKIPPED: root may read everything\n");
    else
        is_refused(path, FEN_IO, "secret.csv cannot be opened: Permission denied");
}

static int stop_at_half(void *user, const char *stage, double fraction)
{
    double *last = user;
    assert_string_equal(stage, "reading");
    assert_true(fraction >= *last && fraction <= 1.0);
    *last = fraction;
    return fraction > 0.5;
}

static void test_progress(void **state)
{
    (void)state;
    enum { ROWS = 2000000 };
    char *text = malloc(24 * ROWS), *p = text + sprintf(text, "a,b\n");
    for (int i = 0; i < ROWS; i++) p += sprintf(p, "%d,%d.123456\n", i, i % 13);
    const char *path = put("long.csv", text, (size_t)(p - text));
    free(text);
    double last = 0.0;
    fen_host host = { .progress = stop_at_half, .user = &last };
    fen_options o = fen_options_default();
    fen_table *t = NULL;
    fen_error err;
    assert_int_equal(fen_table_read(path, &o, &host, &t, &err), FEN_STOPPED);
    assert_true(last > 0.5 && last < 1.0);
    assert_null(t);
    o.memory_limit_bytes = 24000000; /* 32 MB of cells */
    assert_int_equal(fen_table_read(path, &o, NULL, &t, &err), FEN_MEMORY);
    assert_non_null(strstr(err.message, "--memory"));
    o.memory_limit_bytes = 0;
    fen_stream *stream;
    fen_table *block;
    int64_t rows = 0;
    int blocks = 0;
    assert_int_equal(fen_stream_open(path, &o, &stream, &err), FEN_OK);
    while (fen_stream_next(stream, &block, &err) == FEN_OK && block) {
        assert_int_equal(block->first_line, rows + 2);
        for (int64_t i = 0; i < block->rows; i++)
            if (fenp_table_cell(block, i, 0) != (double)(rows + i)) fail_msg("row %d", (int)i);
        rows += fen_table_rows(block);
        blocks++;
        fen_table_free(block);
    }
    assert_int_equal(rows, ROWS);
    assert_true(blocks > 1);
    assert_true(fen_stream_fraction(stream) == 1.0);
    fen_stream_close(stream);
    fen_stream_close(NULL);
}

static void test_formats(void **state)
{
    (void)state;
    fen_table *t = NULL;
    fen_error err;
    assert_int_equal(read_table(put_text("a.txt", "1 1:2 3:4\n-1 2:5\n"), &t, &err), FEN_OK);
    assert_null(t->cells); /* svmlight by its looks */
    fen_table_free(t);
    assert_int_equal(read_table(put_text("a.svm", "1\n-1\n"), &t, &err), FEN_OK);
    assert_null(t->cells); /* by its ending, labels alone */
    fen_table_free(t);
    assert_int_equal(read_table(put_text("a", "1;2\n3;4\n"), &t, &err), FEN_OK);
    assert_int_equal(t->cols, 2);
    fen_table_free(t);
    is_refused(put_text("a.npy", "1,2\n"), FEN_BAD_DATA, "npy");
    is_refused(put("a.bin", "\1\2\0\3", 4), FEN_BAD_DATA, "looks like a binary file");
    fen_options o = fen_options_default();
    o.format = "cvs";
    assert_int_equal(fen_table_read(in_folder("a"), &o, NULL, &t, &err), FEN_BAD_CALL);
    assert_string_equal(err.message, "\"cvs\" is not a file format; did you mean \"csv\"?");
    o.format = "parquet";
    assert_int_equal(fen_table_read(in_folder("a"), &o, NULL, &t, &err), FEN_BAD_CALL);
    assert_string_equal(err.message,
                        "\"parquet\" is not a file format; known are csv, svmlight, npy");
}

/* ---- writing ----------------------------------------------------------------------------- */
static void test_sink(void **state)
{
    (void)state;
    int before = count_files();
    const char *path = put_text("old", "what was here");
    assert_int_equal(chmod(path, 0640), 0);
    fen_sink *sink;
    fen_error err;
    assert_int_equal(fen_sink_open(path, &sink, &err), FEN_OK);
    assert_int_equal(fen_sink_write(sink, "xxxx", 4, &err), FEN_OK);
    holds(path, "what was here");
    fen_sink_abandon(sink);
    holds(path, "what was here");
    assert_int_equal(count_files(), before + 1);

    assert_int_equal(fen_sink_open(path, &sink, &err), FEN_OK);
    assert_int_equal(fen_sink_write(sink, "....new", 7, &err), FEN_OK);
    assert_int_equal(fen_sink_seek(sink, 0, &err), FEN_OK);
    assert_int_equal(fen_sink_write(sink, "all ", 4, &err), FEN_OK);
    assert_int_equal(fen_sink_commit(sink, &err), FEN_OK);
    holds(path, "all new");
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
    assert_int_equal(count_files(), before + 1);
}

static void test_sink_links(void **state)
{
    (void)state;
    const char *path = put_text("target", "old"), *link = in_folder("link");
    assert_int_equal(symlink("target", link), 0);
    fen_sink *sink;
    fen_error err;
    assert_int_equal(fen_sink_open(link, &sink, &err), FEN_OK);
    assert_int_equal(fen_sink_write(sink, "new", 3, &err), FEN_OK);
    assert_int_equal(fen_sink_commit(sink, &err), FEN_OK);
    holds(path, "new");
    struct stat about;
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    const char *dangling = in_folder("dangling");
    assert_int_equal(symlink("made", dangling), 0);
    assert_int_equal(fen_sink_open(dangling, &sink, &err), FEN_OK);
    assert_int_equal(fen_sink_commit(sink, &err), FEN_OK);
    holds(in_folder("made"), "");
    const char *loop = in_folder("loop");
    assert_int_equal(symlink("loop", loop), 0);
    assert_int_equal(fen_sink_open(loop, &sink, &err), FEN_IO);
}

static void test_sink_refused(void **state)
{
    (void)state;
    fen_sink *sink;
    fen_error err;
    int before = count_files();
    assert_int_equal(fen_sink_open(folder, &sink, &err), FEN_IO);
    assert_non_null(strstr(err.message, "cannot be written: Is a directory"));
    assert_int_equal(fen_sink_open(in_folder("no/such/file"), &sink, &err), FEN_IO);
    assert_non_null(strstr(err.message, "cannot be written: No such file or directory"));
    if (access("/dev/full", W_OK) == 0) { /* written through, and the disk is full */
        char *much = calloc(1, 1 << 20);
        assert_int_equal(fen_sink_open("/dev/full", &sink, &err), FEN_OK);
        assert_int_equal(fen_sink_write(sink, much, 1 << 20, &err), FEN_IO);
        assert_non_null(strstr(err.message, "/dev/full cannot be written: No space left"));
        fen_sink_abandon(sink);
        assert_int_equal(fen_sink_open("/dev/full", &sink, &err), FEN_OK);
        assert_int_equal(fen_sink_write(sink, much, 5, &err), FEN_OK);
        assert_int_equal(fen_sink_commit(sink, &err), FEN_IO);
        free(much);
    }
    assert_int_equal(count_files(), before);
}

static void round_trip(const char *text, const char *expected)
{
    fen_table *t = NULL, *back = NULL;
    fen_error err;
    const char *out = in_folder("out.csv");
    assert_int_equal(read_table(put_text("in.csv", text), &t, &err), FEN_OK);
    assert_int_equal(fen_table_write(t, out, NULL, &err), FEN_OK);
    holds(out, expected);
    assert_int_equal(read_table(out, &back, &err), FEN_OK);
    assert_int_equal(back->rows, t->rows);
    assert_int_equal(back->cols, t->cols);
    for (int64_t j = 0; j < t->cols; j++) {
        assert_string_equal(back->column[j].name, t->column[j].name);
        assert_int_equal(back->column[j].text, t->column[j].text);
        for (int64_t i = 0; i < t->rows; i++) {
            double a = fenp_table_cell(t, i, j), b = fenp_table_cell(back, i, j);
            assert_true(a == b || (isnan(a) && isnan(b)));
            if (t->column[j].text && !isnan(a))
                assert_string_equal(t->column[j].levels[(int64_t)a],
                                    back->column[j].levels[(int64_t)b]);
        }
    }
    fen_table_free(t);
    fen_table_free(back);
}

static void test_write(void **state)
{
    (void)state;
    round_trip("a,b\n1,0.1\n,1e300\n", "a,b\n1,0.1\n,1e300\n");
    round_trip("y\n\"\"\n1\n", "y\n\"\"\n1\n");
    round_trip("\"1990\",b\n1,2\n", "\"1990\",b\n1,2\n");
    round_trip("\"a,b\";\"c\"\"d\"\n1;2\n", "\"a,b\",\"c\"\"d\"\n1,2\n");
    round_trip("t,n\n\"x;y\",1\n\"two\nlines\",2\n\" z\",3\nplain text,4\n,5\n",
               "t,n\n\"x;y\",1\n\"two\nlines\",2\n\" z\",3\nplain text,4\n,5\n");
    round_trip("t\nhello world\nbye\n", "t\n\"hello world\"\nbye\n");
    fen_table *t = NULL;
    fen_error err;
    assert_int_equal(read_table(put_text("in.csv", "a\n1\n"), &t, &err), FEN_OK);
    assert_int_equal(fen_table_write(t, in_folder("out.csv.gz"), NULL, &err), FEN_BAD_CALL);
    assert_int_equal(fen_table_write(t, in_folder("out"), "xyz", &err), FEN_BAD_CALL);
    assert_int_equal(fen_table_write(t, in_folder("out.svm"), NULL, &err), FEN_OK);
    holds(in_folder("out.svm"), "1\n");
    fen_table_free(t);
}

/* ---- converting -------------------------------------------------------------------------- */
static void test_convert(void **state)
{
    (void)state;
    fen_options o = fen_options_default();
    fen_error err;
    int64_t rows = 0;
    const char *from = put_text("c.svm", "1 1:2\n-1 3:0.5\n"), *to = in_folder("c.csv");
    assert_int_equal(fen_convert(from, to, NULL, &o, NULL, &rows, &err), FEN_OK);
    assert_int_equal(rows, 2);
    holds(to, "x1,x2,x3,label\n2,0,0,1\n0,0,0.5,-1\n");
    const char *back = in_folder("d.svm");
    assert_int_equal(fen_convert(to, back, NULL, &o, NULL, NULL, &err), FEN_OK);
    holds(back, "1 1:2\n-1 3:0.5\n");
    put_text("c.svm", "1 1:2\nbad\n"); /* what was there stays */
    o.format = "svmlight";
    assert_int_equal(fen_convert(from, to, NULL, &o, NULL, &rows, &err), FEN_BAD_DATA);
    holds(to, "x1,x2,x3,label\n2,0,0,1\n0,0,0.5,-1\n");
    assert_int_equal(rows, 2);
}

/* Columns that turn up after the first block, at both ends. */
static void test_convert_widens(void **state)
{
    (void)state;
    enum { ROWS = 600000 };
    char *text = malloc(20 * ROWS), *p = text;
    for (int i = 0; i < ROWS; i++) p += sprintf(p, "%d 1:2\n", i);
    p += sprintf(p, "7 0:5 2:6\n");
    const char *from = put("w.svm", text, (size_t)(p - text)), *to = in_folder("w.csv");
    free(text);
    fen_options o = fen_options_default();
    fen_error err;
    int64_t rows;
    fen_table *t = NULL;
    if (fen_convert(from, to, NULL, &o, NULL, &rows, &err) != FEN_OK) fail_msg("%s", err.message);
    assert_int_equal(rows, ROWS + 1);
    assert_int_equal(read_table(to, &t, &err), FEN_OK);
    assert_int_equal(t->cols, 4);
    assert_string_equal(t->column[0].name, "x0");
    const double first[] = { 0, 2, 0, 0 }, last[] = { 5, 0, 6, 7 };
    for (int j = 0; j < 4; j++) {
        assert_true(fenp_table_cell(t, 0, j) == first[j]);
        assert_true(fenp_table_cell(t, ROWS, j) == last[j]);
    }
    fen_table_free(t);
    assert_int_equal(read_table(from, &t, &err), FEN_OK);
    assert_int_equal(t->cols, 4);
    assert_true(fenp_table_cell(t, 0, 1) == 2 && fenp_table_cell(t, ROWS, 0) == 5);
    fen_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large),          cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_unreadable),     cmocka_unit_test(test_progress),
        cmocka_unit_test(test_formats),        cmocka_unit_test(test_sink),
        cmocka_unit_test(test_sink_links),     cmocka_unit_test(test_sink_refused),
        cmocka_unit_test(test_write),          cmocka_unit_test(test_convert),
        cmocka_unit_test(test_convert_widens),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
