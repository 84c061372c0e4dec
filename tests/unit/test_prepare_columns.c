/* test_prepare_columns.c -- sparse tables that stay sparse: samples by columns, products of rows,
 * preparations that keep a part of their inputs, and how they were before */
#include "support/text_table.h"
#include "base/random.h"
#include "data/design.h"
#include "data/noise.h"

static fen_options penalised(const char *penalty)
{
    fen_options o = options();
    o.penalty = penalty;
    return o;
}

/* rows x cols cells, one in four other than 0, first indices as base says. */
static char *random_rows(int rows, int cols, uint64_t seed)
{
    char *text = malloc((size_t)rows * (size_t)(cols + 1) * 32), *at = text;
    for (int i = 0; i < rows; i++) {
        at += sprintf(at, "%.3f", fenp_normal(seed, 1, (uint64_t)i));
        for (int j = 1; j <= cols; j++)
            if (fenp_uniform(seed, 2, (uint64_t)(i * cols + j)) < 0.25)
                at += sprintf(at, " %d:%.4f", j, fenp_normal(seed, 3, (uint64_t)(i * cols + j)));
        *at++ = '\n';
    }
    *at = '\0';
    return text;
}

/* ---- samples ------------------------------------------------------------------------------- */

/* Column by column what the dense sample has, and nothing else. */
static void same_features(const fenp_sample *sparse, const fenp_sample *dense)
{
    assert_true(!sparse->x && sparse->start && dense->x && !dense->start);
    assert_true(sparse->n == dense->n && sparse->p == dense->p && sparse->hash == dense->hash);
    assert_int_equal(sparse->start[0], 0);
    for (int64_t j = 0, e = 0; j < dense->p; j++) {
        for (int64_t i = 0; i < dense->n; i++) {
            const double x = dense->x[i * dense->p + j];
            if (x == 0.0) continue;
            assert_int_equal(sparse->row[e], i);
            assert_true(sparse->value[e++] == x);
        }
        assert_int_equal(sparse->start[j + 1], e);
    }
    assert_memory_equal(sparse->y, dense->y, (size_t)dense->n * sizeof(double));
    assert_memory_equal(sparse->w, dense->w, (size_t)dense->n * sizeof(double));
}

static void columns_are_those_of_the_rows(void **state)
{
    (void)state;
    static const char *const scales[] = { "standard", "range", "none" };
    char *text = random_rows(30, 12, 5);
    for (int k = 0; k < 3; k++) {
        fen_options o = penalised("rkhs"), l1 = penalised("l1");
        o.scale = l1.scale = scales[k];
        learned dense = learn_table(sparse_of(text), &o),
                sparse = learn_table(sparse_of(text), &l1);
        same_features(sparse.s, dense.s);
        forget(&dense);
        forget(&sparse);
    }
    free(text);
}

/* Constant columns and columns of zeros go; rows without a weight do, too; the label may be an
 * input and another column the target. */
static void roles_of_sparse_columns(void **state)
{
    (void)state;
    const char *text = "1 1:5 2:1 4:2 6:1\n0 1:5 2:3 6:2\n3 1:5 4:1\n4 1:5 2:7 4:9 6:1\n";
    fen_options o = penalised("rkhs"), l1 = penalised("elastic:0.5");
    o.target = l1.target = "x4";
    o.weights = l1.weights = "x6";
    learned dense = learn_table(sparse_of(text), &o), sparse = learn_table(sparse_of(text), &l1);
    assert_true(sparse.s->n == 3 && sparse.s->dropped_weightless == 1);
    assert_int_equal(sparse.s->p, 2); /* x2 and label; x1 is 5, x3 and x5 are 0 */
    same_features(sparse.s, dense.s);
    assert_int_equal(sparse.s->start[2] - sparse.s->start[1], 2); /* a label is 0 */
    forget(&dense);
    forget(&sparse);
}

static void who_stays_sparse(void **state)
{
    (void)state;
    const struct {
        const char *penalty, *kernel;
        int sparse;
    } all[] = { { "l1", "auto", 1 },     { "l1", "linear", 1 },       { "none", "auto", 1 },
                { "group", "auto", 1 },  { "rkhs", "linear", 0 },     { "rkhs", "auto", 0 },
                { "l1", "gaussian", 0 }, { "elastic:0.3", "auto", 1 } };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        fen_options o = penalised(all[k].penalty);
        o.kernel = all[k].kernel;
        learned l = learn_table(sparse_of("1 1:3\n2 3:2\n3 1:5 3:4\n4\n"), &o);
        assert_true((l.s->x == NULL) == all[k].sparse);
        forget(&l);
    }
    fen_options o = penalised("l1");
    learned l = learn_table(table_of("a,b,y\n1,2,3\n2,0,4\n0,1,5\n"), &o);
    assert_true(l.s->x && !l.s->start);
    forget(&l);
}

/* The limit is for what the columns take, not for what they would take dense. */
static void memory_of_columns(void **state)
{
    (void)state;
    char text[4096] = "";
    for (int i = 0; i < 40; i++) sprintf(text + strlen(text), "%d %d:1 %d:2\n", i, 1 + i, 5000 + i);
    fen_options o = penalised("l1");
    o.memory_limit_bytes = 4000; /* dense: 80 x 40 x 8 */
    learned l = learn_table(sparse_of(text), &o);
    assert_int_equal(l.s->p, 80);
    double sigma;
    fen_error err;
    assert_int_equal(fenp_noise_level(l.s, 0, 0, 1, &sigma, &err), FEN_BAD_CALL);
    assert_non_null(strstr(err.message, "write a number"));
    forget(&l);
    o.memory_limit_bytes = 100;
    refused_table(sparse_of(text), &o, FEN_MEMORY, "the prepared inputs", "");
}

/* ---- products ------------------------------------------------------------------------------ */

static void products(void **state)
{
    (void)state;
    char *text = random_rows(40, 9, 6);
    fen_options o = penalised("l1");
    learned l = learn_table(sparse_of(text), &o);
    const int64_t p = l.prep->features;
    double weights[2 * 16], out[2 * 40], *x = apply(l.prep, sparse_of(text));
    assert_true(p <= 16);
    for (int64_t k = 0; k < 2 * p; k++) weights[k] = fenp_normal(7, 4, (uint64_t)k);
    assert_int_equal(fenp_prep_products(l.prep, l.t, weights, 2, out, NULL), FEN_OK);
    for (int64_t i = 0; i < 40; i++)
        for (int64_t t = 0; t < 2; t++) {
            double sum = 0.0;
            for (int64_t j = 0; j < p; j++) sum += weights[t * p + j] * x[i * p + j];
            near(out[i * 2 + t], sum);
        }
    free(x);
    free(text);
    forget(&l);
}

/* Narrower files, wider ones, and ones that begin with x0. */
static void products_of_other_files(void **state)
{
    (void)state;
    fen_options o = penalised("l1");
    o.scale = "none";
    learned l = learn_table(sparse_of("1 1:3 5:1\n2 3:2\n3 1:5 3:4\n4\n"), &o); /* x1 x3 x5 */
    const double weights[3] = { 1.0, 10.0, 100.0 };
    double out[3];
    fen_table *t = sparse_of("0 0:9 3:1 5:2 9:7\n0 1:1\n0\n");
    assert_int_equal(fenp_prep_products(l.prep, t, weights, 1, out, NULL), FEN_OK);
    assert_true(out[0] == 210.0 && out[1] == 1.0 && out[2] == 0.0);
    fen_table_free(t);
    t = sparse_of("0 2:1 3:7\n");
    assert_int_equal(fenp_prep_products(l.prep, t, weights, 1, out, NULL), FEN_OK);
    assert_true(out[0] == 70.0);
    fen_table_free(t);
    t = sparse_of("1\n");
    assert_int_equal(fenp_prep_products(l.prep, t, weights, 1, out, NULL), FEN_OK);
    assert_true(out[0] == 0.0);
    fen_table_free(t);
    forget(&l);
    o.scale = "standard";
    l = learn_table(sparse_of("1 1:3e-9 2:1\n2 1:2e-9\n3 1:5e-9\n"), &o);
    t = sparse_of("0 1:2\n0 2:1\n0 1:1e305\n");
    fen_error err;
    assert_int_equal(fenp_prep_products(l.prep, t, weights, 1, out, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "t.svm:3: column \"x1\" is too far"));
    fen_table_free(t);
    forget(&l);
}

/* ---- a part of the inputs ------------------------------------------------------------------ */

static void kept_and_whole(void **state)
{
    (void)state;
    char *text = random_rows(30, 20, 8);
    fen_options o = penalised("l1");
    learned l = learn_table(sparse_of(text), &o);
    const int64_t p = l.s->p;
    char wanted[20] = { 0 };
    wanted[0] = wanted[7] = wanted[8] = wanted[p - 1] = 1;
    fenp_prep_keep(l.prep, wanted);
    assert_true(l.prep->inputs == 4 && l.prep->features == 4);
    fenp_prep *whole = NULL;
    fenp_sample *again = NULL;
    int64_t place[4];
    int agrees = 0;
    assert_int_equal(fenp_prep_whole(l.prep, l.t, &whole, &again, NULL), FEN_OK);
    assert_true(whole->features == p && again->p == p && again->hash == l.s->hash);
    assert_memory_equal(again->value, l.s->value, (size_t)l.s->start[p] * sizeof(double));
    assert_true(fenp_prep_places(l.prep, whole, place));
    assert_true(place[0] == 0 && place[1] == 7 && place[2] == 8 && place[3] == p - 1);
    assert_int_equal(fenp_prep_check(l.prep, l.t, &agrees, NULL), FEN_OK);
    assert_true(agrees);
    l.prep->input[2].scale *= 1.001;
    assert_false(fenp_prep_places(l.prep, whole, place));
    l.prep->input[2].scale /= 1.001;
    strcpy(l.prep->input[1].name, "y");
    assert_false(fenp_prep_places(l.prep, whole, place));
    fenp_prep_free(whole);
    fenp_sample_free(again);
    forget(&l);
    free(text);
}

static void one_input_stays(void **state)
{
    (void)state;
    fen_options o = penalised("l1");
    learned l = learn_table(sparse_of("1 1:2 3:1\n2 1:2\n3 1:2 3:4\n"), &o); /* x1 is constant */
    const char none[1] = { 0 };
    fenp_prep_keep(l.prep, none);
    assert_true(l.prep->inputs == 1 && l.prep->features == 1);
    assert_string_equal(l.prep->input[0].name, "x3");
    forget(&l);
}

/* Classes, weights and another target are taken over; so is what the file says of x0. */
static void whole_of_roles(void **state)
{
    (void)state;
    fen_options o = penalised("l1");
    o.weights = "x2";
    o.task = "classification";
    learned l =
        learn_table(sparse_of("1 0:1 1:2 2:1\n-1 1:1 2:2 4:3\n1 0:3 2:1\n-1 2:3 4:1\n"), &o);
    assert_int_equal(l.prep->class_count, 2);
    char wanted[3] = { 0, 1, 0 };
    fenp_prep_keep(l.prep, wanted);
    fenp_prep *whole = NULL;
    fenp_sample *again = NULL;
    int64_t place[1];
    assert_int_equal(fenp_prep_whole(l.prep, l.t, &whole, &again, NULL), FEN_OK);
    assert_true(whole->class_count == 2 && again->hash == l.s->hash && whole->features == 3);
    assert_true(fenp_prep_places(l.prep, whole, place) && place[0] == 1);
    assert_memory_equal(again->y, l.s->y, 4 * sizeof(double));
    assert_memory_equal(again->w, l.s->w, 4 * sizeof(double));
    fenp_prep_free(whole);
    fenp_sample_free(again);
    forget(&l);
}

/* A preparation of sparse inputs has no centres: what says so is damaged. */
static void sparse_inputs_have_no_centres(void **state)
{
    (void)state;
    fen_options o = penalised("l1");
    learned l = learn_table(sparse_of("1 1:3\n2 3:2\n3 1:5 3:4\n4\n"), &o);
    json_t *json = fenp_prep_to_json(l.prep);
    double fill[3] = { 0.0 }, center[3] = { 0.0, 0.0, 1.0 }, scale[3] = { 1.0, 1.0, 1.0 };
    fenp_prep *back = NULL;
    fen_error err;
    assert_int_equal(fenp_prep_from_json(json, fill, center, scale, &back, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "center"));
    center[2] = 0.0;
    assert_int_equal(fenp_prep_from_json(json, fill, center, scale, &back, &err), FEN_OK);
    fenp_prep_free(back);
    json_decref(json);
    forget(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_those_of_the_rows),
        cmocka_unit_test(roles_of_sparse_columns),
        cmocka_unit_test(who_stays_sparse),
        cmocka_unit_test(memory_of_columns),
        cmocka_unit_test(products),
        cmocka_unit_test(products_of_other_files),
        cmocka_unit_test(kept_and_whole),
        cmocka_unit_test(one_input_stays),
        cmocka_unit_test(whole_of_roles),
        cmocka_unit_test(sparse_inputs_have_no_centres),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
