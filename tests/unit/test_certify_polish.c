/* test_certify_polish.c -- columns without a penalty that depend on each other to the last digit
 *
 *   means taken off columns, at least as many as rows, no bias: what they span leaves one direction,
 *     the ones, and u along it is orthogonal to them but for their last digits. The optimum is the
 *     square of the mean label.
 *   the same with one column off by more than last digits: labels can be met, and nothing is proved */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/registry.h"
#include "story.h"

static double draw(uint64_t stream, int64_t k)
{
    return 2.0 * fenp_uniform(13, stream, (uint64_t)k) - 1.0;
}

/* Columns of mean 0 and deviation 1, as doubles have them; labels of mean 1, met but for that. */
static fenp_sample *centred(int64_t n, int64_t p, uint64_t stream)
{
    fenp_sample *s = fenp_sample_new(n, p, 1);
    assert_non_null(s);
    for (int64_t j = 0; j < p; j++) {
        long double mean = 0.0L, square = 0.0L;
        for (int64_t i = 0; i < n; i++) mean += draw(stream, i * p + j) / (long double)n;
        for (int64_t i = 0; i < n; i++) {
            const long double off = draw(stream, i * p + j) - mean;
            square += off * off / (long double)n;
        }
        const double center = (double)mean, scale = (double)sqrtl(square);
        for (int64_t i = 0; i < n; i++)
            s->x[i * p + j] = (draw(stream, i * p + j) - center) / scale;
    }
    for (int64_t i = 0; i < n; i++) {
        s->w[i] = 1.0 / (double)n, s->y[i] = 1.0;
        for (int64_t j = 0; j < p; j++) s->y[i] += s->x[i * p + j];
    }
    return s;
}

/* The last digits of u are the solver's. */
static fen_certificate certify(const fenp_sample *s, const char *loss)
{
    fen_model *m = fenp_model_new(s->n, s->p, 1);
    fen_certificate c;
    fen_error err;
    assert_non_null(m);
    m->loss = fenp_find_loss(loss), m->output[0].par = 0.0;
    m->kernel = (fenp_kernel){ fenp_find_kernel("linear"), { 1.0, 0, 0, 0.0 } };
    m->penalty = fenp_find_penalty("none");
    m->mix = 1.0, m->tolerance = 1e-9, m->coef_scale[0] = 1.0;
    m->weights = fenp_new(s->p, sizeof *m->weights), m->groups.count = s->p;
    for (int64_t j = 0; j < s->p; j++) m->weights[j] = 1.0;
    for (int64_t i = 0; i < s->n; i++) {
        const double z = m->loss->smoothness > 0.0 ? 2.0 : 1.0;
        m->dual[i] = z * s->w[i] * (1.0 + 0x1p-51 * draw(3, i));
    }
    assert_int_equal(fenp_certify(m, s, &c, NULL, &err), FEN_OK);
    fen_model_free(m);
    return c;
}

static void test_means_taken_off(void **unused)
{
    (void)unused;
    const int64_t sizes[][2] = { { 20, 50 }, { 12, 12 }, { 12, 11 }, { 40, 45 }, { 30, 200 } };
    const char *const losses[] = { "square", "absolute" };
    for (int k = 0; k < 5; k++)
        for (int l = 0; l < 2; l++) {
            fenp_sample *s = centred(sizes[k][0], sizes[k][1], 20 + (uint64_t)k);
            const fen_certificate c = certify(s, losses[l]);
            if (c.verdict != FEN_VERDICT_OPTIMAL || !(fabs(c.dual - 1.0) <= 1e-9))
                fail_msg("%d, %s: primal %.17g, dual %.17g", k, losses[l], c.primal, c.dual);
            fenp_sample_free(s);
        }
}

static void test_not_by_last_digits(void **unused)
{
    (void)unused;
    for (double by = 1e-2; by > 1e-14; by *= 1e-2) {
        fenp_sample *s = centred(20, 50, 20);
        for (int64_t i = 0; i < 20; i++) s->x[i * 50 + 7] += by;
        const fen_certificate c = certify(s, "square");
        assert_true(c.dual == 0.0 && c.verdict == FEN_VERDICT_STALLED);
        fenp_sample_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means_taken_off),
        cmocka_unit_test(test_not_by_last_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
