/* least_wide_gram.c -- what BB' says of a wide least squares problem (least_wide.c)
 *
 * Method. Its Cholesky factor, with sqrt(w) in the place that centring left empty, where the
 * rows are independent; else its eigenvectors. Squares hide singular values below 1e-8 of the
 * largest: so what seems to be nothing is multiplied with A once more, and what does not stand
 * clear of it (1e-4) is no answer.
 * Cost. As many products as pairs of entries share a column, or m^2 k flops; m^3/3 for the factor,
 * 9 m^3 for eigenvectors, of up to 2000 rows; 16 m^2 bytes more for these. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "base/qr.h"
#include "solver/least_wide_parts.h"

enum { MOST_EIGEN = 2000 }; /* rows: nothing stops LAPACK meanwhile */

/* ---- BB' --------------------------------------------------------------------------------- */

/* Do the pairs of entries in the same column take less time than dense products? */
static int has_few_pairs(const fenp_broad *s)
{
    const fenp_design *x = s->rows->problem->x;
    double pairs = 0.0;
    if (x->dense || s->rows->offset > 100.0) return 0; /* means would take too many digits */
    for (int64_t c = 0; c < s->k; c++) {
        const int64_t j = s->rows->column[c], count = x->start[j + 1] - x->start[j];
        pairs += 0.5 * (double)count * (double)count;
    }
    return pairs < 0.1 * (double)s->m * (double)s->m * (double)s->k;
}

/* X X', then what the means take from it: (x - mean)(x - mean)' summed over columns. */
static fen_status gram_of_pairs(fenp_broad *s, const fenp_task *task, fen_error *err)
{
    const fenp_least_rows *rows = s->rows;
    const fenp_design *x = rows->problem->x;
    double *g = s->square, *with_means = s->tau, means = 0.0;
    const double unit = s->largest;
    fen_status status = FEN_OK;
    memset(with_means, 0, (size_t)s->m * sizeof(double));
    for (int64_t c = 0; status == FEN_OK && c < s->k; c++) {
        const int64_t j = rows->column[c], end = x->start[j + 1];
        const double mean = rows->mean[j] / unit;
        means += mean * mean;
        for (int64_t e = x->start[j]; e < end; e++) {
            const int64_t a = rows->place[x->row[e]];
            const double value = x->value[e] / unit;
            if (a < 0) continue;
            with_means[a] += value * mean;
            for (int64_t f = e; f < end; f++)
                if (rows->place[x->row[f]] >= 0)
                    g[rows->place[x->row[f]] + a * s->m] += value * (x->value[f] / unit);
        }
        if (c % 1024 == 0) status = fenp_task_at(task, (double)c / (double)s->k, err);
    }
    for (int64_t a = 0; a < s->m; a++)
        for (int64_t b = a; b < s->m; b++)
            g[b + a * s->m] = (g[b + a * s->m] - with_means[a] - with_means[b] + means) *
                              rows->root[a] * rows->root[b];
    return status;
}

static fen_status gram_of_blocks(fenp_broad *s, const fenp_task *task, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t first = 0; status == FEN_OK && first < s->k; first += s->block) {
        const int64_t count = s->k - first < s->block ? s->k - first : s->block;
        fenp_broad_block(s, first, count, 0, s->fresh, s->block);
        cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)s->m, (int)count, 1.0, s->fresh,
                    (int)s->block, 1.0, s->square, (int)s->m);
        status = fenp_task_at(task, (double)(first + count) / (double)s->k, err);
    }
    return status;
}

/* Centring leaves nothing along sqrt(w): as much as the mean eigenvalue is put there. */
static void add_constant(fenp_broad *s)
{
    const double *root = s->rows->root;
    double trace = 0.0;
    for (int64_t i = 0; i < s->m; i++) trace += s->square[i * (s->m + 1)];
    const double scale = trace / (double)s->m / s->rows->weight;
    for (int64_t a = 0; a < s->m; a++)
        for (int64_t b = a; b < s->m; b++) s->square[b + a * s->m] += scale * root[a] * root[b];
}

/* Of BB' it is the square, of which half the digits may be lost; that of A can be larger. */
static int is_clear(const fenp_broad *s, double reciprocal)
{
    return reciprocal > 1e-4 &&
           reciprocal * (s->least / s->largest) > 10.0 * (double)s->m * s->tolerance;
}

/* met: the rows are independent, beyond doubt; factor is that of BB'. */
static fen_status try_cholesky(fenp_broad *s, fenp_least_squares *facts, const fenp_task *task,
                               fen_error *err)
{
    const int64_t m = s->m;
    int64_t rank = 0;
    if (s->rows->problem->bias) add_constant(s);
    const fen_status status = fenp_cholesky(m, s->square, m, &rank, task, err);
    if (status != FEN_OK || rank < m) return status;
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = a + 1; b < m; b++) s->square[a + b * m] = s->square[b + a * m];
    const double reciprocal = fenp_triangular_condition(m, s->square, m, s->work);
    s->met = is_clear(s, reciprocal);
    if (!s->met) return FEN_OK;
    s->factor = s->square, s->factor_size = m;
    s->rank = m - (s->rows->problem->bias != 0);
    facts->condition = 1.0 / reciprocal;
    return FEN_OK;
}

/* Is A'q = 0 of the first count eigenvectors, by the rule for ranks? */
static int are_null(fenp_broad *s, int64_t count)
{
    int null = 1;
    for (int64_t a = 0; null && a < count; a++) {
        fenp_broad_products(s, s->basis + a * s->m, 1, s->gradient);
        null = cblas_dnrm2((int)s->k, s->gradient, 1) <= s->tolerance;
    }
    return null;
}

/* Eigenvalues of BB', in basis: large ones, and nothing. */
static fen_status try_eigen(fenp_broad *s, fenp_least_squares *facts, int *done, fen_error *err)
{
    const int64_t m = s->m;
    double *value = s->tau, *work = fenp_new(fenp_eigen_work(m), sizeof *work);
    int64_t nothing = 0;
    if (!work) return fenp_no_memory(err, 8 * fenp_eigen_work(m), "least squares");
    const fen_status status = fenp_eigen(m, s->basis, m, value, work, err);
    free(work);
    if (status != FEN_OK) return status;
    while (nothing < m && !(value[nothing] > (double)m * 1e-14 * value[m - 1])) nothing++;
    if (nothing == m || !is_clear(s, sqrt(value[nothing] / value[m - 1])) || !are_null(s, nothing))
        return FEN_OK;
    s->rank = s->factor_size = m - nothing;
    s->reach = s->basis + nothing * m;
    memset(s->square, 0, (size_t)(m * m) * sizeof(double));
    for (int64_t a = 0; a < s->rank; a++) s->square[a * (m + 1)] = sqrt(value[nothing + a]);
    s->factor = s->square;
    facts->condition = sqrt(value[m - 1] / value[nothing]);
    *done = 1;
    return FEN_OK;
}

fen_status fenp_broad_gram(fenp_broad *s, fenp_least_squares *facts, int *done,
                           const fenp_task *task, fen_error *err)
{
    const fenp_task filling = fenp_broad_part(task, 0.0, 0.7);
    const fenp_task factoring = fenp_broad_part(task, 0.7, 1.0);
    fen_status status =
        has_few_pairs(s) ? gram_of_pairs(s, &filling, err) : gram_of_blocks(s, &filling, err);
    if (status != FEN_OK) return status;
    memcpy(s->basis, s->square, (size_t)(s->m * s->m) * sizeof(double));
    status = try_cholesky(s, facts, &factoring, err);
    *done = s->met;
    if (status != FEN_OK || s->met || s->m > MOST_EIGEN) return status;
    return try_eigen(s, facts, done, err);
}
