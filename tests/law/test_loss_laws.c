/* test_loss_laws.c -- what every loss of the registry must obey, whatever it is called
 *
 *   Fenchel-Young   v(t) + v*(s) >= s t, with equality exactly for slopes s of v at t
 *   Moreau          t = prox of h v at t + h times the prox of (1/h) v* at t/h
 *   slopes          contain every difference quotient between their points
 *   domain          holds every slope; v* is finite inside it and infinite outside
 *   curvature       is the derivative of the slope, at most the smoothness
 *   piece           is v*(-z) and its domain
 *   price           v* is affine in the parameter, and moves the way its price says
 *   residual        labels and scores may lose a constant
 *
 * Labels, scores and parameters are drawn at ordinary and at extreme scales, every few of them
 * on a kink. Roundings are measured in units of |slope| times the size of what went in. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "base/registry.h"

enum { DRAWS = 3000 };
static const double EPS = 0x1p-52;

/* One loss with its label and parameter, two scores and a slope. */
typedef struct scene {
    const fen_loss *loss;
    double par[1], y, t, other, step, slope;
    double size; /* of y, t, other and the parameter together */
} scene;

/* ---- what is drawn --------------------------------------------------------------------- */

static int allowed(const fen_parameter *p, double x)
{
    return (x > p->low || (p->from_low && x == p->low)) && x < p->high;
}

static double draw_parameter(const fen_parameter *p, double size, uint64_t k)
{
    if (!p->name) return 0.0;
    const double free = isfinite(p->high)
                            ? p->low + (p->high - p->low) * fenp_uniform(1, 5, k)
                            : p->low + p->initial * size * exp(2.0 * fenp_normal(1, 5, k));
    if (k % 3 == 0) return p->initial;
    return k % 13 == 1 && p->from_low ? p->low : free;
}

static scene draw(const fen_loss *loss, uint64_t k)
{
    const int wild = k % 3 == 0, extreme = k % 17 == 0;
    const double size = exp((wild ? 6.0 : extreme ? 60.0 : 0.0) * fenp_normal(1, 0, k));
    scene s = { .loss = loss,
                .y = size * fenp_normal(1, 1, k),
                .t = size * fenp_normal(1, 2, k),
                .other = size * fenp_normal(1, 3, k),
                .step = exp((extreme ? 30.0 : 3.0) * fenp_normal(1, 4, k)),
                .slope = fenp_normal(1, 6, k) };
    s.par[0] = draw_parameter(&loss->parameter, size, k);
    if (k % 5 == 0 || loss->labels == FEN_SIGNS) s.y = k % 2 ? 1.0 : -1.0;
    if (k % 7 == 0) s.t = s.y;
    if (k % 7 == 1) s.t = loss->labels == FEN_SIGNS ? s.y * s.par[0] : s.y - s.par[0];
    if (k % 7 == 2) s.t = s.y + s.par[0];
    s.size = fabs(s.y) + fabs(s.t) + fabs(s.other) + fabs(s.par[0]);
    return s;
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

/* assert_true says where; this says for which scene too */
static void hold(int truth, const scene *s, const char *what)
{
    if (!truth)
        fail_msg("%s: %s at y %.17g t %.17g other %.17g par %.17g step %.17g slope %.17g",
                 s->loss->name, what, s->y, s->t, s->other, s->par[0], s->step, s->slope);
}

/* ---- the loss in short ----------------------------------------------------------------- */

static double value(const scene *s, double t) { return s->loss->value(s->y, t, s->par); }
static double conj_at(const scene *s, double slope) { return s->loss->conj(s->y, slope, s->par); }

static double inside_domain(const scene *s, double slope)
{
    double low, high;
    s->loss->domain(s->y, s->par, &low, &high);
    hold(low <= high, s, "the domain is empty");
    return fmin(fmax(slope, low), high);
}

/* Slopes at t; unbounded ones are cut to something finite. */
static void slopes_at(const scene *s, double t, double *low, double *high)
{
    s->loss->slopes(s->y, t, s->par, low, high);
    hold(*low <= *high, s, "slopes are empty or out of order");
}

static double some_slope(const scene *s, double t, double fraction)
{
    double low, high;
    slopes_at(s, t, &low, &high);
    const double reach = 1.0 + fabs(s->slope);
    const double a = fmax(low, fmin(high, 0.0) - reach), b = fmin(high, fmax(low, 0.0) + reach);
    return a == b ? a : a + (b - a) * fraction;
}

/* v(t) + v*(slope) - slope t, and the size of its roundings */
static double young(const scene *s, double t, double slope, double *roundings)
{
    const double a = value(s, t), b = conj_at(s, slope), size = s->size + fabs(t);
    *roundings = 8.0 * EPS * (a + fabs(b) + fabs(slope) * size);
    return a + b - slope * t;
}

/* ---- laws ------------------------------------------------------------------------------ */

static void fenchel_young(const scene *s)
{
    double unit, low, high;
    const double any = inside_domain(s, s->slope);
    hold(isfinite(conj_at(s, any)), s, "v* is infinite inside its domain");
    if (isfinite(value(s, s->t))) hold(young(s, s->t, any, &unit) >= -unit, s, "Fenchel-Young");
    hold(conj_at(s, 0.0) == 0.0, s, "the least value is not 0");
    if (!isfinite(value(s, s->t))) return;
    for (int i = 0; i <= 2; i++) {
        const double slope = some_slope(s, s->t, i / 2.0);
        hold(inside_domain(s, slope) == slope, s, "a slope lies outside the domain");
        hold(fabs(young(s, s->t, slope, &unit)) <= unit, s, "no equality on the subdifferential");
        /* from t to other the loss rises above the line of that slope at least as it does from
         * the middle on */
        const double middle = 0.5 * (s->t + s->other);
        slopes_at(s, middle, &low, &high);
        const double off = slope < low ? low - slope : slope > high ? slope - high : 0.0;
        const double gap = young(s, s->other, slope, &unit);
        if (isfinite(gap) && isfinite(off))
            hold(gap >= fabs(s->other - middle) * off - unit - 8.0 * EPS * off * s->size, s,
                 "equality off the subdifferential");
    }
}

static void domain_ends(const scene *s)
{
    double low, high;
    s->loss->domain(s->y, s->par, &low, &high);
    const double ends[] = { low, high };
    for (int i = 0; i < 2; i++) {
        const double away = i ? INFINITY : -INFINITY;
        if (!isfinite(ends[i])) continue;
        hold(isfinite(conj_at(s, ends[i])), s, "v* is infinite on the end of its domain");
        hold(isfinite(conj_at(s, nextafter(ends[i], away))), s, "one rounding outside is too far");
        const double outside = ends[i] + copysign(1e-6 * (1.0 + fabs(ends[i])), away);
        hold(conj_at(s, outside) == INFINITY, s, "v* is finite outside its domain");
    }
}

static void convex(const scene *s)
{
    const double a = value(s, s->t), b = value(s, s->other);
    hold(a >= 0.0 && b >= 0.0, s, "a loss is negative or no number");
    const double roundings = 8.0 * EPS * (a + b) + 8.0 * EPS * EPS * s->size * s->size;
    if (isfinite(a + b))
        hold(value(s, 0.5 * (s->t + s->other)) <=
                 0.5 * (a + b) + roundings +
                     8.0 * EPS * s->size * fabs(some_slope(s, 0.5 * (s->t + s->other), 0.5)),
             s, "not convex");
}

static void slopes_hold_differences(const scene *s)
{
    const double a = fmin(s->t, s->other), b = fmax(s->t, s->other);
    double low, high, unused;
    if (a == b) return;
    slopes_at(s, a, &low, &unused);
    slopes_at(s, b, &unused, &high);
    hold(low <= high, s, "slopes fall");
    const double va = value(s, a), vb = value(s, b);
    if (!isfinite(va + vb)) return;
    const double roundings =
        8.0 * EPS * (va + vb + s->size * fmax(fabs(low), fabs(high)) + EPS * s->size * s->size);
    hold(!(vb - va < low * (b - a) - roundings), s, "a difference quotient below the slopes");
    hold(!(vb - va > high * (b - a) + roundings), s, "a difference quotient above the slopes");
}

static void smooth(const scene *s)
{
    const fen_loss *loss = s->loss;
    hold((loss->curvature != NULL) == (loss->smoothness > 0.0), s, "smooth without curvature");
    if (!loss->curvature) return;
    const double size = fabs(s->t) + fabs(s->y) + s->par[0];
    const double d = 1e-4 * (s->par[0] > 0.0 ? s->par[0] : size); /* narrower than any tube */
    const double at = loss->curvature(s->y, s->t, s->par);
    hold(at >= 0.0 && at <= loss->smoothness, s, "curvature above the smoothness");
    double before, behind, same;
    slopes_at(s, s->t - d, &before, &same);
    hold(before == same, s, "a smooth loss has two slopes");
    slopes_at(s, s->t + d, &behind, &same);
    const double mean = (behind - before) / (2.0 * d),
                 unit = (1e-6 + 8.0 * EPS * size / d) * loss->smoothness;
    hold(mean >= -unit && mean <= loss->smoothness + unit, s, "slopes rise too fast");
    const double left = loss->curvature(s->y, s->t - d, s->par);
    const double right = loss->curvature(s->y, s->t + d, s->par);
    if (fabs(left - right) <= 1e-2 * loss->smoothness) /* no jump in between */
        hold(fabs(mean - at) <= fabs(left - right) + unit, s, "curvature is no derivative");
}

static void prox_is_optimal(const scene *s)
{
    const double p = s->loss->prox(s->y, s->t, s->step, s->par);
    const double size = fabs(p) + fabs(s->t) + fabs(s->y) + fabs(s->par[0]);
    const double wanted = (s->t - p) / s->step, slope = inside_domain(s, wanted);
    const double off = 8.0 * EPS * (size / s->step + fabs(slope)); /* of slopes, by rounding p */
    hold(fabs(slope - wanted) <= off, s, "prox moves too far");
    const double v = value(s, p), c = conj_at(s, slope), steep = fabs(some_slope(s, p, 0.5));
    /* a point wrong by EPS size, a slope wrong by off, which conjugates feel in its square */
    const double roundings =
        16.0 * EPS * (v + fabs(c) + (fabs(slope) + steep) * size) + off * (size + off);
    hold(fabs(v + c - slope * p) <= roundings, s, "prox is not optimal");
}

static void prox_limits(const scene *s)
{
    const double far = s->loss->prox(s->y, s->t, INFINITY, s->par);
    const double near = s->loss->prox(s->y, s->t, 0x1p-1000, s->par);
    const double unit = 8.0 * EPS * s->size;
    hold(value(s, far) <= unit * fmax(1.0, unit), s, "an infinite step misses the least value");
    if (isfinite(value(s, s->t))) hold(fabs(near - s->t) <= unit, s, "no step at all, but moved");
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
    const double size = fabs(s->t) + fabs(s->y) + fabs(s->par[0]) + fabs(p);
    const double q = prox_of_conj(s, s->step, s->t / s->step, 2.0 * size / s->step);
    /* a minimum is found to the square root of the accuracy of the values */
    hold(fabs(p + s->step * q - s->t) <= 1e-6 * size, s, "Moreau");
}

static void piece_is_conjugate(const scene *s)
{
    fen_piece piece;
    double low, high;
    if (!s->loss->piece) return;
    s->loss->piece(s->y, s->par, &piece);
    s->loss->domain(s->y, s->par, &low, &high);
    hold(piece.low == -high && piece.high == -low, s, "piece and domain differ");
    hold(piece.kink >= 0.0 && piece.curvature >= 0.0, s, "the piece is not convex");
    const double z = -inside_domain(s, s->slope);
    const double terms[] = { 0.5 * piece.curvature * z * z, -piece.linear * z,
                             piece.kink * fabs(z) };
    const double unit = fabs(terms[0]) + fabs(terms[1]) + fabs(terms[2]);
    hold(fabs(terms[0] + terms[1] + terms[2] - conj_at(s, -z)) <= 8.0 * EPS * unit, s,
         "piece and conjugate differ");
}

static void price(const scene *s)
{
    const fen_parameter *p = &s->loss->parameter;
    if (!s->loss->price) return;
    const double a = s->par[0], c = p->initial, middle[1] = { 0.5 * (a + c) };
    const double slope = inside_domain(s, s->slope);
    const double at_a = conj_at(s, slope), at_c = s->loss->conj(s->y, slope, &c);
    const double between = s->loss->conj(s->y, slope, middle);
    hold(fabs(0.5 * (at_a + at_c) - between) <=
             8.0 * EPS * (fabs(at_a) + fabs(at_c) + fabs(slope * s->y)),
         s, "v* is not affine in its parameter");
    hold((at_a - at_c) * (a - c) * s->loss->price >= -8.0 * EPS * fabs((at_a - at_c) * (a - c)), s,
         "the price has the wrong sign");
}

/* A loss of y - t stays what it is when a constant goes off both. */
static void residual(const scene *s)
{
    const fen_loss *loss = s->loss;
    if (!loss->residual) return;
    const double y = s->y - s->other, t = s->t - s->other, slope = inside_domain(s, s->slope);
    double low, high, moved_low, moved_high;
    slopes_at(s, s->t, &low, &high);
    loss->slopes(y, t, s->par, &moved_low, &moved_high);
    const double steepest =
        fmax(fmax(fabs(low), fabs(high)), fmax(fabs(moved_low), fabs(moved_high)));
    const double unit = 16.0 * EPS * s->size;
    if (isfinite(steepest))
        hold(fabs(loss->value(y, t, s->par) - value(s, s->t)) <=
                 unit * (steepest + loss->smoothness * unit),
             s, "a common constant changes the loss");
    hold(fabs(loss->conj(y, slope, s->par) + slope * s->other - conj_at(s, slope)) <=
             unit * fabs(slope) + 8.0 * EPS * slope * slope,
         s, "a common constant changes the conjugate");
    hold(fabs(loss->prox(y, t, s->step, s->par) + s->other -
              loss->prox(s->y, s->t, s->step, s->par)) <= unit,
         s, "a common constant changes the prox");
}

/* ---- facts about single losses --------------------------------------------------------- */

static void registry(void **state)
{
    (void)state;
    for (const fen_loss *const *loss = fenp_losses; *loss; loss++) {
        const fen_parameter *p = &(*loss)->parameter;
        assert_ptr_equal(fenp_find_loss((*loss)->name), *loss);
        assert_true((*loss)->help[0] != '\0');
        assert_true(!p->name || allowed(p, p->initial));
        assert_true(!(*loss)->price || p->name);
    }
    assert_null(fenp_find_loss("no such loss"));
    assert_null(fenp_find_loss(""));
}

/* The convention of the whole library: no factor 1/2. */
static void square(void **state)
{
    (void)state;
    const fen_loss *loss = fenp_find_loss("square");
    double low, high;
    assert_true(loss->value(3.0, 1.0, NULL) == 4.0);
    assert_true(loss->conj(3.0, -4.0, NULL) == -8.0);
    loss->slopes(3.0, 1.0, NULL, &low, &high);
    assert_true(low == -4.0 && high == -4.0);
    assert_true(loss->prox(3.0, 1.0, 0.5, NULL) == 2.0);
    assert_true(loss->prox(3.0, 1.0, INFINITY, NULL) == 3.0);
}

/* One value of each by hand: laws cannot tell a loss from its double. */
static void values(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double par, y, t, value;
    } facts[] = {
        { "absolute", 0, 3, 1, 2 },      { "eps", 0.5, 3, 1, 1.5 },
        { "sqeps", 0.5, 3, 1, 2.25 },    { "huber", 1, 3, 1, 1.5 },
        { "huber", 4, 3, 1, 2 },         { "pinball", 0.25, 3, 1, 0.5 },
        { "pinball", 0.25, 1, 3, 1.5 },  { "tube", 2, 3, 1, 0 },
        { "tube", 1.5, 3, 1, INFINITY }, { "hinge", 1, -1, 0.5, 1.5 },
        { "hinge", 2, 1, 0.5, 1.5 },     { "hinge", 1, 1, 3, 0 },
        { "sqhinge", 0, -1, 0.5, 2.25 }, { "logistic", 0, 1, 0, 0x1.62e42fefa39efp-1 },
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        assert_true(fenp_find_loss(facts[i].name)->value(facts[i].y, facts[i].t, &facts[i].par) ==
                    facts[i].value);
}

/* q - a - step/(1 + exp(q)), without cancellation where q < 0 */
static long double beyond_root(long double q, long double a, long double step)
{
    return q < 0.0L ? (-a - step) + q + step / (1.0L + expl(-q)) : q - a - step / (1.0L + expl(q));
}

/* Against the definitions in long double; the root of the prox by a change of sign. */
static void logistic_digits(void **state)
{
    (void)state;
    const fen_loss *loss = fenp_find_loss("logistic");
    static const double at[] = { 0, 1e-300, 1e-9, 0.3, 1, 17, 36.5, 50, 700, 740, 1e5, 1e10 };
    static const double steps[] = { 1e-300, 1e-9, 0.1, 1, 30, 1e3, 1e10, 1e100, 1e300 };
    for (int k = 0; k < 24; k++) {
        const double t = k % 2 ? -at[k / 2] : at[k / 2];
        double low, high;
        loss->slopes(1.0, t, NULL, &low, &high);
        const long double e = expl(-(long double)t),
                          p = t < 0 ? 1.0L / (1.0L + 1.0L / e) : e / (1.0L + e);
        const long double v = t < 0 ? log1pl(1.0L / e) - t : log1pl(e);
        assert_true(fabsl(low + p) <= 4.0L * EPS * p + 1e-320L && low == high);
        assert_true(fabsl(loss->value(1.0, t, NULL) - v) <= 4.0L * EPS * v + 1e-320L);
        assert_true(loss->value(-1.0, -t, NULL) == loss->value(1.0, t, NULL));
        assert_true(fabsl(loss->curvature(1.0, t, NULL) - p * (1.0L - p)) <=
                    8.0L * EPS * p + 1e-320L);
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            const double q = loss->prox(1.0, t, steps[i], NULL);
            const long double slack = 4.0L * EPS * fabs(q) + 1e-300L;
            const long double left = beyond_root(q - slack, t, steps[i]);
            const long double right = beyond_root(q + slack, t, steps[i]);
            assert_true(left <= 0.0L && right >= 0.0L);
        }
    }
}

/* p log p + (1 - p) log(1 - p) to the last digits at both ends. */
static void logistic_entropy(void **state)
{
    (void)state;
    const fen_loss *loss = fenp_find_loss("logistic");
    static const double probabilities[] = { 0x1p-1074, 1e-300, 1e-17, 1e-9, 0.1, 0.5, 0.9 };
    for (int k = 0; k < 7; k++) {
        const long double p = probabilities[k];
        const long double entropy = p * logl(p) + (1.0L - p) * log1pl(-p);
        assert_true(fabsl(loss->conj(1.0, -probabilities[k], NULL) - entropy) <=
                    -4.0L * EPS * entropy + 1e-320L);
    }
    const double last = 1.0 - 0x1p-53;
    assert_true(loss->conj(-1.0, last, NULL) < 0.0 && loss->conj(-1.0, last, NULL) > -1e-14);
    assert_true(loss->conj(1.0, -1.0, NULL) == 0.0 && loss->conj(1.0, 0.0, NULL) == 0.0);
}

/* Rows that a pair of classes does not concern have label 0: nothing there may be a NaN. */
static void label_zero(void **state)
{
    (void)state;
    for (const fen_loss *const *at = fenp_losses; *at; at++) {
        const fen_loss *loss = *at;
        const double *par = &loss->parameter.initial;
        double low, high;
        if (loss->labels != FEN_SIGNS) continue;
        loss->slopes(0.0, 7.0, par, &low, &high);
        assert_true(low == 0.0 && high == 0.0);
        loss->domain(0.0, par, &low, &high);
        assert_true(low == 0.0 && high == 0.0);
        assert_true(loss->conj(0.0, 0.0, par) == 0.0 && isfinite(loss->value(0.0, 7.0, par)));
        assert_true(loss->prox(0.0, 7.0, 2.0, par) == 7.0);
        assert_true(!loss->curvature || loss->curvature(0.0, 7.0, par) == 0.0);
    }
}

#define LAW(name)                          \
    static void every_##name(void **state) \
    {                                      \
        (void)state;                       \
        every_loss(name);                  \
    }
/* clang-format off */
LAW(fenchel_young) LAW(domain_ends) LAW(convex) LAW(slopes_hold_differences) LAW(smooth)
LAW(prox_is_optimal) LAW(prox_limits) LAW(moreau) LAW(piece_is_conjugate) LAW(price) LAW(residual)
    /* clang-format on */

    int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registry),
        cmocka_unit_test(square),
        cmocka_unit_test(values),
        cmocka_unit_test(logistic_digits),
        cmocka_unit_test(logistic_entropy),
        cmocka_unit_test(label_zero),
        cmocka_unit_test(every_fenchel_young),
        cmocka_unit_test(every_domain_ends),
        cmocka_unit_test(every_convex),
        cmocka_unit_test(every_slopes_hold_differences),
        cmocka_unit_test(every_smooth),
        cmocka_unit_test(every_prox_is_optimal),
        cmocka_unit_test(every_prox_limits),
        cmocka_unit_test(every_moreau),
        cmocka_unit_test(every_piece_is_conjugate),
        cmocka_unit_test(every_price),
        cmocka_unit_test(every_residual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
