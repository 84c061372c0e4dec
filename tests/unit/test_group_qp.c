/* test_group_qp.c -- quadratic functions with norms of groups: optimality from the definition,
 * closed forms, warm starts, and problems that are singular or badly scaled
 *
 * Violations are computed here in long double from H, c and b alone; they may be 1e-12 of the
 * largest entry of c, l and |H| |b|: rounding errors of H b are 1e-16 k of the last. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "solver/group_qp.h"

typedef struct problem {
    int64_t k, groups;
    double *h, *c, *l, *b, *g;
    int64_t *start;
} problem;

static double normal(uint64_t stream, int64_t i) { return fenp_normal(5, stream, (uint64_t)i); }

static double *doubles(int64_t count)
{
    double *v = calloc((size_t)count + 1, sizeof *v);
    assert_non_null(v);
    return v;
}

/* Groups of sizes that repeat: 1, size, 1, size, ... (size 1: all of one). */
static problem empty(int64_t k, int64_t size)
{
    problem p = { .k = k };
    p.h = doubles(k * k), p.c = doubles(k), p.l = doubles(k), p.b = doubles(k), p.g = doubles(k);
    p.start = calloc((size_t)k + 2, sizeof *p.start);
    assert_non_null(p.start);
    for (int64_t at = 0; at < k; p.groups++) {
        at += p.groups % 2 ? size : 1;
        p.start[p.groups + 1] = at < k ? at : k;
    }
    return p;
}

static void release(problem *p)
{
    free(p->h), free(p->c), free(p->l), free(p->b), free(p->g), free(p->start);
}

/* H = X'X / n, c = X'y / n; column j of X is times factor(j). */
typedef double (*column_factor)(int64_t j, int64_t k);
static double alike(int64_t j, int64_t k) { return (void)j, (void)k, 1.0; }
static double falling(int64_t j, int64_t k) { return pow(10.0, -5.0 * (double)j / (double)k); }

static problem least_squares(uint64_t seed, int64_t n, int64_t k, int64_t size, double kinship,
                             column_factor factor)
{
    problem p = empty(k, size);
    double *x = doubles(n * k), *y = doubles(n);
    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i < n; i++)
            x[i + j * n] = normal(2 * seed, i + j * n) * (1.0 - kinship) +
                           (j > 0 ? kinship * x[i + (j - 1) * n] : 0.0);
    for (int64_t i = 0; i < n; i++) y[i] = normal(2 * seed + 1, i);
    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i < n; i++) {
            y[i] += j % 7 == 0 ? x[i + j * n] : 0.0;
            x[i + j * n] *= factor(j, k);
        }
    for (int64_t a = 0; a < k; a++)
        for (int64_t i = 0; i < n; i++) {
            p.c[a] += x[i + a * n] * y[i] / (double)n;
            for (int64_t b = 0; b < k; b++)
                p.h[b + a * k] += x[i + a * n] * x[i + b * n] / (double)n;
        }
    for (int64_t a = 0; a < k; a++)
        for (int64_t b = 0; b < a; b++) p.h[b + a * k] = p.h[a + b * k];
    free(x), free(y);
    return p;
}

static double length(const double *x, int64_t from, int64_t to)
{
    double sum = 0.0;
    for (int64_t i = from; i < to; i++) sum = hypot(sum, x[i]);
    return sum;
}

/* The least l with b = 0, weights alike. */
static double most_of(const problem *p)
{
    double most = 0.0;
    for (int64_t g = 0; g < p->groups; g++)
        most = fmax(most, length(p->c, p->start[g], p->start[g + 1]));
    return most;
}

static void penalise(problem *p, double l)
{
    for (int64_t g = 0; g < p->groups; g++) p->l[g] = l;
}

static void slopes_at(problem *p)
{
    for (int64_t i = 0; i < p->k; i++) {
        long double sum = -p->c[i];
        for (int64_t j = 0; j < p->k; j++) sum += (long double)p->h[j + i * p->k] * p->b[j];
        p->g[i] = (double)sum;
    }
}

static fenp_group_qp view(problem *p)
{
    return (fenp_group_qp){ .k = p->k,
                            .groups = p->groups,
                            .h = p->h,
                            .ld = p->k,
                            .start = p->start,
                            .l = p->l,
                            .b = p->b,
                            .g = p->g };
}

static double scale_of(const problem *p)
{
    double scale = 0.0;
    for (int64_t i = 0; i < p->k; i++) {
        double row = fabs(p->c[i]);
        for (int64_t j = 0; j < p->k; j++) row += fabs(p->h[j + i * p->k] * p->b[j]);
        scale = fmax(scale, row);
    }
    return scale;
}

/* Violation from the definition, as a share of the scale. */
static double violation(problem *p)
{
    double worst = 0.0;
    double *kept = doubles(p->k);
    memcpy(kept, p->g, (size_t)p->k * sizeof *kept);
    slopes_at(p);
    for (int64_t i = 0; i < p->k; i++) /* g is kept up to date */
        worst = fmax(worst, fabs(kept[i] - p->g[i]));
    for (int64_t g = 0; g < p->groups; g++) {
        const int64_t from = p->start[g], to = p->start[g + 1];
        const double r = length(p->b, from, to);
        if (r == 0.0) {
            worst = fmax(worst, length(p->g, from, to) - p->l[g]);
            continue;
        }
        for (int64_t i = from; i < to; i++)
            worst = fmax(worst, fabs(p->g[i] + p->l[g] * (p->b[i] / r)));
    }
    memcpy(p->g, kept, (size_t)p->k * sizeof *kept);
    free(kept);
    const double scale = scale_of(p);
    return scale > 0.0 ? worst / scale : worst;
}

static void solve(problem *p)
{
    const fenp_group_qp q = view(p);
    assert_int_equal(fenp_group_qp_solve(&q, 1e-13 * scale_of(p), NULL, NULL), FEN_OK);
}

static void solve_cold(problem *p)
{
    memset(p->b, 0, (size_t)p->k * sizeof(double));
    slopes_at(p);
    solve(p);
}

static void assert_optimal(problem *p, const char *what, double l)
{
    const double found = violation(p);
    if (!(found <= 1e-12)) fail_msg("%s, l = %g: violation %g of the scale", what, l, found);
}

/* ---- optimality -------------------------------------------------------------------------- */

static void many_problems_are_solved(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t n, k, size;
        double kinship;
        column_factor f;
    } all[] = {
        { "well conditioned", 120, 40, 5, 0.0, alike },  { "one", 10, 1, 1, 0.0, alike },
        { "one group", 40, 12, 12, 0.3, alike },         { "kin", 80, 60, 7, 0.9, alike },
        { "more columns", 25, 60, 4, 0.2, alike },       { "scales", 90, 45, 6, 0.2, falling },
        { "groups of one, kin", 60, 50, 1, 0.9, alike }, { "kin, scales", 40, 50, 3, 0.8, falling },
    };
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        problem p = least_squares(a + 1, all[a].n, all[a].k, all[a].size, all[a].kinship, all[a].f);
        const double most = most_of(&p);
        for (double share = 2.0; share > 1e-7; share *= 0.2) {
            penalise(&p, share * most);
            solve_cold(&p);
            assert_optimal(&p, all[a].name, share * most);
        }
        release(&p);
    }
}

/* Near the interpolation of least norm the violation stays near l until the right groups are
 * left, for 100 rounds and more with some of these seeds. */
static void tiny_penalties_find_their_groups(void **state)
{
    (void)state;
    for (uint64_t seed = 30; seed < 46; seed++) {
        problem p = least_squares(seed, 25, 60, 4, 0.2, alike);
        const double l = 2e-7 * most_of(&p);
        penalise(&p, l);
        solve_cold(&p);
        assert_optimal(&p, "few rows", l);
        release(&p);
    }
}

static void violations_are_the_definition(void **state)
{
    (void)state;
    problem p = least_squares(3, 50, 20, 4, 0.0, alike);
    penalise(&p, 0.1 * most_of(&p));
    for (int64_t i = 0; i < p.k; i++) p.b[i] = i % 3 ? normal(77, i) : 0.0;
    slopes_at(&p);
    const fenp_group_qp q = view(&p);
    double worst = 0.0;
    for (int64_t g = 0; g < p.groups; g++) {
        const int64_t from = p.start[g], to = p.start[g + 1];
        const double r = length(p.b, from, to);
        double *slope = doubles(p.k);
        for (int64_t i = from; i < to; i++)
            slope[i] = p.g[i] + (r > 0.0 ? p.l[g] * p.b[i] / r : 0.0);
        worst = fmax(worst, length(slope, from, to) - (r > 0.0 ? 0.0 : p.l[g]));
        free(slope);
    }
    assert_true(fabs(fenp_group_qp_violation(&q) - worst) <= 1e-14 * worst);
    release(&p);
}

/* ---- closed forms ------------------------------------------------------------------------ */

/* H diagonal, groups of one: soft thresholds. */
static void diagonals_are_thresholds(void **state)
{
    (void)state;
    problem p = empty(30, 1);
    for (int64_t j = 0; j < p.k; j++) {
        p.h[j * (p.k + 1)] = pow(10.0, (double)(j % 9) - 4.0);
        p.c[j] = normal(11, j);
        p.l[j] = j % 5 == 0 ? 0.0 : 0.2 * (double)(j % 6);
    }
    solve_cold(&p);
    for (int64_t j = 0; j < p.k; j++) {
        const double rest = fmax(fabs(p.c[j]) - p.l[j], 0.0) / p.h[j * (p.k + 1)];
        assert_true(fabs(p.b[j] - copysign(rest, p.c[j])) <= 1e-13 * rest);
    }
    release(&p);
}

/* H = d I within the groups and 0 between them: c_g (1 - l / |c_g|)+ / d. */
static void orthogonal_groups_shrink(void **state)
{
    (void)state;
    problem p = empty(41, 6);
    for (int64_t g = 0; g < p.groups; g++) {
        p.l[g] = 0.5 * (double)(g % 8);
        for (int64_t i = p.start[g]; i < p.start[g + 1]; i++) {
            p.h[i * (p.k + 1)] = 1.0 + (double)g;
            p.c[i] = normal(12, i);
        }
    }
    solve_cold(&p);
    for (int64_t g = 0; g < p.groups; g++) {
        const double size = length(p.c, p.start[g], p.start[g + 1]);
        const double factor = fmax(1.0 - p.l[g] / size, 0.0) / (1.0 + (double)g);
        for (int64_t i = p.start[g]; i < p.start[g + 1]; i++)
            assert_true(fabs(p.b[i] - factor * p.c[i]) <= 1e-13 * size);
    }
    release(&p);
}

/* All groups free: the normal equations. */
static void free_groups_solve_equations(void **state)
{
    (void)state;
    problem p = least_squares(21, 60, 20, 4, 0.3, alike);
    penalise(&p, 0.0);
    solve_cold(&p);
    slopes_at(&p);
    for (int64_t i = 0; i < p.k; i++) assert_true(fabs(p.g[i]) <= 1e-13);
    release(&p);
}

/* A free group with two equal columns: the least-norm solution shares equally. */
static void equal_free_columns_share(void **state)
{
    (void)state;
    problem p = empty(3, 2); /* groups {0}, {1, 2} */
    static const double h[9] = { 2.0, 0.5, 0.5, 0.5, 1.0, 1.0, 0.5, 1.0, 1.0 };
    memcpy(p.h, h, sizeof h);
    p.c[0] = 1.0, p.c[1] = p.c[2] = 0.75;
    p.l[0] = 0.25;
    solve_cold(&p);
    assert_optimal(&p, "equal free columns", 0.25);
    assert_true(fabs(p.b[1] - p.b[2]) <= 1e-9); /* the ridge keeps what it cannot see apart */
    release(&p);
}

static void huge_penalties_leave_nothing(void **state)
{
    (void)state;
    problem p = least_squares(31, 40, 30, 4, 0.4, alike);
    penalise(&p, 1e200 * most_of(&p));
    for (int64_t i = 0; i < p.k; i++) p.b[i] = normal(5, i);
    slopes_at(&p);
    solve(&p);
    for (int64_t i = 0; i < p.k; i++) assert_true(p.b[i] == 0.0);
    penalise(&p, most_of(&p)); /* the least that does */
    solve_cold(&p);
    assert_true(length(p.b, 0, p.k) <= 1e-14);
    release(&p);
}

/* ---- where from, and how it is scaled ---------------------------------------------------- */

static void warm_and_cold_starts_agree(void **state)
{
    (void)state;
    problem p = least_squares(41, 100, 48, 5, 0.6, alike);
    double *warm = doubles(p.k);
    const double most = most_of(&p);
    for (double share = 0.9; share > 1e-3; share *= 0.7) {
        penalise(&p, share * most);
        p.l[3] = 0.0;
        memcpy(p.b, warm, (size_t)p.k * sizeof *warm);
        slopes_at(&p);
        solve(&p);
        assert_optimal(&p, "warm", share);
        memcpy(warm, p.b, (size_t)p.k * sizeof *warm);
        solve_cold(&p);
        for (int64_t i = 0; i < p.k; i++) {
            assert_true(fabs(p.b[i] - warm[i]) <= 1e-9); /* 1e-13 times the condition of H */
            assert_true((p.b[i] == 0.0) == (warm[i] == 0.0));
        }
    }
    free(warm), release(&p);
}

/* c and l times s: b times s; H times s as well: b as it was. */
static void scales_do_not_matter(void **state)
{
    (void)state;
    static const double scales[] = { 1e-60, 1e-8, 1e8, 1e60 };
    problem p = least_squares(51, 50, 36, 4, 0.5, alike),
            q = least_squares(51, 50, 36, 4, 0.5, alike);
    penalise(&p, 0.05 * most_of(&p));
    solve_cold(&p);
    for (size_t a = 0; a < 4; a++)
        for (int both = 0; both < 2; both++) {
            const double s = scales[a];
            for (int64_t i = 0; i < p.k; i++) q.c[i] = s * p.c[i];
            for (int64_t i = 0; i < p.k * p.k; i++) q.h[i] = (both ? s : 1.0) * p.h[i];
            penalise(&q, s * p.l[0]);
            solve_cold(&q);
            assert_optimal(&q, "scaled", s);
            for (int64_t i = 0; i < p.k; i++)
                assert_true(fabs(q.b[i] / (both ? 1.0 : s) - p.b[i]) <= 1e-11);
        }
    release(&p), release(&q);
}

/* ---- singular problems ------------------------------------------------------------------- */

/* Every column twice, in groups that are twins; then columns of zeros. */
static void twins_and_zeros(void **state)
{
    (void)state;
    problem p = least_squares(61, 30, 24, 3, 0.5, alike);
    const int64_t k = p.k, half = 12; /* column j + 12 becomes column j: groups of 1 and 3 */
    for (int64_t a = 0; a < k; a++)
        for (int64_t b = 0; b < k; b++) p.h[b + a * k] = p.h[b % half + a % half * k];
    for (int64_t a = 0; a < k; a++) p.c[a] = p.c[a % half];
    const double most = most_of(&p);
    for (double share = 0.9; share > 1e-5; share *= 0.1) {
        penalise(&p, share * most);
        solve_cold(&p);
        assert_optimal(&p, "twins", share);
    }
    for (int64_t b = 0; b < k; b++) /* columns 0, 5, 10, ... */
        for (int64_t a = 0; a < k; a += 5) p.h[b + a * k] = p.h[a + b * k] = p.c[a] = 0.0;
    for (int64_t g = 0; g < p.groups; g += 3) p.l[g] = 0.0;
    for (int64_t i = 0; i < k; i++) p.b[i] = 1.0;
    slopes_at(&p);
    solve(&p);
    assert_optimal(&p, "zeros", p.l[1]);
    assert_true(p.b[20] == 0.0 || p.l[0] == 0.0);
    release(&p);
}

static void nothing_at_all(void **state)
{
    (void)state;
    problem p = empty(0, 1);
    const fenp_group_qp q = view(&p);
    assert_int_equal(fenp_group_qp_solve(&q, 0.0, NULL, NULL), FEN_OK);
    assert_true(fenp_group_qp_violation(&q) == 0.0);
    release(&p);
    p = empty(5, 4); /* H = 0, c = 0 */
    penalise(&p, 1.0);
    for (int64_t i = 0; i < 5; i++) p.b[i] = (double)i - 2.0;
    solve(&p);
    for (int64_t i = 0; i < 5; i++) assert_true(p.b[i] == 0.0);
    release(&p);
}

/* A tolerance of 0 ends as well, at rounding errors. */
static void tolerance_zero_ends(void **state)
{
    (void)state;
    problem p = least_squares(71, 60, 40, 5, 0.7, alike);
    penalise(&p, 0.03 * most_of(&p));
    memset(p.b, 0, (size_t)p.k * sizeof(double));
    slopes_at(&p);
    const fenp_group_qp q = view(&p);
    assert_int_equal(fenp_group_qp_solve(&q, 0.0, NULL, NULL), FEN_OK);
    assert_true(violation(&p) <= 1e-14);
    release(&p);
}

/* ---- ends -------------------------------------------------------------------------------- */

/* A deadline that is past: g still belongs to b. */
static void ends_leave_things_in_order(void **state)
{
    (void)state;
    problem p = least_squares(81, 60, 40, 5, 0.7, alike);
    penalise(&p, 0.03 * most_of(&p));
    for (int64_t i = 0; i < p.k; i++) p.b[i] = normal(6, i);
    slopes_at(&p);
    const fenp_group_qp q = view(&p);
    const fenp_task late = { .stage = "", .to = 1.0, .deadline = 1e-9 };
    assert_int_equal(fenp_group_qp_solve(&q, 0.0, &late, NULL), FEN_LIMIT);
    for (int64_t i = 0; i < p.k; i++) assert_true(p.b[i] == normal(6, i));
    double *kept = doubles(p.k);
    memcpy(kept, p.g, (size_t)p.k * sizeof *kept);
    slopes_at(&p);
    for (int64_t i = 0; i < p.k; i++) assert_true(fabs(kept[i] - p.g[i]) <= 1e-12);
    free(kept), release(&p);
}

/* Values that are not finite end it, with or without an error, and never go on for ever. */
static void not_finite_ends(void **state)
{
    (void)state;
    problem p = least_squares(91, 60, 20, 5, 0.0, alike);
    penalise(&p, 0.03 * most_of(&p));
    p.c[4] = NAN;
    memset(p.b, 0, (size_t)p.k * sizeof(double));
    slopes_at(&p);
    const fenp_group_qp q = view(&p);
    const fen_status status = fenp_group_qp_solve(&q, 0.0, NULL, NULL);
    assert_true(status == FEN_OK || status == FEN_BAD_DATA);
    assert_true(isnan(fenp_group_qp_violation(&q)));
    release(&p);
}

/* More coefficients than can be counted: an error, not a crash. */
static void too_much_is_refused(void **state)
{
    (void)state;
    static const int64_t start[2] = { 0, INT64_C(1) << 40 };
    static const double l[1] = { 1.0 };
    double none = 0.0;
    const fenp_group_qp q = { .k = start[1],
                              .groups = 1,
                              .h = &none,
                              .ld = start[1],
                              .start = start,
                              .l = l,
                              .b = &none,
                              .g = &none };
    fen_error err = { 0 };
    assert_int_equal(fenp_group_qp_solve(&q, 0.0, NULL, &err), FEN_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_problems_are_solved),
        cmocka_unit_test(tiny_penalties_find_their_groups),
        cmocka_unit_test(violations_are_the_definition),
        cmocka_unit_test(diagonals_are_thresholds),
        cmocka_unit_test(orthogonal_groups_shrink),
        cmocka_unit_test(free_groups_solve_equations),
        cmocka_unit_test(equal_free_columns_share),
        cmocka_unit_test(huge_penalties_leave_nothing),
        cmocka_unit_test(warm_and_cold_starts_agree),
        cmocka_unit_test(scales_do_not_matter),
        cmocka_unit_test(twins_and_zeros),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(tolerance_zero_ends),
        cmocka_unit_test(ends_leave_things_in_order),
        cmocka_unit_test(not_finite_ends),
        cmocka_unit_test(too_much_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
