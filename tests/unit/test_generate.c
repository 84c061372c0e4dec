/* test_generate.c -- random numbers and the built-in data, against their definitions */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "base/registry.h"
#include "data/table.h"

/* Philox 2x64-10 at counter 0, key 0, as published with Random123. */
static void known_answer(void **state)
{
    (void)state;
    const uint64_t published = UINT64_C(0xca00a0459843d731);
    assert_true(fenp_uniform(0, 0, 0) == ((double)(published >> 12) + 0.5) * 0x1p-52);
}

static void moments(void **state)
{
    (void)state;
    const int n = 200000;
    double u = 0, uu = 0, z = 0, zz = 0, zzzz = 0, both = 0;
    for (int k = 0; k < n; k++) {
        double a = fenp_uniform(5, 9, (uint64_t)k), b = fenp_normal(5, 9, (uint64_t)k);
        assert_true(a > 0.0 && a < 1.0);
        u += a, uu += a * a, z += b, zz += b * b, zzzz += b * b * b * b, both += a * b;
    }
    /* six standard errors each */
    assert_true(fabs(u / n - 0.5) < 6 * sqrt(1.0 / 12 / n));
    assert_true(fabs(uu / n - 1.0 / 3) < 6 * sqrt(4.0 / 45 / n));
    assert_true(fabs(z / n) < 6 / sqrt(n) && fabs(zz / n - 1) < 6 * sqrt(2.0 / n));
    assert_true(fabs(zzzz / n - 3) < 6 * sqrt(96.0 / n));
    assert_true(fabs(both / n) < 6 * sqrt(1.0 / 3 / n));
    assert_true(fenp_uniform(5, 9, 1) != fenp_uniform(5, 10, 1));
    assert_true(fenp_uniform(5, 9, 1) != fenp_uniform(6, 9, 1));
}

static void permutations(void **state)
{
    (void)state;
    enum { N = 1000, TRIALS = 24000 };
    int64_t p[N];
    char seen[N] = { 0 };
    fenp_permutation(1, 2, N, p);
    int moved = 0;
    for (int i = 0; i < N; i++) {
        assert_true(p[i] >= 0 && p[i] < N && !seen[p[i]]);
        seen[p[i]] = 1;
        moved += p[i] != i;
    }
    assert_true(moved > N / 2);
    int count[24] = { 0 }; /* all orders of four are equally likely */
    for (uint64_t t = 0; t < TRIALS; t++) {
        fenp_permutation(3, t, 4, p);
        count[p[0] * 6 + (p[1] - (p[1] > p[0])) * 2 + (p[2] > p[3])]++;
    }
    for (int i = 0; i < 24; i++) assert_true(abs(count[i] - TRIALS / 24) < 200);
    fenp_permutation(1, 1, 0, p);
    fenp_permutation(1, 1, 1, p);
    assert_int_equal(p[0], 0);
}

static fen_table *generate(const char *name, int64_t rows, double noise, uint64_t seed)
{
    fen_options o = fen_options_default();
    o.rows = rows;
    o.noise = noise;
    o.seed = seed;
    fen_table *t = NULL;
    fen_error err;
    if (fen_table_generate(name, &o, &t, &err) != FEN_OK) fail_msg("%s", err.message);
    return t;
}

/* True of every generator: names, rows that do not depend on how many there are, seeds. */
static void laws(void **state)
{
    (void)state;
    for (int g = 0; fenp_generators[g]; g++) {
        const fen_generator *generator = fenp_generators[g];
        fen_table *few = generate(generator->name, 7, -1, 3),
                  *many = generate(generator->name, 50, -1, 3);
        fen_table *other = generate(generator->name, 7, -1, 4);
        assert_true(few->rows == 7 && few->cols == generator->columns);
        assert_memory_equal(few->cells, many->cells, 7 * (size_t)few->cols * sizeof(double));
        assert_memory_not_equal(few->cells, other->cells, (size_t)few->cols * sizeof(double));
        for (int64_t j = 0; j < few->cols; j++)
            assert_int_equal(fenp_table_find(few, few->column[j].name), j);
        for (int64_t k = 0; k < many->rows * many->cols; k++) assert_true(isfinite(many->cells[k]));
        fen_table_free(few);
        fen_table_free(many);
        fen_table_free(other);
    }
}

/* The target without noise, and the standard deviation of the default noise. */
static void formula(const char *name, double (*truth)(const double *x), double sd)
{
    const int64_t n = 4000;
    fen_table *exact = generate(name, n, 0, 1), *noisy = generate(name, n, -1, 1);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        const double *x = exact->cells + i * exact->cols, *z = noisy->cells + i * exact->cols;
        double y = x[exact->cols - 1], noise = z[exact->cols - 1] - y;
        assert_true(fabs(y - truth(x)) < 1e-12);
        assert_memory_equal(x, z, (size_t)(exact->cols - 1) * sizeof *x);
        sum += noise, squares += noise * noise;
    }
    assert_true(fabs(sum / (double)n) < 6 * sd / sqrt((double)n));
    assert_true(fabs(sqrt(squares / (double)n) / sd - 1) < 0.07);
    fen_table_free(exact);
    fen_table_free(noisy);
}

static double friedman(const double *x)
{
    return 10 * sin(M_PI * x[0] * x[1]) + 20 * pow(x[2] - 0.5, 2) + 10 * x[3] + 5 * x[4];
}
static double sinc(const double *x) { return sin(M_PI * x[0]) / (M_PI * x[0]); }
static double sparse(const double *x)
{
    return 3 * (x[0] - x[20]) + 2.5 * (x[40] - x[60]) + 2 * (x[80] - x[100]) +
           1.5 * (x[120] - x[140]) + (x[160] - x[180]);
}

static void formulas(void **state)
{
    (void)state;
    formula("friedman", friedman, 1.0);
    formula("sinc", sinc, 0.1);
    formula("sparse", sparse, 1.0);
}

static void inputs(void **state)
{
    (void)state;
    fen_table *t = generate("friedman", 5000, 0, 1);
    assert_int_equal(t->cols, 11);
    assert_string_equal(t->column[9].name, "x10");
    assert_string_equal(t->column[10].name, "y");
    double mean[10] = { 0 };
    for (int64_t i = 0; i < t->rows; i++)
        for (int j = 0; j < 10; j++) {
            double x = t->cells[i * 11 + j];
            assert_true(x > 0.0 && x < 1.0);
            mean[j] += x / (double)t->rows;
        }
    for (int j = 0; j < 10; j++) assert_true(fabs(mean[j] - 0.5) < 0.03);
    fen_table_free(t);

    t = generate("sinc", 5000, 0, 1);
    double low = 0, high = 0;
    for (int64_t i = 0; i < t->rows; i++)
        low = fmin(low, t->cells[2 * i]), high = fmax(high, t->cells[2 * i]);
    assert_true(low >= -10 && low < -9.9 && high <= 10 && high > 9.9);
    fen_table_free(t);

    t = generate("sparse", 20000, 0, 1);
    assert_string_equal(t->column[99].name, "x100");
    assert_string_equal(t->column[199].name, "x200");
    double variance = 0, one = 0, two = 0;
    for (int64_t i = 0; i < t->rows; i++) {
        const double *x = t->cells + i * t->cols;
        variance += x[150] * x[150], one += x[150] * x[151], two += x[150] * x[152];
    }
    assert_true(fabs(variance / 20000 - 1) < 0.06);
    assert_true(fabs(one / 20000 - 0.5) < 0.05 && fabs(two / 20000 - 0.25) < 0.05);
    fen_table_free(t);
}

static void moons(void **state)
{
    (void)state;
    fen_table *t = generate("moons", 4000, 0, 1);
    assert_string_equal(t->column[2].name, "label");
    int64_t ones = 0;
    for (int64_t i = 0; i < t->rows; i++) {
        const double *x = t->cells + 3 * i;
        assert_true(x[2] == 0.0 || x[2] == 1.0);
        double u = x[2] == 0.0 ? x[0] : 1 - x[0], v = x[2] == 0.0 ? x[1] : 0.5 - x[1];
        assert_true(fabs(hypot(u, v) - 1) < 1e-12 && v > -1e-12);
        ones += x[2] == 1.0;
    }
    assert_true(ones > 1800 && ones < 2200);
    fen_table_free(t);
}

static void mistakes(void **state)
{
    (void)state;
    fen_options o = fen_options_default();
    fen_table *t = NULL;
    fen_error err;
    assert_int_equal(fen_table_generate("freidman", &o, &t, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "\"freidman\""));
    assert_non_null(strstr(err.message, "\"friedman\""));
    assert_int_equal(fen_table_generate("zzzzzzzz", &o, &t, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "friedman, sparse, sinc, moons"));
    o.rows = 0;
    assert_int_equal(fen_table_generate("sinc", &o, &t, &err), FEN_BAD_CALL);
    o.rows = INT64_MAX;
    assert_int_equal(fen_table_generate("sinc", &o, &t, &err), FEN_MEMORY);
    assert_null(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answer), cmocka_unit_test(moments),  cmocka_unit_test(permutations),
        cmocka_unit_test(laws),         cmocka_unit_test(formulas), cmocka_unit_test(inputs),
        cmocka_unit_test(moons),        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
