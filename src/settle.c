/* settle.c -- what the options stand for, once the rows are known
 *
 *   loss       auto: by the target; epsilon, k auto: by the noise in it (data/noise.h)
 *   outputs    the problems that targets, classes and parameters of the loss make
 *   power      auto: for losses other than square those of 1 and more
 *   kernel     auto: gaussian, but linear with lp and penalties on coefficients
 *   degree     auto: 3, of tensor-polynomial 2; coef0 1 and 0
 *   select     auto: leave-one-out where it has a closed form (square loss, but not lp) or rows
 *              are few, else 5 folds; with penalties on coefficients 10
 *   lambda     in our own unit, W = sum of the weights as written:
 *                --as sklearn   square          lambda = alpha / W; l1, elastic: 2 alpha
 *                --as glmnet    l1, square      lambda = 2 of theirs
 *                               l1, elastic, logistic           theirs
 *                --as libsvm    hinge, eps, sqhinge, sqeps, logistic    lambda = 1 / (2 C W)
 *   smoothness power and lambda (smoothness.c)
 *
 * and what they may not stand for: one sentence each. Weights count as repetitions of rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/registry.h"
#include "base/text.h"
#include "data/noise.h"
#include "loss/traits.h"
#include "story_lp.h"

enum { FEW = 20 }; /* rows below which folds would be too small */

/* ---- what does not go together ----------------------------------------------------------- */

/* Some power of the list is below (side -1) or other than (side 0) the bound. */
static int some_power(const fen_options *o, int side, double bound)
{
    double powers[FEN_VALUES_MAX];
    const int count = fenp_list_powers(o, powers);
    for (int i = 0; i < count; i++)
        if (powers[i] < bound || (side == 0 && powers[i] != bound)) return 1;
    return 0;
}

static fen_status check_classes(const fen_options *o, const fenp_prep *prep, const fen_loss *loss,
                                fen_error *err)
{
    if (prep->class_count && loss->labels != FEN_SIGNS && !fenp_is_square(loss))
        return fenp_fail(
            err, FEN_BAD_CALL,
            "--loss %s is for numbers, but \"%.60s\" holds classes; use hinge, sqhinge, "
            "logistic or square",
            loss->name, prep->target[0]);
    if (o->probability && !prep->class_count)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--probability is for classes; see --task classification");
    if (strcmp(o->multiclass, "ovo") == 0 && !prep->class_count)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--multiclass ovo is for classes; leave it out, or see --task "
                         "classification");
    return FEN_OK;
}

/* Outside the tube nothing is allowed and inside all is free: the largest lambda is infinite, and
 * below it the solution is nearly the same everywhere. */
static fen_status check_tube(const fen_options *o, const fen_loss *loss, fen_error *err)
{
    if (!fenp_is_tube(loss) || !fenp_on_coefficients(o) || o->lambda.choice != FEN_AUTO ||
        strcmp(o->penalty, "none") == 0)
        return FEN_OK;
    return fenp_fail(err, FEN_BAD_CALL,
                     "--loss tube with --penalty %.64s leaves no lambda to choose: the solution "
                     "hardly depends on it; give one, such as --lambda 1/n",
                     o->penalty);
}

static fen_status check_loss(const fen_options *o, const fen_loss *loss, int64_t rows,
                             fen_error *err)
{
    if (fenp_is_square(loss)) return FEN_OK;
    if (o->smoothness > 0.0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--smoothness takes a power below 1, which is for the square loss and not "
                         "for %s; leave it out, or use --loss square",
                         loss->name);
    if (some_power(o, -1, 1.0))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--power below 1 is for the square loss; with the %s loss use 1 or more",
                         loss->name);
    if (o->nu > 0 && some_power(o, 0, 2.0))
        return fenp_fail(err, FEN_BAD_CALL, "--nu is for --power 2");
    if (strcmp(o->select, "gcv") == 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--select gcv is for the square loss; with the %s loss use %s%s",
                         loss->name, fenp_on_coefficients(o) ? "kfold:10" : "kfold:5",
                         rows <= FENP_MOST_LEFT_OUT ? " or loo" : "");
    return check_tube(o, loss, err);
}

/* The penalties that an engine is for. */
static const char *penalty_of_engine(const char *engine)
{
    const fenp_solver *solver = fenp_find_solver(engine);
    return !solver ? "penalties on coefficients" : solver->lp ? "--penalty lp" : "--penalty rkhs";
}

/* Kernel machines, lp and linear models have engines of their own. */
static fen_status check_engine(const fen_options *o, const fen_loss *loss, fen_error *err)
{
    const char *is_for = penalty_of_engine(o->engine);
    const char *penalty = fenp_on_coefficients(o)     ? "penalties on coefficients"
                          : fenp_exponent_of(o) > 0.0 ? "--penalty lp"
                                                      : "--penalty rkhs";
    if (strcmp(o->engine, "homotopy") == 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--engine homotopy is for fenchel path --penalty l1; leave it out");
    if (strcmp(o->engine, "auto") == 0) return FEN_OK;
    if (strcmp(o->penalty, "none") == 0 && fenp_is_square(loss) && !o->nonnegative)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--engine %s: least squares without a penalty are solved by QR alone; "
                         "leave --engine out",
                         o->engine);
    if (strcmp(penalty, is_for) == 0) return FEN_OK;
    return fenp_fail(err, FEN_BAD_CALL, "--engine %s is for %s; leave --engine out", o->engine,
                     is_for);
}

/* Both classes must have the weight that a margin costs: half of nu. */
static fen_status check_price(const fenp_settled *s, const fenp_prep *prep, const fen_loss *loss,
                              const fenp_sample *sample, fen_error *err)
{
    if (!(s->o.nu > 0) || loss->price > 0 || !s->o.bias) return FEN_OK;
    for (int64_t t = 0; t < sample->targets; t++) {
        const double *y = sample->y + t * sample->n;
        double plus = 0.0, minus = 0.0;
        for (int64_t i = 0; i < sample->n; i++)
            *(y[i] > 0.0 ? &plus : &minus) += y[i] == 0.0 ? 0.0 : sample->w[i];
        const double most = 2.0 * fmin(plus, minus) / (plus + minus);
        if (s->o.nu <= most * (1.0 + 1e-12)) continue;
        const int64_t rare = plus < minus ? s->output[t].plus : s->output[t].minus;
        char given[32], share[32], bound[32];
        fenp_print_short(s->o.nu, given);
        fenp_print_short(0.5 * most, share);
        fenp_print_short(most, bound);
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s: %s%.40s%s has a share of %s of the weight, and --nu can be twice "
                         "that at most: %s, not %s",
                         sample->title, rare < 0 ? "all but class \"" : "class \"",
                         prep->classes[rare < 0 ? s->output[t].plus : rare], "\"", share, bound,
                         given);
    }
    return FEN_OK;
}

/* ---- the unit of lambda ------------------------------------------------------------------ */

static int in_list(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0) list++;
    return *list != NULL;
}

static int has_c(const fen_loss *loss)
{
    static const char *const names[] = { "hinge", "eps", "sqhinge", "sqeps", "logistic", NULL };
    return in_list(loss->name, names);
}

/* Ours in units of theirs (of 1/theirs for C); 0: the loss has no such unit. The elastic net of
 * glmnet with the square loss has none: its square part depends on the deviation of y. */
static double unit_of_lambda(const fen_options *o, const fen_loss *loss, double weight_sum)
{
    fenp_penalty_choice choice;
    if (fenp_parse_penalty(o->penalty, &choice, NULL) != FEN_OK) return 0.0;
    const char *penalty = choice.penalty->name;
    const int whole = choice.penalty->parts == FEN_WHOLE, l1 = strcmp(penalty, "l1") == 0;
    const int square = fenp_is_square(loss), logistic = fenp_tells_odds(loss);
    const int net = l1 || strcmp(penalty, "elastic") == 0;
    if (strcmp(o->as, "libsvm") == 0) return whole && has_c(loss) ? 0.5 / weight_sum : 0.0;
    if (strcmp(o->as, "glmnet") == 0) return l1 && square ? 2.0 : net && logistic ? 1.0 : 0.0;
    if (!square) return 0.0;
    return whole ? 1.0 / weight_sum : net ? 2.0 : 0.0;
}

/* Parameters of scikit-learn that --as sklearn does not read, as it reads alpha. */
static const char *what_is_ours(const fen_options *o, const fen_loss *loss)
{
    fenp_penalty_choice choice;
    if (strcmp(o->as, "sklearn") != 0 || fenp_parse_penalty(o->penalty, &choice, NULL) != FEN_OK)
        return "";
    const char *penalty = choice.penalty->name;
    const int net = strcmp(penalty, "l1") == 0 || strcmp(penalty, "elastic") == 0;
    if (choice.penalty->parts == FEN_WHOLE) return has_c(loss) ? ", or C with --as libsvm" : "";
    if (net && fenp_tells_odds(loss)) return ", which is 1/(n C)";
    return fenp_is_square(loss) && strcmp(o->penalty, "group:targets") == 0 ? ", which is 2 alpha"
                                                                            : "";
}

static fen_status convert_lambda(fen_options *o, const fen_loss *loss, double weight_sum,
                                 fen_error *err)
{
    const int libsvm = strcmp(o->as, "libsvm") == 0;
    if (strcmp(o->as, "fenchel") == 0) return FEN_OK;
    if (o->lambda.choice != FEN_GIVEN || o->smoothness > 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--as %s is the unit of a lambda that is given: give --lambda, or leave "
                         "--as out",
                         o->as);
    const double unit = unit_of_lambda(o, loss, weight_sum);
    if (unit == 0.0 && strcmp(o->penalty, "rkhs") == 0 && strcmp(o->as, "glmnet") != 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--as %s has no unit of lambda for the %s loss: give lambda in ours%s",
                         o->as, loss->name, what_is_ours(o, loss));
    if (unit == 0.0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--as %s has no unit of lambda for the %s loss with --penalty %.64s: give "
                         "lambda in ours%s",
                         o->as, loss->name, o->penalty, what_is_ours(o, loss));
    if (some_power(o, 0, 2.0))
        return fenp_fail(err, FEN_BAD_CALL, "--as %s is for --power 2: give lambda in our unit",
                         o->as);
    for (int i = 0; i < o->lambda.count; i++) {
        double *at = &o->lambda.at[i];
        *at = libsvm ? unit / *at : unit * *at;
        if (!(*at > 0.0) || !isfinite(*at))
            return fenp_fail(err, FEN_BAD_CALL,
                             "--lambda in the unit of %s leaves the range of numbers", o->as);
    }
    o->as = "fenchel";
    return FEN_OK;
}

static fen_status settle_smoothness(fen_options *o, int64_t features, double weight_sum,
                                    fen_error *err)
{
    double power = 0.0, lambda = 0.0;
    if (o->smoothness == 0.0) return FEN_OK;
    const fen_status status =
        fenp_smoothness(o->smoothness, features, weight_sum, &power, &lambda, err);
    if (status != FEN_OK) return status;
    o->power = fen_value(power);
    o->lambda = fen_value(lambda);
    return FEN_OK;
}

/* ---- all of it --------------------------------------------------------------------------- */

static void settle_choices(fen_options *o, const fen_loss *loss, int64_t rows)
{
    static const fen_values convex = { FEN_GIVEN, 4, { 1.0, 1.5, 2.0, 3.0 } };
    const int linear = fenp_on_coefficients(o);
    const int closed = fenp_is_square(loss) && !linear && !(fenp_exponent_of(o) > 0.0);
    const int tensor = fenp_kernel_of(o)->basis == FEN_TENSOR;
    o->loss = loss->name;
    o->kernel = fenp_kernel_of(o)->name;
    if (o->degree < 0) o->degree = tensor ? 2 : 3;
    if (o->coef0 < 0.0) o->coef0 = tensor ? 0.0 : 1.0;
    if (strcmp(o->select, "auto") == 0)
        o->select = closed || rows < FEW ? "loo" : linear ? "kfold:10" : "kfold:5";
    if (!fenp_is_square(loss) && o->power.choice == FEN_AUTO)
        o->power = o->nu > 0 ? fen_value(2.0) : convex;
}

/* Elsewhere --select also means that gamma is to be chosen. */
static int is_idle(const fen_options *o)
{
    const int no_gamma =
        (fenp_on_coefficients(o) && fenp_kernel_of(o)->linear) || fenp_exponent_of(o) > 0.0;
    return no_gamma && o->lambda.choice == FEN_GIVEN && o->lambda.count == 1 &&
           strcmp(o->select, "auto") != 0 && strcmp(o->select, "none") != 0;
}

/* What was left to us; each goes by its own target. */
static fen_status fill_parameters(const fen_options *o, const fen_loss *loss, const fenp_prep *prep,
                                  const fenp_sample *sample, fenp_output *output, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t t = 0; status == FEN_OK && t < sample->targets; t++) {
        output[t].by_noise = isnan(output[t].par);
        if (output[t].by_noise)
            status = (fenp_is_huber(loss) ? fenp_noise_knee : fenp_noise_epsilon)(
                sample, t, prep->precomputed, o->seed, &output[t].par, err);
    }
    return status;
}

fen_status fenp_settle(const fen_options *given, const fenp_prep *prep, fenp_sample *sample,
                       fenp_settled *out, fen_error *err)
{
    fenp_settled s = { .o = *given };
    fenp_loss_choice choice;
    fen_status status = fenp_choose_loss(prep, given, &choice, err);
    if (status == FEN_OK) status = fenp_parse_penalty(given->penalty, &s.penalty, err);
    if (status == FEN_OK) status = check_engine(given, choice.loss, err);
    if (status != FEN_OK) return status;
    settle_choices(&s.o, choice.loss, sample->n);
    s.idle = is_idle(given);
    s.no_coef0 = given->coef0 < 0.0;
    if (prep->targets == 0) s.o.bias = 0; /* one class: a constant would be all of the answer */
    status = check_classes(given, prep, choice.loss, err);
    if (status == FEN_OK)
        status = fenp_outputs_make(prep, given, &choice, sample, &s.output, &s.class_weights, err);
    if (status == FEN_OK) status = settle_smoothness(&s.o, sample->p, sample->weight_sum, err);
    if (status == FEN_OK) status = fenp_settle_lp(&s.o, choice.loss, err);
    if (status == FEN_OK) status = check_loss(&s.o, choice.loss, sample->n, err);
    if (status == FEN_OK) status = convert_lambda(&s.o, choice.loss, sample->weight_sum, err);
    if (status == FEN_OK) status = check_price(&s, prep, choice.loss, sample, err);
    if (status == FEN_OK) status = fill_parameters(given, choice.loss, prep, sample, s.output, err);
    if (status == FEN_OK)
        *out = s;
    else
        fenp_settled_free(&s);
    return status;
}

void fenp_settled_free(fenp_settled *s)
{
    free(s->output);
    free(s->class_weights);
    s->output = NULL, s->class_weights = NULL;
}

fen_status fenp_settle_features(const fen_options *given, const fenp_prep *prep, double weight_sum,
                                fen_options *out, fen_error *err)
{
    const fen_loss *square = fenp_find_loss("square");
    fen_options o = *given;
    settle_choices(&o, square, 0);
    fen_status status = settle_smoothness(&o, prep->features, weight_sum, err);
    if (status == FEN_OK) status = convert_lambda(&o, square, weight_sum, err);
    if (status == FEN_OK) *out = o;
    return status;
}
