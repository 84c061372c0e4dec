/* path_terms.c -- see path_terms.h
 *
 * Why not as JSON from the start: Jansson takes ten times the memory, and with as many calls of
 * malloc as there are coefficients half as long as the path itself.
 * Cost: 16 bytes for a coefficient, and as many again while the lists grow. */
#include "path_terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "data/prepare_parts.h"
#include "model/model.h"

enum { QUIET = 8, FIRST_ROOM = 256 };

/* ---- names ------------------------------------------------------------------------------- */

/* In UTF-8, made once, and no other has it; NULL: no memory. */
static json_t *label_of(fenp_terms *t, int64_t j)
{
    int64_t low = 0, high = t->prep->inputs;
    char name[1024], other[1024 + 32];
    if (t->label[j]) return t->label[j];
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        *(t->input[middle] <= j ? &low : &high) = middle;
    }
    if (t->linear)
        fenp_input_feature_name(&t->prep->input[low], j - t->input[low], name, sizeof name);
    else
        snprintf(name, sizeof name, "row %lld", (long long)j + 1);
    snprintf(other, sizeof other, "%s (feature %lld)", name, (long long)j + 1);
    json_t *label = fenp_json_string(name);
    if (label && json_object_get(t->taken, json_string_value(label))) {
        json_decref(label);
        label = fenp_json_string(other);
    }
    if (label && json_object_set_new(t->taken, json_string_value(label), json_true()) != 0) {
        json_decref(label);
        label = NULL;
    }
    t->label[j] = label;
    return label;
}

json_t *fenp_terms_name(fenp_terms *t, int64_t j)
{
    json_t *label = label_of(t, j);
    if (!label || t->seen[j]) return label;
    t->seen[j] = 1;
    return json_array_append(t->names, label) |
                   json_array_append_new(t->scales, fenp_json_number(1.0 / t->unit[j]))
               ? NULL
               : label;
}

/* ---- points ------------------------------------------------------------------------------ */

static int grow(void *array, int64_t room, int64_t size)
{
    void **at = array, *longer = fenp_resize(*at, room, size);
    if (longer) *at = longer;
    return !longer;
}

static int make_room(fenp_term_list *k, int64_t more)
{
    if (k->points + 2 > k->point_room) {
        const int64_t room = 2 * k->point_room + FIRST_ROOM;
        if (grow(&k->start, room, sizeof *k->start)) return 1;
        k->point_room = room;
    }
    if (k->count + more <= k->room) return 0;
    const int64_t room = 2 * (k->count + more) + FIRST_ROOM;
    if (grow(&k->feature, room, sizeof *k->feature) || grow(&k->value, room, sizeof *k->value))
        return 1;
    k->room = room;
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

int fenp_terms_add(fenp_terms *t, int64_t target, const double *beta, json_t *entered, json_t *left)
{
    fenp_term_list *kept = &t->kept[target];
    char *in = t->in + target * t->p;
    int64_t terms = 0;
    for (int64_t j = 0; j < t->p; j++) terms += beta[j] != 0.0;
    if (make_room(kept, terms)) return 1;
    kept->start[kept->points++] = kept->count;
    for (int64_t j = 0; j < t->p; j++) {
        while (j + QUIET < t->p && is_quiet(beta + j, in + j)) j += QUIET;
        const int now = beta[j] != 0.0, changed = entered && now != in[j];
        if (!now && !changed) continue;
        json_t *name = fenp_terms_name(t, j);
        if (!name || (changed && json_array_append(now ? entered : left, name))) return 1;
        if (now) kept->feature[kept->count] = j, kept->value[kept->count++] = beta[j] * t->unit[j];
        in[j] = (char)now;
    }
    kept->start[kept->points] = kept->count;
    return 0;
}

void fenp_terms_write(const void *terms, int64_t point, fenp_json_writer *to)
{
    const fenp_terms *t = terms;
    const fenp_term_list *kept = t->kept;
    while (point >= kept->points) point -= kept++->points;
    fenp_write_plain(to, "\"coefficients\": {");
    for (int64_t k = kept->start[point]; k < kept->start[point + 1]; k++) {
        if (k > kept->start[point]) fenp_write_plain(to, ", ");
        fenp_write_string(to, json_string_value(t->label[kept->feature[k]]));
        fenp_write_plain(to, ": ");
        fenp_write_number(to, kept->value[k]);
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
    out->kept = fenp_new_zeroed(targets, sizeof *out->kept);
    out->label = fenp_new_zeroed(p, sizeof *out->label);
    out->names = json_array(), out->scales = json_array(), out->taken = json_object();
    out->input = fenp_new(prep->inputs + 1, sizeof *out->input);
    out->in = fenp_new_zeroed(targets + 1, p);
    out->unit = fenp_new(p, sizeof *out->unit);
    if (!out->kept || !out->label || !out->names || !out->scales || !out->taken || !out->input ||
        !out->in || !out->unit)
        return fenp_no_memory(err, fenp_bytes(p, 32, 1), "the path");
    out->seen = out->in + targets * p;
    for (int64_t j = 0; j < p; j++) out->unit[j] = 1.0;
    if (linear) fenp_to_units_of_file(prep, out->unit);
    count_features(out);
    return FEN_OK;
}

void fenp_terms_close(fenp_terms *t)
{
    for (int64_t k = 0; t->kept && k < t->targets; k++)
        free(t->kept[k].feature), free(t->kept[k].value), free(t->kept[k].start);
    for (int64_t j = 0; t->label && j < t->p; j++) json_decref(t->label[j]);
    json_decref(t->names), json_decref(t->scales), json_decref(t->taken);
    free(t->kept), free(t->label), free(t->input), free(t->in), free(t->unit);
}
