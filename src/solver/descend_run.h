/* descend_run.h -- what the files descend*.c share: one output under way */
#ifndef FENP_DESCEND_RUN_H
#define FENP_DESCEND_RUN_H
#include "solver/descend.h"

typedef struct fenp_run {
    const fenp_solver *solver;
    void *state;
    fenp_problem at;               /* the problem of power 2 that is solved next          */
    double lambda, power, gap;     /* as asked for                                        */
    double whole;                  /* sum w                                               */
    double *par;                   /* at.par, where it may be changed                     */
    fenp_solution *out;
    int    stalled;                /* the last solve ended above its gap                  */
    int    solves;
    const fenp_task *task;
} fenp_run;

/* Power 2 at r->at: sweeps until the solver's account of the gap is at most that of r->at. */
fen_status fenp_run_solve(fenp_run *r, fen_error *err);

/* The iterate's own account, from its dual vector, scores and offset. */
double     fenp_run_norm(const fenp_run *r);                       /* ||f||               */
double     fenp_run_loss(const fenp_run *r, double part);    /* sum w loss of part f + b  */
/* - sum w loss*(y, -t z) with the given parameter */
double     fenp_run_minus_conjugates(const fenp_run *r, double t, const double *par);
/* z_i, inside its domain; 0 for rows without weight */
double     fenp_run_z(const fenp_run *r, int64_t i);

/* ---- descend_power.c, descend_price.c: the roots ---- */
fen_status fenp_run_power(fenp_run *r, int *reached, fen_error *err);
fen_status fenp_run_price(fenp_run *r, double nu, int *reached, fen_error *err);
#endif
