/* newton.c -- smooth losses: Newton's method in function space, one weighted ridge a step
 *
 *     P = sum w_i v_i(t_i) + lambda c'Kc,  t = Kc + b,  s_i = w_i v_i'(t_i),  d_i = w_i v_i''(t_i)
 *     optimal:     2 lambda c = -s  and, with a bias, sum c = 0
 *     linearised:  2 lambda dc + D (K dc + db) = 2 lambda r,   r = -s/(2 lambda) - c
 *
 * Method. Rows where d is 0 (I: behind the margin, on a linear piece, saturated) have
 *     dc_I = r_I
 * at once, and K_AI r_I goes into the equations of the others (A). With a bias, o_A =
 * -(sum r_I) d_A / sum d balances r_I; the fold does not see multiples of d. The rest is
 *     (B'S K_AA S B + 2 lambda |A| I) v = B'S (2 lambda r_A/d_A - (K dc')_A),  dc' = (o_A, r_I)
 *     dc_A = o_A + S B v,   S = sqrt(|A| d),
 * the ridge problem of fold.h with |A| rows, weights d and penalty 2 lambda. K stays above the
 * diagonal, the factor stands below and is kept as long as d and lambda stay: then a step costs
 * n^2. How far to go along dc is decided in newton_steps.c. What is handed over is u = 2 lambda c,
 * cut into the domain.
 * Special cases. Rounding errors that break the factorisation (K singular, lambda tiny) raise
 * the shift: lambda for the step alone, which makes it shorter, not wrong.
 * Accuracy. Each step starts from the true residual r: relative gaps of 1e-12 are reached
 * where rounding errors in K c allow it.
 * Cost. |A|^3/3 + 8 n^2 flops a step; 8 n^2 bytes. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/linalg.h"
#include "solver/fold.h"
#include "solver/newton.h"

enum { VECTORS = 9 }; /* beside those of a fenp_newton */

typedef struct state {
    fenp_newton it;
    int64_t n;
    int bias;
    double *k, *diag;       /* n x n: K above, the factor of A below; k(x,x)            */
    double *c, *dc, *r;     /* n each: the iterate and its step; residual               */
    double *u, *fitted;     /* n each: what would be handed over, and its scores        */
    double *full;           /* n: work                                                  */
    double *work, *store;   /* 2n each: of the fold                                     */
    double *factored;       /* n: d of the factor that stands there                     */
    int64_t *active, count; /* A                                                        */
    double lambda, shift;   /* of the factor, 0: there is none; 2 lambda or more        */
    fenp_fold fold;
    int fresh; /* the scores are K c; else they have been added to          */
} state;

static int accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    (void)kernel, (void)size;
    return loss->curvature != NULL;
}

static int64_t bytes(const fenp_size *size)
{
    const int64_t n = size->n;
    if (fenp_bytes(n, n, sizeof(double)) < 0) return -1;
    return fenp_arena_bytes(n * n) + (VECTORS + FENP_NEWTON_VECTORS) * fenp_arena_bytes(n) +
           2 * fenp_arena_bytes(2 * n) + (int64_t)sizeof(state) + 64;
}

static double flops(const fenp_size *size)
{
    const double n = (double)size->n;
    return (double)size->targets * 10.0 * (n * n * n / 3.0 + 8.0 * n * n) +
           n * n * (double)(size->p + 60);
}

static const fenp_newton_method method;

static fen_status begin(fenp_arena *arena, const fenp_problem *problem, void **out,
                        const fenp_task *task, fen_error *err)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n;
    state *s = (state *)fenp_arena_doubles(arena, (int64_t)(sizeof *s + 7) / 8);
    double **vectors[] = {
        &s->diag, &s->c, &s->dc, &s->r, &s->u, &s->fitted, &s->full, &s->factored
    };
    *s = (state){ .it = { .method = &method, .state = s }, .n = n, .bias = problem->bias };
    fenp_newton_open(&s->it, arena, n);
    s->k = fenp_arena_doubles(arena, n * n);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = fenp_arena_doubles(arena, n);
    s->it.u = s->u, s->it.fitted = s->fitted, s->it.u_b = &s->it.b;
    s->active = (int64_t *)fenp_arena_doubles(arena, n);
    s->work = fenp_arena_doubles(arena, 2 * n);
    s->store = fenp_arena_doubles(arena, 2 * n);
    *out = s;
    const fenp_task gram = fenp_task_part(task, "kernel matrix", 0.0, 1.0);
    const fen_status status =
        fenp_gram_upper(&problem->kernel, fenp_sample_inputs(sample), s->k, &gram, err);
    for (int64_t i = 0; status == FEN_OK && i < n; i++) {
        s->diag[i] = s->k[i + i * n];
        s->it.unit += s->diag[i] / (double)n;
    }
    return status;
}

static void swap_diagonals(state *s) { cblas_dswap((int)s->n, s->k, (int)s->n + 1, s->diag, 1); }

/* With the diagonal of K in its place: that of a factor, of a large lambda, would drown it. */
static void times(state *s, const double *x, double *product)
{
    const int n = (int)s->n;
    swap_diagonals(s);
    cblas_dsymv(CblasColMajor, CblasUpper, n, 1.0, s->k, n, x, 1, 0.0, product, 1);
    swap_diagonals(s);
}

static double dot(const state *s, const double *x, const double *z)
{
    return cblas_ddot((int)s->n, x, 1, z, 1);
}

/* ---- one step ----------------------------------------------------------------------------- */

/* A, its fold, and the trace of D K. */
static double gather(state *s)
{
    double trace = 0.0;
    s->count = 0;
    for (int64_t i = 0; i < s->n; i++) {
        if (s->it.d[i] == 0.0) continue;
        trace += s->it.d[i] * s->diag[i];
        s->full[s->count] = s->it.d[i];
        s->active[s->count++] = i;
    }
    if (s->count > 0) s->fold = fenp_fold_make(s->full, s->count, s->bias, s->store);
    return trace;
}

/* The factor for d and lambda, unless it stands there already. */
static fen_status factorise(state *s, const fenp_task *task, fen_error *err)
{
    const double lambda = s->it.q.lambda;
    const size_t size = (size_t)s->n * sizeof(double);
    if (s->lambda == lambda && memcmp(s->it.d, s->factored, size) == 0) return FEN_OK;
    s->lambda = 0.0;
    s->shift = 2.0 * lambda;
    const double trace = gather(s);
    for (int64_t rank = -1; s->count > 0 && rank < s->fold.m;) {
        if (rank >= 0) s->shift = fmax(10.0 * s->shift, 10.0 * DBL_EPSILON * trace);
        if (!(s->shift <= 100.0 * (trace + lambda)))
            return fenp_fail(err, FEN_BAD_DATA,
                             "the kernel matrix is not positive semidefinite, or not finite: "
                             "check it, or add a constant to its diagonal");
        fenp_fold_part(&s->fold, s->k, s->n, s->active, s->diag, (double)s->count * s->shift,
                       s->work);
        const fen_status status = fenp_cholesky(s->fold.m, s->k, s->n, &rank, task, err);
        if (status != FEN_OK) return status;
    }
    memcpy(s->factored, s->it.d, size);
    s->lambda = lambda;
    return FEN_OK;
}

/* dc = (o_A, r_I), r_I shortened where the shift had to be raised */
static void inactive_step(state *s)
{
    const double shorter = 2.0 * s->it.q.lambda / s->shift;
    long double sum = 0.0L, all = 0.0L;
    for (int64_t i = 0; i < s->n; i++) {
        s->dc[i] = s->it.d[i] > 0.0 ? 0.0 : shorter * s->r[i];
        sum += s->dc[i], all += s->it.d[i];
    }
    for (int64_t i = 0; i < s->n && s->bias; i++)
        if (s->it.d[i] > 0.0) s->dc[i] = -(double)(sum * s->it.d[i] / all);
}

/* dc_A += S B v */
static fen_status active_step(state *s, fen_error *err)
{
    if (s->count == 0) return FEN_OK;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t row = s->active[i];
        s->full[i] = 2.0 * s->it.q.lambda * s->r[row] / s->it.d[row] - s->it.df[row];
    }
    fenp_fold_down(&s->fold, s->full, s->work);
    const fen_status status = fenp_cholesky_solve(s->fold.m, s->k, s->n, s->work, 1, err);
    fenp_fold_up(&s->fold, s->work, s->full);
    for (int64_t i = 0; i < s->count; i++) s->dc[s->active[i]] += s->full[i];
    return status;
}

/* From the equations of A, all of them together. */
static double offset_step(const state *s)
{
    long double left = 0.0L, all = 0.0L;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t row = s->active[i];
        left +=
            2.0 * s->it.q.lambda * s->r[row] - s->shift * s->dc[row] - s->it.d[row] * s->it.df[row];
        all += s->it.d[row];
    }
    return s->bias && all > 0.0L ? (double)(left / all) : 0.0;
}

/* Rounding errors of lambda c'Kc, where K c is small and c is not. */
static double fuzz(const state *s)
{
    const double size = cblas_dasum((int)s->n, s->c, 1) + cblas_dasum((int)s->n, s->dc, 1);
    return 40.0 * DBL_EPSILON * s->it.q.lambda * s->it.unit * size * size / (double)s->n;
}

static fen_status direction(fenp_newton *it, const fenp_task *task, fen_error *err)
{
    state *s = it->state;
    for (int64_t i = 0; i < s->n; i++) s->r[i] = -it->slope[i] / (2.0 * it->q.lambda) - s->c[i];
    fen_status status = factorise(s, task, err);
    if (status != FEN_OK) return status;
    inactive_step(s);
    times(s, s->dc, it->df);
    status = active_step(s, err);
    times(s, s->dc, it->df);
    it->db = offset_step(s);
    it->cross = dot(s, s->c, it->df);
    it->square = fmax(dot(s, s->dc, it->df), 0.0);
    it->shift = s->shift;
    it->fuzz = fuzz(s);
    return status;
}

/* After a full step inactive rows have c = -s/(2 lambda) to the last digit: zeros are zeros. */
static void move(fenp_newton *it, double part)
{
    state *s = it->state;
    const double lambda2 = 2.0 * it->q.lambda;
    const int full = part == 1.0 && s->shift == lambda2;
    for (int64_t i = 0; i < s->n; i++)
        s->c[i] = full && it->d[i] == 0.0 ? -it->slope[i] / lambda2 : s->c[i] + part * s->dc[i];
    s->fresh = 0;
}

/* ---- the iterate -------------------------------------------------------------------------- */

/* Of c cut to what is feasible as a dual vector, u = 2 lambda c: then P - D is the mismatch of
 * slopes and dual variables alone, and nobody has to move u again. */
static double gap(fenp_newton *it)
{
    state *s = it->state;
    const double lambda2 = 2.0 * it->q.lambda;
    if (!s->fresh) {
        times(s, s->c, it->f);
        it->norm2 = fmax(dot(s, s->c, it->f), 0.0);
        s->fresh = 1;
    }
    for (int64_t i = 0; i < s->n; i++) s->u[i] = lambda2 * s->c[i];
    memcpy(s->fitted, it->f, (size_t)s->n * sizeof(double));
    double norm2 = it->norm2;
    if (fenp_target_feasible(&it->q, s->u)) {
        for (int64_t i = 0; i < s->n; i++) s->full[i] = s->u[i] / lambda2;
        times(s, s->full, s->fitted);
        norm2 = fmax(dot(s, s->full, s->fitted), 0.0);
    }
    it->handed = fenp_target_loss(&it->q, s->fitted, it->b) + it->q.lambda * norm2;
    return fenp_target_relative(&it->q, s->fitted, it->b, norm2,
                                fenp_target_mismatch(&it->q, s->fitted, it->b, s->u));
}

static const fenp_newton_method method = { direction, move, gap };

/* c from u; whether it is a start. */
static int start(state *s, const double *u)
{
    memcpy(s->u, u, (size_t)s->n * sizeof(double));
    fenp_target_feasible(&s->it.q, s->u);
    for (int64_t i = 0; i < s->n; i++) s->c[i] = s->u[i] / (2.0 * s->it.q.lambda);
    times(s, s->c, s->it.df);
    s->fresh = 1;
    s->it.square = fmax(dot(s, s->c, s->it.df), 0.0);
    const double part = s->it.square > 0.0 ? fenp_newton_scale(&s->it, s->u) : 0.0;
    cblas_dscal((int)s->n, part, s->c, 1);
    return part > 0.0;
}

static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    state *s = work;
    const int64_t n = s->n, p = problem->sample->p;
    double reached = 0.0;
    fen_status status = FEN_OK;
    fenp_newton_set(&s->it, problem);
    if (s->it.q.trivial) {
        memset(s->u, 0, (size_t)n * sizeof(double));
        memset(s->fitted, 0, (size_t)n * sizeof(double));
    } else
        status = fenp_newton_run(&s->it, start(s, out->dual), problem->gap, &reached, task, err);
    memcpy(out->dual, s->u, (size_t)n * sizeof(double));
    if (out->weights)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)p, 1.0 / (2.0 * problem->lambda),
                    problem->sample->x, (int)p, s->u, 1, 0.0, out->weights, 1);
    fenp_newton_leave(&s->it, s->fitted, s->it.b, reached, out);
    return status;
}

const fenp_solver fenp_solver_newton = {
    .name = "newton",
    .help = "smooth losses: Newton's method, n^3/3 flops a step, 8 n^2 bytes",
    .iterative = 1,
    .accepts = accepts,
    .bytes = bytes,
    .flops = flops,
    .begin = begin,
    .sweep = sweep,
};
