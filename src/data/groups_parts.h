/* groups_parts.h -- what groups*.c and feature_weights.c share */
#ifndef FENP_GROUPS_PARTS_H
#define FENP_GROUPS_PARTS_H
#include "data/design.h"

/* ---- features by name (feature_names.c) -------------------------------------------------- */
/* An input column or one of its features: features first .. first + count - 1. */
typedef struct fenp_named {
    const char *name;
    int64_t first, count;      /* count 0: a column that was dropped                    */
    int     input;             /* the name is that of a column                          */
} fenp_named;
typedef struct fenp_names {
    const fenp_prep *prep;
    fenp_named *at;            /* sorted by name, columns first                         */
    int64_t count;
    char  **own;               /* composed names                                        */
    int64_t own_count;
} fenp_names;
fen_status fenp_names_make(const fenp_prep *prep, fenp_names *out, fen_error *err);
/* NULL: no such name. */
const fenp_named *fenp_names_find(const fenp_names *names, const char *name);
/* kind: there is no column name; where: who asks for it. */
fen_status fenp_names_unknown(const fenp_names *names, const char *where, const char *name,
                              fen_status kind, fen_error *err);
void       fenp_names_free(fenp_names *names);

/* ---- --feature-weights (feature_weights.c) ----------------------------------------------- */
/* A factor for every feature; NULL: text is empty, all are 1. */
fen_status fenp_feature_factors(const fenp_prep *prep, const char *text, double **out,
                                fen_error *err);

/* ---- a partition of the features (groups.c, groups_file.c) ------------------------------- */
typedef struct fenp_partition {
    int64_t  groups;           /* some may be empty                                     */
    int64_t *of;               /* group of every feature                                */
    char   **name;             /* of the groups                                         */
    double  *weight;           /* of the groups; NULL: as groups.c says                 */
} fenp_partition;
/* Lines "column,group[,weight]". *out is filled as far as it came, to be freed in any case. */
fen_status fenp_partition_read(const fenp_prep *prep, const char *path, fenp_partition *out,
                               fen_error *err);
#endif
