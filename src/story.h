/* story.h -- what the story files tell each other: settle, plan, select, fit, certify */
#ifndef FENP_STORY_H
#define FENP_STORY_H
#include "model/model.h"
#include "base/registry.h"
#include "solver/linear.h"
#include "solver/products.h"
#include "solver/solver.h"

/* ---- strategy.c: decided once, before any work, from the sizes alone ---------------- */
typedef struct fenp_strategy {
    const fenp_solver *solver;
    const char *why;               /* the solver                                        */
    const fenp_solver *rescue;     /* takes over where solver stalls; NULL: nobody       */
    fenp_size size;                /* what solver->bytes and flops are asked about       */
    int     refits;                /* scores take refits (promise/refit.h): no closed form */
    int     gammas, lambdas, powers;   /* values to try; 1, 1 and 1: nothing to select  */
    int     widen;                 /* the gamma grid may grow past its ends             */
    int64_t coarse_rows;           /* all gammas are tried on so many rows; 0: skipped  */
    int64_t rows;                  /* the final scores are computed on so many          */
    int64_t bytes;                 /* largest work area of any step                     */
    int64_t after;                 /* penalty lp: of those after the solver             */
    double  flops;                 /* of all steps                                      */
} fenp_strategy;
fen_status fenp_strategy_make(const fen_options *o, const fen_kernel *kernel, const fen_loss *loss,
                              const fenp_size *size, fenp_strategy *out, fen_error *err);
/* What to do where it does not fit. */
void       fenp_advise(const fenp_strategy *strategy, const fen_options *o, const fenp_size *size,
                       char *out, size_t room);
enum { FENP_NEIGHBOURS = 3 };      /* gammas that are scored on all rows of the final scores */
/* Of the final fit alone. */
double     fenp_solving_flops(const fenp_strategy *strategy, const fen_options *o,
                              const fenp_size *size);
/* K of --select kfold:K, else 0. */
int64_t    fenp_folds(const fen_options *o);
/* A few ridge settings are scored faster by one factorisation each than by a spectrum. */
int        fenp_scores_by_cholesky(const fenp_size *size, int64_t settings, int primal,
                                   int64_t folds);
/* Work area of the scores of one gamma; -1: beyond what LAPACK or memory can hold. */
int64_t    fenp_scoring_bytes(const fenp_size *size, int64_t settings, int64_t folds, int primal);
/* FEN_MEMORY with advice if the strategy does not fit o->memory_limit_bytes or the machine. */
fen_status fenp_strategy_fits(const fenp_strategy *strategy, const fen_options *o,
                              const fenp_size *size, fen_error *err);
/* FEN_MEMORY with the advice if so many bytes more are not to be had. */
fen_status fenp_memory_fits(const fen_options *o, int64_t bytes, const char *advice,
                            fen_error *err);

/* The size of a problem with the smallest power that o may lead to. */
fenp_size  fenp_size_of(const fenp_sample *sample, const fen_options *o);
/* Powers to be tried; room for FEN_VALUES_MAX. */
int        fenp_list_powers(const fen_options *o, double *powers);

/* ---- engine.c: the solver ---- */
int64_t    fenp_memory_limit(const fen_options *o);   /* --memory, or what the machine has */
/* With a work area of so many bytes, the model's own copy of everything, and what BLAS
 * keeps for its threads. */
int64_t    fenp_resident_with(int64_t work, const fenp_size *size);
/* NULL: *err says why. rescue: see fenp_strategy. */
const fenp_solver *fenp_pick_solver(const fen_options *o, const fen_kernel *kernel,
                                    const fen_loss *loss, const fenp_size *size,
                                    const fenp_solver **rescue, fen_error *err);
/* What a solver is asked about: an iterative one has one output, power 2, and some room. */
fenp_size  fenp_solver_size(const fenp_solver *solver, const fen_options *o,
                            const fenp_size *size);
/* Work area of a solver and of the arrays that drive it; -1: too large to be counted. */
int64_t    fenp_solving_bytes(const fenp_solver *solver, const fenp_size *size);

/* ---- plan.c ---- */
double     fenp_measured_rate(void);                  /* flops per second of a matrix product */

/* ---- settle.c: what options stand for, once the rows are known -------------------------- */
typedef struct fenp_settled {
    fen_options  o;                /* loss: a bare name; select: not auto; lambda: in our
                                      own unit; power and lambda of --smoothness        */
    fenp_output *output;           /* sample->targets of them                           */
    double      *class_weights;    /* NULL: all 1                                       */
    fenp_penalty_choice penalty;   /* o.kernel is a bare name, too                      */
    int          no_coef0;         /* --coef0 was not given                               */
    int          idle;             /* --select was given, and so was all it could choose */
} fenp_settled;
/* Labels of sample become those of the outputs. The strings of o are borrowed from given. */
fen_status fenp_settle(const fen_options *given, const fenp_prep *prep, fenp_sample *sample,
                       fenp_settled *out, fen_error *err);
void       fenp_settled_free(fenp_settled *settled);
/* The same for random features, which know the square loss of numbers alone; n rows of p
 * features. */
fen_status fenp_settle_features(const fen_options *given, const fenp_prep *prep,
                                double weight_sum, fen_options *out, fen_error *err);

/* ---- select.c: kernel and lambda, chosen or as given ------------------------------- */
typedef struct fenp_chosen {
    fenp_kernel kernel;
    double lambda, power;
    fenp_selection selection;      /* grid is owned by whoever holds this               */
    int    cut;                    /* the time limit came before the end of the search  */
} fenp_chosen;
/* outputs: sample->targets of them; NULL: the square loss of numbers. Where scores take refits,
 * a time limit leaves the best point so far, or a rule's. */
fen_status fenp_choose(const fenp_sample *sample, const fen_options *o,
                       const fenp_output *outputs, const fen_kernel *kernel,
                       const fenp_strategy *strategy, fenp_chosen *out, const fenp_task *task,
                       fen_error *err);
/* Gammas that are scored side by side, each with a work area of its own (select_scores.c). */
int        fenp_gammas_at_once(int64_t rows, int gammas);

/* ---- setup_linear.c: the problems that penalties on coefficients make of a sample -------- */
typedef struct fenp_setup {
    fenp_kernel kernel;            /* linear, or that of the expansion (kernel lasso)   */
    fenp_design x;                 /* features, or the kernel matrix of all rows        */
    fenp_groups groups;
    fenp_linear *problem;          /* count: one for every output; with group:targets one of
                                      as many copies                                    */
    int64_t count;
    int    gamma_chosen;           /* by ridge regression; 0: given or by the rule       */
    double *owned, *w;             /* columns; weights of all outputs, targets x n       */
    fenp_products products;        /* of a design by rows, for its outputs and folds     */
} fenp_setup;
/* Solving alone, or also selection on folds: dense rows stay by rows where that will do; or x is
 * by columns. */
typedef enum fenp_purpose { FENP_TO_SOLVE, FENP_TO_SELECT, FENP_BY_COLUMNS } fenp_purpose;
/* Is gamma of an expansion to be chosen by scores? */
int        fenp_gamma_is_open(const fen_options *o, const fen_kernel *kernel);
/* That of a fit. */
fenp_purpose fenp_purpose_of(const fenp_settled *settled);
/* Sigmoids are asked for, and the loss has no probabilities of its own. */
int        fenp_wants_sigmoids(const fen_options *o, const fen_loss *loss);
/* Do the dense rows of such problems, outputs of them, stay by rows? */
int        fenp_stays_by_rows(const fenp_linear *problem, int64_t outputs, int grouped,
                              const fen_options *o, fenp_purpose purpose);
/* Problems point into the setup itself, the sample and settled: all stay where they are. */
fen_status fenp_setup_make(const fenp_prep *prep, const fenp_sample *sample,
                           const fenp_settled *settled, fenp_purpose purpose, fenp_setup *out,
                           const fenp_task *task, fen_error *err);
/* The problems that a model was the answer to, by columns; sample has the labels of its outputs. */
fen_status fenp_setup_of_model(const fen_model *model, const fenp_sample *sample,
                               fenp_setup *out, const fenp_task *task, fen_error *err);
void       fenp_setup_free(fenp_setup *setup);     /* what it holds, not the struct      */

/* ---- select_linear.c: lambda of penalties on coefficients -------------------------------- */
enum { FENP_MOST_LEFT_OUT = 200 }; /* rows up to which loo is a path each               */
/* problems: count of them, as in fenp_setup. Sets all of *out but the kernel; a time limit leaves
 * the best so far and cut. */
fen_status fenp_choose_linear(const fenp_linear *problems, int64_t count,
                              const fenp_sample *sample, const fen_options *o,
                              const fenp_output *outputs, fenp_chosen *out,
                              const fenp_task *task, fen_error *err);
/* The lambdas along which it looks, largest first: those given, 1/n by rule, or a path. *first:
 * as fenp_ladder_top leaves it (promise/ladder.h), or untouched. */
int64_t    fenp_count_lambdas_linear(const fen_options *o);
int64_t    fenp_count_folds_linear(const fen_options *o, int64_t rows);   /* 0: no folds  */
fen_status fenp_list_lambdas_linear(const fenp_linear *problems, int64_t count,
                                    const fenp_sample *sample, const fen_options *o,
                                    double *lambdas, fenp_linear_state **first,
                                    const fenp_task *task, fen_error *err);
/* The scores of all of them, also of one alone. */
fen_status fenp_score_linear(const fenp_setup *setup, const fenp_sample *sample,
                             const fenp_settled *settled, fenp_chosen *out,
                             const fenp_task *task, fen_error *err);
/* The same with a setup of its own. */
fen_status fenp_select_linear(const fenp_prep *prep, const fenp_sample *sample,
                              const fenp_settled *settled, fenp_chosen *out,
                              const fenp_task *task, fen_error *err);

/* ---- fit_linear.c: setup, choose, solve, certify for such penalties ----------------------- */
/* Takes over *prep, and inputs of sample. */
fen_status fenp_fit_linear(fenp_prep **prep, fenp_sample *sample, fenp_settled *settled,
                           const fenp_task *task, fen_model **out, fen_error *err);

/* ---- plan_linear.c ---- */
/* FEN_MEMORY with advice if such a fit does not fit o->memory_limit_bytes or the machine. */
fen_status fenp_linear_fits(const fenp_sample *sample, const fenp_settled *settled,
                            fen_error *err);
void       fenp_plan_linear(const fenp_sample *sample, const fenp_settled *settled, fen_plan *out);

/* ---- candidates.c ---- */
/* Several target columns, not several parameters or classes of one. */
int        fenp_has_columns(const fenp_output *outputs, int64_t count);
/* What the score of an output is measured by, times the number of outputs. */
double     fenp_score_unit(const fenp_sample *sample, const fenp_output *outputs,
                           const fen_options *o, int refits, int64_t t);
/* What the scores of functions that meet numbers but for rounding errors come to, at most. */
double     fenp_score_rounding(const fenp_sample *sample, const fenp_output *outputs,
                               const fen_options *o, int refits);
/* Of points of one gamma and power the one with the least score; of those that do as well, but for
 * rounding errors, that of the largest lambda: the simplest function. */
int64_t    fenp_best_score(const fenp_score *grid, int64_t count, double rounding);
/* Lambdas to be tried with a power: those given, 1/n (wanted 1), or an automatic grid. */
enum { FENP_AUTO_LAMBDAS = 25, FENP_AUTO_LAMBDAS_OTHER = 12 };   /* square loss; others */
void       fenp_list_lambdas(const fen_options *o, const fenp_output *outputs,
                             const fenp_kernel *kernel, const fenp_sample *all, int wanted,
                             double power, double *lambdas);

/* 1/n; but of penalty lp, where lambda has the unit of the target, the middle of the grid. */
double     fenp_lambda_of_no_search(const fenp_sample *sample, const fen_options *o,
                                    const fenp_output *outputs, const fenp_kernel *kernel,
                                    double power);

/* The same without the rows. */
typedef struct fenp_units {
    double weight_sum;             /* of all rows                                       */
    double diagonal;               /* mean of k(x,x)                                    */
    double log_deviation;          /* mean over the targets of log(standard deviation)  */
    double steepness;              /* of the loss that far off, over the deviation; 0:
                                      the square loss                                   */
    double decades;                /* that the grid spans; not for the square loss      */
} fenp_units;
void       fenp_lambdas_by_units(const fen_options *o, const fenp_units *units, int wanted,
                                 double power, double *lambdas);

/* The same for gamma, wanted of them: those given, the rule mean (wanted 1), or steps. */
fen_status fenp_list_gammas(const fen_options *o, const fen_kernel *kernel,
                            const fenp_sample *all, int wanted, double *gammas, fen_error *err);
double     fenp_gamma_step(const fen_kernel *kernel, int steps);   /* as a factor       */

/* ---- fit_solve.c: dual, coef_scale, offset, weights, tangents, free parameters of the
 * outputs, method and certificate of a model that says what is to be solved -------------- */
fen_status fenp_solve(fen_model *model, const fenp_sample *sample, const fenp_solver *solver,
                      const fenp_strategy *strategy, const fenp_task *task, fen_error *err);

/* ---- fit.c, fit_notes.c ---- */
/* Sigmoids of all outputs by cross-validation with the model's seed. */
fen_status fenp_sigmoids(const fen_model *model, const fenp_sample *sample,
                         const fenp_solver *solver, fenp_output *out, const fenp_task *task,
                         fen_error *err);
/* What became of rows and columns, in words. */
void       fenp_note_preparation(const fenp_prep *prep, int64_t rows_without_target,
                                 int64_t rows_without_weight, char *out, size_t room);
/* Says so in model->note where f = 0 does as well. */
void       fenp_note_tie(fen_model *model);
/* That all labels of a column are equal. */
void       fenp_note_labels(fen_model *model, const fenp_sample *sample);
/* Of penalties on coefficients: what is not penalised, which columns the others span, how gamma
 * was chosen. */
void       fenp_note_linear(fen_model *model, int gamma_chosen);
/* Of a lasso: which columns say the same as an earlier one, of those with a coefficient. Notes that
 * there is no memory for are not made. */
void       fenp_note_twins(fen_model *model, const fenp_design *x);
/* Where there is no proof: that columns which are not scaled differ widely in size. */
void       fenp_note_sizes(fen_model *model, const fenp_design *x);
/* That --select had nothing to choose. */
void       fenp_note_idle(fen_model *model, const char *select);
/* That no product has fewer factors, where --coef0 was left to us. */
void       fenp_note_products(fen_model *model);
/* That there was no time for all of the selection. */
void       fenp_note_cut(fen_model *model);
/* Penalty lp: that a low rank was not enough for a proof, if so. */
void       fenp_note_capped(fen_model *model);
/* What f(x_i) (targets x n) show: residuals outside a tube; penalties on coefficients, logistic loss,
 * where f is without those that have a penalty: that nothing is the best. */
void       fenp_note_scores(fen_model *model, const fenp_sample *sample, const double *scores);
/* The dual vectors that a model of a power below 1 carries while it is being made. */
int64_t    fenp_tangent_bytes(const fenp_size *size);

/* ---- smoothness.c: --smoothness s for d features and n rows; FEN_BAD_CALL: s is unfit ---- */
fen_status fenp_smoothness(double s, int64_t d, double n, double *power, double *lambda,
                           fen_error *err);

/* ---- certify.c: the certificate of every target from its definition ---------------- */
int64_t    fenp_certify_bytes(const fenp_size *size);       /* its work area              */
/* FEN_BAD_DATA if a precomputed kernel is not positive semidefinite: without that there is
 * no optimum, and nothing to certify. Any other kernel passes. */
fen_status fenp_check_kernel(const fen_kernel *kernel, const fenp_sample *sample, fen_error *err);
fen_status fenp_certify(const fen_model *model, const fenp_sample *sample, fen_certificate *out,
                        const fenp_task *task, fen_error *err);
/* certify_tensor.c: by how much predictions of a model that cuts its kernel (pivots, or a series
 * without end) may be off in its training rows (n x p), for model->prediction_error; 0 for
 * others. size: the largest |f(x_i)|. The optimum_distance of a certificate has yet to be added
 * to it. */
fen_status fenp_prediction_error(const fen_model *model, fen_view rows, double *error,
                                 double *size, const fenp_task *task, fen_error *err);
/* Of the best constants of all targets under the penalty of target t. */
double     fenp_joint_null(const fen_model *model, const fen_certificate *of, int64_t t);
/* digits: targets, for fenp_gap_unit. */
fen_status fenp_certify_digits(const fen_model *model, const fenp_sample *sample, double *digits,
                               fen_error *err);
/* Why a fit ended early cannot be seen from its answer. */
static inline int fenp_is_early(fen_verdict verdict)
{
    return verdict == FEN_VERDICT_LIMIT || verdict == FEN_VERDICT_INTERRUPTED;
}
/* ---- the parts of a certificate that know nothing of rows ---------------------------- */
/*  T(r) = height - steepness r: a tangent of the loss. */
typedef struct fenp_line {
    double height;
    double steepness, error;       /* ||g|| as computed, and what may be missing        */
    double noise;                  /* steepness of an eigenvalue that counts as 0       */
} fenp_line;
/* Least value over r >= 0 of max(0, T_1(r), ...) + lambda r^power. */
double     fenp_least_over_norms(const fenp_line *tangents, int64_t count, double lambda,
                                 double power);
/* Largest D(t z) over t in [0, 1]: value(state, t), concave; dual_norm is that of z. */
double     fenp_best_dual_value(double (*value)(const void *state, double t), const void *state,
                                double dual_norm, double lambda, double power);
/* Least sum w loss(y, b) over b (bias), or its value at b = 0; INFINITY: none is finite. */
double     fenp_null_objective(const fen_loss *loss, const double *par, const double *y,
                               const double *w, int64_t n, int bias);
/* The best b of f = 0 for output t, and the parameter of the loss that goes with it. w: room
 * for n. */
double     fenp_best_constant(const fen_model *model, const fenp_sample *sample, int64_t t,
                              double *w, double *par);
/* What a gap is measured by: the objective, but never less than 1e-12 of the best constant's;
 * digits: what the last digits of the labels make of it. */
double     fenp_gap_unit(const fen_certificate *of, double digits);
/* gap, relative gap and verdict of a certificate that has everything else. */
void       fenp_certificate_close(fen_certificate *c, double unit, double tolerance, int drowned);
#endif
