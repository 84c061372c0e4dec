/* face.c -- see face.h
 *
 * With F the free variables, h = g + kink sign(b) the slope there and the balance sum s = 0,
 *
 *     (K_FF + D + T) s = -h - nu 1,    nu such that 1's = 0
 *
 * and b moves to the projection of b + s onto its face (each variable between its bounds and
 * on its side of the kink, the sum as it is). T = damp diag(K) keeps s out of directions that
 * K_FF hardly feels: it falls with every success and rises where the objective would not
 * fall. The projection is clip(b + s - r) with r from bisection. Where sides keep their sums
 * each has its own nu and r: no variable of a face changes sides.
 * Special cases. Where K_FF + D + T is not definite nothing moves, and T rises. */
#include "solver/face.h"

#include <math.h>

#include "base/linalg.h"

typedef struct face {
    const fenp_qp *q;
    const float *k;
    int64_t ld, m;
    int64_t *who;
    double *low, *high, *slope; /* m: of the face                                       */
    double *step, *ones, *move;
    double *others; /* m: the ones of the other side                                    */
    double damp;
} face;

/* At no bound and no kink: the slopes to both sides are one. */
static void find_face(face *f)
{
    const fenp_qp *q = f->q;
    f->m = 0;
    for (int64_t i = 0; i < q->n; i++) {
        const double rise = fenp_qp_rise(q, i);
        if (rise != fenp_qp_fall(q, i)) continue;
        const int bent = q->kink[i] > 0.0;
        f->low[f->m] = bent && q->b[i] > 0.0 ? 0.0 : q->low[i];
        f->high[f->m] = bent && q->b[i] < 0.0 ? 0.0 : q->high[i];
        f->slope[f->m] = -rise;
        f->who[f->m++] = i;
    }
}

/* Whether the r-th counts in the sum of a side: 0, the positive ones or all; 1, the negative. */
static int is_of(const face *f, int64_t r, int side)
{
    return f->q->balanced != FENP_SIDES ? side == 0 : (f->q->b[f->who[r]] < 0.0) == side;
}

static double sum_of(const face *f, const double *x, int side)
{
    double sum = 0.0;
    for (int64_t r = 0; r < f->m; r++) sum += is_of(f, r, side) ? x[r] : 0.0;
    return sum;
}

/* x less the multiple of ones that makes its sum on a side 0. */
static void take_off(const face *f, const double *ones, int side, double *x)
{
    const double unit = sum_of(f, ones, side), along = sum_of(f, x, side);
    for (int64_t r = 0; unit != 0.0 && r < f->m; r++) x[r] -= along / unit * ones[r];
}

/* The sums of step become 0: first that of one side, then that of the other by what leaves the
 * first alone. */
static fen_status balance(face *f, const double *factor, fen_error *err)
{
    const int sides = f->q->balanced == FENP_SIDES;
    if (!f->q->balanced) return FEN_OK;
    fen_status status = fenp_cholesky_solve(f->m, factor, f->m, f->ones, 1, err);
    if (status == FEN_OK && sides)
        status = fenp_cholesky_solve(f->m, factor, f->m, f->others, 1, err);
    if (status != FEN_OK) return status;
    take_off(f, f->ones, 0, f->step);
    if (!sides) return FEN_OK;
    take_off(f, f->ones, 0, f->others);
    take_off(f, f->others, 1, f->step);
    return FEN_OK;
}

/* step = the Newton step, if the matrix is definite. */
static fen_status newton(face *f, double *factor, int *definite, fen_error *err)
{
    const fenp_qp *q = f->q;
    const int64_t m = f->m;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < m; r++) {
        const float *row = f->k + f->who[r] * f->ld;
        for (int64_t c = r; c < m; c++) factor[c + r * m] = (double)row[f->who[c]];
        factor[r + r * m] += q->d[f->who[r]] + f->damp * q->stiff[f->who[r]];
    }
    for (int64_t r = 0; r < m; r++)
        f->step[r] = -f->slope[r], f->ones[r] = is_of(f, r, 0), f->others[r] = is_of(f, r, 1);
    int64_t rank;
    fen_status status = fenp_cholesky(m, factor, m, &rank, NULL, err);
    *definite = status == FEN_OK && rank == m;
    if (!*definite) return status;
    status = fenp_cholesky_solve(m, factor, m, f->step, 1, err);
    return status == FEN_OK ? balance(f, factor, err) : status;
}

static double clip(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Sum of the moves of a side to clip(b + s - shift). */
static double moves(const face *f, int side, double shift)
{
    double sum = 0.0;
    for (int64_t r = 0; r < f->m; r++) {
        if (!is_of(f, r, side)) continue;
        const double b = f->q->b[f->who[r]];
        f->move[r] = clip(b + f->step[r] - shift, f->low[r], f->high[r]) - b;
        sum += f->move[r];
    }
    return sum;
}

/* move = projection of b + s, minus b. */
static void project(const face *f, int side)
{
    double reach = 0.0;
    if (moves(f, side, 0.0) == 0.0 || !f->q->balanced) return;
    for (int64_t r = 0; r < f->m; r++) reach = fmax(reach, fabs(f->step[r]));
    double low = -reach, high = reach; /* the sum falls as the shift grows */
    for (int pass = 0; pass < 60; pass++) {
        const double middle = 0.5 * (low + high);
        if (moves(f, side, middle) > 0.0)
            low = middle;
        else
            high = middle;
    }
    double sum = moves(f, side, high);
    for (int64_t r = 0; r < f->m && sum != 0.0; r++) { /* what rounding has left */
        if (!is_of(f, r, side)) continue;
        const double b = f->q->b[f->who[r]];
        const double to = clip(b + f->move[r] - sum, f->low[r], f->high[r]) - b;
        sum += to - f->move[r];
        f->move[r] = to;
    }
}

/* Change of the objective by the move. Threads share the rows, one adds them up: the sum, by
 * whose sign the move stands or falls, is the same for any number of them. ones is overwritten. */
static double change(const face *f)
{
    const fenp_qp *q = f->q;
    double sum = 0.0;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < f->m; r++) {
        const float *row = f->k + f->who[r] * f->ld;
        double bend = q->d[f->who[r]] * f->move[r];
        for (int64_t c = 0; c < f->m; c++) bend += (double)row[f->who[c]] * f->move[c];
        f->ones[r] = (f->slope[r] + 0.5 * bend) * f->move[r];
    }
    for (int64_t r = 0; r < f->m; r++) sum += f->ones[r];
    return sum;
}

static void accept(const face *f)
{
    const fenp_qp *q = f->q;
    for (int64_t r = 0; r < f->m; r++) {
        const int64_t i = f->who[r];
        const float *row = f->k + i * f->ld;
        const double move = f->move[r];
        if (move == 0.0) continue;
        q->b[i] = clip(q->b[i] + move, f->low[r], f->high[r]);
        q->g[i] += q->d[i] * move;
        for (int64_t k = 0; k < q->n; k++) q->g[k] += move * (double)row[k];
    }
}

fen_status fenp_face_step(const fenp_qp *q, const float *k, int64_t ld, fenp_face_room *room,
                          int *moved, fen_error *err)
{
    const int64_t n = q->n;
    face f = { .q = q, .k = k, .ld = ld, .who = room->who, .damp = room->damp };
    f.low = room->work, f.high = f.low + n, f.step = f.high + n, f.ones = f.step + n;
    f.move = f.ones + n, f.slope = f.move + n, f.others = f.slope + n;
    int definite;
    *moved = 0;
    find_face(&f);
    if (f.m < 2) return FEN_OK;
    const fen_status status = newton(&f, room->factor, &definite, err);
    if (status != FEN_OK) return status;
    if (definite) {
        project(&f, 0);
        project(&f, 1);
        *moved = change(&f) < 0.0;
    }
    room->damp = *moved ? fmax(0.2 * f.damp, 1e-10) : fmin(10.0 * f.damp, 10.0);
    if (*moved) accept(&f);
    return FEN_OK;
}
