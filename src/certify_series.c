/* certify_series.c -- the form of an l^p penalty by the features of its series, degree by degree
 *
 *     kappa(s) = sum_m c_m s^m,  features (c_m m! / (k_1! k_2! ...))^(1/q) x^k,  |k| = m, q even
 *     T(a) = sum over m and k of c_m m!/k! s_k^q,   s_k = sum_i a_i x_i^k
 *     om_i = sum over m and k of c_m m!/k! s_k^(q-1) x_i^k
 *
 * and for all degrees above d together, with t_i = sum_j x_ij^q and A_m = sum_i |a_i| t_i^(m/q),
 *
 *     0 <= T - T_d <= sum_{m > d} c_m A_m^q,   |om_i - om_i,d| <= sum_{m > d} c_m t_i^(m/q) A_m^(q-1).
 *
 * Proof: (c_m m!/k!)^(1/q) x_i^k, |k| = m, is a vector of l^q norm (c_m t_i^m)^(1/q). The triangle
 * inequality in l^q bounds |Phi_m'a|_q by c_m^(1/q) A_m; Hoelder's gives the second line.
 * Method: multi-indices by depth-first search, x^k being x^(k - e_j) times column j, for all rows
 *   at once; the last factor is a product with the columns. Subtrees that are 0 in all rows
 *   (indicators) are left out. Degrees are added until the rest is small beside T. BUCKETS parts
 *   of the tree have sums of their own: the result is the same for any number of threads.
 *   Columns are divided by a power of two that makes all t_i at most 1, and c_m is multiplied
 *   accordingly: nothing overflows that has a finite sum.
 * Special cases: t = 0 in all rows: degree 0 is all there is. Coefficients that are no doubles before
 *   the rest is known: it is infinite.
 * Accuracy: products to m roundings, sums over rows in double, over features in long double (T).
 *   The rest is summed until it falls by halves and is below 1e-20 of its sum: a series whose
 *   ratios c_(m+1) / c_m do not grow adds no more than as much again, which is added.
 * Cost: n (2 count + 2 scored) flops and n / p more for each feature; memory some n x depth. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "certify.h"

enum { BUCKETS = 16, DEPTH_MAX = 400, TERMS_MAX = 2000, LITTLE = 1000000 };

typedef struct series {
    fenp_kernel kernel;
    int64_t n, p, q;
    int64_t last; /* highest degree; -1: none                                       */
    int unit;     /* columns are divided by 2^unit                                  */
    int scaled;   /* the kernel is that of the divided columns                      */
    const double *v;
    int64_t count, scored;
    double *column; /* p x n                                                          */
    double *root;   /* n: t_i^(1/q)                                                   */
} series;

static double series_at(const fenp_kernel *kernel, int64_t m)
{
    return kernel->table->series(m, &kernel->par);
}

/* By how much the coefficient of s^m grows when the columns are divided: an exponent of 2. */
static int growth(const series *s, int64_t m)
{
    return (int)fmin(1e6, fmax(-1e6, (double)(s->unit * s->q * m)));
}

/* c_m of the divided columns; NaN: it is no double. */
static double coefficient(const series *s, int64_t m)
{
    const double c = series_at(&s->kernel, m);
    if ((c == 0.0 && s->last < 0) || !isfinite(c)) return NAN;
    const double scaled = s->scaled ? c : ldexp(c, growth(s, m));
    return c > 0.0 && scaled < DBL_MIN ? NAN : scaled;
}

/* Series in gamma s: gamma grows instead, and no power of it leaves the doubles. */
static void scale_gamma(series *s)
{
    fenp_kernel scaled = s->kernel;
    scaled.par.gamma = ldexp(scaled.par.gamma, growth(s, 1));
    s->scaled = s->kernel.table->uses_gamma;
    for (int64_t m = 0; m < 4; m++)
        s->scaled &= series_at(&scaled, m) == ldexp(series_at(&s->kernel, m), growth(s, m));
    if (s->scaled) s->kernel = scaled;
}

/* Flops of a degree; INFINITY: beyond counting. */
static double cost_of(const series *s, int64_t m)
{
    const int64_t features = s->p > 0 ? fenp_multisets(s->p, m) : (m == 0);
    if (features == INT64_MAX) return INFINITY;
    return (double)features * (double)s->n * (double)(2 * (s->count + s->scored) + 2);
}

/* ---- one degree -------------------------------------------------------------------------- */

typedef struct bucket bucket;
typedef void leaves_function(bucket *b, int64_t from, int64_t run, double orders);
struct bucket {
    const series *s;
    int64_t mine, seen, degree, split;
    double c;
    double *mono;       /* (degree + 1) x n: x^k of the way down from the root             */
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

static inline __attribute__((always_inline)) double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* out = sum of slope_j times column j, from .. p - 1, two at a time */
static inline __attribute__((always_inline)) void combine(const series *s, int64_t from,
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
static inline __attribute__((always_inline)) void leaves_of(bucket *b, int64_t from, int64_t run,
                                                            double orders)
{
    const series *s = b->s;
    const int64_t n = s->n, m = b->degree;
    const double *node = b->mono + (m - 1) * n;
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

static void leaves_plain(bucket *b, int64_t from, int64_t run, double orders)
{
    leaves_of(b, from, run, orders);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,fma"))) static void leaves_avx512(bucket *b, int64_t from,
                                                                 int64_t run, double orders)
{
    leaves_of(b, from, run, orders);
}

__attribute__((target("avx2,fma"))) static void leaves_avx2(bucket *b, int64_t from, int64_t run,
                                                            double orders)
{
    leaves_of(b, from, run, orders);
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

static void walk(bucket *b, int64_t depth, int64_t from, int64_t run, double orders)
{
    const series *s = b->s;
    const int64_t n = s->n;
    const double *node = b->mono + depth * n;
    double *next = b->mono + (depth + 1) * n;
    if (depth == b->split && b->seen++ % BUCKETS != b->mine) return;
    if (depth == b->degree - 1) {
        b->leaves(b, from, run, orders);
        return;
    }
    for (int64_t j = from; j < s->p; j++) {
        const int64_t times = j == from ? run + 1 : 1;
        const double *column = s->column + j * n;
        double size = 0.0;
#pragma omp simd reduction(+ : size)
        for (int64_t i = 0; i < n; i++) {
            next[i] = node[i] * column[i];
            size += fabs(next[i]);
        }
        if (size > 0.0) walk(b, depth + 1, j, times, orders * (double)(depth + 1) / (double)times);
    }
}

/* Degree 0 is one feature, 1. */
static void add_constant(const series *s, double c, double *value, double *om)
{
    for (int64_t k = 0; k < s->count; k++) {
        long double sum = 0.0L;
        for (int64_t i = 0; i < s->n; i++) sum += s->v[k * s->n + i];
        const double slope = c * odd_power((double)sum, s->q - 1);
        value[k] += slope * (double)sum;
        for (int64_t i = 0; k < s->scored && i < s->n; i++) om[k * s->n + i] += slope;
    }
}

static void gather(const series *s, const bucket *buckets, double *value, double *om)
{
    for (int64_t k = 0; k < s->count; k++) {
        long double sum = value[k];
        for (int b = 0; b < BUCKETS; b++) sum += buckets[b].value[k];
        value[k] = (double)sum;
    }
    for (int b = 0; b < BUCKETS; b++)
        for (int64_t i = 0; i < s->scored * s->n; i++) om[i] += buckets[b].om[i];
}

static int64_t bucket_doubles(int64_t n, int64_t p, int64_t scored, int64_t degree)
{
    return n * (degree + 2 + scored) + p;
}

enum { USUAL_DEPTH = 32 }; /* higher degrees are those of very few columns */
int64_t fenp_series_bytes(int64_t n, int64_t p, int64_t count)
{
    const int64_t columns = fenp_bytes(n, p + 2, sizeof(double));
    const int64_t tree =
        fenp_bytes(bucket_doubles(n, p, count, USUAL_DEPTH), BUCKETS, sizeof(double));
    return columns < 0 || tree < 0 ? INT64_MAX / 4 : columns + tree;
}

static fen_status add_degree(const series *s, int64_t degree, double c, double *value, double *om,
                             fen_error *err)
{
    if (degree == 0) {
        add_constant(s, c, value, om);
        return FEN_OK;
    }
    const int64_t each = bucket_doubles(s->n, s->p, s->scored, degree);
    double *work = fenp_new(each, BUCKETS * (int64_t)sizeof *work);
    long double *values = fenp_new_zeroed(s->count, BUCKETS * (int64_t)sizeof *values);
    bucket buckets[BUCKETS];
    if (!work || !values) {
        free(work);
        free(values);
        return fenp_no_memory(err, fenp_bytes(each, BUCKETS, sizeof *work), "the certificate");
    }
#pragma omp parallel for schedule(dynamic, 1) if (cost_of(s, degree) > LITTLE)
    for (int k = 0; k < BUCKETS; k++) {
        double *own = work + k * each;
        buckets[k] = (bucket){ .s = s,
                               .mine = k,
                               .degree = degree,
                               .split = degree < 3 ? degree - 1 : 2,
                               .c = c,
                               .mono = own,
                               .weighed = own + (degree + 1) * s->n,
                               .om = own + (degree + 2) * s->n,
                               .slope = own + (degree + 2 + s->scored) * s->n,
                               .value = values + k * s->count,
                               .leaves = best_leaves() };
        for (int64_t i = 0; i < s->n; i++) own[i] = 1.0;
        memset(buckets[k].om, 0, (size_t)(s->scored * s->n) * sizeof(double));
        walk(&buckets[k], 0, 0, 0, 1.0);
    }
    gather(s, buckets, value, om);
    free(work);
    free(values);
    return FEN_OK;
}

/* ---- the rest ---------------------------------------------------------------------------- */

/* sum c_m A_m^q over m > degree of vector k; error (n, may be NULL): that of om. power: n, work. */
static double rest_after(const series *s, int64_t degree, int64_t k, double *power, double *error)
{
    const double q = (double)s->q, *v = s->v + k * s->n;
    long double rest = 0.0L;
    double before = INFINITY;
    int small = 0;
    for (int64_t i = 0; i < s->n; i++) power[i] = pow(s->root[i], (double)(degree + 1));
    if (error) memset(error, 0, (size_t)s->n * sizeof(double));
    for (int64_t m = degree + 1; m <= degree + TERMS_MAX; m++) {
        if (s->last >= 0 && m > s->last) return (double)rest;
        const double c = coefficient(s, m);
        long double size = 0.0L;
        for (int64_t i = 0; i < s->n; i++) size += (long double)fabs(v[i]) * power[i];
        const double steep = c * pow((double)size, q - 1.0), term = steep * (double)size;
        if (size == 0.0L) return (double)rest;
        if (isnan(term)) return INFINITY;
        rest += term;
        for (int64_t i = 0; i < s->n; i++) {
            if (error) error[i] += steep * power[i];
            power[i] *= s->root[i];
        }
        small = term <= 0.5 * before && term <= 1e-20L * rest ? small + 1 : 0;
        before = term;
        if (s->last < 0 && small > 0) break;
    }
    if (!small) return INFINITY;
    for (int64_t i = 0; error && i < s->n; i++) error[i] *= 1.0 + 1e-9;
    return (double)(rest * (1.0L + 1e-9L));
}

/* The rest is at most wanted times T of every vector. */
static int is_small(const series *s, int64_t degree, const double *value, double wanted,
                    double *power)
{
    for (int64_t k = 0; k < s->count; k++)
        if (!(rest_after(s, degree, k, power, NULL) <= wanted * value[k])) return 0;
    return 1;
}

/* ---- all of it --------------------------------------------------------------------------- */

/* The highest degree that the budget allows. */
static int64_t reach_of(const series *s, double budget)
{
    double spent = 0.0;
    int64_t m = 0;
    for (; m <= DEPTH_MAX && (s->last < 0 || m <= s->last); m++) {
        if (series_at(&s->kernel, m) != 0.0) spent += cost_of(s, m);
        if (spent > budget) break;
    }
    return m - 1;
}

static void divide_columns(series *s, fen_view x)
{
    double largest = 0.0;
    for (int64_t i = 0; i < s->n; i++) {
        double most = 0.0;
        long double t = 0.0L;
        for (int64_t j = 0; j < s->p; j++) most = fmax(most, fabs(x.at[i * x.stride + j]));
        for (int64_t j = 0; most > 0.0 && j < s->p; j++)
            t += powl(fabs(x.at[i * x.stride + j]) / most, (long double)s->q);
        s->root[i] = most * (double)powl(t, 1.0L / (long double)s->q);
        largest = fmax(largest, s->root[i]);
    }
    if (largest > 0.0) frexp(largest, &s->unit);
    for (int64_t i = 0; i < s->n; i++) {
        s->root[i] = ldexp(s->root[i], -s->unit) * (1.0 + 4.0 * DBL_EPSILON);
        for (int64_t j = 0; j < s->p; j++)
            s->column[j * s->n + i] = ldexp(x.at[i * x.stride + j], -s->unit);
    }
}

/* Degrees that are dear are added for the sake of `enough` alone, and not at all where that is out
 * of reach. */
static fen_status add_degrees(const series *s, double wanted, double budget, fenp_sums *out,
                              double *power, const fenp_task *task, fen_error *err)
{
    const double enough = fmax(1e-10, wanted), dear = 1e9;
    const int64_t reach = reach_of(s, budget);
    fen_status status = FEN_OK;
    int64_t m = 0;
    for (double spent = 0.0; status == FEN_OK && m <= reach; m++) {
        const double c = coefficient(s, m), cost = c != 0.0 ? cost_of(s, m) : 0.0;
        if (isnan(c)) break;
        if (cost > dear && is_small(s, m - 1, out->value, enough, power)) break;
        if (cost > dear && !is_small(s, reach, out->value, 10.0 * enough, power)) break;
        if (c != 0.0) status = add_degree(s, m, c, out->value, out->om, err);
        spent += cost;
        if (status == FEN_OK) status = fenp_task_at(task, fmin(1.0, spent / budget), err);
        if (is_small(s, m, out->value, wanted, power)) {
            m++;
            break;
        }
    }
    for (int64_t k = 0; status == FEN_OK && k < s->count; k++)
        out->value_error[k] =
            rest_after(s, m - 1, k, power, k < s->scored ? out->om_error + k * s->n : NULL);
    return status;
}

fen_status fenp_series_sums(const fenp_kernel *kernel, fen_view x, const double *v, int64_t count,
                            int64_t scored, double wanted, double budget, fenp_sums *out,
                            const fenp_task *task, fen_error *err)
{
    series s = { .kernel = *kernel,
                 .n = x.rows,
                 .p = x.cols,
                 .q = 2 * fenp_half_order(kernel),
                 .last = kernel->table->last(&kernel->par),
                 .v = v,
                 .count = count,
                 .scored = scored };
    double *work = fenp_new(s.n, (s.p + 2) * (int64_t)sizeof *work);
    if (!work) return fenp_no_memory(err, fenp_bytes(s.n, s.p + 2, sizeof *work), "features");
    s.column = work, s.root = work + s.n * s.p;
    divide_columns(&s, x);
    scale_gamma(&s);
    memset(out->value, 0, (size_t)count * sizeof(double));
    memset(out->om, 0, (size_t)(scored * s.n) * sizeof(double));
    const fen_status status =
        add_degrees(&s, wanted, budget, out, work + s.n * (s.p + 1), task, err);
    free(work);
    return status;
}
