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
 *   roundings come to. Sums of doubles run over LANES x DEEP rows, sums of such sums in long
 *   double, as those for value do. |x_ij| <= 1: what underflows is lost once.
 * Cost: n (2 count + 2 scored) flops and n / p more for each feature; memory: n for each column
 *   on the way down the tree. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "certify.h"

enum { BUCKETS = 16, LITTLE = 1000000 };
enum { LANES = 8, DEEP = 8 };
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

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* One stretch, at most LANES x DEEP numbers. */
static inline __attribute__((always_inline)) double stretch(const double *a, const double *b,
                                                            int64_t n)
{
    lanes sum = { 0.0 }, x, y;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        sum += x * y;
    }
    if (i < n) {
        memset(&x, 0, sizeof x), memset(&y, 0, sizeof y);
        memcpy(&x, a + i, (size_t)(n - i) * sizeof *a);
        memcpy(&y, b + i, (size_t)(n - i) * sizeof *b);
        sum += x * y;
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* DEEP + 3 additions of doubles for each number, and those of long doubles. */
static inline __attribute__((always_inline)) double dot_double(const double *a, const double *b,
                                                               int64_t n)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < n; i += LANES * DEEP)
        sum += stretch(a + i, b + i, n - i < LANES * DEEP ? n - i : LANES * DEEP);
    return (double)sum;
}

#define REAL double
#define OF(name) name##_double
#include "certify_tree.h"
#undef REAL
#undef OF

static void leaves_plain(bucket_double *b, const double *node, int64_t from, int64_t run,
                         double orders)
{
    leaves_of_double(b, node, from, run, orders);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,fma"))) static void
leaves_avx512(bucket_double *b, const double *node, int64_t from, int64_t run, double orders)
{
    leaves_of_double(b, node, from, run, orders);
}

__attribute__((target("avx2,fma"))) static void
leaves_avx2(bucket_double *b, const double *node, int64_t from, int64_t run, double orders)
{
    leaves_of_double(b, node, from, run, orders);
}

static leaves_function_double *best_leaves_double(void)
{
    const int fma = __builtin_cpu_supports("fma");
    if (fma && __builtin_cpu_supports("avx512f")) return leaves_avx512;
    if (fma && __builtin_cpu_supports("avx2")) return leaves_avx2;
    return leaves_plain;
}
#else
static leaves_function_double *best_leaves_double(void) { return leaves_plain; }
#endif

/* ---- long doubles ------------------------------------------------------------------------ */

static long double dot_long(const long double *a, const double *b, int64_t n)
{
    long double sum[4] = { 0.0L };
    for (int64_t i = 0; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
    for (int64_t i = n - n % 4; i < n; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#define REAL long double
#define OF(name) name##_long
#include "certify_tree.h"
#undef REAL
#undef OF

static void leaves_long(bucket_long *b, const long double *node, int64_t from, int64_t run,
                        long double orders)
{
    leaves_of_long(b, node, from, run, orders);
}

static leaves_function_long *best_leaves_long(void) { return leaves_long; }

/* ---- either ------------------------------------------------------------------------------ */

/* The node, times v_i, times the column, and the sum; powers, and products with m!/k!; scores. */
fen_status fenp_tree_add(const fenp_tree *s, int64_t degree, double c, long double start,
                         long double *value, fenp_sums *out, fenp_tree_done *done, fen_error *err)
{
    const int fine = is_fine(s, degree);
    const double unit = 0.50001 * (fine ? (double)LDBL_EPSILON : DBL_EPSILON);
    const double n = (double)s->n, m = (double)degree;
    const double wide = n / (LANES * DEEP) * ((double)LDBL_EPSILON / DBL_EPSILON);
    int64_t nodes = 0;
    memset(value, 0, (size_t)s->count * sizeof *value);
    const fen_status status =
        fine ? add_features_long(s, degree, c, start, value, out, &nodes, err)
             : add_features_double(s, degree, c, start, value, out, &nodes, err);
    *done = (fenp_tree_done){
        .sums = unit * (m + 1.0 + (fine ? n / 4.0 + 6.0 : DEEP + 3.0 + wide + 1.0)),
        .powers = unit * (2.0 * m + 4.0 * (double)s->q + 32.0),
        .scores = unit * ((double)nodes + (double)s->p + m + BUCKETS + 4.0),
    };
    return status;
}
