/* ladder.c -- see ladder.h
 *
 * Method. One state of linear.h per problem and fold: leaving rows out is setting their weights
 * to 0, so that all folds share the matrix, and the scores of rows of weight 0 are their held-out
 * predictions. Every fold goes the same lambdas from the largest down.
 * Cost. K + 1 paths, and the scores of all rows for every lambda of every fold. */
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

fen_status fenp_ladder_descend(const fenp_linear *problem, fenp_linear_state *begun,
                               const double *lambdas, int64_t count, double gap, fenp_at_rung visit,
                               void *user, const fenp_task *task, fen_error *err)
{
    const int64_t copies = problem->x->copies;
    fenp_linear_state *state = begun;
    fenp_linear_point at = { .beta = fenp_new_zeroed(problem->x->p, copies * 8),
                             .b = fenp_new_zeroed(copies, sizeof *at.b) };
    fen_status status = at.beta && at.b ? FEN_OK : fenp_no_memory(err, 0, "the path");
    if (status == FEN_OK && !state) status = fenp_linear_begin(problem, &state, task, err);
    for (int64_t k = 0; k < count && status == FEN_OK; k++) {
        const fenp_task part =
            fenp_task_part(task, task ? task->stage : "", (double)k / (double)count,
                           (double)(k + 1) / (double)count);
        at.lambda = lambdas[k];
        status = fenp_linear_solve(state, gap, &at, &part, err);
        if (status == FEN_OK) status = visit(user, k, &at, err);
        if (status == FEN_OK) status = fenp_task_at(&part, 1.0, err);
    }
    fenp_linear_end(state);
    free(at.beta);
    free(at.b);
    return status;
}

/* ---- folds ------------------------------------------------------------------------------ */

typedef struct held {
    const fenp_linear *problem;
    const fenp_dealt *fold;
    int64_t count;
    double *w; /* copies x n: of the rows that are not held out */
    double *f; /* copies x n: X beta                            */
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

static void put(const held *h, int64_t rung, const double *f, const double *b)
{
    const fenp_linear *q = h->problem;
    const int64_t n = q->x->n;
    for (int64_t t = 0; t < q->x->copies; t++) {
        double sum = 0.0;
        for (int64_t k = h->fold->fold; k < n; k += h->fold->folds) {
            const int64_t i = h->fold->order[k], at = t * n + i;
            const double score = (f ? f[at] : 0.0) + b[t];
            if (h->scores) h->scores[(t * h->count + rung) * n + i] = score;
            if (q->w[at] > 0.0) sum += q->w[at] * h->judge->value(q->y[at], score, q->par);
        }
        h->losses[t * h->count + rung] = sum;
    }
}

static fen_status predict(void *user, int64_t rung, const fenp_linear_point *at, fen_error *err)
{
    held *h = user;
    (void)err;
    fenp_design_scores(h->problem->x, at->beta, h->f);
    put(h, rung, h->f, at->b);
    return FEN_OK;
}

static fen_status predict_the_label(held *h)
{
    const int signs = h->problem->loss->labels == FEN_SIGNS && h->problem->bias;
    for (int64_t t = 0; t < h->problem->x->copies; t++) h->f[t] = signs ? only_label(h) : 0.0;
    for (int64_t k = 0; k < h->count; k++) put(h, k, NULL, h->f);
    return FEN_OK;
}

fen_status fenp_ladder_fold(const fenp_linear *problem, const fenp_dealt *fold,
                            const fen_loss *judge, const double *lambdas, int64_t count, double gap,
                            double *losses, double *scores, const fenp_task *task, fen_error *err)
{
    const int64_t rows = problem->x->n * problem->x->copies;
    fenp_linear part = *problem;
    held h = { .problem = problem,
               .fold = fold,
               .count = count,
               .judge = judge,
               .w = fenp_new(rows, 2 * sizeof(double)),
               .losses = losses,
               .scores = scores };
    if (!h.w) return fenp_no_memory(err, fenp_bytes(rows, 2, sizeof(double)), "the folds");
    h.f = h.w + rows;
    leave_out(&h);
    part.w = h.w;
    const fen_status status = is_solvable(&h) ? fenp_ladder_descend(&part, NULL, lambdas, count,
                                                                    gap, predict, &h, task, err)
                                              : predict_the_label(&h);
    free(h.w);
    return status;
}
