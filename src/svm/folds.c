/* folds.c -- models on parts of the rows: cross-validation, sigmoids and noise
 *
 * Folds of classes are stratified: every fold has its share of every class. Which row is in
 * which fold depends on the seed alone. */
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "promise/platt.h"
#include "svm/parts.h"

enum { INNER_FOLDS = 5 };

/* ---- sigmoids ------------------------------------------------------------------------ */

/* Decisions of the rows of fold k by a machine that has not seen them. */
static fen_status left_out_decisions(fenp_machine *m, const int64_t *order, int64_t fold,
                                     const double *box, double *decision, const fenp_task *task,
                                     fen_error *err)
{
    const int64_t n = m->sample->n, from = fold * n / INNER_FOLDS,
                  to = (fold + 1) * n / INNER_FOLDS;
    int64_t plus = 0, minus = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = order[k];
        const int held = k >= from && k < to;
        m->box[i] = held ? 0.0 : box[i];
        plus += !held && m->sample->y[i] > 0.0;
        minus += !held && m->sample->y[i] < 0.0;
    }
    fen_status status = FEN_OK;
    const double all = plus > 0 ? 1.0 : minus > 0 ? -1.0 : 0.0; /* one class is left, or none */
    if (plus > 0 && minus > 0) status = fenp_machine_solve(m, task, err);
    if (plus > 0 && minus > 0 && status == FEN_OK)
        fenp_svm_tell(m->o, (fen_svm_news){ .event = FEN_SVM_TOTAL,
                                            .type = m->o->type,
                                            .support = m->news.support });
    for (int64_t k = from; k < to; k++)
        decision[order[k]] = plus > 0 && minus > 0 ? fenp_machine_decision(m, order[k]) : all;
    return status;
}

fen_status fenp_svm_sigmoid(fenp_machine *m, uint64_t stream, double sigmoid[2],
                            const fenp_task *task, fen_error *err)
{
    const int64_t n = m->sample->n;
    int64_t *order = fenp_new(n, sizeof *order);
    double *box = fenp_new(n, sizeof *box), *decision = fenp_new(n, sizeof *decision);
    fen_status status =
        order && box && decision ? FEN_OK : fenp_no_memory(err, fenp_bytes(n, 3, 8), "folds");
    if (status == FEN_OK) {
        fenp_permutation(m->o->seed, stream, n, order);
        for (int64_t i = 0; i < n; i++) box[i] = m->box[i];
    }
    for (int64_t fold = 0; fold < INNER_FOLDS && status == FEN_OK; fold++)
        status = left_out_decisions(m, order, fold, box, decision, task, err);
    for (int64_t i = 0; box && i < n; i++) m->box[i] = box[i];
    if (status == FEN_OK) status = fenp_platt_fit(decision, m->sample->y, NULL, n, sigmoid, err);
    free(order), free(box), free(decision);
    return status;
}

/* ---- cross-validation ---------------------------------------------------------------- */

/* fold[i] of every row. */
static fen_status deal(const fen_svm_data *data, const fen_svm_options *o, int64_t folds,
                       int64_t *fold, fen_error *err)
{
    const int64_t n = data->rows.n;
    fenp_classes c = { 0 };
    int64_t *order = fenp_new(n, sizeof *order);
    fen_status status = order ? FEN_OK : fenp_no_memory(err, 8 * n, "folds");
    const int stratified = fenp_svm_classifies(o->type) && folds < n;
    if (status == FEN_OK && stratified) status = fenp_classes_find(data, &c, err);
    const int64_t groups = stratified ? c.count : 1;
    for (int64_t g = 0; g < groups && status == FEN_OK; g++) {
        const int64_t first = stratified ? c.start[g] : 0;
        const int64_t count = stratified ? c.start[g + 1] - first : n;
        fenp_permutation(o->seed, (uint64_t)g, count, order);
        /* a group begins where the last one ended: folds differ by one row at most */
        for (int64_t k = 0; k < count; k++)
            fold[stratified ? c.row[first + order[k]] : order[k]] = (first + k) % folds;
    }
    fenp_classes_free(&c);
    free(order);
    return status;
}

/* The rows whose fold is (held) or is not (!held) one of them. */
static fen_status part_of(const fen_svm_data *data, const int64_t *fold, int64_t of, int held,
                          fen_svm_data **out, fen_error *err)
{
    const int64_t n = data->rows.n;
    fen_svm_data *part = fenp_new_zeroed(1, sizeof *part);
    if (part) part->label = fenp_new(n, sizeof *part->label);
    fen_status status =
        part && part->label ? FEN_OK : fenp_no_memory(err, 8 * n, "the rows of a fold");
    for (int64_t i = 0; i < n && status == FEN_OK; i++) {
        if ((fold[i] == of) != held) continue;
        part->label[part->rows.n] = data->label[i];
        status = fenp_rows_copy(&part->rows, &data->rows, i, err);
    }
    if (status == FEN_OK) {
        part->rows.largest = data->rows.largest; /* gamma and serial numbers go by it */
        *out = part;
    } else
        fen_svm_data_free(part);
    return status;
}

static fen_status predict_fold(const fen_svm_data *data, const fen_svm_options *o,
                               const int64_t *fold, int64_t of, const fen_host *host,
                               double *predicted, fen_error *err)
{
    fen_svm_data *rest = NULL, *held = NULL;
    fen_svm *model = NULL;
    double *answers = NULL, *law = NULL;
    fen_status status = part_of(data, fold, of, 0, &rest, err);
    if (status == FEN_OK) status = part_of(data, fold, of, 1, &held, err);
    if (status == FEN_OK) status = fenp_svm_train(rest, o, host, &model, err);
    if (status == FEN_OK) {
        const int with = model->label && fen_svm_has_probability(model);
        answers = fenp_new(held->rows.n, sizeof *answers);
        if (with) law = fenp_new(fenp_bytes(held->rows.n, model->classes, 1), sizeof *law);
        status = answers && (law || !with)
                     ? fen_svm_predict(model, held, 0, held->rows.n, answers, NULL, law, err)
                     : fenp_no_memory(err, 0, "predictions");
    }
    for (int64_t i = 0, k = 0; status == FEN_OK && i < data->rows.n; i++)
        if (fold[i] == of) predicted[i] = answers[k++];
    free(answers), free(law);
    fen_svm_free(model);
    fen_svm_data_free(rest);
    fen_svm_data_free(held);
    return status;
}

fen_status fen_svm_cross_validate(const fen_svm_data *data, const fen_svm_options *o, int64_t folds,
                                  const fen_host *host, double *predicted, fen_error *err)
{
    fen_status status = fen_svm_check(data, o, err);
    if (status == FEN_OK && (folds < 2 || data->rows.n < 2))
        status = fenp_fail(err, FEN_BAD_CALL, "n-fold cross validation: n must >= 2");
    if (status != FEN_OK) return status;
    if (folds > data->rows.n) {
        folds = data->rows.n;
        fenp_svm_tell(o, (fen_svm_news){ .event = FEN_SVM_MANY_FOLDS, .type = o->type });
    }
    int64_t *fold = fenp_new(data->rows.n, sizeof *fold);
    if (!fold) return fenp_no_memory(err, 8 * data->rows.n, "folds");
    status = deal(data, o, folds, fold, err);
    for (int64_t k = 0; k < folds && status == FEN_OK; k++) {
        fenp_share share;
        fenp_share_open(&share, host, (double)k / (double)folds, (double)(k + 1) / (double)folds);
        status = predict_fold(data, o, fold, k, &share.own, predicted, err);
    }
    free(fold);
    return status;
}

/* ---- noise --------------------------------------------------------------------------- */

/* Mean of what is at most limit. */
static double mean_below(const double *values, int64_t n, double limit)
{
    long double sum = 0.0L;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (values[i] <= limit) sum += values[i], count++;
    return count ? (double)(sum / count) : 0.0;
}

fen_status fenp_svm_noise(const fen_svm_data *data, const fen_svm_options *o, const fen_host *host,
                          double *sigma, fen_error *err)
{
    const int64_t n = data->rows.n;
    fen_svm_options without = *o;
    without.probability = 0;
    double *residual = fenp_new(n, sizeof *residual);
    if (!residual) return fenp_no_memory(err, 8 * n, "residuals");
    fen_status status = fen_svm_cross_validate(data, &without, INNER_FOLDS, host, residual, err);
    if (status == FEN_OK) {
        for (int64_t i = 0; i < n; i++) residual[i] = fabs(data->label[i] - residual[i]);
        /* beyond five deviations of the Laplace law they would have: outliers */
        const double mean = mean_below(residual, n, INFINITY);
        *sigma = mean_below(residual, n, 5.0 * sqrt(2.0) * mean);
        fenp_svm_tell(o,
                      (fen_svm_news){ .event = FEN_SVM_NOISE, .type = o->type, .sigma = *sigma });
    }
    free(residual);
    return status;
}
