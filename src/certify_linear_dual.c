/* certify_linear_dual.c -- a dual vector of a model with a penalty on coefficients, made feasible
 *
 * u becomes orthogonal to the columns without a penalty, and to ones with a bias
 * (certify_project.c). beta >= 0: of columns without a penalty that have beta_j = 0 only x_j'u <= 0
 * is asked, so those that are above it join the constraints, round by round. Refined: x_j'u of
 * the coefficients that are not 0 are wishes beside the constraints.
 * Special cases: where the rounds end before u is feasible, u = 0 is meant.
 * Accuracy: u is long double; what is let pass in x_j'u is fenp_claim_rounding, and remainder has
 *   what the coefficients make of it.
 * Cost: products with X' and QR of the columns listed, in each round. */
#include <math.h>

#include "certify_linear.h"

enum { ROUNDS = 10 }; /* columns that want x_j'u <= 0 are added to the constraints */

/* Coefficients without a penalty in copy k; where beta >= 0 those that are above 0. The bias
 * is column p. */
static int64_t list_columns(const fenp_joint *c, int64_t k)
{
    const fenp_groups *groups = &c->m->groups;
    int64_t count = 0;
    for (int64_t g = 0; g < groups->count; g++) {
        if (fenp_joint_weight(c->m, g) != 0.0) continue;
        for (int64_t i = 0; i < fenp_group_size(groups, g); i++) {
            const int64_t j = fenp_group_member(groups, g, i) - k * c->p;
            if (j < 0 || j >= c->p) continue;
            if (!c->m->nonnegative || c->beta[k * c->p + j] > 0.0) c->columns[count++] = j;
        }
    }
    if (c->m->bias) c->columns[count++] = c->p;
    return count;
}

fen_status fenp_joint_rounding(const fenp_joint *c, int64_t k, int64_t j, double *out,
                               fen_error *err)
{
    const fen_status status = fenp_matrix_column(&c->x, j, c->column, err);
    *out = status == FEN_OK ? fenp_claim_rounding(c->u + k * c->n, c->column, c->n) : 0.0;
    return status;
}

/* beta >= 0 without a penalty: columns of copy k that want x_j'u <= 0 and have more join the
 * list; count grows by them. They have beta_j = 0. */
static fen_status add_columns(fenp_joint *c, int64_t k, int64_t *count, fen_error *err)
{
    const fenp_groups *groups = &c->m->groups;
    const double *g = c->g + k * c->p;
    fen_status status = FEN_OK;
    for (int64_t at = 0; status == FEN_OK && at < groups->count; at++) {
        if (fenp_joint_weight(c->m, at) != 0.0) continue;
        for (int64_t a = 0; status == FEN_OK && a < fenp_group_size(groups, at); a++) {
            const int64_t j = fenp_group_member(groups, at, a) - k * c->p;
            int above = j >= 0 && j < c->p && g[j] > 0.0 && c->beta[k * c->p + j] == 0.0;
            for (int64_t i = 0; above && i < *count; i++) above = c->columns[i] != j;
            double rounding = 0.0;
            if (above) status = fenp_joint_rounding(c, k, j, &rounding, err);
            if (above && g[j] > rounding) c->columns[(*count)++] = j;
        }
    }
    return status;
}

/* What the penalty makes of x_j'u, beta_j not 0 in a group with a penalty; else 0. */
static double slope_of(const fenp_joint *c, int64_t g, int64_t j)
{
    const fen_model *m = c->m;
    const double weight = fenp_joint_weight(m, g), beta = c->beta[j];
    if (weight == 0.0 || beta == 0.0) return 0.0;
    return m->lambda * weight *
           (m->mix * (beta / fenp_joint_norm(&m->groups, g, c->beta, 0)) + (1.0 - m->mix) * beta);
}

/* Those of copy k are wishes: columns from count on. Returns how many there are then. */
static int64_t add_wishes(fenp_joint *c, int64_t k, int64_t count)
{
    const fenp_groups *groups = &c->m->groups;
    for (int64_t j = 0; j < count; j++) c->wanted[j] = 0.0;
    for (int64_t g = 0; c->refined && g < groups->count; g++)
        for (int64_t i = 0; i < fenp_group_size(groups, g); i++) {
            const int64_t at = fenp_group_member(groups, g, i), j = at - k * c->p;
            const double slope = j >= 0 && j < c->p ? slope_of(c, g, at) : 0.0;
            if (slope != 0.0) c->columns[count] = j, c->wanted[count++] = slope;
        }
    return count;
}

/* u and g = X'u of copy k. */
static fen_status make_feasible(fenp_joint *c, int64_t k, fen_error *err)
{
    long double *u = c->u + k * c->n;
    double *g = c->g + k * c->p;
    const double *beta = c->beta + k * c->p;
    int64_t count = list_columns(c, k), before = -1;
    int within = 0;
    fen_status status = FEN_OK;
    for (int64_t i = 0; i < c->n; i++) u[i] = c->dual[k * c->n + i];
    for (int round = 0; status == FEN_OK && round < ROUNDS && before < count; round++) {
        const fenp_columns to = { c->columns, add_wishes(c, k, count), count,
                                  c->refined ? c->wanted : NULL, c->polish && !c->refined };
        before = count;
        status = fenp_claim_project(&c->one[k], &c->x, &to, u, c->left, &within, err);
        if (status == FEN_OK) status = fenp_matrix_products(&c->x, u, g, err);
        if (status == FEN_OK && c->m->nonnegative) status = add_columns(c, k, &count, err);
    }
    c->feasible &= within && before == count;
    for (int64_t j = 0; j < count && c->feasible; j++)
        c->remainder +=
            c->left[j] *
            fabs(c->columns[j] < c->p ? beta[c->columns[j]] : c->one[k].offset - c->one[k].shift);
    return status;
}

/* z = u / w, once more inside its box: the division may have left it. */
static void find_slopes(fenp_joint *c)
{
    for (int64_t k = 0; k < c->copies; k++)
        for (int64_t i = 0; i < c->n; i++) {
            double low, high, *z = &c->z[k * c->n + i];
            const double w = c->w[k * c->n + i];
            fenp_claim_box(&c->one[k], i, &low, &high);
            *z = w > 0.0 ? fmin(fmax((double)(c->u[k * c->n + i] / w), low), high) : 0.0;
        }
}

fen_status fenp_joint_feasible(fenp_joint *c, int refined, fen_error *err)
{
    fen_status status = FEN_OK;
    c->feasible = 1, c->remainder = 0.0, c->refined = refined;
    for (int64_t k = 0; status == FEN_OK && k < c->copies; k++) status = make_feasible(c, k, err);
    if (status == FEN_OK) find_slopes(c);
    return status;
}

/* A QR factorisation of the columns without a penalty is not dear. */
int fenp_joint_can_project(fenp_joint *c)
{
    double flops = 0.0;
    for (int64_t k = 0; k < c->copies; k++) {
        const double count = (double)list_columns(c, k), n = (double)c->n;
        flops += count * n * fmin(count, n);
    }
    return flops <= 1e9;
}

/* A QR factorisation of the columns with coefficients: none too many and not dear. */
int fenp_joint_can_refine(fenp_joint *c)
{
    c->refined = 1;
    for (int64_t k = 0; k < c->copies; k++) {
        const double count = (double)add_wishes(c, k, list_columns(c, k)), n = (double)c->n;
        if (count > n + 1.0 || count * count * n > 1e9) return 0;
    }
    return c->feasible;
}
