/* decide.c -- scores -> classes and their probabilities
 *
 *     two classes        the sign of the score; P(second) = 1/(1 + exp(A score + B))
 *     one against rest   the largest score; P(k) = p_k / sum p, p_k as above
 *     one against one    most votes; the p of all pairs coupled into one law (promise/platt.h)
 *     one class          +1 where the score is at least 0, else -1; no probabilities
 *
 * Logistic loss: A = -1, B = 0, by what it means; other losses: A and B by cross-validation
 * (--probability). The class is always that of the scores: asking for probabilities does not
 * change an answer. Cost: outputs per row; classes^2 for every round of the coupling. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/crossing.h"
#include "model/model.h"
#include "promise/platt.h"
#include "promise/refit.h"

static const double LEAST_OF_PAIR = 1e-12; /* certainty of a pair would leave others no say */

static int is_logistic(const fen_model *m) { return strcmp(m->loss->name, "logistic") == 0; }

static double of_plus(const fen_model *m, int64_t t, double score)
{
    static const double native[2] = { -1.0, 0.0 };
    return fenp_platt_value(is_logistic(m) ? native : m->output[t].sigmoid, score);
}

/* ---- laws of one row --------------------------------------------------------------------- */

static void by_rest(const fen_model *m, const double *scores, double *p)
{
    double sum = 0.0;
    for (int64_t k = 0; k < m->targets; k++) sum += p[k] = of_plus(m, k, scores[k]);
    const int64_t best = fenp_outputs_decide(m->output, m->targets, m->targets, scores);
    for (int64_t k = 0; k < m->targets; k++) /* all may say no, beyond what a number can hold */
        p[k] = sum > 0.0 ? p[k] / sum : k == best;
}

static void by_pairs(const fen_model *m, const double *scores, double *work, double *p)
{
    const int64_t k = m->prep->class_count;
    double *pair = work;
    for (int64_t t = 0; t < m->targets; t++) {
        const fenp_output *o = &m->output[t];
        const double plus = of_plus(m, t, scores[t]);
        const double inside = fmin(fmax(plus, LEAST_OF_PAIR), 1.0 - LEAST_OF_PAIR);
        pair[o->plus * k + o->minus] = inside;
        pair[o->minus * k + o->plus] = 1.0 - inside;
    }
    fenp_couple(k, pair, 1e-12, work + k * k, p);
}

static void law(const fen_model *m, const double *scores, double *work, double *p)
{
    const fenp_output *first = m->output;
    if (m->prep->class_count == 2) {
        p[first->plus] = of_plus(m, 0, scores[0]);
        p[first->minus] = 1.0 - p[first->plus];
    } else if (first->minus < 0)
        by_rest(m, scores, p);
    else
        by_pairs(m, scores, work, p);
}

/* ---- all rows ---------------------------------------------------------------------------- */

static fen_status laws(const fen_model *m, const double *scores, int64_t rows, double *p,
                       fen_error *err)
{
    const int64_t k = m->prep->class_count, bytes = fenp_bytes(k, 2 * k + 1, sizeof(double));
    if (!fen_model_has_probabilities(m))
        return fenp_fail(err, FEN_BAD_CALL,
                         "the model has no probabilities; fit it with --probability, or with "
                         "--loss logistic");
    double *work = fenp_new_zeroed(bytes, 1);
    if (!work) return fenp_no_memory(err, bytes, "the probabilities of pairs");
    for (int64_t i = 0; i < rows; i++) law(m, scores + i * m->targets, work, p + i * k);
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
    if (probabilities) {
        const fen_status status = laws(model, scores, rows, probabilities, err);
        if (status != FEN_OK) return status;
    }
    for (int64_t i = 0; i < rows; i++)
        codes[i] = one_class ? (scores[i] >= 0.0 ? 1 : -1)
                             : fenp_outputs_decide(model->output, model->targets, classes,
                                                   scores + i * model->targets);
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

static double mistaken(const fen_model *m, const fenp_sample *sample, const double *scores,
                       double *turned)
{
    double error;
    for (int64_t i = 0; i < sample->n; i++)
        for (int64_t t = 0; t < m->targets; t++)
            turned[t * sample->n + i] = scores[i * m->targets + t];
    fenp_error_rates(sample, m->output, turned, 1, turned + m->targets * sample->n, &error);
    return error;
}

/* Several quantiles of one column. */
static int has_quantiles(const fen_model *m)
{
    return strcmp(m->loss->name, "pinball") == 0 && m->targets > m->prep->targets;
}

fen_status fenp_model_train_error(fen_model *m, const fenp_sample *sample, const fenp_task *task,
                                  fen_error *err)
{
    const int one_class = fenp_model_is_one_class(m), quantiles = has_quantiles(m);
    if (m->prep->class_count == 0 && !one_class && !quantiles) return FEN_OK;
    const int64_t bytes = fenp_bytes(sample->n + 1, m->targets, sizeof(double));
    double *inputs = m->inputs, *scores = fenp_new(bytes, 1), *turned = fenp_new(bytes, 1);
    fen_status status =
        scores && turned ? FEN_OK : fenp_no_memory(err, bytes, "scores of the training rows");
    if (!inputs) m->inputs = sample->x; /* lent: a model gets its rows at last */
    if (status == FEN_OK) status = fenp_model_scores(m, sample->x, sample->n, scores, task, err);
    m->inputs = inputs;
    if (status == FEN_OK && quantiles)
        m->crossing = fenp_outputs_crossing(m->output, m->targets, scores, sample->w, sample->n);
    else if (status == FEN_OK)
        m->train_error =
            one_class ? outside(m, sample, scores) : mistaken(m, sample, scores, turned);
    free(scores);
    free(turned);
    return status;
}
