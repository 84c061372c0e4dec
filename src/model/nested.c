/* nested.c -- many polynomials' worth of products of columns, none of them written down
 *
 *     f(x) = sum_k v_k x^k,   v_k = w_k factor_k over the multi-indices k in the order of form.h,
 *     sum over members j1 <= j2 <= ... of v x_j1 x_j2 ... = sum_j1 x_j1 (sum_j2 x_j2 (...)).
 *
 * Method: from the innermost sum outwards, LANES rows side by side: v is read once, front to back,
 * and the rows stay in the cache. A degree is added to the rows that need it alone, so that a
 * row's sum does not depend on the rows beside it.
 * Accuracy: a rounding for each level and each term of a sum.
 * Cost: about one multiplication for each feature and row; LANES p numbers for each thread. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "model/lp.h"

enum { WIDE = 4, QUADS = 4, LANES = WIDE * QUADS };
typedef double quad __attribute__((vector_size(WIDE * sizeof(double)), aligned(8), may_alias));

typedef struct rows {
    const quad *x; /* p x QUADS */
    int64_t p;
} rows;
typedef struct sums {
    quad a, b, c, d;
} sums;

/* ---- one degree, compiled for several processors -------------------------------------------- */

/* What the members from `from` on add, of `left` that are to be chosen; where the rest of v is. */
typedef const double *summing(const rows *r, int64_t left, int64_t from, const double *v,
                              sums *out);

#define INLINE static inline __attribute__((always_inline))
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

#define SUMMING(name, attribute)                                                      \
    attribute static const double *name(const rows *r, int64_t left, int64_t from,    \
                                        const double *v, sums *out)                   \
    {                                                                                 \
        sums sum = { { 0 }, { 0 }, { 0 }, { 0 } }, part;                              \
        if (left == 1) return sum_one(r, from, v, out);                               \
        if (left == 2) return sum_two(r, from, v, out);                               \
        for (int64_t j = from; j < r->p; j++) {                                       \
            v = left == 3 ? sum_two(r, j, v, &part) : name(r, left - 1, j, v, &part); \
            add_product(&sum, &part, r->x + j * QUADS);                               \
        }                                                                             \
        out->a = sum.a, out->b = sum.b, out->c = sum.c, out->d = sum.d;               \
        return v;                                                                     \
    }

SUMMING(sum_plain, )
#if defined(__x86_64__)
SUMMING(sum_avx2, __attribute__((target("avx2"))))
static summing *best_summing(void) { return __builtin_cpu_supports("avx2") ? sum_avx2 : sum_plain; }
#else
static summing *best_summing(void) { return sum_plain; }
#endif

/* ---- all of them ---------------------------------------------------------------------------- */

static void add_degrees(const fenp_kernel *kernel, const rows *r, const int64_t *degree,
                        int64_t count, const double *v, double *out, int64_t stride)
{
    summing *const sum_degree = best_summing();
    double sum[LANES];
    sums found = { { 0 }, { 0 }, { 0 }, { 0 } };
    int64_t highest = 0;
    for (int64_t i = 0; i < count; i++) {
        highest = degree[i] > highest ? degree[i] : highest;
        out[i * stride] = 0.0;
    }
    for (int64_t m = 0; m <= highest; m++) {
        if (kernel->table->series(m, &kernel->par) == 0.0) continue;
        if (m > 0) v = sum_degree(r, m, 0, v, &found);
        memcpy(sum, &found, sizeof sum);
        for (int k = 0; m == 0 && k < LANES; k++) sum[k] = *v;
        if (m == 0) v++;
        for (int64_t i = 0; i < count; i++)
            if (degree[i] >= m) out[i * stride] += sum[i];
    }
}

fen_status fenp_nested_sums(const fenp_kernel *kernel, fen_view x, const int64_t *degree,
                            const double *v, double *out, int64_t stride, fen_error *err)
{
    const int64_t p = x.cols, bytes = fenp_bytes(p, LANES, sizeof(double));
    int failed = 0;
#pragma omp parallel if (x.rows > LANES)
    {
        double *side = fenp_new(bytes, 1);
        const rows r = { (const quad *)side, p };
        if (!side)
#pragma omp atomic write
            failed = 1;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < x.rows; i += LANES) {
            const int64_t count = x.rows - i < LANES ? x.rows - i : LANES;
            if (!side) continue;
            memset(side, 0, (size_t)bytes);
            for (int64_t k = 0; k < count; k++)
                for (int64_t j = 0; j < p; j++) side[j * LANES + k] = x.at[(i + k) * x.stride + j];
            add_degrees(kernel, &r, degree + i, count, v, out + i * stride, stride);
        }
        free(side);
    }
    return failed ? fenp_no_memory(err, bytes, "a prediction") : FEN_OK;
}
