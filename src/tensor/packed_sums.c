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
 *   loops are plain C, compiled for three instruction sets as in kernel/distance.c.
 * Special cases: prefixes with two factors 0 (of B: three) add nothing and are not read.
 * Accuracy: that of sums of so many terms.
 * Cost: 4 flops for each entry, of B 6: as fast as the cache or the memory delivers them once. */
#include <omp.h>
#include <string.h>
#include "tensor/packed.h"
#include "tensor/pivots.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    SLICES = 16,
    FEW = 1 << 14,  /* entries that one thread reads sooner than two */
    BLOCK = 1 << 10 /* entries of S: twice as many are half of a cache of 32 KB */
};

/* ---- loops ------------------------------------------------------------------------------- */

enum { LANES = 4 };
typedef double vector __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
#define LOAD(at) (*(const vector *)(at))
#define STORE(at, value) (*(vector *)(at) = (value))
#define SUM(v) (((v)[0] + (v)[1]) + ((v)[2] + (v)[3]))

INLINE const double *one_column(const double *s, int64_t rows, const double *a, double *restrict y)
{
    const double first = a[0];
    double sum = s[0] * first;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 1; i < rows; i++) {
        sum += s[i] * a[i];
        y[i] += s[i] * first;
    }
    y[0] += sum;
    return s + rows;
}

/* rows is a multiple of 4: no vector is cut. */
INLINE const double *four_columns(const double *s0, int64_t rows, const double *a, double *y)
{
    const double *s1 = s0 + rows - 1, *s2 = s1 + rows - 2, *s3 = s2 + rows - 3;
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    vector y0 = { 0.0 }, y1 = { 0.0 }, y2 = { 0.0 }, y3 = { 0.0 };
    for (int64_t i = LANES; i < rows; i += LANES) {
        const vector v0 = LOAD(s0 + i), v1 = LOAD(s1 + i), v2 = LOAD(s2 + i), v3 = LOAD(s3 + i);
        const vector at = LOAD(a + i);
        y0 += v0 * at;
        y1 += v1 * at;
        y2 += v2 * at;
        y3 += v3 * at;
        STORE(y + i, LOAD(y + i) + ((v0 * a0 + v1 * a1) + (v2 * a2 + v3 * a3)));
    }
    y[0] += SUM(y0) + ((s0[0] * a0 + s0[1] * a1) + (s0[2] * a2 + s0[3] * a3));
    y[1] += SUM(y1) + ((s0[1] * a0 + s1[1] * a1) + (s1[2] * a2 + s1[3] * a3));
    y[2] += SUM(y2) + ((s0[2] * a0 + s1[2] * a1) + (s2[2] * a2 + s2[3] * a3));
    y[3] += SUM(y3) + ((s0[3] * a0 + s1[3] * a1) + (s2[3] * a2 + s3[3] * a3));
    return s3 + rows;
}

/* y = S a, of S the first columns: a packed lower triangle, or one without its last columns, a
 * multiple of 4 */
INLINE void times(const double *s, int64_t rows, int64_t columns, const double *a, double *y)
{
    int64_t c = 0;
    for (int64_t i = 0; i < rows; i++) y[i] = 0.0;
    for (; c < rows % LANES; c++) s = one_column(s, rows - c, a + c, y + c);
    for (; c < columns; c += LANES) s = four_columns(s, rows - c, a + c, y + c);
}

/* out += factor v, and v'a; four sums, as an addition takes as long as four others wait. Stores
 * come first: compilers would read v twice. */
INLINE double both(const double *v, int64_t count, const double *a, double factor, double *out)
{
    vector s0 = { 0.0 }, s1 = { 0.0 }, s2 = { 0.0 }, s3 = { 0.0 };
    int64_t i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES) {
        const vector v0 = LOAD(v + i), v1 = LOAD(v + i + LANES);
        const vector v2 = LOAD(v + i + 2 * LANES), v3 = LOAD(v + i + 3 * LANES);
        STORE(out + i, LOAD(out + i) + factor * v0);
        STORE(out + i + LANES, LOAD(out + i + LANES) + factor * v1);
        STORE(out + i + 2 * LANES, LOAD(out + i + 2 * LANES) + factor * v2);
        STORE(out + i + 3 * LANES, LOAD(out + i + 3 * LANES) + factor * v3);
        s0 += v0 * LOAD(a + i);
        s1 += v1 * LOAD(a + i + LANES);
        s2 += v2 * LOAD(a + i + 2 * LANES);
        s3 += v3 * LOAD(a + i + 3 * LANES);
    }
    for (; i + LANES <= count; i += LANES) {
        const vector v0 = LOAD(v + i);
        STORE(out + i, LOAD(out + i) + factor * v0);
        s0 += v0 * LOAD(a + i);
    }
    s0 = (s0 + s1) + (s2 + s3);
    double sum = SUM(s0);
    for (; i < count; i++) {
        sum += v[i] * a[i];
        out[i] += factor * v[i];
    }
    return sum;
}

INLINE void add(const double *v, int64_t count, double factor, double *restrict out)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) out[i] += factor * v[i];
}

typedef struct loops {
    void (*times)(const double *s, int64_t rows, int64_t columns, const double *a, double *y);
    double (*both)(const double *v, int64_t count, const double *a, double factor, double *out);
    void (*add)(const double *v, int64_t count, double factor, double *out);
} loops;

#define VERSION(name, target)                                                                 \
    target static void times_##name(const double *s, int64_t rows, int64_t columns,           \
                                    const double *a, double *y)                               \
    {                                                                                         \
        times(s, rows, columns, a, y);                                                        \
    }                                                                                         \
    target static double both_##name(const double *v, int64_t count, const double *a,         \
                                     double factor, double *out)                              \
    {                                                                                         \
        return both(v, count, a, factor, out);                                                \
    }                                                                                         \
    target static void add_##name(const double *v, int64_t count, double factor, double *out) \
    {                                                                                         \
        add(v, count, factor, out);                                                           \
    }                                                                                         \
    static const loops loops_##name = { times_##name, both_##name, add_##name };

VERSION(plain, )
#if defined(__x86_64__)
VERSION(avx2, __attribute__((target("avx2,fma"))))
VERSION(avx512, __attribute__((target("avx512f,fma"))))
static const loops *best_loops(void)
{
    const int fma = __builtin_cpu_supports("fma");
    if (fma && __builtin_cpu_supports("avx512f")) return &loops_avx512;
    if (fma && __builtin_cpu_supports("avx2")) return &loops_avx2;
    return &loops_plain;
}
#else
static const loops *best_loops(void) { return &loops_plain; }
#endif

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
    const loops *loop;
    const double *a;
    fenp_tensor_place place;
    double *before;          /* q: products of a over the slots before, after, */
    double *after, *without; /* and but for one slot                           */
    double *y, *sums;        /* n                                              */
    double *square;          /* packed triangle                                */
} walk;

static walk walk_at(const fenp_tensor *t, const loops *loop, const double *a, int64_t slice)
{
    double *work = t->work + slice * t->work_size;
    walk w = { .t = t, .loop = loop, .a = a };
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
            const double s = w->loop->both(at, count, t->pairs + from, head * a, w->square + from);
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
    w->loop->times(w->square, t->n, t->n, w->a, w->y);
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
    const loops *loop = best_loops();
    if (t->q == 2) {
        loop->times(t->entry, t->n, t->n, a, om);
        return;
    }
    set_pairs(t, a);
#pragma omp parallel for schedule(dynamic) if (t->slices > 1)
    for (int64_t k = 0; k < t->slices; k++) {
        walk w = walk_at(t, loop, a, k);
        scores_slice(&w, k);
    }
    memset(om, 0, (size_t)t->n * sizeof *om);
    for (int64_t k = 0; k < t->slices; k++) {
        const walk w = walk_at(t, loop, a, k);
        loop->add(w.sums, t->n, 0.5 * (double)(t->q - 1), om);
        loop->add(w.y, t->n, (double)(t->q - 1), om);
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
    w->loop->times(at, rows, w->place.to - k, a, w->y);
    for (int64_t i = 0; i < rows; i++) sum += a[i] * w->y[i];
    w->loop->add(at, count, whole, column(w, k) + k);
    for (int64_t t = 0; t < h; t++) {
        double *to = column(w, w->place.member[t]) + k;
        w->loop->add(w->y, rows, w->without[t], to);
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
    const loops *loop = best_loops();
    const int64_t n = t->n, size = triangle(n);
    const double *sum = t->q > 2 ? t->square : t->entry;
#pragma omp parallel for schedule(dynamic) if (t->slices > 1)
    for (int64_t k = 0; k < (t->q > 2 ? t->slices : 0); k++) {
        walk w = walk_at(t, loop, a, k);
        curvature_slice(&w, k);
    }
    for (int64_t k = 1; k < t->slices; k++) loop->add(t->square + k * size, size, 1.0, t->square);
    for (int64_t j = 0; j < n; j++)
        memcpy(b + j * n + j, sum + start(n, j), (size_t)(n - j) * sizeof *b);
}
