/* test_interior_edges.c -- the interior point method where problems are odd or it ends early */
#include "support/interior_tests.h"

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
    m->q.inside = 1;
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

/* Groups with a price far below the slopes, and with columns of unequal size: the cones are as wide
 * as the price is small, and the columns decide alone. (Below 1e-16 of ||x_j|| ||u|| a price is
 * beyond doubles.) */
static void test_small_prices(void **state)
{
    (void)state;
    const struct {
        double l, unit;
    } cases[] = { { 1e-12, 1.0 }, { 1e-10, 1e3 }, { 1e-8, 1e5 }, { 1e-6, 1e6 } };
    for (int i = 0; fenp_losses[i]; i++)
        for (int c = 0; fenp_losses[i]->piece && c < 8; c++) {
            char what[96];
            made *m = make(fenp_losses[i], GROUPS, 60, c < 4 ? 9 : 41, cases[c % 4].l);
            m->q.f0 = NULL;
            for (int64_t r = 0; r < m->q.n; r++) m->x[r] *= cases[c % 4].unit;
            snprintf(what, sizeof what, "%s, l %g, a column times %g", fenp_losses[i]->name,
                     cases[c % 4].l, cases[c % 4].unit);
            fitted f = fit(&m->q);
            judge(&m->q, &f, GOAL, what);
            release(&f);
            free(m);
        }
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
            for (int c = 0; c < 2 * KINDS; c++) {
                char what[96];
                made *m = make(fenp_losses[i], (kind)(c % KINDS), 40, 12, 0.01);
                m->q.f0 = NULL, m->q.inside = c / KINDS;
                spoil(m, (spoiled)how);
                snprintf(what, sizeof what, "%s, %s, spoiled %d, inside %d", fenp_losses[i]->name,
                         kind_names[c % KINDS], how, m->q.inside);
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

/* Powers of a number as free columns: nearly dependent, and u is orthogonal to all of them. */
static void test_powers(void **state)
{
    (void)state;
    made *m = make(fenp_find_loss("absolute"), LASSO, 50, 13, 0.0);
    m->q.f0 = NULL;
    for (int64_t i = 0; i < 50; i++)
        for (int64_t j = 0; j < 12; j++) m->x[i + j * 50] = pow((double)i / 49.0, (double)j + 1.0);
    fitted f = fit(&m->q);
    judge(&m->q, &f, GOAL, "powers");
    memcpy(m->x + 50 * 11, m->x, 50 * sizeof(double)); /* and one of them twice */
    fitted again = fit_from(&m->q, f.beta, NULL);
    judge(&m->q, &again, GOAL, "powers, one twice");
    release(&again);
    release(&f);
    free(m);
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
        for (int c = 0; fenp_losses[i]->piece && c < 2 * KINDS; c++) {
            made *m = make(fenp_losses[i], (kind)(c % KINDS), 60, 9, 0.05);
            m->q.inside = c / KINDS;
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
        const fen_host host = { .progress = stop_later, .user = &left };
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
        cmocka_unit_test(test_large_l),  cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_spoiled),  cmocka_unit_test(test_small),
        cmocka_unit_test(test_powers),   cmocka_unit_test(test_units),
        cmocka_unit_test(test_weights),  cmocka_unit_test(test_guess),
        cmocka_unit_test(test_stopped),  cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_too_many), cmocka_unit_test(test_small_prices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
