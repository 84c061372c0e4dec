/* calibrate.h -- probabilities for losses that have none, by cross-validation */
#ifndef FENP_CALIBRATE_H
#define FENP_CALIBRATE_H
#include "promise/refit.h"
#include "solver/linear.h"

enum { FENP_SIGMOID_FOLDS = 5 };

/* Fits the sigmoid of every output (outputs are those of how) to scores of rows that the
 * solution has not seen: how->folds refits on one kernel matrix. Labels are +1, -1 or 0. */
fen_status fenp_calibrate(const fenp_problem *problem, const fenp_refits *how,
                          fenp_output *outputs, const fenp_task *task, fen_error *err);
/* The same of penalties on coefficients: problems of sample by columns, count of them, one for
 * every output or of as many copies, solved to a relative gap at one lambda. */
fen_status fenp_calibrate_linear(const fenp_linear *problems, int64_t count, double lambda,
                                 double gap, uint64_t seed, const fenp_sample *sample,
                                 fenp_output *outputs, const fenp_task *task, fen_error *err);
#endif
