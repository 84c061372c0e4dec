/* krylov.c -- Lanczos steps with full reorthogonalisation, and quadrature with bounds
 *
 *     b'f(A)b = |b|^2 e1'f(T)e1 (Gauss)
 *     1/(d+c), 1/(d+c)^2: Gauss is too small; with one more row of T, chosen so that 0
 *     becomes an eigenvalue (Gauss-Radau), too large
 *
 * Method. One pass over the basis takes out what rounding errors brought back of it, a
 * second one only where the first took out much. T + cI is positive definite with pivots
 * of at least c: no pivoting. The difference of the two quadratures comes from the Schur
 * complement of the added row, in positive terms: nothing cancels, whatever c is.
 * Special cases. A step that leads nowhere but into rounding errors ends the space: it is
 * invariant, T exact. A that is positive semidefinite only to rounding: the prescribed
 * eigenvalue moves by as much to the left. Ritz values below the rounding errors count as 0.
 * Scale. Everything is divided by the larger of c and the top eigenvalue: c = e^t may lie
 * beyond the range of double.
 * Cost. A product and 4 m steps flops per step; O(steps) per c; steps^3 for the curve. */
#include "solver/krylov.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"

static int64_t at_least_one(int64_t count) { return count > 0 ? count : 1; }

/* What the eigenproblem of T needs; the solves need two vectors of it. */
static int64_t work_doubles(int64_t most)
{
    return most * most + 2 * most + fenp_tridiagonal_work(most);
}

int64_t fenp_krylov_bytes(int64_t m, int64_t most)
{
    const int64_t basis = fenp_bytes(m, most + 1, sizeof(double));
    if (basis < 0) return -1;
    return fenp_arena_bytes(at_least_one(m) * (most + 1)) +
           4 * fenp_arena_bytes(at_least_one(most)) + fenp_arena_bytes(work_doubles(most) + 1);
}

fenp_krylov fenp_krylov_new(fenp_arena *arena, int64_t m, int64_t most, double top, double error)
{
    fenp_krylov space = { .m = m, .most = most, .top = top, .error = error };
    space.basis = fenp_arena_doubles(arena, at_least_one(m) * (most + 1));
    space.alpha = fenp_arena_doubles(arena, at_least_one(most));
    space.beta = fenp_arena_doubles(arena, at_least_one(most));
    space.d = fenp_arena_doubles(arena, at_least_one(most));
    space.q = fenp_arena_doubles(arena, at_least_one(most));
    space.work = fenp_arena_doubles(arena, work_doubles(most) + 1);
    return space;
}

void fenp_krylov_start(fenp_krylov *space, const double *b)
{
    const double norm = cblas_dnrm2((int)space->m, b, 1);
    space->steps = 0;
    space->norm = norm;
    for (int64_t i = 0; norm > 0.0 && i < space->m; i++) space->basis[i] = b[i] / norm;
}

int fenp_krylov_open(const fenp_krylov *space)
{
    if (space->steps == 0) return space->norm > 0.0 && space->most > 0;
    return space->steps < space->most && space->beta[space->steps - 1] > 0.0;
}

/* w -= V V'w with the first count vectors; the norm that is left. */
static double orthogonalise(const fenp_krylov *space, int64_t count, double *w)
{
    const int m = (int)space->m, k = (int)count;
    double *along = space->work;
    cblas_dgemv(CblasColMajor, CblasTrans, m, k, 1.0, space->basis, m, w, 1, 0.0, along, 1);
    cblas_dgemv(CblasColMajor, CblasNoTrans, m, k, -1.0, space->basis, m, along, 1, 1.0, w, 1);
    return cblas_dnrm2(m, w, 1);
}

fen_status fenp_krylov_step(fenp_krylov *space, fenp_operator *times, void *state, fen_error *err)
{
    const int64_t k = space->steps, m = space->m;
    double *v = space->basis + k * m, *w = v + m;
    const fen_status status = times(state, v, w, err);
    if (status != FEN_OK) return status;
    const double along = cblas_ddot((int)m, v, 1, w, 1);
    cblas_daxpy((int)m, -along, v, 1, w, 1);
    if (k > 0) cblas_daxpy((int)m, -space->beta[k - 1], v - m, 1, w, 1);
    const double before = cblas_dnrm2((int)m, w, 1);
    double left = orthogonalise(space, k + 1, w);
    if (left < 0.7 * before) left = orthogonalise(space, k + 1, w);
    space->alpha[k] = along;
    space->top = fmax(space->top, along);
    const int ends = k + 1 == m || !(left > 4.0 * DBL_EPSILON * space->top);
    space->beta[k] = ends ? 0.0 : left;
    for (int64_t i = 0; !ends && i < m; i++) w[i] /= left;
    space->steps = k + 1;
    return FEN_OK;
}

/* Eigenvalues of this size may be anything of this size, negative too. */
static double noise(const fenp_krylov *space)
{
    return (double)space->m * DBL_EPSILON * space->top + space->error;
}

/* ---- (T + cI)^-1 ----------------------------------------------------------------------- */

/* T unit + shift I is (T + cI) over the larger of c and top. */
typedef struct scaled {
    double unit, shift;
} scaled;

static scaled scale_of(const fenp_krylov *space, double t)
{
    const double top = space->top;
    if (!(top > 0.0) || t >= log(top)) return (scaled){ exp(-t), 1.0 };
    return (scaled){ 1.0 / top, exp(t - log(top)) };
}

/* Pivots of T unit + shift I = L D L', none below least. */
static void pivots(const fenp_krylov *space, double unit, double shift, double least, double *out)
{
    for (int64_t j = 0; j < space->steps; j++) {
        const double beta = j > 0 ? space->beta[j - 1] * unit : 0.0;
        const double pivot =
            space->alpha[j] * unit + shift - (j > 0 ? beta * (beta / out[j - 1]) : 0);
        out[j] = fmax(pivot, least);
    }
}

/* x = (T unit + shift I)^-1 e1 */
static void solve_first(const fenp_krylov *space, scaled s, const double *pivot, double *x)
{
    const int64_t k = space->steps;
    for (int64_t j = 0; j < k; j++)
        x[j] = j == 0 ? 1.0 : -space->beta[j - 1] * s.unit / pivot[j - 1] * x[j - 1];
    for (int64_t j = 0; j < k; j++) x[j] /= pivot[j];
    for (int64_t j = k - 2; j >= 0; j--) x[j] -= space->beta[j] * s.unit / pivot[j] * x[j + 1];
}

double fenp_krylov_solve(const fenp_krylov *space, double t, double *x)
{
    const int64_t k = space->steps;
    const scaled s = scale_of(space, t);
    if (k == 0) return space->norm > 0.0 ? 1.0 : 0.0;
    pivots(space, s.unit, s.shift, s.shift, space->work);
    solve_first(space, s, space->work, x);
    const double residual = space->beta[k - 1] * s.unit * fabs(x[k - 1]);
    for (int64_t j = 0; j < k; j++) x[j] *= s.shift;
    return residual;
}

void fenp_krylov_lift(const fenp_krylov *space, double factor, const double *x, double *out)
{
    const int m = (int)space->m, k = (int)space->steps;
    if (k == 0) {
        memset(out, 0, (size_t)m * sizeof *out);
        return;
    }
    cblas_dgemv(CblasColMajor, CblasNoTrans, m, k, factor, space->basis, m, x, 1, 0.0, out, 1);
}

/* With g = (T + cI)^-1 e_k, the added row has the Schur complement s = c - node +
 * beta^2 (1/pivot_k(T - node) - 1/pivot_k(T + c)), and adds  (beta x_k)^2 / s  to e1'(.)^-1 e1
 * and  z^2 (1 + beta^2 |g|^2) - 2 z beta x'g,  z = -beta x_k / s,  to e1'(.)^-2 e1. */
void fenp_krylov_bounds(const fenp_krylov *space, double t, double *below, double *above)
{
    const int64_t k = space->steps;
    *below = *above = 0.0;
    if (k == 0) {
        *above = space->norm > 0.0 ? INFINITY : 0.0;
        return;
    }
    const scaled s = scale_of(space, t);
    const double beta = space->beta[k - 1] * s.unit;
    if (beta == 0.0) return;
    const double node = fmin(noise(space) * s.unit, 0.5 * s.shift);
    double *pivot = space->work, *x = pivot + space->most;
    pivots(space, s.unit, node, -INFINITY, pivot);
    for (int64_t j = 0; j < k; j++)
        if (!(pivot[j] > 0.0)) *above = INFINITY;
    const double last = pivot[k - 1];
    pivots(space, s.unit, s.shift, s.shift, pivot);
    solve_first(space, s, pivot, x);
    const double schur = s.shift - node + beta * beta * (1.0 / last - 1.0 / pivot[k - 1]);
    if (*above > 0.0 || !(schur > 0.0)) {
        *above = *below = INFINITY;
        return;
    }
    double g = 1.0 / pivot[k - 1], gg = g * g, xg = x[k - 1] * g;
    for (int64_t j = k - 2; j >= 0; j--) {
        g *= -space->beta[j] * s.unit / pivot[j];
        gg += g * g;
        xg += x[j] * g;
    }
    const double z = -beta * x[k - 1] / schur;
    *above = s.shift * z * z * schur;
    *below = s.shift * s.shift * fmax(z * z * (1.0 + beta * beta * gg) - 2.0 * z * beta * xg, 0.0);
}

/* ---- the curve --------------------------------------------------------------------------- */

fen_status fenp_krylov_curve(fenp_krylov *space, fenp_curve *out, fen_error *err)
{
    const int64_t k = space->steps, most = space->most;
    double *vectors = space->work, *off = vectors + most * most, *work = off + 2 * most;
    memcpy(space->d, space->alpha, (size_t)k * sizeof(double));
    memcpy(off, space->beta, (size_t)k * sizeof(double));
    const fen_status status = fenp_tridiagonal_eigen(k, space->d, off, vectors, work, err);
    if (status != FEN_OK) return status;
    for (int64_t j = 0; j < k; j++) space->top = fmax(space->top, space->d[j]);
    for (int64_t j = 0; j < k; j++) {
        const double along = space->norm * vectors[j * k];
        space->q[j] = along * along;
        if (!(space->d[j] > noise(space))) space->d[j] = 0.0;
    }
    space->measure = (fenp_measure){ .d = space->d, .q = space->q, .count = k };
    *out = fenp_measure_curve(&space->measure, space->m);
    return FEN_OK;
}
