/* features.c -- a fit on random features, streamed, beside the arithmetic that it cannot avoid
 *
 *     bench_features DATA COLUMNS GAMMA LAMBDA        jobs: fit, read, limit
 *
 * fit:   fen_fit_file: both passes over the file, preparation, features, moments, spectrum,
 *        solution, certificate.
 * read:  the two passes alone: preparation, and blocks of prepared rows.
 * limit: GEMM, sine and cosine, and dsyrk on the same prepared rows, which are in memory
 *        already; tiles of every thread stay in its cache. Nothing is read, prepared, solved
 *        or certified. */
#include <cblas.h>
#include "base/threads.h"
#include "simd/simd.h"
#include "data/source.h"
#include "worker.h"

enum { TILE = 256 }; /* rows: half a second-level cache */

typedef struct features_data {
    fen_options options;
    const char *path;
    int64_t rows, p, columns;
    double *x; /* rows x p, prepared: for the limit */
} features_data;

static double time_fit(void *data)
{
    const features_data *d = data;
    fen_model *model = NULL;
    fen_error err;
    const double start = fenp_now();
    must(fen_fit_file(d->path, &d->options, NULL, &model, &err), &err);
    const double seconds = fenp_now() - start;
    release_optimal(model);
    return seconds;
}

/* Both passes; where store is not NULL the prepared rows go there. */
static void read_twice(features_data *d, double **store)
{
    fenp_source *source = NULL;
    fenp_prep *prep = NULL;
    fenp_summary summary;
    fen_error err;
    int64_t row = 0;
    must(fenp_source_file(d->path, &d->options, &source, &err), &err);
    must(fenp_prep_learn_source(source, &d->options, 0, &prep, &summary, NULL, NULL, &err), &err);
    d->rows = summary.rows;
    d->p = prep->features;
    if (store) *store = room(d->rows * d->p, sizeof **store);
    must(fenp_source_rewind(source, &err), &err);
    for (const fen_table *raw = NULL;;) {
        fenp_sample *block = NULL;
        must(fenp_source_next(source, &raw, &err), &err);
        if (!raw) break;
        must(fenp_prep_block(prep, raw, &block, &err), &err);
        if (store)
            memcpy(*store + row * d->p, block->x, (size_t)(block->n * d->p) * sizeof(double));
        row += block->n;
        fenp_sample_free(block);
    }
    fenp_source_close(source);
    fenp_prep_free(prep);
}

static double time_read(void *data)
{
    features_data *d = data;
    const fenp_threads before = fenp_threads_enter(d->options.threads);
    const double start = fenp_now();
    read_twice(d, NULL);
    const double seconds = fenp_now() - start;
    fenp_threads_leave(before);
    return seconds;
}

static double *some_numbers(int64_t count)
{
    double *at = room(count, sizeof *at);
    for (int64_t i = 0; i < count; i++) at[i] = (double)(i * 7919 % 10007) / 5003.5 - 1.0;
    return at;
}

static double time_limit(void *data)
{
    const features_data *d = data;
    const int columns = (int)d->columns, half = columns / 2, p = (int)d->p;
    const fenp_threads before = fenp_threads_enter(d->options.threads);
    const double start = fenp_now();
#pragma omp parallel
    {
        double *omega = some_numbers(half * d->p);
        double *z = some_numbers(TILE * d->columns), *sine = z + (int64_t)half * TILE;
        double *gram = some_numbers(d->columns * d->columns);
#pragma omp for schedule(static)
        for (int64_t tile = 0; tile < d->rows / TILE; tile++) {
            cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, TILE, half, p, 1.0,
                        d->x + tile * TILE * p, p, omega, p, 0.0, sine, TILE);
            fenp_simd_get()->sincos_scaled(sine, z, (int64_t)half * TILE, 0.1);
            cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, columns, TILE, 1.0, z, TILE, 1.0,
                        gram, columns);
        }
        free(omega), free(z), free(gram);
    }
    const double seconds = fenp_now() - start;
    fenp_threads_leave(before);
    return seconds;
}

int main(int argc, char **argv)
{
    static const job jobs[] = { { "fit", time_fit },
                                { "read", time_read },
                                { "limit", time_limit } };
    features_data d = { .options = fen_options_default() };
    fen_error err;
    char approx[32];
    if (argc != 5) {
        fprintf(stderr, "usage: bench_features DATA COLUMNS GAMMA LAMBDA\n");
        return EXIT_FAILURE;
    }
    d.path = argv[1];
    d.columns = strtoll(argv[2], NULL, 10);
    snprintf(approx, sizeof approx, "fourier:%lld", (long long)d.columns);
    must(fen_options_set(&d.options, "approx", approx, &err), &err);
    must(fen_options_set(&d.options, "gamma", argv[3], &err), &err);
    must(fen_options_set(&d.options, "lambda", argv[4], &err), &err);
    read_twice(&d, &d.x);
    const int code = serve(jobs, sizeof jobs / sizeof *jobs, &d);
    free(d.x);
    return code;
}
