/* fold.h -- sample weights and the unpenalised bias, folded into the kernel matrix
 *
 * The one place that knows about bias. With S = diag(sqrt(n w)) and B an orthonormal
 * basis of the complement of s = S1 (or the identity without bias),
 *
 *     minimise  sum w_i (y_i - f(x_i) - b)^2 + lambda ||f||^2,  f = sum c_i k(x_i, .)
 *
 * becomes (B'SKSB + n lambda I) v = B'Sy with c = S B v, so that sum c = 0 holds to
 * rounding whatever lambda is. B is the first n-1 columns of one Householder
 * reflection H = I - tau h h' that maps s to a multiple of the last unit vector. */
#ifndef FENP_FOLD_H
#define FENP_FOLD_H
#include <stdint.h>

typedef struct fenp_fold {
    int64_t n, m;              /* m = n - 1 with bias, else n                           */
    double *s;                 /* n: sqrt(n w)                                          */
    double *h, tau;            /* n: the reflection; NULL without bias                  */
} fenp_fold;

int64_t   fenp_fold_doubles(int64_t n, int bias);          /* what store must hold      */
fenp_fold fenp_fold_make(const double *w, int64_t n, int bias, double *store);
/* down (m) = B'S full;  full (n) = S B down. full is overwritten as work space in down. */
void fenp_fold_down(const fenp_fold *fold, double *full, double *down);
void fenp_fold_up(const fenp_fold *fold, const double *down, double *full);
/* Upper triangle of a (n x n, ld n, diagonal in diag) holds K: the lower triangle of
 * its leading m x m block becomes B'SKSB + shift I. work: 2n doubles. Cost 4 n^2. */
void fenp_fold_matrix(const fenp_fold *fold, double *a, const double *diag, double shift,
                      double *work);
/* The same of some rows of a larger K (ld x ld), in ascending order: the leading block of the
 * lower triangle becomes theirs. work: 2 ld doubles. */
void fenp_fold_part(const fenp_fold *fold, double *a, int64_t ld, const int64_t *rows,
                    const double *diag, double shift, double *work);
/* product (n x k, ld n) = K x (n x k, ld n), K from the upper triangle of a and diag. */
void fenp_upper_times(int64_t n, const double *a, const double *diag, const double *x, int64_t k,
                      double *product);
#endif
