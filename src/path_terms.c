/* path_terms.c -- see path_terms.h
 *
 * Why not as JSON from the start: Jansson takes ten times the memory, and with as many calls of
 * malloc as there are coefficients half as long as the solutions themselves.
 * Cost: 16 bytes for a coefficient, and as many again while the lists grow. */
#include "path_terms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"
#include "model/model.h"

enum { QUIET = 8, FIRST_ROOM = 256 };
enum { NUMBER_TEXT = 30 }; /* characters of a number, and what is around it */

/* ---- names ------------------------------------------------------------------------------- */

/* In UTF-8, and no other has it; NULL: no memory. */
static json_t *new_label(const fenp_terms *t, int64_t j)
{
    int64_t low = 0, high = t->prep->inputs;
    char name[1024], other[1024 + 64];
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        *(t->input[middle] <= j ? &low : &high) = middle;
    }
    if (t->linear)
        fenp_input_feature_name(&t->prep->input[low], j - t->input[low], name, sizeof name);
    else
        snprintf(name, sizeof name, "row %lld", (long long)j + 1);
    json_t *label = fenp_json_string(name);
    for (int again = 1; label && json_object_get(t->taken, json_string_value(label)); again++) {
        snprintf(other, sizeof other, again > 1 ? "%s (feature %lld, %d)" : "%s (feature %lld)",
                 name, (long long)j + 1, again);
        json_decref(label);
        label = fenp_json_string(other);
    }
    if (label && json_object_set_new(t->taken, json_string_value(label), json_true()) != 0) {
        json_decref(label);
        label = NULL;
    }
    return label;
}

/* It is among those that were ever active now; nonzero: no memory. */
static int name(fenp_terms *t, int64_t j)
{
    if (t->width[j] > 0) return 0;
    t->label[j] = new_label(t, j);
    if (!t->label[j]) return 1;
    t->width[j] = (int64_t)json_string_length(t->label[j]) + NUMBER_TEXT;
    return json_array_append(t->names, t->label[j]) |
           json_array_append_new(t->scales, fenp_json_number(1.0 / t->unit[j]));
}

/* ---- points ------------------------------------------------------------------------------ */

static int grow(void *array, int64_t room, int64_t size)
{
    void **at = array, *longer = fenp_resize(*at, room, size);
    if (longer) *at = longer;
    return !longer;
}

static int make_room(fenp_entries *list, int64_t more)
{
    if (list->count + more <= list->room) return 0;
    const int64_t room = 2 * (list->count + more) + FIRST_ROOM;
    if (grow(&list->feature, room, sizeof *list->feature) ||
        grow(&list->value, room, sizeof *list->value))
        return 1;
    list->room = room;
    return 0;
}

static int append(fenp_entries *list, int64_t feature, double value)
{
    if (make_room(list, 1)) return 1;
    list->feature[list->count] = feature, list->value[list->count++] = value;
    return 0;
}

static int append_step(fenp_steps *s, const fenp_figures *figures)
{
    if (s->count == s->room) {
        if (grow(&s->at, 2 * s->room + FIRST_ROOM, sizeof *s->at)) return 1;
        s->room = 2 * s->room + FIRST_ROOM;
    }
    s->at[s->count++] = (fenp_path_step){ *figures, s->coefficient.count, s->change.count };
    return 0;
}

/* The next QUIET coefficients are 0 and were. */
static int is_quiet(const double *beta, const char *in)
{
    static const char none[QUIET];
    int any = memcmp(in, none, QUIET) != 0;
    for (int k = 0; k < QUIET; k++) any |= beta[k] != 0.0;
    return !any;
}

int fenp_terms_add(fenp_terms *t, int64_t target, const fenp_figures *figures, const double *beta,
                   int compared)
{
    fenp_steps *s = &t->steps[target];
    fenp_entries *list = &s->coefficient;
    char *in = t->in + target * t->p;
    if (append_step(s, figures) || make_room(list, figures->terms)) return 1;
    for (int64_t j = 0; j < t->p; j++) {
        while (j + QUIET < t->p && is_quiet(beta + j, in + j)) j += QUIET;
        const int now = beta[j] != 0.0, changed = compared && now != in[j];
        if (now && (name(t, j) || append(list, j, beta[j] * t->unit[j]))) return 1;
        if (now) t->text += t->width[j];
        if (changed && fenp_terms_change(t, target, j, now)) return 1;
        in[j] = (char)now;
    }
    return 0;
}

int fenp_terms_change(fenp_terms *t, int64_t target, int64_t j, int enters)
{
    return name(t, j) || append(&t->steps[target].change, j, enters ? 1.0 : -1.0);
}

int64_t fenp_terms_points(const fenp_terms *t)
{
    int64_t count = 0;
    for (int64_t k = 0; k < t->targets; k++) count += t->steps[k].count;
    return count;
}

int64_t fenp_terms_above(const fenp_terms *t, double tolerance)
{
    int64_t above = 0;
    for (int64_t k = 0; k < t->targets; k++)
        for (int64_t i = 0; i < t->steps[k].count; i++)
            above += !(t->steps[k].at[i].figures.gap <= tolerance);
    return above;
}

/* ---- as text ----------------------------------------------------------------------------- */

static void write_figure(fenp_json_writer *to, const char *key, double value)
{
    fenp_write_plain(to, key);
    fenp_write_number(to, value);
}

static void write_coefficients(const fenp_terms *t, const fenp_entries *of, int64_t from,
                               int64_t end, fenp_json_writer *to)
{
    fenp_write_plain(to, ", \"coefficients\": {");
    for (int64_t k = from; k < end; k++) {
        if (k > from) fenp_write_plain(to, ", ");
        fenp_write_string(to, json_string_value(t->label[of->feature[k]]));
        write_figure(to, ": ", of->value[k]);
    }
    fenp_write_plain(to, "}");
}

/* Those whose change is this one. */
static void write_names(const fenp_terms *t, const fenp_entries *of, int64_t from, int64_t end,
                        double change, fenp_json_writer *to)
{
    const char *between = "[";
    for (int64_t k = from; k < end; k++) {
        if (of->value[k] != change) continue;
        fenp_write_plain(to, between);
        fenp_write_string(to, json_string_value(t->label[of->feature[k]]));
        between = ", ";
    }
    fenp_write_plain(to, *between == '[' ? "[]" : "]");
}

void fenp_terms_write(const void *terms, int64_t point, fenp_json_writer *to)
{
    const fenp_terms *t = terms;
    const fenp_steps *s = t->steps;
    while (point >= s->count) point -= s++->count;
    const fenp_path_step *at = &s->at[point], *next = point + 1 < s->count ? at + 1 : NULL;
    const fenp_figures *f = &at->figures;
    const int64_t end = next ? next->first : s->coefficient.count;
    const int64_t changed = next ? next->change : s->change.count;
    char terms_text[40];
    fenp_write_plain(to, "{\"target\": ");
    fenp_write_string(to, json_string_value(s->name));
    write_figure(to, ", \"lambda\": ", f->lambda);
    snprintf(terms_text, sizeof terms_text, ", \"terms\": %lld", (long long)f->terms);
    fenp_write_plain(to, terms_text);
    write_figure(to, ", \"mean_loss\": ", f->loss);
    write_figure(to, ", \"objective\": ", f->objective);
    write_figure(to, ", \"relative_gap\": ", f->gap);
    write_figure(to, ", \"explained\": ", f->explained);
    write_figure(to, ", \"intercept\": ", f->intercept);
    write_coefficients(t, &s->coefficient, at->first, end, to);
    fenp_write_plain(to, ", \"entered\": ");
    write_names(t, &s->change, at->change, changed, 1.0, to);
    fenp_write_plain(to, ", \"left\": ");
    write_names(t, &s->change, at->change, changed, -1.0, to);
    if (!isnan(f->score)) {
        write_figure(to, ", \"score\": ", f->score);
        write_figure(to, ", \"standard_error\": ", f->deviation);
    }
    fenp_write_plain(to, "}");
}

/* ---- memory ------------------------------------------------------------------------------ */

static void count_features(fenp_terms *t)
{
    t->input[0] = 0;
    for (int64_t i = 0; i < t->prep->inputs; i++)
        t->input[i + 1] = t->input[i] + fenp_input_features(&t->prep->input[i]);
}

fen_status fenp_terms_open(const fenp_prep *prep, int linear, int64_t p, int64_t targets,
                           fenp_terms *out, fen_error *err)
{
    *out = (fenp_terms){ .prep = prep, .linear = linear, .p = p, .targets = targets };
    out->steps = fenp_new_zeroed(targets, sizeof *out->steps);
    out->label = fenp_new_zeroed(p, sizeof *out->label);
    out->names = json_array(), out->scales = json_array(), out->taken = json_object();
    out->input = fenp_new(prep->inputs + 1, sizeof *out->input);
    out->in = fenp_new_zeroed(targets, p);
    out->width = fenp_new_zeroed(p, sizeof *out->width);
    out->unit = fenp_new(p, sizeof *out->unit);
    if (!out->steps || !out->label || !out->names || !out->scales || !out->taken || !out->input ||
        !out->in || !out->width || !out->unit)
        return fenp_no_memory(err, fenp_bytes(p, 32, 1), "the path");
    for (int64_t j = 0; j < p; j++) out->unit[j] = 1.0;
    if (linear) fenp_to_units_of_file(prep, out->unit);
    count_features(out);
    return FEN_OK;
}

int fenp_terms_name_target(fenp_terms *t, int64_t target, const char *name)
{
    t->steps[target].name = fenp_json_string(name);
    return !t->steps[target].name;
}

static void free_steps(fenp_steps *s)
{
    free(s->at), free(s->coefficient.feature), free(s->coefficient.value);
    free(s->change.feature), free(s->change.value);
    json_decref(s->name);
}

void fenp_terms_close(fenp_terms *t)
{
    for (int64_t k = 0; t->steps && k < t->targets; k++) free_steps(&t->steps[k]);
    for (int64_t j = 0; t->label && j < t->p; j++) json_decref(t->label[j]);
    json_decref(t->names), json_decref(t->scales), json_decref(t->taken);
    free(t->steps), free(t->label), free(t->input), free(t->in), free(t->unit);
    free(t->width);
}
