/* lanczos.c -- any power of the norm from one Krylov space per target
 *
 *     A = B'SKSB,  y = B'Sy:   (A + cI) v = y,   coefficients S B v,   b = sum w (y - K S B v)
 *
 * Method. The space of A and y (krylov.h) grows until, at the c that its curve gives for
 * (lambda, power), the norm is known to the aim from both sides (Gauss and Gauss-Radau) and
 * the residual of v is below it. One space answers every c; K enters through products only.
 * A sweep ends with the true residual: while that is too large (fewer steps than needed,
 * rounding errors) a space around the residual corrects v, and the true norm corrects c.
 * power < 1. The curve of the space lies below the true one and its tangents, c V (T + c)^-1
 * e1 |y|, hold for the true one: what branch and bound proves needs no converged nodes.
 * Special cases. f = 0 is proved by any space that says so, for the same reason.
 * lanczos32. K in single precision (packed.h) spans the space; the residual comes from the
 * kernel itself in double precision, tile by tile. Its rounded entries cost corrections, not
 * accuracy, as long as c is above 1e-7 sqrt(n) k(x,x).
 * Accuracy. Predictions differ from the exact ones by less than the residual; the gap of the
 * certificate is of the order of its square.
 * Cost. n^2/2 kernel values; one product, 4 n^2 (2 n^2) bytes read, per step: about 60 steps
 * where c/n = 1e-4 k(x,x), 200 at 1e-6, whatever n. lanczos32: n^2 kernel values for each of
 * about three residuals. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "loss/traits.h"
#include "solver/fold.h"
#include "solver/krylov.h"
#include "solver/packed.h"
#include "solver/solver.h"

enum {
    STEPS_MAX = 1000,
    ROUNDS = 4,        /* corrections in one sweep */
    USUAL_STEPS = 150, /* for the planner */
    USUAL_RESIDUALS = 3,
    PRODUCT_FLOPS = 20 /* n^2 multiplications as fast as memory, in flops of a GEMM */
};
static const double FIRST_AIM = 1e-9, NEXT_AIM = 1e-2;
/* Rounded entries leave no more than about this of a residual: not worth more steps. */
static const double SINGLE_AIM = 1e-6, SINGLE_GAIN = 1e-5;

typedef struct state {
    fenp_fold fold;
    double *a;              /* lanczos: n x n, K in the upper triangle                */
    fenp_packed packed;     /* lanczos32: K; at is NULL in lanczos                    */
    double *diag;           /* n: k(x,x)                                              */
    fenp_krylov space;      /* of the current target                                  */
    double *v;              /* m x targets: solutions for |y| = 1                     */
    double *gain;           /* targets: dt/dh at the root; 0: c is not to be moved    */
    fenp_root *roots;       /* targets                                                */
    double *y, *r, *best;   /* m: y/|y| of the current target, residual, a copy of v  */
    double *x;              /* coordinates in the space                               */
    double *c, *kc;         /* n: coefficients of the current target and K times them */
    double *full, *product; /* n: work of the operator                                */
    double trace;           /* of SKS: no eigenvalue is larger                        */
    double aim;             /* residual and error of log N, relative to |y| and 1     */
    int sweeps;
    const fenp_problem *problem;
} state;

static int accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    (void)kernel, (void)size;
    return fenp_is_square(loss);
}

static int64_t steps_most(int64_t n) { return n < STEPS_MAX ? n : STEPS_MAX; }

/* Everything but K. */
static int64_t other_bytes(const fenp_size *size)
{
    const int64_t n = size->n, space = fenp_krylov_bytes(n, steps_most(n));
    if (space < 0 || fenp_bytes(n, size->targets, sizeof(double)) < 0) return -1;
    return space + fenp_arena_bytes(fenp_fold_doubles(n, size->bias)) +
           fenp_arena_bytes(n * size->targets) + fenp_arena_bytes(size->targets) +
           fenp_roots_bytes(size->targets) + fenp_arena_bytes(steps_most(n)) +
           8 * fenp_arena_bytes(n) + (int64_t)sizeof(state) + 64;
}

static int64_t bytes(const fenp_size *size)
{
    const int64_t matrix = fenp_bytes(size->n, size->n, sizeof(double)), other = other_bytes(size);
    return matrix < 0 || other < 0 ? -1 : other + fenp_arena_bytes(size->n * size->n);
}

static int64_t bytes_single(const fenp_size *size)
{
    const int64_t matrix = fenp_packed_bytes(size->n), other = other_bytes(size);
    return matrix < 0 || other < 0 ? -1 : other + matrix;
}

static double flops(const fenp_size *size)
{
    const double n = (double)size->n, products = (double)size->targets * USUAL_STEPS;
    return n * n * ((double)size->p + 60.0 + products * PRODUCT_FLOPS);
}

static double flops_single(const fenp_size *size)
{
    const double n = (double)size->n, residuals = 2.0 * (double)size->targets * USUAL_RESIDUALS;
    return 0.5 * flops(size) + n * n * residuals * ((double)size->p + 60.0);
}

/* Room for everything but K. */
static state *new_state(fenp_arena *arena, const fenp_problem *problem)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, targets = sample->targets;
    state *s = (state *)fenp_arena_doubles(arena, (int64_t)(sizeof *s + 7) / 8);
    *s = (state){ .problem = problem };
    s->fold = fenp_fold_make(sample->w, n, problem->bias,
                             fenp_arena_doubles(arena, fenp_fold_doubles(n, problem->bias)));
    s->v = fenp_arena_doubles(arena, n * targets);
    s->gain = fenp_arena_doubles(arena, targets);
    s->roots = fenp_roots_new(arena, targets);
    s->x = fenp_arena_doubles(arena, steps_most(n));
    double **vectors[] = { &s->diag, &s->y, &s->r, &s->best, &s->c, &s->kc, &s->full, &s->product };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = fenp_arena_doubles(arena, n);
    return s;
}

/* The diagonal of K, and a space that knows the scale of rounding errors; rounding: of one
 * entry, relative. Rounding errors of n^2 entries have a norm of sqrt(n) times one. */
static double open_space(fenp_arena *arena, state *s, double rounding)
{
    const fenp_problem *q = s->problem;
    const int64_t n = s->fold.n, m = s->fold.m;
    double largest = 0.0, unit = 0.0;
    fenp_gram_diagonal(&q->kernel, fenp_sample_inputs(q->sample), s->diag);
    for (int64_t i = 0; i < n; i++) {
        const double value = s->fold.s[i] * s->fold.s[i] * s->diag[i];
        s->trace += value;
        largest = fmax(largest, value);
        unit = fmax(unit, s->diag[i]);
    }
    const double error = rounding * sqrt((double)n) * largest;
    s->space = fenp_krylov_new(arena, m, steps_most(m), largest, error);
    return unit > 0.0 ? unit : 1.0;
}

static fen_status begin(fenp_arena *arena, const fenp_problem *problem, void **out,
                        const fenp_task *task, fen_error *err)
{
    state *s = *out = new_state(arena, problem);
    s->a = fenp_arena_doubles(arena, s->fold.n * s->fold.n);
    open_space(arena, s, 0.0);
    const fenp_task gram = fenp_task_part(task, "kernel matrix", 0.0, 0.2);
    return fenp_gram_upper(&problem->kernel, fenp_sample_inputs(problem->sample), s->a, &gram, err);
}

static fen_status begin_single(fenp_arena *arena, const fenp_problem *problem, void **out,
                               const fenp_task *task, fen_error *err)
{
    state *s = *out = new_state(arena, problem);
    const double unit = open_space(arena, s, 0.5 * FLT_EPSILON);
    s->packed = fenp_packed_new(arena, s->fold.n, unit);
    const fenp_task gram = fenp_task_part(task, "kernel matrix", 0.0, 0.2);
    return fenp_gram_packed(&problem->kernel, fenp_sample_inputs(problem->sample), unit,
                            s->packed.at, &gram, err);
}

/* ---- products ----------------------------------------------------------------------------- */

static fen_status operator(void *work, const double *x, double *out, fen_error *err)
{
    state *s = work;
    (void)err;
    fenp_fold_up(&s->fold, x, s->full);
    if (s->packed.at)
        fenp_packed_times(&s->packed, s->full, s->product);
    else
        fenp_upper_times(s->fold.n, s->a, s->diag, s->full, 1, s->product);
    fenp_fold_down(&s->fold, s->product, out);
    return FEN_OK;
}

/* c and K c of v, its residual y - A v - shift v in r, and A v in full. */
static fen_status true_residual(state *s, const double *v, double shift, fen_error *err)
{
    const fenp_problem *q = s->problem;
    const fen_view rows = fenp_sample_inputs(q->sample);
    fen_status status = FEN_OK;
    fenp_fold_up(&s->fold, v, s->c);
    if (s->packed.at)
        status = fenp_gram_times(&q->kernel, rows, rows, s->c, 1, s->kc, NULL, err);
    else
        fenp_upper_times(s->fold.n, s->a, s->diag, s->c, 1, s->kc);
    memcpy(s->product, s->kc, (size_t)s->fold.n * sizeof(double));
    fenp_fold_down(&s->fold, s->product, s->full);
    for (int64_t i = 0; i < s->fold.m; i++) s->r[i] = s->y[i] - s->full[i] - shift * v[i];
    return status;
}

/* ---- the space of y --------------------------------------------------------------------- */

/* Steps until the residual at e^t is below goal, but no more than up to limit and, so that
 * looking at T stays cheap, no fewer than STRIDE. */
static fen_status grow(state *s, double t, double goal, int64_t limit, const fenp_task *task,
                       fen_error *err)
{
    enum { STRIDE = 4 };
    const int64_t least = s->space.steps + STRIDE;
    fen_status status = FEN_OK;
    double residual = 1.0;
    while (status == FEN_OK && s->space.steps < limit && fenp_krylov_open(&s->space) &&
           (residual > goal || s->space.steps < least)) {
        status = fenp_krylov_step(&s->space, operator, s, err);
        if (status != FEN_OK) break;
        residual = fenp_krylov_solve(&s->space, t, s->x);
        const double done = log(fmax(residual, goal)) / log(goal);
        status = fenp_task_at(task, fmin(fmax(done, 0.0), 1.0), err);
    }
    return status;
}

/* What the space of y is good for. */
static double space_aim(const state *s) { return s->packed.at ? SINGLE_AIM : s->aim; }

/* How far t is above its equation where the norm is e^log_norm. */
static double excess(const state *s, double t, double log_norm)
{
    const fenp_problem *q = s->problem;
    return t + (2.0 - q->power) * log_norm - log(0.5 * q->power * (double)s->fold.n) -
           log(q->lambda);
}

/* The root on the curve of the space, how far to step on, and whether the norm there is known
 * to the aim. */
static fen_status look(state *s, double size, fenp_root *root, double *gain, int *known,
                       fen_error *err)
{
    const fenp_problem *q = s->problem;
    fenp_curve curve = { 0 };
    fenp_point p;
    fen_status status = FEN_OK;
    if (q->power != 2.0) status = fenp_krylov_curve(&s->space, &curve, err);
    if (status == FEN_OK)
        status = fenp_curve_minimum(&curve, s->fold.n, q->lambda, q->power, q->gap, root, err);
    if (status == FEN_OK && q->power != 2.0)
        status = fenp_rise_above_rounding(&curve, fenp_measure_untouched(&s->space.measure),
                                          s->fold.n, q->lambda, q->power, root, err);
    *gain = 0.0;
    *known = 1;
    if (status != FEN_OK || q->power == 2.0 || isinf(root->t)) return status;
    status = curve.at(curve.state, root->t, &p, err);
    const double slope = 1.0 + (2.0 - q->power) * p.slope;
    const double over = excess(s, root->t, p.log_norm);
    if (slope > 0.0 && fabs(over) < 1e-6) *gain = 1.0 / slope; /* else c is held at the least */
    double below, above;
    fenp_krylov_bounds(&s->space, root->t, &below, &above);
    const double width = (below + above) / exp(root->t + 2.0 * (p.log_norm - log(size)));
    /* without bounds, which rounding errors may take, corrections have the last word */
    *known =
        isinf(above) || !(fabs(2.0 - q->power) * 0.5 * width > space_aim(s) * fmax(slope, 1e-3));
    return status;
}

/* The dual vectors 2 w (y - f - b) of the space's solutions at the nodes. */
static void tangents(state *s, const fenp_root *root, double size, double *out)
{
    /* low enough to stand for c = 0, where T + cI would be singular */
    const double end = log(s->space.top) + log(0.1 * (double)s->fold.n * DBL_EPSILON);
    for (int k = 0; k < root->nodes; k++) {
        fenp_krylov_solve(&s->space, fmax(root->node[k], end), s->x);
        fenp_krylov_lift(&s->space, 2.0 / (double)s->fold.n * size, s->x, s->r);
        fenp_fold_up(&s->fold, s->r, out + k * s->fold.n);
    }
}

/* The space, root and solution of one target; size: |y|. */
static fen_status explore(state *s, int64_t target, double size, fenp_solution *out,
                          const fenp_task *task, fen_error *err)
{
    fenp_root *root = &s->roots[target];
    fen_status status = FEN_OK;
    int64_t due = 1;
    int done = 0;
    root->t = INFINITY;
    while (status == FEN_OK && !done) {
        int known;
        status = grow(s, root->t, space_aim(s), due, task, err);
        if (status == FEN_OK) status = look(s, size, root, &s->gain[target], &known, err);
        if (status != FEN_OK) return status;
        const int64_t steps = s->space.steps;
        done = !fenp_krylov_open(&s->space) || isinf(root->t) ||
               (known && fenp_krylov_solve(&s->space, root->t, s->x) <= space_aim(s));
        due = s->problem->power == 2.0 ? STEPS_MAX : steps + (steps > 16 ? steps / 4 : 4);
    }
    if (out->tangents) tangents(s, root, size, out->tangents + target * FENP_NODES_MAX * s->fold.n);
    fenp_krylov_solve(&s->space, root->t, s->x);
    fenp_krylov_lift(&s->space, exp(-root->t), s->x, s->v + target * s->fold.m);
    return status;
}

/* ---- corrections with the true residual ---------------------------------------------------- */

/* How far log c is from its equation at the true norm of v; rounding errors count as nothing. */
static double root_error(const state *s, int64_t target, const double *v, double size)
{
    const int m = (int)s->fold.m;
    if (s->gain[target] == 0.0) return 0.0;
    const double square = cblas_ddot(m, v, 1, s->full, 1), length = cblas_ddot(m, v, 1, v, 1);
    const double noise = DBL_EPSILON * s->trace * length / square;
    if (!(noise < 0.1)) return 0.0;
    const double over = excess(s, s->roots[target].t, 0.5 * log(square) + log(size));
    return fabs(over) > fmax(noise, s->aim) ? over : 0.0;
}

/* c a Newton step on, then v by the space of its residual. */
static fen_status correct(state *s, int64_t target, double over, double floor,
                          const fenp_task *task, fen_error *err)
{
    fenp_root *root = &s->roots[target];
    double *v = s->v + target * s->fold.m;
    if (over != 0.0) {
        const double before = root->c;
        root->t -= fmin(fmax(over * s->gain[target], -1.0), 1.0);
        root->c = exp(root->t);
        root->lambda2 = exp(root->t - log((double)s->fold.n));
        for (int64_t i = 0; i < s->fold.m; i++) s->r[i] -= (root->c - before) * v[i];
    }
    fenp_krylov_start(&s->space, s->r);
    const double all = 0.1 * fmax(s->aim, floor) / s->space.norm;
    const double goal = s->packed.at ? fmax(all, SINGLE_GAIN) : all;
    const fen_status status = grow(s, root->t, goal, STEPS_MAX, task, err);
    if (status != FEN_OK) return status;
    fenp_krylov_solve(&s->space, root->t, s->x);
    fenp_krylov_lift(&s->space, s->space.norm * exp(-root->t), s->x, s->r);
    for (int64_t i = 0; i < s->fold.m; i++) v[i] += s->r[i];
    return FEN_OK;
}

/* Corrects while that helps; leaves c and K c of the best v. The error of c shows only once
 * the residual is small: it may grow while the residual falls. */
static fen_status refine(state *s, int64_t target, double size, const fenp_task *task,
                         fen_error *err)
{
    const int m = (int)s->fold.m;
    fenp_root *root = &s->roots[target], kept = *root;
    double *v = s->v + target * m, residual_before = INFINITY, over_before = INFINITY;
    for (int round = 0;; round++) {
        fen_status status = true_residual(s, v, root->c, err);
        if (status != FEN_OK) return status;
        const double floor = DBL_EPSILON * s->trace * cblas_dnrm2(m, v, 1);
        const double residual = cblas_dnrm2(m, s->r, 1), over = root_error(s, target, v, size);
        const int better = residual < 0.1 * residual_before || fabs(over) < 0.1 * over_before;
        if (!better && !(fmax(residual, fabs(over)) < fmax(residual_before, over_before))) {
            *root = kept; /* entries too coarse for so small a c */
            memcpy(v, s->best, (size_t)m * sizeof(double));
            return true_residual(s, v, root->c, err);
        }
        if ((residual <= fmax(s->aim, floor) && over == 0.0) || !better || round == ROUNDS)
            return FEN_OK;
        residual_before = residual, over_before = fabs(over);
        kept = *root;
        memcpy(s->best, v, (size_t)m * sizeof(double));
        const fenp_task part = fenp_task_part(task, "corrections", (double)round / ROUNDS,
                                              (double)(round + 1) / ROUNDS);
        status = correct(s, target, over, floor, &part, err);
        if (status != FEN_OK) return status;
    }
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static fen_status improve(state *s, int64_t target, fenp_solution *out, const fenp_task *task,
                          fen_error *err)
{
    const int64_t n = s->fold.n, m = s->fold.m;
    memcpy(s->full, s->problem->sample->y + target * n, (size_t)n * sizeof(double));
    fenp_fold_down(&s->fold, s->full, s->y);
    const double size = cblas_dnrm2((int)m, s->y, 1);
    fen_status status = FEN_OK;
    if (s->sweeps == 0) {
        fenp_krylov_start(&s->space, s->y);
        const fenp_task steps = fenp_task_part(task, "Lanczos steps", 0.0, 0.7);
        status = explore(s, target, size, out, &steps, err);
    }
    const fenp_root *root = &s->roots[target];
    const fenp_task corrections = fenp_task_part(task, "corrections", 0.7, 1.0);
    for (int64_t i = 0; size > 0.0 && i < m; i++) s->y[i] /= size;
    memset(s->c, 0, (size_t)n * sizeof(double));
    memset(s->kc, 0, (size_t)n * sizeof(double));
    if (status == FEN_OK && isfinite(root->c) && size > 0.0)
        status = refine(s, target, size, &corrections, err);
    if (status != FEN_OK) return status;
    for (int64_t i = 0; i < n; i++) s->c[i] *= size, s->kc[i] *= size;
    fenp_solution_set(s->problem, target, root, s->c, s->kc, out);
    return FEN_OK;
}

static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    state *s = work;
    const int64_t targets = problem->sample->targets;
    fen_status status = FEN_OK;
    s->problem = problem;
    s->aim = s->sweeps == 0 ? FIRST_AIM : NEXT_AIM * s->aim;
    for (int64_t t = 0; status == FEN_OK && t < targets; t++) {
        const double share = 0.8 / (double)targets, from = 0.2 + share * (double)t;
        const fenp_task part = fenp_task_part(task, "Lanczos steps", from, from + share);
        status = improve(s, t, out, &part, err);
    }
    s->sweeps++;
    return status;
}

const fenp_solver fenp_solver_lanczos = {
    .name = "lanczos",
    .help = "products with the kernel matrix only, for lambda that is not tiny; 8 n^2 bytes",
    .accepts = accepts,
    .bytes = bytes,
    .flops = flops,
    .begin = begin,
    .sweep = sweep,
};

const fenp_solver fenp_solver_lanczos32 = {
    .name = "lanczos32",
    .help = "as lanczos, kernel matrix in single precision, answer in double; 2 n^2 bytes",
    .accepts = accepts,
    .bytes = bytes_single,
    .flops = flops_single,
    .begin = begin_single,
    .sweep = sweep,
};
