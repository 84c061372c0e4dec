/* newton_linear.c -- smooth losses in the weights of a linear model, when p < n
 *
 *     P = sum w_i v_i(t_i) + lambda |a|^2,  t = Xa + b,  s_i = w_i v_i'(t_i),  d_i = w_i v_i''(t_i)
 *     gradient:  g = X's + 2 lambda a   and, with a bias, sum s
 *     step:      (Z'Z + 2 lambda I) da = m sum s - g,   db = -m'da - sum s / sum d
 *     m = X'd / sum d,   Z = D^1/2 (X - 1 m');  without bias m = 0 and db = 0
 *     dual:      u = -s at the best b, feasible as it stands
 *
 * Method. Z'Z by blocks of rows: rows with d = 0 are left out, and no array has n p entries.
 * How far to go is decided in newton_steps.c. The factor is kept as long as d and lambda stay.
 * What is handed over is X'u/(2 lambda) = a - g/(2 lambda), so that weights and dual vector fit
 * each other to the last digit.
 * Special cases. A breakdown of the factorisation raises the shift for that step.
 * Accuracy. Each step starts from the true gradient: relative gaps of 1e-12 are reached.
 * Cost. n p^2 + p^3/3 flops a step, 8 p^2 bytes. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/linalg.h"
#include "solver/newton.h"

enum { ROWS = 512 }; /* of a block */

typedef struct state {
    fenp_newton it;
    int64_t n, p;
    int bias;
    const double *x;         /* n x p, row-major                                          */
    double *now, *step;      /* p: weights and their step                             */
    double *gradient, *mean; /* p: g and m                                            */
    double *z;               /* ROWS x p                                                  */
    double *factor;          /* p x p                                                     */
    double *u, *fitted;      /* n: what would be handed over, its scores,                 */
    double *weights, b;      /* p: weights and offset                                     */
    int given;               /* u is that of the start                                    */
    double *factored;        /* n: d of it                                                */
    double lambda, shift;    /* of the factor, 0: there is none; 2 lambda or more         */
} state;

static int accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    return loss->curvature != NULL && kernel->linear && size->p < size->n;
}

static int64_t bytes(const fenp_size *size)
{
    const int64_t n = size->n, p = size->p;
    if (fenp_bytes(p, p + ROWS, sizeof(double)) < 0 || fenp_bytes(n, 16, sizeof(double)) < 0)
        return -1;
    return (FENP_NEWTON_VECTORS + 3) * fenp_arena_bytes(n) + 5 * fenp_arena_bytes(p) +
           fenp_arena_bytes(ROWS * p) + fenp_arena_bytes(p * p) + (int64_t)sizeof(state) + 64;
}

static double flops(const fenp_size *size)
{
    const double n = (double)size->n, p = (double)size->p;
    return (double)size->targets * 10.0 * (n * p * p + p * p * p / 3.0 + 10.0 * n * p + 100.0 * n);
}

static const fenp_newton_method method;

static fen_status begin(fenp_arena *arena, const fenp_problem *problem, void **out,
                        const fenp_task *task, fen_error *err)
{
    (void)task, (void)err;
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, p = sample->p;
    state *s = (state *)fenp_arena_doubles(arena, (int64_t)(sizeof *s + 7) / 8);
    *s = (state){ .it = { .method = &method, .state = s },
                  .n = n,
                  .p = p,
                  .bias = problem->bias,
                  .x = sample->x };
    fenp_newton_open(&s->it, arena, n);
    s->factored = fenp_arena_doubles(arena, n);
    s->u = fenp_arena_doubles(arena, n);
    s->fitted = fenp_arena_doubles(arena, n);
    s->it.u = s->u, s->it.fitted = s->fitted, s->it.u_b = &s->b;
    s->weights = fenp_arena_doubles(arena, p);
    s->now = fenp_arena_doubles(arena, p);
    s->step = fenp_arena_doubles(arena, p);
    s->gradient = fenp_arena_doubles(arena, p);
    s->mean = fenp_arena_doubles(arena, p);
    s->z = fenp_arena_doubles(arena, ROWS * p);
    s->factor = fenp_arena_doubles(arena, p * p);
    for (int64_t i = 0; i < n; i++) {
        const double *row = s->x + i * p;
        s->it.unit += cblas_ddot((int)p, row, 1, row, 1) / (double)n;
    }
    *out = s;
    return FEN_OK;
}

/* out = X a */
static void times(const state *s, const double *a, double *out)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)s->n, (int)s->p, 1.0, s->x, (int)s->p, a, 1, 0.0,
                out, 1);
}

/* out = X'v + keep out */
static void times_back(const state *s, const double *v, double keep, double *out)
{
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)s->n, (int)s->p, 1.0, s->x, (int)s->p, v, 1, keep,
                out, 1);
}

static double dot(const state *s, const double *a, const double *b)
{
    return cblas_ddot((int)s->p, a, 1, b, 1);
}

/* ---- one step ----------------------------------------------------------------------------- */

/* Z'Z in the lower triangle of factor; returns its largest diagonal entry. */
static double cross_products(state *s)
{
    const int64_t n = s->n, p = s->p;
    double largest = 0.0;
    memset(s->factor, 0, (size_t)(p * p) * sizeof(double));
    for (int64_t from = 0, count = 0; from < n; from++) {
        const double root = sqrt(s->it.d[from]);
        if (root > 0.0) {
            for (int64_t j = 0; j < p; j++)
                s->z[count * p + j] = root * (s->x[from * p + j] - s->mean[j]);
            count++;
        }
        if (count == ROWS || from == n - 1) {
            cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)p, (int)count, 1.0, s->z,
                        (int)p, 1.0, s->factor, (int)p);
            count = 0;
        }
    }
    for (int64_t j = 0; j < p; j++) largest = fmax(largest, s->factor[j + j * p]);
    return largest;
}

/* The factor for d and lambda, unless it stands there already. */
static fen_status factorise(state *s, const fenp_task *task, fen_error *err)
{
    const int64_t p = s->p;
    const size_t size = (size_t)s->n * sizeof(double);
    const double lambda = s->it.q.lambda;
    if (s->lambda == lambda && memcmp(s->it.d, s->factored, size) == 0) return FEN_OK;
    s->lambda = 0.0;
    memset(s->mean, 0, (size_t)p * sizeof(double));
    const double all = cblas_dasum((int)s->n, s->it.d, 1);
    if (s->bias && all > 0.0) {
        times_back(s, s->it.d, 0.0, s->mean);
        cblas_dscal((int)p, 1.0 / all, s->mean, 1);
    }
    s->shift = 2.0 * lambda;
    for (int64_t rank = -1; rank < p;) {
        const double largest = cross_products(s);
        if (rank >= 0) s->shift = fmax(10.0 * s->shift, 10.0 * DBL_EPSILON * (double)p * largest);
        if (!(s->shift <= 100.0 * (largest + lambda)))
            return fenp_fail(err, FEN_BAD_DATA, "the inputs hold values that are not finite");
        for (int64_t j = 0; j < p; j++) s->factor[j + j * p] += s->shift;
        const fen_status status = fenp_cholesky(p, s->factor, p, &rank, task, err);
        if (status != FEN_OK) return status;
    }
    memcpy(s->factored, s->it.d, size);
    s->lambda = lambda;
    return FEN_OK;
}

/* g = X's + 2 lambda a */
static void find_gradient(state *s)
{
    memcpy(s->gradient, s->now, (size_t)s->p * sizeof(double));
    times_back(s, s->it.slope, 2.0 * s->it.q.lambda, s->gradient);
}

static fen_status direction(fenp_newton *it, const fenp_task *task, fen_error *err)
{
    state *s = it->state;
    fen_status status = factorise(s, task, err);
    if (status != FEN_OK) return status;
    long double slopes = 0.0L;
    for (int64_t i = 0; i < s->n; i++) slopes += it->slope[i];
    const double all = cblas_dasum((int)s->n, it->d, 1), sum = (double)slopes;
    find_gradient(s);
    for (int64_t j = 0; j < s->p; j++) s->step[j] = s->mean[j] * sum - s->gradient[j];
    status = fenp_cholesky_solve(s->p, s->factor, s->p, s->step, 1, err);
    times(s, s->step, it->df);
    it->db = s->bias && all > 0.0 ? -dot(s, s->mean, s->step) - sum / all : 0.0;
    it->cross = dot(s, s->now, s->step);
    it->square = dot(s, s->step, s->step);
    it->shift = s->shift;
    it->fuzz = 0.0;
    return status;
}

static void move(fenp_newton *it, double part)
{
    state *s = it->state;
    cblas_daxpy((int)s->p, part, s->step, 1, s->now, 1);
    s->given = 0;
}

/* ---- the iterate -------------------------------------------------------------------------- */

/* u / (2 lambda) as a function: weights, scores, offset */
static void function_of(state *s, const double *u, double *weights, double *f)
{
    times_back(s, u, 0.0, weights);
    cblas_dscal((int)s->p, 1.0 / (2.0 * s->it.q.lambda), weights, 1);
    times(s, weights, f);
}

/* At the best b the slopes sum to 0. A dual vector that was handed in is judged as it is. */
static double gap(fenp_newton *it)
{
    state *s = it->state;
    times(s, s->now, it->f);
    it->norm2 = dot(s, s->now, s->now);
    it->b = fenp_target_offset(&it->q, it->f, it->b);
    if (!s->given) {
        fenp_target_slopes(&it->q, it->f, it->b, s->u);
        for (int64_t i = 0; i < s->n; i++) s->u[i] = -s->u[i];
    }
    function_of(s, s->u, s->weights, s->fitted);
    s->b = fenp_target_offset(&it->q, s->fitted, it->b);
    const double norm2 = dot(s, s->weights, s->weights);
    it->handed = fenp_target_loss(&it->q, s->fitted, s->b) + it->q.lambda * norm2;
    return fenp_target_relative(&it->q, s->fitted, s->b, norm2,
                                fenp_target_mismatch(&it->q, s->fitted, s->b, s->u));
}

static const fenp_newton_method method = { direction, move, gap };

/* a = X'u / (2 lambda); whether it is a start. */
static int start(state *s, const double *u)
{
    memcpy(s->u, u, (size_t)s->n * sizeof(double));
    fenp_target_feasible(&s->it.q, s->u);
    function_of(s, s->u, s->now, s->it.df);
    s->it.square = dot(s, s->now, s->now);
    const double part = s->it.square > 0.0 ? fenp_newton_scale(&s->it, s->u) : 0.0;
    cblas_dscal((int)s->p, part, s->now, 1);
    s->given = part == 1.0;
    return part > 0.0;
}

static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    state *s = work;
    double reached = 0.0;
    fen_status status = FEN_OK;
    fenp_newton_set(&s->it, problem);
    if (s->it.q.trivial) {
        memset(s->u, 0, (size_t)s->n * sizeof(double));
        s->b = s->it.b;
    } else
        status = fenp_newton_run(&s->it, start(s, out->dual), problem->gap, &reached, task, err);
    function_of(s, s->u, s->weights, s->fitted);
    memcpy(out->dual, s->u, (size_t)s->n * sizeof(double));
    if (out->weights) memcpy(out->weights, s->weights, (size_t)s->p * sizeof(double));
    fenp_newton_leave(&s->it, s->fitted, s->b, reached, out);
    return status;
}

const fenp_solver fenp_solver_newton_linear = {
    .name = "newton-linear",
    .help = "smooth losses, linear kernel with fewer features than rows: n p^2 flops a step",
    .in_weights = 1,
    .iterative = 1,
    .accepts = accepts,
    .bytes = bytes,
    .flops = flops,
    .begin = begin,
    .sweep = sweep,
};
