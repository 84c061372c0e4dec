/* prepare_parts.h -- what the files prepare*.c share
 *
 * learn:  roles -> bind -> rows with a target and a weight -> statistics -> apply -> hash
 * sample:          bind -> rows with a target and a weight ->               apply -> hash
 * apply:           bind ->                                                  apply */
#ifndef FENP_PREPARE_PARTS_H
#define FENP_PREPARE_PARTS_H
#include "data/columns.h"
#include "data/prepare.h"

enum { FENP_LEVELS_MAX = 50 };    /* levels of a text column with a feature of their own */

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

/* The rows with a target and a positive weight: their numbers in *pick, and a sample whose
 * y, w (as written), weight_sum and counts are set. */
fen_status fenp_usable_rows(const fenp_prep *prep, const fenp_binding *binding,
                            fenp_sample **sample, int64_t **pick, fen_error *err);
/* Makes x, hash and the normalised w of such a sample. */
fen_status fenp_finish_sample(const fenp_prep *prep, const fenp_binding *binding,
                              const int64_t *pick, fenp_sample *sample, fen_error *err);
/* Features of rows pick[0] .. pick[rows-1] (pick NULL: 0 .. rows-1) of the table. */
fen_status fenp_apply_rows(const fenp_prep *prep, const fenp_binding *binding,
                           const int64_t *pick, int64_t rows, double *x, fen_error *err);

fenp_prep *fenp_prep_new(int64_t inputs, int64_t targets);     /* NULL: no memory          */
int64_t    fenp_input_features(const fenp_input *input);
void       fenp_prep_count(fenp_prep *prep);                    /* sets prep->features      */
/* A text as the name of the level that it may be; numbers by their shortest text. */
int64_t    fenp_input_level(const fenp_input *input, const char *text);   /* -1: other       */
/* The learning of all inputs but precomputed ones; w as written. */
fen_status fenp_learn_inputs(fenp_prep *prep, const fenp_binding *binding, const int64_t *pick,
                             const fenp_sample *rows, fen_error *err);
#endif
