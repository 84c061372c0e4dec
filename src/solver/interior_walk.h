/* interior_walk.h -- what interior_walk.c and interior_edge.c share: where a walk is */
#ifndef FENP_INTERIOR_WALK_H
#define FENP_INTERIOR_WALK_H
#include "solver/interior_parts.h"
#include "solver/interior_vertex.h"

typedef struct fenp_walk {
    fenp_inside *s;              /* beta and u are its own                                */
    fenp_vertex v;
    double *a;                   /* terms: as they are met, perturbed or not              */
    double *r;                   /* terms: a - X beta                                     */
    double *up, *down;           /* k: price of a positive, a negative coefficient        */
    double *unit;                /* k: what slopes beyond that are measured by            */
    double *sign;                /* k: of the coefficients of the vertex                  */
    double *size;                /* k: the largest entry, of columns that were at a vertex */
    double *outer, *slope;       /* k: X'u without the corners, and with them             */
    double *inner;               /* k: of the corners, by place: u, or room to work       */
    double *corner_weight;       /* terms: length of the edge of a corner, squared        */
    double *column_weight;       /* k: likewise                                           */
    double *share;               /* k: of what ends an edge in the edges of the columns   */
    double *d;                   /* k: direction of the coefficients, by place            */
    double *rate;                /* n: of the scores                                      */
    double *time;                /* terms + k: of the events along an edge                */
    int64_t *who, *heap;         /* terms + k: a term, or terms + a column's place        */
    double work, allowed;        /* flops                                                 */
    int64_t since;               /* steps since the inverse was made                      */
    int    ended;                /* nothing is outside                                    */
} fenp_walk;

typedef struct fenp_edge {
    int64_t leaves;              /* place of a corner, or -1                              */
    int64_t enters;              /* column, or -1: neither is an end                      */
    double side;                 /* of the corner's residual, of the coefficient          */
    double slope;                /* of P                                                  */
} fenp_edge;

/* fmax is a call */
static inline double fenp_larger(double x, double y) { return x > y ? x : y; }

static inline int fenp_walk_is_live(const fenp_walk *p, int64_t t)
{
    return p->s->high[t] > p->s->low[t];
}

/* ---- interior_edge.c ---- */
/* The steepest one, by lengths as they are estimated; neither of both: nothing is outside. */
fenp_edge fenp_edge_find(const fenp_walk *p);
void      fenp_edge_start(fenp_walk *p);                               /* lengths as at first   */
/* Past all corners and signs with which P still falls: they have changed afterwards, d and rate are
 * those of the edge. Returns the one that ends it: a term, or terms + the place of a column; -1:
 * none, which rounding alone can make it seem. */
int64_t   fenp_edge_follow(fenp_walk *p, const fenp_edge *to, double *length);
/* Lengths after it, before the vertex changes. */
void      fenp_edge_weigh(fenp_walk *p, const fenp_edge *to, int64_t stop);
double    fenp_walk_size(fenp_walk *p, int64_t j);                     /* largest entry        */
void      fenp_walk_add_outer(fenp_walk *p, int64_t t, double change); /* of the u of a term    */
#endif
