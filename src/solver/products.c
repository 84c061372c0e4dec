/* products.c -- see products.h
 *
 * Method: rows are shifted and widened some at a time, in a cache, and multiplied (base/syrk.h). c
 *   is the median of some rows, spread over all, or 0 where that is near; should a column's mean be
 *   far from it beside the column's deviation, all is done again with that mean.
 * Special cases: a column that is constant has c to the last digit and z = 0, nor does the median
 *   follow the odd rows of one column: where they are all in one part, z = 0 in the others (of a
 *   mean rounding errors would be left, which a coefficient without a penalty takes for a column).
 *   Parts are summed, not subtracted from the whole, for the same reason.
 *   Unwritten rows that cannot be used are an error that names the first.
 * Accuracy: that of base/syrk.h on columns whose means are at most MOST_OFF deviations.
 * Cost: n p^2 flops, x is read once; memory for S, and what base/syrk.h takes. */
#include "solver/products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/syrk.h"

enum { SAMPLE = 31 };
static const double MOST_OFF = 10.0;

typedef struct making {
    const fenp_linear *q;
    const fenp_products *s;
    int64_t *start; /* parts + 1                                            */
    int64_t *row;   /* n: those of the parts, one after the other; NULL: as they stand */
    int shifted;    /* some c is not 0                                                */
    double most;    /* largest weight; 0: all are that                                */
} making;

/* ---- rows ----------------------------------------------------------------------------- */

/* 0: it cannot be used. */
static int get_row(const fenp_design *x, int64_t i, double *to)
{
    if (x->unwritten) return fenp_unwritten_rows(x->unwritten, i, 1, to) < 0;
    memcpy(to, x->by_rows + i * x->p, (size_t)x->p * sizeof *to);
    return 1;
}

/* sqrt(v) z */
static const double *widened_rows(const void *of, int64_t from, int64_t count, double *room)
{
    const making *a = of;
    const int64_t p = a->s->p, side = a->s->side;
    const double *restrict centre = a->s->centre;
    double *restrict to = room;
    for (int64_t r = from; r < from + count; r++, to += side) {
        const int64_t i = a->row ? a->row[r] : r;
        if (!get_row(a->q->x, i, to)) return NULL;
        for (int64_t j = 0; j < p && a->shifted; j++) to[j] -= centre[j];
        to[p] = 1.0;
        for (int64_t t = 0; t < a->s->labels; t++) to[p + 1 + t] = a->q[t].y[i] - centre[p + 1 + t];
        const double root = a->most > 0.0 ? sqrt(a->q->w[i] / a->most) : 1.0;
        for (int64_t j = 0; j < side && a->most > 0.0; j++) to[j] *= root;
    }
    return room;
}

static fen_status say_bad_row(const fenp_design *x, fen_error *err)
{
    double *room = fenp_new(x->p, sizeof *room);
    fen_status status = fenp_no_memory(err, fenp_bytes(x->p, 1, sizeof *room), "the products");
    int64_t i = 0;
    while (room && x->unwritten && i < x->n && get_row(x, i, room)) i++;
    if (room && x->unwritten && i < x->n) status = fenp_unwritten_say_bad(x->unwritten, i, err);
    free(room);
    return status;
}

static double largest_weight(const fenp_linear *q)
{
    double most = 0.0;
    int alike = 1;
    for (int64_t i = 0; i < q->x->n; i++) {
        most = fmax(most, q->w[i]);
        alike = alike && q->w[i] == q->w[0];
    }
    return alike ? 0.0 : most;
}

/* ---- where they are --------------------------------------------------------------------- */

/* The median if it is farther from 0 than the quartiles from each other, else 0; v may get sorted.
 * With 0 between the quartiles, as of columns that are centred already, it cannot be. */
static double middle_of(double *v, int64_t count)
{
    int64_t below = 0, above = 0;
    for (int64_t k = 0; k < count; k++) below += v[k] <= 0.0, above += v[k] >= 0.0;
    if (below > count / 4 && above >= count - 3 * count / 4) return 0.0;
    for (int64_t k = 1; k < count; k++) {
        const double value = v[k];
        int64_t at = k;
        for (; at > 0 && v[at - 1] > value; at--) v[at] = v[at - 1];
        v[at] = value;
    }
    const double median = v[count / 2], spread = v[3 * count / 4] - v[count / 4];
    return fabs(median) > spread ? median : 0.0;
}

/* By some rows, spread over all. */
static fen_status find_centre(const fenp_linear *q, const fenp_products *s, fen_error *err)
{
    const fenp_design *x = q->x;
    const int64_t p = x->p, some = x->n < SAMPLE ? x->n : SAMPLE,
                  bytes = fenp_bytes(some + 1, p, 8);
    memset(s->centre, 0, (size_t)s->side * sizeof *s->centre);
    if (!q->bias || x->n == 0) return FEN_OK;
    double *row = fenp_new(bytes, 1), *column = row ? row + p : NULL, label[SAMPLE];
    if (!row) return fenp_no_memory(err, bytes, "some rows");
    int fine = 1;
    for (int64_t k = 0; k < some && fine; k++) {
        fine = get_row(x, k * x->n / some, row);
        for (int64_t j = 0; j < p && fine; j++) column[j * some + k] = row[j];
    }
    for (int64_t j = 0; j < p && fine; j++) s->centre[j] = middle_of(column + j * some, some);
    for (int64_t t = 0; t < s->labels; t++) {
        for (int64_t k = 0; k < some; k++) label[k] = q[t].y[k * x->n / some];
        s->centre[p + 1 + t] = middle_of(label, some);
    }
    free(row);
    return fine ? FEN_OK : say_bad_row(x, err);
}

static int is_shifted(const fenp_products *s)
{
    int64_t j = 0;
    while (j < s->p && s->centre[j] == 0.0) j++;
    return j < s->p;
}

/* Columns and labels whose mean is far from c beside their deviation get it for c; 0: none. */
static int move_centre(const fenp_products *s)
{
    const int64_t p = s->p, side = s->side;
    int any = 0;
    for (int64_t j = 0; j < side; j++) {
        double sum = 0.0, square = 0.0, weight = 0.0;
        if (j == p) continue; /* the ones */
        for (int64_t k = 0; k < s->parts; k++) {
            const double *at = s->part + k * side * side;
            sum += j < p ? at[p * side + j] : at[j * side + p], square += at[j * side + j],
                weight += at[p * side + p];
        }
        const double off = weight > 0.0 ? sum / weight : 0.0, size = MOST_OFF * MOST_OFF;
        if (weight * off * off <= size * (square - weight * off * off)) continue;
        if (!isfinite(off) || s->centre[j] + off == s->centre[j]) continue;
        s->centre[j] += off;
        any = 1;
    }
    return any;
}

/* ---- parts ------------------------------------------------------------------------------ */

/* The rows of every part, ascending. */
static fen_status deal(making *a, const int64_t *order, fen_error *err)
{
    const int64_t n = a->q->x->n, parts = a->s->parts;
    a->start = fenp_new_zeroed(2 * parts + 1, sizeof *a->start);
    a->row = order ? fenp_new(2 * n, sizeof *a->row) : NULL;
    if (!a->start || (order && !a->row)) return fenp_no_memory(err, 16 * (n + parts), "the parts");
    int64_t *part = order ? a->row + n : NULL, *next = a->start + parts + 1;
    for (int64_t k = 0; k < parts; k++)
        a->start[k + 1] = a->start[k] + n / parts + (k < n % parts), next[k] = a->start[k];
    for (int64_t k = 0; order && k < n; k++) part[order[k]] = k % parts;
    for (int64_t i = 0; order && i < n; i++) a->row[next[part[i]]++] = i;
    return FEN_OK;
}

static fen_status multiply(making *a, fen_error *err)
{
    const int64_t side = a->s->side;
    const fenp_syrk gram = { .n = a->q->x->n,
                             .p = side,
                             .alpha = 1.0,
                             .ldx = side,
                             .by_rows = 1,
                             .rows = widened_rows,
                             .of = a,
                             .c = a->s->part,
                             .ldc = side };
    a->shifted = is_shifted(a->s);
    const int failed =
        a->s->parts > 1 ? fenp_syrk_parts(&gram, a->s->parts, a->start) : fenp_syrk_run(&gram);
    if (failed) return say_bad_row(a->q->x, err);
    return FEN_OK;
}

/* ---- made already ------------------------------------------------------------------------- */

/* Of all rows, weighed alike. */
static int are_made(const making *a, int64_t problems, const int64_t *order)
{
    return a->q->x->products && problems == 1 && !order && a->q->bias && a->most == 0.0;
}

static void take(const fenp_raw_products *made, const fenp_products *to)
{
    const int64_t side = made->side;
    memcpy(to->centre, made->centre, (size_t)side * sizeof *to->centre);
    for (int64_t j = 0; j < side; j++) {
        const double *restrict from = made->sum + j * side, *restrict unit = made->unit;
        double *restrict column = to->part + j * side, own = unit[j];
        for (int64_t i = 0; i <= j; i++) column[i] = from[i] * unit[i] * own;
    }
}

/* ---- the interface ------------------------------------------------------------------------ */

int64_t fenp_products_bytes(int64_t p, int64_t labels, int64_t parts)
{
    const int64_t side = p + 1 + labels;
    return fenp_bytes(parts * side, side, sizeof(double));
}

fen_status fenp_products_make(const fenp_linear *q, int64_t problems, const int64_t *order,
                              int64_t parts, fenp_products *out, fen_error *err)
{
    const int64_t p = q->x->p, bytes = fenp_products_bytes(p, problems, parts);
    *out = (fenp_products){ .p = p, .labels = problems, .parts = parts, .side = p + 1 + problems };
    out->part = bytes < 0 ? NULL : fenp_new(bytes, 1);
    out->centre = fenp_new(out->side, sizeof *out->centre);
    if (!out->part || !out->centre) {
        fenp_products_free(out);
        return fenp_no_memory(err, bytes, "the products of all columns");
    }
    making a = { .q = q, .s = out, .most = largest_weight(q) };
    if (are_made(&a, problems, order)) {
        take(q->x->products, out);
        return FEN_OK;
    }
    fen_status status = deal(&a, order, err);
    if (status == FEN_OK) status = find_centre(q, out, err);
    if (status == FEN_OK) status = multiply(&a, err);
    if (status == FEN_OK && q->bias && move_centre(out)) status = multiply(&a, err);
    free(a.start), free(a.row);
    if (status != FEN_OK) fenp_products_free(out);
    return status;
}

void fenp_products_free(fenp_products *s)
{
    free(s->part), free(s->centre);
    *s = (fenp_products){ .p = 0 };
}

void fenp_products_sum(const fenp_products *s, int64_t left_out, double *sum)
{
    const int64_t side = s->side;
#pragma omp parallel for schedule(static) if (side > 1000)
    for (int64_t j = 0; j < side; j++) {
        double *restrict to = sum + j * side;
        memset(to, 0, (size_t)(j + 1) * sizeof *to);
        for (int64_t k = 0; k < s->parts; k++) {
            const double *restrict from = s->part + (k * side + j) * side;
            for (int64_t i = 0; i <= j && k != left_out; i++) to[i] += from[i];
        }
    }
}
