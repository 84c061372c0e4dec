/* file.c -- the arrays of a model file: one list, followed by save.c and load.c alike */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "model/file.h"

/* The numbers of a certificate; the verdict behind them is a word of the metadata. */
enum { CERTIFICATE_BYTES = FENP_CERTIFICATE_NUMBERS * sizeof(double) };
_Static_assert(offsetof(fen_certificate, verdict) == CERTIFICATE_BYTES, "numbers come first");

static void vector(fenp_file *file, const char *name, int64_t length, double *at, int finite)
{
    file->array[file->count++] = (fenp_array){ name, 1, { length, 1 }, at, finite };
}

static void matrix(fenp_file *file, const char *name, int64_t rows, int64_t cols, double *at,
                   int finite)
{
    if (at) file->array[file->count++] = (fenp_array){ name, 2, { rows, cols }, at, finite };
}

fen_status fenp_file_open(const fen_model *m, int64_t inputs, fenp_file *file, fen_error *err)
{
    *file = (fenp_file){ .inputs = inputs };
    int64_t certificates = fenp_bytes(m->targets, FENP_CERTIFICATE_NUMBERS, 1);
    file->fill = fenp_new(inputs, sizeof(double));
    file->center = fenp_new(inputs, sizeof(double));
    file->scale = fenp_new(inputs, sizeof(double));
    file->certificate = fenp_new(certificates, sizeof(double));
    if (!file->fill || !file->center || !file->scale || !file->certificate) {
        fenp_file_close(file);
        return fenp_no_memory(err, fenp_bytes(inputs, 3, sizeof(double)), "the scaling");
    }
    matrix(file, "inputs", m->n, m->p, m->inputs, 1);
    matrix(file, "weights", m->targets, m->p, m->weights, 1);
    matrix(file, "frequencies", m->approx.columns / 2, m->p, m->frequencies, 1);
    matrix(file, "feature_weights", m->targets, m->approx.columns, m->feature_weights, 1);
    matrix(file, "dual", m->targets, m->n, m->dual, 1);
    vector(file, "coef_scale", m->targets, m->coef_scale, 1);
    vector(file, "offset", m->targets, m->offset, 1);
    matrix(file, "tangents", m->targets * m->tangent_count,
           m->frequencies ? m->approx.columns : m->n, m->tangents, 1);
    vector(file, "prepare.fill", inputs, file->fill, 1);
    vector(file, "prepare.center", inputs, file->center, 1);
    vector(file, "prepare.scale", inputs, file->scale, 1);
    matrix(file, "certificate", m->targets, FENP_CERTIFICATE_NUMBERS, file->certificate, 0);
    matrix(file, "selection.grid", m->selection.count, 4, (double *)m->selection.grid, 0);
    return FEN_OK;
}

void fenp_file_close(fenp_file *file)
{
    free(file->fill);
    free(file->center);
    free(file->scale);
    free(file->certificate);
    *file = (fenp_file){ 0 };
}

void fenp_file_take(fenp_file *file, const fen_model *m)
{
    for (int64_t j = 0; j < file->inputs; j++) {
        file->fill[j] = m->prep->input[j].fill;
        file->center[j] = m->prep->input[j].center;
        file->scale[j] = m->prep->input[j].scale;
    }
    for (int64_t t = 0; t < m->targets; t++)
        memcpy(file->certificate + FENP_CERTIFICATE_NUMBERS * t, &m->certificate[t],
               CERTIFICATE_BYTES);
}

void fenp_file_give_certificate(const fenp_file *file, fen_model *m)
{
    for (int64_t t = 0; t < m->targets; t++)
        memcpy(&m->certificate[t], file->certificate + FENP_CERTIFICATE_NUMBERS * t,
               CERTIFICATE_BYTES);
}
