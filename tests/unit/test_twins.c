/* test_twins.c -- columns that say the same are found by rows, by columns and in sparse files */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "data/design.h"

enum { N = 300, P = 7 };

/* 1: as 0; 3: zeros; 4: as 2 with the other sign; 5: as 0 but for one row; 6: 0 to 13 digits. */
static void fill(double *columns)
{
    for (int64_t i = 0; i < N; i++) {
        const double a = fenp_normal(1, 0, (uint64_t)i), c = fenp_normal(1, 1, (uint64_t)i);
        const double row[P] = { a, a, c, 0.0, -c, i == 7 ? a + 1e-3 : a, a * (1.0 + 1e-13) };
        for (int j = 0; j < P; j++) columns[j * N + i] = row[j];
    }
}

static void check(const fenp_design *x)
{
    static const int64_t mirrored[P] = { 0, 0, 2, 3, 2, 5, 0 }, plain[P] = { 0, 0, 2, 3, 4, 5, 0 };
    int64_t twin[P];
    assert_int_equal(fenp_design_twins(x, 1, twin), 0);
    for (int j = 0; j < P; j++) assert_int_equal(twin[j], mirrored[j]);
    assert_int_equal(fenp_design_twins(x, 0, twin), 0);
    for (int j = 0; j < P; j++) assert_int_equal(twin[j], plain[j]);
}

static void every_layout(void **state)
{
    static double columns[P * N], rows[N * P], value[P * N];
    static int32_t row[P * N];
    int64_t start[P + 1] = { 0 };
    (void)state;
    fill(columns);
    for (int64_t j = 0; j < P; j++) {
        start[j + 1] = start[j];
        for (int64_t i = 0; i < N; i++) {
            rows[i * P + j] = columns[j * N + i];
            if (columns[j * N + i] == 0.0) continue;
            row[start[j + 1]] = (int32_t)i, value[start[j + 1]++] = columns[j * N + i];
        }
    }
    check(&(fenp_design){ .n = N, .p = P, .copies = 1, .dense = columns });
    check(&(fenp_design){ .n = N, .p = P, .copies = 1, .by_rows = rows });
    check(
        &(fenp_design){ .n = N, .p = P, .copies = 1, .start = start, .row = row, .value = value });
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_layout) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
