/* test_model_penalties.c -- damaged files of models with a penalty on coefficients, or lp */
#include "support/model_files.h"

/* ---- penalties on coefficients ----------------------------------------------------------- */

static void new_penalty(json_t *h) { set(h, "penalty", "quantum"); }
static void no_penalty(json_t *h) { drop(h, "penalty"); }
static void whole_penalty(json_t *h) { set(h, "penalty", "rkhs"); }
static void unpenalised(json_t *h) { set(h, "penalty", "none"); }
static void lasso_by_name(json_t *h) { set(h, "penalty", "l1"); }
static void mix_of_one(json_t *h) { set(h, "mix", "1"); }
static void mix_of_half(json_t *h) { set(h, "mix", "0.5"); }
static void minus_mix(json_t *h) { set(h, "mix", "-0.5"); }
static void odd_sign(json_t *h) { set(h, "nonnegative", "perhaps"); }
static void two_copies(json_t *h) { set(h, "copies", "2"); }
static void no_copies(json_t *h) { set(h, "copies", "0"); }
static void vast_copies(json_t *h) { set(h, "copies", "4611686018427387904"); }
static void vast_rank(json_t *h) { set(h, "rank", "7"); }
static void minus_rank(json_t *h) { set(h, "rank", "-2"); }
static void low_condition(json_t *h) { set(h, "condition", "0.5"); }
static void fewer_features(json_t *h) { set(h, "features", "2"); }
static void more_features(json_t *h) { set(h, "features", "20"); }
static void odd_names(json_t *h) { set(h, "groups.names", "[1, 2]"); }
static void one_name(json_t *h) { set(h, "groups.names", "[\"a\"]"); }
static void many_names(json_t *h) { set(h, "groups.names", "[1,2,3,4,5,6,7,8]"); }
static void no_names(json_t *h) { set(h, "groups.names", "first"); }
static void no_members(json_t *h) { json_object_del(h, "groups.member"); }
static void other_power(json_t *h) { set(h, "power", "1.5"); }
static void some_price(json_t *h) { set(h, "nu", "0.5"); }
static void linear_terms(json_t *h) { set(h, "kernel", "linear"); }

static void damaged_penalties_are_refused(void **state)
{
    (void)state;
    static const edited cases[] = {
        { SOME_LASSO, new_penalty, "uses the penalty \"quantum\"" },
        { SOME_LASSO, no_penalty, "no penalty on coefficients" },
        { SOME_LASSO, whole_penalty, "no penalty on coefficients" },
        { SOME_LASSO, mix_of_half, "mix" },
        { SOME_ELASTIC, mix_of_one, "mix" },
        { SOME_ELASTIC, minus_mix, "damaged: mix" },
        { SOME_ELASTIC, odd_sign, "damaged: nonnegative" },
        { SOME_ELASTIC, two_copies, "copies" },
        { SOME_GROUP, no_copies, "copies" },
        { SOME_JOINT, vast_copies, "copies" },
        { SOME_JOINT, lasso_by_name, "copies" },
        { SOME_GROUP, lasso_by_name, "not those of the coefficients" },
        { SOME_GROUP, odd_names, "damaged: groups.names" },
        { SOME_GROUP, one_name, "damaged: groups.names" },
        { SOME_GROUP, many_names, "damaged: groups.names" },
        { SOME_GROUP, no_names, "damaged: groups.names" },
        { SOME_LASSO, one_name, "damaged: groups.names" },
        { SOME_GROUP, no_members, "damaged: " },
        { SOME_GROUP, fewer_features, "features" },
        { SOME_LASSO, more_features, "features" },
        { SOME_LASSO, vast_rank, "rank" },
        { SOME_LEAST, vast_rank, "rank" },
        { SOME_LEAST, minus_rank, "damaged: rank" },
        { SOME_LEAST, low_condition, "damaged: condition" },
        { SOME_LEAST, lasso_by_name, "damaged: lambda" },
        { SOME_LASSO, other_power, "power" },
        { SOME_LASSO, some_price, "nu" },
        { SOME_KERNEL_LASSO, whole_penalty, "damaged: the file" },
        { SOME_KERNEL_LASSO, linear_terms, "damaged: the file" },
        { 0, lasso_by_name, "damaged: the file" },
        { 6, lasso_by_name, "damaged: support" },
    };
    refuse_edited(cases, sizeof cases / sizeof *cases);
    fen_error err; /* no arrays tell them apart, and the rank may be missing */
    assert_int_equal(load_edited(&some_kinds[SOME_LASSO], unpenalised, &err), FEN_OK);
}

static void changed_groups_are_refused(void **state)
{
    (void)state;
    static const changed cases[] = {
        { SOME_GROUP, "groups.start", 0, 1, "no partition" },
        { SOME_GROUP, "groups.start", 1, 0, "no partition" },
        { SOME_GROUP, "groups.start", 1, 6, "no partition" },
        { SOME_GROUP, "groups.start", 1, 1e15, "no partition" },
        { SOME_GROUP, "groups.start", 2, 5, "no partition" },
        { SOME_GROUP, "groups.start", 1, -1, "no partition" },
        { SOME_GROUP, "groups.start", 1, 2.5, "no partition" },
        { SOME_GROUP, "groups.member", 0, 3, "no partition" },
        { SOME_GROUP, "groups.member", 5, 6, "no partition" },
        { SOME_GROUP, "groups.member", 5, -1, "no partition" },
        { SOME_GROUP, "groups.member", 5, 1e300, "no partition" },
        { SOME_JOINT, "groups.member", 0, 11, "no partition" },
        { SOME_GROUP, "groups.weight", 0, -1, "below 0" },
        { SOME_GROUP, "groups.weight", 0, NAN, "not finite" },
        { SOME_LASSO, "groups.weight", 1, -1, "below 0" },
        { SOME_LEAST, "aliased", 0, 5, "ascending" },
        { SOME_LEAST, "aliased", 1, 6, "ascending" },
        { SOME_LEAST, "aliased", 0, -1, "ascending" },
        { SOME_KERNEL_LASSO, "support", 2, 5, "ascending" },
        { SOME_KERNEL_LASSO, "terms", 0, INFINITY, "not finite" },
    };
    refuse_changed(cases, sizeof cases / sizeof *cases);
}

/* ---- penalty lp ------------------------------------------------------------------------- */

static void no_gamma(json_t *h) { drop(h, "gamma"); }
static void power_of_one(json_t *h) { set(h, "power", "1"); }
static void power_of_three(json_t *h) { set(h, "power", "3"); }
static void odd_order(json_t *h) { set(h, "power", "1.5"); }
static void other_order(json_t *h) { set(h, "power", "1.3333333333333333"); }
static void minus_error(json_t *h) { set(h, "prediction_error", "-1"); }
static void gaussian_lp(json_t *h) { set(h, "kernel", "gaussian"); }
static void polynomial_lp(json_t *h)
{
    set(h, "kernel", "tensor-polynomial"), set(h, "degree", "3");
}
static void minus_coef0(json_t *h) { set(h, "coef0", "-0.5"); }
static void newton_of_others(json_t *h) { set(h, "method", "newton"); }
static void large_degree(json_t *h) { set(h, "degree", "21"); }
static void no_pivots(json_t *h) { rename_array(h, "pivots"); }
static void no_pivot_weights(json_t *h) { rename_array(h, "pivot_weights"); }
static void flat_pivots(json_t *h) { reshape(h, "pivots", json_pack("[i]", 12)); }
static void turned_pivots(json_t *h) { reshape(h, "pivots", json_pack("[i,i]", 3, 4)); }
static void lp_by_name(json_t *h) { set(h, "penalty", "lp"); }
static void no_distance(json_t *h) { rename_array(h, "distance"); }
static void turned_distance(json_t *h) { reshape(h, "distance", json_pack("[i,i]", 3, 2)); }
static void flat_distance(json_t *h) { reshape(h, "distance", json_pack("[i]", 6)); }
static void exponential_by_name(json_t *h) { set(h, "kernel", "tensor-exponential"); }

static void damaged_lp_models_are_refused(void **state)
{
    (void)state;
    static const edited cases[] = {
        { SOME_LP, power_of_one, "power is not above 1 and at most 2" },
        { SOME_LP, power_of_three, "power is not above 1 and at most 2" },
        { SOME_LP, whole_penalty, "the method is not one for the loss" },
        { SOME_LP, minus_error, "prediction_error is not a number in its range" },
        { SOME_LP, newton_of_others, "the method is not one for the loss" },
        { SOME_LP_LINEAR, whole_penalty, "the penalty does not go with the kernel" },
        { SOME_LP_LINEAR, odd_order, "power is none of a tensor kernel" },
        { SOME_LP_POLYNOMIAL, gaussian_lp, "the kernel does not go with the penalty lp" },
        { SOME_LP_POLYNOMIAL, no_penalty, "the penalty does not go with the kernel" },
        { SOME_LP_POLYNOMIAL, minus_coef0, "coef0 is below 0" },
        { SOME_LP_POLYNOMIAL, large_degree, "degree is not a whole number from 1 to 20" },
        { SOME_LP_POLYNOMIAL, linear_terms, "does not hold the arrays of its kernel" },
        { SOME_LP_EXPONENTIAL, no_gamma, "gamma is not a number in its range" },
        { SOME_LP_EXPONENTIAL, odd_order, "power is none of a tensor kernel" },
        { SOME_LP_PIVOTS, other_order, "the pivots are not those of the power" },
        { SOME_LP_PIVOTS, polynomial_lp, "the pivots do not belong to the penalty" },
        { SOME_LP_PIVOTS, no_pivots, "pivots do not come with pivot_weights" },
        { SOME_LP_PIVOTS, no_pivot_weights, "pivots do not come with pivot_weights" },
        { SOME_LP_PIVOTS, flat_pivots, "pivot" },
        { SOME_LP_PIVOTS, turned_pivots, "pivot" },
        { SOME_LP_PIVOTS, no_distance, "holds an array that such a model lacks" },
        { SOME_LP_PIVOTS, turned_distance, "distance does not have the size" },
        { SOME_LP_PIVOTS, flat_distance, "distance does not have the size" },
        { 0, lp_by_name, "the kernel does not go with the penalty lp" },
        { 0, exponential_by_name, "the penalty does not go with the kernel" },
    };
    refuse_edited(cases, sizeof cases / sizeof *cases);
}

/* Bounds are 0 or more, and of the penalty lp alone; infinite ones claim nothing. */
static void wrong_distances_are_refused(void **state)
{
    (void)state;
    static const struct {
        int kind;
        double bias, optimum;
        const char *says;
    } cases[] = {
        { SOME_LP, -1e-300, 1, "a distance from the optimum is not a bound" },
        { SOME_LP_PIVOTS, 0, NAN, "a distance from the optimum is not a bound" },
        { SOME_LP_EXPONENTIAL, -INFINITY, 0, "a distance from the optimum is not a bound" },
        { SOME_LP_EXPONENTIAL, INFINITY, INFINITY, NULL },
        { SOME_LP_LINEAR, 0, INFINITY, NULL },
        { 0, 1, 1, "the distances from the optimum do not belong to the penalty" },
        { SOME_LASSO, 1, 1, "the distances from the optimum do not belong to the penalty" },
        { SOME_FEATURES, 1, 1, "the file" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fen_error err;
        fen_model *m = some_model(&some_kinds[cases[i].kind]);
        for (int64_t t = 0; t < m->targets; t++) {
            m->certificate[t].norm_distance = 1;
            m->certificate[t].bias_distance = cases[i].bias;
            m->certificate[t].optimum_distance = cases[i].optimum;
        }
        assert_int_equal(fen_model_save(m, path, NULL), FEN_OK);
        assert_int_equal(try_load(&err), cases[i].says ? FEN_BAD_DATA : FEN_OK);
        if (cases[i].says && !strstr(err.message, cases[i].says))
            fail_msg("%s: not \"%s\"", err.message, cases[i].says);
        fen_model_free(m);
    }
}

static void changed_pivots_are_refused(void **state)
{
    (void)state;
    static const struct {
        int place;
        int64_t row;
    } wrong[] = { { 0, -1 }, { 2, 5 }, { 2, INT64_MAX / 2 }, { 3, 3 }, { 11, 1 } };
    fen_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fen_model *m = some_model(&some_kinds[SOME_LP_PIVOTS]);
        m->pivots[wrong[i].place] = wrong[i].row;
        assert_int_equal(fen_model_save(m, path, NULL), FEN_OK);
        assert_int_equal(try_load(&err), FEN_BAD_DATA);
        assert_non_null(strstr(err.message, "the pivots are not ascending places of rows"));
        fen_model_free(m);
    }
}

/* A few bytes must not ask for hours of work: no more products of rows, and no more pivots, than
 * a fit would have taken. */
static void endless_predictions_are_refused(void **state)
{
    (void)state;
    static const struct {
        int64_t rows, h, pivots;
        int fits;
    } cases[] = { { 5, 3, 35, 1 },      { 5, 3, 36, 0 },      { 5, 3, 300, 0 },
                  { 1000, 2, 1998, 1 }, { 1000, 2, 2500, 0 }, { 1000, 4, 4, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fen_model *m = some_model(&some_kinds[SOME_LP_PIVOTS]);
        fen_error err;
        const int64_t n = cases[i].rows, h = cases[i].h, count = cases[i].pivots;
        free(m->inputs), free(m->dual), free(m->pivots), free(m->pivot_weights);
        m->n = m->kept = n, m->pivot_count = count;
        m->kernel.par.order = 2.0 * (double)h, m->power = 2.0 * (double)h / (2.0 * (double)h - 1);
        m->inputs = some_numbers(n * m->p, 4), m->dual = some_numbers(m->targets * n, 1);
        m->pivots = fenp_new_zeroed(count * h, sizeof *m->pivots);
        m->pivot_weights = some_numbers(m->targets * count, 7);
        assert_int_equal(fen_model_save(m, path, NULL), FEN_OK);
        const fen_status status = try_load(&err);
        if ((status == FEN_OK) != cases[i].fits) fail_msg("case %zu: %s", i, err.message);
        if (!cases[i].fits)
            assert_non_null(strstr(err.message, "more tuples of rows than any fit goes through"));
        fen_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_penalties_are_refused),
        cmocka_unit_test(changed_groups_are_refused),
        cmocka_unit_test(damaged_lp_models_are_refused),
        cmocka_unit_test(changed_pivots_are_refused),
        cmocka_unit_test(wrong_distances_are_refused),
        cmocka_unit_test(endless_predictions_are_refused),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
