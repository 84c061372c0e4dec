/* path.c -- the solutions along lambda or the power, all from one eigendecomposition
 *
 * One kernel: gamma is given, by rule, or what fen_fit would choose. Then every pair of a
 * lambda and a power, for every target by itself: the shrinkage c from the spectrum
 * (curve.h), the solution, its norm and objective, and its leave-one-out score.
 * Over lambda: the lambdas given or those that fen_fit tries; over power: the powers given,
 * else 0.1, 0.2, ..., 2.9. The other parameter may be several values too; left to us it
 * is the one that fen_fit would choose (for power 2, unless powers are given).
 * Solutions are weights per feature for linear kernels, else the coefficients of the
 * training rows in f = sum c_i k(x_i, .); both belong to the prepared features. The bias
 * is ybar - sum_i (K w)_i c_i, so that K is met once more and only by one vector.
 * Cost: one eigendecomposition, then O(n^2) for a setting. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/linalg.h"
#include "base/registry.h"
#include "base/threads.h"
#include "promise/loo.h"
#include "story.h"

enum { DEFAULT_POWERS = 29 };    /* 0.1 to 2.9 */
enum { JSON_VALUE_BYTES = 128 }; /* of one number, as Jansson holds it and as text */

typedef struct path {
    fen_options o;
    const fenp_prep *prep;
    const fenp_sample *sample;
    fenp_kernel kernel;
    int over_power, primal;
    fenp_setting *settings;
    int64_t count;
    fenp_spectrum spectrum;
    double *kw;                           /* n: K w; primal: p, the means of the features   */
    double *q, *scaled, *rows, *solution; /* n each, but width of the solution          */
    double *scores;                       /* targets x count                                */
} path;

static int64_t width(const path *h) /* of a solution */
{
    return h->kernel.table->linear ? h->sample->p : h->sample->n;
}

/* ---- what is run over ----------------------------------------------------------------- */

/* The default of --power stands for "not given" here: a path of one power is no path. */
static int powers_given(const fen_options *o)
{
    return o->power.choice == FEN_GIVEN && (o->power.count > 1 || o->power.at[0] != 2.0);
}

/* What fen_fit is asked to choose: gamma, and whatever is not run over. Where nothing is
 * open the rest is pinned, lest it be searched for nothing. */
static fen_options choice_options(const path *h)
{
    fen_options a = h->o;
    const fen_values *other = h->over_power ? &a.lambda : &a.power;
    const int searching = strcmp(a.select, "none") != 0;
    const int several =
        a.gamma.choice == FEN_GIVEN ? a.gamma.count > 1 : a.gamma.choice == FEN_AUTO && searching;
    const int open = h->kernel.table->uses_gamma && several;
    if (h->over_power && (a.power.choice == FEN_AUTO || !searching)) a.power = fen_value(2.0);
    if (open || other->choice == FEN_AUTO) return a;
    a.lambda = fen_value(1.0);
    a.power = fen_value(2.0);
    return a;
}

/* The powers of the path replace those of the options. */
static void settle_powers(path *h, double chosen)
{
    fen_values *v = &h->o.power;
    if (!h->over_power && v->choice == FEN_AUTO) *v = fen_value(chosen);
    if (!h->over_power || powers_given(&h->o)) return;
    *v = (fen_values){ .choice = FEN_GIVEN, .count = DEFAULT_POWERS };
    for (int i = 0; i < DEFAULT_POWERS; i++) v->at[i] = (i + 1) / 10.0;
}

static int list_lambdas(const path *h, double chosen, double power, double *lambdas)
{
    const fen_values *v = &h->o.lambda;
    lambdas[0] = chosen;
    if (v->choice == FEN_AUTO && h->over_power) return 1;
    const int count = v->choice == FEN_GIVEN  ? v->count
                      : v->choice == FEN_AUTO ? FENP_AUTO_LAMBDAS
                                              : 1;
    fenp_list_lambdas(&h->o, &h->kernel, h->sample, count, power, lambdas);
    return count;
}

static fen_status list_settings(path *h, const fenp_chosen *chosen, fen_error *err)
{
    double lambdas[FEN_VALUES_MAX];
    settle_powers(h, chosen->power);
    const int ps = h->o.power.count, ls = list_lambdas(h, chosen->lambda, 2.0, lambdas);
    h->count = (int64_t)ls * ps;
    h->settings = fenp_new(h->count, sizeof *h->settings);
    if (!h->settings) return fenp_no_memory(err, 0, "the path");
    for (int m = 0; m < ps; m++) { /* lambdas of our own choice are others for every power */
        list_lambdas(h, chosen->lambda, h->o.power.at[m], lambdas);
        for (int l = 0; l < ls; l++)
            h->settings[h->over_power ? l * ps + m : m * ls + l] =
                (fenp_setting){ lambdas[l], h->o.power.at[m] };
    }
    return FEN_OK;
}

static fen_status choose_kernel(path *h, const fenp_task *task, fen_error *err)
{
    const fen_options a = choice_options(h);
    const fen_kernel *kernel = h->kernel.table;
    const fenp_size size = fenp_size_of(h->sample, &a);
    fenp_strategy plan;
    fenp_chosen chosen = { 0 };
    fen_status status = fenp_strategy_make(&a, kernel, fenp_find_loss(a.loss), &size, &plan, err);
    if (status == FEN_OK) status = fenp_strategy_fits(&plan, &a, &size, err);
    if (status == FEN_OK) status = fenp_check_kernel(kernel, h->sample, err);
    if (status == FEN_OK) status = fenp_choose(h->sample, &a, kernel, &plan, &chosen, task, err);
    if (status != FEN_OK) return status;
    h->kernel = chosen.kernel;
    free(chosen.selection.grid);
    return list_settings(h, &chosen, err);
}

/* ---- one point ------------------------------------------------------------------------- */

/* solution and bias of a target at c; c = INFINITY: f = 0. */
static double solve_at(path *h, int64_t t, double c)
{
    const fenp_spectrum *e = &h->spectrum;
    const fenp_sample *s = h->sample;
    const int n = (int)e->n, r = (int)e->rank, p = (int)s->p;
    const double *basis = h->primal ? e->rotation : e->basis;
    double *out = h->primal ? h->solution : h->rows, mean = 0.0;
    for (int64_t j = 0; j < r; j++) h->scaled[j] = e->ty[t * r + j] / (e->d[j] + c);
    const int length = h->primal ? r : n;
    cblas_dgemv(CblasColMajor, CblasNoTrans, length, r, 1.0, basis, length, h->scaled, 1, 0.0, out,
                1);
    if (!h->primal)
        for (int64_t i = 0; i < n; i++) h->rows[i] *= e->fold.s[i];
    const double shift = cblas_ddot(length, h->kw, 1, out, 1);
    if (!h->primal && h->kernel.table->linear)
        cblas_dgemv(CblasRowMajor, CblasTrans, n, p, 1.0, s->x, p, h->rows, 1, 0.0, h->solution, 1);
    else if (!h->primal)
        memcpy(h->solution, h->rows, (size_t)n * sizeof(double));
    for (int64_t i = 0; i < n; i++) mean += s->w[i] * s->y[t * n + i];
    return h->o.bias ? mean - shift : 0.0;
}

static json_t *solution_json(const path *h)
{
    json_t *array = json_array();
    int failed = array == NULL;
    for (int64_t j = 0; !failed && j < width(h); j++)
        failed = json_array_append_new(array, fenp_json_number(h->solution[j]));
    if (!failed) return array;
    json_decref(array);
    return NULL;
}

/* The curve tells norm and loss; f = 0 is its end, which no finite t reaches. */
static fen_status add_point(path *h, int64_t t, int64_t k, const fenp_curve *curve, json_t *points,
                            fen_error *err)
{
    const fenp_setting at = h->settings[k];
    const int64_t n = h->sample->n;
    fenp_root root;
    fenp_point there = { .log_norm = -INFINITY, .loss = 1.0 };
    fen_status status =
        fenp_curve_minimum(curve, n, at.lambda, at.power, h->o.tolerance, &root, err);
    if (status == FEN_OK && isfinite(root.t) && isfinite(curve->log_energy))
        status = curve->at(curve->state, root.t, &there, err);
    if (status != FEN_OK) return status;
    const double bias = solve_at(h, t, root.c);
    const double loss = exp(curve->log_energy) * there.loss / (double)n;
    const double objective = loss + at.lambda * exp(at.power * there.log_norm);
    json_t *point = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "target",
        fenp_json_string(h->prep->target[t]), "power", fenp_json_number(at.power), "lambda",
        fenp_json_number(at.lambda), "lambda2", fenp_json_number(root.lambda2), "norm",
        fenp_json_number(exp(there.log_norm)), "bias", fenp_json_number(bias), "mean_loss",
        fenp_json_number(loss), "objective", fenp_json_number(objective), "score",
        fenp_json_number(h->scores[t * h->count + k]), "solution", solution_json(h));
    return json_array_append_new(points, point) ? fenp_no_memory(err, 0, "the path") : FEN_OK;
}

static fen_status add_points(path *h, json_t *points, const fenp_task *task, fen_error *err)
{
    const int64_t targets = h->sample->targets;
    fen_status status = FEN_OK;
    for (int64_t t = 0; t < targets; t++) {
        fenp_measure measure;
        const fenp_curve curve = fenp_spectrum_curve(&h->spectrum, t, h->q, &measure);
        for (int64_t k = 0; k < h->count && status == FEN_OK; k++) {
            status =
                fenp_task_at(task, (double)(t * h->count + k) / (double)(h->count * targets), err);
            if (status == FEN_OK) status = add_point(h, t, k, &curve, points, err);
        }
    }
    return status;
}

/* ---- all of them ------------------------------------------------------------------------ */

static int64_t json_bytes(const path *h)
{
    return fenp_bytes(h->count * h->sample->targets, width(h) + 20, JSON_VALUE_BYTES);
}

/* Beyond what LAPACK can index: -1. */
static int64_t work_bytes(const path *h, const fenp_size *size)
{
    const int64_t spectrum = fenp_spectrum_bytes(size, h->primal);
    if (spectrum < 0 || json_bytes(h) < 0) return -1;
    return spectrum + fenp_scores_spectrum_bytes(size, h->count, h->primal) +
           4 * fenp_arena_bytes(size->n) + fenp_arena_bytes(width(h)) +
           fenp_arena_bytes(h->count * size->targets);
}

static fen_status check_room(const path *h, const fenp_size *size, fen_error *err)
{
    const int64_t work = work_bytes(h, size);
    const fenp_strategy alone = { .solver = fenp_find_solver(h->primal ? "primal" : "spectral"),
                                  .bytes = work + json_bytes(h) };
    if (work < 0)
        return fenp_fail(err, FEN_MEMORY, "%lld rows are too many for a path", (long long)size->n);
    return fenp_strategy_fits(&alone, &h->o, size, err);
}

/* K w, or its counterpart for weight vectors: the mean of every feature. */
static fen_status weigh_kernel(path *h, const fenp_task *task, fen_error *err)
{
    const fenp_sample *s = h->sample;
    const fen_view x = fenp_sample_inputs(s);
    if (!h->primal) return fenp_gram_times(&h->kernel, x, x, s->w, 1, h->kw, task, err);
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)s->n, (int)s->p, 1.0, s->x, (int)s->p, s->w, 1, 0.0,
                h->kw, 1);
    return FEN_OK;
}

static fen_status run(path *h, fenp_arena *arena, json_t *points, const fenp_task *task,
                      fen_error *err)
{
    const fenp_sample *s = h->sample;
    const fenp_problem problem = { .sample = s,
                                   .loss = fenp_find_loss(h->o.loss),
                                   .kernel = h->kernel,
                                   .power = 2.0,
                                   .bias = h->o.bias,
                                   .gap = h->o.tolerance };
    const fenp_task spectrum = fenp_task_part(task, "eigenvalues", 0.0, 0.7);
    const fenp_task solving = fenp_task_part(task, "solutions", 0.9, 1.0);
    const fenp_score_kind kind = strcmp(h->o.select, "gcv") == 0 ? FENP_GCV : FENP_LOO;
    h->kw = fenp_arena_doubles(arena, s->n);
    h->q = fenp_arena_doubles(arena, s->n);
    h->scaled = fenp_arena_doubles(arena, s->n);
    h->rows = fenp_arena_doubles(arena, s->n);
    h->solution = fenp_arena_doubles(arena, width(h));
    h->scores = fenp_arena_doubles(arena, h->count * s->targets);
    fen_status status = weigh_kernel(h, &spectrum, err);
    if (status == FEN_OK)
        status = fenp_spectrum_make(arena, &problem, h->primal, &h->spectrum, &spectrum, err);
    if (status == FEN_OK) status = fenp_task_at(&spectrum, 1.0, err);
    if (status == FEN_OK)
        status = fenp_scores_spectrum(arena, &h->spectrum, s->w, h->o.bias, h->settings, h->count,
                                      kind, h->scores, err);
    return status == FEN_OK ? add_points(h, points, &solving, err) : status;
}

/* What the numbers of a solution belong to; NULL: no memory. */
static json_t *names_json(const path *h)
{
    json_t *names = json_array();
    int failed = names == NULL;
    for (int64_t j = 0; !failed && h->kernel.table->linear && j < h->sample->p; j++) {
        char name[1024];
        fenp_prep_feature_name(h->prep, j, name, sizeof name);
        failed = json_array_append_new(names, fenp_json_string(name));
    }
    if (!failed) return names;
    json_decref(names);
    return NULL;
}

static json_t *path_json(const path *h, json_t *points)
{
    const fen_kernel *kernel = h->kernel.table;
    return json_pack("{s:I, s:I, s:s, s:s, s:o, s:s, s:s, s:o, s:O}", "n", (json_int_t)h->sample->n,
                     "d", (json_int_t)h->sample->p, "over", h->o.over, "kernel", kernel->name,
                     "gamma", fenp_json_number(kernel->uses_gamma ? h->kernel.par.gamma : NAN),
                     "score_kind", strcmp(h->o.select, "gcv") == 0 ? "gcv" : "loo", "solution",
                     kernel->linear ? "weights" : "coefficients", "features", names_json(h),
                     "points", points);
}

static fen_status path_of_sample(path *h, char **json, const fenp_task *task, fen_error *err)
{
    const fenp_task choosing = fenp_task_part(task, "choosing gamma", 0.0, 0.6);
    const fenp_task rest = fenp_task_part(task, "path", 0.6, 1.0);
    fen_status status = choose_kernel(h, &choosing, err);
    const fenp_size size = fenp_size_of(h->sample, &h->o);
    if (status == FEN_OK) status = check_room(h, &size, err);
    fenp_arena arena = { 0 };
    if (status == FEN_OK)
        status = fenp_arena_open(&arena, work_bytes(h, &size), "the eigenvectors", err);
    if (status != FEN_OK) return status;
    json_t *points = json_array();
    status = points ? run(h, &arena, points, &rest, err) : fenp_no_memory(err, 0, "the path");
    fenp_arena_close(&arena);
    if (status == FEN_OK) status = fenp_json_text(path_json(h, points), json, err);
    json_decref(points);
    return status;
}

fen_status fen_path(const fen_table *table, const fen_options *o, const fen_host *host, char **json,
                    fen_error *err)
{
    fenp_prep *prep = NULL;
    fenp_sample *sample = NULL;
    fen_status status = fen_options_check(o, err);
    if (status == FEN_OK) status = fenp_prep_learn(table, o, &prep, &sample, err);
    if (status != FEN_OK) return status;
    const fenp_threads before = fenp_threads_enter(o->threads);
    const fenp_task task = fenp_task_start(host, o->time_limit_seconds);
    path h = { .o = *o, .prep = prep, .sample = sample };
    h.kernel.table = fenp_find_kernel(o->kernel);
    h.over_power = strcmp(o->over, "power") == 0;
    h.primal = h.kernel.table->linear && sample->p < sample->n;
    status = path_of_sample(&h, json, &task, err);
    free(h.settings);
    fenp_threads_leave(before);
    fenp_sample_free(sample);
    fenp_prep_free(prep);
    return status;
}
