/* feature_names.c -- features found by the name of their column or by their own
 *
 * Method: all names, sorted; a column stands for all of its features and wins over a feature of
 *   the same name. Only features that have another name than their column are written out.
 * Cost: a sort of the names, then a binary search each.
 */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/groups_parts.h"
#include "data/prepare_parts.h"

static int by_name(const void *a, const void *b)
{
    const fenp_named *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : y->input - x->input;
}

/* Features of this input that need a name of their own. */
static int64_t composed(const fenp_input *input)
{
    if (!input->text) return input->gaps != 0;
    return fenp_input_features(input);
}

/* k: among the features of the input */
static char *compose(const fenp_input *input, int64_t k)
{
    size_t size = strlen(input->name) + 32;
    if (k < input->level_count) size += strlen(input->levels[k]);
    char *name = fenp_new((int64_t)size, 1);
    if (name) fenp_input_feature_name(input, k, name, (int64_t)size);
    return name;
}

static int add_input(fenp_names *names, const fenp_input *input, int64_t first)
{
    const int64_t features = fenp_input_features(input);
    names->at[names->count++] = (fenp_named){ input->name, first, features, 1 };
    for (int64_t k = features - composed(input); k < features; k++) {
        char *name = compose(input, k);
        if (!name) return -1;
        names->own[names->own_count++] = name;
        names->at[names->count++] = (fenp_named){ name, first + k, 1, 0 };
    }
    return 0;
}

fen_status fenp_names_make(const fenp_prep *prep, fenp_names *out, fen_error *err)
{
    int64_t own = 0, first = 0;
    for (int64_t i = 0; i < prep->inputs; i++) own += composed(&prep->input[i]);
    *out = (fenp_names){ .prep = prep,
                         .at = fenp_new(prep->inputs + own, sizeof *out->at),
                         .own = fenp_new(own, sizeof *out->own) };
    int missing = !out->at || !out->own;
    for (int64_t i = 0; !missing && i < prep->inputs; i++) {
        missing = add_input(out, &prep->input[i], first) != 0;
        first += fenp_input_features(&prep->input[i]);
    }
    if (missing) {
        fenp_names_free(out);
        return fenp_no_memory(err, fenp_bytes(prep->inputs + own, 1, sizeof *out->at),
                              "the names of the features");
    }
    qsort(out->at, (size_t)out->count, sizeof *out->at, by_name);
    return FEN_OK;
}

/* The first of its name: bsearch would find any. */
const fenp_named *fenp_names_find(const fenp_names *names, const char *name)
{
    int64_t low = 0, high = names->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (strcmp(names->at[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const fenp_named *found = names->at + low;
    return low < names->count && strcmp(found->name, name) == 0 ? found : NULL;
}

/* What the column is if it is no input; NULL: there is none of this name. */
static const char *other_role(const fenp_prep *prep, const char *name)
{
    for (int64_t t = 0; t < prep->targets; t++)
        if (strcmp(prep->target[t], name) == 0) return "a target";
    return prep->weights && strcmp(prep->weights, name) == 0 ? "the column of weights" : NULL;
}

fen_status fenp_names_unknown(const fenp_names *names, const char *where, const char *name,
                              fen_status kind, fen_error *err)
{
    const char *role = other_role(names->prep, name);
    if (role)
        return fenp_fail(err, kind,
                         "%.230s: there is no input column \"%.60s\": it is %s; leave it out here",
                         where, name, role);
    const char *near = fenp_nearest_member(name, &names->at->name, names->count, sizeof *names->at);
    if (near)
        return fenp_fail(err, kind,
                         "%.230s: there is no input column \"%.60s\"; did you mean \"%.60s\"?",
                         where, name, near);
    const fenp_prep *prep = names->prep;
    char list[256];
    fenp_list_members(&prep->input->name, prep->inputs, sizeof *prep->input, list, sizeof list);
    return fenp_fail(err, kind, "%.230s: there is no input column \"%.60s\"; the inputs are %s",
                     where, name, list);
}

void fenp_names_free(fenp_names *names)
{
    for (int64_t k = 0; k < names->own_count; k++) free(names->own[k]);
    free(names->own);
    free(names->at);
    *names = (fenp_names){ .count = 0 };
}
