/* tensors.c -- a safetensors file that nobody vouches for: every length before its use */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "model/tensors.h"

enum {
    HEADER_MAX = 100 * 1000 * 1000, /* as in other readers of the format              */
    VALUES_MAX = 1000               /* ours have about 80; the preparation is one text */
};

fen_status fenp_alien(const fenp_tensors *in, const char *why, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_DATA, "%s: is not a fenchel model (%s)", in->path, why);
}

fen_status fenp_damaged(const fenp_tensors *in, const char *what, const char *why, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_DATA, "%s: damaged: %.60s %s", in->path, what, why);
}

static fen_status read_at(const fenp_tensors *in, int64_t offset, void *out, int64_t size,
                          fen_error *err)
{
    char *at = out;
    while (size > 0) {
        ssize_t got = pread(in->file, at, (size_t)size, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fenp_fail(err, FEN_IO, "%s: cannot be read: %s", in->path, strerror(errno));
        if (got == 0)
            return fenp_fail(err, FEN_IO, "%s: became shorter while it was read", in->path);
        at += got;
        offset += got;
        size -= got;
    }
    return FEN_OK;
}

/* The header's text as JSON, its length checked first. */
static fen_status read_header(fenp_tensors *in, int64_t file_size, fen_error *err)
{
    uint64_t length;
    if (file_size < (int64_t)sizeof length) return fenp_alien(in, "it is too short", err);
    fen_status status = read_at(in, 0, &length, sizeof length, err);
    if (status != FEN_OK) return status;
    if (memcmp(&length, "svm_type", sizeof length) == 0)
        return fenp_alien(in, "it is one of LIBSVM: use fenchel svm-predict", err);
    if (length < 2 || length > HEADER_MAX || length > (uint64_t)file_size - sizeof length)
        return fenp_alien(in, "it does not begin with the length of a header", err);
    char *text = fenp_new((int64_t)length, 1);
    if (!text) return fenp_no_memory(err, (int64_t)length, "the header of a model");
    status = read_at(in, sizeof length, text, (int64_t)length, err);
    if (status == FEN_OK && fenp_json_values(text, (int64_t)length) > VALUES_MAX)
        status = fenp_alien(in, "its header lists more than a model has", err);
    if (status == FEN_OK) status = fenp_json_parse(text, (int64_t)length, &in->header, err);
    free(text);
    if (status != FEN_OK) return status;
    if (!json_is_object(in->header)) return fenp_alien(in, "its header is not JSON", err);
    in->data_from = (int64_t)(sizeof length + length);
    in->data_size = file_size - in->data_from;
    return FEN_OK;
}

/* --- the list of arrays ----------------------------------------------------------- */

/* Entry i of a JSON array as a size; -1 if it is none. */
static int64_t size_at(const json_t *array, size_t i)
{
    const json_t *value = json_array_get(array, i);
    return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value)
                                                                    : -1;
}

static fen_status read_entry(fenp_tensors *in, const char *name, const json_t *json, fen_error *err)
{
    const json_t *shape = json_object_get(json, "shape");
    const json_t *offsets = json_object_get(json, "data_offsets");
    const char *dtype = json_string_value(json_object_get(json, "dtype"));
    size_t rank = json_array_size(shape);
    if (in->count == FENP_TENSORS_MAX)
        return fenp_damaged(in, "the header", "lists too many arrays", err);
    if (!dtype || strcmp(dtype, "F64") != 0)
        return fenp_damaged(in, name, "is not an array of doubles", err);
    if (rank < 1 || rank > 2 || json_array_size(offsets) != 2)
        return fenp_damaged(in, name, "has no proper shape or place", err);
    fenp_tensor *a = &in->tensor[in->count++];
    *a = (fenp_tensor){ name,
                        (int)rank,
                        { size_at(shape, 0), rank == 2 ? size_at(shape, 1) : 1 },
                        size_at(offsets, 0),
                        size_at(offsets, 1) };
    int64_t bytes = fenp_bytes(a->shape[0], a->shape[1], sizeof(double));
    if (bytes < 0 || a->from < 0 || a->to > in->data_size || a->from > a->to ||
        a->to - a->from != bytes)
        return fenp_damaged(in, name, "does not fit its place in the file", err);
    return FEN_OK;
}

static int by_place(const void *a, const void *b)
{
    const fenp_tensor *x = a, *y = b;
    int order = (x->from > y->from) - (x->from < y->from);
    return order ? order : (x->to > y->to) - (x->to < y->to); /* empty arrays first */
}

fen_status fenp_tensors_list(fenp_tensors *in, fen_error *err)
{
    const char *name;
    json_t *value;
    json_object_foreach (in->header, name, value) {
        if (strcmp(name, FENP_METADATA) == 0) continue;
        fen_status status = read_entry(in, name, value, err);
        if (status != FEN_OK) return status;
    }
    qsort(in->tensor, (size_t)in->count, sizeof in->tensor[0], by_place);
    int64_t end = 0;
    for (int i = 0; i < in->count; end = in->tensor[i++].to)
        if (in->tensor[i].from != end)
            return fenp_damaged(in, in->tensor[i].name, "does not begin where another ends", err);
    if (end != in->data_size)
        return fenp_damaged(in, "the file", "does not end where its last array does", err);
    return FEN_OK;
}

const fenp_tensor *fenp_tensor_find(const fenp_tensors *in, const char *name)
{
    for (int i = 0; i < in->count; i++)
        if (strcmp(in->tensor[i].name, name) == 0) return &in->tensor[i];
    return NULL;
}

const char *fenp_metadata(const fenp_tensors *in, const char *key)
{
    return json_string_value(json_object_get(json_object_get(in->header, FENP_METADATA), key));
}

fen_status fenp_tensor_read(const fenp_tensors *in, const fenp_tensor *tensor, double *out,
                            fen_error *err)
{
    return read_at(in, in->data_from + tensor->from, out, tensor->to - tensor->from, err);
}

fen_status fenp_tensors_open(const char *path, fenp_tensors *in, fen_error *err)
{
    *in = (fenp_tensors){ .path = path };
    struct stat info;
    in->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not wait for a pipe */
    if (in->file < 0 || fstat(in->file, &info) != 0)
        return fenp_fail(err, FEN_IO, "%s: cannot be opened: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode)) return fenp_fail(err, FEN_IO, "%s: is not a file", path);
    return read_header(in, info.st_size, err);
}

void fenp_tensors_close(fenp_tensors *in)
{
    json_decref(in->header);
    if (in->file >= 0) close(in->file);
}
