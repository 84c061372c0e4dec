/* simd.h -- the hot loops, compiled for several instruction sets
 *
 * Each kernel is one source in this folder, compiled once per level: baseline (what every processor
 * of the architecture has), avx2 (with FMA) and avx512 (F, DQ, VL). fenp_simd_get returns the
 * table of the widest level that the processor has; ask once per call of a function, not per loop.
 * There is no state: glibc knows the processor, and its tunable glibc.cpu.hwcaps caps what it
 * reports as active, which is how the tests reach every level. */
#ifndef FENP_SIMD_H
#define FENP_SIMD_H
#include "fenchel/extend.h"
#include "simd/smo.h"

enum { FENP_SIDE = 8 }; /* right sides that solve_lanes takes */

/* Points one feature after the other: feature k of point j is at[k*width + j]. */
typedef struct fenp_points {
    const double *at;
    int64_t dim, width, count;
} fenp_points;

typedef struct fenp_simd {
    const char *level;

    /* exp.c: v[i] <- exp(a v[i]) */
    void (*exp_scaled)(double *v, int64_t count, double a);
    /* sincos.c: cosine[i] <- a cos(v[i]), then v[i] <- a sin(v[i]) */
    void (*sincos_scaled)(double *v, double *cosine, int64_t count, double a);

    /* distance.c: to0[j], to1[j] <- distance of x0, x1 to point j; basis is FEN_SQUARED_DISTANCE or
     * FEN_L1_DISTANCE */
    void (*distance_two)(fen_basis basis, const double *x0, const double *x1, fenp_points z,
                         double *to0, double *to1);

    /* columns.c: y (n) <- y + A v, A being n x m, column-major, stride ld */
    void (*add_columns)(int64_t n, int64_t m, const double *a, int64_t ld, const double *v,
                        double *y);
    /* out[k] <- column[k]'u for count columns of n numbers; the same bits at every level */
    void (*dots)(int count, int64_t n, const double *const *column, const double *u, double *out);
    /* a'b with an error bound that certificates rely on: FENP_DOT_ADDITIONS roundings of a double
     * for each product, then sums in long double */
    double (*dot_bounded)(const double *a, const double *b, int64_t n);

    /* triangle.c: x <- L^-1 x and x <- L^-T x; L is m x m, lower, column-major, stride ld */
    void (*solve_down)(const double *l, int64_t ld, int64_t m, double *x);
    void (*solve_up)(const double *l, int64_t ld, int64_t m, double *x);
    /* FENP_SIDE right sides next to each other: x (m x FENP_SIDE, row-major) <- L^-1 x and
     * shared (FENP_SIDE x FENP_SIDE) <- x'x */
    void (*solve_lanes)(const double *l, int64_t ld, int64_t m, double *x, double *shared);

    /* packed.c: sums <- sums + the columns from .. to - 1 of a packed symmetric matrix of floats
     * (upper triangle, entry i <= j at i + j(j+1)/2), as rows and as columns, times x */
    void (*packed_columns)(const float *a, int64_t from, int64_t to, const double *x, double *sums);

    /* smo.c: see smo.h */
    int64_t (*smo)(const fenp_smo_job *job, double tolerance, int64_t steps);

    /* tensor.c: y <- S a over the first columns of a packed lower triangle S; out <- out + factor v
     * and v'a; out <- out + factor v */
    void (*triangle_times)(const double *s, int64_t rows, int64_t columns, const double *a,
                           double *y);
    double (*add_and_dot)(const double *v, int64_t count, const double *a, double factor,
                          double *out);
    void (*add_scaled)(const double *v, int64_t count, double factor, double *out);

    /* nested.c: sums[FENP_NESTED_LANES] <- sum of v_k x^k over all multi-indices k of degree
     * `degree` >= 1 in p columns, for FENP_NESTED_LANES rows next to each other (x is
     * p x FENP_NESTED_LANES); returns where v goes on */
    const double *(*nested_sum)(const double *x, int64_t p, int64_t degree, const double *v,
                                double *sums);

    /* rows.c: x <- (cells - center) / scale; 0: a result is not finite */
    int (*standardise)(const double *cells, const double *center, const double *scale,
                       int64_t count, double *x);
    /* sum of the mixed bits of cells[column[k]] with key[k], modulo 2^64 */
    uint64_t (*hash_cells)(const double *cells, const int64_t *column, const uint64_t *key,
                           int64_t count);
} fenp_simd;

enum { FENP_NESTED_LANES = 16, FENP_DOT_ADDITIONS = 11, FENP_DOT_STRETCH = 64 };

const fenp_simd *fenp_simd_get(void);

static inline uint64_t fenp_hash_bits(uint64_t bits, uint64_t key)
{
    uint64_t z = bits + key;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* What a hash of rows sees of a number (one zero, one NaN), mixed with the key of its column by the
 * finaliser of splitmix64; hash_cells sums it over a row. */
static inline uint64_t fenp_hash_cell(double x, uint64_t key)
{
    union {
        double number;
        uint64_t bits;
    } cell = { .number = x + 0.0 }; /* -0 becomes 0 */
    return fenp_hash_bits(x == x ? cell.bits : UINT64_C(0x7ff8000000000000), key);
}
#endif
