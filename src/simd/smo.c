/* smo.c -- pairs of variables of a quadratic program (smo.h), two passes over g a step
 *
 * Method. Pairs (i, j): i rises most, j is where the pair's own optimum gains most,
 *   gain = (rise_i - fall_j)^2 / (K_ii + K_jj - 2 K_ij + d_i + d_j),
 * and b_i += s, b_j -= s up to the pair's optimum, a bound or a kink, whichever comes first.
 * Without the balance a single variable with the largest gain moves. Where sides keep their
 * sums, i and j are of one side (b_i rises at 0 as positive, b_j falls at 0 as negative): each
 * side has its i, and the best j of both decides. Each step is one pass
 * over g that also finds the next i, and one that finds j: 2 n fused operations each and n
 * divisions in single precision (they only rank). The passes are written in vectors of
 * eight at every level; such a vector is never an argument, as how it is passed depends on the
 * level.
 * Special cases. A pair without curvature (equal rows) moves to its nearest bound or kink; of
 * an indefinite matrix too. Infinite bounds are fine as long as there is curvature.
 * Cost. Two rows of k per step: 0.2 us at n = 256 (in cache), 3 us at n = 4096 (not). */
#include "simd/level.h"

#include <float.h>
#include <math.h>

enum { LANES = 8 };
typedef double vector __attribute__((vector_size(64), aligned(8)));
typedef int64_t lanes __attribute__((vector_size(64), aligned(8)));
typedef float singles __attribute__((vector_size(32), aligned(4)));

/* ---- vectors ----------------------------------------------------------------------------- */

#define LOAD(at) (*(const vector *)(at))
#define WIDEN(at) __builtin_convertvector(*(const singles *)(at), vector)
#define SPREAD(x) ((vector){ 0.0 } + (x))
#define CHOOSE(mask, yes, no) ((vector)(((mask) & (lanes)(yes)) | (~(mask) & (lanes)(no))))

/* The largest value so far in every lane, and where. */
typedef struct best {
    vector value;
    lanes at;
} best;

#define BEST_NONE                           \
    {                                       \
        SPREAD(-INFINITY), (lanes){ 0 } - 1 \
    }

INLINE void best_see(best *b, const vector *value, int64_t at)
{
    const lanes place = { at, at + 1, at + 2, at + 3, at + 4, at + 5, at + 6, at + 7 };
    const lanes better = *value > b->value;
    b->value = CHOOSE(better, *value, b->value);
    b->at = (better & place) | (~better & b->at);
}

/* Of equal values the first in the order of places. */
INLINE int64_t best_of(const best *b, double *value)
{
    int64_t at = -1;
    *value = -INFINITY;
    for (int l = 0; l < LANES; l++)
        if (b->value[l] > *value || (b->value[l] == *value && at >= 0 && b->at[l] < at)) {
            *value = b->value[l];
            at = b->at[l];
        }
    return at;
}

/* ---- passes ------------------------------------------------------------------------------ */

/* Who rises most, and how much; of sides: b >= 0, then b < 0. at -1: nobody. */
typedef struct riser {
    int64_t at;
    double rise;
} riser;

/* g += s K_i - r K_j; the variables that rise most. sides: a constant. */
INLINE void move(const fenp_smo_job *w, const float *ki, double s, const float *kj, double r,
                 int sides, riser up[2])
{
    best top = BEST_NONE, below = BEST_NONE;
    const vector vs = SPREAD(s), vr = SPREAD(r), none = SPREAD(-INFINITY);
    double *g = w->q->g;
    for (int64_t k = 0; k < w->q->n; k += LANES) {
        const vector now = LOAD(g + k) + vs * WIDEN(ki + k) - vr * WIDEN(kj + k);
        const vector rise = -(now + LOAD(w->right + k));
        *(vector *)(g + k) = now;
        if (sides) {
            const lanes negative = LOAD(w->q->b + k) < SPREAD(0.0);
            const vector positive_rise = CHOOSE(negative, none, rise);
            const vector negative_rise = CHOOSE(negative, rise, none);
            best_see(&top, &positive_rise, k);
            best_see(&below, &negative_rise, k);
        } else
            best_see(&top, &rise, k);
    }
    up[0].at = best_of(&top, &up[0].rise);
    up[1].at = best_of(&below, &up[1].rise);
}

/* In single precision: it only ranks. */
#define RATIO(numerator, denominator)                                          \
    __builtin_convertvector(__builtin_convertvector(numerator, singles) /      \
                                __builtin_convertvector(denominator, singles), \
                            vector)

/* The j whose pair with the riser of its side gains most; the largest violation of all in
 * *violation. */
INLINE int64_t partner(const fenp_smo_job *w, const riser up[2], int sides, double *violation)
{
    const fenp_qp *q = w->q;
    const int64_t i = up[0].at >= 0 ? up[0].at : 0, j = up[1].at >= 0 ? up[1].at : 0;
    const float *ki = w->k + i * w->ld, *kj = w->k + j * w->ld;
    const vector top = SPREAD(up[0].rise), below = SPREAD(up[1].rise);
    const vector own = SPREAD(q->stiff[i]), other = SPREAD(q->stiff[j]);
    const vector least = SPREAD(1e-12 * (sides ? fmax(q->stiff[i], q->stiff[j]) : q->stiff[i]));
    best pick = BEST_NONE;
    vector most = SPREAD(-INFINITY);
    for (int64_t k = 0; k < q->n; k += LANES) {
        vector rise = top, rest = own - 2.0 * WIDEN(ki + k);
        if (sides) {
            const lanes positive = LOAD(q->b + k) > SPREAD(0.0);
            rise = CHOOSE(positive, top, below);
            rest = CHOOSE(positive, rest, other - 2.0 * WIDEN(kj + k));
        }
        const vector by = rise + LOAD(q->g + k) + LOAD(w->left + k);
        const vector bend = rest + LOAD(q->stiff + k);
        const vector ratio = RATIO(by * by, CHOOSE(bend > least, bend, least));
        const vector gain = CHOOSE(by > SPREAD(0.0), ratio, SPREAD(-INFINITY));
        most = CHOOSE(by > most, by, most);
        best_see(&pick, &gain, k);
    }
    *violation = -INFINITY;
    for (int l = 0; l < LANES; l++)
        if (most[l] > *violation) *violation = most[l];
    double gain;
    return best_of(&pick, &gain);
}

/* Without the balance: the variable that gains most alone. */
INLINE int64_t single(const fenp_smo_job *w, double *violation)
{
    const fenp_qp *q = w->q;
    best pick = BEST_NONE, most = BEST_NONE;
    for (int64_t k = 0; k < q->n; k += LANES) {
        const vector g = LOAD(q->g + k), up = -(g + LOAD(w->right + k)),
                     down = g + LOAD(w->left + k);
        const vector by = CHOOSE(up > down, up, down);
        const vector gain =
            CHOOSE(by > SPREAD(0.0), RATIO(by * by, LOAD(q->stiff + k)), SPREAD(-INFINITY));
        best_see(&most, &by, k);
        best_see(&pick, &gain, k);
    }
    double gain;
    best_of(&most, violation);
    return best_of(&pick, &gain);
}

/* ---- steps ------------------------------------------------------------------------------- */

/* How far b_i may go to the right (or, negated, to the left) without meeting a kink or bound. */
static double room_right(const fenp_qp *q, int64_t i)
{
    return q->b[i] < 0.0 && q->kink[i] > 0.0 ? -q->b[i] : q->high[i] - q->b[i];
}

static double room_left(const fenp_qp *q, int64_t i)
{
    return q->b[i] > 0.0 && q->kink[i] > 0.0 ? q->b[i] : q->b[i] - q->low[i];
}

/* b_i += s; a step that ends at a bound or kink ends there exactly. */
static void shift(const fenp_smo_job *w, int64_t i, double s, double room)
{
    const fenp_qp *q = w->q;
    const double end = fabs(s) < room                          ? q->b[i] + s
                       : q->kink[i] > 0.0 && q->b[i] * s < 0.0 ? 0.0
                       : s > 0.0                               ? q->high[i]
                                                               : q->low[i];
    q->g[i] += q->d[i] * (end - q->b[i]);
    q->b[i] = end;
    w->right[i] = fenp_qp_right(q, i);
    w->left[i] = fenp_qp_left(q, i);
}

static double bend_of(const fenp_smo_job *w, int64_t i, int64_t j)
{
    const double sum = w->q->stiff[i] + w->q->stiff[j];
    const double bend = sum - 2.0 * (double)w->k[i * w->ld + j];
    return bend > 1e-12 * sum ? bend : 1e-12 * sum;
}

INLINE int64_t pairs(const fenp_smo_job *w, double tolerance, int64_t steps, int sides)
{
    const fenp_qp *q = w->q;
    double violation;
    riser up[2];
    int64_t step = 0;
    move(w, w->k, 0.0, w->k, 0.0, sides, up);
    for (; step < steps; step++) {
        const int64_t j = partner(w, up, sides, &violation);
        if (j < 0 || violation <= tolerance) break;
        const riser *first = up + (sides && !(q->b[j] > 0.0));
        const int64_t i = first->at;
        const double wish = (first->rise - fenp_qp_fall(q, j)) / bend_of(w, i, j);
        const double a = room_right(q, i), b = room_left(q, j);
        const double s = fmin(wish, fmin(a, b));
        if (!(s > 0.0) || !(s < INFINITY)) break;
        shift(w, i, s, a);
        shift(w, j, -s, b);
        move(w, w->k + i * w->ld, s, w->k + j * w->ld, s, sides, up);
    }
    return step;
}

INLINE int64_t singles_steps(const fenp_smo_job *w, double tolerance, int64_t steps)
{
    const fenp_qp *q = w->q;
    double violation;
    riser unused[2];
    int64_t step = 0;
    for (; step < steps; step++) {
        const int64_t i = single(w, &violation);
        if (i < 0 || violation <= tolerance) break;
        const double up = fenp_qp_rise(q, i), down = -fenp_qp_fall(q, i);
        const double room = up > down ? room_right(q, i) : room_left(q, i);
        const double least = 1e-12 * fabs((double)w->k[i * w->ld + i]) + DBL_MIN;
        const double wish = fmin(fmax(up, down) / fmax(q->stiff[i], least), room);
        if (!(wish > 0.0) || !(wish < INFINITY)) break;
        const double s = up > down ? wish : -wish;
        shift(w, i, s, room);
        move(w, w->k + i * w->ld, s, w->k, 0.0, 0, unused);
    }
    return step;
}

KERNEL(smo);
int64_t AT_LEVEL(fenp_smo)(const fenp_smo_job *w, double tolerance, int64_t steps)
{
    switch (w->q->balanced) {
    case FENP_SIDES: return pairs(w, tolerance, steps, 1);
    case FENP_SUM: return pairs(w, tolerance, steps, 0);
    default: return singles_steps(w, tolerance, steps);
    }
}
