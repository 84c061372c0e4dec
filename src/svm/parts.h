/* parts.h -- what the files of the LIBSVM drop-in share */
#ifndef FENP_SVM_PARTS_H
#define FENP_SVM_PARTS_H
#include "base/clock.h"
#include "data/bytes.h"
#include "fenchel/svm.h"
#include "kernel/gram.h"
#include "solver/descend.h"

/* ---- lines.c: a file line by line, whatever the length of the lines ---------------- */
typedef struct fenp_lines {
    fen_bytes *in;
    char   *text;              /* unread bytes are text[at] .. text[used-1]             */
    int64_t at, used, size;
    int     ended;
    int64_t number;            /* of the line that was read last, from 1                */
} fenp_lines;
/* *at NULL: there is none left; else [*at, *end) until the next call, without its newline. */
fen_status  fenp_lines_next(fenp_lines *lines, const char **at, const char **end,
                            fen_error *err);
void        fenp_lines_close(fenp_lines *lines);     /* not lines->in */

/* ---- rows.c: sparse rows ------------------------------------------------------------- */
typedef struct fenp_rows {
    int64_t  n, room;          /* room: of start                                        */
    int64_t *start;            /* n + 1                                                 */
    int64_t  pair_room;
    int32_t *index;            /* ascending within a row                                */
    double  *value;
    int32_t  largest;          /* index; 0 at least                                     */
} fenp_rows;
/* Appends the row "index:value ..." of [at, end). *right 0: it is not that. */
fen_status  fenp_rows_parse(fenp_rows *rows, const char *at, const char *end, int *right,
                            fen_error *err);
fen_status  fenp_rows_copy(fenp_rows *rows, const fenp_rows *from, int64_t row, fen_error *err);
double      fenp_rows_at(const fenp_rows *rows, int64_t row, int32_t index);   /* 0: absent */
void        fenp_rows_free(fenp_rows *rows);

struct fen_svm_data {
    fenp_rows rows;
    int64_t   label_room;
    double   *label;
};
fen_status fenp_svm_data_parse(fen_bytes *in, fen_svm_data **out, fen_error *err);

/* ---- columns.c: the indices that occur, in order, and dense rows over them -------------- */
typedef struct fenp_columns {
    int64_t  count;
    int32_t *index;
} fenp_columns;
fen_status fenp_columns_find(const fenp_rows *rows, fenp_columns *out, fen_error *err);
/* out (stride doubles): the values of one row; returns the square of what is outside. */
double     fenp_columns_fill(const fenp_columns *columns, const fenp_rows *rows, int64_t row,
                             double *out);
fen_status fenp_svm_room(int64_t rows, int64_t columns, const char *what_for, fen_error *err);

/* ---- kernels.c ------------------------------------------------------------------------- */
extern const char *const fenp_svm_type_names[], *const fenp_svm_kernel_names[];
const fen_kernel *fenp_svm_kernel_table(fen_svm_kernel kernel);
/* Serial number of a row of a precomputed kernel; 0: it has none. */
int32_t fenp_svm_serial(const fenp_rows *rows, int64_t row);

/* ---- the model ----------------------------------------------------------------------------
 * Classifiers: support vectors stand class by class; coefficients of class i are a block of
 * (classes - 1) x support[i] numbers, row j for the pair with the j-th of the other classes.
 * Others: one block of 1 x support. */
struct fen_svm {
    fen_svm_type   type;
    fen_svm_kernel kernel;
    fen_kernel_par par;
    int64_t  classes;          /* as in the file: 2 for what is not a classifier        */
    int64_t  machines, blocks;
    int32_t *label;            /* classes; NULL: not a classifier                       */
    double  *rho;              /* machines                                              */
    double  *prob_a, *prob_b;  /* machines, or NULL; regression: prob_a[0] = sigma      */
    double  *marks;            /* one class: FENP_SVM_MARKS, see marks.c; NULL: none    */
    int64_t *support;          /* blocks: support vectors in each                       */
    double **coef;             /* blocks                                                */
    fenp_rows vectors;
    /* made by fenp_svm_ready from those above */
    fenp_columns columns;
    double  *dense;            /* vectors x (columns + 1), the last column is zero      */
    double  *weights;          /* linear: columns x machines, instead of dense          */
    int32_t *serial;           /* precomputed: of the vectors                           */
};
fen_svm   *fenp_svm_new(fen_svm_type type, int64_t classes);   /* NULL: no memory       */
/* The machine (pair of classes) that row coef_row of a block is for: (0,1), (0,2), ... */
int64_t    fenp_svm_machine(const fen_svm *model, int64_t block, int64_t coef_row);
fen_status fenp_svm_ready(fen_svm *model, fen_error *err);
fen_status fenp_svm_parse(fen_bytes *in, fen_svm **out, fen_error *err);
static inline int fenp_svm_classifies(fen_svm_type type)
{ return type == FEN_SVM_C_SVC || type == FEN_SVM_NU_SVC; }
static inline int64_t fenp_svm_coef_rows(const fen_svm *model)
{ return model->label && model->classes > 1 ? model->classes - 1 : 1; }

/* ---- marks.c: one class, decision values -> how likely a row is to be normal ------------ */
enum { FENP_SVM_MARKS = 10 };
/* decision is sorted. 0: too few of them are negative, or not negative. */
int    fenp_svm_marks_find(double *decision, int64_t n, double *marks);
double fenp_svm_marks_value(const double *marks, double decision);

/* ---- options.c ----------------------------------------------------------------------- */
void   fenp_svm_tell(const fen_svm_options *o, fen_svm_news news);
double fenp_svm_gamma(const fen_svm_data *data, const fen_svm_options *o);

/* ---- classes.c: rows by class -------------------------------------------------------- */
typedef struct fenp_classes {
    int64_t  count;
    int32_t *label;
    int64_t *start;            /* count + 1                                             */
    int64_t *row;              /* rows of class k: row[start[k]] .. row[start[k+1]-1]   */
} fenp_classes;
/* In the order in which the labels appear, but +1 before -1 where these are all. */
fen_status fenp_classes_find(const fen_svm_data *data, fenp_classes *out, fen_error *err);
void       fenp_classes_free(fenp_classes *classes);

/* ---- machine.c: one function through the dual solver --------------------------------- */
typedef struct fenp_machine {
    const fen_svm_options *o;
    fenp_kernel  kernel;
    fenp_sample *sample;       /* y: signs or values; w is overwritten                  */
    double      *box;          /* n: C of every row; 0: it takes no part                */
    fenp_arena   arena;
    const fenp_solver *solver;
    void        *state;
    int64_t      sweeps;
    fenp_solution solution;
    /* the answer */
    double *coef;              /* n                                                     */
    double  rho;
    fen_svm_news news;
} fenp_machine;
/* Rows of data, by place; y NULL: labels as they are. */
fen_status fenp_machine_open(const fen_svm_data *data, const fenp_columns *columns,
                             const int64_t *rows, int64_t n, const double *y,
                             const fen_svm_options *o, fenp_machine *out, const fenp_task *task,
                             fen_error *err);
fen_status fenp_machine_solve(fenp_machine *machine, const fenp_task *task, fen_error *err);
double     fenp_machine_decision(const fenp_machine *machine, int64_t i);
void       fenp_machine_close(fenp_machine *machine);

/* ---- train.c ------------------------------------------------------------------------- */
/* fen_svm_train for options that were checked with more rows than these. */
fen_status fenp_svm_train(const fen_svm_data *data, const fen_svm_options *o, const fen_host *host,
                          fen_svm **out, fen_error *err);

/* ---- folds.c ------------------------------------------------------------------------- */
/* Sigmoid of a pair from the decisions of five machines, each without a fifth of the rows. */
fen_status fenp_svm_sigmoid(fenp_machine *machine, uint64_t stream, double sigmoid[2],
                            const fenp_task *task, fen_error *err);
/* sigma of the Laplace distribution of what cross-validation leaves unexplained. */
fen_status fenp_svm_noise(const fen_svm_data *data, const fen_svm_options *o, const fen_host *host,
                          double *sigma, fen_error *err);
#endif
