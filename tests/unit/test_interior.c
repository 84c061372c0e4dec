/* test_interior.c -- the interior point method: every loss in pieces under every penalty, closed
 * forms */
#include "support/interior_tests.h"

static void test_all(void **state)
{
    (void)state;
    const struct {
        int64_t n, k;
    } sizes[] = { { 60, 9 }, { 20, 41 }, { 31, 3 }, { 16, 205 } }; /* the last: interior_wide.c */
    const double ls[] = { 0.1, 1e-3 };
    for (int i = 0; fenp_losses[i]; i++)
        for (int c = 0; fenp_losses[i]->piece && c < KINDS; c++)
            for (int z = 0; z < 16; z++) {
                char what[96];
                made *m = make(fenp_losses[i], (kind)c, sizes[z / 4].n, sizes[z / 4].k, ls[z % 2]);
                m->q.inside = z / 2 % 2;
                snprintf(what, sizeof what, "%s, %s, %d x %d, l %g%s", fenp_losses[i]->name,
                         kind_names[c], (int)m->q.n, (int)m->q.k, ls[z % 2],
                         m->q.inside ? ", inside" : "");
                fitted f = fit(&m->q);
                judge(&m->q, &f, GOAL, what);
                if (f.calls > 2 * 40) fail_msg("%s: %d reports", what, f.calls); /* two each */
                release(&f);
                free(m);
            }
}

/* ---- closed forms ------------------------------------------------------------------------ */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_hinge),
        cmocka_unit_test(test_shrinking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
