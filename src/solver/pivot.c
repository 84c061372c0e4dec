/* pivot.c -- see pivot.h
 *
 * Method. The classical active set. With F the free variables (at no bound or kink) and the
 * slopes h = g + kink sign(b) there, a step s with
 *
 *     (K_FF + D + R) s = -h - nu 1,    nu such that 1's = 0 (balanced), else 0
 *
 * leads to the optimum of the face, or until the first variable meets a bound or kink: that
 * one leaves F. At the optimum of a face the variables that are worst off join F. The Cholesky
 * factor of K_FF + D + R is updated: rows are appended when variables join, and
 * deleted by Givens rotations when one leaves. Slopes outside F are made anew only at the
 * optimum of a face, by the columns of those that moved or, where they are fewer and g will be
 * made anew before it is believed, by the rows outside F: in F the equation of the step says what g
 * is, but for what a nearly singular matrix leaves of it. R_ii = ridge (K_ii + D_ii) keeps
 * singular K_FF (equal rows) factorable, whatever the units of the variables; as every step starts
 * from the slopes in force it only slows directions that K hardly feels. ridge: 1e-9 for kernel matrices, whose nearly singular
 * directions are noise; 1e-11 for columns, where they may be what is asked for.
 * Special cases. Steps of length 0 (degenerate corners) are possible; the number of pivots is
 * bounded, and pairs (smo.h) lead out of a circle.
 * Cost. About 4 m^2 flops when one leaves, 2 n m or less when some join, and m^2 for each
 * of those, m = |F|; m^3/3 once, and not where the factor of a call before is kept. */
#include "solver/pivot.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "simd/simd.h"
#include "solver/factor.h"

enum { LOOK_UP = 32 }; /* pivots between two looks at the clock */
/* Variables that join together, each for a share of a pass over K: a quarter of F, or FEW. */
enum { FEW = 8, AT_ONCE = 64 };
enum { LANES = FENP_SIDE, ENOUGH = 3 }; /* for those to pay */
static const double SLIGHT = 1e-3;      /* of the tolerance */

typedef struct guest {
    double need; /* how much worse off than the optimum allows       */
    int64_t who;
    int right; /* it will go up if it is at a bound or kink          */
} guest;

typedef struct face {
    const fenp_qp *q;
    const double *k;
    int64_t ld; /* of k                                                                 */
    double *l;  /* m x m, column-major: the factor                                      */
    int64_t stride, m, *who;
    double *h;           /* m: slopes                                                     */
    double *low, *high;  /* m: limits of the face                                         */
    double *step, *ones; /* m                                                             */
    double *moved;       /* n: what b has gone since g was last made                      */
    double *taken;       /* n: 1 in F                                                     */
    double ridge, least; /* R_ii over K_ii + D_ii; R_ii where those are 0                  */
    double slight;       /* slopes of the first of F up to here count as 0                 */
    int renewed;         /* see fenp_pivot_room                                            */
} face;

static double rho_of(const face *f, int64_t i)
{
    const double d = f->q->d[i], own = f->ridge * (fabs(f->q->stiff[i] - d) + d);
    return own > 0.0 ? own : f->least;
}

/* ---- who is free ---------------------------------------------------------------------------- */

/* i as the last of F; right: see guest. */
static void append(face *f, int64_t i, int right)
{
    const fenp_qp *q = f->q;
    const int bent = q->kink[i] > 0.0, positive = q->b[i] > 0.0 || (q->b[i] == 0.0 && right);
    f->low[f->m] = bent && positive ? 0.0 : q->low[i];
    f->high[f->m] = bent && !positive ? 0.0 : q->high[i];
    f->h[f->m] = q->g[i] + (positive ? q->kink[i] : -q->kink[i]);
    f->taken[i] = 1.0;
    f->who[f->m++] = i;
}

static int is_free(const fenp_qp *q, int64_t i) { return fenp_qp_rise(q, i) == fenp_qp_fall(q, i); }

/* The free ones as they were left by a call before, whose factor is there; 0: others are free. */
static int recall(face *f, int64_t kept)
{
    const fenp_qp *q = f->q;
    int64_t count = 0;
    for (int64_t i = 0; i < q->n && kept > 0; i++) count += is_free(q, i);
    for (int64_t r = 0; r < kept && count == kept; r++)
        if (!is_free(q, f->who[r])) return 0;
    if (kept == 0 || count != kept) return 0;
    for (int64_t r = 0; r < kept; r++) append(f, f->who[r], 1);
    return 1;
}

static fen_status factorise(face *f, int *definite, fen_error *err)
{
    const fenp_qp *q = f->q;
    for (int64_t i = 0; i < q->n; i++)
        if (is_free(q, i)) append(f, i, 1);
    for (int64_t c = 0; c < f->m; c++) {
        const double *row = f->k + f->who[c] * f->ld;
        for (int64_t r = c; r < f->m; r++) f->l[r + c * f->stride] = row[f->who[r]];
        f->l[c + c * f->stride] += q->d[f->who[c]] + rho_of(f, f->who[c]);
    }
    int64_t rank = f->m;
    const fen_status status =
        f->m > 0 ? fenp_cholesky(f->m, f->l, f->stride, &rank, NULL, err) : FEN_OK;
    *definite = rank == f->m;
    return status;
}

/* Of the factor: shared is what F explains. */
static double diagonal_of(const face *f, int64_t i, double shared)
{
    const double rho = rho_of(f, i), rest = f->q->stiff[i] + rho - shared;
    return sqrt(rest > 0.5 * rho ? rest : 0.5 * rho);
}

/* One joins: a new last row of the factor, which is made above its diagonal. */
static void join_one(face *f, const guest *new)
{
    const double *row = f->k + new->who * f->ld;
    double *x = f->l + f->m * f->stride;
    for (int64_t r = 0; r < f->m; r++) x[r] = row[f->who[r]];
    const double shared = fenp_factor_row(f->l, f->stride, f->m, x);
    fenp_factor_append(f->l, f->stride, f->m, x, diagonal_of(f, new->who, shared));
    append(f, new->who, new->right);
}

/* What the new ones have in common, shared being what F explains of it: the corner of the factor. */
static void join_corner(face *f, const guest *list, int count, double shared[][LANES])
{
    for (int j = 0; j < count; j++) {
        const double *row = f->k + list[j].who * f->ld;
        double *corner = f->l + f->m - j + (f->m - j) * f->stride; /* F grows as we go */
        double own = shared[j][j];
        for (int i = 0; i < j; i++) {
            double rest = row[list[i].who] - shared[j][i];
            for (int c = 0; c < i; c++)
                rest -= corner[j + c * f->stride] * corner[i + c * f->stride];
            const double entry = rest / corner[i + i * f->stride];
            corner[j + i * f->stride] = entry, own += entry * entry;
        }
        corner[j + j * f->stride] = diagonal_of(f, list[j].who, own);
        append(f, list[j].who, list[j].right);
    }
}

/* Some join together: the rows of K that belong to them and F stand side by side where the columns
 * of the factor will be. */
static void join_some(face *f, const guest *list, int count)
{
    const int64_t n = f->stride, m = f->m;
    double *x = f->l + m * n, shared[LANES][LANES];
    while ((uintptr_t)x % 64 != 0) x++;
    for (int64_t r = 0; r < m; r++)
        for (int j = 0; j < LANES; j++)
            x[r * LANES + j] = j < count ? f->k[list[j].who * f->ld + f->who[r]] : 0.0;
    fenp_simd_get()->solve_lanes(f->l, n, m, x, shared[0]);
    for (int64_t r = 0; r < m; r++)
        memcpy(f->l + m + r * n, x + r * LANES, (size_t)count * sizeof *x);
    join_corner(f, list, count, shared);
}

static void join(face *f, const guest *list, int count)
{
    while (count > 0) {
        const int some = count < ENOUGH || f->m + LANES > f->q->n ? 1
                         : count < LANES                          ? count
                                                                  : LANES;
        if (some == 1)
            join_one(f, list);
        else
            join_some(f, list, some);
        list += some, count -= some;
    }
}

static void close_gap(double *list, int64_t at, int64_t left)
{
    memmove(list + at, list + at + 1, (size_t)(left - at) * sizeof *list);
}

/* The r-th of F leaves. */
static void leave(face *f, int64_t r)
{
    fenp_factor_delete(f->l, f->stride, f->m, r);
    const int64_t m = --f->m;
    f->taken[f->who[r]] = 0.0;
    memmove(f->who + r, f->who + r + 1, (size_t)(m - r) * sizeof *f->who);
    close_gap(f->low, r, m), close_gap(f->high, r, m), close_gap(f->h, r, m);
}

/* ---- a step --------------------------------------------------------------------------------- */

static void solve(const face *f, double *x) { fenp_factor_solve(f->l, f->stride, f->m, x); }

/* step, and what every free variable then says b is. Their mean is taken off first: what is
 * left is small, and so are the rounding errors that a nearly singular matrix makes large. The
 * slopes of those that were at their optimum when others joined count as 0: half a solve less. */
static double aim(face *f)
{
    double nu = 0.0, unit = 0.0;
    for (int64_t r = 0; f->q->balanced && r < f->m; r++) nu -= f->h[r] / (double)f->m;
    for (int64_t r = 0; r < f->m; r++) f->step[r] = -f->h[r] - nu, f->ones[r] = 1.0;
    for (int64_t r = 0; r < f->m && fabs(f->step[r]) <= f->slight; r++) f->step[r] = 0.0;
    solve(f, f->step);
    if (!f->q->balanced) return 0.0;
    solve(f, f->ones);
    for (int64_t r = 0; r < f->m; r++) unit += f->ones[r];
    for (int pass = 0; pass < 3; pass++) { /* the balance must hold to the last digit */
        double along = 0.0;
        for (int64_t r = 0; r < f->m; r++) along += f->step[r];
        for (int64_t r = 0; r < f->m; r++) f->step[r] -= along / unit * f->ones[r];
        nu += along / unit;
    }
    return nu;
}

/* The first of F to meet a limit on the way, or -1; *length: how far that is, at most 1. */
static int64_t first_limit(const face *f, double *length)
{
    int64_t first = -1;
    *length = 1.0;
    for (int64_t r = 0; r < f->m; r++) {
        const double s = f->step[r], b = f->q->b[f->who[r]];
        const double room = s > 0.0 ? f->high[r] - b : b - f->low[r];
        if (s != 0.0 && room < *length * fabs(s)) *length = room / fabs(s), first = r;
    }
    return first;
}

/* The slopes of F follow from the equation of the step; those of others can wait. */
static void walk(face *f, double length, int64_t first, double nu)
{
    for (int64_t r = 0; r < f->m; r++) {
        const int64_t i = f->who[r];
        const double before = f->q->b[i], limit = f->step[r] > 0.0 ? f->high[r] : f->low[r];
        f->q->b[i] = r == first ? limit : before + length * f->step[r];
        f->moved[i] += f->q->b[i] - before;
        f->h[r] -= length * (f->h[r] + nu + rho_of(f, i) * f->step[r]);
    }
}

/* What the slope of the r-th of F has beside g. */
static double bend(const face *f, int64_t r)
{
    const double kink = f->q->kink[f->who[r]];
    return f->low[r] == 0.0 || f->q->b[f->who[r]] > 0.0 ? kink : -kink;
}

/* g by the columns of those that moved, and the slopes of F from it. */
static void follow_columns(face *f)
{
    const fenp_qp *q = f->q;
    for (int64_t i = 0; i < q->n; i++)
        if (f->moved[i] != 0.0) q->g[i] += q->d[i] * f->moved[i];
    fenp_simd_get()->add_columns(q->n, q->n, f->k, f->ld, f->moved, q->g);
    for (int64_t r = 0; r < f->m; r++) f->h[r] = q->g[f->who[r]] + bend(f, r);
}

/* g by the rows outside F, and in F from its slopes. */
static void follow_rows(face *f)
{
    const fenp_qp *q = f->q;
    for (int64_t i = 0; i < q->n; i++)
        if (f->taken[i] == 0.0)
            q->g[i] +=
                cblas_ddot((int)q->n, f->k + i * f->ld, 1, f->moved, 1) + q->d[i] * f->moved[i];
    for (int64_t r = 0; r < f->m; r++) q->g[f->who[r]] = f->h[r] - bend(f, r);
}

/* g of all as b is now. */
static void catch_up(face *f)
{
    int64_t count = 0;
    for (int64_t i = 0; i < f->q->n; i++) count += f->moved[i] != 0.0;
    if (count == 0) return;
    if (f->renewed && count > f->q->n - f->m)
        follow_rows(f);
    else
        follow_columns(f);
    memset(f->moved, 0, (size_t)f->q->n * sizeof(double));
}

/* ---- pivots ---------------------------------------------------------------------------------- */

/* Those outside F that are worst off at b by more than tolerance, the worst first; how many. */
static int worst(const face *f, double b, double tolerance, guest *list)
{
    const int64_t quarter = f->m / 4;
    const int most = quarter < FEW ? FEW : quarter < AT_ONCE ? (int)quarter : AT_ONCE;
    int count = 0;
    for (int64_t i = 0; i < f->q->n; i++) {
        if (f->taken[i] != 0.0) continue;
        const double rise = fenp_qp_rise(f->q, i) - b, fall = b - fenp_qp_fall(f->q, i);
        const guest new = { rise > fall ? rise : fall, i, rise > fall };
        if (!(new.need > (count < most ? tolerance : list[most - 1].need))) continue;
        int at = count < most ? count++ : most - 1;
        for (; at > 0 && list[at - 1].need < new.need; at--) list[at] = list[at - 1];
        list[at] = new;
    }
    return count;
}

/* The worst few join; 0: nobody is worse off than tolerance. */
static int invite(face *f, double b, double tolerance)
{
    guest list[AT_ONCE];
    const int count = worst(f, b, tolerance, list);
    if (count > 0) join(f, list, count);
    return count;
}

/* Those join that will be worst off if the slopes are as expected. */
static void invite_expected(face *f, const double *expected, double tolerance)
{
    guest list[AT_ONCE];
    fenp_qp then = *f->q;
    face later = *f;
    then.g = (double *)expected, later.q = &then;
    const int count = worst(&later, 0.0, tolerance, list);
    if (count > 0) join(f, list, count);
}

/* Without a free variable b is in the middle of what it may be. */
static double middle(const fenp_qp *q)
{
    double rise = -INFINITY, fall = INFINITY;
    for (int64_t i = 0; q->balanced && i < q->n; i++) {
        rise = fmax(rise, fenp_qp_rise(q, i));
        fall = fmin(fall, fenp_qp_fall(q, i));
    }
    return q->balanced ? 0.5 * (rise + fall) : 0.0;
}

/* To the optimum of the face or its first limit, where somebody leaves; 0: the optimum. */
static int travel(face *f, double *b, int *moved)
{
    double length;
    *b = aim(f);
    const int64_t first = first_limit(f, &length);
    walk(f, length, first, *b);
    *moved |= length > 0.0;
    if (first >= 0) leave(f, first);
    return first >= 0;
}

fen_status fenp_pivot(const fenp_qp *q, const double *k, int64_t ld, double tolerance,
                      int64_t pivots, fenp_pivot_room *room, int *moved, const fenp_task *task,
                      fen_error *err)
{
    const int64_t n = q->n;
    face f = {
        .q = q, .k = k, .ld = ld, .ridge = room->ridge, .l = room->factor, .who = room->who
    };
    f.slight = SLIGHT * tolerance, f.renewed = room->renewed;
    f.stride = room->stride > 0 ? room->stride : n;
    f.step = room->work, f.ones = f.step + n, f.low = f.ones + n, f.high = f.low + n;
    f.h = f.high + n, f.moved = f.h + n, f.taken = f.moved + n;
    memset(f.moved, 0, (size_t)(2 * n) * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        const double own = room->ridge * fabs(q->stiff[i] - q->d[i]);
        if (own > f.least) f.least = own;
    }
    const int64_t kept = room->kept;
    int definite = 1;
    *moved = 0, room->kept = 0;
    fen_status status = recall(&f, kept) ? FEN_OK : factorise(&f, &definite, err);
    if (status != FEN_OK || !definite) return status;
    if (room->expected && !q->balanced) invite_expected(&f, room->expected, tolerance);
    for (int64_t pivot = 0; pivot < pivots && status == FEN_OK; pivot++) {
        double b = 0.0;
        if (pivot % LOOK_UP == 0) status = fenp_task_at(task, 0.0, err);
        if (f.m > 0 && travel(&f, &b, moved)) continue;
        catch_up(&f);
        if (f.m == 0) b = middle(q);
        if (!invite(&f, b, tolerance)) break;
    }
    catch_up(&f);
    room->kept = f.m;
    return status;
}
