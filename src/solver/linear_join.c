/* linear_join.c -- who joins the pool, and who has to go
 *
 * Before a lambda is solved: whose slope, as far as it is known, comes near to it. Afterwards: who
 * is too steep, the steepest first, as many as are in already. Where a Gram matrix of all of them
 * would be too large, features without a coefficient leave, or coordinate descent takes over. */
#include "solver/linear_parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"

enum { LEAST_BATCH = 32 };
enum { TALL = 4 };                /* rows for a column */
enum { ENOUGH_COPIES = 1 << 26 }; /* entries of copied columns */
enum { GRAM_MOST_THIN = 300 };    /* coefficients */

/* ---- the steepest -------------------------------------------------------------------------------- */

typedef struct steep {
    double ratio;
    int64_t group;
} steep;

static int by_ratio(const void *a, const void *b)
{
    const steep *p = a, *q = b;
    return p->ratio != q->ratio ? (p->ratio < q->ratio) - (p->ratio > q->ratio)
                                : (p->group > q->group) - (p->group < q->group);
}

/* Features whose Gram matrix and factor (and matrix of changes), and two copies of whose columns,
 * fit the room: 24 k^2 + 16 n k bytes. */
static int64_t room_for(const fenp_linear *q)
{
    const double n = (double)q->x->n, k = (sqrt(n * n + 0.375 * (double)q->room) - n) / 3.0;
    return q->room == 0 || k > FENP_GRAM_MOST ? FENP_GRAM_MOST
           : k < LEAST_BATCH                  ? LEAST_BATCH
                                              : (int64_t)k;
}

/* How large a working set may have a Gram matrix: passes over columns with few entries cost less
 * than the factor of a large support, and Newton's method copies sparse columns. */
static int64_t gram_most(const fenp_linear_state *s)
{
    const fenp_design *x = s->q.x;
    const int thin = !x->dense && x->start[x->p] < x->n * x->p / 20;
    const int64_t copies = ENOUGH_COPIES / (x->n > 0 ? x->n : 1), fit = room_for(&s->q);
    const int64_t wanted = thin ? GRAM_MOST_THIN : FENP_GRAM_MOST,
                  most = wanted < fit ? wanted : fit;
    return x->dense || copies > most ? most : copies;
}

static int is_used(const fenp_linear_state *s, int64_t group)
{
    const fenp_groups *g = s->q.groups;
    int used = fenp_group_weight(g, group) == 0.0;
    for (int64_t k = 0; !used && k < fenp_group_size(g, group); k++)
        used = s->beta[fenp_group_member(g, group, k)] != 0.0;
    return used;
}

/* Only the groups with a coefficient stay; with or without a Gram matrix from now on. */
fen_status fenp_join_anew(fenp_linear_state *s, int descends, fen_error *err)
{
    const int64_t all = s->q.groups->count;
    int64_t count = 0, *used = fenp_new(all, sizeof *used);
    if (!used) return fenp_no_memory(err, fenp_bytes(all, 1, sizeof *used), "the working set");
    fen_status status = FEN_OK;
    fenp_pool_deliver(s);
    s->settled = 0;
    s->trail.lambda = 0.0; /* it has coefficients of those who leave */
    for (int64_t i = 0; i < all; i++)
        if (is_used(s, i)) used[count++] = i;
    if (descends != s->descends) {
        fenp_pool_close(&s->pool);
        s->descends = descends;
        status = fenp_pool_open(s, err);
    } else {
        fenp_pool_clear(s);
    }
    if (status == FEN_OK) status = fenp_pool_add(s, used, count, err);
    free(used);
    return status;
}

/* Where the Gram matrix would become too large, features without a coefficient leave; where that
 * does not help, coordinate descent does without. */
static fen_status make_way(fenp_linear_state *s, int64_t more, fen_error *err)
{
    const int64_t most = gram_most(s);
    int64_t terms = 0;
    if (s->descends || s->whole || s->forced || !s->pool.h || s->pool.size + more <= most)
        return FEN_OK;
    for (int64_t k = 0; k < s->pool.size * s->q.x->copies; k++) terms += s->pool.beta[k] != 0.0;
    if (terms + more > most && !s->q.groups->start) return fenp_join_anew(s, 1, err);
    return terms + more < s->pool.size ? fenp_join_anew(s, 0, err) : FEN_OK;
}

/* Groups outside with slope > floor lambda a mix, the steepest first; free() them. */
static fen_status find_steep(const fenp_linear_state *s, double lambda, double floor,
                             const double *slope, steep **out, int64_t *count, fen_error *err)
{
    const fenp_groups *g = s->q.groups;
    int64_t room = 0;
    *out = NULL, *count = 0;
    for (int64_t i = 0; i < g->count; i++) {
        const double price = lambda * fenp_group_weight(g, i) * s->q.mix;
        if (!(slope[i] > floor * price)) continue; /* most of them */
        if (fenp_pool_has(s, i) || !(slope[i] > floor * price + s->fuzz * s->length[i])) continue;
        if (*count == room) {
            room = room > 0 ? 2 * room : 256;
            steep *larger = fenp_resize(*out, room, sizeof *larger);
            if (!larger) return fenp_no_memory(err, fenp_bytes(room, 1, sizeof *larger), "slopes");
            *out = larger;
        }
        (*out)[(*count)++] = (steep){ price > 0.0 ? slope[i] / price : slope[i], i };
    }
    if (*count > 0) qsort(*out, (size_t)*count, sizeof **out, by_ratio);
    return FEN_OK;
}

/* As many of them as the pool has already (a few at least) join. *joined: how many. */
fen_status fenp_join_steep(fenp_linear_state *s, double lambda, double floor, const double *slope,
                           int64_t *joined, fen_error *err)
{
    steep *found;
    int64_t count;
    *joined = 0;
    fen_status status = find_steep(s, lambda, floor, slope, &found, &count, err);
    const int64_t most = s->pool.groups > LEAST_BATCH ? s->pool.groups : LEAST_BATCH;
    if (count > most) count = most;
    int64_t *groups = fenp_new(count, sizeof *groups);
    if (status == FEN_OK && !groups) status = fenp_no_memory(err, count, "the working set");
    if (status == FEN_OK && count > 0) status = make_way(s, count, err);
    for (int64_t k = 0; status == FEN_OK && k < count; k++) groups[k] = found[k].group;
    if (status == FEN_OK && count > 0) status = fenp_pool_add(s, groups, count, err);
    free(found), free(groups);
    if (status == FEN_OK) *joined = count;
    return status;
}

/* ---- before a lambda is solved --------------------------------------------------------------- */

/* When half of the columns are in, the others cost less there than it takes to look at them, and
 * to multiply them with those inside a few at a time. */
static int wants_all(const fenp_linear_state *s)
{
    const fenp_design *x = s->q.x;
    return fenp_linear_uses_newton(s) && x->dense && TALL * x->p <= x->n &&
           2 * s->pool.size > x->p && x->p <= gram_most(s);
}

static fen_status add_all(fenp_linear_state *s, fen_error *err)
{
    const int64_t count = s->q.groups->count;
    int64_t *groups = fenp_new(count, sizeof *groups);
    if (!groups) return fenp_no_memory(err, count * (int64_t)sizeof *groups, "the linear model");
    for (int64_t i = 0; i < count; i++) groups[i] = i;
    const fen_status status = fenp_pool_add(s, groups, count, err);
    free(groups);
    return status;
}

/* Slopes that come near to lambda join before anything is solved: a slope moves little more than
 * lambda does. */
fen_status fenp_join_ahead(fenp_linear_state *s, double lambda, fen_error *err)
{
    const double reach = fenp_linear_uses_newton(s) ? 1.0 : 0.5;
    const double ahead = 1.0 - reach * fmax(s->lambda / lambda - 1.0, 0.0);
    int64_t joined;
    if (s->lambda == 0.0 || s->whole || fenp_pool_is_complete(s)) return FEN_OK;
    if (wants_all(s)) return add_all(s, err);
    return fenp_join_steep(s, lambda, fmax(ahead, 0.5), s->likely, &joined, err);
}

int fenp_join_has_room(const fenp_linear_state *s)
{
    return s->pool.size <= FENP_GRAM_MOST && s->q.x->n * s->pool.size <= ENOUGH_COPIES;
}
