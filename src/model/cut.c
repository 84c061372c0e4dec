/* cut.c -- the degrees of a power series that a prediction needs
 *
 *     f(x) = sum_m f_m(x),   |f_m(x)| <= c_m |x|_q^m A_m^(q-1),   A_m = sum_i |a_i| |x_i|_q^m,
 *
 * for k(s) = sum_m c_m s^m: the features of degree m of x are a vector of l^q norm
 * (c_m)^(1/q) |x|_q^m, and the weights of degree m one of l^p norm at most (c_m^(1/q) A_m)^(q-1).
 * Method: degrees from the last one down, until what they may add is more than an error, which is
 *   TOLERANCE of a mean of |f|, T / sum |a|. In logarithms: neither c_m nor A_m need be within the range of
 *   numbers.
 * Special cases: f = 0 needs no degree but 0. Coefficients that underflow go on as the two before
 *   them, which is too large for series whose ratios fall.
 * Cost: kept for each of some hundred degrees, once. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "model/lp.h"
#include "tensor/form.h"

static const double TOLERANCE = 1e-11;
enum { HIGHEST = 60 }; /* degree */

static int64_t last_of_cut(const fen_kernel_par *par) { return (int64_t)par->degree; }

fenp_kernel fenp_cut_at(const fenp_cut *cut, int64_t degree)
{
    fenp_kernel kernel = { &cut->table, cut->par };
    if (!cut->whole) kernel.par.degree = (double)degree;
    return kernel;
}

static double norm_of(const double *x, int64_t p, double q)
{
    double most = 0.0, sum = 0.0;
    for (int64_t j = 0; j < p; j++) most = fmax(most, fabs(x[j]));
    for (int64_t j = 0; most > 0.0 && j < p; j++) sum += pow(fabs(x[j]) / most, q);
    return most > 0.0 ? most * pow(sum, 1.0 / q) : 0.0;
}

/* ---- terms ------------------------------------------------------------------------------- */

/* log c_m of all degrees */
static void list_coefficients(fenp_cut *cut, double *log_c)
{
    static const double UNDERFLOW = 1e-290, NEAR = -600.0;
    for (int64_t m = 0; m < FENP_CUT_TERMS; m++) {
        const double c = cut->table.series(m, &cut->par);
        const int lost = m > 1 && c < UNDERFLOW && log_c[m - 1] < NEAR && isfinite(log_c[m - 1]) &&
                         isfinite(log_c[m - 2]);
        log_c[m] = lost ? 2.0 * log_c[m - 1] - log_c[m - 2] : log(c);
    }
}

/* log A_m of target t; norm: those of the rows over the largest one, `most`. */
static double log_size(const fen_model *m, int64_t t, const double *norm, double most,
                       int64_t degree)
{
    const double *u = m->dual + t * m->kept;
    double sum = 0.0;
    for (int64_t i = 0; i < m->kept; i++) sum += fabs(u[i]) * pow(norm[i], (double)degree);
    return log(m->coef_scale[t] * sum) + (degree > 0 ? (double)degree * log(most) : 0.0);
}

static void add_target(const fen_model *m, int64_t t, const double *norm, double most,
                       const double *log_c, fenp_cut *cut)
{
    const double all = log_size(m, t, norm, most, 0); /* sum |a| */
    const double mean = m->power * log(m->certificate[t].norm) - all;
    if (all == -INFINITY) return;
    for (int64_t degree = 0; degree < FENP_CUT_TERMS; degree++) {
        const double size = log_size(m, t, norm, most, degree);
        const double term = log_c[degree] + (cut->par.order - 1.0) * size - (log(TOLERANCE) + mean);
        if (!(term <= cut->term[degree])) cut->term[degree] = isnan(term) ? INFINITY : term;
    }
}

static void find_last(fenp_cut *cut, int64_t p)
{
    fenp_kernel kernel = fenp_cut_at(cut, 0);
    for (cut->last = HIGHEST; cut->last >= 0; cut->last--) {
        kernel = fenp_cut_at(cut, cut->last);
        if (fenp_feature_count(&kernel, p) <= FENP_MOST_FEATURES) return;
    }
}

int fenp_cut_open(const fen_model *m, const double *x, fenp_cut *out)
{
    *out = (fenp_cut){ .table = *m->kernel.table, .par = m->kernel.par };
    const int64_t last = out->table.last(&out->par);
    out->whole = last >= 0, out->last = last;
    if (out->whole) return 1;
    out->table.last = last_of_cut;
    if (out->table.uses_degree) return 1; /* no place for the cut: none */
    double log_c[FENP_CUT_TERMS], most = 0.0, *norm = fenp_new(m->kept, sizeof *norm);
    if (!norm) return 0;
    for (int64_t i = 0; i < m->kept; i++) {
        norm[i] = norm_of(x + i * m->p, m->p, out->par.order);
        most = fmax(most, norm[i]);
    }
    for (int64_t i = 0; most > 0.0 && i < m->kept; i++) norm[i] /= most;
    for (int64_t k = 0; k < FENP_CUT_TERMS; k++) out->term[k] = -INFINITY;
    list_coefficients(out, log_c);
    for (int64_t t = 0; t < m->targets; t++) add_target(m, t, norm, most, log_c, out);
    find_last(out, m->p);
    free(norm);
    return 1;
}

int64_t fenp_cut_degree(const fenp_cut *cut, const double *x, int64_t p, double errors)
{
    if (cut->whole) return cut->last;
    const double size = log(norm_of(x, p, cut->par.order));
    double sum = 0.0;
    for (int64_t m = FENP_CUT_TERMS - 1; m > 0; m--) {
        sum += cut->term[m] == -INFINITY ? 0.0 : exp(cut->term[m] + (double)m * size);
        if (!(sum <= errors)) return m;
    }
    return 0;
}
