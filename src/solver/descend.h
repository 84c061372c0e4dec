/* descend.h -- one output by an iterative solver: power 2 and penalty lp directly, any other power
 * >= 1 by a root in one dimension over warm-started solves, and so a parameter with a price (nu)
 * unless the solver can choose it
 *
 *     power m:  log l2 + (2 - m) log N(l2) = log(m lambda / 2),  N(l2) = norm at power 2
 *     price:    d/dpar of the least objective = nu - sum w |dloss^* / dpar| = 0             */
#ifndef FENP_DESCEND_H
#define FENP_DESCEND_H
#include "solver/solver.h"

/* What an iterative solver is asked about for its part of a problem of this size: one output, and
 * power 2 but for penalty lp. */
fenp_size  fenp_descend_size(const fenp_size *size);
/* fenp_threads_narrow where steps are short: rows say so, but for penalty lp, whose steps may be
 * far more work than its rows. */
int        fenp_descend_narrow(const fenp_solver *solver, const fenp_problem *problem);
/* problem: one target, any power >= 1; solver->begin has made state. nu > 0: *par is free.
 * out (one target; scores and gap not NULL) is the start and the answer. FEN_LIMIT and
 * FEN_STOPPED leave the best iterate so far in out. reached: the solver's own account of the
 * gap is at most problem->gap. */
fen_status fenp_descend(const fenp_solver *solver, void *state, const fenp_problem *problem,
                        double nu, double *par, fenp_solution *out, int *reached,
                        const fenp_task *task, fen_error *err);
#endif
