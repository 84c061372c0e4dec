/* least_squares.c -- weighted least squares of any rank
 *
 *     minimise over beta, b   sum_i w_i (y_i - x_i'beta - b)^2,   of the best beta the shortest
 *     u_i = 2 w_i (y_i - x_i'beta - b),   X'u = 0, with bias sum u = 0
 *
 * Method. Rows are weighted and centred, columns have norm 1 (least_rows.h): A s ~ c with
 * s = norm beta. Blocks of rows are folded one after the other into a triangle by QR, so that
 * nothing of the size of A is kept. If that triangle is far from singular the rank is full;
 * else QR with column pivoting decides: the pivots above max(n, p) eps of the largest count (or
 * above 10 eps times the digits that centring took, if that is more). Of lesser rank, R_1 P' s =
 * c_1 with the leading rows R_1 holds for all best ones, and QR of (R_1 P' norm)' gives the
 * shortest beta among them. One step of refinement by the corrected semi-normal equations,
 * R_1'c = A'r, takes the last digits out of A'r; r is updated by it, not computed anew, so that
 * X'u vanishes beside u and not only beside y.
 *
 * Aliased columns are those that the ones before them span. On the triangle, which has kept
 * the order of the file, reflections go from left to right; a column of which less than the
 * tolerance is left is passed over.
 *
 * Many more columns than rows are those of least_wide.c.
 *
 * Special cases. Constant columns (bias) and columns of zeros get 0 and count as aliased. No
 * rows of positive weight: all is 0.
 * Accuracy. That of a backward stable method; with condition numbers over 1e8 the step of
 * refinement may not help, and is then undone.
 * Cost. 2 n p^2 flops, 2.5 with several blocks, and 8 n p targets for the refinement; 40 p^2 +
 * 32 K p bytes, of deficient rank 16 p^2 more. */
#include "solver/least_squares.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "base/qr.h"
#include "solver/least_rows.h"
#include "solver/least_wide.h"

enum { FEW_ROWS = 4096 }; /* of a block at least: its panels stay in the cache */

typedef struct state {
    fenp_least_rows rows;
    int64_t k, targets;   /* columns in play, right-hand sides                       */
    int64_t block, ld;    /* rows of a block; stride of stack and sides              */
    int64_t height, rank; /* rows of the triangle: min(m, k)                         */
    double tolerance;
    double *stack;    /* ld x k: the triangle, a block below it                  */
    double *sides;    /* ld x targets                                            */
    double *step;     /* k x targets: a change of s, in the order of columns     */
    double *gradient; /* k x targets: A'r                                        */
    double *tau, *work;
    int64_t *pivot;     /* k: column k of the factor is column pivot[k]            */
    double *ordered;    /* height x k: the triangle before pivoting; NULL: no need */
    double *across;     /* k x rank: (R_1 P' norm)', factorised; NULL: full rank   */
    double *across_tau; /* rank                                                    */
} state;

/* ---- room -------------------------------------------------------------------------------- */

static int64_t block_rows(int64_t m, int64_t k)
{
    const int64_t wanted = 4 * k > FEW_ROWS ? 4 * k : FEW_ROWS;
    return m < wanted ? m : wanted;
}

static int64_t bytes_by_rows(int64_t m, int64_t k, int64_t targets)
{
    const int64_t block = block_rows(m, k), height = m < k ? m : k;
    const int64_t tall = fenp_bytes(block + height, k + targets, sizeof(double));
    const int64_t wide = fenp_bytes(2 * height, k, sizeof(double));
    const int64_t thin = fenp_bytes(k + targets, 2 * targets + 80, sizeof(double));
    return tall < 0 || wide < 0 || thin < 0 ? -1 : tall + wide + thin;
}

int64_t fenp_least_squares_bytes(int64_t n, int64_t p, int64_t targets)
{
    return fenp_least_wide_fits(n, p) ? fenp_least_wide_bytes(n, p, targets)
                                      : bytes_by_rows(n, p, targets);
}

static fen_status check_room(const state *s, int64_t bytes, fen_error *err)
{
    const int64_t needed = bytes, room = s->rows.problem->room;
    if (needed < 0 || (room > 0 && needed > room))
        return fenp_fail(err, FEN_MEMORY,
                         "least squares with %lld columns takes %.1f GB beside the data; raise "
                         "--memory, or use --penalty l1 or ridge (--kernel linear), which need "
                         "less",
                         (long long)s->rows.k, needed < 0 ? INFINITY : (double)needed / 1e9);
    return FEN_OK;
}

static fen_status open(state *s, fen_error *err)
{
    const int64_t m = s->rows.m, D = sizeof(double);
    s->height = m < s->k ? m : s->k;
    s->block = block_rows(m, s->k);
    s->ld = s->block + s->height + 1;
    const fen_status status = check_room(s, bytes_by_rows(m, s->k, s->targets), err);
    if (status != FEN_OK) return status;
    s->stack = fenp_new(s->ld, s->k * D), s->sides = fenp_new(s->ld, s->targets * D);
    s->step = fenp_new(s->k, s->targets * D), s->gradient = fenp_new(s->k, s->targets * D);
    s->tau = fenp_new(s->k, D), s->pivot = fenp_new(s->k, sizeof *s->pivot);
    s->work = fenp_new(fenp_qr_work(s->k + s->targets), D);
    if (!s->stack || !s->sides || !s->step || !s->gradient || !s->tau || !s->pivot || !s->work)
        return fenp_no_memory(err, bytes_by_rows(m, s->k, s->targets), "least squares");
    return FEN_OK;
}

static void close(state *s)
{
    fenp_least_rows_close(&s->rows);
    free(s->stack), free(s->sides), free(s->step), free(s->gradient), free(s->tau);
    free(s->work), free(s->pivot), free(s->ordered), free(s->across), free(s->across_tau);
}

/* ---- the triangle ------------------------------------------------------------------------- */

static void clear_below(double *r, int64_t rows, int64_t columns, int64_t ld)
{
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = j + 1; i < rows; i++) r[i + j * ld] = 0.0;
}

/* All rows, block by block: stack and sides begin with R and Q'b. */
static fen_status reduce(state *s, const fenp_task *task, fen_error *err)
{
    const int64_t m = s->rows.m;
    int64_t height = 0;
    fen_status status = FEN_OK;
    for (int64_t first = 0; status == FEN_OK && first < m; first += s->block) {
        const int64_t count = m - first < s->block ? m - first : s->block, all = height + count;
        fenp_least_rows_block(&s->rows, first, count, s->stack + height, s->ld);
        fenp_least_rows_labels(&s->rows, first, count, s->sides + height, s->ld);
        status = fenp_qr(all, s->k, s->stack, s->ld, s->tau, s->work, err);
        const int64_t reflectors = all < s->k ? all : s->k;
        if (status == FEN_OK)
            status = fenp_qr_multiply(all, reflectors, s->stack, s->ld, s->tau, 1, s->sides,
                                      s->targets, s->ld, s->work, err);
        height = reflectors;
        clear_below(s->stack, height, s->k, s->ld);
        if (status == FEN_OK)
            status = fenp_task_at(task, 0.9 * (double)(first + count) / (double)m, err);
    }
    return status;
}

/* ---- rank --------------------------------------------------------------------------------- */

static fen_status pivot_columns(state *s, fen_error *err)
{
    fen_status status =
        fenp_qr_pivoted(s->height, s->k, s->stack, s->ld, s->pivot, s->tau, s->work, err);
    if (status == FEN_OK)
        status = fenp_qr_multiply(s->height, s->height, s->stack, s->ld, s->tau, 1, s->sides,
                                  s->targets, s->ld, s->work, err);
    clear_below(s->stack, s->height, s->k, s->ld);
    const double least = s->tolerance * fabs(s->stack[0]);
    s->rank = 0;
    while (s->rank < s->height && fabs(s->stack[s->rank * (s->ld + 1)]) > least) s->rank++;
    return status;
}

/* (R_1 P' norm)' = Q R: rows in the order of columns. */
static fen_status factor_across(state *s, fen_error *err)
{
    s->across = fenp_new_zeroed(s->k, s->rank * (int64_t)sizeof(double));
    s->across_tau = fenp_new(s->rank, sizeof(double));
    if (!s->across || !s->across_tau)
        return fenp_no_memory(err, fenp_bytes(s->k, s->rank, sizeof(double)), "least squares");
    for (int64_t j = 0; j < s->k; j++) {
        const double norm = s->rows.norm[s->rows.column[s->pivot[j]]];
        for (int64_t i = 0; i < s->rank && i <= j; i++)
            s->across[s->pivot[j] + i * s->k] = s->stack[i + j * s->ld] * norm;
    }
    return fenp_qr(s->k, s->rank, s->across, s->k, s->across_tau, s->work, err);
}

/* Parts above it count. */
static double tolerance_of(const fenp_least_rows *rows)
{
    const double size = (double)(rows->m > rows->problem->x->p ? rows->m : rows->problem->x->p);
    return DBL_EPSILON * fmax(size, 10.0 * rows->offset);
}

static fen_status decide_rank(state *s, fen_error *err)
{
    s->tolerance = tolerance_of(&s->rows);
    for (int64_t j = 0; j < s->k; j++) s->pivot[j] = j;
    s->rank = s->k;
    /* in this norm a factor sqrt(k) may be lost twice, and 10 by the estimate */
    if (s->height == s->k && fenp_triangular_condition(s->k, s->stack, s->ld, s->work) >
                                 10.0 * (double)s->k * s->tolerance)
        return FEN_OK;
    s->ordered = fenp_new(s->height, s->k * (int64_t)sizeof(double));
    if (!s->ordered)
        return fenp_no_memory(err, fenp_bytes(s->height, s->k, sizeof(double)), "least squares");
    for (int64_t j = 0; j < s->k; j++)
        memcpy(s->ordered + j * s->height, s->stack + j * s->ld,
               (size_t)s->height * sizeof(double));
    const fen_status status = pivot_columns(s, err);
    return status == FEN_OK && s->rank < s->k ? factor_across(s, err) : status;
}

/* ---- aliased columns ------------------------------------------------------------------------ */

/* Makes rows 1 .. count - 1 of column 0 zero by a reflection, and turns columns 1 .. along.
 * work: columns. */
static void reflect(double *a, int64_t count, int64_t columns, int64_t ld, double norm,
                    double *work)
{
    if (count < 2 || columns < 2) return;
    const int rows = (int)count, others = (int)(columns - 1), stride = (int)ld;
    const double scale = -1.0 / (norm * (norm + fabs(a[0])));
    a[0] += a[0] > 0.0 ? norm : -norm;
    cblas_dgemv(CblasColMajor, CblasTrans, rows, others, scale, a + ld, stride, a, 1, 0.0, work, 1);
    cblas_dger(CblasColMajor, rows, others, 1.0, a, 1, work, 1, a + ld, stride);
}

/* How many columns the ones before them span, but for a part below tolerance. The part of the
 * stack below the triangle is the work area: a trapezoid that loses a row with every column
 * that is not spanned. */
static int64_t find_aliased(state *s, double tolerance, int64_t *aliased)
{
    double *r = s->stack + s->height;
    int64_t pivots = 0;
    for (int64_t j = 0; j < s->k; j++)
        memcpy(r + j * s->ld, s->ordered + j * s->height, (size_t)s->height * sizeof(double));
    for (int64_t j = 0; j < s->k; j++) {
        const int64_t end = j + 1 < s->height ? j + 1 : s->height;
        double *at = r + pivots + j * s->ld;
        const double left = end > pivots ? cblas_dnrm2((int)(end - pivots), at, 1) : 0.0;
        aliased[s->rows.column[j]] = !(left > tolerance);
        if (!(left > tolerance)) continue;
        reflect(at, end - pivots, s->k - j, s->ld, left, s->work);
        pivots++;
    }
    return s->k - pivots;
}

/* As many as the rank says, where a tolerance near the one that decided it finds so many. */
static void mark_aliased(state *s, int64_t *aliased)
{
    enum { TRIES = 8 };
    const int64_t p = s->rows.problem->x->p, wanted = s->k - s->rank;
    double tolerance = s->tolerance, factor = 0.0;
    for (int64_t j = 0; j < p; j++) aliased[j] = s->rows.m == 0 || s->rows.norm[j] == 0.0;
    for (int try = 0; wanted > 0 && try < TRIES; try++, tolerance *= factor) {
        const int64_t found = find_aliased(s, tolerance, aliased);
        if (found == wanted) return;
        if (factor == 0.0) factor = found < wanted ? 4.0 : 0.25;
    }
}

/* ---- solutions ------------------------------------------------------------------------------ */

/* From R_1 s = sides (rank x targets) to the change of beta, and to step, that of s. */
static fen_status solve_sides(state *s, double *beta, fen_error *err)
{
    const int rank = (int)s->rank, targets = (int)s->targets, stride = (int)s->ld;
    const int64_t k = s->k, p = s->rows.problem->x->p;
    fen_status status = FEN_OK;
    memset(s->step, 0, (size_t)(k * s->targets) * sizeof(double));
    if (!s->across)
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, rank, targets,
                    1.0, s->stack, stride, s->sides, stride);
    else
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, rank, targets,
                    1.0, s->across, (int)k, s->sides, stride);
    for (int64_t t = 0; t < s->targets; t++)
        for (int64_t i = 0; i < s->rank; i++)
            s->step[t * k + (s->across ? i : s->pivot[i])] = s->sides[t * s->ld + i];
    if (s->across)
        status = fenp_qr_multiply(k, s->rank, s->across, k, s->across_tau, 0, s->step, s->targets,
                                  k, s->work, err);
    for (int64_t t = 0; t < s->targets; t++)
        for (int64_t c = 0; c < k; c++) {
            const int64_t j = s->rows.column[c];
            double *at = &s->step[t * k + c];
            beta[t * p + j] += s->across ? *at : *at / s->rows.norm[j];
            if (s->across) *at *= s->rows.norm[j];
        }
    return status;
}

/* r -= sign A step (fresh: from r = b), which u keeps row by row; gradient = A'r. */
static void pass(state *s, double sign, int fresh, double *u)
{
    const fenp_least_rows *rows = &s->rows;
    const int64_t n = rows->problem->x->n, height = s->height;
    const int k = (int)s->k, targets = (int)s->targets, ld = (int)s->ld;
    double *a = s->stack + height, *r = s->sides + height;
    memset(s->gradient, 0, (size_t)(s->k * s->targets) * sizeof(double));
    for (int64_t first = 0; first < rows->m; first += s->block) {
        const int64_t count = rows->m - first < s->block ? rows->m - first : s->block;
        fenp_least_rows_block(rows, first, count, a, s->ld);
        if (fresh) fenp_least_rows_labels(rows, first, count, r, s->ld);
        for (int64_t t = 0; !fresh && t < s->targets; t++)
            for (int64_t i = 0; i < count; i++) r[t * s->ld + i] = u[t * n + rows->row[first + i]];
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)count, targets, k, -sign, a, ld,
                    s->step, k > 0 ? k : 1, 1.0, r, ld);
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, targets, (int)count, 1.0, a, ld, r,
                    ld, 1.0, s->gradient, k > 0 ? k : 1);
        for (int64_t t = 0; t < s->targets; t++)
            for (int64_t i = 0; i < count; i++) u[t * n + rows->row[first + i]] = r[t * s->ld + i];
    }
}

static double largest_gradient(const state *s)
{
    double largest = 0.0;
    for (int64_t i = 0; i < s->k * s->targets; i++) largest = fmax(largest, fabs(s->gradient[i]));
    return largest;
}

/* sides = R_1^-T (P'A'r)_1 */
static void sides_of_gradient(state *s)
{
    for (int64_t t = 0; t < s->targets; t++)
        for (int64_t i = 0; i < s->rank; i++)
            s->sides[t * s->ld + i] = s->gradient[t * s->k + s->pivot[i]];
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (int)s->rank,
                (int)s->targets, 1.0, s->stack, (int)s->ld, s->sides, (int)s->ld);
}

static fen_status refine(state *s, double *beta, double *u, fen_error *err)
{
    const int64_t p = s->rows.problem->x->p;
    const double before = largest_gradient(s);
    sides_of_gradient(s);
    const fen_status status = solve_sides(s, beta, err);
    if (status != FEN_OK) return status;
    pass(s, 1.0, 0, u);
    if (largest_gradient(s) <= before) return FEN_OK;
    for (int64_t t = 0; t < s->targets; t++)
        for (int64_t c = 0; c < s->k; c++)
            beta[t * p + s->rows.column[c]] -=
                s->step[t * s->k + c] / s->rows.norm[s->rows.column[c]];
    pass(s, -1.0, 0, u);
    return FEN_OK;
}

/* b, and r in u becomes 2 w (y - X beta - b), of which the sum is 0 with bias. */
static void finish(const state *s, const double *beta, double *b, double *u)
{
    const fenp_least_rows *rows = &s->rows;
    const int64_t n = rows->problem->x->n, p = rows->problem->x->p;
    for (int64_t t = 0; t < s->targets; t++) {
        double mean = 0.0;
        b[t] = rows->label[t];
        for (int64_t c = 0; c < s->k; c++)
            b[t] -= rows->mean[rows->column[c]] * beta[t * p + rows->column[c]];
        for (int64_t i = 0; rows->problem->bias && i < rows->m; i++)
            mean += rows->root[i] * u[t * n + rows->row[i]] / rows->weight;
        b[t] += mean;
        for (int64_t i = 0; i < rows->m; i++) {
            double *at = &u[t * n + rows->row[i]];
            *at = 2.0 * rows->root[i] * (*at - rows->root[i] * mean);
        }
    }
}

/* Many more columns than rows; else, or if *done stays 0: by rows. */
static fen_status solve_wide(state *s, double *beta, double *b, double *u,
                             fenp_least_squares *facts, int *done, const fenp_task *task,
                             fen_error *err)
{
    const int64_t m = s->rows.m;
    *done = 0;
    if (m == 0 || !fenp_least_wide_fits(m, s->k)) return FEN_OK;
    fen_status status = check_room(s, fenp_least_wide_bytes(m, s->k, s->targets), err);
    if (status == FEN_OK)
        status = fenp_least_wide_solve(&s->rows, tolerance_of(&s->rows), beta, u, facts, done, task,
                                       err);
    if (status == FEN_OK && *done) finish(s, beta, b, u);
    return status;
}

static fen_status solve(state *s, double *beta, double *b, double *u, fenp_least_squares *facts,
                        const fenp_task *task, fen_error *err)
{
    int done;
    s->k = s->rows.k;
    fen_status status = solve_wide(s, beta, b, u, facts, &done, task, err);
    if (status != FEN_OK || done) return status;
    status = open(s, err);
    if (status == FEN_OK) status = reduce(s, task, err);
    if (status == FEN_OK && s->k > 0) status = decide_rank(s, err);
    if (status != FEN_OK) return status;
    facts->rank = s->rank;
    facts->condition = 1.0 / fenp_triangular_condition(s->rank, s->stack, s->ld, s->work);
    mark_aliased(s, facts->aliased);
    status = solve_sides(s, beta, err);
    if (status == FEN_OK) pass(s, 1.0, 1, u);
    if (status == FEN_OK && s->k > 0) status = refine(s, beta, u, err);
    if (status == FEN_OK) finish(s, beta, b, u);
    return status;
}

fen_status fenp_least_squares_solve(const fenp_linear *problem, int64_t targets, double *beta,
                                    double *b, double *u, fenp_least_squares *facts,
                                    const fenp_task *task, fen_error *err)
{
    state s = { .targets = targets };
    memset(beta, 0, (size_t)(targets * problem->x->p) * sizeof(double));
    memset(u, 0, (size_t)(targets * problem->x->n) * sizeof(double));
    fen_status status = fenp_least_rows_open(problem, targets, &s.rows, err);
    if (status != FEN_OK) return status;
    status = solve(&s, beta, b, u, facts, task, err);
    close(&s);
    return status;
}
