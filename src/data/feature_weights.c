/* feature_weights.c -- --feature-weights: factors of the penalty by column
 *
 *   COLUMN=WEIGHT,COLUMN=WEIGHT      or a file with a line NAME,WEIGHT (or NAME=WEIGHT) for each
 *
 * A column stands for all of its features; a feature ("colour = red") may be named instead.
 * What is not named has the weight 1; weight 0: not penalised. The file may have a header.
 * Mistakes in the option itself are FEN_BAD_CALL, those in a file FEN_BAD_DATA.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/fields.h"
#include "data/groups_parts.h"

typedef struct reading {
    fenp_names names;
    double *factor;  /* of every feature; NaN: not named so far               */
    char where[256]; /* "--feature-weights" or the line of the file           */
    fen_status kind; /* of mistakes: FEN_BAD_CALL, or FEN_BAD_DATA in a file  */
    fen_status status;
    fen_error *err;
} reading;

static fen_status set(reading *r, const char *name, const char *number)
{
    double weight;
    const fenp_named *found = fenp_names_find(&r->names, name);
    if (!found) return fenp_names_unknown(&r->names, r->where, name, r->kind, r->err);
    if (!fenp_parse_fraction(number, (int64_t)strlen(number), &weight) || !isfinite(weight) ||
        weight < 0.0)
        return fenp_fail(r->err, r->kind,
                         "%.230s: the weight of \"%.60s\" must be a number >= 0 (0: not "
                         "penalised), not \"%.40s\"",
                         r->where, name, number);
    for (int64_t j = found->first; j < found->first + found->count; j++) {
        if (!isnan(r->factor[j]))
            return fenp_fail(r->err, r->kind,
                             "%.230s: \"%.60s\" has a weight already; leave one of them out",
                             r->where, name);
        r->factor[j] = weight;
    }
    return FEN_OK;
}

/* NAME=WEIGHT, cut in place; a name may hold a = itself. */
static fen_status set_pair(reading *r, char *item)
{
    char *cut = strrchr(item, '=');
    if (!cut)
        return fenp_fail(r->err, r->kind, "%.230s: \"%.60s\" is not %s", r->where, item,
                         r->kind == FEN_BAD_DATA
                             ? "NAME,WEIGHT"
                             : "COLUMN=WEIGHT; names with commas need a file of lines NAME,WEIGHT");
    char *number = cut + 1 + strspn(cut + 1, " ");
    while (cut > item && cut[-1] == ' ') cut--;
    *cut = '\0';
    return set(r, item, number);
}

static int add_item(void *user, const char *item, int64_t length)
{
    reading *r = user;
    char *copy = fenp_new(length + 1, 1);
    if (copy) {
        memcpy(copy, item, (size_t)length);
        copy[length] = '\0';
    }
    r->status = copy ? set_pair(r, copy) : fenp_no_memory(r->err, length, "a column name");
    free(copy);
    return r->status != FEN_OK;
}

/* A first line of words, of which none is a column. */
static int is_header(const reading *r, int64_t lines, int count, char **field)
{
    double number;
    return lines == 1 && count == 2 && !fenp_names_find(&r->names, field[0]) &&
           !fenp_parse_fraction(field[1], (int64_t)strlen(field[1]), &number);
}

static fen_status read_file(reading *r, const char *path)
{
    fenp_fields in;
    char *field[2];
    fen_status status = fenp_fields_open(path, &in, r->err);
    if (status == FEN_IO)
        return fenp_no_file(path, "--feature-weights ", "COLUMN=WEIGHT,COLUMN=WEIGHT or a file",
                            r->err);
    if (status != FEN_OK) return status;
    r->kind = FEN_BAD_DATA;
    int64_t lines = 0;
    for (int count; status == FEN_OK && (count = fenp_fields_next(&in, field, 2)) > 0;) {
        snprintf(r->where, sizeof r->where, "%.200s:%lld", path, (long long)in.line);
        lines++;
        if (is_header(r, lines, count, field)) continue;
        if (count > 2)
            status = fenp_fail(r->err, FEN_BAD_DATA,
                               "%.230s: a line is NAME,WEIGHT; this one has %d fields (quote names "
                               "with commas)",
                               r->where, count);
        else
            status = count == 2 ? set(r, field[0], field[1]) : set_pair(r, field[0]);
    }
    if (status == FEN_OK && lines == 0)
        status = fenp_fail(r->err, FEN_BAD_DATA, "%.200s has no lines NAME,WEIGHT", path);
    fenp_fields_close(&in);
    return status;
}

fen_status fenp_feature_factors(const fenp_prep *prep, const char *text, double **out,
                                fen_error *err)
{
    *out = NULL;
    if (!text || !text[0]) return FEN_OK;
    reading r = { .where = "--feature-weights", .kind = FEN_BAD_CALL, .err = err };
    fen_status status = fenp_names_make(prep, &r.names, err);
    if (status != FEN_OK) return status;
    r.factor = fenp_new(prep->features, sizeof *r.factor);
    if (!r.factor) status = fenp_no_memory(err, 8 * prep->features, "the weights of the columns");
    for (int64_t j = 0; r.factor && j < prep->features; j++) r.factor[j] = NAN;
    if (status == FEN_OK && strchr(text, '=')) {
        fenp_each_item(text, add_item, &r);
        status = r.status;
    } else if (status == FEN_OK)
        status = read_file(&r, text);
    for (int64_t j = 0; r.factor && j < prep->features; j++)
        if (isnan(r.factor[j])) r.factor[j] = 1.0;
    fenp_names_free(&r.names);
    if (status == FEN_OK)
        *out = r.factor;
    else
        free(r.factor);
    return status;
}
