/* least_rows.h -- the rows of a least squares problem: weighted, centred, of unit columns
 *
 *     a_ij = sqrt(w_i) (x_ij - mean_j)/norm_j,   b_i = sqrt(w_i) (y_i - mean)
 *
 * handed out in dense blocks of rows. Rows of weight 0 and columns of nothing but rounding
 * errors are not among them. Without bias all means are 0. */
#ifndef FENP_LEAST_ROWS_H
#define FENP_LEAST_ROWS_H
#include "solver/linear.h"

typedef struct fenp_least_rows {
    const fenp_linear *problem;
    int64_t targets;
    int64_t m, *row;           /* rows of positive weight                               */
    int64_t *place;            /* n: of a row among them, -1: none                      */
    int64_t k, *column;        /* columns that are not constant (bias) or 0             */
    double *root;              /* m: sqrt(w)                                            */
    double *mean, *norm;       /* p                                                     */
    double *label;             /* targets: means of the labels                          */
    double  weight;            /* sum w                                                 */
    double  offset;            /* largest |mean| sqrt(sum w) / norm of those columns: the
                                  digits that centring took                             */
    int64_t *next;             /* p: of sparse columns, the entry where a block starts  */
} fenp_least_rows;
fen_status fenp_least_rows_open(const fenp_linear *problem, int64_t targets, fenp_least_rows *out,
                                fen_error *err);
void       fenp_least_rows_close(fenp_least_rows *rows);
/* Rows first .. first + count - 1 of the m, columns as in column; a: stride ld. Blocks are asked
 * for in order, from 0 on. */
void       fenp_least_rows_block(const fenp_least_rows *rows, int64_t first, int64_t count,
                                 double *a, int64_t ld);
void       fenp_least_rows_labels(const fenp_least_rows *rows, int64_t first, int64_t count,
                                  double *b, int64_t ld);
#endif
