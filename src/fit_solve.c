/* fit_solve.c -- from a chosen objective to a certified answer
 *
 * Direct solvers: all targets at once, the first sweep is the answer. Iterative ones: one
 * state (one kernel matrix) for all outputs, each in turn by descend.h, with its own labels,
 * weights and parameter, in rounds (fit_rounds.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/threads.h"
#include "fit_rounds.h"
#include "solver/descend.h"
#include "solver/lp.h"

enum { MOST_SWEEPS = 5 };

static fenp_problem problem_of(const fen_model *m, const fenp_sample *sample, const char *route)
{
    return (fenp_problem){ .sample = sample,
                           .loss = m->loss,
                           .par = &m->output[0].par,
                           .kernel = m->kernel,
                           .lambda = m->lambda,
                           .power = m->power,
                           .bias = m->bias,
                           .route = route };
}

typedef struct drive {
    fen_model *m;
    const fenp_sample *sample;
    const fenp_solver *solver;
    void *state;
    const char *route; /* of penalty lp; else NULL                                    */
    double *w;         /* n: weights of the output                                      */
    double *scores;    /* targets x n: f(x_i); NULL for direct solvers                  */
} drive;

/* ---- the least that an answer must do ---------------------------------------------------- */

/* The best constant: what there is before the first sweep. The dual vector stays. */
static fen_status make_constant(void *user, int64_t t, fen_error *err)
{
    const drive *d = user;
    fen_model *m = d->m;
    double par;
    (void)err;
    m->offset[t] = fenp_best_constant(m, d->sample, t, d->w, &par);
    m->coef_scale[t] = 0.0;
    if (m->weights) memset(m->weights + t * m->p, 0, (size_t)m->p * sizeof(double));
    if (m->nu > 0.0) m->output[t].par = par;
    if (d->scores) memset(d->scores + t * m->n, 0, (size_t)m->n * sizeof(double));
    return FEN_OK;
}

/* ---- direct solvers ---------------------------------------------------------------------- */

static fen_status check_against_constants(fen_model *m, const fenp_sample *sample, fen_error *err)
{
    double *w = fenp_new(m->n, sizeof *w);
    if (!w) return fenp_no_memory(err, fenp_bytes(m->n, 1, sizeof *w), "the certificate");
    drive d = { .m = m, .sample = sample, .w = w };
    const fenp_rounds none = { .m = m, .sample = sample, .user = &d, .constant = make_constant };
    const fen_status status = fenp_prefer_constants(&none, err);
    free(w);
    return status;
}

/* Sweeps until the certificate holds or no longer improves. */
static fen_status solve_at_once(fen_model *m, const fenp_sample *sample, const fenp_solver *solver,
                                const fenp_task *task, fen_error *err)
{
    fenp_problem problem = problem_of(m, sample, NULL);
    const fenp_size size = { .n = sample->n,
                             .p = sample->p,
                             .targets = sample->targets,
                             .bias = m->bias,
                             .power = m->power };
    const fenp_task begin = fenp_task_part(task, "solving", 0.0, 0.9);
    const fenp_task check = fenp_task_part(task, "certificate", 0.9, 1.0);
    fenp_solution solution = { .dual = m->dual,
                               .scale = m->coef_scale,
                               .offset = m->offset,
                               .weights = m->weights,
                               .tangents = m->tangents };
    fenp_arena arena;
    void *state;
    problem.gap = 0.1 * m->tolerance;
    fen_status status = fenp_arena_open(&arena, solver->bytes(&size), "the kernel matrix", err);
    if (status != FEN_OK) return status;
    status = solver->begin(&arena, &problem, &state, &begin, err);
    double gap = INFINITY;
    for (int sweep = 0; status == FEN_OK && sweep < MOST_SWEEPS; sweep++) {
        status = solver->sweep(state, &problem, &solution, &begin, err);
        if (status == FEN_OK) status = fenp_certify(m, sample, m->certificate, &check, err);
        const double now = fenp_worst_gap(m);
        if (status != FEN_OK || now <= m->tolerance || !(now < 0.5 * gap)) break;
        gap = now;
    }
    fenp_arena_close(&arena);
    return status == FEN_OK ? check_against_constants(m, sample, err) : status;
}

/* ---- iterative solvers: one output after the other --------------------------------------- */

/* Parameters of one column (quantiles) are good starts for each other. */
static void start_from_neighbour(fen_model *m, int64_t t)
{
    if (t == 0 || m->output[t].plus >= 0 || m->output[t].column != m->output[t - 1].column) return;
    memcpy(m->dual + t * m->n, m->dual + (t - 1) * m->n, (size_t)m->n * sizeof(double));
    m->coef_scale[t] = m->coef_scale[t - 1];
}

static fen_status solve_output(void *user, int64_t t, int round, double gap, int *reached,
                               const fenp_task *task, fen_error *err)
{
    const drive *d = user;
    fen_model *m = d->m;
    double account = INFINITY;
    fenp_sample one = *d->sample;
    fenp_problem problem = problem_of(m, &one, d->route);
    fenp_solution solution = { .dual = m->dual + t * m->n,
                               .scale = m->coef_scale + t,
                               .offset = m->offset + t,
                               .weights = m->weights ? m->weights + t * m->p : NULL,
                               .scores = d->scores + t * m->n,
                               .gap = &account };
    one.targets = 1, one.y += t * m->n, one.w = d->w;
    problem.gap = gap;
    if (round == 0) start_from_neighbour(m, t);
    fenp_output_weights(m->loss, one.y, d->sample->w, m->n, d->w);
    return fenp_descend(d->solver, d->state, &problem, m->nu, &m->output[t].par, &solution, reached,
                        task, err);
}

static fen_status solve_in_rounds(drive *d, const fenp_problem *problem, fenp_arena *arena,
                                  const fenp_task *task, fen_error *err)
{
    static const double BEGUN = 0.2;
    const fenp_task begin = fenp_task_part(task, "solving", 0.0, BEGUN);
    const fenp_rounds rounds = { .m = d->m,
                                 .sample = d->sample,
                                 .begun = BEGUN,
                                 .user = d,
                                 .solve = solve_output,
                                 .constant = make_constant };
    fen_status status = fenp_make_constants(&rounds, err);
    if (status == FEN_OK) status = d->solver->begin(arena, problem, &d->state, &begin, err);
    return status == FEN_OK ? fenp_rounds_run(&rounds, task, err)
                            : fenp_rounds_end(&rounds, status, err);
}

static fen_status solve_in_turn(fen_model *m, const fenp_sample *sample,
                                const fenp_strategy *strategy, const fenp_task *task,
                                fen_error *err)
{
    const fenp_solver *solver = strategy->solver;
    drive d = { .m = m, .sample = sample, .solver = solver, .route = strategy->size.route };
    const fenp_problem problem = problem_of(m, sample, d.route);
    const int64_t rows = fenp_arena_bytes(m->n) + fenp_arena_bytes(m->n * m->targets);
    fenp_arena arena;
    fen_status status =
        fenp_arena_open(&arena, solver->bytes(&strategy->size) + rows, "the solver", err);
    if (status != FEN_OK) return status;
    d.w = fenp_arena_doubles(&arena, m->n);
    d.scores = fenp_arena_doubles(&arena, m->n * m->targets);
    memset(d.scores, 0, (size_t)(m->n * m->targets) * sizeof(double));
    const int narrowed = fenp_descend_narrow(solver, &problem);
    status = solve_in_rounds(&d, &problem, &arena, task, err);
    fenp_threads_widen(narrowed);
    if (status == FEN_OK) fenp_note_scores(m, sample, d.scores);
    if (status == FEN_OK && solver->lp && d.state && fenp_lp_is_capped(d.state))
        fenp_note_capped(m);
    fenp_arena_close(&arena);
    return status;
}

fen_status fenp_solve(fen_model *m, const fenp_sample *sample, const fenp_solver *solver,
                      const fenp_strategy *strategy, const fenp_task *task, fen_error *err)
{
    snprintf(m->method, sizeof m->method, "%s%s%s", solver->name, solver->lp ? ", " : "",
             solver->lp ? strategy->size.route : "");
    return solver->iterative ? solve_in_turn(m, sample, strategy, task, err)
                             : solve_at_once(m, sample, solver, task, err);
}
