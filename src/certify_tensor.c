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
 * Special cases: u = 0. Vectors are divided by a power of 2 near their norm, since a q-th power of
 *   small numbers is no double while its root is.
 * Accuracy: linear kernels: long double. Others: sums of doubles whose rounding errors and
 *   underflows are part of the interval, as the rest is: see certify_series.c and `sizes` below.
 * Cost: pairs: M^2/2 kernel values, M = C(n+h-1, h); series: n flops for each feature. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "certify.h"

static const double WANTED = 1e-13, ENOUGH = 1e-9; /* rest of T, relative; P and D know no more */
static const double CHEAP = 2e9, SERIES_MOST = 3e11, PAIRS_MOST = 1e13; /* flops */

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

double fenp_feature_norm(const fenp_kernel *kernel, const double *row, int64_t p)
{
    const double q = kernel->par.order;
    long double t = 0.0L;
    if (kernel->table->linear) return norm_of(row, p, q) * (1.0 + 1e-12);
    for (int64_t j = 0; j < p; j++) t += powl(fabs(row[j]), (long double)q);
    return pow(kernel->table->value((double)t, &kernel->par), 1.0 / q) * (1.0 + 1e-12);
}

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

/* |K(x_1, ..., x_q)| <= product of k_i, k_i = k(x_i, ..., x_i)^(1/q): Hoelder's inequality over the
 * features. t_i k'(t_i) / k(t_i) is at most log2 of k(2 t) / k(t) at the largest t, since log k
 * is convex in log t. The sum in K is off by so many roundings of its terms, K by steep times
 * that, and by a few of its own; the rest are products and sums of them (tensor/points.c). */
typedef struct sizes {
    double *root;       /* n: k_i                                                          */
    double most, steep; /* largest k_i                                                     */
    double fine;        /* by how much K changes through underflows in its argument        */
} sizes;

static void find_sizes(const fenp_kernel *kernel, fen_view x, sizes *out)
{
    const double q = kernel->par.order;
    double most = 0.0, largest = 1.0;
    out->most = out->steep = out->fine = 0.0;
    for (int64_t i = 0; i < x.rows; i++) {
        long double t = 0.0L;
        for (int64_t j = 0; j < x.cols; j++) {
            t += powl(fabs(x.at[i * x.stride + j]), (long double)q);
            largest = fmax(largest, fabs(x.at[i * x.stride + j]));
        }
        most = fmax(most, (double)t);
        out->root[i] = fenp_feature_norm(kernel, x.at + i * x.stride, x.cols);
        out->most = fmax(out->most, out->root[i]);
    }
    if (!(most > 0.0)) return;
    const double value = kernel->table->value(most, &kernel->par);
    out->steep = log2(kernel->table->value(2.0 * most, &kernel->par) / value) * (1.0 + 1e-9);
    out->fine = out->steep * value * DBL_MIN / most * 2.0 * q * (double)x.cols * pow(largest, q);
}

/* v: of one vector; om_error may not be NULL. */
static void bound_pairs(const fenp_kernel *kernel, fen_view x, const double *v, const sizes *of,
                        double *value_error, double *om_error)
{
    const double q = kernel->par.order, n = (double)x.rows, p = (double)x.cols;
    const double points = (double)fenp_multisets(x.rows, fenp_half_order(kernel));
    const double many = (p + q + 4.0) * of->steep + 128.0 + 8.0 * q + 64.0 + points / 1024.0;
    const double rounding = many * 0.50001 * DBL_EPSILON, most = fmax(1.0, of->most);
    long double size = 0.0L, all = 0.0L;
    for (int64_t i = 0; i < x.rows; i++) {
        size += (long double)fabs(v[i]) * of->root[i];
        all += fabsl((long double)v[i]);
    }
    const double lost = 8.0 * q * DBL_MIN * pow(n * most, q);
    const double other = lost + of->fine * (double)powl(fmaxl(all, 1.0L), (long double)q);
    *value_error = rounding * (double)powl(size, (long double)q) + other;
    for (int64_t i = 0; i < x.rows; i++)
        om_error[i] = rounding * of->root[i] * (double)powl(size, (long double)q - 1.0L) + other;
}

/* Whichever is known better, number by number. */
static void take_better(const fenp_sums *from, int64_t n, int64_t count, int64_t scored,
                        fenp_sums *out)
{
    for (int64_t k = 0; k < count; k++)
        if (from->value_error[k] < out->value_error[k])
            out->value[k] = from->value[k], out->value_error[k] = from->value_error[k];
    for (int64_t i = 0; i < scored * n; i++)
        if (from->om_error[i] < out->om_error[i])
            out->om[i] = from->om[i], out->om_error[i] = from->om_error[i];
}

/* Of the series, where pairs cost so much. */
static double budget_of(double pairs) { return fmin(fmax(pairs, CHEAP), SERIES_MOST); }

static int64_t pairs_doubles(int64_t n, int64_t count) { return 2 * count + (2 * count + 1) * n; }

static fen_status by_pairs(const fenp_kernel *kernel, fen_view x, const double *v, int64_t count,
                           int64_t scored, fenp_sums *out, const fenp_task *task, fen_error *err)
{
    const int64_t n = x.rows, doubles = pairs_doubles(n, count);
    double *work = fenp_new(doubles, sizeof *work);
    if (!work) return fenp_no_memory(err, fenp_bytes(doubles, 1, sizeof *work), "the certificate");
    const fenp_sums own = { work, work + count, work + 2 * count, work + 2 * count + count * n };
    sizes of = { .root = own.om_error + count * n };
    const fen_status status = fenp_points_sums(kernel, x, v, count, own.value, own.om, task, err);
    find_sizes(kernel, x, &of);
    for (int64_t k = 0; k < count; k++)
        bound_pairs(kernel, x, v + k * n, &of, own.value_error + k, own.om_error + k * n);
    if (status == FEN_OK) take_better(&own, n, count, scored, out);
    free(work);
    return status;
}

/* Features first: sums over pairs cancel, the more the larger q is. No task: time is up, and what
 * takes minutes is left undone. */
static fen_status find_sums(const fenp_kernel *kernel, fen_view x, const double *v, int64_t count,
                            int64_t scored, fenp_sums *out, const fenp_task *task, fen_error *err)
{
    const double cost = pairs_cost(kernel, x.rows, x.cols, active_rows(v, x.rows, count));
    double left;
    fen_status status = fenp_series_sums(kernel, x, v, count, scored, WANTED, budget_of(cost), out,
                                         &left, task, err);
    if (status == FEN_OK && !(left <= ENOUGH) && cost <= (task ? PAIRS_MOST : SERIES_MOST))
        status = by_pairs(kernel, x, v, count, scored, out, task, err);
    for (int64_t k = 0; k < count; k++) out->value[k] = fmax(out->value[k], 0.0);
    return status;
}

static int64_t forms_bytes(int64_t n, int64_t count)
{
    return 3 * fenp_arena_bytes(count) + 3 * fenp_arena_bytes(count * n);
}

/* The columns and a tree of features; where that may leave a rest, the lists of all points. */
int64_t fenp_forms_room(const fenp_kernel *kernel, int64_t n, int64_t p, int64_t count,
                        int64_t scored)
{
    const int64_t h = fenp_half_order(kernel);
    const double cost = pairs_cost(kernel, n, p, n);
    const fenp_tree tree = { .n = n, .p = p, .q = 2 * h, .count = count, .scored = scored };
    int whole;
    const double series = (double)fenp_series_bytes(kernel, &tree, budget_of(cost), &whole);
    const double pairs = whole || cost > PAIRS_MOST
                             ? 0.0
                             : (double)fenp_multisets(n, h) * (double)(8 * h + 40 * count) +
                                   8.0 * (double)pairs_doubles(n, count);
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
        long double square = 0.0L;
        int exponent = 0;
        for (int64_t i = k * n; i < (k + 1) * n; i++) square += (long double)v[i] * v[i];
        frexpl(sqrtl(square), &exponent);
        exponent = exponent < DBL_MAX_EXP ? exponent : DBL_MAX_EXP - 1;
        f->unit[k] = square > 0.0L ? ldexp(1.0, exponent) : 0.0;
        for (int64_t i = k * n; i < (k + 1) * n; i++)
            (*scaled)[i] = square > 0.0L ? ldexp(v[i], -exponent) : 0.0;
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
    return status;
}

void fenp_forms_close(fenp_forms *forms) { fenp_arena_close(&forms->arena); }

static const double ABOVE = 1.0 + 8.0 * DBL_EPSILON; /* powers and products, rounded up */

/* T(c) = |s|^q T(v), om(c) = J_q(s) om(v), s = coef_scale unit */
void fenp_forms_scores(const fenp_forms *forms, int64_t t, const fenp_kernel *kernel,
                       double coef_scale, double *f, double *slack, double *norm)
{
    const fenp_sums *sums = &forms->sums;
    const double q = kernel->par.order, scale = coef_scale * forms->unit[t];
    const double size = pow(fabs(scale), q - 1.0);
    for (int64_t i = 0; i < forms->n; i++) {
        f[i] = copysign(size, scale) * sums->om[t * forms->n + i];
        slack[i] =
            size > 0.0 ? size * sums->om_error[t * forms->n + i] + (ABOVE - 1.0) * fabs(f[i]) : 0.0;
    }
    const double value = (sums->value[t] + sums->value_error[t]) * ABOVE;
    *norm = size > 0.0 ? size * pow(value, 1.0 - 1.0 / q) * ABOVE : 0.0;
}

double fenp_forms_dual_norm(const fenp_forms *forms, int64_t t, const fenp_kernel *kernel)
{
    const double value = (forms->sums.value[t] + forms->sums.value_error[t]) * ABOVE;
    return forms->unit[t] > 0.0 ? forms->unit[t] * pow(value, 1.0 / kernel->par.order) * ABOVE
                                : 0.0;
}

/* ---- linear kernels ---------------------------------------------------------------------- */

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

/* In doubles: w is J_q of sums over n rows, whose terms may cancel: off by d in the l^q norm, which
 * makes (q-1) d (|Phi'c|_q + d)^(q-2) of w; w.phi(x) is a sum of sums over p columns. Features are
 * products of 3 factors for each degree. */
double fenp_prediction_rounding(const fen_model *m, int64_t t, const double *u, const double *size,
                                double norm)
{
    const fen_kernel *table = m->kernel.table;
    const int64_t degree = table->linear ? 1 : table->last(&m->kernel.par);
    const double q = m->kernel.par.order, unit = 0.5001 * DBL_EPSILON;
    const double n = (double)m->n, p = (double)m->p, factors = 3.0 * (double)degree + 8.0;
    long double sum = 0.0L;
    if (degree < 0) return 0.0;
    const double scores = unit * (factors + q + (double)degree * (p + 2.0)) * norm;
    if (m->weights) return scores;
    for (int64_t i = 0; i < m->n; i++) sum += fabsl((long double)u[i]) * size[i];
    const double d = unit * (factors + n) * (double)(m->coef_scale[t] * sum);
    return scores + (q - 1.0) * d * pow(pow(norm, 1.0 / (q - 1.0)) + d, q - 2.0);
}

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
