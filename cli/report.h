/* report.h -- the parts of a report on a model; all read the JSON of fen_model_json */
#ifndef REPORT_H
#define REPORT_H
#include "cli.h"

enum { LABEL_WIDTH = 13 };
/* One line or several behind a label, wrapped; label "": under the line before. */
void report(const char *label, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- the table behind a choice ------------------------------------------------------ */
typedef struct point {
    double gamma, lambda, power, score;
    double error;                 /* NAN: no classes                                    */
    double terms;                 /* NAN: no penalty on coefficients                    */
} point;
typedef struct grid {
    point  *at;
    int64_t count;
    int64_t scored;               /* those with a score: others were not tried, or it overflowed */
    int64_t best;                 /* of the one that was taken; -1: no point has a score */
    char    kind[48];             /* "leave-one-out RMSE" */
    int     square;               /* scores are shown as their roots                   */
    int     classes;              /* points have an error rate                         */
    int     gammas;               /* the kernel has a gamma                            */
    int     given_power;          /* it is the p of the penalty lp                     */
    const char *unit;             /* ", in units of the target", where that is so      */
} grid;
int  is_criterion(const json_t *object);   /* score_kind is aic or bic: scores have no unit */
/* From the "grid" and "score_kind" of a JSON object. 0: out of memory. */
int  grid_read(grid *g, const json_t *object, const char *loss, int64_t targets);
void grid_free(grid *g);
double shown_score(const grid *g, double score);
const char *score_text(const grid *g, double score, char out[32]);     /* "-": there is none */
const json_t *least_point(const json_t *answer);  /* of its grid; NULL: no finite score */
double shown_error(const point *p);            /* in percent */
double gamma_of(const point *p);
double lambda_of(const point *p);
double power_of(const point *p);
typedef struct axis { double *at; int64_t count; } axis;
/* The distinct values of a coordinate, ascending; at (to be freed) NULL: out of memory. */
axis grid_axis(const grid *g, double (*of)(const point *));
int64_t grid_count(const grid *g, double (*of)(const point *));  /* of its values; 0: no memory */
/* The best of the points whose coordinate has this value. */
const point *grid_best_at(const grid *g, double (*of)(const point *), double value);
/* Does the best point lie at an end of a grid, given or automatic? Then out says so. */
int  grid_ends(const grid *g, const fen_options *o, char *out, size_t size);
int  print_grid(const grid *g);                 /* table.c: all of it; an exit code */
void print_neighbours(const grid *g);           /* table.c: the chosen point, its neighbours */

/* ---- the parts ------------------------------------------------------------------------ */
enum { TARGETS_SHOWN = 6 };
int64_t target_count(const json_t *model);
int64_t targets_shown(const json_t *model);     /* TARGETS_SHOWN at most */
const char *target_name(const json_t *model, int64_t t);
void report_data(const json_t *model, const char *path);
void report_reading(const json_t *model);       /* reading.c: how its file was read */
/* Options that read DATA in another way than the training file was, in a sentence; "": none. */
const char *reading_contrast(const request *r, const json_t *model, char *out, size_t size);
/* What ended the fit before the tolerance was met, in a sentence; "": it was met. */
const char *unfinished_text(const json_t *model, char *out, size_t size);
void report_choice(const json_t *model, const fen_options *o /* NULL: not known */);
void report_objective(const json_t *model);     /* and what a power other than 2 amounts to */
void report_lp(const json_t *model);            /* its norm, and how sure predictions are */
void report_certificate(const json_t *model);
void report_coefficients(const json_t *model);  /* coefficients.c: of columns or rows */
void report_error(const json_t *model);
void report_sign(const json_t *model);          /* two classes have one row of coefficients */
/* A name in so many characters, ".." in the place of what does not fit. */
const char *fitted(const char *name, int width, char *out, size_t size);

/* ---- features.c: what the function is a weighted sum of -------------------------------- */
typedef struct feature_list {
    int64_t count, target;
    int64_t support;              /* weights of at least 1/100 of the largest           */
    int64_t bulk;                 /* the largest of them, that carry 99 % of the sum    */
    double  exponent, sum;        /* sum of |w / largest|^exponent                      */
    double *weight, *coefficient;
    int64_t *order;               /* the largest |w| first                              */
} feature_list;
/* json: of the model. An exit code; anything but EXIT_DONE has been said. */
int  features_read(const fen_model *model, const json_t *json, int64_t target, feature_list *out);
void features_free(feature_list *list);
json_t *features_json(const fen_model *model, const feature_list *list);    /* NULL: no memory */
void report_features(const fen_model *model, const json_t *json, const feature_list *list);
#endif
