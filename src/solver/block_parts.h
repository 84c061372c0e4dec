/* block_parts.h -- what the files block_*.c share: blocks of the dual program of one output */
#ifndef FENP_BLOCK_PARTS_H
#define FENP_BLOCK_PARTS_H
#include "solver/face.h"
#include "solver/pivot.h"
#include "solver/smo.h"
#include "solver/solver.h"
#include "solver/values.h"

typedef struct fenp_block {
    fenp_qp all;           /* every row; their linear terms are in g                    */
    fenp_qp block;         /* the rows of who                                           */
    int64_t room;          /* of block                                                  */
    int64_t *who;          /* room                                                      */
    int64_t *mover;        /* room: rows that have moved                                */
    double *before;        /* room: b of the block before it moved                      */
    double *coef;          /* room                                                      */
    double *work;          /* 2 room                                                    */
    fenp_face_room face;
    fenp_values values;
    double *f, *change;    /* n: scores, and what is added to them                      */
    double *last, lambda;  /* n: the dual vector that f belongs to                      */
    double *diag;          /* n: k(x,x)                                                 */
    double *linear;        /* n: a                                                      */
    double *whole;         /* n x n: K, in small problems; else NULL                    */
    int     whole_made;
    double *rank;          /* 2 n                                                       */
    int64_t passes;
    int     slow;          /* pairs were given up before the goal of the last block     */
    int     pivoting;      /* then it is pivots' turn, and not Newton's                 */
} fenp_block;
enum { FENP_BLOCK_PASSES = 25 };           /* of one sweep                               */

/* A sweep begins: the program that loss and lambda make, with b as near to u as it may be (all but
 * g), then f and g of it. */
void       fenp_block_pieces(fenp_block *s, const fenp_problem *problem, const double *u);
fen_status fenp_block_scores(fenp_block *s, const fenp_problem *problem, const double *u,
                             fen_error *err);
/* One block is chosen, improved and carried over to all rows; *moved: something has changed. */
fen_status fenp_block_step(fenp_block *s, int *moved, fen_error *err);
/* Small problems (whole is not NULL): all of K, then pivots, which make f and g anew; f and g of
 * the b that is there. */
fen_status fenp_block_whole(fenp_block *s, const fenp_problem *problem, const fenp_task *task,
                            fen_error *err);
fenp_pivot_room fenp_block_pivot_room(const fenp_block *s);
fen_status fenp_block_pivots(fenp_block *s, double goal, fenp_pivot_room *room, int *moved,
                             const fenp_task *task, fen_error *err);
void       fenp_block_refresh(fenp_block *s);
/* b and f become the solution, all but its offset and gap. */
void       fenp_block_report(fenp_block *s, const fenp_problem *problem, fenp_solution *out);

/* ---- block_price.c: the sweep that chooses the parameter of the loss as well ---- */
fen_status fenp_block_priced(void *work, const fenp_problem *problem, const fenp_price *price,
                             fenp_solution *out, const fenp_task *task, fen_error *err);
#endif
