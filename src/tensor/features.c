/* features.c -- the features of a kernel whose series ends
 *
 *     phi_k(x) = (series(|k|) |k|! / (k_1! k_2! ...))^(1/q) x^k   over all multi-indices k,
 *
 * of a linear kernel x itself. Degrees ascend; within a degree multisets of columns in the order
 * of fenp_multisets.
 * Method: a multiset grows by one column at a time. The s-th member, equal to e - 1 before it,
 *   multiplies |k|!/(k_1! ...) by s/e: all features with the same members but the last are
 *   one multiple of a stretch of x, only the first of them (e > 1) has another factor.
 * Special cases: no columns: no features but a constant one, where the series has one.
 * Accuracy: 3 roundings for each member.
 * Cost: one multiplication and one store for each feature. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "tensor/duality.h"
#include "tensor/form.h"
#include "tensor/pivots.h"

enum { ROOTS = 32, BLOCK_DOUBLES = 1 << 20 };

static double coefficient(const fenp_kernel *kernel, int64_t m)
{
    return kernel->table->series(m, &kernel->par);
}

/* ---- which they are ---------------------------------------------------------------------- */

int64_t fenp_feature_count(const fenp_kernel *kernel, int64_t p)
{
    if (kernel->table->linear) return p;
    const int64_t last = kernel->table->last(&kernel->par);
    if (last < 0) return INT64_MAX;
    int64_t total = 0;
    for (int64_t m = 0; m <= last; m++) {
        if (coefficient(kernel, m) == 0.0) continue;
        const int64_t more = fenp_multisets(p, m);
        if (more >= INT64_MAX - total) return INT64_MAX;
        total += more;
    }
    return total;
}

int64_t fenp_feature_members(const fenp_kernel *kernel, int64_t p, int64_t k, int64_t *member)
{
    int64_t m = kernel->table->linear;
    while (!kernel->table->linear) {
        const int64_t here = coefficient(kernel, m) == 0.0 ? 0 : fenp_multisets(p, m);
        if (k < here) break;
        k -= here;
        m++;
    }
    fenp_multiset_at(p, m, k, member);
    return m;
}

/* ---- what they are ----------------------------------------------------------------------- */

/* The features of degree `degree` of one row. */
typedef struct row {
    const double *x;
    int64_t p, degree;
    double exponent;                    /* 1/q                                      */
    double root[ROOTS], inverse[ROOTS]; /* of small numbers: to the 1/q and the -1/q */
} row;

static double root_of(const row *r, int64_t number)
{
    return number < ROOTS ? r->root[number] : pow((double)number, r->exponent);
}

static double inverse_root(const row *r, int64_t number)
{
    return number < ROOTS ? r->inverse[number] : pow((double)number, -r->exponent);
}

/* All that begin with `taken` members, the last of them `from`, which stands `equal` times;
 * value: what these come to. Where they end in out. */
static double *grow(const row *r, double value, int64_t taken, int64_t from, int64_t equal,
                    double *out)
{
    const double step = value * root_of(r, taken + 1);
    if (taken + 1 == r->degree) {
        for (int64_t j = from; j < r->p; j++) out[j - from] = step * r->x[j];
        out[0] *= inverse_root(r, equal + 1);
        return out + (r->p - from);
    }
    for (int64_t j = from; j < r->p; j++) {
        const int64_t same = j == from ? equal + 1 : 1;
        out = grow(r, step * r->x[j] * inverse_root(r, same), taken + 1, j, same, out);
    }
    return out;
}

static void features_of_row(const fenp_kernel *kernel, row *r, double *out)
{
    const int64_t last = kernel->table->last(&kernel->par);
    for (int64_t m = 0; m <= last; m++) {
        const double series = coefficient(kernel, m);
        if (series == 0.0) continue;
        const double value = pow(series, r->exponent);
        r->degree = m;
        if (m == 0)
            *out++ = value;
        else if (r->p > 0)
            out = grow(r, value, 0, 0, 0, out);
    }
}

void fenp_features_of(const fenp_kernel *kernel, fen_view x, double *out)
{
    const int64_t count = fenp_feature_count(kernel, x.cols);
    row first = { .p = x.cols, .exponent = 1.0 / kernel->par.order };
    for (int k = 1; k < ROOTS; k++) {
        first.root[k] = pow((double)k, first.exponent);
        first.inverse[k] = pow((double)k, -first.exponent);
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < x.rows; i++) {
        row r = first;
        r.x = x.at + i * x.stride;
        if (kernel->table->linear)
            memcpy(out + i * count, r.x, (size_t)count * sizeof *out);
        else
            features_of_row(kernel, &r, out + i * count);
    }
}

/* ---- weights ----------------------------------------------------------------------------- */

/* sum += Phi'a of some rows */
static void add_rows(fen_view phi, const double *a, double *sum)
{
    if (phi.rows > 0 && phi.cols > 0)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)phi.rows, (int)phi.cols, 1.0, phi.at,
                    (int)phi.stride, a, 1, 1.0, sum, 1);
}

/* The features of some rows at a time. */
static fen_status add_expanded(const fenp_kernel *kernel, fen_view x, int64_t count,
                               const double *a, double *sum, fen_error *err)
{
    const int64_t some = count < BLOCK_DOUBLES ? BLOCK_DOUBLES / (count + 1) + 1 : 1;
    double *phi = fenp_new(some * count, sizeof *phi);
    if (!phi) return fenp_no_memory(err, fenp_bytes(some, count, sizeof *phi), "features");
    for (int64_t i = 0; i < x.rows; i += some) {
        const int64_t rows = x.rows - i < some ? x.rows - i : some;
        fenp_features_of(kernel, (fen_view){ x.at + i * x.stride, rows, x.cols, x.stride }, phi);
        add_rows((fen_view){ phi, rows, count, count }, a + i, sum);
    }
    free(phi);
    return FEN_OK;
}

fen_status fenp_feature_weights(const fenp_kernel *kernel, fen_view x, const double *a,
                                double *weights, fen_error *err)
{
    const int64_t count = fenp_feature_count(kernel, x.cols);
    fen_status status = FEN_OK;
    if (count > INT_MAX || x.stride > INT_MAX)
        return fenp_fail(err, FEN_BAD_CALL, "--kernel %s has %s", kernel->table->name,
                         count == INT64_MAX ? "features without end"
                                            : "too many features for BLAS");
    memset(weights, 0, (size_t)count * sizeof *weights);
    if (kernel->table->linear)
        add_rows(x, a, weights);
    else
        status = add_expanded(kernel, x, count, a, weights, err);
    fenp_dual_map(weights, count, kernel->par.order);
    return status;
}
