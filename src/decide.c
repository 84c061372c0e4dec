/* decide.c -- scores -> classes and their probabilities
 *
 * Classes: promise/laws.c, which decides by probabilities where the model has them, so that the
 * class and the largest probability agree, and by scores where it has none. Asking for the
 * probabilities does not change an answer. One class: +1 where the score is at least 0, else
 * -1; no probabilities. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/crossing.h"
#include "model/model.h"
#include "promise/laws.h"

static fenp_classifier classifier(const fen_model *m)
{
    return fenp_classifier_of(m->output, m->targets, m->loss);
}

/* ---- all rows ---------------------------------------------------------------------------- */

static fen_status classify(const fen_model *m, const double *scores, int64_t rows, int64_t *codes,
                           double *p, fen_error *err)
{
    const fenp_classifier by = classifier(m);
    const int64_t bytes = fenp_bytes(fenp_law_room(&by), 1, sizeof(double));
    if (p && !fenp_has_laws(&by))
        return fenp_fail(err, FEN_BAD_CALL,
                         "the model has no probabilities; fit it with --probability, or with "
                         "--loss logistic");
    double *work = fenp_new_zeroed(bytes, 1);
    if (!work) return fenp_no_memory(err, bytes, "the probabilities of pairs");
    for (int64_t i = 0; i < rows; i++)
        codes[i] = fenp_classify(&by, scores + i * m->targets, work, p ? p + i * by.classes : NULL);
    free(work);
    return FEN_OK;
}

fen_status fen_decide(const fen_model *model, const double *scores, int64_t rows, int64_t *codes,
                      double *probabilities, fen_error *err)
{
    const int64_t classes = model->prep->class_count;
    const int one_class = fenp_model_is_one_class(model);
    if (classes == 0 && !one_class)
        return fenp_fail(err, FEN_BAD_CALL,
                         "the model predicts numbers, there is nothing to decide");
    if (!one_class) return classify(model, scores, rows, codes, probabilities, err);
    if (probabilities)
        return fenp_fail(err, FEN_BAD_CALL, "a model of one class has no probabilities");
    for (int64_t i = 0; i < rows; i++) codes[i] = scores[i] >= 0.0 ? 1 : -1;
    return FEN_OK;
}

/* ---- the training rows -------------------------------------------------------------------- */

static double outside(const fen_model *m, const fenp_sample *sample, const double *scores)
{
    double sum = 0.0;
    for (int64_t i = 0; i < sample->n; i++)
        if (!(scores[i] >= m->output[0].par)) sum += sample->w[i];
    return sum;
}

static fen_status mistaken(const fen_model *m, const fenp_sample *sample, const double *scores,
                           double *turned, double *error, fen_error *err)
{
    const fenp_classifier by = classifier(m);
    for (int64_t i = 0; i < sample->n; i++)
        for (int64_t t = 0; t < m->targets; t++)
            turned[t * sample->n + i] = scores[i * m->targets + t];
    return fenp_error_rates(sample, &by, turned, 1, error, err);
}

/* Several quantiles of one column. */
static int has_quantiles(const fen_model *m)
{
    return strcmp(m->loss->name, "pinball") == 0 && m->targets > m->prep->targets;
}

/* Of linear models without dense rows: f = X beta + b by columns. turned: targets x n. */
static fen_status score_columns(const fen_model *m, const fenp_sample *sample, double *turned,
                                double *scores, fen_error *err)
{
    fenp_design x;
    double *owned = NULL;
    const fen_status status = fenp_design_of(sample, &x, &owned, err);
    for (int64_t t = 0; status == FEN_OK && t < m->targets; t++) {
        double *f = turned + t * sample->n;
        fenp_design_scores(&x, m->weights + t * m->p, f);
        for (int64_t i = 0; i < sample->n; i++) scores[i * m->targets + t] = f[i] + m->offset[t];
    }
    free(owned);
    return status;
}

/* rows x targets; turned is work space of that size. */
static fen_status score_rows(fen_model *m, const fenp_sample *sample, double *turned,
                             double *scores, const fenp_task *task, fen_error *err)
{
    double *inputs = m->inputs;
    if (!sample->x) return score_columns(m, sample, turned, scores, err);
    if (!inputs) m->inputs = sample->x; /* lent: a model gets its rows at last */
    const fen_status status = fenp_model_scores(m, sample->x, sample->n, scores, task, err);
    m->inputs = inputs;
    return status;
}

fen_status fenp_model_train_error(fen_model *m, const fenp_sample *sample, const fenp_task *task,
                                  fen_error *err)
{
    const int one_class = fenp_model_is_one_class(m), quantiles = has_quantiles(m);
    if (m->prep->class_count == 0 && !one_class && !quantiles) return FEN_OK;
    const int64_t bytes = fenp_bytes(sample->n + 1, m->targets, sizeof(double));
    double *scores = fenp_new(bytes, 1), *turned = fenp_new(bytes, 1);
    fen_status status =
        scores && turned ? FEN_OK : fenp_no_memory(err, bytes, "scores of the training rows");
    if (status == FEN_OK) status = score_rows(m, sample, turned, scores, task, err);
    if (status == FEN_OK && quantiles)
        m->crossing = fenp_outputs_crossing(m->output, m->targets, scores, sample->w, sample->n);
    else if (status == FEN_OK && one_class)
        m->train_error = outside(m, sample, scores);
    else if (status == FEN_OK)
        status = mistaken(m, sample, scores, turned, &m->train_error, err);
    free(scores);
    free(turned);
    return status;
}
