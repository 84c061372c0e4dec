/* prepare_parts.h -- what the files prepare*.c share
 *
 * learn:  roles -> bind -> rows with a target and a weight -> statistics -> apply -> hash
 * sample:          bind -> rows with a target and a weight ->               apply -> hash
 * apply:           bind ->                                                  apply
 * Of a file that is read block by block, statistics and hash are gathered in one pass. */
#ifndef FENP_PREPARE_PARTS_H
#define FENP_PREPARE_PARTS_H
#include "data/columns.h"
#include "data/prepare.h"

enum { FENP_CLASSES_MAX = 1000 }; /* of a target                                         */
enum { FENP_LEVELS_MAX = 50 };    /* levels of a text column with a feature of their own */

/* ---- the preparation itself (prepare.c, prepare_learn.c, prepare_check.c) -------------- */
fenp_prep *fenp_prep_new(int64_t inputs, int64_t targets);     /* NULL: no memory          */
void       fenp_input_clear(fenp_input *input);                 /* what it holds            */
int64_t    fenp_input_features(const fenp_input *input);
/* Feature k among those of the input. */
void       fenp_input_feature_name(const fenp_input *input, int64_t k, char *out, int64_t size);
/* Targets of further training rows, for their range. */
void       fenp_prep_see_targets(fenp_prep *prep, const fenp_sample *rows);
void       fenp_prep_count(fenp_prep *prep);                    /* sets prep->features      */
/* A text as the name of the level that it may be, else of a level that is the same number. */
int64_t    fenp_input_level(const fenp_input *input, const char *text);   /* -1: other       */
/* A number where training had text: the level written the same way, else one of the same value
 * ("01234" read as 1234). */
int64_t    fenp_input_level_of_number(const fenp_input *input, double cell);
/* The input of that name, looked for from next on and then before it; -1: there is none. */
int64_t    fenp_prep_find(const fenp_prep *prep, const char *name, int64_t next);
/* Which column is what, with nothing learned about it. */
fen_status fenp_prep_start(const fen_table *table, const fen_options *o, fenp_prep **prep,
                           fen_error *err);
fenp_prep *fenp_prep_unlearned(const fenp_prep *prep);          /* NULL: no memory          */
/* The same with all columns of the table as inputs that are nothing else. */
fenp_prep *fenp_prep_unlearned_of(const fenp_prep *prep, const fen_table *table);
/* A copy of a name that a model file can hold; title: of the file, for the sentence. */
fen_status fenp_copy_name(const char *title, const char *name, char **out, fen_error *err);
/* Counts the features; there must be some, under names that a model file can hold. */
fen_status fenp_prep_finish(fenp_prep *prep, const char *title, fen_error *err);

/* ---- columns (prepare_bind.c) ----------------------------------------------------------- */
/* Where the columns of a preparation stand in a table. */
enum { FENP_COLUMN_ABSENT = -1, FENP_COLUMN_ZEROS = -2 /* beyond the width of a sparse file */ };
typedef struct fenp_binding {
    const fen_table *table;
    int64_t *input, *target;      /* prep->inputs and prep->targets columns               */
    int64_t  weights;
} fenp_binding;
/* all: targets, weights and unused inputs are needed too. */
fen_status fenp_bind(const fenp_prep *prep, const fen_table *table, int all, fenp_binding *out,
                     fen_error *err);
void       fenp_unbind(fenp_binding *binding);
double     fenp_bound_cell(const fenp_binding *binding, int64_t row, int64_t column);

/* ---- classes (prepare_classes.c) -------------------------------------------------------- */
/* The classes that o and the usable rows lead to; prep->class_count 0: the target is numbers. */
fen_status fenp_prep_find_classes(fenp_prep *prep, const fen_table *table, const fen_options *o,
                                  fen_error *err);
/* What the cells of a target column stand for. */
typedef struct fenp_codes {
    int64_t classes;              /* 0: cells are the labels                              */
    double *of_level;             /* text columns: the class of every level; else NULL    */
    double *value;                /* else of every class the number that it is, or NaN    */
} fenp_codes;
fen_status fenp_class_codes(const fenp_prep *prep, const fen_table *table, int64_t column,
                            fenp_codes *out, fen_error *err);
void       fenp_class_codes_free(fenp_codes *codes);
/* The class of a cell; NaN: missing, -1: training had no such label. */
double     fenp_class_code(const fenp_codes *codes, double cell);

/* ---- rows (prepare_sample.c, prepare_columns.c, prepare_apply.c) ------------------------ */
/* The rows of a table that have a target and a positive weight; there may be none. */
typedef struct fenp_block {
    fenp_binding binding;
    int64_t     *input_of;        /* column -> input; -1: none                            */
    int64_t     *pick;            /* their numbers in the table                           */
    fenp_sample *rows;            /* y, w as written, weight_sum and counts; no x         */
    int          by_columns;      /* features of sparse rows are wanted sparse, by columns */
    int          nameless;        /* nobody asks for the hash of the rows                 */
    int          unwritten;       /* nor for dense features in memory                     */
    fenp_raw_products *products;  /* made on the way; NULL: they were not                 */
} fenp_block;
fen_status fenp_block_open(const fenp_prep *prep, const fen_table *table, fenp_block *out,
                           fen_error *err);
void       fenp_block_close(fenp_block *block);
/* An error unless two rows can be used; of all rows, counts has n and what was dropped. */
fen_status fenp_enough_rows(const fenp_prep *prep, const char *title, const fenp_sample *counts,
                            fen_error *err);
fen_status fenp_weight_vanishes(const char *place, const char *name, fen_error *err);
/* Their features, and the sample: taken out of the block, w and hash not touched. */
fen_status fenp_block_features(const fenp_prep *prep, fenp_block *block, fenp_sample **out,
                               fen_error *err);
/* The same with the hash and with weights of sum 1. */
fen_status fenp_block_sample(const fenp_prep *prep, fenp_block *block, fenp_sample **out,
                             fen_error *err);
/* What the sparse features of a block take. */
int64_t    fenp_column_bytes(const fenp_prep *prep, const fenp_block *block);
/* Those features, into start, row and value of block->rows. */
fen_status fenp_block_columns(const fenp_prep *prep, const fenp_block *block, fen_error *err);
/* Features of rows pick[0] .. pick[rows-1] (pick NULL: 0 .. rows-1) of the table. */
fen_status fenp_apply_rows(const fenp_prep *prep, const fenp_binding *binding,
                           const int64_t *pick, int64_t rows, double *x, fen_error *err);

/* The same of dense rows, whenever they are wanted: binding and pick (of so
 * many rows) are taken out of the block. */
fen_status fenp_unwritten_open(const fenp_prep *prep, fenp_block *block, int64_t rows,
                               struct fenp_unwritten **out, fen_error *err);

/* ---- fingerprint (prepare_hash.c): of blocks in order, the same however they are cut ---- */
typedef struct fenp_hash fenp_hash;
fenp_hash *fenp_hash_new(void);                                  /* NULL: no memory         */
fen_status fenp_hash_rows(fenp_hash *hash, const fenp_prep *prep, const fenp_block *block,
                          fen_error *err);
uint64_t   fenp_hash_end(fenp_hash *hash, const fenp_prep *prep);   /* once                */
void       fenp_hash_free(fenp_hash *hash);

/* ---- statistics (prepare_moments.c, prepare_stats.c): of blocks in any number ----------- */
typedef struct fenp_moments {
    long double weight, square;  /* of the cells that are there; about the mean, which is  */
    double      base;            /* base + rest: an offset beside which the deviation is   */
    long double rest;            /* small takes no digits from it                          */
    double  least, largest;
    int64_t seen, gaps;
} fenp_moments;
void       fenp_moments_merge(fenp_moments *into, const fenp_moments *more);
/* Adds the cells of all inputs (of text: the codes); zeros of sparse rows are left out. */
fen_status fenp_moments_add(const fenp_block *block, fenp_moments *of, fen_error *err);

typedef struct fenp_stats fenp_stats;
fenp_stats *fenp_stats_new(int64_t inputs);                      /* NULL: no memory         */
void        fenp_stats_free(fenp_stats *stats);
fen_status  fenp_stats_add(fenp_stats *stats, const fenp_prep *prep, const fenp_block *block,
                           fen_error *err);
/* There are inputs inputs now, before new ones in front of the known. */
fen_status  fenp_stats_widen(fenp_stats *stats, int64_t before, int64_t inputs, fen_error *err);
/* What they say about every input of prep; title: of the file, for the sentence. */
fen_status  fenp_stats_learn(fenp_stats *stats, fenp_prep *prep, const char *title,
                             fen_error *err);
/* 2 sum of the variances of the features; after learning. */
double      fenp_stats_spread(const fenp_stats *stats, const fenp_prep *prep);
/* The learning of all inputs but precomputed ones from one block. */
fen_status  fenp_learn_inputs(fenp_prep *prep, const fenp_block *block, fen_error *err);

/* ---- products (prepare_products.c) ------------------------------------------------------ */
/* The same from one pass over the rows of a table of numbers, with the products of all columns;
 * NULL: not of this one, and nothing was learned. */
fenp_raw_products *fenp_learn_products(fenp_prep *prep, const fenp_block *block,
                                       const fen_options *o);

/* ---- a part of the rows (prepare_part.c) ------------------------------------------------ */
typedef struct fenp_part fenp_part;
fenp_part *fenp_part_new(int64_t keep, uint64_t seed);           /* NULL: no memory         */
fen_status fenp_part_add(fenp_part *part, const fenp_block *block, fen_error *err);
/* The kept rows, prepared, in the order of the file, with weights of sum 1. */
fen_status fenp_part_sample(fenp_part *part, const fenp_prep *prep, fenp_sample **out,
                            fen_error *err);
void       fenp_part_free(fenp_part *part);
#endif
