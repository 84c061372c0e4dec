/* pairs_solver.h -- a solver too plain to be wrong, for tests of what drives solvers
 *
 * Minimises u'Ku/(4 lambda) + sum w loss*(-u/w) over one pair of variables whose sum stays
 * (without bias also over one variable) at a time, all in turn, by the least of all candidates
 * of a piecewise quadratic. Losses with a piece only. b by bisection on the slope of P. */
#ifndef FENP_PAIRS_SOLVER_H
#define FENP_PAIRS_SOLVER_H
#include <math.h>
#include <string.h>
#include "solver/solver.h"

typedef struct pairs_state {
    int64_t n;
    int bias;
    double *k, *g; /* n x n; K u */
} pairs_state;

static int pairs_accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    (void)kernel, (void)size;
    return loss->piece != NULL;
}

static int64_t pairs_bytes(const fenp_size *size)
{
    return fenp_arena_bytes(size->n * size->n) + fenp_arena_bytes(size->n) + fenp_arena_bytes(8);
}

static fen_status pairs_begin(fenp_arena *arena, const fenp_problem *q, void **out,
                              const fenp_task *task, fen_error *err)
{
    pairs_state *s = (pairs_state *)fenp_arena_doubles(arena, 8);
    const int64_t n = q->sample->n;
    *s = (pairs_state){ n, q->bias, fenp_arena_doubles(arena, n * n),
                        fenp_arena_doubles(arena, n) };
    const fenp_sample *x = q->sample;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            s->k[i * n + j] = fenp_kernel_pair(&q->kernel, x->x + i * x->p, x->x + j * x->p, x->p);
    *out = s;
    return fenp_task_at(task, 0.0, err);
}

/* w loss*(-u/w) in u, and its bounds */
static fen_piece pairs_piece(const fenp_problem *q, int64_t i)
{
    const double w = q->sample->w[i];
    fen_piece p = { 0 };
    if (w > 0.0) q->loss->piece(q->sample->y[i], q->par, &p);
    p.curvature = w > 0.0 ? p.curvature / w : 0.0;
    p.low = w > 0.0 ? p.low * w : 0.0, p.high = w > 0.0 ? p.high * w : 0.0;
    return p;
}

static double pairs_cost(const fen_piece *p, double u)
{
    return 0.5 * p->curvature * u * u - p->linear * u + p->kink * fabs(u);
}

/* Best step d: u_i + d, u_j - d (j < 0: u_i alone), by what it changes. */
static double pairs_step(const pairs_state *s, const fenp_problem *q, const double *u, int64_t i,
                         int64_t j)
{
    const int64_t n = s->n;
    const fen_piece a = pairs_piece(q, i), b = j < 0 ? (fen_piece){ 0 } : pairs_piece(q, j);
    const double v = j < 0 ? 0.0 : u[j], unit = 1.0 / (2.0 * q->lambda);
    double slope = s->g[i] * unit, stiff = s->k[i * n + i] * unit;
    if (j >= 0) {
        slope -= s->g[j] * unit;
        stiff += (s->k[j * n + j] - 2.0 * s->k[i * n + j]) * unit;
    }
    const double low = fmax(a.low - u[i], j < 0 ? -INFINITY : v - b.high);
    const double high = fmin(a.high - u[i], j < 0 ? INFINITY : v - b.low);
    const double all = stiff + a.curvature + b.curvature;
    const double at = slope + a.curvature * u[i] - a.linear - b.curvature * v + b.linear;
    double candidates[9] = { 0.0, low, high, -u[i], v }, best = 0.0, least = INFINITY;
    for (int sign = 0; sign < 4; sign++) {
        const double kinks = (sign & 1 ? a.kink : -a.kink) - (sign & 2 ? b.kink : -b.kink);
        candidates[5 + sign] = all > 0.0 ? -(at + kinks) / all : 0.0;
    }
    for (int k = 0; k < 9; k++) {
        const double d = fmin(fmax(candidates[k], low), high);
        const double value = d * (0.5 * all * d + at) + a.kink * (fabs(u[i] + d) - fabs(u[i])) +
                             b.kink * (fabs(v - d) - fabs(v));
        if (isfinite(d) && value < least) least = value, best = d;
    }
    return best;
}

static void pairs_move(pairs_state *s, const fenp_problem *q, double *u, int64_t i, int64_t j)
{
    const double d = pairs_step(s, q, u, i, j);
    if (d == 0.0) return;
    u[i] += d;
    if (j >= 0) u[j] -= d;
    for (int64_t r = 0; r < s->n; r++)
        s->g[r] += d * (s->k[i * s->n + r] - (j < 0 ? 0.0 : s->k[j * s->n + r]));
}

static double pairs_loss(const fenp_problem *q, const double *f, double b)
{
    double sum = 0.0;
    for (int64_t i = 0; i < q->sample->n; i++) {
        const double y = q->sample->y[i], t = f[i] + b, slack = 1e-9 * (q->par[0] + fabs(y));
        const double loss = q->loss->value(y, t, q->par);
        if (q->sample->w[i] == 0.0) continue;
        sum += q->sample->w[i] * (loss < INFINITY
                                      ? loss
                                      : q->loss->value(y, t + copysign(slack, y - t), q->par));
    }
    return sum;
}

static double pairs_offset(const fenp_problem *q, const double *f)
{
    double low = -1e9, high = 1e9;
    for (int step = 0; q->bias && step < 200; step++) {
        const double b = 0.5 * low + 0.5 * high;
        double left = 0.0, right = 0.0;
        for (int64_t i = 0; i < q->sample->n; i++) {
            double l, r;
            if (q->sample->w[i] == 0.0) continue;
            q->loss->slopes(q->sample->y[i], f[i] + b, q->par, &l, &r);
            left += q->sample->w[i] * l, right += q->sample->w[i] * r;
        }
        if (left + right == 0.0) return b;
        if (left + right < 0.0)
            low = b;
        else
            high = b;
    }
    return q->bias ? 0.5 * low + 0.5 * high : 0.0;
}

/* Into the boxes and, with bias, onto sum u = 0: what is too much goes where there is room. */
static void pairs_feasible(const fenp_problem *q, double *u)
{
    double sum = 0.0;
    for (int64_t i = 0; i < q->sample->n; i++) {
        const fen_piece p = pairs_piece(q, i);
        sum += u[i] = fmin(fmax(u[i], p.low), p.high);
    }
    for (int64_t i = 0; q->bias && i < q->sample->n; i++) {
        const fen_piece p = pairs_piece(q, i);
        const double before = u[i];
        u[i] = fmin(fmax(u[i] - sum, p.low), p.high);
        sum += u[i] - before;
    }
}

static fen_status pairs_sweep(void *state, const fenp_problem *q, fenp_solution *out,
                              const fenp_task *task, fen_error *err)
{
    pairs_state *s = state;
    const int64_t n = s->n;
    double *u = out->dual;
    pairs_feasible(q, u);
    for (int64_t i = 0; i < n; i++) {
        s->g[i] = 0.0;
        for (int64_t j = 0; j < n; j++) s->g[i] += s->k[i * n + j] * u[j];
    }
    for (int pass = 0; pass < 20; pass++)
        for (int64_t i = 0; i < n; i++) {
            if (!s->bias) pairs_move(s, q, u, i, -1);
            for (int64_t j = 0; j < i; j++) pairs_move(s, q, u, i, j);
        }
    double energy = 0.0, conj = 0.0;
    out->scale[0] = 1.0 / (2.0 * q->lambda);
    for (int64_t i = 0; i < n; i++) {
        const fen_piece p = pairs_piece(q, i);
        out->scores[i] = s->g[i] * out->scale[0];
        energy += 0.5 * u[i] * out->scores[i];
        if (q->sample->w[i] > 0.0) conj += pairs_cost(&p, u[i]);
    }
    out->offset[0] = pairs_offset(q, out->scores);
    const double primal = pairs_loss(q, out->scores, out->offset[0]) + energy;
    const double gap = primal + conj + energy;
    out->gap[0] = primal > 0.0 ? fmax(gap, 0.0) / primal : fmax(gap, 0.0);
    return fenp_task_at(task, 1.0, err);
}

static const fenp_solver pairs_solver = { .name = "pairs",
                                          .help = "one pair after the other",
                                          .iterative = 1,
                                          .accepts = pairs_accepts,
                                          .bytes = pairs_bytes,
                                          .begin = pairs_begin,
                                          .sweep = pairs_sweep };
#endif
