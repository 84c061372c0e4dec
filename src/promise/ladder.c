/* ladder.c -- see ladder.h
 *
 * Method. One state of linear.h per problem and fold: leaving rows out is setting their weights
 * to 0, so that all folds share the matrix, and the scores of rows of weight 0 are their held-out
 * predictions, made for some lambdas at once. Every fold goes the same lambdas from the largest
 * down.
 * Cost. K + 1 paths, and the scores of all rows once for every lambda (of sparse columns: K times).
 */
#include "promise/ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"

void fenp_ladder_make(double most, double ratio, int64_t count, double *lambdas)
{
    for (int64_t k = 0; k < count; k++)
        lambdas[k] = most * pow(ratio, count > 1 ? (double)k / (double)(count - 1) : 0.0);
}

fen_status fenp_ladder_top(const fenp_linear *problems, int64_t count, double *most,
                           fenp_linear_state **first, const fenp_task *task, fen_error *err)
{
    fen_status status = FEN_OK;
    *most = 0.0;
    for (int64_t q = 0; q < count && status == FEN_OK; q++) {
        fenp_linear_state *state = NULL;
        status = fenp_linear_begin(&problems[q], &state, task, err);
        if (status == FEN_OK) *most = fmax(*most, fenp_linear_lambda_max(state));
        if (q == 0 && first)
            *first = state;
        else
            fenp_linear_end(state);
    }
    if (!(*most > 0.0)) *most = 1.0;
    return status;
}

/* ---- folds ------------------------------------------------------------------------------ */

enum { WAIT_MOST = 50, ROWS_PER_WAITING = 8 };

typedef struct held {
    const fenp_linear *problem;
    const fenp_dealt *fold;
    int64_t count;
    double *w;     /* copies x n: of the rows that are not held out            */
    int64_t *rows; /* held: those that are                                      */
    int64_t held;
    int64_t first, waiting, most; /* solutions that are to be predicted with: rungs first .. */
    double *beta, *b;             /* most x copies x p, most x copies                        */
    double *f;                    /* most x copies x held: X beta                            */
    const fen_loss *judge;
    double *losses, *scores;
} held;

static void leave_out(held *h)
{
    const fenp_dealt *of = h->fold;
    const int64_t n = h->problem->x->n;
    double rest = 0.0;
    for (int64_t k = 0; k < n; k++)
        if (k % of->folds != of->fold) rest += of->w[of->order[k]];
    for (int64_t t = 0; t < h->problem->x->copies; t++)
        for (int64_t k = 0; k < n; k++) {
            const int64_t at = t * n + of->order[k];
            h->w[at] = k % of->folds == of->fold ? 0.0 : h->problem->w[at] / rest;
        }
}

/* The only label of the rows with a weight; 0: there are none; NAN: several. */
static double only_label(const held *h)
{
    const int64_t rows = h->problem->x->n * h->problem->x->copies;
    double label = 0.0;
    for (int64_t i = 0; i < rows; i++) {
        if (h->w[i] == 0.0) continue;
        if (label != 0.0 && h->problem->y[i] != label) return NAN;
        label = h->problem->y[i];
    }
    return label;
}

static int is_solvable(const held *h)
{
    const int64_t rows = h->problem->x->n * h->problem->x->copies;
    int64_t i = 0;
    if (h->problem->loss->labels == FEN_SIGNS && h->problem->bias) return isnan(only_label(h));
    while (i < rows && h->w[i] == 0.0) i++;
    return i < rows;
}

/* f: copies x held, X beta; NULL: 0 */
static void put(const held *h, int64_t rung, const double *f, const double *b)
{
    const fenp_linear *q = h->problem;
    const int64_t n = q->x->n;
    for (int64_t t = 0; t < q->x->copies; t++) {
        double sum = 0.0;
        for (int64_t r = 0; r < h->held; r++) {
            const int64_t i = h->rows[r], at = t * n + i;
            const double score = (f ? f[t * h->held + r] : 0.0) + b[t];
            if (h->scores) h->scores[(t * h->count + rung) * n + i] = score;
            if (q->w[at] > 0.0) sum += q->w[at] * h->judge->value(q->y[at], score, q->par);
        }
        h->losses[t * h->count + rung] = sum;
    }
}

/* With all that wait. */
static fen_status predict(held *h, fen_error *err)
{
    const fenp_design *x = h->problem->x;
    if (fenp_design_scores_of(x, h->rows, h->held, h->beta, h->waiting, h->f))
        return fenp_no_memory(err, fenp_bytes(x->p, 200, 8), "the predictions of the folds");
    for (int64_t k = 0; k < h->waiting; k++)
        put(h, h->first + k, h->f + k * x->copies * h->held, h->b + k * x->copies);
    h->first += h->waiting, h->waiting = 0;
    return FEN_OK;
}

/* One after the other, from the first rung on. */
static fen_status wait(void *user, int64_t rung, const fenp_linear_point *at, fen_error *err)
{
    held *h = user;
    const int64_t copies = h->problem->x->copies, coefs = copies * h->problem->x->p;
    (void)rung;
    memcpy(h->beta + h->waiting * coefs, at->beta, (size_t)coefs * sizeof *at->beta);
    memcpy(h->b + h->waiting * copies, at->b, (size_t)copies * sizeof *at->b);
    return ++h->waiting < h->most ? FEN_OK : predict(h, err);
}

static void predict_the_label(held *h)
{
    const int signs = h->problem->loss->labels == FEN_SIGNS && h->problem->bias;
    for (int64_t t = 0; t < h->problem->x->copies; t++) h->b[t] = signs ? only_label(h) : 0.0;
    for (int64_t k = 0; k < h->count; k++) put(h, k, NULL, h->b);
}

static int64_t most_waiting(const fenp_design *x, int64_t count)
{
    const int64_t each = x->n / ROWS_PER_WAITING, most = each < WAIT_MOST ? each : WAIT_MOST;
    return x->start || most < 1 ? 1 : most < count ? most : count;
}

int64_t fenp_ladder_fold_bytes(const fenp_design *x, int64_t folds, int64_t count)
{
    const int64_t waiting = most_waiting(x, count) * (x->p + 1 + x->n / folds + 1);
    return fenp_bytes(x->n + waiting, x->copies, sizeof(double));
}

static fen_status open_fold(held *h, fen_error *err)
{
    const fenp_design *x = h->problem->x;
    const fenp_dealt *of = h->fold;
    const int64_t bytes = fenp_ladder_fold_bytes(x, of->folds, h->count);
    h->most = most_waiting(x, h->count);
    h->w = bytes < 0 ? NULL : fenp_new(bytes, 1);
    h->rows = fenp_new(x->n / of->folds + 1, sizeof *h->rows);
    if (!h->w || !h->rows) return fenp_no_memory(err, bytes, "the folds");
    h->beta = h->w + x->copies * x->n, h->b = h->beta + h->most * x->copies * x->p;
    h->f = h->b + h->most * x->copies;
    for (int64_t k = of->fold; k < x->n; k += of->folds) h->rows[h->held++] = of->order[k];
    leave_out(h);
    return FEN_OK;
}

fen_status fenp_ladder_fold(const fenp_linear *problem, const fenp_dealt *fold,
                            const fen_loss *judge, const double *lambdas, int64_t count, double gap,
                            double *losses, double *scores, const fenp_task *task, fen_error *err)
{
    fenp_linear part = *problem;
    held h = { .problem = problem,
               .fold = fold,
               .count = count,
               .judge = judge,
               .losses = losses,
               .scores = scores };
    fen_status status = open_fold(&h, err);
    part.w = h.w, part.without = fold->fold + 1;
    if (status == FEN_OK && is_solvable(&h)) {
        const fenp_ladder rungs = { lambdas, count, gap, wait, &h, 0 };
        status = fenp_ladder_descend(&part, NULL, &rungs, task, err);
        if (status == FEN_OK && h.waiting > 0) status = predict(&h, err);
    } else if (status == FEN_OK) {
        predict_the_label(&h);
    }
    free(h.w), free(h.rows);
    return status;
}
