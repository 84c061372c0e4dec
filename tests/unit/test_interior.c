/* test_interior.c -- the interior point method against the definition and closed forms
 *
 * The judge is P - D from the definition in long double, with the losses' values and conjugates
 * (the solver knows their pieces), and looks at every constraint of u by itself. Gaps of 1e-8 are
 * asked for; what the solver says of its gap must be true to the roundings of P. */
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

static int count(void *user, const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    ++*(int *)user;
    return 0;
}

static fitted fit_from(const fenp_interior *q, const double *guess, fen_error *err)
{
    fitted f = { doubles(q->k + 1), doubles(q->n + 1), -1.0, FEN_OK, 0 };
    const fen_host host = { count, &f.calls };
    const fenp_task task = fenp_task_start(&host, 0.0);
    if (guess) memcpy(f.beta, guess, (size_t)q->k * sizeof(double));
    f.status = fenp_interior_solve(q, GOAL, f.beta, f.u, &f.gap, &task, err);
    return f;
}

static fitted fit(const fenp_interior *q)
{
    fen_error err = { 0 };
    const fitted f = fit_from(q, NULL, &err);
    if (f.status != FEN_OK) fail_msg("%s", err.message);
    return f;
}

static void release(fitted *f)
{
    free(f->beta);
    free(f->u);
}

/* ---- the judge --------------------------------------------------------------------------- */

static long double slope_at(const fenp_interior *q, int64_t j, const double *u, long double *size)
{
    long double sum = 0.0L;
    *size = 0.0L;
    for (int64_t i = 0; i < q->n; i++) {
        sum += (long double)q->x[i + j * q->n] * u[i];
        *size += fabsl((long double)q->x[i + j * q->n] * u[i]);
    }
    return sum;
}

static long double primal(const fenp_interior *q, const double *beta)
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
static long double dual_of_rows(const fenp_interior *q, const double *u)
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

/* Every constraint of u to rounding: 1e-12 of the sizes of what is summed. */
static long double dual(const fenp_interior *q, const double *u)
{
    long double sum = dual_of_rows(q, u);
    for (int64_t g = 0; g < q->groups; g++) {
        long double norm = 0.0L, sizes = 0.0L, size, slope;
        for (int64_t j = q->start[g]; j < q->start[g + 1]; j++) {
            slope = slope_at(q, j, u, &size);
            if (q->nonnegative && g < q->groups - q->unbounded) slope = fmaxl(slope, 0.0L);
            norm += slope * slope;
            sizes += size;
        }
        norm = sqrtl(norm);
        const double d = q->start[g] < q->start[g + 1] ? q->d[q->start[g]] : 1.0;
        if (d > 0.0)
            sum -= powl(fmaxl(norm - q->l[g], 0.0L), 2.0L) / (2.0L * d);
        else if (!(norm <= q->l[g] + 1e-12L * sizes))
            fail_msg("group %d: %.17Lg exceeds %.17g", (int)g, norm, q->l[g]);
    }
    return sum;
}

/* The gap proved must be at most limit, and what the solver says. */
static void judge(const fenp_interior *q, const fitted *f, double limit, const char *what)
{
    double zero[256] = { 0 };
    assert_true(q->k <= 256);
    const long double p = primal(q, f->beta), d = dual(q, f->u), null = primal(q, zero);
    const long double unit = fmaxl(fabsl(p), isfinite((double)null) ? 1e-12L * null : 0.0L);
    const double gap = p - d <= 0.0L ? 0.0 : (double)((p - d) / unit);
    if (!(p >= d - 1e-11L * unit)) fail_msg("%s: D %.17Lg above P %.17Lg", what, d, p);
    if (!(gap <= limit)) fail_msg("%s: gap %g, P %.17Lg", what, gap, p);
    if (!(fabs(gap - f->gap) <= 1e-10 + 1e-6 * gap))
        fail_msg("%s: gap %g said, %g found", what, f->gap, gap);
}

/* ---- random problems --------------------------------------------------------------------- */

typedef enum kind { LASSO, GROUPS, ELASTIC, ELASTIC_GROUPS, SIGNS, FREE, FREE_SIGNS, KINDS } kind;
static const char *const kind_names[] = { "lasso", "groups", "elastic",   "elastic groups",
                                          "signs", "free",   "free signs" };
enum { ROWS = 60, COLUMNS = 64 };

typedef struct made {
    double x[ROWS * COLUMNS], y[ROWS], w[ROWS], f0[ROWS], l[COLUMNS], d[COLUMNS], par[1];
    int64_t start[COLUMNS + 1];
    fenp_interior q;
} made;

static double par_of(const fen_loss *loss)
{
    if (strcmp(loss->name, "pinball") == 0) return 0.3;
    if (strcmp(loss->name, "tube") == 0) return 5.0; /* the noise is less, y is not */
    return loss->parameter.name ? loss->parameter.initial : 0.0;
}

/* The last column is a bias; weights differ, some are 0. */
static made *make(const fen_loss *loss, kind which, int64_t n, int64_t k, double l)
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

static void test_all(void **state)
{
    (void)state;
    const struct {
        int64_t n, k;
    } sizes[] = { { 60, 9 }, { 20, 41 }, { 31, 3 } };
    const double ls[] = { 0.1, 1e-3 };
    for (int i = 0; fenp_losses[i]; i++)
        for (int c = 0; fenp_losses[i]->piece && c < KINDS; c++)
            for (int z = 0; z < 6; z++) {
                char what[96];
                made *m = make(fenp_losses[i], (kind)c, sizes[z / 2].n, sizes[z / 2].k, ls[z % 2]);
                snprintf(what, sizeof what, "%s, %s, %d x %d, l %g", fenp_losses[i]->name,
                         kind_names[c], (int)m->q.n, (int)m->q.k, ls[z % 2]);
                fitted f = fit(&m->q);
                judge(&m->q, &f, GOAL, what);
                if (f.calls > 2 * 40) fail_msg("%s: %d reports", what, f.calls); /* two each */
                release(&f);
                free(m);
            }
}

/* ---- closed forms ------------------------------------------------------------------------ */

static fenp_interior one_column(const char *loss, int64_t n, const double *x, const double *par,
                                const double *y, const double *w, const double *l)
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

static void test_quantiles(void **state)
{
    (void)state;
    const double x[] = { 1, 1, 1, 1, 1, 1, 1 }, y[] = { 3, -1, 10, 4, 7, 0, 5 };
    const double w[] = { 1, 1, 1, 1, 1, 1, 1 }, l = 0.0, tau = 0.3, none = 0.0;
    fenp_interior q = one_column("absolute", 7, x, &none, y, w, &l);
    fitted f = fit(&q);
    assert_near(f.beta[0], 4.0, 1e-6); /* the median; the gap of 1e-8 allows 1e-6 */
    assert_near((double)primal(&q, f.beta), 1 + 5 + 6 + 0 + 3 + 4 + 1, 1e-6);
    release(&f);
    q = one_column("pinball", 7, x, &tau, y, w, &l);
    f = fit(&q);
    assert_near(f.beta[0], 3.0, 1e-6); /* the third of seven */
    judge(&q, &f, GOAL, "quantile");
    release(&f);
}

/* x = y: every row's loss is max(0, 1 - b) */
static void test_hinge(void **state)
{
    (void)state;
    const double y[] = { 1, -1, 1, 1 }, w[] = { 0.25, 0.25, 0.25, 0.25 }, margin = 1.0;
    const double ls[] = { 0.2, 0.9, 1.1, 1e6, 1e-6 };
    for (int i = 0; i < 5; i++) {
        const fenp_interior q = one_column("hinge", 4, y, &margin, y, w, &ls[i]);
        fitted f = fit(&q);
        assert_near((double)primal(&q, f.beta), fmin(ls[i], 1.0), 1e-8);
        assert_near(f.beta[0], ls[i] < 1.0 ? 1.0 : 0.0, ls[i] < 1.0 ? 1e-6 : 0.0);
        judge(&q, &f, GOAL, "hinge");
        release(&f);
    }
}

/* Orthonormal columns, square loss: z = 2 X'y shrinks by l, as a whole in a group. */
static void test_shrinking(void **state)
{
    (void)state;
    const double x[] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 }, y[] = { 3, -0.2, 1, 7 };
    const double w[] = { 1, 1, 1, 1 }, d[3] = { 0 }, l1[] = { 1, 1, 1 }, l2[] = { 2, 1 };
    const int64_t each[] = { 0, 1, 2, 3 }, two[] = { 0, 2, 3 };
    fenp_interior q = { .n = 4,
                        .k = 3,
                        .x = x,
                        .loss = fenp_find_loss("square"),
                        .par = w,
                        .y = y,
                        .w = w,
                        .groups = 3,
                        .start = each,
                        .l = l1,
                        .d = d };
    fitted f = fit(&q);
    assert_near(f.beta[0], 2.5, 1e-4); /* P is flat: 1e-8 in it are 1e-4 here */
    assert_true(f.beta[1] == 0.0);
    assert_near(f.beta[2], 0.5, 1e-4);
    judge(&q, &f, GOAL, "three columns");
    release(&f);
    q.groups = 2, q.start = two, q.l = l2;
    f = fit(&q);
    const double norm = hypot(3.0, 0.2), part = 1.0 - 1.0 / norm;
    assert_near(f.beta[0], 3.0 * part, 1e-4);
    assert_near(f.beta[1], -0.2 * part, 1e-4);
    judge(&q, &f, GOAL, "a group");
    release(&f);
}

/* ---- edges ------------------------------------------------------------------------------- */

static void test_large_l(void **state)
{
    (void)state;
    for (int c = 0; c < KINDS; c++) {
        made *m = make(fenp_find_loss("absolute"), (kind)c, 40, 9, 1e6);
        fitted f = fit(&m->q);
        for (int64_t g = 0; g < m->q.groups; g++)
            for (int64_t j = m->start[g]; j < m->start[g + 1]; j++)
                assert_true(m->l[g] == 0.0 || f.beta[j] == 0.0);
        judge(&m->q, &f, GOAL, "large l");
        release(&f);
        free(m);
    }
}

/* The support is exact at a tight gap: the fit without the other columns is as good. */
static void test_zeros(void **state)
{
    (void)state;
    made *m = make(fenp_find_loss("absolute"), LASSO, 60, 33, 0.1);
    fitted f = fit(&m->q);
    int64_t terms = 0;
    for (int64_t j = 0; j < 32; j++) {
        terms += f.beta[j] != 0.0;
        assert_true(f.beta[j] == 0.0 || fabs(f.beta[j]) > 1e-7);
    }
    assert_true(terms >= 1 && terms <= 20);
    release(&f);
    free(m);
}

typedef enum spoiled {
    ZERO_COLUMN,
    TWINS,
    FREE_TWINS,
    ONE_PLACE,
    CONSTANT,
    ONE_CLASS,
    SPOILED
} spoiled;

static void spoil(made *m, spoiled how)
{
    const int64_t n = m->q.n, k = m->q.k;
    const size_t column = (size_t)n * sizeof(double);
    if (how == ZERO_COLUMN) memset(m->x, 0, column);
    if (how == TWINS)
        for (int64_t j = 2; j + 2 < k; j += 2) memcpy(m->x + (j + 1) * n, m->x + j * n, column);
    if (how == FREE_TWINS)
        memcpy(m->x + n, m->x, column), memcpy(m->x + 2 * n, m->x + (k - 1) * n, column);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; how == ONE_PLACE && j < k; j++) m->x[i + j * n] = m->x[j * n];
        if (how == CONSTANT) m->y[i] = m->q.loss->labels == FEN_SIGNS ? -1.0 : 5.0;
        if (how == ONE_CLASS) m->y[i] = 1.0;
    }
}

/* Where P is 0 at the end (constant y, one class) P - D in units of P(0) is all there is. */
static void test_spoiled(void **state)
{
    (void)state;
    for (int i = 0; fenp_losses[i]; i++)
        for (int how = 0; fenp_losses[i]->piece && how < SPOILED; how++)
            for (int c = 0; c < KINDS; c++) {
                char what[96];
                made *m = make(fenp_losses[i], (kind)c, 40, 12, 0.01);
                m->q.f0 = NULL;
                spoil(m, (spoiled)how);
                snprintf(what, sizeof what, "%s, %s, spoiled %d", fenp_losses[i]->name,
                         kind_names[c], how);
                fitted f = fit(&m->q);
                double zero[12] = { 0 };
                const double p = (double)primal(&m->q, f.beta), null = (double)primal(&m->q, zero);
                if (!(p <= 1e-12 * null)) judge(&m->q, &f, GOAL, what);
                release(&f);
                free(m);
            }
}

static void test_small(void **state)
{
    (void)state;
    const double y = 2.0, x = 3.0, w = 0.5, none = 0.0, l = 0.1;
    fenp_interior q = one_column("absolute", 1, &x, &none, &y, &w, &l);
    fitted f = fit(&q); /* 1/2 |2 - 3 b| + |b|/10 */
    assert_near(f.beta[0], 2.0 / 3.0, 1e-7);
    judge(&q, &f, GOAL, "one row");
    release(&f);
    q.k = 0, q.groups = 0; /* nothing to choose */
    f = fit(&q);
    judge(&q, &f, GOAL, "no column");
    release(&f);
    q.k = 1, q.groups = 1, q.w = &none;
    f = fit(&q);
    assert_true(f.beta[0] == 0.0 && f.u[0] == 0.0 && f.gap == 0.0);
    release(&f);
}

/* Units of y and of columns change nothing but units. */
static void test_units(void **state)
{
    (void)state;
    const double units[] = { 1e8, 1e-8 };
    for (int u = 0; u < 2; u++)
        for (int c = 0; c < KINDS; c++) {
            made *m = make(fenp_find_loss("pinball"), (kind)c, 40, 12, 0.05);
            m->q.f0 = NULL;
            fitted before = fit(&m->q);
            const double p = (double)primal(&m->q, before.beta);
            for (int64_t i = 0; i < 40; i++) m->y[i] *= units[u];
            for (int64_t j = 0; j < 12; j++) m->d[j] /= units[u];
            fitted f = fit(&m->q);
            judge(&m->q, &f, GOAL, "units of y");
            assert_near((double)primal(&m->q, f.beta) / units[u], p, 2.0 * GOAL * p);
            release(&f);
            for (int64_t i = 0; i < 40 * 3; i++) m->x[i] *= 1e6 / units[u]; /* one group */
            for (int64_t g = 0; m->start[g] < 3; g++) m->l[g] *= 1e6 / units[u];
            for (int64_t j = 0; j < 3; j++) m->d[j] *= 1e6 / units[u] * (1e6 / units[u]);
            f = fit(&m->q);
            assert_near((double)primal(&m->q, f.beta) / units[u], p, 2.0 * GOAL * p);
            release(&f);
            release(&before);
            free(m);
        }
}

/* Weights may differ by many orders; those of 0 are as if the row were not there. */
static void test_weights(void **state)
{
    (void)state;
    for (int i = 0; fenp_losses[i]; i++)
        for (int c = 0; fenp_losses[i]->piece && c < KINDS; c++) {
            made *m = make(fenp_losses[i], (kind)c, 60, 9, 0.05);
            for (int64_t r = 0; r < 60; r++) m->w[r] *= pow(10.0, -8.0 * uniform(8, r));
            fitted f = fit(&m->q);
            judge(&m->q, &f, GOAL, fenp_losses[i]->name);
            release(&f);
            free(m);
        }
}

static void test_guess(void **state)
{
    (void)state;
    made *m = make(fenp_find_loss("eps"), LASSO, 60, 20, 0.02);
    fitted first = fit(&m->q);
    fen_error err = { 0 };
    fitted again = fit_from(&m->q, first.beta, &err);
    judge(&m->q, &again, GOAL, "from the solution");
    for (int64_t j = 0; j < 20; j++) m->y[j] = -1e9 * first.beta[j];
    fitted misled = fit_from(&m->q, m->y, &err); /* y has changed as well */
    judge(&m->q, &misled, GOAL, "from far away");
    release(&first);
    release(&again);
    release(&misled);
    free(m);
}

/* ---- ends -------------------------------------------------------------------------------- */

static int stop_later(void *user, const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    return --*(int *)user < 0;
}

/* Whenever it is stopped there is an answer, with the gap that is proved by then. */
static void test_stopped(void **state)
{
    (void)state;
    made *m = make(fenp_find_loss("hinge"), GROUPS, 60, 20, 0.01);
    for (int after = 0; after < 12; after += 3) {
        int left = after;
        const fen_host host = { stop_later, &left };
        const fenp_task task = fenp_task_start(&host, 0.0);
        fitted f = { doubles(20), doubles(60), -1.0, FEN_OK, 0 };
        fen_error err = { 0 };
        f.status = fenp_interior_solve(&m->q, GOAL, f.beta, f.u, &f.gap, &task, &err);
        assert_int_equal(f.status, FEN_STOPPED);
        assert_true(err.message[0] != '\0');
        judge(&m->q, &f, 1.0 + 1e-9, "stopped");
        release(&f);
    }
    free(m);
}

/* An empty tube has no answer: the gap says so. */
static void test_impossible(void **state)
{
    (void)state;
    const double x[] = { 1, 1 }, y[] = { 0, 10 }, w[] = { 0.5, 0.5 }, e = 1.0, l = 0.0;
    const fenp_interior q = one_column("tube", 2, x, &e, y, w, &l);
    fitted f = fit(&q);
    assert_true(isinf(f.gap) && isfinite(f.beta[0]) && isfinite(f.u[0]));
    release(&f);
}

static void test_too_many(void **state)
{
    (void)state;
    const double one = 1.0, none = 0.0;
    fenp_interior q = one_column("hinge", 1, &one, &one, &one, &one, &none);
    double beta, u, gap;
    fen_error err = { 0 };
    q.k = INT64_C(5000000); /* refused before any column is looked at */
    assert_int_equal(fenp_interior_solve(&q, GOAL, &beta, &u, &gap, NULL, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "5000000"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_hinge),      cmocka_unit_test(test_shrinking),
        cmocka_unit_test(test_large_l),    cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_spoiled),    cmocka_unit_test(test_small),
        cmocka_unit_test(test_units),      cmocka_unit_test(test_weights),
        cmocka_unit_test(test_guess),      cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_impossible), cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
