/* lp_newton.c -- any loss under a penalty l^p: Newton's method, from inside the domain
 *
 *     min over a of   M(a) = T(a)/q + sum g_t(a_t) - mu sum (log(high - a) + log(a - low))
 *
 * Every row is one term, or two where its conjugate has a kink (e |a|: a >= 0 and a <= 0), and
 * a term costs c/2 a^2 - l a on [low, high] (fen_loss.piece), or c v*(-a/c) of a smooth loss
 * that is not in pieces (logistic): then its slope is minus the t with v'(t) = -z, and no
 * barrier is needed, as that slope is one.
 *
 * Method. Newton's method for  om + b + g' + x - y = 0,  x (high - a) = mu,  y (a - low) = mu:
 *
 *     (D + (q-1) B) da + e db = - grad M,   1/D_i = sum over its terms of 1/k,
 *     k = g'' + x/(high - a) + y/(a - low)
 *
 * which is a direction downhill for M: the step is halved until M falls enough (Armijo). mu goes
 * down by what a step towards mu = 0 would reach (Mehrotra). Without bounds (square loss) that
 * is Newton's method as it stands.
 * Special cases. q - 2 > 0: far from the optimum |.|^(q-1) falls by (q-2)/(q-1) a step; the
 * start (lp.c) is the best point of a line. Near the end differences of M are rounding errors:
 * then the step is taken as it is. Terms at their ends are moved onto them at the end, if the
 * gap stays small: rows without a coefficient leave the model.
 * Accuracy. Relative gaps of 1e-10 and below.
 * Cost. A form's curvature and one factorisation per step: 2 to 12 steps for smooth losses of
 * numbers, 10 to 30 with corners. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "solver/lp.h"

enum { STEPS = 200, PATIENCE = 40, HALVINGS = 50, TERM_VECTORS = 8, PASSES = 4 };
static const double TO_THE_BOUNDARY = 0.995, ENOUGH = 1e-4, FUZZ = 1e-13, BLUR = 1e-8, SAFE = 1e8;
static const double GROWTH = 1.4; /* of |w|_p^(p-1) in a step: features near 0 have no curvature */
static const double FAR = 10.0, LEAST_CAUTION = 1e-9; /* see enter */
static const double TINY = 1e-6;                      /* steps that rounding errors leave */
static const double FINAL = 1e-3;  /* of the goal: terms can then be moved to their ends */
static const double BEHIND = 0.02; /* of the gap, that mu may be ahead of it: T is not linear */

typedef struct state {
    fenp_lp lp; /* first: see fenp_lp_steps */
    fenp_lp_system system;
    fenp_lp_terms e;
    double *x, *y, *k;      /* terms: multipliers of their ends (0: there is none), and k */
    double *du, *dx, *dy;   /* terms: the step                                            */
    double *kept, *down;    /* terms: u before it, and minus the slopes of M there */
    double *d, *right, *da; /* rows of positive weight                                    */
    double mu;
    int64_t pairs;
} state;

/* ---- M ------------------------------------------------------------------------------------ */

static double barrier(const state *s, double mu)
{
    long double sum = 0.0L;
    if (mu == 0.0) return 0.0;
    for (int64_t t = 0; t < s->e.count; t++) {
        if (fenp_lp_has_high(&s->e, t)) sum -= logl(s->e.high[t] - s->e.u[t]);
        if (fenp_lp_has_low(&s->e, t)) sum -= logl(s->e.u[t] - s->e.low[t]);
    }
    return mu * (double)sum;
}

/* om, slopes and M at u. */
static double merit_at(state *s, double mu)
{
    fenp_lp_terms_gather(&s->e, &s->lp);
    fenp_lp_look(&s->lp);
    return s->lp.value / s->lp.order + fenp_lp_terms_look(&s->e, &s->lp) + barrier(s, mu);
}

/* Multipliers that go with a mu of the size of what the slopes promise. */
static void set_multipliers(state *s)
{
    const fenp_lp *lp = &s->lp;
    long double sum = 0.0L;
    s->pairs = 0;
    for (int64_t t = 0; t < s->e.count; t++) {
        const double slope = fabs(lp->om[lp->row[s->e.of[t]]] + lp->b + s->e.slope[t]);
        const double up = s->e.high[t] - s->e.u[t], down = s->e.u[t] - s->e.low[t];
        s->x[t] = s->y[t] = 0.0;
        if (fenp_lp_has_high(&s->e, t)) s->pairs++, sum += slope * fmin(up, down);
        if (fenp_lp_has_low(&s->e, t)) s->pairs++, sum += slope * fmin(up, down);
    }
    s->mu = s->pairs ? 0.1 * (double)sum / (double)s->pairs : 0.0;
    if (s->pairs && !(s->mu > 0.0)) s->mu = DBL_MIN;
    for (int64_t t = 0; t < s->e.count; t++) {
        if (fenp_lp_has_high(&s->e, t)) s->x[t] = s->mu / (s->e.high[t] - s->e.u[t]);
        if (fenp_lp_has_low(&s->e, t)) s->y[t] = s->mu / (s->e.u[t] - s->e.low[t]);
    }
}

/* ---- a step ------------------------------------------------------------------------------ */

/* k of the terms, D of the rows, and the factor. */
static fen_status factor(state *s, const fenp_task *task, fen_error *err)
{
    memset(s->d, 0, (size_t)s->lp.m * sizeof(double));
    for (int64_t t = 0; t < s->e.count; t++) {
        double k = s->e.bend[t];
        if (fenp_lp_has_high(&s->e, t)) k += s->x[t] / (s->e.high[t] - s->e.u[t]);
        if (fenp_lp_has_low(&s->e, t)) k += s->y[t] / (s->e.u[t] - s->e.low[t]);
        s->k[t] = fmax(k, DBL_MIN);
        s->d[s->e.of[t]] += 1.0 / s->k[t];
    }
    for (int64_t i = 0; i < s->lp.m; i++) s->d[i] = 1.0 / s->d[i];
    return fenp_lp_system_factor(&s->system, &s->lp, s->d, task, err);
}

/* Minus the slope of M along term t. */
static double descent(const state *s, int64_t t, double mu)
{
    double out = -(s->lp.om[s->lp.row[s->e.of[t]]] + s->lp.b + s->e.slope[t]);
    if (fenp_lp_has_high(&s->e, t)) out -= mu / (s->e.high[t] - s->e.u[t]);
    if (fenp_lp_has_low(&s->e, t)) out += mu / (s->e.u[t] - s->e.low[t]);
    return out;
}

/* down, du, dx, dy towards mu */
static fen_status direct(state *s, double mu, double *db, fen_error *err)
{
    const fenp_lp *lp = &s->lp;
    memset(s->right, 0, (size_t)lp->m * sizeof(double));
    for (int64_t t = 0; t < s->e.count; t++) {
        s->down[t] = descent(s, t, mu);
        s->right[s->e.of[t]] += s->down[t] / s->k[t];
    }
    for (int64_t i = 0; i < lp->m; i++) s->right[i] *= s->d[i];
    const fen_status status = fenp_lp_system_solve(&s->system, s->right, s->da, db, err);
    if (status != FEN_OK) return status;
    /* of a row: right - D da is what (q-1) B da + db come to */
    for (int64_t t = 0; t < s->e.count; t++) {
        const int64_t i = s->e.of[t];
        const double rest = s->right[i] - s->d[i] * s->da[i];
        s->du[t] = (s->down[t] - rest) / s->k[t];
        const double up = s->e.high[t] - s->e.u[t], low = s->e.u[t] - s->e.low[t];
        s->dx[t] = fenp_lp_has_high(&s->e, t) ? mu / up - s->x[t] + s->x[t] / up * s->du[t] : 0.0;
        s->dy[t] = fenp_lp_has_low(&s->e, t) ? mu / low - s->y[t] - s->y[t] / low * s->du[t] : 0.0;
    }
    return FEN_OK;
}

/* The largest steps that keep terms, and multipliers, inside. */
static void reach(const state *s, double *primal, double *dual)
{
    *primal = *dual = INFINITY;
    for (int64_t t = 0; t < s->e.count; t++) {
        if (s->du[t] > 0.0) *primal = fmin(*primal, (s->e.high[t] - s->e.u[t]) / s->du[t]);
        if (s->du[t] < 0.0) *primal = fmin(*primal, (s->e.low[t] - s->e.u[t]) / s->du[t]);
        if (s->dx[t] < 0.0) *dual = fmin(*dual, -s->x[t] / s->dx[t]);
        if (s->dy[t] < 0.0) *dual = fmin(*dual, -s->y[t] / s->dy[t]);
    }
}

/* Mean product of a pair after steps of these lengths. */
static double product_after(const state *s, double primal, double dual)
{
    long double sum = 0.0L;
    for (int64_t t = 0; t < s->e.count; t++) {
        const double u = s->e.u[t] + primal * s->du[t];
        if (fenp_lp_has_high(&s->e, t)) sum += (s->x[t] + dual * s->dx[t]) * (s->e.high[t] - u);
        if (fenp_lp_has_low(&s->e, t)) sum += (s->y[t] + dual * s->dy[t]) * (u - s->e.low[t]);
    }
    return (double)(sum / (double)s->pairs);
}

/* Multipliers follow mu / distance at some distance: else a step that M cut short could leave
 * them behind. */
static void move_multipliers(state *s, double dual)
{
    for (int64_t t = 0; t < s->e.count; t++) {
        if (fenp_lp_has_high(&s->e, t)) {
            const double middle = s->mu / (s->e.high[t] - s->e.u[t]);
            s->x[t] = fmin(fmax(s->x[t] + dual * s->dx[t], middle / SAFE), middle * SAFE);
        }
        if (fenp_lp_has_low(&s->e, t)) {
            const double middle = s->mu / (s->e.u[t] - s->e.low[t]);
            s->y[t] = fmin(fmax(s->y[t] + dual * s->dy[t], middle / SAFE), middle * SAFE);
        }
    }
}

/* u <- kept + part du. Terms with a barrier of their own (logistic) would go from a to a (1 - 20)
 * where they want to be at a exp(-20): each stops at a small part of its distance, and with a
 * bias the others make up for it. */
static void place(state *s, double part)
{
    const fenp_lp_terms *e = &s->e;
    for (int64_t t = 0; t < e->count; t++) e->u[t] = s->kept[t] + part * s->du[t];
    for (int pass = 0; !e->pieces && pass < PASSES; pass++) {
        long double sum = 0.0L, soft = 0.0L;
        for (int64_t t = 0; t < e->count; t++) {
            const double low = s->kept[t] - TO_THE_BOUNDARY * (s->kept[t] - e->low[t]);
            const double high = s->kept[t] + TO_THE_BOUNDARY * (e->high[t] - s->kept[t]);
            e->u[t] = fmin(fmax(e->u[t], low), high);
            sum += e->u[t];
            if (low < e->u[t] && e->u[t] < high) soft += 1.0 / s->k[t];
        }
        if (!s->lp.q.bias || soft == 0.0L) return;
        const double shift = (double)(sum / soft);
        for (int64_t t = 0; t < e->count; t++) e->u[t] -= shift / s->k[t];
    }
}

/* Slope of M along u - kept, here. */
static double slope_here(const state *s)
{
    long double sum = 0.0L;
    for (int64_t t = 0; t < s->e.count; t++)
        sum -= (long double)descent(s, t, s->mu) * (s->e.u[t] - s->kept[t]);
    return (double)sum;
}

/* Whether M has fallen enough by a step whose slope before it was along. Where T is a small
 * difference of large sums M is known to few digits, and its slope tells: near the end a step
 * leaves next to nothing of it. */
static int has_fallen(const state *s, double before, double now, double along)
{
    const double size = fabs(before) + s->lp.value / s->lp.order;
    if (along > FUZZ * size) return 0;
    return now <= before + ENOUGH * along + FUZZ * size ||
           (now <= before + BLUR * size && fabs(slope_here(s)) <= 0.5 * fabs(along));
}

/* Downhill along du: 0 if nothing is to be had there. The terms are left where it ends; down:
 * minus the slopes of M before. */
static double descend(state *s, double start, double most)
{
    const double largest = s->lp.value > 0.0 ? pow(GROWTH, s->lp.order) * s->lp.value : INFINITY;
    const size_t size = (size_t)s->e.count * sizeof(double);
    double part = fmin(1.0, most);
    memcpy(s->kept, s->e.u, size);
    for (int halving = 0; halving < HALVINGS; halving++, part *= 0.5) {
        long double along = 0.0L;
        place(s, part);
        for (int64_t t = 0; t < s->e.count; t++)
            along -= (long double)s->down[t] * (s->e.u[t] - s->kept[t]);
        const double now = merit_at(s, s->mu);
        if (0.0 <= s->lp.value && s->lp.value <= largest &&
            has_fallen(s, start, now, (double)along))
            return part;
        if (fabsl(along) < FUZZ * fabs(start)) break; /* shorter ones could not be told from 0 */
    }
    memcpy(s->e.u, s->kept, size);
    merit_at(s, s->mu);
    return 0.0;
}

/* One step; *moved: how far. */
static fen_status step(state *s, double *moved, const fenp_task *task, fen_error *err)
{
    double db, primal, dual;
    fen_status status = factor(s, task, err);
    if (status == FEN_OK && s->pairs) {
        const double before = product_after(s, 0.0, 0.0);
        status = direct(s, 0.0, &db, err);
        reach(s, &primal, &dual);
        const double after = product_after(s, fmin(1.0, TO_THE_BOUNDARY * primal),
                                           fmin(1.0, TO_THE_BOUNDARY * dual));
        const double left = fmin(fmax(after / before, 0.0), 1.0);
        const double rest = BEHIND * s->lp.excess / (double)s->pairs;
        s->mu =
            fmax(fmax(left * left * left, *moved < 0.1 ? 0.3 : 1e-4) * before, fmin(rest, before));
    }
    if (status == FEN_OK) status = direct(s, s->mu, &db, err);
    if (status != FEN_OK) return status;
    reach(s, &primal, &dual);
    if (!s->e.pieces) primal = INFINITY; /* see place */
    const double start =
        s->lp.value / s->lp.order + fenp_lp_terms_look(&s->e, &s->lp) + barrier(s, s->mu);
    *moved = descend(s, start, TO_THE_BOUNDARY * primal);
    move_multipliers(s, fmin(1.0, TO_THE_BOUNDARY * dual));
    s->lp.b += *moved * db;
    s->lp.steps++;
    return FEN_OK;
}

/* ---- the end ------------------------------------------------------------------------------ */

/* Terms inside their intervals make up for what the others lack of sum 0. */
static void even_out(state *s)
{
    const fenp_lp_terms *e = &s->e;
    for (int pass = 0; s->lp.q.bias && pass < PASSES; pass++) {
        long double sum = 0.0L, inside = 0.0L;
        for (int64_t t = 0; t < e->count; t++) {
            sum += e->u[t];
            if (e->low[t] < e->u[t] && e->u[t] < e->high[t])
                inside += s->lp.q.w[s->lp.row[e->of[t]]];
        }
        if (inside == 0.0L) return;
        for (int64_t t = 0; t < e->count; t++)
            if (e->low[t] < e->u[t] && e->u[t] < e->high[t])
                e->u[t] -= (double)(sum / inside) * s->lp.q.w[s->lp.row[e->of[t]]];
    }
}

/* Terms that are nearer to an end than its multiplier is to 0 go there. */
static void round_off(state *s, double goal)
{
    fenp_lp *lp = &s->lp;
    const double before = lp->best_gap;
    double size = 0.0, pull = 0.0;
    if (!s->pairs) return;
    for (int64_t t = 0; t < s->e.count; t++) {
        size = fmax(size, fabs(s->e.u[t]));
        pull = fmax(pull, fmax(s->x[t], s->y[t]));
    }
    for (int64_t t = 0; t < s->e.count; t++) {
        if (fenp_lp_has_high(&s->e, t) && (s->e.high[t] - s->e.u[t]) * pull < s->x[t] * size)
            s->e.u[t] = s->e.high[t];
        if (fenp_lp_has_low(&s->e, t) && (s->e.u[t] - s->e.low[t]) * pull < s->y[t] * size)
            s->e.u[t] = s->e.low[t];
    }
    even_out(s);
    fenp_lp_terms_gather(&s->e, &s->lp);
    for (int64_t i = 0; i < lp->n; i++) lp->u[i] = lp->a[i] / lp->scale;
    fenp_target_feasible(&lp->q, lp->u);
    for (int64_t i = 0; i < lp->n; i++) lp->a[i] = lp->scale * lp->u[i];
    fenp_lp_look(lp);
    lp->best_gap = INFINITY;
    const double b = lp->best_b, value = lp->best_value;
    memcpy(s->right, lp->best_a, (size_t)lp->n * sizeof(double));
    memcpy(s->da, lp->best_om, (size_t)lp->n * sizeof(double));
    fenp_lp_judge(lp);
    if (lp->best_gap <= fmax(goal, before)) return;
    memcpy(lp->best_a, s->right, (size_t)lp->n * sizeof(double));
    memcpy(lp->best_om, s->da, (size_t)lp->n * sizeof(double));
    lp->best_b = b, lp->best_value = value, lp->best_gap = before;
}

/* Terms inside their ends, om and slopes there; no further from the start than T bears. */
static int enter(state *s)
{
    fenp_lp *lp = &s->lp;
    const double most = lp->value > 0.0 ? FAR * lp->value : INFINITY;
    memcpy(s->right, lp->a, (size_t)lp->n * sizeof(double));
    fenp_lp_terms_make(&s->e, lp);
    for (double caution = 1.0; caution > LEAST_CAUTION; caution *= 0.1) {
        memcpy(lp->a, s->right, (size_t)lp->n * sizeof(double));
        if (!fenp_lp_terms_enter(&s->e, lp, caution)) return 0;
        merit_at(s, 0.0);
        if (lp->value <= most) break;
    }
    return 1;
}

/* The iteration goes on with a form of larger rank where this one is too coarse for the goal. */
static fen_status grow(state *s, double goal, int *grown, const fenp_task *task, fen_error *err)
{
    const double b = s->lp.b;
    const fen_status status = fenp_lp_grow(&s->lp, goal, grown, task, err);
    if (*grown) fenp_lp_system_fit(&s->system, &s->lp.form);
    s->lp.b = b;
    return status;
}

static fen_status run(state *s, double goal, const fenp_task *task, fen_error *err)
{
    fenp_lp *lp = &s->lp;
    fen_status status = FEN_OK;
    double moved = 1.0, best = INFINITY;
    int waited = 0, grown;
    if (!enter(s)) return FEN_OK;
    fenp_lp_judge(lp);
    set_multipliers(s);
    for (int k = 0; k < STEPS; k++) {
        status = grow(s, goal, &grown, task, err);
        if (grown) best = INFINITY, waited = 0;
        if (status != FEN_OK || !(lp->gap > (s->pairs ? FINAL : 1.0) * goal)) break;
        status = fenp_task_at(task, 0.0, err);
        const double b = lp->b;
        if (status == FEN_OK) status = step(s, &moved, task, err);
        if (status != FEN_OK) break;
        const double mine = lp->b;
        fenp_lp_judge(lp);
        lp->b = lp->q.bias ? mine : b;
        waited = lp->gap < 0.999 * best ? 0 : waited + (moved < TINY ? 10 : 1);
        best = fmin(best, lp->gap);
        if ((moved == 0.0 && !s->pairs) || waited > (best > goal ? PATIENCE : 2)) break;
    }
    if (status == FEN_OK) round_off(s, goal);
    return status;
}

/* ---- the table ---------------------------------------------------------------------------- */

static int64_t own_bytes(int64_t n)
{
    return fenp_arena_bytes((int64_t)sizeof(state) / 8 + 1) +
           TERM_VECTORS * fenp_arena_bytes(2 * n) + 3 * fenp_arena_bytes(n) +
           fenp_lp_terms_bytes(n);
}

static int64_t bytes(const fenp_size *size)
{
    const int64_t shared = fenp_lp_bytes(size);
    return shared < 0 ? -1 : shared + own_bytes(size->n);
}

static double flops(const fenp_size *size) { return fenp_lp_flops(size, 15.0); }

static fen_status begin(fenp_arena *arena, const fenp_problem *problem, void **out,
                        const fenp_task *task, fen_error *err)
{
    const int64_t n = problem->sample->n;
    state *s = (state *)(void *)fenp_arena_doubles(arena, (int64_t)sizeof(state) / 8 + 1);
    *s = (state){ .mu = 0.0 };
    double **terms[TERM_VECTORS] = {
        &s->x, &s->y, &s->k, &s->du, &s->dx, &s->dy, &s->kept, &s->down
    };
    for (int k = 0; k < TERM_VECTORS; k++) *terms[k] = fenp_arena_doubles(arena, 2 * n);
    fenp_lp_terms_open(&s->e, arena, n);
    s->d = fenp_arena_doubles(arena, n);
    s->right = fenp_arena_doubles(arena, n);
    s->da = fenp_arena_doubles(arena, n);
    const fen_status status = fenp_lp_begin(arena, problem, &s->lp, task, err);
    if (status != FEN_OK) return status;
    fenp_lp_system_open(&s->system, arena, &s->lp.form, problem->bias);
    *out = s;
    return FEN_OK;
}

static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    state *s = work;
    fen_status status = FEN_OK;
    if (fenp_lp_set(&s->lp, problem, out->dual) &&
        fmax(s->lp.gap, fenp_lp_doubt(&s->lp)) > problem->gap)
        status = run(s, problem->gap, task, err);
    if (status == FEN_OK || fenp_is_end(status)) fenp_lp_leave(&s->lp, out);
    return status;
}

const fenp_solver fenp_solver_lp_newton = {
    .name = "lp-newton",
    .help = "penalty lp, any loss: Newton's method in the dual vector",
    .iterative = 1,
    .lp = 1,
    .accepts = fenp_lp_accepts,
    .bytes = bytes,
    .flops = flops,
    .begin = begin,
    .sweep = sweep,
};
