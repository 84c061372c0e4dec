/* test_least_squares.c -- least squares of any rank against brute force in long double
 *
 * The reference: with V an orthonormal basis of the row space of the centred, weighted matrix
 * (Gram-Schmidt, twice), the shortest of the best coefficients is V g with g the solution of the
 * normal equations of X V, which has full rank. */
#include <float.h>

#include "solver/least_squares.h"
#include "support/solver_tests.h"

enum { MOST_ROWS = 40, MOST_COLUMNS = 40 };
typedef long double real;

typedef struct system {
    fenp_design x;
    fenp_linear problem;
    double dense[MOST_ROWS * MOST_COLUMNS], y[2 * MOST_ROWS], w[MOST_ROWS];
    int64_t start[MOST_COLUMNS + 1];
    int32_t row[MOST_ROWS * MOST_COLUMNS];
    double value[MOST_ROWS * MOST_COLUMNS];
} system_t;

static double *column(system_t *s, int64_t j) { return s->dense + j * s->x.n; }

static void make(system_t *s, int64_t n, int64_t p, int bias)
{
    memset(s, 0, sizeof *s);
    s->x = (fenp_design){ .n = n, .p = p, .copies = 1, .dense = s->dense };
    s->problem = (fenp_linear){ .x = &s->x,
                                .loss = fenp_find_loss("square"),
                                .y = s->y,
                                .w = s->w,
                                .bias = bias,
                                .mix = 1.0,
                                .engine = "auto" };
    for (int64_t i = 0; i < n * p; i++) s->dense[i] = 4.0 * uniform(1, i) - 1.0;
    for (int64_t i = 0; i < 2 * n; i++) s->y[i] = 3.0 + 10.0 * uniform(2, i);
    for (int64_t i = 0; i < n; i++) s->w[i] = 0.5 + uniform(3, i);
}

/* The same matrix by its entries that are not 0. */
static void make_sparse(system_t *s)
{
    int64_t count = 0;
    for (int64_t j = 0; j < s->x.p; j++) {
        s->start[j] = count;
        for (int64_t i = 0; i < s->x.n; i++)
            if (column(s, j)[i] != 0.0) {
                s->row[count] = (int32_t)i;
                s->value[count++] = column(s, j)[i];
            }
    }
    s->start[s->x.p] = count;
    s->x.dense = NULL, s->x.start = s->start, s->x.row = s->row, s->x.value = s->value;
}

/* ---- the reference -------------------------------------------------------------------------- */

static real dot(const real *a, const real *b, int64_t n)
{
    real sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* v: rows of the matrix, made orthonormal; returns how many are left. */
static int64_t row_space(const real *rows, int64_t n, int64_t p, real *v)
{
    int64_t rank = 0;
    for (int64_t i = 0; i < n; i++) {
        real *out = v + rank * p;
        memcpy(out, rows + i * p, (size_t)p * sizeof *out);
        const real before = sqrtl(dot(out, out, p));
        for (int twice = 0; twice < 2; twice++)
            for (int64_t k = 0; k < rank; k++) {
                const real part = dot(out, v + k * p, p);
                for (int64_t j = 0; j < p; j++) out[j] -= part * v[k * p + j];
            }
        const real left = sqrtl(dot(out, out, p));
        if (!(left > 1e-10L * before)) continue;
        for (int64_t j = 0; j < p; j++) out[j] /= left;
        rank++;
    }
    return rank;
}

/* a (order x (order + 1)) -> solution in the last column */
static void eliminate(real *a, int64_t order)
{
    const int64_t ld = order + 1;
    for (int64_t k = 0; k < order; k++)
        for (int64_t i = 0; i < order; i++)
            if (i != k) {
                const real factor = a[i * ld + k] / a[k * ld + k];
                for (int64_t j = k; j <= order; j++) a[i * ld + j] -= factor * a[k * ld + j];
            }
    for (int64_t k = 0; k < order; k++) a[k * ld + order] /= a[k * ld + k];
}

static int64_t brute(const system_t *s, const double *dense, int64_t t, double *beta, double *b)
{
    static real rows[MOST_ROWS * MOST_COLUMNS], v[(MOST_ROWS + 1) * MOST_COLUMNS];
    static real z[MOST_ROWS * MOST_COLUMNS], a[MOST_COLUMNS * (MOST_COLUMNS + 1)];
    const int64_t n = s->x.n, p = s->x.p;
    real mean[MOST_COLUMNS + 1] = { 0 }, weight = 0, label = 0, sides[MOST_ROWS];
    for (int64_t i = 0; i < n; i++) weight += s->w[i];
    for (int64_t i = 0; i < n && s->problem.bias; i++) {
        for (int64_t j = 0; j < p; j++) mean[j] += s->w[i] * (real)dense[j * n + i] / weight;
        label += s->w[i] * (real)s->y[t * n + i] / weight;
    }
    for (int64_t i = 0; i < n; i++) {
        sides[i] = sqrtl(s->w[i]) * (s->y[t * n + i] - label);
        for (int64_t j = 0; j < p; j++)
            rows[i * p + j] = sqrtl(s->w[i]) * (dense[j * n + i] - mean[j]);
    }
    const int64_t rank = row_space(rows, n, p, v);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < rank; k++) z[i * rank + k] = dot(rows + i * p, v + k * p, p);
    memset(a, 0, sizeof a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < rank; k++) {
            for (int64_t l = 0; l < rank; l++)
                a[k * (rank + 1) + l] += z[i * rank + k] * z[i * rank + l];
            a[k * (rank + 1) + rank] += z[i * rank + k] * sides[i];
        }
    eliminate(a, rank);
    *b = (double)label;
    real shift = 0;
    for (int64_t j = 0; j < p; j++) {
        real sum = 0;
        for (int64_t k = 0; k < rank; k++) sum += v[k * p + j] * a[k * (rank + 1) + rank];
        beta[j] = (double)sum, shift += mean[j] * sum;
    }
    *b = (double)(label - shift);
    return rank;
}

/* ---- what holds of every answer ---------------------------------------------------------- */

typedef struct answer {
    double beta[2 * MOST_COLUMNS], b[2], u[2 * MOST_ROWS];
    int64_t aliased[MOST_COLUMNS];
    fenp_least_squares facts;
} answer;

static void solve(const system_t *s, int64_t targets, answer *out)
{
    fen_error err;
    memset(out, 0, sizeof *out);
    out->facts.aliased = out->aliased;
    assert_int_equal(fenp_least_squares_solve(&s->problem, targets, out->beta, out->b, out->u,
                                              &out->facts, NULL, &err),
                     FEN_OK);
}

/* X'u = 0 beside a sum of terms with the largest u (one that must be 0 is a rounding error of the
 * others; where all of them are, labels are the measure); u = 2 w (y - X beta - b). */
static void assert_dual(const system_t *s, const double *dense, int64_t t, const answer *found,
                        double tolerance)
{
    const int64_t n = s->x.n, p = s->x.p;
    const double *u = found->u + t * n;
    double largest = 0.0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(u[i]));
    for (int64_t j = s->problem.bias ? -1 : 0; j < p; j++) {
        real sum = 0, size = 0, labels = 0;
        for (int64_t i = 0; i < n; i++) {
            labels += fabs(s->y[t * n + i]);
            const real x = j < 0 ? 1.0 : dense[j * n + i];
            sum += u[i] * x, size += largest * fabsl(x);
        }
        if (!(fabsl(sum) <= 100 * DBL_EPSILON * (size + 10 * DBL_EPSILON * labels)))
            fail_msg("column %d: %Lg beside %Lg", (int)j, sum, size);
    }
    for (int64_t i = 0; i < n; i++) {
        real r = s->y[t * n + i] - (real)found->b[t];
        for (int64_t j = 0; j < p; j++) r -= (real)dense[j * n + i] * found->beta[t * p + j];
        assert_near(u[i], (double)(2 * s->w[i] * r), tolerance * 2 * s->w[i]);
    }
}

static void assert_brute(const system_t *s, const double *dense, int64_t targets, double tolerance)
{
    answer found;
    solve(s, targets, &found);
    for (int64_t t = 0; t < targets; t++) {
        double beta[MOST_COLUMNS], b, size = 0.0, labels = 0.0;
        const int64_t rank = brute(s, dense, t, beta, &b);
        assert_int_equal(found.facts.rank, rank);
        for (int64_t j = 0; j < s->x.p; j++) size = fmax(size, fabs(beta[j]));
        for (int64_t i = 0; i < s->x.n; i++) labels = fmax(labels, fabs(s->y[t * s->x.n + i]));
        for (int64_t j = 0; j < s->x.p; j++)
            assert_near(found.beta[t * s->x.p + j], beta[j], tolerance * size);
        assert_near(found.b[t], b, tolerance * (fabs(b) + labels));
        assert_dual(s, dense, t, &found, 1e-10 * labels + 1e-9 * fabs(b) * tolerance * 1e6);
    }
    int64_t aliased = 0;
    for (int64_t j = 0; j < s->x.p; j++) aliased += found.aliased[j];
    assert_int_equal(aliased, s->x.p - found.facts.rank);
}

/* ---- cases ------------------------------------------------------------------------------- */

static void test_shapes(void **unused)
{
    (void)unused;
    static system_t s;
    const int64_t shape[][2] = { { 1, 0 },  { 1, 1 },  { 1, 3 },   { 2, 1 },   { 2, 5 },
                                 { 9, 3 },  { 9, 8 },  { 9, 9 },   { 9, 10 },  { 9, 30 },
                                 { 30, 4 }, { 40, 1 }, { 40, 20 }, { 20, 40 }, { 7, 0 } };
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++)
        for (int bias = 0; bias < 2; bias++) {
            make(&s, shape[k][0], shape[k][1], bias);
            assert_brute(&s, s.dense, 2, 1e-10);
        }
}

/* Column 2 = 1 - 0, column 4 a copy of 3, column 5 zero, column 6 constant. */
static void make_deficient(system_t *s, int64_t n, int bias)
{
    make(s, n, 8, bias);
    for (int64_t i = 0; i < n; i++) {
        column(s, 2)[i] = column(s, 1)[i] - column(s, 0)[i];
        column(s, 4)[i] = column(s, 3)[i];
        column(s, 5)[i] = 0.0;
        column(s, 6)[i] = 0.1;
    }
}

static void test_aliased_columns_by_order(void **unused)
{
    (void)unused;
    static system_t s;
    answer found;
    for (int bias = 0; bias < 2; bias++) {
        make_deficient(&s, 30, bias);
        assert_brute(&s, s.dense, 2, 1e-10);
        solve(&s, 1, &found);
        const int64_t wanted[] = { 0, 0, 1, 0, 1, 1, bias, 0 };
        for (int64_t j = 0; j < 8; j++) assert_int_equal(found.aliased[j], wanted[j]);
        assert_int_equal(found.facts.rank, 5 - bias);
        assert_true(found.beta[5] == 0.0 && found.facts.condition < 1e3);
        assert_near(found.beta[3], found.beta[4], 1e-12); /* the shortest shares alike */
    }
}

/* More columns than rows: the first n - 1 (bias) carry all, whichever the pivots were. */
static void test_aliased_of_wide_ones(void **unused)
{
    (void)unused;
    static system_t s;
    answer found;
    make(&s, 10, 25, 1);
    solve(&s, 2, &found);
    for (int64_t j = 0; j < 25; j++) assert_int_equal(found.aliased[j], j >= 9);
    for (int64_t i = 0; i < 20; i++) assert_near(found.u[i], 0.0, 1e-12);
}

static void test_sparse_is_dense(void **unused)
{
    (void)unused;
    static system_t s;
    static double dense[MOST_ROWS * MOST_COLUMNS];
    for (int bias = 0; bias < 2; bias++)
        for (int64_t p = 0; p <= 40; p += 8) {
            make(&s, 30, p, bias);
            for (int64_t i = 0; i < 30 * p; i++)
                if (uniform(5, i) < 0.7) s.dense[i] = 0.0;
            s.w[3] = s.w[29] = 0.0;
            memcpy(dense, s.dense, sizeof dense);
            make_sparse(&s);
            assert_brute(&s, dense, 2, 1e-9);
        }
    make_deficient(&s, 30, 1); /* a constant column without a gap in its entries */
    memcpy(dense, s.dense, sizeof dense);
    make_sparse(&s);
    assert_brute(&s, dense, 2, 1e-10);
}

static void test_rows_without_weight(void **unused)
{
    (void)unused;
    static system_t s, part;
    answer all, some;
    make(&s, 20, 5, 1);
    make(&part, 10, 5, 1);
    for (int64_t i = 0; i < 20; i++) {
        if (i % 2) s.w[i] = 0.0;
        if (i % 2) s.y[i] = 1e9;
        for (int64_t j = 0; j < 5 && i % 2 == 0; j++) column(&part, j)[i / 2] = column(&s, j)[i];
        if (i % 2 == 0) part.w[i / 2] = s.w[i], part.y[i / 2] = s.y[i];
    }
    solve(&s, 1, &all);
    solve(&part, 1, &some);
    for (int64_t j = 0; j < 5; j++) assert_near(all.beta[j], some.beta[j], 1e-12);
    for (int64_t i = 0; i < 20; i++)
        assert_near(all.u[i], i % 2 ? 0.0 : some.u[i / 2], i % 2 ? 0.0 : 1e-12);
    memset(s.w, 0, sizeof s.w);
    solve(&s, 1, &all);
    assert_int_equal(all.facts.rank, 0);
    assert_true(all.b[0] == 0.0 && all.beta[0] == 0.0 && all.u[0] == 0.0 && all.aliased[4] == 1);
}

static void test_scales(void **unused)
{
    (void)unused;
    static system_t s;
    const double factor[] = { 1e-8, 1e8, 1e150, 1e-150 };
    for (int k = 0; k < 4; k++) {
        answer plain, scaled;
        make(&s, 30, 6, 1);
        solve(&s, 1, &plain);
        for (int64_t i = 0; i < 30; i++) s.y[i] *= factor[k], column(&s, 2)[i] /= factor[k];
        solve(&s, 1, &scaled);
        assert_int_equal(scaled.facts.rank, 6);
        for (int64_t j = 0; j < 6; j++) {
            const double unit = (j == 2 ? factor[k] : 1.0) * factor[k];
            assert_near(scaled.beta[j] / unit, plain.beta[j], 1e-11);
        }
    }
}

static void test_offsets(void **unused)
{
    (void)unused;
    static system_t s;
    make(&s, 40, 6, 1);
    for (int64_t i = 0; i < 40 * 6; i++) s.dense[i] += 1e6;
    assert_brute(&s, s.dense, 1, 1e-8);
    for (int64_t i = 0; i < 40; i++) /* rounded to 1e-10: spanned all the same */
        column(&s, 5)[i] = column(&s, 0)[i] + column(&s, 1)[i] - 1e6 / 3.0;
    answer found;
    solve(&s, 1, &found);
    assert_int_equal(found.facts.rank, 5);
    assert_int_equal(found.aliased[5], 1);
    assert_true(fabs(found.beta[5]) < 100.0);
}

static void test_constant_labels(void **unused)
{
    (void)unused;
    static system_t s;
    answer found;
    make(&s, 20, 4, 1);
    for (int64_t i = 0; i < 20; i++) s.y[i] = 0.1;
    solve(&s, 1, &found);
    assert_near(found.b[0], 0.1, 1e-16);
    for (int64_t j = 0; j < 4; j++) assert_near(found.beta[j], 0.0, 1e-16);
}

/* Hilbert-like columns: nearly dependent ones count while their part is above rounding. */
static void test_ill_conditioned(void **unused)
{
    (void)unused;
    static system_t s;
    answer found;
    make(&s, 40, 20, 1);
    for (int64_t j = 0; j < 20; j++)
        for (int64_t i = 0; i < 40; i++)
            column(&s, j)[i] = pow((double)(i + 1) / 40.0, (double)(j + 1));
    solve(&s, 1, &found);
    int64_t aliased = 0;
    for (int64_t j = 0; j < 20; j++) aliased += found.aliased[j];
    assert_true(found.facts.rank >= 10 && found.facts.rank < 20 && found.facts.condition > 1e10);
    assert_int_equal(aliased, 20 - found.facts.rank);
    assert_true(found.aliased[0] == 0);
    double terms = 0.0; /* the last digits of X beta are what the gradient cannot get below */
    for (int64_t j = 0; j < 20; j++) terms += fabs(found.beta[j]);
    for (int64_t j = 0; j < 20; j++) {
        double sum = 0.0;
        for (int64_t i = 0; i < 40; i++) sum += found.u[i] * column(&s, j)[i];
        assert_near(sum, 0.0, 40.0 * DBL_EPSILON * terms);
    }
}

/* Several blocks of rows give what one gives: more rows than a block has. */
static void test_blocks(void **unused)
{
    (void)unused;
    enum { ROWS = 10000, COLUMNS = 7 };
    double *x = doubles(ROWS * COLUMNS), *y = doubles(ROWS), *w = doubles(ROWS), *u = doubles(ROWS);
    double beta[COLUMNS], b;
    int64_t aliased[COLUMNS];
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < COLUMNS; j++)
            x[j * ROWS + i] =
                j == 4 ? x[ROWS + i] + 2.0 * x[2 * ROWS + i] + 7.0 : uniform((uint64_t)(10 + j), i);
        w[i] = uniform(20, i);
        y[i] = 3.0 + 2.0 * x[i] - x[3 * ROWS + i] + 5.0 * x[5 * ROWS + i];
    }
    const fenp_design design = { .n = ROWS, .p = COLUMNS, .copies = 1, .dense = x };
    const fenp_linear problem = { .x = &design, .y = y, .w = w, .bias = 1 };
    fenp_least_squares facts = { .aliased = aliased };
    fen_error err;
    assert_int_equal(fenp_least_squares_solve(&problem, 1, beta, &b, u, &facts, NULL, &err),
                     FEN_OK);
    const double wanted[COLUMNS] = { 2, 0, 0, -1, 0, 5, 0 };
    for (int64_t j = 0; j < COLUMNS; j++) assert_near(beta[j], wanted[j], 1e-11);
    assert_near(b, 3.0, 1e-11);
    assert_int_equal(facts.rank, COLUMNS - 1);
    for (int64_t j = 0; j < COLUMNS; j++) assert_int_equal(aliased[j], j == 4);
    free(x), free(y), free(w), free(u);
}

/* ---- many more columns than rows ------------------------------------------------------------- */

/* Rows that are alike with labels that are not, columns in units of their own. */
static void test_wide_and_deficient(void **unused)
{
    (void)unused;
    static system_t s;
    static double dense[MOST_ROWS * MOST_COLUMNS];
    for (int bias = 0; bias < 2; bias++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int units = 0; units < 2; units++) {
                make(&s, 12, 40, bias);
                for (int64_t j = 0; j < 40; j++) {
                    double *x = column(&s, j);
                    for (int64_t i = 0; i < 12; i++)
                        x[i] = sparse && uniform(7, 12 * j + i) < 0.6 ? 0.0 : x[i];
                    for (int64_t i = 9; i < 12; i++) x[i] = x[i - 9];
                    for (int64_t i = 0; units && i < 12; i++) x[i] *= j % 2 ? 1e3 : 1.0;
                    for (int64_t i = 0; !sparse && !units && i < 12; i++) x[i] += bias * 100.0;
                }
                s.w[5] = 0.0;
                memcpy(dense, s.dense, sizeof dense);
                if (sparse) make_sparse(&s);
                assert_brute(&s, dense, 2, 1e-9);
            }
}

/* The same columns over and over share their coefficient: blocks of columns. Rows that differ;
 * two alike; two nearly alike, which squares do not tell apart; both. */
static void test_wide_by_blocks(void **unused)
{
    (void)unused;
    enum { ROWS = 20, BASE = 35, TIMES = 20, ALL = BASE * TIMES };
    static system_t s;
    double *x = doubles(ROWS * ALL), beta[ALL], b[2], u[2 * ROWS];
    int64_t aliased[ALL];
    fen_error err;
    for (int kind = 0; kind < 4; kind++) {
        const int alike = kind % 2, nearly = kind / 2;
        double size = 0.0;
        make(&s, ROWS, BASE, 1);
        for (int64_t j = 0; j < BASE; j++) {
            double *at = column(&s, j);
            if (alike) at[7] = at[3];
            if (nearly) at[5] = at[2] + 1e-6 * at[5];
        }
        answer base;
        solve(&s, 1, &base);
        for (int64_t j = 0; j < ALL; j++)
            memcpy(x + j * ROWS, column(&s, j % BASE), ROWS * sizeof(double));
        const fenp_design design = { .n = ROWS, .p = ALL, .copies = 1, .dense = x };
        const fenp_linear problem = { .x = &design, .y = s.y, .w = s.w, .bias = 1 };
        fenp_least_squares facts = { .aliased = aliased };
        assert_int_equal(fenp_least_squares_solve(&problem, 1, beta, b, u, &facts, NULL, &err),
                         FEN_OK);
        assert_int_equal(facts.rank, ROWS - 1 - alike);
        for (int64_t j = 0; j < BASE; j++) size = fmax(size, fabs(base.beta[j]));
        for (int64_t j = 0; j < ALL; j++) {
            assert_near(beta[j], base.beta[j % BASE] / TIMES, (nearly ? 1e-9 : 1e-12) * size);
            assert_int_equal(aliased[j], j >= facts.rank);
        }
        size += fabs(base.b[0]); /* a sum of coefficients times means, larger than each of them */
        assert_near(b[0], base.b[0], (nearly ? 1e-9 : 1e-12) * size);
        for (int64_t i = 0; i < ROWS; i++) assert_near(u[i], base.u[i], nearly ? 1e-8 : 1e-11);
        assert_true((facts.condition > 1e5) == nearly);
    }
    free(x);
}

static int stop_at(void *user, const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    return --*(int *)user < 0;
}

/* Whenever it is told to. */
static void test_wide_stops(void **unused)
{
    (void)unused;
    static system_t s;
    fen_status status = FEN_STOPPED;
    int calls = 0;
    make(&s, 10, 40, 1);
    for (int64_t j = 0; j < 40; j++) { /* the long way */
        column(&s, j)[7] = column(&s, j)[3];
        column(&s, j)[5] = column(&s, j)[2] + 1e-6 * column(&s, j)[5];
    }
    for (; status == FEN_STOPPED && calls < 100; calls++) {
        answer found = { .facts = { .aliased = found.aliased } };
        int left = calls;
        const fen_host host = { .progress = stop_at, .user = &left };
        const fenp_task task = fenp_task_start(&host, 0.0);
        fen_error err;
        status = fenp_least_squares_solve(&s.problem, 1, found.beta, found.b, found.u, &found.facts,
                                          &task, &err);
    }
    assert_int_equal(status, FEN_OK);
    assert_true(calls > 5);
}

static void test_room(void **unused)
{
    (void)unused;
    static system_t s;
    answer found = { .facts = { .aliased = found.aliased } };
    fen_error err;
    make(&s, 40, 20, 1);
    s.problem.room = 1000;
    assert_int_equal(fenp_least_squares_solve(&s.problem, 1, found.beta, found.b, found.u,
                                              &found.facts, NULL, &err),
                     FEN_MEMORY);
    assert_non_null(strstr(err.message, "20 columns"));
    assert_non_null(strstr(err.message, "--memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_aliased_columns_by_order),
        cmocka_unit_test(test_aliased_of_wide_ones),
        cmocka_unit_test(test_sparse_is_dense),
        cmocka_unit_test(test_rows_without_weight),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_constant_labels),
        cmocka_unit_test(test_ill_conditioned),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_wide_and_deficient),
        cmocka_unit_test(test_wide_by_blocks),
        cmocka_unit_test(test_wide_stops),
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
