/* test_penalty_laws.c -- what every penalty of the registry must obey
 *
 *   Fenchel-Young   lambda Omega(r) + Psi*(s) >= s r for r, s >= 0, and for every r there
 *                   is an s (the slope at r) where both sides are equal
 *   Psi*            starts at 0, grows, is never NaN
 *   prox            minimises step Omega(s) + (s - norm)^2/2 over s >= 0; what it takes off is
 *                   a slope of step Omega where it ends, and the prox of Psi* (Moreau)
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/random.h"
#include "base/registry.h"

enum { DRAWS = 5000 };
static const double EPS = 0x1p-52;

typedef struct scene {
    const fen_penalty *penalty;
    double lambda, par, norm, dual;
} scene;

/* Powers where the penalty is convex. */
static double draw_power(uint64_t k)
{
    static const double powers[] = { 1.0, 2.0, 1.5, 4.0 / 3.0, 3.0, 1.01, 10.0 };
    const uint64_t count = sizeof powers / sizeof *powers, kind = k % (count + 3);
    return kind < count ? powers[kind] : 1.05 + 4.0 * fenp_uniform(2, 3, k);
}

/* Any other parameter: somewhere between its ends, the lower one now and then. */
static double draw_parameter(const fen_penalty *penalty, uint64_t k)
{
    const fen_parameter *p = &penalty->parameter;
    if (!p->name) return NAN; /* nobody may look at it */
    if (penalty->parts == FEN_WHOLE && !penalty->written) return draw_power(k);
    if (penalty->parts == FEN_WHOLE && k % 5 == 0) return 2.0; /* lp: its upper end is allowed */
    if (penalty->parts == FEN_WHOLE) return fmax(fmin(draw_power(k), 2.0), 1.01);
    if (p->from_low && k % 5 == 0) return p->low;
    return p->low + (p->high - p->low) * fenp_uniform(2, 3, k);
}

static scene draw(const fen_penalty *penalty, uint64_t k)
{
    return (scene){ .penalty = penalty,
                    .lambda = exp(6.0 * fenp_normal(2, 0, k)),
                    .par = draw_parameter(penalty, k),
                    .norm = exp(3.0 * fenp_normal(2, 1, k)),
                    .dual = exp(6.0 * fenp_normal(2, 2, k)) };
}

static double primal(const scene *s, double r) { return s->lambda * s->penalty->value(r, s->par); }
static double conj_at(const scene *s, double dual)
{
    return s->penalty->conj(dual, s->lambda, s->par);
}

static void every_penalty(void (*law)(const scene *))
{
    int count = 0;
    for (const fen_penalty *const *penalty = fenp_penalties; *penalty; penalty++, count++)
        for (uint64_t k = 0; k < DRAWS; k++) {
            const scene s = draw(*penalty, k);
            law(&s);
        }
    assert_true(count > 0);
}

/* Logarithms of size L cost L eps, times the exponent m/(m-1). */
static double rounding(const scene *s)
{
    if (s->penalty->parts != FEN_WHOLE || s->par == 1.0) return 8.0 * EPS;
    return 100.0 * EPS * s->par / (s->par - 1.0);
}

static void fenchel_young(const scene *s)
{
    const double a = primal(s, s->norm), b = conj_at(s, s->dual), c = s->dual * s->norm;
    assert_false(isnan(b));
    assert_true(a + b - c >= -rounding(s) * fmax(a, c));
}

/* Over the dual norm exp(u), the gap has one valley, and its floor is 0. */
static void equality(const scene *s)
{
    const double ratio = 0.5 * (sqrt(5.0) - 1.0), r = s->norm;
    double a = -150.0, b = 150.0;
    for (int i = 0; i < 120; i++) {
        const double c = b - ratio * (b - a), d = a + ratio * (b - a);
        const double at_c = conj_at(s, exp(c)) - exp(c) * r, at_d = conj_at(s, exp(d)) - exp(d) * r;
        if (at_c < at_d || at_c == INFINITY)
            b = d; /* infinite only on the far side */
        else
            a = c;
    }
    const double gap = primal(s, r) + conj_at(s, exp(a)) - exp(a) * r;
    assert_true(fabs(gap) <= 1e-11 * exp(a) * r || (primal(s, r) == 0.0 && conj_at(s, 0.0) == 0.0));
}

static void conj_grows(const scene *s)
{
    assert_true(conj_at(s, 0.0) == 0.0);
    assert_true(conj_at(s, s->dual) >= 0.0);
    assert_true(conj_at(s, 1.5 * s->dual) >= conj_at(s, s->dual));
    assert_true(conj_at(s, 1e300) > 0.0);
    assert_false(isnan(conj_at(s, 1e300)) || isnan(conj_at(s, 1e-300)));
    assert_true(primal(s, 0.0) == 0.0);
}

/* step Omega(r) + (r - norm)^2/2 */
static double prox_objective(const scene *s, double r)
{
    return primal(s, r) + 0.5 * (r - s->norm) * (r - s->norm);
}

/* Never more than at the ends, nor at any of the points beside it. */
static void prox_optimal(const scene *s)
{
    if (!s->penalty->prox) return;
    const double at = s->penalty->prox(s->norm, s->lambda, s->par);
    const double least = prox_objective(s, at), slack = 16.0 * EPS * least;
    assert_true(at >= 0.0 && at <= s->norm);
    assert_true(least <= prox_objective(s, 0.0) + slack);
    assert_true(least <= prox_objective(s, s->norm) + slack);
    for (double off = 0.5; off > 1e-6; off *= 0.5) {
        assert_true(least <= prox_objective(s, at + off * s->norm) + slack);
        assert_true(least <= prox_objective(s, fmax(at - off * s->norm, 0.0)) + slack);
    }
}

/* norm = prox of Omega + prox of Psi*, and the two are a pair of equality. The slope may be
 * beyond the domain of Psi* by the roundings of one difference. */
static void moreau(const scene *s)
{
    if (!s->penalty->prox) return;
    const double at = s->penalty->prox(s->norm, s->lambda, s->par);
    const double slope = fmax(s->norm - at - 4.0 * EPS * s->norm, 0.0);
    const double here = conj_at(s, slope), rest = 0.5 * (slope - s->norm) * (slope - s->norm);
    const double slack = 32.0 * EPS * (s->norm * s->norm);
    assert_true(here < INFINITY);
    assert_true(fabs(primal(s, at) + here - slope * at) <= slack);
    for (double off = 0.5; off > 1e-6; off *= 0.5)
        for (int side = -1; side <= 1; side += 2) {
            const double beside = fmax(slope + side * off * s->norm, 0.0);
            const double gap = beside - s->norm;
            assert_true(here + rest <= conj_at(s, beside) + 0.5 * gap * gap + slack);
        }
}

static void test_fenchel_young(void **state)
{
    (void)state;
    every_penalty(fenchel_young);
}
static void test_equality(void **state)
{
    (void)state;
    every_penalty(equality);
}
static void test_conj(void **state)
{
    (void)state;
    every_penalty(conj_grows);
}

static void test_prox(void **state)
{
    (void)state;
    every_penalty(prox_optimal);
}
static void test_moreau(void **state)
{
    (void)state;
    every_penalty(moreau);
}

/* Numbers by hand. */
static void test_parts(void **state)
{
    (void)state;
    const fen_penalty *l1 = fenp_find_penalty("l1"), *elastic = fenp_find_penalty("elastic");
    const fen_penalty *none = fenp_find_penalty("none"), *group = fenp_find_penalty("group");
    assert_true(l1->parts == FEN_EACH && none->parts == FEN_EACH && group->parts == FEN_GROUPS);
    assert_true(l1->prox(3.0, 2.0, NAN) == 1.0 && l1->prox(1.0, 2.0, NAN) == 0.0);
    assert_true(l1->conj(2.0, 2.0, NAN) == 0.0 && l1->conj(2.5, 2.0, NAN) == INFINITY);
    assert_true(none->value(3.0, NAN) == 0.0 && none->prox(3.0, 2.0, NAN) == 3.0);
    assert_true(none->conj(0.0, 2.0, NAN) == 0.0 && none->conj(1e-300, 2.0, NAN) == INFINITY);
    assert_true(elastic->value(2.0, 0.25) == 0.5 + 1.5);
    assert_true(elastic->conj(5.0, 4.0, 0.25) == 16.0 / 6.0); /* (5 - 1)^2 / (2 * 4 * 0.75) */
    assert_true(elastic->conj(1.0, 4.0, 0.25) == 0.0);
    assert_true(elastic->prox(4.0, 4.0, 0.25) == 0.75); /* (4 - 1) / (1 + 3) */
    assert_true(elastic->conj(6.0, 2.0, 0.0) == 9.0);   /* ridge: s^2 / (2 lambda) */
}

static void test_power(void **state)
{
    (void)state;
    const fen_penalty *power = fenp_find_penalty("rkhs");
    assert_non_null(power);
    assert_true(power->value(3.0, 2.0) == 9.0);
    assert_true(power->conj(6.0, 3.0, 2.0) == 3.0); /* s^2 / (4 lambda) */
    assert_true(power->conj(3.0, 3.0, 1.0) == 0.0);
    assert_true(power->conj(nextafter(3.0, 4.0), 3.0, 1.0) == INFINITY);
    assert_true(power->conj(1e-9, 3.0, 0.5) == INFINITY); /* not convex       */
    /* m = 2 is a special case in the code, not in the mathematics */
    assert_true(fabs(power->conj(6.0, 3.0, 2.0 + 1e-12) - 3.0) < 1e-10);
    assert_true(fabs(power->conj(6.0, 3.0, 2.0 - 1e-12) - 3.0) < 1e-10);
    /* 1.5: lambda/2 (s/(1.5 lambda))^3 */
    assert_true(fabs(power->conj(6.0, 2.0, 1.5) - 8.0) < 1e-13);
    /* the power alone overflows, the product does not: 1e-200 * 0.1 (1e30 / 1.1)^11 */
    const double expected = 0.1 * pow(1.1, -11.0) * 1e130;
    assert_true(fabs(power->conj(1e-170, 1e-200, 1.1) / expected - 1.0) < 1e-10);
}

static void test_registry(void **state)
{
    (void)state;
    for (const fen_penalty *const *penalty = fenp_penalties; *penalty; penalty++)
        assert_ptr_equal(fenp_find_penalty((*penalty)->name), *penalty);
    assert_null(fenp_find_penalty("no such penalty"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),      cmocka_unit_test(test_power),
        cmocka_unit_test(test_fenchel_young), cmocka_unit_test(test_equality),
        cmocka_unit_test(test_conj),          cmocka_unit_test(test_prox),
        cmocka_unit_test(test_moreau),        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
