/* test_model.c -- models as files come back as they were, and predict by the definition */
#include "support/model_files.h"

/* ---- round trips ---------------------------------------------------------------------- */

static void same_array(const double *a, const double *b, int64_t count)
{
    assert_int_equal(a != NULL, b != NULL);
    if (a) assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

static void same_preparation(const fenp_prep *a, const fenp_prep *b)
{
    json_t *x = fenp_prep_to_json(a), *y = fenp_prep_to_json(b);
    assert_true(json_equal(x, y));
    json_decref(x);
    json_decref(y);
    assert_int_equal(a->features, b->features);
    for (int64_t i = 0; i < a->inputs; i++) {
        assert_string_equal(a->input[i].name, b->input[i].name);
        same_array(&a->input[i].fill, &b->input[i].fill, 1);
        same_array(&a->input[i].center, &b->input[i].center, 1);
        same_array(&a->input[i].scale, &b->input[i].scale, 1);
    }
}

static void same_places(const int64_t *a, const int64_t *b, int64_t count)
{
    assert_int_equal(a != NULL, b != NULL);
    if (a) assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

static void same_penalty(const fen_model *a, const fen_model *b)
{
    const fenp_groups *g = &a->groups, *h = &b->groups;
    assert_ptr_equal(a->penalty, b->penalty);
    assert_true(a->mix == b->mix && a->nonnegative == b->nonnegative && a->copies == b->copies);
    assert_true(a->rank == b->rank && a->whole == b->whole && a->aliased_count == b->aliased_count);
    assert_true(a->condition == b->condition || isnan(a->condition + b->condition));
    assert_int_equal(g->count, h->count);
    same_places(g->start, h->start, g->count + 1);
    same_places(g->member, h->member, a->copies * a->p);
    same_places(a->aliased, b->aliased, a->aliased_count);
    same_array(g->weight, h->weight, g->count);
    same_array(a->terms, b->terms, a->targets * a->kept);
    assert_int_equal(a->pivot_count, b->pivot_count);
    same_places(a->pivots, b->pivots, a->pivot_count * (int64_t)(a->kernel.par.order / 2));
    same_array(a->pivot_weights, b->pivot_weights, a->targets * a->pivot_count);
    same_array(&a->prediction_error, &b->prediction_error, 1);
    assert_int_equal(g->name != NULL, h->name != NULL);
    for (int64_t k = 0; g->name && k < g->count; k++) assert_string_equal(g->name[k], h->name[k]);
}

static void same_model(const fen_model *a, const fen_model *b)
{
    same_preparation(a->prep, b->prep);
    assert_ptr_equal(a->loss, b->loss);
    assert_ptr_equal(a->kernel.table, b->kernel.table);
    assert_memory_equal(&a->kernel.par, &b->kernel.par, sizeof a->kernel.par);
    const double x[] = { a->lambda, a->power, a->tolerance, a->seconds, a->selection.score };
    const double y[] = { b->lambda, b->power, b->tolerance, b->seconds, b->selection.score };
    same_array(x, y, 5);
    assert_int_equal(a->bias, b->bias);
    assert_true(a->hash == b->hash && a->n == b->n && a->p == b->p && a->targets == b->targets);
    assert_int_equal(a->kept, b->kept);
    assert_memory_equal(a->output, b->output, (size_t)a->targets * sizeof *a->output);
    same_array(a->class_weights, b->class_weights, a->prep->class_count);
    assert_int_equal(a->support != NULL, b->support != NULL);
    if (a->support)
        assert_memory_equal(a->support, b->support, (size_t)a->kept * sizeof *a->support);
    same_array(&a->nu, &b->nu, 1);
    assert_true(a->train_error == b->train_error || isnan(a->train_error + b->train_error));
    assert_true(a->crossing == b->crossing || isnan(a->crossing + b->crossing));
    same_array(a->inputs, b->inputs, a->kept * a->p);
    same_array(a->weights, b->weights, a->targets * a->p);
    same_array(a->dual, b->dual, a->targets * fenp_model_duals(a));
    same_penalty(a, b);
    assert_true(a->seed == b->seed && a->approx.columns == b->approx.columns &&
                a->approx.orthogonal == b->approx.orthogonal);
    same_array(a->frequencies, b->frequencies, a->approx.columns / 2 * a->p);
    same_array(a->feature_weights, b->feature_weights, a->targets * a->approx.columns);
    same_array(a->coef_scale, b->coef_scale, a->targets);
    same_array(a->offset, b->offset, a->targets);
    for (int64_t t = 0; t < a->targets; t++) {
        same_array(&a->certificate[t].primal, &b->certificate[t].primal, 8);
        same_array(&a->certificate[t].norm_distance, &b->certificate[t].norm_distance, 3);
        assert_int_equal(a->certificate[t].verdict, b->certificate[t].verdict);
    }
    assert_string_equal(a->selection.kind, b->selection.kind);
    assert_int_equal(a->selection.rows, b->selection.rows);
    assert_int_equal(a->selection.count, b->selection.count);
    same_array((double *)a->selection.grid, (double *)b->selection.grid, 7 * a->selection.count);
    assert_string_equal(a->method, b->method);
    assert_string_equal(a->note, b->note);
}

static void every_kind_comes_back_bit_for_bit(void **state)
{
    (void)state;
    for (int k = 0; k < SOME_KINDS; k++) {
        fen_model *m = some_model(&some_kinds[k]);
        bytes first = saved(&some_kinds[k]);
        fen_model *back = loaded();
        same_model(m, back);
        assert_int_equal(fen_model_save(back, path, NULL), FEN_OK);
        bytes second = read_bytes();
        assert_int_equal(first.size, second.size);
        assert_memory_equal(first.at, second.at, (size_t)first.size);
        free(first.at);
        free(second.at);
        fen_model_free(m);
        fen_model_free(back);
    }
}

static void a_note_cut_inside_a_character_is_saved(void **state)
{
    (void)state;
    fen_model *m = some_model(&some_kinds[0]);
    snprintf(m->note, sizeof m->note, "column \"gr\xc3\xbc\xc3");
    assert_int_equal(fen_model_save(m, path, NULL), FEN_OK);
    fen_model *back = loaded();
    assert_string_equal(back->note, "column \"gr\xc3\xbc\xef\xbf\xbd");
    fen_model_free(m);
    fen_model_free(back);
}

static void a_save_that_fails_says_where(void **state)
{
    (void)state;
    fen_error err = { 0 };
    fen_model *m = some_model(&some_kinds[0]);
    assert_int_equal(fen_model_save(m, "no/such/folder/x.fen", &err), FEN_IO);
    assert_non_null(strstr(err.message, "no/such/folder/x.fen"));
    fen_model_free(m);
}

/* Models of the formats before this one are read as they were. */
static void older_formats_are_still_read(void **state)
{
    (void)state;
    static const char *const files[] = { "tests/fuzz/corpus/model/format-2",
                                         "tests/fuzz/corpus/model/format-3" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        fen_model *m = NULL, *now = some_model(&some_kinds[0]);
        fen_error err;
        if (fen_model_load(files[i], &m, &err)) fail_msg("%s", err.message);
        same_model(now, m);
        fen_model_free(m);
        fen_model_free(now);
    }
}

/* Sparse: a, b, c, d, e, f of which b and e have a coefficient and d a weight of its own. */
static fen_model *sparse_model(void)
{
    fen_model *m = some_model(&some_kinds[SOME_LASSO]);
    fenp_prep *prep = fenp_prep_new(6, 1);
    for (int i = 0; i < 6; i++) {
        prep->input[i].name = fenp_strdup((const char[]){ (char)('a' + i), '\0' });
        prep->input[i].scale = 1 + i;
    }
    prep->target[0] = fenp_strdup("y");
    prep->sparse = 1;
    strcpy(prep->scaling, "standard");
    fenp_prep_count(prep);
    fenp_prep_free(m->prep);
    m->prep = prep;
    for (int j = 0; j < 6; j++) {
        m->weights[j] = j == 1 ? 2.5 : j == 4 ? -1 : 0;
        m->groups.weight[j] = j == 3 ? 0.5 : 1;
    }
    return m;
}

static void sparse_models_shrink(void **state)
{
    (void)state;
    fen_model *m = sparse_model();
    assert_int_equal(fenp_model_shrink(m, NULL), FEN_OK);
    assert_true(m->p == 3 && m->whole == 6 && m->groups.count == 3 && m->prep->inputs == 3);
    assert_true(m->weights[0] == 2.5 && m->weights[1] == 0 && m->weights[2] == -1);
    assert_true(m->groups.weight[0] == 1 && m->groups.weight[1] == 0.5);
    assert_string_equal(m->prep->input[0].name, "b");
    assert_string_equal(m->prep->input[1].name, "d");
    assert_true(m->prep->input[2].scale == 5);
    assert_int_equal(fenp_model_terms(m, 0), 2);
    assert_int_equal(fen_model_save(m, path, NULL), FEN_OK);
    fen_model *back = loaded();
    same_model(m, back);
    fen_model_free(back);
    fen_model_free(m);
    m = sparse_model(); /* no coefficient at all: a column stays */
    free(m->groups.weight);
    m->groups.weight = NULL;
    memset(m->weights, 0, 6 * sizeof(double));
    assert_int_equal(fenp_model_shrink(m, NULL), FEN_OK);
    assert_true(m->p == 1 && m->prep->inputs == 1 && m->weights[0] == 0);
    fen_model_free(m);
    m = some_model(&some_kinds[SOME_LASSO]); /* a dense file's columns are asked for */
    assert_int_equal(fenp_model_shrink(m, NULL), FEN_OK);
    assert_int_equal(m->p, m->whole);
    fen_model_free(m);
}

/* ---- prediction ----------------------------------------------------------------------- */

/* sum over all tuples of `left` more rows of a.. k(their product times from), from: p numbers. */
static double over_tuples(const fen_model *m, int64_t t, const double *from, int64_t left,
                          const double *other)
{
    double product[16], sum = 0;
    if (left == 0) {
        for (int64_t j = 0; j < m->p; j++) sum += from[j] * (other ? other[j] : 1);
        return m->kernel.table->value(sum, &m->kernel.par);
    }
    for (int64_t i = 0; i < m->kept; i++) {
        for (int64_t j = 0; j < m->p; j++) product[j] = from[j] * m->inputs[i * m->p + j];
        sum += m->coef_scale[t] * m->dual[t * m->kept + i] *
               over_tuples(m, t, product, left - 1, other);
    }
    return sum;
}

/* f of penalty lp: sum K(x_i1, .., x_i(q-1), x) a_i1 .. a_i(q-1), or by the pivots. */
static double tuples(const fen_model *m, const double *x, int64_t t)
{
    const int64_t q = (int64_t)m->kernel.par.order, h = q / 2;
    double sum = 0, u[16];
    if (!m->pivots) return over_tuples(m, t, x, q - 1, NULL);
    for (int64_t s = 0; s < m->pivot_count; s++) {
        for (int64_t j = 0; j < m->p; j++) {
            u[j] = 1;
            for (int64_t k = 0; k < h; k++) u[j] *= m->inputs[m->pivots[s * h + k] * m->p + j];
        }
        sum += m->pivot_weights[t * m->pivot_count + s] * over_tuples(m, t, x, h - 1, u);
    }
    return sum;
}

/* From the definition, one pair at a time. */
static double definition(const fen_model *m, const double *x, int64_t t)
{
    const int64_t half = m->approx.columns / 2;
    double sum = m->offset[t];
    for (int64_t k = 0; k < half; k++) {
        const double *v = m->feature_weights + t * 2 * half;
        double along = 0;
        for (int64_t j = 0; j < m->p; j++) along += m->frequencies[k * m->p + j] * x[j];
        sum += sqrt(1.0 / (double)half) * (v[k] * cos(along) + v[k + half] * sin(along));
    }
    if (half) return sum;
    if (fenp_model_is_lp(m) && !m->weights) return sum + tuples(m, x, t);
    for (int64_t j = 0; m->weights && j < m->p; j++) sum += m->weights[t * m->p + j] * x[j];
    for (int64_t i = 0; !m->weights && i < m->kept; i++) {
        double k = m->inputs ? fenp_kernel_pair(&m->kernel, m->inputs + i * m->p, x, m->p) : x[i];
        sum +=
            (m->terms ? m->terms[t * m->kept + i] : m->coef_scale[t] * m->dual[t * m->kept + i]) *
            k;
    }
    return sum;
}

static void scores_follow_the_definition(void **state)
{
    (void)state;
    enum { ROWS = 7 };
    for (int k = 0; k < SOME_KINDS; k++) {
        fen_model *m = some_model(&some_kinds[k]);
        double *x = some_numbers(ROWS * m->p, 6), scores[ROWS * 3];
        /* a series without an end goes on until nothing above 1e-11 is left */
        const double error = k == SOME_LP_EXPONENTIAL ? 1e-10 : 1e-12;
        assert_int_equal(fenp_model_scores(m, x, ROWS, scores, NULL, NULL), FEN_OK);
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t t = 0; t < m->targets; t++) {
                double wanted = definition(m, x + i * m->p, t);
                double got = scores[i * m->targets + t];
                assert_true(fabs(got - wanted) <= error * (1 + fabs(wanted)));
            }
        assert_int_equal(fenp_model_scores(m, x, 0, scores, NULL, NULL), FEN_OK);
        free(x);
        fen_model_free(m);
    }
}

static void raw_rows_need_the_columns_of_the_training(void **state)
{
    (void)state;
    fen_error err;
    double cells[4 * SOME_ROWS], scores[4] = { 7, 7, 7, 7 };
    for (int i = 0; i < 4 * SOME_ROWS; i++) cells[i] = 0.5 * i;
    fen_model *m = some_model(&some_kinds[4]); /* precomputed: one column per training row */
    fen_view rows = { cells, 2, SOME_ROWS, SOME_ROWS };
    assert_int_equal(fen_predict(m, rows, NULL, NULL, scores, &err), FEN_OK);
    assert_true(fabs(scores[1] - definition(m, cells + SOME_ROWS, 0)) < 1e-12);
    scores[0] = 7;
    rows.cols = SOME_ROWS - 1;
    assert_int_equal(fen_predict(m, rows, NULL, NULL, scores, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "takes 5 columns, the rows have 4"));
    fen_model_free(m);
    m = some_model(&some_kinds[0]); /* it was trained on a column of text */
    rows = (fen_view){ cells, 2, 4, 4 };
    assert_int_not_equal(fen_predict(m, rows, NULL, NULL, scores, &err), FEN_OK);
    assert_non_null(strstr(err.message, "colour"));
    assert_true(scores[0] == 7);
    fen_model_free(m);
}

/* b + sum weight (x - center)/scale = intercept + sum coefficient x */
static void linear_coefficients_are_those_of_the_file(void **state)
{
    (void)state;
    fen_model *m = some_model(&some_kinds[1]);
    json_t *json = described(&some_kinds[1]);
    const json_t *weights = json_object_get(json, "coefficients");
    assert_true(json_number_value(json_array_get(json_object_get(json, "bias"), 1)) ==
                m->offset[1]);
    const double raw[] = { 33, 1, 12, 0, 1, 0 }; /* age given, its indicator, size, colour */
    const double x[] = { (33 - 40.1) / 0.1, 1, (12 + 1.0 / 3) / 7, 0, 1, 0 };
    assert_int_equal(json_array_size(weights), 6);
    for (int64_t t = 0; t < 2; t++) {
        double sum =
            json_number_value(json_array_get(json_object_get(json, "intercept"), (size_t)t));
        for (size_t j = 0; j < 6; j++) {
            const json_t *entry = json_array_get(weights, j);
            const json_t *coefficient = json_object_get(entry, "value");
            sum += json_number_value(json_array_get(coefficient, (size_t)t)) * raw[j];
        }
        double wanted = definition(m, x, t);
        assert_true(fabs(sum - wanted) <= 1e-11 * (1 + fabs(wanted)));
    }
    json_decref(json);
    fen_model_free(m);
}

/* ---- support and decisions ---------------------------------------------------------------- */

static void packing_keeps_the_predictions(void **state)
{
    (void)state;
    enum { ROWS = 4 };
    for (int k = 0; k < 2; k++) { /* a kernel of rows, and a linear one */
        fen_model *m = some_model(&some_kinds[k]);
        double *x = some_numbers(m->n * m->p, 4), *at = some_numbers(ROWS * m->p, 6);
        double before[ROWS * 2], after[ROWS * 2];
        free(m->inputs);
        m->inputs = NULL;
        fen_error err;
        assert_int_equal(fenp_model_pack_support(m, x, &err), FEN_OK);
        assert_null(m->support); /* every row has a coefficient */
        assert_null(m->inputs);
        for (int64_t t = 0; t < m->targets; t++) m->dual[t * m->n + 1] = m->dual[t * m->n + 4] = 0;
        if (m->targets == 2) m->dual[4] = 1; /* one target is enough */
        if (!m->weights) m->inputs = fenp_new(m->n * m->p, sizeof(double));
        if (!m->weights) memcpy(m->inputs, x, (size_t)(m->n * m->p) * sizeof(double));
        assert_int_equal(fenp_model_scores(m, at, ROWS, before, NULL, NULL), FEN_OK);
        assert_int_equal(fenp_model_pack_support(m, x, &err), FEN_OK);
        assert_int_equal(m->kept, m->targets == 2 ? 4 : 3);
        assert_int_equal(m->support[1], 2);
        assert_int_equal(fenp_model_scores(m, at, ROWS, after, NULL, NULL), FEN_OK);
        for (int64_t i = 0; i < ROWS * m->targets; i++)
            assert_true(fabs(before[i] - after[i]) <= 1e-13 * (1 + fabs(before[i])));
        free(x);
        free(at);
        fen_model_free(m);
    }
    fen_model *m = some_model(&some_kinds[0]);
    memset(m->dual, 0, (size_t)m->n * sizeof *m->dual);
    double *x = m->inputs;
    m->inputs = NULL;
    assert_int_equal(fenp_model_pack_support(m, x, NULL), FEN_OK);
    assert_int_equal(m->kept, 1); /* of nothing a row stays */
    free(x);
    fen_model_free(m);
}

static void decisions_and_probabilities(void **state)
{
    (void)state;
    int64_t codes[2];
    double p[6];
    fen_error err;
    fen_model *m = some_model(&some_kinds[SOME_TWO]);
    assert_int_equal(fen_model_classes(m), 2);
    assert_string_equal(fen_model_class(m, 0), "a, \"b\"");
    assert_null(fen_model_class(m, 2));
    assert_int_equal(fen_decide(m, (const double[]){ 0.5, -0.5 }, 2, codes, NULL, &err), FEN_OK);
    assert_true(codes[0] == 1 && codes[1] == 0);
    assert_int_equal(fen_decide(m, (const double[]){ 0.5 }, 1, codes, p, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "--probability"));
    m->output[0].sigmoid[0] = -2;
    assert_int_equal(fen_decide(m, (const double[]){ 0.5 }, 1, codes, p, &err), FEN_OK);
    assert_true(fabs(p[1] - 1 / (1 + exp(-1))) < 1e-15 && fabs(p[0] + p[1] - 1) < 1e-15);
    fen_model_free(m);
    m = some_model(&some_kinds[6]); /* logistic, one against the rest */
    const double scores[] = { -1, 2, 0.5, -800, -900, -1000 };
    assert_int_equal(fen_decide(m, scores, 2, codes, p, &err), FEN_OK);
    assert_true(codes[0] == 1 && codes[1] == 0);
    const double sum = 1 / (1 + exp(1)) + 1 / (1 + exp(-2)) + 1 / (1 + exp(-0.5));
    assert_true(fabs(p[1] - 1 / (1 + exp(-2)) / sum) < 1e-15);
    assert_true(p[3] == 1 && p[4] == 0 && p[5] == 0);
    fen_model_free(m);
    m = some_model(&some_kinds[SOME_PAIRS]);
    assert_int_equal(fen_decide(m, (const double[]){ 2, 3, -4 }, 1, codes, p, &err), FEN_OK);
    assert_int_equal(codes[0], 1);
    assert_true(p[1] > p[0] && fabs(p[0] + p[1] + p[2] - 1) < 1e-12);
    fen_model_free(m);
    m = some_model(&some_kinds[8]);
    assert_int_equal(fen_model_classes(m), 0);
    assert_int_equal(fen_decide(m, (const double[]){ 0.5, -0.5 }, 2, codes, NULL, &err), FEN_OK);
    assert_true(codes[0] == 1 && codes[1] == -1);
    assert_string_equal(fen_model_target_name(m, 0), "one class");
    fen_model_free(m);
    m = some_model(&some_kinds[0]);
    assert_int_equal(fen_decide(m, scores, 1, codes, NULL, &err), FEN_BAD_CALL);
    fen_model_free(m);
}

/* ---- the seeds of the fuzzer ------------------------------------------------------------ */

static const char *seed_name(const some_kind *kind)
{
    return kind->name ? kind->name : kind->kernel;
}

static int write_seeds(const char *folder)
{
    int failed = 0;
    for (int k = 0; k < SOME_KINDS; k++) {
        fen_model *m = some_model(&some_kinds[k]);
        snprintf(path, sizeof path, "%s/%s", folder, seed_name(&some_kinds[k]));
        failed |= fen_model_save(m, path, NULL) != FEN_OK;
        fen_model_free(m);
    }
    return failed;
}

/* Seeds that no longer load would leave the fuzzer at the gate. */
static void the_seeds_of_the_fuzzer_are_models(void **state)
{
    (void)state;
    for (int k = 0; k < SOME_KINDS; k++) {
        char seed[256];
        fen_error err;
        fen_model *m = NULL;
        snprintf(seed, sizeof seed, "tests/fuzz/corpus/model/%s", seed_name(&some_kinds[k]));
        if (fen_model_load(seed, &m, &err) != FEN_OK)
            fail_msg("%s; write them anew: test_unit_model tests/fuzz/corpus/model", err.message);
        fen_model_free(m);
    }
}

/* With a folder: writes the seeds of the fuzzer there. */
int main(int count, char **words)
{
    if (count == 2) return write_seeds(words[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_comes_back_bit_for_bit),
        cmocka_unit_test(a_note_cut_inside_a_character_is_saved),
        cmocka_unit_test(a_save_that_fails_says_where),
        cmocka_unit_test(older_formats_are_still_read),
        cmocka_unit_test(sparse_models_shrink),
        cmocka_unit_test(scores_follow_the_definition),
        cmocka_unit_test(raw_rows_need_the_columns_of_the_training),
        cmocka_unit_test(linear_coefficients_are_those_of_the_file),
        cmocka_unit_test(packing_keeps_the_predictions),
        cmocka_unit_test(decisions_and_probabilities),
        cmocka_unit_test(the_seeds_of_the_fuzzer_are_models),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
