/* krylov.h -- the Krylov space of a symmetric operator A >= 0 and one vector b
 *
 *     A V = V T + beta v e',   V'V = I,   V e1 = b/|b|,   T tridiagonal
 *
 * T and the first column say all that b'f(A)b needs for every f at once, V solves
 * (A + cI) x = b for every c at once. A enters only through products. */
#ifndef FENP_KRYLOV_H
#define FENP_KRYLOV_H
#include "base/arena.h"
#include "solver/curve.h"

typedef struct fenp_krylov {
    int64_t m, most, steps;    /* order of A, room, steps taken                         */
    double *basis;             /* m x (most + 1), ld m: V and the vector that leads out */
    double *alpha, *beta;      /* T; beta[steps-1] leads out, 0: the space is invariant */
    double *d, *q;             /* most: Ritz values and weights, where the curve lives  */
    double *work;
    double  norm;              /* |b|                                                   */
    double  top;               /* the scale of rounding errors: not below what is known
                                  of the largest eigenvalue                             */
    double  error;             /* of A itself, in norm: eigenvalues below it mean nothing */
    fenp_measure measure;
} fenp_krylov;

/* out = A x, both of length m; x and out do not overlap. */
typedef fen_status fenp_operator(void *state, const double *x, double *out, fen_error *err);

int64_t     fenp_krylov_bytes(int64_t m, int64_t most);
/* top, error: see above; steps raise top. */
fenp_krylov fenp_krylov_new(fenp_arena *arena, int64_t m, int64_t most, double top, double error);
/* A space without steps around b (which may be 0). */
void        fenp_krylov_start(fenp_krylov *space, const double *b);
/* Whether another step can add anything. */
int         fenp_krylov_open(const fenp_krylov *space);
fen_status  fenp_krylov_step(fenp_krylov *space, fenp_operator *times, void *state,
                             fen_error *err);
/* x (steps) = c (T + cI)^-1 e1, c = e^t, t = INFINITY allowed: the solution is |b|/c V x.
 * Returns the norm of its residual relative to |b|. */
double      fenp_krylov_solve(const fenp_krylov *space, double t, double *x);
/* out (m) = factor V x */
void        fenp_krylov_lift(const fenp_krylov *space, double factor, const double *x,
                             double *out);
/* N^2 = b'A(A + cI)^-2 b lies in [G - below, G + above] |b|^2 / c, where G |b|^2 / c is what
 * T makes of it. above is INFINITY where T is not positive to rounding. */
void        fenp_krylov_bounds(const fenp_krylov *space, double t, double *below, double *above);
/* The curve of T; it lives in the space until the next step. */
fen_status  fenp_krylov_curve(fenp_krylov *space, fenp_curve *out, fen_error *err);
#endif
