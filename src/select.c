/* select.c -- gamma, lambda and power: as given, by rule, or the best of a grid
 *
 * Scores are exact leave-one-out (or GCV, or K-fold) weighted mean squared errors of
 * every grid point. For one gamma, one eigendecomposition scores all lambdas.
 * Automatic grids. lambda: 25 values from 1e-11 to 10 times the mean of k(x,x), for other
 * powers than 2 those that shrink a function of the size of the targets as much. gamma:
 * 10 values in steps of 2 (its root for inverse lengths) around 1/(mean squared
 * distance), continued past an end as long as that end is the best.
 * Large samples. Every gamma is tried on a seeded part of the rows, the winner and its
 * neighbours on a larger part (plan.c says how large); lambda is the larger part's.
 * Several targets share gamma, lambda and power: the score is then the mean over the targets
 * of the squared error relative to the target's variance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/registry.h"
#include "base/threads.h"
#include "promise/loo.h"
#include "story.h"

enum { LOW_STEP = -6, MOST_WIDENINGS = 8, MOST_GAMMAS = FEN_VALUES_MAX + MOST_WIDENINGS };

typedef struct search {
    const fen_options *o;
    const fenp_strategy *strategy;
    const fenp_sample *all;    /* every row: what the units of lambda go by */
    const fenp_sample *sample; /* the rows of this round                    */
    fenp_kernel kernel;
    fenp_score *grid;
    int64_t count, best;
} search;

/* ---- the candidates --------------------------------------------------------------- */

static fen_status gamma_unit(const fen_kernel *kernel, const fenp_sample *s, double *unit,
                             fen_error *err)
{
    if (kernel->basis != FEN_PRODUCT)
        return fenp_gamma_mean(kernel, fenp_sample_inputs(s), s->w, unit, err);
    double square = 0.0; /* products: so that gamma x.x is near 1 */
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->p; j++)
            square += s->w[i] * s->x[i * s->p + j] * s->x[i * s->p + j];
    *unit = square > 0.0 ? 1.0 / square : 1.0;
    return FEN_OK;
}

static double gamma_step(const fen_kernel *kernel, int k)
{
    return pow(2.0, kernel->gamma_is_inverse_length ? 0.5 * k : k);
}

static fen_status list_gammas(const fen_options *o, const fen_kernel *kernel, const fenp_sample *s,
                              int wanted, double *gammas, int *count, fen_error *err)
{
    *count = wanted;
    gammas[0] = 0.0;
    if (!kernel->uses_gamma) return FEN_OK;
    if (o->gamma.choice == FEN_GIVEN) {
        memcpy(gammas, o->gamma.at, (size_t)wanted * sizeof(double));
        return FEN_OK;
    }
    double unit;
    const fen_status status = gamma_unit(kernel, s, &unit, err);
    if (status != FEN_OK) return status;
    for (int k = 0; k < wanted; k++)
        gammas[k] = wanted == 1 ? unit : unit * gamma_step(kernel, LOW_STEP + k);
    return FEN_OK;
}

static double variance(const fenp_sample *s, int64_t t)
{
    const double *y = s->y + t * s->n;
    double mean = 0.0, sum = 0.0;
    for (int64_t i = 0; i < s->n; i++) mean += s->w[i] * y[i];
    for (int64_t i = 0; i < s->n; i++) sum += s->w[i] * (y[i] - mean) * (y[i] - mean);
    return sum;
}

/* lambda (2/m) N^(2-m) of power m does to a function of norm N what lambda of power 2 does;
 * N is that of the (geometric mean of the) targets: deviation / sqrt(k(x,x)).
 * --as sklearn: alpha = n lambda, n the sum of the weights of all rows, whatever part of
 * them is being scored. */
void fenp_lambdas_by_units(const fen_options *o, const fenp_units *u, int wanted, double power,
                           double *lambdas)
{
    const double divisor = strcmp(o->as, "sklearn") == 0 ? u->weight_sum : 1.0;
    if (o->lambda.choice == FEN_GIVEN)
        for (int k = 0; k < wanted; k++) lambdas[k] = o->lambda.at[k] / divisor;
    else if (wanted == 1)
        lambdas[0] = 1.0 / u->weight_sum;
    else {
        double unit = u->diagonal > 0.0 ? u->diagonal : 1.0;
        const double log_norm = u->log_deviation - 0.5 * log(unit);
        if (power != 2.0) unit *= 2.0 / power * exp((2.0 - power) * log_norm);
        for (int k = 0; k < wanted; k++)
            lambdas[k] = unit * pow(10.0, -11.0 + 12.0 * k / (wanted - 1));
    }
}

void fenp_list_lambdas(const fen_options *o, const fenp_kernel *kernel, const fenp_sample *all,
                       int wanted, double power, double *lambdas)
{
    fenp_units u = { .weight_sum = all->weight_sum };
    u.diagonal = fenp_gram_mean_diagonal(kernel, fenp_sample_inputs(all), all->w);
    for (int64_t t = 0; t < all->targets; t++) {
        const double square = variance(all, t);
        u.log_deviation += square > 0.0 ? 0.5 * log(square) / (double)all->targets : 0.0;
    }
    fenp_lambdas_by_units(o, &u, wanted, power, lambdas);
}

/* All lambdas of every power; points has room for strategy->powers x lambdas. */
static void list_settings(const search *s, const fenp_kernel *kernel, fenp_setting *points)
{
    double powers[FEN_VALUES_MAX], lambdas[FEN_VALUES_MAX];
    const int count = fenp_list_powers(s->o, powers), wanted = s->strategy->lambdas;
    for (int m = 0; m < count; m++) {
        fenp_list_lambdas(s->o, kernel, s->all, wanted, powers[m], lambdas);
        for (int l = 0; l < wanted; l++)
            points[m * wanted + l] = (fenp_setting){ lambdas[l], powers[m] };
    }
}

/* ---- the scores of one gamma ------------------------------------------------------- */

static int settings_of(const search *s) { return s->strategy->lambdas * s->strategy->powers; }

static void record(search *s, const fenp_kernel *kernel, const fenp_setting *points,
                   const double *scores)
{
    const int count = settings_of(s);
    const int64_t targets = s->sample->targets;
    for (int l = 0; l < count; l++) {
        double score = 0.0;
        for (int64_t t = 0; t < targets; t++) {
            const double unit = targets > 1 ? variance(s->sample, t) * (double)targets : 1.0;
            score += scores[t * count + l] / (unit > 0.0 ? unit : 1.0);
        }
        if (isnan(score)) score = INFINITY;
        s->grid[s->count] =
            (fenp_score){ kernel->par.gamma, points[l].lambda, points[l].power, score };
        if (s->best < 0 || score < s->grid[s->best].score) s->best = s->count;
        s->count++;
    }
}

static fen_status compute_scores(const search *s, const fenp_problem *problem,
                                 const fenp_setting *points, int count, double *scores,
                                 const fenp_task *task, fen_error *err)
{
    const fenp_sample *x = s->sample;
    const fenp_size size = fenp_size_of(x, s->o);
    const int64_t folds = fenp_folds(s->o);
    const int primal = s->strategy->solver->in_weights && x->p < x->n;
    const int few = fenp_scores_by_cholesky(&size, count, primal, folds);
    const fenp_score_kind kind = strcmp(s->o->select, "gcv") == 0 ? FENP_GCV : FENP_LOO;
    const int64_t bytes = fenp_scoring_bytes(&size, count, folds, primal);
    fenp_arena arena;
    fen_status status = fenp_arena_open(&arena, bytes, "the leave-one-out scores", err);
    if (status != FEN_OK) return status;
    if (folds)
        status =
            fenp_scores_kfold(&arena, problem, points, count, folds, s->o->seed, scores, task, err);
    else if (few)
        status = fenp_scores_cholesky(&arena, problem, points, count, kind, scores, task, err);
    else {
        fenp_spectrum spectrum;
        status = fenp_spectrum_make(&arena, problem, primal, &spectrum, task, err);
        if (status == FEN_OK)
            status = fenp_scores_spectrum(&arena, &spectrum, x->w, problem->bias, points, count,
                                          kind, scores, err);
    }
    fenp_arena_close(&arena);
    return status;
}

/* Rows up to which gammas are scored side by side, each by one thread: below that an
 * eigendecomposition gains little from a second core, above it memory is better kept. */
enum { SIDE_BY_SIDE = 2000 };

int fenp_gammas_at_once(int64_t rows, int gammas)
{
    const int threads = omp_get_max_threads();
    return rows > SIDE_BY_SIDE ? 1 : gammas < threads ? gammas : threads;
}

/* Candidates and scores of one gamma, filled by whichever thread takes it. */
typedef struct column {
    fenp_kernel kernel;
    fenp_setting *points; /* count                                     */
    double *scores;       /* targets x count                           */
    fen_status status;
    fen_error err;
} column;

static void score_column(const search *s, column *c, const fenp_task *task)
{
    const int count = settings_of(s);
    const fenp_problem problem = { .sample = s->sample,
                                   .loss = fenp_find_loss(s->o->loss),
                                   .kernel = c->kernel,
                                   .bias = s->o->bias };
    c->points = fenp_new(count, sizeof *c->points);
    c->scores = fenp_new(count, s->sample->targets * (int64_t)sizeof(double));
    if (c->points && c->scores) {
        list_settings(s, &c->kernel, c->points);
        c->status = compute_scores(s, &problem, c->points, count, c->scores, task, &c->err);
    } else
        c->status = fenp_no_memory(&c->err, 0, "the scores");
    if (c->status == FEN_OK) c->status = fenp_task_at(task, 1.0, &c->err);
}

/* Only the first thread reports, and all stop when one has failed or been stopped. */
static void score_one(const search *s, const double *gammas, int count, int k, column *columns,
                      int *failed, const fenp_task *task)
{
    int stop;
#pragma omp atomic read
    stop = *failed;
    if (stop) return;
    const fenp_task part = fenp_task_part(task, task->stage, (double)k / count, (k + 1.0) / count);
    columns[k].kernel = s->kernel;
    columns[k].kernel.par.gamma = gammas[k];
    score_column(s, &columns[k], omp_get_thread_num() == 0 ? &part : NULL);
    if (columns[k].status != FEN_OK) {
#pragma omp atomic write
        *failed = 1;
    }
}

/* Where gammas take turns there must be no parallel region, not even of one thread: in one,
 * libgomp makes new threads for every single call of BLAS. */
static fen_status score_gammas(search *s, const double *gammas, int count, const fenp_task *task,
                               fen_error *err)
{
    column *columns = fenp_new_zeroed(count, sizeof *columns);
    if (!columns) return fenp_no_memory(err, count * (int64_t)sizeof *columns, "the scores");
    const int threads = fenp_gammas_at_once(s->sample->n, count);
    int failed = 0;
    if (threads > 1) {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int k = 0; k < count; k++) score_one(s, gammas, count, k, columns, &failed, task);
    } else
        for (int k = 0; k < count; k++) score_one(s, gammas, count, k, columns, &failed, task);
    fen_status status = FEN_OK;
    for (int k = 0; k < count; k++) {
        if (status == FEN_OK && columns[k].status != FEN_OK)
            status = fenp_fail(err, columns[k].status, "%s", columns[k].err.message);
        if (status == FEN_OK) record(s, &columns[k].kernel, columns[k].points, columns[k].scores);
        free(columns[k].points);
        free(columns[k].scores);
    }
    free(columns);
    return status;
}

/* ---- one round over the gammas ------------------------------------------------------- */

static double best_gamma(const search *s) { return s->grid[s->best].gamma; }

/* All gammas on the rows of s->sample; past an end while it is the best. */
static fen_status run_round(search *s, double *gammas, int *count, int widen, const fenp_task *task,
                            fen_error *err)
{
    const double ratio = gamma_step(s->kernel.table, 1);
    s->count = 0, s->best = -1;
    fen_status status = score_gammas(s, gammas, *count, task, err);
    for (int extra = 0; widen && status == FEN_OK && extra < MOST_WIDENINGS; extra++) {
        const int low = best_gamma(s) == gammas[0], high = best_gamma(s) == gammas[*count - 1];
        if (!low && !high) break;
        if (low) memmove(gammas + 1, gammas, (size_t)*count * sizeof(double));
        const int at = low ? 0 : *count;
        gammas[at] = low ? gammas[1] / ratio : gammas[at - 1] * ratio;
        ++*count;
        const fenp_task part = fenp_task_part(task, task->stage, 1.0, 1.0);
        status = score_gammas(s, gammas + at, 1, &part, err);
    }
    return status;
}

/* The winner of the coarse round and its neighbours. */
static void keep_neighbours(const search *s, double *gammas, int *count)
{
    int at = 0;
    while (at < *count - 1 && gammas[at] != best_gamma(s)) at++;
    const int from = at > 0 ? at - 1 : 0, to = at + 1 < *count ? at + 1 : at;
    memmove(gammas, gammas + from, (size_t)(to - from + 1) * sizeof(double));
    *count = to - from + 1;
}

static fen_status round_on(search *s, const fenp_sample *all, int64_t rows, double *gammas,
                           int *count, int widen, const fenp_task *task, fen_error *err)
{
    fenp_sample *part = NULL;
    fen_status status = FEN_OK;
    if (rows < all->n)
        status = fenp_sample_part(all, rows, s->o->seed, s->kernel.table->basis == FEN_PRECOMPUTED,
                                  &part, err);
    if (status != FEN_OK) return status;
    s->sample = part ? part : all;
    status = run_round(s, gammas, count, widen, task, err);
    fenp_sample_free(part);
    return status;
}

static fen_status search_grid(search *s, const fenp_sample *all, double *gammas, int count,
                              const fenp_task *task, fen_error *err)
{
    const fenp_strategy *plan = s->strategy;
    const fenp_task coarse = fenp_task_part(task, "narrowing gamma", 0.0, 0.2);
    const fenp_task fine =
        fenp_task_part(task, "leave-one-out scores", plan->coarse_rows ? 0.2 : 0.0, 1.0);
    fen_status status = FEN_OK;
    if (plan->coarse_rows) {
        status = round_on(s, all, plan->coarse_rows, gammas, &count, plan->widen, &coarse, err);
        if (status != FEN_OK) return status;
        keep_neighbours(s, gammas, &count);
    }
    status = round_on(s, all, plan->rows, gammas, &count, plan->widen, &fine, err);
    if (status == FEN_OK && !isfinite(s->grid[s->best].score))
        status = fenp_fail(err, FEN_BAD_CALL,
                           "no lambda of the grid can be told from rounding errors: "
                           "give larger values with --lambda");
    return status;
}

static fen_status choose(const fenp_sample *sample, const fen_options *o, const fen_kernel *kernel,
                         const fenp_strategy *strategy, int always, fenp_chosen *out,
                         const fenp_task *task, fen_error *err)
{
    double gammas[MOST_GAMMAS];
    int count;
    fenp_chosen chosen = { .kernel = { kernel, { 0.0, o->degree, o->coef0 } } };
    fen_status status = list_gammas(o, kernel, sample, strategy->gammas, gammas, &count, err);
    if (status != FEN_OK) return status;
    chosen.kernel.par.gamma = gammas[0];
    if (!always && strategy->gammas == 1 && strategy->lambdas == 1 && strategy->powers == 1) {
        double powers[FEN_VALUES_MAX];
        fenp_list_powers(o, powers);
        chosen.power = powers[0];
        fenp_list_lambdas(o, &chosen.kernel, sample, 1, chosen.power, &chosen.lambda);
        *out = chosen;
        return FEN_OK;
    }
    search s = { .o = o, .strategy = strategy, .all = sample, .kernel = chosen.kernel };
    s.grid = fenp_new(count + MOST_WIDENINGS, settings_of(&s) * (int64_t)sizeof *s.grid);
    if (!s.grid) return fenp_no_memory(err, 0, "the grid");
    status = search_grid(&s, sample, gammas, count, task, err);
    if (status != FEN_OK) {
        free(s.grid);
        return status;
    }
    const fenp_score *best = &s.grid[s.best];
    chosen.kernel.par.gamma = best->gamma;
    chosen.lambda = best->lambda;
    chosen.power = best->power;
    chosen.selection = (fenp_selection){
        .rows = strategy->rows, .score = best->score, .count = s.count, .grid = s.grid
    };
    strncpy(chosen.selection.kind, o->select, sizeof chosen.selection.kind - 1);
    *out = chosen;
    return FEN_OK;
}

fen_status fenp_choose(const fenp_sample *sample, const fen_options *o, const fen_kernel *kernel,
                       const fenp_strategy *strategy, fenp_chosen *out, const fenp_task *task,
                       fen_error *err)
{
    return choose(sample, o, kernel, strategy, 0, out, task, err);
}

/* ---- fen_select: the table itself ------------------------------------------------------ */

/* NULL: no memory */
static json_t *table_json(const fenp_sample *sample, const fen_options *o,
                          const fenp_chosen *chosen)
{
    json_t *out = json_pack("{s:I, s:I, s:s}", "n", (json_int_t)sample->n, "d",
                            (json_int_t)sample->p, "kernel", o->kernel);
    const int failed =
        json_object_set_new(out, "gamma", fenp_json_number(chosen->kernel.par.gamma)) |
        json_object_set_new(out, "lambda", fenp_json_number(chosen->lambda)) |
        json_object_set_new(out, "power", fenp_json_number(chosen->power)) |
        fenp_selection_json(out, &chosen->selection);
    if (!failed) return out;
    json_decref(out);
    return NULL;
}

static fen_status select_sample(const fenp_sample *sample, const fen_options *given,
                                const fenp_task *task, char **json, fen_error *err)
{
    const fen_kernel *kernel = fenp_find_kernel(given->kernel);
    fen_options o;
    fenp_strategy strategy;
    fenp_chosen chosen = { 0 };
    fen_status status = fenp_settle(given, sample, &o, err);
    if (status != FEN_OK) return status;
    const fenp_size size = fenp_size_of(sample, &o);
    status = fenp_strategy_make(&o, kernel, fenp_find_loss(o.loss), &size, &strategy, err);
    if (status == FEN_OK) status = fenp_strategy_fits(&strategy, &o, &size, err);
    if (status == FEN_OK) status = fenp_check_kernel(kernel, sample, err);
    if (status == FEN_OK) status = choose(sample, &o, kernel, &strategy, 1, &chosen, task, err);
    if (status == FEN_OK) status = fenp_json_text(table_json(sample, &o, &chosen), json, err);
    free(chosen.selection.grid);
    return status;
}

fen_status fen_select(const fen_table *table, const fen_options *o, const fen_host *host,
                      char **json, fen_error *err)
{
    fenp_prep *prep = NULL;
    fenp_sample *sample = NULL;
    fen_status status = fen_options_check(o, err);
    if (status == FEN_OK && strcmp(o->select, "none") == 0)
        status = fenp_fail(err, FEN_BAD_CALL,
                           "--select none leaves nothing to show: use loo, gcv or kfold:K");
    if (status == FEN_OK) status = fenp_prep_learn(table, o, &prep, &sample, err);
    if (status != FEN_OK) return status;
    const fenp_threads before = fenp_threads_enter(o->threads);
    const fenp_task task = fenp_task_start(host, o->time_limit_seconds);
    status = select_sample(sample, o, &task, json, err);
    fenp_threads_leave(before);
    fenp_sample_free(sample);
    fenp_prep_free(prep);
    return status;
}
