/* lp_scores.c -- rows of features to scores of a model of penalty lp with a tensor kernel
 *
 *     f(x) = w.phi(x) over the features that matter at x, or by pivots: lp.h
 *
 * Method: w is made once for all rows; phi exists for a tile of them. Every row has the degree
 * that it needs and no more, whatever the rows beside it: features of lower degrees come first.
 * Special cases: no columns and no constant: f = 0. Rows that need a higher degree than there is
 * room for have the highest one.
 * Cost: kept N once, N targets for each row; pivots: kept times as many kernel values each. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "model/lp.h"
#include "tensor/form.h"
#include "tensor/pivots.h"

/* Some targets of a model at a time, with the weights of their features. */
typedef struct implied {
    const fen_model *m;
    const fenp_cut *cut;
    const int64_t *degree;     /* rows: that of the features which each of them needs    */
    int64_t n, first, targets; /* features of the highest degree; targets                */
    double *w;                 /* targets x n                                            */
    double *phi;               /* room for tile rows of n                                */
    int64_t tile;
} implied;

/* Rows of one degree: scores = phi w' of as many features as that degree has. */
static void multiply(const implied *of, const double *phi, int64_t stride, int64_t rows,
                     int64_t features, double *scores)
{
    const int64_t all = of->m->targets;
    if (of->targets == 1)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)rows, (int)features, 1.0, phi, (int)stride,
                    of->w, 1, 0.0, scores + of->first, (int)all);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)of->targets,
                    (int)features, 1.0, phi, (int)stride, of->w, (int)of->n, 0.0,
                    scores + of->first, (int)all);
}

/* Features of the degree that the most demanding of the rows needs; of lower degrees they are the
 * first of them. */
static void score_tile(const implied *of, const double *x, int64_t i, int64_t rows, double *scores)
{
    const int64_t p = of->m->p;
    int64_t highest = 0;
    for (int64_t r = 0; r < rows; r++)
        highest = of->degree[i + r] > highest ? of->degree[i + r] : highest;
    const fenp_kernel kernel = fenp_cut_at(of->cut, highest);
    const int64_t stride = fenp_feature_count(&kernel, p);
    fenp_features_of(&kernel, (fen_view){ x + i * p, rows, p, p }, of->phi);
    for (int64_t r = 0, next; r < rows; r = next) {
        for (next = r + 1; next < rows && of->degree[i + next] == of->degree[i + r]; next++) {}
        const fenp_kernel part = fenp_cut_at(of->cut, of->degree[i + r]);
        multiply(of, of->phi + r * stride, stride, next - r, fenp_feature_count(&part, p),
                 scores + (i + r) * of->m->targets);
    }
}

static fen_status score_targets(const implied *of, const double *x, int64_t rows, double *scores,
                                const fenp_task *task, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t i = 0; status == FEN_OK && i < rows; i += of->tile) {
        const double share = (double)of->targets * (double)i / (double)rows;
        status = fenp_task_at(task, ((double)of->first + share) / (double)of->m->targets, err);
        if (status == FEN_OK)
            score_tile(of, x, i, rows - i < of->tile ? rows - i : of->tile, scores);
    }
    return status;
}

/* As many targets and rows at once as some 16 MB of each hold. */
static fen_status score_implied(implied *of, const double *x, int64_t rows, double *scores,
                                const fenp_kernel *highest, const fenp_task *task, fen_error *err)
{
    enum { ROWS = 512 };
    const fen_model *m = of->m;
    const int64_t room = FENP_MOST_FEATURES / of->n, most = room < ROWS ? room : ROWS;
    const int64_t together = most < m->targets ? most : m->targets;
    const int64_t bytes = fenp_bytes(most + together, of->n, sizeof(double));
    of->w = fenp_new(bytes, 1);
    if (!of->w) return fenp_no_memory(err, bytes, "the features");
    of->phi = of->w + together * of->n, of->tile = most;
    fen_status status = FEN_OK;
    for (; status == FEN_OK && of->first < m->targets; of->first += of->targets) {
        of->targets = m->targets - of->first < together ? m->targets - of->first : together;
        for (int64_t k = 0; status == FEN_OK && k < of->targets; k++)
            status = fenp_model_implied(m, highest, of->first + k, of->w + k * of->n, err);
        if (status == FEN_OK) status = score_targets(of, x, rows, scores, task, err);
    }
    free(of->w);
    return status;
}

/* By all features, or those of as many degrees as matter. */
static fen_status implied_scores(const fen_model *m, const double *x, int64_t rows, double *scores,
                                 const fenp_task *task, fen_error *err)
{
    fenp_cut cut;
    int64_t *degree = fenp_new(rows, sizeof *degree), highest = 0;
    if (!degree || !fenp_cut_open(m, m->inputs, &cut)) {
        free(degree);
        return fenp_no_memory(err, fenp_bytes(rows, 1, sizeof *degree), "a prediction");
    }
    for (int64_t i = 0; i < rows; i++) {
        degree[i] = fenp_cut_degree(&cut, x + i * m->p, m->p, 1.0);
        if (degree[i] > cut.last) degree[i] = cut.last;
        highest = degree[i] > highest ? degree[i] : highest;
    }
    const fenp_kernel kernel = fenp_cut_at(&cut, highest);
    implied of = { .m = m, .cut = &cut, .degree = degree, .n = fenp_feature_count(&kernel, m->p) };
    fen_status status = FEN_OK;
    if (of.n > 0)
        status = score_implied(&of, x, rows, scores, &kernel, task, err);
    else /* of no columns */
        memset(scores, 0, (size_t)(rows * m->targets) * sizeof *scores);
    free(degree);
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
        const double all = (double)m->targets;
        const fenp_task part =
            fenp_task_part(task, "predicting", (double)t / all, (double)(t + 1) / all);
        status = fenp_pivots_predict(&m->kernel, kept, &pivots, coef + t * m->kept,
                                     m->pivot_weights + t * m->pivot_count, z, f, &part, err);
        for (int64_t i = 0; status == FEN_OK && i < rows; i++) scores[i * m->targets + t] = f[i];
    }
    free(coef);
    free(f);
    return status;
}

fen_status fenp_lp_scores(const fen_model *m, const double *x, int64_t rows, double *scores,
                          const fenp_task *task, fen_error *err)
{
    return m->pivots ? pivot_scores(m, x, rows, scores, task, err)
                     : implied_scores(m, x, rows, scores, task, err);
}
