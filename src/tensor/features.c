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
    double exponent;    /* 1/q                    */
    double root[ROOTS]; /* small numbers, to the 1/q */
} row;

static double root_of(const row *r, int64_t number)
{
    return number < ROOTS ? r->root[number] : pow((double)number, r->exponent);
}

/* All that begin with `taken` members, the last of them `from`, which stands `equal` times;
 * value: what these come to. Where they end in out. */
static double *grow(const row *r, double value, int64_t taken, int64_t from, int64_t equal,
                    double *out)
{
    const double step = value * root_of(r, taken + 1);
    if (taken + 1 == r->degree) {
        for (int64_t j = from; j < r->p; j++) out[j - from] = step * r->x[j];
        out[0] /= root_of(r, equal + 1);
        return out + (r->p - from);
    }
    for (int64_t j = from; j < r->p; j++) {
        const int64_t same = j == from ? equal + 1 : 1;
        out = grow(r, step * r->x[j] / root_of(r, same), taken + 1, j, same, out);
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
    for (int k = 0; k < ROOTS; k++) first.root[k] = pow((double)k, first.exponent);
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

/* sum += a'Phi of some rows; BLAS is asked for no more than an int of features at once */
static void add_rows(const double *phi, int64_t rows, int64_t stride, int64_t count,
                     const double *a, double *sum)
{
    enum { AT_ONCE = 1 << 24 };
    for (int64_t k = 0; k < count; k += AT_ONCE) {
        const int64_t some = count - k < AT_ONCE ? count - k : AT_ONCE;
        for (int64_t i = 0; i < rows; i++)
            if (a[i] != 0.0) cblas_daxpy((int)some, a[i], phi + i * stride + k, 1, sum + k, 1);
    }
}

fen_status fenp_feature_weights(const fenp_kernel *kernel, fen_view x, const double *a,
                                double *weights, fen_error *err)
{
    const int64_t count = fenp_feature_count(kernel, x.cols);
    if (count == INT64_MAX)
        return fenp_fail(err, FEN_BAD_CALL, "--kernel %s has features without end",
                         kernel->table->name);
    memset(weights, 0, (size_t)count * sizeof *weights);
    if (kernel->table->linear) {
        add_rows(x.at, x.rows, x.stride, count, a, weights);
    } else {
        const int64_t some = count < BLOCK_DOUBLES ? BLOCK_DOUBLES / (count + 1) + 1 : 1;
        double *phi = fenp_new(some * count, sizeof *phi);
        if (!phi) return fenp_no_memory(err, fenp_bytes(some, count, sizeof *phi), "features");
        for (int64_t i = 0; i < x.rows; i += some) {
            const int64_t rows = x.rows - i < some ? x.rows - i : some;
            const fen_view block = { x.at + i * x.stride, rows, x.cols, x.stride };
            fenp_features_of(kernel, block, phi);
            add_rows(phi, rows, count, count, a + i, weights);
        }
        free(phi);
    }
    fenp_dual_map(weights, count, kernel->par.order);
    return FEN_OK;
}
