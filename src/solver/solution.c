/* solution.c -- from expansion coefficients to the dual vector, the bias and, for
 * linear kernels, the weight vector; and the one way in which a direct solver fails */
#include <cblas.h>

#include "base/error.h"
#include "base/text.h"

#include "solver/solver.h"

void fenp_solution_set(const fenp_problem *problem, const double *c, const double *kc,
                       fenp_solution *out)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, p = sample->p;
    for (int64_t t = 0; t < sample->targets; t++) {
        double b = 0.0;
        for (int64_t i = 0; i < n; i++) {
            out->dual[t * n + i] = 2.0 * problem->lambda * c[t * n + i];
            b += sample->w[i] * (sample->y[t * n + i] - kc[t * n + i]);
        }
        out->offset[t] = problem->bias ? b : 0.0;
        if (out->weights)
            cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)p, 1.0, sample->x, (int)p,
                        c + t * n, 1, 0.0, out->weights + t * p, 1);
    }
}

fen_status fenp_lambda_drowns(const fenp_problem *problem, const char *matrix, double least,
                              fen_error *err)
{
    char lambda[32], enough[32];
    fenp_print_short(problem->lambda, lambda);
    fenp_print_short(least, enough);
    return fenp_fail(err, FEN_BAD_CALL,
                     "lambda = %s drowns in the rounding errors of %s: use at least %s, or "
                     "--engine spectral",
                     lambda, matrix, enough);
}
