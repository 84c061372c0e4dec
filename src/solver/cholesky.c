/* cholesky.c -- any power of the norm by Cholesky factorisations in place
 *
 *     (B'SKSB + c I) v = B'Sy,   coefficients S B v,   b = sum w (y - K S B v)
 *
 * Method. K fills the upper triangle of one n x n array, the folded matrix and then its
 * factor the lower one: nothing else of that size exists. Because K survives, every
 * further sweep is a step of iterative refinement with the true residual. Power 2 has
 * c = n lambda and one factorisation; other powers one per point of the curve (curve.h).
 * Special cases. c below the rounding errors of a singular K: the factorisation breaks
 * down and the sentence names the smallest lambda that is safe. N^2 of a singular K has an
 * error of eps d_max |y|^2/c^2: powers below 1 are searched down to c = 10 sqrt(eps) d_max,
 * where that is a hundredth of it.
 * Cost. n^3/3 flops per factorisation, 8 n^2 bytes; n^2/2 kernel values; 4 n^2 per further
 * sweep. Power < 1 keeps the dual vector of every point that was looked at. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "loss/traits.h"
#include "solver/fold.h"
#include "solver/solver.h"

enum { KEPT = 2 * FENP_NODES_MAX };

typedef struct state {
    fenp_fold fold;
    double *a, *diag;      /* n x n: K above, factor below; k(x,x)                  */
    double *y;             /* m x targets: B'Sy                                     */
    double *v;             /* m x targets: the solution in folded coordinates       */
    double *c, *kc, *step; /* n x targets each                                      */
    double *work;          /* 2n                                                    */
    double largest;        /* of the diagonal                                       */
    double factored;       /* the c of the factor that stands there; < 0: none      */
    fenp_root *roots;      /* targets                                               */
    int started;
    int kept; /* power < 1: points of the curve of the current target  */
    double kept_t[KEPT], *kept_v;
    /* what a point of the curve is computed for */
    const fenp_problem *problem;
    fenp_task task;
    int64_t target;
} state;

static int accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    (void)kernel, (void)size;
    return fenp_is_square(loss);
}

static int64_t kept_doubles(int64_t n, double power) { return power < 1.0 ? KEPT * n : 0; }

static int64_t bytes(const fenp_size *size)
{
    const int64_t n = size->n, matrix = fenp_bytes(n, n, sizeof(double));
    if (matrix < 0) return -1;
    return fenp_arena_bytes(n * n) + fenp_arena_bytes(fenp_fold_doubles(n, size->bias)) +
           fenp_arena_bytes(n) + 5 * fenp_arena_bytes(n * size->targets) + fenp_arena_bytes(2 * n) +
           fenp_arena_bytes(kept_doubles(n, size->power)) + fenp_roots_bytes(size->targets) +
           (int64_t)sizeof(state) + 64;
}

static double flops(const fenp_size *size)
{
    const double n = (double)size->n;
    const double points = size->power == 2.0 ? 1.0 : size->power < 1.0 ? 50.0 : 8.0;
    return points * n * n * n / 3 + n * n * (double)(size->p + 60);
}

static fen_status factor(state *s, double c, const fenp_task *task, fen_error *err)
{
    const fenp_problem *problem = s->problem;
    const int64_t n = s->fold.n;
    int64_t rank;
    if (s->factored == c) return FEN_OK;
    s->factored = -1.0;
    fenp_fold_matrix(&s->fold, s->a, s->diag, c, s->work);
    const fen_status status = fenp_cholesky(s->fold.m, s->a, n, &rank, task, err);
    if (status != FEN_OK) return status;
    if (rank < s->fold.m)
        return fenp_lambda_drowns(problem, "the kernel matrix",
                                  10.0 * (double)n * DBL_EPSILON * s->largest, err);
    s->factored = c;
    return FEN_OK;
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
    s->y = fenp_arena_doubles(arena, n * k);
    s->v = fenp_arena_doubles(arena, n * k);
    s->c = fenp_arena_doubles(arena, n * k);
    s->kc = fenp_arena_doubles(arena, n * k);
    s->step = fenp_arena_doubles(arena, n * k);
    s->work = fenp_arena_doubles(arena, 2 * n);
    s->kept_v = fenp_arena_doubles(arena, kept_doubles(n, problem->power));
    s->roots = fenp_roots_new(arena, k);
    s->problem = problem;
    s->factored = -1.0, s->largest = 0.0, s->started = 0, s->kept = 0;
    memset(s->v, 0, (size_t)(n * k) * sizeof(double));
    memset(s->kc, 0, (size_t)(n * k) * sizeof(double));
    *out = s;

    const fenp_task gram = fenp_task_part(task, "kernel matrix", 0.0, 0.15);
    const fenp_task first = fenp_task_part(task, "factorising", 0.15, 1.0);
    fen_status status =
        fenp_gram_upper(&problem->kernel, fenp_sample_inputs(sample), s->a, &gram, err);
    if (status != FEN_OK) return status;
    for (int64_t i = 0; i < n; i++) s->largest = fmax(s->largest, s->diag[i] = s->a[i + i * n]);
    for (int64_t t = 0; t < k; t++) {
        memcpy(s->work, sample->y + t * n, (size_t)n * sizeof(double));
        fenp_fold_down(&s->fold, s->work, s->y + t * s->fold.m);
    }
    if (problem->power != 2.0) return FEN_OK;
    return factor(s, (double)n * problem->lambda, &first, err);
}

/* ---- the curve of one target ------------------------------------------------------------ */

/* folded = B'SKSB v; full: n doubles of work. */
static void times_folded(state *s, const double *v, double *full, double *folded)
{
    fenp_fold_up(&s->fold, v, full);
    fenp_upper_times(s->fold.n, s->a, s->diag, full, 1, s->work);
    fenp_fold_down(&s->fold, s->work, folded);
}

static double dot(const state *s, const double *a, const double *b)
{
    return cblas_ddot((int)s->fold.m, a, 1, b, 1);
}

/* v = G^-1 y with one step of refinement: near the floor the factor alone has few digits. */
static fen_status solve_at(state *s, double c, double *v, double *kv, fen_error *err)
{
    const int64_t m = s->fold.m;
    const double *y = s->y + s->target * m;
    double *residual = s->kc;
    memset(v, 0, (size_t)m * sizeof(double));
    memset(kv, 0, (size_t)m * sizeof(double));
    fen_status status = factor(s, c, &s->task, err);
    for (int step = 0; status == FEN_OK && step < 2; step++) {
        for (int64_t i = 0; i < m; i++) residual[i] = y[i] - kv[i] - c * v[i];
        status = fenp_cholesky_solve(m, s->a, s->fold.n, residual, 1, err);
        for (int64_t i = 0; i < m; i++) v[i] += residual[i];
        times_folded(s, v, residual, kv);
    }
    return status;
}

/* N^2 = v'Kv, L = c^2 v'v, dN^2/dc = -2 (Kv)'G^-1 v */
static fen_status point(void *work, double t, fenp_point *out, fen_error *err)
{
    state *s = work;
    const int64_t m = s->fold.m;
    const double c = exp(t), *y = s->y + s->target * m;
    double *v = s->step, *kv = s->c;
    fen_status status = solve_at(s, c, v, kv, err);
    if (status != FEN_OK) return status;
    const double square = fmax(dot(s, v, kv), 0.0), energy = dot(s, y, y);
    out->t = t;
    out->log_norm = 0.5 * log(square);
    out->loss = c * (c * (dot(s, v, v) / energy));
    if (s->problem->power < 1.0 && s->kept < KEPT) {
        s->kept_t[s->kept] = t;
        memcpy(s->kept_v + s->kept++ * m, v, (size_t)m * sizeof(double));
    }
    status = fenp_cholesky_solve(m, s->a, s->fold.n, v, 1, err);
    out->slope = square > 0.0 ? -fmin(c * dot(s, kv, v) / square, 1.0) : 0.0;
    return status;
}

static fen_status find_root(state *s, int64_t target, fen_error *err)
{
    const fenp_problem *problem = s->problem;
    const int64_t n = s->fold.n, m = s->fold.m;
    const double *y = s->y + target * m;
    double top = 0.0;
    if (problem->power == 2.0) /* needs no curve */
        return fenp_curve_minimum(NULL, n, problem->lambda, 2.0, 0.0, &s->roots[target], err);
    for (int64_t i = 0; i < n; i++) top += s->fold.s[i] * s->fold.s[i] * s->diag[i];
    times_folded(s, y, s->kc, s->step);
    s->target = target, s->kept = 0;
    const double energy = dot(s, y, y), reach = dot(s, y, s->step);
    const double noise = (double)n * DBL_EPSILON;
    const fenp_curve curve = { .at = point,
                               .state = s,
                               .log_energy = log(energy),
                               .log_reach =
                                   reach > noise * top * energy ? 0.5 * log(reach) : -INFINITY,
                               .log_top = log(top),
                               .least = log(top) + log(10.0 * sqrt(DBL_EPSILON)) };
    return fenp_curve_minimum(&curve, n, problem->lambda, problem->power, problem->gap,
                              &s->roots[target], err);
}

/* The dual vectors 2 w (y - f - b) = (2/n) c S B v of the nodes of the target just searched. */
static void tangents(const state *s, double *out)
{
    const fenp_root *root = &s->roots[s->target];
    const int64_t n = s->fold.n, m = s->fold.m;
    for (int k = 0; k < root->nodes; k++) {
        const double *v = isinf(root->node[k]) ? s->y + s->target * m : NULL;
        for (int i = 0; !v && i < s->kept; i++)
            if (s->kept_t[i] == root->node[k]) v = s->kept_v + i * m;
        if (!v) continue; /* zeros prove nothing and harm nothing */
        fenp_fold_up(&s->fold, v, out + k * n);
        const double c = isinf(root->node[k]) ? 1.0 : exp(root->node[k]);
        cblas_dscal((int)n, 2.0 * c / (double)n, out + k * n, 1);
    }
}

/* ---- sweeps -------------------------------------------------------------------------------- */

static fen_status find_roots(state *s, fenp_solution *out, fen_error *err)
{
    const int64_t n = s->fold.n, k = s->problem->sample->targets;
    fen_status status = FEN_OK;
    for (int64_t t = 0; status == FEN_OK && t < k; t++) {
        status = find_root(s, t, err);
        if (status == FEN_OK && out->tangents) tangents(s, out->tangents + t * FENP_NODES_MAX * n);
    }
    memset(s->kc, 0, (size_t)(n * k) * sizeof(double));
    s->started = 1;
    return status;
}

/* v += G^-1 (B'S(y - K c) - c v) for targets [from, to) that share c; the first sweep starts
 * from v = 0. */
static fen_status refine(state *s, int64_t from, int64_t to, fen_error *err)
{
    const fenp_sample *sample = s->problem->sample;
    const int64_t n = sample->n, m = s->fold.m;
    const double shift = s->roots[from].c;
    if (isinf(shift)) return FEN_OK;
    const fen_status ready = factor(s, shift, &s->task, err);
    if (ready != FEN_OK) return ready;
    for (int64_t t = from; t < to; t++) {
        double *residual = s->c + t * n, *down = s->step + t * m;
        for (int64_t i = 0; i < n; i++) residual[i] = sample->y[t * n + i] - s->kc[t * n + i];
        fenp_fold_down(&s->fold, residual, down);
        for (int64_t i = 0; i < m; i++) down[i] -= shift * s->v[t * m + i];
    }
    const fen_status status = fenp_cholesky_solve(m, s->a, n, s->step + from * m, to - from, err);
    if (status != FEN_OK) return status;
    for (int64_t i = from * m; i < to * m; i++) s->v[i] += s->step[i];
    return FEN_OK;
}

static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    state *s = work;
    const int64_t n = s->fold.n, m = s->fold.m, k = problem->sample->targets;
    const int together = problem->power == 2.0;
    fen_status status = FEN_OK;
    s->task = fenp_task_part(task, "searching the power's root", 1.0, 1.0);
    if (!s->started) status = find_roots(s, out, err);
    for (int64_t t = 0; status == FEN_OK && t < k; t += together ? k : 1)
        status = refine(s, t, together ? k : t + 1, err);
    if (status != FEN_OK) return status;
    for (int64_t t = 0; t < k; t++) fenp_fold_up(&s->fold, s->v + t * m, s->c + t * n);
    fenp_upper_times(n, s->a, s->diag, s->c, k, s->kc);
    for (int64_t t = 0; t < k; t++)
        fenp_solution_set(problem, t, &s->roots[t], s->c + t * n, s->kc + t * n, out);
    return FEN_OK;
}

const fenp_solver fenp_solver_cholesky = {
    .name = "cholesky",
    .help = "one factorisation of the kernel matrix, n^3/3 flops, 8 n^2 bytes",
    .accepts = accepts,
    .bytes = bytes,
    .flops = flops,
    .begin = begin,
    .sweep = sweep,
};
