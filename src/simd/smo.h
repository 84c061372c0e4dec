/* smo.h -- a quadratic program whose matrix is in memory, two variables at a time */
#ifndef FENP_SIMD_SMO_H
#define FENP_SIMD_SMO_H
#include <math.h>
#include <stdint.h>

/* minimise 1/2 b'Kb + sum_i d_i/2 b_i^2 - a_i b_i + kink_i |b_i|,  low <= b <= high,
 * low <= 0 <= high where there is a kink. What b may do as a whole: */
typedef enum fenp_balance {
    FENP_ALONE = 0,            /* every b_i as it likes                                 */
    FENP_SUM = 1,              /* sum b stays as it is                                  */
    FENP_SIDES = 2             /* so do the sum of the b_i > 0 and that of the b_i < 0: 0 is a
                                  bound or a kink of every variable                     */
} fenp_balance;
typedef struct fenp_qp {
    int64_t n;
    fenp_balance balanced;
    double *b, *g;             /* g = K b + d b - a, kept up to date                    */
    double *stiff;             /* K_ii + d_i                                            */
    double *d, *kink, *low, *high;
} fenp_qp;

/* What is added to g for the slope to the right; +inf: there is no way. */
static inline double fenp_qp_right(const fenp_qp *q, int64_t i)
{
    if (!(q->b[i] < q->high[i])) return INFINITY;
    return q->b[i] >= 0.0 ? q->kink[i] : -q->kink[i];
}
static inline double fenp_qp_left(const fenp_qp *q, int64_t i)
{
    if (!(q->b[i] > q->low[i])) return -INFINITY;
    return q->b[i] > 0.0 ? q->kink[i] : -q->kink[i];
}

/* Slopes to the right and to the left, as what b would have to be to cancel them: the
 * optimum has max_i rise <= min_j fall (balanced; of sides each for itself), or
 * rise <= 0 <= fall. A variable at its upper bound has rise -inf, one at its lower bound fall
 * +inf. */
static inline double fenp_qp_rise(const fenp_qp *q, int64_t i)
{ return -(q->g[i] + fenp_qp_right(q, i)); }
static inline double fenp_qp_fall(const fenp_qp *q, int64_t i)
{ return -(q->g[i] + fenp_qp_left(q, i)); }

/* A program with its matrix in single precision, which is enough to find the way; the caller keeps
 * the true g. Steps until the violation (solver/smo.h) is at most the tolerance. */
typedef struct fenp_smo_job {
    const fenp_qp *q;
    const float *k;            /* n x n, symmetric, row stride ld; n and ld are multiples of 8 */
    int64_t ld;
    double *right, *left;      /* n: fenp_qp_right and fenp_qp_left of every variable          */
} fenp_smo_job;
#endif
