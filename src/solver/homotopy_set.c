/* homotopy_set.c -- columns of the exact path, centred without being changed, and the active ones
 *
 *     G = 2 X'WX of the active columns = L L'
 *
 * Method. Means are taken off products, not off columns: sparse ones stay sparse. The factor
 * gains and loses rows (factor.h). Whether a column depends on the active ones is decided by
 * what least squares leave of the vector, not by the Gram matrix, which knows half of the
 * digits: a squared sine of 1e-14 of the angle to their span is 0.
 * Cost. 4 n |A| flops for a column that joins, and |A|^2. */
#include "solver/homotopy_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "solver/factor.h"

enum { FIRST_ROOM = 64 }; /* rows of the factor at first */
static const double DEPENDENT = 1e-14;

static double given(const fenp_walk *k, int64_t j) { return fenp_group_weight(k->of->groups, j); }

double fenp_walk_price(const fenp_walk *k, int64_t j) { return k->without ? 1.0 : given(k, j); }

/* It may have either sign at no cost: there is no limit to meet. */
int fenp_walk_is_free(const fenp_walk *k, int64_t j)
{
    return fenp_walk_price(k, j) == 0.0 && !k->of->nonnegative;
}

/* ---- products with centred columns -------- */

/* out = 2 x_j' W u of the columns listed (NULL: all), u: n. v is used. */
void fenp_walk_correlate(fenp_walk *k, const double *u, const int64_t *which, int64_t count,
                         double *out)
{
    double sum = 0.0;
    for (int64_t i = 0; i < k->n; i++) k->v[i] = k->w[i] * u[i], sum += k->v[i];
    fenp_design_products(k->x, k->v, which, count, out);
    if (!k->of->bias) return;
    for (int64_t r = 0; r < count; r++) out[r] -= k->center[which ? which[r] : r] * sum;
}

/* out = X beta with centred columns. */
void fenp_walk_scores(const fenp_walk *k, const double *beta, double *out)
{
    double shift = 0.0;
    fenp_design_scores(k->x, beta, out);
    if (!k->of->bias) return;
    for (int64_t r = 0; r < k->m; r++) shift += k->center[k->who[r]] * beta[k->who[r]];
    for (int64_t i = 0; i < k->n; i++) out[i] -= shift;
}

double fenp_walk_length(const fenp_walk *k, const double *u)
{
    double sum = 0.0;
    for (int64_t i = 0; i < k->n; i++) sum += k->w[i] * u[i] * u[i];
    return sqrt(sum);
}

/* Column j as a vector, centred. */
static void column(const fenp_walk *k, int64_t j, double *out)
{
    const fenp_design *x = k->x;
    const double shift = k->of->bias ? k->center[j] : 0.0;
    for (int64_t i = 0; i < k->n; i++) out[i] = (x->dense ? x->dense[j * k->n + i] : 0.0) - shift;
    if (x->dense) return;
    for (int64_t e = x->start[j]; e < x->start[j + 1]; e++) out[x->row[e]] += x->value[e];
}

/* ---- the active set -------- */

static fen_status make_room(fenp_walk *k, fen_error *err)
{
    if (k->m < k->room) return FEN_OK;
    const int64_t room = k->room ? 2 * k->room : FIRST_ROOM, bytes = fenp_bytes(room, room, 8);
    double *l = fenp_new(room, room * (int64_t)sizeof *l), *row = fenp_new(2 * room, sizeof *row);
    if (!l || !row) {
        free(l), free(row);
        return fenp_no_memory(err, bytes, "the factor of the active columns");
    }
    for (int64_t c = 0; c < k->m; c++)
        memcpy(l + c * room + c, k->l + c * k->room + c, (size_t)(k->m - c) * sizeof *l);
    free(k->l), free(k->row);
    k->l = l, k->row = row, k->some = row + room, k->room = room;
    return FEN_OK;
}

/* Squared distance of column j (in r) to the span of A, from the vectors: Gram matrices know
 * half of the digits. r is what is left of the column, d the combination of A that comes next. */
static double distance(fenp_walk *k)
{
    double *left = k->r, *fitted = k->v;
    for (int pass = 0; pass < 2 && k->m > 0; pass++) { /* the second corrects the first */
        fenp_walk_correlate(k, left, k->who, k->m, k->some);
        fenp_factor_solve(k->l, k->room, k->m, k->some);
        for (int64_t a = 0; a < k->m; a++) k->d[k->who[a]] = k->some[a];
        fenp_walk_scores(k, k->d, fitted);
        for (int64_t i = 0; i < k->n; i++) left[i] -= fitted[i];
    }
    for (int64_t a = 0; a < k->m; a++) k->d[k->who[a]] = 0.0;
    const double length = fenp_walk_length(k, left);
    return length * length;
}

/* Column j joins with this sign unless it depends on A. r and d are used. */
fen_status fenp_walk_join(fenp_walk *k, int64_t j, int sign, fen_error *err)
{
    const fen_status status = make_room(k, err);
    if (status != FEN_OK) return status;
    const double whole = k->length[j] * k->length[j];
    for (int64_t a = 0; a < k->m; a++) k->d[k->who[a]] = 0.0;
    column(k, j, k->r);
    fenp_walk_correlate(k, k->r, k->who, k->m, k->row);
    fenp_factor_row(k->l, k->room, k->m, k->row);
    const double rest = whole > 0.0 ? distance(k) : 0.0;
    k->aside[j] = rest <= DEPENDENT * whole;
    if (k->aside[j]) return FEN_OK;
    fenp_factor_append(k->l, k->room, k->m, k->row, sqrt(rest));
    k->side[j] = (signed char)sign;
    k->who[k->m++] = j;
    return FEN_OK;
}

/* Who depends on A is to be seen anew. */
void fenp_walk_call_back(fenp_walk *k)
{
    for (int64_t j = 0; j < k->p; j++)
        k->aside[j] = k->length[j] == 0.0 || (k->without && given(k, j) > 0.0);
}

void fenp_walk_leave(fenp_walk *k, int64_t j)
{
    int64_t a = 0;
    while (k->who[a] != j) a++;
    fenp_factor_delete(k->l, k->room, k->m--, a);
    memmove(k->who + a, k->who + a + 1, (size_t)(k->m - a) * sizeof *k->who);
    k->side[j] = 0;
    k->beta[j] = k->d[j] = 0.0;
}

/* ---- work areas -------- */

static void measure_target(fenp_walk *k)
{
    double sum = 0.0;
    for (int64_t i = 0; i < k->n; i++) {
        k->w[i] = 2.0 * k->of->w[i];
        sum += k->w[i] * k->of->y[i], k->total += k->w[i];
    }
    k->mean = k->of->bias && k->total > 0.0 ? sum / k->total : 0.0;
    k->size = fenp_walk_length(k, k->of->y);
    for (int64_t i = 0; i < k->n; i++) {
        k->y[i] = k->of->y[i] - k->mean;
        k->v[i] = k->total > 0.0 ? k->w[i] / k->total : 0.0;
    }
    fenp_design_products(k->x, k->v, NULL, k->p, k->center);
}

/* A column whose entries are equal but for rounding errors counts as 0 with a bias. */
static double length_of_column(const fenp_walk *k, int64_t j)
{
    const fenp_design *x = k->x;
    const double shift = k->of->bias ? k->center[j] : 0.0;
    double sum = 0.0, whole = 0.0, rest = k->total;
    for (int64_t e = x->dense ? 0 : x->start[j]; e < (x->dense ? k->n : x->start[j + 1]); e++) {
        const double w = k->w[x->dense ? e : x->row[e]];
        const double value = x->dense ? x->dense[j * k->n + e] : x->value[e];
        sum += w * (value - shift) * (value - shift), whole += w * value * value, rest -= w;
    }
    if (!x->dense) sum += fmax(0.0, rest) * shift * shift;
    return sum > 1e-26 * whole ? sqrt(sum) : 0.0;
}

fen_status fenp_walk_open(fenp_walk *k, const fenp_linear *problem, fen_error *err)
{
    const int64_t n = problem->x->n, p = problem->x->p;
    *k = (fenp_walk){ .of = problem, .x = problem->x, .n = n, .p = p };
    k->w = fenp_new_zeroed(n, 4 * sizeof(double));
    k->center = fenp_new_zeroed(p, 7 * sizeof(double));
    k->who = fenp_new_zeroed(p, 2 * sizeof *k->who);
    k->side = fenp_new_zeroed(p, 4);
    if (!k->w || !k->center || !k->who || !k->side)
        return fenp_no_memory(err, fenp_bytes(p, 9, sizeof(double)), "the path");
    k->y = k->w + n, k->v = k->y + n, k->r = k->v + n;
    k->length = k->center + p, k->beta = k->length + p, k->d = k->beta + p, k->c = k->d + p;
    k->g = k->c + p, k->listed = k->g + p;
    k->list = k->who + p;
    k->was = k->side + p, k->aside = (char *)k->was + p, k->open = k->aside + p;
    measure_target(k);
    for (int64_t j = 0; j < p; j++) k->length[j] = length_of_column(k, j);
    return make_room(k, err);
}

void fenp_walk_close(fenp_walk *k)
{
    free(k->w), free(k->center), free(k->who), free(k->side), free(k->l), free(k->row);
}
