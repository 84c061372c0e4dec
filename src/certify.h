/* certify.h -- one target as the certificate sees it: what the files certify*.c share */
#ifndef FENP_CERTIFY_H
#define FENP_CERTIFY_H
#include "base/arena.h"
#include "story.h"
#include "tensor/pivots.h"

typedef struct fenp_claim {
    const fen_loss *loss;
    const double *par;         /* of the loss in P                                      */
    const double *dual_par;    /* and in D: 0 where it is free                          */
    double price;              /* price * nu * W of a free parameter, W = sum w; else 0 */
    int    free_par;
    const fen_penalty *penalty;
    const double *y, *w;       /* rows of weight 0 take no part                         */
    int64_t n;
    double spread;             /* mean of the centred k(x,x)                            */
    double lambda, power, offset;
    double shift;              /* taken off labels and scores: see fenp_claim_shift     */
    int    bias;
    const double *f;           /* n: f(x_i)                                             */
    const double *slack;       /* n: f(x_i) is that to so much; NULL: to rounding       */
    const double *size;        /* n: |phi(x_i)|_q, at most; penalty lp alone, else NULL */
    double predicting;         /* a prediction may be off f by that times |phi(x)|_q    */
    double norm;               /* ||f||, at most                                        */
    const double *z;           /* n: feasible dual variables                            */
    const double *window;      /* 2 n: z_i from .. to, in its domain; NULL: all of that */
    double dual_norm;          /* ||g|| of them, at most                                */
    double mismatch;           /* linear: weights against coef_scale X'u, relative      */
    const fenp_line *tangents; /* power < 1: T_z of every stored dual vector            */
    int64_t tangent_count;
} fenp_claim;

/* ---- certify.c ---- */
/* With a bias and a loss of y - t, P and (because sum u = 0) D stay the same when labels and
 * scores lose the same constant. Taking the mean off spares y = 1e9 + noise its cancellation;
 * with the model's own b a wild one would turn the rounding error of sum u into a bound. */
double fenp_claim_shift(const fenp_claim *c);
/* - sum w_i loss*(y_i, -t z_i) */
double fenp_claim_minus_conjugates(const fenp_claim *c, double t);
/* What target t claims, but for f and z; w: room for n, which it points to. */
fenp_claim fenp_claim_of(const fen_model *m, const fenp_sample *sample, int64_t t, double spread,
                         double *w);
double fenp_claim_mean_loss(const fenp_claim *c);
/* Largest |z_i + loss'(t_i)| over the largest |z_i|, z = u / w. */
double fenp_claim_stationarity(const fenp_claim *c, const double *u);
/* Loss of an error in the last digits of y, or the last digits of the largest -P that a
 * parameter which earns can have, price^2 spread / (4 lambda). */
double fenp_claim_digits(const fenp_claim *c);

/* ---- certify_distance.c: penalty lp ---- */
/* Distances, of a certificate that has everything else; dual: D as it came out, be it above P. */
void   fenp_claim_distance(const fenp_claim *c, double dual, fen_certificate *out);

/* ---- certify_feasible.c ---- */
/* out = w z, z = u / w moved into the set where D is a bound. */
void   fenp_claim_feasible(const fenp_claim *c, const double *u, double *out);
/* z_i runs from low to high; slopes are -z. */
void   fenp_claim_box(const fenp_claim *c, int64_t i, double *low, double *high);
/* out (2 n): where slopes at scores that are known to so much of the mean |y - t| have z_i. */
void   fenp_claim_windows(const fenp_claim *c, double near, double *out);

/* ---- certify_null.c: the best constant (f = 0; b = 0 without bias) ---- */
double fenp_claim_constant(const fenp_claim *c, double *par);   /* b, and the parameter */
double fenp_claim_null(const fenp_claim *c);                    /* its objective */

/* ---- certify_design.c: products with the matrix of a linear model or an expansion --------- */
/* Out of the sample itself; never n x n at once, but where the rows are that (precomputed). */
typedef struct fenp_matrix {
    const fenp_sample *sample;
    const fenp_kernel *kernel; /* columns are k(x_j, .); NULL: those of the sample      */
    int64_t n, p;
    const fenp_task *task;
} fenp_matrix;
fenp_matrix fenp_matrix_of(const fen_model *m, const fenp_sample *sample, const fenp_task *task);
/* f = X beta */
fen_status  fenp_matrix_scores(const fenp_matrix *x, const double *beta, double *f,
                               fen_error *err);
/* g = X'u */
fen_status  fenp_matrix_products(const fenp_matrix *x, const long double *u, double *g,
                                 fen_error *err);
/* Column j; j = p: ones. */
fen_status  fenp_matrix_column(const fenp_matrix *x, int64_t j, double *out, fen_error *err);

/* ---- certify_span.c ---- */
/* An orthonormal basis of what the columns listed (p: ones) span in rows of positive weight:
 * n x rank, room for n x n. */
fen_status  fenp_matrix_span(const fenp_matrix *x, const double *w, const int64_t *columns,
                             int64_t count, double *basis, int64_t *rank, fen_error *err);

/* ---- certify_project.c ---- */
typedef struct fenp_columns {
    const int64_t *which;      /* p: ones                                               */
    int64_t count, must;       /* the first `must` are constraints, the others wishes   */
    const double *wanted;      /* count: x_j'u, 0 for constraints; NULL: 0, all must    */
    int polish;                /* by certify_polish.c, where nothing else is enough     */
} fenp_columns;
/* u, moved inside the boxes to where it is orthogonal to columns (count <= n + 1 where there are
 * wishes); left: what remains of |x_j'u|, of constraints. *within: no more than
 * fenp_claim_rounding of it. */
fen_status fenp_claim_project(const fenp_claim *c, const fenp_matrix *x, const fenp_columns *to,
                              long double *u, double *left, int *within, fen_error *err);

/* u, cut into its boxes; how far u_i is from the nearer end of its box, sqrt(w_i): there is none. */
void       fenp_claim_cut(const fenp_claim *c, long double *u);
double     fenp_claim_room(const fenp_claim *c, int64_t i, long double u);

/* ---- certify_polish.c ---- */
/* The same for a u that is off by some roundings alone; constraints only. */
fen_status fenp_claim_polish(const fenp_claim *c, const fenp_matrix *x, const fenp_columns *to,
                             long double *u, double *left, int *within, fen_error *err);

/* 2^-53 sum |x_i u_i|: by how much x'u changes when each x_i moves by the rounding error of a
 * double. So much counts as 0: D is then a bound for data that agree with the file to the last
 * digit. Nothing more can count as rounding: what coefficients of any size make of it is open. */
double     fenp_claim_rounding(const long double *u, const double *column, int64_t n);

/* ---- certify_linear.c: fenp_certify for penalties on coefficients ---- */
fen_status fenp_certify_linear(const fen_model *model, const fenp_sample *sample,
                               fen_certificate *out, const fenp_task *task, fen_error *err);

/* ---- certify_tensor.c: penalty lp, ||f|| = |w|_p, ||g|| = |Phi'u|_q ---- */
/* Forms (tensor/form.h) of `count` vectors v over n rows: T within value_error of value, om_i
 * within om_error of om, rounding included; of the first vectors alone where others have none. */
typedef struct fenp_sums {
    double *value, *value_error;   /* count                                             */
    double *om, *om_error;         /* count x n                                         */
} fenp_sums;
/* om[i] += more (certify_series.c) */
void       fenp_sums_add(fenp_sums *sums, int64_t i, long double more);
/* The same of v / unit, unit about |v|_2 and a power of 2, by which division is exact:
 * T(v) = unit^q T(v / unit) need be no double. */
typedef struct fenp_forms {
    int64_t n, count;
    double *unit;                  /* count; 0: v = 0                                   */
    fenp_sums sums;
    fenp_arena arena;
} fenp_forms;
/* Memory that it may take; kernel: gamma need not be known. */
int64_t    fenp_forms_room(const fenp_kernel *kernel, int64_t n, int64_t p, int64_t count,
                           int64_t scored);
/* om of the first `scored` vectors alone. To be closed in any case. */
fen_status fenp_forms_open(fenp_forms *out, const fenp_kernel *kernel, fen_view x, const double *v,
                           int64_t count, int64_t scored, const fenp_task *task, fen_error *err);
void       fenp_forms_close(fenp_forms *forms);
/* f (n) and slack (n) of c = coef_scale u, u being vector t; norm. */
void       fenp_forms_scores(const fenp_forms *forms, int64_t t, const fenp_kernel *kernel,
                             double coef_scale, double *f, double *slack, double *norm);
/* |Phi'v|_q of vector t, at most. */
double     fenp_forms_dual_norm(const fenp_forms *forms, int64_t t, const fenp_kernel *kernel);
/* By how much predictions by features may be off f, over |phi(x)|_q, and size: those of the rows.
 * 0: a series without end, of which fenp_prediction_error knows more. */
double     fenp_prediction_rounding(const fen_model *m, int64_t t, const double *u,
                                    const double *size, double norm);
/* |phi(x)|_q of a row, at most. */
double     fenp_feature_norm(const fenp_kernel *kernel, const double *row, int64_t p);
/* Linear kernels: f, norm, dual_norm and mismatch of target t from the rows and the weights. */
fen_status fenp_claim_by_weights(const fen_model *m, const fenp_sample *sample, int64_t t,
                                 const double *u, const double *feasible, fenp_claim *c, double *f,
                                 const fenp_task *task, fen_error *err);

/* ---- certify_tree.c: features of one degree ---- */
typedef struct fenp_tree {
    int64_t n, p, q;
    const double *column;          /* p x n, |x| <= 1                                   */
    const double *v;               /* count x n                                         */
    int64_t count, scored;
} fenp_tree;
/* Flops of degree m; INFINITY: beyond counting. */
double     fenp_tree_cost(const fenp_tree *tree, int64_t m);
int64_t    fenp_tree_bytes(const fenp_tree *tree, int64_t degree);   /* -1: beyond counting */
/* What rounding comes to, relative: in each term of a sum over rows; in what is made of the
 * sums; in the sums that scores are. */
typedef struct fenp_tree_done {
    double sums, powers, scores;
} fenp_tree_done;
/* degree >= 1; all monomials times `start`; value (count): of this degree; om and om_error of
 * `out` are added to, the latter by the rounding of om to double. */
fen_status fenp_tree_add(const fenp_tree *tree, int64_t degree, double c, long double start,
                         long double *value, fenp_sums *out, fenp_tree_done *done,
                         fen_error *err);

/* ---- certify_series.c ---- */
/* What fenp_series_sums takes at most; kernel: gamma need not be known. *whole: so many flops are
 * enough for all degrees, and nothing is left. */
int64_t    fenp_series_bytes(const fenp_kernel *kernel, const fenp_tree *size, double budget,
                             int *whole);
/* By features of ever higher degrees, until the rest is below `wanted` of T and of little weight in
 * all scores, or so many flops are spent; the errors tell. left: what the rest is, as a share. */
fen_status fenp_series_sums(const fenp_kernel *kernel, fen_view x, const double *v, int64_t count,
                            int64_t scored, double wanted, double budget, fenp_sums *out,
                            double *left, const fenp_task *task, fen_error *err);

/* ---- certify_tangents.c: power < 1 ---- */
int64_t    fenp_tangents_room(const fenp_size *size, int64_t count);   /* bytes of an arena */
/* T_z of every dual vector, targets x tangent_count; z: n, work. c.y and c.w are filled in. */
fen_status fenp_tangents_lines(fenp_arena *arena, const fen_model *m, const fenp_sample *sample,
                               fenp_claim c, double *z, const fenp_line **out,
                               const fenp_task *task, fen_error *err);
#endif
