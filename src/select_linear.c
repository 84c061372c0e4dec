/* select_linear.c -- lambda of penalties on coefficients: as given, by rule, or along a path
 *
 * Path. The lambdas of select_lambdas.c. A path of our own that still falls at its end goes on with
 * the same steps, a decade at a time, two at most. All outputs share the lambdas. Each is solved on
 * all rows, which tells how many terms.
 * Scores.
 *   kfold:K, 1se:K, loo   weighted mean held-out loss of the rows; loo is n folds. Its standard
 *              error is that of the mean of the folds: sqrt(sum_k W_k (m_k - m)^2 / W / (K - 1)).
 *              Several outputs: select.c. Classes: also the share of rows in a wrong class.
 *   aic, bic   n g(mean loss) + c df, c = 2 or log n, n the number of rows: weights have no unit;
 *              g = log (square loss), 2 log (absolute, pinball), 2 (logistic): what a normal, a
 *              Laplace or a logistic law makes of -2 log likelihood. df: promise/freedom.c.
 *              Several outputs: the sum. Where df passes half of the rows, solutions that
 *              follow the noise would have the best likelihood: they are not compared. A mean
 *              loss counts as no less than that of rounding errors of the labels.
 *   gcv        mean loss / (1 - (df + bias)/n)^2, square loss
 * Choice. The least score, of those that do as well the largest lambda; 1se: the largest lambda
 * whose score is within one standard error of the least one. A time limit leaves the choice to the
 * folds that are finished, or takes the largest lambda of those given, a tenth of the largest one
 * of a path. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "loss/traits.h"
#include "penalty/traits.h"
#include "promise/loo.h"
#include "promise/refit.h"
#include "promise/laws.h"
#include "select_linear.h"

enum { MOST_DECADES = 2 };            /* beyond the end of a path */
static const double FLAT = 1e-3;      /* of a score: falls no more */
static const double RULE_RATIO = 0.1; /* of the largest lambda, without scores */

/* ---- what is asked for ------------------------------------------------------------------- */

static int asks(const fen_options *o, const char *kind) { return strcmp(o->select, kind) == 0; }

int64_t fenp_count_folds_linear(const fen_options *o, int64_t rows)
{
    if (asks(o, "loo")) return rows;
    const char *colon = strchr(o->select, ':');
    return colon ? strtoll(colon + 1, NULL, 10) : 0;
}

static int has_likelihood(const fen_loss *loss)
{
    static const char *const some[] = { "square", "absolute", "pinball", "logistic" };
    for (int i = 0; i < 4; i++)
        if (strcmp(loss->name, some[i]) == 0) return 1;
    return 0;
}

static fen_status check(const fenp_lambda_search *s, fen_error *err)
{
    const fen_options *o = s->o;
    if (asks(o, "none"))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--select none leaves lambda open: give one --lambda, or use kfold:10");
    if (s->outputs[0].column < 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "one class has no held-out score to select by: give one --lambda");
    if ((asks(o, "aic") || asks(o, "bic")) && !has_likelihood(s->loss))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--select %s needs a likelihood, which the %s loss has not (square, "
                         "absolute, pinball and logistic have); use kfold:10",
                         o->select, s->loss->name);
    if (asks(o, "gcv") && !fenp_is_square(s->loss))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--select gcv is for the square loss; with the %s loss use kfold:10",
                         s->loss->name);
    if (asks(o, "loo") && s->sample->n > FENP_MOST_LEFT_OUT)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--select loo would fit as many paths as there are rows, %lld; use "
                         "kfold:10 (loo is for %d rows at most)",
                         (long long)s->sample->n, FENP_MOST_LEFT_OUT);
    return FEN_OK;
}

/* ---- all rows ------------------------------------------------------------------------------ */

typedef struct output_at {
    fenp_lambda_search *s;
    const fenp_linear *problem;
    int64_t first; /* output of the first copy */
} output_at;

/* The loss of one copy, from its scores. */
static double loss_of_copy(const fenp_linear *q, const double *f, double b, int64_t t)
{
    const int64_t n = q->x->n;
    double sum = 0.0;
    for (int64_t i = t * n; i < (t + 1) * n; i++)
        if (q->w[i] > 0.0) sum += q->w[i] * q->loss->value(q->y[i], f[i] + b, q->par);
    return sum;
}

/* What rounding errors of its labels cost: y that is constant, or met, has no loss but that. */
static double least_loss(const fenp_linear *q, int64_t t)
{
    const int64_t n = q->x->n;
    double largest = 0.0;
    if (!q->loss->residual) return 0.0;
    for (int64_t i = t * n; i < (t + 1) * n; i++)
        if (q->w[i] > 0.0) largest = fmax(largest, fabs(q->y[i]));
    return fmax(q->loss->value(0.0, 4.0 * DBL_EPSILON * largest, q->par), DBL_MIN);
}

static fen_status see_all(void *user, int64_t rung, const fenp_linear_point *at, fen_error *err)
{
    const output_at *to = user;
    fenp_lambda_search *s = to->s;
    const fenp_linear *q = to->problem;
    const int64_t copies = q->x->copies;
    s->terms[rung] += (double)at->terms / (double)s->sample->targets;
    if (s->folds) return FEN_OK;
    const double df = fenp_freedom(q, at, s->twin);
    double *f = copies > 1 ? fenp_new(q->x->n, copies * (int64_t)sizeof *f) : NULL;
    if ((copies > 1 && !f) || isnan(df)) {
        free(f);
        return fenp_no_memory(err, 0, "degrees of freedom");
    }
    s->df[rung] += df;
    if (f) fenp_design_scores(q->x, at->beta, f);
    for (int64_t t = 0; t < copies; t++) {
        const double sum = f ? loss_of_copy(q, f, at->b[t], t) : at->loss;
        const double mean = sum / fenp_search_weight(s, q->w + t * q->x->n, -1);
        s->fit[(to->first + t) * s->count + rung] = fmax(mean, least_loss(q, t));
    }
    free(f);
    return FEN_OK;
}

/* begun: see fenp_ladder_descend, of the first problem. */
static fen_status solve_all(fenp_lambda_search *s, fenp_linear_state *begun, const fenp_task *task,
                            fen_error *err)
{
    fen_status status = FEN_OK;
    output_at to = { .s = s };
    for (int64_t q = 0; q < s->problem_count && status == FEN_OK; q++) {
        const fenp_task part = fenp_task_part(task, "path", (double)q / (double)s->problem_count,
                                              (double)(q + 1) / (double)s->problem_count);
        to.problem = &s->problems[q];
        const fenp_ladder rungs = { .lambdas = s->lambdas,
                                    .count = s->count,
                                    .gap = FENP_SEARCH_GAP,
                                    .visit = see_all,
                                    .user = &to,
                                    .lengthy = !s->folds && to.problem->mix < 1.0 };
        status = fenp_ladder_descend(to.problem, q == 0 ? begun : NULL, &rungs, &part, err);
        to.first += to.problem->x->copies;
    }
    return status;
}

/* ---- scores -------------------------------------------------------------------------------- */

/* Mean held-out loss over the folds from first to last, in units, summed over the outputs. Folds
 * that are not finished have no weight. */
static double mean_of_folds(const fenp_lambda_search *s, int64_t first, int64_t last, int64_t rung)
{
    const int64_t targets = s->sample->targets;
    double score = 0.0;
    for (int64_t t = 0; t < targets; t++) {
        double sum = 0.0, weight = 0.0;
        for (int64_t k = first; k < last; k++) {
            if (!(s->weight[k * targets + t] > 0.0)) continue;
            sum += s->held[(k * targets + t) * s->count + rung];
            weight += s->weight[k * targets + t];
        }
        if (weight > 0.0) score += sum / weight / s->units[t];
    }
    return score;
}

static double fold_weight(const fenp_lambda_search *s, int64_t fold)
{
    double sum = 0.0;
    for (int64_t t = 0; t < s->sample->targets; t++)
        sum += s->weight[fold * s->sample->targets + t];
    return sum;
}

static void score_folds(const fenp_lambda_search *s, int64_t rung, fenp_score *to)
{
    double spread = 0.0, weight = 0.0;
    to->score = mean_of_folds(s, 0, s->folds, rung);
    for (int64_t k = 0; k < s->folds; k++) {
        const double off = mean_of_folds(s, k, k + 1, rung) - to->score;
        spread += fold_weight(s, k) * off * off, weight += fold_weight(s, k);
    }
    if (s->done > 1) to->deviation = sqrt(spread / weight / (double)(s->done - 1));
}

/* -2 log likelihood of rows with this mean loss, but for what is the same for all lambdas. */
static double misfit(const fenp_lambda_search *s, double mean)
{
    const double n = (double)s->sample->n;
    if (strcmp(s->loss->name, "logistic") == 0) return 2.0 * n * mean;
    return (fenp_is_square(s->loss) ? n : 2.0 * n) * log(mean);
}

static double criterion(const fenp_lambda_search *s, int64_t rung)
{
    const double n = (double)s->sample->n, df = s->df[rung];
    const int64_t targets = s->sample->targets;
    double sum = 0.0;
    if (df > 0.5 * n * (double)targets) return INFINITY;
    for (int64_t t = 0; t < targets; t++) {
        const double mean = s->fit[t * s->count + rung];
        const double left = 1.0 - (df / (double)targets + s->o->bias) / n;
        sum += asks(s->o, "gcv") ? mean / (left * left) / s->units[t] : misfit(s, mean);
    }
    return asks(s->o, "gcv") ? sum : sum + (asks(s->o, "aic") ? 2.0 : log(n)) * df;
}

static fen_status score(fenp_lambda_search *s, fen_error *err)
{
    const int whole = s->done == s->folds; /* else errors would count rows never predicted */
    for (int64_t k = 0; k < s->count; k++) {
        s->grid[k] = (fenp_score){ .gamma = s->gamma,
                                   .lambda = s->lambdas[k],
                                   .power = 2.0,
                                   .error = NAN,
                                   .deviation = NAN,
                                   .terms = s->terms[k] };
        if (s->folds)
            score_folds(s, k, &s->grid[k]);
        else
            s->grid[k].score = criterion(s, k);
        if (isnan(s->grid[k].score)) s->grid[k].score = INFINITY;
    }
    if (!s->scores || !whole) return FEN_OK;
    const fenp_classifier by = fenp_classifier_of(s->outputs, s->sample->targets, s->loss);
    const fen_status status = fenp_error_rates(s->sample, &by, s->scores, s->count, s->errors, err);
    for (int64_t k = 0; k < s->count && status == FEN_OK; k++) s->grid[k].error = s->errors[k];
    return status;
}

/* Criteria know the rounding errors of labels already: see least_loss. */
static int64_t best_of(const fenp_lambda_search *s)
{
    const double rounding =
        s->folds ? fenp_score_rounding(s->sample, s->outputs, s->o, !fenp_is_square(s->loss)) : 0.0;
    return fenp_best_score(s->grid, s->count, rounding);
}

/* 1se: the first one near the best. */
static int64_t pick(const fenp_lambda_search *s)
{
    const int64_t best = best_of(s);
    int64_t at = 0;
    if (strncmp(s->o->select, "1se:", 4) != 0) return best;
    const double bound = s->grid[best].score + fmax(0.0, s->grid[best].deviation);
    while (at < best && !(s->grid[at].score <= bound)) at++;
    return at;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static fen_status find_twins(fenp_lambda_search *s, fen_error *err)
{
    const fenp_design *x = s->problems[0].x;
    s->twin = fenp_new(x->p, sizeof *s->twin);
    return s->twin && !fenp_design_twins(x, 1, s->twin)
               ? FEN_OK
               : fenp_no_memory(err, fenp_bytes(x->p, 32, 1), "degrees of freedom");
}

static fen_status open_search(fenp_lambda_search *s, fen_error *err)
{
    const int64_t n = s->sample->n, targets = s->sample->targets, k = s->count;
    const int64_t rooms = 4 * k + targets * (k + 1) + s->folds * targets * (k + 1);
    const int64_t scores = s->folds && s->outputs[0].plus >= 0 ? fenp_bytes(targets * k, n, 8) : 0;
    fen_status status = FEN_OK;
    s->lambdas = fenp_new_zeroed(rooms, sizeof(double));
    s->order = s->folds ? fenp_new(n, sizeof *s->order) : NULL;
    s->grid = fenp_new(k, sizeof *s->grid);
    s->scores = scores > 0 ? fenp_new_zeroed(scores, 1) : NULL;
    if (!s->lambdas || (s->folds && !s->order) || !s->grid || (scores != 0 && !s->scores))
        return fenp_no_memory(err, scores, "the scores of the folds");
    s->terms = s->lambdas + k, s->df = s->terms + k, s->errors = s->df + k;
    s->units = s->errors + k, s->fit = s->units + targets;
    s->held = s->fit + targets * k, s->weight = s->held + s->folds * targets * k;
    if (s->folds)
        status = fenp_deal_rows(n, s->folds, s->o->seed, s->order, err);
    else
        status = find_twins(s, err);
    for (int64_t t = 0; t < targets; t++)
        s->units[t] = fenp_score_unit(s->sample, s->outputs, s->o, !fenp_is_square(s->loss), t);
    return status;
}

static void close_search(fenp_lambda_search *s)
{
    free(s->lambdas), free(s->order), free(s->grid), free(s->scores), free(s->twin);
}

/* Solutions and scores at s->lambdas. FEN_LIMIT: of the folds that were finished, if any. */
static fen_status run_lambdas(fenp_lambda_search *s, fenp_linear_state *begun,
                              const fenp_task *path, const fenp_task *folds, fen_error *err)
{
    fen_status status = solve_all(s, begun, path, err);
    if (status == FEN_OK && s->folds) status = fenp_search_folds(s, folds, err);
    if (status != FEN_OK && !(status == FEN_LIMIT && s->done > 0)) return status;
    const fen_status scored = score(s, err);
    return scored != FEN_OK ? scored : status;
}

static fen_status append(fenp_lambda_search *s, const fenp_lambda_search *more, fen_error *err)
{
    fenp_score *grid = fenp_resize(s->grid, s->count + more->count, sizeof *grid);
    if (!grid) return fenp_no_memory(err, 0, "the scores");
    memcpy(grid + s->count, more->grid, (size_t)more->count * sizeof *grid);
    s->grid = grid, s->count += more->count;
    return FEN_OK;
}

/* Another decade of lambdas below the last one: a search of its own on the same folds. */
static fen_status go_on(fenp_lambda_search *s, double step, const fenp_task *task, fen_error *err)
{
    fenp_lambda_search more = *s;
    more.lambdas = NULL, more.order = NULL, more.grid = NULL, more.scores = NULL;
    more.twin = NULL;
    more.done = 0, more.count = (int64_t)ceil(log(0.1) / log(step));
    fen_status status = open_search(&more, err);
    for (int64_t k = 0; k < more.count && status == FEN_OK; k++)
        more.lambdas[k] = s->grid[s->count - 1].lambda * pow(step, (double)(k + 1));
    if (status == FEN_OK) status = run_lambdas(&more, NULL, task, task, err);
    if (status == FEN_OK) status = append(s, &more, err);
    close_search(&more);
    return status;
}

/* The last lambda is the best, and better than ten before by more than a flat end would be. */
static int still_falls(const fenp_lambda_search *s)
{
    const double end = s->grid[s->count - 1].score, before = s->grid[s->count - 11].score;
    return best_of(s) == s->count - 1 && before - end > FLAT * fabs(end);
}

static fen_status extend(fenp_lambda_search *s, const fenp_task *task, fen_error *err)
{
    const fenp_task end = fenp_task_part(task, "a longer path", 1.0, 1.0);
    const double step = s->lambdas[1] / s->lambdas[0];
    fen_status status = FEN_OK;
    for (int k = 0; k < MOST_DECADES && status == FEN_OK && still_falls(s); k++)
        status = go_on(s, step, &end, err);
    return status;
}

/* FEN_LIMIT: what there was time for is in *out; lambda is 0 if not even a path was found. */
static fen_status run_search(fenp_lambda_search *s, fenp_chosen *out, const fenp_task *task,
                             fen_error *err)
{
    const double share = s->folds ? 1.0 / (double)(s->folds + 1) : 1.0;
    const fenp_task first = fenp_task_part(task, "path", 0.0, share);
    const fenp_task rest = fenp_task_part(task, "folds", share, 1.0);
    fenp_linear_state *begun = NULL;
    fen_status status = fenp_list_lambdas_linear(s->problems, s->problem_count, s->sample, s->o,
                                                 s->lambdas, &begun, &first, err);
    if (status == FEN_OK) {
        out->lambda = s->lambdas[0] * (s->o->lambda.choice == FEN_GIVEN ? 1.0 : RULE_RATIO);
        status = run_lambdas(s, begun, &first, &rest, err);
    } else {
        fenp_linear_end(begun);
    }
    if (status != FEN_OK && !(status == FEN_LIMIT && s->done > 0)) return status;
    if (status == FEN_OK && s->o->lambda.choice == FEN_AUTO) status = extend(s, &rest, err);
    if (status != FEN_OK && status != FEN_LIMIT) return status;
    const fenp_score *best = &s->grid[pick(s)];
    if (!isfinite(best->score))
        return fenp_fail(err, FEN_BAD_CALL,
                         "no lambda has a finite score with --select %s; use kfold:10",
                         s->o->select);
    out->lambda = best->lambda;
    out->selection = (fenp_selection){
        .rows = s->sample->n, .score = best->score, .count = s->count, .grid = s->grid
    };
    strncpy(out->selection.kind, s->o->select, sizeof out->selection.kind - 1);
    s->grid = NULL;
    return status;
}

/* always: scores are wanted even where there is nothing to choose. */
static fen_status choose(const fenp_linear *problems, int64_t count, const fenp_sample *sample,
                         const fen_options *o, const fenp_output *outputs, int always,
                         fenp_chosen *out, const fenp_task *task, fen_error *err)
{
    fenp_lambda_search s = { .problems = problems,
                             .problem_count = count,
                             .sample = sample,
                             .o = o,
                             .outputs = outputs,
                             .loss = fenp_find_loss(o->loss),
                             .gamma = out->kernel.par.gamma,
                             .count = fenp_count_lambdas_linear(o) };
    *out = (fenp_chosen){ .kernel = out->kernel, .power = 2.0 };
    if (!always && s.count == 1)
        return fenp_list_lambdas_linear(problems, count, sample, o, &out->lambda, NULL, task, err);
    s.folds = fenp_count_folds_linear(o, sample->n);
    fen_status status = check(&s, err);
    if (status == FEN_OK) status = open_search(&s, err);
    if (status == FEN_OK) status = run_search(&s, out, task, err);
    close_search(&s);
    if (status == FEN_LIMIT && !always && out->lambda > 0.0) {
        out->cut = 1;
        status = FEN_OK;
    }
    return status;
}

fen_status fenp_choose_linear(const fenp_linear *problems, int64_t count, const fenp_sample *sample,
                              const fen_options *o, const fenp_output *outputs, fenp_chosen *out,
                              const fenp_task *task, fen_error *err)
{
    return choose(problems, count, sample, o, outputs, 0, out, task, err);
}

fen_status fenp_score_linear(const fenp_setup *setup, const fenp_sample *sample,
                             const fenp_settled *settled, fenp_chosen *out, const fenp_task *task,
                             fen_error *err)
{
    out->kernel = setup->kernel;
    return choose(setup->problem, setup->count, sample, &settled->o, settled->output, 1, out, task,
                  err);
}

fen_status fenp_select_linear(const fenp_prep *prep, const fenp_sample *sample,
                              const fenp_settled *settled, fenp_chosen *out, const fenp_task *task,
                              fen_error *err)
{
    fenp_setup setup = { 0 };
    if (fenp_is_none(settled->penalty.penalty))
        return fenp_fail(err, FEN_BAD_CALL, "--penalty none has no lambda to select; use l1");
    fen_status status = fenp_setup_make(prep, sample, settled, FENP_TO_SELECT, &setup, task, err);
    if (status == FEN_OK) status = fenp_score_linear(&setup, sample, settled, out, task, err);
    fenp_setup_free(&setup);
    return status;
}
