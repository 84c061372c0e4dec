/* linear_outside.c -- the slopes of the groups outside the pool
 *
 * Screening. From the last products with all columns, at the dual vector ref,
 *     ||x_g'u|| <= |a| ||x_g'ref|| + ||x_g|| ||u - a ref||,   a = u'ref / ref'ref
 * decides most groups without touching them: exactly so, whatever u is. Only those that it leaves
 * open are multiplied; when that has become dear, all are, and u becomes ref.
 * Cost: five numbers per group, and the entries of the open ones. */
#include "solver/linear_parts.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"

/* The norm of the products of one group, which begin at. */
static double norm_of(const fenp_linear_state *s, const double *at, int64_t size)
{
    double sum = 0.0;
    if (size == 1) return s->q.nonnegative ? fmax(at[0], 0.0) : fabs(at[0]);
    for (int64_t k = 0; k < size; k++) sum += at[k] * at[k];
    return sqrt(sum);
}

/* X'u = 2 Z'W(y - X beta) */
static void slopes_by_sums(fenp_linear_state *s)
{
    fenp_pool_deliver(s);
    memcpy(s->product, s->cross, (size_t)s->coefs * sizeof *s->product);
    cblas_dsymv(CblasColMajor, CblasUpper, (int)s->coefs, -1.0, s->sum, (int)s->side, s->beta, 1,
                1.0, s->product, 1);
}

/* All products at u, which becomes ref. */
void fenp_linear_look_at_all(fenp_linear_state *s)
{
    const fenp_groups *g = s->q.groups;
    memcpy(s->ref, s->u, (size_t)s->rows * sizeof *s->ref);
    if (s->sum)
        slopes_by_sums(s);
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
    s->spent = s->looks = 0.0;
}

/* u = a ref + what is left of it, of norm rest */
static double part_of_ref(const fenp_linear_state *s, double *rest)
{
    double cross = 0.0, own = 0.0, square = 0.0;
    for (int64_t i = 0; i < s->rows; i++)
        cross += s->u[i] * s->ref[i], own += s->ref[i] * s->ref[i];
    const double a = own > 0.0 ? cross / own : 0.0;
    for (int64_t i = 0; i < s->rows; i++) {
        const double away = s->u[i] - a * s->ref[i];
        square += away * away;
    }
    *rest = sqrt(square) * (1.0 + 1e-10);
    return fabs(a);
}

/* Bounds by what is known of ref; the groups outside that they leave open at lambda go to open.
 * (Bounds of groups inside are made too, and not looked at.) */
static int64_t bound_all(fenp_linear_state *s, double lambda)
{
    enum { PIECE = 512 }; /* stays in the cache */
    const fenp_groups *g = s->q.groups;
    double rest;
    const double a = part_of_ref(s, &rest), unit = lambda * s->q.mix;
    int64_t count = 0;
    for (int64_t from = 0; from < g->count; from += PIECE) {
        const int64_t to = from + PIECE < g->count ? from + PIECE : g->count;
        double *restrict now = s->now, *restrict likely = s->likely;
        const double *restrict at_ref = s->at_ref, *restrict length = s->length;
        for (int64_t i = from; i < to; i++) {
            likely[i] = a * at_ref[i];
            now[i] = likely[i] + length[i] * rest;
        }
        for (int64_t i = from; i < to; i++)
            if (!(now[i] <= unit * fenp_group_weight(g, i)) && !fenp_pool_has(s, i))
                s->open[count++] = i;
    }
    return count;
}

/* The coefficients of the open groups go to list. Returns how many; *cost: entries. */
static int64_t list_open(fenp_linear_state *s, int64_t open, double *cost)
{
    const fenp_groups *g = s->q.groups;
    const fenp_design *x = s->q.x;
    int64_t count = 0, entries = 0;
    for (int64_t i = 0; i < open; i++)
        for (int64_t k = 0; k < fenp_group_size(g, s->open[i]); k++) {
            const int64_t j = fenp_group_member(g, s->open[i], k);
            s->list[count++] = j;
            entries += x->start ? x->start[j % x->p + 1] - x->start[j % x->p] : x->n;
        }
    *cost = (double)entries;
    return count;
}

/* Products of the open groups cost ever more, the farther u is from ref. All of them are made
 * where the next would cost more than the looks since ref have on average, with ref's own. */
static int is_due(const fenp_linear_state *s, double cost)
{
    const fenp_design *x = s->q.x;
    const double all = (double)x->copies * (double)(x->start ? x->start[x->p] : x->n * x->p);
    return cost * (s->looks + 1.0) > all + s->spent;
}

static void add_excess(const fenp_linear_state *s, int64_t i, double lambda,
                       fenp_linear_outside *out)
{
    const double a = lambda * fenp_group_weight(s->q.groups, i), price = a * s->q.mix;
    const double over = s->now[i] - price, slope = s->now[i] - s->fuzz * s->length[i];
    if (s->q.mix > 0.0 && slope > out->ratio * price) out->ratio = slope / price;
    if (s->q.mix < 1.0 && over > 0.0) out->excess += over * over / (2.0 * (a - price));
}

/* Groups that are not open are below their price: nothing of them counts. */
fenp_linear_outside fenp_linear_look(fenp_linear_state *s, double lambda)
{
    const fenp_groups *g = s->q.groups;
    fenp_linear_outside out = { 0.0, 0.0 };
    double cost;
    int64_t open = bound_all(s, lambda), count = list_open(s, open, &cost);
    if (is_due(s, cost)) {
        fenp_linear_look_at_all(s);
    } else {
        s->spent += cost, s->looks += 1.0;
        fenp_design_products(s->q.x, s->u, s->list, count, s->product);
        for (int64_t i = 0, at = 0; i < open; at += fenp_group_size(g, s->open[i++]))
            s->now[s->open[i]] = s->likely[s->open[i]] =
                norm_of(s, s->product + at, fenp_group_size(g, s->open[i]));
    }
    fenp_linear_measure(s);
    for (int64_t i = 0; i < open; i++) add_excess(s, s->open[i], lambda, &out);
    return out;
}
