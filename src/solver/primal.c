/* primal.c -- any power of the norm in the weights of a linear model, when p < n
 *
 *     (Z'Z + c I) w = Z'S(y - ybar),   Z = S(X - 1 xbar'),   b = ybar - xbar'w
 *     u_i = 2 w_i (y_i - x_i'w - b)
 *
 * Method. X'X (base/syrk.h), then for power 2 (c = n lambda) one Cholesky factorisation of a p x p
 * matrix, for other powers its eigendecomposition Q D Q', which gives the curve (curve.h):
 * yt = Q'Z'Sy/sqrt(d). Every further sweep is a step of iterative refinement with
 * residuals from the rows.
 * Cost. n p^2 + p^3/3 (or 9 p^3) flops, 8 (n p + p^2) (or n p + 3 p^2) bytes; 4 n p per
 * further sweep. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/linalg.h"
#include "base/syrk.h"
#include "loss/traits.h"
#include "solver/solver.h"

typedef struct state {
    double *mean;     /* p: xbar                                               */
    double *factor;   /* p x p: Cholesky factor, or Q                          */
    double *d;        /* p: eigenvalues                                        */
    double *residual; /* n                                                     */
    double *step;     /* p                                                     */
    double *turned;   /* p: Q'step; then the squares of the curve              */
    double *z;        /* n x p, row-major                                      */
    fenp_root *roots; /* targets                                               */
    int started;
} state;

static int accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    return fenp_is_square(loss) && kernel->linear && size->p < size->n;
}

static int64_t bytes(const fenp_size *size)
{
    const int64_t n = size->n, p = size->p;
    if (fenp_bytes(n, p, sizeof(double)) < 0) return -1;
    const int64_t eigen = size->power == 2.0 ? 0 : fenp_arena_bytes(fenp_eigen_work(p));
    return fenp_arena_bytes(n * p) + fenp_arena_bytes(p * p) + fenp_arena_bytes(n) +
           4 * fenp_arena_bytes(p) + eigen + fenp_roots_bytes(size->targets) +
           (int64_t)sizeof(state) + 64;
}

static double flops(const fenp_size *size)
{
    const double n = (double)size->n, p = (double)size->p;
    return n * p * p + p * p * p * (size->power == 2.0 ? 1.0 / 3.0 : 10.0) + 20 * n * p;
}

static fen_status factorise(state *s, const fenp_problem *problem, const fenp_task *task,
                            fen_error *err)
{
    const int64_t n = problem->sample->n, p = problem->sample->p;
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
    s->turned = fenp_arena_doubles(arena, p);
    s->d = fenp_arena_doubles(arena, p);
    s->roots = fenp_roots_new(arena, sample->targets);
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
    const fenp_syrk gram = {
        .n = n, .p = p, .alpha = 1.0, .x = s->z, .ldx = p, .by_rows = 1, .c = s->factor, .ldc = p
    };
    if (fenp_syrk_run(&gram)) return fenp_no_memory(err, fenp_bytes(p, p, 8), "X'X");
    fenp_mirror_upper(0, p, s->factor, p);
    if (problem->power == 2.0) return factorise(s, problem, task, err);
    const fen_status status =
        fenp_eigen(p, s->factor, p, s->d, fenp_arena_doubles(arena, fenp_eigen_work(p)), err);
    const double floor = (double)n * DBL_EPSILON * fmax(s->d[p - 1], 0.0);
    for (int64_t j = 0; j < p; j++)
        if (s->d[j] <= floor) s->d[j] = 0.0; /* rounding errors */
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

/* step = Z'S residual - c w */
static void gradient(state *s, const fenp_problem *problem, const double *w, double c)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, p = sample->p;
    for (int64_t i = 0; i < n; i++) s->residual[i] *= sqrt((double)n * sample->w[i]);
    memcpy(s->step, w, (size_t)p * sizeof(double));
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)p, 1.0, s->z, (int)p, s->residual, 1, -c,
                s->step, 1);
}

/* w += Q (Q'step / (d + c)); a component without eigenvalue stays 0. */
static void add_turned(state *s, int64_t p, double c, double *w)
{
    cblas_dgemv(CblasColMajor, CblasTrans, (int)p, (int)p, 1.0, s->factor, (int)p, s->step, 1, 0.0,
                s->turned, 1);
    for (int64_t j = 0; j < p; j++)
        s->turned[j] = s->d[j] > 0.0 ? s->turned[j] / (s->d[j] + c) : 0.0;
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)p, (int)p, 1.0, s->factor, (int)p, s->turned, 1,
                1.0, w, 1);
}

/* One step of refinement at a given c, from w = 0 if it is the first. */
static fen_status improve(state *s, const fenp_problem *problem, int64_t t, double c, double *w,
                          fen_error *err)
{
    const int64_t p = problem->sample->p;
    if (isinf(c)) return FEN_OK;
    residuals(s, problem, t, w);
    gradient(s, problem, w, c);
    if (problem->power != 2.0) {
        add_turned(s, p, c, w);
        return FEN_OK;
    }
    const fen_status status = fenp_cholesky_solve(p, s->factor, p, s->step, 1, err);
    for (int64_t j = 0; j < p; j++) w[j] += s->step[j];
    return status;
}

/* u = 2 w (y - Xw - b); returns b. */
static double dual_of(const state *s, const fenp_problem *problem, int64_t t, const double *w,
                      double *u)
{
    const double b = residuals(s, problem, t, w);
    for (int64_t i = 0; i < problem->sample->n; i++)
        u[i] = 2.0 * problem->sample->w[i] * s->residual[i];
    return b;
}

/* The curve from d and (Q'Z'Sy)^2/d; the loss of plain least squares is what no w touches.
 * w: p doubles of work. */
static fen_status find_root(state *s, const fenp_problem *problem, int64_t t, double *w,
                            fen_error *err)
{
    const int64_t n = problem->sample->n, p = problem->sample->p;
    fenp_measure measure = { .d = s->d, .q = s->turned, .count = p };
    memset(w, 0, (size_t)p * sizeof(double));
    if (problem->power == 2.0) /* needs no curve */
        return fenp_curve_minimum(NULL, n, problem->lambda, 2.0, 0.0, &s->roots[t], err);
    residuals(s, problem, t, w);
    gradient(s, problem, w, 0.0);
    add_turned(s, p, 0.0, w);
    residuals(s, problem, t, w);
    for (int64_t i = 0; i < n; i++)
        measure.rest += (double)n * problem->sample->w[i] * (s->residual[i] * s->residual[i]);
    for (int64_t j = 0; j < p; j++) s->turned[j] *= s->turned[j] * s->d[j];
    memset(w, 0, (size_t)p * sizeof(double));
    const fenp_curve curve = fenp_measure_curve(&measure, n);
    return fenp_curve_minimum(&curve, n, problem->lambda, problem->power, problem->gap,
                              &s->roots[t], err);
}

static fen_status tangents(state *s, const fenp_problem *problem, int64_t t, double *w, double *out,
                           fen_error *err)
{
    const fenp_root *root = &s->roots[t];
    fen_status status = FEN_OK;
    for (int k = 0; status == FEN_OK && k < root->nodes; k++) {
        memset(w, 0, (size_t)problem->sample->p * sizeof(double));
        status = improve(s, problem, t, exp(root->node[k]), w, err);
        dual_of(s, problem, t, w, out + k * problem->sample->n);
    }
    memset(w, 0, (size_t)problem->sample->p * sizeof(double));
    return status;
}

static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    (void)task;
    state *s = work;
    const int64_t n = problem->sample->n, p = problem->sample->p;
    fen_status status = FEN_OK;
    for (int64_t t = 0; status == FEN_OK && t < problem->sample->targets; t++) {
        double *w = out->weights + t * p;
        if (!s->started) status = find_root(s, problem, t, w, err);
        if (status == FEN_OK && !s->started && out->tangents)
            status = tangents(s, problem, t, w, out->tangents + t * FENP_NODES_MAX * n, err);
        if (status == FEN_OK) status = improve(s, problem, t, s->roots[t].c, w, err);
        if (status != FEN_OK) break;
        out->offset[t] = dual_of(s, problem, t, w, out->dual + t * n);
        out->scale[t] = 1.0 / (2.0 * s->roots[t].lambda2);
    }
    s->started = 1;
    return status;
}

const fenp_solver fenp_solver_primal = {
    .name = "primal",
    .help = "linear kernel with fewer features than rows: n p^2 flops",
    .in_weights = 1,
    .accepts = accepts,
    .bytes = bytes,
    .flops = flops,
    .begin = begin,
    .sweep = sweep,
};
