/* lp.c -- models of penalty lp with a tensor kernel: the pivots and weights that they predict by
 *
 * Method: see lp.h. Which of the ways a model goes is decided once, at the end of the fit, over
 * all training rows: it has pivots where a cut of the series that would do for each of them has
 * more than FENP_MOST_FEATURES features.
 * Special cases: f = 0 over rows of zeros has no pivots: one of weight 0 stands for them.
 * Accuracy: features to rounding; pivots up to a diagonal that is TOLERANCE of the largest: what
 *   that amounts to is prediction_error.
 * Cost: w: kept N; pivots: see pivots.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "model/lp.h"
#include "tensor/form.h"
#include "tensor/pivots_factor.h"

static const double TOLERANCE = 1e-12;
/* Their factor is 128 MB while they are looked for; and a pass over all points, r^2 flops for
 * each of them, is to take a minute and no more. */
enum { LEAST_PIVOTS = 256, MOST_PIVOTS = 4096 };
static const double FLOPS_OF_PASS = 2e12;

int fenp_model_is_explicit(const fen_model *m)
{
    return m->weights ||
           (fenp_model_is_lp(m) && fenp_feature_count(&m->kernel, m->p) <= FENP_MOST_FEATURES);
}

int fenp_model_needs_pivots(const fen_model *m)
{
    const fen_kernel *k = m->kernel.table;
    if (!fenp_model_is_lp(m) || fenp_model_is_explicit(m)) return 0;
    return k->uses_degree || k->last(&m->kernel.par) >= 0;
}

/* Is there room for the degrees that each of the rows needs? */
static fen_status is_cut(const fen_model *m, fen_view kept, const double *x, int *enough,
                         fen_error *err)
{
    fenp_cut cut;
    *enough = 0;
    if (fenp_model_needs_pivots(m)) return FEN_OK;
    if (!fenp_cut_open(m, kept.at, &cut)) return fenp_no_memory(err, 8 * m->kept, "the series");
    *enough = 1;
    for (int64_t i = 0; *enough && i < m->n; i++)
        *enough = fenp_cut_degree(&cut, x + i * m->p, m->p, FENP_AS_GOOD_AS_PIVOTS) <= cut.last;
    return FEN_OK;
}

/* The work of predictions, and of finding what they need: no model has more. */
int fenp_model_can_pivot(const fen_model *m)
{
    static const double POINTS = 0x1p36, NUMBERS = 0x1p28, VALUES = 0x1p34; /* VALUES: to a row */
    const int64_t h = fenp_even_order(m->kernel.par.order) / 2;
    const double tuples = (double)fenp_multisets(m->kept, h - 1);
    return (double)fenp_multisets(m->kept, h) <= POINTS && tuples * (double)(m->p + 1) <= NUMBERS &&
           tuples * (double)fenp_model_most_pivots(m) <= VALUES;
}

int64_t fenp_model_most_pivots(const fen_model *m)
{
    const int64_t points = fenp_multisets(m->kept, fenp_even_order(m->kernel.par.order) / 2);
    const double most = sqrt(FLOPS_OF_PASS / (double)points);
    const double taken = fmin(fmax(most, LEAST_PIVOTS), MOST_PIVOTS);
    return points < (int64_t)taken ? points : (int64_t)taken;
}

/* All kernel values are 0, and so is f. */
static fen_status take_none(fen_model *m, fen_error *err)
{
    const int64_t h = fenp_even_order(m->kernel.par.order) / 2;
    m->pivot_count = 1;
    m->pivots = fenp_new_zeroed(h, sizeof *m->pivots);
    m->pivot_weights = fenp_new_zeroed(m->targets, sizeof *m->pivot_weights);
    return m->pivots && m->pivot_weights ? FEN_OK : fenp_no_memory(err, 8 * h, "the pivots");
}

static fen_status take_pivots(fen_model *m, fen_view rows, fenp_pivots *found,
                              const fenp_task *task, fen_error *err)
{
    const int64_t bytes = fenp_bytes(m->targets, found->count, sizeof(double));
    double *coef = fenp_model_coefs(m);
    m->pivot_weights = fenp_new(bytes, 1);
    const fen_status status = coef && m->pivot_weights
                                  ? fenp_pivots_weights(&m->kernel, rows, found, coef, m->targets,
                                                        m->pivot_weights, task, err)
                                  : fenp_no_memory(err, bytes, "the weights of the pivots");
    m->pivot_count = found->count, m->pivots = found->row, found->row = NULL;
    free(coef);
    return status;
}

fen_status fenp_model_find_pivots(fen_model *m, const double *x, const fenp_task *task,
                                  fen_error *err)
{
    if (!fenp_model_is_lp(m) || fenp_model_is_explicit(m) || m->pivots) return FEN_OK;
    const fen_view rows = { m->inputs ? m->inputs : x, m->kept, m->p, m->p };
    fenp_pivots found = { 0 };
    int enough;
    fen_status status = is_cut(m, rows, x, &enough, err);
    if (status != FEN_OK || enough) return status;
    if (!fenp_model_can_pivot(m))
        return fenp_fail(err, FEN_MEMORY,
                         "predictions of --kernel %s go through products of %lld of %lld rows with "
                         "coefficients, which are too many; fewer rows, or a p nearer to 2, would "
                         "do",
                         m->kernel.table->name,
                         (long long)(fenp_even_order(m->kernel.par.order) / 2), (long long)m->kept);
    status =
        fenp_pivots_find(&m->kernel, rows, TOLERANCE, fenp_model_most_pivots(m), &found, task, err);
    if (status == FEN_OK)
        status = found.count > 0 ? take_pivots(m, rows, &found, task, err) : take_none(m, err);
    fenp_pivots_free(&found);
    return status;
}

/* ---- are they those of the coefficients? --------------------------------------------------- */

/* That of the worst target. A kernel that is 0 everywhere has one pivot, of weight 0. */
static fen_status distance_of(const fen_model *m, fen_view rows, fenp_pivots *pivots,
                              const double *coef, double *again, double *worst,
                              const fenp_task *task, fen_error *err)
{
    int64_t rank = 0;
    fen_status status = fenp_pivots_factor(&m->kernel, rows, pivots, &rank, task, err);
    *worst = rank == 0 && pivots->count == 1 ? 0.0 : INFINITY;
    for (int64_t i = 0; rank == 0 && i < m->targets * pivots->count; i++)
        if (m->pivot_weights[i] != 0.0) *worst = INFINITY;
    if (status != FEN_OK || rank < pivots->count) return status;
    status = fenp_pivots_weights(&m->kernel, rows, pivots, coef, m->targets, again, task, err);
    *worst = 0.0;
    for (int64_t t = 0; status == FEN_OK && t < m->targets; t++) {
        const double off =
            fenp_pivots_distance(pivots, m->pivot_weights + t * m->pivot_count,
                                 again + t * m->pivot_count, again + m->targets * m->pivot_count);
        if (!(off <= *worst)) *worst = isnan(off) ? INFINITY : off;
    }
    return status;
}

fen_status fenp_model_check_pivots(const fen_model *m, double *distance, const fenp_task *task,
                                   fen_error *err)
{
    *distance = 0.0;
    if (!m->pivots) return FEN_OK;
    const fen_view rows = { m->inputs, m->kept, m->p, m->p };
    const int64_t bytes = fenp_bytes(m->targets + 1, m->pivot_count, sizeof(double));
    fenp_pivots pivots = { .h = fenp_even_order(m->kernel.par.order) / 2,
                           .count = m->pivot_count,
                           .row = m->pivots };
    double *coef = fenp_model_coefs(m), *again = fenp_new(bytes, 1);
    const fen_status status = coef && again
                                  ? distance_of(m, rows, &pivots, coef, again, distance, task, err)
                                  : fenp_no_memory(err, bytes, "the weights of the pivots");
    free(pivots.factor);
    free(coef);
    free(again);
    return status;
}

/* ---- weights of features ------------------------------------------------------------------- */

fen_status fenp_model_implied(const fen_model *m, const fenp_kernel *kernel, int64_t t, double *out,
                              fen_error *err)
{
    if (m->weights) {
        memcpy(out, m->weights + t * m->p, (size_t)m->p * sizeof *out);
        return FEN_OK;
    }
    const fen_view rows = { m->inputs, m->kept, m->p, m->p };
    double *coef = fenp_new(m->kept, sizeof *coef);
    if (!coef) return fenp_no_memory(err, 8 * m->kept, "the coefficients");
    for (int64_t i = 0; i < m->kept; i++) coef[i] = m->coef_scale[t] * m->dual[t * m->kept + i];
    const fen_status status = fenp_feature_weights(kernel, rows, coef, out, err);
    free(coef);
    return status;
}

/* phi(1, 1, ...) is what the products are multiplied by in phi. */
fen_status fenp_model_products(const fen_model *m, const fenp_kernel *kernel, int64_t t,
                               double *out, fen_error *err)
{
    const int64_t count = fenp_feature_count(kernel, m->p);
    double *factor = fenp_new(count, sizeof *factor), *ones = fenp_new(m->p, sizeof *ones);
    fen_status status = factor && ones ? fenp_model_implied(m, kernel, t, out, err)
                                       : fenp_no_memory(err, fenp_bytes(count, 1, 8), "features");
    for (int64_t j = 0; ones && j < m->p; j++) ones[j] = 1.0;
    if (status == FEN_OK && !m->weights) {
        fenp_features_of(kernel, (fen_view){ ones, 1, m->p, m->p }, factor);
        for (int64_t k = 0; k < count; k++) out[k] *= factor[k];
    }
    free(factor);
    free(ones);
    return status;
}
