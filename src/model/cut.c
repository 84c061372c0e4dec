/* cut.c -- the degrees of a power series that a prediction needs
 *
 *     f(x) = sum_m f_m(x),   |f_m(x)| <= c_m |x|_q^m A_m^(q-1),   A_m = sum_i |a_i| |x_i|_q^m,
 *
 * for k(s) = sum_m c_m s^m: the features of degree m of x are a vector of l^q norm
 * (c_m)^(1/q) |x|_q^m, and the weights of degree m one of l^p norm at most (c_m^(1/q) A_m)^(q-1).
 * Method: degrees from the last one down, until what they may add is more than an error, which is
 *   TOLERANCE of a mean of |f|, T / sum |a|. In logarithms, of columns that are divided by a power
 *   of two (divided.h): neither c_m nor A_m need be within the range of numbers.
 * Special cases: f = 0 needs no degree but 0. Coefficients that underflow go on as the two before
 *   them, which is too large for series whose ratios fall.
 * Cost: kept for each of some hundred degrees, once. */
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "model/lp.h"
#include "tensor/divided.h"
#include "tensor/form.h"

static const double TOLERANCE = 1e-11;
enum { HIGHEST = 120 }; /* degree */

static int64_t last_of_cut(const fen_kernel_par *par) { return (int64_t)par->degree; }

fenp_kernel fenp_cut_at(const fenp_cut *cut, int64_t degree)
{
    fenp_kernel kernel = { &cut->table, cut->par };
    if (!cut->whole) kernel.par.degree = (double)degree;
    return kernel;
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

double fenp_cut_mean(const fen_model *m, int64_t t)
{
    double sum = 0.0;
    for (int64_t i = 0; i < m->kept; i++) sum += fabs(m->coef_scale[t] * m->dual[t * m->kept + i]);
    return sum > 0.0 ? pow(m->certificate[t].norm, m->power) / sum : 0.0;
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

/* All degrees behind the last term: each is less than the one before by `ratio` at least, as
 * A_(m+1) is at most the largest norm times A_m. */
static double behind(const fenp_cut *cut, double size)
{
    const double last = cut->term[FENP_CUT_TERMS - 1], ratio = exp(cut->ratio + size);
    if (last == -INFINITY) return 0.0;
    return ratio <= 0.5 ? 2.0 * ratio * exp(last + (FENP_CUT_TERMS - 1) * size) : INFINITY;
}

/* S of far.c where log |x|_q is size, over the mean of |f|. */
static double size_at(const fenp_cut *cut, double size)
{
    double sum = behind(cut, size) + exp(cut->term[0]);
    for (int64_t m = 1; m < FENP_CUT_TERMS; m++)
        if (cut->term[m] != -INFINITY) sum += exp(cut->term[m] + (double)m * size);
    return TOLERANCE * sum;
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
    const fen_view rows = { x, m->kept, m->p, m->p };
    out->unit = fenp_unit_of(rows, out->par.order);
    out->par = fenp_divided_kernel(&m->kernel, &out->unit).par;
    for (int64_t i = 0; i < m->kept; i++) {
        norm[i] = ldexp(fenp_row_norm(x + i * m->p, m->p, out->par.order), -out->unit);
        most = fmax(most, norm[i]);
    }
    for (int64_t i = 0; most > 0.0 && i < m->kept; i++) norm[i] /= most;
    for (int64_t k = 0; k < FENP_CUT_TERMS; k++) out->term[k] = -INFINITY;
    list_coefficients(out, log_c);
    for (int64_t t = 0; t < m->targets; t++) add_target(m, t, norm, most, log_c, out);
    out->ratio = log_c[FENP_CUT_TERMS - 1] - log_c[FENP_CUT_TERMS - 2] +
                 (most > 0.0 ? (out->par.order - 1.0) * log(most) : -INFINITY);
    out->most = most;
    out->usual = size_at(out, log(most));
    find_last(out, m->p);
    free(norm);
    return 1;
}

/* The logarithm of |x|_q of divided columns. */
static double log_norm(const fenp_cut *cut, const double *x, int64_t p)
{
    return log(fenp_row_norm(x, p, cut->par.order)) - cut->unit * log(2.0);
}

int64_t fenp_cut_degree(const fenp_cut *cut, const double *x, int64_t p, double errors)
{
    if (cut->whole) return cut->last;
    const double size = log_norm(cut, x, p);
    double sum = behind(cut, size);
    for (int64_t m = FENP_CUT_TERMS - 1; m > 0; m--) {
        sum += cut->term[m] == -INFINITY ? 0.0 : exp(cut->term[m] + (double)m * size);
        if (!(sum <= errors)) return m;
    }
    return 0;
}

double fenp_cut_size(const fenp_cut *cut, const double *x, int64_t p)
{
    return cut->whole ? 0.0 : size_at(cut, log_norm(cut, x, p));
}
