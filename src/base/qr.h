/* qr.h -- LAPACK's orthogonal factorisations, with 64-bit sizes checked
 *
 * Matrices are column-major. work: fenp_qr_work(columns) doubles, columns the largest number of
 * columns of a matrix that is factorised or multiplied. */
#ifndef FENP_QR_H
#define FENP_QR_H
#include "fenchel/fenchel.h"

int64_t    fenp_qr_work(int64_t columns);
/* A (m x n, stride ld) = Q R: R in the upper triangle, Q as reflectors below it and in tau
 * (min(m, n)). 2 n^2 (m - n/3) flops. */
fen_status fenp_qr(int64_t m, int64_t n, double *a, int64_t ld, double *tau, double *work,
                   fen_error *err);
/* The same of A P, the largest of the remaining columns first: column k of the result is column
 * pivot[k] of A. */
fen_status fenp_qr_pivoted(int64_t m, int64_t n, double *a, int64_t ld, int64_t *pivot,
                           double *tau, double *work, fen_error *err);
/* C (m x columns, stride ldc) <- Q C, or Q'C; Q from the first k columns of a. */
fen_status fenp_qr_multiply(int64_t m, int64_t k, const double *a, int64_t ld, const double *tau,
                            int transposed, double *c, int64_t columns, int64_t ldc,
                            double *work, fen_error *err);
/* 1/(|R| |R^-1|) in the 1-norm, the second estimated; R: upper triangle, n x n. work: 4 n. */
double     fenp_triangular_condition(int64_t n, const double *r, int64_t ld, double *work);
#endif
