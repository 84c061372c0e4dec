/* test_faults.c -- every allocation and every call on files fails once
 *
 * A scenario (read, fit, save, load, predict, verify, ...) runs again and again; in run k
 * the k-th allocation, or the k-th call on a file, fails. The end is reached when run k has
 * no k-th call. Law: a fault gives FEN_MEMORY or FEN_IO and a sentence, or is survived
 * without a trace (the results are bit for bit those of an undisturbed run). Either way
 * nothing stays allocated or open, no temporary file stays behind, and a file that was to
 * be replaced is the old one or the new one. Interrupted and short reads and writes are
 * always survived.
 *
 * The linker puts the __wrap_ functions (below and in failing_memory.h) in the place of the
 * library's calls; Jansson's allocations are counted with them. OpenBLAS, zlib and OpenMP
 * allocate unseen. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>

#include "model/model.h"
#include "support/failing_memory.h"

/* ---- the faults ----------------------------------------------------------------------- */

typedef enum fault { NO_FAULT, NO_MEMORY, FILE_ERROR, INTERRUPTED, SHORT_TRANSFER } fault;

static struct {
    fault kind;   /* NO_FAULT outside of a scenario                       */
    int64_t left; /* calls until the fault                                */
    int fired;
    int64_t files; /* files not yet closed                                 */
} now;

static int strikes(fault kind)
{
    if (now.kind != kind || --now.left != 0) return 0;
    now.fired = 1;
    return 1;
}

static int file_strikes(int why)
{
    if (!strikes(FILE_ERROR)) return 0;
    errno = why;
    return 1;
}

static int no_memory(void)
{
    if (!strikes(NO_MEMORY)) return 0;
    errno = ENOMEM;
    return 1;
}

int __real_open(const char *path, int flags, ...);
int __real_close(int file);
ssize_t __real_read(int file, void *out, size_t size);
ssize_t __real_pread(int file, void *out, size_t size, off_t offset);
ssize_t __real_write(int file, const void *at, size_t size);
int __real_flock(int file, int how);
int __real_linkat(int from, const char *name, int to, const char *other, int flags);
int __real_rename(const char *from, const char *to);
int __real_fstat(int file, struct stat *out);
off_t __real_lseek(int file, off_t offset, int whence);

int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int file);
ssize_t __wrap_read(int file, void *out, size_t size);
ssize_t __wrap_pread(int file, void *out, size_t size, off_t offset);
ssize_t __wrap_write(int file, const void *at, size_t size);
int __wrap_fsync(int file);
int __wrap_flock(int file, int how);
int __wrap_linkat(int from, const char *name, int to, const char *other, int flags);
int __wrap_rename(const char *from, const char *to);
int __wrap_fstat(int file, struct stat *out);
off_t __wrap_lseek(int file, off_t offset, int whence);

int __wrap_open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (file_strikes(EMFILE)) return -1;
    int file = __real_open(path, flags, mode);
    now.files += file >= 0;
    return file;
}

int __wrap_close(int file) /* closes even if it says that it failed, as Linux does */
{
    now.files--;
    int answer = __real_close(file);
    return file_strikes(EIO) ? -1 : answer;
}

/* How much of a transfer takes place: all of it, one byte, or -1 and errno. */
static ssize_t transfer(size_t size, int why)
{
    if (file_strikes(why)) return -1;
    if (strikes(INTERRUPTED)) {
        errno = EINTR;
        return -1;
    }
    return strikes(SHORT_TRANSFER) && size > 1 ? 1 : (ssize_t)size;
}

ssize_t __wrap_read(int file, void *out, size_t size)
{
    ssize_t part = transfer(size, EIO);
    return part < 0 ? -1 : __real_read(file, out, (size_t)part);
}

ssize_t __wrap_pread(int file, void *out, size_t size, off_t offset)
{
    ssize_t part = transfer(size, EIO);
    return part < 0 ? -1 : __real_pread(file, out, (size_t)part, offset);
}

ssize_t __wrap_write(int file, const void *at, size_t size)
{
    ssize_t part = transfer(size, ENOSPC);
    return part < 0 ? -1 : __real_write(file, at, (size_t)part);
}

int __wrap_fsync(int file) /* thousands of real ones would take minutes */
{
    (void)file;
    return file_strikes(EIO) ? -1 : 0;
}

int __wrap_flock(int file, int how) { return file_strikes(ENOLCK) ? -1 : __real_flock(file, how); }

int __wrap_linkat(int from, const char *name, int to, const char *other, int flags)
{
    return file_strikes(EXDEV) ? -1 : __real_linkat(from, name, to, other, flags);
}

int __wrap_rename(const char *from, const char *to)
{
    return file_strikes(EACCES) ? -1 : __real_rename(from, to);
}

int __wrap_fstat(int file, struct stat *out)
{
    return file_strikes(EIO) ? -1 : __real_fstat(file, out);
}

off_t __wrap_lseek(int file, off_t offset, int whence)
{
    return file_strikes(EIO) ? -1 : __real_lseek(file, offset, whence);
}

/* ---- files ---------------------------------------------------------------------------- */

static const char old_text[] = "what was here before\n";
static char folder[4096];

static char *in_folder(const char *name) /* two at a time */
{
    static char path[2][4200];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void put(const char *name, const char *text)
{
    FILE *out = fopen(in_folder(name), "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static int is_old(const char *name)
{
    char text[64] = "";
    FILE *in = fopen(in_folder(name), "r");
    size_t got = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in) fclose(in);
    return got == strlen(old_text) && strcmp(text, old_text) == 0;
}

/* Files in the folder whose name speaks of a temporary file. */
static int strays(void)
{
    int count = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));)
        count += strstr(entry->d_name, ".tmp") != NULL;
    closedir(list);
    return count;
}

/* ---- scenarios ------------------------------------------------------------------------ */

typedef struct outcome {
    fen_status status;
    fen_error err;
    uint64_t digest;    /* of all results                                       */
    const char *output; /* file that is being replaced, while it is             */
} outcome;

static void digest(outcome *o, const void *at, size_t size)
{
    const unsigned char *byte = at;
    for (size_t i = 0; i < size; i++) o->digest = (o->digest ^ byte[i]) * 0x100000001b3u;
}

static int fine(outcome *o, fen_status status)
{
    o->status = status;
    return status == FEN_OK;
}

/* While a file is being replaced; from then on it may be either. */
static int replaced(outcome *o, fen_status status)
{
    if (status == FEN_OK) o->output = NULL;
    return fine(o, status);
}

static void digest_file(outcome *o, const char *name)
{
    char text[4096];
    fault kind = now.kind;
    now.kind = NO_FAULT;
    FILE *in = fopen(in_folder(name), "r");
    assert_non_null(in);
    for (size_t got; (got = fread(text, 1, sizeof text, in)) > 0;) digest(o, text, got);
    fclose(in);
    now.kind = kind;
}

static fen_options options(void)
{
    fen_options o = fen_options_default();
    o.threads = 1; /* the k-th call is the same one every time */
    return o;
}

static int decide(outcome *o, const fen_model *m, const double *scores, int64_t rows)
{
    double laws[64];
    int64_t codes[16], classes = fen_model_classes(m);
    if (classes == 0) return 1;
    if (!fine(o, fen_decide(m, scores, rows, codes, laws, &o->err))) return 0;
    digest(o, codes, (size_t)rows * sizeof *codes);
    digest(o, laws, (size_t)(rows * classes) * sizeof *laws);
    return 1;
}

static int predict(outcome *o, const fen_model *m, const fen_table *table, const fen_options *opt)
{
    double scores[64], labels[64];
    int64_t count = fen_table_rows(table) * fen_model_targets(m);
    if (!fine(o, fen_predict_table(m, table, opt, scores, labels, &o->err))) return 0;
    digest(o, scores, (size_t)count * sizeof *scores);
    digest(o, labels, (size_t)count * sizeof *labels);
    return decide(o, m, scores, fen_table_rows(table));
}

static int verify(outcome *o, const fen_model *m, const fen_table *table, const fen_options *opt)
{
    fen_certificate c[4];
    int holds = 0;
    memset(c, 0, sizeof c);
    if (!fine(o, fen_verify(m, table, opt, NULL, c, &holds, &o->err))) return 0;
    assert_true(holds);
    digest(o, &c[0].primal, 8 * sizeof(double));
    return 1;
}

static int describe(outcome *o, const fen_model *m)
{
    char *text = NULL;
    if (!fine(o, fen_model_json(m, &text, &o->err))) return 0;
    digest(o, text, strlen(text));
    fen_text_free(text);
    return 1;
}

/* read -> fit -> predict -> verify */
static void short_life(outcome *o, const char *data, const fen_options *opt)
{
    fen_table *table = NULL;
    fen_model *m = NULL;
    if (fine(o, fen_table_read(in_folder(data), opt, NULL, &table, &o->err)) &&
        fine(o, fen_fit(table, opt, NULL, &m, &o->err)) && predict(o, m, table, opt))
        verify(o, m, table, opt);
    fen_table_free(table);
    fen_model_free(m);
}

/* read -> fit -> save -> load -> predict -> verify -> describe */
static void whole_life(outcome *o, const char *data, const fen_options *opt)
{
    fen_table *table = NULL;
    fen_model *m = NULL, *back = NULL;
    if (fine(o, fen_table_read(in_folder(data), opt, NULL, &table, &o->err)) &&
        fine(o, fen_fit(table, opt, NULL, &m, &o->err))) {
        m->seconds = 0; /* the one thing that differs from run to run */
        o->output = "model.fen";
        if (replaced(o, fen_model_save(m, in_folder("model.fen"), &o->err)) &&
            fine(o, fen_model_load(in_folder("model.fen"), &back, &o->err)) &&
            predict(o, back, table, opt) && verify(o, back, table, opt) && describe(o, back))
            digest_file(o, "model.fen");
    }
    fen_table_free(table);
    fen_model_free(m);
    fen_model_free(back);
}

static void selected_gaussian(outcome *o)
{
    fen_options opt = options();
    opt.lambda = (fen_values){ FEN_GIVEN, 2, { 1e-3, 1e-2 } };
    whole_life(o, "train.csv", &opt);
}

static void weighted_kfold(outcome *o)
{
    fen_options opt = options();
    opt.weights = "w";
    opt.select = "kfold:3";
    opt.kernel = "matern32";
    opt.gamma = fen_value(0.5);
    opt.lambda = (fen_values){ FEN_GIVEN, 2, { 1e-3, 1e-2 } };
    short_life(o, "weighted.csv", &opt);
}

static void two_targets(outcome *o)
{
    fen_options opt = options();
    opt.target = "z,y";
    opt.kernel = "linear";
    opt.lambda = fen_value(1e-3);
    whole_life(o, "two.csv.gz", &opt);
}

/* Pairs of three classes with weights and sigmoids; the rows that are kept, the labels. */
static void classes(outcome *o)
{
    fen_options opt = options();
    opt.multiclass = "ovo";
    opt.loss = "sqhinge";
    opt.class_weights = "ebb=2";
    opt.probability = 1;
    opt.gamma = fen_value(0.3);
    opt.lambda = fen_value(1e-2);
    whole_life(o, "classes.csv", &opt);
}

static void two_classes(outcome *o)
{
    fen_options opt = options();
    opt.target = "colour";
    opt.class_weights = "balanced";
    opt.gamma = fen_value(0.3);
    opt.lambda = fen_value(1e-2);
    short_life(o, "train.csv", &opt);
}

/* The root in the parameter of the loss, and its copies of both ends. */
static void free_parameter(outcome *o)
{
    fen_options opt = options();
    opt.loss = "eps";
    opt.nu = 0.3;
    opt.gamma = fen_value(0.3);
    opt.lambda = fen_value(1e-2);
    short_life(o, "train.csv", &opt);
}

/* Two outputs of one column at another power, and refits to choose by. */
static void quantiles(outcome *o)
{
    fen_options opt = options();
    opt.loss = "pinball:0.2,0.8";
    opt.power = fen_value(1.5);
    opt.select = "kfold:2";
    opt.gamma = fen_value(0.3);
    opt.lambda = (fen_values){ FEN_GIVEN, 2, { 1e-2, 1e-1 } };
    whole_life(o, "train.csv", &opt);
}

/* Penalties on coefficients: folds along lambdas, all groups in the file. */
static void lasso(outcome *o)
{
    fen_options opt = options();
    opt.penalty = "l1";
    opt.feature_weights = "size=2";
    opt.select = "1se:2";
    opt.lambda = (fen_values){ FEN_GIVEN, 2, { 1e-2, 1e-1 } };
    whole_life(o, "train.csv", &opt);
}

static void joint_groups(outcome *o)
{
    fen_options opt = options();
    opt.penalty = "group:targets";
    opt.target = "z,y";
    opt.lambda = fen_value(1e-2);
    whole_life(o, "two.csv.gz", &opt);
}

static void least_squares(outcome *o)
{
    fen_options opt = options();
    opt.penalty = "none";
    whole_life(o, "train.csv", &opt);
}

static void least_deviations(outcome *o)
{
    fen_options opt = options();
    opt.penalty = "elastic:0.5";
    opt.loss = "absolute";
    opt.lambda = fen_value(1e-2);
    short_life(o, "train.csv", &opt);
}

static void kernel_lasso(outcome *o)
{
    fen_options opt = options();
    opt.penalty = "l1";
    opt.kernel = "gaussian";
    opt.gamma = (fen_values){ FEN_GIVEN, 2, { 0.1, 0.3 } };
    opt.lambda = fen_value(1e-2);
    whole_life(o, "train.csv", &opt);
}

static void sparse_lasso(outcome *o)
{
    fen_options opt = options();
    opt.penalty = "l1";
    opt.lambda = fen_value(1e-1);
    whole_life(o, "train.svm", &opt);
}

static void sparse_rows(outcome *o)
{
    fen_options opt = options();
    opt.kernel = "linear";
    opt.lambda = fen_value(1e-2);
    opt.engine = "cholesky";
    short_life(o, "train.svm", &opt);
}

static void binary_rows(outcome *o)
{
    fen_options opt = options();
    opt.gamma = fen_value(0.3);
    opt.lambda = fen_value(1e-2);
    short_life(o, "train.npy", &opt);
}

/* Random features with tangents, gamma on a part of the rows, lambda on all. */
static void features(outcome *o)
{
    fen_options opt = options();
    opt.approx = "orthogonal:6";
    opt.power = fen_value(0.5);
    opt.gamma = (fen_values){ .choice = FEN_GIVEN, .count = 2, .at = { 0.3, 0.5 } };
    opt.lambda = (fen_values){ .choice = FEN_GIVEN, .count = 2, .at = { 1e-3, 1e-2 } };
    whole_life(o, "train.csv", &opt);
}

/* The same without a table. */
static void streamed_features(outcome *o)
{
    fen_options opt = options();
    fen_certificate c = { 0 };
    fen_model *m = NULL;
    int holds = 0;
    opt.approx = "fourier:6";
    opt.gamma.choice = FEN_RULE;
    opt.lambda = fen_value(1e-3);
    if (fine(o, fen_fit_file(in_folder("train.npy"), &opt, NULL, &m, &o->err)) &&
        fine(o, fen_verify_file(m, in_folder("train.npy"), &opt, NULL, &c, &holds, &o->err))) {
        assert_true(holds);
        digest(o, m->feature_weights, 6 * sizeof(double));
        digest(o, &c.primal, 8 * sizeof(double));
    }
    fen_model_free(m);
}

static void convert(outcome *o, const char *from, const char *to)
{
    fen_options opt = options();
    int64_t rows = 0;
    o->output = to;
    if (!replaced(o, fen_convert(in_folder(from), in_folder(to), NULL, &opt, NULL, &rows, &o->err)))
        return;
    digest(o, &rows, sizeof rows);
    digest_file(o, to);
}

static void csv_to_npy(outcome *o) { convert(o, "numbers.csv", "out.npy"); }
static void csv_to_csv(outcome *o) { convert(o, "train.csv", "out.csv"); }
static void npy_to_svmlight(outcome *o) { convert(o, "train.npy", "out.svm"); }
static void svmlight_to_csv(outcome *o) { convert(o, "train.svm", "out.csv"); }

static void generated(outcome *o)
{
    fen_options opt = options();
    fen_table *table = NULL;
    opt.rows = 20;
    o->output = "out.csv";
    if (fine(o, fen_table_generate("friedman", &opt, &table, &o->err)) &&
        replaced(o, fen_table_write(table, in_folder("out.csv"), NULL, &o->err)))
        digest_file(o, "out.csv");
    fen_table_free(table);
}

static void copied(outcome *o)
{
    fen_options opt = options();
    double cells[24], labels[12], scores[12];
    fen_table *table = NULL;
    fen_model *m = NULL;
    for (int i = 0; i < 24; i++) cells[i] = (i * 7) % 11;
    for (int i = 0; i < 12; i++) labels[i] = cells[2 * i] - 0.5 * cells[2 * i + 1];
    opt.gamma = fen_value(0.1);
    opt.lambda = fen_value(1e-2);
    fen_view rows = { cells, 12, 2, 2 }, y = { labels, 12, 1, 1 };
    if (fine(o, fen_table_copy(rows, y, NULL, &table, &o->err)) &&
        fine(o, fen_fit(table, &opt, NULL, &m, &o->err)) &&
        fine(o, fen_predict(m, rows, NULL, NULL, scores, &o->err)))
        digest(o, scores, sizeof scores);
    fen_table_free(table);
    fen_model_free(m);
}

/* More than a buffer full: writes fail before the end, too. */
static void large_model(outcome *o)
{
    enum { ROWS = 100, COLS = 400 };
    static double cells[ROWS * COLS], labels[ROWS];
    fen_options opt = options();
    fen_table *table = NULL;
    fen_model *m = NULL;
    for (int i = 0; i < ROWS * COLS; i++) cells[i] = (i * 7919) % 1013;
    for (int i = 0; i < ROWS; i++) labels[i] = cells[i * COLS];
    opt.gamma = fen_value(1e-3);
    opt.lambda = fen_value(1e-2);
    fen_view rows = { cells, ROWS, COLS, COLS }, y = { labels, ROWS, 1, 1 };
    o->output = "model.fen";
    if (fine(o, fen_table_copy(rows, y, NULL, &table, &o->err)) &&
        fine(o, fen_fit(table, &opt, NULL, &m, &o->err))) {
        m->seconds = 0;
        if (replaced(o, fen_model_save(m, in_folder("model.fen"), &o->err)))
            digest_file(o, "model.fen");
    }
    fen_table_free(table);
    fen_model_free(m);
}

static void selection_table(outcome *o)
{
    fen_options opt = options();
    fen_table *table = NULL;
    char *json = NULL;
    opt.gamma = fen_value(0.3);
    if (fine(o, fen_table_read(in_folder("train.csv"), &opt, NULL, &table, &o->err)) &&
        fine(o, fen_select(table, &opt, NULL, &json, &o->err)))
        digest(o, json, strlen(json));
    fen_text_free(json);
    fen_table_free(table);
}

/* Powers on both sides of 1, and f = 0 at the larger lambda. */
static void solution_path(outcome *o)
{
    fen_options opt = options();
    fen_table *table = NULL;
    char *json = NULL;
    opt.gamma = fen_value(0.3);
    opt.power = (fen_values){ .choice = FEN_GIVEN, .count = 3, .at = { 0.5, 1, 3 } };
    opt.lambda = (fen_values){ .choice = FEN_GIVEN, .count = 2, .at = { 0.01, 1e6 } };
    if (fine(o, fen_table_read(in_folder("train.csv"), &opt, NULL, &table, &o->err)) &&
        fine(o, fen_path(table, &opt, NULL, &json, &o->err)))
        digest(o, json, strlen(json));
    fen_text_free(json);
    fen_table_free(table);
}

static void planned(outcome *o)
{
    fen_options opt = options();
    double cells[24] = { 1, 2, 3, 4 };
    fen_table *table = NULL;
    fen_plan plan;
    fen_view rows = { cells, 8, 2, 3 }, y = { cells + 2, 8, 1, 3 };
    if (fine(o, fen_table_copy(rows, y, NULL, &table, &o->err)) &&
        fine(o, fen_plan_fit(table, &opt, &plan, &o->err)))
        digest(o, plan.method, strlen(plan.method));
    fen_table_free(table);
}

/* ---- the law -------------------------------------------------------------------------- */

static void restore_outputs(void)
{
    static const char *const outputs[] = { "model.fen", "out.csv", "out.npy", "out.svm" };
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (!is_old(outputs[i])) {
            unlink(in_folder(outputs[i])); /* truncating would make some file systems sync */
            put(outputs[i], old_text);
        }
}

/* Runs the scenario with the k-th call of its kind failing. */
static outcome run(void (*scenario)(outcome *o), fault kind, int64_t k)
{
    outcome o = { .digest = 0xcbf29ce484222325u };
    restore_outputs();
    int64_t memory = memory_in_use, files = now.files;
    now.kind = kind, now.left = k, now.fired = 0;
    scenario(&o);
    now.kind = NO_FAULT;
    if (memory_in_use != memory)
        fail_msg("call %ld fails: %ld allocations stay", (long)k, (long)(memory_in_use - memory));
    if (now.files != files)
        fail_msg("call %ld fails: %ld files stay open", (long)k, (long)(now.files - files));
    if (strays()) fail_msg("call %ld fails: a temporary file stays behind", (long)k);
    if (o.status != FEN_OK && o.output && !is_old(o.output))
        fail_msg("call %ld fails: %s is neither old nor whole", (long)k, o.output);
    return o;
}

static void survives(void (*scenario)(outcome *o), fault kind, const char *name)
{
    outcome reference = run(scenario, NO_FAULT, 0);
    if (reference.status != FEN_OK) fail_msg("undisturbed: %s", reference.err.message);
    int64_t k = 1, unharmed = 0;
    for (;; k++) {
        outcome o = run(scenario, kind, k);
        if (!now.fired) break;
        if (o.status == FEN_OK) {
            unharmed++;
            if (o.digest != reference.digest) fail_msg("call %ld fails: results change", (long)k);
        } else if (kind == INTERRUPTED || kind == SHORT_TRANSFER) {
            fail_msg("call %ld is cut short: %s", (long)k, o.err.message);
        } else if ((o.status != FEN_MEMORY && o.status != FEN_IO) || o.err.status != o.status ||
                   !o.err.message[0]) {
            fail_msg("call %ld fails: status %d, %s", (long)k, (int)o.status, o.err.message);
        }
    }
    assert_true(k > 1 || kind != NO_MEMORY);
    print_message("%s: %ld calls, %ld of them dispensable\n", name, (long)(k - 1), (long)unharmed);
}

static void survives_all(void (*scenario)(outcome *o))
{
    survives(scenario, NO_MEMORY, "memory");
    survives(scenario, FILE_ERROR, "files");
    survives(scenario, INTERRUPTED, "interrupted");
    survives(scenario, SHORT_TRANSFER, "short");
}

static void test_selected_gaussian(void **state) { (void)state, survives_all(selected_gaussian); }
static void test_weighted_kfold(void **state) { (void)state, survives_all(weighted_kfold); }
static void test_two_targets(void **state) { (void)state, survives_all(two_targets); }
static void test_classes(void **state) { (void)state, survives_all(classes); }
static void test_two_classes(void **state) { (void)state, survives_all(two_classes); }
static void test_free_parameter(void **state) { (void)state, survives_all(free_parameter); }
static void test_quantiles(void **state) { (void)state, survives_all(quantiles); }
/* Of files the other scenarios say enough. */
static void test_lasso(void **state) { (void)state, survives(lasso, NO_MEMORY, "memory"); }
static void test_joint_groups(void **state)
{
    (void)state, survives(joint_groups, NO_MEMORY, "memory");
}
static void test_least_squares(void **state)
{
    (void)state, survives(least_squares, NO_MEMORY, "memory");
}
static void test_least_deviations(void **state)
{
    (void)state, survives(least_deviations, NO_MEMORY, "memory");
}
static void test_kernel_lasso(void **state)
{
    (void)state, survives(kernel_lasso, NO_MEMORY, "memory");
}
static void test_sparse_lasso(void **state)
{
    (void)state, survives(sparse_lasso, NO_MEMORY, "memory");
}
static void test_sparse_rows(void **state) { (void)state, survives_all(sparse_rows); }
static void test_binary_rows(void **state) { (void)state, survives_all(binary_rows); }
static void test_features(void **state) { (void)state, survives_all(features); }
static void test_streamed_features(void **state) { (void)state, survives_all(streamed_features); }
static void test_csv_to_npy(void **state) { (void)state, survives_all(csv_to_npy); }
static void test_csv_to_csv(void **state) { (void)state, survives_all(csv_to_csv); }
static void test_npy_to_svmlight(void **state) { (void)state, survives_all(npy_to_svmlight); }
static void test_svmlight_to_csv(void **state) { (void)state, survives_all(svmlight_to_csv); }
static void test_generated(void **state) { (void)state, survives_all(generated); }
static void test_copied(void **state) { (void)state, survives_all(copied); }
static void test_selection_table(void **state) { (void)state, survives_all(selection_table); }
static void test_solution_path(void **state) { (void)state, survives_all(solution_path); }
static void test_large_model(void **state)
{
    (void)state, survives(large_model, FILE_ERROR, "files");
    survives(large_model, SHORT_TRANSFER, "short");
}
static void test_planned(void **state) { (void)state, survives(planned, NO_MEMORY, "memory"); }

/* ---- the data ------------------------------------------------------------------------- */

/* Twelve rows; text, a gap and a constant column in the first file. */
static void write_data(void)
{
    char train[2048] = "age,colour,size,zone,y\n", numbers[2048] = "a,b,y\n";
    char weighted[2048] = "a,w,y\n", two[2048] = "a,b,z,y\n", sparse[2048] = "";
    static const char *const colours[] = { "red", "\"blue, dark\"", "" };
    static const char *const tides[] = { "flow", "ebb", "slack" };
    char labelled[2048] = "a,b,tide\n";
    for (int i = 0; i < 12; i++) {
        int a = i * 7 % 12, b = i * 5 % 12;
        char age[16] = "";
        if (i != 4) snprintf(age, sizeof age, "%d", a);
        sprintf(train + strlen(train), "%s,%s,%d.5,7,%d\n", age, colours[i % 3], b, a * b % 10);
        sprintf(labelled + strlen(labelled), "%d,%d,%s\n", a, b, tides[(a + b / 4) % 3]);
        sprintf(numbers + strlen(numbers), "%d,%d.25,%d\n", a, b, a * b % 10);
        sprintf(weighted + strlen(weighted), "%d,%d,%d\n", a, 1 + i % 3, a * b % 10);
        sprintf(two + strlen(two), "%d,%d,%d,%d\n", a, b, a + b, a * b % 10);
        sprintf(sparse + strlen(sparse), "%d %d:1 %d:0.5\n", a, 1 + i % 4, 6 + i % 2);
    }
    put("train.csv", train);
    put("numbers.csv", numbers);
    put("classes.csv", labelled);
    put("weighted.csv", weighted);
    put("two.csv", two);
    put("train.svm", sparse);
}

static int make_folder(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    fen_options opt = options();
    snprintf(folder, sizeof folder, "%s/test_faults.XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder)) return -1;
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    write_data();
    char command[9000];
    snprintf(command, sizeof command, "gzip '%s'", in_folder("two.csv"));
    return system(command) != 0 || fen_convert(in_folder("numbers.csv"), in_folder("train.npy"),
                                               NULL, &opt, NULL, NULL, NULL) != FEN_OK;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[5000];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selected_gaussian),
        cmocka_unit_test(test_weighted_kfold),
        cmocka_unit_test(test_two_targets),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_free_parameter),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_lasso),
        cmocka_unit_test(test_joint_groups),
        cmocka_unit_test(test_least_squares),
        cmocka_unit_test(test_least_deviations),
        cmocka_unit_test(test_kernel_lasso),
        cmocka_unit_test(test_sparse_lasso),
        cmocka_unit_test(test_sparse_rows),
        cmocka_unit_test(test_binary_rows),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_streamed_features),
        cmocka_unit_test(test_csv_to_npy),
        cmocka_unit_test(test_csv_to_csv),
        cmocka_unit_test(test_npy_to_svmlight),
        cmocka_unit_test(test_svmlight_to_csv),
        cmocka_unit_test(test_generated),
        cmocka_unit_test(test_copied),
        cmocka_unit_test(test_large_model),
        cmocka_unit_test(test_selection_table),
        cmocka_unit_test(test_solution_path),
        cmocka_unit_test(test_planned),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
