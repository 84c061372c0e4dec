/* noise.c -- level of the noise from nearest neighbours, epsilon and Huber's k from the level
 *
 *     sigma^2 = k n^(1/5) / (k n^(1/5) - 1)  sum w_i r_i^2,   r_i = y_i - (mean over the k nearest)
 *     epsilon = 3 sigma sqrt(log n / n)
 *
 * with k = 3, a row being the nearest to itself (Cherkassky and Ma 2004). The factor takes
 * k n^(1/5) for how many rows one degree of freedom of the neighbours' means has.
 * Huber's k is 1.35 sigma, with (1.4826 median |r_i|)^2 for the mean of squares: that is the same
 * for normal noise, and the outliers that the loss is meant for hardly count.
 * Weights count as repetitions: the k nearest are those of weight k together, and n is the sum
 * of the weights. Weights that sum to less than the number of rows cannot be meant so and are
 * raised to it.
 * Special cases: rows at one distance are taken in the order of their y, so that the order of
 *   rows in the file does not matter; all y equal give 0. log n / n is taken at n = e at least,
 *   where it is largest.
 * Accuracy: a rule of thumb. Where the function is flat between neighbours sigma comes out some
 *   15 % low; where they are far apart, their differences count as noise.
 * Cost: n^2 (p + log n) for at most 2000 rows, drawn by seed. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "data/noise.h"

enum { ROWS_MAX = 2000, NEIGHBOURS = 3 };

typedef struct neighbour {
    double distance, y, weight;
} neighbour;

static int nearer(const void *a, const void *b)
{
    const neighbour *x = a, *z = b;
    if (x->distance != z->distance) return x->distance < z->distance ? -1 : 1;
    return (x->y > z->y) - (x->y < z->y);
}

static double distance(const fenp_sample *s, int64_t i, int64_t j, int square)
{
    const double *x = s->x + i * s->p, *z = s->x + j * s->p;
    if (square) return x[i] + z[j] - 2.0 * x[j];
    double sum = 0.0;
    for (int64_t k = 0; k < s->p; k++) sum += (x[k] - z[k]) * (x[k] - z[k]);
    return sum;
}

/* How many rows a sample of this weight stands for. */
static double repetitions(const fenp_sample *s) { return fmax(s->weight_sum, (double)s->n); }

/* Mean of y over the neighbours of weight k around row i, or over all rows if there are fewer. */
static double local_mean(const fenp_sample *s, const double *y, int64_t i, int square,
                         neighbour *work)
{
    double taken = 0.0, sum = 0.0;
    for (int64_t j = 0; j < s->n; j++)
        work[j] = (neighbour){ j == i ? -INFINITY : distance(s, i, j, square), y[j],
                               s->w[j] * repetitions(s) };
    qsort(work, (size_t)s->n, sizeof *work, nearer);
    for (int64_t j = 0; j < s->n && taken < NEIGHBOURS; j++) {
        const double part = fmin(work[j].weight, NEIGHBOURS - taken);
        sum += part * (work[j].y - y[i]); /* from y_i on: a large constant in y costs no digits */
        taken += part;
    }
    return y[i] + sum / taken;
}

/* Mean of squares; or of most rows, as their median tells it where it is not 0. */
static double variance_of(neighbour *off, int64_t n, int of_most)
{
    double sum = 0.0, half = 0.0;
    for (int64_t i = 0; i < n; i++) {
        sum += off[i].weight * off[i].distance * off[i].distance;
        half += 0.5 * off[i].weight;
    }
    if (!of_most) return sum;
    qsort(off, (size_t)n, sizeof *off, nearer);
    int64_t i = 0;
    while (i + 1 < n && off[i].weight < half) half -= off[i++].weight;
    const double deviation = 1.4826 * off[i].distance;
    return deviation > 0.0 ? deviation * deviation : sum;
}

static fen_status level_of(const fenp_sample *s, int64_t target, int square, int of_most,
                           double *sigma, fen_error *err)
{
    const double *y = s->y + target * s->n;
    const double rows = NEIGHBOURS * pow(repetitions(s), 0.2);
    neighbour *work = fenp_new(s->n, 2 * sizeof *work);
    if (!work) return fenp_no_memory(err, 2 * s->n * (int64_t)sizeof *work, "nearest neighbours");
    neighbour *off = work + s->n;
    for (int64_t i = 0; i < s->n; i++)
        off[i] = (neighbour){ fabs(y[i] - local_mean(s, y, i, square, work)), y[i], s->w[i] };
    *sigma = sqrt(rows / (rows - 1.0) * variance_of(off, s->n, of_most));
    free(work);
    return FEN_OK;
}

static fen_status level(const fenp_sample *sample, int64_t target, int square, uint64_t seed,
                        int of_most, double *sigma, fen_error *err)
{
    fenp_sample *part = NULL;
    fen_status status = FEN_OK;
    if (!sample->x)
        return fenp_fail(err, FEN_BAD_CALL,
                         "auto in the place of a number measures the noise by the nearest rows, "
                         "which are not looked for in sparse files; write a number, as in "
                         "--loss %s",
                         of_most ? "huber:1.35" : "eps:0.1");
    if (sample->n > ROWS_MAX) status = fenp_sample_part(sample, ROWS_MAX, seed, square, &part, err);
    if (!status) status = level_of(part ? part : sample, target, square, of_most, sigma, err);
    fenp_sample_free(part);
    return status;
}

fen_status fenp_noise_level(const fenp_sample *sample, int64_t target, int square, uint64_t seed,
                            double *sigma, fen_error *err)
{
    return level(sample, target, square, seed, 0, sigma, err);
}

fen_status fenp_noise_knee(const fenp_sample *sample, int64_t target, int square, uint64_t seed,
                           double *k, fen_error *err)
{
    double sigma = 0.0;
    const fen_status status = level(sample, target, square, seed, 1, &sigma, err);
    *k = 1.35 * (sigma > 0.0 ? sigma : 1.0);
    return status;
}

fen_status fenp_noise_epsilon(const fenp_sample *sample, int64_t target, int square, uint64_t seed,
                              double *epsilon, fen_error *err)
{
    const double n = fmax(repetitions(sample), exp(1.0));
    double sigma = 0.0;
    fen_status status = fenp_noise_level(sample, target, square, seed, &sigma, err);
    *epsilon = 3.0 * sigma * sqrt(log(n) / n);
    return status;
}
