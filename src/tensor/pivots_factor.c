/* pivots_factor.c -- are these the weights of the pivots?
 *
 *     G_SS = L L',   f~(z) = <sum_s c_s psi(u_s), g(z)>,   |sum_s c_s psi(u_s)|^2 = c'G_SS c
 *
 * with g(z) = sum over tuples of a^t psi(x_t * z): weights that are off by d move f~(z) by at most
 * |L'd| |g(z)|, in any z. A difference in a few training rows bounds nothing of the kind.
 * Special cases: pivots that depend on each other, or kernel values that are no numbers, end the
 *   factor.
 * Accuracy: L'c to the rounding errors of c over the smallest pivot, about 1e-10 of |f~|.
 * Cost: count^2 p + count^3/3. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "tensor/pivots_factor.h"
#include "tensor/pivots_parts.h"

fen_status fenp_pivots_factor(const fenp_kernel *kernel, fen_view x, fenp_pivots *pivots,
                              int64_t *rank, const fenp_task *task, fen_error *err)
{
    const int64_t r = pivots->count, bytes = fenp_bytes(r, r, sizeof(double));
    double *point = fenp_new(fenp_bytes(r, x.cols, sizeof *point), 1);
    fen_status status = FEN_OK;
    pivots->factor = fenp_new(bytes, 1);
    *rank = 0;
    if (point && pivots->factor) {
        fenp_span_points(x, pivots->h, pivots->row, r, point);
        fenp_point_kernel(kernel, x.cols, point, r, point, r, pivots->factor, r);
        status = fenp_cholesky(r, pivots->factor, r, rank, task, err);
    } else {
        status = fenp_no_memory(err, bytes, "the factor of the pivots");
    }
    free(point);
    return status;
}

static double length_of(const fenp_pivots *pivots, double *c)
{
    const int r = (int)pivots->count;
    cblas_dtrmv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, r, pivots->factor, r, c, 1);
    return cblas_dnrm2(r, c, 1);
}

double fenp_pivots_distance(const fenp_pivots *pivots, const double *c, const double *right,
                            double *d)
{
    for (int64_t s = 0; s < pivots->count; s++) d[s] = c[s] - right[s];
    const double off = length_of(pivots, d);
    memcpy(d, right, (size_t)pivots->count * sizeof *d);
    const double size = length_of(pivots, d);
    return off == 0.0 ? 0.0 : size > 0.0 ? off / size : INFINITY;
}
