/* outputs.h -- from target columns to the problems that are solved
 *
 * An output is one function f with one certificate. Regression: every target column with
 * every parameter of the loss (quantiles). Two classes: one output, +1 for the second
 * class. More: one per class against the rest, or one per pair of classes. One class: all
 * labels +1. The model, the solvers and the certificate call outputs "targets". */
#ifndef FENP_OUTPUTS_H
#define FENP_OUTPUTS_H
#include "data/prepare.h"

typedef struct fenp_output {
    int64_t column;            /* of prep->target                                       */
    int64_t plus, minus;       /* classes; minus -1: all others; both -1: no classes    */
    double  par;               /* of the loss                                           */
    double  sigmoid[2];        /* probability of plus = 1/(1 + exp(s[0] score + s[1]));
                                  0, 0: there is none                                   */
} fenp_output;

/* The loss and its parameters as o->loss says: "pinball:0.1,0.9" gives two. auto: square for
 * numbers, logistic for classes. */
enum { FENP_PARAMETERS_MAX = 32 };
typedef struct fenp_loss_choice {
    const fen_loss *loss;
    int    count;              /* 1 at least                                            */
    double par[FENP_PARAMETERS_MAX];
} fenp_loss_choice;
fen_status fenp_parse_loss(const char *text, int classes, fenp_loss_choice *out, fen_error *err);

/* The outputs that prep and o lead to (free() them), and sample->y (class codes 0, 1, ... or
 * numbers of every column on entry) replaced by their labels: outputs x n, +1 and -1 and, for
 * rows that a pair does not concern, 0. Class weights go into sample->w and weight_sum. */
fen_status fenp_outputs_make(const fenp_prep *prep, const fen_options *o,
                             const fenp_loss_choice *loss, fenp_sample *sample,
                             fenp_output **outputs, fen_error *err);
/* The same labels for outputs that are known (verify). weights: of the classes, or NULL. */
fen_status fenp_outputs_apply(const fenp_output *outputs, int64_t count, const double *weights,
                              fenp_sample *sample, fen_error *err);
/* Weights of one output's rows: w, but 0 where a pair does not concern them. The sum may be
 * below 1: terms are left out, none is raised. */
void       fenp_output_weights(const fen_loss *loss, const double *y, const double *w, int64_t n,
                               double *out);
#endif
