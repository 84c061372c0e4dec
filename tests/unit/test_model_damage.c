/* test_model_damage.c -- model files that were cut, changed or never models: one sentence each
 *
 * Penalties: test_model_penalties.c. */
#include "model/tensors.h"
#include "support/model_files.h"

/* ---- files of any kind ------------------------------------------------------------------ */

static void every_shortened_file_is_refused(void **state)
{
    (void)state;
    fen_error err;
    for (int k = 0; k < SOME_KINDS; k++) {
        bytes b = saved(&some_kinds[k]);
        for (int64_t size = 0; size < b.size; size++) {
            write_bytes(b.at, size);
            assert_int_equal(try_load(&err), FEN_BAD_DATA);
        }
        b.at[b.size] = 0; /* and one that is too long */
        write_bytes(b.at, b.size + 1);
        assert_int_equal(try_load(&err), FEN_BAD_DATA);
        free(b.at);
    }
}

static void every_changed_byte_of_the_header_is_survived(void **state)
{
    (void)state;
    static const unsigned char flips[] = { 0x01, 0x02, 0x08, 0x20, 0x80 };
    fen_error err;
    int refused = 0;
    bytes b = saved(&some_kinds[0]);
    int64_t end = 8 + (int64_t)b.at[0] + 256 * (int64_t)b.at[1];
    assert_true(end < b.size);
    for (int64_t i = 0; i < end; i++)
        for (size_t f = 0; f < sizeof flips; f++) {
            b.at[i] ^= flips[f];
            write_bytes(b.at, b.size);
            fen_status status = try_load(&err);
            assert_true(status == FEN_OK || status == FEN_BAD_DATA);
            refused += status != FEN_OK;
            b.at[i] ^= flips[f];
        }
    assert_true(refused > end); /* a flip may hit words that nobody checks */
    free(b.at);
}

static void numbers_that_are_none_are_refused(void **state)
{
    (void)state;
    fen_error err;
    bytes b = saved(&some_kinds[0]);
    uint64_t length;
    memcpy(&length, b.at, 8);
    int64_t doubles = SOME_ROWS * 6 + SOME_ROWS + 1 + 1 + 3 * 4; /* up to the certificate */
    const double none = NAN;
    for (int64_t i = 0; i < doubles; i++) {
        unsigned char *at = b.at + 8 + length + 8 * (uint64_t)i, kept[8];
        memcpy(kept, at, 8);
        memcpy(at, &none, 8);
        write_bytes(b.at, b.size);
        assert_int_equal(try_load(&err), FEN_BAD_DATA);
        assert_non_null(strstr(err.message, "not finite"));
        memcpy(at, kept, 8);
    }
    free(b.at);
}

static void other_files_are_not_models(void **state)
{
    (void)state;
    static const char *const texts[] = { "", "x1,y\n1,2\n", "\x02\0\0\0\0\0\0\0{}",
                                         "\x02\0\0\0\0\0\0\0[]",
                                         "\xff\xff\xff\xff\xff\xff\xff\xff{}" };
    static const int64_t sizes[] = { 0, 9, 10, 10, 10 };
    fen_error err;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_bytes(texts[i], sizes[i]);
        assert_int_equal(try_load(&err), FEN_BAD_DATA);
        assert_non_null(strstr(err.message, "is not a fenchel model ("));
    }
    fen_model *m = NULL;
    assert_int_equal(fen_model_load("no such file.fen", &m, &err), FEN_IO);
    assert_memory_equal(err.message, "no such file.fen: ", 18);
    assert_int_equal(fen_model_load("/", &m, &err), FEN_IO);
    assert_int_equal(fen_model_load("/dev/null", &m, &err), FEN_IO);
    assert_null(m);
    fen_model_free(NULL);
}

/* ---- headers ---------------------------------------------------------------------------- */

static void alien(json_t *h) { drop(h, "format"); }
static void no_metadata(json_t *h) { json_object_del(h, "__metadata__"); }
static void flat_metadata(json_t *h)
{
    json_object_set_new(h, "__metadata__", json_string("fenchel-model-1"));
}
static void newer(json_t *h) { set(h, "format", "fenchel-model-5"); }
static void older(json_t *h) { set(h, "format", "fenchel-model-1"); }
static void new_kernel(json_t *h) { set(h, "kernel", "quantum"); }
static void new_loss(json_t *h) { set(h, "loss", "quantum"); }
static void no_kernel(json_t *h) { drop(h, "kernel"); }
static void zero_lambda(json_t *h) { set(h, "lambda", "0"); }
static void nan_lambda(json_t *h) { set(h, "lambda", "nan"); }
static void huge_lambda(json_t *h) { set(h, "lambda", "1e999"); }
static void no_power(json_t *h) { drop(h, "power"); }
static void minus_gamma(json_t *h) { set(h, "gamma", "-1"); }
static void no_gamma(json_t *h) { drop(h, "gamma"); }
static void number_gamma(json_t *h)
{
    json_object_set_new(json_object_get(h, "__metadata__"), "gamma", json_real(0.5));
}
static void bad_hash(json_t *h) { set(h, "hash", "xyz"); }
static void bad_bias(json_t *h) { set(h, "bias", "maybe"); }
static void bad_verdict(json_t *h) { set(h, "verdicts", "perfect"); }
static void no_verdict(json_t *h) { drop(h, "verdicts"); }
static void bad_rows(json_t *h) { set(h, "selection.rows", "-4"); }
static void unselected(json_t *h) { drop(h, "selection.kind"); }
static void no_preparation(json_t *h) { drop(h, "preparation"); }
static void odd_preparation(json_t *h) { set(h, "preparation", "[[[["); }
static void empty_preparation(json_t *h) { set(h, "preparation", "{}"); }
static void no_dual(json_t *h) { json_object_del(h, "dual"); }
static void hole(json_t *h) { json_object_del(h, "coef_scale"); }
static void single(json_t *h)
{
    json_object_set_new(json_object_get(h, "dual"), "dtype", json_string("F32"));
}
static void swapped(json_t *h) { place(h, "dual", 40, 0); }
static void negative(json_t *h) { place(h, "dual", -40, 0); }
static void far(json_t *h) { place(h, "dual", INT64_MAX - 40, INT64_MAX); }
static void overlap(json_t *h) { place(h, "dual", 0, 40); }
static void overflow(json_t *h)
{
    reshape(h, "dual", json_pack("[I,I]", (json_int_t)1 << 31, (json_int_t)1 << 31));
}
static void overflow_to_little(json_t *h) /* 2^61 x 8 bytes + 40 wraps to 40 */
{
    reshape(h, "dual", json_pack("[I,I]", (json_int_t)1, ((json_int_t)1 << 61) + 5));
}
static void negative_shape(json_t *h) { reshape(h, "dual", json_pack("[i,i]", -1, -5)); }
static void three_axes(json_t *h) { reshape(h, "dual", json_pack("[i,i,i]", 1, 1, 5)); }
static void transposed(json_t *h) { reshape(h, "dual", json_pack("[i,i]", 5, 1)); }
static void flat(json_t *h) { reshape(h, "dual", json_pack("[i]", 5)); }
static void fraction(json_t *h) { reshape(h, "dual", json_pack("[f,f]", 1.0, 5.0)); }
static void no_shape(json_t *h) { reshape(h, "dual", json_null()); }
static void no_object(json_t *h) { json_object_set_new(h, "dual", json_integer(1)); }
static void renamed(json_t *h) { rename_array(h, "dual"); }
static void empty_extra(json_t *h)
{
    json_object_set_new(
        h, "extra",
        json_pack("{s:s, s:[i], s:[i,i]}", "dtype", "F64", "shape", 0, "data_offsets", 0, 0));
}
static void crowd(json_t *h)
{
    for (char name[] = "a"; name[0] < 'a' + FENP_TENSORS_MAX; name[0]++)
        json_object_set_new(h, name, json_deep_copy(json_object_get(h, "dual")));
}
static void inputs_for_weights(json_t *h)
{
    json_object_set(h, "weights", json_object_get(h, "inputs"));
    json_object_del(h, "inputs");
}
static void linear_by_name(json_t *h) { set(h, "kernel", "gaussian"); }
static void precomputed_by_name(json_t *h) { set(h, "kernel", "precomputed"); }

static void damaged_headers_get_their_sentence(void **state)
{
    (void)state;
    static const edited cases[] = {
        { 0, alien, "is not a fenchel model" },
        { 0, no_metadata, "is not a fenchel model" },
        { 0, flat_metadata, "is not a fenchel model" },
        { 0, newer, "needs a newer fenchel" },
        { 0, older, "fit the model anew" },
        { 0, new_kernel, "kernel \"quantum\": it needs a newer fenchel" },
        { 0, new_loss, "loss \"quantum\": it needs a newer fenchel" },
        { 0, no_kernel, "damaged: the header" },
        { 0, zero_lambda, "damaged: lambda" },
        { 0, nan_lambda, "damaged: lambda" },
        { 0, huge_lambda, "damaged: lambda" },
        { 0, no_power, "damaged: power" },
        { 0, minus_gamma, "damaged: gamma" },
        { 0, no_gamma, "damaged: gamma" },
        { 0, number_gamma, "damaged: gamma" },
        { 0, bad_hash, "damaged: hash" },
        { 0, bad_bias, "damaged: bias" },
        { 0, bad_verdict, "damaged: verdicts" },
        { 0, no_verdict, "damaged: verdicts" },
        { 0, bad_rows, "damaged: selection.rows" },
        { 0, unselected, "damaged: selection.grid" },
        { 0, no_preparation, "damaged: preparation" },
        { 0, odd_preparation, "damaged: preparation" },
        { 0, empty_preparation, "damaged: preparation" },
        { 0, no_dual, "damaged: " },
        { 0, hole, "damaged: offset" },
        { 0, single, "damaged: dual" },
        { 0, swapped, "damaged: dual" },
        { 0, negative, "damaged: dual" },
        { 0, far, "damaged: dual" },
        { 0, overlap, "damaged: " },
        { 0, overflow, "damaged: dual" },
        { 0, overflow_to_little, "damaged: dual" },
        { 0, negative_shape, "damaged: dual" },
        { 0, three_axes, "damaged: dual" },
        { 0, transposed, "damaged: " },
        { 0, flat, "damaged: dual" },
        { 0, fraction, "damaged: dual" },
        { 0, no_shape, "damaged: dual" },
        { 0, no_object, "damaged: dual" },
        { 0, renamed, "damaged: dual" },
        { 0, empty_extra, "damaged: the file" },
        { 0, crowd, "lists too many arrays" },
        { 0, inputs_for_weights, "damaged: the file" },
        { 0, precomputed_by_name, "damaged: the file" },
    };
    refuse_edited(cases, sizeof cases / sizeof *cases);
    fen_error err;
    assert_int_equal(load_edited(&some_kinds[1], linear_by_name, &err), FEN_BAD_DATA);
}

/* ---- outputs -------------------------------------------------------------------- */

static void no_outputs(json_t *h) { json_object_del(h, "outputs"); }
static void no_support_rows(json_t *h) { drop(h, "rows"); }
static void few_rows(json_t *h) { set(h, "rows", "2"); }
static void rows_below_the_support(json_t *h) { set(h, "rows", "3"); }
static void minus_nu(json_t *h) { set(h, "nu", "-1"); }
static void as_before(json_t *h) { set(h, "format", "fenchel-model-2"); }
static void precomputed_support(json_t *h) { set(h, "kernel", "precomputed"); }

static void prepare_anew(json_t *h, const char *key, json_t *value)
{
    const json_t *metadata = json_object_get(h, "__metadata__");
    json_t *inner =
        json_loads(json_string_value(json_object_get(metadata, "preparation")), 0, NULL);
    json_object_set_new(inner, key, value);
    char *text = json_dumps(inner, JSON_COMPACT);
    set(h, "preparation", text);
    free(text);
    json_decref(inner);
}
static void one_label(json_t *h) { prepare_anew(h, "classes", json_pack("[s]", "a")); }
static void three_labels(json_t *h)
{
    prepare_anew(h, "classes", json_pack("[s,s,s]", "a", "b", "c"));
    prepare_anew(h, "class_rows", json_pack("[i,i,i]", 1, 2, 3));
}
static void number_label(json_t *h) { prepare_anew(h, "classes", json_pack("[s,i]", "a", 1)); }
static void no_counts(json_t *h) { prepare_anew(h, "class_rows", json_pack("[i]", 1)); }
static void no_targets(json_t *h)
{
    prepare_anew(h, "targets", json_array());
    prepare_anew(h, "classes", NULL);
}

static void equal_labels(json_t *h) { prepare_anew(h, "classes", json_pack("[s,s]", "a", "a")); }
static void loss_of_numbers(json_t *h) { set(h, "loss", "eps"); }
static void other_loss(json_t *h) { set(h, "loss", "logistic"); }
static void other_method(json_t *h) { set(h, "method", "newton"); }

static void damaged_classes_are_refused(void **state)
{
    (void)state;
    static const edited cases[] = {
        { SOME_TWO, no_outputs, "damaged: " },
        { SOME_TWO, no_support_rows, "damaged: rows" },
        { SOME_TWO, few_rows, "damaged: rows" },
        { SOME_TWO, rows_below_the_support, "not an ascending list of rows" },
        { SOME_TWO, minus_nu, "damaged: nu" },
        { SOME_TWO, as_before, "damaged: selection.grid" },
        { SOME_TWO, precomputed_support, "damaged: support" },
        { SOME_TWO, one_label, "two to 1000" },
        { SOME_TWO, three_labels, "not those of the classes" },
        { SOME_TWO, number_label, "a class is not a text" },
        { SOME_TWO, no_counts, "counted by classes" },
        { SOME_TWO, no_targets, "two to 1000" },
        { SOME_TWO, equal_labels, "two classes have one label" },
        { SOME_TWO, loss_of_numbers, "not one of classes" },
        { SOME_TWO, other_loss, "the method is not one for the loss" },
        { SOME_TWO, other_method, "the method is not one for the loss" },
    };
    refuse_edited(cases, sizeof cases / sizeof *cases);
}

static void changed_outputs_are_refused(void **state)
{
    (void)state;
    static const changed cases[] = {
        { SOME_TWO, "outputs", 0, 1, "not those of the classes" },
        { SOME_TWO, "outputs", 1, 0, "not those of the classes" },
        { SOME_TWO, "outputs", 1, 0.5, "not those of the classes" },
        { SOME_TWO, "outputs", 2, -1, "not those of the classes" },
        { SOME_TWO, "outputs", 3, -1, "parameter of the loss" },
        { SOME_TWO, "outputs", 4, INFINITY, "not finite" },
        { SOME_TWO, "support", 0, 2, "ascending" },
        { SOME_TWO, "support", 2, 5, "ascending" },
        { SOME_TWO, "support", 1, 1e300, "ascending" },
        { SOME_TWO, "support", 0, -1, "ascending" },
        { SOME_PAIRS, "outputs", 1, 2, "not those of the classes" },
        { SOME_PAIRS, "outputs", 2, -1, "not those of the classes" },
        { SOME_PAIRS, "outputs", 4, 1.5, "sigmoids" }, /* falls with the score */
        { SOME_PAIRS, "outputs", 10, 0, "sigmoids" },  /* there is one of two  */
        { 6, "outputs", 4, -1, "sigmoids" },           /* logistic has its own */
        { SOME_PAIRS, "class_weights", 0, 0, "class weights" },
        { SOME_PAIRS, "class_weights", 1, -2, "class weights" },
        { 6, "outputs", 1, 1, "not those of the classes" },
        { 8, "outputs", 0, 0, "not those of one class" },
        { 9, "outputs", 0, 1, "not those of the targets" },
        { 9, "outputs", 1, 0, "not those of the targets" },
        { 9, "outputs", 3, 2, "parameter of the loss" },
    };
    refuse_changed(cases, sizeof cases / sizeof *cases);
}

/* ---- random features -------------------------------------------------------------------- */

static void no_approx(json_t *h) { drop(h, "approx"); }
static void exact(json_t *h) { set(h, "approx", "none"); }
static void more_columns(json_t *h) { set(h, "approx", "fourier:10"); }
static void odd_columns(json_t *h) { set(h, "approx", "fourier:7"); }
static void no_rows(json_t *h) { drop(h, "rows"); }
static void zero_rows(json_t *h) { set(h, "rows", "0"); }
static void no_seed(json_t *h) { set(h, "seed", "-1"); }
static void polynomial_by_name(json_t *h)
{
    set(h, "kernel", "polynomial");
    set(h, "degree", "3");
    set(h, "coef0", "1");
}
static void without_direction(json_t *h) { set(h, "kernel", "laplace1"); }
static void no_feature_weights(json_t *h) { json_object_del(h, "feature_weights"); }
static void no_frequencies(json_t *h) { json_object_del(h, "frequencies"); }
static void narrow(json_t *h) { reshape(h, "frequencies", json_pack("[i,i]", 6, 4)); }
static void one_axis(json_t *h) { reshape(h, "frequencies", json_pack("[i]", 24)); }

static void damaged_features_are_refused(void **state)
{
    (void)state;
    static const edited cases[] = {
        { SOME_FEATURES, no_approx, "damaged: approx" },
        { SOME_FEATURES, exact, "damaged: approx" },
        { SOME_FEATURES, more_columns, "damaged: frequencies" },
        { SOME_FEATURES, odd_columns, "damaged: approx" },
        { SOME_FEATURES, no_rows, "damaged: the header" },
        { SOME_FEATURES, zero_rows, "damaged: the header" },
        { SOME_FEATURES, no_seed, "damaged: seed" },
        { SOME_FEATURES, polynomial_by_name, "damaged: approx" },
        { SOME_FEATURES, without_direction, "damaged: approx" },
        { SOME_FEATURES, no_feature_weights, "damaged: " },
        { SOME_FEATURES, no_frequencies, "damaged: " },
        { SOME_FEATURES, narrow, "damaged: frequencies" },
        { SOME_FEATURES, one_axis, "damaged: frequencies" },
    };
    refuse_edited(cases, sizeof cases / sizeof *cases);
    assert_int_equal(some_kinds[SOME_FEATURES].columns, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shortened_file_is_refused),
        cmocka_unit_test(every_changed_byte_of_the_header_is_survived),
        cmocka_unit_test(numbers_that_are_none_are_refused),
        cmocka_unit_test(other_files_are_not_models),
        cmocka_unit_test(damaged_headers_get_their_sentence),
        cmocka_unit_test(damaged_classes_are_refused),
        cmocka_unit_test(changed_outputs_are_refused),
        cmocka_unit_test(damaged_features_are_refused),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
