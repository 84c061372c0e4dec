/* prepare_json.c -- the preparation in words, for the model file
 *
 *   { "sparse": false, "precomputed": false, "scaling": "standard",
 *     "targets": ["y"], "classes": ["no", "yes"], "class_rows": [40, 60],
 *     "weights": null,
 *     "reading": { "missing": "NA,?", "separator": ",", "decimal": ".", "header": true },
 *     "target_range": [[-3.5, 17]],
 *     "inputs": [ { "name": "age", "range": [18, 99] },
 *                 { "name": "rooms", "range": [1, 9], "gaps": true },
 *                 { "name": "year", "range": [2020, 2020], "constant": true },
 *                 { "name": "colour", "levels": ["red", "blue"] } ] }
 *
 * The reading is that of a CSV file; of a svmlight file it is { "index_base": 1 }, of others there
 * is none. fill, center and scale stand in arrays beside it. Reading trusts nothing: every type,
 * count and length is checked, and every number must be finite.
 */
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "data/prepare_parts.h"

/* ---- writing ------------------------------------------------------------------------ */
/* 1 on success; takes the reference in any case. */
static int set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static json_t *integers(const int64_t *at, int64_t count)
{
    json_t *array = json_array();
    for (int64_t i = 0; array && i < count; i++)
        if (json_array_append_new(array, json_integer(at[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *range_to_json(double least, double largest)
{
    json_t *pair = json_array();
    if (pair && json_array_append_new(pair, fenp_json_number(least)) == 0 &&
        json_array_append_new(pair, fenp_json_number(largest)) == 0)
        return pair;
    json_decref(pair);
    return NULL;
}

static json_t *ranges_to_json(const double *range, int64_t count)
{
    json_t *array = json_array();
    for (int64_t t = 0; array && t < count; t++)
        if (json_array_append_new(array, range_to_json(range[2 * t], range[2 * t + 1])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static int knows_targets(const fenp_prep *prep)
{
    return prep->targets > 0 && prep->class_count == 0 &&
           prep->target_range[0] <= prep->target_range[1];
}

static json_t *input_to_json(const fenp_input *input)
{
    json_t *object = json_object();
    int fine = object && set(object, "name", fenp_json_string(input->name));
    if (fine && !isnan(input->least) && !input->text)
        fine = set(object, "range", range_to_json(input->least, input->largest));
    if (fine && input->constant) fine = set(object, "constant", json_true());
    if (fine && input->gaps) fine = set(object, "gaps", json_true());
    if (fine && input->text)
        fine = set(object, "levels", fenp_json_strings(input->levels, input->level_count));
    if (fine) return object;
    json_decref(object);
    return NULL;
}

static json_t *inputs_to_json(const fenp_prep *prep)
{
    json_t *array = json_array();
    for (int64_t i = 0; array && i < prep->inputs; i++)
        if (json_array_append_new(array, input_to_json(&prep->input[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

json_t *fenp_reading_to_json(const fen_reading *reading)
{
    json_t *object = json_object();
    int fine = object != NULL;
    if (fine && reading->missing)
        fine = set(object, "missing", fenp_json_string(reading->missing)) &&
               set(object, "separator", json_stringn(&reading->separator, 1)) &&
               set(object, "decimal", json_stringn(&reading->decimal, 1)) &&
               set(object, "header", json_boolean(reading->header));
    if (fine && reading->counts_from >= 0)
        fine = set(object, "index_base", json_integer(reading->counts_from));
    if (fine) return object;
    json_decref(object);
    return NULL;
}

json_t *fenp_prep_to_json(const fenp_prep *prep)
{
    json_t *object = json_object();
    if (object && set(object, "sparse", json_boolean(prep->sparse)) &&
        set(object, "precomputed", json_boolean(prep->precomputed)) &&
        (!prep->constants || set(object, "constants", json_true())) &&
        set(object, "scaling", json_string(prep->scaling)) &&
        set(object, "targets", fenp_json_strings(prep->target, prep->targets)) &&
        (prep->class_count == 0 ||
         (set(object, "classes", fenp_json_strings(prep->classes, prep->class_count)) &&
          set(object, "class_rows", integers(prep->class_rows, prep->class_count)))) &&
        set(object, "weights", prep->weights ? fenp_json_string(prep->weights) : json_null()) &&
        (!fenp_reading_is_known(&prep->reading) ||
         set(object, "reading", fenp_reading_to_json(&prep->reading))) &&
        (!knows_targets(prep) ||
         set(object, "target_range", ranges_to_json(prep->target_range, prep->targets))) &&
        set(object, "inputs", inputs_to_json(prep)))
        return object;
    json_decref(object);
    return NULL;
}

/* ---- reading ------------------------------------------------------------------------ */
static fen_status damaged(const char *what, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_DATA, "the preparation is damaged: %s", what);
}

static fen_status read_string(const json_t *json, const char *what, char **out, fen_error *err)
{
    const char *text = json_string_value(json);
    if (!text || strlen(text) != json_string_length(json)) return damaged(what, err);
    *out = fenp_strdup(text);
    return *out ? FEN_OK : fenp_no_memory(err, (int64_t)strlen(text), "a name");
}

static fen_status read_flag(const json_t *object, const char *key, int *out, fen_error *err)
{
    const json_t *json = json_object_get(object, key);
    if (json && !json_is_boolean(json)) return damaged("a flag is neither true nor false", err);
    *out = json_is_true(json);
    return FEN_OK;
}

/* Nothing where there is none. */
static fen_status read_range(const json_t *json, double *least, double *largest, fen_error *err)
{
    if (!json) return FEN_OK;
    const json_t *ends[2] = { json_array_get(json, 0), json_array_get(json, 1) };
    if (json_array_size(json) != 2 || !json_is_number(ends[0]) || !json_is_number(ends[1]))
        return damaged("a range is not two numbers", err);
    *least = json_number_value(ends[0]), *largest = json_number_value(ends[1]);
    return *least <= *largest ? FEN_OK : damaged("a range ends before it begins", err);
}

static fen_status read_levels(const json_t *json, fenp_input *input, fen_error *err)
{
    size_t count = json_array_size(json);
    if (!json_is_array(json) || count > FENP_LEVELS_MAX)
        return damaged("the levels of a text column are not a list of at most 50", err);
    input->text = 1;
    input->levels = fenp_new_zeroed((int64_t)count, sizeof *input->levels);
    if (!input->levels) return fenp_no_memory(err, 8 * (int64_t)count, "text levels");
    for (size_t k = 0; k < count; k++) {
        fen_status status =
            read_string(json_array_get(json, k), "a level is not a text", &input->levels[k], err);
        if (status != FEN_OK) return status;
        input->level_count++;
    }
    return FEN_OK;
}

static fen_status read_input(const json_t *json, const fenp_prep *prep, fenp_input *input,
                             fen_error *err)
{
    const json_t *levels = json_object_get(json, "levels");
    fen_status status =
        read_string(json_object_get(json, "name"), "an input has no name", &input->name, err);
    if (status == FEN_OK) status = read_flag(json, "constant", &input->constant, err);
    if (status == FEN_OK) status = read_flag(json, "gaps", &input->gaps, err);
    if (status == FEN_OK)
        status = read_range(json_object_get(json, "range"), &input->least, &input->largest, err);
    if (status == FEN_OK && levels) status = read_levels(levels, input, err);
    if (status != FEN_OK) return status;
    if (!isfinite(input->fill) || !isfinite(input->center) || !isfinite(input->scale) ||
        input->scale <= 0.0)
        return damaged("fill, center or scale is not finite, or a scale is not positive", err);
    if (input->gaps && (input->text || prep->precomputed))
        return damaged("gaps are noted where there can be none", err);
    if (prep->sparse && (input->text || input->gaps || input->center != 0.0))
        return damaged("a sparse input has text, gaps or a center", err);
    if (input->text && prep->precomputed)
        return damaged("a precomputed kernel has text columns", err);
    return FEN_OK;
}

static int is_scaling(const char *name)
{
    return name && (!strcmp(name, "standard") || !strcmp(name, "range") || !strcmp(name, "none"));
}

static fen_status read_names(const json_t *json, const json_t *targets, fenp_prep *prep,
                             fen_error *err)
{
    const json_t *weights = json_object_get(json, "weights");
    const char *scaling = json_string_value(json_object_get(json, "scaling"));
    if (!is_scaling(scaling)) return damaged("it does not say how inputs were scaled", err);
    strcpy(prep->scaling, scaling);
    fen_status status = read_flag(json, "sparse", &prep->sparse, err);
    if (status == FEN_OK) status = read_flag(json, "precomputed", &prep->precomputed, err);
    if (status == FEN_OK) status = read_flag(json, "constants", &prep->constants, err);
    if (status == FEN_OK && weights && !json_is_null(weights))
        status = read_string(weights, "the name of the weights is not a text", &prep->weights, err);
    for (int64_t t = 0; status == FEN_OK && t < prep->targets; t++)
        status = read_string(json_array_get(targets, (size_t)t), "a target is not a text",
                             &prep->target[t], err);
    return status;
}

static fen_status read_classes(const json_t *json, fenp_prep *prep, fen_error *err)
{
    const json_t *labels = json_object_get(json, "classes");
    const json_t *rows = json_object_get(json, "class_rows");
    const int64_t count = (int64_t)json_array_size(labels);
    fen_status status = FEN_OK;
    if (!labels && !rows) return FEN_OK;
    if (count < 2 || count > FENP_CLASSES_MAX || prep->targets != 1)
        return damaged("the classes are not two to 1000 of one target", err);
    if (json_array_size(rows) != (size_t)count)
        return damaged("the rows are not counted by classes", err);
    prep->classes = fenp_new_zeroed(count, sizeof *prep->classes);
    prep->class_rows = fenp_new_zeroed(count, sizeof *prep->class_rows);
    if (!prep->classes || !prep->class_rows) return fenp_no_memory(err, 16 * count, "the classes");
    for (int64_t k = 0; status == FEN_OK && k < count; k++) {
        status = read_string(json_array_get(labels, (size_t)k), "a class is not a text",
                             &prep->classes[k], err);
        prep->class_rows[k] = json_integer_value(json_array_get(rows, (size_t)k));
        if (status == FEN_OK) prep->class_count++;
    }
    return status;
}

/* One of the characters in known. */
static int read_character(const json_t *json, const char *known, char *out)
{
    const char *text = json_string_value(json);
    *out = text && json_string_length(json) == 1 && strchr(known, text[0]) ? text[0] : '\0';
    return *out != '\0';
}

static fen_status read_reading(const json_t *json, fenp_prep *prep, fen_error *err)
{
    fen_reading *reading = &prep->reading;
    const json_t *base = json_object_get(json, "index_base");
    fen_status status = FEN_OK;
    if (json && !base) { /* CSV */
        status = read_string(json_object_get(json, "missing"), "missing cells are not listed",
                             &reading->missing, err);
        if (status == FEN_OK) status = read_flag(json, "header", &reading->header, err);
        if (status == FEN_OK &&
            (!read_character(json_object_get(json, "separator"), ",;\t| ", &reading->separator) ||
             !read_character(json_object_get(json, "decimal"), ".,", &reading->decimal)))
            return damaged("separator or decimal is not a sign that CSV files have", err);
    } else if (base) {
        reading->counts_from = json_integer_value(base) != 0;
        if (!json_is_integer(base) || json_integer_value(base) != reading->counts_from)
            return damaged("index_base is neither 0 nor 1", err);
    }
    return status;
}

fen_status fenp_prep_from_json(const json_t *json, const double *fill, const double *center,
                               const double *scale, fenp_prep **out, fen_error *err)
{
    const json_t *inputs = json_object_get(json, "inputs");
    const json_t *targets = json_object_get(json, "targets");
    if (json_array_size(inputs) == 0 || !json_is_array(targets))
        return damaged("it has no inputs or no targets", err);
    fenp_prep *prep =
        fenp_prep_new((int64_t)json_array_size(inputs), (int64_t)json_array_size(targets));
    if (!prep)
        return fenp_no_memory(err, (int64_t)(json_array_size(inputs) * sizeof(fenp_input)),
                              "the preparation");
    fen_status status = read_names(json, targets, prep, err);
    if (status == FEN_OK) status = read_classes(json, prep, err);
    const json_t *ranges = json_object_get(json, "target_range");
    for (int64_t t = 0; status == FEN_OK && t < prep->targets; t++)
        status = read_range(json_array_get(ranges, (size_t)t), &prep->target_range[2 * t],
                            &prep->target_range[2 * t + 1], err);
    if (status == FEN_OK) status = read_reading(json_object_get(json, "reading"), prep, err);
    for (int64_t i = 0; status == FEN_OK && i < prep->inputs; i++) {
        prep->input[i].fill = fill[i];
        prep->input[i].center = center[i];
        prep->input[i].scale = scale[i];
        status = read_input(json_array_get(inputs, (size_t)i), prep, &prep->input[i], err);
    }
    fenp_prep_count(prep);
    if (status == FEN_OK && prep->features == 0) status = damaged("it makes no features", err);
    if (status == FEN_OK)
        *out = prep;
    else
        fenp_prep_free(prep);
    return status;
}
