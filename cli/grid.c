/* grid.c -- the points that were tried and their scores, out of JSON */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

/* Several target columns: their losses are divided by those of the best constants (squares by
 * variances), then averaged. */
static void name_score(grid *g, const json_t *object, const char *loss, int64_t targets)
{
    const char *kind = json_text_at(object, "score_kind");
    const int relative =
        g->square ? targets > 1 : json_is_true(json_object_get(object, "relative"));
    char error[48];
    snprintf(error, sizeof error, "%s%.16s%s", relative ? "relative " : "",
             g->square ? "RMSE" : loss, g->square ? "" : " loss");
    if (strcmp(kind, "aic") == 0 || strcmp(kind, "bic") == 0)
        snprintf(g->kind, sizeof g->kind, "%s", kind[0] == 'a' ? "AIC" : "BIC");
    else if (strcmp(kind, "loo") == 0)
        snprintf(g->kind, sizeof g->kind, "leave-one-out %.30s", error);
    else if (strncmp(kind, "kfold:", 6) == 0 || strncmp(kind, "1se:", 4) == 0)
        snprintf(g->kind, sizeof g->kind, "%.8s-fold %.30s", strchr(kind, ':') + 1, error);
    else
        snprintf(g->kind, sizeof g->kind, "%.16s %.30s", kind, error);
}

/* A coordinate that the model does not have is the same everywhere. */
static double or_zero(double value) { return isnan(value) ? 0 : value; }

static int is_at(double chosen, double here) { return isnan(chosen) || or_zero(chosen) == here; }

/* Ties go to the largest lambda, and the rule of one standard error takes another point still. */
static void take_choice(grid *g, const json_t *object)
{
    const double gamma = json_at(object, "gamma"), power = json_at(object, "power");
    for (int64_t i = 0; i < g->count; i++)
        if (g->at[i].lambda == json_at(object, "lambda") && is_at(gamma, g->at[i].gamma) &&
            is_at(power, g->at[i].power) && isfinite(g->at[i].score))
            g->best = i;
}

int is_criterion(const json_t *object)
{
    const char *kind = json_text_at(object, "score_kind");
    return strcmp(kind, "aic") == 0 || strcmp(kind, "bic") == 0;
}

int grid_read(grid *g, const json_t *object, const char *loss, int64_t targets)
{
    const json_t *array = json_object_get(object, "grid");
    *g = (grid){ .count = (int64_t)json_array_size(array),
                 .best = -1,
                 .square = strcmp(loss, "square") == 0 && !is_criterion(object) };
    g->given_power = strncmp(json_text_at(object, "penalty"), "lp", 2) == 0;
    g->unit = g->square && targets == 1 ? ", in units of the target" : "";
    name_score(g, object, loss, targets);
    g->at = calloc((size_t)g->count + 1, sizeof *g->at);
    for (int64_t i = 0; g->at && i < g->count; i++) {
        const json_t *entry = json_array_get(array, (size_t)i);
        double score = json_at(entry, "score"); /* null: not tried, or too large */
        g->at[i] = (point){ or_zero(json_at(entry, "gamma")), json_at(entry, "lambda"),
                            or_zero(json_at(entry, "power")), isnan(score) ? INFINITY : score,
                            json_at(entry, "error_rate"),     json_at(entry, "terms") };
        g->gammas |= g->at[i].gamma > 0;
        g->classes |= !isnan(g->at[i].error);
        g->scored += isfinite(score);
        if (isfinite(score) && (g->best < 0 || score < g->at[g->best].score)) g->best = i;
    }
    if (g->at) take_choice(g, object);
    return g->at != NULL;
}

void grid_free(grid *g) { free(g->at); }

double shown_score(const grid *g, double score) { return g->square ? sqrt(score) : score; }

const char *score_text(const grid *g, double score, char out[32])
{
    if (isfinite(score))
        snprintf(out, 32, "%.6g", shown_score(g, score));
    else
        snprintf(out, 32, "-");
    return out;
}

const json_t *least_point(const json_t *answer)
{
    const json_t *points = json_object_get(answer, "grid"), *least = NULL;
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *p = json_array_get(points, i);
        const double score = json_at(p, "score");
        if (isfinite(score) && (!least || score < json_at(least, "score"))) least = p;
    }
    return least;
}

double shown_error(const point *p) { return 100 * p->error; }

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

axis grid_axis(const grid *g, double (*of)(const point *))
{
    axis a = { calloc((size_t)g->count + 1, sizeof(double)), 0 };
    if (!a.at) return a;
    for (int64_t i = 0; i < g->count; i++) a.at[i] = of(&g->at[i]);
    qsort(a.at, (size_t)g->count, sizeof *a.at, ascending);
    for (int64_t i = 0; i < g->count; i++)
        if (a.count == 0 || a.at[i] != a.at[a.count - 1]) a.at[a.count++] = a.at[i];
    return a;
}

int64_t grid_count(const grid *g, double (*of)(const point *))
{
    axis a = grid_axis(g, of);
    free(a.at);
    return a.count;
}

double gamma_of(const point *p) { return p->gamma; }
double lambda_of(const point *p) { return p->lambda; }
double power_of(const point *p) { return p->power; }

const point *grid_best_at(const grid *g, double (*of)(const point *), double value)
{
    const point *best = NULL;
    if (g->best >= 0 && of(&g->at[g->best]) == value) return &g->at[g->best];
    for (int64_t i = 0; i < g->count; i++)
        if (of(&g->at[i]) == value && (!best || g->at[i].score < best->score)) best = &g->at[i];
    return best;
}

/* Of two values one is always an end. Lambdas of our own choice are others for every gamma and
 * power: they are compared within those of the best point. */
static int at_an_end(const grid *g, double (*of)(const point *))
{
    const point *best = &g->at[g->best];
    grid part = { .at = calloc((size_t)g->count, sizeof *part.at) };
    for (int64_t i = 0; part.at && i < g->count; i++)
        if (of != lambda_of || (g->at[i].gamma == best->gamma && g->at[i].power == best->power))
            part.at[part.count++] = g->at[i];
    axis a = grid_axis(&part, of);
    int answer = a.at && a.count > 2 && (of(best) == a.at[0] || of(best) == a.at[a.count - 1]);
    free(a.at);
    free(part.at);
    return answer;
}

/* Of penalties on coefficients. The largest of our own lambdas has no terms but those that are
 * not penalised, nor would larger ones; and scores that are flat at the low end would not fall
 * any more below it (select_linear.c). */
static int lambda_ends(const grid *g, const fen_options *o, char *out, size_t size)
{
    const axis a = grid_axis(g, lambda_of);
    const point *best = &g->at[g->best];
    const double above = a.at ? a.at[a.count > 10 ? 10 : a.count - 1] : 0;
    const int low = a.at && best->lambda == a.at[0];
    const int falls =
        low && grid_best_at(g, lambda_of, above)->score - best->score > 1e-3 * fabs(best->score);
    const int ends = a.at && at_an_end(g, lambda_of) &&
                     (falls || (!low && best->terms > 0 && o->lambda.choice == FEN_GIVEN));
    if (ends)
        snprintf(out, size,
                 "the best point ends the grid of lambda: widen it, as by --lambda %.2g:%.2g:100",
                 low ? 0.01 * a.at[0] : a.at[0], low ? a.at[a.count - 1] : 100 * a.at[a.count - 1]);
    free(a.at);
    return ends;
}

int grid_ends(const grid *g, const fen_options *o, char *out, size_t size)
{
    if (g->best >= 0 && !isnan(g->at[g->best].terms)) return lambda_ends(g, o, out, size);
    const struct {
        const fen_values *given;
        double (*of)(const point *);
        const char *name;
    } coordinate[] = { { &o->gamma, gamma_of, "gamma" },
                       { &o->lambda, lambda_of, "lambda" },
                       { &o->power, power_of, "power" } };
    size_t used = 0;
    for (int i = 0; i < 3 && g->best >= 0 && used < size; i++)
        if (coordinate[i].given->choice != FEN_RULE && at_an_end(g, coordinate[i].of))
            used += (size_t)snprintf(out + used, size - used, "%s%s",
                                     used ? ", " : "the best point ends the grid of ",
                                     coordinate[i].name);
    if (used > 0 && used < size) snprintf(out + used, size - used, ": widen it");
    return used > 0;
}
