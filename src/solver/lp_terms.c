/* lp_terms.c -- the rows of a problem under a penalty l^p as terms of a separable sum
 *
 *     g(a) = unit v*(-a/unit),  unit = s w:   c/2 a^2 - l a + e |a| on [low, high]
 *
 * by fen_loss.piece; a kink e > 0 inside the interval makes two terms, a >= 0 and a <= 0. A
 * smooth loss that is not in pieces (logistic): the slope is minus the t with v'(t) = -a/unit,
 * by Newton's method inside a bracket, from the t of the last look.
 * Start. A little inside of the intervals: MARGIN of them, but no more than half the mean size of
 * a, as a^q would be huge in a box that is much wider than the answer. */
#include "solver/lp.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { INVERSIONS = 200, VECTORS = 8, PASSES = 20 };
static const double MARGIN = 0.05, LEAST_MARGIN = 1e-6; /* with a barrier; without one */

int64_t fenp_lp_terms_bytes(int64_t n) { return (VECTORS + 1) * fenp_arena_bytes(2 * n); }

void fenp_lp_terms_open(fenp_lp_terms *e, fenp_arena *arena, int64_t n)
{
    double **vectors[VECTORS] = {
        &e->c, &e->l, &e->low, &e->high, &e->u, &e->slope, &e->bend, &e->t
    };
    for (int k = 0; k < VECTORS; k++) *vectors[k] = fenp_arena_doubles(arena, 2 * n);
    e->of = (int64_t *)(void *)fenp_arena_doubles(arena, 2 * n);
}

static void add_term(fenp_lp_terms *e, int64_t i, double c, double l, double low, double high)
{
    const int64_t t = e->count++;
    e->of[t] = i, e->c[t] = c, e->l[t] = l, e->low[t] = low, e->high[t] = high;
}

/* c v*(-a/c): curvature and ends in units of a. */
void fenp_lp_terms_make(fenp_lp_terms *e, const fenp_lp *s)
{
    const fen_loss *loss = s->q.loss;
    e->count = 0;
    e->pieces = loss->piece != NULL;
    for (int64_t i = 0; i < s->m; i++) {
        const double y = s->q.y[s->row[i]], unit = s->scale * s->q.w[s->row[i]];
        fen_piece v = { 0 };
        if (e->pieces) {
            loss->piece(y, s->q.par, &v);
        } else {
            double low, high;
            loss->domain(y, s->q.par, &low, &high);
            v.low = -high, v.high = -low;
        }
        const double c = v.curvature / unit, low = unit * v.low, high = unit * v.high;
        if (v.kink == 0.0) add_term(e, i, c, v.linear, low, high);
        if (v.kink > 0.0 && high > 0.0) add_term(e, i, c, v.linear - v.kink, fmax(low, 0.0), high);
        if (v.kink > 0.0 && low < 0.0) add_term(e, i, c, v.linear + v.kink, low, fmin(high, 0.0));
    }
}

/* The t with v'(t) = -z, near a guess; z inside the domain. */
static double invert(const fenp_target *q, double y, double z, double guess)
{
    double low = -INFINITY, high = INFINITY, t = guess, reach = 1.0;
    for (int step = 0; step < INVERSIONS; step++) {
        double left, right;
        q->loss->slopes(y, t, q->par, &left, &right);
        const double excess = left + z, bend = q->loss->curvature(y, t, q->par);
        if (excess == 0.0) break;
        *(excess > 0.0 ? &high : &low) = t;
        double next = bend > 0.0 ? t - excess / bend : INFINITY;
        if (!(fabs(next - t) <= reach)) next = t - copysign(reach, excess), reach *= 2.0;
        if (!(low < next && next < high)) next = 0.5 * (low + high);
        if (!isfinite(next) || next == t || fabs(next - t) <= 4.0 * DBL_EPSILON * fabs(t)) break;
        t = next;
    }
    return t;
}

double fenp_lp_terms_look(fenp_lp_terms *e, const fenp_lp *s)
{
    long double sum = 0.0L;
    for (int64_t t = 0; t < e->count; t++) {
        const double u = e->u[t];
        if (e->pieces) {
            e->slope[t] = e->c[t] * u - e->l[t], e->bend[t] = e->c[t];
            sum += 0.5L * e->c[t] * u * u - (long double)e->l[t] * u;
            continue;
        }
        const int64_t i = s->row[e->of[t]];
        const double unit = s->scale * s->q.w[i], z = u / unit;
        e->t[t] = invert(&s->q, s->q.y[i], z, e->t[t]);
        e->slope[t] = -e->t[t];
        e->bend[t] =
            1.0 / (unit * fmax(s->q.loss->curvature(s->q.y[i], e->t[t], s->q.par), DBL_MIN / unit));
        sum += (long double)unit * s->q.loss->conj(s->q.y[i], -z, s->q.par);
    }
    return (double)sum;
}

void fenp_lp_terms_gather(const fenp_lp_terms *e, fenp_lp *s)
{
    memset(s->a, 0, (size_t)s->n * sizeof(double));
    for (int64_t t = 0; t < e->count; t++) s->a[s->row[e->of[t]]] += e->u[t];
}

/* Moves all terms by a part of their room until they sum to 0; 0: there is no such point. */
static int balance(fenp_lp_terms *e)
{
    for (int pass = 0; pass < PASSES; pass++) {
        long double sum = 0.0L, size = 0.0L, room = 0.0L;
        for (int64_t t = 0; t < e->count; t++) sum += e->u[t], size += fabs(e->u[t]);
        if (fabsl(sum) <= 4.0L * DBL_EPSILON * size) return 1;
        const int up = sum < 0.0L;
        for (int64_t t = 0; t < e->count; t++) {
            const double reach = up ? e->high[t] - e->u[t] : e->u[t] - e->low[t];
            room += reach < INFINITY ? reach : (double)(fabsl(sum) + size);
        }
        const double part = (double)(fabsl(sum) / room);
        if (!(part < 0.9)) return 0;
        for (int64_t t = 0; t < e->count; t++) {
            const double reach = up ? e->high[t] - e->u[t] : e->u[t] - e->low[t];
            const double move = part * (reach < INFINITY ? reach : (double)(fabsl(sum) + size));
            e->u[t] += up ? move : -move;
        }
    }
    return 1;
}

/* Half the mean size of a. */
static double half_size(const fenp_lp *s)
{
    double size = 0.0;
    for (int64_t i = 0; i < s->m; i++) size += fabs(s->a[s->row[i]]);
    return 0.5 * size / (double)s->m;
}

/* Both terms of a kink away from it by as much: their sum is what it was. */
static void open_kink(fenp_lp_terms *e, int64_t t, double size)
{
    const double a = e->u[t] + e->u[t + 1];
    const double room = fmin(e->high[t] - fmax(a, 0.0), fmin(a, 0.0) - e->low[t + 1]);
    const double away = isfinite(room) ? 0.5 * room : fmax(fabs(a), size > 0.0 ? size : 1.0);
    e->u[t] = fmax(a, 0.0) + away, e->u[t + 1] = fmin(a, 0.0) - away;
}

int fenp_lp_terms_enter(fenp_lp_terms *e, const fenp_lp *s, double caution)
{
    const double size = caution * half_size(s);
    const double share = caution * (e->pieces ? MARGIN : LEAST_MARGIN);
    for (int64_t t = 0; t < e->count; t++) {
        const double a = s->a[s->row[e->of[t]]], part = share * (e->high[t] - e->low[t]);
        const double margin = size > 0.0 ? fmin(part, size) : isfinite(part) ? part : 0.0;
        e->u[t] = fmin(fmax(a, e->low[t] + margin), e->high[t] - margin);
        e->t[t] = 0.0;
    }
    for (int64_t t = 0; t + 1 < e->count; t++)
        if (e->of[t] == e->of[t + 1]) open_kink(e, t, size);
    return !s->q.bias || balance(e);
}
