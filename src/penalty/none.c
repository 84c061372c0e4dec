/* none.c -- no penalty: least squares and its kin
 *
 *   value   0
 *   conj    0 if s = 0, else +inf        (every column of the design is orthogonal to u)
 *   prox    norm
 */
#include <math.h>
#include "fenchel/extend.h"

static double value(double norm, double unused)
{
    (void)norm, (void)unused;
    return 0.0;
}

static double conjugate(double dual_norm, double lambda, double unused)
{
    (void)lambda, (void)unused;
    return dual_norm == 0.0 ? 0.0 : INFINITY;
}

static double prox(double norm, double step, double unused)
{
    (void)step, (void)unused;
    return norm;
}

const fen_penalty fenp_penalty_none = {
    .name = "none",
    .help = "nothing: least squares, least absolute deviations and the like",
    .parts = FEN_EACH,
    .value = value,
    .conj = conjugate,
    .prox = prox,
};
