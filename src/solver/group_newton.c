/* group_newton.c -- see group_newton.h
 *
 * Method. With A the coefficients of the groups that are not 0 or are free,
 *
 *     (H_AA + diag_g l (I / r - b b' / r^3)) s = -(g + l b / r),    r = |b_g|
 *
 * by Cholesky. Groups that s would turn round are set to 0 instead; if the objective does not
 * fall thereby the minimum along s itself is taken, where a group that is met at 0 stays there.
 * Special cases. A ridge of 1e-13 of the diagonal keeps a singular matrix factorable. Along
 * directions that no curvature bends (more groups of one than rows, say) the step is long and
 * ends where the first group becomes 0: that is what is wanted. Where it has to be cut without
 * that (twins among the groups: curvature bends only what they do not share) the next ridge is
 * as much larger; whole steps make it smaller again.
 * Accuracy. Changes of the objective are computed from the slopes, never as differences of large
 * numbers: they are right to a few digits however small they are.
 * Cost. |A|^3 / 3 flops and 2 k |A| for the product. */
#include "solver/group_newton.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"

enum { HALVINGS = 120 };              /* of the interval of a line search */
static const double vanished = 1e-10; /* of its norm: a group so short after a step is 0 */
static const double least_ridge = 1e-13, most_ridge = 1.0, /* of the diagonal */
    ease = 0.05;                                           /* after a whole step */

double fenp_group_norm(int64_t m, const double *x)
{
    double sum = 0.0;
    for (int64_t i = 0; i < m; i++) sum += x[i] * x[i];
    if (sum > 1e-200 && sum < 1e200) return sqrt(sum);
    return cblas_dnrm2((int)m, x, 1);
}

void fenp_group_add(const fenp_group_qp *q, int64_t g, const double *x, double *out)
{
    const double *columns = q->h + q->start[g] * q->ld;
    const int64_t m = fenp_group_members(q, g);
    if (m == 1)
        cblas_daxpy((int)q->k, *x, columns, 1, out, 1);
    else
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)q->k, (int)m, 1.0, columns, (int)q->ld, x, 1,
                    1.0, out, 1);
}

static double inner(int64_t m, const double *x, const double *y)
{
    double sum = 0.0;
    for (int64_t i = 0; i < m; i++) sum += x[i] * y[i];
    return sum;
}

/* ---- the step ---------------------------------------------------------------------------- */

/* Who takes part, and the slopes there. */
static void gather(fenp_group_newton *w)
{
    const fenp_group_qp *q = w->q;
    w->groups = w->a = 0;
    for (int64_t g = 0; g < q->groups; g++) {
        const double r = fenp_group_norm(fenp_group_members(q, g), q->b + q->start[g]), l = q->l[g];
        if (r == 0.0 && l > 0.0) continue;
        w->active[w->groups++] = g;
        for (int64_t i = q->start[g]; i < q->start[g + 1]; i++) {
            w->slope[i] = q->g[i] + (l > 0.0 ? l * (q->b[i] / r) : 0.0);
            w->who[w->a++] = i;
        }
    }
}

/* The curvature of l |b_g| on the diagonal block of the group, whose first row is at. */
static void add_curvature(fenp_group_newton *w, int64_t g, int64_t at)
{
    const fenp_group_qp *q = w->q;
    const int64_t m = fenp_group_members(q, g);
    const double *b = q->b + q->start[g], r = fenp_group_norm(m, b), l = q->l[g] / r;
    for (int64_t c = 0; c < m; c++) {
        double *column = w->factor + at + (at + c) * w->a;
        for (int64_t i = c; i < m; i++) column[i] -= l * (b[i] / r) * (b[c] / r);
        column[c] += l;
    }
}

/* Lower triangle of the Newton matrix. */
static void assemble(fenp_group_newton *w, double ridge)
{
    const fenp_group_qp *q = w->q;
    double *f = w->factor, most = 0.0;
    for (int64_t c = 0; c < w->a; c++) {
        const double *column = q->h + w->who[c] * q->ld;
        for (int64_t r = c; r < w->a; r++) f[r + c * w->a] = column[w->who[r]];
    }
    for (int64_t k = 0, at = 0; k < w->groups; k++) {
        const int64_t g = w->active[k], m = fenp_group_members(q, g);
        if (q->l[g] > 0.0 && m > 1) add_curvature(w, g, at);
        at += m;
    }
    for (int64_t c = 0; c < w->a; c++) most = fmax(most, f[c * (w->a + 1)]);
    for (int64_t c = 0; c < w->a; c++) {
        double *one = f + c * (w->a + 1);
        *one += ridge * (*one > 0.0 ? *one : most > 0.0 ? most : 1.0);
    }
}

static void unpack(fenp_group_newton *w)
{
    for (int64_t r = 0; r < w->a; r++) w->step[w->who[r]] = w->packed[r];
}

/* step = Newton's; *found is 0 if no ridge makes the matrix definite. */
static fen_status aim(fenp_group_newton *w, int *found, fen_error *err)
{
    fen_status status = FEN_OK;
    int64_t rank = 0;
    while (rank < w->a && w->ridge <= most_ridge && status == FEN_OK) {
        assemble(w, w->ridge);
        status = fenp_cholesky(w->a, w->factor, w->a, &rank, NULL, err);
        if (rank < w->a) w->ridge *= 1e3;
    }
    *found = status == FEN_OK && rank == w->a;
    if (!*found) return status;
    for (int64_t r = 0; r < w->a; r++) w->packed[r] = -w->slope[w->who[r]];
    status = fenp_cholesky_solve(w->a, w->factor, w->a, w->packed, 1, err);
    unpack(w);
    return status;
}

/* ---- how far ----------------------------------------------------------------------------- */

static void multiply(fenp_group_newton *w)
{
    const fenp_group_qp *q = w->q;
    memset(w->product, 0, (size_t)q->k * sizeof(double));
    for (int64_t k = 0; k < w->groups; k++)
        fenp_group_add(q, w->active[k], w->step + q->start[w->active[k]], w->product);
}

/* Of l |b_g + t s_g| beyond its tangent at 0: the slope is returned, *value is added to. */
static double bend(const fenp_group_newton *w, int64_t g, double t, double *value)
{
    const fenp_group_qp *q = w->q;
    const int64_t from = q->start[g], m = fenp_group_members(q, g);
    const double *b = q->b + from, *s = w->step + from;
    double there = 0.0, ahead = 0.0;
    const double r = fenp_group_norm(m, b), forward = inner(m, b, s) / r, square = inner(m, s, s);
    for (int64_t i = 0; i < m; i++) {
        const double x = b[i] + t * s[i];
        there += x * x;
        ahead += x * s[i];
    }
    there = sqrt(there);
    const double both = there + r;
    *value += q->l[g] * t * t * (square - forward * (2.0 * r * forward + t * square) / both) / both;
    return q->l[g] * ((there > 0.0 ? ahead / there : sqrt(square)) - forward);
}

/* Slope of the objective at b + t step, and what it has changed by. */
static double along(const fenp_group_newton *w, double t, double *change)
{
    const fenp_group_qp *q = w->q;
    double first = 0.0, second = 0.0, value = 0.0, turn = 0.0;
    for (int64_t k = 0; k < w->groups; k++) {
        const int64_t g = w->active[k], from = q->start[g], m = fenp_group_members(q, g);
        first += inner(m, w->slope + from, w->step + from);
        second += inner(m, w->step + from, w->product + from);
        if (q->l[g] > 0.0) turn += bend(w, g, t, &value);
    }
    *change = t * first + 0.5 * t * t * second + value;
    return first + t * second + turn;
}

/* Groups that step turns round are to become 0; how many. */
static int64_t stop_at_zero(fenp_group_newton *w)
{
    const fenp_group_qp *q = w->q;
    int64_t stopped = 0;
    for (int64_t k = 0; k < w->groups; k++) {
        const int64_t g = w->active[k], from = q->start[g], m = fenp_group_members(q, g);
        const double *b = q->b + from;
        double *s = w->step + from;
        if (q->l[g] == 0.0 || inner(m, b, b) + inner(m, b, s) > 0.0) continue;
        for (int64_t i = 0; i < m; i++) s[i] = -b[i];
        stopped++;
    }
    return stopped;
}

/* 1 if that is far enough down, else to the minimum along step. */
static double length_of(const fenp_group_newton *w)
{
    double change, none, low = 0.0, high = 1.0;
    const double end = along(w, 1.0, &change);
    if (!(end > 0.0) || change < 0.1 * along(w, 0.0, &none)) return 1.0;
    for (int halving = 0; halving < HALVINGS; halving++) {
        const double middle = 0.5 * (low + high);
        if (!(low < middle && middle < high)) break;
        *(along(w, middle, &change) > 0.0 ? &high : &low) = middle;
    }
    return low;
}

/* b += length step; how many groups are 0 now. */
static int64_t walk(fenp_group_newton *w, double length)
{
    const fenp_group_qp *q = w->q;
    int64_t gone = 0;
    for (int64_t k = 0; k < w->groups; k++) {
        const int64_t g = w->active[k], m = fenp_group_members(q, g);
        double *b = q->b + q->start[g], *s = w->step + q->start[g];
        const double before = fenp_group_norm(m, b);
        for (int64_t i = 0; i < m; i++) b[i] += length * s[i];
        if (q->l[g] == 0.0 || fenp_group_norm(m, b) > vanished * before) continue;
        memset(b, 0, (size_t)m * sizeof *b);
        gone++;
    }
    return gone;
}

fen_status fenp_group_newton_step(fenp_group_newton *w, int *cut, fen_error *err)
{
    int found = 0;
    double change, length = 1.0;
    *cut = 0;
    w->ridge = fmin(fmax(w->ridge, least_ridge), most_ridge);
    gather(w);
    const fen_status status = w->a > 0 ? aim(w, &found, err) : FEN_OK;
    if (!found) return status;
    const int64_t stopped = stop_at_zero(w);
    multiply(w);
    along(w, 1.0, &change);
    if (stopped > 0 && !(change < 0.0)) { /* the straight way, then */
        unpack(w);
        multiply(w);
    }
    if (stopped == 0 || !(change < 0.0)) length = length_of(w);
    *cut = walk(w, length) > 0 && length < 1.0;
    if (length == 1.0)
        w->ridge *= ease;
    else if (!*cut)
        w->ridge /= fmax(length, ease * ease);
    return status;
}
