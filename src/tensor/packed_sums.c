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
 *   all of its entries as one long vector, four prefixes at a time so that these sums and
 *   products are not read and written for each, and y of om from the sum at the end. Slices have
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

enum { SLICES = 16, FEW = 1 << 14, AT_ONCE = 4 };

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

/* The same of four, whose sums go to dot. */
INLINE void four(const double *const v[AT_ONCE], int64_t count, const double *a,
                 const double factor[AT_ONCE], double *out, double dot[AT_ONCE])
{
    const double *v0 = v[0], *v1 = v[1], *v2 = v[2], *v3 = v[3];
    const double f0 = factor[0], f1 = factor[1], f2 = factor[2], f3 = factor[3];
    vector s0 = { 0.0 }, s1 = { 0.0 }, s2 = { 0.0 }, s3 = { 0.0 };
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const vector at = LOAD(a + i), e0 = LOAD(v0 + i), e1 = LOAD(v1 + i), e2 = LOAD(v2 + i),
                     e3 = LOAD(v3 + i);
        s0 += e0 * at;
        s1 += e1 * at;
        s2 += e2 * at;
        s3 += e3 * at;
        STORE(out + i, LOAD(out + i) + ((f0 * e0 + f1 * e1) + (f2 * e2 + f3 * e3)));
    }
    dot[0] = SUM(s0), dot[1] = SUM(s1), dot[2] = SUM(s2), dot[3] = SUM(s3);
    for (; i < count; i++) {
        dot[0] += v0[i] * a[i], dot[1] += v1[i] * a[i];
        dot[2] += v2[i] * a[i], dot[3] += v3[i] * a[i];
        out[i] += (f0 * v0[i] + f1 * v1[i]) + (f2 * v2[i] + f3 * v3[i]);
    }
}

INLINE void add(const double *v, int64_t count, double factor, double *restrict out)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) out[i] += factor * v[i];
}

typedef struct loops {
    void (*times)(const double *s, int64_t rows, const double *a, double *y);
    double (*both)(const double *v, int64_t count, const double *a, double factor, double *out);
    void (*four)(const double *const v[AT_ONCE], int64_t count, const double *a,
                 const double factor[AT_ONCE], double *out, double dot[AT_ONCE]);
    void (*add)(const double *v, int64_t count, double factor, double *out);
} loops;

#define VERSION(name, target)                                                                      \
    target static void times_##name(const double *s, int64_t rows, const double *a, double *y)     \
    {                                                                                              \
        times(s, rows, a, y);                                                                      \
    }                                                                                              \
    target static double both_##name(const double *v, int64_t count, const double *a,              \
                                     double factor, double *out)                                   \
    {                                                                                              \
        return both(v, count, a, factor, out);                                                     \
    }                                                                                              \
    target static void four_##name(const double *const v[AT_ONCE], int64_t count, const double *a, \
                                   const double factor[AT_ONCE], double *out, double dot[AT_ONCE]) \
    {                                                                                              \
        four(v, count, a, factor, out, dot);                                                       \
    }                                                                                              \
    target static void add_##name(const double *v, int64_t count, double factor, double *out)      \
    {                                                                                              \
        add(v, count, factor, out);                                                                \
    }                                                                                              \
    static const loops loops_##name = { times_##name, both_##name, four_##name, add_##name };

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
    int64_t *member;         /* q - 2: those of the prefix                         */
    double *before;          /* q: products of a over the slots before, after,     */
    double *after, *without; /* and but for one slot                               */
    double *y, *sums;        /* n                                                  */
    double *square;          /* packed triangle                                    */
} walk;

int64_t fenp_tensor_work(int64_t n, int64_t q) { return 4 * q + 2 * n; }

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
    w.before = work + t->q;
    w.after = w.before + t->q;
    w.without = w.after + t->q;
    w.y = w.without + t->q;
    w.sums = w.y + t->n;
    w.square = t->square + slice * triangle(t->n);
    memcpy(w.member, t->first + slice * t->q, (size_t)t->q * sizeof *w.member);
    return w;
}

/* Where column j of a packed n x n triangle begins, and what has the shape of a prefix's S. */
static int64_t tail(const walk *w, int64_t j) { return triangle(w->t->n) - triangle(w->t->n - j); }

static int zeros_among(const walk *w, int64_t slots)
{
    int found = 0;
    for (int64_t s = 0; s < slots; s++) found += w->a[w->member[s]] == 0.0;
    return found;
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

/* ---- all indices but one ------------------------------------------------------------------ */

/* Prefixes with the same members but for the last: some that wait to be read together. */
typedef struct run {
    double head; /* product of a over the members that they share */
    double sum;  /* of a_j s                                      */
    int count;
    int64_t last[AT_ONCE];        /* their j, ascending                            */
    const double *block[AT_ONCE]; /* and entries                                   */
} run;

/* s of one is there. */
static void add_one(const walk *w, run *r, int64_t j, double s)
{
    w->sums[j] += r->head * s;
    r->sum += w->a[j] * s;
}

/* The part of S that all have is read at once, what comes before it one by one. */
static void add_four(const walk *w, run *r)
{
    const int64_t n = w->t->n, common = triangle(n - r->last[AT_ONCE - 1]);
    double s[AT_ONCE], factor[AT_ONCE], dot[AT_ONCE];
    const double *rest[AT_ONCE];
    for (int g = 0; g < AT_ONCE; g++) {
        const int64_t j = r->last[g], from = tail(w, j), own = triangle(n - j) - common;
        factor[g] = r->head * w->a[j];
        rest[g] = r->block[g] + own;
        s[g] = w->loop->both(r->block[g], own, w->t->pairs + from, factor[g], w->square + from);
    }
    const int64_t from = triangle(n) - common;
    w->loop->four(rest, common, w->t->pairs + from, factor, w->square + from, dot);
    for (int g = 0; g < AT_ONCE; g++) add_one(w, r, r->last[g], s[g] + dot[g]);
    r->count = 0;
}

static void add_rest(const walk *w, run *r)
{
    for (int g = 0; g < r->count; g++) {
        const int64_t j = r->last[g], from = tail(w, j);
        add_one(w, r, j,
                w->loop->both(r->block[g], triangle(w->t->n - j), w->t->pairs + from,
                              r->head * w->a[j], w->square + from));
    }
}

/* From the prefix of w to the last that differs in j alone, or to the end; where that is. */
static const double *scores_run(walk *w, const double *block, const double *end)
{
    const int64_t n = w->t->n, h = w->t->q - 2;
    const int zeros = zeros_among(w, h - 1);
    run r = { .head = products(w, h - 1) };
    for (int64_t j = w->member[h - 1]; j < n && block < end; block += triangle(n - j), j++) {
        if (zeros + (w->a[j] == 0.0) >= 2) continue;
        r.last[r.count] = j, r.block[r.count++] = block;
        if (r.count == AT_ONCE) add_four(w, &r);
    }
    add_rest(w, &r);
    for (int64_t t = 0; t < h - 1; t++) w->sums[w->member[t]] += w->without[t] * r.sum;
    w->member[h - 1] = n - 1;
    fenp_multiset_next(n, h, w->member);
    return block;
}

static void scores_slice(walk *w, int64_t slice)
{
    const fenp_tensor *t = w->t;
    const double *block = t->entry + t->offset[slice], *end = t->entry + t->offset[slice + 1];
    memset(w->sums, 0, (size_t)t->n * sizeof *w->sums);
    memset(w->square, 0, (size_t)triangle(t->n) * sizeof *w->square);
    while (block < end) block = scores_run(w, block, end);
    w->loop->times(w->square, t->n, w->a, w->y);
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
static double *column(const walk *w, int64_t i) { return w->square + tail(w, i) - i; }

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

static void curvature_prefix(const walk *w, const double *block)
{
    const int64_t h = w->t->q - 2, j = w->member[h - 1], rows = w->t->n - j;
    const double whole = products(w, h), *a = w->a + j;
    double sum = 0.0;
    w->loop->times(block, rows, a, w->y);
    for (int64_t i = 0; i < rows; i++) sum += a[i] * w->y[i];
    w->loop->add(block, triangle(rows), whole, w->square + tail(w, j));
    for (int64_t t = 0; t < h; t++) {
        double *to = column(w, w->member[t]) + j;
        w->loop->add(w->y, rows, w->without[t], to);
        if (w->member[t] == j) to[0] += w->without[t] * w->y[0];
    }
    add_pairs(w, h, 0.5 * sum);
}

static void curvature_slice(walk *w, int64_t slice)
{
    const fenp_tensor *t = w->t;
    const int64_t h = t->q - 2;
    const double *block = t->entry + t->offset[slice], *end = t->entry + t->offset[slice + 1];
    memset(w->square, 0, (size_t)triangle(t->n) * sizeof *w->square);
    while (block < end) {
        if (zeros_among(w, h) < 3) curvature_prefix(w, block);
        block += triangle(t->n - w->member[h - 1]);
        fenp_multiset_next(t->n, h, w->member);
    }
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
        curvature_slice(&w, k);
    }
    for (int64_t k = 1; k < t->slices; k++) loop->add(t->square + k * size, size, 1.0, t->square);
    for (int64_t j = 0; j < n; j++)
        memcpy(b + j * n + j, t->square + j * n - triangle(j) + j, (size_t)(n - j) * sizeof *b);
}
