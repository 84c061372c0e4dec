/* linear_columns.c -- see linear_parts.h: means and lengths; a dense design that stays by rows
 *
 * Where the Gram matrix says it all (whole: square loss, p <= n) and needs no centred copy (rows
 * of one weight, columns whose mean is at most their deviation), nobody looks at a column:
 *     means and lengths by sum_i x_ij, sum_i x_ij^2,   a = 2 X'Wy,   H = 2 w X'X - 2 W m m'
 * come from the rows as they stand, in one pass and one matrix product. Else the state makes
 * columns for itself.
 * Accuracy: sum x^2 - n m^2 loses no digit but one, for m^2 <= the variance.
 * Cost: x is read twice (unwritten rows are prepared twice, in a cache); a copy by columns and its four passes cost as much as the product. */
#include "solver/linear_parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"

/* ---- by rows ---- */

/* Before anything is computed. */
static int may_stay(const fenp_linear_state *s)
{
    const fenp_groups *g = s->q.groups;
    return s->square && !s->descends && s->alike && !g->start && !g->weight &&
           s->q.x->copies == 1 && fenp_linear_is_whole(s);
}

/* As measure_columns has them: squares about the mean in product, means in middle. Nonzero: the
 * mean of some column would take its digits. */
static int centre(fenp_linear_state *s, const double *sum)
{
    const double n = (double)s->q.x->n;
    int far = 0;
    for (int64_t j = 0; j < s->q.x->p; j++) {
        const double mean = s->q.bias ? sum[j] / n : 0.0;
        s->middle[j] = mean;
        s->product[j] = fmax(s->product[j] - n * mean * mean, 0.0);
        far = far || !(n * mean * mean <= s->product[j]);
    }
    return far;
}

/* Nonzero in *stay: the sums are in cross, product and middle. */
static fen_status measure_rows(fenp_linear_state *s, int *stay, fen_error *err)
{
    const int64_t bytes = fenp_bytes(s->q.x->p, 2, sizeof(double));
    s->cross = fenp_new(bytes, 1);
    if (!s->cross) return fenp_no_memory(err, bytes, "the linear model");
    double *sum = s->cross + s->q.x->p;
    for (int64_t i = 0; i < s->rows; i++) s->work[i] = 2.0 * s->q.w[i] * s->y[i];
    const fen_status status = fenp_design_sums(s->q.x, s->work, sum, s->product, s->cross, err);
    *stay = status == FEN_OK && !centre(s, sum);
    return status;
}

fen_status fenp_linear_leave_rows(fenp_linear_state *s, fen_error *err)
{
    if (!fenp_design_is_by_rows(s->q.x)) return FEN_OK;
    free(s->cross);
    s->cross = NULL;
    const fen_status status = fenp_design_columns(s->q.x, &s->columns, &s->owned, err);
    if (status == FEN_OK) s->q.x = &s->columns;
    return status;
}

/* ---- all of them ---- */

/* ||x_j||^2 over the rows; with a bias, where sum u = 0, of the column less its mean. */
static double squared_length(fenp_linear_state *s, int64_t j)
{
    const fenp_design *x = s->q.x;
    const int64_t from = x->dense ? j * x->n : x->start[j];
    const int64_t to = x->dense ? from + x->n : x->start[j + 1];
    const double *value = x->dense ? x->dense : x->value;
    double sum = 0.0, square = 0.0;
    for (int64_t e = from; e < to; e++) sum += value[e];
    const double mean = s->q.bias && x->n > 0 ? sum / (double)x->n : 0.0;
    s->middle[j] = mean;
    for (int64_t e = from; e < to; e++) square += (value[e] - mean) * (value[e] - mean);
    return square + (double)(x->n - (to - from)) * mean * mean;
}

static void measure_columns(fenp_linear_state *s)
{
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < s->q.x->p; j++) s->product[j] = squared_length(s, j);
}

static void measure_groups(fenp_linear_state *s)
{
    const fenp_groups *g = s->q.groups;
    for (int64_t j = 0; j < s->q.x->p && s->q.bias; j++)
        if (s->middle[j] * s->middle[j] * (double)s->q.x->n > 1e4 * s->product[j])
            s->off_centre = s->off_centre || s->product[j] > 0.0;
    for (int64_t i = 0; i < g->count; i++) {
        double sum = 0.0; /* copies do not add up: their columns stand beside each other */
        for (int64_t k = 0; k < fenp_group_size(g, i); k++) {
            const double square = s->product[fenp_group_member(g, i, k) % s->q.x->p];
            sum = s->q.x->copies > 1 ? fmax(sum, square) : sum + square;
        }
        s->length[i] = sqrt(sum) * (1.0 + 1e-12);
    }
}

fen_status fenp_linear_columns(fenp_linear_state *s, fen_error *err)
{
    int stay = 0;
    fen_status status = FEN_OK;
    if (fenp_design_is_by_rows(s->q.x) && may_stay(s)) status = measure_rows(s, &stay, err);
    if (status == FEN_OK && !stay) status = fenp_linear_leave_rows(s, err);
    if (status != FEN_OK) return status;
    if (!stay) measure_columns(s);
    measure_groups(s);
    return FEN_OK;
}
