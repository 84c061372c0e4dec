/* predict_far.c -- rows that are far from everything in training
 *
 * A row is far where
 *   a column is beyond its training range by more than that range: x > largest + r or x < least - r,
 *     r = largest - least;
 *   sum_j k(x_j, x) < NEAR k(x, x) over the rows x_j that the function is a sum of: with a kernel
 *     that falls with the distance, the prediction is the constant b;
 *   a prediction of numbers is beyond the range of the training targets by more than that range.
 * Predictions are made all the same; whoever reads them should know.
 * Why so wide: a row like those of training is beyond the range of one of d columns with a
 *   probability of at most 2 d / (n + 1), however they are distributed, but beyond it by the whole
 *   range only where the tails are heavy.
 * Special cases: models that do not know their ranges, text, columns without a coefficient, and
 *   missing cells have none. Zeros of sparse rows are within the range of a sparse model.
 * Cost: two comparisons for every cell. Kernel values are looked at again only where
 *   |f(x)| <= NEAR max |c|, which sum_j k(x_j, x) < NEAR implies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"
#include "model/model.h"

static const double NEAR = 1e-3;

typedef struct search {
    const fen_model *model;
    fenp_binding bound;
    double *low, *high; /* inputs: beyond them a cell is far                                  */
    int64_t *input_of;  /* sparse tables: the input of a column; -1: none                     */
    char *lonely;       /* rows: far from all rows of the function                            */
} search;

static double excess(double x, double least, double largest)
{
    const double range = largest - least;
    return range > 0.0 ? fmax(x - largest, least - x) / range : 0.0;
}

/* ---- kernel values ---------------------------------------------------------------------- */

static int kernel_falls(const fen_model *m)
{
    const fen_basis basis = m->kernel.table->basis;
    return m->inputs && (basis == FEN_SQUARED_DISTANCE || basis == FEN_L1_DISTANCE);
}

/* Rows that may have no neighbour, by their scores; how many. */
static int64_t find_small(const fen_model *m, const double *coef, const double *scores,
                          int64_t rows, char *small)
{
    int64_t count = rows;
    for (int64_t i = 0; i < rows; i++) small[i] = 1;
    for (int64_t t = 0; t < m->targets; t++) {
        const double zero = m->offset[t] - (fenp_model_is_one_class(m) ? m->output[t].par : 0.0);
        double most = 0.0;
        for (int64_t k = 0; k < m->kept; k++) most = fmax(most, fabs(coef[t * m->kept + k]));
        if (most == 0.0) return 0; /* every prediction is the constant, near and far */
        for (int64_t i = 0; i < rows; i++)
            if (small[i] && !(fabs(scores[i * m->targets + t] - zero) <= NEAR * most))
                small[i] = 0, count--;
    }
    return count;
}

/* Of the rows marked in lonely, those stay that have no neighbour. */
static fen_status look_around(const fen_model *m, const fen_table *table, int64_t count,
                              char *lonely, fen_error *err)
{
    const int64_t bytes = fenp_bytes(count, m->p + 1, sizeof(double));
    double *x = fenp_new(bytes, 1), *ones = fenp_new(m->kept, sizeof *ones);
    double *sum = x ? x + count * m->p : NULL;
    fen_status status =
        x && ones ? FEN_OK : fenp_no_memory(err, bytes, "rows far from the training rows");
    for (int64_t k = 0; ones && k < m->kept; k++) ones[k] = 1.0;
    for (int64_t i = 0, at = 0; status == FEN_OK && i < table->rows; i++)
        if (lonely[i]) {
            const fen_table row = fenp_table_window(table, i, 1);
            status = fenp_prep_apply(m->prep, &row, x + at++ * m->p, err);
        }
    if (status == FEN_OK) {
        const fen_view points = { x, count, m->p, m->p },
                       centres = { m->inputs, m->kept, m->p, m->p };
        status = fenp_gram_times(&m->kernel, points, centres, ones, 1, sum, NULL, err);
    }
    for (int64_t i = 0, at = 0; status == FEN_OK && i < table->rows; i++)
        if (lonely[i]) lonely[i] = sum[at++] < NEAR;
    free(x);
    free(ones);
    return status;
}

static fen_status find_lonely(search *s, const double *scores, fen_error *err)
{
    const fen_model *m = s->model;
    if (!kernel_falls(m)) return FEN_OK;
    double *coef = fenp_model_coefs(m);
    if (!coef) return fenp_no_memory(err, 8 * m->kept, "the coefficients");
    const int64_t rows = s->bound.table->rows;
    const int64_t count = find_small(m, coef, scores, rows, s->lonely);
    free(coef);
    if (count > 0) return look_around(m, s->bound.table, count, s->lonely, err);
    for (int64_t i = 0; i < rows; i++) s->lonely[i] = 0;
    return FEN_OK;
}

/* ---- columns ----------------------------------------------------------------------------- */

static void set_bounds(search *s)
{
    const fenp_prep *prep = s->model->prep;
    for (int64_t j = 0; j < prep->inputs; j++) {
        const fenp_input *input = &prep->input[j];
        const double range = input->largest - input->least;
        const int known = !input->text && !input->constant && !input->idle && range > 0.0;
        s->low[j] = known ? input->least - range : -INFINITY;
        s->high[j] = known ? input->largest + range : INFINITY;
    }
}

/* The farthest of the inputs that are beyond their bounds. */
static void compare(const search *s, int64_t j, double x, double *most, fen_far_row *out)
{
    if (!(x < s->low[j] || x > s->high[j])) return;
    const fenp_input *input = &s->model->prep->input[j];
    const double here = excess(x, input->least, input->largest);
    if (here <= *most) return;
    *most = here;
    out->kind = FEN_FAR_COLUMN;
    out->value = x, out->least = input->least, out->largest = input->largest;
    snprintf(out->column, sizeof out->column, "%s", input->name);
}

static void look_at_cells(const search *s, int64_t row, fen_far_row *out)
{
    const fen_table *t = s->bound.table;
    double most = 0.0;
    for (int64_t j = 0; t->cells && j < s->model->prep->inputs; j++)
        if (s->bound.input[j] >= 0)
            compare(s, j, t->cells[row * t->cols + s->bound.input[j]], &most, out);
    for (int64_t e = t->start ? t->start[row] : 0; t->start && e < t->start[row + 1]; e++) {
        const int64_t j = s->input_of[t->index[e]];
        if (j >= 0) compare(s, j, t->value[e], &most, out);
    }
}

/* ---- predictions --------------------------------------------------------------------------- */

static void look_at_scores(const fen_model *m, const double *scores, fen_far_row *out)
{
    for (int64_t t = 0; t < m->targets && out->kind == FEN_NEAR; t++) {
        const int64_t column = m->output[t].column;
        const double *range = column < 0 ? NULL : m->prep->target_range + 2 * column;
        if (!range || m->prep->class_count > 0 || !(excess(scores[t], range[0], range[1]) > 1.0))
            continue;
        out->kind = FEN_FAR_PREDICTION;
        out->value = scores[t], out->least = range[0], out->largest = range[1];
        snprintf(out->column, sizeof out->column, "%s", m->prep->target[column]);
    }
}

/* ---- all rows -------------------------------------------------------------------------------- */

static void look(const search *s, const double *scores, fen_far *far)
{
    const fen_table *t = s->bound.table;
    for (int64_t i = 0; i < t->rows; i++) {
        fen_far_row row = { .kind = FEN_NEAR };
        look_at_cells(s, i, &row);
        if (row.kind == FEN_NEAR && s->lonely[i]) row.kind = FEN_FAR_ALONE;
        look_at_scores(s->model, scores + i * s->model->targets, &row);
        if (row.kind == FEN_NEAR) continue;
        row.row = t->first_row + i + 1;
        row.line = t->first_line > 0 ? t->first_line + i : 0;
        if (far->rows < FEN_FAR_SHOWN) far->first[far->rows] = row;
        far->rows++;
    }
}

fen_status fen_predict_far(const fen_model *model, const fen_table *table, const double *scores,
                           fen_far *far, fen_error *err)
{
    const fenp_prep *prep = model->prep;
    search s = { .model = model,
                 .low = fenp_new(2 * prep->inputs, sizeof *s.low),
                 .input_of = fenp_new(table->cols, sizeof *s.input_of),
                 .lonely = fenp_new_zeroed(table->rows, 1) };
    fen_status status = prep->precomputed ? FEN_OK : fenp_bind(prep, table, 0, &s.bound, err);
    if (status == FEN_OK && !prep->precomputed) {
        if (!s.low || !s.input_of || !s.lonely)
            status = fenp_no_memory(err, 16 * prep->inputs, "the ranges of columns");
        if (status == FEN_OK) {
            s.high = s.low + prep->inputs;
            set_bounds(&s);
            for (int64_t c = 0; c < table->cols; c++) s.input_of[c] = -1;
            for (int64_t j = 0; j < prep->inputs; j++)
                if (s.bound.input[j] >= 0) s.input_of[s.bound.input[j]] = j;
            status = find_lonely(&s, scores, err);
        }
        if (status == FEN_OK) look(&s, scores, far);
        fenp_unbind(&s.bound);
    }
    free(s.low);
    free(s.input_of);
    free(s.lonely);
    return status;
}
