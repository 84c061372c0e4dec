/* platt.c -- probabilities from scores
 *
 *     p(s) = 1/(1 + exp(A s + B)),   least over A, B of  - sum w (t log p + (1-t) log(1-p)),
 *     t = (N+ + 1)/(N+ + 2) where y = +1,  1/(N- + 2) where y = -1   (N: sums of weights)
 *
 * Method: with q = A s + B a row costs log(1 + e^q) - (1-t) q, slope t - p, curvature p (1-p):
 *   Newton with step halving, in scores of mean 0 and deviation 1, so that their unit does
 *   not matter. Targets inside (0, 1) keep the minimum finite where scores separate the labels.
 * Special cases: equal scores: A = 0. Logarithms by log1p of exp(-|q|): no overflow.
 * Accuracy: gradient below 1e-12 of the sum of weights.
 *
 * Pairs: p least of  sum over i != j of (r_ji p_i - r_ij p_j)^2,  sum p = 1  (Wu, Lin, Weng:
 *   J. Mach. Learn. Res. 5, 2004, section 4.2). Its optimality is (Q p)_t = p'Qp for all t,
 *   Q_tt = sum r_jt^2, Q_tj = -r_jt r_tj; one p_t after another is set to satisfy it and all
 *   are divided by their sum. Converges for every r in (0, 1).
 * Cost: n per step and some 10 steps; classes^2 per round. */
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "promise/platt.h"

enum { MOST_STEPS = 100, MOST_HALVINGS = 60 };

/* ---- the sigmoid of one output --------------------------------------------------------- */

typedef struct rows {
    const double *scores, *y, *w;
    int64_t n;
    double mean, deviation; /* of the scores                     */
    double target[2];       /* of -1 and of +1                   */
    double weight;          /* of all rows that take part        */
} rows;

static double weight_of(const rows *r, int64_t i)
{
    return r->y[i] == 0.0 ? 0.0 : r->w ? r->w[i] : 1.0;
}

static double target_of(const rows *r, int64_t i) { return r->target[r->y[i] > 0.0]; }

static double centred(const rows *r, int64_t i) { return (r->scores[i] - r->mean) / r->deviation; }

static fen_status look(rows *r, fen_error *err)
{
    double of_sign[2] = { 0.0, 0.0 }, sum = 0.0, square = 0.0;
    for (int64_t i = 0; i < r->n; i++) {
        if (weight_of(r, i) == 0.0) continue;
        of_sign[r->y[i] > 0.0] += weight_of(r, i);
        sum += weight_of(r, i) * r->scores[i];
    }
    r->weight = of_sign[0] + of_sign[1];
    r->mean = sum / r->weight;
    if (!isfinite(r->mean))
        return fenp_fail(err, FEN_BAD_DATA, "no probabilities: a score is not a number");
    for (int64_t i = 0; i < r->n; i++)
        if (weight_of(r, i) != 0.0)
            square += weight_of(r, i) * (r->scores[i] - r->mean) * (r->scores[i] - r->mean);
    r->deviation = sqrt(square / r->weight);
    r->target[0] = 1.0 / (of_sign[0] + 2.0);
    r->target[1] = (of_sign[1] + 1.0) / (of_sign[1] + 2.0);
    return FEN_OK;
}

/* log(1 + e^q) - (1-t) q */
static double cost(double q, double t)
{
    return log1p(exp(-fabs(q))) + (q >= 0.0 ? t * q : (t - 1.0) * q);
}

static double total(const rows *r, const double at[2])
{
    double sum = 0.0;
    for (int64_t i = 0; i < r->n; i++)
        if (weight_of(r, i) != 0.0)
            sum += weight_of(r, i) * cost(at[0] * centred(r, i) + at[1], target_of(r, i));
    return sum;
}

/* Gradient, and Newton's step; returns the size of the gradient. */
static double newton(const rows *r, const double at[2], double gradient[2], double step[2])
{
    double g0 = 0.0, g1 = 0.0, h00 = 0.0, h01 = 0.0, h11 = 0.0;
    for (int64_t i = 0; i < r->n; i++) {
        const double w = weight_of(r, i);
        if (w == 0.0) continue;
        const double s = centred(r, i), p = fenp_platt_value(at, s);
        const double slope = w * (target_of(r, i) - p), bend = w * p * (1.0 - p);
        g0 += slope * s, g1 += slope;
        h00 += bend * s * s, h01 += bend * s, h11 += bend;
    }
    const double ridge = 1e-12 * r->weight; /* far out all curvatures vanish */
    h00 += ridge, h11 += ridge;
    const double det = h00 * h11 - h01 * h01;
    step[0] = -(h11 * g0 - h01 * g1) / det;
    step[1] = -(h00 * g1 - h01 * g0) / det;
    gradient[0] = g0, gradient[1] = g1;
    return fmax(fabs(g0), fabs(g1));
}

static void descend(const rows *r, double at[2])
{
    double value = total(r, at);
    for (int i = 0; i < MOST_STEPS; i++) {
        double gradient[2], step[2];
        if (newton(r, at, gradient, step) <= 1e-12 * r->weight) return;
        const double slope = gradient[0] * step[0] + gradient[1] * step[1];
        double length = 1.0;
        int halvings = 0;
        for (; halvings < MOST_HALVINGS; halvings++, length *= 0.5) {
            const double next[2] = { at[0] + length * step[0], at[1] + length * step[1] };
            const double there = total(r, next);
            if (!(there <= value + 1e-4 * length * slope)) continue;
            at[0] = next[0], at[1] = next[1];
            value = there;
            break;
        }
        if (halvings == MOST_HALVINGS) return; /* rounding errors of the sum */
    }
}

fen_status fenp_platt_fit(const double *scores, const double *y, const double *w, int64_t n,
                          double sigmoid[2], fen_error *err)
{
    rows r = { .scores = scores, .y = y, .w = w, .n = n };
    const fen_status status = look(&r, err);
    if (status != FEN_OK) return status;
    const int flat = !(r.deviation > 1e-14 * fabs(r.mean));
    if (flat) r.deviation = INFINITY; /* every centred score is 0 */
    double at[2] = { 0.0, 0.0 };
    descend(&r, at);
    sigmoid[0] = flat ? 0.0 : at[0] / r.deviation;
    sigmoid[1] = flat ? at[1] : at[1] - at[0] * (r.mean / r.deviation);
    return FEN_OK;
}

double fenp_platt_value(const double sigmoid[2], double score)
{
    const double q = sigmoid[0] * score + sigmoid[1];
    return q >= 0.0 ? exp(-q) / (1.0 + exp(-q)) : 1.0 / (1.0 + exp(q));
}

/* ---- pairs ------------------------------------------------------------------------------- */

static void fill(int64_t k, const double *pair, double *q)
{
    memset(q, 0, (size_t)(k * k) * sizeof *q);
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < k; j++) {
            if (j == t) continue;
            q[t * k + t] += pair[j * k + t] * pair[j * k + t];
            q[t * k + j] = -pair[j * k + t] * pair[t * k + j];
        }
}

/* Q p, and p'Qp. */
static double product(int64_t k, const double *q, const double *p, double *qp)
{
    double sum = 0.0;
    for (int64_t t = 0; t < k; t++) {
        qp[t] = 0.0;
        for (int64_t j = 0; j < k; j++) qp[t] += q[t * k + j] * p[j];
        sum += p[t] * qp[t];
    }
    return sum;
}

/* p_t moves by change, then everything is divided by the sum, which is 1 + change. */
static double move(int64_t k, const double *q, int64_t t, double value, double *qp, double *p)
{
    const double change = (value - qp[t]) / q[t * k + t], sum = 1.0 + change;
    value = (value + change * (change * q[t * k + t] + 2.0 * qp[t])) / (sum * sum);
    p[t] += change;
    for (int64_t j = 0; j < k; j++) {
        qp[j] = (qp[j] + change * q[t * k + j]) / sum;
        p[j] /= sum;
    }
    return value;
}

void fenp_couple(int64_t classes, const double *pair, double tolerance, double *work, double *p)
{
    const int64_t k = classes, most = k > 100 ? k : 100;
    double *q = work, *qp = work + k * k;
    fill(k, pair, q);
    for (int64_t t = 0; t < k; t++) p[t] = 1.0 / (double)k;
    for (int64_t round = 0; round < most; round++) {
        double value = product(k, q, p, qp), worst = 0.0;
        for (int64_t t = 0; t < k; t++) worst = fmax(worst, fabs(qp[t] - value));
        if (worst < tolerance) return;
        for (int64_t t = 0; t < k; t++) value = move(k, q, t, value, qp, p);
    }
}
