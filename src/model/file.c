/* file.c -- the arrays of a model file: one list, followed by save.c and load.c alike */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "loss/traits.h"
#include "model/file.h"
#include "solver/solver.h"

/* The numbers of a certificate; the verdict behind them is a word of the metadata. */
enum { CERTIFICATE_BYTES = FENP_CERTIFICATE_NUMBERS * sizeof(double) };
_Static_assert(offsetof(fen_certificate, verdict) == CERTIFICATE_BYTES, "numbers come first");

static void vector(fenp_file *file, const char *name, int64_t length, double *at, int finite)
{
    file->array[file->count++] = (fenp_array){ name, 1, { length, 1 }, at, finite };
}

static void matrix(fenp_file *file, const char *name, int64_t rows, int64_t cols, double *at,
                   int finite)
{
    if (at) file->array[file->count++] = (fenp_array){ name, 2, { rows, cols }, at, finite };
}

static int make_copies(const fen_model *m, fenp_file *file)
{
    const int64_t inputs = file->size.inputs;
    const int before = file->size.before;
    file->fill = fenp_new(inputs, sizeof(double));
    file->center = fenp_new(inputs, sizeof(double));
    file->scale = fenp_new(inputs, sizeof(double));
    file->certificate = fenp_new(fenp_bytes(m->targets, FENP_CERTIFICATE_NUMBERS, 8), 1);
    if (!before) file->outputs = fenp_new(fenp_bytes(m->targets, FENP_OUTPUT_NUMBERS, 8), 1);
    if (m->support) file->support = fenp_new(m->kept, sizeof(double));
    if (m->groups.start) file->start = fenp_new(m->groups.count + 1, sizeof(double));
    if (m->groups.start) file->member = fenp_new(file->size.members, sizeof(double));
    if (m->aliased) file->aliased = fenp_new(m->aliased_count, sizeof(double));
    if (m->pivots) file->pivots = fenp_new(m->pivot_count, 8 * file->size.members_of_pivot);
    const int distances = fenp_file_has_distances(m);
    if (distances) file->distance = fenp_new(fenp_bytes(m->targets, FENP_DISTANCE_NUMBERS, 8), 1);
    return file->fill && file->center && file->scale && file->certificate &&
                   (before || file->outputs) && (!m->support || file->support) &&
                   (!m->groups.start || (file->start && file->member)) &&
                   (!m->aliased || file->aliased) && (!m->pivots || file->pivots) &&
                   (!distances || file->distance)
               ? 0
               : -1;
}

fen_status fenp_file_open(const fen_model *m, fenp_file_size size, fenp_file *file, fen_error *err)
{
    const int64_t inputs = size.inputs;
    *file = (fenp_file){ .size = size };
    if (make_copies(m, file) != 0) {
        fenp_file_close(file);
        return fenp_no_memory(err, fenp_bytes(inputs, 3, sizeof(double)), "the scaling");
    }
    matrix(file, "inputs", m->kept, m->p, m->inputs, 1);
    matrix(file, "weights", m->targets, m->p, m->weights, 1);
    if (m->deviation) vector(file, "deviation", m->p, m->deviation, 1);
    matrix(file, "frequencies", m->approx.columns / 2, m->p, m->frequencies, 1);
    matrix(file, "feature_weights", m->targets, m->approx.columns, m->feature_weights, 1);
    matrix(file, "terms", m->targets, m->kept, m->terms, 1);
    matrix(file, "pivots", m->pivot_count, size.members_of_pivot, file->pivots, 1);
    matrix(file, "pivot_weights", m->targets, m->pivot_count, m->pivot_weights, 1);
    matrix(file, "dual", m->targets, fenp_model_duals(m), m->dual, 1);
    if (m->support) vector(file, "support", m->kept, file->support, 1);
    if (file->start) vector(file, "groups.start", m->groups.count + 1, file->start, 1);
    if (file->start) vector(file, "groups.member", size.members, file->member, 1);
    if (m->groups.weight) vector(file, "groups.weight", m->groups.count, m->groups.weight, 1);
    if (m->aliased) vector(file, "aliased", m->aliased_count, file->aliased, 1);
    matrix(file, "outputs", m->targets, FENP_OUTPUT_NUMBERS, file->outputs, 1);
    if (m->class_weights) vector(file, "class_weights", size.classes, m->class_weights, 1);
    vector(file, "coef_scale", m->targets, m->coef_scale, 1);
    vector(file, "offset", m->targets, m->offset, 1);
    matrix(file, "tangents", m->targets * m->tangent_count,
           m->frequencies ? m->approx.columns : m->n, m->tangents, 1);
    vector(file, "prepare.fill", inputs, file->fill, 1);
    vector(file, "prepare.center", inputs, file->center, 1);
    vector(file, "prepare.scale", inputs, file->scale, 1);
    matrix(file, "certificate", m->targets, FENP_CERTIFICATE_NUMBERS, file->certificate, 0);
    matrix(file, "distance", m->targets, FENP_DISTANCE_NUMBERS, file->distance, 0);
    matrix(file, "selection.grid", m->selection.count, size.scores, (double *)m->selection.grid, 0);
    return FEN_OK;
}

void fenp_file_close(fenp_file *file)
{
    free(file->fill);
    free(file->center);
    free(file->scale);
    free(file->certificate);
    free(file->outputs);
    free(file->support);
    free(file->start);
    free(file->member);
    free(file->aliased);
    free(file->pivots);
    free(file->distance);
    *file = (fenp_file){ 0 };
}

/* ---- copies ------------------------------------------------------------------------------ */

static void take_output(const fenp_output *o, double at[FENP_OUTPUT_NUMBERS])
{
    at[0] = (double)o->column, at[1] = (double)o->plus, at[2] = (double)o->minus;
    at[3] = o->par, at[4] = o->sigmoid[0], at[5] = o->sigmoid[1];
}

int64_t fenp_file_place(double number)
{
    return number >= -1.0 && number < 0x1p53 && number == floor(number) ? (int64_t)number : -2;
}

void fenp_file_take(fenp_file *file, const fen_model *m)
{
    for (int64_t j = 0; j < file->size.inputs; j++) {
        file->fill[j] = m->prep->input[j].fill;
        file->center[j] = m->prep->input[j].center;
        file->scale[j] = m->prep->input[j].scale;
    }
    for (int64_t t = 0; t < m->targets; t++)
        memcpy(file->certificate + FENP_CERTIFICATE_NUMBERS * t, &m->certificate[t],
               CERTIFICATE_BYTES);
    for (int64_t t = 0; file->outputs && t < m->targets; t++)
        take_output(&m->output[t], file->outputs + FENP_OUTPUT_NUMBERS * t);
    for (int64_t k = 0; file->support && k < m->kept; k++) file->support[k] = (double)m->support[k];
    fenp_file_take_linear(file, m);
    fenp_file_take_lp(file, m);
}

/* Rows of older formats have fewer numbers; they are spread from the last one on. */
static void spread_grid(fenp_selection *s, int64_t numbers)
{
    const double *packed = (const double *)s->grid;
    for (int64_t i = s->count - 1; i >= 0; i--) {
        const double *at = packed + numbers * i;
        const double error = numbers > FENP_SCORE_NUMBERS_BEFORE ? at[4] : NAN;
        s->grid[i] = (fenp_score){ at[0], at[1], at[2], at[3], error, NAN, NAN };
    }
}

void fenp_file_give(const fenp_file *file, fen_model *m)
{
    if (file->size.scores < FENP_SCORE_NUMBERS) spread_grid(&m->selection, file->size.scores);
    for (int64_t t = 0; t < m->targets; t++)
        memcpy(&m->certificate[t], file->certificate + FENP_CERTIFICATE_NUMBERS * t,
               CERTIFICATE_BYTES);
    for (int64_t t = 0; file->outputs && t < m->targets; t++) {
        const double *at = file->outputs + FENP_OUTPUT_NUMBERS * t;
        m->output[t] = (fenp_output){ .column = fenp_file_place(at[0]),
                                      .plus = fenp_file_place(at[1]),
                                      .minus = fenp_file_place(at[2]),
                                      .par = at[3],
                                      .sigmoid = { at[4], at[5] } };
    }
    for (int64_t k = 0; file->support && k < m->kept; k++)
        m->support[k] = fenp_file_place(file->support[k]);
    fenp_file_give_linear(file, m);
    fenp_file_give_lp(file, m);
}

/* ---- what they may be -------------------------------------------------------------------- */

static int is_parameter(const fen_loss *loss, double par)
{
    return !loss->parameter.name || (par >= loss->parameter.low && par <= loss->parameter.high);
}

/* One against the rest in the order of the classes, or the pairs in theirs. */
static int are_classes(const fen_model *m)
{
    const int64_t k = m->prep->class_count;
    const fenp_output *o = m->output;
    if (k > 2 && o->minus < 0) {
        for (int64_t t = 0; t < m->targets; t++)
            if (o[t].column != 0 || o[t].plus != t || o[t].minus != -1) return 0;
        return m->targets == k;
    }
    if (m->targets != k * (k - 1) / 2) return 0;
    for (int64_t a = 0; a < k; a++)
        for (int64_t b = a + 1; b < k; b++, o++)
            if (o->column != 0 || o->plus != b || o->minus != a) return 0;
    return 1;
}

static int are_weights(const double *weights, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (!(weights[k] > 0.0)) return 0;
    return 1;
}

static int are_numbers(const fen_model *m)
{
    for (int64_t t = 0; t < m->targets; t++) {
        const fenp_output *o = &m->output[t];
        if (o->column < 0 || o->column >= m->prep->targets || o->plus != -1 || o->minus != -1)
            return 0;
    }
    return 1;
}

/* Of the loss and the labels: classes have signs, or squares that stand for them. */
static int suits_classes(const fen_loss *loss)
{
    return loss->labels == FEN_SIGNS || fenp_is_square(loss);
}

static int are_distinct(char **names, int64_t count)
{
    for (int64_t k = 1; k < count; k++)
        for (int64_t j = 0; j < k; j++)
            if (strcmp(names[j], names[k]) == 0) return 0;
    return 1;
}

/* All outputs have a sigmoid that does not fall with the score, or none has one. */
static int are_sigmoids(const fen_model *m)
{
    const int given = fenp_has_sigmoid(&m->output[0]);
    const int allowed = m->prep->class_count > 0 && !fenp_tells_odds(m->loss);
    for (int64_t t = 0; t < m->targets; t++)
        if (fenp_has_sigmoid(&m->output[t]) != given || m->output[t].sigmoid[0] > 0.0) return 0;
    return allowed || !given;
}

/* A solver that is known must be one for this problem; sigmoids are refitted by it, unless the
 * penalty is on coefficients. */
static int is_method(const fen_model *m)
{
    const fenp_solver *solver = fenp_model_solver(m);
    if (!solver) return fenp_model_on_coefficients(m) || !fenp_has_sigmoid(&m->output[0]);
    const fenp_size size = { .n = m->n,
                             .p = m->p,
                             .targets = solver->iterative ? 1 : m->targets,
                             .bias = m->bias,
                             .power = solver->iterative && !solver->lp ? 2.0 : m->power,
                             .kernel = m->kernel,
                             .route = "auto" };
    return solver->lp == fenp_model_is_lp(m) && solver->accepts(m->loss, m->kernel.table, &size);
}

static const char *class_objection(const fen_model *m)
{
    if (!suits_classes(m->loss)) return "the loss is not one of classes";
    if (!are_distinct(m->prep->classes, m->prep->class_count)) return "two classes have one label";
    return are_classes(m) ? NULL : "the outputs are not those of the classes";
}

const char *fenp_file_objection(const fenp_file *file, const fen_model *m)
{
    const fenp_output *first = m->output;
    for (int64_t k = 0; file->support && k < m->kept; k++)
        if (m->support[k] <= (k ? m->support[k - 1] : -1) || m->support[k] >= m->n)
            return "the support is not an ascending list of rows";
    for (int64_t t = 0; t < m->targets; t++)
        if (!is_parameter(m->loss, m->output[t].par))
            return "a parameter of the loss is out of range";
    if (m->class_weights && (file->size.classes != m->prep->class_count ||
                             !are_weights(m->class_weights, file->size.classes)))
        return "the class weights are not positive numbers, one for each class";
    for (int64_t j = 0; m->deviation && j < m->p; j++)
        if (!(m->deviation[j] >= 0.0 && m->deviation[j] <= 1.0) || !m->weights)
            return "the deviations are not those of 0/1 features";
    if (!are_sigmoids(m)) return "the sigmoids are not those of classes";
    if (!is_method(m)) return "the method is not one for the loss";
    const char *objection = fenp_file_linear_objection(file, m);
    if (!objection) objection = fenp_file_lp_objection(file, m);
    if (objection) return objection;
    if (m->prep->targets == 0)
        return m->targets == 1 && first->column == -1 && first->plus == -1 && first->minus == -1
                   ? NULL
                   : "the outputs are not those of one class";
    if (m->prep->class_count > 0) return class_objection(m);
    return are_numbers(m) ? NULL : "the outputs are not those of the targets";
}
