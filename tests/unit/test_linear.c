/* test_linear.c -- linear models with penalties on coefficients: is the answer optimal?
 *
 * Every answer is judged by its definition: P from beta and b, D from u, constraints of u, by
 * plain loops that know nothing of the solver. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "base/registry.h"
#include "solver/linear.h"
#include "solver/products.h"

enum { MOST_N = 80, MOST_P = 120, MOST_COPIES = 3 };

typedef struct scene {
    fenp_design x;
    fenp_linear q;
    fenp_groups groups;
    double par;
    double columns[MOST_N * MOST_P];
    double y[MOST_N * MOST_COPIES], w[MOST_N * MOST_COPIES];
    int64_t start[MOST_P * MOST_COPIES + 1], member[MOST_P * MOST_COPIES];
    double weight[MOST_P * MOST_COPIES];
    int64_t entry[MOST_P + 1];
    int32_t row[MOST_N * MOST_P];
    double value[MOST_N * MOST_P];
    double beta[MOST_P * MOST_COPIES], b[MOST_COPIES], u[MOST_N * MOST_COPIES];
} scene;

static scene *new_scene(const char *loss, int64_t n, int64_t p, int64_t copies, uint64_t seed)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p; j++)
            s->columns[j * n + i] =
                (j > 0 ? 0.5 * s->columns[(j - 1) * n + i] : 0.0) + fenp_normal(seed, 1, i * p + j);
    s->x = (fenp_design){ .n = n, .p = p, .copies = copies, .dense = s->columns };
    s->q = (fenp_linear){ .x = &s->x,
                          .loss = fenp_find_loss(loss),
                          .par = &s->par,
                          .y = s->y,
                          .w = s->w,
                          .bias = 1,
                          .mix = 1.0,
                          .groups = &s->groups,
                          .engine = "auto" };
    s->par = s->q.loss->parameter.name ? s->q.loss->parameter.initial : 0.0;
    for (int64_t t = 0; t < copies; t++)
        for (int64_t i = 0; i < n; i++) {
            double y = 3.0 + fenp_normal(seed, 2 + (uint64_t)t, i);
            for (int64_t j = 0; j < p && j < 5; j++) y += (1.0 + (double)t) * s->columns[j * n + i];
            s->y[t * n + i] = s->q.loss->labels == FEN_SIGNS ? (y > 3.0 ? 1.0 : -1.0) : y;
            s->w[t * n + i] = 1.0 / (double)n;
        }
    s->groups = (fenp_groups){ .count = p * copies };
    return s;
}

static void weigh_rows(scene *s)
{
    double sum = 0.0;
    for (int64_t i = 0; i < s->x.n; i++)
        sum += s->w[i] = fenp_uniform(5, 5, i) < 0.2 ? 0.0 : 1.0 + (double)(i % 3);
    for (int64_t i = 0; i < s->x.n; i++) s->w[i] /= sum;
}

static void make_groups(scene *s, int64_t size)
{
    const int64_t p = s->x.p;
    s->groups.start = s->start, s->groups.member = s->member, s->groups.weight = s->weight;
    s->groups.count = 0;
    for (int64_t j = 0; j < p; j += size) {
        const int64_t g = s->groups.count++, end = j + size < p ? j + size : p;
        s->start[g] = j, s->start[g + 1] = end;
        s->weight[g] = sqrt((double)(end - j));
    }
    for (int64_t j = 0; j < p; j++) s->member[j] = p - 1 - j; /* not in the file's order */
}

static void join_targets(scene *s)
{
    s->groups.start = s->start, s->groups.member = s->member, s->groups.weight = NULL;
    s->groups.count = s->x.p;
    for (int64_t j = 0; j < s->x.p; j++)
        for (int64_t t = 0; t < s->x.copies; t++) s->member[j * s->x.copies + t] = t * s->x.p + j;
    for (int64_t j = 0; j <= s->x.p; j++) s->start[j] = j * s->x.copies;
}

static void make_sparse(scene *s)
{
    int64_t e = 0;
    for (int64_t j = 0; j < s->x.p; j++) {
        s->entry[j] = e;
        for (int64_t i = 0; i < s->x.n; i++) {
            double *at = &s->columns[j * s->x.n + i];
            if (fenp_uniform(3, 3, i * s->x.p + j) < 0.6) *at = 0.0;
            if (*at != 0.0) s->row[e] = (int32_t)i, s->value[e++] = *at;
        }
    }
    s->entry[s->x.p] = e;
    s->x.dense = NULL, s->x.start = s->entry, s->x.row = s->row, s->x.value = s->value;
}

/* ---- the judge ------------------------------------------------------------------------------- */

static double column_at(const scene *s, int64_t i, int64_t j) { return s->columns[j * s->x.n + i]; }

static double product(const scene *s, int64_t coefficient)
{
    const int64_t t = coefficient / s->x.p, j = coefficient % s->x.p, n = s->x.n;
    long double sum = 0.0L;
    for (int64_t i = 0; i < n; i++) sum += (long double)column_at(s, i, j) * s->u[t * n + i];
    return (double)sum;
}

typedef struct verdict {
    double primal, dual, broken;
} verdict;

static int64_t member(const scene *s, int64_t g, int64_t k)
{
    return s->groups.start ? s->groups.member[s->groups.start[g] + k] : g;
}

/* The part of u that no group is too steep for. */
static double feasible_part(const scene *s, double lambda)
{
    double part = 1.0;
    for (int64_t g = 0; g < s->groups.count && s->q.mix == 1.0; g++) {
        const int64_t size = s->groups.start ? s->groups.start[g + 1] - s->groups.start[g] : 1;
        const double a = lambda * (s->groups.weight ? s->groups.weight[g] : 1.0);
        double slope = 0.0;
        for (int64_t k = 0; k < size; k++) {
            const double at = product(s, member(s, g, k));
            slope += s->q.nonnegative ? fmax(at, 0.0) * fmax(at, 0.0) : at * at;
        }
        if (a > 0.0 && part * sqrt(slope) > a) part = a / sqrt(slope);
    }
    return part;
}

static verdict judge_groups(const scene *s, double lambda)
{
    verdict v = { 0.0, 0.0, 0.0 };
    for (int64_t g = 0; g < s->groups.count; g++) {
        const int64_t size = s->groups.start ? s->groups.start[g + 1] - s->groups.start[g] : 1;
        const double a = lambda * (s->groups.weight ? s->groups.weight[g] : 1.0);
        double norm = 0.0, slope = 0.0;
        for (int64_t k = 0; k < size; k++) {
            const double beta = s->beta[member(s, g, k)], at = product(s, member(s, g, k));
            norm += beta * beta;
            slope += s->q.nonnegative ? fmax(at, 0.0) * fmax(at, 0.0) : at * at;
            if (s->q.nonnegative && a > 0.0) assert_true(beta >= 0.0);
        }
        norm = sqrt(norm), slope = sqrt(slope);
        v.primal += a * (s->q.mix * norm + 0.5 * (1.0 - s->q.mix) * norm * norm);
        const double over = slope - a * s->q.mix;
        if (a == 0.0 || s->q.mix == 1.0)
            v.broken = fmax(v.broken, over);
        else if (over > 0.0)
            v.dual -= over * over / (2.0 * a * (1.0 - s->q.mix));
    }
    return v;
}

static verdict judge(const scene *s, double lambda)
{
    verdict v = judge_groups(s, lambda);
    const int64_t n = s->x.n;
    for (int64_t t = 0; t < s->x.copies; t++) {
        long double sum = 0.0L;
        for (int64_t i = 0; i < n; i++) {
            const int64_t r = t * n + i;
            double f = s->b[t];
            for (int64_t j = 0; j < s->x.p; j++) f += column_at(s, i, j) * s->beta[t * s->x.p + j];
            sum += s->u[r];
            if (s->w[r] == 0.0) continue;
            v.primal += s->w[r] * s->q.loss->value(s->y[r], f, &s->par);
            v.dual -= s->w[r] * s->q.loss->conj(s->y[r], -s->u[r] / s->w[r], &s->par);
        }
        if (s->q.bias) v.broken = fmax(v.broken, fabs((double)sum));
        if (!s->q.bias) assert_true(s->b[t] == 0.0);
    }
    return v;
}

/* ---- laws ---------------------------------------------------------------------------------------- */

static fenp_linear_point point_of(scene *s, double lambda)
{
    return (fenp_linear_point){ .lambda = lambda, .beta = s->beta, .b = s->b, .u = s->u };
}

/* u need not be scaled: what it breaks of a constraint is worth as much of P. */
static void expect_optimal(scene *s, double lambda, double tolerance)
{
    const double part = feasible_part(s, lambda);
    for (int64_t i = 0; i < s->x.n * s->x.copies; i++) s->u[i] *= part;

    const verdict v = judge(s, lambda);
    const double unit = fmax(fabs(v.primal), 1e-12);
    assert_true(isfinite(v.primal) && isfinite(v.dual));
    assert_true(v.primal - v.dual <= tolerance * unit);
    assert_true(v.primal - v.dual >= -tolerance * unit);
    assert_true(v.broken <= tolerance * (lambda + 1e-3 * unit));
}

static void solve_down(scene *s, double tolerance)
{
    static const double parts[] = { 1.5, 1.0, 0.5, 0.1, 0.01 };
    const double least = s->q.loss->curvature ? 1.0 : 1.5; /* corners: lambda_max is a bound */
    fenp_linear_state *state = NULL;
    assert_int_equal(fenp_linear_begin(&s->q, &state, NULL, NULL), FEN_OK);
    const double most = fenp_linear_lambda_max(state);
    assert_true(most > 0.0);
    memset(s->beta, 0, sizeof s->beta);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        fenp_linear_point point = point_of(s, parts[k] * most);
        assert_int_equal(fenp_linear_solve(state, 0.01 * tolerance, &point, NULL, NULL), FEN_OK);
        assert_true(point.relative_gap <= tolerance);
        expect_optimal(s, point.lambda, tolerance);
        const verdict v = judge(s, point.lambda);
        assert_true(fabs(point.primal - v.primal) <= 1e-9 * fabs(v.primal));
        if (parts[k] >= least && s->q.mix == 1.0 && !s->groups.weight)
            assert_int_equal(point.terms, 0);
    }
    fenp_linear_end(state);
}

static const char *const smooth[] = { "square", "huber", "logistic", "sqhinge", "sqeps" };
static const char *const corners[] = { "absolute", "pinball", "hinge", "eps" };
enum { SMOOTH = 5, CORNERS = 4 };

static void lay_in_rows(scene *s)
{
    for (int64_t i = 0; i < s->x.n; i++)
        for (int64_t j = 0; j < s->x.p; j++) s->value[i * s->x.p + j] = column_at(s, i, j);
    s->x.dense = NULL, s->x.by_rows = s->value;
}

static void every_variant(const char *loss, int64_t n, int64_t p, int by_rows, double tolerance)
{
    for (int variant = 0; variant < 9; variant++) {
        scene *s = new_scene(loss, n, p, 1, 11);
        if (variant == 1) s->q.mix = 0.5;
        if (variant == 2) s->q.bias = 0;
        if (variant == 3) make_groups(s, 4);
        if (variant == 4) make_groups(s, 4), s->q.mix = 0.7;
        if (variant == 5) s->q.nonnegative = 1;
        if (variant == 6) weigh_rows(s);
        if (variant == 7 && !by_rows) make_sparse(s);
        if (variant == 8) { /* some coefficients are free, others dear */
            s->groups.weight = s->weight;
            for (int64_t j = 0; j < p; j++)
                s->weight[j] = j == 7 || j == 3 ? 0.0 : 1.0 + (double)(j % 2);
        }
        if (by_rows) lay_in_rows(s);
        solve_down(s, tolerance);
        free(s);
    }
}

static void smooth_losses_end_at_the_optimum(void **state)
{
    (void)state;
    for (int k = 0; k < SMOOTH; k++) {
        every_variant(smooth[k], 60, 20, 0, 1e-7);
        every_variant(smooth[k], 40, 90, 0, 1e-7);
    }
}

static void losses_with_corners_end_at_the_optimum(void **state)
{
    (void)state;
    for (int k = 0; k < CORNERS; k++) {
        every_variant(corners[k], 60, 12, 0, 1e-6);
        every_variant(corners[k], 30, 50, 0, 1e-6);
    }
}

static void targets_share_their_features(void **state)
{
    (void)state;
    const char *const losses[] = { "square", "huber", "absolute" };
    for (int k = 0; k < 3; k++)
        for (int shape = 0; shape < 2; shape++) {
            scene *s = new_scene(losses[k], shape ? 30 : 60, shape ? 50 : 15, 3, 17);
            join_targets(s);
            solve_down(s, 1e-6);
            for (int64_t j = 0; j < s->x.p; j++) { /* in all targets or in none */
                int used = 0;
                for (int64_t t = 0; t < 3; t++) used += s->beta[t * s->x.p + j] != 0.0;
                assert_true(used == 0 || used == 3);
            }
            free(s);
        }
}

/* Losses in pieces can make it creep: then the interior point method takes over, unless coordinate
 * descent was asked for. */
static void coordinate_descent_agrees(void **state)
{
    static const char *const losses[] = { "square", "logistic" };
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int bias = 0; bias < 2; bias++) {
                scene *s = new_scene(losses[k], 50, 80, 1, 23);
                s->q.engine = "coordinate", s->q.bias = bias;
                if (sparse) make_sparse(s);
                solve_down(s, 1e-7);
                free(s);
            }
}

/* Room for few columns: the same optimum, without a Gram matrix from some support on. */
static void little_room_is_enough(void **state)
{
    (void)state;
    scene *s = new_scene("square", 80, 120, 1, 59);
    fenp_linear_state *solver = NULL;
    s->q.room = 1;
    assert_int_equal(fenp_linear_begin(&s->q, &solver, NULL, NULL), FEN_OK);
    fenp_linear_point point = point_of(s, 0.05 * fenp_linear_lambda_max(solver));
    assert_int_equal(fenp_linear_solve(solver, 1e-9, &point, NULL, NULL), FEN_OK);
    assert_string_equal(point.method, "coordinate");
    expect_optimal(s, point.lambda, 1e-7);
    fenp_linear_end(solver);
    free(s);
}

/* ---- limits ----------------------------------------------------------------------------------------- */

static void one_lambda(scene *s, double part, double tolerance)
{
    fenp_linear_state *state = NULL;
    assert_int_equal(fenp_linear_begin(&s->q, &state, NULL, NULL), FEN_OK);
    fenp_linear_point point = point_of(s, part * fmax(fenp_linear_lambda_max(state), 1e-3));
    memset(s->beta, 0, sizeof s->beta);
    assert_int_equal(fenp_linear_solve(state, 0.01 * tolerance, &point, NULL, NULL), FEN_OK);
    expect_optimal(s, point.lambda, tolerance);
    fenp_linear_end(state);
}

static void odd_columns_do_no_harm(void **state)
{
    (void)state;
    for (int k = 0; k < SMOOTH; k++) {
        scene *s = new_scene(smooth[k], 30, 10, 1, 29);
        for (int64_t i = 0; i < 30; i++) {
            s->columns[2 * 30 + i] = s->columns[0 * 30 + i]; /* equal */
            s->columns[3 * 30 + i] = 0.0;                    /* nothing */
            s->columns[4 * 30 + i] = 7.0;                    /* a constant */
            s->columns[5 * 30 + i] = -s->columns[1 * 30 + i];
            s->columns[6 * 30 + i] = 1e6 + s->columns[6 * 30 + i];
        }
        one_lambda(s, 0.05, 1e-6);
        assert_true(s->beta[3] == 0.0 && s->beta[4] == 0.0);
        free(s);
    }
}

/* All that the square loss has, with offsets great and small. */
static void rows_will_do(void **state)
{
    (void)state;
    every_variant("square", 60, 20, 1, 1e-7);
    for (int variant = 0; variant < 3; variant++) {
        scene *s = new_scene("square", 60, 20, 1, 41);
        for (int64_t i = 0; variant == 0 && i < 60; i++) s->columns[7 * 60 + i] += 0.5;
        for (int64_t i = 0; variant == 1 && i < 60; i++) s->columns[7 * 60 + i] += 5e4;
        for (int64_t i = 0; variant == 2 && i < 60; i++) s->columns[7 * 60 + i] = 0.1;
        lay_in_rows(s);
        assert_true(fenp_linear_takes_rows(&s->q));
        solve_down(s, 1e-7);
        free(s);
    }
    scene *s = new_scene("square", 60, 20, 1, 43);
    for (int64_t i = 0; i < 60; i++) s->y[i] = 2.0;
    lay_in_rows(s);
    fenp_linear_state *solver = NULL;
    assert_int_equal(fenp_linear_begin(&s->q, &solver, NULL, NULL), FEN_OK);
    fenp_linear_point point = point_of(s, 0.1);
    assert_int_equal(fenp_linear_solve(solver, 1e-9, &point, NULL, NULL), FEN_OK);
    assert_true(point.terms == 0 && fabs(s->b[0] - 2.0) < 1e-12);
    fenp_linear_end(solver);
    free(s);
}

/* A part that is left out is rows without weight. */
static void parts_are_left_out(void **state)
{
    (void)state;
    enum { N = 60, P = 12, PARTS = 4 };
    for (int variant = 0; variant < 3; variant++) {
        scene *whole = new_scene("square", N, P, 1, 71);
        int64_t order[N];
        double given[N];
        for (int64_t i = 0; i < N; i++) order[i] = (7 * i + 5) % N;
        if (variant == 1) weigh_rows(whole);
        if (variant == 2) make_groups(whole, 3);
        memcpy(given, whole->w, sizeof given);
        scene *rows = new_scene("square", N, P, 1, 71);
        memcpy(rows->w, given, sizeof given);
        if (variant == 2) make_groups(rows, 3);
        lay_in_rows(rows);
        fenp_products products;
        assert_int_equal(fenp_products_make(&rows->q, 1, order, PARTS, &products, NULL), FEN_OK);
        rows->q.products = &products;
        for (int64_t part = 0; part < PARTS; part++) {
            rows->q.without = part + 1;
            for (int64_t k = 0; k < N; k++)
                rows->w[order[k]] = whole->w[order[k]] = k % PARTS == part ? 0.0 : given[order[k]];
            memset(rows->beta, 0, P * sizeof(double)), memset(whole->beta, 0, P * sizeof(double));
            one_lambda(rows, 0.1, 1e-9);
            one_lambda(whole, 0.1, 1e-9);
            for (int64_t j = 0; j < P; j++)
                assert_true(fabs(rows->beta[j] - whole->beta[j]) <
                            1e-4 * (1.0 + fabs(rows->beta[j])));
        }
        fenp_products_free(&products);
        free(rows), free(whole);
    }
}

/* More columns than rows, other losses and engines want columns. */
static void rows_will_not_do(void **state)
{
    (void)state;
    for (int variant = 0; variant < 3; variant++) {
        scene *s =
            new_scene(variant == 0 ? "logistic" : "square", 60, variant == 1 ? 90 : 20, 1, 41);
        if (variant == 2) s->q.engine = "coordinate";
        lay_in_rows(s);
        assert_false(fenp_linear_takes_rows(&s->q));
        free(s);
    }
}

static void one_row_or_one_column(void **state)
{
    (void)state;
    for (int k = 0; k < SMOOTH; k++)
        for (int bias = 0; bias < 2; bias++) {
            scene *row = new_scene(smooth[k], 1, 5, 1, 31),
                  *column = new_scene(smooth[k], 20, 1, 1, 31);
            row->q.bias = column->q.bias = bias;
            if (strcmp(smooth[k], "logistic") != 0 && strcmp(smooth[k], "sqhinge") != 0)
                one_lambda(row, 0.1, 1e-6);
            one_lambda(column, 0.1, 1e-6);
            free(row), free(column);
        }
}

/* With orthogonal columns the answer is a soft threshold. */
static void orthogonal_columns_are_cut(void **state)
{
    (void)state;
    scene *s = new_scene("square", 8, 3, 1, 37);
    static const double walsh[3][8] = { { 1, -1, 1, -1, 1, -1, 1, -1 },
                                        { 1, 1, -1, -1, 1, 1, -1, -1 },
                                        { 1, 1, 1, 1, -1, -1, -1, -1 } };
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 8; i++) s->columns[j * 8 + i] = walsh[j][i];
    const double lambda = 0.7;
    fenp_linear_state *solver = NULL;
    assert_int_equal(fenp_linear_begin(&s->q, &solver, NULL, NULL), FEN_OK);
    fenp_linear_point point = point_of(s, lambda);
    assert_int_equal(fenp_linear_solve(solver, 1e-12, &point, NULL, NULL), FEN_OK);
    for (int j = 0; j < 3; j++) {
        double slope = 0.0;
        for (int i = 0; i < 8; i++) slope += walsh[j][i] * s->y[i] / 8.0;
        const double cut =
            fabs(slope) > 0.5 * lambda ? copysign(fabs(slope) - 0.5 * lambda, slope) : 0.0;
        assert_true(fabs(s->beta[j] - cut) <= 1e-13);
    }
    fenp_linear_end(solver);
    free(s);
}

static void scales_do_not_matter(void **state)
{
    (void)state;
    static const double units[] = { 1e-8, 1e8 };
    for (int k = 0; k < 2; k++) {
        scene *plain = new_scene("square", 40, 60, 1, 41),
              *scaled = new_scene("square", 40, 60, 1, 41);
        for (int64_t i = 0; i < 40; i++) scaled->y[i] *= units[k];
        one_lambda(plain, 0.1, 1e-9);
        fenp_linear_state *solver = NULL;
        assert_int_equal(fenp_linear_begin(&scaled->q, &solver, NULL, NULL), FEN_OK);
        fenp_linear_point point = point_of(scaled, 0.1 * fenp_linear_lambda_max(solver));
        assert_int_equal(fenp_linear_solve(solver, 1e-11, &point, NULL, NULL), FEN_OK);
        fenp_linear_end(solver);
        for (int64_t j = 0; j < 60; j++)
            assert_true(fabs(scaled->beta[j] / units[k] - plain->beta[j]) <= 1e-7);
        free(plain), free(scaled);
    }
}

static void rows_of_weight_0_do_not_exist(void **state)
{
    (void)state;
    for (int k = 0; k < SMOOTH; k++) {
        scene *all = new_scene(smooth[k], 50, 30, 1, 43),
              *part = new_scene(smooth[k], 50, 30, 1, 43);
        int64_t kept = 0;
        for (int64_t i = 0; i < 50; i++) {
            all->w[i] = i % 4 == 0 ? 0.0 : 1.0 / 37.0;
            if (i % 4 == 0) continue;
            part->y[kept] = all->y[i], part->w[kept] = all->w[i];
            for (int64_t j = 0; j < 30; j++)
                part->columns[j * 50 + kept] = all->columns[j * 50 + i];
            kept++;
        }
        for (int64_t j = 1; j < 30; j++)
            memmove(part->columns + j * kept, part->columns + j * 50,
                    (size_t)kept * sizeof(double));
        part->x.n = kept;
        one_lambda(all, 0.1, 1e-8), one_lambda(part, 0.1, 1e-8);
        for (int64_t j = 0; j < 30; j++)
            assert_true(fabs(all->beta[j] - part->beta[j]) <= 1e-5 * (1.0 + fabs(part->beta[j])));
        free(all), free(part);
    }
}

static void nothing_penalised_is_one_solve(void **state)
{
    (void)state;
    for (int k = 0; k < SMOOTH; k++) {
        if (strcmp(smooth[k], "logistic") == 0 || strcmp(smooth[k], "sqhinge") == 0) continue;
        scene *s = new_scene(smooth[k], 60, 6, 1, 47);
        s->groups.weight = s->weight; /* zeros */
        one_lambda(s, 1.0, 1e-6);
        free(s);
    }
}

/* Free coefficients are found beside prices that nobody pays. */
static void prices_beyond_all_slopes(void **state)
{
    (void)state;
    for (int by_rows = 0; by_rows < 2; by_rows++) {
        scene *s = new_scene("square", 60, 6, 1, 47);
        s->groups.weight = s->weight;
        for (int64_t j = 0; j < 6; j++) s->weight[j] = j < 2 ? 0.0 : 1.0;
        if (by_rows) lay_in_rows(s);
        one_lambda(s, 1e12, 1e-6);
        assert_true(s->beta[0] != 0.0 && s->beta[1] != 0.0 && s->beta[2] == 0.0);
        free(s);
    }
}

/* tube: the best constant is outside, so that no lambda has it as its answer. */
static void a_null_model_without_a_loss_has_no_lambda_max(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        scene *s = new_scene("tube", 40, 6, 1, 59);
        fenp_linear_state *solver = NULL;
        s->par = wide ? 1e3 : 4.0;
        assert_int_equal(fenp_linear_begin(&s->q, &solver, NULL, NULL), FEN_OK);
        assert_true(fenp_linear_lambda_max(solver) == 0.0);
        fenp_linear_point point = point_of(s, 0.1);
        assert_int_equal(fenp_linear_solve(solver, 1e-6, &point, NULL, NULL), FEN_OK);
        assert_true(wide ? point.terms == 0 : point.terms > 0);
        if (!wide) expect_optimal(s, 0.1, 1e-5);
        fenp_linear_end(solver);
        free(s);
    }
}

static void engines_that_cannot_are_refused(void **state)
{
    (void)state;
    static const char *const pairs[][2] = { { "absolute", "coordinate" },
                                            { "absolute", "active-set" },
                                            { "logistic", "interior" } };
    for (int k = 0; k < 3; k++) {
        scene *s = new_scene(pairs[k][0], 20, 5, 1, 53);
        fenp_linear_state *solver = NULL;
        fen_error err;
        s->q.engine = pairs[k][1];
        assert_int_equal(fenp_linear_begin(&s->q, &solver, NULL, &err), FEN_BAD_CALL);
        assert_null(solver);
        assert_non_null(strstr(err.message, pairs[k][1]));
        free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orthogonal_columns_are_cut),
        cmocka_unit_test(smooth_losses_end_at_the_optimum),
        cmocka_unit_test(losses_with_corners_end_at_the_optimum),
        cmocka_unit_test(targets_share_their_features),
        cmocka_unit_test(coordinate_descent_agrees),
        cmocka_unit_test(little_room_is_enough),
        cmocka_unit_test(odd_columns_do_no_harm),
        cmocka_unit_test(rows_will_do),
        cmocka_unit_test(rows_will_not_do),
        cmocka_unit_test(parts_are_left_out),
        cmocka_unit_test(one_row_or_one_column),
        cmocka_unit_test(scales_do_not_matter),
        cmocka_unit_test(rows_of_weight_0_do_not_exist),
        cmocka_unit_test(nothing_penalised_is_one_solve),
        cmocka_unit_test(prices_beyond_all_slopes),
        cmocka_unit_test(a_null_model_without_a_loss_has_no_lambda_max),
        cmocka_unit_test(engines_that_cannot_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
