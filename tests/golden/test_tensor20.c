/* test_tensor20.c -- l^p penalties against an independent implementation
 *
 * The first 20 rows of concrete.csv, inputs standardised with the population deviation, one
 * constant column dropped, times 0.2831408541 (so that the largest sum of fourth powers is 1);
 * y = (strength - 35.818)/10, classes: y > 1. The numbers come from NumPy programs that share
 * nothing with ours: all features written out (those of the exponential kernel up to degree 13:
 * what is left out is below 1e-11), Newton's method on the dual problem for the square loss, a
 * barrier method for the others, until primal and dual value agreed to 1e-14. In the form
 *     gamma sum r^2/2 + |w|_p^p / p = -Lambda,   lambda = 2 / (n gamma p),
 * Lambda and a_1 of the first three are those of design/mathematics.md, section 7. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "data/table.h"
#include "model/model.h"

enum { ROWS = 20, FRESH = 2, READ = 8, INPUTS = 7, SKIPPED = 77 };
static const double UNIT = 0.2831408541;

/* a1: the first dual variable; fresh: predictions for rows 21 and 22 */
typedef struct reference {
    const char *kernel, *degree, *power;
    double order, gamma;
    int bias;
    double value, a1, b, norm, fresh[FRESH];
} reference;

static const reference squares[] = {
    { "tensor-linear",
      "auto",
      "4/3",
      4,
      10,
      0,
      -124.908824919,
      19.672943274,
      0,
      7.595706513,
      { -0.212601911, -1.093913669 } },
    { "tensor-polynomial",
      "2",
      "4/3",
      4,
      10,
      0,
      -47.927764690,
      9.324453586,
      0,
      9.939826314,
      { 0.094921950, 0.702645245 } },
    { "tensor-exponential",
      "auto",
      "4/3",
      4,
      10,
      0,
      -25.535587650,
      9.369389764,
      0,
      8.039474718,
      { 0.690060208, -0.040660371 } },
    { "tensor-linear",
      "auto",
      "4/3",
      4,
      10,
      1,
      -30.537314669,
      9.958443274,
      0.971450000,
      7.595706513,
      { 0.758848089, -0.122463669 } },
    { "tensor-polynomial",
      "2",
      "4/3",
      4,
      10,
      1,
      -30.952042844,
      9.525308342,
      0.904706771,
      7.135556491,
      { 0.676065219, 0.267373394 } },
    { "tensor-exponential",
      "auto",
      "4/3",
      4,
      10,
      1,
      -24.628463663,
      9.316500884,
      1.177450927,
      7.673160761,
      { 0.693407450, -0.038011287 } },
    { "tensor-polynomial",
      "3",
      "4/3",
      4,
      10,
      1,
      -38.738450929,
      9.656525957,
      0.749911736,
      6.534104693,
      { 0.812021503, 0.071480636 } },
    { "tensor-polynomial",
      "2",
      "4/3",
      4,
      1000,
      1,
      -214.846050873,
      24.631415874,
      1.644462220,
      36.231862790,
      { 0.717899550, -0.071399749 } },
    { "tensor-exponential",
      "auto",
      "4/3",
      4,
      1000,
      0,
      -106.914023565,
      23.966086007,
      0,
      34.067662878,
      { 0.644197814, -0.644672324 } },
    { "tensor-linear",
      "auto",
      "6/5",
      6,
      10,
      1,
      -30.175454051,
      9.789638010,
      0.971450000,
      9.050000648,
      { 0.738966743, -0.153091724 } },
    { "tensor-polynomial",
      "2",
      "6/5",
      6,
      10,
      1,
      -32.277033536,
      9.622147225,
      0.904734685,
      8.419444859,
      { 0.687395044, 0.273523491 } },
    { "tensor-exponential",
      "auto",
      "6/5",
      6,
      10,
      1,
      -25.077378080,
      9.471458777,
      1.298192173,
      9.162563599,
      { 0.688349886, -0.034639425 } },
    { "tensor-polynomial",
      "2",
      "8/7",
      8,
      10,
      0,
      -48.749157506,
      9.300442060,
      0,
      12.816624024,
      { 0.103332955, 0.729861776 } },
    { "tensor-polynomial",
      "2",
      "2",
      2,
      10,
      0,
      -46.400902026,
      9.577802447,
      0,
      5.173562613,
      { 0.138311765, 0.641674525 } },
    { "linear",
      "auto",
      "4/3",
      4,
      10,
      0,
      -124.908824919,
      19.672943274,
      0,
      7.595706513,
      { -0.212601911, -1.093913669 } },
    { "linear",
      "auto",
      "2",
      2,
      10,
      1,
      -33.113476996,
      11.063417679,
      0.971450000,
      4.261215610,
      { 0.846258293, 0.027125183 } },
    { "linear",
      "auto",
      "1.1",
      11,
      10,
      1,
      -29.959221951,
      9.674947831,
      0.971450000,
      10.528612859,
      { 0.723457120, -0.177973366 } },
    { "linear",
      "auto",
      "1.05",
      21,
      10,
      0,
      -124.246617070,
      19.339360894,
      0,
      11.454262304,
      { -0.255739998, -1.160426304 } },
};
enum { SQUARES = sizeof squares / sizeof *squares };

/* tensor-polynomial, degree 2, p = 4/3, lambda = 0.0075, with bias */
typedef struct other {
    const char *loss;
    int classes;
    double objective, norm, b, fresh[FRESH];
} other;

static const other others[] = {
    { "eps:0.5", 0, 0.153059622080, 5.761149192, 1.076753264, { 0.760898908, -0.210762807 } },
    { "absolute", 0, 0.416012334744, 6.223120725, 0.910129091, { 0.715601232, 0.336112011 } },
    { "huber:0.5", 0, 0.158340726099, 2.988767279, 0.791213664, { 0.690886958, 0.293955390 } },
    { "hinge", 1, 0.497313924587, 6.113896674, -0.622530378, { NAN, NAN } },
    { "logistic", 1, 0.522035404822, 6.275719780, -0.472197600, { NAN, NAN } },
};
enum { OTHERS = sizeof others / sizeof *others };

typedef struct concrete {
    double x[ROWS + FRESH][INPUTS], y[ROWS], classes[ROWS];
    fen_table *numbers, *signs;
} concrete;

static void assert_near(double found, double expected, double digits, const char *what,
                        const char *where)
{
    if (fabs(found - expected) <= digits * fmax(fabs(expected), 1.0)) return;
    fail_msg("%s: %s is %.12g, the reference has %.10g", where, what, found, expected);
}

static void set(fen_options *o, const char *name, const char *value)
{
    fen_error err = { 0 };
    if (fen_options_set(o, name, value, &err) != FEN_OK) fail_msg("%s", err.message);
}

/* penalty: room for its text, which the options borrow */
static fen_options options_of(const reference *r, const char *engine, const char *route,
                              char penalty[32])
{
    fen_options o = fen_options_default();
    const double p = r->order / (r->order - 1.0);
    char lambda[32];
    snprintf(penalty, 32, "lp:%s", r->power);
    snprintf(lambda, sizeof lambda, "%.17g", 2.0 / (ROWS * r->gamma * p));
    set(&o, "penalty", penalty);
    set(&o, "kernel", r->kernel);
    set(&o, "degree", r->degree);
    set(&o, "lambda", lambda);
    set(&o, "scale", "none");
    set(&o, "engine", engine);
    set(&o, "route", route);
    if (strcmp(r->kernel, "tensor-exponential") == 0) set(&o, "gamma", "1");
    o.bias = r->bias;
    return o;
}

static fen_model *fit(const fen_table *table, const fen_options *o, const char *where)
{
    fen_model *model = NULL;
    fen_error err = { 0 };
    if (fen_fit(table, o, NULL, &model, &err) != FEN_OK) fail_msg("%s: %s", where, err.message);
    const fen_certificate c = fen_model_certificate(model, 0);
    if (c.verdict != FEN_VERDICT_OPTIMAL)
        fail_msg("%s: not optimal, a relative gap of %g", where, c.relative_gap);
    return model;
}

/* Objectives to the tolerance, which bounds their distance; what they are reached at to the
 * square root of it. */
static void check_square(const concrete *data, const reference *r, const char *engine,
                         const char *route, double tolerance)
{
    char penalty[32], where[128];
    fen_options o = options_of(r, engine, route, penalty);
    const double digits = 10.0 * sqrt(tolerance), half = 0.5 * ROWS * r->gamma;
    const fen_view rows = { data->x[ROWS], FRESH, INPUTS, INPUTS };
    double fresh[FRESH];
    o.tolerance = tolerance;
    snprintf(where, sizeof where, "%s %s, %s, gamma %g, %s, %s", r->kernel, r->degree, penalty,
             r->gamma, engine, route);
    fen_model *m = fit(data->numbers, &o, where);
    const fen_certificate c = fen_model_certificate(m, 0);
    assert_near(-half * c.primal, r->value, 2.0 * tolerance, "Lambda (primal)", where);
    assert_near(-half * c.dual, r->value, 2.0 * tolerance, "Lambda (dual)", where);
    assert_near(m->coef_scale[0] * m->dual[0], r->a1, digits, "a_1", where);
    assert_near(m->offset[0], r->b, digits, "b", where);
    assert_near(c.norm, r->norm, digits, "norm", where);
    assert_int_equal(fen_predict(m, rows, NULL, NULL, fresh, NULL), FEN_OK);
    for (int k = 0; k < FRESH; k++) assert_near(fresh[k], r->fresh[k], digits, "f", where);
    fen_model_free(m);
}

static const double TOLERANCE = 1e-10;

static void newton_agrees(void **state)
{
    for (int i = 0; i < SQUARES; i++)
        check_square(*state, &squares[i], "lp-newton", "auto", TOLERANCE);
}

static void the_gradient_method_agrees(void **state)
{
    for (int i = 0; i < SQUARES; i++)
        if (squares[i].gamma < 100.0 && squares[i].order <= 4.0)
            check_square(*state, &squares[i], "lp-gradient", "auto", 1e-7);
}

/* The factor of low rank is in single precision. */
static void routes_agree(void **state)
{
    for (int i = 0; i < SQUARES; i++) {
        const reference *r = &squares[i];
        if (strncmp(r->kernel, "tensor", 6) != 0) continue;
        if (strcmp(r->kernel, "tensor-exponential") != 0)
            check_square(*state, r, "lp-newton", "features", TOLERANCE);
        check_square(*state, r, "lp-newton", "packed", TOLERANCE);
        check_square(*state, r, "lp-newton", "low-rank", 1e-6);
    }
}

static void other_losses_agree(void **state)
{
    const concrete *data = *state;
    const reference *shared = &squares[4];
    const double tolerance = 1e-9, digits = 10.0 * sqrt(tolerance);
    for (int i = 0; i < OTHERS; i++) {
        const other *k = &others[i];
        char penalty[32];
        double fresh[FRESH];
        fen_options o = options_of(shared, "auto", "auto", penalty);
        set(&o, "loss", k->loss);
        o.tolerance = tolerance;
        fen_model *m = fit(k->classes ? data->signs : data->numbers, &o, k->loss);
        const fen_certificate c = fen_model_certificate(m, 0);
        assert_near(c.primal, k->objective, 2.0 * tolerance, "objective", k->loss);
        assert_near(c.dual, k->objective, 2.0 * tolerance, "dual value", k->loss);
        assert_near(c.norm, k->norm, digits, "norm", k->loss);
        assert_near(m->offset[0], k->b, digits, "b", k->loss);
        if (!k->classes) {
            const fen_view rows = { data->x[ROWS], FRESH, INPUTS, INPUTS };
            assert_int_equal(fen_predict(m, rows, NULL, NULL, fresh, NULL), FEN_OK);
            for (int f = 0; f < FRESH; f++)
                assert_near(fresh[f], k->fresh[f], digits, "f", k->loss);
        }
        fen_model_free(m);
    }
}

/* ---- the rows ------------------------------------------------------------------------------ */

static void standardise(const fen_table *table, concrete *data)
{
    int column = 0;
    for (int j = 0; j < READ; j++) {
        double mean = 0.0, square = 0.0;
        for (int i = 0; i < ROWS; i++) mean += table->cells[i * table->cols + j] / ROWS;
        for (int i = 0; i < ROWS; i++)
            square += pow(table->cells[i * table->cols + j] - mean, 2) / ROWS;
        if (square == 0.0) continue;
        if (column == INPUTS) break;
        for (int i = 0; i < ROWS + FRESH; i++)
            data->x[i][column] = (table->cells[i * table->cols + j] - mean) / sqrt(square) * UNIT;
        column++;
    }
    for (int i = 0; i < ROWS; i++) {
        data->y[i] = (table->cells[i * table->cols + READ] - 35.818) / 10.0;
        data->classes[i] = data->y[i] > 1.0 ? 1.0 : -1.0;
    }
}

static int open_data(const char *path, concrete *data)
{
    const fen_options o = fen_options_default();
    const fen_view inputs = { data->x[0], ROWS, INPUTS, INPUTS };
    const fen_view numbers = { data->y, ROWS, 1, 1 }, signs = { data->classes, ROWS, 1, 1 };
    fen_table *all = NULL;
    fen_error err = { 0 };
    fen_status status = fen_table_read(path, &o, NULL, &all, &err);
    if (status == FEN_OK) {
        standardise(all, data);
        status = fen_table_copy(inputs, numbers, NULL, &data->numbers, &err);
    }
    if (status == FEN_OK) status = fen_table_copy(inputs, signs, NULL, &data->signs, &err);
    fen_table_free(all);
    if (status != FEN_OK) fprintf(stderr, "%s\n", err.message);
    return status == FEN_OK ? 0 : -1;
}

int main(void)
{
    const char *folder = getenv("FENCHEL_DATA");
    char path[4096];
    snprintf(path, sizeof path, "%s/concrete.csv", folder ? folder : "../shared/data");
    FILE *file = fopen(path, "r");
    if (!file) {
        printf("SKIPPED: %s is not there; name its folder in FENCHEL_DATA\n", path);
        return SKIPPED;
    }
    fclose(file);
    concrete data = { .numbers = NULL };
    if (open_data(path, &data) != 0) return EXIT_FAILURE;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(newton_agrees, &data),
        cmocka_unit_test_prestate(the_gradient_method_agrees, &data),
        cmocka_unit_test_prestate(routes_agree, &data),
        cmocka_unit_test_prestate(other_losses_agree, &data),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fen_table_free(data.numbers);
    fen_table_free(data.signs);
    return failed;
}
