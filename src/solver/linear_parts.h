/* linear_parts.h -- what the files linear*.c share
 *
 * The pool holds the features that solutions may use for the time being: the working set. Its
 * coefficients are numbered (place in the pool, copy), groups stand together. */
#ifndef FENP_LINEAR_PARTS_H
#define FENP_LINEAR_PARTS_H
#include "solver/interior.h"
#include "solver/linear.h"
#include "solver/target.h"

typedef struct fenp_pool {
    int64_t size, room;        /* features in it; features that the arrays can hold      */
    int64_t *feature;          /* room: which they are                                   */
    int64_t *place;            /* p: where a feature is; -1: not in the pool              */
    double *mean;              /* room: of the columns under w; 0 without bias            */
    double *z;                 /* n x room: dense columns less their mean; NULL: sparse   */
    int64_t ld;                /* room copies                                            */
    double *h;                 /* ld x ld: 2 Z'WZ (square loss) or Z'diag(v'')Z; NULL:
                                  nobody asked for it                                    */
    int borrowed;              /* h is somebody else's: not to be freed, nor to be grown  */
    double *a;                 /* ld: 2 Z'Wy, square loss; Z'slant, see fenp_bent        */
    int64_t shaped;            /* features whose products under state->bent are in h      */
    double *centre;            /* ld: mean of z under its curvatures                     */
    double *beta, *g;          /* ld: coefficients; slopes of the loss, -x_k'u            */
    int64_t sloped;            /* square loss: so many have g = H beta - a as beta is; 0: nobody
                                  knows                                                  */
    double *earlier;           /* 2 ld: g at the lambda before the last one, and what to expect at
                                  the next                                               */
    int64_t recorded;          /* so many are in earlier; 0: none                        */
    double lambda[2];          /* of earlier and g; 0: of no coefficients                */
    int expecting;             /* it is for the problem at hand                          */
    int64_t groups;            /* of the pool's coefficients                             */
    int64_t *start, *group;    /* ld + 1: their members; ld: which of all groups          */
    double *l, *d;             /* ld: lambda a mix by group; lambda a (1 - mix) by
                                  coefficient                                            */
    double *factor, *work;     /* ld x ld, 12 ld: of pivot.h                             */
    int64_t *who;              /* ld                                                     */
    int64_t kept;              /* see pivot.h: of factor and who, for the matrix as it is  */
    fenp_interior_end end;     /* of the last walk: linear_pieces.c                      */
} fenp_pool;

/* What the rows of a smooth loss say: linear_rows.c. */
typedef struct fenp_linear_rows {
    enum { FENP_ROWS_ANY, FENP_ROWS_PIECES, FENP_ROWS_ODDS } kind;
    double *linear, *low, *high;        /* rows: of fen_piece; else NULL                  */
    double bend, kink;                  /* 1 / its curvature, its kink                   */
    long double loss;                   /* at the dual vector that was made last          */
    long double cross, square;          /* pieces: conjugates of a part of it, see there   */
} fenp_linear_rows;

/* What the matrix of Newton's method is made of: linear_bent.c. */
typedef struct fenp_bent {
    double *h;                 /* rows: curvatures                                       */
    double *slant;             /* rows: w v'(t) = h t - slant, if exact                  */
    double *next, *lean;       /* rows: these two where the rows are now                 */
    double *mass, *pull;       /* copies: sums of h and slant                            */
    double *root;              /* n: of what the curvatures of rows change by             */
    int64_t *row;              /* n: of which rows                                       */
    double *ridge, *square;    /* side: on the diagonal; of a column under the weights    */
    double *peak;              /* side: the largest diagonal since the matrix was made    */
    double *products;          /* side x side                                            */
    int64_t side;
    double size;               /* exact: of the labels, for rounding errors              */
    int exact;                 /* curvatures are those of the loss: slopes by the matrix  */
} fenp_bent;

/* The solution before the last: linear_trail.c. */
typedef struct fenp_trail {
    double lambda;             /* 0: there is none                                       */
    double *t, *beta, *b;      /* rows, coefs, copies                                    */
    int64_t steps;
} fenp_trail;

struct fenp_linear_state {
    fenp_linear q;
    int64_t rows, coefs;       /* copies n, copies p                                     */
    int square, whole;         /* whole: all features are in the pool, and H says it all  */
    int descends;              /* coordinate descent instead of a Gram matrix            */
    int forced;                /* the method stays: it was asked for, or relieves another  */
    int off_centre;            /* some columns are far from 0 beside their deviation      */
    int pieces;                /* the interior point method: corners, or a Newton that stalled */
    double weight_sum;         /* of one copy                                            */
    double weight_most;        /* of a row                                               */
    int alike;                 /* all rows weigh alike                                   */
    double *middle;            /* p: means of the columns, all rows alike; by rows under w */
    double *base;              /* copies: taken off the labels of residual losses         */
    double *y;                 /* rows: labels less base                                 */
    double null;               /* loss of the best constants                             */
    double digits;             /* loss of errors in the last digits of the labels        */
    double variation;          /* square: sum w y^2 after base                           */
    double largest;            /* lambda_max                                             */
    double *beta, *b;          /* coefs, copies (from base on): the current solution      */
    double *t, *u;             /* rows: scores without b, dual vector                    */
    double *work;              /* rows                                                   */
    double *ref;               /* rows: u when all products were made last               */
    double *at_ref;            /* groups: ||x_g'ref||                                    */
    double *length;            /* groups: at least the norm of x_g                       */
    double *now;               /* groups: ||x_g'u||, or a bound of it                     */
    double *likely;            /* groups: ||x_g'u||, or a guess                          */
    double *product;           /* coefs: x_j'u as they are made                          */
    int64_t *list;             /* coefs: which                                           */
    int64_t *open;             /* groups: those that a look leaves open                  */
    double looks, spent;       /* since ref was made; entries that they multiplied        */
    double lambda;             /* solved last; 0: none                                   */
    double fuzz;               /* rounding errors of x'u over ||x||                      */
    double floor;              /* least curvature of a quadratic, over the smoothness: grows
                                  where straight parts of a loss lead steps astray       */
    double *cross;             /* p: 2 Z'Wy of a design by rows; else NULL               */
    double *sum;               /* side x side, p of them used: 2 Z'WZ, until the pool has it */
    int64_t side;
    int settled;               /* t, b and u are those of the pool's beta (Newton)        */
    fenp_linear_rows rows_of;
    fenp_bent bent;
    fenp_trail trail;
    fenp_pool pool;
};

/* Which of all coefficients the pool's k-th is. */
static inline int64_t fenp_pool_coefficient(const fenp_linear_state *s, int64_t k)
{ return k % s->q.x->copies * s->q.x->p + s->pool.feature[k / s->q.x->copies]; }

/* Asked for every group at every look: no division where there are no copies. */
static inline int fenp_pool_has(const fenp_linear_state *s, int64_t group)
{
    const int64_t first = fenp_group_member(s->q.groups, group, 0);
    return s->pool.place[s->q.x->copies == 1 ? first : first % s->q.x->p] >= 0;
}

static inline int fenp_pool_is_complete(const fenp_linear_state *s)
{ return s->pool.size == s->q.x->p; }
static inline int fenp_linear_uses_newton(const fenp_linear_state *s)
{ return !s->pieces && !s->descends && !s->square; }

/* Is the Gram matrix of all features made at once? Asked of the square loss. */
enum { FENP_WHOLE_MOST = 3000 };   /* coefficients */
static inline int fenp_linear_is_whole(const fenp_design *x)
{ return !x->start && x->p <= x->n && x->copies * x->p <= FENP_WHOLE_MOST; }

/* ---- linear_columns.c ---- */
/* Means and lengths, labels being shifted; of a design by rows also cross and sum. */
fen_status fenp_linear_columns(fenp_linear_state *s, fen_error *err);

/* ---- linear_pool.c ---- */
fen_status fenp_pool_open(fenp_linear_state *s, fen_error *err);
void       fenp_pool_close(fenp_pool *pool);
/* The pool of another state, whose matrix it borrows. */
fen_status fenp_pool_twin(const fenp_linear_state *of, fenp_linear_state *s, fen_error *err);
/* The features of these groups join; those that are in already stay. */
fen_status fenp_pool_add(fenp_linear_state *s, const int64_t *groups, int64_t count,
                         fen_error *err);
/* All features, into an empty pool or to those without a price; whole from then on. */
fen_status fenp_pool_add_all(fenp_linear_state *s, fen_error *err);
/* Everybody leaves. */
void       fenp_pool_clear(fenp_linear_state *s);
/* beta of the pool from, and to, that of the state. */
void       fenp_pool_fetch(fenp_linear_state *s);
void       fenp_pool_deliver(fenp_linear_state *s);
/* l and d for a lambda. */
void       fenp_pool_price(fenp_linear_state *s, double lambda);
/* g = -x_k'u of the pool's coefficients */
void       fenp_pool_slopes(fenp_linear_state *s);

/* ---- linear_join.c ---- */
enum { FENP_GRAM_MOST = 3000 };    /* coefficients that have a Gram matrix */
/* Groups outside with slope > floor lambda a mix join, the steepest first. *joined: how many. */
fen_status fenp_join_steep(fenp_linear_state *s, double lambda, double floor, const double *slope,
                           int64_t *joined, fen_error *err);
/* Those whose slope comes near to a lambda that is to be solved. */
fen_status fenp_join_ahead(fenp_linear_state *s, double lambda, fen_error *err);
/* Only the groups with a coefficient stay; with or without a Gram matrix from now on. */
fen_status fenp_join_anew(fenp_linear_state *s, int descends, fen_error *err);
/* Does the pool as it is have room for a Gram matrix? */
int        fenp_join_has_room(const fenp_linear_state *s);

/* ---- the pool's problem: each leaves beta and g of the pool at its optimum, and t and b with
 * them. goal: relative gap by the pool's own groups. ---- */
/* linear_square.c: square loss by pivot.h or group_qp.h on the Gram matrix. Whole: t and b wait. */
fen_status fenp_linear_square(fenp_linear_state *s, double lambda, double goal,
                              const fenp_task *task, fen_error *err);
/* linear_newton.c: smooth losses, by Newton steps with the same two. */
fen_status fenp_linear_newton(fenp_linear_state *s, double lambda, double goal,
                              const fenp_task *task, fen_error *err);
/* ---- linear_rows.c ---- */
fen_status fenp_linear_open_rows(fenp_linear_state *s, fen_error *err);
void       fenp_linear_close_rows(fenp_linear_rows *rows);
/* Smooth losses: the best b for t, from where it is, u = -w v'(t + b), and sums of both. */
void       fenp_linear_dual_of_rows(fenp_linear_state *s);
/* Pieces: w v'(t + b) = h (t + b) - slant of all rows of a copy; sums of h and slant, and of
 * slant^2 over the curvature that w alone would have. */
typedef struct fenp_bend_sums { long double mass, pull, square; } fenp_bend_sums;
fenp_bend_sums fenp_linear_bend_of_rows(const fenp_linear_state *s, int64_t copy, double *h,
                                        double *slant);
/* Loss, labels and weights of one copy */
fenp_target fenp_linear_target(const fenp_linear_state *s, int64_t copy);

/* ---- linear_bent.c: the matrix of Newton's method ---- */
fen_status fenp_bent_open(fenp_linear_state *s, fen_error *err);
void       fenp_bent_close(fenp_bent *bent);
/* Losses in pieces: the matrix follows where the rows are now, and is exact unless too few rows
 * bend or steps fall short. */
fen_status fenp_bent_follow(fenp_linear_state *s, fen_error *err);
/* Curvatures of where the rows are now, for a matrix to be made anew. */
void       fenp_bent_renew(fenp_linear_state *s);
/* The matrix as it is, times what the sum of the curvatures has changed by. */
void       fenp_bent_rescale(fenp_linear_state *s);
/* Features that the matrix does not have yet join it. */
fen_status fenp_bent_join(fenp_linear_state *s, fen_error *err);
/* Exact: slopes g of the pool by the matrix. */
void       fenp_bent_slopes(fenp_linear_state *s);
/* Are they good enough, rounding errors being what they are, to tell such a gap? */
int        fenp_bent_tells(const fenp_linear_state *s, double gap, double primal);
/* ---- linear_trail.c: ahead to where the solution at lambda is likely to be ---- */
fen_status fenp_trail_go_on(fenp_linear_state *s, double lambda, fen_error *err);
void       fenp_trail_close(fenp_trail *trail);
/* The quadratic 1/2 b'Hb + .. of the pool, slopes g at its beta, with the penalty: to where the
 * violation is at most tolerance. */
fen_status fenp_linear_quadratic(fenp_linear_state *s, double tolerance, const fenp_task *task,
                                 fen_error *err);
/* linear_pieces.c: losses with corners, by interior.h */
fen_status fenp_linear_pieces(fenp_linear_state *s, double lambda, double goal,
                              const fenp_task *task, fen_error *err);
/* linear_descent.c: coordinate descent on the columns; no Gram matrix. */
fen_status fenp_linear_descent(fenp_linear_state *s, double lambda, double goal,
                               const fenp_task *task, fen_error *err);

/* ---- linear_outside.c ---- */
/* Of the groups outside: the largest ||x_g'u|| / (lambda a_g mix), and what mix < 1 makes of those
 * beyond 1. now becomes exact where it matters at lambda. */
typedef struct fenp_linear_outside { double ratio, excess; } fenp_linear_outside;
fenp_linear_outside fenp_linear_look(fenp_linear_state *s, double lambda);
void fenp_linear_look_at_all(fenp_linear_state *s);   /* u becomes ref */

/* ---- linear_gap.c ---- */
/* t = X beta of the pool, without b */
void   fenp_linear_scores(fenp_linear_state *s);
/* t += times the column of the pool's k-th coefficient */
void   fenp_linear_add_column(fenp_linear_state *s, int64_t k, double times);
/* Smooth losses: the best b for t, and u = -w v'(t + b). */
void   fenp_linear_dual(fenp_linear_state *s);
double fenp_linear_loss(const fenp_linear_state *s);            /* at t + b               */
double fenp_linear_penalty(const fenp_linear_state *s);         /* of the pool's beta, l, d */
/* fuzz of u as it is: what slopes that are nothing but rounding errors may have. */
void   fenp_linear_measure(fenp_linear_state *s);
/* Loss, P, D and relative gap with that and with what is outside: ratio, excess (mix < 1). */
void   fenp_linear_values(fenp_linear_state *s, double lambda, fenp_linear_outside out,
                          fenp_linear_point *point);
/* Relative gap of the pool's own problem. */
double fenp_linear_pool_gap(fenp_linear_state *s, double lambda);
/* A step took length of what its quadratic had promised: floor follows. */
void   fenp_linear_learn(fenp_linear_state *s, double length);
/* h = w v''(t), floor at least, of all rows */
void   fenp_linear_curvatures(const fenp_linear_state *s, double *h);
#endif
