/* points.c -- products of h rows, and the exact form of all pairs of them
 *
 *     T(a) = sum over P, Q of v_P k(u_P, u_Q) v_Q,   om_i = sum over tuples t of a^t g(i, t),
 *     g_P = sum over Q of k(u_P, u_Q) v_Q,   v_P = orders(P) a_i1 ... a_ih
 *
 * Points P, Q are multisets i1 <= ... <= ih of rows. Of the tuples that are P, orders(P) c_i / h
 * begin with row i, which P holds c_i times: so much of g_P a^(P without i) goes to om_i.
 * Method: only rows with a != 0 in some vector make columns ("active" points: all members are
 *   such rows), and rows of the matrix are the active points and those with one other member.
 *   Tiles of BLOCK x BLOCK kernel values, one GEMM each; a tile of two active blocks serves as its
 *   own transpose, so that each pair is computed once. Tiles go in rounds: in round d block I
 *   meets block I + d (cyclic), so that no two threads add to the same sums, and the order of
 *   every sum depends on the sizes alone.
 * Special cases: a = 0, no rows: 0.
 * Accuracy: sums of BLOCK terms in double, over tiles in long double.
 * Cost: M^2/2 kernel values; memory: a few numbers for each point, one tile for each thread. */
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "tensor/pivots.h"

enum { BLOCK = 128 };

static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- multisets --------------------------------------------------------------------------- */

int64_t fenp_half_order(const fenp_kernel *kernel) { return llround(0.5 * kernel->par.order); }

int64_t fenp_multisets(int64_t n, int64_t h)
{
    __int128 count = 1; /* C(n-1+i, i), a whole number for every i */
    for (int64_t i = 1; i <= h; i++) {
        count = count * (n - 1 + i) / i;
        if (count >= INT64_MAX) return INT64_MAX;
    }
    return (int64_t)count;
}

void fenp_multiset_at(int64_t n, int64_t h, int64_t k, int64_t *member)
{
    int64_t least = 0;
    for (int64_t s = 0; s < h; s++) { /* as large as the sets that begin with less allow */
        const int64_t all = fenp_multisets(n - least, h - s);
        int64_t low = least, high = n - 1;
        while (low < high) {
            const int64_t middle = low + (high - low + 1) / 2;
            if (all - fenp_multisets(n - middle, h - s) <= k)
                low = middle;
            else
                high = middle - 1;
        }
        k -= all - fenp_multisets(n - low, h - s);
        member[s] = least = low;
    }
}

int fenp_multiset_next(int64_t n, int64_t h, int64_t *member)
{
    int64_t s = h - 1;
    while (s >= 0 && member[s] == n - 1) s--;
    if (s < 0) return 0;
    const int64_t i = member[s] + 1;
    for (; s < h; s++) member[s] = i;
    return 1;
}

double fenp_multiset_orders(int64_t h, const int64_t *member)
{
    double orders = 1.0; /* of the first s + 1 members: always whole */
    int64_t equal = 0;
    for (int64_t s = 0; s < h; s++) {
        equal = s > 0 && member[s] == member[s - 1] ? equal + 1 : 1;
        orders = orders * (double)(s + 1) / (double)equal;
    }
    return orders;
}

/* ---- points ------------------------------------------------------------------------------ */

void fenp_point_of(fen_view x, int64_t h, const int64_t *member, double *out)
{
    for (int64_t j = 0; j < x.cols; j++) out[j] = 1.0;
    for (int64_t s = 0; s < h; s++) {
        const double *row = x.at + member[s] * x.stride;
        for (int64_t j = 0; j < x.cols; j++) out[j] *= row[j];
    }
}

void fenp_point_kernel(const fenp_kernel *kernel, int64_t p, const double *u, int64_t rows,
                       const double *v, int64_t cols, double *out, int64_t ld)
{
    if (p > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)cols, (int)p, 1.0, u,
                    (int)p, v, (int)p, 0.0, out, (int)ld);
    for (int64_t r = 0; r < rows; r++) {
        if (p == 0) memset(out + r * ld, 0, (size_t)cols * sizeof *out);
        kernel->table->map(out + r * ld, cols, &kernel->par);
    }
}

/* ---- the points of a sum ----------------------------------------------------------------- */

/* Active points come first: `active` of them. */
typedef struct sums {
    const fenp_kernel *kernel;
    fen_view x;
    const double *a;
    int64_t h, vectors, active, points;
    int64_t *member;            /* points x h                                              */
    double *v;                  /* active x vectors                                        */
    long double *down, *across; /* parts of g, points x vectors: as rows of tiles, as columns */
    double *work;               /* work_size for each thread                               */
    int64_t work_size;
    fenp_arena arena;
} sums;

static int is_active(const sums *s, int64_t i)
{
    for (int64_t c = 0; c < s->vectors; c++)
        if (s->a[c * s->x.rows + i] != 0.0) return 1;
    return 0;
}

/* Active rows first, then the others, each ascending; how many are active. */
static int64_t order_rows(const sums *s, int64_t *row)
{
    int64_t active = 0, last = s->x.rows;
    for (int64_t i = s->x.rows - 1; i >= 0; i--)
        if (!is_active(s, i)) row[--last] = i;
    for (int64_t i = 0; i < s->x.rows; i++)
        if (is_active(s, i)) row[active++] = i;
    return active;
}

static void sort_in(int64_t *member, int64_t count, int64_t i)
{
    for (; count > 0 && member[count - 1] > i; count--) member[count] = member[count - 1];
    member[count] = i;
}

/* Multisets of active rows; then those of one other row and h - 1 active ones. */
static void list_points(sums *s, const int64_t *row, int64_t active, int64_t *place)
{
    const int64_t h = s->h;
    int64_t *to = s->member;
    memset(place, 0, (size_t)h * sizeof *place);
    for (int64_t k = 0; k < s->active; k++, to += h) {
        for (int64_t t = 0; t < h; t++) to[t] = row[place[t]];
        fenp_multiset_next(active, h, place);
    }
    for (int64_t i = active; i < s->x.rows && s->points > s->active; i++) {
        memset(place, 0, (size_t)h * sizeof *place);
        do {
            for (int64_t t = 0; t < h - 1; t++) to[t] = row[place[t]];
            sort_in(to, h - 1, row[i]);
            to += h;
        } while (fenp_multiset_next(active, h - 1, place));
    }
}

/* Product of all members of point k but the one at position t (-1: of all) in vector c. */
static double product(const sums *s, int64_t k, int64_t t, int64_t c)
{
    const int64_t *member = s->member + k * s->h;
    double value = 1.0;
    for (int64_t i = 0; i < s->h; i++)
        if (i != t) value *= s->a[c * s->x.rows + member[i]];
    return value;
}

static void fill_values(sums *s)
{
    for (int64_t k = 0; k < s->active; k++)
        for (int64_t c = 0; c < s->vectors; c++)
            s->v[k * s->vectors + c] =
                fenp_multiset_orders(s->h, s->member + k * s->h) * product(s, k, -1, c);
}

/* ---- tiles ------------------------------------------------------------------------------- */

static void add(long double *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] += (long double)from[i];
}

static void make_points(const sums *s, int64_t first, int64_t count, double *out)
{
    for (int64_t k = 0; k < count; k++)
        fenp_point_of(s->x, s->h, s->member + (first + k) * s->h, out + k * s->x.cols);
}

/* Points row.. against active points col..; both: also the other way round. */
static void tile(const sums *s, int64_t row, int64_t row_end, int64_t col, int both)
{
    const int64_t p = s->x.cols, m = s->vectors, rows = min_of(BLOCK, row_end - row);
    const int64_t cols = min_of(BLOCK, s->active - col);
    double *u = s->work + omp_get_thread_num() * s->work_size, *v = u + BLOCK * p;
    double *k = v + BLOCK * p, *part = k + BLOCK * BLOCK;
    make_points(s, row, rows, u);
    make_points(s, col, cols, v);
    fenp_point_kernel(s->kernel, p, u, rows, v, cols, k, BLOCK);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)m, (int)cols, 1.0, k,
                BLOCK, s->v + col * m, (int)m, 0.0, part, (int)m);
    add(s->down + row * m, part, rows * m);
    if (!both) return;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)cols, (int)m, (int)rows, 1.0, k,
                BLOCK, s->v + row * m, (int)m, 0.0, part, (int)m);
    add(s->across + col * m, part, cols * m);
}

/* Every pair of active blocks once: round d = 0 .. blocks/2, the last one halved if need be. */
static fen_status active_tiles(const sums *s, const fenp_task *task, fen_error *err)
{
    const int64_t blocks = (s->active + BLOCK - 1) / BLOCK, rounds = blocks / 2 + 1;
    fen_status status = fenp_task_at(task, 0.0, err);
    for (int64_t d = 0; d < rounds && status == FEN_OK; d++) {
        const int64_t count = d > 0 && 2 * d == blocks ? d : blocks;
#pragma omp parallel for schedule(dynamic)
        for (int64_t b = 0; b < count; b++)
            tile(s, b * BLOCK, s->active, (b + d) % blocks * BLOCK, d > 0);
        status = fenp_task_at(task, (double)(d + 1) / (double)rounds, err);
    }
    return status;
}

static fen_status other_tiles(const sums *s, const fenp_task *task, fen_error *err)
{
    fen_status status = fenp_task_at(task, 0.0, err);
    for (int64_t col = 0; col < s->active && status == FEN_OK; col += BLOCK) {
#pragma omp parallel for schedule(dynamic)
        for (int64_t row = s->active; row < s->points; row += BLOCK)
            tile(s, row, s->points, col, 0);
        status = fenp_task_at(task, (double)(col + BLOCK) / (double)s->active, err);
    }
    return status;
}

/* ---- results ----------------------------------------------------------------------------- */

/* g of point k to the scores of its members (vector c). */
static void add_scores(const sums *s, int64_t k, int64_t c, long double *om)
{
    const int64_t *member = s->member + k * s->h, at = k * s->vectors + c;
    const long double g = s->down[at] + s->across[at];
    const double each = fenp_multiset_orders(s->h, member) / (double)s->h;
    for (int64_t t = 0; t < s->h; t++) /* equal members add up to c_i times */
        om[member[t]] += g * (long double)(each * product(s, k, t, c));
}

static void results(const sums *s, long double *sum, double *value, double *om)
{
    for (int64_t c = 0; c < s->vectors; c++) {
        const int64_t n = s->x.rows;
        long double total = 0.0L;
        memset(sum, 0, (size_t)n * sizeof *sum);
        for (int64_t k = 0; k < s->points; k++) add_scores(s, k, c, sum);
        for (int64_t i = 0; i < n; i++) {
            total += sum[i] * (long double)s->a[c * n + i];
            om[c * n + i] = (double)sum[i];
        }
        value[c] = (double)total;
    }
}

static int64_t words(int64_t count, int64_t each) { return fenp_bytes(count, each, 8); }

/* Bytes, or -1: beyond counting. */
static int64_t arena_size(const sums *s)
{
    const int64_t sizes[] = { words(s->points, s->h),
                              words(s->active, s->vectors),
                              words(s->points, 4 * s->vectors),
                              words(s->work_size, omp_get_max_threads()),
                              words(s->x.rows, 2),
                              words(s->x.rows, 1),
                              words(s->h, 1) };
    int64_t total = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] < 0 || sizes[i] > INT64_MAX / 16) return -1;
        total += fenp_arena_bytes(sizes[i] / 8) + 64;
    }
    return total;
}

static fen_status too_long(int64_t p, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_CALL, "rows of %lld features are too long for BLAS",
                     (long long)p);
}

static int64_t *integers(fenp_arena *arena, int64_t count)
{
    return (int64_t *)(void *)fenp_arena_doubles(arena, count);
}

static long double *long_doubles(fenp_arena *arena, int64_t count)
{
    long double *at = (long double *)(void *)fenp_arena_doubles(arena, 2 * count);
    memset(at, 0, (size_t)count * sizeof *at);
    return at;
}

static int64_t count_active(const sums *s)
{
    int64_t active = 0;
    for (int64_t i = 0; i < s->x.rows; i++) active += is_active(s, i);
    return active;
}

/* Sizes and points of the sums. Closed by the caller in any case. */
static fen_status sums_open(sums *s, fen_error *err)
{
    const int64_t n = s->x.rows, active = count_active(s);
    const int64_t rest = fenp_multisets(active, s->h - 1);
    s->active = fenp_multisets(active, s->h);
    s->points = s->active;
    if (active > 0 && active < n) {
        const int64_t more = fenp_bytes(rest, n - active, 1);
        s->points = more < 0 || more > INT64_MAX - s->active ? INT64_MAX : s->active + more;
    }
    s->work_size = 2 * BLOCK * s->x.cols + BLOCK * BLOCK + BLOCK * s->vectors;
    const int64_t bytes = arena_size(s);
    if (bytes < 0) return fenp_no_memory(err, -1, "the products of rows");
    const fen_status status = fenp_arena_open(&s->arena, bytes, "the products of rows", err);
    if (status != FEN_OK) return status;
    s->member = integers(&s->arena, s->points * s->h);
    s->v = fenp_arena_doubles(&s->arena, s->active * s->vectors);
    s->down = long_doubles(&s->arena, s->points * s->vectors);
    s->across = long_doubles(&s->arena, s->points * s->vectors);
    s->work = fenp_arena_doubles(&s->arena, s->work_size * omp_get_max_threads());
    int64_t *row = integers(&s->arena, n);
    list_points(s, row, order_rows(s, row), integers(&s->arena, s->h));
    fill_values(s);
    return FEN_OK;
}

fen_status fenp_points_sums(const fenp_kernel *kernel, fen_view x, const double *a, int64_t count,
                            double *value, double *om, const fenp_task *task, fen_error *err)
{
    sums s = { .kernel = kernel, .x = x, .a = a, .h = fenp_half_order(kernel), .vectors = count };
    if (x.cols > INT_MAX / (4 * BLOCK)) return too_long(x.cols, err);
    fen_status status = sums_open(&s, err);
    const double pairs = 0.5 * (double)s.active, others = (double)(s.points - s.active);
    const double share = pairs / (pairs + others + 1.0);
    const fenp_task first = fenp_task_part(task, "sums over pairs of products", 0.0, share);
    const fenp_task second = fenp_task_part(task, "sums over pairs of products", share, 1.0);
    if (status == FEN_OK) status = active_tiles(&s, &first, err);
    if (status == FEN_OK) status = other_tiles(&s, &second, err);
    if (status == FEN_OK) results(&s, long_doubles(&s.arena, x.rows), value, om);
    fenp_arena_close(&s.arena);
    return status;
}
