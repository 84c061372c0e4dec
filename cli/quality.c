/* quality.c -- how good predictions were, where the targets are known
 *
 * Numbers: RMSE, MAE and R2 of every output (of quantiles: the share of rows below), by Welford's
 * recurrence for the variance of the labels, so that R2 does not cancel. Classes: the share of rows
 * that were taken for another class, and the mean of -log(probability of the right one), which is
 * cut off at 1e-15. A label that training did not have is a mistake, and has no place in the log
 * loss. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "quality.h"

int quality_open(quality *q, int64_t outputs, int quantiles)
{
    *q = (quality){ .of = calloc((size_t)outputs + 1, sizeof *q->of),
                    .outputs = outputs,
                    .quantiles = quantiles };
    return q->of != NULL;
}

void quality_free(quality *q) { free(q->of); }

/* ---- rows ----------------------------------------------------------------------------- */

static void judge_number(errors *e, double label, double score)
{
    if (isnan(label)) return;
    double error = label - score, step = label - e->mean;
    e->count++;
    e->squares += error * error;
    e->absolutes += fabs(error);
    e->below += label < score;
    e->mean += step / e->count;
    e->spread += step * (label - e->mean);
}

void judge_numbers(quality *q, const double *labels, const double *scores)
{
    for (int64_t t = 0; t < q->outputs; t++) judge_number(&q->of[t], labels[t], scores[t]);
}

void judge_class(quality *q, double label, int64_t code, const double *law)
{
    if (isnan(label)) return;
    q->count++;
    q->wrong += label != (double)code;
    q->unknown += label < 0;
    if (!law || label < 0) return;
    q->laws++;
    q->log_loss -= log(fmax(law[(int64_t)label], 1e-15));
}

void judge_inside(quality *q, int64_t code)
{
    q->rows++;
    q->outside += code < 0;
}

/* ---- sums ----------------------------------------------------------------------------- */

static double rmse(const errors *e) { return sqrt(e->squares / e->count); }
static double mae(const errors *e) { return e->absolutes / e->count; }
static double r2(const errors *e) { return 1 - e->squares / e->spread; }
static double below(const errors *e) { return e->below / e->count; }

void say_quality(const quality *q, const json_t *names, const char *name)
{
    char line[256];
    for (int64_t t = 0; t < q->outputs; t++) {
        const errors *e = &q->of[t];
        const char *output = json_string_value(json_array_get(names, (size_t)t));
        output = printable(output ? output : "", line, sizeof line);
        if (e->count > 0 && q->quantiles)
            fprintf(stderr, "%s: %.4g %% of %.0f rows lie below, MAE %.5g\n", output,
                    100 * below(e), e->count, mae(e));
        else if (e->count > 0) {
            char share[32] = ""; /* of labels that do not vary there is nothing to explain */
            if (e->spread > 0) snprintf(share, sizeof share, ", R2 %.4f", r2(e));
            fprintf(stderr, "%s: RMSE %.5g, MAE %.5g%s on %.0f row%s\n", output, rmse(e), mae(e),
                    share, e->count, e->count == 1 ? "" : "s");
        }
    }
    if (q->count > 0) {
        fprintf(stderr, "%s: accuracy %.4f, %.0f of %.0f rows wrong",
                printable(name, line, sizeof line), 1 - q->wrong / q->count, q->wrong, q->count);
        if (q->laws > 0) fprintf(stderr, ", mean log loss %.4g", q->log_loss / q->laws);
        if (q->unknown > 0)
            fprintf(stderr, "; %.0f have a label that training did not have", q->unknown);
        fputc('\n', stderr);
    }
    if (q->rows > 0) fprintf(stderr, "%.0f of %.0f rows are outside\n", q->outside, q->rows);
}

static void add_errors(const quality *q, json_t *json, const char *key,
                       double (*of)(const errors *))
{
    json_t *array = json_array();
    for (int64_t t = 0; t < q->outputs; t++)
        json_array_append_new(array, json_number(of(&q->of[t])));
    if (q->outputs == 1)
        json_object_set(json, key, json_array_get(array, 0));
    else
        json_object_set(json, key, array);
    json_decref(array);
}

void add_quality(const quality *q, json_t *json)
{
    double judged = 0;
    for (int64_t t = 0; t < q->outputs; t++) judged += q->of[t].count;
    if (judged > 0) {
        add_errors(q, json, "rmse", rmse);
        add_errors(q, json, "mae", mae);
        add_errors(q, json, "r2", r2);
        if (q->quantiles) add_errors(q, json, "below", below);
    }
    if (q->count > 0) {
        json_object_set_new(json, "accuracy", json_number(1 - q->wrong / q->count));
        json_object_set_new(json, "error_rate", json_number(q->wrong / q->count));
        json_object_set_new(json, "unknown_labels", json_integer((json_int_t)q->unknown));
    }
    if (q->laws > 0) json_object_set_new(json, "log_loss", json_number(q->log_loss / q->laws));
    if (q->rows > 0) json_object_set_new(json, "outside", json_number(q->outside / q->rows));
}
