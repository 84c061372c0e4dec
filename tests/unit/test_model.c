/* test_model.c -- the model file: round trips, damage of every kind, and what it predicts */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/json.h"
#include "model/tensors.h"
#include "support/some_model.h"

/* ---- files ---------------------------------------------------------------------------- */

static char path[4096];

static int make_path(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/test_model.XXXXXX", folder ? folder : "/tmp");
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

typedef struct bytes {
    unsigned char *at;
    int64_t size;
} bytes;

static bytes read_bytes(void)
{
    struct stat info;
    int file = open(path, O_RDONLY);
    assert_true(file >= 0 && fstat(file, &info) == 0);
    bytes b = { malloc((size_t)info.st_size + 1), info.st_size };
    assert_int_equal(read(file, b.at, (size_t)b.size), b.size);
    close(file);
    return b;
}

static void write_bytes(const void *at, int64_t size)
{
    int file = open(path, O_WRONLY); /* O_TRUNC would make some file systems sync */
    assert_true(file >= 0);
    assert_int_equal(write(file, at, (size_t)size), size);
    assert_int_equal(ftruncate(file, size), 0);
    close(file);
}

static bytes saved(const some_kind *kind)
{
    fen_error err = { 0 };
    fen_model *m = some_model(kind);
    if (fen_model_save(m, path, &err) != FEN_OK) fail_msg("%s", err.message);
    fen_model_free(m);
    return read_bytes();
}

static fen_model *loaded(void)
{
    fen_error err = { 0 };
    fen_model *m = NULL;
    if (fen_model_load(path, &m, &err) != FEN_OK) fail_msg("%s", err.message);
    return m;
}

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

/* ---- damage --------------------------------------------------------------------------- */

/* Loads what is at path: a whole model that can be used, or one sentence. */
static fen_status try_load(fen_error *err)
{
    fen_model *m = NULL;
    *err = (fen_error){ FEN_OK, "" };
    fen_status status = fen_model_load(path, &m, err);
    if (status != FEN_OK) {
        assert_null(m);
        assert_int_equal(err->status, status);
        assert_true(strlen(err->message) > strlen(path));
        assert_memory_equal(err->message, path, strlen(path));
        return status;
    }
    char *json = NULL;
    double *x = some_numbers(m->p, 5), *scores = fenp_new(m->targets, sizeof *scores);
    assert_int_equal(fenp_model_scores(m, x, 1, scores, NULL, NULL), FEN_OK);
    assert_int_equal(fen_model_json(m, &json, NULL), FEN_OK);
    fen_text_free(json);
    free(x);
    free(scores);
    fen_model_free(m);
    return FEN_OK;
}

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

/* The saved file with its header changed by edit. */
static fen_status load_edited(const some_kind *kind, void (*edit)(json_t *header), fen_error *err)
{
    bytes b = saved(kind);
    uint64_t length;
    memcpy(&length, b.at, 8);
    json_t *header = json_loadb((char *)b.at + 8, length, 0, NULL);
    assert_non_null(header);
    edit(header);
    char *text = json_dumps(header, JSON_COMPACT);
    uint64_t edited = strlen(text);
    int64_t data = b.size - 8 - (int64_t)length;
    char *whole = malloc((size_t)(8 + (int64_t)edited + data));
    memcpy(whole, &edited, 8);
    memcpy(whole + 8, text, edited);
    memcpy(whole + 8 + edited, b.at + 8 + length, (size_t)data);
    write_bytes(whole, 8 + (int64_t)edited + data);
    free(whole);
    free(text);
    free(b.at);
    json_decref(header);
    return try_load(err);
}

static void set(json_t *header, const char *key, const char *value)
{
    json_object_set_new(json_object_get(header, "__metadata__"), key, json_string(value));
}
static void drop(json_t *header, const char *key)
{
    json_object_del(json_object_get(header, "__metadata__"), key);
}
static void reshape(json_t *header, const char *name, json_t *shape)
{
    json_object_set_new(json_object_get(header, name), "shape", shape);
}
static void place(json_t *header, const char *name, json_int_t from, json_int_t to)
{
    json_object_set_new(json_object_get(header, name), "data_offsets",
                        json_pack("[I,I]", from, to));
}

static void nothing(json_t *h) { (void)h; }
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
static void rename_array(json_t *h, const char *name)
{
    json_object_set(h, "other", json_object_get(h, name));
    json_object_del(h, name);
}
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
    static const struct {
        void (*edit)(json_t *header);
        const char *words;
    } cases[] = {
        { alien, "is not a fenchel model" },
        { no_metadata, "is not a fenchel model" },
        { flat_metadata, "is not a fenchel model" },
        { newer, "needs a newer fenchel" },
        { older, "fit the model anew" },
        { new_kernel, "kernel \"quantum\": it needs a newer fenchel" },
        { new_loss, "loss \"quantum\": it needs a newer fenchel" },
        { no_kernel, "damaged: the header" },
        { zero_lambda, "damaged: lambda" },
        { nan_lambda, "damaged: lambda" },
        { huge_lambda, "damaged: lambda" },
        { no_power, "damaged: power" },
        { minus_gamma, "damaged: gamma" },
        { no_gamma, "damaged: gamma" },
        { number_gamma, "damaged: gamma" },
        { bad_hash, "damaged: hash" },
        { bad_bias, "damaged: bias" },
        { bad_verdict, "damaged: verdicts" },
        { no_verdict, "damaged: verdicts" },
        { bad_rows, "damaged: selection.rows" },
        { unselected, "damaged: selection.grid" },
        { no_preparation, "damaged: preparation" },
        { odd_preparation, "damaged: preparation" },
        { empty_preparation, "damaged: preparation" },
        { no_dual, "damaged: " },
        { hole, "damaged: offset" },
        { single, "damaged: dual" },
        { swapped, "damaged: dual" },
        { negative, "damaged: dual" },
        { far, "damaged: dual" },
        { overlap, "damaged: " },
        { overflow, "damaged: dual" },
        { overflow_to_little, "damaged: dual" },
        { negative_shape, "damaged: dual" },
        { three_axes, "damaged: dual" },
        { transposed, "damaged: " },
        { flat, "damaged: dual" },
        { fraction, "damaged: dual" },
        { no_shape, "damaged: dual" },
        { no_object, "damaged: dual" },
        { renamed, "damaged: dual" },
        { empty_extra, "damaged: the file" },
        { crowd, "lists too many arrays" },
        { inputs_for_weights, "damaged: the file" },
        { precomputed_by_name, "damaged: the file" },
    };
    fen_error err;
    assert_int_equal(load_edited(&some_kinds[0], nothing, &err), FEN_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(load_edited(&some_kinds[0], cases[i].edit, &err), FEN_BAD_DATA);
        if (!strstr(err.message, cases[i].words))
            fail_msg("case %zu wants \"%s\": %s", i, cases[i].words, err.message);
    }
    assert_int_equal(load_edited(&some_kinds[1], linear_by_name, &err), FEN_BAD_DATA);
}

/* ---- damaged outputs -------------------------------------------------------------------- */

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
    static const struct {
        void (*edit)(json_t *);
        const char *words;
    } cases[] = {
        { no_outputs, "damaged: " },
        { no_support_rows, "damaged: rows" },
        { few_rows, "damaged: rows" },
        { rows_below_the_support, "not an ascending list of rows" },
        { minus_nu, "damaged: nu" },
        { as_before, "damaged: selection.grid" },
        { precomputed_support, "damaged: support" },
        { one_label, "two to 1000" },
        { three_labels, "not those of the classes" },
        { number_label, "a class is not a text" },
        { no_counts, "counted by classes" },
        { no_targets, "two to 1000" },
        { equal_labels, "two classes have one label" },
        { loss_of_numbers, "not one of classes" },
        { other_loss, "the method is not one for the loss" },
        { other_method, "the method is not one for the loss" },
    };
    fen_error err;
    assert_int_equal(load_edited(&some_kinds[SOME_TWO], nothing, &err), FEN_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (load_edited(&some_kinds[SOME_TWO], cases[i].edit, &err) != FEN_BAD_DATA)
            fail_msg("case %zu is accepted", i);
        if (!strstr(err.message, cases[i].words))
            fail_msg("case %zu wants \"%s\": %s", i, cases[i].words, err.message);
    }
}

/* A number of the array of this name is changed. */
static fen_status load_changed(const some_kind *kind, const char *name, int64_t at, double value,
                               fen_error *err)
{
    bytes b = saved(kind);
    uint64_t length;
    memcpy(&length, b.at, 8);
    json_t *header = json_loadb((char *)b.at + 8, length, 0, NULL);
    const json_t *offsets = json_object_get(json_object_get(header, name), "data_offsets");
    const int64_t from = json_integer_value(json_array_get(offsets, 0));
    memcpy(b.at + 8 + length + from + 8 * at, &value, 8);
    write_bytes(b.at, b.size);
    free(b.at);
    json_decref(header);
    return try_load(err);
}

static void changed_outputs_are_refused(void **state)
{
    (void)state;
    static const struct {
        int kind;
        const char *name;
        int64_t at;
        double value;
        const char *words;
    } cases[] = {
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
    fen_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const some_kind *kind = &some_kinds[cases[i].kind];
        if (load_changed(kind, cases[i].name, cases[i].at, cases[i].value, &err) != FEN_BAD_DATA)
            fail_msg("case %zu is accepted", i);
        if (!strstr(err.message, cases[i].words))
            fail_msg("case %zu wants \"%s\": %s", i, cases[i].words, err.message);
    }
}

/* ---- damaged penalties ------------------------------------------------------------------ */

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
    static const struct {
        int kind;
        void (*edit)(json_t *);
        const char *words;
    } cases[] = {
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
    fen_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(load_edited(&some_kinds[cases[i].kind], nothing, &err), FEN_OK);
        if (load_edited(&some_kinds[cases[i].kind], cases[i].edit, &err) != FEN_BAD_DATA)
            fail_msg("case %zu is accepted", i);
        if (!strstr(err.message, cases[i].words))
            fail_msg("case %zu wants \"%s\": %s", i, cases[i].words, err.message);
    }
    /* no arrays tell them apart, and the rank may be missing */
    assert_int_equal(load_edited(&some_kinds[SOME_LASSO], unpenalised, &err), FEN_OK);
}

/* ---- penalty lp ------------------------------------------------------------------------- */

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
    static const struct {
        int kind;
        void (*edit)(json_t *header);
        const char *says;
    } cases[] = {
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
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fen_error err;
        assert_int_equal(load_edited(&some_kinds[cases[i].kind], cases[i].edit, &err),
                         FEN_BAD_DATA);
        if (!strstr(err.message, cases[i].says))
            fail_msg("%s: not \"%s\"", err.message, cases[i].says);
    }
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

static void changed_groups_are_refused(void **state)
{
    (void)state;
    static const struct {
        int kind;
        const char *name;
        int64_t at;
        double value;
        const char *words;
    } cases[] = {
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
    fen_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const some_kind *kind = &some_kinds[cases[i].kind];
        if (load_changed(kind, cases[i].name, cases[i].at, cases[i].value, &err) != FEN_BAD_DATA)
            fail_msg("case %zu is accepted", i);
        if (!strstr(err.message, cases[i].words))
            fail_msg("case %zu wants \"%s\": %s", i, cases[i].words, err.message);
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
    static const struct {
        void (*edit)(json_t *);
        const char *words;
    } cases[] = {
        { no_approx, "damaged: approx" },
        { exact, "damaged: approx" },
        { more_columns, "damaged: frequencies" },
        { odd_columns, "damaged: approx" },
        { no_rows, "damaged: the header" },
        { zero_rows, "damaged: the header" },
        { no_seed, "damaged: seed" },
        { polynomial_by_name, "damaged: approx" },
        { without_direction, "damaged: approx" },
        { no_feature_weights, "damaged: " },
        { no_frequencies, "damaged: " },
        { narrow, "damaged: frequencies" },
        { one_axis, "damaged: frequencies" },
    };
    const some_kind *features = &some_kinds[SOME_FEATURES];
    fen_error err;
    assert_int_equal(features->columns, 8);
    assert_int_equal(load_edited(features, nothing, &err), FEN_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(load_edited(features, cases[i].edit, &err), FEN_BAD_DATA);
        if (!strstr(err.message, cases[i].words))
            fail_msg("case %zu wants \"%s\": %s", i, cases[i].words, err.message);
    }
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
    assert_int_equal(fen_predict(m, rows, scores, &err), FEN_OK);
    assert_true(fabs(scores[1] - definition(m, cells + SOME_ROWS, 0)) < 1e-12);
    scores[0] = 7;
    rows.cols = SOME_ROWS - 1;
    assert_int_equal(fen_predict(m, rows, scores, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "takes 5 columns, the rows have 4"));
    fen_model_free(m);
    m = some_model(&some_kinds[0]); /* it was trained on a column of text */
    rows = (fen_view){ cells, 2, 4, 4 };
    assert_int_not_equal(fen_predict(m, rows, scores, &err), FEN_OK);
    assert_non_null(strstr(err.message, "colour"));
    assert_true(scores[0] == 7);
    fen_model_free(m);
}

/* ---- in words ------------------------------------------------------------------------- */

static json_t *described(const some_kind *kind)
{
    char *text = NULL;
    fen_model *m = some_model(kind);
    assert_int_equal(fen_model_json(m, &text, NULL), FEN_OK);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    fen_text_free(text);
    fen_model_free(m);
    return json;
}

static double number(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);
    if (!json_is_number(value)) fail_msg("%s is not a number", key);
    return json_number_value(value);
}

static void every_description_has_its_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "n",       "d",      "inputs",     "loss",         "kernel",  "gamma",
        "lambda",  "power",  "lambda2",    "bias",         "norm",    "primal",
        "dual",    "gap",    "objective",  "relative_gap", "verdict", "stationarity",
        "null",    "method", "mean_loss",  "train_rmse",   "seconds", "tolerance",
        "targets", "note",   "hash",       "version",      "task",    "loss_parameter",
        "outputs", "nu",     "train_error"
    };
    for (int k = 0; k < SOME_KINDS; k++) {
        json_t *json = described(&some_kinds[k]);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (!json_object_get(json, keys[i])) fail_msg("no %s", keys[i]);
        assert_int_equal(json_object_get(json, "grid") != NULL, some_kinds[k].selected);
        assert_int_equal(json_array_size(json_object_get(json, "outputs")), some_kinds[k].targets);
        json_decref(json);
    }
}

static void a_description_tells_the_model(void **state)
{
    (void)state;
    json_t *json = described(&some_kinds[0]);
    assert_true(number(json, "n") == SOME_ROWS && number(json, "d") == 6);
    assert_true(number(json, "inputs") == 4 && number(json, "gamma") == 0.1);
    assert_true(number(json, "lambda") == 1e-3 / 3 && number(json, "lambda2") == 1e-3 / 3);
    assert_true(number(json, "train_rmse") == sqrt(1.1) && number(json, "score_rows") == 4);
    assert_null(json_object_get(json, "degree"));
    assert_string_equal(json_string_value(json_object_get(json, "verdict")), "optimal");
    assert_string_equal(json_string_value(json_object_get(json, "hash")), "fedcba9876543210");
    const json_t *names = json_object_get(json, "features"), *grid = json_object_get(json, "grid");
    assert_int_equal(json_array_size(names), 6);
    assert_string_equal(json_string_value(json_array_get(names, 1)), "age is missing");
    assert_string_equal(json_string_value(json_array_get(names, 5)), "colour = other");
    assert_true(json_is_null(json_object_get(json_array_get(grid, 2), "score")));
    assert_true(number(json_array_get(grid, 1), "score") == 1.75);
    json_decref(json);
    json = described(&some_kinds[2]);
    assert_true(json_is_null(json_object_get(json, "bias")));
    assert_true(number(json, "degree") == 3 && number(json, "coef0") == 1.0 / 3);
    json_decref(json);
}

static void a_description_tells_the_classes(void **state)
{
    (void)state;
    json_t *json = described(&some_kinds[SOME_TWO]);
    assert_string_equal(json_string_value(json_object_get(json, "task")), "classification");
    assert_true(number(json, "support") == 3 && number(json, "train_error") == 0.2);
    assert_true(number(json, "loss_parameter") == 1);
    assert_true(json_is_false(json_object_get(json, "probabilities")));
    const json_t *second = json_array_get(json_object_get(json, "classes"), 1);
    assert_string_equal(json_string_value(json_object_get(second, "label")), "gr\xc3\xbcn");
    assert_true(number(second, "rows") == 2 && number(second, "weight") == 1);
    json_decref(json);
    json = described(&some_kinds[SOME_PAIRS]);
    const json_t *output = json_array_get(json_object_get(json, "outputs"), 1);
    assert_string_equal(json_string_value(json_object_get(output, "plus")), "no");
    assert_string_equal(json_string_value(json_object_get(output, "minus")), "a, \"b\"");
    assert_true(json_is_true(json_object_get(json, "probabilities")));
    json_decref(json);
    json = described(&some_kinds[8]);
    assert_string_equal(json_string_value(json_object_get(json, "task")), "one-class");
    assert_true(number(json, "nu") == 0.3 && number(json, "loss_parameter") == 0.75);
    assert_non_null(strstr(json_string_value(json_object_get(json, "objective")),
                           "hinge (margin free) loss max(0, margin - y t), all labels y = +1 at "
                           "t = f(x), minus 0.3 margin, plus "));
    json_decref(json);
    json = described(&some_kinds[9]);
    assert_non_null(strstr(json_string_value(json_object_get(json, "objective")), " 0.1, 0.9)"));
    assert_true(number(json, "crossing") == 0);
    json_decref(json);
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

static void getters_stay_inside(void **state)
{
    (void)state;
    fen_model *m = some_model(&some_kinds[1]);
    assert_int_equal(fen_model_inputs(m), 4);
    assert_string_equal(fen_model_input_name(m, 3), m->prep->input[3].name);
    assert_null(fen_model_input_name(m, 4));
    assert_null(fen_model_input_name(m, -1));
    assert_int_equal(fen_model_targets(m), 2);
    assert_string_equal(fen_model_target_name(m, 1), "y2");
    assert_null(fen_model_target_name(m, 2));
    assert_null(fen_model_target_name(m, -1));
    assert_int_equal(fen_model_certificate(m, 1).verdict, FEN_VERDICT_STALLED);
    assert_true(isnan(fen_model_certificate(m, 2).primal));
    char words[1024];
    fenp_model_objective(m, words, sizeof words);
    assert_non_null(strstr(words, "weighted mean"));
    assert_non_null(strstr(words, "f(x) + b"));
    assert_non_null(strstr(words, "linear kernel"));
    assert_null(strstr(words, "gamma"));
    char few[20];
    fenp_model_objective(m, few, sizeof few);
    assert_int_equal(strlen(few), sizeof few - 1);
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

static void a_description_tells_the_penalty(void **state)
{
    (void)state;
    json_t *json = described(&some_kinds[SOME_GROUP]);
    const json_t *groups = json_object_get(json, "groups");
    assert_string_equal(json_string_value(json_object_get(json, "penalty")), "group");
    assert_int_equal(json_integer_value(json_object_get(groups, "count")), 2);
    assert_int_equal(json_integer_value(json_object_get(groups, "active")), 2);
    assert_int_equal(json_integer_value(json_object_get(json, "terms")), 6);
    assert_true(json_is_null(json_object_get(json, "power")));
    assert_null(json_object_get(json, "support"));
    assert_non_null(strstr(json_string_value(json_object_get(json, "objective")),
                           "the sum over 2 groups of a_g ||beta_g||"));
    json_decref(json);
    json = described(&some_kinds[SOME_ELASTIC]);
    assert_true(json_number_value(json_object_get(json, "mix")) == 0.25);
    assert_true(json_is_true(json_object_get(json, "nonnegative")));
    assert_int_equal(json_array_size(json_object_get(json, "terms")), 2);
    assert_non_null(strstr(json_string_value(json_object_get(json, "objective")),
                           "sum (0.25 |beta_j| + 0.375 beta_j^2), beta >= 0"));
    json_decref(json);
    json = described(&some_kinds[SOME_LEAST]);
    assert_int_equal(json_integer_value(json_object_get(json, "rank")), 4);
    assert_true(json_number_value(json_object_get(json, "condition")) == 17.5);
    assert_true(json_number_value(json_object_get(json, "lambda")) == 0);
    json_decref(json);
    json = described(&some_kinds[SOME_KERNEL_LASSO]);
    assert_int_equal(json_integer_value(json_object_get(json, "support")), 3);
    assert_non_null(
        strstr(json_string_value(json_object_get(json, "objective")), "sum c_i k(x_i, x) + b"));
    json_decref(json);
    json = described(&some_kinds[0]);
    assert_string_equal(json_string_value(json_object_get(json, "penalty")), "rkhs");
    assert_null(json_object_get(json, "terms"));
    json_decref(json);
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
        cmocka_unit_test(every_shortened_file_is_refused),
        cmocka_unit_test(every_changed_byte_of_the_header_is_survived),
        cmocka_unit_test(damaged_headers_get_their_sentence),
        cmocka_unit_test(damaged_features_are_refused),
        cmocka_unit_test(damaged_classes_are_refused),
        cmocka_unit_test(changed_outputs_are_refused),
        cmocka_unit_test(damaged_penalties_are_refused),
        cmocka_unit_test(changed_groups_are_refused),
        cmocka_unit_test(damaged_lp_models_are_refused),
        cmocka_unit_test(changed_pivots_are_refused),
        cmocka_unit_test(wrong_distances_are_refused),
        cmocka_unit_test(endless_predictions_are_refused),
        cmocka_unit_test(sparse_models_shrink),
        cmocka_unit_test(a_description_tells_the_penalty),
        cmocka_unit_test(numbers_that_are_none_are_refused),
        cmocka_unit_test(other_files_are_not_models),
        cmocka_unit_test(scores_follow_the_definition),
        cmocka_unit_test(raw_rows_need_the_columns_of_the_training),
        cmocka_unit_test(every_description_has_its_keys),
        cmocka_unit_test(a_description_tells_the_model),
        cmocka_unit_test(linear_coefficients_are_those_of_the_file),
        cmocka_unit_test(getters_stay_inside),
        cmocka_unit_test(a_description_tells_the_classes),
        cmocka_unit_test(packing_keeps_the_predictions),
        cmocka_unit_test(decisions_and_probabilities),
        cmocka_unit_test(older_formats_are_still_read),
        cmocka_unit_test(the_seeds_of_the_fuzzer_are_models),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
