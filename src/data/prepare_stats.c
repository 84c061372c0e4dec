/* prepare_stats.c -- what the training rows say about each input
 *
 *   numbers  mean = sum w x / sum w over the cells that are there (fill);
 *            variance = sum w (x - mean)^2 / sum w, where gaps count as the mean
 *            standard: center = mean, scale = standard deviation
 *            range:    center = least, scale = largest - least
 *            none:     center = 0, scale = 1
 *            sparse tables: center = 0, so that zeros stay zeros
 *   text     levels by weight, heaviest first, then by name; the first 50 are kept
 *
 * Weights enter as written: weight 2 equals the row twice. A column is constant if its
 * standard deviation is at most 1e-12 of its largest value; text, if it has one level and
 * no gap. Accuracy: two passes in long double. Cost: two passes over the cells.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"

typedef struct moments {
    long double weight, sum, mean, square; /* over the cells that are there           */
    double least, largest;
    int64_t seen, gaps;
} moments;

typedef struct learner {
    const fenp_binding *binding;
    const int64_t *pick;
    const fenp_sample *rows;
    moments *of;        /* one per input                                       */
    int64_t *input_of;  /* sparse: column -> input, -1: none                   */
    long double weight; /* of all rows                                         */
} learner;

static void first_pass(moments *m, double cell, double weight)
{
    if (isnan(cell)) {
        m->gaps++;
        return;
    }
    m->least = m->seen ? fmin(m->least, cell) : cell;
    m->largest = m->seen ? fmax(m->largest, cell) : cell;
    m->seen++;
    m->weight += weight;
    m->sum += (long double)weight * cell;
}

static void second_pass(moments *m, double cell, double weight)
{
    if (!isnan(cell)) m->square += weight * (cell - m->mean) * (cell - m->mean);
}

typedef void (*pass)(moments *m, double cell, double weight);

static void pass_row(const fenp_prep *prep, const learner *l, int64_t i, pass visit)
{
    const fen_table *table = l->binding->table;
    int64_t row = l->pick[i];
    double weight = l->rows->w[i];
    if (!table->start) {
        const double *cells = table->cells + row * table->cols;
        for (int64_t j = 0; j < prep->inputs; j++)
            if (!prep->input[j].text) visit(&l->of[j], cells[l->binding->input[j]], weight);
        return;
    }
    for (int64_t e = table->start[row]; e < table->start[row + 1]; e++)
        if (l->input_of[table->index[e]] >= 0)
            visit(&l->of[l->input_of[table->index[e]]], table->value[e], weight);
    if (l->input_of[table->cols - 1] >= 0)
        visit(&l->of[l->input_of[table->cols - 1]], table->label[row], weight);
}

/* The zeros that a sparse table does not store. */
static void add_unseen_zeros(moments *m, int64_t n)
{
    if (m->seen + m->gaps == n) return;
    m->least = m->seen ? fmin(m->least, 0.0) : 0.0;
    m->largest = m->seen ? fmax(m->largest, 0.0) : 0.0;
    m->seen = n - m->gaps;
}

/* Both passes; afterwards weight counts unseen zeros too. */
static void measure(const fenp_prep *prep, learner *l)
{
    int64_t n = l->rows->n;
    for (int64_t i = 0; i < n; i++) {
        l->weight += l->rows->w[i];
        pass_row(prep, l, i, first_pass);
    }
    for (int64_t j = 0; j < prep->inputs; j++) {
        moments *m = &l->of[j];
        /* gaps in a sparse table do not occur, so what is not seen is zero */
        const int sparse = l->binding->table->start != NULL;
        long double weight = sparse ? l->weight : m->weight;
        m->mean = weight > 0.0L ? m->sum / weight : 0.0L;
        if (sparse) {
            m->square = fmaxl(weight - m->weight, 0.0L) * m->mean * m->mean;
            add_unseen_zeros(m, n);
        }
    }
    for (int64_t i = 0; i < n; i++) pass_row(prep, l, i, second_pass);
}

static fen_status check_finite(const fenp_prep *prep, const learner *l, fen_error *err)
{
    for (int64_t j = 0; j < prep->inputs; j++) {
        if (!l->of[j].seen || (isfinite(l->of[j].least) && isfinite(l->of[j].largest))) continue;
        char place[256];
        int64_t i = 0;
        while (i + 1 < l->rows->n &&
               !isinf(fenp_bound_cell(l->binding, l->pick[i], l->binding->input[j])))
            i++;
        return fenp_fail(err, FEN_BAD_DATA,
                         "%s: column \"%.60s\" is infinite; leave it out if it "
                         "is not known",
                         fenp_table_place(l->binding->table, l->pick[i], place, sizeof place),
                         prep->input[j].name);
    }
    return FEN_OK;
}

static void learn_number(fenp_input *input, const moments *m, long double weight, int sparse,
                         const char *scale)
{
    double deviation = (double)sqrtl(m->square / weight);
    double size = fmax(fabs(m->least), fabs(m->largest));
    input->fill = (double)m->mean;
    input->constant = m->seen == 0 || deviation <= 1e-12 * size;
    input->gaps = m->gaps > 0 && m->seen > 0;
    if (input->constant || strcmp(scale, "none") == 0) return;
    int range = strcmp(scale, "range") == 0;
    input->center = sparse ? 0.0 : range ? m->least : (double)m->mean;
    input->scale = range ? m->largest - m->least : deviation;
}

/* ---- text --------------------------------------------------------------------------- */
typedef struct level {
    const char *name;
    double weight;
} level;

static int heavier(const void *a, const void *b)
{
    const level *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return strcmp(x->name, y->name);
}

static fen_status keep_levels(fenp_input *input, const level *sorted, int64_t count, fen_error *err)
{
    input->levels = fenp_new_zeroed(count, sizeof *input->levels);
    for (int64_t k = 0; input->levels && k < count; k++) {
        input->levels[k] = fenp_strdup(sorted[k].name);
        if (!input->levels[k])
            return fenp_no_memory(err, (int64_t)strlen(sorted[k].name), "a text level");
        input->level_count++;
    }
    return input->levels ? FEN_OK : fenp_no_memory(err, 8 * count, "text levels");
}

static fen_status learn_text(fenp_input *input, const learner *l, int64_t j, fen_error *err)
{
    const fen_table *table = l->binding->table;
    const fenp_column *column = &table->column[l->binding->input[j]];
    level *levels = fenp_new(column->level_count, sizeof *levels);
    if (!levels)
        return fenp_no_memory(err, column->level_count * (int64_t)sizeof *levels, "text levels");
    for (int64_t k = 0; k < column->level_count; k++) levels[k] = (level){ column->levels[k], 0.0 };
    int64_t gaps = 0, seen = 0;
    for (int64_t i = 0; i < l->rows->n; i++) {
        double cell = fenp_bound_cell(l->binding, l->pick[i], l->binding->input[j]);
        gaps += isnan(cell);
        if (!isnan(cell)) levels[(int64_t)cell].weight += l->rows->w[i];
    }
    qsort(levels, (size_t)column->level_count, sizeof *levels, heavier);
    while (seen < column->level_count && levels[seen].weight > 0.0) seen++;
    input->constant = seen + (gaps > 0) < 2;
    fen_status status =
        keep_levels(input, levels, seen < FENP_LEVELS_MAX ? seen : FENP_LEVELS_MAX, err);
    free(levels);
    return status;
}

/* ---- all inputs --------------------------------------------------------------------- */
static fen_status open_learner(const fenp_prep *prep, learner *l, fen_error *err)
{
    const fen_table *table = l->binding->table;
    l->of = fenp_new_zeroed(prep->inputs, sizeof *l->of);
    l->input_of = table->start ? fenp_new(table->cols, sizeof *l->input_of) : NULL;
    if (!l->of || (table->start && !l->input_of))
        return fenp_no_memory(err, prep->inputs * (int64_t)sizeof *l->of, "column statistics");
    for (int64_t j = 0; l->input_of && j < table->cols; j++) l->input_of[j] = -1;
    for (int64_t j = 0; l->input_of && j < prep->inputs; j++)
        if (l->binding->input[j] >= 0) l->input_of[l->binding->input[j]] = j; /* else: all zeros */
    return FEN_OK;
}

fen_status fenp_learn_inputs(fenp_prep *prep, const fenp_binding *binding, const int64_t *pick,
                             const fenp_sample *rows, fen_error *err)
{
    learner l = { binding, pick, rows, NULL, NULL, 0.0L };
    fen_status status = open_learner(prep, &l, err);
    if (status == FEN_OK) {
        measure(prep, &l);
        status = check_finite(prep, &l, err);
    }
    for (int64_t j = 0; status == FEN_OK && j < prep->inputs; j++)
        if (prep->input[j].text)
            status = learn_text(&prep->input[j], &l, j, err);
        else
            learn_number(&prep->input[j], &l.of[j], l.weight, prep->sparse, prep->scaling);
    free(l.of);
    free(l.input_of);
    return status;
}
