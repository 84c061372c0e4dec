/* groups_file.c -- --penalty group:FILE
 *
 *   column,group            or            column,group,weight
 *   height,body                           height,body,1.5
 *   colour,look                           colour,look,2
 *
 * A column stands for all of its features; a feature ("colour = red") may be named instead.
 * Every feature must be in one group; only "colour = other" need not be named where no row has
 * it: a column of zeros, which changes nothing, goes with the first level. Lines about columns
 * that were dropped (constant ones) are read and have no effect. With weights, all lines of a group give the same one.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/fields.h"
#include "data/groups_parts.h"
#include "data/prepare_parts.h"

typedef struct reading {
    fenp_names names;
    fenp_column groups; /* their names are its levels                            */
    int64_t room;       /* of weight                                             */
    fenp_partition *out;
    int weights; /* the file has them                                     */
    const char *path;
    char where[256]; /* the line                                              */
    fen_error *err;
} reading;

static fen_status join(reading *r, const char *column, int64_t group)
{
    const fenp_named *found = fenp_names_find(&r->names, column);
    if (!found) return fenp_names_unknown(&r->names, r->where, column, FEN_BAD_DATA, r->err);
    for (int64_t j = found->first; j < found->first + found->count; j++) {
        const int64_t before = r->out->of[j];
        if (before == group)
            return fenp_fail(r->err, FEN_BAD_DATA,
                             "%.230s: \"%.60s\" is in group \"%.60s\" already; leave this line "
                             "out",
                             r->where, column, r->groups.levels[group]);
        if (before >= 0)
            return fenp_fail(r->err, FEN_BAD_DATA,
                             "%.230s: \"%.60s\" is in two groups, \"%.60s\" and \"%.60s\"; groups "
                             "must not overlap: leave one of its lines out",
                             r->where, column, r->groups.levels[before], r->groups.levels[group]);
        r->out->of[j] = group;
    }
    return FEN_OK;
}

static fen_status make_room(reading *r, int64_t group)
{
    if (group < r->room) return FEN_OK;
    const int64_t room = 2 * group + 16;
    double *weight = fenp_resize(r->out->weight, room, sizeof *weight);
    if (!weight) return fenp_no_memory(r->err, 8 * room, "the weights of the groups");
    for (int64_t g = r->room; g < room; g++) weight[g] = NAN;
    r->out->weight = weight;
    r->room = room;
    return FEN_OK;
}

static fen_status weigh(reading *r, int64_t group, const char *number)
{
    const char *name = r->groups.levels[group];
    char before[32];
    double weight;
    if (!fenp_parse_fraction(number, (int64_t)strlen(number), &weight) || !isfinite(weight) ||
        weight < 0.0)
        return fenp_fail(r->err, FEN_BAD_DATA,
                         "%.230s: the weight of group \"%.60s\" must be a number >= 0 (0: not "
                         "penalised), not \"%.40s\"",
                         r->where, name, number);
    const fen_status status = make_room(r, group);
    if (status != FEN_OK) return status;
    double *known = &r->out->weight[group];
    if (!isnan(*known) && *known != weight) {
        fenp_print_short(*known, before);
        return fenp_fail(
            r->err, FEN_BAD_DATA,
            "%.230s: group \"%.60s\" has the weight %.40s here and %s before; give all "
            "of its lines the same",
            r->where, name, number, before);
    }
    *known = weight;
    return FEN_OK;
}

static fen_status read_line(reading *r, int count, char **field)
{
    const char *form = r->weights ? "column,group,weight" : "column,group";
    if (count != 2 + r->weights)
        return fenp_fail(
            r->err, FEN_BAD_DATA,
            "%.230s: a line is %s as in the header, but this one (\"%.40s\" ...) has %d "
            "field%s; quote names with commas",
            r->where, form, field[0], count, count == 1 ? "" : "s");
    if (!field[1][0])
        return fenp_fail(r->err, FEN_BAD_DATA,
                         "%.230s: \"%.60s\" has no group; a line is %s: name one", r->where,
                         field[0], form);
    const int64_t group = fenp_column_code(&r->groups, field[1], (int64_t)strlen(field[1]));
    if (group < 0) return fenp_no_memory(r->err, 0, "the groups");
    const fen_status status = join(r, field[0], group);
    return status == FEN_OK && r->weights ? weigh(r, group, field[2]) : status;
}

static fen_status read_header(reading *r, fenp_fields *in)
{
    char *field[3];
    const int count = fenp_fields_next(in, field, 3);
    const int fits = (count == 2 || count == 3) && strcmp(field[0], "column") == 0 &&
                     strcmp(field[1], "group") == 0 &&
                     (count == 2 || strcmp(field[2], "weight") == 0);
    r->weights = count == 3;
    if (fits) return FEN_OK;
    if (count == 0)
        return fenp_fail(r->err, FEN_BAD_DATA,
                         "%.200s is empty; its first line must be the header column,group or "
                         "column,group,weight",
                         r->path);
    return fenp_fail(
        r->err, FEN_BAD_DATA,
        "%.200s:%lld: the first line, \"%.40s%s%.40s%s%.40s%s\", is not the header column,group or "
        "column,group,weight; correct it, or write the header above it",
        r->path, (long long)in->line, field[0], count > 1 ? "," : "", count > 1 ? field[1] : "",
        count > 2 ? "," : "", count > 2 ? field[2] : "", count > 3 ? ",..." : "");
}

/* Levels "other" that no row has, and that the file does not name, go with the first level. */
static void place_spare(const reading *r)
{
    const fenp_prep *prep = r->names.prep;
    for (int64_t i = 0, first = 0; i < prep->inputs; i++) {
        const int64_t end = first + fenp_input_features(&prep->input[i]);
        int64_t *of = r->out->of;
        if (prep->input[i].spare && end > first && of[end - 1] < 0) of[end - 1] = of[first];
        first = end;
    }
}

/* Every feature must be in a group. */
static fen_status check_whole(const reading *r)
{
    const fenp_prep *prep = r->names.prep;
    char name[64];
    int64_t j = 0;
    place_spare(r);
    while (j < prep->features && r->out->of[j] >= 0) j++;
    if (j == prep->features) return FEN_OK;
    fenp_prep_feature_name(prep, j, name, sizeof name);
    return fenp_fail(r->err, FEN_BAD_DATA,
                     "%.200s: \"%.60s\" is in no group; add a line %.60s,GROUP%s", r->path, name,
                     name, r->weights ? ",WEIGHT" : "");
}

static fen_status read_groups(reading *r)
{
    fenp_fields in;
    char *field[3];
    fen_status status = fenp_fields_open(r->path, &in, r->err);
    if (status == FEN_IO)
        return fenp_no_file(r->path, "--penalty group:",
                            "group:auto, group:prefix:SEP, group:targets or group:FILE", r->err);
    if (status != FEN_OK) return status;
    status = read_header(r, &in);
    for (int count; status == FEN_OK && (count = fenp_fields_next(&in, field, 3)) > 0;) {
        snprintf(r->where, sizeof r->where, "%.200s:%lld", r->path, (long long)in.line);
        status = read_line(r, count, field);
    }
    fenp_fields_close(&in);
    return status == FEN_OK ? check_whole(r) : status;
}

fen_status fenp_partition_read(const fenp_prep *prep, const char *path, fenp_partition *out,
                               fen_error *err)
{
    reading r = { .out = out, .path = path, .err = err };
    fen_status status = fenp_names_make(prep, &r.names, err);
    if (status == FEN_OK) status = read_groups(&r);
    out->groups = r.groups.level_count;
    out->name = r.groups.levels; /* the names go along, the index stays */
    r.groups.levels = NULL;
    r.groups.level_count = 0;
    fenp_column_clear(&r.groups);
    fenp_names_free(&r.names);
    return status;
}
