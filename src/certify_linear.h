/* certify_linear.h -- all targets under one penalty on coefficients, as the certificate sees them
 *
 * Notation as in certify_linear.c. */
#ifndef FENP_CERTIFY_LINEAR_H
#define FENP_CERTIFY_LINEAR_H
#include <math.h>
#include "certify.h"

/* One target, but for group:targets. */
typedef struct fenp_joint {
    const fen_model *m;
    fenp_matrix x;
    int64_t copies, n, p;
    fenp_claim *one;         /* copies                                                       */
    double *w, *f;           /* copies x n                                                   */
    long double *u;          /* likewise: feasible                                           */
    double *z;               /* likewise: u / w, inside the boxes                            */
    double *beta, *g;        /* copies x p: coefficients, X'u                                */
    double *pull;            /* groups: ||x_g'u||, of its positive part where beta >= 0      */
    int64_t *columns;        /* p + 1 that u must be orthogonal to, and then others          */
    double *left;            /* of them: |x_j'u|                                             */
    double *wanted;          /* of all of them: x_j'u as it should be                        */
    double *column;          /* n, work                                                      */
    double *window;          /* copies x 2 n: of z, where scores tell                        */
    double remainder;        /* sum of |beta_j| times what was let pass in x_j'u, in columns */
    double passed;           /* and in groups with a bound                                   */
    double strongest, noise; /* largest ||x_g'u|| under a penalty, and its rounding          */
    int feasible;            /* u is; else u = 0 is meant                                    */
    int refined;             /* x_j'u follows from beta where beta_j is not 0                */
    int polish;              /* the last digits of u: certify_polish.c                       */
    int lenient;             /* groups with a bound are let pass what columns without are    */
    const double *dual;      /* copies x n: u as stored                                      */
} fenp_joint;

/* ---- groups ---- */
/* 0: not penalised */
static inline double fenp_joint_weight(const fen_model *m, int64_t g)
{
    if (m->penalty->value(1.0, m->mix) == 0.0) return 0.0;
    return fenp_group_weight(&m->groups, g);
}

/* Euclidean norm of the members of a group; positive: of what is above 0. */
static inline double fenp_joint_norm(const fenp_groups *groups, int64_t g, const double *values,
                                     int positive)
{
    long double sum = 0.0L;
    for (int64_t k = 0; k < fenp_group_size(groups, g); k++) {
        const double value = values[fenp_group_member(groups, g, k)];
        if (!positive || value > 0.0) sum += (long double)value * value;
    }
    return (double)sqrtl(sum);
}

/* ---- certify_linear_dual.c ---- */
/* u of all targets, moved to where D is a bound; g = X'u, z, remainder, and whether it is one.
 * refined: x_j'u is first made what the penalty wants where beta_j is not 0. */
fen_status fenp_joint_feasible(fenp_joint *c, int refined, fen_error *err);
/* That can be afforded. */
int        fenp_joint_can_refine(fenp_joint *c);
int        fenp_joint_can_project(fenp_joint *c);
/* What rounding may make of x_j'u in copy k. */
fen_status fenp_joint_rounding(const fenp_joint *c, int64_t k, int64_t j, double *out,
                               fen_error *err);
#endif
