/* least_wide.h -- least squares with many more columns than rows, in room for the rows squared */
#ifndef FENP_LEAST_WIDE_H
#define FENP_LEAST_WIDE_H
#include "solver/least_rows.h"
#include "solver/least_squares.h"

int        fenp_least_wide_fits(int64_t m, int64_t k);    /* are there so many more?            */
int64_t    fenp_least_wide_bytes(int64_t m, int64_t k, int64_t targets);   /* -1: too many      */
/* beta (targets x p, zeros so far), residuals sqrt(w) r in u (targets x n) and facts. *done 0: the
 * lengths of the columns differ by more than this way can stand, nothing was found. */
fen_status fenp_least_wide_solve(const fenp_least_rows *rows, double tolerance, double *beta,
                                 double *u, fenp_least_squares *facts, int *done,
                                 const fenp_task *task, fen_error *err);
#endif
