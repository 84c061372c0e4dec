/* certify_distance.c -- penalty lp: how far the model is from the optimum, at most
 *
 * w, b, t_i = f(x_i) + b: of the model; with a star: of any optimum (w* is the only one, b* need
 * not be). G = P - D >= P - P*, delta = |w - w*|_p, k_i = |phi(x_i)|_q, N = |w|_p,
 * R(w) = |w|_p^p, v_i = loss(y_i, .), and z the feasible dual vector by which D is a bound.
 *
 * norm   P is convex plus lambda R, and least at the star: G / lambda is at least R(w) less the
 *        tangent of R at w*, which is at least p (p-1)/2 sum_k m_k^(p-2) (w_k - w*_k)^2,
 *        m_k = max(|w_k|, |w*_k|): |s|^p has the second derivative p (p-1) |s|^(p-2), which falls
 *        with |s|. Hoelder: delta^2 <= (sum m^(p-2) (w - w*)^2) |m|_p^(2-p), and
 *        |m|_p <= N + delta. So delta is at most the root of delta^2 = c (N + delta)^(2-p),
 *        c = 2 G / (lambda p (p-1)).
 * f      |f(x) - f*(x)| <= delta |phi(x)|_q in any row: Hoelder once more.
 * rows   P(w, b) - D(z) = sum_i w_i gap_i(t_i) + (something >= 0) for any w and b,
 *        gap_i(t) = v_i(t) + v_i*(-z_i) + z_i t >= 0: at the star each w_i gap_i(t*_i), and their
 *        sum, is at most G. The gaps are convex: t*_i lies in an interval, as t_i does. Square
 *        loss: P - P* >= sum_i w_i (t_i - t*_i)^2 as well.
 * bias   t*_i is within e_i = delta k_i of f(x_i) + b*: sum_i w_i min gap_i over that is at most G.
 *        The sum is convex in b*, which lies in an interval, as b does. Square loss: the weighted
 *        means of t - t* and of f - f* give |b - b*| <= sqrt(G / W) + delta sum w_i k_i / W as
 *        well, W = sum w.
 * Each is the least of what there is to say. A bias that no row holds on one side: INFINITY.
 *
 * Accuracy: G includes what P and D may lose by rounding, the e_i what f does, rows in the end what
 *   predictions do (fenp_prediction_rounding); ends of intervals are outer ones, to a thousandth.
 *   Where D comes out above P the difference counts as an error of its size.
 * Cost: some 40 times n losses, and as many times again for the few rows that can be the worst. */
#include <float.h>
#include <math.h>

#include "certify.h"
#include "loss/traits.h"

static const double ABOVE = 1.0 + 1e-9; /* roots and powers, rounded up */

typedef struct state {
    const fenp_claim *c;
    double bias;  /* b, less the shift                                                     */
    double gap;   /* P - D at most, by the best multiple of z                              */
    double level; /* and by z itself                                                       */
    double delta; /* |w - w*|_p                                                            */
    double side;  /* to which it is looked: -1, 1                                          */
    int64_t row;  /* of which                                                              */
} state;

/* ---- rounding ----------------------------------------------------------------------------- */

static double label_of(const fenp_claim *c, int64_t i) { return c->y[i] - c->shift; }

/* What f(x_i) may be off by in the certificate. */
static double slack_of(const state *s, int64_t i)
{
    const fenp_claim *c = s->c;
    const double sum = c->norm > 0.0 ? c->norm * c->size[i] : 0.0;
    return (c->slack ? c->slack[i] : 0.0) + 64.0 * DBL_EPSILON * (sum + fabs(s->bias));
}

/* What a loss and its conjugate are made of, to a factor: `wide` is the size of the scores. */
static double size_at(const fenp_claim *c, int64_t i, double t, double wide)
{
    const double y = label_of(c, i), z = c->z[i];
    double low, high;
    c->loss->slopes(y, t, c->par, &low, &high);
    return fabs(c->loss->value(y, t, c->par)) + fabs(c->loss->conj(y, -z, c->dual_par)) +
           (fabs(z) + fmax(fabs(low), fabs(high))) * (fabs(y) + wide + fabs(c->par[0]));
}

/* By how much P - D may be wrong: powers of norms go by logarithms (penalty/powers.h); losses and
 * |w|_p^p may underflow. */
static double rounding_of(const state *s)
{
    const fenp_claim *c = s->c;
    const double q = c->power / (c->power - 1.0), many = 16.0 + (double)c->n / 1024.0;
    const double logs = c->dual_norm > 0.0 ? fabs(log(c->dual_norm)) + fabs(log(c->lambda)) : 0.0;
    const double lost = c->norm > 0.0 ? c->lambda : 0.0;
    long double sum = 0.0L, weight = 0.0L;
    for (int64_t i = 0; i < c->n; i++) {
        if (c->w[i] == 0.0) continue;
        sum += (long double)c->w[i] * many *
               size_at(c, i, c->f[i] + s->bias, fabs(c->f[i]) + fabs(s->bias));
        weight += c->w[i];
    }
    sum += (long double)(16.0 + 4.0 * q * (logs + 1.0)) *
           (c->lambda * c->penalty->value(c->norm, c->power) +
            c->penalty->conj(c->dual_norm, c->lambda, c->power));
    return (double)(DBL_EPSILON * sum + DBL_TRUE_MIN * (64.0L * weight + lost));
}

/* ---- the norm ------------------------------------------------------------------------------ */

/* The root, from above: the right side grows with delta, and slower than delta. A root beyond N is
 * at most that of delta^2 = c (2 delta)^(2-p). sqrt(c), as G / lambda need be no double. */
static double norm_distance(const state *s)
{
    const double p = s->c->power, norm = s->c->norm;
    const double root = ABOVE * sqrt(2.0 * s->gap / (p * (p - 1.0))) / sqrt(s->c->lambda);
    double delta = fmax(norm, pow(root * pow(2.0, 1.0 - 0.5 * p), 2.0 / p));
    for (int step = 0; step < 100 && delta < INFINITY; step++)
        delta = fmin(delta, root * pow(norm + delta, 1.0 - 0.5 * p));
    return delta;
}

/* e_i, and what f may be off by. */
static double score_distance(const state *s, int64_t i)
{
    const double size = s->c->size[i];
    return (s->delta > 0.0 && size > 0.0 ? s->delta * size : 0.0) + slack_of(s, i);
}

/* ---- intervals ----------------------------------------------------------------------------- */

/* gap_i(t), at least; 0 where rounding leaves nothing of it */
static double gap_at(const state *s, int64_t i, double t, double wide)
{
    const fenp_claim *c = s->c;
    const double y = label_of(c, i), z = c->z[i];
    const double gap = c->loss->value(y, t, c->par) + c->loss->conj(y, -z, c->dual_par) + z * t;
    const double sure = gap - 16.0 * DBL_EPSILON * size_at(c, i, t, fabs(t) + wide);
    return sure > 0.0 ? sure : 0.0;
}

/* Least gap_i within e of t: at an end, or 0 at a least value between. */
static double least_gap(const state *s, int64_t i, double t, double e)
{
    const fenp_claim *c = s->c;
    const double y = label_of(c, i), z = c->z[i];
    double low, high;
    c->loss->slopes(y, t - e, c->par, &low, &high);
    if (high + z >= 0.0) return gap_at(s, i, t - e, e);
    c->loss->slopes(y, t + e, c->par, &low, &high);
    return low + z <= 0.0 ? gap_at(s, i, t + e, e) : 0.0;
}

/* Is b* known not to be `h` away? */
static int bias_is_beyond(const state *s, double h)
{
    const fenp_claim *c = s->c;
    long double sum = 0.0L;
    for (int64_t i = 0; i < c->n && !(sum > s->level); i++)
        if (c->w[i] > 0.0)
            sum += (long double)c->w[i] *
                   least_gap(s, i, c->f[i] + (s->bias + s->side * h), score_distance(s, i));
    return sum > s->level;
}

/* The same of t*_i. */
static int row_is_beyond(const state *s, double h)
{
    const double t = s->c->f[s->row] + s->bias, w = s->c->w[s->row];
    return w > 0.0 && w * gap_at(s, s->row, t + s->side * h, fabs(t)) > s->level * ABOVE;
}

/* An h > near that is beyond, to a thousandth the least of them; `most`: none up to that. What the
 * model has is no farther than near: beyond an h that is beyond all are. */
static double end_of(int (*is_beyond)(const state *, double), const state *s, double near,
                     double start, double most)
{
    double far = fmin(fmax(start, near), most);
    while (!is_beyond(s, far)) {
        if (far >= most) return most;
        near = far, far = fmin(64.0 * far, most);
    }
    for (int step = 0; step < 40 && far - near > 1e-3 * far; step++) {
        const double middle = 0.5 * near + 0.5 * far;
        if (is_beyond(s, middle))
            far = middle;
        else
            near = middle;
    }
    return far;
}

/* ---- bias and scores ------------------------------------------------------------------------ */

static double bias_by_means(const state *s)
{
    const fenp_claim *c = s->c;
    long double sum = 0.0L, weight = 0.0L;
    for (int64_t i = 0; i < c->n; i++)
        if (c->w[i] > 0.0) sum += (long double)c->w[i] * score_distance(s, i), weight += c->w[i];
    return ABOVE * (double)(sqrtl(s->gap / weight) + sum / weight);
}

static double bias_distance(state *s)
{
    const fenp_claim *c = s->c;
    double worst = 0.0, start = 0.0;
    if (!c->bias) return 0.0;
    for (int64_t i = 0; i < c->n; i++)
        start = fmax(start, fmax(score_distance(s, i), 1e-12 * fabs(label_of(c, i))));
    start = fmax(start, DBL_MIN);
    const double most = fenp_is_square(c->loss) ? bias_by_means(s) : INFINITY;
    for (s->side = -1.0; s->side <= 1.0; s->side += 2.0)
        worst = fmax(worst, end_of(bias_is_beyond, s, 0.0, start, most));
    return worst;
}

/* Is t*_i known to be within h of t_i as computed? */
static int is_within(state *s, double h)
{
    int within = h >= slack_of(s, s->row);
    for (s->side = -1.0; within && s->side <= 1.0; s->side += 2.0) within = row_is_beyond(s, h);
    return within;
}

/* What predictions of the rows may be off by: features, and the bias. */
static double prediction_slack(const fenp_claim *c)
{
    double most = 0.0;
    for (int64_t i = 0; i < c->n; i++) most = fmax(most, c->size[i]);
    const double slack = most > 0.0 ? most * c->predicting : 0.0;
    return slack >= 0.0 ? slack + 4.0 * DBL_EPSILON * fabs(c->offset) : INFINITY; /* NaN */
}

/* The largest over all rows. Rows that do not beat it so far need no search. */
static double largest_distance(state *s, double bias)
{
    const fenp_claim *c = s->c;
    const int square = fenp_is_square(c->loss);
    double worst = 0.0;
    for (int64_t i = 0; i < c->n; i++) {
        const double slack = slack_of(s, i);
        double most = score_distance(s, i) + bias, own = 0.0;
        s->row = i;
        if (square && c->w[i] > 0.0)
            most = fmin(most, ABOVE * sqrt(s->gap / c->w[i]) + 2.0 * slack);
        if (most <= worst || is_within(s, worst - slack)) continue;
        const double start = most < INFINITY ? most : fmax(worst, DBL_MIN);
        for (s->side = -1.0; s->side <= 1.0; s->side += 2.0)
            own = fmax(own, end_of(row_is_beyond, s, slack, start, most));
        worst = fmax(worst, fmin(most, own + slack));
    }
    return (1.0 + 4.0 * DBL_EPSILON) * worst + prediction_slack(c);
}

void fenp_claim_distance(const fenp_claim *c, double dual, fen_certificate *out)
{
    state s = { .c = c, .bias = c->offset - c->shift };
    const double own =
        fenp_claim_minus_conjugates(c, 1.0) - c->penalty->conj(c->dual_norm, c->lambda, c->power);
    const double rounding = rounding_of(&s);
    s.gap = fmax(out->gap, fabs(out->primal - dual)) + rounding;
    s.level = isnan(own) ? INFINITY : fmax(s.gap, out->primal - own + rounding);
    out->norm_distance = out->bias_distance = out->optimum_distance = INFINITY;
    if (!(s.gap < INFINITY)) return; /* or is NaN */
    s.delta = out->norm_distance = norm_distance(&s);
    out->bias_distance = bias_distance(&s);
    out->optimum_distance = largest_distance(&s, out->bias_distance);
}
