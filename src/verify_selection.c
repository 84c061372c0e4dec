/* verify_selection.c -- are gamma, lambda and power the choice of the table that a model stores?
 *
 * The best line, or one that is as good but for rounding errors and has the larger lambda, or
 * another gamma or power (fenp_best_score); by the rule of one standard error the first line that
 * is so near. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "loss/traits.h"
#include "verify.h"

/* The least score; one standard error: the first line that is so near to the best, which is the
 * one of the largest lambda among ties. */
static const fenp_score *best_line(const fenp_selection *s, double rounding)
{
    const fenp_score *best = NULL, *near = s->grid;
    for (int64_t i = 0; i < s->count; i++)
        if (!best || !(best->score <= s->grid[i].score)) best = &s->grid[i];
    if (!best || strncmp(s->kind, "1se:", 4) != 0) return best;
    best = s->grid + fenp_best_score(s->grid, s->count, rounding);
    while (near < best && !(near->score <= best->score + fmax(0.0, best->deviation))) near++;
    return near;
}

/* What rounding errors of the labels make of a score (fenp_score_rounding). Without the labels,
 * which are then numbers with the square loss, offsets and null objectives stand for them. */
static double rounding_of(const fen_model *m, const fenp_sample *sample)
{
    double rounding = 0.0;
    fen_options o = fen_options_default();
    o.loss = m->loss->name, o.bias = m->bias;
    if (sample)
        return fenp_score_rounding(sample, m->output, &o,
                                   !fenp_is_square(m->loss) || fenp_model_is_lp(m));
    for (int64_t t = 0; t < m->targets; t++) {
        const double null = m->certificate[t].null, off = 8.0 * DBL_EPSILON * fabs(m->offset[t]);
        rounding += m->loss->value(0.0, off, &m->output[t].par) / (null > 0.0 ? null : 1.0);
    }
    return rounding;
}

static int is_chosen(const fen_model *m, const fenp_score *line)
{
    return fenp_close_to(line->score, m->selection.score, fabs(m->selection.score)) &&
           fenp_close_to(line->lambda, m->lambda, m->lambda) && line->power == m->power &&
           fenp_close_to(line->gamma, m->kernel.par.gamma, fabs(m->kernel.par.gamma));
}

/* Ties go to the larger lambda among those of one gamma and power. */
static int gives_way(const fenp_score *best, const fenp_score *to)
{
    return best->gamma != to->gamma || best->power != to->power || to->lambda > best->lambda;
}

/* The chosen gamma, lambda and power must be the best line of the stored grid, or as good, with
 * room to spare: scores may be those of a part of the rows. */
int fenp_selection_agrees(const fen_model *m, const fenp_sample *sample)
{
    const fenp_selection *s = &m->selection;
    const double rounding = rounding_of(m, sample);
    const fenp_score *best = best_line(s, rounding);
    if (!best || is_chosen(m, best)) return 1;
    const double bound = best->score + fmax(2e-9 * fabs(best->score), 4.0 * rounding);
    for (int64_t i = 0; i < s->count; i++)
        if (s->grid[i].score <= bound && gives_way(best, &s->grid[i]) && is_chosen(m, &s->grid[i]))
            return 1;
    return 0;
}
