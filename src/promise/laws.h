/* laws.h -- from the scores of all outputs to a law of the classes, and to the class */
#ifndef FENP_LAWS_H
#define FENP_LAWS_H
#include "data/outputs.h"

typedef struct fenp_classifier {
    const fenp_output *outputs;
    int64_t count, classes;        /* of the outputs; of the classes                      */
    int     logistic;              /* the loss has probabilities by what it means         */
} fenp_classifier;

fenp_classifier fenp_classifier_of(const fenp_output *outputs, int64_t count,
                                   const fen_loss *loss);
/* Does it have probabilities: of its own, or by sigmoids of the outputs? */
int        fenp_has_laws(const fenp_classifier *by);
int64_t    fenp_law_room(const fenp_classifier *by);          /* doubles of work area      */
/* The class that scores (one per output) speak for; p: its law, classes numbers, where there
 * is one (NULL: not wanted). No other class has a larger probability. */
int64_t    fenp_classify(const fenp_classifier *by, const double *scores, double *work, double *p);
/* errors: count, the share of the rows that held (outputs x count x n) puts in a class other
 * than their own; rows count by their weights, without those of the classes. */
fen_status fenp_error_rates(const fenp_sample *sample, const fenp_classifier *by,
                            const double *held, int64_t count, double *errors, fen_error *err);
#endif
