/* freedom.c -- degrees of freedom of a linear model with a penalty on its coefficients
 *
 *     df = tr((H + lambda D)^-1 H),   H = X_A' diag(w v'') X_A,   A: coefficients other than 0
 *     D  = a_g (mix/||beta_g|| (I - beta_g beta_g'/||beta_g||^2) + (1 - mix) I)  for every group
 *
 * The derivative of the fitted values by the labels (Stein), where the support does not change.
 * For l1 D = 0 and df is the rank of the support: the number of terms, of which columns that are
 * the same count once (others that depend on each other are not in a support together but by
 * accident); for elastic nets it is the trace of the ridge
 * smoother on the support; for groups of an orthonormal design what Yuan and Lin have.
 * With a bias the columns are centred under w v''; the constant itself is not counted.
 * Special cases. Losses that have no second derivative, and matrices that cannot be factorised:
 * that number. Columns beyond the number of rows count no more than those.
 * Cost. n |A|^2 + |A|^3 flops; none for l1. */
#include "promise/ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/linalg.h"

typedef struct support {
    const fenp_linear *of;
    const fenp_linear_point *at;
    int64_t m, *who; /* coefficients                                */
    double *v, *f;   /* copies x n: w v''; scores, then a column    */
    double *h, *k;   /* m x m: H; H + lambda D                      */
    double *product; /* m                                           */
} support;

static void weigh(support *s)
{
    const fenp_linear *q = s->of;
    const int64_t n = q->x->n;
    fenp_design_scores(q->x, s->at->beta, s->f);
    for (int64_t t = 0; t < q->x->copies; t++)
        for (int64_t i = t * n; i < (t + 1) * n; i++)
            s->v[i] = q->w[i] == 0.0
                          ? 0.0
                          : q->w[i] * q->loss->curvature(q->y[i], s->f[i] + s->at->b[t], q->par);
}

/* f = diag(v) x_c, centred with a bias, 0 in other copies. */
static void take_column(support *s, int64_t c)
{
    const fenp_design *x = s->of->x;
    const int64_t n = x->n, t = c / x->p, j = c % x->p;
    double *f = s->f + t * n, *v = s->v + t * n, sum = 0.0, total = 0.0;
    memset(s->f, 0, (size_t)(n * x->copies) * sizeof *s->f);
    if (x->dense)
        memcpy(f, x->dense + j * n, (size_t)n * sizeof *f);
    else
        for (int64_t e = x->start[j]; e < x->start[j + 1]; e++) f[x->row[e]] = x->value[e];
    for (int64_t i = 0; i < n; i++) sum += v[i] * f[i], total += v[i];
    const double mean = s->of->bias && total > 0.0 ? sum / total : 0.0;
    for (int64_t i = 0; i < n; i++) f[i] = v[i] * (f[i] - mean);
}

static void make_h(support *s)
{
    for (int64_t c = 0; c < s->m; c++) {
        take_column(s, s->who[c]);
        fenp_design_products(s->of->x, s->f, s->who, s->m, s->product);
        memcpy(s->h + c * s->m, s->product, (size_t)s->m * sizeof *s->product);
    }
    memcpy(s->k, s->h, (size_t)(s->m * s->m) * sizeof *s->k);
}

/* place: of every coefficient in A, -1 outside. */
static void add_penalty(support *s, const int64_t *place)
{
    const fenp_groups *g = s->of->groups;
    const double *beta = s->at->beta;
    for (int64_t i = 0; i < g->count; i++) {
        const int64_t size = fenp_group_size(g, i);
        const double price = s->at->lambda * fenp_group_weight(g, i);
        double norm = 0.0;
        for (int64_t a = 0; a < size; a++) norm = hypot(norm, beta[fenp_group_member(g, i, a)]);
        for (int64_t a = 0; a < size && norm > 0.0; a++) {
            const int64_t r = fenp_group_member(g, i, a);
            if (place[r] < 0) continue;
            double *column = s->k + place[r] * s->m;
            column[place[r]] += price * (1.0 - s->of->mix + (size > 1 ? s->of->mix / norm : 0.0));
            for (int64_t b = 0; b < size && size > 1; b++) {
                const int64_t c = fenp_group_member(g, i, b);
                if (place[c] < 0) continue;
                column[place[c]] -= price * s->of->mix * beta[r] / norm * (beta[c] / norm) / norm;
            }
        }
    }
}

/* tr(K^-1 H); -1: K is not positive definite; NAN: no memory. */
static double trace(support *s)
{
    int64_t rank = 0;
    double sum = 0.0;
    fen_status status = fenp_cholesky(s->m, s->k, s->m, &rank, NULL, NULL);
    if (status == FEN_OK && rank < s->m) return -1.0;
    if (status == FEN_OK) status = fenp_cholesky_solve(s->m, s->k, s->m, s->h, s->m, NULL);
    for (int64_t c = 0; c < s->m; c++) sum += s->h[c + c * s->m];
    return status == FEN_OK ? sum : NAN;
}

static double freedom(support *s, int64_t *place)
{
    const int64_t coefs = s->of->x->p * s->of->x->copies;
    for (int64_t j = 0, k = 0; j < coefs; j++) {
        place[j] = s->at->beta[j] != 0.0 ? k : -1;
        if (place[j] >= 0) s->who[k++] = j;
    }
    weigh(s);
    make_h(s);
    add_penalty(s, place);
    return trace(s);
}

/* Terms, the same columns once and no more than rows. seen: coefs. */
static double count_terms(const fenp_linear *q, const double *beta, const int64_t *twin,
                          int64_t *seen)
{
    const int64_t p = q->x->p, coefs = p * q->x->copies, rows = q->x->n * q->x->copies;
    int64_t count = 0;
    memset(seen, 0, (size_t)coefs * sizeof *seen);
    for (int64_t j = 0; j < coefs; j++) {
        const int64_t at = twin ? j / p * p + twin[j % p] : j;
        count += beta[j] != 0.0 && !seen[at];
        seen[at] |= beta[j] != 0.0;
    }
    return (double)(count < rows ? count : rows);
}

double fenp_freedom(const fenp_linear *q, const fenp_linear_point *at, const int64_t *twin)
{
    const int64_t m = at->terms, rows = q->x->n * q->x->copies, coefs = q->x->p * q->x->copies;
    int64_t *who = fenp_new(coefs + m, sizeof *who);
    const double plain = who ? count_terms(q, at->beta, twin, who) : NAN;
    if (!who || m == 0 || !q->loss->curvature || (q->mix == 1.0 && !q->groups->start)) {
        free(who);
        return plain;
    }
    double *work = fenp_new(2 * rows + m, sizeof *work), *h = fenp_new(2 * m, m * 8);
    double answer = NAN;
    if (work && h) {
        support s = { .of = q, .at = at, .m = m, .who = who + coefs };
        s.v = work, s.f = s.v + rows, s.product = s.f + rows;
        s.h = h, s.k = h + m * m;
        answer = freedom(&s, who);
        if (!isnan(answer)) answer = answer < 0.0 ? plain : fmin(answer, plain);
    }
    free(who), free(work), free(h);
    return answer;
}
