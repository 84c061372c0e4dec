/* select.h -- the search for gamma, lambda and power, and the scores that it goes by */
#ifndef FENP_SELECT_H
#define FENP_SELECT_H
#include "story.h"

typedef struct fenp_search {
    const fen_options   *o;
    const fenp_output   *outputs;  /* NULL: not looked at for the square loss           */
    const fenp_strategy *strategy;
    const fenp_sample   *all;      /* every row: what the units of lambda go by         */
    const fenp_sample   *sample;   /* the rows of this round                            */
    int64_t     rows;              /* so many                                           */
    fenp_kernel kernel;
    fenp_score *grid;
    int64_t     count, best;
    fenp_score  coarse;            /* the best of the coarse round; lambda 0: there was none */
} fenp_search;

/* ---- select_scores.c ---- */
/* Pairs of lambda and power that are scored with each gamma. */
int        fenp_search_settings(const fenp_search *s);
/* Adds the scores of all settings with each of these gammas to the grid, and finds the best. Those
 * that are there before FEN_LIMIT stay. */
fen_status fenp_score_gammas(fenp_search *s, const double *gammas, int count,
                             const fenp_task *task, fen_error *err);
#endif
