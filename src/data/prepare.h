/* prepare.h -- from raw columns to numbers a kernel can use
 *
 * Learned from the training rows only, stored in the model, applied to raw rows ever
 * after. Numbers: gaps get the training mean and, where training had gaps, an
 * indicator feature; then (x - center) / scale. Text: one 0/1 feature per level and
 * one for "other". Constant columns are dropped. Sparse inputs are scaled, not
 * centred. kernel = precomputed: the n kernel values pass untouched. */
#ifndef FENP_PREPARE_H
#define FENP_PREPARE_H
#include <jansson.h>
#include "data/table.h"

/* S = sum of z z' over the rows (side x side, its upper triangle, column-major), where unit z +
 * centre is a row of the prepared features, 1 and the target (prepare_products.c). */
typedef struct fenp_raw_products {
    int64_t side;
    double *sum, *unit, *centre;    /* one piece of memory                             */
} fenp_raw_products;
void fenp_raw_products_free(fenp_raw_products *products);

/* What the solvers see. */
typedef struct fenp_sample {
    int64_t n, p, targets;
    double *x;          /* n x p, row-major; NULL: sparse, or unwritten               */
    struct fenp_unwritten *unwritten;  /* dense rows that are prepared when they are read;
                                          NULL: x holds them, or they are sparse      */
    fenp_raw_products *products;       /* of unwritten rows with weights alike; NULL: none */
    int64_t *start;     /* sparse, by columns: entries of column j are                */
    int32_t *row;       /*   start[j]..start[j+1]-1, rows ascending                   */
    double  *value;
    double *y;          /* targets x n: target t is y + t*n                           */
    double *w;          /* n, positive, sum 1                                         */
    double  weight_sum; /* sum of the weights as written (n without weights)          */
    uint64_t hash;      /* of the raw rows that were used                             */
    int64_t dropped_missing, dropped_weightless;   /* rows left out, and why          */
    const double *class_weights; /* that w contains; NULL: all 1. Borrowed from where the
                                    outputs are kept                                  */
    const char *title;  /* where the rows are from, for messages; borrowed from the table */
} fenp_sample;
/* Rows from, from + 1, ... of n into x (count x p), by one thread; the first of them with a cell
 * that cannot be used, or -1; and the sentence for that row. */
int64_t    fenp_unwritten_rows(const struct fenp_unwritten *rows, int64_t from, int64_t count,
                               double *x);
fen_status fenp_unwritten_say_bad(const struct fenp_unwritten *rows, int64_t row, fen_error *err);
/* Room for so many rows, of one caller at a time. */
enum { FENP_UNWRITTEN_ROOM = 4 };
double    *fenp_unwritten_room(const struct fenp_unwritten *rows);
void       fenp_unwritten_free(struct fenp_unwritten *rows);
fenp_sample *fenp_sample_new(int64_t n, int64_t p, int64_t targets);    /* NULL: no memory */
void         fenp_sample_free(fenp_sample *sample);
/* A seeded random part of dense rows; square: x is a kernel matrix, columns go along. */
fen_status   fenp_sample_part(const fenp_sample *from, int64_t rows, uint64_t seed, int square,
                              fenp_sample **out, fen_error *err);
static inline fen_view fenp_sample_inputs(const fenp_sample *s)
{ return (fen_view){ s->x, s->n, s->p, s->p }; }

/* One input column of the file and what became of it. */
typedef struct fenp_input {
    char   *name;
    int     text, constant;      /* constant: dropped, all but its indicator          */
    int     gaps;                /* numbers: training had gaps, an indicator follows  */
    int     idle;                /* no prediction needs it: it may be missing         */
    double  fill, center, scale; /* numbers                                           */
    double  least, largest;      /* numbers, of the training rows; NaN: not known     */
    char  **levels;              /* text: levels with a feature of their own          */
    int64_t level_count;         /* text: features are levels, then "other"           */
    int     spare;               /* text: no training row is "other", that feature is 0
                                    in all of them; 0 in a model that was read        */
} fenp_input;

typedef struct fenp_prep {
    int64_t inputs, features;
    int64_t targets;             /* 0: one-class, there is nothing but inputs         */
    fenp_input *input;
    char  **target;              /* names                                             */
    double *target_range;        /* targets x 2: least and largest of the training rows;
                                    infinite the wrong way round: not known           */
    int64_t class_count;         /* 0: the targets are numbers                        */
    char  **classes;             /* labels as written, in sorted order (numbers by
                                    size); sample->y holds their places 0, 1, ...     */
    int64_t *class_rows;         /* how many of the training rows are of each         */
    char   *weights;             /* name of the weight column, or NULL                */
    int     sparse;              /* absent columns of a sparse file are zeros         */
    int     precomputed;
    int     constants;           /* numbers other than 0 are features even if they are
                                    constant: there is no bias in their place         */
    char    scaling[16];         /* standard, range, none                             */
    fen_reading reading;         /* of the training file; missing NULL and counts_from -1:
                                    not known                                         */
} fenp_prep;

/* Resolves target and weights, drops rows without a target or weight, learns, applies. Sparse
 * tables stay sparse under penalties on the coefficients of a linear model: the sample is by
 * columns then. The samples below are dense but where it is said. */
fen_status fenp_prep_learn(const fen_table *table, const fen_options *o,
                           fenp_prep **prep, fenp_sample **sample, fen_error *err);
/* The same for who makes no model of it: the hash, which is a pass over all cells, stays 0. */
/* Besides, dense features are left unwritten: for whoever reads them twice and no more. */
fen_status fenp_prep_learn_unwritten(const fen_table *table, const fen_options *o,
                                     fenp_prep **prep, fenp_sample **sample, fen_error *err);
fen_status fenp_prep_learn_nameless(const fen_table *table, const fen_options *o,
                                    fenp_prep **prep, fenp_sample **sample, fen_error *err);
/* The sample that a table makes under a learned preparation (verify). */
fen_status fenp_prep_sample(const fenp_prep *prep, const fen_table *table,
                            fenp_sample **sample, fen_error *err);
/* Learns anew from the training table: *agrees if the same numbers and levels come out. */
fen_status fenp_prep_check(const fenp_prep *prep, const fen_table *table, int *agrees,
                           fen_error *err);
/* The same of every input of a, which b may have in another order and among others. */
int        fenp_prep_agree(const fenp_prep *a, const fenp_prep *b);
/* Inputs of which no feature is wanted (prep->features flags) go, and the others move up: for
 * sparse inputs, whose absent columns are zeros. One that has a feature always stays. */
void       fenp_prep_keep(fenp_prep *prep, const char *wanted);
/* The preparation that kept was before, with all inputs, learned anew from the training table;
 * of a sparse table the sample is by columns. */
fen_status fenp_prep_whole(const fenp_prep *kept, const fen_table *table, fenp_prep **whole,
                           fenp_sample **sample, fen_error *err);
/* place[j]: which feature of whole is feature j of kept; 0: not all are there, or they are not
 * prepared in the same way. */
int        fenp_prep_places(const fenp_prep *kept, const fenp_prep *whole, int64_t *place);
/* Raw rows -> features: x is table->rows x prep->features. Columns by name; a missing
 * one is an error that names it. */
fen_status fenp_prep_apply(const fenp_prep *prep, const fen_table *table, double *x,
                           fen_error *err);
/* How many idle inputs a table lacks; 0 also where it lacks others. */
int64_t    fenp_prep_lacking(const fenp_prep *prep, const fen_table *table);
/* See fen_predict_odd. */
fen_status fenp_prep_odd(const fenp_prep *prep, const fen_table *table, fen_odd_cells *odd,
                         fen_error *err);
/* The same times weights (targets x features) for sparse tables and preparations, without the
 * features: out is table->rows x targets. */
fen_status fenp_prep_products(const fenp_prep *prep, const fen_table *table, const double *weights,
                              int64_t targets, double *out, fen_error *err);
/* Raw numeric rows in training order -> features: x is inputs.rows x prep->features. */
fen_status fenp_prep_apply_view(const fenp_prep *prep, fen_view inputs, double *x,
                                fen_error *err);
/* rows x targets labels of a table, NaN where missing (also the whole column). Classes: their
 * places 0, 1, ..., -1 for a label that training did not have. */
fen_status fenp_prep_labels(const fenp_prep *prep, const fen_table *table, double *labels,
                            fen_error *err);
/* The place of a label among prep->classes, as written or as the same number; -1: unknown. */
int64_t    fenp_prep_class(const fenp_prep *prep, const char *label, int64_t length);
/* Name of feature j ("age", "age is missing", "colour = red", "colour = other"). */
void       fenp_prep_feature_name(const fenp_prep *prep, int64_t j, char *out, int64_t size);
/* In words and numbers for the model file: everything but fill, center, scale, which
 * are arrays of prep->inputs entries each (as many as the array "inputs" has). */
json_t    *fenp_prep_to_json(const fenp_prep *prep);
fen_status fenp_prep_from_json(const json_t *json, const double *fill, const double *center,
                               const double *scale, fenp_prep **out, fen_error *err);
void       fenp_prep_free(fenp_prep *prep);
static inline int fenp_reading_is_known(const fen_reading *r)
{ return r->missing || r->counts_from >= 0; }
json_t    *fenp_reading_to_json(const fen_reading *reading);        /* NULL: no memory */
#endif
