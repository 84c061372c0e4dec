/* figure.c -- from the JSON of a path to curves
 *
 * Penalties on coefficients: values in units of the file times the scales of the features, so
 * that they can be compared. Ridge regression (linear kernels): the weights of the scaled
 * features as they are.
 * Between breakpoints of an exact path coefficients are linear in lambda, which is a curve over its
 * logarithm: every piece gets points in equal steps of that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "plot.h"

static const json_t *points_of(const json_t *path) { return json_object_get(path, "points"); }

/* How many points from `from` on are one curve: of one target, of one power along lambda, and of
 * one lambda along powers, which then rise. */
static size_t count_target(const json_t *path, size_t from)
{
    const json_t *points = points_of(path), *first = json_array_get(points, from);
    const int by_power = strcmp(json_text_at(path, "over"), "power") == 0;
    const char *name = json_text_at(first, "target");
    double power = json_at(first, "power");
    size_t to = from + 1;
    for (; to < json_array_size(points); to++) {
        const json_t *next = json_array_get(points, to);
        const double now = json_at(next, "power");
        if (strcmp(json_text_at(next, "target"), name) != 0) break;
        if (by_power ? now < power : now != power && !isnan(now)) break;
        power = now;
    }
    return to - from;
}

static double value_at(const json_t *path, const json_t *point, size_t line)
{
    const json_t *of = json_object_get(point, "coefficients");
    if (!of) return json_number_value(json_array_get(json_object_get(point, "solution"), line));
    const char *name = json_string_value(json_array_get(json_object_get(path, "features"), line));
    const json_t *value = json_object_get(of, name);
    return value ? json_number_value(value) *
                       json_number_value(json_array_get(json_object_get(path, "scales"), line))
                 : 0.0;
}

static int read_target(curves *c, const json_t *path, size_t from, const char *key)
{
    const json_t *names = json_object_get(path, "features");
    c->lines = (int64_t)json_array_size(names);
    c->title = json_text_at(json_array_get(points_of(path), from), "target");
    c->x = calloc((size_t)c->points, 2 * sizeof *c->x);
    c->name = calloc((size_t)c->lines + 1, sizeof *c->name);
    c->y = calloc((size_t)c->lines + 1, (size_t)c->points * sizeof *c->y);
    if (!c->x || !c->name || !c->y) return 0;
    c->terms = c->x + c->points;
    for (int64_t i = 0; i < c->lines; i++)
        c->name[i] = json_string_value(json_array_get(names, (size_t)i));
    for (int64_t k = 0; k < c->points; k++) {
        const json_t *point = json_array_get(points_of(path), from + (size_t)k);
        c->x[k] = json_at(point, key), c->terms[k] = json_at(point, "terms");
        for (int64_t i = 0; i < c->lines; i++)
            c->y[i * c->points + k] = value_at(path, point, (size_t)i);
    }
    return 1;
}

/* A breakpoint at lambda = 0 has no place on a logarithmic axis. */
static void drop_zeros(curves *c)
{
    while (c->points > 0 && !(c->x[c->points - 1] > 0.0)) {
        for (int64_t i = 0; i < c->lines; i++)
            memmove(c->y + i * (c->points - 1), c->y + i * c->points,
                    (size_t)(c->points - 1) * sizeof *c->y);
        c->points--;
    }
}

enum { PIECE = 20 }; /* points of it */

/* The points of every piece instead of its ends. 0: no memory. */
static int fill_pieces(curves *c)
{
    const int64_t old = c->points, points = (old - 1) * PIECE + 1;
    if (old < 2) return 1;
    double *x = calloc((size_t)points, 2 * sizeof *x);
    double *y = calloc((size_t)c->lines + 1, (size_t)points * sizeof *y);
    for (int64_t k = 0; x && y && k < points; k++) {
        const int64_t at = k / PIECE, next = at + 1 < old ? at + 1 : at;
        const double from = c->x[at], to = c->x[next], part = (double)(k % PIECE) / PIECE;
        x[k] = from * pow(to / from, part), x[points + k] = c->terms[at];
        const double share = part > 0.0 ? (from - x[k]) / (from - to) : 0.0;
        for (int64_t i = 0; i < c->lines; i++)
            y[i * points + k] = (1.0 - share) * c->y[i * old + at] + share * c->y[i * old + next];
    }
    if (!x || !y) {
        free(x), free(y);
        return 0;
    }
    free(c->x), free(c->y);
    c->x = x, c->terms = x + points, c->y = y, c->points = points;
    return 1;
}

static int64_t count_targets(const json_t *path)
{
    const size_t points = json_array_size(points_of(path));
    int64_t count = 0;
    for (size_t at = 0; at < points; count++) at += count_target(path, at);
    return count;
}

/* Features that are 0 or 1 go by such names, and keep their scale. */
static int has_indicators(const json_t *path)
{
    const json_t *names = json_object_get(path, "features");
    size_t i = 0;
    for (; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name && (strstr(name, " = ") || strstr(name, " is missing"))) break;
    }
    return i < json_array_size(names);
}

/* Solutions are coefficients of features. */
static int is_linear(const json_t *path)
{
    return strcmp(json_text_at(path, "kernel"), "linear") == 0 ||
           strcmp(json_text_at(path, "solution"), "weights") == 0;
}

static const char *curves_of(const json_t *path)
{
    if (!is_linear(path)) return "coefficients of the rows";
    return has_indicators(path) ? "coefficients of the scaled features (0/1 features unscaled)"
                                : "coefficients of the scaled features";
}

int figure_read(figure *f, const json_t *path)
{
    const json_t *points = points_of(path);
    const int by_power = strcmp(json_text_at(path, "over"), "power") == 0;
    const char *key = by_power ? "power" : "lambda";
    *f = (figure){ .x_name = key,
                   .y_name = curves_of(path),
                   .logarithmic = !by_power,
                   .exact = strcmp(json_text_at(path, "solution"), "breakpoints") == 0,
                   .mark = json_at(path, "selected"),
                   .count = count_targets(path) };
    if (json_array_size(json_object_get(path, "features")) == 0 && !is_linear(path))
        return complain(EXIT_USAGE, "--plot draws coefficients: use --kernel linear%s",
                        strcmp(json_text_at(path, "kernel"), "tensor-polynomial") == 0
                            ? "; of products, fit and info --features show the weights"
                            : "");
    f->of = calloc((size_t)f->count + 1, sizeof *f->of);
    int done = f->of != NULL;
    for (size_t at = 0, i = 0; done && at < json_array_size(points); i++) {
        f->of[i].points = (int64_t)count_target(path, at);
        done = read_target(&f->of[i], path, at, key);
        at += (size_t)f->of[i].points;
        if (done && f->logarithmic) drop_zeros(&f->of[i]);
        if (done && f->exact) done = fill_pieces(&f->of[i]);
    }
    if (f->count == 1 && f->of) f->of[0].title = "";
    return done ? EXIT_DONE : complain(EXIT_ROOM, "out of memory while drawing the path");
}

void figure_free(figure *f)
{
    for (int64_t i = 0; f->of && i < f->count; i++) {
        free(f->of[i].x);
        free(f->of[i].name);
        free(f->of[i].y);
    }
    free(f->of);
}
