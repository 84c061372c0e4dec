/* group_qp.h -- a quadratic function with norms of groups as penalty
 *
 *     minimise over b   1/2 b'Hb - c'b + sum_g l_g ||b_g||
 *
 * H symmetric, positive semidefinite, in memory. l_g = 0: the group is free (its H_gg is then
 * positive definite on what c needs). */
#ifndef FENP_GROUP_QP_H
#define FENP_GROUP_QP_H
#include "base/clock.h"

typedef struct fenp_group_qp {
    int64_t k, groups;
    const double *h;           /* k x k, both triangles, row stride ld                  */
    int64_t ld;
    const int64_t *start;      /* groups + 1: members are consecutive                   */
    const double *l;           /* groups                                                */
    double *b;                 /* k: from where, to where                               */
    double *g;                 /* k: H b - c, kept up to date                           */
} fenp_group_qp;
/* Works until the violation (largest over the groups of the distance of -g_g from the
 * subdifferential of l_g ||b_g||) is at most tolerance, or no longer falls. */
fen_status fenp_group_qp_solve(const fenp_group_qp *q, double tolerance, const fenp_task *task,
                               fen_error *err);
double     fenp_group_qp_violation(const fenp_group_qp *q);
#endif
