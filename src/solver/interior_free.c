/* interior_free.c -- free columns of the interior point method as an orthonormal basis
 *
 *     X_F = Q T,   gamma = T beta_F,   X_F beta_F = Q gamma
 *
 * Nothing but scores depends on free coefficients: the method may as well look for gamma, and
 * u is then orthogonal to Q, not to columns that depend on others or nearly do (polynomials, all
 * levels of a factor and a bias): those would cost all digits of x_j'u = 0.
 * Method. Gram and Schmidt with three passes, which is enough for columns of any angle; what is
 * rounding alone is left out, its column becomes 0 and its coefficient too. One free column (a
 * bias) stays what it is, and x is not copied.
 * Cost. 12 n f^2 flops for f free columns, n (k + f) + f^2 numbers. */
#include "solver/interior_parts.h"

#include <string.h>
#include "base/linalg.h"

static const double DEPENDENT = 1e-13; /* rest of a column, relative to it: rounding alone */

int fenp_free_kind(const fenp_inside *s, int64_t g, int64_t j)
{
    return s->q->l[g] > 0.0 || s->q->d[j] > 0.0 ? 0 : 1 + fenp_inside_has_sign(s, g);
}

/* out <- Q'v */
static void project(const fenp_inside *s, const double *v, double *out)
{
    cblas_dgemv(CblasColMajor, CblasTrans, (int)s->n, (int)s->rank, 1.0, s->basis, (int)s->n, v, 1,
                0.0, out, 1);
}

/* Another column of Q from x; rows of weight 0 take no part. 0: x depends on those before. */
static int extend(fenp_inside *s, const double *x)
{
    const int n = (int)s->n;
    double *q = s->basis + s->rank * s->n;
    for (int64_t i = 0; i < s->n; i++) q[i] = s->q->w[i] > 0.0 ? x[i] : 0.0;
    const double size = cblas_dnrm2(n, q, 1);
    for (int pass = 0; pass < 3; pass++) {
        if (s->rank > 0) {
            project(s, q, s->right);
            cblas_dgemv(CblasColMajor, CblasNoTrans, n, (int)s->rank, -1.0, s->basis, n, s->right,
                        1, 1.0, q, 1);
        }
        const double rest = cblas_dnrm2(n, q, 1);
        if (!(rest > (pass == 0 ? DEPENDENT * size : 0.0))) return 0;
        cblas_dscal(n, 1.0 / rest, q, 1);
    }
    s->rank++;
    return 1;
}

/* free <- the columns of Q, then those with a sign and no price */
void fenp_free_open(fenp_inside *s)
{
    const fenp_interior *q = s->q;
    const size_t size = (size_t)s->n * sizeof(double);
    const int whole = s->equalities <= 1;
    s->design = whole ? q->x : s->copy;
    if (!whole) memcpy(s->copy, q->x, (size_t)s->k * size);
    for (int kind = 1; kind <= 2; kind++)
        for (int64_t g = 0; g < q->groups; g++)
            for (int64_t j = q->start[g]; j < q->start[g + 1]; j++) {
                if (fenp_free_kind(s, g, j) != kind) continue;
                if (kind == 2 || whole || extend(s, q->x + j * s->n))
                    s->free[s->frees++] = j;
                else
                    memset(s->copy + j * s->n, 0, size);
            }
    if (whole) s->rank = s->equalities;
    for (int64_t r = 0; !whole && r < s->rank; r++) {
        project(s, q->x + s->free[r] * s->n, s->triangle + r * s->equalities);
        memcpy(s->copy + s->free[r] * s->n, s->basis + r * s->n, size);
    }
}

/* beta with gamma in the places of the free columns, of coefficients as they come */
void fenp_free_enter(fenp_inside *s, double *beta)
{
    if (s->equalities <= 1) return;
    memset(s->fit, 0, (size_t)s->n * sizeof(double));
    for (int64_t g = 0; g < s->q->groups; g++)
        for (int64_t j = s->q->start[g]; j < s->q->start[g + 1]; j++) {
            if (fenp_free_kind(s, g, j) != 1) continue;
            cblas_daxpy((int)s->n, beta[j], s->q->x + j * s->n, 1, s->fit, 1);
            beta[j] = 0.0;
        }
    project(s, s->fit, s->right);
    for (int64_t r = 0; r < s->rank; r++) beta[s->free[r]] = s->right[r];
}

/* And back, to x itself: T beta_F = gamma, once more with the scores that are missing then. */
void fenp_free_leave(fenp_inside *s, double *beta)
{
    if (s->equalities <= 1) return;
    fenp_inside_times(s, beta, s->fit);
    for (int64_t r = 0; r < s->rank; r++) s->right[r] = beta[s->free[r]], beta[s->free[r]] = 0.0;
    s->design = s->q->x;
    for (int twice = 0; twice < 2; twice++) {
        cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)s->rank,
                    s->triangle, (int)s->equalities, s->right, 1);
        for (int64_t r = 0; r < s->rank; r++) beta[s->free[r]] += s->right[r];
        fenp_inside_times(s, beta, s->row);
        for (int64_t i = 0; i < s->n; i++) s->row[i] = s->fit[i] - s->row[i];
        project(s, s->row, s->right);
    }
}
