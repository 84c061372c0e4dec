/* test_block_price.c -- the block solver choosing the parameter of the loss as well (nu), judged by
 * P - D from the definition, and by solves with the parameter given */
#include "support/solver_tests.h"

static const double GAP = 1e-7;
enum { N = 40, P = 3 };
typedef enum rows { PLAIN, WEIGHTED, TWICE } rows; /* WEIGHTED: every fifth weight is 0 */

static fenp_sample *data_of(const fen_loss *loss, int64_t n, rows kind, double unit)
{
    fenp_sample *s = sample_of(n, P);
    double sum = 0.0;
    for (int64_t i = 0; i < n * P; i++) s->x[i] *= 2.0;
    for (int64_t i = n / 2; i < n && kind == TWICE; i++)
        memcpy(s->x + i * P, s->x + (i - n / 2) * P, P * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        const double *x = s->x + i * P;
        const double y = sin(2.0 * x[0]) + x[P - 1] + uniform(8, i) - 0.5;
        s->y[i] = loss->labels == FEN_SIGNS ? (y > 0.0 ? 1.0 : -1.0) : unit * (3.0 + y);
        sum += s->w[i] = kind != WEIGHTED ? 1.0 : i % 5 == 2 ? 0.0 : 0.5 + uniform(9, i);
    }
    for (int64_t i = 0; i < n; i++) s->w[i] /= sum;
    return s;
}

typedef struct run {
    fenp_problem q;
    fenp_arena arena;
    void *state;
    double *dual, *scores, par, scale, offset, gap;
    stopper at;
} run;

static void run_open(run *r, const fenp_sample *s, const fen_loss *loss, double lambda, int bias)
{
    const fenp_solver *solver = fenp_find_solver("block");
    const fenp_size size = { .n = s->n, .p = s->p, .targets = 1, .bias = bias, .power = 2.0 };
    memset(r, 0, sizeof *r);
    r->par = 1.0;
    r->q = (fenp_problem){ .sample = s,
                           .loss = loss,
                           .par = &r->par,
                           .kernel = { fenp_find_kernel("gaussian"), { 0.5, 2.0, 1.0, 0.0 } },
                           .lambda = lambda,
                           .power = 2.0,
                           .bias = bias,
                           .gap = GAP };
    assert_int_equal(fenp_arena_open(&r->arena, solver->bytes(&size), "test", NULL), FEN_OK);
    assert_int_equal(solver->begin(&r->arena, &r->q, &r->state, NULL, NULL), FEN_OK);
    r->dual = doubles(s->n);
    r->scores = doubles(s->n);
}

static void run_close(run *r)
{
    fenp_arena_close(&r->arena);
    free(r->dual);
    free(r->scores);
}

/* nu 0: with the parameter given */
static fen_status sweep(run *r, double nu)
{
    const fenp_solver *solver = fenp_find_solver("block");
    const fenp_price price = { .price = r->q.loss->price * nu, .par = &r->par };
    fenp_solution out = { .dual = r->dual,
                          .scale = &r->scale,
                          .offset = &r->offset,
                          .scores = r->scores,
                          .gap = &r->gap };
    const fen_host host = { .progress = stop_there, .user = &r->at };
    const fenp_task task = fenp_task_start(&host, 0.0);
    fen_error err;
    r->at.calls = 0;
    return nu > 0.0 ? solver->priced(r->state, &r->q, &price, &out, &task, &err)
                    : solver->sweep(r->state, &r->q, &out, &task, &err);
}

/* Whether there is a tube; where there is none, nu is more than its dual vector asks for. */
static int solve(run *r, double nu)
{
    double paid = 0.0;
    r->gap = INFINITY;
    for (int turn = 0; turn < 20 && !(r->gap <= GAP); turn++) {
        assert_int_equal(sweep(r, nu), FEN_OK);
        if (nu == 0.0 || r->q.loss->price < 0 || r->par > 0.0) continue;
        solve(r, 0.0);
        for (int64_t i = 0; i < r->q.sample->n; i++) paid += fabs(r->dual[i]);
        assert_true(paid <= nu + 1e-6); /* the gap leaves the root of itself */
        return 0;
    }
    return 1;
}

/* P of the iterate; scores are K c, and *dual is D at par = 0, where u has paid for it: half of nu
 * on either side. */
static double judged(const run *r, double nu, double *dual)
{
    const fenp_problem *q = &r->q;
    const fenp_sample *s = q->sample;
    double primal = q->loss->price * nu * r->par, paid[2] = { 0.0, 0.0 }, square = 0.0;
    const double none = 0.0;
    *dual = 0.0;
    for (int64_t i = 0; i < s->n; i++) {
        double f = 0.0;
        for (int64_t j = 0; j < s->n; j++)
            if (r->dual[j] != 0.0) f += r->scale * r->dual[j] * value_of(&q->kernel, s, i, j);
        assert_near(r->scores[i], f, 1e-9 * (1.0 + fabs(f) + r->scale));
        square += r->scale * r->dual[i] * f;
        paid[r->dual[i] < 0.0] += fabs(r->dual[i]);
        if (s->w[i] == 0.0) continue;
        primal += s->w[i] * q->loss->value(s->y[i], f + r->offset, &r->par);
        *dual -= s->w[i] * q->loss->conj(s->y[i], -r->dual[i] / s->w[i], &none);
    }
    for (int side = 0; side < (nu > 0.0 ? 1 + q->bias : 0); side++) {
        const double half = q->bias ? 0.5 * nu : nu;
        if (q->loss->price < 0)
            assert_near(paid[side], half, 1e-11);
        else /* less where there is hardly a tube */
            assert_true(paid[side] <= half + 1e-11);
    }
    *dual -= q->lambda * square;
    return primal + q->lambda * square;
}

static double assert_optimal(const run *r, double nu)
{
    double dual;
    const double primal = judged(r, nu, &dual);
    if (!(primal - dual <= 1.01 * GAP * fabs(primal) + 1e-13 &&
          primal - dual >= -1e-9 * fabs(primal) - 1e-13))
        fail_msg("%s, lambda %g, bias %d, nu %g: P %g, P - D %g, claimed %g P", r->q.loss->name,
                 r->q.lambda, r->q.bias, nu, primal, primal - dual, r->gap);
    return primal;
}

static const fen_loss *loss_of(int k) { return fenp_find_loss(k ? "hinge" : "eps"); }

/* P - D is a proof; and parameters to both sides of the one chosen are no better. */
static void test_both_losses(void **unused)
{
    (void)unused;
    int tubes = 0;
    for (int kind = 0; kind < 3 * 2 * 2; kind++) {
        const fen_loss *loss = loss_of(kind % 2);
        fenp_sample *s = data_of(loss, N, (rows)(kind / 2 % 3), kind / 6 ? 1e6 : 1.0);
        const double unit = kind % 2 || kind < 6 ? 1.0 : 1e6;
        for (double lambda = 1e-4; lambda < 2e3; lambda *= 1e2)
            for (double nu = 0.05; nu < 0.6; nu += 0.17) {
                run r;
                run_open(&r, s, loss, lambda / unit, 1);
                const int wide = solve(&r, nu);
                tubes += wide;
                if (!wide) {
                    run_close(&r);
                    continue;
                }
                const double primal = assert_optimal(&r, nu), par = r.par;
                for (double factor = 0.9; factor < 1.2; factor += 0.2) {
                    double dual;
                    r.par = factor * par;
                    solve(&r, 0.0);
                    const double there = judged(&r, 0.0, &dual) + loss->price * nu * r.par;
                    if (!(there >= primal - 1.01 * GAP * fabs(primal)))
                        fail_msg("%s, lambda %g, nu %g: %.12g at %g, but %.12g at %g (gap %g)",
                                 loss->name, r.q.lambda, nu, primal, par, there, r.par, r.gap);
                }
                run_close(&r);
            }
        fenp_sample_free(s);
    }
    assert_true(tubes > 100);
}

/* One state through lambdas, prices, weights and labels. */
static void test_warm_start(void **unused)
{
    (void)unused;
    const double lambdas[] = { 1e-2, 1e-3, 1e-5, 10.0, 1e-4 }, nus[] = { 0.3, 0.31, 0.1 };
    for (int k = 0; k < 2; k++) {
        const fen_loss *loss = loss_of(k);
        fenp_sample *plain = data_of(loss, N, PLAIN, 1.0);
        fenp_sample *other = data_of(loss, N, WEIGHTED, 1.0);
        for (int64_t i = 0; i < N; i += 9) other->y[i] = -other->y[i];
        run r;
        run_open(&r, plain, loss, 1.0, 1);
        for (int step = 0; step < 30; step++) {
            r.q.lambda = lambdas[step % 5];
            r.q.sample = step % 3 == 2 ? other : plain;
            if (solve(&r, nus[step / 2 % 3])) assert_optimal(&r, nus[step / 2 % 3]);
        }
        run_close(&r);
        fenp_sample_free(plain);
        fenp_sample_free(other);
    }
}

static void test_one_class(void **unused)
{
    (void)unused;
    const fen_loss *loss = fenp_find_loss("hinge");
    fenp_sample *s = data_of(loss, N, WEIGHTED, 1.0);
    for (int64_t i = 0; i < N; i++) s->y[i] = 1.0;
    for (double nu = 0.02; nu < 1.0; nu += 0.14) {
        run r;
        run_open(&r, s, loss, 1e-3, 0);
        solve(&r, nu);
        assert_optimal(&r, nu);
        assert_true(r.par > 0.0 && r.offset == 0.0);
        run_close(&r);
    }
    fenp_sample_free(s);
}

/* More rows than are held as a whole: blocks are chosen. Stopped on the way, then gone on. */
static void test_blocks(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; k++) {
        fenp_sample *s = data_of(loss_of(k), 2600, PLAIN, 1.0);
        run r;
        double dual;
        run_open(&r, s, loss_of(k), 1e-4, 1);
        r.at.stop = 2;
        assert_int_equal(sweep(&r, 0.3), FEN_STOPPED);
        assert_true(r.gap > GAP && judged(&r, 0.3, &dual) > dual);
        r.at.stop = 0;
        solve(&r, 0.3);
        assert_optimal(&r, 0.3);
        run_close(&r);
        fenp_sample_free(s);
    }
}

/* Nobody is at an edge of their own: half of nu is a whole number of equal rows. */
static void test_whole_rows(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; k++) {
        fenp_sample *s = data_of(loss_of(k), N, PLAIN, 1.0);
        run r;
        run_open(&r, s, loss_of(k), 1e4, 1); /* f = 0 but for rounding */
        solve(&r, 0.2);
        assert_optimal(&r, 0.2);
        int64_t at_bounds = 0;
        for (int64_t i = 0; i < N; i++)
            at_bounds += fabs(r.dual[i]) > 0.999999 * s->w[i]; /* w is 1 / N to rounding */
        if (k == 0) assert_int_equal(at_bounds, N / 5);
        run_close(&r);
        fenp_sample_free(s);
    }
}

/* Refused, with all as it was: sides that may trade, labels that cannot pay, one class. And where
 * nu is more than the rows outside no tube at all, the sweep says so by par = 0. */
static void test_others(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        const fen_loss *loss = loss_of(kind % 2);
        fenp_sample *s = data_of(loss, N, PLAIN, 1.0);
        run r;
        run_open(&r, s, loss, 1e-3, kind >= 2);
        for (int64_t i = 0; i < N && kind == 3; i++) s->y[i] = i == 7 ? -1.0 : 1.0;
        for (int64_t i = 0; i < N; i++) r.dual[i] = 1e-3 * (double)i;
        r.offset = 7.0, r.par = 0.25;
        assert_int_equal(sweep(&r, kind == 2 ? 1.0 : 0.5), FEN_OK);
        if (kind == 2)
            assert_true(r.par == 0.0 || r.gap == INFINITY);
        else {
            assert_true(r.gap == INFINITY && r.offset == 7.0 && r.par == 0.25);
            for (int64_t i = 0; i < N; i++) assert_true(r.dual[i] == 1e-3 * (double)i);
        }
        run_close(&r);
        fenp_sample_free(s);
    }
}

/* Wherever it is stopped, what is there is an iterate that has paid. */
static void test_stopped(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; k++) {
        fenp_sample *s = data_of(loss_of(k), N, WEIGHTED, 1.0);
        for (int stop = 1; stop < 6; stop++) {
            run r;
            double dual;
            run_open(&r, s, loss_of(k), 1e-5, 1);
            r.at.stop = stop;
            const fen_status status = sweep(&r, 0.4);
            assert_int_equal(status, r.at.calls == stop ? FEN_STOPPED : FEN_OK);
            assert_true(judged(&r, 0.4, &dual) >= dual);
            r.at.stop = 0;
            if (solve(&r, 0.4)) assert_optimal(&r, 0.4);
            run_close(&r);
        }
        fenp_sample_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_losses), cmocka_unit_test(test_warm_start),
        cmocka_unit_test(test_one_class),   cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_whole_rows),  cmocka_unit_test(test_others),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
