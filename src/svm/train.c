/* train.c -- models: one machine, or one for every pair of classes
 *
 * Method: classes in LIBSVM's order; the machine of the pair (i, j) sees the rows of i as +1 and
 *   of j as -1. A row is a support vector if any machine gave it a coefficient.
 * Special cases: one class only gives a model without machines that always answers it.
 */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/threads.h"
#include "svm/parts.h"

typedef struct training {
    const fen_svm_data *data;
    const fen_svm_options *o;
    const fen_host *host;
    fenp_columns columns;
    fen_svm *model;
} training;

/* C of a class: the cost times every weight that was given for its label. */
static double cost_of(const fen_svm_options *o, int32_t label)
{
    double cost = o->cost;
    for (int32_t i = 0; i < o->weight_count; i++)
        if (o->weight[i].label == label) cost *= o->weight[i].weight;
    return cost;
}

static void tell_unknown_weights(const fen_svm_options *o, const fenp_classes *c)
{
    for (int32_t i = 0; i < o->weight_count; i++) {
        int64_t k = 0;
        while (k < c->count && c->label[k] != o->weight[i].label) k++;
        if (k == c->count)
            fenp_svm_tell(o, (fen_svm_news){ .event = FEN_SVM_NO_SUCH_CLASS,
                                             .type = o->type,
                                             .label = o->weight[i].label });
    }
}

static fen_status keep_pars(training *t, fen_error *err)
{
    if (!t->model) return fenp_no_memory(err, 0, "a model");
    t->model->kernel = t->o->kernel;
    t->model->par =
        (fen_kernel_par){ fenp_svm_gamma(t->data, t->o), t->o->degree, t->o->coef0, 0.0 };
    return FEN_OK;
}

/* ---- one machine for all rows -------------------------------------------------------- */

static fen_status keep_single(training *t, const fenp_machine *m, fen_error *err)
{
    fen_svm *model = t->model;
    model->rho[0] = m->rho;
    model->coef[0] = fenp_new(m->news.support, sizeof **model->coef);
    if (!model->coef[0]) return fenp_no_memory(err, 8 * m->news.support, "coefficients");
    fen_status status = FEN_OK;
    for (int64_t i = 0; i < m->sample->n && status == FEN_OK; i++) {
        if (m->coef[i] == 0.0) continue;
        model->coef[0][model->support[0]++] = m->coef[i];
        status = fenp_rows_copy(&model->vectors, &t->data->rows, i, err);
    }
    return status;
}

/* Marks of the decision values of all rows; decision: room for them. Rows with a coefficient
 * inside its bounds are on the edge: 0, whatever rounding makes of it. */
static fen_status keep_marks(training *t, const fenp_machine *m, double *decision, fen_error *err)
{
    double *marks = fenp_new(FENP_SVM_MARKS, sizeof *marks);
    if (!marks) return fenp_no_memory(err, FENP_SVM_MARKS * 8, "a model");
    for (int64_t i = 0; i < m->sample->n; i++) {
        const int edge = m->coef[i] > 0.0 && m->coef[i] < m->box[i];
        decision[i] = edge ? 0.0 : fenp_machine_decision(m, i);
    }
    if (fenp_svm_marks_find(decision, m->sample->n, marks)) {
        t->model->marks = marks;
        return FEN_OK;
    }
    free(marks);
    fenp_svm_tell(t->o, (fen_svm_news){ .event = FEN_SVM_FEW_DECISIONS, .type = t->o->type });
    return FEN_OK;
}

static fen_status train_single(training *t, const fenp_task *task, fen_error *err)
{
    const fen_svm_options *o = t->o;
    const int64_t n = t->data->rows.n;
    const int one_class = o->type == FEN_SVM_ONE_CLASS;
    fenp_machine m = { 0 };
    t->model = fenp_svm_new(o->type, 2);
    fen_status status = keep_pars(t, err);
    if (status == FEN_OK && o->probability && !one_class) {
        t->model->prob_a = fenp_new(1, sizeof *t->model->prob_a);
        status = t->model->prob_a ? fenp_svm_noise(t->data, o, t->host, t->model->prob_a, err)
                                  : fenp_no_memory(err, 8, "a model");
    }
    int64_t *rows = fenp_new(n, sizeof *rows);
    double *y = fenp_new(n, sizeof *y);
    if (status == FEN_OK && (!rows || !y)) status = fenp_no_memory(err, 16 * n, "rows");
    for (int64_t i = 0; i < n && status == FEN_OK; i++) rows[i] = i, y[i] = 1.0;
    if (status == FEN_OK)
        status = fenp_machine_open(t->data, &t->columns, rows, n, one_class ? y : NULL, o, &m, task,
                                   err);
    for (int64_t i = 0; i < n && status == FEN_OK; i++)
        if (o->type == FEN_SVM_EPSILON_SVR) m.box[i] = o->cost;
    if (status == FEN_OK) status = fenp_machine_solve(&m, task, err);
    if (status == FEN_OK) status = keep_single(t, &m, err);
    if (status == FEN_OK && o->probability && one_class) status = keep_marks(t, &m, y, err);
    fenp_machine_close(&m);
    free(rows), free(y);
    return status;
}

/* ---- a machine for every pair -------------------------------------------------------- */

/* coef[k]: (classes - 1) x rows of class k, zeros where a machine has no use for a row. */
static fen_status train_pair(training *t, const fenp_classes *c, int64_t i, int64_t j,
                             int64_t place, double **coef, const fenp_task *task, fen_error *err)
{
    const fen_svm_options *o = t->o;
    const int64_t ni = c->start[i + 1] - c->start[i], nj = c->start[j + 1] - c->start[j];
    fenp_machine m = { 0 };
    int64_t *rows = fenp_new(ni + nj, sizeof *rows);
    double *y = fenp_new(ni + nj, sizeof *y);
    fen_status status = rows && y ? FEN_OK : fenp_no_memory(err, 16 * (ni + nj), "a pair");
    for (int64_t k = 0; k < ni + nj && status == FEN_OK; k++) {
        rows[k] = c->row[k < ni ? c->start[i] + k : c->start[j] + k - ni];
        y[k] = k < ni ? 1.0 : -1.0;
    }
    if (status == FEN_OK)
        status = fenp_machine_open(t->data, &t->columns, rows, ni + nj, y, o, &m, task, err);
    for (int64_t k = 0; k < ni + nj && status == FEN_OK; k++)
        if (o->type == FEN_SVM_C_SVC) m.box[k] = cost_of(o, c->label[k < ni ? i : j]);
    double sigmoid[2] = { 0.0, 0.0 };
    if (status == FEN_OK && o->probability)
        status = fenp_svm_sigmoid(&m, (uint64_t)place, sigmoid, task, err);
    if (status == FEN_OK && o->probability)
        t->model->prob_a[place] = sigmoid[0], t->model->prob_b[place] = sigmoid[1];
    if (status == FEN_OK) status = fenp_machine_solve(&m, task, err);
    if (status == FEN_OK) {
        t->model->rho[place] = m.rho;
        memcpy(coef[i] + (j - 1) * ni, m.coef, (size_t)ni * sizeof *m.coef);
        memcpy(coef[j] + i * nj, m.coef + ni, (size_t)nj * sizeof *m.coef);
    }
    fenp_machine_close(&m);
    free(rows), free(y);
    return status;
}

/* Of one class the rows that some machine uses, and their coefficients. */
static fen_status keep_class(training *t, const fenp_classes *c, int64_t k, const double *coef,
                             fen_error *err)
{
    fen_svm *model = t->model;
    const int64_t n = c->start[k + 1] - c->start[k], rows = c->count - 1;
    int64_t count = 0;
    char *used = fenp_new_zeroed(n, 1);
    if (!used) return fenp_no_memory(err, n, "support vectors");
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < rows; j++) used[i] |= coef[j * n + i] != 0.0;
        count += used[i];
    }
    fen_status status = FEN_OK;
    model->support[k] = count;
    model->coef[k] = fenp_new(rows * count, sizeof **model->coef);
    if (!model->coef[k]) status = fenp_no_memory(err, 8 * rows * count, "coefficients");
    for (int64_t i = 0, at = 0; i < n && status == FEN_OK; i++) {
        if (!used[i]) continue;
        for (int64_t j = 0; j < rows; j++) model->coef[k][j * count + at] = coef[j * n + i];
        at++;
        status = fenp_rows_copy(&model->vectors, &t->data->rows, c->row[c->start[k] + i], err);
    }
    free(used);
    return status;
}

static fen_status open_classes(training *t, const fenp_classes *c, double **coef, fen_error *err)
{
    t->model = fenp_svm_new(t->o->type, c->count);
    fen_status status = keep_pars(t, err);
    if (status != FEN_OK) return status;
    fen_svm *model = t->model;
    int whole = 1;
    if (t->o->probability) {
        model->prob_a = fenp_new_zeroed(model->machines, sizeof *model->prob_a);
        model->prob_b = fenp_new_zeroed(model->machines, sizeof *model->prob_b);
        whole = model->prob_a && model->prob_b;
    }
    for (int64_t k = 0; k < c->count; k++) {
        const int64_t n = c->start[k + 1] - c->start[k];
        model->label[k] = c->label[k];
        coef[k] = fenp_new_zeroed(fenp_bytes(c->count - 1, n, 1), sizeof **coef);
        whole = whole && coef[k];
    }
    return whole ? FEN_OK : fenp_no_memory(err, 0, "the coefficients of all pairs");
}

static fen_status train_pairs(training *t, const fenp_task *task, fen_error *err)
{
    fenp_classes c = { 0 };
    fen_status status = fenp_classes_find(t->data, &c, err);
    if (status != FEN_OK) return status;
    double **coef = fenp_new_zeroed(c.count, sizeof *coef);
    if (c.count == 1)
        fenp_svm_tell(t->o, (fen_svm_news){ .event = FEN_SVM_ONE_CLASS_ONLY, .type = t->o->type });
    tell_unknown_weights(t->o, &c);
    status = coef ? open_classes(t, &c, coef, err) : fenp_no_memory(err, 8 * c.count, "classes");
    for (int64_t i = 0, place = 0; i < c.count && status == FEN_OK; i++)
        for (int64_t j = i + 1; j < c.count && status == FEN_OK; j++, place++) {
            const double machines = (double)t->model->machines;
            const fenp_task part = fenp_task_part(task, "training", (double)place / machines,
                                                  (double)(place + 1) / machines);
            status = train_pair(t, &c, i, j, place, coef, &part, err);
        }
    for (int64_t k = 0; k < c.count && status == FEN_OK; k++)
        status = keep_class(t, &c, k, coef[k], err);
    if (status == FEN_OK)
        fenp_svm_tell(t->o, (fen_svm_news){ .event = FEN_SVM_TOTAL,
                                            .type = t->o->type,
                                            .support = t->model->vectors.n });
    for (int64_t k = 0; coef && k < c.count; k++) free(coef[k]);
    free(coef);
    fenp_classes_free(&c);
    return status;
}

fen_status fenp_svm_train(const fen_svm_data *data, const fen_svm_options *o, const fen_host *host,
                          fen_svm **out, fen_error *err)
{
    training t = { .data = data, .o = o, .host = host };
    const fenp_task task = fenp_task_start(host, 0.0);
    fen_status status = fenp_columns_find(&data->rows, &t.columns, err);
    const double n = (double)data->rows.n, each = 32.0 + (double)t.columns.count;
    const fenp_threads before = fenp_threads_enter(fenp_threads_for(n * n * each, o->threads));
    if (status == FEN_OK)
        status = fenp_svm_classifies(o->type) ? train_pairs(&t, &task, err)
                                              : train_single(&t, &task, err);
    if (status == FEN_OK) status = fenp_svm_ready(t.model, err);
    fenp_threads_leave(before);
    free(t.columns.index);
    if (status == FEN_OK)
        *out = t.model;
    else
        fen_svm_free(t.model);
    return status;
}

fen_status fen_svm_train(const fen_svm_data *data, const fen_svm_options *o, const fen_host *host,
                         fen_svm **out, fen_error *err)
{
    const fen_status status = fen_svm_check(data, o, err);
    return status == FEN_OK ? fenp_svm_train(data, o, host, out, err) : status;
}
