/* classes.c -- rows by class, in LIBSVM's order of classes */
#include <stdlib.h>
#include "base/arena.h"
#include "base/error.h"
#include "svm/parts.h"

static int32_t label_of(double value)
{
    return value <= -2147483648.0 ? INT32_MIN : value >= 2147483647.0 ? INT32_MAX : (int32_t)value;
}

void fenp_classes_free(fenp_classes *c)
{
    free(c->label);
    free(c->start);
    free(c->row);
    *c = (fenp_classes){ 0 };
}

/* The class of every row; labels are appended as they appear. */
static fen_status name_classes(const fen_svm_data *data, fenp_classes *c, int64_t *class_of,
                               fen_error *err)
{
    int64_t room = 0;
    for (int64_t i = 0; i < data->rows.n; i++) {
        const int32_t label = label_of(data->label[i]);
        int64_t k = 0;
        while (k < c->count && c->label[k] != label) k++;
        if (k == room) {
            room = 2 * room + 16;
            int32_t *labels = fenp_resize(c->label, room, sizeof *labels);
            if (!labels) return fenp_no_memory(err, 4 * room, "classes");
            c->label = labels;
        }
        if (k == c->count) c->label[c->count++] = label;
        class_of[i] = k;
    }
    return FEN_OK;
}

fen_status fenp_classes_find(const fen_svm_data *data, fenp_classes *c, fen_error *err)
{
    const int64_t n = data->rows.n;
    *c = (fenp_classes){ 0 };
    int64_t *class_of = fenp_new(n, sizeof *class_of);
    c->row = fenp_new(n, sizeof *c->row);
    fen_status status =
        class_of && c->row ? FEN_OK : fenp_no_memory(err, fenp_bytes(n, 2, 8), "classes");
    if (status == FEN_OK) status = name_classes(data, c, class_of, err);
    if (status == FEN_OK) {
        c->start = fenp_new_zeroed(c->count + 1, sizeof *c->start);
        if (!c->start) status = fenp_no_memory(err, 8 * (c->count + 1), "classes");
    }
    if (status == FEN_OK) {
        const int swap = c->count == 2 && c->label[0] == -1 && c->label[1] == 1;
        if (swap) c->label[0] = 1, c->label[1] = -1;
        for (int64_t k = 0, at = 0; k < c->count; k++) {
            for (int64_t i = 0; i < n; i++)
                if ((swap ? 1 - class_of[i] : class_of[i]) == k) c->row[at++] = i;
            c->start[k + 1] = at;
        }
    } else
        fenp_classes_free(c);
    free(class_of);
    return status;
}
