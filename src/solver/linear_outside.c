/* linear_outside.c -- the slopes of the groups outside the pool
 *
 * Screening. From the last products with all columns, at the dual vector ref,
 *     ||x_g'u|| <= |a| ||x_g'ref|| + ||x_g|| ||u - a ref||,   a = u'ref / ref'ref
 * decides most groups without touching them: exactly so, whatever u is. Only the undecided are
 * multiplied; when they are more than a third, all are, and u becomes ref. */
#include "solver/linear_parts.h"

#include <math.h>
#include <string.h>

/* The norm of the products of one group, which begin at. */
static double norm_of(const fenp_linear_state *s, const double *at, int64_t size)
{
    double sum = 0.0;
    if (size == 1) return s->q.nonnegative ? fmax(at[0], 0.0) : fabs(at[0]);
    for (int64_t k = 0; k < size; k++) sum += at[k] * at[k];
    return sqrt(sum);
}

/* All products at u, which becomes ref. */
void fenp_linear_look_at_all(fenp_linear_state *s)
{
    const fenp_groups *g = s->q.groups;
    memcpy(s->ref, s->u, (size_t)s->rows * sizeof *s->ref);
    if (s->cross) /* the model without columns: u = 2 w (y - b) */
        for (int64_t j = 0; j < s->coefs; j++)
            s->product[j] = s->cross[j] - 2.0 * s->b[0] * s->weight_sum * s->middle[j];
    else
        fenp_design_products(s->q.x, s->u, NULL, s->coefs, s->product);
    for (int64_t i = 0; i < g->count; i++) {
        const int64_t size = fenp_group_size(g, i);
        double sum = 0.0;
        if (size == 1) {
            const double at = s->product[fenp_group_member(g, i, 0)];
            s->at_ref[i] = fabs(at), s->now[i] = s->q.nonnegative ? fmax(at, 0.0) : fabs(at);
            continue;
        }
        for (int64_t k = 0; k < size; k++) {
            const double at = s->product[fenp_group_member(g, i, k)];
            sum += at * at;
        }
        s->now[i] = s->at_ref[i] = sqrt(sum);
    }
    memcpy(s->likely, s->now, (size_t)g->count * sizeof *s->now);
}

/* Bounds by what is known of ref; the groups outside that they leave open at lambda go to list,
 * coefficient by coefficient. Returns how many coefficients, or -1: too many. */
static int64_t bound_all(fenp_linear_state *s, double lambda)
{
    const fenp_groups *g = s->q.groups;
    double cross = 0.0, own = 0.0, rest = 0.0;
    int64_t count = 0;
    for (int64_t i = 0; i < s->rows; i++)
        cross += s->u[i] * s->ref[i], own += s->ref[i] * s->ref[i];
    const double a = own > 0.0 ? cross / own : 0.0;
    for (int64_t i = 0; i < s->rows; i++) {
        const double away = s->u[i] - a * s->ref[i];
        rest += away * away;
    }
    rest = sqrt(rest) * (1.0 + 1e-10);
    for (int64_t i = 0; i < g->count; i++) {
        if (fenp_pool_has(s, i)) continue;
        s->likely[i] = fabs(a) * s->at_ref[i];
        s->now[i] = s->likely[i] + s->length[i] * rest;
        if (s->now[i] <= lambda * fenp_group_weight(g, i) * s->q.mix) continue;
        for (int64_t k = 0; k < fenp_group_size(g, i); k++)
            s->list[count++] = fenp_group_member(g, i, k);
    }
    return count > s->coefs / 3 ? -1 : count;
}

/* now of every group outside: exact where it matters at lambda. */
static void look_outside(fenp_linear_state *s, double lambda)
{
    const fenp_groups *g = s->q.groups;
    const int64_t count = bound_all(s, lambda);
    if (count < 0) {
        fenp_linear_look_at_all(s);
        return;
    }
    fenp_design_products(s->q.x, s->u, s->list, count, s->product);
    for (int64_t i = 0, at = 0; at < count; i++) {
        if (fenp_pool_has(s, i) || s->list[at] != fenp_group_member(g, i, 0)) continue;
        s->now[i] = s->likely[i] = norm_of(s, s->product + at, fenp_group_size(g, i));
        at += fenp_group_size(g, i);
    }
}

fenp_linear_outside fenp_linear_look(fenp_linear_state *s, double lambda)
{
    const fenp_groups *g = s->q.groups;
    fenp_linear_outside out = { 0.0, 0.0 };
    look_outside(s, lambda);
    fenp_linear_measure(s);
    for (int64_t i = 0; i < g->count; i++) {
        const double a = lambda * fenp_group_weight(g, i);
        if (a == 0.0 || fenp_pool_has(s, i)) continue;
        const double over = s->now[i] - a * s->q.mix;
        const double slope = s->now[i] - s->fuzz * s->length[i];
        if (s->q.mix > 0.0) out.ratio = fmax(out.ratio, slope / (a * s->q.mix));
        if (s->q.mix < 1.0 && over > 0.0) out.excess += over * over / (2.0 * a * (1.0 - s->q.mix));
    }
    return out;
}
