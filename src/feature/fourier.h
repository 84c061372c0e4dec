/* fourier.h -- random Fourier features: a kernel as the inner product of a few columns
 *
 *     k(x, z) ~ phi(x).phi(z),   phi(x) = sqrt(2/D) (cos(omega_j.x), sin(omega_j.x)), j < D/2
 *
 * with frequencies omega drawn from the kernel's spectral law (fen_kernel.spectral_degrees). The
 * mean over the draws is the kernel exactly; the error of one draw falls as 1/sqrt(D). D counts
 * columns: a cosine and a sine are two. phi(x).phi(x) = 1 exactly. */
#ifndef FENP_FOURIER_H
#define FENP_FOURIER_H
#include "kernel/gram.h"

/* What --approx asks for. columns 0: the exact kernel. */
typedef struct fenp_approx { int64_t columns; int orthogonal; } fenp_approx;
enum { FENP_COLUMNS_MAX = 20000 };
fen_status fenp_approx_read(const char *text, fenp_approx *out, fen_error *err);
/* FEN_BAD_CALL if the kernel has no such features. */
fen_status fenp_approx_check(const fenp_approx *approx, const fen_kernel *kernel, fen_error *err);

/* omega (columns/2 x p, row-major): depends on the seed and the sizes alone, not on threads,
 * and fewer columns are the first ones of more. orthogonal: frequencies in blocks of p
 * that are orthogonal to each other, with lengths drawn independently. */
void fenp_fourier_draw(const fenp_approx *approx, const fenp_kernel *kernel, int64_t p,
                       uint64_t seed, double *omega);
/* z (rows x columns, column-major, ld) = phi of the rows of x (rows x p, row-major). */
void fenp_fourier_map(const double *omega, int64_t columns, const double *x, int64_t p,
                      int64_t rows, double *z, int64_t ld);
#endif
