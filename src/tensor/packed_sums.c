/* packed_sums.c -- a fully symmetric tensor times a vector in all indices but one, or but two
 *
 *     om_i = sum K_i.. a..,   B_ij = sum K_ij.. a..   over tuples of q-1 and of q-2 indices
 *
 * Method: the derivative of T(a) = sum over multisets of orders K a_i1 ... a_iq, slot by slot,
 *   prefix by prefix (q - 2 members, the last is j, P the product of their a, P_t that without
 *   slot t, m the orders of the prefix). The entries with k, l > j are a symmetric matrix S
 *   and orders = q(q-1)/2 m (orders of k, l): with y = Sa, s = a'y
 *     om_l += (q-1) m P y_l,   om_it += (q-1)/2 m P_t s,
 *     B_kl += m P S_kl,        B_l,it += m P_t y_l,       B_it,iu += m/2 P_tu s (t < u).
 *   The entries with k = j are a row K_l with a prefix of q - 1, orders = q m' but for l = j,
 *   where they are q m'/(e+1), e: how often j stands in the prefix; with K_j so divided
 *     om_l += m' P' K_l,       om_it += m' P'_t K'a,
 *     B_l,it += g P'_t K_l,    B_it,iu += g P'_tu K'a,    g = m'/(q-1).
 *   On the diagonal of B both orders of a pair of slots count. S has the shape of the end of a
 *   packed n x n triangle: sums of m P S over the prefixes and products with a'a are taken over
 *   all of its entries as one long vector, and y of om from the sum at the end. Orders go along
 *   from prefix to prefix. Slices have sums of their own, which are added in order: the same bits
 *   for any number of threads. The loops are plain C, compiled for three instruction sets as in
 *   kernel/distance.c.
 * Special cases: prefixes with two factors 0 (of B: three) add nothing and are not read.
 * Accuracy: that of sums of so many terms.
 * Cost: 4 flops for each entry, of B 6: as fast as memory delivers them once. */
#include <omp.h>
#include <string.h>
#include "tensor/packed.h"
#include "tensor/pivots.h"

#define INLINE static inline __attribute__((always_inline))

enum { SLICES = 16, FEW = 1 << 14 };

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

/* y = S a, S a packed lower triangle */
INLINE void times(const double *s, int64_t rows, const double *a, double *y)
{
    int64_t c = 0;
    for (int64_t i = 0; i < rows; i++) y[i] = 0.0;
    for (; c < rows % LANES; c++) s = one_column(s, rows - c, a + c, y + c);
    for (; c < rows; c += LANES) s = four_columns(s, rows - c, a + c, y + c);
}

/* out += factor v, and v'a; four sums, as an addition takes as long as four others wait */
INLINE double both(const double *v, int64_t count, const double *a, double factor, double *out)
{
    vector s0 = { 0.0 }, s1 = { 0.0 }, s2 = { 0.0 }, s3 = { 0.0 };
    int64_t i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES) {
        const vector v0 = LOAD(v + i), v1 = LOAD(v + i + LANES);
        const vector v2 = LOAD(v + i + 2 * LANES), v3 = LOAD(v + i + 3 * LANES);
        s0 += v0 * LOAD(a + i);
        s1 += v1 * LOAD(a + i + LANES);
        s2 += v2 * LOAD(a + i + 2 * LANES);
        s3 += v3 * LOAD(a + i + 3 * LANES);
        STORE(out + i, LOAD(out + i) + factor * v0);
        STORE(out + i + LANES, LOAD(out + i + LANES) + factor * v1);
        STORE(out + i + 2 * LANES, LOAD(out + i + 2 * LANES) + factor * v2);
        STORE(out + i + 3 * LANES, LOAD(out + i + 3 * LANES) + factor * v3);
    }
    for (; i + LANES <= count; i += LANES) {
        const vector v0 = LOAD(v + i);
        s0 += v0 * LOAD(a + i);
        STORE(out + i, LOAD(out + i) + factor * v0);
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
    void (*times)(const double *s, int64_t rows, const double *a, double *y);
    double (*both)(const double *v, int64_t count, const double *a, double factor, double *out);
    void (*add)(const double *v, int64_t count, double factor, double *out);
} loops;

#define VERSION(name, target)                                                                  \
    target static void times_##name(const double *s, int64_t rows, const double *a, double *y) \
    {                                                                                          \
        times(s, rows, a, y);                                                                  \
    }                                                                                          \
    target static double both_##name(const double *v, int64_t count, const double *a,          \
                                     double factor, double *out)                               \
    {                                                                                          \
        return both(v, count, a, factor, out);                                                 \
    }                                                                                          \
    target static void add_##name(const double *v, int64_t count, double factor, double *out)  \
    {                                                                                          \
        add(v, count, factor, out);                                                            \
    }                                                                                          \
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

/* ---- slices ------------------------------------------------------------------------------ */

/* The work of one slice: where it stands, and its sums. */
typedef struct walk {
    const fenp_tensor *t;
    const loops *loop;
    const double *a;
    int64_t *member;         /* q: those of the prefix, and one more                       */
    double *orders;          /* q: of the first 1, 2, ... members                         */
    int64_t equal;           /* how many at the end are j                                 */
    double *before;          /* q: products of a over the slots before, after,            */
    double *after, *without; /* and but for one slot                               */
    double *y, *sums;        /* n                                                         */
    double *square;          /* packed triangle                                           */
} walk;

int64_t fenp_tensor_work(int64_t n, int64_t q) { return 5 * q + 2 * n; }

int64_t fenp_tensor_slices(int64_t q, int64_t entries)
{
    return q > 2 && entries > FEW ? SLICES : 1;
}

static int64_t triangle(int64_t rows) { return rows * (rows + 1) / 2; }

void fenp_tensor_cut(fenp_tensor *t)
{
    const int64_t h = t->q - 2, entries = fenp_multisets(t->n, t->q);
    int64_t *member = (int64_t *)(void *)t->work, at = 0, slice = 0;
    memset(member, 0, (size_t)t->q * sizeof *member);
    do {
        while (slice < t->slices && at >= entries / t->slices * slice) {
            memcpy(t->first + slice * t->q, member, (size_t)t->q * sizeof *member);
            t->offset[slice++] = at;
        }
        at += triangle(t->n - (h ? member[h - 1] : 0));
    } while (fenp_multiset_next(t->n, h, member));
    while (slice <= t->slices) t->offset[slice++] = entries;
}

static walk walk_at(const fenp_tensor *t, const loops *loop, const double *a, int64_t slice)
{
    double *work = t->work + slice * t->work_size;
    walk w = { .t = t, .loop = loop, .a = a, .member = (int64_t *)(void *)work };
    w.orders = work + t->q;
    w.before = w.orders + t->q;
    w.after = w.before + t->q;
    w.without = w.after + t->q;
    w.y = w.without + t->q;
    w.sums = w.y + t->n;
    w.square = t->square + slice * triangle(t->n);
    memcpy(w.member, t->first + slice * t->q, (size_t)t->q * sizeof *w.member);
    return w;
}

/* Orders of the prefix from slot `from` on, which begins a run of equal members. */
static void count_orders(walk *w, int64_t from)
{
    for (int64_t s = from; s < w->t->q - 2; s++) {
        w->equal = s > from && w->member[s] == w->member[s - 1] ? w->equal + 1 : 1;
        w->orders[s] = (s ? w->orders[s - 1] : 1.0) * (double)(s + 1) / (double)w->equal;
    }
}

/* The next prefix: what changes is a run of equal members at its end, mostly of one. */
static void next_prefix(walk *w)
{
    int64_t from = w->t->q - 3;
    if (!fenp_multiset_next(w->t->n, w->t->q - 2, w->member)) return;
    while (from > 0 && w->member[from - 1] == w->member[from]) from--;
    count_orders(w, from);
}

typedef void prefix_function(const walk *w, const double *block);

/* All prefixes of a slice but those with `zeros` factors 0 or more. */
static void each_prefix(walk *w, int64_t slice, int zeros, prefix_function *visit)
{
    const fenp_tensor *t = w->t;
    const int64_t h = t->q - 2;
    const double *block = t->entry + t->offset[slice], *end = t->entry + t->offset[slice + 1];
    count_orders(w, 0);
    while (block < end) {
        int found = 0;
        for (int64_t s = 0; s < h; s++) found += w->a[w->member[s]] == 0.0;
        if (found < zeros) visit(w, block);
        block += triangle(t->n - w->member[h - 1]);
        next_prefix(w);
    }
}

/* Products without one slot, and the whole one. */
static double products(const walk *w, int64_t slots)
{
    double before = 1.0, after = 1.0;
    for (int64_t s = 0; s < slots; s++) {
        w->before[s] = before;
        before *= w->a[w->member[s]];
    }
    for (int64_t s = slots - 1; s >= 0; s--) {
        w->after[s] = after;
        w->without[s] = w->before[s] * after;
        after *= w->a[w->member[s]];
    }
    return before;
}

/* The prefix of q - 1 that ends in j once more: orders, and what its entry K_j is divided by. */
static double repeat_last(const walk *w, double *divisor)
{
    const int64_t h = w->t->q - 2;
    w->member[h] = w->member[h - 1];
    *divisor = (double)(w->equal + 2);
    return w->orders[h - 1] * (double)(h + 1) / (double)(w->equal + 1);
}

/* ---- all indices but one ------------------------------------------------------------------ */

static void scores_prefix(const walk *w, const double *block)
{
    const int64_t q = w->t->q, h = q - 2, j = w->member[h - 1], rows = w->t->n - j - 1;
    const double *a = w->a, *above = a + j + 1, whole = products(w, h);
    const double orders = (double)(q - 1) * w->orders[h - 1];
    const int64_t tail = triangle(w->t->n) - triangle(rows);
    const double s = w->loop->both(block + rows + 1, triangle(rows), w->t->pairs + tail,
                                   orders * whole, w->square + tail);
    double divisor;
    const double row = repeat_last(w, &divisor), first = block[0] / divisor;
    const double rest = w->loop->both(block + 1, rows, above, row * whole * a[j], w->sums + j + 1);
    const double dot = rest + first * a[j];
    for (int64_t t = 0; t < h; t++)
        w->sums[w->member[t]] += w->without[t] * (0.5 * orders * s + row * a[j] * dot);
    w->sums[j] += row * whole * (dot + a[j] * first);
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
        loop->times(t->entry, t->n, a, om);
        return;
    }
    set_pairs(t, a);
#pragma omp parallel for schedule(dynamic) if (t->slices > 1)
    for (int64_t k = 0; k < t->slices; k++) {
        walk w = walk_at(t, loop, a, k);
        memset(w.sums, 0, (size_t)t->n * sizeof *w.sums);
        memset(w.square, 0, (size_t)triangle(t->n) * sizeof *w.square);
        each_prefix(&w, k, 2, scores_prefix);
        loop->times(w.square, t->n, a, w.y);
    }
    memset(om, 0, (size_t)t->n * sizeof *om);
    for (int64_t k = 0; k < t->slices; k++) {
        const walk w = walk_at(t, loop, a, k);
        loop->add(w.sums, t->n, 1.0, om);
        loop->add(w.y, t->n, 1.0, om);
    }
}

/* ---- all but two -------------------------------------------------------------------------- */

/* Column i of the packed triangle, to be indexed by the row. */
static double *column(const walk *w, int64_t i) { return w->square + i * w->t->n - triangle(i); }

/* Both of two indices are slots of the prefix. */
static void add_pairs(const walk *w, int64_t slots, double factor)
{
    for (int64_t t = 0; t < slots; t++) {
        const int64_t i = w->member[t];
        double rest = factor * w->before[t]; /* and those between t and u */
        for (int64_t u = t + 1; u < slots; u++) {
            const int64_t k = w->member[u];
            column(w, i)[k] += (i == k ? 2.0 : 1.0) * rest * w->after[u];
            rest *= w->a[k];
        }
    }
}

static void curvature_row(const walk *w, const double *block, int64_t rows)
{
    const int64_t q = w->t->q, slots = q - 1, j = w->member[q - 3];
    const double *a = w->a;
    double divisor;
    const double g = repeat_last(w, &divisor) / (double)(q - 1), first = block[0] / divisor;
    double dot = first * a[j];
    products(w, slots);
    for (int64_t i = 0; i < rows; i++) dot += block[1 + i] * a[j + 1 + i];
    for (int64_t t = 0; t < slots; t++) {
        const int64_t i = w->member[t];
        const double factor = g * w->without[t];
        w->loop->add(block + 1, rows, factor, column(w, i) + j + 1);
        column(w, i)[j] += (i == j ? 2.0 : 1.0) * factor * first;
    }
    add_pairs(w, slots, g * dot);
}

static void curvature_prefix(const walk *w, const double *block)
{
    const int64_t h = w->t->q - 2, j = w->member[h - 1], rows = w->t->n - j - 1;
    const double *s = block + rows + 1, *above = w->a + j + 1, whole = products(w, h);
    const double orders = w->orders[h - 1];
    double sum = 0.0;
    w->loop->times(s, rows, above, w->y);
    for (int64_t i = 0; i < rows; i++) sum += above[i] * w->y[i];
    if (rows) w->loop->add(s, triangle(rows), orders * whole, column(w, j + 1) + j + 1);
    for (int64_t t = 0; t < h; t++)
        w->loop->add(w->y, rows, orders * w->without[t], column(w, w->member[t]) + j + 1);
    add_pairs(w, h, 0.5 * orders * sum);
    curvature_row(w, block, rows);
}

void fenp_tensor_curvature(const fenp_tensor *t, const double *a, double *b)
{
    const loops *loop = best_loops();
    const int64_t n = t->n, size = triangle(n);
    if (t->q == 2) {
        for (int64_t j = 0; j < n; j++)
            memcpy(b + j * n + j, t->entry + j * n - triangle(j) + j, (size_t)(n - j) * sizeof *b);
        return;
    }
#pragma omp parallel for schedule(dynamic) if (t->slices > 1)
    for (int64_t k = 0; k < t->slices; k++) {
        walk w = walk_at(t, loop, a, k);
        memset(w.square, 0, (size_t)size * sizeof *w.square);
        each_prefix(&w, k, 3, curvature_prefix);
    }
    for (int64_t k = 1; k < t->slices; k++) loop->add(t->square + k * size, size, 1.0, t->square);
    for (int64_t j = 0; j < n; j++)
        memcpy(b + j * n + j, t->square + j * n - triangle(j) + j, (size_t)(n - j) * sizeof *b);
}
