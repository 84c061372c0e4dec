/* path_terms.h -- which coefficients the solutions along lambda have, and what they are called
 *
 * Coefficients are kept as numbers until the text is written. Those of the columns are in the units
 * of the file; kernels other than linear have one per training row. */
#ifndef FENP_PATH_TERMS_H
#define FENP_PATH_TERMS_H
#include "base/json.h"
#include "data/prepare.h"

/* Of one target: point k has the coefficients start[k] .. start[k + 1] - 1. */
typedef struct fenp_term_list {
    int64_t *feature, *start;
    double *value;
    int64_t points, count, room, point_room;
} fenp_term_list;

typedef struct fenp_terms {
    const fenp_prep *prep;
    int linear;                /* kernel                                               */
    int64_t p, targets;
    fenp_term_list *kept;           /* targets                                              */
    json_t *names;             /* of those that were ever active, in their order       */
    json_t *scales;            /* of them: coefficient of the scaled feature over that of the column */
    json_t **label;            /* p: names, those that were asked for                  */
    json_t *taken;             /* the same as keys: a column may be called as a level of another */
    int64_t *input;            /* inputs + 1: the first feature of each                */
    char *in, *seen;           /* targets x p: active at the last point; p: ever       */
    double *unit;              /* p: 1 / scales, of all features                       */
} fenp_terms;

fen_status fenp_terms_open(const fenp_prep *prep, int linear, int64_t p, int64_t targets,
                           fenp_terms *out, fen_error *err);
void       fenp_terms_close(fenp_terms *t);
/* The next point of a target. entered, left (NULL: nobody asks): arrays that get the names of those
 * that were not active at the point before, and of those that are not any more. Nonzero: no memory. */
int        fenp_terms_add(fenp_terms *t, int64_t target, const double *beta, json_t *entered,
                          json_t *left);
/* The name of feature j, which is among those that were ever active now; NULL: no memory. */
json_t    *fenp_terms_name(fenp_terms *t, int64_t j);
/* "coefficients": those of a point, where points are counted from target to target: a
 * fenp_json_more of a fenp_terms. */
void       fenp_terms_write(const void *terms, int64_t point, fenp_json_writer *to);
#endif
