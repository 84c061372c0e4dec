/* least_squares.h -- weighted least squares of any rank, by QR with column pivoting */
#ifndef FENP_LEAST_SQUARES_H
#define FENP_LEAST_SQUARES_H
#include "solver/linear.h"

typedef struct fenp_least_squares {
    int64_t rank;              /* of the centred (with bias) weighted columns           */
    double  condition;         /* of the leading rank columns, estimated                */
    int64_t *aliased;          /* p: 1 for a column that the others before it span      */
} fenp_least_squares;
/* beta, b, u (w z, with X'u = 0 to rounding): of least norm among the best where rank < p.
 * targets right-hand sides, arrays targets x .. , y too, but one w for all of them; copies is 1.
 * problem->groups and nonnegative are not looked at, nor is the loss: it is the square.
 * facts->aliased by the caller. */
fen_status fenp_least_squares_solve(const fenp_linear *problem, int64_t targets, double *beta,
                                    double *b, double *u, fenp_least_squares *facts,
                                    const fenp_task *task, fen_error *err);
/* Beside the data; -1: too many to be counted. */
int64_t    fenp_least_squares_bytes(int64_t n, int64_t p, int64_t targets);
#endif
