/* features.c -- fenchel info --features: the weighted sum that a function is, largest weights first
 *
 * Shares are those of |w_k|^p in their sum: p of --penalty lp, 2 of the norm of a function, 1 of
 * other penalties on coefficients. JSON has the weights of at least LISTED of the largest. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

static const double LISTED = 1e-3, SUPPORT = 1e-2, BULK = 0.99;
enum { SHOWN = 20, NAME_MOST = 2048 };

/* ---- which, and how large ---------------------------------------------------------------- */

static double largest(const feature_list *l)
{
    return l->count > 0 ? fabs(l->weight[l->order[0]]) : 0;
}

/* |w|^p of the k-th, in units of the largest. */
static double part(const feature_list *l, int64_t k)
{
    const double most = largest(l);
    return most > 0 ? pow(fabs(l->weight[l->order[k]]) / most, l->exponent) : 0;
}

static double share(const feature_list *l, int64_t k)
{
    return l->sum > 0 ? part(l, k) / l->sum : 0;
}

/* How many weights other than 0 are at least this part of the largest. */
static int64_t count_from(const feature_list *l, double least)
{
    int64_t k = 0;
    while (k < l->count && l->weight[l->order[k]] != 0 &&
           fabs(l->weight[l->order[k]]) >= least * largest(l))
        k++;
    return k;
}

static void count_parts(feature_list *l)
{
    double seen = 0;
    for (int64_t k = l->count - 1; k >= 0; k--) l->sum += part(l, k);
    while (l->bulk < l->count && seen < BULK * l->sum) seen += part(l, l->bulk++);
    l->support = count_from(l, SUPPORT);
}

static double size_of(const void *of, int64_t k)
{
    const feature_list *l = of;
    return fabs(l->weight[k]);
}

static double exponent_of(const json_t *json)
{
    const double p = json_at(json, "p");
    if (!isnan(p)) return p;
    return strcmp(json_text_at(json, "penalty"), "rkhs") == 0 ? 2 : 1;
}

int features_read(const fen_model *model, const json_t *json, int64_t target, feature_list *out)
{
    fen_error err;
    *out = (feature_list){ .count = fen_model_implied(model),
                           .target = target,
                           .exponent = exponent_of(json) };
    const size_t room = (size_t)out->count + 1;
    out->weight = calloc(room, sizeof *out->weight);
    out->coefficient = calloc(room, sizeof *out->coefficient);
    if (!out->weight || !out->coefficient)
        return complain(EXIT_ROOM, "out of memory while listing the features");
    if (fen_model_implied_weights(model, target, out->weight, out->coefficient, &err))
        return fail(&err);
    out->order = largest_first(out->count, size_of, out);
    if (!out->order) return complain(EXIT_ROOM, "out of memory while listing the features");
    count_parts(out);
    return EXIT_DONE;
}

void features_free(feature_list *l)
{
    free(l->weight);
    free(l->coefficient);
    free(l->order);
}

/* ---- for programs ------------------------------------------------------------------------ */

static json_t *feature_json(const fen_model *model, const feature_list *l, int64_t k)
{
    const int64_t at = l->order[k];
    char name[NAME_MOST];
    fen_model_implied_name(model, at, name, sizeof name);
    return json_pack("{s:o, s:o, s:o, s:o}", "name", json_text(name), "weight",
                     json_number(l->weight[at]), "coefficient", json_number(l->coefficient[at]),
                     "share", json_number(share(l, k)));
}

json_t *features_json(const fen_model *model, const feature_list *l)
{
    const int64_t listed = count_from(l, LISTED);
    json_t *list = json_array();
    char target[512];
    int lost = 0;
    for (int64_t k = 0; !lost && k < listed; k++)
        lost = json_array_append_new(list, feature_json(model, l, k));
    if (lost) {
        json_decref(list);
        return NULL;
    }
    fen_model_target_words(model, l->target, target, sizeof target);
    return json_pack("{s:o, s:I, s:I, s:I, s:f, s:f, s:o}", "target", json_text(target), "count",
                     (json_int_t)l->count, "support", (json_int_t)l->support, "carry_99_percent",
                     (json_int_t)l->bulk, "exponent", l->exponent, "listed_from", LISTED,
                     "features", list);
}

/* ---- for people -------------------------------------------------------------------------- */

/* Where the coefficients of the products are the weights, one column says it. Names take what they
 * need, and bars what that leaves of the line. */
typedef struct layout {
    int name, number, bar;
    int both;
} layout;

static layout layout_of(const fen_model *model, const feature_list *l, int64_t shown)
{
    enum { LINE = 79, SHARE = 10, GAP = 2, BAR = 14, LEAST_BAR = 4 };
    layout y = { .name = 26, .number = 12 };
    char name[NAME_MOST];
    for (int64_t k = 0; k < l->count && !y.both; k++) y.both = l->weight[k] != l->coefficient[k];
    if (y.both) y.name = 22, y.number = 11;
    const int room = LINE - LABEL_WIDTH - (1 + y.both) * (1 + y.number) - SHARE;
    for (int64_t k = 0; k < shown; k++) {
        fen_model_implied_name(model, l->order[k], name, sizeof name);
        const size_t length = strlen(name);
        if (length > (size_t)y.name) y.name = length < (size_t)room ? (int)length : room;
    }
    const int left = room - y.name - GAP;
    y.bar = left >= BAR ? BAR : left >= LEAST_BAR ? left : 0;
    return y;
}

/* ---- names that are too long ------------------------------------------------------------- */

enum { FACTORS_MOST = 8, LEAST_FACTOR = 6 };

/* Where the factors of a product end; a * between parentheses belongs to the name of a column. 0:
 * there are too many. */
static int split_factors(const char *name, size_t end[FACTORS_MOST])
{
    int count = 0, depth = 0;
    for (size_t i = 0;; i++) {
        depth += (name[i] == '(') - (name[i] == ')');
        if (name[i] && !(name[i] == '*' && depth == 0)) continue;
        if (count == FACTORS_MOST) return 0;
        end[count++] = i;
        if (!name[i]) return count;
    }
}

static size_t length_of(const size_t *end, int i) { return end[i] - (i ? end[i - 1] + 1 : 0); }

/* So much of every factor that all of them fit into width: the short ones whole. */
static size_t longest_factor(const size_t *end, int count, size_t width)
{
    size_t most = width;
    for (size_t all = width + 1; most > 0 && all > width; most -= all > width) {
        all = (size_t)count - 1;
        for (int i = 0; i < count; i++) all += length_of(end, i) < most ? length_of(end, i) : most;
    }
    return most;
}

/* Cut in the middle, of products every factor. */
static const char *shortened(const char *name, int width, char *out, size_t size)
{
    size_t end[FACTORS_MOST], used = 0;
    const int count = strlen(name) > (size_t)width ? split_factors(name, end) : 0;
    const size_t most = count > 1 ? longest_factor(end, count, (size_t)width) : 0;
    if (most < LEAST_FACTOR) return fitted(name, width, out, size);
    for (int i = 0; i < count; i++) {
        char factor[NAME_MOST], text[256];
        snprintf(factor, sizeof factor, "%.*s", (int)length_of(end, i),
                 name + (i ? end[i - 1] + 1 : 0));
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "*" : "",
                                 fitted(factor, (int)most, text, sizeof text));
    }
    return out;
}

static const char *sum_words(const json_t *json)
{
    if (json_object_get(json, "q")) return "|w|_p^p";
    return exponent_of(json) == 2 ? "|w|^2" : "sum |w|";
}

static void print_heading(const json_t *json, const layout *y)
{
    const int scaled = strcmp(json_text_at(json, "scale"), "none") != 0;
    printf("%*s%-*s %*s", LABEL_WIDTH, "", y->name, scaled ? "of scaled columns" : "", y->number,
           "weight");
    if (y->both) printf(" %*s", y->number, "coefficient");
    printf(" %9s\n", "share");
}

static void print_row(const fen_model *model, const feature_list *l, const layout *y, int64_t k)
{
    char name[NAME_MOST], shown[256], bar[32];
    const int length = (int)(y->bar * part(l, k) + 0.5), digits = y->number - 6;
    const int64_t at = l->order[k];
    fen_model_implied_name(model, at, name, sizeof name);
    memset(bar, '#', (size_t)length);
    bar[length] = '\0';
    printf("%*s%-*s %*.*g", LABEL_WIDTH, "", y->name, shortened(name, y->name, shown, sizeof shown),
           y->number, digits, l->weight[at]);
    if (y->both) printf(" %*.*g", y->number, digits, l->coefficient[at]);
    printf(" %7.2f %%%s%s\n", 100 * share(l, k), length ? "  " : "", bar);
}

void report_features(const fen_model *model, const json_t *json, const feature_list *l)
{
    const int64_t set = count_from(l, 0), shown = set < SHOWN ? set : SHOWN;
    const layout y = layout_of(model, l, shown);
    char target[512], of[560] = "";
    fen_model_target_words(model, l->target, target, sizeof target);
    if (fen_model_targets(model) > 1) snprintf(of, sizeof of, "%.200s: ", target);
    if (set == 0) {
        report("Features", "%sall weights of %" PRId64 " are 0", of, l->count);
        return;
    }
    report("Features",
           "%s%" PRId64 " of %" PRId64 " carry 99 %% of %s; %" PRId64
           " have a weight of at least 1/100 of the largest",
           of, l->bulk, l->count, sum_words(json), l->support);
    print_heading(json, &y);
    for (int64_t k = 0; k < shown; k++) print_row(model, l, &y, k);
    if (fen_model_targets(model) == 1) report_sign(json);
    if (set == shown && l->count > shown)
        report("", "and %" PRId64 " of weight 0", l->count - shown);
    else if (l->count > shown)
        report("",
               "and %" PRId64 " smaller ones: --json has those of at least 1/1000 of the largest",
               l->count - shown);
}
