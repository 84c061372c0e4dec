/* fit_rounds.c -- iterative solvers and the certificate by turns, until it holds
 *
 * Before the first round every problem has its best constant. A round solves the problems that
 * are not yet proved, by the solver's own account, to half of the tolerance; then the certificate
 * of all of them decides. Where it asks for more, they go on to a tenth of that gap, and so on.
 * A limit or the caller ends the work at the best answer so far: it is certified all the same
 * (that work is bounded) and the verdict says what happened. Where nothing is proved and the best
 * constant has a lower objective, that is the answer: an iterate may be worse for a long time,
 * when its dual vector no longer is. */
#include <math.h>

#include "base/clock.h"
#include "base/error.h"
#include "fit_rounds.h"

enum { MOST_ROUNDS = 4 };
static const double SOLVED = 0.9, REST = 0.2; /* of the task; of what is left to later rounds */

double fenp_worst_gap(const fen_model *m)
{
    double worst = 0.0;
    for (int64_t t = 0; t < m->targets; t++)
        if (!(fabs(m->certificate[t].relative_gap) <= worst))
            worst = fabs(m->certificate[t].relative_gap);
    return worst;
}

void fenp_say_what_ended(fen_model *m, fen_status status)
{
    for (int64_t t = 0; t < m->targets; t++)
        if (!(fabs(m->certificate[t].relative_gap) <= m->tolerance))
            m->certificate[t].verdict =
                status == FEN_LIMIT ? FEN_VERDICT_LIMIT : FEN_VERDICT_INTERRUPTED;
}

fen_status fenp_certify_ended(fen_model *m, const fenp_sample *sample, fen_status why,
                              fen_error *err)
{
    for (int64_t t = 0; why == FEN_STOPPED && t < m->targets; t++)
        m->certificate[t].verdict = FEN_VERDICT_INTERRUPTED; /* asks for a quick certificate */
    const fen_status status = fenp_certify(m, sample, m->certificate, NULL, err);
    if (status == FEN_OK) fenp_say_what_ended(m, why);
    return status;
}

int fenp_was_ended(const fen_model *m)
{
    int64_t t = 0;
    while (t < m->targets && !fenp_is_early(m->certificate[t].verdict)) t++;
    return t < m->targets;
}

void fenp_mark_cut(fen_model *m)
{
    for (int64_t t = 0; t < m->targets; t++)
        if (!fenp_is_early(m->certificate[t].verdict))
            m->certificate[t].verdict = FEN_VERDICT_LIMIT;
}

static int64_t count_of(const fenp_rounds *r) { return r->m->targets / r->m->copies; }

static int is_proved(const fen_model *m, int64_t problem)
{
    return fabs(m->certificate[problem * m->copies].relative_gap) <= m->tolerance;
}

fen_status fenp_make_constants(const fenp_rounds *r, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t k = 0; status == FEN_OK && k < count_of(r); k++)
        status = r->constant(r->user, k, err);
    return status;
}

fen_status fenp_prefer_constants(const fenp_rounds *r, fen_error *err)
{
    fen_model *m = r->m;
    fen_status status = FEN_OK;
    int worse = 0;
    for (int64_t k = 0; status == FEN_OK && k < count_of(r); k++) {
        const double null = fenp_joint_null(m, m->certificate, k * m->copies);
        if (is_proved(m, k) || m->certificate[k * m->copies].primal <= null || isinf(null))
            continue;
        status = r->constant(r->user, k, err);
        worse = 1;
    }
    return worse && status == FEN_OK ? fenp_certify(m, r->sample, m->certificate, NULL, err)
                                     : status;
}

/* *reached: some solver's account says that its problem is proved. */
static fen_status solve_all(const fenp_rounds *r, int round, double gap, int *reached,
                            const fenp_task *task, fen_error *err)
{
    const double count = (double)count_of(r);
    fen_status status = FEN_OK;
    *reached = 0;
    for (int64_t k = 0; status == FEN_OK && k < count_of(r); k++) {
        int here = 0;
        const fenp_task part =
            fenp_task_part(task, "solving", (double)k / count, (double)(k + 1) / count);
        if (round > 0 && is_proved(r->m, k)) continue;
        status = r->solve(r->user, k, round, gap, &here, &part, err);
        *reached |= here;
    }
    return status;
}

fen_status fenp_rounds_end(const fenp_rounds *r, fen_status why, fen_error *err)
{
    fen_status status = why;
    if (fenp_is_end(why)) status = fenp_certify_ended(r->m, r->sample, why, err);
    if (status == FEN_OK) status = fenp_prefer_constants(r, err);
    if (status == FEN_OK && why != FEN_OK) fenp_say_what_ended(r->m, why);
    return status;
}

fen_status fenp_rounds_run(const fenp_rounds *r, const fenp_task *task, fen_error *err)
{
    fen_model *m = r->m;
    const fenp_task check = fenp_task_part(task, "certificate", SOLVED, 1.0);
    double gap = 0.5 * m->tolerance, rest = SOLVED - r->begun;
    fen_status status = FEN_OK;
    fenp_task_leaves_model(task);
    for (int round = 0; status == FEN_OK && round < MOST_ROUNDS; round++) {
        int reached;
        const fenp_task solving = fenp_task_part(task, "solving", SOLVED - rest, SOLVED);
        status = solve_all(r, round, gap, &reached, &solving, err);
        if (status == FEN_OK) status = fenp_certify(m, r->sample, m->certificate, &check, err);
        if (status != FEN_OK || fenp_worst_gap(m) <= m->tolerance || !reached) break;
        gap *= 0.1, rest *= REST;
    }
    return fenp_rounds_end(r, status, err);
}
