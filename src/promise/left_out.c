/* left_out.c -- exact leave-one-out of any power, the shrinkage c found anew for every row
 *
 * In the folded space (fold.h), phi = c/(d+c), u the row of U, e the row's unit vector: the
 * fit without row i at a given c is the ridge fit of y - rho e,
 *
 *     rho = A / M                              A = c a_i,  M = c M_ii (loo.c)
 *     (cN)^2 = sum g (ty - rho u)^2            g = d phi^2;  primal form: g = phi^2
 *     R = L + cN^2 = c y'a - rho A             N, L of the rows that stay
 *
 * Method. These three are tabulated by GEMMs for all rows of a slab on shared nodes in
 *   log c; row_curve.c finds the root of every row and setting from them.
 * Special case. Primal form, M <= n eps (leverage 1): infinite, as in loo.c.
 * Accuracy. Where (cN)^2 loses digits in its three terms, it is summed directly.
 * Cost. 8 n rank flops per node (about 180 nodes) for one target, then 0.3 us per row and
 *   setting; 2 (targets + 1) nodes rank doubles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "promise/loo.h"
#include "promise/row_curve.h"

typedef struct query {
    double power, level; /* h at the root, for |y| = 1 and d_max = 1                       */
    int64_t index;
} query;

struct fenp_left_out {
    const fenp_spectrum *e;
    int bias;
    int64_t count, slab;
    double unit; /* d_max                                                                  */
    fenp_grid grid;
    query *queries;              /* power, then lambda ascending                            */
    double *size, *rest;         /* targets: |y|; loss that no f can lessen, relative       */
    double *ty;                  /* rank x targets, divided by |y|                          */
    double *norm, *risk;         /* nodes x targets: (cN)^2 and R of all rows, relative     */
    double *above, *below;       /* rank x nodes each: phi, g; above times ty, per target   */
    double *squares;             /* slab x rank: U.*U; then rows of U that are asked for    */
    double *products, *leverage; /* U above, U.*U below, transposed                        */
    double *found, *sums;        /* rho^2: targets x count x slab; targets x count          */
};

static int64_t struct_doubles(void)
{
    return (int64_t)((sizeof(struct fenp_left_out) + sizeof(double) - 1) / sizeof(double));
}

static int64_t query_doubles(int64_t count)
{
    return count * (int64_t)((sizeof(query) + sizeof(double) - 1) / sizeof(double));
}

int64_t fenp_left_out_bytes(int64_t rank, int64_t targets, int64_t count, int64_t slab)
{
    const int64_t columns = 2 * (int64_t)FENP_GRID_MAX;
    return fenp_arena_bytes(struct_doubles()) + fenp_arena_bytes(query_doubles(count)) +
           2 * fenp_arena_bytes(targets) + fenp_arena_bytes(rank * targets) +
           2 * fenp_arena_bytes(FENP_GRID_MAX * targets) +
           fenp_arena_bytes(rank * columns * targets) + fenp_arena_bytes(rank * columns) +
           fenp_arena_bytes(slab * rank) + fenp_arena_bytes(columns * targets * slab) +
           fenp_arena_bytes(columns * slab) + fenp_arena_bytes(targets * count * slab) +
           fenp_arena_bytes(targets * count);
}

/* ---- what all rows share ---------------------------------------------------------------- */

/* phi and g of node j, relative to d_max; primal form: 1/(d+c) in place of phi. */
static void fill_node(fenp_left_out *s, int j)
{
    const fenp_spectrum *e = s->e;
    const int64_t r = e->rank, half = (int64_t)s->grid.nodes * r;
    double *phi = s->below + j * r, *g = phi + half;
    for (int64_t k = 0; k < r; k++) {
        const double d = e->d[k] / s->unit, share = 1.0 / (1.0 + d * s->grid.fade[j]);
        const double kept = d > 0.0 ? 1.0 / s->unit : 0.0;
        phi[k] = e->primal ? kept * s->grid.fade[j] * share : share;
        g[k] = (e->primal ? kept : d) * share * share;
    }
    for (int64_t t = 0; t < e->targets; t++) {
        const double *ty = s->ty + t * r;
        double *above = s->above + 2 * t * half + j * r, norm = 0.0, risk = s->rest[t];
        for (int64_t k = 0; k < r; k++) {
            above[k] = ty[k] * phi[k];
            above[k + half] = ty[k] * g[k];
            norm += ty[k] * above[k + half];
            if (!e->primal)
                risk += ty[k] * above[k];
            else if (e->d[k] > 0.0) /* along u/sqrt(d), a unit vector */
                risk += ty[k] * ty[k] / e->d[k] / (1.0 + e->d[k] / s->unit * s->grid.fade[j]);
        }
        s->norm[t * s->grid.nodes + j] = norm;
        s->risk[t * s->grid.nodes + j] = risk;
    }
}

/* |y| of every target (its part that f can explain, or has to leave), and ty / |y|. */
static void scale_targets(fenp_left_out *s)
{
    const fenp_spectrum *e = s->e;
    const int64_t r = e->rank;
    for (int64_t t = 0; t < e->targets; t++) {
        double *ty = s->ty + t * r;
        for (int64_t k = 0; k < r; k++) {
            const double root = e->primal ? sqrt(e->d[k]) : 1.0;
            ty[k] = root > 0.0 ? e->ty[t * r + k] / root : 0.0;
        }
        s->size[t] = hypot(r > 0 ? cblas_dnrm2((int)r, ty, 1) : 0.0, sqrt(e->rest[t]));
        const double scale = s->size[t] > 0.0 ? 1.0 / s->size[t] : 0.0;
        for (int64_t k = 0; k < r; k++) ty[k] = e->ty[t * r + k] * scale;
        s->rest[t] = e->rest[t] * scale * scale;
    }
}

static int by_power_and_level(const void *a, const void *b)
{
    const query *p = a, *q = b;
    if (p->power != q->power) return p->power < q->power ? -1 : 1;
    if (p->level != q->level) return p->level < q->level ? -1 : 1;
    return p->index < q->index ? -1 : 1;
}

fen_status fenp_left_out_begin(fenp_arena *arena, const fenp_spectrum *e, int bias,
                               const fenp_setting *points, int64_t count, int64_t slab,
                               fenp_left_out **out, fen_error *err)
{
    (void)err;
    const int64_t r = e->rank, targets = e->targets;
    fenp_left_out *s = *out = (fenp_left_out *)fenp_arena_doubles(arena, struct_doubles());
    *s = (fenp_left_out){ .e = e, .bias = bias, .count = count, .slab = slab };
    s->unit = r > 0 && e->d[r - 1] > 0.0 ? e->d[r - 1] : 1.0;
    fenp_grid_make(&s->grid, e->n);
    s->queries = (query *)fenp_arena_doubles(arena, query_doubles(count));
    for (int64_t l = 0; l < count; l++) {
        const double m = points[l].power, weight = log((double)e->n) + log(points[l].lambda);
        s->queries[l] = (query){ m, log(0.5 * m) + weight - 0.5 * m * log(s->unit), l };
    }
    qsort(s->queries, (size_t)count, sizeof *s->queries, by_power_and_level);
    const int64_t columns = 2 * (int64_t)s->grid.nodes;
    s->size = fenp_arena_doubles(arena, targets);
    s->rest = fenp_arena_doubles(arena, targets);
    s->ty = fenp_arena_doubles(arena, r * targets);
    s->norm = fenp_arena_doubles(arena, s->grid.nodes * targets);
    s->risk = fenp_arena_doubles(arena, s->grid.nodes * targets);
    s->above = fenp_arena_doubles(arena, r * columns * targets);
    s->below = fenp_arena_doubles(arena, r * columns);
    s->squares = fenp_arena_doubles(arena, slab * r);
    s->products = fenp_arena_doubles(arena, columns * targets * slab);
    s->leverage = fenp_arena_doubles(arena, columns * slab);
    s->found = fenp_arena_doubles(arena, targets * count * slab);
    s->sums = fenp_arena_doubles(arena, targets * count);
    memset(s->sums, 0, (size_t)(targets * count) * sizeof(double));
    scale_targets(s);
#pragma omp parallel for
    for (int j = 0; j < s->grid.nodes; j++) fill_node(s, j);
    return FEN_OK;
}

/* ---- one row ---------------------------------------------------------------------------- */

/* What belongs to one row of a slab. */
typedef struct source {
    const double *u, *w; /* u has stride ld                                                */
    int64_t ld;
    const double *products, *leverage;
    double *copy; /* rank: u without stride, made when wanted                   */
    int copied;
} source;

/* (cN)^2 without cancellation: rows that carry nearly all of the norm need it. */
static double direct_norm(const fenp_left_out *s, source *from, int64_t t, int j, double rho)
{
    const int64_t r = s->e->rank;
    const double *g = s->below + (s->grid.nodes + j) * r, *ty = s->ty + t * r;
    double sum = 0.0;
    for (int64_t k = 0; !from->copied && k < r; k++) from->copy[k] = from->u[k * from->ld];
    from->copied = 1;
    for (int64_t k = 0; k < r; k++) {
        const double left = ty[k] - rho * from->copy[k];
        sum += g[k] * left * left;
    }
    return sum;
}

/* The three functions at all nodes. */
static void tabulate(const fenp_left_out *s, source *from, int64_t t, double y, fenp_row_curve *at)
{
    const int n = s->grid.nodes, primal = s->e->primal;
    const double *a = from->products + 2 * n * t, *m = from->leverage;
    const double whole = s->bias ? 1.0 - *from->w : 1.0, least = primal ? s->grid.noise : 0.0;
    at->lost = 0;
    for (int j = 0; j < n; j++) {
        const double above = primal ? y - a[j] : a[j], below = primal ? whole - m[j] : m[j];
        const double rho = above / below, own = rho * rho * m[n + j], norm = s->norm[t * n + j];
        const double square = norm - 2.0 * rho * a[n + j] + own;
        const int cancels = square < 1e-3 * (norm + own);
        if (!(below > least)) at->lost = j + 1;
        at->rho[j] = rho;
        at->square[j] = cancels ? direct_norm(s, from, t, j, rho) : square;
        at->risk[j] = s->risk[t * n + j] - rho * above;
    }
    fenp_row_curve_begin(at, &s->grid);
}

/* rho^2 of one row and one target for all settings. */
static void answer(const fenp_left_out *s, int64_t t, fenp_row_curve *at, double *found)
{
    const double log_energy = 2.0 * log(s->size[t]);
    for (int64_t l = 0; l < s->count; l++) {
        const query *q = &s->queries[l];
        const double shift = q->power == 2.0 ? 0.0 : (1.0 - 0.5 * q->power) * log_energy;
        const double rho = fenp_row_curve_rho(at, q->power, q->level - shift);
        found[q->index] = isinf(rho) ? INFINITY : s->size[t] * rho * (s->size[t] * rho);
    }
}

/* ---- rows ------------------------------------------------------------------------------- */

/* U.*U; A and (U ty g) of every node, target and row; M and (U.*U g) of every node and row. */
static void multiply(fenp_left_out *s, const double *u, int64_t ld, int64_t rows)
{
    const int64_t r = s->e->rank;
    const int half = 2 * s->grid.nodes, all = half * (int)s->e->targets;
    if (r == 0) { /* nothing to multiply: BLAS wants ld > 0 */
        memset(s->products, 0, (size_t)(all * rows) * sizeof(double));
        memset(s->leverage, 0, (size_t)(half * rows) * sizeof(double));
        return;
    }
#pragma omp parallel for
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = 0; i < rows; i++)
            s->squares[i + k * s->slab] = u[i + k * ld] * u[i + k * ld];
    cblas_dgemm(CblasColMajor, CblasTrans, CblasTrans, all, (int)rows, (int)r, 1.0, s->above,
                (int)r, u, (int)ld, 0.0, s->products, all);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasTrans, half, (int)rows, (int)r, 1.0, s->below,
                (int)r, s->squares, (int)s->slab, 0.0, s->leverage, half);
}

void fenp_left_out_rows(fenp_left_out *s, const double *u, int64_t ld, const double *y,
                        int64_t y_ld, const double *w, int64_t rows)
{
    const int64_t targets = s->e->targets, columns = 2 * (int64_t)s->grid.nodes;
    const int64_t answers = targets * s->count;
    multiply(s, u, ld, rows);
#pragma omp parallel
    {
        fenp_row_curve at;
#pragma omp for schedule(dynamic, 8)
        for (int64_t i = 0; i < rows; i++) {
            source from = { .u = u + i, .w = w + i, .ld = ld };
            from.products = s->products + i * columns * targets;
            from.leverage = s->leverage + i * columns;
            from.copy = s->squares + i * s->e->rank;
            for (int64_t t = 0; t < targets; t++) {
                const double size = s->size[t];
                tabulate(s, &from, t, size > 0.0 ? y[i + t * y_ld] / size : 0.0, &at);
                answer(s, t, &at, s->found + i * answers + t * s->count);
            }
        }
    }
#pragma omp parallel for
    for (int64_t l = 0; l < answers; l++) { /* in the order of the rows, whoever did them */
        long double sum = 0.0L;
        for (int64_t i = 0; i < rows; i++) sum += s->found[l + i * answers];
        s->sums[l] += (double)sum;
    }
}

void fenp_left_out_scores(const fenp_left_out *s, double *scores)
{
    for (int64_t l = 0; l < s->e->targets * s->count; l++) scores[l] = s->sums[l] / (double)s->e->n;
}
