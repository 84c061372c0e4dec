/* interior_edge.c -- where to go from a vertex, and how far; see interior_walk.c
 *
 * Method. Of the corners whose u is outside its domain and the columns whose slope is beyond their
 * price the one with the largest share of the length of its edge: squares of lengths are estimated,
 * and follow the steps (Forrest and Goldfarb's devex rule): with r for what ended an edge, q for
 * any other edge and shares of r in both,
 *
 *     length_q^2 <- max(length_q^2, (share_q / share)^2 length^2)
 *
 * In problems with many columns that takes a third to two thirds of the steps that the largest
 * violation would. Along the edge
 *
 *     P(s) = P(0) + slope s + sum over events before s of bend (s - time),   slope < 0
 *
 * an event being a residual or a coefficient at 0. They wait in a heap, so that none but those
 * passed are put in order.
 * Accuracy. Rates of residuals that are rounding, 1e-9 of what they are the sum of, are none: as
 * pivots they would spoil the inverse.
 * Cost. 2 n m + 2 k m flops for rates and shares, O(n + k) for events, log n and 2 k for every one
 * passed. */
#include "solver/interior_walk.h"

#include <math.h>
#include <string.h>
#include "base/linalg.h"

static const double OUTSIDE = 1e-9; /* of a domain: what u may be beyond its end */
static const double NOISE = 1e-9;   /* of a sum: rates that are rounding         */

/* ---- which one --------------------------------------------------------------------------- */

static double reach_of(const fenp_walk *p, int64_t t) { return p->s->high[t] - p->s->low[t]; }

fenp_edge fenp_edge_find(const fenp_walk *p)
{
    const fenp_inside *s = p->s;
    fenp_edge best = { -1, -1, 0.0, 0.0 };
    double most = 0.0;
    for (int64_t e = 0; e < p->v.m; e++) {
        const int64_t t = p->v.corner[e];
        const double above = s->u[t] - s->high[t], below = s->low[t] - s->u[t];
        const double over = fenp_larger(above, below);
        if (!(over > OUTSIDE * reach_of(p, t)) || !(over * over > most * p->corner_weight[t]))
            continue;
        most = over * over / p->corner_weight[t];
        best = (fenp_edge){ e, -1, above > below ? 1.0 : -1.0, -over };
    }
    for (int64_t j = 0; j < p->v.k; j++) {
        const double above = p->slope[j] - p->up[j], below = -p->down[j] - p->slope[j];
        const double over = fenp_larger(above, below);
        if (!(over > OUTSIDE * p->unit[j]) || !(over * over > most * p->column_weight[j]) ||
            p->v.at_column[j] >= 0)
            continue;
        most = over * over / p->column_weight[j];
        best = (fenp_edge){ -1, j, above > below ? 1.0 : -1.0, -over };
    }
    return best;
}

void fenp_edge_start(fenp_walk *p)
{
    for (int64_t t = 0; t < p->v.terms; t++) p->corner_weight[t] = reach_of(p, t) * reach_of(p, t);
    for (int64_t j = 0; j < p->v.k; j++) p->column_weight[j] = p->unit[j] * p->unit[j];
}

/* inner and share <- how fast what ended the edge comes to 0 along the edges of all corners, of all
 * columns; returns that of the edge itself. */
static double set_shares(fenp_walk *p, int64_t stop)
{
    const fenp_vertex *v = &p->v;
    const int is_term = stop < v->terms;
    const int64_t place = stop - v->terms, i = fenp_vertex_row(v, stop);
    if (is_term) {
        fenp_vertex_express_row(v, stop, p->inner);
        cblas_dcopy((int)v->k, v->x + i, (int)v->n, p->share, 1);
    } else {
        cblas_dcopy((int)v->m, v->inverse + place, (int)v->room, p->inner, 1);
        memset(p->share, 0, (size_t)v->k * sizeof(double));
    }
    if (v->m > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)v->k, (int)v->m, -1.0, v->rows, (int)v->k,
                    p->inner, 1, 1.0, p->share, 1);
    return is_term ? p->rate[i] : p->d[place];
}

void fenp_edge_weigh(fenp_walk *p, const fenp_edge *to, int64_t stop)
{
    const fenp_vertex *v = &p->v;
    const double pivot = set_shares(p, stop);
    const double own =
        to->leaves >= 0 ? p->corner_weight[v->corner[to->leaves]] : p->column_weight[to->enters];
    const double next = own / (pivot * pivot);
    for (int64_t e = 0; e < v->m; e++) {
        double *weight = &p->corner_weight[v->corner[e]];
        *weight = fenp_larger(*weight, next * p->inner[e] * p->inner[e]);
    }
    for (int64_t j = 0; j < v->k; j++)
        p->column_weight[j] = fenp_larger(p->column_weight[j], next * p->share[j] * p->share[j]);
    if (stop < v->terms) {
        p->corner_weight[stop] = fenp_larger(next, reach_of(p, stop) * reach_of(p, stop));
    } else {
        const int64_t j = v->column[stop - v->terms];
        p->column_weight[j] = fenp_larger(next, p->unit[j] * p->unit[j]);
    }
}

/* ---- how far ----------------------------------------------------------------------------- */

double fenp_walk_size(fenp_walk *p, int64_t j)
{
    const double *x = p->v.x + j * p->v.n;
    if (p->size[j] == 0.0) p->size[j] = fabs(x[cblas_idamax((int)p->v.n, x, 1)]);
    return p->size[j];
}

/* d and rate of an edge. Returns a rate that may be rounding alone. */
static double aim(fenp_walk *p, const fenp_edge *to)
{
    const fenp_vertex *v = &p->v;
    double sum = 0.0;
    if (to->leaves >= 0)
        for (int64_t c = 0; c < v->m; c++)
            p->d[c] = -to->side * v->inverse[c + to->leaves * v->room];
    else
        fenp_vertex_express(v, to->enters, p->d);
    for (int64_t c = 0; to->enters >= 0 && c < v->m; c++) p->d[c] *= -to->side;
    fenp_vertex_times(v, p->d, p->rate);
    if (to->enters >= 0) cblas_daxpy((int)v->n, to->side, v->x + to->enters * v->n, 1, p->rate, 1);
    for (int64_t c = 0; c < v->m; c++) sum += fabs(p->d[c]) * fenp_walk_size(p, v->column[c]);
    return NOISE * (to->enters >= 0 ? sum + fenp_walk_size(p, to->enters) : sum);
}

/* time and who <- residuals and coefficients that come to 0 */
static int64_t list_events(fenp_walk *p, double noise)
{
    const fenp_inside *s = p->s;
    const fenp_vertex *v = &p->v;
    int64_t count = 0;
    for (int64_t t = 0; t < v->terms; t++) {
        const double rate = p->rate[fenp_vertex_row(v, t)];
        const int falls = s->u[t] == s->high[t] ? rate > noise : rate < -noise;
        if (!falls || !fenp_walk_is_live(p, t) || v->at_corner[t] >= 0) continue;
        p->who[count] = t;
        p->time[count++] = fenp_larger(p->r[t] / rate, 0.0);
    }
    for (int64_t c = 0; c < v->m; c++) {
        const int64_t j = v->column[c];
        if (!(p->d[c] * p->sign[j] < 0.0) || !(p->up[j] + p->down[j] > 0.0)) continue;
        p->who[count] = v->terms + c;
        p->time[count++] = fenp_larger(-s->beta[j] / p->d[c], 0.0);
    }
    return count;
}

/* The least time first. */
static void sift(const double *time, int64_t *heap, int64_t count, int64_t at)
{
    const int64_t held = heap[at];
    for (int64_t below; (below = 2 * at + 1) < count; at = below) {
        if (below + 1 < count && time[heap[below + 1]] < time[heap[below]]) below++;
        if (!(time[heap[below]] < time[held])) break;
        heap[at] = heap[below];
    }
    heap[at] = held;
}

/* How much less steep an edge is after an event. */
static double bend(const fenp_walk *p, int64_t who)
{
    const fenp_inside *s = p->s;
    if (who < p->v.terms)
        return fabs(p->rate[fenp_vertex_row(&p->v, who)]) * (s->high[who] - s->low[who]);
    const int64_t c = who - p->v.terms, j = p->v.column[c];
    return fabs(p->d[c]) * (p->up[j] + p->down[j]);
}

/* outer += change of a term's u times its row */
void fenp_walk_add_outer(fenp_walk *p, int64_t t, double change)
{
    const fenp_vertex *v = &p->v;
    cblas_daxpy((int)v->k, change, v->x + fenp_vertex_row(v, t), (int)v->n, p->outer, 1);
}

/* A term changes to the other end, or a coefficient its sign. */
static void pass_by(fenp_walk *p, int64_t who)
{
    const fenp_inside *s = p->s;
    if (who >= p->v.terms) {
        const int64_t j = p->v.column[who - p->v.terms];
        p->sign[j] = -p->sign[j];
        return;
    }
    const double u = s->u[who];
    s->u[who] = u == s->high[who] ? s->low[who] : s->high[who];
    fenp_walk_add_outer(p, who, s->u[who] - u);
}

int64_t fenp_edge_follow(fenp_walk *p, const fenp_edge *to, double *length)
{
    int64_t count = list_events(p, aim(p, to));
    double slope = to->slope;
    for (int64_t i = 0; i < count; i++) p->heap[i] = i;
    for (int64_t i = count / 2 - 1; i >= 0; i--) sift(p->time, p->heap, count, i);
    while (count > 0) {
        const int64_t first = p->heap[0];
        slope += bend(p, p->who[first]);
        *length = p->time[first];
        if (slope >= 0.0) return p->who[first];
        pass_by(p, p->who[first]);
        p->work += 2.0 * (double)p->v.k;
        p->heap[0] = p->heap[--count];
        if (count > 0) sift(p->time, p->heap, count, 0);
    }
    return -1;
}
