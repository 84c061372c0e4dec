/* save.c -- a model as a safetensors file (layout: tensors.h), whole or not at all
 *
 * Arrays go to the file straight from the model's memory. Numbers in the metadata are
 * the shortest text that reads back as the same double; what is not finite is left out. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "data/bytes.h"
#include "model/file.h"
#include "tensor/form.h"

/* ---- words: each returns 0, or -1 when memory ran out ------------------------------------- */

int fenp_put_text(json_t *metadata, const char *key, const char *text)
{
    return json_object_set_new(metadata, key, fenp_json_string(text));
}

int fenp_put_count(json_t *metadata, const char *key, int64_t count)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, count);
    return fenp_put_text(metadata, key, text);
}

int fenp_put_number(json_t *metadata, const char *key, double value)
{
    char text[32];
    if (!isfinite(value)) return 0;
    fenp_print_double(value, text);
    return fenp_put_text(metadata, key, text);
}

static int put_selection(json_t *metadata, const fenp_selection *s)
{
    if (!s->kind[0]) return 0;
    return fenp_put_text(metadata, "selection.kind", s->kind) |
           fenp_put_count(metadata, "selection.rows", s->rows) |
           fenp_put_number(metadata, "selection.score", s->score);
}

/* One word per target, comma between. */
static int put_verdicts(json_t *metadata, const fen_model *m)
{
    enum { LONGEST = 16 };
    char *list = fenp_new(m->targets, LONGEST), *end = list;
    if (!list) return -1;
    for (int64_t t = 0; t < m->targets; t++)
        end += snprintf(end, LONGEST, "%s%s", t ? "," : "",
                        fen_verdict_text(m->certificate[t].verdict));
    int failed = fenp_put_text(metadata, "verdicts", list);
    free(list);
    return failed;
}

static int put_preparation(json_t *metadata, const fenp_prep *prep)
{
    char *text = NULL;
    if (fenp_json_text(fenp_prep_to_json(prep), &text, NULL) != FEN_OK) return -1;
    int failed = fenp_put_text(metadata, "preparation", text);
    free(text);
    return failed;
}

/* The number of training rows, where no array has it. */
static int put_rows(json_t *metadata, const fen_model *m)
{
    return m->frequencies || m->support ? fenp_put_count(metadata, "rows", m->n) : 0;
}

/* What random features were drawn by, or the folds that sigmoids were fitted to. */
static int put_seed(json_t *metadata, const fen_model *m)
{
    char seed[32];
    int used = m->frequencies != NULL;
    for (int64_t t = 0; t < m->targets && !used; t++) used = fenp_has_sigmoid(&m->output[t]);
    if (!used) return 0;
    snprintf(seed, sizeof seed, "%" PRIu64, m->seed);
    return fenp_put_text(metadata, "seed", seed);
}

static int put_approx(json_t *metadata, const fen_model *m)
{
    char approx[FENP_APPROX_TEXT];
    if (!m->frequencies) return 0;
    fenp_approx_print(m->approx, approx);
    return fenp_put_text(metadata, "approx", approx);
}

/* NULL when memory ran out, as for every function here that returns JSON. */
static json_t *describe(const fen_model *m)
{
    char objective[1024], hash[32];
    const fen_kernel_par *par = &m->kernel.par;
    fenp_model_objective(m, objective, sizeof objective);
    snprintf(hash, sizeof hash, "%016" PRIx64, m->hash);
    json_t *metadata = json_object();
    if (fenp_put_text(metadata, "format", FENP_FORMAT) |
        fenp_put_text(metadata, "version", FEN_VERSION) |
        fenp_put_text(metadata, "objective", objective) |
        fenp_put_text(metadata, "loss", m->loss->name) |
        fenp_put_text(metadata, "kernel", m->kernel.table->name) |
        fenp_put_number(metadata, "gamma", par->gamma) |
        fenp_put_number(metadata, "degree", par->degree) |
        fenp_put_number(metadata, "coef0", par->coef0) |
        fenp_put_number(metadata, "lambda", m->lambda) |
        fenp_put_number(metadata, "power", m->power) |
        fenp_put_number(metadata, "tolerance", m->tolerance) |
        fenp_put_text(metadata, "bias", m->bias ? "yes" : "no") |
        fenp_put_text(metadata, "hash", hash) | fenp_put_text(metadata, "method", m->method) |
        fenp_put_text(metadata, "note", m->note) |
        fenp_put_number(metadata, "seconds", m->seconds) | put_selection(metadata, &m->selection) |
        fenp_put_number(metadata, "nu", m->nu) |
        fenp_put_number(metadata, "train_error", m->train_error) |
        fenp_put_number(metadata, "crossing", m->crossing) | put_rows(metadata, m) |
        fenp_file_put_linear(metadata, m) | fenp_file_put_lp(metadata, m) | put_seed(metadata, m) |
        put_approx(metadata, m) | put_verdicts(metadata, m) | put_preparation(metadata, m->prep)) {
        json_decref(metadata);
        return NULL;
    }
    return metadata;
}

static int64_t array_bytes(const fenp_array *a)
{
    return fenp_bytes(a->shape[0], a->shape[1], sizeof(double));
}

static json_t *describe_array(const fenp_array *a, int64_t from)
{
    json_t *shape = json_pack("[I]", (json_int_t)a->shape[0]);
    if (a->rank == 2) json_array_append_new(shape, json_integer(a->shape[1]));
    if (json_array_size(shape) != (size_t)a->rank) {
        json_decref(shape);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:[I,I]}", "dtype", "F64", "shape", shape, "data_offsets",
                     (json_int_t)from, (json_int_t)(from + array_bytes(a)));
}

static fen_status header_text(const fen_model *m, const fenp_file *file, char **text,
                              fen_error *err)
{
    json_t *header = json_object();
    int failed = json_object_set_new(header, FENP_METADATA, describe(m));
    int64_t offset = 0;
    for (int i = 0; i < file->count; i++) {
        const fenp_array *a = &file->array[i];
        failed |= json_object_set_new(header, a->name, describe_array(a, offset));
        offset += array_bytes(a);
    }
    if (failed) {
        json_decref(header);
        return fenp_no_memory(err, 0, "the description of a model");
    }
    return fenp_json_text(header, text, err);
}

static fen_status write_file(fen_sink *sink, const fenp_file *file, const char *header,
                             fen_error *err)
{
    static const char spaces[] = "       ";
    int64_t length = (int64_t)strlen(header);
    int64_t padding = (8 - length % 8) % 8; /* so that the arrays are aligned when mapped */
    int64_t padded = length + padding;
    fen_status status = fen_sink_write(sink, &padded, sizeof padded, err);
    if (status == FEN_OK) status = fen_sink_write(sink, header, length, err);
    if (status == FEN_OK) status = fen_sink_write(sink, spaces, padding, err);
    for (int i = 0; status == FEN_OK && i < file->count; i++)
        status = fen_sink_write(sink, file->array[i].at, array_bytes(&file->array[i]), err);
    return status;
}

fen_status fen_model_save(const fen_model *model, const char *path, fen_error *err)
{
    fenp_file file;
    fen_sink *sink = NULL;
    char *header = NULL;
    fen_status status = fenp_file_open(
        model,
        (fenp_file_size){ model->prep->inputs, model->prep->class_count, 0,
                          model->groups.start ? model->groups.start[model->groups.count] : 0,
                          FENP_SCORE_NUMBERS, fenp_even_order(model->kernel.par.order) / 2 },
        &file, err);
    if (status != FEN_OK) return status;
    fenp_file_take(&file, model);
    status = header_text(model, &file, &header, err);
    if (status == FEN_OK) status = fen_sink_open(path, &sink, err);
    if (status == FEN_OK) {
        status = write_file(sink, &file, header, err);
        if (status == FEN_OK)
            status = fen_sink_commit(sink, err);
        else
            fen_sink_abandon(sink);
    }
    free(header);
    fenp_file_close(&file);
    return status;
}
