/* crossing.h -- are quantiles in order? */
#ifndef FENP_CROSSING_H
#define FENP_CROSSING_H
#include "data/outputs.h"

/* Weight of the rows on which two outputs of one target column come out in another order than
 * their parameters. scores: rows x count; w: rows, sum 1. */
double fenp_outputs_crossing(const fenp_output *outputs, int64_t count, const double *scores,
                             const double *w, int64_t rows);
#endif
