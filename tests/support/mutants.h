/* mutants.h -- models of every family, their files changed here and there, and what verify says
 *
 * Law: where the file still loads and verify holds on the training rows, it predicts what the
 * original predicts, on these rows and on others: scores to SAME of their spread, classes alike.
 * A certificate tells a function by its objective, which is flat at the optimum: a relative gap
 * within the tolerance of 1e-6 leaves 1e-3 of the function (a bias changed by a thousandth holds). */
#ifndef MUTANTS_H
#define MUTANTS_H
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "data/table.h"
#include "model/model.h"
#include "support/mutate_header.h"

enum { TRAINING_ROWS = 20, FRESH_ROWS = 8, MUTANT_ROOM = 1 << 17 };
static const double SAME = 1e-3; /* the root of the tolerance of the gap */

typedef struct family {
    const char *name, *target, *loss, *penalty, *kernel, *approx, *task;
    int probability;
} family;
static const family families[] = {
    { "ridge", "y", "square", "rkhs", "gaussian", "none", "auto", 0 },
    { "linear", "y", "square", "rkhs", "linear", "none", "auto", 0 },
    { "polynomial", "y", "absolute", "rkhs", "polynomial", "none", "auto", 0 },
    { "svr", "y", "eps:0.2", "rkhs", "laplace", "none", "auto", 0 },
    { "quantiles", "y", "pinball:0.2,0.8", "rkhs", "gaussian", "none", "auto", 0 },
    { "two targets", "y,z", "square", "rkhs", "matern32", "none", "auto", 0 },
    { "logistic", "c", "logistic", "rkhs", "gaussian", "none", "auto", 1 },
    { "svm", "c", "hinge", "rkhs", "gaussian", "none", "auto", 0 },
    { "three classes", "t", "logistic", "rkhs", "gaussian", "none", "auto", 0 },
    { "lasso", "y", "square", "l1", "linear", "none", "auto", 0 },
    { "elastic", "y", "huber:1", "elastic:0.5", "linear", "none", "auto", 0 },
    { "group", "y", "square", "group:auto", "linear", "none", "auto", 0 },
    { "least squares", "y", "square", "none", "linear", "none", "auto", 0 },
    { "fourier", "y", "square", "rkhs", "gaussian", "fourier:6", "auto", 0 },
    { "lp", "y", "square", "lp:4/3", "tensor-polynomial", "none", "auto", 0 },
};
enum { FAMILIES = sizeof families / sizeof *families };

/* A model as it was saved, and what it says. */
typedef struct original {
    fen_options o;
    unsigned char *file;
    size_t size;
    double *scores; /* of the training rows and the fresh ones */
    int64_t targets, classes;
    int64_t codes[TRAINING_ROWS + FRESH_ROWS];
} original;

static fen_table *training, *fresh;
static original originals[FAMILIES];

/* Rows with a gap, a text and targets of every kind; the fresh ones have a text that is unseen. */
static inline fen_table *make_rows(int rows, int from)
{
    char text[8192], path[64];
    size_t used = (size_t)snprintf(text, sizeof text, "a,b,g,y,z,c,t\n");
    for (int i = from; i < from + rows; i++) {
        const double a = sin(1.3 * i), b = cos(0.7 * i * i);
        char gap[32] = "";
        if (i % 7) snprintf(gap, sizeof gap, "%.6f", b);
        used += (size_t)snprintf(text + used, sizeof text - used, "%.6f,%s,%s,%.6f,%.6f,%s,%s\n", a,
                                 gap, from && i % 4 == 0 ? "new" : i % 3 ? "u" : "v",
                                 a * a + b + 0.1 * sin(5.0 * i), a - b, a + b > 0 ? "yes" : "no",
                                 a > 0.4 ? "p" : b > 0 ? "q" : "r");
    }
    fen_table *table = NULL;
    const fen_options o = fen_options_default();
    const int file = memfd_create("rows.csv", MFD_CLOEXEC);
    if (file < 0 || write(file, text, used) != (ssize_t)used) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (fen_table_read(path, &o, NULL, &table, NULL) != FEN_OK) abort();
    close(file);
    return table;
}

/* Scores of both tables; 0: there are none. */
static inline int predict_all(const fen_model *m, double *scores, int64_t *codes)
{
    const int64_t targets = fen_model_targets(m), rows = TRAINING_ROWS + FRESH_ROWS;
    fen_options o = fen_options_default();
    o.threads = 1;
    if (fen_predict_table(m, training, &o, scores, NULL, NULL) != FEN_OK ||
        fen_predict_table(m, fresh, &o, scores + TRAINING_ROWS * targets, NULL,
                          NULL) != FEN_OK)
        return 0;
    return fen_model_classes(m) == 0 || fen_decide(m, scores, rows, codes, NULL, NULL) == FEN_OK;
}

static inline fen_options options_of(const family *f)
{
    fen_options o = fen_options_default();
    fen_error err;
    const char *const words[][2] = { { "target", f->target }, { "loss", f->loss },
                                     { "penalty", f->penalty }, { "kernel", f->kernel },
                                     { "approx", f->approx }, { "task", f->task },
                                     { "lambda", "0.05" }, { "gamma", "0.3" }, { "threads", "1" } };
    const int none = strcmp(f->penalty, "none") == 0;
    const int has_gamma = strcmp(f->kernel, "linear") != 0 && strncmp(f->kernel, "tensor", 6) != 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if ((none && strcmp(words[i][0], "lambda") == 0) ||
            (!has_gamma && strcmp(words[i][0], "gamma") == 0))
            continue;
        if (fen_options_set(&o, words[i][0], words[i][1], &err) != FEN_OK) {
            fprintf(stderr, "%s: %s\n", f->name, err.message);
            abort();
        }
    }
    if (f->probability && fen_options_set(&o, "probability", NULL, &err) != FEN_OK) abort();
    return o;
}

static inline fen_status load_bytes(const unsigned char *at, size_t size, fen_model **m)
{
    char path[64];
    const int file = memfd_create("model", MFD_CLOEXEC);
    if (file < 0 || write(file, at, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const fen_status status = fen_model_load(path, m, NULL);
    close(file);
    return status;
}

static inline void make_original(const family *f, original *of)
{
    fen_model *m = NULL;
    fen_error err = { FEN_OK, "" };
    char path[64];
    const int file = memfd_create("model", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    of->o = options_of(f);
    if (file < 0 || fen_fit(training, &of->o, NULL, &m, &err) != FEN_OK ||
        fen_model_save(m, path, &err) != FEN_OK) {
        fprintf(stderr, "%s: %s\n", f->name, err.message);
        abort();
    }
    of->file = malloc(MUTANT_ROOM);
    const ssize_t size = of->file ? pread(file, of->file, MUTANT_ROOM, 0) : 0;
    if (size <= 0 || size == MUTANT_ROOM) abort();
    of->size = (size_t)size;
    close(file);
    of->targets = fen_model_targets(m), of->classes = fen_model_classes(m);
    of->scores = fenp_new((TRAINING_ROWS + FRESH_ROWS) * of->targets, sizeof *of->scores);
    if (!of->scores || !predict_all(m, of->scores, of->codes)) abort();
    fen_model_free(m);
}

static inline void make_originals(void)
{
    if (training) return;
    training = make_rows(TRAINING_ROWS, 0);
    fresh = make_rows(FRESH_ROWS, 1000);
    for (int k = 0; k < FAMILIES; k++) make_original(&families[k], &originals[k]);
}

static inline void free_originals(void)
{
    for (int k = 0; k < FAMILIES; k++) {
        free(originals[k].file);
        free(originals[k].scores);
    }
    fen_table_free(training);
    fen_table_free(fresh);
    training = fresh = NULL;
}

/* One number of the arrays: a bit of it, a bit more of it, or another one. */
static inline void mutate_number(unsigned char *file, size_t size, unsigned seed)
{
    uint64_t length;
    memcpy(&length, file, sizeof length);
    const size_t arrays = sizeof length + length, count = (size - arrays) / 8;
    if (count == 0) return;
    unsigned char *at = file + arrays + 8 * (draw(&seed, 1u << 20) % count);
    double value;
    memcpy(&value, at, sizeof value);
    switch (draw(&seed, 4)) {
    case 0: at[draw(&seed, 8)] ^= (unsigned char)(1u << draw(&seed, 8)); return;
    case 1: value *= 1.0 + 1e-3; break;
    case 2: value += ((int)draw(&seed, 5) - 2) * 0.01; break;
    default: value = (int)draw(&seed, 9) - 4; break;
    }
    memcpy(at, &value, sizeof value);
}

/* One digit of the numbers in the header, which json does not notice. */
static inline void mutate_digit(unsigned char *file, unsigned seed)
{
    uint64_t length;
    memcpy(&length, file, sizeof length);
    for (int tries = 0; tries < 64; tries++) {
        unsigned char *at = file + sizeof length + draw(&seed, (unsigned)length);
        if (*at < '0' || *at > '9') continue;
        *at = (unsigned char)('0' + draw(&seed, 10));
        return;
    }
}

static inline size_t mutate_file(unsigned char *file, size_t size, unsigned seed)
{
    switch (draw(&seed, 4)) {
    case 0: {
        const size_t other = mutate_header(file, size, MUTANT_ROOM, seed);
        return other ? other : size;
    }
    case 1: mutate_digit(file, seed); return size;
    default: mutate_number(file, size, seed); return size;
    }
}

static inline double difference(const original *of, const double *scores, const int64_t *codes)
{
    const int64_t rows = TRAINING_ROWS + FRESH_ROWS;
    double worst = 0.0;
    for (int64_t t = 0; t < of->targets; t++) {
        double low = INFINITY, high = -INFINITY, far = 0.0;
        for (int64_t i = 0; i < rows; i++) {
            const double was = of->scores[i * of->targets + t];
            low = fmin(low, was), high = fmax(high, was);
            far = fmax(far, fabs(scores[i * of->targets + t] - was));
        }
        worst = fmax(worst, far / (high - low));
    }
    for (int64_t i = 0; of->classes > 0 && i < rows; i++)
        if (codes[i] != of->codes[i]) worst = fmax(worst, 1.0);
    return worst;
}

/* What a mutant came to. */
typedef enum fate { REFUSED, NOT_HELD, HELD, LYING } fate;

/* -1 of *far: it predicts nothing. */
static inline fate try_mutant(const original *of, const unsigned char *file, size_t size,
                              double *far)
{
    fen_model *m = NULL;
    *far = 0.0;
    if (load_bytes(file, size, &m) != FEN_OK) return REFUSED;
    fate end = NOT_HELD;
    int holds = 0;
    fen_certificate *now = fenp_new(fen_model_targets(m), sizeof *now);
    if (now && fen_verify(m, training, &of->o, NULL, now, &holds, NULL) == FEN_OK && holds) {
        const int alike =
            fen_model_targets(m) == of->targets && fen_model_classes(m) == of->classes;
        double *scores =
            fenp_new((TRAINING_ROWS + FRESH_ROWS) * fen_model_targets(m), sizeof *scores);
        int64_t codes[TRAINING_ROWS + FRESH_ROWS] = { 0 };
        *far = scores && alike && predict_all(m, scores, codes) ? difference(of, scores, codes)
                                                                 : -1.0;
        end = *far >= 0.0 && *far <= SAME ? HELD : LYING;
        free(scores);
    }
    free(now);
    fen_model_free(m);
    return end;
}
#endif
