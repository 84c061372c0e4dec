/* least_wide.c -- weighted least squares with many more columns than rows
 *
 *     A (m x k): unit columns, B = A norm/largest norm;   B gamma ~ c, of the best the shortest
 *     gamma = B'v,   v = U (U'BB'U)^-1 U'c,   U: an orthonormal basis of what A can reach
 *
 * Method. Nothing of the size of A is kept dense. First BB' is tried: where its Cholesky factor
 * shows that the rows are independent (but for centring: sqrt(w) is added as a column of its
 * own), U is the identity and every row is met; where eigenvalues fall into large ones and
 * nothing, and A'q = 0 of the eigenvectors q of nothing, U is the others (least_wide_gram.c).
 * Else A' is folded, a block of columns after the
 * other, into an m x m triangle R by QR, A = R'Q'. QR of R' with pivoting decides the rank by
 * the rule of least_squares.c and gives U; a second fold, of B'U, gives the factor of U'BB'U.
 * Steps of refinement, v of the residual, take the last digits; one that does not help is
 * undone.
 *
 * Aliased columns: from left to right, blocks of columns are freed of those that are in, twice;
 * the search ends when as many as the rank are found.
 *
 * Special cases. Where every row is met, the residual is 0 and said to be so.
 * Accuracy. That of seminormal equations, refined: condition numbers of B up to 1e12 or so.
 * Cost. Of BB' as many products as pairs of entries share a column, or m^2 k flops; then m^3/3.
 * Of the folds 9 m^2 k flops. 64 m^2 + 16 k targets bytes. */
#include "solver/least_wide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "base/qr.h"
#include "solver/least_wide_parts.h"

enum { MANY = 2, LEAST_BLOCK = 256, PANEL = 128, STEPS = 4, TRIES = 3 };

/* ---- room ------------------------------------------------------------------------------------ */

int fenp_least_wide_fits(int64_t m, int64_t k) { return k / MANY > m; }

static int64_t block_of(int64_t m) { return m > LEAST_BLOCK ? m : LEAST_BLOCK; }

int64_t fenp_least_wide_bytes(int64_t m, int64_t k, int64_t targets)
{
    const int64_t D = sizeof(double), squares = fenp_bytes(6 * m + 2 * block_of(m), m, D);
    const int64_t thin = fenp_bytes(2 * k + 3 * m, targets, D);
    return squares < 0 || thin < 0 ? -1 : squares + thin + D * fenp_qr_work(m);
}

static fen_status open(fenp_broad *s, fen_error *err)
{
    const int64_t m = s->m, D = sizeof(double), thin = s->targets * D;
    s->block = block_of(m);
    s->ld = s->block + m;
    s->stack = fenp_new(s->ld, m * D), s->fresh = fenp_new(s->block, m * D);
    s->square = fenp_new_zeroed(m, m * D), s->basis = fenp_new(m, m * D);
    s->residual = fenp_new(m, thin), s->v = fenp_new(m, thin), s->q = fenp_new(m, thin);
    s->gradient = fenp_new(s->k, thin), s->step = fenp_new(s->k, thin);
    s->tau = fenp_new(m, D), s->work = fenp_new(fenp_qr_work(m), D);
    s->pivot = fenp_new(m, sizeof *s->pivot);
    if (!s->stack || !s->fresh || !s->square || !s->basis || !s->residual || !s->v || !s->q ||
        !s->gradient || !s->step || !s->tau || !s->work || !s->pivot)
        return fenp_no_memory(err, fenp_least_wide_bytes(m, s->k, s->targets), "least squares");
    s->least = INFINITY;
    for (int64_t c = 0; c < s->k; c++) {
        const double norm = s->rows->norm[s->rows->column[c]];
        s->largest = fmax(s->largest, norm), s->least = fmin(s->least, norm);
    }
    fenp_least_rows_labels(s->rows, 0, m, s->residual, m);
    return FEN_OK;
}

static void close(fenp_broad *s)
{
    free(s->stack), free(s->fresh), free(s->square), free(s->basis), free(s->residual);
    free(s->v), free(s->q), free(s->gradient), free(s->step), free(s->tau), free(s->work),
        free(s->pivot);
}

/* ---- products with columns --------------------------------------------------------------- */

/* sqrt(w) (x - mean)/unit of column c, entries step apart. */
static void column(const fenp_broad *s, int64_t c, double unit, double *out, int64_t step)
{
    const fenp_least_rows *rows = s->rows;
    const fenp_design *x = rows->problem->x;
    const int64_t j = rows->column[c];
    const double mean = rows->mean[j];
    if (x->dense) {
        const double *in = x->dense + j * x->n;
        for (int64_t i = 0; i < s->m; i++)
            out[i * step] = rows->root[i] * ((in[rows->row[i]] - mean) / unit);
        return;
    }
    for (int64_t i = 0; i < s->m; i++) out[i * step] = -rows->root[i] * (mean / unit);
    for (int64_t e = x->start[j]; e < x->start[j + 1]; e++) {
        const int64_t i = rows->place[x->row[e]];
        if (i >= 0) out[i * step] = rows->root[i] * ((x->value[e] - mean) / unit);
    }
}

static double product(const fenp_broad *s, int64_t c, const double *v, double along)
{
    const fenp_least_rows *rows = s->rows;
    const fenp_design *x = rows->problem->x;
    const int64_t j = rows->column[c];
    const double mean = rows->mean[j];
    double sum = 0.0;
    if (x->dense) {
        for (int64_t i = 0; i < s->m; i++)
            sum += rows->root[i] * v[i] * (x->dense[j * x->n + rows->row[i]] - mean);
        return sum / rows->norm[j];
    }
    for (int64_t e = x->start[j]; e < x->start[j + 1]; e++) {
        const int64_t i = rows->place[x->row[e]];
        if (i >= 0) sum += rows->root[i] * v[i] * x->value[e];
    }
    return (sum - mean * along) / rows->norm[j];
}

void fenp_broad_products(const fenp_broad *s, const double *v, int64_t count, double *out)
{
    for (int64_t t = 0; t < count; t++) {
        const double *vt = v + t * s->m;
        double along = 0.0;
        for (int64_t i = 0; i < s->m; i++) along += s->rows->root[i] * vt[i];
#pragma omp parallel for schedule(guided, 64)
        for (int64_t c = 0; c < s->k; c++) out[t * s->k + c] = product(s, c, vt, along);
    }
}

void fenp_broad_block(const fenp_broad *s, int64_t first, int64_t count, int by_norm, double *out,
                      int64_t ld)
{
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < count; c++)
        column(s, first + c, by_norm ? fenp_broad_norm(s, first + c) : s->largest, out + c, ld);
}

/* residual -= sign B gamma of one target. */
static void subtract_scores(fenp_broad *s, int64_t t, double sign)
{
    const fenp_least_rows *rows = s->rows;
    const fenp_design *x = rows->problem->x;
    double *r = s->residual + t * s->m, *sum = s->q, constant = 0.0;
    memset(sum, 0, (size_t)s->m * sizeof *sum);
    for (int64_t c = 0; c < s->k; c++) {
        const int64_t j = rows->column[c];
        const double mean = rows->mean[j], step = s->step[t * s->k + c];
        for (int64_t i = 0; x->dense && i < s->m; i++)
            sum[i] += step * (x->dense[j * x->n + rows->row[i]] - mean);
        if (x->dense) continue;
        constant -= step * mean;
        for (int64_t e = x->start[j]; e < x->start[j + 1]; e++)
            if (rows->place[x->row[e]] >= 0) sum[rows->place[x->row[e]]] += step * x->value[e];
    }
    for (int64_t i = 0; i < s->m; i++) r[i] -= sign * rows->root[i] * (sum[i] + constant);
}

/* ---- folds ------------------------------------------------------------------------------- */

/* QR of rows x size in stack, by panels, to be stopped between them. */
static fen_status factor_stack(fenp_broad *s, int64_t rows, int64_t size, const fenp_task *task,
                               double at, fen_error *err)
{
    const int64_t end = rows < size ? rows : size;
    fen_status status = FEN_OK;
    for (int64_t j = 0; status == FEN_OK && j < end; j += PANEL) {
        const int64_t width = end - j < PANEL ? end - j : PANEL, after = size - j - width;
        double *a = s->stack + j + j * s->ld;
        status = fenp_qr(rows - j, width, a, s->ld, s->tau, s->work, err);
        if (status == FEN_OK)
            status = fenp_qr_multiply(rows - j, width, a, s->ld, s->tau, 1, a + width * s->ld,
                                      after, s->ld, s->work, err);
        if (status == FEN_OK) status = fenp_task_at(task, at, err);
    }
    for (int64_t j = 0; j < size; j++)
        for (int64_t i = j + 1; i < end; i++) s->stack[i + j * s->ld] = 0.0;
    return status;
}

/* A' (by_norm), or B'U, into a triangle at the top of stack. */
static fen_status fold(fenp_broad *s, int by_norm, const fenp_task *task, fen_error *err)
{
    const int64_t size = by_norm ? s->m : s->rank;
    int64_t height = 0;
    fen_status status = FEN_OK;
    for (int64_t first = 0; status == FEN_OK && first < s->k; first += s->block) {
        const int64_t count = s->k - first < s->block ? s->k - first : s->block;
        double *below = s->stack + height;
        if (by_norm) {
            fenp_broad_block(s, first, count, 1, below, s->ld);
        } else {
            fenp_broad_block(s, first, count, 0, s->fresh, s->block);
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)size, (int)s->m,
                        1.0, s->fresh, (int)s->block, s->basis, (int)s->m, 0.0, below, (int)s->ld);
        }
        status = factor_stack(s, height + count, size, task, (double)first / (double)s->k, err);
        height = height + count < size ? height + count : size;
    }
    return status;
}

/* R'P = QT: rank by the pivots of T, U of the columns of Q. */
static fen_status find_basis(fenp_broad *s, fenp_least_squares *facts, fen_error *err)
{
    const int64_t m = s->m;
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = 0; i < m; i++)
            s->square[j + i * m] = i <= j ? s->stack[i + j * s->ld] : 0.0;
    fen_status status = fenp_qr_pivoted(m, m, s->square, m, s->pivot, s->tau, s->work, err);
    const double least = s->tolerance * fabs(s->square[0]);
    s->rank = 0;
    while (s->rank < m && fabs(s->square[s->rank * (m + 1)]) > least) s->rank++;
    for (int64_t j = 0; j < s->rank; j++) {
        memset(s->basis + j * m, 0, (size_t)m * sizeof(double));
        s->basis[j * (m + 1)] = 1.0;
    }
    if (status == FEN_OK)
        status = fenp_qr_multiply(m, s->rank, s->square, m, s->tau, 0, s->basis, s->rank, m,
                                  s->work, err);
    facts->condition = 1.0 / fenp_triangular_condition(s->rank, s->square, m, s->work);
    return status;
}

static fen_status by_folds(fenp_broad *s, fenp_least_squares *facts, int *done,
                           const fenp_task *task, fen_error *err)
{
    const fenp_task first = fenp_broad_part(task, 0.0, 0.4),
                    second = fenp_broad_part(task, 0.4, 1.0);
    fen_status status = fold(s, 1, &first, err);
    if (status == FEN_OK) status = find_basis(s, facts, err);
    if (status == FEN_OK) status = fold(s, 0, &second, err);
    if (status != FEN_OK) return status;
    for (int64_t j = 0; j < s->rank; j++) /* the stack is wanted for something else */
        memcpy(s->square + j * s->m, s->stack + j * s->ld, (size_t)s->rank * sizeof(double));
    s->factor = s->square, s->factor_size = s->rank, s->reach = s->basis;
    *done = fenp_triangular_condition(s->rank, s->square, s->m, s->work) > 1e-12;
    return FEN_OK;
}

/* ---- solutions --------------------------------------------------------------------------- */

/* step = B'v/largest, the change of beta, of the residual: v = U (R'R)^-1 U' residual. */
static void solve_residual(fenp_broad *s)
{
    const int m = (int)s->m, size = (int)s->factor_size, targets = (int)s->targets;
    if (s->met)
        memcpy(s->v, s->residual, (size_t)(s->m * s->targets) * sizeof(double));
    else
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, size, targets, m, 1.0, s->reach, m,
                    s->residual, m, 0.0, s->v, m);
    for (int side = 0; side < 2; side++)
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, side ? CblasNoTrans : CblasTrans,
                    CblasNonUnit, size, targets, 1.0, s->factor, m, s->v, m);
    if (!s->met) {
        memcpy(s->q, s->v, (size_t)(s->m * s->targets) * sizeof(double));
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, targets, size, 1.0, s->reach, m,
                    s->q, m, 0.0, s->v, m);
    }
    fenp_broad_products(s, s->v, s->targets, s->step);
    for (int64_t t = 0; t < s->targets; t++)
        for (int64_t c = 0; c < s->k; c++)
            s->step[t * s->k + c] *= fenp_broad_norm(s, c) / s->largest / s->largest;
}

static void move(fenp_broad *s, double sign, double *beta)
{
    const int64_t p = s->rows->problem->x->p;
    for (int64_t t = 0; t < s->targets; t++) {
        for (int64_t c = 0; c < s->k; c++)
            beta[t * p + s->rows->column[c]] += sign * s->step[t * s->k + c];
        subtract_scores(s, t, sign);
    }
}

/* What there is still to do: A'r, or r where that can be 0. */
static double distance(fenp_broad *s)
{
    const int64_t count = (s->met ? s->m : s->k) * s->targets;
    const double *left = s->met ? s->residual : s->gradient;
    double largest = 0.0;
    if (!s->met) fenp_broad_products(s, s->residual, s->targets, s->gradient);
    for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(left[i]));
    return largest;
}

static fen_status find_beta(fenp_broad *s, double *beta, const fenp_task *task, fen_error *err)
{
    solve_residual(s);
    move(s, 1.0, beta);
    double far = distance(s);
    for (int step = 0; step < STEPS && far > 0.0; step++) {
        const fen_status status = fenp_task_at(task, (double)step / STEPS, err);
        if (status != FEN_OK) return status;
        solve_residual(s);
        move(s, 1.0, beta);
        const double now = distance(s);
        if (!(now <= far)) move(s, -1.0, beta);
        if (!(now < 0.1 * far)) break;
        far = now;
    }
    return FEN_OK;
}

/* ---- aliased columns --------------------------------------------------------------------- */

/* The parts of count columns in fresh that found orthonormal ones in stack leave, twice over. */
static void free_of(const fenp_broad *s, int64_t found, int64_t count, double *columns)
{
    const int m = (int)s->m, kept = (int)found, many = (int)count;
    for (int pass = 0; found > 0 && pass < 2; pass++) {
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, kept, many, m, 1.0, s->stack, m,
                    columns, m, 0.0, s->basis, kept);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, many, kept, -1.0, s->stack, m,
                    s->basis, kept, 1.0, columns, m);
    }
}

/* As many as the rank says, in the order of the file, if the tolerance lets them. */
static fen_status find_leading(fenp_broad *s, double tolerance, int64_t *aliased, int64_t *found,
                               const fenp_task *task, fen_error *err)
{
    const int64_t m = s->m, width = m < PANEL ? m : PANEL;
    fen_status status = FEN_OK;
    *found = 0;
    for (int64_t c = 0; c < s->k; c++) aliased[s->rows->column[c]] = 1;
    for (int64_t first = 0; status == FEN_OK && first < s->k && *found < s->rank; first += width) {
        const int64_t count = s->k - first < width ? s->k - first : width, old = *found;
        for (int64_t c = 0; c < count; c++)
            column(s, first + c, fenp_broad_norm(s, first + c), s->fresh + c * m, 1);
        free_of(s, old, count, s->fresh);
        for (int64_t c = 0; c < count && *found < s->rank; c++) {
            double *column = s->fresh + c * m;
            if (*found > old) free_of(s, *found, 1, column);
            const double left = cblas_dnrm2((int)m, column, 1);
            if (!(left > tolerance)) continue;
            for (int64_t i = 0; i < m; i++) s->stack[i + *found * m] = column[i] / left;
            aliased[s->rows->column[first + c]] = 0;
            ++*found;
        }
        status = fenp_task_at(task, (double)*found / (double)s->rank, err);
    }
    return status;
}

static fen_status mark_aliased(fenp_broad *s, int64_t *aliased, const fenp_task *task,
                               fen_error *err)
{
    const int64_t p = s->rows->problem->x->p;
    double tolerance = s->tolerance;
    int64_t found = 0;
    fen_status status = FEN_OK;
    for (int64_t j = 0; j < p; j++) aliased[j] = s->rows->norm[j] == 0.0;
    for (int try = 0; status == FEN_OK && try < TRIES && found < s->rank; try++, tolerance *= 0.1)
        status = find_leading(s, tolerance, aliased, &found, task, err);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------- */

static void put_residuals(const fenp_broad *s, double *u)
{
    const int64_t n = s->rows->problem->x->n;
    for (int64_t t = 0; t < s->targets; t++)
        for (int64_t i = 0; i < s->m; i++)
            u[t * n + s->rows->row[i]] = s->met ? 0.0 : s->residual[t * s->m + i];
}

static fen_status solve(fenp_broad *s, double *beta, double *u, fenp_least_squares *facts,
                        int *done, const fenp_task *task, fen_error *err)
{
    const fenp_task trying = fenp_broad_part(task, 0.0, 0.3),
                    folding = fenp_broad_part(task, 0.3, 0.8);
    const fenp_task refining = fenp_broad_part(task, 0.8, 0.9),
                    marking = fenp_broad_part(task, 0.9, 1.0);
    fen_status status = open(s, err);
    if (status == FEN_OK) status = fenp_broad_gram(s, facts, done, &trying, err);
    if (status == FEN_OK && !*done) status = by_folds(s, facts, done, &folding, err);
    if (status != FEN_OK || !*done) return status;
    status = find_beta(s, beta, &refining, err);
    if (status == FEN_OK) put_residuals(s, u);
    facts->rank = s->rank;
    return status == FEN_OK ? mark_aliased(s, facts->aliased, &marking, err) : status;
}

fen_status fenp_least_wide_solve(const fenp_least_rows *rows, double tolerance, double *beta,
                                 double *u, fenp_least_squares *facts, int *done,
                                 const fenp_task *task, fen_error *err)
{
    fenp_broad s = {
        .rows = rows, .m = rows->m, .k = rows->k, .targets = rows->targets, .tolerance = tolerance
    };
    *done = 0;
    const fen_status status = solve(&s, beta, u, facts, done, task, err);
    close(&s);
    return status;
}
