/* groups.c -- which coefficients are penalised together, and how much
 *
 *   sum over the groups g of weight_g value(||beta_g||)
 *
 * Method: every feature gets the number of its group (by column, by prefix, by file; with
 *   group:targets it is a group of its own, in all targets); then members by counting, and
 *   weight = factor of --feature-weights times sqrt(size), or times what the file says, or (all
 *   of one size) times 1 with group:targets. The size does not count levels "other" that no row
 *   has: columns of zeros, which no solution uses.
 * Special cases: groups of which no column is left are left out; a group whose columns have
 *   different factors has no weight: an error. Weights that are all 0 are an error, too.
 * Cost: linear in the features, and a sort of their names where some are given by name.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/registry.h"
#include "data/groups_parts.h"
#include "data/prepare_parts.h"

void fenp_groups_free(fenp_groups *groups)
{
    for (int64_t g = 0; groups->name && g < groups->count; g++) free(groups->name[g]);
    free(groups->name);
    free(groups->start);
    free(groups->member);
    free(groups->weight);
    *groups = (fenp_groups){ .count = 0 };
}

static fen_status no_room(int64_t count, fen_error *err)
{
    return fenp_no_memory(err, fenp_bytes(count, 24, 1), "the groups of coefficients");
}

/* ---- partitions ---------------------------------------------------------------------- */

static void free_partition(fenp_partition *parts)
{
    for (int64_t g = 0; parts->name && g < parts->groups; g++) free(parts->name[g]);
    free(parts->name);
    free(parts->of);
    free(parts->weight);
}

/* The features of one column are a group. */
static fen_status by_column(const fenp_prep *prep, fenp_partition *out, fen_error *err)
{
    out->name = fenp_new_zeroed(prep->inputs, sizeof *out->name);
    if (!out->name) return no_room(prep->inputs, err);
    for (int64_t i = 0, j = 0; i < prep->inputs; i++) {
        out->name[i] = fenp_strdup(prep->input[i].name);
        if (!out->name[i]) return no_room(prep->inputs, err);
        out->groups++;
        for (int64_t k = fenp_input_features(&prep->input[i]); k > 0; k--) out->of[j++] = i;
    }
    return FEN_OK;
}

/* Columns whose names agree up to the first separator are a group. */
static fen_status by_prefix(const fenp_prep *prep, const char *separator, fenp_partition *out,
                            fen_error *err)
{
    fenp_column groups = { .name = NULL };
    int64_t group = 0;
    for (int64_t i = 0, j = 0; group >= 0 && i < prep->inputs; i++) {
        const char *name = prep->input[i].name, *end = strstr(name, separator);
        group = fenp_column_code(&groups, name, end ? end - name : (int64_t)strlen(name));
        for (int64_t k = fenp_input_features(&prep->input[i]); k > 0; k--) out->of[j++] = group;
    }
    out->groups = groups.level_count;
    out->name = groups.levels;
    groups.levels = NULL;
    groups.level_count = 0;
    fenp_column_clear(&groups);
    return group < 0 ? no_room(prep->inputs, err) : FEN_OK;
}

static fen_status partition(const fenp_prep *prep, const char *how, fenp_partition *out,
                            fen_error *err)
{
    *out = (fenp_partition){ .of = fenp_new(prep->features, sizeof *out->of) };
    if (!out->of) return no_room(prep->features, err);
    for (int64_t j = 0; j < prep->features; j++) out->of[j] = -1;
    if (strcmp(how, "auto") == 0) return by_column(prep, out, err);
    if (strncmp(how, "prefix:", 7) == 0) return by_prefix(prep, how + 7, out, err);
    return fenp_partition_read(prep, how, out, err);
}

/* ---- members and weights ------------------------------------------------------------- */

static fen_status allocate(fenp_groups *g, int64_t members, fen_error *err)
{
    g->start = fenp_new_zeroed(g->count + 1, sizeof *g->start);
    g->member = fenp_new(members, sizeof *g->member);
    g->weight = fenp_new(g->count, sizeof *g->weight);
    return g->start && g->member && g->weight ? FEN_OK : no_room(members + g->count, err);
}

/* Numbers the groups that have members anew, in the order of their first features. */
static void renumber(fenp_partition *parts, int64_t features, int64_t *number, fenp_groups *g)
{
    for (int64_t k = 0; k < parts->groups; k++) number[k] = -1;
    for (int64_t j = 0; j < features; j++) {
        int64_t *mine = &number[parts->of[j]];
        if (*mine < 0) *mine = g->count++;
        parts->of[j] = *mine;
    }
}

/* Names and weights move to where their groups went; the weight of a file, or none: -1. */
static fen_status move_names(fenp_partition *parts, const int64_t *number, fenp_groups *g,
                             fen_error *err)
{
    g->name = fenp_new_zeroed(g->count, sizeof *g->name);
    if (!g->name) return no_room(g->count, err);
    for (int64_t k = 0; k < parts->groups; k++) {
        if (number[k] < 0) continue;
        g->name[number[k]] = parts->name[k];
        parts->name[k] = NULL;
        g->weight[number[k]] = parts->weight ? parts->weight[k] : -1.0;
    }
    return FEN_OK;
}

static void place_members(const fenp_partition *parts, int64_t features, fenp_groups *g)
{
    for (int64_t j = 0; j < features; j++) g->start[parts->of[j] + 1]++;
    for (int64_t k = 0; k < g->count; k++) g->start[k + 1] += g->start[k];
    for (int64_t j = 0; j < features; j++) g->member[g->start[parts->of[j]]++] = j;
    for (int64_t k = g->count; k > 0; k--) g->start[k] = g->start[k - 1];
    g->start[0] = 0;
}

static fen_status set_members(fenp_partition *parts, int64_t features, fenp_groups *g,
                              fen_error *err)
{
    int64_t *number = fenp_new(parts->groups, sizeof *number);
    if (!number) return no_room(parts->groups, err);
    renumber(parts, features, number, g);
    fen_status status = allocate(g, features, err);
    if (status == FEN_OK) status = move_names(parts, number, g, err);
    if (status == FEN_OK) place_members(parts, features, g);
    free(number);
    return status;
}

/* The coefficients of a feature in all targets. */
static fen_status across_targets(int64_t features, int64_t copies, fenp_groups *g, fen_error *err)
{
    g->count = features;
    const fen_status status = allocate(g, features * copies, err);
    if (status != FEN_OK) return status;
    for (int64_t j = 0; j < features; j++) {
        for (int64_t t = 0; t < copies; t++) g->member[j * copies + t] = t * features + j;
        g->start[j + 1] = (j + 1) * copies;
        g->weight[j] = 1.0; /* all are of one size */
    }
    return FEN_OK;
}

/* Flags of the features that are 0 in all rows: levels "other" that no row has. */
static char *find_spare(const fenp_prep *prep)
{
    char *spare = fenp_new_zeroed(prep->features, 1);
    for (int64_t i = 0, end = 0; spare && i < prep->inputs; i++) {
        const int64_t features = fenp_input_features(&prep->input[i]);
        end += features;
        if (features > 0 && prep->input[i].spare) spare[end - 1] = 1;
    }
    return spare;
}

/* The factor of group k and how many of its members are not spare (of such alone: one); 0: their
 * factors differ. */
static int measure(const fenp_prep *prep, const double *factor, const char *spare,
                   const fenp_groups *g, int64_t k, double *common, int64_t *size)
{
    *common = 1.0;
    *size = 0;
    for (int64_t m = g->start[k]; m < g->start[k + 1]; m++) {
        const int64_t j = g->member[m] % prep->features;
        if (spare[j]) continue;
        if (*size == 0 && factor) *common = factor[j];
        if (factor && factor[j] != *common) return 0;
        ++*size;
    }
    if (*size == 0) *size = 1;
    return 1;
}

/* Weights that no file gave, times the factors, which must be the same within a group. */
static fen_status set_weights(const fenp_prep *prep, const double *factor, fenp_groups *g,
                              fen_error *err)
{
    char *spare = find_spare(prep);
    if (!spare) return no_room(prep->features, err);
    fen_status status = FEN_OK;
    for (int64_t k = 0; status == FEN_OK && k < g->count; k++) {
        double common;
        int64_t size;
        if (!measure(prep, factor, spare, g, k, &common, &size))
            status = fenp_fail(err, FEN_BAD_CALL,
                               "--feature-weights: the columns of group \"%.60s\" have different "
                               "weights, but a group has one; give all of them the same",
                               g->name ? g->name[k] : "");
        g->weight[k] = common * (g->weight[k] < 0.0 ? sqrt((double)size) : g->weight[k]);
    }
    free(spare);
    return status;
}

static fen_status make_groups(const fenp_prep *prep, const char *how, int64_t copies,
                              const double *factor, fenp_groups *g, fen_error *err)
{
    fenp_partition parts = { .groups = 0 };
    fen_status status;
    if (strcmp(how, "targets") == 0)
        status = across_targets(prep->features, copies, g, err);
    else {
        status = partition(prep, how, &parts, err);
        if (status == FEN_OK) status = set_members(&parts, prep->features, g, err);
        free_partition(&parts);
    }
    return status == FEN_OK ? set_weights(prep, factor, g, err) : status;
}

/* file: of the groups; NULL: --feature-weights alone. */
static fen_status check_weights(const fenp_groups *g, const char *file, const char *factors,
                                fen_error *err)
{
    const int from_file = factors[0] == '\0' && file;
    const int in_text = !from_file && strchr(factors, '=');
    int64_t k = 0;
    while (g->weight && k < g->count && g->weight[k] == 0.0) k++;
    if (!g->weight || k < g->count) return FEN_OK;
    return fenp_fail(err, in_text ? FEN_BAD_CALL : FEN_BAD_DATA,
                     "%.200s: all weights are 0, so nothing is penalised; use --penalty none",
                     from_file ? file
                     : in_text ? "--feature-weights"
                               : factors);
}

fen_status fenp_groups_make(const fenp_prep *prep, const fen_options *o, int64_t copies,
                            fenp_groups *out, fen_error *err)
{
    fenp_penalty_choice choice;
    fenp_groups made = { .count = 0 };
    double *factor = NULL;
    fen_status status = fenp_parse_penalty(o->penalty, &choice, err);
    if (status == FEN_OK) status = fenp_feature_factors(prep, o->feature_weights, &factor, err);
    if (status == FEN_OK && choice.penalty->parts == FEN_GROUPS)
        status = make_groups(prep, choice.how, copies, factor, &made, err);
    else if (status == FEN_OK) {
        made = (fenp_groups){ .count = prep->features, .weight = factor };
        factor = NULL;
    }
    if (status == FEN_OK) status = check_weights(&made, choice.how, o->feature_weights, err);
    free(factor);
    if (status == FEN_OK)
        *out = made;
    else
        fenp_groups_free(&made);
    return status;
}
