/* linear.h -- linear models with a penalty on the coefficients, by working sets
 *
 *     P = sum_i w_i v_i(t_i) + lambda sum_g a_g (mix ||beta_g|| + (1 - mix)/2 ||beta_g||^2),
 *     t = X beta + b,   beta >= 0 on request
 *     D = - sum_i w_i v_i*(-z_i) - sum_g (lambda a_g value)*(||x_g'u||),   u = w z,
 *         with bias sum u = 0, and x_j'u = 0 for coefficients of weight 0
 *
 * (beta >= 0, of coefficients of weight 0 too: the positive part of x_j'u takes its place.) */
#ifndef FENP_LINEAR_H
#define FENP_LINEAR_H
#include "base/clock.h"
#include "data/design.h"

typedef struct fenp_linear {
    const fenp_design *x;
    const fen_loss *loss;
    const double *par;         /* of the loss                                           */
    const double *y, *w;       /* copies x n; rows of weight 0 take no part, the others need
                                  not sum to 1                                          */
    int    bias;               /* one for every copy                                    */
    double mix;                /* 1: l1 or groups of it; 0: squares alone               */
    const fenp_groups *groups;
    int    nonnegative;
    const char *engine;        /* "auto" or one of fenp_linear_engines                  */
    int64_t room;              /* bytes for a Gram matrix and its columns, beyond which
                                  coordinate descent does without; 0: as many as help   */
    const struct fenp_products *products;    /* of a design by rows (products.h); NULL: to be made */
    int64_t label;             /* which of their labels y is                             */
    int64_t without;           /* the part of them whose rows weigh 0, from 1 on; 0: none  */
} fenp_linear;
/* May x be by rows? Square loss, one copy, no more columns than rows. */
int        fenp_linear_takes_rows(const fenp_linear *problem);

/* One solution, arrays by whoever asks. */
typedef struct fenp_linear_point {
    double lambda;
    double *beta;              /* copies x p; where the search starts                   */
    double *b;                 /* copies; likewise                                      */
    double *u;                 /* copies x n: dual vector w z, -z a slope of the loss; D takes as
                                  much of it as is feasible; NULL: not wanted, which can
                                  save a product                                        */
    double loss;               /* first term of primal                                  */
    double primal, dual, relative_gap;   /* by the solver's own account                 */
    int64_t terms;             /* coefficients that are not 0                           */
    const char *method;        /* engine                                                */
} fenp_linear_point;

typedef struct fenp_linear_state fenp_linear_state;
/* problem and all it points to stay as they are until the end. */
fen_status fenp_linear_begin(const fenp_linear *problem, fenp_linear_state **out,
                             const fenp_task *task, fen_error *err);
/* The least lambda with all penalised coefficients 0 (mix 0: as if mix were 1e-3); 0 if there is
 * none, as the model without them has no finite loss (tube). */
double     fenp_linear_lambda_max(const fenp_linear_state *s);
/* Solves for point->lambda (> 0; anything if no coefficient is penalised) until the relative
 * gap is at most gap or no longer shrinks. Best called with falling lambdas: products, Gram
 * matrices and the last solution are kept. FEN_LIMIT, FEN_STOPPED: the point holds the best so
 * far all the same. */
fen_status fenp_linear_solve(fenp_linear_state *s, double gap, fenp_linear_point *point,
                             const fenp_task *task, fen_error *err);
/* Another state of the same problem for another thread, from where this one is; it is ended first.
 * NULL: there is none (square loss and coefficients by themselves, with a Gram matrix of all of
 * them, which both read), or no memory. */
fenp_linear_state *fenp_linear_twin(const fenp_linear_state *s);
void       fenp_linear_end(fenp_linear_state *s);
/* Bytes of such a state, roughly, and of its twin. The planner does not know groups: NULL. */
int64_t    fenp_linear_bytes(const fenp_linear *problem);
extern const char *const fenp_linear_engines[];   /* NULL last: active-set, coordinate, interior */
#endif
