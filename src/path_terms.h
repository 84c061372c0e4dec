/* path_terms.h -- the solutions along lambda: their figures, and which coefficients they have
 *
 * All are kept as numbers until the text is written. Coefficients are those of the columns, in the
 * units of the file; kernels other than linear have one per training row. */
#ifndef FENP_PATH_TERMS_H
#define FENP_PATH_TERMS_H
#include "base/json.h"
#include "data/prepare.h"

/* What a point has beside the coefficients. */
typedef struct fenp_figures {
    double lambda, loss, objective, gap, explained, intercept;
    double score, deviation;   /* NAN: there are none                                  */
    int64_t terms;
} fenp_figures;

/* A list that grows. */
typedef struct fenp_entries {
    int64_t *feature;
    double  *value;
    int64_t count, room;
} fenp_entries;

/* Point k has the coefficients from first .. that of the next, and likewise the changes. */
typedef struct fenp_path_step {
    fenp_figures figures;
    int64_t first, change;
} fenp_path_step;

/* Of one target. */
typedef struct fenp_steps {
    fenp_path_step *at;
    int64_t count, room;
    fenp_entries coefficient;
    fenp_entries change;       /* value 1: it is active now, and was not; -1: not any more  */
    json_t *name;
} fenp_steps;

typedef struct fenp_terms {
    const fenp_prep *prep;
    int linear;                /* kernel                                               */
    int64_t p, targets;
    fenp_steps *steps;         /* targets                                              */
    json_t *names;             /* of those that were ever active, in their order       */
    json_t *scales;            /* of them: coefficient of the scaled feature over that of the column */
    json_t **label;            /* p: names of these                                    */
    int64_t *width;            /* p: characters of such a name and its coefficient; 0: none yet */
    json_t *taken;             /* the same as keys: a column may be called as a level of another */
    int64_t *input;            /* inputs + 1: the first feature of each                */
    char *in;                  /* targets x p: active at the last point                */
    double *unit;              /* p: 1 / scales, of all features                       */
    int64_t text;              /* bytes that all coefficients take when they are written */
} fenp_terms;

fen_status fenp_terms_open(const fenp_prep *prep, int linear, int64_t p, int64_t targets,
                           fenp_terms *out, fen_error *err);
void       fenp_terms_close(fenp_terms *t);
int        fenp_terms_name_target(fenp_terms *t, int64_t target, const char *name);
/* The next point of a target. compared: who came or went since the last point is found out. As below,
 * nonzero: no memory. */
int        fenp_terms_add(fenp_terms *t, int64_t target, const fenp_figures *figures,
                          const double *beta, int compared);
/* Feature j comes or goes at the last point of the target. */
int        fenp_terms_change(fenp_terms *t, int64_t target, int64_t j, int enters);
/* All of them, and those with a gap above the tolerance. */
int64_t    fenp_terms_points(const fenp_terms *t);
int64_t    fenp_terms_above(const fenp_terms *t, double tolerance);
/* A point, counted from target to target: a fenp_json_item of a fenp_terms. */
void       fenp_terms_write(const void *terms, int64_t point, fenp_json_writer *to);
#endif
