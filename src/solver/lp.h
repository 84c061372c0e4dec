/* lp.h -- one output under a penalty l^p: what Newton's method and the gradient method share
 *
 *     min over a of   T(a)/q + sum_i g_i(a_i),   g_i(a) = c_i v_i*(-a/c_i),   c_i = s w_i,
 *     with bias sum a = 0;   s = 1/(lambda p),  a = s u,  u_i = w_i z_i,  T of tensor/form.h
 *
 * This is -D/(lambda p). f(x_i) = om_i of grad T/q, |w|_p^p = T(a), and
 *     P - D = sum w_i (v_i(t_i) + v_i*(-z_i) + z_i t_i),   t = om + b:
 * no features are needed. Rows of weight 0 take no part; om is that of all rows. */
#ifndef FENP_LP_H
#define FENP_LP_H
#include <math.h>
#include "solver/target.h"
#include "tensor/form.h"

typedef struct fenp_lp {
    fenp_form form;
    int64_t n, p;
    double  order;             /* q                                                     */
    double  scale;             /* s                                                     */
    fenp_target q;
    int64_t m, *row;           /* rows of positive weight                               */
    double *y, *zeros;         /* n: labels of q; zeros                                 */
    double *a, *om;            /* n: where we are; om and value belong to a             */
    double  value;             /* T(a)                                                  */
    double  b;
    double  gap;               /* relative, of a, om and b                              */
    double  excess;            /* the same in units of the objective in a               */
    double *u;                 /* n: a / s, made feasible                               */
    double *other;             /* n: om as it may be, where the form is not exact       */
    double *best_a, *best_om;  /* n: those with the least gap so far                    */
    double  best_b, best_gap, best_value;
    int64_t steps;             /* since begin                                           */
} fenp_lp;

/* Of an arena, the form included; -1: too large to be counted, or no route fits. */
int64_t    fenp_lp_bytes(const fenp_size *size);
double     fenp_lp_flops(const fenp_size *size, double steps);
int        fenp_lp_accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size);
fen_status fenp_lp_begin(fenp_arena *arena, const fenp_problem *problem, fenp_lp *out,
                         const fenp_task *task, fen_error *err);
/* The problem of a sweep, and a start for it: the best multiple of dual, or of the slopes at the
 * best constant. 0: there is nothing to gain, a = 0 is the answer. */
int        fenp_lp_set(fenp_lp *s, const fenp_problem *problem, const double *dual);
/* om and value of a. */
void       fenp_lp_look(fenp_lp *s);
/* b, u and gap of what fenp_lp_look saw; the best one is kept. */
void       fenp_lp_judge(fenp_lp *s);
/* The relative gap of what fenp_lp_judge saw if om is off by what the end of a low rank has in it: an
 * estimate of the gap for the kernel itself. 0: the form is as near to it as it can be. */
double     fenp_lp_doubt(fenp_lp *s);
/* Where that is above the goal, and the gap is not what is to be worked at: a form of larger rank;
 * look and judge are done. *grown: there is one, and what depends on the rank is to be made anew. */
fen_status fenp_lp_grow(fenp_lp *s, double goal, int *grown, const fenp_task *task,
                        fen_error *err);
/* What the best of them comes to; dual, scale, offset, weights, scores and gap. */
void       fenp_lp_leave(fenp_lp *s, fenp_solution *out);
/* Steps that a state of either method has made since begin. */
int64_t    fenp_lp_steps(const void *state);
/* Its low rank ended where the room does. */
int        fenp_lp_is_capped(const void *state);

/* ---- lp_terms.c: every row of positive weight as one term, or two where g has a kink ------- */
/* A term costs c/2 u^2 - l u on [low, high], or (smooth losses that are not in pieces) unit
 * v*(-u/unit) there. */
typedef struct fenp_lp_terms {
    int64_t count, *of;        /* of: place of its row among those of positive weight   */
    int     pieces;
    double *c, *l, *low, *high;
    double *u;                 /* where they are: a of a row is the sum of its terms    */
    double *slope, *bend;      /* of what they cost at u                                */
    double *t;                 /* smooth losses: v'(t) = -u/unit                        */
} fenp_lp_terms;
int64_t fenp_lp_terms_bytes(int64_t n);
void    fenp_lp_terms_open(fenp_lp_terms *e, fenp_arena *arena, int64_t n);
void    fenp_lp_terms_make(fenp_lp_terms *e, const fenp_lp *s);
/* u inside the intervals near s->a, with a bias summing to 0; 0: there is no such point. The less
 * caution (1 at most), the nearer to s->a and to the ends. */
int     fenp_lp_terms_enter(fenp_lp_terms *e, const fenp_lp *s, double caution);
/* slope and bend; returns what all terms cost. */
double  fenp_lp_terms_look(fenp_lp_terms *e, const fenp_lp *s);
/* s->a <- sums of the terms */
void    fenp_lp_terms_gather(const fenp_lp_terms *e, fenp_lp *s);
/* Ends that need a barrier: a slope that is infinite there is one by itself. */
static inline int fenp_lp_has_high(const fenp_lp_terms *e, int64_t t)
{ return e->pieces && isfinite(e->high[t]); }
static inline int fenp_lp_has_low(const fenp_lp_terms *e, int64_t t)
{ return e->pieces && isfinite(e->low[t]); }

/* ---- lp_system.c: (D + (q-1) B) da + e db = right, e'da = 0 with a bias --------------------- */
typedef struct fenp_lp_system {
    int64_t n, rank;           /* rank of the root, or -1: B itself                     */
    double *matrix;            /* n x n, or root, n x rank                              */
    double *gram, *block;      /* (rank + 1)^2 with a root; a block of scaled rows      */
    double *d, *ones, *work;   /* n                                                     */
    double *short1, *short2;   /* rank + 1                                              */
    int     bias;
    int64_t m;
    fenp_arena arena;          /* a piece of the caller's, for any rank of the form     */
} fenp_lp_system;
int64_t    fenp_lp_system_bytes(const fenp_form_size *size, const fenp_route *route);
double     fenp_lp_system_flops(const fenp_form_size *size, const fenp_route *route);
void       fenp_lp_system_open(fenp_lp_system *e, fenp_arena *arena, const fenp_form *form,
                               int bias);
void       fenp_lp_system_fit(fenp_lp_system *e, const fenp_form *form);   /* its rank is another */
/* B at s->a; d (m > 0 of them, rows of positive weight) to the diagonal; and the factor. */
fen_status fenp_lp_system_factor(fenp_lp_system *e, const fenp_lp *s, const double *d,
                                 const fenp_task *task, fen_error *err);
/* right (m) -> da; *db. */
fen_status fenp_lp_system_solve(fenp_lp_system *e, const double *right, double *da, double *db,
                                fen_error *err);
#endif
