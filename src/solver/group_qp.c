/* group_qp.c -- see group_qp.h
 *
 * Method. Blocks and Newton in turn. A block is solved exactly with the others held: with
 * H_gg = V D V' (made once) and a = V'(H_gg b_g - g_g), the optimum is 0 if |a| <= l, else
 *
 *     V (a r / (D r + l)),    r the root of  psi(r) = 1 / |a / (D r + l)| - 1.
 *
 * psi rises and is concave (a power mean of order -2 of functions linear in r): Newton's
 * iterates come from the left after one step, whatever the start. Sweeps over all blocks decide
 * who is not 0; they go on as long as that changes or the violation falls fast. Then those move
 * together (group_newton.h), and blocks decide anew. Both lower the objective: no circles.
 * Special cases. A block of one is a soft threshold. Free blocks take the least-norm step.
 * Eigenvalues below 4 m eps of the largest are rounding errors: they count as that much
 * (penalised) or as 0 (free); penalised blocks whose H_gg is 0 are 0.
 * Accuracy. g is made from the start of the call, g0 + H (b - b0): violations get down to the
 * rounding errors of H b. There the b of least violation is handed over.
 * Cost. A sweep 2 k |A| flops, a step of Newton |A|^3 / 3 (A: not 0); memory k^2 + sum_g m_g^2. */
#include "solver/group_qp.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "base/threads.h"
#include "solver/group_newton.h"

enum { SWEEPS = 10 };      /* between two Newton steps while the active groups change */
enum { ROOT_STEPS = 100 }; /* never reached: 5 to 10 are usual */
enum { CUTS = 50 };        /* Newton steps in a row, each cut short */
/* Rounds without a violation half as large. As long as groups leave, it stays near l: up to 140
 * rounds were seen where l is 1e-7 of c and coefficients are more than rows. */
enum { PATIENCE = 300 };
enum { NEAR_PATIENCE = 3 };
static const double near_end = 1e-11, near_noise = 1e-13; /* of the scale; of |H| |b| */
static const double fast = 0.25; /* sweeps that reduce the violation so are worth another */

typedef struct work {
    const fenp_group_qp *q;
    double *vectors, *values; /* of H_gg: m x m at square[g], m at start[g]             */
    int64_t *square, *known;  /* groups                                                 */
    double *eigen;            /* LAPACK's                                               */
    double *b0, *g0, *best;   /* k: at the start; of least violation                    */
    fenp_group_newton newton; /* whose step and packed the blocks use as well           */
    double scale;             /* of c and l                                             */
    double violation, least;  /* now; the least seen                                    */
    int stale;                /* rounds since it was halved                             */
} work;

/* ---- one group ------------------------------------------------------------------------------ */

static double violation_of(const fenp_group_qp *q, int64_t g)
{
    const int64_t m = fenp_group_members(q, g);
    const double *b = q->b + q->start[g], *slope = q->g + q->start[g], l = q->l[g];
    const double r = l > 0.0 ? fenp_group_norm(m, b) : 0.0;
    if (r == 0.0) {
        const double beyond = fenp_group_norm(m, slope) - l;
        return beyond < 0.0 ? 0.0 : beyond;
    }
    double most = 0.0, sum = 0.0; /* scaled: squares of small slopes are not lost */
    for (int64_t i = 0; i < m; i++) most = fmax(most, fabs(slope[i] + l * (b[i] / r)));
    for (int64_t i = 0; most > 0.0 && i < m; i++) {
        const double one = (slope[i] + l * (b[i] / r)) / most;
        sum += one * one;
    }
    return isnan(slope[0]) ? NAN : most * sqrt(sum);
}

double fenp_group_qp_violation(const fenp_group_qp *q)
{
    double worst = 0.0;
    for (int64_t g = 0; g < q->groups; g++) {
        const double one = violation_of(q, g);
        if (!(one <= worst)) worst = one;
        if (isnan(worst)) break;
    }
    return worst;
}

/* Group g becomes x, which turns into the difference. */
static void move(const fenp_group_qp *q, int64_t g, double *x)
{
    double *b = q->b + q->start[g];
    int any = 0;
    for (int64_t i = 0; i < fenp_group_members(q, g); i++) {
        const double before = b[i];
        b[i] = x[i];
        x[i] -= before;
        any |= x[i] != 0.0;
    }
    if (any) fenp_group_add(q, g, x, q->g);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static fen_status learn(work *w, int64_t g, fen_error *err)
{
    const fenp_group_qp *q = w->q;
    const int64_t m = fenp_group_members(q, g), from = q->start[g];
    double *v = w->vectors + w->square[g], *d = w->values + from;
    for (int64_t c = 0; c < m; c++)
        memcpy(v + c * m, q->h + from + (from + c) * q->ld, (size_t)m * sizeof *v);
    const fen_status status = fenp_eigen(m, v, m, d, w->eigen, err);
    if (status != FEN_OK) return status;
    const double floor_of = d[m - 1] > 0.0 ? 4.0 * (double)m * DBL_EPSILON * d[m - 1] : 0.0;
    for (int64_t i = 0; i < m; i++)
        if (d[i] <= floor_of) d[i] = q->l[g] > 0.0 ? floor_of : 0.0;
    w->known[g] = 1;
    return FEN_OK;
}

/* r with |a / (d r + l)| = 1, from a guess; |a| > l > 0, d > 0 ascending. */
static double root(int64_t m, const double *a, const double *d, double l, double guess)
{
    const double low = (fenp_group_norm(m, a) - l) / d[m - 1];
    double r = fmax(guess, low);
    for (int step = 0; step < ROOT_STEPS; step++) {
        double f2 = 0.0, fall = 0.0;
        for (int64_t i = 0; i < m; i++) {
            const double bottom = d[i] * r + l, one = a[i] / bottom;
            f2 += one * one;
            fall += one * one * (d[i] / bottom);
        }
        const double next = fmax(r + (sqrt(f2) - 1.0) * f2 / fall, low);
        const int done = !(fabs(next - r) > 2.0 * DBL_EPSILON * next);
        r = next;
        if (done || !isfinite(r)) break;
    }
    return r;
}

/* The optimum of a block of several, into x. */
static void block_optimum(const work *w, int64_t g, double *x)
{
    const fenp_group_qp *q = w->q;
    const int64_t m = fenp_group_members(q, g), from = q->start[g];
    const double *v = w->vectors + w->square[g], *d = w->values + from, l = q->l[g];
    double *a = w->newton.packed, *gt = a + m;
    cblas_dgemv(CblasColMajor, CblasTrans, (int)m, (int)m, 1.0, v, (int)m, q->b + from, 1, 0.0, a,
                1);
    cblas_dgemv(CblasColMajor, CblasTrans, (int)m, (int)m, 1.0, v, (int)m, q->g + from, 1, 0.0, gt,
                1);
    if (l > 0.0) {
        const double before = fenp_group_norm(m, q->b + from);
        for (int64_t i = 0; i < m; i++) a[i] = d[i] * a[i] - gt[i];
        memset(x, 0, (size_t)m * sizeof *x);
        if (!(fenp_group_norm(m, a) > l) || !(d[m - 1] > 0.0)) return;
        const double r = root(m, a, d, l, before);
        for (int64_t i = 0; i < m; i++) a[i] *= r / (d[i] * r + l);
    } else
        for (int64_t i = 0; i < m; i++)
            if (d[i] > 0.0) a[i] -= gt[i] / d[i];
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)m, (int)m, 1.0, v, (int)m, a, 1, 0.0, x, 1);
}

static double single_optimum(const fenp_group_qp *q, int64_t g)
{
    const int64_t j = q->start[g];
    const double d = q->h[j + j * q->ld], l = q->l[g];
    if (!(d > 0.0)) return l > 0.0 ? 0.0 : q->b[j];
    if (l == 0.0) return q->b[j] - q->g[j] / d;
    const double a = d * q->b[j] - q->g[j], rest = fabs(a) - l;
    return rest > 0.0 ? copysign(rest / d, a) : 0.0;
}

/* All blocks whose violation is above tolerance once; *worst of the violations met,
 * *changed: how many groups were 0 and are not, or the reverse. */
static fen_status sweep(work *w, double tolerance, double *worst, int64_t *changed, fen_error *err)
{
    const fenp_group_qp *q = w->q;
    double *x = w->newton.step;
    fen_status status = FEN_OK;
    *worst = 0.0, *changed = 0;
    for (int64_t g = 0; g < q->groups && status == FEN_OK; g++) {
        const double violation = violation_of(q, g);
        if (!(violation <= *worst)) *worst = violation;
        if (violation <= tolerance) continue;
        const int64_t m = fenp_group_members(q, g);
        const int zero = fenp_group_norm(m, q->b + q->start[g]) == 0.0;
        if (m > 1 && !w->known[g]) status = learn(w, g, err);
        if (status != FEN_OK) break;
        if (m > 1)
            block_optimum(w, g, x);
        else
            *x = single_optimum(q, g);
        move(q, g, x);
        *changed += q->l[g] > 0.0 && zero != (fenp_group_norm(m, q->b + q->start[g]) == 0.0);
    }
    return status;
}

/* Sweeps as long as they find other groups or go down fast. */
static fen_status sweeps(work *w, double tolerance, fen_error *err)
{
    const int narrowed = fenp_threads_narrow(1);
    double before = INFINITY, worst = INFINITY;
    int64_t changed;
    fen_status status = FEN_OK;
    for (int count = 0; status == FEN_OK; count++) {
        status = sweep(w, 0.5 * tolerance, &worst, &changed, err);
        if (!(worst > tolerance)) break;
        if (!(worst < fast * before) && (changed == 0 || count >= SWEEPS)) break;
        before = worst;
    }
    fenp_threads_widen(narrowed);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* g = g0 + H (b - b0) */
static void refresh(work *w)
{
    const fenp_group_qp *q = w->q;
    memcpy(q->g, w->g0, (size_t)q->k * sizeof(double));
    for (int64_t g = 0; g < q->groups; g++) {
        int any = 0;
        for (int64_t i = q->start[g]; i < q->start[g + 1]; i++)
            any |= (w->newton.step[i] = q->b[i] - w->b0[i]) != 0.0;
        if (any) fenp_group_add(q, g, w->newton.step + q->start[g], q->g);
    }
}

/* Violation at b, which is kept if it is the least; half as large is progress. */
static double judge(work *w)
{
    refresh(w);
    const double violation = fenp_group_qp_violation(w->q);
    if (violation < 0.5 * w->least) w->stale = 0;
    if (violation < w->least) {
        w->least = violation;
        memcpy(w->best, w->q->b, (size_t)w->q->k * sizeof(double));
    }
    return violation;
}

/* What is left may be rounding errors, those of H b among them: |H b|_i is at most
 * sqrt(H_ii) sum_j sqrt(H_jj) |b_j|. */
static int is_near(const work *w)
{
    const fenp_group_qp *q = w->q;
    double most = 0.0, sum = 0.0;
    for (int64_t i = 0; i < q->k; i++) {
        const double root_of = sqrt(fmax(q->h[i + i * q->ld], 0.0));
        most = fmax(most, root_of);
        sum += root_of * fabs(q->b[i]);
    }
    return w->least <= fmax(near_end * w->scale, near_noise * most * sum);
}

/* Newton's steps: another at once where one was cut short. */
static fen_status newton(work *w, double tolerance, const fenp_task *task, fen_error *err)
{
    const int narrowed = fenp_threads_narrow(w->q->k);
    fen_status status = FEN_OK;
    int cut = 1;
    for (int step = 0; cut && step < CUTS && status == FEN_OK; step++) {
        status = fenp_task_at(task, 0.0, err);
        if (status == FEN_OK) status = fenp_group_newton_step(&w->newton, &cut, err);
        w->violation = judge(w);
        if (w->violation <= tolerance) break;
    }
    fenp_threads_widen(narrowed);
    return status;
}

/* Free groups go no way that their H_gg does not see: the nearest to the start of all that are
 * as good. Newton's ridge does not know of it. */
static fen_status settle_free(work *w, fen_error *err)
{
    const fenp_group_qp *q = w->q;
    fen_status status = FEN_OK;
    for (int64_t g = 0; g < q->groups && status == FEN_OK; g++) {
        const int64_t from = q->start[g], m = fenp_group_members(q, g);
        if (q->l[g] > 0.0 || m == 1) continue;
        if (!w->known[g]) status = learn(w, g, err);
        for (int64_t c = 0; c < m && status == FEN_OK && w->values[from + c] == 0.0; c++) {
            const double *v = w->vectors + w->square[g] + c * m;
            double gone = 0.0;
            for (int64_t i = 0; i < m; i++) gone += v[i] * (q->b[from + i] - w->b0[from + i]);
            cblas_daxpy((int)m, -gone, v, 1, q->b + from, 1);
        }
    }
    return status;
}

static fen_status rounds(work *w, double tolerance, const fenp_task *task, fen_error *err)
{
    fen_status status = FEN_OK;
    w->violation = judge(w);
    while (!(w->violation <= tolerance) && status == FEN_OK) {
        if (w->stale++ >= (is_near(w) ? NEAR_PATIENCE : PATIENCE)) break;
        status = fenp_task_at(task, 0.0, err);
        if (status == FEN_OK) status = sweeps(w, tolerance, err);
        w->violation = judge(w);
        if (status == FEN_OK && !(w->violation <= tolerance))
            status = newton(w, tolerance, task, err);
    }
    if (is_near(w)) memcpy(w->q->b, w->best, (size_t)w->q->k * sizeof(double));
    if (status == FEN_OK) status = settle_free(w, err);
    refresh(w);
    return status;
}

/* Doubles of all pieces; integers are as large. */
static int64_t size_of(const fenp_group_qp *q, int64_t *squares, int64_t *eigen)
{
    int64_t largest = 0;
    *squares = 0;
    if (fenp_bytes(q->k, q->k, 64) < 0) return -1;
    for (int64_t g = 0; g < q->groups; g++) {
        const int64_t m = fenp_group_members(q, g);
        if (m <= 1) continue;
        *squares += m * m;
        largest = m > largest ? m : largest;
    }
    *eigen = largest > 1 ? fenp_eigen_work(largest) : 0;
    return *squares + *eigen + q->k * q->k + 10 * q->k + 3 * q->groups;
}

static void lay_out(work *w, double *block, int64_t squares, int64_t eigen)
{
    const fenp_group_qp *q = w->q;
    const int64_t k = q->k;
    w->vectors = block, w->eigen = w->vectors + squares, w->newton.factor = w->eigen + eigen;
    w->values = w->newton.factor + k * k, w->b0 = w->values + k, w->g0 = w->b0 + k;
    w->best = w->g0 + k, w->newton.step = w->best + k, w->newton.slope = w->newton.step + k;
    w->newton.product = w->newton.slope + k, w->newton.packed = w->newton.product + k;
    w->newton.who = (int64_t *)(w->newton.packed + 2 * k), w->newton.active = w->newton.who + k;
    w->square = w->newton.active + q->groups, w->known = w->square + q->groups;
    for (int64_t g = 0, at = 0; g < q->groups; g++) {
        w->square[g] = at, w->known[g] = 0;
        at +=
            fenp_group_members(q, g) > 1 ? fenp_group_members(q, g) * fenp_group_members(q, g) : 0;
    }
    memcpy(w->b0, q->b, (size_t)k * sizeof(double));
    memcpy(w->g0, q->g, (size_t)k * sizeof(double));
}

/* Of c = H b - g and l: what violations are to be compared with. */
static double scale_of(work *w)
{
    const fenp_group_qp *q = w->q;
    double most = 0.0;
    memset(w->newton.product, 0, (size_t)q->k * sizeof(double));
    for (int64_t g = 0; g < q->groups; g++)
        if (fenp_group_norm(fenp_group_members(q, g), q->b + q->start[g]) != 0.0)
            fenp_group_add(q, g, q->b + q->start[g], w->newton.product);
    for (int64_t i = 0; i < q->k; i++) most = fmax(most, fabs(w->newton.product[i] - q->g[i]));
    for (int64_t g = 0; g < q->groups; g++) most = fmax(most, q->l[g]);
    return most;
}

fen_status fenp_group_qp_solve(const fenp_group_qp *q, double tolerance, const fenp_task *task,
                               fen_error *err)
{
    int64_t squares, eigen;
    if (q->k == 0) return FEN_OK;
    const int64_t count = size_of(q, &squares, &eigen);
    double *block = count < 0 ? NULL : fenp_new(count, sizeof(double));
    if (!block)
        return fenp_no_memory(err, fenp_bytes(count, 1, sizeof(double)),
                              "the groups of coefficients in work");
    work w = { .q = q, .least = INFINITY };
    lay_out(&w, block, squares, eigen);
    w.newton.q = q;
    w.scale = scale_of(&w);
    const fen_status status = rounds(&w, tolerance, task, err);
    free(block);
    return status;
}
