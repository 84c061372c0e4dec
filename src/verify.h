/* verify.h -- what verify.c asks about models with a penalty on coefficients */
#ifndef FENP_VERIFY_H
#define FENP_VERIFY_H
#include <math.h>
#include "story.h"

/* A model over all columns of its training rows: those that were dropped from a sparse file's
 * have coefficient 0 and weight 1 again. The model shares all but weights and groups with the one
 * it is of; to be closed in any case. */
typedef struct fenp_wide {
    fen_model    model;
    fenp_prep   *prep;         /* learned anew; NULL: the model has all columns          */
    fenp_sample *sample;
    double      *weights, *group_weights;
    fenp_groups  groups;       /* made anew; count 0: they were not                      */
    int          agrees;       /* the model's preparation is part of the new one         */
} fenp_wide;
fen_status  fenp_wide_open(const fen_model *m, const fen_table *table, fenp_wide *out,
                           fen_error *err);
void        fenp_wide_close(fenp_wide *wide);
/* What speaks against a model with a penalty on coefficients besides its certificate; NULL:
 * nothing. */
const char *fenp_linear_objection(const fen_model *m, const fenp_sample *sample);
/* Of numbers that must come out again. */
static inline int fenp_close_to(double a, double b, double unit)
{ return a == b || fabs(a - b) <= 1e-7 * unit; /* equal where both are infinite */ }
/* ---- verify_selection.c: the choice is that of the stored table ---- */
/* sample NULL: of random features, whose rows are not in memory. */
int fenp_selection_agrees(const fen_model *m, const fenp_sample *sample);
#endif
