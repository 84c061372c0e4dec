/* load.c -- LIBSVM model files
 *
 * "name value ..." lines in any order up to "SV", then a line for every support vector: its
 * coefficients and its pairs. Every number is looked at before it is believed: memory grows
 * with the file, not with what the file claims.
 * Special cases: lines after the last support vector are not looked at.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "svm/parts.h"

enum { CLASSES_MAX = 20000, QUOTED = 80 };

typedef struct span {
    const char *at, *end;
} span;

/* What the head says; arrays are as long as its lines. */
typedef struct head {
    int type, kernel;
    fen_kernel_par par;
    int64_t classes, total;
    double *rho, *label, *prob_a, *prob_b, *marks, *support;
    int64_t rhos, labels, as, bs, mark_count, supports;
} head;

static int blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static span next_word(span *line)
{
    while (line->at < line->end && blank(*line->at)) line->at++;
    span word = { line->at, line->at };
    while (word.end < line->end && !blank(*word.end)) word.end++;
    line->at = word.end;
    return word;
}

static int is(span word, const char *name)
{
    return (size_t)(word.end - word.at) == strlen(name) && !memcmp(word.at, name, strlen(name));
}

static fen_status wrong(const char *what, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_DATA, "the model file has %s", what);
}

static int find_name(span word, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (is(word, names[i])) return i;
    return -1;
}

static int number_of(span word, double *value)
{
    return fenp_parse_double(word.at, word.end - word.at, value) && isfinite(*value);
}

/* All the numbers of a line; a second line of the same name takes the place of the first. */
static fen_status read_numbers(span line, double **out, int64_t *count, fen_error *err)
{
    const int64_t most = (line.end - line.at) / 2 + 1;
    free(*out);
    *count = 0;
    *out = fenp_new(most, sizeof **out);
    if (!*out) return fenp_no_memory(err, 8 * most, "a line of the model");
    for (span word = next_word(&line); word.at < word.end; word = next_word(&line))
        if (!number_of(word, *out + (*count)++))
            return wrong("a word where a number should be", err);
    return FEN_OK;
}

static fen_status read_number(span line, double low, double high, double *out, fen_error *err)
{
    if (!number_of(next_word(&line), out) || *out < low || *out > high)
        return wrong("a number that is missing or out of range", err);
    return FEN_OK;
}

static fen_status read_count(span line, int64_t high, int64_t *out, fen_error *err)
{
    const span word = next_word(&line);
    if (!fenp_parse_int(word.at, word.end - word.at, out) || *out < 0 || *out > high)
        return wrong("a count that is missing or out of range", err);
    return FEN_OK;
}

static fen_status read_line(head *h, span name, span line, fen_error *err)
{
    if (is(name, "svm_type")) {
        h->type = find_name(next_word(&line), fenp_svm_type_names);
        return h->type < 0 ? fenp_fail(err, FEN_BAD_DATA, "unknown svm type.") : FEN_OK;
    }
    if (is(name, "kernel_type")) {
        h->kernel = find_name(next_word(&line), fenp_svm_kernel_names);
        return h->kernel < 0 ? fenp_fail(err, FEN_BAD_DATA, "unknown kernel function.") : FEN_OK;
    }
    if (is(name, "degree")) return read_number(line, 0, INT_MAX, &h->par.degree, err);
    if (is(name, "gamma")) return read_number(line, -HUGE_VAL, HUGE_VAL, &h->par.gamma, err);
    if (is(name, "coef0")) return read_number(line, -HUGE_VAL, HUGE_VAL, &h->par.coef0, err);
    if (is(name, "nr_class")) return read_count(line, CLASSES_MAX, &h->classes, err);
    if (is(name, "total_sv")) return read_count(line, INT_MAX, &h->total, err);
    if (is(name, "rho")) return read_numbers(line, &h->rho, &h->rhos, err);
    if (is(name, "label")) return read_numbers(line, &h->label, &h->labels, err);
    if (is(name, "probA")) return read_numbers(line, &h->prob_a, &h->as, err);
    if (is(name, "probB")) return read_numbers(line, &h->prob_b, &h->bs, err);
    if (is(name, "prob_density_marks")) return read_numbers(line, &h->marks, &h->mark_count, err);
    if (is(name, "nr_sv")) return read_numbers(line, &h->support, &h->supports, err);
    const int64_t length = name.end - name.at;
    return fenp_fail(err, FEN_BAD_DATA, "unknown text in model file: [%.*s]",
                     (int)(length < QUOTED ? length : QUOTED), name.at);
}

/* A safetensors file: eight bytes of length below 2^32, then a JSON object. */
static int is_fenchel_model(span line)
{
    return line.end - line.at > 8 && memcmp(line.at + 4, "\0\0\0\0{", 5) == 0;
}

static fen_status read_head(fenp_lines *lines, head *h, fen_error *err)
{
    for (;;) {
        span line, name;
        fen_status status = fenp_lines_next(lines, &line.at, &line.end, err);
        if (status != FEN_OK) return status;
        if (!line.at) return wrong("no line \"SV\"", err);
        if (lines->number == 1 && is_fenchel_model(line))
            return fenp_fail(err, FEN_BAD_DATA, "this is a fenchel model: use fenchel predict");
        name = next_word(&line);
        if (is(name, "SV")) return FEN_OK;
        if (name.at < name.end) status = read_line(h, name, line, err);
        if (status != FEN_OK) return status;
    }
}

/* Do the counts of the head agree with each other? */
static fen_status check_head(const head *h, fen_error *err)
{
    if (h->type < 0 || h->kernel < 0) return wrong("no svm_type or no kernel_type", err);
    const int classes = fenp_svm_classifies((fen_svm_type)h->type);
    const int64_t machines = classes ? h->classes * (h->classes - 1) / 2 : 1;
    if (classes ? h->classes < 1 : h->classes != 2) return wrong("a wrong nr_class", err);
    if (h->total < 0) return wrong("no total_sv", err);
    if (h->rhos != machines) return wrong("a wrong number of rho", err);
    if ((h->prob_a && h->as != machines) || (h->prob_b && h->bs != machines))
        return wrong("a wrong number of probA or probB", err);
    if (h->marks && h->mark_count != FENP_SVM_MARKS)
        return wrong("a wrong number of prob_density_marks", err);
    if (!classes) return FEN_OK;
    if (h->labels != h->classes || h->supports != h->classes)
        return wrong("a wrong number of labels or of nr_sv", err);
    double sum = 0.0;
    for (int64_t i = 0; i < h->classes; i++) {
        if (fabs(h->label[i]) > INT_MAX) return wrong("a label that is out of range", err);
        if (h->support[i] < 0 || h->support[i] != floor(h->support[i]))
            return wrong("a wrong nr_sv", err);
        sum += h->support[i];
    }
    return sum == (double)h->total ? FEN_OK : wrong("nr_sv that do not add up to total_sv", err);
}

static void take(double **from, double **to)
{
    double *before = *to;
    *to = *from;
    *from = before;
}

static fen_status model_of_head(head *h, fen_svm **out, fen_error *err)
{
    fen_svm *m = fenp_svm_new((fen_svm_type)h->type, h->classes);
    if (!m) return fenp_no_memory(err, 0, "a model");
    m->kernel = (fen_svm_kernel)h->kernel;
    m->par = h->par;
    take(&h->rho, &m->rho);
    take(&h->prob_a, &m->prob_a);
    take(&h->prob_b, &m->prob_b);
    if (m->type == FEN_SVM_ONE_CLASS) take(&h->marks, &m->marks);
    if (!m->label) m->support[0] = h->total;
    for (int64_t i = 0; m->label && i < m->classes; i++) {
        m->label[i] = (int32_t)h->label[i];
        m->support[i] = (int64_t)h->support[i];
    }
    *out = m;
    return FEN_OK;
}

/* One support vector of block b: room doubles as needed, so that lies cost nothing. */
static fen_status read_vector(fen_svm *m, int64_t b, int64_t place, span line, int64_t *room,
                              fen_error *err)
{
    const int64_t rows = fenp_svm_coef_rows(m);
    if (place == *room) {
        *room = place + place / 2 + 16;
        double *coef = fenp_resize(m->coef[b], fenp_bytes(*room, rows, 1), sizeof *coef);
        if (!coef) return fenp_no_memory(err, fenp_bytes(*room, rows, 8), "coefficients");
        m->coef[b] = coef;
    }
    for (int64_t j = 0; j < rows; j++)
        if (!number_of(next_word(&line), m->coef[b] + place * rows + j))
            return wrong("a support vector without its coefficients", err);
    int right = 1;
    fen_status status = fenp_rows_parse(&m->vectors, line.at, line.end, &right, err);
    return status == FEN_OK && !right ? wrong("a support vector that is not index:value ...", err)
                                      : status;
}

/* Vector by vector -> row by row. */
static fen_status turn(fen_svm *m, int64_t b, fen_error *err)
{
    const int64_t rows = fenp_svm_coef_rows(m), count = m->support[b];
    double *turned = fenp_new(rows * count, sizeof *turned);
    if (!turned) return fenp_no_memory(err, 8 * rows * count, "coefficients");
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < rows; j++) turned[j * count + i] = m->coef[b][i * rows + j];
    free(m->coef[b]);
    m->coef[b] = turned;
    return FEN_OK;
}

static fen_status read_vectors(fenp_lines *lines, fen_svm *m, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t b = 0; b < m->blocks && status == FEN_OK; b++) {
        int64_t room = 0;
        for (int64_t i = 0; i < m->support[b] && status == FEN_OK; i++) {
            span line;
            status = fenp_lines_next(lines, &line.at, &line.end, err);
            if (status == FEN_OK && !line.at) status = wrong("fewer lines than total_sv", err);
            if (status == FEN_OK) status = read_vector(m, b, i, line, &room, err);
        }
        if (status == FEN_OK) status = turn(m, b, err);
    }
    return status;
}

fen_status fenp_svm_parse(fen_bytes *in, fen_svm **out, fen_error *err)
{
    head h = { .type = -1, .kernel = -1, .total = -1, .par.degree = 3 };
    fenp_lines lines = { .in = in };
    fen_svm *m = NULL;
    fen_status status = read_head(&lines, &h, err);
    if (status == FEN_OK) status = check_head(&h, err);
    if (status == FEN_OK) status = model_of_head(&h, &m, err);
    if (status == FEN_OK) status = read_vectors(&lines, m, err);
    if (status == FEN_OK) status = fenp_svm_ready(m, err);
    fenp_lines_close(&lines);
    free(h.rho), free(h.label), free(h.prob_a), free(h.prob_b), free(h.marks);
    free(h.support);
    if (status == FEN_OK)
        *out = m;
    else
        fen_svm_free(m);
    return status;
}

fen_status fen_svm_load(const char *path, fen_svm **out, fen_error *err)
{
    fen_bytes *in = NULL;
    fen_status status = fenp_bytes_open(path, &in, err);
    if (status == FEN_OK) status = fenp_svm_parse(in, out, err);
    fenp_bytes_close(in);
    return status;
}
