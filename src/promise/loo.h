/* loo.h -- what leaving rows out would have cost, for many lambdas at once
 *
 * scores is targets x count: the weighted mean squared held-out residual of each
 * target at each lambda. */
#ifndef FENP_LOO_H
#define FENP_LOO_H
#include "solver/spectrum.h"

typedef enum fenp_score_kind { FENP_LOO, FENP_GCV } fenp_score_kind;

/* From a spectrum: O(n^2) per lambda, two GEMMs for all of them. */
int64_t    fenp_scores_spectrum_bytes(const fenp_size *size, int64_t count, int primal);
void       fenp_scores_spectrum(fenp_arena *arena, const fenp_spectrum *spectrum, const double *w,
                                int bias, const double *lambdas, int64_t count,
                                fenp_score_kind kind, double *scores);
/* One factorisation and triangular inverse per lambda, 2/3 n^3 flops: for a few. */
int64_t    fenp_scores_cholesky_bytes(const fenp_size *size);
fen_status fenp_scores_cholesky(fenp_arena *arena, const fenp_problem *problem,
                                const double *lambdas, int64_t count, fenp_score_kind kind,
                                double *scores, const fenp_task *task, fen_error *err);
/* K refits on shared kernel values; rows are dealt to folds by the seed. */
int64_t    fenp_scores_kfold_bytes(const fenp_size *size, int64_t count);
fen_status fenp_scores_kfold(fenp_arena *arena, const fenp_problem *problem,
                             const double *lambdas, int64_t count, int64_t folds, uint64_t seed,
                             double *scores, const fenp_task *task, fen_error *err);
#endif
