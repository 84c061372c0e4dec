/* traits.h -- what can be asked of any loss by its table alone */
#ifndef FENP_LOSS_TRAITS_H
#define FENP_LOSS_TRAITS_H
#include <float.h>
#include <math.h>
#include <string.h>
#include "fenchel/extend.h"

static inline int fenp_is_square(const fen_loss *loss)
{
    return strcmp(loss->name, "square") == 0;
}

/* Scores are the logarithms of odds. */
static inline int fenp_tells_odds(const fen_loss *loss)
{
    return strcmp(loss->name, "logistic") == 0;
}

/* 0 within a width, infinite outside: a condition. */
static inline int fenp_is_tube(const fen_loss *loss) { return strcmp(loss->name, "tube") == 0; }

static inline int fenp_is_huber(const fen_loss *loss) { return strcmp(loss->name, "huber") == 0; }

/* The loss at y and t, both less shift. One that is infinite there (tube) is forgiven
 * 1e-9 (par + |y|): rounding and tolerance would make every objective infinite otherwise. */
static inline double fenp_forgiving_loss(const fen_loss *loss, double y, double t, double shift,
                                         const double *par)
{
    const double at = y - shift, value = loss->value(at, t, par);
    if (value < INFINITY) return value;
    const double slack = 1e-9 * (par[0] + fabs(y));
    return loss->value(at, fabs(at - t) <= slack ? at : t + copysign(slack, at - t), par);
}

/* Of a loss of y - t: what an error in the last digits of y costs, to the dearer side. */
static inline double fenp_loss_of_digits(const fen_loss *loss, double y, const double *par)
{
    const double error = 8.0 * DBL_EPSILON * y;
    const double up = loss->value(0.0, error, par), down = loss->value(0.0, -error, par);
    return up > down ? up : down;
}
#endif
