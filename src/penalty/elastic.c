/* elastic.c -- penalty lambda sum_j a_j (mix |beta_j| + (1 - mix)/2 beta_j^2): elastic net
 *
 *   value   mix r + (1 - mix)/2 r^2,  0 <= mix < 1
 *   conj    max(0, s - lambda mix)^2 / (2 lambda (1 - mix)): finite everywhere
 *   prox    max(0, norm - step mix) / (1 + step (1 - mix))
 *
 * Special cases: mix = 0 is ridge with half the usual lambda. A value beyond the largest
 *   double is +inf.
 * Accuracy: a few roundings; of s - lambda mix the usual ones of a difference. */
#include <math.h>
#include "fenchel/extend.h"

static double value(double norm, double mix) { return norm * (mix + 0.5 * (1.0 - mix) * norm); }

static double conjugate(double dual_norm, double lambda, double mix)
{
    const double beyond = dual_norm - lambda * mix;
    return beyond > 0.0 ? 0.5 * beyond * (beyond / (lambda * (1.0 - mix))) : 0.0;
}

static double prox(double norm, double step, double mix)
{
    return fmax(norm - step * mix, 0.0) / (1.0 + step * (1.0 - mix));
}

const fen_penalty fenp_penalty_elastic = {
    .name = "elastic",
    .help = "lambda sum (MIX |beta_j| + (1 - MIX)/2 beta_j^2): elastic net",
    .written = "MIX",
    .parts = FEN_EACH,
    .parameter = { "mix", 0.0, 1.0, 0.5, 1 },
    .value = value,
    .conj = conjugate,
    .prox = prox,
};
