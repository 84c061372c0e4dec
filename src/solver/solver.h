/* solver.h -- one table per algorithm
 *
 * A solver never decides to stop, print, time or allocate: fit.c sizes one arena from
 * bytes, calls begin once, then sweep -> certificate until the gap is met. */
#ifndef FENP_SOLVER_H
#define FENP_SOLVER_H
#include "base/arena.h"
#include "data/prepare.h"
#include "kernel/gram.h"
#include "solver/curve.h"
#include "tensor/form.h"

/* sum w_i loss(y_i, f(x_i) + b) + lambda ||f||^power over one prepared sample. Penalty lp
 * (fenp_is_lp(&kernel)): power is P, 1 < P <= 2, and ||f|| = |w|_P of f = w.phi, see
 * tensor/form.h. */
typedef struct fenp_problem {
    const fenp_sample *sample;
    const fen_loss *loss;
    const double *par;         /* of the loss                                           */
    fenp_kernel kernel;
    double lambda, power;
    int    bias;
    double gap;                /* relative, that the search for a global minimum aims at */
    const char *route;         /* penalty lp: of tensor/form.h, or "auto"; else NULL    */
} fenp_problem;

/* Where sweeps leave the current iterate. */
typedef struct fenp_solution {
    double *dual;              /* targets x n: u_i = w_i z_i, c = scale u               */
    double *scale;             /* targets: 1 / (2 lambda2), lp: 1 / (lambda P); 0 at f = 0 */
    double *offset;            /* targets: b                                            */
    double *weights;           /* targets x p for linear kernels, else NULL             */
    double *tangents;          /* power < 1: targets x FENP_NODES_MAX x n dual vectors
                                  that bound the objective from below (zeros bound
                                  nothing); else NULL                                   */
    double *scores;            /* n: f(x_i), no offset; iterative solvers only, or NULL */
    double *gap;               /* 1: relative gap by an iterative solver's own account  */
} fenp_solution;

/* u = 2 lambda2 c, b = sum w (y - K c), weights = X'c of one target from its c and K c. */
void fenp_solution_set(const fenp_problem *problem, int64_t target, const fenp_root *root,
                       const double *c, const double *kc, fenp_solution *out);

/* One root per target, in an arena. */
int64_t    fenp_roots_bytes(int64_t targets);
fenp_root *fenp_roots_new(fenp_arena *arena, int64_t targets);

/* FEN_BAD_CALL: the factorisation of matrix broke down; least is a lambda that would do with
 * power 2. */
fen_status fenp_lambda_drowns(const fenp_problem *problem, const char *matrix, double least,
                              fen_error *err);

/* power: the smallest that occurs. room: bytes that a solver which can do with less may take
 * for kernel values at most; 0: as many as help. kernel and route: of penalty lp alone
 * (fenp_is_lp), whose power is P. */
typedef struct fenp_size {
    int64_t n, p, targets;
    int     bias;
    double  power;
    int64_t room;
    fenp_kernel kernel;        /* gamma need not be known                               */
    const char *route;
    const fenp_sample *rows;   /* that n counts; NULL: not at hand                      */
} fenp_size;

/* A parameter of the loss that is left free: price par is a term of the objective. */
typedef struct fenp_price {
    double  price;             /* < 0: the parameter earns                              */
    double  least;             /* that a gap is relative to, where the objective is less */
    double *par;               /* the problem's                                         */
} fenp_price;

/* A direct solver does all targets at once, any power it accepts, and its first sweep is the
 * answer. An iterative one (any loss, power 2 alone) is driven by descend.c:
 *   its sample has one target; lambda, par, the labels and the weights of problem may change
 *   from sweep to sweep, rows, kernel and bias may not: begin looks at nothing else;
 *   a sweep starts from the dual vector that it finds in the solution (zeros: cold), made
 *   feasible, and works until its own account of the relative gap is at most problem->gap or
 *   a bounded amount of work is done (some tenths of a second); gap says how far it got;
 *   rows of weight 0 take no part (u_i = 0), but scores holds f(x_i) of all rows;
 *   weights need not sum to 1. */
typedef struct fenp_solver {
    const char *name, *help;
    int        in_weights;         /* works in the weight vector of a linear model       */
    int        iterative;
    int        lp;                 /* for penalty lp, and for nothing else               */
    int        (*accepts)(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size);
    int64_t    (*bytes)(const fenp_size *size);                      /* of the arena    */
    double     (*flops)(const fenp_size *size);                      /* for the planner */
    fen_status (*begin)(fenp_arena *arena, const fenp_problem *problem, void **state,
                        const fenp_task *task, fen_error *err);
    /* Improves the iterate; the first call produces it. */
    fen_status (*sweep)(void *state, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err);
    /* Iterative ones that can, else NULL: a sweep that chooses the parameter of the loss too.
     * gap is infinite, and all else as it was, for a problem that it cannot do. */
    fen_status (*priced)(void *state, const fenp_problem *problem, const fenp_price *price,
                         fenp_solution *out, const fenp_task *task, fen_error *err);
} fenp_solver;
extern const fenp_solver *const fenp_solvers[];          /* in order of preference, NULL last */
const fenp_solver *fenp_find_solver(const char *name);   /* NULL: unknown                     */
#endif
