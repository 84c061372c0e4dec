/* smo.h -- how far a quadratic program is from its optimum, and steps towards it */
#ifndef FENP_SMO_H
#define FENP_SMO_H
#include "simd/smo.h"

/* How far from optimal: max rise - min fall, or the largest of rise and -fall; <= 0: it is. */
double fenp_qp_violation(const fenp_qp *q);

/* Works until the violation is at most tolerance or steps are used up; returns the steps.
 * k: n x n, symmetric, row stride ld, a multiple of 8 as n is (fill up with low = high = 0):
 * in single precision, which is enough to find the way; whoever calls keeps the true g.
 * work: 2 n doubles. */
int64_t fenp_smo(const fenp_qp *q, const float *k, int64_t ld, double tolerance, int64_t steps,
                 double *work);
#endif
