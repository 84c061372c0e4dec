/* plan_linear.c -- what a fit with a penalty on coefficients would take
 *
 * Memory: the columns (dense features are copied, sparse ones are not; the kernel lasso has n^2
 * numbers), what the solver keeps, and the certificate. Rows that stay by rows (setup_linear.c)
 * have the products of all columns, for every fold, instead.
 * Time: every lambda on every fold takes a few passes over the columns, at the speed of memory,
 * and then, with a working set of m columns (all of them, or half as many as rows),
 *   square loss    its Gram matrix once, and m exchanges of all pairs on the whole path
 *   smooth         some Newton steps: n evaluations of the loss and a Gram matrix each
 *   no penalty     triangular factors, or with more columns than rows eigenvectors of these
 *   in pieces      some interior points: a system of n rows and m columns each; more columns
 *                  than rows join in several rounds
 *   by rows        products of all columns once for all folds, and the exchanges
 * Folds run side by side; a path by itself has one thread, or two where it has a matrix of all
 * columns, unless a step is large. Counts are
 * rounded means over a dozen data sets: a plan is good to a factor of 4 or so. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/registry.h"
#include "loss/traits.h"
#include "penalty/traits.h"
#include "promise/ladder.h"
#include "solver/least_squares.h"
#include "solver/products.h"
#include "story.h"

enum { PASSES = 3, SLOW = 8 };       /* per lambda; flops of memory in those of a matrix product */
enum { MOST_WORKING = 2000 };        /* columns of a working set                                 */
enum { STEPS = 8, STEP_ROW = 2000 }; /* Newton: per lambda; flops of a row             */
enum { POINTS = 25, POINT_ROW = 3500, ROUNDS = 4 }; /* interior: per round, of a row, per lambda */
enum { SCORE = 600, ROW = 150000 }; /* by rows: of a held-out score; of a row otherwise */
enum { SPECTRUM = 25 };             /* flops of eigenvectors, in cubes of the side */
static const double LARGE = 1e9;    /* flops of a lambda that all threads share                 */
static const double START = 1e-3;   /* seconds before and after                                 */

typedef struct outline {
    fenp_design x;         /* sizes; dense is not looked into          */
    int64_t entries;       /* of the columns                           */
    int64_t lambdas, fits; /* of every output: folds and all rows      */
    int expands, qr, by_rows;
    int open; /* gamma of an expansion is to be chosen                 */
    fenp_linear problem;
} outline;

static outline draw(const fenp_sample *sample, const fenp_settled *settled)
{
    const fen_options *o = &settled->o;
    const fen_loss *loss = fenp_find_loss(o->loss);
    const int none = fenp_is_none(settled->penalty.penalty);
    const int joint = settled->penalty.how && strcmp(settled->penalty.how, "targets") == 0;
    const fen_kernel *kernel = fenp_find_kernel(o->kernel);
    outline out = { .expands = !kernel->linear };
    out.open = fenp_gamma_is_open(o, kernel);
    out.x = (fenp_design){ .n = sample->n,
                           .p = out.expands ? sample->n : sample->p,
                           .copies = joint ? sample->targets : 1,
                           .dense = sample->start ? NULL : sample->y };
    out.entries = sample->start ? sample->start[sample->p] : out.x.n * out.x.p;
    out.lambdas = none ? 1 : fenp_count_lambdas_linear(o);
    out.fits = out.lambdas > 1 ? 1 + fenp_count_folds_linear(o, sample->n) : 1;
    const int met = out.x.p + o->bias >= out.x.n && strcmp(o->engine, "auto") == 0;
    out.qr = none && !o->nonnegative && (fenp_is_square(loss) || met); /* labels, if it is not */
    const int64_t left = fenp_memory_limit(o) - fenp_memory_resident();
    out.problem = (fenp_linear){
        .loss = loss, .mix = settled->penalty.par, .engine = o->engine, .room = left > 0 ? left : 1
    };
    fenp_linear tall = out.problem;
    tall.x = &out.x;
    out.by_rows = out.x.dense && !out.expands &&
                  fenp_stays_by_rows(&tall, sample->targets, settled->penalty.how != NULL, o,
                                     fenp_purpose_of(settled));
    return out;
}

static const char *engine_of(const outline *s)
{
    if (strcmp(s->problem.engine, "auto") != 0) return s->problem.engine;
    return s->qr ? "qr" : !s->problem.loss->curvature ? "interior" : "active-set";
}

static void name_method(const outline *s, fen_plan *plan)
{
    const char *engine = engine_of(s);
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
    const char *gamma = s->open ? ", gamma by leave-one-out of ridge regression" : "";
    if (s->lambdas > 1)
        snprintf(plan->selection, sizeof plan->selection, "%s, %lld lambdas on %lld rows%s%s",
                 o->select, (long long)s->lambdas, (long long)s->x.n,
                 o->lambda.choice == FEN_AUTO ? ", more (and longer) if the last is the best" : "",
                 gamma);
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

/* The sums of the folds, and the paths side by side: as many as half of the room allows. */
static int64_t bytes_by_rows(const outline *s, int64_t targets)
{
    const fenp_design rows = { .n = s->x.n, .p = s->x.p, .copies = 1, .by_rows = s->x.dense };
    fenp_linear problem = s->problem;
    problem.x = &rows;
    const int64_t folds = s->fits - 1;
    const int64_t each = fenp_linear_bytes(&problem) +
                         (folds > 0 ? fenp_ladder_fold_bytes(&rows, folds, s->lambdas) : 0);
    const int64_t fit = s->problem.room / 2 / each;
    const int64_t threads = omp_get_max_threads(), most = s->fits < threads ? s->fits : threads;
    const int64_t sums = fenp_products_bytes(s->x.p, targets, folds > 0 ? folds : 1);
    return sums < 0 ? -1 : sums + each * (fit < 1 ? 1 : fit < most ? fit : most);
}

/* Columns, solver and certificate. */
static int64_t bytes_of(const outline *s, int64_t targets)
{
    fenp_linear problem = s->problem;
    problem.x = &s->x;
    if (s->by_rows) {
        const int64_t sums = bytes_by_rows(s, targets);
        const int64_t rest = fenp_bytes(targets, 8 * s->x.n, sizeof(double));
        return sums < 0 || rest < 0 ? INT64_MAX / 4 : sums + rest;
    }
    const int64_t columns = s->x.dense ? fenp_bytes(s->x.n, s->x.p, sizeof(double)) : 0;
    const int64_t solver = s->qr ? qr_bytes(s, targets) : fenp_linear_bytes(&problem);
    const int64_t answers = fenp_bytes(targets, 6 * s->x.n + 3 * s->x.p, sizeof(double));
    return columns < 0 || solver < 0 || answers < 0 ? INT64_MAX / 4 : columns + solver + answers;
}

/* Of one lambda, one fit, one output. */
static double solving_flops(const outline *s)
{
    const double entries = (double)s->entries, n = (double)s->x.n, p = (double)s->x.p;
    const double half = 0.5 * n < MOST_WORKING ? 0.5 * n : MOST_WORKING, m = p < half ? p : half;
    const double gram = 2.0 * m * m * (s->x.dense ? n : SLOW * entries / (p + 1.0));
    const double passes = PASSES * SLOW * 2.0 * entries, lambdas = (double)s->lambdas;
    if (strcmp(engine_of(s), "interior") == 0)
        return passes +
               POINTS * (p > n ? ROUNDS : 1) * (POINT_ROW * n + 2.0 * n * m * m); /* dense there */
    if (fenp_is_square(s->problem.loss)) return passes + (gram + SLOW * 2.0 * m * m * m) / lambdas;
    return passes + STEPS * (STEP_ROW * n + gram);
}

static double seconds_of(const outline *s, int64_t targets)
{
    const double n = (double)s->x.n, p = (double)s->x.p, rate = fenp_measured_rate();
    if (s->qr && n < p) return START + (2.0 * n * n * p + SPECTRUM * n * n * n) / rate;
    if (s->qr) return START + 4.0 * n * p * p / rate;
    if (s->by_rows)
        return START + (n * p * p + (double)(s->fits * targets) * SLOW * 2.0 * p * p * p +
                        n * (double)targets * ((double)s->lambdas * (2.0 * p + SCORE) + ROW)) /
                           rate;
    const double each = solving_flops(s), fits = (double)(s->fits * targets);
    const double threads = omp_get_max_threads();
    const double at_once = (double)s->fits < threads ? (double)s->fits : threads;
    const double share = each > LARGE ? 1.0 : at_once / threads; /* of the threads that work */
    return START + fits * (double)s->lambdas * each / (share * rate) +
           (s->open ? 10.0 * n * n * n / rate : 0.0);
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
    plan.seconds = seconds_of(&s, sample->targets);
    plan.fits = plan.peak_bytes <= plan.limit_bytes;
    name_method(&s, &plan);
    name_selection(&s, o, &plan);
    if (!plan.fits) snprintf(plan.advice, sizeof plan.advice, "%s", advice_of(&s));
    *out = plan;
}
