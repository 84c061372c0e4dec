/* certify_features.c -- is a model of random features optimal? From its residuals
 *
 *     f(x) = v.phi(x), ||f|| = |v|,   r_i = y_i - b - f(x_i),   dual vector z = 2 r
 *     P    = sum w r^2 + lambda |v|^m
 *     D(t) = 2 t sum w r y - t^2 sum w r^2 - Psi*(t |2 sum w r phi(x)|),   0 <= t <= 1
 *     m < 1: each stored weight vector has such an r, and with it a tangent (certify.c)
 *              T(s) = sum w (2 r y - r^2) - s |2 sum w r phi(x)|
 *
 * for the square loss; with a bias r loses its mean in D and T, which makes it feasible.
 * This bounds the objective of the approximated kernel k ~ phi.phi, not that of k.
 * Two ways to the sums: from the moments, at the end of a fit, O(columns^2) for each vector;
 * from the rows in one pass, which is how verify does it. Sums over rows run in long double.
 * Both take b off y first: y = 1e9 + noise keeps its digits.
 * stationarity: |gradient of P| over its size at f = 0. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "base/registry.h"
#include "streamed.h"

enum { TILE_ROWS = 2048 };

/* Of one weight vector. */
typedef struct residuals {
    double loss;              /* sum w r^2 with b as it stands                       */
    double linear, quadratic; /* sum w r y, sum w r^2 of the feasible r              */
    double dual_norm;         /* |2 sum w r phi|, of the same                        */
    double gradient;          /* |2 sum w r phi - 2 lambda2 v|                       */
} residuals;

/* Of one target. */
typedef struct facts {
    double null;   /* objective of the best constant                      */
    double square; /* sum w y^2                                           */
    double reach;  /* |2 sum w y phi|: the gradient at f = 0              */
} facts;

/* ---- from sums to the certificate -------------------------------------------------------- */

typedef struct claim {
    const fen_penalty *penalty;
    double lambda, power;
    const residuals *r;
} claim;

static double dual_value(const void *state, double t)
{
    const claim *c = state;
    return 2.0 * t * c->r->linear - t * t * c->r->quadratic -
           c->penalty->conj(t * c->r->dual_norm, c->lambda, c->power);
}

/* The weight with which |v|^2 has the same solution; 0 at v = 0, where there is none. */
static double lambda2_of(const fen_model *m, double norm)
{
    if (m->power == 2.0) return m->lambda;
    return norm > 0.0 ? 0.5 * m->power * m->lambda * pow(norm, m->power - 2.0) : 0.0;
}

static int64_t vectors_of(const fen_model *m) { return 1 + m->tangent_count; }

/* Vector k of target t: the model's own, then the tangents. */
static const double *vector_of(const fen_model *m, int64_t t, int64_t k)
{
    const int64_t columns = m->approx.columns;
    return k == 0 ? m->feature_weights + t * columns
                  : m->tangents + (t * m->tangent_count + k - 1) * columns;
}

static double tangent_bound(const fen_model *m, const residuals *r, fenp_line *lines)
{
    const double rounding = fenp_cross_rounding(m->n);
    for (int64_t k = 0; k < vectors_of(m); k++)
        lines[k] = (fenp_line){ .height = 2.0 * r[k].linear - r[k].quadratic,
                                .steepness = r[k].dual_norm,
                                .noise = 2.0 * sqrt(rounding * fmax(r[k].quadratic, 0.0)) };
    return fenp_least_over_norms(lines, vectors_of(m), m->lambda, m->power);
}

static double digits_of(const facts *f) { return 64.0 * DBL_EPSILON * DBL_EPSILON * f->square; }

static fen_certificate judge(const fen_model *m, int64_t t, const residuals *r, const facts *f,
                             fenp_line *lines)
{
    const claim c = { fenp_find_penalty("rkhs"), m->lambda, m->power, r };
    fen_certificate out = { .mean_loss = r->loss, .null = f->null };
    out.norm = cblas_dnrm2((int)m->approx.columns, vector_of(m, t, 0), 1);
    out.primal = out.mean_loss + m->lambda * c.penalty->value(out.norm, m->power);
    out.dual = m->power < 1.0
                   ? tangent_bound(m, r, lines)
                   : fenp_best_dual_value(dual_value, &c, r->dual_norm, m->lambda, m->power);
    out.stationarity = f->reach > 0.0 && out.norm > 0.0 ? r->gradient / f->reach : 0.0;
    const double lambda2 = out.norm > 0.0 ? lambda2_of(m, out.norm) : INFINITY;
    fenp_certificate_close(&out, fenp_gap_unit(&out, digits_of(f)), m->tolerance,
                           lambda2 <= (double)m->n * DBL_EPSILON); /* phi(x).phi(x) = 1 */
    return out;
}

/* From g = sum w r phi, which is overwritten. */
static void set_norms(const fen_model *m, const double *v, double *g, residuals *r)
{
    const int columns = (int)m->approx.columns;
    const double lambda2 = lambda2_of(m, cblas_dnrm2(columns, v, 1));
    r->dual_norm = 2.0 * cblas_dnrm2(columns, g, 1);
    cblas_daxpy(columns, -lambda2, v, 1, g, 1);
    r->gradient = 2.0 * cblas_dnrm2(columns, g, 1);
}

/* Room for the residuals of one target, its lines and a vector of columns. */
typedef struct room {
    residuals *r;
    fenp_line *lines;
    double *g;
} room;

static void room_close(room *s)
{
    free(s->r);
    free(s->lines);
    free(s->g);
}

static fen_status room_open(const fen_model *m, room *s, fen_error *err)
{
    s->r = fenp_new(vectors_of(m), sizeof *s->r);
    s->lines = fenp_new(vectors_of(m), sizeof *s->lines);
    s->g = fenp_new(m->approx.columns, sizeof *s->g);
    if (s->r && s->lines && s->g) return FEN_OK;
    room_close(s);
    return fenp_no_memory(err, 0, "the certificate");
}

/* ---- the sums from the moments ------------------------------------------------------------- */

/* With a bias everything is centred there: r is feasible, and b is off by what is left. */
static residuals of_moments(const fen_model *m, const fenp_cross *x, int64_t t, const double *v,
                            double *g)
{
    const int columns = (int)x->columns, stride = (int)x->order;
    const double *zy = fenp_cross_zy(x, t), *means = fenp_cross_means(x);
    const double yy = fenp_cross_yy(x, t), along = cblas_ddot(columns, zy, stride, v, 1);
    residuals r = { .linear = yy - along };
    cblas_dcopy(columns, zy, stride, g, 1); /* g = Z'W(y - Zv) */
    cblas_dsymv(CblasColMajor, CblasLower, columns, -1.0, x->gram, stride, v, 1, 1.0, g, 1);
    r.quadratic = fmax(r.linear - cblas_ddot(columns, g, 1, v, 1), 0.0);
    const double off =
        m->bias ? (x->shift[t] - m->offset[t]) + (means[(x->columns + t) * x->order] -
                                                  cblas_ddot(columns, means, stride, v, 1))
                : 0.0;
    r.loss = r.quadratic + off * off;
    set_norms(m, v, g, &r);
    return r;
}

fen_status fenp_certify_cross(const fen_model *m, const fenp_cross *x, fen_certificate *out,
                              fen_error *err)
{
    room s;
    const fen_status status = room_open(m, &s, err);
    if (status != FEN_OK) return status;
    for (int64_t t = 0; t < m->targets; t++) {
        const double mean = fenp_cross_means(x)[(x->columns + t) * x->order] + x->shift[t];
        facts f = { .null = fenp_cross_yy(x, t) };
        f.square = f.null + (m->bias ? mean * mean : 0.0);
        f.reach = 2.0 * cblas_dnrm2((int)x->columns, fenp_cross_zy(x, t), (int)x->order);
        for (int64_t k = 0; k < vectors_of(m); k++)
            s.r[k] = of_moments(m, x, t, vector_of(m, t, k), s.g);
        out[t] = judge(m, t, s.r, &f, s.lines);
    }
    room_close(&s);
    return FEN_OK;
}

/* ---- the sums from the rows ---------------------------------------------------------------- */

/* Columns of r: the residuals of every vector, y - b of every target, ones. */
typedef struct pass {
    const fen_model *m;
    int64_t vectors, width; /* of all targets; width = vectors + targets + 1  */
    double *v;              /* vectors x columns                              */
    double *tile;           /* TILE_ROWS x columns                       */
    double *r;              /* TILE_ROWS x width                         */
    double *g;              /* columns x width: Z'W r                         */
    long double *sum;       /* width: sum w r                                 */
    long double *square;    /* width: sum w r^2                               */
    long double *product;   /* width: sum w r (y - b)                         */
    long double *raw;       /* targets: sum w y^2                             */
} pass;

static fen_status pass_open(const fen_model *m, fenp_arena *arena, pass *s, fen_error *err)
{
    const int64_t columns = m->approx.columns, doubles = sizeof(long double) / sizeof(double);
    *s = (pass){ .m = m, .vectors = m->targets * vectors_of(m) };
    s->width = s->vectors + m->targets + 1;
    const int64_t sums = doubles * (3 * s->width + m->targets);
    const int64_t bytes = fenp_arena_bytes(s->vectors * columns) +
                          fenp_arena_bytes(TILE_ROWS * columns) +
                          fenp_arena_bytes(TILE_ROWS * s->width) +
                          fenp_arena_bytes(columns * s->width) + fenp_arena_bytes(sums);
    const fen_status status = fenp_arena_open(arena, bytes, "the certificate", err);
    if (status != FEN_OK) return status;
    s->v = fenp_arena_doubles(arena, s->vectors * columns);
    s->tile = fenp_arena_doubles(arena, TILE_ROWS * columns);
    s->r = fenp_arena_doubles(arena, TILE_ROWS * s->width);
    s->g = fenp_arena_doubles(arena, columns * s->width);
    s->sum = (long double *)(void *)fenp_arena_doubles(arena, sums);
    s->square = s->sum + s->width;
    s->product = s->square + s->width;
    s->raw = s->product + s->width;
    memset(s->g, 0, (size_t)(columns * s->width) * sizeof(double));
    memset(s->sum, 0, (size_t)sums * sizeof(double));
    for (int64_t i = 0; i < s->vectors; i++)
        memcpy(s->v + i * columns, vector_of(m, i / vectors_of(m), i % vectors_of(m)),
               (size_t)columns * sizeof(double));
    return FEN_OK;
}

/* y - b of target t, behind the residuals */
static double *labels_of(const pass *s, int64_t t) { return s->r + (s->vectors + t) * TILE_ROWS; }

static void fill_columns(pass *s, const fenp_sample *block, int64_t first, int64_t rows)
{
    const fen_model *m = s->m;
    for (int64_t t = 0; t < m->targets; t++) {
        const double *y = block->y + t * block->n + first;
        for (int64_t i = 0; i < rows; i++) {
            labels_of(s, t)[i] = y[i] - m->offset[t];
            s->raw[t] += (long double)block->w[first + i] * y[i] * y[i];
        }
        for (int64_t k = 0; k < vectors_of(m); k++)
            memcpy(s->r + (t * vectors_of(m) + k) * TILE_ROWS, labels_of(s, t),
                   (size_t)rows * sizeof(double));
    }
    for (int64_t i = 0; i < rows; i++) labels_of(s, m->targets)[i] = 1.0;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)s->vectors,
                (int)m->approx.columns, -1.0, s->tile, TILE_ROWS, s->v, (int)m->approx.columns, 1.0,
                s->r, TILE_ROWS);
}

/* The sums of every column, which is left as w r. */
static void sum_columns(pass *s, const double *w, int64_t rows)
{
    const int64_t each = vectors_of(s->m);
#pragma omp parallel for
    for (int64_t j = 0; j < s->vectors; j++) {
        const double *r = s->r + j * TILE_ROWS, *y = labels_of(s, j / each);
        for (int64_t i = 0; i < rows; i++) s->product[j] += (long double)w[i] * r[i] * y[i];
    }
#pragma omp parallel for
    for (int64_t j = 0; j < s->width; j++) {
        double *r = s->r + j * TILE_ROWS;
        for (int64_t i = 0; i < rows; i++) {
            s->sum[j] += (long double)w[i] * r[i];
            s->square[j] += (long double)w[i] * r[i] * r[i];
            r[i] *= w[i];
        }
    }
}

static void visit(void *state, const fenp_sample *block)
{
    pass *s = state;
    const fen_model *m = s->m;
    const int columns = (int)m->approx.columns;
    for (int64_t first = 0; first < block->n; first += TILE_ROWS) {
        const int64_t left = block->n - first, rows = left < TILE_ROWS ? left : TILE_ROWS;
        fenp_fourier_map(m->frequencies, columns, block->x + first * m->p, m->p, rows, s->tile,
                         TILE_ROWS);
        fill_columns(s, block, first, rows);
        sum_columns(s, block->w + first, rows);
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, columns, (int)s->width, (int)rows, 1.0,
                    s->tile, TILE_ROWS, s->r, TILE_ROWS, 1.0, s->g, columns);
    }
}

/* g = sum w (r - mean) phi of column j, weights of sum 1 */
static void centred(const pass *s, int64_t j, double mean, double *g)
{
    const int64_t columns = s->m->approx.columns;
    const double *ones = s->g + (s->width - 1) * columns;
    const double weight = (double)s->sum[s->width - 1];
    for (int64_t l = 0; l < columns; l++) g[l] = (s->g[j * columns + l] - mean * ones[l]) / weight;
}

static residuals of_rows(const pass *s, int64_t t, int64_t k, double y_mean, double *g)
{
    const int64_t j = t * vectors_of(s->m) + k;
    const long double weight = s->sum[s->width - 1];
    const long double mean = s->m->bias ? s->sum[j] / weight : 0.0L;
    residuals r = { .loss = (double)(s->square[j] / weight),
                    .linear = (double)(s->product[j] / weight - mean * y_mean),
                    .quadratic = (double)(s->square[j] / weight - mean * mean) };
    centred(s, j, (double)mean, g);
    set_norms(s->m, s->v + j * s->m->approx.columns, g, &r);
    return r;
}

static void judge_rows(const pass *s, room *work, fen_certificate *out, double *digits)
{
    const fen_model *m = s->m;
    const long double weight = s->sum[s->width - 1];
    for (int64_t t = 0; t < m->targets; t++) {
        const int64_t at = s->vectors + t;
        const long double mean = m->bias ? s->sum[at] / weight : 0.0L;
        facts f = { .null = (double)(s->square[at] / weight - mean * mean),
                    .square = (double)(s->raw[t] / weight) };
        centred(s, at, (double)mean, work->g);
        f.reach = 2.0 * cblas_dnrm2((int)m->approx.columns, work->g, 1);
        for (int64_t k = 0; k < vectors_of(m); k++)
            work->r[k] = of_rows(s, t, k, (double)mean, work->g);
        out[t] = judge(m, t, work->r, &f, work->lines);
        digits[t] = digits_of(&f);
    }
}

fen_status fenp_certify_source(const fen_model *m, fenp_source *source, fen_certificate *out,
                               double *digits, const fenp_task *task, fen_error *err)
{
    fenp_arena arena;
    pass s;
    room work;
    fen_status status = pass_open(m, &arena, &s, err);
    if (status != FEN_OK) return status;
    status = fenp_each_block(source, m->prep, visit, &s, task, err);
    if (status == FEN_OK) status = room_open(m, &work, err);
    if (status == FEN_OK) {
        judge_rows(&s, &work, out, digits);
        room_close(&work);
    }
    fenp_arena_close(&arena);
    return status;
}
