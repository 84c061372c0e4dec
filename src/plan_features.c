/* plan_features.c -- what a fit on random features would take
 *
 * Memory: what is resident, the work area (moments, spectrum, a tile; with several settings
 * their leave-one-out tables) and the blocks of the file that are being read. Time: flops of
 * the features once, and once more where leave-one-out needs a pass of its own; those of the
 * exact scores on a part of the rows where gamma is to be chosen. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/registry.h"
#include "streamed.h"

enum { BLOCKS = 40 << 20 }; /* bytes: a block as text, as cells and prepared; threads of BLAS */

static fen_status sizes_of(fenp_source *source, const fen_options *o, fen_plan *plan,
                           fen_options *settled, const fenp_task *task, fen_error *err)
{
    fenp_prep *prep = NULL;
    fenp_summary summary;
    fen_status status = fenp_prep_learn_source(source, o, 0, &prep, &summary, NULL, task, err);
    if (status != FEN_OK) return status;
    plan->rows = summary.rows, plan->features = prep->features, plan->targets = prep->targets;
    status = fenp_settle_features(o, prep, summary.weight_sum, settled, err);
    fenp_prep_free(prep);
    return status;
}

fen_status fenp_plan_features(fenp_source *source, const fen_options *given, fen_plan *out,
                              const fenp_task *task, fen_error *err)
{
    const fen_kernel *kernel = fenp_kernel_of(given);
    fen_plan plan = { 0 };
    fen_options o;
    fenp_approx approx;
    fen_status status = fenp_features_check(given, kernel, &approx, err);
    if (status == FEN_OK) status = sizes_of(source, given, &plan, &o, task, err);
    if (status != FEN_OK) return status;
    const fenp_sample part = { .n = plan.rows < FENP_PART_ROWS ? plan.rows : FENP_PART_ROWS,
                               .p = plan.features,
                               .targets = plan.targets };
    const fenp_size size = fenp_size_of(&part, &o);
    fenp_strategy s;
    status = fenp_strategy_make(&o, kernel, fenp_find_loss(o.loss), &size, &s, err);
    if (status != FEN_OK) return status;
    const int64_t settings = (int64_t)s.lambdas * s.powers;
    const int passes = settings > 1 && strcmp(o.select, "loo") == 0 ? 2 : 1;
    const int64_t work = fenp_features_bytes(plan.features, approx.columns, plan.targets, settings);
    if (work < 0) return fenp_fail(err, FEN_MEMORY, "%s: more columns than memory", o.approx);
    plan.peak_bytes = fenp_memory_resident() + work + BLOCKS;
    plan.limit_bytes = fenp_memory_limit(&o);
    plan.fits = plan.peak_bytes <= plan.limit_bytes;
    plan.seconds = (passes * fenp_features_flops(plan.rows, plan.features, approx.columns) +
                    (s.gammas > 1 ? s.flops : 0.0)) /
                   fenp_measured_rate();
    snprintf(plan.method, sizeof plan.method, "%s", o.approx);
    snprintf(plan.why, sizeof plan.why, "the rows are streamed, memory goes with columns^2 only");
    if (s.gammas * settings == 1)
        snprintf(plan.selection, sizeof plan.selection,
                 "nothing to select: gamma, lambda and power are given");
    else
        snprintf(plan.selection, sizeof plan.selection,
                 "%s, %d gammas on a part of the rows, %lld settings of lambda and power on all",
                 o.select, s.gammas, (long long)settings);
    if (!plan.fits) snprintf(plan.advice, sizeof plan.advice, "use fewer columns in --approx");
    *out = plan;
    return FEN_OK;
}
