/* linear.c -- see linear.h: working sets, screening, and when to stop
 *
 * Method. The pool (linear_parts.h) holds the features that may be needed. At a lambda:
 *   those join whose slope, as far as it is known, comes near to lambda; the pool's problem is
 *   solved; slopes outside are looked at (linear_outside.c); who is too steep joins, and so on
 *   until the gap of the whole problem is met. With falling lambdas everything is kept:
 *   coefficients, products, and Gram matrices (every pair of columns is multiplied once).
 *   A lambda far below the last one is approached by steps, each solved roughly.
 *   Engines of the pool's problem: linear_square.c, linear_newton.c (both with a Gram matrix and
 *   the active set of pivot.h), linear_descent.c, linear_pieces.c.
 * Special cases. No penalised column: one solve. No column at all: the best constant.
 * Whole: dense columns, p <= n, square loss: all columns join at once, and rows are not looked
 *   at again. */
#include "solver/linear_parts.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/threads.h"
#include "loss/traits.h"

enum { ROUNDS = 100, ENOUGH_FOR_TWO = 1 << 19 };
static const double MIX_FLOOR = 1e-3; /* for lambda_max */
static const double NULL_GAP = 1e-9;  /* of the model without penalised columns */

const char *const fenp_linear_engines[] = { "active-set", "coordinate", "interior", NULL };

/* ---- beginning ------------------------------------------------------------------------------ */

static fen_status pick_engine(fenp_linear_state *s, fen_error *err)
{
    const fenp_linear *q = &s->q;
    const int smooth = q->loss->curvature != NULL, wants = strcmp(q->engine, "auto") != 0;
    const int descent = strcmp(q->engine, "coordinate") == 0;
    if (wants && ((descent && (!smooth || q->groups->start)) ||
                  (strcmp(q->engine, "active-set") == 0 && !smooth) ||
                  (strcmp(q->engine, "interior") == 0 && !q->loss->piece)))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--engine %s is not for this loss and penalty; leave it out", q->engine);
    s->pieces = !smooth || strcmp(q->engine, "interior") == 0;
    s->square = fenp_is_square(q->loss) && !s->pieces;
    s->descends = descent;
    s->forced = wants;
    return FEN_OK;
}

/* From base on. */
static int64_t bytes_of_base(const fenp_linear_state *s)
{
    return fenp_bytes(5 * s->rows + 3 * s->coefs + 4 * s->q.groups->count + 2 * s->q.x->copies, 1,
                      sizeof(double));
}

static fen_status allocate(fenp_linear_state *s, fen_error *err)
{
    const int64_t rows = s->rows, coefs = s->coefs, groups = s->q.groups->count;
    const int64_t copies = s->q.x->copies;
    double *at = fenp_new_zeroed(bytes_of_base(s), 1);
    s->list = fenp_new(coefs + groups, sizeof *s->list);
    s->base = at;
    if (!at || !s->list) return fenp_no_memory(err, bytes_of_base(s), "the linear model");
    s->b = at + copies, s->y = s->b + copies, s->t = s->y + rows, s->u = s->t + rows;
    s->work = s->u + rows, s->ref = s->work + rows, s->beta = s->ref + rows;
    s->product = s->beta + coefs, s->at_ref = s->product + coefs, s->length = s->at_ref + groups;
    s->now = s->length + groups, s->likely = s->now + groups;
    s->middle = s->likely + groups;
    s->open = s->list + coefs;
    return FEN_OK;
}

/* Labels of a loss of y - t lose their weighted mean: y = 1e9 + noise keeps its digits. */
static void shift_labels(fenp_linear_state *s)
{
    const int64_t n = s->q.x->n;
    s->weight_most = 0.0, s->alike = 1;
    for (int64_t i = 0; i < s->rows; i++) {
        s->alike &= s->q.w[i] == s->q.w[0];
        if (s->q.w[i] > s->weight_most) s->weight_most = s->q.w[i];
    }
    for (int64_t t = 0; t < s->q.x->copies; t++) {
        const double *y = s->q.y + t * n, *w = s->q.w + t * n;
        long double sum = 0.0L, weight = 0.0L;
        double variation = 0.0;
        for (int64_t i = 0; i < n; i++) sum += (long double)w[i] * y[i], weight += w[i];
        if (t == 0) s->weight_sum = (double)weight;
        if (s->q.bias && s->q.loss->residual && weight > 0.0L) s->base[t] = (double)(sum / weight);
#pragma omp simd reduction(+ : variation)
        for (int64_t i = 0; i < n; i++) {
            const double left = y[i] - s->base[t];
            s->y[t * n + i] = left, variation += w[i] * left * left;
        }
        s->variation += variation;
        fenp_target given = fenp_linear_target(s, t);
        given.y = y;
        s->digits += fenp_target_digits(&given);
    }
}

/* ---- one lambda ------------------------------------------------------------------------------ */

static fen_status solve_pool(fenp_linear_state *s, double lambda, double goal,
                             const fenp_task *task, fen_error *err)
{
    if (s->pieces) return fenp_linear_pieces(s, lambda, goal, task, err);
    if (s->descends) return fenp_linear_descent(s, lambda, goal, task, err);
    if (s->square) return fenp_linear_square(s, lambda, 0.1 * goal, task, err);
    return fenp_linear_newton(s, lambda, goal, task, err);
}

static void judge(fenp_linear_state *s, double lambda, fenp_linear_point *point)
{
    fenp_linear_outside out = { 0.0, 0.0 };
    if (!s->whole && !fenp_pool_is_complete(s)) out = fenp_linear_look(s, lambda);
    fenp_linear_values(s, lambda, out, point);
}

/* Newton's method can run in circles among the pieces of a loss, and coordinate descent creep
 * where columns are nearly alike: another method takes over. 0: there is none. */
static int rescue(fenp_linear_state *s, fen_status *status, fen_error *err)
{
    if (s->forced) return 0;
    if (s->descends && fenp_join_has_room(s)) {
        *status = fenp_join_anew(s, 0, err);
        s->forced = 1;
        return 1;
    }
    if (s->pieces || s->square || !s->q.loss->piece) return 0;
    s->pieces = 1;
    return 1;
}

static fen_status solve_at(fenp_linear_state *s, double lambda, double gap,
                           fenp_linear_point *point, const fenp_task *task, fen_error *err)
{
    double best = INFINITY;
    fen_status status = fenp_linear_uses_newton(s) ? fenp_trail_go_on(s, lambda, err) : FEN_OK;
    if (status == FEN_OK) status = fenp_join_ahead(s, lambda, err);
    double goal = fenp_pool_is_complete(s) && fenp_linear_uses_newton(s) ? 0.9 * gap : 0.3 * gap;
    point->relative_gap = INFINITY;
    for (int round = 0; status == FEN_OK && round < ROUNDS; round++) {
        int64_t joined = 0;
        status = solve_pool(s, lambda, goal, task, err);
        judge(s, lambda, point);
        if (status != FEN_OK || point->relative_gap <= gap) break;
        if (!s->whole && !fenp_pool_is_complete(s))
            status = fenp_join_steep(s, lambda, 1.0, s->now, &joined, err);
        if (joined > 0) continue;
        goal *= 0.1;
        if (point->relative_gap < 0.5 * best) {
            best = point->relative_gap;
        } else if (rescue(s, &status, err)) {
            best = INFINITY, goal = 0.3 * gap;
        } else {
            break; /* rounding errors have the word */
        }
    }
    s->lambda = lambda;
    return status;
}

/* ---- the interface --------------------------------------------------------------------------- */

static fen_status add_free(fenp_linear_state *s, fen_error *err)
{
    const fenp_groups *g = s->q.groups;
    int64_t count = 0, *groups = fenp_new(g->count, sizeof *groups);
    if (!groups) return fenp_no_memory(err, g->count * (int64_t)sizeof *groups, "the linear model");
    for (int64_t i = 0; i < g->count; i++)
        if (fenp_group_weight(g, i) == 0.0) groups[count++] = i;
    const fen_status status = fenp_pool_add(s, groups, count, err);
    free(groups);
    return status;
}

/* While no coefficient has been in the scores yet. */
static double loss_of_constants(const fenp_linear_state *s)
{
    double sum = 0.0;
    for (int64_t t = 0; t < s->q.x->copies; t++) {
        const fenp_target q = fenp_linear_target(s, t);
        const double *zeros = s->t + t * q.n;
        sum += fenp_target_loss(&q, zeros, fenp_target_offset(&q, zeros, 0.0));
    }
    return sum;
}

/* The best model without penalised coefficients, and lambda_max from its slopes; 0 if it has no
 * finite loss. */
static fen_status solve_null(fenp_linear_state *s, const fenp_task *task, fen_error *err)
{
    const fenp_groups *g = s->q.groups;
    fen_status status = add_free(s, err);
    if (s->pool.size > 0) s->null = loss_of_constants(s);
    if (status == FEN_OK) status = solve_pool(s, 1.0, NULL_GAP, task, err);
    if (status == FEN_OK && s->pool.size > 0 && fenp_linear_pool_gap(s, 1.0) > 100.0 * NULL_GAP &&
        rescue(s, &status, err) && status == FEN_OK)
        status = solve_pool(s, 1.0, NULL_GAP, task, err);
    if (status != FEN_OK) return status;
    const double loss = fenp_linear_loss(s);
    if (s->pool.size == 0) s->null = loss;
    fenp_linear_look_at_all(s);
    if (!isfinite(loss)) return FEN_OK; /* tube: no lambda makes this the answer */
    for (int64_t i = 0; i < g->count; i++) {
        const double a = fenp_group_weight(g, i) * fmax(s->q.mix, MIX_FLOOR);
        if (a > 0.0) s->largest = fmax(s->largest, s->now[i] / a);
    }
    return FEN_OK;
}

/* Nothing that is made of them would be a number. */
static fen_status check_lengths(const fenp_linear_state *s, fen_error *err)
{
    int64_t i = 0;
    while (i < s->q.groups->count && isfinite(s->length[i])) i++;
    if (i == s->q.groups->count) return FEN_OK;
    return fenp_fail(err, FEN_BAD_DATA,
                     "some columns are too large for their squares; rescale them, or use --scale "
                     "standard");
}

/* One thread for what a second one would wait for longer than it works. */
static int narrow(int64_t entries) { return entries < ENOUGH_FOR_TWO ? fenp_threads_narrow(0) : 0; }

static int64_t entries_of(const fenp_design *x) { return x->start ? x->start[x->p] : x->n * x->p; }

/* Without rows to look at the Gram matrix is all that is read. */
static int64_t entries_to_solve(const fenp_linear_state *s, const fenp_linear_point *point)
{
    return s->whole && !point->u ? s->coefs * s->coefs : entries_of(s->q.x);
}

static fen_status begin(const fenp_linear *problem, fenp_linear_state **out, const fenp_task *task,
                        fen_error *err)
{
    const fenp_design *x = problem->x;
    if (x->n > INT_MAX)
        return fenp_fail(err, FEN_MEMORY, "%lld rows are more than BLAS can count",
                         (long long)x->n);
    fenp_linear_state *s = fenp_new_zeroed(1, sizeof *s);
    if (!s) return fenp_no_memory(err, sizeof *s, "the linear model");
    s->q = *problem, s->rows = x->copies * x->n, s->coefs = x->copies * x->p;
    fen_status status = pick_engine(s, err);
    if (status == FEN_OK) status = allocate(s, err);
    if (status == FEN_OK) status = fenp_pool_open(s, err);
    if (status == FEN_OK) {
        shift_labels(s);
        status = fenp_linear_columns(s, err);
    }
    if (status == FEN_OK) status = check_lengths(s, err);
    if (status == FEN_OK) status = fenp_linear_open_rows(s, err);
    if (status == FEN_OK) status = solve_null(s, task, err);
    const int whole = s->square && !s->descends && fenp_linear_is_whole(x) && s->largest > 0.0;
    if (status == FEN_OK && (whole || fenp_design_is_by_rows(x)))
        status = fenp_pool_add_all(s, err);
    if (status == FEN_OK)
        *out = s;
    else
        fenp_linear_end(s);
    return status;
}

fen_status fenp_linear_begin(const fenp_linear *problem, fenp_linear_state **out,
                             const fenp_task *task, fen_error *err)
{
    const int narrowed = narrow(entries_of(problem->x));
    const fen_status status = begin(problem, out, task, err);
    fenp_threads_widen(narrowed);
    return status;
}

double fenp_linear_lambda_max(const fenp_linear_state *s) { return s->largest; }

/* Another start than where the last solution ended: its coefficients join. */
static fen_status adopt(fenp_linear_state *s, const fenp_linear_point *point, fen_error *err)
{
    const fenp_groups *g = s->q.groups;
    int64_t count = 0;
    if (memcmp(s->beta, point->beta, (size_t)s->coefs * sizeof *s->beta) == 0) return FEN_OK;
    memcpy(s->beta, point->beta, (size_t)s->coefs * sizeof *s->beta);
    for (int64_t t = 0; t < s->q.x->copies; t++) s->b[t] = point->b[t] - s->base[t];
    fenp_pool_fetch(s);
    s->settled = 0;
    int64_t *groups = fenp_new(g->count, sizeof *groups);
    if (!groups) return fenp_no_memory(err, g->count * (int64_t)sizeof *groups, "the linear model");
    for (int64_t i = 0; i < g->count; i++) {
        int used = 0;
        for (int64_t k = 0; k < fenp_group_size(g, i); k++)
            used = used || s->beta[fenp_group_member(g, i, k)] != 0.0;
        if (used && !fenp_pool_has(s, i)) groups[count++] = i;
    }
    const fen_status status = fenp_pool_add(s, groups, count, err);
    free(groups);
    if (s->lambda == 0.0) s->lambda = point->lambda;
    return status;
}

/* Of the square loss, whose labels have mean 0 by now. */
static void set_biases(fenp_linear_state *s)
{
    const int64_t copies = s->q.x->copies;
    memset(s->b, 0, (size_t)copies * sizeof *s->b);
    for (int64_t k = 0; s->q.bias && k < s->pool.size; k++)
        for (int64_t t = 0; t < copies; t++)
            s->b[t] -= s->pool.mean[k] * s->pool.beta[k * copies + t];
}

static void hand_over(fenp_linear_state *s, fenp_linear_point *point)
{
    fenp_pool_deliver(s);
    memcpy(point->beta, s->beta, (size_t)s->coefs * sizeof *s->beta);
    point->terms = 0;
    for (int64_t k = 0; k < s->coefs; k++) point->terms += s->beta[k] != 0.0;
    if (s->whole && point->u) {
        fenp_linear_scores(s);
        fenp_linear_dual(s);
    } else if (s->whole) {
        set_biases(s);
    }
    if (point->u) memcpy(point->u, s->u, (size_t)s->rows * sizeof *s->u);
    for (int64_t t = 0; t < s->q.x->copies; t++) point->b[t] = s->b[t] + s->base[t];
    point->method = s->pieces     ? fenp_linear_engines[2]
                    : s->descends ? fenp_linear_engines[1]
                                  : fenp_linear_engines[0];
}

/* Interior points gain nothing by a neighbour, nor does a Gram matrix of all columns; walks along
 * vertices come by what lies between as it is. */
static int strides(const fenp_linear_state *s) { return !s->whole && !s->pieces; }

static fen_status solve(fenp_linear_state *s, double gap, fenp_linear_point *point,
                        const fenp_task *task, fen_error *err)
{
    static const double STRIDE = 0.6, ROUGH = 1e-2;
    const double lambda = point->lambda;
    fen_status status = adopt(s, point, err);
    if (status != FEN_OK) return status;
    double at = s->lambda > 0.0 ? s->lambda : s->largest;
    if (s->lambda == 0.0) s->lambda = s->largest;
    while (status == FEN_OK && strides(s) && isfinite(at) && lambda < STRIDE * STRIDE * at) {
        at *= STRIDE;
        status = fenp_task_at(task, 0.0, err);
        if (status == FEN_OK) status = solve_at(s, at, ROUGH, point, task, err);
    }
    const fen_status before = status;
    if (status == FEN_OK) status = solve_at(s, lambda, gap, point, task, err);
    if (before != FEN_OK) {
        fenp_pool_price(s, lambda);
        judge(s, lambda, point);
    }
    hand_over(s, point);
    return status;
}

fen_status fenp_linear_solve(fenp_linear_state *s, double gap, fenp_linear_point *point,
                             const fenp_task *task, fen_error *err)
{
    const int narrowed = narrow(entries_to_solve(s, point));
    const fen_status status = solve(s, gap, point, task, err);
    fenp_threads_widen(narrowed);
    return status;
}

static int may_have_twin(const fenp_linear *q)
{
    return fenp_is_square(q->loss) && !(q->groups && q->groups->start) && q->x->copies == 1;
}

/* Of this kind nothing is kept in rows_of, bent and trail. */
fenp_linear_state *fenp_linear_twin(const fenp_linear_state *of)
{
    if (!of->whole || !of->square || !may_have_twin(&of->q)) return NULL;
    fenp_linear_state *s = fenp_new(1, sizeof *s);
    if (!s) return NULL;
    *s = *of;
    s->base = NULL, s->list = NULL, s->cross = NULL, s->pool = (fenp_pool){ 0 };
    if (allocate(s, NULL) != FEN_OK || fenp_pool_twin(of, s, NULL) != FEN_OK) {
        fenp_linear_end(s);
        return NULL;
    }
    const char *end = (const char *)of->base + bytes_of_base(of);
    memcpy(s->base, of->base, (size_t)(of->y - of->base) * sizeof *s->base);
    memcpy(s->beta, of->beta, (size_t)(end - (const char *)of->beta));
    s->y = of->y; /* other rows are made before they are read */
    return s;
}

void fenp_linear_end(fenp_linear_state *s)
{
    if (!s) return;
    fenp_pool_close(&s->pool);
    fenp_linear_close_rows(&s->rows_of);
    fenp_bent_close(&s->bent);
    fenp_trail_close(&s->trail);
    free(s->base), free(s->list), free(s->cross), free(s->sum);
    free(s);
}

static int has_free(const fenp_groups *g)
{
    int64_t i = 0;
    while (g && i < g->count && fenp_group_weight(g, i) != 0.0) i++;
    return g && i < g->count;
}

int64_t fenp_linear_bytes(const fenp_linear *problem)
{
    const fenp_design *x = problem->x;
    /* pieces 3, curvatures and the like 6, trail 1, ray 2 */
    const int64_t newton = fenp_is_square(problem->loss) ? 0 : 12;
    const int64_t rest = fenp_bytes((6 + newton) * x->n + 10 * x->p, x->copies, sizeof(double));
    const int64_t twin = may_have_twin(problem) ? 1 : 0;
    if (fenp_design_is_by_rows(x)) /* sums, their matrix if that is another, factors */
        return (2 + has_free(problem->groups) + twin) *
                   fenp_bytes(x->p + 2, x->p + 2, sizeof(double)) +
               rest;
    const int64_t most = FENP_GRAM_MOST / 2, likely = x->n < most ? x->n : most;
    const int64_t pool = x->p < likely ? x->p : likely, k = pool * x->copies;
    const int64_t columns = x->dense ? fenp_bytes(x->n, pool, sizeof(double)) : 0;
    return (newton ? 3 : 2 + twin) * fenp_bytes(k, k, sizeof(double)) + 2 * columns + rest;
}
