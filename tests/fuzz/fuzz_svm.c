/* fuzz_svm.c -- any bytes as LIBSVM's rows or model: an object or one sentence, never a crash
 *
 * The first byte chooses. Rows that are accepted are consistent; a model that is accepted
 * predicts rows that it has never seen. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include "svm/parts.h"

static void check_rows(const fen_svm_data *data)
{
    const fenp_rows *r = &data->rows;
    for (int64_t i = 0; i < r->n; i++) {
        if (!isfinite(fen_svm_data_label(data, i)) || r->start[i + 1] < r->start[i]) abort();
        for (int64_t e = r->start[i]; e < r->start[i + 1]; e++) {
            const int32_t before = e > r->start[i] ? r->index[e - 1] : -1;
            if (r->index[e] <= before || r->index[e] > r->largest) abort();
            if (!isfinite(r->value[e])) abort();
        }
    }
}

static void predict_some(const fen_svm *model)
{
    const double x[2][3] = { { 0.5, 0.0, -1.0 }, { 1.0, 2.0, 3.0 } }, y[2] = { 1.0, -1.0 };
    double predicted[2];
    fen_svm_data *rows = NULL;
    fen_error err;
    if (fen_svm_data_copy((fen_view){ x[0], 2, 3, 3 }, y, &rows, &err) != FEN_OK) return;
    const int one_class = fen_svm_type_of(model) == FEN_SVM_ONE_CLASS;
    const int64_t classes = one_class ? 2 : fen_svm_classes(model);
    const int with = classes > 0 && classes < 50 && fen_svm_has_probability(model);
    double *law = with ? calloc((size_t)(2 * classes), sizeof *law) : NULL;
    if (fen_svm_predict(model, rows, 0, 2, predicted, NULL, law, &err) != FEN_OK && !err.message[0])
        abort();
    free(law);
    fen_svm_data_free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fen_error err = { FEN_OK, "" };
    fen_bytes *in = NULL;
    if (size < 1) return 0;
    const int rows = data[0] == 'r';
    data++, size--;
    if (fenp_bytes_from_memory("fuzz", data, (int64_t)size, &in, &err) != FEN_OK) return 0;
    fen_svm_data *some = NULL;
    fen_svm *model = NULL;
    fen_status status =
        rows ? fenp_svm_data_parse(in, &some, &err) : fenp_svm_parse(in, &model, &err);
    if (status != FEN_OK && !err.message[0]) abort();
    if (some) check_rows(some);
    if (model) predict_some(model);
    fen_svm_data_free(some);
    fen_svm_free(model);
    fenp_bytes_close(in);
    return 0;
}
