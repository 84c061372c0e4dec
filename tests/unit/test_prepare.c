/* test_prepare.c -- what is learned from training rows: scales, gaps, levels, roles, rows */
#include "support/text_table.h"

/* ---- scaling ----------------------------------------------------------------------------- */
static void scaling(void **state)
{
    (void)state;
    const char *text = "a,b,y\n1,10,5\n2,30,6\n6,20,7\n";
    fen_options o = options();
    learned l = learn_table(table_of(text), &o);
    const double mean = 3.0, sd = sqrt(14.0 / 3.0); /* population */
    assert_true(l.s->n == 3 && l.s->p == 2 && l.s->targets == 1 && l.s->weight_sum == 3.0);
    near(l.prep->input[0].center, mean);
    near(l.prep->input[0].scale, sd);
    near(l.s->x[0], (1 - mean) / sd);
    near(l.s->x[4], (6 - mean) / sd);
    assert_true(l.s->y[0] == 5.0 && l.s->y[2] == 7.0);
    near(l.s->w[0] + l.s->w[1] + l.s->w[2], 1.0);
    forget(&l);
    o.scale = "range";
    l = learn_table(table_of(text), &o);
    near(l.s->x[0], 0.0);
    near(l.s->x[2], 0.2);
    near(l.s->x[4], 1.0);
    near(l.s->x[3], 1.0);
    forget(&l);
    o.scale = "none";
    l = learn_table(table_of(text), &o);
    assert_true(l.s->x[0] == 1.0 && l.s->x[3] == 30.0);
    assert_true(l.prep->input[0].center == 0.0 && l.prep->input[0].scale == 1.0);
    forget(&l);
}

/* Large offsets: one-pass formulas lose everything here. */
static void scaling_is_stable(void **state)
{
    (void)state;
    learned l = learn("a,b,y\n100000000.01,1,5\n100000000.02,2,6\n100000000.03,3,7\n");
    for (int i = 0; i < 3; i++) assert_true(fabs(l.s->x[2 * i] - (i - 1) * sqrt(1.5)) < 1e-5);
    forget(&l);
    volatile long double square = 1e300L;
    square *= square;
    if (!(square < 1e601L)) { /* valgrind computes long double as double */
        print_message("SKIPPED: squares beyond the range of a double need a real long double\n");
        return;
    }
    l = learn("a,b,y\n1e300,1,5\n-1e300,2,6\n3e300,3,7\n"); /* squares overflow a double */
    near(l.s->x[0], 0.0);
    near(l.s->x[4], sqrt(1.5));
    forget(&l);
}

static void weight_two_is_the_row_twice(void **state)
{
    (void)state;
    fen_options o = options();
    o.weights = "w";
    learned a = learn_table(table_of("a,g,c*,w,y\n1,,r,2,5\n2,3,b,1,6\n6,4,r,3,7\n9,,k,0,1\n"), &o);
    learned b = learn("a,g,c*,y\n1,,r,5\n1,,r,5\n2,3,b,6\n6,4,r,7\n6,4,r,7\n6,4,r,7\n");
    assert_true(a.s->n == 3 && b.s->n == 6 && a.s->p == b.s->p);
    assert_int_equal(a.s->dropped_weightless, 1);
    assert_true(a.s->weight_sum == 6.0 && b.s->weight_sum == 6.0);
    static const int first[] = { 0, 2, 3 };
    for (int i = 0; i < 3; i++)
        for (int64_t j = 0; j < a.s->p; j++)
            near(a.s->x[i * a.s->p + j], b.s->x[first[i] * a.s->p + j]);
    for (int i = 0; i < 3; i++) {
        near(a.prep->input[i].fill, b.prep->input[i].fill);
        near(a.prep->input[i].scale, b.prep->input[i].scale);
    }
    near(a.s->w[0], 2.0 / 6.0);
    assert_string_equal(a.prep->input[2].levels[0], "r");
    assert_int_equal(a.prep->input[2].level_count, 2); /* k has weight 0 */
    forget(&a);
    forget(&b);
}

/* ---- gaps, text, constants ----------------------------------------------------------------- */
static void gaps(void **state)
{
    (void)state;
    learned l = learn("a,b,y\n1,1,5\n,2,6\n3,4,7\n");
    assert_int_equal(l.s->p, 3); /* a, a is missing, b */
    double sd = sqrt(2.0 / 3.0); /* the gap counts as the mean, 2 */
    near(l.s->x[0], -1 / sd);
    assert_true(l.s->x[1] == 0.0 && l.s->x[3] == 0.0 && l.s->x[4] == 1.0);
    near(l.prep->input[0].fill, 2.0);
    /* b had no gaps: the mean, and no indicator */
    double *x = apply(l.prep, table_of("a,b\n,\n"));
    near(x[0], 0.0);
    assert_true(x[1] == 1.0);
    near(x[2], 0.0);
    free(x);
    char name[64];
    fenp_prep_feature_name(l.prep, 0, name, sizeof name);
    assert_string_equal(name, "a");
    fenp_prep_feature_name(l.prep, 1, name, sizeof name);
    assert_string_equal(name, "a is missing");
    fenp_prep_feature_name(l.prep, 2, name, sizeof name);
    assert_string_equal(name, "b");
    fenp_prep_feature_name(l.prep, 3, name, sizeof name);
    assert_string_equal(name, "");
    forget(&l);
}

static void text(void **state)
{
    (void)state;
    learned l = learn("c*,a,y\nred,1,1\nblue,2,2\nred,3,3\ngreen,4,4\n,5,5\n");
    assert_int_equal(l.s->p, 5); /* red blue green other, a */
    const fenp_input *c = &l.prep->input[0];
    assert_string_equal(c->levels[0], "red"); /* by count, then by name */
    assert_string_equal(c->levels[1], "blue");
    assert_string_equal(c->levels[2], "green");
    static const double expected[5][4] = {
        { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 1, 0, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 }
    };
    for (int i = 0; i < 5; i++)
        assert_memory_equal(l.s->x + 5 * i, expected[i], sizeof expected[i]);
    double *x = apply(l.prep, table_of("c*,a\nmauve,3\nblue,3\n"));
    assert_memory_equal(x, expected[4], sizeof expected[4]);
    assert_memory_equal(x + 5, expected[1], sizeof expected[1]);
    free(x);
    char name[64];
    fenp_prep_feature_name(l.prep, 1, name, sizeof name);
    assert_string_equal(name, "c = blue");
    fenp_prep_feature_name(l.prep, 3, name, sizeof name);
    assert_string_equal(name, "c = other");
    forget(&l);
}

static void many_levels(void **state)
{
    (void)state;
    char text[4096] = "c*,y\n", *at = text + 5;
    for (int i = 0; i < 80; i++) at += sprintf(at, "l%02d,%d\n", i, i);
    for (int i = 70; i < 80; i++)
        at += sprintf(at, "l%02d,%d\n", i, i); /* the last ten come twice */
    learned l = learn(text);
    assert_int_equal(l.prep->input[0].level_count, 50);
    assert_int_equal(l.s->p, 51);
    assert_string_equal(l.prep->input[0].levels[0], "l70");
    assert_string_equal(l.prep->input[0].levels[10], "l00");
    assert_string_equal(l.prep->input[0].levels[49], "l39");
    assert_true(l.s->x[45 * 51 + 50] == 1.0); /* l45 is an "other" */
    forget(&l);
}

static void constants(void **state)
{
    (void)state;
    learned l =
        learn("k,a,t*,e,g,v,y\n3,1,u,,7,1e5,1\n3,2,u,,,100000.00000001,2\n3,4,u,,7,1e5,3\n");
    const fenp_input *in = l.prep->input;
    assert_true(in[0].constant && !in[1].constant && in[2].constant && in[3].constant);
    assert_true(in[4].constant && in[4].gaps && !in[3].gaps); /* the gaps of g say something */
    assert_true(in[5].constant);                              /* below 1e-12 of its size */
    assert_int_equal(l.s->p, 2);
    assert_true(l.s->x[1] == 0.0 && l.s->x[3] == 1.0 && l.s->x[5] == 0.0);
    char name[64];
    fenp_prep_feature_name(l.prep, 1, name, sizeof name);
    assert_string_equal(name, "g is missing");
    double *x = apply(l.prep, table_of("g,a\n,7\n")); /* what was dropped is not asked for */
    assert_true(x[1] == 1.0);
    free(x);
    forget(&l);
    fen_options o = options();
    refused("a,b,y\n1,2,3\n1,2,4\n", &o, "t.csv: all input columns", "constant");
    refused("a,y\n1,3\n1,4\n", &o, "the only input column, \"a\"", "constant");
}

/* Without a bias a column of ones is one of the coefficients; zeros are not. */
static void constants_without_bias(void **state)
{
    (void)state;
    fen_options o = options();
    o.penalty = "l1", o.scale = "none", o.bias = 0;
    learned l = learn_table(table_of("one,zero,a,y\n3,0,1,1\n3,0,2,2\n3,0,4,3\n"), &o);
    const fenp_input *in = l.prep->input;
    assert_true(!in[0].constant && in[1].constant && !in[2].constant);
    assert_int_equal(l.s->p, 2);
    for (int64_t i = 0; i < 3; i++) assert_true(l.s->x[2 * i] == 3.0);
    forget(&l);
    o.scale = "standard"; /* centred away */
    l = learn_table(table_of("one,zero,a,y\n3,0,1,1\n3,0,2,2\n3,0,4,3\n"), &o);
    assert_int_equal(l.s->p, 1);
    forget(&l);
}

/* ---- targets, weights, rows ----------------------------------------------------------------- */
static void targets(void **state)
{
    (void)state;
    const char *text = "a,b,2,w\n1,4,7,1\n2,6,8,1\n3,5,9,1\n";
    static const struct {
        const char *target, *weights, *first, *second;
        int64_t inputs;
    } good[] = {
        { "", "", "w", NULL, 3 },   { "b", "", "b", NULL, 3 },    { "1", "", "a", NULL, 3 },
        { "2", "", "2", NULL, 3 },  { "b, 1", "", "b", "a", 2 },  { "", "w", "2", NULL, 2 },
        { "a", "4", "a", NULL, 2 }, { NULL, NULL, "w", NULL, 3 },
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        fen_options o = options();
        o.target = good[i].target;
        o.weights = good[i].weights;
        learned l = learn_table(table_of(text), &o);
        assert_string_equal(l.prep->target[0], good[i].first);
        assert_int_equal(l.prep->targets, good[i].second ? 2 : 1);
        if (good[i].second) {
            assert_string_equal(l.prep->target[1], good[i].second);
            assert_true(l.s->y[0] == 4.0 && l.s->y[3] == 1.0); /* target after target */
        }
        assert_int_equal(l.prep->inputs, good[i].inputs);
        forget(&l);
    }
}

static void bad_roles(void **state)
{
    (void)state;
    const char *text = "age,height,class*,w\n1,4,g,1\n2,6,b,1\n3,5,h,1\n";
    fen_options o = options();
    o.target = "heigth";
    refused(text, &o, "t.csv", "did you mean \"height\"?");
    o.target = "9";
    refused(text, &o, "--target 9", "columns 1 to 4");
    o.target = "0";
    refused(text, &o, "--target 0", "columns 1 to 4");
    o.target = "zzzzzzzzzz";
    refused(text, &o, "--target zzzzzzzzzz", "\"age\", \"height\", \"class\", \"w\"");
    o.target = "class";
    o.task = "regression";
    refused(text, &o, "column \"class\" holds text (\"g\", \"b\", ...)", "--target");
    o.task = "auto";
    o.target = "class,age";
    refused_table(table_of(text), &o, FEN_BAD_CALL, "one target, not 2", "\"class\"");
    o.target = "age,1";
    refused_table(table_of(text), &o, FEN_BAD_CALL, "\"age\"", "twice");
    o.target = o.weights = "age";
    refused_table(table_of(text), &o, FEN_BAD_CALL, "\"age\"", "both");
    o.target = "";
    o.weights = "class";
    refused(text, &o, "\"class\"", "numbers");
    o.weights = "weight";
    refused(text, &o, "--weights weight", "");
    o = options();
    refused("y\n1\n2\n", &o, "no input column", "1 column is");
    o.target = "a,b";
    refused("a,b\n1\n2\n", &o, "no input column", "2 columns are");
}

static void rows(void **state)
{
    (void)state;
    fen_options o = options();
    o.weights = "w";
    learned l = learn_table(table_of("a,w,y\n1,1,5\n2,1,\n3,0,5\n4,,5\n5,0,\n6,2,7\n7,1,8\n"), &o);
    assert_true(l.s->n == 3 && l.s->dropped_missing == 2 && l.s->dropped_weightless == 2);
    near(l.s->w[1], 0.5);
    near(l.prep->input[0].center, 5.0); /* (1 + 2*6 + 7) / 4: rows left out do not count */
    forget(&l);
    refused("a,w,y\n1,1,5\n2,-1,6\n", &o, "t.csv:3: column \"w\"", "negative");
    refused("a,w,y\n1,-1,\n2,1,6\n3,1,6\n", &o, "t.csv:2: column \"w\"", "negative");
    refused("a,w,y\n1,0,5\n2,,6\n", &o, "\"w\" is 0 or missing in every row", "--weights");
    refused("a,w,y\n1,1e300,5\n2,1e-300,6\n3,1e300,7\n", &o, "t.csv:3", "vanishes");
    o.weights = "";
    refused("a,y\n", &o, "t.csv", "no rows");
    refused("a,y\n1,2\n", &o, "t.csv: only 1 usable row", "at least 2");
    refused("a,y\n1,2\n3,\n", &o, "only 1 usable row", "at least 2");
    refused("a,y\n1,\n3,\n", &o, "no usable row", "2 lack the target \"y\"");
    fen_table *t = table_of("a,y\n1,2\n3,4\n5,6\n");
    t->cells[2] = INFINITY;
    refused_table(t, &o, FEN_BAD_DATA, "t.csv:3: column \"a\"", "infinite");
    t = table_of("a,y\n1,2\n3,4\n5,6\n");
    t->cells[5] = -INFINITY;
    refused_table(t, &o, FEN_BAD_DATA, "t.csv:4: column \"y\"", "infinite");
}

static void names_must_be_utf8(void **state)
{
    (void)state;
    fen_options o = options();
    refused("caf\xe9,y\n1,2\n3,4\n", &o, "t.csv", "iconv");
    refused("c*,y\ncaf\xe9,2\nbar,4\n", &o, "t.csv", "iconv");
    learned l = learn("caf\xc3\xa9,y\n1,2\n3,4\n");
    forget(&l);
}

static void memory_limit(void **state)
{
    (void)state;
    fen_options o = options();
    o.memory_limit_bytes = 31;
    refused_table(table_of("a,b,y\n1,3,2\n3,4,4\n"), &o, FEN_MEMORY, "memory", "inputs");
}

/* ---- precomputed kernels --------------------------------------------------------------------- */
static void precomputed(void **state)
{
    (void)state;
    fen_options o = options();
    o.kernel = "precomputed";
    learned l = learn_table(table_of("k1,k2,k3,y\n2,1,0.5,1\n1,2,0.25,2\n0.5,0.25,2,3\n"), &o);
    const double k[] = { 2, 1, 0.5, 1, 2, 0.25, 0.5, 0.25, 2 };
    assert_true(l.s->p == 3 && l.prep->precomputed);
    assert_memory_equal(l.s->x, k, sizeof k);
    cannot_apply(l.prep, table_of("k1,k2,k3\n1,,3\n"), "t.csv:2: column \"k2\" is missing",
                 "every value");
    forget(&l);
    /* rows without a target take their columns with them; all-equal values stay */
    l = learn_table(table_of("k1,k2,k3,k4,y\n2,9,1,7,1\n9,9,9,9,\n1,9,2,7,3\n7,9,7,7,4\n"), &o);
    const double part[] = { 2, 1, 7, 1, 2, 7, 7, 7, 7 };
    assert_true(l.s->n == 3 && l.s->p == 3 && l.prep->inputs == 4);
    assert_memory_equal(l.s->x, part, sizeof part);
    double *x = apply(l.prep, table_of("k4,k3,k1\n3,2,1\n"));
    assert_true(x[0] == 1.0 && x[1] == 2.0 && x[2] == 3.0);
    free(x);
    forget(&l);
    refused("k1,k2,y\n1,2,1\n2,1,2\n3,1,1\n", &o, "3 rows with 2 kernel values",
            "one value per training row");
    refused("k1,k2,y\n1,2,1\n2.1,1,2\n", &o, "not symmetric",
            "value 1 of row 2 and value 2 of row 1");
    refused("k1,k2,y\n1,,1\n2,1,2\n", &o, "t.csv:2: column \"k2\" is missing", "every value");
    refused("k1,k2*,y\n1,u,1\n2,v,2\n", &o, "\"k2\" holds text", "numbers");
    learned fine =
        learn_table(table_of("k1,k2,y\n1,1e-17,1\n-1e-17,1,2\n"), &o); /* rounding errors */
    forget(&fine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaling),
        cmocka_unit_test(scaling_is_stable),
        cmocka_unit_test(weight_two_is_the_row_twice),
        cmocka_unit_test(gaps),
        cmocka_unit_test(text),
        cmocka_unit_test(many_levels),
        cmocka_unit_test(constants),
        cmocka_unit_test(constants_without_bias),
        cmocka_unit_test(targets),
        cmocka_unit_test(bad_roles),
        cmocka_unit_test(rows),
        cmocka_unit_test(names_must_be_utf8),
        cmocka_unit_test(memory_limit),
        cmocka_unit_test(precomputed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
