/* panel.c -- see panel.h
 *
 * Method: products are made in blocks of 24 x 8, three panels by one, whose sums stay in 24 vector
 *   registers while the rows go by, 256 of them, which for 500 columns a second-level cache holds.
 *   On the diagonal only what reaches into the triangle is multiplied.
 *   Two rows (a, b) of one column and (c, d) of another need one multiplication instead of two, if
 *   it is known of both columns what their own rows make (S. Winograd, 1968):
 *       a c + b d = (a + d) (b + c) - a b - c d
 *   Additions have units of their own beside those that multiply, so that two vectors of three are
 *   made that way and the third as usual: either kind is then busy all the time, and three vectors
 *   take the time of two.
 * Why not dsyrk: no library does that, and dsyrk copies rows into panels twice for every call; here
 *   whoever makes the rows puts them there. 20000 x 500 on one core (Zen 4): 75 ms instead of 109,
 *   where multiplications in the usual way take 88 at least.
 * Special cases: a column of zeros (or of numbers whose squares are none) has products that are 0 to
 *   the last bit, as what is subtracted is summed up in the order of the products. Equal columns
 *   may have sums that differ in their last bits. Machines without AVX-512 are told that it does
 *   not pay.
 * Accuracy: one operation after the other for every sum of 256 products. The errors of Winograd's
 *   form go by |x|^2 + |z|^2, norms over the rows, where those of a sum of products go by |x|'|z|:
 *   small beside the columns, if not beside a product of columns that are large in other rows.
 *   Blocks whose columns differ by more than UNLIKE in size are multiplied as usual; so are
 *   columns that hardly change by each other, a column of ones among them, as their errors would
 *   add up and whoever takes the mean off would take them for a column.
 * Cost: rows p^2 flops, and 2 % more on the diagonal. */
#include "base/panel.h"

#include <math.h>
#include <string.h>

#include "base/wide.h"

enum { WIDE = FENP_PANEL_WIDE, ROWS = FENP_PANEL_ROWS, PANEL = WIDE * ROWS, VECTORS = 3 };
enum { BLOCK = VECTORS * WIDE * WIDE }; /* numbers                                           */
enum { OWN = 2 * WIDE + 3 };            /* numbers of own                                    */
enum { ENOUGH = 3 * VECTORS * WIDE };   /* columns: fewer are mostly diagonal                */
static const double UNLIKE = 4.0;       /* times as large, of the columns that differ from 0 */
static const double FLAT = 1e-6;        /* sum of (a - b)^2 over that of squares             */

/* Panels, for which blocks are whole. */
static int64_t panels_of(int64_t p)
{
    return (p + VECTORS * WIDE - 1) / (VECTORS * WIDE) * VECTORS;
}

/* What their rows make by themselves comes after the panels: see own. */
int64_t fenp_panel_doubles(int64_t p) { return panels_of(p) * (PANEL + OWN); }

int64_t fenp_panel_sum_doubles(int64_t p)
{
    const int64_t steps = panels_of(p) / VECTORS;
    return VECTORS * steps * (steps + 1) / 2 * BLOCK;
}

/* ---- vectors ------------------------------------------------------------------------------ */

typedef double vector __attribute__((vector_size(64), may_alias));
#define EACH_COLUMN(j) FENP_UNROLL for (int j = 0; j < WIDE; j++)
#define INLINE WITH_VECTORS static inline __attribute__((always_inline))

#if defined(__x86_64__)
#include <immintrin.h>
#define WITH_VECTORS __attribute__((target("avx512f,fma")))

/* Frames of gcc 12's address sanitizer are not aligned as vectors are. */
int fenp_panel_pays(int64_t p)
{
#ifdef __SANITIZE_ADDRESS__
    (void)p;
    return 0;
#else
    return p >= ENOUGH && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
#endif
}

INLINE vector all(double b) { return _mm512_set1_pd(b); }

INLINE vector load(const double *x) { return _mm512_loadu_pd(x); }

INLINE vector add_product(vector x, vector y, vector sum) { return _mm512_fmadd_pd(x, y, sum); }

/* x + b and sum + x b with a number of memory. Compilers would keep it in a register for three of
 * them; to fill that takes a unit that is to add, where numbers that come with an operation take
 * none. */
INLINE vector plus(vector x, const double *b)
{
    vector sum;
    __asm__("vaddpd %2%{1to8%}, %1, %0" : "=v"(sum) : "v"(x), "m"(*b));
    return sum;
}

INLINE vector plus_times(vector sum, vector x, const double *b)
{
    __asm__("vfmadd231pd %2%{1to8%}, %1, %0" : "+v"(sum) : "v"(x), "m"(*b));
    return sum;
}
#else
#define WITH_VECTORS

int fenp_panel_pays(int64_t p)
{
    (void)p;
    return 0;
}

INLINE vector all(double b) { return (vector){ b, b, b, b, b, b, b, b }; }

INLINE vector load(const double *x)
{
    vector v;
    memcpy(&v, x, sizeof v);
    return v;
}

INLINE vector add_product(vector x, vector y, vector sum) { return sum + x * y; }

INLINE vector plus(vector x, const double *b) { return x + all(*b); }

INLINE vector plus_times(vector sum, vector x, const double *b) { return sum + x * all(*b); }
#endif

/* ---- rows --------------------------------------------------------------------------------- */

/* What the pairs of rows of a panel make by themselves, for each column: sums of a b and of squares;
 * of which the least and the largest, zeros apart; flat: some column hardly changes. */
typedef struct own {
    double products[WIDE], squares[WIDE], least, most, flat;
} own;

/* The first width numbers, and zeros. */
INLINE vector load_some(const double *x, int64_t width)
{
    double some[WIDE] = { 0.0 };
    memcpy(some, x, (size_t)width * sizeof *x);
    return load(some);
}

/* Rows of the panel from to on; the last of an odd number gets one of zeros beside it. */
WITH_VECTORS static void put_panel(const double *x, int64_t ldx, int64_t width, int64_t count,
                                   double *to, own *of, int fresh)
{
    vector products = fresh ? all(0.0) : load(of->products);
    vector squares = fresh ? all(0.0) : load(of->squares);
    for (int64_t i = 0; i < count; i += 2, to += 2 * WIDE) {
        const double *first = x + i * ldx, *second = i + 1 < count ? first + ldx : first;
        const vector a = width == WIDE ? load(first) : load_some(first, width);
        const vector b = i + 1 == count  ? all(0.0)
                         : width == WIDE ? load(second)
                                         : load_some(second, width);
        *(vector *)to = a, *(vector *)(to + WIDE) = b;
        products = add_product(a, b, products);
        squares = add_product(a, a, add_product(b, b, squares));
    }
    memcpy(of->products, &products, sizeof products);
    memcpy(of->squares, &squares, sizeof squares);
    of->least = INFINITY, of->most = of->flat = 0.0;
    for (int k = 0; k < WIDE; k++) {
        if (squares[k] > 0.0 && squares[k] < of->least) of->least = squares[k];
        if (squares[k] > 0.0 && squares[k] - 2.0 * products[k] < FLAT * squares[k]) of->flat = 1.0;
        if (squares[k] > of->most) of->most = squares[k];
    }
}

void fenp_panel_put(int64_t p, const double *x, int64_t ldx, int64_t at, int64_t count,
                    double *panels)
{
    own *of = (own *)(panels + panels_of(p) * PANEL);
    for (int64_t j = 0; j < panels_of(p) * WIDE; j += WIDE, panels += PANEL, of++) {
        const int64_t width = p - j < 0 ? 0 : p - j < WIDE ? p - j : WIDE;
        put_panel(width > 0 ? x + j : x, ldx, width, count, panels + at * WIDE, of, at == 0);
    }
}

/* Lanes of two vectors, those of b counted from 8 on. */
#define MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/* to (8 x 8, row-major) gets the rows of 8 columns: neighbours change places, then pairs, then fours. */
WITH_VECTORS static void turn(const double *x, int64_t ldx, double *to)
{
    vector a[WIDE], b[WIDE];
    for (int c = 0; c < WIDE; c++) a[c] = load(x + c * ldx);
    for (int c = 0; c < WIDE; c += 2) {
        b[c] = MIX(a[c], a[c + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        b[c + 1] = MIX(a[c], a[c + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int c = 0; c < WIDE; c++) {
        const int low = c / 4 * 4 + c % 2;
        a[c] = c % 4 < 2 ? MIX(b[low], b[low + 2], 0, 1, 8, 9, 4, 5, 12, 13)
                         : MIX(b[low], b[low + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int r = 0; r < WIDE; r++) {
        const vector row = r < 4 ? MIX(a[r], a[r + 4], 0, 1, 2, 3, 8, 9, 10, 11)
                                 : MIX(a[r - 4], a[r], 4, 5, 6, 7, 12, 13, 14, 15);
        memcpy(to + r * WIDE, &row, sizeof row);
    }
}

/* Some rows of width columns, row-major and filled up with zeros. */
static void turn_some(const double *x, int64_t ldx, int64_t width, int64_t count, double *to)
{
    int64_t i = 0;
    for (; i + WIDE <= count && width == WIDE; i += WIDE) turn(x + i, ldx, to + i * WIDE);
    for (; i < count; i++)
        for (int64_t c = 0; c < WIDE; c++) to[i * WIDE + c] = c < width ? x[c * ldx + i] : 0.0;
}

void fenp_panel_put_columns(int64_t p, const double *x, int64_t ldx, int64_t count, double *panels)
{
    enum { SOME = 32 };
    own *of = (own *)(panels + panels_of(p) * PANEL);
    for (int64_t j = 0; j < panels_of(p) * WIDE; j += WIDE, panels += PANEL, of++) {
        const int64_t width = p - j < 0 ? 0 : p - j < WIDE ? p - j : WIDE;
        for (int64_t i = 0; i < count; i += SOME) {
            double rows[SOME * WIDE];
            const int64_t some = count - i < SOME ? count - i : SOME;
            turn_some(width > 0 ? x + j * ldx + i : x, ldx, width, some, rows);
            put_panel(rows, WIDE, WIDE, some, panels + i * WIDE, of, i == 0);
        }
    }
}

/* ---- blocks ------------------------------------------------------------------------------- */

/* to <- to + A'B, or A'B if fresh: some panels from a on by that at b, of pairs of rows. The first
 * shorter ones are made by Winograd's form. */
INLINE void block(int panels, int shorter, int64_t pairs, const double *a, const own *of_a,
                  const double *b, const own *of_b, int fresh, double *to)
{
    vector sum[WIDE][VECTORS];
    EACH_COLUMN (j)
        for (int v = 0; v < panels; v++) {
            __builtin_prefetch(to + (j * VECTORS + v) * WIDE, 1);
            sum[j][v] = all(0.0);
        }
    for (int64_t i = 0; i < pairs; i++, a += 2 * WIDE, b += 2 * WIDE) {
        vector x[VECTORS], y[VECTORS];
        for (int v = 0; v < panels; v++)
            x[v] = *(const vector *)(a + v * PANEL), y[v] = *(const vector *)(a + v * PANEL + WIDE);
        EACH_COLUMN (j)
            for (int v = 0; v < panels; v++)
                sum[j][v] =
                    v < shorter
                        ? add_product(plus(x[v], b + WIDE + j), plus(y[v], b + j), sum[j][v])
                        : plus_times(plus_times(sum[j][v], x[v], b + j), y[v], b + WIDE + j);
    }
    EACH_COLUMN (j)
        for (int v = 0; v < panels; v++) {
            vector *at = (vector *)(to + (j * VECTORS + v) * WIDE);
            if (v < shorter)
                sum[j][v] = sum[j][v] - load(of_a[v].products) - all(of_b->products[j]);
            if (!fresh) sum[j][v] += *at;
            *at = sum[j][v];
        }
}

typedef void block_maker(int64_t pairs, const double *a, const own *of_a, const double *b,
                         const own *of_b, int fresh, double *to);

#define BLOCK_OF(name, panels, shorter)                                                    \
    WITH_VECTORS static void name(int64_t pairs, const double *a, const own *of_a,         \
                                  const double *b, const own *of_b, int fresh, double *to) \
    {                                                                                      \
        block(panels, shorter, pairs, a, of_a, b, of_b, fresh, to);                        \
    }
BLOCK_OF(usual_one, 1, 0)
BLOCK_OF(usual_two, 2, 0)
BLOCK_OF(usual_three, 3, 0)
BLOCK_OF(short_one, 1, 1)
BLOCK_OF(short_two, 2, 1)
BLOCK_OF(short_three, 3, 2)
static block_maker *const USUAL[VECTORS] = { usual_one, usual_two, usual_three };
static block_maker *const SHORT[VECTORS] = { short_one, short_two, short_three };

/* ---- the triangle ------------------------------------------------------------------------- */

/* Are the columns of VECTORS panels and of one more alike in size, and not flat on both sides? */
static int is_short(const own *a, const own *b)
{
    double least = b->least, most = b->most, flat = 0.0;
    for (int v = 0; v < VECTORS; v++) {
        least = fmin(least, a[v].least), most = fmax(most, a[v].most);
        flat = fmax(flat, a[v].flat * b->flat);
    }
    return flat == 0.0 && most < INFINITY && most <= UNLIKE * UNLIKE * least;
}

void fenp_panel_multiply(int64_t p, int64_t rows, const double *panels, int fresh, double *sums)
{
    const int64_t count = panels_of(p), pairs = (rows + 1) / 2;
    const own *of = (const own *)(panels + count * PANEL);
    for (int64_t i = 0; i < count; i += VECTORS)
        for (int64_t j = i; j < count; j++, sums += BLOCK) {
            block_maker *const *make = is_short(of + i, of + j) ? SHORT : USUAL;
            make[j - i < VECTORS ? j - i : VECTORS - 1](pairs, panels + i * PANEL, of + i,
                                                        panels + j * PANEL, of + j, fresh, sums);
        }
}

void fenp_panel_take(int64_t p, const double *sums, double alpha, double *c, int64_t ldc)
{
    enum { HIGH = VECTORS * WIDE };
    for (int64_t i = 0; i < p; i += HIGH) {
        for (int64_t j = i; j < p; j++, sums += HIGH) {
            const int64_t count = j - i < HIGH ? j - i + 1 : HIGH;
            double *restrict to = c + j * ldc + i;
            for (int64_t k = 0; k < count; k++) to[k] = alpha * sums[k];
        }
        sums += (panels_of(p) * WIDE - p) * HIGH;
    }
}
