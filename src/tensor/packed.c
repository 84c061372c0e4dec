/* packed.c -- the form of an l^p penalty by the distinct entries of its kernel tensor
 *
 *     T(a) = sum K(x_i1, ..., x_iq) a_i1 ... a_iq,   q even: C(n+q-1, q) of n^q entries
 *
 * Method: for each prefix of q - 2 rows and block of columns a GEMM of (their product times x_k)
 *   with x_l, some k at a time against all l that are not before them; then the map of the
 *   kernel. Threads share the slices of packed.h. Sums: packed_sums.c.
 * Special cases: no columns: all sums are 0.
 * Accuracy: that of the GEMM and of the map.
 * Cost: 2 p flops and one map for each entry, and a tenth more for what is thrown away. */
#include <math.h>
#include <omp.h>
#include <string.h>
#include "base/error.h"
#include "base/linalg.h"
#include "tensor/form.h"
#include "tensor/packed.h"
#include "tensor/pivots.h"

enum { COLUMNS = 24 }; /* k at a time */
/* What a number from memory, and a map into fresh memory cost, in flops of a matrix product. */
static const double READING = 30.0, MAPPING = 400.0;

static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- sizes ------------------------------------------------------------------------------- */

static int64_t order_of(const fenp_form_size *size)
{
    return fenp_even_order(size->kernel.par.order);
}

static int possible(const fenp_form_size *size)
{
    const fen_kernel *table = size->kernel.table;
    return (table->linear || table->basis == FEN_TENSOR) && order_of(size) > 0;
}

static int64_t struct_doubles(void) { return (int64_t)sizeof(fenp_tensor) / 8 + 1; }

static int64_t bytes(const fenp_form_size *size)
{
    const int64_t n = size->n, q = order_of(size), entries = fenp_multisets(n, q);
    if (entries > INT64_MAX / 64) return -1;
    const int64_t slices = fenp_tensor_slices(q, entries);
    return fenp_arena_bytes(struct_doubles()) + fenp_arena_bytes(entries) +
           fenp_arena_bytes(slices + 1) + fenp_arena_bytes(slices * q) +
           fenp_arena_bytes(slices * fenp_tensor_work(n, q)) +
           fenp_arena_bytes((slices + 1) * (n * (n + 1) / 2));
}

static double entries_of(const fenp_form_size *size)
{
    return (double)fenp_multisets(size->n, order_of(size));
}

static double build(const fenp_form_size *size)
{
    return entries_of(size) * (2.2 * (double)size->p + MAPPING);
}

static double step(const fenp_form_size *size) { return 1.5 * entries_of(size) * READING; }

/* ---- entries ----------------------------------------------------------------------------- */

/* What a thread needs: the product of a prefix; some multiples x_k of it; their rows of values. */
typedef struct tile {
    double *point, *rows, *values;
} tile;

static int64_t tile_doubles(int64_t n, int64_t p) { return p + COLUMNS * (p + n); }

/* Values of x_k, k = from .. from + count - 1, against all x_l, l >= from. */
static void tile_values(const fenp_kernel *kernel, fen_view x, const tile *t, int64_t from,
                        int64_t count)
{
    const int64_t p = x.cols, rest = x.rows - from;
    for (int64_t k = 0; k < count; k++) {
        const double *row = x.at + (from + k) * x.stride;
        for (int64_t j = 0; j < p; j++) t->rows[k * p + j] = t->point[j] * row[j];
    }
    if (p > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)rest, (int)p, 1.0,
                    t->rows, (int)p, x.at + from * x.stride, (int)x.stride, 0.0, t->values,
                    (int)rest);
    else
        memset(t->values, 0, (size_t)(count * rest) * sizeof *t->values);
    for (int64_t k = 0; k < count; k++)
        kernel->table->map(t->values + k * rest + k, rest - k, &kernel->par);
}

/* What the sums take for orders / (q(q-1)/2 (orders of k, l)) of entries with the prefix: its own
 * orders where k, l > j, and less for j once more (so many rows, 0 in later blocks), or twice. */
static void weigh(int64_t rows, int64_t count, int64_t h, const int64_t *member, double *entry)
{
    const double orders = fenp_multiset_orders(h, member);
    int64_t equal = 1;
    while (equal < h && member[h - 1 - equal] == member[h - 1]) equal++;
    for (int64_t i = 0; i < count; i++)
        entry[i] *= i < rows ? orders / (double)(equal + 1) : orders;
    if (rows > 0) entry[0] *= 2.0 / (double)(equal + 2);
}

/* The columns of one prefix in one block; where they end. */
static double *fill_place(const fenp_kernel *kernel, fen_view x, const fenp_tensor *s,
                          const fenp_tensor_place *place, const tile *t, double *entry)
{
    const int64_t h = s->q - 2, first = fenp_tensor_column(s, place);
    double *at = entry;
    fenp_point_of(x, h, place->member, t->point);
    for (int64_t k = first; k < place->to; k += COLUMNS) {
        const int64_t count = min_of(COLUMNS, place->to - k), rest = x.rows - k;
        tile_values(kernel, x, t, k, count);
        for (int64_t c = 0; c < count; c++) {
            memcpy(at, t->values + c * rest + c, (size_t)(rest - c) * sizeof *at);
            at += rest - c;
        }
    }
    if (h > 0)
        weigh(place->member[h - 1] == first ? x.rows - first : 0, at - entry, h, place->member,
              entry);
    return at;
}

static void fill_slice(const fenp_kernel *kernel, fen_view x, const fenp_tensor *s, int64_t slice,
                       double *work)
{
    const tile t = { work, work + x.cols, work + x.cols + COLUMNS * x.cols };
    double *entry = s->entry + s->offset[slice], *end = s->entry + s->offset[slice + 1];
    fenp_tensor_place place = fenp_tensor_begin(s, slice);
    while (entry < end) {
        entry = fill_place(kernel, x, s, &place, &t, entry);
        fenp_tensor_next(s, &place);
    }
}

/* As many slices at a time as there are threads, with progress between them. */
static fen_status fill(const fenp_kernel *kernel, fen_view x, const fenp_tensor *s,
                       const fenp_task *task, fen_error *err)
{
    const int64_t threads = min_of(omp_get_max_threads(), s->slices);
    const int64_t room = tile_doubles(x.rows, x.cols);
    fenp_arena arena;
    fen_status status = fenp_arena_open(&arena, fenp_bytes(threads, room, sizeof(double)),
                                        "rows of the kernel tensor", err);
    if (status != FEN_OK) return status;
    double *work = fenp_arena_doubles(&arena, threads * room);
    status = fenp_task_at(task, 0.0, err);
    for (int64_t from = 0; from < s->slices && status == FEN_OK; from += threads) {
        const int64_t to = min_of(from + threads, s->slices);
        if (to - from == 1) { /* BLAS shares the work */
            fill_slice(kernel, x, s, from, work);
        } else {
#pragma omp parallel for schedule(static, 1) num_threads((int)(to - from))
            for (int64_t k = from; k < to; k++)
                fill_slice(kernel, x, s, k, work + (k - from) * room);
        }
        status = fenp_task_at(task, (double)to / (double)s->slices, err);
    }
    fenp_arena_close(&arena);
    return status;
}

static fen_status open_packed(fenp_arena *arena, const fenp_form_size *size, fen_view x,
                              fenp_form *out, const fenp_task *task, fen_error *err)
{
    const int64_t n = size->n, q = order_of(size), entries = fenp_multisets(n, q);
    fenp_tensor *s = (fenp_tensor *)(void *)fenp_arena_doubles(arena, struct_doubles());
    *s = (fenp_tensor){ .n = n, .q = q, .slices = fenp_tensor_slices(q, entries) };
    s->work_size = fenp_tensor_work(n, q);
    s->entry = fenp_arena_doubles(arena, entries);
    s->offset = (int64_t *)(void *)fenp_arena_doubles(arena, s->slices + 1);
    s->first = (int64_t *)(void *)fenp_arena_doubles(arena, s->slices * q);
    s->work = fenp_arena_doubles(arena, s->slices * s->work_size);
    s->square = fenp_arena_doubles(arena, (s->slices + 1) * (n * (n + 1) / 2));
    s->pairs = s->square + s->slices * (n * (n + 1) / 2);
    fenp_tensor_cut(s);
    *out = (fenp_form){ .route = &fenp_route_packed, .size = *size, .x = x, .rank = -1, .own = s };
    return fill(&size->kernel, x, s, task, err);
}

/* ---- sums -------------------------------------------------------------------------------- */

static double scores(const fenp_form *f, const double *a, double *om)
{
    fenp_tensor_scores(f->own, a, om);
    double value = 0.0;
    for (int64_t i = 0; i < f->size.n; i++) value += a[i] * om[i];
    return value;
}

static void curvature(const fenp_form *f, const double *a, double *b)
{
    fenp_tensor_curvature(f->own, a, b);
}

const fenp_route fenp_route_packed = {
    .name = "packed",
    .help = "every distinct entry of the kernel tensor of q rows once: even q",
    .possible = possible,
    .bytes = bytes,
    .build = build,
    .step = step,
    .open = open_packed,
    .scores = scores,
    .curvature = curvature,
};
