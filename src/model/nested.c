/* nested.c -- many polynomials' worth of products of columns, none of them written down
 *
 *     f(x) = sum_k v_k x^k,   v_k = w_k factor_k over the multi-indices k in the order of form.h,
 *     sum over members j1 <= j2 <= ... of v x_j1 x_j2 ... = sum_j1 x_j1 (sum_j2 x_j2 (...)).
 *
 * Method: simd/nested.c for each degree, LANES rows next to each other. A degree is added to the rows that need it alone, so that a
 * row's sum does not depend on the rows beside it.
 * Accuracy: a rounding for each level and each term of a sum.
 * Cost: about one multiplication for each feature and row; LANES p numbers for each thread. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "model/lp.h"
#include "simd/simd.h"

enum { LANES = FENP_NESTED_LANES };

static void add_degrees(const fenp_kernel *kernel, const double *x, int64_t p,
                        const int64_t *degree, int64_t count, const double *v, double *out,
                        int64_t stride)
{
    const fenp_simd *simd = fenp_simd_get();
    double sum[LANES];
    int64_t highest = 0;
    for (int64_t i = 0; i < count; i++) {
        highest = degree[i] > highest ? degree[i] : highest;
        out[i * stride] = 0.0;
    }
    for (int64_t m = 0; m <= highest; m++) {
        if (kernel->table->series(m, &kernel->par) == 0.0) continue;
        if (m > 0)
            v = simd->nested_sum(x, p, m, v, sum);
        else {
            for (int k = 0; k < LANES; k++) sum[k] = *v;
            v++;
        }
        for (int64_t i = 0; i < count; i++)
            if (degree[i] >= m) out[i * stride] += sum[i];
    }
}

fen_status fenp_nested_sums(const fenp_kernel *kernel, fen_view x, const int64_t *degree,
                            const double *v, double *out, int64_t stride, fen_error *err)
{
    const int64_t p = x.cols, bytes = fenp_bytes(p, LANES, sizeof(double));
    int failed = 0;
#pragma omp parallel if (x.rows > LANES)
    {
        double *side = fenp_new(bytes, 1);
        if (!side)
#pragma omp atomic write
            failed = 1;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < x.rows; i += LANES) {
            const int64_t count = x.rows - i < LANES ? x.rows - i : LANES;
            if (!side) continue;
            memset(side, 0, (size_t)bytes);
            for (int64_t k = 0; k < count; k++)
                for (int64_t j = 0; j < p; j++) side[j * LANES + k] = x.at[(i + k) * x.stride + j];
            add_degrees(kernel, side, p, degree + i, count, v, out + i * stride, stride);
        }
        free(side);
    }
    return failed ? fenp_no_memory(err, bytes, "a prediction") : FEN_OK;
}
