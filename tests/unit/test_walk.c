/* test_walk.c -- linear programs of interior.h by the walk along vertices alone
 *
 * The gap is that of interior_value.c, which test_interior.c judges from outside. 1e-9 of it is less
 * than any caller asks for, and less than an interior point method would find without luck. */
#include "solver/interior_parts.h"
#include "support/interior_tests.h"

static const double ENOUGH = 1e-9;
static const char *const straight[] = { "absolute", "pinball", "eps", "hinge" };
enum { STRAIGHT = 4 };

typedef struct walked {
    fenp_inside s;
    fenp_arena arena;
    fen_status status;
    double gap;
    int calls; /* of progress, one for every 32 steps */
} walked;

/* beta, unless NULL: the guess. What the walk found is in best_beta and best_u. */
static walked *walk_from(const fenp_interior *q, const double *beta, fen_host *host)
{
    walked *w = calloc(1, sizeof *w);
    assert_non_null(w);
    fen_host counter = { .progress = count, .user = &w->calls };
    const fenp_task task = fenp_task_start(host ? host : &counter, 0.0);
    fen_error err = { 0 };
    w->s.q = q;
    assert_int_equal(fenp_inside_open(&w->s, &w->arena, &err), FEN_OK);
    w->s.best_primal = INFINITY, w->s.best_dual = -INFINITY;
    fenp_inside_offer(&w->s);
    for (int64_t j = 0; beta && j < q->k; j++) w->s.beta[j] = beta[j];
    if (beta) fenp_free_enter(&w->s, w->s.beta);
    w->status = fenp_inside_walk(&w->s, ENOUGH, &task, &err);
    w->gap = fenp_inside_gap(&w->s);
    return w;
}

static void end(walked *w)
{
    fenp_arena_close(&w->arena);
    free(w);
}

static void assert_walked(const walked *w, const char *what)
{
    assert_int_equal(w->status, FEN_OK);
    if (!(w->gap <= ENOUGH)) fail_msg("%s: gap %g", what, w->gap);
}

/* A vertex: as many corners as columns, or more. */
static void assert_vertex(const walked *w, const char *what)
{
    const fenp_inside *s = &w->s;
    int64_t columns = 0, corners = 0;
    double fit[ROWS] = { 0 };
    for (int64_t j = 0; j < s->k; j++) {
        columns += s->best_beta[j] != 0.0;
        for (int64_t i = 0; i < s->n; i++) fit[i] += s->best_beta[j] * s->design[i + j * s->n];
    }
    for (int64_t t = 0; t < s->terms; t++)
        corners +=
            s->high[t] > s->low[t] && fabs(s->a[t] - fit[t % s->n]) <= 1e-9 * (1.0 + fabs(s->a[t]));
    if (corners < columns) fail_msg("%s: %d corners, %d columns", what, (int)corners, (int)columns);
}

static void every_kind(void **state)
{
    (void)state;
    const struct {
        int64_t n, k;
    } sizes[] = { { 60, 9 }, { 20, 41 }, { 31, 6 }, { 60, 60 } };
    const kind kinds[] = { LASSO, SIGNS, FREE, FREE_SIGNS };
    for (int i = 0; i < STRAIGHT; i++)
        for (int c = 0; c < 4; c++)
            for (int z = 0; z < 12; z++) {
                char what[96];
                const double l = pow(10.0, -1.0 - z % 3);
                made *m =
                    make(fenp_find_loss(straight[i]), kinds[c], sizes[z / 3].n, sizes[z / 3].k, l);
                snprintf(what, sizeof what, "%s, %s, %d x %d, l %g", straight[i],
                         kind_names[kinds[c]], (int)m->q.n, (int)m->q.k, l);
                walked *w = walk_from(&m->q, NULL, NULL);
                assert_walked(w, what);
                assert_vertex(w, what);
                end(w);
                free(m);
            }
}

/* Curvature, cones, ends at infinity, no price at all, and whoever wants none: nothing is done. */
static void not_for_others(void **state)
{
    (void)state;
    const struct {
        const char *loss;
        kind which;
        double l;
        int inside;
    } cases[] = { { "square", LASSO, 0.01, 0 },     { "huber", LASSO, 0.01, 0 },
                  { "tube", LASSO, 0.01, 0 },       { "absolute", GROUPS, 0.01, 0 },
                  { "absolute", ELASTIC, 0.01, 0 }, { "absolute", LASSO, 0.0, 0 },
                  { "absolute", LASSO, 0.01, 1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made *m = make(fenp_find_loss(cases[i].loss), cases[i].which, 60, 9, cases[i].l);
        m->q.inside = cases[i].inside;
        walked *w = walk_from(&m->q, NULL, NULL);
        assert_int_equal(w->status, FEN_OK);
        assert_int_equal(w->calls, 0);
        for (int64_t j = 0; j < 9; j++) assert_true(w->s.best_beta[j] == 0.0);
        end(w);
        free(m);
    }
}

/* Along falling prices every answer is the next one's guess: a few steps each, none from the answer
 * itself; and the same P as from nothing. */
static void from_neighbours(void **state)
{
    (void)state;
    for (int i = 0; i < STRAIGHT; i++) {
        double guess[COLUMNS] = { 0 };
        made *m = make(fenp_find_loss(straight[i]), LASSO, 60, 40, 0.3);
        for (int at = 0; at < 30; at++) {
            walked *near = walk_from(&m->q, guess, NULL), *far = walk_from(&m->q, NULL, NULL);
            assert_walked(near, straight[i]);
            assert_near(near->s.best_primal, far->s.best_primal, 2.0 * ENOUGH * far->s.null);
            assert_true(near->calls <= 3); /* up to 96 steps */
            memcpy(guess, near->s.best_beta, 40 * sizeof *guess);
            end(near), end(far);
            walked *there = walk_from(&m->q, guess, NULL);
            assert_walked(there, straight[i]);
            assert_true(there->calls <= 1);
            end(there);
            for (int64_t g = 0; g < m->q.groups; g++) m->l[g] *= 0.8;
        }
        free(m);
    }
}

/* Guesses with more columns than rows, with twins, and of the wrong sign. */
static void from_anywhere(void **state)
{
    (void)state;
    for (int c = 0; c < 3; c++) {
        double guess[COLUMNS];
        made *m = make(fenp_find_loss("absolute"), c == 2 ? SIGNS : LASSO, 20, 41, 0.02);
        if (c == 1)
            for (int64_t j = 0; j < 10; j++)
                memcpy(m->x + (2 * j + 1) * 20, m->x + 2 * j * 20, 20 * sizeof(double));
        for (int64_t j = 0; j < 41; j++) guess[j] = c == 1 && j >= 20 ? 0.0 : uniform(9, j) - 0.5;
        walked *w = walk_from(&m->q, guess, NULL);
        assert_walked(w, "from anywhere");
        assert_vertex(w, "from anywhere");
        end(w);
        free(m);
    }
}

/* A smooth kernel and small prices: B is nearly singular, and all labels are met at the end. */
static void kernel_matrices(void **state)
{
    (void)state;
    const double gammas[] = { 30.0, 1.0, 0.05 };
    for (int i = 0; i < STRAIGHT; i++)
        for (int c = 0; c < 9; c++) {
            const double l = pow(10.0, -2.0 * (c / 3) - 2.0);
            char what[96];
            made *m = make(fenp_find_loss(straight[i]), LASSO, 59, 60, l);
            for (int64_t j = 0; j < 59; j++)
                for (int64_t r = 0; r < 59; r++) {
                    const double distance = uniform(6, r) - uniform(6, j);
                    m->x[r + j * 59] = exp(-gammas[c % 3] * distance * distance);
                }
            snprintf(what, sizeof what, "%s, gamma %g, l %g", straight[i], gammas[c % 3], l);
            walked *w = walk_from(&m->q, NULL, NULL);
            assert_walked(w, what);
            end(w);
            free(m);
        }
}

/* More columns at work than there is room for at first: a start from nothing and a small price. */
static void room_grows(void **state)
{
    (void)state;
    enum { MANY = 150 };
    double *x = random_rows(3, MANY * MANY, 1), *y = random_rows(4, MANY, 1);
    double w[MANY], l[MANY], d[MANY] = { 0 }, par = 0.0;
    int64_t start[MANY + 1];
    for (int64_t j = 0; j <= MANY; j++) start[j] = j;
    for (int64_t j = 0; j < MANY; j++) w[j] = 1.0 / MANY, l[j] = 1e-3;
    const fenp_interior q = { .n = MANY,
                              .k = MANY,
                              .x = x,
                              .loss = fenp_find_loss("absolute"),
                              .par = &par,
                              .y = y,
                              .w = w,
                              .groups = MANY,
                              .start = start,
                              .l = l,
                              .d = d };
    walked *found = walk_from(&q, NULL, NULL);
    int64_t columns = 0;
    for (int64_t j = 0; j < MANY; j++) columns += found->s.best_beta[j] != 0.0;
    assert_walked(found, "room grows");
    assert_true(columns > 100);
    end(found);
    free(x), free(y);
}

/* Many corners at once: rows that stand there ten times, labels of two or three values, columns that
 * stand there twice. */
static void ties(void **state)
{
    (void)state;
    for (int i = 0; i < STRAIGHT; i++)
        for (int c = 0; c < 6; c++) {
            char what[96];
            made *m = make(fenp_find_loss(straight[i]), c % 2 ? SIGNS : LASSO, 60, 21,
                           c < 2 ? 0.05 : 0.005);
            m->q.f0 = NULL;
            for (int64_t r = 0; r < 60; r++) {
                m->w[r] = 1.0 / 60.0;
                if (i < 3) m->y[r] = (double)(int)(3.0 * uniform(7, r));
                for (int64_t j = 0; c >= 4 && j < 20; j++)
                    m->x[r + j * 60] = m->x[r % 6 + j / 2 * 2 * 60];
            }
            snprintf(what, sizeof what, "%s, ties %d", straight[i], c);
            walked *w = walk_from(&m->q, NULL, NULL);
            assert_walked(w, what);
            end(w);
            free(m);
        }
}

/* Columns of 0 and 1 and few labels: many corners meet, and coefficients that are 0 there come out
 * as roundings, of which none is left. */
static void no_rounding(void **state)
{
    (void)state;
    for (int i = 0; i < STRAIGHT; i++)
        for (int c = 0; c < 40; c++) {
            made *m = make(fenp_find_loss(straight[i]), c % 4 ? LASSO : SIGNS, 24, 9, 0.03);
            const double other = m->q.loss->labels == FEN_SIGNS ? -1.0 : 0.0;
            m->q.f0 = NULL;
            for (int64_t r = 0; r < 24; r++) {
                m->w[r] = 1.0 / 24.0;
                m->y[r] = uniform(20 + c, r) < 0.2 ? 1.0 : other;
                for (int64_t j = 0; j < 8; j++)
                    m->x[r + j * 24] = uniform(20 + c, 24 + r + j * 24) < 0.4;
            }
            walked *w = walk_from(&m->q, NULL, NULL);
            assert_walked(w, straight[i]);
            for (int64_t j = 0; j < 8; j++)
                if (w->s.best_beta[j] != 0.0 && fabs(w->s.best_beta[j]) < 1e-12)
                    fail_msg("%s, %d: coefficient %g", straight[i], c, w->s.best_beta[j]);
            end(w);
            free(m);
        }
}

/* 0 is the best however small the price is, and u alone changes: the coefficients do not say where
 * the last walk ended. With its vertex the next one takes few steps, and finds the same u; also if
 * the guess has nothing to do with that vertex. */
static void from_the_last_end(void **state)
{
    (void)state;
    int64_t column[COLUMNS], corner[COLUMNS];
    int calls[2] = { 0, 0 };
    made *m = make(fenp_find_loss("absolute"), LASSO, 60, 41, 0.05);
    m->q.f0 = NULL;
    for (int64_t i = 0; i < 60; i++) {
        m->w[i] = 1.0 / 60.0, m->y[i] = i % 10 == 0 ? 3.0 : 0.0;
        for (int64_t j = 0; j < 40; j++) m->x[i + j * 60] = uniform(8, i + j * 60) < 0.2;
    }
    fenp_interior_end last = { 0, column, corner };
    for (int at = 0; at < 40; at++) {
        double guess[COLUMNS] = { 0 };
        for (int c = 0; c < 3; c++) {
            m->q.end = c > 0 ? &last : NULL;
            for (int64_t j = 0; c == 2 && j < 41; j++) guess[j] = uniform(9, j) - 0.5;
            walked *w = walk_from(&m->q, guess, NULL);
            assert_walked(w, "from the last end");
            if (c < 2) calls[c] += w->calls;
            end(w);
        }
        for (int64_t g = 0; g < m->q.groups; g++) m->l[g] *= 0.9;
    }
    if (3 * calls[1] > 2 * calls[0]) fail_msg("%d looks, %d from nothing", calls[1], calls[0]);
    free(m);
}

static int stop_soon(void *user, const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    return --*(int *)user < 0;
}

/* Wherever it is stopped, what it has by then is offered and is no worse than nothing. */
static void stopped(void **state)
{
    (void)state;
    made *m = make(fenp_find_loss("absolute"), LASSO, 60, 60, 1e-4);
    double zero[COLUMNS] = { 0 }, before = INFINITY;
    for (int after = 0; after < 3; after++) {
        int left = after;
        fen_host host = { .progress = stop_soon, .user = &left };
        walked *w = walk_from(&m->q, NULL, &host);
        assert_int_equal(w->status, FEN_STOPPED);
        assert_true(w->s.best_primal <= (double)primal(&m->q, zero) * (1.0 + 1e-12));
        assert_true(w->s.best_primal <= before);
        assert_true(w->s.best_primal >= w->s.best_dual);
        before = w->s.best_primal;
        end(w);
    }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),      cmocka_unit_test(not_for_others),
        cmocka_unit_test(from_neighbours), cmocka_unit_test(from_anywhere),
        cmocka_unit_test(kernel_matrices), cmocka_unit_test(ties),
        cmocka_unit_test(no_rounding),     cmocka_unit_test(from_the_last_end),
        cmocka_unit_test(room_grows),      cmocka_unit_test(stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
