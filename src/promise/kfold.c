/* kfold.c -- K-fold cross-validation on one shared kernel matrix
 *
 * Fold k is left out whole and the rest refitted with weights that sum to one: the
 * ordinary convention. One eigendecomposition per fold answers every setting; the
 * predictions of a fold for all of them are one product of K with the coefficients.
 * Cost. K times (9 ((1-1/K) n)^3 + 2 n^2 count) flops, 8 n^2 + 24 ((1-1/K) n)^2 bytes.
 * Linear kernels with fewer columns than rows: the same by the columns, K times (4 n p^2 + 9 p^3 +
 * 2 n p count) flops. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/linalg.h"
#include "base/random.h"
#include "promise/loo.h"

int64_t fenp_scores_kfold_bytes(const fenp_size *size, int64_t count)
{
    const int64_t n = size->n, spectrum = fenp_spectrum_bytes(size, 0);
    if (spectrum < 0) return -1;
    return spectrum + fenp_arena_bytes(n * n) + 7 * fenp_arena_bytes(n) +
           fenp_arena_bytes(n * size->targets) + 2 * fenp_arena_bytes(n * count * size->targets);
}

fen_status fenp_deal_rows(int64_t n, int64_t folds, uint64_t seed, int64_t *order, fen_error *err)
{
    if (folds > n)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--select kfold:%lld or 1se:%lld needs as many rows at least, and there "
                         "are %lld; take fewer folds",
                         (long long)folds, (long long)folds, (long long)n);
    fenp_permutation(seed, 2, n, order);
    return FEN_OK;
}

typedef struct deal {
    const fenp_problem *problem;
    const double *k;
    const fenp_setting *points;
    int64_t count, folds;
    int64_t *order, *train; /* shuffled rows; the rows of the training part          */
    double *w, *y;          /* of the training part                                  */
    double *c, *f;          /* n x (count * targets)                                 */
    double *q, *scaled, *column;
} deal;

/* Training rows of one fold, their renormalised weights and labels. */
static int64_t gather_rows(deal *s, int64_t fold)
{
    const fenp_sample *sample = s->problem->sample;
    const int64_t n = sample->n;
    int64_t m = 0;
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        if (i % s->folds != fold) sum += sample->w[s->train[m++] = s->order[i]];
    for (int64_t i = 0; i < m; i++) {
        s->w[i] = sample->w[s->train[i]] / sum;
        for (int64_t t = 0; t < sample->targets; t++)
            s->y[t * m + i] = sample->y[t * n + s->train[i]];
    }
    return m;
}

/* And their kernel values. */
static int64_t gather(deal *s, int64_t fold, double *a)
{
    const int64_t n = s->problem->sample->n, m = gather_rows(s, fold);
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = 0; i <= j; i++) {
            const int64_t p = s->train[i], q = s->train[j];
            a[i + j * m] = p < q ? s->k[p + q * n] : s->k[q + p * n];
        }
    return m;
}

/* c = S U (ty / (d + c2)), c2 the shrinkage of this fold, scattered to all n rows, for every
 * setting and target; zero where f = 0. */
static fen_status coefficients(deal *s, const fenp_spectrum *e, fen_error *err)
{
    const int64_t n = s->problem->sample->n, m = e->n, r = e->rank;
    memset(s->c, 0, (size_t)(n * s->count * e->targets) * sizeof(double));
    if (r == 0) return FEN_OK; /* one row and a bias: f = 0 */
    for (int64_t t = 0; t < e->targets; t++) {
        fenp_measure measure;
        const fenp_curve curve = fenp_spectrum_curve(e, t, s->q, &measure);
        for (int64_t l = 0; l < s->count; l++) {
            double *c = s->c + (l * e->targets + t) * n;
            fenp_root root;
            const fen_status status = fenp_curve_minimum(&curve, m, s->points[l].lambda,
                                                         s->points[l].power, 1e-10, &root, err);
            if (status != FEN_OK) return status;
            if (isinf(root.c)) continue;
            for (int64_t j = 0; j < r; j++) s->scaled[j] = e->ty[t * r + j] / (e->d[j] + root.c);
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)m, (int)r, 1.0, e->basis, (int)m,
                        s->scaled, 1, 0.0, s->column, 1);
            for (int64_t i = 0; i < m; i++) c[s->train[i]] = e->fold.s[i] * s->column[i];
        }
    }
    return FEN_OK;
}

static void add_held_out(const deal *s, int64_t fold, int64_t m, double *scores)
{
    const fenp_sample *sample = s->problem->sample;
    const int64_t n = sample->n;
    for (int64_t l = 0; l < s->count; l++)
        for (int64_t t = 0; t < sample->targets; t++) {
            const double *f = s->f + (l * sample->targets + t) * n;
            double b = 0.0;
            if (s->problem->bias)
                for (int64_t i = 0; i < m; i++) b += s->w[i] * (s->y[t * m + i] - f[s->train[i]]);
            for (int64_t i = fold; i < n; i += s->folds) {
                const int64_t row = s->order[i];
                const double r = sample->y[t * n + row] - f[row] - b;
                scores[t * s->count + l] += sample->w[row] * r * r;
            }
        }
}

fen_status fenp_scores_kfold(fenp_arena *arena, const fenp_problem *problem,
                             const fenp_setting *points, int64_t count, int64_t folds,
                             uint64_t seed, double *scores, const fenp_task *task, fen_error *err)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, columns = count * sample->targets;
    double *k = fenp_arena_doubles(arena, n * n), *diag = fenp_arena_doubles(arena, n);
    deal s = { .problem = problem, .k = k, .points = points, .count = count, .folds = folds };
    s.order = (int64_t *)fenp_arena_doubles(arena, n);
    s.train = (int64_t *)fenp_arena_doubles(arena, n);
    s.w = fenp_arena_doubles(arena, n);
    s.y = fenp_arena_doubles(arena, n * sample->targets);
    s.c = fenp_arena_doubles(arena, n * columns);
    s.f = fenp_arena_doubles(arena, n * columns);
    s.q = fenp_arena_doubles(arena, n);
    s.scaled = fenp_arena_doubles(arena, n);
    s.column = fenp_arena_doubles(arena, n);
    fen_status status = fenp_deal_rows(n, folds, seed, s.order, err);
    if (status == FEN_OK)
        status = fenp_gram_upper(&problem->kernel, fenp_sample_inputs(sample), k, NULL, err);
    if (status != FEN_OK) return status;
    for (int64_t i = 0; i < n; i++) diag[i] = k[i + i * n];
    memset(scores, 0, (size_t)columns * sizeof(double));
    const int64_t mark = arena->used;
    for (int64_t fold = 0; status == FEN_OK && fold < folds; fold++) {
        arena->used = mark;
        fenp_spectrum e;
        double *a = fenp_arena_doubles(arena, n * n);
        const int64_t m = gather(&s, fold, a);
        status =
            fenp_spectrum_of_matrix(arena, s.w, s.y, m, sample->targets, problem->bias, a, &e, err);
        if (status == FEN_OK) status = coefficients(&s, &e, err);
        if (status != FEN_OK) return status;
        fenp_upper_times(n, k, diag, s.c, columns, s.f);
        add_held_out(&s, fold, m, scores);
        status = fenp_task_at(task, (double)(fold + 1) / (double)folds, err);
    }
    return status;
}

/* ---- by the columns -------------------------------------------------------------------- */

int fenp_kfold_is_primal(int64_t n, int64_t p, int64_t folds)
{
    return p < n - (n + folds - 1) / folds;
}

int64_t fenp_scores_kfold_primal_bytes(const fenp_size *size, int64_t count)
{
    const int64_t n = size->n, spectrum = fenp_spectrum_bytes(size, 1);
    if (spectrum < 0) return -1;
    return spectrum + fenp_arena_bytes(n * size->p) + 3 * fenp_arena_bytes(n) +
           2 * fenp_arena_bytes(size->p) + fenp_arena_bytes(n * size->targets) +
           fenp_arena_bytes((n + size->p) * count * size->targets);
}

/* c = Q (ty / (d + c2)): weights of the columns; 0 where f = 0. */
static fen_status weigh_columns(deal *s, const fenp_spectrum *e, fen_error *err)
{
    const int64_t p = e->rank;
    memset(s->c, 0, (size_t)(p * s->count * e->targets) * sizeof(double));
    for (int64_t t = 0; t < e->targets; t++) {
        fenp_measure measure;
        const fenp_curve curve = fenp_spectrum_curve(e, t, s->q, &measure);
        for (int64_t l = 0; l < s->count; l++) {
            fenp_root root;
            const fen_status status = fenp_curve_minimum(&curve, e->n, s->points[l].lambda,
                                                         s->points[l].power, 1e-10, &root, err);
            if (status != FEN_OK) return status;
            if (isinf(root.c)) continue;
            for (int64_t j = 0; j < p; j++) {
                const double d = e->d[j] + root.c;
                s->scaled[j] = d > 0.0 ? e->ty[t * p + j] / d : 0.0;
            }
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)p, (int)p, 1.0, e->rotation, (int)p,
                        s->scaled, 1, 0.0, s->c + (l * e->targets + t) * p, 1);
        }
    }
    return FEN_OK;
}

static fen_status hold_out(deal *s, fenp_arena *arena, int64_t fold, double *x, double *scores,
                           fen_error *err)
{
    const fenp_sample *all = s->problem->sample;
    const int64_t p = all->p, m = gather_rows(s, fold), columns = s->count * all->targets;
    for (int64_t i = 0; i < m; i++)
        memcpy(x + i * p, all->x + s->train[i] * p, (size_t)p * sizeof *x);
    fenp_sample part = { .n = m, .p = p, .targets = all->targets, .x = x, .y = s->y, .w = s->w };
    fenp_problem problem = *s->problem;
    fenp_spectrum e;
    problem.sample = &part;
    fen_status status = fenp_spectrum_make(arena, &problem, 1, &e, NULL, err);
    if (status == FEN_OK) status = weigh_columns(s, &e, err);
    if (status != FEN_OK) return status;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)all->n, (int)columns, (int)p, 1.0,
                all->x, (int)p, s->c, (int)p, 0.0, s->f, (int)all->n);
    add_held_out(s, fold, m, scores);
    return FEN_OK;
}

fen_status fenp_scores_kfold_primal(fenp_arena *arena, const fenp_problem *problem,
                                    const fenp_setting *points, int64_t count, int64_t folds,
                                    uint64_t seed, double *scores, const fenp_task *task,
                                    fen_error *err)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, p = sample->p, columns = count * sample->targets;
    deal s = { .problem = problem, .points = points, .count = count, .folds = folds };
    double *x = fenp_arena_doubles(arena, n * p);
    s.order = (int64_t *)fenp_arena_doubles(arena, n);
    s.train = (int64_t *)fenp_arena_doubles(arena, n);
    s.w = fenp_arena_doubles(arena, n);
    s.y = fenp_arena_doubles(arena, n * sample->targets);
    s.q = fenp_arena_doubles(arena, p);
    s.scaled = fenp_arena_doubles(arena, p);
    s.c = fenp_arena_doubles(arena, (n + p) * columns), s.f = s.c + p * columns;
    fen_status status = fenp_deal_rows(n, folds, seed, s.order, err);
    memset(scores, 0, (size_t)columns * sizeof(double));
    const int64_t mark = arena->used;
    for (int64_t fold = 0; status == FEN_OK && fold < folds; fold++) {
        arena->used = mark;
        status = hold_out(&s, arena, fold, x, scores, err);
        if (status == FEN_OK) status = fenp_task_at(task, (double)(fold + 1) / (double)folds, err);
    }
    return status;
}
