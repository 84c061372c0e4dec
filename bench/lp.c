/* lp.c -- one problem of the paper on tensor kernels, by our solvers and by the paper's
 *
 *     bench_lp ROWS COLUMNS RELEVANT P KERNEL AMPLITUDE SEED MOST METHOD...
 *
 * Prints one line of JSON for the problem (its least objective F* is that of lp-newton at a
 * relative gap of 1e-12, evaluated anew) and one per METHOD:
 *   lp-newton:ROUTE, lp-gradient:ROUTE   ours, to a relative gap of 1e-8
 *   dual      the paper's Algorithm 2.1 on Phi, from a = 0, delta = theta = 1/2; every search
 *             begins at lambda_0 = gamma / (2 (1 - delta)), as in Algorithm 3.3
 *   primal    gradient of F with the same search, from w = 0; a search begins at twice the
 *             last step, since steps only ever smaller end in standstill
 *   fista     of Beck and Teboulle, step 1 / (gamma |Phi|^2), from w = 0
 *   weights   w by lp-newton: w*, the largest entries, the error on the rows
 * "iterations": to 1e-8 |F*| by the objective (F, or minus the dual one); "by_gap": to a gap of
 * 1e-8 F. -1: not within MOST iterations. "trace": relative distances of the objective. */
#include "lp_problem.h"

enum { VECTORS = 4 };
static const double PRECISION = 1e-8, DELTA = 0.5, THETA = 0.5;
static const int64_t SHOWN = 20; /* entries of w */

typedef struct descent {
    const lp_problem *l;
    double best; /* F* */
    int64_t most;
    double *trace;         /* most + 1       */
    double *wide[VECTORS]; /* N doubles each */
    double *rows[VECTORS]; /* n doubles each */
} descent;

/* ---- arithmetic ---------------------------------------------------------------------------- */

static double signed_power(double x, double power) { return copysign(pow(fabs(x), power), x); }

/* out (N) = Phi'a, out (n) = Phi w */
static void transposed(const lp_problem *l, const double *a, double *out)
{
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)l->sample.n, (int)l->features, 1.0, l->phi,
                (int)l->features, a, 1, 0.0, out, 1);
}

static void forward(const lp_problem *l, const double *w, double *out)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)l->sample.n, (int)l->features, 1.0, l->phi,
                (int)l->features, w, 1, 0.0, out, 1);
}

static double power_sum(const double *w, int64_t count, double power)
{
    double sum = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t k = 0; k < count; k++) sum += pow(fabs(w[k]), power);
    return sum;
}

/* sum |u - step v|^power */
static double power_sum_along(const double *u, const double *v, double step, int64_t count,
                              double power)
{
    double sum = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t k = 0; k < count; k++) sum += pow(fabs(u[k] - step * v[k]), power);
    return sum;
}

static void map_power(double *w, int64_t count, double power)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < count; k++) w[k] = signed_power(w[k], power);
}

static double dot(const double *x, const double *z, int64_t count)
{
    return cblas_ddot((int)count, x, 1, z, 1);
}

/* F of a w with sum |w|^p = sum, from Phi w. */
static double objective(const lp_problem *l, double sum, const double *fitted)
{
    double loss = 0.0;
    for (int64_t i = 0; i < l->sample.n; i++)
        loss += (fitted[i] - l->sample.y[i]) * (fitted[i] - l->sample.y[i]);
    return 0.5 * l->gamma * loss + sum / l->p;
}

/* w = J_q(Phi'a), om = Phi w; returns |w|_p^p = T(a). */
static double look(const lp_problem *l, const double *a, double *w, double *om)
{
    transposed(l, a, w);
    map_power(w, l->features, l->q - 1.0);
    forward(l, w, om);
    return dot(a, om, l->sample.n);
}

static double minus_dual(const lp_problem *l, double form, const double *a)
{
    const int64_t n = l->sample.n;
    return dot(a, l->sample.y, n) - form / l->q - 0.5 * dot(a, a, n) / l->gamma;
}

/* ---- what is said -------------------------------------------------------------------------- */

/* Notes the objective of an iterate; 1: it is precise enough. */
static int note(descent *d, int64_t step, double value)
{
    d->trace[step] = fabs(value - d->best) / d->best;
    return d->trace[step] <= PRECISION;
}

static void say(const descent *d, const char *method, int64_t steps, int64_t by_gap, int64_t noted,
                double seconds)
{
    printf("{\"method\": \"%s\", \"iterations\": %lld, \"by_gap\": %lld, \"seconds\": %.6f, "
           "\"trace\": [",
           method, (long long)steps, (long long)by_gap, seconds);
    for (int64_t k = 0; k < noted; k++) printf("%s%.3g", k ? ", " : "", d->trace[k]);
    printf("]}\n");
    fflush(stdout);
}

/* ---- the paper's method -------------------------------------------------------------------- */

/* Phi'a is kept: a step that is tried needs no product. */
static void run_dual(descent *d)
{
    const lp_problem *l = d->l;
    const int64_t n = l->sample.n, count = l->features;
    double *a = d->rows[0], *om = d->rows[1], *slope = d->rows[2], *next = d->rows[3];
    double *u = d->wide[0], *v = d->wide[1], *w = d->wide[2], form = 0.0, value = 0.0;
    int64_t steps = -1, by_gap = -1, k = 0;
    const double start = fenp_now();
    memset(a, 0, (size_t)n * sizeof *a);
    memset(u, 0, (size_t)count * sizeof *u);
    for (; k <= d->most && by_gap < 0; k++) {
        memcpy(w, u, (size_t)count * sizeof *w);
        map_power(w, count, l->q - 1.0);
        forward(l, w, om);
        for (int64_t i = 0; i < n; i++) slope[i] = om[i] - l->sample.y[i] + a[i] / l->gamma;
        const double square = dot(slope, slope, n), here = value;
        double step = l->gamma / (2.0 * (1.0 - DELTA));
        if (note(d, k, value) && steps < 0) steps = k;
        if (0.5 * l->gamma * square <= PRECISION * objective(l, form, om)) by_gap = k;
        transposed(l, slope, v);
        for (; step > 1e-300; step *= THETA) {
            for (int64_t i = 0; i < n; i++) next[i] = a[i] - step * slope[i];
            form = power_sum_along(u, v, step, count, l->q);
            value = minus_dual(l, form, next);
            if (value - here >= step * (1.0 - DELTA) * square) break;
        }
        memcpy(a, next, (size_t)n * sizeof *a);
        cblas_daxpy((int)count, -step, v, 1, u, 1);
    }
    say(d, "dual", steps, by_gap, k, fenp_now() - start);
}

/* ---- methods for the primal problem -------------------------------------------------------- */

/* slope (N) = gamma Phi'(fitted - y) + J_p(w); returns its square. */
static double primal_slope(const lp_problem *l, const double *w, const double *fitted, double *rest,
                           double *slope)
{
    double square = 0.0;
    for (int64_t i = 0; i < l->sample.n; i++) rest[i] = l->gamma * (fitted[i] - l->sample.y[i]);
    transposed(l, rest, slope);
#pragma omp parallel for schedule(static) reduction(+ : square)
    for (int64_t k = 0; k < l->features; k++) {
        slope[k] += signed_power(w[k], l->p - 1.0);
        square += slope[k] * slope[k];
    }
    return square;
}

/* F at w - step slope; fitted and along: Phi of the two. */
static double value_along(const lp_problem *l, const double *w, const double *slope,
                          const double *fitted, const double *along, double step, double *there)
{
    const double sum = power_sum_along(w, slope, step, l->features, l->p);
    for (int64_t i = 0; i < l->sample.n; i++) there[i] = fitted[i] - step * along[i];
    return objective(l, sum, there);
}

static void run_primal(descent *d)
{
    const lp_problem *l = d->l;
    const int64_t n = l->sample.n;
    double *w = d->wide[0], *slope = d->wide[1];
    double *fitted = d->rows[0], *along = d->rows[1], *there = d->rows[2], *rest = d->rows[3];
    int64_t steps = -1, k = 0;
    double step = 1.0;
    const double start = fenp_now();
    memset(w, 0, (size_t)l->features * sizeof *w);
    memset(fitted, 0, (size_t)n * sizeof *fitted);
    double value = objective(l, 0.0, fitted);
    for (; k <= d->most && steps < 0; k++) {
        if (note(d, k, value)) steps = k;
        const double square = primal_slope(l, w, fitted, rest, slope);
        forward(l, slope, along);
        for (step /= THETA; step > 1e-300; step *= THETA) {
            const double found = value_along(l, w, slope, fitted, along, step, there);
            if (value - found < step * (1.0 - DELTA) * square) continue;
            value = found;
            break;
        }
        cblas_daxpy((int)l->features, -step, slope, 1, w, 1);
        memcpy(fitted, there, (size_t)n * sizeof *fitted);
    }
    say(d, "primal", steps, -1, k, fenp_now() - start);
}

/* s >= 0 with s^m + t s = v: Newton from above, where the function is convex. x = s^m solves
 * x + t x^(p-1) = v, the proximal point of t |x|^p / p, for m = q - 1. */
static double proximal(double v, double t, double m)
{
    const double size = fabs(v);
    double s = fmin(size / t, pow(size, 1.0 / m));
    for (int k = 0; k < 60 && s > 0.0; k++) {
        const double power = pow(s, m - 1.0), less = (s * power + t * s - size) / (m * power + t);
        s -= less;
        if (!(less > 1e-16 * s)) break;
    }
    return copysign(size - t * s, v);
}

/* |Phi|^2, by the power method to 1e-6 and a little more, so that it is no less. */
static double squared_norm(descent *d)
{
    double *v = d->rows[0], *wide = d->wide[0], norm = 0.0, before;
    const int64_t n = d->l->sample.n;
    fill_normal(1, 4, n, v);
    do {
        before = norm;
        cblas_dscal((int)n, 1.0 / cblas_dnrm2((int)n, v, 1), v, 1);
        transposed(d->l, v, wide);
        forward(d->l, wide, v);
        norm = cblas_dnrm2((int)n, v, 1);
    } while (norm - before > 1e-6 * norm);
    return 1.001 * norm;
}

static void run_fista(descent *d)
{
    const lp_problem *l = d->l;
    const int64_t n = l->sample.n, count = l->features;
    const double step = 1.0 / (l->gamma * squared_norm(d)), start = fenp_now();
    double *w = d->wide[0], *ahead = d->wide[1], *slope = d->wide[2];
    double *fitted = d->rows[0], *before = d->rows[1], *rest = d->rows[2];
    double t = 1.0, push = 0.0;
    int64_t steps = -1, k = 0;
    memset(w, 0, (size_t)count * sizeof *w);
    memset(ahead, 0, (size_t)count * sizeof *ahead);
    memset(fitted, 0, (size_t)n * sizeof *fitted);
    memset(before, 0, (size_t)n * sizeof *before);
    for (; k <= d->most && steps < 0; k++) {
        if (note(d, k, objective(l, power_sum(w, count, l->p), fitted))) steps = k;
        for (int64_t i = 0; i < n; i++) /* at the point ahead, Phi of which needs no product */
            rest[i] = l->gamma * (fitted[i] + push * (fitted[i] - before[i]) - l->sample.y[i]);
        transposed(l, rest, slope);
        const double next = 0.5 + sqrt(0.25 + t * t);
        push = (t - 1.0) / next, t = next;
#pragma omp parallel for schedule(static)
        for (int64_t j = 0; j < count; j++) {
            const double old = w[j];
            w[j] = proximal(ahead[j] - step * slope[j], step, l->q - 1.0);
            ahead[j] = w[j] + push * (w[j] - old);
        }
        memcpy(before, fitted, (size_t)n * sizeof *before);
        forward(l, w, fitted);
    }
    say(d, "fista", steps, -1, k, fenp_now() - start);
}

/* ---- ours ---------------------------------------------------------------------------------- */

static void run_ours(descent *d, const char *method)
{
    char name[32];
    const char *route = strchr(method, ':');
    snprintf(name, sizeof name, "%.*s", route ? (int)(route - method) : 31, method);
    const lp_run run = lp_solve(d->l, name, route ? route + 1 : "auto", PRECISION, d->rows[0]);
    const double form = look(d->l, run.a, d->wide[0], d->rows[1]);
    const double value = objective(d->l, form, d->rows[1]);
    printf("{\"method\": \"%s\", \"iterations\": %lld, \"build_seconds\": %.6f, "
           "\"seconds\": %.6f, \"processor_seconds\": %.6f, \"gap\": %.3g, \"true_gap\": %.3g}\n",
           method, (long long)run.steps, run.build, run.seconds, run.processor, run.gap,
           (value - minus_dual(d->l, form, run.a)) / value);
    fflush(stdout);
}

/* ---- weights ------------------------------------------------------------------------------- */

typedef struct entry {
    int64_t at;
    double value;
} entry;

static int by_size(const void *first, const void *second)
{
    const double a = fabs(((const entry *)first)->value), b = fabs(((const entry *)second)->value);
    return (a < b) - (a > b);
}

static void say_weights(descent *d)
{
    const lp_problem *l = d->l;
    entry *all = room(l->features, sizeof *all);
    const lp_run run = lp_solve(l, "lp-newton", "auto", 1e-12, d->rows[0]);
    look(l, run.a, d->wide[0], d->rows[1]);
    for (int64_t k = 0; k < l->features; k++) all[k] = (entry){ k, d->wide[0][k] };
    qsort(all, (size_t)l->features, sizeof *all, by_size);
    printf("{\"method\": \"weights\", \"true\": [");
    for (int64_t k = 0; k < l->relevant; k++)
        printf("%s[%lld, %.6g]", k ? ", " : "", (long long)l->place[k], l->truth[k]);
    printf("], \"largest\": [");
    for (int64_t k = 0; k < l->features && k < SHOWN; k++)
        printf("%s[%lld, %.6g]", k ? ", " : "", (long long)all[k].at, all[k].value);
    printf("], \"all\": [");
    for (int64_t k = 0; k < l->features && l->features <= 10000; k++)
        printf("%s%.4g", k ? ", " : "", d->wide[0][k]);
    printf("]}\n");
    free(all);
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* F* and what every method needs. */
static descent prepare(const lp_problem *l, int64_t most)
{
    descent d = { .l = l, .most = most, .trace = room(most + 1, sizeof(double)) };
    for (int k = 0; k < VECTORS; k++) {
        d.wide[k] = room(l->features, sizeof(double));
        d.rows[k] = room(l->sample.n, sizeof(double));
    }
    const lp_run run = lp_solve(l, "lp-newton", "auto", 1e-12, d.rows[0]);
    const double form = look(l, run.a, d.wide[0], d.rows[1]);
    d.best = objective(l, form, d.rows[1]);
    printf("{\"rows\": %lld, \"columns\": %lld, \"features\": %lld, \"p\": %.17g, "
           "\"objective\": %.12g, \"gap\": %.3g}\n",
           (long long)l->sample.n, (long long)l->sample.p, (long long)l->features, l->p, d.best,
           (d.best - minus_dual(l, form, run.a)) / d.best);
    fflush(stdout);
    return d;
}

int main(int argc, char **argv)
{
    if (argc < 10) {
        fprintf(stderr, "usage: bench_lp ROWS COLUMNS RELEVANT P KERNEL AMPLITUDE SEED MOST "
                        "METHOD...\n");
        return EXIT_FAILURE;
    }
    const fenp_threads before = fenp_threads_enter(0);
    lp_problem l = lp_problem_new(strtoll(argv[1], NULL, 10), strtoll(argv[2], NULL, 10),
                                  strtoll(argv[3], NULL, 10), strtod(argv[4], NULL), argv[5],
                                  strtod(argv[6], NULL), strtoull(argv[7], NULL, 10));
    descent d = prepare(&l, strtoll(argv[8], NULL, 10));
    for (int k = 9; k < argc; k++)
        if (strcmp(argv[k], "dual") == 0)
            run_dual(&d);
        else if (strcmp(argv[k], "primal") == 0)
            run_primal(&d);
        else if (strcmp(argv[k], "fista") == 0)
            run_fista(&d);
        else if (strcmp(argv[k], "weights") == 0)
            say_weights(&d);
        else
            run_ours(&d, argv[k]);
    for (int k = 0; k < VECTORS; k++) free(d.wide[k]), free(d.rows[k]);
    free(d.trace);
    lp_problem_free(&l);
    fenp_threads_leave(before);
    return EXIT_SUCCESS;
}
