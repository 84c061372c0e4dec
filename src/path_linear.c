/* path_linear.c -- the solutions along lambda of penalties on coefficients
 *
 * The lambdas that fen_fit looks along (select_linear.c), each solution the start of the next; or
 * with --engine homotopy every breakpoint of the lasso (square loss, l1), down to where that path
 * ends or the least lambda given (or a sentence that says where there are too many). Outputs by
 * themselves, or together under group:targets.
 * Coefficients are those of the columns in the units of the file (kernels other than linear: of
 * the training rows). entered, left: against the lambda before.
 * explained: 1 - loss / loss of the best constant, which is R^2 for squares and the share of the
 * deviance for the logistic loss.
 * Scores, and the lambda that fen_fit would choose, where --select asks for them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "loss/traits.h"
#include "penalty/traits.h"
#include "path.h"
#include "path_terms.h"
#include "promise/ladder.h"
#include "solver/homotopy.h"
#include "solver/target.h"

enum { ENTRY_BYTES = 48 };       /* of a coefficient, while its list grows            */
enum { TEXTS = 3 };              /* in the end: points, in up to twice their room, and all */
enum { LOOK_UP = 100000 };       /* of them between two looks at the memory           */
enum { BREAKS_PER_ROW = 20 };    /* of the smaller side of the matrix, at most        */
static const double SHARE = 0.1; /* of the tolerance, for the gap of every solution */

typedef struct trace {
    const fenp_prep *prep;
    const fenp_sample *sample;
    const fenp_settled *settled;
    fenp_setup *setup;
    fenp_chosen chosen;         /* its selection where scores were asked for         */
    const fenp_linear *problem; /* of the outputs from first on                      */
    int64_t first;
    fenp_linear_state *begun; /* of the first problem; NULL: none                  */
    double *lambdas;
    int64_t count;
    double *null; /* targets: loss of the best constant                           */
    fenp_terms terms;
    double *value, *product; /* p                                                    */
    double *f, *u;           /* copies x n: X beta; n: dual vector of breakpoints            */
    int exact;               /* breakpoints tell who comes and goes                          */
    double last;             /* lambda of the last breakpoint                                */
    int ended;               /* after which there are none                                   */
    int64_t entries;         /* since the memory was looked at                               */
} trace;

/* ---- one point ---------------------------------------------------------------------------- */

static int is_linear(const trace *r) { return r->setup->kernel.table->linear; }

static int64_t count_terms(const double *beta, int64_t p)
{
    int64_t terms = 0;
    for (int64_t j = 0; j < p; j++) terms += beta[j] != 0.0;
    return terms;
}

/* Rounding errors of a constant are nothing. */
static double explained(double loss, double null)
{
    const double share = 1.0 - loss / null;
    return !(null > 0.0) ? NAN : fabs(share) < 1e-12 ? 0.0 : share;
}

/* What the constant loses in the units of the file. Sparse features are not centred. */
static double shift_of(trace *r, const double *beta)
{
    if (!is_linear(r) || r->sample->start) return 0.0;
    memcpy(r->value, beta, (size_t)r->sample->p * sizeof *beta);
    return fenp_to_units_of_file(r->prep, r->value);
}

/* f holds the scores of beta. */
static double loss_of(const trace *r, int64_t t, double b)
{
    const fenp_linear *q = r->problem;
    const int64_t n = q->x->n;
    double sum = 0.0;
    for (int64_t i = t * n; i < (t + 1) * n; i++)
        if (q->w[i] > 0.0)
            sum += q->w[i] * fenp_forgiving_loss(q->loss, q->y[i], r->f[i] + b, 0.0, q->par);
    return sum;
}

/* of->loss NAN: f holds the scores of beta. terms -1: to be counted. */
static fen_status add_point(trace *r, const fenp_figures *of, const double *beta, const double *b,
                            fen_error *err)
{
    const int64_t p = r->problem->x->p;
    for (int64_t t = 0; t < r->problem->x->copies; t++, beta += p) {
        const int64_t target = r->first + t;
        fenp_figures one = *of;
        if (of->terms < 0) one.terms = count_terms(beta, p);
        if (isnan(of->loss)) one.loss = loss_of(r, t, b[t]);
        one.explained = explained(one.loss, r->null[target]);
        one.intercept = b[t] - shift_of(r, beta);
        if (fenp_terms_add(&r->terms, target, &one, beta, !r->exact))
            return fenp_no_memory(err, 0, "the path");
        r->entries += one.terms;
    }
    if (r->entries < LOOK_UP) return FEN_OK;
    r->entries = 0;
    return fenp_memory_fits(&r->settled->o, (int64_t)LOOK_UP * ENTRY_BYTES + TEXTS * r->terms.text,
                            "give fewer values with --lambda", err);
}

/* ---- a grid --------------------------------------------------------------------------------- */

static fen_status see(void *user, int64_t rung, const fenp_linear_point *at, fen_error *err)
{
    trace *r = user;
    const fenp_selection *scores = &r->chosen.selection;
    const int scored = rung < scores->count;
    const int joint = r->problem->x->copies > 1; /* the loss of each is wanted */
    if (joint) fenp_design_scores(r->problem->x, at->beta, r->f);
    const fenp_figures of = { .lambda = at->lambda,
                              .loss = joint ? NAN : at->loss,
                              .objective = at->primal,
                              .gap = at->relative_gap,
                              .score = scored ? scores->grid[rung].score : NAN,
                              .deviation = scored ? scores->grid[rung].deviation : NAN,
                              .terms = joint ? -1 : at->terms };
    return add_point(r, &of, at->beta, at->b, err);
}

/* ---- breakpoints ----------------------------------------------------------------------------- */

/* The dual objective of u = 2 w (y - f - b), made feasible by a factor. x_j'u = 0 of columns without
 * a penalty is what the path solves for: it is taken on trust. */
static double dual_value(trace *r, double lambda, double b)
{
    const fenp_linear *q = r->problem;
    const int64_t n = q->x->n, p = q->x->p;
    double scale = 1.0, along = 0.0, square = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double left = q->y[i] - r->f[i] - b;
        r->u[i] = 2.0 * q->w[i] * left;
        along += r->u[i] * (q->bias ? q->y[i] - b : q->y[i]); /* with a bias sum u = 0 */
        square += r->u[i] * left;
    }
    fenp_design_products(q->x, r->u, NULL, p, r->product);
    for (int64_t j = 0; j < p; j++) {
        const double bound = lambda * (q->groups->weight ? q->groups->weight[j] : 1.0);
        const double c = q->nonnegative ? fmax(r->product[j], 0.0) : fabs(r->product[j]);
        if (bound > 0.0 && c * scale > bound) scale = bound / c;
    }
    return scale * along - 0.5 * scale * scale * square;
}

/* In the unit of certificates; no objective is below 0, and no bound above it but by rounding. */
static double relative_gap(const trace *r, double objective, double dual)
{
    const fenp_linear *q = r->problem;
    const fenp_target labels = {
        .loss = q->loss, .par = q->par, .w = q->w, .y = q->y, .n = q->x->n
    };
    const fen_certificate of = { .primal = objective, .null = r->null[r->first] };
    const double unit = fenp_gap_unit(&of, fenp_target_digits(&labels));
    return objective > 0.0 ? fmax(objective - fmax(dual, 0.0), 0.0) / unit : 0.0;
}

/* Who comes or goes at the last point. */
static fen_status add_change(trace *r, int64_t feature, int enters, fen_error *err)
{
    return fenp_terms_change(&r->terms, r->first, feature, enters)
               ? fenp_no_memory(err, 0, "the path")
               : FEN_OK;
}

/* Columns without a penalty are in from the start. */
static fen_status add_free(trace *r, const double *beta, fen_error *err)
{
    const fenp_groups *groups = r->problem->groups;
    fen_status status = FEN_OK;
    for (int64_t j = 0; groups->weight && j < r->problem->x->p && status == FEN_OK; j++)
        if (groups->weight[j] == 0.0 && beta[j] != 0.0) status = add_change(r, j, 1, err);
    return status;
}

static fen_status see_break(void *user, const fenp_break *at, const double *beta, double b,
                            fen_error *err)
{
    trace *r = user;
    const fenp_linear *q = r->problem;
    double penalty = 0.0;
    const int known = at->feature >= 0;
    r->ended = !known;
    if (at->lambda == r->last) return known ? add_change(r, at->feature, at->enters, err) : FEN_OK;
    for (int64_t j = 0; j < q->x->p; j++)
        if (beta[j] != 0.0)
            penalty += fabs(beta[j]) * (q->groups->weight ? q->groups->weight[j] : 1.0);
    fenp_design_scores(q->x, beta, r->f);
    fenp_figures of = { .lambda = at->lambda, .score = NAN, .deviation = NAN, .terms = at->terms };
    of.loss = loss_of(r, 0, b);
    of.objective = of.loss + at->lambda * penalty;
    of.gap = relative_gap(r, of.objective, dual_value(r, at->lambda, b));
    const int begins = r->last == INFINITY;
    r->last = at->lambda;
    fen_status status = add_point(r, &of, beta, &b, err);
    if (status == FEN_OK && begins) status = add_free(r, beta, err);
    return status == FEN_OK && known ? add_change(r, at->feature, at->enters, err) : status;
}

static fen_status check_exact(const trace *r, int scored, fen_error *err)
{
    const fenp_linear *q = &r->setup->problem[0];
    if (scored)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--engine homotopy has breakpoints and no scores: leave out --select %s, "
                         "or --engine",
                         r->settled->o.select);
    if (fenp_is_square(q->loss) && q->mix == 1.0 && !q->groups->start) return FEN_OK;
    return fenp_fail(err, FEN_BAD_CALL,
                     "--engine homotopy is for the square loss with --penalty l1; leave it out");
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The state that was begun for the lambdas, for the problem that it belongs to. */
static fenp_linear_state *take_begun(trace *r)
{
    fenp_linear_state *state = r->begun;
    r->begun = NULL;
    return state;
}

/* The loss of the best constant; of squares that is the mean. */
static double null_of(const fenp_linear *q, int64_t t)
{
    const int64_t n = q->x->n;
    const double *y = q->y + t * n, *w = q->w + t * n;
    long double sum = 0.0L, weight = 0.0L, loss = 0.0L;
    if (!q->bias || !fenp_is_square(q->loss))
        return fenp_null_objective(q->loss, q->par, y, w, n, q->bias);
    for (int64_t i = 0; i < n; i++) sum += (long double)w[i] * y[i], weight += w[i];
    const double mean = weight > 0.0L ? (double)(sum / weight) : 0.0;
    for (int64_t i = 0; i < n; i++) loss += (long double)w[i] * ((y[i] - mean) * (y[i] - mean));
    return (double)loss;
}

/* All breakpoints: their number can grow exponentially with that of the columns. */
static fen_status run_exact(trace *r, const fenp_task *task, fen_error *err)
{
    const fenp_design *x = r->problem->x;
    const int64_t side = x->n < x->p ? x->n : x->p, most = BREAKS_PER_ROW * (side + 50);
    r->ended = 0;
    const fen_status status =
        fenp_homotopy(r->problem, r->lambdas[r->count - 1], most, see_break, r, task, err);
    if (status != FEN_OK || r->ended) return status;
    return fenp_fail(
        err, FEN_LIMIT,
        "the exact path has %lld breakpoints down to lambda %.6g already: end it there "
        "with --lambda, or leave out --engine homotopy",
        (long long)most, r->last);
}

static fen_status run_problem(trace *r, const fenp_task *task, fen_error *err)
{
    const fenp_design *x = r->problem->x;
    r->last = INFINITY;
    for (int64_t t = 0; t < x->copies; t++) r->null[r->first + t] = null_of(r->problem, t);
    if (r->exact) return run_exact(r, task, err);
    const fenp_ladder rungs = { r->lambdas, r->count, SHARE * r->settled->o.tolerance, see, r, 0 };
    return fenp_ladder_descend(r->problem, take_begun(r), &rungs, task, err);
}

static fen_status run_problems(trace *r, const fenp_task *task, fen_error *err)
{
    const double count = (double)r->setup->count;
    fen_status status = FEN_OK;
    for (int64_t q = 0; q < r->setup->count && status == FEN_OK; q++) {
        const fenp_task part =
            fenp_task_part(task, "path", (double)q / count, (double)(q + 1) / count);
        r->problem = &r->setup->problem[q];
        status = run_problem(r, &part, err);
        r->first += r->problem->x->copies;
    }
    return status;
}

static json_t *head_json(const trace *r)
{
    const fen_options *o = &r->settled->o;
    const int scored = r->chosen.selection.count > 0;
    return json_pack(
        "{s:I, s:I, s:f, s:I, s:s, s:s, s:s, s:o, s:s, s:o, s:s?, s:s, s:O, s:O}", "n",
        (json_int_t)r->sample->n, "d", (json_int_t)r->sample->p, "tolerance", o->tolerance,
        "above_tolerance", (json_int_t)fenp_terms_above(&r->terms, o->tolerance), "over", "lambda",
        "loss", o->loss, "kernel", o->kernel, "gamma",
        fenp_json_number(is_linear(r) ? NAN : r->setup->kernel.par.gamma), "penalty", o->penalty,
        "selected", fenp_json_number(scored ? r->chosen.lambda : NAN), "score_kind",
        scored ? o->select : NULL, "solution", r->exact ? "breakpoints" : "grid", "features",
        r->terms.names, "scales", r->terms.scales);
}

static int name_targets(trace *r)
{
    int failed = 0;
    for (int64_t t = 0; t < r->sample->targets && !failed; t++) {
        char name[1024];
        fenp_output_name(r->prep, r->settled->output, r->sample->targets, t, name, sizeof name);
        failed = fenp_terms_name_target(&r->terms, t, name);
    }
    return failed;
}

static fen_status open_trace(trace *r, fen_error *err)
{
    const int64_t n = r->sample->n, p = r->setup->x.p, targets = r->sample->targets;
    r->count = r->chosen.selection.count ? r->chosen.selection.count
                                         : fenp_count_lambdas_linear(&r->settled->o);
    r->lambdas = fenp_new(r->count + targets, sizeof(double));
    r->value = fenp_new(p, 2 * sizeof(double));
    r->f = fenp_new(n, (targets + 1) * (int64_t)sizeof(double));
    if (!r->lambdas || !r->value || !r->f)
        return fenp_no_memory(err, fenp_bytes(p, 32, 1), "the path");
    r->null = r->lambdas + r->count;
    r->u = r->f + targets * n, r->product = r->value + p;
    const fen_status status = fenp_terms_open(r->prep, is_linear(r), p, targets, &r->terms, err);
    if (status != FEN_OK) return status;
    return name_targets(r) ? fenp_no_memory(err, 0, "the path") : FEN_OK;
}

static void close_trace(trace *r)
{
    fenp_terms_close(&r->terms);
    fenp_linear_end(r->begun);
    free(r->lambdas), free(r->value), free(r->f), free(r->chosen.selection.grid);
}

static fen_status run(trace *r, int scored, char **json, const fenp_task *task, fen_error *err)
{
    const fen_options *o = &r->settled->o;
    const fenp_task choosing = fenp_task_part(task, "folds", 0.0, 0.9);
    const fenp_task rest = fenp_task_part(task, "path", scored ? 0.9 : 0.0, 1.0);
    fen_status status = r->exact ? check_exact(r, scored, err) : FEN_OK;
    if (status == FEN_OK && scored)
        status = fenp_score_linear(r->setup, r->sample, r->settled, &r->chosen, &choosing, err);
    if (status == FEN_OK) status = open_trace(r, err);
    for (int64_t k = 0; status == FEN_OK && k < r->chosen.selection.count; k++)
        r->lambdas[k] = r->chosen.selection.grid[k].lambda;
    if (status == FEN_OK && !scored)
        status = fenp_list_lambdas_linear(r->setup->problem, r->setup->count, r->sample, o,
                                          r->lambdas, r->exact ? NULL : &r->begun, &rest, err);
    if (status == FEN_OK) status = run_problems(r, &rest, err);
    if (status != FEN_OK) return status;
    return fenp_json_text_items(head_json(r), "points", fenp_terms_points(&r->terms),
                                fenp_terms_write, &r->terms, json, err);
}

fen_status fenp_path_linear(const fenp_prep *prep, const fenp_sample *sample,
                            const fenp_settled *settled, int exact, int scored, char **json,
                            const fenp_task *task, fen_error *err)
{
    fenp_setup setup = { 0 };
    trace r = {
        .prep = prep, .sample = sample, .settled = settled, .setup = &setup, .exact = exact
    };
    if (strcmp(settled->o.over, "lambda") != 0)
        return fenp_fail(err, FEN_BAD_CALL, "--over %s is for --penalty rkhs; leave it out",
                         settled->o.over);
    if (fenp_is_none(settled->penalty.penalty))
        return fenp_fail(err, FEN_BAD_CALL, "--penalty none has no lambda to go along; use l1");
    const fenp_purpose purpose = exact ? FENP_BY_COLUMNS : scored ? FENP_TO_SELECT : FENP_TO_SOLVE;
    fen_status status = fenp_setup_make(prep, sample, settled, purpose, &setup, task, err);
    if (status == FEN_OK) status = run(&r, scored, json, task, err);
    close_trace(&r);
    fenp_setup_free(&setup);
    return status;
}
