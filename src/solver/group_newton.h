/* group_newton.h -- Newton's step on the groups that are not 0, for group_qp.c
 *
 * Blocks (group_qp.c) decide who is not 0; this finds where those want to be together. */
#ifndef FENP_GROUP_NEWTON_H
#define FENP_GROUP_NEWTON_H
#include "solver/group_qp.h"

typedef struct fenp_group_newton {
    const fenp_group_qp *q;
    double  *step, *slope;     /* k: the way; g + l b / r                               */
    double  *product;          /* k: H step                                             */
    double  *packed;           /* 2 k                                                   */
    double  *factor;           /* a x a, of the Newton matrix                           */
    int64_t *active, *who;     /* groups that are not 0 or free; their coefficients     */
    int64_t  groups, a;        /* how many                                              */
    double   ridge;            /* of the next step; 0 at first                          */
} fenp_group_newton;

/* One step from q->b to where the objective is less; q->g is left as it was. *cut: it ended
 * where somebody became 0, and there may be more to gain at once. */
fen_status fenp_group_newton_step(fenp_group_newton *w, int *cut, fen_error *err);

/* What both files need. */
static inline int64_t fenp_group_members(const fenp_group_qp *q, int64_t g)
{
    return q->start[g + 1] - q->start[g];
}
double fenp_group_norm(int64_t m, const double *x);
/* out += the columns of H that belong to group g, times x */
void   fenp_group_add(const fenp_group_qp *q, int64_t g, const double *x, double *out);
#endif
