/* spectrum.h -- one eigendecomposition that answers every lambda
 *
 * Dual form:   B'SKSB = Q D Q',  basis U = B Q (n x r, orthonormal columns), r = m.
 * Primal form (linear kernel, p < n): Z = S(X - 1 xbar'), Z'Z = Q D Q', basis U = Z Q
 * (n x p, U'U = D), r = p. Either way, with ty = U'Sy and c = n lambda,
 *     dual:    a = U (ty / (d + c)),   fitted values  Sy - c a (in the folded space);
 *     primal:  w = Q (ty / (d + c)),   fitted values  U (ty / (d + c)).
 * Eigenvalues below n eps d_max are rounding errors and count as zero. */
#ifndef FENP_SPECTRUM_H
#define FENP_SPECTRUM_H
#include "solver/fold.h"
#include "solver/solver.h"

typedef struct fenp_spectrum {
    int       primal;
    int64_t   n, rank, targets;
    double   *d;               /* rank: eigenvalues, ascending                          */
    double   *basis;           /* n x rank, column-major, ld n                          */
    double   *ty;              /* rank x targets                                        */
    double   *y;               /* n x targets: what the basis explains (Sy, centred)    */
    double   *rest;            /* targets: |y|^2 outside the span of the basis          */
    double   *rotation;        /* primal: Q, rank x rank; dual: NULL                    */
    fenp_fold fold;
} fenp_spectrum;

int64_t    fenp_spectrum_bytes(const fenp_size *size, int primal);
fen_status fenp_spectrum_make(fenp_arena *arena, const fenp_problem *problem, int primal,
                              fenp_spectrum *out, const fenp_task *task, fen_error *err);
/* The dual form from a matrix that is there already: a holds K in its upper triangle. */
fen_status fenp_spectrum_of_matrix(fenp_arena *arena, const double *w, const double *y, int64_t n,
                                   int64_t targets, int bias, double *a, fenp_spectrum *out,
                                   fen_error *err);
/* The curve of one target (curve.h); q: rank doubles that live as long as the curve. */
fenp_curve fenp_spectrum_curve(const fenp_spectrum *spectrum, int64_t target, double *q,
                               fenp_measure *measure);
#endif
