/* predict.c -- raw rows -> features -> scores
 *
 *     score(x) = sum_i c_i k(x_i, x) + b,   c = coef_scale u or terms;
 *     linear: weights . x + b;   random features: feature_weights . phi(x) + b;
 *     penalty lp with a tensor kernel: w . phi(x) + b, or by pivots (model/lp.h)
 *
 * Calls of little work are done by the calling thread alone; kernels then go by what the first such
 * call has made ready (kernel/expansion.c): one row of 10 columns against 1000 takes 3 microseconds.
 * Linear models of sparse inputs take sparse rows entry by entry. Other rows pass in slabs, so that
 * besides the scores only a slab of features and a tile of the kernel matrix exist at any time.
 * 2 n p flops per row, 2 p targets if linear. Rows that a model has no trustworthy score of
 * (model/far.c) are refused. */
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "base/threads.h"
#include "kernel/expansion.h"
#include "data/columns.h"
#include "model/lp.h"
#include "simd/simd.h"

enum { SLAB_DOUBLES = 1 << 22, SLAB_ROWS_MIN = 1024 }; /* 32 MB of features at a time */
enum { EXPANSION_MOST = 1 << 23 };                     /* 64 MB of centres made ready */

/* Raw rows as they come: a table with names, or bare numbers in training order. */
typedef struct raw {
    const fen_table *table;
    fen_view view;
} raw;

/* Operations of so many rows, about. */
static double work_of(const fen_model *m, int64_t rows)
{
    const double p = (double)m->p, targets = (double)m->targets;
    const double each = m->weights       ? p * targets
                        : m->frequencies ? (double)m->approx.columns * (p + targets + 16.0)
                                         : (double)m->kept * (p + targets + 32.0);
    return (double)rows * each;
}

/* --- features -> scores --------------------------------------------------------- */

static fen_status linear_scores(const fen_model *m, const double *x, int64_t rows, double *scores,
                                const fenp_task *task, fen_error *err)
{
    enum { BLOCK = 1 << 20 };
    if (m->p > INT_MAX || m->targets > INT_MAX)
        return fenp_fail(err, FEN_BAD_CALL, "a model of this width is more than BLAS can count");
    int width = m->p > 0 ? (int)m->p : 1;
    for (int64_t first = 0; first < rows; first += BLOCK) {
        int64_t count = rows - first < BLOCK ? rows - first : BLOCK;
        fen_status status = fenp_task_at(task, (double)first / (double)rows, err);
        if (status != FEN_OK) return status;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)m->targets, (int)m->p,
                    1.0, x + first * m->p, width, m->weights, width, 0.0,
                    scores + first * m->targets, (int)m->targets);
    }
    return FEN_OK;
}

static fen_status kernel_scores(const fen_model *m, const double *x, int64_t rows, double *scores,
                                const fenp_task *task, fen_error *err)
{
    double *coef = fenp_model_coefs(m);
    if (!coef)
        return fenp_no_memory(err, fenp_bytes(m->targets, m->kept, sizeof *coef),
                              "the coefficients");
    fen_view points = { x, rows, m->p, m->p }, centres = { m->inputs, m->kept, m->p, m->p };
    fen_status status =
        fenp_gram_times(&m->kernel, points, centres, coef, m->targets, scores, task, err);
    free(coef);
    return status;
}

/* Random features: tiles of phi, never all of it. */
static fen_status feature_scores(const fen_model *m, const double *x, int64_t rows, double *scores,
                                 const fenp_task *task, fen_error *err)
{
    enum { TILE = 1024 };
    const int columns = (int)m->approx.columns, targets = (int)m->targets;
    const int64_t tile = rows < TILE ? rows : TILE, bytes = fenp_bytes(tile, columns, sizeof *x);
    double *z = fenp_new(bytes, 1);
    fen_status status = z ? FEN_OK : fenp_no_memory(err, bytes, "the features");
    for (int64_t first = 0; status == FEN_OK && first < rows; first += TILE) {
        const int64_t count = rows - first < TILE ? rows - first : TILE;
        status = fenp_task_at(task, (double)first / (double)rows, err);
        fenp_fourier_map(m->frequencies, columns, x + first * m->p, m->p, count, z, tile);
        cblas_dgemm(CblasColMajor, CblasTrans, CblasTrans, targets, (int)count, columns, 1.0,
                    m->feature_weights, columns, z, (int)tile, 0.0, scores + first * m->targets,
                    targets);
    }
    free(z);
    return status;
}

static void add_offsets(const fen_model *m, int64_t rows, double *scores)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = 0; t < m->targets; t++) scores[i * m->targets + t] += m->offset[t];
}

/* doubt: see fenp_lp_scores. */
static fen_status scores_of(const fen_model *m, const double *x, int64_t rows, double *scores,
                            double *doubt, const fenp_task *task, fen_error *err)
{
    fen_status status = m->weights            ? linear_scores(m, x, rows, scores, task, err)
                        : m->frequencies      ? feature_scores(m, x, rows, scores, task, err)
                        : fenp_model_is_lp(m) ? fenp_lp_scores(m, x, rows, scores, doubt, task, err)
                                              : kernel_scores(m, x, rows, scores, task, err);
    if (status == FEN_OK) add_offsets(m, rows, scores);
    return status;
}

fen_status fenp_model_scores(const fen_model *m, const double *x, int64_t rows, double *scores,
                             const fenp_task *task, fen_error *err)
{
    return scores_of(m, x, rows, scores, NULL, task, err);
}

/* --- raw rows -> features --------------------------------------------------------- */

static fen_status features(const fen_model *m, const raw *rows, int64_t first, int64_t count,
                           double *x, fen_error *err)
{
    if (!rows->table) {
        fen_view part = rows->view;
        part.at += first * part.stride;
        part.rows = count;
        return fenp_prep_apply_view(m->prep, part, x, err);
    }
    const fen_table part = fenp_table_window(rows->table, first, count);
    return fenp_prep_apply(m->prep, &part, x, err);
}

static const char *place_of(const raw *rows, int64_t row, char *out, int64_t size)
{
    if (rows->table) return fenp_table_place(rows->table, row, out, size);
    snprintf(out, (size_t)size, "row %lld", (long long)(row + 1));
    return out;
}

/* No number rather than a wrong one. first: rows before these. */
static fen_status check_doubt(const fen_model *m, const raw *rows, const double *doubt,
                              int64_t first, int64_t count, fen_error *err)
{
    char place[256];
    for (int64_t i = 0; i < count; i++)
        if (doubt[i] > 0.0)
            return fenp_fail(err, FEN_BAD_DATA,
                             "%s: this row is too far outside the training rows: the series of "
                             "--kernel %s has no prediction for it to six digits; leave it out, or "
                             "fit with a smaller --gamma",
                             place_of(rows, first + i, place, sizeof place), m->kernel.table->name);
    return FEN_OK;
}

/* Whether rows go without BLAS and OpenMP: a few of them, by an expansion that lies ready or by the
 * weights. Not those of a table, which may be a part of a file: its predictions have the same bits
 * however it is cut. */
static int is_few(const fen_model *m, const raw *rows)
{
    if (rows->table || fenp_threads_for(work_of(m, rows->view.rows), 0) != 1) return 0;
    if (m->weights) return 1;
    return m->inputs && !m->frequencies && !fenp_model_is_lp(m) &&
           fenp_expansion_suits(m->kernel.table) && fenp_bytes(m->kept, m->p, 1) <= EXPANSION_MOST;
}

/* What the first call made; a second one that makes it at the same time lets go of its own. */
static fen_status expansion_of(const fen_model *m, const fenp_expansion **out, fen_error *err)
{
    fen_model *own = (fen_model *)m; /* no caller's model is in read-only memory */
    fenp_expansion *found = atomic_load(&own->expansion), *made = NULL;
    *out = found;
    if (found) return FEN_OK;
    double *coef = fenp_model_coefs(m);
    const fen_view centres = { m->inputs, m->kept, m->p, m->p };
    if (coef) made = fenp_expansion_new(&m->kernel, centres, coef, m->targets);
    free(coef);
    if (!made) return fenp_no_memory(err, fenp_bytes(m->kept, m->p, 8), "a prediction");
    if (atomic_compare_exchange_strong(&own->expansion, &found, made)) found = made;
    if (found != made) fenp_expansion_free(made);
    *out = found;
    return FEN_OK;
}

/* Row by row: for a few of them the threads of BLAS are more than the work. */
static void few_linear_scores(const fen_model *m, const double *x, int64_t rows, double *scores)
{
    const fenp_simd *simd = fenp_simd_get();
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = 0; t < m->targets; t++) {
            const double *weights = m->weights + t * m->p;
            simd->dots(1, m->p, &weights, x + i * m->p, scores + i * m->targets + t);
        }
}

static void few_scores(const fen_model *m, const fenp_expansion *expansion, const double *x,
                       int64_t rows, double *scores)
{
    if (m->weights)
        few_linear_scores(m, x, rows, scores);
    else
        fenp_expansion_rows(expansion, (fen_view){ x, rows, m->p, m->p }, scores);
    add_offsets(m, rows, scores);
}

/* All rows, slab by slab: features of one slab at a time. */
static fen_status score_slabs(const fen_model *m, const raw *rows, int64_t count, double *scores,
                              const fenp_task *task, fen_error *err)
{
    const int few = is_few(m, rows);
    int64_t slab = SLAB_DOUBLES / (m->p > 0 ? m->p : 1);
    slab = slab < SLAB_ROWS_MIN ? SLAB_ROWS_MIN : slab;
    slab = slab < count ? slab : count;
    const int64_t bytes = fenp_bytes(slab, m->p, sizeof(double));
    double *x = fenp_new(bytes, 1), *doubt = fenp_new_zeroed(slab, sizeof *doubt);
    fen_status status = x && doubt ? FEN_OK : fenp_no_memory(err, bytes, "a prediction");
    const fenp_expansion *quick = NULL;
    if (status == FEN_OK && few && !m->weights) status = expansion_of(m, &quick, err);
    for (int64_t first = 0; status == FEN_OK && first < count; first += slab) {
        int64_t next = first + slab < count ? first + slab : count;
        fenp_task part = fenp_task_part(task, "predicting", (double)first / (double)count,
                                        (double)next / (double)count);
        status = fenp_task_at(&part, 0.0, err);
        if (status == FEN_OK) status = features(m, rows, first, next - first, x, err);
        if (status == FEN_OK && few)
            few_scores(m, quick, x, next - first, scores + first * m->targets);
        else if (status == FEN_OK)
            status = scores_of(m, x, next - first, scores + first * m->targets, doubt, &part, err);
        if (status == FEN_OK) status = check_doubt(m, rows, doubt, first, next - first, err);
    }
    free(doubt);
    free(x);
    return status;
}

/* Sparse rows of a linear model of sparse inputs: the features need not exist. */
static int stays_sparse(const fen_model *m, const raw *rows)
{
    return m->weights && m->prep->sparse && rows->table && rows->table->start;
}

static fen_status score_entries(const fen_model *m, const fen_table *table, double *scores,
                                const fenp_task *task, fen_error *err)
{
    fen_status status = fenp_task_at(task, 0.0, err);
    if (status == FEN_OK)
        status = fenp_prep_products(m->prep, table, m->weights, m->targets, scores, err);
    if (status == FEN_OK) add_offsets(m, table->rows, scores);
    return status;
}

/* No row is so far out that its score is no number any more. */
static fen_status check_finite(const fen_model *m, const raw *rows, const double *scores,
                               int64_t count, fen_error *err)
{
    char place[256];
    for (int64_t k = 0; k < count * m->targets; k++)
        if (!isfinite(scores[k]))
            return fenp_fail(
                err, FEN_BAD_DATA,
                "%s: the prediction of this row leaves the range of numbers: its cells "
                "are too large for this model; correct them, or leave it out",
                place_of(rows, k / m->targets, place, sizeof place));
    return FEN_OK;
}

/* scores stays as it was unless everything went well. */
static fen_status score(const fen_model *m, const raw *rows, int64_t count, double *scores,
                        const fenp_task *task, fen_error *err)
{
    const int64_t bytes = fenp_bytes(count, m->targets, sizeof(double));
    double *result = fenp_new(bytes, 1);
    if (!result) return fenp_no_memory(err, bytes, "a prediction");
    fen_status status = stays_sparse(m, rows) ? score_entries(m, rows->table, result, task, err)
                                              : score_slabs(m, rows, count, result, task, err);
    if (status == FEN_OK) status = check_finite(m, rows, result, count, err);
    if (status == FEN_OK && fenp_model_is_one_class(m)) /* 0 is the edge */
        for (int64_t i = 0; i < count; i++) result[i] -= m->output[0].par;
    if (status == FEN_OK) memcpy(scores, result, (size_t)bytes);
    free(result);
    return status;
}

fen_status fen_predict(const fen_model *model, fen_view inputs, const fen_options *o,
                       const fen_host *host, double *scores, fen_error *err)
{
    raw rows = { NULL, inputs };
    if (inputs.rows < 0 || inputs.cols != model->prep->inputs || inputs.stride < inputs.cols)
        return fenp_fail(err, FEN_BAD_CALL, "the model takes %lld columns, the rows have %lld",
                         (long long)model->prep->inputs, (long long)inputs.cols);
    const int32_t threads = fenp_threads_for(work_of(model, inputs.rows), o ? o->threads : 0);
    const fenp_task task = fenp_task_start(host, o ? o->time_limit_seconds : 0.0);
    if (is_few(model, &rows)) return score(model, &rows, inputs.rows, scores, &task, err);
    const fenp_threads before = fenp_threads_enter(threads);
    const fen_status status = score(model, &rows, inputs.rows, scores, &task, err);
    fenp_threads_leave(before);
    return status;
}

/* Labels by target columns, found, become labels by outputs. */
static void spread_labels(const fen_model *m, int64_t rows, const double *found, double *labels)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = 0; t < m->targets; t++) {
            const int64_t column = m->output[t].column;
            labels[i * m->targets + t] = column < 0 ? NAN : found[i * m->prep->targets + column];
        }
}

/* Both outputs stay as they were unless everything went well. */
static fen_status score_and_label(const fen_model *m, const fen_table *table, double *scores,
                                  double *labels, const fenp_task *task, fen_error *err)
{
    raw rows = { .table = table };
    if (!labels) return score(m, &rows, table->rows, scores, task, err);
    int64_t bytes = fenp_bytes(table->rows, m->prep->targets, sizeof(double));
    double *found = fenp_new(bytes, 1);
    if (!found) return fenp_no_memory(err, bytes, "the labels");
    fen_status status = fenp_prep_labels(m->prep, table, found, err);
    if (status == FEN_OK) status = score(m, &rows, table->rows, scores, task, err);
    if (status == FEN_OK) spread_labels(m, table->rows, found, labels);
    free(found);
    return status;
}

int64_t fen_predict_lacking(const fen_model *model, const fen_table *table)
{
    return fenp_prep_lacking(model->prep, table);
}

fen_status fen_predict_odd(const fen_model *model, const fen_table *table, fen_odd_cells *cells,
                           fen_error *err)
{
    return fenp_prep_odd(model->prep, table, cells, err);
}

fen_status fen_predict_table(const fen_model *model, const fen_table *table, const fen_options *o,
                             double *scores, double *labels, fen_error *err)
{
    fenp_task task = fenp_task_start(NULL, o->time_limit_seconds);
    const int32_t threads = fenp_threads_for(work_of(model, table->rows), o->threads);
    fenp_threads before = fenp_threads_enter(threads);
    fen_status status = score_and_label(model, table, scores, labels, &task, err);
    fenp_threads_leave(before);
    return status;
}
