/* interior_parts.h -- the inside of interior.h: the point, its step, and what they are judged by
 *
 * Row i of weight w_i > 0 is one term, or two when its conjugate has a kink: u_i = sum of its
 * terms' u, and term t (of row t % n) costs  c/2 u^2 - a u  on [low, high]. Pairs are positive
 * numbers x (of the primal) and z (of the dual) whose products go to 0:
 *
 *     pairs                        x                          z
 *     [0, terms)                   multiplier of the end      high - u
 *     [terms, 2 terms)             multiplier of the end      u - low
 *     [2 terms, 2 terms + k)       positive part of beta      l - s
 *     [2 terms + k, 2 terms + 2 k) negative part of beta      l + s
 *
 * x = 0, z = 1 where there is none (an infinite end, a column that is free or in a cone). */
#ifndef FENP_INTERIOR_PARTS_H
#define FENP_INTERIOR_PARTS_H
#include "base/arena.h"
#include "solver/interior.h"

enum { FENP_INSIDE_BLOCK = 512 };  /* rows of a Gram matrix that are scaled at once */

typedef struct fenp_inside {
    const fenp_interior *q;
    int64_t n, k, terms, pairs;
    int64_t equalities;          /* columns with x_j'u = 0: neither price nor sign        */
    int64_t rank;                /* of these                                              */
    double degree;               /* sum of the rates of all pairs and cones               */
    int    curved;               /* the penalty has a curvature: squares or cones         */
    double softness;             /* 1/D of a u that nothing else holds                    */
    int    joint;                /* curvature: primal and dual take steps of one length   */
    /* terms */
    double *a, *c, *low, *high, *u, *du;
    double *weight, *steep;      /* 1/(c + sum x/z) and that sum; 0 and 0: u is fixed     */
    double *rows, *rho;          /* what the row equations lack; their right-hand sides   */
    /* pairs */
    double *x, *z, *dx, *dz, *rc, *kept;
    double *rate;                /* products go to 0 in proportion to these               */
    /* columns */
    double *beta, *dbeta, *s, *ds;
    double *stiff;               /* ds = stiff dbeta - shift for columns of their own     */
    double *shift, *columns;     /* columns: what their equations lack                    */
    double *norm, *scale;        /* sum_i w_i x_ij^2; l, or the size of x_j'u             */
    double enough;               /* what they may lack, in units of scale                 */
    double *right, *reach;       /* reach: a coefficient that changes scores by one unit  */
    /* cones: by group, and by column */
    int    scaled;               /* they are                                              */
    double *tau, *dtau, *w0, *eta2, *lambda0, *q0;
    double *w1, *lambda1, *q1, *work1, *work2;
    /* matrices and room to work */
    int    factored;
    int    wide;                 /* as interior_wide.c does it                            */
    int64_t wide_frees;          /* free columns there                                    */
    const double *design;        /* x, or copy: x with the basis for the free columns     */
    double *copy, *basis, *triangle;
    int64_t side;                /* columns that gram has room for: free ones, or all     */
    double *gram, *block, *root; /* root: of the weights of a block                       */
    double *fit, *row, *trial;   /* n: X beta, ..., u in the feasible set                 */
    double *gradient;            /* k: X'trial                                            */
    int64_t *free, frees;        /* columns with x_j'u = 0 (rank of them) or <= 0         */
    int64_t *list, listed;       /* columns at work                                       */
    /* the best so far */
    double *best_beta, *best_u, best_primal, best_dual;
    int    proved;               /* best_u is not the 0 it began with                     */
    double null;                 /* the first P that was finite: as a rule P(0)           */
} fenp_inside;

static inline int64_t fenp_inside_size(const fenp_inside *s, int64_t g)
{
    return s->q->start[g + 1] - s->q->start[g];
}
static inline int fenp_inside_has_sign(const fenp_inside *s, int64_t g)   /* beta >= 0 */
{
    return s->q->nonnegative && g < s->q->groups - s->q->unbounded && fenp_inside_size(s, g) == 1;
}
static inline int fenp_inside_is_single(const fenp_inside *s, int64_t g)
{
    return fenp_inside_size(s, g) == 1 && (s->q->l[g] > 0.0 || fenp_inside_has_sign(s, g));
}
static inline int fenp_inside_is_cone(const fenp_inside *s, int64_t g)
{
    return s->q->l[g] > 0.0 && fenp_inside_size(s, g) > 1;
}

void   fenp_inside_times(const fenp_inside *s, const double *v, double *out);        /* X v  */
void   fenp_inside_transposed(const fenp_inside *s, const double *v, double *out);   /* X'v  */
void   fenp_inside_gather(const fenp_inside *s, const double *term, double *out); /* by rows */
/* gram <- factor of X'DX over the columns listed; NULL: over all of them, and with S and d.
 * What has no pivot gets one; factored is 0 if there are numbers beyond the range of doubles. */
fen_status fenp_inside_factor(fenp_inside *s, const double *weight, const int64_t *list,
                              int64_t count, const fenp_task *task, fen_error *err);

/* r <- the answer to r by the factor over all of them. */
fen_status fenp_inside_solve(const fenp_inside *s, double *r, fen_error *err);

/* ---- interior_wide.c: the same by the rows, where they are fewer ----------------------- */
int        fenp_wide_suits(const fenp_inside *s);
fen_status fenp_wide_factor(fenp_inside *s, const double *weight, const fenp_task *task,
                            fen_error *err);
fen_status fenp_wide_solve(const fenp_inside *s, double *r, fen_error *err);

/* beta and u as they stand are kept if they are better than the best so far */
void   fenp_inside_offer(fenp_inside *s);

/* ---- interior_walk.c ------------------------------------------------------------------ */
/* Offers the answer of a linear program from beta on; does nothing if it is none. The gap says
 * whether that was found. */
fen_status fenp_inside_walk(fenp_inside *s, double goal, const fenp_task *task, fen_error *err);

/* ---- interior_free.c ------------------------------------------------------------------ */
/* 1: u must be orthogonal to column j of group g; 2: only not in favour of it; 0: neither */
int    fenp_free_kind(const fenp_inside *s, int64_t g, int64_t j);
void   fenp_free_open(fenp_inside *s);                     /* design, free, rank            */
void   fenp_free_enter(fenp_inside *s, double *beta);      /* from x to design              */
void   fenp_free_leave(fenp_inside *s, double *beta);

/* ---- interior_start.c ---------------------------------------------------------------- */
/* Arrays in arena, rows as terms; q is set. */
fen_status fenp_inside_open(fenp_inside *s, fenp_arena *arena, fen_error *err);
/* And what the steps need: pairs, cones, and the Gram matrix of all columns. */
fen_status fenp_inside_widen(fenp_inside *s, fenp_arena *arena, fen_error *err);
/* The first point. */
fen_status fenp_inside_start(fenp_inside *s, double goal, const fenp_task *task, fen_error *err);

/* ---- interior_cones.c: groups of several columns, (tau, beta) and (l, -s) in the cone ---- */
void   fenp_cones_start(fenp_inside *s, double mu);
int    fenp_cones_scale(fenp_inside *s);                   /* 0: a point has left its cone  */
void   fenp_cones_add(fenp_inside *s);                     /* to gram                       */
void   fenp_cones_times(const fenp_inside *s, const double *v, double *out);      /* out +=  */
void   fenp_cones_predict(fenp_inside *s);                 /* shift, towards products of 0  */
void   fenp_cones_correct(fenp_inside *s, double target);  /* shift, after a step predicted */
void   fenp_cones_step(fenp_inside *s);                    /* dbeta -> ds, dtau             */
double fenp_cones_product(const fenp_inside *s, double primal, double dual);
void   fenp_cones_room(const fenp_inside *s, double *primal, double *dual);
void   fenp_cones_move(fenp_inside *s, double primal);     /* tau                           */

/* ---- interior_value.c ---------------------------------------------------------------- */
double fenp_inside_primal(fenp_inside *s, const double *beta);   /* fit <- X beta          */
/* Moves trial into the feasible set; minus infinity where that fails. gradient <- X'trial */
double fenp_inside_dual(fenp_inside *s);
double fenp_inside_gap(const fenp_inside *s);
/* Zeros in best_beta, while the gap stays what it is or at most goal. */
void   fenp_inside_zeros(fenp_inside *s, double goal);
#endif
