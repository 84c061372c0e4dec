/* test_values.c -- kernel values in blocks, rows and products, against those of single pairs */
#include "support/solver_tests.h"
#include "solver/values.h"

/* ---- kernel values --------------------------------------------------------------------------- */

enum { ROWS = 140, CENTRES = 300 }; /* more than one tile of rows, and not a whole number */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_values), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_rows_give_way), cmocka_unit_test(test_rows_sizes),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
