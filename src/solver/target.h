/* target.h -- one target as Newton's method sees it, under a smooth loss where steps are asked
 * about, else under any
 *
 *     P = sum w_i v_i(t_i) + lambda ||f||^2,   t = f + b,   slopes w_i v_i'(t_i)
 *
 * The loss half of the problem, the same for models that are expansions and for those that
 * are weights: what is best in b, how far to go along a line, which dual vector is feasible
 * and what it proves. Rows of weight 0 take no part. Sums run in long double. */
#ifndef FENP_TARGET_H
#define FENP_TARGET_H
#include "solver/solver.h"

typedef struct fenp_target {
    const fen_loss *loss;
    const double *par, *w;
    const double *y;           /* n: labels, less base                                  */
    int64_t n;
    int     bias;
    double  lambda;
    double  base;              /* the best constant where P sees y - t alone: y = 1e9 +
                                  noise keeps the digits of its noise; else 0           */
    double  constant;          /* the best constant, from base on; 0 without bias       */
    double  null;              /* objective of it                                       */
    int     trivial;           /* no function can gain more than rounding errors        */
} fenp_target;

/* y: room for n labels; zeros: n doubles that become 0. */
fenp_target fenp_target_of(const fenp_problem *problem, double *y, double *zeros);

/* The best b for the scores f, near a guess; the middle where several are best. Without bias
 * 0. Afterwards the slopes sum to 0. */
double fenp_target_offset(const fenp_target *q, const double *f, double guess);
double fenp_target_loss(const fenp_target *q, const double *f, double b);
/* Of an error in the last digits of y, before base was taken off; 0 unless P sees y - t alone. */
double fenp_target_digits(const fenp_target *q);
void   fenp_target_slopes(const fenp_target *q, const double *f, double b, double *slope);
/* w v''(t), and least w at least; least = 0: what is below rounding errors of the largest
 * one is 0. Returns the number of rows with a positive one. */
int64_t fenp_target_curvatures(const fenp_target *q, const double *f, double b, double least,
                               double *d);

/* A line t + a (df + db), ||f + a df||^2 = ||f||^2 + 2 a cross + a^2 square. Returns an a in
 * (0, 1] with sufficient decrease of P, 1 if that has it; 0: there is no decrease to be had.
 * descent: -dP/da at 0 to full precision. fuzz: what rounding errors in f and df do to P; a
 * full step that neither promises nor spoils more than that is taken. */
typedef struct fenp_ray {
    const double *f, *df;
    double b, db, cross, square, descent, fuzz;
} fenp_ray;
double fenp_target_search(const fenp_target *q, const fenp_ray *ray);

/* Cuts u / w into the domain of the conjugate and, with a bias, shifts it until u sums to 0;
 * where that cannot be, u = 0. Returns whether anything moved. */
int    fenp_target_feasible(const fenp_target *q, double *u);
/* sum w (v(t) + v*(-z) + z t), u = w z: P - D where f = sum u_i k(x_i, .) / (2 lambda). */
double fenp_target_mismatch(const fenp_target *q, const double *f, double b, const double *u);
/* gap over max(P, 1e-12 P of the best constant), ||f||^2 = norm2 */
double fenp_target_relative(const fenp_target *q, const double *f, double b, double norm2,
                            double gap);
#endif
