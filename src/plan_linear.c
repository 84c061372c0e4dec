/* plan_linear.c -- what a fit with a penalty on coefficients would take
 *
 * Memory: the columns (dense features are copied, sparse ones are not; the kernel lasso has n^2
 * numbers), what the solver keeps, and the certificate. Time: every lambda on every fold takes a
 * few passes over the columns, at the speed of memory, and Gram matrices of working sets. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/registry.h"
#include "loss/traits.h"
#include "solver/least_squares.h"
#include "story.h"

enum { PASSES = 3, SLOW = 8 }; /* per lambda; flops of memory in those of a matrix product */
enum { WORKING = 300 };        /* columns of a working set that is small */

typedef struct outline {
    fenp_design x;         /* sizes; dense is not looked into          */
    int64_t entries;       /* of the columns                           */
    int64_t lambdas, fits; /* of every output: folds and all rows      */
    int expands, qr;
    fenp_linear problem;
} outline;

static outline draw(const fenp_sample *sample, const fenp_settled *settled)
{
    const fen_options *o = &settled->o;
    const fen_loss *loss = fenp_find_loss(o->loss);
    const int none = strcmp(settled->penalty.penalty->name, "none") == 0;
    const int joint = settled->penalty.how && strcmp(settled->penalty.how, "targets") == 0;
    outline out = { .expands = !fenp_find_kernel(o->kernel)->linear };
    out.x = (fenp_design){ .n = sample->n,
                           .p = out.expands ? sample->n : sample->p,
                           .copies = joint ? sample->targets : 1,
                           .dense = sample->x };
    out.entries = sample->x ? out.x.n * out.x.p : sample->start[sample->p];
    out.lambdas = none ? 1 : fenp_count_lambdas_linear(o);
    out.fits = out.lambdas > 1 ? 1 + fenp_count_folds_linear(o, sample->n) : 1;
    out.qr = none && fenp_is_square(loss) && !o->nonnegative;
    out.problem = (fenp_linear){ .loss = loss, .mix = settled->penalty.par, .engine = o->engine };
    return out;
}

static void name_method(const outline *s, const fenp_settled *settled, fen_plan *plan)
{
    const int groups = settled->penalty.penalty->parts == FEN_GROUPS;
    const fen_loss *loss = s->problem.loss;
    const char *engine = settled->o.engine;
    if (strcmp(engine, "auto") == 0)
        engine = s->qr                                          ? "qr"
                 : !loss->curvature                             ? "interior"
                 : s->x.dense || fenp_is_square(loss) || groups ? "active-set"
                                                                : "coordinate";
    snprintf(plan->method, sizeof plan->method, "%s", engine);
    snprintf(plan->why, sizeof plan->why, "%s%s",
             strcmp(engine, "qr") == 0           ? "triangular factors of the columns"
             : strcmp(engine, "interior") == 0   ? "working sets of columns, interior points"
             : strcmp(engine, "coordinate") == 0 ? "working sets of columns, coordinate descent"
                                                 : "working sets of columns, their Gram matrix",
             s->x.dense ? "" : ", sparse columns stay sparse");
}

static void name_selection(const outline *s, const fen_options *o, fen_plan *plan)
{
    const fen_kernel *kernel = fenp_find_kernel(o->kernel);
    const int open =
        s->expands && kernel->uses_gamma &&
        (o->gamma.choice == FEN_AUTO || (o->gamma.choice == FEN_GIVEN && o->gamma.count > 1));
    const char *gamma = open ? ", gamma by leave-one-out of ridge regression" : "";
    if (s->lambdas > 1)
        snprintf(plan->selection, sizeof plan->selection, "%s, %lld lambdas on %lld rows%s",
                 o->select, (long long)s->lambdas, (long long)s->x.n, gamma);
    else
        snprintf(plan->selection, sizeof plan->selection, "nothing to select: %s%s",
                 o->lambda.choice == FEN_AUTO ? "there is no penalty" : "lambda is given", gamma);
}

/* Triangles of the columns or, if there are more of them, of the rows; then, in the certificate,
 * the columns or what they span. */
static int64_t qr_bytes(const outline *s, int64_t targets)
{
    const int64_t n = s->x.n, p = s->x.p;
    const int64_t solver = fenp_least_squares_bytes(n, p, targets);
    const int64_t certificate = fenp_bytes(n, p > n ? 4 * n : 2 * p, sizeof(double));
    if (solver < 0 || certificate < 0) return -1;
    return solver > certificate ? solver : certificate;
}

/* Columns, solver and certificate. */
static int64_t bytes_of(const outline *s, int64_t targets)
{
    fenp_linear problem = s->problem;
    problem.x = &s->x;
    const int64_t columns = s->x.dense ? fenp_bytes(s->x.n, s->x.p, sizeof(double)) : 0;
    const int64_t solver = s->qr ? qr_bytes(s, targets) : fenp_linear_bytes(&problem);
    const int64_t answers = fenp_bytes(targets, 6 * s->x.n + 3 * s->x.p, sizeof(double));
    return columns < 0 || solver < 0 || answers < 0 ? INT64_MAX / 4 : columns + solver + answers;
}

static double flops_of(const outline *s, int64_t targets)
{
    const double entries = (double)s->entries, n = (double)s->x.n, p = (double)s->x.p;
    const double working = p < WORKING ? p : WORKING, fits = (double)(s->fits * targets);
    if (s->qr) return 2.0 * n * p * p * (n < p ? n / p : 1.0) + 4.0 * entries;
    return fits * ((double)s->lambdas * PASSES * SLOW * 2.0 * entries +
                   2.0 * (s->x.dense ? n : entries / (p + 1.0)) * working * working) +
           (s->expands ? 10.0 * n * n * n : 0.0);
}

static const char *advice_of(const outline *s)
{
    return s->expands ? "take fewer rows or --kernel linear, or raise --memory" : "raise --memory";
}

fen_status fenp_linear_fits(const fenp_sample *sample, const fenp_settled *settled, fen_error *err)
{
    const outline s = draw(sample, settled);
    return fenp_memory_fits(&settled->o, bytes_of(&s, sample->targets), advice_of(&s), err);
}

void fenp_plan_linear(const fenp_sample *sample, const fenp_settled *settled, fen_plan *out)
{
    const fen_options *o = &settled->o;
    const outline s = draw(sample, settled);
    fen_plan plan = { .rows = sample->n, .features = sample->p, .targets = sample->targets };
    plan.peak_bytes = fenp_memory_resident() + bytes_of(&s, sample->targets);
    plan.limit_bytes = fenp_memory_limit(o);
    plan.seconds = flops_of(&s, sample->targets) / fenp_measured_rate();
    plan.fits = plan.peak_bytes <= plan.limit_bytes;
    name_method(&s, settled, &plan);
    name_selection(&s, o, &plan);
    if (!plan.fits) snprintf(plan.advice, sizeof plan.advice, "%s", advice_of(&s));
    *out = plan;
}
