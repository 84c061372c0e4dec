/* homotopy.c -- see homotopy.h
 *
 *     c_j = 2 sum_i w_i x_ij r_i,  r = y - X beta - b      (with a bias all columns are centred)
 *     optimal:  c_j = lambda a_j sign(beta_j) in the active set A,  |c_j| <= lambda a_j outside
 *
 * Method. Between breakpoints A and the signs s stay, and as lambda falls by t
 *
 *     beta_A moves by t d,  d = G_AA^-1 (a s)_A,  G = 2 X'WX,     c_j falls by t g_j,  g = G_.A d
 *
 * until a coefficient is 0 or some |c_j| meets its bound. The factor of G_AA is updated
 * (factor.h). After every move beta_A is corrected by G_AA^-1 (c_A - lambda (a s)_A) with c_A
 * from the residuals: errors do not add up along the path.
 * Ties. Whoever is at its bound, or at 0 in A, at a breakpoint is open: of those that the next
 * piece would carry over their limit the one with the least index changes sides, until there
 * is none (Murty's rule, which ends for positive definite matrices).
 * Special cases. Coefficients without a price are in A from the start and stay (with beta >= 0:
 * the nonnegative least squares of them comes first, and they may leave). A column that depends
 * on A, zero columns among them, is set aside until somebody leaves A: its c_j follows from
 * those of A. p > n: as A never holds dependent columns it ends with n of them at most.
 * Accuracy. Optimality conditions hold to about 1e-12 of lambda_max; columns within 1e-7 of
 * the span of A count as dependent, and are off by that.
 * Cost. A product with X per breakpoint, n |A| flops for the correction, |A|^2 for the factor. */
#include "solver/homotopy_parts.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/threads.h"
#include "solver/factor.h"

enum { RENEW = 24 };               /* settlements between two products that make c anew */
static const double TIE = 1e-11;   /* of lambda: nearer breakpoints are one             */
static const double NOISE = 1e-12; /* of the largest possible slope                     */

/* ---- a piece of the path -------- */

/* d, and X d in r. */
static void aim(fenp_walk *k)
{
    for (int64_t a = 0; a < k->m; a++)
        k->row[a] = fenp_walk_price(k, k->who[a]) * k->side[k->who[a]];
    fenp_factor_solve(k->l, k->room, k->m, k->row);
    for (int64_t a = 0; a < k->m; a++) k->d[k->who[a]] = k->row[a];
    fenp_walk_scores(k, k->d, k->r);
    for (int64_t a = 0; a < k->m; a++) /* once more with what is left */
        k->row[a] = fenp_walk_price(k, k->who[a]) * k->side[k->who[a]];
    fenp_walk_correlate(k, k->r, k->who, k->m, k->some);
    for (int64_t a = 0; a < k->m; a++) k->row[a] -= k->some[a];
    fenp_factor_solve(k->l, k->room, k->m, k->row);
    for (int64_t a = 0; a < k->m; a++) k->d[k->who[a]] += k->row[a];
    fenp_walk_scores(k, k->d, k->r);
    k->speed = fenp_walk_length(k, k->r);
}

static void take_residuals(fenp_walk *k)
{
    fenp_walk_scores(k, k->beta, k->r);
    for (int64_t i = 0; i < k->n; i++) k->r[i] = k->y[i] - k->r[i];
}

/* How fast the room of coefficient j outside A shrinks on the side of this sign; 0: it does
 * not, or less than rounding errors say. */
static double closing(const fenp_walk *k, int64_t j, int sign)
{
    const double a = fenp_walk_price(k, j), speed = a - sign * k->g[j];
    return speed > NOISE * (a + k->length[j] * k->speed) ? speed : 0.0;
}

/* The same for a coefficient in A and 0. */
static double falling(const fenp_walk *k, int64_t j)
{
    const double speed = -k->side[j] * k->d[j];
    return !fenp_walk_is_free(k, j) && speed * k->length[j] > NOISE * k->speed ? speed : 0.0;
}

static double room_of(const fenp_walk *k, int64_t j, int sign)
{
    return fmax(0.0, k->lambda * fenp_walk_price(k, j) - sign * k->c[j]);
}

/* The side on which a coefficient outside A would join. */
static int sign_of(const fenp_walk *k, int64_t j)
{
    return k->of->nonnegative || k->c[j] >= 0.0 ? 1 : -1;
}

/* How far lambda can fall until j is at a limit; INFINITY: as far as it likes. */
static double time_of(const fenp_walk *k, int64_t j)
{
    if (k->side[j] != 0) {
        const double speed = falling(k, j);
        return speed > 0.0 ? fmax(0.0, k->side[j] * k->beta[j]) / speed : INFINITY;
    }
    if (k->aside[j] || fenp_walk_is_free(k, j)) return INFINITY;
    const double up = closing(k, j, 1), down = k->of->nonnegative ? 0.0 : closing(k, j, -1);
    const double first = up > 0.0 ? room_of(k, j, 1) / up : INFINITY;
    return down > 0.0 ? fmin(first, room_of(k, j, -1) / down) : first;
}

/* c of all columns where some breakpoints have passed, beta corrected by that of A. */
static void settle(fenp_walk *k)
{
    take_residuals(k);
    fenp_walk_correlate(k, k->r, k->who, k->m, k->row);
    for (int64_t a = 0; a < k->m; a++)
        k->row[a] -= k->lambda * fenp_walk_price(k, k->who[a]) * k->side[k->who[a]];
    fenp_factor_solve(k->l, k->room, k->m, k->row);
    for (int64_t a = 0; a < k->m; a++) {
        const int64_t j = k->who[a];
        k->beta[j] += k->row[a];
        if (!fenp_walk_is_free(k, j) && k->side[j] * k->beta[j] < 0.0)
            k->beta[j] = 0.0; /* by rounding */
    }
    if (++k->stale < RENEW) return;
    take_residuals(k);
    fenp_walk_correlate(k, k->r, NULL, k->p, k->c);
    k->stale = 0;
}

static void move(fenp_walk *k, double by)
{
    for (int64_t a = 0; a < k->m; a++) k->beta[k->who[a]] += by * k->d[k->who[a]];
    for (int64_t j = 0; j < k->p; j++) k->c[j] -= by * k->g[j];
    k->lambda = fmax(0.0, k->lambda - by);
    settle(k);
}

/* By how much lambda has still to fall until j is at its limit, with c_j as beta makes it. */
static double still_to_go(fenp_walk *k, int64_t j)
{
    if (k->side[j] != 0) return k->side[j] * k->beta[j] / falling(k, j);
    take_residuals(k);
    fenp_walk_correlate(k, k->r, &j, 1, &k->c[j]);
    const int sign = sign_of(k, j);
    return (k->lambda * fenp_walk_price(k, j) - sign * k->c[j]) / closing(k, j, sign);
}

/* To the limit of j, time away. A nearly singular G_AA makes much of the last digits of lambda:
 * they are looked at once more on arrival. */
static void move_to_limit(fenp_walk *k, int64_t j, double time)
{
    move(k, time);
    const double by = still_to_go(k, j);
    if (isfinite(by)) move(k, fmin(fmax(by, -time), k->lambda));
}

/* ---- a breakpoint -------- */

/* What of c_j may be rounding errors. */
static double noise_of(const fenp_walk *k, int64_t j) { return 1e-14 * k->length[j] * k->size; }

/* Those that meet a limit within so much of lambda. */
static void mark_due(fenp_walk *k, double within)
{
    for (int64_t j = 0; j < k->p; j++) k->open[j] = time_of(k, j) <= within;
}

/* And those outside A that are at their bound already. The answer is how many are open; they
 * are listed. */
static int64_t list_open(fenp_walk *k)
{
    int64_t count = 0;
    for (int64_t j = 0; j < k->p; j++) {
        const double bound = k->lambda * fenp_walk_price(k, j);
        if (!k->side[j] && !fenp_walk_is_free(k, j) && k->length[j] > 0.0 &&
            bound - sign_of(k, j) * k->c[j] <= TIE * bound + noise_of(k, j))
            k->open[j] = 1;
        if (k->open[j]) k->list[count++] = j;
    }
    return count;
}

/* The first of those listed that the next piece would carry over its limit; -1: none. */
static int64_t first_wrong(fenp_walk *k, int64_t count)
{
    aim(k);
    fenp_walk_correlate(k, k->r, k->list, count, k->listed);
    for (int64_t a = 0; a < count; a++) {
        const int64_t j = k->list[a];
        k->g[j] = k->listed[a];
        if (k->side[j] ? falling(k, j) > 0.0 : !k->aside[j] && closing(k, j, sign_of(k, j)) > 0.0)
            return j;
    }
    return -1;
}

/* As far as anybody can tell: by the size of A. */
static double progress(const fenp_walk *k)
{
    return (double)k->m / (double)(k->n < k->p ? k->n + 1 : k->p + 1);
}

/* A of the piece that begins here, and its d and g. Rounding errors could let two change sides
 * for ever: after many changes whoever leaves stays outside, as long as this goes on. */
static fen_status resolve(fenp_walk *k, const fenp_task *task, fen_error *err)
{
    const int64_t count = list_open(k);
    fen_status status = fenp_task_at(task, progress(k), err);
    int64_t changes = 0, j;
    while (status == FEN_OK && (j = first_wrong(k, count)) >= 0) {
        if (k->side[j] == 0) {
            status = fenp_walk_join(k, j, sign_of(k, j), err);
        } else {
            fenp_walk_leave(k, j);
            if (changes > 20 * (count + 1))
                k->aside[j] = 1;
            else
                fenp_walk_call_back(k);
        }
        changes++;
        if (status == FEN_OK) status = fenp_task_at(task, progress(k), err);
    }
    if (status != FEN_OK) return status;
    fenp_walk_correlate(k, k->r, NULL, k->p, k->g);
    if (changes > 0) settle(k);
    for (int64_t a = 0; a < count; a++) k->beta[k->list[a]] = 0.0;
    return FEN_OK;
}

/* ---- the path -------- */

typedef struct watch {
    int64_t most, seen;
    fenp_at_break visit;
    void *user;
} watch;

static fen_status tell(const fenp_walk *k, watch *to, int64_t feature, fen_error *err)
{
    const fenp_break at = { k->lambda, feature, feature >= 0 && k->side[feature] != 0, k->m };
    double b = k->mean;
    for (int64_t a = 0; k->of->bias && a < k->m; a++)
        b -= k->center[k->who[a]] * k->beta[k->who[a]];
    to->seen++;
    return to->visit ? to->visit(to->user, &at, k->beta, b, err) : FEN_OK;
}

/* Everybody who has changed sides. */
static fen_status tell_changes(const fenp_walk *k, watch *to, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t j = 0; j < k->p && status == FEN_OK && to->seen < to->most; j++)
        if ((k->side[j] != 0) != (k->was[j] != 0)) status = tell(k, to, j, err);
    return status;
}

/* Who is the first to meet a limit, and when; -1 and INFINITY: nobody. */
static int64_t next_of(const fenp_walk *k, double *time)
{
    int64_t first = -1;
    *time = INFINITY;
    for (int64_t j = 0; j < k->p; j++) {
        const double at = time_of(k, j);
        if (at < *time) *time = at, first = j;
    }
    return first;
}

static fen_status lost(const fenp_walk *k, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_DATA,
                     "the exact path is lost in rounding errors at lambda %.6g: columns depend on "
                     "each other; use another --engine",
                     k->lambda);
}

/* From k->lambda, with the columns at their bounds there, down to least. What is below a tiny
 * part of where it began has no breakpoints that rounding errors have not made. */
static fen_status descend(fenp_walk *k, double least, watch *to, const fenp_task *task,
                          fen_error *err)
{
    const double floor = fmax(least, 1e-13 * k->lambda);
    fen_status status = FEN_OK;
    int64_t stuck = 0;
    memset(k->open, 0, (size_t)k->p);
    while (status == FEN_OK && k->lambda > least) {
        memcpy(k->was, k->side, (size_t)k->p);
        status = resolve(k, task, err);
        if (status == FEN_OK) status = tell_changes(k, to, err);
        if (status != FEN_OK || to->seen >= to->most) return status;
        double time;
        const int64_t next = next_of(k, &time);
        stuck = time > 0.0 ? 0 : stuck + 1;
        if (stuck > 2 * k->p + 100) return lost(k, err);
        mark_due(k, time + TIE * k->lambda);
        if (k->lambda - time > floor) {
            move_to_limit(k, next, time);
        } else {
            move(k, k->lambda - least);
            k->lambda = least;
        }
    }
    return status == FEN_OK ? tell(k, to, -1, err) : status;
}

/* The least lambda with all coefficients that have a price 0. */
static double begin_at(const fenp_walk *k)
{
    double most = 0.0;
    for (int64_t j = 0; j < k->p; j++) {
        const double c = sign_of(k, j) * k->c[j];
        if (!k->aside[j] && !k->side[j] && fenp_walk_price(k, j) > 0.0 && c > noise_of(k, j))
            most = fmax(most, c / fenp_walk_price(k, j));
    }
    return most;
}

/* Columns without a price: least squares on them alone; if no coefficient may be negative, as
 * the end of such a path. */
static fen_status start(fenp_walk *k, const fenp_task *task, fen_error *err)
{
    watch nobody = { .most = INT64_MAX };
    fen_status status = FEN_OK;
    k->without = k->of->nonnegative;
    k->stale = RENEW;
    fenp_walk_call_back(k);
    settle(k);
    k->lambda = k->without ? begin_at(k) : 0.0;
    if (k->lambda > 0.0) status = descend(k, 0.0, &nobody, task, err);
    k->without = 0;
    for (int64_t j = 0; j < k->p && status == FEN_OK; j++)
        if (fenp_walk_is_free(k, j)) status = fenp_walk_join(k, j, 1, err);
    fenp_walk_call_back(k);
    for (int pass = 0; pass < 2; pass++) k->stale = RENEW, settle(k);
    return status;
}

fen_status fenp_homotopy(const fenp_linear *problem, double least, int64_t most,
                         fenp_at_break visit, void *user, const fenp_task *task, fen_error *err)
{
    fenp_walk k;
    watch to = { .most = most, .visit = visit, .user = user };
    fen_status status = fenp_walk_open(&k, problem, err);
    const int narrowed = fenp_threads_narrow(k.n * k.p / 64);
    if (status == FEN_OK) status = start(&k, task, err);
    if (status == FEN_OK) {
        k.lambda = fmax(begin_at(&k), least);
        status = descend(&k, least, &to, task, err);
    }
    fenp_threads_widen(narrowed);
    fenp_walk_close(&k);
    return status;
}
