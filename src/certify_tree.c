/* certify_tree.c -- all features of one degree, for the form of an l^p penalty
 *
 *     s_k = sum_i v_i x_i^k,   value = c sum_k m!/k! s_k^q,   om_i = c sum_k m!/k! s_k^(q-1) x_i^k,
 *     over all multi-indices k with |k| = m
 *
 * Method: depth-first search, x^k being x^(k - e_j) times column j, for all rows at once; the last
 *   factor is a product with the columns. Subtrees that are 0 in all rows (indicators) are left
 *   out. BUCKETS parts of the tree have sums of their own: the result is the same for any number
 *   of threads.
 * Accuracy: x^k to m - 1 roundings, s_k to fenp_tree_steps of them in each of its terms: sums of
 *   doubles run over LANES x DEEP rows, those of them in long double. value: long double. om: as
 *   many additions as a bucket has nodes, and p. |x_ij| <= 1: what underflows is lost once.
 * Cost: n (2 count + 2 scored) flops and n / p more for each feature; memory: n for each column
 *   on the way down the tree. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "certify.h"

enum { BUCKETS = 16, LITTLE = 1000000 };
enum { LANES = 8, DEEP = 8 };

double fenp_tree_cost(const fenp_tree *s, int64_t m)
{
    const int64_t features = s->p > 0 ? fenp_multisets(s->p, m) : (m == 0);
    if (features == INT64_MAX) return INFINITY;
    return (double)features * (double)s->n * (double)(2 * (s->count + s->scored) + 2);
}

/* The product, sums of a stretch, of the stretches, and v_i times the node. */
double fenp_tree_steps(const fenp_tree *s, int64_t m)
{
    const double wide = (double)(s->n / (LANES * DEEP)) * ((double)LDBL_EPSILON / DBL_EPSILON);
    return (double)m + 1.0 + (DEEP + 3.0) + wide + 1.0;
}

typedef struct bucket bucket;
typedef void leaves_function(bucket *b, const double *node, int64_t from, int64_t run,
                             double orders);
struct bucket {
    const fenp_tree *s;
    int64_t mine, seen, degree, split;
    int64_t nodes; /* that have leaves */
    double c;
    double *mono;       /* levels x n: x^k of the way down from the root, one to a column  */
    double *weighed;    /* n                                                               */
    double *slope;      /* p: what s_k^(q-1) of the leaves of one node come to             */
    double *om;         /* scored x n                                                      */
    long double *value; /* count                                                           */
    leaves_function *leaves;
};

/* x^e, e odd */
static inline double odd_power(double x, int64_t e)
{
    double power = x;
    for (const double square = x * x; e > 1; e -= 2) power *= square;
    return power;
}

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
static inline __attribute__((always_inline)) double dot(const double *a, const double *b, int64_t n)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < n; i += LANES * DEEP)
        sum += stretch(a + i, b + i, n - i < LANES * DEEP ? n - i : LANES * DEEP);
    return (double)sum;
}

/* out = sum of slope_j times column j, from .. p - 1, two at a time */
static inline __attribute__((always_inline)) void combine(const fenp_tree *s, int64_t from,
                                                          const double *slope, double *out)
{
    int64_t j = from;
    memset(out, 0, (size_t)s->n * sizeof *out);
    for (; j + 1 < s->p; j += 2) {
        const double a = slope[j], b = slope[j + 1];
        const double *left = s->column + j * s->n, *right = left + s->n;
        for (int64_t i = 0; i < s->n; i++) out[i] += a * left[i] + b * right[i];
    }
    for (int64_t i = 0; j < s->p && i < s->n; i++) out[i] += slope[j] * s->column[j * s->n + i];
}

/* Leaves that have the node's factors and one column more, from .. p - 1. run: how often column
 * `from` is among the factors; orders: of these. */
static inline __attribute__((always_inline)) void
leaves_of(bucket *b, const double *node, int64_t from, int64_t run, double orders)
{
    const fenp_tree *s = b->s;
    const int64_t n = s->n, m = b->degree;
    for (int64_t k = 0; k < s->count; k++) {
        double *om = b->om + k * n;
        for (int64_t i = 0; i < n; i++) b->weighed[i] = node[i] * s->v[k * n + i];
        for (int64_t j = from; j < s->p; j++) {
            const double sum = dot(b->weighed, s->column + j * n, n);
            const double many = orders * (double)m / (double)(j == from ? run + 1 : 1);
            b->slope[j] = b->c * many * odd_power(sum, s->q - 1);
            b->value[k] += (long double)b->slope[j] * sum;
        }
        if (k >= s->scored) continue;
        combine(s, from, b->slope, b->weighed);
        for (int64_t i = 0; i < n; i++) om[i] += node[i] * b->weighed[i];
    }
}

static void leaves_plain(bucket *b, const double *node, int64_t from, int64_t run, double orders)
{
    leaves_of(b, node, from, run, orders);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,fma"))) static void
leaves_avx512(bucket *b, const double *node, int64_t from, int64_t run, double orders)
{
    leaves_of(b, node, from, run, orders);
}

__attribute__((target("avx2,fma"))) static void
leaves_avx2(bucket *b, const double *node, int64_t from, int64_t run, double orders)
{
    leaves_of(b, node, from, run, orders);
}

static leaves_function *best_leaves(void)
{
    const int fma = __builtin_cpu_supports("fma");
    if (fma && __builtin_cpu_supports("avx512f")) return leaves_avx512;
    if (fma && __builtin_cpu_supports("avx2")) return leaves_avx2;
    return leaves_plain;
}
#else
static leaves_function *best_leaves(void) { return leaves_plain; }
#endif

/* to = from times column j; whether anything is left of it. */
static int multiply(const fenp_tree *s, const double *from, int64_t j, double *to)
{
    const double *column = s->column + j * s->n;
    double size = 0.0;
#pragma omp simd reduction(+ : size)
    for (int64_t i = 0; i < s->n; i++) {
        to[i] = from[i] * column[i];
        size += fabs(to[i]);
    }
    return size > 0.0;
}

/* The node has `depth` factors, the last `run` of them column `from`. Other columns go one level
 * down; one more of the same is made in its place, after them. */
static void walk(bucket *b, double *node, int64_t depth, int64_t from, int64_t run, double orders)
{
    const fenp_tree *s = b->s;
    for (;;) {
        if (depth == b->split && b->seen++ % BUCKETS != b->mine) return;
        if (depth == b->degree - 1) {
            b->nodes++;
            b->leaves(b, node, from, run, orders);
            return;
        }
        depth++;
        for (int64_t j = from + 1; j < s->p; j++)
            if (multiply(s, node, j, node + s->n))
                walk(b, node + s->n, depth, j, 1, orders * (double)depth);
        if (from >= s->p || !multiply(s, node, from, node)) return;
        orders *= (double)depth / (double)++run;
    }
}

/* value: of this degree; the most nodes of a bucket. */
static int64_t gather(const fenp_tree *s, const bucket *buckets, double *value, double *om)
{
    int64_t nodes = 0;
    for (int64_t k = 0; k < s->count; k++) {
        long double sum = 0.0L;
        for (int b = 0; b < BUCKETS; b++) sum += buckets[b].value[k];
        value[k] = (double)sum;
    }
    for (int b = 0; b < BUCKETS; b++) {
        nodes = buckets[b].nodes > nodes ? buckets[b].nodes : nodes;
        for (int64_t i = 0; i < s->scored * s->n; i++) om[i] += buckets[b].om[i];
    }
    return nodes;
}

/* A path down the tree has min(p, degree) different columns. Of SERIES_MOST flops, 6 or more to a
 * feature, none has more than LEVELS: C(39, 20) = 7e10 features. */
enum { LEVELS = 20 };
static int64_t levels_of(int64_t p, int64_t degree) { return p < 1 ? 1 : p < degree ? p : degree; }

static int64_t bucket_doubles(int64_t n, int64_t p, int64_t scored, int64_t degree)
{
    return n * (levels_of(p, degree) + 1 + scored) + p;
}

int64_t fenp_tree_bytes(int64_t n, int64_t p, int64_t count)
{
    return fenp_bytes(bucket_doubles(n, p, count, LEVELS), BUCKETS, sizeof(double));
}

fen_status fenp_tree_add(const fenp_tree *s, int64_t degree, double c, double start, double *value,
                         double *om, int64_t *nodes, fen_error *err)
{
    const int64_t each = bucket_doubles(s->n, s->p, s->scored, degree);
    const int64_t levels = levels_of(s->p, degree);
    double *work = fenp_new(each, BUCKETS * (int64_t)sizeof *work);
    long double *values = fenp_new_zeroed(s->count, BUCKETS * (int64_t)sizeof *values);
    bucket buckets[BUCKETS];
    if (!work || !values) {
        free(work);
        free(values);
        return fenp_no_memory(err, fenp_bytes(each, BUCKETS, sizeof *work), "the certificate");
    }
#pragma omp parallel for schedule(dynamic, 1) if (fenp_tree_cost(s, degree) > LITTLE)
    for (int k = 0; k < BUCKETS; k++) {
        double *own = work + k * each;
        buckets[k] = (bucket){ .s = s,
                               .mine = k,
                               .degree = degree,
                               .split = degree < 3 ? degree - 1 : 2,
                               .c = c,
                               .mono = own,
                               .weighed = own + levels * s->n,
                               .om = own + (levels + 1) * s->n,
                               .slope = own + (levels + 1 + s->scored) * s->n,
                               .value = values + k * s->count,
                               .leaves = best_leaves() };
        for (int64_t i = 0; i < s->n; i++) own[i] = start;
        memset(buckets[k].om, 0, (size_t)(s->scored * s->n) * sizeof(double));
        walk(&buckets[k], own, 0, 0, 0, 1.0);
    }
    *nodes = gather(s, buckets, value, om);
    free(work);
    free(values);
    return FEN_OK;
}
