/* fourier.c -- random Fourier features (fourier.h)
 *
 *     k(x - z) = mean of cos(omega.(x - z)) over the spectral law of k (Bochner)
 *
 * The laws. With s = gamma for kernels of gamma r, s = sqrt(2 gamma) for exp(-gamma r^2):
 *     omega = s v sqrt(m / chi2_m),   v normal,  m degrees: 1 laplace, 3 matern32, 5 matern52
 *     omega = s v                     gaussian (m infinite)
 * a multivariate t. Kernels of the L1 distance are products over the coordinates: each
 * coordinate has a chi2 of its own.
 * Orthogonal: a block of at most p normal vectors is made orthonormal, which leaves each of
 * them uniform on the sphere; the length of each frequency is drawn apart from that. By hand
 * (Gram-Schmidt, each vector twice) and not by LAPACK's QR, whose bits depend on the threads.
 * Method of the map. Tiles of rows shared by the threads: one GEMM, then sine and cosine
 * while the tile is in the cache.
 * Accuracy. eps |omega.x| in the argument, 2e-16 beyond it.
 * Cost. p D flops and D/2 sines and cosines (0.8 ns) per row. */
#include <cblas.h>
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "feature/fourier.h"
#include "simd/simd.h"

enum { TILE_ROWS = 256 }; /* times 150 frequencies: 300 KB, in a second-level cache */

/* Streams of random numbers; sample.c and kfold.c use 1 and 2. */
enum { NORMALS = 3, CHI_SQUARES = 4, DIRECTIONS = 5 };

/* ---- what is asked for ------------------------------------------------------------------ */

fen_status fenp_approx_read(const char *text, fenp_approx *out, fen_error *err)
{
    const int orthogonal = strncmp(text, "orthogonal:", 11) == 0;
    const char *number = orthogonal ? text + 11 : text + 8;
    *out = (fenp_approx){ 0, orthogonal };
    if (strcmp(text, "none") == 0) return FEN_OK;
    if ((!orthogonal && strncmp(text, "fourier:", 8) != 0) ||
        !fenp_parse_int(number, (int64_t)strlen(number), &out->columns) || out->columns < 2 ||
        out->columns > FENP_COLUMNS_MAX || out->columns % 2 != 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--approx is \"%.40s\"; it must be none, fourier:D or orthogonal:D with "
                         "an even D from 2 to %d",
                         text, FENP_COLUMNS_MAX);
    return FEN_OK;
}

fen_status fenp_approx_check(const fenp_approx *approx, const fen_kernel *kernel, fen_error *err)
{
    if (!(kernel->spectral_degrees > 0))
        return fenp_fail(err, FEN_BAD_CALL,
                         "the %s kernel has no random Fourier features; use --approx none, or a "
                         "gaussian, laplace or matern kernel",
                         kernel->name);
    if (approx->orthogonal && kernel->basis == FEN_L1_DISTANCE)
        return fenp_fail(err, FEN_BAD_CALL,
                         "the frequencies of the %s kernel have no direction to make orthogonal; "
                         "use --approx fourier:%lld",
                         kernel->name, (long long)approx->columns);
    return FEN_OK;
}

/* ---- frequencies ------------------------------------------------------------------------ */

static double frequency_unit(const fenp_kernel *k)
{
    return k->table->gamma_is_inverse_length ? k->par.gamma : sqrt(2.0 * k->par.gamma);
}

/* sqrt(m / chi2_m) from the k-th m normals of the stream; 1 for infinite m */
static double stretch(double degrees, uint64_t seed, int64_t k)
{
    double chi2 = 0.0;
    if (isinf(degrees)) return 1.0;
    for (int64_t i = 0; i < (int64_t)degrees; i++) {
        const double v = fenp_normal(seed, CHI_SQUARES, (uint64_t)(k * (int64_t)degrees + i));
        chi2 += v * v;
    }
    return sqrt(degrees / chi2);
}

static void draw_row(const fenp_kernel *k, int64_t p, uint64_t seed, int64_t row, double *omega)
{
    const double degrees = k->table->spectral_degrees, unit = frequency_unit(k);
    const int each = k->table->basis == FEN_L1_DISTANCE;
    const double all = each ? 1.0 : stretch(degrees, seed, row);
    for (int64_t j = 0; j < p; j++) {
        const double own = each ? stretch(degrees, seed, row * p + j) : all;
        omega[j] = unit * own * fenp_normal(seed, NORMALS, (uint64_t)(row * p + j));
    }
}

static double dot(const double *a, const double *b, int64_t p)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < p; j++) sum += a[j] * b[j];
    return sum;
}

static void scale(double *a, int64_t p, double by)
{
    for (int64_t j = 0; j < p; j++) a[j] *= by;
}

/* v less its part along each of the count orthonormal rows before it, as a unit vector. */
static void make_orthogonal(double *v, const double *rows, int64_t count, int64_t p)
{
    for (int pass = 0; pass < 2; pass++) /* the second removes what rounding left */
        for (int64_t k = 0; k < count; k++) {
            const double along = dot(rows + k * p, v, p);
            for (int64_t j = 0; j < p; j++) v[j] -= along * rows[k * p + j];
        }
    scale(v, p, 1.0 / sqrt(dot(v, v, p)));
}

/* Length of what draw_row would draw. */
static double draw_length(const fenp_kernel *k, int64_t p, uint64_t seed, int64_t row)
{
    double chi2 = 0.0;
    for (int64_t j = 0; j < p; j++) {
        const double v = fenp_normal(seed, NORMALS, (uint64_t)(row * p + j));
        chi2 += v * v;
    }
    return frequency_unit(k) * stretch(k->table->spectral_degrees, seed, row) * sqrt(chi2);
}

/* Rows first .. first + count - 1, count <= p, orthogonal to each other. */
static void draw_block(const fenp_kernel *k, int64_t p, uint64_t seed, int64_t first, int64_t count,
                       double *omega)
{
    for (int64_t i = 0; i < count; i++) {
        double *v = omega + i * p;
        for (int64_t j = 0; j < p; j++)
            v[j] = fenp_normal(seed, DIRECTIONS, (uint64_t)((first + i) * p + j));
        make_orthogonal(v, omega, i, p);
    }
    for (int64_t i = 0; i < count; i++) scale(omega + i * p, p, draw_length(k, p, seed, first + i));
}

void fenp_fourier_draw(const fenp_approx *approx, const fenp_kernel *kernel, int64_t p,
                       uint64_t seed, double *omega)
{
    const int64_t rows = approx->columns / 2, block = approx->orthogonal && p > 1 ? p : 1;
#pragma omp parallel for schedule(dynamic)
    for (int64_t first = 0; first < rows; first += block) {
        const int64_t count = rows - first < block ? rows - first : block;
        if (block > 1)
            draw_block(kernel, p, seed, first, count, omega + first * p);
        else
            draw_row(kernel, p, seed, first, omega + first * p);
    }
}

/* ---- features --------------------------------------------------------------------------- */

static void map_tile(const double *omega, int64_t columns, const double *x, int64_t p, int64_t rows,
                     double *z, int64_t ld)
{
    const fenp_simd *simd = fenp_simd_get();
    const int64_t half = columns / 2;
    const double amplitude = sqrt(2.0 / (double)columns);
    double *sine = z + half * ld;
    if (p > 0)
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)rows, (int)half, (int)p, 1.0, x,
                    (int)p, omega, (int)p, 0.0, sine, (int)ld);
    for (int64_t j = 0; j < half; j++) {
        if (p == 0) memset(sine + j * ld, 0, (size_t)rows * sizeof(double));
        simd->sincos_scaled(sine + j * ld, z + j * ld, rows, amplitude);
    }
}

void fenp_fourier_map(const double *omega, int64_t columns, const double *x, int64_t p,
                      int64_t rows, double *z, int64_t ld)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t row = 0; row < rows; row += TILE_ROWS)
        map_tile(omega, columns, x + row * p, p, rows - row < TILE_ROWS ? rows - row : TILE_ROWS,
                 z + row, ld);
}
