/* linalg.h -- the BLAS and LAPACK calls of the project, with 64-bit sizes checked
 *
 * Matrices here are column-major, as LAPACK wants them. Every function returns
 * FEN_BAD_CALL if a size exceeds what the installed LAPACK's int can hold. */
#ifndef FENP_LINALG_H
#define FENP_LINALG_H
#include <cblas.h>
#include "base/clock.h"

/* A = L L' in the lower triangle (the strict upper one is not touched), by blocks
 * with progress between them. n^3/3 flops. *rank < n: the leading minor of order
 * rank+1 is not positive. */
fen_status fenp_cholesky(int64_t n, double *a, int64_t ld, int64_t *rank,
                         const fenp_task *task, fen_error *err);
/* B (n x k, ld n) <- (L L')^-1 B */
fen_status fenp_cholesky_solve(int64_t n, const double *l, int64_t ld, double *b, int64_t k,
                               fen_error *err);
/* The lower triangle of A <- the upper one, as far as its columns from .. n - 1 tell of it. */
void       fenp_mirror_upper(int64_t from, int64_t n, double *a, int64_t ld);
/* L <- L^-1, in place; n^3/3 flops */
fen_status fenp_triangular_inverse(int64_t n, double *l, int64_t ld, fen_error *err);
/* Lower triangle of A -> eigenvalues d ascending, eigenvectors in the columns of A.
 * work: fenp_eigen_work(n) doubles. */
int        fenp_eigen_possible(int64_t n);            /* the work area fits LAPACK's int */
int64_t    fenp_eigen_work(int64_t n);
fen_status fenp_eigen(int64_t n, double *a, int64_t ld, double *d, double *work, fen_error *err);
/* Diagonal d and off-diagonal e (destroyed) of a symmetric tridiagonal matrix -> d ascending,
 * eigenvectors in the columns of z (n x n). work: fenp_tridiagonal_work(n) doubles. */
int64_t    fenp_tridiagonal_work(int64_t n);
fen_status fenp_tridiagonal_eigen(int64_t n, double *d, double *e, double *z, double *work,
                                  fen_error *err);
#endif
