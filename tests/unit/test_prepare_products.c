/* test_prepare_products.c -- products of unprepared rows against those of the prepared, and who has
 * none */
#include "support/text_table.h"
#include "base/random.h"
#include "data/design.h"
#include "solver/products.h"

enum { ROWS = 700, COLS = 40, TARGET = 17 };

/* Offsets and scales of many sizes, the target in between. */
static fen_table *numbers(void)
{
    char text[16 * COLS] = "";
    for (int j = 0; j < COLS; j++) sprintf(text + strlen(text), "%sc%d", j ? "," : "", j);
    strcat(text, "\n");
    fen_table *t = table_of(text);
    free(t->cells);
    t->rows = ROWS, t->cells = malloc(sizeof(double[ROWS][COLS]));
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLS; j++)
            t->cells[i * COLS + j] =
                pow(10.0, (double)(j % 7 - 3)) *
                (fenp_normal(5, (uint64_t)j, (uint64_t)i) + (j % 3 ? 0.0 : 1000.0));
    return t;
}

typedef struct pair {
    fenp_prep *prep;
    fenp_sample *s;
} pair;

static fen_options asked(void)
{
    fen_options o = fen_options_default();
    o.target = "c17", o.penalty = "l1";
    return o;
}

static pair unwritten(const fen_table *t, const fen_options *o)
{
    pair p;
    fen_error err;
    assert_int_equal(fenp_prep_learn_unwritten(t, o, &p.prep, &p.s, &err), FEN_OK);
    return p;
}

static void forget_pair(pair *p) { fenp_sample_free(p->s), fenp_prep_free(p->prep); }

static void close_to(double a, double b, double unit) { assert_true(fabs(a - b) <= 1e-12 * unit); }

/* Both sides have sums about a centre of their own: they are compared about 0. */
static double about_zero(const fenp_products *s, int64_t i, int64_t j)
{
    const int64_t ones = s->p;
    const double *at = s->part, n = at[ones * s->side + ones];
    const double of_i = i < ones ? at[ones * s->side + i] : at[i * s->side + ones];
    const double of_j = j < ones ? at[ones * s->side + j] : at[j * s->side + ones];
    return at[j * s->side + i] + s->centre[i] * of_j + s->centre[j] * of_i +
           n * s->centre[i] * s->centre[j];
}

static void those_of_prepared_rows(void **state)
{
    (void)state;
    fen_table *t = numbers();
    const fen_options o = asked();
    pair one = unwritten(t, &o), two;
    fen_error err;
    assert_int_equal(fenp_prep_learn(t, &o, &two.prep, &two.s, &err), FEN_OK);
    assert_non_null(one.s->products);
    for (int64_t j = 0; j < COLS - 1; j++) {
        const fenp_input *a = &one.prep->input[j], *b = &two.prep->input[j];
        close_to(a->center, b->center, b->scale + fabs(b->center));
        close_to(a->scale, b->scale, b->scale);
        close_to(a->fill, b->fill, b->scale + fabs(b->center));
        assert_true(!a->constant && !a->gaps && !a->text);
    }
    const fenp_design x[2] = { fenp_design_by_rows(one.s), fenp_design_by_rows(two.s) };
    fenp_products made[2];
    for (int k = 0; k < 2; k++) {
        const fenp_linear q = { .x = &x[k], .y = two.s->y, .w = two.s->w, .bias = 1 };
        assert_int_equal(fenp_products_make(&q, 1, NULL, 1, &made[k], &err), FEN_OK);
    }
    assert_int_equal(made[0].side, COLS + 1);
    for (int64_t j = 0; j <= COLS; j++)
        for (int64_t i = 0; i <= j; i++) {
            const double size = sqrt(about_zero(&made[1], i, i)) * sqrt(about_zero(&made[1], j, j));
            close_to(about_zero(&made[0], i, j), about_zero(&made[1], i, j), size);
        }
    for (int k = 0; k < 2; k++) fenp_products_free(&made[k]);
    forget_pair(&one), forget_pair(&two);
    fen_table_free(t);
}

/* Weighed rows, or no bias, have others. */
static void not_for_everybody(void **state)
{
    (void)state;
    fen_table *t = numbers();
    const fen_options o = asked();
    pair one = unwritten(t, &o);
    const fenp_design x = fenp_design_by_rows(one.s);
    double *w = malloc(ROWS * sizeof *w);
    fenp_products made;
    for (int64_t i = 0; i < ROWS; i++) w[i] = i % 2 ? 2.0 : 1.0;
    const fenp_linear weighed = { .x = &x, .y = one.s->y, .w = w, .bias = 1 };
    assert_int_equal(fenp_products_make(&weighed, 1, NULL, 1, &made, NULL), FEN_OK);
    close_to(made.part[made.p * made.side + made.p], 0.75 * ROWS, ROWS);
    fenp_products_free(&made);
    const fenp_linear through_zero = { .x = &x, .y = one.s->y, .w = one.s->w, .bias = 0 };
    assert_int_equal(fenp_products_make(&through_zero, 1, NULL, 1, &made, NULL), FEN_OK);
    for (int64_t j = 0; j < made.side; j++) assert_true(made.centre[j] == 0.0);
    fenp_products_free(&made);
    free(w);
    forget_pair(&one);
    fen_table_free(t);
}

/* What is learned is that of fenp_prep_learn to the bit. */
static void expect_none(const fen_table *t, const fen_options *o)
{
    fenp_prep *prep;
    fenp_sample *sample;
    pair one = unwritten(t, o);
    assert_null(one.s->products);
    assert_int_equal(fenp_prep_learn(t, o, &prep, &sample, NULL), FEN_OK);
    for (int64_t j = 0; j < prep->inputs; j++) {
        assert_true(one.prep->input[j].center == prep->input[j].center);
        assert_true(one.prep->input[j].scale == prep->input[j].scale);
        assert_int_equal(one.prep->input[j].constant, prep->input[j].constant);
        assert_int_equal(one.prep->input[j].gaps, prep->input[j].gaps);
    }
    fenp_sample_free(sample), fenp_prep_free(prep);
    forget_pair(&one);
}

static void cells_that_are_not_for_it(void **state)
{
    (void)state;
    const fen_options o = asked();
    static const struct {
        int64_t from, to, column;
        double cell;
    } odd[] = {
        { 333, 334, 3, NAN },      /* a gap, which the some rows do not have */
        { 333, 334, TARGET, NAN }, /* a row that is left out                 */
        { 0, ROWS, 4, 2.5 },       /* constant                               */
        { 0, ROWS - 1, 4, 2.5 },   /* nearly                                 */
        { 0, ROWS, TARGET, 1e9 },  /* a target that is                       */
        { 333, 334, 3, 1e120 },    /* far from all others                    */
    };
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        fen_table *t = numbers();
        for (int64_t i = odd[k].from; i < odd[k].to; i++)
            t->cells[i * COLS + odd[k].column] = odd[k].cell;
        expect_none(t, &o);
        fen_table_free(t);
    }
}

static void options_that_are_not_for_it(void **state)
{
    (void)state;
    fen_table *t = numbers();
    fen_options o[5];
    for (int k = 0; k < 5; k++) o[k] = asked();
    o[0].bias = 0;
    o[1].scale = "range";
    o[2].scale = "none";
    o[3].engine = "coordinate";
    o[4].target = "c17,c3";
    for (int k = 0; k < 5; k++) expect_none(t, &o[k]);
    for (int64_t i = 0; i < ROWS; i++) t->cells[i * COLS + 5] = 1.0 + (double)(i % 3);
    o[0] = asked(), o[0].weights = "c5";
    expect_none(t, &o[0]);
    t->rows = COLS; /* fewer than sides */
    o[0] = asked();
    expect_none(t, &o[0]);
    fen_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_prepared_rows),
        cmocka_unit_test(not_for_everybody),
        cmocka_unit_test(cells_that_are_not_for_it),
        cmocka_unit_test(options_that_are_not_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
