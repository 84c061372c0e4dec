/* tensor.c -- sums over packed triangles, of which symmetric tensors are made (tensor/packed_sums.c)
 *
 * Accuracy: that of sums of so many terms. Cost: as fast as the cache delivers the entries once. */
#include "simd/level.h"

enum { LANES = 4 };
typedef double vector __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
#define LOAD(at) (*(const vector *)(at))
#define STORE(at, value) (*(vector *)(at) = (value))
#define SUM(v) (((v)[0] + (v)[1]) + ((v)[2] + (v)[3]))

INLINE const double *one_column(const double *s, int64_t rows, const double *a, double *restrict y)
{
    const double first = a[0];
    double sum = s[0] * first;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 1; i < rows; i++) {
        sum += s[i] * a[i];
        y[i] += s[i] * first;
    }
    y[0] += sum;
    return s + rows;
}

/* rows is a multiple of 4: no vector is cut. */
INLINE const double *four_columns(const double *s0, int64_t rows, const double *a, double *y)
{
    const double *s1 = s0 + rows - 1, *s2 = s1 + rows - 2, *s3 = s2 + rows - 3;
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    vector y0 = { 0.0 }, y1 = { 0.0 }, y2 = { 0.0 }, y3 = { 0.0 };
    for (int64_t i = LANES; i < rows; i += LANES) {
        const vector v0 = LOAD(s0 + i), v1 = LOAD(s1 + i), v2 = LOAD(s2 + i), v3 = LOAD(s3 + i);
        const vector at = LOAD(a + i);
        y0 += v0 * at;
        y1 += v1 * at;
        y2 += v2 * at;
        y3 += v3 * at;
        STORE(y + i, LOAD(y + i) + ((v0 * a0 + v1 * a1) + (v2 * a2 + v3 * a3)));
    }
    y[0] += SUM(y0) + ((s0[0] * a0 + s0[1] * a1) + (s0[2] * a2 + s0[3] * a3));
    y[1] += SUM(y1) + ((s0[1] * a0 + s1[1] * a1) + (s1[2] * a2 + s1[3] * a3));
    y[2] += SUM(y2) + ((s0[2] * a0 + s1[2] * a1) + (s2[2] * a2 + s2[3] * a3));
    y[3] += SUM(y3) + ((s0[3] * a0 + s1[3] * a1) + (s2[3] * a2 + s3[3] * a3));
    return s3 + rows;
}

/* y = S a, of S the first columns: a packed lower triangle, or one without its last columns, a
 * multiple of 4 */
KERNEL(triangle_times);
void AT_LEVEL(fenp_triangle_times)(const double *s, int64_t rows, int64_t columns, const double *a,
                                   double *y)
{
    int64_t c = 0;
    for (int64_t i = 0; i < rows; i++) y[i] = 0.0;
    for (; c < rows % LANES; c++) s = one_column(s, rows - c, a + c, y + c);
    for (; c < columns; c += LANES) s = four_columns(s, rows - c, a + c, y + c);
}

/* out += factor v, and v'a; four sums, as an addition takes as long as four others wait. Stores
 * come first: compilers would read v twice. */
KERNEL(add_and_dot);
double AT_LEVEL(fenp_add_and_dot)(const double *v, int64_t count, const double *a, double factor,
                                  double *out)
{
    vector s0 = { 0.0 }, s1 = { 0.0 }, s2 = { 0.0 }, s3 = { 0.0 };
    int64_t i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES) {
        const vector v0 = LOAD(v + i), v1 = LOAD(v + i + LANES);
        const vector v2 = LOAD(v + i + 2 * LANES), v3 = LOAD(v + i + 3 * LANES);
        STORE(out + i, LOAD(out + i) + factor * v0);
        STORE(out + i + LANES, LOAD(out + i + LANES) + factor * v1);
        STORE(out + i + 2 * LANES, LOAD(out + i + 2 * LANES) + factor * v2);
        STORE(out + i + 3 * LANES, LOAD(out + i + 3 * LANES) + factor * v3);
        s0 += v0 * LOAD(a + i);
        s1 += v1 * LOAD(a + i + LANES);
        s2 += v2 * LOAD(a + i + 2 * LANES);
        s3 += v3 * LOAD(a + i + 3 * LANES);
    }
    for (; i + LANES <= count; i += LANES) {
        const vector v0 = LOAD(v + i);
        STORE(out + i, LOAD(out + i) + factor * v0);
        s0 += v0 * LOAD(a + i);
    }
    s0 = (s0 + s1) + (s2 + s3);
    double sum = SUM(s0);
    for (; i < count; i++) {
        sum += v[i] * a[i];
        out[i] += factor * v[i];
    }
    return sum;
}

KERNEL(add_scaled);
void AT_LEVEL(fenp_add_scaled)(const double *v, int64_t count, double factor, double *restrict out)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) out[i] += factor * v[i];
}
