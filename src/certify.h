/* certify.h -- one target as the certificate sees it: what the files certify*.c share */
#ifndef FENP_CERTIFY_H
#define FENP_CERTIFY_H
#include "story.h"

typedef struct fenp_claim {
    const fen_loss *loss;
    const double *par;         /* of the loss in P                                      */
    const double *dual_par;    /* and in D: 0 where it is free                          */
    double price;              /* price * nu * W of a free parameter, W = sum w; else 0 */
    int    free_par;
    const fen_penalty *penalty;
    const double *y, *w;       /* rows of weight 0 take no part                         */
    int64_t n;
    double spread;             /* mean of the centred k(x,x)                            */
    double lambda, power, offset;
    double shift;              /* taken off labels and scores: see fenp_claim_shift     */
    int    bias;
    const double *f;           /* n: f(x_i)                                             */
    double norm;               /* ||f||                                                 */
    const double *z;           /* n: feasible dual variables                            */
    double dual_norm;          /* ||g|| of them                                         */
    double mismatch;           /* linear: weights against coef_scale X'u, relative      */
    const fenp_line *tangents; /* power < 1: T_z of every stored dual vector            */
    int64_t tangent_count;
} fenp_claim;

/* ---- certify.c ---- */
/* With a bias and a loss of y - t, P and (because sum u = 0) D stay the same when labels and
 * scores lose the same constant. Taking the mean off spares y = 1e9 + noise its cancellation;
 * with the model's own b a wild one would turn the rounding error of sum u into a bound. */
double fenp_claim_shift(const fenp_claim *c);
/* - sum w_i loss*(y_i, -t z_i) */
double fenp_claim_minus_conjugates(const fenp_claim *c, double t);

/* ---- certify_feasible.c ---- */
/* out = w z, z = u / w moved into the set where D is a bound. */
void   fenp_claim_feasible(const fenp_claim *c, const double *u, double *out);

/* ---- certify_null.c: the best constant (f = 0; b = 0 without bias) ---- */
double fenp_claim_constant(const fenp_claim *c, double *par);   /* b, and the parameter */
double fenp_claim_null(const fenp_claim *c);                    /* its objective */

/* ---- certify_tangents.c: power < 1 ---- */
int64_t    fenp_tangents_room(const fenp_size *size, int64_t count);   /* bytes of an arena */
/* T_z of every dual vector, targets x tangent_count; z: n, work. c.y and c.w are filled in. */
fen_status fenp_tangents_lines(fenp_arena *arena, const fen_model *m, const fenp_sample *sample,
                               fenp_claim c, double *z, const fenp_line **out,
                               const fenp_task *task, fen_error *err);
#endif
