/* quality.h -- how good predictions were, where the targets are known */
#ifndef QUALITY_H
#define QUALITY_H
#include "cli.h"

typedef struct errors { double count, squares, absolutes, mean, spread, below; } errors;
typedef struct quality {
    errors *of;                       /* numbers: one per output                         */
    int64_t outputs;
    int     quantiles;                /* outputs are quantiles: rows below them count    */
    double  count, wrong, unknown;    /* classes: rows with a label; not as predicted;
                                         among them those whose label is new             */
    double  log_loss, laws;           /* sum over the rows with a label and a law        */
    double  rows, outside;            /* one class                                       */
} quality;
int  quality_open(quality *q, int64_t outputs, int quantiles);    /* 0: out of memory    */
void quality_free(quality *q);
/* A row: labels are NaN where they are not known. */
void judge_numbers(quality *q, const double *labels, const double *scores);
void judge_class(quality *q, double label, int64_t code, const double *law /* or NULL */);
void judge_inside(quality *q, int64_t code);
/* Lines on standard error; names: of the outputs, name: of the one target of classes. */
void say_quality(const quality *q, const json_t *names, const char *name);
void add_quality(const quality *q, json_t *json);
#endif
