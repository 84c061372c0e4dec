/* certify_tensor.c -- f, |w|_p and |Phi'u|_q of a model with penalty lp, from its definition
 *
 *     c = coef_scale u,  w = J_q(Phi'c),  f(x_i) = om_i(c),  |w|_p^p = T(c),  |Phi'u|_q^q = T(u)
 *
 * T and om are those of tensor/form.h, for the whole kernel, and computed by nothing that a
 * solver or a route has made:
 *   linear kernels   X weights, |weights|_p and X'u itself; at the optimum weights = J_q(c X'u)
 *   tensor kernels   features, degree by degree, with a bound for the rest (certify_series.c);
 *                    where there are too many of them sums over all pairs of products of h = q/2
 *                    rows (tensor/pivots.h), while they take minutes and not hours; else what
 *                    the features of low degrees leave open
 * A rest makes f an interval: P is the largest over it, and both norms are upper ends: P - D is a
 * bound for the kernel as it is written, and never too small (docs/certificate.md).
 * Special cases: u = 0. Entries of u are divided by the largest one, since a q-th power of small
 *   numbers is no double while its root is; what still underflows, at most DBL_MIN in each of the
 *   n^q terms of T, counts as part of the rest.
 * Accuracy: linear kernels: long double; others: sums/products of doubles, see the files.
 * Cost: pairs: M^2/2 kernel values, M = C(n+h-1, h); series: n flops for each feature. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "certify.h"

static const double WANTED = 1e-13, ENOUGH = 1e-9; /* rest of T, relative; P and D know no more */
static const double CHEAP = 2e9, SERIES_MOST = 3e11, PAIRS_MOST = 1e13; /* flops */

/* ---- tensor kernels ---------------------------------------------------------------------- */

/* Flops of fenp_points_sums: rows where all vectors are 0 make no columns. */
static double pairs_cost(const fenp_kernel *kernel, int64_t n, int64_t p, int64_t active)
{
    const int64_t h = fenp_half_order(kernel);
    const double points = (double)fenp_multisets(active, h);
    const double others = (double)(n - active) * (double)fenp_multisets(active, h - 1);
    return points * (0.5 * points + others) * (2.0 * (double)p + 40.0);
}

static int64_t active_rows(const double *v, int64_t n, int64_t count)
{
    int64_t active = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = 0;
        while (k < count && v[k * n + i] == 0.0) k++;
        active += k < count;
    }
    return active;
}

static fen_status by_pairs(const fenp_kernel *kernel, fen_view x, const double *v, int64_t count,
                           fenp_sums *out, const fenp_task *task, fen_error *err)
{
    memset(out->value_error, 0, (size_t)count * sizeof(double));
    memset(out->om_error, 0, (size_t)(count * x.rows) * sizeof(double));
    return fenp_points_sums(kernel, x, v, count, out->value, out->om, task, err);
}

static int are_known(const fenp_sums *sums, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (!(sums->value_error[k] <= ENOUGH * sums->value[k])) return 0;
    return 1;
}

/* Features first: sums over pairs cancel, the more the larger q is. No task: time is up, and what
 * takes minutes is left undone. */
static fen_status find_sums(const fenp_kernel *kernel, fen_view x, const double *v, int64_t count,
                            int64_t scored, fenp_sums *out, const fenp_task *task, fen_error *err)
{
    const double cost = pairs_cost(kernel, x.rows, x.cols, active_rows(v, x.rows, count));
    const double budget = fmin(fmax(cost, CHEAP), SERIES_MOST);
    const fen_status status =
        fenp_series_sums(kernel, x, v, count, scored, WANTED, budget, out, task, err);
    if (status != FEN_OK || are_known(out, count)) return status;
    return cost <= (task ? PAIRS_MOST : SERIES_MOST) ? by_pairs(kernel, x, v, count, out, task, err)
                                                     : FEN_OK;
}

/* What the sums lose where products underflow. */
static void allow_underflow(const fenp_kernel *kernel, int64_t n, int64_t count, fenp_sums *sums)
{
    const double lost = DBL_MIN * pow((double)n, kernel->par.order);
    for (int64_t k = 0; k < count; k++) {
        sums->value[k] = fmax(sums->value[k], 0.0);
        sums->value_error[k] += lost;
    }
}

static int64_t forms_bytes(int64_t n, int64_t count)
{
    return 3 * fenp_arena_bytes(count) + 3 * fenp_arena_bytes(count * n);
}

/* The lists of all points, or the columns and a tree of features. */
int64_t fenp_forms_room(const fenp_kernel *kernel, int64_t n, int64_t p, int64_t count)
{
    const int64_t h = fenp_half_order(kernel);
    const double series = (double)fenp_series_bytes(n, p, count);
    const double pairs = pairs_cost(kernel, n, p, n) > PAIRS_MOST
                             ? 0.0
                             : (double)fenp_multisets(n, h) * (double)(8 * h + 40 * count);
    return forms_bytes(n, count) + (int64_t)fmin(fmax(series, pairs), 1e18);
}

static void lay_out_forms(fenp_forms *f, const double *v, double **scaled)
{
    const int64_t n = f->n, all = f->n * f->count;
    f->unit = fenp_arena_doubles(&f->arena, f->count);
    f->sums.value = fenp_arena_doubles(&f->arena, f->count);
    f->sums.value_error = fenp_arena_doubles(&f->arena, f->count);
    f->sums.om = fenp_arena_doubles(&f->arena, all);
    f->sums.om_error = fenp_arena_doubles(&f->arena, all);
    *scaled = fenp_arena_doubles(&f->arena, all);
    for (int64_t k = 0; k < f->count; k++) {
        double largest = 0.0;
        for (int64_t i = k * n; i < (k + 1) * n; i++) largest = fmax(largest, fabs(v[i]));
        f->unit[k] = largest;
        for (int64_t i = k * n; i < (k + 1) * n; i++)
            (*scaled)[i] = largest > 0.0 ? v[i] / largest : 0.0;
    }
}

fen_status fenp_forms_open(fenp_forms *out, const fenp_kernel *kernel, fen_view x, const double *v,
                           int64_t count, int64_t scored, const fenp_task *task, fen_error *err)
{
    double *scaled;
    *out = (fenp_forms){ .n = x.rows, .count = count };
    fen_status status =
        fenp_arena_open(&out->arena, forms_bytes(x.rows, count), "the certificate", err);
    if (status != FEN_OK) return status;
    lay_out_forms(out, v, &scaled);
    status = find_sums(kernel, x, scaled, count, scored, &out->sums, task, err);
    if (status == FEN_OK) allow_underflow(kernel, x.rows, count, &out->sums);
    return status;
}

void fenp_forms_close(fenp_forms *forms) { fenp_arena_close(&forms->arena); }

/* T(c) = |s|^q T(v), om(c) = J_q(s) om(v), s = coef_scale unit */
void fenp_forms_scores(const fenp_forms *forms, int64_t t, const fenp_kernel *kernel,
                       double coef_scale, double *f, double *slack, double *norm)
{
    const fenp_sums *sums = &forms->sums;
    const double q = kernel->par.order, scale = coef_scale * forms->unit[t];
    const double size = pow(fabs(scale), q - 1.0);
    for (int64_t i = 0; i < forms->n; i++) {
        f[i] = copysign(size, scale) * sums->om[t * forms->n + i];
        slack[i] = size > 0.0 ? size * sums->om_error[t * forms->n + i] : 0.0;
    }
    *norm = size > 0.0 ? size * pow(sums->value[t] + sums->value_error[t], 1.0 - 1.0 / q) : 0.0;
}

double fenp_forms_dual_norm(const fenp_forms *forms, int64_t t, const fenp_kernel *kernel)
{
    const double value = forms->sums.value[t] + forms->sums.value_error[t];
    return forms->unit[t] > 0.0 ? forms->unit[t] * pow(value, 1.0 / kernel->par.order) : 0.0;
}

/* ---- linear kernels ---------------------------------------------------------------------- */

/* |g|_r */
static double norm_of(const double *g, int64_t p, double r)
{
    double largest = 0.0;
    long double sum = 0.0L;
    for (int64_t j = 0; j < p; j++) largest = fmax(largest, fabs(g[j]));
    if (!(largest > 0.0) || isinf(largest)) return largest;
    for (int64_t j = 0; j < p; j++) sum += powl(fabsl((long double)g[j]) / largest, r);
    return (double)(largest * powl(sum, 1.0L / r));
}

/* Largest |w_j - J_q(scale g_j)|, relative to the largest of either. */
static double mismatch_of(const double *w, const double *g, int64_t p, double scale, double q)
{
    double off = 0.0, size = 0.0;
    for (int64_t j = 0; j < p; j++) {
        const double implied = copysign(pow(fabs(scale * g[j]), q - 1.0), scale * g[j]);
        off = fmax(off, fabs(w[j] - implied));
        size = fmax(size, fmax(fabs(w[j]), fabs(implied)));
    }
    return !(size > 0.0) ? 0.0 : size < INFINITY ? off / size : INFINITY;
}

fen_status fenp_claim_by_weights(const fen_model *m, const fenp_sample *sample, int64_t t,
                                 const double *u, const double *feasible, fenp_claim *c, double *f,
                                 const fenp_task *task, fen_error *err)
{
    const int64_t n = m->n, p = m->p;
    const double q = m->kernel.par.order, *weights = m->weights + t * p;
    const fenp_matrix x = fenp_matrix_of(m, sample, task);
    long double *exact = fenp_new(n, sizeof *exact);
    double *g = fenp_new(p, sizeof *g);
    fen_status status = exact && g
                            ? fenp_matrix_scores(&x, weights, f, err)
                            : fenp_no_memory(err, fenp_bytes(n, 1, sizeof *exact), "a certificate");
    for (int64_t i = 0; status == FEN_OK && i < n; i++) exact[i] = feasible[i];
    if (status == FEN_OK) status = fenp_matrix_products(&x, exact, g, err);
    if (status == FEN_OK) {
        c->norm = norm_of(weights, p, m->power);
        c->dual_norm = norm_of(g, p, q);
        for (int64_t i = 0; i < n; i++) exact[i] = u[i];
        status = fenp_matrix_products(&x, exact, g, err);
    }
    if (status == FEN_OK) c->mismatch = mismatch_of(weights, g, p, m->coef_scale[t], q);
    free(exact);
    free(g);
    return status;
}

/* ---- what predictions are worth ---------------------------------------------------------- */

/* u of every target over all rows. */
static double *all_duals(const fen_model *m)
{
    double *u = fenp_new_zeroed(m->n, m->targets * (int64_t)sizeof *u);
    for (int64_t t = 0; u && t < m->targets; t++)
        for (int64_t k = 0; k < m->kept; k++)
            u[t * m->n + (m->support ? m->support[k] : k)] = m->dual[t * m->kept + k];
    return u;
}

/* work: 2n */
static void compare(const fen_model *m, const fenp_forms *forms, const double *scores, double *work,
                    double *error, double *size)
{
    double *f = work, *slack = work + m->n, norm;
    *error = *size = 0.0;
    for (int64_t t = 0; t < m->targets; t++) {
        fenp_forms_scores(forms, t, &m->kernel, m->coef_scale[t], f, slack, &norm);
        for (int64_t i = 0; i < m->n; i++) {
            const double predicted = scores[i * m->targets + t] - m->offset[t];
            const double off = fabs(predicted - f[i]) + slack[i];
            *size = fmax(*size, fabs(f[i]));
            if (!(off <= *error)) *error = off; /* or is NaN */
        }
    }
}

/* Predictions go by pivots, or by a part of a series that has no end. */
static int is_cut(const fen_model *m)
{
    const fen_kernel *table = m->kernel.table;
    if (!fenp_model_is_lp(m) || m->weights) return 0;
    return m->pivots || table->last(&m->kernel.par) < 0;
}

fen_status fenp_prediction_error(const fen_model *m, fen_view rows, double *error, double *size,
                                 const fenp_task *task, fen_error *err)
{
    *error = *size = 0.0;
    if (!is_cut(m)) return FEN_OK;
    double *u = all_duals(m), *work = fenp_new(m->n, (m->targets + 2) * (int64_t)sizeof *work);
    fenp_forms forms = { 0 };
    fen_model lent = *m; /* rows, where it has none of its own yet */
    if (!lent.inputs) lent.inputs = (double *)rows.at;
    fen_status status =
        u && work ? fenp_forms_open(&forms, &m->kernel, rows, u, m->targets, m->targets, task, err)
                  : fenp_no_memory(err, fenp_bytes(m->n, m->targets + 2, sizeof *work), "scores");
    if (status == FEN_OK)
        status = fenp_model_scores(&lent, rows.at, m->n, work + 2 * m->n, task, err);
    if (status == FEN_OK) compare(m, &forms, work + 2 * m->n, work, error, size);
    fenp_forms_close(&forms);
    free(u);
    free(work);
    return status;
}
