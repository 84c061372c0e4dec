/* curve.h -- all ridge solutions of one target as a curve, and the best point on it
 *
 * In the folded space (fold.h) a(c) = (K + cI)^-1 y, N(c)^2 = a'Ka, L(c) = |y - Ka|^2.
 * Every minimiser of  L + weight ||f||^power,  weight = n lambda, for every power > 0 lies
 * on this curve or is f = 0 (fix the norm: the best fit of that norm is a ridge solution).
 * It solves  h(t) = t + (2 - power) log N = log(power weight / 2),  t = log c.
 *
 * An engine offers the curve; everything about powers stands in curve.c. Logarithms
 * throughout: c runs over more orders of magnitude than a double when power is near 1. */
#ifndef FENP_CURVE_H
#define FENP_CURVE_H
#include "fenchel/fenchel.h"

typedef struct fenp_point {
    double t;                  /* log c                                                 */
    double log_norm;           /* log N(c)                                              */
    double slope;              /* d log N / dt, from -1 (c large) to 0 (c small)        */
    double loss;               /* L(c) / L(f = 0), from 0 to 1                          */
} fenp_point;

typedef struct fenp_curve {
    fen_status (*at)(void *state, double t, fenp_point *out, fen_error *err);
    void  *state;
    double log_energy;         /* log |y|^2, the loss of f = 0; -INFINITY: y = 0        */
    double log_reach;          /* log sqrt(y'Ky) = limit of t + log N; -INFINITY: f = 0
                                  is all that K can do for this y                       */
    double log_top;            /* log of the largest eigenvalue, or of a bound on it    */
    double least;              /* t below which c drowns in the rounding errors of K    */
    int    has_end;            /* at t = -INFINITY too: least squares of least norm     */
} fenp_curve;

/* A curve made of eigenvalues (or Ritz values): N^2 = sum d q/(d+c)^2,
 * L = rest + sum c^2 q/(d+c)^2. O(count) per point. */
typedef struct fenp_measure {
    const double *d;           /* count, >= 0, any order                                */
    double *q;                 /* count, >= 0: made relative to the energy              */
    int64_t count;
    double rest;               /* loss that no eigenvalue touches, likewise             */
    double log_energy, log_top;
    double floor;              /* eigenvalues up to it are rounding errors and count as 0 */
} fenp_measure;
/* Scales q and rest (given as squares of y) in place; rows: n, for the rounding floor. */
fenp_curve fenp_measure_curve(fenp_measure *measure, int64_t rows);

enum { FENP_NODES_MAX = 64 };
typedef struct fenp_root {
    double c;                  /* INFINITY: f = 0                                       */
    double lambda2;            /* c / n: the ridge penalty with the same solution       */
    double t;                  /* log c, finite where c overflows                       */
    int    nodes;              /* power < 1: the residuals of the ridge solutions at    */
    double node[FENP_NODES_MAX];   /* these log c prove the minimum; INFINITY: f = 0,
                                  -INFINITY: what least squares cannot explain          */
} fenp_root;

/* The minimum. power > 1: unique, safeguarded Newton. power = 1: f = 0 from
 * weight/2 >= sqrt(y'Ky) on. power < 1: the global one to a relative gap, by branch and
 * bound in the norm. power = 2 gives c = n lambda to the last bit and evaluates nothing. */
fen_status fenp_curve_minimum(const fenp_curve *curve, int64_t n, double lambda, double power,
                              double gap, fenp_root *out, fen_error *err);
/* Coefficients a = (K + cI)^-1 y hold y/c of what no eigenvalue touches; K takes it out again,
 * but for rounding errors. Where those would show in the objective, c is raised. For engines
 * that answer in coefficients. untouched: the share of |y|^2 in question. */
fen_status fenp_rise_above_rounding(const fenp_curve *curve, double untouched, int64_t n,
                                    double lambda, double power, fenp_root *root, fen_error *err);
double     fenp_measure_untouched(const fenp_measure *measure);
#endif
