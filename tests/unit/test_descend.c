/* test_descend.c -- powers and prices as roots over solves of power 2
 *
 * Every loss of the registry under every iterative solver that accepts it, and under a plain
 * one of the tests' own. What comes out is
 * judged by the certificate of the objective that was asked for, which knows nothing of
 * roots; and closed forms are met: the square loss by its direct solver at any power, f = 0
 * from the right lambda on at power 1, the share of rows that nu is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/registry.h"
#include "solver/descend.h"
#include "story.h"
#include "support/pairs_solver.h"

enum { N = 30, P = 2 };
static const double GAP = 1e-8;

static double draw(uint64_t stream, int64_t k)
{
    return 2.0 * fenp_uniform(11, stream, (uint64_t)k) - 1.0;
}

static fenp_sample *make_sample(const fen_loss *loss, double unit)
{
    fenp_sample *s = fenp_sample_new(N, P, 1);
    assert_non_null(s);
    double sum = 0.0;
    for (int64_t i = 0; i < N * P; i++) s->x[i] = 2.0 * draw(1, i);
    for (int64_t i = 0; i < N; i++) {
        const double y = sin(2.0 * s->x[i * P]) + 0.3 * s->x[i * P + 1] + 0.4 * draw(2, i);
        s->y[i] = loss->labels == FEN_SIGNS ? (y > 0.0 ? 1.0 : -1.0) : unit * (3.0 + y);
    }
    for (int64_t i = 0; i < N; i++) sum += s->w[i] = 1.5 + draw(4, i);
    for (int64_t i = 0; i < N; i++) s->w[i] /= sum;
    return s;
}

/* One output under way. */
typedef struct bench {
    fenp_sample *s;
    fen_model *m;
    fenp_arena arena;
    const fenp_solver *solver;
    void *state;
    double *scores;
} bench;

static bench open_bench(const fenp_solver *solver, const fen_loss *loss, int bias, double unit)
{
    bench b = { .s = make_sample(loss, unit), .solver = solver };
    const fenp_size size = { .n = N, .p = P, .targets = 1, .bias = bias, .power = 2.0 };
    fen_error err;
    b.m = fenp_model_new(N, P, 1);
    b.scores = fenp_new_zeroed(N, sizeof(double));
    assert_true(b.m && b.scores);
    b.m->loss = loss, b.m->bias = bias, b.m->tolerance = 10.0 * GAP, b.m->power = 2.0;
    b.m->lambda = 0.01;
    b.m->output[0].par = loss->parameter.initial * (loss->residual ? unit : 1.0);
    if (strcmp(loss->name, "pinball") == 0) b.m->output[0].par = 0.3;
    b.m->kernel = (fenp_kernel){ fenp_find_kernel("gaussian"), { 4.0, 0, 0, 0.0 } };
    const fenp_problem q = { .sample = b.s, .loss = loss, .kernel = b.m->kernel, .bias = bias };
    assert_int_equal(fenp_arena_open(&b.arena, solver->bytes(&size), "test", &err), FEN_OK);
    assert_int_equal(solver->begin(&b.arena, &q, &b.state, NULL, &err), FEN_OK);
    return b;
}

static void close_bench(bench *b)
{
    fenp_arena_close(&b->arena);
    fen_model_free(b->m);
    fenp_sample_free(b->s);
    free(b->scores);
}

static fen_status descend(bench *b, int *reached, const fenp_task *task)
{
    fen_model *m = b->m;
    double gap = INFINITY;
    fen_error err = { FEN_OK, "" };
    const fenp_problem q = { .sample = b->s,
                             .loss = m->loss,
                             .par = &m->output[0].par,
                             .kernel = m->kernel,
                             .lambda = m->lambda,
                             .power = m->power,
                             .bias = m->bias,
                             .gap = GAP };
    fenp_solution out = { .dual = m->dual,
                          .scale = m->coef_scale,
                          .offset = m->offset,
                          .scores = b->scores,
                          .gap = &gap };
    return fenp_descend(b->solver, b->state, &q, m->nu, &m->output[0].par, &out, reached, task,
                        &err);
}

/* The answer, certified for the objective that was asked for. */
static fen_certificate solve(bench *b)
{
    fen_certificate c;
    fen_error err;
    int reached = 0;
    const fen_status status = descend(b, &reached, NULL);
    if (status != FEN_OK || !reached)
        print_error("%s, %s loss, bias %d, power %g, nu %g, lambda %g\n", b->solver->name,
                    b->m->loss->name, b->m->bias, b->m->power, b->m->nu, b->m->lambda);
    assert_int_equal(status, FEN_OK);
    assert_true(reached);
    assert_int_equal(fenp_certify(b->m, b->s, &c, NULL, &err), FEN_OK);
    assert_true(fabs(c.relative_gap) <= 2.0 * GAP); /* the certificate moves z by roundings */
    assert_int_equal(c.verdict, FEN_VERDICT_OPTIMAL);
    return c;
}

typedef void check(const fenp_solver *solver, const fen_loss *loss, int bias);

/* With each solver that takes the loss. */
static void for_solvers(const fen_loss *loss, check *call)
{
    const fenp_size size = { .n = N, .p = P, .targets = 1, .bias = 1, .power = 2.0 };
    int takers = 0;
    for (int k = -1; k < 0 || fenp_solvers[k]; k++) {
        const fenp_solver *solver = k < 0 ? &pairs_solver : fenp_solvers[k];
        if (!solver->iterative || !solver->accepts(loss, fenp_find_kernel("gaussian"), &size))
            continue;
        call(solver, loss, 0);
        call(solver, loss, 1);
        takers++;
    }
    assert_true(takers > 0);
}

static void for_all(check *call)
{
    for (int l = 0; fenp_losses[l]; l++) for_solvers(fenp_losses[l], call);
}

/* ---- powers ------------------------------------------------------------------------------ */

static void check_powers(const fenp_solver *solver, const fen_loss *loss, int bias)
{
    const double powers[] = { 2.0, 1.0, 1.05, 3.0, 8.0, 1.5 };
    bench b = open_bench(solver, loss, bias, 1.0);
    for (int k = 0; k < 6; k++) { /* each from the one before */
        b.m->power = powers[k];
        const fen_certificate c = solve(&b);
        const double lambda2 = 0.5 * b.m->power * b.m->lambda * pow(c.norm, b.m->power - 2.0);
        assert_true(c.norm > 0.0);
        /* to the root of the gap; where slopes jump, many lambda2 have the same solution */
        if (loss->smoothness > 0.0)
            assert_true(fabs(2.0 * lambda2 * b.m->coef_scale[0] - 1.0) <= 0.05);
    }
    close_bench(&b);
}

static void test_powers(void **unused)
{
    (void)unused;
    for_all(check_powers);
}

/* Units of y, lambda over many orders of magnitude. */
static void check_far_out(const fenp_solver *solver, const fen_loss *loss, int bias)
{
    const double lambdas[] = { 1e-5, 1e-3, 1.0, 1e3 }, units[] = { 1e-6, 1.0, 1e6 };
    const double degree = strcmp(loss->name, "square") == 0 ? 2.0 : 1.0; /* of the loss */
    if (solver == &pairs_solver) return;                                 /* too plain for that */
    for (int at = 0; at < 12; at++) {
        const double unit = loss->residual ? units[at % 3] : 1.0;
        bench b = open_bench(solver, loss, bias, unit);
        b.m->power = 1.4;
        b.m->lambda = lambdas[at / 3] * pow(unit, degree - 1.4);
        solve(&b);
        close_bench(&b);
    }
}

static void test_powers_far_out(void **unused)
{
    (void)unused;
    const char *names[] = { "square", "eps", "logistic" };
    for (int l = 0; l < 3; l++) for_solvers(fenp_find_loss(names[l]), check_far_out);
}

/* The direct solver has its own root. */
static void test_square_as_direct(void **unused)
{
    (void)unused;
    const fen_loss *square = fenp_find_loss("square");
    const fenp_solver *direct = fenp_find_solver("spectral");
    const double powers[] = { 1.0, 1.2, 2.0, 4.0 };
    for (int k = 0; k < 4; k++) {
        bench b = open_bench(fenp_find_solver("newton"), square, 1, 1.0);
        fenp_arena arena;
        fen_error err;
        void *state;
        double dual[N], scale, offset;
        b.m->power = powers[k];
        const fen_certificate c = solve(&b);
        const fenp_problem q = { .sample = b.s,
                                 .loss = square,
                                 .par = &b.m->output[0].par,
                                 .kernel = b.m->kernel,
                                 .lambda = b.m->lambda,
                                 .power = powers[k],
                                 .bias = 1,
                                 .gap = 1e-12 };
        const fenp_size size = { .n = N, .p = P, .targets = 1, .bias = 1, .power = powers[k] };
        fenp_solution out = { .dual = dual, .scale = &scale, .offset = &offset };
        assert_int_equal(fenp_arena_open(&arena, direct->bytes(&size), "test", &err), FEN_OK);
        assert_int_equal(direct->begin(&arena, &q, &state, NULL, &err), FEN_OK);
        assert_int_equal(direct->sweep(state, &q, &out, NULL, &err), FEN_OK);
        memcpy(b.m->dual, dual, sizeof dual);
        b.m->coef_scale[0] = scale, b.m->offset[0] = offset;
        fen_certificate other;
        assert_int_equal(fenp_certify(b.m, b.s, &other, NULL, &err), FEN_OK);
        assert_true(fabs(c.primal - other.primal) <= 2.0 * GAP * c.primal);
        assert_true(fabs(c.norm - other.norm) <= 1e-3 * c.norm); /* sqrt of the gap, amplified */
        fenp_arena_close(&arena);
        close_bench(&b);
    }
}

/* At power 1 f = 0 is the answer from lambda = ||g0|| on, and not below. */
static void check_zero(const fenp_solver *solver, const fen_loss *loss, int bias)
{
    bench b = open_bench(solver, loss, bias, 1.0);
    if (strcmp(loss->name, "tube") == 0) b.m->output[0].par = 6.0; /* wide enough for 0 */
    b.m->lambda = 1e3;                                             /* a first look from far above */
    b.m->power = 1.0;
    const fen_certificate zero = solve(&b);
    assert_true(zero.norm == 0.0);
    assert_true(fabs(zero.primal - zero.null) <= 1e-7 * zero.null);
    for (int64_t i = 0; i < N; i++) assert_true(b.scores[i] == 0.0);
    b.m->lambda = 1e-3;
    assert_true(solve(&b).norm > 0.0 || strcmp(loss->name, "tube") == 0);
    close_bench(&b);
}

static void test_zero_at_power_one(void **unused)
{
    (void)unused;
    for_all(check_zero);
}

/* ---- prices ------------------------------------------------------------------------------ */

static void check_prices(const fenp_solver *solver, const fen_loss *loss, int bias)
{
    const double nus[] = { 0.5, 0.05, 0.3, 0.9 };
    if (!loss->price) return;
    bench b = open_bench(solver, loss, bias, 1.0);
    double least = 0.0, plus = 0.0;
    for (int64_t i = 0; i < N; i++) plus += b.s->y[i] > 0.0 ? b.s->w[i] : 0.0;
    for (int k = 0; k < 4; k++) {
        b.m->nu = nus[k];
        if (loss->price < 0 && bias && nus[k] > 2.0 * fmin(plus, 1.0 - plus)) continue;
        const fen_certificate c = solve(&b);
        double beyond = 0.0, used = 0.0; /* weight beyond the edge, with a coefficient */
        const double par = b.m->output[0].par;
        for (int64_t i = 0; i < N; i++) {
            const double y = b.s->y[i], t = b.scores[i] + b.m->offset[0];
            const double out = loss->residual ? fabs(y - t) - par : par - y * t;
            beyond += out > 1e-3 * par ? b.s->w[i] : 0.0;
            used += b.m->dual[i] != 0.0 ? b.s->w[i] : 0.0;
        }
        assert_true(par >= 0.0);
        if (loss->price < 0) least = fmin(least, c.primal);
        assert_true(loss->price > 0 || c.primal <= 0.0);
        if (par > 0.0) assert_true(beyond <= nus[k] + 1e-6 && used >= nus[k] - 1e-6);
    }
    close_bench(&b);
}

static void test_prices(void **unused)
{
    (void)unused;
    for_all(check_prices);
}

/* A free parameter that comes out as e is the fixed parameter e. */
static void check_fixed(const fenp_solver *solver, const fen_loss *loss, int bias)
{
    if (!loss->price) return;
    bench b = open_bench(solver, loss, bias, 1.0);
    b.m->nu = 0.4;
    const fen_certificate freed = solve(&b);
    const double par = b.m->output[0].par, cost = loss->price * 0.4 * par;
    b.m->nu = 0.0;
    const fen_certificate fixed = solve(&b);
    assert_true(fabs(freed.primal - cost - fixed.primal) <= 4.0 * GAP * fixed.primal);
    close_bench(&b);
}

static void test_free_is_fixed(void **unused)
{
    (void)unused;
    for_all(check_fixed);
}

/* Many equal labels: the slope in epsilon jumps, and the two sides must be mixed. */
static void check_jump(const fenp_solver *solver, const fen_loss *loss, int bias)
{
    bench b = open_bench(solver, loss, bias, 1.0);
    for (int64_t i = 0; i < N; i++) b.s->y[i] = (double)(i % 3 - 1);
    b.m->nu = 0.31;
    b.m->lambda = 1e4; /* f is a constant */
    const fen_certificate c = solve(&b);
    assert_true(fabs(c.primal - c.null) <= 1e-3 * c.null);
    close_bench(&b);
}

static void test_jump(void **unused)
{
    (void)unused;
    for_solvers(fenp_find_loss("eps"), check_jump);
}

/* Rows on all sides of 0 and a linear kernel: no margin separates them from it. */
static void check_no_margin(const fenp_solver *solver, const fen_loss *loss, int bias)
{
    bench b = open_bench(solver, loss, bias, 1.0);
    fen_error err;
    if (!bias) {
        for (int64_t i = 0; i < N; i++) b.s->y[i] = 1.0;
        b.m->kernel.table = fenp_find_kernel("linear");
        b.m->kernel.par.gamma = 0.0;
        const fenp_problem q = { .sample = b.s, .loss = loss, .kernel = b.m->kernel };
        b.arena.used = 0;
        assert_int_equal(solver->begin(&b.arena, &q, &b.state, NULL, &err), FEN_OK);
        b.m->nu = 0.3;
        const fen_certificate c = solve(&b);
        assert_true(c.norm == 0.0 && b.m->output[0].par == 0.0 && c.primal == 0.0);
    }
    close_bench(&b);
}

static void test_no_margin(void **unused)
{
    (void)unused;
    for_solvers(fenp_find_loss("hinge"), check_no_margin);
}

/* ---- limits ------------------------------------------------------------------------------ */

static int stop_soon(void *user, const char *stage, double fraction)
{
    int *left = user;
    (void)stage, (void)fraction;
    return (*left)-- <= 0;
}

/* Stopped anywhere, the iterate is one that can be certified. */
static void check_stop(const fenp_solver *solver, const fen_loss *loss, int bias)
{
    for (int k = 0; k < 6; k++) {
        bench b = open_bench(solver, loss, bias, 1.0);
        int left = k, reached = 0;
        const fen_host host = { .progress = stop_soon, .user = &left };
        const fenp_task task = fenp_task_start(&host, 0.0);
        b.m->power = 1.5;
        fen_certificate c;
        fen_error err;
        const fen_status status = descend(&b, &reached, &task);
        assert_true(status == FEN_STOPPED || status == FEN_OK);
        assert_true(status == FEN_OK || !reached);
        assert_int_equal(fenp_certify(b.m, b.s, &c, NULL, &err), FEN_OK);
        assert_false(isnan(c.primal));
        assert_true(c.dual <= c.primal);
        close_bench(&b);
    }
}

static void test_stop(void **unused)
{
    (void)unused;
    for_all(check_stop);
}

static void test_powers_below_one(void **unused)
{
    (void)unused;
    bench b = open_bench(fenp_find_solver("newton"), fenp_find_loss("huber"), 1, 1.0);
    int reached = 1;
    b.m->power = 0.5;
    assert_int_equal(descend(&b, &reached, NULL), FEN_BAD_CALL);
    assert_false(reached);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_powers),
        cmocka_unit_test(test_powers_far_out),
        cmocka_unit_test(test_square_as_direct),
        cmocka_unit_test(test_zero_at_power_one),
        cmocka_unit_test(test_prices),
        cmocka_unit_test(test_free_is_fixed),
        cmocka_unit_test(test_jump),
        cmocka_unit_test(test_no_margin),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_powers_below_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
