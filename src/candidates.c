/* candidates.c -- the values of gamma and lambda that are tried where none are given, and what
 * their scores are measured by
 *
 * gamma: steps of 2 (its root for inverse lengths) around 1/(mean squared distance), or around
 * 1/(mean x.x) for kernels of products; tensor kernels: story_lp.c.
 * lambda, in units of kappa, the mean of k(x,x). Square loss: 25 values from 1e-11 to 10.
 * Other losses: a function of size s is worth its norm to the rows while
 *     2 lambda s^2/kappa  <=  s |v'|,      v' the slope of the loss at a residual of size s,
 * so beyond kappa |v'| / (2 s) everything is shrunk away; s is the standard deviation of the
 * target, or 1 for classes. 12 values from 1e-7 of that on (smooth losses of numbers, which
 * follow noiseless data closely: 1e-9). For classes and 1000 rows that is C = 1e-3 to 1e4 in
 * terms of LIBSVM.
 * Other powers than 2: the lambdas that shrink a function of the size of the targets as much:
 * lambda (2/m) N^(2-m) of power m does to a function of norm N what lambda of power 2 does;
 * N is that of the (geometric mean of the) targets: s / sqrt(kappa).
 * Penalty lp: of that power, with kappa^(2/q) of story_lp.c for kappa, also for the square loss:
 * 25 values from 1e-10 on (noiseless data ask for a thousand times less than others). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/registry.h"
#include "loss/traits.h"
#include "promise/refit.h"
#include "story_lp.h"

enum { SQUARE_GAMMAS = 10, LOW_STEP = -6, OTHER_LOW_STEP = -4 };
enum { DECADES = 7, SMOOTH_DECADES = 9, LP_DECADES = 10 }; /* of lambda */
static const double TIE = 1e-9; /* of a score: no refit is solved more exactly */

/* ---- gamma -------------------------------------------------------------------------- */

static fen_status gamma_unit(const fen_kernel *kernel, const fenp_sample *s, double *unit,
                             fen_error *err)
{
    if (kernel->basis != FEN_PRODUCT)
        return fenp_gamma_mean(kernel, fenp_sample_inputs(s), s->w, unit, err);
    double square = 0.0; /* products: so that gamma x.x is near 1 */
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->p; j++)
            square += s->w[i] * s->x[i * s->p + j] * s->x[i * s->p + j];
    *unit = square > 0.0 ? 1.0 / square : 1.0;
    return FEN_OK;
}

double fenp_gamma_step(const fen_kernel *kernel, int k)
{
    return pow(2.0, kernel->gamma_is_inverse_length ? 0.5 * k : k);
}

fen_status fenp_list_gammas(const fen_options *o, const fen_kernel *kernel, const fenp_sample *s,
                            int wanted, double *gammas, fen_error *err)
{
    gammas[0] = 0.0;
    if (!kernel->uses_gamma) return FEN_OK;
    if (o->gamma.choice == FEN_GIVEN) {
        memcpy(gammas, o->gamma.at, (size_t)wanted * sizeof(double));
        return FEN_OK;
    }
    double unit;
    const fenp_kernel asked = fenp_kernel_asked(o, kernel);
    const fen_status status = fenp_is_lp(&asked) ? fenp_lp_gamma(&asked, s, &unit, err)
                                                 : gamma_unit(kernel, s, &unit, err);
    if (status != FEN_OK) return status;
    const int low = wanted == 1 ? 0 : wanted < SQUARE_GAMMAS ? OTHER_LOW_STEP : LOW_STEP;
    for (int k = 0; k < wanted; k++) gammas[k] = unit * fenp_gamma_step(kernel, low + k);
    return FEN_OK;
}

/* ---- lambda ------------------------------------------------------------------------- */

/* That of a constant is 0, not what the rounding of its mean leaves. */
static double target_variance(const fenp_sample *s, int64_t t)
{
    const double *y = s->y + t * s->n;
    double mean = 0.0, sum = 0.0;
    int64_t same = 1;
    while (same < s->n && y[same] == y[0]) same++;
    for (int64_t i = 0; i < s->n; i++) mean += s->w[i] * y[i];
    for (int64_t i = 0; i < s->n; i++) sum += s->w[i] * (y[i] - mean) * (y[i] - mean);
    return same < s->n ? sum : 0.0;
}

void fenp_lambdas_by_units(const fen_options *o, const fenp_units *u, int wanted, double power,
                           double *lambdas)
{
    if (o->lambda.choice == FEN_GIVEN)
        memcpy(lambdas, o->lambda.at, (size_t)wanted * sizeof(double));
    else if (wanted == 1)
        lambdas[0] = 1.0 / u->weight_sum;
    else {
        const double kappa = u->diagonal > 0.0 ? u->diagonal : 1.0;
        const double log_norm = u->log_deviation - 0.5 * log(kappa);
        const double least = u->steepness > 0.0 ? -u->decades : -11.0;
        const double most = u->steepness > 0.0 ? 0.0 : 1.0;
        double unit = u->steepness > 0.0 ? 0.5 * kappa * u->steepness : kappa;
        if (power != 2.0) unit *= 2.0 / power * exp((2.0 - power) * log_norm);
        for (int k = 0; k < wanted; k++)
            lambdas[k] = unit * pow(10.0, least + (most - least) * k / (wanted - 1));
    }
}

/* |v'| / size at a residual of that size, the larger of both signs; where a loss has no slope
 * there (all within the tube) or no finite one, 1 / size. */
static double steepness(const fen_loss *loss, double par, double size)
{
    double most = 0.0;
    for (int sign = -1; sign <= 1; sign += 2) {
        double low, high;
        loss->slopes(sign * size, 0.0, &par, &low, &high);
        most = fmax(most, fmax(fabs(low), fabs(high)));
    }
    return (most > 0.0 && isfinite(most) ? most : 1.0) / size;
}

/* Square loss (but for lp): outputs are not looked at. Classes: the labels are of size 1. */
void fenp_list_lambdas(const fen_options *o, const fenp_output *outputs, const fenp_kernel *kernel,
                       const fenp_sample *all, int wanted, double power, double *lambdas)
{
    const fen_loss *loss = fenp_find_loss(o->loss);
    const int lp = fenp_is_lp(kernel), square = fenp_is_square(loss) && !lp;
    fenp_units u = { .weight_sum = all->weight_sum };
    double log_steepness = 0.0;
    u.diagonal = lp ? fenp_lp_diagonal(kernel, all)
                    : fenp_gram_mean_diagonal(kernel, fenp_sample_inputs(all), all->w);
    for (int64_t t = 0; t < all->targets; t++) {
        const double variance = loss->labels == FEN_SIGNS ? 1.0 : target_variance(all, t);
        const double size = variance > 0.0 ? sqrt(variance) : 1.0;
        u.log_deviation += log(size) / (double)all->targets;
        if (!square)
            log_steepness += log(steepness(loss, outputs[t].par, size)) / (double)all->targets;
    }
    u.steepness = square ? 0.0 : exp(log_steepness);
    u.decades = lp                                                      ? LP_DECADES
                : loss->smoothness > 0.0 && loss->labels == FEN_NUMBERS ? SMOOTH_DECADES
                                                                        : DECADES;
    fenp_lambdas_by_units(o, &u, wanted, power, lambdas);
}

double fenp_lambda_of_no_search(const fenp_sample *sample, const fen_options *o,
                                const fenp_output *outputs, const fenp_kernel *kernel, double power)
{
    enum { POINTS = 3 };
    double lambdas[FEN_VALUES_MAX];
    const int lp = fenp_is_lp(kernel) && o->lambda.choice == FEN_AUTO;
    fenp_list_lambdas(o, outputs, kernel, sample, lp ? POINTS : 1, power, lambdas);
    return lambdas[lp ? POINTS / 2 : 0];
}

/* ---- units of scores ------------------------------------------------------------------ */

int fenp_has_columns(const fenp_output *outputs, int64_t count)
{
    return outputs[count - 1].column != outputs[0].column;
}

/* Weight of the rows that an output concerns. */
static double output_weight(const fenp_sample *x, int64_t t)
{
    double sum = 0.0;
    for (int64_t i = 0; i < x->n; i++) sum += x->y[t * x->n + i] != 0.0 ? x->w[i] : 0.0;
    return sum;
}

/* Of all outputs, over that of this one, on the average: pairs of classes count by their rows. */
static double pair_unit(const fenp_sample *x, int64_t t)
{
    double all = 0.0;
    for (int64_t k = 0; k < x->targets; k++) all += output_weight(x, k);
    return all / (output_weight(x, t) * (double)x->targets);
}

double fenp_score_unit(const fenp_sample *x, const fenp_output *outputs, const fen_options *o,
                       int refits, int64_t t)
{
    double unit = 1.0;
    if (!refits)
        unit = x->targets > 1 ? target_variance(x, t) : 1.0;
    else if (fenp_has_columns(outputs, x->targets))
        unit = fenp_null_objective(fenp_judge(fenp_find_loss(o->loss)), &outputs[t].par,
                                   x->y + t * x->n, x->w, x->n, o->bias);
    else if (outputs[t].minus >= 0)
        unit = pair_unit(x, t);
    return (unit > 0.0 ? unit : 1.0) * (double)x->targets;
}

/* ---- the best score ------------------------------------------------------------------- */

double fenp_score_rounding(const fenp_sample *x, const fenp_output *outputs, const fen_options *o,
                           int refits)
{
    const fen_loss *loss = fenp_find_loss(o->loss);
    double sum = 0.0;
    for (int64_t t = 0; loss->labels == FEN_NUMBERS && t < x->targets; t++) {
        double most = 0.0;
        for (int64_t i = 0; i < x->n; i++) most = fmax(most, fabs(x->y[t * x->n + i]));
        sum += loss->value(0.0, 4.0 * DBL_EPSILON * most, refits ? &outputs[t].par : NULL) /
               fenp_score_unit(x, outputs, o, refits, t);
    }
    return sum;
}

int64_t fenp_best_score(const fenp_score *grid, int64_t count, double rounding)
{
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (grid[k].score < grid[best].score) best = k;
    const double bound = grid[best].score + fmax(TIE * fabs(grid[best].score), rounding);
    for (int64_t k = 0; k < count && isfinite(bound); k++)
        if (grid[k].score <= bound && grid[k].lambda > grid[best].lambda) best = k;
    return best;
}
