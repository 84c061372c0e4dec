/* low_rank.c -- the form in the span of a few products of rows
 *
 *     T = sum_r (L_r a^h)^2,   V_r = L_r a^(h-1),   om = V V'a,   B = V V'
 *
 * L_r: column r of the pivoted Cholesky factor (tensor/pivots.h) over all M products of h rows, a
 * fully symmetric tensor of h indices. Its entries are at most the root of what was left of the
 * kernel before pivot r, so they fall with r: the first WIDE columns are in double precision, the
 * others in single.
 * Method: V by contracting all L_r, each read once (tensor/contract.h); threads share the columns.
 *   V of the last a is kept, as a Newton method asks for the scores and then for the curvature: a
 *   form has one caller at a time.
 * Accuracy: the form is that of a kernel smaller by E, 0 <= diag E <= tolerance times the largest
 *   kernel value (nearly: no pass over all points makes sure of it). At solutions (concrete,
 *   exponential kernel, q = 4) T is then too small by 4e4 (n = 100, 200) to 1e5 (n = 500) times
 *   the tolerance of the objective: TOLERANCE makes about 1e-6 of it. Where the rank stays low,
 *   it is FINE, at which rounding sets the limit: 1e-9. The roundings of single precision are
 *   below that; in the first columns they would come to 1e-6.
 * Cost: opening about 2 M r^2 flops, at half the rate of a product; V: 4 r M bytes of memory traffic. 1000 rows of concrete, 8
 *   features, q = 4, lambda = 0.001: the whole fit takes 2.6 GB and 67 s of processor time, and
 *   the certificate for the true kernel has a relative gap of 7e-9. */
#include <math.h>
#include <omp.h>
#include <string.h>
#include "base/error.h"
#include "base/linalg.h"
#include "tensor/contract.h"
#include "tensor/form.h"
#include "tensor/pivots_parts.h"

enum {
    WIDE = 128,
    FEW_POINTS = 50000,
    MOST = 1536, /* columns: 3.3 GB for 1000 rows of q = 4 */
    MOST_OF_FEW = 2048,
    LEAST = 32,       /* columns below which it is not worth while, however little room there is */
    USUAL = 900,      /* the rank that the planner counts with for TOLERANCE */
    LOOK = 1 << 22,   /* points up to which it looks at them */
    USUAL_DEGREE = 6, /* and for FINE: monomials up to this degree */
};
static const double TOLERANCE = 1e-11, FINE = 1e-14;
static const double CHEAP = 1e11; /* flops M r^2 up to which the rank may grow for FINE */
/* Of the rank among the first candidates, for each time that there are twice as many points: 0 to
 * 0.046 over data of 6 to 13 columns, 200 to 1000 rows. */
static const double GROWTH = 0.06;

typedef struct low_rank {
    int64_t points, rank;
    fenp_contract contract;
    double *wide;  /* min(rank, WIDE) x points */
    float *single; /* the other columns        */
    double *work;  /* work_size for each thread */
    int64_t work_size;
    double *v; /* n x rank, column-major: of the a in `at` */
    double *at;
    double *along; /* rank: V'a */
    int known;     /* v is there */
} low_rank;

static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- sizes ---------------------------------------------------------------------------------- */

static int64_t points_of(const fenp_form_size *size)
{
    return fenp_multisets(size->n, fenp_half_order(&size->kernel));
}

/* Doubles of the pieces that do not depend on the rank, or -1. */
static int64_t fixed_bytes(const fenp_form_size *size)
{
    const int64_t h = fenp_half_order(&size->kernel), threads = omp_get_max_threads();
    const int64_t sets = fenp_contract_sets(size->n, h), work = fenp_contract_work(size->n, h);
    if (sets < 0 || work < 0 || fenp_bytes(work, threads, 64) < 0) return -1;
    return fenp_arena_bytes(sets) + fenp_arena_bytes(work * threads) + fenp_arena_bytes(size->n) +
           fenp_arena_bytes((int64_t)sizeof(low_rank) / 8 + 1);
}

/* Bytes of a form of that rank, or -1. */
static int64_t bytes_of_rank(const fenp_form_size *size, int64_t rank)
{
    const int64_t points = points_of(size), fixed = fixed_bytes(size);
    if (fixed < 0 || points == INT64_MAX || fenp_bytes(points, rank, 64) < 0 ||
        fenp_bytes(size->n, rank, 64) < 0)
        return -1;
    const int64_t wide = min_of(rank, WIDE);
    return fixed + fenp_arena_bytes(points * wide) +
           fenp_arena_bytes((points * (rank - wide) + 1) / 2) + fenp_arena_bytes(size->n * rank) +
           fenp_arena_bytes(rank);
}

/* Bytes at the end of opening: the form, the pivots, and the blocks that the factor comes from. */
static int64_t end_bytes(const fenp_form_size *size, int64_t rank)
{
    const int64_t form = bytes_of_rank(size, rank), threads = omp_get_max_threads();
    const double block = (double)threads * FENP_PIVOT_BLOCK * (double)(size->p + rank + 1);
    const double beside = (double)rank * (double)(rank + size->p) + block + size->kernel.par.order;
    return form < 0 || beside > 1e17 ? -1 : form + (int64_t)(8.0 * beside) + 1024;
}

/* Bytes of the search for the pivots, which is over before there is a factor. */
static int64_t search_bytes(const fenp_form_size *size, int64_t rank, int least)
{
    return fenp_search_bytes(size->n, size->p, fenp_half_order(&size->kernel), rank, least);
}

static int fits(const fenp_form_size *size, int64_t rank)
{
    const int64_t bytes = max_of(end_bytes(size, rank), search_bytes(size, rank, 1));
    return size->room == 0 || bytes <= size->room;
}

/* The rank that is of use: a series that ends has no more than its features. */
static int64_t useful_rank(const fenp_form_size *size)
{
    const int64_t points = points_of(size);
    const int64_t cap = points <= FEW_POINTS ? MOST_OF_FEW : MOST;
    return max_of(1, min_of(min_of(points, cap), fenp_feature_count(&size->kernel, size->p)));
}

/* And that there is room for. */
static int64_t most_rank(const fenp_form_size *size)
{
    int64_t rank = useful_rank(size);
    const int64_t least = min_of(rank, LEAST);
    while (rank > least && !fits(size, rank)) rank = max_of(least, rank - rank / 32 - 1);
    return rank;
}

/* Pivots up to which the search goes on for FINE. */
static int64_t few_pivots(const fenp_form_size *size)
{
    return (int64_t)sqrt(CHEAP / (double)points_of(size));
}

/* No rank is known before: what comes out as a rule. */
static int64_t usual_rank(const fenp_form_size *size)
{
    const int64_t monomials = fenp_multisets(size->p + 1, USUAL_DEGREE);
    return min_of(most_rank(size), min_of(max_of(USUAL, few_pivots(size)), monomials));
}

static fenp_pivots_wish wish_of(const fenp_form_size *size)
{
    return (fenp_pivots_wish){ .tolerance = TOLERANCE,
                               .fine = FINE,
                               .few = few_pivots(size),
                               .most = most_rank(size),
                               .room = size->room };
}

/* What to expect of these rows: the rank among some of their products, and a little more. */
static int64_t rank_of_rows(const fenp_form_size *size, fen_view x)
{
    const int64_t points = points_of(size), first = fenp_first_candidates();
    fenp_pivots_wish wish = wish_of(size);
    fenp_pivots found;
    if (points > LOOK) return wish.most;
    wish.room = 0, wish.look = 1;
    if (fenp_pivots_search(&size->kernel, x, &wish, &found, NULL, NULL) != FEN_OK) return wish.most;
    const int64_t rank = found.count;
    fenp_pivots_free(&found);
    if (points <= first || rank >= wish.most) return rank;
    const double more = 1.0 + GROWTH * log2((double)points / (double)first);
    const int64_t expected = (int64_t)((double)rank * more), few = wish.few;
    return min_of(wish.most, rank < few ? min_of(expected, few) : expected);
}

static int64_t usual_bytes(const fenp_form_size *size, const fen_view *x)
{
    const int64_t rank = max_of(1, x ? rank_of_rows(size, *x) : usual_rank(size));
    const int64_t form = end_bytes(size, rank), search = search_bytes(size, rank, 0);
    return form < 0 || search < 0 ? -1 : max_of(form, search);
}

static int possible(const fenp_form_size *size)
{
    return fenp_even_order(size->kernel.par.order) > 0 && points_of(size) < INT64_MAX;
}

/* The search takes what there is, within what it can do with and what it can use. */
static int64_t bytes(const fenp_form_size *size)
{
    const int64_t rank = most_rank(size), form = end_bytes(size, rank);
    const int64_t search = search_bytes(size, rank, 0), room = max_of(size->room, form);
    if (form < 0 || search < 0) return -1;
    return max_of(form, size->room > 0 ? min_of(search, max_of(room, search_bytes(size, rank, 1)))
                                       : search);
}

static double build(const fenp_form_size *size)
{
    const double m = (double)points_of(size), r = (double)usual_rank(size);
    return 4.0 * m * r * (r + 2.0 * (double)size->p + 20.0);
}

static double step(const fenp_form_size *size)
{
    const double r = (double)usual_rank(size), n = (double)size->n;
    return 2.0 * (double)size->kernel.par.order * (double)points_of(size) * r + n * n * r;
}

/* ---- the factor ----------------------------------------------------------------------------- */

/* Columns of points first .. first + count - 1; l: count x rank, row-major. */
static void store(low_rank *f, int64_t first, int64_t count, const double *l)
{
    const int64_t r = f->rank, wide = min_of(r, WIDE);
    for (int64_t j = 0; j < wide; j++)
        for (int64_t i = 0; i < count; i++) f->wide[j * f->points + first + i] = l[i * r + j];
    for (int64_t j = wide; j < r; j++)
        for (int64_t i = 0; i < count; i++)
            f->single[(j - wide) * f->points + first + i] = (float)l[i * r + j];
}

static fen_status fill(low_rank *f, const fenp_span *span, const fenp_task *task, fen_error *err)
{
    const int64_t p = span->x.cols, threads = omp_get_max_threads(), group = 32 * FENP_PIVOT_BLOCK;
    const int64_t own = FENP_PIVOT_BLOCK * (p + f->rank + 1) + span->h;
    fenp_arena arena;
    fen_status status = fenp_arena_open(&arena, fenp_arena_bytes(own * threads),
                                        "the factor of the products of rows", err);
    if (status != FEN_OK) return status;
    double *work = fenp_arena_doubles(&arena, own * threads);
    for (int64_t from = 0; from < f->points && status == FEN_OK; from += group) {
        const int64_t to = min_of(from + group, f->points);
#pragma omp parallel for schedule(dynamic)
        for (int64_t first = from; first < to; first += FENP_PIVOT_BLOCK) {
            const int64_t count = min_of(FENP_PIVOT_BLOCK, to - first);
            double *u = work + omp_get_thread_num() * own, *l = u + FENP_PIVOT_BLOCK * p + span->h;
            double *e = l + FENP_PIVOT_BLOCK * f->rank;
            fenp_span_block(span, first, count, u, l, e);
            store(f, first, count, l);
        }
        status = fenp_task_at(task, (double)to / (double)f->points, err);
    }
    fenp_arena_close(&arena);
    return status;
}

static fen_status factorise(low_rank *f, const fenp_pivots *pivots, const fenp_form_size *size,
                            fen_view x, const fenp_task *task, fen_error *err)
{
    fenp_arena arena;
    const int64_t count = pivots->count * x.cols;
    fen_status status = fenp_arena_open(&arena, fenp_arena_bytes(count), "the pivots", err);
    if (status != FEN_OK) return status;
    double *point = fenp_arena_doubles(&arena, count);
    fenp_span_points(x, pivots->h, pivots->row, pivots->count, point);
    const fenp_span span = { &size->kernel, x, pivots->h, pivots->count, pivots->factor, point };
    status = fill(f, &span, task, err);
    fenp_arena_close(&arena);
    return status;
}

/* Pieces of the arena for the rank that was found. */
static low_rank *new_low_rank(fenp_arena *arena, const fenp_form_size *size, int64_t rank)
{
    const int64_t h = fenp_half_order(&size->kernel), n = size->n;
    const int64_t wide = min_of(rank, WIDE), points = points_of(size);
    low_rank *f = (low_rank *)(void *)fenp_arena_doubles(arena, (int64_t)sizeof *f / 8 + 1);
    int64_t *sets = (int64_t *)(void *)fenp_arena_doubles(arena, fenp_contract_sets(n, h));
    *f = (low_rank){ .points = points, .rank = rank, .work_size = fenp_contract_work(n, h) };
    f->contract = fenp_contract_open(n, h, sets);
    f->wide = fenp_arena_doubles(arena, points * wide);
    f->single = (float *)(void *)fenp_arena_doubles(arena, (points * (rank - wide) + 1) / 2);
    f->work = fenp_arena_doubles(arena, f->work_size * omp_get_max_threads());
    f->v = fenp_arena_doubles(arena, n * rank);
    f->at = fenp_arena_doubles(arena, n);
    f->along = fenp_arena_doubles(arena, rank);
    return f;
}

static fen_status open_form(fenp_arena *arena, const fenp_form_size *size, fen_view x,
                            fenp_form *out, const fenp_task *task, fen_error *err)
{
    const fenp_pivots_wish wish = wish_of(size);
    const fenp_task finding = fenp_task_part(task, "pivots", 0.0, 0.7);
    const fenp_task filling = fenp_task_part(task, "low-rank factor", 0.7, 1.0);
    fenp_pivots pivots;
    fen_status status = fenp_pivots_search(&size->kernel, x, &wish, &pivots, &finding, err);
    if (status != FEN_OK) return status;
    low_rank *f = new_low_rank(arena, size, pivots.count);
    status = factorise(f, &pivots, size, x, &filling, err);
    fenp_pivots_free(&pivots);
    *out = (fenp_form){ .route = &fenp_route_low_rank, .size = *size, .x = x, .own = f };
    out->rank = f->rank;
    out->capped = f->rank == wish.most && wish.most < useful_rank(size);
    return status;
}

/* ---- the form ------------------------------------------------------------------------------- */

static const double *root_at(low_rank *f, int64_t n, const double *a)
{
    if (f->known && memcmp(f->at, a, (size_t)n * sizeof *a) == 0) return f->v;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t r = 0; r < f->rank; r++) {
        double *work = f->work + omp_get_thread_num() * f->work_size;
        if (r < WIDE)
            fenp_contract_all(&f->contract, NULL, f->wide + r * f->points, a, work, f->v + r * n);
        else
            fenp_contract_all(&f->contract, f->single + (r - WIDE) * f->points, NULL, a, work,
                              f->v + r * n);
    }
    memcpy(f->at, a, (size_t)n * sizeof *a);
    f->known = 1;
    return f->v;
}

static double scores(const fenp_form *form, const double *a, double *om)
{
    low_rank *f = form->own;
    const int n = (int)form->size.n, r = (int)f->rank;
    memset(om, 0, (size_t)n * sizeof *om);
    if (r == 0 || n == 0) return 0.0;
    const double *v = root_at(f, n, a);
    cblas_dgemv(CblasColMajor, CblasTrans, n, r, 1.0, v, n, a, 1, 0.0, f->along, 1);
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, r, 1.0, v, n, f->along, 1, 0.0, om, 1);
    return cblas_ddot(r, f->along, 1, f->along, 1);
}

static void curvature(const fenp_form *form, const double *a, double *b)
{
    low_rank *f = form->own;
    const int n = (int)form->size.n, r = (int)f->rank;
    for (int64_t j = 0; j < n && r == 0; j++) memset(b + j * n + j, 0, (size_t)(n - j) * sizeof *b);
    if (r == 0 || n == 0) return;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, r, 1.0, root_at(f, n, a), n, 0.0, b, n);
}

static void root(const fenp_form *form, const double *a, double *out)
{
    low_rank *f = form->own;
    const int64_t n = form->size.n;
    if (f->rank > 0) memcpy(out, root_at(f, n, a), (size_t)(n * f->rank) * sizeof *out);
}

const fenp_route fenp_route_low_rank = {
    .name = "low-rank",
    .help = "products of q/2 rows in the span of a few of them, q even",
    .possible = possible,
    .bytes = bytes,
    .usual = usual_bytes,
    .build = build,
    .step = step,
    .open = open_form,
    .scores = scores,
    .curvature = curvature,
    .root = root,
};
