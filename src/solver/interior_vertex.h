/* interior_vertex.h -- a vertex of a loss with corners: m columns, and as many terms at their corner
 *
 *     B = X[corners, columns],   B beta = a at the corners,   all other coefficients 0
 *
 * Terms are those of interior_parts.h: term t is of row t % n. Columns and corners have places,
 * 0 to m - 1, which are independent of each other. */
#ifndef FENP_INTERIOR_VERTEX_H
#define FENP_INTERIOR_VERTEX_H
#include "fenchel/fenchel.h"

typedef struct fenp_vertex {
    const double *x;           /* n x k, column-major                                   */
    int64_t n, k, terms;
    int64_t m, room;           /* columns, corners; how many the arrays can hold         */
    int64_t *column, *corner;  /* m: who they are                                       */
    int64_t *at_column;        /* k: place, or -1                                       */
    int64_t *at_corner;        /* terms: likewise                                       */
    double *inverse;           /* room x room: of B; by places of columns, of corners   */
    double *rows;              /* k x room: x of the corners, all columns                */
    double *columns;           /* n x room: of the columns, all rows                    */
    double *work1, *work2, *work3;   /* room */
    void *owned;
} fenp_vertex;

static inline int64_t fenp_vertex_row(const fenp_vertex *v, int64_t term)
{
    return term < v->n ? term : term - v->n;
}
static inline double fenp_vertex_x(const fenp_vertex *v, int64_t term, int64_t column)
{
    return v->x[fenp_vertex_row(v, term) + column * v->n];
}

/* Without a column; x, n, k and terms are set, the rest is 0. At least so many will fit. */
fen_status fenp_vertex_open(fenp_vertex *v, int64_t room, fen_error *err);
void       fenp_vertex_close(fenp_vertex *v);
/* The vertex of these columns; of the corners, at least as many, those are chosen with which B
 * is far from singular. *built: how many columns there are before the first that depends on those
 * before it there; all of them if there is none. Otherwise the vertex has no columns. */
fen_status fenp_vertex_build(fenp_vertex *v, const int64_t *columns, int64_t count,
                             const int64_t *corners, int64_t corner_count, int64_t *built,
                             fen_error *err);
/* The same columns and corners, their inverse anew, and room for so many at least. */
fen_status fenp_vertex_renew(fenp_vertex *v, int64_t room, int64_t *built, fen_error *err);

/* out <- B^-1 right, and right' B^-1; not in place */
void       fenp_vertex_solve(const fenp_vertex *v, const double *right, double *out);
void       fenp_vertex_solve_left(const fenp_vertex *v, const double *right, double *out);
/* out <- B^-1 X[corners, j], and X[term, columns] B^-1 */
void       fenp_vertex_express(const fenp_vertex *v, int64_t j, double *out);
void       fenp_vertex_express_row(const fenp_vertex *v, int64_t term, double *out);
/* out <- X[, columns] beta */
void       fenp_vertex_times(const fenp_vertex *v, const double *beta, double *out);

/* Changes, in O(m^2); what makes B singular is the caller's to avoid. column, row: of who comes, by
 * express and express_row. */
void       fenp_vertex_extend(fenp_vertex *v, int64_t j, int64_t term, const double *column,
                              const double *row);
void       fenp_vertex_reduce(fenp_vertex *v, int64_t column_place, int64_t corner_place);
void       fenp_vertex_swap_column(fenp_vertex *v, int64_t place, int64_t j, const double *column);
void       fenp_vertex_swap_corner(fenp_vertex *v, int64_t place, int64_t term, const double *row);
#endif
