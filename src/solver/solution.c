/* solution.c -- from expansion coefficients to the dual vector, the bias and, for
 * linear kernels, the weight vector; and the one way in which a direct solver fails */
#include <cblas.h>

#include "base/error.h"
#include "base/text.h"

#include "solver/solver.h"

/* Beyond this c the residual is y - b to the last digit, whatever the coefficients. */
static const double HUGE_C = 1e150;

void fenp_solution_set(const fenp_problem *problem, int64_t t, const fenp_root *root,
                       const double *c, const double *kc, fenp_solution *out)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, p = sample->p;
    const double *y = sample->y + t * n;
    double *u = out->dual + t * n, b = 0.0;
    for (int64_t i = 0; i < n; i++) b += sample->w[i] * (y[i] - kc[i]);
    out->offset[t] = problem->bias ? b : 0.0;
    for (int64_t i = 0; i < n; i++)
        u[i] = root->c < HUGE_C ? 2.0 * root->lambda2 * c[i]
                                : 2.0 * sample->w[i] * (y[i] - out->offset[t]);
    out->scale[t] = 1.0 / (2.0 * root->lambda2);
    if (out->weights)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)p, 1.0, sample->x, (int)p, c, 1, 0.0,
                    out->weights + t * p, 1);
}

static int64_t roots_doubles(int64_t targets)
{
    return (targets * (int64_t)sizeof(fenp_root) + 7) / 8;
}

int64_t fenp_roots_bytes(int64_t targets) { return fenp_arena_bytes(roots_doubles(targets)); }

fenp_root *fenp_roots_new(fenp_arena *arena, int64_t targets)
{
    return (fenp_root *)fenp_arena_doubles(arena, roots_doubles(targets));
}

fen_status fenp_lambda_drowns(const fenp_problem *problem, const char *matrix, double least,
                              fen_error *err)
{
    char lambda[32], enough[32], power[32];
    fenp_print_short(problem->lambda, lambda);
    fenp_print_short(least, enough);
    fenp_print_short(problem->power, power);
    if (problem->power != 2.0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "lambda = %s with power %s shrinks by less than the rounding errors of "
                         "%s: use a larger one, or --engine spectral",
                         lambda, power, matrix);
    return fenp_fail(err, FEN_BAD_CALL,
                     "lambda = %s drowns in the rounding errors of %s: use at least %s, or "
                     "--engine spectral",
                     lambda, matrix, enough);
}
