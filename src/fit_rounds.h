/* fit_rounds.h -- iterative solvers and the certificate by turns, until it holds */
#ifndef FENP_FIT_ROUNDS_H
#define FENP_FIT_ROUNDS_H
#include "story.h"

/* Problem k is that of m->copies outputs, from k * m->copies on. */
typedef struct fenp_rounds {
    fen_model         *m;
    const fenp_sample *sample;
    double             begun;      /* share of the task before the first round           */
    void              *user;
    /* From where the model is to a gap; *reached: by its own account it is there. */
    fen_status (*solve)(void *user, int64_t k, int round, double gap, int *reached,
                        const fenp_task *task, fen_error *err);
    fen_status (*constant)(void *user, int64_t k, fen_error *err); /* the best one for the model */
} fenp_rounds;
fen_status fenp_rounds_run(const fenp_rounds *r, const fenp_task *task, fen_error *err);
/* What was to come before it ended with `why`, or a round did: an end is no failure. */
fen_status fenp_rounds_end(const fenp_rounds *r, fen_status why, fen_error *err);
fen_status fenp_make_constants(const fenp_rounds *r, fen_error *err);
/* Where nothing is proved and they are better. */
fen_status fenp_prefer_constants(const fenp_rounds *r, fen_error *err);
double     fenp_worst_gap(const fen_model *model);
/* Verdicts of what is not proved: status is FEN_LIMIT or FEN_STOPPED. */
void       fenp_say_what_ended(fen_model *model, fen_status status);
/* The certificate of what there is when a fit ends early, and what ended it. */
fen_status fenp_certify_ended(fen_model *model, const fenp_sample *sample, fen_status why,
                              fen_error *err);
/* Of some target. */
int        fenp_was_ended(const fen_model *model);

/* Of the time that a limit leaves to a selection by refits, kept for the fit itself. */
#define FENP_FIT_SHARE 0.2
/* A selection that the limit cut short: with more time it would have been another objective,
 * whatever was proved of this one. */
void       fenp_mark_cut(fen_model *model);
#endif
