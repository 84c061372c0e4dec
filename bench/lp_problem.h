/* lp_problem.h -- the problems of the paper on tensor kernels, and our solvers on them
 *
 *     X ~ N(0,1), rows x columns;  y = Phi w* + sigma e, w* with a few entries that are not zero;
 *     min over w of   F(w) = gamma/2 |Phi w - y|^2 + 1/p |w|_p^p
 *
 * (our lambda is 2 / (n gamma p)). The paper says nothing of the entries of w*: here they are
 * +amplitude or -amplitude, at random. Everything follows from the seed. */
#ifndef BENCH_LP_PROBLEM_H
#define BENCH_LP_PROBLEM_H
#include <math.h>
#include <time.h>
#include <cblas.h>
#include "base/random.h"
#include "base/registry.h"
#include "base/threads.h"
#include "solver/lp.h"
#include "worker.h"

static const double GAMMA = 10.0, SIGMA = 0.05; /* as printed */

typedef struct lp_problem {
    fenp_sample sample;
    fenp_kernel kernel;
    double p, q, gamma;
    int64_t relevant, *place; /* of the entries of w* that are not zero */
    double *truth;            /* those entries                          */
    int64_t features;         /* N                                      */
    double *phi;              /* n x N, row-major; linear: the rows     */
} lp_problem;

static inline void fill_normal(uint64_t seed, uint64_t stream, int64_t count, double *out)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < count; k++) out[k] = fenp_normal(seed, stream, (uint64_t)k);
}

/* Entries of w*: distinct places, since a second hit on one is drawn again. */
static inline void make_truth(lp_problem *l, uint64_t seed, double amplitude)
{
    uint64_t draw = 0;
    for (int64_t k = 0; k < l->relevant;) {
        const int64_t at = (int64_t)(fenp_uniform(seed, 1, draw++) * (double)l->features);
        int64_t same = 0;
        while (same < k && l->place[same] != at) same++;
        if (same < k) continue;
        l->place[k] = at;
        l->truth[k++] = fenp_uniform(seed, 2, draw) < 0.5 ? -amplitude : amplitude;
    }
}

static inline void make_labels(lp_problem *l, uint64_t seed)
{
    fenp_sample *s = &l->sample;
    for (int64_t i = 0; i < s->n; i++) {
        const double *phi = l->phi + i * l->features;
        s->w[i] = 1.0 / (double)s->n;
        s->y[i] = SIGMA * fenp_normal(seed, 3, (uint64_t)i);
        for (int64_t k = 0; k < l->relevant; k++) s->y[i] += phi[l->place[k]] * l->truth[k];
    }
}

/* kernel: linear, or tensor-polynomial of degree 2. */
static inline lp_problem lp_problem_new(int64_t rows, int64_t columns, int64_t relevant, double p,
                                        const char *kernel, double amplitude, uint64_t seed)
{
    lp_problem l = { .p = p, .q = p / (p - 1.0), .gamma = GAMMA, .relevant = relevant };
    if (fenp_even_order(l.q)) l.q = (double)fenp_even_order(l.q);
    fenp_sample *s = &l.sample;
    s->n = rows, s->p = columns, s->targets = 1, s->weight_sum = (double)rows;
    s->x = room(rows * columns, sizeof *s->x);
    s->y = room(rows, sizeof *s->y);
    s->w = room(rows, sizeof *s->w);
    fill_normal(seed, 0, rows * columns, s->x);
    l.kernel.table = fenp_find_kernel(kernel);
    if (!l.kernel.table) {
        fprintf(stderr, "no such kernel: %s\n", kernel);
        exit(EXIT_FAILURE);
    }
    l.kernel.par = (fen_kernel_par){ .gamma = 1.0, .degree = 2.0, .order = l.q };
    l.features = fenp_feature_count(&l.kernel, columns);
    l.phi = s->x;
    if (l.features != columns) {
        l.phi = room(rows * l.features, sizeof *l.phi);
        fenp_features_of(&l.kernel, fenp_sample_inputs(s), l.phi);
    }
    l.place = room(relevant, sizeof *l.place);
    l.truth = room(relevant, sizeof *l.truth);
    make_truth(&l, seed, amplitude);
    make_labels(&l, seed);
    return l;
}

static inline void lp_problem_free(lp_problem *l)
{
    if (l->phi != l->sample.x) free(l->phi);
    free(l->sample.x), free(l->sample.y), free(l->sample.w);
    free(l->place), free(l->truth);
}

/* ---- our solvers --------------------------------------------------------------------------- */

typedef struct lp_run {
    int64_t steps;
    double build, seconds, processor; /* of begin; of the sweeps: by the clock, on all cores */
    double gap;                       /* relative */
    double *a;                        /* n: w = J_q(Phi'a) */
} lp_run;

static inline double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline fenp_size lp_size(const lp_problem *l, const char *route)
{
    return (fenp_size){ .n = l->sample.n,
                        .p = l->sample.p,
                        .targets = 1,
                        .power = l->p,
                        .kernel = l->kernel,
                        .route = route };
}

/* Sweeps until the relative gap is reached, 600 of them at most. a: n, zeroed. */
static inline lp_run lp_solve(const lp_problem *l, const char *name, const char *route, double gap,
                              double *a)
{
    const fenp_solver *solver = fenp_find_solver(name);
    const fenp_size size = lp_size(l, route);
    const fenp_problem problem = { .sample = &l->sample,
                                   .loss = fenp_find_loss("square"),
                                   .par = &(double){ 0.0 },
                                   .kernel = l->kernel,
                                   .lambda = 2.0 / ((double)l->sample.n * l->gamma * l->p),
                                   .power = l->p,
                                   .gap = gap,
                                   .route = route };
    double scale = 0.0, offset = 0.0;
    lp_run run = { .gap = INFINITY, .a = a };
    fenp_arena arena;
    fen_error err;
    void *state = NULL;
    const int64_t n = l->sample.n, weights = l->kernel.table->linear ? l->sample.p : 0;
    double *scores = room(n, sizeof *scores), *w = weights ? room(weights, sizeof *w) : NULL;
    fenp_solution out = { .dual = a, .scale = &scale, .offset = &offset, .weights = w,
                          .scores = scores, .gap = &run.gap };
    memset(a, 0, (size_t)n * sizeof *a);
    const double start = fenp_now();
    must(fenp_arena_open(&arena, solver->bytes(&size), "a form", &err), &err);
    must(solver->begin(&arena, &problem, &state, NULL, &err), &err);
    run.build = fenp_now() - start;
    const double since = fenp_now(), work = processor_seconds();
    for (int sweep = 0; sweep < 600 && !(run.gap <= gap); sweep++)
        must(solver->sweep(state, &problem, &out, NULL, &err), &err);
    run.seconds = fenp_now() - since;
    run.processor = processor_seconds() - work;
    run.steps = fenp_lp_steps(state);
    for (int64_t i = 0; i < n; i++) a[i] *= scale;
    fenp_arena_close(&arena);
    free(scores), free(w);
    return run;
}
#endif
