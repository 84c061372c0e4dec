/* test_format_laws.c -- every file format and every generator of the registries
 *
 * Formats: what is written is read back to the last bit, is recognised without being
 * named, and comes out the same in one piece or in blocks. Generators: row i depends on the
 * seed and on i alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/registry.h"
#include "data/table.h"

static fen_table *make(const char *generator, int64_t rows, uint64_t seed)
{
    fen_options o = fen_options_default();
    fen_table *table = NULL;
    fen_error err;
    o.rows = rows, o.seed = seed;
    assert_int_equal(fen_table_generate(generator, &o, &table, &err), FEN_OK);
    assert_int_equal(fen_table_rows(table), rows);
    return table;
}

static void assert_same_cells(const fen_table *a, const fen_table *b, int64_t rows)
{
    assert_int_equal(a->cols, b->cols);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < a->cols; j++) {
            const double x = fenp_table_cell(a, i, j), y = fenp_table_cell(b, i, j);
            assert_memory_equal(&x, &y, sizeof x);
        }
}

static void temporary(const fen_format *format, char *path, size_t size)
{
    char ending[16];
    sscanf(format->endings, "%15s", ending);
    snprintf(path, size, "law-%ld%s", (long)getpid(), ending);
}

static void test_round_trip(void **state)
{
    (void)state;
    fen_table *table = make("friedman", 300, 3);
    table->cells[7] = 0.0; /* a zero, an integer, a tiny and a huge number */
    table->cells[8] = 12345678.0;
    table->cells[9] = 1e-300;
    table->cells[20] = -1.7976931348623157e308;
    for (int k = 0; fenp_formats[k]; k++) {
        char path[64];
        fen_options o = fen_options_default();
        fen_table *back = NULL;
        fen_error err;
        temporary(fenp_formats[k], path, sizeof path);
        assert_int_equal(fen_table_write(table, path, NULL, &err), FEN_OK);
        for (int named = 0; named < 2; named++) { /* sniffed, then by its name */
            o.format = named ? fenp_formats[k]->name : "auto";
            assert_int_equal(fen_table_read(path, &o, NULL, &back, &err), FEN_OK);
            assert_int_equal(fen_table_rows(back), 300);
            assert_same_cells(table, back, 300);
            fen_table_free(back);
        }
        remove(path);
    }
    fen_table_free(table);
}

static void test_blocks(void **state)
{
    (void)state;
    fen_table *table = make("friedman", 60000, 4); /* several blocks in every format */
    for (int k = 0; fenp_formats[k]; k++) {
        char path[64];
        const fen_options o = fen_options_default();
        fen_stream *stream = NULL;
        fen_table *block = NULL;
        fen_error err;
        int64_t rows = 0;
        temporary(fenp_formats[k], path, sizeof path);
        assert_int_equal(fen_table_write(table, path, NULL, &err), FEN_OK);
        assert_int_equal(fen_stream_open(path, &o, &stream, &err), FEN_OK);
        for (;;) {
            assert_int_equal(fen_stream_next(stream, &block, &err), FEN_OK);
            if (!block) break;
            for (int64_t i = 0; i < block->rows; i++, rows++)
                for (int64_t j = 0; j < block->cols; j++)
                    assert_true(fenp_table_cell(block, i, j) == fenp_table_cell(table, rows, j));
            fen_table_free(block);
        }
        assert_int_equal(rows, 60000);
        fen_stream_close(stream);
        remove(path);
    }
    fen_table_free(table);
}

static void test_generators(void **state)
{
    (void)state;
    for (int k = 0; fenp_generators[k]; k++) {
        const char *name = fenp_generators[k]->name;
        fen_table *few = make(name, 10, 5), *many = make(name, 200, 5), *other = make(name, 10, 6);
        assert_same_cells(few, many, 10);
        int differs = 0;
        for (int64_t i = 0; i < few->rows * few->cols; i++) {
            assert_true(isfinite(few->cells[i]));
            differs |= few->cells[i] != other->cells[i];
        }
        assert_true(differs);
        fen_table_free(few);
        fen_table_free(many);
        fen_table_free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_generators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
