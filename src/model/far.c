/* far.c -- rows so far outside the training rows that neither features nor pivots are enough
 *
 *     S(x) = sum_m c_m |x|_q^m A_m^(q-1), which bounds |f(x)| and the terms that make it up (cut.c)
 *
 * Method: a row is far where it needs more degrees than there is room for, or where what rounding
 *   and pivots leave of training rows (prediction_error), grown as S has grown since the largest of
 *   them, is more than TRUST of f. Its f comes by the definition (tuples.c), whose own rounding
 *   errors are bounded by the sizes of its terms. Where that is too much work, or not to be
 *   trusted either, there is doubt, unless S has grown by no more than USUAL.
 * Special cases: series that end have all their features, and no row is far.
 * Accuracy: TRUST of the larger of |f(x)| and a mean of |f|, or USUAL prediction_errors, or there
 *   is doubt. */
#include <float.h>
#include <math.h>
#include "model/lp.h"
#include "tensor/divided.h"

static const double TRUST = 1e-6;
static const double USUAL = 10.0; /* growth of S: what rows near the training rows have */
static const double MOST_WORK = 0x1p30;

static double larger_of(const fenp_far *far, int64_t t, double score)
{
    return fmax(fabs(score), fenp_cut_mean(far->model, t));
}

/* What may be wrong with a score of target t, relative. */
static double loss_of(const fenp_far *far, int64_t t, double growth, double score)
{
    const double known = far->model->prediction_error;
    const double least = 1e-14 * fenp_cut_mean(far->model, t);
    const double lost = growth * fmax(isfinite(known) ? known : 0.0, least);
    return lost > 0.0 ? lost / larger_of(far, t, score) : 0.0;
}

/* Exponents, sums of p products of q factors, are at most `steep`. */
static double rounding_of(const fenp_far *far, const double *x)
{
    const fenp_cut *cut = far->cut;
    const double q = cut->par.order, p = (double)far->model->p;
    const double norm = fenp_row_norm(x, far->model->p, q);
    const double steep = cut->par.gamma * norm * pow(cut->most, q - 1.0);
    return DBL_EPSILON * ((p + q) * steep + 8.0);
}

/* Target by target, by the definition; near: only what is better by that. */
static fen_status define(const fenp_far *far, int near, const double *x, double *scores,
                         double *doubt, fen_error *err)
{
    const fen_model *m = far->model;
    const fenp_kernel kernel = { m->kernel.table, far->cut->par };
    fen_status status = FEN_OK;
    for (int64_t t = 0; status == FEN_OK && t < m->targets; t++) {
        double value, size;
        status = fenp_tuples_sum(m, &kernel, far->rows, t, x, &value, &size, err);
        const double off = size > 0.0 ? rounding_of(far, x) * size / larger_of(far, t, value) : 0.0;
        if (!near || off <= TRUST) scores[t] = value;
        if (!near && !(off <= TRUST) && !(off <= *doubt)) *doubt = isnan(off) ? INFINITY : off;
    }
    return status;
}

fen_status fenp_far_row(const fenp_far *far, int outside, const double *raw, const double *x,
                        double *scores, double *doubt, fen_error *err)
{
    const fen_model *m = far->model;
    const double growth = fenp_cut_size(far->cut, raw, m->p) / far->cut->usual;
    const int near = !outside && growth <= USUAL;
    double worst = outside ? INFINITY : 0.0;
    *doubt = 0.0;
    if (far->cut->whole || !(far->cut->usual > 0.0)) return FEN_OK;
    for (int64_t t = 0; t < m->targets; t++)
        worst = fmax(worst, loss_of(far, t, growth, scores[t]));
    if (worst <= TRUST) return FEN_OK;
    if ((double)fenp_tuples_count(m) * (double)(m->p + 16) <= MOST_WORK)
        return define(far, near, x, scores, doubt, err);
    if (!near) *doubt = worst;
    return FEN_OK;
}
