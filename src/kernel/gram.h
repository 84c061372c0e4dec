/* gram.h -- kernel matrices in tiles: GEMM for the basis, SLEEF for the map
 *
 * Squared distances of long rows come from |x|^2 + |z|^2 - 2 x.z; where that cancels
 * (near-duplicate rows), and for short rows, from the differences: they are never
 * negative and accurate to 1e-12 relative; equal rows give exactly 0. */
#ifndef FENP_GRAM_H
#define FENP_GRAM_H
#include "fenchel/extend.h"
#include "base/clock.h"

typedef struct fenp_kernel { const fen_kernel *table; fen_kernel_par par; } fenp_kernel;

/* One pair by definition. For FEN_PRECOMPUTED use the table's values, not this. */
double fenp_kernel_pair(const fenp_kernel *k, const double *x, const double *z, int64_t dim);

/* The full symmetric matrix of x's rows, upper triangle (column-major, i <= j at
 * k[i + j*n]); the strict lower triangle is left alone. Bit-identical for any number
 * of threads. The diagonal is exactly k(x,x). */
fen_status fenp_gram_upper(const fenp_kernel *k, fen_view x, double *out, const fenp_task *task,
                           fen_error *err);
/* The same triangle in single precision: k(x_i, x_j) / unit at out[i + j(j+1)/2]. */
fen_status fenp_gram_packed(const fenp_kernel *k, fen_view x, double unit, float *out,
                            const fenp_task *task, fen_error *err);
/* Both triangles in single precision, ld to a row. */
fen_status fenp_gram_single(const fenp_kernel *k, fen_view x, int64_t ld, float *out,
                            fen_error *err);
/* out (rows.rows x targets, row-major) = K(rows, centres) coef (targets x centres.rows).
 * K never exists as a whole. Precomputed: rows hold kernel values against the centres. */
fen_status fenp_gram_times(const fenp_kernel *k, fen_view rows, fen_view centres,
                           const double *coef, int64_t targets, double *out,
                           const fenp_task *task, fen_error *err);
/* out[i] (centres.rows doubles each) = kernel values of row i against the centres. */
fen_status fenp_gram_rows(const fenp_kernel *k, fen_view rows, fen_view centres,
                          double *const *out, fen_error *err);
/* 1/(weighted mean squared distance over all pairs, i = j included), or its square root
 * where gamma is an inverse length. FEN_BAD_DATA if all rows are equal. */
fen_status fenp_gamma_mean(const fen_kernel *kernel, fen_view x, const double *w, double *gamma,
                           fen_error *err);
/* The same from the mean squared distance. */
fen_status fenp_gamma_by_rule(const fen_kernel *kernel, double mean, double *gamma, fen_error *err);
/* Weighted mean of k(x,x): the natural unit of lambda. */
double     fenp_gram_mean_diagonal(const fenp_kernel *k, fen_view x, const double *w);
/* The same of the centred kernel, sum w k(x,x) - sum w w k(x,z) with sum w = 1, which a
 * constant added to the kernel does not change. w may have any sum here. */
fen_status fenp_gram_spread(const fenp_kernel *k, fen_view x, const double *w, double *spread,
                            const fenp_task *task, fen_error *err);
/* k(x_i, x_i) for all i */
void       fenp_gram_diagonal(const fenp_kernel *k, fen_view x, double *out);
#endif
