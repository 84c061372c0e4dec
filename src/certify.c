/* certify.c -- is this model optimal? Primal minus dual, from the definition
 *
 *     P = sum w_i loss(y_i, f(x_i) + b) + lambda ||f||^m
 *     D = - sum w_i loss*(y_i, -z_i) - Psi*(||g||),   u_i = w_i z_i,  g = sum u_i k(x_i, .)
 *         with bias only for sum u_i = 0
 *
 * Free parameter par >= 0 of the loss, at price +-nu (nu-SVR, nu-SVC, one-class): P gains
 * +-nu W par, W = sum w. loss* is affine in par, so the least over par is D at par = 0 for
 * those z whose slope in par is not negative (certify_feasible.c), and nothing for others.
 * m < 1: the penalty is not convex and D is nothing: see certify_tangents.c.
 *
 * D <= least possible P <= P holds for every f, b, par and every feasible z: P - D bounds how
 * far the model is from the optimum, whoever computed it. Nothing here knows a solver.
 * The pair is made exactly feasible first (certify_feasible.c), and D(t z) is maximised over
 * t in (0, 1], which keeps feasibility (but for a parameter that earns: t = 1).
 * Special cases: rows of weight 0 take no part. An infinite loss: see loss/traits.h.
 * Accuracy: sums run in long double.
 * Cost: one product of the kernel matrix with two vectors per target, recomputed in tiles. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "base/registry.h"
#include "certify.h"
#include "loss/traits.h"

/* ---- P and D ----------------------------------------------------------------------------- */

double fenp_claim_shift(const fenp_claim *c)
{
    long double mean = 0.0L, weight = 0.0L;
    if (!c->bias || !c->loss->residual) return 0.0;
    for (int64_t i = 0; i < c->n; i++) mean += (long double)c->w[i] * c->y[i], weight += c->w[i];
    return weight > 0.0L ? (double)(mean / weight) : 0.0;
}

static double score_at(const fenp_claim *c, int64_t i) { return c->f[i] + (c->offset - c->shift); }

/* A score that is an interval: the loss is convex, and largest at an end. */
static double loss_at(const fenp_claim *c, int64_t i)
{
    const double t = score_at(c, i), slack = c->slack ? c->slack[i] : 0.0;
    const double loss = fenp_forgiving_loss(c->loss, c->y[i], t - slack, c->shift, c->par);
    if (slack == 0.0) return loss;
    return fmax(loss, fenp_forgiving_loss(c->loss, c->y[i], t + slack, c->shift, c->par));
}

double fenp_claim_mean_loss(const fenp_claim *c)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < c->n; i++)
        if (c->w[i] > 0.0) sum += (long double)c->w[i] * loss_at(c, i);
    return (double)sum;
}

double fenp_claim_minus_conjugates(const fenp_claim *c, double t)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < c->n; i++)
        if (c->w[i] > 0.0)
            sum -=
                (long double)c->w[i] * c->loss->conj(c->y[i] - c->shift, -t * c->z[i], c->dual_par);
    return (double)sum;
}

/* D(t z) */
static double dual_value(const void *state, double t)
{
    const fenp_claim *c = state;
    return fenp_claim_minus_conjugates(c, t) -
           c->penalty->conj(t * c->dual_norm, c->lambda, c->power);
}

/* m = 1 has a dual value only for ||g|| <= lambda: t is cut there, one rounding inside.
 * Golden section, and never worse than the largest t or t = 0. */
double fenp_best_dual_value(double (*value)(const void *state, double t), const void *c,
                            double dual_norm, double lambda, double power)
{
    const double golden = 0.5 * (sqrt(5.0) - 1.0);
    const double most =
        power != 1.0 || dual_norm <= lambda ? 1.0 : lambda / dual_norm * (1.0 - 2.0 * DBL_EPSILON);
    double a = 0.0, b = most, p = (1.0 - golden) * most, q = golden * most;
    double at_p = value(c, p), at_q = value(c, q);
    double best = fmax(value(c, most), value(c, 0.0));
    for (int step = 0; step < 40; step++) {
        best = fmax(best, fmax(at_p, at_q));
        if (at_p < at_q) {
            a = p, p = q, at_p = at_q, q = a + golden * (b - a);
            at_q = value(c, q);
        } else {
            b = q, q = p, at_q = at_p, p = b - golden * (b - a);
            at_p = value(c, p);
        }
    }
    return best;
}

static double best_dual(const fenp_claim *c)
{
    if (c->power < 1.0)
        return fenp_least_over_norms(c->tangents, c->tangent_count, c->lambda, c->power);
    if (!c->free_par || c->price > 0.0)
        return fenp_best_dual_value(dual_value, c, c->dual_norm, c->lambda, c->power);
    const double only = dual_value(c, 1.0);
    return isnan(only) ? -INFINITY : only; /* nu asks for more than the labels have */
}

/* ---- how far from the conditions of an optimum ------------------------------------------- */

/* |z_i + loss'(t_i)| of a smooth loss. Where slopes jump, the distance of t_i from the point
 * that a proximal step along -z_i leads to, over the step: 0 exactly where -z_i is a slope at
 * t_i, and continuous. */
static double distance(const fenp_claim *c, int64_t i, double z, double step)
{
    const double y = c->y[i] - c->shift, t = score_at(c, i);
    double low, high;
    if (c->loss->smoothness == 0.0)
        return fabs(t - c->loss->prox(y, t - step * z, step, c->par)) / step;
    c->loss->slopes(y, t, c->par, &low, &high);
    return fmax(fmax(low + z, -z - high), 0.0);
}

double fenp_claim_stationarity(const fenp_claim *c, const double *u)
{
    double worst = 0.0, largest = 0.0, reach = 0.0;
    for (int64_t i = 0; i < c->n; i++) {
        if (c->w[i] == 0.0) continue;
        largest = fmax(largest, fabs(u[i] / c->w[i]));
        reach = fmax(reach, fmax(fabs(c->y[i] - c->shift), fabs(score_at(c, i))));
    }
    const double step = largest > 0.0 && reach > 0.0 ? reach / largest : 1.0;
    for (int64_t i = 0; i < c->n; i++)
        if (c->w[i] > 0.0) worst = fmax(worst, distance(c, i, u[i] / c->w[i], step));
    return fmax(largest > 0.0 ? worst / largest : worst, c->mismatch);
}

/* ---- the verdict ------------------------------------------------------------------------- */

/* Where y is constant to rounding, or met to rounding, both numbers are rounding errors: then
 * 1e7 times the loss of an error in the last digits. That changes the unit of the gap, never D:
 * P - D bounds what is lost, and "optimal" says that it is ten such losses at most. All go with the
 * scale of y: rescaling changes no verdict. The objective of a parameter that earns is negative,
 * and its null is 0. */
double fenp_gap_unit(const fen_certificate *of, double digits)
{
    const double null = of->null < INFINITY ? of->null : 0.0;
    const double unit = fmax(fabs(of->primal), 1e-12 * null);
    const int rounding = null <= digits || fabs(of->primal) <= 8.0 * digits;
    return rounding ? fmax(unit, 1e7 * digits) : unit;
}

double fenp_claim_digits(const fenp_claim *c)
{
    long double sum = 0.0L;
    if (c->free_par && c->price < 0.0)
        return DBL_EPSILON * c->price * c->price * c->spread / (4.0 * c->lambda);
    if (!c->loss->residual) return 0.0;
    for (int64_t i = 0; i < c->n; i++)
        sum += (long double)c->w[i] * fenp_loss_of_digits(c->loss, c->y[i], c->par);
    return sum < INFINITY ? (double)sum : 0.0;
}

/* P >= D is a theorem: where D comes out above P by more than rounding, neither number is worth
 * anything, and there is no bound. */
void fenp_certificate_close(fen_certificate *c, double unit, double tolerance, int drowned)
{
    /* above it by rounding alone: a smaller bound is one too, and by as much it may be wrong */
    if (c->dual > c->primal)
        c->dual = c->dual < c->primal + 1e-9 * unit ? c->primal : 2.0 * c->primal - c->dual;
    c->gap = c->primal - c->dual;
    c->relative_gap = unit > 0.0 && c->gap < INFINITY ? c->gap / unit : c->gap;
    c->norm_distance = c->bias_distance = c->optimum_distance = NAN;
    const int proved = fabs(c->relative_gap) <= tolerance;
    const double met = (proved ? 1e-9 : 1e-6) * c->null; /* a loss that counts as 0 */
    const int fits =
        c->null < INFINITY && (c->mean_loss <= met || (!proved && c->primal <= c->null));
    c->verdict = drowned && fits ? FEN_VERDICT_INTERPOLATION
                 : proved        ? FEN_VERDICT_OPTIMAL
                                 : FEN_VERDICT_STALLED;
}

/* shrinkage: lambda2; below floor it drowns in the rounding errors of the kernel, times the
 * curvature of the loss. Losses without any know no such thing. */
static fen_certificate judge(const fenp_claim *c, const double *u, double tolerance,
                             double shrinkage, double floor)
{
    fen_certificate out = { 0 };
    out.mean_loss = fenp_claim_mean_loss(c);
    out.norm = c->norm;
    out.primal = out.mean_loss + c->lambda * c->penalty->value(c->norm, c->power);
    if (c->free_par) out.primal += c->price * c->par[0];
    const double dual = out.dual = best_dual(c);
    out.null = fenp_claim_null(c);
    out.stationarity = fenp_claim_stationarity(c, u);
    const int drowned = c->loss->smoothness > 0.0 && shrinkage <= 0.5 * c->loss->smoothness * floor;
    fenp_certificate_close(&out, fenp_gap_unit(&out, fenp_claim_digits(c)), tolerance, drowned);
    if (c->size) fenp_claim_distance(c, dual, &out);
    return out;
}

double fenp_null_objective(const fen_loss *loss, const double *par, const double *y,
                           const double *w, int64_t n, int bias)
{
    const fenp_claim c = { .loss = loss, .par = par, .y = y, .w = w, .n = n, .bias = bias };
    return fenp_claim_null(&c);
}

/* ---- a whole model ----------------------------------------------------------------------- */

/* What a certificate is computed with: pieces of one arena. */
typedef struct desk {
    double *coef;           /* targets x n: u, then as many: the feasible u          */
    double *products;       /* n x 2 targets: the kernel matrix times all of them    */
    double *f, *z, *w;      /* n each, of one target                                 */
    double *slack;          /* n: of f                                               */
    double *size;           /* n: |phi(x_i)|_q of penalty lp                         */
    double *g;              /* p                                                     */
    double diagonal;        /* mean k(x,x)                                           */
    double spread;          /* see fenp_claim                                        */
    const fenp_line *lines; /* power < 1: of all targets                             */
    fenp_forms forms;       /* penalty lp, but for linear kernels: of coef           */
} desk;

static int64_t work_bytes(const fenp_size *size, int64_t tangents)
{
    return 2 * fenp_arena_bytes(2 * size->n * size->targets) + 5 * fenp_arena_bytes(size->n) +
           fenp_arena_bytes(size->p) + (tangents ? fenp_tangents_room(size, tangents) : 0);
}

int64_t fenp_certify_bytes(const fenp_size *size)
{
    const int tensor = fenp_is_lp(&size->kernel) && !size->kernel.table->linear;
    return work_bytes(size, size->power < 1.0 ? FENP_NODES_MAX * size->targets : 0) +
           (tensor
                ? fenp_forms_room(&size->kernel, size->n, size->p, 2 * size->targets, size->targets)
                : 0);
}

static desk open_desk(fenp_arena *arena, const fen_model *m)
{
    const int64_t all = m->n * m->targets;
    return (desk){ .coef = fenp_arena_doubles(arena, 2 * all),
                   .products = fenp_arena_doubles(arena, 2 * all),
                   .f = fenp_arena_doubles(arena, m->n),
                   .z = fenp_arena_doubles(arena, m->n),
                   .w = fenp_arena_doubles(arena, m->n),
                   .slack = fenp_arena_doubles(arena, m->n),
                   .size = fenp_arena_doubles(arena, m->n),
                   .g = fenp_arena_doubles(arena, m->p) };
}

fenp_claim fenp_claim_of(const fen_model *m, const fenp_sample *sample, int64_t t, double spread,
                         double *w)
{
    static const double none = 0.0;
    const double *y = sample->y + t * m->n, *par = &m->output[t].par;
    const int free_par = m->nu > 0.0;
    long double whole = 0.0L;
    fenp_output_weights(m->loss, y, sample->w, m->n, w);
    for (int64_t i = 0; i < m->n; i++) whole += w[i];
    fenp_claim c = { .loss = m->loss,
                     .par = par,
                     .dual_par = free_par ? &none : par,
                     .price = free_par ? m->loss->price * m->nu * (double)whole : 0.0,
                     .free_par = free_par,
                     .penalty = fenp_find_penalty("rkhs"),
                     .y = y,
                     .w = w,
                     .n = m->n,
                     .spread = spread,
                     .lambda = m->lambda,
                     .power = m->power,
                     .offset = m->offset[t],
                     .bias = m->bias,
                     .tangent_count = m->tangent_count };
    c.shift = fenp_claim_shift(&c);
    return c;
}

double fenp_best_constant(const fen_model *m, const fenp_sample *sample, int64_t t, double *w,
                          double *par)
{
    const fenp_claim c = fenp_claim_of(m, sample, t, 0.0, w);
    return fenp_claim_constant(&c, par);
}

/* u of every target over all rows, and made feasible. */
static void lay_out_duals(const fen_model *m, const fenp_sample *sample, desk *d)
{
    const int64_t n = m->n, all = n * m->targets;
    memset(d->coef, 0, (size_t)all * sizeof(double));
    for (int64_t t = 0; t < m->targets; t++) {
        const double *stored = m->dual + t * (m->support ? m->kept : n);
        double *u = d->coef + t * n;
        for (int64_t k = 0; k < (m->support ? m->kept : n); k++)
            u[m->support ? m->support[k] : k] = stored[k];
        const fenp_claim c = fenp_claim_of(m, sample, t, d->spread, d->w);
        fenp_claim_feasible(&c, u, d->coef + all + t * n);
    }
}

/* Linear models: f = X weights, ||f|| = |weights|, ||g|| = |X'u|; at the optimum weights
 * and coef_scale X'u are the same vector. */
static void linear_products(const fen_model *m, const fenp_sample *sample, int64_t t,
                            const double *u, fenp_claim *c, double *f, double *g)
{
    const int n = (int)m->n, p = (int)m->p;
    const double *weights = m->weights + t * m->p;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, p, 1.0, sample->x, p, weights, 1, 0.0, f, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, p, 1.0, sample->x, p, u, 1, 0.0, g, 1);
    c->norm = cblas_dnrm2(p, weights, 1);
    c->dual_norm = cblas_dnrm2(p, g, 1);
    for (int64_t j = 0; j < p; j++) g[j] = weights[j] - m->coef_scale[t] * g[j];
    c->mismatch = c->norm > 0.0 ? cblas_dnrm2(p, g, 1) / c->norm : 0.0;
}

static void kernel_norms(const fen_model *m, int64_t t, const double *coef, const double *products,
                         fenp_claim *c, double *f)
{
    const int64_t n = m->n, columns = 2 * m->targets;
    const double *u = coef + t * n, *feasible = coef + (m->targets + t) * n;
    long double square = 0.0L, dual_square = 0.0L;
    for (int64_t i = 0; i < n; i++) {
        const double ku = products[i * columns + t];
        f[i] = m->coef_scale[t] * ku;
        square += (long double)u[i] * ku;
        dual_square += (long double)feasible[i] * products[i * columns + m->targets + t];
    }
    /* u may be too small for its square to be a double */
    c->norm = fabs(m->coef_scale[t]) * (double)sqrtl(fmaxl(square, 0.0L));
    c->dual_norm = (double)sqrtl(fmaxl(dual_square, 0.0L));
}

/* Penalty lp. */
static fen_status lp_norms(const fen_model *m, const fenp_sample *sample, int64_t t, desk *d,
                           fenp_claim *c, const fenp_task *task, fen_error *err)
{
    const double *u = d->coef + t * m->n, *feasible = d->coef + (m->targets + t) * m->n;
    fen_status status = FEN_OK;
    c->size = d->size;
    if (m->weights) {
        status = fenp_claim_by_weights(m, sample, t, u, feasible, c, d->f, task, err);
    } else {
        fenp_forms_scores(&d->forms, t, &m->kernel, m->coef_scale[t], d->f, d->slack, &c->norm);
        c->dual_norm = fenp_forms_dual_norm(&d->forms, m->targets + t, &m->kernel);
        c->slack = d->slack;
    }
    c->predicting = fenp_prediction_rounding(m, t, u, d->size, c->norm);
    return status;
}

static fen_status judge_targets(const fen_model *m, const fenp_sample *sample, desk *d,
                                fen_certificate *out, const fenp_task *task, fen_error *err)
{
    const int64_t n = m->n, all = n * m->targets;
    fen_status status = FEN_OK;
    for (int64_t t = 0; status == FEN_OK && t < m->targets; t++) {
        const double *feasible = d->coef + all + t * n;
        fenp_claim c = fenp_claim_of(m, sample, t, d->spread, d->w);
        c.f = d->f, c.z = d->z;
        c.tangents = d->lines ? d->lines + t * m->tangent_count : NULL;
        for (int64_t i = 0; i < n; i++) d->z[i] = d->w[i] > 0.0 ? feasible[i] / d->w[i] : 0.0;
        if (fenp_model_is_lp(m))
            status = lp_norms(m, sample, t, d, &c, task, err);
        else if (m->weights)
            linear_products(m, sample, t, feasible, &c, d->f, d->g);
        else
            kernel_norms(m, t, d->coef, d->products, &c, d->f);
        if (status == FEN_OK)
            out[t] = judge(&c, d->coef + t * n, m->tolerance, 1.0 / (2.0 * m->coef_scale[t]),
                           (double)n * DBL_EPSILON * d->diagonal);
    }
    return status;
}

/* The mean of k(x,x), and of the centred k(x,x) where that is asked for: a parameter that earns.
 * Penalty lp knows neither. */
static fen_status find_spread(const fen_model *m, const fenp_sample *sample, double *diagonal,
                              double *spread, const fenp_task *task, fen_error *err)
{
    *diagonal = *spread = 0.0;
    if (fenp_model_is_lp(m)) return FEN_OK;
    *spread = *diagonal =
        fenp_gram_mean_diagonal(&m->kernel, fenp_sample_inputs(sample), sample->w);
    if (!(m->nu > 0.0) || m->loss->price > 0) return FEN_OK;
    return fenp_gram_spread(&m->kernel, fenp_sample_inputs(sample), sample->w, spread, task, err);
}

static fen_status certify_whole(const fen_model *m, const fenp_sample *sample, fen_certificate *out,
                                const fenp_task *task, fen_error *err)
{
    const int64_t k = m->targets;
    const fenp_size size = {
        .n = m->n, .p = m->p, .targets = k, .bias = m->bias, .power = m->power
    };
    const fen_view rows = fenp_sample_inputs(sample);
    fenp_arena arena;
    fen_status status =
        fenp_arena_open(&arena, work_bytes(&size, k * m->tangent_count), "the certificate", err);
    if (status != FEN_OK) return status;
    desk d = open_desk(&arena, m);
    status = find_spread(m, sample, &d.diagonal, &d.spread, task, err);
    if (status == FEN_OK) lay_out_duals(m, sample, &d);
    for (int64_t i = 0; fenp_model_is_lp(m) && i < m->n; i++)
        d.size[i] = fenp_feature_norm(&m->kernel, sample->x + i * m->p, m->p);
    if (status == FEN_OK && !m->weights)
        status =
            fenp_model_is_lp(m)
                ? fenp_forms_open(&d.forms, &m->kernel, rows, d.coef, 2 * k, k, task, err)
                : fenp_gram_times(&m->kernel, rows, rows, d.coef, 2 * k, d.products, task, err);
    if (status == FEN_OK && m->tangents)
        status = fenp_tangents_lines(&arena, m, sample, fenp_claim_of(m, sample, 0, d.spread, d.w),
                                     d.z, &d.lines, task, err);
    if (status == FEN_OK) status = judge_targets(m, sample, &d, out, task, err);
    fenp_forms_close(&d.forms);
    fenp_arena_close(&arena);
    return status;
}

fen_status fenp_certify(const fen_model *m, const fenp_sample *sample, fen_certificate *out,
                        const fenp_task *task, fen_error *err)
{
    return m->penalty->parts == FEN_WHOLE ? certify_whole(m, sample, out, task, err)
                                          : fenp_certify_linear(m, sample, out, task, err);
}

/* Targets under one penalty have one certificate and its digits. */
static void join_digits(const fen_model *m, double *digits)
{
    for (int64_t first = 0; first < m->targets; first += m->copies) {
        double sum = 0.0;
        for (int64_t k = 0; k < m->copies; k++) sum += digits[first + k];
        for (int64_t k = 0; k < m->copies; k++) digits[first + k] = sum;
    }
}

fen_status fenp_certify_digits(const fen_model *m, const fenp_sample *sample, double *digits,
                               fen_error *err)
{
    double *w = fenp_new(m->n, sizeof *w), diagonal, spread = 0.0;
    fen_status status = FEN_OK;
    if (!w) return fenp_no_memory(err, fenp_bytes(m->n, 1, sizeof *w), "the certificate");
    if (m->penalty->parts == FEN_WHOLE)
        status = find_spread(m, sample, &diagonal, &spread, NULL, err);
    for (int64_t t = 0; status == FEN_OK && t < m->targets; t++) {
        const fenp_claim c = fenp_claim_of(m, sample, t, spread, w);
        digits[t] = fenp_claim_digits(&c);
    }
    if (m->penalty->parts != FEN_WHOLE) join_digits(m, digits);
    free(w);
    return status;
}

fen_status fenp_check_kernel(const fen_kernel *kernel, const fenp_sample *sample, fen_error *err)
{
    if (kernel->basis != FEN_PRECOMPUTED) return FEN_OK;
    const int64_t n = sample->n;
    fenp_arena arena;
    fen_status status = fenp_arena_open(&arena, fenp_arena_bytes(n * n), "a kernel matrix", err);
    if (status != FEN_OK) return status;
    double *a = fenp_arena_doubles(&arena, n * n), trace = 0.0;
    memcpy(a, sample->x, (size_t)(n * n) * sizeof(double));
    for (int64_t i = 0; i < n; i++) trace += fabs(a[i + i * n]);
    const double rounding = 4.0 * (double)n * DBL_EPSILON * trace;
    for (int64_t i = 0; i < n; i++) a[i + i * n] += rounding;
    int64_t rank;
    status = fenp_cholesky(n, a, n, &rank, NULL, err);
    fenp_arena_close(&arena);
    if (status != FEN_OK || rank == n) return status;
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s: the precomputed kernel is not positive semidefinite (seen at row "
                     "%lld): the objective has no least value; check it, or add a constant to its "
                     "diagonal",
                     sample->title, (long long)(rank + 1));
}
