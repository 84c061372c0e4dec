/* laws.c -- from the scores of all outputs to a law of the classes, and to the class
 *
 *     two classes        P(second) = 1/(1 + exp(q)), q = A score + B
 *     one against rest   P(k) = p_k / sum p, p_k as above
 *     one against one    the p of all pairs coupled into one law (platt.h)
 *
 * Logistic loss: A = -1, B = 0, by what it means; other losses: A <= 0 and B by held-out scores
 * (calibrate.c). The class is the one with the largest probability: least q of two or of one
 * against the rest, which tells classes apart even where probabilities round to 1. Where there
 * are none, or they are equal for two, scores decide (fenp_outputs_decide).
 * Cost: outputs per row; classes^2 for every round of the coupling. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "loss/traits.h"
#include "promise/laws.h"
#include "promise/platt.h"

static const double LEAST_OF_PAIR = 1e-12; /* certainty of a pair would leave others no say */

static const double *sigmoid_of(const fenp_classifier *by, int64_t t)
{
    static const double native[2] = { -1.0, 0.0 };
    return by->logistic ? native : by->outputs[t].sigmoid;
}

static double of_plus(const fenp_classifier *by, int64_t t, double score)
{
    return fenp_platt_value(sigmoid_of(by, t), score);
}

/* Log odds against plus. */
static double against(const fenp_classifier *by, int64_t t, double score)
{
    return sigmoid_of(by, t)[0] * score + sigmoid_of(by, t)[1];
}

fenp_classifier fenp_classifier_of(const fenp_output *outputs, int64_t count, const fen_loss *loss)
{
    int64_t last = -1;
    for (int64_t t = 0; t < count; t++) {
        if (outputs[t].plus > last) last = outputs[t].plus;
        if (outputs[t].minus > last) last = outputs[t].minus;
    }
    return (fenp_classifier){ outputs, count, last + 1, fenp_tells_odds(loss) };
}

int fenp_has_laws(const fenp_classifier *by)
{
    int given = by->logistic;
    for (int64_t t = 0; t < by->count && !given; t++) given = fenp_has_sigmoid(&by->outputs[t]);
    return given && by->classes > 0;
}

int64_t fenp_law_room(const fenp_classifier *by) { return by->classes * (2 * by->classes + 2); }

/* ---- one row ----------------------------------------------------------------------------- */

static int64_t of_two(const fenp_classifier *by, const double *scores, double *p)
{
    const fenp_output *o = by->outputs;
    p[o->plus] = of_plus(by, 0, scores[0]);
    p[o->minus] = 1.0 - p[o->plus];
    const double q = against(by, 0, scores[0]); /* of a fair coin: see calibrate.c */
    return q < 0.0 || (q <= DBL_MIN && scores[0] >= 0.0) ? o->plus : o->minus;
}

static int64_t by_rest(const fenp_classifier *by, const double *scores, double *p)
{
    double sum = 0.0;
    int64_t best = 0;
    for (int64_t k = 0; k < by->count; k++) {
        sum += p[k] = of_plus(by, k, scores[k]);
        if (against(by, k, scores[k]) < against(by, best, scores[best])) best = k;
    }
    for (int64_t k = 0; k < by->count; k++) /* all may say no, beyond what a number can hold */
        p[k] = sum > 0.0 ? p[k] / sum : k == best;
    return best;
}

static int64_t by_pairs(const fenp_classifier *by, const double *scores, double *work, double *p)
{
    const int64_t k = by->classes;
    int64_t best = 0;
    for (int64_t t = 0; t < by->count; t++) {
        const fenp_output *o = &by->outputs[t];
        const double plus = of_plus(by, t, scores[t]);
        const double inside = fmin(fmax(plus, LEAST_OF_PAIR), 1.0 - LEAST_OF_PAIR);
        work[o->plus * k + o->minus] = inside;
        work[o->minus * k + o->plus] = 1.0 - inside;
    }
    fenp_couple(k, work, 1e-12, work + k * k, p);
    for (int64_t c = 1; c < k; c++)
        if (p[c] > p[best]) best = c;
    return best;
}

int64_t fenp_classify(const fenp_classifier *by, const double *scores, double *work, double *p)
{
    if (!fenp_has_laws(by)) return fenp_outputs_decide(by->outputs, by->count, by->classes, scores);
    if (!p) p = work + by->classes * (2 * by->classes + 1);
    if (by->classes == 2) return of_two(by, scores, p);
    return by->outputs[0].minus < 0 ? by_rest(by, scores, p) : by_pairs(by, scores, work, p);
}

/* ---- many rows --------------------------------------------------------------------------- */

static int64_t own_class(const fenp_sample *x, const fenp_output *outputs, int64_t row)
{
    for (int64_t t = 0; t < x->targets; t++) {
        const double y = x->y[t * x->n + row];
        if (y > 0.0) return outputs[t].plus;
        if (y < 0.0 && outputs[t].minus >= 0) return outputs[t].minus;
    }
    return -1;
}

fen_status fenp_error_rates(const fenp_sample *x, const fenp_classifier *by, const double *held,
                            int64_t count, double *errors, fen_error *err)
{
    const int64_t n = x->n, room = x->targets + fenp_law_room(by);
    double *row = fenp_new_zeroed(room, sizeof *row), total = 0.0;
    if (!row) return fenp_no_memory(err, fenp_bytes(room, 1, sizeof *row), "the error rates");
    for (int64_t l = 0; l < count; l++) errors[l] = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t own = own_class(x, by->outputs, i);
        const double weight = x->w[i] / (x->class_weights ? x->class_weights[own] : 1.0);
        total += weight;
        for (int64_t l = 0; l < count; l++) {
            for (int64_t t = 0; t < x->targets; t++) row[t] = held[(t * count + l) * n + i];
            if (fenp_classify(by, row, row + x->targets, NULL) != own) errors[l] += weight;
        }
    }
    for (int64_t l = 0; l < count; l++) errors[l] /= total;
    free(row);
    return FEN_OK;
}
