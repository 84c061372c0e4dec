/* From target columns to the problems that are solved: labels, weights, names, decisions. */
#include "support/text_table.h"
#include "data/outputs.h"

static fen_options asking(const char *task)
{
    fen_options o = options();
    o.task = task;
    o.loss = "auto";
    return o;
}

typedef struct made {
    learned l;
    fenp_loss_choice loss;
    fenp_output *outputs;
    double *weights;
} made;

static made make(const char *text, const fen_options *o)
{
    made m = { .l = learn_table(table_of(text), o) };
    fen_error err;
    if (fenp_choose_loss(m.l.prep, o, &m.loss, &err)) fail_msg("%s", err.message);
    if (fenp_outputs_make(m.l.prep, o, &m.loss, m.l.s, &m.outputs, &m.weights, &err))
        fail_msg("%s", err.message);
    return m;
}

static void end(made *m)
{
    forget(&m->l);
    free(m->outputs);
    free(m->weights);
}

static void has_labels(const made *m, int64_t t, const double *labels)
{
    const fenp_sample *s = m->l.s;
    for (int64_t i = 0; i < s->n; i++) assert_true(s->y[t * s->n + i] == labels[i]);
}

static void is_called(const made *m, int64_t t, const char *name)
{
    char found[64];
    fenp_output_name(m->l.prep, m->outputs, m->l.s->targets, t, found, sizeof found);
    assert_string_equal(found, name);
}

static const char three[] = "x,y*\n1,b\n2,c\n3,a\n4,c\n5,a\n6,c\n";

/* ---- outputs ------------------------------------------------------------------------------- */

static void numbers_by_column_and_parameter(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    o.target = "y,z";
    o.loss = "pinball:0.1,0.9";
    made m = make("x,y,z\n1,3,6\n2,4,7\n3,5,9\n", &o);
    assert_int_equal(m.l.s->targets, 4);
    has_labels(&m, 1, (const double[]){ 3, 4, 5 });
    has_labels(&m, 2, (const double[]){ 6, 7, 9 });
    assert_true(m.outputs[1].column == 0 && m.outputs[1].par == 0.9);
    assert_true(m.outputs[2].column == 1 && m.outputs[2].par == 0.1);
    assert_true(m.outputs[0].plus == -1 && m.outputs[0].minus == -1);
    is_called(&m, 3, "z at 0.9");
    assert_null(m.weights);
    end(&m);
    o.loss = "square";
    m = make("x,y,z\n1,3,6\n2,4,7\n3,5,9\n", &o);
    assert_int_equal(m.l.s->targets, 2);
    is_called(&m, 1, "z");
    end(&m);
}

static void two_classes(void **state)
{
    (void)state;
    for (int pairs = 0; pairs < 2; pairs++) {
        fen_options o = asking("auto");
        o.multiclass = pairs ? "ovo" : "ovr";
        made m = make("x,y\n1,4\n2,3\n3,4\n", &o);
        assert_string_equal(m.loss.loss->name, "logistic");
        assert_int_equal(m.l.s->targets, 1);
        assert_true(m.outputs[0].plus == 1 && m.outputs[0].minus == 0);
        has_labels(&m, 0, (const double[]){ 1, -1, 1 });
        is_called(&m, 0, "y");
        end(&m);
    }
}

static void one_against_the_rest(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    made m = make(three, &o);
    assert_int_equal(m.l.s->targets, 3);
    has_labels(&m, 0, (const double[]){ -1, -1, 1, -1, 1, -1 });
    has_labels(&m, 1, (const double[]){ 1, -1, -1, -1, -1, -1 });
    has_labels(&m, 2, (const double[]){ -1, 1, -1, 1, -1, 1 });
    for (int64_t k = 0; k < 3; k++) assert_true(m.outputs[k].plus == k && m.outputs[k].minus == -1);
    is_called(&m, 2, "c");
    end(&m);
}

/* Rows of a third class have label 0 and no weight; the others keep theirs. */
static void one_against_one(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    o.multiclass = "ovo";
    o.loss = "hinge";
    made m = make(three, &o);
    assert_int_equal(m.l.s->targets, 3);
    assert_true(m.outputs[0].plus == 1 && m.outputs[0].minus == 0);
    assert_true(m.outputs[1].plus == 2 && m.outputs[1].minus == 0);
    assert_true(m.outputs[2].plus == 2 && m.outputs[2].minus == 1);
    has_labels(&m, 1, (const double[]){ 0, 1, -1, 1, -1, 1 });
    is_called(&m, 1, "c or a");
    double w[6];
    fenp_output_weights(m.loss.loss, m.l.s->y + 6, m.l.s->w, 6, w);
    assert_true(w[0] == 0 && w[1] == m.l.s->w[1] && w[5] == 1.0 / 6);
    fenp_output_weights(fenp_find_loss("square"), m.l.s->y + 6, m.l.s->w, 6, w);
    assert_true(w[0] == 1.0 / 6); /* 0 is a number among numbers */
    end(&m);
}

static void one_class(void **state)
{
    (void)state;
    fen_options o = asking("one-class");
    o.nu = 0.25;
    made m = make("x,y\n1,4\n2,3\n3,4\n", &o);
    assert_string_equal(m.loss.loss->name, "hinge");
    assert_int_equal(m.l.s->targets, 1);
    assert_true(m.outputs[0].column == -1 && m.outputs[0].plus == -1);
    has_labels(&m, 0, (const double[]){ 1, 1, 1 });
    is_called(&m, 0, "one class");
    end(&m);
}

/* The labels that verify makes are those of the fit. */
static void known_outputs_give_the_same_labels(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    o.multiclass = "ovo";
    o.loss = "hinge";
    o.class_weights = "a=2,c=1/2";
    made m = make(three, &o);
    fenp_sample *again = NULL;
    fen_error err;
    assert_int_equal(fenp_prep_sample(m.l.prep, m.l.t, &again, &err), FEN_OK);
    assert_int_equal(fenp_outputs_apply(m.outputs, 3, m.weights, again, &err), FEN_OK);
    assert_int_equal(again->targets, 3);
    assert_memory_equal(again->y, m.l.s->y, 18 * sizeof(double));
    assert_memory_equal(again->w, m.l.s->w, 6 * sizeof(double));
    fenp_sample_free(again);
    end(&m);
}

/* ---- class weights -------------------------------------------------------------------------- */

/* Rows b, c, a, c, a, c: weight 4 for a is 4 rows of it. */
static void weights_by_label(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    o.class_weights = "a=4, c = 0.5";
    made m = make(three, &o);
    const double sum = 1 + 3 * 0.5 + 2 * 4;
    near(m.l.s->weight_sum, sum);
    near(m.l.s->w[0], 1 / sum);
    near(m.l.s->w[1], 0.5 / sum);
    near(m.l.s->w[2], 4 / sum);
    assert_true(m.weights[0] == 4 && m.weights[1] == 1 && m.weights[2] == 0.5);
    end(&m);
    o.class_weights = "2.0=3"; /* the number that it is */
    m = make("x,y\n1,1\n2,2\n", &o);
    near(m.l.s->w[1], 0.75);
    end(&m);
}

/* Every class weighs alike, and the sum of the weights as written stays. */
static void balanced_weights(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    o.class_weights = "balanced";
    o.weights = "w";
    made m = make("x,w,y*\n1,1,a\n2,2,b\n3,3,b\n4,2,c\n", &o);
    near(m.l.s->weight_sum, 8);
    near(m.l.s->w[0], 1.0 / 3);
    near(m.l.s->w[1] + m.l.s->w[2], 1.0 / 3);
    near(m.l.s->w[1] / m.l.s->w[2], 2.0 / 3);
    near(m.weights[0], 8.0 / 3);
    end(&m);
}

/* ---- what is refused --------------------------------------------------------------------- */

static void refuses(const char *text, const fen_options *o, fen_status wanted, const char *part)
{
    learned l = learn_table(table_of(text), o);
    fenp_loss_choice loss;
    fenp_output *outputs = NULL;
    fen_error err = { FEN_OK, "" };
    fen_status status = fenp_choose_loss(l.prep, o, &loss, &err);
    if (status == FEN_OK) status = fenp_outputs_make(l.prep, o, &loss, l.s, &outputs, NULL, &err);
    if (status != wanted || !strstr(err.message, part))
        fail_msg("expected %d with \"%s\", got %d: %s", (int)wanted, part, (int)status,
                 err.message);
    assert_null(outputs);
    forget(&l);
}

static void refusals(void **state)
{
    (void)state;
    const char *numbers = "x,y\n1,4\n2,3\n3,5\n";
    fen_options o = asking("auto");
    o.class_weights = "a=1,d=2";
    refuses(three, &o, FEN_BAD_DATA, "no class \"d\"; its classes are \"a\", \"b\", \"c\"");
    o.class_weights = "a=0";
    refuses(three, &o, FEN_BAD_CALL, "greater than 0, not \"a=0\"");
    o.class_weights = "a";
    refuses(three, &o, FEN_BAD_CALL, "LABEL=WEIGHT");
    o.class_weights = "balanced";
    refuses(numbers, &o, FEN_BAD_CALL, "so there are no classes");
    o = asking("auto");
    o.probability = 1;
    refuses(numbers, &o, FEN_BAD_CALL, "--probability is for classes");
    o = asking("regression");
    o.loss = "hinge";
    refuses(numbers, &o, FEN_BAD_CALL, "for classes");
    o = asking("auto");
    o.loss = "square";
    o.multiclass = "ovo";
    refuses(three, &o, FEN_BAD_CALL, "--multiclass ovo needs a loss of classes");
    o = asking("one-class");
    refuses(numbers, &o, FEN_BAD_CALL, "needs --nu");
    o.nu = 0.5;
    o.loss = "logistic";
    refuses(numbers, &o, FEN_BAD_CALL, "has the hinge loss, not logistic");
    o = asking("auto");
    o.nu = 0.5;
    o.loss = "square";
    refuses(numbers, &o, FEN_BAD_CALL, "the square loss has none");
    o.loss = "eps:0.2";
    refuses(numbers, &o, FEN_BAD_CALL, "leave it out: --loss eps");
}

static void a_price_chooses_the_loss(void **state)
{
    (void)state;
    fen_options o = asking("auto");
    o.nu = 0.3;
    made m = make("x,y\n1,4\n2,3\n3,5\n", &o);
    assert_string_equal(m.loss.loss->name, "eps");
    end(&m);
    m = make(three, &o);
    assert_string_equal(m.loss.loss->name, "hinge");
    end(&m);
}

/* ---- decisions --------------------------------------------------------------------------- */

static void decisions(void **state)
{
    (void)state;
    const fenp_output two = { .plus = 1, .minus = 0 };
    assert_int_equal(fenp_outputs_decide(&two, 1, 2, (const double[]){ 0.1 }), 1);
    assert_int_equal(fenp_outputs_decide(&two, 1, 2, (const double[]){ -0.1 }), 0);
    const fenp_output rest[3] = { { .plus = 0, .minus = -1 },
                                  { .plus = 1, .minus = -1 },
                                  { .plus = 2, .minus = -1 } };
    assert_int_equal(fenp_outputs_decide(rest, 3, 3, (const double[]){ -2, -1, -3 }), 1);
    const fenp_output pairs[3] = { { .plus = 1, .minus = 0 },
                                   { .plus = 2, .minus = 0 },
                                   { .plus = 2, .minus = 1 } };
    /* two votes for 0 */
    assert_int_equal(fenp_outputs_decide(pairs, 3, 3, (const double[]){ -0.1, -0.1, 9 }), 0);
    /* a vote each: 1 beats 0, 0 beats 2, 2 beats 1; the sums are 0 - .4, .3 + ... */
    assert_int_equal(fenp_outputs_decide(pairs, 3, 3, (const double[]){ 0.5, -0.1, 0.3 }), 1);
    assert_int_equal(fenp_outputs_decide(pairs, 3, 3, (const double[]){ 0.1, -0.1, 0.9 }), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_by_column_and_parameter),
        cmocka_unit_test(two_classes),
        cmocka_unit_test(one_against_the_rest),
        cmocka_unit_test(one_against_one),
        cmocka_unit_test(one_class),
        cmocka_unit_test(known_outputs_give_the_same_labels),
        cmocka_unit_test(weights_by_label),
        cmocka_unit_test(balanced_weights),
        cmocka_unit_test(refusals),
        cmocka_unit_test(a_price_chooses_the_loss),
        cmocka_unit_test(decisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
