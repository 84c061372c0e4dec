/* products.h -- all that the square loss knows of a tall dense design
 *
 *     S_k = sum of v_i z_i z_i' over the rows i of part k,   z_i = (x_i - c, 1, y_i - d)
 *
 * Parts are the folds of a search: whoever leaves one out takes the sum of the others, and no row
 * is read again. y: the labels of all outputs. v: weights over the largest. c, d: near the most of
 * them (0 without bias), so that S loses no digits to offsets. */
#ifndef FENP_PRODUCTS_H
#define FENP_PRODUCTS_H
#include "solver/linear.h"

typedef struct fenp_products {
    int64_t p, labels, parts;
    int64_t side;              /* p + 1 + labels                                        */
    double *part;              /* parts x side x side: upper triangles, column-major     */
    double *centre;            /* side: c, 0, d                                         */
} fenp_products;

/* Of problems with the same x, a design by rows of one copy, w and bias, and labels of their own.
 * order (NULL: one part): dealt rows, row order[k] is in part k modulo parts. */
fen_status fenp_products_make(const fenp_linear *q, int64_t problems, const int64_t *order,
                              int64_t parts, fenp_products *out, fen_error *err);
void       fenp_products_free(fenp_products *s);   /* what it holds, not the struct      */
int64_t    fenp_products_bytes(int64_t p, int64_t labels, int64_t parts);
/* The sum of all parts but left_out (-1: of all): side x side, its upper triangle. */
void       fenp_products_sum(const fenp_products *s, int64_t left_out, double *sum);
#endif
