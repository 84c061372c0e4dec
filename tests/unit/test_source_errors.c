/* test_source_errors.c -- files read block by block: errors in late blocks, second passes that
 * are not to be had, and preparations that are held against each other */
#include "support/source_files.h"

/* ---- errors ------------------------------------------------------------------------------ */
static void source_refused(const char *name, const fen_options *o, fen_status status, const char *a,
                           const char *b)
{
    fenp_source *source = open_source(name, o);
    fenp_prep *prep = NULL;
    fenp_summary summary;
    fenp_sample *rows = NULL;
    fen_error err = { FEN_OK, "" };
    fen_status got = fenp_prep_learn_source(source, o, 10, &prep, &summary, &rows, NULL, &err);
    fenp_source_close(source);
    if (got != status || !strstr(err.message, a) || !strstr(err.message, b))
        fail_msg("expected %d with \"%s\" and \"%s\", got %d: %s", (int)status, a, b, (int)got,
                 err.message);
    assert_null(prep);
    assert_null(rows);
}

/* The same sentence as for the table in memory, if that is an error of the rows. */
static void same_error(const char *name, const fen_options *o, const char *a)
{
    fen_table *table = NULL;
    fen_error err = { FEN_OK, "" };
    fenp_prep *prep = NULL;
    fenp_sample *rows = NULL;
    assert_int_equal(fen_table_read(in_folder(name), o, NULL, &table, &err), FEN_OK);
    fen_status status = fenp_prep_learn(table, o, &prep, &rows, &err);
    assert_true(status != FEN_OK);
    source_refused(name, o, status, err.message, a);
    fen_table_free(table);
}

static void late_errors(void **state)
{
    (void)state;
    char place[64];
    fen_options o = options();
    o.weights = "w";
    o.target = "y";
    snprintf(place, sizeof place, "late.csv:%d: column \"w\"", ROWS + 2);
    mixed_file("late.csv", ROWS);
    append("late.csv", "1,2,5,8,l1,-1,3\n");
    same_error("late.csv", &o, place);
    mixed_file("late.csv", ROWS);
    append("late.csv", "1,2,5,8,l1,1e-320,3\n1,2,5,8,l2,1,4\n");
    same_error("late.csv", &o, "vanishes");
    snprintf(place, sizeof place, "late.csv:%d: column \"y\"", ROWS + 2);
    mixed_file("late.csv", ROWS);
    append("late.csv", "1,2,5,8,l1,1,1e200\n");
    same_error("late.csv", &o, place);
    /* blank lines: rows are counted, not lines, and from the beginning of the file */
    snprintf(place, sizeof place, "late.csv: row %d: column \"w\"", ROWS + 1);
    mixed_file("late.csv", ROWS);
    append("late.csv", "\n\n1,2,5,8,l1,-1,3\n\n1,2,5,8,l1,1,3\n");
    same_error("late.csv", &o, place);
    /* what the reader itself finds */
    snprintf(place, sizeof place, "late.csv:%d: column 2", ROWS + 2);
    mixed_file("late.csv", ROWS);
    append("late.csv", "1,oops,5,8,l1,1,3\n");
    source_refused("late.csv", &o, FEN_BAD_DATA, place, "\"oops\"");
    FILE *out = create("late.svm");
    for (int i = 0; i < ROWS / 2; i++) fprintf(out, "1 1:%d # %*s\n", i, PADDING, "");
    fputs("1e200 1:1\n", out);
    fclose(out);
    snprintf(place, sizeof place, "late.svm:%d: column \"label\"", ROWS / 2 + 1);
    o = options();
    o.task = "regression"; /* 1 and 1e200 are two values */
    same_error("late.svm", &o, place);
}

static void small_file(const char *name, const char *text)
{
    FILE *out = create(name);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void too_few_rows(void **state)
{
    (void)state;
    fen_options o = options();
    o.weights = "w";
    o.target = "y";
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        { "a,w,y\n1,0,5\n2,,6\n", "\"w\" is 0 or missing in every row" },
        { "a,w,y\n1,1,5\n3,0,6\n", "only 1 usable row" },
        { "a,w,y\n1,1,\n3,1,\n", "no usable row: 2 lack the target \"y\"" },
        { "a,w,y\n1,1,4\n1,1,5\n", "the only input column, \"a\", is constant" },
        { "caf\xe9,w,y\n1,1,4\n2,1,5\n", "iconv" },
        { "a,v,y\n1,1,4\n2,1,5\n", "--weights w" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        small_file("few.csv", cases[k].text);
        same_error("few.csv", &o, cases[k].sentence);
    }
    o.weights = "";
    o.kernel = "precomputed";
    small_file("few.csv", "a,b,y\n1,0,4\n0,1,5\n");
    source_refused("few.csv", &o, FEN_BAD_CALL, "precomputed", "another kernel");
}

/* A block without a usable row has none, and is no error. */
static void block_of_nothing(void **state)
{
    (void)state;
    learned l = learn("a,b,y\n1,2,3\n2,5,4\n3,4,9\n");
    fen_table *t = table_of("a,b,y\n1,2,\n2,5,\n");
    fenp_sample *s = NULL;
    fen_error err;
    assert_int_equal(fenp_prep_block(l.prep, t, &s, &err), FEN_OK);
    assert_true(s->n == 0 && s->p == 2 && s->dropped_missing == 2 && s->weight_sum == 0.0);
    fenp_sample_free(s);
    fen_table_free(t);
    t = table_of("a,y\n1,2\n");
    assert_int_equal(fenp_prep_block(l.prep, t, &s, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "no column \"b\""));
    fen_table_free(t);
    forget(&l);
}

/* ---- sources ----------------------------------------------------------------------------- */
static void cannot_open(const char *path, const char *a, const char *b)
{
    fen_options o = options();
    fenp_source *source = NULL;
    fen_error err = { FEN_OK, "" };
    assert_true(fenp_source_file(path, &o, &source, &err) != FEN_OK);
    if (!strstr(err.message, a) || !strstr(err.message, b)) fail_msg("%s", err.message);
    assert_null(source);
}

static void pipes_are_refused(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    cannot_open("-", "the standard input cannot be read twice", "save it to a file");
    cannot_open(in_folder("pipe"), "pipe cannot be read twice", "save it to a file");
    cannot_open(in_folder("absent.csv"), "absent.csv", "cannot be opened");
}

static void changed_file(void **state)
{
    (void)state;
    fen_options o = options();
    small_file("grows.csv", "a,y\n1,2\n3,4\n");
    fenp_source *source = open_source("grows.csv", &o);
    const fen_table *block = NULL;
    fen_error err;
    assert_int_equal(fenp_source_rewind(source, &err), FEN_OK); /* before the first row: nothing */
    assert_int_equal(fenp_source_next(source, &block, &err), FEN_OK);
    assert_int_equal(block->rows, 2);
    assert_int_equal(fenp_source_rewind(source, &err), FEN_OK);
    assert_int_equal(fenp_source_next(source, &block, &err), FEN_OK);
    assert_int_equal(block->rows, 2);
    append("grows.csv", "5,6\n");
    assert_int_equal(fenp_source_rewind(source, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "grows.csv changed"));
    assert_int_equal(fenp_source_next(source, &block, &err), FEN_OK); /* no rows, no crash */
    assert_null(block);
    fenp_source_close(source);
}

static int stop(void *user, const char *stage, double fraction)
{
    (void)stage;
    *(double *)user = fraction;
    return fraction > 0.3;
}

static void can_be_stopped(void **state)
{
    (void)state;
    mixed_file("mixed.csv", ROWS);
    fen_options o = options();
    double reached = 0.0;
    fen_host host = { .progress = stop, .user = &reached };
    fenp_task task = fenp_task_start(&host, 0.0);
    fenp_source *source = open_source("mixed.csv", &o);
    streamed s = { 0 };
    fen_error err;
    assert_int_equal(fenp_prep_learn_source(source, &o, 0, &s.prep, &s.summary, NULL, &task, &err),
                     FEN_STOPPED);
    assert_true(reached > 0.3 && reached < 1.0);
    fenp_source_close(source);
}

/* ---- comparing preparations -------------------------------------------------------------- */
static void agreement(void **state)
{
    (void)state;
    learned l = learn("a,c*,b,y\n1,u,3,1\n2,v,5,2\n4,u,9,3\n");
    learned m = learn("q,b,c*,a,y\n5,3,u,1,1\n6,5,v,2,2\n8,9,u,4,3\n");
    assert_true(fenp_prep_agree(l.prep, m.prep));
    assert_false(fenp_prep_agree(m.prep, l.prep)); /* q is missing */
    l.prep->input[0].center *= 1.0 + 1e-6;
    assert_false(fenp_prep_agree(l.prep, m.prep));
    forget(&m);
    forget(&l);
}

/* Text of the training file that reads as numbers in another one. */
static void text_or_numbers(void **state)
{
    (void)state;
    learned l = learn("c*,y\n1,1\n2.5,2\n10,3\n1,4\n");
    fen_table *t = table_of("c,y\n1,1\n2.5,2\n10,3\n1,4\n");
    fenp_summary summary;
    fenp_source *source = NULL;
    fen_error err;
    int agrees = 0;
    assert_int_equal(fenp_source_table(t, &source, &err), FEN_OK);
    assert_int_equal(fenp_prep_check_source(l.prep, source, &agrees, &summary, NULL, &err), FEN_OK);
    assert_true(agrees && summary.hash == l.s->hash);
    agrees = 0;
    assert_int_equal(fenp_prep_check(l.prep, t, &agrees, &err), FEN_OK);
    assert_true(agrees);
    fenp_source_close(source);
    fen_table_free(t);
    forget(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_errors),      cmocka_unit_test(too_few_rows),
        cmocka_unit_test(block_of_nothing), cmocka_unit_test(pipes_are_refused),
        cmocka_unit_test(changed_file),     cmocka_unit_test(can_be_stopped),
        cmocka_unit_test(agreement),        cmocka_unit_test(text_or_numbers),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
