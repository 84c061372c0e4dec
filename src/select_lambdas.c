/* select_lambdas.c -- the lambdas that searches and paths of penalties on coefficients go along
 *
 * Those given, the rule 1/n, or 100 from the least one without terms down to 1e-4 of it (1e-2 where
 * there are fewer rows than columns; less with a mix below 0.1, where the largest lambda grows as
 * 1/mix, and for elastic nets of large labels: their squares of coefficients outweigh the rest down
 * to a lambda that does not grow with the labels), in equal steps of the logarithm. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "promise/ladder.h"
#include "select_linear.h"

enum { LAMBDAS = 100 };
static const double TALL_RATIO = 1e-4, WIDE_RATIO = 1e-2;
static const double LOW_MIX = 0.1, LEAST_SHARE = 0.01; /* of those ratios, for a low mix */
static const double LEAST_MIX = 1e-3;                  /* that of fenp_linear_lambda_max */

/* Largest first. */
static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

int64_t fenp_count_lambdas_linear(const fen_options *o)
{
    return o->lambda.choice == FEN_GIVEN  ? o->lambda.count
           : o->lambda.choice == FEN_RULE ? 1
                                          : LAMBDAS;
}

/* The largest deviation of a copy's labels from their mean, or from 0 without a bias. */
static double size_of_labels(const fenp_linear *q)
{
    const int64_t n = q->x->n;
    double largest = 0.0;
    for (int64_t t = 0; t < q->x->copies; t++) {
        const double *y = q->y + t * n, *w = q->w + t * n;
        double sum = 0.0, weight = 0.0, square = 0.0;
        for (int64_t i = 0; i < n; i++) sum += w[i] * y[i], weight += w[i];
        const double mean = q->bias && weight > 0.0 ? sum / weight : 0.0;
        for (int64_t i = 0; i < n; i++) square += w[i] * (y[i] - mean) * (y[i] - mean);
        if (weight > 0.0) largest = fmax(largest, sqrt(square / weight));
    }
    return largest;
}

/* Coefficients are about as large as the labels, and the slopes of a loss at most the largest
 * lambda times mix: beside them those of the squares, lambda (1 - mix) beta, are to become small. */
static double share_of_squares(const fenp_linear *q)
{
    const double slope = (1.0 - q->mix) * size_of_labels(q);
    return slope > q->mix ? fmax(q->mix, LEAST_MIX) / slope : 1.0;
}

static double ratio_of(const fenp_linear *problem)
{
    const double share = fmax(fmin(problem->mix / LOW_MIX, 1.0), LEAST_SHARE);
    return fmin(share, share_of_squares(problem)) *
           (problem->x->n >= problem->x->p ? TALL_RATIO : WIDE_RATIO);
}

fen_status fenp_list_lambdas_linear(const fenp_linear *problems, int64_t count,
                                    const fenp_sample *sample, const fen_options *o,
                                    double *lambdas, fenp_linear_state **first,
                                    const fenp_task *task, fen_error *err)
{
    const int64_t wanted = fenp_count_lambdas_linear(o);
    double most;
    if (o->lambda.choice == FEN_GIVEN) {
        memcpy(lambdas, o->lambda.at, (size_t)wanted * sizeof *lambdas);
        qsort(lambdas, (size_t)wanted, sizeof *lambdas, falling);
        return FEN_OK;
    }
    lambdas[0] = 1.0 / sample->weight_sum;
    if (o->lambda.choice == FEN_RULE) return FEN_OK;
    const fen_status status = fenp_ladder_top(problems, count, &most, first, task, err);
    double ratio = 1.0;
    for (int64_t q = 0; q < count; q++) ratio = fmin(ratio, ratio_of(&problems[q]));
    fenp_ladder_make(most, ratio, wanted, lambdas);
    return status;
}
