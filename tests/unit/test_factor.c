/* test_factor.c -- a Cholesky factor that gains and loses rows, against its matrix */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "simd/simd.h"
#include "solver/factor.h"

enum { MOST = 45, LD = MOST + 3, LANES = FENP_SIDE };

/* K = A A' + 1 of random A, whatever rows are in use. */
static double entry(int64_t i, int64_t j)
{
    double sum = i == j ? 1.0 : 0.0;
    for (int64_t k = 0; k < 5; k++)
        sum += fenp_normal(1, (uint64_t)i, (uint64_t)k) * fenp_normal(1, (uint64_t)j, (uint64_t)k);
    return sum;
}

static void append(double *l, const int64_t *who, int64_t m)
{
    double row[LD];
    for (int64_t c = 0; c < m; c++) row[c] = entry(who[m], who[c]);
    const double shared = fenp_factor_row(l, LD, m, row);
    fenp_factor_append(l, LD, m, row, sqrt(entry(who[m], who[m]) - shared));
}

static void check(const double *l, const int64_t *who, int64_t m)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int64_t c = 0; c <= j; c++) sum += l[i + c * LD] * l[j + c * LD];
            assert_true(fabs(sum - entry(who[i], who[j])) < 1e-12);
        }
}

static void test_rows_come_and_go(void **state)
{
    static double l[LD * LD];
    int64_t who[MOST + 1], m = 0;
    (void)state;
    for (; m < MOST; m++) {
        who[m] = m;
        append(l, who, m);
    }
    check(l, who, m);
    while (m > 0) { /* the first, the last, one between */
        const int64_t r = m % 3 == 0 ? 0 : m % 3 == 1 ? m - 1 : m / 2;
        fenp_factor_delete(l, LD, m--, r);
        memmove(who + r, who + r + 1, (size_t)(m - r) * sizeof *who);
        check(l, who, m);
    }
}

static void test_lanes_are_rows(void **state)
{
    static double l[LD * LD], x[LD * LANES];
    double shared[LANES * LANES];
    int64_t who[MOST + 1];
    (void)state;
    for (int64_t m = 0; m < MOST; m++) {
        for (int64_t r = 0; r < m; r++)
            for (int64_t j = 0; j < LANES; j++) x[r * LANES + j] = entry(r, 100 + j);
        fenp_simd_get()->solve_lanes(l, LD, m, x, shared);
        for (int64_t j = 0; j < LANES; j++) {
            double row[LD];
            for (int64_t r = 0; r < m; r++) row[r] = entry(r, 100 + j);
            const double own = fenp_factor_row(l, LD, m, row);
            assert_true(fabs(own - shared[j * LANES + j]) <= 1e-13 * (1.0 + own));
            for (int64_t r = 0; r < m; r++) assert_true(fabs(row[r] - x[r * LANES + j]) < 1e-13);
            for (int64_t i = 0; i < j; i++) {
                double sum = 0.0;
                for (int64_t r = 0; r < m; r++) sum += x[r * LANES + i] * x[r * LANES + j];
                assert_true(fabs(sum - shared[j * LANES + i]) < 1e-12);
                assert_true(shared[j * LANES + i] == shared[i * LANES + j]);
            }
        }
        who[m] = m;
        append(l, who, m);
    }
}

static void test_systems(void **state)
{
    static double l[LD * LD];
    int64_t who[MOST + 1];
    (void)state;
    for (int64_t m = 1; m <= MOST; m++) {
        double x[LD], right[LD];
        who[m - 1] = m - 1;
        append(l, who, m - 1);
        for (int64_t i = 0; i < m; i++) x[i] = right[i] = i < m / 2 ? 0.0 : 1.0 + (double)(i % 4);
        fenp_factor_solve(l, LD, m, x);
        for (int64_t i = 0; i < m; i++) {
            double sum = 0.0;
            for (int64_t j = 0; j < m; j++) sum += entry(i, j) * x[j];
            assert_true(fabs(sum - right[i]) < 1e-11);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_come_and_go),
        cmocka_unit_test(test_lanes_are_rows),
        cmocka_unit_test(test_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
