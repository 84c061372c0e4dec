/* test_loss_laws.c -- what every loss of the registry must obey
 *
 *   Fenchel-Young   v(t) + v*(s) >= s t, with equality exactly for slopes s of v at t
 *   Moreau          t = prox of h v at t + h times the prox of (1/h) v* at t/h
 *   slopes          contain every difference quotient between their points
 *   domain          holds every slope, and v* is finite inside it
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/random.h"
#include "base/registry.h"

enum { DRAWS = 2000, PARAMETERS = 3 };
static const double EPS = 0x1p-52;

/* One loss with its label and parameter, and two scores. */
typedef struct scene {
    const fen_loss *loss;
    double par[1], y, t, other, step;
} scene;

static scene draw(const fen_loss *loss, uint64_t k)
{
    const fen_parameter *p = &loss->parameter;
    const double size = exp(6.0 * fenp_normal(1, 0, k) * (k % 3 == 0)); /* a third of them wild */
    scene s = { .loss = loss,
                .y = size * fenp_normal(1, 1, k),
                .t = size * fenp_normal(1, 2, k),
                .other = size * fenp_normal(1, 3, k),
                .step = exp(3.0 * fenp_normal(1, 4, k)) };
    if (k % 5 == 0) s.y = k % 2 ? 1.0 : -1.0;
    if (k % 7 == 0) s.t = s.y;
    if (p->name) {
        const double high = isfinite(p->high) ? p->high : p->initial + 10.0;
        const double low = isfinite(p->low) ? p->low : p->initial - 10.0;
        const double middle = low + (high - low) * fenp_uniform(1, 5, k);
        s.par[0] = k % PARAMETERS == 0 ? p->initial : middle;
    }
    return s;
}

static double value(const scene *s, double t) { return s->loss->value(s->y, t, s->par); }
static double conj_at(const scene *s, double slope) { return s->loss->conj(s->y, slope, s->par); }

/* v(t) + v*(slope) - slope t in units of its largest term */
static double young(const scene *s, double t, double slope)
{
    const double a = value(s, t), b = conj_at(s, slope), c = slope * t;
    const double unit = fmax(fmax(fabs(a), fabs(b)), fmax(fabs(c), fabs(slope * s->y)));
    return unit > 0.0 ? (a + b - c) / unit : 0.0;
}

static double inside_domain(const scene *s, double slope)
{
    double low, high;
    s->loss->domain(s->y, s->par, &low, &high);
    assert_true(low <= high);
    return fmin(fmax(slope, low), high);
}

static void every_loss(void (*law)(const scene *))
{
    int count = 0;
    for (const fen_loss *const *loss = fenp_losses; *loss; loss++, count++)
        for (uint64_t k = 0; k < DRAWS; k++) {
            const scene s = draw(*loss, k);
            law(&s);
        }
    assert_true(count > 0);
}

static void fenchel_young(const scene *s)
{
    const double slope = inside_domain(s, s->other);
    assert_true(isfinite(conj_at(s, slope)));
    assert_true(young(s, s->t, slope) >= -8.0 * EPS);
    double low, high;
    s->loss->slopes(s->y, s->t, s->par, &low, &high);
    assert_true(low <= high);
    for (int i = 0; i <= 2; i++) {
        const double between = low + (high - low) * i / 2.0;
        assert_true(inside_domain(s, between) == between);
        assert_true(fabs(young(s, s->t, between)) <= 8.0 * EPS);
    }
    /* a slope that is clearly none of v at t leaves a gap */
    const double wrong = inside_domain(s, high + 0.5 * (1.0 + fabs(high)));
    if (wrong > high + 0.25) assert_true(young(s, s->t, wrong) > 0.0);
}

static void convex(const scene *s)
{
    const double a = value(s, s->t), b = value(s, s->other);
    assert_true(a >= 0.0 && b >= 0.0);
    assert_true(value(s, 0.5 * (s->t + s->other)) <= 0.5 * (a + b) * (1.0 + 8.0 * EPS));
}

/* A loss of y - t stays what it is when a constant goes off both. */
static void residual(const scene *s)
{
    const double moved = s->loss->value(s->y - s->other, s->t - s->other, s->par);
    const double unit = s->y * s->y + s->t * s->t + s->other * s->other + fabs(value(s, s->t));
    if (s->loss->residual) assert_true(fabs(moved - value(s, s->t)) <= 32.0 * EPS * unit);
}

static void slopes_hold_differences(const scene *s)
{
    const double a = fmin(s->t, s->other), b = fmax(s->t, s->other);
    if (a == b) return;
    double low, high, unused;
    s->loss->slopes(s->y, a, s->par, &low, &unused);
    s->loss->slopes(s->y, b, s->par, &unused, &high);
    assert_true(low <= high);
    const double va = value(s, a), vb = value(s, b), rounding = 8.0 * EPS * (fabs(va) + fabs(vb));
    assert_true(vb - va >= low * (b - a) - rounding - 8.0 * EPS * fabs(low * (b - a)));
    assert_true(vb - va <= high * (b - a) + rounding + 8.0 * EPS * fabs(high * (b - a)));
    if (s->loss->smoothness > 0.0)
        assert_true(high - low <=
                    s->loss->smoothness * (b - a) + 8.0 * EPS * (fabs(high) + fabs(low)));
}

static void prox_is_optimal(const scene *s)
{
    const double p = s->loss->prox(s->y, s->t, s->step, s->par);
    const double slope = inside_domain(s, (s->t - p) / s->step);
    const double size = fabs(p) + fabs(s->t) + fabs(s->y);
    assert_true(fabs(slope - (s->t - p) / s->step) <= 8.0 * EPS * size / s->step);
    /* slope errors of EPS size / step are second order in the gap of smooth losses, first
     * order in that of the others */
    const double unit = fmax(value(s, p), fmax(fabs(conj_at(s, slope)), fabs(slope) * size));
    const double gap = value(s, p) + conj_at(s, slope) - slope * p;
    assert_true(fabs(gap) <= 16.0 * EPS * (unit + size * size / s->step));
}

/* argmin over the domain of v*(s) + h/2 (s - center)^2, by golden section */
static double prox_of_conj(const scene *s, double h, double center, double reach)
{
    const double ratio = 0.5 * (sqrt(5.0) - 1.0);
    double a = inside_domain(s, center - reach), b = inside_domain(s, center + reach);
    for (int i = 0; i < 120; i++) {
        const double c = b - ratio * (b - a), d = a + ratio * (b - a);
        const double at_c = conj_at(s, c) + 0.5 * h * (c - center) * (c - center);
        const double at_d = conj_at(s, d) + 0.5 * h * (d - center) * (d - center);
        if (at_c < at_d)
            b = d;
        else
            a = c;
    }
    return 0.5 * (a + b);
}

static void moreau(const scene *s)
{
    const double p = s->loss->prox(s->y, s->t, s->step, s->par);
    const double size = 1.0 + (fabs(s->t) + fabs(s->y)) / s->step + fabs(s->t) + fabs(s->y);
    const double q = prox_of_conj(s, s->step, s->t / s->step, 10.0 * size);
    /* a minimum is found to the square root of the accuracy of the values */
    assert_true(fabs(p + s->step * q - s->t) <= 1e-6 * s->step * size);
}

static void test_fenchel_young(void **state)
{
    (void)state;
    every_loss(fenchel_young);
}
static void test_convex(void **state)
{
    (void)state;
    every_loss(convex);
}
static void test_residual(void **state)
{
    (void)state;
    every_loss(residual);
}
static void test_slopes(void **state)
{
    (void)state;
    every_loss(slopes_hold_differences);
}
static void test_prox(void **state)
{
    (void)state;
    every_loss(prox_is_optimal);
}
static void test_moreau(void **state)
{
    (void)state;
    every_loss(moreau);
}

static void test_registry(void **state)
{
    (void)state;
    for (const fen_loss *const *loss = fenp_losses; *loss; loss++) {
        assert_ptr_equal(fenp_find_loss((*loss)->name), *loss);
        assert_true((*loss)->help[0] != '\0');
    }
    assert_null(fenp_find_loss("no such loss"));
    assert_null(fenp_find_loss(""));
}

/* The convention of the whole library: no factor 1/2. */
static void test_square(void **state)
{
    (void)state;
    const fen_loss *square = fenp_find_loss("square");
    double low, high;
    assert_true(square->value(3.0, 1.0, NULL) == 4.0);
    assert_true(square->conj(3.0, -4.0, NULL) == -8.0);
    square->slopes(3.0, 1.0, NULL, &low, &high);
    assert_true(low == -4.0 && high == -4.0);
    assert_true(square->prox(3.0, 1.0, 0.5, NULL) == 2.0);
    assert_true(square->prox(3.0, 1.0, INFINITY, NULL) == 3.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),      cmocka_unit_test(test_square),
        cmocka_unit_test(test_fenchel_young), cmocka_unit_test(test_convex),
        cmocka_unit_test(test_slopes),        cmocka_unit_test(test_prox),
        cmocka_unit_test(test_moreau),        cmocka_unit_test(test_residual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
