/* test_prepare_apply.c -- a preparation applied, hashed, stored and read back */
#include "data/design.h"
#include "support/text_table.h"
#include "solver/products.h"

/* ---- applying ------------------------------------------------------------------------------ */
static void by_name(void **state)
{
    (void)state;
    learned l = learn("a,c*,b,y\n1,u,3,1\n2,v,5,2\n4,u,9,3\n");
    double *x = apply(l.prep, table_of("extra*,b,y,c*,a\nq,3,0,u,1\nq,5,0,v,2\nq,9,0,u,4\n"));
    assert_memory_equal(x, l.s->x, (size_t)(l.s->n * l.s->p) * sizeof *x);
    free(x);
    cannot_apply(l.prep, table_of("a,b\n1,2\n"), "t.csv has no column \"c\"", "trained on");
    cannot_apply(l.prep, table_of("q\n1\n"), "no columns \"a\", \"c\", \"b\"", "trained on");
    cannot_apply(l.prep, table_of("a*,c*,b\nhigh,u,2\n"), "\"a\" holds text (\"high\")", "numbers");
    cannot_apply(l.prep, table_of("a,c,b\n1,7,2\n"), "t.csv:2: column \"c\" is 7", "held text");
    cannot_apply(l.prep, table_of("a,c*,b\n1,u,2\n1e308,u,2\n1,u,inf\n"), "t.csv:4: column \"b\"",
                 "infinite");
    forget(&l);
    l = learn("a,b,c,d,e,y\n1,2,3,4,5,6\n2,3,4,5,6,7\n3,7,5,6,9,8\n");
    cannot_apply(l.prep, table_of("q\n1\n"), "\"a\", \"b\", \"c\" and 2 more", "");
    forget(&l);
    l = learn("a,y\n1e-300,1\n2e-300,2\n");
    cannot_apply(l.prep, table_of("a\n1e-300\n1e300\n"), "t.csv:3: column \"a\" is 1e300",
                 "too far");
    forget(&l);
}

/* A column of text whose cells read as numbers, or are all missing, in the next file. */
static void text_that_reads_as_numbers(void **state)
{
    (void)state;
    learned l = learn("c*,y\n1,1\n2.5,2\nten,3\n1,4\n");
    assert_int_equal(l.s->p, 4); /* 1, 2.5, ten, other */
    double *x = apply(l.prep, table_of("c\n2.5\n1\n7\n\n"));
    assert_true(x[1] == 1.0 && x[4] == 1.0 && x[8 + 3] == 1.0 && x[12 + 3] == 1.0);
    free(x);
    forget(&l);
    l = learn("c*,y\nu,1\nv,2\nu,3\n");
    x = apply(l.prep, table_of("c\n\n"));
    assert_true(x[0] == 0.0 && x[1] == 0.0 && x[2] == 1.0);
    free(x);
    forget(&l);
}

static void views(void **state)
{
    (void)state;
    learned l = learn("a,k,b,y\n1,7,3,1\n2,7,5,2\n4,7,,3\n");
    const double raw[] = { 1, 7, 3, -1, 2, 7, 5, -1, 4, 7, NAN, -1 };
    double x[9];
    fen_error err;
    assert_int_equal(fenp_prep_apply_view(l.prep, (fen_view){ raw, 3, 3, 4 }, x, &err), FEN_OK);
    assert_memory_equal(x, l.s->x, sizeof x);
    assert_int_equal(fenp_prep_apply_view(l.prep, (fen_view){ raw, 3, 2, 4 }, x, &err),
                     FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "2 columns"));
    const double bad[] = { 1, 7, 3, 1, 7, -INFINITY };
    assert_int_equal(fenp_prep_apply_view(l.prep, (fen_view){ bad, 2, 3, 3 }, x, &err),
                     FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "row 2: column \"b\" is infinite"));
    forget(&l);
}

/* Enough rows for several threads: same bits, and the first bad row is named. */
static void many_rows(void **state)
{
    (void)state;
    enum { N = 60000 };
    learned l = learn("a,c*,y\n1,u,1\n2,v,2\n4,u,3\n");
    fen_table *t = table_of("a,c*,y\n1,u,1\n2,v,2\n4,u,3\n");
    t->cells = realloc(t->cells, N * 3 * sizeof *t->cells);
    for (int64_t k = 9; k < N * 3; k++) t->cells[k] = t->cells[k - 9];
    t->rows = N;
    double *x = malloc((size_t)(N * l.s->p) * sizeof *x);
    fen_error err;
    assert_int_equal(fenp_prep_apply(l.prep, t, x, &err), FEN_OK);
    for (int64_t i = 0; i < N; i++)
        assert_memory_equal(x + i * l.s->p, l.s->x + i % 3 * l.s->p, (size_t)l.s->p * sizeof *x);
    for (int64_t i = N - 1; i >= 20000; i -= 777) t->cells[3 * i] = INFINITY;
    t->cells[3 * 12345] = INFINITY;
    assert_int_equal(fenp_prep_apply(l.prep, t, x, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "t.csv:12347: column \"a\""));
    free(x);
    fen_table_free(t);
    forget(&l);
}

/* Numbers, gaps, text, and rows that are left out, beyond what is prepared at a time. */
static char *long_text(int rows)
{
    char *text = malloc((size_t)rows * 64 + 64), *at = text + sprintf(text, "a,c*,b,y\n");
    for (int i = 0; i < rows; i++)
        at += sprintf(at,
                      i % 7 == 3    ? "%d,%c,,%d\n"
                      : i % 11 == 5 ? "%d,%c,2,\n"
                                    : "%d,%c,1,%d\n",
                      (i * 37) % 101, "uvw"[i % 3], i % 13);
    return text;
}

static void same_sums(const fenp_design *a, const fenp_design *b)
{
    const size_t p = (size_t)a->p, n = (size_t)a->n, side = p + 2;
    double *u = malloc(n * sizeof *u), *scores[2], *columns[2];
    fenp_products products[2];
    for (size_t i = 0; i < n; i++) u[i] = 1.0 / (double)(i + 1);
    for (int k = 0; k < 2; k++) {
        fenp_design made;
        const fenp_linear q = { .x = k ? b : a, .y = u, .w = u, .bias = 1 };
        scores[k] = malloc(n * sizeof **scores);
        assert_int_equal(fenp_products_make(&q, 1, NULL, 1, &products[k], NULL), FEN_OK);
        fenp_design_scores(k ? b : a, u, scores[k]);
        assert_int_equal(fenp_design_columns(k ? b : a, &made, &columns[k], NULL), FEN_OK);
    }
    for (size_t j = 0; j < side; j++)
        assert_memory_equal(products[0].part + j * side, products[1].part + j * side,
                            (j + 1) * sizeof(double));
    assert_memory_equal(scores[0], scores[1], n * sizeof **scores);
    assert_memory_equal(columns[0], columns[1], n * p * sizeof **columns);
    for (int k = 0; k < 2; k++) fenp_products_free(&products[k]), free(scores[k]), free(columns[k]);
    free(u);
}

static void unwritten(void **state)
{
    (void)state;
    char *text = long_text(1500);
    learned l = learn(text), later = { .t = NULL };
    const fen_options o = options();
    fen_error err;
    double room[2 * 16], *columns = NULL;
    assert_int_equal(fenp_prep_learn_unwritten(l.t, &o, &later.prep, &later.s, &err), FEN_OK);
    assert_null(later.s->x);
    assert_int_equal(later.s->n, l.s->n);
    assert_int_equal(later.s->p, l.s->p);
    const fenp_design a = fenp_design_by_rows(l.s), b = fenp_design_by_rows(later.s);
    const double *rows = fenp_design_rows(&b, 700, 2, room);
    assert_memory_equal(rows, l.s->x + 700 * l.s->p, (size_t)(2 * l.s->p) * sizeof *rows);
    same_sums(&a, &b);
    l.t->cells[999 * l.t->cols] = INFINITY; /* behind its back */
    fenp_design made;
    assert_int_equal(fenp_design_columns(&b, &made, &columns, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "t.csv:1001: column \"a\" is infinite"));
    free(columns);
    fenp_products products;
    const fenp_linear q = { .x = &b, .y = l.s->y, .w = l.s->w, .bias = 1 };
    assert_int_equal(fenp_products_make(&q, 1, NULL, 1, &products, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "t.csv:1001: column \"a\" is infinite"));
    free(text);
    forget(&later);
    forget(&l);
}

static void labels(void **state)
{
    (void)state;
    fen_options o = options();
    o.target = "y,z";
    learned l = learn_table(table_of("a,y,z\n1,2,3\n2,3,4\n"), &o);
    double y[4];
    fen_error err;
    fen_table *t = table_of("y,a\n7,1\n,2\n");
    assert_int_equal(fenp_prep_labels(l.prep, t, y, &err), FEN_OK);
    assert_true(y[0] == 7.0 && isnan(y[1]) && isnan(y[2]) && isnan(y[3]));
    fen_table_free(t);
    t = table_of("y*,a\nno,1\n");
    assert_int_equal(fenp_prep_labels(l.prep, t, y, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "\"y\""));
    fen_table_free(t);
    forget(&l);
}

/* ---- sparse -------------------------------------------------------------------------------- */
static void sparse(void **state)
{
    (void)state;
    fen_options o = options();
    learned l = learn_table(sparse_of("1 1:3\n2 3:2\n3 1:5 3:4\n4\n"), &o);
    assert_true(l.prep->sparse && l.prep->inputs == 3 && l.prep->input[1].constant);
    assert_int_equal(l.s->p, 2);
    double sd1 = sqrt((9 + 25) / 4.0 - 4), sd3 = sqrt((4 + 16) / 4.0 - 2.25);
    const double expected[] = { 3 / sd1, 0, 0, 2 / sd3, 5 / sd1, 4 / sd3, 0, 0 };
    for (int k = 0; k < 8; k++) near(l.s->x[k], expected[k]);
    assert_true(l.s->x[1] == 0.0 && l.prep->input[0].center == 0.0);
    assert_true(l.s->y[3] == 4.0);
    /* narrower, wider and 0-based files; a dense one */
    double *x = apply(l.prep, sparse_of("0 1:3\n"));
    assert_true(x[0] == l.s->x[0] && x[1] == 0.0);
    free(x);
    x = apply(l.prep, sparse_of("0 0:9 1:3 3:2 8:1\n"));
    assert_true(x[0] == l.s->x[0] && x[1] == l.s->x[3]);
    free(x);
    x = apply(l.prep, table_of("x3,x1\n2,3\n"));
    assert_true(x[0] == l.s->x[0] && x[1] == l.s->x[3]);
    free(x);
    cannot_apply(l.prep, table_of("x1\n2\n"), "no column \"x3\"", "");
    forget(&l);
    o = options();
    o.scale = "range";
    l = learn_table(sparse_of("1 1:3\n2 1:-2\n3\n"), &o);
    near(l.s->x[0], 0.6);
    near(l.s->x[1], -0.4);
    near(l.s->x[2], 0.0);
    forget(&l);
    o = options();
    o.target = "x1"; /* then the label is an input like any other */
    l = learn_table(sparse_of("1 1:3\n2 1:-2 2:1\n5\n"), &o);
    assert_true(l.s->y[0] == 3.0 && l.s->y[2] == 0.0 && l.prep->inputs == 2);
    near(l.s->x[1], 1 / sqrt(26.0 / 9));
    forget(&l);
}

/* A model of dense rows, with centres, meets a sparse file. */
static void dense_model_sparse_rows(void **state)
{
    (void)state;
    learned l = learn("x1,x2,label\n1,0,3\n0,2,4\n5,3,6\n");
    double *x = apply(l.prep, sparse_of("3 1:1\n4 2:2\n6 1:5 2:3\n"));
    assert_memory_equal(x, l.s->x, 6 * sizeof *x);
    free(x);
    forget(&l);
    l = learn("age,x2,label\n1,0,3\n0,2,4\n5,3,6\n");
    cannot_apply(l.prep, sparse_of("3 1:1\n"), "t.svm has no column \"age\"", "");
    forget(&l);
}

/* ---- hash ---------------------------------------------------------------------------------- */
static uint64_t hash_under(const fenp_prep *prep, fen_table *t)
{
    fenp_sample *s = NULL;
    fen_error err;
    if (fenp_prep_sample(prep, t, &s, &err) != FEN_OK) fail_msg("%s", err.message);
    uint64_t hash = s->hash;
    fenp_sample_free(s);
    fen_table_free(t);
    return hash;
}

static void hash(void **state)
{
    (void)state;
    fen_options o = options();
    o.weights = "w";
    const char *text = "a,c*,k,w,y\n1,u,3,1,1\n0,v,3,2,2\n,,3,1,3\n9,u,3,0,9\n";
    learned l = learn_table(table_of(text), &o), again = learn_table(table_of(text), &o);
    assert_true(l.s->hash == again.s->hash);
    assert_true(hash_under(l.prep, table_of(text)) == l.s->hash);
    /* order of the columns, order of the levels, rows left out, the sign of zero */
    assert_true(
        hash_under(l.prep,
                   table_of("y,k,w,c*,z,a\n9,9,0,v,1,2\n1,3,1,u,0,1\n2,3,2,v,0,-0\n3,3,1,,0,\n")) ==
        l.s->hash);
    static const char *const other[] = {
        "a,c*,k,w,y\n1,u,3,1,1\n0,v,3,2,2\n,,3,1,4\n",
        "a,c*,k,w,y\n1,u,3,1,1\n0,v,3,2.5,2\n,,3,1,3\n",
        "a,c*,k,w,y\n1,u,3,1,1\n0,u,3,2,2\n,,3,1,3\n",
        "a,c*,k,w,y\n1,u,3,1,1\n0,v,3,2,2\n0,,3,1,3\n",
        "a,c*,k,w,y\n1,u,4,1,1\n0,v,3,2,2\n,,3,1,3\n",
        "a,c*,k,w,y\n0,v,3,2,2\n1,u,3,1,1\n,,3,1,3\n",
        "a,c*,k,w,y\n1,u,3,1,1\n0,v,3,2,2\n",
        "a,c*,k,w,y\n1.0000000000000002,u,3,1,1\n0,v,3,2,2\n,,3,1,3\n",
    };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_true(hash_under(l.prep, table_of(other[i])) != l.s->hash);
    forget(&l);
    forget(&again);
    /* the names belong to it */
    learned a = learn("a,b,y\n1,2,3\n4,5,7\n"), b = learn("a,c,y\n1,2,3\n4,5,7\n");
    assert_true(a.s->hash != b.s->hash);
    forget(&a);
    forget(&b);
}

static void hash_does_not_know_the_format(void **state)
{
    (void)state;
    learned dense = learn("x1,x2,x3,label\n0,2,0,1\n3,0,0,2\n1,1,0,5\n");
    assert_true(hash_under(dense.prep, sparse_of("1 2:2\n2 1:3\n5 1:1 2:1\n")) == dense.s->hash);
    assert_true(hash_under(dense.prep, sparse_of("1 2:2\n2 1:3\n5 1:1 3:1\n")) != dense.s->hash);
    forget(&dense);
    dense =
        learn("x2,x1,label\n2,0,1\n0,3,2\n1,1,5\n"); /* training order is not that of the indices */
    assert_true(hash_under(dense.prep, sparse_of("1 2:2\n2 1:3\n5 1:1 2:1\n")) == dense.s->hash);
    forget(&dense);
}

/* ---- JSON ------------------------------------------------------------------------------------ */
static fenp_prep *through_json(const fenp_prep *prep)
{
    double *numbers = malloc((size_t)prep->inputs * 3 * sizeof *numbers);
    double *fill = numbers, *center = fill + prep->inputs, *scale = center + prep->inputs;
    for (int64_t i = 0; i < prep->inputs; i++) {
        fill[i] = prep->input[i].fill;
        center[i] = prep->input[i].center;
        scale[i] = prep->input[i].scale;
    }
    json_t *json = fenp_prep_to_json(prep);
    char *text = json_dumps(json, 0);
    json_decref(json);
    json = json_loads(text, 0, NULL);
    free(text);
    fenp_prep *back = NULL;
    fen_error err;
    if (fenp_prep_from_json(json, fill, center, scale, &back, &err) != FEN_OK)
        fail_msg("%s", err.message);
    json_decref(json);
    free(numbers);
    return back;
}

static void json_round_trip(void **state)
{
    (void)state;
    fen_options o = options();
    o.weights = "w";
    const char *text = "a,c*,k,g,w,y\n1,u,3,7,1,1\n0.1,v \xc3\xa9\"\\,3,,2,2\n,,3,7,1,3\n";
    learned l = learn_table(table_of(text), &o);
    fenp_prep *back = through_json(l.prep);
    assert_true(back->features == l.prep->features && back->inputs == l.prep->inputs);
    assert_string_equal(back->weights, "w");
    assert_string_equal(back->target[0], "y");
    fenp_sample *s;
    fen_error err;
    assert_int_equal(fenp_prep_sample(back, l.t, &s, &err), FEN_OK);
    assert_true(s->hash == l.s->hash && s->n == l.s->n && s->p == l.s->p);
    assert_memory_equal(s->x, l.s->x, (size_t)(s->n * s->p) * sizeof *s->x);
    assert_memory_equal(s->w, l.s->w, (size_t)s->n * sizeof *s->w);
    fenp_sample_free(s);
    fenp_prep_free(back);
    forget(&l);
    o.weights = "";
    l = learn_table(sparse_of("1 1:3\n2 3:2\n3 1:5 3:4\n4\n"), &o);
    back = through_json(l.prep);
    assert_true(back->sparse && !back->precomputed && !back->weights);
    double *x = apply(back, sparse_of("1 1:3\n2 3:2\n3 1:5 3:4\n4\n"));
    assert_memory_equal(x, l.s->x, 8 * sizeof *x);
    free(x);
    fenp_prep_free(back);
    forget(&l);
}

static fen_status from_text(const char *text, double fill, double center, double scale)
{
    const double f[] = { fill, 0 }, c[] = { center, 0 }, s[] = { scale, 1 };
    json_t *json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(json);
    fenp_prep *prep = NULL;
    fen_error err;
    fen_status status = fenp_prep_from_json(json, f, c, s, &prep, &err);
    assert_true((status == FEN_OK) == (prep != NULL));
    fenp_prep_free(prep);
    json_decref(json);
    return status;
}

static void hostile_json(void **state)
{
    (void)state;
    const char *good = "{\"scaling\": \"standard\", \"targets\": [\"y\"], "
                       "\"inputs\": [{\"name\": \"a\"}]}";
    assert_int_equal(from_text(good, 0, 0, 1), FEN_OK);
    assert_int_equal(from_text(good, NAN, 0, 1), FEN_BAD_DATA);
    assert_int_equal(from_text(good, 0, INFINITY, 1), FEN_BAD_DATA);
    assert_int_equal(from_text(good, 0, 0, 0), FEN_BAD_DATA);
    assert_int_equal(from_text(good, 0, 0, -1), FEN_BAD_DATA);
    assert_int_equal(from_text(good, 0, 0, NAN), FEN_BAD_DATA);
    static const char *const bad[] = {
        "1",
        "[]",
        "{}",
        "null",
        "\"x\"",
        "{\"targets\": [], \"inputs\": [{\"name\": \"a\"}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"inputs\": []}",
        "{\"scaling\": \"stand[rd\", \"targets\": [\"y\"], \"inputs\": [{\"name\": \"a\"}]}",
        "{\"targets\": \"y\", \"inputs\": [{\"name\": \"a\"}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"inputs\": {\"name\": \"a\"}}",
        "{\"targets\": [1], \"inputs\": [{\"name\": \"a\"}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"inputs\": [7]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"inputs\": [{\"name\": 7}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"inputs\": [{\"name\": \"a\\u0000b\"}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"inputs\": [{\"name\": \"a\", \"gaps\": 1}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"inputs\": [{\"name\": \"a\", \"constant\": \"yes\"}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"inputs\": [{\"name\": \"a\", \"constant\": true}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"inputs\": [{\"name\": \"a\", \"levels\": 3}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"inputs\": [{\"name\": \"a\", \"levels\": [3]}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"inputs\": [{\"name\": \"a\", \"levels\": [\"u\"], \"gaps\": true}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"weights\": 3, \"inputs\": [{\"name\": \"a\"}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"sparse\": 3, \"inputs\": [{\"name\": \"a\"}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"precomputed\": true, \"inputs\": [{\"name\": \"a\", \"gaps\": true}]}",
        "{\"scaling\": \"none\", \"targets\": [\"y\"], \"precomputed\": true, \"inputs\": [{\"name\": \"a\", \"levels\": []}]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (from_text(bad[i], 0, 0, 1) != FEN_BAD_DATA) fail_msg("accepted: %s", bad[i]);
    char many[2048],
        *at =
            many +
            sprintf(
                many,
                "{\"scaling\": \"none\", \"targets\": [\"y\"], \"inputs\": [{\"name\": \"a\", \"levels\": [");
    for (int k = 0; k < 51; k++) at += sprintf(at, "%s\"l%d\"", k ? "," : "", k);
    strcpy(at, "]}]}");
    assert_int_equal(from_text(many, 0, 0, 1), FEN_BAD_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_name),
        cmocka_unit_test(text_that_reads_as_numbers),
        cmocka_unit_test(views),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(unwritten),
        cmocka_unit_test(labels),
        cmocka_unit_test(sparse),
        cmocka_unit_test(dense_model_sparse_rows),
        cmocka_unit_test(hash),
        cmocka_unit_test(hash_does_not_know_the_format),
        cmocka_unit_test(json_round_trip),
        cmocka_unit_test(hostile_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
