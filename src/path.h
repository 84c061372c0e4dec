/* path.h -- what the files of fen_path share */
#ifndef FENP_PATH_H
#define FENP_PATH_H
#include <jansson.h>
#include "promise/refit.h"
#include "story.h"

typedef struct fenp_path {
    fen_options o;                 /* settled, with the powers of the path              */
    const fenp_prep *prep;
    const fenp_sample *sample;
    const fenp_output *outputs;
    const fen_loss *loss;
    fenp_kernel kernel;            /* its gamma once it is chosen                       */
    fenp_strategy strategy;
    int over_power;
    int scored;                    /* a score was asked for that takes refits           */
    fenp_setting *settings;
    int64_t count;
} fenp_path;

/* One solution; what is not known is NAN, support -1. */
typedef struct fenp_step {
    double lambda2, norm, bias, mean_loss, objective, score, relative_gap;
    int64_t support;               /* rows with a coefficient                           */
    const double *solution;        /* fenp_path_width numbers                           */
} fenp_step;
int64_t    fenp_path_width(const fenp_path *path);
json_t    *fenp_step_json(const fenp_path *path, int64_t target, int64_t setting,
                          const fenp_step *step);                 /* NULL: no memory   */
/* FEN_MEMORY with advice if the work area and the points do not fit. */
fen_status fenp_path_fits(const fenp_path *path, const fenp_solver *solver, int64_t work,
                          fen_error *err);

/* ---- path_spectral.c: square loss, all from one eigendecomposition ------------------- */
fen_status fenp_path_spectral(const fenp_path *path, json_t *points, const fenp_task *task,
                              fen_error *err);
/* ---- path_descend.c: any loss, from the largest lambda down --------------------------- */
fen_status fenp_path_descend(const fenp_path *path, json_t *points, const fenp_task *task,
                             fen_error *err);
/* ---- path_linear.c: penalties on coefficients. exact: breakpoints instead of a grid; scored:
 * with scores, and the lambda that fen_fit would choose --------------------------------- */
fen_status fenp_path_linear(const fenp_prep *prep, const fenp_sample *sample,
                            const fenp_settled *settled, int exact, int scored, char **json,
                            const fenp_task *task, fen_error *err);
#endif
