/* test_svm_faults.c -- every allocation fails once while LIBSVM's files are read, machines are
 * trained, models saved, loaded and used
 *
 * The law: support/one_fault.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "support/one_fault.h"
#include "svm/parts.h"

int __wrap_fsync(int file);

int __wrap_fsync(int file) /* hundreds of models are saved here */
{
    (void)file;
    return 0;
}

/* ---- the scenarios --------------------------------------------------------------------- */

enum { ROWS = 15 };
static char text[1 << 14], path[] = "svm-fault-XXXXXX";

/* Three classes on a line, or their numbers; serials and kernel values for -t 4. */
static void write_rows(int given)
{
    char *at = text;
    for (int i = 0; i < ROWS; i++) {
        at += sprintf(at, "%d", i * 3 / ROWS);
        if (!given) {
            at += sprintf(at, " 1:%d.%d 4:%d\n", i, i * 7 % 10, i % 5);
            continue;
        }
        at += sprintf(at, " 0:%d", i + 1);
        for (int j = 0; j < ROWS; j++) at += sprintf(at, " %d:%g", j + 1, 1.0 / (1 + abs(i - j)));
        at += sprintf(at, "\n");
    }
    assert_true(at < text + sizeof text);
}

/* Reads, trains, saves, loads, predicts; where there are no folds for probabilities, also
 * cross-validates. */
static fen_status everything(const fen_svm_options *o, double *answers, fen_error *err)
{
    fen_bytes *in = NULL;
    fen_svm_data *data = NULL;
    fen_svm *model = NULL, *again = NULL;
    double law[3 * ROWS];
    const int with = o->probability && o->type == FEN_SVM_C_SVC;
    fen_status status = fenp_bytes_from_memory("t", text, (int64_t)strlen(text), &in, err);
    if (status == FEN_OK) status = fenp_svm_data_parse(in, &data, err);
    if (status == FEN_OK) status = fen_svm_train(data, o, NULL, &model, err);
    if (status == FEN_OK) status = fen_svm_save(model, path, err);
    if (status == FEN_OK) status = fen_svm_load(path, &again, err);
    if (status == FEN_OK)
        status = fen_svm_predict(again, data, 0, ROWS, answers, NULL, with ? law : NULL, err);
    if (status == FEN_OK && !o->probability)
        status = fen_svm_cross_validate(data, o, 2, NULL, answers + ROWS, err);
    fen_svm_free(model);
    fen_svm_free(again);
    fen_svm_data_free(data);
    fenp_bytes_close(in);
    return status;
}

static void run_all(const fen_svm_options *o)
{
    double expected[2 * ROWS] = { 0 }, found[2 * ROWS] = { 0 };
    fen_error err = { FEN_OK, "" };
    if (everything(o, expected, &err) != FEN_OK) fail_msg("%s", err.message);
    int64_t k = 0;
    do {
        err = (fen_error){ FEN_OK, "" };
        fault_begin(++k);
        const fen_status status = everything(o, found, &err);
        fault_end(status, 1, &err);
        if (status == FEN_OK) assert_memory_equal(found, expected, sizeof found);
    } while (fault.fired);
    assert_true(k > 50);
}

static void test_types(void **state)
{
    (void)state;
    write_rows(0);
    for (int type = 0; type < FEN_SVM_TYPES; type++) {
        fen_svm_options o = fen_svm_options_default();
        o.type = (fen_svm_type)type;
        o.threads = 1;
        o.nu = 0.25;
        run_all(&o);
    }
}

static void test_probabilities_and_kernels(void **state)
{
    (void)state;
    for (int kernel = 0; kernel < FEN_SVM_KERNELS; kernel++) {
        fen_svm_options o = fen_svm_options_default();
        write_rows(kernel == FEN_SVM_PRECOMPUTED);
        o.kernel = (fen_svm_kernel)kernel;
        o.degree = 1;
        o.gamma = 0.0625;
        o.threads = 1;
        o.type = kernel % 2 ? FEN_SVM_EPSILON_SVR : FEN_SVM_C_SVC;
        o.probability = 1;
        run_all(&o);
    }
}

static int make_path(void **state)
{
    (void)state;
    return close(mkstemp(path));
}

static int drop_path(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_probabilities_and_kernels),
    };
    return cmocka_run_group_tests(tests, make_path, drop_path);
}
