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
enum { STRETCH = 512 };                               /* rows that are summed at a time */
static const double ROUNDING = 0.50001 * DBL_EPSILON; /* of one operation, and second orders */

typedef struct series {
    fenp_kernel kernel; /* gamma is that of the divided columns */
    int64_t n, p, q;
    int64_t last;   /* highest degree; -1: none                                       */
    int unit;       /* columns are divided by 2^unit                                  */
    double largest; /* 1/2 .. 1; features of degree m are divided by largest^m as well */
    const double *v;
    int64_t count, scored;
    double *column; /* p x n                                                          */
    double *root;   /* n: t_i^(1/q) over the largest, at most 1                       */
    double *power;  /* n, work: root^m                                                */
    double *error;  /* n, work: what the rest leaves of om                            */
} series;

static double series_at(const fenp_kernel *kernel, int64_t m)
{
    return kernel->table->series(m, &kernel->par);
}

/* 2^(unit q m), within what ldexp takes */
static int growth(const series *s, int64_t m)
{
    return (int)fmin(1e6, fmax(-1e6, (double)(s->unit * s->q * m)));
}

/* c_m of the divided columns, c_m t^m with the largest t; NaN: it is no double. */
static double coefficient(const series *s, int64_t m)
{
    const double c = series_at(&s->kernel, m);
    if ((c == 0.0 && s->last < 0) || !isfinite(c)) return NAN;
    if (s->kernel.table->uses_gamma || c == 0.0) return c < DBL_MIN && c > 0.0 ? NAN : c;
    const double scaled = ldexp(c * pow(s->largest, (double)(s->q * m)), growth(s, m));
    return scaled < DBL_MIN || isinf(scaled) ? NAN : scaled;
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
typedef void leaves_function(bucket *b, const double *node, int64_t from, int64_t run,
                             double orders);
struct bucket {
    const series *s;
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

/* In stretches: no number goes through more than STRETCH + n / STRETCH additions. */
static inline __attribute__((always_inline)) double dot(const double *a, const double *b, int64_t n)
{
    double all = 0.0;
    for (int64_t from = 0; from < n; from += STRETCH) {
        const int64_t end = n - from < STRETCH ? n : from + STRETCH;
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = from; i < end; i++) sum += a[i] * b[i];
        all += sum;
    }
    return all;
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
static inline __attribute__((always_inline)) void
leaves_of(bucket *b, const double *node, int64_t from, int64_t run, double orders)
{
    const series *s = b->s;
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
static int multiply(const series *s, const double *from, int64_t j, double *to)
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
    const series *s = b->s;
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

/* Degree 0 is one feature, 1. */
static void add_constant(const series *s, double c, double *value, double *om)
{
    for (int64_t k = 0; k < s->count; k++) {
        long double sum = 0.0L;
        for (int64_t i = 0; i < s->n; i++) sum += s->v[k * s->n + i];
        const double slope = c * odd_power((double)sum, s->q - 1);
        value[k] = slope * (double)sum;
        for (int64_t i = 0; k < s->scored && i < s->n; i++) om[k * s->n + i] += slope;
    }
}

/* value: of this degree; the most nodes of a bucket. */
static int64_t gather(const series *s, const bucket *buckets, double *value, double *om)
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

int64_t fenp_series_bytes(int64_t n, int64_t p, int64_t count)
{
    const int64_t columns = fenp_bytes(n, p + 3, sizeof(double));
    const int64_t tree = fenp_bytes(bucket_doubles(n, p, count, LEVELS), BUCKETS, sizeof(double));
    return columns < 0 || tree < 0 ? INT64_MAX / 4 : columns + tree;
}

/* value: of this degree alone. */
static fen_status add_tree(const series *s, int64_t degree, double c, double *value, double *om,
                           int64_t *nodes, fen_error *err)
{
    const int64_t each = bucket_doubles(s->n, s->p, s->scored, degree);
    const int64_t levels = levels_of(s->p, degree);
    const double start = pow(s->largest, -(double)degree);
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

/* ---- what rounding does ------------------------------------------------------------------ */

/* A_m of vector k; power is root^m. */
static double size_of(const series *s, int64_t k)
{
    long double size = 0.0L;
    for (int64_t i = 0; i < s->n; i++) size += (long double)fabs(s->v[k * s->n + i]) * s->power[i];
    return (double)size;
}

/* A power of the root that has not underflowed. */
static inline double above_zero(double power, double root)
{
    return root > 0.0 ? fmax(power, DBL_MIN) : power;
}

static void find_powers(const series *s, int64_t m)
{
    for (int64_t i = 0; i < s->n; i++)
        s->power[i] = above_zero(pow(s->root[i], (double)m), s->root[i]);
}

/* Errors of degree m: see the head. value: T_m of vector k as computed. */
static void add_rounding(const series *s, int64_t m, double c, int64_t k, double value,
                         int64_t nodes, fenp_sums *out)
{
    const double q = (double)s->q, n = (double)s->n, degree = (double)m;
    const double stretches = fmin(n, STRETCH) + ceil(n / STRETCH);
    const double steps = (8.0 * degree + 4.0 * q + 32.0) * ROUNDING;
    const double adds = ((double)nodes + (double)s->p + degree + BUCKETS + DEPTH_MAX) * ROUNDING;
    const double orders = pow((double)s->p, degree); /* all of m!/k! together */
    const double lost = 4.0 * (q + degree + 4.0) * (c + 1.0) * fmax(orders, 1.0) * DBL_MIN;
    const double norm = pow(value * (1.0 + steps), 1.0 / q), root = pow(c, 1.0 / q);
    const double off = (stretches + degree + 8.0) * ROUNDING * root * size_of(s, k) +
                       n * (3.0 * degree + 4.0) * DBL_MIN * pow(c * orders, 1.0 / q);
    const double wider = norm > 0.0 ? value * expm1(q * log1p(off / norm)) : pow(off, q);
    const double error = wider * (1.0 + steps) + value * steps + lost;
    out->value_error[k] += isnan(error) ? INFINITY : error;
    if (k >= s->scored) return;
    const double slopes = (q - 1.0) * off * pow(norm + off, q - 2.0);
    const double each = root * (slopes + (steps + adds) * pow(norm, q - 1.0));
    for (int64_t i = 0; i < s->n; i++)
        out->om_error[k * s->n + i] += isnan(each) ? INFINITY : each * s->power[i] + lost;
}

/* value: count, work. */
static fen_status add_degree(const series *s, int64_t m, double c, double *value, fenp_sums *out,
                             fen_error *err)
{
    int64_t nodes = 0;
    fen_status status = FEN_OK;
    if (m == 0)
        add_constant(s, c, value, out->om);
    else
        status = add_tree(s, m, c, value, out->om, &nodes, err);
    if (status != FEN_OK) return status;
    find_powers(s, m);
    for (int64_t k = 0; k < s->count; k++) {
        out->value[k] += value[k];
        add_rounding(s, m, c, k, value[k], nodes, out);
    }
    return FEN_OK;
}

/* ---- the rest ---------------------------------------------------------------------------- */

/* sum c_m A_m^q over m > degree of vector k, and what it leaves of om in s->error; INFINITY: above
 * `most`, or beyond knowing. Roots are at most 1, so that A_m does not grow with m, and the
 * terms of either sum fall at least as fast as the coefficients: once c_(m+1) / c_m = r < 1, which
 * does not grow, all that follow term m come to no more than r / (1 - r) of it. */
static double rest_after(const series *s, int64_t degree, int64_t k, double most)
{
    long double rest = 0.0L;
    double c = coefficient(s, degree + 1), r = INFINITY;
    memset(s->error, 0, (size_t)s->n * sizeof(double));
    find_powers(s, degree + 1);
    for (int64_t m = degree + 1; s->last < 0 || m <= s->last; m++) {
        const double size = size_of(s, k), next = coefficient(s, m + 1);
        const long double steep = c * powl(size, (long double)s->q - 1.0L), term = steep * size;
        if (size == 0.0) break;
        r = fmin(r, next / c); /* NaN: as before */
        const double tail = r <= 0.5 ? r / (1.0 - r) : INFINITY;
        const int over =
            s->last < 0 && (tail * term <= 1e-3L * (rest + term) || m == degree + TERMS_MAX);
        rest += over ? term * (1.0L + tail) : term;
        if (!(rest <= most) || isinf(rest)) return INFINITY; /* or is NaN */
        for (int64_t i = 0; i < s->n; i++) {
            s->error[i] += (double)(over ? steep * (1.0L + tail) : steep) * s->power[i];
            s->power[i] = above_zero(s->power[i] * s->root[i], s->root[i]);
        }
        if (over) break;
        c = next;
    }
    for (int64_t i = 0; i < s->n; i++) s->error[i] *= 1.0 + 1e-9; /* roundings of the sums */
    return (double)(rest * (1.0L + 1e-9L));
}

/* Scores need to be known less well than T, whose rest is what a rest of scores costs in P to
 * first order; but all of them, those of rows with a small a_i, too. */
static const double SCORES = 100.0;

static double largest_of(const double *x, int64_t n)
{
    double largest = 0.0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* The rest of vector k, s->error with it, as a share: of T, or of the largest score. */
static double share_of(const series *s, int64_t k, double rest, const fenp_sums *out)
{
    if (rest == 0.0 || isinf(rest)) return rest;
    const double share = rest / out->value[k];
    if (k >= s->scored) return share;
    return fmax(share,
                largest_of(s->error, s->n) / (SCORES * largest_of(out->om + k * s->n, s->n)));
}

static int is_small(const series *s, int64_t degree, const fenp_sums *out, double wanted)
{
    for (int64_t k = 0; k < s->count; k++) {
        const double rest = rest_after(s, degree, k, wanted * out->value[k]);
        if (!(share_of(s, k, rest, out) <= wanted)) return 0;
    }
    return 1;
}

/* Adds the rest to the errors; the largest share. */
static double add_rest(const series *s, int64_t degree, fenp_sums *out)
{
    double worst = 0.0;
    for (int64_t k = 0; k < s->count; k++) {
        const double rest = rest_after(s, degree, k, INFINITY), share = share_of(s, k, rest, out);
        if (!(share <= worst)) worst = share;
        out->value_error[k] += rest + (double)(degree + 4) * ROUNDING * out->value[k];
        for (int64_t i = 0; k < s->scored && i < s->n; i++)
            out->om_error[k * s->n + i] += isinf(rest) ? INFINITY : s->error[i];
    }
    return worst;
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

static double root_of(const double *row, int64_t p, int64_t q)
{
    const double most = largest_of(row, p);
    long double t = 0.0L;
    for (int64_t j = 0; most > 0.0 && j < p; j++) t += powl(fabs(row[j]) / most, (long double)q);
    return most * (double)powl(t, 1.0L / (long double)q);
}

/* Roots are rounded up; `largest` is above all of them. */
static void divide_columns(series *s, fen_view x)
{
    for (int64_t i = 0; i < s->n; i++) s->root[i] = root_of(x.at + i * x.stride, s->p, s->q);
    const double above = largest_of(s->root, s->n) * (1.0 + 16.0 * DBL_EPSILON);
    s->largest = above > 0.0 ? frexp(above, &s->unit) : 1.0;
    for (int64_t i = 0; i < s->n; i++) {
        s->root[i] = ldexp(s->root[i], -s->unit) / s->largest * (1.0 + 8.0 * DBL_EPSILON);
        for (int64_t j = 0; j < s->p; j++)
            s->column[j * s->n + i] = ldexp(x.at[i * x.stride + j], -s->unit);
    }
    if (s->kernel.table->uses_gamma) /* which goes with s: no power of it leaves the doubles */
        s->kernel.par.gamma =
            ldexp(s->kernel.par.gamma * pow(s->largest, (double)s->q), growth(s, 1));
}

/* Degrees that are dear are added for the sake of `enough` alone, and not at all where that is out
 * of reach. */
static fen_status add_degrees(const series *s, double wanted, double budget, fenp_sums *out,
                              double *value, double *left, const fenp_task *task, fen_error *err)
{
    const double enough = fmax(1e-10, wanted), dear = 1e9;
    const int64_t reach = reach_of(s, budget);
    fen_status status = FEN_OK;
    int64_t m = 0;
    for (double spent = 0.0; status == FEN_OK && m <= reach; m++) {
        const double c = coefficient(s, m), cost = c != 0.0 ? cost_of(s, m) : 0.0;
        if (isnan(c)) break;
        if (cost > dear && is_small(s, m - 1, out, enough)) break;
        if (cost > dear && !is_small(s, reach, out, 10.0 * enough)) break;
        if (c != 0.0) status = add_degree(s, m, c, value, out, err);
        spent += cost;
        if (status == FEN_OK) status = fenp_task_at(task, fmin(1.0, spent / budget), err);
        if (status == FEN_OK && is_small(s, m, out, wanted)) {
            m++;
            break;
        }
    }
    if (status == FEN_OK) *left = add_rest(s, m - 1, out);
    return status;
}

fen_status fenp_series_sums(const fenp_kernel *kernel, fen_view x, const double *v, int64_t count,
                            int64_t scored, double wanted, double budget, fenp_sums *out,
                            double *left, const fenp_task *task, fen_error *err)
{
    series s = { .kernel = *kernel,
                 .n = x.rows,
                 .p = x.cols,
                 .q = 2 * fenp_half_order(kernel),
                 .last = kernel->table->last(&kernel->par),
                 .v = v,
                 .count = count,
                 .scored = scored };
    double *work = fenp_new(s.n, (s.p + 3) * (int64_t)sizeof *work);
    double *value = fenp_new(count, sizeof *value);
    fen_status status =
        work && value ? FEN_OK
                      : fenp_no_memory(err, fenp_bytes(s.n, s.p + 3, sizeof *work), "features");
    if (status == FEN_OK) {
        s.column = work, s.root = work + s.n * s.p;
        s.power = s.root + s.n, s.error = s.power + s.n;
        divide_columns(&s, x);
        memset(out->value, 0, (size_t)count * sizeof(double));
        memset(out->value_error, 0, (size_t)count * sizeof(double));
        memset(out->om, 0, (size_t)(scored * s.n) * sizeof(double));
        memset(out->om_error, 0, (size_t)(scored * s.n) * sizeof(double));
        status = add_degrees(&s, wanted, budget, out, value, left, task, err);
    }
    free(work);
    free(value);
    return status;
}
