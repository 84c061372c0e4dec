/* file.h -- the arrays of a model file: one list, followed by save.c and load.c alike
 */
#ifndef FENP_MODEL_FILE_H
#define FENP_MODEL_FILE_H
#include "model/model.h"
#include "model/tensors.h"

#define FENP_FORMAT_FAMILY "fenchel-model-"
#define FENP_FORMAT        FENP_FORMAT_FAMILY "3"
#define FENP_FORMAT_BEFORE FENP_FORMAT_FAMILY "2"    /* no outputs, no support: read still */

enum { FENP_SCORE_NUMBERS = 5, FENP_SCORE_NUMBERS_BEFORE = 4 };   /* no error rate in format 2 */
_Static_assert(sizeof(fenp_score) == FENP_SCORE_NUMBERS * sizeof(double),
               "the grid is an array of doubles");

typedef struct fenp_array {
    const char *name;
    int         rank;
    int64_t     shape[2];
    double     *at;
    int         finite;          /* a model with NaN or infinity here could not predict */
} fenp_array;

enum { FENP_CERTIFICATE_NUMBERS = 8, FENP_OUTPUT_NUMBERS = 6 };

/* Sizes that a model without a preparation does not tell. */
typedef struct fenp_file_size {
    int64_t inputs, classes;     /* classes: of class_weights                           */
    int     before;              /* format 2: there are no outputs                      */
} fenp_file_size;

/* fill, center, scale, certificate, outputs and support: copies of what a model keeps in
 * structs and integers. outputs: column, plus, minus, par, sigmoid; NULL in format 2. */
typedef struct fenp_file {
    fenp_array array[FENP_TENSORS_MAX];
    int        count;
    fenp_file_size size;
    double    *fill, *center, *scale, *certificate, *outputs, *support;
} fenp_file;

/* Lists the arrays that m has (those that are not NULL) and makes room for the copies. */
fen_status fenp_file_open(const fen_model *m, fenp_file_size size, fenp_file *file,
                          fen_error *err);
void       fenp_file_close(fenp_file *file);
/* Between the copies and the model, whose prep exists. */
void       fenp_file_take(fenp_file *file, const fen_model *m);
void       fenp_file_give(const fenp_file *file, fen_model *m);   /* all but the preparation's */
/* NULL, or what is wrong with the outputs and the support that were given to m. */
const char *fenp_file_objection(const fenp_file *file, const fen_model *m);
#endif
