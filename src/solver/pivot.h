/* pivot.h -- a quadratic program to its optimum, one variable in or out of the free set at a time */
#ifndef FENP_PIVOT_H
#define FENP_PIVOT_H
#include "base/clock.h"
#include "solver/smo.h"

typedef struct fenp_pivot_room {
    double *factor;            /* n x n: L, and room in what it does not fill           */
    double *work;              /* 7 n                                                   */
    int64_t *who;              /* n                                                     */
    double ridge;              /* R_ii / (K_ii + D_ii), see pivot.c                     */
    int64_t stride;            /* of factor; 0: n                                       */
    int64_t kept;              /* in: factor and who are those of a call before with the same K
                                  and D (n may have grown), which left so many free; 0: they
                                  are not. Out: of this call                            */
    int renewed;               /* whoever calls makes g anew from K before it is believed: of free
                                  variables the equations of the steps will do          */
    const double *expected;    /* n: g at the optimum, about, by which some join at once where
                                  there is no balance; NULL: nobody knows                */
} fenp_pivot_room;

/* Works until the violation is at most tolerance, pivots are used up or the task ends; g goes
 * along. k: n x n, symmetric, row stride ld. *moved: the objective has fallen. */
fen_status fenp_pivot(const fenp_qp *q, const double *k, int64_t ld, double tolerance, int64_t pivots,
                      fenp_pivot_room *room, int *moved, const fenp_task *task, fen_error *err);
#endif
