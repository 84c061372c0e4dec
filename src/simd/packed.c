/* packed.c -- columns of a packed symmetric matrix of floats times a vector of doubles
 *
 * Method: every column of the triangle serves twice, as a row (a dot product with x) and as
 *   a column (added to the sums), so that memory is read once. Four columns at a time: a
 *   load of x and a load and store of the sums for eight multiplications.
 * Accuracy: that of sums in double precision.
 * Cost: as fast as memory delivers 4 bytes an entry. */
#include "simd/level.h"

enum { AT_ONCE = 4 };

/* Columns j .. j + 3: their entries above j, both ways. */
INLINE void four_columns(const float *a, int64_t j, const double *x, double *restrict sums)
{
    const float *a0 = a + j * (j + 1) / 2, *a1 = a0 + j + 1, *a2 = a1 + j + 2, *a3 = a2 + j + 3;
    const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (int64_t i = 0; i < j; i++) {
        const double v0 = (double)a0[i], v1 = (double)a1[i], v2 = (double)a2[i];
        const double v3 = (double)a3[i], at = x[i];
        s0 += v0 * at;
        s1 += v1 * at;
        s2 += v2 * at;
        s3 += v3 * at;
        sums[i] += (v0 * x0 + v1 * x1) + (v2 * x2 + v3 * x3);
    }
    sums[j] += s0;
    sums[j + 1] += s1;
    sums[j + 2] += s2;
    sums[j + 3] += s3;
}

/* Entries from row up to the diagonal of column j. */
INLINE void end_of_column(const float *a, int64_t row, int64_t j, const double *x, double *sums)
{
    const float *column = a + j * (j + 1) / 2;
    for (int64_t i = row; i < j; i++) {
        sums[i] += (double)column[i] * x[j];
        sums[j] += (double)column[i] * x[i];
    }
    sums[j] += (double)column[j] * x[j];
}

KERNEL(packed_columns);
void AT_LEVEL(fenp_packed_columns)(const float *a, int64_t from, int64_t to, const double *x,
                                   double *sums)
{
    int64_t j = from;
    for (; j + AT_ONCE <= to; j += AT_ONCE) {
        four_columns(a, j, x, sums);
        for (int64_t k = j; k < j + AT_ONCE; k++) end_of_column(a, j, k, x, sums);
    }
    for (; j < to; j++) end_of_column(a, 0, j, x, sums);
}
