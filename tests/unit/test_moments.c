/* test_moments.c -- weight, mean and squares of dense columns, against two passes in long double */
#include <float.h>
#include <omp.h>
#include "support/text_table.h"
#include "base/random.h"
#include "data/prepare_parts.h"

enum { KINDS = 20, WIDE = 8, COLS = 14 * KINDS + 3, MOST = 1301 };

/* Kinds of columns: sizes, offsets, outliers, gaps, equal cells; as many of a kind side by side as
 * are measured together, then all kinds in turn. */
static double cell(int64_t i, int64_t j)
{
    const double x = fenp_normal(7, (uint64_t)j, (uint64_t)i);
    switch (j < WIDE * KINDS ? j / WIDE : j % KINDS) {
    case 0: return x;
    case 1: return 1e9 + x;
    case 2: return 1e-200 * x;
    case 3: return 1e200 * x;
    case 4: return 1e-160 * (1.0 + x); /* squares that are not normal numbers */
    case 5: return 1e300 + 1e288 * x;
    case 6: return i % 2 ? 1.7e308 : -1.7e308;
    case 7: return 4e-310 * x;
    case 8: return i < 8 ? 1e7 * (1.0 + x) : x; /* the first rows are far from the rest */
    case 9: return i % 512 < 8 ? 0.0 : 1e8 + x; /* of every tile                        */
    case 10: return i == 0 ? 1e150 : x;
    case 11: return x > 2.0;
    case 12: return i % 7 == 3 ? NAN : x;
    case 13: return i % 600 == 0 ? NAN : 1e9 + x;
    case 14: return i % 512 == 511 || i == MOST - 1 ? NAN : x; /* in the last row of a tile */
    case 15: return i % 5 ? NAN : 1e-250 * x;
    case 16: return NAN;
    case 17: return 0.1;
    case 18: return i % 3 ? -1e9 / 3.0 : NAN;
    default: return i < 600 ? 3e-220 : 3e-220 * x;
    }
}

static double weight_of(int kind, int64_t i)
{
    const double u = fenp_uniform(8, 1, (uint64_t)i) + 0.01;
    return kind == 0 ? 1.0 : kind == 1 ? 3.0 : kind == 2 ? u : kind == 3 ? 1e307 * u : 1e-310 * u;
}

static fenp_moments *moments(double *cells, double *w, int64_t rows, int64_t cols)
{
    fen_error err;
    int64_t *number = malloc((size_t)(rows + cols) * sizeof *number);
    fenp_moments *of = calloc((size_t)cols, sizeof *of);
    for (int64_t i = 0; i < rows; i++) number[i] = i;
    for (int64_t j = 0; j < cols; j++) number[rows + j] = j;
    const fen_table table = { .rows = rows, .cols = cols, .cells = cells };
    fenp_sample sample = { .n = rows, .w = w };
    const fenp_block block = {
        .binding.table = &table, .pick = number, .input_of = number + rows, .rows = &sample
    };
    assert_int_equal(fenp_moments_add(&block, of, &err), FEN_OK);
    free(number);
    return of;
}

/* Means are compared from the first value on: their digits are those of the deviation. */
static void as_in_two_passes(const fenp_moments *m, const double *x, const double *w, int64_t rows,
                             int64_t stride)
{
    long double weight = 0.0L, first = 0.0L, sum = 0.0L, square = 0.0L;
    double least = INFINITY, largest = -INFINITY;
    int64_t seen = 0;
    for (int64_t i = 0; i < rows; i++) {
        const double at = x[i * stride];
        if (isnan(at)) continue;
        if (seen++ == 0) first = at;
        weight += w[i];
        sum += w[i] * (at - first);
        least = fmin(least, at);
        largest = fmax(largest, at);
    }
    assert_true(m->seen == seen && m->gaps == rows - seen);
    if (seen == 0) return;
    assert_true(m->least == least && m->largest == largest);
    const long double mean = sum / weight;
    for (int64_t i = 0; i < rows; i++) {
        const long double off = x[i * stride] - first - mean;
        if (!isnan(x[i * stride])) square += w[i] * off * off;
    }
    const long double found = (m->base - first) + m->rest;
    assert_true(fabsl(m->weight - weight) <= 8.0L * DBL_EPSILON * weight);
    if (least == largest) {
        assert_true(m->base == least && m->rest == 0.0L && m->square == 0.0L);
        return;
    }
    assert_true(fabsl(m->square - square) <= 32.0L * DBL_EPSILON * square);
    assert_true(fabsl(found - mean) <= 16.0L * DBL_EPSILON * sqrtl(square / weight));
}

static double *some_cells(int64_t rows, int64_t cols)
{
    double *cells = malloc((size_t)(rows * cols) * sizeof *cells);
    for (int64_t k = 0; k < rows * cols; k++) cells[k] = cell(k / cols, k % cols);
    return cells;
}

/* Numbers of rows and columns that fill tiles and blocks, and that do not. */
static void columns_of_all_kinds(void **state)
{
    (void)state;
    static const int64_t rows[] = { 1, 2, 7, 16, 33, 512, 600, MOST }, cols[] = { 171, COLS };
    volatile long double square = 1e300L;
    square *= square;
    if (!(square < 1e601L)) {
        print_message("SKIPPED: squares beyond the range of a double need a real long double\n");
        return;
    }
    for (int k = 0; k < 8 * 2 * 5; k++) {
        const int64_t n = rows[k % 8], p = cols[k / 8 % 2];
        double *cells = some_cells(n, p), *w = malloc((size_t)n * sizeof *w);
        for (int64_t i = 0; i < n; i++) w[i] = weight_of(k / 16, i);
        fenp_moments *of = moments(cells, w, n, p);
        for (int64_t j = 0; j < p; j++) as_in_two_passes(&of[j], cells + j, w, n, p);
        free(of);
        free(w);
        free(cells);
    }
}

/* An infinite cell, which is refused elsewhere, must be seen, and not touch other columns. */
static void infinite_cells(void **state)
{
    (void)state;
    enum { N = 40, P = 9 };
    double w[N];
    for (int64_t i = 0; i < N; i++) w[i] = 1.0;
    for (int64_t row = 0; row < N; row += 13) {
        double *cells = some_cells(N, P);
        cells[row * P] = row % 2 ? INFINITY : -INFINITY;
        fenp_moments *of = moments(cells, w, N, P);
        assert_true(of[0].seen == N && (row % 2 ? of[0].largest : -of[0].least) == INFINITY);
        as_in_two_passes(&of[1], cells + 1, w, N, P);
        free(of);
        free(cells);
    }
}

/* A row whose weight vanishes beside another has its cells in the range, and in no sum. */
static void weights_that_vanish(void **state)
{
    (void)state;
    double cells[] = { 1.0, 3.0, 1e9 }, w[] = { 1e300, 1e300, 1e-300 };
    fenp_moments *of = moments(cells, w, 3, 1);
    assert_true(of->seen == 3 && of->largest == 1e9 && of->least == 1.0);
    assert_true(of->base + of->rest == 2.0L);
    assert_true(fabsl(of->square / of->weight - 1.0L) < 1e-15L);
    free(of);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    double *cells = some_cells(MOST, COLS), w[MOST];
    for (int64_t i = 0; i < MOST; i++) w[i] = weight_of(2, i);
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    fenp_moments *one = moments(cells, w, MOST, COLS);
    omp_set_num_threads(3);
    fenp_moments *many = moments(cells, w, MOST, COLS);
    omp_set_num_threads(before);
    for (int64_t j = 0; j < COLS; j++)
        assert_true(one[j].base == many[j].base && one[j].rest == many[j].rest &&
                    one[j].square == many[j].square && one[j].weight == many[j].weight);
    free(one);
    free(many);
    free(cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_all_kinds),
        cmocka_unit_test(infinite_cells),
        cmocka_unit_test(weights_that_vanish),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
