/* packed_sums.c -- a fully symmetric tensor times a vector in all indices but one, or but two
 *
 *     om_i = sum K_i.. a..,   B_ij = sum K_ij.. a..   over tuples of q-1 and of q-2 indices
 *
 * Method: the derivatives of T(a) = sum over multisets of orders K a_i1 ... a_iq, prefix by prefix
 *   (q - 2 members, the last is j, P the product of their a, P_t that without slot t). Entries
 *   are stored times orders / (q(q-1)/2 (orders of k, l)), so that those of a prefix are a
 *   symmetric matrix S of rows k, l >= j in T = q(q-1)/2 sum P a'Sa: with y = Sa, s = a'y
 *     om_l += (q-1) P y_l,   om_it += (q-1)/2 P_t s,
 *     B_kl += P S_kl,        B_l,it += P_t y_l,        B_it,iu += P_tu s/2 (t < u),
 *   on the diagonal of B both orders of two slots, and of l and a slot. S has the shape of the end
 *   of a packed n x n triangle: sums of P S over the prefixes and products with a'a are taken over
 *   its entries as one long vector, and y of om from the sum at the end. All this is linear in S,
 *   which therefore comes in blocks of columns so few that what is read of a'a and written of the
 *   sums stays in the first-level cache, while the tensor is read from end to end. Slices have
 *   sums of their own, which are added in order: the same bits for any number of threads. The
 *   loops are those of simd/tensor.c.
 * Special cases: prefixes with two factors 0 (of B: three) add nothing and are not read.
 * Accuracy: that of sums of so many terms.
 * Cost: 4 flops for each entry, of B 6: as fast as the cache or the memory delivers them once. */
#include <omp.h>
#include <string.h>
#include "simd/simd.h"
#include "tensor/packed.h"
#include "tensor/pivots.h"

enum {
    LANES = 4, /* columns that simd/tensor.c takes at once */
    SLICES = 16,
    FEW = 1 << 14,  /* entries that one thread reads sooner than two */
    BLOCK = 1 << 10 /* entries of S: twice as many are half of a cache of 32 KB */
};

/* ---- the order of entries ---------------------------------------------------------------- */

int64_t fenp_tensor_work(int64_t n, int64_t q) { return 4 * q + 2 * n; }

int64_t fenp_tensor_slices(int64_t q, int64_t entries)
{
    return q > 2 && entries > FEW ? SLICES : 1;
}

static int64_t triangle(int64_t rows) { return rows * (rows + 1) / 2; }

/* Where column j of a packed n x n triangle begins. */
static int64_t start(int64_t n, int64_t j) { return triangle(n) - triangle(n - j); }

/* Where a block of columns ends: those after it are a multiple of 4. */
static int64_t block_end(int64_t n, int64_t from)
{
    int64_t rest = (n - from - 1) / LANES * LANES;
    while (rest > 0 && triangle(n - from) - triangle(rest - LANES) <= BLOCK) rest -= LANES;
    return triangle(n - from) <= BLOCK ? n : n - rest;
}

/* The first prefix of the block at `from`. */
static void enter_block(const fenp_tensor *t, int64_t from, fenp_tensor_place *place)
{
    place->from = from, place->to = block_end(t->n, from);
    memset(place->member, 0, (size_t)t->q * sizeof *place->member);
}

fenp_tensor_place fenp_tensor_begin(const fenp_tensor *t, int64_t slice)
{
    const int64_t *first = t->first + slice * t->q;
    fenp_tensor_place place = { .member = (int64_t *)(void *)(t->work + slice * t->work_size) };
    enter_block(t, first[t->q - 1], &place);
    memcpy(place.member, first, (size_t)(t->q - 2) * sizeof *first);
    return place;
}

int64_t fenp_tensor_column(const fenp_tensor *t, const fenp_tensor_place *place)
{
    const int64_t j = t->q > 2 ? place->member[t->q - 3] : 0;
    return j > place->from ? j : place->from;
}

int64_t fenp_tensor_count(const fenp_tensor *t, const fenp_tensor_place *place)
{
    return start(t->n, place->to) - start(t->n, fenp_tensor_column(t, place));
}

void fenp_tensor_next(const fenp_tensor *t, fenp_tensor_place *place)
{
    if (!fenp_multiset_next(place->to, t->q - 2, place->member)) enter_block(t, place->to, place);
}

void fenp_tensor_cut(fenp_tensor *t)
{
    const int64_t entries = fenp_multisets(t->n, t->q);
    fenp_tensor_place place = { .member = (int64_t *)(void *)t->work };
    int64_t at = 0, slice = 0;
    enter_block(t, 0, &place);
    while (at < entries) {
        while (slice < t->slices && at >= entries / t->slices * slice) {
            int64_t *first = t->first + slice * t->q;
            memcpy(first, place.member, (size_t)(t->q - 2) * sizeof *first);
            first[t->q - 1] = place.from;
            t->offset[slice++] = at;
        }
        at += fenp_tensor_count(t, &place);
        fenp_tensor_next(t, &place);
    }
    while (slice <= t->slices) t->offset[slice++] = entries;
}

/* ---- slices ------------------------------------------------------------------------------ */

/* The work of one slice: where it stands, and its sums. */
typedef struct walk {
    const fenp_tensor *t;
    const fenp_simd *simd;
    const double *a;
    fenp_tensor_place place;
    double *before;          /* q: products of a over the slots before, after, */
    double *after, *without; /* and but for one slot                           */
    double *y, *sums;        /* n                                              */
    double *square;          /* packed triangle                                */
} walk;

static walk walk_at(const fenp_tensor *t, const fenp_simd *simd, const double *a, int64_t slice)
{
    double *work = t->work + slice * t->work_size;
    walk w = { .t = t, .simd = simd, .a = a };
    w.before = work + t->q;
    w.after = w.before + t->q;
    w.without = w.after + t->q;
    w.y = w.without + t->q;
    w.sums = w.y + t->n;
    w.square = t->square + slice * triangle(t->n);
    return w;
}

static int zeros_among(const walk *w, int64_t slots)
{
    int found = 0;
    for (int64_t s = 0; s < slots; s++) found += w->a[w->place.member[s]] == 0.0;
    return found;
}

/* Products without one slot, and the whole one. */
static double products(const walk *w, int64_t slots)
{
    const int64_t *member = w->place.member;
    double before = 1.0, after = 1.0;
    for (int64_t s = 0; s < slots; s++) {
        w->before[s] = before;
        before *= w->a[member[s]];
    }
    for (int64_t s = slots - 1; s >= 0; s--) {
        w->after[s] = after;
        w->without[s] = w->before[s] * after;
        after *= w->a[member[s]];
    }
    return before;
}

/* ---- all indices but one ------------------------------------------------------------------ */

/* From the prefix of w to the last of its block that differs in j alone, or to the end; where that
 * is. What they share: the product `head`, and so the sum of a_j s for its members. */
static const double *scores_run(walk *w, const double *at, const double *end)
{
    const fenp_tensor *t = w->t;
    const int64_t n = t->n, h = t->q - 2, to = w->place.to, stop = start(n, to);
    const int zeros = zeros_among(w, h - 1);
    const double head = products(w, h - 1);
    double sum = 0.0;
    for (int64_t j = w->place.member[h - 1]; j < to && at < end; j++) {
        const int64_t from = start(n, j > w->place.from ? j : w->place.from), count = stop - from;
        const double a = w->a[j];
        if (zeros + (a == 0.0) < 2) {
            const double s =
                w->simd->add_and_dot(at, count, t->pairs + from, head * a, w->square + from);
            w->sums[j] += head * s;
            sum += a * s;
        }
        at += count;
    }
    for (int64_t s = 0; s < h - 1; s++) w->sums[w->place.member[s]] += w->without[s] * sum;
    w->place.member[h - 1] = to - 1;
    fenp_tensor_next(t, &w->place);
    return at;
}

static void scores_slice(walk *w, int64_t slice)
{
    const fenp_tensor *t = w->t;
    const double *at = t->entry + t->offset[slice], *end = t->entry + t->offset[slice + 1];
    memset(w->sums, 0, (size_t)t->n * sizeof *w->sums);
    memset(w->square, 0, (size_t)triangle(t->n) * sizeof *w->square);
    w->place = fenp_tensor_begin(t, slice);
    while (at < end) at = scores_run(w, at, end);
    w->simd->triangle_times(w->square, t->n, t->n, w->a, w->y);
}

/* What a'Sa is the product of S with, as S is packed. */
static void set_pairs(const fenp_tensor *t, const double *a)
{
    double *pair = t->pairs;
    for (int64_t k = 0; k < t->n; k++) {
        *pair++ = a[k] * a[k];
        for (int64_t l = k + 1; l < t->n; l++) *pair++ = 2.0 * a[k] * a[l];
    }
}

void fenp_tensor_scores(const fenp_tensor *t, const double *a, double *om)
{
    const fenp_simd *simd = fenp_simd_get();
    if (t->q == 2) {
        simd->triangle_times(t->entry, t->n, t->n, a, om);
        return;
    }
    set_pairs(t, a);
#pragma omp parallel for schedule(dynamic) if (t->slices > 1)
    for (int64_t k = 0; k < t->slices; k++) {
        walk w = walk_at(t, simd, a, k);
        scores_slice(&w, k);
    }
    memset(om, 0, (size_t)t->n * sizeof *om);
    for (int64_t k = 0; k < t->slices; k++) {
        const walk w = walk_at(t, simd, a, k);
        simd->add_scaled(w.sums, t->n, 0.5 * (double)(t->q - 1), om);
        simd->add_scaled(w.y, t->n, (double)(t->q - 1), om);
    }
}

/* ---- all but two -------------------------------------------------------------------------- */

/* Column i of the packed triangle, to be indexed by the row. */
static double *column(const walk *w, int64_t i) { return w->square + start(w->t->n, i) - i; }

/* Both of two indices are slots of the prefix. */
static void add_pairs(const walk *w, int64_t slots, double factor)
{
    for (int64_t t = 0; t < slots; t++) {
        const int64_t i = w->place.member[t];
        double rest = factor * w->before[t]; /* and those between t and u */
        for (int64_t u = t + 1; u < slots; u++) {
            const int64_t k = w->place.member[u];
            column(w, i)[k] += (i == k ? 2.0 : 1.0) * rest * w->after[u];
            rest *= w->a[k];
        }
    }
}

static void curvature_prefix(const walk *w, const double *at, int64_t count)
{
    const int64_t h = w->t->q - 2, k = fenp_tensor_column(w->t, &w->place), rows = w->t->n - k;
    const double whole = products(w, h), *a = w->a + k;
    double sum = 0.0;
    w->simd->triangle_times(at, rows, w->place.to - k, a, w->y);
    for (int64_t i = 0; i < rows; i++) sum += a[i] * w->y[i];
    w->simd->add_scaled(at, count, whole, column(w, k) + k);
    for (int64_t t = 0; t < h; t++) {
        double *to = column(w, w->place.member[t]) + k;
        w->simd->add_scaled(w->y, rows, w->without[t], to);
        if (w->place.member[t] == k) to[0] += w->without[t] * w->y[0];
    }
    add_pairs(w, h, 0.5 * sum);
}

static void curvature_slice(walk *w, int64_t slice)
{
    const fenp_tensor *t = w->t;
    const double *at = t->entry + t->offset[slice], *end = t->entry + t->offset[slice + 1];
    memset(w->square, 0, (size_t)triangle(t->n) * sizeof *w->square);
    w->place = fenp_tensor_begin(t, slice);
    while (at < end) {
        const int64_t count = fenp_tensor_count(t, &w->place);
        if (zeros_among(w, t->q - 2) < 3) curvature_prefix(w, at, count);
        at += count;
        fenp_tensor_next(t, &w->place);
    }
}

void fenp_tensor_curvature(const fenp_tensor *t, const double *a, double *b)
{
    const fenp_simd *simd = fenp_simd_get();
    const int64_t n = t->n, size = triangle(n);
    const double *sum = t->q > 2 ? t->square : t->entry;
#pragma omp parallel for schedule(dynamic) if (t->slices > 1)
    for (int64_t k = 0; k < (t->q > 2 ? t->slices : 0); k++) {
        walk w = walk_at(t, simd, a, k);
        curvature_slice(&w, k);
    }
    for (int64_t k = 1; k < t->slices; k++)
        simd->add_scaled(t->square + k * size, size, 1.0, t->square);
    for (int64_t j = 0; j < n; j++)
        memcpy(b + j * n + j, sum + start(n, j), (size_t)(n - j) * sizeof *b);
}
