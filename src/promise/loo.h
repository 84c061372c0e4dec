/* loo.h -- what leaving rows out would have cost, for many settings at once
 *
 * scores is targets x count: the weighted mean squared held-out residual of each
 * target at each setting. Leaving a row out deletes its term and keeps the other weights;
 * for power != 2 the shrinkage c is found anew for every row left out. */
#ifndef FENP_LOO_H
#define FENP_LOO_H
#include "solver/spectrum.h"

typedef enum fenp_score_kind { FENP_LOO, FENP_GCV } fenp_score_kind;
typedef struct fenp_setting { double lambda, power; } fenp_setting;

/* From a spectrum: O(n^2) per setting, a few GEMMs for all of them. */
int64_t    fenp_scores_spectrum_bytes(const fenp_size *size, int64_t count, int primal);
fen_status fenp_scores_spectrum(fenp_arena *arena, const fenp_spectrum *spectrum, const double *w,
                                int bias, const fenp_setting *points, int64_t count,
                                fenp_score_kind kind, double *scores, fen_error *err);
/* GCV alone needs no rows: n, rank, targets, primal, d, ty and rest of the spectrum are used.
 * O(rank) per setting; q: rank doubles. */
fen_status fenp_scores_gcv(const fenp_spectrum *spectrum, int bias, const fenp_setting *points,
                           int64_t count, double *q, double *scores, fen_error *err);
/* One factorisation and triangular inverse per lambda, 2/3 n^3 flops: for a few, power 2. */
int64_t    fenp_scores_cholesky_bytes(const fenp_size *size);
fen_status fenp_scores_cholesky(fenp_arena *arena, const fenp_problem *problem,
                                const fenp_setting *points, int64_t count, fenp_score_kind kind,
                                double *scores, const fenp_task *task, fen_error *err);
/* Rows order[k], order[k + folds], ... are held out in fold k. */
fen_status fenp_deal_rows(int64_t n, int64_t folds, uint64_t seed, int64_t *order,
                          fen_error *err);
/* K refits on shared kernel values. */
int64_t    fenp_scores_kfold_bytes(const fenp_size *size, int64_t count);
fen_status fenp_scores_kfold(fenp_arena *arena, const fenp_problem *problem,
                             const fenp_setting *points, int64_t count, int64_t folds,
                             uint64_t seed, double *scores, const fenp_task *task, fen_error *err);
/* The same by the columns, for linear kernels: where there are fewer of them than rows in all folds
 * but one. */
int        fenp_kfold_is_primal(int64_t n, int64_t p, int64_t folds);
int64_t    fenp_scores_kfold_primal_bytes(const fenp_size *size, int64_t count);
fen_status fenp_scores_kfold_primal(fenp_arena *arena, const fenp_problem *problem,
                                    const fenp_setting *points, int64_t count, int64_t folds,
                                    uint64_t seed, double *scores, const fenp_task *task,
                                    fen_error *err);

/* ---- any power: rows come in slabs, all of a spectrum or one piece of a file after another */
typedef struct fenp_left_out fenp_left_out;
int64_t    fenp_left_out_bytes(int64_t rank, int64_t targets, int64_t count, int64_t slab);
/* Of the spectrum n, rank, targets, primal, d, ty and rest are used; it is borrowed. */
fen_status fenp_left_out_begin(fenp_arena *arena, const fenp_spectrum *spectrum, int bias,
                               const fenp_setting *points, int64_t count, int64_t slab,
                               fenp_left_out **out, fen_error *err);
/* At most slab rows: their rows of U (column-major, ld), y as in the spectrum (n x targets,
 * column-major, y_ld) and normalised weights. */
void       fenp_left_out_rows(fenp_left_out *s, const double *u, int64_t ld, const double *y,
                              int64_t y_ld, const double *w, int64_t rows);
void       fenp_left_out_scores(const fenp_left_out *s, double *scores);
#endif
