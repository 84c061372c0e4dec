/* prepare_stats.c -- what the training rows say about each input
 *
 *   numbers  mean = sum w x / sum w over the cells that are there (fill);
 *            variance = sum w (x - mean)^2 / sum w, where gaps count as the mean
 *            standard: center = mean, scale = standard deviation
 *            range:    center = least, scale = largest - least
 *            none:     center = 0, scale = 1
 *            sparse tables: center = 0, so that zeros stay zeros
 *   text     levels by weight, heaviest first, then by name; the first 50 are kept
 *   spread   2 sum of the variances of the features: variance / scale^2 of numbers and
 *            p (1 - p) of features that are 1 in the fraction p of the weight, else 0
 *
 * Weights enter as written: weight 2 equals the row twice. A column is constant if its
 * standard deviation is at most 1e-12 of its largest value; text, if it has one level and
 * no gap. Where constants are kept (prepare.h), numbers other than 0 keep their scale. Rows come in
 * any number of blocks. Memory: that of the distinct texts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/prepare_parts.h"

/* The distinct texts of an input, and how much weight each has. */
typedef struct texts {
    fenp_column column; /* only its levels                                     */
    double *weight;
    int64_t room;
    int64_t kept[FENP_LEVELS_MAX]; /* the levels that became features, once learned       */
} texts;

struct fenp_stats {
    int64_t inputs;
    fenp_moments *of; /* one per input                                       */
    texts *text;      /* one per input; NULL until an input is text          */
    long double weight;
    int64_t rows;
};

fenp_stats *fenp_stats_new(int64_t inputs)
{
    fenp_stats *stats = fenp_new_zeroed(1, sizeof *stats);
    if (!stats) return NULL;
    stats->inputs = inputs;
    stats->of = fenp_new_zeroed(inputs, sizeof *stats->of);
    if (stats->of) return stats;
    free(stats);
    return NULL;
}

void fenp_stats_free(fenp_stats *stats)
{
    if (!stats) return;
    for (int64_t j = 0; stats->text && j < stats->inputs; j++) {
        fenp_column_clear(&stats->text[j].column);
        free(stats->text[j].weight);
    }
    free(stats->text);
    free(stats->of);
    free(stats);
}

fen_status fenp_stats_widen(fenp_stats *stats, int64_t before, int64_t inputs, fen_error *err)
{
    fenp_moments *of = fenp_new_zeroed(inputs, sizeof *of);
    if (!of) return fenp_no_memory(err, fenp_bytes(inputs, 1, sizeof *of), "column statistics");
    memcpy(of + before, stats->of, (size_t)stats->inputs * sizeof *of);
    free(stats->of);
    stats->of = of;
    stats->inputs = inputs; /* a table that widens is sparse: it has no text */
    return FEN_OK;
}

/* ---- gathering ------------------------------------------------------------------------- */
static fen_status check_finite(const fenp_stats *stats, const fenp_prep *prep, const fenp_block *b,
                               fen_error *err)
{
    for (int64_t j = 0; j < prep->inputs; j++) {
        const fenp_moments *m = &stats->of[j];
        if (!m->seen || (isfinite(m->least) && isfinite(m->largest))) continue;
        char place[256];
        int64_t i = 0;
        while (i + 1 < b->rows->n &&
               !isinf(fenp_bound_cell(&b->binding, b->pick[i], b->binding.input[j])))
            i++;
        return fenp_fail(err, FEN_BAD_DATA,
                         "%s: column \"%.60s\" is infinite; leave it out if it "
                         "is not known",
                         fenp_table_place(b->binding.table, b->pick[i], place, sizeof place),
                         prep->input[j].name);
    }
    return FEN_OK;
}

/* The number of a text among all so far; -1: out of memory. */
static int64_t level_of(texts *t, const char *text)
{
    const int64_t level = fenp_column_code(&t->column, text, (int64_t)strlen(text));
    if (level < t->room) return level;
    const int64_t room = 2 * level + 16;
    double *weight = fenp_resize(t->weight, room, sizeof *weight);
    if (!weight) return -1;
    for (int64_t k = t->room; k < room; k++) weight[k] = 0.0;
    t->weight = weight;
    t->room = room;
    return level;
}

/* Weights are added row by row, so that blocks do not change which level is the heavier.
 * level: room for what the levels of the block's column are among all. */
static int add_cells(texts *t, const fenp_block *b, int64_t at, int64_t *level)
{
    const fen_table *table = b->binding.table;
    const fenp_column *column = &table->column[at];
    for (int64_t k = 0; k < column->level_count; k++)
        if ((level[k] = level_of(t, column->levels[k])) < 0) return -1;
    for (int64_t i = 0; i < b->rows->n; i++) {
        const double cell = fenp_table_cell(table, b->pick[i], at);
        char number[33];
        if (isnan(cell)) continue;
        if (!column->text) number[fenp_print_double(cell, number)] = '\0';
        const int64_t known = column->text ? level[(int64_t)cell] : level_of(t, number);
        if (known < 0) return -1;
        t->weight[known] += b->rows->w[i];
    }
    return 0;
}

static fen_status add_text(texts *t, const fenp_block *b, int64_t column, fen_error *err)
{
    const int64_t count = b->binding.table->column[column].level_count;
    int64_t *level = fenp_new(count, sizeof *level);
    fen_status status = level && add_cells(t, b, column, level) == 0
                            ? FEN_OK
                            : fenp_no_memory(err, 8 * count, "text levels");
    free(level);
    return status;
}

static fen_status add_texts(fenp_stats *stats, const fenp_prep *prep, const fenp_block *b,
                            fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t j = 0; status == FEN_OK && j < prep->inputs; j++) {
        if (!prep->input[j].text) continue;
        if (!stats->text) stats->text = fenp_new_zeroed(stats->inputs, sizeof *stats->text);
        status = stats->text ? add_text(&stats->text[j], b, b->binding.input[j], err)
                             : fenp_no_memory(err, 8 * stats->inputs, "text levels");
    }
    return status;
}

fen_status fenp_stats_add(fenp_stats *stats, const fenp_prep *prep, const fenp_block *block,
                          fen_error *err)
{
    for (int64_t i = 0; i < block->rows->n; i++) stats->weight += block->rows->w[i];
    stats->rows += block->rows->n;
    fen_status status = fenp_moments_add(block, stats->of, err);
    if (status == FEN_OK) status = check_finite(stats, prep, block, err);
    return status == FEN_OK ? add_texts(stats, prep, block, err) : status;
}

/* ---- numbers --------------------------------------------------------------------------- */
/* The zeros that a sparse table does not store; gaps do not occur in one. Dense: none. */
static void add_zeros(const fenp_stats *stats, fenp_moments *m)
{
    const fenp_moments zeros = { .weight = fmaxl(stats->weight - m->weight, 0.0L),
                                 .seen = stats->rows - m->seen - m->gaps };
    if (zeros.seen > 0 && zeros.weight + m->weight > 0.0L) fenp_moments_merge(m, &zeros);
}

/* Training rows can be prepared then, whichever they are. */
static int in_reach(const fenp_input *input, const fenp_moments *m)
{
    return isfinite((m->least - input->center) / input->scale) &&
           isfinite((m->largest - input->center) / input->scale);
}

static fen_status learn_number(fenp_input *input, const fenp_moments *m, long double weight,
                               const fenp_prep *prep, const char *title, fen_error *err)
{
    const double deviation = (double)sqrtl(m->square / weight);
    const double size = fmax(fabs(m->least), fabs(m->largest));
    const double mean = (double)(m->base + m->rest);
    input->fill = mean;
    if (m->seen > 0) { /* a row may always lack the column of a sparse file */
        input->least = prep->sparse ? fmin(m->least, 0.0) : m->least;
        input->largest = prep->sparse ? fmax(m->largest, 0.0) : m->largest;
    }
    const int varies = m->seen > 0 && deviation > 1e-12 * size;
    input->constant = !varies && !(prep->constants && m->seen > 0 && size > 0.0);
    input->gaps = m->gaps > 0 && m->seen > 0;
    if (!varies || strcmp(prep->scaling, "none") == 0) return FEN_OK;
    const int range = strcmp(prep->scaling, "range") == 0;
    input->center = prep->sparse ? 0.0 : range ? m->least : mean;
    input->scale = range ? m->largest - m->least : deviation;
    if (in_reach(input, m)) return FEN_OK;
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s: the values of column \"%.60s\" lie too far apart to be computed "
                     "with; rescale it",
                     title, input->name);
}

/* ---- text ------------------------------------------------------------------------------ */
typedef struct level {
    const char *name;
    double weight;
    int64_t code;
} level;

static int heavier(const void *a, const void *b)
{
    const level *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return strcmp(x->name, y->name);
}

static fen_status keep_levels(fenp_input *input, texts *t, const level *sorted, int64_t count,
                              fen_error *err)
{
    input->levels = fenp_new_zeroed(count, sizeof *input->levels);
    for (int64_t k = 0; input->levels && k < count; k++) {
        input->levels[k] = fenp_strdup(sorted[k].name);
        if (!input->levels[k])
            return fenp_no_memory(err, (int64_t)strlen(sorted[k].name), "a text level");
        t->kept[input->level_count++] = sorted[k].code;
    }
    return input->levels ? FEN_OK : fenp_no_memory(err, 8 * count, "text levels");
}

static fen_status learn_text(fenp_input *input, texts *t, int64_t gaps, fen_error *err)
{
    const int64_t count = t->column.level_count;
    level *levels = fenp_new(count, sizeof *levels);
    if (!levels) return fenp_no_memory(err, count * (int64_t)sizeof *levels, "text levels");
    int64_t seen = 0;
    for (int64_t k = 0; k < count; k++)
        if (t->weight[k] > 0.0) levels[seen++] = (level){ t->column.levels[k], t->weight[k], k };
    qsort(levels, (size_t)seen, sizeof *levels, heavier);
    input->constant = seen + (gaps > 0) < 2;
    input->spare = seen <= FENP_LEVELS_MAX && gaps == 0;
    fen_status status =
        keep_levels(input, t, levels, seen < FENP_LEVELS_MAX ? seen : FENP_LEVELS_MAX, err);
    free(levels);
    return status;
}

/* ---- all inputs ------------------------------------------------------------------------ */
fen_status fenp_stats_learn(fenp_stats *stats, fenp_prep *prep, const char *title, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t j = 0; status == FEN_OK && j < prep->inputs; j++) {
        add_zeros(stats, &stats->of[j]);
        status =
            prep->input[j].text
                ? learn_text(&prep->input[j], &stats->text[j], stats->of[j].gaps, err)
                : learn_number(&prep->input[j], &stats->of[j], stats->weight, prep, title, err);
    }
    return status;
}

fen_status fenp_learn_inputs(fenp_prep *prep, const fenp_block *block, fen_error *err)
{
    fenp_stats *stats = fenp_stats_new(prep->inputs);
    if (!stats)
        return fenp_no_memory(err, prep->inputs * (int64_t)sizeof(fenp_moments),
                              "column statistics");
    fen_status status = fenp_stats_add(stats, prep, block, err);
    if (status == FEN_OK)
        status = fenp_stats_learn(stats, prep, fenp_table_title(block->binding.table), err);
    fenp_stats_free(stats);
    return status;
}

/* ---- spread ---------------------------------------------------------------------------- */
static double indicator_variance(long double weight, long double total)
{
    const long double share = weight / total;
    return (double)(share * (1.0L - share));
}

static double text_variance(const fenp_input *input, const texts *t, long double total)
{
    double sum = 0.0;
    long double named = 0.0L;
    for (int64_t k = 0; k < input->level_count; k++) {
        const double weight = t->weight[t->kept[k]];
        sum += indicator_variance(weight, total);
        named += weight;
    }
    return sum + indicator_variance(fmaxl(total - named, 0.0L), total);
}

double fenp_stats_spread(const fenp_stats *stats, const fenp_prep *prep)
{
    double sum = 0.0;
    for (int64_t j = 0; j < prep->inputs; j++) {
        const fenp_input *input = &prep->input[j];
        const fenp_moments *m = &stats->of[j];
        if (input->text)
            sum += input->constant ? 0.0 : text_variance(input, &stats->text[j], stats->weight);
        else if (!input->constant)
            sum += (double)(m->square / stats->weight / input->scale / input->scale);
        if (input->gaps) sum += indicator_variance(m->weight, stats->weight);
    }
    return 2.0 * sum;
}
