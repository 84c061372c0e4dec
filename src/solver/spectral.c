/* spectral.c -- kernel ridge regression from an eigendecomposition
 *
 *     v = U (ty / (d + n lambda)),   c = S v
 *
 * For small n or a singular K at tiny lambda: components without an eigenvalue are
 * constant loss. No refinement: K is gone, further sweeps repeat the same answer.
 * Cost. About 9 n^3 flops, 24 n^2 bytes. */
#include <string.h>

#include "base/linalg.h"
#include "solver/spectrum.h"

typedef struct state {
    fenp_spectrum spectrum;
    double *c, *kc, *scaled;
} state;

static int accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    (void)kernel, (void)size;
    return strcmp(loss->name, "square") == 0;
}

static int64_t bytes(const fenp_size *size)
{
    const int64_t spectrum = fenp_spectrum_bytes(size, 0);
    if (spectrum < 0) return -1;
    return spectrum + 3 * fenp_arena_bytes(size->n * size->targets) + (int64_t)sizeof(state) + 64;
}

static double flops(const fenp_size *size)
{
    const double n = (double)size->n;
    return 10.0 * n * n * n;
}

static fen_status begin(fenp_arena *arena, const fenp_problem *problem, void **out,
                        const fenp_task *task, fen_error *err)
{
    const int64_t cells = problem->sample->n * problem->sample->targets;
    state *s = (state *)fenp_arena_doubles(arena, (int64_t)(sizeof *s + 7) / 8);
    s->c = fenp_arena_doubles(arena, cells);
    s->kc = fenp_arena_doubles(arena, cells);
    s->scaled = fenp_arena_doubles(arena, cells);
    *out = s;
    return fenp_spectrum_make(arena, problem, 0, &s->spectrum, task, err);
}

/* K c is computed anew from the rows: the bias needs it outside the span of U too. */
static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    state *s = work;
    const fenp_spectrum *e = &s->spectrum;
    const fenp_sample *sample = problem->sample;
    const int64_t n = e->n, r = e->rank;
    const double shift = (double)n * problem->lambda;
    for (int64_t t = 0; t < e->targets; t++) {
        double *c = s->c + t * n, *scaled = s->scaled;
        for (int64_t j = 0; j < r; j++) scaled[j] = e->ty[t * r + j] / (e->d[j] + shift);
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)n, (int)r, 1.0, e->basis, (int)n, scaled, 1,
                    0.0, c, 1);
        for (int64_t i = 0; i < n; i++) c[i] *= e->fold.s[i];
    }
    const fenp_kernel *kernel = &problem->kernel;
    const fen_view x = fenp_sample_inputs(sample);
    const fen_status status = fenp_gram_times(kernel, x, x, s->c, e->targets, s->scaled, task, err);
    if (status != FEN_OK) return status;
    for (int64_t i = 0; i < n; i++) /* rows x targets -> targets x rows */
        for (int64_t t = 0; t < e->targets; t++) s->kc[t * n + i] = s->scaled[i * e->targets + t];
    fenp_solution_set(problem, s->c, s->kc, out);
    return FEN_OK;
}

const fenp_solver fenp_solver_spectral = {
    "spectral", "one eigendecomposition of the kernel matrix, for tiny lambda; 24 n^2 bytes",
    0,          accepts,
    bytes,      flops,
    begin,      sweep
};
