/* test_programs.c -- pairs, faces and pivots on quadratic programs, against a slow accelerated
 * proximal method that shares no code with them
 *
 * Matrices are multiples of 1/64 and so the same in single and in double precision. */
#include "support/solver_tests.h"
#include "solver/face.h"
#include "solver/pivot.h"

/* ---- quadratic programs ---------------------------------------------------------------------- */

enum { SIZE = 24, COUNT = 21, RANK = 5, KINDS = 128 };
typedef struct program {
    fenp_qp q; /* of what follows */
    double b[SIZE], g[SIZE], stiff[SIZE], d[SIZE], kink[SIZE], low[SIZE], high[SIZE];
    double a[SIZE], k[SIZE * SIZE];
    float single[SIZE * SIZE];
    double start[2]; /* sum of b, or of either side */
} program;

/* What kinds of program there are: bits that are drawn together. */
enum {
    BALANCED = 1,
    KINKED = 2,
    CURVED = 4,
    DEFINITE = 8,
    LOOSE = 16,
    EQUAL_ROWS = 32,
    SIDED = 64 /* if balanced: each sign by itself */
};

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
    if (m->q.balanced == FENP_SIDES) *(i % 3 ? &m->q.low[i] : &m->q.high[i]) = 0.0;
    if (i % 7 == 3) m->q.low[i] = m->q.high[i] = i % 2 ? 0.0 : 0.25; /* immovable */
    const double b = i % 6 == 5 ? 0.0 : 1.5 * u[1] - 0.75;           /* some start in a corner */
    m->q.b[i] = fmax(fmin(b, m->q.high[i]), m->q.low[i]);
}

/* 0: those that may be positive, or all; 1: the others */
static int side_of(const program *m, int64_t i)
{
    return m->q.balanced == FENP_SIDES && !(m->high[i] > 0.0);
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
                      .balanced = !(kind & BALANCED) ? FENP_ALONE
                                  : kind & SIDED     ? FENP_SIDES
                                                     : FENP_SUM,
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
        m->start[side_of(m, i)] += m->b[i];
    }
    slopes_of(m, m->b, m->g);
}

/* ---- the slow method ------------------------------------------------------------------------- */

/* The nearest point to v - shift under the corners, the bounds and a step t, of one side; returns
 * its sum. */
static double nearest(const program *m, int side, const double *v, double t, double shift,
                      double *out)
{
    double sum = 0.0;
    for (int64_t i = 0; i < SIZE; i++) {
        if (side_of(m, i) != side) continue;
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
    for (int side = 0; side < 2; side++) {
        double low = -100.0, high = 100.0;
        for (int pass = 0; m->q.balanced && pass < 50; pass++) {
            const double middle = 0.5 * (low + high);
            *(nearest(m, side, v, t, middle, out) > m->start[side] ? &low : &high) = middle;
        }
        nearest(m, side, v, t, m->q.balanced ? high : 0.0, out);
    }
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
    double g[SIZE], sum[2] = { 0.0, 0.0 }, size = 1.0;
    slopes_of(m, m->b, g);
    for (int64_t i = 0; i < SIZE; i++) {
        assert_true(m->low[i] <= m->b[i] && m->b[i] <= m->high[i]);
        sum[side_of(m, i)] += m->b[i], size += fabs(m->b[i]);
    }
    for (int64_t i = 0; i < SIZE; i++)
        if (!(fabs(m->g[i] - g[i]) <= 1e-10 * size))
            fail_msg("program %d: g[%d] = %.17g, not %.17g", (int)kind, (int)i, m->g[i], g[i]);
    for (int side = 0; m->q.balanced && side < 2; side++)
        if (!(fabs(sum[side] - m->start[side]) <= 1e-12 * size))
            fail_msg("program %d: the sum has become %.17g, was %.17g", (int)kind, sum[side],
                     m->start[side]);
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
    double factor[SIZE * SIZE], work[7 * SIZE], before[SIZE], pairs[2 * SIZE];
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

/* Pivots with a few pairs between them, as in small problems; whatever slopes are expected: none,
 * those that are there, or any. */
static void test_pivots(void **unused)
{
    (void)unused;
    double factor[SIZE * SIZE], work[7 * SIZE], before[SIZE], pairs[2 * SIZE];
    double any[SIZE];
    int64_t who[SIZE];
    for (int64_t i = 0; i < SIZE; i++) any[i] = 10.0 * sin((double)(i * i));
    for (int64_t run = 0; run < 3 * KINDS; run++) {
        const int64_t kind = run / 3;
        program m;
        load(&m, kind);
        fenp_pivot_room room = {
            .factor = factor, .work = work, .who = who, .ridge = 1e-9, .expected = NULL
        };
        if (run % 3 > 0) room.expected = run % 3 == 1 ? m.q.g : any;
        if (m.q.balanced == FENP_SIDES) continue; /* not for pivots */
        for (int round = 0; round < 60 && fenp_qp_violation(&m.q) > 1e-8; round++) {
            const double last = objective(&m, m.b);
            int moved;
            memcpy(before, m.b, sizeof before);
            assert_int_equal(
                fenp_pivot(&m.q, m.k, m.q.n, 1e-9, round < 5 ? 2 : 100, &room, &moved, NULL, NULL),
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_faces),
        cmocka_unit_test(test_pivots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
