/* spectrum.c -- see spectrum.h. Cost: dual about 9 n^3 flops (dsyevd) and 24 n^2 bytes;
 * primal 2 n p^2 + 9 p^3 flops and 8 n p bytes twice. */
#include "solver/spectrum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/linalg.h"
#include "base/syrk.h"

static int64_t dual_doubles_bytes(int64_t n, int64_t targets, int bias)
{
    return fenp_arena_bytes(fenp_fold_doubles(n, bias)) + fenp_arena_bytes(n) * 2 +
           2 * fenp_arena_bytes(n * targets) + fenp_arena_bytes(targets) +
           fenp_arena_bytes(fenp_eigen_work(n));
}

int64_t fenp_spectrum_bytes(const fenp_size *size, int primal)
{
    const int64_t n = size->n, p = size->p;
    const int64_t order = primal ? p : n;
    if (!fenp_eigen_possible(order) || fenp_bytes(n, order, sizeof(double)) < 0) return -1;
    if (!primal) return fenp_arena_bytes(n * n) + dual_doubles_bytes(n, size->targets, size->bias);
    return 2 * fenp_arena_bytes(n * p) + fenp_arena_bytes(p * p) + fenp_arena_bytes(p) +
           fenp_arena_bytes(p * size->targets) + fenp_arena_bytes(n * size->targets) +
           fenp_arena_bytes(size->targets) + fenp_arena_bytes(fenp_fold_doubles(n, 0)) +
           fenp_arena_bytes(fenp_eigen_work(p));
}

static void drop_rounding(double *d, int64_t rank, int64_t n)
{
    const double floor = rank > 0 ? (double)n * DBL_EPSILON * fmax(d[rank - 1], 0.0) : 0.0;
    for (int64_t j = 0; j < rank; j++)
        if (d[j] <= floor) d[j] = 0.0;
}

/* Q fills the leading m x m block: U = B Q = [Q; 0] - tau h (h_m'Q). */
static void unfold_basis(const fenp_fold *fold, double *a, double *along)
{
    const int n = (int)fold->n, m = (int)fold->m;
    if (!fold->h) return;
    for (int64_t j = 0; j < m; j++) a[fold->n - 1 + j * fold->n] = 0.0;
    cblas_dgemv(CblasColMajor, CblasTrans, m, m, 1.0, a, n, fold->h, 1, 0.0, along, 1);
    cblas_dger(CblasColMajor, n, m, -fold->tau, fold->h, 1, along, 1, a, n);
}

fen_status fenp_spectrum_of_matrix(fenp_arena *arena, const double *w, const double *y, int64_t n,
                                   int64_t targets, int bias, double *a, fenp_spectrum *out,
                                   fen_error *err)
{
    *out = (fenp_spectrum){ .n = n, .targets = targets, .basis = a };
    out->fold = fenp_fold_make(w, n, bias, fenp_arena_doubles(arena, fenp_fold_doubles(n, bias)));
    out->d = fenp_arena_doubles(arena, n);
    double *diag = fenp_arena_doubles(arena, n);
    out->ty = fenp_arena_doubles(arena, n * targets);
    out->y = fenp_arena_doubles(arena, n * targets);
    out->rest = fenp_arena_doubles(arena, targets);
    double *work = fenp_arena_doubles(arena, fenp_eigen_work(n));
    const int64_t m = out->rank = out->fold.m;
    for (int64_t i = 0; i < n; i++) diag[i] = a[i + i * n];
    fenp_fold_matrix(&out->fold, a, diag, 0.0, work);
    const fen_status status = fenp_eigen(m, a, n, out->d, work, err);
    if (status != FEN_OK) return status;
    drop_rounding(out->d, m, n);
    unfold_basis(&out->fold, a, work);
    for (int64_t t = 0; t < targets; t++) {
        for (int64_t i = 0; i < n; i++) out->y[t * n + i] = out->fold.s[i] * y[t * n + i];
        cblas_dgemv(CblasColMajor, CblasTrans, (int)n, (int)m, 1.0, a, (int)n, out->y + t * n, 1,
                    0.0, out->ty + t * m, 1);
        out->rest[t] = 0.0; /* U and, with bias, the constant span everything */
    }
    return FEN_OK;
}

/* Z = S(X - 1 xbar') column-major, y = S(y - ybar). */
static void centre(const fenp_problem *problem, const double *s, double *z, double *y)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, p = sample->p;
#pragma omp parallel for
    for (int64_t j = 0; j < p; j++) {
        double mean = 0.0;
        if (problem->bias)
            for (int64_t i = 0; i < n; i++) mean += sample->w[i] * sample->x[i * p + j];
        for (int64_t i = 0; i < n; i++) z[i + j * n] = s[i] * (sample->x[i * p + j] - mean);
    }
    for (int64_t t = 0; t < sample->targets; t++) {
        double mean = 0.0;
        if (problem->bias)
            for (int64_t i = 0; i < n; i++) mean += sample->w[i] * sample->y[t * n + i];
        for (int64_t i = 0; i < n; i++) y[t * n + i] = s[i] * (sample->y[t * n + i] - mean);
    }
}

/* |y - U (ty / d)|^2: what no linear function explains. residual: n, share: rank doubles. */
static double left_over(const fenp_spectrum *e, int64_t t, double *residual, double *share)
{
    const int n = (int)e->n, r = (int)e->rank;
    memcpy(residual, e->y + t * e->n, (size_t)n * sizeof(double));
    for (int64_t j = 0; j < r; j++) share[j] = e->d[j] > 0.0 ? e->ty[t * r + j] / e->d[j] : 0.0;
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, r, -1.0, e->basis, n, share, 1, 1.0, residual, 1);
    return cblas_ddot(n, residual, 1, residual, 1);
}

static fen_status make_primal(fenp_arena *arena, const fenp_problem *problem, fenp_spectrum *out,
                              fen_error *err)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, p = sample->p, targets = sample->targets;
    *out = (fenp_spectrum){ .primal = 1, .n = n, .rank = p, .targets = targets };
    out->fold = fenp_fold_make(sample->w, n, 0, fenp_arena_doubles(arena, fenp_fold_doubles(n, 0)));
    double *z = fenp_arena_doubles(arena, n * p);
    out->basis = fenp_arena_doubles(arena, n * p);
    out->rotation = fenp_arena_doubles(arena, p * p);
    out->d = fenp_arena_doubles(arena, p);
    out->ty = fenp_arena_doubles(arena, p * targets);
    out->y = fenp_arena_doubles(arena, n * targets);
    out->rest = fenp_arena_doubles(arena, targets);
    double *work = fenp_arena_doubles(arena, fenp_eigen_work(p));
    centre(problem, out->fold.s, z, out->y);
    const fenp_syrk gram = {
        .n = n, .p = p, .alpha = 1.0, .x = z, .ldx = n, .c = out->rotation, .ldc = p
    };
    if (fenp_syrk_run(&gram)) return fenp_no_memory(err, fenp_bytes(p, p, 8), "X'X");
    fenp_mirror_upper(0, p, out->rotation, p);
    const fen_status status = fenp_eigen(p, out->rotation, p, out->d, work, err);
    if (status != FEN_OK) return status;
    drop_rounding(out->d, p, n);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)p, (int)p, 1.0, z, (int)n,
                out->rotation, (int)p, 0.0, out->basis, (int)n);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)p, (int)targets, (int)n, 1.0,
                out->basis, (int)n, out->y, (int)n, 0.0, out->ty, (int)p);
    for (int64_t t = 0; t < targets; t++) out->rest[t] = left_over(out, t, z, work);
    return FEN_OK;
}

fen_status fenp_spectrum_make(fenp_arena *arena, const fenp_problem *problem, int primal,
                              fenp_spectrum *out, const fenp_task *task, fen_error *err)
{
    if (primal) return make_primal(arena, problem, out, err);
    const fenp_sample *sample = problem->sample;
    double *a = fenp_arena_doubles(arena, sample->n * sample->n);
    const fenp_task gram = fenp_task_part(task, task ? task->stage : "", 0.0, 0.1);
    fen_status status =
        fenp_gram_upper(&problem->kernel, fenp_sample_inputs(sample), a, &gram, err);
    if (status == FEN_OK) status = fenp_task_at(task, 0.1, err);
    if (status != FEN_OK) return status;
    return fenp_spectrum_of_matrix(arena, sample->w, sample->y, sample->n, sample->targets,
                                   problem->bias, a, out, err);
}

fenp_curve fenp_spectrum_curve(const fenp_spectrum *e, int64_t target, double *q,
                               fenp_measure *measure)
{
    const double *ty = e->ty + target * e->rank;
    for (int64_t j = 0; j < e->rank; j++) {
        const double square = ty[j] * ty[j];
        q[j] = !e->primal ? square : e->d[j] > 0.0 ? square / e->d[j] : 0.0;
    }
    *measure = (fenp_measure){ .d = e->d, .q = q, .count = e->rank, .rest = e->rest[target] };
    return fenp_measure_curve(measure, e->n);
}
