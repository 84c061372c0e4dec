/* registry.c -- every solver, the planner's favourite first */
#include "solver/solver.h"

#include <string.h>

extern const fenp_solver fenp_solver_primal, fenp_solver_cholesky, fenp_solver_spectral,
    fenp_solver_lanczos, fenp_solver_lanczos32, fenp_solver_newton_linear, fenp_solver_newton,
    fenp_solver_block, fenp_solver_lp_newton, fenp_solver_lp_gradient;

const fenp_solver *const fenp_solvers[] = { &fenp_solver_primal,
                                            &fenp_solver_cholesky,
                                            &fenp_solver_spectral,
                                            &fenp_solver_lanczos,
                                            &fenp_solver_lanczos32,
                                            &fenp_solver_newton_linear,
                                            &fenp_solver_block,
                                            &fenp_solver_newton,
                                            &fenp_solver_lp_newton,
                                            &fenp_solver_lp_gradient,
                                            NULL };

const fenp_solver *fenp_find_solver(const char *name)
{
    for (int i = 0; fenp_solvers[i]; i++)
        if (strcmp(fenp_solvers[i]->name, name) == 0) return fenp_solvers[i];
    return NULL;
}
