/* tensor.c -- one gradient of the form of a tensor kernel by several routes
 *
 *     bench_tensor ROWS COLUMNS SEED      q = 4, polynomial kernel of degree 2; jobs:
 *
 * packed     the gradient out of the packed tensor
 * gemv       out of the whole one: n^2 x n^2 matrix times a (x) a, then times a
 * features   out of the features, N = COLUMNS (COLUMNS + 1) / 2, which are read once
 * products   the same as the paper does it: two matrix products, which read them twice
 * pairs      out of the matrix of all pairs i <= j, n(n+1)/2 on a side, times a (x) a
 * bytes      not seconds: what the packed tensor takes
 * gradient packed, gradient features, newton packed, newton features
 *            one iteration of lp-gradient and lp-newton for the problem of lp_problem.h, on the
 *            way to a gap of 1e-8; begin is not part of it
 * Seconds are means over as many as take a twentieth of a second. The first answer of each
 * is held against the packed one. */
#include "lp_problem.h"

static const double LEAST_SECONDS = 0.05, AGREEMENT = 1e-9;

typedef struct tensor_data {
    lp_problem l;
    fenp_form form, features;
    fenp_arena arena, wide;     /* of the two */
    double *a, *om, *reference; /* n */
    double *whole, *pairs;      /* n^2 x n^2, M x M: made by the first job that needs them */
    double *outer, *product;    /* n^2 */
    double *weights;            /* N */
} tensor_data;

typedef void (*evaluation)(tensor_data *d);

static double mean_seconds(tensor_data *d, evaluation once)
{
    int64_t count = 0;
    const double start = fenp_now();
    do {
        once(d);
        count++;
    } while (fenp_now() - start < LEAST_SECONDS);
    return (fenp_now() - start) / (double)count;
}

/* Kernel matrix of all points x_i * x_j, i <= j alone or all n^2. */
static double *points_matrix(const tensor_data *d, int all, int64_t *side)
{
    const int64_t n = d->l.sample.n, p = d->l.sample.p;
    double *points = room(n * n * p, sizeof *points);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = all ? 0 : i; j < n; j++, count++)
            for (int64_t k = 0; k < p; k++)
                points[count * p + k] = d->l.sample.x[i * p + k] * d->l.sample.x[j * p + k];
    double *matrix = room(count * count, sizeof *matrix);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)count, (int)p, 1.0,
                points, (int)p, points, (int)p, 0.0, matrix, (int)count);
    d->l.kernel.table->map(matrix, count * count, &d->l.kernel.par);
    free(points);
    *side = count;
    return matrix;
}

static void check(const tensor_data *d, const char *what)
{
    for (int64_t i = 0; i < d->l.sample.n; i++)
        if (fabs(d->om[i] - d->reference[i]) >
            AGREEMENT * cblas_dnrm2((int)d->l.sample.n, d->reference, 1)) {
            fprintf(stderr, "%s and the packed tensor do not agree\n", what);
            exit(EXIT_FAILURE);
        }
}

static void open_form(const tensor_data *d, const char *name, fenp_arena *arena, fenp_form *out)
{
    const fenp_route *route = fenp_find_route(name);
    const fenp_form_size size = { d->l.sample.n, d->l.sample.p, d->l.kernel, 0 };
    fen_error err;
    must(fenp_arena_open(arena, route->bytes(&size), "a form", &err), &err);
    must(route->open(arena, &size, fenp_sample_inputs(&d->l.sample), out, NULL, &err), &err);
}

/* ---- jobs ---------------------------------------------------------------------------------- */

static void packed_once(tensor_data *d) { d->form.route->scores(&d->form, d->a, d->om); }

static void gemv_once(tensor_data *d)
{
    const int n = (int)d->l.sample.n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) d->outer[i * n + j] = d->a[i] * d->a[j];
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n * n, n * n, 1.0, d->whole, n * n, d->outer, 1, 0.0,
                d->product, 1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1.0, d->product, n, d->a, 1, 0.0, d->om, 1);
}

static void pairs_once(tensor_data *d)
{
    const int n = (int)d->l.sample.n, side = n * (n + 1) / 2;
    int at = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) d->outer[at++] = (i == j ? 1.0 : 2.0) * d->a[i] * d->a[j];
    cblas_dgemv(CblasRowMajor, CblasNoTrans, side, side, 1.0, d->pairs, side, d->outer, 1, 0.0,
                d->product, 1);
    memset(d->om, 0, (size_t)n * sizeof *d->om);
    for (int i = at = 0; i < n; i++)
        for (int j = i; j < n; j++, at++) {
            d->om[i] += d->product[at] * d->a[j];
            if (j > i) d->om[j] += d->product[at] * d->a[i];
        }
}

static double time_packed(void *data) { return mean_seconds(data, packed_once); }

static double time_gemv(void *data)
{
    tensor_data *d = data;
    int64_t side;
    if (!d->whole) {
        d->whole = points_matrix(d, 1, &side);
        gemv_once(d);
        check(d, "gemv");
    }
    return mean_seconds(d, gemv_once);
}

static double time_pairs(void *data)
{
    tensor_data *d = data;
    int64_t side;
    if (!d->pairs) {
        d->pairs = points_matrix(d, 0, &side);
        pairs_once(d);
        check(d, "pairs");
    }
    return mean_seconds(d, pairs_once);
}

static void features_once(tensor_data *d) { d->features.route->scores(&d->features, d->a, d->om); }

static double time_features(void *data)
{
    tensor_data *d = data;
    if (!d->features.route) {
        open_form(d, "features", &d->wide, &d->features);
        features_once(d);
        check(d, "features");
    }
    return mean_seconds(d, features_once);
}

static void products_once(tensor_data *d)
{
    const int n = (int)d->l.sample.n, count = (int)d->l.features;
    cblas_dgemv(CblasRowMajor, CblasTrans, n, count, 1.0, d->l.phi, count, d->a, 1, 0.0, d->weights,
                1);
#pragma omp parallel for schedule(static)
    for (int k = 0; k < count; k++) d->weights[k] *= d->weights[k] * d->weights[k];
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, count, 1.0, d->l.phi, count, d->weights, 1, 0.0,
                d->om, 1);
}

static double time_products(void *data)
{
    tensor_data *d = data;
    if (!d->weights) {
        d->weights = room(d->l.features, sizeof *d->weights);
        products_once(d);
        check(d, "products");
    }
    return mean_seconds(d, products_once);
}

static double packed_bytes(void *data)
{
    const tensor_data *d = data;
    return (double)d->form.route->bytes(&d->form.size);
}

/* Packed, one solve is over in a few milliseconds: several of them. */
static double iteration(tensor_data *d, const char *solver, const char *route)
{
    double seconds = 0.0;
    int64_t steps = 0;
    while (seconds < LEAST_SECONDS) {
        const lp_run run = lp_solve(&d->l, solver, route, 1e-8, d->om);
        if (!(run.gap <= 1e-8) || run.steps == 0) {
            fprintf(stderr, "%s, %s: a gap of %g after %lld steps\n", solver, route, run.gap,
                    (long long)run.steps);
            exit(EXIT_FAILURE);
        }
        seconds += run.seconds, steps += run.steps;
    }
    return seconds / (double)steps;
}

static double gradient_packed(void *data) { return iteration(data, "lp-gradient", "packed"); }
static double gradient_features(void *data) { return iteration(data, "lp-gradient", "features"); }
static double newton_packed(void *data) { return iteration(data, "lp-newton", "packed"); }
static double newton_features(void *data) { return iteration(data, "lp-newton", "features"); }

/* ---- all of it ----------------------------------------------------------------------------- */

static tensor_data prepare(int64_t rows, int64_t columns, uint64_t seed)
{
    tensor_data d = { .l = lp_problem_new(rows, columns, 6, 4.0 / 3.0, "tensor-polynomial", 1.0,
                                          seed) };
    open_form(&d, "packed", &d.arena, &d.form);
    d.a = room(rows, sizeof(double));
    d.om = room(rows, sizeof(double));
    d.reference = room(rows, sizeof(double));
    d.outer = room(rows * rows, sizeof(double));
    d.product = room(rows * rows, sizeof(double));
    fill_normal(seed, 5, rows, d.a);
    d.form.route->scores(&d.form, d.a, d.reference);
    return d;
}

int main(int argc, char **argv)
{
    static const job jobs[] = { { "packed", time_packed },
                                { "gemv", time_gemv },
                                { "pairs", time_pairs },
                                { "features", time_features },
                                { "products", time_products },
                                { "bytes", packed_bytes },
                                { "gradient packed", gradient_packed },
                                { "gradient features", gradient_features },
                                { "newton packed", newton_packed },
                                { "newton features", newton_features } };
    if (argc != 4) {
        fprintf(stderr, "usage: bench_tensor ROWS COLUMNS SEED\n");
        return EXIT_FAILURE;
    }
    const fenp_threads before = fenp_threads_enter(0);
    tensor_data d = prepare(strtoll(argv[1], NULL, 10), strtoll(argv[2], NULL, 10),
                            strtoull(argv[3], NULL, 10));
    const int code = serve(jobs, sizeof jobs / sizeof *jobs, &d);
    fenp_arena_close(&d.arena);
    if (d.features.route) fenp_arena_close(&d.wide);
    free(d.a), free(d.om), free(d.reference), free(d.outer), free(d.product);
    free(d.whole), free(d.pairs), free(d.weights);
    lp_problem_free(&d.l);
    fenp_threads_leave(before);
    return code;
}
