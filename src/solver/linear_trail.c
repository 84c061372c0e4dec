/* linear_trail.c -- where the next solution is likely to be
 *
 * Along lambda solutions of the square loss are straight lines between the lambdas where somebody
 * comes or goes, and those of other losses nearly so. From the last two of them,
 *
 *     beta + f (beta - before),   f = (lambda - last) / (last - before last)
 *
 * is where the search begins if the objective at lambda is lower there: about as near as a Newton
 * step leads, and without a look at the columns, as the scores go along. Coefficients that would
 * change their sign, or have just become 0, are 0: their columns are taken off the scores.
 * Accuracy. Errors of the scores would grow with every lambda: they are made anew now and then.
 * Cost: some passes over the rows; memory for another solution and its scores. */
#include "solver/linear_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"

static const double FARTHEST = 1.0; /* f */
enum { ANEW = 8 };                  /* lambdas: rounding errors of t grow with every one */

static fen_status open(fenp_linear_state *s, fen_error *err)
{
    fenp_trail *r = &s->trail;
    const int64_t copies = s->q.x->copies;
    const int64_t bytes = fenp_bytes(s->rows + s->coefs + copies, 1, sizeof(double));
    r->t = bytes < 0 ? NULL : fenp_new_zeroed(bytes, 1);
    if (!r->t) return fenp_no_memory(err, bytes, "the linear model");
    r->beta = r->t + s->rows, r->b = r->beta + s->coefs;
    return FEN_OK;
}

void fenp_trail_close(fenp_trail *r)
{
    free(r->t);
    *r = (fenp_trail){ 0 };
}

/* beta of the pool into the trail, which has the one before. */
static void remember(fenp_linear_state *s)
{
    fenp_trail *r = &s->trail;
    memset(r->beta, 0, (size_t)s->coefs * sizeof *r->beta);
    for (int64_t k = 0; k < s->pool.size * s->q.x->copies; k++)
        r->beta[fenp_pool_coefficient(s, k)] = s->pool.beta[k];
    memcpy(r->t, s->t, (size_t)s->rows * sizeof *r->t);
    memcpy(r->b, s->b, (size_t)s->q.x->copies * sizeof *r->b);
}

/* Back to what the trail has. */
static void go_back(fenp_linear_state *s)
{
    const fenp_trail *r = &s->trail;
    for (int64_t k = 0; k < s->pool.size * s->q.x->copies; k++)
        s->pool.beta[k] = r->beta[fenp_pool_coefficient(s, k)];
    memcpy(s->t, r->t, (size_t)s->rows * sizeof *r->t);
    memcpy(s->b, r->b, (size_t)s->q.x->copies * sizeof *r->b);
}

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b, *b = kept;
}

/* The coefficients of one group, none of which comes back from 0; one by itself keeps its sign. */
static void extend_group(fenp_linear_state *s, int64_t g, double f)
{
    fenp_pool *p = &s->pool;
    const int alone = p->start[g + 1] - p->start[g] == 1, free = p->l[g] == 0.0;
    int used = 0;
    for (int64_t k = p->start[g]; k < p->start[g + 1]; k++) used = used || p->beta[k] != 0.0;
    for (int64_t k = p->start[g]; k < p->start[g + 1]; k++) {
        double *before = &s->trail.beta[fenp_pool_coefficient(s, k)], now = p->beta[k];
        const double far = now + f * (now - *before);
        const int stays =
            free ? !s->q.nonnegative || far >= 0.0 : used && !(alone && far * now <= 0.0);
        *before = now, p->beta[k] = stays ? far : 0.0;
        if (!stays && far != 0.0) fenp_linear_add_column(s, k, -far);
    }
}

/* beta, t and b as far beyond where they are as f says; the trail gets where they were. */
static void extend(fenp_linear_state *s, double f)
{
    fenp_trail *r = &s->trail;
    for (int64_t i = 0; i < s->rows; i++) {
        const double now = s->t[i];
        s->t[i] = now + f * (now - r->t[i]);
        r->t[i] = now;
    }
    for (int64_t t = 0; t < s->q.x->copies; t++) {
        swap(&s->b[t], &r->b[t]);
        s->b[t] = r->b[t] + f * (r->b[t] - s->b[t]);
    }
    for (int64_t g = 0; g < s->pool.groups; g++) extend_group(s, g, f);
}

fen_status fenp_trail_go_on(fenp_linear_state *s, double lambda, fen_error *err)
{
    fenp_trail *r = &s->trail;
    const double last = s->lambda, before = r->lambda;
    const double f = (lambda - last) / (last - before);
    if (!s->settled || s->pool.size == 0) {
        r->lambda = 0.0;
        return FEN_OK;
    }
    const fen_status status = r->t ? FEN_OK : open(s, err);
    if (status != FEN_OK) return status;
    r->lambda = last;
    if (r->steps++ % ANEW == 0) fenp_linear_scores(s);
    if (!(before > 0.0 && f > 0.0 && f <= FARTHEST)) {
        remember(s);
        return FEN_OK;
    }
    fenp_pool_price(s, lambda);
    const double start = (double)s->rows_of.loss + fenp_linear_penalty(s);
    extend(s, f);
    fenp_linear_dual(s);
    if ((double)s->rows_of.loss + fenp_linear_penalty(s) < start) return FEN_OK;
    go_back(s);
    fenp_linear_dual(s);
    return FEN_OK;
}
