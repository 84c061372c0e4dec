/* plot.h -- the coefficients along a path as curves */
#ifndef PLOT_H
#define PLOT_H
#include "cli.h"

typedef struct curves {           /* of one target                                       */
    const char *title;
    int64_t points, lines;
    double *x;                    /* points                                              */
    double *terms;                /* points (exact: from there on); NAN: not known       */
    const char **name;            /* lines                                               */
    double *y;                    /* lines x points                                      */
} curves;
typedef struct figure {
    const char *x_name, *y_name;
    int     logarithmic;          /* x by its logarithm                                   */
    int     exact;                /* breakpoints are among the points                    */
    double  mark;                 /* an x to be marked; NAN: none                        */
    int64_t count;
    curves *of;                   /* count: one above the other                          */
} figure;
void plot(const figure *f, FILE *out);

/* The curves of a path's JSON (fen_path); an exit code, and a complaint where it has no
 * coefficients of columns. */
int  figure_read(figure *f, const json_t *path);
void figure_free(figure *f);
#endif
