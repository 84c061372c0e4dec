/* svm.h -- support vector machines in LIBSVM's terms and files
 *
 *     type          minimised over f, b (f in the space of the kernel, e and rho free)
 *     C-SVC         1/2 ||f||^2 + sum C_i max(0, 1 - y_i (f(x_i) + b))
 *     nu-SVC        1/2 ||f||^2 - nu n rho + sum max(0, rho - y_i (f(x_i) + b)), then
 *                   divided by rho
 *     one-class     1/2 ||f||^2 - nu n rho + sum max(0, rho - f(x_i))
 *     epsilon-SVR   1/2 ||f||^2 + C sum max(0, |y_i - f(x_i) - b| - epsilon)
 *     nu-SVR        1/2 ||f||^2 + C (nu n e + sum max(0, |y_i - f(x_i) - b| - e))
 *
 * More than two classes: one machine per pair, in the order of LIBSVM; the class with most
 * votes wins. What is true of every function of fenchel.h is true here. */
#ifndef FENCHEL_SVM_H
#define FENCHEL_SVM_H
#include "fenchel/fenchel.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct fen_svm fen_svm;              /* a trained model                        */
typedef struct fen_svm_data fen_svm_data;    /* sparse rows with labels                */

typedef enum fen_svm_type {                  /* the numbers of svm-train -s            */
    FEN_SVM_C_SVC, FEN_SVM_NU_SVC, FEN_SVM_ONE_CLASS, FEN_SVM_EPSILON_SVR, FEN_SVM_NU_SVR,
    FEN_SVM_TYPES
} fen_svm_type;
typedef enum fen_svm_kernel {                /* the numbers of svm-train -t            */
    FEN_SVM_LINEAR, FEN_SVM_POLYNOMIAL, FEN_SVM_RBF, FEN_SVM_SIGMOID, FEN_SVM_PRECOMPUTED,
    FEN_SVM_KERNELS
} fen_svm_kernel;

/* ---- what happens while training, for those who want to tell -------------------- */
typedef enum fen_svm_event {
    FEN_SVM_SOLVED,          /* one machine: iterations ... bounded                    */
    FEN_SVM_TOTAL,           /* all machines of a model: support                       */
    FEN_SVM_ONE_CLASS_ONLY,  /* the labels are all the same                            */
    FEN_SVM_NO_SUCH_CLASS,   /* a weight was given for label, which does not occur     */
    FEN_SVM_MANY_FOLDS,      /* more folds than rows: one row each                     */
    FEN_SVM_NOISE,           /* sigma of the Laplace distribution of the residuals     */
    FEN_SVM_FEW_DECISIONS    /* one class: fewer than 5 decision values below 0, or not
                                below: no probabilities                                */
} fen_svm_event;
typedef struct fen_svm_news {
    fen_svm_event event;
    fen_svm_type  type;
    int64_t iterations, support, bounded;
    double  price;           /* nu of C-SVC and epsilon-SVR (NaN where the classes have
                                different C), C of nu-SVC, epsilon of nu-SVR           */
    double  objective, rho;  /* of the dual, as LIBSVM writes it; f(x) + b = f(x) - rho */
    double  sigma;
    int32_t label;
} fen_svm_news;

typedef struct fen_svm_weight { int32_t label; double weight; } fen_svm_weight;

typedef struct fen_svm_options {
    fen_svm_type   type;
    fen_svm_kernel kernel;
    int32_t degree;
    double  gamma;                   /* 0: one over the largest index of a feature     */
    double  coef0;
    double  cost, nu, epsilon;
    double  cache_megabytes;         /* a wish, for kernel values; 0: as many as help  */
    double  tolerance;               /* as LIBSVM understands it: 1e-3                 */
    int32_t probability;
    const fen_svm_weight *weight;    /* of classes, C-SVC only; borrowed               */
    int32_t weight_count;
    int32_t threads;                 /* 0: one per core                                */
    uint64_t seed;                   /* of the folds                                   */
    void  (*tell)(void *user, const fen_svm_news *news);     /* NULL: nobody listens   */
    void   *user;
} fen_svm_options;
FEN_API fen_svm_options fen_svm_options_default(void);

/* ---- data: "label index:value index:value ...", indices ascending ------------------ */
FEN_API fen_status fen_svm_data_read(const char *path, fen_svm_data **out, fen_error *err);
/* The same, but FEN_BAD_DATA leaves the rows before the wrong line in *out, to be freed. */
FEN_API fen_status fen_svm_data_read_part(const char *path, fen_svm_data **out, fen_error *err);
/* Rows of a matrix: column j has index j + 1; zeros are left out. */
FEN_API fen_status fen_svm_data_copy(fen_view inputs, const double *labels, fen_svm_data **out,
                                     fen_error *err);
FEN_API int64_t    fen_svm_data_rows(const fen_svm_data *data);
FEN_API double     fen_svm_data_label(const fen_svm_data *data, int64_t row);
FEN_API void       fen_svm_data_free(fen_svm_data *data);

/* ---- training ------------------------------------------------------------------------ */
/* FEN_BAD_CALL and LIBSVM's words for what is wrong with the options for these data. */
FEN_API fen_status fen_svm_check(const fen_svm_data *data, const fen_svm_options *o,
                                 fen_error *err);
FEN_API fen_status fen_svm_train(const fen_svm_data *data, const fen_svm_options *o,
                                 const fen_host *host /* may be NULL */, fen_svm **out,
                                 fen_error *err);
/* predicted: one label or value per row, by a model of the other folds. */
FEN_API fen_status fen_svm_cross_validate(const fen_svm_data *data, const fen_svm_options *o,
                                          int64_t folds, const fen_host *host, double *predicted,
                                          fen_error *err);

/* ---- models ----------------------------------------------------------------------------- */
FEN_API fen_status fen_svm_save(const fen_svm *model, const char *path, fen_error *err);
FEN_API fen_status fen_svm_load(const char *path, fen_svm **out, fen_error *err);
FEN_API void       fen_svm_free(fen_svm *model);
FEN_API fen_svm_type fen_svm_type_of(const fen_svm *model);
FEN_API int64_t fen_svm_support(const fen_svm *model);       /* support vectors          */
FEN_API int64_t fen_svm_classes(const fen_svm *model);       /* 0: not a classifier      */
FEN_API int32_t fen_svm_label(const fen_svm *model, int64_t of);
FEN_API int64_t fen_svm_machines(const fen_svm *model);      /* pairs of classes, or 1   */
FEN_API int     fen_svm_has_probability(const fen_svm *model);
FEN_API double  fen_svm_sigma(const fen_svm *model);         /* regression; 0: not known */

/* Rows [from, from + count) of data. decision: count x machines values f(x) - rho;
 * probability: count x classes, needs fen_svm_has_probability, and then predicted is the most
 * probable class; of a model of one class count x 2, of being normal and of being an outlier.
 * Either may be NULL. */
FEN_API fen_status fen_svm_predict(const fen_svm *model, const fen_svm_data *data, int64_t from,
                                   int64_t count, double *predicted, double *decision,
                                   double *probability, fen_error *err);
#ifdef __cplusplus
}
#endif
#endif
