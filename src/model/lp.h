/* lp.h -- what a model of penalty lp with a tensor kernel predicts by, and is made of
 *
 *     f(x) = w.phi(x),   w = J_q(sum_i c_i phi(x_i)),   or f~ of tensor/pivots.h
 *
 * Series that end have their features, up to FENP_MOST_FEATURES of them. Of those that do not end
 * the first degrees do, where the rest is small (a cut); else, and beyond that number, the model
 * carries pivots. */
#ifndef FENP_MODEL_LP_H
#define FENP_MODEL_LP_H
#include "model/model.h"

enum { FENP_MOST_FEATURES = 1 << 21 };      /* that are made explicit to predict and to list */

/* f is a sum over so few features: a linear model, or lp with a series that ends. */
int     fenp_model_is_explicit(const fen_model *m);
/* Neither explicit nor cut at any degree that would do: without pivots there is no prediction. */
int     fenp_model_needs_pivots(const fen_model *m);
/* So many that a fit would take them; whether rows are so few that it takes any. */
int64_t fenp_model_most_pivots(const fen_model *m);
int     fenp_model_can_pivot(const fen_model *m);
/* w of target t over the features of kernel: the model's, or one that is cut. Linear models have
 * theirs. */
fen_status fenp_model_implied(const fen_model *m, const fenp_kernel *kernel, int64_t t,
                              double *out, fen_error *err);
/* The same of the products themselves: f(x) = sum_k out_k x^k. */
fen_status fenp_model_products(const fen_model *m, const fenp_kernel *kernel, int64_t t,
                               double *out, fen_error *err);
/* ---- nested.c: out[i stride] = sum_k v_k x_i^k over the features of degree at most degree[i],
 * which come in the order of kernel's ---- */
fen_status fenp_nested_sums(const fenp_kernel *kernel, fen_view x, const int64_t *degree,
                            const double *v, double *out, int64_t stride, fen_error *err);
/* ---- tuples.c: f(x) = sum over tuples of q - 1 rows of a.. k(.., x), by its definition ---- */
/* How many kernel values that takes: INT64_MAX: beyond counting. */
int64_t    fenp_tuples_count(const fen_model *m);
/* *value: f(x) of target t; *size: the same sum of absolute values. kernel and rows (kept x p) may
 * be those of divided columns. */
fen_status fenp_tuples_sum(const fen_model *m, const fenp_kernel *kernel, const double *rows,
                           int64_t t, const double *x, double *value, double *size,
                           fen_error *err);
/* ---- lp_scores.c: features (rows x p) -> f (rows x targets), no offset; doubt (rows, or NULL):
 * by how much of it f may be wrong where a row is too far outside, else 0 ---- */
fen_status fenp_lp_scores(const fen_model *m, const double *x, int64_t rows, double *scores,
                          double *doubt, const fenp_task *task, fen_error *err);

/* ---- cut.c: a series up to some degree ---- */
enum { FENP_CUT_TERMS = 128 };
enum { FENP_AS_GOOD_AS_PIVOTS = 1000 };     /* errors of 1e-11 that a cut may leave */
typedef struct fenp_cut {
    fen_kernel     table;      /* as the kernel's, but its series ends at par.degree     */
    fen_kernel_par par;        /* of columns that are divided by 2^unit                  */
    int            unit;
    int64_t        last;       /* highest degree that there is room for; -1: none        */
    int            whole;      /* the series ends: no other degree is ever taken         */
    double         term[FENP_CUT_TERMS];    /* logarithms: what degree m adds to f(x) at most is
                                  exp(term) |x|_q^m times what an error may be           */
    double         most;       /* largest |x|_q of the rows, divided                     */
    double         usual;      /* fenp_cut_size there                                    */
    double         ratio;      /* of what comes behind: its logarithm, over |x|_q        */
} fenp_cut;
/* x: rows with coefficients (kept x p). 0: no memory. */
int         fenp_cut_open(const fen_model *m, const double *x, fenp_cut *out);
/* The least degree behind which all the others together add no more than so many errors of 1e-11
 * to f(x); above last: there is no room for it. */
int64_t     fenp_cut_degree(const fenp_cut *cut, const double *x, int64_t p, double errors);
/* All degrees together, at most, over the mean: rounding errors of f(x) grow with it. 0 where the
 * series ends. */
double      fenp_cut_size(const fenp_cut *cut, const double *x, int64_t p);
/* A mean of |f| of target t: |w|_p^p over the sum of the coefficients' sizes. */
double      fenp_cut_mean(const fen_model *m, int64_t t);
/* Of divided columns. Lives as long as cut. */
fenp_kernel fenp_cut_at(const fenp_cut *cut, int64_t degree);

/* ---- far.c: rows that are far outside the training rows ---- */
typedef struct fenp_far {
    const fen_model *model;
    const fenp_cut  *cut;
    const double    *rows;     /* kept x p, divided                                      */
} fenp_far;
/* scores (targets) of a row (raw; x: divided) are put right where they need it. outside: it needs
 * more degrees than it had. */
fen_status fenp_far_row(const fenp_far *far, int outside, const double *raw, const double *x,
                        double *scores, double *doubt, fen_error *err);
#endif
