/* verify_selection.c -- are gamma, lambda and power the choice of the table that a model stores?
 *
 * The best line, or one that is as good but for rounding errors and has the larger lambda, or
 * another gamma or power (fenp_best_score); by the rule of one standard error the first line that
 * is so near. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "verify.h"

/* The least score; one standard error: the first line that is so near. */
static const fenp_score *best_line(const fenp_selection *s)
{
    const fenp_score *best = NULL, *near = s->grid;
    for (int64_t i = 0; i < s->count; i++)
        if (!best || !(best->score <= s->grid[i].score)) best = &s->grid[i];
    if (!best || strncmp(s->kind, "1se:", 4) != 0) return best;
    while (near < best && !(near->score <= best->score + fmax(0.0, best->deviation))) near++;
    return near;
}

/* By how much scores may differ that are a tie (fenp_best_score), with room to spare: offsets and
 * null objectives stand for the labels and for the units of the scores. */
static double tie_of(const fen_model *m, double best)
{
    double rounding = 0.0;
    for (int64_t t = 0; m->loss->labels == FEN_NUMBERS && t < m->targets; t++) {
        const double null = m->certificate[t].null, off = 8.0 * DBL_EPSILON * fabs(m->offset[t]);
        rounding += m->loss->value(0.0, off, &m->output[t].par) / (null > 0.0 ? null : 1.0);
    }
    return fmax(2e-9 * fabs(best), 4.0 * rounding);
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

/* The chosen gamma, lambda and power must be the best line of the stored grid, or as good. */
int fenp_selection_agrees(const fen_model *m)
{
    const fenp_selection *s = &m->selection;
    const fenp_score *best = best_line(s);
    if (!best || is_chosen(m, best)) return 1;
    const double bound = best->score + tie_of(m, best->score);
    for (int64_t i = 0; i < s->count; i++)
        if (s->grid[i].score <= bound && gives_way(best, &s->grid[i]) && is_chosen(m, &s->grid[i]))
            return 1;
    return 0;
}
