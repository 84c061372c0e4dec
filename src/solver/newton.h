/* newton.h -- what Newton's method does the same way for expansions and for weight vectors
 *
 * A method knows the coefficients of f, the direction of a step and the gap that a dual vector
 * proves; the loss is target.h's business; how bold the steps are is decided here. */
#ifndef FENP_NEWTON_H
#define FENP_NEWTON_H
#include "solver/target.h"

typedef struct fenp_newton fenp_newton;
typedef struct fenp_newton_method {
    /* From slope, d and the coefficients: the step, df = what it does to the scores, db,
     * cross, square, shift and fuzz. */
    fen_status (*direction)(fenp_newton *it, const fenp_task *task, fen_error *err);
    /* Adds part of the step to the coefficients; f and b have been seen to. */
    void       (*move)(fenp_newton *it, double part);
    /* The relative gap and the objective of what would be handed over now; f and b may be made
     * more accurate on the way. The last call before the end of a run. */
    double     (*gap)(fenp_newton *it);
} fenp_newton_method;

struct fenp_newton {
    const fenp_newton_method *method;
    void   *state;             /* of the method                                         */
    fenp_target q;             /* lambda in it is that of the step                      */
    double  unit;              /* mean of k(x,x)                                        */
    double *y, *f, *df;        /* n each: labels of q; scores and their step            */
    double *slope, *d;         /* n each: w v'(t), w v''(t)                             */
    double  b, db;
    double  norm2;             /* ||f||^2                                               */
    double  cross, square;     /* f.df and df.df in the norm of the penalty             */
    double  shift;             /* 2 lambda of the step, raised if rounding asks for it  */
    double  fuzz;              /* see fenp_ray                                          */
    double *u, *fitted, *u_b;  /* n, n, 1: what would be handed over, the method's own:
                                  dual vector, scores and b                             */
    double  handed;            /* objective of that                                     */
    double *kept_u, *kept;     /* n each: the same with the least objective so far      */
    double  kept_b, kept_gap, least;
};
enum { FENP_NEWTON_VECTORS = 7 };
void fenp_newton_open(fenp_newton *it, fenp_arena *arena, int64_t n);

/* The problem of a sweep; f = 0 and b is the best constant. */
void fenp_newton_set(fenp_newton *it, const fenp_problem *problem);
/* df and square belong to coefficients u/(2 lambda), u feasible: f becomes a multiple between 0
 * and 1 of df, at which the slopes are -u as far as one number can make them so: the function
 * of the lambda for which u was found, if that was larger. Returns the multiple; 0 if a
 * constant is better. */
double fenp_newton_scale(fenp_newton *it, const double *u);
/* Steps until the relative gap is at most target, or rounding errors are all there is. warm:
 * f is a guess. reached: the relative gap. */
fen_status fenp_newton_run(fenp_newton *it, int warm, double target, double *reached,
                           const fenp_task *task, fen_error *err);
/* scale, offset, scores and gap of the solution. */
void fenp_newton_leave(const fenp_newton *it, const double *f, double b, double gap,
                       fenp_solution *out);
#endif
