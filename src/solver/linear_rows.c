/* linear_rows.c -- what the rows say at given scores: the best b, the dual vector, loss and conjugates
 *
 * Losses in pieces are told by the tables of their conjugates, v*(-z) = c/2 z^2 - linear z +
 * kink |z| on [low, high]: at t + b
 *
 *     z = (linear - t - b, less kink towards 0) / c, cut to [low, high]
 *     v = z (linear - t - b) - c/2 z^2 - kink |z|,     u = w z
 *     sum w v*(-part z) = part^2 square - part cross
 *
 * with two sums, whatever the part. The logistic loss has its exponentials some rows at a time.
 * Both in loops that compilers make vectors of; other losses by target.h, function by function.
 * b: Newton's method from the guess; where that leaves the bracket or finds no curvature, target.h.
 * Accuracy: sums of SOME rows in double precision, of those in long double.
 * Cost: a few flops for a row, and for one b. */
#include "solver/linear_parts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "loss/traits.h"
#include "simd/simd.h"

enum { SOME = 256, STEPS = 30 };

fenp_target fenp_linear_target(const fenp_linear_state *s, int64_t t)
{
    const int64_t n = s->q.x->n;
    return (fenp_target){ .loss = s->q.loss,
                          .par = s->q.par,
                          .w = s->q.w + t * n,
                          .y = s->y + t * n,
                          .n = n,
                          .bias = s->q.bias };
}

/* ---- kinds of losses ----------------------------------------------------------------------- */

static int fill_pieces(fenp_linear_state *s)
{
    fenp_linear_rows *r = &s->rows_of;
    for (int64_t i = 0; i < s->rows; i++) {
        fen_piece c;
        s->q.loss->piece(s->y[i], s->q.par, &c);
        if (i == 0) r->bend = 1.0 / c.curvature, r->kink = c.kink;
        if (1.0 / c.curvature != r->bend || c.kink != r->kink || !isfinite(r->bend)) return 0;
        r->linear[i] = c.linear, r->low[i] = c.low, r->high[i] = c.high;
    }
    return 1;
}

fen_status fenp_linear_open_rows(fenp_linear_state *s, fen_error *err)
{
    fenp_linear_rows *r = &s->rows_of;
    r->kind = FENP_ROWS_ANY;
    if (s->pieces || s->square) return FEN_OK;
    if (fenp_tells_odds(s->q.loss)) r->kind = FENP_ROWS_ODDS;
    if (!s->q.loss->piece) return FEN_OK;
    const int64_t bytes = fenp_bytes(s->rows, 3, sizeof(double));
    r->linear = bytes < 0 ? NULL : fenp_new(bytes, 1);
    if (!r->linear) return fenp_no_memory(err, bytes, "the linear model");
    r->low = r->linear + s->rows, r->high = r->low + s->rows;
    if (fill_pieces(s)) r->kind = FENP_ROWS_PIECES;
    return FEN_OK;
}

void fenp_linear_close_rows(fenp_linear_rows *r)
{
    free(r->linear);
    *r = (fenp_linear_rows){ 0 };
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Of the slopes at b: their sum, that of their sizes, and of the curvatures. */
typedef struct tilt {
    long double slope, size, bend;
} tilt;

/* -v'(t) of pieces; *bends: not on a straight one */
static inline double on_piece(const fenp_linear_rows *r, int64_t i, double t, double *bends)
{
    const double left = r->linear[i] - t, kink = r->kink;
    const double flat = left > kink ? kink : left < -kink ? -kink : left;
    const double z = (left - flat) * r->bend, low = r->low[i], high = r->high[i];
    *bends = z > low && z < high && (left != flat || kink == 0.0) ? 1.0 : 0.0;
    return z < low ? low : z > high ? high : z;
}

static void tilt_pieces(const fenp_linear_state *s, int64_t from, int64_t to, const double *t,
                        double b, tilt *out)
{
    const fenp_linear_rows *r = &s->rows_of;
    const double *w = s->q.w;
    double slope = 0.0, size = 0.0, bend = 0.0;
#pragma omp simd reduction(+ : slope, size, bend)
    for (int64_t i = from; i < to; i++) {
        double bends;
        const double u = w[i] * on_piece(r, i, t[i] + b, &bends);
        slope -= u, size += fabs(u), bend += w[i] * bends;
    }
    out->slope += slope, out->size += size, out->bend += bend * r->bend;
}

/* exp(-|y (t + b)|) of some rows */
static void exponentials(const double *y, const double *t, int64_t count, double b, double *e)
{
    for (int64_t i = 0; i < count; i++) e[i] = fabs(y[i] * (t[i] + b));
    fenp_simd_get()->exp_scaled(e, count, -1.0);
}

static void tilt_odds(const fenp_linear_state *s, int64_t from, int64_t to, const double *t,
                      double b, tilt *out)
{
    const double *w = s->q.w + from, *y = s->y + from;
    double e[SOME], slope = 0.0, size = 0.0, bend = 0.0;
    exponentials(y, t + from, to - from, b, e);
#pragma omp simd reduction(+ : slope, size, bend)
    for (int64_t i = 0; i < to - from; i++) {
        const double tail = 1.0 / (1.0 + e[i]),
                     p = y[i] * (t[from + i] + b) > 0.0 ? e[i] * tail : tail;
        const double u = w[i] * y[i] * p;
        slope -= u, size += fabs(u), bend += w[i] * y[i] * y[i] * e[i] * tail * tail;
    }
    out->slope += slope, out->size += size, out->bend += bend;
}

/* ---- b --------------------------------------------------------------------------------------- */

static tilt tilt_at(const fenp_linear_state *s, int64_t copy, double b)
{
    const int64_t end = (copy + 1) * s->q.x->n;
    tilt out = { 0.0L, 0.0L, 0.0L };
    for (int64_t i = copy * s->q.x->n; i < end; i += SOME) {
        const int64_t to = i + SOME < end ? i + SOME : end;
        if (s->rows_of.kind == FENP_ROWS_PIECES)
            tilt_pieces(s, i, to, s->t, b, &out);
        else
            tilt_odds(s, i, to, s->t, b, &out);
    }
    return out;
}

static double best_offset(const fenp_linear_state *s, int64_t copy)
{
    const fenp_target q = fenp_linear_target(s, copy);
    double b = s->b[copy], low = -INFINITY, high = INFINITY;
    if (!q.bias) return 0.0;
    for (int step = 0; s->rows_of.kind != FENP_ROWS_ANY && step < STEPS; step++) {
        const tilt at = tilt_at(s, copy, b);
        const double move = -(double)(at.slope / at.bend);
        if (!(at.bend > 0.0L)) break;
        if (fabsl(at.slope) <= DBL_EPSILON * at.size || b + move == b) return b;
        *(at.slope < 0.0L ? &low : &high) = b;
        if (!(b + move > low && b + move < high)) break;
        b += move;
    }
    return fenp_target_offset(&q, s->t + copy * q.n, b);
}

/* ---- the dual vector ------------------------------------------------------------------------- */

static void dual_pieces(fenp_linear_state *s, int64_t from, int64_t to, double b)
{
    fenp_linear_rows *r = &s->rows_of;
    const double *w = s->q.w, half = 0.5 / r->bend;
    double loss = 0.0, cross = 0.0, square = 0.0, *u = s->u;
#pragma omp simd reduction(+ : loss, cross, square)
    for (int64_t i = from; i < to; i++) {
        double bends;
        const double t = s->t[i] + b, z = on_piece(r, i, t, &bends), cost = r->kink * fabs(z);
        u[i] = w[i] * z;
        loss += w[i] * (z * (r->linear[i] - t) - half * z * z - cost);
        cross += w[i] * (z * r->linear[i] - cost);
        square += w[i] * half * z * z;
    }
    r->loss += loss, r->cross += cross, r->square += square;
}

static void dual_odds(fenp_linear_state *s, int64_t from, int64_t to, double b)
{
    const double *w = s->q.w + from, *y = s->y + from, *t = s->t + from;
    double e[SOME], loss = 0.0, *u = s->u + from;
    exponentials(y, t, to - from, b, e);
    for (int64_t i = 0; i < to - from; i++) {
        const double margin = y[i] * (t[i] + b), tail = 1.0 / (1.0 + e[i]);
        u[i] = w[i] * y[i] * (margin > 0.0 ? e[i] * tail : tail);
    }
    for (int64_t i = 0; i < to - from; i++) {
        const double margin = y[i] * (t[i] + b);
        if (w[i] > 0.0) loss += w[i] * ((margin < 0.0 ? -margin : 0.0) + log1p(e[i]));
    }
    s->rows_of.loss += loss;
}

static void dual_any(fenp_linear_state *s, int64_t copy)
{
    const fenp_target q = fenp_linear_target(s, copy);
    const double *t = s->t + copy * q.n;
    double *u = s->u + copy * q.n;
    fenp_target_slopes(&q, t, s->b[copy], u);
    for (int64_t i = 0; i < q.n; i++) u[i] = -u[i];
    s->rows_of.loss += fenp_target_loss(&q, t, s->b[copy]);
}

void fenp_linear_dual_of_rows(fenp_linear_state *s)
{
    fenp_linear_rows *r = &s->rows_of;
    r->loss = r->cross = r->square = 0.0L;
    for (int64_t copy = 0; copy < s->q.x->copies; copy++) {
        const int64_t end = (copy + 1) * s->q.x->n;
        s->b[copy] = best_offset(s, copy);
        if (r->kind == FENP_ROWS_ANY) dual_any(s, copy);
        for (int64_t i = end - s->q.x->n; r->kind != FENP_ROWS_ANY && i < end; i += SOME) {
            const int64_t to = i + SOME < end ? i + SOME : end;
            if (r->kind == FENP_ROWS_PIECES)
                dual_pieces(s, i, to, s->b[copy]);
            else
                dual_odds(s, i, to, s->b[copy]);
        }
    }
}

/* ---- where they bend ------------------------------------------------------------------------- */

static void place_pieces(const fenp_linear_state *s, int64_t from, int64_t to, double b, double *h,
                         double *slant, fenp_bend_sums *out)
{
    const fenp_linear_rows *r = &s->rows_of;
    const double *w = s->q.w;
    double mass = 0.0, pull = 0.0, square = 0.0;
#pragma omp simd reduction(+ : mass, pull, square)
    for (int64_t i = from; i < to; i++) {
        double bends;
        const double z = on_piece(r, i, s->t[i] + b, &bends);
        const double end = r->linear[i] - (z > 0.0 ? r->kink : -r->kink);
        const double part = bends != 0.0 ? end * r->bend : z;
        h[i] = w[i] * bends * r->bend, slant[i] = w[i] * part;
        mass += h[i], pull += slant[i], square += w[i] * part * part;
    }
    out->mass += mass, out->pull += pull, out->square += square / r->bend;
}

fenp_bend_sums fenp_linear_bend_of_rows(const fenp_linear_state *s, int64_t copy, double *h,
                                        double *slant)
{
    const int64_t end = (copy + 1) * s->q.x->n;
    fenp_bend_sums out = { 0.0L, 0.0L, 0.0L };
    for (int64_t i = end - s->q.x->n; i < end; i += SOME)
        place_pieces(s, i, i + SOME < end ? i + SOME : end, s->b[copy], h, slant, &out);
    return out;
}
