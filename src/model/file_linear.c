/* file_linear.c -- what a model file holds of penalties on coefficients
 *
 *   words     penalty, penalty.text (as it was given), mix, nonnegative, copies, rank, condition,
 *             groups.names (a JSON list), features and groups (of training, where some are gone)
 *   arrays    terms; groups.start, groups.member, groups.weight; aliased
 *
 * Groups of one coefficient each with weight 1 take no arrays. Files of formats 2 and 3 have
 * none of all this: their penalty is rkhs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "model/file.h"
#include "penalty/traits.h"

/* ---- saving -------------------------------------------------------------------------- */

static int put_names(json_t *metadata, const fenp_groups *g)
{
    char *text = NULL;
    if (!g->name) return 0;
    if (fenp_json_text(fenp_json_strings(g->name, g->count), &text, NULL) != FEN_OK) return -1;
    const int failed = fenp_put_text(metadata, "groups.names", text);
    free(text);
    return failed;
}

int fenp_file_put_linear(json_t *metadata, const fen_model *m)
{
    const int failed = fenp_put_text(metadata, "penalty", m->penalty->name);
    if (!fenp_model_on_coefficients(m)) return failed;
    return failed | fenp_put_number(metadata, "mix", m->mix) |
           (m->penalty_text[0] ? fenp_put_text(metadata, "penalty.text", m->penalty_text) : 0) |
           fenp_put_text(metadata, "nonnegative", m->nonnegative ? "yes" : "no") |
           fenp_put_count(metadata, "copies", m->copies) |
           (m->whole > m->p ? fenp_put_count(metadata, "features", m->whole) : 0) |
           (m->all_groups > m->groups.count ? fenp_put_count(metadata, "groups", m->all_groups)
                                            : 0) |
           (m->rank >= 0 ? fenp_put_count(metadata, "rank", m->rank) : 0) |
           fenp_put_number(metadata, "condition", m->condition) | put_names(metadata, &m->groups);
}

void fenp_file_take_linear(fenp_file *file, const fen_model *m)
{
    const fenp_groups *g = &m->groups;
    for (int64_t k = 0; file->start && k <= g->count; k++) file->start[k] = (double)g->start[k];
    for (int64_t k = 0; file->member && k < file->size.members; k++)
        file->member[k] = (double)g->member[k];
    for (int64_t k = 0; file->aliased && k < m->aliased_count; k++)
        file->aliased[k] = (double)m->aliased[k];
}

/* ---- loading ------------------------------------------------------------------------- */

/* Room for whole numbers that the file has as doubles. */
static fen_status make_places(const fenp_tensor *tensor, int64_t **room, fen_error *err)
{
    if (!tensor) return FEN_OK;
    *room = fenp_new_zeroed(tensor->shape[0], sizeof **room);
    return *room ? FEN_OK : fenp_no_memory(err, tensor->to - tensor->from, tensor->name);
}

fen_status fenp_file_make_linear(const fenp_tensors *in, fen_model *m, fen_error *err)
{
    const fenp_tensor *start = fenp_tensor_find(in, "groups.start");
    const fenp_tensor *member = fenp_tensor_find(in, "groups.member");
    const fenp_tensor *weight = fenp_tensor_find(in, "groups.weight");
    const fenp_tensor *aliased = fenp_tensor_find(in, "aliased");
    const fenp_tensor *terms = fenp_tensor_find(in, "terms");
    if ((start != NULL) != (member != NULL) || (start && start->shape[0] < 1))
        return fenp_damaged(in, "groups.start", "does not come with groups.member", err);
    if (terms && (terms->shape[1] < 1 || terms->shape[1] > m->n))
        return fenp_damaged(in, "terms", "are not those of training rows", err);
    m->groups.count = start ? start->shape[0] - 1 : weight ? weight->shape[0] : 0;
    m->aliased_count = aliased ? aliased->shape[0] : 0;
    if (terms) m->kept = terms->shape[1];
    fen_status status = make_places(start, &m->groups.start, err);
    if (status == FEN_OK) status = make_places(member, &m->groups.member, err);
    if (status == FEN_OK) status = make_places(aliased, &m->aliased, err);
    if (status == FEN_OK) status = fenp_file_room(weight, &m->groups.weight, err);
    if (status == FEN_OK) status = fenp_file_room(terms, &m->terms, err);
    return status;
}

void fenp_file_give_linear(const fenp_file *file, fen_model *m)
{
    fenp_groups *g = &m->groups;
    for (int64_t k = 0; file->start && k <= g->count; k++)
        g->start[k] = fenp_file_place(file->start[k]);
    for (int64_t k = 0; file->member && k < file->size.members; k++)
        g->member[k] = fenp_file_place(file->member[k]);
    for (int64_t k = 0; file->aliased && k < m->aliased_count; k++)
        m->aliased[k] = fenp_file_place(file->aliased[k]);
}

static fen_status read_whole(const fenp_tensors *in, const char *key, int64_t initial,
                             int64_t *value, fen_error *err)
{
    const char *text = fenp_metadata(in, key);
    *value = initial;
    if (text && (!fenp_parse_int(text, (int64_t)strlen(text), value) || *value < 0))
        return fenp_damaged(in, key, "is not a whole number in its range", err);
    return FEN_OK;
}

static fen_status copy_names(const json_t *list, fenp_groups *g, fen_error *err)
{
    g->name = fenp_new_zeroed(g->count, sizeof *g->name);
    int failed = !g->name;
    for (int64_t k = 0; !failed && k < g->count; k++) {
        g->name[k] = fenp_strdup(json_string_value(json_array_get(list, (size_t)k)));
        failed = !g->name[k];
    }
    return failed ? fenp_no_memory(err, g->count, "the names of the groups") : FEN_OK;
}

static int are_names(const json_t *list, int64_t count)
{
    if (!json_is_array(list) || json_array_size(list) != (size_t)count) return 0;
    for (int64_t k = 0; k < count; k++)
        if (!json_is_string(json_array_get(list, (size_t)k))) return 0;
    return 1;
}

static fen_status read_names(const fenp_tensors *in, fenp_groups *g, fen_error *err)
{
    const char *text = fenp_metadata(in, "groups.names");
    json_t *list = NULL;
    if (!text) return FEN_OK;
    if (!g->start || fenp_json_values(text, (int64_t)strlen(text)) > g->count + 2)
        return fenp_damaged(in, "groups.names", "are more than there are groups", err);
    fen_status status = fenp_json_parse(text, (int64_t)strlen(text), &list, err);
    if (status == FEN_MEMORY) return status;
    if (status != FEN_OK || !are_names(list, g->count))
        status = fenp_damaged(in, "groups.names", "are not one name per group", err);
    else
        status = copy_names(list, g, err);
    json_decref(list);
    return status;
}

fen_status fenp_file_read_linear(const fenp_tensors *in, fen_model *m, fen_error *err)
{
    const char *sign = fenp_metadata(in, "nonnegative");
    const char *text = fenp_metadata(in, "penalty.text");
    if (!fenp_model_on_coefficients(m)) return FEN_OK;
    if (text && strncmp(text, m->penalty->name, strlen(m->penalty->name)) != 0)
        return fenp_damaged(in, "penalty.text", "is not that of the penalty", err);
    snprintf(m->penalty_text, sizeof m->penalty_text, "%s", text ? text : "");
    if (sign && strcmp(sign, "yes") != 0 && strcmp(sign, "no") != 0)
        return fenp_damaged(in, "nonnegative", "is neither yes nor no", err);
    m->nonnegative = sign && strcmp(sign, "yes") == 0;
    if (!m->groups.start && !m->groups.weight) m->groups.count = m->terms ? m->n : m->p;
    fen_status status = fenp_file_number(in, "mix", 0, 1, &m->mix, err);
    if (status == FEN_OK) status = read_whole(in, "copies", 1, &m->copies, err);
    if (status == FEN_OK) status = read_whole(in, "rank", -1, &m->rank, err);
    if (status == FEN_OK) status = read_whole(in, "features", m->p, &m->whole, err);
    if (status == FEN_OK) status = read_whole(in, "groups", 0, &m->all_groups, err);
    if (status == FEN_OK && fenp_metadata(in, "condition"))
        status = fenp_file_number(in, "condition", 1, NAN, &m->condition, err);
    return status == FEN_OK ? read_names(in, &m->groups, err) : status;
}

/* ---- what they may be ------------------------------------------------------------------ */

/* Consecutive stretches of a list that has every coefficient once. marks: of all members, any
 * numbers but -1. */
static int is_partition(const fenp_groups *g, int64_t members, double *marks)
{
    if (g->start[0] != 0 || g->start[g->count] != members) return 0;
    for (int64_t k = 0; k < g->count; k++)
        if (g->start[k] >= g->start[k + 1]) return 0;
    for (int64_t i = 0; i < members; i++) {
        const int64_t place = g->member[i];
        if (place < 0 || place >= members || marks[place] == -1.0) return 0;
        marks[place] = -1.0;
    }
    return 1;
}

static const char *groups_objection(const fenp_file *file, const fen_model *m)
{
    const fenp_groups *g = &m->groups;
    const int64_t all = m->terms ? m->n : fenp_bytes(m->copies, m->p, 1);
    for (int64_t k = 0; g->weight && k < g->count; k++)
        if (!(g->weight[k] >= 0.0)) return "a weight of a group is below 0";
    if (!g->start) return g->count == all ? NULL : "the groups are not those of the coefficients";
    if (file->size.members != all || m->penalty->parts != FEN_GROUPS)
        return "the groups are not those of the coefficients";
    for (int64_t i = 0; i < all; i++) file->member[i] = 0.0; /* the copy has been given */
    return is_partition(g, all, file->member) ? NULL
                                              : "the groups are no partition of the coefficients";
}

static int is_ascending(const int64_t *list, int64_t count, int64_t below)
{
    for (int64_t k = 0; k < count; k++)
        if (list[k] <= (k ? list[k - 1] : -1) || list[k] >= below) return 0;
    return 1;
}

const char *fenp_file_linear_objection(const fenp_file *file, const fen_model *m)
{
    const fen_parameter *p = &m->penalty->parameter;
    const int none = fenp_is_none(m->penalty);
    if (!fenp_model_on_coefficients(m))
        return m->groups.count || m->aliased || m->groups.weight || m->groups.start
                   ? "there are groups, but no penalty on coefficients"
                   : NULL;
    if (m->copies != 1 && (m->copies != m->targets || m->penalty->parts != FEN_GROUPS))
        return "the copies are not those of the targets";
    if (p->name ? m->mix < p->low || m->mix >= p->high : m->mix != 1.0)
        return "the mix does not belong to the penalty";
    if (m->power != 2.0 || m->nu > 0.0) return "power or nu do not go with the penalty";
    if (m->nonnegative && m->penalty->parts == FEN_GROUPS)
        return "coefficients that are not negative do not go with groups";
    if (m->whole < m->p || (m->whole > m->p && (!m->prep->sparse || !m->weights)) ||
        (m->all_groups && (m->whole == m->p || !m->groups.start)))
        return "there are not more features than those of training";
    if (m->rank > (none ? m->whole : -1) || (m->aliased && !none))
        return "the rank does not belong to the penalty";
    if (m->aliased && !is_ascending(m->aliased, m->aliased_count, m->p))
        return "the aliased features are not an ascending list";
    return groups_objection(file, m);
}
