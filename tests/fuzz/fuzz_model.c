/* fuzz_model.c -- any bytes as a model file: one sentence, or a model that can be used
 *
 * Half of the mutations change the bytes. The other half change one value somewhere in the
 * header (and in the JSON text inside it) and write a header of the right length, so that
 * the checks behind the syntax are reached. */
#define _GNU_SOURCE /* memfd_create */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <jansson.h>

#include "model/model.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) __attribute__((weak));

/* ---- the target ---------------------------------------------------------------------- */

static void use(const fen_model *m)
{
    enum { ROWS = 2 };
    char *json = NULL;
    int64_t widest = m->p > m->prep->inputs ? m->p : m->prep->inputs;
    double *x = calloc((size_t)(ROWS * widest + 1), sizeof *x);
    double *scores = calloc((size_t)(ROWS * m->targets), sizeof *scores);
    if (!x || !scores || fen_model_json(m, &json, NULL) != FEN_OK ||
        fenp_model_scores(m, x, ROWS, scores, NULL, NULL) != FEN_OK)
        abort();
    fen_view raw = { x, ROWS, m->prep->inputs, m->prep->inputs };
    fen_status status = fen_predict(m, raw, NULL, NULL, scores, NULL);
    if (status != FEN_OK && status != FEN_BAD_DATA && status != FEN_BAD_CALL) abort();
    const int64_t classes = fen_model_classes(m);
    double *laws = calloc((size_t)(ROWS * classes + 1), sizeof *laws);
    int64_t codes[ROWS];
    status = fen_decide(m, scores, ROWS, codes, fen_model_has_probabilities(m) ? laws : NULL, NULL);
    if (!laws || (status != FEN_OK && status != FEN_BAD_CALL)) abort();
    for (int i = 0; classes > 0 && i < ROWS; i++)
        if (!fen_model_class(m, codes[i])) abort();
    fen_text_free(json);
    free(x);
    free(scores);
    free(laws);
}

/* The features of a function that has a list of them. */
static void list(const fen_model *m)
{
    const int64_t count = fen_model_implied(m);
    double *weight = calloc((size_t)count + 1, sizeof *weight);
    double *coefficient = calloc((size_t)count + 1, sizeof *coefficient);
    char name[64];
    if (!weight || !coefficient) abort();
    const fen_status status = fen_model_implied_weights(m, 0, weight, coefficient, NULL);
    if (status != FEN_OK && (status != FEN_BAD_CALL || count > 0)) abort();
    for (int64_t k = 0; k < count; k += 1 + k / 8) fen_model_implied_name(m, k, name, sizeof name);
    free(weight);
    free(coefficient);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    fen_error err = { FEN_OK, "" };
    fen_model *m = NULL;
    int file = memfd_create("model", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    fen_status status = fen_model_load(path, &m, &err);
    if (status == FEN_OK) {
        use(m);
        list(m);
    } else if (status != FEN_BAD_DATA || m || strncmp(err.message, path, strlen(path)) != 0)
        abort();
    fen_model_free(m);
    close(file);
    return 0;
}

/* ---- mutations of the header ---------------------------------------------------------- */

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static json_t *odd_value(unsigned *seed)
{
    static const json_int_t integers[] = { 0, 1, 2, 5, 40, 48, -1, INT64_MAX, INT64_MIN, 1L << 61 };
    static const char *const texts[] = { "",
                                         "0",
                                         "-1",
                                         "1e308",
                                         "1e-320",
                                         "nan",
                                         "F32",
                                         "linear",
                                         "precomputed",
                                         "polynomial",
                                         "lp",
                                         "1.3333333333333333",
                                         "1.2",
                                         "20",
                                         "tensor-polynomial",
                                         "tensor-exponential" };
    switch (draw(seed, 6)) {
    case 0: return json_integer(integers[draw(seed, 10)]);
    case 1: return json_string(texts[draw(seed, sizeof texts / sizeof *texts)]);
    case 2: return json_null();
    case 3: return json_pack("[i,i]", (int)draw(seed, 8), (int)draw(seed, 8));
    case 4: return json_object();
    default: return json_real(0.5);
    }
}

static void mutate(json_t *value, unsigned *seed);

/* Text that holds JSON is changed inside. */
static json_t *mutated_text(const json_t *value, unsigned *seed)
{
    json_t *inner = json_loads(json_string_value(value), 0, NULL);
    if (!inner) return odd_value(seed);
    mutate(inner, seed);
    char *text = json_dumps(inner, JSON_COMPACT);
    json_t *out = json_string(text ? text : "");
    free(text);
    json_decref(inner);
    return out;
}

static void mutate_object(json_t *object, unsigned *seed)
{
    size_t target = draw(seed, (unsigned)json_object_size(object));
    void *at = json_object_iter(object);
    for (size_t i = 0; i < target; i++) at = json_object_iter_next(object, at);
    json_t *child = json_object_iter_value(at);
    const char *key = json_object_iter_key(at);
    if (json_is_string(child) && draw(seed, 2))
        json_object_iter_set_new(object, at, mutated_text(child, seed));
    else if ((json_is_object(child) || json_is_array(child)) && draw(seed, 8))
        mutate(child, seed);
    else if (draw(seed, 3))
        json_object_iter_set_new(object, at, odd_value(seed));
    else
        json_object_del(object, key);
}

static void mutate_array(json_t *array, unsigned *seed)
{
    size_t i = draw(seed, (unsigned)json_array_size(array));
    json_t *child = json_array_get(array, i);
    if ((json_is_object(child) || json_is_array(child)) && draw(seed, 8))
        mutate(child, seed);
    else if (draw(seed, 2))
        json_array_set_new(array, i, odd_value(seed));
    else if (draw(seed, 2))
        json_array_append(array, child);
    else
        json_array_remove(array, i);
}

static void mutate(json_t *value, unsigned *seed)
{
    if (json_object_size(value) > 0)
        mutate_object(value, seed);
    else if (json_array_size(value) > 0)
        mutate_array(value, seed);
}

/* The file with its header changed; 0 if it has none or the new one does not fit. */
static size_t mutate_header(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t length;
    if (size < sizeof length) return 0;
    memcpy(&length, data, sizeof length);
    if (length > size - sizeof length) return 0;
    json_t *header = json_loadb((const char *)data + sizeof length, length, 0, NULL);
    mutate(header, &seed);
    char *text = json_dumps(header, JSON_COMPACT);
    json_decref(header);
    uint64_t fresh = text ? strlen(text) : 0;
    size_t rest = size - sizeof length - length, out = sizeof fresh + fresh + rest;
    if (!text || out > most) {
        free(text);
        return 0;
    }
    memmove(data + sizeof fresh + fresh, data + sizeof length + length, rest);
    memcpy(data, &fresh, sizeof fresh);
    memcpy(data + sizeof fresh, text, fresh);
    free(text);
    return out;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size_t out = seed % 2 ? mutate_header(data, size, most, seed) : 0;
    return out ? out : LLVMFuzzerMutate(data, size, most);
}
