/* features.c -- the features of a kernel whose series ends
 *
 *     phi_k(x) = (series(|k|) |k|! / (k_1! k_2! ...))^(1/q) x^k   over all multi-indices k,
 *
 * of a linear kernel x itself. Degrees ascend; within a degree multisets of columns in the order
 * of fenp_multisets.
 * Method: the multisets of m columns of which i is the smallest are i and the multisets of m - 1
 *   columns none of which is smaller: the end of the list of degree m - 1 times x_i. |k|!/(k_1! ..)
 *   is multiplied by m/(c+1), c: how often i is there already, which is the same for stretches of
 *   the list. All lists end where the row of features ends, each in the place of the one before.
 * Special cases: no columns: no features but a constant one, where the series has one. A series of
 *   more than 254 terms counts as one without end.
 * Accuracy: 4 roundings for each member.
 * Cost: one multiplication and one store for each feature, and as much for those of lower degree. */
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

enum { DEGREES = 256, BLOCK_DOUBLES = 1 << 20 };

static double coefficient(const fenp_kernel *kernel, int64_t m)
{
    return kernel->table->series(m, &kernel->par);
}

/* ---- which they are ---------------------------------------------------------------------- */

int64_t fenp_feature_count(const fenp_kernel *kernel, int64_t p)
{
    if (kernel->table->linear) return p;
    const int64_t last = kernel->table->last(&kernel->par);
    if (last < 0 || last >= DEGREES - 1) return INT64_MAX;
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

/* What the features of all rows have in common. */
typedef struct expansion {
    const fenp_kernel *kernel;
    int64_t p, count, last;
    double root[DEGREES], inverse[DEGREES]; /* of 1, 2, ..: to the 1/q and to the -1/q */
    double scale[DEGREES];                  /* series(m)^(1/q)                          */
} expansion;

static void expansion_open(expansion *e, const fenp_kernel *kernel, int64_t p)
{
    const double exponent = 1.0 / kernel->par.order;
    *e = (expansion){ .kernel = kernel, .p = p, .count = fenp_feature_count(kernel, p) };
    e->last = kernel->table->last(&kernel->par);
    for (int64_t m = 0; m <= e->last; m++) {
        e->scale[m] = pow(coefficient(kernel, m), exponent);
        e->root[m] = pow((double)m, exponent);
        e->inverse[m] = pow((double)m, -exponent);
    }
}

/* The list of degree m, which ends at `end`, out of that of degree m - 1, which ends there too. What
 * column i makes of the multisets that have no smaller member is never behind them. */
static void raise_degree(const expansion *e, const double *x, int64_t m, double scale, double *end)
{
    int64_t sets[DEGREES]; /* multisets of 0, 1, .. columns, i the smallest */
    for (int64_t k = 0; k <= m; k++) sets[k] = fenp_multisets(e->p, k);
    for (int64_t i = 0; i < e->p; i++) {
        const double *from = end - sets[m - 1];
        double *to = end - sets[m];
        for (int64_t c = m - 1; c >= 0; c--) { /* those that hold i already c times */
            const double factor = x[i] * scale * e->root[m] * e->inverse[c + 1];
            const int64_t first = c < m - 1 ? sets[m - 2 - c] : 0, behind = sets[m - 1 - c];
#pragma omp simd
            for (int64_t k = first; k < behind; k++) to[k] = factor * from[k];
        }
        for (int64_t k = m; k > 0; k--) sets[k] -= sets[k - 1];
    }
}

static void features_of_row(const expansion *e, const double *x, double *out)
{
    double *end = out + e->count;
    if (e->count == 0) return;
    end[-1] = 1.0;
    for (int64_t m = 0; m <= e->last; m++) {
        if (m > 0) raise_degree(e, x, m, m == e->last ? e->scale[m] : 1.0, end);
        if (e->scale[m] == 0.0 || (m == e->last && m > 0)) continue;
        const int64_t size = fenp_multisets(e->p, m);
        for (int64_t k = 0; k < size; k++) out[k] = e->scale[m] * end[k - size];
        out += size;
    }
}

void fenp_features_of(const fenp_kernel *kernel, fen_view x, double *out)
{
    expansion e = { .count = x.cols };
    if (!kernel->table->linear) expansion_open(&e, kernel, x.cols);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < x.rows; i++) {
        const double *row = x.at + i * x.stride;
        if (kernel->table->linear)
            memcpy(out + i * e.count, row, (size_t)e.count * sizeof *out);
        else
            features_of_row(&e, row, out + i * e.count);
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

/* Rows whose features are made at a time. */
static int64_t some_rows(int64_t count)
{
    return count < BLOCK_DOUBLES ? BLOCK_DOUBLES / (count + 1) + 1 : 1;
}

int64_t fenp_feature_weights_bytes(int64_t count, int64_t rows)
{
    const int64_t some = some_rows(count);
    return (some < rows ? some : rows) * count * (int64_t)sizeof(double);
}

/* The features of some rows at a time. */
static fen_status add_expanded(const fenp_kernel *kernel, fen_view x, int64_t count,
                               const double *a, double *sum, fen_error *err)
{
    const int64_t some = some_rows(count) < x.rows ? some_rows(count) : x.rows;
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
