/* test_block.c -- the block solver on every loss it takes, judged by P - D from the definition */
#include "support/solver_tests.h"

/* ---- the solver ------------------------------------------------------------------------------ */

static const double GAP = 1e-6;
enum { N = 33, P = 3 };
typedef enum rows { PLAIN, WEIGHTED, TWICE } rows; /* WEIGHTED: every fifth weight is 0 */

/* TWICE: the same inputs with other labels, but a tube has room for one of them only. */
static fenp_sample *data_of(const fen_loss *loss, int64_t n, int64_t p, rows kind)
{
    fenp_sample *s = sample_of(n, p);
    double sum = 0.0;
    for (int64_t i = 0; i < n * p; i++) s->x[i] *= sqrt((double)p);
    for (int64_t i = 0; i < n; i++) {
        const double *x = s->x + i * p;
        const double y = sin(2.0 * x[0]) + x[p - 1] + uniform(8, i) - 0.5;
        s->y[i] = loss->labels == FEN_SIGNS ? (y > 0.0 ? 1.0 : -1.0) : y;
        sum += s->w[i] = kind != WEIGHTED ? 1.0 : i % 5 == 2 ? 0.0 : 0.5 + uniform(9, i);
    }
    for (int64_t i = 0; i < n; i++) s->w[i] /= sum;
    for (int64_t i = n / 2; i < n && kind == TWICE; i++) {
        memcpy(s->x + i * p, s->x + (i - n / 2) * p, (size_t)p * sizeof(double));
        if (strcmp(loss->name, "tube") == 0) s->y[i] = s->y[i - n / 2] + 0.1;
    }
    return s;
}

static fenp_problem problem_of(const fenp_sample *s, const fen_loss *loss, double lambda, int bias)
{
    return (fenp_problem){ .sample = s,
                           .loss = loss,
                           .par = &loss->parameter.initial,
                           .kernel = { fenp_find_kernel("gaussian"), { 0.5, 2.0, 1.0, 0.0 } },
                           .lambda = lambda,
                           .power = 2.0,
                           .bias = bias,
                           .gap = GAP };
}

typedef struct run {
    fenp_arena arena;
    void *state;
    double *dual, *scores, weights[P], scale, offset, gap;
    stopper at;
} run;

static void run_open(run *r, const fenp_problem *q)
{
    const fenp_solver *solver = fenp_find_solver("block");
    const fenp_size size = {
        .n = q->sample->n, .p = q->sample->p, .targets = 1, .bias = q->bias, .power = 2.0
    };
    memset(r, 0, sizeof *r);
    assert_true(solver->accepts(q->loss, q->kernel.table, &size));
    assert_int_equal(fenp_arena_open(&r->arena, solver->bytes(&size), "test", NULL), FEN_OK);
    assert_int_equal(solver->begin(&r->arena, q, &r->state, NULL, NULL), FEN_OK);
    assert_true(r->arena.used <= r->arena.size);
    r->dual = doubles(size.n);
    r->scores = doubles(size.n);
}

static void run_close(run *r)
{
    fenp_arena_close(&r->arena);
    free(r->dual);
    free(r->scores);
}

static fen_status sweep(run *r, const fenp_problem *q)
{
    fenp_solution out = { .dual = r->dual,
                          .scale = &r->scale,
                          .offset = &r->offset,
                          .weights = q->kernel.table->linear ? r->weights : NULL,
                          .scores = r->scores,
                          .gap = &r->gap };
    const fen_host host = { .progress = stop_there, .user = &r->at };
    const fenp_task task = fenp_task_start(&host, 0.0);
    fen_error err;
    r->at.calls = 0;
    return fenp_find_solver("block")->sweep(r->state, q, &out, &task, &err);
}

/* From the dual vector that is there. */
static void solve(run *r, const fenp_problem *q)
{
    r->gap = INFINITY;
    for (int turn = 0; turn < 20 && !(r->gap <= GAP); turn++) assert_int_equal(sweep(r, q), FEN_OK);
}

/* Scores are K c from the definition, u is feasible; returns c'Kc. */
static double assert_feasible(const run *r, const fenp_problem *q)
{
    const fenp_sample *s = q->sample;
    double sum = 0.0, size = 0.0, square = 0.0;
    for (int64_t i = 0; i < s->n; i++) size += fabs(r->dual[i]);
    assert_true(isfinite(size) && isfinite(r->offset));
    assert_true(r->scale == 0.5 / q->lambda);
    for (int64_t i = 0; i < s->n; i++) {
        double low, high, f = 0.0;
        q->loss->domain(s->y[i], q->par, &low, &high); /* of -u/w */
        assert_true(s->w[i] > 0.0 || r->dual[i] == 0.0);
        if (s->w[i] > 0.0)
            assert_true(-r->dual[i] / s->w[i] >= low - 1e-12 &&
                        -r->dual[i] / s->w[i] <= high + 1e-12);
        for (int64_t j = 0; j < s->n; j++)
            if (r->dual[j] != 0.0) f += r->scale * r->dual[j] * value_of(&q->kernel, s, i, j);
        assert_near(r->scores[i], f, 1e-10 * (1.0 + r->scale * size));
        sum += r->dual[i];
        square += r->scale * r->dual[i] * f;
    }
    if (q->bias) assert_near(sum, 0.0, 1e-9 * size); /* a start 1e5 times as large leaves 1e-11 */
    return square;
}

/* P - D from the definition; *unit is P. What leaves a tube by 1e-6 counts as inside. */
static double judged(const run *r, const fenp_problem *q, double *unit)
{
    const fenp_sample *s = q->sample;
    const int hard = strcmp(q->loss->name, "tube") == 0;
    const double square = assert_feasible(r, q);
    double primal = q->lambda * square, dual = -q->lambda * square;
    for (int64_t i = 0; i < s->n; i++) {
        if (s->w[i] == 0.0) continue;
        const double t = r->scores[i] + r->offset;
        double low, high;
        q->loss->domain(s->y[i], q->par, &low, &high);
        const double slope = fmin(fmax(-r->dual[i] / s->w[i], low), high);
        dual -= s->w[i] * q->loss->conj(s->y[i], slope, q->par);
        if (hard)
            assert_true(fabs(s->y[i] - t) <= q->par[0] + 1e-6);
        else
            primal += s->w[i] * q->loss->value(s->y[i], t, q->par);
    }
    *unit = primal;
    return primal - dual;
}

static void assert_optimal(const run *r, const fenp_problem *q)
{
    double primal;
    const double gap = judged(r, q, &primal);
    if (!(gap <= GAP * primal + 1e-13 && gap >= -1e-6 * primal - 1e-13))
        fail_msg("%s, n %d, lambda %g, bias %d: P %g, P - D %g, claimed %g P", q->loss->name,
                 (int)q->sample->n, q->lambda, q->bias, primal, gap, r->gap);
}

static void solved(const fenp_sample *s, const fen_loss *loss, double lambda, int bias)
{
    const fenp_problem q = problem_of(s, loss, lambda, bias);
    run r;
    run_open(&r, &q);
    solve(&r, &q);
    assert_optimal(&r, &q);
    run_close(&r);
}

static void test_every_loss(void **unused)
{
    (void)unused;
    int losses = 0;
    for (int l = 0; fenp_losses[l]; l++) {
        if (!fenp_losses[l]->piece) continue;
        losses++;
        for (int kind = 0; kind < 3 * 2; kind++) {
            fenp_sample *s = data_of(fenp_losses[l], N, P, (rows)(kind % 3));
            for (double lambda = 1e-6; lambda < 2e3; lambda *= 1e3)
                solved(s, fenp_losses[l], lambda, kind / 3);
            fenp_sample_free(s);
        }
    }
    assert_int_equal(losses, 9);
}

/* One state through lambdas up and down, and through other weights and labels. */
static void test_warm_start(void **unused)
{
    (void)unused;
    const double lambdas[] = { 1e-2, 1e-3, 1e-6, 10.0, 1e-4 };
    for (int l = 0; fenp_losses[l]; l++) {
        if (!fenp_losses[l]->piece) continue;
        fenp_sample *plain = data_of(fenp_losses[l], N, P, PLAIN);
        fenp_sample *other = data_of(fenp_losses[l], N, P, WEIGHTED);
        for (int64_t i = 0; i < N; i += 4) other->y[i] = -other->y[i];
        for (int bias = 0; bias < 2; bias++) {
            fenp_problem q = problem_of(plain, fenp_losses[l], 1.0, bias);
            run r;
            run_open(&r, &q);
            for (int k = 0; k < 10; k++) {
                q.lambda = lambdas[k % 5];
                q.sample = k % 3 == 2 ? other : plain; /* now and then lambda alone changes */
                solve(&r, &q);
                assert_optimal(&r, &q);
            }
            run_close(&r);
        }
        fenp_sample_free(plain);
        fenp_sample_free(other);
    }
}

static void test_few_rows_and_equal_labels(void **unused)
{
    (void)unused;
    const int64_t sizes[] = { 1, 2, N };
    for (int l = 0; fenp_losses[l]; l++) {
        if (!fenp_losses[l]->piece) continue;
        for (int kind = 0; kind < 3 * 2 * 2; kind++) {
            fenp_sample *s = data_of(fenp_losses[l], sizes[kind % 3], P, PLAIN);
            for (int64_t i = 0; i < s->n && (kind / 3 % 2 || s->n == N); i++)
                s->y[i] = fenp_losses[l]->labels == FEN_SIGNS ? -1.0 : 0.75;
            for (double lambda = 1e-6; lambda < 2e3; lambda *= 1e3)
                solved(s, fenp_losses[l], lambda, kind / 6);
            fenp_sample_free(s);
        }
    }
}

/* Linear kernels carry weights; more features than rows are worth keeping; given kernels. */
static void test_other_kernels(void **unused)
{
    (void)unused;
    const char *kernels[] = { "linear", "laplace", "precomputed" };
    const int64_t dims[] = { P, 40, N };
    const fen_loss *loss = fenp_find_loss("hinge");
    for (int k = 0; k < 3; k++) {
        fenp_sample *s = data_of(loss, N, dims[k], WEIGHTED), *from = data_of(loss, N, P, PLAIN);
        fenp_problem q = problem_of(s, loss, 1e-3, 1);
        const fenp_kernel gaussian = q.kernel;
        for (int64_t i = 0; i < N * N && k == 2; i++)
            s->x[i] = value_of(&gaussian, from, i / N, i % N);
        q.kernel.table = fenp_find_kernel(kernels[k]);
        run r;
        run_open(&r, &q);
        solve(&r, &q);
        assert_optimal(&r, &q);
        for (int64_t i = 0; i < N && k == 0; i++) {
            double f = 0.0;
            for (int64_t j = 0; j < P; j++) f += r.weights[j] * s->x[i * P + j];
            assert_near(r.scores[i], f, 1e-9);
        }
        run_close(&r);
        fenp_sample_free(s);
        fenp_sample_free(from);
    }
}

/* More rows than are held as a whole: blocks are chosen. Stopped on the way, then gone on. */
static void test_blocks(void **unused)
{
    (void)unused;
    const char *losses[] = { "hinge", "eps" };
    for (int k = 0; k < 2; k++) {
        const fen_loss *loss = fenp_find_loss(losses[k]);
        fenp_sample *s = data_of(loss, 2600, 2, PLAIN);
        const fenp_problem q = problem_of(s, loss, 1e-4, 1 - k);
        run r;
        run_open(&r, &q);
        r.at.stop = 2;
        assert_int_equal(sweep(&r, &q), FEN_STOPPED);
        assert_true(r.gap > GAP);
        assert_feasible(&r, &q);
        r.at.stop = 0;
        solve(&r, &q);
        assert_optimal(&r, &q);
        run_close(&r);
        fenp_sample_free(s);
    }
}

/* Wherever it is stopped, what is there is an iterate that can be gone on from. */
static void test_stopped(void **unused)
{
    (void)unused;
    for (int l = 0; fenp_losses[l]; l++) {
        if (!fenp_losses[l]->piece) continue;
        fenp_sample *s = data_of(fenp_losses[l], N, P, WEIGHTED);
        const fenp_problem q = problem_of(s, fenp_losses[l], 1e-5, 1);
        run r;
        for (int stop = 1; stop < 8; stop++) {
            run_open(&r, &q);
            r.at.stop = stop;
            const fen_status status = sweep(&r, &q);
            assert_int_equal(status, r.at.calls == stop ? FEN_STOPPED : FEN_OK);
            assert_feasible(&r, &q);
            r.at.stop = 0;
            solve(&r, &q);
            assert_optimal(&r, &q);
            run_close(&r);
        }
        fenp_sample_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_loss),
        cmocka_unit_test(test_warm_start),
        cmocka_unit_test(test_few_rows_and_equal_labels),
        cmocka_unit_test(test_other_kernels),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
