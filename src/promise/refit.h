/* refit.h -- held-out scores of many settings for any loss, by refits on one kernel matrix */
#ifndef FENP_REFIT_H
#define FENP_REFIT_H
#include "data/outputs.h"
#include "promise/loo.h"

typedef struct fenp_refits {
    const fenp_solver *solver;     /* iterative                                         */
    const fenp_output *outputs;    /* of the sample's targets; their par is used        */
    double   nu;                   /* price of the loss's parameter; 0: it is par       */
    int64_t  folds;                /* 0: leave-one-out                                  */
    double   gap;                  /* relative, of every refit; 0: 1e-4 for folds, 1e-6
                                      for single rows                                   */
    uint64_t seed;
    int      hurried;              /* 1: lambdas far below the best one score INFINITY
                                      and cost nothing                                  */
} fenp_refits;

/* The loss that held-out rows are judged by: its own, but eps for tube, which knows nothing
 * between 0 and infinity. */
const fen_loss *fenp_judge(const fen_loss *loss);
/* walk: count, the settings in the order in which each solution is a good start for the next:
 * by power, then from the largest lambda down. */
void       fenp_order_settings(const fenp_setting *points, int64_t count, int64_t *walk);
int64_t    fenp_scores_refit_bytes(const fenp_solver *solver, const fenp_size *size,
                                   int64_t count, int64_t folds);
/* Of problem sample, loss, kernel and bias are used. scores: targets x count, the weighted mean
 * held-out loss of each output over the rows that concern it. held (NULL: not wanted): targets
 * x count x n, f(x_i) + b of every row by the solution that did not see it. */
fen_status fenp_scores_refit(fenp_arena *arena, const fenp_problem *problem,
                             const fenp_refits *how, const fenp_setting *points, int64_t count,
                             double *scores, double *held, const fenp_task *task, fen_error *err);
#endif
