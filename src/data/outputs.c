/* outputs.c -- from target columns to the problems that are solved
 *
 *   numbers        one output per target column and parameter of the loss
 *   two classes    one output: +1 is the second class
 *   K classes      ovr: K outputs, class k is +1 and all others are -1
 *                  ovo: K (K-1)/2 outputs, of every pair the later class is +1, the earlier -1,
 *                  and rows of a third class are 0: they have no weight there
 *   one class      one output, all labels +1
 *
 * Class weights multiply the sample weights as they were written; then all of them sum to 1
 * again. "balanced": W / (K W_k), W_k = weight of class k, so that every class weighs alike.
 * Cost: one pass over the rows per output. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/outputs.h"
#include "data/prepare_parts.h"

/* ---- the loss ------------------------------------------------------------------------ */

static int is_one_class(const fenp_prep *prep) { return prep->targets == 0; }

/* What auto stands for where the task or a price says more than "numbers" and "classes". */
static const char *loss_text(const fenp_prep *prep, const fen_options *o)
{
    if (strcmp(o->loss, "auto") != 0) return o->loss;
    if (is_one_class(prep)) return "hinge";
    if (o->nu > 0) return prep->class_count ? "hinge" : "eps";
    return o->loss;
}

static fen_status check_price(const fenp_prep *prep, const fen_options *o,
                              const fenp_loss_choice *choice, fen_error *err)
{
    const char *name = choice->loss->name;
    if (is_one_class(prep) && strcmp(name, "hinge") != 0)
        return fenp_fail(err, FEN_BAD_CALL, "--task one-class has the hinge loss, not %s", name);
    if (is_one_class(prep) && o->nu == 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--task one-class needs --nu: the share of rows that may lie outside");
    if (o->nu == 0) return FEN_OK;
    if (!choice->loss->price)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--nu frees the parameter of the loss eps or hinge; the %s loss has none "
                         "that could be free",
                         name);
    if (strchr(o->loss, ':'))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--nu finds the %s of the %s loss by itself; leave it out: --loss %s",
                         choice->loss->parameter.name, name, name);
    return FEN_OK;
}

static fen_status check_labels(const fenp_prep *prep, const fen_options *o,
                               const fenp_loss_choice *choice, fen_error *err)
{
    const char *name = choice->loss->name;
    if (o->probability && !prep->class_count)
        return fenp_fail(err, FEN_BAD_CALL, "--probability is for classes; see --task");
    if (prep->class_count && choice->loss->labels == FEN_SIGNS && choice->count > 1)
        return fenp_fail(err, FEN_BAD_CALL,
                         "several parameters of the %s loss are for targets that are numbers, not "
                         "for classes; give one",
                         name);
    if (prep->class_count > 2 && strcmp(o->multiclass, "ovo") == 0 && strcmp(name, "square") == 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--multiclass ovo needs a loss of classes (hinge, sqhinge, logistic), not "
                         "square; or use ovr");
    return FEN_OK;
}

fen_status fenp_choose_loss(const fenp_prep *prep, const fen_options *o, fenp_loss_choice *out,
                            fen_error *err)
{
    const int classes = prep->class_count > 0 || is_one_class(prep);
    fen_status status = fenp_parse_loss(loss_text(prep, o), classes, out, err);
    if (status == FEN_OK) status = check_price(prep, o, out, err);
    return status == FEN_OK ? check_labels(prep, o, out, err) : status;
}

/* ---- class weights ------------------------------------------------------------------- */

typedef struct reading {
    const fenp_prep *prep;
    double *weights; /* NaN: not read yet */
    fen_error *err;
} reading;

static fen_status unknown_label(const fenp_prep *prep, const char *label, int length,
                                fen_error *err)
{
    enum { SHOWN = 6 };
    char known[SHOWN * 32] = "";
    size_t used = 0;
    for (int64_t k = 0; k < prep->class_count && k < SHOWN; k++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s\"%.20s\"", k ? ", " : "",
                                 prep->classes[k]);
    return fenp_fail(err, FEN_BAD_DATA,
                     "--class-weights: \"%s\" has no class \"%.*s\"; its classes are %s%s",
                     prep->target[0], length < 40 ? length : 40, label, known,
                     prep->class_count > SHOWN ? ", ..." : "");
}

static fen_status bad_item(reading *r, const char *item, int64_t length)
{
    return fenp_fail(r->err, FEN_BAD_CALL,
                     "--class-weights must be balanced or LABEL=WEIGHT,LABEL=WEIGHT with weights "
                     "greater than 0, not \"%.*s\"",
                     (int)(length < 60 ? length : 60), item);
}

/* A quoted label without its quotes: what is in them, "" for ". Returns its length. */
static int64_t unquote(char *label, int64_t length)
{
    int64_t kept = 0;
    for (int64_t i = 1; i + 1 < length; i++) {
        label[kept++] = label[i];
        i += label[i] == '"';
    }
    return kept;
}

static fen_status set_weight(reading *r, char *label, int64_t length, double weight)
{
    if (length >= 2 && label[0] == '"' && label[length - 1] == '"') length = unquote(label, length);
    const int64_t k = fenp_prep_class(r->prep, label, length);
    if (k < 0) return unknown_label(r->prep, label, (int)length, r->err);
    if (!isnan(r->weights[k]))
        return fenp_fail(r->err, FEN_BAD_CALL, "--class-weights names the class \"%.60s\" twice",
                         r->prep->classes[k]);
    r->weights[k] = weight;
    return FEN_OK;
}

/* LABEL=WEIGHT; a label may hold a = itself. */
static fen_status read_weight(reading *r, const char *item, int64_t length)
{
    int64_t cut = length - 1;
    double weight;
    while (cut >= 0 && item[cut] != '=') cut--;
    int64_t end = cut, number = cut + 1; /* of the label; blanks are left out */
    while (end > 0 && item[end - 1] == ' ') end--;
    while (number < length && item[number] == ' ') number++;
    if (cut < 0 || !fenp_parse_fraction(item + number, length - number, &weight) || !(weight > 0) ||
        !isfinite(weight))
        return bad_item(r, item, length);
    char *label = fenp_new(end + 1, 1);
    if (!label) return fenp_no_memory(r->err, end + 1, "a label");
    memcpy(label, item, (size_t)end);
    label[end] = '\0';
    const fen_status status = set_weight(r, label, end, weight);
    free(label);
    return status;
}

/* The comma behind an item, or the end; a label that begins with a quote may hold commas. */
static const char *item_end(const char *p)
{
    int quoted = *p == '"';
    if (quoted) p++;
    for (; *p && (quoted || *p != ','); p++)
        if (quoted && *p == '"') {
            if (p[1] == '"')
                p++;
            else
                quoted = 0;
        }
    return p;
}

static fen_status read_weights(reading *r, const char *list)
{
    fen_status status = FEN_OK;
    for (const char *p = list; status == FEN_OK; p++) {
        while (*p == ' ') p++;
        const char *end = item_end(p), *last = end;
        while (last > p && last[-1] == ' ') last--;
        status = read_weight(r, p, last - p);
        if (!*(p = end)) break;
    }
    for (int64_t k = 0; k < r->prep->class_count; k++)
        if (isnan(r->weights[k])) r->weights[k] = 1.0;
    return status;
}

static void balance(const fenp_prep *prep, const fenp_sample *sample, double *weights)
{
    for (int64_t k = 0; k < prep->class_count; k++) weights[k] = 0.0;
    for (int64_t i = 0; i < sample->n; i++) weights[(int64_t)sample->y[i]] += sample->w[i];
    for (int64_t k = 0; k < prep->class_count; k++)
        weights[k] = 1.0 / ((double)prep->class_count * weights[k]); /* each class has a row */
}

/* *out stays NULL where all classes have weight 1. */
static fen_status class_weights(const fenp_prep *prep, const fen_options *o,
                                const fenp_sample *sample, double **out, fen_error *err)
{
    if (!o->class_weights[0]) return FEN_OK;
    if (prep->class_count == 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--class-weights: the target is a number, so there are no classes; add "
                         "--task classification, or leave --class-weights out");
    reading r = { prep, fenp_new(prep->class_count, sizeof(double)), err };
    fen_status status = FEN_OK;
    if (!r.weights) return fenp_no_memory(err, 8 * prep->class_count, "the weights of the classes");
    for (int64_t k = 0; k < prep->class_count; k++) r.weights[k] = NAN;
    if (strcmp(o->class_weights, "balanced") == 0)
        balance(prep, sample, r.weights);
    else
        status = read_weights(&r, o->class_weights);
    if (status == FEN_OK)
        *out = r.weights;
    else
        free(r.weights);
    return status;
}

static fen_status weigh(const double *weights, fenp_sample *sample, fen_error *err)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < sample->n; i++)
        sum += (long double)sample->w[i] * weights[(int64_t)sample->y[i]];
    if (!(sum > 0.0L) || !isfinite(sample->weight_sum * (double)sum))
        return fenp_fail(err, FEN_BAD_DATA, "the class weights leave the range of numbers");
    for (int64_t i = 0; i < sample->n; i++)
        sample->w[i] = (double)(sample->w[i] * weights[(int64_t)sample->y[i]] / sum);
    sample->weight_sum *= (double)sum;
    sample->class_weights = weights;
    return FEN_OK;
}

/* ---- labels -------------------------------------------------------------------------- */

static void label(const fenp_output *output, const fenp_sample *sample, double *y)
{
    const double *from = sample->y + (output->column < 0 ? 0 : output->column * sample->n);
    for (int64_t i = 0; i < sample->n; i++) {
        if (output->column < 0)
            y[i] = 1.0;
        else if (output->plus < 0)
            y[i] = from[i];
        else if (from[i] == (double)output->plus)
            y[i] = 1.0;
        else
            y[i] = output->minus < 0 || from[i] == (double)output->minus ? -1.0 : 0.0;
    }
}

fen_status fenp_outputs_apply(const fenp_output *outputs, int64_t count, const double *weights,
                              fenp_sample *sample, fen_error *err)
{
    const int64_t bytes = fenp_bytes(count, sample->n, sizeof(double));
    double *y = fenp_new(bytes, 1);
    if (!y) return fenp_no_memory(err, bytes, "the labels");
    const fen_status status = weights ? weigh(weights, sample, err) : FEN_OK;
    if (status != FEN_OK) {
        free(y);
        return status;
    }
    for (int64_t t = 0; t < count; t++) label(&outputs[t], sample, y + t * sample->n);
    free(sample->y);
    sample->y = y;
    sample->targets = count;
    return FEN_OK;
}

void fenp_output_weights(const fen_loss *loss, const double *y, const double *w, int64_t n,
                         double *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = loss->labels == FEN_SIGNS && y[i] == 0.0 ? 0.0 : w[i];
}

/* ---- the outputs --------------------------------------------------------------------- */

static int64_t count_outputs(const fenp_prep *prep, int one_against_one, int parameters)
{
    const int64_t k = prep->class_count;
    if (is_one_class(prep) || k == 2) return 1;
    if (k == 0) return prep->targets * parameters;
    return one_against_one ? k * (k - 1) / 2 : k;
}

static void list_pairs(int64_t classes, double par, fenp_output *out)
{
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++)
            *out++ = (fenp_output){ .column = 0, .plus = b, .minus = a, .par = par };
}

static void list_outputs(const fenp_prep *prep, int pairs, const fenp_loss_choice *loss,
                         int64_t count, fenp_output *out)
{
    if (prep->class_count && pairs) {
        list_pairs(prep->class_count, loss->par[0], out);
        return;
    }
    for (int64_t t = 0; t < count; t++)
        out[t] = prep->class_count
                     ? (fenp_output){ .column = 0, .plus = t, .minus = -1, .par = loss->par[0] }
                     : (fenp_output){ .column = is_one_class(prep) ? -1 : t / loss->count,
                                      .plus = -1,
                                      .minus = -1,
                                      .par = loss->par[t % loss->count] };
}

fen_status fenp_outputs_make(const fenp_prep *prep, const fen_options *o,
                             const fenp_loss_choice *loss, fenp_sample *sample,
                             fenp_output **outputs, double **weights, fen_error *err)
{
    const int pairs = prep->class_count == 2 || strcmp(o->multiclass, "ovo") == 0;
    const int64_t count = count_outputs(prep, pairs, loss->count);
    fenp_output *made = fenp_new_zeroed(count, sizeof *made);
    double *by_class = NULL;
    if (!made) return fenp_no_memory(err, fenp_bytes(count, 1, sizeof *made), "the outputs");
    list_outputs(prep, pairs, loss, count, made);
    fen_status status = class_weights(prep, o, sample, &by_class, err);
    if (status == FEN_OK) status = fenp_outputs_apply(made, count, by_class, sample, err);
    if (status != FEN_OK || !weights) {
        free(by_class);
        by_class = NULL;
        sample->class_weights = NULL;
    }
    if (status != FEN_OK) {
        free(made);
        return status;
    }
    *outputs = made;
    if (weights) *weights = by_class;
    return FEN_OK;
}

/* ---- names --------------------------------------------------------------------------- */

static int shares_column(const fenp_output *outputs, int64_t count, int64_t t)
{
    for (int64_t s = 0; s < count; s++)
        if (s != t && outputs[s].column == outputs[t].column) return 1;
    return 0;
}

void fenp_output_name(const fenp_prep *prep, const fenp_output *outputs, int64_t count, int64_t t,
                      char *out, int64_t size)
{
    const fenp_output *o = &outputs[t];
    char par[32] = "";
    if (o->column < 0)
        snprintf(out, (size_t)size, "one class");
    else if (o->plus >= 0 && count == 1)
        snprintf(out, (size_t)size, "%s", prep->target[o->column]);
    else if (o->plus >= 0)
        snprintf(out, (size_t)size, "%s%s%s", prep->classes[o->plus], o->minus < 0 ? "" : " or ",
                 o->minus < 0 ? "" : prep->classes[o->minus]);
    else {
        const int several = shares_column(outputs, count, t);
        if (several) fenp_print_double(o->par, par);
        snprintf(out, (size_t)size, "%s%s%s", prep->target[o->column], several ? " at " : "", par);
    }
}

/* ---- decisions ----------------------------------------------------------------------- */

static int64_t by_votes(const fenp_output *outputs, int64_t count, int64_t classes,
                        const double *scores)
{
    double votes[FENP_CLASSES_MAX] = { 0 }, sums[FENP_CLASSES_MAX] = { 0 };
    int64_t best = 0;
    for (int64_t t = 0; t < count; t++) {
        votes[scores[t] >= 0.0 ? outputs[t].plus : outputs[t].minus]++;
        sums[outputs[t].plus] += scores[t];
        sums[outputs[t].minus] -= scores[t];
    }
    for (int64_t k = 1; k < classes; k++)
        if (votes[k] > votes[best] || (votes[k] == votes[best] && sums[k] > sums[best])) best = k;
    return best;
}

int64_t fenp_outputs_decide(const fenp_output *outputs, int64_t count, int64_t classes,
                            const double *scores)
{
    if (count == 1) return scores[0] >= 0.0 ? outputs[0].plus : outputs[0].minus;
    if (outputs[0].minus >= 0) return by_votes(outputs, count, classes, scores);
    int64_t best = 0;
    for (int64_t t = 1; t < count; t++)
        if (scores[t] > scores[best]) best = t;
    return outputs[best].plus;
}
