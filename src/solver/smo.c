/* smo.c -- see smo.h
 *
 * Method. Pairs (i, j): i rises most, j is where the pair's own optimum gains most,
 *   gain = (rise_i - fall_j)^2 / (K_ii + K_jj - 2 K_ij + d_i + d_j),
 * and b_i += s, b_j -= s up to the pair's optimum, a bound or a kink, whichever comes first.
 * Without the balance a single variable with the largest gain moves. Where sides keep their
 * sums, i and j are of one side (b_i rises at 0 as positive, b_j falls at 0 as negative): each
 * side has its i, and the best j of both decides. Each step is one pass
 * over g that also finds the next i, and one that finds j: 2 n fused operations each and n
 * divisions in single precision (they only rank). The passes are written in vectors of eight
 * and compiled for AVX-512, AVX2 and the base instruction set.
 * Special cases. A pair without curvature (equal rows) moves to its nearest bound or kink; of
 * an indefinite matrix too. Infinite bounds are fine as long as there is curvature.
 * Cost. Two rows of k per step: 0.2 us at n = 256 (in cache), 3 us at n = 4096 (not). */
#include "solver/smo.h"

#include <float.h>
#include <math.h>

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 8 };
typedef double vector __attribute__((vector_size(64), aligned(8)));
typedef int64_t lanes __attribute__((vector_size(64), aligned(8)));
typedef float singles __attribute__((vector_size(32), aligned(4)));

/* ---- slopes ----------------------------------------------------------------------------- */

double fenp_qp_violation(const fenp_qp *q)
{
    double rise[2] = { -INFINITY, -INFINITY }, fall[2] = { INFINITY, INFINITY };
    const int sides = q->balanced == FENP_SIDES;
    for (int64_t i = 0; i < q->n; i++) {
        double *up = rise + (sides && q->b[i] < 0.0), *down = fall + (sides && !(q->b[i] > 0.0));
        *up = fmax(*up, fenp_qp_rise(q, i));
        *down = fmin(*down, fenp_qp_fall(q, i));
    }
    return q->balanced ? fmax(rise[0] - fall[0], rise[1] - fall[1]) : fmax(rise[0], -fall[0]);
}

/* ---- vectors ----------------------------------------------------------------------------- */

INLINE vector load(const double *at) { return *(const vector *)at; }
INLINE vector widen(const float *at)
{
    return __builtin_convertvector(*(const singles *)at, vector);
}
INLINE vector spread(double x) { return (vector){ x, x, x, x, x, x, x, x }; }
INLINE vector choose(lanes mask, vector yes, vector no)
{
    return (vector)((mask & (lanes)yes) | (~mask & (lanes)no));
}

/* The largest value so far in every lane, and where. */
typedef struct best {
    vector value;
    lanes at;
} best;

INLINE best best_none(void)
{
    const lanes none = { -1, -1, -1, -1, -1, -1, -1, -1 };
    return (best){ spread(-INFINITY), none };
}

INLINE void best_see(best *b, vector value, int64_t at)
{
    const lanes place = { at, at + 1, at + 2, at + 3, at + 4, at + 5, at + 6, at + 7 };
    const lanes better = value > b->value;
    b->value = choose(better, value, b->value);
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

typedef struct job {
    const fenp_qp *q;
    const float *k;
    int64_t ld;
    double *right, *left; /* n: see fenp_qp_right, fenp_qp_left                  */
} job;

/* Who rises most, and how much; of sides: b >= 0, then b < 0. at -1: nobody. */
typedef struct riser {
    int64_t at;
    double rise;
} riser;

/* g += s K_i - r K_j; the variables that rise most. sides: a constant. */
INLINE void move(const job *w, const float *ki, double s, const float *kj, double r, int sides,
                 riser up[2])
{
    best top = best_none(), below = best_none();
    const vector vs = spread(s), vr = spread(r), none = spread(-INFINITY);
    double *g = w->q->g;
    for (int64_t k = 0; k < w->q->n; k += LANES) {
        const vector now = load(g + k) + vs * widen(ki + k) - vr * widen(kj + k);
        const vector rise = -(now + load(w->right + k));
        *(vector *)(g + k) = now;
        if (sides) {
            const lanes negative = load(w->q->b + k) < spread(0.0);
            best_see(&top, choose(negative, none, rise), k);
            best_see(&below, choose(negative, rise, none), k);
        } else
            best_see(&top, rise, k);
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
INLINE int64_t partner(const job *w, const riser up[2], int sides, double *violation)
{
    const fenp_qp *q = w->q;
    const int64_t i = up[0].at >= 0 ? up[0].at : 0, j = up[1].at >= 0 ? up[1].at : 0;
    const float *ki = w->k + i * w->ld, *kj = w->k + j * w->ld;
    const vector top = spread(up[0].rise), below = spread(up[1].rise);
    const vector own = spread(q->stiff[i]), other = spread(q->stiff[j]);
    const vector least = spread(1e-12 * (sides ? fmax(q->stiff[i], q->stiff[j]) : q->stiff[i]));
    best pick = best_none();
    vector most = spread(-INFINITY);
    for (int64_t k = 0; k < q->n; k += LANES) {
        vector rise = top, rest = own - 2.0 * widen(ki + k);
        if (sides) {
            const lanes positive = load(q->b + k) > spread(0.0);
            rise = choose(positive, top, below);
            rest = choose(positive, rest, other - 2.0 * widen(kj + k));
        }
        const vector by = rise + load(q->g + k) + load(w->left + k);
        const vector bend = rest + load(q->stiff + k);
        const vector gain = RATIO(by * by, choose(bend > least, bend, least));
        most = choose(by > most, by, most);
        best_see(&pick, choose(by > spread(0.0), gain, spread(-INFINITY)), k);
    }
    *violation = -INFINITY;
    for (int l = 0; l < LANES; l++)
        if (most[l] > *violation) *violation = most[l];
    double gain;
    return best_of(&pick, &gain);
}

/* Without the balance: the variable that gains most alone. */
INLINE int64_t single(const job *w, double *violation)
{
    const fenp_qp *q = w->q;
    best pick = best_none(), most = best_none();
    for (int64_t k = 0; k < q->n; k += LANES) {
        const vector g = load(q->g + k), up = -(g + load(w->right + k)),
                     down = g + load(w->left + k);
        const vector by = choose(up > down, up, down);
        best_see(&most, by, k);
        best_see(&pick,
                 choose(by > spread(0.0), RATIO(by * by, load(q->stiff + k)), spread(-INFINITY)),
                 k);
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
static void shift(const job *w, int64_t i, double s, double room)
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

static double bend_of(const job *w, int64_t i, int64_t j)
{
    const double sum = w->q->stiff[i] + w->q->stiff[j];
    const double bend = sum - 2.0 * (double)w->k[i * w->ld + j];
    return bend > 1e-12 * sum ? bend : 1e-12 * sum;
}

INLINE int64_t pairs(const job *w, double tolerance, int64_t steps, int sides)
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

INLINE int64_t singles_steps(const job *w, double tolerance, int64_t steps)
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

INLINE int64_t run(const job *w, double tolerance, int64_t steps)
{
    switch (w->q->balanced) {
    case FENP_SIDES: return pairs(w, tolerance, steps, 1);
    case FENP_SUM: return pairs(w, tolerance, steps, 0);
    default: return singles_steps(w, tolerance, steps);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512dq,avx512vl,fma"))) static int64_t
run_avx512(const job *w, double tolerance, int64_t steps)
{
    return run(w, tolerance, steps);
}

__attribute__((target("avx2,fma"))) static int64_t run_avx2(const job *w, double tolerance,
                                                            int64_t steps)
{
    return run(w, tolerance, steps);
}

/* Not under AddressSanitizer: gcc 12 aligns the frames that it watches to 32 bytes at most, where
 * vectors of 64 are kept (its bug 110027). */
static int has_avx512(void)
{
#ifdef __SANITIZE_ADDRESS__
    return 0;
#else
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#endif
}
#endif

int64_t fenp_smo(const fenp_qp *q, const float *k, int64_t ld, double tolerance, int64_t steps,
                 double *work)
{
    const job w = { q, k, ld, work, work + q->n };
    for (int64_t i = 0; i < q->n; i++) {
        w.right[i] = fenp_qp_right(q, i);
        w.left[i] = fenp_qp_left(q, i);
    }
#if defined(__x86_64__)
    const int fma = __builtin_cpu_supports("fma");
    if (fma && has_avx512()) return run_avx512(&w, tolerance, steps);
    if (fma && __builtin_cpu_supports("avx2")) return run_avx2(&w, tolerance, steps);
#endif
    return run(&w, tolerance, steps);
}
