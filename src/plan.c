/* plan.c -- what a fit would take, decided from sizes before any work
 *
 * Memory: what is resident now plus the largest work area. Time: flops over a rate measured
 * on the spot with a small matrix product. Engine: engine.c; selection: strategy.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/linalg.h"
#include "base/registry.h"
#include "base/text.h"
#include "base/threads.h"
#include "story_lp.h"
#include "streamed.h"

/* Flops per second of a matrix product on the threads in force: 20 ms well spent. */
double fenp_measured_rate(void)
{
    enum { N = 768 };
    double *a = fenp_new_zeroed(3 * N, N * (int64_t)sizeof(double));
    double best = 0.0;
    for (int pass = 0; a && pass < 3; pass++) {
        const double start = fenp_now();
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1.0, a, N, a + N * N, N,
                    0.0, a + 2 * N * N, N);
        const double rate = 2.0 * N * N * N / (fenp_now() - start);
        if (rate > best) best = rate;
    }
    free(a);
    return best > 0.0 ? 0.8 * best : 1e9;
}

static void describe_selection(const fen_options *o, const fenp_size *size, const fenp_strategy *s,
                               char *out, size_t room)
{
    char powers[32] = "";
    if (s->powers > 1) snprintf(powers, sizeof powers, " x %d powers", s->powers);
    if (s->gammas == 1 && s->lambdas == 1 && s->powers == 1)
        snprintf(out, room, "nothing to select: %slambda %s given",
                 s->solver->lp ? "" : "gamma and ", s->solver->lp ? "is" : "are");
    else if (s->solver->lp) /* whose gamma is never searched */
        snprintf(out, room, "%s, %d lambdas on %lld of %lld rows", o->select, s->lambdas,
                 (long long)s->rows, (long long)size->n);
    else if (s->coarse_rows)
        snprintf(out, room,
                 "%s, %d gammas x %d lambdas%s on %lld rows, the best %d gammas on %lld of %lld",
                 o->select, s->gammas, s->lambdas, powers, (long long)s->coarse_rows,
                 FENP_NEIGHBOURS, (long long)s->rows, (long long)size->n);
    else
        snprintf(out, room, "%s, %d gammas x %d lambdas%s on %lld of %lld rows", o->select,
                 s->gammas, s->lambdas, powers, (long long)s->rows, (long long)size->n);
}

/* Penalty lp: rows that a fit would refuse. */
static fen_status check_rows(const fenp_sample *sample, const fen_options *o, int count,
                             fen_error *err)
{
    double gammas[FEN_VALUES_MAX];
    const fen_kernel *table = fenp_find_kernel(o->kernel);
    fenp_kernel kernel = fenp_kernel_asked(o, table);
    const fen_status status = fenp_list_gammas(o, table, sample, count, gammas, err);
    if (status != FEN_OK) return status;
    kernel.par.gamma = gammas[0];
    return fenp_lp_rows_fit(&kernel, sample, o, err);
}

/* "; packed would take 60 GB; low-rank 4.1 s and 230 MB": what --route would have meant instead,
 * all else as planned. */
static void add_alternatives(const fen_options *o, const fenp_size *size, const char *taken,
                             double rate, int64_t resident, char *out, size_t room)
{
    const char *verb = "would take ";
    for (int i = 0; fenp_routes[i]; i++) {
        fen_options other = *o;
        fenp_size asked = *size;
        fenp_strategy s;
        char bytes[FENP_BYTES_TEXT], seconds[32];
        const size_t used = strlen(out);
        other.route = asked.route = fenp_routes[i]->name;
        if (strcmp(other.route, taken) == 0 ||
            fenp_strategy_make(&other, fenp_find_kernel(o->kernel), fenp_find_loss(o->loss), &asked,
                               &s, NULL) != FEN_OK)
            continue;
        const int64_t peak = fenp_lp_peak(&s, &other, &asked, resident);
        const double time = s.flops / rate, unit = pow(10.0, floor(log10(time)) - 1.0);
        fenp_print_short(nearbyint(time / unit) * unit, seconds); /* two digits */
        fenp_bytes_text(peak, bytes);
        if (peak <= fenp_memory_limit(o))
            snprintf(out + used, room - used, "; %s %s%s s and %s", other.route, verb, seconds,
                     bytes);
        else
            snprintf(out + used, room - used, "; %s %s%s", other.route, verb, bytes);
        verb = "";
    }
}

/* Where none fits, an engine is named that nobody would have expected. */
static void add_least(char *out, size_t room)
{
    const size_t used = strlen(out);
    snprintf(out + used, room - used, " (no engine fits, this one takes least)");
}

static fen_status plan_settled(const fenp_sample *sample, const fen_options *o, fen_plan *out,
                               fen_error *err)
{
    fenp_strategy s;
    const fenp_size size = fenp_size_of(sample, o);
    fen_status status =
        fenp_strategy_make(o, fenp_find_kernel(o->kernel), fenp_find_loss(o->loss), &size, &s, err);
    if (status == FEN_OK && s.solver->lp) status = check_rows(sample, o, s.gammas, err);
    if (status != FEN_OK) return status;
    const int64_t resident = fenp_memory_resident(); /* before anything is tried out */
    fen_plan plan = { .rows = size.n, .features = size.p, .targets = size.targets };
    plan.peak_bytes = fenp_resident_with(s.bytes, &size);
    plan.limit_bytes = fenp_memory_limit(o);
    plan.fits = plan.peak_bytes <= plan.limit_bytes;
    if (!plan.fits) fenp_advise(&s, o, &size, plan.advice, sizeof plan.advice);
    if (plan.fits && s.solver->lp) plan.peak_bytes = fenp_lp_peak(&s, o, &size, resident);
    const double rate = fenp_measured_rate(); /* last: it takes memory */
    plan.seconds = s.flops / rate;
    snprintf(plan.method, sizeof plan.method, "%s", s.solver->name);
    if (s.solver->lp) {
        fenp_lp_why(&s.size, plan.why, sizeof plan.why);
        if (!plan.fits && strcmp(o->engine, "auto") == 0) add_least(plan.why, sizeof plan.why);
        if (!size.kernel.table->linear)
            add_alternatives(o, &size, s.size.route, rate, resident, plan.why, sizeof plan.why);
    } else
        snprintf(plan.why, sizeof plan.why, "%s", s.why);
    describe_selection(o, &size, &s, plan.selection, sizeof plan.selection);
    *out = plan;
    return FEN_OK;
}

static fen_status plan_sample(const fenp_prep *prep, fenp_sample *sample, const fen_options *given,
                              fen_plan *out, fen_error *err)
{
    fenp_settled settled;
    fen_status status = fenp_settle(given, prep, sample, &settled, err);
    if (status != FEN_OK) return status;
    if (fenp_on_coefficients(given))
        fenp_plan_linear(sample, &settled, out);
    else
        status = plan_settled(sample, &settled.o, out, err);
    fenp_settled_free(&settled);
    return status;
}

static fen_status plan_table(const fen_table *table, const fen_options *o, fen_plan *out,
                             fen_error *err)
{
    fenp_prep *prep = NULL;
    fenp_sample *sample = NULL;
    const fen_status learned = fenp_prep_learn_nameless(table, o, &prep, &sample, err);
    if (learned != FEN_OK) return learned;
    const fen_status status = plan_sample(prep, sample, o, out, err);
    fenp_sample_free(sample);
    fenp_prep_free(prep);
    return status;
}

/* The rows of a table, or those of a file, which random features read in pieces. */
static fen_status plan_rows(const fen_table *table, const char *path, const fen_options *o,
                            const fen_host *host, fen_plan *out, fen_error *err)
{
    const fenp_task task = fenp_task_start(host, o->time_limit_seconds);
    fen_table *read = NULL;
    fenp_source *source = NULL;
    fen_status status;
    if (strcmp(o->approx, "none") == 0) {
        status = table ? FEN_OK : fen_table_read(path, o, host, &read, err);
        if (status == FEN_OK) status = plan_table(table ? table : read, o, out, err);
        fen_table_free(read);
        return status;
    }
    status =
        table ? fenp_source_table(table, &source, err) : fenp_source_file(path, o, &source, err);
    if (status == FEN_OK) status = fenp_plan_features(source, o, out, &task, err);
    fenp_source_close(source);
    return status;
}

static fen_status plan_any(const fen_table *table, const char *path, const fen_options *o,
                           const fen_host *host, fen_plan *out, fen_error *err)
{
    fen_status status = fen_options_check(o, err);
    if (status != FEN_OK) return status;
    const fenp_threads before = fenp_threads_enter(o->threads);
    status = plan_rows(table, path, o, host, out, err);
    fenp_threads_leave(before);
    return status;
}

fen_status fen_plan_fit(const fen_table *table, const fen_options *o, fen_plan *out, fen_error *err)
{
    return plan_any(table, NULL, o, NULL, out, err);
}

fen_status fen_plan_file(const char *path, const fen_options *o, const fen_host *host,
                         fen_plan *out, fen_error *err)
{
    return plan_any(NULL, path, o, host, out, err);
}
