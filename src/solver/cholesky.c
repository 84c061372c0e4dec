/* cholesky.c -- kernel ridge regression by one Cholesky factorisation in place
 *
 *     (B'SKSB + n lambda I) v = B'Sy,   c = S B v,   u = 2 lambda c,   b = sum w (y - K c)
 *
 * Method. K fills the upper triangle of one n x n array, the folded matrix and then
 * its factor the lower one: nothing else of that size exists. Because K survives,
 * every further sweep is a step of iterative refinement with the true residual.
 * Special cases. lambda below the rounding errors of a singular K: the factorisation
 * breaks down and the sentence names the smallest lambda that is safe.
 * Cost. n^3/3 flops, 8 n^2 bytes; n^2/2 kernel values; 4 n^2 per further sweep. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "solver/fold.h"
#include "solver/solver.h"

typedef struct state {
    fenp_fold fold;
    double *a, *diag;      /* n x n: K above, factor below; k(x,x)                  */
    double *v;             /* m x targets: the solution in folded coordinates       */
    double *c, *kc, *step; /* n x targets each                                      */
    double *work;          /* 2n                                                    */
} state;

static int accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    (void)kernel, (void)size;
    return strcmp(loss->name, "square") == 0;
}

static int64_t bytes(const fenp_size *size)
{
    const int64_t n = size->n, matrix = fenp_bytes(n, n, sizeof(double));
    if (matrix < 0) return -1;
    return fenp_arena_bytes(n * n) + fenp_arena_bytes(fenp_fold_doubles(n, size->bias)) +
           fenp_arena_bytes(n) + 4 * fenp_arena_bytes(n * size->targets) + fenp_arena_bytes(2 * n) +
           (int64_t)sizeof(state) + 64;
}

static double flops(const fenp_size *size)
{
    const double n = (double)size->n;
    return n * n * n / 3 + n * n * (double)(size->p + 60);
}

static fen_status begin(fenp_arena *arena, const fenp_problem *problem, void **out,
                        const fenp_task *task, fen_error *err)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, k = sample->targets;
    state *s = (state *)fenp_arena_doubles(arena, (int64_t)(sizeof *s + 7) / 8);
    s->a = fenp_arena_doubles(arena, n * n);
    s->fold = fenp_fold_make(sample->w, n, problem->bias,
                             fenp_arena_doubles(arena, fenp_fold_doubles(n, problem->bias)));
    s->diag = fenp_arena_doubles(arena, n);
    s->v = fenp_arena_doubles(arena, n * k);
    s->c = fenp_arena_doubles(arena, n * k);
    s->kc = fenp_arena_doubles(arena, n * k);
    s->step = fenp_arena_doubles(arena, n * k);
    s->work = fenp_arena_doubles(arena, 2 * n);
    memset(s->v, 0, (size_t)(n * k) * sizeof(double));
    memset(s->kc, 0, (size_t)(n * k) * sizeof(double));
    *out = s;

    const fenp_task gram = fenp_task_part(task, "kernel matrix", 0.0, 0.15);
    const fenp_task factor = fenp_task_part(task, "factorising", 0.15, 1.0);
    fen_status status =
        fenp_gram_upper(&problem->kernel, fenp_sample_inputs(sample), s->a, &gram, err);
    if (status != FEN_OK) return status;
    double largest = 0.0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, s->diag[i] = s->a[i + i * n]);
    fenp_fold_matrix(&s->fold, s->a, s->diag, (double)n * problem->lambda, s->work);
    int64_t rank;
    status = fenp_cholesky(s->fold.m, s->a, n, &rank, &factor, err);
    if (status == FEN_OK && rank < s->fold.m)
        return fenp_lambda_drowns(problem, "the kernel matrix",
                                  10.0 * (double)n * DBL_EPSILON * largest, err);
    return status;
}

/* v += G^-1 (B'S(y - K c) - n lambda v); the first sweep starts from v = 0. */
static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    (void)task;
    state *s = work;
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, m = s->fold.m, k = sample->targets;
    const double shift = (double)n * problem->lambda;
    for (int64_t t = 0; t < k; t++) {
        double *residual = s->c + t * n, *down = s->step + t * m;
        for (int64_t i = 0; i < n; i++) residual[i] = sample->y[t * n + i] - s->kc[t * n + i];
        fenp_fold_down(&s->fold, residual, down);
        for (int64_t i = 0; i < m; i++) down[i] -= shift * s->v[t * m + i];
    }
    const fen_status status = fenp_cholesky_solve(m, s->a, n, s->step, k, err);
    if (status != FEN_OK) return status;
    for (int64_t i = 0; i < m * k; i++) s->v[i] += s->step[i];
    for (int64_t t = 0; t < k; t++) fenp_fold_up(&s->fold, s->v + t * m, s->c + t * n);
    fenp_upper_times(n, s->a, s->diag, s->c, k, s->kc);
    fenp_solution_set(problem, s->c, s->kc, out);
    return FEN_OK;
}

const fenp_solver fenp_solver_cholesky = {
    "cholesky", "one factorisation of the kernel matrix, n^3/3 flops, 8 n^2 bytes",
    0,          accepts,
    bytes,      flops,
    begin,      sweep
};
