/* load.c -- a model from a safetensors file that nobody vouches for
 *
 * Method: tensors.c has held every array against the file, so that memory never
 * exceeds a small multiple of it; arrays are read straight into their place; shapes,
 * names and numbers are then held against each other. What passes can predict. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/registry.h"
#include "base/text.h"
#include "data/prepare_parts.h"
#include "model/file.h"
#include "model/ready.h"
#include "penalty/traits.h"

/* --- metadata --------------------------------------------------------------------- */

static fen_status read_format(const fenp_tensors *in, fen_error *err)
{
    const char *format = fenp_metadata(in, "format");
    if (!format || strncmp(format, FENP_FORMAT_FAMILY, strlen(FENP_FORMAT_FAMILY)) != 0)
        return fenp_alien(in, "its header does not say that it is one", err);
    if (strcmp(format, FENP_FORMAT) != 0 && strcmp(format, FENP_FORMAT_THREE) != 0 &&
        strcmp(format, FENP_FORMAT_BEFORE) != 0)
        return fenp_fail(err, FEN_BAD_DATA, "%s: has the format %.40s: %s", in->path, format,
                         strcmp(format, FENP_FORMAT) < 0 ? "fit the model anew"
                                                         : "it needs a newer fenchel");
    return FEN_OK;
}

/* The tables that a model is made of. */
typedef struct names {
    const fen_loss *loss;
    const fen_kernel *kernel;
    const fen_penalty *penalty;
} names;

static fen_status read_names(const fenp_tensors *in, names *out, fen_error *err)
{
    const char *loss_name = fenp_metadata(in, "loss");
    const char *kernel_name = fenp_metadata(in, "kernel");
    const char *penalty_name = fenp_metadata(in, "penalty");
    if (!loss_name || !kernel_name)
        return fenp_damaged(in, "the header", "names no loss or no kernel", err);
    if (!penalty_name) penalty_name = "rkhs"; /* before format 4 there was no other */
    out->loss = fenp_find_loss(loss_name);
    out->kernel = fenp_find_kernel(kernel_name);
    out->penalty = fenp_find_penalty(penalty_name);
    if (out->loss && out->kernel && out->penalty) return FEN_OK;
    return fenp_fail(err, FEN_BAD_DATA, "%s: uses the %s \"%.40s\": it needs a newer fenchel",
                     in->path,
                     !out->loss     ? "loss"
                     : !out->kernel ? "kernel"
                                    : "penalty",
                     !out->loss     ? loss_name
                     : !out->kernel ? kernel_name
                                    : penalty_name);
}

/* Copies what fits; nothing where there is no such key. */
static void read_text(const fenp_tensors *in, const char *key, char *out, size_t size)
{
    const char *text = fenp_metadata(in, key);
    size_t length = text ? strnlen(text, size - 1) : 0;
    memcpy(out, text ? text : "", length);
    out[length] = '\0';
}

fen_status fenp_file_number(const fenp_tensors *in, const char *key, double low, double initial,
                            double *value, fen_error *err)
{
    const char *text = fenp_metadata(in, key);
    *value = initial;
    if ((text && !fenp_parse_double(text, (int64_t)strlen(text), value)) || !isfinite(*value) ||
        *value < low)
        return fenp_damaged(in, key, "is not a number in its range", err);
    return FEN_OK;
}

static int read_count(const fenp_tensors *in, const char *key, int64_t *value)
{
    const char *text = fenp_metadata(in, key);
    return text && fenp_parse_int(text, (int64_t)strlen(text), value) && *value >= 0;
}

static fen_status read_numbers(const fenp_tensors *in, fen_model *m, fen_error *err)
{
    static const double least_positive = 0x1p-1074;
    const fen_kernel *k = m->kernel.table;
    fen_kernel_par *par = &m->kernel.par;
    const struct {
        const char *key;
        double low, initial, *value;
    } numbers[] = {
        { "gamma", k->uses_gamma ? least_positive : -INFINITY, k->uses_gamma ? NAN : 0,
          &par->gamma },
        { "degree", k->uses_degree ? 1 : -INFINITY, k->uses_degree ? NAN : 0, &par->degree },
        { "coef0", -INFINITY, k->uses_coef0 ? NAN : 0, &par->coef0 },
        { "lambda", fenp_is_none(m->penalty) ? 0 : least_positive, NAN, &m->lambda },
        { "power", least_positive, NAN, &m->power },
        { "tolerance", 0, NAN, &m->tolerance },
        { "seconds", 0, NAN, &m->seconds },
        { "nu", 0, 0, &m->nu },
    };
    fen_status status = FEN_OK;
    for (size_t i = 0; status == FEN_OK && i < sizeof numbers / sizeof *numbers; i++)
        status = fenp_file_number(in, numbers[i].key, numbers[i].low, numbers[i].initial,
                                  numbers[i].value, err);
    if (status == FEN_OK && k->uses_degree &&
        (par->degree > 20 || par->degree != floor(par->degree)))
        return fenp_damaged(in, "degree", "is not a whole number from 1 to 20", err);
    return status;
}

static fen_status read_hash(const fenp_tensors *in, uint64_t *hash, fen_error *err)
{
    const char *text = fenp_metadata(in, "hash");
    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return fenp_damaged(in, "hash", "is not 16 hexadecimal digits", err);
    *hash = strtoull(text, NULL, 16);
    return FEN_OK;
}

/* Any 64 bits; 0 where there is no such key. */
static fen_status read_seed(const fenp_tensors *in, uint64_t *seed, fen_error *err)
{
    const char *text = fenp_metadata(in, "seed");
    const size_t digits = text ? strspn(text, "0123456789") : 0;
    if (!text) return FEN_OK;
    if (digits == 0 || digits > 20 || text[digits] != '\0')
        return fenp_damaged(in, "seed", "is not a whole number", err);
    *seed = strtoull(text, NULL, 10);
    return FEN_OK;
}

/* The verdict that text[0..length-1] names, or FEN_VERDICT_COUNT. */
static fen_verdict find_verdict(const char *text, size_t length)
{
    fen_verdict v = 0;
    while (v < FEN_VERDICT_COUNT && (strlen(fen_verdict_text(v)) != length ||
                                     memcmp(fen_verdict_text(v), text, length) != 0))
        v++;
    return v;
}

static fen_status read_verdicts(const fenp_tensors *in, fen_model *m, fen_error *err)
{
    const char *list = fenp_metadata(in, "verdicts");
    for (int64_t t = 0; t < m->targets; t++) {
        size_t length = list ? strcspn(list, ",") : 0;
        fen_verdict verdict = length ? find_verdict(list, length) : FEN_VERDICT_COUNT;
        if (verdict == FEN_VERDICT_COUNT)
            return fenp_damaged(in, "verdicts", "are not one known word per target", err);
        m->certificate[t].verdict = verdict;
        list += length + (list[length] == ',');
    }
    return FEN_OK;
}

/* Beyond this a double does not count; far above what any machine holds. */
#define TERMS_MAX 0x1p53

static fen_status read_selection(const fenp_tensors *in, fenp_selection *s, fen_error *err)
{
    read_text(in, "selection.kind", s->kind, sizeof s->kind);
    if (!s->kind[0])
        return s->grid ? fenp_damaged(in, "selection.grid", "belongs to no selection", err)
                       : FEN_OK;
    if (!read_count(in, "selection.rows", &s->rows))
        return fenp_damaged(in, "selection.rows", "is not a number of rows", err);
    for (int64_t i = 0; i < s->count; i++)
        if (s->grid[i].terms < 0 || s->grid[i].terms > TERMS_MAX)
            return fenp_damaged(in, "selection.grid", "counts terms that no model has", err);
    s->score = NAN; /* where it was not finite, save left it out */
    if (!fenp_metadata(in, "selection.score")) return FEN_OK;
    return fenp_file_number(in, "selection.score", -INFINITY, NAN, &s->score, err);
}

static fen_status read_metadata(const fenp_tensors *in, fen_model *m, fen_error *err)
{
    const char *bias = fenp_metadata(in, "bias");
    fen_status status = read_numbers(in, m, err);
    if (status == FEN_OK) status = fenp_file_read_linear(in, m, err);
    if (status == FEN_OK) status = fenp_file_read_lp(in, m, err);
    if (status == FEN_OK) status = read_hash(in, &m->hash, err);
    if (status == FEN_OK) status = read_seed(in, &m->seed, err);
    if (status == FEN_OK && fenp_metadata(in, "train_error")) /* not finite: left out */
        status = fenp_file_number(in, "train_error", 0, NAN, &m->train_error, err);
    if (status == FEN_OK && fenp_metadata(in, "crossing"))
        status = fenp_file_number(in, "crossing", 0, NAN, &m->crossing, err);
    if (status == FEN_OK) status = read_verdicts(in, m, err);
    if (status == FEN_OK) status = read_selection(in, &m->selection, err);
    if (status == FEN_OK && (!bias || (strcmp(bias, "yes") != 0 && strcmp(bias, "no") != 0)))
        status = fenp_damaged(in, "bias", "is neither yes nor no", err);
    m->bias = bias && strcmp(bias, "yes") == 0;
    read_text(in, "method", m->method, sizeof m->method);
    read_text(in, "note", m->note, sizeof m->note);
    return status;
}

/* --- arrays ------------------------------------------------------------------------ */

fen_status fenp_file_room(const fenp_tensor *tensor, double **room, fen_error *err)
{
    if (!tensor) return FEN_OK;
    *room = fenp_new(tensor->to - tensor->from, 1);
    return *room ? FEN_OK : fenp_no_memory(err, tensor->to - tensor->from, tensor->name);
}

/* Random features: the sizes stand in the arrays, n and the seed in words. */
static fen_status make_features(const fenp_tensors *in, fen_model **model, fen_error *err)
{
    const fenp_tensor *omega = fenp_tensor_find(in, "frequencies");
    const fenp_tensor *weights = fenp_tensor_find(in, "feature_weights");
    const char *text = fenp_metadata(in, "approx");
    int64_t rows;
    fenp_approx approx;
    if (!text || fenp_approx_read(text, &approx, NULL) != FEN_OK || approx.columns == 0)
        return fenp_damaged(in, "approx", "does not name random features", err);
    if (!read_count(in, "rows", &rows) || rows < 1 || !fenp_metadata(in, "seed"))
        return fenp_damaged(in, "the header", "lacks the rows or the seed of the features", err);
    if (!weights || weights->shape[0] < 1 || weights->shape[1] != approx.columns ||
        omega->shape[0] != approx.columns / 2)
        return fenp_damaged(in, "frequencies", "do not have the size of the features", err);
    *model = fenp_model_new_features(rows, omega->shape[1], weights->shape[0], approx);
    if (!*model) return fenp_no_memory(err, omega->to - omega->from, omega->name);
    return FEN_OK;
}

/* Rows of the support, of n: their number stands in words. */
static fen_status make_support(const fenp_tensors *in, fen_model *m, fen_error *err)
{
    const fenp_tensor *support = fenp_tensor_find(in, "support");
    if (!support) return FEN_OK;
    if (!m->terms && (!read_count(in, "rows", &m->n) || m->n < m->kept))
        return fenp_damaged(in, "rows", "is not the number of the training rows", err);
    m->support = fenp_new(m->kept, sizeof *m->support);
    return m->support ? FEN_OK : fenp_no_memory(err, 8 * m->kept, support->name);
}

/* The exact kernel: n or what is kept of it from dual (with terms all of it), p from where it
 * stands. */
static fen_status make_exact(const fenp_tensors *in, fen_model **model, fen_error *err)
{
    const fenp_tensor *dual = fenp_tensor_find(in, "dual");
    const fenp_tensor *inputs = fenp_tensor_find(in, "inputs");
    const fenp_tensor *weights = fenp_tensor_find(in, "weights");
    if (!dual || dual->rank != 2 || dual->shape[0] < 1 || dual->shape[1] < 1)
        return fenp_damaged(in, "dual", "is missing or empty", err);
    int64_t targets = dual->shape[0], n = dual->shape[1];
    int64_t p = inputs ? inputs->shape[1] : weights ? weights->shape[1] : n;
    fen_model *m = fenp_model_new(n, p, targets);
    if (!m) return fenp_no_memory(err, dual->to - dual->from, dual->name);
    *model = m;
    fen_status status = fenp_file_make_linear(in, m, err);
    if (status == FEN_OK) status = fenp_file_make_lp(in, m, err);
    if (status == FEN_OK) status = make_support(in, m, err);
    if (status == FEN_OK) status = fenp_file_room(inputs, &m->inputs, err);
    if (status == FEN_OK)
        status = fenp_file_room(fenp_tensor_find(in, "deviation"), &m->deviation, err);
    return status == FEN_OK ? fenp_file_room(weights, &m->weights, err) : status;
}

static int is_before(const fenp_tensors *in)
{
    return strcmp(fenp_metadata(in, "format"), FENP_FORMAT_BEFORE) == 0;
}

static int64_t score_numbers(const fenp_tensors *in)
{
    const int three = strcmp(fenp_metadata(in, "format"), FENP_FORMAT_THREE) == 0;
    return is_before(in) ? FENP_SCORE_NUMBERS_BEFORE
           : three       ? FENP_SCORE_NUMBERS_THREE
                         : FENP_SCORE_NUMBERS;
}

static fen_status make_model(const fenp_tensors *in, fen_model **model, fen_error *err)
{
    const fenp_tensor *grid = fenp_tensor_find(in, "selection.grid");
    const fenp_tensor *tangents = fenp_tensor_find(in, "tangents");
    fen_status status = fenp_tensor_find(in, "frequencies") ? make_features(in, model, err)
                                                            : make_exact(in, model, err);
    if (status != FEN_OK) return status;
    fen_model *m = *model;
    if (grid && grid->shape[1] != score_numbers(in))
        return fenp_damaged(in, grid->name, "does not have the columns of a table of scores", err);
    m->selection.count = grid ? grid->shape[0] : 0;
    m->tangent_count = tangents ? tangents->shape[0] / m->targets : 0;
    status = fenp_file_room(tangents, &m->tangents, err);
    if (status == FEN_OK)
        status = fenp_file_room(fenp_tensor_find(in, "class_weights"), &m->class_weights, err);
    if (status != FEN_OK || !grid) return status;
    m->selection.grid = fenp_new(grid->shape[0], sizeof *m->selection.grid);
    return m->selection.grid ? FEN_OK : fenp_no_memory(err, grid->to - grid->from, grid->name);
}

/* Rows, weights, features or neither: as the kernel wants it. */
static fen_status check_kind(const fenp_tensors *in, const fen_model *m, fen_error *err)
{
    fen_basis basis = m->kernel.table->basis;
    int arrays = (m->inputs != NULL) + (m->weights != NULL) + (m->frequencies != NULL);
    if (m->frequencies && fenp_approx_check(&m->approx, m->kernel.table, NULL) != FEN_OK)
        return fenp_damaged(in, "approx", "does not fit the kernel", err);
    if ((m->terms != NULL) != (fenp_model_on_coefficients(m) && !m->kernel.table->linear) ||
        (fenp_model_on_coefficients(m) && m->frequencies))
        return fenp_damaged(in, "the file", "does not hold the arrays of its penalty", err);
    if (m->support && fenp_model_on_coefficients(m) && !m->terms)
        return fenp_damaged(in, "support", "does not go with the penalty", err);
    if (m->support && basis == FEN_PRECOMPUTED)
        return fenp_damaged(in, "support", "does not go with a precomputed kernel", err);
    if (arrays != (basis != FEN_PRECOMPUTED) ||
        (m->weights != NULL) != (m->kernel.table->linear != 0))
        return fenp_damaged(in, "the file", "does not hold the arrays of its kernel", err);
    return FEN_OK;
}

/* Every array that such a model has, of exactly its shape; and no other. */
static fen_status check_shapes(const fenp_tensors *in, const fenp_file *file, fen_error *err)
{
    for (int i = 0; i < file->count; i++) {
        const fenp_array *wanted = &file->array[i];
        const fenp_tensor *found = fenp_tensor_find(in, wanted->name);
        if (!found) return fenp_damaged(in, wanted->name, "is missing", err);
        if (found->rank != wanted->rank || found->shape[0] != wanted->shape[0] ||
            found->shape[1] != wanted->shape[1])
            return fenp_damaged(in, wanted->name, "does not have the size of the others", err);
    }
    if (in->count != file->count)
        return fenp_damaged(in, "the file", "holds an array that such a model lacks", err);
    return FEN_OK;
}

static fen_status read_array(const fenp_tensors *in, const fenp_array *array, fen_error *err)
{
    const fenp_tensor *tensor = fenp_tensor_find(in, array->name);
    fen_status status = fenp_tensor_read(in, tensor, array->at, err);
    int64_t count = array->shape[0] * array->shape[1];
    for (int64_t i = 0; status == FEN_OK && array->finite && i < count; i++)
        if (!isfinite(array->at[i]))
            status = fenp_damaged(in, array->name, "holds a number that is not finite", err);
    return status;
}

static fen_status read_preparation(const fenp_tensors *in, const fenp_file *file, fen_model *m,
                                   fen_error *err)
{
    const char *text = fenp_metadata(in, "preparation");
    json_t *json = NULL;
    const int64_t values = text ? fenp_json_values(text, (int64_t)strlen(text)) : 0;
    /* an input has a name, up to two flags, and at most 50 levels */
    if ((values - 2 * FENP_CLASSES_MAX) / 64 > file->size.inputs + m->targets + 1)
        return fenp_damaged(in, "preparation", "lists more than its inputs can have", err);
    fen_status status = text ? fenp_json_parse(text, (int64_t)strlen(text), &json, err) : FEN_OK;
    if (status != FEN_OK) return status;
    /* prepare reads fill, center and scale for as many inputs as it finds */
    if (json_array_size(json_object_get(json, "inputs")) != (size_t)file->size.inputs) {
        json_decref(json);
        return fenp_damaged(in, "preparation", "does not have as many inputs as fill", err);
    }
    status = fenp_prep_from_json(json, file->fill, file->center, file->scale, &m->prep, err);
    json_decref(json);
    if (status == FEN_BAD_DATA && err)
        return fenp_fail(err, status, "%s: %s", in->path, err->message);
    if (status != FEN_OK) return status;
    if (m->prep->inputs != file->size.inputs || m->prep->features != m->p ||
        m->prep->precomputed != (m->kernel.table->basis == FEN_PRECOMPUTED))
        return fenp_damaged(in, "preparation", "contradicts the arrays", err);
    const char *objection = fenp_file_objection(file, m);
    return objection ? fenp_fail(err, FEN_BAD_DATA, "%s: damaged: %s", in->path, objection)
                     : FEN_OK;
}

/* --- the model --------------------------------------------------------------------- */

static fen_status read_model(const fenp_tensors *in, fen_model *m, fenp_file *file, fen_error *err)
{
    const fenp_tensor *fill = fenp_tensor_find(in, "prepare.fill");
    const fenp_tensor *weights = fenp_tensor_find(in, "class_weights");
    const fenp_tensor *members = fenp_tensor_find(in, "groups.member");
    const fenp_tensor *pivots = fenp_tensor_find(in, "pivots");
    const fenp_file_size size = { fill ? fill->shape[0] : 0,
                                  weights ? weights->shape[0] : 0,
                                  is_before(in),
                                  members ? members->shape[0] : 0,
                                  score_numbers(in),
                                  pivots ? pivots->shape[1] : 0 };
    fen_status status = fenp_file_open(m, size, file, err);
    if (status == FEN_OK) status = check_shapes(in, file, err);
    for (int i = 0; status == FEN_OK && i < file->count; i++)
        status = read_array(in, &file->array[i], err);
    if (status == FEN_OK) fenp_file_give(file, m);
    if (status == FEN_OK) status = read_metadata(in, m, err);
    if (status == FEN_OK && (m->tangents != NULL) != (m->power < 1))
        status = fenp_damaged(in, "tangents", "belong to powers below 1 and only to them", err);
    if (status == FEN_OK) status = read_preparation(in, file, m, err);
    if (status == FEN_OK) {
        fenp_model_mark_idle(m);
        m->ready = fenp_ready_new(m);
    }
    return status;
}

fen_status fen_model_load(const char *path, fen_model **out, fen_error *err)
{
    fenp_tensors in;
    fenp_file file = { .count = 0 };
    fen_model *model = NULL;
    names of = { NULL, NULL, NULL };
    fen_status status = fenp_tensors_open(path, &in, err);
    if (status == FEN_OK) status = read_format(&in, err);
    if (status == FEN_OK) status = read_names(&in, &of, err);
    if (status == FEN_OK) status = fenp_tensors_list(&in, err);
    if (status == FEN_OK) status = make_model(&in, &model, err);
    if (status == FEN_OK) {
        model->loss = of.loss;
        model->kernel.table = of.kernel;
        model->penalty = of.penalty;
        status = check_kind(&in, model, err);
    }
    if (status == FEN_OK) status = read_model(&in, model, &file, err);
    fenp_file_close(&file);
    fenp_tensors_close(&in);
    if (status == FEN_OK)
        *out = model;
    else
        fen_model_free(model);
    return status;
}
