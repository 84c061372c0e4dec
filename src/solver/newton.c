/* newton.c -- smooth losses: Newton's method in function space, one weighted ridge a step
 *
 *     P = sum w_i v_i(t_i) + lambda c'Kc,   t = Kc + b,   s_i = w_i v_i'(t_i),  d_i = w_i v_i''(t_i)
 *     optimal:     2 lambda c = -s  and, with a bias, sum c = 0
 *     linearised:  2 lambda dc + D (K dc + db) = 2 lambda r,   r = -s/(2 lambda) - c
 *
 * Method. Rows where d is 0 (I: behind the margin, on a linear piece, saturated) have
 *     dc_I = r_I
 * at once, and K_AI r_I goes into the equations of the others (A). With a bias, o_A =
 * -(sum r_I) d_A / sum d balances r_I; the fold does not see multiples of d. The rest is
 *     (B'S K_AA S B + 2 lambda |A| I) v = B'S (2 lambda r_A/d_A - (K dc')_A),  dc' = (o_A, r_I)
 *     dc_A = o_A + S B v,   S = sqrt(|A| d),
 * the ridge problem of fold.h with |A| rows, weights d and penalty 2 lambda. A search along the
 * line (smooth.h), on which t is linear, makes P decrease.
 *   Cold starts come down from a lambda at which K hardly matters, by tens: one Newton step or
 * a few each; without that hinge-like losses at small lambda change their mind about A row by
 * row. Steps that had to be cut short raise a floor below the curvatures (damping: rows on a
 * linear piece may then not run away), full ones lower it.
 *   The factor is kept as long as d and lambda stay: then a step costs n^2.
 * The dual vector is u = 2 lambda c, cut into the domain for the gap.
 * Special cases. A empty with a bias: the best b first, then r sums to 0. Rounding errors that
 * break the factorisation (K singular, lambda tiny) raise the shift: lambda for the step
 * alone, which makes it shorter, not wrong.
 * Accuracy. Each step starts from the true residual r: relative gaps of 1e-12 are reached
 * where rounding errors in K c allow it.
 * Cost. |A|^3/3 + 8 n^2 flops a step; 1 step for the square loss, 3 to 10 at ordinary lambda, up
 * to 50 where lambda is 1e-8 k(x,x); 16 n^2 bytes. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/linalg.h"
#include "solver/fold.h"
#include "solver/smooth.h"

enum { VECTORS = 14, STEPS = 100 };

typedef struct state {
    int64_t n;
    int bias;
    double *k, *diag, unit;     /* n x n: K in the upper triangle; k(x,x) and their mean      */
    double *a, *a_diag;         /* |A| x |A|: K_AA above, the factor below; k(x,x) of A       */
    double *y, *c, *kc, *slope; /* labels; the iterate                                        */
    double *d, *r, *dc, *kdc;   /* curvatures, residual, step                                 */
    double *u, *full;           /* n each: work                                               */
    double *work, *store;       /* 2n each: of the fold                                       */
    double *factored;           /* n: d of the factor that stands in a                        */
    int64_t *active, count;     /* A                                                          */
    double lambda, shift;       /* of the factor, 0: there is none; 2 lambda, perhaps raised  */
    fenp_fold fold;
    fenp_smooth q;
    double b;
    int fresh; /* kc is K c; else it has been added to                       */
} state;

static int accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    (void)kernel, (void)size;
    return loss->curvature != NULL;
}

static int64_t bytes(const fenp_size *size)
{
    const int64_t n = size->n;
    if (fenp_bytes(n, n, 2 * sizeof(double)) < 0) return -1;
    return 2 * fenp_arena_bytes(n * n) + VECTORS * fenp_arena_bytes(n) +
           2 * fenp_arena_bytes(2 * n) + (int64_t)sizeof(state) + 64;
}

static double flops(const fenp_size *size)
{
    const double n = (double)size->n;
    return (double)size->targets * 10.0 * (n * n * n / 3.0 + 8.0 * n * n) +
           n * n * (double)(size->p + 60);
}

static fen_status begin(fenp_arena *arena, const fenp_problem *problem, void **out,
                        const fenp_task *task, fen_error *err)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n;
    state *s = (state *)fenp_arena_doubles(arena, (int64_t)(sizeof *s + 7) / 8);
    double **vectors[] = { &s->diag, &s->a_diag, &s->y,   &s->c, &s->kc,   &s->slope,   &s->d,
                           &s->r,    &s->dc,     &s->kdc, &s->u, &s->full, &s->factored };
    s->n = n, s->bias = problem->bias;
    s->k = fenp_arena_doubles(arena, n * n);
    s->a = fenp_arena_doubles(arena, n * n);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = fenp_arena_doubles(arena, n);
    s->active = (int64_t *)fenp_arena_doubles(arena, n);
    s->work = fenp_arena_doubles(arena, 2 * n);
    s->store = fenp_arena_doubles(arena, 2 * n);
    s->shift = s->lambda = s->unit = 0.0;
    *out = s;
    const fenp_task gram = fenp_task_part(task, "kernel matrix", 0.0, 1.0);
    const fen_status status =
        fenp_gram_upper(&problem->kernel, fenp_sample_inputs(sample), s->k, &gram, err);
    for (int64_t i = 0; status == FEN_OK && i < n; i++) {
        s->diag[i] = s->k[i + i * n];
        s->unit += s->diag[i] / (double)n;
    }
    return status;
}

static void times(const state *s, const double *x, double *product)
{
    fenp_upper_times(s->n, s->k, s->diag, x, 1, product);
}

static double dot(const state *s, const double *x, const double *z)
{
    return cblas_ddot((int)s->n, x, 1, z, 1);
}

/* ---- one step ----------------------------------------------------------------------------- */

/* The upper triangle of a becomes K_AA. */
static void gather(state *s)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (s->d[i] > 0.0) s->active[count++] = i;
    s->count = count;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t j = 0; j < count; j++) {
        const double *from = s->k + s->active[j] * s->n;
        for (int64_t i = 0; i < j; i++) s->a[i + j * count] = from[s->active[i]];
        s->a_diag[j] = s->diag[s->active[j]];
    }
}

/* The factor for d and lambda, unless it stands there already. */
static fen_status factorise(state *s, const fenp_task *task, fen_error *err)
{
    const int64_t n = s->n;
    const size_t size = (size_t)n * sizeof(double);
    if (s->lambda == s->q.lambda && memcmp(s->d, s->factored, size) == 0) return FEN_OK;
    s->lambda = 0.0;
    gather(s);
    double trace = 0.0;
    for (int64_t i = 0; i < s->count; i++) {
        s->full[i] = s->d[s->active[i]];
        trace += s->full[i] * s->a_diag[i];
    }
    if (s->count > 0) s->fold = fenp_fold_make(s->full, s->count, s->bias, s->store);
    s->shift = 2.0 * s->q.lambda;
    for (int64_t rank = -1; s->count > 0 && rank < s->fold.m;) {
        if (rank >= 0) s->shift = fmax(10.0 * s->shift, 10.0 * DBL_EPSILON * trace);
        if (!(s->shift <= 100.0 * (trace + s->q.lambda)))
            return fenp_fail(err, FEN_BAD_DATA,
                             "the kernel matrix is not positive semidefinite, or not finite: "
                             "check it, or add a constant to its diagonal");
        fenp_fold_matrix(&s->fold, s->a, s->a_diag, (double)s->count * s->shift, s->work);
        const fen_status status = fenp_cholesky(s->fold.m, s->a, s->count, &rank, task, err);
        if (status != FEN_OK) return status;
    }
    memcpy(s->factored, s->d, size);
    s->lambda = s->q.lambda;
    return FEN_OK;
}

/* dc = (o_A, r_I), r_I shortened where the shift had to be raised */
static void inactive_step(state *s)
{
    const double shorter = 2.0 * s->q.lambda / s->shift;
    long double sum = 0.0L, all = 0.0L;
    for (int64_t i = 0; i < s->n; i++) {
        s->dc[i] = s->d[i] > 0.0 ? 0.0 : shorter * s->r[i];
        sum += s->dc[i], all += s->d[i];
    }
    for (int64_t i = 0; i < s->n && s->bias; i++)
        if (s->d[i] > 0.0) s->dc[i] = -(double)(sum * s->d[i] / all);
}

/* dc, K dc and db */
static fen_status newton_step(state *s, double *db, const fenp_task *task, fen_error *err)
{
    const double lambda2 = 2.0 * s->q.lambda;
    fen_status status = factorise(s, task, err);
    if (status != FEN_OK) return status;
    inactive_step(s);
    times(s, s->dc, s->kdc);
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t row = s->active[i];
        s->full[i] = lambda2 * s->r[row] / s->d[row] - s->kdc[row];
    }
    if (s->count > 0) {
        fenp_fold_down(&s->fold, s->full, s->work);
        status = fenp_cholesky_solve(s->fold.m, s->a, s->count, s->work, 1, err);
        fenp_fold_up(&s->fold, s->work, s->full);
    }
    for (int64_t i = 0; i < s->count; i++) s->dc[s->active[i]] += s->full[i];
    times(s, s->dc, s->kdc);
    long double left = 0.0L, all = 0.0L;
    for (int64_t i = 0; i < s->n; i++) {
        if (s->d[i] == 0.0) continue;
        left += lambda2 * s->r[i] - s->shift * s->dc[i] - s->d[i] * s->kdc[i];
        all += s->d[i];
    }
    *db = s->bias && all > 0.0L ? (double)(left / all) : 0.0;
    return status;
}

/* ---- the iterate -------------------------------------------------------------------------- */

static double primal(const state *s)
{
    return fenp_smooth_loss(&s->q, s->kc, s->b) + s->q.lambda * fmax(dot(s, s->c, s->kc), 0.0);
}

/* The relative gap that u = 2 lambda c proves: where u had to be moved to be feasible,
 * lambda ||f - g / (2 lambda)||^2 comes on top. */
static double relative_gap(state *s)
{
    const fenp_smooth *q = &s->q;
    const double lambda2 = 2.0 * q->lambda;
    for (int64_t i = 0; i < s->n; i++) s->u[i] = lambda2 * s->c[i];
    const int moved = fenp_smooth_feasible(q, s->u);
    double gap = fenp_smooth_mismatch(q, s->kc, s->b, s->u);
    if (moved) {
        for (int64_t i = 0; i < s->n; i++) s->r[i] = s->c[i] - s->u[i] / lambda2;
        times(s, s->r, s->kdc);
        gap += q->lambda * fmax(dot(s, s->r, s->kdc), 0.0);
    }
    return gap / fenp_smooth_unit(q, primal(s));
}

/* A gap that is small enough is looked at again with K c as it is. */
static double sure_gap(state *s, double target)
{
    const double gap = relative_gap(s);
    if (gap > target || s->fresh) return gap;
    times(s, s->c, s->kc);
    s->fresh = 1;
    return relative_gap(s);
}

/* c from u, and of its multiples down to 0 one with a small P: a dual vector from another
 * lambda is too large or too small for this one. Returns whether there was one. */
static int start(state *s, const double *u)
{
    const fenp_smooth *q = &s->q;
    const size_t size = (size_t)s->n * sizeof(double);
    s->b = q->constant, s->fresh = 1;
    memcpy(s->u, u, size);
    fenp_smooth_feasible(q, s->u);
    for (int64_t i = 0; i < s->n; i++) s->c[i] = s->u[i] / (2.0 * q->lambda);
    memset(s->kc, 0, size);
    if (cblas_dasum((int)s->n, s->c, 1) == 0.0) return 0;
    times(s, s->c, s->kdc);
    fenp_smooth_slopes(q, s->kc, s->b, s->slope);
    const double db = fenp_smooth_offset(q, s->kdc, s->b) - s->b;
    long double rise = 0.0L;
    for (int64_t i = 0; i < s->n; i++) rise += s->slope[i] * (s->kdc[i] + db);
    const fenp_ray ray = { .f = s->kc,
                           .df = s->kdc,
                           .b = s->b,
                           .db = db,
                           .square = fmax(dot(s, s->c, s->kdc), 0.0),
                           .descent = -(double)rise };
    const double part = fenp_smooth_search(q, &ray);
    for (int64_t i = 0; i < s->n; i++) s->c[i] *= part, s->kc[i] = part * s->kdc[i];
    s->b += part * db;
    return part > 0.0;
}

/* Rounding errors of lambda c'Kc, where K c is small and c is not. */
static double fuzz(const state *s)
{
    const double size = cblas_dasum((int)s->n, s->c, 1) + cblas_dasum((int)s->n, s->dc, 1);
    return 10.0 * DBL_EPSILON * s->q.lambda * s->unit * size * size / (double)s->n;
}

/* Goes along a step as far as pays; returns how far. descent: -dP at its beginning, by
 * 2 lambda r = shift dc + D (K dc + db) a sum of squares. */
static double move(state *s, double db, double *descent)
{
    const fenp_smooth *q = &s->q;
    const double square = fmax(dot(s, s->dc, s->kdc), 0.0);
    *descent = s->shift * square;
    for (int64_t i = 0; i < s->n; i++) *descent += s->d[i] * (s->kdc[i] + db) * (s->kdc[i] + db);
    const fenp_ray ray = { .f = s->kc,
                           .df = s->kdc,
                           .b = s->b,
                           .db = db,
                           .cross = dot(s, s->c, s->kdc),
                           .square = square,
                           .descent = *descent,
                           .fuzz = fuzz(s) };
    const double part = fenp_smooth_search(q, &ray);
    const int exact = part == 1.0 && s->shift == 2.0 * q->lambda;
    for (int64_t i = 0; i < s->n; i++) {
        s->c[i] += part * s->dc[i];
        s->kc[i] += part * s->kdc[i];
        if (exact && s->d[i] == 0.0) s->c[i] = -s->slope[i] / (2.0 * q->lambda);
    }
    s->b += part * db;
    s->fresh = 0;
    return part;
}

/* ---- steps -------------------------------------------------------------------------------- */

/* How boldly to go on. */
typedef struct pace {
    double level;   /* lambda of the steps                                              */
    double damping; /* floor below the curvatures, in units of the largest possible one */
    double went;    /* part of the last step that was taken                             */
    double descent; /* of the last step, relative to P                                  */
} pace;

static fen_status one_step(state *s, pace *p, const fenp_task *task, fen_error *err)
{
    const fenp_smooth *q = &s->q;
    const double least = p->damping * q->loss->smoothness, before = primal(s);
    double db, descent;
    if (fenp_smooth_curvatures(q, s->kc, s->b, least, s->d) == 0) {
        s->b = fenp_smooth_offset(q, s->kc, s->b);
        fenp_smooth_curvatures(q, s->kc, s->b, least, s->d);
    }
    fenp_smooth_slopes(q, s->kc, s->b, s->slope);
    for (int64_t i = 0; i < s->n; i++) s->r[i] = -s->slope[i] / (2.0 * q->lambda) - s->c[i];
    const fen_status status = newton_step(s, &db, task, err);
    if (status != FEN_OK) return status;
    p->went = move(s, db, &descent);
    p->descent = descent / before;
    if (p->went >= 0.5)
        p->damping = p->damping > 1e-4 ? 0.1 * p->damping : 0.0;
    else if (p->went < 0.25)
        p->damping = fmin(fmax(10.0 * p->damping, 0.01), 1.0);
    return FEN_OK;
}

/* Down to a relative gap of target, or until three steps that promise nothing have not halved
 * the gap: then rounding errors are all there is. */
static fen_status steps(state *s, int warm, double target, double *gap, const fenp_task *task,
                        fen_error *err)
{
    const double lambda = s->q.lambda, top = fmax(0.01 * s->q.loss->smoothness * s->unit, lambda);
    pace p = { .level = warm ? lambda : top };
    double best = INFINITY;
    fen_status status = FEN_OK;
    for (int step = 0, idle = 0; step < STEPS && status == FEN_OK; step++) {
        s->q.lambda = p.level;
        if (p.level == lambda) {
            *gap = sure_gap(s, target);
            if (*gap < 0.5 * best)
                best = *gap, idle = 0;
            else
                idle += p.descent <= 1e-13 || p.went == 0.0;
            if (*gap <= target || idle == 3) break;
        }
        const double done = isfinite(best) ? fmin(fmax(log(best) / log(target), 0.0), 1.0) : 0.0;
        const fenp_task part = fenp_task_part(task, "Newton steps", done, done);
        status = fenp_task_at(&part, 0.0, err);
        if (status == FEN_OK) status = one_step(s, &p, &part, err);
        if (p.descent < 0.3 && (p.went >= 0.5 || p.went == 0.0))
            p.level = fmax(0.1 * p.level, lambda);
        else if (warm && step == 0 && p.went < 0.25)
            p.level = top;
    }
    s->q.lambda = lambda;
    return status;
}

static void leave(state *s, const fenp_problem *problem, double gap, fenp_solution *out)
{
    const int64_t n = s->n, p = problem->sample->p;
    for (int64_t i = 0; i < n; i++) out->dual[i] = 2.0 * problem->lambda * s->c[i];
    out->scale[0] = 1.0 / (2.0 * problem->lambda);
    out->offset[0] = s->b + s->q.base;
    if (out->scores) memcpy(out->scores, s->kc, (size_t)n * sizeof(double));
    if (out->gap) out->gap[0] = gap;
    if (out->weights)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)p, 1.0, problem->sample->x, (int)p,
                    s->c, 1, 0.0, out->weights, 1);
}

static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    state *s = work;
    double gap = INFINITY;
    fen_status status = FEN_OK;
    s->q = fenp_smooth_of(problem, s->y, s->kc);
    if (s->q.trivial) {
        memset(out->dual, 0, (size_t)s->n * sizeof(double));
        start(s, out->dual);
        gap = 0.0;
    } else
        status = steps(s, start(s, out->dual), problem->gap, &gap, task, err);
    if (gap > problem->gap) { /* an end before the end */
        s->b = fenp_smooth_offset(&s->q, s->kc, s->b);
        gap = relative_gap(s);
    }
    leave(s, problem, gap, out);
    return status;
}

const fenp_solver fenp_solver_newton = {
    .name = "newton",
    .help = "smooth losses: Newton's method, n^3/3 flops a step, 16 n^2 bytes",
    .iterative = 1,
    .accepts = accepts,
    .bytes = bytes,
    .flops = flops,
    .begin = begin,
    .sweep = sweep,
};
