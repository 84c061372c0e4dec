/* mutate_header.h -- one value of the header of a model file changed, the lengths made right */
#ifndef MUTATE_HEADER_H
#define MUTATE_HEADER_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

static inline unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static inline json_t *odd_value(unsigned *seed)
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

static inline void mutate(json_t *value, unsigned *seed);

/* Text that holds JSON is changed inside. */
static inline json_t *mutated_text(const json_t *value, unsigned *seed)
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

static inline void mutate_object(json_t *object, unsigned *seed)
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

static inline void mutate_array(json_t *array, unsigned *seed)
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

static inline void mutate(json_t *value, unsigned *seed)
{
    if (json_object_size(value) > 0)
        mutate_object(value, seed);
    else if (json_array_size(value) > 0)
        mutate_array(value, seed);
}

/* The file with its header changed; 0 if it has none or the new one does not fit. */
static inline size_t mutate_header(uint8_t *data, size_t size, size_t most, unsigned seed)
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
#endif
