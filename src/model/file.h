/* file.h -- the arrays of a model file: one list, followed by save.c and load.c alike
 */
#ifndef FENP_MODEL_FILE_H
#define FENP_MODEL_FILE_H
#include "model/model.h"
#include "model/tensors.h"

#define FENP_FORMAT_FAMILY "fenchel-model-"
#define FENP_FORMAT        FENP_FORMAT_FAMILY "4"
#define FENP_FORMAT_THREE  FENP_FORMAT_FAMILY "3"    /* no penalties on coefficients: read still */
#define FENP_FORMAT_BEFORE FENP_FORMAT_FAMILY "2"    /* no outputs, no support: read still */

enum { FENP_SCORE_NUMBERS = 7 };
enum { FENP_SCORE_NUMBERS_THREE = 5, FENP_SCORE_NUMBERS_BEFORE = 4 };   /* of formats 3 and 2 */
_Static_assert(sizeof(fenp_score) == FENP_SCORE_NUMBERS * sizeof(double),
               "the grid is an array of doubles");

typedef struct fenp_array {
    const char *name;
    int         rank;
    int64_t     shape[2];
    double     *at;
    int         finite;          /* a model with NaN or infinity here could not predict */
} fenp_array;

enum { FENP_CERTIFICATE_NUMBERS = 8, FENP_OUTPUT_NUMBERS = 6, FENP_DISTANCE_NUMBERS = 3 };

/* Sizes that a model without a preparation does not tell. */
typedef struct fenp_file_size {
    int64_t inputs, classes;     /* classes: of class_weights                           */
    int     before;              /* format 2: there are no outputs                      */
    int64_t members;             /* of all groups                                       */
    int64_t scores;              /* numbers in a row of the selection's table           */
    int64_t members_of_pivot;    /* rows that a pivot is the product of                 */
} fenp_file_size;

/* fill, center, scale, certificate and all behind them: copies of what a model keeps in
 * structs and integers. outputs: column, plus, minus, par, sigmoid; NULL in format 2. */
typedef struct fenp_file {
    fenp_array array[FENP_TENSORS_MAX];
    int        count;
    fenp_file_size size;
    double    *fill, *center, *scale, *certificate, *outputs, *support, *start, *member, *aliased;
    double    *pivots, *distance;
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

/* A place as a number: whole, from -1 to beyond any that a file can hold; else -2. */
int64_t     fenp_file_place(double number);

/* ---- file_linear.c: the words and arrays of penalties on coefficients ---- */
fen_status  fenp_file_make_linear(const fenp_tensors *in, fen_model *m, fen_error *err);
void        fenp_file_take_linear(fenp_file *file, const fen_model *m);
void        fenp_file_give_linear(const fenp_file *file, fen_model *m);
int         fenp_file_put_linear(json_t *metadata, const fen_model *m);  /* nonzero: no memory */
fen_status  fenp_file_read_linear(const fenp_tensors *in, fen_model *m, fen_error *err);
const char *fenp_file_linear_objection(const fenp_file *file, const fen_model *m);

/* ---- file_lp.c: those of penalty lp ---- */
int         fenp_file_has_distances(const fen_model *m);
fen_status  fenp_file_make_lp(const fenp_tensors *in, fen_model *m, fen_error *err);
void        fenp_file_take_lp(fenp_file *file, const fen_model *m);
void        fenp_file_give_lp(const fenp_file *file, fen_model *m);
int         fenp_file_put_lp(json_t *metadata, const fen_model *m);      /* nonzero: no memory */
fen_status  fenp_file_read_lp(const fenp_tensors *in, fen_model *m, fen_error *err);
const char *fenp_file_lp_objection(const fenp_file *file, const fen_model *m);

/* ---- save.c: words; nonzero: no memory ---- */
int         fenp_put_text(json_t *metadata, const char *key, const char *text);
int         fenp_put_count(json_t *metadata, const char *key, int64_t count);
/* One that is not finite is left out. */
int         fenp_put_number(json_t *metadata, const char *key, double value);

/* ---- load.c: words that are numbers ---- */
/* initial where there is no such key; NAN: it must be there. */
fen_status  fenp_file_number(const fenp_tensors *in, const char *key, double low, double initial,
                             double *value, fen_error *err);
/* Room for an array of the file; stays NULL where the file has none. */
fen_status  fenp_file_room(const fenp_tensor *tensor, double **room, fen_error *err);
#endif
