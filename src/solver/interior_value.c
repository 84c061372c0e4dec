/* interior_value.c -- what the points of the interior point method are worth; see interior.h
 *
 *     P = sum_i w_i v_i(f0_i + x_i.beta) + sum_g l_g ||beta_g|| + sum_j d_j/2 beta_j^2
 *     D = - sum_i w_i v_i*(-u_i/w_i) - u.f0 - sum_g max(0, ||x_g'u|| - l_g)^2 / (2 d_g)
 *
 * Method. u is moved into the feasible set: x_j'u = 0 for free columns by the least change
 * measured in what room every u_i has, sum_i delta_i^2/room_i^2, repeated until it is there to
 * rounding; then, where d = 0, all of u shrinks until no ||x_g'u|| exceeds l_g.
 * Special cases. Rows of weight 0 and rows whose u is one number have no room. beta_j >= 0 with
 * l = d = 0 asks for x_j'u <= 0: columns with more are treated as free ones.
 * Zeros. Coefficients that are small beside the largest, by more than the slack of their
 * constraint is below l, belong at 0: they go there if P does not mind, or does not when the
 * others take over what they did.
 * Cost. O(n k), and n f^2 for f free columns. */
#include "solver/interior_parts.h"

#include <math.h>
#include <string.h>
#include "base/linalg.h"

enum { MOVES = 4 };                   /* towards the equalities                        */
static const double ROUNDING = 1e-12; /* of sums, relative to the sum of their sizes   */

/* ---- primal ------------------------------------------------------------------------------ */

static double penalty(const fenp_interior *q, const double *beta)
{
    long double sum = 0.0L;
    for (int64_t g = 0; g < q->groups; g++) {
        const int size = (int)(q->start[g + 1] - q->start[g]);
        sum += q->l[g] * cblas_dnrm2(size, beta + q->start[g], 1);
    }
    for (int64_t j = 0; j < q->k; j++) sum += 0.5 * q->d[j] * beta[j] * beta[j];
    return (double)sum;
}

double fenp_inside_primal(fenp_inside *s, const double *beta)
{
    const fenp_interior *q = s->q;
    long double sum = penalty(q, beta);
    fenp_inside_times(s, beta, s->fit);
    for (int64_t i = 0; i < s->n; i++) {
        const double t = s->fit[i] + (q->f0 ? q->f0[i] : 0.0);
        if (q->w[i] > 0.0) sum += q->w[i] * q->loss->value(q->y[i], t, q->par);
    }
    return (double)sum;
}

/* ---- dual -------------------------------------------------------------------------------- */

/* The ends of u_i; both 0 for rows of weight 0. */
static fen_piece piece_of(const fenp_interior *q, int64_t i)
{
    fen_piece piece = { 0 };
    if (!(q->w[i] > 0.0)) return piece;
    q->loss->piece(q->y[i], q->par, &piece);
    if (q->f0) piece.linear -= q->f0[i];
    piece.low *= q->w[i];
    piece.high *= q->w[i];
    return piece;
}

static double room_of(const fenp_interior *q, int64_t i, double u)
{
    const fen_piece piece = piece_of(q, i);
    const double room = fmin(piece.high - u, u - piece.low);
    return isinf(room) ? q->w[i] : fmax(room, 0.0);
}

/* list and right <- columns with x_j'trial = 0, and those with more than the 0 they may have;
 * returns 1 if all is well but for rounding. */
static int lack(fenp_inside *s)
{
    int well = 1;
    s->listed = 0;
    for (int64_t f = 0; f < s->frees; f++) {
        const double *x = s->design + s->free[f] * s->n;
        long double sum = 0.0L;
        double size = 0.0;
        for (int64_t i = 0; i < s->n; i++) {
            sum += (long double)x[i] * s->trial[i];
            size += fabs(x[i] * s->trial[i]);
        }
        if (f >= s->rank && !(sum > 0.0L)) continue;
        if (!(fabsl(sum) <= ROUNDING * size)) well = 0;
        s->right[s->listed] = -(double)sum;
        s->list[s->listed++] = s->free[f];
    }
    return well;
}

/* trial += part of the change in row, so that no u uses more than nine tenths of its room */
static double take(fenp_inside *s)
{
    double part = 1.0;
    for (int64_t i = 0; i < s->n; i++) {
        const fen_piece piece = piece_of(s->q, i);
        const double u = s->trial[i], change = s->row[i];
        if (change == 0.0) continue;
        part = fmin(part, 0.9 * (change > 0.0 ? piece.high - u : u - piece.low) / fabs(change));
    }
    cblas_daxpy((int)s->n, part, s->row, 1, s->trial, 1);
    return part;
}

/* row <- R^2 X_F (X_F'R^2 X_F)^-1 right, R = room; 0 if it cannot be had */
static int change(fenp_inside *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        const double room = room_of(s->q, i, s->trial[i]);
        s->row[i] = room * room;
    }
    if (fenp_inside_factor(s, s->row, s->list, s->listed, NULL, NULL) != FEN_OK || !s->factored ||
        fenp_cholesky_solve(s->listed, s->gram, s->side, s->right, 1, NULL) != FEN_OK)
        return 0;
    memset(s->fit, 0, (size_t)s->n * sizeof(double));
    for (int64_t f = 0; f < s->listed; f++)
        cblas_daxpy((int)s->n, s->right[f], s->design + s->list[f] * s->n, 1, s->fit, 1);
    for (int64_t i = 0; i < s->n; i++) s->row[i] *= s->fit[i];
    return 1;
}

/* Until x_j'trial = 0; one more move when it is there takes out what rounding left. */
static int balance(fenp_inside *s)
{
    int there = lack(s);
    for (int move = 0, last = 0; s->listed > 0 && move < MOVES && !last; move++) {
        last = there;
        if (!change(s)) return 0;
        take(s);
        there = lack(s);
    }
    return there;
}

/* ||x_g'u||, of columns with beta >= 0 the positive part */
static double slope_of(const fenp_inside *s, int64_t g)
{
    const int64_t at = s->q->start[g];
    if (fenp_inside_has_sign(s, g)) return fmax(s->gradient[at], 0.0);
    return cblas_dnrm2((int)fenp_inside_size(s, g), s->gradient + at, 1);
}

static double conjugate(const fenp_inside *s)
{
    const fenp_interior *q = s->q;
    long double sum = 0.0L;
    for (int64_t g = 0; g < q->groups; g++) {
        const int64_t at = q->start[g];
        if (fenp_inside_size(s, g) == 0 || !(q->d[at] > 0.0)) continue;
        const double over = fmax(slope_of(s, g) - q->l[g], 0.0);
        sum += 0.5 * over * over / q->d[at];
    }
    for (int64_t i = 0; i < s->n; i++) {
        const fen_piece piece = piece_of(q, i);
        const double u = s->trial[i];
        if (u == 0.0) continue;
        sum += u * (0.5 * piece.curvature * u / q->w[i] - piece.linear) + piece.kink * fabs(u);
    }
    return (double)sum;
}

double fenp_inside_dual(fenp_inside *s)
{
    const fenp_interior *q = s->q;
    double part = 1.0;
    if (!balance(s)) return -INFINITY;
    fenp_inside_transposed(s, s->trial, s->gradient);
    for (int64_t g = 0; g < q->groups; g++) {
        if (!(q->l[g] > 0.0) || fenp_inside_size(s, g) == 0 || q->d[q->start[g]] > 0.0) continue;
        part = fmin(part, q->l[g] / fmax(slope_of(s, g), q->l[g]));
    }
    if (part < 1.0) cblas_dscal((int)s->n, part, s->trial, 1);
    if (part < 1.0) cblas_dscal((int)s->k, part, s->gradient, 1);
    return -conjugate(s);
}

double fenp_inside_gap(const fenp_inside *s)
{
    const double gap = fmax(s->best_primal - s->best_dual, 0.0);
    const double unit = fmax(fabs(s->best_primal), 1e-12 * s->null);
    return gap == 0.0 ? 0.0 : isfinite(gap) ? gap / unit : INFINITY;
}

/* ---- zeros ------------------------------------------------------------------------------- */

/* How far below its bound the slope of a group is, 0 to 1, at best_beta and gradient. */
static double slack_of(const fenp_inside *s, int64_t g)
{
    const fenp_interior *q = s->q;
    double sum = 0.0;
    for (int64_t j = q->start[g]; j < q->start[g + 1]; j++) {
        const double slope = s->gradient[j] - q->d[j] * s->best_beta[j];
        if (fenp_inside_has_sign(s, g)) return fmin((q->l[g] - slope) / s->scale[j], 1.0);
        sum += slope * slope;
    }
    return q->l[g] > 0.0 ? 1.0 - sqrt(sum) / q->l[g] : 0.0;
}

/* dbeta <- best_beta without the groups whose size, in units of the largest, is below part of
 * their slack. */
static void without_small(fenp_inside *s, double part)
{
    const fenp_interior *q = s->q;
    double largest = 0.0;
    for (int64_t j = 0; j < s->k; j++)
        largest = fmax(largest, fabs(s->best_beta[j]) * sqrt(s->norm[j]));
    memcpy(s->dbeta, s->best_beta, (size_t)s->k * sizeof(double));
    for (int64_t g = 0; g < q->groups; g++) {
        const double slack = slack_of(s, g);
        double size = 0.0;
        for (int64_t j = q->start[g]; j < q->start[g + 1]; j++)
            size = hypot(size, s->best_beta[j] * sqrt(s->norm[j]));
        if (!(slack > 0.0 && size <= part * slack * largest)) continue;
        for (int64_t j = q->start[g]; j < q->start[g + 1]; j++) s->dbeta[j] = 0.0;
    }
}

/* The columns left take over what dbeta lacks of best_beta, in the weights of the last step: rows
 * that are at a corner stay there. 0 if that cannot be had. */
static int take_over(fenp_inside *s)
{
    for (int64_t j = 0; j < s->k; j++) s->ds[j] = s->best_beta[j] - s->dbeta[j];
    fenp_inside_times(s, s->ds, s->fit);
    fenp_inside_gather(s, s->weight, s->row);
    for (int64_t i = 0; i < s->n; i++) s->fit[i] *= s->row[i];
    fenp_inside_transposed(s, s->fit, s->columns);
    s->listed = 0;
    for (int64_t j = 0; j < s->k; j++)
        if (s->dbeta[j] != 0.0) s->right[s->listed] = s->columns[j], s->list[s->listed++] = j;
    if (fenp_inside_factor(s, s->row, s->list, s->listed, NULL, NULL) != FEN_OK || !s->factored ||
        fenp_cholesky_solve(s->listed, s->gram, s->side, s->right, 1, NULL) != FEN_OK)
        return 0;
    for (int64_t f = 0; f < s->listed; f++) s->dbeta[s->list[f]] += s->right[f];
    for (int64_t g = 0; g < s->q->groups; g++)
        if (fenp_inside_has_sign(s, g) && s->dbeta[s->q->start[g]] < 0.0) return 0;
    return 1;
}

/* Is dbeta as good as it has to be? */
static int offer_zeros(fenp_inside *s, double limit)
{
    const double primal = s->best_primal;
    s->best_primal = fenp_inside_primal(s, s->dbeta);
    if (fenp_inside_gap(s) <= limit) {
        memcpy(s->best_beta, s->dbeta, (size_t)s->k * sizeof(double));
        return 1;
    }
    s->best_primal = primal;
    return 0;
}

void fenp_inside_zeros(fenp_inside *s, double goal)
{
    const double limit = fmax(fenp_inside_gap(s), goal);
    fenp_inside_transposed(s, s->best_u, s->gradient);
    for (double part = 1.0; part > 1e-9; part *= 1e-2) {
        without_small(s, part);
        if (offer_zeros(s, limit) || (take_over(s) && offer_zeros(s, limit))) return;
    }
}
