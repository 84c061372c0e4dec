/* block_price.c -- a parameter of the loss that is left free at a price (nu), in the dual program
 *
 *     minimise over c   1/2 c'Kc - sum_i a_i c_i,    low_i <= c_i <= high_i,
 *     sum |c| = |price| / (2 lambda),  with bias: sum c = 0
 *
 * par is the multiplier of its price: nu-SVR (eps) and nu-SVC (hinge) are this one program, with
 * a = y and any signs of c there, with a = 0 and the signs of the labels here. With a bias both
 * sums say that the positive and the negative c, the two sides, have half of the price each.
 *
 * Method. Blocks as in block_dual.c, whose pairs and Newton steps keep the sums of both sides
 *   (FENP_SIDES): one solve, where a search for par would be ten. The best offset and par
 *   for the scores f are known at any time: with x = a - f on the positive side, f - a on the
 *   negative one, and half = |price| / 2, an edge A minimises
 *
 *     sum w max(0, x - A) + half A,    the x beyond which there is a weight of half,
 *
 *   of each side by itself; eps: A = e + b and e - b, hinge: A = b - rho and -b - rho. P is taken
 *   there, and D needs no par: the gap is that of the whole problem.
 * Start. What is there, brought to its price by the variables at no bound. From nothing: the rows
 *   that would lie beyond the edges of f = 0 (eps) or of a difference of means (hinge).
 *   Up to a few thousand rows pivots (pivot.h) take over where pairs become slow. They know no
 *   sides: par is given, and sought by Newton's method until the optimum pays the price.
 * Special cases. nu-SVR with a share nu of the rows outside even at e = 0 has sum |c| below its
 *   price: the edges cross, and the answer is left to a solve at par = 0. So are signs of both
 *   kinds without a bias, where sides may trade with each other, and labels that cannot pay.
 * Cost. That of one solve with par given, and a sort of the rows for each block. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "solver/block_parts.h"
#include "solver/factor.h"

enum { MEAN_ROWS = 1000 };          /* that means of classes are taken over           */
enum { SEEKS = 20, TURNS = 10 };    /* trial values of par; calls of pivots for one   */
static const double far = 8.0;      /* factor of par at once, at most                 */
static const double nothing = 1e-3; /* of the first par: then 0 is tried              */
static const double sharp = 1e-3;   /* of the first par: slopes for a sum of |c|      */
static const double poor = 0.3;     /* gap of an iterate that is no start for pivots  */

typedef struct market {
    fenp_block *s;
    const fenp_problem *problem;
    const fenp_price *price;
    double half;    /* of |c|, that each side pays: all of it where there is one    */
    double edge[2]; /* A of the positive side, of the negative one                  */
    double par;     /* by the edges: below 0 where they have crossed                */
    int none;       /* the optimum at par = 0 does not ask for the price            */
} market;

static double sign_of(int side) { return side == 0 ? 1.0 : -1.0; }

/* How far c_i may go on a side. */
static double bound_of(const fenp_qp *q, int64_t i, int side)
{
    return side == 0 ? fmax(q->high[i], 0.0) : fmax(-q->low[i], 0.0);
}

/* |c_i|, if it is on that side */
static double part_of(const fenp_qp *q, int64_t i, int side)
{
    return fmax(sign_of(side) * q->b[i], 0.0);
}

static int has_side(const fenp_qp *q, int side)
{
    int64_t i = 0;
    while (i < q->n && !(bound_of(q, i, side) > 0.0)) i++;
    return i < q->n;
}

/* ---- rows in order ------------------------------------------------------------------------ */

typedef struct ranked {
    double key;
    int64_t row;
} ranked;

static int larger_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->key != y->key) return x->key > y->key ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

/* a_i: the linear term at par = 0 */
static double linear_of(const market *m, int64_t i)
{
    const double none = 0.0;
    fen_piece v = { 0 };
    if (m->problem->sample->w[i] > 0.0)
        m->problem->loss->piece(m->problem->sample->y[i], &none, &v);
    return v.linear;
}

/* The rows that may be on a side, those first whose residuals are largest there. */
static int64_t order(const market *m, const double *f, int side, ranked *list)
{
    int64_t count = 0;
    for (int64_t i = 0; i < m->s->all.n; i++)
        if (bound_of(&m->s->all, i, side) > 0.0)
            list[count++] = (ranked){ sign_of(side) * (linear_of(m, i) - f[i]), i };
    qsort(list, (size_t)count, sizeof *list, larger_first);
    return count;
}

/* ---- the edges ---------------------------------------------------------------------------- */

/* The middle of those that are best, if several are. */
static double edge_of(const market *m, int side)
{
    ranked *list = (ranked *)m->s->rank;
    const int64_t count = order(m, m->s->f, side, list);
    const double rounding = 1e-9 * m->half;
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) {
        sum += bound_of(&m->s->all, list[k].row, side);
        if (sum > m->half + rounding || k + 1 == count) return list[k].key;
        if (sum >= m->half - rounding) return 0.5 * (list[k].key + list[k + 1].key);
    }
    return 0.0;
}

/* Kinks, linear terms and g of another par. */
static void set_par(const market *m, double par)
{
    fenp_block *s = m->s;
    const fenp_sample *sample = m->problem->sample;
    const double kink = fmax(par, DBL_MIN); /* 0 stays a kink */
    for (int64_t i = 0; i < s->all.n; i++) {
        fen_piece v = { 0 };
        if (sample->w[i] > 0.0) m->problem->loss->piece(sample->y[i], &kink, &v);
        s->all.g[i] += s->linear[i] - v.linear;
        s->linear[i] = v.linear, s->all.kink[i] = v.kink;
    }
}

/* The mean of the rows on an edge by their c; NAN: there are none. */
static double mean_edge(const market *m, int side)
{
    const fenp_qp *q = &m->s->all;
    double sum = 0.0, count = 0.0;
    for (int64_t i = 0; i < q->n; i++) {
        const double part = part_of(q, i, side), bound = bound_of(q, i, side);
        if (part > 1e-9 * bound && part < (1.0 - 1e-9) * bound)
            sum += sign_of(side) * (linear_of(m, i) - m->s->f[i]), count += 1.0;
    }
    return count > 0.0 ? sum / count : NAN;
}

/* Edges by edge, and par by them. */
static void retune(market *m, double (*edge)(const market *m, int side))
{
    for (int side = 0; side < 2; side++)
        m->edge[side] = has_side(&m->s->all, side) ? edge(m, side) : 0.0;
    m->par = (m->problem->bias ? 0.5 : 1.0) * (m->edge[0] + m->edge[1]);
    if (m->price->price < 0.0) m->par = -m->par;
    *m->price->par = fmax(m->par, 0.0);
    set_par(m, m->par);
}

/* (P - D) / |P| at f and the edges */
static double relative_gap(const market *m, double offset)
{
    const fenp_problem *problem = m->problem;
    const fenp_sample *sample = problem->sample;
    const fenp_qp *q = &m->s->all;
    const double none = 0.0, *par = m->price->par;
    double loss = m->price->price * *par, conj = 0.0, square = 0.0;
    for (int64_t i = 0; i < q->n; i++) {
        const double w = sample->w[i], y = sample->y[i];
        if (w == 0.0) continue;
        square += q->b[i] * m->s->f[i];
        loss += w * problem->loss->value(y, m->s->f[i] + offset, par);
        conj += w * problem->loss->conj(y, -2.0 * problem->lambda * q->b[i] / w, &none);
    }
    const double unit = fmax(fabs(loss + problem->lambda * square), m->price->least);
    const double gap = loss + conj + 2.0 * problem->lambda * square;
    return unit > 0.0 ? gap / unit : gap;
}

static void judge_by(market *m, double (*edge)(const market *m, int side), fenp_solution *out)
{
    retune(m, edge);
    out->offset[0] = m->problem->bias ? 0.5 * (m->edge[0] - m->edge[1]) : 0.0;
    out->gap[0] = relative_gap(m, out->offset[0]);
}

static void judge(market *m, fenp_solution *out) { judge_by(m, edge_of, out); }

/* An edge of edge_of goes through a row, whose decision would be left to rounding errors; the mean
 * of several does not. */
static void leave_rows(market *m, const fenp_problem *problem, fenp_solution *out)
{
    for (int side = 0; side < 2; side++)
        if (has_side(&m->s->all, side) && isnan(mean_edge(m, side))) return;
    if (!(out->gap[0] <= problem->gap)) return;
    judge_by(m, mean_edge, out);
    if (!(out->gap[0] <= problem->gap)) judge(m, out);
}

/* ---- the start ---------------------------------------------------------------------------- */

/* change <- what residuals are to be taken from: 0, or a difference of means over some rows. */
static fen_status first_scores(const market *m, fen_error *err)
{
    fenp_block *s = m->s;
    const fenp_sample *sample = m->problem->sample;
    const int64_t n = s->all.n, stride = n / MEAN_ROWS + 1;
    int64_t count = 0;
    double sum[2] = { 0.0, 0.0 };
    memset(s->change, 0, (size_t)n * sizeof(double));
    if (m->problem->loss->residual) return FEN_OK;
    for (int64_t i = 0; i < n; i += stride) sum[sample->y[i] < 0.0] += sample->w[i];
    for (int64_t i = 0; i < n && count < s->room; i += stride)
        if (sample->w[i] > 0.0)
            s->mover[count] = i,
            s->coef[count++] = sample->y[i] * sample->w[i] / sum[sample->y[i] < 0.0];
    return count > 0 ? fenp_values_times(&s->values, s->mover, s->coef, count, s->change, err)
                     : FEN_OK;
}

/* Those with the largest residuals pay all of it; 0: they cannot. */
static int fill(const market *m, int side)
{
    fenp_qp *q = &m->s->all;
    ranked *list = (ranked *)m->s->rank;
    const int64_t count = order(m, m->s->change, side, list);
    double left = m->half;
    for (int64_t i = 0; i < q->n; i++)
        if (part_of(q, i, side) > 0.0) q->b[i] = 0.0;
    for (int64_t k = 0; k < count && left > 0.0; k++) {
        const int64_t i = list[k].row;
        if (q->b[i] != 0.0) continue; /* it is on the other side */
        const double part = fmin(bound_of(q, i, side), left);
        q->b[i] = sign_of(side) * part;
        left -= part;
    }
    return left <= 1e-12 * m->half;
}

/* The price of a side by small changes of its variables, those at no bound; 0: not to be had. */
static int adjust(const market *m, int side)
{
    fenp_qp *q = &m->s->all;
    double now = 0.0, loose = 0.0, room = 0.0; /* loose: what those at no bound have */
    for (int64_t i = 0; i < q->n; i++) {
        const double part = part_of(q, i, side), bound = bound_of(q, i, side);
        now += part;
        room += part > 0.0 ? bound - part : 0.0;
        loose += part < bound ? part : 0.0;
    }
    const double more = m->half - now, share = more > 0.0 ? more / room : -more / loose;
    if (fabs(more) <= 1e-14 * m->half) return 1;
    if (!(share < 1.0)) return 0;
    for (int64_t i = 0; i < q->n; i++) {
        const double part = part_of(q, i, side), bound = bound_of(q, i, side);
        if (!(part > 0.0 && part < bound)) continue;
        const double to = more > 0.0 ? part + share * (bound - part) : part - share * part;
        q->b[i] = sign_of(side) * to;
    }
    return 1;
}

/* Both sides; *paid: they have. */
static fen_status pay(const market *m, int *paid, fen_error *err)
{
    const fenp_qp *q = &m->s->all;
    int filling = 0;
    fen_status status = FEN_OK;
    *paid = 1;
    for (int side = 0; side < 2 && status == FEN_OK; side++) {
        if (!has_side(q, side) || adjust(m, side)) continue;
        if (!filling) status = first_scores(m, err);
        filling = 1;
        if (status == FEN_OK && !fill(m, side)) *paid = 0;
    }
    return status;
}

/* Sides may not trade without a bias, and with one there must be two. */
static int is_for_sides(const market *m)
{
    const int both = has_side(&m->s->all, 0) + has_side(&m->s->all, 1);
    return both == (m->problem->bias ? 2 : 1);
}

/* ---- pivots -------------------------------------------------------------------------------- */

/* How sum |c| of the optimum changes with par, from the factor of its free variables; 0: there is
 * none. */
static double pull_of(const market *m, const fenp_pivot_room *room)
{
    const fenp_qp *q = &m->s->all;
    const int64_t f = room->kept, n = q->n;
    double *x = m->s->work, *ones = x + n, along = 0.0, unit = 0.0, pull = 0.0;
    for (int64_t r = 0; r < f; r++) x[r] = q->b[room->who[r]] > 0.0 ? 1.0 : -1.0, ones[r] = 1.0;
    fenp_factor_solve(room->factor, n, f, x);
    fenp_factor_solve(room->factor, n, f, ones);
    for (int64_t r = 0; r < f; r++) along += x[r], unit += ones[r];
    for (int64_t r = 0; r < f; r++) {
        const double change = x[r] - (m->problem->bias ? along / unit * ones[r] : 0.0);
        pull += q->b[room->who[r]] > 0.0 ? change : -change;
    }
    return f > 0 && isfinite(pull) ? -m->problem->loss->price * pull : 0.0;
}

/* Newton's step for log(sum |c|) as a function of log(par): of powers it is exact. */
static double newton(double par, double wanted, double paid, double pull)
{
    const double power = pull * par / paid, to = par * exp(log(wanted / paid) / power);
    return paid > 0.0 && par > 0.0 && isfinite(to) ? to : par + (wanted - paid) / pull;
}

/* Where the edges have crossed for want of accuracy: par sum |c| is c'Kc and what rows beyond the
 * edges have in excess. */
static double first_par(const market *m)
{
    const fenp_qp *q = &m->s->all;
    double square = 0.0, sum = 0.0;
    if (m->par > 0.0) return m->par;
    for (int64_t i = 0; i < q->n; i++) square += q->b[i] * m->s->f[i], sum += fabs(q->b[i]);
    return sum > 0.0 ? fabs(square) / sum : 0.0;
}

/* Pivots until slopes are as good as goal, or no better. */
static fen_status pivot_fully(market *m, fenp_pivot_room *room, double goal, const fenp_task *task,
                              fen_error *err)
{
    fenp_block *s = m->s;
    fen_status status = FEN_OK;
    int moved = 1;
    for (int turn = 0; turn < TURNS && moved && status == FEN_OK; turn++) {
        const double violation = fenp_qp_violation(&s->all);
        if (turn > 0 && violation <= goal) break;
        status = fenp_block_pivots(s, fmin(goal, 0.01 * violation), room, &moved, task, err);
    }
    return status;
}

/* What is known of the par that is sought. */
typedef struct bracket {
    double par, start;
    double low, high; /* it lies between; low < 0: nothing is known to be below it   */
    double lack;      /* |what is lacking| at the last par                           */
} bracket;

/* The next par after one whose optimum lacks more of |c|. */
static double next_par(const market *m, bracket *k, double wanted, double more, double pull)
{
    const int up = (more > 0.0) == (m->price->price < 0.0);
    *(up ? &k->low : &k->high) = k->par;
    double next = pull != 0.0 ? newton(k->par, wanted, wanted - more, pull) : NAN;
    if (!(next > k->low && next < k->high))
        next = isinf(k->high)  ? far * k->par
               : k->low >= 0.0 ? 0.5 * (k->low + k->high)
                               : k->par / far;
    if (k->par > 0.0) next = fmin(fmax(next, k->par / far), k->par * far);
    return k->low < 0.0 && next < nothing * k->start && m->price->price > 0.0 ? 0.0 : next;
}

/* The par at which the optimum pays the price: sum |c| is piecewise linear and monotone in par, and
 * each optimum is a few pivots from the one before. *found: as near as rounding errors allow. */
static fen_status seek(market *m, double start, int *found, const fenp_task *task, fen_error *err)
{
    fenp_block *s = m->s;
    fenp_pivot_room room = fenp_block_pivot_room(s);
    const double wanted = m->problem->bias ? 2.0 * m->half : m->half;
    const double enough = 0.01 * m->problem->gap * wanted, all = 1e-13 * wanted;
    bracket k = { .par = start, .start = start, .low = -1.0, .high = INFINITY, .lack = INFINITY };
    fen_status status = FEN_OK;
    for (int step = 0; step < SEEKS; step++) {
        status = pivot_fully(m, &room, sharp * start, task, err);
        if (status != FEN_OK) break;
        const double more = wanted - cblas_dasum((int)s->all.n, s->all.b, 1), lack = fabs(more);
        m->none = k.par == 0.0 && more >= 0.0 && m->price->price > 0.0;
        *found = m->none || lack <= all || (lack <= enough && lack > 0.25 * k.lack);
        k.lack = lack;
        const double next = next_par(m, &k, wanted, more, pull_of(m, &room));
        if (*found || next == k.par) break;
        k.par = next;
        set_par(m, next);
    }
    return status;
}

/* Pairs from c = 0 on. */
static fen_status begin_anew(market *m, fen_error *err)
{
    fenp_block *s = m->s;
    int moved;
    memset(s->all.b, 0, (size_t)s->all.n * sizeof(double));
    fenp_block_refresh(s);
    return fenp_block_step(s, &moved, err);
}

/* Seeks, from nothing where the iterate of a tube is worth nothing. b pays exactly afterwards, or
 * is what it was. */
static fen_status seek_and_pay(market *m, double gap, int *found, const fenp_task *task,
                               fen_error *err)
{
    fenp_block *s = m->s;
    fenp_qp *q = &s->all;
    double *before = s->rank;
    int paid = 1;
    *found = 0;
    fen_status status = fenp_block_whole(s, m->problem, task, err);
    if (status != FEN_OK) return status;
    const double start = first_par(m);
    memcpy(before, q->b, (size_t)q->n * sizeof(double));
    q->balanced = m->problem->bias ? FENP_SUM : FENP_ALONE;
    set_par(m, start);
    if (m->price->price > 0.0 && gap > poor) status = begin_anew(m, err);
    if (status == FEN_OK) status = seek(m, start, found, task, err);
    q->balanced = FENP_SIDES;
    for (int side = 0; side < 2 && !m->none; side++)
        if (has_side(q, side) && !adjust(m, side)) paid = 0;
    if (!paid) memcpy(q->b, before, (size_t)q->n * sizeof(double));
    fenp_block_refresh(s);
    return status;
}

/* ---- the sweep ---------------------------------------------------------------------------- */

/* The multiplier of a side: between what those say who may rise and those who may fall. */
static double level_of(const fenp_qp *q, int side)
{
    double rise = -INFINITY, fall = INFINITY;
    for (int64_t i = 0; i < q->n; i++) {
        if ((q->b[i] < 0.0) == side) rise = fmax(rise, fenp_qp_rise(q, i));
        if ((q->b[i] <= 0.0) == side) fall = fmin(fall, fenp_qp_fall(q, i));
    }
    return isinf(rise) ? fall : isinf(fall) ? rise : 0.5 * (rise + fall);
}

/* A parameter that costs would have to be negative, by more than what is left to be done could
 * mend: the price is not met at par = 0. Then that is the answer. */
static int par_is_none(const market *m)
{
    const fenp_qp *q = &m->s->all;
    if (m->price->price < 0.0 || m->none) return m->none;
    const double par = fmax(m->par, 0.0) + 0.5 * (level_of(q, 0) - level_of(q, 1));
    return -par > fmax(fenp_qp_violation(q), 0.0);
}

fen_status fenp_block_priced(void *work, const fenp_problem *problem, const fenp_price *price,
                             fenp_solution *out, const fenp_task *task, fen_error *err)
{
    fenp_block *s = work;
    market m = { .s = s, .problem = problem, .price = price };
    int moved = 1, paid = 0;
    m.half = fabs(price->price) / (2.0 * problem->lambda) * (problem->bias ? 0.5 : 1.0);
    out->gap[0] = INFINITY;
    fenp_block_pieces(s, problem, out->dual);
    if (!is_for_sides(&m)) return FEN_OK;
    fen_status status = pay(&m, &paid, err);
    if (status != FEN_OK || !paid) return status;
    s->all.balanced = FENP_SIDES;
    status = fenp_block_scores(s, problem, out->dual, err);
    s->passes = 0;
    s->face.damp = 0.01;
    s->pivoting = s->whole != NULL;
    for (int pass = 0; status == FEN_OK; pass++) {
        judge(&m, out);
        if (out->gap[0] <= problem->gap || pass == FENP_BLOCK_PASSES || !moved) break;
        if (par_is_none(&m)) {
            *price->par = 0.0;
            break;
        }
        status = fenp_task_at(task, (double)pass / FENP_BLOCK_PASSES, err);
        if (status == FEN_OK) status = fenp_block_step(s, &moved, err);
        if (status == FEN_OK && s->pivoting && s->slow) {
            judge(&m, out);
            status = seek_and_pay(&m, out->gap[0], &s->pivoting, task, err);
        }
    }
    if (status != FEN_OK) judge(&m, out); /* ended between a block and its judgement */
    if (!m.none) leave_rows(&m, problem, out);
    fenp_block_report(s, problem, out);
    return status;
}
