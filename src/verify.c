/* verify.c -- does a stored model hold against the rows it claims to come from?
 *
 * The certificate is computed once more (certify.c); the preparation is learned once more;
 * the numbers in the file must be those that come out. Rows of a model of random features
 * are read block by block, twice: memory does not grow with them. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/threads.h"
#include "data/columns.h"
#include "promise/calibrate.h"
#include "streamed.h"
#include "verify.h"

static int is_whole(const fen_model *m) { return m->penalty->parts == FEN_WHOLE; }

/* The penalty over lambda: of coefficients it is what the certificate has for a norm. */
static double penalty_of(const fen_model *m, const fen_certificate *c)
{
    return is_whole(m) ? m->penalty->value(c->norm, m->power) : c->norm;
}

/* Rounding may change it by a factor where solvers end at rounding; with penalties on
 * coefficients it is a sum over their own columns, and as good as any other. */
static int same_stationarity(const fen_model *m, double a, double b)
{
    const double factor = is_whole(m) ? 10.0 : 1.001;
    return a <= factor * b + 1e-7 && b <= factor * a + 1e-7;
}

/* Bounds of the distance to the optimum go with the root of the gap. Where that is rounding errors,
 * another machine has another one; but it counts for no less than rounding may come to
 * (certify_distance.c), which makes for the factor. Older models were not told theirs: NaN. */
static int same_distance(double stored, double now, double relative_gap)
{
    const double factor = relative_gap > 1e-10 ? 1.01 : 3.0;
    return stored == now || (stored <= factor * now && now <= factor * stored && stored < INFINITY);
}

static int same_distances(const fen_model *m, const fen_certificate *stored,
                          const fen_certificate *now)
{
    const double gap = fabs(now->relative_gap);
    if (!fenp_model_is_lp(m) || isnan(stored->norm_distance)) return 1;
    return same_distance(stored->norm_distance, now->norm_distance, gap) &&
           same_distance(stored->bias_distance, now->bias_distance, gap) &&
           same_distance(stored->optimum_distance, now->optimum_distance, gap);
}

/* The stored numbers must come out again: a changed array moves them even where the gap,
 * which is of second order, forgives it. The norm counts by its share of the objective: at
 * tiny lambda its digits depend on the machine, and nothing else does. */
static int reproduces(const fen_model *m, int64_t t, const fen_certificate *now, double unit)
{
    const fen_certificate *stored = &m->certificate[t];
    return fenp_close_to(stored->primal, now->primal, unit) &&
           fenp_close_to(stored->dual, now->dual, unit) &&
           fenp_close_to(stored->mean_loss, now->mean_loss, unit) &&
           fenp_close_to(stored->gap, stored->primal - stored->dual, unit) &&
           fenp_close_to(stored->relative_gap * unit, stored->gap, unit) &&
           fenp_close_to(stored->null, now->null, now->null) &&
           fenp_close_to(m->lambda * penalty_of(m, stored), m->lambda * penalty_of(m, now), unit) &&
           same_stationarity(m, stored->stationarity, now->stationarity) &&
           same_distances(m, stored, now) &&
           (stored->verdict == now->verdict || fenp_is_early(stored->verdict));
}

/* What speaks against the certificate of one target; NULL: nothing. */
static const char *objection(const fen_model *m, int64_t t, const fen_certificate *all,
                             double digits, double tolerance)
{
    const fen_certificate *now = &all[t];
    fen_certificate joint = *now; /* what the gap was measured by */
    joint.null = fenp_joint_null(m, all, t);
    if (!m->bias && m->offset[t] != 0.0) return "there is an offset in a model without bias";
    if (!(fabs(now->relative_gap) <= tolerance)) return "the relative gap is above the tolerance";
    if (!reproduces(m, t, now, fenp_gap_unit(&joint, digits)))
        return "the stored certificate does not come out again";
    return NULL;
}

/* What an examination found out. */
typedef struct finding {
    fen_certificate *now; /* one per target                                     */
    double *digits;       /* one per target: see fenp_gap_unit                  */
    const char *why;      /* what speaks against the model as a whole, or NULL  */
    int chosen;           /* as the stored table says                           */
} finding;

static fen_status check_rows(const fen_model *m, int64_t rows, uint64_t hash, const char *title,
                             fen_error *err)
{
    if (rows == m->n && hash == m->hash) return FEN_OK;
    return fenp_fail(err, FEN_BAD_DATA,
                     "%s: not the rows this model was trained on, in this order "
                     "(%lld rows, fingerprint %016llx expected)",
                     title, (long long)m->n, (unsigned long long)m->hash);
}

/* ---- weights and their scales ------------------------------------------------------------ */

/* coef_scale = 1/(2 lambda2), lambda2 = (m/2) lambda ||f||^(m-2). 0 at f = 0, but for m = 2,
 * where it may be either. A lambda2 below floor drowns in rounding errors, as does what it is
 * made of. */
static int same_scales(const fen_model *m, const fen_certificate *now, double floor)
{
    for (int64_t t = 0; t < m->targets; t++) {
        const double norm = now[t].norm, scale = m->coef_scale[t];
        const double shrunk = m->power == 2.0 ? 1.0 : norm > 0.0 ? pow(norm, 2.0 - m->power) : 0.0;
        const double wanted = shrunk / (m->power * m->lambda);
        if (norm == 0.0 && scale == 0.0) continue;
        if (fmin(scale, wanted) * 2.0 * floor >= 1.0) continue;
        if (!(fabs(scale - wanted) <= 1e-5 * wanted)) return 0;
    }
    return 1;
}

/* ---- models of an exact kernel ----------------------------------------------------------- */

static int same_inputs(const fen_model *m, const fenp_sample *sample)
{
    if (!m->inputs) return 1;
    for (int64_t k = 0; k < m->kept; k++) {
        const double *row = sample->x + (m->support ? m->support[k] : k) * m->p;
        for (int64_t j = 0; j < m->p; j++)
            if (!(fabs(m->inputs[k * m->p + j] - row[j]) <= 1e-9 * (1.0 + fabs(row[j])))) return 0;
    }
    return 1;
}

/* J_q, the identity for penalties other than lp */
static long double implied(const fen_model *m, long double g)
{
    return fenp_model_is_lp(m) ? copysignl(powl(fabsl(g), m->kernel.par.order - 1.0L), g) : g;
}

/* weights = coef_scale X'u of target t (penalty lp: J_q of that), to 1e-6 of their norm and the
 * rounding errors of X'u. */
static int same_weights(const fen_model *m, const fenp_sample *sample, int64_t t, double norm)
{
    const int64_t rows = m->support ? m->kept : m->n;
    const double *u = m->dual + t * rows, scale = m->coef_scale[t];
    long double off = 0.0L;
    for (int64_t j = 0; j < m->p; j++) {
        long double sum = 0.0L, size = 0.0L;
        for (int64_t k = 0; k < rows; k++) {
            const double x = sample->x[(m->support ? m->support[k] : k) * m->p + j];
            sum += (long double)u[k] * x, size += fabs(u[k] * x);
        }
        const long double rounding = 64.0L * DBL_EPSILON * fabs(scale) * size;
        const long double least = implied(m, scale * sum - rounding), w = m->weights[t * m->p + j];
        off = fmaxl(off, fmaxl(least - w, w - implied(m, scale * sum + rounding)));
    }
    return off <= 1e-6L * norm + DBL_MIN; /* J_q may underflow */
}

/* Of lambda2: rounding errors of the kernel matrix. */
static double rounding_floor(const fen_model *m, const fenp_sample *sample)
{
    return (double)m->n * DBL_EPSILON *
           fenp_gram_mean_diagonal(&m->kernel, fenp_sample_inputs(sample), sample->w);
}

/* 1/(lambda p) there, whatever the norm is; 0 makes w = 0. */
static int lp_scales(const fen_model *m)
{
    const double wanted = 1.0 / (m->lambda * m->power);
    for (int64_t t = 0; t < m->targets; t++)
        if (m->coef_scale[t] != 0.0 && !(fabs(m->coef_scale[t] - wanted) <= 1e-9 * wanted))
            return 0;
    return 1;
}

/* Iterative solvers of other powers than 2 know lambda2 as well as the gap lets them: there the
 * weights themselves are compared. */
static int scales_agree(const fen_model *m, const fenp_sample *sample, const fen_certificate *now)
{
    const fenp_solver *solver = fenp_model_solver(m);
    if (fenp_model_is_lp(m) && !lp_scales(m)) return 0;
    if (!m->weights) return 1;
    if (!fenp_model_is_lp(m) && (m->power == 2.0 || !solver || !solver->iterative))
        return same_scales(m, now, rounding_floor(m, sample));
    for (int64_t t = 0; t < m->targets; t++)
        if (!same_weights(m, sample, t, now[t].norm)) return 0;
    return 1;
}

/* NaN where there is nothing to tell. */
static int same_share(double a, double b) { return isnan(a) ? isnan(b) : fenp_close_to(a, b, 1.0); }

/* Shares of the rows: in another class than their own, where quantiles cross. */
static fen_status check_error(const fen_model *m, const fenp_sample *sample, const fenp_task *task,
                              int *agrees, fen_error *err)
{
    fen_model again = *m;
    const fen_status status = fenp_model_train_error(&again, sample, task, err);
    *agrees =
        same_share(again.train_error, m->train_error) && same_share(again.crossing, m->crossing);
    return status;
}

/* What predictions of a cut kernel may be off by: found again, but for what rounding makes of a
 * number that is mostly rounding. A fit that was ended may not know it: then it must be little. */
static int same_error(double stored, double now, double size)
{
    static const double FACTOR = 3.0, ROUNDING = 1e-9, LITTLE = 1e-6;
    if (isnan(stored)) return now <= LITTLE * size;
    return now <= FACTOR * stored + ROUNDING * size && stored <= FACTOR * now + ROUNDING * size;
}

/* Training rows say nothing of the weights of more pivots than there are rows. */
static fen_status check_predictions(const fen_model *m, const fenp_sample *sample,
                                    const fenp_task *task, fen_certificate *out, int *agrees,
                                    fen_error *err)
{
    static const double MOST = 1e-6; /* of f */
    double now = 0.0, size = 0.0, distance = 0.0;
    if (!fenp_model_is_lp(m)) return FEN_OK;
    fen_status status =
        fenp_prediction_error(m, fenp_sample_inputs(sample), &now, &size, task, err);
    if (status == FEN_OK) status = fenp_model_check_pivots(m, &distance, task, err);
    *agrees = same_error(m->prediction_error, now, size) && distance <= MOST;
    for (int64_t t = 0; t < m->targets; t++) out[t].optimum_distance += now;
    return status;
}

/* What an output says beside its labels: a parameter that its loss has, sigmoids of classes. */
static int sensible_outputs(const fen_model *m)
{
    for (int64_t t = 0; t < m->targets; t++) {
        const fenp_output *o = &m->output[t];
        if (!m->loss->parameter.name && o->par != 0.0) return 0;
        if (o->plus < 0 && fenp_has_sigmoid(o)) return 0;
    }
    return 1;
}

static fen_status find_sigmoids(const fen_model *m, const fenp_sample *sample,
                                const fenp_task *task, fenp_output *out, fen_error *err)
{
    fenp_setup setup;
    if (!fenp_model_on_coefficients(m))
        return fenp_sigmoids(m, sample, fenp_model_solver(m), out, task, err);
    fen_status status = fenp_setup_of_model(m, sample, &setup, task, err);
    if (status == FEN_OK)
        status = fenp_calibrate_linear(setup.problem, setup.count, m->lambda, m->tolerance, m->seed,
                                       sample, out, task, err);
    fenp_setup_free(&setup);
    return status;
}

/* Sigmoids are fitted to refits, which agree to the digits that their gap leaves. */
static fen_status check_sigmoids(const fen_model *m, const fenp_sample *sample,
                                 const fenp_task *task, int *agrees, fen_error *err)
{
    const int known = fenp_model_on_coefficients(m) || fenp_model_solver(m);
    if (!fenp_has_sigmoid(&m->output[0]) || !known) return FEN_OK;
    fenp_output *again = fenp_new(m->targets, sizeof *again);
    if (!again) return fenp_no_memory(err, 0, "the certificate");
    memcpy(again, m->output, (size_t)m->targets * sizeof *again);
    const fen_status status = find_sigmoids(m, sample, task, again, err);
    for (int64_t t = 0; status == FEN_OK && t < m->targets; t++)
        for (int k = 0; k < 2; k++)
            *agrees &= fabs(again[t].sigmoid[k] - m->output[t].sigmoid[k]) <=
                       1e-4 * (fabs(again[t].sigmoid[0]) + fabs(again[t].sigmoid[1]));
    free(again);
    return status;
}

static fen_status examine_sample(const fen_model *m, const fen_table *table, fenp_sample *sample,
                                 const fenp_task *task, finding *f, fen_error *err)
{
    int prepared = 0, right = 1, likely = 1, even = 1, exact = 1;
    fen_status status = check_rows(m, sample->n, sample->hash, fenp_table_title(table), err);
    if (status == FEN_OK)
        status = fenp_outputs_apply(m->output, m->targets, m->class_weights, sample, err);
    if (status == FEN_OK) status = fenp_check_kernel(m->kernel.table, sample, err);
    if (status == FEN_OK) f->chosen = fenp_selection_agrees(m, sample);
    if (status == FEN_OK) status = fenp_certify(m, sample, f->now, task, err);
    if (status == FEN_OK) status = check_predictions(m, sample, task, f->now, &exact, err);
    if (status == FEN_OK) status = check_error(m, sample, task, &right, err);
    if (status == FEN_OK) status = check_sigmoids(m, sample, task, &likely, err);
    if (status == FEN_OK) status = fenp_certify_digits(m, sample, f->digits, err);
    if (status == FEN_OK) status = fenp_model_check_deviations(m, sample, &even, err);
    if (status == FEN_OK) status = fenp_prep_check(m->prep, table, &prepared, err);
    if (status != FEN_OK) return status;
    f->why = !prepared                          ? "the preparation does not follow from the rows"
             : !same_inputs(m, sample)          ? "the stored inputs are not the prepared rows"
             : !scales_agree(m, sample, f->now) ? "coef_scale does not belong to the weights"
             : !exact                           ? "predictions are not as exact as is stored"
             : !even                            ? "the stored deviations are not those of the rows"
             : !right                           ? "the stored shares of rows do not come out again"
             : !sensible_outputs(m)             ? "an output has a parameter or sigmoid of nothing"
             : !likely                          ? "the stored sigmoids do not come out again"
                                                : NULL;
    return FEN_OK;
}

/* ---- penalties on coefficients ----------------------------------------------------------- */

/* Columns that are others than the model's have no certificate of it. */
static void leave_open(const fen_model *m, finding *f)
{
    for (int64_t t = 0; t < m->targets; t++) f->now[t] = fenp_no_certificate();
}

static fen_status examine_wide(const fenp_wide *wide, const fen_table *table, const fenp_task *task,
                               finding *f, fen_error *err)
{
    const fen_model *m = &wide->model;
    fenp_sample *sample = wide->sample;
    int right = 1, likely = 1, even = 1;
    fen_status status = check_rows(m, sample->n, sample->hash, fenp_table_title(table), err);
    f->why = wide->agrees ? fenp_linear_objection(m, sample)
                          : "the preparation does not follow from the rows";
    if (status == FEN_OK && m->weights && sample->p != m->p) {
        leave_open(m, f);
        return FEN_OK;
    }
    if (status == FEN_OK)
        status = fenp_outputs_apply(m->output, m->targets, m->class_weights, sample, err);
    if (status == FEN_OK) f->chosen = fenp_selection_agrees(m, sample);
    if (status == FEN_OK) status = fenp_certify(m, sample, f->now, task, err);
    if (status == FEN_OK) status = check_error(m, sample, task, &right, err);
    if (status == FEN_OK) status = check_sigmoids(m, sample, task, &likely, err);
    if (status == FEN_OK) status = fenp_certify_digits(m, sample, f->digits, err);
    if (status == FEN_OK) status = fenp_model_check_deviations(m, sample, &even, err);
    if (status != FEN_OK || f->why) return status;
    f->why = !even                     ? "the stored deviations are not those of the rows"
             : !same_inputs(m, sample) ? "the stored inputs are not the prepared rows"
             : !right                  ? "the stored shares of rows do not come out again"
             : !sensible_outputs(m)    ? "an output has a parameter or sigmoid of nothing"
             : !likely                 ? "the stored sigmoids do not come out again"
                                       : NULL;
    return FEN_OK;
}

static fen_status examine_linear(const fen_model *m, const fen_table *table, const fenp_task *task,
                                 finding *f, fen_error *err)
{
    fenp_wide wide;
    fen_status status = fenp_wide_open(m, table, &wide, err);
    if (status == FEN_OK) status = examine_wide(&wide, table, task, f, err);
    fenp_wide_close(&wide);
    return status;
}

static fen_status examine_table(const fen_model *m, const fen_table *table, const fenp_task *task,
                                finding *f, fen_error *err)
{
    fenp_sample *sample = NULL;
    if (!is_whole(m)) return examine_linear(m, table, task, f, err);
    fen_status status = fenp_prep_sample(m->prep, table, &sample, err);
    if (status == FEN_OK) status = examine_sample(m, table, sample, task, f, err);
    fenp_sample_free(sample);
    return status;
}

/* ---- models of random features: the rows are streamed ------------------------------------ */

/* As drawn from the seed; libraries differ in the last digits of logarithm and cosine. */
static fen_status check_frequencies(const fen_model *m, int *agrees, fen_error *err)
{
    const int64_t count = m->approx.columns / 2 * m->p;
    double *again = fenp_new(count, sizeof *again);
    if (!again) return fenp_no_memory(err, count * (int64_t)sizeof *again, "the frequencies");
    fenp_fourier_draw(&m->approx, &m->kernel, m->p, m->seed, again);
    *agrees = 1;
    for (int64_t i = 0; i < count; i++)
        *agrees &= fabs(m->frequencies[i] - again[i]) <= 1e-9 * (1.0 + fabs(again[i]));
    free(again);
    return FEN_OK;
}

static fen_status examine_source(const fen_model *m, fenp_source *source, const fenp_task *task,
                                 finding *f, fen_error *err)
{
    const fenp_task learning = fenp_task_part(task, "preparation", 0.0, 0.4);
    const fenp_task certifying = fenp_task_part(task, "certificate", 0.4, 1.0);
    fenp_summary summary;
    int prepared = 0, drawn = 0;
    fen_status status =
        fenp_prep_check_source(m->prep, source, &prepared, &summary, &learning, err);
    if (status == FEN_OK)
        status = check_rows(m, summary.rows, summary.hash, fenp_source_title(source), err);
    if (status == FEN_OK) status = check_frequencies(m, &drawn, err);
    f->chosen = fenp_selection_agrees(m, NULL);
    if (status == FEN_OK)
        status = fenp_certify_source(m, source, f->now, f->digits, &certifying, err);
    if (status == FEN_OK)
        f->why = !prepared                      ? "the preparation does not follow from the rows"
                 : !drawn                       ? "the frequencies do not follow from the seed"
                 : !same_scales(m, f->now, 0.0) ? "coef_scale does not belong to the weights"
                                                : NULL;
    return status;
}

/* ---- either ------------------------------------------------------------------------------ */

static void conclude(const fen_model *m, const finding *f, const fen_options *o,
                     fen_certificate *out, int *holds, fen_error *err)
{
    const char *why = f->why;
    if (!why && !f->chosen) why = "gamma, lambda and power are not the choice of the stored table";
    for (int64_t t = 0; t < m->targets; t++) {
        if (!why) why = objection(m, t, f->now, f->digits[t], o ? o->tolerance : m->tolerance);
        out[t] = f->now[t];
    }
    *holds = why == NULL;
    if (why) fenp_fail(err, FEN_OK, "%s", why);
}

/* The rows are in a table or, with random features, in a source. */
static fen_status verify(const fen_model *m, const fen_table *table, fenp_source *source,
                         const fen_options *o, const fen_host *host, fen_certificate *out,
                         int *holds, fen_error *err)
{
    const fenp_threads before = fenp_threads_enter(o ? o->threads : 0);
    const fenp_task whole = fenp_task_start(host, o ? o->time_limit_seconds : 0.0);
    const fenp_task task = fenp_task_part(&whole, "certificate", 0.0, 1.0);
    finding f = { fenp_new(m->targets, sizeof *f.now), fenp_new(m->targets, sizeof *f.digits), NULL,
                  1 };
    fen_status status =
        !f.now || !f.digits
            ? fenp_no_memory(err, m->targets * (int64_t)sizeof *f.now, "the certificate")
        : source ? examine_source(m, source, &task, &f, err)
                 : examine_table(m, table, &task, &f, err);
    if (status == FEN_OK) conclude(m, &f, o, out, holds, err);
    fenp_threads_leave(before);
    free(f.now);
    free(f.digits);
    return status;
}

fen_status fen_verify(const fen_model *m, const fen_table *table, const fen_options *o,
                      const fen_host *host, fen_certificate *out, int *holds, fen_error *err)
{
    fenp_source *source = NULL;
    fen_status status = m->frequencies ? fenp_source_table(table, &source, err) : FEN_OK;
    if (status == FEN_OK) status = verify(m, table, source, o, host, out, holds, err);
    fenp_source_close(source);
    return status;
}

fen_status fen_verify_file(const fen_model *m, const char *path, const fen_options *o,
                           const fen_host *host, fen_certificate *out, int *holds, fen_error *err)
{
    fen_options reading = o ? *o : fen_options_default();
    fenp_source *source = NULL;
    fen_table *table = NULL;
    fenp_share first, rest;
    if (!reading.like) reading.like = fen_model_reading(m);
    fenp_share_open(&first, host, 0.0, 0.1);
    fenp_share_open(&rest, host, m->frequencies ? 0.0 : 0.1, 1.0);
    fen_status status = m->frequencies ? fenp_source_file(path, &reading, &source, err)
                                       : fen_table_read(path, &reading, &first.own, &table, err);
    if (status == FEN_OK) status = verify(m, table, source, o, &rest.own, out, holds, err);
    fenp_source_close(source);
    fen_table_free(table);
    return status;
}
