/* homotopy.h -- the exact path of the lasso: pieces linear in lambda, with their breakpoints
 *
 *     min sum w_i (y_i - x_i.beta - b)^2 + lambda sum_j a_j |beta_j|   for all lambda at once */
#ifndef FENP_HOMOTOPY_H
#define FENP_HOMOTOPY_H
#include "solver/linear.h"

typedef struct fenp_break {
    double  lambda;            /* the piece below it begins here                        */
    int64_t feature;           /* that enters or leaves; -1: the end of the path        */
    int     enters;            /* 1, or 0: it leaves                                    */
    int64_t terms;             /* coefficients other than 0 just below lambda           */
} fenp_break;
/* Called for every breakpoint from lambda_max down with the solution there. FEN_OK: go on. */
typedef fen_status (*fenp_at_break)(void *user, const fenp_break *at, const double *beta, double b,
                                    fen_error *err);
/* Square loss, mix 1, one copy, every coefficient by itself; nonnegative and weights (0 too)
 * allowed. Ends at lambda <= least, with rank many terms, or after most breakpoints. */
fen_status fenp_homotopy(const fenp_linear *problem, double least, int64_t most,
                         fenp_at_break visit, void *user, const fenp_task *task, fen_error *err);
#endif
