/* refit.c -- cross-validation of any loss by warm-started refits
 *
 * Method. One state of an iterative solver (one kernel matrix of all rows) serves every
 * refit: to leave rows out is to set their weights to 0, and the scores of rows of weight 0
 * are their held-out predictions.
 *   K folds: the weights of the rest are divided by their sum, as if the other rows did not
 *     exist. Every fold goes from the largest lambda down, each solution the start of the next;
 *     the first of a fold starts from that of the fold before.
 *   Leave-one-out deletes one term and keeps the other weights. A row with u_i = 0 is skipped:
 *     the solution of all rows is optimal without it as well. Others start from that solution.
 *     Where no row holds b, any of an interval is optimal; the row may be what ends it, and the
 *     solver takes its middle, so that no row is skipped then.
 * Score: sum w loss / sum w over the rows that concern an output. A free parameter (nu) is
 * found anew in every refit; what it costs belongs to the score, or settings could not be
 * compared: loss + nu par where the parameter costs (nu-SVR), loss / par where it earns, since
 * there f, b and par have no scale of their own (nu-SVC).
 * Small lambdas are the dearest and, past the best one, the worst: where that is allowed, a
 * power is left when a score is 5 % above its best, or two in a row are no better, once there
 * was one 10 % below the first. What is left out scores INFINITY.
 * Special cases. A fold that leaves one class only, with a bias, has no solution for some
 * losses: the prediction is that class, with score 1. No rows at all: 0. A price that the
 * classes of a fold cannot pay is lowered.
 * Accuracy: relative gaps of 1e-4 (folds) and 1e-6 (leave-one-out) unless others are asked for.
 * Cost: K count solves, or count times the number of support rows. */
#include "loss/traits.h"
#include "promise/refit.h"

#include <math.h>
#include <string.h>

#include "base/registry.h"
#include "base/threads.h"
#include "solver/descend.h"

static const double FOLD_GAP = 1e-4, SINGLE_GAP = 1e-6;
/* Over the best score so far; of the first: until then nothing has begun; and no progress. */
static const double HOPELESS = 1.05, BEGUN = 0.9, BETTER = 0.998;
static const double USELESS = 0.5; /* relative gap of a refit that was not solved at all */

typedef struct work {
    const fenp_problem *all; /* every output                                         */
    const fen_loss *judge;
    const fenp_refits *how;
    void *state;
    fenp_sample one;   /* the rows with the labels and weights of this refit          */
    fenp_problem task; /* of them                                                     */
    fenp_solution now; /* its dual vector is that of a slot                           */
    double scale, offset, gap, par;
    int64_t parts;         /* refits of one output and setting: folds, or 1            */
    double *duals;         /* targets x parts x n: where each of them has got to       */
    double *scales, *pars; /* targets x parts                                        */
    double *w;             /* n: weights of the output with nothing held out                 */
    double *full;          /* n: dual vector of all rows                                     */
    int64_t *order;        /* n: rows as dealt to the folds                                  */
    int64_t *walk;         /* count: settings by power, then lambda downwards                */
    const fenp_setting *points;
    int64_t count;
    double *scores, *held;
    double weight; /* sum of w                                                        */
    int lost;      /* the last refit was not solved                                   */
    double done, steps;
} work;

static int64_t parts_of(int64_t folds) { return folds ? folds : 1; }

int64_t fenp_scores_refit_bytes(const fenp_solver *solver, const fenp_size *size, int64_t count,
                                int64_t folds)
{
    const fenp_size one = fenp_descend_size(size);
    const int64_t state = solver->bytes(&one), slots = size->targets * parts_of(folds);
    if (state < 0 || fenp_bytes(slots, size->n, sizeof(double)) < 0) return -1;
    return state + fenp_arena_bytes(slots * size->n) + 2 * fenp_arena_bytes(slots) +
           5 * fenp_arena_bytes(size->n) + fenp_arena_bytes(size->p) + fenp_arena_bytes(count);
}

/* ---- the settings in the order of their solutions ------------------------------------- */

static int comes_before(const fenp_setting *a, const fenp_setting *b)
{
    return a->power < b->power || (a->power == b->power && a->lambda > b->lambda);
}

void fenp_order_settings(const fenp_setting *points, int64_t count, int64_t *walk)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t at = k;
        for (; at > 0 && comes_before(&points[k], &points[walk[at - 1]]); at--)
            walk[at] = walk[at - 1];
        walk[at] = k;
    }
}

/* ---- one refit -------------------------------------------------------------------------- */

/* The only label of the rows with a weight; 0: there are none; NAN: both kinds. */
static double only_label(const fenp_sample *x)
{
    double label = 0.0;
    for (int64_t i = 0; i < x->n; i++) {
        if (x->w[i] == 0.0) continue;
        if (label != 0.0 && x->y[i] != label) return NAN;
        label = x->y[i];
    }
    return label;
}

static int is_solvable(const work *s)
{
    int64_t rows = 0;
    if (s->all->loss->labels == FEN_SIGNS && s->all->bias) return isnan(only_label(&s->one));
    for (int64_t i = 0; i < s->one.n; i++) rows += s->one.w[i] > 0.0;
    return rows > 0;
}

static void predict_the_label(work *s)
{
    const size_t bytes = (size_t)s->one.n * sizeof(double);
    const int signs = s->all->loss->labels == FEN_SIGNS && s->all->bias;
    memset(s->now.dual, 0, bytes);
    memset(s->now.scores, 0, bytes);
    s->scale = 0.0;
    s->offset = signs ? only_label(&s->one) : 0.0;
    s->par = 1.0;
}

/* A refit goes on from where its slot has got to. */
static void open_slot(work *s, int64_t t, int64_t part)
{
    const int64_t slot = t * s->parts + part;
    s->now.dual = s->duals + slot * s->one.n;
    s->scale = s->scales[slot], s->par = s->pars[slot];
}

static void close_slot(work *s, int64_t t, int64_t part)
{
    const int64_t slot = t * s->parts + part;
    s->scales[slot] = s->scale, s->pars[slot] = s->par;
}

/* A margin costs half its price in either class, and a fold may have too little of one: the
 * price is then what the smaller class can pay. */
static double price(const work *s)
{
    double sum[2] = { 0.0, 0.0 };
    const double nu = s->how->nu;
    if (nu == 0.0 || s->all->loss->price > 0 || !s->all->bias) return nu;
    for (int64_t i = 0; i < s->one.n; i++) sum[s->one.y[i] > 0.0] += s->one.w[i];
    return fmin(nu, 1.999 * fmin(sum[0], sum[1]) / (sum[0] + sum[1]));
}

/* Are the numbers to be met all alike? Of the objective that their constant leaves, rounding
 * errors, no part is ever proved: such a refit is solved. */
static int is_constant(const work *s)
{
    const double *label = NULL;
    if (s->all->loss->labels != FEN_NUMBERS || !s->all->bias) return 0;
    for (int64_t i = 0; i < s->one.n; i++) {
        if (!(s->one.w[i] > 0.0)) continue;
        if (label && *label != s->one.y[i]) return 0;
        label = &s->one.y[i];
    }
    return 1;
}

/* From the dual vector in s->now; par as the output has it, or found. */
static fen_status solve(work *s, int64_t t, int64_t setting, const fenp_task *task, fen_error *err)
{
    int reached;
    s->task.lambda = s->points[setting].lambda;
    s->task.power = s->points[setting].power;
    if (s->how->nu == 0.0) s->par = s->how->outputs[t].par;
    s->lost = 0;
    if (!is_solvable(s)) {
        predict_the_label(s);
        return FEN_OK;
    }
    const fen_status status = fenp_descend(s->how->solver, s->state, &s->task, price(s), &s->par,
                                           &s->now, &reached, task, err);
    s->lost = s->now.gap[0] > USELESS && !is_constant(s);
    return status;
}

/* From a to b of the step under way. */
static fenp_task step_task(const work *s, const fenp_task *task, double a, double b)
{
    return fenp_task_part(task, task ? task->stage : "", (s->done + a) / s->steps,
                          (s->done + b) / s->steps);
}

static fen_status solve_next(work *s, int64_t t, int64_t setting, const fenp_task *task,
                             fen_error *err)
{
    const fenp_task part = step_task(s, task, 0.0, s->how->folds ? 1.0 : 0.0);
    const fen_status status = solve(s, t, setting, &part, err);
    s->done += 1.0;
    return status;
}

/* ---- what it says about a row ------------------------------------------------------------ */

const fen_loss *fenp_judge(const fen_loss *loss)
{
    return fenp_is_tube(loss) ? fenp_find_loss("eps") : loss;
}

static double held_out_loss(const work *s, double y, double t)
{
    const fen_loss *loss = s->all->loss;
    const double value = s->judge->value(y, t, &s->par);
    if (s->how->nu == 0.0 || loss->price == 0) return value;
    return loss->price > 0 ? value + s->how->nu * s->par : value / s->par;
}

static void keep(work *s, int64_t t, int64_t setting, int64_t row)
{
    const int64_t n = s->one.n, at = t * s->count + setting;
    const double prediction = s->now.scores[row] + s->offset;
    if (s->held) s->held[at * n + row] = prediction;
    if (s->lost)
        s->scores[at] = INFINITY;
    else if (s->w[row] > 0.0)
        s->scores[at] += s->w[row] / s->weight * held_out_loss(s, s->one.y[row], prediction);
}

/* ---- K folds ------------------------------------------------------------------------------ */

/* The rest of an output's rows, as part of the rest of all rows. */
static void leave_out_fold(work *s, int64_t fold)
{
    const int64_t n = s->one.n, folds = s->how->folds;
    double rest = 0.0;
    for (int64_t k = 0; k < n; k++)
        if (k % folds != fold) rest += s->all->sample->w[s->order[k]];
    for (int64_t k = 0; k < n; k++) {
        const int64_t row = s->order[k];
        s->one.w[row] = k % folds == fold ? 0.0 : s->w[row] / rest;
    }
}

static fen_status run_fold(work *s, int64_t t, int64_t fold, int64_t setting, int first,
                           const fenp_task *task, fen_error *err)
{
    const int64_t n = s->one.n;
    open_slot(s, t, fold);
    leave_out_fold(s, fold);
    if (first && fold > 0) {
        memcpy(s->now.dual, s->now.dual - n, (size_t)n * sizeof(double));
        s->scale = s->scales[t * s->parts + fold - 1];
    }
    const fen_status status = solve_next(s, t, setting, task, err);
    for (int64_t k = fold; status == FEN_OK && k < n; k += s->how->folds)
        keep(s, t, setting, s->order[k]);
    close_slot(s, t, fold);
    return status;
}

static fen_status run_folds(work *s, int64_t t, int64_t setting, int first, const fenp_task *task,
                            fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t k = 0; k < s->how->folds && status == FEN_OK; k++)
        status = run_fold(s, t, k, setting, first, task, err);
    return status;
}

/* ---- leave-one-out ------------------------------------------------------------------------ */

/* One row without its term, from the solution of all rows. */
static fen_status run_row(work *s, int64_t t, int64_t setting, int64_t row, const fenp_task *task,
                          fen_error *err)
{
    const double scale = s->scale, par = s->par;
    s->one.w[row] = 0.0;
    const fen_status status = solve(s, t, setting, task, err);
    if (status == FEN_OK) keep(s, t, setting, row);
    s->one.w[row] = s->w[row];
    memcpy(s->now.dual, s->full, (size_t)s->one.n * sizeof(double));
    s->scale = scale, s->par = par;
    return status;
}

/* Is b the only optimal one? A row holds it if the slope that its u stands for, -u/w, is between
 * those of its loss a little to the left and to the right: it is at a corner, or the loss is
 * curved there. */
static int is_offset_held(const work *s)
{
    const fen_loss *loss = s->all->loss;
    if (!s->all->bias) return 1;
    for (int64_t i = 0; i < s->one.n; i++) {
        if (!(s->w[i] > 0.0)) continue;
        const double y = s->one.y[i], t = s->now.scores[i] + s->offset;
        const double near = 1e-6 * (1.0 + fabs(y) + fabs(t)), slope = -s->full[i] / s->w[i];
        double left, right, unused;
        loss->slopes(y, t - near, &s->par, &left, &unused);
        loss->slopes(y, t + near, &s->par, &unused, &right);
        const double slack = 1e-9 * (fabs(left) + fabs(right));
        if (slope > left + slack && slope < right - slack) return 1;
    }
    return 0;
}

static fen_status run_rows(work *s, int64_t t, int64_t setting, const fenp_task *task,
                           fen_error *err)
{
    const int64_t n = s->one.n;
    open_slot(s, t, 0);
    memcpy(s->one.w, s->w, (size_t)n * sizeof(double));
    fen_status status = solve_next(s, t, setting, task, err);
    if (status != FEN_OK) return status;
    memcpy(s->full, s->now.dual, (size_t)n * sizeof(double));
    const int skips = is_offset_held(s);
    for (int64_t i = 0; skips && i < n; i++) /* before any refit changes the scores */
        if (s->full[i] == 0.0) keep(s, t, setting, i);
    for (int64_t i = 0; i < n && status == FEN_OK; i++) {
        const double at = (double)i / (double)n - 1.0;
        const fenp_task part = step_task(s, task, at, at);
        status = fenp_task_at(&part, 0.0, err);
        if (status == FEN_OK && (!skips || s->full[i] != 0.0))
            status = run_row(s, t, setting, i, &part, err);
    }
    close_slot(s, t, 0);
    return status;
}

/* ---- all settings --------------------------------------------------------------------------- */

static fen_status run_setting(work *s, int64_t setting, int first, const fenp_task *task,
                              fen_error *err)
{
    const fenp_sample *x = s->all->sample;
    fen_status status = FEN_OK;
    for (int64_t t = 0; t < x->targets && status == FEN_OK; t++) {
        s->one.y = x->y + t * x->n;
        fenp_output_weights(s->all->loss, s->one.y, x->w, x->n, s->w);
        s->weight = 0.0;
        for (int64_t i = 0; i < x->n; i++) s->weight += s->w[i];
        status = s->how->folds ? run_folds(s, t, setting, first, task, err)
                               : run_rows(s, t, setting, task, err);
    }
    return status;
}

/* Mean over the outputs of the score over that of the first setting, about the best constant's. */
static double compared(const work *s, int64_t setting, int64_t first)
{
    double sum = 0.0;
    for (int64_t t = 0; t < s->all->sample->targets; t++) {
        const double *of = s->scores + t * s->count;
        sum += of[first] > 0.0 ? of[setting] / of[first] : 1.0;
    }
    return sum;
}

static void leave_out_setting(work *s, int64_t setting)
{
    const fenp_sample *x = s->all->sample;
    for (int64_t t = 0; t < x->targets; t++) {
        const int64_t at = t * s->count + setting;
        s->scores[at] = INFINITY;
        if (s->held) memset(s->held + at * x->n, 0, (size_t)x->n * sizeof(double));
    }
    s->done += (double)(x->targets * s->parts);
}

/* The settings of one power, from *at on. */
static fen_status run_power(work *s, int64_t *at, const fenp_task *task, fen_error *err)
{
    const int64_t from = *at, slots = s->all->sample->targets * s->parts;
    const double power = s->points[s->walk[from]].power;
    double best = INFINITY;
    int tired = 0;
    memset(s->duals, 0, (size_t)(slots * s->one.n) * sizeof(double));
    memset(s->scales, 0, (size_t)slots * sizeof(double));
    for (; *at < s->count && s->points[s->walk[*at]].power == power; ++*at) {
        const int64_t setting = s->walk[*at];
        if (s->how->hurried && tired >= 2) {
            leave_out_setting(s, setting);
            continue;
        }
        const fen_status status = run_setting(s, setting, *at == from, task, err);
        if (status != FEN_OK) return status;
        const double now = compared(s, setting, s->walk[from]);
        if (isinf(now)) continue; /* says nothing of its neighbours */
        const int begun = best < BEGUN * compared(s, s->walk[from], s->walk[from]);
        tired = !begun || now < BETTER * best ? 0 : now > HOPELESS * best ? 2 : tired + 1;
        best = fmin(best, now);
    }
    return FEN_OK;
}

static void open_work(work *s, fenp_arena *arena)
{
    const fenp_sample *x = s->all->sample;
    const int64_t slots = x->targets * s->parts;
    s->one = *x;
    s->one.targets = 1;
    s->one.w = fenp_arena_doubles(arena, x->n);
    s->w = fenp_arena_doubles(arena, x->n);
    s->full = fenp_arena_doubles(arena, x->n);
    s->order = (int64_t *)fenp_arena_doubles(arena, x->n);
    s->walk = (int64_t *)fenp_arena_doubles(arena, s->count);
    s->duals = fenp_arena_doubles(arena, slots * x->n);
    s->scales = fenp_arena_doubles(arena, slots);
    s->pars = fenp_arena_doubles(arena, slots);
    s->now = (fenp_solution){ .dual = s->duals,
                              .scores = fenp_arena_doubles(arena, x->n),
                              .weights = fenp_arena_doubles(arena, x->p),
                              .scale = &s->scale,
                              .offset = &s->offset,
                              .gap = &s->gap };
    if (!s->all->kernel.table->linear) s->now.weights = NULL;
    for (int64_t k = 0; k < slots; k++) s->pars[k] = s->how->outputs[k / s->parts].par;
    s->task = *s->all;
    s->task.sample = &s->one;
    s->task.par = &s->par;
    s->task.lambda = s->points[0].lambda, s->task.power = s->points[0].power;
    s->task.gap = s->how->gap > 0.0 ? s->how->gap : s->how->folds ? FOLD_GAP : SINGLE_GAP;
    s->steps = (double)(slots * s->count);
    fenp_order_settings(s->points, s->count, s->walk);
}

fen_status fenp_scores_refit(fenp_arena *arena, const fenp_problem *problem, const fenp_refits *how,
                             const fenp_setting *points, int64_t count, double *scores,
                             double *held, const fenp_task *task, fen_error *err)
{
    const fenp_sample *x = problem->sample;
    work s = { .all = problem,
               .judge = fenp_judge(problem->loss),
               .how = how,
               .parts = parts_of(how->folds),
               .points = points,
               .count = count,
               .scores = scores,
               .held = held };
    open_work(&s, arena);
    fen_status status = FEN_OK;
    if (how->folds) status = fenp_deal_rows(x->n, how->folds, how->seed, s.order, err);
    s.one.y = x->y, s.par = how->outputs[0].par;
    memcpy(s.one.w, x->w, (size_t)x->n * sizeof(double));
    memset(scores, 0, (size_t)(count * x->targets) * sizeof(double));
    const fenp_task begin = fenp_task_part(task, task ? task->stage : "", 0.0, 0.0);
    if (status == FEN_OK) status = how->solver->begin(arena, &s.task, &s.state, &begin, err);
    const int narrowed = fenp_descend_narrow(how->solver, problem);
    for (int64_t at = 0; at < count && status == FEN_OK;) status = run_power(&s, &at, task, err);
    fenp_threads_widen(narrowed);
    return status;
}
