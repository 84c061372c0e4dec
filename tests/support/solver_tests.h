/* solver_tests.h -- what the tests of the block solver's parts share */
#ifndef SOLVER_TESTS_H
#define SOLVER_TESTS_H
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/registry.h"
#include "solver/solver.h"

static inline double uniform(uint64_t stream, int64_t k)
{
    return fenp_uniform(17, stream, (uint64_t)k);
}

static inline double *doubles(int64_t count)
{
    double *v = calloc((size_t)count, sizeof *v);
    assert_non_null(v);
    return v;
}

static inline void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g to %g", a, b, tolerance);
}

/* A host that stops a solver at its report stop of progress (0: never). */
typedef struct stopper {
    int stop, calls;
} stopper;

static inline int stop_there(void *user, const char *stage, double fraction)
{
    stopper *s = user;
    (void)stage;
    assert_true(0.0 <= fraction && fraction <= 1.0);
    return ++s->calls == s->stop;
}

static inline double *random_rows(uint64_t stream, int64_t rows, int64_t p)
{
    double *x = doubles(rows * p);
    for (int64_t i = 0; i < rows * p; i++)
        x[i] = (4.0 * uniform(stream, i) - 2.0) / sqrt((double)p);
    return x;
}

static inline fenp_kernel kernel_of(const fen_kernel *table)
{
    return (fenp_kernel){ table, { 0.7, 3.0, 1.0, 0.0 } };
}

static inline fenp_sample *sample_of(int64_t n, int64_t p)
{
    fenp_sample *s = fenp_sample_new(n, p, 1);
    assert_non_null(s);
    for (int64_t i = 0; i < n * p; i++) s->x[i] = (4.0 * uniform(4, i) - 2.0) / sqrt((double)p);
    return s;
}

/* A kernel value by definition; of a given matrix what stands there. */
static inline double value_of(const fenp_kernel *k, const fenp_sample *s, int64_t i, int64_t j)
{
    if (k->table->basis == FEN_PRECOMPUTED) return s->x[i * s->p + j];
    return fenp_kernel_pair(k, s->x + i * s->p, s->x + j * s->p, s->p);
}
#endif
