/* lp_scores.c -- rows of features to scores of a model of penalty lp with a tensor kernel
 *
 *     f(x) = w.phi(x) over the features that matter at x, or by pivots: lp.h
 *
 * Method: w is made once (ready.c); phi never exists (nested.c). Every row has the degree that
 *   it needs and no more, whatever the rows beside it: features of lower degrees come first.
 *   Columns are divided by a power of two (divided.h).
 * Special cases: rows that need a higher degree than there is room for: far.c.
 * Cost: kept N once, N targets for each row; pivots: kept times as many kernel values each. */
#include <stdlib.h>
#include "base/arena.h"
#include "base/error.h"
#include "model/ready.h"
#include "tensor/divided.h"
#include "tensor/form.h"
#include "tensor/pivots.h"

/* The degree that every row needs; the highest of them. */
static int64_t find_degrees(const fen_model *m, const fenp_cut *cut, const double *x, int64_t rows,
                            int64_t *degree)
{
    int64_t highest = 0;
    for (int64_t i = 0; i < rows; i++) {
        degree[i] = fenp_cut_degree(cut, x + i * m->p, m->p, 1.0);
        if (degree[i] > cut->last) degree[i] = cut->last;
        highest = degree[i] > highest ? degree[i] : highest;
    }
    return highest;
}

/* Scores of one target; v: its weights. Some rows at a time, so that there is an end. */
static fen_status score_target(const fen_model *m, const fenp_kernel *kernel, fen_view x,
                               const int64_t *degree, const double *v, double *scores,
                               const fenp_task *task, fen_error *err)
{
    enum { ROWS_LEAST = 256, TERMS = 1 << 28 };
    const int64_t count = fenp_feature_count(kernel, m->p);
    const int64_t some = TERMS / (count + 1) + ROWS_LEAST;
    fen_status status = FEN_OK;
    for (int64_t i = 0; status == FEN_OK && i < x.rows; i += some) {
        const fen_view part = { x.at + i * m->p, x.rows - i < some ? x.rows - i : some, m->p,
                                m->p };
        status = fenp_task_at(task, (double)i / (double)x.rows, err);
        if (status == FEN_OK)
            status = fenp_nested_sums(kernel, part, degree + i, v, scores + i * m->targets,
                                      m->targets, err);
    }
    return status;
}

static fenp_task part_of(const fenp_task *task, const fen_model *m, int64_t t)
{
    const double all = (double)m->targets;
    return fenp_task_part(task, "predicting", (double)t / all, (double)(t + 1) / all);
}

/* Weights that are too many to be kept, one target at a time. */
static fen_status scores_by_turns(const fen_model *m, const fenp_cut *cut, fen_view x,
                                  const int64_t *degree, int64_t highest, double *scores,
                                  const fenp_task *task, fen_error *err)
{
    const fenp_kernel kernel = fenp_cut_at(cut, highest);
    const int64_t bytes = fenp_bytes(fenp_feature_count(&kernel, m->p), 1, sizeof(double));
    double *v = fenp_new(bytes, 1);
    fen_status status = v ? FEN_OK : fenp_no_memory(err, bytes, "the features");
    for (int64_t t = 0; status == FEN_OK && t < m->targets; t++) {
        const fenp_task part = part_of(task, m, t);
        status = fenp_model_products(m, &kernel, t, v, err);
        if (status == FEN_OK)
            status = score_target(m, &kernel, x, degree, v, scores + t, &part, err);
    }
    free(v);
    return status;
}

/* By all features, or those of as many degrees as matter. m and x: of divided columns. */
static fen_status implied_scores(const fen_model *m, fenp_ready *ready, fen_view x,
                                 const int64_t *degree, int64_t highest, double *scores,
                                 const fenp_task *task, fen_error *err)
{
    const fenp_ready_weights *w;
    fen_status status = fenp_ready_extend(ready, m, highest, &w, err);
    if (status != FEN_OK) return status;
    if (!w) return scores_by_turns(m, &ready->cut, x, degree, highest, scores, task, err);
    const fenp_kernel kernel = fenp_cut_at(&ready->cut, w->degree);
    for (int64_t t = 0; status == FEN_OK && t < m->targets; t++) {
        const fenp_task part = part_of(task, m, t);
        status = score_target(m, &kernel, x, degree, w->v + t * w->count, scores + t, &part, err);
    }
    return status;
}

static fen_status pivot_scores(const fen_model *m, const double *x, int64_t rows, double *scores,
                               const fenp_task *task, fen_error *err)
{
    const fen_view kept = { m->inputs, m->kept, m->p, m->p }, z = { x, rows, m->p, m->p };
    const fenp_pivots pivots = { .h = fenp_even_order(m->kernel.par.order) / 2,
                                 .count = m->pivot_count,
                                 .row = m->pivots };
    double *coef = fenp_model_coefs(m), *f = fenp_new(rows, sizeof *f);
    fen_status status =
        coef && f ? FEN_OK : fenp_no_memory(err, fenp_bytes(rows, 1, 8), "a prediction");
    for (int64_t t = 0; status == FEN_OK && t < m->targets; t++) {
        const fenp_task part = part_of(task, m, t);
        status = fenp_pivots_predict(&m->kernel, kept, &pivots, coef + t * m->kept,
                                     m->pivot_weights + t * m->pivot_count, z, f, &part, err);
        for (int64_t i = 0; status == FEN_OK && i < rows; i++) scores[i * m->targets + t] = f[i];
    }
    free(coef);
    free(f);
    return status;
}

/* Rows that are too far for either; none is that is no larger than the rows of the model. */
static fen_status mend(const fen_model *m, const fenp_cut *cut, const double *raw, const double *x,
                       int64_t rows, double *scores, double *doubt, const fenp_task *task,
                       fen_error *err)
{
    const fenp_far far = { m, cut, m->inputs };
    fen_status status = FEN_OK;
    for (int64_t i = 0; status == FEN_OK && i < rows; i++) {
        const double *row = raw + i * m->p;
        if (doubt) doubt[i] = 0.0;
        if (cut->whole || fenp_row_norm(x + i * m->p, m->p, cut->par.order) <= cut->most) continue;
        const int outside =
            !m->pivots && fenp_cut_degree(cut, row, m->p, FENP_AS_GOOD_AS_PIVOTS) > cut->last;
        double open;
        status =
            fenp_far_row(&far, outside, row, x + i * m->p, scores + i * m->targets, &open, err);
        if (doubt) doubt[i] = open;
        if (status == FEN_OK) status = fenp_task_at(task, (double)(i + 1) / (double)rows, err);
    }
    return status;
}

static fen_status scores_of(const fen_model *m, fenp_ready *ready, const double *x, int64_t rows,
                            double *scores, double *doubt, const fenp_task *task, fen_error *err)
{
    const int64_t bytes = fenp_bytes(rows, m->p + 1, sizeof(double));
    int64_t *degree = fenp_new(rows, sizeof *degree);
    double *z = fenp_new(bytes, 1);
    fen_model divided = *m;
    fen_status status =
        degree && z ? fenp_ready_open(ready, m, err) : fenp_no_memory(err, bytes, "a prediction");
    if (status == FEN_OK) {
        const fenp_cut *cut = &ready->cut;
        const int64_t highest = find_degrees(m, cut, x, rows, degree);
        const fen_view points = { z, rows, m->p, m->p };
        divided.inputs = ready->rows;
        fenp_divide((fen_view){ x, rows, m->p, m->p }, cut->unit, z);
        status = m->pivots
                     ? pivot_scores(m, x, rows, scores, task, err)
                     : implied_scores(&divided, ready, points, degree, highest, scores, task, err);
        if (status == FEN_OK) status = mend(&divided, cut, x, z, rows, scores, doubt, task, err);
    }
    free(z);
    free(degree);
    return status;
}

fen_status fenp_lp_scores(const fen_model *m, const double *x, int64_t rows, double *scores,
                          double *doubt, const fenp_task *task, fen_error *err)
{
    if (m->ready) return scores_of(m, m->ready, x, rows, scores, doubt, task, err);
    fenp_ready once = { .lock = PTHREAD_MUTEX_INITIALIZER };
    const fen_status status = scores_of(m, &once, x, rows, scores, doubt, task, err);
    fenp_ready_clear(&once);
    return status;
}
