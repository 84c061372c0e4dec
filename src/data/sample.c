/* sample.c -- prepared rows: release, and a seeded part of them */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "data/prepare.h"

void fenp_sample_free(fenp_sample *sample)
{
    if (!sample) return;
    free(sample->x);
    fenp_unwritten_free(sample->unwritten);
    fenp_raw_products_free(sample->products);
    free(sample->start);
    free(sample->row);
    free(sample->value);
    free(sample->y);
    free(sample->w);
    free(sample);
}

fenp_sample *fenp_sample_new(int64_t n, int64_t p, int64_t targets)
{
    fenp_sample *s = fenp_new_zeroed(1, sizeof *s);
    if (!s) return NULL;
    const int64_t row = fenp_bytes(p, 1, sizeof(double));
    s->n = n, s->p = p, s->targets = targets;
    s->title = "the rows";
    s->x = row < 0 ? NULL : fenp_new(n, row);
    s->y = fenp_new(n, targets * (int64_t)sizeof(double));
    s->w = fenp_new(n, sizeof(double));
    if (s->x && s->y && s->w) return s;
    fenp_sample_free(s);
    return NULL;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The chosen rows in file order; of precomputed kernels the matching columns too. */
static void copy_rows(const fenp_sample *from, const int64_t *row, int square, fenp_sample *to)
{
    double sum = 0.0;
    for (int64_t i = 0; i < to->n; i++) {
        const double *x = from->x + row[i] * from->p;
        if (square)
            for (int64_t j = 0; j < to->n; j++) to->x[i * to->p + j] = x[row[j]];
        else
            memcpy(to->x + i * to->p, x, (size_t)to->p * sizeof(double));
        for (int64_t t = 0; t < to->targets; t++)
            to->y[t * to->n + i] = from->y[t * from->n + row[i]];
        sum += to->w[i] = from->w[row[i]];
    }
    for (int64_t i = 0; i < to->n; i++) to->w[i] /= sum;
    to->weight_sum = from->weight_sum * sum;
    to->class_weights = from->class_weights;
}

fen_status fenp_sample_part(const fenp_sample *from, int64_t rows, uint64_t seed, int square,
                            fenp_sample **out, fen_error *err)
{
    int64_t *order = fenp_new(from->n, sizeof *order);
    fenp_sample *part =
        order ? fenp_sample_new(rows, square ? rows : from->p, from->targets) : NULL;
    if (!part) {
        free(order);
        return fenp_no_memory(err, fenp_bytes(rows, from->p, sizeof(double)), "a part of the rows");
    }
    fenp_permutation(seed, 1, from->n, order);
    qsort(order, (size_t)rows, sizeof *order, ascending);
    copy_rows(from, order, square, part);
    free(order);
    *out = part;
    return FEN_OK;
}
