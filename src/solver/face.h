/* face.h -- a Newton step for the variables of a quadratic program that are at no bound or kink */
#ifndef FENP_FACE_H
#define FENP_FACE_H
#include "fenchel/fenchel.h"
#include "solver/smo.h"

typedef struct fenp_face_room {
    double *factor;            /* n x n                                                 */
    double *work;              /* 7 n                                                   */
    int64_t *who;              /* n                                                     */
    double  damp;              /* carried from step to step; 0.01 is a good start       */
} fenp_face_room;

/* Moves q->b (and g) towards the optimum of its face, projected back where that lies outside.
 * k as in smo.h. *moved: 0 if nothing was gained. Cost: m^3/3 flops for m free variables. */
fen_status fenp_face_step(const fenp_qp *q, const float *k, int64_t ld, fenp_face_room *room,
                          int *moved, fen_error *err);
#endif
