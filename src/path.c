/* path.c -- the solutions along lambda or the power
 *
 * One kernel: gamma is given, by rule, or what fen_fit would choose. Then every pair of a
 * lambda and a power, for every output by itself: square loss by path_spectral.c, others by
 * path_descend.c.
 * Over lambda: the lambdas given or those that fen_fit tries; over power: the powers given,
 * else 0.1, 0.2, ..., 2.9 (from 1 on where the loss is not the square one). The other
 * parameter may be several values too; left to us it is the one that fen_fit would choose (for
 * power 2, unless powers are given).
 * Solutions are weights per feature for linear kernels, else the coefficients of the
 * training rows in f = sum c_i k(x_i, .); both belong to the prepared features. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/registry.h"
#include "base/threads.h"
#include "path.h"
#include "story_lp.h"

enum { JSON_VALUE_BYTES = 128 }; /* of one number, as Jansson holds it and as text */
enum { LAST_POWER = 29 };        /* in tenths */

int64_t fenp_path_width(const fenp_path *h)
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
static fen_options choice_options(const fenp_path *h)
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
    if (!(fenp_exponent_of(&a) > 0.0)) a.power = fen_value(2.0);
    return a;
}

/* The powers of the path replace those of the options. */
static void settle_powers(fenp_path *h, double chosen)
{
    fen_values *v = &h->o.power;
    if (!h->over_power && v->choice == FEN_AUTO) *v = fen_value(chosen);
    if (!h->over_power || powers_given(&h->o)) return;
    const int first = h->strategy.refits ? 10 : 1; /* tenths */
    *v = (fen_values){ .choice = FEN_GIVEN, .count = LAST_POWER - first + 1 };
    for (int i = 0; i < v->count; i++) v->at[i] = (first + i) / 10.0;
}

static int list_lambdas(const fenp_path *h, double chosen, double power, double *lambdas)
{
    const fen_values *v = &h->o.lambda;
    lambdas[0] = chosen;
    if (v->choice == FEN_AUTO && h->over_power) return 1;
    const int count = v->choice == FEN_GIVEN  ? v->count
                      : v->choice == FEN_AUTO ? fenp_auto_lambdas(&h->strategy)
                                              : 1;
    fenp_list_lambdas(&h->o, h->outputs, &h->kernel, h->sample, count, power, lambdas);
    return count;
}

static fen_status list_settings(fenp_path *h, const fenp_chosen *chosen, fen_error *err)
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

static fen_status choose_kernel(fenp_path *h, const fenp_task *task, fen_error *err)
{
    const fen_options a = choice_options(h);
    const fen_kernel *kernel = h->kernel.table;
    const fenp_size size = fenp_size_of(h->sample, &a);
    fenp_chosen chosen = { 0 };
    fen_status status = fenp_strategy_make(&a, kernel, h->loss, &size, &h->strategy, err);
    if (status == FEN_OK) status = fenp_strategy_fits(&h->strategy, &a, &size, err);
    if (status == FEN_OK) status = fenp_check_kernel(kernel, h->sample, err);
    if (status == FEN_OK)
        status = fenp_choose(h->sample, &a, h->outputs, kernel, &h->strategy, &chosen, task, err);
    if (status != FEN_OK) return status;
    h->kernel = chosen.kernel;
    free(chosen.selection.grid);
    return list_settings(h, &chosen, err);
}

/* ---- as JSON ----------------------------------------------------------------------------- */

static json_t *solution_json(const fenp_path *h, const double *solution)
{
    json_t *array = json_array();
    int failed = array == NULL;
    for (int64_t j = 0; !failed && j < fenp_path_width(h); j++)
        failed = json_array_append_new(array, fenp_json_number(solution[j]));
    if (!failed) return array;
    json_decref(array);
    return NULL;
}

json_t *fenp_step_json(const fenp_path *h, int64_t t, int64_t k, const fenp_step *step)
{
    char name[1024];
    fenp_output_name(h->prep, h->outputs, h->sample->targets, t, name, sizeof name);
    json_t *point = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "target", fenp_json_string(name),
        "power", fenp_json_number(h->settings[k].power), "lambda",
        fenp_json_number(h->settings[k].lambda), "lambda2", fenp_json_number(step->lambda2), "norm",
        fenp_json_number(step->norm), "bias", fenp_json_number(step->bias), "mean_loss",
        fenp_json_number(step->mean_loss), "objective", fenp_json_number(step->objective), "score",
        fenp_json_number(step->score), "solution", solution_json(h, step->solution));
    const int failed =
        step->support >= 0 &&
        (json_object_set_new(point, "relative_gap", fenp_json_number(step->relative_gap)) |
         json_object_set_new(point, "support", json_integer(step->support)));
    if (!failed) return point;
    json_decref(point);
    return NULL;
}

/* What the numbers of a solution belong to; NULL: no memory. */
static json_t *names_json(const fenp_path *h)
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

/* NULL: there are no scores. */
static const char *score_kind(const fenp_path *h)
{
    if (h->strategy.refits) return h->scored ? h->o.select : NULL;
    return strcmp(h->o.select, "gcv") == 0 ? "gcv" : "loo";
}

/* How many have a gap above the tolerance, by the solver's own account: above_tolerance, which
 * stands before anything that users name, so that the text can be searched for it. */
static json_t *count_above(const json_t *points, double tolerance)
{
    json_int_t count = 0;
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *gap = json_object_get(json_array_get(points, i), "relative_gap");
        count += gap && !(json_is_number(gap) && json_number_value(gap) <= tolerance);
    }
    return json_integer(count);
}

static json_t *head_json(const fenp_path *h, const json_t *points)
{
    const fen_kernel *kernel = h->kernel.table;
    return json_pack("{s:I, s:I, s:f, s:o, s:s, s:s, s:s, s:s, s:o, s:s?, s:s, s:o}", "n",
                     (json_int_t)h->sample->n, "d", (json_int_t)h->sample->p, "tolerance",
                     h->o.tolerance, "above_tolerance", count_above(points, h->o.tolerance), "over",
                     h->o.over, "loss", h->loss->name, "penalty", h->o.penalty, "kernel",
                     kernel->name, "gamma",
                     fenp_json_number(kernel->uses_gamma ? h->kernel.par.gamma : NAN), "score_kind",
                     score_kind(h), "solution", kernel->linear ? "weights" : "coefficients",
                     "features", names_json(h));
}

/* ---- all of it ----------------------------------------------------------------------------- */

fen_status fenp_path_fits(const fenp_path *h, const fenp_solver *solver, int64_t work,
                          fen_error *err)
{
    const fenp_size size = fenp_size_of(h->sample, &h->o);
    const int64_t json =
        fenp_bytes(h->count * size.targets, fenp_path_width(h) + 20, JSON_VALUE_BYTES);
    const fenp_strategy alone = { .solver = solver, .bytes = work + json };
    if (work < 0 || json < 0)
        return fenp_fail(err, FEN_MEMORY, "%lld rows are too many for a path", (long long)size.n);
    return fenp_strategy_fits(&alone, &h->o, &size, err);
}

static fen_status path_of_sample(fenp_path *h, char **json, const fenp_task *task, fen_error *err)
{
    const fenp_task choosing = fenp_task_part(task, "choosing gamma", 0.0, 0.6);
    const fenp_task rest = fenp_task_part(task, "path", 0.6, 1.0);
    fen_status status = choose_kernel(h, &choosing, err);
    if (status != FEN_OK) return status;
    json_t *points = json_array();
    if (!points)
        status = fenp_no_memory(err, 0, "the path");
    else if (h->strategy.refits)
        status = fenp_path_descend(h, points, &rest, err);
    else
        status = fenp_path_spectral(h, points, &rest, err);
    if (status == FEN_OK)
        return fenp_json_text_with(head_json(h, points), "points", points, json, err);
    json_decref(points);
    return status;
}

static fen_status path_of_kernel(const fenp_prep *prep, const fenp_sample *sample,
                                 const fenp_settled *settled, int scored, char **json,
                                 const fenp_task *task, fen_error *err)
{
    fenp_path h = { .o = settled->o,
                    .prep = prep,
                    .sample = sample,
                    .outputs = settled->output,
                    .loss = fenp_find_loss(settled->o.loss),
                    .scored = scored };
    h.kernel.table = fenp_find_kernel(settled->o.kernel);
    h.over_power = strcmp(h.o.over, "power") == 0;
    const fen_status status = path_of_sample(&h, json, task, err);
    free(h.settings);
    return status;
}

/* Sums and the Gram matrix of the columns, or the columns, are all that such a path is made of. */
static int reads_rows_twice(const fen_options *o)
{
    return fenp_on_coefficients(o) && fenp_kernel_of(o)->linear &&
           (strcmp(o->loss, "auto") == 0 || strcmp(o->loss, "square") == 0);
}

fen_status fen_path(const fen_table *table, const fen_options *given, const fen_host *host,
                    char **json, fen_error *err)
{
    fen_options o = *given;
    fenp_prep *prep = NULL;
    fenp_sample *sample = NULL;
    fenp_settled settled = { 0 };
    fen_status status = fen_options_check(given, err);
    const int scored = strcmp(o.select, "auto") != 0 && strcmp(o.select, "none") != 0;
    const int exact = strcmp(o.engine, "homotopy") == 0; /* no engine of a single lambda */
    if (exact) o.engine = "auto";
    if (status != FEN_OK) return status;
    const fenp_threads before = fenp_threads_enter(o.threads);
    const fenp_task task = fenp_task_start(host, o.time_limit_seconds);
    status = !exact && !scored && reads_rows_twice(&o)
                 ? fenp_prep_learn_unwritten(table, &o, &prep, &sample, err)
                 : fenp_prep_learn_nameless(table, &o, &prep, &sample, err);
    if (status == FEN_OK) status = fenp_settle(&o, prep, sample, &settled, err);
    if (status == FEN_OK && fenp_on_coefficients(&settled.o))
        status = fenp_path_linear(prep, sample, &settled, exact, scored, json, &task, err);
    else if (status == FEN_OK && exact)
        status = fenp_fail(err, FEN_BAD_CALL, "--engine homotopy is for --penalty l1");
    else if (status == FEN_OK)
        status = path_of_kernel(prep, sample, &settled, scored, json, &task, err);
    fenp_threads_leave(before);
    fenp_settled_free(&settled);
    fenp_sample_free(sample);
    fenp_prep_free(prep);
    return status;
}
