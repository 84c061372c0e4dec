/* loo.c -- exact leave-one-out and generalised cross-validation
 *
 * In the folded space (fold.h) with a = M Sy, M = B (B'SKSB + n lambda I)^-1 B', the
 * residual of row i when its own term is deleted and the other weights stay is
 *
 *     rho_i = a_i / M_ii                    score = mean rho_i^2 = sum w_i r_i^2
 *     GCV:  rho_i = a_i / (trace M / n)
 *
 * Primal form: n lambda M = I - H, so rho_i = (y - fitted)_i / (1 - h_i).
 * Accuracy. M_ii is a sum of squares: nothing cancels. The primal form has 1 - h_i, which
 * does for a row of leverage near 1: below n eps it is rounding, and the score infinite.
 * Cost. Spectrum: 4 n r flops per lambda in two GEMMs, in slabs of rows. Cholesky:
 * 2/3 n^3 per lambda (L, then L^-1, whose column norms are the diagonal of G^-1). */
#include "promise/loo.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"

enum { SLAB = 512 };

/* mean rho^2 from numerators and denominators; GCV puts the mean denominator under all. */
static double mean_square(const double *above, const double *below, int64_t n, fenp_score_kind kind,
                          double least)
{
    long double sum = 0.0L, mean = 0.0L;
    for (int64_t i = 0; i < n; i++) {
        if (!(below[i] > least)) return INFINITY;
        mean += below[i];
    }
    mean /= (long double)n;
    for (int64_t i = 0; i < n; i++) {
        const double rho = above[i] / (kind == FENP_GCV ? (double)mean : below[i]);
        sum += (long double)rho * rho;
    }
    return (double)(sum / (long double)n);
}

int64_t fenp_scores_spectrum_bytes(const fenp_size *size, int64_t count, int primal)
{
    const int64_t rank = primal ? size->p : size->n, columns = count * (size->targets + 1);
    const int64_t squares = fenp_arena_bytes(rank * columns) + fenp_arena_bytes(size->n * columns) +
                            fenp_arena_bytes(SLAB * rank);
    if (size->power == 2.0) return squares;
    const int64_t powers = fenp_left_out_bytes(rank, size->targets, count, SLAB);
    return squares > powers ? squares : powers;
}

/* Columns of factors: ty/(d+c) for every (lambda, target), then 1/(d+c) for every lambda. */
static void fill_factors(const fenp_spectrum *e, const fenp_setting *points, int64_t count,
                         double *factors)
{
    const int64_t r = e->rank;
    for (int64_t l = 0; l < count; l++) {
        const double c = (double)e->n * points[l].lambda;
        double *inverse = factors + (count * e->targets + l) * r;
        for (int64_t j = 0; j < r; j++) inverse[j] = 1.0 / (e->d[j] + c);
        for (int64_t t = 0; t < e->targets; t++)
            for (int64_t j = 0; j < r; j++)
                factors[(l * e->targets + t) * r + j] = e->ty[t * r + j] * inverse[j];
    }
}

/* products (n x columns) = U (numerators), (U.*U) (denominators) */
static void multiply(const fenp_spectrum *e, int64_t count, const double *factors, double *squares,
                     double *products)
{
    const int64_t n = e->n, r = e->rank, above = count * e->targets;
    for (int64_t i0 = 0; i0 < n; i0 += SLAB) {
        const int rows = (int)(n - i0 < SLAB ? n - i0 : SLAB);
#pragma omp parallel for
        for (int64_t j = 0; j < r; j++) {
            const double *column = e->basis + i0 + j * n;
            for (int64_t i = 0; i < rows; i++) squares[i + j * SLAB] = column[i] * column[i];
        }
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows, (int)above, (int)r, 1.0,
                    e->basis + i0, (int)n, factors, (int)r, 0.0, products + i0, (int)n);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows, (int)count, (int)r, 1.0,
                    squares, SLAB, factors + above * r, (int)r, 0.0, products + i0 + above * n,
                    (int)n);
    }
}

static void scores_of_squares(fenp_arena *arena, const fenp_spectrum *e, const double *w, int bias,
                              const fenp_setting *points, int64_t count, fenp_score_kind kind,
                              double *scores)
{
    const int64_t n = e->n, columns = count * (e->targets + 1);
    double *factors = fenp_arena_doubles(arena, e->rank * columns);
    double *products = fenp_arena_doubles(arena, n * columns);
    fill_factors(e, points, count, factors);
    multiply(e, count, factors, fenp_arena_doubles(arena, SLAB * e->rank), products);
    for (int64_t l = 0; l < count; l++) {
        double *below = products + (count * e->targets + l) * n;
        if (e->primal) /* 1 - h, the bias takes w_i of it */
            for (int64_t i = 0; i < n; i++) below[i] = 1.0 - below[i] - (bias ? w[i] : 0.0);
        for (int64_t t = 0; t < e->targets; t++) {
            double *above = products + (l * e->targets + t) * n;
            if (e->primal)
                for (int64_t i = 0; i < n; i++) above[i] = e->y[t * n + i] - above[i];
            scores[t * count + l] =
                mean_square(above, below, n, kind, e->primal ? (double)n * DBL_EPSILON : 0.0);
        }
    }
}

/* GCV at the shrinkage c of all the data: n L(c) / (sum of c M_ii)^2. */
fen_status fenp_scores_gcv(const fenp_spectrum *e, int bias, const fenp_setting *points,
                           int64_t count, double *q, double *scores, fen_error *err)
{
    const double n = (double)e->n, untouched = e->primal ? n - (double)(e->rank + bias) : 0.0;
    for (int64_t t = 0; t < e->targets; t++) {
        fenp_measure m;
        const fenp_curve curve = fenp_spectrum_curve(e, t, q, &m);
        for (int64_t l = 0; l < count; l++) {
            fenp_root root;
            const fen_status status = fenp_curve_minimum(&curve, e->n, points[l].lambda,
                                                         points[l].power, 1e-10, &root, err);
            if (status != FEN_OK) return status;
            const double c = fmax(root.c, exp(curve.least)); /* less is lost in K's rounding */
            double loss = m.rest, trace = untouched;
            for (int64_t j = 0; j < e->rank; j++) {
                const double share = 1.0 / (1.0 + e->d[j] / c); /* c = infinity: f = 0 */
                loss += q[j] * share * share;
                trace += share;
            }
            scores[t * count + l] =
                trace > 0.0 ? exp(m.log_energy) * loss * n / (trace * trace) : INFINITY;
        }
    }
    return FEN_OK;
}

static int are_squares(const fenp_setting *points, int64_t count)
{
    for (int64_t l = 0; l < count; l++)
        if (points[l].power != 2.0) return 0;
    return 1;
}

fen_status fenp_scores_spectrum(fenp_arena *arena, const fenp_spectrum *e, const double *w,
                                int bias, const fenp_setting *points, int64_t count,
                                fenp_score_kind kind, double *scores, fen_error *err)
{
    if (are_squares(points, count)) {
        scores_of_squares(arena, e, w, bias, points, count, kind, scores);
        return FEN_OK;
    }
    if (kind == FENP_GCV)
        return fenp_scores_gcv(e, bias, points, count, fenp_arena_doubles(arena, e->rank), scores,
                               err);
    fenp_left_out *left_out;
    const fen_status status =
        fenp_left_out_begin(arena, e, bias, points, count, SLAB, &left_out, err);
    if (status != FEN_OK) return status;
    for (int64_t i = 0; i < e->n; i += SLAB)
        fenp_left_out_rows(left_out, e->basis + i, e->n, e->y + i, e->n, w + i,
                           e->n - i < SLAB ? e->n - i : SLAB);
    fenp_left_out_scores(left_out, scores);
    return FEN_OK;
}

int64_t fenp_scores_cholesky_bytes(const fenp_size *size)
{
    const int64_t n = size->n;
    if (fenp_bytes(n, n, sizeof(double)) < 0) return -1;
    return fenp_arena_bytes(n * n) + fenp_arena_bytes(fenp_fold_doubles(n, size->bias)) +
           3 * fenp_arena_bytes(n) + fenp_arena_bytes(2 * n) +
           2 * fenp_arena_bytes(n * size->targets);
}

/* M_ii = |X B'e_i|^2, X = L^-1, B'e_i = e_i - tau h_i h_m (the last row: no e_i). */
static void inverse_diagonal(const fenp_fold *fold, const double *x, double *p, double *diagonal)
{
    const int64_t n = fold->n, m = fold->m;
    memset(p, 0, (size_t)n * sizeof(double));
    if (fold->h) {
        memcpy(p, fold->h, (size_t)m * sizeof(double));
        cblas_dtrmv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)m, x, (int)n, p, 1);
    }
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < n; i++) {
        const double along = fold->h ? fold->tau * fold->h[i] : 0.0;
        double sum = 0.0;
        for (int64_t k = 0; k < m; k++) {
            const double entry = (k >= i ? x[k + i * n] : 0.0) - along * p[k];
            sum += entry * entry;
        }
        diagonal[i] = sum;
    }
}

fen_status fenp_scores_cholesky(fenp_arena *arena, const fenp_problem *problem,
                                const fenp_setting *points, int64_t count, fenp_score_kind kind,
                                double *scores, const fenp_task *task, fen_error *err)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, k = sample->targets;
    double *a = fenp_arena_doubles(arena, n * n);
    const fenp_fold fold =
        fenp_fold_make(sample->w, n, problem->bias,
                       fenp_arena_doubles(arena, fenp_fold_doubles(n, problem->bias)));
    double *diag = fenp_arena_doubles(arena, n), *below = fenp_arena_doubles(arena, n);
    double *above = fenp_arena_doubles(arena, n), *work = fenp_arena_doubles(arena, 2 * n);
    double *right = fenp_arena_doubles(arena, n * k), *solved = fenp_arena_doubles(arena, n * k);
    fen_status status = fenp_gram_upper(&problem->kernel, fenp_sample_inputs(sample), a, NULL, err);
    if (status != FEN_OK) return status;
    for (int64_t i = 0; i < n; i++) diag[i] = a[i + i * n];
    for (int64_t t = 0; t < k; t++) {
        memcpy(above, sample->y + t * n, (size_t)n * sizeof(double));
        fenp_fold_down(&fold, above, right + t * fold.m);
    }
    for (int64_t l = 0; l < count; l++) {
        const fenp_task part =
            fenp_task_part(task, task ? task->stage : "", (double)l / (double)count,
                           (double)(l + 1) / (double)count);
        int64_t rank = 0;
        fenp_fold_matrix(&fold, a, diag, (double)n * points[l].lambda, work);
        status = fenp_cholesky(fold.m, a, n, &rank, &part, err);
        if (status != FEN_OK) return status;
        if (rank < fold.m) { /* lambda drowns in rounding errors */
            for (int64_t t = 0; t < k; t++) scores[t * count + l] = INFINITY;
            continue;
        }
        memcpy(solved, right, (size_t)(fold.m * k) * sizeof(double));
        status = fenp_cholesky_solve(fold.m, a, n, solved, k, err);
        if (status == FEN_OK) status = fenp_triangular_inverse(fold.m, a, n, err);
        if (status != FEN_OK) return status;
        inverse_diagonal(&fold, a, work, below);
        for (int64_t t = 0; t < k; t++) {
            fenp_fold_up(&fold, solved + t * fold.m, above);
            for (int64_t i = 0; i < n; i++) above[i] /= fold.s[i]; /* a, not S a */
            scores[t * count + l] = mean_square(above, below, n, kind, 0.0);
        }
    }
    return FEN_OK;
}
