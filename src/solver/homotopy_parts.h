/* homotopy_parts.h -- what the files of the exact path share: columns, and those that are active */
#ifndef FENP_HOMOTOPY_PARTS_H
#define FENP_HOMOTOPY_PARTS_H
#include "solver/homotopy.h"

typedef struct fenp_walk {
    const fenp_linear *of;
    const fenp_design *x;
    int64_t n, p;
    double *w, *y;             /* n: twice the weights; y, centred with a bias          */
    double *v, *r;             /* n: what is being multiplied; residuals                */
    double *center, *length;   /* p: of the columns; sqrt(2 sum w x^2) once centred     */
    int     without;           /* only columns of weight 0 take part, with price 1      */
    double *beta, *d, *c, *g;  /* p: see homotopy.c                                     */
    double  total, mean;       /* of w; of y                                            */
    double  size;              /* sqrt(sum w y^2) before y is centred                   */
    double  speed;             /* the same for X d                                      */
    signed char *side, *was;   /* p: sign in A, 0 outside; before the breakpoint        */
    char   *aside, *open;      /* p: depends on A; at its limit                         */
    int64_t *list;             /* p: who is open                                        */
    double *listed;            /* p: their g                                            */
    int64_t *who, m, room;     /* A in the order of the factor; rows that fit           */
    double *l, *row, *some;    /* room x room; room each                                */
    double  lambda;
    int     stale;             /* moves since c was made anew                           */
} fenp_walk;

/* The weight of the penalty on coefficient j. */
double     fenp_walk_price(const fenp_walk *k, int64_t j);
/* It may have either sign at no cost: there is no limit to meet. */
int        fenp_walk_is_free(const fenp_walk *k, int64_t j);
/* out = 2 x_j' W u of the centred columns listed (NULL: all), u: n. v is used. */
void       fenp_walk_correlate(fenp_walk *k, const double *u, const int64_t *which, int64_t count,
                               double *out);
/* out = X beta with centred columns; beta is 0 outside A. */
void       fenp_walk_scores(const fenp_walk *k, const double *beta, double *out);
/* sqrt(2 sum w u^2) */
double     fenp_walk_length(const fenp_walk *k, const double *u);
/* Column j joins with this sign, or is set aside as it depends on A. r and d are used. */
fen_status fenp_walk_join(fenp_walk *k, int64_t j, int sign, fen_error *err);
void       fenp_walk_leave(fenp_walk *k, int64_t j);
/* Who depends on A is to be seen anew. */
void       fenp_walk_call_back(fenp_walk *k);
fen_status fenp_walk_open(fenp_walk *k, const fenp_linear *problem, fen_error *err);
void       fenp_walk_close(fenp_walk *k);   /* also after a failure                       */
#endif
