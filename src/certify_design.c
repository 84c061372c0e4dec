/* certify_design.c -- products with the matrix that a penalty on coefficients sees
 *
 *     linear kernel, precomputed   the columns of the sample, dense or sparse, as they are
 *     other kernels                K_ij = k(x_i, x_j), symmetric, recomputed in tiles
 *
 * Method: the loops of the definition. Zero coefficients cost nothing.
 * Accuracy: sums run in long double, so that they are exact to half a rounding of the result; but
 *   for scores of kernels, which are sums of doubles (kernel/gram.h).
 * Cost: one pass over the matrix each. Every number is one thread's: any number of threads
 *   gives the same. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "certify.h"

enum { LITTLE = 1 << 16, STRIP = 64 }; /* entries not worth a second thread; columns at once */

fenp_matrix fenp_matrix_of(const fen_model *m, const fenp_sample *sample, const fenp_task *task)
{
    const int own = m->kernel.table->linear || m->kernel.table->basis == FEN_PRECOMPUTED;
    return (fenp_matrix){ .sample = sample,
                          .kernel = own ? NULL : &m->kernel,
                          .n = sample->n,
                          .p = own ? sample->p : sample->n,
                          .task = task };
}

/* ---- scores ------------------------------------------------------------------------------ */

static fen_status dense_scores(const fenp_matrix *x, const double *beta, double *f, fen_error *err)
{
    const int64_t n = x->n, p = x->p;
    int64_t *which = fenp_new(p, sizeof *which), count = 0;
    if (!which) return fenp_no_memory(err, fenp_bytes(p, 1, sizeof *which), "the certificate");
    for (int64_t j = 0; j < p; j++)
        if (beta[j] != 0.0) which[count++] = j;
#pragma omp parallel for schedule(static) if (n * count > LITTLE)
    for (int64_t i = 0; i < n; i++) {
        const double *row = x->sample->x + i * p;
        long double sum = 0.0L;
        for (int64_t k = 0; k < count; k++) sum += (long double)row[which[k]] * beta[which[k]];
        f[i] = (double)sum;
    }
    free(which);
    return FEN_OK;
}

static fen_status sparse_scores(const fenp_matrix *x, const double *beta, double *f, fen_error *err)
{
    const fenp_sample *s = x->sample;
    long double *sum = fenp_new_zeroed(x->n, sizeof *sum);
    if (!sum) return fenp_no_memory(err, fenp_bytes(x->n, 1, sizeof *sum), "the certificate");
    for (int64_t j = 0; j < x->p; j++)
        for (int64_t k = s->start[j]; beta[j] != 0.0 && k < s->start[j + 1]; k++)
            sum[s->row[k]] += (long double)s->value[k] * beta[j];
    for (int64_t i = 0; i < x->n; i++) f[i] = (double)sum[i];
    free(sum);
    return FEN_OK;
}

static fen_status kernel_times(const fenp_matrix *x, const double *coef, double *out,
                               fen_error *err)
{
    const fen_view rows = fenp_sample_inputs(x->sample);
    return fenp_gram_times(x->kernel, rows, rows, coef, 1, out, x->task, err);
}

fen_status fenp_matrix_scores(const fenp_matrix *x, const double *beta, double *f, fen_error *err)
{
    return x->kernel      ? kernel_times(x, beta, f, err)
           : x->sample->x ? dense_scores(x, beta, f, err)
                          : sparse_scores(x, beta, f, err);
}

/* ---- products with columns --------------------------------------------------------------- */

/* Columns from .. from + width - 1: the rows are read in the order they lie in. */
static void strip_products(const fenp_matrix *x, const long double *u, int64_t from, int64_t width,
                           double *g)
{
    long double sum[STRIP] = { 0.0L };
    for (int64_t i = 0; i < x->n; i++) {
        const double *row = x->sample->x + i * x->p + from;
        if (u[i] == 0.0L) continue;
        for (int64_t j = 0; j < width; j++) sum[j] += row[j] * u[i];
    }
    for (int64_t j = 0; j < width; j++) g[from + j] = (double)sum[j];
}

static void dense_products(const fenp_matrix *x, const long double *u, double *g)
{
#pragma omp parallel for schedule(static) if (x->n * x->p > LITTLE)
    for (int64_t from = 0; from < x->p; from += STRIP)
        strip_products(x, u, from, x->p - from < STRIP ? x->p - from : STRIP, g);
}

static void sparse_products(const fenp_matrix *x, const long double *u, double *g)
{
    const fenp_sample *s = x->sample;
#pragma omp parallel for schedule(dynamic, 1024) if (s->start[x->p] > LITTLE)
    for (int64_t j = 0; j < x->p; j++) {
        long double sum = 0.0L;
        for (int64_t k = s->start[j]; k < s->start[j + 1]; k++) sum += s->value[k] * u[s->row[k]];
        g[j] = (double)sum;
    }
}

/* The kernel matrix is symmetric: rows for columns. */
static fen_status kernel_products(const fenp_matrix *x, const long double *u, double *g,
                                  fen_error *err)
{
    const fen_view all = fenp_sample_inputs(x->sample);
    double *tile = fenp_new(x->n, STRIP * sizeof *tile), *row[STRIP];
    fen_status status =
        tile ? FEN_OK : fenp_no_memory(err, fenp_bytes(x->n, STRIP, sizeof *tile), "kernel rows");
    for (int k = 0; k < STRIP && tile; k++) row[k] = tile + k * x->n;
    for (int64_t from = 0; status == FEN_OK && from < x->n; from += STRIP) {
        const int64_t count = x->n - from < STRIP ? x->n - from : STRIP;
        const fen_view some = { x->sample->x + from * x->sample->p, count, all.cols, all.stride };
        status = fenp_gram_rows(x->kernel, some, all, row, err);
        if (status == FEN_OK) status = fenp_task_at(x->task, (double)from / (double)x->n, err);
        for (int64_t k = 0; status == FEN_OK && k < count; k++) {
            long double sum = 0.0L;
            for (int64_t i = 0; i < x->n; i++) sum += row[k][i] * u[i];
            g[from + k] = (double)sum;
        }
    }
    free(tile);
    return status;
}

fen_status fenp_matrix_products(const fenp_matrix *x, const long double *u, double *g,
                                fen_error *err)
{
    if (x->kernel) return kernel_products(x, u, g, err);
    if (x->sample->x)
        dense_products(x, u, g);
    else
        sparse_products(x, u, g);
    return FEN_OK;
}

fen_status fenp_matrix_column(const fenp_matrix *x, int64_t j, double *out, fen_error *err)
{
    const fenp_sample *s = x->sample;
    const double one = 1.0;
    if (x->kernel && j < x->p) {
        const fen_view rows = fenp_sample_inputs(s), centre = { s->x + j * s->p, 1, s->p, s->p };
        return fenp_gram_times(x->kernel, rows, centre, &one, 1, out, x->task, err);
    }
    if (j < x->p && !s->x) {
        memset(out, 0, (size_t)x->n * sizeof(double));
        for (int64_t k = s->start[j]; k < s->start[j + 1]; k++) out[s->row[k]] = s->value[k];
        return FEN_OK;
    }
    for (int64_t i = 0; i < x->n; i++) out[i] = j < x->p ? s->x[i * x->p + j] : 1.0;
    return FEN_OK;
}
