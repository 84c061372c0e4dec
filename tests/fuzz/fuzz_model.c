/* fuzz_model.c -- any bytes as a model file: one sentence, or a model that can be used
 *
 * Half of the mutations change the bytes. The other half change one value somewhere in the
 * header (and in the JSON text inside it) and write a header of the right length, so that
 * the checks behind the syntax are reached. */
#define _GNU_SOURCE /* memfd_create */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <jansson.h>

#include "model/model.h"
#include "support/mutate_header.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) __attribute__((weak));

/* ---- the target ---------------------------------------------------------------------- */

static void use(const fen_model *m)
{
    enum { ROWS = 2 };
    char *json = NULL;
    int64_t widest = m->p > m->prep->inputs ? m->p : m->prep->inputs;
    double *x = calloc((size_t)(ROWS * widest + 1), sizeof *x);
    double *scores = calloc((size_t)(ROWS * m->targets), sizeof *scores);
    if (!x || !scores || fen_model_json(m, &json, NULL) != FEN_OK ||
        fenp_model_scores(m, x, ROWS, scores, NULL, NULL) != FEN_OK)
        abort();
    fen_view raw = { x, ROWS, m->prep->inputs, m->prep->inputs };
    fen_status status = fen_predict(m, raw, NULL, NULL, scores, NULL);
    if (status != FEN_OK && status != FEN_BAD_DATA && status != FEN_BAD_CALL) abort();
    const int64_t classes = fen_model_classes(m);
    double *laws = calloc((size_t)(ROWS * classes + 1), sizeof *laws);
    int64_t codes[ROWS];
    status = fen_decide(m, scores, ROWS, codes, fen_model_has_probabilities(m) ? laws : NULL, NULL);
    if (!laws || (status != FEN_OK && status != FEN_BAD_CALL)) abort();
    for (int i = 0; classes > 0 && i < ROWS; i++)
        if (!fen_model_class(m, codes[i])) abort();
    fen_text_free(json);
    free(x);
    free(scores);
    free(laws);
}

/* The features of a function that has a list of them. */
static void list(const fen_model *m)
{
    const int64_t count = fen_model_implied(m);
    double *weight = calloc((size_t)count + 1, sizeof *weight);
    double *coefficient = calloc((size_t)count + 1, sizeof *coefficient);
    char name[64];
    if (!weight || !coefficient) abort();
    const fen_status status = fen_model_implied_weights(m, 0, weight, coefficient, NULL);
    if (status != FEN_OK && (status != FEN_BAD_CALL || count > 0)) abort();
    for (int64_t k = 0; k < count; k += 1 + k / 8) fen_model_implied_name(m, k, name, sizeof name);
    free(weight);
    free(coefficient);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    fen_error err = { FEN_OK, "" };
    fen_model *m = NULL;
    int file = memfd_create("model", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    fen_status status = fen_model_load(path, &m, &err);
    if (status == FEN_OK) {
        use(m);
        list(m);
    } else if (status != FEN_BAD_DATA || m || strncmp(err.message, path, strlen(path)) != 0)
        abort();
    fen_model_free(m);
    close(file);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size_t out = seed % 2 ? mutate_header(data, size, most, seed) : 0;
    return out ? out : LLVMFuzzerMutate(data, size, most);
}
