/* model.c -- a model in memory and as a LIBSVM model file
 *
 * Accuracy: numbers of the head and coefficients have 17 digits; values of support vectors 8,
 * as LIBSVM writes them, where these read back as the same number, else 17.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "svm/parts.h"

fen_svm *fenp_svm_new(fen_svm_type type, int64_t classes)
{
    fen_svm *m = fenp_new_zeroed(1, sizeof *m);
    if (!m) return NULL;
    m->type = type;
    m->classes = classes;
    m->machines = fenp_svm_classifies(type) ? classes * (classes - 1) / 2 : 1;
    m->blocks = fenp_svm_classifies(type) ? classes : 1;
    m->rho = fenp_new_zeroed(m->machines, sizeof *m->rho);
    m->support = fenp_new_zeroed(m->blocks, sizeof *m->support);
    m->coef = fenp_new_zeroed(m->blocks, sizeof *m->coef);
    if (fenp_svm_classifies(type)) m->label = fenp_new_zeroed(classes, sizeof *m->label);
    if (m->rho && m->support && m->coef && (m->label || !fenp_svm_classifies(type))) return m;
    fen_svm_free(m);
    return NULL;
}

void fen_svm_free(fen_svm *m)
{
    if (!m) return;
    for (int64_t b = 0; m->coef && b < m->blocks; b++) free(m->coef[b]);
    free(m->coef);
    free(m->label);
    free(m->rho);
    free(m->prob_a);
    free(m->prob_b);
    free(m->marks);
    free(m->support);
    fenp_rows_free(&m->vectors);
    free(m->columns.index);
    free(m->dense);
    free(m->weights);
    free(m->serial);
    free(m);
}

/* ---- what predictions need --------------------------------------------------------------- */

static fen_status find_serials(fen_svm *m, fen_error *err)
{
    const fenp_rows *v = &m->vectors;
    m->serial = fenp_new(v->n, sizeof *m->serial);
    if (!m->serial) return fenp_no_memory(err, 4 * v->n, "serial numbers");
    for (int64_t i = 0; i < v->n; i++) {
        m->serial[i] = fenp_svm_serial(v, i);
        if (m->serial[i] == 0)
            return fenp_fail(err, FEN_BAD_DATA,
                             "support vector %lld of a precomputed kernel has no serial number",
                             (long long)i + 1);
    }
    return FEN_OK;
}

static fen_status make_dense(fen_svm *m, fen_error *err)
{
    const fenp_rows *v = &m->vectors;
    const int64_t stride = m->columns.count + 1;
    fen_status status = fenp_svm_room(v->n, stride, "the support vectors", err);
    if (status != FEN_OK) return status;
    m->dense = fenp_new_zeroed(v->n * stride, sizeof *m->dense);
    if (!m->dense) return fenp_no_memory(err, 8 * v->n * stride, "the support vectors");
    for (int64_t i = 0; i < v->n; i++) fenp_columns_fill(&m->columns, v, i, m->dense + i * stride);
    return FEN_OK;
}

/* Adds coefficient times vector to the weights of one machine. */
static void add_vector(fen_svm *m, int64_t row, double coef, int64_t machine)
{
    const fenp_rows *v = &m->vectors;
    int64_t j = 0;
    for (int64_t e = v->start[row]; e < v->start[row + 1]; e++) {
        while (m->columns.index[j] < v->index[e]) j++;
        m->weights[j * m->machines + machine] += coef * v->value[e];
    }
}

static fen_status make_weights(fen_svm *m, fen_error *err)
{
    fen_status status = fenp_svm_room(m->columns.count, m->machines, "linear weights", err);
    if (status != FEN_OK) return status;
    m->weights = fenp_new_zeroed(m->columns.count * m->machines, sizeof *m->weights);
    if (!m->weights) return fenp_no_memory(err, 8 * m->columns.count * m->machines, "weights");
    int64_t row = 0;
    for (int64_t b = 0; b < m->blocks; b++)
        for (int64_t i = 0; i < m->support[b]; i++, row++)
            for (int64_t j = 0; j < fenp_svm_coef_rows(m); j++)
                add_vector(m, row, m->coef[b][j * m->support[b] + i], fenp_svm_machine(m, b, j));
    return FEN_OK;
}

int64_t fenp_svm_machine(const fen_svm *m, int64_t block, int64_t coef_row)
{
    if (!m->label) return 0;
    const int64_t other = coef_row + (coef_row >= block);
    const int64_t i = block < other ? block : other, j = block < other ? other : block;
    return i * m->classes - i * (i + 1) / 2 + j - i - 1;
}

fen_status fenp_svm_ready(fen_svm *m, fen_error *err)
{
    if (m->kernel == FEN_SVM_PRECOMPUTED) return find_serials(m, err);
    fen_status status = fenp_columns_find(&m->vectors, &m->columns, err);
    if (status != FEN_OK) return status;
    return m->kernel == FEN_SVM_LINEAR ? make_weights(m, err) : make_dense(m, err);
}

fen_svm_type fen_svm_type_of(const fen_svm *m) { return m->type; }
int64_t fen_svm_support(const fen_svm *m) { return m->vectors.n; }
int64_t fen_svm_classes(const fen_svm *m) { return m->label ? m->classes : 0; }
int32_t fen_svm_label(const fen_svm *m, int64_t of) { return m->label[of]; }
int64_t fen_svm_machines(const fen_svm *m) { return m->machines; }
int fen_svm_has_probability(const fen_svm *m)
{
    return m->type == FEN_SVM_ONE_CLASS ? m->marks != NULL : m->prob_a && (m->prob_b || !m->label);
}
double fen_svm_sigma(const fen_svm *m) { return !m->label && m->prob_a ? m->prob_a[0] : 0.0; }

/* ---- saving ---------------------------------------------------------------------------- */

typedef struct writer {
    fen_sink *sink;
    fen_status status;
    fen_error *err;
} writer;

static void put(writer *w, const char *text)
{
    if (w->status == FEN_OK)
        w->status = fen_sink_write(w->sink, text, (int64_t)strlen(text), w->err);
}

static void put_int(writer *w, const char *before, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    put(w, before);
    put(w, text);
}

/* printf's %.{digits}g with a point, whatever the locale has in its place. */
static void print_number(double value, int digits, char out[40])
{
    char text[40], *to = out;
    snprintf(text, sizeof text, "%.*g", digits, value);
    for (const char *at = text; *at; at++) {
        const int usual = strchr("0123456789+-einfa", *at) != NULL;
        if (usual)
            *to++ = *at;
        else if (to == out || to[-1] != '.')
            *to++ = '.';
    }
    *to = 0;
}

static void put_number(writer *w, const char *before, double value)
{
    char text[40];
    print_number(value, 17, text);
    put(w, before);
    put(w, text);
}

static void put_value(writer *w, double value)
{
    char text[40];
    double again = 0.0;
    print_number(value, 8, text);
    if (!fenp_parse_double(text, (int64_t)strlen(text), &again) || again != value)
        print_number(value, 17, text);
    put(w, text);
}

static void put_numbers(writer *w, const char *name, const double *values, int64_t count)
{
    put(w, name);
    for (int64_t i = 0; i < count; i++) put_number(w, " ", values[i]);
    put(w, "\n");
}

static void put_head(writer *w, const fen_svm *m)
{
    const fen_kernel *kernel = fenp_svm_kernel_table(m->kernel);
    put(w, "svm_type ");
    put(w, fenp_svm_type_names[m->type]);
    put(w, "\nkernel_type ");
    put(w, fenp_svm_kernel_names[m->kernel]);
    if (kernel->uses_degree) put_int(w, "\ndegree ", (int64_t)m->par.degree);
    if (kernel->uses_gamma) put_number(w, "\ngamma ", m->par.gamma);
    if (kernel->uses_coef0) put_number(w, "\ncoef0 ", m->par.coef0);
    put_int(w, "\nnr_class ", m->classes);
    put_int(w, "\ntotal_sv ", m->vectors.n);
    put(w, "\n");
    put_numbers(w, "rho", m->rho, m->machines);
    if (m->label) {
        put(w, "label");
        for (int64_t i = 0; i < m->classes; i++) put_int(w, " ", m->label[i]);
        put(w, "\n");
    }
    if (m->prob_a) put_numbers(w, "probA", m->prob_a, m->machines);
    if (m->prob_b) put_numbers(w, "probB", m->prob_b, m->machines);
    if (m->marks) put_numbers(w, "prob_density_marks", m->marks, FENP_SVM_MARKS);
    if (m->label) {
        put(w, "nr_sv");
        for (int64_t i = 0; i < m->classes; i++) put_int(w, " ", m->support[i]);
        put(w, "\n");
    }
    put(w, "SV\n");
}

static void put_vector(writer *w, const fen_svm *m, int64_t row)
{
    const fenp_rows *v = &m->vectors;
    if (m->kernel == FEN_SVM_PRECOMPUTED)
        put_int(w, "0:", m->serial[row]), put(w, " ");
    else
        for (int64_t e = v->start[row]; e < v->start[row + 1]; e++) {
            put_int(w, "", v->index[e]);
            put(w, ":");
            put_value(w, v->value[e]);
            put(w, " ");
        }
    put(w, "\n");
}

fen_status fen_svm_save(const fen_svm *m, const char *path, fen_error *err)
{
    writer w = { NULL, FEN_OK, err };
    w.status = fen_sink_open(path, &w.sink, err);
    if (w.status != FEN_OK) return w.status;
    put_head(&w, m);
    int64_t row = 0;
    for (int64_t b = 0; b < m->blocks && w.status == FEN_OK; b++)
        for (int64_t i = 0; i < m->support[b] && w.status == FEN_OK; i++) {
            for (int64_t j = 0; j < fenp_svm_coef_rows(m); j++) {
                put_number(&w, "", m->coef[b][j * m->support[b] + i]);
                put(&w, " ");
            }
            put_vector(&w, m, row++);
        }
    if (w.status == FEN_OK) return fen_sink_commit(w.sink, err);
    fen_sink_abandon(w.sink);
    return w.status;
}
