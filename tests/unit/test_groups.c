/* test_groups.c -- partitions of coefficients and their weights, and every way to get them wrong */
#include <unistd.h>
#include "support/text_table.h"
#include "data/design.h"
#include "data/fields.h"

/* 8 features: height, width, width is missing, colour = b / r / other, top_a, top_b; year is
 * constant and has none. */
static const char *const ROWS = "height,width,colour*,year,top_a,top_b,y\n"
                                "1,2,r,7,1,5,1\n"
                                "2,,b,7,2,3,2\n"
                                "4,1,b,7,0,1,3\n"
                                "3,5,r,7,1,2,4\n";
enum { FEATURES = 8 };

static char path[1024];

/* Puts text into the file that path names. */
static void write_file(const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static char file_penalty[sizeof path + 8];

static const char *from_file(const char *text)
{
    write_file(text);
    snprintf(file_penalty, sizeof file_penalty, "group:%s", path);
    return file_penalty;
}

static fen_options penalised(const char *penalty, const char *weights)
{
    fen_options o = options();
    o.penalty = penalty;
    o.feature_weights = weights;
    return o;
}

static fenp_groups make(const fenp_prep *prep, const char *penalty, const char *weights,
                        int64_t copies)
{
    const fen_options o = penalised(penalty, weights);
    fenp_groups g;
    fen_error err;
    if (fenp_groups_make(prep, &o, copies, &g, &err) != FEN_OK) fail_msg("%s", err.message);
    return g;
}

static void wrong(const fenp_prep *prep, const char *penalty, const char *weights,
                  fen_status status, const char *a, const char *b)
{
    const fen_options o = penalised(penalty, weights);
    fenp_groups g = { .count = -7 };
    fen_error err = { FEN_OK, "" };
    const fen_status got = fenp_groups_make(prep, &o, 1, &g, &err);
    if (got != status || !strstr(err.message, a) || !strstr(err.message, b))
        fail_msg("expected %d with \"%s\" and \"%s\", got %d: %s", (int)status, a, b, (int)got,
                 err.message);
    assert_int_equal(g.count, -7); /* nothing was handed out */
}

/* Group g has this name, weight and members (ended by -1). */
static void is_group(const fenp_groups *groups, int64_t g, const char *name, double weight,
                     const int64_t *members)
{
    assert_string_equal(groups->name[g], name);
    near(groups->weight[g], weight);
    int64_t k = groups->start[g];
    for (; *members >= 0; members++, k++) {
        assert_true(k < groups->start[g + 1]);
        assert_int_equal(groups->member[k], *members);
    }
    assert_int_equal(k, groups->start[g + 1]);
}
#define MEMBERS(...) ((const int64_t[]){ __VA_ARGS__, -1 })

/* ---- partitions --------------------------------------------------------------------------- */

static void each_by_itself(void **state)
{
    (void)state;
    learned l = learn(ROWS);
    assert_int_equal(l.prep->features, FEATURES);
    static const char *const penalties[] = { "l1", "elastic:0.5", "none" };
    for (int k = 0; k < 3; k++) {
        fenp_groups g = make(l.prep, penalties[k], "", 1);
        assert_int_equal(g.count, FEATURES);
        assert_true(!g.start && !g.member && !g.weight && !g.name);
        fenp_groups_free(&g);
    }
    fenp_groups g = make(l.prep, "l1", "width=3, colour = r =0,year=9", 1);
    static const double expected[FEATURES] = { 1, 3, 3, 1, 0, 1, 1, 1 };
    for (int j = 0; j < FEATURES; j++) assert_true(g.weight[j] == expected[j]);
    fenp_groups_free(&g);
    forget(&l);
}

static void by_column(void **state)
{
    (void)state;
    learned l = learn(ROWS);
    static const char *const same[] = { "group", "group:auto" };
    for (int k = 0; k < 2; k++) {
        fenp_groups g = make(l.prep, same[k], "height=2,colour=0.5", 1);
        assert_int_equal(g.count, 5); /* year is not there */
        is_group(&g, 0, "height", 2.0, MEMBERS(0));
        is_group(&g, 1, "width", sqrt(2.0), MEMBERS(1, 2));
        is_group(&g, 2, "colour", 0.5 * sqrt(2.0), MEMBERS(3, 4, 5)); /* no row is "other" */
        is_group(&g, 3, "top_a", 1.0, MEMBERS(6));
        is_group(&g, 4, "top_b", 1.0, MEMBERS(7));
        fenp_groups_free(&g);
        assert_int_equal(g.count, 0);
    }
    forget(&l);
}

static void by_prefix(void **state)
{
    (void)state;
    learned l = learn(ROWS);
    fenp_groups g = make(l.prep, "group:prefix:_", "", 1);
    assert_int_equal(g.count, 4);
    is_group(&g, 2, "colour", sqrt(2.0), MEMBERS(3, 4, 5));
    is_group(&g, 3, "top", sqrt(2.0), MEMBERS(6, 7));
    fenp_groups_free(&g);
    forget(&l);
}

static void by_file(void **state)
{
    (void)state;
    learned l = learn(ROWS);
    fenp_groups g = make(l.prep,
                         from_file("column,group\nwidth,\"shape, size\"\ncolour,look\nyear,gone\n"
                                   "# a remark\n\nheight,\"shape, size\"\ntop_a, t \r\ntop_b,t"),
                         "", 1);
    assert_int_equal(g.count, 3);
    is_group(&g, 0, "shape, size", sqrt(3.0), MEMBERS(0, 1, 2));
    is_group(&g, 1, "look", sqrt(2.0), MEMBERS(3, 4, 5));
    is_group(&g, 2, "t", sqrt(2.0), MEMBERS(6, 7));
    fenp_groups_free(&g);
    /* features by their own names, weights, factors upon them; weight 0 is allowed */
    g = make(l.prep,
             from_file("\xef\xbb\xbf"
                       "column,group,weight\nheight,a,2\nwidth,a,2\ncolour = r,b,1/2\n"
                       "colour = b,c,0\n\"colour = other\",b,0.5\ntop_a,c,0\ntop_b,c,0\n"),
             "height=3,width=3", 1);
    assert_int_equal(g.count, 3);
    is_group(&g, 0, "a", 6.0, MEMBERS(0, 1, 2));
    is_group(&g, 1, "c", 0.0, MEMBERS(3, 6, 7));
    is_group(&g, 2, "b", 0.5, MEMBERS(4, 5));
    fenp_groups_free(&g);
    forget(&l);
}

/* A level "other" that no row has does not count, needs no line and has no factor to agree. */
static void levels_that_no_row_has(void **state)
{
    (void)state;
    learned l = learn(ROWS);
    static const char *const apart = "column,group\nheight,a\nwidth,a\ncolour = b,b\n"
                                     "colour = r,r\ntop_a,a\ntop_b,a\n";
    static const char *const weighted = "column,group,weight\nheight,a,1\nwidth,a,1\n"
                                        "colour = r,r,3\ncolour = b,b,0\ntop_a,a,1\ntop_b,a,1\n";
    static const char *const alone = "column,group\nheight,a\nwidth,a\ncolour = b,a\n"
                                     "colour = r,a\ncolour = other,o\ntop_a,a\ntop_b,a\n";
    fenp_groups g = make(l.prep, from_file(apart), "colour = b=5", 1);
    assert_int_equal(g.count, 3);
    is_group(&g, 1, "b", 5.0, MEMBERS(3, 5));
    is_group(&g, 2, "r", 1.0, MEMBERS(4));
    fenp_groups_free(&g);
    g = make(l.prep, from_file(weighted), "", 1);
    is_group(&g, 1, "b", 0.0, MEMBERS(3, 5));
    is_group(&g, 2, "r", 3.0, MEMBERS(4));
    fenp_groups_free(&g);
    g = make(l.prep, from_file(alone), "", 1);
    is_group(&g, 0, "a", sqrt(7.0), MEMBERS(0, 1, 2, 3, 4, 6, 7));
    is_group(&g, 1, "o", 1.0, MEMBERS(5));
    fenp_groups_free(&g);
    forget(&l);
}

/* Gaps in a text are such rows, and so are levels beyond the first fifty. */
static void levels_that_some_row_has(void **state)
{
    (void)state;
    learned l = learn("height,colour*,y\n1,r,1\n2,b,2\n4,b,3\n3,,4\n");
    fenp_groups g = make(l.prep, "group", "", 1);
    is_group(&g, 1, "colour", sqrt(3.0), MEMBERS(1, 2, 3));
    fenp_groups_free(&g);
    wrong(l.prep, from_file("column,group\nheight,a\ncolour = r,b\ncolour = b,b\n"), "",
          FEN_BAD_DATA, "\"colour = other\" is in no group", "add a line");
    forget(&l);
    for (int levels = 50; levels <= 51; levels++) {
        char text[1024] = "colour*,y\n";
        for (int k = 0; k < levels; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "c%d,%d\n", k, k);
        l = learn(text);
        g = make(l.prep, "group", "", 1);
        assert_int_equal(g.start[1], 51);
        near(g.weight[0], sqrt((double)levels));
        fenp_groups_free(&g);
        forget(&l);
    }
}

static void across_targets(void **state)
{
    (void)state;
    learned l = learn(ROWS);
    fenp_groups g = make(l.prep, "group:targets", "top_b=2", 3);
    assert_int_equal(g.count, FEATURES);
    for (int64_t j = 0; j < FEATURES; j++) {
        assert_int_equal(g.start[j + 1] - g.start[j], 3);
        for (int64_t t = 0; t < 3; t++)
            assert_int_equal(g.member[g.start[j] + t], t * FEATURES + j);
        near(g.weight[j], j == 7 ? 2.0 : 1.0);
    }
    fenp_groups_free(&g);
    forget(&l);
}

static void weights_of_a_file(void **state)
{
    (void)state;
    learned l = learn(ROWS);
    static const char *const files[] = {
        "height,2\nwidth,0\n",
        "name,weight\nheight,2\nwidth,0",
        "height=2\r\n\r\nwidth = 0\r\n",
        "# which of them matter\n\"height\",2\n \"width\" , 0\n",
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        write_file(files[k]);
        fenp_groups g = make(l.prep, "elastic:0.1", path, 1);
        assert_true(g.weight[0] == 2.0 && g.weight[1] == 0.0 && g.weight[2] == 0.0);
        for (int j = 3; j < FEATURES; j++) assert_true(g.weight[j] == 1.0);
        fenp_groups_free(&g);
    }
    forget(&l);
}

/* ---- mistakes ----------------------------------------------------------------------------- */

static void wrong_files(void **state)
{
    (void)state;
    learned l = learn(ROWS);
    const struct {
        const char *text, *a, *b;
    } files[] = {
        { "", "header", path },
        { "col,grp\nheight,a\n", "header", "column,group" },
        { "column,group,size\nheight,a,1\n", "header", "column,group,weight" },
        { "column,group\nheight,a\nheight,b\n", ":3:", "two groups, \"a\" and \"b\"" },
        { "column,group\ncolour,a\ncolour = r,b\n", "\"colour = r\" is in two groups", "overlap" },
        { "column,group\nheight,a\nheight,a\n", ":3:", "in group \"a\" already" },
        { "column,group\nheight,a\n", "in no group", "add a line" },
        { "column,group\nheight,a\nwidth,a\ncolour = r,a\ncolour = other,a\ntop_a,a\ntop_b,a\n",
          "\"colour = b\" is in no group", "" },
        { "column,group\nheigth,a\n", ":2: there is no input column \"heigth\"",
          "did you mean \"height\"?" },
        { "column,group\nqqqqqqqqqqqq,a\n", "no input column",
          "the inputs are \"height\", \"width\", \"colour\"" },
        { "column,group\ny,a\n", "no input column \"y\"", "" },
        { "column,group\nheight\n", ":2:", "column,group" },
        { "column,group\nheight,\n", ":2:", "column,group" },
        { "column,group\nheight,a,1\n", ":2:", "quote names" },
        { "column,group,weight\nheight,a\n", ":2:", "column,group,weight" },
        { "column,group,weight\nheight,a,-1\n", "must be a number >= 0", "\"-1\"" },
        { "column,group,weight\nheight,a,nan\n", "must be a number >= 0", "\"nan\"" },
        { "column,group,weight\nheight,a,1\nwidth,a,2\n",
          "\"a\" has the weight 2 here and 1 before", "the same" },
        { "column,group,weight\nheight,a,0\nwidth,a,0\ncolour,b,0\ntop_a,b,0\ntop_b,b,0\n",
          "nothing is penalised", "--penalty none" },
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        wrong(l.prep, from_file(files[k].text), "", FEN_BAD_DATA, files[k].a, files[k].b);
    wrong(l.prep, "group:no such file", "", FEN_BAD_CALL, "--penalty group:no such file", "FILE");
    wrong(l.prep, "group:no/file.csv", "", FEN_IO, "--penalty group:no/file.csv", "group:FILE");
    forget(&l);
}

static void wrong_weights(void **state)
{
    (void)state;
    learned l = learn(ROWS);
    const struct {
        const char *penalty, *weights, *a, *b;
    } all[] = {
        { "l1", "height=-1", "\"height\" must be a number >= 0", "\"-1\"" },
        { "l1", "height=inf", "must be a number >= 0", "" },
        { "l1", "height=", "must be a number >= 0", "" },
        { "l1", "height=1,width", "\"width\" is not COLUMN=WEIGHT", "" },
        { "l1", "hight=1", "no input column \"hight\"", "\"height\"?" },
        { "l1", "height=1,height=2", "\"height\" has a weight already", "" },
        { "l1", "colour=1,colour = r=2", "\"colour = r\" has a weight already", "" },
        { "l1", "height=0,width=0,colour=0,top_a=0,top_b=0", "nothing is penalised",
          "--penalty none" },
        { "group", "height=0,width=0,colour=0,top_a=0,top_b=0", "nothing is penalised", "none" },
        { "group", "colour = r=2", "group \"colour\" have different weights", "has one" },
        { "group:prefix:_", "top_a=2", "group \"top\" have different weights", "" },
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        wrong(l.prep, all[k].penalty, all[k].weights, FEN_BAD_CALL, all[k].a, all[k].b);
    wrong(l.prep, "l1", "no such file", FEN_BAD_CALL, "--feature-weights", "COLUMN=WEIGHT");
    wrong(l.prep, "l1", "no/file.csv", FEN_IO, "--feature-weights no/file.csv", "COLUMN=WEIGHT");
    write_file("height,1\nwidth,2,3\n");
    wrong(l.prep, "l1", path, FEN_BAD_DATA, ":2:", "3 fields");
    write_file("height,1\nname,weight\n");
    wrong(l.prep, "l1", path, FEN_BAD_DATA, ":2:", "no input column \"name\"");
    write_file("\n");
    wrong(l.prep, "l1", path, FEN_BAD_DATA, "no lines NAME,WEIGHT", "");
    forget(&l);
}

/* ---- files of fields ------------------------------------------------------------------------ */

static void fields(void **state)
{
    (void)state;
    fenp_fields in;
    char *f[3];
    write_file("a, b ,\"c,\"\"d\"\"\"\n\n#no\n,\n\"open, end\n  \"x\" y,z\r\nlast");
    assert_int_equal(fenp_fields_open(path, &in, NULL), FEN_OK);
    assert_int_equal(fenp_fields_next(&in, f, 3), 3);
    assert_string_equal(f[0], "a");
    assert_string_equal(f[1], "b");
    assert_string_equal(f[2], "c,\"d\"");
    assert_int_equal(in.line, 1);
    assert_int_equal(fenp_fields_next(&in, f, 3), 2);
    assert_true(in.line == 4 && !f[0][0] && !f[1][0]);
    assert_int_equal(fenp_fields_next(&in, f, 1), 1);
    assert_string_equal(f[0], "open, end");
    assert_int_equal(fenp_fields_next(&in, f, 1), 2); /* more than there was room for */
    assert_string_equal(f[0], "x");
    assert_int_equal(fenp_fields_next(&in, f, 3), 1);
    assert_true(in.line == 7 && strcmp(f[0], "last") == 0);
    assert_int_equal(fenp_fields_next(&in, f, 3), 0);
    fenp_fields_close(&in);
}

static void fields_of_any_length(void **state)
{
    (void)state;
    for (size_t length = 8000; length < 8400; length++) { /* about the size of the buffer */
        fenp_fields in;
        char *f[1], *text = malloc(length + 1);
        memset(text, 'q', length);
        text[length] = '\0';
        write_file(text);
        assert_int_equal(fenp_fields_open(path, &in, NULL), FEN_OK);
        assert_int_equal(fenp_fields_next(&in, f, 1), 1);
        assert_int_equal(strlen(f[0]), length);
        fenp_fields_close(&in);
        free(text);
    }
}

static void fields_are_text(void **state)
{
    (void)state;
    fenp_fields in;
    fen_error err;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs("a,b", file);
    fputc(0, file);
    fclose(file);
    assert_int_equal(fenp_fields_open(path, &in, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "is not a text file"));
}

static int make_path(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/test_groups.XXXXXX", parent ? parent : "/tmp");
    const int file = mkstemp(path);
    return file < 0 || close(file);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_by_itself),
        cmocka_unit_test(by_column),
        cmocka_unit_test(by_prefix),
        cmocka_unit_test(by_file),
        cmocka_unit_test(across_targets),
        cmocka_unit_test(weights_of_a_file),
        cmocka_unit_test(levels_that_no_row_has),
        cmocka_unit_test(levels_that_some_row_has),
        cmocka_unit_test(wrong_files),
        cmocka_unit_test(wrong_weights),
        cmocka_unit_test(fields),
        cmocka_unit_test(fields_of_any_length),
        cmocka_unit_test(fields_are_text),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
