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
 *   A factor begins with a modest tolerance, START, and grows when the solver asks for more
 *   (`grow`): the search for pivots goes on where it stopped, and columns that are there stay. The
 *   last columns tell what to expect of those that are not there (`tail`). The arena has room
 *   for all columns that there may ever be; what is not written takes no memory.
 * Accuracy: the form is that of a kernel smaller by E, 0 <= diag E <= tolerance times the largest
 *   kernel value. At solutions (concrete, exponential kernel, q = 4) T is then too small by 4e4 (n =
 *   100, 200) to 1e5 (n = 500) times the tolerance of the objective: TOLERANCE makes about 1e-6 of
 *   it, and a gap, which goes with the square of that, of 1e-8. Where the rank stays low, it is
 *   FINE, at which rounding sets the limit: 1e-9. The roundings of single precision are below
 *   that; in the first columns they would come to 1e-6.
 * Cost: about 2 M r^2 flops in all, at half the rate of a product; V: 4 r M bytes of memory
 *   traffic. */
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
    LEAST_CANDIDATES = 512,
    LEAST = 32,       /* columns below which it is not worth while, however little room there is */
    USUAL = 900,      /* the rank that the planner counts with for TOLERANCE */
    LOOK = 1 << 22,   /* points up to which it looks at them */
    USUAL_DEGREE = 6, /* and for FINE: monomials up to this degree */
};
static const double START = 1e-8, TOLERANCE = 1e-11, FINE = 1e-14;
/* Flops M r^2 up to which the rank may grow for FINE: at the start, and when that is asked for. */
static const double AT_ONCE = 1e9, CHEAP = 1e11;
static const double TAIL = 0.125;            /* of the columns */
static const double LESS = 0.25, MORE = 8.0; /* of them, that may be expected of others */
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
    fenp_pivots_so_far so_far;
} low_rank;

static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- sizes ---------------------------------------------------------------------------------- */

static int64_t *integers(fenp_arena *arena, int64_t count)
{
    return (int64_t *)(void *)fenp_arena_doubles(arena, count);
}

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

/* Bytes of a form of that rank, with the pivots that it may go on from, or -1. */
static int64_t bytes_of_rank(const fenp_form_size *size, int64_t rank)
{
    const int64_t points = points_of(size), fixed = fixed_bytes(size);
    const int64_t h = fenp_half_order(&size->kernel);
    if (fixed < 0 || points == INT64_MAX || fenp_bytes(points, rank, 64) < 0 ||
        fenp_bytes(size->n, rank, 64) < 0)
        return -1;
    const int64_t wide = min_of(rank, WIDE);
    return fixed + fenp_arena_bytes(points * wide) +
           fenp_arena_bytes((points * (rank - wide) + 1) / 2) + fenp_arena_bytes(size->n * rank) +
           fenp_arena_bytes(rank) + fenp_arena_bytes(rank * h) +
           fenp_arena_bytes(rank * (rank + 1) / 2) + fenp_arena_bytes(fenp_first_candidates() + 1);
}

/* Of a search beside a factor: they are not to take more memory than that. */
static int64_t candidates_of(int64_t points)
{
    const int64_t some = max_of(points / 16, LEAST_CANDIDATES);
    return min_of(points, min_of(some, fenp_first_candidates()));
}

/* And with the search for more, which is there for as long as it takes; -1: beyond counting */
static int64_t growing_bytes(const fenp_form_size *size, int64_t rank, int least)
{
    const int64_t form = bytes_of_rank(size, rank), h = fenp_half_order(&size->kernel);
    const int64_t search =
        least ? fenp_search_bytes(size->n, size->p, h, rank, 1)
              : fenp_search_bytes_among(size->p, h, rank, candidates_of(points_of(size)));
    return form < 0 || search < 0 ? -1 : form + search;
}

static int fits(const fenp_form_size *size, int64_t rank)
{
    const int64_t bytes = growing_bytes(size, rank, 0);
    return size->room == 0 || (bytes >= 0 && bytes <= size->room);
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

/* Pivots up to which the search goes on for FINE, at so many flops. */
static int64_t few_pivots(const fenp_form_size *size, double flops)
{
    return (int64_t)sqrt(flops / (double)points_of(size));
}

/* No rank is known before: what comes out as a rule. */
static int64_t usual_rank(const fenp_form_size *size)
{
    const int64_t monomials = fenp_multisets(size->p + 1, USUAL_DEGREE);
    return min_of(most_rank(size), min_of(max_of(USUAL, few_pivots(size, CHEAP)), monomials));
}

/* Down to a tolerance, and no further than where it ends; few: pivots up to which that is FINE.
 * Candidates take what the largest form leaves. */
static fenp_pivots_wish wish_of(const fenp_form_size *size, double tolerance, double fine,
                                int64_t few)
{
    const int64_t most = most_rank(size);
    return (fenp_pivots_wish){
        .tolerance = fmax(tolerance, TOLERANCE),
        .fine = fmax(fine, FINE),
        .few = few,
        .most = most,
        .candidates = candidates_of(points_of(size)),
        .room = size->room ? max_of(1, size->room - max_of(0, bytes_of_rank(size, most))) : 0
    };
}

/* What to expect of these rows: the rank among some of their products, and a little more. */
static int64_t rank_of_rows(const fenp_form_size *size, fen_view x)
{
    const int64_t points = points_of(size), first = fenp_first_candidates();
    fenp_pivots_wish wish = wish_of(size, TOLERANCE, FINE, few_pivots(size, CHEAP));
    fenp_pivots found;
    if (points > LOOK) return wish.most;
    wish.room = wish.candidates = 0, wish.look = 1;
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
    return growing_bytes(size, max_of(1, x ? rank_of_rows(size, *x) : usual_rank(size)), 0);
}

static int possible(const fenp_form_size *size)
{
    return fenp_even_order(size->kernel.par.order) > 0 && points_of(size) < INT64_MAX;
}

/* Where there is room for no more than the least rank, the search takes what is left. */
static int64_t bytes(const fenp_form_size *size)
{
    const int64_t rank = most_rank(size), full = growing_bytes(size, rank, 0);
    if (full < 0 || size->room == 0) return full;
    return min_of(full, max_of(size->room, growing_bytes(size, rank, 1)));
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

/* The new columns of points first .. first + count - 1; l: count x rank, row-major. */
static void take(void *user, int64_t first, int64_t count, int64_t rank, const double *l)
{
    low_rank *f = user;
    for (int64_t j = f->rank; j < rank && j < WIDE; j++)
        for (int64_t i = 0; i < count; i++) f->wide[j * f->points + first + i] = l[i * rank + j];
    for (int64_t j = max_of(f->rank, WIDE); j < rank; j++)
        for (int64_t i = 0; i < count; i++)
            f->single[(j - WIDE) * f->points + first + i] = (float)l[i * rank + j];
}

/* Pieces of the arena for the largest rank that there may be. */
static low_rank *new_low_rank(fenp_arena *arena, const fenp_form_size *size, int64_t most)
{
    const int64_t h = fenp_half_order(&size->kernel), n = size->n;
    const int64_t wide = min_of(most, WIDE), points = points_of(size);
    low_rank *f = (low_rank *)(void *)fenp_arena_doubles(arena, (int64_t)sizeof *f / 8 + 1);
    int64_t *sets = integers(arena, fenp_contract_sets(n, h));
    *f = (low_rank){ .points = points, .work_size = fenp_contract_work(n, h) };
    f->contract = fenp_contract_open(n, h, sets);
    f->work = fenp_arena_doubles(arena, f->work_size * omp_get_max_threads());
    f->at = fenp_arena_doubles(arena, n);
    f->along = fenp_arena_doubles(arena, most);
    f->so_far.row = integers(arena, most * h);
    f->so_far.number = integers(arena, fenp_first_candidates() + 1);
    f->so_far.low = fenp_arena_doubles(arena, most * (most + 1) / 2);
    f->v = fenp_arena_doubles(arena, n * most);
    f->wide = fenp_arena_doubles(arena, points * wide);
    f->single = (float *)(void *)fenp_arena_doubles(arena, (points * (most - wide) + 1) / 2);
    f->so_far.left = INFINITY, f->so_far.take = take, f->so_far.user = f;
    return f;
}

/* Whether more pivots would be of use, and may be had. */
static int has_more(const fenp_form *form, const fenp_pivots_so_far *to)
{
    const fenp_form_size *size = &form->size;
    const double end = to->count < few_pivots(size, CHEAP) ? FINE : TOLERANCE;
    return to->count > 0 && to->count < most_rank(size) && to->left > end;
}

static fen_status search(fenp_form *form, const fenp_pivots_wish *wish, const fenp_task *task,
                         fen_error *err)
{
    low_rank *f = form->own;
    const fen_status status =
        fenp_pivots_go_on(&form->size.kernel, form->x, wish, &f->so_far, task, err);
    if (status != FEN_OK) return status;
    const int same = f->so_far.count == f->rank; /* rounding errors are all that is left */
    form->rank = f->rank = f->so_far.count;
    form->more = !same && has_more(form, &f->so_far);
    form->capped = f->rank == wish->most && wish->most < useful_rank(&form->size);
    f->known = 0;
    return FEN_OK;
}

static fen_status open_form(fenp_arena *arena, const fenp_form_size *size, fen_view x,
                            fenp_form *out, const fenp_task *task, fen_error *err)
{
    const fenp_pivots_wish wish = wish_of(size, START, FINE, few_pivots(size, AT_ONCE));
    const fenp_task finding = fenp_task_part(task, "low-rank factor", 0.0, 1.0);
    *out = (fenp_form){ .route = &fenp_route_low_rank, .size = *size, .x = x };
    out->own = new_low_rank(arena, size, wish.most);
    return search(out, &wish, &finding, err);
}

/* Below TOLERANCE while there are few pivots. */
static fen_status grow(fenp_form *form, double part, const fenp_task *task, fen_error *err)
{
    const low_rank *f = form->own;
    const double to = part * f->so_far.left;
    const fenp_pivots_wish wish = wish_of(&form->size, to, to, few_pivots(&form->size, CHEAP));
    const fenp_task finding = fenp_task_part(task, "low-rank factor", 0.0, 0.0);
    return form->more ? search(form, &wish, &finding, err) : FEN_OK;
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

/* T and om of columns from .. */
static double scores_from(const fenp_form *form, int64_t from, const double *a, double *om)
{
    low_rank *f = form->own;
    const int n = (int)form->size.n, r = (int)(f->rank - from);
    memset(om, 0, (size_t)n * sizeof *om);
    if (r == 0 || n == 0) return 0.0;
    const double *v = root_at(f, n, a) + from * n;
    cblas_dgemv(CblasColMajor, CblasTrans, n, r, 1.0, v, n, a, 1, 0.0, f->along, 1);
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, r, 1.0, v, n, f->along, 1, 0.0, om, 1);
    return cblas_ddot(r, f->along, 1, f->along, 1);
}

static double scores(const fenp_form *form, const double *a, double *om)
{
    return scores_from(form, 0, a, om);
}

/* Of the last columns, and as much as those before them have: what follows if it goes on to fall at
 * this rate. */
static double tail(const fenp_form *form, const double *a, double *om)
{
    const low_rank *f = form->own;
    const int64_t last = (int64_t)(TAIL * (double)f->rank);
    if (last == 0) return scores(form, a, om);
    const double both = scores_from(form, f->rank - 2 * last, a, om);
    const double one = scores_from(form, f->rank - last, a, om), fall = one / (both - one);
    const double more = both > one ? fmin(fmax(fall / (1.0 - fmin(fall, 0.9)), LESS), MORE) : MORE;
    cblas_dscal((int)form->size.n, more, om, 1);
    return more * one;
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
    .tail = tail,
    .grow = grow,
};
