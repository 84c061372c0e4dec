/* path_spectral.c -- the path of the square loss, all from one eigendecomposition
 *
 * For every target by itself and every setting: the shrinkage c from the spectrum (curve.h),
 * the solution, its norm and objective, and its leave-one-out score. The bias is
 * ybar - sum_i (K w)_i c_i, so that K is met once more and only by one vector.
 * Cost: one eigendecomposition, then O(n^2) for a setting. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/linalg.h"
#include "path.h"

typedef struct spectral {
    const fenp_path *path;
    int primal;
    fenp_spectrum spectrum;
    double *kw;                           /* n: K w; primal: p, the means of the features   */
    double *q, *scaled, *rows, *solution; /* n each, but width of the solution          */
    double *scores;                       /* targets x count                                */
} spectral;

/* solution and bias of a target at c; c = INFINITY: f = 0. */
static double solve_at(spectral *h, int64_t t, double c)
{
    const fenp_spectrum *e = &h->spectrum;
    const fenp_sample *s = h->path->sample;
    const int n = (int)e->n, r = (int)e->rank, p = (int)s->p;
    const double *basis = h->primal ? e->rotation : e->basis;
    double *out = h->primal ? h->solution : h->rows, mean = 0.0;
    for (int64_t j = 0; j < r; j++) h->scaled[j] = e->ty[t * r + j] / (e->d[j] + c);
    const int length = h->primal ? r : n;
    cblas_dgemv(CblasColMajor, CblasNoTrans, length, r, 1.0, basis, length, h->scaled, 1, 0.0, out,
                1);
    if (!h->primal)
        for (int64_t i = 0; i < n; i++) h->rows[i] *= e->fold.s[i];
    const double shift = cblas_ddot(length, h->kw, 1, out, 1);
    if (!h->primal && h->path->kernel.table->linear)
        cblas_dgemv(CblasRowMajor, CblasTrans, n, p, 1.0, s->x, p, h->rows, 1, 0.0, h->solution, 1);
    else if (!h->primal)
        memcpy(h->solution, h->rows, (size_t)n * sizeof(double));
    for (int64_t i = 0; i < n; i++) mean += s->w[i] * s->y[t * n + i];
    return h->path->o.bias ? mean - shift : 0.0;
}

/* The curve tells norm and loss; f = 0 is its end, which no finite t reaches. */
static fen_status add_point(spectral *h, int64_t t, int64_t k, const fenp_curve *curve,
                            json_t *points, fen_error *err)
{
    const fenp_path *path = h->path;
    const fenp_setting at = path->settings[k];
    const int64_t n = path->sample->n;
    fenp_root root;
    fenp_point there = { .log_norm = -INFINITY, .loss = 1.0 };
    fen_status status =
        fenp_curve_minimum(curve, n, at.lambda, at.power, path->o.tolerance, &root, err);
    if (status == FEN_OK && isfinite(root.t) && isfinite(curve->log_energy))
        status = curve->at(curve->state, root.t, &there, err);
    if (status != FEN_OK) return status;
    fenp_step step = { .lambda2 = root.lambda2, .relative_gap = NAN, .support = -1 };
    step.bias = solve_at(h, t, root.c);
    step.norm = exp(there.log_norm);
    step.mean_loss = exp(curve->log_energy) * there.loss / (double)n;
    step.objective = step.mean_loss + at.lambda * exp(at.power * there.log_norm);
    step.score = h->scores[t * path->count + k];
    step.solution = h->solution;
    return json_array_append_new(points, fenp_step_json(path, t, k, &step))
               ? fenp_no_memory(err, 0, "the path")
               : FEN_OK;
}

static fen_status add_points(spectral *h, json_t *points, const fenp_task *task, fen_error *err)
{
    const int64_t targets = h->path->sample->targets, count = h->path->count;
    fen_status status = FEN_OK;
    for (int64_t t = 0; t < targets; t++) {
        fenp_measure measure;
        const fenp_curve curve = fenp_spectrum_curve(&h->spectrum, t, h->q, &measure);
        for (int64_t k = 0; k < count && status == FEN_OK; k++) {
            status = fenp_task_at(task, (double)(t * count + k) / (double)(count * targets), err);
            if (status == FEN_OK) status = add_point(h, t, k, &curve, points, err);
        }
    }
    return status;
}

/* K w, or its counterpart for weight vectors: the mean of every feature. */
static fen_status weigh_kernel(spectral *h, const fenp_task *task, fen_error *err)
{
    const fenp_sample *s = h->path->sample;
    const fen_view x = fenp_sample_inputs(s);
    if (!h->primal) return fenp_gram_times(&h->path->kernel, x, x, s->w, 1, h->kw, task, err);
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)s->n, (int)s->p, 1.0, s->x, (int)s->p, s->w, 1, 0.0,
                h->kw, 1);
    return FEN_OK;
}

static fen_status run(spectral *h, fenp_arena *arena, json_t *points, const fenp_task *task,
                      fen_error *err)
{
    const fenp_path *path = h->path;
    const fenp_sample *s = path->sample;
    const fenp_problem problem = { .sample = s,
                                   .loss = path->loss,
                                   .kernel = path->kernel,
                                   .power = 2.0,
                                   .bias = path->o.bias,
                                   .gap = path->o.tolerance };
    const fenp_task spectrum = fenp_task_part(task, "eigenvalues", 0.0, 0.7);
    const fenp_task solving = fenp_task_part(task, "solutions", 0.9, 1.0);
    const fenp_score_kind kind = strcmp(path->o.select, "gcv") == 0 ? FENP_GCV : FENP_LOO;
    h->kw = fenp_arena_doubles(arena, s->n);
    h->q = fenp_arena_doubles(arena, s->n);
    h->scaled = fenp_arena_doubles(arena, s->n);
    h->rows = fenp_arena_doubles(arena, s->n);
    h->solution = fenp_arena_doubles(arena, fenp_path_width(path));
    h->scores = fenp_arena_doubles(arena, path->count * s->targets);
    fen_status status = weigh_kernel(h, &spectrum, err);
    if (status == FEN_OK)
        status = fenp_spectrum_make(arena, &problem, h->primal, &h->spectrum, &spectrum, err);
    if (status == FEN_OK) status = fenp_task_at(&spectrum, 1.0, err);
    if (status == FEN_OK)
        status = fenp_scores_spectrum(arena, &h->spectrum, s->w, path->o.bias, path->settings,
                                      path->count, kind, h->scores, err);
    return status == FEN_OK ? add_points(h, points, &solving, err) : status;
}

/* Beyond what LAPACK can index: -1. */
static int64_t work_bytes(const spectral *h, const fenp_size *size)
{
    const int64_t spectrum = fenp_spectrum_bytes(size, h->primal), count = h->path->count;
    if (spectrum < 0) return -1;
    return spectrum + fenp_scores_spectrum_bytes(size, count, h->primal) +
           4 * fenp_arena_bytes(size->n) + fenp_arena_bytes(fenp_path_width(h->path)) +
           fenp_arena_bytes(count * size->targets);
}

fen_status fenp_path_spectral(const fenp_path *path, json_t *points, const fenp_task *task,
                              fen_error *err)
{
    const fenp_size size = fenp_size_of(path->sample, &path->o);
    spectral h = { .path = path, .primal = path->kernel.table->linear && size.p < size.n };
    const int64_t work = work_bytes(&h, &size);
    fenp_arena arena = { 0 };
    fen_status status =
        fenp_path_fits(path, fenp_find_solver(h.primal ? "primal" : "spectral"), work, err);
    if (status == FEN_OK) status = fenp_arena_open(&arena, work, "the eigenvectors", err);
    if (status == FEN_OK) status = run(&h, &arena, points, task, err);
    fenp_arena_close(&arena);
    return status;
}
