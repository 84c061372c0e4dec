/* grid.c -- a grid with exact leave-one-out beside one bare eigendecomposition
 *
 *     bench_grid DATA GAMMA [POWER LAMBDA]        jobs: select, dsyevd
 *
 * select: fen_select with one gamma and the automatic grid of lambdas (25), or the grids of
 *         powers and lambdas that are named.
 * dsyevd: eigenvalues and eigenvectors of the same kernel matrix, which is made outside of
 *         the measured time. (The matrix matters: divide and conquer deflates.) */
#include "data/prepare.h"
#include "kernel/gram.h"
#include "base/registry.h"
#include "worker.h"

void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t,
             size_t);

typedef struct grid_data {
    fen_options options;
    fen_table *table;
    fenp_sample *sample;
} grid_data;

static double time_select(void *data)
{
    const grid_data *d = data;
    char *json = NULL;
    fen_error err;
    const double start = fenp_now();
    must(fen_select(d->table, &d->options, NULL, &json, &err), &err);
    const double seconds = fenp_now() - start;
    fen_text_free(json);
    return seconds;
}

static double *kernel_matrix(const grid_data *d)
{
    const fenp_kernel kernel = { fenp_find_kernel("gaussian"),
                                 { d->options.gamma.at[0], 0, 0.0, 0.0 } };
    const int64_t n = d->sample->n;
    double *a = room(n * n, sizeof *a);
    fen_error err;
    must(fenp_gram_upper(&kernel, fenp_sample_inputs(d->sample), a, NULL, &err), &err);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < j; i++) a[j + i * n] = a[i + j * n];
    return a;
}

static double time_dsyevd(void *data)
{
    const grid_data *d = data;
    const int n = (int)d->sample->n, reals = 1 + 6 * n + 2 * n * n, integers = 3 + 5 * n;
    double *a = kernel_matrix(d);
    int info;
    const double start = fenp_now();
    double *values = room(n, sizeof *values), *work = room(reals, sizeof *work);
    int *more = room(integers, sizeof *more);
    dsyevd_("V", "L", &n, a, &n, values, work, &reals, more, &integers, &info, 1, 1);
    const double seconds = fenp_now() - start;
    if (info != 0) {
        fprintf(stderr, "dsyevd: info = %d\n", info);
        exit(EXIT_FAILURE);
    }
    free(a);
    free(values);
    free(work);
    free(more);
    return seconds;
}

int main(int argc, char **argv)
{
    static const job jobs[] = { { "select", time_select }, { "dsyevd", time_dsyevd } };
    grid_data d = { .options = fen_options_default() };
    fenp_prep *prep = NULL;
    fen_error err;
    if (argc != 3 && argc != 5) {
        fprintf(stderr, "usage: bench_grid DATA GAMMA [POWER LAMBDA]\n");
        return EXIT_FAILURE;
    }
    must(fen_options_set(&d.options, "gamma", argv[2], &err), &err);
    if (argc == 5) {
        must(fen_options_set(&d.options, "power", argv[3], &err), &err);
        must(fen_options_set(&d.options, "lambda", argv[4], &err), &err);
    }
    must(fen_table_read(argv[1], &d.options, NULL, &d.table, &err), &err);
    must(fenp_prep_learn(d.table, &d.options, &prep, &d.sample, &err), &err);
    const int code = serve(jobs, sizeof jobs / sizeof *jobs, &d);
    fenp_prep_free(prep);
    fenp_sample_free(d.sample);
    fen_table_free(d.table);
    return code;
}
