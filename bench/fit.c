/* fit.c -- one exact fit beside the least that any exact fit must do
 *
 *     bench_fit DATA GAMMA LAMBDA        jobs: fit, limit
 *
 * fit:   fen_fit, everything in it: scaling, kernel matrix, factorisation, bias,
 *        coefficients, certificate.
 * limit: one n x n array; squared distances by GEMM tiles and the vector exponential
 *        while they are in the cache; dpotrf; dpotrs. No bias, no check of cancellation. */
#include <cblas.h>
#include "simd/simd.h"
#include "data/prepare.h"
#include "worker.h"

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
             double *b, const int *ldb, int *info, size_t);

enum { TILE_ROWS = 512, TILE_COLS = 64 }; /* 256 KB: stays in a second-level cache */

typedef struct fit_data {
    fen_options options;
    fen_table *table;
    fenp_sample *sample; /* the scaled rows, as the limit wants them */
} fit_data;

static double time_fit(void *data)
{
    const fit_data *d = data;
    fen_model *model = NULL;
    fen_error err;
    const double start = fenp_now();
    must(fen_fit(d->table, &d->options, NULL, &model, &err), &err);
    const double seconds = fenp_now() - start;
    release_optimal(model);
    return seconds;
}

/* Entries (i, j), i >= j, of the tile at (row, col) of the lower triangle. */
static void limit_tile(const fenp_sample *s, const double *norm, double gamma, int64_t row,
                       int64_t col, double *a)
{
    const int64_t n = s->n, rows = n - row < TILE_ROWS ? n - row : TILE_ROWS;
    const int64_t cols = n - col < TILE_COLS ? n - col : TILE_COLS;
    const int p = (int)s->p;
    double *tile = a + row + col * n;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)rows, (int)cols, p, -2.0,
                s->x + row * p, p, s->x + col * p, p, 0.0, tile, (int)n);
    for (int64_t j = 0; j < cols; j++) {
        double *column = tile + j * n;
        for (int64_t i = 0; i < rows; i++) column[i] += norm[row + i] + norm[col + j];
        fenp_simd_get()->exp_scaled(column, rows, -gamma);
    }
}

static void limit_matrix(const fenp_sample *s, double gamma, double shift, double *norm, double *a)
{
    const int64_t n = s->n, down = (n + TILE_ROWS - 1) / TILE_ROWS;
    for (int64_t i = 0; i < n; i++)
        norm[i] = cblas_ddot((int)s->p, s->x + i * s->p, 1, s->x + i * s->p, 1);
#pragma omp parallel for schedule(dynamic)
    for (int64_t r = 0; r < down; r++)
        for (int64_t col = 0; col < n && col < (r + 1) * TILE_ROWS; col += TILE_COLS)
            limit_tile(s, norm, gamma, r * TILE_ROWS, col, a);
    for (int64_t i = 0; i < n; i++) a[i + i * n] = 1.0 + shift;
}

static double time_limit(void *data)
{
    const fit_data *d = data;
    const fenp_sample *s = d->sample;
    const int n = (int)s->n, one = 1;
    int factored, solved;
    const double start = fenp_now();
    double *a = room(s->n * s->n, sizeof *a), *norm = room(s->n, sizeof *norm);
    double *c = room(s->n, sizeof *c);
    limit_matrix(s, d->options.gamma.at[0], (double)s->n * d->options.lambda.at[0], norm, a);
    memcpy(c, s->y, (size_t)s->n * sizeof *c);
    dpotrf_("L", &n, a, &n, &factored, 1);
    dpotrs_("L", &n, &one, a, &n, c, &n, &solved, 1);
    const double seconds = fenp_now() - start;
    if (factored != 0 || solved != 0) {
        fprintf(stderr, "dpotrf: the kernel matrix is not positive definite\n");
        exit(EXIT_FAILURE);
    }
    free(a);
    free(norm);
    free(c);
    return seconds;
}

int main(int argc, char **argv)
{
    static const job jobs[] = { { "fit", time_fit }, { "limit", time_limit } };
    fit_data d = { .options = fen_options_default() };
    fenp_prep *prep = NULL;
    fen_error err;
    if (argc != 4) {
        fprintf(stderr, "usage: bench_fit DATA GAMMA LAMBDA\n");
        return EXIT_FAILURE;
    }
    must(fen_options_set(&d.options, "gamma", argv[2], &err), &err);
    must(fen_options_set(&d.options, "lambda", argv[3], &err), &err);
    must(fen_table_read(argv[1], &d.options, NULL, &d.table, &err), &err);
    must(fenp_prep_learn(d.table, &d.options, &prep, &d.sample, &err), &err);
    const int code = serve(jobs, sizeof jobs / sizeof *jobs, &d);
    fenp_prep_free(prep);
    fenp_sample_free(d.sample);
    fen_table_free(d.table);
    return code;
}
