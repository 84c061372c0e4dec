/* source.h -- training rows that can be read more than once: a table in memory, or a file
 * block by block. Memory does not grow with the file. */
#ifndef FENP_SOURCE_H
#define FENP_SOURCE_H
#include "base/clock.h"
#include "data/prepare.h"

typedef struct fenp_source fenp_source;
/* Table and options (their strings) must outlive the source. A pipe is refused. */
fen_status fenp_source_table(const fen_table *table, fenp_source **out, fen_error *err);
fen_status fenp_source_file(const char *path, const fen_options *o, fenp_source **out,
                            fen_error *err);
const char *fenp_source_title(const fenp_source *source);   /* for messages */
/* From the first row again; the first pass needs no rewind. */
fen_status fenp_source_rewind(fenp_source *source, fen_error *err);
/* *block is NULL after the last row, else valid until the next call. */
fen_status fenp_source_next(fenp_source *source, const fen_table **block, fen_error *err);
double     fenp_source_fraction(const fenp_source *source);   /* of this pass          */
void       fenp_source_close(fenp_source *source);

/* What one pass over all rows learned besides the preparation. */
typedef struct fenp_summary {
    int64_t  rows;             /* usable: with a target and a weight                    */
    double   weight_sum;
    uint64_t hash;             /* the same as that of the sample in memory              */
    int64_t  dropped_missing, dropped_weightless;
    int      two_valued;       /* there is one target, of two values: perhaps classes   */
    double   spread;           /* weighted mean squared distance of prepared rows, all
                                  pairs: 2 sum of the variances of the features         */
} fenp_summary;
/* One pass: the preparation as fenp_prep_learn would make it from the whole table, up to
 * rounding. keep > 0: *part is a seeded uniform sample of about so many prepared rows, from
 * which a kernel width can be chosen. */
fen_status fenp_prep_learn_source(fenp_source *source, const fen_options *o, int64_t keep,
                                  fenp_prep **prep, fenp_summary *summary, fenp_sample **part,
                                  const fenp_task *task, fen_error *err);
/* The usable rows of one block, prepared; w as written, not normalised; no hash. An empty
 * block gives n = 0. */
fen_status fenp_prep_block(const fenp_prep *prep, const fen_table *block, fenp_sample **out,
                           fen_error *err);
/* A pass that learns anew from the columns of prep: *agrees if the same numbers and levels
 * come out. */
fen_status fenp_prep_check_source(const fenp_prep *prep, fenp_source *source, int *agrees,
                                  fenp_summary *summary, const fenp_task *task, fen_error *err);
#endif
