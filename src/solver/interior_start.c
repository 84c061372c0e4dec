/* interior_start.c -- the problem as terms and pairs, and where the interior point method begins
 *
 * Method. beta by ridge regression of the a (free columns without ridge), not the guess: near a
 * solution the products are of all sizes, and steps from there are short. u in the middle of its
 * domain or, with a curvature, where its residual would have it. Multipliers and slacks such that
 * all products are of one size and every equation of a row holds, if its domain has two ends.
 * Units. Residuals are measured by their mean size, u by its domain or by c; a u without either
 * (tube) by what l lets it be. Everything scales with y, w, l and the columns. */
#include "solver/interior_parts.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "base/linalg.h"

typedef struct array {
    double **where;
    int64_t count;
} array;

/* All parts in one arena, zeroed. */
static fen_status take(fenp_arena *arena, const array *parts, size_t count, fen_error *err)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += fenp_arena_bytes(parts[i].count);
    const fen_status status = fenp_arena_open(arena, bytes, "the interior point method", err);
    for (size_t i = 0; status == FEN_OK && i < count; i++) {
        *parts[i].where = fenp_arena_doubles(arena, parts[i].count);
        memset(*parts[i].where, 0, (size_t)parts[i].count * sizeof(double));
    }
    return status;
}

/* What points are offered and judged with; gram for the free columns alone. */
static fen_status lay_out(fenp_inside *s, fenp_arena *arena, fen_error *err)
{
    const int64_t n = s->n, k = s->k, t = s->terms;
    const int64_t rows = n < FENP_INSIDE_BLOCK ? n : FENP_INSIDE_BLOCK, side = s->side;
    const int64_t f = s->equalities > 1 ? s->equalities : 0;
    const array parts[] = {
        /* clang-format off */
        { &s->a, t }, { &s->c, t }, { &s->low, t }, { &s->high, t }, { &s->u, t },
        { &s->beta, k }, { &s->right, k }, { &s->gradient, k }, { &s->best_beta, k },
        { &s->gram, side * side }, { &s->block, rows * side }, { &s->root, rows },
        { &s->copy, f > 0 ? n * k : 0 }, { &s->basis, n * f }, { &s->triangle, f * f },
        { &s->fit, n }, { &s->row, n }, { &s->trial, n }, { &s->best_u, n },
        { (double **)&s->free, k }, { (double **)&s->list, k },
        /* clang-format on */
    };
    if (n > INT_MAX / 4 || k > INT_MAX / FENP_INSIDE_BLOCK || fenp_bytes(k, k, sizeof(double)) < 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "%lld rows and %lld columns are too many for the interior point method",
                         (long long)n, (long long)k);
    return take(arena, parts, sizeof parts / sizeof *parts, err);
}

fen_status fenp_inside_widen(fenp_inside *s, fenp_arena *arena, fen_error *err)
{
    const int64_t n = s->n, k = s->k, t = s->terms, p = s->pairs, g = s->q->groups;
    const int64_t rows = n < FENP_INSIDE_BLOCK ? n : FENP_INSIDE_BLOCK;
    const array parts[] = {
        /* clang-format off */
        { &s->du, t }, { &s->weight, t }, { &s->steep, t }, { &s->rows, t }, { &s->rho, t },
        { &s->x, p }, { &s->z, p }, { &s->dx, p }, { &s->dz, p }, { &s->rc, p }, { &s->rate, p },
        { &s->kept, p },
        { &s->dbeta, k }, { &s->s, k }, { &s->ds, k }, { &s->stiff, k }, { &s->shift, k },
        { &s->columns, k }, { &s->norm, k }, { &s->scale, k }, { &s->reach, k },
        { &s->tau, g }, { &s->dtau, g }, { &s->w0, g }, { &s->eta2, g }, { &s->lambda0, g },
        { &s->q0, g },
        { &s->w1, k }, { &s->lambda1, k }, { &s->q1, k }, { &s->work1, k }, { &s->work2, k },
        { &s->gram, k * k }, { &s->block, rows * k },
        /* clang-format on */
    };
    s->side = k;
    return take(arena, parts, sizeof parts / sizeof *parts, err);
}

/* 1 if a row has a kink inside its domain, and hence two terms. */
static int has_kinks(const fenp_interior *q)
{
    for (int64_t i = 0; i < q->n; i++) {
        fen_piece piece;
        q->loss->piece(q->y[i], q->par, &piece);
        if (q->w[i] > 0.0 && piece.kink > 0.0) return 1;
    }
    return 0;
}

static void set_term(fenp_inside *s, int64_t t, double a, double c, double low, double high)
{
    s->a[t] = a;
    s->c[t] = high > low ? c : 0.0;
    s->low[t] = low;
    s->high[t] = high;
    if (high > low && c > 0.0) s->joint = 1;
}

static void read_rows(fenp_inside *s)
{
    const fenp_interior *q = s->q;
    for (int64_t i = 0; i < s->n; i++) {
        const double w = q->w[i];
        fen_piece piece;
        if (!(w > 0.0)) continue; /* low = high = 0 */
        q->loss->piece(q->y[i], q->par, &piece);
        const double a = piece.linear - (q->f0 ? q->f0[i] : 0.0), c = piece.curvature / w;
        const double low = w * piece.low, high = w * piece.high, e = piece.kink;
        if (s->terms == s->n) {
            set_term(s, i, a, c, low, high);
        } else {
            set_term(s, i, a - e, c, fmax(low, 0.0), fmax(high, 0.0));
            set_term(s, i + s->n, a + e, c, fmin(low, 0.0), fmin(high, 0.0));
        }
    }
}

static void read_columns(fenp_inside *s)
{
    const fenp_interior *q = s->q;
    for (int64_t j = 0; j < s->k; j++)
        if (q->d[j] > 0.0) s->joint = s->curved = 1;
    for (int64_t g = 0; g < q->groups; g++)
        if (fenp_inside_is_cone(s, g)) s->curved = 1;
}

fen_status fenp_inside_open(fenp_inside *s, fenp_arena *arena, fen_error *err)
{
    s->n = s->q->n;
    s->k = s->q->k;
    s->terms = has_kinks(s->q) ? 2 * s->n : s->n;
    s->pairs = 2 * s->terms + 2 * s->k;
    for (int64_t g = 0; g < s->q->groups; g++)
        for (int64_t j = s->q->start[g]; j < s->q->start[g + 1]; j++)
            s->equalities += fenp_free_kind(s, g, j) == 1, s->side += fenp_free_kind(s, g, j) != 0;
    const fen_status status = lay_out(s, arena, err);
    if (status != FEN_OK) return status;
    fenp_free_open(s);
    read_rows(s);
    read_columns(s);
    return FEN_OK;
}

/* ---- start ------------------------------------------------------------------------------- */

static void set_norms(fenp_inside *s)
{
    for (int64_t j = 0; j < s->k; j++) {
        const double *x = s->design + j * s->n, *w = s->q->w;
        double sum = 0.0;
        for (int64_t i = 0; i < s->n; i++) sum += w[i] > 0.0 ? w[i] * x[i] * x[i] : 0.0;
        s->norm[j] = sum;
    }
}

/* beta <- ridge regression of the a, of their mean where a row has two */
static fen_status ridge(fenp_inside *s, const fenp_task *task, fen_error *err)
{
    const fenp_interior *q = s->q;
    for (int64_t i = 0; i < s->n; i++) {
        const double a = s->terms == s->n ? s->a[i] : 0.5 * (s->a[i] + s->a[i + s->n]);
        s->row[i] = fmax(q->w[i], 0.0);
        s->fit[i] = s->row[i] * a;
    }
    for (int64_t g = 0; g < q->groups; g++)
        for (int64_t j = q->start[g]; j < q->start[g + 1]; j++)
            s->stiff[j] = q->l[g] > 0.0 ? s->norm[j] : 0.0;
    fen_status status = fenp_inside_factor(s, s->row, NULL, s->k, task, err);
    fenp_inside_transposed(s, s->fit, s->beta);
    if (!s->factored) memset(s->beta, 0, (size_t)s->k * sizeof(double));
    if (status == FEN_OK && s->factored) status = fenp_inside_solve(s, s->beta, err);
    return status;
}

/* Size of the residuals that remain, of the a if there are none. */
static double unit_of(const fenp_inside *s)
{
    double sum = 0.0, all = 0.0, weights = 0.0;
    for (int64_t t = 0; t < s->terms; t++) {
        const double w = s->high[t] > s->low[t] ? s->q->w[t % s->n] : 0.0;
        weights += w;
        sum += w * fabs(s->a[t] - s->fit[t % s->n]);
        all += w * fabs(s->a[t]);
    }
    const double unit = fmax(sum, 1e-4 * all) / weights;
    return unit > 0.0 ? unit : 1.0;
}

/* Size of a u whose loss does not bound it: what the columns bear. */
static double bearable_u(const fenp_inside *s)
{
    double size = 0.0;
    for (int64_t g = 0; g < s->q->groups; g++)
        for (int64_t j = s->q->start[g]; j < s->q->start[g + 1]; j++) {
            const double sum = cblas_dasum((int)s->n, s->design + j * s->n, 1);
            if (sum > 0.0) size = fmax(size, s->q->l[g] / sum);
        }
    return size;
}

/* u inside its domain, and multipliers of its ends; returns the size that u should have. The
 * products of a row are to be in proportion to what it weighs, as rows that stand there twice. */
static double start_term(fenp_inside *s, int64_t t, double unit, double bearable)
{
    const double low = s->low[t], high = s->high[t], c = s->c[t];
    const double r = s->a[t] - s->fit[t % s->n], w = s->q->w[t % s->n];
    s->z[t] = s->z[s->terms + t] = 1.0;
    s->u[t] = low;
    if (!(high > low)) return 0.0;
    const double half = 0.5 * (high - low), loose = bearable > 0.0 ? bearable : w;
    const double plain = fmin(c > 0.0 ? unit / c : isinf(half) ? loose : half, half);
    const double size = c > 0.0 ? fmin(fmax(fabs(r), unit) / c, half) : plain;
    s->rate[t] = s->rate[s->terms + t] = plain;
    const double least = low + 0.2 * size, most = high - 0.2 * size;
    const double wanted = isfinite(half) && size == half ? low + half : c > 0.0 ? r / c : 0.0;
    s->u[t] = fmin(fmax(wanted, least), most);
    if (isinf(half) && s->u[t] == least) s->u[t] = low + size;
    if (isinf(half) && s->u[t] == most) s->u[t] = high - size;
    const double over = r - c * s->u[t];
    if (isfinite(high)) {
        s->z[t] = high - s->u[t];
        s->x[t] = fmax(over, 0.0) + unit * fmin(1.0, size / s->z[t]);
    }
    if (isfinite(low)) {
        s->z[s->terms + t] = s->u[t] - low;
        s->x[s->terms + t] = fmax(-over, 0.0) + unit * fmin(1.0, size / s->z[s->terms + t]);
    }
    return size;
}

/* out <- coefficients that change the scores by one unit */
static void set_reach(const fenp_inside *s, double unit, double *out)
{
    double weights = 0.0;
    for (int64_t i = 0; i < s->n; i++) weights += fmax(s->q->w[i], 0.0);
    for (int64_t j = 0; j < s->k; j++)
        out[j] = s->norm[j] > 0.0 ? unit / sqrt(s->norm[j] / weights) : unit;
}

/* Coefficients with a sign are at least part of their reach; fit <- X beta */
static void lift(fenp_inside *s, double part)
{
    for (int64_t g = 0; g < s->q->groups; g++) {
        const int64_t j = s->q->start[g];
        if (fenp_inside_has_sign(s, g)) s->beta[j] = fmax(s->beta[j], part * s->reach[j]);
    }
    fenp_inside_times(s, s->beta, s->fit);
}

/* s inside its domain, and the parts of beta, for products near mu */
static void start_columns(fenp_inside *s, double mu)
{
    const fenp_interior *q = s->q;
    double *x = s->x + 2 * s->terms, *z = s->z + 2 * s->terms;
    fenp_inside_gather(s, s->u, s->row);
    fenp_inside_transposed(s, s->row, s->s);
    for (int64_t j = 0; j < 2 * s->k; j++) z[j] = 1.0;
    for (int64_t g = 0; g < q->groups; g++) {
        const double l = q->l[g];
        const int held = l > 0.0 || fenp_inside_has_sign(s, g);
        for (int64_t j = q->start[g]; j < q->start[g + 1]; j++)
            s->s[j] = held ? s->s[j] - q->d[j] * s->beta[j] : 0.0;
        if (!fenp_inside_is_single(s, g)) continue;
        const int64_t j = q->start[g];
        if (fenp_inside_has_sign(s, g)) {
            x[j] = s->beta[j];
            s->s[j] = fmin(s->s[j], l - mu / x[j]);
        } else {
            s->s[j] = fmin(fmax(s->s[j], -0.5 * l), 0.5 * l);
            x[j] = fmax(s->beta[j], 0.0) + mu / l;
            x[s->k + j] = fmax(-s->beta[j], 0.0) + mu / l;
            z[s->k + j] = l + s->s[j];
        }
        z[j] = l - s->s[j];
    }
    fenp_cones_start(s, mu);
}

/* sizes: of u */
static void set_scales(fenp_inside *s, const double *sizes)
{
    for (int64_t g = 0; g < s->q->groups; g++)
        for (int64_t j = s->q->start[g]; j < s->q->start[g + 1]; j++) {
            s->scale[j] = s->q->l[g];
            for (int64_t i = 0; s->q->l[g] == 0.0 && i < s->n; i++)
                s->scale[j] += fabs(s->design[i + j * s->n]) * sizes[i];
        }
}

/* Rates of rows are 1 on average, those of columns are 1. */
static void set_rates(fenp_inside *s, double mean)
{
    for (int64_t i = 0; i < s->pairs; i++) {
        s->rate[i] = i < 2 * s->terms ? s->rate[i] / mean : 1.0;
        if (s->x[i] > 0.0) s->degree += s->rate[i];
    }
}

fen_status fenp_inside_start(fenp_inside *s, double goal, const fenp_task *task, fen_error *err)
{
    set_norms(s);
    const fen_status status = ridge(s, task, err);
    double products = 0.0, size = 0.0, live = 0.0;
    if (status != FEN_OK) return status;
    lift(s, 0.0);
    set_reach(s, unit_of(s), s->reach);
    lift(s, 0.1); /* away from 0 */
    const double unit = unit_of(s), bearable = bearable_u(s);
    for (int64_t t = 0; t < s->terms; t++) {
        s->du[t] = start_term(s, t, unit, bearable);
        size += s->rate[t];
        live += s->rate[t] > 0.0;
        products += s->x[t] * s->z[t] + s->x[s->terms + t] * s->z[s->terms + t];
    }
    s->softness = 1e-8 * unit / (size / live);
    fenp_inside_gather(s, s->du, s->row);
    set_scales(s, s->row);
    s->enough = 1e-3 * goal;
    set_rates(s, size / live);
    start_columns(s, s->degree > 0.0 ? products / s->degree : unit * size / live);
    for (int64_t i = 2 * s->terms; i < s->pairs; i++) s->degree += s->x[i] > 0.0;
    for (int64_t g = 0; g < s->q->groups; g++) s->degree += fenp_inside_is_cone(s, g);
    return FEN_OK;
}
