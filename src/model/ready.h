/* ready.h -- what predictions of a model of penalty lp begin with, kept from call to call */
#ifndef FENP_MODEL_READY_H
#define FENP_MODEL_READY_H
#include <pthread.h>
#include "model/lp.h"

enum { FENP_READY_MOST = 1 << 26 };   /* bytes of the weights that are kept           */

typedef struct fenp_ready_weights {
    int64_t degree, count;            /* of the features, and how many they are        */
    double *v;                        /* targets x count: see fenp_model_products      */
    struct fenp_ready_weights *before;
} fenp_ready_weights;
struct fenp_ready {
    pthread_mutex_t lock;
    fenp_cut cut;
    double *rows;                     /* kept x p, of divided columns; NULL: not open  */
    fenp_ready_weights *weights;      /* those of the highest degree first             */
};
/* Of a model that stays as it is; NULL: it has no use for one, or there is no memory. */
fenp_ready *fenp_ready_new(const fen_model *m);
void        fenp_ready_free(fenp_ready *r);
/* What was made, but not r itself. */
void        fenp_ready_clear(fenp_ready *r);
/* cut and rows; then, of the model with these rows, weights for this degree and those below:
 * NULL where they are too many to be kept. */
fen_status  fenp_ready_open(fenp_ready *r, const fen_model *m, fen_error *err);
fen_status  fenp_ready_extend(fenp_ready *r, const fen_model *m, int64_t degree,
                              const fenp_ready_weights **out, fen_error *err);
#endif
