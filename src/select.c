/* select.c -- gamma, lambda and power: as given, by rule, or the best of a grid
 *
 * For every gamma all lambdas and powers are scored at once (select_scores.c). Automatic grids:
 * candidates.c; gammas go on past an end as long as that end is the best.
 * Large samples. Every gamma is tried on a seeded part of the rows, the winner and its neighbours
 * on a larger part (strategy.c says how large); lambda is the larger part's. Several outputs share
 * gamma, lambda and power. Penalties on coefficients: select_linear.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/registry.h"
#include "base/threads.h"
#include "select.h"
#include "story_lp.h"

enum { MOST_WIDENINGS = 8, MOST_GAMMAS = FEN_VALUES_MAX + MOST_WIDENINGS };

/* ---- one round over the gammas ------------------------------------------------------------ */

static double best_gamma(const fenp_search *s) { return s->grid[s->best].gamma; }

/* All gammas on the rows of s->sample; past an end while it is the best. */
static fen_status run_round(fenp_search *s, double *gammas, int *count, int widen,
                            const fenp_task *task, fen_error *err)
{
    const double ratio = fenp_gamma_step(s->kernel.table, 1);
    s->count = 0, s->best = -1;
    fen_status status = fenp_score_gammas(s, gammas, *count, task, err);
    for (int extra = 0; widen && status == FEN_OK && extra < MOST_WIDENINGS; extra++) {
        const int low = best_gamma(s) == gammas[0], high = best_gamma(s) == gammas[*count - 1];
        if (!low && !high) break;
        if (low) memmove(gammas + 1, gammas, (size_t)*count * sizeof(double));
        const int at = low ? 0 : *count;
        gammas[at] = low ? gammas[1] / ratio : gammas[at - 1] * ratio;
        ++*count;
        const fenp_task part = fenp_task_part(task, task->stage, 1.0, 1.0);
        status = fenp_score_gammas(s, gammas + at, 1, &part, err);
    }
    return status;
}

/* The winner of the coarse round and its neighbours. */
static void keep_neighbours(const fenp_search *s, double *gammas, int *count)
{
    int at = 0;
    while (at < *count - 1 && gammas[at] != best_gamma(s)) at++;
    const int from = at > 0 ? at - 1 : 0, to = at + 1 < *count ? at + 1 : at;
    memmove(gammas, gammas + from, (size_t)(to - from + 1) * sizeof(double));
    *count = to - from + 1;
}

static fen_status round_on(fenp_search *s, const fenp_sample *all, int64_t rows, double *gammas,
                           int *count, int widen, const fenp_task *task, fen_error *err)
{
    fenp_sample *part = NULL;
    fen_status status = FEN_OK;
    if (rows < all->n)
        status = fenp_sample_part(all, rows, s->o->seed, s->kernel.table->basis == FEN_PRECOMPUTED,
                                  &part, err);
    if (status != FEN_OK) return status;
    s->sample = part ? part : all;
    s->rows = s->sample->n;
    status = run_round(s, gammas, count, widen, task, err);
    fenp_sample_free(part);
    return status;
}

static fen_status search_grid(fenp_search *s, const fenp_sample *all, double *gammas, int count,
                              const fenp_task *task, fen_error *err)
{
    const fenp_strategy *plan = s->strategy;
    const fenp_task coarse = fenp_task_part(task, "narrowing gamma", 0.0, 0.2);
    const fenp_task fine =
        fenp_task_part(task, fenp_folds(s->o) ? "held-out scores" : "leave-one-out scores",
                       plan->coarse_rows ? 0.2 : 0.0, 1.0);
    fen_status status = FEN_OK;
    if (plan->coarse_rows) {
        status = round_on(s, all, plan->coarse_rows, gammas, &count, plan->widen, &coarse, err);
        if (status != FEN_OK) return status;
        s->coarse = s->grid[s->best];
        keep_neighbours(s, gammas, &count);
    }
    status = round_on(s, all, plan->rows, gammas, &count, plan->widen, &fine, err);
    if (status == FEN_OK && !isfinite(s->grid[s->best].score))
        status = fenp_fail(err, FEN_BAD_CALL,
                           "no lambda of the grid can be told from rounding errors: "
                           "give larger values with --lambda");
    return status;
}

static void take_point(const fenp_score *point, fenp_chosen *chosen)
{
    chosen->kernel.par.gamma = point->gamma;
    chosen->lambda = point->lambda;
    chosen->power = point->power;
}

/* FEN_LIMIT leaves the best point so far in chosen, if there is one. */
static fen_status search_best(const fenp_sample *sample, const fen_options *o,
                              const fenp_output *outputs, const fenp_strategy *strategy,
                              double *gammas, fenp_chosen *chosen, const fenp_task *task,
                              fen_error *err)
{
    fenp_search s = {
        .o = o, .outputs = outputs, .strategy = strategy, .all = sample, .kernel = chosen->kernel
    };
    const int64_t most = (strategy->gammas + MOST_WIDENINGS) * (int64_t)fenp_search_settings(&s);
    s.grid = fenp_new(most, sizeof *s.grid);
    fen_status status = s.grid ? search_grid(&s, sample, gammas, strategy->gammas, task, err)
                               : fenp_no_memory(err, 0, "the grid");
    const int some = status == FEN_LIMIT && s.count > 0 && isfinite(s.grid[s.best].score);
    if (status != FEN_OK && !some) {
        if (s.coarse.lambda > 0.0) take_point(&s.coarse, chosen);
        free(s.grid);
        return status;
    }
    const fenp_score *best = &s.grid[s.best];
    take_point(best, chosen);
    chosen->selection =
        (fenp_selection){ .rows = s.rows, .score = best->score, .count = s.count, .grid = s.grid };
    strncpy(chosen->selection.kind, o->select, sizeof chosen->selection.kind - 1);
    return status;
}

/* lambda, gamma and power of no search. */
static fen_status take_rule(const fenp_sample *sample, const fen_options *o,
                            const fenp_output *outputs, fenp_chosen *chosen, fen_error *err)
{
    double powers[FEN_VALUES_MAX], gammas[FEN_VALUES_MAX];
    const int count = fenp_list_powers(o, powers);
    int at = 0;
    while (at < count && powers[at] != 2.0) at++;
    chosen->power = powers[at < count ? at : 0];
    const fen_status status = fenp_list_gammas(o, chosen->kernel.table, sample, 1, gammas, err);
    if (status != FEN_OK) return status;
    chosen->kernel.par.gamma = gammas[0];
    chosen->lambda = fenp_lambda_of_no_search(sample, o, outputs, &chosen->kernel, chosen->power);
    return FEN_OK;
}

/* always: the scores are wanted even where there is nothing to choose. */
static fen_status choose(const fenp_sample *sample, const fen_options *o,
                         const fenp_output *outputs, const fen_kernel *kernel,
                         const fenp_strategy *strategy, int always, fenp_chosen *out,
                         const fenp_task *task, fen_error *err)
{
    double gammas[MOST_GAMMAS];
    fenp_chosen chosen = { .kernel = fenp_kernel_asked(o, kernel) };
    fen_status status = fenp_list_gammas(o, kernel, sample, strategy->gammas, gammas, err);
    if (status != FEN_OK) return status;
    chosen.kernel.par.gamma = gammas[0];
    if (fenp_is_lp(&chosen.kernel)) status = fenp_lp_rows_fit(&chosen.kernel, sample, o, err);
    if (status != FEN_OK) return status;
    if (always || strategy->gammas > 1 || strategy->lambdas > 1 || strategy->powers > 1)
        status = search_best(sample, o, outputs, strategy, gammas, &chosen, task, err);
    else
        status = take_rule(sample, o, outputs, &chosen, err);
    if (status == FEN_LIMIT && strategy->refits && !always) {
        chosen.cut = 1;
        status = chosen.lambda > 0.0 ? FEN_OK : take_rule(sample, o, outputs, &chosen, err);
    }
    if (status == FEN_OK)
        *out = chosen;
    else
        free(chosen.selection.grid);
    return status;
}

fen_status fenp_choose(const fenp_sample *sample, const fen_options *o, const fenp_output *outputs,
                       const fen_kernel *kernel, const fenp_strategy *strategy, fenp_chosen *out,
                       const fenp_task *task, fen_error *err)
{
    return choose(sample, o, outputs, kernel, strategy, 0, out, task, err);
}

/* ---- fen_select: the table itself ------------------------------------------------------ */

/* NULL: no memory */
static json_t *table_json(const fenp_sample *sample, const fen_options *o,
                          const fenp_output *outputs, const fenp_chosen *chosen)
{
    const int gammas = fenp_find_kernel(o->kernel)->uses_gamma, powers = !fenp_on_coefficients(o);
    json_t *out = json_pack("{s:I, s:I, s:I, s:b, s:s, s:s, s:s}", "n", (json_int_t)sample->n, "d",
                            (json_int_t)sample->p, "outputs", (json_int_t)sample->targets,
                            "relative", fenp_has_columns(outputs, sample->targets), "loss", o->loss,
                            "kernel", o->kernel, "penalty", o->penalty);
    const int failed =
        json_object_set_new(out, "gamma",
                            fenp_json_number(gammas ? chosen->kernel.par.gamma : NAN)) |
        json_object_set_new(out, "lambda", fenp_json_number(chosen->lambda)) |
        json_object_set_new(out, "power", fenp_json_number(powers ? chosen->power : NAN)) |
        fenp_selection_json(out, &chosen->selection, gammas, powers);
    if (!failed) return out;
    json_decref(out);
    return NULL;
}

static fen_status select_kernel(const fenp_sample *sample, const fen_options *o,
                                const fenp_output *outputs, fenp_chosen *chosen,
                                const fenp_task *task, fen_error *err)
{
    const fen_kernel *kernel = fenp_find_kernel(o->kernel);
    const fenp_size size = fenp_size_of(sample, o);
    fenp_strategy strategy;
    if (outputs[0].column < 0)
        return fenp_fail(err, FEN_BAD_CALL, "one class has no held-out score to select by");
    fen_status status =
        fenp_strategy_make(o, kernel, fenp_find_loss(o->loss), &size, &strategy, err);
    if (status == FEN_OK) status = fenp_strategy_fits(&strategy, o, &size, err);
    if (status == FEN_OK) status = fenp_check_kernel(kernel, sample, err);
    if (status == FEN_OK)
        status = choose(sample, o, outputs, kernel, &strategy, 1, chosen, task, err);
    return status;
}

static fen_status select_sample(const fenp_prep *prep, const fenp_sample *sample,
                                const fenp_settled *settled, const fenp_task *task, char **json,
                                fen_error *err)
{
    const fen_options *o = &settled->o;
    fenp_chosen chosen = { 0 };
    fen_status status = fenp_on_coefficients(o)
                            ? fenp_select_linear(prep, sample, settled, &chosen, task, err)
                            : select_kernel(sample, o, settled->output, &chosen, task, err);
    if (status == FEN_OK)
        status = fenp_json_text(table_json(sample, o, settled->output, &chosen), json, err);
    free(chosen.selection.grid);
    return status;
}

fen_status fen_select(const fen_table *table, const fen_options *o, const fen_host *host,
                      char **json, fen_error *err)
{
    fenp_prep *prep = NULL;
    fenp_sample *sample = NULL;
    fenp_settled settled = { 0 };
    fen_status status = fen_options_check(o, err);
    if (status == FEN_OK && strcmp(o->select, "none") == 0)
        status = fenp_fail(err, FEN_BAD_CALL,
                           "--select none leaves nothing to show: use loo, gcv or kfold:K");
    if (status == FEN_OK) status = fenp_prep_learn_nameless(table, o, &prep, &sample, err);
    if (status != FEN_OK) return status;
    const fenp_threads before = fenp_threads_enter(o->threads);
    const fenp_task task = fenp_task_start(host, o->time_limit_seconds);
    status = fenp_settle(o, prep, sample, &settled, err);
    if (status == FEN_OK) status = select_sample(prep, sample, &settled, &task, json, err);
    fenp_threads_leave(before);
    fenp_settled_free(&settled);
    fenp_sample_free(sample);
    fenp_prep_free(prep);
    return status;
}
