/* outputs.h -- from target columns to the problems that are solved
 *
 * An output is one function f with one certificate. Regression: every target column with
 * every parameter of the loss (quantiles). Two classes: one output, +1 for the second
 * class. More: one per class against the rest, or one per pair of classes. One class: all
 * labels +1. The model, the solvers and the certificate call outputs "targets". */
#ifndef FENP_OUTPUTS_H
#define FENP_OUTPUTS_H
#include "base/registry.h"
#include "data/prepare.h"

typedef struct fenp_output {
    int64_t column;            /* of prep->target; -1: one class, all labels are +1     */
    int64_t plus, minus;       /* classes; minus -1: all others; both -1: no classes    */
    double  par;               /* of the loss                                           */
    double  sigmoid[2];        /* probability of plus = 1/(1 + exp(s[0] score + s[1]));
                                  0, 0: there is none                                   */
    int     by_noise;          /* par was auto; files do not keep that                  */
} fenp_output;

static inline int fenp_has_sigmoid(const fenp_output *o)
{ return o->sigmoid[0] != 0.0 || o->sigmoid[1] != 0.0; }

/* fenp_parse_loss with what the task and --nu ask of it: one-class means hinge, and auto with a
 * price eps or hinge. */
fen_status fenp_choose_loss(const fenp_prep *prep, const fen_options *o, fenp_loss_choice *out,
                            fen_error *err);

/* The outputs that prep and o lead to (free() them), and sample->y (class codes 0, 1, ... or
 * numbers of every column on entry) replaced by their labels: outputs x n, +1 and -1 and, for
 * rows that a pair does not concern, 0. Class weights go into sample->w and weight_sum, and to
 * *weights (may be NULL; free() them; *weights NULL: all 1). */
fen_status fenp_outputs_make(const fenp_prep *prep, const fen_options *o,
                             const fenp_loss_choice *loss, fenp_sample *sample,
                             fenp_output **outputs, double **weights, fen_error *err);
/* The same labels for outputs that are known (verify). weights: of the classes, or NULL. */
fen_status fenp_outputs_apply(const fenp_output *outputs, int64_t count, const double *weights,
                              fenp_sample *sample, fen_error *err);
/* Weights of one output's rows: w, but 0 where a pair does not concern them. The sum may be
 * below 1: terms are left out, none is raised. */
void       fenp_output_weights(const fen_loss *loss, const double *y, const double *w, int64_t n,
                               double *out);
/* "y", "y at 0.9" where there are several parameters, "red" against the rest, "red or blue" of a
 * pair, "one class". */
void       fenp_output_name(const fenp_prep *prep, const fenp_output *outputs, int64_t count,
                            int64_t t, char *out, int64_t size);
/* The class that the scores of all outputs speak for: by sign, the largest of one against the
 * rest, or most votes (of equal votes the larger sum of scores). */
int64_t    fenp_outputs_decide(const fenp_output *outputs, int64_t count, int64_t classes,
                               const double *scores);
#endif
