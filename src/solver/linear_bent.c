/* linear_bent.c -- the matrix of Newton's method: kept as rows bend otherwise and columns join
 *
 *     H = sum_i h_i e_i e_i',   e_i = z_i - centre,   centre = sum_i h_i z_i / sum_i h_i
 *
 * Method. Losses in pieces (huber, sqeps, sqhinge) have curvatures w / c or 0. From one step to
 *   the next, and from one lambda to the next, few rows cross to another piece: with d_i what
 *   their curvatures differ by,
 *
 *     H <- H + sum d_i e_i e_i' - s s' / mass,   s = sum d_i e_i,   centre <- centre + s / mass
 *
 *   is the matrix as it would be made anew. On its piece a row has the slope w v'(t) = h t - slant,
 *   so that the slopes of all coefficients are H beta - a, a = sum_i slant_i e_i: no column is
 *   read for them (exact). Where H would be singular a ridge stands on its diagonal.
 *   Other losses, and pieces where steps fell short time and again: h = w v''(t), floor at least,
 *   of all rows anew when linear_newton.c asks for it. Between, a factor follows the sum of the
 *   curvatures: most of what they change by is common to all.
 * Accuracy. What has been in H leaves rounding errors of its size: where a diagonal has become a
 *   thousandth of what it was, or most rows change, H is made anew.
 * Cost. c k^2 flops for c rows that change, n k^2 anew, 2 n m k for m columns that join; 48 n
 *   bytes of one copy, and 8 k^2. */
#include "solver/linear_parts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/syrk.h"

enum { SOME = 1024, WIDE = 8 };
static const double RIDGE_MOST = 1e-4, RIDGE_LEAST = 1e-8; /* over the square of a column */
static const double MASS_LEAST = 1e-4;                     /* over that of all rows bent  */
static const double FADED = 1e-3;                          /* diagonal over its peak      */

/* ---- memory -------------------------------------------------------------------------------- */

static fen_status open_rows(fenp_linear_state *s, fen_error *err)
{
    fenp_bent *b = &s->bent;
    const int64_t n = s->q.x->n, rows = s->rows, copies = s->q.x->copies;
    const int64_t bytes = fenp_bytes(4 * rows + 2 * copies + n, 1, sizeof(double));
    b->h = bytes < 0 ? NULL : fenp_new_zeroed(bytes, 1);
    b->row = fenp_new(n, sizeof *b->row);
    if (!b->h || !b->row) return fenp_no_memory(err, bytes, "the Newton step");
    b->slant = b->h + rows, b->next = b->slant + rows, b->lean = b->next + rows;
    b->mass = b->lean + rows, b->pull = b->mass + copies, b->root = b->pull + copies;
    return FEN_OK;
}

fen_status fenp_bent_open(fenp_linear_state *s, fen_error *err)
{
    fenp_bent *b = &s->bent;
    const fenp_pool *p = &s->pool;
    const fen_status status = b->row ? FEN_OK : open_rows(s, err);
    if (status != FEN_OK || b->side >= p->ld) return status;
    const int64_t bytes = fenp_bytes(p->ld, 3, sizeof(double));
    const int64_t square = fenp_bytes(p->room, p->room, sizeof(double));
    double *each = fenp_new_zeroed(bytes, 1), *products = square < 0 ? NULL : fenp_new(square, 1);
    if (!each || !products) {
        free(each), free(products);
        return fenp_no_memory(err, square, "the Newton step");
    }
    for (int k = 0; k < 3 && b->side > 0; k++)
        memcpy(each + k * p->ld, b->ridge + k * b->side, (size_t)b->side * sizeof *each);
    free(b->ridge), free(b->products);
    b->ridge = each, b->square = each + p->ld, b->peak = each + 2 * p->ld;
    b->products = products, b->side = p->ld;
    return FEN_OK;
}

void fenp_bent_close(fenp_bent *b)
{
    free(b->h), free(b->row), free(b->ridge), free(b->products);
    *b = (fenp_bent){ 0 };
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* h and slant of all rows; 0: too few bend. */
static int find_pieces(fenp_linear_state *s)
{
    fenp_bent *b = &s->bent;
    const double all = s->rows_of.bend * s->weight_sum;
    long double square = 0.0L;
    for (int64_t t = 0; t < s->q.x->copies; t++) {
        const fenp_bend_sums of = fenp_linear_bend_of_rows(s, t, b->next, b->lean);
        if (!(of.mass > MASS_LEAST * all)) return 0;
        square += of.square;
    }
    b->size = fmax(s->pool.shaped > 0 ? b->size : 0.0, (double)sqrtl(square)); /* was in H */
    return 1;
}

/* The rows with another curvature, sign more than they had. */
static int64_t list_rows(fenp_linear_state *s, int64_t t, double sign)
{
    fenp_bent *b = &s->bent;
    const int64_t n = s->q.x->n;
    const double *new = b->next + t *n, *old = b->h + t *n;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        const double more = sign * (new[i] - old[i]);
        if (more > 0.0) b->row[count] = i, b->root[count++] = sqrt(more);
    }
    return count;
}

/* ---- products of rows ------------------------------------------------------------------------ */

typedef struct listed {
    const fenp_linear_state *s;
    int64_t copy;
} listed;

/* root (z - centre) of the rows that are listed, for syrk.h */
static const double *deviations(const void *of, int64_t from, int64_t count, double *room)
{
    const fenp_linear_state *s = ((const listed *)of)->s;
    const fenp_pool *p = &s->pool;
    const int64_t n = s->q.x->n, copies = s->q.x->copies, size = p->shaped;
    const int64_t *row = s->bent.row + from;
    const double *root = s->bent.root + from;
    const double *centre = p->centre + ((const listed *)of)->copy;
    for (int64_t k = 0; k < size; k += WIDE) {
        const int64_t some = size - k < WIDE ? size - k : WIDE;
        for (int64_t r = 0; r < count; r++)
            for (int64_t j = k; j < k + some; j++)
                room[r * size + j] = root[r] * (p->z[j * n + row[r]] - centre[j * copies]);
    }
    return room;
}

/* H += factor a a', upper triangle of copy t */
static void add_product(fenp_linear_state *s, int64_t t, const double *a, double factor)
{
    fenp_pool *p = &s->pool;
    const int64_t copies = s->q.x->copies;
    if (copies == 1) {
        cblas_dsyr(CblasColMajor, CblasUpper, (int)p->shaped, factor, a, 1, p->h, (int)p->ld);
        return;
    }
    for (int64_t j = 0; j < p->shaped; j++) {
        double *to = p->h + (j * copies + t) * p->ld + t;
        for (int64_t i = 0; i <= j; i++) to[i * copies] += factor * a[i] * a[j];
    }
}

/* H += sign sum d e e' over the count rows that are listed, upper triangle of copy t. Many rows
 * are shared out among the threads; few go to H as they are. */
static fen_status add_rows(fenp_linear_state *s, int64_t t, int64_t count, double sign,
                           fen_error *err)
{
    fenp_pool *p = &s->pool;
    const int64_t size = p->shaped, copies = s->q.x->copies;
    const listed of = { s, t };
    const fenp_syrk products = { .n = count,
                                 .p = size,
                                 .alpha = sign,
                                 .ldx = size,
                                 .by_rows = 1,
                                 .rows = deviations,
                                 .of = &of,
                                 .c = s->bent.products,
                                 .ldc = size };
    if (count == 0) return FEN_OK;
    if (count <= size && copies == 1) { /* they fit there */
        deviations(&of, 0, count, s->bent.products);
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, (int)size, (int)count, sign,
                    s->bent.products, (int)size, 1.0, p->h, (int)p->ld);
        return FEN_OK;
    }
    if (fenp_syrk_run(&products))
        return fenp_no_memory(err, fenp_bytes(SOME, size, sizeof(double)), "the Newton step");
    for (int64_t j = 0; j < size; j++) {
        const double *from = s->bent.products + j * size;
        double *to = p->h + (j * copies + t) * p->ld + t;
        for (int64_t i = 0; i <= j; i++) to[i * copies] += from[i];
    }
    return FEN_OK;
}

/* ---- rows change ----------------------------------------------------------------------------- */

/* What changes in the curvatures and slants of copy t, times the columns. */
static void sum_changes(const fenp_linear_state *s, int64_t t, int64_t count, double *bend,
                        double *slant)
{
    const fenp_bent *b = &s->bent;
    const fenp_pool *p = &s->pool;
    const int64_t n = s->q.x->n, copies = s->q.x->copies;
    const double *h = b->h + t * n, *next = b->next + t * n;
    const double *before = b->slant + t * n, *lean = b->lean + t * n;
#pragma omp parallel for schedule(static) if (count * p->shaped > 1 << 15)
    for (int64_t k = 0; k < p->shaped; k++) {
        const double *z = p->z + k * n, centre = p->centre[k * copies + t];
        double first = 0.0, second = 0.0;
        for (int64_t r = 0; r < count; r++) {
            const int64_t i = b->row[r];
            const double e = z[i] - centre;
            first += (next[i] - h[i]) * e, second += (lean[i] - before[i]) * e;
        }
        bend[k] = first, slant[k] = second;
    }
}

/* The rows that are on another piece. */
static int64_t list_changed(fenp_linear_state *s, int64_t t, double *mass, double *pull)
{
    fenp_bent *b = &s->bent;
    const int64_t n = s->q.x->n;
    int64_t count = 0;
    *mass = *pull = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = t * n + i;
        *mass += b->next[at], *pull += b->lean[at];
        if (b->next[at] != b->h[at] || b->lean[at] != b->slant[at]) b->row[count++] = i;
    }
    return count;
}

/* H, centre and a of copy t follow its rows. */
static fen_status change(fenp_linear_state *s, int64_t t, fen_error *err)
{
    fenp_bent *b = &s->bent;
    fenp_pool *p = &s->pool;
    const int64_t copies = s->q.x->copies;
    double mass, pull, *bend = p->work, *slant = p->work + p->ld;
    const int64_t count = list_changed(s, t, &mass, &pull);
    if (count == 0) return FEN_OK;
    sum_changes(s, t, count, bend, slant);
    fen_status status = add_rows(s, t, list_rows(s, t, 1.0), 1.0, err);
    if (status == FEN_OK) status = add_rows(s, t, list_rows(s, t, -1.0), -1.0, err);
    if (s->q.bias) add_product(s, t, bend, -1.0 / mass);
    for (int64_t k = 0; k < p->shaped; k++) {
        const double shift = s->q.bias ? bend[k] / mass : 0.0;
        p->centre[k * copies + t] += shift;
        p->a[k * copies + t] += slant[k] - shift * pull;
    }
    b->mass[t] = mass, b->pull[t] = pull;
    return status;
}

/* Has the matrix lost too many digits to what is no longer in it? */
static int has_faded(fenp_linear_state *s)
{
    fenp_bent *b = &s->bent;
    const fenp_pool *p = &s->pool;
    for (int64_t k = 0; k < p->shaped * s->q.x->copies; k++) {
        const double now = p->h[k * p->ld + k] - b->ridge[k];
        if (now < FADED * b->peak[k]) return 1;
        b->peak[k] = fmax(b->peak[k], now);
    }
    return 0;
}

static void set_ridge(fenp_linear_state *s)
{
    fenp_bent *b = &s->bent;
    fenp_pool *p = &s->pool;
    const double share = b->exact ? fmax(s->floor, RIDGE_LEAST) : 0.0;
    for (int64_t k = 0; k < p->shaped * s->q.x->copies; k++) {
        const double ridge = share * b->square[k];
        p->h[k * p->ld + k] += ridge - b->ridge[k];
        b->ridge[k] = ridge;
    }
}

/* Do few enough rows change that following is less work? */
static int is_near(const fenp_linear_state *s)
{
    const fenp_bent *b = &s->bent;
    int64_t changed = 0, bent = 0;
    for (int64_t i = 0; i < s->rows; i++)
        changed += b->next[i] != b->h[i], bent += b->next[i] > 0.0;
    return 2 * changed < bent;
}

static void take_rows(fenp_linear_state *s)
{
    fenp_bent *b = &s->bent;
    memcpy(b->h, b->next, (size_t)s->rows * sizeof *b->h);
    memcpy(b->slant, b->lean, (size_t)s->rows * sizeof *b->slant);
}

fen_status fenp_bent_follow(fenp_linear_state *s, fen_error *err)
{
    fenp_bent *b = &s->bent;
    fenp_pool *p = &s->pool;
    const int before = b->exact && p->shaped > 0;
    fen_status status = FEN_OK;
    b->exact = s->rows_of.kind == FENP_ROWS_PIECES && s->floor <= RIDGE_MOST && find_pieces(s);
    if (!b->exact || !before || !is_near(s)) {
        if (before || b->exact) p->shaped = 0; /* old curvatures of another kind still serve */
    } else {
        for (int64_t t = 0; t < s->q.x->copies && status == FEN_OK; t++) status = change(s, t, err);
        fenp_mirror_upper(0, p->shaped * s->q.x->copies, p->h, p->ld);
        if (status != FEN_OK || has_faded(s)) p->shaped = 0;
    }
    if (b->exact) take_rows(s);
    return status;
}

/* The matrix of one copy, and what it was made with. */
static void scale_copy(fenp_linear_state *s, int64_t t, double times)
{
    fenp_bent *b = &s->bent;
    fenp_pool *p = &s->pool;
    const int64_t n = s->q.x->n, copies = s->q.x->copies;
    for (int64_t i = t * n; i < (t + 1) * n; i++) b->h[i] *= times;
    b->mass[t] *= times;
    for (int64_t j = t; j < p->shaped * copies; j += copies)
        for (int64_t i = t; i < p->shaped * copies; i += copies) p->h[j * p->ld + i] *= times;
}

void fenp_bent_rescale(fenp_linear_state *s)
{
    fenp_bent *b = &s->bent;
    const int64_t n = s->q.x->n;
    fenp_linear_curvatures(s, b->next);
    for (int64_t t = 0; t < s->q.x->copies; t++) {
        double now = 0.0;
        for (int64_t i = t * n; i < (t + 1) * n; i++) now += b->next[i];
        const double times = now / b->mass[t];
        if (times > 0.0 && isfinite(times) && fabs(times - 1.0) > 1e-3) scale_copy(s, t, times);
    }
}

void fenp_bent_renew(fenp_linear_state *s)
{
    fenp_linear_curvatures(s, s->bent.h);
    s->pool.shaped = 0;
}

/* ---- columns join ---------------------------------------------------------------------------- */

/* Means under the curvatures, squares under the weights, and a of the columns from old on. */
static void measure_columns(fenp_linear_state *s, int64_t old, int64_t t)
{
    fenp_bent *b = &s->bent;
    fenp_pool *p = &s->pool;
    const int64_t n = s->q.x->n, copies = s->q.x->copies;
    const double *h = b->h + t * n, *slant = b->slant + t * n, *w = s->q.w + t * n;
    const double mass = b->mass[t], pull = b->pull[t], smoothness = s->q.loss->smoothness;
#pragma omp parallel for schedule(static) if (n * (p->size - old) > 1 << 15)
    for (int64_t k = old; k < p->size; k++) {
        const double *z = p->z + k * n;
        double bend = 0.0, along = 0.0, square = 0.0;
        for (int64_t i = 0; i < n; i++) {
            bend += h[i] * z[i], along += slant[i] * z[i], square += w[i] * z[i] * z[i];
        }
        const double centre = s->q.bias && mass > 0.0 ? bend / mass : 0.0;
        const int64_t at = k * copies + t;
        p->centre[at] = centre, p->a[at] = along - centre * pull;
        b->square[at] = smoothness * square, b->ridge[at] = 0.0;
    }
}

/* Products of the columns from old on with all, some rows at a time: H e_new needs no centre of
 * the others, since h'e_new = 0. */
static fen_status multiply_columns(fenp_linear_state *s, int64_t old, int64_t t, fen_error *err)
{
    fenp_pool *p = &s->pool;
    const int64_t n = s->q.x->n, copies = s->q.x->copies, size = p->size, fresh = size - old;
    const double *h = s->bent.h + t * n;
    double *some = fenp_new(fenp_bytes(SOME, fresh, sizeof *some), 1);
    if (!some) return fenp_no_memory(err, fenp_bytes(SOME, fresh, 8), "the Newton step");
    for (int64_t from = 0; from < n; from += SOME) {
        const int64_t count = n - from < SOME ? n - from : SOME;
        for (int64_t k = 0; k < fresh; k++) {
            const double *z = p->z + (old + k) * n, centre = p->centre[(old + k) * copies + t];
            for (int64_t i = 0; i < count; i++)
                some[k * SOME + i] = h[from + i] * (z[from + i] - centre);
        }
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)size, (int)fresh, (int)count, 1.0,
                    p->z + from, (int)n, some, SOME, from > 0 ? 1.0 : 0.0, s->bent.products,
                    (int)size);
    }
    free(some);
    for (int64_t k = 0; k < fresh; k++) {
        double *to = p->h + ((old + k) * copies + t) * p->ld + t;
        for (int64_t i = 0; i <= old + k; i++) to[i * copies] = s->bent.products[k * size + i];
    }
    return FEN_OK;
}

/* All of them. */
static fen_status multiply_all(fenp_linear_state *s, int64_t t, fen_error *err)
{
    fenp_bent *b = &s->bent;
    fenp_pool *p = &s->pool;
    const int64_t n = s->q.x->n, copies = s->q.x->copies;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (b->h[t * n + i] > 0.0) b->row[count] = i, b->root[count++] = sqrt(b->h[t * n + i]);
    p->shaped = p->size;
    for (int64_t j = 0; j < p->size; j++)
        for (int64_t i = 0; i <= j; i++) p->h[(j * copies + t) * p->ld + i * copies + t] = 0.0;
    return add_rows(s, t, count, 1.0, err);
}

fen_status fenp_bent_join(fenp_linear_state *s, fen_error *err)
{
    fenp_bent *b = &s->bent;
    fenp_pool *p = &s->pool;
    const int64_t n = s->q.x->n, copies = s->q.x->copies, old = p->shaped;
    fen_status status = FEN_OK;
    for (int64_t t = 0; t < copies && old == 0; t++) {
        b->mass[t] = b->pull[t] = 0.0;
        for (int64_t i = t * n; i < (t + 1) * n; i++)
            b->mass[t] += b->h[i], b->pull[t] += b->slant[i];
    }
    for (int64_t t = 0; t < copies && old < p->size && status == FEN_OK; t++) {
        measure_columns(s, old, t);
        status = old > 0 ? multiply_columns(s, old, t, err) : multiply_all(s, t, err);
    }
    if (status != FEN_OK) {
        p->shaped = 0;
        return status;
    }
    if (old < p->size) {
        p->shaped = p->size;
        fenp_mirror_upper(old * copies, p->size * copies, p->h, p->ld);
        for (int64_t k = old * copies; k < p->size * copies; k++) b->peak[k] = p->h[k * p->ld + k];
    }
    set_ridge(s);
    return FEN_OK;
}

/* ---- slopes ---------------------------------------------------------------------------------- */

void fenp_bent_slopes(fenp_linear_state *s)
{
    fenp_pool *p = &s->pool;
    const int k = (int)(p->size * s->q.x->copies);
    for (int i = 0; i < k; i++) p->g[i] = p->a[i] + s->bent.ridge[i] * p->beta[i];
    cblas_dsymv(CblasColMajor, CblasUpper, k, 1.0, p->h, (int)p->ld, p->beta, 1, -1.0, p->g, 1);
}

int fenp_bent_tells(const fenp_linear_state *s, double gap, double primal)
{
    static const double NOISE = 8.0 * DBL_EPSILON, SHARE = 0.01;
    const fenp_bent *b = &s->bent;
    const fenp_pool *p = &s->pool;
    double reach = b->size, spoilt = 0.0;
    for (int64_t k = 0; k < p->size * s->q.x->copies; k++)
        reach += sqrt(b->peak[k]) * fabs(p->beta[k]);
    for (int64_t g = 0; g < p->groups; g++)
        for (int64_t k = p->start[g]; k < p->start[g + 1]; k++) {
            const double error = NOISE * sqrt(fmax(b->peak[k], b->square[k])) * reach;
            if (p->l[g] > 0.0 && !(error <= SHARE * gap * p->l[g])) return 0;
            spoilt += error * fabs(p->beta[k]);
        }
    return spoilt <= SHARE * gap * fabs(primal);
}
