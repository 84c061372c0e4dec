/* least_wide_parts.h -- what the files least_wide*.c share; notation as in least_wide.c */
#ifndef FENP_LEAST_WIDE_PARTS_H
#define FENP_LEAST_WIDE_PARTS_H
#include "solver/least_rows.h"
#include "solver/least_squares.h"

typedef struct fenp_broad {
    const fenp_least_rows *rows;
    int64_t m, k, targets, block, ld; /* ld: of stack                                         */
    double largest, least;            /* norms of columns                                     */
    double tolerance;
    double *stack;    /* ld x m: a triangle, a block below it                                 */
    double *fresh;    /* block x m: columns, transposed                                       */
    double *square;   /* m x m                                                                */
    double *basis;    /* m x m                                                                */
    const double *reach; /* m x rank: U, where not every row is met                              */
    double *residual; /* m x targets                                                          */
    double *v, *q;    /* m x targets                                                          */
    double *gradient; /* k x targets: A'r                                                     */
    double *step;     /* k x targets: a change of beta                                        */
    double *tau, *work;
    int64_t *pivot;
    int64_t rank;
    int met;              /* every row: the residual is 0                                         */
    const double *factor; /* upper triangle, of BB' or U'BB'U                                     */
    int64_t factor_size;  /* stride m                                                             */
} fenp_broad;

/* ---- least_wide.c ---- */
static inline fenp_task fenp_broad_part(const fenp_task *task, double from, double to)
{ return fenp_task_part(task, task ? task->stage : "", from, to); }
static inline double fenp_broad_norm(const fenp_broad *s, int64_t c)
{ return s->rows->norm[s->rows->column[c]]; }
/* Rows first .. of B' or, by_norm, of A'. */
void fenp_broad_block(const fenp_broad *s, int64_t first, int64_t count, int by_norm, double *out,
                     int64_t ld);
/* out = A'v: v m x count, out k x count. */
void fenp_broad_products(const fenp_broad *s, const double *v, int64_t count, double *out);

/* ---- least_wide_gram.c ---- */
/* *done: BB' was enough to find rank, reach and factor. */
fen_status fenp_broad_gram(fenp_broad *s, fenp_least_squares *facts, int *done,
                          const fenp_task *task, fen_error *err);
#endif
