/* nested.c -- all products of one degree, none of them written down
 *
 *     sum over members j1 <= j2 <= ... of v x_j1 x_j2 ... = sum_j1 x_j1 (sum_j2 x_j2 (...))
 *
 * Method: from the innermost sum outwards, FENP_NESTED_LANES rows next to each other: v is read
 *   once, front to back, and the rows stay in the cache.
 * Accuracy: a rounding for each level of the sum and each of its terms.
 * Cost: about one multiplication for each entry of v and row. */
#include "simd/level.h"

#include <string.h>

enum { WIDE = 4, QUADS = FENP_NESTED_LANES / WIDE };
typedef double quad __attribute__((vector_size(WIDE * sizeof(double)), aligned(8), may_alias));

typedef struct rows {
    const quad *x; /* p x QUADS */
    int64_t p;
} rows;
typedef struct sums {
    quad a, b, c, d;
} sums;

INLINE const double *sum_one(const rows *r, int64_t from, const double *v, sums *out)
{
    quad a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    const quad *x = r->x + from * QUADS;
    for (int64_t j = from; j < r->p; j++, x += QUADS, v++) {
        a += *v * x[0], b += *v * x[1];
        c += *v * x[2], d += *v * x[3];
    }
    out->a = a, out->b = b, out->c = c, out->d = d;
    return v;
}

INLINE void add_product(sums *sum, const sums *part, const quad *x)
{
    sum->a += part->a * x[0], sum->b += part->b * x[1];
    sum->c += part->c * x[2], sum->d += part->d * x[3];
}

INLINE const double *sum_two(const rows *r, int64_t from, const double *v, sums *out)
{
    sums sum = { { 0 }, { 0 }, { 0 }, { 0 } }, part;
    for (int64_t j = from; j < r->p; j++) {
        v = sum_one(r, j, v, &part);
        add_product(&sum, &part, r->x + j * QUADS);
    }
    *out = sum;
    return v;
}

/* Adds what the members from `from` on make, of `left` that are to be chosen; returns where v goes
 * on. */
static const double *sum_any(const rows *r, int64_t left, int64_t from, const double *v, sums *out)
{
    if (left == 1) return sum_one(r, from, v, out);
    if (left == 2) return sum_two(r, from, v, out);
    sums sum = { { 0 }, { 0 }, { 0 }, { 0 } }, part;
    for (int64_t j = from; j < r->p; j++) {
        v = left == 3 ? sum_two(r, j, v, &part) : sum_any(r, left - 1, j, v, &part);
        add_product(&sum, &part, r->x + j * QUADS);
    }
    *out = sum;
    return v;
}

KERNEL(nested_sum);
const double *AT_LEVEL(fenp_nested_sum)(const double *x, int64_t p, int64_t degree, const double *v,
                                        double *out)
{
    const rows r = { (const quad *)x, p };
    sums found;
    v = sum_any(&r, degree, 0, v, &found);
    memcpy(out, &found, sizeof found);
    return v;
}
