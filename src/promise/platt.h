/* platt.h -- probabilities from scores: a sigmoid per output, and pairs made into one law */
#ifndef FENP_PLATT_H
#define FENP_PLATT_H
#include "fenchel/fenchel.h"

/* P(+1 | score) = 1/(1 + exp(sigmoid[0] score + sigmoid[1])) by maximum likelihood, with
 * Platt's targets instead of 0 and 1. y: +1, -1; 0: the row takes no part. w NULL: all 1. */
fen_status fenp_platt_fit(const double *scores, const double *y, const double *w, int64_t n,
                          double sigmoid[2], fen_error *err);
double     fenp_platt_value(const double sigmoid[2], double score);

/* The law p of classes that agrees best with pair[i*k+j] = P(i | i or j), 0 < pair < 1.
 * tolerance: on the stationarity of p; work: classes*(classes+1). */
void       fenp_couple(int64_t classes, const double *pair, double tolerance, double *work,
                       double *p);
#endif
