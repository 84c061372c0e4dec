/* certify.c -- is this model optimal? Primal minus dual, from the definition
 *
 *     P = sum w_i loss(y_i, f(x_i) + b) + lambda ||f||^m
 *     D = - sum w_i loss*(y_i, -z_i) - Psi*(||g||),   u_i = w_i z_i,  g = sum u_i k(x_i, .)
 *         with bias only for sum u_i = 0
 *
 * m < 1: the penalty is not convex and D is nothing. Each of a list of feasible z gives
 *         T_z(r) = - sum w_i loss*(y_i, -z_i) - r ||g||   <=   mean loss of any f of norm r
 *     (weak duality at fixed norm), so the least value over r >= 0 of the largest T_z(r) plus
 *     lambda r^m is a lower bound. Between the kinks of the largest one the sum is concave
 *     in r: the least value is taken at a kink.
 *
 * D <= least possible P <= P holds for every f, b and every feasible z: P - D bounds how
 * far the model is from the optimum, whoever computed it. Nothing here knows a solver.
 * The pair is made exactly feasible first: each z_i is clipped into the domain of the
 * conjugate, sum u = 0 is restored by a shift inside the boxes, and D(t z) is maximised
 * over t in (0, 1], which keeps feasibility. Sums run in long double.
 * Cost: one product of the kernel matrix with two vectors, recomputed in tiles. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "base/registry.h"
#include "story.h"

/* One target, seen from the certificate. */
typedef struct claim {
    const fen_loss *loss;
    const double *par;
    const fen_penalty *penalty;
    const double *y, *w;
    int64_t n;
    double lambda, power, offset;
    double shift; /* taken off labels and scores: see shift_of                          */
    int bias;
    const double *f;           /* n: f(x_i)                                         */
    double norm;               /* ||f||                                             */
    const double *z;           /* n: feasible dual variables                        */
    double dual_norm;          /* ||g|| of them                                     */
    double mismatch;           /* linear: weights against coef_scale X'u, relative  */
    const fenp_line *tangents; /* power < 1: T_z of every stored dual vector   */
    int64_t tangent_count;
} claim;

/* With a bias and a loss of y - t, P and (because sum u = 0) D stay the same when labels and
 * scores lose the same constant. Taking the mean off spares y = 1e9 + noise its cancellation;
 * with the model's own b a wild one would turn the rounding error of sum u into a bound. */
static double shift_of(const claim *c)
{
    long double mean = 0.0L;
    if (!c->bias || !c->loss->residual) return 0.0;
    for (int64_t i = 0; i < c->n; i++) mean += (long double)c->w[i] * c->y[i];
    return (double)mean;
}

static double mean_loss(const claim *c)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < c->n; i++)
        sum += (long double)c->w[i] *
               c->loss->value(c->y[i] - c->shift, c->f[i] + (c->offset - c->shift), c->par);
    return (double)sum;
}

/* - sum w_i loss*(y_i, -t z_i) */
static double minus_conjugates(const claim *c, double t)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < c->n; i++)
        sum -= (long double)c->w[i] * c->loss->conj(c->y[i] - c->shift, -t * c->z[i], c->par);
    return (double)sum;
}

/* D(t z) */
static double dual_value(const void *state, double t)
{
    const claim *c = state;
    return minus_conjugates(c, t) - c->penalty->conj(t * c->dual_norm, c->lambda, c->power);
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

/* A line that is flat but for rounding errors belongs to what no function explains. It holds
 * as it is up to the norm where line + penalty stops rising; larger functions could gain
 * through eigenvalues below n eps trace K alone, which count as 0 throughout (curve.h). */
static int ends_the_search(const fenp_line *now, double r, double lambda, double power)
{
    return now->steepness <= now->noise && r > 0.0 &&
           log(lambda * power) + (power - 1.0) * log(2.0 * r) > log(now->steepness);
}

static double bounding_steepness(const fenp_line *line) { return line->steepness + line->error; }

/* From kink to kink: at each the line gives way to the flatter one that it meets first. */
double fenp_least_over_norms(const fenp_line *tangents, int64_t count, double lambda, double power)
{
    const fen_penalty *penalty = fenp_find_penalty("power");
    const fenp_line zero = { 0.0, 0.0, 0.0, 0.0 };
    fenp_line now = zero;
    double r = 0.0, least;
    for (int64_t k = 0; k < count; k++)
        if (tangents[k].height > now.height) now = tangents[k];
    least = now.height;
    while (bounding_steepness(&now) > 0.0 && !ends_the_search(&now, r, lambda, power)) {
        const double steep = bounding_steepness(&now);
        fenp_line next = zero;
        r = now.height / steep;
        for (int64_t k = 0; k < count; k++) {
            const fenp_line other = tangents[k];
            const double flatter = bounding_steepness(&other);
            const double meets = (now.height - other.height) / (steep - flatter);
            if (flatter < steep && meets < r) r = meets, next = other;
        }
        const double loss = fmax(now.height - steep * r, 0.0);
        least = fmin(least, loss + lambda * penalty->value(r, power));
        now = next;
    }
    return least;
}

/* Slope of b -> sum w loss(y, b): its left and right ends averaged. */
static double slope_at(const claim *c, double b)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < c->n; i++) {
        double low, high;
        c->loss->slopes(c->y[i], b, c->par, &low, &high);
        sum += (long double)c->w[i] * (0.5 * low + 0.5 * high);
    }
    return (double)sum;
}

/* Objective of the best constant (f = 0; b = 0 without bias), by bisection on the slope. */
static double null_value(const claim *c)
{
    double low = 0.0, high = 0.0;
    if (c->bias) {
        low = high = c->y[0];
        for (int64_t i = 1; i < c->n; i++) low = fmin(low, c->y[i]), high = fmax(high, c->y[i]);
        for (int step = 0; step < 200 && low < high; step++) {
            const double middle = 0.5 * low + 0.5 * high;
            if (middle <= low || middle >= high) break;
            if (slope_at(c, middle) < 0.0)
                low = middle;
            else
                high = middle;
        }
    }
    long double sum = 0.0L;
    for (int64_t i = 0; i < c->n; i++)
        sum += (long double)c->w[i] * c->loss->value(c->y[i], high, c->par);
    return (double)sum;
}

/* Clips z into the domains and, with a bias, shifts it until sum w z = 0. Where that cannot
 * be reached z = 0, which is feasible for every loss with a least value, takes its place. */
static void make_feasible(const claim *c, double *z)
{
    for (int pass = 0; pass < 100; pass++) {
        long double sum = 0.0L, size = 0.0L, free = 0.0L;
        for (int64_t i = 0; i < c->n; i++) {
            double low, high; /* slopes are -z */
            c->loss->domain(c->y[i], c->par, &low, &high);
            z[i] = fmin(fmax(z[i], -high), -low);
            sum += (long double)c->w[i] * z[i];
            size += (long double)c->w[i] * fabs(z[i]);
            if (-high < z[i] && z[i] < -low) free += c->w[i];
        }
        if (!c->bias || fabsl(sum) <= DBL_EPSILON * size) return;
        if (free == 0.0L) break;
        for (int64_t i = 0; i < c->n; i++) z[i] -= (double)(sum / free);
    }
    for (int64_t i = 0; i < c->n; i++) z[i] = 0.0;
}

/* Largest distance of -z_i from the slopes of the loss at its score, over the largest |z|. */
static double stationarity(const claim *c, const double *u)
{
    double worst = 0.0, largest = 0.0;
    for (int64_t i = 0; i < c->n; i++) {
        const double z = u[i] / c->w[i];
        double low, high;
        c->loss->slopes(c->y[i] - c->shift, c->f[i] + (c->offset - c->shift), c->par, &low, &high);
        worst = fmax(worst, fmax(low + z, -z - high));
        largest = fmax(largest, fabs(z));
    }
    return fmax(largest > 0.0 ? worst / largest : worst, c->mismatch);
}

/* Where y is constant to rounding, both numbers are rounding errors: then 1e7 times the loss
 * of an error in the last digits of y. All go with the scale of y: rescaling changes no verdict. */
double fenp_gap_unit(const fen_certificate *of, double digits)
{
    const double unit = fmax(of->primal, 1e-12 * of->null);
    return of->null <= digits ? fmax(unit, 1e7 * digits) : unit;
}

double fenp_last_digits(const fen_loss *loss, const double *y, const double *w, int64_t n)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < n; i++)
        sum += (long double)w[i] *
               loss->value(y[i], y[i] * (1.0 + 8.0 * DBL_EPSILON), &loss->parameter.initial);
    return (double)sum;
}

void fenp_certificate_close(fen_certificate *c, double unit, double tolerance, int drowned)
{
    if (c->dual > c->primal && c->dual < c->primal + 1e-9 * unit)
        c->dual = c->primal; /* above it by rounding alone; a smaller bound is one too */
    c->gap = c->primal - c->dual;
    c->relative_gap = unit > 0.0 ? c->gap / unit : c->gap;
    const int met = drowned && c->mean_loss <= 1e-9 * c->null;
    const int proved = fabs(c->relative_gap) <= tolerance;
    c->verdict = met || (drowned && !proved) ? FEN_VERDICT_INTERPOLATION
                 : proved                    ? FEN_VERDICT_OPTIMAL
                                             : FEN_VERDICT_STALLED;
}

/* shrinkage: lambda2; below floor it drowns in the rounding errors of the kernel. */
static fen_certificate judge(const claim *c, const double *u, double tolerance, double shrinkage,
                             double floor)
{
    fen_certificate out = { 0 };
    out.mean_loss = mean_loss(c);
    out.norm = c->norm;
    out.primal = out.mean_loss + c->lambda * c->penalty->value(c->norm, c->power);
    out.dual = c->power < 1.0
                   ? fenp_least_over_norms(c->tangents, c->tangent_count, c->lambda, c->power)
                   : fenp_best_dual_value(dual_value, c, c->dual_norm, c->lambda, c->power);
    out.null = null_value(c);
    out.stationarity = stationarity(c, u);
    const double digits = fenp_last_digits(c->loss, c->y, c->w, c->n);
    fenp_certificate_close(&out, fenp_gap_unit(&out, digits), tolerance, shrinkage <= floor);
    return out;
}

/* coef holds u of every target, then the feasible z as u: products = K coef', both at once. */
static fen_status kernel_products(const fen_model *m, const fenp_sample *sample, const double *coef,
                                  double *products, const fenp_task *task, fen_error *err)
{
    const fen_view rows = fenp_sample_inputs(sample);
    const fen_view centres = { m->inputs ? m->inputs : sample->x, m->n, m->p, m->p };
    return fenp_gram_times(&m->kernel, rows, centres, coef, 2 * m->targets, products, task, err);
}

/* Linear models: f = X weights, ||f|| = |weights|, ||g|| = |X'u|; at the optimum weights
 * and coef_scale X'u are the same vector. */
static void linear_products(const fen_model *m, const fenp_sample *sample, int64_t t,
                            const double *u, claim *c, double *f, double *g)
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
                         claim *c, double *f)
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

/* Vectors of n, products of n or p, and a line of every tangent. */
static int64_t tangent_room(const fenp_size *size, int64_t count)
{
    const int64_t p = size->p, width = size->n > p ? size->n : p;
    return fenp_arena_bytes(count * size->n) + fenp_arena_bytes(count * width) +
           fenp_arena_bytes(count * (int64_t)(sizeof(fenp_line) / sizeof(double)));
}

static int64_t work_bytes(const fenp_size *size, int64_t tangents)
{
    return 2 * fenp_arena_bytes(2 * size->n * size->targets) + 2 * fenp_arena_bytes(size->n) +
           fenp_arena_bytes(size->p) + (tangents ? tangent_room(size, tangents) : 0);
}

int64_t fenp_certify_bytes(const fenp_size *size)
{
    return work_bytes(size, size->power < 1.0 ? FENP_NODES_MAX * size->targets : 0);
}

/* u / w made feasible, as u again */
static void feasible_dual(claim *c, const double *u, double *out)
{
    for (int64_t i = 0; i < c->n; i++) out[i] = u[i] / c->w[i];
    make_feasible(c, out);
    for (int64_t i = 0; i < c->n; i++) out[i] *= c->w[i];
}

/* ---- power < 1: the lines of the stored dual vectors ----------------------------------- */

/* What the lines are computed with; the arrays are pieces of the certificate's arena. */
typedef struct tangents {
    int64_t count;    /* of all targets                                    */
    double *u;        /* count x n: feasible                               */
    double *products; /* count x p, or n x count                           */
    fenp_line *lines; /* count                                             */
} tangents;

static tangents open_tangents(fenp_arena *arena, const fen_model *m)
{
    const int64_t n = m->n, count = m->targets * m->tangent_count;
    tangents s = { .count = count };
    s.u = fenp_arena_doubles(arena, count * n);
    s.products = fenp_arena_doubles(arena, count * (n > m->p ? n : m->p));
    s.lines = (fenp_line *)fenp_arena_doubles(
        arena, count * (int64_t)(sizeof(fenp_line) / sizeof(double)));
    return s;
}

/* ||g|| = |X'u|, known to eps |X| |u|. */
static void linear_steepness(const fen_model *m, const fenp_sample *sample, double trace,
                             tangents *s)
{
    const int n = (int)m->n, p = (int)m->p;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)s->count, p, n, 1.0, s->u, n,
                sample->x, p, 0.0, s->products, p);
    for (int64_t k = 0; k < s->count; k++) {
        s->lines[k].steepness = cblas_dnrm2(p, s->products + k * p, 1);
        s->lines[k].error = DBL_EPSILON * sqrt(trace) * cblas_dnrm2(n, s->u + k * n, 1);
    }
}

/* ||g||^2 = u'Ku, known to eps sqrt(n) k(x,x) |u|^2, the rounding errors of n^2 terms. */
static fen_status kernel_steepness(const fen_model *m, const fenp_sample *sample, double trace,
                                   tangents *s, const fenp_task *task, fen_error *err)
{
    const int64_t n = m->n;
    const fen_view rows = fenp_sample_inputs(sample);
    const fen_view centres = { m->inputs ? m->inputs : sample->x, n, m->p, m->p };
    const fen_status status =
        fenp_gram_times(&m->kernel, rows, centres, s->u, s->count, s->products, task, err);
    for (int64_t k = 0; status == FEN_OK && k < s->count; k++) {
        const double *u = s->u + k * n, size = cblas_dnrm2((int)n, u, 1);
        const double missing = DBL_EPSILON * trace / sqrt((double)n) * size * size;
        long double sum = 0.0L;
        for (int64_t i = 0; i < n; i++) sum += (long double)u[i] * s->products[i * s->count + k];
        const double square = isnan(sum) ? INFINITY : fmax((double)sum, 0.0);
        s->lines[k].steepness = sqrt(square);
        s->lines[k].error = sqrt(square + missing) - sqrt(square);
    }
    return status;
}

/* T_z of every dual vector. */
static fen_status tangent_lines(const fen_model *m, const fenp_sample *sample, claim c, double *z,
                                tangents *s, const fenp_task *task, fen_error *err)
{
    const int64_t n = m->n;
    const double trace =
        (double)n * fenp_gram_mean_diagonal(&m->kernel, fenp_sample_inputs(sample), sample->w);
    for (int64_t k = 0; k < s->count; k++) {
        double *u = s->u + k * n;
        c.y = sample->y + k / m->tangent_count * n;
        if (k % m->tangent_count == 0) c.shift = shift_of(&c);
        feasible_dual(&c, m->tangents + k * n, u);
        for (int64_t i = 0; i < n; i++) z[i] = u[i] / c.w[i];
        s->lines[k].height = minus_conjugates(&c, 1.0);
        s->lines[k].noise = sqrt((double)n * DBL_EPSILON * trace) * cblas_dnrm2((int)n, u, 1);
    }
    if (!m->weights) return kernel_steepness(m, sample, trace, s, task, err);
    linear_steepness(m, sample, trace, s);
    return FEN_OK;
}

/* Every target in turn; coef: all u, then all feasible u; products of the kernel with them. */
static void judge_targets(const fen_model *m, const fenp_sample *sample, claim c,
                          const double *coef, const double *products, const fenp_line *lines,
                          double *f, double *z, double *g, fen_certificate *out)
{
    const int64_t n = m->n;
    const double unit = fenp_gram_mean_diagonal(&m->kernel, fenp_sample_inputs(sample), sample->w);
    c.f = f, c.z = z;
    for (int64_t t = 0; t < m->targets; t++) {
        const double *feasible = coef + (m->targets + t) * n;
        c.y = sample->y + t * n;
        c.offset = m->offset[t];
        c.shift = shift_of(&c);
        c.tangents = lines ? lines + t * m->tangent_count : NULL;
        for (int64_t i = 0; i < n; i++) z[i] = feasible[i] / sample->w[i];
        if (m->weights)
            linear_products(m, sample, t, feasible, &c, f, g);
        else
            kernel_norms(m, t, coef, products, &c, f);
        out[t] = judge(&c, m->dual + t * n, m->tolerance, 1.0 / (2.0 * m->coef_scale[t]),
                       (double)n * DBL_EPSILON * unit);
    }
}

fen_status fenp_certify(const fen_model *m, const fenp_sample *sample, fen_certificate *out,
                        const fenp_task *task, fen_error *err)
{
    const int64_t n = m->n, k = m->targets, all = n * k;
    fenp_arena arena;
    const fenp_size size = { n, m->p, k, m->bias, m->power, 0 };
    fen_status status =
        fenp_arena_open(&arena, work_bytes(&size, k * m->tangent_count), "the certificate", err);
    if (status != FEN_OK) return status;
    double *coef = fenp_arena_doubles(&arena, 2 * all),
           *products = fenp_arena_doubles(&arena, 2 * all);
    double *f = fenp_arena_doubles(&arena, n), *z = fenp_arena_doubles(&arena, n);
    double *g = fenp_arena_doubles(&arena, m->p);
    tangents lines = { .count = 0 };
    claim c = { .loss = m->loss,
                .par = &m->loss->parameter.initial,
                .penalty = fenp_find_penalty("power"),
                .w = sample->w,
                .n = n,
                .lambda = m->lambda,
                .power = m->power,
                .bias = m->bias,
                .tangent_count = m->tangent_count };
    memcpy(coef, m->dual, (size_t)all * sizeof(double));
    for (int64_t t = 0; t < k; t++) {
        c.y = sample->y + t * n;
        feasible_dual(&c, m->dual + t * n, coef + all + t * n);
    }
    c.z = z;
    if (!m->weights) status = kernel_products(m, sample, coef, products, task, err);
    if (status == FEN_OK && m->tangents) {
        lines = open_tangents(&arena, m);
        status = tangent_lines(m, sample, c, z, &lines, task, err);
    }
    if (status == FEN_OK) judge_targets(m, sample, c, coef, products, lines.lines, f, z, g, out);
    fenp_arena_close(&arena);
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
                     "the precomputed kernel is not positive semidefinite (seen at row %lld): the "
                     "objective has no least value; check it, or add a constant to its diagonal",
                     (long long)(rank + 1));
}
