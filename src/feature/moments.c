/* moments.c -- see moments.h
 *
 * Method. Each tile of rows of [Z, y - shift, 1] is scaled by the roots of its weights and
 *   goes into G by one dsyrk. shift is the mean of y over the first tile: y = 1e9 + noise keeps its
 *   digits. |phi(x)| = 1, so that centring Z costs at most one of them.
 * Special cases. Eigenvalues below the rounding of G count as zero, with all of y along
 *   them: that is loss which no weight vector touches.
 * Accuracy. A tile is summed up by itself, tiles are added one by one: relative to the largest
 *   eigenvalue about eps times the root of their number.
 * Cost. columns^2 flops per row beside the features; 9 columns^3 for the spectrum. */
#include "feature/moments.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/linalg.h"

enum {
    LARGE = 1000,      /* columns: from there on one G of 8 MB is enough                    */
    SHARES_MAX = 16,   /* each has its own below that                                       */
    SMALL_TILE = 256,  /* rows: with 300 columns half a second-level cache                */
    LARGE_TILE = 2048, /* rows: work for all threads                                        */
};

/* Few columns: threads gather tiles of their own, each into its own G, and BLAS runs serially
 * inside. Many: one tile after the other, all threads on each. */
static int64_t share_count(int64_t columns)
{
    const int64_t threads = omp_get_max_threads();
    return columns > LARGE ? 1 : threads < SHARES_MAX ? threads : SHARES_MAX;
}

static int64_t tile_rows(int64_t columns) { return columns > LARGE ? LARGE_TILE : SMALL_TILE; }

int64_t fenp_cross_bytes(int64_t columns, int64_t targets)
{
    const int64_t order = columns + targets + 1, shares = share_count(columns);
    if (fenp_bytes(order, order + LARGE_TILE, SHARES_MAX * sizeof(double)) < 0) return -1;
    return fenp_arena_bytes(shares * order * order) + fenp_arena_bytes(targets) +
           fenp_arena_bytes(shares * tile_rows(columns) * order);
}

void fenp_cross_open(fenp_arena *arena, int64_t columns, int64_t targets, int bias, fenp_cross *out)
{
    const int64_t order = columns + targets + 1, shares = share_count(columns);
    *out = (fenp_cross){ .columns = columns, .targets = targets, .order = order, .bias = bias };
    out->shares = shares, out->tile_rows = tile_rows(columns);
    out->gram = fenp_arena_doubles(arena, shares * order * order);
    out->shift = fenp_arena_doubles(arena, targets);
    out->tile = fenp_arena_doubles(arena, shares * out->tile_rows * order);
    memset(out->gram, 0, (size_t)(shares * order * order) * sizeof(double));
    memset(out->shift, 0, (size_t)targets * sizeof(double));
}

/* ---- gathering -------------------------------------------------------------------------- */

static void choose_shift(fenp_cross *m, const fenp_sample *block, int64_t rows)
{
    for (int64_t t = 0; t < m->targets; t++) {
        const double *y = block->y + t * block->n;
        double sum = 0.0, weight = 0.0;
        for (int64_t i = 0; i < rows; i++) {
            sum += block->w[i] * (y[i] - y[0]);
            weight += block->w[i];
        }
        m->shift[t] = y[0] + sum / weight;
    }
}

static int all_one(const double *w, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        if (w[i] != 1.0) return 0;
    return 1;
}

/* The columns behind the features, then the roots of the weights on all of them. */
static void finish_tile(const fenp_cross *m, const fenp_sample *block, int64_t first, int64_t rows,
                        double *tile)
{
    const int64_t ld = m->tile_rows;
    const double *w = block->w + first;
    double *y = tile + m->columns * ld;
    for (int64_t t = 0; t < m->targets; t++)
        for (int64_t i = 0; i < rows; i++)
            y[t * ld + i] = block->y[t * block->n + first + i] - m->shift[t];
    for (int64_t i = 0; i < rows; i++) y[m->targets * ld + i] = 1.0;
    if (all_one(w, rows)) return;
#pragma omp parallel for
    for (int64_t j = 0; j < m->order; j++)
        for (int64_t i = 0; i < rows; i++) tile[j * ld + i] *= sqrt(w[i]);
}

static void add_tile(const fenp_cross *m, const double *omega, const fenp_sample *block,
                     int64_t first, int64_t rows, int64_t share)
{
    double *tile = m->tile + share * m->tile_rows * m->order;
    fenp_fourier_map(omega, m->columns, block->x + first * block->p, block->p, rows, tile,
                     m->tile_rows);
    finish_tile(m, block, first, rows, tile);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)m->order, (int)rows, 1.0, tile,
                (int)m->tile_rows, 1.0, m->gram + share * m->order * m->order, (int)m->order);
}

/* Tiles of equal length, as many for each share: no thread waits, and for one number of
 * threads sums have one order. */
void fenp_cross_add(fenp_cross *m, const double *omega, const fenp_sample *block)
{
    const int64_t n = block->n, round = m->shares * m->tile_rows;
    const int64_t each = (n + round - 1) / round, tiles = each * m->shares;
    if (m->rows == 0 && m->bias && n > 0)
        choose_shift(m, block, n < m->tile_rows ? n : m->tile_rows);
#pragma omp parallel for schedule(static, 1) num_threads((int)m->shares) if (m->shares > 1)
    for (int64_t share = 0; share < m->shares; share++)
        for (int64_t k = share * each; k < (share + 1) * each; k++) {
            const int64_t first = k * n / tiles, end = (k + 1) * n / tiles;
            if (end > first) add_tile(m, omega, block, first, end - first, share);
        }
    m->rows += n;
}

void fenp_cross_close(fenp_cross *m)
{
    const int64_t order = m->order, last = order - 1, size = order * order;
    for (int64_t share = 1; share < m->shares; share++)
        for (int64_t i = 0; i < size; i++) m->gram[i] += m->gram[share * size + i];
    const double weight = m->gram[last * (order + 1)];
    for (int64_t j = 0; j < order; j++)
        for (int64_t i = j; i < order; i++) m->gram[i + j * order] /= weight;
    for (int64_t j = 0; m->bias && j < last; j++) {
        const double mean = m->gram[last + j * order];
        for (int64_t i = j; i < last; i++)
            m->gram[i + j * order] -= mean * m->gram[last + i * order];
    }
}

/* ---- the spectrum ----------------------------------------------------------------------- */

int64_t fenp_cross_spectrum_bytes(int64_t columns, int64_t targets)
{
    if (!fenp_eigen_possible(columns)) return -1;
    return fenp_arena_bytes(columns * columns) + fenp_arena_bytes(columns) +
           fenp_arena_bytes(columns * targets) + fenp_arena_bytes(targets) +
           fenp_arena_bytes(fenp_eigen_work(columns));
}

double fenp_cross_rounding(int64_t rows)
{
    const double tiles = (double)(rows / SMALL_TILE + 1); /* errors add up like the root */
    return DBL_EPSILON * (16.0 + sqrt(tiles));
}

static void drop_rounding(const fenp_cross *m, fenp_spectrum *e)
{
    const double floor = fenp_cross_rounding(m->rows) * fmax(e->d[e->rank - 1], 0.0);
    for (int64_t j = 0; j < e->rank; j++) {
        if (e->d[j] > floor) continue;
        e->d[j] = 0.0;
        for (int64_t t = 0; t < e->targets; t++) e->ty[j + t * e->rank] = 0.0;
    }
}

/* |y|^2 that the columns leave: n yy - sum ty^2 / d, which rounding may make negative */
static double left_over(const fenp_cross *m, const fenp_spectrum *e, int64_t t)
{
    long double rest = (long double)m->rows * fenp_cross_yy(m, t);
    for (int64_t j = 0; j < e->rank; j++)
        if (e->d[j] > 0.0)
            rest -= (long double)e->ty[j + t * e->rank] * e->ty[j + t * e->rank] / e->d[j];
    return fmax((double)rest, 0.0);
}

fen_status fenp_cross_spectrum(fenp_arena *arena, const fenp_cross *m, fenp_spectrum *out,
                               fen_error *err)
{
    const int64_t r = m->columns, n = m->rows;
    *out = (fenp_spectrum){ .primal = 1, .n = n, .rank = r, .targets = m->targets };
    out->rotation = fenp_arena_doubles(arena, r * r);
    out->d = fenp_arena_doubles(arena, r);
    out->ty = fenp_arena_doubles(arena, r * m->targets);
    out->rest = fenp_arena_doubles(arena, m->targets);
    double *work = fenp_arena_doubles(arena, fenp_eigen_work(r));
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = j; i < r; i++)
            out->rotation[i + j * r] = (double)n * m->gram[i + j * m->order];
    const fen_status status = fenp_eigen(r, out->rotation, r, out->d, work, err);
    if (status != FEN_OK) return status;
    for (int64_t t = 0; t < m->targets; t++)
        cblas_dgemv(CblasColMajor, CblasTrans, (int)r, (int)r, (double)n, out->rotation, (int)r,
                    fenp_cross_zy(m, t), (int)m->order, 0.0, out->ty + t * r, 1);
    drop_rounding(m, out);
    for (int64_t t = 0; t < m->targets; t++) out->rest[t] = left_over(m, out, t);
    return FEN_OK;
}

/* (A + c/n) w = zy, A = Q D Q'/n: the eigenvectors are exact to eps d_max, refinement brings
 * the residual down to the rounding of A w. */
void fenp_cross_weights(const fenp_cross *m, const fenp_spectrum *e, int64_t target, double c,
                        int steps, double *work, double *weights)
{
    const int r = (int)e->rank, order = (int)m->order;
    const double n = (double)e->n;
    double *left = work, *along = work + r;
    memset(weights, 0, (size_t)r * sizeof(double));
    for (int step = 0; step <= steps && !isinf(c); step++) {
        for (int64_t j = 0; j < r; j++)
            left[j] = fenp_cross_zy(m, target)[j * m->order] - c / n * weights[j];
        cblas_dsymv(CblasColMajor, CblasLower, r, -1.0, m->gram, order, weights, 1, 1.0, left, 1);
        cblas_dgemv(CblasColMajor, CblasTrans, r, r, n, e->rotation, r, left, 1, 0.0, along, 1);
        for (int64_t j = 0; j < r; j++) along[j] = e->d[j] > 0.0 ? along[j] / (e->d[j] + c) : 0.0;
        cblas_dgemv(CblasColMajor, CblasNoTrans, r, r, 1.0, e->rotation, r, along, 1, 1.0, weights,
                    1);
    }
}

double fenp_cross_offset(const fenp_cross *m, int64_t target, const double *weights)
{
    const double *means = fenp_cross_means(m);
    if (!m->bias) return 0.0;
    return m->shift[target] + (means[(m->columns + target) * m->order] -
                               cblas_ddot((int)m->columns, means, (int)m->order, weights, 1));
}
