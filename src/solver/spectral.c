/* spectral.c -- any power of the norm from one eigendecomposition
 *
 *     v = U (ty / (d + c)),   coefficients S v,   c from the curve of the target (curve.h)
 *
 * For small n, a singular K at tiny lambda, and powers below 1: components without an
 * eigenvalue are constant loss. No refinement: K is gone, further sweeps repeat the answer.
 * Cost. About 9 n^3 flops, 24 n^2 bytes; then O(n) per point of the curve. */
#include <math.h>

#include "base/linalg.h"
#include "loss/traits.h"
#include "solver/spectrum.h"

typedef struct state {
    fenp_spectrum spectrum;
    fenp_root *roots; /* targets                                          */
    double *c, *kc;   /* n x targets: coefficients, K times them          */
    double *product;  /* targets x n                                      */
    double *factors;  /* rank x nodes                                     */
} state;

static int64_t factor_columns(const fenp_size *size)
{
    return size->power < 1.0 ? FENP_NODES_MAX : 1;
}

static int accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    (void)kernel, (void)size;
    return fenp_is_square(loss);
}

static int64_t bytes(const fenp_size *size)
{
    const int64_t spectrum = fenp_spectrum_bytes(size, 0);
    if (spectrum < 0) return -1;
    return spectrum + 3 * fenp_arena_bytes(size->n * size->targets) +
           fenp_arena_bytes(size->n * factor_columns(size)) + fenp_roots_bytes(size->targets) +
           (int64_t)sizeof(state) + 64;
}

static double flops(const fenp_size *size)
{
    const double n = (double)size->n;
    return 10.0 * n * n * n;
}

static fen_status begin(fenp_arena *arena, const fenp_problem *problem, void **out,
                        const fenp_task *task, fen_error *err)
{
    const fenp_sample *sample = problem->sample;
    const int64_t cells = sample->n * sample->targets;
    const fenp_size size = { .n = sample->n,
                             .p = sample->p,
                             .targets = sample->targets,
                             .bias = problem->bias,
                             .power = problem->power };
    state *s = (state *)fenp_arena_doubles(arena, (int64_t)(sizeof *s + 7) / 8);
    s->c = fenp_arena_doubles(arena, cells);
    s->kc = fenp_arena_doubles(arena, cells);
    s->product = fenp_arena_doubles(arena, cells);
    s->factors = fenp_arena_doubles(arena, sample->n * factor_columns(&size));
    s->roots = fenp_roots_new(arena, sample->targets);
    *out = s;
    return fenp_spectrum_make(arena, problem, 0, &s->spectrum, task, err);
}

static fen_status find_root(state *s, const fenp_problem *problem, int64_t t, fen_error *err)
{
    fenp_measure measure;
    const fenp_curve curve = fenp_spectrum_curve(&s->spectrum, t, s->factors, &measure);
    const int64_t n = s->spectrum.n;
    fenp_root *root = &s->roots[t];
    const fen_status status =
        fenp_curve_minimum(&curve, n, problem->lambda, problem->power, problem->gap, root, err);
    if (status != FEN_OK) return status;
    return fenp_rise_above_rounding(&curve, fenp_measure_untouched(&measure), n, problem->lambda,
                                    problem->power, root, err);
}

/* out (n x columns) = S U factors */
static void expand(const state *s, int64_t columns, double *out)
{
    const fenp_spectrum *e = &s->spectrum;
    const int n = (int)e->n, r = (int)e->rank;
    if (columns == 1)
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, r, 1.0, e->basis, n, s->factors, 1, 0.0, out,
                    1);
    else
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, (int)columns, r, 1.0, e->basis, n,
                    s->factors, r, 0.0, out, n);
    for (int64_t k = 0; k < columns; k++)
        for (int64_t i = 0; i < n; i++) out[k * n + i] *= e->fold.s[i];
}

/* The dual vectors 2 w (y - f - b) of the ridge solutions at the nodes. */
static void tangents(state *s, int64_t t, double *out)
{
    const fenp_spectrum *e = &s->spectrum;
    const fenp_root *root = &s->roots[t];
    const int64_t r = e->rank;
    for (int64_t k = 0; k < root->nodes; k++) {
        const double inverse = exp(-root->node[k]);
        for (int64_t j = 0; j < r; j++)
            s->factors[k * r + j] = 2.0 / (double)e->n * e->ty[t * r + j] /
                                    (e->d[j] > 0.0 ? 1.0 + e->d[j] * inverse : 1.0);
    }
    expand(s, root->nodes, out);
}

/* K c is computed anew from the rows: the bias needs it outside the span of U too. */
static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    state *s = work;
    const fenp_spectrum *e = &s->spectrum;
    const int64_t n = e->n, r = e->rank;
    fen_status status = FEN_OK;
    for (int64_t t = 0; status == FEN_OK && t < e->targets; t++) {
        status = find_root(s, problem, t, err);
        for (int64_t j = 0; j < r; j++)
            s->factors[j] = e->ty[t * r + j] / (e->d[j] + s->roots[t].c);
        expand(s, 1, s->c + t * n);
    }
    const fen_view x = fenp_sample_inputs(problem->sample);
    if (status == FEN_OK)
        status = fenp_gram_times(&problem->kernel, x, x, s->c, e->targets, s->product, task, err);
    if (status != FEN_OK) return status;
    for (int64_t i = 0; i < n; i++) /* rows x targets -> targets x rows */
        for (int64_t t = 0; t < e->targets; t++) s->kc[t * n + i] = s->product[i * e->targets + t];
    for (int64_t t = 0; t < e->targets; t++) {
        fenp_solution_set(problem, t, &s->roots[t], s->c + t * n, s->kc + t * n, out);
        if (out->tangents) tangents(s, t, out->tangents + t * FENP_NODES_MAX * n);
    }
    return FEN_OK;
}

const fenp_solver fenp_solver_spectral = {
    .name = "spectral",
    .help = "one eigendecomposition of the kernel matrix, for tiny lambda; 24 n^2 bytes",
    .accepts = accepts,
    .bytes = bytes,
    .flops = flops,
    .begin = begin,
    .sweep = sweep,
};
