/* primal.c -- ridge regression in the weights of a linear model, when p < n
 *
 *     (Z'Z + n lambda I) w = Z'S(y - ybar),   Z = S(X - 1 xbar'),   b = ybar - xbar'w
 *     u_i = 2 w_i (y_i - x_i'w - b)
 *
 * Method. dsyrk and one Cholesky factorisation of a p x p matrix; every further sweep
 * is a step of iterative refinement with residuals from the rows.
 * Cost. n p^2 + p^3/3 flops, 8 (n p + p^2) bytes; 4 n p per further sweep. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "solver/fold.h"
#include "solver/solver.h"

typedef struct state {
    double *mean;     /* p: xbar                                               */
    double *factor;   /* p x p                                                 */
    double *residual; /* n                                                     */
    double *step;     /* p                                                     */
    double *z;        /* n x p, row-major                                      */
    int started;
} state;

static int accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    return strcmp(loss->name, "square") == 0 && kernel->linear && size->p < size->n;
}

static int64_t bytes(const fenp_size *size)
{
    const int64_t n = size->n, p = size->p;
    if (fenp_bytes(n, p, sizeof(double)) < 0) return -1;
    return fenp_arena_bytes(n * p) + fenp_arena_bytes(p * p) + fenp_arena_bytes(n) +
           2 * fenp_arena_bytes(p) + (int64_t)sizeof(state) + 64;
}

static double flops(const fenp_size *size)
{
    const double n = (double)size->n, p = (double)size->p;
    return n * p * p + p * p * p / 3 + 20 * n * p;
}

static fen_status begin(fenp_arena *arena, const fenp_problem *problem, void **out,
                        const fenp_task *task, fen_error *err)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, p = sample->p;
    state *s = (state *)fenp_arena_doubles(arena, (int64_t)(sizeof *s + 7) / 8);
    s->z = fenp_arena_doubles(arena, n * p);
    s->factor = fenp_arena_doubles(arena, p * p);
    s->residual = fenp_arena_doubles(arena, n);
    s->mean = fenp_arena_doubles(arena, p);
    s->step = fenp_arena_doubles(arena, p);
    s->started = 0;
    *out = s;
    memset(s->mean, 0, (size_t)p * sizeof(double));
    if (problem->bias)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)p, 1.0, sample->x, (int)p, sample->w, 1,
                    0.0, s->mean, 1);
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        const double root = sqrt((double)n * sample->w[i]);
        for (int64_t j = 0; j < p; j++)
            s->z[i * p + j] = root * (sample->x[i * p + j] - s->mean[j]);
    }
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)p, (int)n, 1.0, s->z, (int)p, 0.0,
                s->factor, (int)p);
    double largest = 0.0;
    for (int64_t j = 0; j < p; j++) {
        largest = fmax(largest, s->factor[j + j * p]);
        s->factor[j + j * p] += (double)n * problem->lambda;
    }
    int64_t rank;
    const fen_status status = fenp_cholesky(p, s->factor, p, &rank, task, err);
    if (status == FEN_OK && rank < p)
        return fenp_lambda_drowns(problem, "X'X",
                                  10.0 * DBL_EPSILON * (double)p * largest / (double)n, err);
    return status;
}

/* residual = y - Xw - b with the b that makes its weighted mean vanish; returns b. */
static double residuals(const state *s, const fenp_problem *problem, int64_t target,
                        const double *w)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, p = sample->p;
    memcpy(s->residual, sample->y + target * n, (size_t)n * sizeof(double));
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)n, (int)p, -1.0, sample->x, (int)p, w, 1, 1.0,
                s->residual, 1);
    double b = 0.0;
    if (problem->bias) {
        for (int64_t i = 0; i < n; i++) b += sample->w[i] * s->residual[i];
        for (int64_t i = 0; i < n; i++) s->residual[i] -= b;
    }
    return b;
}

/* w += (Z'Z/n + lambda I)^-1 (X'W residual - lambda w) */
static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    (void)task;
    state *s = work;
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, p = sample->p;
    if (!s->started) memset(out->weights, 0, (size_t)(p * sample->targets) * sizeof(double));
    s->started = 1;
    for (int64_t t = 0; t < sample->targets; t++) {
        double *w = out->weights + t * p;
        residuals(s, problem, t, w);
        for (int64_t i = 0; i < n; i++) s->residual[i] *= sqrt((double)n * sample->w[i]);
        memcpy(s->step, w, (size_t)p * sizeof(double));
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)p, 1.0, s->z, (int)p, s->residual, 1,
                    -(double)n * problem->lambda, s->step, 1);
        const fen_status status = fenp_cholesky_solve(p, s->factor, p, s->step, 1, err);
        if (status != FEN_OK) return status;
        for (int64_t j = 0; j < p; j++) w[j] += s->step[j];
        out->offset[t] = residuals(s, problem, t, w);
        for (int64_t i = 0; i < n; i++) out->dual[t * n + i] = 2.0 * sample->w[i] * s->residual[i];
    }
    return FEN_OK;
}

const fenp_solver fenp_solver_primal = {
    "primal", "linear kernel with fewer features than rows: n p^2 flops",
    1,        accepts,
    bytes,    flops,
    begin,    sweep
};
