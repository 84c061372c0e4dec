/* linear_columns.c -- see linear_parts.h: means and lengths
 *
 * Of a design by rows its products say it all (products.h): with V = sum v, w = (sum w / V) v,
 *     m = c + delta, delta = sum v z / V,   H = 2 Z'WZ = 2 (sum w / V) (S - V delta delta'),
 *     2 Z'Wy = 2 (sum w / V) (sum v z (y - base) - delta sum v (y - base))
 * and lengths are those under v: |x_j'u| <= 2 sqrt(sum w r^2) sqrt(sum w z_j^2), as below with
 * |u|^2 <= 4 max w sum w r^2.
 * Accuracy: S - V delta delta' loses a few digits at worst, see products.c. Rows of some folds may
 *   yet be alike in a column far from c: what is left of it is rounding errors, and counts as 0. */
#include "solver/linear_parts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "loss/traits.h"
#include "solver/products.h"

/* ---- by rows ---- */

int fenp_linear_takes_rows(const fenp_linear *q)
{
    const int plain = strcmp(q->engine, "auto") == 0 || strcmp(q->engine, "active-set") == 0;
    return plain && fenp_is_square(q->loss) && q->x->copies == 1 && q->x->p > 0 &&
           fenp_linear_is_whole(q->x);
}

/* From the sums of the rows to means, lengths, 2 Z'Wy and 2 Z'WZ. */
static void take_sums(fenp_linear_state *s, const double *centre)
{
    const int64_t p = s->q.x->p, side = s->side, label = p + 1 + s->q.label;
    const double *ones = s->sum + p * side, *labels = s->sum + label * side, all = ones[p];
    const double twice = all > 0.0 ? 2.0 * s->weight_sum / all : 0.0;
    const double shift = s->base[0] - centre[label];
    const double lost = 8.0 * DBL_EPSILON * sqrt((double)s->q.x->n);
    double *delta = s->work; /* p <= n */
    for (int64_t j = 0; j < p; j++) {
        delta[j] = s->q.bias && all > 0.0 ? ones[j] / all : 0.0;
        s->middle[j] = s->q.bias ? centre[j] + delta[j] : 0.0;
        s->cross[j] = twice * (labels[j] - shift * ones[j] - delta[j] * (labels[p] - shift * all));
    }
    for (int64_t j = 0; j < p; j++) {
        double *to = s->sum + j * side + j;
        const double off = all * delta[j] * delta[j], left = *to - off;
        *to = left <= lost * off ? 0.0 : twice * left; /* too large: not a number */
        s->product[j] = s->weight_most > 0.0 ? *to / (2.0 * s->weight_most) : 0.0;
        if (*to == 0.0) s->cross[j] = 0.0;
    }
    for (int64_t j = 0; j < p; j++) {
        double *restrict to = s->sum + j * side;
        const double *restrict square = s->product, own = to[j], off = all * delta[j];
#pragma omp simd
        for (int64_t i = 0; i < j; i++) {
            const double left = twice * (to[i] - off * delta[i]);
            to[i] = own == 0.0 || square[i] == 0.0 ? 0.0 : left;
        }
    }
}

static fen_status measure_rows(fenp_linear_state *s, fen_error *err)
{
    const fenp_products *given = s->q.products;
    fenp_products own = { .p = 0 };
    fen_status status = given ? FEN_OK : fenp_products_make(&s->q, 1, NULL, 1, &own, err);
    if (status != FEN_OK) return status;
    s->side = given ? given->side : own.side;
    s->cross = fenp_new(s->q.x->p, sizeof *s->cross);
    s->sum = given ? fenp_new(fenp_bytes(s->side, s->side, sizeof *s->sum), 1) : own.part;
    own.part = NULL;
    if (!s->cross || !s->sum)
        status = fenp_no_memory(err, fenp_bytes(s->side, s->side, 8), "the linear model");
    if (status == FEN_OK && given) fenp_products_sum(given, s->q.without - 1, s->sum);
    if (status == FEN_OK) take_sums(s, given ? given->centre : own.centre);
    fenp_products_free(&own);
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
    fen_status status = FEN_OK;
    if (fenp_design_is_by_rows(s->q.x))
        status = measure_rows(s, err);
    else
        measure_columns(s);
    if (status == FEN_OK) measure_groups(s);
    return status;
}
