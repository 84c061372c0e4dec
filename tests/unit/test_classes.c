/* Targets that are classes: which are, in what order, and how labels are found again. */
#include "support/text_table.h"
#include "data/prepare_parts.h"

static fen_options asking(const char *task)
{
    fen_options o = options();
    o.task = task;
    o.loss = "auto";
    return o;
}

static void has_classes(const learned *l, int64_t count, const char *const *labels)
{
    assert_int_equal(l->prep->class_count, count);
    for (int64_t k = 0; k < count; k++) assert_string_equal(l->prep->classes[k], labels[k]);
}

static void has_codes(const learned *l, int64_t n, const double *codes)
{
    assert_int_equal(l->s->n, n);
    assert_int_equal(l->s->targets, 1);
    for (int64_t i = 0; i < n; i++) assert_true(l->s->y[i] == codes[i]);
}

static void text_is_sorted_bytewise(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    learned l = learn_table(table_of("x,y*\n1,b\n2,a\n3,\n4,B\n5,b\n"), &o);
    has_classes(&l, 3, (const char *const[]){ "B", "a", "b" });
    has_codes(&l, 4, (const double[]){ 2, 1, 0, 2 });
    assert_int_equal(l.s->dropped_missing, 1);
    assert_true(l.prep->class_rows[0] == 1 && l.prep->class_rows[2] == 2);
    forget(&l);
}

static void two_numbers_are_sorted_by_size(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    learned l = learn_table(table_of("x,y\n1,10\n2,9\n3,10\n4,\n"), &o);
    has_classes(&l, 2, (const char *const[]){ "9", "10" });
    has_codes(&l, 3, (const double[]){ 1, 0, 1 });
    forget(&l);
    l = learn_table(table_of("x,y\n1,1\n2,-1\n3,-1\n"), &o);
    has_classes(&l, 2, (const char *const[]){ "-1", "1" });
    forget(&l);
    l = learn_table(table_of("x,y\n1,0.5\n2,-0\n3,0\n"), &o);
    has_classes(&l, 2, (const char *const[]){ "0", "0.5" });
    forget(&l);
}

/* What two values are otherwise: numbers by the task, by the loss, by more of them, by none. */
static void numbers_stay_numbers(void **state)
{
    (void)state;
    const char *two = "x,y\n1,0\n2,1\n3,1\n";
    fen_options o = asking("regression");
    learned l = learn_table(table_of(two), &o);
    assert_int_equal(l.prep->class_count, 0);
    forget(&l);
    o = asking("auto");
    o.loss = "eps:0.1";
    l = learn_table(table_of(two), &o);
    assert_int_equal(l.prep->class_count, 0);
    forget(&l);
    o = asking("auto");
    o.approx = "fourier:10";
    l = learn_table(table_of(two), &o);
    assert_int_equal(l.prep->class_count, 0);
    forget(&l);
    o = asking("auto");
    l = learn_table(table_of("x,y\n1,0\n2,1\n3,2\n"), &o);
    assert_int_equal(l.prep->class_count, 0);
    forget(&l);
    l = learn_table(table_of("x,y\n1,7\n2,7\n3,7\n"), &o);
    assert_int_equal(l.prep->class_count, 0);
    forget(&l);
    o.target = "y,z";
    l = learn_table(table_of("x,y,z\n1,0,1\n2,1,0\n3,1,1\n"), &o);
    assert_int_equal(l.prep->class_count, 0);
    forget(&l);
}

static void every_value_when_asked(void **state)
{
    (void)state;
    fen_options o = asking("classification");
    learned l = learn_table(table_of("x,y\n1,2.50\n2,1\n3,-3\n4,1\n"), &o);
    has_classes(&l, 3, (const char *const[]){ "-3", "1", "2.5" });
    has_codes(&l, 4, (const double[]){ 2, 1, 0, 1 });
    forget(&l);
    o.loss = "square"; /* asked for: a loss of numbers does not matter */
    l = learn_table(table_of("x,y\n1,0\n2,1\n3,1\n"), &o);
    assert_int_equal(l.prep->class_count, 2);
    forget(&l);
}

/* A class that only weightless rows have is none. */
static void weights_decide_what_counts(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    o.weights = "w";
    learned l = learn_table(table_of("x,y*,w\n1,a,1\n2,b,2\n3,c,0\n4,a,1\n"), &o);
    has_classes(&l, 2, (const char *const[]){ "a", "b" });
    has_codes(&l, 3, (const double[]){ 0, 1, 0 });
    forget(&l);
}

static void bad_targets(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    refused("x,y*\n1,a\n2,a\n3,\n", &o, "\"y\" holds one class only, \"a\"", "--task one-class");
    o.target = "y,z";
    refused_table(table_of("x,y,z*\n1,1,a\n2,2,b\n"), &o, FEN_BAD_CALL, "one target, not 2",
                  "\"z\"");
    o = asking("classification");
    refused("x,y\n1,5\n2,5\n", &o, "one class only, \"5\"", "");
    o.target = "y,z";
    refused_table(table_of("x,y,z\n1,1,2\n2,2,1\n"), &o, FEN_BAD_CALL, "one target, not 2", "");
    o = asking("classification");
    o.approx = "fourier:10";
    refused_table(table_of("x,y\n1,1\n2,2\n"), &o, FEN_BAD_CALL, "--approx is for regression", "");
    o = asking("auto");
    refused("x,y\n1,1\n2,0\n3,inf\n", &o, "t.csv:4", "infinite");
    o = asking("regression");
    refused("x,y*\n1,a\n2,b\n", &o, "holds text", "--target");
    char many[20000] = "x,y\n";
    for (int i = 0; i <= FENP_CLASSES_MAX; i++) {
        char line[32];
        snprintf(line, sizeof line, "%d,%d\n", i % 3, i);
        strcat(many, line);
    }
    o = asking("classification");
    refused(many, &o, "\"y\" has more than 1000 different values", "--target");
}

/* Without a target every column is an input; one that is named is left out. */
static void one_class(void **state)
{
    (void)state;
    fen_options o = asking("one-class");
    learned l = learn_table(table_of("x,y\n1,10\n2,9\n3,8\n"), &o);
    assert_int_equal(l.prep->inputs, 2);
    assert_int_equal(l.prep->targets, 0);
    assert_int_equal(l.s->targets, 0);
    assert_int_equal(l.s->n, 3);
    forget(&l);
    o.target = "x";
    l = learn_table(table_of("x,y\n1,10\n2,9\n3,8\n"), &o);
    assert_int_equal(l.prep->inputs, 1);
    assert_string_equal(l.prep->input[0].name, "y");
    forget(&l);
}

/* A label is found by its text, else by its value; a new one is -1, a gap is NaN. */
static void labels_are_found_again(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    double labels[4];
    fen_error err;
    learned l = learn_table(table_of("x,y\n1,1\n2,2\n3,2\n"), &o);
    fen_table *t = table_of("x,y*\n1,2.0\n2,01\n3,none\n4,\n");
    assert_int_equal(fenp_prep_labels(l.prep, t, labels, &err), FEN_OK);
    assert_true(labels[0] == 1 && labels[1] == 0 && labels[2] == -1 && isnan(labels[3]));
    fen_table_free(t);
    t = table_of("x,y\n1,2\n2,3\n3,\n4,1\n");
    assert_int_equal(fenp_prep_labels(l.prep, t, labels, &err), FEN_OK);
    assert_true(labels[0] == 1 && labels[1] == -1 && isnan(labels[2]) && labels[3] == 0);
    fen_table_free(t);
    t = table_of("x\n1\n2\n");
    assert_int_equal(fenp_prep_labels(l.prep, t, labels, &err), FEN_OK);
    assert_true(isnan(labels[0]) && isnan(labels[1]));
    fen_table_free(t);
    forget(&l);
    l = learn_table(table_of("x,y*\n1,01\n2,1\n3,a\n4,1e5\n"), &o);
    assert_int_equal(l.prep->class_count, 3); /* a number is one class, however it is written */
    assert_int_equal(l.prep->class_rows[0], 2);
    assert_string_equal(l.prep->classes[0], "1");
    assert_string_equal(l.prep->classes[1], "1e5"); /* as it is always written */
    assert_int_equal(fenp_prep_class(l.prep, "1.0", 3), 0);
    assert_int_equal(fenp_prep_class(l.prep, "100000", 6), 1);
    assert_int_equal(fenp_prep_class(l.prep, "b", 1), -1);
    assert_int_equal(fenp_prep_class(l.prep, "ab", 1), 2); /* as long as it is said to be */
    forget(&l);
}

/* Rows of training: an unknown label cannot be among them. The hash knows the labels. */
static void rows_for_verify(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    fenp_sample *again = NULL;
    fen_error err;
    learned l = learn_table(table_of("x,y*\n1,a\n2,b\n3,b\n"), &o);
    assert_int_equal(fenp_prep_sample(l.prep, l.t, &again, &err), FEN_OK);
    assert_true(again->hash == l.s->hash);
    fenp_sample_free(again);
    learned renamed = learn_table(table_of("x,y*\n1,a\n2,c\n3,c\n"), &o);
    assert_true(renamed.s->hash != l.s->hash);
    assert_int_equal(fenp_prep_sample(l.prep, renamed.t, &again, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "t.csv:3: column \"y\" (the target) is of no known class"));
    int agrees = 0;
    assert_int_equal(fenp_prep_check(l.prep, l.t, &agrees, &err), FEN_OK);
    assert_true(agrees);
    forget(&renamed);
    forget(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_sorted_bytewise),
        cmocka_unit_test(two_numbers_are_sorted_by_size),
        cmocka_unit_test(numbers_stay_numbers),
        cmocka_unit_test(every_value_when_asked),
        cmocka_unit_test(weights_decide_what_counts),
        cmocka_unit_test(bad_targets),
        cmocka_unit_test(one_class),
        cmocka_unit_test(labels_are_found_again),
        cmocka_unit_test(rows_for_verify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
