/* certify_series.c -- the form of an l^p penalty by the features of its series, degree by degree
 *
 *     kappa(s) = sum_m c_m s^m,  features (c_m m! / (k_1! k_2! ...))^(1/q) x^k,  |k| = m, q even
 *     T(a) = sum over m and k of c_m m!/k! s_k^q,   s_k = sum_i a_i x_i^k
 *     om_i = sum over m and k of c_m m!/k! s_k^(q-1) x_i^k
 *
 * and for all degrees above d together, with t_i = sum_j x_ij^q and A_m = sum_i |a_i| t_i^(m/q),
 *
 *     0 <= T - T_d <= sum_{m > d} c_m A_m^q,
 *     |om_i - om_i,d| <= sum_{m > d} c_m t_i^(m/q) A_m^(q-1).
 *
 * Proof: (c_m m!/k!)^(1/q) x_i^k, |k| = m, is a vector of l^q norm (c_m t_i^m)^(1/q). The triangle
 * inequality in l^q bounds |Phi_m'a|_q by c_m^(1/q) A_m; Hoelder's gives the second line.
 * Method: the features of a degree are a tree (certify_tree.c). Degrees are added until the rest is
 *   small beside T and in every score. Columns are divided by about the largest t_i^(1/q), and
 *   c_m is multiplied accordingly: nothing overflows that has a finite sum.
 * Special cases: t = 0 in all rows: degree 0 is all there is. Coefficients that are no doubles
 *   before the rest is known: it is infinite.
 * Accuracy: the errors have the rest and the rounding of the sums. Each term of s_k is off by at
 *   most e of itself, so that the computed features Phi_m'a are off by d = e c_m^(1/q) A_m in l^q
 *   (triangle inequality), and with N = |Phi_m'a|_q as computed
 *       T_m <= (N + d)^q,   |om_i - computed| <= (c_m t_i^m)^(1/q) (q - 1) d (N + d)^(q-2),
 *   the second by |J_q(g) - J_q(h)|_p <= (q - 1) |g - h|_q |max(|g|, |h|)|_q^(q-2). Roundings of
 *   powers and products after that are relative, sums of om as many as there are nodes: they add
 *   multiples of N^q and (c_m t_i^m)^(1/q) N^(q-1). Of an underflow DBL_MIN is lost, times what it
 *   is multiplied by: sums of v_i x_i^k lose n (3 m + 4) DBL_MIN, powers and products of them
 *   no more than 4 (q + m + 4) (c_m + 1) p^m DBL_MIN, p^m being the sum of all m!/k!.
 * Cost: that of the trees, and n for each term of a rest. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "certify.h"

enum { DEPTH_MAX = 400, TERMS_MAX = 2000 };
static const double ROUNDING = 0.50001 * DBL_EPSILON; /* of one operation, and second orders */

typedef struct series {
    fenp_tree of;
    fenp_kernel kernel; /* gamma is that of the divided columns */
    int64_t last;       /* highest degree; -1: none                                      */
    int unit;           /* columns are divided by 2^unit                                 */
    double largest;     /* 1/2 .. 1: features of degree m are divided by largest^m, too  */
    double *column;     /* p x n                                                         */
    double *root;       /* n: t_i^(1/q) over the largest, at most 1                      */
    double *power;      /* n, work: root^m                                               */
    double *error;      /* n, work: what the rest leaves of om                           */
} series;

static double series_at(const fenp_kernel *kernel, int64_t m)
{
    return kernel->table->series(m, &kernel->par);
}

/* 2^(unit q m), within what ldexp takes */
static int growth(const series *s, int64_t m)
{
    return (int)fmin(1e6, fmax(-1e6, (double)(s->unit * s->of.q * m)));
}

/* c_m of the divided columns, c_m t^m with the largest t; NaN: it is no double. */
static double coefficient(const series *s, int64_t m)
{
    const double c = series_at(&s->kernel, m);
    if ((c == 0.0 && s->last < 0) || !isfinite(c)) return NAN;
    if (s->kernel.table->uses_gamma || c == 0.0) return c < DBL_MIN && c > 0.0 ? NAN : c;
    const long double t = powl(s->largest, (long double)(s->of.q * m));
    const double scaled = (double)ldexpl(c * t, growth(s, m));
    return scaled < DBL_MIN || isinf(scaled) ? NAN : scaled;
}

/* ---- what rounding does ------------------------------------------------------------------ */

/* A_m of vector k; power is root^m. */
static double size_of(const series *s, int64_t k)
{
    long double size = 0.0L;
    for (int64_t i = 0; i < s->of.n; i++)
        size += (long double)fabs(s->of.v[k * s->of.n + i]) * s->power[i];
    return (double)size;
}

/* A power of the root that has not underflowed. */
static inline double above_zero(double power, double root)
{
    return root > 0.0 ? fmax(power, DBL_MIN) : power;
}

static void find_powers(const series *s, int64_t m)
{
    for (int64_t i = 0; i < s->of.n; i++)
        s->power[i] = above_zero(pow(s->root[i], (double)m), s->root[i]);
}

void fenp_sums_add(fenp_sums *sums, int64_t i, long double more)
{
    const long double sum = sums->om[i] + more;
    sums->om[i] = (double)sum;
    sums->om_error[i] += ROUNDING * fabs(sums->om[i]) + DBL_MIN;
}

/* Errors of degree m: see the head. value: T_m of vector k as computed. */
static void add_rounding(const series *s, int64_t m, double c, int64_t k, double value,
                         const fenp_tree_done *done, fenp_sums *out)
{
    const double q = (double)s->of.q, n = (double)s->of.n, degree = (double)m;
    const double steps = done->powers + (8.0 * degree + 8.0) * ROUNDING; /* c_m has its own */
    const double orders = pow((double)s->of.p, degree);                  /* all of m!/k! together */
    const double lost = 4.0 * (q + degree + 4.0) * (c + 1.0) * fmax(orders, 1.0) * DBL_MIN;
    const double norm = pow(value * (1.0 + steps), 1.0 / q), root = pow(c, 1.0 / q);
    const double off = done->sums * root * size_of(s, k) +
                       n * (3.0 * degree + 4.0) * DBL_MIN * pow(c * orders, 1.0 / q);
    const double wider = norm > 0.0 ? value * expm1(q * log1p(off / norm)) : pow(off, q);
    const double error = wider * (1.0 + steps) + value * steps + lost;
    out->value_error[k] += isnan(error) ? INFINITY : error;
    if (k >= s->of.scored) return;
    const double slopes = (q - 1.0) * off * pow(norm + off, q - 2.0);
    const double each = root * (slopes + (steps + done->scores) * pow(norm, q - 1.0));
    for (int64_t i = 0; i < s->of.n; i++)
        out->om_error[k * s->of.n + i] += isnan(each) ? INFINITY : each * s->power[i] + lost;
}

/* Degree 0 is one feature, 1. */
static void add_constant(const series *s, double c, long double *value, fenp_sums *out,
                         fenp_tree_done *done)
{
    const int64_t n = s->of.n;
    for (int64_t k = 0; k < s->of.count; k++) {
        long double sum = 0.0L;
        for (int64_t i = 0; i < n; i++) sum += s->of.v[k * n + i];
        const long double slope = c * powl(sum, (long double)(s->of.q - 1));
        value[k] = slope * sum;
        for (int64_t i = 0; k < s->of.scored && i < n; i++) fenp_sums_add(out, k * n + i, slope);
    }
    *done = (fenp_tree_done){ (double)n * (double)LDBL_EPSILON, DBL_EPSILON, DBL_EPSILON };
}

/* value: count, work. */
static fen_status add_degree(const series *s, int64_t m, double c, long double *value,
                             fenp_sums *out, fen_error *err)
{
    fenp_tree_done done;
    fen_status status = FEN_OK;
    if (m == 0)
        add_constant(s, c, value, out, &done);
    else
        status =
            fenp_tree_add(&s->of, m, c, powl(s->largest, -(long double)m), value, out, &done, err);
    if (status != FEN_OK) return status;
    find_powers(s, m);
    for (int64_t k = 0; k < s->of.count; k++) {
        out->value[k] += (double)value[k];
        add_rounding(s, m, c, k, (double)value[k], &done, out);
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
    memset(s->error, 0, (size_t)s->of.n * sizeof(double));
    find_powers(s, degree + 1);
    for (int64_t m = degree + 1; s->last < 0 || m <= s->last; m++) {
        const double size = size_of(s, k), next = coefficient(s, m + 1);
        const long double steep = c * powl(size, (long double)s->of.q - 1.0L), term = steep * size;
        if (size == 0.0) break;
        r = fmin(r, next / c); /* NaN: as before */
        const double tail = r <= 0.5 ? r / (1.0 - r) : INFINITY;
        const int over =
            s->last < 0 && (tail * term <= 1e-3L * (rest + term) || m == degree + TERMS_MAX);
        rest += over ? term * (1.0L + tail) : term;
        if (!(rest <= most) || isinf(rest)) return INFINITY; /* or is NaN */
        for (int64_t i = 0; i < s->of.n; i++) {
            s->error[i] += (double)(over ? steep * (1.0L + tail) : steep) * s->power[i];
            s->power[i] = above_zero(s->power[i] * s->root[i], s->root[i]);
        }
        if (over) break;
        c = next;
    }
    for (int64_t i = 0; i < s->of.n; i++) s->error[i] *= 1.0 + 1e-9; /* roundings of the sums */
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
    if (k >= s->of.scored) return share;
    return fmax(share, largest_of(s->error, s->of.n) /
                           (SCORES * largest_of(out->om + k * s->of.n, s->of.n)));
}

static int is_small(const series *s, int64_t degree, const fenp_sums *out, double wanted)
{
    for (int64_t k = 0; k < s->of.count; k++) {
        const double rest = rest_after(s, degree, k, wanted * out->value[k]);
        if (!(share_of(s, k, rest, out) <= wanted)) return 0;
    }
    return 1;
}

/* Adds the rest to the errors; the largest share. */
static double add_rest(const series *s, int64_t degree, fenp_sums *out)
{
    double worst = 0.0;
    for (int64_t k = 0; k < s->of.count; k++) {
        const double rest = rest_after(s, degree, k, INFINITY), share = share_of(s, k, rest, out);
        if (!(share <= worst)) worst = share;
        out->value_error[k] += rest + (double)(degree + 4) * ROUNDING * out->value[k];
        for (int64_t i = 0; k < s->of.scored && i < s->of.n; i++)
            out->om_error[k * s->of.n + i] += isinf(rest) ? INFINITY : s->error[i];
    }
    return worst;
}

/* ---- all of it --------------------------------------------------------------------------- */

/* A degree that the series has; gamma need not be known. */
static int is_there(const series *s, int64_t m)
{
    return s->kernel.table->uses_gamma || series_at(&s->kernel, m) != 0.0;
}

/* The highest degree that the budget allows. */
static int64_t reach_of(const series *s, double budget)
{
    double spent = 0.0;
    int64_t m = 0;
    for (; m <= DEPTH_MAX && (s->last < 0 || m <= s->last); m++) {
        if (is_there(s, m)) spent += fenp_tree_cost(&s->of, m);
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
    for (int64_t i = 0; i < s->of.n; i++)
        s->root[i] = root_of(x.at + i * x.stride, s->of.p, s->of.q);
    const double above = largest_of(s->root, s->of.n) * (1.0 + 16.0 * DBL_EPSILON);
    s->largest = above > 0.0 ? frexp(above, &s->unit) : 1.0;
    for (int64_t i = 0; i < s->of.n; i++) {
        s->root[i] = ldexp(s->root[i], -s->unit) / s->largest * (1.0 + 8.0 * DBL_EPSILON);
        for (int64_t j = 0; j < s->of.p; j++)
            s->column[j * s->of.n + i] = ldexp(x.at[i * x.stride + j], -s->unit);
    }
    if (s->kernel.table->uses_gamma) /* which goes with s: no power of it leaves the doubles */
        s->kernel.par.gamma =
            ldexp(s->kernel.par.gamma * pow(s->largest, (double)s->of.q), growth(s, 1));
}

/* Degrees that are dear are added for the sake of `enough` alone, and not at all where that is out
 * of reach. */
static fen_status add_degrees(const series *s, double wanted, double budget, fenp_sums *out,
                              long double *value, double *left, const fenp_task *task,
                              fen_error *err)
{
    const double enough = fmax(1e-10, wanted), dear = 1e9;
    const int64_t reach = reach_of(s, budget);
    fen_status status = FEN_OK;
    int64_t m = 0;
    for (double spent = 0.0; status == FEN_OK && m <= reach; m++) {
        const double c = coefficient(s, m), cost = c != 0.0 ? fenp_tree_cost(&s->of, m) : 0.0;
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

int64_t fenp_series_bytes(const fenp_kernel *kernel, const fenp_tree *size, double budget,
                          int *whole)
{
    const series s = { .of = *size, .kernel = *kernel, .last = kernel->table->last(&kernel->par) };
    const int64_t reach = reach_of(&s, budget);
    const int64_t columns = fenp_bytes(size->n, size->p + 3, sizeof(double));
    int64_t most = 0;
    *whole = s.last >= 0 && reach == s.last;
    for (int64_t m = 1; m <= reach; m++) {
        const int64_t bytes = is_there(&s, m) ? fenp_tree_bytes(size, m) : 0;
        if (bytes < 0) return INT64_MAX / 4;
        most = bytes > most ? bytes : most;
    }
    return columns < 0 || most > INT64_MAX / 8 ? INT64_MAX / 4 : columns + most;
}

fen_status fenp_series_sums(const fenp_kernel *kernel, fen_view x, const double *v, int64_t count,
                            int64_t scored, double wanted, double budget, fenp_sums *out,
                            double *left, const fenp_task *task, fen_error *err)
{
    series s = { .of = { .n = x.rows,
                         .p = x.cols,
                         .q = 2 * fenp_half_order(kernel),
                         .v = v,
                         .count = count,
                         .scored = scored },
                 .kernel = *kernel,
                 .last = kernel->table->last(&kernel->par) };
    const int64_t n = x.rows;
    double *work = fenp_new(n, (s.of.p + 3) * (int64_t)sizeof *work);
    long double *value = fenp_new(count, sizeof *value);
    fen_status status =
        work && value ? FEN_OK
                      : fenp_no_memory(err, fenp_bytes(n, s.of.p + 3, sizeof *work), "features");
    if (status == FEN_OK) {
        s.of.column = s.column = work, s.root = work + n * s.of.p;
        s.power = s.root + n, s.error = s.power + n;
        divide_columns(&s, x);
        memset(out->value, 0, (size_t)count * sizeof(double));
        memset(out->value_error, 0, (size_t)count * sizeof(double));
        memset(out->om, 0, (size_t)(scored * n) * sizeof(double));
        memset(out->om_error, 0, (size_t)(scored * n) * sizeof(double));
        status = add_degrees(&s, wanted, budget, out, value, left, task, err);
    }
    free(work);
    free(value);
    return status;
}
