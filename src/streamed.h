/* streamed.h -- random features, streamed: what fit, selection, certificate and verify share */
#ifndef FENP_STREAMED_H
#define FENP_STREAMED_H
#include "data/source.h"
#include "feature/moments.h"
#include "story.h"

/* ---- fit_features.c --------------------------------------------------------------------- */
/* What the passes over the rows hand on to each other. */
typedef struct fenp_job {
    fenp_source *source;
    fen_options  o;                /* settled                                           */
    fenp_approx  approx;
    const fen_kernel *kernel;
    fenp_prep   *prep;             /* until the model has it                            */
    fenp_summary summary;
    fenp_sample *part;             /* of the rows, where gamma is to be chosen          */
    fenp_strategy strategy;        /* how many gammas, lambdas and powers               */
    fenp_chosen  chosen;
    fen_model   *model;
    fenp_arena   arena;
    fenp_cross   cross;
    fenp_spectrum spectrum;
} fenp_job;
/* o->approx is not "none"; options are checked, threads set. */
fen_status fenp_fit_features(fenp_source *source, const fen_options *o, const fenp_task *task,
                             fen_model **out, fen_error *err);
/* Work area with so many settings (lambda, power) to choose from; of the fit without them. */
int64_t    fenp_features_bytes(int64_t p, int64_t columns, int64_t targets, int64_t settings);
double     fenp_features_flops(int64_t rows, int64_t p, int64_t columns);
enum { FENP_PART_ROWS = 1500 };    /* gamma is chosen on: half a second for each of ten */
/* Options that random features understand. */
fen_status fenp_features_check(const fen_options *o, const fen_kernel *kernel,
                               fenp_approx *approx, fen_error *err);
/* From the first row again: every block of the source, prepared, to visit. */
typedef void (*fenp_visit)(void *state, const fenp_sample *block);
fen_status fenp_each_block(fenp_source *source, const fenp_prep *prep, fenp_visit visit,
                           void *state, const fenp_task *task, fen_error *err);

/* ---- plan_features.c: what the fit would take; one pass, for the sizes --------------------- */
fen_status fenp_plan_features(fenp_source *source, const fen_options *o, fen_plan *out,
                              const fenp_task *task, fen_error *err);

/* ---- select_features.c: lambda and power into job->chosen --------------------------------- */
int64_t    fenp_setting_count(const fenp_job *job);
int64_t    fenp_setting_bytes(int64_t columns, int64_t targets, int64_t settings);
fen_status fenp_choose_setting(fenp_job *job, const fenp_task *task, fen_error *err);

/* ---- certify_features.c: the objective of the approximated kernel ------------------------- */
/* At the end of a fit, from the moments alone. */
fen_status fenp_certify_cross(const fen_model *model, const fenp_cross *cross,
                              fen_certificate *out, fen_error *err);
/* From the rows, in one pass. digits: targets, for fenp_gap_unit. */
fen_status fenp_certify_source(const fen_model *model, fenp_source *source,
                               fen_certificate *out, double *digits, const fenp_task *task,
                               fen_error *err);
#endif
