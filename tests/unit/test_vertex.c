/* test_vertex.c -- the inverse of a vertex after every kind of change, against its definition */
#include "solver/interior_vertex.h"
#include "support/solver_tests.h"

enum { N = 30, K = 24 };

static fenp_vertex vertex_of(const double *x, int64_t terms, int64_t room)
{
    fenp_vertex v = { .x = x, .n = N, .k = K, .terms = terms };
    assert_int_equal(fenp_vertex_open(&v, room, NULL), FEN_OK);
    return v;
}

/* B times its inverse is the unit matrix: to 1e-8, after changes with pivots of 0.1 and more; and
 * all that is kept of columns and corners is theirs. */
static void check(const fenp_vertex *v)
{
    for (int64_t e = 0; e < v->m; e++) {
        assert_int_equal(v->at_corner[v->corner[e]], e);
        assert_int_equal(v->at_column[v->column[e]], e);
        for (int64_t j = 0; j < K; j++)
            assert_true(v->rows[j + e * K] == v->x[v->corner[e] % N + j * N]);
        for (int64_t i = 0; i < N; i++)
            assert_true(v->columns[i + e * N] == v->x[i + v->column[e] * N]);
        for (int64_t f = 0; f < v->m; f++) {
            double sum = 0.0;
            for (int64_t c = 0; c < v->m; c++)
                sum += fenp_vertex_x(v, v->corner[e], v->column[c]) * v->inverse[c + f * v->room];
            assert_near(sum, e == f ? 1.0 : 0.0, 1e-8);
        }
    }
    int64_t columns = 0, corners = 0;
    for (int64_t j = 0; j < K; j++) columns += v->at_column[j] >= 0;
    for (int64_t t = 0; t < v->terms; t++) corners += v->at_corner[t] >= 0;
    assert_int_equal(columns, v->m);
    assert_int_equal(corners, v->m);
}

/* Of those that are not there the one with the largest pivot; *pivot is that. */
static int64_t best_corner(const fenp_vertex *v, const double *d, int64_t entering, double *pivot)
{
    int64_t best = -1;
    *pivot = 0.0;
    for (int64_t t = 0; t < v->terms; t++) {
        double rate = entering >= 0 ? fenp_vertex_x(v, t, entering) : 0.0;
        for (int64_t c = 0; c < v->m; c++) rate += d[c] * fenp_vertex_x(v, t, v->column[c]);
        if (v->at_corner[t] < 0 && fabs(rate) > *pivot) *pivot = fabs(rate), best = t;
    }
    return best;
}

static int64_t outsider(const fenp_vertex *v, int64_t from)
{
    while (v->at_column[from % K] >= 0) from++;
    return from % K;
}

static void extend(fenp_vertex *v, int64_t j)
{
    double d[K], column[K], row[K], pivot;
    fenp_vertex_express(v, j, column);
    for (int64_t c = 0; c < v->m; c++) d[c] = -column[c];
    const int64_t t = best_corner(v, d, j, &pivot);
    assert_true(pivot > 0.1);
    fenp_vertex_express_row(v, t, row);
    fenp_vertex_extend(v, j, t, column, row);
}

/* One of the four, with the best pivot there is. */
static void disturb(fenp_vertex *v, int64_t i)
{
    const int64_t kind = (int64_t)(4.0 * uniform(1, i)), place = i % (v->m > 0 ? v->m : 1);
    double d[K], pivot;
    int64_t best = 0;
    if (v->m < 3 || (kind == 0 && v->m < K / 2)) {
        extend(v, outsider(v, i));
        return;
    }
    for (int64_t c = 0; c < v->m; c++) d[c] = v->inverse[c + place * v->room];
    if (kind == 1) {
        fenp_vertex_express(v, outsider(v, i), d);
        for (int64_t c = 1; c < v->m; c++) best = fabs(d[c]) > fabs(d[best]) ? c : best;
        fenp_vertex_swap_column(v, best, outsider(v, i), d);
    } else if (kind == 2) {
        for (int64_t c = 1; c < v->m; c++) best = fabs(d[c]) > fabs(d[best]) ? c : best;
        fenp_vertex_reduce(v, best, place);
    } else {
        best = best_corner(v, d, -1, &pivot);
        fenp_vertex_express_row(v, best, d);
        fenp_vertex_swap_corner(v, place, best, d);
    }
}

static void changes_keep_the_inverse(void **state)
{
    (void)state;
    double *x = random_rows(3, N * K, 1);
    fenp_vertex v = vertex_of(x, 2 * N, K);
    for (int64_t i = 0; i < 120; i++) {
        disturb(&v, i);
        check(&v);
    }
    fenp_vertex_close(&v);
    free(x);
}

static void solutions(void **state)
{
    (void)state;
    double *x = random_rows(3, N * K, 1), right[K], out[K], back[N];
    fenp_vertex v = vertex_of(x, N, K);
    for (int64_t j = 0; j < 8; j++) extend(&v, 2 * j);
    for (int64_t c = 0; c < 8; c++) right[c] = uniform(4, c);
    fenp_vertex_solve(&v, right, out);
    fenp_vertex_times(&v, out, back);
    for (int64_t e = 0; e < 8; e++) assert_near(back[v.corner[e]], right[e], 1e-10);
    fenp_vertex_solve_left(&v, right, out);
    for (int64_t c = 0; c < 8; c++) {
        double sum = 0.0;
        for (int64_t e = 0; e < 8; e++) sum += out[e] * v.rows[v.column[c] + e * K];
        assert_near(sum, right[c], 1e-10);
    }
    fenp_vertex_express_row(&v, v.corner[3], out);
    for (int64_t e = 0; e < 8; e++) assert_near(out[e], e == 3, 1e-10);
    fenp_vertex_express(&v, v.column[5], out);
    for (int64_t c = 0; c < 8; c++) assert_near(out[c], c == 5, 1e-10);
    fenp_vertex_close(&v);
    free(x);
}

/* Corners are chosen from more than are needed, also beyond the halves that are eliminated one by
 * one; renewed with more room nothing else changes. */
static void built_and_renewed(void **state)
{
    (void)state;
    double *x = random_rows(5, N * K, 1);
    int64_t columns[K], corners[N], built;
    for (int64_t j = 0; j < K; j++) columns[j] = K - 1 - j;
    for (int64_t i = 0; i < N; i++) corners[i] = i;
    fenp_vertex v = vertex_of(x, N, K);
    for (int64_t count = 0; count <= K; count += 3) {
        assert_int_equal(fenp_vertex_build(&v, columns, count, corners, N, &built, NULL), FEN_OK);
        assert_int_equal(built, count);
        assert_int_equal(v.m, count);
        check(&v);
    }
    assert_int_equal(fenp_vertex_renew(&v, K, &built, NULL), FEN_OK);
    check(&v);
    assert_int_equal(fenp_vertex_renew(&v, 2 * K, &built, NULL), FEN_OK);
    assert_int_equal(v.room, 2 * K);
    assert_int_equal(v.m, K);
    check(&v);
    fenp_vertex_close(&v);
    free(x);
}

/* A column that the ones before it span, a zero one, and too few corners. */
static void dependent_columns(void **state)
{
    (void)state;
    double *x = random_rows(6, N * K, 1);
    int64_t columns[K], corners[N], built;
    for (int64_t j = 0; j < K; j++) columns[j] = j;
    for (int64_t i = 0; i < N; i++) corners[i] = i;
    for (int64_t i = 0; i < N; i++) {
        x[i + 13 * N] = 2.0 * x[i + 2 * N] - x[i + 12 * N];
        x[i + 20 * N] = 0.0;
    }
    fenp_vertex v = vertex_of(x, N, K);
    assert_int_equal(fenp_vertex_build(&v, columns, K, corners, N, &built, NULL), FEN_OK);
    assert_int_equal(built, 13);
    assert_int_equal(v.m, 0);
    check(&v);
    assert_int_equal(fenp_vertex_build(&v, columns + 14, 10, corners, N, &built, NULL), FEN_OK);
    assert_int_equal(built, 6);
    assert_int_equal(fenp_vertex_build(&v, columns, 12, corners, 7, &built, NULL), FEN_OK);
    assert_int_equal(built, 7);
    assert_int_equal(v.m, 0);
    assert_int_equal(fenp_vertex_build(&v, columns, 12, corners, 12, &built, NULL), FEN_OK);
    assert_int_equal(v.m, 12);
    check(&v);
    fenp_vertex_close(&v);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_keep_the_inverse),
        cmocka_unit_test(solutions),
        cmocka_unit_test(built_and_renewed),
        cmocka_unit_test(dependent_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
