/* test_block.c -- the block solver and its parts, each against its definition
 *
 * Kernel values are compared with those of single pairs, quadratic programs with a slow
 * accelerated proximal method that shares no code with the solver, and answers of the whole
 * solver are judged by P - D from the definition. Matrices of the programs are multiples of
 * 1/64 and so the same in single and in double precision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/registry.h"
#include "solver/face.h"
#include "solver/pivot.h"
#include "solver/solver.h"
#include "solver/values.h"

static double uniform(uint64_t stream, int64_t k) { return fenp_uniform(17, stream, (uint64_t)k); }

static double *doubles(int64_t count)
{
    double *v = calloc((size_t)count, sizeof *v);
    assert_non_null(v);
    return v;
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g to %g", a, b, tolerance);
}

/* ---- kernel values --------------------------------------------------------------------------- */

enum { ROWS = 140, CENTRES = 300 }; /* more than one tile of rows, and not a whole number */

static double *random_rows(uint64_t stream, int64_t rows, int64_t p)
{
    double *x = doubles(rows * p);
    for (int64_t i = 0; i < rows * p; i++)
        x[i] = (4.0 * uniform(stream, i) - 2.0) / sqrt((double)p);
    return x;
}

static fenp_kernel kernel_of(const fen_kernel *table)
{
    return (fenp_kernel){ table, { 0.7, 3.0, 1.0 } };
}

/* Sums of p <= 60 products of size 1, cubed at most: errors of 1e-14, tolerance 1e-12. */
static void check_rows(const fenp_kernel *k, const double *x, const double *z, int64_t p)
{
    double *store = doubles(ROWS * CENTRES), *out[ROWS];
    for (int64_t i = 0; i < ROWS; i++) out[i] = store + (ROWS - 1 - i) * CENTRES; /* anywhere */
    assert_int_equal(
        fenp_gram_rows(k, (fen_view){ x, ROWS, p, p }, (fen_view){ z, CENTRES, p, p }, out, NULL),
        FEN_OK);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < CENTRES; j++)
            assert_near(out[i][j], fenp_kernel_pair(k, x + i * p, z + j * p, p), 1e-12);
    free(store);
}

/* Rounded once from the values in double precision; both triangles the same. */
static void check_single(const fenp_kernel *k, const double *x, int64_t p)
{
    enum { LD = ROWS + 4 };
    float *out = calloc(LD * ROWS, sizeof *out);
    assert_non_null(out);
    assert_int_equal(fenp_gram_single(k, (fen_view){ x, ROWS, p, p }, LD, out, NULL), FEN_OK);
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < ROWS; j++) {
            const double value = fenp_kernel_pair(k, x + i * p, x + j * p, p);
            assert_near((double)out[i * LD + j], value, 6e-8 * fabs(value) + 1e-12);
            assert_true(out[i * LD + j] == out[j * LD + i]);
        }
        for (int64_t j = ROWS; j < LD; j++) assert_true(out[i * LD + j] == 0.0F);
    }
    free(out);
}

/* Few, many, no and all centres count. */
static void check_times(const fenp_kernel *k, const double *x, const double *z, int64_t p)
{
    enum { TARGETS = 2 };
    const int every[] = { 1, 2, 17, CENTRES + 1 };
    double *coef = doubles(TARGETS * CENTRES), *out = doubles(ROWS * TARGETS);
    for (int e = 0; e < 4; e++) {
        for (int64_t j = 0; j < TARGETS * CENTRES; j++) /* targets have centres of their own */
            coef[j] = j % every[e] == every[e] - 1 ? uniform(3, j) - 0.5 : 0.0;
        assert_int_equal(fenp_gram_times(k, (fen_view){ x, ROWS, p, p },
                                         (fen_view){ z, CENTRES, p, p }, coef, TARGETS, out, NULL,
                                         NULL),
                         FEN_OK);
        for (int64_t i = 0; i < ROWS * TARGETS; i++) {
            double sum = 0.0;
            for (int64_t j = 0; j < CENTRES; j++)
                sum += coef[i % TARGETS * CENTRES + j] *
                       fenp_kernel_pair(k, x + i / TARGETS * p, z + j * p, p);
            assert_near(out[i], sum, 1e-12 * CENTRES);
        }
    }
    free(coef);
    free(out);
}

static void test_kernel_values(void **unused)
{
    (void)unused;
    const int64_t dims[] = { 1, 5, 60 };
    for (int d = 0; d < 3; d++) {
        double *x = random_rows(1, ROWS, dims[d]), *z = random_rows(2, CENTRES, dims[d]);
        memcpy(z, x, sizeof(double) * (size_t)(20 * dims[d])); /* equal rows among others */
        for (int i = 0; fenp_kernels[i]; i++) {
            const fenp_kernel k = kernel_of(fenp_kernels[i]);
            if (k.table->basis == FEN_PRECOMPUTED) continue;
            check_rows(&k, x, z, dims[d]);
            check_single(&k, x, dims[d]);
            check_times(&k, x, z, dims[d]);
        }
        free(x);
        free(z);
    }
}

/* ---- rows that are kept ---------------------------------------------------------------------- */

static fenp_sample *sample_of(int64_t n, int64_t p)
{
    fenp_sample *s = fenp_sample_new(n, p, 1);
    assert_non_null(s);
    for (int64_t i = 0; i < n * p; i++) s->x[i] = (4.0 * uniform(4, i) - 2.0) / sqrt((double)p);
    return s;
}

/* A kernel value by definition; of a given matrix what stands there. */
static double value_of(const fenp_kernel *k, const fenp_sample *s, int64_t i, int64_t j)
{
    if (k->table->basis == FEN_PRECOMPUTED) return s->x[i * s->p + j];
    return fenp_kernel_pair(k, s->x + i * s->p, s->x + j * s->p, s->p);
}

static void test_rows(void **unused)
{
    (void)unused;
    enum { N = 30, P = 40, SLOTS = 7, REQUESTS = 200 };
    fenp_sample *s = sample_of(N, P);
    const fenp_kernel k = kernel_of(fenp_find_kernel("gaussian"));
    fenp_arena arena;
    const double *row[SLOTS];
    int64_t order[N];
    assert_int_equal(fenp_arena_open(&arena, fenp_rows_bytes(N, P, SLOTS), "test", NULL), FEN_OK);
    fenp_rows rows = fenp_rows_open(&arena, &k, s, SLOTS);
    assert_true(arena.used <= arena.size);
    for (int64_t r = 0; r < REQUESTS; r++) {
        fenp_permutation(5, (uint64_t)r, N, order);
        const int64_t count = 1 + r % SLOTS;
        assert_int_equal(fenp_rows_fetch(&rows, order, count, row, NULL), FEN_OK);
        for (int64_t i = 0; i < count * N; i++)
            assert_near(row[i / N][i % N], value_of(&k, s, order[i / N], i % N), 1e-13);
    }
    fenp_arena_close(&arena);
    fenp_sample_free(s);
}

/* Who was not asked for longest gives way; others are not computed again. */
static void test_rows_give_way(void **unused)
{
    (void)unused;
    enum { N = 10, P = 40, SLOTS = 3 };
    fenp_sample *s = sample_of(N, P);
    const fenp_kernel k = kernel_of(fenp_find_kernel("gaussian"));
    const int64_t wanted[] = { 4, 1, 7, 4, 9 };
    const double *row;
    fenp_arena arena;
    assert_int_equal(fenp_arena_open(&arena, fenp_rows_bytes(N, P, SLOTS), "test", NULL), FEN_OK);
    fenp_rows rows = fenp_rows_open(&arena, &k, s, SLOTS);
    for (int r = 0; r < 5; r++) {
        assert_int_equal(fenp_rows_fetch(&rows, wanted + r, 1, &row, NULL), FEN_OK);
        rows.store[row - rows.store] = 100.0 + (double)wanted[r]; /* to be known again */
    }
    assert_true(rows.slot_of[1] == -1 && rows.slot_of[7] >= 0 && rows.slot_of[4] >= 0);
    assert_int_equal(fenp_rows_fetch(&rows, wanted + 2, 1, &row, NULL), FEN_OK);
    assert_true(row[0] == 107.0);
    fenp_arena_close(&arena);
    fenp_sample_free(s);
}

static void test_rows_sizes(void **unused)
{
    (void)unused;
    for (int64_t bytes = 0; bytes < 300000; bytes += 7001) {
        const int64_t slots = fenp_rows_slots(100, 3, bytes);
        assert_true(slots == 0 || fenp_rows_bytes(100, 3, slots) <= bytes);
        assert_true(slots == 100 || fenp_rows_bytes(100, 3, slots + 1) > bytes);
    }
    assert_true(fenp_rows_bytes(INT64_MAX / 4, 3, 100) == -1);
}

/* ---- blocks and products --------------------------------------------------------------------- */

static void check_block(fenp_values *v, const fenp_sample *s, const int64_t *who, int64_t count)
{
    const int64_t ld = (count + 7) / 8 * 8;
    assert_int_equal(fenp_values_block(v, who, count, ld, NULL), FEN_OK);
    for (int64_t i = 0; i < ld * ld; i++) {
        const int64_t r = i / ld, c = i % ld;
        const int inside = r < count && c < count; /* of two given values the mean */
        const double value = inside ? 0.5 * (value_of(&v->kernel, s, who[r], who[c]) +
                                             value_of(&v->kernel, s, who[c], who[r]))
                                    : 0.0;
        assert_near((double)v->k[i], value, 6e-8 * fabs(value) + (inside ? 1e-12 : 0.0));
    }
}

static void check_product(fenp_values *v, const fenp_sample *s, const int64_t *who, int64_t count)
{
    double move[64], out[64];
    for (int64_t k = 0; k < count; k++) move[k] = uniform(6, who[k] + count) - 0.5;
    assert_int_equal(fenp_values_times(v, who, move, count, out, NULL), FEN_OK);
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0.0;
        for (int64_t k = 0; k < count; k++) sum += move[k] * value_of(&v->kernel, s, i, who[k]);
        assert_near(out[i], sum, 1e-12);
    }
}

/* slots < 0: as fenp_values_bytes says, else an arena with room for so many rows */
static void check_values(const char *kernel, int64_t n, int64_t p, int64_t slots)
{
    enum { ROOM = 32 };
    fenp_sample *s = sample_of(n, p);
    const fenp_kernel k = kernel_of(fenp_find_kernel(kernel));
    const int64_t bytes = slots < 0 ? fenp_values_bytes(n, p, ROOM, 0)
                                    : fenp_values_bytes(n, p, ROOM, 1) +
                                          (slots > 0 ? fenp_rows_bytes(n, p, slots) : 0);
    int64_t order[64];
    fenp_arena arena;
    assert_int_equal(fenp_arena_open(&arena, bytes, "test", NULL), FEN_OK);
    fenp_values v = fenp_values_open(&arena, &k, s, ROOM);
    assert_true(arena.used <= arena.size);
    assert_true(v.cache.slots == (p <= 32 || p == n ? 0 : slots < 0 ? n : slots));
    for (int64_t r = 0; r < 40; r++) {
        fenp_permutation(7, (uint64_t)(r / 2), n, order); /* each block twice: it is held */
        check_block(&v, s, order, 1 + r / 2 * 5 % ROOM);
        if (r % 4 == 0) check_product(&v, s, order + 3, 1 + r % ROOM);
    }
    fenp_arena_close(&arena);
    fenp_sample_free(s);
}

static void test_values(void **unused)
{
    (void)unused;
    for (int i = 0; fenp_kernels[i]; i++) {
        const int given = fenp_kernels[i]->basis == FEN_PRECOMPUTED;
        if (!given) check_values(fenp_kernels[i]->name, 50, 3, -1);
        check_values(fenp_kernels[i]->name, 50, given ? 50 : 40, -1);
    }
    check_values("gaussian", 50, 50, -1);
    for (int64_t slots = 0; slots < 12; slots++) check_values("laplace", 50, 40, slots);
}

/* ---- quadratic programs ---------------------------------------------------------------------- */

enum { SIZE = 24, COUNT = 21, RANK = 5, KINDS = 128 };
typedef struct program {
    fenp_qp q; /* of what follows */
    double b[SIZE], g[SIZE], stiff[SIZE], d[SIZE], kink[SIZE], low[SIZE], high[SIZE];
    double a[SIZE], k[SIZE * SIZE];
    float single[SIZE * SIZE];
    double start; /* sum of b */
} program;

/* What kinds of program there are: bits that are drawn together. */
enum { BALANCED = 1, KINKED = 2, CURVED = 4, DEFINITE = 8, LOOSE = 16, EQUAL_ROWS = 32 };

/* Factors are multiples of 1/8; the last three variables are filling. */
static void load_matrix(program *m, int64_t kind)
{
    double factor[SIZE * RANK];
    for (int64_t i = 0; i < SIZE * RANK; i++)
        factor[i] = round(32.0 * uniform(100 + (uint64_t)kind, i)) / 8.0 - 2.0;
    for (int64_t i = 0; i < SIZE * SIZE; i++) {
        const int64_t r = i / SIZE, c = i % SIZE, period = kind & EQUAL_ROWS ? 8 : SIZE;
        const double *x = factor + r % period * RANK, *z = factor + c % period * RANK;
        for (int64_t t = 0; t < RANK && r < COUNT && c < COUNT; t++) m->k[i] += x[t] * z[t];
        if (r == c && r < COUNT && kind & DEFINITE) m->k[i] += 0.5;
        m->single[i] = (float)m->k[i];
    }
}

static void load_limits(program *m, int64_t kind, int64_t i)
{
    const int loose = kind & LOOSE && kind & (CURVED | DEFINITE); /* else there is no optimum */
    double u[6];
    for (int64_t t = 0; t < 6; t++) u[t] = uniform(300 + (uint64_t)kind, 6 * i + t);
    m->a[i] = 6.0 * u[0] - 3.0;
    m->q.d[i] = kind & CURVED ? 0.1 + u[1] : 0.0;
    m->q.kink[i] = kind & KINKED && i % 5 > 0 ? u[2] : 0.0;
    m->q.low[i] = u[3] < 0.3 ? 0.0 : loose && u[3] > 0.7 ? -INFINITY : -u[4];
    m->q.high[i] = u[3] > 0.6 && u[3] < 0.8 ? 0.0 : loose && u[3] > 0.5 ? INFINITY : u[5];
    if (i % 7 == 3) m->q.low[i] = m->q.high[i] = i % 2 ? 0.0 : 0.25; /* immovable */
    const double b = i % 6 == 5 ? 0.0 : 1.5 * u[1] - 0.75;           /* some start in a corner */
    m->q.b[i] = fmax(fmin(b, m->q.high[i]), m->q.low[i]);
}

/* g by definition */
static void slopes_of(const program *m, const double *b, double *g)
{
    for (int64_t i = 0; i < SIZE; i++) {
        g[i] = m->q.d[i] * b[i] - m->a[i];
        for (int64_t j = 0; j < SIZE; j++) g[i] += m->k[i * SIZE + j] * b[j];
    }
}

static double objective(const program *m, const double *b)
{
    double g[SIZE], sum = 0.0;
    slopes_of(m, b, g);
    for (int64_t i = 0; i < SIZE; i++)
        sum += 0.5 * (g[i] - m->a[i]) * b[i] + m->q.kink[i] * fabs(b[i]);
    return sum;
}

static void load(program *m, int64_t kind)
{
    memset(m, 0, sizeof *m);
    m->q = (fenp_qp){ .n = SIZE,
                      .balanced = (int)(kind & BALANCED),
                      .b = m->b,
                      .g = m->g,
                      .stiff = m->stiff,
                      .d = m->d,
                      .kink = m->kink,
                      .low = m->low,
                      .high = m->high };
    load_matrix(m, kind);
    for (int64_t i = 0; i < COUNT; i++) load_limits(m, kind, i);
    for (int64_t i = 0; i < SIZE; i++) {
        m->stiff[i] = m->k[i * SIZE + i] + m->d[i];
        m->start += m->b[i];
    }
    slopes_of(m, m->b, m->g);
}

/* ---- the slow method ------------------------------------------------------------------------- */

/* The nearest point to v - shift under the corners, the bounds and a step t; returns its sum. */
static double nearest(const program *m, const double *v, double t, double shift, double *out)
{
    double sum = 0.0;
    for (int64_t i = 0; i < SIZE; i++) {
        const double x = v[i] - shift, bend = t * m->kink[i];
        out[i] = fmin(fmax(x > bend    ? x - bend
                           : x < -bend ? x + bend
                                       : 0.0,
                           m->low[i]),
                      m->high[i]);
        sum += out[i];
    }
    return sum;
}

static void proximal(const program *m, const double *v, double t, double *out)
{
    double low = -100.0, high = 100.0;
    for (int pass = 0; m->q.balanced && pass < 50; pass++) {
        const double middle = 0.5 * (low + high);
        *(nearest(m, v, t, middle, out) > m->start ? &low : &high) = middle;
    }
    nearest(m, v, t, m->q.balanced ? high : 0.0, out);
}

/* Accelerated proximal steps, begun anew where the objective rises; returns the objective. */
static double slow_optimum(const program *m)
{
    double b[SIZE], before[SIZE], ahead[SIZE], g[SIZE], square = 0.0, most = 0.0, pace = 1.0;
    for (int64_t i = 0; i < SIZE * SIZE; i++) square += m->k[i] * m->k[i];
    for (int64_t i = 0; i < SIZE; i++) most = fmax(most, m->d[i]), b[i] = ahead[i] = m->b[i];
    const double t = 1.0 / (sqrt(square) + most);
    double best = objective(m, b);
    for (int step = 0; step < 1200; step++) {
        memcpy(before, b, sizeof b);
        slopes_of(m, ahead, g);
        for (int64_t i = 0; i < SIZE; i++) ahead[i] -= t * g[i];
        proximal(m, ahead, t, b);
        const double now = objective(m, b), next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * pace * pace));
        const double momentum = now > best ? 0.0 : (pace - 1.0) / next;
        for (int64_t i = 0; i < SIZE; i++) ahead[i] = b[i] + momentum * (b[i] - before[i]);
        pace = now > best ? 1.0 : next;
        best = now;
    }
    return best;
}

/* ---- programs solved ------------------------------------------------------------------------- */

/* Bounds, the sum, and g as the definition says. */
static void assert_sound(const program *m, int64_t kind)
{
    double g[SIZE], sum = 0.0, size = 1.0;
    slopes_of(m, m->b, g);
    for (int64_t i = 0; i < SIZE; i++) {
        assert_true(m->low[i] <= m->b[i] && m->b[i] <= m->high[i]);
        sum += m->b[i], size += fabs(m->b[i]);
    }
    for (int64_t i = 0; i < SIZE; i++)
        if (!(fabs(m->g[i] - g[i]) <= 1e-10 * size))
            fail_msg("program %d: g[%d] = %.17g, not %.17g", (int)kind, (int)i, m->g[i], g[i]);
    if (m->q.balanced && !(fabs(sum - m->start) <= 1e-12 * size))
        fail_msg("program %d: the sum has become %.17g, was %.17g", (int)kind, sum, m->start);
}

/* The slow method leaves some 1e-8; who is asked must be at least as good. */
static void assert_optimum(const program *m, int64_t kind)
{
    const double found = objective(m, m->b), slow = slow_optimum(m), unit = 1.0 + fabs(slow);
    if (!(found <= slow + 1e-8 * unit && found >= slow - 1e-5 * unit))
        fail_msg("program %d: %.15g instead of %.15g", (int)kind, found, slow);
}

/* An objective that has risen by more than roundings. */
static int rises(double from, double to) { return !(to <= from + 1e-12 * (1.0 + fabs(from))); }

static void test_pairs(void **unused)
{
    (void)unused;
    double work[2 * SIZE];
    for (int64_t kind = 0; kind < KINDS; kind++) {
        program m;
        load(&m, kind);
        double last = objective(&m, m.b);
        for (int few = 0; few < 20; few++) {
            assert_true(fenp_smo(&m.q, m.single, SIZE, 1e-8, 3, work) <= 3);
            const double now = objective(&m, m.b);
            if (rises(last, now)) fail_msg("program %d: from %.17g to %.17g", (int)kind, last, now);
            last = now;
            assert_sound(&m, kind);
        }
        assert_true(fenp_smo(&m.q, m.single, SIZE, 1e-8, 1000000, work) < 1000000);
        assert_sound(&m, kind);
        if (!(fenp_qp_violation(&m.q) <= 1.1e-8))
            fail_msg("program %d: violation %g", (int)kind, fenp_qp_violation(&m.q));
        assert_optimum(&m, kind);
    }
}

static void test_faces(void **unused)
{
    (void)unused;
    double factor[SIZE * SIZE], work[6 * SIZE], before[SIZE], pairs[2 * SIZE];
    int64_t who[SIZE], falls = 0;
    for (int64_t kind = 0; kind < KINDS; kind++) {
        program m;
        fenp_face_room room = { factor, work, who, 0.01 };
        load(&m, kind);
        for (int step = 0; step < 25; step++) {
            const double last = objective(&m, m.b);
            int moved;
            memcpy(before, m.b, sizeof before);
            assert_int_equal(fenp_face_step(&m.q, m.single, SIZE, &room, &moved, NULL), FEN_OK);
            assert_sound(&m, kind);
            const double now = objective(&m, m.b);
            if (rises(last, now)) fail_msg("program %d: from %.17g to %.17g", (int)kind, last, now);
            falls += now < last;
            for (int64_t i = 0; i < SIZE; i++) {
                assert_true(m.kink[i] == 0.0 || m.b[i] * before[i] >= 0.0); /* its side */
                assert_true(moved || m.b[i] == before[i]);
            }
            if (step % 5 == 4) fenp_smo(&m.q, m.single, SIZE, 1e-8, 3, pairs); /* another face */
        }
    }
    assert_true(falls > 5 * KINDS);
}

/* Pivots with a few pairs between them, as in small problems. */
static void test_pivots(void **unused)
{
    (void)unused;
    double factor[SIZE * SIZE], work[7 * SIZE], before[SIZE], pairs[2 * SIZE];
    int64_t who[SIZE];
    for (int64_t kind = 0; kind < KINDS; kind++) {
        program m;
        fenp_pivot_room room = { factor, work, who };
        load(&m, kind);
        for (int round = 0; round < 60 && fenp_qp_violation(&m.q) > 1e-8; round++) {
            const double last = objective(&m, m.b);
            int moved;
            memcpy(before, m.b, sizeof before);
            assert_int_equal(
                fenp_pivot(&m.q, m.k, 1e-9, round < 5 ? 2 : 100, &room, &moved, NULL, NULL),
                FEN_OK);
            assert_sound(&m, kind);
            const double now = objective(&m, m.b);
            if (rises(last, now)) fail_msg("program %d: from %.17g to %.17g", (int)kind, last, now);
            for (int64_t i = 0; i < SIZE; i++) assert_true(moved || m.b[i] == before[i]);
            fenp_smo(&m.q, m.single, SIZE, 1e-9, 4, pairs);
        }
        if (!(fenp_qp_violation(&m.q) <= 1e-8))
            fail_msg("program %d: violation %g", (int)kind, fenp_qp_violation(&m.q));
        assert_optimum(&m, kind);
    }
}

/* ---- the solver ------------------------------------------------------------------------------ */

static const double GAP = 1e-6;
enum { N = 33, P = 3 };
typedef enum rows { PLAIN, WEIGHTED, TWICE } rows; /* WEIGHTED: every fifth weight is 0 */

/* TWICE: the same inputs with other labels, but a tube has room for one of them only. */
static fenp_sample *data_of(const fen_loss *loss, int64_t n, int64_t p, rows kind)
{
    fenp_sample *s = sample_of(n, p);
    double sum = 0.0;
    for (int64_t i = 0; i < n * p; i++) s->x[i] *= sqrt((double)p);
    for (int64_t i = 0; i < n; i++) {
        const double *x = s->x + i * p;
        const double y = sin(2.0 * x[0]) + x[p - 1] + uniform(8, i) - 0.5;
        s->y[i] = loss->labels == FEN_SIGNS ? (y > 0.0 ? 1.0 : -1.0) : y;
        sum += s->w[i] = kind != WEIGHTED ? 1.0 : i % 5 == 2 ? 0.0 : 0.5 + uniform(9, i);
    }
    for (int64_t i = 0; i < n; i++) s->w[i] /= sum;
    for (int64_t i = n / 2; i < n && kind == TWICE; i++) {
        memcpy(s->x + i * p, s->x + (i - n / 2) * p, (size_t)p * sizeof(double));
        if (strcmp(loss->name, "tube") == 0) s->y[i] = s->y[i - n / 2] + 0.1;
    }
    return s;
}

static fenp_problem problem_of(const fenp_sample *s, const fen_loss *loss, double lambda, int bias)
{
    return (fenp_problem){ .sample = s,
                           .loss = loss,
                           .par = &loss->parameter.initial,
                           .kernel = { fenp_find_kernel("gaussian"), { 0.5, 2.0, 1.0 } },
                           .lambda = lambda,
                           .power = 2.0,
                           .bias = bias,
                           .gap = GAP };
}

typedef struct run {
    fenp_arena arena;
    void *state;
    double *dual, *scores, weights[P], scale, offset, gap;
    int stop, calls; /* at which report of progress; 0: never */
} run;

static void run_open(run *r, const fenp_problem *q)
{
    const fenp_solver *solver = fenp_find_solver("block");
    const fenp_size size = { q->sample->n, q->sample->p, 1, q->bias, 2.0, 0 };
    memset(r, 0, sizeof *r);
    assert_true(solver->accepts(q->loss, q->kernel.table, &size));
    assert_int_equal(fenp_arena_open(&r->arena, solver->bytes(&size), "test", NULL), FEN_OK);
    assert_int_equal(solver->begin(&r->arena, q, &r->state, NULL, NULL), FEN_OK);
    assert_true(r->arena.used <= r->arena.size);
    r->dual = doubles(size.n);
    r->scores = doubles(size.n);
}

static void run_close(run *r)
{
    fenp_arena_close(&r->arena);
    free(r->dual);
    free(r->scores);
}

static int count(void *user, const char *stage, double fraction)
{
    run *r = user;
    (void)stage;
    assert_true(0.0 <= fraction && fraction <= 1.0);
    return ++r->calls == r->stop;
}

static fen_status sweep(run *r, const fenp_problem *q)
{
    fenp_solution out = { .dual = r->dual,
                          .scale = &r->scale,
                          .offset = &r->offset,
                          .weights = q->kernel.table->linear ? r->weights : NULL,
                          .scores = r->scores,
                          .gap = &r->gap };
    const fen_host host = { count, r };
    const fenp_task task = fenp_task_start(&host, 0.0);
    fen_error err;
    r->calls = 0;
    return fenp_find_solver("block")->sweep(r->state, q, &out, &task, &err);
}

/* From the dual vector that is there. */
static void solve(run *r, const fenp_problem *q)
{
    r->gap = INFINITY;
    for (int turn = 0; turn < 20 && !(r->gap <= GAP); turn++) assert_int_equal(sweep(r, q), FEN_OK);
}

/* Scores are K c from the definition, u is feasible; returns c'Kc. */
static double assert_feasible(const run *r, const fenp_problem *q)
{
    const fenp_sample *s = q->sample;
    double sum = 0.0, size = 0.0, square = 0.0;
    for (int64_t i = 0; i < s->n; i++) size += fabs(r->dual[i]);
    assert_true(isfinite(size) && isfinite(r->offset));
    assert_true(r->scale == 0.5 / q->lambda);
    for (int64_t i = 0; i < s->n; i++) {
        double low, high, f = 0.0;
        q->loss->domain(s->y[i], q->par, &low, &high); /* of -u/w */
        assert_true(s->w[i] > 0.0 || r->dual[i] == 0.0);
        if (s->w[i] > 0.0)
            assert_true(-r->dual[i] / s->w[i] >= low - 1e-12 &&
                        -r->dual[i] / s->w[i] <= high + 1e-12);
        for (int64_t j = 0; j < s->n; j++)
            if (r->dual[j] != 0.0) f += r->scale * r->dual[j] * value_of(&q->kernel, s, i, j);
        assert_near(r->scores[i], f, 1e-10 * (1.0 + r->scale * size));
        sum += r->dual[i];
        square += r->scale * r->dual[i] * f;
    }
    if (q->bias) assert_near(sum, 0.0, 1e-9 * size); /* a start 1e5 times as large leaves 1e-11 */
    return square;
}

/* P - D from the definition; *unit is P. What leaves a tube by 1e-6 counts as inside. */
static double judged(const run *r, const fenp_problem *q, double *unit)
{
    const fenp_sample *s = q->sample;
    const int hard = strcmp(q->loss->name, "tube") == 0;
    const double square = assert_feasible(r, q);
    double primal = q->lambda * square, dual = -q->lambda * square;
    for (int64_t i = 0; i < s->n; i++) {
        if (s->w[i] == 0.0) continue;
        const double t = r->scores[i] + r->offset;
        double low, high;
        q->loss->domain(s->y[i], q->par, &low, &high);
        const double slope = fmin(fmax(-r->dual[i] / s->w[i], low), high);
        dual -= s->w[i] * q->loss->conj(s->y[i], slope, q->par);
        if (hard)
            assert_true(fabs(s->y[i] - t) <= q->par[0] + 1e-6);
        else
            primal += s->w[i] * q->loss->value(s->y[i], t, q->par);
    }
    *unit = primal;
    return primal - dual;
}

static void assert_optimal(const run *r, const fenp_problem *q)
{
    double primal;
    const double gap = judged(r, q, &primal);
    if (!(gap <= GAP * primal + 1e-13 && gap >= -1e-6 * primal - 1e-13))
        fail_msg("%s, n %d, lambda %g, bias %d: P %g, P - D %g, claimed %g P", q->loss->name,
                 (int)q->sample->n, q->lambda, q->bias, primal, gap, r->gap);
}

static void solved(const fenp_sample *s, const fen_loss *loss, double lambda, int bias)
{
    const fenp_problem q = problem_of(s, loss, lambda, bias);
    run r;
    run_open(&r, &q);
    solve(&r, &q);
    assert_optimal(&r, &q);
    run_close(&r);
}

static void test_every_loss(void **unused)
{
    (void)unused;
    int losses = 0;
    for (int l = 0; fenp_losses[l]; l++) {
        if (!fenp_losses[l]->piece) continue;
        losses++;
        for (int kind = 0; kind < 3 * 2; kind++) {
            fenp_sample *s = data_of(fenp_losses[l], N, P, (rows)(kind % 3));
            for (double lambda = 1e-6; lambda < 2e3; lambda *= 1e3)
                solved(s, fenp_losses[l], lambda, kind / 3);
            fenp_sample_free(s);
        }
    }
    assert_int_equal(losses, 9);
}

/* One state through lambdas up and down, and through other weights and labels. */
static void test_warm_start(void **unused)
{
    (void)unused;
    const double lambdas[] = { 1e-2, 1e-3, 1e-6, 10.0, 1e-4 };
    for (int l = 0; fenp_losses[l]; l++) {
        if (!fenp_losses[l]->piece) continue;
        fenp_sample *plain = data_of(fenp_losses[l], N, P, PLAIN);
        fenp_sample *other = data_of(fenp_losses[l], N, P, WEIGHTED);
        for (int64_t i = 0; i < N; i += 4) other->y[i] = -other->y[i];
        for (int bias = 0; bias < 2; bias++) {
            fenp_problem q = problem_of(plain, fenp_losses[l], 1.0, bias);
            run r;
            run_open(&r, &q);
            for (int k = 0; k < 10; k++) {
                q.lambda = lambdas[k % 5];
                q.sample = k % 3 == 2 ? other : plain; /* now and then lambda alone changes */
                solve(&r, &q);
                assert_optimal(&r, &q);
            }
            run_close(&r);
        }
        fenp_sample_free(plain);
        fenp_sample_free(other);
    }
}

static void test_few_rows_and_equal_labels(void **unused)
{
    (void)unused;
    const int64_t sizes[] = { 1, 2, N };
    for (int l = 0; fenp_losses[l]; l++) {
        if (!fenp_losses[l]->piece) continue;
        for (int kind = 0; kind < 3 * 2 * 2; kind++) {
            fenp_sample *s = data_of(fenp_losses[l], sizes[kind % 3], P, PLAIN);
            for (int64_t i = 0; i < s->n && (kind / 3 % 2 || s->n == N); i++)
                s->y[i] = fenp_losses[l]->labels == FEN_SIGNS ? -1.0 : 0.75;
            for (double lambda = 1e-6; lambda < 2e3; lambda *= 1e3)
                solved(s, fenp_losses[l], lambda, kind / 6);
            fenp_sample_free(s);
        }
    }
}

/* Linear kernels carry weights; more features than rows are worth keeping; given kernels. */
static void test_other_kernels(void **unused)
{
    (void)unused;
    const char *kernels[] = { "linear", "laplace", "precomputed" };
    const int64_t dims[] = { P, 40, N };
    const fen_loss *loss = fenp_find_loss("hinge");
    for (int k = 0; k < 3; k++) {
        fenp_sample *s = data_of(loss, N, dims[k], WEIGHTED), *from = data_of(loss, N, P, PLAIN);
        fenp_problem q = problem_of(s, loss, 1e-3, 1);
        const fenp_kernel gaussian = q.kernel;
        for (int64_t i = 0; i < N * N && k == 2; i++)
            s->x[i] = value_of(&gaussian, from, i / N, i % N);
        q.kernel.table = fenp_find_kernel(kernels[k]);
        run r;
        run_open(&r, &q);
        solve(&r, &q);
        assert_optimal(&r, &q);
        for (int64_t i = 0; i < N && k == 0; i++) {
            double f = 0.0;
            for (int64_t j = 0; j < P; j++) f += r.weights[j] * s->x[i * P + j];
            assert_near(r.scores[i], f, 1e-9);
        }
        run_close(&r);
        fenp_sample_free(s);
        fenp_sample_free(from);
    }
}

/* More rows than are held as a whole: blocks are chosen. Stopped on the way, then gone on. */
static void test_blocks(void **unused)
{
    (void)unused;
    const char *losses[] = { "hinge", "eps" };
    for (int k = 0; k < 2; k++) {
        const fen_loss *loss = fenp_find_loss(losses[k]);
        fenp_sample *s = data_of(loss, 2600, 2, PLAIN);
        const fenp_problem q = problem_of(s, loss, 1e-4, 1 - k);
        run r;
        run_open(&r, &q);
        r.stop = 2;
        assert_int_equal(sweep(&r, &q), FEN_STOPPED);
        assert_true(r.gap > GAP);
        assert_feasible(&r, &q);
        r.stop = 0;
        solve(&r, &q);
        assert_optimal(&r, &q);
        run_close(&r);
        fenp_sample_free(s);
    }
}

/* Wherever it is stopped, what is there is an iterate that can be gone on from. */
static void test_stopped(void **unused)
{
    (void)unused;
    for (int l = 0; fenp_losses[l]; l++) {
        if (!fenp_losses[l]->piece) continue;
        fenp_sample *s = data_of(fenp_losses[l], N, P, WEIGHTED);
        const fenp_problem q = problem_of(s, fenp_losses[l], 1e-5, 1);
        run r;
        for (int stop = 1; stop < 8; stop++) {
            run_open(&r, &q);
            r.stop = stop;
            const fen_status status = sweep(&r, &q);
            assert_int_equal(status, r.calls == stop ? FEN_STOPPED : FEN_OK);
            assert_feasible(&r, &q);
            r.stop = 0;
            solve(&r, &q);
            assert_optimal(&r, &q);
            run_close(&r);
        }
        fenp_sample_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_values),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_rows_give_way),
        cmocka_unit_test(test_rows_sizes),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_faces),
        cmocka_unit_test(test_pivots),
        cmocka_unit_test(test_every_loss),
        cmocka_unit_test(test_warm_start),
        cmocka_unit_test(test_few_rows_and_equal_labels),
        cmocka_unit_test(test_other_kernels),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
