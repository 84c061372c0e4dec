/* rows.c -- what every row of a table goes through: standardised, and hashed
 *
 * Accuracy: both give the same bits at every level.
 * Cost: wide divisions are four times as fast as narrow ones, wide products of 64-bit integers (of
 *   avx512) three times. */
#include "simd/level.h"

KERNEL(standardise);
int AT_LEVEL(fenp_standardise)(const double *restrict cells, const double *restrict center,
                               const double *restrict scale, int64_t count, double *restrict x)
{
    double odd = 0.0; /* infinity - infinity is a NaN, unlike x - x of numbers */
#pragma omp simd reduction(+ : odd)
    for (int64_t j = 0; j < count; j++) {
        x[j] = (cells[j] - center[j]) / scale[j];
        odd += x[j] - x[j];
    }
    return odd == 0.0;
}

KERNEL(hash_cells);
uint64_t AT_LEVEL(fenp_hash_cells)(const double *cells, const int64_t *column, const uint64_t *key,
                                   int64_t count)
{
    uint64_t sum = 0;
    for (int64_t k = 0; k < count; k++) sum += fenp_hash_cell(cells[column[k]], key[k]);
    return sum;
}
