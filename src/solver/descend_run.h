/* descend_run.h -- what the files descend*.c share: one output under way */
#ifndef FENP_DESCEND_RUN_H
#define FENP_DESCEND_RUN_H
#include "solver/descend.h"

/* A copy of an iterate. */
typedef struct fenp_kept {
    double *dual, *scores, *weights;   /* n, n, p (NULL as in the solution)               */
    double offset, scale;
} fenp_kept;

typedef struct fenp_run {
    const fenp_solver *solver;
    void *state;
    fenp_problem at;               /* the problem of power 2 (or lp) that is solved next  */
    double lambda, power, gap;     /* as asked for                                        */
    double whole;                  /* sum w                                               */
    double *par;                   /* at.par, where it may be changed                     */
    fenp_solution *out;
    fenp_kept best;                /* the one with the least objective in this solve      */
    int    stalled;                /* the last solve ended above its gap                  */
    int    solves;
    const fenp_task *task;
} fenp_run;

/* r->at as it stands: sweeps until the solver's account of the gap is at most that of r->at. */
fen_status fenp_run_solve(fenp_run *r, fen_error *err);

int64_t    fenp_kept_bytes(const fenp_run *r);                     /* of an arena         */
fenp_kept  fenp_kept_open(fenp_arena *arena, const fenp_run *r);
void       fenp_keep(const fenp_run *r, fenp_kept *out);

/* The iterate's own account, from its dual vector, scores and offset. */
double     fenp_run_norm(const fenp_run *r);              /* ||f||, of penalty lp |w|_P   */
double     fenp_run_loss(const fenp_run *r, double part);    /* sum w loss of part f + b  */
/* - sum w loss*(y, -t z) with the given parameter */
double     fenp_run_minus_conjugates(const fenp_run *r, double t, const double *par);

/* ---- descend_power.c, descend_price.c: the roots ---- */
fen_status fenp_run_power(fenp_run *r, int *reached, fen_error *err);
fen_status fenp_run_price(fenp_run *r, double nu, int *reached, fen_error *err);
#endif
