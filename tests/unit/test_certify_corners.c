/* test_certify_corners.c -- certificates of losses with corners, columns without a penalty
 *
 *   rows that a column sets apart from the others, all of one class: their u_i must be 0 exactly,
 *     and a stored u has them to its rounding errors alone
 *   rows inside the tube of eps beside rows that nothing tells apart: z is 0 there, no end of a box
 *   the bound stays below the optimum, whatever the coefficients and u are */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/registry.h"
#include "story.h"

enum { ROWS = 9, APART = 4 }; /* the first APART rows are those that the column sets apart */

static const double OPTIMUM = 4.0 / 9.0;

static double draw(uint64_t stream, int64_t k)
{
    return 2.0 * fenp_uniform(11, stream, (uint64_t)k) - 1.0;
}

static fen_certificate certify(const fen_model *m, const fenp_sample *s)
{
    fen_certificate c;
    fen_error err;
    assert_int_equal(fenp_certify(m, s, &c, NULL, &err), FEN_OK);
    return c;
}

static fen_model *make_model(const fenp_sample *s, const char *loss, double par)
{
    fen_model *m = fenp_model_new(s->n, s->p, 1);
    assert_non_null(m);
    m->loss = fenp_find_loss(loss), m->output[0].par = par;
    m->kernel = (fenp_kernel){ fenp_find_kernel("linear"), { 1.0, 0, 0, 0.0 } };
    m->penalty = fenp_find_penalty("none");
    m->mix = 1.0, m->bias = 1, m->tolerance = 1e-9, m->coef_scale[0] = 1.0;
    m->weights = fenp_new_zeroed(s->p, sizeof *m->weights);
    m->groups.count = s->p;
    return m;
}

/* Of the rows that are not apart three are +1 and two are -1: b = 1 there, and a loss of 2 each. The
 * column has mean 0 and deviation 1. */
static fenp_sample *make_apart(void)
{
    fenp_sample *s = fenp_sample_new(ROWS, 1, 1);
    assert_non_null(s);
    const double mean = (double)APART / ROWS, scale = sqrt(mean * (1.0 - mean));
    for (int64_t i = 0; i < ROWS; i++) {
        s->x[i] = ((double)(i < APART) - mean) / scale;
        s->y[i] = i >= APART && i < APART + 3 ? 1.0 : -1.0;
        s->w[i] = 1.0 / ROWS;
    }
    return s;
}

static void set_scores(fen_model *m, const fenp_sample *s, double apart, double others)
{
    m->weights[0] = (apart - others) / (s->x[0] - s->x[ROWS - 1]);
    m->offset[0] = others - m->weights[0] * s->x[ROWS - 1];
}

static void set_dual(fen_model *m, const fenp_sample *s, double noise)
{
    for (int64_t i = 0; i < ROWS; i++) {
        const double end = i < APART ? 0.0 : s->y[i] > 0.0 ? 2.0 / 3.0 : 1.0;
        m->dual[i] = s->y[i] * fabs(end - noise * (1.5 + draw(1, i))) / ROWS;
    }
}

static void test_rows_apart(void **unused)
{
    (void)unused;
    fenp_sample *s = make_apart();
    fen_model *m = make_model(s, "hinge", 1.0);
    set_scores(m, s, -5.0, 1.0);
    for (double noise = 1e-16; noise < 1e-2; noise *= 10.0) {
        set_dual(m, s, noise);
        const fen_certificate c = certify(m, s);
        if (c.verdict != FEN_VERDICT_OPTIMAL || !(fabs(c.dual - OPTIMUM) <= 1e-9))
            fail_msg("noise %g: primal %.17g, dual %.17g", noise, c.primal, c.dual);
    }
    fen_model_free(m);
    fenp_sample_free(s);
}

/* Neither coefficients nor u are those of the optimum, or only one of them. */
static void test_bound(void **unused)
{
    (void)unused;
    fenp_sample *s = make_apart();
    fen_model *m = make_model(s, "hinge", 1.0);
    for (int k = 0; k < 400; k++) {
        const double far = k % 2 ? 1.0 : 1e-6;
        set_scores(m, s, -5.0 + 6.0 * draw(2, k), 1.0 + far * draw(3, k));
        set_dual(m, s, 1e-12);
        for (int64_t i = 0; k % 3 && i < ROWS; i++) m->dual[i] = draw(4, k * ROWS + i) / ROWS;
        const fen_certificate c = certify(m, s);
        if (!(c.dual <= OPTIMUM * (1.0 + 1e-14) && c.primal >= OPTIMUM * (1.0 - 1e-14)))
            fail_msg("%d: primal %.17g, dual %.17g", k, c.primal, c.dual);
    }
    fen_model_free(m);
    fenp_sample_free(s);
}

/* Two rows alike with labels 1 and -1: z = 1 and -1, of all others 0. */
static void test_inside_a_tube(void **unused)
{
    (void)unused;
    fenp_sample *s = fenp_sample_new(6, 3, 1);
    assert_non_null(s);
    fen_model *m = make_model(s, "eps", 0.25);
    for (int64_t i = 0; i < 6; i++) {
        for (int64_t j = 0; j < 3; j++) s->x[3 * i + j] = i < 2 ? 0.0 : draw(5, 3 * i + j);
        s->w[i] = 1.0 / 6.0, s->y[i] = i == 0 ? 1.0 : -(double)(i == 1);
        for (int64_t j = 0; i > 1 && j < 3; j++) s->y[i] += (double)(j + 1) * s->x[3 * i + j];
        m->dual[i] = (i < 2 ? 0.9 * s->y[i] : 1e-17 * draw(6, i)) / 6.0;
    }
    for (int64_t j = 0; j < 3; j++) m->weights[j] = (double)(j + 1);
    const fen_certificate c = certify(m, s);
    assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
    assert_true(fabs(c.dual - 0.25) <= 1e-15);
    fen_model_free(m);
    fenp_sample_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_apart),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_inside_a_tube),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
