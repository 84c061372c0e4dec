/* newton_steps.c -- how far and how boldly Newton's method goes; see newton.h
 *
 *     descent = -dP/da = shift ||df||^2 + sum d (df + db)^2,   by the equations of the step
 *
 * Method. Cold starts come down from a lambda at which the data hardly matter, by tens or more,
 * one step or a few each: without that, losses with flat pieces change their mind about who is
 * on them row by row when lambda is small. Steps that had to be cut short raise a floor below
 * the curvatures (damping: rows on a linear piece may then not run away), full ones lower it.
 * A warm start that leads nowhere is treated as a cold one; many steps at the last lambda mean
 * that it was reached too fast: back to a thousand times it and down again more slowly.
 * b moves with the steps; making it the best one in between costs steps, because rows change
 * their pieces for nothing.
 * Special cases. No row with a curvature: the best b first, so that the slopes sum to 0 and the
 * step need not balance them.
 * Cost. Steps: 1 for the square loss, 3 to 10 at ordinary lambda, up to 40 where lambda is
 * 1e-8 k(x,x). */
#include "solver/newton.h"

#include <math.h>
#include <string.h>

enum { STEPS = 150, PATIENCE = 25 }; /* PATIENCE: at the lambda that is asked for */
static const double SMALL = 1e-4;    /* gaps that rounding errors may explain */

/* How boldly to go on. */
typedef struct pace {
    double level;   /* lambda of the steps                                              */
    double damping; /* floor below the curvatures, in units of the largest possible one */
    double went;    /* part of the last step that was taken                             */
    double descent; /* of the last step, relative to P                                  */
    int damped;     /* was the last step?                                               */
    int careful;    /* lambda comes down in small steps, each solved                    */
} pace;

void fenp_newton_open(fenp_newton *it, fenp_arena *arena, int64_t n)
{
    it->y = fenp_arena_doubles(arena, n);
    it->f = fenp_arena_doubles(arena, n);
    it->df = fenp_arena_doubles(arena, n);
    it->slope = fenp_arena_doubles(arena, n);
    it->d = fenp_arena_doubles(arena, n);
    it->kept_u = fenp_arena_doubles(arena, n);
    it->kept = fenp_arena_doubles(arena, n);
}

void fenp_newton_set(fenp_newton *it, const fenp_problem *problem)
{
    it->q = fenp_target_of(problem, it->y, it->f);
    it->b = it->q.constant;
    it->norm2 = 0.0;
    it->least = INFINITY;
}

static double primal(const fenp_newton *it)
{
    return fenp_target_loss(&it->q, it->f, it->b) + it->q.lambda * it->norm2;
}

/* P falls from step to step, at one lambda; what is handed over, whose dual vector is feasible,
 * may be far behind until the end. */
static void keep_the_best(fenp_newton *it, double gap)
{
    const size_t size = (size_t)it->q.n * sizeof(double);
    if (!(it->handed < it->least)) return;
    it->least = it->handed, it->kept_gap = gap, it->kept_b = *it->u_b;
    memcpy(it->kept_u, it->u, size);
    memcpy(it->kept, it->fitted, size);
}

/* The gap of the best. */
static double take_the_best(fenp_newton *it)
{
    const size_t size = (size_t)it->q.n * sizeof(double);
    *it->u_b = it->kept_b;
    memcpy(it->u, it->kept_u, size);
    memcpy(it->fitted, it->kept, size);
    return it->kept_gap;
}

static double search(const fenp_newton *it, double descent)
{
    const fenp_ray ray = { .f = it->f,
                           .df = it->df,
                           .b = it->b,
                           .db = it->db,
                           .cross = it->cross,
                           .square = it->square,
                           .descent = descent,
                           .fuzz = it->fuzz };
    return fenp_target_search(&it->q, &ray);
}

static void advance(fenp_newton *it, double part)
{
    for (int64_t i = 0; i < it->q.n; i++) it->f[i] += part * it->df[i];
    it->b += part * it->db;
    it->norm2 = fmax(it->norm2 + part * (2.0 * it->cross + part * it->square), 0.0);
}

/* f = a df with its best b; returns the excess of u.df over what the slopes there make of it. */
static double stretch(fenp_newton *it, double a)
{
    long double sum = 2.0L * it->q.lambda * it->square;
    for (int64_t i = 0; i < it->q.n; i++) it->f[i] = a * it->df[i];
    it->b = fenp_target_offset(&it->q, it->f, it->b);
    fenp_target_slopes(&it->q, it->f, it->b, it->slope);
    for (int64_t i = 0; i < it->q.n; i++) sum += it->slope[i] * it->df[i];
    it->norm2 = a * a * it->square;
    return (double)sum;
}

/* By the Illinois method. */
double fenp_newton_scale(fenp_newton *it, const double *u)
{
    const double enough = 1e-4 * 2.0 * it->q.lambda * it->square;
    double low = 0.0, high = 1.0, a = 1.0, at = stretch(it, a);
    double at_high = at, at_low;
    int side = 0;
    if (fenp_target_relative(&it->q, it->f, it->b, it->norm2,
                             fenp_target_mismatch(&it->q, it->f, it->b, u)) < 0.01)
        return 1.0; /* at home with this lambda */
    at_low = at > enough ? stretch(it, 0.0) : 0.0;
    for (int step = 0; step < 30 && fabs(at) > enough && at_low < 0.0; step++) {
        a = low - at_low * (high - low) / (at_high - at_low);
        at = stretch(it, a);
        const int right = at > 0.0;
        if (right)
            high = a, at_high = at, at_low *= side > 0 ? 0.5 : 1.0;
        else
            low = a, at_low = at, at_high *= side < 0 ? 0.5 : 1.0;
        side = right ? 1 : -1;
    }
    if (primal(it) < it->q.null) return a;
    stretch(it, 0.0);
    it->b = it->q.constant;
    return 0.0;
}

static fen_status one_step(fenp_newton *it, pace *p, const fenp_task *task, fen_error *err)
{
    const fenp_target *q = &it->q;
    const double least = p->damping * q->loss->smoothness, before = primal(it);
    p->damped = p->damping > 0.0;
    if (fenp_target_curvatures(q, it->f, it->b, least, it->d) == 0) {
        it->b = fenp_target_offset(q, it->f, it->b);
        fenp_target_curvatures(q, it->f, it->b, least, it->d);
    }
    fenp_target_slopes(q, it->f, it->b, it->slope);
    const fen_status status = it->method->direction(it, task, err);
    if (status != FEN_OK) return status;
    long double descent = (long double)it->shift * it->square;
    for (int64_t i = 0; i < q->n; i++) {
        const double dt = it->df[i] + it->db;
        descent += it->d[i] * dt * dt;
    }
    p->went = search(it, (double)descent);
    p->descent = (double)descent / before;
    advance(it, p->went);
    it->method->move(it, p->went);
    if (p->went >= 0.5)
        p->damping = p->damping > 1e-4 ? 0.1 * p->damping : 0.0;
    else if (p->went < 0.25)
        p->damping = fmin(fmax(10.0 * p->damping, 0.01), 1.0);
    return FEN_OK;
}

/* Where a cold start begins. */
static double top_level(const fenp_newton *it)
{
    const fenp_target *q = &it->q;
    fen_piece piece = { .kink = 1.0 };
    if (q->loss->piece) q->loss->piece(1.0, q->par, &piece);
    if (piece.kink == 0.0 && isinf(piece.low) && isinf(piece.high))
        return q->lambda; /* P is a parabola: one step */
    return fmax(0.01 * q->loss->smoothness * it->unit, q->lambda);
}

/* The less a full step had to promise, the more of lambda may go at once. */
static double next_level(const pace *p, double lambda)
{
    const int full = p->went >= 0.5 || p->went == 0.0;
    const int solved = p->careful ? !p->damped && p->descent < 1e-3 : p->descent < 0.3;
    if (!full || !solved) return p->level;
    const double part = p->careful          ? 0.3
                        : p->descent < 1e-3 ? 1e-3
                        : p->descent < 0.03 ? 0.01
                                            : 0.1;
    return fmax(part * p->level, lambda);
}

/* Three steps that promise nothing and have not halved the gap, which is small, are the end. */
fen_status fenp_newton_run(fenp_newton *it, int warm, double target, double *reached,
                           const fenp_task *task, fen_error *err)
{
    const double lambda = it->q.lambda, top = top_level(it);
    pace p = { .level = warm ? lambda : top };
    double gap = INFINITY, best = INFINITY;
    fen_status status = FEN_OK;
    for (int step = 0, idle = 0, at_home = 0; step < STEPS && status == FEN_OK; step++) {
        it->q.lambda = p.level;
        if (p.level == lambda) {
            gap = it->method->gap(it);
            keep_the_best(it, gap);
            idle = gap < 0.5 * best ? 0 : idle + (p.descent <= 1e-13 || p.went == 0.0);
            best = fmin(best, gap);
            if (gap <= target || (idle >= 3 && (p.careful || gap < SMALL))) break;
        }
        const double done = isfinite(best) ? fmin(fmax(log(best) / log(target), 0.0), 1.0) : 0.0;
        const fenp_task part = fenp_task_part(task, "Newton steps", done, done);
        status = fenp_task_at(&part, 0.0, err);
        if (status == FEN_OK) status = one_step(it, &p, &part, err);
        p.level = next_level(&p, lambda);
        at_home += p.level == lambda;
        if (warm && step == 0 && p.went < 1e-3)
            p.level = top; /* it leads nowhere */
        else if (!p.careful && (at_home == PATIENCE || idle >= 3))
            p.level = fmin(1e3 * lambda, top), p.careful = 1, idle = 0;
    }
    it->q.lambda = lambda;
    if (gap > target) { /* an end before the end */
        it->b = fenp_target_offset(&it->q, it->f, it->b);
        gap = it->method->gap(it);
        if (it->least < it->handed) gap = take_the_best(it);
    }
    *reached = gap;
    return status;
}

void fenp_newton_leave(const fenp_newton *it, const double *f, double b, double gap,
                       fenp_solution *out)
{
    out->scale[0] = 1.0 / (2.0 * it->q.lambda);
    out->offset[0] = b + it->q.base;
    if (out->scores) memcpy(out->scores, f, (size_t)it->q.n * sizeof(double));
    if (out->gap) out->gap[0] = gap;
}
