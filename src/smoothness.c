/* smoothness.c -- power and lambda that need no tuning
 *
 *     p = d / (2 s),    power = 2 p / (1 + p),    lambda = n^(-1 / (1 + p))
 *
 * For d features and a function with s derivatives whose kernel spans exactly such functions
 * (Sobolev spaces: matern), covering numbers grow like radius^(2p): with this pair the error
 * falls at the optimal rate n^(-1/(1+p)) whatever the norm of the function.
 * Special cases: s > d/2, or the functions would not be continuous; then p < 1 and
 * power < 1. Beyond s = 1000 d the power would leave the range of --power.
 * docs/powers.md says when to trust it. */
#include <math.h>

#include "base/error.h"
#include "base/text.h"
#include "story.h"

fen_status fenp_smoothness(double s, int64_t d, double n, double *power, double *lambda,
                           fen_error *err)
{
    const double p = (double)d / (2.0 * s), most = 1000.0 * (double)d;
    char given[32], bound[32];
    fenp_print_double(s, given);
    if (!(p < 1.0)) {
        fenp_print_double(0.5 * (double)d, bound);
        return fenp_fail(err, FEN_BAD_CALL,
                         "--smoothness %s is too small: with %lld features it must be greater "
                         "than d/2 = %s",
                         given, (long long)d, bound);
    }
    if (!(s <= most)) {
        fenp_print_double(most, bound);
        return fenp_fail(err, FEN_BAD_CALL,
                         "--smoothness %s is too large: with %lld features it may be at most %s",
                         given, (long long)d, bound);
    }
    *power = 2.0 * p / (1.0 + p);
    *lambda = pow(n, -1.0 / (1.0 + p));
    return FEN_OK;
}
