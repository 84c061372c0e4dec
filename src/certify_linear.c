/* certify_linear.c -- is this model optimal? Penalties on coefficients, from the definition
 *
 *     P = sum_i w_i loss(y_i, t_i) + lambda sum_g a_g value(||beta_g||),   t = X beta + b
 *     D = - sum_i w_i loss*(y_i, -z_i) - sum_g (lambda a_g value)*(||x_g'u||),   u = w z,
 *         for sum u = 0 (bias) and x_j'u = 0 (coefficients without a penalty)
 *
 * beta >= 0: the positive part of x_j'u takes its place, and x_j'u <= 0 that of x_j'u = 0.
 * group:targets: X is block diagonal, one block of it is kept, u and beta are those of all
 * targets, and the one certificate of them is written into each; the losses beside it are those of
 * each target.
 *
 * D <= least possible P <= P whoever computed beta and u; nothing here knows a solver. u is
 * made feasible first: orthogonal to the columns without a penalty (certify_linear_dual.c), then
 * shrunk by the t in [0, 1] with the largest D(t u), where conjugates are infinite beyond a
 * bound (l1, groups) no further than ||x_g'u|| <= lambda a_g allows. Where that proves nothing,
 * x_j'u of the coefficients that are not 0 is first made what their penalty wants, if a QR of
 * their columns can be afforded: at a tiny lambda the rounding errors of a stored u are many times
 * lambda. Losses with corners: z_i of rows that are clear of corners is then tried as their slope.
 * Special cases: u = 0 is always feasible and stands in for a u that is not.
 * Accuracy: u and sums of it are long double. Weak duality knows no rounding: if x_j'u is not 0 but
 *   1e-10, coefficients of 1e10 may be better than D by 1. So the only errors let pass in x_j'u are
 *   those that inputs have anyway: 2^-53 sum_i |x_ij u_i| (see fenp_claim_rounding). What D bounds
 *   then is the objective of inputs X~ that agree with X to the last digit; there P of the model
 *   is another one by sum_j |beta_j| times what was let pass (to first order), and D loses that.
 * Cost: one product with X and one with X', and QR of the columns without a penalty. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "certify_linear.h"

/* ---- P ----------------------------------------------------------------------------------- */

/* sum_g a_g value(||beta_g||) */
static double penalty_of(const fenp_joint *c)
{
    const fen_model *m = c->m;
    long double sum = 0.0L;
    for (int64_t g = 0; g < m->groups.count; g++)
        sum += (long double)fenp_joint_weight(m, g) *
               m->penalty->value(fenp_joint_norm(&m->groups, g, c->beta, 0), m->mix);
    return (double)sum;
}

/* Signs of coefficients. */
static int is_allowed(const fenp_joint *c)
{
    for (int64_t j = 0; c->m->nonnegative && j < c->copies * c->p; j++)
        if (c->beta[j] < 0.0) return 0;
    return 1;
}

/* ---- D ----------------------------------------------------------------------------------- */

/* Conjugates that are 0 up to a bound and infinite beyond it. */
static int is_bounded(const fen_model *m) { return m->penalty->conj(2.0, 1.0, m->mix) == INFINITY; }

/* D(t u) for t within the bounds. */
static double dual_value(const void *state, double t)
{
    const fenp_joint *c = state;
    const fen_model *m = c->m;
    long double sum = -(long double)t * (c->remainder + c->passed);
    for (int64_t k = 0; k < c->copies; k++) sum += fenp_claim_minus_conjugates(&c->one[k], t);
    for (int64_t g = 0; !is_bounded(m) && g < m->groups.count; g++) {
        const double weight = fenp_joint_weight(m, g);
        if (weight > 0.0) sum -= m->penalty->conj(t * c->pull[g], m->lambda * weight, m->mix);
    }
    return (double)sum;
}

/* What rounding errors of X are in ||x_g'u||, and the least that it may be for them. */
typedef struct slack {
    double noise, least;
} slack;

static fen_status find_slack(const fenp_joint *c, int64_t g, slack *out, fen_error *err)
{
    const fenp_groups *groups = &c->m->groups;
    fen_status status = FEN_OK;
    long double noise = 0.0L, least = 0.0L;
    for (int64_t i = 0; status == FEN_OK && i < fenp_group_size(groups, g); i++) {
        const int64_t j = fenp_group_member(groups, g, i);
        double rounding;
        status = fenp_joint_rounding(c, j / c->p, j % c->p, &rounding, err);
        const double kept = c->m->nonnegative ? c->g[j] - rounding : fabs(c->g[j]) - rounding;
        noise += (long double)rounding * rounding;
        if (kept > 0.0) least += (long double)kept * kept;
    }
    *out = (slack){ (double)sqrtl(noise), (double)sqrtl(least) };
    return status;
}

/* ||x_g'u||; lenient: less what may be let pass where there is a bound and it is above. */
static fen_status find_pulls(fenp_joint *c, fen_error *err)
{
    const fen_model *m = c->m;
    fen_status status = FEN_OK;
    c->noise = c->strongest = c->passed = 0.0;
    for (int64_t g = 0; status == FEN_OK && g < m->groups.count; g++) {
        const double weight = fenp_joint_weight(m, g),
                     pull = fenp_joint_norm(&m->groups, g, c->g, m->nonnegative);
        const double bound = is_bounded(m) ? m->lambda * weight : INFINITY;
        slack of = { 0.0, 0.0 };
        c->pull[g] = pull;
        const int above = c->lenient && pull > bound;
        if (weight == 0.0 || (pull <= c->strongest && !above)) continue;
        status = find_slack(c, g, &of, err);
        if (pull > c->strongest) c->strongest = pull, c->noise = of.noise;
        if (!above) continue;
        c->pull[g] = fmin(fmax(bound, of.least), pull);
        c->passed += (pull - c->pull[g]) * fenp_joint_norm(&m->groups, g, c->beta, 0);
    }
    return status;
}

static double best_dual(const fenp_joint *c)
{
    const fen_model *m = c->m;
    double most = 0.0; /* of ||x_g'u|| / (lambda a_g) */
    if (!c->feasible) return dual_value(c, 0.0);
    for (int64_t g = 0; is_bounded(m) && g < m->groups.count; g++) {
        const double weight = fenp_joint_weight(m, g);
        if (weight > 0.0) most = fmax(most, c->pull[g] / (m->lambda * weight));
    }
    return fenp_best_dual_value(dual_value, c, most, 1.0, is_bounded(m) ? 1.0 : 2.0);
}

/* ---- how far from the conditions of an optimum ------------------------------------------- */

/* ||beta_g - prox(beta_g + step x_g'u)||: 0 exactly where x_g'u is a slope of the penalty at
 * beta_g, and continuous. */
static double group_distance(const fenp_joint *c, int64_t g, double step)
{
    const fen_model *m = c->m;
    const int positive = m->nonnegative;
    long double square = 0.0L, off = 0.0L;
    for (int64_t k = 0; k < fenp_group_size(&m->groups, g); k++) {
        const int64_t j = fenp_group_member(&m->groups, g, k);
        const long double moved = c->beta[j] + (long double)step * c->g[j];
        if (!positive || moved > 0.0L) square += moved * moved;
    }
    const double norm = (double)sqrtl(square), weight = fenp_joint_weight(m, g);
    const double kept =
        weight > 0.0 ? m->penalty->prox(norm, step * m->lambda * weight, m->mix) : norm;
    for (int64_t k = 0; k < fenp_group_size(&m->groups, g); k++) {
        const int64_t j = fenp_group_member(&m->groups, g, k);
        const long double moved = c->beta[j] + (long double)step * c->g[j];
        const long double there =
            norm > 0.0 && (!positive || moved > 0.0L) ? moved * (kept / norm) : 0.0L;
        off += (c->beta[j] - there) * (c->beta[j] - there);
    }
    return (double)sqrtl(off);
}

/* The largest of them over the largest ||beta_g||; the step makes the largest x_g'u as long, but
 * a hundred of its rounding errors no longer than 1e-7 of that: solvers know u to some. */
static double mismatch(const fenp_joint *c)
{
    const fen_model *m = c->m;
    double largest = 0.0, worst = 0.0;
    for (int64_t g = 0; g < m->groups.count; g++)
        largest = fmax(largest, fenp_joint_norm(&m->groups, g, c->beta, 0));
    const double unit = largest > 0.0 ? largest : 1.0, pull = fmax(c->strongest, 1e9 * c->noise);
    for (int64_t g = 0; pull > 0.0 && g < m->groups.count; g++)
        worst = fmax(worst, group_distance(c, g, unit / pull));
    return worst / unit;
}

static double stationarity(const fenp_joint *c)
{
    double worst = mismatch(c);
    for (int64_t k = 0; k < c->copies; k++)
        worst = fmax(worst, fenp_claim_stationarity(&c->one[k], c->dual + k * c->n));
    return worst;
}

/* ---- the verdict ------------------------------------------------------------------------- */

static fen_certificate judge(const fenp_joint *c)
{
    const fen_model *m = c->m;
    fen_certificate out = { 0 };
    long double loss = 0.0L, null = 0.0L, digits = 0.0L;
    for (int64_t k = 0; k < c->copies; k++) {
        loss += fenp_claim_mean_loss(&c->one[k]);
        null += fenp_claim_null(&c->one[k]);
        digits += fenp_claim_digits(&c->one[k]);
    }
    out.mean_loss = (double)loss;
    out.null = (double)null;
    out.norm = penalty_of(c);
    out.primal = is_allowed(c) ? (double)(loss + (long double)m->lambda * out.norm) : INFINITY;
    out.dual = out.primal == 0.0 ? 0.0 : best_dual(c); /* nothing is less than no loss at all */
    out.stationarity = stationarity(c);
    fenp_certificate_close(&out, fenp_gap_unit(&out, (double)digits), m->tolerance, 0);
    return out;
}

/* Of one target under the common penalty: its own losses, all else is theirs together. */
static fen_certificate share_of(const fenp_joint *c, int64_t k, fen_certificate joint)
{
    if (c->copies == 1) return joint;
    joint.mean_loss = fenp_claim_mean_loss(&c->one[k]);
    joint.null = fenp_claim_null(&c->one[k]);
    return joint;
}

double fenp_joint_null(const fen_model *m, const fen_certificate *of, int64_t t)
{
    const int64_t first = t / m->copies * m->copies;
    double sum = 0.0;
    for (int64_t k = 0; k < m->copies; k++) sum += of[first + k].null;
    return sum;
}

/* ---- a whole model ----------------------------------------------------------------------- */

static int open_claim(fenp_joint *c)
{
    const int64_t rows = c->copies * c->n, coefs = c->copies * c->p;
    c->one = fenp_new(c->copies, sizeof *c->one);
    c->w = fenp_new(rows, sizeof *c->w);
    c->f = fenp_new(rows, sizeof *c->f);
    c->u = fenp_new(rows, sizeof *c->u);
    c->z = fenp_new(rows, sizeof *c->z);
    c->beta = fenp_new_zeroed(coefs, sizeof *c->beta);
    c->g = fenp_new(coefs, sizeof *c->g);
    c->pull = fenp_new(c->m->groups.count, sizeof *c->pull);
    c->columns = fenp_new(c->p + 1, sizeof *c->columns);
    c->left = fenp_new(c->p + 1, sizeof *c->left);
    c->wanted = fenp_new(c->p + 1, sizeof *c->wanted);
    c->column = fenp_new(c->n, sizeof *c->column);
    c->window = fenp_new(2 * rows, sizeof *c->window);
    return c->one && c->w && c->f && c->u && c->z && c->beta && c->g && c->pull && c->columns &&
           c->left && c->wanted && c->column && c->window;
}

static void close_claim(fenp_joint *c)
{
    free(c->one), free(c->w), free(c->f), free(c->u), free(c->z);
    free(c->beta), free(c->g), free(c->pull), free(c->columns), free(c->left), free(c->wanted);
    free(c->column), free(c->window);
}

/* Coefficients of target t: weights, or terms where the columns are rows. */
static void lay_out_coefficients(const fenp_joint *c, int64_t t, double *beta)
{
    const fen_model *m = c->m;
    const double *from = m->terms ? m->terms + t * m->kept : m->weights + t * c->p;
    const int64_t count = m->terms ? m->kept : c->p;
    for (int64_t j = 0; j < c->p; j++) beta[j] = 0.0;
    for (int64_t j = 0; j < count; j++) beta[m->terms && m->support ? m->support[j] : j] = from[j];
}

/* Targets first .. first + copies - 1: all but u. */
static fen_status open_block(fenp_joint *c, int64_t first, fen_error *err)
{
    fen_status status = FEN_OK;
    c->dual = c->m->dual + first * c->n;
    for (int64_t k = 0; k < c->copies; k++) {
        c->one[k] = fenp_claim_of(c->m, c->x.sample, first + k, 0.0, c->w + k * c->n);
        c->one[k].f = c->f + k * c->n, c->one[k].z = c->z + k * c->n;
        lay_out_coefficients(c, first + k, c->beta + k * c->p);
    }
    for (int64_t k = 0; status == FEN_OK && k < c->copies; k++)
        status = fenp_matrix_scores(&c->x, c->beta + k * c->p, c->f + k * c->n, err);
    return status;
}

static fen_status find_dual(fenp_joint *c, int refined, fen_error *err)
{
    const fen_status status = fenp_joint_feasible(c, refined, err);
    c->lenient = 0;
    return status == FEN_OK ? find_pulls(c, err) : status;
}

/* Bounds as they are; with inputs to the last digit where nothing but that proves the optimum. */
static fen_status judge_dual(fenp_joint *c, int refined, fen_certificate *out, fen_error *err)
{
    fen_status status = find_dual(c, refined, err);
    if (status != FEN_OK) return status;
    *out = judge(c);
    if (out->verdict == FEN_VERDICT_OPTIMAL || !c->feasible || !is_bounded(c->m)) return FEN_OK;
    c->lenient = 1;
    status = find_pulls(c, err);
    if (status != FEN_OK) return status;
    const fen_certificate other = judge(c);
    if (other.verdict == FEN_VERDICT_OPTIMAL) *out = other;
    return FEN_OK;
}

/* One more try; the larger bound stays. */
static fen_status try_dual(fenp_joint *c, int refined, fen_certificate *out, fen_error *err)
{
    fen_certificate other;
    const fen_status status = judge_dual(c, refined, &other, err);
    if (status != FEN_OK || !(other.dual > out->dual)) return status;
    other.stationarity = out->stationarity; /* that of u as stored */
    *out = other;
    return FEN_OK;
}

static int has_ends(const fenp_joint *c)
{
    double low = 0.0, high = 0.0;
    if (c->n > 0) fenp_claim_box(&c->one[0], 0, &low, &high);
    return c->one[0].loss->smoothness == 0.0 || low > -INFINITY || high < INFINITY;
}

/* Losses with corners: z_i of rows that are clear of them is known exactly, and u_i that is off by
 * a rounding error alone may be what no other can make up for. Likewise where slopes all but
 * reach an end of their domain. How far off the corners that is, the accuracy of the scores says,
 * which nobody knows: from coarse to fine. */
static fen_status try_windows(fenp_joint *c, fen_certificate *out, fen_error *err)
{
    static const double NEAR[] = { 1e-5, 1e-7, 1e-9, 1e-11 };
    const int refined = fenp_joint_can_refine(c);
    fen_status status = FEN_OK;
    if (!has_ends(c) || !fenp_joint_can_project(c)) return FEN_OK;
    for (size_t at = 0; at < sizeof NEAR / sizeof *NEAR && status == FEN_OK; at++) {
        if (out->verdict == FEN_VERDICT_OPTIMAL) break;
        for (int64_t k = 0; k < c->copies; k++) {
            double *window = c->window + 2 * k * c->n;
            fenp_claim_windows(&c->one[k], NEAR[at], window);
            c->one[k].window = window;
        }
        status = try_dual(c, refined, out, err);
    }
    for (int64_t k = 0; k < c->copies; k++) c->one[k].window = NULL;
    return status;
}

/* The tries after the first prove an optimum that rounding errors hide. An interrupted fit is none,
 * and its caller waits: there the certificate is that of u as it is, in fit and verify alike. */
static fen_status certify_block(fenp_joint *c, int64_t first, fen_certificate *out, fen_error *err)
{
    const int interrupted = c->m->certificate[first].verdict == FEN_VERDICT_INTERRUPTED;
    fen_status status = open_block(c, first, err);
    if (interrupted) {
        if (status == FEN_OK) status = find_dual(c, 0, err);
        if (status == FEN_OK) *out = judge(c);
        return status;
    }
    if (status == FEN_OK) status = judge_dual(c, 0, out, err);
    if (status != FEN_OK || out->verdict == FEN_VERDICT_OPTIMAL) return status;
    if (fenp_joint_can_refine(c)) status = try_dual(c, 1, out, err);
    if (status == FEN_OK && out->verdict != FEN_VERDICT_OPTIMAL) status = try_windows(c, out, err);
    if (status != FEN_OK || out->verdict == FEN_VERDICT_OPTIMAL) return status;
    c->polish = 1;
    status = try_dual(c, 0, out, err);
    c->polish = 0;
    return status;
}

fen_status fenp_certify_linear(const fen_model *m, const fenp_sample *sample, fen_certificate *out,
                               const fenp_task *task, fen_error *err)
{
    fenp_joint c = { .m = m, .x = fenp_matrix_of(m, sample, task), .copies = m->copies };
    c.n = c.x.n, c.p = c.x.p;
    fen_status status =
        open_claim(&c)
            ? FEN_OK
            : fenp_no_memory(err, fenp_bytes(c.copies, 6 * c.n + 2 * c.p, sizeof(double)),
                             "the certificate");
    for (int64_t first = 0; status == FEN_OK && first < m->targets; first += c.copies) {
        status = certify_block(&c, first, &out[first], err);
        for (int64_t k = c.copies - 1; status == FEN_OK && k >= 0; k--)
            out[first + k] = share_of(&c, k, out[first]);
    }
    close_claim(&c);
    return status;
}
