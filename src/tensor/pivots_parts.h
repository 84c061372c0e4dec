/* pivots_parts.h -- what the files about pivots share: points in the span of the pivots */
#ifndef FENP_PIVOTS_PARTS_H
#define FENP_PIVOTS_PARTS_H
#include "tensor/pivots.h"

enum { FENP_PIVOT_BLOCK = 256 };   /* points at a time: the triangular solve is then a BLAS-3 one */

/* Pivots with their points at hand. */
typedef struct fenp_span {
    const fenp_kernel *kernel;
    fen_view x;
    int64_t h, count;
    const double *factor;          /* count x count, lower, column-major */
    const double *point;           /* count x p                          */
} fenp_span;

/* out (count x p): the points of these multisets (count x h). */
void fenp_span_points(fen_view x, int64_t h, const int64_t *member, int64_t count, double *out);
/* l = factor^-1 k(S, u) of points u (points x p): points x count, row-major, and for each
 * e = max(0, k(u,u) - |l|^2). Serial: for threads that share the blocks. */
void fenp_span_project(const fenp_span *span, const double *u, int64_t points, double *l,
                       double *e);
/* The same of points first .. first + points - 1 of all; u: room for points x p + h. */
void fenp_span_block(const fenp_span *span, int64_t first, int64_t points, double *u, double *l,
                     double *e);
/* How far a search goes: until the largest e is at most fine times the largest k(u,u) with fewer
 * than `few` pivots, at most tolerance times it with more, or there are `most` (0: any number).
 * check = 0: without the last pass, which makes sure of it. look = 1: among the first candidates
 * alone, to see how many there are about. candidates: at most so many at a time (0: the usual
 * number). room: bytes that `most` pivots may take (0: any number), fenp_search_bytes at least. */
typedef struct fenp_pivots_wish {
    double tolerance, fine;
    int64_t few, most, room, candidates;
    int check, look;
} fenp_pivots_wish;
fen_status fenp_pivots_search(const fenp_kernel *kernel, fen_view x, const fenp_pivots_wish *wish,
                              fenp_pivots *out, const fenp_task *task, fen_error *err);
/* What a search leaves for another that goes on from there: count = 0, left = INFINITY at first.
 * Arrays are the caller's. Passes give the rows l of all points (points x pivots, row-major) to
 * `take`, from several threads, never the same points twice at once; those of the last pass are
 * the factor. Unchanged where a search fails or is stopped. */
typedef struct fenp_pivots_so_far {
    int64_t count, *row;           /* pivots: most x h of the wish                        */
    double *low;                   /* their factor by rows: most (most + 1) / 2           */
    int64_t next, *number;         /* candidates: fenp_first_candidates() + 1             */
    double  left, outside;         /* largest e: of all points, of those that are no
                                      candidates; over the largest k(u,u)                 */
    void  (*take)(void *user, int64_t first, int64_t points, int64_t pivots, const double *l);
    void   *user;
} fenp_pivots_so_far;
/* The wish is for all pivots together, and its room is the same as that of the first search. */
fen_status fenp_pivots_go_on(const fenp_kernel *kernel, fen_view x, const fenp_pivots_wish *wish,
                             fenp_pivots_so_far *so_far, const fenp_task *task, fen_error *err);
/* Those of a search in its first round, if there are so many points. */
int64_t fenp_first_candidates(void);
/* Bytes of a search for so many pivots among the products of h of n rows of p numbers: the most
 * that it takes, and the least that it can do with. -1: beyond counting */
int64_t fenp_search_bytes(int64_t n, int64_t p, int64_t h, int64_t pivots, int least);
/* The same among so many candidates (512 or more). */
int64_t fenp_search_bytes_among(int64_t p, int64_t h, int64_t pivots, int64_t candidates);
#endif
