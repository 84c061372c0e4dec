/* pivots_find.c -- greedy pivots: a Cholesky factor by the largest of what is left
 *
 *     next pivot = argmax e,   l_new = (k(., u) - L l_u) / sqrt(e_u),   e <- e - l_new^2
 *
 * Method: the search runs over candidates, some thousand of the M points, whose rows of the factor
 *   are kept. Columns k(., u) - L l_u are made for a panel of the worst candidates at a time, by
 *   one product of matrices: every second or third of them becomes a pivot before the next pivot
 *   is not in the panel.
 *   Once e is small at all candidates, a pass over all points (blocks, nothing kept) finds where
 *   it is large: the worst points and a sample of the others in proportion to e are the next
 *   candidates. Down to DROP of the largest e outside the candidates the search takes as few pivots
 *   as one over all points, so that passes are few and most of them are short: they cost M r^2,
 *   and r grows with each. Few points are all candidates, and need no pass.
 *   A search that is to go on later leaves its pivots, its factor and the next candidates behind;
 *   its passes give the rows l of all points away as they come, so that nothing is made twice.
 *   The largest k(u,u) is that of some x_i * ... * x_i (Hoelder).
 *   Sums are over fixed chunks of candidates and blocks of points: the same bits for any number of
 *   threads. Ties: the first point wins.
 * Special cases: all kernel values 0, no rows: no pivots. A tolerance below the rounding
 *   errors of e would pick the same points again: it is raised to FLOOR.
 * Cost: about 2 M r^2 flops by BLAS 3, as much for the candidates; memory: candidates x r. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "base/random.h"
#include "tensor/pivots_best.h"
#include "tensor/pivots_parts.h"

enum {
    CANDIDATES =
        8192,    /* half of them with the largest e, half in proportion to it; or all points */
    LEAST = 512, /* the same where there is little room */
    PANEL = 32,  /* candidates whose columns are made at a time               */
    CHUNK = 512, /* candidates to a matrix product                            */
    GROUP = 64,  /* blocks of points between two reports of progress          */
    STEP = 128,  /* pivots by which arrays grow                               */
};
static const double DROP = 0.02;
static const double FLOOR = 1e-14; /* e of a pivot itself comes out as some 2^-52 k(u,u) */

static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- the search ---------------------------------------------------------------------------- */

typedef struct search {
    const fenp_kernel *kernel;
    fen_view x;
    int64_t h, points, most;
    int check;                        /* a last pass makes sure, and finds what is left */
    int look;                         /* no other candidates than the first */
    const fenp_pivots_so_far *so_far; /* takes the rows of all points; or NULL */
    double top;                       /* the largest k(u,u) */
    double goal;                      /* e that is small enough */
    double enough;                    /* the same, once there are */
    int64_t few;                      /* so many pivots */
    int64_t count, room;              /* pivots */
    int64_t *row;                     /* room x h */
    double *point;                    /* room x p */
    double *low;                      /* factor by rows, each as long as it must be */
    double *factor;                   /* the same, count x count, column-major: for passes */
    int64_t candidates;
    int64_t *member;    /* candidates x h */
    double *u, *e;      /* candidates x p; candidates */
    double *l;          /* candidates x room, column-major */
    int64_t panel;      /* candidates whose columns are at hand */
    int64_t panel_from; /* pivots before it */
    int64_t place[PANEL];
    double e_panel[PANEL];
    double *column; /* candidates x PANEL, column-major */
    double *along;  /* room x PANEL: rows of the factor */
    fenp_best worst, sample;
    int64_t next, *number; /* the candidates after a pass */
    double left, outside;  /* the largest e of all points, and of those that are no candidates */
    double *e_group;       /* of a pass: GROUP blocks */
    double *work;          /* of a pass: work_size for each thread */
    int64_t work_size;
} search;

static fen_status out_of_memory(fen_error *err)
{
    return fenp_no_memory(err, 0, "the pivots of products of rows");
}

static int grow(void *array, int64_t rows, int64_t cols)
{
    void **at = array;
    const int64_t bytes = fenp_bytes(rows, cols, sizeof(double));
    void *larger = bytes < 0 ? NULL : fenp_resize(*at, bytes, 1);
    if (larger) *at = larger;
    return larger != NULL;
}

static fen_status reserve(search *s, int64_t room, fen_error *err)
{
    if (!grow(&s->row, room, s->h) || !grow(&s->point, room, s->x.cols) ||
        !grow(&s->low, room, (room + 1) / 2 + 1) || !grow(&s->along, room, PANEL) ||
        !grow(&s->l, room, s->candidates))
        return out_of_memory(err);
    s->room = room;
    return FEN_OK;
}

/* Room for the pivots of a panel. */
static fen_status make_room(search *s, fen_error *err)
{
    return s->count + PANEL <= s->room ? FEN_OK : reserve(s, s->room + STEP, err);
}

static int64_t largest(const double *e, int64_t count)
{
    int64_t at = 0;
    for (int64_t i = 1; i < count; i++)
        if (e[i] > e[at]) at = i;
    return at;
}

/* e that is small enough after so many pivots. */
static double goal_of(const search *s)
{
    return s->count < s->few ? s->goal : fmax(s->goal, s->enough);
}

/* How far: e falls from top to goal by about equal factors. */
static double progress(const search *s, double e)
{
    if (e <= s->goal) return 1.0;
    const double far = log(s->top / e) / log(s->top / s->goal);
    return far > 0.0 ? far * far : 0.0; /* the last ones cost most */
}

/* ---- greedy, among the candidates ------------------------------------------------------------ */

/* k(., u) - L l_u of the panel, candidates from .. */
static void panel_rows(search *s, int64_t from)
{
    const int64_t c = s->candidates, r = s->count, p = s->x.cols;
    const int64_t rows = min_of(CHUNK, c - from);
    for (int64_t b = 0; b < s->panel; b++)
        fenp_point_kernel(s->kernel, p, s->u + s->place[b] * p, 1, s->u + from * p, rows,
                          s->column + b * c + from, rows);
    if (r > 0)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)s->panel, (int)r,
                    -1.0, s->l + from, (int)c, s->along, (int)s->room, 1.0, s->column + from,
                    (int)c);
}

/* The candidates with the largest e, up to PANEL of them, and their columns. */
static void open_panel(search *s, double stop)
{
    const int64_t c = s->candidates;
    for (s->panel = 0; s->panel < PANEL; s->panel++) {
        const int64_t at = largest(s->e, c);
        if (!(s->e[at] > stop)) break;
        s->place[s->panel] = at;
        s->e_panel[s->panel] = s->e[at];
        s->e[at] = -1.0; /* the next one, please */
    }
    for (int64_t b = 0; b < s->panel; b++) {
        s->e[s->place[b]] = s->e_panel[b];
        for (int64_t i = 0; i < s->count; i++)
            s->along[b * s->room + i] = s->l[i * c + s->place[b]];
    }
    s->panel_from = s->count;
#pragma omp parallel for schedule(static)
    for (int64_t from = 0; from < c; from += CHUNK) panel_rows(s, from);
}

/* Column b of the panel becomes that of the next pivot: without the part of those that the panel
 * has given before. */
static void add_pivot(search *s, int64_t b)
{
    const int64_t c = s->candidates, r = s->count, p = s->x.cols, pivot = s->place[b];
    double *low = s->low + r * (r + 1) / 2, *to = s->l + r * c;
    memcpy(s->row + r * s->h, s->member + pivot * s->h, (size_t)s->h * sizeof *s->row);
    memcpy(s->point + r * p, s->u + pivot * p, (size_t)p * sizeof *s->point);
    memcpy(to, s->column + b * c, (size_t)c * sizeof *to);
    for (int64_t i = 0; i < r; i++) low[i] = s->l[i * c + pivot];
    low[r] = sqrt(s->e[pivot]);
    for (int64_t i = s->panel_from; i < r; i++) {
        const double *other = s->l + i * c;
        for (int64_t j = 0; j < c; j++) to[j] -= low[i] * other[j];
    }
    for (int64_t j = 0; j < c; j++) {
        to[j] /= low[r];
        s->e[j] = fmax(0.0, s->e[j] - to[j] * to[j]);
    }
    to[pivot] = low[r];
    s->e[pivot] = 0.0;
    s->count++;
}

/* Where candidate `pivot` is in the panel; -1: it is not. */
static int64_t in_panel(const search *s, int64_t pivot)
{
    int64_t b = s->panel - 1;
    while (b >= 0 && s->place[b] != pivot) b--;
    return b;
}

/* Until e of no candidate is above stop, or it is small enough. */
static fen_status choose(search *s, double stop, const fenp_task *task, fen_error *err)
{
    fen_status status = make_room(s, err);
    s->panel = 0;
    while (status == FEN_OK && s->count < s->most) {
        const int64_t pivot = largest(s->e, s->candidates);
        if (!(s->e[pivot] > fmax(stop, goal_of(s)))) break;
        if (in_panel(s, pivot) < 0) {
            status = fenp_task_at(task, progress(s, s->e[pivot]), err);
            if (status == FEN_OK) status = make_room(s, err);
            if (status == FEN_OK) open_panel(s, fmax(stop, s->goal));
        }
        if (status == FEN_OK) add_pivot(s, in_panel(s, pivot));
    }
    return status;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static fenp_span span_of(const search *s)
{
    return (fenp_span){ s->kernel, s->x, s->h, s->count, s->factor, s->point };
}

/* The factor as a matrix. */
static fen_status unpack_factor(search *s, fen_error *err)
{
    const int64_t r = s->count;
    if (!grow(&s->factor, r, r)) return out_of_memory(err);
    memset(s->factor, 0, (size_t)(r * r) * sizeof *s->factor);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j <= i; j++) s->factor[i + j * r] = s->low[i * (i + 1) / 2 + j];
    return FEN_OK;
}

static fen_status pass_memory(search *s, fen_error *err)
{
    s->work_size = FENP_PIVOT_BLOCK * (s->x.cols + s->count) + s->h;
    return grow(&s->work, s->work_size, omp_get_max_threads()) ? FEN_OK : out_of_memory(err);
}

/* The thread's own: points of a block, their l. */
static double *own_work(const search *s) { return s->work + omp_get_thread_num() * s->work_size; }

/* Points, factor rows and e of candidates first .. , a block. */
static void fill_candidates(search *s, const fenp_span *span, int64_t first)
{
    const int64_t p = s->x.cols, r = s->count, c = s->candidates;
    const int64_t points = min_of(FENP_PIVOT_BLOCK, c - first);
    double *l = own_work(s);
    fenp_span_points(s->x, s->h, s->member + first * s->h, points, s->u + first * p);
    fenp_span_project(span, s->u + first * p, points, l, s->e + first);
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i < points; i++) s->l[j * c + first + i] = l[i * r + j];
}

/* numbers ascending; NULL: all points. */
static fen_status set_candidates(search *s, const int64_t *number, int64_t count, fen_error *err)
{
    s->candidates = count;
    if (!grow(&s->member, count, s->h) || !grow(&s->u, count, s->x.cols) ||
        !grow(&s->e, count, 1) || !grow(&s->column, count, PANEL) || !grow(&s->l, count, s->room))
        return out_of_memory(err);
    for (int64_t i = 0; i < count; i++)
        fenp_multiset_at(s->x.rows, s->h, number ? number[i] : i, s->member + i * s->h);
    fen_status status = unpack_factor(s, err);
    if (status == FEN_OK) status = pass_memory(s, err);
    if (status != FEN_OK) return status;
    const fenp_span span = span_of(s);
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < count; first += FENP_PIVOT_BLOCK)
        fill_candidates(s, &span, first);
    return FEN_OK;
}

/* They are not needed in a pass, which may be one of many columns that are kept. */
static void drop_candidates(search *s)
{
    double **all[] = { &s->u, &s->e, &s->column, &s->l };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(*all[i]), *all[i] = NULL;
    free(s->member);
    s->member = NULL;
    s->candidates = 0;
}

/* ---- passes over all points ------------------------------------------------------------------ */

static void pass_block(search *s, const fenp_span *span, int64_t group, int64_t first)
{
    const int64_t points = min_of(FENP_PIVOT_BLOCK, s->points - first);
    double *u = own_work(s), *l = u + FENP_PIVOT_BLOCK * s->x.cols + s->h;
    fenp_span_block(span, first, points, u, l, s->e_group + (first - group));
    if (s->so_far && s->count > 0) s->so_far->take(s->so_far->user, first, points, s->count, l);
}

/* A sample without replacement in proportion to e: the largest of log(uniform)/e. */
static void offer(search *s, double e, int64_t k)
{
    if (!(e > (s->so_far ? FLOOR * s->top : goal_of(s)))) return;
    fenp_best_offer(&s->worst, e, k);
    fenp_best_offer(&s->sample, log(fenp_uniform(0, 0, (uint64_t)k)) / e, k);
}

/* Where there are more than are wanted, the least of them is what others are below. */
static void settle_candidates(search *s)
{
    fenp_best_settle(&s->worst);
    fenp_best_settle(&s->sample);
    s->outside = s->worst.count == s->worst.want && !s->look ? s->worst.least : 0.0;
    s->next = fenp_best_join(&s->worst, &s->sample, s->number);
}

/* e of all points: the largest one, and offers to the next candidates. */
static fen_status pass(search *s, const fenp_task *task, fen_error *err)
{
    const int64_t group = GROUP * FENP_PIVOT_BLOCK;
    fen_status status = unpack_factor(s, err);
    if (status == FEN_OK) status = pass_memory(s, err);
    const fenp_span span = span_of(s);
    s->worst.count = s->sample.count = 0;
    s->worst.least = 0.0;
    s->sample.least = -INFINITY;
    s->left = 0.0;
    for (int64_t from = 0; from < s->points && status == FEN_OK; from += group) {
        const int64_t to = min_of(from + group, s->points);
#pragma omp parallel for schedule(dynamic)
        for (int64_t first = from; first < to; first += FENP_PIVOT_BLOCK)
            pass_block(s, &span, from, first);
        for (int64_t k = from; k < to; k++) {
            s->left = fmax(s->left, s->e_group[k - from]);
            offer(s, s->e_group[k - from], k);
        }
        status = fenp_task_at(task, progress(s, s->left), err);
    }
    settle_candidates(s);
    return status;
}

/* Whether pivots among these candidates end the search: nearly, where nobody makes sure. */
static int is_last(const search *s, int all)
{
    return all || s->count == s->most || (!s->check && DROP * s->outside <= goal_of(s));
}

static fen_status run(search *s, const fenp_task *task, fen_error *err)
{
    const int all = s->points <= 2 * s->worst.want;
    fen_status status = all || s->left < INFINITY ? FEN_OK : pass(s, task, err);
    while (status == FEN_OK && s->left > goal_of(s) && s->count < s->most) {
        const int64_t before = s->count;
        status = set_candidates(s, all ? NULL : s->number, all ? s->points : s->next, err);
        if (status == FEN_OK) status = choose(s, all ? 0.0 : DROP * s->outside, task, err);
        drop_candidates(s);
        const int last = s->count == before || is_last(s, all);
        if (last && !s->so_far) break;
        if (status == FEN_OK) status = pass(s, task, err);
        if (last) break;
    }
    return status;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static double largest_value(const fenp_kernel *kernel, fen_view x, int64_t h)
{
    double top = 0.0;
    for (int64_t i = 0; i < x.rows; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < x.cols; j++)
            sum += pow(fabs(x.at[i * x.stride + j]), 2.0 * (double)h);
        top = fmax(top, kernel->table->value(sum, &kernel->par));
    }
    return top;
}

/* Bytes of a search among so many candidates, as its arrays grow; -1: beyond counting. */
int64_t fenp_search_bytes_among(int64_t p, int64_t h, int64_t pivots, int64_t candidates)
{
    const int64_t room = pivots + STEP + PANEL, threads = omp_get_max_threads();
    const double each = (double)(room + p + h + PANEL + 1), r = (double)room;
    const double work = (double)threads * (FENP_PIVOT_BLOCK * (double)(p + pivots) + (double)h);
    const double all = (double)candidates * (each + 6.0) + r * (double)(p + h + PANEL) +
                       1.5 * r * r + work + GROUP * FENP_PIVOT_BLOCK;
    return all < 1e17 ? (int64_t)(8.0 * all) : -1;
}

int64_t fenp_first_candidates(void) { return CANDIDATES; }

int64_t fenp_search_bytes(int64_t n, int64_t p, int64_t h, int64_t pivots, int least)
{
    const int64_t points = fenp_multisets(n, h);
    return fenp_search_bytes_among(p, h, pivots, min_of(points, least ? LEAST : CANDIDATES));
}

/* Candidates that there is room for (0: any number). */
static int64_t allowed(const search *s, const fenp_pivots_wish *wish)
{
    const int64_t room = wish->room, p = s->x.cols;
    const int64_t fixed = fenp_search_bytes_among(p, s->h, s->most, 0);
    const int64_t one = fenp_search_bytes_among(p, s->h, s->most, 1) - fixed;
    const int64_t full = min_of(s->points, wish->candidates ? wish->candidates : CANDIDATES);
    if (room == 0 || fixed < 0 || one <= 0) return full;
    const int64_t fit = (room - fixed) / one;
    return fit > LEAST ? min_of(full, fit) : min_of(full, LEAST);
}

static fen_status search_open(search *s, const fenp_pivots_wish *wish, fen_error *err)
{
    s->h = fenp_half_order(s->kernel);
    s->points = fenp_multisets(s->x.rows, s->h);
    s->most = wish->most > 0 ? min_of(wish->most, s->points) : s->points;
    s->top = largest_value(s->kernel, s->x, s->h);
    s->goal = fmax(wish->fine, FLOOR) * s->top;
    s->enough = wish->tolerance * s->top;
    s->few = wish->few;
    s->check = wish->check;
    s->look = wish->look;
    if (s->points == INT64_MAX)
        return fenp_fail(err, FEN_MEMORY,
                         "%lld rows have more products of %lld than can be counted: take fewer "
                         "rows, or a larger p",
                         (long long)s->x.rows, (long long)s->h);
    s->left = INFINITY;
    s->worst.want = s->sample.want = (allowed(s, wish) + 1) / 2;
    s->worst.at = fenp_new(2 * s->worst.want, sizeof *s->worst.at);
    s->sample.at = fenp_new(2 * s->sample.want, sizeof *s->sample.at);
    s->number = fenp_new(2 * s->worst.want, sizeof *s->number);
    s->e_group = fenp_new(GROUP * FENP_PIVOT_BLOCK, sizeof(double));
    return s->worst.at && s->sample.at && s->number && s->e_group ? FEN_OK : out_of_memory(err);
}

static void search_close(search *s)
{
    drop_candidates(s);
    void *all[] = { s->row,      s->point,     s->low,    s->factor,  s->along,
                    s->worst.at, s->sample.at, s->number, s->e_group, s->work };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

fen_status fenp_pivots_search(const fenp_kernel *kernel, fen_view x, const fenp_pivots_wish *wish,
                              fenp_pivots *out, const fenp_task *task, fen_error *err)
{
    search s = { .kernel = kernel, .x = x };
    *out = (fenp_pivots){ 0 };
    fen_status status = search_open(&s, wish, err);
    if (status == FEN_OK) status = run(&s, task, err);
    if (status == FEN_OK) status = unpack_factor(&s, err);
    if (status == FEN_OK) {
        *out = (fenp_pivots){ s.h, s.count, s.row, s.factor };
        s.row = NULL;
        s.factor = NULL;
    }
    search_close(&s);
    return status;
}

/* ---- going on -------------------------------------------------------------------------------- */

static size_t low_bytes(int64_t r) { return (size_t)(r * (r + 1) / 2) * sizeof(double); }

static fen_status take_up(search *s, const fenp_pivots_so_far *from, fen_error *err)
{
    const fen_status status = reserve(s, from->count + PANEL, err);
    if (status != FEN_OK) return status;
    memcpy(s->row, from->row, (size_t)(from->count * s->h) * sizeof *s->row);
    memcpy(s->low, from->low, low_bytes(from->count));
    memcpy(s->number, from->number, (size_t)from->next * sizeof *s->number);
    fenp_span_points(s->x, s->h, s->row, from->count, s->point);
    s->count = from->count, s->next = from->next;
    s->left = from->left * s->top, s->outside = from->outside * s->top;
    return FEN_OK;
}

static void leave(const search *s, fenp_pivots_so_far *to)
{
    memcpy(to->row, s->row, (size_t)(s->count * s->h) * sizeof *s->row);
    memcpy(to->low, s->low, low_bytes(s->count));
    memcpy(to->number, s->number, (size_t)s->next * sizeof *s->number);
    to->count = s->count, to->next = s->next;
    to->left = s->top > 0.0 ? s->left / s->top : 0.0;
    to->outside = s->top > 0.0 ? s->outside / s->top : 0.0;
}

fen_status fenp_pivots_go_on(const fenp_kernel *kernel, fen_view x, const fenp_pivots_wish *wish,
                             fenp_pivots_so_far *so_far, const fenp_task *task, fen_error *err)
{
    search s = { .kernel = kernel, .x = x, .so_far = so_far };
    fen_status status = search_open(&s, wish, err);
    if (status == FEN_OK && so_far->count > 0) status = take_up(&s, so_far, err);
    if (status == FEN_OK) status = run(&s, task, err);
    if (status == FEN_OK && s.count > 0) leave(&s, so_far);
    search_close(&s);
    return status;
}
