/* pair.c -- kernels by definition, one pair at a time, and the numbers derived from them
 *
 * Plain scalar loops and libm: the reference that the tiles of gram.c are tested against,
 * and what the diagonal of a kernel matrix is made of.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/error.h"
#include "kernel/gram.h"

static double squared_distance(const double *x, const double *z, int64_t dim)
{
    double sum = 0.0;
    for (int64_t k = 0; k < dim; k++) sum += (x[k] - z[k]) * (x[k] - z[k]);
    return sum;
}

static double l1_distance(const double *x, const double *z, int64_t dim)
{
    double sum = 0.0;
    for (int64_t k = 0; k < dim; k++) sum += fabs(x[k] - z[k]);
    return sum;
}

static double product(const double *x, const double *z, int64_t dim)
{
    double sum = 0.0;
    for (int64_t k = 0; k < dim; k++) sum += x[k] * z[k];
    return sum;
}

double fenp_kernel_pair(const fenp_kernel *k, const double *x, const double *z, int64_t dim)
{
    double basis = NAN; /* precomputed: two rows of values do not make a value */
    switch (k->table->basis) {
    case FEN_SQUARED_DISTANCE: basis = squared_distance(x, z, dim); break;
    case FEN_L1_DISTANCE: basis = l1_distance(x, z, dim); break;
    case FEN_TENSOR: /* of two products of rows */
    case FEN_PRODUCT: basis = product(x, z, dim); break;
    case FEN_PRECOMPUTED: break;
    }
    return k->table->value(basis, &k->par);
}

static double diagonal_at(const fenp_kernel *k, fen_view x, int64_t i)
{
    const double *row = x.at + i * x.stride;
    return k->table->basis == FEN_PRECOMPUTED ? row[i] : fenp_kernel_pair(k, row, row, x.cols);
}

void fenp_gram_diagonal(const fenp_kernel *k, fen_view x, double *out)
{
    for (int64_t i = 0; i < x.rows; i++) out[i] = diagonal_at(k, x, i);
}

double fenp_gram_mean_diagonal(const fenp_kernel *k, fen_view x, const double *w)
{
    double sum = 0.0;
    for (int64_t i = 0; i < x.rows; i++) sum += w[i] * diagonal_at(k, x, i);
    return sum;
}

/* sum_ij w_i w_j |x_i - x_j|^2 = 2 sum_i w_i |x_i - mean|^2. The mean is taken relative to
 * the first row: a large offset costs no digits, and equal rows give exactly 0. */
static double mean_squared_distance(fen_view x, const double *w, double *shift)
{
    for (int64_t k = 0; k < x.cols; k++) shift[k] = 0.0;
    for (int64_t i = 0; i < x.rows; i++)
        for (int64_t k = 0; k < x.cols; k++) shift[k] += w[i] * (x.at[i * x.stride + k] - x.at[k]);
    double sum = 0.0;
    for (int64_t i = 0; i < x.rows; i++) {
        double row = 0.0;
        for (int64_t k = 0; k < x.cols; k++) {
            const double centred = x.at[i * x.stride + k] - x.at[k] - shift[k];
            row += centred * centred;
        }
        sum += w[i] * row;
    }
    return 2.0 * sum;
}

fen_status fenp_gamma_mean(const fen_kernel *kernel, fen_view x, const double *w, double *gamma,
                           fen_error *err)
{
    double *shift = fenp_new(x.cols, sizeof *shift);
    if (!shift) return fenp_no_memory(err, fenp_bytes(x.cols, 1, sizeof *shift), "column means");
    const double mean = mean_squared_distance(x, w, shift);
    free(shift);
    return fenp_gamma_by_rule(kernel, mean, gamma, err);
}

/* Linear: the mean of |x - mean|^2. Else never less than the rounding errors of the difference. */
fen_status fenp_gram_spread(const fenp_kernel *k, fen_view x, const double *w, double *spread,
                            const fenp_task *task, fen_error *err)
{
    const int64_t room = x.rows + (k->table->linear ? x.cols : x.rows);
    double *part = fenp_new(room, sizeof *part), *work = part + x.rows, whole = 0.0;
    if (!part) return fenp_no_memory(err, fenp_bytes(room, 1, sizeof *part), "a mean");
    fen_status status = FEN_OK;
    for (int64_t i = 0; i < x.rows; i++) whole += w[i];
    for (int64_t i = 0; i < x.rows; i++) part[i] = w[i] / whole;
    if (k->table->linear)
        *spread = 0.5 * mean_squared_distance(x, part, work);
    else {
        const double diagonal = fenp_gram_mean_diagonal(k, x, part);
        double mean = 0.0;
        status = fenp_gram_times(k, x, x, part, 1, work, task, err);
        for (int64_t i = 0; status == FEN_OK && i < x.rows; i++) mean += part[i] * work[i];
        *spread = fmax(diagonal - mean, 4.0 * DBL_EPSILON * diagonal);
    }
    free(part);
    return status;
}

fen_status fenp_gamma_by_rule(const fen_kernel *kernel, double mean, double *gamma, fen_error *err)
{
    const double inverse = 1.0 / mean;
    if (mean == 0.0)
        return fenp_fail(err, FEN_BAD_DATA,
                         "all rows have equal inputs, so gamma cannot be chosen from their "
                         "distances; give --gamma a number");
    if (!(isfinite(inverse) && inverse > 0.0))
        return fenp_fail(err, FEN_BAD_DATA,
                         "the mean squared distance of the rows is %g, so gamma cannot be chosen "
                         "from it; use --scale standard or give --gamma a number",
                         mean);
    *gamma = kernel->gamma_is_inverse_length ? sqrt(inverse) : inverse;
    return FEN_OK;
}
