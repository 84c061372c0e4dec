/* products.h -- all that the square loss knows of a tall dense design
 *
 *     S_k = sum of z_i z_i' over the rows i of part k,   z_i = (x_i - c, 1, y_i - d)
 *
 * Parts are the folds of a search: whoever leaves one out takes the sum of the others, and no row
 * is read again. c, d: near the means (0 without bias), so that S loses no digits to offsets. */
#ifndef FENP_PRODUCTS_H
#define FENP_PRODUCTS_H
#include "solver/linear.h"

typedef struct fenp_products {
    int64_t p, parts;
    double *part;              /* parts x (p + 2) x (p + 2): upper triangles, column-major */
    double *centre;            /* p + 2: c, 0, d                                        */
} fenp_products;

/* Of q->x, a design by rows of one copy, and q->y; rows of weight 0 count as the others do.
 * order (NULL: one part): dealt rows, row order[k] is in part k modulo parts. */
fen_status fenp_products_make(const fenp_linear *q, const int64_t *order, int64_t parts,
                             fenp_products *out, fen_error *err);
void       fenp_products_free(fenp_products *m);     /* what it holds, not the struct      */
int64_t    fenp_products_bytes(int64_t p, int64_t parts);
/* The sum of all parts but left_out (-1: of all): (p + 2) x (p + 2), its upper triangle. */
void       fenp_products_sum(const fenp_products *m, int64_t left_out, double *sum);
#endif
