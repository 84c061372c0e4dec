/* noise.h -- how much of a target is noise, and the tube or knee that it asks for */
#ifndef FENP_NOISE_H
#define FENP_NOISE_H
#include "data/prepare.h"

/* Standard deviation of the noise in row `target` of sample->y. square: x is a kernel matrix,
 * whose distances are taken. seed: which rows, where there are too many for all pairs. */
fen_status fenp_noise_level(const fenp_sample *sample, int64_t target, int square, uint64_t seed,
                            double *sigma, fen_error *err);
/* 3 sigma sqrt(log n / n), n = repetitions of rows: the epsilon of eps:auto. */
fen_status fenp_noise_epsilon(const fenp_sample *sample, int64_t target, int square, uint64_t seed,
                              double *epsilon, fen_error *err);
/* 1.35 sigma, sigma as most rows have it: the k of huber:auto. No noise at all: 1.35. */
fen_status fenp_noise_knee(const fenp_sample *sample, int64_t target, int square, uint64_t seed,
                           double *k, fen_error *err);
#endif
