/* model_files.h -- models as files, whole, damaged or with a word changed, for the tests */
#ifndef MODEL_FILES_H
#define MODEL_FILES_H
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/json.h"
#include "support/some_model.h"

/* ---- files ---------------------------------------------------------------------------- */

static char path[4096];

static inline int make_path(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/test_model.XXXXXX", folder ? folder : "/tmp");
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static inline int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

typedef struct bytes {
    unsigned char *at;
    int64_t size;
} bytes;

static inline bytes read_bytes(void)
{
    struct stat info;
    int file = open(path, O_RDONLY);
    assert_true(file >= 0 && fstat(file, &info) == 0);
    bytes b = { malloc((size_t)info.st_size + 1), info.st_size };
    assert_int_equal(read(file, b.at, (size_t)b.size), b.size);
    close(file);
    return b;
}

static inline void write_bytes(const void *at, int64_t size)
{
    int file = open(path, O_WRONLY); /* O_TRUNC would make some file systems sync */
    assert_true(file >= 0);
    assert_int_equal(write(file, at, (size_t)size), size);
    assert_int_equal(ftruncate(file, size), 0);
    close(file);
}

static inline bytes saved(const some_kind *kind)
{
    fen_error err = { 0 };
    fen_model *m = some_model(kind);
    if (fen_model_save(m, path, &err) != FEN_OK) fail_msg("%s", err.message);
    fen_model_free(m);
    return read_bytes();
}

static inline fen_model *loaded(void)
{
    fen_error err = { 0 };
    fen_model *m = NULL;
    if (fen_model_load(path, &m, &err) != FEN_OK) fail_msg("%s", err.message);
    return m;
}

/* In words. */
static inline json_t *described(const some_kind *kind)
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

/* ---- damage --------------------------------------------------------------------------- */

/* Loads what is at path: a whole model that can be used, or one sentence. */
static inline fen_status try_load(fen_error *err)
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

/* The saved file with its header changed by edit. */
static inline fen_status load_edited(const some_kind *kind, void (*edit)(json_t *header),
                                     fen_error *err)
{
    bytes b = saved(kind);
    uint64_t length;
    memcpy(&length, b.at, 8);
    json_t *header = json_loadb((char *)b.at + 8, length, 0, NULL);
    assert_non_null(header);
    edit(header);
    char *text = json_dumps(header, JSON_COMPACT);
    uint64_t size = strlen(text);
    int64_t data = b.size - 8 - (int64_t)length;
    char *whole = malloc((size_t)(8 + (int64_t)size + data));
    memcpy(whole, &size, 8);
    memcpy(whole + 8, text, size);
    memcpy(whole + 8 + size, b.at + 8 + length, (size_t)data);
    write_bytes(whole, 8 + (int64_t)size + data);
    free(whole);
    free(text);
    free(b.at);
    json_decref(header);
    return try_load(err);
}

static inline void set(json_t *header, const char *key, const char *value)
{
    json_object_set_new(json_object_get(header, "__metadata__"), key, json_string(value));
}
static inline void drop(json_t *header, const char *key)
{
    json_object_del(json_object_get(header, "__metadata__"), key);
}
static inline void reshape(json_t *header, const char *name, json_t *shape)
{
    json_object_set_new(json_object_get(header, name), "shape", shape);
}
static inline void place(json_t *header, const char *name, json_int_t from, json_int_t to)
{
    json_object_set_new(json_object_get(header, name), "data_offsets",
                        json_pack("[I,I]", from, to));
}

static inline void nothing(json_t *h) { (void)h; }
static inline void rename_array(json_t *h, const char *name)
{
    json_object_set(h, "other", json_object_get(h, name));
    json_object_del(h, name);
}

/* A number of the array of this name is changed. */
static inline fen_status load_changed(const some_kind *kind, const char *name, int64_t at,
                                      double value, fen_error *err)
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

/* ---- tables of it ----------------------------------------------------------------------- */

typedef struct edited {
    int kind; /* of some_kinds, which loads as long as nothing is changed */
    void (*edit)(json_t *header);
    const char *words; /* of the sentence that refuses it */
} edited;

static inline void refuse_edited(const edited *cases, size_t count)
{
    fen_error err;
    for (size_t i = 0; i < count; i++) {
        const some_kind *kind = &some_kinds[cases[i].kind];
        assert_int_equal(load_edited(kind, nothing, &err), FEN_OK);
        if (load_edited(kind, cases[i].edit, &err) != FEN_BAD_DATA)
            fail_msg("case %zu is accepted", i);
        if (!strstr(err.message, cases[i].words))
            fail_msg("case %zu wants \"%s\": %s", i, cases[i].words, err.message);
    }
}

typedef struct changed {
    int kind;
    const char *name; /* of the array */
    int64_t at;
    double value;
    const char *words;
} changed;

static inline void refuse_changed(const changed *cases, size_t count)
{
    fen_error err;
    for (size_t i = 0; i < count; i++) {
        const some_kind *kind = &some_kinds[cases[i].kind];
        if (load_changed(kind, cases[i].name, cases[i].at, cases[i].value, &err) != FEN_BAD_DATA)
            fail_msg("case %zu is accepted", i);
        if (!strstr(err.message, cases[i].words))
            fail_msg("case %zu wants \"%s\": %s", i, cases[i].words, err.message);
    }
}
#endif
