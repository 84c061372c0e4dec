/* certify_tree.c -- all features of one degree, for the form of an l^p penalty
 *
 *     s_k = sum_i v_i x_i^k,   value = c sum_k m!/k! s_k^q,   om_i = c sum_k m!/k! s_k^(q-1) x_i^k,
 *     over all multi-indices k with |k| = m
 *
 * Method: depth-first search, x^k being x^(k - e_j) times column j, for all rows at once; the last
 *   factor is a product with the columns. Subtrees that are 0 in all rows (indicators) are left
 *   out. BUCKETS parts of the tree have sums of their own: the result is the same for any number
 *   of threads.
 * Accuracy: in long double where that takes a tenth of a second, else in double: `done` says what
 *   roundings come to. Sums of doubles run over FENP_DOT_STRETCH rows, sums of such sums in long
 *   double, as those for value do. |x_ij| <= 1: what underflows is lost once.
 * Cost: n (2 count + 2 scored) flops and n / p more for each feature; memory: n for each column
 *   on the way down the tree. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "certify.h"
#include "simd/simd.h"

enum { BUCKETS = 16, LITTLE = 1000000 };
static const double FINE = 1e7; /* flops of a degree that are done in long double */

double fenp_tree_cost(const fenp_tree *s, int64_t m)
{
    const int64_t features = s->p > 0 ? fenp_multisets(s->p, m) : (m == 0);
    if (features == INT64_MAX) return INFINITY;
    return (double)features * (double)s->n * (double)(2 * (s->count + s->scored) + 2);
}

/* A path down the tree has min(p, degree) different columns. */
static int64_t levels_of(int64_t p, int64_t degree) { return p < 1 ? 1 : p < degree ? p : degree; }

static int64_t bucket_numbers(int64_t n, int64_t p, int64_t scored, int64_t degree)
{
    return n * (levels_of(p, degree) + 1 + scored) + p;
}

static int is_fine(const fenp_tree *s, int64_t degree) { return fenp_tree_cost(s, degree) <= FINE; }

int64_t fenp_tree_bytes(const fenp_tree *s, int64_t degree)
{
    const size_t each = is_fine(s, degree) ? sizeof(long double) : sizeof(double);
    const int64_t sums = fenp_bytes(s->count, BUCKETS, sizeof(long double));
    const int64_t nodes =
        fenp_bytes(bucket_numbers(s->n, s->p, s->scored, degree), BUCKETS, (int64_t)each);
    return sums < 0 || nodes < 0 || nodes > INT64_MAX - sums ? -1 : nodes + sums;
}

/* ---- doubles ----------------------------------------------------------------------------- */

static double dot_double(const fenp_simd *simd, const double *a, const double *b, int64_t n)
{
    return simd->dot_bounded(a, b, n);
}

/* out = sum of slope_j times column j, from .. p - 1 */
static void combine_double(const fenp_simd *simd, const fenp_tree *s, int64_t from,
                           const double *slope, double *out)
{
    memset(out, 0, (size_t)s->n * sizeof *out);
    simd->add_columns(s->n, s->p - from, s->column + from * s->n, s->n, slope + from, out);
}

#define REAL double
#define OF(name) name##_double
#include "certify_tree.h"
#undef REAL
#undef OF

/* ---- long doubles ------------------------------------------------------------------------ */

static long double dot_long(const fenp_simd *simd, const long double *a, const double *b, int64_t n)
{
    (void)simd;
    long double sum[4] = { 0.0L };
    for (int64_t i = 0; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
    for (int64_t i = n - n % 4; i < n; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void combine_long(const fenp_simd *simd, const fenp_tree *s, int64_t from,
                         const long double *slope, long double *out)
{
    (void)simd;
    memset(out, 0, (size_t)s->n * sizeof *out);
    for (int64_t j = from; j < s->p; j++)
        for (int64_t i = 0; i < s->n; i++) out[i] += slope[j] * s->column[j * s->n + i];
}

#define REAL long double
#define OF(name) name##_long
#include "certify_tree.h"
#undef REAL
#undef OF

/* ---- either ------------------------------------------------------------------------------ */

/* The node, times v_i, times the column, and the sum; powers, and products with m!/k!; scores. */
fen_status fenp_tree_add(const fenp_tree *s, int64_t degree, double c, long double start,
                         long double *value, fenp_sums *out, fenp_tree_done *done, fen_error *err)
{
    const int fine = is_fine(s, degree);
    const double unit = 0.50001 * (fine ? (double)LDBL_EPSILON : DBL_EPSILON);
    const double n = (double)s->n, m = (double)degree;
    const double wide = n / FENP_DOT_STRETCH * ((double)LDBL_EPSILON / DBL_EPSILON);
    int64_t nodes = 0;
    memset(value, 0, (size_t)s->count * sizeof *value);
    const fen_status status =
        fine ? add_features_long(s, degree, c, start, value, out, &nodes, err)
             : add_features_double(s, degree, c, start, value, out, &nodes, err);
    *done = (fenp_tree_done){
        .sums = unit * (m + 1.0 + (fine ? n / 4.0 + 6.0 : FENP_DOT_ADDITIONS + wide + 1.0)),
        .powers = unit * (2.0 * m + 4.0 * (double)s->q + 32.0),
        .scores = unit * ((double)nodes + (double)s->p + m + BUCKETS + 4.0),
    };
    return status;
}
