/* left_out.c -- exact leave-one-out of any power, the shrinkage c found anew for every row
 *
 * In the folded space (fold.h), phi = c/(d+c), u the row of U, e the row's unit vector: the
 * fit without row i at a given c is the ridge fit of y - rho e,
 *
 *     rho = A / M                              A = c a_i,  M = c M_ii (loo.c)
 *     (cN)^2 = sum g (ty - rho u)^2            g = d phi^2;  primal form: g = phi^2
 *     R = L + cN^2 = c y'a - rho A             N, L of the rows that stay
 *
 * and the c of that row solves h = log c + (2-m) log N = log(m n lambda/2) (curve.h).
 *
 * Method. Three smooth functions of x = log(c/d_max) stand for a row: rho, F = cN^2 and R,
 *   tabulated by GEMMs on nodes that all rows share. From c = n eps d_max, where c drowns in
 *   rounding errors, to 2 d_max the nodes are STEP apart and the polynomial through STENCIL of
 *   them serves the cell in their middle; beyond, one polynomial in s = 2 d_max/c, down to
 *   s = 0, which is f = 0. h = (m/2) x + (1 - m/2) log F then has its root by Newton.
 *   m > 1: one root. m = 1: none if h stays below, f = 0. m < 1: every crossing from below is
 *   a local minimum of value R + (2/m - 1) F; the least of them and of f = 0 is taken. For
 *   c >= 2 d_max h is concave in x: Newton from the left finds the crossing or a falling h.
 * Special cases. c below the nodes: the lowest node. y - rho e out of the reach of K: f = 0.
 *   Primal form, M <= n eps (leverage 1): infinite, as in loo.c.
 * Accuracy. The functions are analytic for |Im x| < pi: 3e-10 at worst, for one eigenvalue on
 *   its own. Where (cN)^2 loses digits in its three terms, it is summed directly.
 * Cost. 8 n rank flops per node (about 180 nodes) for one target, then 0.3 us per row and
 *   setting; 2 (targets + 1) nodes rank doubles. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "promise/loo.h"

#define STEP 0.2
enum {
    STENCIL = 14,             /* nodes of one polynomial                                   */
    MARGIN = STENCIL / 2 - 1, /* nodes beside the cells at either end                      */
    WIDTH = 16,               /* coefficients of one polynomial, padded with zeros         */
    CELLS_MAX = 184,          /* log(2/eps) / STEP                                         */
    NODES_MAX = CELLS_MAX + 1 + 2 * MARGIN + STENCIL + 1
};

typedef struct query {
    double power, level; /* h at the root, for |y| = 1 and d_max = 1                       */
    int64_t index;
} query;

/* Nodes: evenly spaced ones, STENCIL beyond the cells, and c = infinity. */
struct fenp_left_out {
    const fenp_spectrum *e;
    int bias, cells, nodes;
    int64_t count, slab;
    double low, top, unit; /* x at the ends of the cells; d_max                            */
    double x[NODES_MAX], fade[NODES_MAX]; /* fade: e^-x                                    */
    double inner[STENCIL][WIDTH], outer[STENCIL][WIDTH]; /* values to coefficients         */
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
    const int64_t columns = 2 * (int64_t)NODES_MAX;
    return fenp_arena_bytes(struct_doubles()) + fenp_arena_bytes(query_doubles(count)) +
           2 * fenp_arena_bytes(targets) + fenp_arena_bytes(rank * targets) +
           2 * fenp_arena_bytes(NODES_MAX * targets) + fenp_arena_bytes(rank * columns * targets) +
           fenp_arena_bytes(rank * columns) + fenp_arena_bytes(slab * rank) +
           fenp_arena_bytes(columns * targets * slab) + fenp_arena_bytes(columns * slab) +
           fenp_arena_bytes(targets * count * slab) + fenp_arena_bytes(targets * count);
}

/* ---- what all rows share ---------------------------------------------------------------- */

/* out[j][k]: coefficient of z^k in the polynomial that is 1 at z[j] and 0 at the others. */
static void lagrange(const double *z, double out[STENCIL][WIDTH])
{
    for (int j = 0; j < STENCIL; j++) {
        long double p[WIDTH + 1] = { 1.0L };
        for (int i = 0, degree = 0; i < STENCIL; i++) {
            if (i == j) continue;
            const long double scale = 1.0L / ((long double)z[j] - z[i]);
            degree++;
            for (int k = degree; k >= 0; k--)
                p[k] = scale * ((k > 0 ? p[k - 1] : 0.0L) - z[i] * p[k]);
        }
        for (int k = 0; k < WIDTH; k++) out[j][k] = (double)p[k];
    }
}

static void place_nodes(fenp_left_out *s)
{
    const double pi = acos(-1.0);
    double z[STENCIL];
    s->low = log((double)s->e->n * DBL_EPSILON);
    s->cells = (int)ceil((log(2.0) - s->low) / STEP);
    s->top = s->low + s->cells * STEP;
    s->nodes = 0;
    for (int j = -MARGIN; j <= s->cells + MARGIN; j++) s->x[s->nodes++] = s->low + j * STEP;
    for (int j = 0; j < STENCIL; j++) z[j] = j - 0.5 * (STENCIL - 1);
    lagrange(z, s->inner);
    for (int j = 0; j < STENCIL; j++) {
        z[j] = cos(pi * (j + 0.5) / STENCIL);
        s->x[s->nodes++] = s->top - log(0.5 * (1.0 + z[j]));
    }
    lagrange(z, s->outer);
    s->x[s->nodes++] = INFINITY;
    for (int j = 0; j < s->nodes; j++) s->fade[j] = exp(-s->x[j]);
}

/* phi and g of node j, relative to d_max; primal form: 1/(d+c) in place of phi. */
static void fill_node(fenp_left_out *s, int j)
{
    const fenp_spectrum *e = s->e;
    const int64_t r = e->rank, half = (int64_t)s->nodes * r;
    double *phi = s->below + j * r, *g = phi + half;
    for (int64_t k = 0; k < r; k++) {
        const double d = e->d[k] / s->unit, share = 1.0 / (1.0 + d * s->fade[j]);
        const double kept = d > 0.0 ? 1.0 / s->unit : 0.0;
        phi[k] = e->primal ? kept * s->fade[j] * share : share;
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
                risk += ty[k] * ty[k] / e->d[k] / (1.0 + e->d[k] / s->unit * s->fade[j]);
        }
        s->norm[t * s->nodes + j] = norm;
        s->risk[t * s->nodes + j] = risk;
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
    place_nodes(s);
    s->queries = (query *)fenp_arena_doubles(arena, query_doubles(count));
    for (int64_t l = 0; l < count; l++) {
        const double m = points[l].power, weight = log((double)e->n) + log(points[l].lambda);
        s->queries[l] = (query){ m, log(0.5 * m) + weight - 0.5 * m * log(s->unit), l };
    }
    qsort(s->queries, (size_t)count, sizeof *s->queries, by_power_and_level);
    const int64_t columns = 2 * (int64_t)s->nodes;
    s->size = fenp_arena_doubles(arena, targets);
    s->rest = fenp_arena_doubles(arena, targets);
    s->ty = fenp_arena_doubles(arena, r * targets);
    s->norm = fenp_arena_doubles(arena, s->nodes * targets);
    s->risk = fenp_arena_doubles(arena, s->nodes * targets);
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
    for (int j = 0; j < s->nodes; j++) fill_node(s, j);
    return FEN_OK;
}

/* ---- one row ---------------------------------------------------------------------------- */

typedef struct polynomials {
    double rho[WIDTH], f[WIDTH], risk[WIDTH];
} polynomials;

typedef struct row {
    const fenp_left_out *s;
    double rho[NODES_MAX], f[NODES_MAX], risk[NODES_MAX]; /* f beyond the cells: (cN)^2    */
    double log_f[NODES_MAX];
    double log_energy; /* of y - rho e is risk at c = infinity; this is log |y|^2       */
    int first;         /* cells below it have lost their digits; > cells: all have      */
    int null;          /* f = 0 is all that K can do                                    */
    char ready[CELLS_MAX + 1];
    polynomials cell[CELLS_MAX + 1]; /* the last one: beyond the cells                     */
} row;

/* What belongs to one row of a slab. */
typedef struct source {
    const double *u, *y, *w; /* u has stride ld                                            */
    int64_t ld;
    const double *products, *leverage;
    double *copy; /* rank: u without stride, made when wanted                   */
    int copied;
} source;

/* (cN)^2 without cancellation: rows that carry nearly all of the norm need it. */
static double direct_norm(const fenp_left_out *s, source *from, int64_t t, int j, double rho)
{
    const int64_t r = s->e->rank;
    const double *g = s->below + (s->nodes + j) * r, *ty = s->ty + t * r;
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
static void tabulate(row *at, source *from, int64_t t, double y)
{
    const fenp_left_out *s = at->s;
    const int n = s->nodes, primal = s->e->primal;
    const double *a = from->products + 2 * n * t, *m = from->leverage;
    const double noise = (double)s->e->n * DBL_EPSILON, whole = s->bias ? 1.0 - *from->w : 1.0;
    at->first = 0;
    for (int j = 0; j < n; j++) {
        const double above = primal ? y - a[j] : a[j], below = primal ? whole - m[j] : m[j];
        const double rho = at->rho[j] = above / below;
        if (!(below > (primal ? noise : 0.0))) at->first = j + 1;
        const double own = rho * rho * m[n + j], norm = s->norm[t * n + j];
        double square = norm - 2.0 * rho * a[n + j] + own;
        if (square < 1e-3 * (norm + own)) square = direct_norm(s, from, t, j, rho);
        at->f[j] = square;
        at->risk[j] = s->risk[t * n + j] - rho * above;
    }
    const double energy = at->risk[n - 1];
    at->null = !(at->f[n - 1] > noise * energy && energy > noise * noise);
    at->log_energy = 2.0 * log(s->size[t]);
    for (int j = 0; j <= s->cells + 2 * MARGIN; j++) {
        at->f[j] *= s->fade[j];
        at->log_f[j] = at->null ? 0.0 : log(at->f[j]);
    }
    memset(at->ready, 0, sizeof at->ready);
}

static void coefficients(const double matrix[STENCIL][WIDTH], const double *value, double *out)
{
    for (int k = 0; k < WIDTH; k++) out[k] = 0.0;
    for (int j = 0; j < STENCIL; j++)
        for (int k = 0; k < WIDTH; k++) out[k] += matrix[j][k] * value[j];
}

static const polynomials *cell_at(row *at, int k)
{
    const fenp_left_out *s = at->s;
    polynomials *p = &at->cell[k];
    if (at->ready[k]) return p;
    const int from = k < s->cells ? k : s->cells + 1 + 2 * MARGIN;
    const double(*matrix)[WIDTH] = k < s->cells ? s->inner : s->outer;
    coefficients(matrix, at->rho + from, p->rho);
    coefficients(matrix, at->f + from, p->f);
    if (s->queries[0].power < 1.0) coefficients(matrix, at->risk + from, p->risk);
    at->ready[k] = 1;
    return p;
}

/* The argument of the polynomials of cell k. */
static double local(const fenp_left_out *s, int k, double x)
{
    return k < s->cells ? (x - s->low) / STEP - (k + 0.5) : 2.0 * exp(s->top - x) - 1.0;
}

static double value(const double *p, double z)
{
    double sum = p[STENCIL - 1];
    for (int k = STENCIL - 2; k >= 0; k--) sum = sum * z + p[k];
    return sum;
}

static double value_and_slope(const double *p, double z, double *slope)
{
    double sum = p[STENCIL - 1], rise = 0.0;
    for (int k = STENCIL - 2; k >= 0; k--) {
        rise = rise * z + sum;
        sum = sum * z + p[k];
    }
    *slope = rise;
    return sum;
}

/* h at the lower end of cell k. */
static double height(const row *at, const query *q, int k)
{
    const int j = k + MARGIN;
    return 0.5 * q->power * at->s->x[j] + (1.0 - 0.5 * q->power) * at->log_f[j];
}

/* Enough for Newton: the next step would be of the order of its square. */
static const double CLOSE = 1e-8;

/* h rises through the level inside cell k: Newton, inside the bracket. Returns x. */
static double crossing(row *at, const query *q, double level, int k)
{
    const fenp_left_out *s = at->s;
    const polynomials *p = cell_at(at, k);
    const double a = 0.5 * q->power, b = 1.0 - a, middle = s->low + (k + 0.5) * STEP;
    const double start = height(at, q, k), end = height(at, q, k + 1);
    double low = -0.5, high = 0.5, z = (level - start) / (end - start) - 0.5;
    for (int step = 0; step < 60; step++) {
        double slope;
        const double f = value_and_slope(p->f, z, &slope);
        const double over = a * (middle + z * STEP) + b * log(f) - level;
        if (over > 0.0)
            high = z;
        else
            low = z;
        double next = z - over / (a * STEP + b * slope / f);
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        const double moved = fabs(next - z);
        z = next;
        if (moved < CLOSE) break;
    }
    return middle + z * STEP;
}

/* The same beyond the cells, where f holds (cN)^2 and h = (m-1) x + (1 - m/2) log f is
 * concave: from the left, until h falls. Returns infinity if h stays below the level. */
static double crossing_beyond(row *at, const query *q, double level)
{
    const fenp_left_out *s = at->s;
    const polynomials *p = cell_at(at, s->cells);
    const double a = q->power - 1.0, b = 1.0 - 0.5 * q->power;
    double x = s->top;
    if (a == 0.0 && level >= b * log(at->f[s->nodes - 1])) return INFINITY;
    for (int step = 0; step < 100; step++) {
        double slope;
        const double share = exp(s->top - x);
        const double f = value_and_slope(p->f, 2.0 * share - 1.0, &slope);
        const double rise = a - 2.0 * b * share * slope / f;
        if (!(rise > 0.0)) return a < 0.0 ? INFINITY : x;
        const double move = (level - a * x - b * log(f)) / rise;
        x = fmax(x + move, s->top);
        if (fabs(move) < CLOSE * fmax(1.0, fabs(x))) break;
    }
    return x;
}

/* power >= 1: h rises. *k: a cell at or below the root, moved up to it. */
static double only_root(row *at, const query *q, double level, int *k)
{
    const fenp_left_out *s = at->s;
    if (*k == at->first && height(at, q, *k) >= level) return s->low + *k * STEP;
    while (*k < s->cells && height(at, q, *k + 1) < level) ++*k;
    return *k < s->cells ? crossing(at, q, level, *k) : crossing_beyond(at, q, level);
}

/* R + (2/m - 1) F, the objective at a stationary point. */
static double objective(row *at, const query *q, double x, int k)
{
    const polynomials *p = cell_at(at, k);
    const double z = local(at->s, k, x), f = value(p->f, z);
    const double scaled = k < at->s->cells ? f : f * exp(-x);
    return value(p->risk, z) + (2.0 / q->power - 1.0) * scaled;
}

/* power < 1: the least of all local minima; f = 0 and the lowest node are two of them. */
static double best_root(row *at, const query *q, double level)
{
    const fenp_left_out *s = at->s;
    const double m = q->power;
    double best = at->risk[s->nodes - 1], x = INFINITY;
    double below = height(at, q, at->first);
    if (below >= level) {
        const int j = at->first + MARGIN;
        const double penalty = 2.0 / m * exp(level + 0.5 * m * (at->log_f[j] - s->x[j]));
        const double end = at->risk[j] - at->f[j] + penalty;
        if (end < best) best = end, x = s->x[j];
    }
    for (int k = at->first; k <= s->cells; k++) {
        const double next = k < s->cells ? height(at, q, k + 1) : INFINITY;
        if (below < level && next >= level) {
            const double t =
                k < s->cells ? crossing(at, q, level, k) : crossing_beyond(at, q, level);
            const double there = isinf(t) ? best : objective(at, q, t, k);
            if (there < best) best = there, x = t;
        }
        below = next;
    }
    return x;
}

/* rho at x. Where the digits are lost, the row cannot be predicted. */
static double rho_at(row *at, double x)
{
    const fenp_left_out *s = at->s;
    const double lowest = s->low + at->first * STEP;
    if (isinf(x) && x > 0.0) return at->rho[s->nodes - 1];
    if (at->first > 0 && x <= lowest) return INFINITY;
    x = fmax(x, lowest);
    int k = x < s->top ? (int)((x - s->low) / STEP) : s->cells;
    if (x < s->top && k >= s->cells) k = s->cells - 1;
    return value(cell_at(at, k)->rho, local(s, k, x));
}

/* rho^2 of one row and one target for all settings. */
static void answer(row *at, double *found)
{
    const fenp_left_out *s = at->s;
    const double size = exp(0.5 * at->log_energy);
    int k = 0;
    for (int64_t l = 0; l < s->count; l++) {
        const query *q = &s->queries[l];
        const double level = q->level - (1.0 - 0.5 * q->power) * at->log_energy;
        double rho = INFINITY;
        if (l == 0 || q->power != s->queries[l - 1].power) k = at->first;
        if (at->first > s->cells)
            ;
        else if (q->power == 2.0)
            rho = rho_at(at, q->level);
        else if (at->null)
            rho = at->rho[s->nodes - 1];
        else if (q->power < 1.0)
            rho = rho_at(at, best_root(at, q, level));
        else
            rho = rho_at(at, only_root(at, q, level, &k));
        found[q->index] = isinf(rho) ? INFINITY : size * rho * (size * rho);
    }
}

/* ---- rows ------------------------------------------------------------------------------- */

/* U.*U; A and (U ty g) of every node, target and row; M and (U.*U g) of every node and row. */
static void multiply(fenp_left_out *s, const double *u, int64_t ld, int64_t rows)
{
    const int64_t r = s->e->rank;
    const int half = 2 * s->nodes, all = half * (int)s->e->targets;
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
    const int64_t targets = s->e->targets, columns = 2 * (int64_t)s->nodes;
    const int64_t answers = targets * s->count;
    multiply(s, u, ld, rows);
#pragma omp parallel
    {
        row at = { .s = s };
#pragma omp for schedule(dynamic, 8)
        for (int64_t i = 0; i < rows; i++) {
            source from = { .u = u + i, .w = w + i, .ld = ld };
            from.products = s->products + i * columns * targets;
            from.leverage = s->leverage + i * columns;
            from.copy = s->squares + i * s->e->rank;
            for (int64_t t = 0; t < targets; t++) {
                const double size = s->size[t];
                tabulate(&at, &from, t, size > 0.0 ? y[i + t * y_ld] / size : 0.0);
                answer(&at, s->found + i * answers + t * s->count);
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
