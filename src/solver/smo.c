/* smo.c -- see smo.h; the steps are in simd/smo.c */
#include "solver/smo.h"

#include <math.h>

#include "simd/simd.h"

double fenp_qp_violation(const fenp_qp *q)
{
    double rise[2] = { -INFINITY, -INFINITY }, fall[2] = { INFINITY, INFINITY };
    const int sides = q->balanced == FENP_SIDES;
    for (int64_t i = 0; i < q->n; i++) {
        double *up = rise + (sides && q->b[i] < 0.0), *down = fall + (sides && !(q->b[i] > 0.0));
        *up = fmax(*up, fenp_qp_rise(q, i));
        *down = fmin(*down, fenp_qp_fall(q, i));
    }
    return q->balanced ? fmax(rise[0] - fall[0], rise[1] - fall[1]) : fmax(rise[0], -fall[0]);
}

int64_t fenp_smo(const fenp_qp *q, const float *k, int64_t ld, double tolerance, int64_t steps,
                 double *work)
{
    const fenp_smo_job job = { q, k, ld, work, work + q->n };
    for (int64_t i = 0; i < q->n; i++) {
        job.right[i] = fenp_qp_right(q, i);
        job.left[i] = fenp_qp_left(q, i);
    }
    return fenp_simd_get()->smo(&job, tolerance, steps);
}
