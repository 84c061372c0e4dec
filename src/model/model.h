/* model.h -- what a fit leaves behind
 *
 * f = sum_i c_i k(x_i, .), c = coef_scale * dual. Linear kernels carry the weight
 * vector f(x) = weights . x and no inputs. With random features (fourier.h) f(x) =
 * feature_weights . phi(x), and nothing grows with n: no inputs, no dual. */
#ifndef FENP_MODEL_H
#define FENP_MODEL_H
#include "data/design.h"
#include "data/prepare.h"
#include "feature/fourier.h"
#include "kernel/gram.h"
#include "data/outputs.h"

/* One line of the selection table. */
typedef struct fenp_score {
    double gamma, lambda, power, score;
    double error;                 /* share of held-out rows in a wrong class; NaN: none */
    double deviation;             /* standard error of score; NaN: none                */
    double terms;                 /* coefficients other than 0 of the solution of all rows,
                                     mean over the outputs; NaN: not known             */
} fenp_score;

/* How gamma, lambda and power were chosen. */
typedef struct fenp_selection {
    char        kind[16];         /* "loo", "gcv", "kfold:10"; "" when given           */
    int64_t     rows;             /* rows the scores were computed on                  */
    double      score;            /* of the chosen point, mean over targets            */
    int64_t     count;
    fenp_score *grid;             /* every point tried, in the order tried             */
} fenp_selection;

typedef struct fenp_ready fenp_ready;       /* model/ready.h */

struct fen_model {
    fenp_prep  *prep;
    const fen_loss *loss;
    fenp_output *output;                    /* targets: what each of them stands for   */
    double     *class_weights;              /* prep->class_count, or NULL: all 1       */
    double      nu;                         /* price of the loss's parameter; 0: fixed */
    fenp_kernel kernel;
    double      lambda, power, tolerance;
    const fen_penalty *penalty;             /* "rkhs": lambda ||f||^power               */
    char        penalty_text[128];          /* as it was given: "group:targets"; "": not
                                               known                                   */
    double      mix;                        /* of a penalty on coefficients             */
    int         nonnegative;
    fenp_groups groups;                     /* of the coefficients (count 0: rkhs)      */
    int64_t     all_groups;                 /* of training, where a sparse file's without a
                                               coefficient are gone; else 0            */
    int64_t     copies;                     /* targets under one penalty (group:targets):
                                               one certificate for all, in each of them;
                                               else 1                                  */
    int         bias;
    int64_t     n, p, targets;
    int64_t     whole;                      /* features of training: p, or more where a sparse
                                               file's columns without a coefficient are gone */
    uint64_t    hash;                       /* of the training rows                    */
    double     *inputs;                     /* kept x p; NULL: linear or precomputed   */
    double     *weights;                    /* targets x p for linear, else NULL       */
    double     *deviation;                  /* p, linear models with 0/1 features: the deviation
                                               of these over the training rows (0: a level that
                                               none of them has), of scaled ones 1; NULL: there
                                               are none, or not known                  */
    double     *terms;                      /* targets x kept: coefficients of the rows where
                                               the penalty is on them (kernel lasso): f =
                                               sum terms_i k(x_i, .); else NULL        */
    int64_t     pivot_count;                /* penalty lp with a series that has no end, or too
                                               many features: see tensor/pivots.h      */
    int64_t    *pivots;                     /* pivot_count x q/2 places among the kept rows;
                                               NULL: predictions do without            */
    double     *pivot_weights;              /* targets x pivot_count: c                */
    double      prediction_error;           /* lp: of f(x_i) as predicted, at most; 0: none but
                                               rounding; NaN: not known                */
    int64_t     rank;                       /* penalty none: of the columns; else -1   */
    int64_t    *aliased;                    /* penalty none: features that earlier ones span,
                                               ascending; NULL: none                   */
    int64_t     aliased_count;
    double      condition;                  /* penalty none: of the columns, estimated; else
                                               NaN                                     */
    fenp_approx approx;                     /* columns 0: the exact kernel             */
    uint64_t    seed;                       /* of the frequencies                      */
    double     *frequencies;                /* columns/2 x p with random features      */
    double     *feature_weights;            /* targets x columns with them             */
    int64_t     kept;                       /* rows with a coefficient in some target  */
    int64_t    *support;                    /* kept: their places among the n rows in
                                               ascending order; NULL: all, kept = n    */
    double     *dual;                       /* targets x kept (with terms: x n): u; NULL
                                               with features                           */
    double     *coef_scale;                 /* targets: c = coef_scale u; 0: f = 0     */
    double     *offset;                     /* targets: b                              */
    int64_t     tangent_count;              /* of each target; 0 for power >= 1        */
    double     *tangents;                   /* targets x tangent_count x n dual vectors
                                               (with features: weight vectors, columns
                                               each, whose residuals they are) that bound
                                               the objective where it is not convex    */
    fen_certificate *certificate;           /* targets                                 */
    fenp_selection selection;
    double      train_error;                /* classes: weight of the training rows that are
                                               taken for another class; one-class: of those
                                               outside; NaN: not known or numbers      */
    double      crossing;                   /* quantiles: weight of the training rows on which
                                               they are out of order; NaN: there are none */
    _Atomic(struct fenp_expansion *) expansion;   /* made by the first prediction of few rows
                                               (predict.c); NULL: not yet              */
    fenp_ready *ready;                      /* lp, once nothing changes any more: what its
                                               predictions begin with; NULL: none      */
    char        method[32];
    char        note[512];                  /* what was dropped or filled, in words    */
    double      seconds;
};
/* Where there is none. */
fen_certificate fenp_no_certificate(void);
/* Arrays n x .. zeroed; output t stands for target column t. */
fen_model *fenp_model_new(int64_t n, int64_t p, int64_t targets);
/* The penalty is on the coefficients of a linear model (weights) or an expansion (terms). */
static inline int fenp_model_on_coefficients(const fen_model *m)
{ return m->penalty->parts != FEN_WHOLE; }
/* Penalty lp:power, ||f|| = |w|_power: f = w.phi, w = J_q(sum_i c_i phi(x_i)), c = coef_scale u. */
static inline int fenp_model_is_lp(const fen_model *m) { return m->kernel.par.order > 0.0; }
/* Rows of dual. */
static inline int64_t fenp_model_duals(const fen_model *m) { return m->terms ? m->n : m->kept; }
/* Coefficients of target t that are not 0; and, of linear models, groups of which some coefficient
 * (of any target) is not. */
int64_t    fenp_model_terms(const fen_model *m, int64_t t);
int64_t    fenp_model_active_groups(const fen_model *m);
/* Keeps the rows with a nonzero dual in some target (one at least): support, dual and, for
 * kernels that need rows to predict, inputs out of x (n x p). Where all are kept, or the kernel
 * is precomputed, nothing changes and inputs are the caller's business. */
fen_status fenp_model_pack_support(fen_model *m, const double *x, fen_error *err);
/* The same of terms (targets x n before, targets x kept after). */
fen_status fenp_model_pack_terms(fen_model *m, const double *x, fen_error *err);
/* c of the kept rows (targets x kept): coef_scale u, or terms; NULL: no memory. */
double    *fenp_model_coefs(const fen_model *m);
/* The solver that method names; behind a comma it has the route. NULL: unknown. */
const struct fenp_solver *fenp_model_solver(const fen_model *m);

/* Penalty lp with a tensor kernel (model/lp.h): sets pivots and pivot_weights where predictions
 * need them, once the support is packed and the certificate is there. x: all training rows (n x
 * p). */
fen_status fenp_model_find_pivots(fen_model *m, const double *x, const fenp_task *task,
                                  fen_error *err);
/* How far pivot_weights are from those of the coefficients: at most so much of |f~| is what they
 * may change anywhere, |f~| being its bound by Cauchy and Schwarz. 0 without pivots. */
fen_status fenp_model_check_pivots(const fen_model *m, double *distance, const fenp_task *task,
                                   fen_error *err);
/* Marks the inputs that no coefficient of a penalty on them needs; once prep is there. */
void       fenp_model_mark_idle(fen_model *m);
/* Linear models of sparse files: columns, and groups, without a coefficient go, from weights,
 * groups and the preparation. Before that the model is one of all columns. */
fen_status fenp_model_shrink(fen_model *m, fen_error *err);
/* The groups that --penalty makes of a preparation; *possible: it says so without a file. */
fen_status fenp_model_remake_groups(const fen_model *m, const fenp_prep *prep, fenp_groups *out,
                                    int *possible, fen_error *err);
static inline int64_t fenp_model_groups(const fen_model *m)
{ return m->all_groups ? m->all_groups : m->groups.count; }
/* Sets train_error and crossing from the training rows: all n of them, labels as in outputs.h. */
fen_status fenp_model_train_error(fen_model *m, const fenp_sample *sample, const fenp_task *task,
                                  fen_error *err);
/* Neither classes nor numbers: rows are inside or outside. */
int        fenp_model_is_one_class(const fen_model *m);
/* With random features: frequencies and feature_weights instead of dual. */
fen_model *fenp_model_new_features(int64_t n, int64_t p, int64_t targets, fenp_approx approx);
/* "fourier:300", "none" */
enum { FENP_APPROX_TEXT = 32 };
void       fenp_approx_print(fenp_approx approx, char out[FENP_APPROX_TEXT]);
/* The first most tangents of every target stay; each has length numbers. */
void       fenp_model_keep_tangents(fen_model *m, int64_t length, int64_t most);
/* "mean (y - f(x) - b)^2 + lambda ||f||^2, gaussian kernel ..." */
void       fenp_model_objective(const fen_model *m, char *out, int64_t size);
/* score, score_kind, score_rows and grid into an object; nonzero: no memory. Without gammas or
 * powers those of the grid are null. */
int        fenp_selection_json(json_t *out, const fenp_selection *selection, int gammas,
                               int powers);
/* One target's weights of the prepared features (p), in place, to coefficients of the columns of
 * the file; returns what the constant loses. */
double     fenp_to_units_of_file(const fenp_prep *prep, double *value);
/* Sets deviation from the training rows; and whether what is stored comes out again. */
fen_status fenp_model_find_deviations(fen_model *m, const fenp_sample *sample, fen_error *err);
fen_status fenp_model_check_deviations(const fen_model *m, const fenp_sample *sample, int *agree,
                                       fen_error *err);
/* Features that are 0 in every training row: of the columns there are that many less. */
int64_t    fenp_model_empty_features(const fen_model *m);
/* "features": names, "scale", and of linear models "coefficients" and "intercept"; nonzero: no
 * memory. */
int        fenp_coefficients_json(json_t *out, const fen_model *m);
/* The same two where the coefficients are those of rows (terms): "row 1" is the first of the n. */
int        fenp_row_coefficients_json(json_t *out, const fen_model *m);
/* features (rows x p) -> scores (rows x targets): f(x) + b */
fen_status fenp_model_scores(const fen_model *m, const double *x, int64_t rows, double *scores,
                             const fenp_task *task, fen_error *err);
#endif
