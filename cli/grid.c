/* grid.c -- the points that were tried and their scores, out of JSON */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

/* Several targets: their squared errors are divided by their variances, then averaged. */
static void name_score(grid *g, const char *kind, int64_t targets)
{
    const char *error = !g->square ? "loss" : targets > 1 ? "relative RMSE" : "RMSE";
    if (strcmp(kind, "loo") == 0)
        snprintf(g->kind, sizeof g->kind, "leave-one-out %s", error);
    else if (strncmp(kind, "kfold:", 6) == 0)
        snprintf(g->kind, sizeof g->kind, "%.8s-fold %s", kind + 6, error);
    else
        snprintf(g->kind, sizeof g->kind, "%.16s %s", kind, error);
}

int grid_read(grid *g, const json_t *object, const char *loss, int64_t targets)
{
    const json_t *array = json_object_get(object, "grid");
    *g = (grid){ .count = (int64_t)json_array_size(array),
                 .best = -1,
                 .square = strcmp(loss, "square") == 0 };
    g->unit = g->square && targets == 1 ? " (in units of the target)" : "";
    name_score(g, json_text_at(object, "score_kind"), targets);
    g->at = calloc((size_t)g->count + 1, sizeof *g->at);
    for (int64_t i = 0; g->at && i < g->count; i++) {
        const json_t *entry = json_array_get(array, (size_t)i);
        g->at[i] =
            (point){ json_at(entry, "gamma"), json_at(entry, "lambda"), json_at(entry, "score") };
        if (isfinite(g->at[i].score) && (g->best < 0 || g->at[i].score < g->at[g->best].score))
            g->best = i;
    }
    return g->at != NULL;
}

void grid_free(grid *g) { free(g->at); }

double shown_score(const grid *g, double score) { return g->square ? sqrt(score) : score; }

int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
