/* pivots.h -- the Gram matrix of all products of h rows in the span of a few of them
 *
 * q = 2h. Points u = x_i1 * ... * x_ih (elementwise, i1 <= ... <= ih), M = C(n+h-1, h) of them,
 * kernel k(u, v) = kappa(sum_j u_j v_j): a positive semidefinite M x M matrix G. With pivots S
 *
 *     G = G~ + E,   G~ = G_.S G_SS^-1 G_S.,   E positive semidefinite,   e = diag E >= 0.
 *
 * v(a) = a^(h): entries a_i1 ... a_ih over all n^h tuples, v'Gv = T(a). */
#ifndef FENP_PIVOTS_H
#define FENP_PIVOTS_H
#include "base/clock.h"
#include "kernel/gram.h"

typedef struct fenp_pivots {
    int64_t h, count;
    int64_t *row;              /* count x h, ascending within a pivot                   */
    double  *factor;           /* count x count, lower, column-major: L L' = G_SS       */
} fenp_pivots;

/* Greedy, until the largest e is at most tolerance times the largest k(u,u) over all M points, or
 * most pivots (0: any number) are taken. Candidates come out of samples of the points, those
 * with the largest e of a full pass join them: memory is at most 8192 (all points, if they are
 * fewer) times count + 2 count^2 numbers for any M. The same rows give the same pivots for any
 * number of threads. */
fen_status fenp_pivots_find(const fenp_kernel *kernel, fen_view x, double tolerance, int64_t most,
                            fenp_pivots *out, const fenp_task *task, fen_error *err);
void       fenp_pivots_free(fenp_pivots *pivots);
/* c (count x pivots->count) of `count` vectors a (count x n): f~(x) = sum_s c_s sum over (h-1)-tuples t of a^t k(u_s, x_t * x),
 * c = G_SS^-1 G_S. v(a). */
fen_status fenp_pivots_weights(const fenp_kernel *kernel, fen_view x, const fenp_pivots *pivots,
                               const double *a, int64_t count, double *c, const fenp_task *task,
                               fen_error *err);
/* f~ of new rows (out: z.rows); pivots->factor is not needed. Rounding: terms cancel, and leave
 * 1e-10 to 1e-9 of the largest |f~|. */
fen_status fenp_pivots_predict(const fenp_kernel *kernel, fen_view x, const fenp_pivots *pivots,
                               const double *a, const double *c, fen_view z, double *out,
                               const fenp_task *task, fen_error *err);

/* ---- points.c: products of h rows ------------------------------------------------------- */
/* h of a kernel whose order is known to be even. */
int64_t fenp_half_order(const fenp_kernel *kernel);
/* Number of multisets of h out of n; INT64_MAX: beyond counting. */
int64_t fenp_multisets(int64_t n, int64_t h);
/* Multisets i1 <= ... <= ih in the order (0,0), (0,1), ..., (0,n-1), (1,1), ...: number k. */
void    fenp_multiset_at(int64_t n, int64_t h, int64_t k, int64_t *member);
/* The next one; 0: it was the last. */
int     fenp_multiset_next(int64_t n, int64_t h, int64_t *member);
/* h! / (counts of equal members)! : tuples that are this multiset */
double  fenp_multiset_orders(int64_t h, const int64_t *member);
/* out (p) = product of these rows */
void    fenp_point_of(fen_view x, int64_t h, const int64_t *member, double *out);
/* out (rows x cols, row-major, ld to a row) = kernel of points u (rows x p) and v (cols x p) */
void    fenp_point_kernel(const fenp_kernel *kernel, int64_t p, const double *u, int64_t rows,
                          const double *v, int64_t cols, double *out, int64_t ld);
/* T and om of `count` vectors, exactly, by sums over pairs of points: M^2/2 kernel values. */
fen_status fenp_points_sums(const fenp_kernel *kernel, fen_view x, const double *a, int64_t count,
                            double *value, double *om, const fenp_task *task, fen_error *err);
#endif
