/* setup_linear.c -- the problems that penalties on coefficients make of a sample
 *
 *   design    the prepared features by columns, or by rows as they stand where the solver takes
 *             those; with a kernel that is not linear the kernel matrix of all rows (kernel lasso:
 *             a coefficient for every row)
 *   groups    of --penalty and --feature-weights; of the rows every one by itself
 *   problems  one for every output; with group:targets one of as many copies
 *   gamma     of the kernel lasso: given, by the rule, or the one that ridge regression with this
 *             kernel (square loss, any lambda) is best with
 *
 * Cost: a copy of dense features, or n^2 numbers; by rows p^2 numbers for every fold and the time
 *   for their products. Sparse features are not copied. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "loss/traits.h"
#include "penalty/traits.h"
#include "promise/loo.h"
#include "story.h"

/* ---- the kernel of an expansion ---------------------------------------------------------- */

int fenp_gamma_is_open(const fen_options *o, const fen_kernel *kernel)
{
    return !kernel->linear && kernel->uses_gamma && strcmp(o->select, "none") != 0 &&
           (o->gamma.choice == FEN_AUTO || (o->gamma.choice == FEN_GIVEN && o->gamma.count > 1));
}

/* By the scores of ridge regression, which have a closed form. The grid does not grow past its
 * ends: a line is best with a kernel of any width, but its rows are then all alike. */
static fen_status choose_gamma(const fenp_sample *sample, const fen_options *o, fenp_setup *s,
                               const fenp_task *task, fen_error *err)
{
    fen_options ridge = *o;
    fenp_strategy strategy;
    fenp_chosen chosen = { 0 };
    ridge.penalty = "rkhs", ridge.loss = "square", ridge.select = "loo", ridge.engine = "auto";
    ridge.lambda = (fen_values){ .choice = FEN_AUTO };
    const fenp_size size = fenp_size_of(sample, &ridge);
    fen_status status = fenp_strategy_make(&ridge, s->kernel.table, fenp_find_loss("square"), &size,
                                           &strategy, err);
    if (status == FEN_OK) status = fenp_strategy_fits(&strategy, &ridge, &size, err);
    strategy.widen = 0;
    if (status == FEN_OK)
        status = fenp_choose(sample, &ridge, NULL, s->kernel.table, &strategy, &chosen, task, err);
    if (status != FEN_OK) return status;
    s->kernel = chosen.kernel;
    s->gamma_chosen = 1;
    free(chosen.selection.grid);
    return FEN_OK;
}

static fen_status find_gamma(const fenp_sample *sample, const fen_options *o, fenp_setup *s,
                             const fenp_task *task, fen_error *err)
{
    if (fenp_gamma_is_open(o, s->kernel.table)) return choose_gamma(sample, o, s, task, err);
    if (o->gamma.choice == FEN_GIVEN && o->gamma.count > 1 && s->kernel.table->uses_gamma)
        return fenp_fail(
            err, FEN_BAD_CALL,
            "--select none leaves several values of gamma to choose from: give one, or "
            "another --select");
    return fenp_list_gammas(o, s->kernel.table, sample, 1, &s->kernel.par.gamma, err);
}

/* Both triangles, of which the upper one is computed. */
static fen_status make_kernel_matrix(const fenp_sample *sample, fenp_setup *s,
                                     const fenp_task *task, fen_error *err)
{
    const int64_t n = sample->n, bytes = fenp_bytes(n, n, sizeof(double));
    double *k = fenp_new(bytes, 1);
    if (!k) return fenp_no_memory(err, bytes, "the kernel matrix");
    s->owned = k;
    const fen_status status = fenp_gram_upper(&s->kernel, fenp_sample_inputs(sample), k, task, err);
    for (int64_t j = 0; status == FEN_OK && j < n; j++)
        for (int64_t i = 0; i < j; i++) k[j + i * n] = k[i + j * n];
    s->x = (fenp_design){ .n = n, .p = n, .copies = 1, .dense = k };
    return status;
}

/* ---- design and groups ------------------------------------------------------------------- */

static fen_status make_design(const fenp_sample *sample, const fen_options *o, fenp_setup *s,
                              const fenp_task *task, fen_error *err)
{
    const fenp_task choosing = fenp_task_part(task, "choosing gamma", 0.0, 0.8);
    const fenp_task filling = fenp_task_part(task, "kernel matrix", 0.8, 1.0);
    const fen_kernel *kernel = fenp_find_kernel(o->kernel);
    s->kernel = (fenp_kernel){ kernel, { 0.0, o->degree, o->coef0, 0.0 } };
    if (!kernel->linear && kernel->basis != FEN_PRECOMPUTED) {
        const fen_status status = find_gamma(sample, o, s, &choosing, err);
        return status == FEN_OK ? make_kernel_matrix(sample, s, &filling, err) : status;
    }
    if (!sample->start) {
        s->x = fenp_design_by_rows(sample);
        return FEN_OK;
    }
    return fenp_design_of(sample, &s->x, &s->owned, err);
}

static fen_status make_groups(const fenp_prep *prep, const fenp_settled *settled, fenp_setup *s,
                              fen_error *err)
{
    const int none = fenp_is_none(settled->penalty.penalty);
    if (!s->kernel.table->linear)
        s->groups = (fenp_groups){ .count = s->x.p };
    else if (!none)
        return fenp_groups_make(prep, &settled->o, s->x.copies, &s->groups, err);
    if (!none) return FEN_OK;
    s->groups = (fenp_groups){ .count = s->x.p,
                               .weight = fenp_new_zeroed(s->x.p, sizeof *s->groups.weight) };
    return s->groups.weight
               ? FEN_OK
               : fenp_no_memory(err, fenp_bytes(s->x.p, 1, sizeof(double)), "the weights");
}

/* ---- problems ---------------------------------------------------------------------------- */

/* One penalty for all targets has one parameter of the loss. */
static fen_status check_copies(const fenp_sample *sample, const fenp_settled *settled,
                               fen_error *err)
{
    for (int64_t t = 1; t < sample->targets; t++)
        if (settled->output[t].par != settled->output[0].par)
            return fenp_fail(err, FEN_BAD_CALL,
                             "--penalty group:targets takes one parameter of the loss for all "
                             "targets, not several%s",
                             settled->output[t].by_noise
                                 ? ": auto makes one of the noise in every target; write a number"
                                 : "");
    return FEN_OK;
}

static fen_status make_problems(const fenp_sample *sample, const fenp_settled *settled,
                                fenp_setup *s, fen_error *err)
{
    const fen_options *o = &settled->o;
    const fen_loss *loss = fenp_find_loss(o->loss);
    const int64_t n = sample->n, left = fenp_memory_limit(o) - fenp_memory_resident();
    s->count = sample->targets / s->x.copies;
    s->problem = fenp_new_zeroed(s->count, sizeof *s->problem);
    s->w = fenp_new(fenp_bytes(sample->targets, n, sizeof(double)), 1);
    if (!s->problem || !s->w)
        return fenp_no_memory(err, fenp_bytes(sample->targets, n, sizeof(double)), "the weights");
    for (int64_t t = 0; t < sample->targets; t++)
        fenp_output_weights(loss, sample->y + t * n, sample->w, n, s->w + t * n);
    for (int64_t k = 0; k < s->count; k++)
        s->problem[k] = (fenp_linear){ .x = &s->x,
                                       .loss = loss,
                                       .par = &settled->output[k * s->x.copies].par,
                                       .y = sample->y + k * s->x.copies * n,
                                       .w = s->w + k * s->x.copies * n,
                                       .bias = o->bias,
                                       .mix = settled->penalty.par,
                                       .groups = &s->groups,
                                       .nonnegative = o->nonnegative,
                                       .engine = o->engine,
                                       .room = left > 0 ? left : 1 };
    return FEN_OK;
}

/* ---- rows or columns ---------------------------------------------------------------------- */

int fenp_wants_sigmoids(const fen_options *o, const fen_loss *loss)
{
    return o->probability && !fenp_tells_odds(loss);
}

/* QR has columns, and so have folds other than those of the selection. */
fenp_purpose fenp_purpose_of(const fenp_settled *settled)
{
    const fen_options *o = &settled->o;
    if (fenp_is_none(settled->penalty.penalty) || fenp_wants_sigmoids(o, fenp_find_loss(o->loss)))
        return FENP_BY_COLUMNS;
    return fenp_count_lambdas_linear(o) > 1 ? FENP_TO_SELECT : FENP_TO_SOLVE;
}

enum { MOST_PARTS = 50, SHARE_OF_ROOM = 4 };

static int64_t folds_of(const fen_options *o, int64_t n, fenp_purpose purpose)
{
    return purpose == FENP_TO_SELECT ? fenp_count_folds_linear(o, n) : 0;
}

static int weigh_alike(const fenp_setup *s)
{
    const size_t bytes = (size_t)s->x.n * sizeof *s->w;
    for (int64_t k = 1; k < s->count; k++)
        if (memcmp(s->problem[k].w, s->problem[0].w, bytes) != 0) return 0;
    return 1;
}

/* Labels are columns of the products too: not many beside the features, for which every output
 * would else have products of its own. */
static int are_few(double labels, double p)
{
    return labels == 1.0 || (p + labels) * (p + labels) <= 4.0 * labels * p * p;
}

/* Rows will do for the solver, the sums of the folds have room, and no criterion needs columns for
 * its degrees of freedom. */
int fenp_stays_by_rows(const fenp_linear *q, int64_t outputs, int grouped, const fen_options *o,
                       fenp_purpose purpose)
{
    const int64_t folds = folds_of(o, q->x->n, purpose);
    const int64_t bytes = fenp_products_bytes(q->x->p, outputs, folds > 0 ? folds : 1);
    const int criterion = purpose == FENP_TO_SELECT && folds == 0;
    const int counts = q->mix == 1.0 && !grouped; /* its coefficients are df */
    return purpose != FENP_BY_COLUMNS && (counts || !criterion) && folds <= MOST_PARTS &&
           bytes >= 0 && bytes <= q->room / SHARE_OF_ROOM && fenp_linear_takes_rows(q) &&
           are_few((double)outputs, (double)q->x->p);
}

static fen_status make_columns(fenp_setup *s, fen_error *err)
{
    const fenp_design rows = s->x;
    return fenp_design_columns(&rows, &s->x, &s->owned, err);
}

/* Of the folds that select_linear.c deals; folds 0: of all rows. */
static fen_status multiply(fenp_setup *s, int64_t folds, const fen_options *o, fen_error *err)
{
    int64_t *order = folds > 0 ? fenp_new(s->x.n, sizeof *order) : NULL;
    if (folds > 0 && !order) return fenp_no_memory(err, 8 * s->x.n, "the folds");
    fen_status status = order ? fenp_deal_rows(s->x.n, folds, o->seed, order, err) : FEN_OK;
    if (status == FEN_OK)
        status =
            fenp_products_make(s->problem, s->count, order, order ? folds : 1, &s->products, err);
    for (int64_t k = 0; k < s->count; k++)
        s->problem[k].products = &s->products, s->problem[k].label = k;
    free(order);
    return status;
}

/* By columns or by rows; products that several ask for are made. */
static fen_status lay_out(fenp_setup *s, const fen_options *o, fenp_purpose purpose, fen_error *err)
{
    const int64_t folds = folds_of(o, s->x.n, purpose);
    if (!fenp_design_is_by_rows(&s->x)) return FEN_OK;
    if (!fenp_stays_by_rows(s->problem, s->count, s->groups.start != NULL, o, purpose) ||
        !weigh_alike(s))
        return make_columns(s, err);
    return folds > 0 || s->count > 1 ? multiply(s, folds, o, err) : FEN_OK;
}

fen_status fenp_setup_make(const fenp_prep *prep, const fenp_sample *sample,
                           const fenp_settled *settled, fenp_purpose purpose, fenp_setup *out,
                           const fenp_task *task, fen_error *err)
{
    const char *how = settled->penalty.how;
    const int joint = how && strcmp(how, "targets") == 0;
    *out = (fenp_setup){ .count = 0 };
    fen_status status = joint ? check_copies(sample, settled, err) : FEN_OK;
    if (status == FEN_OK) status = fenp_linear_fits(sample, settled, err);
    if (status == FEN_OK) status = make_design(sample, &settled->o, out, task, err);
    out->x.copies = joint ? sample->targets : 1;
    if (status == FEN_OK) status = make_groups(prep, settled, out, err);
    if (status == FEN_OK) status = make_problems(sample, settled, out, err);
    if (status == FEN_OK) status = lay_out(out, &settled->o, purpose, err);
    if (status != FEN_OK) fenp_setup_free(out);
    return status;
}

fen_status fenp_setup_of_model(const fen_model *m, const fenp_sample *sample, fenp_setup *out,
                               const fenp_task *task, fen_error *err)
{
    fenp_settled settled = { .o = fen_options_default(), .output = m->output };
    settled.penalty.penalty = m->penalty, settled.penalty.par = m->mix;
    settled.o.loss = m->loss->name, settled.o.bias = m->bias;
    settled.o.nonnegative = m->nonnegative;
    *out = (fenp_setup){ .kernel = m->kernel };
    const int columns = m->kernel.table->linear || m->kernel.table->basis == FEN_PRECOMPUTED;
    fen_status status = columns ? fenp_design_of(sample, &out->x, &out->owned, err)
                                : make_kernel_matrix(sample, out, task, err);
    out->x.copies = m->copies;
    const int none = fenp_is_none(m->penalty);
    if (status == FEN_OK && none) status = make_groups(NULL, &settled, out, err);
    if (status == FEN_OK) status = make_problems(sample, &settled, out, err);
    for (int64_t k = 0; status == FEN_OK && !none && k < out->count; k++)
        out->problem[k].groups = &m->groups;
    if (status != FEN_OK) fenp_setup_free(out);
    return status;
}

void fenp_setup_free(fenp_setup *s)
{
    fenp_groups_free(&s->groups);
    free(s->problem);
    free(s->owned);
    free(s->w);
    fenp_products_free(&s->products);
    *s = (fenp_setup){ .count = 0 };
}
