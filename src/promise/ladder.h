/* ladder.h -- the solutions of linear problems along falling lambdas, on all rows and on folds */
#ifndef FENP_LADDER_H
#define FENP_LADDER_H
#include "solver/linear.h"

/* count lambdas from most down to ratio most, in equal steps of their logarithm. */
void       fenp_ladder_make(double most, double ratio, int64_t count, double *lambdas);
/* The largest lambda_max of the problems; 1 if none of them has one (constant labels). *first
 * (NULL: not wanted): the state of the first problem, which has been begun for it. */
fen_status fenp_ladder_top(const fenp_linear *problems, int64_t count, double *most,
                           fenp_linear_state **first, const fenp_task *task, fen_error *err);

/* Called for every lambda in turn with its solution. FEN_OK: go on. */
typedef fen_status (*fenp_at_rung)(void *user, int64_t rung, const fenp_linear_point *at,
                                   fen_error *err);
typedef struct fenp_ladder {
    const double *lambdas;     /* count: falling                                        */
    int64_t count;
    double gap;                /* of every solution                                     */
    fenp_at_rung visit;
    void *user;
    int lengthy;               /* visits take longer than solutions, and want all threads */
} fenp_ladder;
/* Each solution is the start of the next. begun: a state of the problem that is taken over, and
 * ended; NULL: there is none. */
fen_status fenp_ladder_descend(const fenp_linear *problem, fenp_linear_state *begun,
                               const fenp_ladder *rungs, const fenp_task *task, fen_error *err);

/* The rows of one fold have no weight, those of the others are divided by their sum. */
typedef struct fenp_dealt {
    const int64_t *order;      /* n: rows as dealt (fenp_deal_rows)                     */
    int64_t folds, fold;
    const double *w;           /* n: of all outputs together                            */
} fenp_dealt;
/* losses: copies x count, sum of w judge(y, t) over the rows of the fold, t = x.beta + b by the
 * solution that did not see them, w those of the problem; scores (NULL: not wanted): copies x
 * count x n, where the t of the rows of the fold are put. A fold whose other rows are of one
 * class (with a bias) is predicted as that class, one without other rows as 0. */
fen_status fenp_ladder_fold(const fenp_linear *problem, const fenp_dealt *fold,
                            const fen_loss *judge, const double *lambdas, int64_t count,
                            double gap, double *losses, double *scores, const fenp_task *task,
                            fen_error *err);

/* Bytes that it takes beside the state of the solver. */
int64_t    fenp_ladder_fold_bytes(const fenp_design *x, int64_t folds, int64_t count);

/* ---- freedom.c ---- */
/* Degrees of freedom of a solution, tr((H + lambda D)^-1 H) on its support: H the second
 * derivative of the loss there, D that of the penalty. twin: those of fenp_design_twins; NULL: all
 * columns differ. NAN: no memory. */
double     fenp_freedom(const fenp_linear *problem, const fenp_linear_point *at,
                        const int64_t *twin);
#endif
