/* ready.c -- what predictions under a penalty lp begin with, made once for a model
 *
 * Made at the first prediction: the cut of the series (cut.c), the rows with divided columns, and
 * the weights of the products of columns up to the degree that a row has needed so far. A higher
 * degree makes them anew; the ones before stay, as other threads may be reading them.
 * Special cases: weights of many targets that take more than FENP_READY_MOST are not kept, but
 *   made target by target for each call. A model that is still being made has no memory of its own
 *   (ready is NULL): everything is made for the call.
 * Cost: see lp_scores.c, once. Threads wait for the one that makes things. */
#include "model/ready.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "tensor/divided.h"
#include "tensor/form.h"

fenp_ready *fenp_ready_new(const fen_model *m)
{
    fenp_ready *r = fenp_model_is_lp(m) && !m->weights ? fenp_new_zeroed(1, sizeof *r) : NULL;
    if (r) pthread_mutex_init(&r->lock, NULL);
    return r;
}

void fenp_ready_clear(fenp_ready *r)
{
    while (r->weights) {
        fenp_ready_weights *before = r->weights->before;
        free(r->weights->v), free(r->weights);
        r->weights = before;
    }
    free(r->rows);
    r->rows = NULL;
}

void fenp_ready_free(fenp_ready *r)
{
    if (!r) return;
    fenp_ready_clear(r);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static fen_status open(fenp_ready *r, const fen_model *m, fen_error *err)
{
    const int64_t bytes = fenp_bytes(m->kept, m->p + 1, sizeof(double));
    double *rows = fenp_new(bytes, 1);
    if (!rows || !fenp_cut_open(m, m->inputs, &r->cut)) {
        free(rows);
        return fenp_no_memory(err, bytes, "a prediction");
    }
    fenp_divide((fen_view){ m->inputs, m->kept, m->p, m->p }, r->cut.unit, rows);
    r->rows = rows;
    return FEN_OK;
}

fen_status fenp_ready_open(fenp_ready *r, const fen_model *m, fen_error *err)
{
    pthread_mutex_lock(&r->lock);
    const fen_status status = r->rows ? FEN_OK : open(r, m, err);
    pthread_mutex_unlock(&r->lock);
    return status;
}

/* m: of divided columns. */
static fen_status extend(fenp_ready *r, const fen_model *m, int64_t degree, int64_t bytes,
                         fen_error *err)
{
    const fenp_kernel kernel = fenp_cut_at(&r->cut, degree);
    fenp_ready_weights *w = fenp_new(1, sizeof *w);
    double *v = fenp_new(bytes, 1);
    fen_status status = w && v ? FEN_OK : fenp_no_memory(err, bytes, "the features");
    const int64_t count = fenp_feature_count(&kernel, m->p);
    for (int64_t t = 0; status == FEN_OK && t < m->targets; t++)
        status = fenp_model_products(m, &kernel, t, v + t * count, err);
    if (status != FEN_OK) {
        free(w), free(v);
        return status;
    }
    *w = (fenp_ready_weights){ .degree = degree, .count = count, .v = v, .before = r->weights };
    r->weights = w;
    return FEN_OK;
}

fen_status fenp_ready_extend(fenp_ready *r, const fen_model *m, int64_t degree,
                             const fenp_ready_weights **out, fen_error *err)
{
    const fenp_kernel kernel = fenp_cut_at(&r->cut, degree);
    const int64_t count = fenp_feature_count(&kernel, m->p);
    const int64_t bytes = fenp_bytes(m->targets, count, sizeof(double));
    fen_status status = FEN_OK;
    *out = NULL;
    if (bytes < 0 || bytes > FENP_READY_MOST) return FEN_OK;
    pthread_mutex_lock(&r->lock);
    if (!r->weights || r->weights->degree < degree) status = extend(r, m, degree, bytes, err);
    if (status == FEN_OK) *out = r->weights;
    pthread_mutex_unlock(&r->lock);
    return status;
}
