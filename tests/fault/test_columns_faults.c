/* test_columns_faults.c -- every allocation on the way from a table to columns and groups fails
 *
 * The law: support/one_fault.h. */
#include <unistd.h>
#include "support/text_table.h"
#include "data/design.h"
#include "support/one_fault.h"

static char group_file[1024];
static fen_table *sparse, *dense;
static fenp_prep *kept, *mixed; /* of one column of the first, of all of the second */

typedef fen_status (*scenario)(double *result, fen_error *err);

static fen_status learn_columns(double *result, fen_error *err)
{
    fen_options o = options();
    fenp_prep *prep = NULL;
    fenp_sample *s = NULL;
    fenp_design x;
    double *owned = NULL, u[4] = { 1.0, 2.0, 3.0, 4.0 }, out[8];
    o.penalty = "l1";
    fen_status status = fenp_prep_learn(sparse, &o, &prep, &s, err);
    if (status == FEN_OK) status = fenp_design_of(s, &x, &owned, err);
    if (status == FEN_OK) {
        fenp_design_products(&x, u, NULL, x.p, out);
        for (int64_t j = 0; j < x.p; j++) *result += out[j];
    }
    free(owned);
    fenp_prep_free(prep);
    fenp_sample_free(s);
    return status;
}

static fen_status transpose(double *result, fen_error *err)
{
    fenp_sample *s = NULL;
    fenp_design x;
    double *owned = NULL;
    fen_status status = fenp_prep_sample(mixed, dense, &s, err);
    if (status == FEN_OK) status = fenp_design_of(s, &x, &owned, err);
    if (status == FEN_OK) *result = owned[1];
    free(owned);
    fenp_sample_free(s);
    return status;
}

static fen_status learn_whole(double *result, fen_error *err)
{
    fenp_prep *whole = NULL;
    fenp_sample *s = NULL;
    int64_t place[1] = { -1 };
    const fen_status status = fenp_prep_whole(kept, sparse, &whole, &s, err);
    if (status == FEN_OK) *result = fenp_prep_places(kept, whole, place) + 10.0 * (double)place[0];
    fenp_prep_free(whole);
    fenp_sample_free(s);
    return status;
}

static fen_status multiply(double *result, fen_error *err)
{
    double out[4];
    const double weight = 2.0;
    const fen_status status = fenp_prep_products(kept, sparse, &weight, 1, out, err);
    if (status == FEN_OK) *result = out[0] + out[1] + out[2] + out[3];
    return status;
}

static fen_status group(const char *penalty, const char *weights, double *result, fen_error *err)
{
    fen_options o = options();
    fenp_groups g = { .count = 0 };
    o.penalty = penalty;
    o.feature_weights = weights;
    const fen_status status = fenp_groups_make(mixed, &o, 2, &g, err);
    for (int64_t k = 0; status == FEN_OK && k < g.count; k++)
        *result += (double)(k + 1) * g.weight[k];
    fenp_groups_free(&g);
    return status;
}

static fen_status weights_alone(double *result, fen_error *err)
{
    return group("l1", "a=2,c = r=3", result, err);
}

static fen_status columns(double *result, fen_error *err)
{
    return group("group", "a=2", result, err);
}

static fen_status prefixes(double *result, fen_error *err)
{
    return group("group:prefix:_", "", result, err);
}

static fen_status targets(double *result, fen_error *err)
{
    return group("group:targets", "", result, err);
}

static fen_status files(double *result, fen_error *err)
{
    char penalty[sizeof group_file + 8];
    snprintf(penalty, sizeof penalty, "group:%s", group_file);
    return group(penalty, "", result, err);
}

/* The sentence about an unknown column. */
static fen_status nearest(double *result, fen_error *err)
{
    const fen_status status = group("l1", "aa=2", result, err);
    return status == FEN_BAD_CALL ? FEN_OK : status;
}

static void survives(scenario run)
{
    double reference = 0.0;
    fen_error err = { FEN_OK, "" };
    if (run(&reference, &err) != FEN_OK) fail_msg("undisturbed: %s", err.message);
    int64_t k = 0;
    do {
        double result = 0.0;
        err = (fen_error){ FEN_OK, "" };
        fault_begin(++k);
        const fen_status status = run(&result, &err);
        fault_end(status, 1, &err);
        if (status == FEN_OK) assert_true(result == reference);
    } while (fault.fired);
    assert_true(k > 1);
}

static void test_samples(void **state)
{
    (void)state;
    survives(learn_columns);
    survives(transpose);
    survives(learn_whole);
    survives(multiply);
}

static void test_groups(void **state)
{
    (void)state;
    survives(weights_alone);
    survives(columns);
    survives(prefixes);
    survives(targets);
    survives(files);
    survives(nearest);
}

static int start(void **state)
{
    (void)state;
    fen_options o = options();
    fenp_sample *s = NULL;
    const char wanted[3] = { 0, 1, 0 };
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    sparse = sparse_of("1 1:3 7:1\n2 3:2\n3 1:5 3:4 7:2\n4 3:1\n");
    dense = table_of("a,b_1,b_2,c*,y\n1,2,,r,1\n2,1,4,b,2\n5,7,1,r,3\n");
    o.penalty = "l1";
    if (fenp_prep_learn(sparse, &o, &kept, &s, NULL) != FEN_OK) return -1;
    fenp_sample_free(s);
    fenp_prep_keep(kept, wanted);
    if (fenp_prep_learn(dense, &o, &mixed, &s, NULL) != FEN_OK) return -1;
    fenp_sample_free(s);
    const char *parent = getenv("TMPDIR");
    snprintf(group_file, sizeof group_file, "%s/test_columns.XXXXXX", parent ? parent : "/tmp");
    const int file = mkstemp(group_file);
    const char text[] = "column,group,weight\na,one,1\nb_1,two,2\nb_2,two,2\nc,three,3\n";
    return file < 0 || write(file, text, sizeof text - 1) < 0 || close(file);
}

static int stop(void **state)
{
    (void)state;
    fen_table_free(sparse);
    fen_table_free(dense);
    fenp_prep_free(kept);
    fenp_prep_free(mixed);
    return unlink(group_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
