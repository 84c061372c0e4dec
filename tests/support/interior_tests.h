/* interior_tests.h -- what the tests of the interior point method share
 *
 * The judge is P - D from the definition in long double, with the losses' values and conjugates
 * (the solver knows their pieces), and looks at every constraint of u by itself. Gaps of 1e-8 are
 * asked for; what the solver says of its gap must be true to the roundings of P. */
#ifndef INTERIOR_TESTS_H
#define INTERIOR_TESTS_H
#include <float.h>
#include "solver/interior.h"
#include "support/solver_tests.h"

static const double GOAL = 1e-8;

/* ---- problems and answers ---------------------------------------------------------------- */

typedef struct fitted {
    double *beta, *u, gap;
    fen_status status;
    int calls; /* of progress */
} fitted;

static inline int count(void *user, const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    ++*(int *)user;
    return 0;
}

static inline fitted fit_from(const fenp_interior *q, const double *guess, fen_error *err)
{
    fitted f = { doubles(q->k + 1), doubles(q->n + 1), -1.0, FEN_OK, 0 };
    const fen_host host = { .progress = count, .user = &f.calls };
    const fenp_task task = fenp_task_start(&host, 0.0);
    if (guess) memcpy(f.beta, guess, (size_t)q->k * sizeof(double));
    f.status = fenp_interior_solve(q, GOAL, f.beta, f.u, &f.gap, &task, err);
    return f;
}

static inline fitted fit(const fenp_interior *q)
{
    fen_error err = { 0 };
    const fitted f = fit_from(q, NULL, &err);
    if (f.status != FEN_OK) fail_msg("%s", err.message);
    return f;
}

static inline void release(fitted *f)
{
    free(f->beta);
    free(f->u);
}

/* ---- the judge --------------------------------------------------------------------------- */

static inline long double slope_at(const fenp_interior *q, int64_t j, const double *u,
                                   long double *size)
{
    long double sum = 0.0L;
    *size = 0.0L;
    for (int64_t i = 0; i < q->n; i++) {
        sum += (long double)q->x[i + j * q->n] * u[i];
        *size += fabsl((long double)q->x[i + j * q->n] * u[i]);
    }
    return sum;
}

static inline long double primal(const fenp_interior *q, const double *beta)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < q->n; i++) {
        long double t = q->f0 ? q->f0[i] : 0.0;
        for (int64_t j = 0; j < q->k; j++) t += (long double)q->x[i + j * q->n] * beta[j];
        if (q->w[i] > 0.0) sum += q->w[i] * q->loss->value(q->y[i], (double)t, q->par);
    }
    for (int64_t g = 0; g < q->groups; g++) {
        long double norm = 0.0L;
        for (int64_t j = q->start[g]; j < q->start[g + 1]; j++) {
            norm += (long double)beta[j] * beta[j];
            sum += 0.5L * q->d[j] * beta[j] * beta[j];
            if (q->nonnegative && g < q->groups - q->unbounded) assert_true(beta[j] >= 0.0);
        }
        sum += q->l[g] * sqrtl(norm);
    }
    return sum;
}

/* Of rows; every u must lie in its domain. */
static inline long double dual_of_rows(const fenp_interior *q, const double *u)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < q->n; i++) {
        if (!(q->w[i] > 0.0)) {
            assert_true(u[i] == 0.0);
            continue;
        }
        const double slope = -u[i] / q->w[i];
        double low, high;
        q->loss->domain(q->y[i], q->par, &low, &high);
        assert_true(slope >= low - 4.0 * DBL_EPSILON && slope <= high + 4.0 * DBL_EPSILON);
        sum -= q->w[i] * q->loss->conj(q->y[i], slope, q->par);
        if (q->f0) sum -= (long double)u[i] * q->f0[i];
    }
    return sum;
}

/* D(u), every constraint holding to rounding, 1e-12 of the sizes of what is summed; above is by how
 * much D may exceed P(beta) for that. Fenchel-Young in every row, with s = X'u, leaves
 *     P - D >= sum_g l_g ||beta_g|| - beta_g.s_g >= - sum_g ||beta_g|| max(||s_g|| - l_g, 0),
 * which large coefficients of nearly dependent columns carry far beyond a rounding of P. */
static inline long double dual(const fenp_interior *q, const double *beta, const double *u,
                               long double *above)
{
    long double sum = dual_of_rows(q, u);
    *above = 0.0L;
    for (int64_t g = 0; g < q->groups; g++) {
        long double norm = 0.0L, sizes = 0.0L, length = 0.0L, size, slope;
        for (int64_t j = q->start[g]; j < q->start[g + 1]; j++) {
            slope = slope_at(q, j, u, &size);
            if (q->nonnegative && g < q->groups - q->unbounded) slope = fmaxl(slope, 0.0L);
            norm += slope * slope;
            sizes += size;
            length += (long double)beta[j] * beta[j];
        }
        norm = sqrtl(norm);
        const long double excess = fmaxl(norm - q->l[g], 0.0L);
        const double d = q->start[g] < q->start[g + 1] ? q->d[q->start[g]] : 1.0;
        if (d > 0.0)
            sum -= powl(excess, 2.0L) / (2.0L * d);
        else if (!(norm <= q->l[g] + 1e-12L * sizes))
            fail_msg("group %d: %.17Lg exceeds %.17g", (int)g, norm, q->l[g]);
        else
            *above += sqrtl(length) * excess;
    }
    return sum;
}

/* What scores may lack in doubles: large coefficients of kin columns. */
static inline double roundings(const fenp_interior *q, const double *beta)
{
    double largest = 0.0;
    for (int64_t i = 0; i < q->n; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < q->k; j++) sum += fabs(q->x[i + j * q->n] * beta[j]);
        largest = fmax(largest, sum);
    }
    return (double)q->k * DBL_EPSILON * largest;
}

/* The gap proved must be at most limit, and what the solver says. */
static inline void judge(const fenp_interior *q, const fitted *f, double limit, const char *what)
{
    double zero[256] = { 0 };
    assert_true(q->k <= 256);
    long double above;
    const long double p = primal(q, f->beta), d = dual(q, f->beta, f->u, &above);
    const long double null = primal(q, zero);
    const long double unit = fmaxl(fabsl(p), isfinite((double)null) ? 1e-12L * null : 0.0L);
    const double gap = p - d <= 0.0L ? 0.0 : (double)((p - d) / unit);
    if (!(p >= d - above - 1e-11L * unit)) fail_msg("%s: D %.17Lg above P %.17Lg", what, d, p);
    if (!(gap <= limit)) fail_msg("%s: gap %g, P %.17Lg", what, gap, p);
    if (!(fabs(gap - f->gap) <= 1e-10 + 1e-6 * gap + roundings(q, f->beta) / (double)unit))
        fail_msg("%s: gap %g said, %g found", what, f->gap, gap);
}

/* ---- random problems --------------------------------------------------------------------- */

typedef enum kind { LASSO, GROUPS, ELASTIC, ELASTIC_GROUPS, SIGNS, FREE, FREE_SIGNS, KINDS } kind;
static const char *const kind_names[] = { "lasso", "groups", "elastic",   "elastic groups",
                                          "signs", "free",   "free signs" };
enum { ROWS = 60, COLUMNS = 208 };

typedef struct made {
    double x[ROWS * COLUMNS], y[ROWS], w[ROWS], f0[ROWS], l[COLUMNS], d[COLUMNS], par[1];
    int64_t start[COLUMNS + 1];
    fenp_interior q;
} made;

static inline double par_of(const fen_loss *loss)
{
    if (strcmp(loss->name, "pinball") == 0) return 0.3;
    if (strcmp(loss->name, "tube") == 0) return 5.0; /* the noise is less, y is not */
    return loss->parameter.name ? loss->parameter.initial : 0.0;
}

/* The last column is a bias; weights differ, some are 0. */
static inline made *make(const fen_loss *loss, kind which, int64_t n, int64_t k, double l)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    double sum = 0.0;
    for (int64_t i = 0; i < n * k; i++)
        m->x[i] = i >= n * (k - 1) ? 1.0 : 4.0 * uniform(1, i) - 2.0;
    for (int64_t i = 0; i < n; i++) {
        const double y = 3.0 + 2.0 * m->x[i + (k - 2) * n] - m->x[i + (k - 1) / 2 * n];
        m->y[i] = y + (uniform(2, i) - 0.5) * (i % 7 == 0 ? 9.0 : 2.0);
        if (loss->labels == FEN_SIGNS) m->y[i] = m->y[i] > 3.0 ? 1.0 : -1.0;
        m->f0[i] = 0.3 * (uniform(4, i) - 0.5);
        sum += m->w[i] = i % 11 == 5 ? 0.0 : 0.2 + uniform(3, i);
    }
    for (int64_t i = 0; i < n; i++) m->w[i] /= sum;
    int64_t groups = 0;
    const int64_t size = which == GROUPS || which == ELASTIC_GROUPS ? 3 : 1;
    for (int64_t j = 0; j < k; groups++) {
        const int free_one = j == k - 1 || (which >= FREE && j < 4);
        m->start[groups] = j;
        m->l[groups] = free_one ? 0.0 : l * (1.0 + 0.5 * uniform(5, j));
        const int64_t end = free_one ? j + 1 : j + size < k - 1 ? j + size : k - 1;
        for (; j < end; j++)
            if (!free_one && (which == ELASTIC || which == ELASTIC_GROUPS)) m->d[j] = 0.5 * l;
    }
    m->start[groups] = k;
    m->par[0] = par_of(loss);
    m->q = (fenp_interior){ .n = n,
                            .k = k,
                            .x = m->x,
                            .loss = loss,
                            .par = m->par,
                            .y = m->y,
                            .w = m->w,
                            .groups = groups,
                            .start = m->start,
                            .l = m->l,
                            .d = m->d,
                            .unbounded = 1,
                            .nonnegative = which == SIGNS || which == FREE_SIGNS,
                            .f0 = n % 2 == 0 ? m->f0 : NULL };
    return m;
}

static inline fenp_interior one_column(const char *loss, int64_t n, const double *x,
                                       const double *par, const double *y, const double *w,
                                       const double *l)
{
    static const int64_t start[2] = { 0, 1 };
    static const double none = 0.0;
    return (fenp_interior){ .n = n,
                            .k = 1,
                            .x = x,
                            .loss = fenp_find_loss(loss),
                            .par = par,
                            .y = y,
                            .w = w,
                            .groups = 1,
                            .start = start,
                            .l = l,
                            .d = &none };
}
#endif
