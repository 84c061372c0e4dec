/* select_features.c -- lambda and power of a fit on random features
 *
 * Scores of every setting: exact leave-one-out of the feature model on all rows, the
 * shrinkage found anew for every row left out (promise/left_out.c), by one pass over the
 * rows U = S(Z - 1 mean')Q of the primal spectrum; or GCV from the spectrum alone.
 * Several targets share lambda and power, as in select.c.
 * Cost of the pass: the features, 2 columns^2 flops per row for Q, and left_out.c. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"
#include "streamed.h"
#include "promise/loo.h"

enum { SLAB = 512 };

int64_t fenp_setting_count(const fenp_job *j)
{
    return (int64_t)j->strategy.lambdas * j->strategy.powers;
}

/* About the mean, whether or not there is a bias. */
static double variance(const fenp_cross *x, int64_t t)
{
    const double mean = fenp_cross_means(x)[(x->columns + t) * x->order];
    return fenp_cross_yy(x, t) - (x->bias ? 0.0 : mean * mean);
}

static void list_settings(const fenp_job *j, fenp_setting *points)
{
    double powers[FEN_VALUES_MAX], lambdas[FEN_VALUES_MAX];
    const int count = fenp_list_powers(&j->o, powers), wanted = j->strategy.lambdas;
    const int64_t targets = j->cross.targets;
    fenp_units units = { .weight_sum = j->summary.weight_sum, .diagonal = 1.0 };
    for (int64_t t = 0; t < targets; t++) {
        const double square = variance(&j->cross, t);
        units.log_deviation += square > 0.0 ? 0.5 * log(square) / (double)targets : 0.0;
    }
    for (int m = 0; m < count; m++) {
        fenp_lambdas_by_units(&j->o, &units, wanted, powers[m], lambdas);
        for (int l = 0; l < wanted; l++)
            points[m * wanted + l] = (fenp_setting){ lambdas[l], powers[m] };
    }
}

/* A pass over the rows for their leave-one-out residuals. */
typedef struct scoring {
    const fenp_job *j;
    fenp_left_out *left_out;
    double *z;     /* SLAB x columns: features                         */
    double *u;     /* SLAB x columns: S(Z - 1 mean')Q                  */
    double *y;     /* SLAB x targets: S(y - mean)                      */
    double *w;     /* SLAB, of sum 1 over all rows                     */
    double *along; /* columns: mean'Q                                  */
} scoring;

int64_t fenp_setting_bytes(int64_t columns, int64_t targets, int64_t settings)
{
    return fenp_left_out_bytes(columns, targets, settings, SLAB) +
           2 * fenp_arena_bytes(SLAB * columns) + fenp_arena_bytes(SLAB * targets) +
           fenp_arena_bytes(SLAB) + fenp_arena_bytes(columns);
}

static void fill_slab(scoring *s, const fenp_sample *block, int64_t first, int64_t rows)
{
    const fenp_cross *x = &s->j->cross;
    const double n = (double)x->rows, weight = s->j->summary.weight_sum;
    const double *means = fenp_cross_means(x);
    const int columns = (int)x->columns;
    fenp_fourier_map(s->j->model->frequencies, columns, block->x + first * block->p, block->p, rows,
                     s->z, SLAB);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)rows, columns, columns, 1.0, s->z,
                SLAB, s->j->spectrum.rotation, columns, 0.0, s->u, SLAB);
    for (int64_t i = 0; i < rows; i++) s->w[i] = block->w[first + i] / weight;
    for (int64_t l = 0; l < columns; l++)
        for (int64_t i = 0; i < rows; i++)
            s->u[i + l * SLAB] = sqrt(n * s->w[i]) * (s->u[i + l * SLAB] - s->along[l]);
    for (int64_t t = 0; t < x->targets; t++) {
        const double mean = x->bias ? means[(x->columns + t) * x->order] : 0.0;
        for (int64_t i = 0; i < rows; i++) {
            const double y = block->y[t * block->n + first + i] - x->shift[t];
            s->y[i + t * SLAB] = sqrt(n * s->w[i]) * (y - mean);
        }
    }
}

static void score_block(void *state, const fenp_sample *block)
{
    scoring *s = state;
    for (int64_t first = 0; first < block->n; first += SLAB) {
        const int64_t left = block->n - first, rows = left < SLAB ? left : SLAB;
        fill_slab(s, block, first, rows);
        fenp_left_out_rows(s->left_out, s->u, SLAB, s->y, SLAB, s->w, rows);
    }
}

static fen_status score_rows(const fenp_job *j, const fenp_setting *points, double *scores,
                             const fenp_task *task, fen_error *err)
{
    const fenp_cross *x = &j->cross;
    const int columns = (int)x->columns;
    fenp_arena arena;
    scoring s = { .j = j };
    fen_status status =
        fenp_arena_open(&arena, fenp_setting_bytes(columns, x->targets, fenp_setting_count(j)),
                        "the leave-one-out scores", err);
    if (status != FEN_OK) return status;
    s.z = fenp_arena_doubles(&arena, SLAB * columns);
    s.u = fenp_arena_doubles(&arena, SLAB * columns);
    s.y = fenp_arena_doubles(&arena, SLAB * x->targets);
    s.w = fenp_arena_doubles(&arena, SLAB);
    s.along = fenp_arena_doubles(&arena, columns);
    cblas_dgemv(CblasColMajor, CblasTrans, columns, columns, x->bias ? 1.0 : 0.0,
                j->spectrum.rotation, columns, fenp_cross_means(x), (int)x->order, 0.0, s.along, 1);
    status = fenp_left_out_begin(&arena, &j->spectrum, x->bias, points, fenp_setting_count(j), SLAB,
                                 &s.left_out, err);
    if (status == FEN_OK)
        status = fenp_each_block(j->source, j->model->prep, score_block, &s, task, err);
    if (status == FEN_OK) fenp_left_out_scores(s.left_out, scores);
    fenp_arena_close(&arena);
    return status;
}

/* Several targets: the mean of their scores, each relative to the variance. */
static double unit_of(const fenp_job *j, int64_t t)
{
    const double targets = (double)j->cross.targets;
    const double unit = targets > 1.0 ? variance(&j->cross, t) * targets : 1.0;
    return unit > 0.0 ? unit : 1.0;
}

static fen_status pick_best(fenp_job *j, const fenp_setting *points, const double *scores,
                            fen_error *err)
{
    const int64_t count = fenp_setting_count(j), targets = j->cross.targets;
    fenp_selection *s = &j->chosen.selection;
    const fenp_score *best = NULL;
    double rounding = 0.0;
    free(s->grid);
    *s = (fenp_selection){ .rows = j->summary.rows, .count = count };
    s->grid = fenp_new(count, sizeof *s->grid);
    if (!s->grid) return fenp_no_memory(err, count * (int64_t)sizeof *s->grid, "the grid");
    for (int64_t t = 0; t < targets; t++)
        rounding += pow(4.0 * DBL_EPSILON * j->cross.shift[t], 2.0) / unit_of(j, t);
    for (int64_t l = 0; l < count; l++) {
        double score = 0.0;
        for (int64_t t = 0; t < targets; t++) score += scores[t * count + l] / unit_of(j, t);
        if (isnan(score)) score = INFINITY;
        s->grid[l] = (fenp_score){
            j->chosen.kernel.par.gamma, points[l].lambda, points[l].power, score, NAN, NAN, NAN
        };
    }
    for (int64_t at = 0; at < count; at += j->strategy.lambdas) { /* of one power */
        const fenp_score *here = s->grid + at;
        here += fenp_best_score(here, j->strategy.lambdas, rounding);
        if (!best || here->score < best->score) best = here;
    }
    if (!isfinite(best->score))
        return fenp_fail(err, FEN_BAD_CALL,
                         "no lambda of the grid can be told from rounding errors: "
                         "give larger values with --lambda");
    s->score = best->score;
    snprintf(s->kind, sizeof s->kind, "%s", j->o.select);
    j->chosen.lambda = best->lambda, j->chosen.power = best->power;
    return FEN_OK;
}

fen_status fenp_choose_setting(fenp_job *j, const fenp_task *task, fen_error *err)
{
    const int64_t count = fenp_setting_count(j);
    fenp_setting *points = fenp_new(count, sizeof *points);
    double *scores = fenp_new(count, j->cross.targets * (int64_t)sizeof *scores);
    double *q = fenp_new(j->spectrum.rank, sizeof *q);
    fen_status status = points && scores && q ? FEN_OK : fenp_no_memory(err, 0, "the grid");
    if (status == FEN_OK) list_settings(j, points);
    if (status == FEN_OK && count == 1)
        j->chosen.lambda = points[0].lambda, j->chosen.power = points[0].power;
    else if (status == FEN_OK) {
        status = strcmp(j->o.select, "gcv") == 0
                     ? fenp_scores_gcv(&j->spectrum, j->o.bias, points, count, q, scores, err)
                     : score_rows(j, points, scores, task, err);
        if (status == FEN_OK) status = pick_best(j, points, scores, err);
    }
    free(points);
    free(scores);
    free(q);
    return status;
}
