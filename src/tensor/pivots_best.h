/* pivots_best.h -- the largest scores of many, by the numbers of their points */
#ifndef FENP_PIVOTS_BEST_H
#define FENP_PIVOTS_BEST_H
#include <stdint.h>

typedef struct fenp_scored {
    double  score;
    int64_t k;                 /* number of the point */
} fenp_scored;

typedef struct fenp_best {
    fenp_scored *at;           /* room for twice as many as are wanted      */
    int64_t count, want;
    double  least;             /* scores up to this one cannot be among them */
} fenp_best;

void    fenp_best_offer(fenp_best *best, double score, int64_t k);
/* No more than are wanted, the largest first. */
void    fenp_best_settle(fenp_best *best);
/* number (one->want + two->want) <- the points of both, each once, ascending; returns how many. */
int64_t fenp_best_join(const fenp_best *one, const fenp_best *two, int64_t *number);
#endif
