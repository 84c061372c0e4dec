/* interior.h -- a loss in pieces with norms as penalty, by a primal-dual interior point method, or
 * along vertices where all pieces are straight
 *
 *     minimise over beta   sum_i w_i v_i(x_i . beta) + sum_g l_g ||beta_g|| + sum_j d_j/2 beta_j^2
 *
 * v_i in pieces (fen_loss.piece). l_g = 0: the group is free. beta_j >= 0 where asked. A bias is
 * a free column of ones. */
#ifndef FENP_INTERIOR_H
#define FENP_INTERIOR_H
#include "base/clock.h"
#include "fenchel/extend.h"

/* Where a walk ended: a vertex (interior_vertex.h) */
typedef struct fenp_interior_end {
    int64_t m;                 /* 0: nowhere                                            */
    int64_t *column, *corner;  /* room for k of both                                    */
} fenp_interior_end;

typedef struct fenp_interior {
    int64_t n, k;
    const double *x;           /* n x k, column-major                                   */
    const fen_loss *loss;
    const double *par, *y, *w; /* rows of weight 0 take no part                         */
    int64_t groups;
    const int64_t *start;      /* groups + 1: members are consecutive columns           */
    const double *l;           /* groups: 0 or more                                     */
    const double *d;           /* k: 0 or more, alike within a group                    */
    int nonnegative;           /* all columns but the unbounded ones; groups of one     */
    int64_t unbounded;         /* the last so many groups: free, of any sign (biases)   */
    const double *f0;          /* n: scores that are there before X beta; NULL: 0       */
    fenp_interior_end *end;    /* in: of an answer for the same rows, out; NULL: none    */
    int    inside;             /* for tests: interior points alone, no walk              */
} fenp_interior;
/* beta: k, in (a guess or 0; the answer for prices near these is a good one) and out; u: n, the dual
 * vector w z, out: inside the domain of the conjugates and in the feasible set. *gap: P - D over
 * max(|P|, 1e-12 P(0)); infinite if no beta with a finite P was found. Works until that is at most
 * goal, or no longer falls. FEN_LIMIT, FEN_STOPPED: beta, u and gap are the best so far. */
fen_status fenp_interior_solve(const fenp_interior *q, double goal, double *beta, double *u,
                               double *gap, const fenp_task *task, fen_error *err);
#endif
