/* least_rows.c -- weighted means and norms of columns, and blocks of rows
 *
 * Method. A mean is corrected by the mean of what it leaves, so that a column 1e6 + noise loses
 * no more digits than its cells have lost. Norms are scaled by the largest entry: nothing
 * overflows that has a double as its answer.
 * Special cases. A column whose norm is within 10 roundings of its mean is constant. Zeros of a
 * sparse column are never visited but when a block is filled.
 * Cost. Three readings of the columns, then one per pass over the blocks. */
#include "solver/least_rows.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"

/* ---- statistics of a column: its entries in rows of positive weight ----------------------- */

typedef struct entries {
    const double *value;
    const int32_t *row; /* NULL: rows 0, 1, ... */
    int64_t count;
    const double *w;
} entries;

static entries entries_of(const fenp_linear *problem, int64_t j)
{
    const fenp_design *x = problem->x;
    if (x->dense) return (entries){ x->dense + j * x->n, NULL, x->n, problem->w };
    const int64_t start = x->start[j];
    return (entries){ x->value + start, x->row + start, x->start[j + 1] - start, problem->w };
}

static double weight_of(const entries *e, int64_t i) { return e->w[e->row ? e->row[i] : i]; }

static double sum_beyond(const entries *e, double mean)
{
    double sum = 0.0;
    for (int64_t i = 0; i < e->count; i++) sum += weight_of(e, i) * (e->value[i] - mean);
    return sum;
}

/* Weight and number of the rows of an entry. */
static double covered(const entries *e, int64_t *rows)
{
    double sum = 0.0;
    *rows = 0;
    for (int64_t i = 0; i < e->count; i++) {
        sum += weight_of(e, i);
        *rows += weight_of(e, i) > 0.0;
    }
    return sum;
}

/* sqrt(sum w (x - mean)^2); rest: weight of the rows without an entry. */
static double norm_about(const entries *e, double mean, double rest)
{
    double largest = rest > 0.0 ? fabs(mean) : 0.0, sum = 0.0;
    for (int64_t i = 0; i < e->count; i++)
        if (weight_of(e, i) > 0.0) largest = fmax(largest, fabs(e->value[i] - mean));
    if (largest == 0.0) return 0.0;
    for (int64_t i = 0; i < e->count; i++) {
        const double part = (e->value[i] - mean) / largest;
        if (weight_of(e, i) > 0.0) sum += weight_of(e, i) * (part * part);
    }
    if (rest > 0.0) sum += rest * (mean / largest) * (mean / largest);
    return largest * sqrt(sum);
}

static void measure_column(fenp_least_rows *r, int64_t j)
{
    const entries e = entries_of(r->problem, j);
    int64_t rows;
    const double inside = covered(&e, &rows);
    const double rest = rows < r->m ? fmax(r->weight - inside, 0.0) : 0.0;
    double mean = 0.0;
    if (r->problem->bias) {
        mean = sum_beyond(&e, 0.0) / r->weight;
        mean += (sum_beyond(&e, mean) - rest * mean) / r->weight;
    }
    r->mean[j] = mean;
    r->norm[j] = norm_about(&e, mean, rest);
    if (r->norm[j] <= 10.0 * DBL_EPSILON * fabs(mean) * sqrt(r->weight)) r->norm[j] = 0.0;
}

static void measure(fenp_least_rows *r)
{
    const int64_t p = r->problem->x->p;
#pragma omp parallel for schedule(guided)
    for (int64_t j = 0; j < p; j++) measure_column(r, j);
    for (int64_t j = 0; j < p; j++) {
        if (r->norm[j] == 0.0) continue;
        r->column[r->k++] = j;
        r->offset = fmax(r->offset, fabs(r->mean[j]) * sqrt(r->weight) / r->norm[j]);
    }
    for (int64_t t = 0; t < r->targets; t++) {
        const entries y = { r->problem->y + t * r->problem->x->n, NULL, r->problem->x->n,
                            r->problem->w };
        r->label[t] = r->problem->bias ? sum_beyond(&y, 0.0) / r->weight : 0.0;
        if (r->problem->bias) r->label[t] += sum_beyond(&y, r->label[t]) / r->weight;
    }
}

fen_status fenp_least_rows_open(const fenp_linear *problem, int64_t targets, fenp_least_rows *out,
                                fen_error *err)
{
    const int64_t n = problem->x->n, p = problem->x->p;
    fenp_least_rows r = { .problem = problem, .targets = targets };
    r.row = fenp_new(n, sizeof *r.row), r.place = fenp_new(n, sizeof *r.place);
    r.column = fenp_new(p, sizeof *r.column), r.next = fenp_new(p, sizeof *r.next);
    r.root = fenp_new(n, sizeof *r.root), r.label = fenp_new_zeroed(targets, sizeof *r.label);
    r.mean = fenp_new(p, sizeof *r.mean), r.norm = fenp_new(p, sizeof *r.norm);
    *out = r;
    if (!r.row || !r.place || !r.column || !r.next || !r.root || !r.label || !r.mean || !r.norm) {
        fenp_least_rows_close(out);
        return fenp_no_memory(err, fenp_bytes(n + p, 4, sizeof(double)), "least squares");
    }
    for (int64_t i = 0; i < n; i++) {
        out->place[i] = problem->w[i] > 0.0 ? out->m : -1;
        if (problem->w[i] <= 0.0) continue;
        out->row[out->m] = i;
        out->root[out->m++] = sqrt(problem->w[i]);
        out->weight += problem->w[i];
    }
    if (out->m > 0) measure(out);
    return FEN_OK;
}

void fenp_least_rows_close(fenp_least_rows *r)
{
    free(r->row), free(r->place), free(r->column), free(r->next);
    free(r->root), free(r->label), free(r->mean), free(r->norm);
}

/* ---- blocks ------------------------------------------------------------------------------ */

static void sparse_column(const fenp_least_rows *r, int64_t j, int64_t first, int64_t count,
                          double *a)
{
    const fenp_design *x = r->problem->x;
    const double mean = r->mean[j], norm = r->norm[j];
    int64_t e = first == 0 ? x->start[j] : r->next[j];
    for (int64_t i = 0; i < count; i++) a[i] = -r->root[first + i] * (mean / norm);
    for (; e < x->start[j + 1]; e++) {
        const int64_t place = r->place[x->row[e]];
        if (place >= first + count) break;
        if (place >= 0) a[place - first] = r->root[place] * ((x->value[e] - mean) / norm);
    }
    r->next[j] = e;
}

void fenp_least_rows_block(const fenp_least_rows *r, int64_t first, int64_t count, double *a,
                           int64_t ld)
{
    const fenp_design *x = r->problem->x;
#pragma omp parallel for schedule(static) if (r->k * count > 1 << 15)
    for (int64_t c = 0; c < r->k; c++) {
        const int64_t j = r->column[c];
        double *out = a + c * ld;
        if (!x->dense) {
            sparse_column(r, j, first, count, out);
            continue;
        }
        const double *in = x->dense + j * x->n, mean = r->mean[j], norm = r->norm[j];
        for (int64_t i = 0; i < count; i++)
            out[i] = r->root[first + i] * ((in[r->row[first + i]] - mean) / norm);
    }
}

void fenp_least_rows_labels(const fenp_least_rows *r, int64_t first, int64_t count, double *b,
                            int64_t ld)
{
    for (int64_t t = 0; t < r->targets; t++) {
        const double *y = r->problem->y + t * r->problem->x->n;
        for (int64_t i = 0; i < count; i++)
            b[t * ld + i] = r->root[first + i] * (y[r->row[first + i]] - r->label[t]);
    }
}
