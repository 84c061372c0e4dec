/* expansion.c -- f(x) = sum_i c_i k(z_i, x) made ready for a few rows at a time
 *
 * Method: centres are kept one feature after the other in blocks that stay in the first caches;
 *   two rows (one twice, if it is alone) pass over a block, whose basis values become kernel
 *   values and then a part of the sums. No memory is taken, no BLAS and no other thread is asked:
 *   what these cost is more than the arithmetic of one row.
 * Accuracy: as gram.c, but distances always come from the differences.
 * Cost: as gram.c. A row of 10 features against 1000 centres takes 2 to 3 microseconds, of which
 *   the exponentials are one.
 */
#include "kernel/expansion.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "simd/simd.h"

enum { BLOCK = 512, WIDTH = BLOCK + 8 }; /* eight more: features do not share a cache set */

struct fenp_expansion {
    fenp_kernel kernel;
    int64_t p, count, targets;
    fenp_arena arena;
    double *coef;   /* targets x count */
    double *points; /* blocks of p x WIDTH */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

int fenp_expansion_suits(const fen_kernel *kernel)
{
    return kernel->basis == FEN_SQUARED_DISTANCE || kernel->basis == FEN_L1_DISTANCE ||
           kernel->basis == FEN_PRODUCT;
}

static void pack(fenp_expansion *e, fen_view centres)
{
    for (int64_t i = 0; i < e->count; i++)
        for (int64_t k = 0; k < e->p; k++)
            e->points[(i / BLOCK * e->p + k) * WIDTH + i % BLOCK] =
                centres.at[i * centres.stride + k];
}

fenp_expansion *fenp_expansion_new(const fenp_kernel *kernel, fen_view centres, const double *coef,
                                   int64_t targets)
{
    fenp_expansion *e = fenp_new(1, sizeof *e);
    if (!e) return NULL;
    const int64_t blocks = (centres.rows + BLOCK - 1) / BLOCK;
    const int64_t coefs = fenp_bytes(targets, centres.rows, 1);
    const int64_t points = fenp_bytes(blocks, centres.cols, WIDTH);
    *e = (fenp_expansion){ .kernel = *kernel, .targets = targets };
    e->p = centres.cols, e->count = centres.rows;
    if (coefs < 0 || points < 0 ||
        fenp_arena_open(&e->arena, fenp_arena_bytes(coefs) + fenp_arena_bytes(points),
                        "a prediction", NULL) != FEN_OK) {
        free(e);
        return NULL;
    }
    e->coef = fenp_arena_doubles(&e->arena, coefs);
    e->points = fenp_arena_doubles(&e->arena, points);
    memcpy(e->coef, coef, (size_t)(targets * e->count) * sizeof *coef);
    pack(e, centres);
    return e;
}

void fenp_expansion_free(fenp_expansion *e)
{
    if (!e) return;
    fenp_arena_close(&e->arena);
    free(e);
}

/* Basis values of two rows against one block. */
static void fill(const fenp_simd *simd, fen_basis basis, const double *const x[2],
                 fenp_points points, double value[2][WIDTH])
{
    if (basis != FEN_PRODUCT) {
        simd->distance_two(basis, x[0], x[1], points, value[0], value[1]);
        return;
    }
    for (int r = 0; r < (x[0] == x[1] ? 1 : 2); r++) {
        memset(value[r], 0, (size_t)points.count * sizeof *value[r]);
        simd->add_columns(points.count, points.dim, points.at, points.width, x[r], value[r]);
    }
}

void fenp_expansion_rows(const fenp_expansion *e, fen_view rows, double *out)
{
    const fenp_simd *simd = fenp_simd_get();
    const fen_kernel *table = e->kernel.table;
    _Alignas(64) double value[2][WIDTH];
    double part;
    memset(out, 0, (size_t)(rows.rows * e->targets) * sizeof *out);
    for (int64_t i = 0; i < rows.rows; i += 2) {
        const int64_t pair = least(2, rows.rows - i);
        const double *const x[2] = { rows.at + i * rows.stride,
                                     rows.at + (i + pair - 1) * rows.stride };
        for (int64_t from = 0; from < e->count; from += BLOCK) {
            const int64_t count = least(BLOCK, e->count - from);
            fill(simd, table->basis, x,
                 (fenp_points){ e->points + from / BLOCK * e->p * WIDTH, e->p, WIDTH, count },
                 value);
            for (int64_t r = 0; r < pair; r++) {
                table->map(value[r], count, &e->kernel.par);
                for (int64_t t = 0; t < e->targets; t++) {
                    const double *coef = e->coef + t * e->count + from;
                    simd->dots(1, count, &coef, value[r], &part);
                    out[(i + r) * e->targets + t] += part;
                }
            }
        }
    }
}
