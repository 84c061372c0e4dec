/* prepare_source.c -- the preparation of a file that is read block by block
 *
 * One pass gathers statistics, fingerprint, a random part of the rows and what was left
 * out; the preparation follows from them at its end.
 * Special cases: a sparse file may widen from block to block, so the inputs grow with it
 *   (the label stays last, whatever comes). A target or weights that the user chose may
 *   stand in a column that the first block does not have, or be the number of another one
 *   once x0 has appeared: then the columns of a sparse file are found in a pass of its own.
 * Memory: one block, the statistics, the distinct texts and the part that is kept.
 */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"
#include "data/source.h"

typedef struct gathering {
    fenp_prep *prep;
    const fen_options *o; /* NULL: the columns of prep are known                 */
    fen_table *shape;     /* sparse and growing: the columns so far, no rows     */
    fenp_stats *stats;
    fenp_part *part; /* NULL: not wanted                                    */
    fenp_hash *hash;
    fenp_sample counts; /* only n and what was dropped                         */
    double value[2];    /* of the first target                                 */
    int values;         /* how many it has: 0, 1, 2, 3 (and more)              */
    long double weight;
    double lightest;
    char lightest_place[256];
    const char *title;
} gathering;

static void end_gathering(gathering *g)
{
    fen_table_free(g->shape);
    fenp_stats_free(g->stats);
    fenp_part_free(g->part);
    fenp_hash_free(g->hash);
    fenp_prep_free(g->prep);
}

/* ---- columns --------------------------------------------------------------------------- */
/* A table with the columns of a sparse block and no rows. */
static fen_status shape_of(const fen_table *block, fen_table **shape, fen_error *err)
{
    fen_table *made = fenp_table_new(fenp_table_title(block));
    const fen_table row = fenp_table_window(block, 0, 1);
    fen_status status = made ? fenp_table_append(made, &row, err)
                             : fenp_no_memory(err, (int64_t)sizeof *made, "the columns");
    if (status == FEN_OK) made->rows = 0;
    *shape = made;
    return status;
}

/* All columns that a sparse file has; back at its first block, with half of the task left. */
static fen_status find_shape(fenp_source *source, const fen_table **block, fenp_task *task,
                             fen_table **shape, fen_error *err)
{
    const fenp_task looking = fenp_task_part(task, task->stage, 0.0, 0.5);
    fen_status status = shape_of(*block, shape, err);
    while (status == FEN_OK && *block) {
        status = fenp_table_widen(*shape, *block, err);
        if (status == FEN_OK) status = fenp_task_at(&looking, fenp_source_fraction(source), err);
        if (status == FEN_OK) status = fenp_source_next(source, block, err);
    }
    *task = fenp_task_part(task, task->stage, 0.5, 1.0);
    if (status == FEN_OK) status = fenp_source_rewind(source, err);
    return status == FEN_OK ? fenp_source_next(source, block, err) : status;
}

/* Whether the first block of a sparse file may not tell the columns that matter. */
static int in_doubt(const fen_table *block, const fen_options *o)
{
    return (o->target && o->target[0]) || (o->weights && o->weights[0]) || block->cols < 2;
}

/* From the first block: who is who, and what is to be gathered. */
static fen_status start(gathering *g, fenp_source *source, const fen_table **block, fenp_task *task,
                        fen_error *err)
{
    fen_status status = FEN_OK;
    if ((*block)->start && (*block)->rows > 0)
        status = in_doubt(*block, g->o) ? find_shape(source, block, task, &g->shape, err)
                                        : shape_of(*block, &g->shape, err);
    if (status == FEN_OK)
        status = fenp_prep_start(g->shape ? g->shape : *block, g->o, &g->prep, err);
    if (status != FEN_OK) return status;
    if (g->prep->precomputed)
        return fenp_fail(err, FEN_BAD_CALL,
                         "a precomputed kernel is needed as a whole and cannot be read block by "
                         "block; choose another kernel");
    g->stats = fenp_stats_new(g->prep->inputs);
    return g->stats ? FEN_OK
                    : fenp_no_memory(err, fenp_bytes(g->prep->inputs, 1, sizeof(fenp_moments)),
                                     "column statistics");
}

/* A sparse block may have columns that those before it had not. Only then are there default
 * roles, which the wider table has too. */
static fen_status grow(gathering *g, const fen_table *block, fen_error *err)
{
    if (!g->shape) return FEN_OK;
    const int64_t before = g->shape->cols;
    fenp_prep *wider = NULL;
    fen_status status = fenp_table_widen(g->shape, block, err);
    if (status != FEN_OK || g->shape->cols == before) return status;
    status = fenp_prep_start(g->shape, g->o, &wider, err);
    if (status != FEN_OK) return status;
    const int64_t front = strcmp(wider->input[0].name, g->prep->input[0].name) != 0;
    for (int64_t t = 0; t < 2 * wider->targets; t++)
        wider->target_range[t] = g->prep->target_range[t];
    fenp_prep_free(g->prep);
    g->prep = wider;
    return fenp_stats_widen(g->stats, front, wider->inputs, err);
}

/* ---- rows ------------------------------------------------------------------------------ */
static void count_value(gathering *g, double value)
{
    int at = 0;
    while (at < g->values && at < 2 && g->value[at] != value) at++;
    if (at == 2)
        g->values = 3;
    else if (at == g->values)
        g->value[g->values++] = value;
}

static void count(gathering *g, const fenp_block *b)
{
    const fenp_sample *rows = b->rows;
    g->counts.n += rows->n;
    g->counts.dropped_missing += rows->dropped_missing;
    g->counts.dropped_weightless += rows->dropped_weightless;
    for (int64_t i = 0; i < rows->n; i++) {
        g->weight += rows->w[i];
        if (g->values < 3 && g->prep->targets == 1) count_value(g, rows->y[i]);
        if (rows->w[i] >= g->lightest) continue;
        g->lightest = rows->w[i];
        fenp_table_place(b->binding.table, b->pick[i], g->lightest_place, sizeof g->lightest_place);
    }
}

static fen_status add_block(gathering *g, const fen_table *table, fen_error *err)
{
    fenp_block block;
    fen_status status = fenp_block_open(g->prep, table, &block, err);
    if (status != FEN_OK) return status;
    count(g, &block);
    fenp_prep_see_targets(g->prep, block.rows);
    status = fenp_stats_add(g->stats, g->prep, &block, err);
    if (status == FEN_OK) status = fenp_hash_rows(g->hash, g->prep, &block, err);
    if (status == FEN_OK && g->part) status = fenp_part_add(g->part, &block, err);
    fenp_block_close(&block);
    return status;
}

/* All blocks, from the first row on. */
static fen_status gather(gathering *g, fenp_source *source, const fenp_task *whole, fen_error *err)
{
    const fen_table *block = NULL;
    fenp_task task = fenp_task_part(whole, whole ? whole->stage : "", 0.0, 1.0);
    g->title = fenp_source_title(source);
    g->lightest = INFINITY;
    g->hash = fenp_hash_new();
    if (!g->hash) return fenp_no_memory(err, 0, "the hash of the rows");
    fen_status status = fenp_source_rewind(source, err);
    if (status == FEN_OK) status = fenp_source_next(source, &block, err);
    if (status == FEN_OK && !block)
        return fenp_fail(err, FEN_BAD_DATA, "%.200s has no rows", g->title);
    if (status == FEN_OK && g->o) status = start(g, source, &block, &task, err);
    while (status == FEN_OK && block) {
        if (g->o) status = grow(g, block, err);
        if (status == FEN_OK) status = add_block(g, block, err);
        if (status == FEN_OK) status = fenp_task_at(&task, fenp_source_fraction(source), err);
        if (status == FEN_OK) status = fenp_source_next(source, &block, err);
    }
    if (status == FEN_OK) status = fenp_enough_rows(g->prep, g->title, &g->counts, err);
    if (status == FEN_OK && g->lightest / (double)g->weight < DBL_MIN)
        status = fenp_weight_vanishes(g->lightest_place, g->prep->weights, err);
    return status;
}

static fenp_summary summary_of(const gathering *g)
{
    return (fenp_summary){ .rows = g->counts.n,
                           .weight_sum = (double)g->weight,
                           .hash = fenp_hash_end(g->hash, g->prep),
                           .dropped_missing = g->counts.dropped_missing,
                           .dropped_weightless = g->counts.dropped_weightless,
                           .two_valued = g->values == 2,
                           .spread = fenp_stats_spread(g->stats, g->prep) };
}

/* ---- what others call ------------------------------------------------------------------ */
fen_status fenp_prep_learn_source(fenp_source *source, const fen_options *o, int64_t keep,
                                  fenp_prep **prep, fenp_summary *summary, fenp_sample **part,
                                  const fenp_task *task, fen_error *err)
{
    gathering g = { .o = o };
    fen_status status = FEN_OK;
    if (keep > 0 && !(g.part = fenp_part_new(keep, o->seed)))
        return fenp_no_memory(err, 0, "a part of the rows");
    status = gather(&g, source, task, err);
    if (status == FEN_OK) status = fenp_stats_learn(g.stats, g.prep, g.title, err);
    if (status == FEN_OK) status = fenp_prep_finish(g.prep, g.title, err);
    if (status == FEN_OK && g.part) status = fenp_part_sample(g.part, g.prep, part, err);
    if (status == FEN_OK) {
        *summary = summary_of(&g);
        *prep = g.prep;
        g.prep = NULL;
    }
    end_gathering(&g);
    return status;
}

fen_status fenp_prep_check_source(const fenp_prep *prep, fenp_source *source, int *agrees,
                                  fenp_summary *summary, const fenp_task *task, fen_error *err)
{
    gathering g = { .prep = fenp_prep_unlearned(prep), .stats = fenp_stats_new(prep->inputs) };
    fen_status status = g.prep && g.stats ? gather(&g, source, task, err)
                                          : fenp_no_memory(err, 0, "the preparation");
    if (status == FEN_OK) status = fenp_stats_learn(g.stats, g.prep, g.title, err);
    if (status == FEN_OK) {
        *agrees = fenp_prep_agree(prep, g.prep);
        *summary = summary_of(&g);
    }
    end_gathering(&g);
    return status;
}

fen_status fenp_prep_block(const fenp_prep *prep, const fen_table *block, fenp_sample **out,
                           fen_error *err)
{
    fenp_block rows;
    fen_status status = fenp_block_open(prep, block, &rows, err);
    if (status != FEN_OK) return status;
    status = fenp_block_features(prep, &rows, out, err);
    fenp_block_close(&rows);
    return status;
}
