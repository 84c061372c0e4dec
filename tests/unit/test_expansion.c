/* test_expansion.c -- predictions of a few rows: the sum over the centres by its definition */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/registry.h"
#include "kernel/expansion.h"

enum { CENTRES = 1100, COLUMNS = 60, ROWS = 3, TARGETS = 2 };

static double z[CENTRES * COLUMNS], x[ROWS * COLUMNS], coef[TARGETS * CENTRES];

static void fill(double *values, int64_t count, uint64_t stream)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = sin((double)(i * i % 9973) + 0.1 * (double)stream);
}

static void compare(const fenp_kernel *kernel, int64_t centres, int64_t p, int64_t rows)
{
    double out[ROWS * TARGETS];
    const fen_view c = { z, centres, p, COLUMNS }, some = { x, rows, p, COLUMNS };
    fenp_expansion *e = fenp_expansion_new(kernel, c, coef, TARGETS);
    assert_non_null(e);
    fenp_expansion_rows(e, some, out);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = 0; t < TARGETS; t++) {
            long double sum = 0.0L, size = 0.0L;
            for (int64_t j = 0; j < centres; j++) {
                const double k = fenp_kernel_pair(kernel, x + i * COLUMNS, z + j * COLUMNS, p);
                sum += (long double)coef[t * centres + j] * k;
                size += fabs(coef[t * centres + j] * k);
            }
            assert_true(fabs(out[i * TARGETS + t] - (double)sum) <= 1e-12 * (double)size);
        }
    fenp_expansion_free(e);
}

static void sums_are_those_of_the_definition(void **state)
{
    (void)state;
    static const int64_t centres[] = { 1, 7, 512, 513, CENTRES }, columns[] = { 1, 5, COLUMNS };
    fill(z, CENTRES * COLUMNS, 1), fill(x, ROWS * COLUMNS, 2), fill(coef, TARGETS * CENTRES, 3);
    int32_t kernels = 0;
    for (const char *name; (name = fen_list("kernel", kernels, NULL)); kernels++) {
        const fenp_kernel kernel = { fenp_find_kernel(name), { 0.3, 2.0, 1.0, 0.0 } };
        const fen_basis basis = kernel.table->basis;
        if (basis == FEN_PRECOMPUTED || basis == FEN_TENSOR) {
            assert_false(fenp_expansion_suits(kernel.table));
            continue;
        }
        for (size_t c = 0; c < sizeof centres / sizeof *centres; c++)
            for (size_t p = 0; p < sizeof columns / sizeof *columns; p++)
                for (int64_t rows = 1; rows <= ROWS; rows++)
                    compare(&kernel, centres[c], columns[p], rows);
    }
    assert_true(kernels > 5);
}

static int stop(void *user, const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    ++*(int *)user;
    return 1;
}

/* One row at a time, all at once, on one thread and on two, and a host that stops it. */
static void rows_one_by_one_are_those_of_all(void **state)
{
    (void)state;
    static const struct {
        const char *option, *value;
    } families[] = { { "kernel", "gaussian" }, { "kernel", "polynomial" },
                     { "kernel", "linear" },   { "approx", "fourier:40" },
                     { "penalty", "l1" },      { "loss", "pinball:0.2,0.8" } };
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        fen_options o = fen_options_default();
        fen_table *data = NULL;
        fen_model *model = NULL;
        fen_error err;
        double rows[20 * 10], all[40], one[2];
        fill(rows, 200, 4);
        assert_int_equal(fen_options_set(&o, "rows", "60", &err), FEN_OK);
        assert_int_equal(fen_options_set(&o, "lambda", "0.01", &err), FEN_OK);
        if (f != 2 && f != 4) assert_int_equal(fen_options_set(&o, "gamma", "0.1", &err), FEN_OK);
        assert_int_equal(fen_options_set(&o, families[f].option, families[f].value, &err), FEN_OK);
        assert_int_equal(fen_table_generate("friedman", &o, &data, &err), FEN_OK);
        assert_int_equal(fen_fit(data, &o, NULL, &model, &err), FEN_OK);
        const int64_t targets = fen_model_targets(model);
        for (o.threads = 1; o.threads <= 2; o.threads++) {
            assert_int_equal(
                fen_predict(model, (fen_view){ rows, 20, 10, 10 }, &o, NULL, all, &err), FEN_OK);
            for (int64_t i = 0; i < 20; i++) {
                assert_int_equal(fen_predict(model, (fen_view){ rows + i * 10, 1, 10, 10 }, NULL,
                                             NULL, one, &err),
                                 FEN_OK);
                for (int64_t t = 0; t < targets; t++)
                    assert_true(fabs(one[t] - all[i * targets + t]) <=
                                1e-10 * (1.0 + fabs(one[t])));
            }
        }
        int heard = 0;
        const fen_host host = { .progress = stop, .user = &heard };
        assert_int_equal(fen_predict(model, (fen_view){ rows, 1, 10, 10 }, NULL, &host, one, &err),
                         FEN_STOPPED);
        assert_int_equal(heard, 1);
        fen_model_free(model);
        fen_table_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_definition),
        cmocka_unit_test(rows_one_by_one_are_those_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
