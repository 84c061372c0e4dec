/* interior.c -- a loss in pieces with norms as penalty, by a primal-dual interior point method
 *
 *     min over beta of  sum_i w_i v_i(f0_i + x_i.beta) + sum_g l_g ||beta_g|| + d_j/2 beta_j^2
 *     max over u of   - sum_t (c_t/2 u_t^2 - a_t u_t) - penalty*(X'u),   low_t <= u_t <= high_t
 *
 * A row whose conjugate has a kink, e |u|, is two terms t with the same x_i: u >= 0 with
 * a - e and u <= 0 with a + e. Optimal are, with p and q for the ends of u, beta = b+ - b-,
 *
 *     a - x.beta - c u - p + q = 0            p (high - u) = 0,  q (u - low) = 0        rows
 *     x_j'u - d beta - s = 0                  b+ (l - s) = 0,    b- (l + s) = 0         columns
 *
 * all products of numbers >= 0; b- is missing where beta >= 0 is asked, both are (and s = 0)
 * where l = 0; groups of several columns are cones (interior_cones.c).
 *
 * Linear programs are tried by a walk along vertices first (interior_walk.c), which knows what to
 * do with a guess; what that leaves open, and all else, is done here.
 *
 * Method. Mehrotra's predictor and corrector: Newton steps for the equations with all products
 * equal to a target that goes to 0. Of the linear equations all that belongs to one row or one
 * column is eliminated:
 *
 *     du = D (rho - X dbeta),   1/D = c + p/(high - u) + q/(u - low)
 *     ds = S dbeta - shift,     1/S = b+/(l - s) + b-/(l + s)
 *     (X'DX + d + S) dbeta = X'D rho + shift + (what the columns lack)
 *
 * One Gram matrix and one Cholesky factorisation of order k per iteration (of order n where columns
 * by far outnumber rows: interior_wide.c); S keeps it positive definite where k > n. Refinement works on du and dbeta together: D grows without
 * bound, and du computed from dbeta alone would lose as many digits. Nothing is added to the
 * pivots unless the factorisation breaks down. Where the penalty has a curvature more columns
 * than rows may be at work at the end; D is then kept in proportion to S, for the factor alone,
 * as far as X'DX cannot do without S.
 * Products go to 0 in proportion to the weights of their rows, as if rows stood there more than
 * once; after short steps Gondzio's corrections draw stray ones back.
 * Start: ridge regression (interior_start.c). The answer is no worse than the guess.
 * Special cases. All formulas scale with y, w, l and every column: no units are chosen. Rows
 * that ask for interpolation (tube 0) get a small 1/D that fades as they are fitted. Where u or
 * beta appear with a curvature, primal and dual take steps of one length. No beta with a finite
 * P (tube): D grows until that is plain.
 * Accuracy. The gap is that of the best beta and the best u seen, u in the feasible set
 * (interior_value.c): 1e-8 in 8 to 20 iterations, 1e-10 as a rule in one more. x_j'u = l is known
 * to a rounding of sum |x_ij u_i|: below l = 1e-10 of that gaps may stay above 1e-8.
 * Cost. n k^2 + k^3/3 flops per iteration, n^2 k + n^3/3 where n is far below k; 8 (k^2 + 512 k) bytes, 10 to 40 numbers per row, and
 * a copy of x if there are several free columns. */
#include "solver/interior.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/linalg.h"
#include "base/threads.h"
#include "solver/interior_parts.h"

enum { ITERATIONS = 100, PATIENCE = 20, SHORT_PATIENCE = 5, PASSES = 6, CORRECTIONS = 3 };
enum { FEW = 64 };   /* free columns; and rows x columns worth one thread, in FENP_FEW_ROWS */
enum { SPARSE = 2 }; /* a product by columns is worth it with fewer than one in so many */
static const double TO_THE_BOUNDARY = 0.995, EASE = 1e-13, ABOVE = 1e6;

/* ---- matrices ---------------------------------------------------------------------------- */

/* Of v with few numbers other than 0 the columns of those alone */
void fenp_inside_times(const fenp_inside *s, const double *v, double *out)
{
    int64_t used = 0;
    for (int64_t j = 0; j < s->k; j++) used += v[j] != 0.0;
    memset(out, 0, (size_t)s->n * sizeof(double)); /* without columns BLAS writes nothing */
    for (int64_t j = 0; used < s->k / SPARSE && j < s->k; j++)
        if (v[j] != 0.0) cblas_daxpy((int)s->n, v[j], s->design + j * s->n, 1, out, 1);
    if (used < s->k / SPARSE) return;
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)s->n, (int)s->k, 1.0, s->design, (int)s->n, v, 1,
                0.0, out, 1);
}

void fenp_inside_transposed(const fenp_inside *s, const double *v, double *out)
{
    cblas_dgemv(CblasColMajor, CblasTrans, (int)s->n, (int)s->k, 1.0, s->design, (int)s->n, v, 1,
                0.0, out, 1);
}

/* gram <- X'DX, lower triangle, by blocks of rows, which stay in the cache */
static void multiply(fenp_inside *s, const double *weight, const int64_t *list, int64_t count)
{
    for (int64_t at = 0; at < s->n; at += FENP_INSIDE_BLOCK) {
        const int64_t rows = s->n - at < FENP_INSIDE_BLOCK ? s->n - at : FENP_INSIDE_BLOCK;
        for (int64_t i = 0; i < rows; i++) s->root[i] = sqrt(weight[at + i]);
        for (int64_t j = 0; j < count; j++) {
            const double *x = s->design + (list ? list[j] : j) * s->n + at;
            double *z = s->block + j * rows;
            for (int64_t i = 0; i < rows; i++) z[i] = s->root[i] * x[i];
        }
        cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)count, (int)rows, 1.0, s->block,
                    (int)rows, at > 0 ? 1.0 : 0.0, s->gram, (int)s->side);
    }
}

fen_status fenp_inside_factor(fenp_inside *s, const double *weight, const int64_t *list,
                              int64_t count, const fenp_task *task, fen_error *err)
{
    fen_status status = FEN_OK;
    int64_t rank = count > 0 ? -1 : 0;
    if (!list && (s->wide = fenp_wide_suits(s))) return fenp_wide_factor(s, weight, task, err);
    for (double more = 0.0; status == FEN_OK && rank < count && more < 1.0;
         more = fmax(100.0 * more, 1e-15)) {
        multiply(s, weight, list, count);
        for (int64_t j = 0; !list && j < count; j++)
            s->gram[j + j * s->side] += s->stiff[j] + s->q->d[j];
        if (!list && s->scaled) fenp_cones_add(s);
        for (int64_t j = 0; j < count; j++) {
            double *pivot = s->gram + j + j * s->side;
            *pivot = *pivot > 0.0 ? *pivot * (1.0 + more) : 1.0;
        }
        status = fenp_cholesky(count, s->gram, s->side, &rank, task, err);
    }
    s->factored = status == FEN_OK && rank >= count;
    return status;
}

fen_status fenp_inside_solve(const fenp_inside *s, double *r, fen_error *err)
{
    return s->wide ? fenp_wide_solve(s, r, err)
                   : fenp_cholesky_solve(s->k, s->gram, s->side, r, 1, err);
}

/* out <- sum of the terms of every row */
void fenp_inside_gather(const fenp_inside *s, const double *term, double *out)
{
    memcpy(out, term, (size_t)s->n * sizeof(double));
    for (int64_t i = s->n; i < s->terms; i++) out[i - s->n] += term[i];
}

/* ---- judgement --------------------------------------------------------------------------- */

static void offer_beta(fenp_inside *s, const double *beta)
{
    const double primal = fenp_inside_primal(s, beta);
    if (!(primal < s->best_primal)) return;
    if (isinf(s->best_primal)) s->null = primal;
    s->best_primal = primal;
    memcpy(s->best_beta, beta, (size_t)s->k * sizeof(double));
}

/* out <- the u of the terms, inside their domains */
static void cut(const fenp_inside *s, double *out)
{
    for (int64_t t = 0; t < s->terms; t++) {
        const double u = fmin(fmax(s->u[t], s->low[t]), s->high[t]);
        const double finite = isfinite(u) ? u : 0.0;
        out[t % s->n] = t < s->n ? finite : out[t - s->n] + finite;
    }
}

/* fit is lost */
static void offer_u(fenp_inside *s)
{
    cut(s, s->trial);
    const double dual = fenp_inside_dual(s);
    if (!(dual > s->best_dual && isfinite(dual))) return;
    s->proved = isfinite(s->best_dual);
    s->best_dual = dual;
    memcpy(s->best_u, s->trial, (size_t)s->n * sizeof(double));
}

void fenp_inside_offer(fenp_inside *s)
{
    offer_beta(s, s->beta);
    offer_u(s);
}

/* beta = 0, u = 0 and the guess */
static void offer_simple(fenp_inside *s, const double *guess)
{
    s->best_primal = INFINITY;
    s->best_dual = -INFINITY;
    fenp_inside_offer(s);
    memcpy(s->beta, guess, (size_t)s->k * sizeof(double));
    fenp_free_enter(s, s->beta);
    for (int64_t g = 0; g < s->q->groups; g++)
        if (fenp_inside_has_sign(s, g)) s->beta[s->q->start[g]] = fmax(guess[s->q->start[g]], 0.0);
    offer_beta(s, s->beta);
}

/* What the equations lack, *lacking that of the columns in units of their scale; offers beta and u.
 * Returns the sum of all products. */
static double judge(fenp_inside *s, double *lacking)
{
    const int64_t t2 = s->terms;
    long double sum = fenp_cones_product(s, 0.0, 0.0);
    offer_beta(s, s->beta);
    for (int64_t t = 0; t < t2; t++)
        s->rows[t] = s->a[t] - s->fit[t % s->n] - s->c[t] * s->u[t] - s->x[t] + s->x[t2 + t];
    fenp_inside_gather(s, s->u, s->row);
    fenp_inside_transposed(s, s->row, s->columns);
    *lacking = 0.0;
    for (int64_t j = 0; j < s->k; j++) {
        s->columns[j] -= s->q->d[j] * s->beta[j] + s->s[j];
        *lacking = fmax(*lacking, fabs(s->columns[j]) / fmax(s->scale[j], DBL_MIN));
    }
    for (int64_t i = 0; i < s->pairs; i++) sum += s->x[i] * s->z[i];
    /* many equalities cost as much as an iteration: not before it may be the end */
    if (s->frees <= FEW || sum < 1e-3 * s->best_primal) offer_u(s);
    return (double)sum;
}

/* ---- steps ------------------------------------------------------------------------------- */

/* D and S of the head of the file */
static void set_weights(fenp_inside *s)
{
    const int64_t t2 = s->terms;
    const double *x = s->x + 2 * t2, *z = s->z + 2 * t2;
    for (int64_t t = 0; t < t2; t++) {
        const double steep = s->c[t] + s->x[t] / s->z[t] + s->x[t2 + t] / s->z[t2 + t];
        s->steep[t] = !(s->high[t] > s->low[t]) ? 0.0 : steep > 0.0 ? steep : s->softness;
        s->weight[t] = s->steep[t] > 0.0 ? 1.0 / s->steep[t] : 0.0;
    }
    for (int64_t j = 0; j < s->k; j++) {
        const double soft = x[j] / z[j] + x[s->k + j] / z[s->k + j];
        s->stiff[j] = soft > 0.0 ? 1.0 / soft : 0.0;
    }
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The D of the row that makes them as many as there are columns: with those X'DX has a factor
 * without the help of S. 0: there are fewer. fit is lost. */
static double enough_rows(fenp_inside *s)
{
    if (s->n < s->k) return 0.0;
    fenp_inside_gather(s, s->weight, s->fit);
    qsort(s->fit, (size_t)s->n, sizeof *s->fit, falling);
    return s->k > 0 ? s->fit[s->k - 1] : 0.0;
}

/* Lowers D where it is out of proportion to the diagonal of X (S + d)^-1 X' (its mean), and to
 * that of enough rows: a small S (l small beside the slopes) is no reason as long as there are. */
static void ease(fenp_inside *s)
{
    double sum = 0.0, weights = 0.0;
    for (int64_t g = 0; g < s->q->groups; g++)
        for (int64_t j = s->q->start[g]; j < s->q->start[g + 1]; j++) {
            const double cone = fenp_inside_is_cone(s, g) ? 1.0 / s->eta2[g] : 0.0;
            const double held = s->stiff[j] + s->q->d[j] + cone;
            if (held > 0.0) sum += s->norm[j] / held;
        }
    for (int64_t i = 0; i < s->n; i++) weights += fmax(s->q->w[i], 0.0);
    const double enough = enough_rows(s), least = EASE * sum / weights;
    const double more = enough > 0.0 ? fmin(least, 1.0 / (ABOVE * enough)) : least;
    for (int64_t t = 0; t < s->terms; t++)
        if (s->weight[t] > 0.0) s->weight[t] = 1.0 / (s->steep[t] + more);
}

/* right <- what the columns' equations lack at (du, dbeta); fit is X dbeta. 1: little enough */
static int lack(fenp_inside *s, double *size)
{
    int64_t far = 0; /* a count: gcc 12.2 for aarch64 breaks down over a flag in this loop */
    memset(s->row, 0, (size_t)s->n * sizeof(double));
    for (int64_t t = 0; t < s->terms; t++) {
        const double rest = s->rho[t] - s->fit[t % s->n] - s->steep[t] * s->du[t];
        s->row[t % s->n] += s->weight[t] * rest + s->du[t];
    }
    fenp_inside_transposed(s, s->row, s->right);
    memset(s->work2, 0, (size_t)s->k * sizeof(double));
    fenp_cones_times(s, s->dbeta, s->work2);
    *size = 0.0;
    for (int64_t j = 0; j < s->k; j++) {
        s->right[j] +=
            s->columns[j] + s->shift[j] - s->work2[j] - (s->q->d[j] + s->stiff[j]) * s->dbeta[j];
        const double over = fabs(s->right[j]) / fmax(s->scale[j], DBL_MIN);
        far += !(over <= s->enough);
        *size = fmax(*size, over);
    }
    return far == 0;
}

/* du and dbeta for the rho and shift that stand there, refined up to so many times */
static fen_status solve(fenp_inside *s, int passes, fen_error *err)
{
    fen_status status = FEN_OK;
    double before = INFINITY, size;
    memset(s->du, 0, (size_t)s->terms * sizeof(double));
    memset(s->dbeta, 0, (size_t)s->k * sizeof(double));
    memset(s->fit, 0, (size_t)s->n * sizeof(double));
    for (int pass = 0; status == FEN_OK && pass < passes; pass++) {
        const int little = lack(s, &size);
        if (little && pass > 0) break;
        if (!(size < 0.5 * before)) break; /* as far as this factor goes */
        before = pass > 0 ? size : INFINITY;
        status = fenp_inside_solve(s, s->right, err);
        fenp_inside_times(s, s->right, s->row);
        for (int64_t t = 0; t < s->terms; t++) {
            const double rest = s->rho[t] - s->fit[t % s->n] - s->steep[t] * s->du[t];
            s->du[t] += s->weight[t] * (rest - s->row[t % s->n]);
        }
        for (int64_t j = 0; j < s->k; j++) s->dbeta[j] += s->right[j];
        fenp_inside_times(s, s->dbeta, s->fit);
    }
    return status;
}

/* The whole step for the products wanted in rc and in the cones' shift */
static fen_status direction(fenp_inside *s, int passes, fen_error *err)
{
    const int64_t t2 = s->terms, k = s->k;
    const double *rc = s->rc + 2 * t2, *z = s->z + 2 * t2;
    for (int64_t t = 0; t < t2; t++)
        s->rho[t] = s->rows[t] - s->rc[t] / s->z[t] + s->rc[t2 + t] / s->z[t2 + t];
    for (int64_t j = 0; j < k; j++)
        if (s->stiff[j] > 0.0) s->shift[j] = s->stiff[j] * (rc[j] / z[j] - rc[k + j] / z[k + j]);
    const fen_status status = solve(s, passes, err);
    for (int64_t j = 0; j < k; j++) s->ds[j] = s->stiff[j] * s->dbeta[j] - s->shift[j];
    fenp_cones_step(s);
    for (int64_t t = 0; t < t2; t++) s->dz[t] = -(s->dz[t2 + t] = s->du[t]);
    for (int64_t j = 0; j < k; j++) s->dz[2 * t2 + j] = -(s->dz[2 * t2 + k + j] = s->ds[j]);
    for (int64_t i = 0; i < s->pairs; i++) {
        if (s->x[i] == 0.0) s->dz[i] = 0.0;
        s->dx[i] = (s->rc[i] - s->x[i] * s->dz[i]) / s->z[i];
    }
    return status;
}

/* How far the step may go, 1 at most. */
static void lengths(const fenp_inside *s, double part, double *primal, double *dual)
{
    double p = INFINITY, d = INFINITY;
    for (int64_t i = 0; i < s->pairs; i++) {
        if (s->dx[i] < 0.0) p = fmin(p, -s->x[i] / s->dx[i]);
        if (s->dz[i] < 0.0) d = fmin(d, -s->z[i] / s->dz[i]);
    }
    fenp_cones_room(s, &p, &d);
    if (s->joint) p = d = fmin(p, d);
    *primal = fmin(part * p, 1.0);
    *dual = fmin(part * d, 1.0);
}

/* The sum of all products after the whole step that is allowed. */
static double predicted(const fenp_inside *s)
{
    double primal, dual;
    lengths(s, 1.0, &primal, &dual);
    long double sum = fenp_cones_product(s, primal, dual);
    for (int64_t i = 0; i < s->pairs; i++)
        sum += (s->x[i] + primal * s->dx[i]) * (s->z[i] + dual * s->dz[i]);
    return fmax((double)sum, 0.0);
}

/* Gondzio's corrections while steps are short: products that a somewhat longer step would leave
 * far from the target are asked to come back; kept while the steps grow. */
static fen_status centre(fenp_inside *s, double target, fen_error *err)
{
    fen_status status = FEN_OK;
    double primal, dual, *kept = s->kept;
    lengths(s, TO_THE_BOUNDARY, &primal, &dual);
    for (int i = 0; status == FEN_OK && i < CORRECTIONS && primal + dual < 1.0; i++) {
        const double before = primal + dual;
        const double p = fmin(1.1 * primal + 0.1, 1.0), d = fmin(1.1 * dual + 0.1, 1.0);
        memcpy(kept, s->rc, (size_t)s->pairs * sizeof(double));
        for (int64_t j = 0; j < s->pairs; j++) {
            const double aim = target * s->rate[j];
            const double to = (s->x[j] + p * s->dx[j]) * (s->z[j] + d * s->dz[j]);
            const double near = fmin(fmax(to, 0.1 * aim), 10.0 * aim);
            if (s->x[j] > 0.0) s->rc[j] += fmax(near - to, -10.0 * aim);
        }
        status = direction(s, PASSES, err);
        lengths(s, TO_THE_BOUNDARY, &primal, &dual);
        if (status != FEN_OK || primal + dual > before + 0.02) continue;
        memcpy(s->rc, kept, (size_t)s->pairs * sizeof(double));
        return direction(s, PASSES, err);
    }
    return status;
}

/* Returns the longer of both lengths. */
static double move(fenp_inside *s)
{
    double primal, dual;
    lengths(s, TO_THE_BOUNDARY, &primal, &dual);
    fenp_cones_move(s, primal);
    for (int64_t t = 0; t < s->terms; t++) s->u[t] += dual * s->du[t];
    for (int64_t j = 0; j < s->k; j++) {
        s->beta[j] += primal * s->dbeta[j];
        s->s[j] += dual * s->ds[j];
    }
    for (int64_t i = 0; i < s->pairs; i++) {
        s->x[i] += primal * s->dx[i];
        s->z[i] += dual * s->dz[i];
    }
    return fmax(primal, dual);
}

/* One iteration; *went: the length of the step, 0 if there was none. */
static fen_status iterate(fenp_inside *s, double products, double *went, const fenp_task *task,
                          fen_error *err)
{
    *went = 0.0;
    set_weights(s);
    if (!(s->scaled = fenp_cones_scale(s))) return FEN_OK;
    if (s->curved) ease(s);
    fenp_inside_gather(s, s->weight, s->row);
    fen_status status = fenp_inside_factor(s, s->row, NULL, s->k, task, err);
    for (int64_t i = 0; i < s->pairs; i++) s->rc[i] = -s->x[i] * s->z[i];
    fenp_cones_predict(s);
    if (status == FEN_OK && s->factored) status = direction(s, 1, err);
    if (status != FEN_OK || !s->factored) return status;
    const double left = products > 0.0 ? predicted(s) / products : 0.0;
    const double target = fmax(left * left * left, 1e-6) * products / fmax(s->degree, 1.0);
    for (int64_t i = 0; i < s->pairs; i++)
        if (s->x[i] > 0.0) s->rc[i] = target * s->rate[i] - s->x[i] * s->z[i] - s->dx[i] * s->dz[i];
    fenp_cones_correct(s, target);
    status = direction(s, PASSES, err);
    if (status == FEN_OK) status = centre(s, target, err);
    if (status == FEN_OK) *went = move(s);
    return status;
}

/* How many iterations may pass without progress: rounding alone is left when the products are
 * far below the gap; a gap that is small enough is taken a little further while that is easy. */
static int patience(double gap, double goal, int rounding)
{
    return gap <= goal ? 1 : rounding ? SHORT_PATIENCE : PATIENCE;
}

/* No beta has a finite P, and D is beyond all measure: there is none. */
static int is_impossible(const fenp_inside *s, double first)
{
    return isinf(s->best_primal) && s->best_dual > 1e6 * first;
}

static fen_status run(fenp_inside *s, double goal, const fenp_task *task, fen_error *err)
{
    fen_status status = FEN_OK;
    double least = INFINITY, fewest = INFINITY, nearest = INFINITY, went = 1.0, first = 0.0;
    for (int i = 0, idle = 0; status == FEN_OK && i < ITERATIONS; i++) {
        double lacking;
        const double products = judge(s, &lacking), gap = fenp_inside_gap(s);
        if (i == 0) first = products;
        const double distance = s->best_primal - s->best_dual;
        const int rounding = isfinite(distance) && products < 1e-4 * distance;
        const int nearer = lacking < 0.9 * nearest && lacking > goal;
        idle = gap < 0.9 * least || (products < 0.9 * fewest && !rounding) || nearer ? 0 : idle + 1;
        least = fmin(least, gap);
        fewest = fmin(fewest, products);
        nearest = fmin(nearest, lacking);
        if (gap <= 0.1 * goal || idle >= patience(gap, goal, rounding)) break;
        if (!(went > 1e-12) || !isfinite(products) || is_impossible(s, first)) break;
        const double done = fmin(fmax(log(fmin(gap, 1.0)) / log(fmin(goal, 0.5)), 0.0), 1.0);
        const fenp_task part = fenp_task_part(task, "interior point steps", done, done);
        status = fenp_task_at(&part, 0.0, err);
        if (status == FEN_OK) status = iterate(s, products, &went, &part, err);
    }
    return status;
}

static fen_status go_inside(fenp_inside *s, double goal, const fenp_task *task, fen_error *err)
{
    fenp_arena arena = { 0 };
    fen_status status = fenp_inside_widen(s, &arena, err);
    if (status != FEN_OK) return status;
    status = fenp_inside_start(s, goal, task, err);
    if (status == FEN_OK) status = run(s, goal, task, err);
    fenp_inside_zeros(s, goal);
    if (!s->proved && !(fenp_inside_gap(s) <= goal)) cut(s, s->best_u); /* more than 0 */
    fenp_arena_close(&arena);
    return status;
}

fen_status fenp_interior_solve(const fenp_interior *q, double goal, double *beta, double *u,
                               double *gap, const fenp_task *task, fen_error *err)
{
    fenp_inside s = { .q = q };
    fenp_arena arena = { 0 };
    fen_status status = fenp_inside_open(&s, &arena, err);
    if (status != FEN_OK) return status;
    const int narrowed = fenp_threads_narrow(q->n * q->k / FEW);
    offer_simple(&s, beta);
    if (!(fenp_inside_gap(&s) <= goal)) status = fenp_inside_walk(&s, goal, task, err);
    if (status == FEN_OK && !(fenp_inside_gap(&s) <= goal)) status = go_inside(&s, goal, task, err);
    fenp_free_leave(&s, s.best_beta);
    s.best_primal = fenp_inside_primal(&s, s.best_beta);
    memcpy(beta, s.best_beta, (size_t)q->k * sizeof(double));
    memcpy(u, s.best_u, (size_t)q->n * sizeof(double));
    *gap = fenp_inside_gap(&s);
    fenp_threads_widen(narrowed);
    fenp_arena_close(&arena);
    return status;
}
