/* select_linear.h -- what the search for lambda along a path shares with its folds */
#ifndef FENP_SELECT_LINEAR_H
#define FENP_SELECT_LINEAR_H
#include "promise/ladder.h"
#include "story.h"

#define FENP_SEARCH_GAP 1e-5   /* of every solution: scores have no more digits */

typedef struct fenp_lambda_search {
    const fenp_linear *problems;
    int64_t problem_count;
    const fenp_sample *sample;
    const fen_options *o;
    const fenp_output *outputs;
    const fen_loss *loss;
    double gamma;  /* of the kernel: it is the same everywhere              */
    int64_t count; /* lambdas                                               */
    double *lambdas;
    double *terms, *df;  /* count: means over the outputs, sums                   */
    int64_t *twin;       /* columns that are the same, for df; NULL: folds need none */
    double *fit;         /* targets x count: mean loss on all rows                */
    double *errors;      /* count: shares of rows in another class                */
    double *units;       /* targets: of the scores                                */
    int64_t folds, done; /* 0: none; how many are finished                        */
    int64_t *order;
    double *held;   /* folds x targets x count: sums of w loss               */
    double *weight; /* folds x targets: sums of w, 0 until a fold is finished */
    double *scores; /* targets x count x n; NULL: no classes                 */
    fenp_score *grid;
} fenp_lambda_search;

/* Sum of w over the rows; of one fold (-1: all). */
double     fenp_search_weight(const fenp_lambda_search *s, const double *w, int64_t fold);
/* Runs the folds; done counts those that were finished, whichever they are. */
fen_status fenp_search_folds(fenp_lambda_search *s, const fenp_task *task, fen_error *err);
#endif
