/* extend.h -- the tables a plug-in fills in; one file per entry, one registry line */
#ifndef FENCHEL_EXTEND_H
#define FENCHEL_EXTEND_H
#include "fenchel/fenchel.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ---- loss: v(t) = loss(y, t), convex in t ------------------------------------ */
typedef struct fen_parameter {
    const char *name;
    double low, high, initial;
    int    from_low;         /* 1: low itself is allowed; high never is                 */
} fen_parameter;
typedef enum fen_labels {
    FEN_NUMBERS,             /* y is any number                                        */
    FEN_SIGNS                /* y is -1 or +1, and t says yes or no by its sign         */
} fen_labels;
/* v*(-z) = curvature/2 z^2 - linear z + kink |z|  for low <= z <= high, else +inf */
typedef struct fen_piece { double curvature, linear, kink, low, high; } fen_piece;

typedef struct fen_loss {
    const char *name, *help;
    fen_parameter parameter;                       /* par[0]; name NULL: the loss
                                                      has none                         */
    fen_labels labels;
    double smoothness;                             /* Lipschitz constant of v' at most;
                                                      0: v is not smooth               */
    int    residual;                               /* 1: a function of y - t alone      */
    int    price;                                  /* may the parameter be left free
                                                      (--nu)? +1: it costs nu, -1: it
                                                      earns nu, 0: no. v* must then be
                                                      affine in it                     */
    double (*value)(double y, double t, const double *par);
    double (*conj )(double y, double slope, const double *par);   /* v*(slope)         */
    void   (*domain)(double y, const double *par, double *low, double *high); /* of v*  */
    void   (*slopes)(double y, double t, const double *par, double *low, double *high); /* dv(t) */
    double (*prox )(double y, double t, double step, const double *par);
    double (*curvature)(double y, double t, const double *par); /* v''(t), at a jump either
                                                      side; NULL: v is not smooth      */
    void   (*piece)(double y, const double *par, fen_piece *out); /* v* in pieces; NULL: it
                                                      is not piecewise quadratic       */
} fen_loss;

/* ---- penalty: lambda sum over the parts of weight * value(norm of the part) ------- */
typedef enum fen_parts {
    FEN_WHOLE,               /* one part: the function, its norm is that of the kernel  */
    FEN_EACH,                /* every coefficient of a linear model or an expansion     */
    FEN_GROUPS               /* groups of coefficients, by their Euclidean norm          */
} fen_parts;
typedef struct fen_penalty {
    const char *name, *help;
    const char *written;     /* after the colon of --penalty; NULL: nothing             */
    fen_parts parts;
    fen_parameter parameter; /* par: the power of rkhs, the mix of elastic; name NULL: none */
    double (*value)(double norm, double par);
    double (*conj )(double dual_norm, double lambda, double par);  /* of lambda value    */
    double (*prox )(double norm, double step, double par); /* argmin over s >= 0 of step
                                value(s) + (s - norm)^2/2; NULL: FEN_WHOLE              */
} fen_penalty;

/* ---- kernel: a function of one number that a whole tile can be made of ---------- */
typedef enum fen_basis {
    FEN_SQUARED_DISTANCE,    /* ||x - z||_2^2 */
    FEN_L1_DISTANCE,         /* ||x - z||_1   */
    FEN_PRODUCT,             /* x . z         */
    FEN_PRECOMPUTED,         /* the kernel values themselves stand in the rows */
    FEN_TENSOR               /* sum_j x1_j x2_j ... xq_j of q rows: --penalty lp alone  */
} fen_basis;
typedef struct fen_kernel_par {
    double gamma, degree, coef0;
    double order;            /* q = p/(p-1) of --penalty lp:P; 0: the penalty is another */
} fen_kernel_par;
typedef struct fen_kernel {
    const char *name, *help;
    fen_basis basis;
    int linear;                    /* k = x.z: models carry a weight vector             */
    int uses_gamma, uses_degree, uses_coef0;
    int gamma_is_inverse_length;   /* k depends on gamma*r: rules take a square root   */
    double spectral_degrees;       /* random features: frequencies follow a t law of so
                                      many degrees, INFINITY: normal; 0: there are none */
    double (*value)(double basis, const fen_kernel_par *par);      /* one pair          */
    void   (*map)(double *basis, int64_t count, const fen_kernel_par *par); /* in place */
    /* FEN_TENSOR: k(s) = sum_m series(m) s^m, no coefficient below 0; the features are then
     * (series(|k|) |k|! / (k_1! k_2! ...))^(1/q) x^k over all multi-indices k. last: the highest
     * m with a coefficient; -1: there is none, and series(m + 1) / series(m) never grows with m.
     * With uses_gamma k is a function of gamma s: series(m) goes with gamma^m. */
    double  (*series)(int64_t m, const fen_kernel_par *par);
    int64_t (*last)(const fen_kernel_par *par);
} fen_kernel;

/* ---- format: a file as a sequence of blocks of rows ------------------------------ */
typedef struct fen_bytes fen_bytes;             /* a plain or .gz file, see data/bytes.h */
typedef struct fen_format {
    const char *name, *help;
    const char *endings;                               /* ".csv .tsv .txt"              */
    int        (*sniff)(const char *head, int64_t bytes);          /* 0..100 confidence */
    fen_status (*open )(fen_bytes *in, const fen_options *o, void **state, fen_error *err);
    fen_status (*next )(void *state, fen_table **block, fen_error *err); /* NULL: the end */
    void       (*close)(void *state);
    /* writing: begin is called once with the first block, rows for every block */
    fen_status (*begin)(fen_sink *sink, const fen_table *block, void **state, fen_error *err);
    fen_status (*rows )(void *state, const fen_table *block, fen_error *err);
    fen_status (*end  )(void *state, fen_error *err);  /* always called; frees state    */
} fen_format;

/* ---- generator -------------------------------------------------------------------- */
typedef struct fen_generator {
    const char *name, *help;
    int64_t columns;                                   /* of the table, target included */
    double  noise;                                     /* default standard deviation    */
    /* fills one row, column names given once by name(column) */
    void        (*row)(uint64_t seed, int64_t row, double noise, double *cells);
    const char *(*column)(int64_t column);
} fen_generator;
#ifdef __cplusplus
}
#endif
#endif
